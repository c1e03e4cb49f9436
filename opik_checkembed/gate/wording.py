"""Figures and texts of a comparison as all its forms show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from opik_checkembed.errors import AnswerError
from opik_checkembed.gate.comparison import Comparison, MetricComparison, PairedItem, Unscored
from opik_checkembed.results import ItemResult
from opik_checkembed.samples.request import asked_text, judged_output

LONGEST_TEXT = 400
LONGEST_ID = 60


def number(value: float | None, *, sign: bool = False) -> str:
    """A figure to three decimals, or to three digits where that would hide it.

    Example:
        >>> number(0.8125), number(0.02, sign=True), number(0.00004), number(None)
        ('0.812', '+0.020', '4e-05', '-')
    """
    if value is None:
        return "-"
    value += 0.0  # -0 is 0
    plus = "+" if sign else ""
    return f"{value:{plus}.3f}" if value == 0 or 0.0005 <= abs(value) < 1000 else f"{value:{plus}.3g}"


def interval(metric: MetricComparison) -> str:
    """Both ends of the interval of the difference."""
    if metric.interval is None:
        return "-"
    low, high = metric.interval
    return f"[{number(low, sign=True)}, {number(high, sign=True)}]"


def shares(metric: MetricComparison) -> str:
    """Shares of the items better, worse and equal, in hundredths."""
    return " / ".join(f"{share_of(share)} %" for share in (metric.better, metric.worse, metric.equal))


def share_of(share: float) -> str:
    """A share in hundredths; none is shown as 0 or 100 that is not.

    Example:
        >>> share_of(0.0), share_of(1 / 300), share_of(0.5), share_of(299 / 300), share_of(1.0)
        ('0', '<1', '50', '>99', '100')
    """
    if 0 < share < 0.01:
        return "<1"
    if 0.99 < share < 1:
        return ">99"
    return f"{100 * share:.0f}"


def direction(metric: MetricComparison) -> str:
    """Which way is better."""
    return "higher is better" if metric.higher_is_better else "lower is better"


def sentence(metric: MetricComparison, alpha: float) -> str:
    """One metric in a sentence."""
    said = f". {why}" if (why := metric.unsure or metric.equal_words) else ""
    return (
        f"{metric.name} is {metric.verdict}: {number(metric.baseline_mean)} -> {number(metric.candidate_mean)}, "
        f"difference {number(metric.difference, sign=True)} {level(alpha)} {interval(metric)}, "
        f"p {number(metric.p_adjusted)} (permutation test, Holm), margin {number(metric.margin)}, "
        f"{metric.pairs} items, better / worse / equal {shares(metric)}, detectable {number(metric.detectable)}, "
        f"{direction(metric)}{said}"
    )


def level(alpha: float) -> str:
    """What the intervals hold: "95 %"."""
    return f"{100 * (1 - alpha):.3g} %"


def overview(comparison: Comparison) -> str:
    """Who is compared with whom, over what."""
    return (
        f"{comparison.candidate_name} against {comparison.baseline_name}, {len(comparison.items)} items, "
        f"seed {comparison.seed}"
    )


def asked_of(item: ItemResult) -> str:
    """What was asked; empty where the item does not say."""
    return asked_text({**item.item, **item.output}) or asked_text(item.item)


def answer_of(item: ItemResult) -> str:
    """What was answered, or why there is nothing."""
    if item.error is not None:
        return f"({item.error})"
    try:
        return judged_output({**item.item, **item.output})[0]
    except AnswerError as error:
        return f"({error})"


def changes(item: PairedItem, comparison: Comparison) -> str:
    """What an item's scores were on both sides, those that lost first."""
    ordered = sorted(comparison.metrics, key=lambda metric: item.differences.get(metric.name, 0.0))
    return ", ".join(
        f"{one.name} {number(item.baseline_values[one.name])} -> {number(item.candidate_values[one.name])}"
        for one in ordered
        if one.name in item.differences
    )


def why_lost(item: PairedItem, comparison: Comparison) -> str:
    """What the metric by which an item lost most says of the candidate's answer; empty where it says nothing."""
    name = comparison.lost_most(item)
    score = None if name is None else item.candidate.score(name)
    return "" if score is None or score.reason is None else score.reason


def trials(item: PairedItem) -> str:
    """Which answers are shown, where there are several."""
    return "" if item.trials == (1, 1) else "; of several trials the first answers are shown, and the means"


@dataclass(frozen=True)
class Lacking:
    """Items that lack a score for one reason.

    Attributes:
        what: Whose score, and why it is not there.
        ids: The items.
    """

    what: str
    ids: tuple[str, ...]


def lacking(unscored: Iterable[Unscored]) -> list[Lacking]:
    """Missing scores by side, metric and reason."""
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for one in unscored:
        found.setdefault((one.side, one.metric, one.reason), {})[one.id] = None
    return [Lacking(f"{side}, {metric}: {reason}", tuple(ids)) for (side, metric, reason), ids in found.items()]


def one_sided(comparison: Comparison) -> list[Lacking]:
    """Items that only one side has."""
    sides: Sequence[tuple[str, tuple[str, ...]]] = (
        ("only in the baseline", comparison.only_baseline),
        ("only in the candidate", comparison.only_candidate),
    )
    return [Lacking(what, ids) for what, ids in sides if ids]
