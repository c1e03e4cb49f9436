"""How far probabilities come true: a reliability diagram, and the table of what calibrating brings."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike
from rich.table import Table
from rich.text import Text

from opik_checkembed.calibration.thresholds import threshold_text
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.reliability import BINS, ReliabilityBin, reliability_bins
from opik_checkembed.report.table import empty_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from opik_checkembed.calibration.model import Feature, FittedOn
    from opik_checkembed.calibration.thresholds import OperatingPoint
    from opik_checkembed.functional.ranking import Estimate

_COLOUR = "#0072b2"
_READABLE = 60


@dataclass(frozen=True)
class CalibrationRow:
    """One way of telling hallucinated answers from right ones.

    Attributes:
        name: A score's name, or what was fitted.
        auroc: How well it ranks.
        brier: How far its cross-validated probabilities are from what happened; None where there are none.
        ece: How far they come true; None where there are none, and without a value where there are too few labels.
        point: The threshold chosen, in its own units, and what it does; None where there is none.
        higher_is_better: Its direction: whether answers below the threshold are flagged.
    """

    name: str
    auroc: Estimate | None
    brier: Estimate | None
    ece: Estimate | None
    point: OperatingPoint | None
    higher_is_better: bool = False


def calibration_table(rows: Sequence[CalibrationRow], fitted_on: FittedOn) -> Table:
    """One row for each score alone and for what was fitted, with 95 % intervals.

    Args:
        rows: In the order to show.
        fitted_on: What all of them were measured on; the caption says it.

    Returns:
        For `rich.console.Console().print`.
    """
    headers = ("AUROC", "Brier", "ECE", "flagged", "TPR", "FPR")
    table = _figures_table(f"Hallucinated or not: {fitted_on.data}", _caption(fitted_on), headers)
    for row in rows:
        figures = [_figure(row.auroc), _figure(row.brier), _figure(row.ece, "too few labels")]
        table.add_row(Text(row.name), *figures, *_point(row))
    return table


def moments_table(features: Sequence[Feature], fitted_on: FittedOn) -> Table:
    """One row for each score of stored moments: its mean and standard deviation, and which way is better.

    Args:
        features: In the order to show.
        fitted_on: What they were measured on; the caption says it.

    Returns:
        For `rich.console.Console().print`.
    """
    lines = [
        f"{fitted_on.answers} answers, none of them labelled.",
        "A score counts as its distance from the mean in sd.",
    ]
    caption = Text("\n".join([*lines, *_left_out(fitted_on)]), style="dim")
    _warn(caption, fitted_on)
    table = _figures_table(f"Moments: {fitted_on.data}", caption, ("mean", "sd", "better"))
    for one in features:
        way = "higher" if one.higher_is_better else "lower"
        table.add_row(Text(one.name), Text(f"{one.mean:.3f}"), Text(f"{one.sd:.3f}"), Text(way))
    return table


def reliability_plot(
    labels: ArrayLike, probabilities: ArrayLike, *, title: str = "Reliability", bins: int = BINS
) -> Figure:
    """A reliability diagram: of the answers given a probability, how many were hallucinated?

    Points on the diagonal have come true; a point below it was too sure of a hallucination. Bins hold about as many
    answers each (see `reliability_bins`); bars are 95 % Wilson intervals, which take answers as independent. Below, how
    many answers were given which probability, by what they turned out to be.

    Args:
        labels: Which answers were hallucinated, shape (n,), n above 0.
        probabilities: What they were given, shape (n,): cross-validated ones, or those of other data than was fitted.
        title: Above the diagram.
        bins: The most bins.

    Returns:
        A matplotlib figure; a notebook shows it as it is.

    Raises:
        ConfigurationError: There is no answer, or the two are not as many.
    """
    import numpy as np
    from matplotlib.figure import Figure

    happened, p = np.asarray(labels, dtype=np.bool_), np.asarray(probabilities, dtype=np.float64)
    if happened.shape != p.shape or not len(p):
        raise ConfigurationError(f"there are {happened.size} labels and {p.size} probabilities; there must be one each")
    figure = Figure(figsize=(5.0, 6.0), dpi=120, layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3.2, 1))
    _draw(upper, reliability_bins(happened, p, bins))
    upper.set_title(textwrap.fill(title, 60), loc="left", fontsize=11, parse_math=False)
    parts = ((p[happened], "hallucinated", "#d55e00"), (p[~happened], "right", "#009e73"))
    lower.hist(
        [part for part, _, _ in parts],
        bins=list(np.linspace(0, 1, 21)),
        stacked=True,
        label=[f"{name} ({len(part)})" for part, name, _ in parts],
        color=[colour for _, _, colour in parts],
    )
    lower.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, fontsize=8)
    lower.set_xlabel("probability given", fontsize=9)
    lower.set_ylabel("answers", fontsize=9)
    for axis in (upper, lower):
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    return figure


def save_reliability_plot(
    labels: ArrayLike, probabilities: ArrayLike, path: str | os.PathLike[str], *, title: str = "Reliability"
) -> None:
    """Draw `reliability_plot` into a file of the kind its ending names (.png, .svg, .pdf).

    Raises:
        ConfigurationError: There is nothing to draw, or matplotlib writes no such files.
    """
    figure = reliability_plot(labels, probabilities, title=title)
    kinds = figure.canvas.get_supported_filetypes()
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in kinds:
        raise ConfigurationError(f"{path}: plots are written as {', '.join(f'.{known}' for known in sorted(kinds))}")
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, facecolor="white")


def _draw(axis: Axes, bins: Sequence[ReliabilityBin]) -> None:
    axis.plot([0, 1], [0, 1], color="#888888", linestyle=":", linewidth=1.2, label="comes true")
    axis.errorbar(
        [one.predicted for one in bins],
        [one.observed for one in bins],
        yerr=[
            # What rounding leaves of an end that is the share itself is no bar.
            [max(0.0, one.observed - one.observed_low) for one in bins],
            [max(0.0, one.observed_high - one.observed) for one in bins],
        ],
        color=_COLOUR,
        marker="o",
        markersize=5,
        linewidth=1.2,
        elinewidth=1,
        capsize=2,
        label=f"about {round(sum(one.count for one in bins) / len(bins))} answers each",
    )
    axis.set_xlim(-0.02, 1.02)
    axis.set_ylim(-0.02, 1.02)
    axis.set_ylabel("share hallucinated", fontsize=9)
    axis.grid(color="#dddddd", linewidth=0.8)
    axis.legend(frameon=False, fontsize=8)


def _figure(figure: Estimate | None, undefined: str = "-") -> Text:
    """A figure with its interval in a second line."""
    if figure is None or figure.value is None:
        return Text("-" if figure is None else undefined, style="dim")
    text = Text(f"{figure.value:.3f}")
    if figure.low is not None and figure.high is not None:
        text.append(f"\n{figure.low:.3f}..{figure.high:.3f}", style="dim")
    return text


def _point(row: CalibrationRow) -> list[Text]:
    point = row.point
    if point is None:
        return [Text("-", style="dim")] * 3
    if not point.flagged:
        return [Text("none"), Text("0.000"), Text("0.000")]
    sign = "<=" if row.higher_is_better else ">="
    cut = threshold_text(point, row.higher_is_better)
    return [Text(f"{sign} {cut}"), Text(f"{point.tpr:.3f}"), Text(f"{point.fpr:.3f}")]


def _caption(fitted_on: FittedOn) -> Text:
    own = fitted_on
    validated = (
        f"cross-validated in {own.folds} folds that share no group"
        if own.folds
        else "not cross-validated, so that there is no figure for the fit"
    )
    lines = [
        f"{own.labels} labelled answers in {own.groups} groups, {own.positives} of them hallucinated. Fits are "
        f"{validated}; below each figure its 95 % interval over resampled groups.",
        "AUROC: higher is better; Brier and ECE (probabilities): lower. TPR and FPR: shares of hallucinated and of "
        "right answers flagged, at a threshold chosen on these answers.",
    ]
    caption = Text("\n".join([*lines, *_left_out(own)]), style="dim")
    _warn(caption, own)
    return caption


def _left_out(fitted_on: FittedOn) -> list[str]:
    count = fitted_on.left_out
    return [f"{count} more answers were left out: they lack a score."] if count else []


def _warn(caption: Text, fitted_on: FittedOn) -> None:
    for text in fitted_on.warnings:
        caption.append(f"\nWarning: {text}", style="yellow")


def _figures_table(title: str, caption: Text, headers: Sequence[str]) -> Table:
    """A table whose first column names the row, and whose others hold figures."""
    readable = min(_READABLE, max(map(len, caption.plain.splitlines())))
    table = empty_table(title, caption, min_width=max(len(title), readable))
    table.add_column("", overflow="fold")
    for header in headers:
        table.add_column(header, justify="right", overflow="fold")
    return table
