from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from opik_checkembed.demo import load_recording, run_demo
from opik_checkembed.demo.run import rebased_scores, unrelated_similarity
from opik_checkembed.results import LocalResults


@pytest.fixture(scope="module")
def results() -> LocalResults:
    return run_demo(progress=False)


def value(results: LocalResults, question: str) -> float:
    (item,) = [item for item in results.items if item.item["question"].startswith(question)]
    assert item.scores[0].value is not None
    return item.scores[0].value


def test_the_recording_says_which_model_made_it_when_and_how() -> None:
    about = load_recording().about
    assert about["model"] == "openai/qwen2.5-coder-1.5b-instruct"
    assert about["recorded"].startswith("2026-11-29")
    assert {"weights", "served_by", "made_by", "parameters", "temperature", "system_prompt"} <= about.keys()


def test_every_question_has_its_answer_and_ten_samples() -> None:
    recording = load_recording()
    assert [item["kind"] for item in recording.items] == ["tutorial"] * 10 + ["certain"] * 5 + ["unknowable"] * 5
    assert [len(texts) for texts in recording.samples] == [10] * 20
    assert all(item["output"].strip() for item in recording.items)


def test_the_recording_holds_no_path_and_no_key() -> None:
    text = load_recording().samples_file.read_text("utf-8")
    assert "/root" not in text
    assert "/home" not in text
    assert "api_key" not in text


def test_every_answer_is_scored_from_the_store_alone(results: LocalResults) -> None:
    assert results.summary()["checkembed_metric"].scored == 20
    assert results.calls == 0
    assert results.cost_usd == 0.0
    assert all(s["origin"] == "from store" for item in results.items for s in item.samples[0]["samples"])


def test_what_the_model_invents_lies_below_what_it_knows(results: LocalResults) -> None:
    # Its presidents, structures and lives of Öpik come out different each time, asteroids and capitals do not.
    invented = [
        "What did the sixth president",
        "Where is the largest man-made",
        "Who was Ernst Opik",
        "Who was the night",
    ]
    known = [
        "What are asteroids",
        "What is the Great Wall",
        "What is the capital",
        "How many days",
        "What is the chemical",
    ]
    assert max(value(results, q) for q in invented) < min(value(results, q) for q in known)


def test_refused_samples_are_named_and_left_out(results: LocalResults) -> None:
    (item,) = [item for item in results.items if item.item["question"].startswith("Who was the night guard")]
    assert "2 of 10 samples left out: refused" in str(item.scores[0].reason)
    assert len(item.scores[0].evidence["labels"]) == 9


def test_rebasing_spreads_the_scores_and_keeps_certainty_at_the_top(results: LocalResults) -> None:
    baseline = unrelated_similarity(results)
    assert 0.0 < baseline < 0.3
    rebased = rebased_scores(results, baseline)
    plain = {item.id: item.scores[0].value for item in results.items}
    assert rebased.keys() == plain.keys()
    assert max(rebased, key=lambda i: rebased[i]) in {"certain-11", "certain-14"}
    spread = max(rebased.values()) - min(rebased.values())
    assert spread > max(v for v in plain.values() if v is not None) - min(v for v in plain.values() if v is not None)


def test_the_command_writes_results_and_heatmaps_and_loads_no_litellm(tmp_path: Path) -> None:
    script = (
        "import sys; from opik_checkembed.cli import main\n"
        "sys.argv = ['opik-checkembed', 'demo', '--out', sys.argv[1]]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "print('litellm loaded:', 'litellm' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "140"},
    )
    assert done.returncode == 0, done.stderr
    assert "litellm loaded: False" in done.stdout
    lines = done.stdout.splitlines()
    order = [n for n, line in enumerate(lines) if "sixth president" in line or "chemical symbol" in line]
    assert len(order) >= 2
    assert "sixth president" in lines[order[0]]
    written = LocalResults.from_json(tmp_path / "out" / "results.json")
    assert len(written.items) == 20
    assert len(list((tmp_path / "out" / "heatmaps").glob("*.png"))) == 20
    assert (tmp_path / "out" / "heatmaps" / "tutorial-1.png").read_bytes().startswith(b"\x89PNG")


def test_a_recording_of_ones_own_is_read_from_its_folder(tmp_path: Path) -> None:
    shipped = load_recording()
    for name in ("items.jsonl", "samples.jsonl", "recording.json"):
        (tmp_path / name).write_bytes((shipped.path / name).read_bytes())
    about = json.loads((tmp_path / "recording.json").read_text())
    (tmp_path / "recording.json").write_text(json.dumps({**about, "num_samples": 3}))
    three = run_demo(load_recording(tmp_path), progress=False)
    assert {len(item.samples[0]["samples"]) for item in three.items} == {3}
