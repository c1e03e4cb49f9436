"""A stand-in for the Opik server, for tests that run the real Opik SDK with nothing mocked in front of it.

`FakeOpik` listens on 127.0.0.1, answers what `opik.evaluate`, `evaluate_prompt`, `evaluate_experiment` and
`evaluate_on_dict_items` ask of a server, and keeps everything that was sent as typed, frozen records.
Whatever it does not know is answered 404 and kept in `FakeOpik.unknown`, so that a test can assert that there
was nothing of the kind.

Point this process at it with `FakeOpik.in_this_process`, or another one with `FakeOpik.environment`:

    with FakeOpik() as server:
        with server.in_this_process() as client:
            dataset = client.get_or_create_dataset("questions")
            dataset.insert([{"input": "Who was first on the Moon?"}])
            opik.evaluate(dataset, task, scoring_metrics=[CheckEmbedMetric()])
        print(server.tree()[0])
        assert server.scores_by_name("checkembed_metric")[0].value > 0.9
        assert not server.unknown
"""

from __future__ import annotations

import contextvars
import gzip
import json
import os
import sys
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from socket import SHUT_RD, socket
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import parse_qsl, urlsplit

if TYPE_CHECKING:
    import opik

_API = "/api/v1/private/"
_FILES = "attachment/upload"
_VERSION = "2.2.122"
_PAGE = 500

_R = TypeVar("_R", "RecordedTrace", "RecordedSpan")


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One HTTP request, decompressed and parsed.

    Attributes:
        method: `GET`, `POST`, ...
        path: Without the leading `/api/v1/private/` that most have in common, and without the query.
        query: The query's parameters.
        body: Parsed JSON, raw bytes for a file, None when there was none.
    """

    method: str
    path: str
    query: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class RecordedTrace:
    """A trace as the server knows it once its start and end are put together.

    Attributes:
        data: Everything that was sent, under the wire's own names.
    """

    id: str
    name: str | None
    start_time: datetime
    end_time: datetime | None
    input: Any
    output: Any
    metadata: Any
    tags: tuple[str, ...]
    project_name: str
    error_info: Mapping[str, Any] | None
    data: Mapping[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return f"{self.name} (trace)"


@dataclass(frozen=True, slots=True)
class RecordedSpan:
    """A span as the server knows it once its start and end are put together.

    Attributes:
        parent_span_id: None when the span hangs under the trace itself.
        type: `general`, `tool`, `llm` or `guardrail`.
        usage: Token counts.
        total_cost: In US dollars, as the SDK sent it (`total_estimated_cost` on the wire). A real server
            fills a missing one from its own price list, this one does not.
        data: Everything that was sent, under the wire's own names.
    """

    id: str
    trace_id: str
    parent_span_id: str | None
    name: str | None
    type: str
    start_time: datetime
    end_time: datetime | None
    input: Any
    output: Any
    metadata: Any
    tags: tuple[str, ...]
    project_name: str
    error_info: Mapping[str, Any] | None
    model: str | None
    provider: str | None
    usage: Mapping[str, int]
    total_cost: float | None
    data: Mapping[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return f"{self.name}" if self.type == "general" else f"{self.name} ({self.type})"


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A trace or span with what hangs under it; as text, an indented outline."""

    record: RecordedTrace | RecordedSpan
    children: tuple[TreeNode, ...]

    def __str__(self) -> str:
        below = [f"  {line}" for child in self.children for line in str(child).splitlines()]
        return "\n".join([str(self.record), *below])


@dataclass(frozen=True, slots=True)
class RecordedScore:
    """A feedback score as it was sent.

    Attributes:
        trace_id: The trace it is about, or that of its span; None while the span has not come.
        span_id: None for a trace's score.
    """

    name: str
    value: float
    reason: str | None
    trace_id: str | None
    span_id: str | None
    category: str | None


@dataclass(frozen=True, slots=True)
class RecordedAttachment:
    """A file that was uploaded.

    Attributes:
        entity_type: `span` or `trace`.
        entity_id: Of the span or trace it is attached to.
        data: Its bytes; None while the upload was announced but not carried out.
    """

    file_name: str
    content_type: str | None
    entity_type: str
    entity_id: str
    data: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class RecordedDataset:
    """A dataset, its items as a task receives them: the data with its `id`."""

    id: str
    name: str
    items: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class RecordedExperimentItem:
    """One trial of an experiment."""

    id: str
    dataset_item_id: str
    trace_id: str


@dataclass(frozen=True, slots=True)
class RecordedExperiment:
    """An experiment.

    Attributes:
        finished: Whether the SDK said that the run is over.
        scores: Experiment-level scores by name.
    """

    id: str
    name: str
    dataset_name: str
    metadata: Any
    items: tuple[RecordedExperimentItem, ...]
    finished: bool
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    body: bytes = b""


class _State:
    """What a server knows, and how it answers. No sockets here.

    The lock is taken by `answer` and by every reader.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.requests: list[RecordedRequest] = []
        self.unknown: list[RecordedRequest] = []
        self.projects: dict[str, str] = {}
        self.datasets: dict[str, dict[str, Any]] = {}
        self.items: dict[str, dict[str, dict[str, Any]]] = {}
        self.experiments: dict[str, dict[str, Any]] = {}
        self.experiment_items: dict[str, dict[str, Any]] = {}
        self.finished: set[str] = set()
        self.traces: dict[str, dict[str, Any]] = {}
        self.spans: dict[str, dict[str, Any]] = {}
        self.scores: list[tuple[str, dict[str, Any]]] = []
        self.attachments: dict[str, dict[str, Any]] = {}
        self.files: dict[str, bytes] = {}

    def answer(self, request: RecordedRequest, url: str) -> _Reply:
        with self.lock:
            self.requests.append(request)
            try:
                return self._answer(request, url)
            except KeyError as missing:
                return _json(400, {"errors": [f"missing field {missing}"]})

    def _answer(self, request: RecordedRequest, url: str) -> _Reply:
        body = request.body if isinstance(request.body, dict) else {}
        match (request.method, *request.path.split("/")):
            case ("GET", "is-alive", ("ping" | "ver")):
                return _json(200, {"healthy": True, "version": _VERSION})
            case ("GET", "auth", "workspace"):
                return _json(200, {"workspace_name": "default"})
            case ("POST", "projects", "retrieve"):
                return _json(200, {"id": self._project_id(body["name"]), "name": body["name"]})
            case ("GET", "projects", project_id):
                names = [name for name, id_ in self.projects.items() if id_ == project_id]
                return _found({"id": project_id, "name": names[0]} if names else None)

            case ("POST", "datasets"):
                return self._create_dataset(body)
            case ("POST", "datasets", "retrieve"):
                return _found(self._dataset_named(body["dataset_name"]))
            case ("PUT", "datasets", "items"):
                return self._put_items(body)
            case ("POST", "datasets", "items", "stream"):
                return self._stream_items(body)
            case ("GET", "datasets", dataset_id):
                return _found(self.datasets.get(dataset_id) and self._dataset(dataset_id))
            case ("GET", "datasets", _, "versions"):
                return _json(200, {"content": [], "page": 1, "size": 0, "total": 0})
            case ("GET", "datasets", dataset_id, "items"):
                return _page(list(self.items.get(dataset_id, {}).values()), request.query)
            case ("GET", "datasets", dataset_id, "items", "experiments", "items"):
                wanted = json.loads(request.query["experiment_ids"])
                return _page(self._compared(dataset_id, wanted), request.query)

            case ("POST", "experiments"):
                return self._create_experiment(body)
            case ("POST", "experiments", "stream"):
                return self._stream_experiments(body)
            case ("POST", "experiments", "items"):
                self.experiment_items.update({item["id"]: item for item in body["experiment_items"]})
                return _Reply(204)
            case ("POST", "experiments", "finish"):
                self.finished.update(body["ids"])
                return _Reply(204)
            case ("GET", "experiments", experiment_id):
                return _found(self.experiments.get(experiment_id))
            case ("PATCH", "experiments", experiment_id) if experiment_id in self.experiments:
                self.experiments[experiment_id] |= body
                return _Reply(204)

            case ("POST", ("traces" | "spans") as kind):
                self._create(kind, [body])
                return _Reply(201)
            case ("POST", ("traces" | "spans") as kind, "batch"):
                self._create(kind, body[kind])
                return _Reply(204)
            case ("PUT", ("traces" | "spans") as kind, "feedback-scores"):
                self.scores += [(kind, score) for score in body["scores"]]
                return _Reply(204)
            case ("GET", "traces", trace_id):
                return _found(self._with_project(self.traces.get(trace_id)))
            case ("GET", "spans", span_id):
                return _found(self._with_project(self.spans.get(span_id)))
            case ("PATCH", ("traces" | "spans") as kind, id_):
                self._merge(kind, {"id": id_, **body})
                return _Reply(204)

            case ("POST", "attachment", "upload-start"):
                upload = str(uuid.uuid4())
                self.attachments[upload] = body
                # This upload id is the backend's way to say: put it here, there is no object store.
                target = f"{url}v1/private/{_FILES}?id={upload}"
                return _json(200, {"upload_id": "BEMinIO", "pre_sign_urls": [target]})
            case ("PUT", "attachment", "upload") if request.query["id"] in self.attachments:
                self.files[request.query["id"]] = request.body
                return _Reply(204)

            case _:
                self.unknown.append(request)
                return _json(404, {"errors": [f"FakeOpik does not know {request.method} {request.path}"]})

    def _project_id(self, name: str) -> str:
        return self.projects.setdefault(name, str(uuid.uuid4()))

    def _with_project(self, entity: dict[str, Any] | None) -> dict[str, Any] | None:
        return entity and {**entity, "project_id": self._project_id(_project_name(entity))}

    def _dataset(self, dataset_id: str) -> dict[str, Any]:
        return {**self.datasets[dataset_id], "dataset_items_count": len(self.items[dataset_id])}

    def _dataset_named(self, name: str) -> dict[str, Any] | None:
        return next((self._dataset(id_) for id_, d in self.datasets.items() if d["name"] == name), None)

    def _create_dataset(self, body: dict[str, Any]) -> _Reply:
        if self._dataset_named(body["name"]) is not None:
            return _json(409, {"errors": ["Dataset already exists"]})
        dataset_id = body.get("id") or str(uuid.uuid4())
        self.datasets[dataset_id] = {
            "id": dataset_id,
            "name": body["name"],
            "description": body.get("description"),
            "project_id": self._project_id(_project_name(body)),
        }
        self.items[dataset_id] = {}
        return _Reply(201)

    def _put_items(self, body: dict[str, Any]) -> _Reply:
        dataset = self._dataset_named(body["dataset_name"])
        if dataset is None:
            return _found(None)
        self.items[dataset["id"]].update({item["id"]: item for item in body["items"]})
        return _Reply(204)

    def _stream_items(self, body: dict[str, Any]) -> _Reply:
        dataset = self._dataset_named(body["dataset_name"])
        if dataset is None:
            return _found(None)
        # The misspelling is the real server's.
        return _stream(self.items[dataset["id"]], body.get("last_retrieved_id"), body.get("steam_limit"))

    def _compared(self, dataset_id: str, experiment_ids: list[str]) -> list[dict[str, Any]]:
        rows = []
        for item in self.items.get(dataset_id, {}).values():
            trials = [
                self._trial(trial)
                for trial in self.experiment_items.values()
                if trial["experiment_id"] in experiment_ids and trial["dataset_item_id"] == item["id"]
            ]
            if trials:
                rows.append({**item, "experiment_items": trials})
        return rows

    def _trial(self, trial: dict[str, Any]) -> dict[str, Any]:
        trace = self.traces.get(trial["trace_id"], {})
        return {
            **trial,
            "input": trace.get("input"),
            "output": trace.get("output"),
            "feedback_scores": [score for _, score in self.scores if score["id"] == trial["trace_id"]],
        }

    def _create_experiment(self, body: dict[str, Any]) -> _Reply:
        dataset = self._dataset_named(body["dataset_name"])
        if dataset is None:
            return _found(None)
        experiment_id = body.get("id") or str(uuid.uuid4())
        name = body.get("name") or f"experiment-{len(self.experiments) + 1}"
        self.experiments[experiment_id] = {
            **body,
            "id": experiment_id,
            "name": name,
            "dataset_id": dataset["id"],
        }
        return _Reply(201)

    def _stream_experiments(self, body: dict[str, Any]) -> _Reply:
        named = {
            id_: experiment
            for id_, experiment in reversed(self.experiments.items())
            if body["name"].lower() in experiment["name"].lower()
            and body.get("project_name") in (None, _project_name(experiment))
        }
        return _stream(named, body.get("last_retrieved_id"), body.get("limit"))

    def _create(self, kind: str, sent: Iterable[dict[str, Any]]) -> None:
        for entity in sent:
            for needed in ("start_time", "trace_id") if kind == "spans" else ("start_time",):
                entity[needed]
            self._merge(kind, entity)

    def _merge(self, kind: str, entity: dict[str, Any]) -> None:
        """A slow span comes twice, its start and its end, in any order: the later wins, gaps are filled."""
        store = self.traces if kind == "traces" else self.spans
        known = store.get(entity["id"], {})
        new = {key: value for key, value in entity.items() if value is not None}
        late = _stamp(known) > _stamp(new)
        store[entity["id"]] = {**new, **known} if late else {**known, **new}


def _json(status: int, value: Any) -> _Reply:
    return _Reply(status, json.dumps(value).encode())


def _found(value: dict[str, Any] | None) -> _Reply:
    return _json(404, {"errors": ["not found"]}) if value is None else _json(200, value)


def _page(rows: list[dict[str, Any]], query: Mapping[str, str]) -> _Reply:
    number, size = int(query.get("page", 1)), int(query.get("size", _PAGE))
    content = rows[(number - 1) * size : number * size]
    return _json(200, {"content": content, "page": number, "size": len(content), "total": len(rows)})


def _stream(rows: Mapping[str, dict[str, Any]], after: str | None, limit: int | None) -> _Reply:
    """Newline-delimited JSON of the rows that follow the one named by `after`."""
    ids = list(rows)
    start = 0 if after is None or after not in rows else ids.index(after) + 1
    page = ids[start : start + (limit or _PAGE)]
    return _Reply(200, b"".join(json.dumps(rows[id_]).encode() + b"\n" for id_ in page))


def _project_name(entity: Mapping[str, Any]) -> str:
    return entity.get("project_name") or "Default Project"


def _stamp(entity: Mapping[str, Any]) -> datetime:
    """When it was sent: an absent entity counts as the oldest, a change without a stamp as the newest."""
    if not entity:
        return datetime.min.replace(tzinfo=UTC)
    sent = entity.get("last_updated_at")
    return datetime.max.replace(tzinfo=UTC) if sent is None else datetime.fromisoformat(sent)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body leave in one packet: written apart, the second waits for the client's delayed ACK.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing on stderr: requests are records."""

    def _answer(self) -> None:
        url = urlsplit(self.path)
        path = url.path.removeprefix(_API).removeprefix("/api/")
        try:
            raw = self._read_body()
            if self.headers.get("Content-Encoding") == "gzip":
                raw = gzip.decompress(raw)
            # A file stays as it is, even where it looks like JSON.
            body = raw if path == _FILES else json.loads(raw or b"null")
        except (OSError, EOFError, ValueError) as error:
            # Where the next request would begin is unknown now.
            self.close_connection = True
            reply = _json(400, {"errors": [f"unreadable body: {error}"]})
        else:
            request = RecordedRequest(self.command, path, dict(parse_qsl(url.query)), body)
            reply = self.server.state.answer(request, self.server.url)
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        if self.close_connection:
            self.send_header("Connection", "close")
        if reply.status != 204:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def _read_body(self) -> bytes:
        # Files come chunked, everything else with its length.
        if self.headers.get("Transfer-Encoding", "") == "chunked":
            return b"".join(_chunks(self.rfile))
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer  # noqa: N815 - http.server looks these names up


def _chunks(stream: BufferedIOBase) -> Iterator[bytes]:
    while size := int(stream.readline(), 16):
        yield stream.read(size)
        stream.readline()
    stream.readline()


class _Server(ThreadingHTTPServer):
    # An unclosed fake must not keep the interpreter alive; `close` joins the threads itself.
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, state: _State) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.state = state
        self.url = f"http://127.0.0.1:{self.server_port}/api/"
        self._connections: dict[threading.Thread, socket] = {}
        self._connections_lock = threading.Lock()
        self._accepting = threading.Thread(target=self.serve_forever, args=(0.02,), name="FakeOpik", daemon=True)
        self._accepting.start()

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(
            target=self.process_request_thread,
            args=(request, client_address),
            name="FakeOpik connection",
            daemon=True,
        )
        with self._connections_lock:
            self._connections = {t: s for t, s in self._connections.items() if t.is_alive()}
            self._connections[thread] = request
            thread.start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        # Tests kill their clients; a fault of this server stays loud on stderr.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def close(self) -> None:
        self.shutdown()
        self._accepting.join()
        # Clients keep idle connections open: end what they may still send, let answers under way go out.
        for connection in self._connections.values():
            with suppress(OSError):
                connection.shutdown(SHUT_RD)
        for thread in self._connections:
            thread.join()
        self.server_close()


class FakeOpik:
    """An Opik server for tests: serves the real SDK on 127.0.0.1 and records what it sends.

    Everything is in memory and safe to read while a run is in progress. The SDK sends from threads of its
    own: read the records after `evaluate` (which flushes), `client.flush()` or leaving `in_this_process`.

    Example:
        >>> with FakeOpik() as server, server.in_this_process() as client:
        ...     dataset = client.get_or_create_dataset("questions")
        ...     dataset.insert([{"input": "Who was first on the Moon?"}])
        >>> [item["input"] for item in server.datasets[0].items]
        ['Who was first on the Moon?']
    """

    def __init__(self) -> None:
        self._state = _State()
        self._server = _Server(self._state)
        self._closed = False

    @property
    def url(self) -> str:
        """The address to set as `OPIK_URL_OVERRIDE`."""
        return self._server.url

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening, end every connection and thread. The records stay readable; may be called twice."""
        if not self._closed:
            self._closed = True
            self._server.close()

    def environment(self) -> dict[str, str]:
        """The variables that make a process log here and nowhere else; set them before it imports opik."""
        return {
            "OPIK_URL_OVERRIDE": self.url,
            "OPIK_WORKSPACE": "default",
            "OPIK_TRACK_DISABLE": "false",
            "OPIK_ANALYTICS_ENABLE": "false",
            "OPIK_SENTRY_ENABLE": "false",
            "OPIK_CHECK_TLS_CERTIFICATE": "false",
        }

    @contextmanager
    def in_this_process(self) -> Iterator[opik.Opik]:
        """Make this server the one that Opik logs to in all threads of this process, and undo it at the end.

        Tracing is switched on, the environment is set for clients that the code under test builds itself
        (which it must `end()` itself), and the client given here is Opik's global client. At the end it is
        flushed and ended, and the client, the tracing switch and the environment are as they were before.

        Opik starts its usage analytics and error reports when it is imported: a test suite switches them off
        before that, with `OPIK_ANALYTICS_ENABLE` and `OPIK_SENTRY_ENABLE`.

        Yields:
            The client.
        """
        import opik
        from opik.api_objects import opik_client

        tracing = opik.is_tracing_active()
        current = opik_client.get_current_client_raw()
        everywhere = contextvars.Context().run(opik_client.get_current_client_raw)
        with self._environment_set():
            client = opik.Opik(host=self.url, workspace="default")
            # A client that is set for this context alone would hide the global one.
            opik_client.reset_global_client(end_client=False)
            opik.set_global_client(client)
            opik.set_tracing_active(True)
            try:
                yield client
            finally:
                client.end()
                opik_client.reset_global_client(end_client=False)
                if everywhere is not None:
                    opik.set_global_client(everywhere)
                if current is not None and current is not everywhere:
                    opik.set_global_client(current, context_wise=True)
                opik.set_tracing_active(tracing)

    @contextmanager
    def _environment_set(self) -> Iterator[None]:
        before = {name: os.environ.get(name) for name in self.environment()}
        os.environ.update(self.environment())
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value

    @property
    def requests(self) -> list[RecordedRequest]:
        """Every request, in the order in which they were answered."""
        with self._state.lock:
            return list(self._state.requests)

    @property
    def unknown(self) -> list[RecordedRequest]:
        """The requests that this stand-in has no answer for; it said 404."""
        with self._state.lock:
            return list(self._state.unknown)

    @property
    def traces(self) -> list[RecordedTrace]:
        """The traces by their start."""
        with self._state.lock:
            return _by_start(RecordedTrace(**_common(data), data=data) for data in _created(self._state.traces))

    @property
    def spans(self) -> list[RecordedSpan]:
        """The spans by their start."""
        with self._state.lock:
            return _by_start(
                RecordedSpan(
                    **_common(data),
                    trace_id=data["trace_id"],
                    parent_span_id=data.get("parent_span_id"),
                    type=data.get("type", "general"),
                    model=data.get("model"),
                    provider=data.get("provider"),
                    usage=data.get("usage", {}),
                    total_cost=data.get("total_estimated_cost"),
                    data=data,
                )
                for data in _created(self._state.spans)
            )

    def spans_of(self, trace_id: str) -> list[RecordedSpan]:
        """All spans of a trace, at any depth."""
        return [span for span in self.spans if span.trace_id == trace_id]

    def children(self, span_id: str) -> list[RecordedSpan]:
        """The spans that hang directly under a span."""
        return [span for span in self.spans if span.parent_span_id == span_id]

    def ancestors(self, span_id: str) -> list[RecordedSpan]:
        """The spans above a span, its parent first, as far as they are known."""
        by_id = {span.id: span for span in self.spans}
        above = []
        at: str | None = by_id[span_id].parent_span_id
        while at in by_id:
            above.append(by_id[at])
            at = by_id[at].parent_span_id
        return above

    def tree(self, trace_id: str | None = None) -> list[TreeNode]:
        """The traces with their spans nested, as data; `print(server.tree()[0])` to look at one.

        A span whose trace or parent never came stands at the top, where it is seen.

        Args:
            trace_id: Only this trace and its spans.
        """
        roots: list[RecordedTrace | RecordedSpan] = [t for t in self.traces if trace_id in (None, t.id)]
        spans = [span for span in self.spans if trace_id in (None, span.trace_id)]
        known = {record.id for record in (*roots, *spans)}
        below: dict[str, list[RecordedSpan]] = {}
        for span in spans:
            above = span.parent_span_id or span.trace_id
            if above in known:
                below.setdefault(above, []).append(span)
            else:
                roots.append(span)

        def node(record: RecordedTrace | RecordedSpan) -> TreeNode:
            return TreeNode(record, tuple(node(span) for span in below.get(record.id, ())))

        return [node(record) for record in roots]

    def total_cost(self) -> float:
        """What all spans say they cost, in US dollars; spans without a cost count nothing."""
        return sum(span.total_cost for span in self.spans if span.total_cost is not None)

    @property
    def scores(self) -> list[RecordedScore]:
        """The feedback scores as they were sent; one that was sent again stands twice."""
        with self._state.lock:
            trace_of = {id_: span.get("trace_id") for id_, span in self._state.spans.items()}
            return [
                RecordedScore(
                    name=sent["name"],
                    value=sent["value"],
                    reason=sent.get("reason"),
                    trace_id=sent["id"] if kind == "traces" else trace_of.get(sent["id"]),
                    span_id=sent["id"] if kind == "spans" else None,
                    category=sent.get("category_name"),
                )
                for kind, sent in self._state.scores
            ]

    def scores_by_name(self, name: str) -> list[RecordedScore]:
        """The feedback scores of one name."""
        return [score for score in self.scores if score.name == name]

    @property
    def attachments(self) -> list[RecordedAttachment]:
        """The uploaded files, in the order in which they were announced."""
        with self._state.lock:
            return [
                RecordedAttachment(
                    file_name=sent["file_name"],
                    content_type=sent.get("mime_type"),
                    entity_type=sent["entity_type"],
                    entity_id=sent["entity_id"],
                    data=self._state.files.get(upload),
                )
                for upload, sent in self._state.attachments.items()
            ]

    @property
    def datasets(self) -> list[RecordedDataset]:
        """The datasets with their items."""
        with self._state.lock:
            return [
                RecordedDataset(
                    id=id_,
                    name=dataset["name"],
                    items=tuple({"id": item["id"], **item["data"]} for item in self._state.items[id_].values()),
                )
                for id_, dataset in self._state.datasets.items()
            ]

    @property
    def experiments(self) -> list[RecordedExperiment]:
        """The experiments with their trials."""
        with self._state.lock:
            return [
                RecordedExperiment(
                    id=id_,
                    name=data["name"],
                    dataset_name=data["dataset_name"],
                    metadata=data.get("metadata"),
                    items=tuple(
                        RecordedExperimentItem(item["id"], item["dataset_item_id"], item["trace_id"])
                        for item in self._state.experiment_items.values()
                        if item["experiment_id"] == id_
                    ),
                    finished=id_ in self._state.finished,
                    scores={score["name"]: score["value"] for score in data.get("experiment_scores") or ()},
                )
                for id_, data in self._state.experiments.items()
            ]


def _created(store: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Without those of which only a change has come so far."""
    return [data for data in store.values() if "start_time" in data]


def _common(data: Mapping[str, Any]) -> dict[str, Any]:
    """What traces and spans have in common."""
    return {
        "id": data["id"],
        "name": data.get("name"),
        "start_time": datetime.fromisoformat(data["start_time"]),
        "end_time": datetime.fromisoformat(data["end_time"]) if "end_time" in data else None,
        "input": data.get("input"),
        "output": data.get("output"),
        "metadata": data.get("metadata"),
        "tags": tuple(data.get("tags", ())),
        "project_name": _project_name(data),
        "error_info": data.get("error_info"),
    }


def _by_start(records: Iterable[_R]) -> list[_R]:
    return sorted(records, key=lambda record: (record.start_time, record.id))
