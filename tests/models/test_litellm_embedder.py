"""Embeddings over HTTP: order, batches, retries, limits, cost and spans, against a server on 127.0.0.1."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import numpy as np
import opik
import pytest

from opik_checkembed.errors import ConfigurationError, EmbeddingError
from opik_checkembed.models import litellm_embedder as module
from opik_checkembed.models.embedder import Embedder, EmbedderUnavailable, SplitsText
from opik_checkembed.models.litellm_embedder import LiteLLMEmbedder, Spent
from opik_checkembed.models.shared_encoder import SharedEncoder
from opik_checkembed.samples.retry import Retry
from opik_checkembed.testing.fake_openai import FakeOpenAI, Fault, hash_vector
from opik_checkembed.testing.fake_opik import FakeOpik

QUICK = Retry(attempts=3, first_delay=0.001)
PRICED = "openai/text-embedding-3-small"  # 0.02 dollars for a million tokens


def at(server: FakeOpenAI, model: str = "openai/fake", **options: Any) -> LiteLLMEmbedder:
    return LiteLLMEmbedder(
        model, api_base=server.base_url, api_key="sk-secret-of-the-test", **{"retry": QUICK, **options}
    )


def asked(server: FakeOpenAI) -> list[list[str]]:
    return [call.body["input"] for call in server.calls]


def letters(text: str) -> list[float]:
    return [float(text.count(letter)) for letter in "abc"]


@pytest.mark.parametrize("shuffled", [False, True])
def test_rows_are_in_the_order_of_the_texts(shuffled: bool) -> None:
    with FakeOpenAI(embed=letters, shuffle_embeddings=shuffled) as server:
        rows = at(server).encode(["a", "bb", "abc"])
    assert rows.dtype == np.float32
    assert rows.tolist() == [[1, 0, 0], [0, 2, 0], [1, 1, 1]]


def test_texts_go_in_batches() -> None:
    with FakeOpenAI(embed=letters) as server:
        rows = at(server, batch_size=2).encode(["a", "b", "c", "ab", "bc"])
        assert asked(server) == [["a", "b"], ["c", "ab"], ["bc"]]
    assert rows.tolist() == [letters(t) for t in ("a", "b", "c", "ab", "bc")]


def test_a_request_is_bounded_in_characters_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_REQUEST_CHARACTERS", 5)
    with FakeOpenAI(embed=letters) as server:
        at(server).encode(["aaa", "bb", "c", "aaaaaaa", "b"])
        assert asked(server) == [["aaa", "bb"], ["c"], ["aaaaaaa"], ["b"]]


def test_dimensions_and_parameters_are_sent() -> None:
    with FakeOpenAI() as server:
        rows = at(server, PRICED, dimensions=16, user="somebody").encode(["a"])
        (call,) = server.calls
    assert rows.shape == (1, 16)
    assert (call.body["dimensions"], call.body["user"]) == (16, "somebody")
    assert call.headers["authorization"] == "Bearer sk-secret-of-the-test"


@pytest.mark.parametrize(
    "fault",
    [Fault.http(429), Fault.http(429, retry_after=0.01), Fault.http(500), Fault.http(503), Fault.reset()],
    ids=["429", "429 with Retry-After", "500", "503", "reset"],
)
def test_a_passing_fault_is_retried_by_us_alone(fault: Fault) -> None:
    with FakeOpenAI(embed=letters, embedding_faults=[fault, fault]) as server:
        embedder = at(server)
        assert embedder.encode(["ab"]).tolist() == [[1, 1, 0]]
        assert server.embedding_requests == 3
    assert embedder.spent.calls == 1


def test_retry_after_is_waited_for() -> None:
    with FakeOpenAI(embedding_faults=[Fault.http(429, retry_after=0.3)]) as server:
        at(server).encode(["a"])
        first, second = server.calls
    assert second.arrived - first.arrived >= 0.3


def test_a_retry_after_that_is_too_long_is_not_waited_for() -> None:
    with FakeOpenAI(embedding_faults=[Fault.http(429, retry_after=3600)]) as server:
        with pytest.raises(EmbedderUnavailable, match=r"^openai/fake: RateLimitError"):
            at(server).encode(["a"])
        assert server.embedding_requests == 1


def test_retries_end() -> None:
    with FakeOpenAI(embedding_faults=lambda call: Fault.http(500)) as server:
        with pytest.raises(EmbedderUnavailable, match=r"InternalServerError.* \(3 attempts\)$"):
            at(server).encode(["a"])
        assert server.embedding_requests == 3


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, EmbeddingError),
        (401, EmbedderUnavailable),
        (403, EmbedderUnavailable),
        (404, EmbedderUnavailable),
        (422, EmbeddingError),
    ],
)
def test_a_refusal_is_final(status: int, error: type[EmbeddingError]) -> None:
    fault = Fault.http(status, "no, not with sk-secret-of-the-test")
    with FakeOpenAI(embedding_faults=lambda call: fault) as server:
        with pytest.raises(EmbeddingError, match="no, not with") as caught:
            at(server).encode(["a"])
        assert server.embedding_requests == 1
    assert type(caught.value) is error
    assert "sk-secret" not in str(caught.value)


def test_a_secret_in_a_header_is_not_shown() -> None:
    fault = Fault.http(400, "bad header hidden-token")
    with (
        FakeOpenAI(embedding_faults=[fault]) as server,
        pytest.raises(EmbeddingError, match=r"bad header \*\*\*"),
    ):
        at(server, extra_headers={"X-Token": "hidden-token"}).encode(["a"])


def test_a_server_that_hangs_is_given_up() -> None:
    with FakeOpenAI(embedding_faults=lambda call: Fault.hang()) as server:
        with pytest.raises(EmbedderUnavailable, match=r"(?i)time.*\(2 attempts\)"):
            at(server, timeout=0.2, retry=Retry(attempts=2, first_delay=0.001)).encode(["a"])
        assert server.embedding_requests == 2


def test_a_port_that_refuses_is_named() -> None:
    with FakeOpenAI() as server:
        gone = at(server)
    with pytest.raises(EmbedderUnavailable, match=r"onnection.*\(3 attempts\)"):
        gone.encode(["a"])


def test_an_answer_that_is_no_json_is_named() -> None:
    with (
        FakeOpenAI(embedding_faults=lambda call: Fault.malformed()) as server,
        pytest.raises(EmbeddingError, match=r"^openai/fake: "),
    ):
        at(server).encode(["a"])


@pytest.mark.parametrize("indices", [[0], [0, 1, 2], [0, 0], [1, 2]])
def test_vectors_for_other_texts_than_these_are_an_error(indices: Sequence[int]) -> None:
    data = [{"object": "embedding", "index": index, "embedding": [1.0, 0.0]} for index in indices]
    usage = {"prompt_tokens": 7, "total_tokens": 7}
    body = json.dumps({"object": "list", "model": "fake", "data": data, "usage": usage})
    with FakeOpenAI(embedding_faults=[Fault.http(200, body=body)]) as server:
        embedder = at(server)
        with pytest.raises(EmbeddingError, match=f"{len(indices)} vectors for 2 texts, or for others"):
            embedder.encode(["a", "b"])
    assert embedder.spent.tokens == 7


def test_one_bad_text_among_joined_callers_fails_alone() -> None:
    """As with an item too long for a model whose limit nobody knows."""

    def refuse(call: Any) -> Fault | None:
        return Fault.http(400, "input too long") if any(len(t) > 100 for t in call.texts) else None

    release = threading.Event()

    def latency(call: Any) -> float:
        release.wait(20)
        return 0.0

    with FakeOpenAI(embedding_faults=refuse, embedding_latency=latency) as server:
        encoder = SharedEncoder(at(server))
        outcomes: dict[str, object] = {}

        def ask(text: str) -> None:
            try:
                outcomes[text] = encoder.vectors([text]).origin
            except EmbeddingError as error:
                outcomes[text] = str(error)

        threads = [threading.Thread(target=ask, args=(text,)) for text in ("first", "x" * 200, "second", "third")]
        threads[0].start()
        server.wait_until(lambda s: s.embedding_requests == 1)
        for thread in threads[1:]:
            thread.start()
        while len(encoder._batcher._pending) < 3:
            threading.Event().wait(0.001)
        release.set()
        for thread in threads:
            thread.join(20)
    assert outcomes["first"] == outcomes["second"] == outcomes["third"] == ("encoded",)
    assert "input too long" in str(outcomes["x" * 200])


def test_cost_is_that_of_the_tokens() -> None:
    with FakeOpenAI() as server:
        embedder = at(server, PRICED, batch_size=1)
        assert embedder.spent == Spent(0, 0, 0.0)
        embedder.encode(["one two three", "four"])
    assert (embedder.spent.calls, embedder.spent.tokens) == (2, 4)
    assert embedder.spent.cost_usd == pytest.approx(4 * 0.02e-6)


def test_an_unknown_price_is_none() -> None:
    with FakeOpenAI() as server:
        embedder = at(server)
        embedder.encode(["one two"])
        embedder.encode(["three"])
    assert embedder.spent == Spent(2, 3, None)


def test_each_request_is_a_span_under_the_current_one() -> None:
    with FakeOpik() as log, FakeOpenAI(embedding_faults=[None, Fault.http(400, "no")]) as server:
        embedder = at(server, PRICED)
        with log.in_this_process(), opik.start_as_current_span("metric"):
            embedder.encode(["one two", "three"])
            with pytest.raises(EmbeddingError):
                embedder.encode(["four"])
        outer = next(span for span in log.spans if span.name == "metric")
        done, failed = (span for span in log.spans if span.name == "embed")
    for span in (done, failed):
        assert (span.type, span.parent_span_id) == ("llm", outer.id)
        assert (span.data["model"], span.data["provider"]) == ("text-embedding-3-small", "openai")
    assert done.data["input"] == {"texts": ["one two", "three"]}
    assert done.data["output"] == {"vectors": 2, "dimensions": 8}
    assert done.usage is not None
    assert done.usage["prompt_tokens"] == 3
    assert done.total_cost == pytest.approx(3 * 0.02e-6)
    assert failed.error_info is not None
    assert "no" in failed.error_info["message"]


def test_without_a_current_span_nothing_is_recorded() -> None:
    with FakeOpik() as log, FakeOpenAI() as server:
        with log.in_this_process():
            at(server).encode(["a"])
        assert log.spans == []


SENTENCES = " ".join(f"This is sentence number {n} of many." for n in range(40))


@pytest.mark.parametrize(("model", "limit"), [("openai/fake", 45), (PRICED, 60)])
def test_long_texts_are_split_within_the_limit(model: str, limit: int) -> None:
    import litellm

    embedder = LiteLLMEmbedder(model, max_tokens=60)
    short, long = embedder.split(["A short text.", SENTENCES])
    assert short == ["A short text."]
    counts = [litellm.token_counter(model=model, text=window) for window in long]
    # Exactly counted models use their limit; others leave a quarter for the difference between tokenizers.
    assert limit - 15 < max(counts) <= limit
    assert set(" ".join(long).split()) == set(SENTENCES.split())


def test_more_bytes_than_tokens_are_no_reason_to_split() -> None:
    embedder = LiteLLMEmbedder(PRICED, max_tokens=60)
    text = "This sentence has eleven words and yet many more bytes, truly."
    assert len(text) > 60
    assert embedder.split([text]) == [[text]]


def test_the_limit_comes_from_litellm_where_it_knows_the_model() -> None:
    assert LiteLLMEmbedder("text-embedding-3-large")._limit() == 8191
    assert LiteLLMEmbedder("cohere/embed-v4.0")._limit() == 96_000  # three quarters of 128,000
    assert LiteLLMEmbedder("voyage/voyage-3", max_tokens=100)._limit() == 75


@pytest.mark.parametrize("model", ["openai/fake", "vercel_ai_gateway/openai/text-embedding-3-small"])
def test_without_a_known_limit_texts_are_sent_whole(model: str) -> None:
    assert LiteLLMEmbedder(model).split([SENTENCES * 50, "a"]) == [[SENTENCES * 50], ["a"]]


class _Ollama(BaseHTTPRequestHandler):
    bodies: ClassVar[list[dict[str, Any]]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.bodies.append(body)
        answer = {"embeddings": [hash_vector(text) for text in body["input"]], "prompt_eval_count": 5}
        sent = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def ollama() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    class Handler(_Ollama):
        bodies: ClassVar[list[dict[str, Any]]] = []

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", Handler.bodies
        finally:
            server.shutdown()
            thread.join()


def test_ollama_is_told_not_to_cut_and_costs_nothing() -> None:
    with ollama() as (base, bodies):
        embedder = LiteLLMEmbedder("ollama/nomic-embed-text", api_base=base)
        rows = embedder.encode(["a", "b"])
    assert [body["truncate"] for body in bodies] == [False]
    np.testing.assert_allclose(rows, [hash_vector("a"), hash_vector("b")], rtol=1e-6)
    assert embedder.spent == Spent(1, 5, 0.0)


def test_no_texts_ask_nothing() -> None:
    with FakeOpenAI() as server:
        assert at(server).encode([]).size == 0
        assert server.embedding_requests == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"model": ""}, "a name that litellm routes"),
        ({"model": None}, "a name that litellm routes"),
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": True}, "batch_size"),
        ({"batch_size": None}, "batch_size"),
        ({"max_tokens": -5}, "max_tokens"),
        ({"dimensions": 1.5}, "dimensions"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": True}, "timeout"),
        ({"timeout": "60"}, "timeout"),
        ({"num_retries": 3, "input": []}, "^input, num_retries cannot be set"),
        ({"encoding_format": "base64"}, "encoding_format cannot be set"),
    ],
)
def test_wrong_arguments_are_refused_when_they_are_given(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        LiteLLMEmbedder(**{"model": "text-embedding-3-small", **arguments})


def test_embedders_are_equal_by_all_that_shapes_a_vector() -> None:
    one = LiteLLMEmbedder("openai/fake", extra_headers={"a": "b"}, api_key="sk-1")
    same = LiteLLMEmbedder("openai/fake", api_key="sk-1", extra_headers={"a": "b"})
    assert one == same
    assert hash(one) == hash(same)
    assert one != LiteLLMEmbedder("openai/other", extra_headers={"a": "b"}, api_key="sk-1")
    assert one != LiteLLMEmbedder("openai/fake", extra_headers={"a": "c"}, api_key="sk-1")
    assert one != "openai/fake"
    assert isinstance(one, Embedder)
    assert isinstance(one, SplitsText)


def test_its_text_shows_no_key() -> None:
    assert repr(LiteLLMEmbedder("openai/fake", api_key="sk-1")) == "LiteLLMEmbedder('openai/fake')"
