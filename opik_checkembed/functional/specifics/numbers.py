"""Numbers in figures, words and numerals, with their units."""

from __future__ import annotations

import re
from decimal import Decimal

from opik_checkembed.functional.specifics import arabic, chinese, hindi
from opik_checkembed.functional.specifics import number_patterns as patterns
from opik_checkembed.functional.specifics.figures import Suffix, added, number_value, scaled, suffix
from opik_checkembed.functional.specifics.numerals import (
    fraction_value,
    fraction_words,
    german_numbers,
    is_count,
    is_ordinal,
    number_words,
    words_value,
)
from opik_checkembed.functional.specifics.pattern_parts import LOWER_WORD, SPACES
from opik_checkembed.functional.specifics.ranges import range_behind, upper_end
from opik_checkembed.functional.specifics.readings import Date, date_reading, quantity, same
from opik_checkembed.functional.specifics.scan import Scan
from opik_checkembed.functional.specifics.vocabulary import (
    BEFORE_ORDINALS,
    CURRENCIES,
    DETERMINERS,
    DOUBTFUL_ORDINALS,
    MULTIPLIERS,
    NO_NOUNS,
    OWN_UNITS,
    YEAR_AFTER,
    YEAR_BEFORE,
)

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")


def proportions(scan: Scan) -> None:
    """One in five, 3 out of 4."""
    if scan.language == "en" and (" in " in scan.left or " out of " in scan.left):
        scan.each(patterns.OUT_OF, _proportion)


def figures(scan: Scan) -> None:
    """Numbers written in figures."""
    chinese.scores(scan)
    for match in patterns.LATEX.finditer(scan.left) if "$" in scan.left else ():
        scan.hide(match.start(), match.start() + 1)
        scan.hide(match.end() - 1, match.end())
    for match in patterns.CITATION.finditer(scan.left) if "[" in scan.left else ():
        scan.hide(*match.span())
    scan.settle()
    if "frac{" in scan.left:
        scan.each(patterns.LATEX_FRACTION, _latex_fraction)
    if scan.beside_figures("", "'’′") or any(hint in scan.left for hint in patterns.FEET_HINTS):
        scan.at_figures(patterns.HEIGHT, _height, digits=range(1, 3), after="'’′ -")
    if scan.beside_figures("", "eE") or any(hint in scan.left for hint in patterns.SCIENTIFIC_HINTS):
        scan.at_figures(patterns.SCIENTIFIC, _scientific)
    if ":" in scan.left:
        scan.at_figures(patterns.SCORE, _score, digits=range(1, 4), after=":")
    scan.at_figures(patterns.numbers(scan.language), _number)


def numerals(scan: Scan) -> None:
    """Numbers written in words or numerals."""
    if (pattern := fraction_words(scan.language)) is not None:
        scan.at(scan.places(patterns.FRACTION_HEADS[scan.language]), pattern, _fraction)
    if scan.language == "de":
        scan.at(scan.places(patterns.number_heads("de")), LOWER_WORD, _german)
    elif scan.language in {"zh", "ja"}:
        chinese.numerals(scan)
        return
    if scan.language in {"ar", "hi"}:
        (arabic if scan.language == "ar" else hindi).numerals(scan)
    if scan.language == "ar":
        scan.each(arabic.NUMBER_WORDS, _words)
    elif (pattern := number_words(scan.language)) is not None:
        scan.at(scan.places(patterns.number_heads(scan.language)), pattern, _words)


def _proportion(scan: Scan, match: re.Match[str]) -> None:
    above = patterns.ABOVE.search(scan.left, max(0, match.start() - 6), match.start())
    if above is None:
        return
    part, whole = (
        Decimal(word.replace(",", "")) if word[0].isdigit() else words_value([word.casefold()], "en")
        for word in (above[0], match["below"])
    )
    if part is None or whole is None:
        return
    rated = patterns.RATED.search(scan.left, max(0, above.start() - 30), above.start()) is not None
    if (
        match["far"] != "in"
        and part <= whole
        and (rated or patterns.OF_A_SCALE.match(scan.left, match.end()) is not None)
    ):
        # "4 out of 5 stars" says 4, as "4 stars" does.
        scan.take(above.start(), match.end(), "number", quantity(str(number_value(str(part), "en")), None))
        return
    behind = suffix(scan.left, match.end(), "en", money=False)
    # "3 in 10 minutes" is none, nor "12 in 2021".
    lasting = behind.unit is not None or behind.power or (above[0].isdigit() and part != 1 and match["far"] == "in")
    if part % 1 or not 0 < part < whole or lasting or 1000 < whole < 2100:
        return
    scan.take(above.start(), match.end(), "number", quantity(str(number_value(f"{part / whole:.9f}", "en")), None))


def _score(scan: Scan, match: re.Match[str]) -> None:
    scan.take(match.start(), match.end(), "number", same(f"n:{int(match[1])}..{int(match[2])}:"))


def _latex_fraction(scan: Scan, match: re.Match[str]) -> None:
    reading = quantity(_ratio(match["above"], match["above"], int(match["below"])), None)
    scan.take(match.start(), match.end(), "number", reading)


def _height(scan: Scan, match: re.Match[str]) -> None:
    feet, inches = int(match["ft"]), int(match["in"])
    if inches < 12:
        scan.take(match.start(), match.end(), "number", quantity(str(12 * feet + inches), "in."))


def _scientific(scan: Scan, match: re.Match[str]) -> None:
    exponent = match["e"] or match["e2"] or match["e3"] or (match["s"] or "").translate(_SUPERSCRIPTS)
    value = number_value(match["a"] or "1", scan.language)
    assert value is not None  # plain digits
    behind = suffix(scan.left, match.end(), scan.language, money=False)
    reading = quantity(scaled(value, int(exponent.replace("−", "-"))), behind.unit)
    scan.take(match.start(), behind.end, "number", reading)


def _number(scan: Scan, match: re.Match[str]) -> None:
    written = match["a"]
    start, money, negative = _before(scan, match.start())
    value = number_value(written, scan.language)
    if "." in written and patterns.VERSION_WORD.search(scan.left, max(0, start - 9), start) is not None:
        scan.take(start, match.end("a"), "identifier", same(f"i:{written}"))
        return
    if value is None or not _stands_alone(scan, match, money is not None):
        return
    if negative:
        value = f"-{value}"
    if match["ord"]:
        scan.take(start, match.end(), "number", quantity(value, None))
    elif scan.language == "de" and _is_ordinal(scan, match):
        scan.take(start, match.end("a") + 1, "number", quantity(value, None))
    elif match["over"]:
        scan.take(start, match.end(), "number", quantity(_ratio(written, value, int(match["over"])), None))
    else:
        unit = None if money is None else _unit_of_money(money, scan.language)
        upper = None if match["b"] is None else upper_end(scan.language, match, value)
        if upper is not None:
            _range(scan, start, match.end(), value, upper, unit)
        else:
            _amount(scan, match, start, value, money, unit)


def _before(scan: Scan, start: int) -> tuple[int, str | None, bool]:
    """Where a figure begins with its sign and currency, the currency, and whether it is negative."""
    left = scan.left
    # Most stand behind a word; no sign or currency ends in these letters.
    if left[start - 1 : start] == " " and "a" <= left[start - 2 : start - 1] <= "r":
        return start, None, False
    before = patterns.BEFORE_FIGURE.search(left, max(scan.taken_up_to(), start - 8), start)
    assert before is not None  # it matches nothing at all, too
    return before.start(), before["money"], before["sign"] not in {"", "+", "±"} or bool(before["sign2"])


def _stands_alone(scan: Scan, match: re.Match[str], has_money: bool) -> bool:
    """Whether a figure is no part of a word, or a word that is its unit or ending."""
    if match["ord"] is not None or _in_no_word(scan.left, match.start("a"), match.end("a")):
        return True
    return suffix(scan.left, match.end("a"), scan.language, has_money).end != match.end("a")


def _ratio(written: str, value: str, over: int) -> str:
    """3/4 as .75, since it may be spelt so; 9/11 may be anything."""
    if written.isdigit() and 0 < int(written) < over <= 16:
        return _share(written, over)
    return f"{value}/{over}"


def _share(above: str, below: str | int) -> str:
    return str(number_value(f"{int(above) / int(below):.9f}", "en"))


def _range(scan: Scan, start: int, end: int, value: str, upper: str, unit: str | None) -> None:
    behind = suffix(scan.left, end, scan.language, unit is not None)
    if Decimal(upper) <= Decimal(value):
        behind = Suffix(end, 0, None)  # 3-2 is a score, so what follows is no unit of it
    value, upper = scaled(value, behind.power), scaled(upper, behind.power)
    scan.take(start, behind.end, "number", quantity(f"{value}..{upper}", unit or behind.unit))


def _amount(scan: Scan, match: re.Match[str], start: int, value: str, money: str | None, unit: str | None) -> None:
    """One figure with what stands behind it: multipliers, a half, a unit, the other end of a range."""
    end, written = match.end("a"), match["a"]
    behind = suffix(scan.left, end, scan.language, money is not None)
    if match["dash"] is None and behind.end == end and (half := _half(scan, end)) is not None:
        value, behind = added(value, "0.5"), suffix(scan.left, half, scan.language, money is not None)
    mixed = patterns.MIXED_FRACTION.match(scan.left, end) if written.isdigit() and len(written) < 4 else None
    if mixed is not None and int(mixed["above"]) < int(mixed["below"]) <= 64:
        # 7 3/4
        value = added(value, _share(mixed["above"], mixed["below"]))
        behind = suffix(scan.left, mixed.end(), scan.language, money is not None)
    value, end = scaled(value, behind.power), behind.end
    if (more := range_behind(scan.left, start, behind, value, scan.language, money)) is not None:
        upper, behind = more
        scan.take(start, behind.end, "number", quantity(f"{value}..{upper}", unit or behind.unit))
        return
    # 3億5000万 is one number.
    while behind.power >= 4 and (next_figure := patterns.NEXT_FIGURE.match(scan.left, end)) is not None:
        behind = suffix(scan.left, next_figure.end(), scan.language, money is not None)
        value = added(value, scaled(next_figure[0].replace(",", "").strip(), behind.power))
        end = behind.end
    if money == "人民币" and scan.left[end : end + 1] == "元":
        end += 1
    if scan.language in {"zh", "ja"} and scan.left[start - 1 : start] == "第" and start:
        scan.take(start - 1, match.end("a"), "number", quantity(value, None))
        return
    if (halved := chinese.half_behind(scan.left, end, behind.unit)) > end:
        value, end = added(value, "0.5"), halved
    if money is None and behind.unit is None and behind.power == 0 and _is_a_year(scan, written, value, start, end):
        scan.take(start, end, "date", date_reading(Date(int(written))))
    elif not (written.isdigit() and _numbers_an_item(scan, start, match.end("a"))):
        scan.take(start, end, "number", quantity(value, unit or behind.unit))


def _is_a_year(scan: Scan, written: str, value: str, start: int, end: int) -> bool:
    """Whether a figure without a unit is a year."""
    if len(written) != 4 or not written.isdigit() or not 1000 <= int(written) <= 2099 or value[0] == "-":
        return False
    if scan.language in {"ar", "hi"} and not _is_a_year_by_its_neighbours(scan.left, start, end):
        return False
    return not chinese.counts(scan.left, end)


def _is_ordinal(scan: Scan, match: re.Match[str]) -> bool:
    """German: whether a full stop makes a figure an ordinal: "seine 14. Niederlage"."""
    end = match.end("a")
    if not match["a"].isdigit() or len(match["a"]) > 3 or scan.left[end : end + 2] != ". ":
        return False
    before = scan.left[max(0, match.start() - 12) : match.start()].split()
    return scan.left[end + 2 : end + 3].islower() or (bool(before) and before[-1] in BEFORE_ORDINALS)


def _is_a_year_by_its_neighbours(text: str, start: int, end: int) -> bool:
    """Arabic and Hindi: whether four digits are a year; with a noun behind them they may count something."""
    before = text[max(0, start - 10) : start].split()
    after = text[end : end + 1]
    following = re.match(r"[ ]?([^ ।،,.؛:!?؟]{1,12})", text[end : end + 14])
    return (
        not following
        or (bool(after) and after in '.,،؛:!?؟।)]|–-/\n*»”"')
        or (bool(before) and before[-1] in YEAR_BEFORE)
        or following[1] in YEAR_AFTER
        or text[start - 1 : start] in {"و", "("}
    )


def _numbers_an_item(scan: Scan, start: int, end: int) -> bool:
    """Whether a figure only counts items: "2. Rome" at the beginning of a line, "2) Rome" anywhere."""
    mark = scan.left[end : end + 1]
    if mark == ")":
        return (
            end - start <= 2
            and scan.left[end + 1 : end + 2].isspace()
            and scan.left[start - 1 : start] in {"", " ", "\n"}
            and "(" not in scan.left[max(0, start - 80) : start]
        )
    line = scan.left.rfind("\n", max(0, start - 80), start) + 1
    listed = mark == "、" or (mark == "." and scan.left[end + 1 : end + 2].isspace())
    return listed and not scan.left[line:start].strip(" \t*_")


def _fraction(scan: Scan, match: re.Match[str]) -> None:
    if (value := fraction_value(match[1], match[2], scan.language)) is not None:
        scan.take(match.start(), match.end(), "number", quantity(value, None))


def _german(scan: Scan, match: re.Match[str]) -> None:
    worth = german_numbers().get(match[0].casefold())
    # "Im Zweiten Weltkrieg": a capital in mid-sentence makes it a name.
    if worth is not None and not (match[0][0].isupper() and not scan.opens(match.start())):
        _worded(scan, match.start(), match.end(), worth)


def _words(scan: Scan, match: re.Match[str]) -> None:
    start = match.start()
    apart = patterns.BETWEEN.search(scan.left, max(0, start - 9), start) is not None
    if not apart and _spelt(scan, start, match.end(), match[0]):
        return
    # "Between two and three", "twenty and thirty": what cannot be one number is two.
    for joint in (*patterns.AND.finditer(match[0]), None):
        end = match.end() if joint is None else match.start() + joint.start()
        _spelt(scan, start, end, scan.left[start:end])
        start = end if joint is None else match.start() + joint.end()


def _spelt(scan: Scan, start: int, end: int, written: str) -> bool:
    """Take a number in words; False if the words spell no number."""
    words = re.split(r"[\s-]+", written.casefold())
    if scan.language == "ar":
        words = [word[1:] if word[0] == "و" and len(word) > 2 and word != "واحد" else word for word in words]
    if words == ["दो"] and hindi.is_the_verb(scan.left, start, end):
        return True
    value = words_value(words, scan.language)
    if value is None:
        return False
    before = scan.left[max(0, start - 8) : start]
    halved = before.casefold().endswith(("half a ", "half "))
    half = _half(scan, end)
    if before.casefold().endswith("half a ") and words[0] in {"million", "billion", "trillion"}:
        scan.take(start - len("half a "), end, "number", quantity(str(value // 2), None))
        return True
    counts = half is not None or (is_count(words) and not (len(words) == 1 and not _ranks(scan, start, end, words[0])))
    # "Les Trois Mousquetaires": a capital in mid-sentence makes it a name.
    if halved or not counts or (written[0].isupper() and not scan.opens(start)):
        return True
    if half is None:
        _worded(scan, start, end, str(value))
    else:
        # "Deux millions et demi": half of the million.
        scales = MULTIPLIERS[scan.language] if len(words) > 1 else {}
        whole = scales.get(words[-1]) or scales.get(words[-1].removesuffix("s"), 1)
        _worded(scan, start, half, added(str(value), str(whole / 2)))
    return True


def _ranks(scan: Scan, start: int, end: int, word: str) -> bool:
    """Whether an ordinal that may be a noun ("a second") stands between a determiner and a noun."""
    if word not in DOUBTFUL_ORDINALS:
        return True
    before = scan.left[max(0, start - 10) : start].split()
    after = LOWER_WORD.match(scan.left, end + 1, end + 25)
    led = bool(before) and (before[-1].casefold() in DETERMINERS or before[-1].endswith(("'s", "’s")))
    followed = after is not None and after[0].islower() and after[0] not in NO_NOUNS
    return led and followed and scan.left[end : end + 1] == " "


def _half(scan: Scan, end: int) -> int | None:
    """Where "and a half" ends that stands here."""
    pattern = patterns.AND_A_HALF.get(scan.language)
    match = None if pattern is None else pattern.match(scan.left, end)
    return None if match is None else match.end()


def _worded(scan: Scan, start: int, end: int, value: str) -> None:
    if (last := _last(scan, end)) is not None and Decimal(value) < Decimal(last[1]):
        end, value = last[0], f"{value}..{last[1]}"
        behind = suffix(scan.left, end, scan.language, money=False)
        if behind.power or behind.unit is None:
            behind = Suffix(end, 0, None)
        scan.take(start, behind.end, "number", quantity(value, behind.unit))
        return
    if is_ordinal(scan.left[start:end], scan.language):
        scan.take(start, end, "number", quantity(value, None))
        return
    behind = suffix(scan.left, end, scan.language, money=False)
    if behind.power or (behind.unit is not None and scan.left[end : end + 1] in f"{SPACES}-"):
        scan.take(start, behind.end, "number", quantity(scaled(value, behind.power), behind.unit))
    else:
        scan.take(start, end, "number", quantity(value, None))


def _last(scan: Scan, end: int) -> tuple[int, str] | None:
    """Where the second number of "two to three" ends, and its value."""
    joint = patterns.TO_NUMBER[scan.language].match(scan.left, end) if scan.language in patterns.TO_NUMBER else None
    if joint is None:
        return None
    if scan.language == "de":
        word = LOWER_WORD.match(scan.left, joint.end())
        worth = None if word is None else german_numbers().get(word[0])
        return None if word is None or worth is None else (word.end(), worth)
    pattern = number_words(scan.language)
    match = None if pattern is None else pattern.match(scan.left, joint.end())
    if match is None:
        return None
    value = words_value(re.split(r"[\s-]+", match[0].casefold()), scan.language)
    return None if value is None else (match.end(), str(value))


def _in_no_word(text: str, start: int, end: int) -> bool:
    """CJK writes no spaces; elsewhere a figure inside a word is part of an identifier."""
    before, after = text[start - 1 : start], text[end : end + 1]
    joined = before.isalpha() and "\u0620" <= before <= "\u06d3"  # Arabic writes small words in one with the next
    return not (before.isalnum() and before < "\u2e80" and not joined) and not (after.isalpha() and after.isascii())


def _unit_of_money(written: str, language: str) -> str:
    name = written.strip(SPACES).casefold()
    # ¥ is one currency in Chinese and another in Japanese.
    return OWN_UNITS.get(language, {}).get(name) or CURRENCIES[name]
