"""The user's whole task run again."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import opik
import pytest
from opik.evaluation.metrics import BaseMetric
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed.errors import ConfigurationError, RequestError
from opik_checkembed.samples.budget import Budget
from opik_checkembed.samples.litellm_sampler import LiteLLMSampler
from opik_checkembed.samples.sample import Origin, Status
from opik_checkembed.samples.store import SampleStore
from opik_checkembed.samples.task_sampler import TaskSampler, current_item
from opik_checkembed.testing import FakeOpenAI, FakeOpik


class Agent:
    """A task that counts its runs and remembers what it was given."""

    def __init__(self) -> None:
        self.given: list[dict[str, Any]] = []
        self._numbers = itertools.count()

    def __call__(self, item: dict[str, Any]) -> dict[str, str]:
        self.given.append(item)
        return {"output": f"A{next(self._numbers)}"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SampleStore]:
    with SampleStore(tmp_path / "store") as store:
        yield store


def test_the_task_is_run_once_for_each_sample() -> None:
    agent = Agent()
    found = TaskSampler(agent).draw({"input": "Which?", "output": "judged", "task_span": object()}, 3)

    assert sorted(found.texts) == ["A0", "A1", "A2"]
    assert {sample.origin for sample in found.samples} == {Origin.ASKED}
    assert {sample.created is not None for sample in found.samples} == {True}
    assert agent.given == [{"input": "Which?"}] * 3


def test_without_a_version_samples_are_kept_for_this_process_and_this_task() -> None:
    agent, other = Agent(), Agent()
    item = {"input": "Which?"}

    first = TaskSampler(agent).draw(item, 3)
    again = TaskSampler(agent).draw({**item, "id": "another row"}, 3)
    elsewhere = TaskSampler(other).draw(item, 3)

    assert [sample.text for sample in again.samples] == [sample.text for sample in first.samples]
    assert {sample.origin for sample in again.samples} == {Origin.STORE}
    assert {sample.origin for sample in elsewhere.samples} == {Origin.ASKED}
    assert len(agent.given) == len(other.given) == 3


def test_a_version_keeps_samples_in_the_store_until_it_changes(store: SampleStore) -> None:
    agent = Agent()
    item = {"input": "Which?"}

    TaskSampler(agent, version="1", name="agent", store=store).draw(item, 3)
    # Another object of the same class, as in another process.
    kept = TaskSampler(Agent(), version="1", name="agent", store=store).draw(item, 3)
    changed = TaskSampler(agent, version="2", name="agent", store=store).draw(item, 3)
    other = TaskSampler(agent, version="1", name="another", store=store).draw(item, 3)

    assert {sample.origin for sample in kept.samples} == {Origin.STORE}
    assert {sample.origin for sample in changed.samples} == {Origin.ASKED}
    assert {sample.origin for sample in other.samples} == {Origin.ASKED}
    assert len(store.entries()) == 3


def test_without_a_version_nothing_reaches_the_disk(store: SampleStore) -> None:
    TaskSampler(Agent(), store=store).draw({"input": "Which?"}, 2)

    assert store.entries() == []


def test_a_task_that_cannot_be_hashed_is_a_task_of_its_own() -> None:
    class Odd(Agent):
        __hash__ = None  # type: ignore[assignment]

    agent = Odd()
    sampler = TaskSampler(agent)

    assert len(sampler.draw({"input": "q"}, 2).usable) == 2
    assert {sample.origin for sample in sampler.draw({"input": "q"}, 2).samples} == {Origin.STORE}


def test_a_task_may_change_what_it_is_given() -> None:
    def spoil(item: dict[str, Any]) -> str:
        seen.append(len(item["list"]))
        item["list"].append(1)
        return f"A{len(seen)}"

    seen: list[int] = []
    item: dict[str, Any] = {"list": []}

    assert len(TaskSampler(spoil, max_concurrency=1).draw(item, 3).usable) == 3
    assert seen == [0, 0, 0]
    assert item == {"list": []}


@pytest.mark.parametrize(
    ("returned", "status"),
    [
        ("A", Status.OK),
        ({"output": "A", "model": "m"}, Status.OK),
        ({"answer": "A"}, Status.OK),
        ([{"type": "text", "text": "A"}], Status.OK),
        ("I'm sorry, but I can't assist with that.", Status.REFUSED),
    ],
)
def test_what_a_task_may_return(returned: Any, status: Status) -> None:
    found = TaskSampler(lambda _: returned).draw({"input": "q"}, 2)

    assert [sample.status for sample in found.samples] == [status] * 2


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (None, "`output` is None"),
        ("", "`output` is empty"),
        ({"text": "A"}, "there is no `output`"),
        (3, "`output` is a int"),
    ],
)
def test_a_task_without_an_answer_is_a_named_failure(returned: Any, reason: str) -> None:
    found = TaskSampler(lambda _: returned).draw({"input": "q"}, 2)

    assert found.samples == ()
    assert len(found.failures) == 2
    assert "the task returned no answer" in found.failures[0]
    assert reason in found.failures[0]


@pytest.mark.parametrize("error", [ValueError("odd"), SystemExit(1), asyncio.CancelledError(), KeyboardInterrupt()])
def test_a_task_that_raises_is_a_named_failure_and_harms_no_thread(error: BaseException) -> None:
    def raising(_: Any) -> str:
        raise error

    found = TaskSampler(raising, max_concurrency=2).draw({"input": "q"}, 3)

    assert found.failures == (f"the task raised {error!r}",) * 3
    assert len(TaskSampler(Agent(), max_concurrency=2).draw({"input": "q"}, 3).usable) == 3


def test_one_failed_run_does_not_lose_the_others() -> None:
    numbers = itertools.count()

    def flaky(_: Any) -> str:
        number = next(numbers)
        if number == 1:
            raise ConnectionError("gone")
        return f"A{number}"

    found = TaskSampler(flaky, max_concurrency=1).draw({"input": "q"}, 3)

    assert found.texts == ["A0", "A2"]
    assert found.failures == ("the task raised ConnectionError('gone')",)


def test_a_budget_limits_the_runs() -> None:
    agent = Agent()
    found = TaskSampler(agent, budget=Budget(max_calls=2)).draw({"input": "q"}, 5)

    assert len(found.usable) == len(agent.given) == 2
    assert found.failures == ("the budget of 2 calls is used up",) * 3


def test_runs_are_bounded_and_concurrent() -> None:
    together = threading.Barrier(3, timeout=20)

    def meeting(_: Any) -> str:
        together.wait()
        return "A"

    assert len(TaskSampler(meeting, max_concurrency=3).draw({"input": "q"}, 3).usable) == 3


def test_an_item_without_a_json_form_is_said() -> None:
    with pytest.raises(RequestError, match="the dataset item cannot be written as JSON"):
        TaskSampler(Agent()).draw({"input": object()}, 2)


def test_the_item_of_a_local_run_is_taken_whole() -> None:
    agent = Agent()
    token = current_item.set({"input": "q", "output": "the set's own"})
    try:
        TaskSampler(agent).draw({"input": "q", "output": "judged"}, 2)
    finally:
        current_item.reset(token)

    assert agent.given == [{"input": "q", "output": "the set's own"}] * 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"task": "main"}, "task must be the function given to evaluate, not str"),
        ({"version": ""}, "version must be a text"),
        ({"version": 2}, "version must be a text"),
        ({"budget": Budget(max_cost_usd=1.0)}, r"use Budget\(max_calls=...\)"),
        ({"max_concurrency": 0}, "max_concurrency must be"),
        ({"version": "1", "name": "agent", "store": 3}, "store must be"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], says: str) -> None:
    given: dict[str, Any] = {"task": Agent(), **arguments}
    with pytest.raises(ConfigurationError, match=says):
        TaskSampler(**given)


def test_a_partial_is_a_task(store: SampleStore) -> None:
    def task(prefix: str, item: Mapping[str, Any]) -> str:
        return f"{prefix} {item['input']}"

    found = TaskSampler(partial(task, "A"), version="1", name="A", store=store).draw({"input": "q"}, 2)

    assert found.texts == ["A q", "A q"]


# --------------------------------------------------------------------------------------------- inside Opik


class Drawing(BaseMetric):
    """Draws two samples and scores how many are usable."""

    def __init__(self, sampler: TaskSampler) -> None:
        super().__init__("drawing")
        self.sampler = sampler

    def score(self, **fields: Any) -> ScoreResult:
        found = self.sampler.draw(fields, 2)
        return ScoreResult(name=self.name, value=float(len(found.usable)), reason="; ".join(found.texts))


def test_inside_evaluate_the_task_gets_the_dataset_item_and_its_spans_nest() -> None:
    given: list[dict[str, Any]] = []

    def tool(text: str) -> str:
        with opik.start_as_current_span("tool"):
            return text.upper()

    def task(item: dict[str, Any]) -> dict[str, str]:
        given.append(item)
        return {"output": tool(item["input"]), "extra": "the task's"}

    with FakeOpik() as server:
        with server.in_this_process() as client:
            dataset = client.get_or_create_dataset("rows")
            dataset.insert([{"input": f"row {number}", "output": "of the set"} for number in range(3)])
            opik.evaluate(dataset=dataset, task=task, scoring_metrics=[Drawing(TaskSampler(task))], verbose=0)

        # The task itself and two samples, for each of three rows.
        assert len(given) == 9
        assert {frozenset(item) - {"id"} for item in given} == {frozenset({"input", "output"})}
        assert {item["output"] for item in given} == {"of the set"}
        assert [score.value for score in server.scores_by_name("drawing")] == [2.0] * 3
        assert {str(score.reason) for score in server.scores} == {f"ROW {n}; ROW {n}" for n in range(3)}
        metrics = {span.id for span in server.spans if span.name == "drawing"}
        tools = [span for span in server.spans if span.name == "tool"]
        assert len(tools) == 9
        assert sum(span.parent_span_id in metrics for span in tools) == 6
        assert server.unknown == []


def test_in_a_trace_of_the_callers_own_the_fields_are_the_item() -> None:
    agent = Agent()
    trace = opik.start_as_current_trace("mine", input={"question": "another"})
    with FakeOpik() as server, server.in_this_process(), trace:
        TaskSampler(agent).draw({"input": "Which?", "output": "judged"}, 2)

    assert agent.given == [{"input": "Which?"}] * 2


def test_a_task_may_itself_wait_for_provider_calls(tmp_path: Path) -> None:
    # With one thread for both, the run would hold the thread that its own call needs.
    with FakeOpenAI(["Paris.", "Lyon."]) as server:
        inner = LiteLLMSampler("openai/fake", store=None, max_concurrency=1, api_base=server.base_url, api_key="none")

        def task(item: dict[str, Any]) -> str:
            return inner.draw({"input": f"Inside {item['input']}"}, 1).texts[0]

        found = TaskSampler(task, max_concurrency=1).draw({"input": "a task?"}, 2)
    assert len(found.samples) == 2


def test_a_task_that_samples_itself_is_a_named_failure() -> None:
    def task(item: dict[str, Any]) -> str:
        return nested.draw(item, 2).texts[0]

    nested = TaskSampler(task, max_concurrency=1)
    found = nested.draw({"input": "Again?"}, 2)
    assert found.samples == ()
    assert "cannot be sampled by TaskSampler" in found.failures[0]


@pytest.mark.parametrize("task", [lambda item: "x", partial(print, "x"), "".upper])
def test_a_task_without_a_name_of_its_own_needs_one_to_have_a_version(task: Any) -> None:
    with pytest.raises(ConfigurationError, match="give the task a name= too"):
        TaskSampler(task, version="v1")


def test_scripts_with_a_task_of_the_same_name_do_not_answer_for_each_other(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from opik_checkembed import TaskSampler\n"
        "def task(item):\n    return sys.argv[0]\n"
        "print(TaskSampler(task, version='v1', store=sys.argv[1]).draw({'input': 'x'}, 2).texts[0])\n"
    )
    printed = []
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text(script)
        command = [sys.executable, str(tmp_path / name), str(tmp_path / "store")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        printed.append(done.stdout.strip())
    assert printed == [str(tmp_path / "one.py"), str(tmp_path / "two.py")]
