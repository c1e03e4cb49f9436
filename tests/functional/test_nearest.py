"""Likeness by character n-grams."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed.functional.nearest import alike


def test_equal_texts_are_alike_whatever_their_case_and_white_space() -> None:
    found = alike(["She was born in Oslo."], ["she  was born\nin OSLO. ", "He paints."])
    np.testing.assert_allclose(found[0, 0], 1, atol=1e-6)
    assert found[0, 1] < 0.2


def test_a_shared_rare_word_counts_more_than_what_all_say() -> None:
    said = ["Rick Mahler was a pitcher in 1985.", "Rick Mahler was a fond of tennis.", "Rick Mahler was a pitcher."]
    assert alike(["Rick Mahler was a pitcher fond of tennis."], said)[0].argmax() == 1


def test_scripts_without_spaces() -> None:
    assert alike(["彼女は東京で生まれた。"], ["彼は画家である。", "東京で生まれた彼女。"])[0].argmax() == 1


def test_texts_without_an_n_gram() -> None:
    assert alike(["", "a"], ["b", " "]).tolist() == [[0, 0], [0, 0]]
    assert alike([], ["b"]).shape == (0, 1)
    assert alike(["a"], []).shape == (1, 0)


@given(st.lists(st.text(max_size=40), min_size=1, max_size=4), st.lists(st.text(max_size=40), min_size=1, max_size=4))
def test_it_is_symmetric_and_within_its_range(texts: list[str], others: list[str]) -> None:
    found = alike(texts, others)
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_allclose(found, alike(others, texts).T, atol=1e-5)
