from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from opik_checkembed.calibration import Feature, FittedOn, OperatingPoint
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.ranking import Estimate
from opik_checkembed.report.reliability_plot import (
    CalibrationRow,
    calibration_table,
    moments_table,
    reliability_plot,
    save_reliability_plot,
)

FITTED_ON = FittedOn(
    data="answers [bold]",
    labels=100,
    positives=40,
    groups=25,
    left_out=3,
    models=(),
    num_samples=(),
    metrics=("a",),
    date="2025-01-31",
    package="0.1.0",
    folds=5,
    auroc=None,
    brier=None,
    ece=None,
    warnings=("few labels",),
)
AUROC = Estimate(0.8, 0.7, 0.9)
ROWS = [
    CalibrationRow("agreement [red]", AUROC, Estimate(0.2), None, OperatingPoint(0.91, 0.5, 0.1, 0.8, 0.6, 20), True),
    CalibrationRow("fitted (logistic)", AUROC, AUROC, AUROC, OperatingPoint(1.01, 0.0, 0.0, None, 0.0, 0)),
    CalibrationRow("no figures", None, Estimate(None), None, None),
]


def shown(rows: list[CalibrationRow], fitted_on: FittedOn, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(calibration_table(rows, fitted_on))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_table_has_each_figure_with_its_interval_and_the_threshold() -> None:
    lines = shown(ROWS, FITTED_ON).splitlines()
    (at,) = [number for number, line in enumerate(lines) if "agreement [red]" in line]
    assert lines[at].split() == ["agreement", "[red]", "0.800", "0.200", "-", "<=", "0.910", "0.500", "0.100"]
    assert lines[at + 1].split() == ["0.700..0.900"]
    assert lines[at + 2].split() == ["fitted", "(logistic)", *["0.800"] * 3, "none", "0.000", "0.000"]
    assert lines[at + 4].split() == ["no", "figures", *["-"] * 6]
    assert lines[0].strip() == "Hallucinated or not: answers [bold]"


def test_the_caption_says_what_the_figures_rest_on() -> None:
    text = " ".join(shown(ROWS, FITTED_ON).split())
    assert "100 labelled answers in 25 groups, 40 of them hallucinated" in text
    assert "cross-validated in 5 folds that share no group" in text
    assert "3 more answers were left out: they lack a score." in text
    assert "Warning: few labels" in text
    plain = " ".join(shown(ROWS, replace(FITTED_ON, folds=0, left_out=0, warnings=())).split())
    assert "not cross-validated" in plain
    assert "left out" not in plain
    assert "Warning" not in plain


def test_too_few_labels_for_an_error_are_named_and_a_threshold_has_the_digits_it_takes() -> None:
    point = OperatingPoint(0.99987, 0.5, 0.1, 0.8, 0.6, 20, beyond=0.99991)
    row = CalibrationRow("agreement", AUROC, AUROC, Estimate(None), point, True)
    text = " ".join(shown([row], FITTED_ON, 160).split())
    assert "0.800 0.800 too few labels <= 0.9999 0.500 0.100" in text


def test_moments_stand_in_a_table_with_what_they_are_of() -> None:
    told = replace(FITTED_ON, labels=0, answers=57)
    console = Console(file=io.StringIO(), width=120)
    console.print(moments_table((Feature("a [b]", True, 0.91234, 0.05), Feature("c", False, 6.0, 2.5)), told))
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert lines[0].strip() == "Moments: answers [bold]"
    rows = [line.split() for line in lines]
    assert ["a", "[b]", "0.912", "0.050", "higher"] in rows
    assert ["c", "6.000", "2.500", "lower"] in rows
    text = " ".join(console.file.getvalue().split())
    assert "57 answers, none of them labelled" in text
    assert "3 more answers were left out" in text
    assert "Warning: few labels" in text


def test_the_table_fits_a_narrow_terminal() -> None:
    assert max(map(len, shown(ROWS, FITTED_ON, width=80).splitlines())) <= 80


def test_the_diagram_shows_the_bins_with_their_intervals_and_counts() -> None:
    labels = [False] * 20 + [True] * 10 + [True] * 30
    figure = reliability_plot(labels, [0.25] * 30 + [0.75] * 30, title="mine")
    upper, lower = figure.axes
    diagonal, points = upper.get_lines()[:2]
    assert np.asarray(diagonal.get_xydata()).tolist() == [[0, 0], [1, 1]]
    assert np.asarray(points.get_xydata()) == pytest.approx(np.array([[0.25, 1 / 3], [0.75, 1.0]]))
    (bars,) = upper.collections
    low, high = (np.asarray(path.vertices, dtype=np.float64)[:, 1].tolist() for path in bars.get_paths())
    assert low[0] < 1 / 3 < low[1]
    assert high[0] < 1.0 == pytest.approx(high[1])
    counts = [sum(int(bar.get_height()) for bar in group) for group in lower.containers]
    assert counts == [40, 20]
    legend = lower.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["hallucinated (40)", "right (20)"]
    assert upper.get_title(loc="left") == "mine"


def test_the_diagram_is_written_as_its_ending_says(tmp_path: Path) -> None:
    labels, p = [True, False] * 20, [0.9, 0.2] * 20
    save_reliability_plot(labels, p, tmp_path / "new" / "plot.png")
    with Image.open(tmp_path / "new" / "plot.png") as image:
        assert image.width > 400
        assert image.convert("RGB").getpixel((1, 1)) == (255, 255, 255)
    save_reliability_plot(labels, p, str(tmp_path / "plot.svg"))
    assert "<svg" in (tmp_path / "plot.svg").read_text()
    with pytest.raises(ConfigurationError, match=r"plots are written as .*\.png"):
        save_reliability_plot(labels, p, tmp_path / "plot.txt")


@pytest.mark.parametrize(("labels", "p"), [([], []), ([True], [0.5, 0.5])])
def test_without_answers_there_is_nothing_to_draw(labels: list[bool], p: list[float]) -> None:
    with pytest.raises(ConfigurationError, match="there must be one each"):
        reliability_plot(labels, p)


def test_dollars_in_a_title_are_no_formula_and_a_long_one_has_lines(tmp_path: Path) -> None:
    title = "costs $5 on results_$7 of a support bot that was asked very many questions, ECE 0.1"
    save_reliability_plot([0, 1] * 20, [0.2, 0.8] * 20, tmp_path / "plot.png", title=title)
    drawn = reliability_plot([0, 1] * 20, [0.2, 0.8] * 20, title=title).axes[0].get_title(loc="left")
    assert drawn.replace("\n", " ") == title
    assert max(map(len, drawn.split("\n"))) <= 60
