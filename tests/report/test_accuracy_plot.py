import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from rich.console import Console
from rich.table import Table

from opik_checkembed.benchmarks.wikibio import Accuracy, MethodResult, WikiBioResult
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.ranking import Estimate
from opik_checkembed.report.accuracy_plot import accuracy_plot, accuracy_table, save_accuracy_plot, wikibio_table


def at(value: float) -> Estimate:
    return Estimate(value, value - 5, value + 5)


def curve(start: float) -> dict[int, Accuracy]:
    return {k: Accuracy(nonfact=at(start + k), spearman=at(start - k)) for k in (2, 4, 6)}


def row(method: str, model: str | None = None, *, passages: int = 119, **more: Any) -> MethodResult:
    plain: Mapping[str, Any] = {
        "published": None,
        "samples": 6,
        "sentences": 951,
        "unscored": 0,
        "failures": {},
        "seconds": 1.0,
        "accuracy": Accuracy(),
        "curve": {},
        "resamples": 1000,
        "seed": 0,
    }
    return MethodResult(**{"method": method, "model": model, "passages": passages, **plain, **more})


RANDOM = row("random", published="random", samples=0, accuracy=Accuracy(nonfact=at(70.45), factual=at(29.55)))
UNIGRAM = row(
    "unigram [bold]", published="SelfCheck-unigram (max)", accuracy=Accuracy(nonfact=at(83.004)), curve=curve(70)
)
CHECKEMBED = row("CheckEmbed", "minilm", accuracy=Accuracy(spearman=Estimate(-6.0)), curve={2: Accuracy(at(1))})
RESULT = WikiBioResult(
    rows=(RANDOM, UNIGRAM, CHECKEMBED),
    passages=119,
    sentences=951,
    star_passages=105,
    star_sentences=838,
    fingerprint="f",
)


def shown(table: Table, width: int = 160) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    output = console.file
    assert isinstance(output, io.StringIO)
    return output.getvalue()


def test_the_table_has_each_figure_with_its_interval_and_the_published_row_below() -> None:
    lines = shown(wikibio_table(RESULT)).splitlines()
    (at_row,) = [number for number, line in enumerate(lines) if "unigram [bold]" in line]
    assert lines[at_row].split() == ["unigram", "[bold]", "6", "83.00", "-", "-", "-", "-"]
    assert lines[at_row + 1].split() == ["78.0..88.0"]
    assert lines[at_row + 2].split() == [
        *["published:", "SelfCheck-unigram", "(max)"],
        *["85.63", "-", "58.47", "64.71", "-"],
    ]
    assert lines[at_row + 3].split() == ["CheckEmbed", "(minilm)", "6", "-", "-", "-", "-", "-6.00"]
    text = "\n".join(lines)
    assert "119 passages, 951 sentences; NonFact*: 105 and 838" in text
    # What no row was compared with comes last, each once.
    assert text.index("SelfCheck-NLI") > text.index("CheckEmbed (minilm)")
    assert text.count("SelfCheck-unigram (max)") == 1
    assert text.count("published: random") == 1


def test_two_models_of_one_name_are_told_apart_in_tables_and_plot() -> None:
    rows = [
        row("nli", "tiny", identity={"model": f"/{p}/tiny"}, accuracy=Accuracy(nonfact=at(80)), curve=curve(70))
        for p in "ab"
    ]
    result = replace(RESULT, rows=(RANDOM, *(replace(one, notes=("as it is",)) for one in rows)))
    names = ["nli (tiny) [model=/a/tiny]", "nli (tiny) [model=/b/tiny]"]
    table = shown(wikibio_table(result))
    assert all(f"{name}  " in table and f"{name}: as it is" in table for name in names)
    assert all(f"{name}  " in shown(accuracy_table(result)) for name in names)
    (legend,) = accuracy_plot(result).legends
    assert [text.get_text() for text in legend.get_texts()][:2] == names


def test_a_published_row_stands_once_also_beside_several_of_ours() -> None:
    twice = replace(RESULT, rows=(RANDOM, UNIGRAM, replace(UNIGRAM, method="other")))
    assert shown(wikibio_table(twice)).count("SelfCheck-unigram (max)") == 1


def test_every_published_row_may_stand_beside_one_of_ours() -> None:
    from opik_checkembed.benchmarks.published import WIKIBIO

    result = replace(RESULT, rows=tuple(row(f"our {one.method}", published=one.method) for one in WIKIBIO))
    text = shown(wikibio_table(result))
    assert all(text.count(f"published: {one.method}") == 1 for one in WIKIBIO)


def test_the_caption_says_what_the_figures_leave_out() -> None:
    partial = row(
        "prompt",
        "qwen",
        notes=("a sum of two",),
        passages=38,
        unscored=3,
        sentences=300,
        failures={"7": "no\nserver", "9": "no"},
    )
    text = " ".join(shown(wikibio_table(replace(RESULT, rows=(RANDOM, partial)))).split())
    assert (
        "prompt (qwen): a sum of two; only 40 passages were run; 2 could not be scored (no server); 3 of 300 sentences"
        in text
    )
    assert "random:" not in text.partition("totally")[2]


def test_the_table_fits_a_narrow_terminal_and_cuts_no_figure() -> None:
    text = shown(wikibio_table(RESULT), width=80)
    assert max(map(len, text.splitlines())) <= 80
    for figure in ("83.00", "78.0..88.0", "-6.00"):
        assert figure in text


def test_accuracy_against_samples_as_a_table() -> None:
    title, header, rule, only = [line for line in shown(accuracy_table(RESULT)).splitlines() if line.strip()]
    assert title.strip() == "Spearman (x100) against the number of samples"
    assert header.split() == ["method", "2", "4", "6"]
    assert set(rule.strip()) == {"─"}
    assert only.split() == ["unigram", "[bold]", "68.0", "66.0", "64.0"]
    assert shown(accuracy_table(RESULT, "nonfact")).split()[-3:] == ["72.0", "74.0", "76.0"]
    with pytest.raises(ConfigurationError, match=r"column must be one of nonfact, .*, not 'auc'"):
        accuracy_table(RESULT, "auc")


def test_a_curve_with_other_numbers_leaves_cells_empty() -> None:
    other = row("other", curve={k: Accuracy(spearman=at(50.0)) for k in (2, 5)})
    text = shown(accuracy_table(replace(RESULT, rows=(UNIGRAM, other))))
    assert text.splitlines()[-2].split() == ["other", "50.0", "-", "50.0", "-"]


def test_the_plot_has_a_panel_for_each_figure_and_a_line_for_each_method() -> None:
    other = row("NLI", "deberta", curve={k: Accuracy(spearman=at(50.0)) for k in (2, 4)})
    figure = accuracy_plot(replace(RESULT, rows=(RANDOM, UNIGRAM, CHECKEMBED, other)))
    nonfact, spearman = figure.axes
    assert [axis.get_title(loc="left") for axis in (nonfact, spearman)] == ["NonFact (x100)", "Spearman (x100)"]
    assert [line.get_label() for line in nonfact.get_lines()] == ["unigram [bold]", "random order"]
    assert [line.get_label() for line in spearman.get_lines()] == ["unigram [bold]", "NLI (deberta)"]
    assert np.array_equal(spearman.get_lines()[0].get_xydata(), [[2, 68], [4, 66], [6, 64]])
    assert np.array_equal(nonfact.get_lines()[1].get_ydata(), [70.45, 70.45])
    colours = [line.get_color() for line in spearman.get_lines()]
    assert colours[0] != colours[1]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["unigram [bold]", "NLI (deberta)", "random order"]
    assert figure.get_suptitle() == "WikiBio-GPT3, 119 passages"


def test_the_plot_says_over_how_many_passages_it_is() -> None:
    def title(*passages: int) -> str:
        rows = [row(f"m{n}", passages=n, curve=curve(10)) for n in passages]
        return accuracy_plot(replace(RESULT, rows=tuple(rows))).get_suptitle()

    assert title(40) == "WikiBio-GPT3, 40 of 119 passages"
    assert title(119, 40) == "WikiBio-GPT3, 40 to 119 of 119 passages"


def test_five_figures_take_two_rows_of_panels() -> None:
    full = {k: Accuracy(*(at(50.0 + k),) * 5) for k in (2, 4)}
    figure = accuracy_plot(replace(RESULT, rows=(row("all", curve=full),)))
    assert [axis.get_visible() for axis in figure.axes] == [True] * 5 + [False]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["all"]


def test_the_plot_is_written_as_its_ending_says(tmp_path: Path) -> None:
    save_accuracy_plot(RESULT, tmp_path / "new" / "plot.png")
    with Image.open(tmp_path / "new" / "plot.png") as image:
        assert image.width > 400
        assert image.convert("RGB").getpixel((1, 1)) == (255, 255, 255)
    save_accuracy_plot(RESULT, str(tmp_path / "plot.svg"))
    assert "<svg" in (tmp_path / "plot.svg").read_text()
    for name in ("plot.txt", "plot"):
        with pytest.raises(ConfigurationError, match=r"plots are written as .*\.png"):
            save_accuracy_plot(RESULT, tmp_path / name)


def test_without_curves_there_is_nothing_to_draw() -> None:
    with pytest.raises(ConfigurationError, match="nothing to draw"):
        accuracy_plot(replace(RESULT, rows=(RANDOM, CHECKEMBED)))


def test_dollars_in_a_name_are_no_formula(tmp_path: Path) -> None:
    save_accuracy_plot(replace(RESULT, rows=(row("a$_$b", curve=curve(10)),)), tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 1000
