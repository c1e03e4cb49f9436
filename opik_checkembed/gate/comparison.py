"""Two runs over the same items, paired by item: what changed, how surely, and the verdict on each metric."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from opik_checkembed._version import __version__
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.paired import (
    ALPHA,
    PERMUTATIONS,
    detectable_difference,
    fewest_pairs,
    holm,
    mean_interval,
    permutation_p_value,
    unseen_share,
)
from opik_checkembed.results import ItemResult, LocalResults, finite, json_ready
from opik_checkembed.samples.request import INPUT_FIELDS
from opik_checkembed.wording import shortened

Side = Literal["baseline", "candidate"]

SCHEMA = 1

DEFAULT_MARGIN = 0.02
"""Loss that is still no worse where nothing else is said: two hundredths of a score between 0 and 1."""

RESOLUTION = 1e-6
"""Smaller differences count as none, in units of the values: what single precision and another batch's order leave."""

ANSWER_FIELDS = frozenset({
    "output", "answer", "samples", "model", "model_name", "model_parameters", "system_prompt", "tools", "messages",
})  # fmt: skip
"""What runs may well differ in, though the item is the same: the answer, and how it was come by."""

_NAMED = 5


class Verdict(StrEnum):
    """What a comparison says of one metric; `verdict_of` has the rule."""

    IMPROVED = "improved"
    NO_WORSE = "no worse"
    WORSE = "worse"
    UNDERPOWERED = "underpowered"


@dataclass(frozen=True)
class MetricComparison:
    """One metric over the items that both sides have a value for.

    Attributes:
        name: The score's name.
        higher_is_better: Its direction.
        pairs: Items with a value on both sides.
        baseline_mean: Mean over these items; None without any.
        candidate_mean: The same.
        difference: Candidate minus baseline, in the metric's own unit; None without any item.
        interval: Of the difference, 95 % unless `alpha` says otherwise; None with fewer than two items.
        p_value: Of the paired permutation test against no difference, two-sided; None without any item.
        p_adjusted: The same with Holm's correction over the metrics.
        better: Share of the items on which the candidate is better, by the metric's direction.
        worse: Share on which it is worse.
        equal: Share on which the sides do not differ.
        margin: What loss is still no worse, in the metric's unit, 0 or more.
        detectable: The smallest difference that so many items show in 80 of 100 runs, whatever the other metrics say;
            None with fewer than two items, or without any spread to tell it from.
        verdict: See `verdict_of`.
        fewest: With fewer pairs, no difference is significant over so many metrics at this alpha.
        unseen: Where all items differ by the same, most often by nothing: the share of all items that may still do
            otherwise; else None.
    """

    name: str
    higher_is_better: bool
    pairs: int
    baseline_mean: float | None
    candidate_mean: float | None
    difference: float | None
    interval: tuple[float, float] | None
    p_value: float | None
    p_adjusted: float | None
    better: float
    worse: float
    equal: float
    margin: float
    detectable: float | None
    verdict: Verdict
    fewest: int = fewest_pairs()
    unseen: float | None = None

    @property
    def lost(self) -> bool:
        """Whether the whole interval is a loss beyond the margin, whatever the test says."""
        if self.interval is None:
            return False
        low, high = self.interval
        return high < -self.margin if self.higher_is_better else low > self.margin

    @property
    def keeps_from_telling(self) -> bool:
        """Whether it is underpowered in a way that is no pass: too few pairs for any test, or surely a loss."""
        return self.verdict is Verdict.UNDERPOWERED and (self.pairs < self.fewest or self.lost)

    @property
    def unsure(self) -> str | None:
        """Why it is underpowered, in words; None where it is not."""
        if self.verdict is not Verdict.UNDERPOWERED:
            return None
        if not self.pairs:
            return f"{self.name} has no item with a value on both sides"
        if self.pairs < self.fewest:
            lost = ", though the candidate lost on every one of them" if self.worse == 1 else ""
            return (
                f"{self.name} has too few items: {self.pairs}, and with fewer than {self.fewest} no test can tell{lost}"
            )
        if self.lost:
            return f"{self.name} lost more than the margin, but so few items show no significant difference"
        if self.unseen is not None:
            return f"{self.name} is underpowered: {self.equal_words}, which may be a loss beyond the margin"
        return f"{self.name} is underpowered: too few items to tell no worse from worse"

    @property
    def equal_words(self) -> str:
        """What items that do not differ say of others; empty where some differ from the rest."""
        if self.unseen is None:
            return ""
        what = "no item differs" if self.equal == 1 else "all items differ by the same"
        return f"{what}; with {self.pairs} items up to {100 * self.unseen:.2g} % of all may still do otherwise"


@dataclass(frozen=True)
class PairedItem:
    """One item on both sides.

    Attributes:
        id: The item's id.
        baseline: Its result on the baseline's side; of several trials the first.
        candidate: The same on the candidate's side.
        differences: By metric, signed so that a positive one is better; means over trials. A metric that either side
            has no value of is left out.
        baseline_values: The baseline's value by metric, mean over trials.
        candidate_values: The candidate's.
        trials: Results of the item on each side, baseline first.
    """

    id: str
    baseline: ItemResult
    candidate: ItemResult
    differences: Mapping[str, float]
    baseline_values: Mapping[str, float]
    candidate_values: Mapping[str, float]
    trials: tuple[int, int]


@dataclass(frozen=True)
class Unscored:
    """A score that is not there.

    Attributes:
        side: Whose.
        id: The item's id.
        metric: The score's name.
        reason: Why, in words.
    """

    side: Side
    id: str
    metric: str
    reason: str


@dataclass(frozen=True)
class Comparison:
    """Two runs compared.

    Attributes:
        metrics: One comparison for each metric.
        items: The items that both sides have, in the baseline's order.
        only_baseline: Ids that the candidate lacks.
        only_candidate: Ids that the baseline lacks.
        unscored: Scores that are not there, on items that both sides have; one for each trial that lacks it.
        baseline_name: What the baseline is called.
        candidate_name: What the candidate is called.
        seed: Of the resampling; equal seeds give equal answers.
        alpha: The error rate of the tests; intervals hold 1 - alpha.
    """

    metrics: tuple[MetricComparison, ...]
    items: tuple[PairedItem, ...]
    only_baseline: tuple[str, ...]
    only_candidate: tuple[str, ...]
    unscored: tuple[Unscored, ...]
    baseline_name: str
    candidate_name: str
    seed: int
    alpha: float

    @property
    def unscored_items(self) -> tuple[str, ...]:
        """Ids of the items that lack a score on either side, each once."""
        return tuple(dict.fromkeys(one.id for one in self.unscored))

    def worst(self, n: int, metric: str | None = None) -> tuple[PairedItem, ...]:
        """The items that lost most, worst first; no item that lost nothing.

        Args:
            n: At most so many.
            metric: By this metric; None takes each item's worst, each metric's differences being measured by their
                root mean square, so that units do not decide.

        Raises:
            ConfigurationError: No metric has this name.
        """
        names = [one.name for one in self.metrics]
        if metric is not None and metric not in names:
            raise ConfigurationError(f"no metric {metric!r} was compared; there are {', '.join(names)}")
        scales = self._scales(names if metric is None else [metric])
        losses = [
            (
                min((item.differences.get(name, 0.0) / scale for name, scale in scales.items() if scale), default=0.0),
                item,
            )
            for item in self.items
        ]
        lost = sorted((one for one in losses if one[0] < 0), key=lambda one: one[0])
        return tuple(item for _, item in lost[:n])

    def lost_most(self, item: PairedItem) -> str | None:
        """The metric by which an item lost most, measured as in `worst`; None if it lost by none."""
        scales = self._scales([one.name for one in self.metrics])
        losses = {
            name: item.differences[name] / scale
            for name, scale in scales.items()
            if item.differences.get(name, 0.0) < 0 and scale
        }
        return min(losses, key=lambda name: losses[name], default=None)

    def _scales(self, names: Iterable[str]) -> dict[str, float]:
        return {name: _root_mean_square(item.differences.get(name, 0.0) for item in self.items) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON-ready values.

        Schema 1: `schema`, `package` (version), `baseline`, `candidate` (names), `alpha`, `seed`, `metrics` (the fields
        of `MetricComparison`), `items` (`id`, `differences`, `baseline` and `candidate` values, `trials`),
        `only_baseline`, `only_candidate` and `unscored` (`side`, `id`, `metric`, `reason`).
        """
        found: dict[str, Any] = json_ready(
            {
                "schema": SCHEMA,
                "package": __version__,
                "baseline": self.baseline_name,
                "candidate": self.candidate_name,
                "alpha": self.alpha,
                "seed": self.seed,
                "metrics": [asdict(one) for one in self.metrics],
                "items": [
                    {
                        "id": item.id,
                        "differences": item.differences,
                        "baseline": item.baseline_values,
                        "candidate": item.candidate_values,
                        "trials": item.trials,
                    }
                    for item in self.items
                ],
                "only_baseline": self.only_baseline,
                "only_candidate": self.only_candidate,
                "unscored": [asdict(one) for one in self.unscored],
            }
        )
        return found


def compare(
    baseline: LocalResults,
    candidate: LocalResults,
    *,
    margin: float | Mapping[str, float] = DEFAULT_MARGIN,
    alpha: float = ALPHA,
    seed: int = 0,
    metrics: Sequence[str] | None = None,
    directions: Mapping[str, bool] | None = None,
    names: tuple[str, str] = ("baseline", "candidate"),
) -> Comparison:
    """Compare two runs over the same items.

    Items are paired by id. Several results with one id are trials of one item: its value is the mean over them, so that
    an item counts once however often it was run.

    Args:
        baseline: What there is now.
        candidate: What is to take its place.
        margin: Loss that is still no worse, in the metric's own unit, 0 or more; a dict gives it by metric, and other
            metrics have the default.
        alpha: The error rate: intervals hold 1 - alpha, and a test that finds any difference where there is none does
            so in this share of runs, over all metrics together.
        seed: Of the resampling; equal seeds give equal answers.
        metrics: The scores to compare; None for all.
        directions: `higher_is_better` by name, for scores of which the results do not say.
        names: What the two sides are called.

    Raises:
        ConfigurationError: There is nothing to pair, ids stand for different items, a score lacks its direction or is
            on one side only, or an argument cannot work; says what to do.

    Example:
        >>> from opik_checkembed.results import Score
        >>> def run(values):
        ...     items = [ItemResult(str(i), {}, {}, (Score("agreement", v),)) for i, v in enumerate(values)]
        ...     return LocalResults(tuple(items), {"agreement": True})
        >>> found = compare(run([0.9] * 10), run([0.7, 0.8] * 5)).metrics[0]
        >>> round(found.difference, 2), found.worse, str(found.verdict)
        (-0.15, 1.0, 'worse')
    """
    check_alpha(alpha)
    sides = {side: _by_id(results, side) for side, results in _sides(baseline, candidate)}
    ids = [identity for identity in sides["baseline"] if identity in sides["candidate"]]
    if not ids:
        some = ", ".join(repr(next(iter(sides[side]))) for side in sides)
        raise ConfigurationError(f"the two sides have no item in common (ids like {some}): were both run over one set?")
    _same_items(ids, sides)
    compared = _metrics(baseline, candidate, metrics, directions or {})
    check_alpha(alpha, len(compared))
    margins = _margins(margin, compared)

    unscored: list[Unscored] = []
    items: list[PairedItem] = []
    for identity in ids:
        values: dict[str, dict[str, float]] = {}
        for side, of in sides.items():
            values[side], lacking = _values(side, identity, of[identity], list(compared))
            unscored += lacking
        results = [of[identity] for of in sides.values()]
        items.append(
            PairedItem(
                id=identity,
                baseline=results[0][0],
                candidate=results[1][0],
                differences={},
                baseline_values=values["baseline"],
                candidate_values=values["candidate"],
                trials=(len(results[0]), len(results[1])),
            )
        )
    items = _with_differences(items, compared)
    return Comparison(
        metrics=_compared(items, compared, margins, alpha, seed),
        items=tuple(items),
        only_baseline=tuple(one for one in sides["baseline"] if one not in sides["candidate"]),
        only_candidate=tuple(one for one in sides["candidate"] if one not in sides["baseline"]),
        unscored=tuple(unscored),
        baseline_name=names[0],
        candidate_name=names[1],
        seed=seed,
        alpha=alpha,
    )


def check_alpha(alpha: float, metrics: int = 1) -> None:
    """Refuse an error rate that is none, or that the permutations drawn cannot reach.

    Raises:
        ConfigurationError: Says what can be reached.
    """
    if not (finite(alpha) is not None and 0 < alpha < 1):
        raise ConfigurationError(f"alpha must be between 0 and 1, not {alpha!r}")
    finest = 1 / (PERMUTATIONS + 1)
    if alpha / metrics < finest:
        raise ConfigurationError(
            f"an alpha of {alpha:g} over {metrics} metric{'s' if metrics > 1 else ''} is finer than a test of "
            f"{PERMUTATIONS:,} permutations can show: it must be at least {metrics * finest:g}"
        )


def verdict_of(
    low: float,
    high: float,
    p_adjusted: float,
    *,
    margin: float,
    pairs: int,
    alpha: float = ALPHA,
    fewest: int | None = None,
    unseen_loss: float = 0.0,
) -> Verdict:
    """The verdict on one metric.

    The first row that holds decides. `low` and `high` are the interval of the mean difference, signed so that positive
    is better; *significant* means `p_adjusted <= alpha`, which is corrected for the number of metrics.

    ================================================= ============
    what holds                                        verdict
    ================================================= ============
    fewer pairs than any test could find anything in  underpowered
    significant, and low > 0                          improved
    low - unseen_loss >= -margin                      no worse
    significant, and high < 0, and low < -margin      worse
    anything else                                     underpowered
    ================================================= ============

    So a loss that is significant, and yet surely within the margin, is no worse; and a gain that is not significant is
    no worse. *Improved* and *worse* need the test and the interval to agree, since the test alone raises too many
    alarms over few lopsided differences; and they are corrected for the number of metrics, since among many one is
    soon found. *No worse* is not corrected: a gate passes only if all metrics are, which no number of them makes
    easier. The fewest pairs are 6 for one metric at an alpha of .05: the permutation test cannot reach it with 5.

    Args:
        low: The interval's lower end.
        high: Its upper end.
        p_adjusted: Of the test, corrected.
        margin: Loss that is still no worse.
        pairs: Items with a value on both sides.
        alpha: The error rate.
        fewest: Pairs below which nothing is significant; None takes what one metric needs.
        unseen_loss: What the mean may lose by items that would do otherwise, where none of those seen does: an interval
            without a width knows nothing of them.

    Example:
        >>> str(verdict_of(-0.03, -0.01, 0.001, margin=0.05, pairs=50))
        'no worse'
        >>> str(verdict_of(-0.08, -0.01, 0.001, margin=0.05, pairs=50))
        'worse'
        >>> str(verdict_of(-0.08, 0.02, 0.4, margin=0.05, pairs=50))
        'underpowered'
        >>> str(verdict_of(0.0, 0.0, 1.0, margin=0.05, pairs=50, unseen_loss=0.06))
        'underpowered'
    """
    significant = p_adjusted <= alpha
    if pairs < (fewest_pairs(alpha) if fewest is None else fewest):
        return Verdict.UNDERPOWERED
    if significant and low > 0:
        return Verdict.IMPROVED
    if low - unseen_loss >= -margin:
        return Verdict.NO_WORSE
    if significant and high < 0 and low < -margin:
        return Verdict.WORSE
    return Verdict.UNDERPOWERED


# --- reading the two sides -------------------------------------------------------------------------------------------


def _sides(baseline: LocalResults, candidate: LocalResults) -> tuple[tuple[Side, LocalResults], ...]:
    return ("baseline", baseline), ("candidate", candidate)


def _by_id(results: LocalResults, side: Side) -> dict[str, list[ItemResult]]:
    if not results.items:
        raise ConfigurationError(f"the {side} holds no items: there is nothing to compare")
    found: dict[str, list[ItemResult]] = {}
    for item in results.items:
        found.setdefault(item.id, []).append(item)
    mixed = [name for name, trials in found.items() if any(_asked(one) != _asked(trials[0]) for one in trials)]
    if mixed:
        raise ConfigurationError(
            f"in the {side} one id stands for several items: {_some(mixed)}. Only trials of one item may share its id"
        )
    return found


def _same_items(ids: Sequence[str], sides: Mapping[Side, Mapping[str, Sequence[ItemResult]]]) -> None:
    first = {side: {one: of[one][0] for one in ids} for side, of in sides.items()}
    differ = [one for one in ids if _asked(first["baseline"][one]) != _asked(first["candidate"][one])]
    if differ:
        asked = [shortened(str(_asked(first[side][differ[0]]))) for side in sides]
        raise ConfigurationError(
            f"{len(differ)} of {len(ids)} ids stand for another item on each side: {_some(differ)}; the first asks "
            f"{asked[0]!r} in the baseline and {asked[1]!r} in the candidate. Compare runs over one set of items, and "
            "give items an `id` where their order may change"
        )


def _asked(result: ItemResult) -> Any:
    """What makes it this item: what was asked, else all that the item holds beside its answer."""
    item = result.item
    asked = next((item[name] for name in INPUT_FIELDS if item.get(name) is not None), None)
    messages = item.get("messages")
    if asked is None and isinstance(messages, Sequence):
        # The rest of a conversation (its system prompt) may be what the candidate changes.
        turns = [one for one in messages if isinstance(one, Mapping) and one.get("role") == "user"]
        asked = turns[-1].get("content") if turns else None
    rest = {name: value for name, value in item.items() if name not in ANSWER_FIELDS}
    return json_ready(rest if asked is None else asked)


def _metrics(
    baseline: LocalResults, candidate: LocalResults, chosen: Sequence[str] | None, directions: Mapping[str, bool]
) -> dict[str, bool]:
    """The scores to compare, with `higher_is_better` of each."""
    names = list(dict.fromkeys(chosen if chosen is not None else [*baseline.names, *candidate.names]))
    if not names:
        raise ConfigurationError("neither side holds a score: there is nothing to compare")
    for side, results in _sides(baseline, candidate):
        lacking = [name for name in names if name not in results.names]
        if lacking:
            raise ConfigurationError(
                f"the {side} has no score {', '.join(lacking)}; it has {', '.join(results.names) or 'none'}. Choose "
                "what both sides have with metrics= (--metric)"
            )
    unknown = [name for name in directions if name not in names]
    if unknown:
        raise ConfigurationError(f"a direction is given for {', '.join(unknown)}, which is not compared")
    found: dict[str, bool] = {}
    for name in names:
        said = {one for one in (baseline.directions.get(name), candidate.directions.get(name)) if one is not None}
        if name in directions:
            said = {directions[name]}
        if len(said) > 1:
            raise ConfigurationError(
                f"the two sides point {name} in different directions; say which way is better with directions= "
                f"(--metric {name}:higher or {name}:lower)"
            )
        if not said:
            raise ConfigurationError(
                f"the results do not say which way {name} is better; say it with directions= (--metric {name}:higher "
                f"or {name}:lower), or leave it out by choosing others with metrics= (--metric)"
            )
        found[name] = said.pop()
    return found


def _margins(margin: float | Mapping[str, float], names: Iterable[str]) -> dict[str, float]:
    given = dict(margin) if isinstance(margin, Mapping) else dict.fromkeys(names, margin)
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ConfigurationError(
            f"a margin is given for {', '.join(unknown)}, which is not compared; there are {', '.join(names)}"
        )
    for name, value in given.items():
        number = finite(value)
        if number is None or isinstance(value, bool) or number < 0:
            raise ConfigurationError(f"the margin of {name} must be a number of at least 0, not {value!r}")
    return {name: float(given.get(name, DEFAULT_MARGIN)) for name in names}


def _values(
    side: Side, identity: str, trials: Sequence[ItemResult], names: Sequence[str]
) -> tuple[dict[str, float], list[Unscored]]:
    """An item's values, each the mean over its trials, and the scores that are not there."""
    values: dict[str, float] = {}
    lacking: list[Unscored] = []
    for name in names:
        found: list[float] = []
        for trial in trials:
            score = trial.score(name)
            if score is not None and score.value is not None:
                found.append(float(score.value))
            else:
                missing = "the run has no such score for this item"
                reason = trial.error or (missing if score is None else score.reason) or "no reason was given"
                lacking.append(Unscored(side, identity, name, reason))
        if found:
            values[name] = statistics.fmean(found)
    return values, lacking


def _with_differences(items: Sequence[PairedItem], directions: Mapping[str, bool]) -> list[PairedItem]:
    """The items with each metric's differences, signed so that positive is better."""
    usual = {
        name: statistics.median(sizes) if (sizes := [abs(value) for value in _both(items, name)]) else 0.0
        for name in directions
    }

    def of(item: PairedItem, name: str, sign: int) -> float:
        before, after = item.baseline_values[name], item.candidate_values[name]
        # A value near 0 may be what rounding left of larger ones.
        scale = max(abs(before), abs(after), usual[name])
        return sign * (after - before) if abs(after - before) > RESOLUTION * scale else 0.0

    return [
        replace(
            item,
            differences={
                name: of(item, name, 1 if higher_is_better else -1)
                for name, higher_is_better in directions.items()
                if name in item.baseline_values and name in item.candidate_values
            },
        )
        for item in items
    ]


def _both(items: Sequence[PairedItem], name: str) -> list[float]:
    """A metric's values on both sides, of the items that have both."""
    paired = [one for one in items if name in one.baseline_values and name in one.candidate_values]
    return [values[name] for one in paired for values in (one.baseline_values, one.candidate_values)]


# --- the statistics --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    """One metric's differences, signed so that positive is better, and the largest loss of one item to reckon with."""

    differences: NDArray[np.float64]
    baseline_mean: float | None
    candidate_mean: float | None
    p_value: float | None
    plausible: float


def _compared(
    items: Sequence[PairedItem],
    directions: Mapping[str, bool],
    margins: Mapping[str, float],
    alpha: float,
    seed: int,
) -> tuple[MetricComparison, ...]:
    columns = {name: _column(items, name, seed) for name in directions}
    tested = {name: column.p_value for name, column in columns.items() if column.p_value is not None}
    adjusted = dict(zip(tested, holm(list(tested.values())).tolist(), strict=True))
    return tuple(
        _metric(
            name, columns[name], higher_is_better, margins[name], adjusted.get(name), alpha, max(1, len(tested)), seed
        )
        for name, higher_is_better in directions.items()
    )


def _column(items: Sequence[PairedItem], name: str, seed: int) -> _Column:
    paired = [item for item in items if name in item.differences]
    if not paired:
        return _Column(np.zeros(0), None, None, None, 0.0)
    differences = np.array([item.differences[name] for item in paired])
    return _Column(
        differences,
        baseline_mean=statistics.fmean(item.baseline_values[name] for item in paired),
        candidate_mean=statistics.fmean(item.candidate_values[name] for item in paired),
        p_value=float(permutation_p_value(differences, seed=seed)),
        plausible=_plausible(_both(paired, name)),
    )


def _plausible(values: Sequence[float]) -> float:
    """The largest loss to reckon with: 1 for scores within 0 to 1, else the range seen, or their size without one."""
    low, high = min(values), max(values)
    if low >= 0 and high <= 1:
        return 1.0
    return high - low or abs(high)


def _metric(
    name: str,
    column: _Column,
    higher_is_better: bool,
    margin: float,
    p_adjusted: float | None,
    alpha: float,
    tested: int,
    seed: int,
) -> MetricComparison:
    differences = column.differences
    pairs = len(differences)
    sign = 1 if higher_is_better else -1
    interval: tuple[float, float] | None = None
    detectable = unseen = None
    verdict = Verdict.UNDERPOWERED
    fewest = fewest_pairs(alpha / tested)
    if pairs > 1 and p_adjusted is not None:
        low, high = (float(end) for end in mean_interval(differences, alpha=alpha, seed=seed))
        unseen = unseen_share(pairs, alpha) if low == high else None
        verdict = verdict_of(
            low,
            high,
            p_adjusted,
            margin=margin,
            pairs=pairs,
            alpha=alpha,
            fewest=fewest,
            unseen_loss=(unseen or 0.0) * column.plausible,
        )
        # Added to 0, -0 is 0.
        interval = (low + 0.0, high + 0.0) if higher_is_better else (0.0 - high, 0.0 - low)
        # The least favourable place in Holm's order, so that it holds wherever the metric comes.
        ends = (low, high) if tested == 1 else mean_interval(differences, alpha=alpha / tested, seed=seed)
        reach = max(abs(float(end) - float(differences.mean())) for end in ends)
        detectable = detectable_difference(differences, alpha=alpha / tested, reach=reach)
    return MetricComparison(
        name=name,
        higher_is_better=higher_is_better,
        pairs=pairs,
        baseline_mean=column.baseline_mean,
        candidate_mean=column.candidate_mean,
        difference=sign * float(differences.mean()) + 0.0 if pairs else None,
        interval=interval,
        p_value=column.p_value,
        p_adjusted=p_adjusted,
        better=_share(differences > 0),
        worse=_share(differences < 0),
        equal=_share(differences == 0),
        margin=margin,
        detectable=detectable,
        verdict=verdict,
        fewest=fewest,
        unseen=unseen,
    )


def _share(which: NDArray[np.bool_]) -> float:
    return float(which.mean()) if len(which) else 0.0


def _root_mean_square(values: Iterable[float]) -> float:
    squares = [value * value for value in values]
    return math.sqrt(statistics.fmean(squares)) if squares else 0.0


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:_NAMED]) + (", ..." if len(ids) > _NAMED else "")
