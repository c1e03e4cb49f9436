"""Numbers, dates and times as they are written, and what they mean: the part of fact extraction that is arithmetic.

A reading is a set of keys. Two quantities are equal if what one needs is among what the other states: a figure with its
unit needs that unit or none, a year needs any date of that year.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from opik_checkembed.functional.specific_words import (
    CARDINALS,
    CURRENCIES,
    DECIMAL_COMMA,
    LONG_SCALE,
    MONTHS,
    MULTIPLIERS,
    NO_COUNT,
    SCALES,
    UNITS,
)


class Reading(NamedTuple):
    """What a quantity means.

    Attributes:
        needs: A text that states one of these supports it.
        states: What it supports elsewhere.
    """

    needs: frozenset[str]
    states: frozenset[str]


@lru_cache(maxsize=4096)
def quantity(value: str, unit: str | None) -> Reading:
    """The reading of a canonical value, such as "3500000" or "10..12", with a canonical unit."""
    if unit is None:
        either = frozenset({f"n:{value}:", f"n:{value}:*"})
        return Reading(either, frozenset({f"n:{value}:"}))
    return Reading(frozenset({f"n:{value}:{unit}", f"n:{value}:"}), frozenset({f"n:{value}:{unit}", f"n:{value}:*"}))


# --- figures ------------------------------------------------------------------------------------------------

SPACES = " \u00a0\u2009\u202f"
_IN_LATEX = {"{,}": ",", "\\,": "\u2009"}
_SEPARATORS = str.maketrans(
    {"٬": ",", "٫": ".", "\u202f": " ", "\u00a0": " ", "\u2009": " ", "’": "'", "，": ",", "．": "."}
)
_FRACTIONS = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅛⅜⅝⅞"


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
    if written and written[-1] in _FRACTIONS:
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
        value = Decimal(text) + fraction
    except InvalidOperation:
        return None
    return _plain(value)


def scaled(value: str, power: int) -> str:
    """A canonical value times a power of ten."""
    return _plain(Decimal(value).scaleb(power))


def added(one: str, other: str) -> str:
    """The sum of two canonical values."""
    return _plain(Decimal(one) + Decimal(other))


def _plain(value: Decimal) -> str:
    text = format(value, "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


@lru_cache(maxsize=16)
def _scales(language: str) -> dict[str, int]:
    return {**SCALES, **LONG_SCALE.get(language, {})}


_NEXT = re.compile(rf"[{SPACES}-]?([^\s\d,;:!?()\[\]|*\"”“]{{1,24}})(?: ([^\s\d,;:!?()\[\]|*\"”“]{{1,24}}))?")
_DOTTED_SCALES = frozenset({"mio", "mrd", "tsd"})
# Words of other kinds more often than units.
_NO_UNITS = frozenset({"a", "in", "an", "en", "may"})
_OF_CURRENCY = re.compile(rf"[{SPACES}](?:de[{SPACES}]|d['’])([^\W\d_]{{1,12}})")


class Suffix(NamedTuple):
    """What stands behind a figure: where it ends, the power of ten, the unit."""

    end: int
    power: int
    unit: str | None


def suffix(text: str, end: int, language: str, money: bool) -> Suffix:
    """Multiplier and unit behind a figure that ends at `end`; `money` says that a currency stands before it."""
    power, unit = 0, None
    scales = _scales(language)
    for _ in range(3):
        match = _NEXT.match(text, end)
        if match is None:
            break
        found = _longest(
            match, scales, money=money, unit_open=unit is None, scale_open=power == 0 or text[end : end + 1] > "\u2e80"
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
    return Suffix(end, power, unit)


def _longest(
    match: re.Match[str], scales: dict[str, int], *, money: bool, unit_open: bool, scale_open: bool
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
                power = scales.get(word.rstrip(".") if word.rstrip(".") in _DOTTED_SCALES else word)
                if word == "m":
                    power = 6 if money else None
                elif word == "k" and not (tight and cut in "kK"):
                    power = None
                if power is not None:
                    return (stop if word.rstrip(".") in _DOTTED_SCALES else end), power, None
            if unit_open and not money:
                unit = CURRENCIES.get(word) or UNITS.get(word)
                if unit is not None and not (
                    len(word) == 1 and word.isalpha() and word.isascii() and cut.isupper() and cut not in "WVCF"
                ):
                    return end, 0, unit
    return _glued(match, scales, unit_open=unit_open and not money, scale_open=scale_open)


def _glued(
    match: re.Match[str], scales: dict[str, int], *, unit_open: bool, scale_open: bool
) -> tuple[int, int, str | None] | None:
    """Units in scripts that put no space between words, such as 300米."""
    first = match[1]
    if first.isascii():
        return None
    for length in range(min(len(first), 8), 0, -1):
        piece = first[:length].casefold()
        if piece.isascii() and length < len(first) and first[length].isascii():
            continue
        if scale_open and piece in scales:
            return match.start(1) + length, scales[piece], None
        unit = UNITS.get(piece) or CURRENCIES.get(piece)
        if (
            unit_open
            and unit is not None
            and (not first[length : length + 1].isalpha() or first[0] > "\u2e80" or piece in "%％٪°℃")
        ):
            return match.start(1) + length, 0, unit
        if unit_open and piece.isascii() and unit is not None and first[length : length + 1] > "\u2e80":
            return match.start(1) + length, 0, unit
    return None


# --- number words -------------------------------------------------------------------------------------------


_GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"


@lru_cache(maxsize=1)
def german_numbers() -> dict[str, str]:
    """German numbers to 999 in one word, whole thousands, and halves; casefolded ("dreissig"), with their values."""
    ones = "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn"
    small = {word: n for n, word in enumerate(f"{ones} siebzehn achtzehn neunzehn".split())}
    tens = {word: 10 * n for n, word in enumerate(_GERMAN_TENS.split(), 2)}
    below = {**small, **tens}
    for (one, n), (ten, t) in product(list(small.items())[1:10], tens.items()):
        below[f"{one}und{ten}"] = t + n
    found = {word: n for word, n in below.items() if n > 1}
    for one, n in list(small.items())[1:10]:
        for head in {f"{one}hundert", "hundert" if n == 1 else f"{one}hundert"}:
            found[head] = 100 * n
            found.update({f"{head}{rest}": 100 * n + m for rest, m in below.items() if m})
    thousands = {f"{word}tausend": 1000 * n for word, n in found.items() if n < 1000}
    halves = {f"{word}einhalb": f"{n}.5" for word, n in list(small.items())[2:11]}
    whole = {**found, **thousands, "tausend": 1000, "eintausend": 1000}
    return {
        word.casefold(): str(n) for word, n in {**whole, **halves, "anderthalb": "1.5", "eineinhalb": "1.5"}.items()
    }


_HUNDRED = 100


def words_value(words: Sequence[str], language: str) -> int | None:
    """The number that these casefolded words spell; None if they spell none.

    Example:
        >>> words_value(["two", "hundred", "and", "ten"], "en"), words_value(["quatre", "vingt", "dix"], "fr")
        (210, 90)
    """
    numbers, multipliers = CARDINALS.get(language, {}), MULTIPLIERS.get(language, {})
    total, current, last = 0, 0, None
    for word in words:
        if word in {"and", "et", "y"}:
            continue
        plural = word.removesuffix("s") if word not in numbers else word
        if word in numbers:
            value = numbers[word]
            if language == "fr" and value == 20 and last == 4:
                current += 80 - 4
            elif last is not None and language != "ar" and value >= (last % _HUNDRED or _HUNDRED) and last < _HUNDRED:
                return None
            else:
                current += value
            last = value
        elif (
            factor := multipliers.get(word) or multipliers.get(plural) or multipliers.get(word.removesuffix("es"))
        ) is not None:
            if factor == _HUNDRED:
                current = max(current, 1) * factor
            else:
                total = (
                    (total + max(current, 1 if not total else 0)) * factor
                    if factor > 1000 and total
                    else total + max(current, 1) * factor
                )
                current = 0
            last = factor
        else:
            return None
    return total + current


@lru_cache(maxsize=16)
def words_for_numbers(language: str) -> frozenset[str]:
    """The words that numbers are written with in a language; none where no such words are known."""
    if language == "de":
        return frozenset({*german_numbers(), *(word.replace("dreissig", "dreißig") for word in german_numbers())})
    numbers = {*CARDINALS.get(language, {}), *MULTIPLIERS.get(language, {})}
    if language in {"en", "fr"}:
        numbers |= {f"{word}s" for word in MULTIPLIERS[language] if not word.endswith("s")}
    return frozenset(numbers)


@lru_cache(maxsize=16)
def number_words(language: str) -> re.Pattern[str] | None:
    """Runs of number words in a language; groups nothing."""
    numbers = words_for_numbers(language)
    if not numbers:
        return None
    word = "|".join(sorted(map(re.escape, numbers), key=lambda w: (-len(w), w)))
    between = {
        "en": r"(?:[ -]|\s+and\s+)",
        "fr": r"(?:[ -]|-et-|\s+et\s+)",
        "es": r"(?:\s+y\s+|\s+)",
        "ar": r"\s+و?",
    }.get(language, r"\s+")
    # A hint of what may begin such a word keeps the search from trying all of them at every letter.
    first = "".join(sorted({w[0] for w in numbers} | {w[0].upper() for w in numbers}))
    return re.compile(
        rf"(?<![\w-])(?=[{re.escape(first)}])(?:{word})(?:{between}(?:{word})){{0,12}}(?![\w-])", re.IGNORECASE
    )


def is_count(words: Sequence[str]) -> bool:
    """Whether these number words count something, and are no article or pronoun."""
    # "Thousands of soldiers" says no number.
    several = len(words) == 1 and words[0] in {
        "hundreds",
        "thousands",
        "millions",
        "billions",
        "cents",
        "cientos",
        "cent",
    }
    return any(word not in NO_COUNT for word in words) and not several and words != ["mille"]


_CHINESE = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_CHINESE_TENS = {"十": 10, "百": 100, "千": 1000}
_CHINESE_GROUPS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
CHINESE_NUMERAL = "〇零一二三四五六七八九十百千万萬亿億两兩"


def chinese_value(numeral: str) -> int:
    """The value of a Chinese numeral.

    Example:
        >>> chinese_value("一百二十"), chinese_value("三万五千"), chinese_value("一九三六")
        (120, 35000, 1936)
    """
    if len(numeral) > 1 and all(c in _CHINESE for c in numeral):
        return int("".join(str(_CHINESE[c]) for c in numeral))
    total = section = digit = 0
    for c in numeral:
        if c in _CHINESE:
            digit = _CHINESE[c]
        elif c in _CHINESE_TENS:
            section += (digit or 1) * _CHINESE_TENS[c]
            digit = 0
        else:
            total = (total + section + digit or 1) * _CHINESE_GROUPS[c]
            section = digit = 0
    return total + section + digit


# --- dates and times ----------------------------------------------------------------------------------------


class Date(NamedTuple):
    """What a date says; None for what it leaves open."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    @property
    def possible(self) -> bool:
        """Whether the month and the day exist."""
        return (self.month is None or 1 <= self.month <= 12) and (self.day is None or 1 <= self.day <= 31)


@lru_cache(maxsize=4096)
def date_reading(*dates: Date) -> Reading:
    """The reading of a date, or of a spelling that several dates share: it needs one of them and states all."""
    needs, states = set(), set()
    for date in dates:
        y, m, d = date
        needs.add(_date_key(y, m, d))
        if y is not None and m is None:
            # A year and a bare figure are written alike.
            needs |= {f"n:{y}:", f"n:{y}:*"}
        states |= {
            _date_key(y, m, d),
            *(_date_key(*part) for part in ((y, None, None), (y, m, None), (None, m, None), (None, m, d)) if any(part)),
        }
        if y is not None:
            states.add(f"n:{y}:")
    return Reading(frozenset(needs), frozenset(states))


def _date_key(year: int | None, month: int | None, day: int | None) -> str:
    return f"d:{year or ''}-{month or ''}-{day or ''}"


def days_reading(first: Date, last: Date) -> Reading:
    """The reading of days from one to another of the same month; it states both."""
    parts = date_reading(first).states | date_reading(last).states
    key = f"{_date_key(*first)}..{last.day}"
    without_year = f"{_date_key(None, first.month, first.day)}..{last.day}"
    both = f"both:{_date_key(*first)}&{_date_key(*last)}"
    return Reading(frozenset({key, both}), parts | {key, without_year})


def numeric_dates(first: str, second: str, third: str, language: str, mark: str) -> Iterator[Date]:
    """What three figures can mean as a date, in the ways people write them."""
    a, b, c = int(first), int(second), int(third)
    if len(first) == 4:
        orders = [(a, b, c)]
    else:
        year = c if len(third) == 4 else (2000 if c < 50 else 1900) + c
        day_first, month_first = (year, b, a), (year, a, b)
        # 12/11/10 is the one in one country and the other in the next: it stays open.
        orders = [day_first] if language not in {"en", "zh", "ja"} or mark == "." else [month_first, day_first]
    yield from (date for y, m, d in orders if (date := Date(y, m, d)).possible and m and d)


def time_reading(hour: int, minute: int, afternoon: bool | None) -> Reading:
    """The reading of a time of day; `afternoon` is None where it is not said."""
    if afternoon and hour < 12:
        hour += 12
    elif afternoon is False and hour == 12:
        hour = 0
    key = frozenset({f"t:{hour % 24}:{minute:02d}"})
    return Reading(key, key)


@lru_cache(maxsize=4096)
def month_of(word: str) -> int | None:
    """The month that a word names, in any language that is covered.

    Example:
        >>> month_of("Mai"), month_of("Sept."), month_of("Curie")
        (5, 9, None)
    """
    return MONTHS.get(word.rstrip(".").casefold())


_TWO_DIGIT_CODES = frozenset(
    [
        *("20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47", "48", "49"),
        *("51", "52", "53", "54", "55", "56", "57", "58", "60", "61", "62", "63", "64", "65", "66", "81", "82", "84"),
        *("86", "90", "91", "92", "93", "94", "95", "98"),
    ]
)
"""Country codes of two digits (ITU-T E.164); those that begin with 1 or 7 have one, all others three."""


def phone_reading(digits: str, plus: bool) -> Reading:
    """The reading of a telephone number; `plus` says that a country code stands first.

    One with its country code states the same number without it. The other way round the country is open.
    """
    if digits.startswith("00"):
        digits, plus = digits[2:], True
    own = frozenset({f"i:{digits}"})
    if not plus and not (len(digits) == 11 and digits[0] == "1"):
        return Reading(own, own)
    code = 1 if digits[0] in "17" else 2 if digits[:2] in _TWO_DIGIT_CODES else 3
    return Reading(own, own | {f"i:{digits[code:]}", f"i:0{digits[code:]}"})


_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def roman_value(numeral: str) -> int:
    """The value of a Roman numeral.

    Example:
        >>> roman_value("XVIII")
        18
    """
    values = [_ROMAN[c] for c in numeral.upper()]
    return sum(-v if v < max(values[i:]) else v for i, v in enumerate(values))
