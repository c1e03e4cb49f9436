"""Ways to cut an answer into sentences, for the metrics that score sentence by sentence.

The one used is the one asked for: it never depends on what happens to be installed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from opik_checkembed.errors import ConfigurationError


@dataclass(frozen=True, slots=True, order=True)
class Sentence:
    """The characters of a text from `start` to before `end`, and how many tokens its splitter counts in them."""

    start: int
    end: int
    tokens: int

    def of(self, text: str) -> str:
        """This sentence's part of the text it was found in."""
        return text[self.start : self.end]


@runtime_checkable
class SentenceSplitter(Protocol):
    """Finds the sentences of a text."""

    def split(self, text: str) -> list[Sentence]:
        """The sentences, in order, without white space at their ends; none for a text without any."""
        ...


# Words (with their apostrophe), characters of scripts without spaces, and marks, each one token.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0e7f"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W{_CJK}_]+(?:['’][^\W{_CJK}_]+)*|[^\w\s]|_")
_FENCES = ("```", "~~~")


def tokens_of(text: str) -> int:
    """How many tokens the rules count in a text; see `RuleSplitter`.

    Example:
        >>> tokens_of("It's 5 km. 東京")
        6
    """
    return len(_TOKEN.findall(text))


class RuleSplitter:
    """`opik_checkembed.text.sentences`: blocks first, then `sentencex`. Needs no model.

    Fenced code is left out: it makes no statement that a sample could support. A token is a word, a mark, or a
    character of a script that sets no spaces.

    Args:
        language: ISO 639 code for the abbreviations of that language.

    Raises:
        ConfigurationError: The language is not a code.

    Example:
        >>> text = "Dr. Smith paid $3.5 m. to U.S. Steel Inc. Then he left."
        >>> [(s.of(text), s.tokens) for s in RuleSplitter().split(text)]
        [('Dr. Smith paid $3.5 m. to U.S. Steel Inc.', 18), ('Then he left.', 4)]
    """

    def __init__(self, language: str = "en") -> None:
        if not isinstance(language, str) or not re.fullmatch(r"[a-z]{2,3}(?:-[A-Za-z0-9]+)*", language):
            raise ConfigurationError(f"language must be a code like 'en' or 'de', not {language!r}")
        self.language = language

    def split(self, text: str) -> list[Sentence]:
        """The sentences of a text, fenced code left out."""
        from opik_checkembed.text import sentences  # its patterns take a while to compile

        found = []
        for span in sentences(text, self.language):
            piece = span.of(text)
            if not piece.startswith(_FENCES):
                found.append(Sentence(span.start, span.end, tokens_of(piece)))
        return found

    def __repr__(self) -> str:
        return f"RuleSplitter({self.language!r})"


def splitter_of(given: SentenceSplitter | str | None, language: str) -> SentenceSplitter:
    """The splitter that an argument stands for: one's own, a spaCy pipeline by name or folder, or the rules.

    Raises:
        ConfigurationError: It is none of these, or the pipeline is not installed.
    """
    if given is None:
        return RuleSplitter(language)
    if isinstance(given, str):
        from opik_checkembed.spacy_text import SpacySplitter

        return SpacySplitter(given)
    if isinstance(given, type) or not isinstance(given, SentenceSplitter):
        raise ConfigurationError(
            "splitter must be the name of a spaCy pipeline like 'en_core_web_sm', or an object with split(text) that "
            f"returns sentences, not {given!r}"
        )
    return given
