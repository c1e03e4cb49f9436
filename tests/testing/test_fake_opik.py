"""The real Opik SDK in front of FakeOpik; what the SDK does not send comes over a plain HTTP connection."""

from __future__ import annotations

import gzip
import json
import os
import socket
import struct
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection, RemoteDisconnected
from types import SimpleNamespace
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

import opik
import pytest
from opik import opik_context
from opik.api_objects import opik_client
from opik.evaluation.metrics import BaseMetric
from opik.evaluation.metrics.score_result import ScoreResult
from opik.evaluation.models import OpikBaseModel

from opik_checkembed.testing.fake_opik import FakeOpik, RecordedRequest, RecordedSpan, RecordedTrace

T = TypeVar("T")


@pytest.fixture
def server() -> Iterator[FakeOpik]:
    with FakeOpik() as server:
        yield server
    assert server.unknown == []


@pytest.fixture
def client(server: FakeOpik) -> Iterator[opik.Opik]:
    with server.in_this_process() as client:
        yield client


class Length(BaseMetric):
    """Scores the length of the output, and attaches it as a file of the same name on every span."""

    def score(self, output: str, **ignored: Any) -> ScoreResult:
        attachment = opik.Attachment(data=output.encode(), file_name="output.txt", content_type="text/plain")
        opik_context.update_current_span(attachments=[attachment])
        return ScoreResult(name=self.name, value=float(len(output)), reason=f"{output} read")


class SpanName(BaseMetric):
    """A second-pass metric: reads the span of the task."""

    def score(self, output: str, task_span: Any = None, **ignored: Any) -> ScoreResult:
        return ScoreResult(name=self.name, value=1.0, reason=task_span.name)


def shout(item: Mapping[str, Any]) -> dict[str, str]:
    return {"output": item["input"].upper()}


def questions(client: opik.Opik) -> Any:
    dataset = client.get_or_create_dataset("questions")
    dataset.insert([{"input": "a"}, {"input": "bb"}, {"input": "ccc"}])
    return dataset


class Wire:
    """Speaks HTTP as the SDK does, one connection kept open."""

    def __init__(self, server: FakeOpik) -> None:
        self.connection = HTTPConnection(urlsplit(server.url).netloc, timeout=10)

    def __call__(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        raw = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        self.connection.request(method, f"/api/v1/private/{path}", raw, dict(headers or {}))
        reply = self.connection.getresponse()
        answer = reply.read()
        return reply.status, [json.loads(line) for line in answer.splitlines()]


@pytest.fixture
def wire(server: FakeOpik) -> Iterator[Wire]:
    wire = Wire(server)
    yield wire
    wire.connection.close()


def span(id_: str, **fields: Any) -> dict[str, Any]:
    return {"id": id_, "trace_id": "t", "start_time": "2026-01-01T00:00:00Z", **fields}


def test_evaluate_arrives_whole(server: FakeOpik, client: opik.Opik) -> None:
    result = opik.evaluate(
        dataset=questions(client),
        task=shout,
        scoring_metrics=[Length("length"), SpanName("span_name")],
        experiment_name="shouting",
        experiment_scoring_functions=[lambda results: ScoreResult(name="trials", value=float(len(results)))],
        task_threads=16,
        trial_count=2,
        verbose=0,
    )

    # Three items, each tried twice, each read by both metrics.
    assert len(result.test_results) == len(server.traces) == 6
    assert Counter(score.value for score in server.scores_by_name("length")) == {1.0: 2, 2.0: 2, 3.0: 2}
    assert [score.reason for score in server.scores_by_name("span_name")] == ["shout"] * 6
    assert {score.trace_id for score in server.scores} == {trace.id for trace in server.traces}
    assert {score.span_id for score in server.scores} == {None}
    for tree in server.tree():
        assert str(tree) == (
            "evaluation_task (trace)\n"
            "  shout\n"
            "  metrics_calculation\n"
            "    length_arg_validation\n"
            "    length\n"
            "  task_span_metrics_calculation\n"
            "    span_name_arg_validation\n"
            "    span_name"
        )
    for attached in server.attachments:
        (owner,) = [span for span in server.spans if span.id == attached.entity_id]
        (trace,) = [trace for trace in server.traces if trace.id == owner.trace_id]
        assert (owner.name, attached.entity_type, attached.content_type) == ("length", "span", "text/plain")
        assert attached.data == trace.input["input"].upper().encode()
    assert len(server.attachments) == 6

    (dataset,) = server.datasets
    assert (dataset.name, [item["input"] for item in dataset.items]) == ("questions", ["a", "bb", "ccc"])
    (experiment,) = server.experiments
    assert (experiment.name, experiment.dataset_name, experiment.finished) == ("shouting", "questions", True)
    assert experiment.scores == {"trials": 6.0}
    assert Counter(item.dataset_item_id for item in experiment.items) == {item["id"]: 2 for item in dataset.items}
    assert {item.trace_id for item in experiment.items} == {trace.id for trace in server.traces}


def test_an_experiment_is_scored_again(server: FakeOpik, client: opik.Opik) -> None:
    dataset = questions(client)
    opik.evaluate(dataset=dataset, task=shout, scoring_metrics=[], experiment_name="first", nb_samples=2, verbose=0)
    runs = {trace.id: trace.output["output"] for trace in server.traces}
    assert server.scores == []

    result = opik.evaluate_experiment("first", [Length("length")], verbose=0)

    scored = [test.test_case.dataset_item_content["input"] for test in result.test_results]
    assert sorted(scored) == ["a", "bb"]
    # The scores belong to the traces of the first run, not to those of the scoring.
    assert {score.trace_id: score.reason for score in server.scores_by_name("length")} == {
        id_: f"{output} read" for id_, output in runs.items()
    }
    items = client.get_experiment_by_id(server.experiments[0].id).get_items()
    assert [item.feedback_scores[0]["value"] for item in items] == [1.0, 2.0]


def test_an_unnamed_experiment_gets_a_name(server: FakeOpik, client: opik.Opik) -> None:
    dataset = questions(client)
    first = opik.evaluate(dataset=dataset, task=shout, scoring_metrics=[], verbose=0)
    second = opik.evaluate(dataset=dataset, task=shout, scoring_metrics=[], verbose=0)

    assert [first.experiment_name, second.experiment_name] == [run.name for run in server.experiments]
    assert first.experiment_name != second.experiment_name


class Parrot(OpikBaseModel):
    """A model that repeats the last message."""

    def generate_string(self, *args: Any, **kwargs: Any) -> str:
        raise NotImplementedError

    def generate_provider_response(self, messages: list[dict[str, Any]], **kwargs: Any) -> Any:
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(**messages[-1]))])


def test_evaluate_prompt_arrives(server: FakeOpik, client: opik.Opik) -> None:
    opik.evaluate_prompt(
        questions(client),
        messages=[{"role": "user", "content": "Say {{input}}!"}],
        model=Parrot("parrot"),
        scoring_metrics=[Length("length")],
        verbose=0,
    )

    reasons = sorted(str(score.reason) for score in server.scores_by_name("length"))
    assert reasons == ["Say a! read", "Say bb! read", "Say ccc! read"]
    assert server.experiments[0].metadata["model"] == "parrot"


def test_dict_items_arrive_when_the_client_ends(server: FakeOpik) -> None:
    with server.in_this_process():
        opik.evaluate_on_dict_items([{"input": "a"}, {"input": "bb"}], shout, [Length("length")])

    assert Counter(score.value for score in server.scores_by_name("length")) == {1.0: 1, 2.0: 1}
    assert sorted(trace.input["input"] for trace in server.traces) == ["a", "bb"]
    assert {attached.data for attached in server.attachments} == {b"A", b"BB"}


def test_spans_keep_times_parents_and_costs(server: FakeOpik) -> None:
    start = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    end = start + timedelta(seconds=1.5)
    with server.in_this_process() as client, opik.start_as_current_span("outer"):
        for _ in range(2):
            with opik.start_as_current_span("inner") as above:
                client.span(
                    trace_id=above.trace_id,
                    parent_span_id=above.id,
                    name="call",
                    type="llm",
                    start_time=start,
                    end_time=end,
                    model="gpt-4o-mini",
                    provider="openai",
                    usage={"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
                    total_cost=0.25,
                    tags=["bought"],
                )

    assert server.total_cost() == 0.5
    (trace,) = server.traces
    spans = {span.name: span for span in server.spans_of(trace.id)}
    assert len(server.spans_of(trace.id)) == 5
    call = spans["call"]
    assert (call.start_time, call.end_time) == (start, end)
    assert (call.type, call.model, call.provider, call.total_cost) == ("llm", "gpt-4o-mini", "openai", 0.25)
    assert (call.usage["prompt_tokens"], call.usage["completion_tokens"]) == (10, 5)
    assert (call.tags, call.project_name, call.error_info) == (("bought",), "Default Project", None)
    assert [span.name for span in server.ancestors(call.id)] == ["inner", "outer"]
    assert [span.name for span in server.children(spans["outer"].id)] == ["inner", "inner"]
    assert spans["outer"].parent_span_id is None
    (tree,) = server.tree(trace.id)
    assert isinstance(tree.record, RecordedTrace)
    assert isinstance(tree.children[0].record, RecordedSpan)
    assert str(tree) == ("outer (trace)\n  outer\n    inner\n      call (llm)\n    inner\n      call (llm)")


def test_a_client_without_batching_is_served_too(server: FakeOpik) -> None:
    with server.in_this_process():
        client = opik.Opik(batching=False)
        trace = client.trace(name="outer", input={"q": 1})
        inner = trace.span(name="inner")
        inner.end(output={"a": 2})
        trace.end(output={"a": 3})
        client.log_spans_feedback_scores([{"id": inner.id, "name": "of span", "value": 0.5}])
        client.log_traces_feedback_scores([{"id": trace.id, "name": "of trace", "value": 1}])
        client.end()

    (recorded,) = server.traces
    assert (recorded.input, recorded.output) == ({"q": 1}, {"a": 3})
    assert recorded.end_time is not None
    assert server.spans[0].output == {"a": 2}
    assert sorted((s.name, s.trace_id, s.span_id) for s in server.scores) == [
        ("of span", trace.id, inner.id),
        ("of trace", trace.id, None),
    ]


def test_what_was_sent_can_be_read_through_the_sdk(server: FakeOpik, client: opik.Opik) -> None:
    trace = client.trace(name="outer", project_name="mine", end_time=datetime.now(UTC))
    inner = trace.span(name="inner", end_time=datetime.now(UTC))
    questions(client)
    assert client.flush()

    assert client.get_project(client.get_trace_content(trace.id).project_id or "").name == "mine"
    assert client.get_span_content(inner.id).name == "inner"
    dataset = client.get_dataset("questions")
    assert (dataset.dataset_items_count, dataset.project_name) == (3, "Default Project")
    assert [item["input"] for item in dataset.get_items()] == ["a", "bb", "ccc"]


@pytest.mark.parametrize("late_start", [False, True])
def test_start_and_end_of_a_span_are_put_together_in_any_order(server: FakeOpik, wire: Wire, late_start: bool) -> None:
    start = span("s", type="general", name="old", input={"q": 1}, last_updated_at="2026-01-01T00:00:01Z")
    end = span("s", type="llm", name="new", output=None, last_updated_at="2026-01-01T01:00:02+01:00")

    for sent in (end, start) if late_start else (start, end):
        assert wire("POST", "spans/batch", {"spans": [sent]}) == (204, [])
    assert wire("PATCH", "spans/s", {"output": {"a": 2}}) == (204, [])

    (recorded,) = server.spans
    assert (recorded.type, recorded.name, recorded.input, recorded.output) == (
        "llm",
        "new",
        {"q": 1},
        {"a": 2},
    )


def test_spans_that_hang_nowhere_stand_at_the_top(server: FakeOpik, wire: Wire) -> None:
    wire("POST", "traces", {"id": "t", "name": "trace", "start_time": "2026-01-01T00:00:00Z"})
    wire("POST", "spans", span("child", name="child"))
    wire("POST", "spans", span("orphan", name="orphan", parent_span_id="never came"))
    wire("POST", "spans", span("stray", name="stray", trace_id="never came"))

    assert [str(node) for node in server.tree()] == ["trace (trace)\n  child", "orphan", "stray"]
    assert [str(node) for node in server.tree("t")] == ["trace (trace)\n  child", "orphan"]
    assert server.ancestors("orphan") == []


def test_a_score_on_a_span_that_never_came_has_no_trace(server: FakeOpik, wire: Wire) -> None:
    wire("PUT", "spans/feedback-scores", {"scores": [{"id": "gone", "name": "n", "value": 1, "reason": "r"}]})

    (score,) = server.scores
    assert (score.trace_id, score.span_id, score.reason) == (None, "gone", "r")


def test_dataset_items_are_streamed_in_pages(server: FakeOpik, wire: Wire) -> None:
    wire("POST", "datasets", {"name": "d"})
    items = [{"id": str(number), "data": {"n": number}} for number in range(5)]
    packed = gzip.compress(json.dumps({"dataset_name": "d", "items": items}).encode())
    assert wire("PUT", "datasets/items", packed, {"Content-Encoding": "gzip"})[0] == 204

    seen: list[str] = []
    while True:
        ask = {"dataset_name": "d", "steam_limit": 2, "last_retrieved_id": seen[-1] if seen else None}
        page = [item["id"] for item in wire("POST", "datasets/items/stream", ask)[1]]
        if not page:
            break
        assert len(page) <= 2
        seen += page
    assert seen == ["0", "1", "2", "3", "4"]

    _, (second,) = wire("GET", f"datasets/{server.datasets[0].id}/items?page=2&size=2")
    assert ([item["id"] for item in second["content"]], second["total"]) == (["2", "3"], 5)


def test_experiments_are_found_by_part_of_their_name_and_project(server: FakeOpik, wire: Wire) -> None:
    wire("POST", "datasets", {"name": "d"})
    for name, project in (("Alpha one", "p"), ("alpha two", "p"), ("beta", "p"), ("alpha three", "q")):
        wire("POST", "experiments", {"dataset_name": "d", "name": name, "project_name": project})

    def found(project: str | None) -> list[str]:
        _, rows = wire("POST", "experiments/stream", {"name": "ALPHA", "project_name": project})
        return [row["name"] for row in rows]

    assert found("p") == ["alpha two", "Alpha one"]
    assert found(None) == ["alpha three", "alpha two", "Alpha one"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "projects/none", None),
        ("GET", "datasets/none", None),
        ("POST", "datasets/retrieve", {"dataset_name": "none"}),
        ("PUT", "datasets/items", {"dataset_name": "none", "items": []}),
        ("POST", "datasets/items/stream", {"dataset_name": "none"}),
        ("POST", "experiments", {"dataset_name": "none"}),
        ("GET", "experiments/none", None),
        ("GET", "traces/none", None),
    ],
)
def test_what_does_not_exist_is_not_found(server: FakeOpik, wire: Wire, method: str, path: str, body: Any) -> None:
    assert wire(method, path, body) == (404, [{"errors": ["not found"]}])
    assert server.unknown == []


def test_a_dataset_is_not_made_twice(wire: Wire) -> None:
    assert wire("POST", "datasets", {"name": "d"})[0] == 201
    assert wire("POST", "datasets", {"name": "d"}) == (409, [{"errors": ["Dataset already exists"]}])


def test_bad_requests_are_told_so(server: FakeOpik, wire: Wire) -> None:
    assert wire("POST", "datasets", {}) == (400, [{"errors": ["missing field 'name'"]}])
    assert wire("POST", "datasets", []) == (400, [{"errors": ["missing field 'name'"]}])
    assert wire("POST", "spans", {"id": "s", "start_time": "2026-01-01T00:00:00Z"})[0] == 400
    assert wire("POST", "traces/batch", {"traces": [{"id": "t"}]})[0] == 400
    assert wire("POST", "datasets", b"{")[0] == 400
    assert wire("POST", "datasets", b"not packed", {"Content-Encoding": "gzip"})[0] == 400
    assert wire("POST", "datasets", gzip.compress(b"{}")[:-4], {"Content-Encoding": "gzip"})[0] == 400
    assert wire("PUT", "attachment/upload?id=x", b"no size\r\n", {"Transfer-Encoding": "chunked"})[0] == 400
    assert (server.datasets, server.spans, server.traces) == ([], [], [])


def test_a_change_is_kept_until_its_span_comes(server: FakeOpik, wire: Wire) -> None:
    wire("PATCH", "spans/s", {"output": {"a": 1}, "trace_id": "t"})
    assert server.spans == []
    wire("POST", "spans", span("s", name="n", last_updated_at="2026-01-01T00:00:00Z"))

    (recorded,) = server.spans
    assert (recorded.name, recorded.output) == ("n", {"a": 1})


HALF_A_REQUEST = b"POST /api/v1/private/datasets HTTP/1.1\r\nContent-Length: 100\r\n\r\n{"


def threads_of_fakes() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("FakeOpik")]


def test_a_client_that_dies_is_no_news(capfd: pytest.CaptureFixture[str]) -> None:
    with FakeOpik() as server:
        wire = Wire(server)
        wire("GET", "auth/workspace")
        (serving,) = [thread for thread in threads_of_fakes() if "connection" in thread.name]
        wire.connection.sock.sendall(HALF_A_REQUEST)
        # Closed with a reset instead of a goodbye, as by a kill.
        wire.connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        wire.connection.close()
        serving.join(10)
        assert not serving.is_alive()

    assert capfd.readouterr().err == ""


def test_a_fault_of_the_server_itself_is_loud(capfd: pytest.CaptureFixture[str]) -> None:
    with FakeOpik() as server:
        wire = Wire(server)
        with pytest.raises(RemoteDisconnected):
            wire("POST", "experiments/items", {"experiment_items": ["not an item"]})
        wire.connection.close()

    assert "TypeError" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("method", "path", "query", "body"),
    [
        ("DELETE", "datasets/d", {}, None),
        ("GET", "prompts", {"page": "1"}, None),
        ("POST", "prompts/versions/retrieve", {}, {"name": "p"}),
        ("PATCH", "experiments/none", {}, {"name": "e"}),
        ("PUT", "attachment/upload", {"id": "none"}, b"{}"),
    ],
)
def test_unknown_requests_are_404_and_kept(method: str, path: str, query: dict[str, str], body: Any) -> None:
    with FakeOpik() as server:
        wire = Wire(server)
        assert wire(method, f"{path}?{urlencode(query)}", body)[0] == 404
        wire.connection.close()

        (request,) = server.unknown
        assert request == RecordedRequest(method, path, query, body)
        assert server.requests == [request]


def test_attachments_of_one_name_are_kept_apart(server: FakeOpik, wire: Wire) -> None:
    def announce(owner: str) -> str:
        sent = {"file_name": "a.bin", "entity_type": "span", "entity_id": owner}
        _, (told,) = wire("POST", "attachment/upload-start", sent)
        return str(told["pre_sign_urls"][0]).partition("/v1/private/")[2]

    first, second, empty, _ = (announce(owner) for owner in "abcd")
    chunked = b"3\r\n{no\r\n5\r\n json\r\n0\r\n\r\n"
    wire("PUT", first, b"\x89PNG")
    wire("PUT", second, chunked, {"Transfer-Encoding": "chunked"})
    wire("PUT", empty, b"")

    assert [(a.entity_id, a.data) for a in server.attachments] == [
        ("a", b"\x89PNG"),
        ("b", b"{no json"),
        ("c", b""),
        ("d", None),
    ]


def test_in_this_process_puts_everything_back(server: FakeOpik, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPIK_WORKSPACE", raising=False)
    monkeypatch.setenv("OPIK_URL_OVERRIDE", "http://127.0.0.1:9/elsewhere")
    before = dict(os.environ)
    assert not opik.is_tracing_active()
    assert opik_client.get_current_client_raw() is None

    def run_and_fail() -> None:
        with server.in_this_process() as client:
            assert opik.is_tracing_active()
            assert opik.get_global_client() is client
            assert in_thread(opik.get_global_client) is client
            assert server.environment().items() <= os.environ.items()
            own = opik.Opik()
            assert own.config.url_override == server.url
            own.end()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_and_fail()

    assert not opik.is_tracing_active()
    assert opik_client.get_current_client_raw() is None
    assert dict(os.environ) == before


def test_in_this_process_puts_the_clients_of_before_back(server: FakeOpik) -> None:
    with FakeOpik() as other, other.in_this_process() as everywhere:
        here = opik.Opik(project_name="here")
        opik.set_global_client(here, context_wise=True)
        with server.in_this_process() as client:
            assert opik.get_global_client() is client
            assert in_thread(opik.get_global_client) is client
            with opik.start_as_current_span("inner"):
                pass

        assert opik.is_tracing_active()
        assert opik.get_global_client() is here
        assert in_thread(opik.get_global_client) is everywhere
        with opik.start_as_current_span("outer"):
            pass
        here.end()

        assert [trace.name for trace in server.traces] == ["inner"]
        assert [(trace.name, trace.project_name) for trace in other.traces] == [("outer", "here")]


def test_another_process_logs_here_through_the_environment(server: FakeOpik) -> None:
    # Opik imports bert_score where it is installed, and that all of torch.
    program = """
import sys
sys.modules["bert_score"] = None
import opik
@opik.track
def answer():
    return 42
answer()
"""
    subprocess.run([sys.executable, "-c", program], env={**os.environ, **server.environment()}, check=True, timeout=120)

    assert [(trace.name, trace.output) for trace in server.traces] == [("answer", {"output": 42})]


def test_close_ends_threads_and_connections_and_keeps_the_records() -> None:
    server = FakeOpik()
    idle, half = Wire(server), socket.create_connection(("127.0.0.1", urlsplit(server.url).port or 0))
    idle("GET", "auth/workspace")
    half.sendall(HALF_A_REQUEST)
    assert len(threads_of_fakes()) >= 2

    server.close()
    server.close()

    assert threads_of_fakes() == []
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", urlsplit(server.url).port or 0))
    assert server.requests[0].path == "auth/workspace"
    idle.connection.close()
    half.close()


def in_thread(function: Callable[[], T]) -> T:
    """What a function returns in a thread that shares no context with this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()
