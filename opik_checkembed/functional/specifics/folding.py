"""Texts as their words are compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import pairwise


def folded(text: str) -> str:
    """A text as its words are compared: case, accents, width, apostrophes and white space do not count.

    Example:
        >>> folded("O’Neill's  CAFÉ")
        "o'neill cafe"
    """
    return " ".join(_folded(text).split())


def _folded(text: str) -> str:
    """White space as it is."""
    if text.isascii():
        if "'" not in text:
            return text.casefold()
    else:
        text = unicodedata.normalize("NFKD", text.replace("’", "'").replace("‑", "-"))
        # What is left is put together again: in Japanese ゴ is one letter.
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", text))
    return _POSSESSIVE.sub("", text.casefold())


_POSSESSIVE = re.compile(r"'(?:(?<=\w')s\b|(?<=s')(?!\w))")
# Of Latin, Greek and Cyrillic letters; in Hebrew, Arabic and Indian scripts such marks are letters of their own.
_ACCENTS = re.compile(f"[{''.join(chr(c) for c in range(0x300, 0x601) if unicodedata.combining(chr(c)))}]")


def words_of(text: str) -> str:
    """A text's folded words, without marks, separated by single spaces; "U.S." is one word."""
    if text.isascii() and text.replace(" ", "").isalnum():
        return " ".join(text.casefold().split())
    return " ".join(_words(folded(_without_low_lines(text))))


def words_with_cuts(text: str, cuts: Iterable[int]) -> tuple[list[str], dict[int, int]]:
    """A text's folded words as `words_of` has them, and for each cut how many of them stand before it.

    No word reaches across a cut. The text's beginning and end are cuts, too.

    Example:
        >>> words_with_cuts("Born in 1893年.", [8, 12])
        (['born', 'in', '1893', '年'], {0: 0, 8: 2, 12: 3, 14: 4})
    """
    places = sorted({0, len(text), *cuts})
    plain = _without_low_lines(text)
    # A mark that is a letter to patterns: an apostrophe behind a cut still belongs to what stands before.
    marked = _folded("_".join([plain[start:end] for start, end in pairwise(places)]))
    words: list[str] = []
    before = [0]
    for piece in _without_marks(_FULL_STOP.sub("", marked)).split("_") if text else ():
        words += piece.split()
        before.append(len(words))
    return words, dict(zip(places, before, strict=True))


def _without_low_lines(text: str) -> str:
    """A text with spaces for what folding makes underscores of."""
    for mark in "_＿︳︴﹍﹎﹏":
        text = text.replace(mark, " ")
    return text


def _words(text: str) -> list[str]:
    return _WORD.findall(_FULL_STOP.sub("", text))


def _without_marks(text: str) -> str:
    """A text with spaces for all that is in no word."""
    marks = [mark for mark in set(text) if not (mark.isalnum() or mark == "_")]
    if len(marks) > _FEW:
        return text.translate(dict.fromkeys(map(ord, marks), " "))
    for mark in marks:
        text = text.replace(mark, " ")
    return text


_WORD = re.compile(r"\w+")
# To replace so many marks one by one is faster than to look up every letter.
_FEW = 50
# Within and behind letters that stand for words: one letter and a full stop, before or behind another such.
_FULL_STOP = re.compile(r"\.(?<=(?<![^\W_])[^\W\d_]\.)(?:(?=[^\W\d_]\.)|(?<=(?<![^\W_])[^\W\d_]\.[^\W\d_]\.))")
