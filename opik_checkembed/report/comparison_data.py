"""What the HTML page shows of two runs compared, as plain values: nothing here is HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opik_checkembed.report.page_data import asked_of, output_of, rounded

if TYPE_CHECKING:
    from opik_checkembed.gate.comparison import Comparison, MetricComparison, PairedItem
    from opik_checkembed.results import ItemResult

_WIDTH = 240.0  # of the drawing, in its own units
_EDGE = 12.0


@dataclass(frozen=True)
class DrawnInterval:
    """A difference on an axis from worse (left) to better (right); places are in the drawing's units.

    Attributes:
        said: The same in words.
        at: The difference.
        zero: No difference.
        margin: The largest loss that is still no worse; None where the margin is 0.
        low: Where the interval begins; None without one.
        high: Where it ends.
    """

    said: str
    at: float
    zero: float
    margin: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ComparisonData:
    """All that the page of a comparison holds.

    Attributes:
        intervals: One for each metric; None where there is no difference.
        missing: What is missing, and on which items.
        index: JSON-ready: the items with both answers.
    """

    intervals: tuple[DrawnInterval | None, ...]
    missing: tuple[tuple[str, tuple[str, ...]], ...]
    index: dict[str, Any]


def comparison_data(comparison: Comparison) -> ComparisonData:
    """Prepare a comparison for the page; the metric that got worse comes first among those to sort by."""
    first = sorted(comparison.metrics, key=lambda metric: metric.verdict != "worse")
    names = [metric.name for metric in first]
    return ComparisonData(
        intervals=tuple(_drawn(metric) for metric in comparison.metrics),
        missing=tuple(_missing(comparison)),
        index={
            "metrics": [{"name": name} for name in names],
            "items": [_item(item, names) for item in comparison.items],
        },
    )


def _drawn(metric: MetricComparison) -> DrawnInterval | None:
    if metric.difference is None:
        return None
    sign = 1.0 if metric.higher_is_better else -1.0
    ends = sorted(sign * end for end in metric.interval) if metric.interval is not None else []
    places = [0.0, sign * metric.difference, *ends, *([-metric.margin] if metric.margin else [])]
    # At least as far to either side, so that zero lies in the middle of every drawing.
    reach = max(map(abs, places)) or 1.0

    def at(value: float) -> float:
        return round(_EDGE + (value / reach + 1) / 2 * (_WIDTH - 2 * _EDGE), 1)

    said = f"Difference {metric.difference:.3g}"
    if metric.interval is not None:
        said += f", interval {metric.interval[0]:.3g} to {metric.interval[1]:.3g}"
    return DrawnInterval(
        said=f"{said}, margin {metric.margin:.3g}; {metric.verdict.value}",
        at=at(sign * metric.difference),
        zero=at(0.0),
        margin=at(-metric.margin) if metric.margin else None,
        low=at(ends[0]) if ends else None,
        high=at(ends[1]) if ends else None,
    )


def _missing(comparison: Comparison) -> list[tuple[str, tuple[str, ...]]]:
    """Items on one side only, and scores that are not there by side, metric and reason."""
    found: dict[str, list[str]] = {}
    for one in comparison.unscored:
        found.setdefault(f"The {one.side} has no {one.metric}: {one.reason}", []).append(one.id)
    for said, ids in (
        ("Only the baseline has these items", comparison.only_baseline),
        ("Only the candidate has these items", comparison.only_candidate),
    ):
        if ids:
            found[said] = list(ids)
    return [(said, tuple(ids)) for said, ids in found.items()]


def _item(item: PairedItem, names: list[str]) -> dict[str, Any]:
    sides = (item.baseline, item.candidate)
    return {
        "id": item.id,
        "asked": asked_of(item.baseline),
        "answers": [output_of(side) for side in sides],
        "values": [
            [_value(values.get(name)) for values in (item.baseline_values, item.candidate_values)] for name in names
        ],
        "differences": [_value(item.differences.get(name)) for name in names],
        "reasons": [[_reason(side, name) for side in sides] for name in names],
    }


def _value(value: float | None) -> float | None:
    return None if value is None else rounded(value)


def _reason(side: ItemResult, name: str) -> str:
    score = side.score(name)
    return "" if score is None or score.reason is None else score.reason
