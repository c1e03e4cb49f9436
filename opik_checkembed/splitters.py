"""Ways to cut an answer into sentences, for the metrics that score sentence by sentence.

The one used is the one asked for: it never depends on what happens to be installed.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from opik_checkembed.errors import ConfigurationError, ItemError, ModelError
from opik_checkembed.language import bare_language


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
# The same for plain English, several times as fast.
_ASCII_TOKEN = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*|[^\w\s\x1c-\x1f]|_", re.ASCII)
# What a byte of it is: a letter or figure, white space, an apostrophe, another mark. Only the first half is used.
_ASCII_KINDS = bytes(
    ord("a" if c.isalnum() else " " if c.isspace() else c if c == "'" else ".") for c in map(chr, range(256))
)


def words_of(text: str) -> list[str]:
    """The tokens of a text by rules, white space left out; see `RuleSplitter`.

    Example:
        >>> words_of("It's 5 km. 東京")
        ["It's", '5', 'km', '.', '東', '京']
    """
    return (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)


def tokens_of(text: str) -> int:
    """How many tokens the rules count in a text; see `RuleSplitter`.

    Example:
        >>> tokens_of("It's 5 km. 東京")
        6
    """
    if not text.isascii():
        return len(words_of(text))
    # Counting takes no list of words, and bytes are looked up at once: a third of the time.
    kinds = text.encode("ascii").translate(_ASCII_KINDS)
    # Each apostrophe between letters; the second time those that the first has passed over, as the one in "n'r".
    kinds = kinds.replace(b"a'a", b"aaa").replace(b"a'a", b"aaa").replace(b"'", b".")
    return len(kinds.replace(b".", b" . ").split())


class RuleSplitter:
    """`opik_checkembed.text.sentences`: blocks first, then `sentencex`. Needs no model.

    Fenced code is left out: it makes no statement that a sample could support. A token is a word, a mark, or a
    character of a script that sets no spaces.

    Args:
        language: ISO 639 code for the abbreviations of that language; a region behind it ("de-AT") changes nothing.

    Raises:
        ConfigurationError: The language is not a code.

    Example:
        >>> text = "Dr. Smith paid $3.5 m. to U.S. Steel Inc. Then he left."
        >>> [(s.of(text), s.tokens) for s in RuleSplitter().split(text)]
        [('Dr. Smith paid $3.5 m. to U.S. Steel Inc.', 18), ('Then he left.', 4)]
    """

    def __init__(self, language: str = "en") -> None:
        self.language = bare_language(language)

    def split(self, text: str) -> list[Sentence]:
        """The sentences of a text, fenced code left out."""
        return self.split_with_code(text)[0]

    def split_with_code(self, text: str) -> tuple[list[Sentence], int]:
        """The sentences of a text, and how many blocks of fenced code were left out."""
        from opik_checkembed.text import sentences_and_code  # its patterns take a while to compile

        spans, code = sentences_and_code(text, self.language)
        return [Sentence(span.start, span.end, tokens_of(span.of(text))) for span in spans], len(code)

    def __repr__(self) -> str:
        return f"RuleSplitter({self.language!r})"


def sentences_of(splitter: SentenceSplitter, text: str) -> list[Sentence]:
    """The sentences of a text by any splitter, whoever wrote it.

    Raises:
        ItemError: It raised, or did not return sentences of this text.
    """
    try:
        found = list(splitter.split(text))
    except ItemError:
        raise
    except Exception as error:
        # A splitter may be the user's own, so this can be anything; it must fail items, not the evaluation.
        raise ModelError(f"the splitter raised {error!r}") from error
    for one in found:
        if not isinstance(one, Sentence):
            raise ModelError(f"the splitter returned a {type(one).__name__} among its sentences, not a Sentence")
        numbers = all(isinstance(number, int) for number in (one.start, one.end, one.tokens))
        if not numbers or not 0 <= one.start < one.end <= len(text) or one.of(text).isspace():
            raise ModelError(f"the splitter returned {one!r}, which is no sentence of a text of {len(text)} characters")
    return found


def splitter_of(given: SentenceSplitter | str | os.PathLike[str] | None, language: str) -> SentenceSplitter:
    """The splitter that an argument stands for: one's own, a spaCy pipeline by name or folder, or the rules.

    Raises:
        ConfigurationError: It is none of these, the pipeline is not installed, or the language is not a code.
    """
    rules = RuleSplitter(language)
    if given is None:
        return rules
    if isinstance(given, str | os.PathLike):
        from opik_checkembed.spacy_text import SpacySplitter

        return SpacySplitter(given)
    if isinstance(given, type) or not isinstance(given, SentenceSplitter):
        raise ConfigurationError(
            "splitter must be the name or folder of a spaCy pipeline like 'en_core_web_sm', or an object with "
            f"split(text) that returns sentences, not {given!r}"
        )
    return given
