"""Metrics by a short name and options, as a command line or a settings file can say them."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import opik_checkembed
from opik_checkembed.errors import ConfigurationError

if TYPE_CHECKING:
    from opik.evaluation.metrics import BaseMetric

METRICS: Mapping[str, str] = MappingProxyType(
    {
        "checkembed": "CheckEmbedMetric",
        "fact_recurrence": "FactRecurrenceMetric",
        "selfcheck_api_prompt": "SelfCheckAPIPromptMetric",
        "selfcheck_bertscore": "SelfCheckBERTScoreMetric",
        "selfcheck_mqag": "SelfCheckMQAGMetric",
        "selfcheck_ngram": "SelfCheckNgramMetric",
        "selfcheck_nli": "SelfCheckNLIMetric",
        "self_consistency": "SelfConsistencyMetric",
        "source_nli": "SourceNLIMetric",
    }
)
"""The metric classes that a short name and options can set up, by that name.

Not `EnsembleMetric`, which is made of metrics with options of their own: it is made in Python.
"""

_ENSEMBLE = "ensemble"


def metric_of(text: str, **arguments: Any) -> BaseMetric:
    """The metric that a text like "fact_recurrence" or "checkembed:embedder=lexical,num_samples=3" names.

    Args:
        text: NAME or NAME:OPTION=VALUE,..., the options being arguments of the metric's constructor. Values are JSON
            where they can be read as such (3, 0.5, true, null), else text. A dot goes into an option that is a dict
            (`model_parameters.max_tokens=200`).
        **arguments: More arguments (`store`, `budget`, `model`, ...); an option of the text wins over one of these. A
            metric that draws no samples is given those that it takes, and the models that it asks `store` and
            `budget`.

    Raises:
        ConfigurationError: There is no such name or option, or an option cannot work.

    Example:
        >>> metric = metric_of("fact_recurrence:num_samples=3", store=None)
        >>> metric.name, metric.num_samples
        ('fact_recurrence', 3)
    """
    name, options = parse_options(text)
    if name == _ENSEMBLE:
        raise ConfigurationError(
            "an ensemble is made of other metrics, which no such text can hold: make it in Python, "
            "EnsembleMetric([...]), and give it to evaluate_locally or evaluate"
        )
    if name not in METRICS:
        raise ConfigurationError(f"there is no metric {name!r}; there are {', '.join(METRICS)}")
    try:
        metric = _made(getattr(opik_checkembed, METRICS[name]), arguments, options)
    except TypeError as error:
        raise ConfigurationError(f"{name}: {error}") from error
    return metric


def _made(kind: type[BaseMetric], arguments: Mapping[str, Any], options: Mapping[str, Any]) -> BaseMetric:
    from opik_checkembed.metrics.base import SampledMetric

    if issubclass(kind, SampledMetric):
        return kind(**{**arguments, **options})
    takes = inspect.signature(kind).parameters
    given = {name: value for name, value in arguments.items() if name in takes}
    kept = {name: arguments[name] for name in ("store", "budget") if arguments.get(name) is not None}
    for asked, parameters in (("judge", "judge_parameters"), ("claims_model", "claims_parameters")):
        if parameters in takes and options.get(asked) is not None:
            given[parameters] = {**kept, **options.get(parameters, {})}
    own = {name: value for name, value in options.items() if name not in ("judge_parameters", "claims_parameters")}
    return kind(**{**options, **given, **own})


def parse_options(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the options of a text like "checkembed:embedder=lexical,num_samples=3"; see `metric_of`.

    Raises:
        ConfigurationError: It is of another form. Only its name is repeated: an option may be a key.

    Example:
        >>> parse_options("checkembed:num_samples=3,model_parameters.max_tokens=9")
        ('checkembed', {'num_samples': 3, 'model_parameters': {'max_tokens': 9}})
    """
    name, colon, rest = text.partition(":")
    wrong = f"{name_in(text)!r} with its options is not of the form NAME or NAME:OPTION=VALUE,OPTION=VALUE"
    if name.strip() != name_in(text):
        raise ConfigurationError(wrong)
    options: dict[str, Any] = {}
    for pair in rest.split(",") if colon else []:
        path, equals, value = pair.partition("=")
        *outer, option = (part.strip() for part in path.split("."))
        within: Any = options
        for part in outer:
            within = within.setdefault(part, {}) if isinstance(within, dict) else None
        if not all((*outer, option, equals)) or not isinstance(within, dict):
            raise ConfigurationError(wrong)
        within[option] = value_of(value)
    return name.strip(), options


def name_in(text: str) -> str:
    """The name that a text begins with, whatever follows: what a message may repeat.

    Example:
        >>> name_in("prompt,judge_parameters.api_key=sk-x")
        'prompt'
    """
    return re.split("[:=,]", text, maxsplit=1)[0].strip()


def value_of(text: str) -> Any:
    """A value as JSON where it can be read as such (200, true, [..]), else the text.

    Example:
        >>> value_of("200"), value_of("gpt-4o-mini")
        (200, 'gpt-4o-mini')
    """
    try:
        return json.loads(text)
    except ValueError:
        return text
