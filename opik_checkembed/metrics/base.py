"""What every metric over repeated answers shares: reading the item, drawing samples, failing with a reason.

A metric of this family is one small class: it names itself, says which direction is good, and turns a judged
answer and its samples into scores in `judge`. Everything else is here.
"""

from __future__ import annotations

import logging
import threading
from abc import abstractmethod
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

from opik.evaluation.metrics.base_metric import BaseMetric
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed.errors import (
    AnswerError,
    ConfigurationError,
    ItemError,
    OpikCheckEmbedError,
    RequestError,
    SamplingError,
)
from opik_checkembed.metric_options import OPTIONS, options_of
from opik_checkembed.samples.budget import Budget
from opik_checkembed.samples.given_samples import GivenSamples
from opik_checkembed.samples.litellm_sampler import LiteLLMSampler
from opik_checkembed.samples.request import MODEL_FIELDS, Fields, judged_output
from opik_checkembed.samples.sample import SampleSet, Status, status_of
from opik_checkembed.samples.sampler import Sampler
from opik_checkembed.samples.store import SampleStore
from opik_checkembed.wording import shortened

if TYPE_CHECKING:
    from opik.evaluation.models import OpikBaseModel

_LOGGER = logging.getLogger(__name__)


class _Unset:
    """Tells "not given" from None, which a task may well return."""

    def __repr__(self) -> str:
        return "<unset>"


UNSET: Any = _Unset()


class ItemMetric(BaseMetric):
    """Base of all metrics here: one that cannot score an item says why, and raises nothing.

    Args:
        name: The score's name; None for the metric's own.
        track: Whether Opik logs the metric's span.
        project_name: See Opik's `BaseMetric`.
    """

    higher_is_better: ClassVar[bool]
    default_name: ClassVar[str]
    bounded: bool = True
    """Whether its scores lie between 0 and 1."""

    def __init__(self, name: str | None = None, *, track: bool = True, project_name: str | None = None) -> None:
        self._said: set[type[Exception]] = set()
        self._said_lock = threading.Lock()
        super().__init__(name=name or self.default_name, track=track, project_name=project_name)

    def failed(
        self, error: Exception, samples: SampleSet | None = None, evidence: Mapping[str, Any] | None = None
    ) -> ScoreResult:
        """A failed score with its reason; what was bought before it failed was still paid for, and is named."""
        self._say_once(error)
        bought = {} if samples is None else {"samples": samples.to_dict()}
        metadata = {**({"evidence": dict(evidence)} if evidence else {}), **bought}
        return ScoreResult(name=self.name, value=0.0, reason=str(error), metadata=metadata or None, scoring_failed=True)

    def _say_once(self, error: Exception) -> None:
        """A field missing from every item is worth one line in the log, not one for each item."""
        with self._said_lock:
            first = type(error) not in self._said
            self._said.add(type(error))
        if first:
            _LOGGER.warning("%s could not score an item (said once for this kind of failure): %s", self.name, error)


class SampledMetric(ItemMetric):
    """Base of the metrics that ask the tracked model again and compare its answers.

    Args:
        model: The model to ask where the task's output names none: a name for litellm, or an `OpikBaseModel`.
        name: The score's name.
        num_samples: Samples to ask for, at least `fewest_samples`.
        min_samples: Usable samples below which the item is not scored.
        sampler: Where samples come from, instead of the model asked through litellm. Then `model`, `temperature`,
            `model_parameters`, `store`, `budget`, `timeout` and `max_concurrency` are the sampler's own.
        request_from: "fields" reads model and messages from the item and the task's output; "trace" reads them from
            the one LLM span of the task's own trace, so that the task need not repeat them.
        temperature: See `LiteLLMSampler`.
        model_parameters: Completion and connection parameters (max_tokens, api_base, ...).
        store: See `LiteLLMSampler`.
        budget: See `LiteLLMSampler`.
        timeout: See `LiteLLMSampler`.
        max_concurrency: See `LiteLLMSampler`.
        track: Whether Opik logs the metric's span.
        project_name: See Opik's `BaseMetric`.

    Raises:
        ConfigurationError: An argument cannot work; says what to do.
    """

    fewest_samples: ClassVar[int] = 2

    def __init__(
        self,
        model: str | OpikBaseModel | None = None,
        name: str | None = None,
        *,
        num_samples: int = 5,
        min_samples: int = 2,
        sampler: Sampler | None = None,
        request_from: str = "fields",
        temperature: float | None = UNSET,
        model_parameters: Mapping[str, Any] | None = None,
        store: SampleStore | str | PathLike[str] | None = UNSET,
        budget: Budget | None = None,
        timeout: float = UNSET,
        max_concurrency: int = UNSET,
        track: bool = True,
        project_name: str | None = None,
    ) -> None:
        self.num_samples = _whole("num_samples", num_samples, self.fewest_samples)
        self.min_samples = _whole("min_samples", min_samples, self.fewest_samples)
        if self.min_samples > self.num_samples:
            raise ConfigurationError(f"min_samples ({min_samples}) cannot exceed num_samples ({num_samples})")
        if request_from not in {"fields", "trace"}:
            raise ConfigurationError(f"request_from must be 'fields' or 'trace', not {request_from!r}")
        self.sampler = _sampler(
            sampler,
            model,
            {
                "temperature": temperature,
                "store": store,
                "budget": UNSET if budget is None else budget,
                "timeout": timeout,
                "max_concurrency": max_concurrency,
            },
            model_parameters,
        )
        if request_from == "trace":
            # Opik hands a metric the task's span only if its `score` has a parameter of this name.
            object.__setattr__(self, "score", self._score_with_task_span)
        super().__init__(name, track=track, project_name=project_name)

    def samplers(self) -> list[object]:
        """See `AsksModels.samplers`."""
        return [self.sampler]

    def score(
        self,
        input: Any = None,
        output: Any = UNSET,
        context: Any = None,
        reference: Any = None,
        **fields: Any,
    ) -> ScoreResult | list[ScoreResult]:
        """Judge one answer; Opik calls this with the dataset item and the task's output, merged.

        Args:
            input: What was asked: text, or a list of messages. `question`, `messages` and `system_prompt` are read
                as well.
            output: The answer to judge. Without it, `answer` is judged and the reason says so.
            context: Not part of the repeated request; a reason says so where that may matter.
            reference: A known good answer, where a metric has a use for it.
            **fields: `model` or `model_name`, `model_parameters`, `tools`, `samples`, and whatever else the item
                holds.

        Returns:
            Scores, or one failed score (`scoring_failed=True`) whose reason says what to do.
        """
        named = {"input": input, "context": context, "reference": reference}
        return self._scores(given_fields(output, {**{k: v for k, v in named.items() if v is not None}, **fields}))

    def _score_with_task_span(
        self, output: Any = UNSET, task_span: Any = None, **fields: Any
    ) -> ScoreResult | list[ScoreResult]:
        return self._scores(given_fields(output, fields), task_span)

    @abstractmethod
    def judge(self, output: str, samples: SampleSet, fields: Fields) -> list[ScoreResult]:
        """Score a judged answer against at least `min_samples` usable samples.

        Raises:
            ItemError: It cannot be scored.
        """

    def _scores(self, fields: dict[str, Any], task_span: Any = UNSET) -> ScoreResult | list[ScoreResult]:
        samples: SampleSet | None = None
        try:
            output, notes = judged_output(fields)
            if status_of(output) is Status.REFUSED:
                raise AnswerError(f"the judged output is a refusal ({shortened(output)!r}): no claim to agree on")
            source: Sampler = GivenSamples() if fields.get("samples") is not None else self.sampler
            if task_span is not UNSET and source is self.sampler:
                fields = self._with_traced(fields, task_span)
            samples = _drawn(source, fields, self.num_samples).noting(notes)
            samples.require(self.min_samples)
            scores = self.judge(output, samples, fields)
        except (ItemError, ConfigurationError) as error:
            return self.failed(error, samples)
        return scores[0] if len(scores) == 1 else scores

    def _with_traced(self, fields: dict[str, Any], task_span: Any) -> dict[str, Any]:
        """The fields with what the task's own trace says; what the task or the constructor names wins over it."""
        from opik_checkembed.samples.trace import request_of_trace

        traced = request_of_trace(task_span)
        if traced.api_base is not None and isinstance(self.sampler, LiteLLMSampler):
            own = self.sampler.parameters
            server = own.get("api_base") or own.get("base_url")
            if not traced.called(None if server is None else str(server)):
                # The prompt may be private: it goes to no other server than the task's own.
                # Some clients' spans name no more of it than its host.
                address = traced.api_base if "://" in traced.api_base else "http://..."
                raise RequestError(
                    f"the task called the server {traced.api_base}, the metric would ask another; construct it with "
                    f"the task's own, model_parameters={{'api_base': {address!r}, 'api_key': ...}}"
                )
        named = any(fields.get(name) is not None for name in MODEL_FIELDS) or getattr(self.sampler, "model", None)
        stated = {name: value for name, value in fields.items() if value is not None}
        return {**fields, **traced.fields, **({"model": None} if named else {}), **stated}

    def scored(
        self, value: float, sentence: str, samples: SampleSet, evidence: Mapping[str, Any], suffix: str = ""
    ) -> ScoreResult:
        """A score with its reason (one sentence, then what else must be known) and its evidence.

        The metric's options stand in the evidence, so that a calibration fitted under others warns.
        """
        said = "; ".join(samples.warnings())
        return ScoreResult(
            name=self.name + suffix,
            value=value,
            reason=f"{sentence}. {said[:1].upper()}{said[1:]}." if said else f"{sentence}.",
            metadata={"evidence": {**evidence, OPTIONS: options_of(self)}, "samples": samples.to_dict()},
        )


def _drawn(source: Sampler, fields: Fields, count: int) -> SampleSet:
    try:
        return source.draw(fields, count)
    except OpikCheckEmbedError:
        raise
    except Exception as error:
        # A sampler may be the user's own, so this can be anything; it must fail items, not the evaluation.
        raise SamplingError(f"the sampler raised {error!r}") from error


def given_fields(output: Any, fields: dict[str, Any]) -> dict[str, Any]:
    """The item's fields with the output among them, unless there is none."""
    return fields if output is UNSET else {"output": output, **fields}


def _whole(name: str, value: int, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigurationError(
            f"{name} must be a whole number of at least {least}, not {value!r}: agreement needs answers to compare"
        )
    return value


def _sampler(
    sampler: Sampler | None,
    model: str | OpikBaseModel | None,
    given: dict[str, Any],
    parameters: Mapping[str, Any] | None,
) -> Sampler:
    own = {name: value for name, value in given.items() if value is not UNSET}
    if parameters is not None and not isinstance(parameters, Mapping):
        raise ConfigurationError(
            f"model_parameters must be a dict like {{'max_tokens': 200}}, not {type(parameters).__name__}"
        )
    twice = [name for name in (parameters or {}) if name in given or name == "model"]
    if twice:
        raise ConfigurationError(f"{', '.join(twice)} cannot stand in model_parameters; it is an argument of its own")
    if sampler is not None:
        if not isinstance(sampler, Sampler):
            raise ConfigurationError(
                f"sampler must have a draw(fields, count) method, like LiteLLMSampler, not {type(sampler).__name__}"
            )
        also = [*own, *(["model"] if model is not None else []), *(["model_parameters"] if parameters else [])]
        if also:
            raise ConfigurationError(f"{', '.join(also)} and sampler= cannot both be given; set them on the sampler")
        return sampler
    if model is None or isinstance(model, str):
        return LiteLLMSampler(model, **own, **(parameters or {}))
    if "timeout" in own:
        raise ConfigurationError("timeout cannot be changed for a model object; construct the model with it")
    from opik_checkembed.samples.opik_model_sampler import OpikModelSampler

    return OpikModelSampler(model, **own, **(parameters or {}))
