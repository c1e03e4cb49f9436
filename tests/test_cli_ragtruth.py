"""`bench ragtruth` from its command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from opik_checkembed.cli_ragtruth import bench_ragtruth
from opik_checkembed.errors import ConfigurationError
from tests.tiny_nli import save_deberta

SOURCES = [f"The bridge over river {n} is {n} km long. It was built by Ada Stone." for n in range(1, 9)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    rows = []
    for n in range(1, 9):
        for wrong in (0, 1):
            text = f"The bridge is {n + wrong * 20} km long."
            labels = [{"start": 14, "end": text.index(" long")}] * wrong
            rows.append({"id": f"{n}-{wrong}", "source_id": str(n), "response": text, "labels": labels})
    sources = [
        {"source_id": str(n), "task_type": "Summary" if n % 2 else "QA", "source_info": text}
        for n, text in enumerate(SOURCES, 1)
    ]
    for name, entries in (("dev_responses.jsonl", rows), ("dev_sources.jsonl", sources)):
        (folder / name).write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return folder


def call(*arguments: Any) -> Result:
    return CliRunner(env={"COLUMNS": "160"}).invoke(bench_ragtruth, [str(argument) for argument in arguments])


def rows(path: Path) -> dict[str, dict[str, Any]]:
    return {row["method"]: row for row in json.loads(path.read_text())["rows"]}


def test_the_guards_without_being_asked(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "table.json"
    done = call("--data", data, "--out", out)
    assert done.exit_code == 0, done.output
    assert "16 responses to 8 sources, 8 of them (50.0 %) hallucinated" in " ".join(done.output.split())
    found = rows(out)
    assert list(found) == [
        "always hallucinated",
        "kind of task",
        "response length, characters",
        *(f"unsupported specifics, {name}" for name in ("count", "share", "any")),
        *(f"absolute wording, {name}" for name in ("count", "any")),
    ]
    # "21 km" is listed, "1 km" is not, and the span is found to the character.
    for figure in ("auroc", "balanced_accuracy", "f1_hallucinated", "f1_faithful", "span_precision", "span_recall"):
        assert found["unsupported specifics, count"]["accuracy"][figure]["value"] == 100.0


def test_a_classifier_is_run_once_and_its_rows_stay(data: Path, tmp_path: Path) -> None:
    out, scores = tmp_path / "table.json", tmp_path / "scores.json"
    model = save_deberta(tmp_path, SOURCES)
    asked = ("--data", data, "--signal", f"nli:nli_model={model}", "--scores", scores, "--out", out)
    assert call(*asked, "--limit", 4).exit_code == 0
    (kept,) = json.loads(scores.read_text())["scores"].values()
    assert len(kept) == 8
    first = json.loads(scores.read_text())["scores"]
    assert call(*asked).exit_code == 0
    second = json.loads(scores.read_text())["scores"]
    assert {name: len(of) for name, of in second.items()} == dict.fromkeys(first, 16)
    found = rows(out)
    # One row for each statistic of the part and of the whole.
    assert [row["responses"] for name, row in found.items() if name.startswith("NLI, 1 - P(supported)")] == [8] * 3 + [
        16
    ] * 3
    assert "NLI, 1 - P(supported), worst claim, first 4 sources" in found


def test_a_folder_is_not_taken_for_another_of_its_name(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "table.json"
    folders = []
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        folders.append(save_deberta(tmp_path / place, SOURCES))
    for folder in (*folders, folders[0]):
        assert call("--data", data, "--signal", f"nli:nli_model={folder}", "--limit", 4, "--out", out).exit_code == 0
    worst = [one for one in json.loads(out.read_text())["rows"] if "worst claim" in one["method"]]
    assert [(one["model"], one["identity"]["model"]) for one in worst] == [("deberta", folder) for folder in folders]


def test_a_table_need_not_be_kept(data: Path) -> None:
    done = call("--data", data, "--signal", "wording", "--limit", 4)
    assert done.exit_code == 0, done.output
    assert "absolute wording, any, first 4 sources" in done.output


def test_what_cannot_be_done_is_said(data: Path, tmp_path: Path) -> None:
    assert call("--data", tmp_path / "none").exit_code == 2
    assert call("--data", data, "--limit", 0).exit_code == 2
    unknown = call("--data", data, "--signal", "bleu")
    assert isinstance(unknown.exception, ConfigurationError)
    assert "the signal must be one of" in str(unknown.exception)
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"schema": 1, "benchmark": "wikibio"}))
    refused = call("--data", data, "--out", other)
    assert "results of bench wikibio, not of bench ragtruth" in str(refused.exception)
