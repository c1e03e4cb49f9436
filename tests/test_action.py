"""The GitHub Action: its shell steps run as they stand, and only what lies outside the job is a stand-in."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from opik_checkembed.cli_gate import gate
from tests.gate.runs import pair_of, run

ROOT = Path(__file__).parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["id"]: step for step in ACTION["runs"]["steps"]}

GH = """#!/bin/bash
printf '%s\\n' "$*" >> "$GH_LOG"
for argument in "$@"; do
  case $argument in body=@*) cp "${argument#body=@}" "$GH_BODY" ;; esac
done
case "$*" in *--paginate*) cat "$GH_FOUND" ;; esac
case "$*" in *"${GH_FAILS:-nothing}"*) echo "HTTP 403" >&2; exit 1 ;; esac
"""


@dataclass(frozen=True)
class Runner:
    """What a job's runner gives a step: files, variables, and programs on its PATH."""

    folder: Path

    def run(self, step: str, inputs: Mapping[str, str], outputs: Mapping[str, str] = {}, **more: str) -> Any:
        """One shell step, its expressions filled in as GitHub does."""
        values = {name: str(entry.get("default", "")) for name, entry in ACTION["inputs"].items()} | dict(inputs)
        contexts = {
            **{f"inputs.{name}": value for name, value in values.items()},
            **{f"steps.gate.outputs.{name}": value for name, value in outputs.items()},
            "github.event.pull_request.number": "7",
        }

        def filled(text: object) -> str:
            return re.sub(r"\$\{\{\s*(.+?)\s*\}\}", lambda found: contexts[found[1]], str(text))

        script = self.folder / f"{step}.sh"
        script.write_text(STEPS[step]["run"], "utf-8")
        environment = {
            **os.environ,
            "PATH": os.pathsep.join([str(self.folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]),
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_ACTION_PATH": "/where/the action is",
            "GITHUB_REPOSITORY": "someone/bot",
            "GITHUB_OUTPUT": str(self.folder / "output.txt"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
            "GH_LOG": str(self.folder / "gh.log"),
            "GH_BODY": str(self.folder / "body.md"),
            "GH_FOUND": str(self.folder / "found.txt"),
            **{name: filled(value) for name, value in STEPS[step].get("env", {}).items()},
            **more,
        }
        # As GitHub starts `shell: bash`.
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        return subprocess.run(
            command, env=environment, cwd=self.folder, capture_output=True, text=True, check=False, timeout=120
        )

    def gate(self, **inputs: str) -> dict[str, str]:
        """The gate's step; its outputs."""
        done = self.run("gate", {name.replace("_", "-"): value for name, value in inputs.items()})
        assert done.returncode == 0, done.stderr
        lines = (self.folder / "output.txt").read_text("utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines) | {"log": done.stdout + done.stderr}

    @property
    def summary(self) -> str:
        return (self.folder / "summary.md").read_text("utf-8")

    @property
    def calls(self) -> list[str]:
        return (self.folder / "gh.log").read_text("utf-8").splitlines()

    def program(self, name: str, text: str) -> None:
        path = self.folder / "bin" / name
        path.write_text(text, "utf-8")
        path.chmod(0o755)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    (tmp_path / "bin").mkdir()
    (tmp_path / "found.txt").touch()
    made = Runner(tmp_path)
    made.program("gh", GH)
    return made


@pytest.fixture
def sides(tmp_path: Path) -> dict[str, str]:
    baseline, candidate = pair_of(-0.03)
    baseline.to_json(tmp_path / "main.json")
    candidate.to_json(tmp_path / "the branch's.json")
    return {"baseline": "main.json", "candidate": "the branch's.json"}


# --- the file --------------------------------------------------------------------------------------------------------


def test_no_expression_stands_in_a_script_and_every_one_is_known() -> None:
    for step in STEPS.values():
        assert "${{" not in step.get("run", "")
        assert step.get("shell", "bash") == "bash"
        for name in re.findall(r"inputs\.([\w-]+)", json.dumps(step)):
            assert name in ACTION["inputs"]
        for name in re.findall(r"steps\.gate\.outputs\.([\w-]+)", json.dumps([step, ACTION["outputs"]])):
            assert f"{name}=" in STEPS["gate"]["run"]


def test_every_input_is_read_and_every_option_is_one_of_the_command() -> None:
    steps = json.dumps(ACTION["runs"])
    assert [name for name in ACTION["inputs"] if f"inputs.{name}" not in steps] == []
    known = {option for parameter in gate.params if isinstance(parameter, click.Option) for option in parameter.opts}
    used = set(re.findall(r"--[a-z-]+(?==)", STEPS["gate"]["run"])) | {"--fail-on-underpowered"}
    assert used <= known


def test_the_example_workflow_gives_the_action_what_it_takes() -> None:
    text = (ROOT / "examples/workflows/checkembed-gate.yml").read_text("utf-8")
    steps = yaml.safe_load(text)["jobs"]["gate"]["steps"]
    given = next(step["with"] for step in steps if "opik-checkembed" in step.get("uses", ""))
    assert given.keys() <= ACTION["inputs"].keys()
    required = {name for name, entry in ACTION["inputs"].items() if entry.get("required")}
    assert required <= given.keys()
    assert not any("${{" in step.get("run", "") for step in steps)


# --- its steps -------------------------------------------------------------------------------------------------------


def test_pip_installs_the_actions_own_checkout_or_what_is_named(runner: Runner) -> None:
    runner.program("python", '#!/bin/bash\nprintf "<%s>" "$@" >> "$RUNNER_TEMP/pip.log"\n')
    runner.run("install", {})
    runner.run("install", {"package": "opik-checkembed[demo]"})
    said = (runner.folder / "pip.log").read_text("utf-8")
    assert said == "".join(
        f"<-m><pip><install><--quiet><{what}>" for what in ("/where/the action is", "opik-checkembed[demo]")
    )


def test_a_worse_candidate_ends_with_1_after_summary_and_report(runner: Runner, sides: dict[str, str]) -> None:
    (runner.folder / "summary.md").write_text("before\n", "utf-8")
    outputs = runner.gate(**sides)
    assert outputs["exit-code"] == "1"
    assert runner.summary.startswith("before\n### Gate: worse\n")
    report = Path(outputs["report"])
    assert sorted(path.name for path in report.iterdir()) == [
        "baseline.json", "candidate.json", "junit.xml", "report.html", "report.json", "summary.md",
    ]  # fmt: skip
    assert "Gate: worse" in " ".join(re.sub("<[^>]*>", "", (report / "report.html").read_text("utf-8")).split())
    assert "agreement is worse" in outputs["log"]
    assert runner.run("verdict", {}, outputs).returncode == 1


def test_inputs_reach_the_command_line_by_line(runner: Runner, sides: dict[str, str]) -> None:
    outputs = runner.gate(
        **sides,
        metric="agreement:higher\n",
        margin="  0.01\n\n agreement=0.06 \n",
        threshold="agreement>=0.1\nagreement<=0.99",
        fail_on_underpowered="true",
        allow_missing="3",
        seed="5",
        arguments="--alpha=0.1\n--worst=1",
    )
    data = json.loads((Path(outputs["report"]) / "report.json").read_text("utf-8"))
    assert outputs["exit-code"] == "0"
    assert (data["metrics"][0]["margin"], data["seed"], data["alpha"]) == (0.06, 5, 0.1)
    assert [one["threshold"] for one in data["decision"]["thresholds"]] == ["agreement>=0.1", "agreement<=0.99"]
    assert runner.summary.count("<details>") == 1
    assert runner.run("verdict", {}, outputs).returncode == 0


def test_a_value_is_never_run(runner: Runner, sides: dict[str, str]) -> None:
    planted = runner.folder / "planted"
    evil = f'"; touch {shlex.quote(str(planted))}; $(touch {planted}) `touch {planted}` --json=x'
    outputs = runner.gate(**{**sides, "candidate": evil, "metric": evil, "arguments": ""})
    assert outputs["exit-code"] == "2"
    assert not planted.exists()


def test_what_cannot_be_compared_ends_with_2_and_says_so(runner: Runner, sides: dict[str, str]) -> None:
    outputs = runner.gate(**{**sides, "candidate": "none.json"})
    assert outputs["exit-code"] == "2"
    assert "none.json" in outputs["log"]
    assert runner.summary.startswith("### Gate: cannot tell")
    assert runner.run("verdict", {}, outputs).returncode == 2


def test_failed_scores_end_with_2_and_are_listed_in_the_summary(runner: Runner) -> None:
    run([0.5] * 40).to_json(runner.folder / "a.json")
    run([None, *[0.5] * 39]).to_json(runner.folder / "b.json")
    outputs = runner.gate(baseline="a.json", candidate="b.json")
    assert outputs["exit-code"] == "2"
    assert "<code>q0</code>" in runner.summary


def test_a_command_that_crashes_is_no_verdict(runner: Runner, sides: dict[str, str]) -> None:
    runner.program("opik-checkembed", "#!/bin/bash\nexit 1\n")
    assert runner.gate(**sides)["exit-code"] == "2"
    assert runner.summary.startswith("### Gate: cannot tell")


def test_what_an_answer_says_is_no_command_for_the_runner(runner: Runner, sides: dict[str, str]) -> None:
    runner.program("opik-checkembed", "#!/bin/bash\nprintf '::stop-commands::x\n::error::planted'\nexit 1\n")
    tokens = set()
    for _ in range(2):
        lines = runner.gate(**sides)["log"].splitlines()
        begin, end = lines.index("::stop-commands::x") - 1, lines.index("::error::planted") + 1
        token = lines[begin].removeprefix("::stop-commands::")
        assert re.fullmatch("[0-9a-f]{32}", token)
        assert lines[end] == f"::{token}::"
        tokens.add(token)
    assert len(tokens) == 2


def test_an_artifact_has_a_name_that_it_may_have(runner: Runner, sides: dict[str, str]) -> None:
    assert runner.gate(**sides, name='a/b: "c"\nx')["artifact"] == "checkembed-a-b---c--x"
    artifact = next(step for step in ACTION["runs"]["steps"] if step["id"] == "artifact")
    assert artifact["with"]["name"] == "${{ steps.gate.outputs.artifact }}"


def test_the_verdict_is_given_whatever_else_failed(runner: Runner) -> None:
    assert STEPS["verdict"]["if"] == "${{ always() }}"
    for code, exit_code in (("", 2), ("0", 0), ("1", 1)):
        assert runner.run("verdict", {}, {"exit-code": code}).returncode == exit_code


# --- the comment -----------------------------------------------------------------------------------------------------

MARKER = "<!-- opik-checkembed gate: bot -->"
COMMENTS = "repos/someone/bot/issues/7/comments"


@pytest.fixture
def report(runner: Runner) -> dict[str, str]:
    folder = runner.folder / "report"
    folder.mkdir()
    (folder / "summary.md").write_text("### Gate: worse\n", "utf-8")
    return {"report": str(folder), "exit-code": "1"}


def test_the_first_comment_is_created_with_its_marker(runner: Runner, report: dict[str, str]) -> None:
    done = runner.run("comment", {"name": "bot"}, report)
    assert done.returncode == 0, done.stderr
    own, look, more, write = runner.calls
    assert own == "api user --jq .login"
    assert look == f'api --paginate {COMMENTS} --jq .[] | select(.user.type == "Bot" or .user.login == env.OWN)'
    assert more.strip() == "| select(.body | startswith(env.MARKER)) | .id"
    assert write.startswith(f"api --silent --method POST {COMMENTS} -F body=@")
    assert (runner.folder / "body.md").read_text("utf-8") == f"{MARKER}\n### Gate: worse\n"


def test_later_ones_are_written_over_the_first(runner: Runner, report: dict[str, str]) -> None:
    (runner.folder / "found.txt").write_text("101\n202\n", "utf-8")
    assert runner.run("comment", {"name": "bot"}, report).returncode == 0
    assert runner.calls[-1].startswith("api --silent --method PATCH repos/someone/bot/issues/comments/101 -F body=@")
    assert (runner.folder / "body.md").read_text("utf-8").startswith(MARKER)


@pytest.mark.parametrize("fails", ["--paginate", "--method"])
def test_a_token_that_only_reads_is_a_warning(runner: Runner, report: dict[str, str], fails: str) -> None:
    for found in ("", "101\n"):
        (runner.folder / "found.txt").write_text(found, "utf-8")
        done = runner.run("comment", {"name": "bot"}, report, GH_FAILS=fails)
        assert done.returncode == 0
        assert "::warning::the gate's comment could not be written: HTTP 403" in done.stdout


def test_a_comment_is_made_only_on_a_pull_request_with_a_token_and_where_it_is_wanted() -> None:
    condition = STEPS["comment"]["if"]
    for needed in ("inputs.comment == 'true'", "inputs.github-token != ''", "github.event.pull_request.number != ''"):
        assert needed in condition
    assert "||" not in condition
