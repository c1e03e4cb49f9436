"""Scores of a whole experiment, for `evaluate(..., experiment_scoring_functions=[...])`.

Each factory returns a function that Opik calls once with all results of the experiment. An answer that could not be
scored is never counted as a zero: shares are over the answers that have a score, and beside each share stands
`<name>_unscored`, the number of answers that have none. Where nothing can be said the score is failed
(`scoring_failed=True`, value NaN, which Opik shows but does not upload), and its reason says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.local import as_score, paid_once
from opik_checkembed.results import ItemResult, Score, finite, merge_sample_sets

if TYPE_CHECKING:
    from opik.evaluation.test_result import TestResult

    ExperimentScores = Callable[[list[TestResult]], list[ScoreResult]]


def share_confident(
    score: str = "checkembed_metric", *, mean: float = 0.9, std: float = 0.05, name: str | None = None
) -> ExperimentScores:
    """The share of answers that the paper's rule calls confident: 0 to 1, higher is better.

    The rule is read off the evidence of `CheckEmbedMetric`: the similarities of output and samples have a mean above
    `mean` and a standard deviation below `std`, and the samples are not all identical. It may differ from the one that
    the metric itself was constructed with. Absolute similarities depend on the embedder: with a small one choose the
    bounds on labelled answers.

    Scores read back from Opik have no evidence, since it is not stored there; they count as unscored.

    Source: Besta et al., "CheckEmbed" (2024), section 2.

    Args:
        score: The name of the `CheckEmbedMetric`'s score.
        mean: What the mean similarity must exceed.
        std: What the standard deviation must stay under.
        name: The experiment score's name; None for `<score>_confident`.

    Raises:
        ConfigurationError: A bound is not a number.

    Example:
        >>> share_confident()([])[0].name
        'checkembed_metric_confident'
    """
    _number("mean", mean)
    _number("std", std)

    def confident(found: Score) -> bool | None:
        held = finite(found.evidence.get("mean")), finite(found.evidence.get("std"))
        if held[0] is None or held[1] is None:
            return None
        return held[0] > mean and held[1] < std and not found.evidence.get("identical", False)

    said = f"are confident by the rule mean > {mean:g} and std < {std:g}"
    return _share(score, name or f"{score}_confident", said, confident)


def share_above(score: str, threshold: float, *, name: str | None = None) -> ExperimentScores:
    """The share of answers that score at least `threshold`, 0 to 1: higher is better where the score's higher is.

    Args:
        score: The score's name.
        threshold: The bound, itself included.
        name: The experiment score's name; None for `<score>_above_<threshold>`.

    Raises:
        ConfigurationError: The threshold is not a number.

    Example:
        >>> from opik.evaluation.metrics.score_result import ScoreResult
        >>> from opik.evaluation.test_case import TestCase
        >>> from opik.evaluation.test_result import TestResult
        >>> scores = [ScoreResult("s", 0.9), ScoreResult("s", 0.4), ScoreResult("s", 0.0, scoring_failed=True)]
        >>> results = [TestResult(TestCase("", str(i), {}), [score], 0) for i, score in enumerate(scores)]
        >>> [(found.name, found.value) for found in share_above("s", 0.8)(results)]
        [('s_above_0.8', 0.5), ('s_above_0.8_unscored', 1.0)]
    """
    _number("threshold", threshold)
    said = f"score at least {threshold:g}"
    return _share(score, name or f"{score}_above_{threshold:g}", said, lambda found: _value(found) >= threshold)


def share_below(score: str, threshold: float, *, name: str | None = None) -> ExperimentScores:
    """The share of answers that score at most `threshold`, 0 to 1: higher is better where the score's lower is.

    Args:
        score: The score's name, for example "selfcheck_nli".
        threshold: The bound, itself included.
        name: The experiment score's name; None for `<score>_below_<threshold>`.

    Raises:
        ConfigurationError: The threshold is not a number.

    Example:
        >>> share_below("selfcheck_nli", 0.3)([])[0].name
        'selfcheck_nli_below_0.3'
    """
    _number("threshold", threshold)
    said = f"score at most {threshold:g}"
    return _share(score, name or f"{score}_below_{threshold:g}", said, lambda found: _value(found) <= threshold)


def cost_per_item(*, name: str = "cost_per_item_usd") -> ExperimentScores:
    """US dollars that the metrics paid for samples and judging, for each answer that was judged; lower is better.

    Samples that several metrics share are paid for once, and what came from the store cost nothing this time. The
    task's own calls are not among it (Opik shows those), nor is an embedding model behind an API. Trials of one item
    are answers of their own.

    The score is failed where a price is unknown, or where no score says what it cost: nothing is made up.

    Args:
        name: The experiment score's name.

    Example:
        >>> cost_per_item()([])[0].scoring_failed
        True
    """

    def cost(results: list[TestResult]) -> list[ScoreResult]:
        items = [_item(result) for result in results]
        if not any(item._bills for item in items):
            return [_failed(name, "no score says what its samples or its judging cost")]
        costs = [item.cost_usd for item in items]
        known = [c for c in costs if c is not None]
        if len(known) < len(costs):
            unknown = f"what {len(costs) - len(known)} of {len(costs)} answers cost is not known"
            return [_failed(name, f"{unknown}: the price of a model is missing (Budget(prices=...) takes it)")]
        total = math.fsum(known)
        calls = math.fsum(item.calls for item in items)
        reason = f"${total:.6g} for {calls:g} calls over {len(items)} answers"
        return [ScoreResult(name, total / len(items), reason=reason)]

    return cost


def _share(score: str, name: str, said: str, holds: Callable[[Score], bool | None]) -> ExperimentScores:
    """The share of answers for which `holds`, which is None where that cannot be told, and how many were left out."""

    def share(results: list[TestResult]) -> list[ScoreResult]:
        found = [_named(score, result) for result in results]
        answers = [None if one is None or one.failed else holds(one) for one in found]
        known = [answer for answer in answers if answer is not None]
        left_out = len(answers) - len(known)
        why = _why(score, found, answers, results)
        if known:
            reason = f"{sum(known)} of {len(known)} answers {said}{f'; {left_out} unscored: {why}' if why else ''}"
            own = ScoreResult(name, sum(known) / len(known), reason=reason)
        else:
            own = _failed(name, why or "the experiment has no results")
        return [own, ScoreResult(f"{name}_unscored", float(left_out), reason=why)]

    return share


def _why(
    score: str, found: Sequence[Score | None], answers: Sequence[bool | None], results: Sequence[TestResult]
) -> str | None:
    """Why the first answer that was left out was; None where none was."""
    for one, answer in zip(found, answers, strict=True):
        if answer is not None:
            continue
        if one is None:
            names = dict.fromkeys(each.name for result in results for each in result.score_results)
            return f"it has no score {score!r} (the experiment has {', '.join(names) or 'none'})"
        if one.failed:
            return one.reason or "no reason was given"
        return (
            f"its score {score!r} has no evidence with a mean and a standard deviation: it is no CheckEmbedMetric's, "
            "or was read back from Opik, which stores none"
        )
    return None


def _named(score: str, result: TestResult) -> Score | None:
    return next((as_score(one)[0] for one in result.score_results if one.name == score), None)


def _item(result: TestResult) -> ItemResult:
    """One answer with what it cost: scores that rest on one sample set paid for it once."""
    found = paid_once([as_score(one) for one in result.score_results])
    sets, _ = merge_sample_sets([samples for _, samples in found])
    scores = tuple(score for score, _ in found)
    return ItemResult(result.test_case.dataset_item_id, {}, {}, scores, tuple(sets))


def _value(score: Score) -> float:
    assert score.value is not None  # failed ones are left out before
    return score.value


def _failed(name: str, reason: str) -> ScoreResult:
    # Not 0, which Opik would print as the value.
    return ScoreResult(name, math.nan, reason=reason, scoring_failed=True)


def _number(argument: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ConfigurationError(f"{argument} must be a finite number, not {value!r}")
