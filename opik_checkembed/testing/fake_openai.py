"""An OpenAI-compatible server for tests: scripted answers, latencies and faults, and a count of every call.

It is a real HTTP server on 127.0.0.1, so that what is tested is the whole client (its retries, its timeouts,
its parsing), not a mock of it. It serves `POST /v1/chat/completions`, `POST /v1/embeddings` and
`GET /v1/models`. It does not stream: a request with `stream` is refused.

Every response closes its connection, so no client is left with a pooled socket of a server that is gone.

Example:
    Any client works. With litellm:

        with FakeOpenAI(answers=["Paris", "Lyon"], faults=[Fault.http(429, retry_after=0.1)]) as server:
            litellm.completion(
                model="openai/fake",
                api_base=server.base_url,
                api_key="none",
                messages=[{"role": "user", "content": "Capital of France?"}],
            )
            assert server.chat_requests == 2  # the 429, and the answer

    Answers, faults and latency can depend on what is asked:

        FakeOpenAI(
            answers=lambda call: "Yes" if "sky" in call.prompt else "No",
            faults=lambda call: Fault.reset() if call.model == "broken" else None,
            latency=lambda call: 0.5 if call.number == 0 else 0.0,
        )
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import math
import socket
import socketserver
import struct
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import Any, ClassVar, Literal, Self, TypeVar

from opik_checkembed.errors import ConfigurationError

__all__ = ["Answer", "ChatCall", "EmbeddingCall", "FakeOpenAI", "Fault", "RecordedCall", "hash_vector"]

_CHAT = "/v1/chat/completions"
_EMBEDDINGS = "/v1/embeddings"
_MODELS = "/v1/models"

# OpenAI's own limits, so that a client which oversteps them fails here as it would there.
_MAX_CHOICES = 128
_MAX_INPUTS = 2048
_MAX_TOP_LOGPROBS = 20
_MAX_DIMENSIONS = 4096

_JOIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    number: int
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def model(self) -> str:
        """The model asked for."""
        return str(self.body["model"])


_C = TypeVar("_C", bound=_Call)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatCall(_Call):
    """A chat request as a script sees it.

    Attributes:
        number: 0 for the first chat request that arrived, 1 for the next, faults and refusals included.
        body: The request's JSON, without its nulls.
        headers: The request's headers, names in lower case.
        choice: Which of the request's `n` choices is wanted; 0 for faults and latency.
    """

    choice: int = 0

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        """The messages of the request."""
        messages: Sequence[Mapping[str, Any]] = self.body["messages"]
        return messages

    @property
    def prompt(self) -> str:
        """The text of the last user message (text parts joined by newlines); empty if there is none."""
        for message in reversed(self.messages):
            if message.get("role") == "user":
                return _text_of(message.get("content"))
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingCall(_Call):
    """An embedding request as a script sees it.

    Attributes:
        number: 0 for the first embedding request that arrived, 1 for the next, faults included.
        body: The request's JSON, without its nulls.
        headers: The request's headers, names in lower case.
    """

    @property
    def texts(self) -> list[str]:
        """The texts to embed, in the order asked."""
        given = self.body["input"]
        return [given] if isinstance(given, str) else list(given)


@dataclass(frozen=True, slots=True)
class Answer:
    """One choice of a chat response.

    Attributes:
        text: The message's content; None for a null content.
        finish_reason: As the provider says it: `stop`, `length`, `content_filter`, `tool_calls`.
        refusal: The message's `refusal`.
        tool_calls: The message's `tool_calls`, in OpenAI's form.
        logprobs: For each token of the answer, tokens with their log-probabilities: first the token that
            was chosen, then its alternatives. Sent only to a request that has `logprobs`, the likeliest of
            them as its `top_logprobs`. None acts as a provider that has no logprobs.

    Example:
        >>> Answer("Once upon a", finish_reason="length").text
        'Once upon a'
        >>> Answer.tool_call("search", {"query": "Paris"}).finish_reason
        'tool_calls'
    """

    text: str | None = ""
    finish_reason: str = "stop"
    refusal: str | None = None
    tool_calls: Sequence[Mapping[str, Any]] | None = None
    logprobs: Sequence[Mapping[str, float]] | None = None

    def __post_init__(self) -> None:
        if self.logprobs is not None and not all(self.logprobs):
            raise ConfigurationError("logprobs: every token needs at least the chosen token's log-probability")

    @classmethod
    def refused(cls, refusal: str = "I'm sorry, I can't help with that.") -> Answer:
        """A refusal: null content, the text in `refusal`."""
        return cls(None, refusal=refusal)

    @classmethod
    def tool_call(cls, name: str, arguments: Mapping[str, Any]) -> Answer:
        """A call of one tool in place of a text."""
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": f"call_{name}", "type": "function", "function": function}
        return cls(None, finish_reason="tool_calls", tool_calls=(call,))

    @classmethod
    def filtered(cls, text: str | None = None) -> Answer:
        """An answer that the provider's content filter stopped."""
        return cls(text, finish_reason="content_filter")


@dataclass(frozen=True, slots=True)
class Fault:
    """What a request gets in place of an answer. Made by the constructors below.

    Attributes:
        kind: `http` (a response), `reset` (the connection is torn down) or `hang` (nothing, ever).
        status: The response's HTTP status.
        body: The response's body.
        headers: The response's further headers.
    """

    kind: Literal["http", "reset", "hang"] = "http"
    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def http(
        cls,
        status: int,
        message: str | None = None,
        *,
        param: str | None = None,
        retry_after: float | str | None = None,
        headers: Mapping[str, str] | None = None,
        body: str | None = None,
    ) -> Fault:
        """An HTTP error with OpenAI's error body.

        Args:
            status: The HTTP status, such as 400, 401, 403, 404, 429, 500 or 503.
            message: The error's message; by default the one OpenAI sends with the status.
            param: The error's `param`.
            retry_after: The `Retry-After` header: seconds, fractions allowed, or an HTTP date.
            headers: Further headers.
            body: A body to send as it is, in place of OpenAI's error body.
        """
        sent = dict(headers or {})
        if retry_after is not None:
            sent["Retry-After"] = str(retry_after)
        other = "server_error" if status >= 500 else "invalid_request_error"
        said, kind, code = _ERRORS.get(status, (HTTPStatus(status).phrase, other, None))
        error = _error(message or said, kind=kind, param=param, code=code)
        return cls(status=status, body=json.dumps(error) if body is None else body, headers=sent)

    @classmethod
    def reset(cls) -> Fault:
        """The connection is reset (TCP RST) once the request was read."""
        return cls(kind="reset")

    @classmethod
    def hang(cls) -> Fault:
        """No answer until the client gives up or the server closes: for tests of timeouts."""
        return cls(kind="hang")

    @classmethod
    def malformed(cls) -> Fault:
        """A 200 whose JSON is cut off in the middle."""
        return cls(body='{"id": "chatcmpl-fake", "choices": [{"index": 0, "message": {"role": "assist')

    @classmethod
    def empty_body(cls) -> Fault:
        """A 200 with no body."""
        return cls()

    @classmethod
    def no_choices(cls) -> Fault:
        """A 200 that is well formed but for its empty list of choices."""
        body = {
            "id": "chatcmpl-fake",
            "object": "chat.completion",
            "created": 0,
            "model": "fake",
            "choices": [],
        }
        return cls(body=json.dumps(body))


# In OpenAI's words, since clients go by them: to litellm a 401 is an authentication error only if it says so.
_ERRORS: Mapping[int, tuple[str, str, str | None]] = {
    401: ("Incorrect API key provided: none.", "invalid_request_error", "invalid_api_key"),
    403: (
        "Country, region, or territory not supported",
        "request_forbidden",
        "unsupported_country_region_territory",
    ),
    404: (
        "The model does not exist or you do not have access to it.",
        "invalid_request_error",
        "model_not_found",
    ),
    429: ("Rate limit reached. Please try again later.", "requests", "rate_limit_exceeded"),
    500: ("The server had an error while processing your request.", "server_error", None),
    503: ("The engine is currently overloaded, please try again later.", "server_error", None),
}


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A request that reached the server, of whatever path.

    Attributes:
        method: The HTTP method.
        path: The path, without a query.
        body: The request's JSON; None if it had none or it could not be read.
        headers: The request's headers, names in lower case.
        arrived: When it had been read, on the clock of `time.monotonic`.
        status: The HTTP status of the response; None while it is worked on and when it got none (reset, hang,
            the client left).
        choices: How many choices it was handed.
    """

    method: str
    path: str
    body: Any
    headers: Mapping[str, str]
    arrived: float
    status: int | None = None
    choices: int = 0


class FakeOpenAI:
    """A running OpenAI-compatible server; closed by `close()` or as a context manager.

    A malformed request is refused (400). A well-formed one meets its fault, if the script has one for it;
    else it is refused (400) for a parameter that the script rejects; else it is answered, after its latency.
    Only answered requests use up answers, in order of arrival. Tokens are counted as words (`str.split`).

    An exception in one of the script's callables drops that request's connection and is raised again when the
    `with` block ends.

    Attributes:
        base_url: What clients take as `base_url` or `api_base`: `http://127.0.0.1:PORT/v1`.

    Example:
        >>> import json, urllib.request
        >>> with FakeOpenAI(answers=["Paris", "Lyon"]) as server:
        ...     messages = [{"role": "user", "content": "Capital of France?"}]
        ...     body = {"model": "fake", "messages": messages, "n": 2}
        ...     request = urllib.request.Request(
        ...         f"{server.base_url}/chat/completions", json.dumps(body).encode(), method="POST"
        ...     )
        ...     with urllib.request.urlopen(request) as response:
        ...         completion = json.load(response)
        >>> [choice["message"]["content"] for choice in completion["choices"]]
        ['Paris', 'Lyon']
        >>> server.chat_requests, server.answered, server.choices
        (1, 1, 2)
    """

    def __init__(
        self,
        answers: str | Answer | Sequence[str | Answer] | Callable[[ChatCall], str | Answer] = "An answer.",
        *,
        faults: Iterable[Fault | None] | Callable[[ChatCall], Fault | None] = (),
        latency: float | Callable[[ChatCall], float] = 0.0,
        n: Literal["honour", "reject", "ignore"] = "honour",
        reject: Iterable[str] = (),
        usage: Callable[[ChatCall, Sequence[Answer]], tuple[int, int] | None] | None = None,
        embed: Callable[[str], Sequence[float]] | None = None,
        dimensions: int = 8,
        shuffle_embeddings: bool = False,
        embedding_faults: Iterable[Fault | None] | Callable[[EmbeddingCall], Fault | None] = (),
        embedding_latency: float | Callable[[EmbeddingCall], float] = 0.0,
        models: Sequence[str] = ("fake",),
        answers_as: str | None = None,
    ) -> None:
        """Start the server.

        Args:
            answers: One answer for every choice, a sequence that is gone through again and again, or a
                callable that is asked for each choice (from several threads at once).
            faults: What chat requests get in place of an answer: each taken once, in order of arrival, None
                for a request that is answered; when they are used up all are answered. Or a callable, which
                can look at the model, the prompt or the number.
            latency: Seconds before a chat answer. Faults and refusals come at once.
            n: Whether a request for `n > 1` choices is honoured (n choices in one response), rejected with
                a 400 that names `n`, or ignored (one choice).
            reject: Chat parameters whose presence is answered with a 400 that names them.
            usage: Gives (prompt tokens, completion tokens) of a response, or None for no usage. Default:
                the words of all messages, once a response, and the words of all choices.
            embed: Gives the vector of a text; default `hash_vector`.
            dimensions: Length of the default vectors, if the request does not say.
            shuffle_embeddings: Send embeddings in reverse order with correct `index` fields, since clients
                must sort by it.
            embedding_faults: As `faults`, for embedding requests.
            embedding_latency: As `latency`, for embedding requests.
            models: What `GET /v1/models` lists. Any model is answered.
            answers_as: The model that responses name; default the one asked for.

        Raises:
            ConfigurationError: An empty sequence of answers, or an unknown `n`.
        """
        if n not in ("honour", "reject", "ignore"):
            raise ConfigurationError(f"n={n!r}: give 'honour', 'reject' or 'ignore'")
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._answer = _scripted_answers(answers, self._lock)
        self._fault = _scripted_faults(faults, self._lock)
        self._latency = _scripted_latency(latency)
        self._n = n
        self._reject = frozenset(reject)
        self._usage = _count_words if usage is None else usage
        self._embed = embed
        self._dimensions = dimensions
        self._shuffle_embeddings = shuffle_embeddings
        self._embedding_fault = _scripted_faults(embedding_faults, self._lock)
        self._embedding_latency = _scripted_latency(embedding_latency)
        self._models = tuple(models)
        self._answers_as = answers_as

        self._serials = itertools.count()
        self._calls: dict[int, RecordedCall] = {}
        self._arrived: Counter[str] = Counter()
        self._in_flight: set[int] = set()
        self._max_in_flight = 0
        self._errors: list[BaseException] = []

        self._server = _Server(self)
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, name="FakeOpenAI", daemon=True
        )
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if self._errors and error is None:
            raise self._errors[0]
        if self._errors and error is not None:
            error.add_note(f"FakeOpenAI: its script raised {self._errors[0]!r}")

    def close(self) -> None:
        """Stop: requests in flight are dropped, all threads and sockets end. May be called again."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server.drop_connections()

    @property
    def calls(self) -> tuple[RecordedCall, ...]:
        """Every request since the start or `reset_counts`, in order of arrival."""
        with self._lock:
            return tuple(self._calls.values())

    @property
    def chat_requests(self) -> int:
        """How many chat requests arrived, whatever became of them."""
        return sum(call.path == _CHAT for call in self.calls)

    @property
    def answered(self) -> int:
        """How many chat requests were answered from the script: neither refused, nor faulted, nor dropped."""
        return sum(call.choices > 0 for call in self.calls)

    @property
    def choices(self) -> int:
        """How many choices were handed out."""
        return sum(call.choices for call in self.calls)

    @property
    def embedding_requests(self) -> int:
        """How many embedding requests arrived, whatever became of them."""
        return sum(call.path == _EMBEDDINGS for call in self.calls)

    @property
    def in_flight(self) -> int:
        """How many chat requests are being worked on."""
        with self._lock:
            return len(self._in_flight)

    @property
    def max_in_flight(self) -> int:
        """The most chat requests that were being worked on at one time."""
        with self._lock:
            return self._max_in_flight

    def reset_counts(self) -> None:
        """Forget the calls so far and number the next from 0. Answers and faults go on where they are."""
        with self._changed:
            self._calls.clear()
            self._arrived.clear()
            self._max_in_flight = len(self._in_flight)
            self._changed.notify_all()

    def wait_until(self, condition: Callable[[FakeOpenAI], bool], timeout: float = 10.0) -> None:
        """Wait until a condition on the counts holds, such as `lambda server: server.in_flight == 8`.

        Raises:
            TimeoutError: It did not hold within `timeout` seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: condition(self), timeout):
                raise TimeoutError(f"the condition did not hold within {timeout:g} s")

    def _arrive(self, call: RecordedCall) -> tuple[int, int]:
        """Record a request; its serial, for good, and its number among those of its path."""
        with self._changed:
            serial, number = next(self._serials), self._arrived[call.path]
            self._arrived[call.path] += 1
            self._calls[serial] = call
            if call.path == _CHAT:
                self._in_flight.add(serial)
                self._max_in_flight = max(self._max_in_flight, len(self._in_flight))
            self._changed.notify_all()
            return serial, number

    def _finish(self, serial: int, reply: _Reply) -> None:
        with self._changed:
            if serial in self._calls:
                self._calls[serial] = replace(self._calls[serial], status=reply.status, choices=reply.choices)
            self._in_flight.discard(serial)
            self._changed.notify_all()

    def _fail(self, error: BaseException) -> None:
        with self._lock:
            self._errors.append(error)

    def _reply_to(self, call: RecordedCall, number: int, wait: Callable[[float | None], bool]) -> _Reply:
        asked = call.method, call.path
        try:
            if asked == ("POST", _CHAT):
                return self._chat(ChatCall(number=number, body=_chat_body(call), headers=call.headers), wait)
            if asked == ("POST", _EMBEDDINGS):
                body = _embedding_body(call)
                return self._embeddings(EmbeddingCall(number=number, body=body, headers=call.headers), wait)
        except _BadRequest as refused:
            return _Reply.of(400, _error(str(refused), param=refused.param, code=refused.code))
        if asked == ("GET", _MODELS):
            listed = [{"id": m, "object": "model", "created": 0, "owned_by": "fake"} for m in self._models]
            return _Reply.of(200, {"object": "list", "data": listed})
        unknown = f"Unknown request URL: {call.method} {call.path}"
        return _Reply.of(404, _error(unknown, code="unknown_url"))

    def _chat(self, call: ChatCall, wait: Callable[[float | None], bool]) -> _Reply:
        fault = self._fault(call)
        if fault is not None:
            return _faulted(fault, wait)
        rejected = sorted(self._reject & call.body.keys())
        if rejected:
            names = ", ".join(f"'{name}'" for name in rejected)
            said = "parameter: {} is" if len(rejected) == 1 else "parameters: {} are"
            raise _BadRequest(
                f"Unsupported {said.format(names)} not supported with this model.",
                param=rejected[0],
                code="unsupported_parameter",
            )
        count = call.body.get("n", 1)
        if count > 1 and self._n == "reject":
            raise _BadRequest(
                f"Unsupported value: 'n' does not support {count} with this model. "
                "Only the default (1) value is supported.",
                param="n",
                code="unsupported_value",
            )
        answers = self._answer(call, 1 if self._n == "ignore" else count)
        latency = self._latency(call)
        if latency > 0 and not wait(latency):
            return _Reply()
        usage = self._usage(call, answers)
        return _Reply.of(200, _completion(call, answers, usage, self._answers_as or call.model), choices=len(answers))

    def _embeddings(self, call: EmbeddingCall, wait: Callable[[float | None], bool]) -> _Reply:
        fault = self._embedding_fault(call)
        if fault is not None:
            return _faulted(fault, wait)
        if self._embed is None:
            dimensions = call.body.get("dimensions", self._dimensions)
            vectors = [hash_vector(text, dimensions) for text in call.texts]
        elif "dimensions" in call.body:
            raise _BadRequest(
                "Unsupported parameter: 'dimensions' is not supported with this model.",
                param="dimensions",
                code="unsupported_parameter",
            )
        else:
            vectors = [list(self._embed(text)) for text in call.texts]
        latency = self._embedding_latency(call)
        if latency > 0 and not wait(latency):
            return _Reply()
        in_base64 = call.body.get("encoding_format") == "base64"
        data = [
            {"object": "embedding", "index": i, "embedding": _base64(vector) if in_base64 else vector}
            for i, vector in enumerate(vectors)
        ]
        tokens = sum(len(text.split()) for text in call.texts)
        body = {
            "object": "list",
            "data": data[::-1] if self._shuffle_embeddings else data,
            "model": self._answers_as or call.model,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }
        return _Reply.of(200, body)


def hash_vector(text: str, dimensions: int = 8) -> list[float]:
    """A unit vector that depends on the text alone: equal texts, equal vectors; other texts, unrelated ones.

    Its numbers are exact in float32, so that they come out the same sent as JSON and as base64.

    Args:
        text: Any text.
        dimensions: The vector's length.

    Example:
        >>> hash_vector("Paris") == hash_vector("Paris")
        True
        >>> len(hash_vector("Paris", dimensions=3))
        3
    """
    draws = [int.from_bytes(hashlib.sha256(f"{i}:{text}".encode()).digest()[:4]) / 2**31 - 1 for i in range(dimensions)]
    norm = math.sqrt(sum(x * x for x in draws))
    form = f"<{dimensions}f"
    return list(struct.unpack(form, struct.pack(form, *(x / norm for x in draws))))


class _BadRequest(Exception):
    """The request cannot be served; becomes a 400."""

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.param = param
        self.code = code


@dataclass(frozen=True, slots=True)
class _Reply:
    """What goes back; a `status` of None is nothing at all."""

    status: int | None = None
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    choices: int = 0
    reset: bool = False

    @classmethod
    def of(cls, status: int, body: Mapping[str, Any], choices: int = 0) -> _Reply:
        return cls(status, json.dumps(body).encode(), choices=choices)


def _faulted(fault: Fault, wait: Callable[[float | None], bool]) -> _Reply:
    if fault.kind == "hang":
        wait(None)
        return _Reply()
    if fault.kind == "reset":
        return _Reply(reset=True)
    return _Reply(fault.status, fault.body.encode(), fault.headers)


def _scripted_answers(
    answers: str | Answer | Sequence[str | Answer] | Callable[[ChatCall], str | Answer], lock: threading.RLock
) -> Callable[[ChatCall, int], list[Answer]]:
    if isinstance(answers, str | Answer):
        answers = [answers]
    if not isinstance(answers, Sequence):
        ask = answers
        return lambda call, count: [_as_answer(ask(replace(call, choice=i))) for i in range(count)]
    if not answers:
        raise ConfigurationError("answers is empty: give at least one")
    endless = itertools.cycle([_as_answer(answer) for answer in answers])

    def take(_: ChatCall, count: int) -> list[Answer]:
        with lock:
            return list(itertools.islice(endless, count))

    return take


def _as_answer(answer: object) -> Answer:
    if isinstance(answer, Answer):
        return answer
    if isinstance(answer, str):
        return Answer(answer)
    raise TypeError(f"an answer is a str or an Answer, not {answer!r}")


def _scripted_faults(
    faults: Iterable[Fault | None] | Callable[[_C], Fault | None], lock: threading.RLock
) -> Callable[[_C], Fault | None]:
    if not isinstance(faults, Iterable):
        return faults
    remaining = iter(faults)

    def take(_: _C) -> Fault | None:
        with lock:
            return next(remaining, None)

    return take


def _scripted_latency(latency: float | Callable[[_C], float]) -> Callable[[_C], float]:
    if isinstance(latency, int | float):
        seconds = latency
        return lambda _: seconds
    return latency


def _count_words(call: ChatCall, answers: Sequence[Answer]) -> tuple[int, int]:
    prompt = sum(len(_text_of(message.get("content")).split()) for message in call.messages)
    return prompt, sum(len((answer.text or "").split()) for answer in answers)


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if part.get("type") == "text")


def _model_body(call: RecordedCall) -> dict[str, Any]:
    if not isinstance(call.body, dict):
        raise _BadRequest("We could not parse the JSON body of your request: a JSON object is expected.")
    if not isinstance(call.body.get("model"), str):
        raise _BadRequest("you must provide a model parameter", param="model")
    # A null is the same as nothing said.
    return {name: value for name, value in call.body.items() if value is not None}


def _chat_body(call: RecordedCall) -> dict[str, Any]:
    body = _model_body(call)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(m, dict) for m in messages):
        raise _BadRequest("Invalid 'messages': a non-empty array of objects is expected.", param="messages")
    if body.get("stream"):
        raise _BadRequest("Unsupported value: 'stream': FakeOpenAI does not stream.", param="stream")
    if "top_logprobs" in body and not body.get("logprobs"):
        raise _BadRequest("'top_logprobs' is only allowed when 'logprobs' is true.", param="top_logprobs")
    _integer(body, "n", default=1, low=1, high=_MAX_CHOICES)
    _integer(body, "top_logprobs", default=0, low=0, high=_MAX_TOP_LOGPROBS)
    return body


def _integer(body: Mapping[str, Any], name: str, *, default: int, low: int, high: int) -> int:
    value = body.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        expected = f"an integer from {low} to {high} is expected"
        raise _BadRequest(f"Invalid {name!r}: {expected}, not {value!r}.", param=name, code="invalid_value")
    return value


def _embedding_body(call: RecordedCall) -> dict[str, Any]:
    body = _model_body(call)
    given = body.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not 1 <= len(texts) <= _MAX_INPUTS:
        raise _BadRequest(f"'input' must be a text or 1 to {_MAX_INPUTS} texts.", param="input")
    if not all(isinstance(text, str) and text for text in texts):
        raise _BadRequest("'input' must hold non-empty texts (FakeOpenAI takes no token ids).", param="input")
    _integer(body, "dimensions", default=1, low=1, high=_MAX_DIMENSIONS)
    return body


def _completion(call: ChatCall, answers: Sequence[Answer], usage: tuple[int, int] | None, model: str) -> dict[str, Any]:
    body = {
        "id": f"chatcmpl-fake-{call.number}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [_choice(index, answer, call.body) for index, answer in enumerate(answers)],
    }
    if usage is not None:
        prompt, completion = usage
        body["usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
    return body


def _choice(index: int, answer: Answer, asked: Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": answer.refusal}
    if answer.tool_calls is not None:
        message["tool_calls"] = list(answer.tool_calls)
    logprobs = None
    if asked.get("logprobs") and answer.logprobs is not None:
        top = asked.get("top_logprobs", 0)
        logprobs = {"content": [_token_logprobs(token, top) for token in answer.logprobs], "refusal": None}
    return {"index": index, "message": message, "logprobs": logprobs, "finish_reason": answer.finish_reason}


def _token_logprobs(token: Mapping[str, float], top: int) -> dict[str, Any]:
    def entry(text: str) -> dict[str, Any]:
        return {"token": text, "logprob": token[text], "bytes": list(text.encode())}

    likeliest = sorted(token, key=lambda text: -token[text])[:top]
    return {**entry(next(iter(token))), "top_logprobs": [entry(text) for text in likeliest]}


def _base64(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _error(
    message: str, *, kind: str = "invalid_request_error", param: str | None = None, code: str | None = None
) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


class _Server(socketserver.ThreadingTCPServer):
    # Not http.server.HTTPServer: its bind looks the host's name up, which can take seconds and is not needed.
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, fake: FakeOpenAI) -> None:
        self.fake = fake
        self._connections: dict[threading.Thread, socket.socket] = {}
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(
            target=self.process_request_thread,
            args=(request, client_address),
            name="FakeOpenAI call",
            daemon=True,
        )
        self._connections[thread] = request
        thread.start()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            del self._connections[threading.current_thread()]

    def handle_error(self, _request: Any, _client_address: Any) -> None:
        error = sys.exception()
        # A client that left is its own test's business; anything else is a fault in the script.
        if error is not None and not isinstance(error, ConnectionError):
            self.fake._fail(error)

    def drop_connections(self) -> None:
        """Wake every handler by ending its connection, and wait for it to end."""
        deadline = time.monotonic() + _JOIN_SECONDS
        for thread, connection in list(self._connections.items()):
            # The handler may have ended and closed the connection meanwhile.
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                message = "FakeOpenAI: a callable of its script did not return; its thread goes on"
                warnings.warn(message, ResourceWarning, stacklevel=3)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    _LINGER: ClassVar = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def log_message(self, _format: str, *_args: Any) -> None:
        """Say nothing."""

    def _serve(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        call = RecordedCall(
            method=self.command,
            path=self.path.partition("?")[0],
            body=_parsed(raw),
            headers={name.lower(): value for name, value in self.headers.items()},
            arrived=time.monotonic(),
        )
        fake = self.server.fake
        serial, number = fake._arrive(call)
        reply = _Reply()
        try:
            reply = fake._reply_to(call, number, self._wait)
        finally:
            # Before the bytes go out: a client that has its answer must find it counted.
            fake._finish(serial, reply)
        if reply.reset:
            self._reset()
        elif reply.status is not None:
            self._send(reply.status, reply)
        self.close_connection = True

    def _send(self, status: int, reply: _Reply) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(reply.body)),
            "Connection": "close",
            **reply.headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, self._LINGER)
        # The descriptor closes, and with no linger resets, when both of its holders have let go of it.
        self.rfile.close()
        self.connection.close()

    def _wait(self, seconds: float | None) -> bool:
        """Wait `seconds`, or for ever; False as soon as the client is gone or the server closes."""
        self.connection.settimeout(seconds)
        try:
            # A client that waits for its answer sends nothing more: this returns when the connection ends.
            self.connection.recv(1, socket.MSG_PEEK)
        except TimeoutError:
            return True
        finally:
            self.connection.settimeout(None)
        return False


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return None
