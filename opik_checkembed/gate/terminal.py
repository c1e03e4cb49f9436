"""A comparison for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from opik_checkembed.gate.comparison import Comparison, Verdict
from opik_checkembed.gate.decision import Decision, Outcome
from opik_checkembed.gate.wording import (
    LONGEST_ID,
    LONGEST_TEXT,
    answer_of,
    asked_of,
    changes,
    direction,
    interval,
    lacking,
    level,
    number,
    one_sided,
    overview,
    shares,
    trials,
    why_lost,
)
from opik_checkembed.report.table import clean, empty_table
from opik_checkembed.wording import shortened

_WIDTH = 76

_VERDICT_STYLES = {
    Verdict.IMPROVED: "green",
    Verdict.NO_WORSE: "green",
    Verdict.WORSE: "bold red",
    Verdict.UNDERPOWERED: "yellow",
}
_OUTCOME_STYLES = {Outcome.PASSED: "bold green", Outcome.WORSE: "bold red", Outcome.CANNOT_TELL: "bold yellow"}


def terminal_report(comparison: Comparison, decision: Decision, *, worst: int = 5) -> RenderableType:
    """The metrics as a table, the thresholds, every item without a score, the items that lost most, and the outcome.

    What items hold is shown as it is: markup and control characters in it have no effect.

    Args:
        comparison: The two runs compared.
        decision: What the gate says of it.
        worst: Items to show with both answers, at most.

    Returns:
        For `rich.console.Console().print`.
    """
    parts: list[RenderableType] = [_table(comparison)]
    for check in decision.thresholds:
        holds = "holds" if check.passed else "does not hold"
        parts.append(Text(f"{clean(str(check.threshold))} {holds}: {check.shown}"))
    for one in (*lacking(comparison.unscored), *one_sided(comparison)):
        ids = ", ".join(clean(shortened(identity, LONGEST_ID)) for identity in one.ids)
        parts.append(Text(f"{clean(one.what)}\n  items ({len(one.ids)}): {ids}", style="red"))
    parts += _worst(comparison, worst)
    outcome = Text(f"\n{decision.outcome.words}", style=_OUTCOME_STYLES[decision.outcome])
    outcome.append("".join(f"\n  {clean(reason)}" for reason in decision.reasons), style="not bold")
    return Group(*parts, outcome)


def _table(comparison: Comparison) -> Table:
    table = empty_table(clean(overview(comparison)), _details(comparison), min_width=_WIDTH)
    table.add_column("metric", overflow="fold")
    table.add_column("verdict", no_wrap=True)
    for title in ("baseline", "candidate", "difference", level(comparison.alpha), "p"):
        table.add_column(title, justify="right", no_wrap=True)
    for metric in comparison.metrics:
        cells = (
            number(metric.baseline_mean),
            number(metric.candidate_mean),
            number(metric.difference, sign=True),
            interval(metric),
            number(metric.p_adjusted),
        )
        verdict = Text(str(metric.verdict), style=_VERDICT_STYLES[metric.verdict])
        table.add_row(Text(clean(metric.name)), verdict, *cells)
    return table


def _details(comparison: Comparison) -> Text:
    """What has no column: rows of eleven would fold in most terminals."""
    lines = [
        f"{clean(one.name)}, {direction(one)}: {one.pairs} items, better / worse / equal {shares(one)}, margin "
        f"{number(one.margin)}, detectable {number(one.detectable)}"
        for one in comparison.metrics
    ]
    lines += [f"{clean(one.name)}: {one.equal_words}" for one in comparison.metrics if one.equal_words]
    lines.append(
        "p: paired permutation test with Holm's correction. detectable: the smallest difference that so many items "
        "show in 80 of 100 runs."
    )
    return Text("\n".join(lines), style="dim")


def _worst(comparison: Comparison, count: int) -> Iterator[RenderableType]:
    for place, item in enumerate(comparison.worst(count), 1):
        lines = Text("\n")
        lines.append(f"{place}. {clean(shortened(item.id, LONGEST_ID))}", style="bold")
        lines.append(f"  {clean(changes(item, comparison))}{trials(item)}\n")
        texts = (
            ("asked    ", asked_of(item.baseline)),
            ("baseline ", answer_of(item.baseline)),
            ("candidate", answer_of(item.candidate)),
            ("why      ", why_lost(item, comparison)),
        )
        for label, text in texts:
            if label.startswith("why") and not text:
                continue
            lines.append(f"   {label} ", style="dim")
            lines.append(f"{clean(shortened(text, LONGEST_TEXT))}\n")
        lines.right_crop(1)
        yield lines
