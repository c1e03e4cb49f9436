"""Metrics run as they are: Opik's own, ours, and ones that fail in every way a metric can."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import opik
import pytest
from numpy.typing import NDArray
from opik.api_objects import opik_client
from opik.evaluation.metrics import BaseMetric, Contains, Equals
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed import CheckEmbedMetric, LocalResults, TaskSampler, evaluate_locally
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.local import tracing_off
from opik_checkembed.testing import FakeOpik

MOON = {"input": "Who was first on the Moon?", "output": "Armstrong", "samples": ["Armstrong", "Gagarin"]}


class Words:
    """An embedder that knows which words mean the same: equal texts have one direction, others are unrelated."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        known = ["Armstrong", "Gagarin", "Aldrin", "Collins"]
        return np.eye(len(known), dtype=np.float32)[[known.index(text) for text in texts]]


class Scripted(BaseMetric):
    """Returns, or raises, what a function makes of the output."""

    def __init__(
        self, make: Callable[[Any], Any], name: str = "scripted", higher_is_better: bool | None = None
    ) -> None:
        super().__init__(name=name)
        self.make = make
        if higher_is_better is not None:
            self.higher_is_better = higher_is_better

    def score(self, output: Any, **ignored: Any) -> Any:
        return self.make(output)


class Strict(BaseMetric):
    """Takes one argument, and nothing else."""

    def score(self, reference: str) -> ScoreResult:
        return ScoreResult(name=self.name, value=float(len(reference)))


def valued(value: Any, **more: Any) -> Callable[[Any], Any]:
    return lambda _: ScoreResult(name="scripted", value=value, **more)


def run(items: Any, *metrics: BaseMetric, **options: Any) -> LocalResults:
    return evaluate_locally(items, scoring_metrics=metrics, progress=False, **options)


@pytest.fixture
def tracing() -> Iterator[None]:
    """Opik records, as far as it knows; nothing here lets it build a client."""
    opik.set_tracing_active(True)
    yield
    assert opik_client.get_current_client_raw() is None
    opik.set_tracing_active(False)


def test_our_metric_and_opiks_own_score_one_item_side_by_side() -> None:
    results = run([{**MOON, "reference": "Armstrong"}], CheckEmbedMetric(embedder=Words()), Equals(), Contains())

    item = results.items[0]
    # Three answers, of which one pair is alike and two are unrelated: sqrt((4 + 1 + 1) / 3 / 4).
    assert item.score("checkembed_metric").value == pytest.approx(0.5**0.5)  # type: ignore[union-attr]
    assert [(s.name, s.value) for s in item.scores[1:]] == [
        ("checkembed_metric_reference", 1.0),
        ("equals_metric", 1.0),
        ("contains_metric", 1.0),
    ]
    assert [s.samples for s in item.scores] == [0, 0, None, None]
    assert [s["text"] for s in item.samples[0]["samples"]] == ["Armstrong", "Gagarin"]
    assert item.scores[0].evidence["labels"] == ["output", "sample 1", "sample 2", "reference"]
    assert results.directions == {
        "checkembed_metric": True,
        "checkembed_metric_reference": True,
        "equals_metric": None,
        "contains_metric": None,
    }
    assert (results.cost_usd, results.calls) == (0.0, 0)


def test_results_stand_in_input_order_however_the_items_finish() -> None:
    done = [threading.Event() for _ in range(17)]
    done[16].set()
    finished = []

    def last_first(item: dict[str, Any]) -> str:
        number = item["number"]
        assert done[number + 1].wait(30)
        finished.append(number)
        done[number].set()
        return f"answer {number}"

    results = run([{"number": n} for n in range(16)], Scripted(valued(1.0)), task=last_first)

    assert finished == list(reversed(range(16)))
    assert [item.output for item in results.items] == [{"output": f"answer {n}"} for n in range(16)]
    assert [item.id for item in results.items] == [str(n) for n in range(16)]


def test_no_more_than_task_threads_items_are_worked_on_at_once() -> None:
    busy, most, lock = 0, 0, threading.Lock()
    three = threading.Barrier(3, timeout=30)

    def task(item: dict[str, Any]) -> str:
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        three.wait()
        with lock:
            busy -= 1
        return "done"

    results = run([{}] * 9, Scripted(valued(1.0)), task=task, task_threads=3)

    assert most == 3
    assert [item.error for item in results.items] == [None] * 9


def test_trials_of_an_item_stand_together_under_one_id() -> None:
    seen: list[dict[str, Any]] = []

    def task(item: dict[str, Any]) -> dict[str, Any]:
        seen.append(item)
        item["scratch"] = "the task's own"
        return {"output": item["input"]}

    items: list[dict[str, Any]] = [{"id": 7, "input": "a"}, {"id": None, "input": "b"}, {"input": "c"}]
    results = run(items, Scripted(valued(1.0)), task=task, trial_count=2)

    assert [(item.id, item.output["output"]) for item in results.items] == [
        *[("7", "a")] * 2,
        *[("1", "b")] * 2,
        *[("2", "c")] * 2,
    ]
    assert len({id(item) for item in seen}) == 6
    assert all("scratch" not in item for item in items)
    assert results.summary()["scripted"].scored == 6


def test_a_task_that_raises_fails_its_item_alone(caplog: pytest.LogCaptureFixture) -> None:
    def task(item: dict[str, Any]) -> str:
        return str(1 / item["divisor"])

    items = [{"divisor": 1}, {"divisor": 0}, {"divisor": 0}, {"divisor": 2}]
    results = run(items, Scripted(lambda o: ScoreResult("scripted", float(o))), Equals(), task=task)

    reason = "the task raised ZeroDivisionError('division by zero')"
    assert [item.error for item in results.items] == [None, reason, reason, None]
    assert [(s.name, s.value, s.reason) for s in results.items[1].scores] == [
        ("scripted", None, reason),
        ("equals_metric", None, reason),
    ]
    assert results.items[1].output == {}
    summary = results.summary()["scripted"]
    assert (summary.mean, summary.scored, summary.failed) == (0.75, 2, 2)
    assert len([r for r in caplog.records if "the task failed" in r.message]) == 1


def test_what_a_task_returns_is_merged_over_the_item_as_opik_does() -> None:
    items = [{"output": "of the item", "reference": "right"}]

    assert run(items, Equals(), task=lambda _: {"output": "right"}).summary()["equals_metric"].mean == 1.0
    assert run(items, Equals(), task=lambda _: "right").items[0].output == {"output": "right"}
    assert run(items, Equals(), task=lambda _: None).items[0].output == {"output": None}
    assert run(items, Equals()).items[0].output == {}


def test_a_metric_may_return_several_scores_or_none() -> None:
    both = Scripted(lambda _: [ScoreResult("first", 0.2), ScoreResult("second", 0.4)], higher_is_better=False)
    results = run([{"output": "x"}], both, Scripted(lambda _: [], name="silent"))

    assert {name: s.mean for name, s in results.summary().items()} == {"first": 0.2, "second": 0.4}
    assert results.directions == {"first": False, "second": False}


def test_each_score_points_the_way_of_the_metric_that_returned_it() -> None:
    low = Scripted(lambda _: [ScoreResult("risk", 0.2), ScoreResult("risk_of_doubt", 0.2)], "risk", False)
    high = Scripted(lambda _: ScoreResult("risk_free", 0.9), "risk_free", True)

    assert run([{"output": "x"}], low, high).directions == {"risk": False, "risk_of_doubt": False, "risk_free": True}


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda _: dict[str, Any]()["lost"], "KeyError: 'lost'"),
        (lambda _: 1 / 0, "ZeroDivisionError: division by zero"),
        (valued(float("nan"), reason="no overlap"), "the metric returned nan, which is no score. no overlap"),
        (valued(float("-inf")), "the metric returned -inf, which is no score."),
        (valued(10**400), f"the metric returned {10**400!r}, which is no score."),
        (valued(None), "the metric returned None, which is no score."),
        (valued("0.5"), "the metric returned '0.5', which is no score."),
        (valued(0.0, scoring_failed=True, reason="cannot read it"), "cannot read it"),
        (lambda _: None, "TypeError: score returned None, not a ScoreResult"),
        (lambda _: 0.5, "TypeError: score returned 0.5, not a ScoreResult"),
        (lambda _: [ScoreResult("scripted", 1.0), "x"], "TypeError: score returned 'x', not a ScoreResult"),
    ],
)
def test_a_metric_that_fails_fails_its_score_alone(make: Callable[[Any], Any], reason: str) -> None:
    results = run([{"output": "x", "reference": "x"}], Scripted(make), Equals())

    failed, other = results.items[0].scores
    assert (failed.name, failed.value, failed.reason) == ("scripted", None, reason)
    assert other.value == 1.0
    assert results.items[0].error is None


def test_a_failure_on_every_item_is_said_once_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    results = run([{"output": "x"}] * 20, Scripted(lambda _: 1 / 0))

    assert [r.getMessage() for r in caplog.records if r.name == "opik_checkembed.local"] == [
        "scripted failed: ZeroDivisionError('division by zero') (said once for this kind of failure)"
    ]
    assert results.summary()["scripted"].failed == 20
    assert results.summary()["scripted"].mean is None


@pytest.mark.parametrize("value", [np.float32(0.5), np.float64(0.5), 0.5])
def test_numbers_of_numpy_are_scores_too(value: Any) -> None:
    score = run([{"output": "x"}], Scripted(valued(value))).items[0].scores[0]

    assert (score.value, type(score.value)) == (0.5, float)


@pytest.mark.parametrize(("value", "number"), [(True, 1.0), (np.bool_(False), 0.0), (np.int64(3), 3.0)])
def test_truth_values_count_as_one_and_zero(value: Any, number: float) -> None:
    assert run([{"output": "x"}], Scripted(valued(value))).items[0].scores[0].value == number


@pytest.mark.parametrize(
    "metadata",
    [
        {"samples": ["a", "b"]},
        {"samples": {"samples": 3}},
        {"evidence": "a quotation"},
        {"evidence": {"page": 3}, "model": "m"},
    ],
)
def test_what_other_metrics_keep_in_their_metadata_is_evidence(metadata: dict[str, Any]) -> None:
    results = run([{"output": "x"}], Scripted(valued(1.0, metadata=metadata)))

    assert results.items[0].scores[0].evidence == metadata
    assert results.items[0].samples == ()
    assert LocalResults.from_dict(results.to_dict()) == results


def test_a_missing_argument_is_named_with_the_fields_there_are() -> None:
    results = run([{"output": "x", "expected": "y"}], Strict(), Scripted(valued(1.0)))

    assert results.items[0].scores[0].reason == (
        "TypeError: score needs reference; map it with scoring_key_mapping (fields: output, expected)"
    )
    assert results.items[0].scores[1].value == 1.0


def test_a_missing_argument_is_named_for_metrics_that_take_everything_else_too() -> None:
    reason = run([{"expected": "y", 3: "z"}], Scripted(valued(1.0))).items[0].scores[0].reason

    assert reason == "TypeError: score needs output; map it with scoring_key_mapping (fields: expected, 3)"


def test_arguments_are_mapped_by_name_and_by_function() -> None:
    item = {"answer": "Armstrong", "truth": {"text": "armstrong"}}
    mapping = {"output": "answer", "reference": lambda fields: fields["truth"]["text"], "copy": lambda f: f["output"]}

    seen = {}

    class Sees(BaseMetric):
        def score(self, **fields: Any) -> ScoreResult:
            seen.update(fields)
            return ScoreResult("sees", 1.0)

    results = run([item], Equals(), Strict(), Sees(), scoring_key_mapping=mapping)

    assert [s.value for s in results.items[0].scores] == [1.0, 9.0, 1.0]
    assert seen == {**item, "output": "Armstrong", "reference": "armstrong", "copy": "Armstrong"}
    assert results.items[0].item == item


def test_a_mapped_field_that_an_item_lacks_maps_nothing_there(caplog: pytest.LogCaptureFixture) -> None:
    items = [{**MOON, "truth": "Gagarin"}, MOON, MOON]
    metric = CheckEmbedMetric(embedder=Words())

    results = run(items, metric, Strict(), scoring_key_mapping={"reference": "truth"})

    assert [item.score("checkembed_metric_reference") is not None for item in results.items] == [True, False, False]
    assert results.summary()["checkembed_metric"].scored == 3
    assert results.summary()["Strict"].failed == 2
    assert len([r for r in caplog.records if "reads 'reference' from 'truth'" in r.message]) == 1


def test_a_mapping_function_that_raises_fails_the_item_with_its_own_name() -> None:
    items = [{"output": "x"}, {"output": "x", "truth": {"text": "x"}}]

    results = run(items, Equals(), scoring_key_mapping={"reference": lambda fields: fields["truth"]["text"]})

    assert [item.scores[0].value for item in results.items] == [None, 1.0]
    assert results.items[0].scores[0].reason == "scoring_key_mapping for 'reference' raised KeyError('truth')"
    assert results.items[0].output == {}


def test_metrics_that_share_samples_pay_for_them_once() -> None:
    runs: list[dict[str, Any]] = []

    def task(item: dict[str, Any]) -> dict[str, Any]:
        runs.append(item)
        return {"output": "Armstrong", "model": "m"}

    sampler = TaskSampler(task)
    metrics = [CheckEmbedMetric(name=name, embedder=Words(), sampler=sampler, num_samples=3) for name in ("a", "b")]

    results = run([{"input": "one"}, {"input": "two"}], *metrics, task=task)

    # One answer to judge and three samples, for each of two items; the samples come from the item as it was.
    assert len(runs) == 8
    assert all(item.keys() == {"input"} for item in runs)
    assert results.calls == 6
    for item in results.items:
        assert [s.samples for s in item.scores] == [0, 0]
        assert len(item.samples) == 1
        assert [s["origin"] for s in item.samples[0]["samples"]] == ["asked"] * 3
        assert item.samples[0]["calls"] == 3
        # What a run of a task costs is not known: never 0.
        assert item.cost_usd is None
    assert results.cost_usd is None


def test_several_scores_of_one_metric_pay_for_their_samples_once() -> None:
    sampler = TaskSampler(lambda _: "Armstrong")
    metrics = [CheckEmbedMetric(embedder=Words(), sampler=sampler, num_samples=3, samples_only=True)]

    results = run([{"input": "one", "output": "Armstrong", "reference": "Gagarin"}], *metrics)

    assert results.names == ["checkembed_metric", "checkembed_metric_reference", "checkembed_metric_samples_only"]
    assert results.calls == 3
    assert [score.samples for score in results.items[0].scores] == [0, 0, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scoring_metrics": []}, "give scoring_metrics"),
        ({"scoring_metrics": [len]}, "must hold Opik metrics, not <built-in function len>"),
        ({"scoring_metrics": [Equals(), Equals()]}, "several metrics are named equals_metric"),
        (
            {"scoring_metrics": [CheckEmbedMetric(embedder=Words(), request_from="trace")]},
            "checkembed_metric reads the task's trace",
        ),
        ({"task": "x"}, "task must be a function of an item, not str"),
        ({"task": asyncio.sleep}, "task is async"),
        ({"task_threads": 0}, "task_threads must be a whole number of at least 1, not 0"),
        ({"task_threads": True}, "task_threads must be"),
        ({"trial_count": 1.5}, "trial_count must be a whole number of at least 1, not 1.5"),
        ({"progress": None}, "progress must be True, False or a function"),
        ({"items": {"input": "x"}}, "items must be a list of dicts"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_runs(options: dict[str, Any], message: str) -> None:
    given = {"items": [{"output": "x"}], "scoring_metrics": [Equals()], "progress": False, **options}

    with pytest.raises(ConfigurationError, match=message):
        evaluate_locally(**given)
    assert not opik.is_tracing_active()


def test_no_items_are_no_results() -> None:
    results = run([], Equals())

    assert (results.items, results.summary(), results.cost_usd) == ((), {}, 0)


def test_progress_counts_the_finished_items() -> None:
    seen: list[tuple[int, int]] = []

    evaluate_locally([{"output": "x"}] * 3, None, [Equals()], progress=lambda done, of: seen.append((done, of)))

    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_an_interrupted_run_does_not_work_through_its_queue(tracing: None, monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled = threading.Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            cancelled.set()
            super().shutdown(wait=wait)

    monkeypatch.setattr("opik_checkembed.local.ThreadPoolExecutor", Pool)
    ran: list[int] = []

    def task(item: dict[str, Any]) -> str:
        ran.append(item["number"])
        assert item["number"] == 0 or cancelled.wait(30)
        return "done"

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    items = [{"number": number} for number in range(100)]
    with pytest.raises(KeyboardInterrupt):
        evaluate_locally(items, task, [Scripted(valued(1.0))], task_threads=1, progress=interrupt)

    assert set(ran) <= {0, 1}
    assert opik.is_tracing_active()


def test_tracing_is_off_while_it_runs_and_back_afterwards(tracing: None) -> None:
    @opik.track
    def task(item: dict[str, Any]) -> str:
        return str(opik.is_tracing_active())

    results = run([{}], Scripted(lambda output: ScoreResult("scripted", float(output == "False"))), task=task)

    assert results.items[0].scores[0].value == 1.0
    assert opik.is_tracing_active()


def test_tracing_that_was_off_stays_off() -> None:
    run([{"output": "x"}], Scripted(valued(1.0)))

    assert not opik.is_tracing_active()


def test_tracing_comes_back_when_the_last_of_two_overlapping_runs_ends(tracing: None) -> None:
    first_inside, second_inside, first_done = (threading.Event() for _ in range(3))
    seen: list[bool] = []

    def first(item: dict[str, Any]) -> str:
        first_inside.set()
        assert second_inside.wait(30)
        return "x"

    def second(item: dict[str, Any]) -> str:
        second_inside.set()
        assert first_done.wait(30)
        seen.append(opik.is_tracing_active())
        return "x"

    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(run, [{}], Scripted(valued(1.0)), task=first)
        assert first_inside.wait(30)
        two = pool.submit(run, [{}], Scripted(valued(1.0)), task=second)
        one.result(30)
        first_done.set()
        two.result(30)

    assert seen == [False]
    assert opik.is_tracing_active()


def test_tracing_comes_back_after_an_exception(tracing: None) -> None:
    seen: list[bool] = []

    def raises() -> None:
        with tracing_off():
            seen.append(opik.is_tracing_active())
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        raises()
    assert seen == [False]
    assert opik.is_tracing_active()


def test_inside_a_recorded_program_nothing_is_sent_and_recording_goes_on() -> None:
    with FakeOpik() as server:
        with server.in_this_process() as client:
            with opik.start_as_current_span("around"):
                results = run([MOON] * 3, CheckEmbedMetric(embedder=Words()), Scripted(valued(1.0)))
                client.flush()
                sent = {trace.name for trace in server.traces} | {span.name for span in server.spans}
            dataset = client.get_or_create_dataset("questions")
            dataset.insert([dict(MOON)])
            opik.evaluate(dataset, lambda item: {}, scoring_metrics=[CheckEmbedMetric(embedder=Words())], verbose=0)

        assert results.summary()["checkembed_metric"].scored == 3
        assert sent <= {"around"}
        assert sorted(str(trace.name) for trace in server.traces) == ["around", "evaluation_task"]
        assert [span.name for span in server.spans].count("checkembed_metric") == 1
        assert len(server.scores_by_name("checkembed_metric")) == 1
        assert server.unknown == []


# Runs in a process of its own, where nothing has set up Opik before. Opik imports bert_score where it is installed,
# and that all of torch.
PROGRAM = """
import json, sys, threading
sys.modules["bert_score"] = None
events = []
sys.addaudithook(lambda name, args: events.append(name) if name.startswith("socket.") else None)

import numpy as np
import opik
from opik.api_objects import opik_client
from opik.evaluation.metrics import Equals
from opik_checkembed import CheckEmbedMetric, evaluate_locally

class Tiny:
    def encode(self, texts):
        rows = np.array([[len(t), 1.0, t.count("a")] for t in texts], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

@opik.track
def task(item):
    opik.opik_context.update_current_span(name="inside", metadata={"of": "the task"})
    return {"output": item["input"].upper()}

imported = len(events)
metrics = [CheckEmbedMetric(embedder=Tiny()), Equals()]
items = [{"input": f"question {n}", "reference": "x", "samples": ["one", "two", "three"]} for n in range(20)]
results = evaluate_locally(items, task, metrics, progress=False)
found = {
    "sockets": events[imported:],
    "client": opik_client.get_current_client_raw() is not None,
    "threads": sorted(t.name for t in threading.enumerate() if t is not threading.main_thread()),
    "scored": results.summary()["checkembed_metric"].scored,
    "tracing": opik.is_tracing_active(),
}
if sys.argv[1:] == ["evaluate"]:
    dataset = opik.Opik().get_or_create_dataset("questions")
    dataset.insert(items[:2])
    opik.evaluate(dataset, task, scoring_metrics=metrics, verbose=0)
    found["connected"] = "socket.connect" in events
print(json.dumps(found))
"""


def in_a_process(environment: Mapping[str, str], *arguments: str) -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], env=environment, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def test_no_socket_is_opened_where_opik_is_not_set_up(tmp_path: Path) -> None:
    theirs = ("OPIK_URL_OVERRIDE", "OPIK_TRACK_DISABLE", "OPIK_WORKSPACE", "OPIK_API_KEY")
    environment = {name: value for name, value in os.environ.items() if name not in theirs}

    found = in_a_process({**environment, "OPIK_CONFIG_PATH": str(tmp_path / "none")})

    assert found == {"sockets": [], "client": False, "threads": [], "scored": 20, "tracing": True}


def test_no_socket_is_opened_where_opik_is_set_up_and_opik_works_afterwards() -> None:
    with FakeOpik() as server:
        found = in_a_process({**os.environ, **server.environment()}, "evaluate")

        assert (found.pop("sockets"), found.pop("client")) == ([], False)
        assert found == {"threads": [], "scored": 20, "tracing": True, "connected": True}
        assert [trace.name for trace in server.traces] == ["evaluation_task"] * 2
        assert {span.name for span in server.spans} >= {"inside", "checkembed_metric", "equals_metric"}
        assert len(server.scores_by_name("checkembed_metric")) == 2
        assert server.unknown == []
