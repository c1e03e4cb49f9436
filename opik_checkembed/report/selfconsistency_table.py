"""How well methods find wrong answers, as a table for a terminal."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from opik_checkembed.benchmarks.selfconsistency import HEADERS, SelfConsistencyResult
from opik_checkembed.benchmarks.table import RANDOM
from opik_checkembed.functional.ranking import Estimate
from opik_checkembed.report.table import empty_table


def selfconsistency_table(result: SelfConsistencyResult) -> Table:
    """For each method a line for each number of samples: answers that were scored, and the figures over these.

    The first line is what scores in random order get: an AUROC of 50 and the share of wrong answers. The caption says
    what the figures are, and why answers were not scored.

    Returns:
        For `rich.console.Console().print`.
    """
    heading = "Wrong answers found (x100, higher is better)"
    table = empty_table(heading, _caption(result), min_width=len(heading))
    table.add_column("method", overflow="fold")
    for header in ("k", "scored", *HEADERS.values()):
        table.add_column(header, justify="right", no_wrap=True)
    for title, row in zip(result.names, result.rows, strict=True):
        run = row.answers + len(row.failures)
        name = "random order (share that is wrong)" if row.method == RANDOM else title
        for number, (k, found) in enumerate(sorted((row.curve or {row.samples: row.accuracy}).items())):
            cells = [_figure(found.column(column)) for column in HEADERS]
            scored = f"{row.answers} of {run}" if not number else ""
            table.add_row(Text(name if not number else ""), Text(str(k or "")), Text(scored), *cells)
    return table


def _figure(figure: Estimate | None) -> Text:
    if figure is None or figure.value is None:
        return Text("-", style="dim")
    text = Text(f"{figure.value:.1f}")
    if figure.low is not None and figure.high is not None:
        text.append(f" {figure.low:5.1f}..{figure.high:5.1f}", style="dim")
    return text


def _caption(result: SelfConsistencyResult) -> Text:
    lines = [
        f"{result.answers} answers to {result.questions} questions, {result.wrong} of them wrong. k: samples used.",
        "AUROC: how often a wrong answer scores higher than a right one. AUC-PR: average precision. Both over the "
        "answers that were scored, with 95 % intervals over resampled questions.",
    ]
    for title, row in zip(result.names, result.rows, strict=True):
        said = list(row.notes)
        if row.answers + len(row.failures) < result.answers:
            said.append(f"only {row.answers + len(row.failures)} answers were run")
        if row.failures:
            first = " ".join(next(iter(row.failures.values())).split())
            said.append(f"{len(row.failures)} have no score ({first})")
            said.append(f"{row.wrong} of those scored are wrong")
        if said:
            lines.append(f"{title}: {'; '.join(said)}")
    return Text("\n".join(lines), style="dim")
