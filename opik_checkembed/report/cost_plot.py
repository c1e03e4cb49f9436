"""Accuracy against cost: what a method finds, what it takes for one item, and how many calls that is."""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opik_checkembed.benchmarks.table import MethodRow, ResultTable
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.ranking import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours: methods without a model's call, with a judge, and fused ones.
_LOCAL, _JUDGED, _FUSED = "#0072b2", "#d55e00", "#009e73"
_LINE = 0.2  # inches for a label
_AROUND = 1.1  # inches above and below the axes
_WIDE = 4.4
_LONGEST = 60  # characters of a title


@dataclass(frozen=True)
class _Point:
    milliseconds: float
    figure: Estimate
    value: float
    label: str
    colour: str
    kept: bool


def cost_plot(result: ResultTable[Any], column: str, header: str) -> Figure:
    """One point for each method, with its interval: the figure against milliseconds for one item, on a log axis.

    Labels stand in a column of their own beside the points, in the points' order, so that none covers another. Each
    says the provider calls for one item: the samples, and a judge's calls beside them. A hollow point is of a run that
    found a judge's replies in the store: it took longer than the point says.

    Args:
        result: What `wikibio` or `selfconsistency` returned.
        column: Which figure.
        header: What to call it.

    Returns:
        A matplotlib figure; a notebook shows it as it is.

    Raises:
        ConfigurationError: There is no such column, or no method with that figure and a time.
    """
    from matplotlib.figure import Figure

    if result.rows and not hasattr(result.rows[0].accuracy, column):
        raise ConfigurationError(f"there is no column {column!r} to draw")
    names = _shortened(result.names)
    found = [_point(name, row, column) for name, row in zip(names, result.rows, strict=True)]
    points = sorted((point for point in found if point is not None), key=lambda point: -point.value)
    if not points:
        raise ConfigurationError(f"there is nothing to draw: no method has a {header} and a time")
    # Half as high again as all labels, so that they stand near their points.
    inside = max(2.6, 1.5 * _LINE * len(points))
    height = inside + _AROUND
    figure = Figure(figsize=(2.2 * _WIDE, height), dpi=120)
    axis = figure.add_axes((0.07, 0.65 / height, 0.43, inside / height))
    _draw(axis, points)
    axis.set_title(f"{header} (x100) against time, {result.size}", loc="left", fontsize=10)
    said = "milliseconds for one item, without the calls for its samples"
    if any(point.kept for point in points):
        said += "\nhollow: a judge's replies were kept, so that their time is missing"
    axis.set_xlabel(said, fontsize=9)
    _label(axis, points, _LINE / inside)
    return figure


def save_cost_plot(result: ResultTable[Any], path: str | os.PathLike[str], column: str, header: str) -> None:
    """Draw `cost_plot` into a file of the kind its ending names (.png, .svg, .pdf).

    Raises:
        ConfigurationError: There is nothing to draw, or matplotlib writes no such files.
    """
    figure = cost_plot(result, column, header)
    kinds = figure.canvas.get_supported_filetypes()
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in kinds:
        raise ConfigurationError(f"{path}: plots are written as {', '.join(f'.{known}' for known in sorted(kinds))}")
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, facecolor="white", bbox_inches="tight")  # as wide as the longest label


def _shortened(names: Sequence[str]) -> list[str]:
    """The names, long ones cut at their end where no two would then read alike."""
    cut = [name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…" for name in names]
    return [short if cut.count(short) == 1 else name for name, short in zip(names, cut, strict=True)]


def _point(name: str, row: MethodRow[Any], column: str) -> _Point | None:
    figure, milliseconds = row.accuracy.column(column), row.milliseconds_each
    if figure is None or figure.value is None or not milliseconds:
        return None
    judged = round(row.judge_calls) if row.judge_calls else 0
    calls = f"{row.samples} samples" + (f" + {judged} judge calls" if judged else "")
    colour = _FUSED if row.parts else _JUDGED if judged else _LOCAL
    return _Point(milliseconds, figure, figure.value, f"{name}  ({calls})", colour, row.kept > 0)


def _draw(axis: Axes, points: Sequence[_Point]) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    for point in points:
        low, high = point.figure.low, point.figure.high
        if low is not None and high is not None:
            axis.plot([point.milliseconds] * 2, [low, high], color=point.colour, linewidth=1, alpha=0.5)
        axis.plot(
            [point.milliseconds],
            [point.value],
            marker="o",
            markersize=6,
            color=point.colour,
            markerfacecolor="white" if point.kept else point.colour,
            linestyle="none",
            zorder=3,
        )
    axis.set_xscale("log")
    times = [point.milliseconds for point in points]
    # Whole decades, so that there are at least two numbers to read.
    axis.set_xlim(10 ** math.floor(math.log10(min(times) / 1.2)), 10 ** math.ceil(math.log10(max(times) * 1.2)))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}" if value < 1e6 else f"{value:.0e}"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.tick_params(labelsize=8)
    axis.grid(color="#dddddd", linewidth=0.8)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)


def _label(axis: Axes, points: Sequence[_Point], step: float) -> None:
    """Labels right of the axes, as near to the height of their points as those above and below leave room."""
    low, high = axis.get_ylim()
    places = _apart([(point.value - low) / (high - low) for point in points], step)
    for point, place in zip(points, places, strict=True):
        axis.annotate(
            point.label,
            xy=(point.milliseconds, point.value),
            xytext=(1.05, place),
            textcoords="axes fraction",
            fontsize=8,
            color=point.colour,
            va="center",
            parse_math=False,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": "#bbbbbb",
                "linewidth": 0.6,
                "shrinkA": 1,
                "shrinkB": 4,
                "relpos": (0, 0.5),
            },
        )


def _apart(wanted: Sequence[float], step: float) -> list[float]:
    """The heights nearest to those wanted, in falling order, each a step below the one before and all within 0 to 1.

    Shifted up by a step for each label above, they need only fall: groups that would rise are put at their mean.
    """
    groups: list[list[float]] = []
    for place, height in enumerate(wanted):
        groups.append([height + place * step])
        while len(groups) > 1 and statistics.fmean(groups[-1]) > statistics.fmean(groups[-2]):
            last = groups.pop()
            groups[-1] += last
    shifted = [statistics.fmean(group) for group in groups for _ in group]
    lowest = (len(wanted) - 1) * step
    return [min(max(height, lowest), 1.0) - place * step for place, height in enumerate(shifted)]
