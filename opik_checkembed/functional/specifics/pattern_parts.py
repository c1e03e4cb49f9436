"""What patterns of several modules are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable

ARABIC_SIGNS = r"\u064b-\u0652"
HINDI_SIGNS = r"\u0900-\u0903\u093a-\u094f"
"""Vowel signs, which Python counts as no letters: सौ is no word in सौंफ."""


def any_of(words: Iterable[str]) -> str:
    """Any of these words, the longest first; for use within a group.

    Example:
        >>> any_of(["one", "o'clock", "once"])
        "o'clock|once|one"
    """
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))
