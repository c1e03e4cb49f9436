"""The tables of `bench ragtruth`: what stands in them, and what is said below."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from opik_checkembed.benchmarks.ragtruth import RAGTruthResult, SignalRow, TaskFigures
from opik_checkembed.benchmarks.ragtruth_figures import Detection
from opik_checkembed.functional.ranking import Estimate
from opik_checkembed.report.ragtruth_table import ragtruth_table

FOUND = Detection(auroc=Estimate(72.7, 69.4, 75.8), auc_pr=Estimate(60.2), balanced_accuracy=Estimate(None))
MARKED = Detection(
    auroc=Estimate(50.0), span_precision=Estimate(4.3), span_recall=Estimate(100.0), span_f1=Estimate(8.2)
)


def row(method: str, accuracy: Detection, *tasks: str, responses: int = 10, **more: object) -> SignalRow:
    given: dict[str, Any] = {
        "method": method,
        "model": None,
        "samples": 0,
        "failures": {},
        "seconds": 0.0,
        "accuracy": accuracy,
        "curve": {},
        "resamples": 10,
        "seed": 0,
        "responses": responses,
        "hallucinated": 4,
        "tasks": {task: TaskFigures(5, 2, accuracy) for task in tasks},
        **more,
    }
    return SignalRow(**given)


def shown(*rows: SignalRow) -> str:
    result = RAGTruthResult(rows=rows, fingerprint="x", responses=10, hallucinated=4, sources=3)
    console = Console(file=io.StringIO(), width=140)
    console.print(ragtruth_table(result))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_one_table_over_all_one_for_each_task_and_those_of_spans() -> None:
    text = shown(row("always hallucinated", MARKED, "QA", "Summary"), row("specifics", FOUND, "QA"))
    headings = [line.strip() for line in text.splitlines() if line.strip().endswith("(x100)")]
    assert headings == [
        "All responses (x100)",
        "QA (x100)",
        "Summary (x100)",
        "Spans, all responses (x100)",
        "Spans, QA (x100)",
        "Spans, Summary (x100)",
    ]
    assert "72.7" in text
    assert "69.4..75.8" in text
    # Not run on this task, and no figure where there is none.
    summary = text.split("Summary (x100)")[1].split("Spans, all")[0]
    assert [line.split() for line in summary.splitlines() if "specifics" in line] == [
        ["specifics", "0", "-", "-", "-", "-", "-"]
    ]
    assert "10 responses to 3 sources, 4 of them (40.0 %) hallucinated" in " ".join(text.split())


def test_one_kind_of_task_and_no_marks_need_one_table() -> None:
    text = shown(row("specifics", FOUND, "QA"))
    assert [line.strip() for line in text.splitlines() if "(x100)" in line] == ["All responses (x100)"]


def test_rows_of_one_title_say_what_they_differ_in() -> None:
    settings = {"first": "source", "window_tokens": 128}
    text = shown(
        row("nli", FOUND, "QA", model="tiny", identity={"model": "/a/tiny", **settings}, notes=("as it is",)),
        row("nli", MARKED, "QA", model="tiny", identity={"model": "/b/tiny", **settings}),
        row("nli", FOUND, "QA", model="other", identity={"model": "/a/other", **settings}),
    )
    names = [line.strip().split("  ")[0] for line in text.splitlines() if line.strip().startswith("nli")]
    assert names == [
        *("nli (tiny) [model=/a/tiny]", "nli (tiny) [model=/b/tiny]", "nli (other)"),
        "nli (tiny) [model=/b/tiny]",
        "nli (tiny) [model=/a/tiny]: as it is",
    ]
    wide, narrow = ({"model": "/a/tiny", **settings, "window_tokens": tokens} for tokens in (128, 64))
    text = shown(row("nli", FOUND, identity=wide), row("nli", FOUND, identity=narrow))
    assert "nli [window_tokens=128]" in text
    assert "nli [window_tokens=64]" in text


def test_what_was_not_scored_is_said() -> None:
    text = shown(
        row("nli", FOUND, responses=7, failures={"a": "too\nlong", "b": "x"}, notes=("1 are scored without some",))
    )
    assert "nli: 1 are scored without some; 2 have no score (too long), 4 of those scored are hallucinated" in " ".join(
        text.split()
    )
