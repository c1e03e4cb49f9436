"""What patterns of several modules are made of, and the patterns that all rules use."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable


def _class(*categories: str) -> str:
    """A regular expression's set of the characters in these categories, up to the end of the basic plane."""
    ranges: list[list[int]] = []
    for code in range(0x10000):
        if unicodedata.category(chr(code)) in categories:
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(a)}-{chr(b)}" if a < b else chr(a) for a, b in ranges)


SPACES = " \u00a0\u2009\u202f"

UPPER = _class("Lu", "Lt")
ACCENTED = "À-ÖØ-öø-ɏ"
LATIN = f"A-Za-z{ACCENTED}"
"""Capitals of any script, Latin letters beyond ASCII, and all Latin letters; for use within a set, as SPACES is."""

ARABIC_SIGNS = r"\u064b-\u0652"
HINDI_SIGNS = r"\u0900-\u0903\u093a-\u094f"
"""Vowel signs, which Python counts as no letters: सौ is no word in सौंफ."""

# Chinese and Japanese put no space between words, so their letters bound a figure as marks do. In Arabic small words
# are written in one with what follows: "و1945".
_ARABIC = r"\u0620-\u065f\u0670-\u06d3"

NO_LETTER = rf"(?<![^\W{_ARABIC}\u2e80-\uffff])"

NO_LETTER_NEXT = r"(?![^\W\u2e80-\uffff])"

GAP = rf"(?:[{SPACES}]{{1,3}}|[ \t]?\n[ \t]?(?![\n#>|*+-]))"
"""Between the words of one thing: spaces, or a line break where no list, heading or quotation begins."""

_LATIN_REST = rf"[{LATIN}\d+#]{{0,300}}+(?![{LATIN}\d])"

LATIN_WORD = rf"[{LATIN}]{_LATIN_REST}(?:[-&'’._][{LATIN}\d]{_LATIN_REST}){{0,8}}"
"""Whole or not at all, as a run of digits is."""

FRACTIONS = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅛⅜⅝⅞"

DIGITS = r"\d{1,300}+(?!\d)"
"""A run of digits, whole or not at all: half of one is another figure."""

TAKEN = "\ue000"
"""Stands where something has been found already, so that later patterns do not find it again."""

LETTERS = re.compile(rf"[{LATIN}\u0620-\u064a\u0904-\u0939\u0958-\u0961]+")
"""Runs of letters: Latin, Arabic, and Hindi without its vowel signs, which Python counts as marks."""

LOWER_WORD = re.compile(r"(?<![\w-])[^\W\d_]{2,60}(?![\w-])")

LAST_WORD = re.compile(r"\w+\Z")


def any_of(words: Iterable[str]) -> str:
    """Any of these words, the longest first; for use within a group.

    Example:
        >>> any_of(["one", "o'clock", "once"])
        "o'clock|once|one"
    """
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))


def in_both_cases(words: Iterable[str]) -> set[str]:
    """Each word as it is, with a capital, and in capitals."""
    return {form for word in words for form in (word, word.capitalize(), word.upper())}


def heads(words: Iterable[str]) -> frozenset[str]:
    """The first run of letters of each word, in small letters and capitals: where none stands, no word does."""
    return frozenset(match[0] for form in in_both_cases(words) if (match := LETTERS.match(form)) is not None)
