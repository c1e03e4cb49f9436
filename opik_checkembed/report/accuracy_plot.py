"""How accurate methods are on labelled data: the tables for a terminal, and accuracy against the number of samples."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from opik_checkembed.benchmarks.published import COLUMNS, HEADERS, WIKIBIO, PublishedRow
from opik_checkembed.benchmarks.table import RANDOM
from opik_checkembed.benchmarks.wikibio import MethodResult, WikiBioResult
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.ranking import Estimate
from opik_checkembed.report.table import empty_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PUBLISHED_PASSAGES = 238

# Okabe and Ito's colours, told apart by colour-blind readers; with the markers also in print.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_MARKERS = "os^Dv<>PX*"
_CHANCE = "random order"


def wikibio_table(result: WikiBioResult) -> Table:
    """One row for each method with its 95 % intervals, the published row below it, and the other published ones last.

    The caption says over what the figures are, and what was left out of them.

    Returns:
        For `rich.console.Console().print`.
    """
    title = "WikiBio-GPT3 (x100, higher is better)"
    table = empty_table(title, _caption(result), min_width=len(title))
    table.add_column("method", overflow="fold")
    table.add_column("k", justify="right")
    for column in COLUMNS:
        table.add_column(HEADERS[column], justify="right", overflow="fold")
    published = {row.method: row for row in WIKIBIO}
    shown = set()
    for name, row in _named(result):
        cells = [_figure(row.accuracy.column(column)) for column in COLUMNS]
        table.add_row(Text(name), Text(str(row.samples or "")), *cells)
        beside = published.get(row.published or "")
        if beside is not None and beside.method not in shown:
            shown.add(beside.method)
            _add_published(table, beside)
    others = [row for row in WIKIBIO if row.method not in shown]
    if others:
        table.add_section()
    for other in others:
        _add_published(table, other)
    return table


def accuracy_table(result: WikiBioResult, column: str = "spearman") -> Table:
    """One figure against the number of samples: a row for each method, a column for each k.

    Args:
        result: What `wikibio` returned.
        column: Which figure, one of `published.COLUMNS`.

    Raises:
        ConfigurationError: There is no such column.
    """
    if column not in COLUMNS:
        raise ConfigurationError(f"column must be one of {', '.join(COLUMNS)}, not {column!r}")
    rows = [(name, row) for name, row in _named(result) if _points(row, column)]
    counts = sorted({k for _, row in rows for k, _ in _points(row, column)})
    title = f"{HEADERS[column]} (x100) against the number of samples"
    table = empty_table(title, min_width=len(title))
    table.add_column("method", overflow="fold")
    for k in counts:
        table.add_column(str(k), justify="right")
    for name, row in rows:
        found = dict(_points(row, column))
        table.add_row(Text(name), *(_number(found.get(k), 1) for k in counts))
    return table


def accuracy_plot(result: WikiBioResult) -> Figure:
    """Accuracy against the number of samples: a panel for each figure, a line for each method.

    Returns:
        A matplotlib figure; a notebook shows it as it is.

    Raises:
        ConfigurationError: No method was scored with several numbers of samples.
    """
    from matplotlib.figure import Figure

    panels = [column for column in COLUMNS if any(_points(row, column) for row in result.rows)]
    rows = [(name, row) for name, row in _named(result) if any(_points(row, column) for column in panels)]
    if not panels:
        raise ConfigurationError("there is nothing to draw: no method was scored with several numbers of samples")
    across = min(len(panels), 3)
    down = -(-len(panels) // across)
    legend = 0.25 * -(-len(rows) // across) + 0.35
    figure = Figure(figsize=(4.2 * across, 3.2 * down + legend + 0.4), dpi=120, layout="constrained")
    axes = figure.subplots(down, across, squeeze=False)
    random = next((row for row in result.rows if row.method == RANDOM), None)
    for axis, column in zip(axes.flat, panels, strict=False):
        _draw(axis, column, rows, random)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    lines = {line.get_label(): line for axis in axes.flat for line in axis.get_lines()}
    if _CHANCE in lines:
        lines[_CHANCE] = lines.pop(_CHANCE)  # last in the legend
    figure.suptitle(_passages(result, [row for _, row in rows]), x=0.01, ha="left", fontsize=11)
    figure.legend(list(lines.values()), list(lines), loc="outside lower left", ncols=across, frameon=False, fontsize=9)
    return figure


def save_accuracy_plot(result: WikiBioResult, path: str | os.PathLike[str]) -> None:
    """Draw `accuracy_plot` into a file of the kind its ending names (.png, .svg, .pdf).

    Raises:
        ConfigurationError: There is nothing to draw, or matplotlib writes no such files.
    """
    figure = accuracy_plot(result)
    kinds = figure.canvas.get_supported_filetypes()
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in kinds:
        raise ConfigurationError(f"{path}: plots are written as {', '.join(f'.{known}' for known in sorted(kinds))}")
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, facecolor="white")


_Named = Sequence[tuple[str, MethodResult]]


def _named(result: WikiBioResult) -> _Named:
    return list(zip(result.names, result.rows, strict=True))


def _draw(axis: Axes, column: str, rows: _Named, random: MethodResult | None) -> None:
    for number, (name, row) in enumerate(rows):
        points = _points(row, column)
        if points:
            axis.plot(
                [k for k, _ in points],
                [value for _, value in points],
                label=name.replace("$", r"\$"),  # which would begin a formula
                color=_COLOURS[number % len(_COLOURS)],
                marker=_MARKERS[number % len(_MARKERS)],
                markersize=4,
                linewidth=1.5,
            )
    chance = None if random is None else random.accuracy.column(column)
    if chance is not None and chance.value is not None:
        axis.axhline(chance.value, color="#888888", linestyle=":", linewidth=1.2, label=_CHANCE)
    axis.set_title(f"{HEADERS[column]} (x100)", loc="left", fontsize=10)
    axis.set_xlabel("samples", fontsize=9)
    axis.set_xticks(sorted({k for _, row in rows for k, _ in _points(row, column)}))
    axis.tick_params(labelsize=8)
    axis.grid(axis="y", color="#dddddd", linewidth=0.8)
    axis.spines[["top", "right"]].set_visible(False)


def _points(row: MethodResult, column: str) -> list[tuple[int, float]]:
    """A method's curve; none where it is a single point."""
    found = ((k, row.curve[k].column(column)) for k in sorted(row.curve))
    points = [(k, figure.value) for k, figure in found if figure is not None and figure.value is not None]
    return points if len(points) > 1 else []


def _passages(result: WikiBioResult, rows: Sequence[MethodResult]) -> str:
    scored = sorted({row.passages for row in rows})
    if scored == [result.passages]:
        return f"WikiBio-GPT3, {result.passages} passages"
    said = str(scored[0]) if len(scored) == 1 else f"{scored[0]} to {scored[-1]}"
    return f"WikiBio-GPT3, {said} of {result.passages} passages"


def _add_published(table: Table, row: PublishedRow) -> None:
    cells = [_number(getattr(row, column), 2) for column in COLUMNS]
    table.add_row(Text(f"  published: {row.method}"), Text(), *cells, style="dim")


def _figure(figure: Estimate | None) -> Text:
    """A figure with its interval in a second line."""
    if figure is None or figure.value is None:
        return _number(None, 2)
    text = Text(f"{figure.value:.2f}")
    if figure.low is not None and figure.high is not None:
        text.append(f"\n{figure.low:.1f}..{figure.high:.1f}", style="dim")
    return text


def _number(value: float | None, digits: int) -> Text:
    return Text("-", style="dim") if value is None else Text(f"{value:.{digits}f}")


def _caption(result: WikiBioResult) -> Text:
    lines = [
        f"{result.passages} passages, {result.sentences} sentences; NonFact*: {result.star_passages} and "
        f"{result.star_sentences}, totally hallucinated passages left out. Published: all {_PUBLISHED_PASSAGES}.",
        "Areas under precision-recall curves of sentences (trapezoid), correlations of passages; below each its 95 % "
        "interval over resampled passages. k: samples used.",
    ]
    for name, row in _named(result):
        left_out = list(row.notes)
        if row.passages + len(row.failures) < result.passages:
            left_out.append(f"only {row.passages + len(row.failures)} passages were run")
        if row.failures:
            first = " ".join(next(iter(row.failures.values())).split())
            left_out.append(f"{len(row.failures)} could not be scored ({first})")
        if row.unscored:
            left_out.append(f"{row.unscored} of {row.sentences} sentences could not be scored")
        if left_out:
            lines.append(f"{name}: {'; '.join(left_out)}")
    return Text("\n".join(lines), style="dim")
