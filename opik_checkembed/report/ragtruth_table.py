"""How well signals find responses that their source does not support, as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from opik_checkembed.benchmarks.ragtruth import ALWAYS, TASK, RAGTruthResult, SignalRow
from opik_checkembed.benchmarks.ragtruth_figures import Detection
from opik_checkembed.functional.ranking import Estimate
from opik_checkembed.report.table import empty_table

HEADERS = {
    "auroc": "AUROC",
    "auc_pr": "AUC-PR",
    "balanced_accuracy": "bal. acc.",
    "f1_hallucinated": "F1 hall.",
    "f1_faithful": "F1 faith.",
    "span_precision": "span P",
    "span_recall": "span R",
    "span_f1": "span F1",
}
"""The columns of the tables."""

_SPANS = ("span_precision", "span_recall", "span_f1")
_RESPONSES = tuple(name for name in HEADERS if name not in _SPANS)


def ragtruth_table(result: RAGTruthResult) -> Group:
    """Tables of the figures over all responses, by kind of task, and of marked spans, with what they mean below.

    The trivial rows stand first in each: calling every response hallucinated, the kind of task, and the length.

    Returns:
        For `rich.console.Console().print`.
    """
    tasks = list(dict.fromkeys(task for row in result.rows for task in row.tasks))
    named = list(zip(result.names, result.rows, strict=True))
    marking = [(name, row) for name, row in named if row.accuracy.span_f1 is not None]
    tables = [_table("All responses", named, _RESPONSES, None)]
    tables += [_table(task, named, _RESPONSES, task) for task in tasks if len(tasks) > 1]
    if marking:
        tables.append(_table("Spans, all responses", marking, _SPANS, None))
        tables += [_table(f"Spans, {task}", marking, _SPANS, task) for task in tasks if len(tasks) > 1]
    return Group(*tables, _caption(result, named))


_Named = Sequence[tuple[str, SignalRow]]


def _table(heading: str, rows: _Named, columns: Sequence[str], task: str | None) -> Table:
    table = empty_table(f"{heading} (x100)")
    table.add_column("signal", overflow="fold")
    table.add_column("scored", justify="right", no_wrap=True)
    for column in columns:
        table.add_column(HEADERS[column], justify="right")
    for name, row in rows:
        found = row.accuracy if task is None else row.tasks[task].accuracy if task in row.tasks else Detection()
        scored = row.responses if task is None else row.tasks[task].responses if task in row.tasks else 0
        cells = [_figure(found.column(column)) for column in columns]
        style = "dim" if row.method.startswith((ALWAYS, TASK)) else ""
        table.add_row(Text(name, style=style), Text(str(scored)), *cells)
    return table


def _figure(figure: Estimate | None) -> Text:
    if figure is None or figure.value is None:
        return Text("-", style="dim")
    text = Text(f"{figure.value:.1f}")
    if figure.low is not None and figure.high is not None:
        text.append(f"\n{figure.low:.1f}..{figure.high:.1f}", style="dim")
    return text


def _caption(result: RAGTruthResult, named: _Named) -> Text:
    share = 100 * result.hallucinated / result.responses
    lines = [
        f"{result.responses} responses to {result.sources} sources, {result.hallucinated} of them ({share:.1f} %) "
        "hallucinated: that share is the AUC-PR of a random order.",
        "AUROC: how often a hallucinated response scores higher than a faithful one. AUC-PR: average precision. "
        "Balanced accuracy and F1 (with hallucinated, and with faithful responses as those to be found): at the "
        "threshold that is best for balanced accuracy on one half of the sources, used on the other half, both ways, "
        "averaged. Spans: characters that are marked and annotated, over all marked (P) and all annotated (R). 95 % "
        "intervals over resampled sources.",
    ]
    for name, row in named:
        said = list(row.notes)
        if row.failures:
            first = " ".join(next(iter(row.failures.values())).split())
            said.append(
                f"{len(row.failures)} have no score ({first}), {row.hallucinated} of those scored are hallucinated"
            )
        if said:
            lines.append(f"{name}: {'; '.join(said)}")
    return Text("\n".join(lines), style="dim")
