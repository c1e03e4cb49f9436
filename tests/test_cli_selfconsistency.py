"""`bench selfconsistency`, and the options it shares with `bench wikibio`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from opik_checkembed.cli_bench import bench
from opik_checkembed.cli_selfconsistency import bench_selfconsistency
from opik_checkembed.errors import ConfigurationError

BOTH = "both=ngram:statistic=max+checkembed:embedder=lexical,reads=output"


def call(command: click.Command, *arguments: Any) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    rows = [
        {
            "id": n,
            "question": f"What is {n} and {n}?",
            "predict": f"{n} and {n} are {2 * n}.",
            "samples": [f"They are {2 * n + (n + k) % 3 * wrong}." for k in range(4)],
            "label": wrong,
        }
        for n in range(1, 13)
        for wrong in [n % 2]
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def passages(tmp_path: Path) -> Path:
    path = tmp_path / "passages.jsonl"
    rows = [
        {
            "gpt3_text": f"He was born in {1900 + n}. He wrote two books.",
            "gpt3_sentences": [f"He was born in {1900 + n}.", "He wrote two books."],
            "annotation": ["major_inaccurate" if n % 2 else "accurate", "minor_inaccurate"],
            "gpt3_text_samples": [f"He was born in {1900 + n + k * (n % 2)}. He wrote {k} books." for k in range(3)],
        }
        for n in range(12)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_wrong_answers_are_found_and_kept_in_a_file(answers: Path, tmp_path: Path) -> None:
    out, plot = tmp_path / "table.json", tmp_path / "cost.svg"
    done = call(bench_selfconsistency, "--data", answers, "--out", out, "--cost-plot", plot)
    assert done.exit_code == 0, done.output
    assert "12 answers to 12 questions, 6 of them wrong" in " ".join(done.output.split())
    assert "random order" in done.output
    assert "SelfCheck-unigram (avg)" in done.output
    assert "AUROC (x100) against time, 12 answers" in plot.read_text()
    again = call(bench_selfconsistency, "--data", answers, "--out", out, "--method", "checkembed:embedder=lexical")
    assert "SelfCheck-unigram (avg)" in again.output
    assert [row["method"] for row in json.loads(out.read_text())["rows"]][-1] == "CheckEmbed, passage to samples"


@pytest.mark.parametrize(("command", "data"), [("selfconsistency", "answers"), ("wikibio", "passages")])
def test_rows_are_fused_now_or_later(command: str, data: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    file = request.getfixturevalue(data)
    used = bench_selfconsistency if command == "selfconsistency" else bench.commands["wikibio"]
    scores, out, plot = tmp_path / "scores.json", tmp_path / "table.json", tmp_path / "cost.png"
    now = call(used, "--data", file, "--scores", scores, "--out", out, "--fuse", BOTH, "--fuse-fitted", BOTH)
    assert now.exit_code == 0, now.output
    later = call(
        used,
        *("--data", file, "--scores", scores, "--out", tmp_path / "later.json", "--cost-plot", plot),
        *("--fuse", "both=SelfCheck-unigram (max)+CheckEmbed, passage to samples"),
    )
    assert later.exit_code == 0, later.output
    first, second = (
        {row["method"]: row for row in json.loads(path.read_text())["rows"]} for path in (out, tmp_path / "later.json")
    )
    assert list(first) == [
        "random",
        "SelfCheck-unigram (max)",
        "CheckEmbed, passage to samples",
        "both",
        "both (fitted)",
    ]
    assert list(second) == ["random", "both"]
    assert second["both"]["accuracy"] == first["both"]["accuracy"]
    assert first["both"]["milliseconds"] == pytest.approx(
        sum(first[part]["milliseconds"] for part in ("SelfCheck-unigram (max)", "CheckEmbed, passage to samples"))
    )
    assert plot.stat().st_size > 1000


def test_what_cannot_be_done_is_said(answers: Path, passages: Path, tmp_path: Path) -> None:
    done = call(bench_selfconsistency, "--data", answers, "--method", "bleu")
    assert isinstance(done.exception, ConfigurationError)
    assert "the method must be one of" in str(done.exception)
    out = tmp_path / "table.json"
    assert call(bench_selfconsistency, "--data", answers, "--out", out, "--limit", "6").exit_code == 0
    other = call(bench.commands["wikibio"], "--data", passages, "--out", out)
    assert "results of bench selfconsistency, not of bench wikibio" in str(other.exception)
    missing = call(bench_selfconsistency, "--data", tmp_path / "none.jsonl")
    assert missing.exit_code == 2
