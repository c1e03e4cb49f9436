"""The gate's story: what was fixed beforehand still stands, and both verdicts come out of example and command."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shlex
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner, Result

from opik_checkembed.cli_gate import gate
from opik_checkembed.functional.paired import detectable_difference
from opik_checkembed.items import load_items
from opik_checkembed.testing import ChatCall, FakeOpenAI

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
STORY = EXAMPLES / "gate_story"
PLAN: dict[str, Any] = json.loads((STORY / "plan.json").read_text("utf-8"))

# What the recorded answers came to; `plan.json` has what was expected.
WITHOUT_RULE = ("worse", 1)
REWORDED = ("no worse", 0)
INVENTED = {"baseline": 19, "without_rule": 29, "reworded": 22}


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{name}_example", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def story() -> ModuleType:
    return load("gate_story")


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(gate, [str(argument) for argument in arguments])


# --- what was fixed beforehand


def test_items_and_prompts_are_those_of_the_plan() -> None:
    for fixed in (PLAN["items"], *PLAN["prompts"].values()):
        assert hashlib.sha256((STORY / fixed["file"]).read_bytes()).hexdigest() == fixed["sha256"], fixed["file"]


def test_the_answers_were_asked_for_after_the_plan_was_written() -> None:
    recording = json.loads((STORY / "recording.json").read_text("utf-8"))
    answers = load_items(STORY / "answers.jsonl")
    assert len(answers) == recording["answers"] == len(PLAN["prompts"]) * PLAN["items"]["count"]
    assert datetime.fromisoformat(PLAN["written"]).timestamp() < min(one["sample"]["created"] for one in answers)


def test_so_many_items_can_show_less_than_the_margin() -> None:
    changed, count = PLAN["power"]["changed_items"], PLAN["items"]["count"]
    differences = [1.0] * (changed // 2) + [-1.0] * (changed // 2) + [0.0] * (count - changed)
    detectable = detectable_difference(differences, alpha=PLAN["alpha"], power=PLAN["power"]["power"])
    assert detectable == pytest.approx(PLAN["power"]["detectable"], abs=5e-5)
    assert detectable < PLAN["margin"]


def test_the_items_are_as_described() -> None:
    items = load_items(STORY / "items.jsonl")
    assert len(items) == len({item["id"] for item in items}) == len({item["question"] for item in items})
    assert len(items) == PLAN["items"]["count"]
    assert sum(item["answerable"] for item in items) == PLAN["items"]["answerable"] == len(items) // 2
    assert all(40 <= len(item["context"].split()) <= 90 for item in items)


def test_the_changed_prompt_lacks_one_sentence_and_nothing_else() -> None:
    prompts = {name: json.loads((STORY / one["file"]).read_text("utf-8")) for name, one in PLAN["prompts"].items()}
    rule = " Answer only from the context; if it does not say, say so."
    system = prompts["baseline"]["messages"][0]
    assert system["content"].endswith(rule)
    system["content"] = system["content"].removesuffix(rule)
    assert prompts["baseline"] == prompts["without_rule"]


# --- the metric


@pytest.mark.parametrize(
    ("answer", "value", "reason"),
    [
        ("It costs €9.90.", 1.0, 'Neither context nor question has number "€9.90".'),
        ("Ask Ada Lind at DHL.", 1.0, 'Neither context nor question has name "Ada Lind", name "DHL".'),
        ("The context does not say what express delivery of a Pipwren costs.", 0.0, "Nothing specific beyond"),
        ("It takes 3 days to Norway.", 0.0, "Nothing specific beyond the context."),
    ],
)
def test_what_counts_as_invented(story: ModuleType, answer: str, value: float, reason: str) -> None:
    score = story.METRICS[0].score(
        output=answer, context="Delivery takes three days.", question="What does express delivery to Norway cost?"
    )
    assert score.value == value
    assert score.reason is not None
    assert score.reason.startswith(reason)
    assert bool(score.metadata["evidence"]["found"]) is bool(value)


def test_an_empty_answer_is_not_scored(story: ModuleType) -> None:
    score = story.METRICS[0].score(output=" ", context="Delivery takes three days.", question="How long?")
    assert score.scoring_failed
    assert "nothing to judge" in score.reason


# --- the verdicts


def test_the_example_shows_both_verdicts_why_and_the_commands(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "gate_story.py"), "--results", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "140"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    printed = done.stdout
    first, second = printed.split("baseline -> reworded")
    for part, (verdict, code) in ((first, WITHOUT_RULE), (second, REWORDED)):
        assert f"invented_specifics {verdict} 0." in " ".join(part.split())
        assert f"exits with {code}:" in part
    # The items that lost most, each with both answers and what was invented.
    assert [first.count(f"\n   {label} ") for label in ("asked", "baseline", "without_rule")] == [5, 5, 5]
    assert first.count("Neither context nor question has") == 5

    # The same from the result files it wrote.
    margin = ("--margin", str(PLAN["margin"]), "--seed", str(PLAN["seed"]))
    for name, (verdict, code) in (("without_rule", WITHOUT_RULE), ("reworded", REWORDED)):
        gated = call("--baseline", tmp_path / "baseline.json", "--candidate", tmp_path / f"{name}.json", *margin)
        assert gated.exit_code == code, gated.output
        assert verdict in gated.output


@pytest.mark.parametrize(("candidate", "expected"), [("without_rule", WITHOUT_RULE), ("reworded", REWORDED)])
def test_the_command_it_shows_replays_both_prompts(
    story: ModuleType, monkeypatch: pytest.MonkeyPatch, candidate: str, expected: tuple[str, int], tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    about = json.loads((STORY / "recording.json").read_text("utf-8"))
    shown = shlex.split(story.command("baseline", candidate, PLAN, about).replace("\\\n", " "))
    assert shown[:2] == ["opik-checkembed", "gate"]
    done = call(*shown[2:], "--json", tmp_path / "gate.json")
    assert done.exit_code == expected[1], done.output
    found = json.loads((tmp_path / "gate.json").read_text("utf-8"))
    assert found["metrics"][0]["verdict"] == expected[0]
    assert (found["metrics"][0]["pairs"], found["unscored"]) == (PLAN["items"]["count"], [])
    invented = [found["metrics"][0][f"{side}_mean"] * PLAN["items"]["count"] for side in ("baseline", "candidate")]
    assert invented == pytest.approx([INVENTED["baseline"], INVENTED[candidate]])
    # With the spread that was seen, so many items show less than the margin, too.
    assert found["metrics"][0]["detectable"] < PLAN["margin"]


# --- recording again


def answer(call: ChatCall) -> str:
    return "It costs 99 euros." if "does not say" not in str(call.body) else "That is not in our help pages."


def test_another_model_is_recorded_once_and_replayed_by_the_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = load("record_gate_story")
    with FakeOpenAI(answers=answer) as server:
        arguments = [
            *("record_gate_story.py", "--model", "openai/fake"),
            *("--param", f"api_base={server.base_url}", "--param", "api_key=sk-secret"),
            *("--out", str(tmp_path), "--max-concurrency", "8", "--note", "weights=none"),
        ]
        monkeypatch.setattr(sys, "argv", arguments)
        recorder.main()
        asked = server.choices
        assert asked == 3 * 96
        recorder.main()
        assert server.choices == asked
        api_base = server.base_url
    about = json.loads((tmp_path / "recording.json").read_text("utf-8"))
    assert about["parameters"] == {"api_base": api_base}
    assert (about["answers"], about["weights"]) == (asked, "none")
    assert all(b"sk-secret" not in path.read_bytes() for path in tmp_path.iterdir())

    done = call(
        *("--baseline", STORY / "prompts" / "baseline.json"),
        *("--candidate", STORY / "prompts" / "without_rule.json"),
        *("--data", STORY / "items.jsonl", "--metrics", f"{EXAMPLES / 'gate_story.py'}:METRICS"),
        *("--model", "openai/fake", "--param", f"api_base={api_base}", "--replay", tmp_path / "answers.jsonl"),
    )
    assert done.exit_code == 1, done.output
