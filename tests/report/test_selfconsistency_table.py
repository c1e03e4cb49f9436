from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from opik_checkembed.benchmarks.selfconsistency import AnswerRow, SelfConsistencyResult, Separation
from opik_checkembed.functional.ranking import Estimate
from opik_checkembed.report.selfconsistency_table import selfconsistency_table


def row(method: str, model: str | None = None, **more: Any) -> AnswerRow:
    given: dict[str, Any] = {
        "samples": 20,
        "failures": {},
        "seconds": 1.0,
        "accuracy": Separation(Estimate(80.04, 70.0, 88.0), Estimate(82.5)),
        "curve": {},
        "resamples": 1000,
        "seed": 0,
        "answers": 100,
        "wrong": 55,
    }
    return AnswerRow(**{"method": method, "model": model, **given, **more})


RANDOM = row("random", samples=0, accuracy=Separation(Estimate(50.0), Estimate(55.0, 45.0, 65.0)))
CURVE = {
    3: Separation(Estimate(70.0), Estimate(None)),
    20: Separation(Estimate(80.0), None),
}


def shown(*rows: AnswerRow, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width)
    result = SelfConsistencyResult(rows=rows, answers=100, wrong=55, questions=90, fingerprint="f")
    console.print(selfconsistency_table(result))
    output = console.file
    assert isinstance(output, io.StringIO)
    return output.getvalue()


def test_the_share_of_wrong_answers_comes_first() -> None:
    lines = [line.split() for line in shown(RANDOM, row("unigram [bold]")).splitlines()]
    start = ["random", "order", "(share", "that", "is", "wrong)"]
    assert [*start, "100", "of", "100", "50.0", "55.0", "45.0..", "65.0"] in lines
    assert ["unigram", "[bold]", "20", "100", "of", "100", "80.0", "70.0..", "88.0", "82.5"] in lines


def test_two_models_of_one_name_are_told_apart() -> None:
    a, b = (row("nli", "tiny", identity={"model": f"/{p}/tiny"}, notes=(f"note {p}",)) for p in "ab")
    text = shown(a, b, row("nli", "other", identity={"model": "/a/other"}), width=200)
    for line in ("nli (tiny) [model=/a/tiny]  ", "nli (tiny) [model=/b/tiny]: note b", "nli (other)  "):
        assert line in text


def test_each_number_of_samples_is_a_line_of_its_method() -> None:
    text = shown(row("facts", "m", curve=CURVE, answers=93, wrong=51, failures={"7": "no\nnumbers"}))
    lines = [line.split() for line in text.splitlines()]
    assert ["facts", "(m)", "3", "93", "of", "94", "70.0", "-"] in lines
    assert ["20", "80.0", "-"] in lines


def test_the_caption_says_what_the_figures_are_over() -> None:
    failing = row("facts", answers=80, wrong=44, failures={str(n): "no\nnumbers" for n in range(12)})
    fused = row("both", notes=("a + b: equal weights",))
    text = " ".join(shown(RANDOM, failing, fused).split())
    assert "100 answers to 90 questions, 55 of them wrong" in text
    assert "facts: only 92 answers were run; 12 have no score (no numbers); 44 of those scored are wrong" in text
    assert "both: a + b: equal weights" in text
    assert "random:" not in text


def test_the_table_fits_a_narrow_terminal_and_cuts_no_figure() -> None:
    text = shown(RANDOM, row("a method with quite a long name", "and a model"), width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert "80.0  70.0.. 88.0" in text
