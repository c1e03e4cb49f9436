"""How long the methods take: the table for a terminal, and time against text length or number of samples."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from opik_checkembed.benchmarks.runtime import Cell
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.report.table import empty_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIDES = (
    ("ours_s", "this package", "#0072b2", "o", "-"),
    ("reference_s", "selfcheckgpt 0.1.7", "#d55e00", "s", "-"),
    ("floor_s", "bare forward pass", "#888888", "x", ":"),
)


def runtime_table(cells: Sequence[Cell]) -> Table:
    """One row for each method and workload: seconds of each side, their ratios, and how far the scores lie apart.

    Returns:
        For `rich.console.Console().print`.
    """
    caption = "Seconds without loading, medians. x floor: ours against the bare forward pass over the distinct inputs."
    models = ", ".join(f"{method}: {model}" for method, model in dict.fromkeys((c.method, c.model) for c in cells))
    notes = dict.fromkeys(f"{cell.method}, {cell.tokens} tokens: {cell.note}" for cell in cells if cell.note)
    table = empty_table("Runtime", Text("\n".join([caption, f"Models: {models}.", *notes]), style="dim"))
    for header in ("method", "tokens", "k", "ours", "x floor", "selfcheckgpt", "speed-up", "difference", "load"):
        # Where it is narrow, names are broken; a figure never is.
        table.add_column(
            header, justify="left" if header == "method" else "right", no_wrap=header != "method", overflow="fold"
        )
    for cell in cells:
        loads = f"{cell.ours_load_s:.1f}"
        if cell.reference_load_s is not None:
            loads += f" / {cell.reference_load_s:.1f}"
        table.add_row(
            Text(cell.method),
            Text(str(cell.tokens)),
            Text(str(cell.samples)),
            _seconds(cell.ours_s),
            Text("-" if cell.overhead is None else f"{cell.overhead:.2f}"),
            _seconds(cell.reference_s),
            Text("-" if cell.speedup is None else f"{cell.speedup:.1f} x"),
            Text("-" if cell.difference is None else f"{cell.difference:.0e}"),
            Text(loads),
        )
    return table


def runtime_plot(cells: Sequence[Cell]) -> Figure:
    """Time on logarithmic axes: a row of panels for each method, against text length and against samples.

    Returns:
        A matplotlib figure; a notebook shows it as it is.

    Raises:
        ConfigurationError: No method was timed on several workloads.
    """
    from matplotlib.figure import Figure

    panels = [
        (method, over) for method in _methods(cells) for over in ("tokens", "samples") if _series(cells, method, over)
    ]
    if not panels:
        raise ConfigurationError("there is nothing to draw: no method was timed on several workloads")
    across = 2
    down = -(-len(panels) // across)
    figure = Figure(figsize=(4.6 * across, 3.0 * down + 0.6), dpi=120, layout="constrained")
    axes = figure.subplots(down, across, squeeze=False)
    for axis, (method, over) in zip(axes.flat, panels, strict=False):
        _draw(axis, method, over, _series(cells, method, over))
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    lines = {line.get_label(): line for axis in axes.flat for line in axis.get_lines()}
    figure.legend(list(lines.values()), list(lines), loc="outside lower left", ncols=3, frameon=False, fontsize=9)
    return figure


def save_runtime_plot(cells: Sequence[Cell], path: str | os.PathLike[str]) -> None:
    """Draw `runtime_plot` into a file of the kind its ending names (.png, .svg, .pdf).

    Raises:
        ConfigurationError: There is nothing to draw.
    """
    figure = runtime_plot(cells)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, facecolor="white")


def _methods(cells: Sequence[Cell]) -> list[str]:
    return list(dict.fromkeys(cell.method for cell in cells))


def _series(cells: Sequence[Cell], method: str, over: str) -> list[Cell]:
    """The cells that differ in one thing only, of which there are most; none where it is a single point."""
    other = "samples" if over == "tokens" else "tokens"
    groups: dict[int, list[Cell]] = {}
    for cell in cells:
        if cell.method == method:
            groups.setdefault(getattr(cell, other), []).append(cell)
    longest = max(groups.values(), key=len)
    return sorted(longest, key=lambda cell: int(getattr(cell, over))) if len(longest) > 1 else []


def _draw(axis: Axes, method: str, over: str, series: Sequence[Cell]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator

    for side, label, colour, marker, style in _SIDES:
        points = [(getattr(cell, over), getattr(cell, side)) for cell in series if getattr(cell, side) is not None]
        if points:
            axis.plot(
                [x for x, _ in points],
                [y for _, y in points],
                label=label,
                color=colour,
                marker=marker,
                linestyle=style,
                markersize=4,
                linewidth=1.5,
            )
    axis.set_xscale("log")
    axis.set_yscale("log")
    first = series[0]
    fixed = f"{first.samples} samples" if over == "tokens" else f"{first.tokens} tokens"
    axis.set_title(f"{method}, {fixed}", loc="left", fontsize=10)
    axis.set_xlabel("tokens of each text" if over == "tokens" else "samples", fontsize=9)
    axis.set_ylabel("seconds", fontsize=9)
    ticks = sorted({int(getattr(cell, over)) for cell in series})
    axis.set_xticks(ticks, [str(tick) for tick in ticks])
    # Few panels span a power of ten, and one without a tick says nothing.
    axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.minorticks_off()
    axis.tick_params(labelsize=8)
    axis.grid(color="#dddddd", linewidth=0.8)
    axis.spines[["top", "right"]].set_visible(False)


def _seconds(value: float | None) -> Text:
    if value is None:
        return Text("-", style="dim")
    return Text(f"{value:.3f}" if value < 1 else f"{value:.1f}")
