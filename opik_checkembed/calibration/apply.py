"""Reading finished results with a calibration or a threshold: nothing is asked or computed again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opik_checkembed.calibration.model import Calibration, score_of
from opik_checkembed.calibration.options import options_in
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.results import ItemResult, LocalResults, finite


@dataclass(frozen=True, slots=True)
class ItemVerdict:
    """What is made of one item.

    Attributes:
        id: The item's.
        value: The probability that its answer is hallucinated, or the score, or what else a calibration gives; None
            where it has none.
        flagged: Whether it is to be doubted; None where there is no value.
        reason: Why there is no value.
    """

    id: str
    value: float | None
    flagged: bool | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Finished results, read again.

    Attributes:
        items: One for each item, in order.
        threshold: Where values were cut.
        by: The calibration's or the score's name.
        warnings: In what the results differ from what the calibration was fitted on.
    """

    items: tuple[ItemVerdict, ...]
    threshold: float
    by: str
    warnings: tuple[str, ...] = ()

    @property
    def flagged(self) -> tuple[str, ...]:
        """Ids of the items to doubt."""
        return tuple(item.id for item in self.items if item.flagged)

    @property
    def unscored(self) -> tuple[str, ...]:
        """Ids of the items that nothing can be said about; they are neither flagged nor passed."""
        return tuple(item.id for item in self.items if item.flagged is None)


def rethreshold(
    results: LocalResults,
    by: Calibration | str,
    threshold: float | None = None,
    *,
    higher_is_better: bool | None = None,
) -> Verdicts:
    """Which answers of finished results to doubt, by a calibration or by one score.

    A `CalibrationWarning` is given, once for each kind, where the results come from another model, number of samples or
    options of the metrics than the calibration was fitted on; the verdicts hold it too.

    Args:
        results: What `evaluate_locally` returned, or `LocalResults.from_json` read.
        by: A calibration, or a score's name.
        threshold: Answers at it or worse are flagged; None takes the calibration's own, which "moments" have none of.
        higher_is_better: The score's direction, where the results do not say.

    Raises:
        ConfigurationError: No item has such a score, a threshold or direction lacks, the threshold is no number, or the
            results have a score the other way round than the calibration.
    """
    if threshold is not None and (isinstance(threshold, bool) or finite(threshold) is None):
        raise ConfigurationError(f"a threshold must be a finite number, not {threshold!r}")
    if isinstance(by, Calibration):
        known(results, by.names)
        by.refuse_turned(results.directions)
        if threshold is None and by.method == "moments" and by.threshold > 1:
            raise ConfigurationError(f"{by.name!r} holds moments, which flag nothing by themselves: give a threshold")
        said = [text for item in results.items for text in _checked(by, item)]
        cut = by.threshold if threshold is None else threshold
        verdicts = [_calibrated(item, by, cut) for item in results.items]
        return Verdicts(tuple(verdicts), cut, by.name, tuple(dict.fromkeys(said)))
    known(results, [by])
    way = results.directions.get(by) if higher_is_better is None else higher_is_better
    if threshold is None or way is None:
        lacking = "a threshold" if threshold is None else "higher_is_better, which the results do not say"
        raise ConfigurationError(f"the score {by!r} needs {lacking}")
    verdicts = [_cut(item.id, feature_value(item, by), threshold, way) for item in results.items]
    return Verdicts(tuple(verdicts), threshold, by)


def feature_value(item: ItemResult, name: str) -> float | None:
    """A score's value, or a number of its evidence ("checkembed_metric.std"); None where the item has none."""
    score = item.score(name)
    if score is not None:
        return score.value
    whole = item.score(score_of(name))
    # What a score that failed has measured on its way says nothing.
    return None if whole is None or whole.failed else finite(whole.evidence.get(name.removeprefix(f"{whole.name}.")))


def independent(results: LocalResults) -> list[str]:
    """The scores that are not made of others of the results, as an ensemble's is; all where there is no other."""
    made = {score.name for item in results.items for score in item.scores if "parts" in score.evidence}
    return [name for name in results.names if name not in made] or list(results.names)


def known(results: LocalResults, names: Sequence[str]) -> None:
    """Refuse names that no item has.

    Raises:
        ConfigurationError: Names them, and the scores there are.
    """
    lacking = [name for name in names if all(feature_value(item, name) is None for item in results.items)]
    if lacking:
        there = ", ".join(results.names) or "none"
        raise ConfigurationError(f"no item has a value of {', '.join(lacking)}; the results' scores are {there}")


def sampled(item: ItemResult, names: Sequence[str]) -> tuple[set[str], set[int]]:
    """The models that gave the samples behind these scores, and how many samples were asked for."""
    scores = [item.score(name) or item.score(score_of(name)) for name in names]
    places = {score.samples for score in scores if score is not None and score.samples is not None}
    return facts_of([item.samples[place] for place in sorted(places)])


def facts_of(sets: Sequence[Mapping[str, Any]]) -> tuple[set[str], set[int]]:
    """The models that gave these sample sets, and the numbers of samples asked for."""
    models = {sample["model"] for one in sets for sample in one["samples"] if sample.get("model") is not None}
    return models, {one["requested"] for one in sets}


def _checked(calibration: Calibration, item: ItemResult) -> list[str]:
    models, counts = sampled(item, calibration.names)
    return [
        *(text for model in sorted(models) for text in calibration.check(model=model)),
        *(text for count in sorted(counts) for text in calibration.check(k=count)),
        *calibration.check(options=options_in([item], calibration.names)),
    ]


def _calibrated(item: ItemResult, calibration: Calibration, threshold: float) -> ItemVerdict:
    values = {name: feature_value(item, name) for name in calibration.names}
    missing = calibration.missing(values)
    if missing:
        return ItemVerdict(item.id, None, None, f"it has no value of {', '.join(missing)}")
    return _cut(item.id, calibration.probability(values), threshold, higher_is_better=False)


def _cut(identity: str, value: float | None, threshold: float, higher_is_better: bool) -> ItemVerdict:
    if value is None:
        return ItemVerdict(identity, None, None, "it could not be scored")
    return ItemVerdict(identity, value, value <= threshold if higher_is_better else value >= threshold)
