"""Several metrics over the same samples as one number: how likely is the answer hallucinated?"""

from __future__ import annotations

import inspect
import logging
import math
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Literal

from opik.evaluation.metrics.base_metric import BaseMetric
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed.calibration.apply import facts_of
from opik_checkembed.calibration.combine import Calibrated, Combination, Combined, WeightedMean
from opik_checkembed.calibration.model import Calibration
from opik_checkembed.errors import ConfigurationError, ItemError
from opik_checkembed.metric_options import options_of
from opik_checkembed.metrics.base import UNSET, SampledMetric, given_fields
from opik_checkembed.results import finite, is_sample_set, merge_sample_sets
from opik_checkembed.samples.sample import Origin, Sample, SampleSet
from opik_checkembed.samples.sampler import samplers_of

_LOGGER = logging.getLogger(__name__)

Weights = Literal["equal"] | Mapping[str, float] | Calibration | str | PathLike[str]


class EnsembleMetric(BaseMetric):
    """One score from several metrics that share their samples: 0 consistent to 1 hallucinated, lower is better.

    With a `Calibration` that was fitted on labels the value is the probability that the answer is hallucinated, as far
    as the calibration holds for this data: the reason says where it was fitted on another model, number of samples or
    setting of the parts.

    With stored moments (`opik_checkembed.calibration.fit_moments`, which needs no label) all parts weigh the same,
    whatever their scales: each score becomes its distance from the mean of earlier answers in standard deviations, and
    the value is the place of their mean on the normal distribution, from 0 to 1: 0.5 is as doubtful as those answers
    were on average, 0.84 one standard deviation more, and none of it a probability.

    With weights, or "equal", it is the mean of the parts' scores as they are, each turned so that 1 means hallucinated,
    and no probability either. A part whose scores crowd then counts for little, and one without an upper bound is
    refused.

    Each part draws its samples through its own sampler; parts that name the same store (the default) buy one set.
    The reason lists the parts' scores with what each adds to the log-odds or to the mean, the largest first.

    Returned are the ensemble's own score and then the scores of the parts, so that nothing that was paid for is lost.
    Opik logs one span for the ensemble and none for its parts; calls to a model hang under it.

    Parts that are consistently fooled are so together: a model sure of a falsehood gets a low score.

    Args:
        metrics: The parts, each with a name of its own. A part's `track` and `project_name` are not used.
        weights: "equal" for the plain mean of the scores; a weight of 0 or more for each part's name; or a
            `Calibration` (fitted, or moments), the name of a preset (`opik_checkembed.calibration.preset_names`) or the
            path of a calibration's JSON.
        on_failure: Where a part has no score: "renormalise" goes on without it (a fitted calibration takes it at its
            mean, where it says nothing), "fail" gives no score. The reason names the part either way.
        parts: Whether the scores of the parts are returned too. False where the same metrics run beside the ensemble.
        name: The score's name.
        track: Whether Opik logs the metric's span.
        project_name: See Opik's `BaseMetric`.

    Raises:
        ConfigurationError: An argument cannot work; says what to do.

    Example:
        >>> from opik_checkembed import CheckEmbedMetric, SelfCheckNLIMetric
        >>> parts = [CheckEmbedMetric(), SelfCheckNLIMetric()]
        >>> metric = EnsembleMetric(parts, weights={"checkembed_metric": 1, "selfcheck_nli": 2})
        >>> metric.name, metric.higher_is_better
        ('ensemble', False)
    """

    higher_is_better: ClassVar[bool] = False

    def __init__(
        self,
        metrics: Sequence[SampledMetric],
        *,
        weights: Weights = "equal",
        on_failure: Literal["renormalise", "fail"] = "renormalise",
        parts: bool = True,
        name: str = "ensemble",
        track: bool = True,
        project_name: str | None = None,
    ) -> None:
        self.metrics = _parts(metrics, name)
        if on_failure not in {"renormalise", "fail"}:
            raise ConfigurationError(f"on_failure must be 'renormalise' or 'fail', not {on_failure!r}")
        self.on_failure = on_failure
        self.parts = parts
        self.combination = _combination(weights, self.metrics, on_failure)
        self._options = {} if self.calibration is None else _options(self.calibration, self.metrics)
        self._said: set[str] = set()
        self._said_lock = threading.Lock()
        self._traced = [metric for metric in self.metrics if _reads_trace(metric)]
        if self._traced:
            # Opik hands a metric the task's span only if its `score` has a parameter of this name.
            object.__setattr__(self, "score", self._score_with_task_span)
        super().__init__(name=name, track=track, project_name=project_name)

    @property
    def calibration(self) -> Calibration | None:
        """The calibration in use; None for a mean."""
        return self.combination.calibration if isinstance(self.combination, Calibrated) else None

    def samplers(self) -> list[object]:
        """See `AsksModels.samplers`."""
        return samplers_of(*self.metrics)

    def direction(self, score: str) -> bool | None:
        """`higher_is_better` of a score that the ensemble returns: its own, or one of a part."""
        if score == self.name:
            return self.higher_is_better
        owner = _owner(score, self.metrics)
        return None if owner is None else owner.higher_is_better

    def score(
        self,
        input: Any = None,
        output: Any = UNSET,
        context: Any = None,
        reference: Any = None,
        **fields: Any,
    ) -> ScoreResult | list[ScoreResult]:
        """Judge one answer by all parts; arguments are those of `SampledMetric.score`.

        Returns:
            The ensemble's score and then those of the parts; failed ones (`scoring_failed=True`) say why.
        """
        named = {"input": input, "context": context, "reference": reference}
        return self._scores(given_fields(output, {**{k: v for k, v in named.items() if v is not None}, **fields}))

    def _score_with_task_span(
        self, output: Any = UNSET, task_span: Any = None, **fields: Any
    ) -> ScoreResult | list[ScoreResult]:
        return self._scores(given_fields(output, fields), task_span)

    def _scores(self, fields: dict[str, Any], task_span: Any = None) -> ScoreResult | list[ScoreResult]:
        # One after the other: the first draws the samples, the others find them.
        found = {metric.name: self._run(metric, fields, task_span) for metric in self.metrics}
        own = self._own(found)
        return [own, *(score for scores in found.values() for score in scores)] if self.parts else own

    def _run(self, metric: SampledMetric, fields: dict[str, Any], task_span: Any) -> list[ScoreResult]:
        """A part's scores. Its method is the class's: the instance's own would log a span of its own."""
        try:
            if metric in self._traced:
                returned = metric._score_with_task_span(task_span=task_span, **fields)
            else:
                returned = type(metric).score(metric, **fields)
        except Exception as error:  # noqa: BLE001 - a part may be anybody's; what the others found was paid for
            return [metric.failed(ItemError(f"it raised {error!r}"), None)]
        return returned if isinstance(returned, list) else [returned]

    def _own(self, found: Mapping[str, list[ScoreResult]]) -> ScoreResult:
        failures = {name: why for name, scores in found.items() if (why := _failure(name, scores))}
        values = _values(found)
        sets = _merged(found)
        evidence: dict[str, Any] = {
            "parts": [
                {"name": score.name, "value": values.get(score.name), "failed": score.scoring_failed}
                for scores in found.values()
                for score in scores
            ],
            "calibration": None if self.calibration is None else self.calibration.name,
        }
        try:
            if failures and self.on_failure == "fail":
                raise ItemError("not all parts have a score")
            absent = () if self.calibration is None else self.calibration.missing(values)
            if absent and self.on_failure == "fail":
                raise ItemError(f"the calibration reads {', '.join(absent)}, which no part gave")
            combined = self.combination.combine(values)
        except ItemError as error:
            text = f"{error}: {_told(failures)}" if failures else str(error)
            return self._result(None, text, evidence, sets, found)
        evidence |= {"contributions": dict(combined.contributions)}
        if self.calibration is not None:
            evidence |= {
                "method": self.calibration.method,
                "intercept": self.calibration.intercept,
                "threshold": self.calibration.threshold,
                "flagged": combined.value >= self.calibration.threshold,
            }
        notes = [
            *([_told(failures)] if failures else []),
            *combined.notes,
            *self._mismatches(sets),
            *(text for one in sets for text in _sample_set(one).warnings()),
        ]
        said = "; ".join(notes)
        # Not capitalised: a note may begin with a score's name.
        reason = f"{self.combination.sentence(combined)}.{f' Note: {said}.' if said else ''}"
        return self._result(combined, reason, evidence, sets, found)

    def _mismatches(self, sets: Sequence[Mapping[str, Any]]) -> list[str]:
        """In what samples and parts differ from what the calibration was fitted on; each said once in the log."""
        if self.calibration is None:
            return []
        models, counts = facts_of(sets)
        own = self.calibration
        found = [
            *(text for model in sorted(models) for text in own.mismatches(model=model)),
            *(text for count in sorted(counts) for text in own.mismatches(k=count)),
            *own.mismatches(options=self._options),
        ]
        for text in found:
            with self._said_lock:
                first = text not in self._said
                self._said.add(text)
            if first:
                _LOGGER.warning("%s: the calibration %r: %s (said once)", self.name, own.name, text)
        return [f"the calibration may not hold here: {'; '.join(found)}"] if found else []

    def _result(
        self,
        combined: Combined | None,
        reason: str,
        evidence: Mapping[str, Any],
        sets: Sequence[Mapping[str, Any]],
        found: Mapping[str, list[ScoreResult]],
    ) -> ScoreResult:
        metadata: dict[str, Any] = {"evidence": dict(evidence)}
        # Where the parts are returned, they hold the samples, and the bill for them.
        if not self.parts:
            bills = [*_judging(found), *sets[1:]]
            metadata["evidence"] |= {"judging": _bill(bills)} if bills else {}
            metadata |= {"samples": sets[0]} if sets else {}
        return ScoreResult(
            name=self.name,
            value=0.0 if combined is None else combined.value,
            reason=reason,
            metadata=metadata,
            scoring_failed=combined is None,
        )


def _parts(metrics: Sequence[SampledMetric], name: str) -> tuple[SampledMetric, ...]:
    parts = tuple(metrics) if isinstance(metrics, Sequence) else ()
    wrong = [part for part in parts if not isinstance(part, SampledMetric)]
    if not parts or wrong:
        was = repr(wrong[0]) if wrong else repr(metrics)
        raise ConfigurationError(f"metrics must be a list of this package's metrics over samples, not {was}")
    twice = [one for one, count in Counter([name, *(part.name for part in parts)]).items() if count > 1]
    if twice:
        raise ConfigurationError(f"several of the parts and the ensemble are named {twice[0]}: give each its own name=")
    return parts


def _combination(weights: Weights, parts: Sequence[SampledMetric], on_failure: str) -> Combination:
    calibration = _calibration(weights)
    if calibration is not None:
        _check_calibration(calibration, parts, on_failure)
        return Calibrated(calibration)
    names = [part.name for part in parts]
    given = dict.fromkeys(names, 1.0) if weights == "equal" else weights
    if not isinstance(given, Mapping):
        raise ConfigurationError(
            "weights must be 'equal', a dict of score names and weights, a Calibration (of a Fit: its .calibration), "
            f"a preset or a path, not {weights!r}"
        )
    if set(given) != set(names):
        raise ConfigurationError(f"weights must name each part once ({', '.join(names)}), not {', '.join(given)}")
    numbers = {name: finite(given[name]) for name in names}
    sound = {name: value for name, value in numbers.items() if value is not None and value >= 0}
    if len(sound) < len(names) or not any(sound.values()):
        raise ConfigurationError(f"weights must be numbers of 0 or more, and not all 0, not {dict(given)!r}")
    _check_bounded(parts)
    return WeightedMean(sound, {part.name: part.higher_is_better for part in parts})


def _calibration(weights: Weights) -> Calibration | None:
    """The calibration that the argument is or names; None where it is something else."""
    if isinstance(weights, Calibration) or weights == "equal":
        return weights if isinstance(weights, Calibration) else None
    if not isinstance(weights, str | PathLike):
        return None
    from opik_checkembed.calibration.presets import load_preset, preset_names

    if weights in preset_names():
        return load_preset(str(weights))
    if not Path(weights).exists():
        presets = ", ".join(preset_names())
        raise ConfigurationError(f"weights: {str(weights)!r} is neither 'equal', a preset ({presets}) nor a file")
    return Calibration.from_json(weights)


def _check_calibration(calibration: Calibration, parts: Sequence[SampledMetric], on_failure: str) -> None:
    owners = {feature.name: _owner(feature.name, parts) for feature in calibration.features}
    names = ", ".join(part.name for part in parts)
    absent = [feature for feature, owner in owners.items() if owner is None]
    if absent and (on_failure == "fail" or len(absent) == len(owners) or not calibration.adds):
        raise ConfigurationError(
            f"the calibration {calibration.name!r} reads {', '.join(absent)}, which none of the parts gives ({names})"
        )
    calibration.refuse_turned({owner.name: owner.higher_is_better for owner in owners.values() if owner is not None})
    read = {owner.name for owner in owners.values() if owner is not None}
    there = [feature for feature, owner in owners.items() if owner is not None]
    names_there = [*there, *(part.name for part in parts if part.name not in read)]
    calibration.check(names=names_there, options=_options(calibration, parts))


def _options(calibration: Calibration, parts: Sequence[SampledMetric]) -> dict[str, dict[str, Any]]:
    """For each feature how the part that gives it is set up."""
    owners = {feature.name: _owner(feature.name, parts) for feature in calibration.features}
    return {name: options_of(owner) for name, owner in owners.items() if owner is not None}


def _check_bounded(parts: Sequence[SampledMetric]) -> None:
    for part in parts:
        if not part.bounded:
            raise ConfigurationError(
                f"{part.name} has no upper bound, so that no mean with it makes sense: store the moments of finished "
                "scores (fit_moments, or opik-checkembed calibrate RESULTS --method equal) or fit a calibration on "
                "labelled answers, and give that as weights, or leave it out"
            )


def _owner(score: str, parts: Sequence[SampledMetric]) -> SampledMetric | None:
    """The part that gives a score, one of its further scores (`<name>_...`) or a number of its evidence."""
    owners = [part for part in parts if score == part.name or score.startswith((f"{part.name}_", f"{part.name}."))]
    return max(owners, key=lambda part: len(part.name), default=None)


def _reads_trace(metric: SampledMetric) -> bool:
    return "task_span" in inspect.signature(metric.score).parameters


def _failure(name: str, scores: Sequence[ScoreResult]) -> str:
    """Why a part has no value; empty where it has one."""
    own = next((score for score in scores if score.name == name), None)
    if own is None:
        return f"it returned no score named {name}"
    if own.scoring_failed:
        return own.reason or "no reason was given"
    return "" if finite(own.value) is not None else f"it returned {own.value!r}"


def _values(found: Mapping[str, Sequence[ScoreResult]]) -> dict[str, float | None]:
    """All that a combination may read: scores, and below them the numbers of their evidence."""
    values: dict[str, float | None] = {}
    for score in (score for scores in found.values() for score in scores if not score.scoring_failed):
        evidence = (score.metadata or {}).get("evidence")
        numbers = evidence.items() if isinstance(evidence, Mapping) else ()
        values |= {f"{score.name}.{name}": finite(value) for name, value in numbers}
        values[score.name] = finite(score.value)
    return values


def _merged(found: Mapping[str, Sequence[ScoreResult]]) -> list[dict[str, Any]]:
    """The distinct sample sets behind the parts; the scores of one part rest on one set, which it paid for once."""
    sets: list[Mapping[str, Any]] = []
    for scores in found.values():
        own: list[Mapping[str, Any]] = []
        for score in scores:
            samples = (score.metadata or {}).get("samples")
            if is_sample_set(samples) and samples not in own:
                own.append(samples)
        sets += own
    return merge_sample_sets(sets)[0]


def _sample_set(data: Mapping[str, Any]) -> SampleSet:
    """The inverse of `SampleSet.to_dict`."""
    return SampleSet(
        samples=tuple(Sample.from_dict(one["index"], one, Origin(one["origin"])) for one in data["samples"]),
        requested=data["requested"],
        failures=tuple(data["failures"]),
        notes=tuple(data["notes"]),
        temperature=data["temperature"],
    )


def _judging(found: Mapping[str, Sequence[ScoreResult]]) -> list[Mapping[str, Any]]:
    """What the parts say of their judging; see `ItemResult.cost_usd`."""
    evidence = [(score.metadata or {}).get("evidence") or {} for scores in found.values() for score in scores]
    return [one["judging"] for one in evidence if isinstance(one.get("judging"), Mapping)]


def _bill(bills: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    costs = [bill["cost_usd"] for bill in bills]
    return {
        "calls": math.fsum(bill["calls"] for bill in bills),
        "cost_usd": None if None in costs else math.fsum(costs),
    }


def _told(failures: Mapping[str, str]) -> str:
    """The parts that failed, those with one reason together."""
    reasons: dict[str, list[str]] = {}
    for name, reason in failures.items():
        reasons.setdefault(reason.rstrip("."), []).append(name)
    return "; ".join(f"{', '.join(names)} failed ({reason})" for reason, names in reasons.items())
