"""Dates, eras, centuries, weekdays and times of day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from opik_checkembed.functional.specifics import arabic, chinese, hindi, patterns
from opik_checkembed.functional.specifics.figures import SPACES
from opik_checkembed.functional.specifics.numerals import roman_value
from opik_checkembed.functional.specifics.readings import (
    Date,
    Reading,
    date_reading,
    days_reading,
    same,
    time_reading,
    years_reading,
)
from opik_checkembed.functional.specifics.scan import Scan
from opik_checkembed.functional.specifics.vocabulary import (
    BEFORE_MONTHS,
    CARDINALS,
    DOUBTFUL_MONTHS,
    MONTHS,
    SHORT_MONTHS,
    WEEKDAYS,
)

_CENTURY_WORDS = {"twenty-first": 21}


def dates(scan: Scan) -> None:
    """Dates of all spellings, and times."""
    chinese.dates(scan)
    if scan.language in {"ar", "hi"}:
        (arabic if scan.language == "ar" else hindi).dates(scan)
    lowered = scan.left.casefold()
    if any(hint in lowered for hint in patterns.CENTURY_WORDS):
        ends = (match.end() for match in patterns.CENTURY_WORD.finditer(scan.left))
        scan.at(scan.before(ends, patterns.LONGEST_CENTURY), patterns.CENTURY, _century)
    if "années" in lowered or "años" in lowered:
        scan.each(patterns.DECADE_BEFORE, _decade)
    if any(hint in lowered for hint in ("0s", "0's", "0’s", "0er")):
        scan.at_figures(patterns.DECADE, _decade)
    if scan.figures():
        if any(hint in scan.left for hint in ("AD ", "A.D. ")):
            scan.each(patterns.AD_BEFORE, _era)
        if any(hint in scan.left for hint in ("BC", "B.C", "AD", "A.D", "CE", "C.E", "Chr", ".-C", ". C", ".C")):
            scan.at_figures(patterns.ERA, _era)
    scan.at_figures(patterns.DAY_FIRST, _day_first)
    scan.at(scan.places(patterns.MONTH_HEADS), patterns.MONTH_FIRST, _month_first)
    for pattern, read in ((patterns.NUMERIC_DATE, _numeric_date), (patterns.TIME, _time)):
        scan.at_figures(pattern, read)


def ranges_of_years(scan: Scan) -> None:
    """1914–1918."""
    scan.at_figures(patterns.YEARS, _years)


def weekdays(scan: Scan, latin: bool) -> None:
    """Days of the week."""
    if latin:
        scan.at(scan.places(patterns.WEEKDAY_HEADS), patterns.weekday_pattern(False), _weekday)
    elif scan.language in {"zh", "ja"}:
        scan.each(patterns.weekday_pattern(True), _weekday)
    else:
        scan.each(patterns.WEEKDAY_WITH_PREFIX, _weekday)


def _day_first(scan: Scan, match: re.Match[str]) -> None:
    before = scan.left[max(0, match.start() - 14) : match.start()].split()
    if match["e"] and before and month_of(before[-1]) is not None:
        return  # "May 3 to 5 June": the first day is another month's
    _worded_date(scan, match, match["y"], match.end())


def _month_first(scan: Scan, match: re.Match[str]) -> None:
    if match["e"] and int(match["d"]) >= int(match["e"]):
        # "March 3–1": no days, but a score.
        _worded_date(scan, match, None, match.start("to"))
    else:
        _worded_date(scan, match, match["y"] or match["y2"], match.end())


def _worded_date(scan: Scan, match: re.Match[str], year: str | None, end: int) -> None:
    month, day = match["m"], match["d"]
    last = match["e"] if match.end() == end else None
    word = month.rstrip(".").casefold()
    start = match.start()
    written = month[0].isupper() or not month[0].isascii() or scan.language in {"fr", "es"}
    if day is None and year is None:
        before = scan.left[max(0, start - 14) : start].split()
        led = bool(before) and before[-1].casefold() in BEFORE_MONTHS
        if word in SHORT_MONTHS or not written or ((word in DOUBTFUL_MONTHS or not month[0].isupper()) and not led):
            return
        end = start + len(month.rstrip("."))
    elif not written and word in DOUBTFUL_MONTHS | SHORT_MONTHS:
        return
    date = Date(int(year) if year else None, month_of(word), int(day) if day else None)
    until = date if last is None else date._replace(day=int(last))
    if date.possible and until.possible and (last is None or date < until):
        found = scan.left[start:end].rstrip(" ,")
        if word not in SHORT_MONTHS:
            found = found.rstrip(".")
        scan.take(start, start + len(found), "date", date_reading(date) if last is None else days_reading(date, until))


def _numeric_date(scan: Scan, match: re.Match[str]) -> None:
    groups = match.groups()
    first, mark, second, third = groups[:4] if groups[0] else groups[4:]
    if mark == "." and len(third) == 2 and scan.language == "en":
        return
    dates = list(_possible_dates(first, second, third, scan.language, mark))
    if dates:
        reading = date_reading(*dates)
        plain = f"raw:{int(first)}/{int(second)}/{int(third)}"
        if len(dates) > 1:
            # Open between readings: the same spelling supports it, and so does any reading spelt out.
            reading = Reading(reading.needs | {plain}, frozenset({plain}))
        scan.take(match.start(), match.end(), "date", reading)


def _possible_dates(first: str, second: str, third: str, language: str, mark: str) -> Iterator[Date]:
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


@lru_cache(maxsize=4096)
def month_of(word: str) -> int | None:
    """The month that a word names, in any language that is covered.

    Example:
        >>> month_of("Mai"), month_of("Sept."), month_of("Curie")
        (5, 9, None)
    """
    return MONTHS.get(word.rstrip(".").casefold())


def _era(scan: Scan, match: re.Match[str]) -> None:
    year = match.groupdict()
    if year.get("bc"):
        scan.take(match.start(), match.end(), "date", same(f"bc:{int(year['bc'])}"))
    else:
        scan.take(match.start(), match.end(), "date", date_reading(Date(int(year["ad"]))))


def _century(scan: Scan, match: re.Match[str]) -> None:
    roman, word = match["r"] or match["r2"], (match["w"] or "").casefold()
    if match["n"]:
        number: int | None = int(match["n"])
    elif roman:
        number = roman_value(roman)
    else:
        number = _CENTURY_WORDS.get(word, CARDINALS["en"].get(word))
    if number is not None:
        scan.take(match.start(), match.end(), "date", same(f"c:{number}"))


def _decade(scan: Scan, match: re.Match[str]) -> None:
    decade = next(group for group in match.groups() if group)
    scan.take(match.start(), match.end(), "date", same(f"decade:{int(decade)}"))


def _years(scan: Scan, match: re.Match[str]) -> None:
    first, last = match[1], match[2]
    if len(last) == 2:
        if not int(first[2:]) < int(last):
            return
        last = first[:2] + last
    if int(first) < int(last):
        scan.take(match.start(), match.end(), "date", years_reading(int(first), int(last)))


def _time(scan: Scan, match: re.Match[str]) -> None:
    hour = match["h"] or match["h2"]
    minute = match["n"] or match["n2"] or match["n3"]
    marker = match["x"].casefold() if match["x"] else ""
    if minute is None and not marker:
        return
    hour_n, minute_n = int(hour), int(minute or 0)
    if hour_n > 24 or minute_n > 59:
        return
    afternoon = None
    if marker[:1] == "p":
        afternoon = True
    elif marker[:1] == "a":
        afternoon = False
    end = match.end()
    end -= len(match[0]) - len(match[0].rstrip(SPACES))
    # A full stop that ends the sentence still belongs to "a.m.".
    scan.take(match.start(), end, "date", time_reading(hour_n, minute_n, afternoon))


def _weekday(scan: Scan, match: re.Match[str]) -> None:
    word = match[match.lastindex or 0]
    if word in {"周一", "週一"} and scan.left[match.end() : match.end() + 1] in tuple("次回遍趟期个"):
        return  # once a week
    if word[0].isupper() or scan.language in {"fr", "es"} or not word[0].isascii():
        scan.take(match.end() - len(word), match.end(), "date", same(f"weekday:{WEEKDAYS[word.casefold()]}"))
