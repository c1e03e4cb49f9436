"""What numbers are found with; see `numbers`.

Each pattern is bounded, so that time grows with the length of the text and no faster.
"""

from __future__ import annotations

import re
from functools import lru_cache

from opik_checkembed.functional.specifics.numerals import words_for_numbers
from opik_checkembed.functional.specifics.pattern_parts import (
    DIGITS,
    FRACTIONS,
    GAP,
    NO_LETTER,
    NO_LETTER_NEXT,
    SPACES,
    any_of,
    heads,
)
from opik_checkembed.functional.specifics.vocabulary import BELOW_TEN, CURRENCY_CODES, SCALES, UNITS

_SYMBOL = rf"(?:{NO_LETTER}(?:US|CA|AU|NZ|HK|MX|NT|[ACRS]))?\$|[＄€£¥￥₹₩₽₺₴₫₱₪₦฿]"

_FRACTION = f"[{FRACTIONS}]"

_SEPARATOR = r"(?:[.,٬٫\u202f\u00a0\u2009．，]|['’](?=\d{3}(?!\d))|\{,\}|\\,)"

_FIGURE = rf"{DIGITS}(?:{_SEPARATOR}{DIGITS}){{0,40}}{_FRACTION}?|{_FRACTION}"

_SPACED_FIGURE = rf"\d{{1,3}}(?:[ \u00a0\u202f\u2009]\d{{3}}(?!\d)){{1,40}}(?:,{DIGITS})?"

_SIGN = rf"(?:{NO_LETTER}(?<![.,)\]%/*+=-])[-−–+±－]|零下|マイナス|氷点下|माइनस[ ]|سالب[ ]|ناقص[ ])?"

_DASH = rf"-|[{SPACES}]?[–—‒][{SPACES}]?|{GAP}(?:to|bis|à|a){GAP}"

_OWN_DASHES = {
    "zh": "[~～〜－―—]|至|到",
    "ja": "[~～〜－―—]|から|至",
    "ar": rf"{GAP}(?:إلى|حتى){GAP}",
    "hi": rf"{GAP}से{GAP}",
}
"""What more stands between the ends of a range."""

_MONEY = rf"(?:{_SYMBOL}|人民币)[{SPACES}]?|\b(?:{'|'.join(sorted(CURRENCY_CODES))}|Rs\.?|रु\.?)[{SPACES}]"

_LONG_UNITS = any_of(word for word in (*UNITS, *SCALES) if word[0].isalpha() and len(word) > 1)

_TIGHT_UNIT = rf"(?:[mglhkKMBTWVx]|(?i:{_LONG_UNITS}))(?!\w)"
"""Behind the end of a range without a space: 10-15km, $10-15k."""

BEFORE_FIGURE = re.compile(rf"(?P<sign>{_SIGN})(?:(?P<money>{_MONEY})(?P<sign2>[-−])?)?\Z")

VERSION_WORD = re.compile(r"(?:\b(?:version|versión|release|ver\.|v\.))[ \u00a0]\Z", re.IGNORECASE)


def _figure(language: str) -> str:
    spaced = language in {"fr", "es", "pl", "ru", "sv", "cs"}
    return f"(?:{_SPACED_FIGURE}|{_FIGURE})" if spaced else f"(?:{_FIGURE})"


@lru_cache(maxsize=16)
def numbers(language: str) -> re.Pattern[str]:
    """Figures (`a`), with an ordinal's ending (`ord`), a range's end (`b`) or what divides them (`over`)."""
    dash = f"{_DASH}|{_OWN_DASHES[language]}" if language in _OWN_DASHES else _DASH
    figure = _figure(language)
    return re.compile(
        rf"{NO_LETTER}(?<!\d[:.,])(?P<a>{figure})"
        rf"(?:(?P<ord>st|nd|rd|th|er|ère|ème|e|ᵉ|ʳᵉ|\.?º|\.?ª|वाँ|वां|वा|वीं|वी|वें|वे|री|रा|ली|ला|थी|था|ठी|ठा)(?!\w)"
        rf"|(?P<dash>{dash})(?:{_SYMBOL})?(?P<b>{figure})(?:{NO_LETTER_NEXT}|(?={_TIGHT_UNIT}))(?![.,]\d|[{SPACES}]?[=])"
        rf"|/(?P<over>\d{{1,3}}){NO_LETTER_NEXT}(?!/|[.,]\d))?",
    )


@lru_cache(maxsize=16)
def range_behind(language: str) -> re.Pattern[str]:
    """Behind a figure and its unit or multiplier: what joins it to the end of a range (`b`), which has its own."""
    # In Arabic and Hindi words join two numbers as often as the ends of a range.
    dash = f"{_DASH}|{_OWN_DASHES[language]}" if language in {"zh", "ja"} else _DASH
    return re.compile(rf"(?P<dash>{dash})(?P<money>{_MONEY})?(?P<b>[-−－]?{_figure(language)})")


FROM = re.compile(r"(?<!\w)(?:from|de|del|desde)[ ]\Z", re.IGNORECASE)
"""Before what rises from one number to another."""

MIXED_FRACTION = re.compile(r"[ \u00a0](?P<above>[1-9]\d?)/(?P<below>\d{1,2})(?![\d/]|[.,]\d)")
"""Behind a whole number: 7 3/4."""

HEIGHT = re.compile(
    rf"{NO_LETTER}(?<!\d[.,])(?P<ft>\d{{1,2}})(?:['’′][ ]?|[ -](?:feet|foot|ft\.?)[ -](?:and[ ])?)"
    rf"(?P<in>\d{{1,2}})(?:[\"”″]|''|[ -](?:inch(?:es)?|in\.?)(?!\w)|(?<=-\d)(?![\w.,-]\d)|(?<=-\d\d)(?![\w.,-]\d))"
)
"""Feet and inches: 5'11", 6-foot-8-inch, 5 ft 11 in."""

FEET_HINTS = ("-foot", " foot", "-feet", " feet", " ft", "-ft")

CITATION = re.compile(r"(?<=[\w.,;:!?)\"”’\]%])[ ]?\[\d{1,3}(?:[ ]?[,–-][ ]?\d{1,3}){0,8}\](?!\()")
"""A footnote's number, which says nothing: [1], [2, 3]."""

LATEX = re.compile(r"(?<![\w$\\])\$(?![\s$])[^$\n]{0,120}(?<![\s$\\])\$(?![\w$])")
"""A formula between dollar signs, which are no currency's; "$5 and $10" is none."""

LATEX_FRACTION = re.compile(r"\\[dt]?frac\{(?P<above>\d{1,9})\}\{(?P<below>\d{1,9})\}")

NEXT_FIGURE = re.compile(r"(?:[ ](?=\d{1,3}[ ](?:लाख|हज़ार|हज़ार|हजार)))?\d{1,4}(?:,\d{3})?(?![\d.,])")

SCORE = re.compile(rf"{NO_LETTER}(?<![.,:/–-])(\d{{1,3}})[:](\d{{1,2}}){NO_LETTER_NEXT}(?!:|[.,]\d)")

SCIENTIFIC = re.compile(
    rf"{NO_LETTER}(?:(?P<a>{DIGITS}(?:[.,]{DIGITS})?)(?:[ ]?(?:[×x·*]|\\times|\\cdot)[ ]?10"
    rf"(?:\^\{{?(?P<e>[-−+]?\d{{1,3}})\}}?|(?P<s>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,3}}))"
    rf"|[eE](?P<e2>[-+]?\d{{1,3}}))|10\^\{{?(?P<e3>[-−+]?\d{{1,3}})\}}?){NO_LETTER_NEXT}"
)

SCIENTIFIC_HINTS = ("×", "·", "*", "x10", "x 10", "10^", "\\times", "\\cdot")
"""One of these is in such a figure, or an "e" follows its first one."""


@lru_cache(maxsize=16)
def number_heads(language: str) -> frozenset[str]:
    """What numbers in words may begin with."""
    return heads(words_for_numbers(language))


FRACTION_HEADS = {language: heads(words) for language, words in BELOW_TEN.items()}

AND_A_HALF = {
    "en": re.compile(r"(?:[ ]and[ ]a[ ]|-and-a-)half(?![\w-])"),
    "fr": re.compile(r"[ ]et[ ]demie?(?!\w)"),
    "es": re.compile(r"[ ]y[ ]medi[oa](?!\w)"),
}

OUT_OF = re.compile(
    rf"[ ](?P<far>in|out[ ]of)[ ](?:every[ ]|a[ ](?=[htm]))?"
    rf"(?P<below>{any_of(words_for_numbers('en'))}|\d{{1,3}}(?:,\d{{3}}){{0,2}})(?![\w-]|[.,]\d)"
)
"""In an English proportion what stands between its numbers, and the second: one in five, 3 out of 4."""

ABOVE = re.compile(r"(?<![\w.,-])(?:[a-z]{3,5}|\d{1,2}(?:\.\d)?)\Z", re.IGNORECASE)

RATED = re.compile(r"\b(?:rat(?:ed|es?|ings?)|stars?)\b[^.!?\n]{0,20}\Z", re.IGNORECASE)

OF_A_SCALE = re.compile(r"[ -](?:stars?|points?|ratings?)\b", re.IGNORECASE)
"""Before and behind 4 out of 5 that is no share."""

BETWEEN = re.compile(r"(?<!\w)(?:between|entre)[ \n]\Z", re.IGNORECASE)

AND = re.compile(r"\s+(?:and|y|et)\s+", re.IGNORECASE)

TO_NUMBER = {
    "en": re.compile(r"[ ]to[ ]|-to-|[–—]"),
    "de": re.compile(r"[ ]bis[ ]|[–—]"),
    "fr": re.compile(r"[ ]à[ ]|[–—]"),
    "es": re.compile(r"[ ]a[ ]|[–—]"),
}
"""What joins two numbers in words to a range."""
