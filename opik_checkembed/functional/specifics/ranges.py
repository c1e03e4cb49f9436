"""Ranges of numbers: whether two figures are the ends of one."""

from __future__ import annotations

import re
from decimal import Decimal

from opik_checkembed.functional.specifics import number_patterns as patterns
from opik_checkembed.functional.specifics.figures import Suffix, number_value, scaled, suffix
from opik_checkembed.functional.specifics.pattern_parts import SPACES

_WORDS = frozenset({"to", "bis", "a", "à"})
_LANGUAGE_OF = {"a": "es", "à": "fr"}
"""Joints that are words of other kinds elsewhere."""


def upper_end(language: str, match: re.Match[str], value: str) -> str | None:
    """The value of a range's second figure; None where the two are no range."""
    upper, joint = number_value(match["b"], language), match["dash"].strip(SPACES + "–—‒-").strip()
    # "From 20 to 12" is two numbers; "a" and "à" join figures in one language each.
    falls = joint in _WORDS and upper is not None and Decimal(upper) < Decimal(value)
    # "2019-20m" is a year and a distance. Of other scripts, what follows may be in one with it.
    behind = match.string[match.end() : match.end() + 1]
    apart = upper is not None and Decimal(upper) <= Decimal(value) and behind.isalpha() and behind < "\u2e80"
    foreign = _LANGUAGE_OF.get(joint, language) != language
    return None if falls or foreign or apart else upper


def range_behind(
    text: str, start: int, first: Suffix, value: str, language: str, money: str | None
) -> tuple[str, Suffix] | None:
    """The end of a range behind a figure with its own unit or multiplier, and what follows: 20℃～25℃, $10k-$15k.

    Args:
        text: The text.
        start: Where the range begins, with the sign or currency of its first figure.
        first: What stands behind that figure.
        value: Its value, multiplied.
        language: ISO 639-1 code without a region.
        money: The currency before it.
    """
    if not (first.unit or first.power):
        return None
    joint = patterns.range_behind(language).match(text, first.end)
    if joint is None:
        return None
    word = joint["dash"].strip()
    # "Rose from 10 % to 15 %" says two numbers.
    if _LANGUAGE_OF.get(word, language) != language or (
        word in _WORDS and patterns.FROM.search(text, max(0, start - 8), start) is not None
    ):
        return None
    upper = number_value(joint["b"].replace("−", "-").replace("－", "-"), language)
    behind = suffix(text, joint.end(), language, money=money is not None)
    glued = language in {"zh", "ja"}
    alike = behind.unit == first.unit if first.unit else behind.power > 0 or glued
    if upper is None or not alike or not _is_of(joint["money"], money):
        return None
    upper = scaled(upper, behind.power)
    # 100%-60% is a sum.
    return (upper, behind) if glued or Decimal(upper) > Decimal(value) else None


def _is_of(second: str | None, first: str | None) -> bool:
    """Whether the currency before the second figure is that before the first, or not said again."""
    return second is None or (first is not None and second.strip(SPACES) == first.strip(SPACES))
