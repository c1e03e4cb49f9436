from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed.functional.ngram import NgramModel, ngrams, surprise

WORDS = st.lists(st.sampled_from("abcde"), min_size=1, max_size=6)


def test_a_unigram_is_worked_out_by_hand() -> None:
    # a 3 times, b once, c once of 5.
    model = NgramModel([["a", "b"], ["a", "a", "c"]])

    found = surprise(model, ["a", "b", "c"])

    assert found.maximum == pytest.approx(math.log(5))
    assert found.average == pytest.approx((math.log(5 / 3) + 2 * math.log(5)) / 3)
    assert found.rarest == 1  # the first of the two


def test_white_space_counts_but_is_not_the_rarest_named() -> None:
    # born 3 times, in twice, two spaces once of 6.
    model = NgramModel([["born", "  ", "in"], ["born", "in"], ["born"]])

    found = surprise(model, ["born", "  ", "in"])

    assert found.maximum == pytest.approx(math.log(6))
    assert found.average == pytest.approx((math.log(2) + math.log(6) + math.log(3)) / 3)
    assert (found.rarest, found.spaced) == (2, True)
    # As rare a word is named, and nothing is rarer than it.
    again = surprise(model, ["\n", "unseen", "in"])
    assert (again.rarest, again.spaced) == (1, False)
    assert surprise(model, ["\n", "  "]).rarest == 0


def test_a_bigram_begins_at_the_sentence() -> None:
    model = NgramModel([["a", "b"], ["a", "c"]], n=2)

    assert ngrams(["a", "b"], 3) == [("<s>", "<s>", "a"), ("<s>", "a", "b")]
    # (<s> a) twice of 4; (a b) once; (b a) never, so less than once.
    assert model.surprises(["a", "b", "a"]) == pytest.approx([math.log(2), math.log(4), math.log(5)])


def test_smoothing_spreads_over_the_known_and_the_unknown() -> None:
    model = NgramModel([["a", "a", "b"]], smoothing=1)

    # total 3, two distinct and the unknown one: 3 + 3 = 6.
    assert model.surprises(["a", "b", "z"]) == pytest.approx([math.log(6 / 3), math.log(6 / 2), math.log(6)])


@given(st.lists(WORDS, min_size=1, max_size=4), WORDS, st.integers(1, 4), st.sampled_from([0.0, 0.5, 2.0]))
def test_it_is_finite_positive_and_the_order_of_samples_is_no_matter(
    sentences: list[list[str]], tokens: list[str], n: int, smoothing: float
) -> None:
    found = surprise(NgramModel(sentences, n, smoothing), [*tokens, "unseen"])

    assert 0 <= found.average <= found.maximum < math.inf
    assert found == surprise(NgramModel(sentences[::-1], n, smoothing), [*tokens, "unseen"])


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_the_unseen_is_more_surprising_than_anything_seen(sentences: list[list[str]]) -> None:
    model = NgramModel(sentences)

    assert model.surprises(["unseen"])[0] > max(max(model.surprises(tokens)) for tokens in sentences)


@pytest.mark.parametrize(("n", "smoothing"), [(0, 0.0), (1, -0.1), (1, math.inf), (1, math.nan)])
def test_what_cannot_work_is_refused(n: int, smoothing: float) -> None:
    with pytest.raises(ValueError, match="n must be at least 1 and smoothing 0 or more"):
        NgramModel([["a"]], n, smoothing)


def test_no_tokens_have_no_surprise() -> None:
    with pytest.raises(ValueError, match="without tokens"):
        surprise(NgramModel([["a"]]), [])
