"""Texts as their words are compared."""

from __future__ import annotations

import re
import unicodedata


def folded(text: str) -> str:
    """A text as its words are compared: case, accents, width, apostrophes and white space do not count.

    Example:
        >>> folded("O’Neill's  CAFÉ")
        "o'neill cafe"
    """
    if text.isascii():
        if "'" not in text:
            return " ".join(text.casefold().split())
    else:
        text = unicodedata.normalize("NFKD", text.replace("’", "'").replace("‑", "-"))
        # What is left is put together again: in Japanese ゴ is one letter.
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", text))
    return " ".join(_POSSESSIVE.sub("", text.casefold()).split())


_POSSESSIVE = re.compile(r"'(?:(?<=\w')s\b|(?<=s')(?!\w))")
# Of Latin, Greek and Cyrillic letters; in Hebrew, Arabic and Indian scripts such marks are letters of their own.
_ACCENTS = re.compile(f"[{''.join(chr(c) for c in range(0x300, 0x601) if unicodedata.combining(chr(c)))}]")


def words_of(text: str) -> str:
    """A text's folded words, without marks, separated by single spaces; "U.S." is one word."""
    return " ".join(_WORD.findall(folded(text))).replace(".", "")


# Full stops only within and behind letters that stand for words.
_WORD = re.compile(r"\b(?:[^\W\d_]\.){2,}[^\W_]*|[^\W_]+")
