from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from opik_checkembed.cli import cli
from opik_checkembed.cli_gate import gate
from opik_checkembed.samples import SampleStore
from opik_checkembed.testing import ChatCall, FakeOpenAI
from tests.gate.runs import pair_of, result, run, several


@pytest.fixture(autouse=True)
def _plain_output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("OPIK_CHECKEMBED_STORE", str(tmp_path / "default.sqlite3"))


def call(*arguments: str | Path | int) -> Result:
    # The package's own group, which turns its errors into a line.
    group = type(cli)("opik-checkembed", commands={"gate": gate})
    return CliRunner().invoke(group, ["gate", *map(str, arguments)])


def sides(tmp_path: Path, shift: float) -> list[str | Path]:
    baseline, candidate = pair_of(shift)
    baseline.to_json(tmp_path / "main.json")
    candidate.to_json(tmp_path / "branch.json")
    return ["--baseline", tmp_path / "main.json", "--candidate", tmp_path / "branch.json"]


@pytest.mark.parametrize(
    ("shift", "code", "verdict"), [(0.0, 0, "no worse"), (0.03, 0, "improved"), (-0.03, 1, "worse")]
)
def test_the_verdict_is_the_exit_code(tmp_path: Path, shift: float, code: int, verdict: str) -> None:
    done = call(*sides(tmp_path, shift))
    assert done.exit_code == code, done.output
    assert f"agreement  {verdict}" in done.output


def test_underpowered_passes_unless_that_is_to_fail(tmp_path: Path) -> None:
    given = sides(tmp_path, -0.01)
    assert call(*given).exit_code == 0
    assert "agreement is underpowered" in call(*given).output
    assert call(*given, "--fail-on-underpowered").exit_code == 2
    assert call(*given, "--no-fail-on-underpowered").exit_code == 0


def test_margins_are_given_for_all_or_by_name(tmp_path: Path) -> None:
    given = sides(tmp_path, -0.03)
    assert call(*given, "--margin", "0.06").exit_code == 0
    assert call(*given, "--margin", "0.06", "--margin", "agreement=0.01").exit_code == 1
    assert call(*given, "--margin", "0.01", "--margin", "agreement=0.06").exit_code == 0


def test_thresholds_hold_or_fail(tmp_path: Path) -> None:
    given = sides(tmp_path, 0.0)
    assert call(*given, "--threshold", "agreement>=0.1").exit_code == 0
    done = call(*given, "--threshold", "agreement>=0.1", "--threshold", "agreement<=0.2")
    assert done.exit_code == 1
    assert "agreement<=0.2 does not hold: the candidate has 0.7" in done.output


def test_every_file_is_written_and_tells_the_same(tmp_path: Path) -> None:
    files = {name: tmp_path / "deep" / f"gate.{name}" for name in ("markdown", "junit", "json", "html")}
    asked = [part for name, path in files.items() for part in (f"--{name}", path)]
    done = call(*sides(tmp_path, -0.03), *asked, "--threshold", "agreement>=0.1", "--worst", 1, "--seed", 4)
    assert done.exit_code == 1, done.output
    data = json.loads(files["json"].read_text("utf-8"))
    assert (data["metrics"][0]["verdict"], data["seed"]) == ("worse", 4)
    assert data["decision"]["exit_code"] == 1
    assert files["markdown"].read_text("utf-8").startswith("### Gate: worse\n")
    assert files["markdown"].read_text("utf-8").count("<details>") == 1
    assert ElementTree.fromstring(files["junit"].read_text("utf-8")).get("failures") == "1"
    assert "<html" in files["html"].read_text("utf-8")
    assert done.output.count("candidate Lyon.") == 1


def test_underpowered_is_an_error_in_junit_where_it_fails(tmp_path: Path) -> None:
    junit = tmp_path / "gate.xml"
    for option, kind in (("--no-fail-on-underpowered", "skipped"), ("--fail-on-underpowered", "errors")):
        call(*sides(tmp_path, -0.01), option, "--junit", junit)
        assert ElementTree.fromstring(junit.read_text("utf-8")).get(kind) == "1"


def test_three_percent_failed_scores_are_listed_and_no_pass(tmp_path: Path) -> None:
    values: list[float | None] = [0.8] * 100
    for place in (3, 50, 97):
        values[place] = None
    run([0.8] * 100).to_json(tmp_path / "a.json")
    run(values).to_json(tmp_path / "b.json")
    given: list[str | Path] = ["--baseline", tmp_path / "a.json", "--candidate", tmp_path / "b.json"]
    done = call(*given)
    assert done.exit_code == 2
    assert "candidate, agreement: the judge gave no verdict\n  items (3): q3, q50, q97" in done.output
    assert "items without a score: 3 of 100 (0 allowed)" in done.output
    assert call(*given, "--allow-unscored", 2).exit_code == 2
    assert call(*given, "--allow-unscored", 3).exit_code == 0


def test_items_on_one_side_only_are_listed_and_no_pass(tmp_path: Path) -> None:
    baseline, candidate = pair_of(0.0)
    baseline.to_json(tmp_path / "a.json")
    replace(candidate, items=candidate.items[:-1]).to_json(tmp_path / "b.json")
    given: list[str | Path] = ["--baseline", tmp_path / "a.json", "--candidate", tmp_path / "b.json"]
    done = call(*given)
    assert done.exit_code == 2
    assert "only in the baseline\n  items (1): q59" in done.output
    assert call(*given, "--allow-missing", 1).exit_code == 0


def test_scores_are_chosen_and_their_direction_said(tmp_path: Path) -> None:
    columns = {"agreement": [0.5] * 8, "speed": [1.0] * 8}
    before = several(columns, {"agreement": True, "speed": None})
    after = several({**columns, "speed": [2.0] * 8}, {"agreement": True, "speed": None})
    before.to_json(tmp_path / "a.json")
    after.to_json(tmp_path / "b.json")
    given: list[str | Path] = ["--baseline", tmp_path / "a.json", "--candidate", tmp_path / "b.json"]
    done = call(*given)
    assert done.exit_code == 2
    assert "--metric speed:higher or speed:lower" in done.output
    assert call(*given, "--metric", "agreement").exit_code == 0
    assert call(*given, "--metric", "agreement", "--metric", "speed:higher").exit_code == 0
    assert call(*given, "--metric", "speed:lower").exit_code == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--margin", "wide"], "--margin must be a number or NAME=NUMBER, not 'wide'"),
        (["--margin", "agreement=x"], "--margin must be a number or NAME=NUMBER, not 'agreement=x'"),
        (["--margin", "doubt=0.1"], "--margin names doubt; the baseline has agreement"),
        (["--threshold", "agreement=1"], "is not a threshold"),
        (["--threshold", "doubt<=1"], "--threshold names doubt; the baseline has agreement"),
        (["--metric", "doubt"], "--metric names doubt; the baseline has agreement"),
        (["--alpha", "2"], "alpha must be between 0 and 1"),
        (["--seed", "-1"], "--seed"),
        (["--alpha", "0.00001"], "finer than a test of 9,999 permutations"),
        (["--margin", "-1"], "the margin of all must be a number of at least 0"),
        (["--metric", "agreement", "--threshold", "doubt<=1"], "--threshold names doubt; --metric chose agreement"),
        (["--param", "temperature=0.5"], "temperature is set by the prompt's parameters"),
        (["--param", "store=a"], "store is set by --store"),
        (["--param", "x"], "not of the form --param"),
        (["--price", "x"], "not of the form --price"),
        (["--max-cost-usd", "-1"], "max_cost_usd must be a positive number"),
        (["--replay", "none.jsonl"], "--replay"),
        (["--colour"], "No such option"),
    ],
)
def test_what_cannot_be_read_ends_with_2(tmp_path: Path, options: list[str], said: str) -> None:
    done = call(*sides(tmp_path, 0.0), *options)
    assert done.exit_code == 2
    assert said in done.output


def test_files_that_cannot_be_read_or_written_end_with_2(tmp_path: Path) -> None:
    given = sides(tmp_path, 0.0)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    done = call(*given, "--markdown", tmp_path / "file" / "x.md")
    assert done.exit_code == 2
    assert f"{tmp_path / 'file'} cannot be read or written: File exists" in done.output
    (tmp_path / "damaged.sqlite3").write_text("no store " * 1000, "utf-8")
    done = call(*given, "--store", tmp_path / "damaged.sqlite3")
    assert (done.exit_code, "is not a sample store, or is damaged" in done.output) == (2, True)
    assert call("--baseline", tmp_path / "none.json", *given[2:]).exit_code == 2
    assert call("--baseline", tmp_path / "folder", *given[2:]).exit_code == 2
    assert call(*given[:2]).exit_code == 2


def test_different_datasets_end_with_2(tmp_path: Path) -> None:
    given = sides(tmp_path, 0.0)
    other = replace(run([0.5]), items=(result("x", {"agreement": 0.5}),))
    other.to_json(tmp_path / "main.json")
    assert "no item in common" in call(*given).output
    assert call(*given).exit_code == 2


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_a_terminal_that_lacks_a_character_gets_the_verdict_all_the_same(tmp_path: Path, encoding: str) -> None:
    baseline, candidate = pair_of(-0.03)
    named = replace(candidate, items=tuple(replace(one, output={"output": "Łódź 日本"}) for one in candidate.items))
    baseline.to_json(tmp_path / "a.json")
    named.to_json(tmp_path / "b.json")
    done = subprocess.run(
        [sys.executable, "-c", "from opik_checkembed.cli_gate import gate; gate()",
         "--baseline", "a.json", "--candidate", "b.json"],
        cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": encoding}, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert b"agreement is worse" in done.stdout


def test_what_breaks_unexpectedly_is_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = sides(tmp_path, 0.0)
    for error in (ZeroDivisionError("sk-secret"), SystemExit("sk-secret"), asyncio.CancelledError("sk-secret")):

        def broken(*_: object, wrong: BaseException = error, **__: object) -> None:
            raise wrong

        monkeypatch.setattr("opik_checkembed.gate.comparison.compare", broken)
        done = call(*given)
        assert done.exit_code == 2
        assert f"which is no verdict: {type(error).__name__} in tests/test_cli_gate.py, line " in done.output
        assert ", called in opik_checkembed/cli_gate.py, line " in done.output
        assert "sk-secret" not in done.output


def test_what_breaks_in_the_gate_itself_is_named_once_and_found_whole_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # As a fault of our own would do it: in a module of the package.
    monkeypatch.setattr("opik_checkembed.gate.decision.Decision", None)
    with caplog.at_level(logging.DEBUG, "opik_checkembed.cli_gate"):
        done = call(*sides(tmp_path, 0.0))
    assert done.exit_code == 2
    assert re.search(r"TypeError in gate/decision.py, line \d+\. What the error says", done.output)
    (record,) = caplog.records
    assert record.exc_info is not None
    assert "'NoneType' object is not callable" in str(record.exc_info[1])


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "main.json"), "main.json cannot be read or written: Perm"),
        (OSError(errno.ENOSPC, "No space left on device"), "Error: No space left on device"),
        (ConnectionError("sk-secret"), "no verdict: ConnectionError in tests/test_cli_gate.py"),
        (KeyboardInterrupt(), "Error: the gate was interrupted, which is no verdict\n"),
    ],
)
def test_what_the_system_says_is_repeated_and_what_a_library_says_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, said: str
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("opik_checkembed.gate.comparison.compare", broken)
    done = call(*sides(tmp_path, 0.0))
    assert (done.exit_code, said in done.output, "secret" in done.output) == (2, True, False), done.output


@pytest.mark.parametrize(("shift", "code"), [(0.0, 0), (-0.03, 1)])
def test_a_verdict_stands_though_its_report_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shift: float, code: int
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rich.console.Console.print", broken)
    assert call(*sides(tmp_path, shift)).exit_code == code


def test_both_sides_results_are_kept(tmp_path: Path) -> None:
    given = sides(tmp_path, -0.03)
    kept = [tmp_path / "kept" / name for name in ("a.json", "b.json")]
    assert call(*given, "--save-baseline", kept[0], "--save-candidate", kept[1]).exit_code == 1
    assert call("--baseline", kept[0], "--candidate", kept[1]).exit_code == 1


# --- both sides run now ----------------------------------------------------------------------------------------------

PROMPTS = {
    "kept": "Answer only from the context: {{context}}\n{{question}}",
    "lost": "Context: {{context}}\n{{question}}",
}


def bot(asked: ChatCall) -> str:
    """Answers from the context where the prompt says so; without that it makes up a year at each turn."""
    body = asked.body or {}
    text = str(body["messages"][-1]["content"])
    year = 1969 if "only from" in text else 1900 + asked.number % 90
    return f"The year was {year}."


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(answers=bot) as fake:
        yield fake


def running(tmp_path: Path, server: FakeOpenAI) -> list[str | Path]:
    items = [{"id": f"i{n}", "question": f"In which year, case {n}?", "context": "Long ago."} for n in range(8)]
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    for name, text in PROMPTS.items():
        (tmp_path / f"{name}.txt").write_text(text, "utf-8")
    return [
        *("--baseline", tmp_path / "kept.txt", "--candidate", tmp_path / "lost.txt", "--model", "openai/fake"),
        *("--data", tmp_path / "items.jsonl", "--metrics", "fact_recurrence:num_samples=3,min_tokens=1"),
        *("--param", f"api_base={server.base_url}", "--param", "api_key=none"),
    ]


def test_a_prompt_that_lost_its_sentence_is_worse_and_its_recording_says_so_with_no_call(
    tmp_path: Path, server: FakeOpenAI
) -> None:
    given = running(tmp_path, server)
    first = call(*given, "--store", tmp_path / "store.sqlite3", "--json", tmp_path / "first.json")
    assert first.exit_code == 1, first.output
    assert "fact_recurrence  worse" in first.output
    assert server.choices == 2 * 8 * (1 + 3)
    with SampleStore(tmp_path / "store.sqlite3") as store:
        store.export(tmp_path / "recording.jsonl")
    again = call(*given, "--replay", tmp_path / "recording.jsonl", "--json", tmp_path / "again.json")
    assert again.exit_code == 1, again.output
    assert server.choices == 2 * 8 * (1 + 3)
    figures = [json.loads((tmp_path / name).read_text("utf-8")) for name in ("first.json", "again.json")]
    assert figures[0] == figures[1]


def test_a_sample_that_the_recording_lacks_ends_with_2_and_is_named(tmp_path: Path, server: FakeOpenAI) -> None:
    given = running(tmp_path, server)
    call(*given, "--store", tmp_path / "store.sqlite3")
    with SampleStore(tmp_path / "store.sqlite3") as store:
        store.export(tmp_path / "recording.jsonl")
    (tmp_path / "lost.txt").write_text("Never recorded: {{question}}", "utf-8")
    # A budget and prices are no matter where nothing is bought.
    done = call(*given, "--replay", tmp_path / "recording.jsonl", "--max-cost-usd", 1)
    assert done.exit_code == 2
    assert "items without a score: 8 of 8" in done.output
    assert "'Never recorded: In which year, case 0?'" in done.output
    done = call(*given, "--replay", tmp_path / "recording.jsonl", "--store", tmp_path / "store.sqlite3")
    assert (done.exit_code, "--replay reads its own file alone" in done.output) == (2, True)


def test_a_task_that_raises_fails_its_items_whatever_it_raises(tmp_path: Path, server: FakeOpenAI) -> None:
    given = running(tmp_path, server)
    (tmp_path / "bot.py").write_text(
        "import asyncio\nimport sys\n"
        "def raises(item):\n    raise LookupError('no such shelf')\n"
        "def leaves(item):\n    sys.exit(3)\n"
        "def cancelled(item):\n    raise asyncio.CancelledError('too late')\n",
        "utf-8",
    )
    for name, said in (
        ("raises", "the task raised LookupError('no such shelf')"),
        ("leaves", "the task called sys.exit(3)"),
        ("cancelled", "CancelledError: too late"),
    ):
        done = call(*given, "--candidate", f"{tmp_path / 'bot.py'}:{name}")
        assert done.exit_code == 2, done.output
        assert said in done.output
        assert "items without a score: 8 of 8" in done.output


def test_an_opik_that_cannot_be_loaded_is_said_without_its_settings(tmp_path: Path) -> None:
    sides(tmp_path, 0.0)
    # In a process of its own: settings are read as Opik is imported.
    done = subprocess.run(
        [sys.executable, "-c", "from opik_checkembed.cli_gate import gate; gate()",
         "--baseline", "main.json", "--candidate", "opik:bot"],
        cwd=tmp_path, env={**os.environ, "OPIK_DEFAULT_FLUSH_TIMEOUT": "secret"},
        capture_output=True, check=False, text=True,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "Error: Opik's settings cannot be used: default_flush_timeout; see OPIK_" in done.stderr
    assert "secret" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--candidate", "missing.txt"], "no prompt can be read from missing.txt"),
        (["--candidate", "missing.py:answer"], "there is no file missing.py"),
        (["--alpha", "0"], "alpha must be between 0 and 1"),
        (
            ["--metric", "fact_recurrence", "--margin", "fact=0.1"],
            "--margin names fact; --metric chose",
        ),
    ],
)
def test_a_mistake_is_said_before_anything_is_paid_for(
    tmp_path: Path, server: FakeOpenAI, options: list[str], said: str
) -> None:
    done = call(*running(tmp_path, server), *options)
    assert done.exit_code == 2
    assert said in done.output
    assert server.chat_requests == 0


def test_a_name_that_the_baseline_lacks_is_said_before_the_candidate_is_paid_for(
    tmp_path: Path, server: FakeOpenAI
) -> None:
    done = call(*running(tmp_path, server), "--threshold", "fact_recurence<=0.3")
    assert done.exit_code == 2
    assert "--threshold names fact_recurence; the baseline has fact_recurrence" in done.output
    assert server.choices == 8 * (1 + 3)


def test_a_budget_that_runs_out_leaves_items_unscored_and_ends_with_2(tmp_path: Path, server: FakeOpenAI) -> None:
    given = running(tmp_path, server)
    limits = ["--max-cost-usd", "0.001", "--price", "openai/fake=10,10", "--param", "max_tokens=20"]
    done = call(*given, *limits)
    assert done.exit_code == 2, done.output
    assert "has no room for a call" in done.output
    assert server.chat_requests < 2 * 8 * (1 + 3)
    assert "no price is known" in call(*given, "--max-cost-usd", "1").output


def test_help_shows_the_three_exit_codes_and_the_examples() -> None:
    shown = call("--help")
    assert shown.exit_code == 0
    assert "Exit code 0" in shown.output
    assert "--replay samples.jsonl" in shown.output
