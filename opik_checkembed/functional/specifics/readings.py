"""What specifics mean, whatever their spelling.

A reading is a set of keys. Two quantities are equal if what one needs is among what the other states: a figure with its
unit needs that unit or none, a year needs any date of that year.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import NamedTuple

from opik_checkembed.functional.specifics.folding import words_of
from opik_checkembed.functional.specifics.vocabulary import PARTICLES, SAME_NAMES


class Reading(NamedTuple):
    """What a quantity means.

    Attributes:
        needs: A text that states one of these supports it.
        states: What it supports elsewhere.
    """

    needs: frozenset[str]
    states: frozenset[str]


def same(key: str) -> Reading:
    """The reading of what means one thing only."""
    return Reading(frozenset({key}), frozenset({key}))


@lru_cache(maxsize=4096)
def quantity(value: str, unit: str | None) -> Reading:
    """The reading of a canonical value, such as "3500000" or "10..12", with a canonical unit."""
    if unit is None:
        either = frozenset({f"n:{value}:", f"n:{value}:*"})
        return Reading(either, frozenset({f"n:{value}:"}))
    return Reading(frozenset({f"n:{value}:{unit}", f"n:{value}:"}), frozenset({f"n:{value}:{unit}", f"n:{value}:*"}))


# --- dates, times, telephones


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
    for y, m, d in dates:
        whole = _date_key(y, m, d)
        needs.add(whole)
        states.add(whole)
        if y is not None:
            states.add(f"n:{y}:")
            if m is None:
                # A year and a bare figure are written alike.
                needs |= {f"n:{y}:", f"n:{y}:*"}
        if y:
            states |= {_date_key(y, None, None), _date_key(y, m, None)}
        if m is not None:
            states |= {_date_key(None, m, None), _date_key(None, m, d)}
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


def years_reading(first: int, last: int) -> Reading:
    """The reading of years from one to another; it states both, and needs both."""
    parts = frozenset({*date_reading(Date(first)).states, *date_reading(Date(last)).states})
    key = f"d:{first}..{last}"
    return Reading(frozenset({key, f"both:d:{first}--&d:{last}--"}), parts | {key})


def time_reading(hour: int, minute: int, afternoon: bool | None) -> Reading:
    """The reading of a time of day; `afternoon` is None where it is not said."""
    if afternoon and hour < 12:
        hour += 12
    elif afternoon is False and hour == 12:
        hour = 0
    key = frozenset({f"t:{hour % 24}:{minute:02d}"})
    return Reading(key, key)


def is_afternoon(part: str, hour: int) -> bool | None:
    """Whether an hour named with a part of the day is in its second half; at night that depends on the hour."""
    if part == "night":
        return not (hour == 12 or hour < 5)
    if part == "noon":
        return None if hour in {10, 11} else True
    return part == "pm"


def stretch_reading(first: str, last: str, states: frozenset[str] = frozenset()) -> Reading:
    """The reading of a stretch of time by the keys of its ends; it states both, and what else its ends state."""
    key = f"{first}..{last}"
    return Reading(frozenset({key, f"both:{first}&{last}"}), states | {key, first, last})


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


# --- words


def titled(words: str) -> Reading:
    """A quotation's reading. One of a single word is no ordinary word ("It"), but may be a name."""
    keys = frozenset({f"q:{words}"})
    return Reading(keys | {f"name:{words}"} if " " not in words else keys, keys)


@lru_cache(maxsize=4096)
def words_of_name(text: str) -> str:
    """A name's words, those of one name where it has several; kept, since names recur across samples of one answer.

    Example:
        >>> words_of_name("Second World War")
        'world war ii'
    """
    words = words_of(text)
    return SAME_NAMES.get(words, words)


def named(text: str, *, short: bool) -> Reading:
    """A name's reading: its last words alone support it, and so do its initials; it states them only weakly.

    "Curie" in a sample supports "Marie Curie". The other way round, "Marie Curie" in a sample speaks for "Curie" only
    where that stands for somebody of that last name: the first name of two says nothing of the one alone. A middle name
    may be left out. "New Mexico" has no short form.
    """
    return _with_short_forms(text) if short else _without_short_forms(text)


@lru_cache(maxsize=4096)
def _with_short_forms(text: str) -> Reading:
    words, parts, in_capitals, needs, states = _of_a_name(text)
    if len(parts) == 1:
        return _of_one_word(words, in_capitals, needs, states)
    if not parts:
        return Reading(frozenset(needs), frozenset(states))
    numbered = parts[-1] in _ROMAN_NUMERALS
    if parts[0] not in _NO_NAME_ALONE and not numbered:
        for at in range(1, len(parts)):
            if len(parts[at]) > 1 or parts[at] in _ELIDED:
                tail = " ".join(parts[at:])
                needs.append(f"name:{tail}")
                states.append(f"tail:{tail}")
    if len(parts) == 2:
        needs.append(f"outer:{words}")
    elif not numbered and _SMALL.isdisjoint(parts):
        # Without its middle names it is the same; with others it is somebody else's.
        outer, inner = f"{parts[0]} {parts[-1]}", "".join([part[0] for part in parts[1:-1]])
        needs += [f"name:{outer}", f"middle:{outer} {inner}"]
        states += [f"outer:{outer}", f"middle:{outer} {inner}"]
    initials = "".join([part if part in _ROMAN_NUMERALS else part[0] for part in parts if part not in _SMALL])
    if len(initials) > 1:
        needs.append(f"caps:{initials}")
        states.append(f"initials:{initials}")
    return Reading(frozenset(needs), frozenset(states))


@lru_cache(maxsize=4096)
def _without_short_forms(text: str) -> Reading:
    words, parts, in_capitals, needs, states = _of_a_name(text)
    if len(parts) == 1:
        return _of_one_word(words, in_capitals, needs, states)
    return Reading(frozenset(needs), frozenset(states))


def _of_one_word(words: str, in_capitals: bool, needs: list[str], states: list[str]) -> Reading:
    needs += [f"initials:{words}", f"tail:{words}"] if in_capitals else [f"tail:{words}"]
    return Reading(frozenset(needs), frozenset(states))


def _of_a_name(text: str) -> tuple[str, list[str], bool, list[str], list[str]]:
    """Its words, those of them that count, whether they are capitals, and what it needs and states as a whole."""
    words = words_of_name(text)
    in_capitals = text.replace(".", "").isupper()
    # Only the whole name is looked for without its capitals, and none so short that it may be a word ("US").
    whole = [f"name:{words}"] if in_capitals and len(words) < 3 else [f"name:{words}", f"w:{words}"]
    parts = words.split()
    if not _YOUNG_AND_OLD.isdisjoint(parts):
        parts = [part for part in parts if part not in _YOUNG_AND_OLD]
    return words, parts, in_capitals, whole, [*whole, f"caps:{words}"] if in_capitals else whole.copy()


_YOUNG_AND_OLD = frozenset({"jr", "sr"})
# O'Dell, d'Arc
_ELIDED = frozenset({"o", "d", "l"})
_ROMAN_NUMERALS = frozenset("".join(letters) for length in range(1, 6) for letters in product("ivx", repeat=length))
_NO_NAME_ALONE = frozenset(
    [
        *("new", "north", "south", "east", "west", "northern", "southern", "eastern", "western", "central", "upper"),
        *("lower", "great", "old", "saint", "st", "san", "santa", "los", "las", "united"),
    ]
)
_SMALL = frozenset(
    PARTICLES["en"] | PARTICLES["de"] | PARTICLES["fr"] | PARTICLES["es"] | {"the", "and", "des", "et", "y", "und"}
)
