from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from opik_checkembed.benchmarks.wikibio import Accuracy, MethodResult, WikiBioResult
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.ranking import Estimate
from opik_checkembed.report.cost_plot import _apart, cost_plot, save_cost_plot


def row(
    method: str, value: float | None, milliseconds: float | None, model: str | None = None, **more: Any
) -> MethodResult:
    given: dict[str, Any] = {
        "published": None,
        "samples": 20,
        "passages": 119,
        "sentences": 951,
        "unscored": 0,
        "failures": {},
        "seconds": 0.0,
        "accuracy": Accuracy(spearman=None if value is None else Estimate(value, value - 10, value + 8)),
        "curve": {},
        "resamples": 1000,
        "seed": 0,
        "judge_calls": 0.0,
        "milliseconds": milliseconds,
    }
    return MethodResult(**{"method": method, "model": model, **given, **more})


def table(*rows: MethodResult) -> WikiBioResult:
    return WikiBioResult(rows=rows, passages=119, sentences=951, star_passages=105, star_sentences=838, fingerprint="f")


RANDOM = row("random", None, None, samples=0)
UNIGRAM = row("unigram", 62.0, 30.0)
JUDGE = row("prompt", 78.0, 60_000.0, "qwen", judge_calls=160.4)
RESULT = table(RANDOM, UNIGRAM, JUDGE)


def labels(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def points(figure: Figure) -> list[tuple[float, float]]:
    """The markers, without the bars of their intervals."""
    lines = [line for line in figure.axes[0].get_lines() if line.get_marker() == "o"]
    return [(float(np.asarray(x)[0]), float(np.asarray(y)[0])) for x, y in (line.get_data() for line in lines)]


def test_each_method_is_a_point_with_its_interval_and_a_label() -> None:
    figure = cost_plot(RESULT, "spearman", "Spearman")
    assert points(figure) == [(60_000.0, 78.0), (30.0, 62.0)]
    assert labels(figure) == ["prompt (qwen)  (20 samples + 160 judge calls)", "unigram  (20 samples)"]
    bars = [line for line in figure.axes[0].get_lines() if line.get_marker() != "o"]
    assert [list(np.asarray(bar.get_ydata())) for bar in bars] == [[68.0, 86.0], [52.0, 70.0]]
    (axis,) = figure.axes
    assert axis.get_xscale() == "log"
    assert axis.get_xlim() == pytest.approx((10.0, 100_000.0))
    assert axis.get_title(loc="left") == "Spearman (x100) against time, 119 passages"


def test_a_row_without_a_figure_or_a_time_is_left_out_and_one_without_an_interval_has_no_bar() -> None:
    bare = row("bare", 50.0, 5.0, accuracy=Accuracy(spearman=Estimate(50.0)))
    figure = cost_plot(table(RANDOM, bare, row("untimed", 40.0, None)), "spearman", "Spearman")
    assert points(figure) == [(5.0, 50.0)]
    assert len(figure.axes[0].get_lines()) == 1
    # A row of an older version has the time of the whole run.
    old = row("old", 40.0, None, seconds=11.9, judge_calls=None)
    assert points(cost_plot(table(old), "spearman", "Spearman")) == [(100.0, 40.0)]


def test_judged_fused_and_kept_rows_look_different() -> None:
    def marker(**more: Any) -> tuple[Any, Any]:
        figure = cost_plot(table(row("one", 50.0, 5.0, **more)), "spearman", "Spearman")
        line = figure.axes[0].get_lines()[-1]
        return line.get_color(), line.get_markerfacecolor()

    plain, judged, fused = marker(), marker(judge_calls=3.0), marker(judge_calls=3.0, parts=("a", "b"))
    assert len({plain[0], judged[0], fused[0]}) == 3
    assert all(colour == face for colour, face in (plain, judged, fused))
    assert marker(judge_calls=3.0, kept=5) == (judged[0], "white")
    kept = cost_plot(table(row("one", 50.0, 5.0, judge_calls=3.0, kept=5)), "spearman", "Spearman")
    assert "hollow: a judge's replies were kept" in kept.axes[0].get_xlabel()
    assert "hollow" not in cost_plot(RESULT, "spearman", "Spearman").axes[0].get_xlabel()


def boxes(figure: Figure) -> list[Any]:
    figure.draw_without_rendering()
    return [Text.get_window_extent(text) for text in figure.axes[0].texts]


@pytest.mark.parametrize("values", [[70.0] * 25, [70.0, 70.01, 30.0, 29.9], list(np.linspace(20, 80, 30))])
def test_no_label_covers_another_or_the_points(values: Sequence[float]) -> None:
    rows = [row(f"method {n} of a long name", value, 10.0 + n, "some model") for n, value in enumerate(values)]
    figure = cost_plot(table(*rows), "spearman", "Spearman")
    found = boxes(figure)
    assert len(found) == len(values)
    axes = figure.axes[0].get_window_extent()
    for number, box in enumerate(found):
        assert box.x0 > axes.x1
        assert not any(box.overlaps(other) for other in found[:number])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0.001, 0.05))
def test_labels_are_apart_in_order_and_within_the_axes(heights: list[float], step: float) -> None:
    wanted = sorted(heights, reverse=True)
    places = _apart(wanted, step)
    assert all(upper - lower >= step - 1e-9 for upper, lower in itertools.pairwise(places))
    assert places[0] <= 1 + 1e-9
    assert places[-1] >= -1e-9
    if all(upper - lower >= step for upper, lower in itertools.pairwise(wanted)):
        assert places == pytest.approx(wanted)


def test_labels_that_want_one_place_stand_around_it() -> None:
    assert _apart([0.5, 0.5, 0.5], 0.1) == pytest.approx([0.6, 0.5, 0.4])
    assert _apart([1.0, 1.0, 0.2], 0.1) == pytest.approx([1.0, 0.9, 0.2])
    assert _apart([0.9, 0.0, 0.0], 0.1) == pytest.approx([0.9, 0.1, 0.0])


def test_a_long_name_is_shortened() -> None:
    (label,) = labels(cost_plot(table(row("m" * 100, 50.0, 5.0)), "spearman", "Spearman"))
    assert label == f"{'m' * 59}…  (20 samples)"


def test_names_that_would_read_alike_when_cut_are_not() -> None:
    folder = "/models/" + "of a long name/" * 4
    rows = [row("nli", v, 5.0, "tiny", identity={"model": f"{folder}{p}/tiny"}) for p, v in (("a", 60.0), ("b", 50.0))]
    other = row("m" * 100, 40.0, 5.0)
    assert labels(cost_plot(table(*rows, other), "spearman", "Spearman")) == [
        f"nli (tiny) [model={folder}a/tiny]  (20 samples)",
        f"nli (tiny) [model={folder}b/tiny]  (20 samples)",
        f"{'m' * 59}…  (20 samples)",
    ]


def test_the_plot_is_written_as_its_ending_says_and_holds_its_labels(tmp_path: Path) -> None:
    save_cost_plot(RESULT, tmp_path / "new" / "plot.png", "spearman", "Spearman")
    with Image.open(tmp_path / "new" / "plot.png") as image:
        assert image.width > 400
        assert image.convert("RGB").getpixel((1, 1)) == (255, 255, 255)
    wide = replace(UNIGRAM, model="x" * 70)
    save_cost_plot(table(wide, JUDGE), tmp_path / "wide.png", "spearman", "Spearman")
    with Image.open(tmp_path / "wide.png") as image, Image.open(tmp_path / "new" / "plot.png") as narrow:
        assert image.width > narrow.width
    save_cost_plot(RESULT, str(tmp_path / "plot.svg"), "spearman", "Spearman")
    assert "<svg" in (tmp_path / "plot.svg").read_text()
    with pytest.raises(ConfigurationError, match=r"plots are written as .*\.png"):
        save_cost_plot(RESULT, tmp_path / "plot.txt", "spearman", "Spearman")


def test_without_points_there_is_nothing_to_draw() -> None:
    with pytest.raises(ConfigurationError, match="no method has a Pearson and a time"):
        cost_plot(RESULT, "pearson", "Pearson")
    with pytest.raises(ConfigurationError, match="no column 'auc'"):
        cost_plot(RESULT, "auc", "AUC")
    with pytest.raises(ConfigurationError, match="nothing to draw"):
        cost_plot(table(), "spearman", "Spearman")


def test_dollars_in_a_name_are_no_formula(tmp_path: Path) -> None:
    save_cost_plot(table(row("a$_$b", 50.0, 5.0)), tmp_path / "plot.png", "spearman", "Spearman")
    assert (tmp_path / "plot.png").stat().st_size > 1000
