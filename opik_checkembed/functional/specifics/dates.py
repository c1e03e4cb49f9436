"""Dates, eras, centuries, weekdays and times of day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from opik_checkembed.functional.specifics import arabic, chinese, hindi
from opik_checkembed.functional.specifics import date_patterns as patterns
from opik_checkembed.functional.specifics.numerals import german_numbers, roman_value, words_value
from opik_checkembed.functional.specifics.pattern_parts import SPACES
from opik_checkembed.functional.specifics.readings import (
    Date,
    Reading,
    date_reading,
    days_reading,
    same,
    stretch_reading,
    time_reading,
    years_reading,
)
from opik_checkembed.functional.specifics.scan import Scan
from opik_checkembed.functional.specifics.specific import Specific
from opik_checkembed.functional.specifics.vocabulary import (
    BEFORE_MONTHS,
    DOUBTFUL_MONTHS,
    MONTHS,
    SHORT_MONTHS,
    SHORT_WEEKDAYS,
    WEEKDAYS,
)

_CENTURY_WORDS = {"twenty-first": 21}
_NO_DIGIT = re.compile(r"\D")


def dates(scan: Scan) -> None:
    """Dates of all spellings, and times."""
    chinese.dates(scan)
    if scan.language in {"ar", "hi"}:
        (arabic if scan.language == "ar" else hindi).dates(scan)
    lowered = scan.left.casefold()
    words = (place + 1 for place in scan.places(patterns.CENTURY_HEADS))
    scan.at(scan.before(words, patterns.LONGEST_CENTURY), patterns.CENTURY, _century)
    if scan.language == "es" and "s. " in scan.left:
        scan.each(patterns.CENTURY_SHORT, _century_short)
    if any(hint in lowered for hint in patterns.DECADE_HINTS.get(scan.language, ())):
        scan.at(scan.places(patterns.DECADE_HEADS[scan.language]), patterns.DECADE_WORDS[scan.language], _decade)
    if any(hint in lowered for hint in ("0s", "0's", "0’s", "0er")):
        scan.at_figures(patterns.DECADE, _decade, before="'’", digits=range(2, 5), after="'’sSeE")
    if scan.figures:
        if any(hint in scan.left for hint in ("AD ", "A.D. ")):
            scan.each(patterns.AD_BEFORE, _era)
        if any(hint in scan.left for hint in patterns.ERA_HINTS):
            scan.at_figures(patterns.ERA, _era, digits=range(1, 6))
    scan.at_figures(patterns.DAY_FIRST, _day_first, digits=range(1, 3))
    scan.at(scan.places(patterns.MONTH_HEADS), patterns.MONTH_FIRST, _month_first)
    scan.at_figures(patterns.NUMERIC_DATE, _numeric_date, digits=range(1, 5), after="-/.")
    if (hours := patterns.HOUR.get(scan.language)) is not None and ("h" in lowered or "las " in lowered):
        scan.at_figures(hours, _hour, digits=range(1, 3))
    scan.at_figures(patterns.TIME, _time, digits=range(1, 3))
    if scan.language in patterns.WORDED_HOUR and ("clock" in lowered or "uhr" in lowered):
        scan.each(patterns.WORDED_HOUR[scan.language], _worded_hour)


def ranges_of_years(scan: Scan) -> None:
    """1914–1918."""
    scan.at_figures(patterns.YEARS, _years, digits=range(4, 5), after=f"{SPACES}–—/-")


def weekdays(scan: Scan, latin: bool) -> None:
    """Days of the week."""
    if scan.language in {"en", "de"} and any(mark in scan.left for mark in ("–", "-", " to ", " bis ")):
        scan.at(scan.places(patterns.SHORT_WEEKDAY_HEADS), patterns.WEEKDAYS_FROM_TO, _weekdays)
    if latin:
        scan.at(scan.places(patterns.WEEKDAY_HEADS), patterns.weekday_pattern(False), _weekday)
    elif scan.language in {"zh", "ja"}:
        scan.each(patterns.weekday_pattern(True), _weekday)
    else:
        scan.each(patterns.WEEKDAY_WITH_PREFIX, _weekday)


def stretches(scan: Scan) -> None:
    """Two dates of a kind with a dash or a word between them are one: 28 May – 3 June, Monday to Friday."""
    joined: list[tuple[Specific, Specific, Reading]] = []
    for one, other in pairwise(scan.found()):
        near = one.kind == "date" == other.kind and other.start - one.end < 12
        if not near or (joined and joined[-1][1] is one):
            continue
        if (reading := _joint_reading(scan.text, one, other)) is not None:
            joined.append((one, other, reading))
    scan.join(joined)


def _joint_reading(text: str, one: Specific, other: Specific) -> Reading | None:
    """The reading of two dates as one stretch of time; None if they are none."""
    kind, of = (min(end.needs).partition(":")[0] for end in (one, other))
    if kind != of or not _is_an_end(one) or _is_a_year(one) or _is_a_year(other):
        return None
    if patterns.TO_DATE.fullmatch(text, one.end, other.start) is None:
        return None
    first, last = (min(need for need in end.needs if need.startswith(kind)) for end in (one, other))
    return stretch_reading(first, last, one.states | other.states)


def _is_an_end(date: Specific) -> bool:
    """Whether a stretch may begin here: no stretch itself, nor a day with its year, since those of a birth and a death
    are two facts.
    """
    return not any(".." in need or patterns.DAY_KEY.match(need) for need in date.needs)


def _is_a_year(date: Specific) -> bool:
    return any(need.startswith("n:") for need in date.needs)


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
        time = patterns.TIMESTAMP.match(scan.left, match.end())
        scan.take(match.start(), match.end() if time is None else time.end(), "date", reading)


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
        key = f"bc:{int(re.sub(_NO_DIGIT, '', year['bc']))}"
        first = year.get("from")
        reading = same(key) if first is None else stretch_reading(f"bc:{int(first)}", key)
        scan.take(match.start(), match.end(), "date", reading)
    else:
        scan.take(match.start(), match.end(), "date", date_reading(Date(int(year["ad"]))))


def _century(scan: Scan, match: re.Match[str]) -> None:
    groups = match.groupdict()
    roman, word = groups["r"] or groups["r2"], (groups["w"] or "").casefold()
    if groups["n"]:
        number: int | None = int(groups["n"])
    elif roman:
        number = roman_value(roman)
    elif scan.language == "de":
        ordinal = german_numbers().get(word)
        number = None if ordinal is None else int(float(ordinal))
    else:
        number = _CENTURY_WORDS.get(word) or words_value(word.split("-"), scan.language)
    if number:
        era = "c:-" if groups["bc"] else "c:"
        first, last = groups["from"] or groups["from2"], f"{era}{number}"
        if groups["to"]:
            reading = stretch_reading(last, f"{era}{roman_value(groups['to'])}")
        elif first:
            reading = stretch_reading(f"{era}{first if first.isdigit() else roman_value(first)}", last)
        else:
            reading = same(last)
        scan.take(match.start(), match.end(), "date", reading)


def _century_short(scan: Scan, match: re.Match[str]) -> None:
    scan.take(match.start(), match.end(), "date", same(f"c:{roman_value(match['r'])}"))


def _decade(scan: Scan, match: re.Match[str]) -> None:
    written = next(group for group in match.groups() if group).casefold()
    decade = int(written) if written.isdigit() else 10 * patterns.DECADES[written]
    # The eighties are those of the last century, as long as nobody says otherwise.
    decade += 0 if decade >= 100 else 1900 if decade >= 20 else 2000
    scan.take(match.start(), match.end(), "date", same(f"decade:{decade}"))


def _years(scan: Scan, match: re.Match[str]) -> None:
    first, last = match[1], match[2]
    if len(last) == 2:
        if not int(first[2:]) < int(last):
            return
        last = first[:2] + last
    if "/" in match[0] and int(first) + 1 != int(last):
        return
    if int(first) < int(last):
        scan.take(match.start(), match.end(), "date", years_reading(int(first), int(last)))


def _time(scan: Scan, match: re.Match[str]) -> None:
    hour = match["h"] or match["h2"] or match["h4"]
    minute = match["n"] or match["n2"] or match["n3"] or match["n5"]
    marker = (match["x"] or match["x2"] or "").casefold()
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
    reading = time_reading(hour_n, minute_n, afternoon)
    if match["from"]:
        # "9 to 5 p.m." begins in the morning.
        early = None if afternoon is None or int(match["from"]) > hour_n else afternoon
        (first,), (last,) = time_reading(int(match["from"]), 0, early).needs, reading.needs
        reading = stretch_reading(first, last)
    scan.take(match.start(), end, "date", reading)


def _hour(scan: Scan, match: re.Match[str]) -> None:
    """A time of day that a word before or behind tells from a duration."""
    led = patterns.BEFORE_HOUR[scan.language].search(scan.left, max(0, match.start() - 9), match.start()) is not None
    onward = match["on"] is not None and scan.left[max(0, match.start() - 6) : match.start()].endswith(
        ("de ", "entre ")
    )
    if not (match["x"] or onward or (led and not match[0].isdigit())):
        return
    marker = match["x"] or ""
    afternoon = True if "soir" in marker or "après" in marker or "tarde" in marker or "noche" in marker else None
    hour, minute = int(match["h"]), int(match["n"] or 0)
    if hour <= 24 and minute <= 59:
        scan.take(match.start(), match.end(), "date", time_reading(hour, minute, afternoon))


def _worded_hour(scan: Scan, match: re.Match[str]) -> None:
    scan.take(match.start(), match.end(), "date", time_reading(patterns.HOURS[match[1].casefold()], 0, None))


def _weekdays(scan: Scan, match: re.Match[str]) -> None:
    first, last = (f"weekday:{SHORT_WEEKDAYS[day.rstrip('.').casefold()]}" for day in match.groups())
    scan.take(match.start(), match.end(), "date", stretch_reading(first, last))


def _weekday(scan: Scan, match: re.Match[str]) -> None:
    word = match[match.lastindex or 0]
    if word in {"周一", "週一"} and scan.left[match.end() : match.end() + 1] in tuple("次回遍趟期个"):
        return  # once a week
    if word[0].isupper() or scan.language in {"fr", "es"} or not word[0].isascii():
        scan.take(match.end() - len(word), match.end(), "date", same(f"weekday:{WEEKDAYS[word.casefold()]}"))
