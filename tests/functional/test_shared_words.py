"""Nearest sentences by their words: by hand, against the plain formula, and for long texts."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed.functional import shared_words
from opik_checkembed.functional.shared_words import SentenceWords, numbered
from opik_checkembed.functional.specifics import words_of


def nearest_by_words(sentences: list[str], texts: list[list[str]]) -> list[list[int | None]]:
    """The function at hand for sentences as strings, with None for none."""
    split = [[words_of(sentence).split() for sentence in text] for text in (sentences, *texts)]
    read = []
    for text, words in zip(
        split, numbered([word for sentence in text for word in sentence] for text in split), strict=True
    ):
        ends = np.cumsum([len(sentence) for sentence in text], dtype=np.intp)
        read.append(SentenceWords(words, ends - np.array([len(sentence) for sentence in text], dtype=np.intp), ends))
    found = shared_words.nearest_by_words(read[0], read[1:])
    return [[None if place < 0 else place for place in row] for row in found.tolist()]


def test_rare_words_decide() -> None:
    texts = [["The ship was in the port.", "The storm sank the Vasa."], ["The port, the ship.", "Vasa!"]]
    assert nearest_by_words(["The Vasa was the ship."], texts) == [[0, 1]]
    # "the" alone is shared with the first sentence, and nothing with the second.
    assert nearest_by_words(["the"], [["The ship.", "A port."], ["A port."], []]) == [[0, None, None]]


def test_nothing_to_compare() -> None:
    assert nearest_by_words([], [["One."]]) == []
    assert nearest_by_words(["One."], [[], []]) == [[None, None]]
    assert nearest_by_words(["One."], []) == [[]]
    assert nearest_by_words(["...", ""], [["?", "One."]]) == [[None], [None]]


def test_of_equals_the_first_is_taken() -> None:
    skies, suns = ["green sky", "blue sky", "blue sky"], ["sun", "red sun", "red sun"]
    assert nearest_by_words(["red and blue"], [skies, suns]) == [[1, 1]]


TEXT = st.lists(st.sampled_from(["a", "b", "c d", "d e f", "a c f", "g", ""]), min_size=1, max_size=5)


@given(TEXT, st.lists(TEXT, min_size=1, max_size=3))
def test_it_is_the_cosine_of_weighted_word_sets(sentences: list[str], texts: list[list[str]]) -> None:
    every = [set(re.findall(r"\w+", sentence)) for sentence in [*sentences, *(one for text in texts for one in text)]]
    weight = {w: math.log((1 + len(every)) / sum(w in words for words in every)) for words in every for w in words}

    def cosine(one: str, other: str) -> float:
        ours, theirs = set(one.split()), set(other.split())
        norms = [math.sqrt(sum(weight[w] ** 2 for w in words)) for words in (ours, theirs)]
        return sum(weight[w] ** 2 for w in ours & theirs) / (norms[0] * norms[1]) if all(norms) else 0.0

    for sentence, row in zip(sentences, nearest_by_words(sentences, texts), strict=True):
        for text, place in zip(texts, row, strict=True):
            likeness = [cosine(sentence, other) for other in text]
            best = max(likeness)
            assert (place is None) == (best == 0)
            assert place is None or math.isclose(likeness[place], best, rel_tol=1e-9)


def test_parts_give_what_the_whole_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = [f"word{i} in {i % 7}" for i in range(40)]
    texts = [[f"word{i} {i % 5}" for i in range(0, 40, 2)], [f"in {i}" for i in range(9)]]
    whole = nearest_by_words(sentences, texts)

    monkeypatch.setattr(shared_words, "_CELLS", 60)
    assert nearest_by_words(sentences, texts) == whole
    assert whole[2] == [1, 2]


def test_a_word_of_very_many_sentences_tells_none_apart() -> None:
    others = [f"common word{i}" for i in range(300)]
    assert nearest_by_words(["common word7", "common"], [others]) == [[7], [None]]
