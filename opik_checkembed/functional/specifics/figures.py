"""Figures as they are written, and the multipliers and units behind them."""

from __future__ import annotations

import re
import unicodedata
from decimal import Context, Decimal, InvalidOperation
from functools import lru_cache
from typing import NamedTuple

from opik_checkembed.functional.specifics.pattern_parts import ARABIC_SIGNS, FRACTIONS, HINDI_SIGNS, SPACES
from opik_checkembed.functional.specifics.vocabulary import (
    CURRENCIES,
    DECIMAL_COMMA,
    LETTERS_FOR_SCALES,
    LONG_SCALE,
    NO_UNIT_BEFORE,
    OWN_UNITS,
    SCALES,
    TENTHS,
    UNITS,
)

_IN_LATEX = {"{,}": ",", "\\,": "\u2009"}
_SEPARATORS = str.maketrans(
    {"٬": ",", "٫": ".", "\u202f": " ", "\u00a0": " ", "\u2009": " ", "’": "'", "，": ",", "．": "."}
)
# Decimal's own context rounds to 28 digits; no figure has so many as this one.
_EXACTLY = Context(prec=20_000)


@lru_cache(maxsize=4096)
def number_value(written: str, language: str) -> str | None:
    """The canonical value of a figure: plain digits with a point where it has a fraction; None if it is no figure.

    Where a point or comma could group thousands or begin a fraction, the language decides.

    Example:
        >>> number_value("1,234.50", "en"), number_value("1.234", "de"), number_value("1.234", "en")
        ('1234.5', '1234', '1.234')
    """
    for mark, plain in _IN_LATEX.items():
        written = written.replace(mark, plain)
    text = unicodedata.normalize("NFKC", written.translate(_SEPARATORS)) if not written.isascii() else written
    fraction = Decimal(0)
    if written and written[-1] in FRACTIONS:
        fraction = Decimal(repr(round(unicodedata.numeric(written[-1]), 9)))
        text = written[:-1].translate(_SEPARATORS).strip() or "0"
    text = text.replace("'", "").replace(" ", "")
    comma, point = text.count(","), text.count(".")
    if comma and point:
        decimal = max(",.", key=text.rfind)
        grouping = "," if decimal == "." else "."
        text = text.replace(grouping, "").replace(decimal, ".")
    elif comma or point:
        mark = "," if comma else "."
        head, _, tail = text.rpartition(mark)
        groups = (comma or point) > 1 or (
            len(tail) == 3 and 1 <= len(head) <= 3 and head != "0" and (mark == ".") == (language in DECIMAL_COMMA)
        )
        text = text.replace(mark, "" if groups else ".")
    try:
        value = _EXACTLY.add(Decimal(text), fraction)
    except InvalidOperation:
        return None
    return _plain(value)


def scaled(value: str, power: int) -> str:
    """A canonical value times a power of ten."""
    return _plain(_EXACTLY.scaleb(Decimal(value), power)) if power else value


def added(one: str, other: str) -> str:
    """The sum of two canonical values."""
    return _plain(_EXACTLY.add(Decimal(one), Decimal(other)))


def _plain(value: Decimal) -> str:
    text = format(value, "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


# --- what stands behind


@lru_cache(maxsize=16)
def _scales(language: str) -> dict[str, int]:
    return {**SCALES, **LONG_SCALE.get(language, {})}


@lru_cache(maxsize=16)
def _units(language: str) -> dict[str, str]:
    return {**UNITS, **CURRENCIES, **OWN_UNITS.get(language, {})}


@lru_cache(maxsize=16)
def _first_words(language: str) -> frozenset[str]:
    """What multipliers and units may begin with."""
    return frozenset(word.split(" ")[0] for word in (*_scales(language), *_units(language), *LETTERS_FOR_SCALES, "x"))


_MARKS = re.compile(f"[{ARABIC_SIGNS}{HINDI_SIGNS}]")
_WORD = r"[^\s\d,;:!?()\[\]|*\"”“،؛؟۔।。，、；：？！（）「」『』《》〜～]{1,24}"
_NEXT = re.compile(rf"[{SPACES}-]?({_WORD})(?: ({_WORD}))?")
# In "10k-15k" the hyphen is none of a word; in "7B参数" a word of another script begins.
_NOT_OF_THE_WORD = re.compile(r"[-–—‒][^\w\s]*\Z|(?<=[A-Za-z²³])[\u2e80-\uffef]")
# Where these follow at once, or nothing does, neither a multiplier nor a unit does.
_ENDS = frozenset(["", "\n", *',;:!?()[]|*"'])
_DOTTED_SCALES = frozenset({"mio", "mrd", "tsd"})
_SUM_BEFORE = re.compile(r"[=+*/^×<>−][ ]{0,2}[$€£]?[\d.,]{1,16}\Z")
_SUM_BEHIND = re.compile(r"[ ]{0,2}[=+*/^×<>−]|[ ]-[ ]|\d")
# "3x faster"; elsewhere x is a variable.
_TIMES = re.compile(
    r"x(?:(?:[-–—]|[ ]to[ ])\d{1,4}(?:\.\d{1,3})?x)?"
    r"[ -](?:as|the|more|less|fewer|[a-z]{3,12}er|growth|increase|improvement|speed-?up|return)(?![\w-])",
    re.IGNORECASE,
)
# Words of other kinds more often than units.
_NO_UNITS = frozenset({"a", "in", "an", "en", "may"})
# "1,5 M€"
_SCALED_CURRENCY = re.compile(r"([kmb]|md|bn|mio|mrd)([€$£])")
_PER = re.compile(r"[ \u00a0](?:per|pro|par|por)[ \u00a0]([^\W\d_]{1,12})(?!\w)")
_PER_HUNDRED = re.compile(r"[ \u00a0]?l/100[ \u00a0]?km(?!\w)", re.IGNORECASE)
_RATES = {
    **dict.fromkeys(("m", "km", "mi", "ft", "cm", "mm", "l", "m³"), frozenset({"s", "min", "h"})),
    **dict.fromkeys(("g", "mg", "kg", "µg"), frozenset({"l", "ml", "dl", "kg", "m³"})),
}
"""What a unit is given per, other than how often something happens ("5 mg per day")."""
_OF_CURRENCY = re.compile(rf"[{SPACES}](?:de[{SPACES}]|d['’])([^\W\d_]{{1,12}})")


class Suffix(NamedTuple):
    """What stands behind a figure: where it ends, the power of ten, the unit."""

    end: int
    power: int
    unit: str | None


def suffix(text: str, end: int, language: str, money: bool) -> Suffix:
    """Multiplier and unit behind a figure that ends at `end`; `money` says that a currency stands before it."""
    power, unit = 0, None
    if text[end : end + 1] in _ENDS:
        return Suffix(end, power, unit)
    scales = _scales(language)
    if text.startswith("\\%", end):
        return Suffix(end + 2, 0, "%")
    if "l/1" in text[end : end + 4].casefold() and (used := _PER_HUNDRED.match(text, end)) is not None:
        return Suffix(used.end(), 0, "l/100km")
    for _ in range(3):
        match = _NEXT.match(text, end)
        if match is not None and not (match[1].isascii() and match[1].isalpha()):
            joint = _NOT_OF_THE_WORD.search(match[1])
            match = match if joint is None else _NEXT.match(text, end, match.start(1) + joint.start())
        if match is None or _is_plain(match[1], language):
            break
        found = _longest(
            match,
            scales,
            _units(language),
            money=money,
            unit_open=unit is None,
            # 万亿, लाख करोड़
            scale_open=power == 0 or text[end : end + 1] > "\u2e80" or language == "hi",
        )
        if found is None:
            break
        end, gained, named = found
        power += gained
        joint = _OF_CURRENCY.match(text, end) if gained and language in {"fr", "es", "pt", "it"} else None
        if joint is not None and joint[1].casefold() in CURRENCIES and not money:
            return Suffix(joint.end(), power, CURRENCIES[joint[1].casefold()])
        unit = named or unit
        if named is not None:
            break
    rate = None if unit not in _RATES else _PER.match(text, end)
    if rate is not None and (per := UNITS.get(rate[1].casefold())) in _RATES[str(unit)]:
        return Suffix(rate.end(), power, f"{unit}/{per}")
    return Suffix(end, power, unit)


def _is_plain(word: str, language: str) -> bool:
    """Whether a word is no multiplier, no unit and no beginning of one; most are not, and this is seen soon."""
    if not word.isascii() or "/" in word or "$" in word:
        return False
    lower, known = word.casefold(), _first_words(language)
    return lower not in known and lower.rstrip(".'’)") not in known


def _without_case(word: str) -> str:
    """An Arabic word without the ending of the accusative: كيلومترًا."""
    if not "\u0600" < word < "\u0700":
        return word
    return " ".join(re.sub("(?:ًا|اً|ا|ً)$", "", part) for part in word.split(" "))


def _longest(
    match: re.Match[str],
    scales: dict[str, int],
    units: dict[str, str],
    *,
    money: bool,
    unit_open: bool,
    scale_open: bool,
) -> tuple[int, int, str | None] | None:
    first, second = match[1], match[2]
    tight = match.start(1) == match.start()
    hyphen = not tight and match[0][0] == "-"
    candidates = [] if second is None else [(f"{first} {second}", match.end(2))]
    candidates.append((first, match.end(1)))
    for written, stop in candidates:
        # Longest first: a full stop may end the sentence or belong to the unit.
        for cut in (written, written.rstrip(".'’)")):
            word = cut.casefold()
            end = stop - (len(written) - len(cut))
            if not word or word in _NO_UNITS:
                continue
            if scale_open and not hyphen:
                if word in LETTERS_FOR_SCALES:
                    power = _letter_power(match, cut, money)
                else:
                    power = scales.get(word.rstrip(".") if word.rstrip(".") in _DOTTED_SCALES else word)
                if power is not None:
                    return (stop if word.rstrip(".") in _DOTTED_SCALES else end), power, None
            if unit_open and not money:
                if scale_open and (million := _SCALED_CURRENCY.fullmatch(word)) is not None:
                    return end, LETTERS_FOR_SCALES.get(million[1]) or scales[million[1]], CURRENCIES[million[2]]
                if word == "x" and tight and _TIMES.match(match.string, match.start(1)) is not None:
                    return end, 0, "x"
                unit = units.get(word) or units.get(_without_case(word)) or _ratio(word)
                if unit is not None and not (
                    len(word) == 1 and word.isalpha() and word.isascii() and cut.isupper() and cut not in "WVCFL"
                ):
                    return end, 0, unit
    return _glued(match, scales, units, unit_open=unit_open and not money, scale_open=scale_open)


def _letter_power(match: re.Match[str], letter: str, money: bool) -> int | None:
    """The power of ten that one letter behind a figure stands for: $5 B, 7B; None where it is a unit or a variable."""
    tight = match.start(1) == match.start()
    if letter in "kK":
        stands = tight
    elif money:
        stands = letter in "mM" or tight or letter.isupper()
    else:
        stands = tight and letter in "MB" and not _in_a_sum(match)
    return LETTERS_FOR_SCALES[letter.casefold()] if stands else None


def _in_a_sum(match: re.Match[str]) -> bool:
    """Whether what stands behind a figure is a variable: 3x + 5 = 20."""
    text, start, end = match.string, match.start(1), match.end(1)
    return _SUM_BEFORE.search(text, max(0, start - 24), start) is not None or _SUM_BEHIND.match(text, end) is not None


def _ratio(word: str) -> str | None:
    """The unit that two with a stroke between them are: mg/kg, m/s², €/m²."""
    above, stroke, below = word.partition("/")
    if not stroke:
        return None
    of, power = CURRENCIES.get(above) or UNITS.get(above), ""
    per = UNITS.get(below)
    if per is None and below[-1:] in {"²", "³"}:
        per, power = UNITS.get(below[:-1]), below[-1]
    return None if of is None or per is None else f"{of}/{per}{power}"


def _glued(
    match: re.Match[str], scales: dict[str, int], units: dict[str, str], *, unit_open: bool, scale_open: bool
) -> tuple[int, int, str | None] | None:
    """Units in scripts that put no space between words, such as 300米."""
    first = match[1]
    if first[0].isascii() and first[0] != "%":
        return None
    for length in range(min(len(first), 8), 0, -1):
        piece = first[:length].casefold()
        if first[length : length + 1] in NO_UNIT_BEFORE.get(piece, ()):
            return None  # 3年生 counts no years
        if scale_open and piece in scales:
            return match.start(1) + length, scales[piece], None
        if unit_open and piece in TENTHS:
            return match.start(1) + length, 1, "%"
        unit = units.get(piece)
        if (
            unit_open
            and unit is not None
            and (
                not (first[length : length + 1].isalpha() or _MARKS.match(first, length))
                or first[0] > "\u2e80"
                or piece in "%％٪°℃"
            )
        ):
            return match.start(1) + length, 0, unit
    return None
