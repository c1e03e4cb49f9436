from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from opik_checkembed.benchmarks.runtime import Cell
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.report.runtime_plot import runtime_plot, runtime_table, save_runtime_plot

CELL = Cell("NLI", "small", 200, 2, 0.5, 0.48, 2.0, 4.0, 1.04, 2e-7, 0.3, 1.2)
CELLS = [
    CELL,
    replace(CELL, tokens=1000, ours_s=3.0, floor_s=2.9, reference_s=None, speedup=None, note="left out"),
    replace(CELL, samples=10, ours_s=2.5, floor_s=2.4, reference_s=10.0),
    Cell("n-gram", "none", 200, 2, 0.001, None, 0.4, 400.0, None, 0.0, 0.0, 0.1),
]


def printed(cells: list[Cell], width: int = 140) -> str:
    console = Console(file=StringIO(), width=width)
    console.print(runtime_table(cells))
    file = console.file
    assert isinstance(file, StringIO)
    return file.getvalue()


def test_the_table_holds_each_side_and_what_was_left_out() -> None:
    text = printed(CELLS)

    assert "4.0 x" in text
    assert "1.04" in text
    assert "2e-07" in text
    assert "0.3 / 1.2" in text
    assert "NLI, 1000 tokens: left out" in text
    assert "400.0 x" in text


def test_no_figure_is_cut_short_where_a_log_is_narrow() -> None:
    text = printed([replace(CELL, method="SelfCheck n-gram (n=1, max), splitting apart")], width=80)

    assert "…" not in text
    for figure in ("200", "0.500", "1.04", "2.0", "4.0 x", "2e-07", "0.3 / 1.2"):
        assert figure in text


def test_a_panel_for_each_thing_that_varies_on_logarithmic_axes() -> None:
    figure = runtime_plot(CELLS)

    drawn = [axis for axis in figure.axes if axis.get_visible()]
    assert [axis.get_title(loc="left") for axis in drawn] == ["NLI, 2 samples", "NLI, 200 tokens"]
    assert all(axis.get_xscale() == axis.get_yscale() == "log" for axis in drawn)
    ours = drawn[0].get_lines()[0]
    assert np.asarray(ours.get_xdata()).tolist() == [200, 1000]
    assert np.asarray(ours.get_ydata()).tolist() == [0.5, 3.0]
    assert np.asarray(drawn[0].get_lines()[1].get_xdata()).tolist() == [200]


def test_one_point_is_no_plot() -> None:
    with pytest.raises(ConfigurationError, match="nothing to draw"):
        runtime_plot(CELLS[:1])


def test_it_is_written_as_its_ending_says(tmp_path: Path) -> None:
    save_runtime_plot(CELLS, tmp_path / "new" / "plot.svg")

    assert (tmp_path / "new" / "plot.svg").read_text("utf-8").startswith("<?xml")
