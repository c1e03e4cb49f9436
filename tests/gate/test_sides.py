from __future__ import annotations

import builtins
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import opik
import pytest
from opik.evaluation.metrics.score_result import ScoreResult
from opik.rest_api.core.api_error import ApiError

from opik_checkembed.errors import ConfigurationError, StoreError
from opik_checkembed.gate.comparison import Verdict, compare
from opik_checkembed.gate.experiment import read_experiment
from opik_checkembed.gate.sides import Running, load_side, replayed
from opik_checkembed.samples import Budget, SampleStore
from opik_checkembed.testing import FakeOpenAI, FakeOpik
from tests.gate.runs import run

METRIC = "fact_recurrence:num_samples=2,min_tokens=1"


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(answers=["It was in 1969."]) as fake:
        yield fake


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return items_file(tmp_path, [{"id": "a", "question": "When was it?"}, {"id": "b", "question": "And when this?"}])


def items_file(tmp_path: Path, items: list[dict[str, Any]]) -> Path:
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    return path


def prompt_file(tmp_path: Path, name: str = "prompt.json", **more: Any) -> str:
    prompt = {"model": "openai/fake", "messages": [{"role": "user", "content": "Say: {{question}}"}], **more}
    (tmp_path / name).write_text(json.dumps(prompt), "utf-8")
    return str(tmp_path / name)


def running(server: FakeOpenAI, data: Path | None, tmp_path: Path, *metrics: str, **more: Any) -> Running:
    return Running(
        data=data,
        metrics=metrics or (METRIC,),
        store=SampleStore(tmp_path / "store.sqlite3"),
        parameters={"api_base": server.base_url, "api_key": "none"},
        **more,
    )


@pytest.fixture
def idle(server: FakeOpenAI, tmp_path: Path) -> Iterator[Running]:
    made = running(server, None, tmp_path)
    yield made
    made.store.close()


# --- finished results ------------------------------------------------------------------------------------------------


def test_a_result_file_is_read_as_it_is(tmp_path: Path, idle: Running) -> None:
    written = run([0.5, None])
    written.to_json(tmp_path / "results.json")
    assert load_side(str(tmp_path / "results.json"), idle).to_dict() == written.to_dict()


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "neither results nor a prompt"), ("{", "neither results nor a prompt"), ("[]", "holds neither"),
     ("{}", "schema None"), (b"\xff", "neither results nor a prompt")],
)  # fmt: skip
def test_other_json_files_are_refused(tmp_path: Path, idle: Running, content: Any, said: str) -> None:
    path = tmp_path / "x.json"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigurationError, match=said):
        load_side(str(path), idle)


# --- prompts ---------------------------------------------------------------------------------------------------------


def test_a_prompt_is_answered_at_temperature_0_and_its_own_messages_are_sampled(
    server: FakeOpenAI, data: Path, tmp_path: Path
) -> None:
    with (made := running(server, data, tmp_path)).store:
        found = load_side(prompt_file(tmp_path, parameters={"max_tokens": 9}), made)
    assert [item.id for item in found.items] == ["a", "b"]
    assert found.items[0].output["output"] == "It was in 1969."
    assert found.summary()["fact_recurrence"].scored == 2
    bodies = [call.body for call in server.calls if call.body is not None]
    asked = {body["messages"][0]["content"] for body in bodies}
    assert asked == {"Say: When was it?", "Say: And when this?"}
    assert {body["temperature"] for body in bodies} == {0.0, 1.0}
    assert {body["max_tokens"] for body in bodies} == {9}
    assert server.choices == 2 + 2 * 2


def test_a_text_prompt_is_asked_of_the_model_that_is_given(server: FakeOpenAI, data: Path, tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("{{question}}", "utf-8")
    with (made := running(server, data, tmp_path, model="openai/fake")).store:
        found = load_side(str(tmp_path / "prompt.md"), made)
    assert found.summary()["fact_recurrence"].failed == 0


def test_what_an_item_says_of_another_runs_answer_is_not_read(server: FakeOpenAI, tmp_path: Path) -> None:
    logged = {"question": "When was it?", "output": "Never.", "samples": ["x", "y"], "model": "openai/other",
              "system_prompt": "Lie.", "model_parameters": {"max_tokens": 1}}  # fmt: skip
    data = items_file(tmp_path, [logged])
    with (made := running(server, data, tmp_path)).store:
        found = load_side(prompt_file(tmp_path), made)
    assert found.items[0].output["output"] == "It was in 1969."
    assert {str(call.body and call.body["model"]) for call in server.calls} == {"fake"}
    assert all(call.body is not None and len(call.body["messages"]) == 1 for call in server.calls)
    assert not any("max_tokens" in (call.body or {}) for call in server.calls)


def test_an_item_without_the_prompts_field_is_unscored_and_the_run_goes_on(server: FakeOpenAI, tmp_path: Path) -> None:
    data = items_file(tmp_path, [{"question": "When?"}, {"input": "How?"}])
    with (made := running(server, data, tmp_path)).store:
        found = load_side(prompt_file(tmp_path), made)
    assert found.items[1].error is not None
    assert "the prompt reads question, which this item lacks" in found.items[1].error
    assert found.summary()["fact_recurrence"].failed == 1


@pytest.mark.parametrize(("of_prompt", "of_metric"), [(1.0, ""), (0.3, ",temperature=0.3"), (0.3, ",temperature=null"),
                                                      (None, ",temperature=0")])  # fmt: skip
def test_an_answer_that_would_be_its_own_first_sample_is_refused(
    server: FakeOpenAI, data: Path, tmp_path: Path, of_prompt: float | None, of_metric: str
) -> None:
    own: dict[str, Any] = {} if of_prompt is None else {"parameters": {"temperature": of_prompt}}
    with (
        (made := running(server, data, tmp_path, METRIC + of_metric)).store,
        pytest.raises(ConfigurationError, match="would be the first of its own samples"),
    ):
        load_side(prompt_file(tmp_path, **own), made)
    assert server.chat_requests == 0


def test_a_metric_that_samples_nothing_scores_a_prompt_too(server: FakeOpenAI, tmp_path: Path) -> None:
    data = items_file(tmp_path, [{"question": "When?", "reference": "It was in 1969."}])
    own = tmp_path / "exact.py"
    own.write_text("from opik.evaluation.metrics import Equals\nmetrics = [Equals(track=False)]\n", "utf-8")
    with (made := running(server, data, tmp_path, f"{own}:metrics")).store:
        found = load_side(prompt_file(tmp_path), made)
    assert found.items[0].scores[0].value == 1.0
    assert server.chat_requests == 1


def test_a_side_that_is_run_needs_items_and_metrics(tmp_path: Path, idle: Running, data: Path) -> None:
    with pytest.raises(ConfigurationError, match="is to be run: give its items with --data"):
        load_side(prompt_file(tmp_path), idle)
    with pytest.raises(ConfigurationError, match="its metrics with --metrics"):
        load_side(prompt_file(tmp_path), replace(idle, data=data, metrics=()))


def test_a_budget_is_held_over_answers_and_samples(server: FakeOpenAI, data: Path, tmp_path: Path) -> None:
    budget = Budget(max_calls=3)
    with (made := running(server, data, tmp_path, budget=budget)).store:
        found = load_side(prompt_file(tmp_path), made)
    assert server.chat_requests <= 3
    assert any("budget of 3 calls" in str(score.reason) for item in found.items for score in item.scores)


# --- replay ----------------------------------------------------------------------------------------------------------


def test_a_recording_replays_a_prompt_with_no_call_and_names_what_it_lacks(
    server: FakeOpenAI, data: Path, tmp_path: Path
) -> None:
    recording = tmp_path / "recording.jsonl"
    with (made := running(server, data, tmp_path)).store as store:
        first = load_side(prompt_file(tmp_path), made)
        store.export(recording)
    asked = server.chat_requests
    with replayed(recording) as store:
        again = load_side(prompt_file(tmp_path), replace(made, store=store))
        assert [item.scores[0].value for item in again.items] == [item.scores[0].value for item in first.items]
        changed = [{"role": "user", "content": "Shout: {{question}}"}]
        other = load_side(prompt_file(tmp_path, messages=changed), replace(made, store=store))
    assert server.chat_requests == asked
    reason = other.items[0].scores[0].reason
    assert reason is not None
    assert "replay mode and lacks sample 1 of the request 'Shout: When was it?' to 'openai/fake'" in reason
    with pytest.raises(StoreError), replayed(data):
        pass


def test_a_metric_with_a_store_of_its_own_cannot_ask_past_a_recording(
    server: FakeOpenAI, data: Path, tmp_path: Path
) -> None:
    own = tmp_path / "mine.py"
    own.write_text(
        "from opik_checkembed import (EnsembleMetric, FactRecurrenceMetric, LLMVerifier, SelfConsistencyMetric,\n"
        "                             SourceNLIMetric)\n"
        "past = [FactRecurrenceMetric(store=None)]\n"
        "verified = [SourceNLIMetric(verifier=LLMVerifier('openai/fake'), name='verified')]\n"
        "def both(**sampling):\n"
        "    part = SelfConsistencyMetric(verifier=LLMVerifier('openai/fake'), name='part', **sampling)\n"
        "    return [EnsembleMetric([FactRecurrenceMetric(**sampling), part])]\n"
        "def held(**sampling):\n"
        "    return [FactRecurrenceMetric(num_samples=2, min_tokens=1, **sampling)]\n"
        "def one(**sampling):\n"
        "    return held(**sampling)[0]\n",
        "utf-8",
    )
    recording = tmp_path / "recording.jsonl"
    with (made := running(server, data, tmp_path, f"{own}:held")).store as store:
        load_side(prompt_file(tmp_path), made)
        # Without a replay, a metric of its own is the user's choice.
        load_side(prompt_file(tmp_path), replace(made, metrics=[f"{own}:past"]))
        store.export(recording)
    with replayed(recording) as store:
        for name in ("held", "one"):
            found = load_side(prompt_file(tmp_path), replace(made, store=store, metrics=[f"{own}:{name}"]))
            assert found.summary()["fact_recurrence"].failed == 0
        asked = server.chat_requests
        for name, metric in (("past", "fact_recurrence"), ("verified", "verified"), ("both", "ensemble")):
            with pytest.raises(ConfigurationError, match=f"{metric} would ask past the recording"):
                load_side(prompt_file(tmp_path), replace(made, store=store, metrics=[f"{own}:{name}"]))
        assert server.chat_requests == asked


# --- tasks -----------------------------------------------------------------------------------------------------------

BOT = """
import neighbour

def answer(item):
    return {"output": neighbour.WORDS[item["id"]], "samples": ["It was in 1969.", "It was in 1969."]}

constant = 3
"""


def test_a_task_out_of_a_file_is_run_over_the_items_with_its_neighbours(
    server: FakeOpenAI, data: Path, tmp_path: Path
) -> None:
    (tmp_path / "bot.py").write_text(BOT, "utf-8")
    (tmp_path / "neighbour.py").write_text("WORDS = {'a': 'It was in 1969.', 'b': 'It was in 1971.'}", "utf-8")
    path = list(sys.path)
    with (made := running(server, data, tmp_path, trials=2)).store:
        found = load_side(f"{tmp_path / 'bot.py'}:answer", made)
        for text, said in (
            (f"{tmp_path / 'bot.py'}:constant", "is no function of an item but a int"),
            (f"{tmp_path / 'bot.py'}:nothing", "has no 'nothing'"),
            (f"{tmp_path / 'none.py'}:answer", "there is no file"),
            ("nothing", "cannot be read: a side is results.json"),
            (":x", "cannot be read: a side is results.json"),
            ("no_such_module:x", "cannot be imported: ModuleNotFoundError"),
        ):
            with pytest.raises(ConfigurationError, match=said):
                load_side(text, made)
    assert [item.id for item in found.items] == ["a", "a", "b", "b"]
    assert found.items[0].scores[0].value == 0.0
    assert sys.path == path
    assert server.chat_requests == 0
    assert "neighbour" not in sys.modules


def test_a_task_out_of_a_module_and_one_that_cannot_be_imported(
    server: FakeOpenAI, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gate_test_bot.py").write_text("def answer(item):\n    return 'It was in 1969.'\n", "utf-8")
    Path("broken.py").write_text("1 / 0", "utf-8")
    given = items_file(tmp_path, [{"id": "a", "question": "When?", "samples": ["It was in 1969."] * 2}])
    with (made := running(server, given, tmp_path)).store:
        assert load_side("gate_test_bot:answer", made).items[0].output == {"output": "It was in 1969."}
        with pytest.raises(ConfigurationError, match=r"broken.py cannot be imported: ZeroDivisionError"):
            load_side("broken.py:answer", made)
    assert "gate_test_bot" not in sys.modules


CHECKOUT = """
from helper import ANSWER
import parts.greeting

def answer(item):
    from late import WORD
    return {"output": f"{ANSWER} {parts.greeting.HELLO} {WORD}", "samples": ["x", "y"]}
"""


def checkout(folder: Path, word: str) -> str:
    (folder / "parts").mkdir(parents=True)
    (folder / "bot.py").write_text(CHECKOUT, "utf-8")
    for name, constant in (("helper", "ANSWER"), ("parts/greeting", "HELLO"), ("late", "WORD")):
        (folder / f"{name}.py").write_text(f"{constant} = {word!r}\n", "utf-8")
    return f"{folder / 'bot.py'}:answer"


@pytest.mark.parametrize("order", [("main", "branch"), ("branch", "main")])
def test_each_of_two_checkouts_runs_its_own_modules(
    server: FakeOpenAI, data: Path, tmp_path: Path, order: tuple[str, str]
) -> None:
    sides = {name: checkout(tmp_path / name, name) for name in order}
    before = set(sys.modules)
    with (made := running(server, data, tmp_path)).store:
        found = {name: load_side(sides[name], made).items[0].output["output"] for name in order}
    assert found == {name: f"{name} {name} {name}" for name in order}
    left = {"helper", "late", "parts", "parts.greeting"} & (set(sys.modules) - before)
    assert left == set()


def test_metrics_out_of_another_folder_have_their_own_neighbours_and_those_beside_the_task_share_them(
    server: FakeOpenAI, data: Path, tmp_path: Path
) -> None:
    task = checkout(tmp_path / "main", "main")
    checkout(tmp_path / "metrics", "metrics")
    metric = (
        "import helper\nfrom opik.evaluation.metrics import Equals\n"
        "def made(**sampling):\n    return [Equals(name=helper.ANSWER, track=False)]\n"
    )
    for folder in ("main", "metrics"):
        (tmp_path / folder / "mets.py").write_text(metric, "utf-8")
    # The neighbour is loaded once for the task and the metric beside it.
    with (tmp_path / "main" / "helper.py").open("a") as file:
        file.write("import builtins\nbuiltins.checkembed_loads = getattr(builtins, 'checkembed_loads', 0) + 1\n")
    named = [f"{tmp_path / folder / 'mets.py'}:made" for folder in ("main", "metrics")]
    references = items_file(tmp_path, [{"id": "a", "question": "?", "reference": "main main main"}])
    try:
        with (made := running(server, references, tmp_path, *named)).store:
            found = load_side(task, made)
        assert {one.name: one.value for one in found.items[0].scores} == {"main": 1.0, "metrics": 1.0}
        assert vars(builtins)["checkembed_loads"] == 1
    finally:
        del vars(builtins)["checkembed_loads"]


def test_a_folder_that_a_side_puts_on_the_path_goes_with_it(server: FakeOpenAI, data: Path, tmp_path: Path) -> None:
    found = []
    path = list(sys.path)
    with (made := running(server, data, tmp_path)).store:
        for name in ("main", "branch"):
            (tmp_path / name / "lib").mkdir(parents=True)
            (tmp_path / name / "src").mkdir()
            (tmp_path / name / "lib" / "library.py").write_text(f"NAME = {name!r}\n", "utf-8")
            bot = tmp_path / name / "src" / "bot.py"
            lib = str(tmp_path / name / "lib")
            bot.write_text(f"import sys\nsys.path.append({lib!r})\nimport library\nanswer = lambda i: library.NAME\n")
            found.append(load_side(f"{bot}:answer", made).items[0].output["output"])
    assert found == ["main", "branch"]
    assert sys.path == path


def test_a_task_that_ends_the_process_fails_its_item_or_cannot_be_imported(
    server: FakeOpenAI, data: Path, tmp_path: Path
) -> None:
    (tmp_path / "script.py").write_text("import sys\nsys.exit(0)\n", "utf-8")
    (tmp_path / "bot.py").write_text(
        "import sys\ndef answer(item):\n    if item['id'] == 'a':\n        sys.exit(0)\n    return 'It was in 1969.'\n"
        "async def later(item):\n    return 'x'\n",
        "utf-8",
    )
    with (made := running(server, data, tmp_path)).store:
        with pytest.raises(ConfigurationError, match=r"script.py cannot be imported: SystemExit\(0\)"):
            load_side(f"{tmp_path / 'script.py'}:answer", made)
        (tmp_path / "slip.py").write_text("def answer(item:\n    key = 'sk-secret'\n", "utf-8")
        no_python = r"slip.py cannot be imported: line 1 of .*slip.py is no Python \(.*\)$"
        with pytest.raises(ConfigurationError, match=no_python) as caught:
            load_side(f"{tmp_path / 'slip.py'}:answer", made)
        assert "secret" not in str(caught.value)
        (tmp_path / "nul.py").write_bytes(b"answer = '\0'\n")
        with pytest.raises(ConfigurationError, match=r"nul.py cannot be imported: it is no Python \(.*null bytes\)$"):
            load_side(f"{tmp_path / 'nul.py'}:answer", made)
        with pytest.raises(ConfigurationError, match="task is async"):
            load_side(f"{tmp_path / 'bot.py'}:later", made)
        found = load_side(f"{tmp_path / 'bot.py'}:answer", made)
    assert found.items[0].error is not None
    assert "the task called sys.exit(0)" in found.items[0].error
    assert found.items[1].output == {"output": "It was in 1969."}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("bare", r"mets.py:bare cannot be called with model, .*name a list of metrics, or a function like def metrics"),
        ("Own", r"mets.py:Own cannot be called with"),
        ("broken", r"mets.py:broken cannot be called: KeyError\('x'\)"),
        ("leaves", r"mets.py:leaves cannot be called: SystemExit\(0\)"),
        ("text", r"scoring_metrics must hold Opik metrics, not 'x'"),
    ],
)
def test_metrics_that_cannot_be_made_are_refused(
    server: FakeOpenAI, data: Path, tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / "mets.py").write_text(
        "def bare():\n    return []\n"
        "class Own:\n    def __init__(self, threshold):\n        pass\n"
        "def broken(**sampling):\n    raise KeyError('x')\n"
        "def leaves(**sampling):\n    raise SystemExit(0)\n"
        "text = 'x'\n",
        "utf-8",
    )
    with (
        (made := running(server, data, tmp_path, f"{tmp_path / 'mets.py'}:{name}")).store,
        pytest.raises(ConfigurationError, match=said),
    ):
        load_side(prompt_file(tmp_path), made)


@pytest.mark.parametrize(
    "text",
    [
        "source_nlli:judge=openai/j,judge_parameters.api_key=sk-secret",
        "source_nlli:judge_parameters.api_key=sk-secret,judge_parameters.api_base=http://h:8000/v1",
        "source_nli,judge_parameters.api_key=sk-secret",
        "api_key=sk-secret",
        "{file}:metrics,api_key=sk-secret",
    ],
)
def test_a_misspelt_metric_does_not_show_its_options(server: FakeOpenAI, data: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "mets.py").write_text("metrics = []\n", "utf-8")
    with (
        (made := running(server, data, tmp_path, text.format(file=tmp_path / "mets.py"))).store,
        pytest.raises(ConfigurationError, match="with its options cannot be read: metrics are checkembed") as caught,
    ):
        load_side(prompt_file(tmp_path), made)
    assert "secret" not in str(caught.value)


def test_metrics_may_lie_in_a_folder_with_an_equals_sign(server: FakeOpenAI, data: Path, tmp_path: Path) -> None:
    (tmp_path / "run=1").mkdir()
    (tmp_path / "run=1" / "mets.py").write_text("metrics = 3\n", "utf-8")
    with (
        (made := running(server, data, tmp_path, f"{tmp_path / 'run=1' / 'mets.py'}:metrics")).store,
        pytest.raises(ConfigurationError, match="must hold Opik metrics, not 3"),
    ):
        load_side(prompt_file(tmp_path), made)


def test_what_a_side_needs_does_not_show_its_parameters(idle: Running) -> None:
    assert "api_key" not in repr(replace(idle, parameters={"api_key": "sk-secret"}))


def test_json_that_nests_too_deep_is_refused(tmp_path: Path, idle: Running) -> None:
    (tmp_path / "deep.json").write_text("[" * 200_000, "utf-8")
    with pytest.raises(ConfigurationError, match="neither results nor a prompt"):
        load_side(str(tmp_path / "deep.json"), idle)


# --- Opik ------------------------------------------------------------------------------------------------------------


class Lengths(opik.evaluation.metrics.BaseMetric):
    """A score that an answer's first character decides; none for `?`."""

    def score(self, output: str, **ignored: Any) -> ScoreResult:
        if output.startswith("?"):
            raise ValueError("no verdict")
        return ScoreResult("lengths", float(output[0]) / 10, reason=f"it begins with {output[0]}")


def answers(begin: str) -> Any:
    def task(item: Mapping[str, Any]) -> dict[str, str]:
        return {"output": f"{begin if item['input'] != 'odd' else '?'} {item['input']}"}

    return task


def test_two_experiments_over_one_dataset_are_compared(idle: Running) -> None:
    with FakeOpik() as server, server.in_this_process() as client:
        dataset = client.get_or_create_dataset("questions")
        dataset.insert([{"input": f"q{n}"} for n in range(7)] + [{"input": "odd"}])
        for name, begin in (("bot 1", "8"), ("bot 2", "5"), ("bot", "5")):
            opik.evaluate(
                dataset, answers(begin), scoring_metrics=[Lengths("lengths")], experiment_name=name, verbose=0
            )
        client.flush()
        baseline, candidate = load_side("opik:bot 1", idle), read_experiment("bot 2", client)
        assert len(read_experiment("bot").items) == 8
        with pytest.raises(ConfigurationError, match="there is no experiment named 'bo' in this Opik workspace"):
            read_experiment("bo")
        assert not server.unknown
    found = compare(baseline, candidate, directions={"lengths": True})
    assert len(found.items) == 8
    metric = found.metrics[0]
    assert (metric.pairs, metric.verdict) == (7, Verdict.WORSE)
    assert metric.difference == pytest.approx(-0.3)
    # Opik stores no failed score: it is seen to be missing all the same.
    assert [(one.side, one.reason) for one in found.unscored] == [
        (side, "the run has no such score for this item") for side in ("baseline", "candidate")
    ]
    first = next(item for item in found.items if item.baseline.item["input"] == "q0")
    assert first.baseline.output["output"] == "8 q0"
    assert first.candidate.scores[0].reason == "it begins with 5"


def test_an_opik_that_cannot_be_reached_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeOpik() as server, server.in_this_process() as client:
        server.close()
        with pytest.raises(ConfigurationError, match="the experiment 'x' cannot be read from Opik"):
            read_experiment("x", client)


@pytest.mark.filterwarnings("ignore:.verify=<str>. is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("OPIK_API_KEY", "one of Opik's settings, like the API key, holds a character that cannot be sent"),
        ("OPIK_DEFAULT_FLUSH_TIMEOUT", "Opik's settings cannot be used: default_flush_timeout; see OPIK_"),
    ],
)
def test_an_opik_that_is_set_up_wrongly_is_said_without_its_settings(
    monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    monkeypatch.setenv(name, "sécret")
    with pytest.raises(ConfigurationError, match=said) as caught:
        read_experiment("x")
    assert "cret" not in str(caught.value)


def test_what_opik_answers_is_said_without_its_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise ApiError(headers={"set-cookie": "secret"}, status_code=401, body="no such workspace")

    with FakeOpik() as server, server.in_this_process() as client:
        monkeypatch.setattr(client, "get_experiments_by_name", refused)
        with pytest.raises(ConfigurationError, match=r"cannot be read from Opik: HTTP 401: no such workspace$"):
            read_experiment("x", client)
