"""Dates, times and numbers in words as Hindi writes them."""

from __future__ import annotations

import re

from opik_checkembed.functional.specifics.figures import number_value, scaled, suffix
from opik_checkembed.functional.specifics.pattern_parts import HINDI_SIGNS, SPACES, any_of
from opik_checkembed.functional.specifics.readings import Date, date_reading, is_afternoon, quantity, same, time_reading
from opik_checkembed.functional.specifics.scan import Scan
from opik_checkembed.functional.specifics.vocabulary import (
    CARDINALS,
    HINDI_DAY_PARTS,
    HINDI_HALVES,
    HINDI_ORDINALS,
    HINDI_PARTS,
)

_BEGIN = rf"(?<![\w{HINDI_SIGNS}.,:])"
_END = rf"(?![\w{HINDI_SIGNS}])"
_NUMBERS = CARDINALS["hi"]


_ORDINALS = {
    **HINDI_ORDINALS,
    **{f"{word}{ending}": n for word, n in _NUMBERS.items() for ending in ("वाँ", "वां", "वा", "वीं", "वी", "वें", "वे")},
}
_BEFORE_CHRIST = r"(?:ईसा[ -]?पूर्व|ई\.?[ ]?पू\.?)"
_AFTER_CHRIST = r"(?:ईस्वी|ईसवी|ई\.|ई॰)"

CENTURY = re.compile(
    rf"{_BEGIN}(?:(?P<bc>{_BEFORE_CHRIST})[ ])?(?:(?P<n>\d{{1,2}})(?:वीं|वी|री|थी|ली|ठी)?|(?P<w>{any_of(_ORDINALS)}))[ ]"
    rf"(?:शताब्दी|सदी)(?:[ ](?P<bc2>{_BEFORE_CHRIST}))?{_END}"
)
ERA = re.compile(
    rf"{_BEGIN}(?:(?P<bc>\d{{1,5}})[ ]{_BEFORE_CHRIST}|{_BEFORE_CHRIST}[ ](?P<bc2>\d{{1,5}})"
    rf"|(?P<ad>\d{{1,4}})[ ]{_AFTER_CHRIST}){_END}"
)
DECADE = re.compile(rf"{_BEGIN}(?P<d>\d{{3}}0|\d0|{any_of(_NUMBERS)})[ ](?:के|का|की|वाले)[ ]दशक{_END}")
TIME = re.compile(
    rf"{_BEGIN}(?:(?P<part>{any_of(HINDI_DAY_PARTS)})[ ](?:(?:के|को|में)[ ])?(?:(?:करीब|क़रीब|लगभग)[ ])?)?"
    rf"(?:(?P<h>\d{{1,2}})(?:[:.](?P<n>\d{{2}}))?"
    rf"|(?:(?P<half>{any_of(HINDI_HALVES)})[ ])?(?P<w>{any_of(_NUMBERS)}|\d{{1,2}})|(?P<whole>डेढ़|ढाई))"
    rf"[ ]बजे(?:[ ]?कर[ ](?P<n2>\d{{1,2}})[ ]मिनट)?{_END}"
)
ORDINAL = re.compile(rf"{_BEGIN}(?:{any_of(_ORDINALS)}){_END}")
HALVES = re.compile(
    rf"{_BEGIN}(?:(?P<half>{any_of(HINDI_HALVES)})[ ](?P<w>{any_of(_NUMBERS)}|\d{{1,3}})|(?P<whole>डेढ़|डेढ|ढाई|अढ़ाई))"
    rf"(?P<hundred>[ ]सौ)?{_END}"
)
PARTS = re.compile(rf"{_BEGIN}(?P<w>{any_of(_NUMBERS)}|\d{{1,2}})[ -](?P<part>{any_of(HINDI_PARTS)}){_END}")
APPROXIMATE = re.compile(rf"{_BEGIN}(?P<a>{any_of(_NUMBERS)})-(?P<b>{any_of(_NUMBERS)}){_END}")
GIVES = re.compile(r"(?:कर|दे|बता|बना|भेज|रख|लगा|खोल|छोड़|डाल|मिला|रहने|जाने|होने|करने|मुझे|उसे|हमें)[ ]\Z")
"""What makes दो the verb "give"."""


def dates(scan: Scan) -> None:
    """Centuries, decades, eras and times of day."""
    for hints, pattern, read in (
        (("दी",), CENTURY, _century),
        (("दशक",), DECADE, _decade),
        (("ई",), ERA, _era),
        (("बजे",), TIME, _time),
    ):
        if any(hint in scan.left for hint in hints):
            scan.each(pattern, read)


def numerals(scan: Scan) -> None:
    """Ordinals, fractions and halves in words."""
    scan.each(PARTS, _parts)
    scan.each(HALVES, _halves)
    scan.each(APPROXIMATE, _approximate)
    scan.each(ORDINAL, _ordinal)


def is_the_verb(text: str, start: int, end: int) -> bool:
    """Whether दो, which stands here, is "give" and not "two"."""
    after = text[end : end + 2].lstrip(SPACES)[:1]
    return (start > 0 and after in {"", "।", "!", "?", ".", ","}) or GIVES.search(
        text, max(0, start - 8), start
    ) is not None


def _century(scan: Scan, match: re.Match[str]) -> None:
    number = int(match["n"]) if match["n"] else _ORDINALS[match["w"]]
    scan.take(match.start(), match.end(), "date", same(f"c:{'-' if match['bc'] or match['bc2'] else ''}{number}"))


def _decade(scan: Scan, match: re.Match[str]) -> None:
    decade = _number(match["d"])
    if decade % 10 == 0:
        scan.take(match.start(), match.end(), "date", same(f"decade:{decade}"))


def _era(scan: Scan, match: re.Match[str]) -> None:
    before = match["bc"] or match["bc2"]
    reading = same(f"bc:{int(before)}") if before else date_reading(Date(int(match["ad"])))
    scan.take(match.start(), match.end(), "date", reading)


def _time(scan: Scan, match: re.Match[str]) -> None:
    minute = int(match["n"] or match["n2"] or 0)
    if match["h"]:
        hour = int(match["h"])
    elif match["whole"]:
        hour, minute = (1 if match["whole"].startswith("डे") else 2), 30
    else:
        word = match["w"]
        quarters = 4 * (1 if word == "एक" else int(word) if word.isdigit() else _NUMBERS[word])
        quarters += HINDI_HALVES[match["half"]] if match["half"] else 0
        hour, minute = quarters // 4, 15 * (quarters % 4)
    if hour > 24 or minute > 59:
        return
    part = HINDI_DAY_PARTS[match["part"]] if match["part"] else None
    afternoon = None if part is None else is_afternoon(part, hour)
    scan.take(match.start(), match.end(), "date", time_reading(hour, minute, afternoon))


def _number(written: str) -> int:
    return int(written) if written.isdigit() else _NUMBERS[written]


def _parts(scan: Scan, match: re.Match[str]) -> None:
    value = number_value(f"{_number(match['w']) / HINDI_PARTS[match['part']]:.9f}", "en")
    scan.take(match.start(), match.end(), "number", quantity(str(value), None))


def _halves(scan: Scan, match: re.Match[str]) -> None:
    if match["whole"]:
        quarters = 6 if match["whole"].startswith("डे") else 10
    else:
        quarters = 4 * _number(match["w"]) + HINDI_HALVES[match["half"]]
    value = number_value(f"{quarters / 4:.2f}", "en")
    assert value is not None  # plain digits
    behind = suffix(scan.left, match.end(), "hi", money=False)
    power = behind.power + (2 if match["hundred"] else 0)
    scan.take(match.start(), behind.end, "number", quantity(scaled(value, power), behind.unit))


def _approximate(scan: Scan, match: re.Match[str]) -> None:
    first, last = _NUMBERS[match["a"]], _NUMBERS[match["b"]]
    if first < last:
        behind = suffix(scan.left, match.end(), "hi", money=False)
        reading = quantity(f"{scaled(str(first), behind.power)}..{scaled(str(last), behind.power)}", behind.unit)
        scan.take(match.start(), behind.end, "number", reading)


def _ordinal(scan: Scan, match: re.Match[str]) -> None:
    if (number := _ORDINALS[match[0]]) > 2:
        scan.take(match.start(), match.end(), "number", quantity(str(number), None))
