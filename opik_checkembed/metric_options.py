"""How a metric is set up, as far as that changes its scores: it stands beside every score, and a calibration keeps it.

It stands apart from both: `calibration/` reads what `metrics/` write, and neither the one nor the other is needed here.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from opik_checkembed.models.names import full_name, model_name
from opik_checkembed.results import json_ready
from opik_checkembed.samples.request import is_connection, showable

OPTIONS = "options"
"""The name in a score's evidence under which its metric's options are found."""

# What these change is no score: what is asked, what is shown, and where a model runs. Samples and the model behind them
# are compared apart.
_OTHERS = frozenset(
    (
        *("model", "name", "track", "project_name"),
        *("num_samples", "min_samples", "sampler", "request_from", "temperature", "model_parameters"),
        *("store", "budget", "timeout", "max_concurrency"),
        *("device", "heatmap", "samples_only", "confident_mean", "confident_std"),
    )
)

_MODELS = frozenset(
    (
        *("embedder", "encoder", "nli_model"),
        *("question_model", "distractor_model", "answering_model", "answerability_model"),
    )
)

# Arguments that a metric keeps under another name, since many threads share what they stand for.
_KEPT_AS = {"embedder": "encoder", "nli_model": "nli"}


def options_of(metric: object) -> dict[str, Any]:
    """The arguments of a metric's constructor that change its scores, as JSON-ready values.

    Read from the attributes of the same names, so that defaults stand there too. A model is called by its name, another
    object by its class. They are written beside every score, so that what may hold a key is left out: dicts, what a
    metric does not show, and what is named like a credential or an address.

    Args:
        metric: One of this package's, or any object whose attributes are named like its arguments.

    Example:
        >>> from opik_checkembed import FactRecurrenceMetric
        >>> options = options_of(FactRecurrenceMetric(aggregate="max", store=None, track=False))
        >>> options["aggregate"], options["combine"], options["splitter"]
        ('max', 'geometric', 'RuleSplitter')
    """
    shown = vars(metric)
    found: dict[str, Any] = {}
    for name in _arguments(type(metric)):
        kept = name if name in shown else _KEPT_AS.get(name, name)
        if kept in shown and not isinstance(shown[kept], Mapping):
            value = shown[kept]
            found[name] = json_ready(value) if _is_plain(value) else model_name(value)
    return showable(found)


def given_options(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Of the arguments that a metric was constructed with those that change its scores, as JSON-ready values.

    More than `options_of` can read from the metric, but no defaults. They are written beside figures, so that what is
    named like a credential or an address is left out, at every depth.

    Example:
        >>> given_options({"num_layers": 6, "device": "cpu", "api_key": "secret", "nli_model": "org/some-nli"})
        {'num_layers': 6, 'nli_model': 'org/some-nli'}
    """
    return showable(
        {
            name: json_ready(value) if _is_said(name, value) else full_name(value)
            for name, value in arguments.items()
            if _counts(name)
        }
    )


def _is_said(name: str, value: object) -> bool:
    """Whether the value is an option as it stands, rather than a model or another object."""
    return value is None or (name not in _MODELS and (isinstance(value, Mapping) or _is_plain(value)))


def _counts(name: str) -> bool:
    return name not in _OTHERS and not is_connection(name)


def _arguments(kind: type) -> list[str]:
    """The names of the constructor's arguments, those of its bases among them, without `_OTHERS` and connections."""
    names: dict[str, None] = {}
    for one in kind.__mro__:
        if "__init__" in vars(one) and one is not object:
            names |= dict.fromkeys(inspect.signature(one).parameters)
    return [name for name in names if _counts(name)]


def _is_plain(value: object) -> bool:
    """Whether it is a value as a command line could give it: a number, a word, or several."""
    return value is None or isinstance(value, str | bool | int | float | list | tuple)
