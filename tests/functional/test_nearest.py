"""Likeness by character n-grams."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed.functional import nearest
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


def test_values_worked_out_by_hand() -> None:
    # " a " is one 3-gram, which " zz " has not and " a a " has twice.
    found = alike(["a"], ["a", "zz", "a a"])
    np.testing.assert_allclose(found[0, :2], [1, 0], atol=1e-6)
    # Of 4 texts, 3 hold " a " and 1 each of "a a", " a a", "a a ", " a a ".
    common, rare = np.log(4 / 3) + 1, np.log(4) + 1
    both, one = np.log(3) * common, np.log(2) * rare
    np.testing.assert_allclose(found[0, 2], both / np.sqrt(both**2 + 4 * one**2), atol=1e-6)


def test_laid_out_in_parts_the_values_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"Report {n}: the bridge number {n * 7} in Oslo is {n % 5} km long." for n in range(11)]
    whole = alike(texts[:7], texts[2:])
    monkeypatch.setattr(nearest, "_ROWS", 3)
    np.testing.assert_allclose(alike(texts[:7], texts[2:]), whole, atol=1e-6)


def test_memory_does_not_grow_by_a_row_for_each_text() -> None:
    others = [f"The bridge number {n} is long." for n in range(2_000)]
    tracemalloc.start()
    try:
        found = alike(["The bridge number 1234 is long."], others)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found[0].argmax() == 1234
    # All rows at once are 125 MiB.
    assert peak < 32 * 2**20
