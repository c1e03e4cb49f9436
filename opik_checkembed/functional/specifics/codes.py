"""Addresses, quotations and identifiers: what is written in one way only."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opik_checkembed.functional.specifics import chinese
from opik_checkembed.functional.specifics import code_patterns as patterns
from opik_checkembed.functional.specifics.dates import month_of
from opik_checkembed.functional.specifics.figures import suffix
from opik_checkembed.functional.specifics.folding import folded, words_of
from opik_checkembed.functional.specifics.readings import Reading, named, phone_reading, same, titled
from opik_checkembed.functional.specifics.scan import Scan
from opik_checkembed.functional.specifics.vocabulary import (
    CURRENCIES,
    CURRENCY_CODES,
    LETTERS_FOR_SCALES,
    SCALES,
    STARTERS,
    UNITS,
    WEEKDAYS,
)


def addresses(scan: Scan) -> None:
    """URLs, numbers of articles and books, e-mail addresses, and what stands between backticks."""
    if "://" in scan.left or "www." in scan.left or patterns.DOMAIN.search(scan.left) is not None:
        scan.each(patterns.URL, _url)
    if "10." in scan.left:
        scan.each(patterns.DOI, _doi)
    if "ISBN" in scan.left:
        scan.each(patterns.ISBN, _isbn)
    if "@" in scan.left:
        scan.each(patterns.EMAIL, _identifier)
    if "`" in scan.left:
        scan.each(patterns.CODE, _in_backticks)


def quotations(scan: Scan) -> None:
    """What stands between quotation marks of any style."""
    text = scan.left
    marks = (mark.start() for mark in patterns.QUOTE_MARK.finditer(text))
    # Most are the apostrophes of words.
    scan.at((at for at in marks if text[at] != "'" or not scan.in_word(at)), patterns.QUOTED, _quoted)


def names_in_code(scan: Scan) -> None:
    """snake_case, calls(), files and --options."""
    if "()" in scan.left:
        _upon(scan, patterns.EMPTY_CALL, patterns.CALLED)
    if "." in scan.left:
        _upon(scan, patterns.EXTENSION, patterns.FILE)
    if "--" in scan.left:
        scan.each(patterns.OPTION, _identifier)
    if "_" in scan.left or "()" in scan.left:
        scan.each(patterns.SNAKE, _identifier)


def _upon(scan: Scan, pattern: re.Pattern[str], stem: re.Pattern[str]) -> None:
    """Take what this pattern matches, with the stem before it."""
    for match in pattern.finditer(scan.left):
        before = scan.left[max(0, match.start() - 90) : match.start()]
        found = stem.search(before)
        if found is not None and not patterns.PROSE.fullmatch(found[0]):
            start = match.start() - len(found[0])
            scan.take(start, match.end(), "identifier", same(f"i:{_code_key(scan.left[start : match.end()])}"))
    scan.settle()


def standards(scan: Scan) -> None:
    """Standards and paragraphs of laws."""
    scan.at(scan.places(patterns.STANDARD_HEADS), patterns.STANDARD, _identifier)
    if "§" in scan.left or "Art." in scan.left:
        scan.each(patterns.LAW, _identifier)


def serials(scan: Scan) -> None:
    """Codes of figures and capitals with strokes between them: C-131/12, 2021-AB-0457."""
    text = scan.left
    places = sorted(
        {
            _code_start(text, start)
            for start, end in scan.figures
            if _may_join(text[start - 1 : start]) or _may_join(text[end : end + 1])
        }
    )
    scan.at(places, patterns.SERIAL, _serial)
    scan.at(places, patterns.GENETIC, _mixed_code)


def _may_join(character: str) -> bool:
    return character.isalnum() or character in {"-", "/"}


def _code_start(text: str, at: int) -> int:
    first = max(0, at - 24)
    while at > first and text[at - 1] < "\x7f" and (text[at - 1].isalnum() or text[at - 1] in "-/"):
        at -= 1
    return at


def _serial(scan: Scan, match: re.Match[str]) -> None:
    parts = re.split("[-/]", match[0])
    letters = [part for part in parts if part.isalpha()]
    apart = any(part.isdigit() for part in parts) and letters and letters[0].casefold() not in UNITS
    mixed = any(not part.isalpha() and not part.isdigit() for part in parts) and "/" not in match[0]
    if mixed and _is_a_range(match[0]):
        return
    # "X/2" is a sum.
    if (apart or mixed) and (len(match[0]) > 4 or "/" not in match[0]):
        _identifier(scan, match)


def _is_a_range(code: str) -> bool:
    """Whether it is one amount after another: 100-200GB, 10K-15K, 500MB-1GB; 747-400F is none."""
    ends = patterns.AMOUNTS.fullmatch(code)
    if ends is None or not _is_a_measure(ends[4]):
        return False
    if ends[2] != ends[4] and ends[2]:
        return min(len(ends[2]), len(ends[4])) > 1 and _is_a_measure(ends[2])
    return int(ends[1]) < int(ends[3])


def _is_a_measure(letters: str) -> bool:
    return letters.casefold() in LETTERS_FOR_SCALES or letters.casefold() in UNITS


def _mixed_code(scan: Scan, match: re.Match[str]) -> None:
    if not _is_behind_a_figure(scan, match):
        _identifier(scan, match)


def _is_behind_a_figure(scan: Scan, match: re.Match[str]) -> bool:
    return scan.left[max(0, match.start() - 2) : match.start()].strip()[-1:].isdigit()


def versions_and_hashes(scan: Scan) -> None:
    """Versions, hashes, and telephone numbers."""
    scan.at_figures(patterns.VERSION, _version, before="vV", digits=range(1, 5), after=".")
    if scan.beside_figures("abcdef", "abcdef"):
        scan.each(patterns.HASH, _identifier)
    scan.at_figures(patterns.PHONE, _phone, before="+(", after=" -/(")


def designations(scan: Scan, latin: bool) -> None:
    """Names that end in figures: standards, models, rooms."""
    mixed_case(scan)
    places = list(scan.before(scan.joints(), patterns.LONGEST_HEAD))
    scan.at(places, patterns.STANDARD_BY_FORM, _identifier)
    scan.at(places, patterns.DESIGNATION, _designation)
    if not latin:
        scan.each(patterns.LATIN_NUMBERED, _latin_numbered)
        scan.each(patterns.VERSION_BEHIND_WORD, _version_behind_word)
        scan.at_figures(patterns.GENERATION, _identifier, digits=range(1, 2), after="GKD")
    else:
        scan.at(_words_before_figures(scan), patterns.NUMBERED_NAME, _numbered_name)


def _words_before_figures(scan: Scan) -> Iterator[int]:
    """Where the capitalised word begins that stands before a figure, "No." between them left out."""
    text = scan.left
    for start, _ in scan.figures:
        at = start - 1
        if at < 1 or text[at] not in " \u00a0":
            continue
        if (short := patterns.NUMBER_SIGN.search(text, max(0, at - 5), at)) is not None:
            at = short.start()
        while at and (text[at - 1].isalpha() or text[at - 1] == "-"):
            at -= 1
        if not text[at].islower():
            yield at


def mixed_case(scan: Scan) -> None:
    """iPhone: up to three small letters before a capital."""
    scan.at((hump - back for hump in scan.humps for back in (3, 2, 1) if hump >= back), patterns.MIXED, _mixed)


def _url(scan: Scan, match: re.Match[str]) -> None:
    url = _without_punctuation(match[0])
    plain = re.sub(r"^(?:https?://)?(?:www\.)?", "", url.casefold()).rstrip("/")
    resolver, _, doi = plain.partition("doi.org/")
    reading = same(f"i:{doi}") if doi and resolver in {"", "dx."} else same(f"u:{plain}")
    scan.take(match.start(), match.start() + len(url), "url", reading)


def _doi(scan: Scan, match: re.Match[str]) -> None:
    doi = _without_punctuation(match[0])
    scan.take(match.start(), match.start() + len(doi), "identifier", same(f"i:{doi.casefold()}"))


def _isbn(scan: Scan, match: re.Match[str]) -> None:
    digits = re.sub("[ -]", "", match["isbn"])
    scan.take(match.start(), match.end(), "identifier", same(f"i:{digits.casefold()}"))


def _without_punctuation(address: str) -> str:
    """An address without the marks that end a sentence or a bracket around it."""
    while address and (
        address[-1] in ".,;:!?'*_"
        or (address[-1] in ")]" and address.count(address[-1]) > address.count("(" if address[-1] == ")" else "["))
    ):
        address = address[:-1]
    return address


def _identifier(scan: Scan, match: re.Match[str]) -> None:
    scan.take(match.start(), match.end(), "identifier", same(f"i:{_code_key(match[0])}"))


def _in_backticks(scan: Scan, match: re.Match[str]) -> None:
    code = match[1]
    if code.strip().isdigit():
        return  # a number, whatever its type face
    reading = same(f"i:{_code_key(code)}")
    if code.isalnum():
        # The same word may stand without the marks.
        word = frozenset({f"w:{words_of(code)}"})
        reading = Reading(reading.needs | word, reading.states | word)
    scan.take(match.start(1), match.end(1), "identifier", reading)


def _quoted(scan: Scan, match: re.Match[str]) -> None:
    group = match.lastindex
    assert group is not None  # every kind of quotation has one
    start, end = match.span(group)
    inner = scan.left[start:end]
    if not any(c.isalnum() for c in inner):
        return
    start += len(inner) - len(inner.lstrip())
    end -= len(inner) - len(inner.rstrip())
    kept = scan.text[start:end].rstrip(",.;")
    scan.take(start, start + len(kept), "title", titled(words_of(kept)))
    scan.hide(*match.span())


def _version(scan: Scan, match: re.Match[str]) -> None:
    text = match[0]
    parts = text.split(".")
    if scan.language != "en" and len(parts) > 2 and all(len(part) == 3 for part in parts[1:]):
        return
    scan.take(match.start(), match.end(), "identifier", same(f"i:{text.casefold().removeprefix('v')}"))


def _phone(scan: Scan, match: re.Match[str]) -> None:
    written = match[0].replace("(0)", "")
    digits = "".join(c for c in written if c.isdigit())
    groups = re.split(r"\D+", written.strip("+ ("))
    grouped_figure = all(len(group) == 3 for group in groups[1:]) and written[0] not in "+0(" and "-" not in written
    if len(digits) >= 7 and not grouped_figure:
        scan.take(match.start(), match.end(), "identifier", phone_reading(digits, written[0] == "+"))


def _designation(scan: Scan, match: re.Match[str]) -> None:
    head = re.match(r"[^\W\d]+", match[0])
    word = "" if head is None else head[0].casefold()
    if month_of(word) is not None or word in STARTERS.get(scan.language, ()):
        return
    if (word in UNITS or word in SCALES) and _is_behind_a_figure(scan, match):
        return  # "5 days-10 days"
    number = re.search(r"\d[\d.,]*$", match[0])
    if (
        number is not None
        and " " in match[0]
        and suffix(scan.left, match.end(), scan.language, money=False).unit is not None
    ):
        return
    if head is not None and " " in match[0] and head[0].upper() in CURRENCY_CODES | {"AD", "BC", "GPA"}:
        return
    _identifier(scan, match)


def _mixed(scan: Scan, match: re.Match[str]) -> None:
    if match[0].casefold() in UNITS and _is_behind_a_figure(scan, match):
        return  # "3 kWh"
    scan.take(match.start(), match.end(), "identifier", named(match[0], short=False))


def _numbered_name(scan: Scan, match: re.Match[str]) -> None:
    word, figure = match[1], match[2]
    if word.casefold() in STARTERS.get(scan.language, ()) or month_of(word) is not None or word.casefold() in WEEKDAYS:
        return
    if (len(figure) == 4 and figure[0] in "12") or word.casefold() in CURRENCIES:
        return
    behind = suffix(scan.left, match.end(), scan.language, money=False)
    if behind.unit is not None or behind.power:
        return
    before = scan.left[max(0, match.start() - 40) : match.start()]
    leading = patterns.LEADING_WORDS.search(before)
    start = match.start() if leading is None else match.start() - len(leading[0])
    words = scan.left[start : match.end()].split()
    while len(words) > 2 and words[0].casefold() in STARTERS.get(scan.language, ()):
        start += len(words[0]) + 1
        words = words[1:]
    scan.take(start, match.end(), "name", named(scan.text[start : match.end()], short=False))


def _latin_numbered(scan: Scan, match: re.Match[str]) -> None:
    """Windows 11 among Chinese, Japanese, Arabic or Hindi words."""
    figure = match["n"]
    behind = suffix(scan.left, match.end("n"), scan.language, money=False)
    year = len(figure) == 4 and figure[0] in "12"
    words = match[0].split()
    ordinary = month_of(words[0]) is not None or words[0].casefold() in CURRENCIES
    if not (year or ordinary or behind.unit or behind.power or chinese.counts(scan.left, match.end())):
        scan.take(match.start(), match.end(), "name", named(match[0], short=False))


def _version_behind_word(scan: Scan, match: re.Match[str]) -> None:
    behind = suffix(scan.left, match.end(), scan.language, money=False)
    if behind.end > match.end():
        return
    scan.take(match.start(1), match.end(1), "identifier", same(f"i:{match[1].casefold().removeprefix('v')}"))


def _code_key(text: str) -> str:
    return re.sub(r"[\s()-]+", "", folded(text))
