"""The fake server, asked by real clients: httpx for its bytes, openai and litellm for what they see."""

from __future__ import annotations

import base64
import itertools
import json
import math
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import httpx
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.testing import fake_openai
from opik_checkembed.testing.fake_openai import (
    Answer,
    ChatCall,
    EmbeddingCall,
    FakeOpenAI,
    Fault,
    hash_vector,
)

QUESTION = [{"role": "user", "content": "Capital of France?"}]


def post(server: FakeOpenAI, path: str, body: object, **kwargs: Any) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body)
    # No verification: there is no TLS here, and its set-up takes ten times as long as the request.
    return httpx.post(f"{server.base_url}/{path}", content=content, verify=False, **{"timeout": 30, **kwargs})


def ask(server: FakeOpenAI, *, timeout: float = 30, **body: object) -> httpx.Response:
    body = {"model": "fake", "messages": QUESTION, **body}
    return post(server, "chat/completions", body, timeout=timeout)


def embed(server: FakeOpenAI, texts: object, *, timeout: float = 30, **body: object) -> httpx.Response:
    return post(server, "embeddings", {"model": "fake", "input": texts, **body}, timeout=timeout)


def connect(server: FakeOpenAI) -> socket.socket:
    return socket.create_connection(("127.0.0.1", httpx.URL(server.base_url).port or 0))


def send_chat(connection: socket.socket) -> None:
    body = json.dumps({"model": "fake", "messages": QUESTION})
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall((head + body).encode())


def texts(response: httpx.Response) -> list[str]:
    response.raise_for_status()
    return [choice["message"]["content"] for choice in response.json()["choices"]]


@pytest.fixture(scope="module")
def litellm() -> Any:
    import litellm

    return litellm


@pytest.fixture(scope="module")
def worker() -> Iterator[ThreadPoolExecutor]:
    # In the main thread litellm would leave an event loop open.
    with ThreadPoolExecutor(1) as thread:
        yield thread


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as threads:
        yield threads


class TestAnswers:
    def test_one_answer_is_given_to_every_choice(self) -> None:
        with FakeOpenAI("Paris") as server:
            assert [texts(ask(server)), texts(ask(server, n=2))] == [["Paris"], ["Paris", "Paris"]]

    def test_a_sequence_is_gone_through_again_and_again(self) -> None:
        with FakeOpenAI(["a", Answer("b"), "c"]) as server:
            assert [texts(ask(server, n=2)), texts(ask(server, n=2))] == [["a", "b"], ["c", "a"]]

    def test_concurrent_requests_share_a_sequence_without_loss(self, pool: ThreadPoolExecutor) -> None:
        script = [str(i) for i in range(60)]
        with FakeOpenAI(script) as server:
            given = list(pool.map(lambda _: texts(ask(server, n=3)), range(20)))
        assert sorted(itertools.chain(*given), key=int) == script
        assert all(int(first) + 2 == int(last) for first, _, last in given)

    def test_a_callable_sees_the_call_once_a_choice(self) -> None:
        seen: list[ChatCall] = []

        def answer(call: ChatCall) -> Answer:
            seen.append(call)
            return Answer(f"{call.number}.{call.choice} {call.model}: {call.prompt}")

        with FakeOpenAI(answer) as server:
            first = texts(ask(server, n=2, seed=None))
            second = texts(ask(server, model="other"))
        assert first == ["0.0 fake: Capital of France?", "0.1 fake: Capital of France?"]
        assert second == ["1.0 other: Capital of France?"]
        assert seen[0].body == {"model": "fake", "messages": QUESTION, "n": 2}
        assert seen[0].headers["content-length"] == str(len(json.dumps({**seen[0].body, "seed": None})))

    @pytest.mark.parametrize(
        ("messages", "prompt"),
        [
            ([{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}], "one"),
            ([{"role": "user", "content": "one"}, {"role": "user", "content": "two"}], "two"),
            (
                [
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "look"},
                            {"type": "image_url", "image_url": {"url": "data:,"}},
                            {"type": "text", "text": "here"},
                        ],
                    }
                ],
                "look\nhere",
            ),
            ([{"role": "user", "content": None}], ""),
            ([{"role": "system", "content": "be brief"}], ""),
        ],
    )
    def test_prompt_is_the_text_of_the_last_user_message(self, messages: list[Any], prompt: str) -> None:
        assert ChatCall(number=0, body={"model": "fake", "messages": messages}).prompt == prompt

    @pytest.mark.parametrize(
        ("answer", "message", "finish_reason"),
        [
            (Answer("cut", finish_reason="length"), {"content": "cut", "refusal": None}, "length"),
            (Answer(""), {"content": "", "refusal": None}, "stop"),
            (Answer(None), {"content": None, "refusal": None}, "stop"),
            (Answer.refused("No."), {"content": None, "refusal": "No."}, "stop"),
            (Answer.filtered(), {"content": None, "refusal": None}, "content_filter"),
            (Answer.filtered("so f"), {"content": "so f", "refusal": None}, "content_filter"),
            (
                Answer.tool_call("search", {"query": "Paris"}),
                {
                    "content": None,
                    "refusal": None,
                    "tool_calls": [
                        {
                            "id": "call_search",
                            "type": "function",
                            "function": {"name": "search", "arguments": '{"query": "Paris"}'},
                        }
                    ],
                },
                "tool_calls",
            ),
        ],
    )
    def test_kinds_of_answers(self, answer: Answer, message: dict[str, Any], finish_reason: str) -> None:
        with FakeOpenAI(answer) as server:
            choice = ask(server).json()["choices"][0]
        assert choice == {
            "index": 0,
            "message": {"role": "assistant", **message},
            "logprobs": None,
            "finish_reason": finish_reason,
        }

    def test_logprobs_are_sent_as_far_as_they_are_asked_for(self) -> None:
        no = {"token": "No", "logprob": -2.5, "bytes": [78, 111]}
        yes = {"token": "Yes", "logprob": -0.1, "bytes": [89, 101, 115]}
        with FakeOpenAI(Answer("No", logprobs=[{"No": -2.5, "Ja": -4.0, "Yes": -0.1}])) as server:
            assert ask(server).json()["choices"][0]["logprobs"] is None
            bare = ask(server, logprobs=True).json()["choices"][0]["logprobs"]
            top = ask(server, logprobs=True, top_logprobs=2).json()["choices"][0]["logprobs"]
        assert bare == {"content": [{**no, "top_logprobs": []}], "refusal": None}
        assert top == {"content": [{**no, "top_logprobs": [yes, no]}], "refusal": None}

    def test_a_provider_without_logprobs(self) -> None:
        with FakeOpenAI("No") as server:
            assert ask(server, logprobs=True).json()["choices"][0]["logprobs"] is None

    def test_model_and_usage_are_counted_once_a_response(self) -> None:
        system = {"role": "system", "content": "Be brief, please."}
        with FakeOpenAI(["It is Paris.", "Paris"]) as server:
            body = ask(server, messages=[system, *QUESTION], n=2).json()
        assert body["usage"] == {"prompt_tokens": 6, "completion_tokens": 4, "total_tokens": 10}
        assert body["model"] == "fake"
        assert [choice["index"] for choice in body["choices"]] == [0, 1]

    def test_model_and_usage_can_be_scripted(self) -> None:
        usages: list[tuple[int, int] | None] = [(100, 20), None]
        with FakeOpenAI(usage=lambda call, _: usages[call.number], answers_as="fake-2026-11-01") as server:
            first, second = ask(server).json(), ask(server).json()
        assert first["usage"] == {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        assert "usage" not in second
        assert first["model"] == "fake-2026-11-01"


class TestParameters:
    def test_n_rejected(self) -> None:
        with FakeOpenAI(n="reject") as server:
            assert ask(server, n=1).status_code == 200
            response = ask(server, n=5)
        assert response.status_code == 400
        assert response.json()["error"] == {
            "message": "Unsupported value: 'n' does not support 5 with this model. "
            "Only the default (1) value is supported.",
            "type": "invalid_request_error",
            "param": "n",
            "code": "unsupported_value",
        }
        assert (server.chat_requests, server.answered, server.choices) == (2, 1, 1)

    def test_n_ignored(self) -> None:
        with FakeOpenAI(["a", "b"], n="ignore") as server:
            assert texts(ask(server, n=5)) == ["a"]
        assert (server.answered, server.choices) == (1, 1)

    def test_rejected_parameters_are_named_and_use_up_no_answer(self) -> None:
        with FakeOpenAI(["first"], reject={"temperature", "seed"}) as server:
            one = ask(server, temperature=1.0)
            two = ask(server, temperature=1.0, seed=3, top_p=0.5)
            assert texts(ask(server, temperature=None)) == ["first"]
        assert [one.status_code, two.status_code] == [400, 400]
        assert one.json()["error"] == {
            "message": "Unsupported parameter: 'temperature' is not supported with this model.",
            "type": "invalid_request_error",
            "param": "temperature",
            "code": "unsupported_parameter",
        }
        said = "Unsupported parameters: 'seed', 'temperature' are not supported with this model."
        assert two.json()["error"]["message"] == said

    @pytest.mark.parametrize(
        ("body", "param"),
        [
            (b"{", None),
            (b"[]", None),
            ({"messages": QUESTION}, "model"),
            ({"model": "fake"}, "messages"),
            ({"model": "fake", "messages": []}, "messages"),
            ({"model": "fake", "messages": ["hi"]}, "messages"),
            ({"model": "fake", "messages": QUESTION, "stream": True}, "stream"),
            ({"model": "fake", "messages": QUESTION, "n": 0}, "n"),
            ({"model": "fake", "messages": QUESTION, "n": 129}, "n"),
            ({"model": "fake", "messages": QUESTION, "n": True}, "n"),
            ({"model": "fake", "messages": QUESTION, "n": "2"}, "n"),
            ({"model": "fake", "messages": QUESTION, "top_logprobs": 2}, "top_logprobs"),
            ({"model": "fake", "messages": QUESTION, "logprobs": True, "top_logprobs": 21}, "top_logprobs"),
        ],
    )
    def test_malformed_chat_requests_are_refused(self, body: object, param: str | None) -> None:
        with FakeOpenAI() as server:
            response = post(server, "chat/completions", body)
        assert response.status_code == 400
        assert response.json()["error"]["param"] == param
        assert server.answered == 0

    @pytest.mark.parametrize(
        ("make", "said"),
        [
            (lambda: FakeOpenAI([]), "answers is empty"),
            (lambda: FakeOpenAI(n=cast(Any, "honor")), "n='honor'"),
            (lambda: Answer("a", logprobs=[{}]), "every token"),
        ],
    )
    def test_scripts_that_cannot_work(self, make: Callable[[], object], said: str) -> None:
        with pytest.raises(ConfigurationError, match=said):
            make()


class TestFaults:
    def test_each_is_taken_once_in_order_then_all_are_answered(self) -> None:
        faults = [Fault.http(500), None, Fault.http(503)]
        with FakeOpenAI(["a", "b"], faults=faults) as server:
            assert [ask(server).status_code for _ in range(5)] == [500, 200, 503, 200, 200]
        assert [call.status for call in server.calls] == [500, 200, 503, 200, 200]
        assert (server.chat_requests, server.answered, server.choices) == (5, 3, 3)

    def test_a_callable_aims_at_a_model_a_prompt_or_a_number(self) -> None:
        def fault(call: ChatCall) -> Fault | None:
            aimed = call.model == "broken" or "Spain" in call.prompt or call.number == 3
            return Fault.http(500) if aimed else None

        spain = [{"role": "user", "content": "Capital of Spain?"}]
        with FakeOpenAI(faults=fault) as server:
            statuses = [
                ask(server).status_code,
                ask(server, model="broken").status_code,
                ask(server, messages=spain).status_code,
                ask(server).status_code,
            ]
        assert statuses == [200, 500, 500, 500]

    @pytest.mark.parametrize(
        ("status", "code"),
        [
            (400, None),
            (401, "invalid_api_key"),
            (403, "unsupported_country_region_territory"),
            (404, "model_not_found"),
            (429, "rate_limit_exceeded"),
            (500, None),
            (502, None),
            (503, None),
        ],
    )
    def test_http_errors_have_openai_form(self, status: int, code: str | None) -> None:
        with FakeOpenAI(faults=[Fault.http(status)]) as server:
            response = ask(server)
        error = response.json()["error"]
        assert response.status_code == status
        assert error["code"] == code
        assert (error["type"] == "server_error") == (status >= 500)
        assert "retry-after" not in response.headers

    def test_http_error_in_the_testers_own_words(self) -> None:
        fault = Fault.http(429, "Slow down.", param="n", retry_after=0.25, headers={"X-Left": "0"})
        with FakeOpenAI(faults=[fault, Fault.http(502, body="<html>")]) as server:
            first, second = ask(server), ask(server)
        assert first.json()["error"]["message"] == "Slow down."
        assert first.json()["error"]["param"] == "n"
        assert (first.headers["retry-after"], first.headers["x-left"]) == ("0.25", "0")
        assert second.text == "<html>"

    def test_bodies_that_are_no_answer(self) -> None:
        faults = [Fault.malformed(), Fault.empty_body(), Fault.no_choices()]
        with FakeOpenAI(faults=faults) as server:
            malformed, empty, no_choices = (ask(server) for _ in range(3))
        assert [r.status_code for r in (malformed, empty, no_choices)] == [200, 200, 200]
        with pytest.raises(json.JSONDecodeError):
            malformed.json()
        assert empty.content == b""
        assert no_choices.json()["choices"] == []
        assert (server.chat_requests, server.answered) == (3, 0)

    def test_reset_is_a_tcp_reset(self) -> None:
        with FakeOpenAI(faults=[Fault.reset()]) as server:
            with connect(server) as client:
                send_chat(client)
                with pytest.raises(ConnectionResetError):
                    client.recv(1)
            assert ask(server).status_code == 200
        assert [call.status for call in server.calls] == [None, 200]

    def test_hang_lasts_until_the_client_leaves(self) -> None:
        with FakeOpenAI(faults=[Fault.hang()]) as server:
            with pytest.raises(httpx.ReadTimeout):
                ask(server, timeout=0.1)
            server.wait_until(lambda s: s.in_flight == 0)
            assert ask(server).status_code == 200
        assert [call.status for call in server.calls] == [None, 200]
        assert server.max_in_flight == 1

    def test_a_client_that_resets_while_it_waits_is_no_error_of_the_script(self) -> None:
        with FakeOpenAI(latency=60) as server:
            with connect(server) as client:
                send_chat(client)
                server.wait_until(lambda s: s.in_flight == 1)
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            server.wait_until(lambda s: s.in_flight == 0)
        assert server.calls[0].status is None


class TestLatencyAndCounts:
    def test_latency_holds_answers_and_nothing_else(self) -> None:
        with FakeOpenAI(latency=60, reject={"seed"}, faults=[Fault.http(500)]) as server:
            assert [ask(server).status_code, ask(server, seed=1).status_code] == [500, 400]
            with pytest.raises(httpx.ReadTimeout):
                ask(server, timeout=0.1)
        assert [call.status for call in server.calls] == [500, 400, None]

    def test_latency_is_waited_out(self) -> None:
        with FakeOpenAI(latency=0.2) as server:
            start = time.monotonic()
            assert ask(server).status_code == 200
            assert time.monotonic() - start >= 0.2

    def test_latency_by_call(self) -> None:
        with FakeOpenAI(latency=lambda call: 60 if call.number == 1 else 0) as server:
            assert ask(server).status_code == 200
            with pytest.raises(httpx.ReadTimeout):
                ask(server, timeout=0.1)
            assert ask(server).status_code == 200

    def test_in_flight_and_its_maximum(self, pool: ThreadPoolExecutor) -> None:
        gate = threading.Event()

        def answer(_: ChatCall) -> str:
            assert gate.wait(10)
            return "now"

        with FakeOpenAI(answer) as server:
            waiting = [pool.submit(ask, server) for _ in range(5)]
            server.wait_until(lambda s: s.in_flight == 5)
            assert embed(server, "not counted").status_code == 200
            assert (server.chat_requests, server.answered, server.max_in_flight) == (5, 0, 5)
            gate.set()
            assert [texts(response.result()) for response in waiting] == [["now"]] * 5
            assert (server.in_flight, server.max_in_flight, server.answered) == (0, 5, 5)

    def test_sequential_requests_never_overlap(self) -> None:
        with FakeOpenAI() as server:
            for number in range(50):
                ask(server)
                assert (server.answered, server.in_flight) == (number + 1, 0)
        assert server.max_in_flight == 1

    def test_calls_are_recorded(self) -> None:
        before = time.monotonic()
        with FakeOpenAI() as server:
            headers = {"Authorization": "Bearer none"}
            body = {"model": "fake", "messages": QUESTION, "n": 2}
            post(server, "chat/completions?version=1", body, headers=headers)
            embed(server, ["a"])
            post(server, "nowhere", b"\xff")
        chat, embedding, unknown = server.calls
        assert (chat.method, chat.path, chat.body) == ("POST", "/v1/chat/completions", body)
        assert (chat.status, chat.choices, chat.headers["authorization"]) == (200, 2, "Bearer none")
        assert (embedding.path, embedding.status, embedding.choices) == ("/v1/embeddings", 200, 0)
        assert (unknown.path, unknown.status, unknown.body) == ("/v1/nowhere", 404, None)
        assert before <= chat.arrived <= embedding.arrived <= unknown.arrived <= time.monotonic()
        assert (server.chat_requests, server.embedding_requests, len(server.calls)) == (1, 1, 3)

    def test_reset_counts_starts_numbers_anew_but_goes_on_with_the_script(self, pool: ThreadPoolExecutor) -> None:
        gate = threading.Event()
        numbers: list[int] = []

        def latency(call: ChatCall) -> float:
            numbers.append(call.number)
            assert call.number != 1 or gate.wait(10)
            return 0.0

        with FakeOpenAI(["a", "b", "c"], latency=latency) as server:
            ask(server)
            held = pool.submit(ask, server)
            server.wait_until(lambda s: s.in_flight == 1)
            server.reset_counts()
            assert (server.calls, server.choices, server.max_in_flight, server.in_flight) == ((), 0, 1, 1)
            gate.set()
            assert texts(held.result()) == ["b"]
            assert server.answered == 0
            assert texts(ask(server)) == ["c"]
        assert (server.answered, server.in_flight) == (1, 0)
        assert numbers == [0, 1, 0]

    def test_wait_until_gives_up(self) -> None:
        with FakeOpenAI() as server, pytest.raises(TimeoutError, match=r"within 0\.01 s"):
            server.wait_until(lambda s: s.answered == 1, timeout=0.01)


class TestEmbeddings:
    @given(st.text(), st.integers(1, 64))
    def test_hash_vectors_are_unit_float32_and_depend_on_the_text_alone(self, text: str, size: int) -> None:
        vector = hash_vector(text, size)
        assert len(vector) == size
        assert math.hypot(*vector) == pytest.approx(1, abs=1e-6)
        assert struct.unpack(f"<{size}f", struct.pack(f"<{size}f", *vector)) == tuple(vector)
        assert vector == hash_vector(text, size)
        assert size == 1 or vector != hash_vector(text + "x", size)

    def test_vectors_come_in_the_order_asked(self) -> None:
        with FakeOpenAI() as server:
            body = embed(server, ["b c", "a", "b c"]).json()
        assert body == {
            "object": "list",
            "model": "fake",
            "data": [
                {"object": "embedding", "index": 0, "embedding": hash_vector("b c")},
                {"object": "embedding", "index": 1, "embedding": hash_vector("a")},
                {"object": "embedding", "index": 2, "embedding": hash_vector("b c")},
            ],
            "usage": {"prompt_tokens": 5, "total_tokens": 5},
        }

    def test_one_text_need_not_be_a_list(self) -> None:
        with FakeOpenAI(dimensions=3, answers_as="small-v1") as server:
            body = embed(server, "a").json()
        assert body["model"] == "small-v1"
        assert [entry["embedding"] for entry in body["data"]] == [hash_vector("a", 3)]

    def test_reverse_order_with_correct_indices(self) -> None:
        with FakeOpenAI(shuffle_embeddings=True) as server:
            data = embed(server, ["a", "b", "c"]).json()["data"]
        assert [(d["index"], d["embedding"]) for d in data] == [
            (2, hash_vector("c")),
            (1, hash_vector("b")),
            (0, hash_vector("a")),
        ]

    def test_base64_is_little_endian_float32(self) -> None:
        with FakeOpenAI(embed=lambda text: [1.0, -0.5] if text == "a" else [0.25, 2.0]) as server:
            data = embed(server, ["a", "b"], encoding_format="base64").json()["data"]
        sent = [base64.b64decode(entry["embedding"]) for entry in data]
        assert sent == [b"\x00\x00\x80\x3f\x00\x00\x00\xbf", b"\x00\x00\x80\x3e\x00\x00\x00\x40"]

    def test_dimensions_asked_for(self) -> None:
        with FakeOpenAI() as server:
            assert embed(server, "a", dimensions=2).json()["data"][0]["embedding"] == hash_vector("a", 2)
        with FakeOpenAI(embed=lambda _: [1.0]) as server:
            response = embed(server, "a", dimensions=2)
        assert (response.status_code, response.json()["error"]["param"]) == (400, "dimensions")

    @pytest.mark.parametrize("given", [None, 3, [], "", ["a", ""], [1, 2], ["a"] * 2049])
    def test_malformed_inputs_are_refused(self, given: object) -> None:
        with FakeOpenAI() as server:
            response = embed(server, given)
        assert (response.status_code, response.json()["error"]["param"]) == (400, "input")

    def test_faults_and_latency(self) -> None:
        def fault(call: EmbeddingCall) -> Fault | None:
            return Fault.http(503) if call.number == 0 and call.texts == ["a", "b"] else None

        def latency(call: EmbeddingCall) -> float:
            return {"short": 0.2, "long": 60.0}.get(call.texts[0], 0.0)

        with FakeOpenAI(embedding_faults=fault, embedding_latency=latency) as server:
            assert embed(server, ["a", "b"]).status_code == 503
            assert embed(server, ["a", "b"]).status_code == 200
            start = time.monotonic()
            assert embed(server, "short").status_code == 200
            assert time.monotonic() - start >= 0.2
            with pytest.raises(httpx.ReadTimeout):
                embed(server, "long", timeout=0.1)
        assert [call.status for call in server.calls] == [503, 200, 200, None]

    def test_chat_faults_leave_embeddings_alone(self) -> None:
        with FakeOpenAI(faults=[Fault.http(500)], embedding_faults=[Fault.http(503)]) as server:
            assert [embed(server, "a").status_code, ask(server).status_code] == [503, 500]


class TestServer:
    def test_models_are_listed(self) -> None:
        with FakeOpenAI(models=["small", "large"]) as server:
            listed = httpx.get(f"{server.base_url}/models", verify=False).json()
        assert [model["id"] for model in listed["data"]] == ["small", "large"]

    @pytest.mark.parametrize(("method", "path"), [("GET", "chat/completions"), ("POST", "completions")])
    def test_other_requests_are_unknown(self, method: str, path: str) -> None:
        with FakeOpenAI() as server:
            response = httpx.request(method, f"{server.base_url}/{path}", verify=False)
        assert response.status_code == 404
        assert response.json()["error"]["message"] == f"Unknown request URL: {method} /v1/{path}"

    def test_close_drops_requests_in_flight_at_once_and_leaves_nothing(self, pool: ThreadPoolExecutor) -> None:
        threads = set(threading.enumerate())
        server = FakeOpenAI(latency=60, faults=[Fault.hang()], embedding_latency=60)
        waiting = [pool.submit(ask, server), pool.submit(ask, server), pool.submit(embed, server, "a")]
        server.wait_until(lambda s: s.in_flight == 2 and s.embedding_requests == 1)
        # A connection over which nothing comes must not hold the server either.
        with connect(server):
            start = time.monotonic()
            server.close()
            assert time.monotonic() - start < 2
        for response in waiting:
            assert isinstance(response.exception(), httpx.TransportError)
        assert not [t.name for t in set(threading.enumerate()) - threads if t.name.startswith("FakeOpenAI")]
        assert (server.in_flight, server.answered) == (0, 0)
        with pytest.raises(httpx.ConnectError):
            ask(server)

    def test_close_may_be_called_again(self) -> None:
        with FakeOpenAI() as server:
            server.close()
            server.close()

    def test_an_error_in_the_script_comes_out_of_the_with_block(self) -> None:
        def answer(_: ChatCall) -> str:
            raise LookupError("no such line")

        def block() -> None:
            with FakeOpenAI(answer) as server:
                with pytest.raises(httpx.RemoteProtocolError):
                    ask(server)
                assert (server.in_flight, server.calls[0].status) == (0, None)

        with pytest.raises(LookupError, match="no such line"):
            block()

    def test_an_error_in_the_script_is_noted_on_the_blocks_own(self) -> None:
        script: Any = lambda call: None  # noqa: E731 - what a forgotten return looks like
        with pytest.raises(httpx.RemoteProtocolError) as raised, FakeOpenAI(script) as server:
            ask(server)
        (note,) = raised.value.__notes__
        assert note == ("FakeOpenAI: its script raised TypeError('an answer is a str or an Answer, not None')")

    def test_a_callable_that_does_not_return_is_said_at_close(
        self, monkeypatch: pytest.MonkeyPatch, pool: ThreadPoolExecutor
    ) -> None:
        monkeypatch.setattr(fake_openai, "_JOIN_SECONDS", 0.05)
        gate = threading.Event()

        def answer(_: ChatCall) -> str:
            gate.wait(10)
            return "too late"

        server = FakeOpenAI(answer)
        waiting = pool.submit(ask, server)
        server.wait_until(lambda s: s.in_flight == 1)
        with pytest.warns(ResourceWarning, match="did not return"):
            server.close()
        gate.set()
        assert isinstance(waiting.exception(), httpx.TransportError)
        server.wait_until(lambda s: s.in_flight == 0)


class TestClients:
    """What the clients that this package meets make of it."""

    def test_openai(self) -> None:
        with (
            FakeOpenAI(Answer("Yes", logprobs=[{"Yes": -0.25, "No": -1.5}])) as server,
            openai.OpenAI(base_url=server.base_url, api_key="none", max_retries=0) as client,
        ):
            completion = client.chat.completions.create(
                model="fake", messages=[{"role": "user", "content": "Is it?"}], logprobs=True, top_logprobs=2
            )
            vectors = client.embeddings.create(model="fake", input=["a", "b"])
            models = client.models.list()
        assert completion.choices[0].message.content == "Yes"
        assert completion.choices[0].logprobs is not None
        content = completion.choices[0].logprobs.content
        assert content is not None
        assert [(t.token, t.logprob) for t in content[0].top_logprobs] == [("Yes", -0.25), ("No", -1.5)]
        assert server.calls[1].body["encoding_format"] == "base64"
        assert [entry.embedding for entry in vectors.data] == [hash_vector("a"), hash_vector("b")]
        assert [model.id for model in models.data] == ["fake"]

    def complete(self, litellm: Any, worker: ThreadPoolExecutor, api_base: str, **kwargs: Any) -> Any:
        return worker.submit(
            litellm.completion,
            model="openai/fake",
            api_base=api_base,
            api_key="none",
            messages=QUESTION,
            num_retries=0,
            **kwargs,
        ).result()

    def test_litellm_completion(self, litellm: Any, worker: ThreadPoolExecutor) -> None:
        answers = [Answer("Paris", logprobs=[{"Paris": -0.5}]), Answer.refused("No."), Answer("Ly", "length")]
        with FakeOpenAI(answers) as server:
            response = self.complete(litellm, worker, server.base_url, n=3, logprobs=True, top_logprobs=1)
        assert [c.message.content for c in response.choices] == ["Paris", None, "Ly"]
        assert [c.finish_reason for c in response.choices] == ["stop", "stop", "length"]
        assert response.choices[0].logprobs.content[0].top_logprobs[0].logprob == -0.5
        assert response.choices[1].message.provider_specific_fields == {"refusal": "No."}
        assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (3, 2)

    def test_litellm_embedding(self, litellm: Any, worker: ThreadPoolExecutor) -> None:
        with FakeOpenAI() as server:
            response = worker.submit(
                litellm.embedding,
                model="openai/fake",
                api_base=server.base_url,
                api_key="none",
                input=["a", "b"],
            ).result()
        assert [entry["embedding"] for entry in response.data] == [hash_vector("a"), hash_vector("b")]
        assert response.usage.prompt_tokens == 2

    @pytest.mark.parametrize(
        ("fault", "error", "status"),
        [
            (Fault.http(400), "BadRequestError", 400),
            (Fault.http(401), "AuthenticationError", 401),
            (Fault.http(403), "APIError", 403),
            (Fault.http(404), "NotFoundError", 404),
            (Fault.http(429, retry_after=0.25), "RateLimitError", 429),
            (Fault.http(500), "InternalServerError", 500),
            (Fault.http(503), "ServiceUnavailableError", 503),
            (Fault.reset(), "InternalServerError", 500),
            (Fault.hang(), "Timeout", 408),
            (Fault.malformed(), "InternalServerError", 500),
            (Fault.empty_body(), "InternalServerError", 500),
        ],
    )
    def test_litellm_faults(
        self, litellm: Any, worker: ThreadPoolExecutor, fault: Fault, error: str, status: int
    ) -> None:
        timeout = 0.3 if fault.kind == "hang" else 30
        with FakeOpenAI(faults=[fault]) as server, pytest.raises(getattr(litellm, error)) as raised:
            self.complete(litellm, worker, server.base_url, timeout=timeout)
        assert raised.value.status_code == status
        assert server.chat_requests == 1
        if status == 429:
            assert raised.value.litellm_response_headers["retry-after"] == "0.25"
