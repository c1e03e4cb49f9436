"""Every distinct text once, whoever asks; vectors checked, windows pooled, failures named."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from opik_checkembed.errors import ConfigurationError, EmbeddingError
from opik_checkembed.models.embedder import EMBEDDER_VARIABLE, SentenceTransformerEmbedder
from opik_checkembed.models.litellm_embedder import LiteLLMEmbedder
from opik_checkembed.models.shared_encoder import SharedEncoder, shared_encoder

DEADLINE = 20.0


class Letters:
    """A vector counts the letters a, b and c; not of length 1. Calls are written down."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(list(texts))
        return np.array([[t.count(letter) for letter in "abc"] for t in texts], dtype=np.float32)


class SplitLetters(Letters):
    """Reads texts up to the first `|`, so that each part is a window."""

    def split(self, texts: Sequence[str]) -> list[list[str]]:
        return [text.split("|") for text in texts]


@dataclass
class Returning:
    """Returns what it is told to, whatever the texts."""

    answer: Any

    def encode(self, texts: Sequence[str]) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_rows_are_made_unit_vectors_in_the_order_of_the_texts() -> None:
    embedded = SharedEncoder(Letters()).vectors(["aaaabbb", "c", "ab"])
    half = float(np.sqrt(0.5))
    np.testing.assert_allclose(embedded.vectors, [[0.8, 0.6, 0.0], [0.0, 0.0, 1.0], [half, half, 0.0]], rtol=1e-6)
    assert embedded.vectors.dtype == np.float32
    assert embedded.windows == (1, 1, 1)
    with pytest.raises(ValueError, match="read-only"):
        embedded.vectors[0, 0] = 1


def test_one_call_with_distinct_texts_longest_first_then_from_the_cache() -> None:
    letters = Letters()
    encoder = SharedEncoder(letters)
    assert encoder.vectors(["a", "bbb", "a", "cc"]).origin == ("encoded", "encoded", "shared", "encoded")
    again = encoder.vectors(["cc", "ab", "bbb"])
    assert again.origin == ("cached", "encoded", "cached")
    np.testing.assert_allclose(again.vectors[[0, 2]], [[0, 0, 1], [0, 1, 0]])
    assert letters.calls == [["bbb", "cc", "a"], ["ab"]]


def test_windows_are_pooled_by_their_length() -> None:
    letters = SplitLetters()
    embedded = SharedEncoder(letters).vectors(["aaa|b", "c"])
    # Unit vectors (1,0,0) and (0,1,0) with weights 3 and 1.
    root = float(np.sqrt(10))
    np.testing.assert_allclose(embedded.vectors, [[3 / root, 1 / root, 0.0], [0.0, 0.0, 1.0]], rtol=1e-6)
    assert embedded.windows == (2, 1)
    assert letters.calls == [["aaa", "b", "c"]]


def test_equal_windows_are_encoded_once_and_count_each_time() -> None:
    letters = SplitLetters()
    embedded = SharedEncoder(letters).vectors(["a|b|a", "a"])
    np.testing.assert_allclose(embedded.vectors[0], [2 / 5**0.5, 1 / 5**0.5, 0], rtol=1e-6)
    assert embedded.windows == (3, 1)
    assert letters.calls == [["a", "b"]]


def test_no_texts() -> None:
    letters = Letters()
    embedded = SharedEncoder(letters).vectors([])
    assert (embedded.vectors.shape, embedded.windows, embedded.origin) == ((0, 0), (), ())
    assert letters.calls == []


def test_one_text_in_place_of_a_list_is_the_programs_fault() -> None:
    with pytest.raises(TypeError, match="a sequence of texts"):
        SharedEncoder(Letters()).vectors("abc")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (np.ones((3, 4), np.float32), r"float32 of shape \(3, 4\) for 2 texts; .* \(2, d\)"),
        (np.ones(2, np.float32), r"shape \(2,\)"),
        (np.ones((2, 0), np.float32), r"shape \(2, 0\)"),
        (np.ones((2, 2, 2), np.float32), r"shape \(2, 2, 2\)"),
        (None, r"object of shape \(\)"),
        ([["1", "2"], ["3", "4"]], "<U1 of shape"),
        ([[1.0, 2.0], [3.0]], "failed: ValueError"),
        ([[1.0, 0.0], [float("nan"), 0.0]], "a vector that is not finite for the text 'short'"),
        ([[float("inf"), 0.0], [1.0, 0.0]], "not finite for the text 'the longer one'"),
        ([[1e200, 1e200], [1.0, 0.0]], "not finite"),
        ([[0.0, 0.0], [1.0, 0.0]], "a vector of length 0 for the text 'the longer one'"),
        (RuntimeError("out of memory"), "the embedder Returning failed: RuntimeError: out of memory"),
        (EmbeddingError("said by the embedder"), "^said by the embedder$"),
    ],
)
def test_what_is_no_set_of_vectors_is_named_and_not_kept(answer: object, said: str) -> None:
    returning = Returning(answer)
    encoder = SharedEncoder(returning)
    with pytest.raises(EmbeddingError, match=said):
        encoder.vectors(["short", "the longer one"])
    returning.answer = [[3, 4], [0, 2]]
    assert encoder.vectors(["short", "the longer one"]).vectors.tolist() == [
        [0, 1],
        [pytest.approx(0.6), pytest.approx(0.8)],
    ]


def test_lists_integers_and_doubles_are_vectors_too() -> None:
    for answer in ([[3, 4]], np.array([[3, 4]]), np.array([[3.0, 4.0]]), np.array([[3, 4]], np.float16)):
        vectors = SharedEncoder(Returning(answer)).vectors(["a"]).vectors
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(vectors, [[0.6, 0.8]], rtol=1e-6)


def test_dimensions_that_change_are_an_error() -> None:
    returning = Returning(np.ones((1, 3)))
    encoder = SharedEncoder(returning)
    encoder.vectors(["a"])
    returning.answer = np.ones((1, 4))
    with pytest.raises(EmbeddingError, match="vectors of 4 dimensions, before 3"):
        encoder.vectors(["b"])


def test_windows_that_cancel_out_have_no_vector() -> None:
    class Opposite(SplitLetters):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.array([[1.0 if text == "a" else -1.0] for text in texts], dtype=np.float32)

    with pytest.raises(EmbeddingError, match="the windows of the text 'a' cancel each other out"):
        SharedEncoder(Opposite()).vectors(["a|b"])


@pytest.mark.parametrize("split", [[], [[]], [["a"], ["b"]]])
def test_a_split_that_leaves_a_text_out_is_an_error(split: list[list[str]]) -> None:
    class Wrong(Letters):
        def split(self, texts: Sequence[str]) -> list[list[str]]:
            return split

    with pytest.raises(EmbeddingError, match="did not split each of 1 texts"):
        SharedEncoder(Wrong()).vectors(["a"])


def test_half_a_surrogate_pair_is_named() -> None:
    letters = Letters()
    with pytest.raises(EmbeddingError, match="half of a surrogate pair at character 2"):
        SharedEncoder(letters).vectors(["ab\ud83d"])
    assert letters.calls == []


def test_a_long_text_is_shown_shortened() -> None:
    with pytest.raises(EmbeddingError) as caught:
        SharedEncoder(Letters()).vectors(["x" * 5000])
    assert str(caught.value).endswith("for the text '" + "x" * 59 + "…'")


@given(st.lists(st.text(alphabet="abc|", min_size=1, max_size=8).filter(lambda t: all(t.split("|"))), max_size=6))
def test_a_texts_vector_does_not_depend_on_its_company(texts: list[str]) -> None:
    together = SharedEncoder(SplitLetters()).vectors(texts)
    for text, row, windows in zip(texts, together.vectors, together.windows, strict=True):
        alone = SharedEncoder(SplitLetters()).vectors([text])
        np.testing.assert_array_equal(alone.vectors[0], row)
        assert np.linalg.norm(row) == pytest.approx(1, abs=1e-6)
        assert alone.windows == (windows,) == (text.count("|") + 1,)


def test_the_cache_is_bounded_in_bytes() -> None:
    letters = Letters()
    encoder = SharedEncoder(letters, max_bytes=2 * 3 * 4)  # two vectors of three float32
    encoder.vectors(["a", "b", "c"])
    assert encoder.vectors(["c"]).origin == ("cached",)
    assert encoder.vectors(["a"]).origin == ("encoded",)
    assert encoder.vectors(["c", "b"]).origin == ("cached", "encoded")


def test_sixteen_threads_encode_each_distinct_text_once() -> None:
    letters = Letters()
    encoder = SharedEncoder(letters)
    barrier = threading.Barrier(16)

    def ask(n: int) -> NDArray[np.float32]:
        barrier.wait(DEADLINE)
        return encoder.vectors(["a" * (1 + (n + i) % 7) + "b" for i in range(5)]).vectors

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, range(16)))
    encoded = [text for call in letters.calls for text in call]
    assert sorted(encoded, key=len) == ["a" * n + "b" for n in range(1, 8)]
    for n, vectors in enumerate(answers):
        counts = [1 + (n + i) % 7 for i in range(5)]
        np.testing.assert_allclose(vectors[:, 0], [c / (c * c + 1) ** 0.5 for c in counts], rtol=1e-6)


def test_a_failing_embedder_fails_all_who_wait_and_poisons_nothing() -> None:
    class Failing(Letters):
        broken = True

        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if self.broken:
                raise RuntimeError("no memory left")
            return super().encode(texts)

    failing = Failing()
    encoder = SharedEncoder(failing)
    barrier = threading.Barrier(16)

    def ask(n: int) -> str:
        barrier.wait(DEADLINE)
        with pytest.raises(EmbeddingError) as caught:
            encoder.vectors(["a" * (n + 1)])
        return str(caught.value)

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(ask, range(16))) == {"the embedder Failing failed: RuntimeError: no memory left"}
    failing.broken = False
    assert encoder.vectors(["a"]).origin == ("encoded",)


@dataclass(frozen=True)
class Equal(Letters):
    """Equal by its setting, as a user's dataclass would be."""

    setting: int

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 1), dtype=np.float32)


def test_equal_objects_share_one_encoder_until_nobody_uses_it() -> None:
    encoder = shared_encoder(Equal(1))
    assert shared_encoder(Equal(1)) is encoder
    assert shared_encoder(Equal(2)) is not encoder
    gone = weakref.ref(encoder)
    del encoder
    gc.collect()
    assert gone() is None


def test_an_object_without_a_hash_is_known_by_identity() -> None:
    one, other = Returning([[1.0]]), Returning([[1.0]])
    encoder = shared_encoder(one)
    assert shared_encoder(one) is encoder
    assert one == other
    assert shared_encoder(other) is not encoder


def test_equal_names_share_one_encoder_also_with_the_embedder_they_stand_for() -> None:
    name = "BAAI/bge-small-en-v1.5"
    encoder = shared_encoder(name)
    assert shared_encoder(name) is encoder
    assert shared_encoder(SentenceTransformerEmbedder(name)) is encoder
    assert shared_encoder(SentenceTransformerEmbedder(name, device="cpu")) is not encoder
    assert repr(encoder) == "SharedEncoder(SentenceTransformerEmbedder('BAAI/bge-small-en-v1.5'))"


def test_a_named_encoder_stays_for_the_process() -> None:
    first = weakref.ref(shared_encoder("BAAI/bge-base-en-v1.5"))
    gc.collect()
    assert first() is shared_encoder("BAAI/bge-base-en-v1.5")


def test_a_name_that_litellm_routes_is_an_api_embedder() -> None:
    encoder = shared_encoder("text-embedding-3-small")
    assert isinstance(encoder.embedder, LiteLLMEmbedder)
    assert shared_encoder(LiteLLMEmbedder("text-embedding-3-small")) is encoder
    assert shared_encoder(LiteLLMEmbedder("text-embedding-3-small", dimensions=8)) is not encoder


def test_the_environment_names_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(EMBEDDER_VARIABLE, raising=False)
    standard = shared_encoder()
    assert shared_encoder("sentence-transformers/all-MiniLM-L6-v2") is standard
    assert shared_encoder("all-MiniLM-L6-v2") is standard
    monkeypatch.setenv(EMBEDDER_VARIABLE, "voyage/voyage-3.5")
    assert isinstance(shared_encoder().embedder, LiteLLMEmbedder)


def test_sixteen_threads_get_one_encoder() -> None:
    barrier = threading.Barrier(16)

    def ask(_: int) -> SharedEncoder:
        barrier.wait(DEADLINE)
        return shared_encoder("intfloat/multilingual-e5-small")

    with ThreadPoolExecutor(16) as pool:
        assert len(set(pool.map(ask, range(16)))) == 1


@pytest.mark.parametrize("wrong", [7, object(), Letters, ["all-MiniLM-L6-v2"], lambda texts: texts])
def test_what_is_no_embedder_is_refused_when_it_is_given(wrong: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"an object with encode\(texts\)"):
        shared_encoder(wrong)


@pytest.mark.parametrize("wrong", ["", "  ", "/no/such/folder", Path("no-such-folder")])
def test_what_names_no_model_is_refused_when_it_is_given(wrong: str | Path) -> None:
    with pytest.raises(ConfigurationError):
        shared_encoder(wrong)
