"""Dates, times and numerals of Chinese and Japanese, which write no spaces and have numerals of their own.

What is written in figures with a unit is read with the other languages; see `numbers`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from opik_checkembed.functional.specifics.figures import added, number_value, scaled, suffix
from opik_checkembed.functional.specifics.numerals import CHINESE_NUMERAL, chinese_value
from opik_checkembed.functional.specifics.pattern_parts import DIGITS, any_of
from opik_checkembed.functional.specifics.readings import (
    Date,
    Reading,
    date_reading,
    days_reading,
    is_afternoon,
    quantity,
    same,
    time_reading,
    years_reading,
)
from opik_checkembed.functional.specifics.scan import Scan
from opik_checkembed.functional.specifics.vocabulary import (
    COUNTERS,
    DAY_PARTS,
    ERAS,
    LONG_COUNTERS,
    NO_COUNT_NEXT,
    NOT_NUMERALS,
)

_DIGIT = "〇零一二三四五六七八九"
_SMALL = rf"(?:\d{{1,2}}|[{_DIGIT}十]{{1,3}})"
_JOINT = r"(?:から|至|到|[-–—―－~～〜])"
_JOINED = re.compile(_JOINT)
_BEFORE_CHRIST = "(?:公元|西元|紀元|纪元|西暦|西历)前"
_YEAR = (
    rf"(?:(?P<bc>{_BEFORE_CHRIST})|(?P<ad>公元|西元|西暦|西历|西曆)|(?P<era>{'|'.join(ERAS)}))?"
    rf"(?P<y>\d{{1,4}}|元|[{_DIGIT}十百千]{{1,6}})年"
)
_DAY = rf"(?P<d>{_SMALL})(?:[日号號]?{_JOINT}(?P<e>{_SMALL}))?[日号號]"

DATE = re.compile(
    rf"(?=[\d{_DIGIT}十元{''.join(sorted({era[0] for era in ERAS}))}公西紀纪])"
    rf"(?<![\d.,点])(?:(?P<from>\d{{4}}){_JOINT}(?=\d{{4}}年))?"
    rf"(?:{_YEAR}(?:(?P<m>{_SMALL})月(?!間|间)(?:{_DAY})?)?"
    rf"|(?P<m2>{_SMALL})月(?!間|间)(?:{_DAY.replace('<d>', '<d2>').replace('<e>', '<e2>')})?)"
)
"""A year, a month or a day, or several of these; the days of one month from one to another; 1914-1918年."""

BARE_BC = re.compile(r"(?<![\d一-鿿])前(?P<bc>\d{2,4})年(?!前|間|间)")
"""前221年; elsewhere 前3年 are the first three years."""

DAY_ALONE = re.compile(r"(?<![\d.,])(?P<d>[12]?\d|3[01])日(?![間间目後后前内以で程ほごぶ元本常語语円圆圓])")

CENTURY = re.compile(
    rf"(?P<bc>{_BEFORE_CHRIST}|前)?(?:公元|西元|西暦|西历|西曆)?(?:(?<!\d)(?P<c0>{_SMALL})(?:世[纪紀])?{_JOINT})?(?<!\d)(?P<c>{_SMALL})世[纪紀]"
    rf"(?:の?(?P<dec>\d0|[{_DIGIT[2:]}]十)年代)?"
)

DECADE = re.compile(
    rf"(?:上世[纪紀]|本世[纪紀]|前世紀)?(?<!\d)(?P<dec>\d{{3}}0|\d0|[{_DIGIT[2:]}]十|[{_DIGIT}]{{3}}[〇零])年代"
)

_HALF = any_of(DAY_PARTS)

TIME = re.compile(
    rf"(?:(?P<part>{_HALF})の?)?(?<![\d.,:：])(?P<h>\d{{1,2}}|[{_DIGIT}两十]{{1,3}})"
    rf"(?:(?P<mark>[点點时時])(?![間间期代速給给計刻々数差])(?:[钟鐘整]|(?P<n>{_SMALL})分(?:{_SMALL}秒)?|(?P<half>半)|(?P<quarter>[一三])刻)?"
    rf"|[:：](?P<n2>\d{{2}})(?![\d:：]))"
)
_BEFORE_TIME = re.compile(r"(?:[在于於到至从從天日]|每晚|明早|今早|今晚|当晚|[，。、；：\n「“（])\Z")
_AFTER_TIME = re.compile(r"[钟鐘整半前后後起准開开左]|以前|以后|[，。、；！？\n]|\Z")
_NO_TIME_NEXT = re.compile(r"建议|建議|原因|意见|意見|要求|理由|内容|希望|经验|启示|看法|好处|优点|缺点|不同|共识|说明")

SCORE = re.compile(r"(?<![\d.,])(\d{1,3})[比対对對](\d{1,3})(?![\d.,]\d|\d)")
SCORE_IN_NUMERALS = re.compile(
    rf"(?<![{CHINESE_NUMERAL}])([{_DIGIT}十]{{1,3}})[比対对對]([{_DIGIT}十]{{1,3}})(?![{CHINESE_NUMERAL}])"
)

FRACTION = re.compile(
    rf"([{CHINESE_NUMERAL}]{{1,8}}|(?<!\d){DIGITS})分(?:之|の)"
    rf"([{CHINESE_NUMERAL}]{{1,10}}(?:点[{_DIGIT}]{{1,6}})?|{DIGITS}(?:\.{DIGITS})?)"
)

NUMERAL = re.compile(rf"[{CHINESE_NUMERAL}]{{1,20}}(?:[点點][{_DIGIT}]{{1,8}}(?![分十])[万萬亿億]?)?")
_APPROXIMATE = re.compile(rf"([两{_DIGIT[2:]}])、?([{_DIGIT[2:]}])([十百千万萬亿億]{{0,2}})")
_COUNTED_HALF = re.compile(rf"([两{_DIGIT}十]{{1,3}}|(?<!\d)\d{{1,3}})[个個]半(小时|小時|月|钟头|星期|世纪)")
_SIGN = re.compile(r"(?:零下|负|負|マイナス|氷点下)\Z")
_HALF_OF_UNIT = re.compile(r"半(?!导|導|数|數|分|額|径|径|島|岛|球)")
_UNITS_OF_TIME = frozenset({"h", "day", "week", "month", "year"})
_NOT_NUMERALS = re.compile(any_of(NOT_NUMERALS))
_IN_NUMERALS = re.compile(rf"{_JOINT}([{CHINESE_NUMERAL}]{{1,20}})")


# --- dates and times


def dates(scan: Scan) -> None:
    """Centuries, decades, dates with their eras, and times of day."""
    text = scan.left
    if "世" in text:
        scan.each(CENTURY, _century)
    if "年代" in text:
        scan.each(DECADE, _decade)
    if "前" in text and "年" in text:
        scan.each(BARE_BC, _bare_bc)
    if "年" in text or "月" in text:
        scan.each(DATE, _date)
    if "日" in text and scan.language in {"zh", "ja"}:
        scan.each(DAY_ALONE, _day)
    if scan.language in {"zh", "ja"} or any(mark in text for mark in "点點时時"):
        scan.each(TIME, _time)


def _value(written: str | None) -> int | None:
    if written is None:
        return None
    return 1 if written == "元" else int(written) if written.isdigit() else chinese_value(written)


def _century(scan: Scan, match: re.Match[str]) -> None:
    century, first, decade = (_value(match[group]) for group in ("c", "c0", "dec"))
    assert century is not None  # a century always has its number
    before = "-" if match["bc"] else ""
    if decade is not None:
        reading = same(f"decade:{100 * (century - 1) + decade}")
    elif first is not None:
        reading = Reading(
            frozenset({f"c:{before}{first}..{century}"}),
            frozenset({f"c:{before}{first}..{century}", f"c:{before}{first}", f"c:{before}{century}"}),
        )
    else:
        reading = same(f"c:{before}{century}")
    scan.take(match.start(), match.end(), "date", reading)


def _decade(scan: Scan, match: re.Match[str]) -> None:
    scan.take(match.start(), match.end(), "date", same(f"decade:{_value(match['dec'])}"))


def _bare_bc(scan: Scan, match: re.Match[str]) -> None:
    scan.take(match.start(), match.end(), "date", same(f"bc:{int(match['bc'])}"))


class _Point(NamedTuple):
    """A date as it is written: the date, and whether its year is one before Christ."""

    date: Date
    before_christ: bool


def _point(match: re.Match[str], text: str) -> _Point | None:
    """The date that a match of `DATE` says; None if it says how long something takes, or nothing."""
    written, era = match["y"], match["era"]
    year, month = _value(written), _value(match["m"] or match["m2"])
    day = _value(match["d"] or match["d2"])
    if year is not None and written is not None:
        if era is not None:
            year += ERAS[era] - 1
        elif written == "元" or (not (match["bc"] or match["ad"] or month) and _lasts(written, year, match, text)):
            return None
    date = Date(year, month, day)
    return _Point(date, match["bc"] is not None) if date.possible else None


def _lasts(written: str, year: int, match: re.Match[str], text: str) -> bool:
    """Whether so many years are no date but a time: 三十年, 5000年の歴史, 約200年."""
    after = text[match.end() : match.end() + 3]
    if not written.isdigit() and any(c in "十百千" for c in written):
        return True
    if len(written) < 3:
        return True
    for_long = after.startswith(("の歴史", "历史", "歷史", "的历史", "間", "间", "以上", "多", "余"))
    ago = after[:1] == "前" and after[1:2] not in {"後", "后", "半", "期"}
    about = text[match.start() - 1 : match.start()] in {"约", "約", "近", "超", "达", "余"}
    if len(written) == 3:
        return for_long or ago or about
    return year % 100 == 0 and (for_long or ago)


def _date_reading(point: _Point) -> Reading:
    date = point.date
    if not point.before_christ:
        plain = date_reading(date)
        alone = {f"d:--{date.day}"} if date.day is not None else set()
        return Reading(plain.needs, plain.states | alone)
    parts = [f"bc:{date.year}", *(str(part) for part in date[1:] if part is not None)]
    keys = ["-".join(parts[:length]) for length in range(1, len(parts) + 1)]
    return Reading(frozenset(keys[-1:]), frozenset(keys))


def _date(scan: Scan, match: re.Match[str]) -> None:
    if match.start() < scan.taken_up_to():
        return
    point = _point(match, scan.left)
    if point is None:
        return
    date, end = point.date, match.end()
    last = _value(match["e"] or match["e2"])
    if match["from"] is not None:
        first = int(match["from"])
        if date.year is not None and first < date.year:
            scan.take(match.start(), end, "date", years_reading(first, date.year))
        return
    if last is not None:
        until = date._replace(day=last)
        if until.possible:
            scan.take(match.start(), end, "date", days_reading(date, until))
        return
    joint = _JOINED.match(scan.left, end)
    other = None if joint is None else DATE.match(scan.left, joint.end())
    until_point = None if other is None else _point(other, scan.left)
    if other is not None and until_point is not None and other["e"] is None and other["e2"] is None:
        scan.take(match.start(), other.end(), "date", _span_reading(point, until_point))
    else:
        scan.take(match.start(), end, "date", _date_reading(point))


def _span_reading(first: _Point, last: _Point) -> Reading:
    """The reading of a time from one date to another."""
    a, b = first.date, last.date
    if not first.before_christ and not last.before_christ and (a[1:], b[1:]) == ((None, None), (None, None)):
        assert a.year is not None  # a date without months and days is a year
        assert b.year is not None
        return years_reading(a.year, b.year)
    key = f"span:{_spelt(first)}..{_spelt(last)}"
    return Reading(frozenset({key}), _date_reading(first).states | _date_reading(last).states | {key})


def _spelt(point: _Point) -> str:
    date = "-".join("" if part is None else str(part) for part in point.date)
    return f"bc{date}" if point.before_christ else date


def _day(scan: Scan, match: re.Match[str]) -> None:
    scan.take(match.start(), match.end(), "date", same(f"d:--{int(match['d'])}"))


def _time(scan: Scan, match: re.Match[str]) -> None:
    part, mark = match["part"], match["mark"]
    hour, minute = _value(match["h"]), _value(match["n"] or match["n2"])
    assert hour is not None  # a time always has its hour
    in_numerals = not match["h"].isdigit()
    if part is None:
        if mark is None:
            return  # left to what all languages share
        before, after = scan.left[max(0, match.start() - 2) : match.start()], scan.left[match.end() : match.end() + 2]
        whole = minute is None and match["half"] is None and match["quarter"] is None and match[0][-1] == mark
        if mark in "点點" and whole:
            if scan.language == "ja" or before[-1:] in {"第", ".", *"有这這"} or _NO_TIME_NEXT.match(after):
                return
            if in_numerals and not (_BEFORE_TIME.search(before) and _AFTER_TIME.match(after)):
                return
    if hour > 24:
        return
    if match["half"]:
        minute = 30
    elif match["quarter"]:
        minute = 15 if match["quarter"] == "一" else 45
    if (minute or 0) > 59:
        return
    afternoon = None if part is None else is_afternoon(DAY_PARTS[part], hour)
    scan.take(match.start(), match.end(), "date", time_reading(hour, minute or 0, afternoon))


# --- numbers


def scores(scan: Scan) -> None:
    """3比1."""
    if any(mark in scan.left for mark in "比対对對"):
        scan.at_figures(SCORE, _score)
        scan.each(SCORE_IN_NUMERALS, _score)


def fractions(scan: Scan) -> None:
    """三分之二, 3分の2, 百分之五."""
    if "分之" in scan.left or "分の" in scan.left:
        scan.each(FRACTION, _fraction)
    if "半" in scan.left:
        scan.each(_COUNTED_HALF, _counted_half)


def _counted_half(scan: Scan, match: re.Match[str]) -> None:
    """三个半小时."""
    unit = suffix(f"个{match[2]}", 0, "zh", money=False).unit
    scan.take(match.start(), match.end(), "number", quantity(added(str(_value(match[1])), "0.5"), unit))


def numerals(scan: Scan) -> None:
    """Chinese numerals that count something."""
    for match in _NOT_NUMERALS.finditer(scan.left):
        scan.hide(*match.span())
    scan.settle()
    scan.each(NUMERAL, _numeral)


def _score(scan: Scan, match: re.Match[str]) -> None:
    scan.take(match.start(), match.end(), "number", same(f"n:{_value(match[1])}..{_value(match[2])}:"))


def _fraction(scan: Scan, match: re.Match[str]) -> None:
    below, above = (number_value(group, "zh") if group[0].isdigit() else _worth(group) for group in match.groups())
    assert above is not None  # plain digits
    assert below is not None
    if below == "100":
        reading = quantity(above, "%")
    elif "." not in above and 0 < int(above) < int(below) <= 16:
        # As the figures 2/3 are read.
        reading = quantity(str(number_value(f"{int(above) / int(below):.9f}", "en")), None)
    else:
        reading = quantity(f"{above}/{below}", None)
    scan.take(match.start(), match.end(), "number", reading)


def _worth(numeral: str) -> str:
    """The canonical value of a numeral, which may have a fraction (三点五) and a multiplier behind that."""
    whole, point, part = numeral.replace("點", "点").partition("点")
    if not point:
        return str(chinese_value(numeral))
    power = {"万": 4, "萬": 4, "亿": 8, "億": 8}.get(part[-1], 0)
    digits = "".join(str(chinese_value(c)) for c in (part[:-1] if power else part))
    return scaled(str(number_value(f"{chinese_value(whole)}.{digits}", "en")), power)


def counts(text: str, end: int) -> bool:
    """Whether a word for counting stands here, after a numeral."""
    after = text[end : end + 1]
    if after < "\u2e80":
        return False
    undone = text[end + 1 : end + 2] in tuple(NO_COUNT_NEXT.get(after, ""))
    return (after in COUNTERS and not undone) or text.startswith(LONG_COUNTERS, end)


def _numeral(scan: Scan, match: re.Match[str]) -> None:
    if match.start() < scan.taken_up_to():
        return
    text, numeral, start, end = scan.left, match[0], match.start(), match.end()
    approximate = _APPROXIMATE.fullmatch(numeral)
    behind = suffix(text, end, scan.language, money=False)
    ordinal = text[start - 1 : start] == "第" and start > 0
    whole = start == 0 and end == len(text)
    decimal = "点" in numeral or "點" in numeral
    counted = counts(text, end)
    if numeral[0] in "万萬亿億" or (numeral in {"一", "零", "〇"} and not whole):
        return
    if numeral in {"百", "千"} and not (counted or behind.unit):
        return
    long = len(numeral) > 2 and any(c in "十百千万萬亿億" for c in numeral)
    ends = len(numeral) == 2 and numeral[1] in "十百千万" and not text[end : end + 1].isalnum()
    if not (counted or behind.unit or whole or ordinal or decimal or long or ends):
        return
    if not ordinal and (sign := _SIGN.search(text, max(scan.taken_up_to(), start - 4), start)) is not None:
        start = sign.start()
    value = _worth(numeral)
    unit, stop = (behind.unit, behind.end) if behind.unit else (None, end)
    if unit is not None:
        value = scaled(value, behind.power)
    if approximate is not None and not ordinal:
        _take_approximate(scan, approximate, start, stop, unit)
        return
    if len(numeral) == 2 and not whole and all(c in _DIGIT for c in numeral):
        return  # 一三: digits one by one are no number
    if (more := _IN_NUMERALS.match(text, end)) is not None:
        second = suffix(text, more.end(), scan.language, money=False)
        if second.unit or counts(text, more.end()):
            reading = quantity(f"{value}..{_worth(more[1])}", second.unit)
            scan.take(start, second.end if second.unit else more.end(), "number", reading)
            return
    if start < match.start():
        value = f"-{value}"
    halved = half_behind(text, stop, unit)
    if halved > stop:
        value, stop = added(value, "0.5"), halved
    scan.take(start - 1 if ordinal else start, stop, "number", quantity(value, None if ordinal else unit))


def half_behind(text: str, end: int, unit: str | None) -> int:
    """Where 半 ends behind a unit of time (三年半), or `end`."""
    match = _HALF_OF_UNIT.match(text, end) if unit in _UNITS_OF_TIME else None
    return end if match is None else match.end()


def _take_approximate(scan: Scan, match: re.Match[str], start: int, end: int, unit: str | None) -> None:
    """两三天, 二三十人: from the one to the other."""
    first, last = (chinese_value(match[group]) for group in (1, 2))
    if last == first + 1:
        factor = chinese_value(f"一{match[3]}") if match[3] else 1
        scan.take(start, end, "number", quantity(f"{first * factor}..{last * factor}", unit))
