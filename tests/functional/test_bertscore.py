"""BERTScore against values worked out by hand, against the definition written out, and its memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from opik_checkembed.functional import bertscore
from opik_checkembed.functional.bertscore import Nearest, TokenEmbeddings, bertscore_f1, nearest_passages

EAST, NORTH, WEST = np.array([[1, 0], [0, 1], [-1, 0]], dtype=np.float32)


def tokens(*vectors: NDArray[np.float32], uncounted: tuple[int, ...] = ()) -> TokenEmbeddings:
    counted = np.array([i not in uncounted for i in range(len(vectors))], dtype=bool)
    return TokenEmbeddings(np.array(vectors, dtype=np.float32).reshape(len(vectors), 2), counted)


def by_definition(reference: TokenEmbeddings, candidate: TokenEmbeddings) -> float:
    def unit(vector: NDArray[np.float32]) -> NDArray[np.float64]:
        wide = vector.astype(np.float64)
        return wide / (np.linalg.norm(wide) or 1)

    def best(vector: NDArray[np.float32], among: NDArray[np.float32]) -> float:
        return max(float(unit(vector) @ unit(other)) for other in among)

    def mean(of: TokenEmbeddings, among: TokenEmbeddings) -> float:
        best_of = [best(v, among.vectors) for v, counted in zip(of.vectors, of.counted, strict=True) if counted]
        return sum(best_of) / len(best_of)

    if not reference.counted.any() or not candidate.counted.any():
        return float("nan")
    precision, recall = mean(candidate, reference), mean(reference, candidate)
    return 2 * precision * recall / (precision + recall)


def test_f1_is_the_harmonic_mean_of_precision_and_recall() -> None:
    # The candidate's one token is in the reference (P = 1); of the reference's two, one is matched (R = 1/2).
    f1 = bertscore_f1([tokens(EAST, NORTH)], [tokens(EAST)])
    assert f1.dtype == np.float32
    assert f1.tolist() == [[pytest.approx(2 * 1 * 0.5 / 1.5)]]


def test_tokens_of_any_length_count_alike() -> None:
    assert bertscore_f1([tokens(EAST * 7, NORTH)], [tokens(EAST, NORTH / 9)]).tolist() == [[pytest.approx(1)]]


def test_special_tokens_are_matched_but_not_counted() -> None:
    reference = tokens(WEST, EAST, uncounted=(0,))
    candidate = tokens(EAST, WEST, uncounted=())
    # West counts for the candidate, where the reference's special token matches it: P = 1; and R = 1.
    assert bertscore_f1([reference], [candidate]).tolist() == [[pytest.approx(1)]]
    # Without it West meets only East: P = (1 - 1) / 2 = 0.
    assert bertscore_f1([tokens(EAST)], [candidate]).tolist() == [[pytest.approx(0)]]
    # Counted, it would have been matched too; uncounted, what it would have matched is not asked for.
    other = tokens(NORTH, EAST, uncounted=(0,))
    assert bertscore_f1([other], [tokens(EAST)]).tolist() == [[pytest.approx(1)]]


def test_a_baseline_becomes_zero() -> None:
    texts = [tokens(EAST, NORTH)], [tokens(EAST), tokens(EAST, NORTH)]
    plain = bertscore_f1(*texts)
    assert bertscore_f1(*texts, baseline=0.25).tolist() == [[pytest.approx((2 / 3 - 0.25) / 0.75), pytest.approx(1)]]
    assert bertscore_f1(*texts, baseline=2 / 3)[0, 0] == pytest.approx(0, abs=1e-6)
    assert np.array_equal(bertscore_f1(*texts, baseline=0.0), plain)


@pytest.mark.parametrize("baseline", [1.0, 2.0, float("nan")])
def test_a_baseline_leaves_something_to_tell_apart(baseline: float) -> None:
    with pytest.raises(ValueError, match="below 1"):
        bertscore_f1([tokens(EAST)], [tokens(EAST)], baseline=baseline)


def test_what_has_no_counted_token_has_no_f1() -> None:
    f1 = bertscore_f1([tokens(), tokens(EAST), tokens(EAST, uncounted=(0,))], [tokens(), tokens(EAST)], baseline=0.5)
    assert np.isnan(f1).tolist() == [[True, True], [True, False], [True, True]]
    assert f1[1, 1] == pytest.approx(1)


def test_nothing_to_compare() -> None:
    assert bertscore_f1([], [tokens(EAST)]).shape == (0, 1)
    assert bertscore_f1([tokens(EAST)], []).shape == (1, 0)
    assert np.isnan(bertscore_f1([tokens()], [tokens()])).all()


def test_opposite_and_zero_vectors_give_numbers() -> None:
    assert bertscore_f1([tokens(EAST)], [tokens(WEST)]).tolist() == [[pytest.approx(-1)]]
    assert bertscore_f1([tokens(EAST)], [tokens(NORTH)]).tolist() == [[0.0]]  # P + R = 0
    assert bertscore_f1([tokens(EAST)], [tokens(0 * EAST, EAST)]).tolist() == [[pytest.approx(2 / 3)]]


def test_embeddings_of_two_encoders_are_refused() -> None:
    wide = TokenEmbeddings(np.ones((1, 3), dtype=np.float32), np.ones(1, dtype=bool))
    with pytest.raises(ValueError, match="2 and 3 dimensions"):
        bertscore_f1([tokens(EAST)], [wide])


@st.composite
def texts(draw: st.DrawFn) -> list[TokenEmbeddings]:
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    lengths = draw(st.lists(st.integers(0, 9), max_size=5))
    # Embeddings of real encoders lie in a narrow cone, where no cosine is negative and P + R is far from 0.
    return [
        TokenEmbeddings((random.standard_normal((n, 4)) + 3).astype(np.float32), random.random(n) < 0.8)
        for n in lengths
    ]


@given(texts(), texts(), st.integers(1, 12), st.integers(1, 12))
def test_equal_to_the_definition_however_it_is_tiled(
    references: list[TokenEmbeddings], candidates: list[TokenEmbeddings], rows: int, columns: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bertscore, "_TILE_ROWS", rows)
        patch.setattr(bertscore, "_TILE_COLUMNS", columns)
        f1 = bertscore_f1(references, candidates)
    expected = [[by_definition(r, c) for c in candidates] for r in references]
    assert f1 == pytest.approx(np.array(expected).reshape(f1.shape), abs=1e-4, nan_ok=True)


@given(texts(), texts())
def test_symmetric_and_one_for_itself(some: list[TokenEmbeddings], others: list[TokenEmbeddings]) -> None:
    there, back = bertscore_f1(some, others), bertscore_f1(others, some)
    assert there == pytest.approx(back.T, abs=1e-6, nan_ok=True)
    own = np.diag(bertscore_f1(some, some))
    assert own[~np.isnan(own)] == pytest.approx(1, abs=1e-6)


def test_the_embeddings_are_left_as_they_are() -> None:
    text = tokens(EAST * 3, NORTH * 2)
    text.vectors.setflags(write=False)
    bertscore_f1([text], [text])
    assert text.vectors.tolist() == [[3, 0], [0, 2]]


def test_memory_is_bounded() -> None:
    # 200 sentences of 25 tokens against 20 samples of 300: all cosines at once would be 120 MB.
    random = np.random.default_rng(0)

    def sentence(length: int) -> TokenEmbeddings:
        return TokenEmbeddings(random.random((length, 32), dtype=np.float32), np.ones(length, dtype=bool))

    judged = [sentence(25) for _ in range(200)]
    passages = [sentence(30) for _ in range(200)]
    tracemalloc.start()
    try:
        f1 = bertscore_f1(judged, passages)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert not np.isnan(f1).any()
    assert peak < 30e6


def test_nearest_is_the_best_passage_of_each_sample() -> None:
    f1 = np.array([[0.1, 0.7, 0.7, 0.4], [0.9, 0.2, 0.3, 0.6]], dtype=np.float32)
    nearest = nearest_passages(f1, [[0, 3], [2, 1], [1]])
    assert nearest.passage.tolist() == [[3, 2, 1], [0, 2, 1]]
    assert nearest.f1.tolist() == pytest.approx(np.array([[0.4, 0.7, 0.7], [0.9, 0.3, 0.2]]))
    assert nearest.scores[1] == pytest.approx((0.1, 0.7, 0.8))


def test_a_sample_without_a_passage_has_no_score() -> None:
    nan = np.nan
    f1 = np.array([[0.5, nan], [nan, nan]], dtype=np.float32)
    nearest: Nearest = nearest_passages(f1, [[], [1, 0], [1]])
    assert nearest.scores == ((None, 0.5, None), (None, None, None))
    assert nearest.passage.tolist() == [[-1, 0, -1], [-1, -1, -1]]
