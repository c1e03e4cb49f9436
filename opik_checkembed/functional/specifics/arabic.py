"""Dates, times and numbers in words as Arabic writes them."""

from __future__ import annotations

import re

from opik_checkembed.functional.specifics.figures import number_value
from opik_checkembed.functional.specifics.numerals import words_for_numbers
from opik_checkembed.functional.specifics.pattern_parts import ARABIC_SIGNS, any_of
from opik_checkembed.functional.specifics.readings import (
    Date,
    Reading,
    date_reading,
    is_afternoon,
    quantity,
    same,
    time_reading,
)
from opik_checkembed.functional.specifics.scan import Scan
from opik_checkembed.functional.specifics.vocabulary import (
    ARABIC_DAY_PARTS,
    ARABIC_DECADES,
    ARABIC_FRACTIONS,
    ARABIC_ORDINALS,
    HIJRI_MONTHS,
)

# Small words are written in one with the next.
_BEGIN = r"(?:(?<!\w)|(?<=\bو)|(?<=\b[بلفك])(?=\w{4}))"
_END = rf"(?![\w{ARABIC_SIGNS}])"
_TENTH = r"(?:عشرة|عشر)"
_ORDINAL = rf"(?:{any_of(ARABIC_ORDINALS)})(?:[ ]{_TENTH}|[ ]و(?:العشرين|العشرون|الثلاثين|الثلاثون))?"
_BEFORE_CHRIST = r"(?:قبل[ ]الميلاد|ق\.[ ]?م\.?|ق[ ]م)"
_HIJRI = r"(?:هـ|ه|هجرية|هجريًا|هجري|الهجري|للهجرة)"
_AFTER_CHRIST = r"(?:ميلادية|ميلاديًا|ميلادي|الميلادي|بعد[ ]الميلاد|للميلاد|م)"
_CENTURY = rf"القرن[ ](?:(?:ال)?ـ?[ ]?(?P<n>\d{{1,2}})|(?P<w>{_ORDINAL}))"

CENTURY = re.compile(rf"{_CENTURY}(?:[ ](?:(?P<bc>{_BEFORE_CHRIST})|(?P<hijri>{_HIJRI})|{_AFTER_CHRIST}))?{_END}")
DECADE = re.compile(rf"(?:{any_of(ARABIC_DECADES)})(?:[ ](?:(?P<last>القرن[ ]الماضي)|{_CENTURY}))?{_END}")
ERA = re.compile(
    rf"(?<![\d.,٫٬/])(?P<y>\d{{1,4}})[ ]?(?:(?P<bc>{_BEFORE_CHRIST})|(?P<hijri>{_HIJRI})|(?P<ad>{_AFTER_CHRIST})){_END}"
)
HIJRI_DATE = re.compile(
    rf"(?:(?P<d>\d{{1,2}})[ ](?:من[ ])?)?(?:شهر[ ])?(?P<m>{any_of(HIJRI_MONTHS)})"
    rf"(?:[ ،,]{{1,2}}(?:من[ ])?(?:عام[ ]|سنة[ ])?(?P<y>\d{{3,4}})(?:[ ]?{_HIJRI})?)?{_END}"
)
TIME = re.compile(
    rf"(?<![\d.,:/-])(?P<h>\d{{1,2}})(?::(?P<n>\d{{2}}))?(?:[ ](?P<x>{any_of(ARABIC_DAY_PARTS)}))?{_END}(?![:.,٫]\d)"
)
WORDED_TIME = re.compile(
    rf"{_BEGIN}(?P<named>الساعة[ ])?(?P<w>{_ORDINAL})(?:[ ](?P<more>والنصف|والربع|والثلث|إلا[ ]ربعًا|إلا[ ]الربع))?"
    rf"(?:[ ](?P<x>{any_of(ARABIC_DAY_PARTS)}))?{_END}"
)
_WORD = any_of(words_for_numbers("ar"))
NUMBER_WORDS = re.compile(rf"{_BEGIN}(?:{_WORD})(?:[ ]و?(?:{_WORD})){{0,12}}{_END}(?!-)")
ORDINAL = re.compile(rf"{_BEGIN}{_ORDINAL}{_END}")
FRACTION = re.compile(rf"{_BEGIN}(?:{any_of(ARABIC_FRACTIONS)}){_END}")
_MINUTES = {"والنصف": 30, "والربع": 15, "والثلث": 20}


def dates(scan: Scan) -> None:
    """Centuries, decades, eras, Islamic dates and times of day."""
    for hints, pattern, read in (
        (("ينات", "ينيات"), DECADE, _decade),
        (("القرن",), CENTURY, _century),
        (HIJRI_MONTHS, HIJRI_DATE, _hijri_date),
        (("الساعة", *ARABIC_DAY_PARTS), WORDED_TIME, _worded_time),
    ):
        if any(hint in scan.left for hint in hints):
            scan.each(pattern, read)
    if scan.figures:
        scan.at_figures(ERA, _era)
        scan.at_figures(TIME, _time)


def numerals(scan: Scan) -> None:
    """Ordinals and fractions in words."""
    scan.each(FRACTION, _fraction)
    scan.each(ORDINAL, _ordinal)


def _ordinal_value(written: str) -> int:
    first, _, rest = written.partition(" ")
    if not rest:
        return ARABIC_ORDINALS[first]
    return ARABIC_ORDINALS[first] + (ARABIC_ORDINALS[rest[1:]] if rest[0] == "و" else 10)


def _century_of(match: re.Match[str]) -> int:
    return int(match["n"]) if match["n"] else _ordinal_value(match["w"])


def _century(scan: Scan, match: re.Match[str]) -> None:
    prefix = "h" if match["hijri"] else ""
    key = f"{prefix}c:{'-' if match['bc'] else ''}{_century_of(match)}"
    scan.take(match.start(), match.end(), "date", same(key))


def _decade(scan: Scan, match: re.Match[str]) -> None:
    decade = ARABIC_DECADES[match[0].split()[0]]
    if match["n"] or match["w"]:
        decade += 100 * (_century_of(match) - 1)
    scan.take(match.start(), match.end(), "date", same(f"decade:{decade}"))


def _era(scan: Scan, match: re.Match[str]) -> None:
    year = int(match["y"])
    if match["bc"]:
        reading = same(f"bc:{year}")
    elif match["hijri"]:
        reading = same(f"h:{year}")
    elif match["ad"] == "م" and not (1000 <= year < 2100 or _YEAR_BEFORE.search(scan.left, 0, match.start())):
        return  # metres
    else:
        reading = date_reading(Date(year))
    scan.take(match.start(), match.end(), "date", reading)


_YEAR_BEFORE = re.compile(r"(?:عام|سنة|العام|السنة|هـ[ ]?[/-])[ ]?\Z")


def _hijri_date(scan: Scan, match: re.Match[str]) -> None:
    day, month, year = match["d"], HIJRI_MONTHS[match["m"]], match["y"]
    start = match.start()
    if day is None and year is None:
        if match["m"] != "رمضان" and not match[0].startswith("شهر"):
            return
        start = match.start("m")
    elif day is None:
        start = match.start("m")
    if scan.left[start - 1 : start].isalpha() and start:
        return
    parts = [f"{int(year)}" if year else "", str(month), str(int(day)) if day else ""]
    keys = {f"hijri:{'-'.join(parts)}"}
    states = keys | ({f"h:{int(year)}"} if year else set()) | {f"hijri:-{month}-"}
    scan.take(start, match.end(), "date", Reading(frozenset(keys), frozenset(states)))


def _time(scan: Scan, match: re.Match[str]) -> None:
    marker, minute = match["x"], match["n"]
    named = scan.left[max(0, match.start() - 8) : match.start()].endswith(("الساعة ", "الساعه "))
    if (marker is None and (minute is not None or not named)) or (marker in {"م", "ص"} and not (minute or named)):
        return
    _take_time(scan, match.start(), match.end(), int(match["h"]), int(minute or 0), marker)


def _worded_time(scan: Scan, match: re.Match[str]) -> None:
    if not match["named"] and (not match["x"] or match["x"] in {"م", "ص"}):
        return
    hour, minute = _ordinal_value(match["w"]), _MINUTES.get(match["more"] or "", 0)
    if match["more"] and match["more"].startswith("إلا"):
        hour, minute = hour - 1, 45
    _take_time(scan, match.start("w"), match.end(), hour, minute, match["x"])


def _take_time(scan: Scan, start: int, end: int, hour: int, minute: int, marker: str | None) -> None:
    if 0 <= hour <= 24 and minute <= 59:
        afternoon = None if marker is None else is_afternoon(ARABIC_DAY_PARTS[marker], hour)
        scan.take(start, end, "date", time_reading(hour, minute, afternoon))


def _fraction(scan: Scan, match: re.Match[str]) -> None:
    above, below = divmod(ARABIC_FRACTIONS[match[0]], 10)
    value = number_value(f"{above / below:.9f}", "en")
    scan.take(match.start(), match.end(), "number", quantity(str(value), None))


def _ordinal(scan: Scan, match: re.Match[str]) -> None:
    # The second is "the other" and a unit of time.
    if (number := _ordinal_value(match[0])) > 2:
        scan.take(match.start(), match.end(), "number", quantity(str(number), None))
