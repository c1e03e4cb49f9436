"""The checkable specifics of a text: its numbers, dates, names, quoted titles, identifiers and addresses, by rules.

No model and no language detection: the caller names the language. English, German, French and Spanish are covered in
full; Chinese, Japanese, Arabic and Hindi for numbers, dates, quotations, words in Latin letters and (Japanese) runs of
Katakana, since their scripts do not mark names; other languages for what all share (digits, ISO dates, quotations,
capitals). German nouns are capitalised, so there a single capitalised word is a name only after a preposition of place.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from opik_checkembed.functional import specific_patterns as patterns
from opik_checkembed.functional.quantities import (
    SPACES,
    Date,
    Reading,
    added,
    chinese_value,
    date_reading,
    days_reading,
    german_numbers,
    is_count,
    month_of,
    number_value,
    number_words,
    numeric_dates,
    phone_reading,
    quantity,
    roman_value,
    scaled,
    suffix,
    time_reading,
    words_value,
)
from opik_checkembed.functional.specific_words import (
    ABBREVIATIONS,
    BEFORE_MONTHS,
    BEFORE_PLACES,
    CARDINALS,
    COUNTERS,
    CURRENCIES,
    DECIMAL_COMMA,
    DOUBTFUL_MONTHS,
    HONORIFICS,
    MULTIPLIERS,
    NOUNS_IN_CAPITALS,
    ORDINARY_NOUNS,
    PARTICLES,
    SHORT_MONTHS,
    STARTERS,
    VERBS_AFTER_NAMES,
    WEEKDAYS,
    WITHOUT_CAPITALS,
)
from opik_checkembed.language import bare_language

Kind = Literal["number", "date", "name", "title", "identifier", "url"]


@dataclass(frozen=True, slots=True)
class Specific:
    """Something in a text that another text can hold or not.

    Attributes:
        start: Where it begins, in characters.
        end: Where it ends.
        text: As it is written.
        kind: What it is.
        needs: A text that states one of these keys supports it.
        states: The keys it supports elsewhere.
    """

    start: int
    end: int
    text: str
    kind: Kind
    needs: frozenset[str]
    states: frozenset[str]

    def supported_by(self, other: Specific) -> bool:
        """Whether a text that holds the other one supports this.

        Example:
            >>> full, short = specifics("Marie Curie")[0], specifics("by Curie")[0]
            >>> full.supported_by(short)
            True
        """
        return not self.needs.isdisjoint(other.states)


def specifics(text: str, language: str = "en", *, names: Sequence[tuple[int, int]] | None = None) -> list[Specific]:
    """The checkable specifics of a text, in their order; none overlap.

    Args:
        text: Any text; Markdown is understood as far as it matters here.
        language: ISO 639-1 code, with a region or without. It decides between 1.234 and 1,234, reads words for numbers
            and months, and tells names from other capitalised words.
        names: Where names begin and end, if an entity recogniser has found them; they take the place of those that
            rules find. Those that touch a number, date or other specific are left out.

    Example:
        >>> [(one.text, one.kind) for one in specifics("Marie Curie was born on 7 November 1867 in Warsaw.")]
        [('Marie Curie', 'name'), ('7 November 1867', 'date'), ('Warsaw', 'name')]
    """
    return _Extraction(text, bare_language(language), names).found()


def folded(text: str) -> str:
    """A text as its words are compared: case, accents, width, apostrophes and white space do not count.

    Example:
        >>> folded("O’Neill's  CAFÉ")
        "o'neill cafe"
    """
    if text.isascii():
        if "'" not in text:
            return " ".join(text.casefold().split())
    else:
        text = unicodedata.normalize("NFKD", text.replace("’", "'").replace("‑", "-"))
        text = _ACCENTS.sub("", text)
    return " ".join(_POSSESSIVE.sub("", text.casefold()).split())


_POSSESSIVE = re.compile(r"(?<=\w)'s\b|(?<=s)'(?!\w)")
# Of Latin, Greek and Cyrillic letters; in Hebrew, Arabic and Indian scripts such marks are letters of their own.
_ACCENTS = re.compile(f"[{''.join(chr(c) for c in range(0x300, 0x601) if unicodedata.combining(chr(c)))}]")


def _in_no_word(text: str, start: int, end: int) -> bool:
    """CJK writes no spaces; elsewhere a figure inside a word is part of an identifier."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() and before < "\u2e80") and not (after.isalpha() and after.isascii())


# --- the extraction -----------------------------------------------------------------------------------------

_DOMAINS = (".com", ".org", ".net", ".io", ".dev", ".edu", ".gov")
_CENTURY_WORDS = {"twenty-first": 21}
_HALVES = {"下午": True, "午後": True, "晚上": True, "上午": False, "午前": False, "早上": False}


class _Extraction:
    """One text; what a pattern takes, later ones do not see."""

    def __init__(self, text: str, language: str, names: Sequence[tuple[int, int]] | None) -> None:
        self.text = text
        self.given_names = names
        self.language = language
        self.left = text
        self._found: list[Specific] = []
        self._hidden: list[tuple[int, int]] = []
        self._words: frozenset[str] | None = None
        self._figure_spans: list[tuple[int, int]] | None = None
        self._capital_places: list[int] | None = None

    def found(self) -> list[Specific]:
        """All of them, in order."""
        latin = self.language not in WITHOUT_CAPITALS
        for pattern, hints, read in (
            (patterns.URL, ("://", "www.", *_DOMAINS), self._url),
            (patterns.EMAIL, "@", self._identifier),
            (patterns.CODE, "`", self._code),
        ):
            if any(hint in self.left for hint in hints):
                self._each(pattern, read)
        self._at((mark.start() for mark in patterns.QUOTE_MARK.finditer(self.left)), patterns.QUOTED, self._quoted)
        if "_" in self.left or "()" in self.left:
            self._each(patterns.SNAKE, self._identifier)
        self._dates()
        if self._figures():
            self._identifiers(latin)
            self._at_figures(patterns.SCIENTIFIC, self._scientific)
            if ":" in self.left:
                self._at_figures(patterns.SCORE, self._score)
            self._at_figures(patterns.numbers(self.language), self._number)
        self._mixed_case()
        self._number_words()
        self._settle()
        if latin:
            self._at(self._places(patterns.WEEKDAY_HEADS), patterns.weekday_pattern(False), self._weekday)
        else:
            self._each(patterns.weekday_pattern(True), self._weekday)
        if self.given_names is not None:
            for start, end in self.given_names:
                self._take(start, end, "name", _named(self.text[start:end], short=latin))
            self._settle()
        elif self.language == "ja":
            self._each(patterns.KATAKANA, self._name)
        if latin and self.given_names is None:
            self._names()
        elif not latin:
            self._each(patterns.LATIN_RUN, self._name)
        return sorted(self._found, key=lambda one: one.start)

    def _dates(self) -> None:
        lowered = self.left.casefold()
        if any(hint in lowered for hint in patterns.CENTURY_WORDS):
            ends = (match.end() for match in patterns.CENTURY_WORD.finditer(self.left))
            self._at(self._before(ends, patterns.LONGEST_CENTURY), patterns.CENTURY, self._century)
        if "années" in lowered or "años" in lowered:
            self._each(patterns.DECADE_BEFORE, self._decade)
        if any(hint in lowered for hint in ("0s", "0's", "0’s", "0er", "年代")):
            self._at_figures(patterns.DECADE, self._decade)
        if self._figures():
            if any(hint in self.left for hint in ("AD ", "A.D. ")):
                self._each(patterns.AD_BEFORE, self._era)
            if any(hint in self.left for hint in ("前", "公元", "西暦", "西历")):
                self._each(patterns.CHINESE_ERA, self._era)
            if any(hint in self.left for hint in ("BC", "B.C", "AD", "A.D", "CE", "C.E", "Chr", ".-C", ". C", ".C")):
                self._at_figures(patterns.ERA, self._era)
        if "年" in self.left or "月" in self.left:
            self._each(patterns.CHINESE_DATE, self._chinese_date)
        self._at_figures(patterns.DAY_FIRST, self._day_first)
        self._at(self._places(patterns.MONTH_HEADS), patterns.MONTH_FIRST, self._month_first)
        for pattern, read in ((patterns.NUMERIC_DATE, self._numeric_date), (patterns.TIME, self._time)):
            self._at_figures(pattern, read)

    def _identifiers(self, latin: bool) -> None:
        self._at_figures(patterns.VERSION, self._version, before="vV")
        if self._beside_figures("abcdef", "abcdef"):
            self._each(patterns.HASH, self._identifier)
        self._at_figures(patterns.PHONE, self._phone, before="+(")
        self._at_figures(patterns.YEARS, self._years)
        self._mixed_case()
        self._at(self._before(self._joints(), patterns.LONGEST_HEAD), patterns.DESIGNATION, self._designation)
        if latin:
            self._at(self._capitals(), patterns.NUMBERED_NAME, self._numbered_name)

    def _mixed_case(self) -> None:
        """iPhone: up to three small letters before a capital."""
        humps = [match.start() for match in patterns.HUMP.finditer(self.left)]
        self._at((hump - back for hump in humps for back in (3, 2, 1) if hump >= back), patterns.MIXED, self._mixed)

    # Most places are no beginning of most patterns. What follows finds those that may be, once for several patterns.

    def _figures(self) -> list[tuple[int, int]]:
        """Where runs of digits are."""
        if self._figure_spans is None:
            self._figure_spans = [match.span() for match in patterns.DIGITS.finditer(self.text)]
        return self._figure_spans

    def _beside_figures(self, before: str, after: str) -> bool:
        """Whether one of these characters stands right before a run of digits or right after one."""
        text = self.text
        return any(
            (start and text[start - 1] in before) or (end < len(text) and text[end] in after)
            for start, end in self._figures()
        )

    def _capitals(self) -> list[int]:
        """Where capitals are, also within words: what stands before one may have been taken."""
        if self._capital_places is None:
            self._capital_places = [match.start() for match in patterns.ANY_CAPITAL.finditer(self.text)]
        return self._capital_places

    def _joints(self) -> Iterator[int]:
        """Where figures follow letters, or letters and a hyphen, or a capital and a space, as in identifiers."""
        text = self.left
        for place, _ in self._figures():
            last, before = text[place - 1 : place], text[max(0, place - 2) : place - 1]
            if last.isalpha() or (last == "-" and before.isalpha()) or (last in {" ", "\u00a0"} and before.isupper()):
                yield place

    def _places(self, heads: frozenset[str]) -> list[int]:
        """Where words with one of these beginnings are; see `patterns.heads`."""
        if self._words is None:
            self._words = frozenset(patterns.LETTERS.findall(self.left))
        places = []
        for word in heads & self._words:
            at = self.left.find(word)
            while at >= 0:
                places.append(at)
                at = self.left.find(word, at + len(word))
        places.sort()
        return places

    def _before(self, ends: Iterable[int], reach: int) -> Iterator[int]:
        """All places that are at most so far before these, in order and each once."""
        last = 0
        for end in ends:
            yield from range(max(last, end - reach), end)
            last = end

    def _matches(self, places: Iterable[int], pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """What matches at these places, which are in order and hold all where the pattern can match."""
        done = 0
        for place in places:
            if place >= done and (match := pattern.match(self.left, place)) is not None:
                yield match
                done = match.end()

    def _at(self, places: Iterable[int], pattern: re.Pattern[str], read: Callable[[re.Match[str]], None]) -> None:
        for match in self._matches(places, pattern):
            read(match)
        self._settle()

    def _at_figures(self, pattern: re.Pattern[str], read: Callable[[re.Match[str]], None], before: str = "") -> None:
        done = 0
        for place, _ in self._figures():
            if place < done or self.left[place] == patterns.TAKEN:
                continue
            match = None
            if before and self.left[place - 1 : place] in before and place:
                match = pattern.match(self.left, place - 1)
            match = match or pattern.match(self.left, place)
            if match is not None:
                taken = len(self._hidden)
                read(match)
                if len(self._hidden) > taken:
                    done = self._hidden[-1][1]
        self._settle()

    def _each(self, pattern: re.Pattern[str], read: Callable[[re.Match[str]], None]) -> None:
        for match in pattern.finditer(self.left):
            if match.end() > match.start():
                read(match)
        self._settle()

    def _take(self, start: int, end: int, kind: Kind, reading: Reading) -> None:
        # What this pattern has taken itself is not hidden yet; it goes from left to right.
        if start < self._taken_up_to() or patterns.TAKEN in self.left[start:end]:
            return
        self._found.append(Specific(start, end, self.text[start:end], kind, *reading))
        self._hidden.append((start, end))

    def _taken_up_to(self) -> int:
        return self._hidden[-1][1] if self._hidden else 0

    def _settle(self) -> None:
        """Hide what has been taken from the patterns to come; once for each, not for each match."""
        if not self._hidden:
            return
        pieces, done = [], 0
        for start, end in sorted(self._hidden):
            pieces += [self.left[done:start], patterns.TAKEN * (end - max(start, done))]
            done = max(done, end)
        pieces.append(self.left[done:])
        self.left = "".join(pieces)
        self._hidden.clear()

    # --- addresses, code, quotations

    def _url(self, match: re.Match[str]) -> None:
        url = match[0]
        while url and (
            url[-1] in ".,;:!?'*_"
            or (url[-1] in ")]" and url.count(url[-1]) > url.count("(" if url[-1] == ")" else "["))
        ):
            url = url[:-1]
        plain = re.sub(r"^(?:https?://)?(?:www\.)?", "", url.casefold()).rstrip("/")
        self._take(match.start(), match.start() + len(url), "url", _same(f"u:{plain}"))

    def _identifier(self, match: re.Match[str]) -> None:
        self._take(match.start(), match.end(), "identifier", _same(f"i:{_code(match[0])}"))

    def _code(self, match: re.Match[str]) -> None:
        code = match[1]
        if code.strip().isdigit():
            return  # a number, whatever its type face
        reading = _same(f"i:{_code(code)}")
        if code.isalnum():
            # The same word may stand without the marks.
            word = frozenset({f"w:{words_of(code)}"})
            reading = Reading(reading.needs | word, reading.states | word)
        self._take(match.start(1), match.end(1), "identifier", reading)

    def _quoted(self, match: re.Match[str]) -> None:
        group = match.lastindex
        assert group is not None  # every kind of quotation has one
        start, end = match.span(group)
        inner = self.left[start:end]
        if not any(c.isalnum() for c in inner):
            return
        start += len(inner) - len(inner.lstrip())
        end -= len(inner) - len(inner.rstrip())
        kept = self.text[start:end].rstrip(",.;")
        self._take(start, start + len(kept), "title", _titled(words_of(kept)))
        self._hidden.append(match.span())

    def _version(self, match: re.Match[str]) -> None:
        text = match[0]
        parts = text.split(".")
        if self.language != "en" and len(parts) > 2 and all(len(part) == 3 for part in parts[1:]):
            return
        self._take(match.start(), match.end(), "identifier", _same(f"i:{text.casefold().removeprefix('v')}"))

    def _phone(self, match: re.Match[str]) -> None:
        written = match[0].replace("(0)", "")
        digits = "".join(c for c in written if c.isdigit())
        groups = re.split(r"\D+", written.strip("+ ("))
        grouped_figure = all(len(group) == 3 for group in groups[1:]) and written[0] not in "+0(" and "-" not in written
        if len(digits) >= 7 and not grouped_figure:
            self._take(match.start(), match.end(), "identifier", phone_reading(digits, written[0] == "+"))

    def _designation(self, match: re.Match[str]) -> None:
        head = re.match(r"[^\W\d]+", match[0])
        if head is not None and (
            month_of(head[0]) is not None or head[0].casefold() in STARTERS.get(self.language, ())
        ):
            return
        number = re.search(r"\d[\d.,]*$", match[0])
        if (
            number is not None
            and " " in match[0]
            and suffix(self.left, match.end(), self.language, money=False).unit is not None
        ):
            return
        if (
            head is not None
            and " " in match[0]
            and head[0].upper() in {"USD", "EUR", "GBP", "CHF", "JPY", "CNY", "AD", "BC", "GPA"}
        ):
            return
        self._identifier(match)

    def _mixed(self, match: re.Match[str]) -> None:
        self._take(match.start(), match.end(), "identifier", _named(match[0], short=False))

    def _numbered_name(self, match: re.Match[str]) -> None:
        word, figure = match[1], match[2]
        if (
            word.casefold() in STARTERS.get(self.language, ())
            or month_of(word) is not None
            or word.casefold() in WEEKDAYS
        ):
            return
        if (len(figure) == 4 and figure[0] in "12") or word.casefold() in CURRENCIES:
            return
        behind = suffix(self.left, match.end(), self.language, money=False)
        if behind.unit is not None or behind.power:
            return
        before = self.left[max(0, match.start() - 40) : match.start()]
        leading = re.search(rf"(?:[{patterns.UPPER}][\w'’-]*[ ]){{1,3}}$", before)
        start = match.start() if leading is None else match.start() - len(leading[0])
        words = self.left[start : match.end()].split()
        while len(words) > 2 and words[0].casefold() in STARTERS.get(self.language, ()):
            start += len(words[0]) + 1
            words = words[1:]
        self._take(start, match.end(), "name", _named(self.text[start : match.end()], short=False))

    # --- dates

    def _day_first(self, match: re.Match[str]) -> None:
        before = self.left[max(0, match.start() - 14) : match.start()].split()
        if match["e"] and before and month_of(before[-1]) is not None:
            return  # "May 3 to 5 June": the first day is another month's
        self._worded_date(match, match["y"], match.end())

    def _month_first(self, match: re.Match[str]) -> None:
        if match["e"] and int(match["d"]) >= int(match["e"]):
            # "March 3–1": no days, but a score.
            self._worded_date(match, None, match.start("to"))
        else:
            self._worded_date(match, match["y"] or match["y2"], match.end())

    def _worded_date(self, match: re.Match[str], year: str | None, end: int) -> None:
        month, day = match["m"], match["d"]
        last = match["e"] if match.end() == end else None
        word = month.rstrip(".").casefold()
        start = match.start()
        written = month[0].isupper() or not month[0].isascii() or self.language in {"fr", "es"}
        if day is None and year is None:
            before = self.left[max(0, start - 14) : start].split()
            led = bool(before) and before[-1].casefold() in BEFORE_MONTHS
            if word in SHORT_MONTHS or not written or ((word in DOUBTFUL_MONTHS or not month[0].isupper()) and not led):
                return
            end = start + len(month.rstrip("."))
        elif not written and word in DOUBTFUL_MONTHS | SHORT_MONTHS:
            return
        date = Date(int(year) if year else None, month_of(word), int(day) if day else None)
        until = date if last is None else date._replace(day=int(last))
        if date.possible and until.possible and (last is None or date < until):
            found = self.left[start:end].rstrip(" ,")
            if word not in SHORT_MONTHS:
                found = found.rstrip(".")
            self._take(
                start, start + len(found), "date", date_reading(date) if last is None else days_reading(date, until)
            )

    def _chinese_date(self, match: re.Match[str]) -> None:
        y, m, d, last = (
            None if g is None else (int(g) if g.isdigit() else chinese_value(g))
            for g in match.group("y", "m", "d", "e")
        )
        if (y is None and d is None and m is not None) and self.left[match.end() : match.end() + 1] in "间":
            return
        if y is not None and y < 100 and m is None:
            return
        date = Date(y, m, d)
        until = date if last is None else date._replace(day=last)
        if any(date) and date.possible and until.possible:
            reading = date_reading(date) if last is None else days_reading(date, until)
            self._take(match.start(), match.end(), "date", reading)

    def _numeric_date(self, match: re.Match[str]) -> None:
        groups = match.groups()
        first, mark, second, third = groups[:4] if groups[0] else groups[4:]
        if mark == "." and len(third) == 2 and self.language == "en":
            return
        dates = list(numeric_dates(first, second, third, self.language, mark))
        if dates:
            reading = date_reading(*dates)
            plain = f"raw:{int(first)}/{int(second)}/{int(third)}"
            if len(dates) > 1:
                # Open between readings: the same spelling supports it, and so does any reading spelt out.
                reading = Reading(reading.needs | {plain}, frozenset({plain}))
            self._take(match.start(), match.end(), "date", reading)

    def _era(self, match: re.Match[str]) -> None:
        year = match.groupdict()
        if year.get("bc"):
            self._take(match.start(), match.end(), "date", _same(f"bc:{int(year['bc'])}"))
        else:
            self._take(match.start(), match.end(), "date", date_reading(Date(int(year["ad"]))))

    def _century(self, match: re.Match[str]) -> None:
        roman, word = match["r"] or match["r2"], (match["w"] or "").casefold()
        if match["n"]:
            number: int | None = int(match["n"])
        elif roman:
            number = roman_value(roman)
        else:
            number = _CENTURY_WORDS.get(word, CARDINALS["en"].get(word))
        if number is not None:
            self._take(match.start(), match.end(), "date", _same(f"c:{number}"))

    def _decade(self, match: re.Match[str]) -> None:
        decade = next(group for group in match.groups() if group)
        self._take(match.start(), match.end(), "date", _same(f"decade:{int(decade)}"))

    def _years(self, match: re.Match[str]) -> None:
        first, last = match[1], match[2]
        if len(last) == 2:
            if not int(first[2:]) < int(last):
                return
            last = first[:2] + last
        if int(first) < int(last):
            parts = frozenset({*date_reading(Date(int(first))).states, *date_reading(Date(int(last))).states})
            key = f"d:{first}..{last}"
            needs = frozenset({key, f"both:d:{first}--&d:{last}--"})
            self._take(match.start(), match.end(), "date", Reading(needs, parts | {key}))

    def _time(self, match: re.Match[str]) -> None:
        hour = match["h"] or match["h2"] or match["h3"]
        minute = match["n"] or match["n2"] or match["n3"] or match["n4"]
        start = match.start()
        half = self.left[max(0, start - 2) : start] if match["h3"] else ""
        half = half if half in _HALVES else ""
        marker = match["x"].casefold() if match["x"] else half
        if minute is None and not marker and match["h3"] is None:
            return
        hour_n, minute_n = int(hour), 30 if match["half"] else int(minute or 0)
        if hour_n > 24 or minute_n > 59:
            return
        afternoon = None
        if marker[:1] == "p" or _HALVES.get(marker) is True:
            afternoon = True
        elif marker[:1] == "a" or _HALVES.get(marker) is False:
            afternoon = False
        end = match.end()
        end -= len(match[0]) - len(match[0].rstrip(SPACES))
        # A full stop that ends the sentence still belongs to "a.m.".
        self._take(start - len(half), end, "date", time_reading(hour_n, minute_n, afternoon))

    def _weekday(self, match: re.Match[str]) -> None:
        word = match[0]
        if word[0].isupper() or self.language in {"fr", "es"} or not word[0].isascii():
            self._take(match.start(), match.end(), "date", _same(f"weekday:{WEEKDAYS[word.casefold()]}"))

    # --- patterns.numbers

    def _score(self, match: re.Match[str]) -> None:
        self._take(match.start(), match.end(), "number", _same(f"n:{int(match[1])}..{int(match[2])}:"))

    def _scientific(self, match: re.Match[str]) -> None:
        exponent = match["e"] or match["e2"] or match["e3"] or (match["s"] or "").translate(_SUPERSCRIPTS)
        value = number_value(match["a"] or "1", self.language)
        assert value is not None  # plain digits
        behind = suffix(self.left, match.end(), self.language, money=False)
        reading = quantity(scaled(value, int(exponent.replace("−", "-"))), behind.unit)
        self._take(match.start(), behind.end, "number", reading)

    def _number(self, match: re.Match[str]) -> None:
        start, end, written = match.start(), match.end(), match["a"]
        before = patterns.BEFORE_FIGURE.search(self.left, max(self._taken_up_to(), start - 8), start)
        assert before is not None  # it matches nothing at all, too
        start, money = before.start(), before["money"]
        value = number_value(written, self.language)
        if value is None or (not _in_no_word(self.left, match.start("a"), match.end("a")) and match["ord"] is None):
            behind = None if value is None else suffix(self.left, match.end("a"), self.language, money is not None)
            if behind is None or behind.end == match.end("a"):
                return
        assert value is not None
        if before["sign"] not in {"", "+", "±"} or before["sign2"]:
            value = f"-{value}"
        unit = None if money is None else CURRENCIES[_currency(money)]
        if match["ord"]:
            self._take(start, end, "number", quantity(value, None))
            return
        if match["over"]:
            over = int(match["over"])
            part = written.isdigit() and 0 < int(written) < over <= 16
            ratio = number_value(f"{int(written) / over:.9f}", "en") if part else f"{value}/{over}"
            self._take(start, end, "number", quantity(str(ratio), None))
            return
        last = match["b"]
        behind = suffix(self.left, end, self.language, money is not None)
        if last is not None:
            upper = number_value(last, self.language)
            worded = match["dash"].strip(SPACES + "–—‒-")
            if upper is None or (worded == "a" and self.language != "es") or (worded == "à" and self.language != "fr"):
                last, end = None, match.end("a")
                behind = suffix(self.left, end, self.language, money is not None)
            else:
                value, upper = scaled(value, behind.power), scaled(upper, behind.power)
                self._take(start, behind.end, "number", quantity(f"{value}..{upper}", unit or behind.unit))
                return
        if match["dash"] is None and behind.end == end and (half := self._half(end)) is not None:
            value, behind = added(value, "0.5"), suffix(self.left, half, self.language, money is not None)
        value = scaled(value, behind.power)
        end = behind.end
        # 3億5000万 is one number.
        while behind.power >= 4 and (more := patterns.NEXT_FIGURE.match(self.left, end)) is not None:
            behind = suffix(self.left, more.end(), self.language, money is not None)
            value = added(value, scaled(more[0], behind.power))
            end = behind.end
        unit = unit or behind.unit
        if (
            money is None
            and behind.unit is None
            and behind.power == 0
            and len(written) == 4
            and written.isdigit()
            and "1000" <= str(int(written)) <= "2099"
            and value[0] != "-"
        ):
            self._take(start, end, "date", date_reading(Date(int(written))))
            return
        if written.isdigit() and self._numbers_an_item(start, match.end("a")):
            return
        self._take(start, end, "number", quantity(value, unit))

    def _numbers_an_item(self, start: int, end: int) -> bool:
        """Whether a figure only counts items: "2. Rome" at the beginning of a line, "2) Rome" anywhere."""
        mark = self.left[end : end + 1]
        if mark == ")":
            return (
                end - start <= 2
                and self.left[end + 1 : end + 2].isspace()
                and self.left[start - 1 : start] in {"", " ", "\n"}
                and "(" not in self.left[max(0, start - 80) : start]
            )
        line = self.left.rfind("\n", max(0, start - 80), start) + 1
        return mark == "." and self.left[end + 1 : end + 2].isspace() and not self.left[line:start].strip(" \t*_")

    def _number_words(self) -> None:
        if self.language == "de":
            for match in self._matches(self._places(patterns.number_heads("de")), patterns.LOWER_WORD):
                if (worth := german_numbers().get(match[0].casefold())) is not None:
                    self._worded(match.start(), match.end(), worth)
        elif self.language in {"zh", "ja"}:
            self._chinese_numerals()
        elif (pattern := number_words(self.language)) is not None:
            for match in self._matches(self._places(patterns.number_heads(self.language)), pattern):
                words = [_CONJOINED.sub("", word) for word in re.split(r"[\s-]+", match[0].casefold())]
                # "Les Trois Mousquetaires": a capital in mid-sentence makes it a name.
                halved = self.left[max(0, match.start() - 8) : match.start()].casefold().endswith(("half a ", "half "))
                half = self._half(match.end())
                counts = half is not None or is_count(words)
                if halved or not counts or (match[0][0].isupper() and not self._opens(match.start())):
                    continue
                value = words_value(words, self.language)
                if value is None:
                    continue
                if half is None:
                    self._worded(match.start(), match.end(), str(value))
                else:
                    # "Deux millions et demi": half of the million.
                    scales = MULTIPLIERS[self.language] if len(words) > 1 else {}
                    whole = scales.get(words[-1]) or scales.get(words[-1].removesuffix("s"), 1)
                    self._worded(match.start(), half, added(str(value), str(whole / 2)))

    def _half(self, end: int) -> int | None:
        """Where "and a half" ends that stands here."""
        pattern = patterns.AND_A_HALF.get(self.language)
        match = None if pattern is None else pattern.match(self.left, end)
        return None if match is None else match.end()

    def _worded(self, start: int, end: int, value: str) -> None:
        behind = suffix(self.left, end, self.language, money=False)
        if behind.power or (behind.unit is not None and self.left[end : end + 1] in SPACES):
            self._take(start, behind.end, "number", quantity(scaled(value, behind.power), behind.unit))
        else:
            self._take(start, end, "number", quantity(value, None))

    def _chinese_numerals(self) -> None:
        self._each(patterns.CHINESE_FRACTION, self._chinese_fraction)
        for match in patterns.CHINESE_NUMBER.finditer(self.left):
            numeral = match[0]
            after = self.left[match.end() : match.end() + 1]
            ordinal = self.left[match.start() - 1 : match.start()] == "第"
            behind = suffix(self.left, match.end(), self.language, money=False)
            counted = bool(after) and after in COUNTERS
            whole = not after and match.start() == 0
            if numeral[0] in "万萬亿億" or (numeral in {"一", "千", "百"} and not (numeral != "一" and counted)):
                continue
            if not (counted or behind.unit or whole or ordinal):
                continue
            end = behind.end if behind.unit else match.end()
            self._take(match.start(), end, "number", quantity(str(chinese_value(numeral)), behind.unit))

    def _chinese_fraction(self, match: re.Match[str]) -> None:
        below, above = (number_value(g, "zh") if g[0].isdigit() else str(chinese_value(g)) for g in match.groups())
        assert above is not None  # plain digits
        assert below is not None
        reading = quantity(above, "%") if below == "100" else quantity(f"{above}/{below}", None)
        self._take(match.start(), match.end(), "number", reading)

    # --- names

    def _name(self, match: re.Match[str]) -> None:
        self._take(match.start(), match.end(), "name", _named(match[0], short=False))

    def _names(self) -> None:
        self._hide_letters()
        runs = [
            run
            for match in self._matches(self._name_places(), patterns.runs(self.language))
            if (run := self._run(match)) is not None
        ]
        # What is a name in the middle of a sentence is one at the beginning as well.
        named = [(start, end, doubtful, _words_of_name(self.text[start:end])) for start, end, doubtful in runs]
        known = {word for *_, doubtful, words in named if not doubtful for word in words.split()}
        for start, end, doubtful, words in named:
            if not doubtful or words in known:
                self._take(start, end, "name", _named(self.text[start:end], short=True))

    def _name_places(self) -> list[int]:
        """Where names may begin: at capitals, at an elided article before one (d'Albert), at a leading particle."""
        places = set(self._places(patterns.LEADING_HEADS))
        for place in self._capitals():
            places.add(place - 2 if place > 1 and self.left[place - 1] in "'’" else place)
        return sorted(places)

    def _hide_letters(self) -> None:
        """Capitals say nothing in the heads of tables, nor in lines that have no small letters."""
        if "|" in self.left:
            self.left = patterns.TABLE_HEAD.sub(lambda head: _without_letters(head[0]), self.left)
        self.left = "\n".join(
            _without_letters(line)
            if patterns.SHOUTED.fullmatch(line) and len(patterns.LONG_WORD.findall(line)) > 1
            else line
            for line in self.left.split("\n")
        )

    def _run(self, match: re.Match[str]) -> tuple[int, int, bool] | None:
        """Where the name in a run of capitalised words is, and whether it may be an ordinary word."""
        written = match[0]
        if not written[1:].isupper() and written.casefold() in STARTERS.get(self.language, ()):
            return None
        opens = self._opens(match.start())
        trimmed = _trimmed(written, self.language, opens, match["lead"] is not None)
        if trimmed is None:
            return None
        start, end = match.start() + trimmed.start, match.start() + trimmed.end
        if trimmed.certain:
            return start, end, False
        word, opens = written[trimmed.start : trimmed.end], trimmed.opens
        if len(word) == 1 or (month_of(word) is not None and word.casefold() not in DOUBTFUL_MONTHS):
            return None
        inner = not word[1:].islower() and any(c.isupper() for c in word[1:])
        if self.language in NOUNS_IN_CAPITALS and not inner:
            before = self.left[max(0, start - 12) : start].split()
            placed = bool(before) and before[-1].casefold() in BEFORE_PLACES and not opens
            return (start, end, not placed)
        if not opens or inner or (trimmed.possessive and word.casefold() not in ORDINARY_NOUNS):
            return start, end, False
        alone = start == 0 and not self.text[end:].strip(" .!?'’s")
        # "Python 3.12": what a version follows is no ordinary word.
        version = patterns.VERSION_NEXT.match(self.text, end) if self.language not in DECIMAL_COMMA else None
        versioned = (
            version is not None
            and not word.endswith(("ed", "ing"))
            and suffix(self.text, version.end(), self.language, money=False).end == version.end()
        )
        named = alone or versioned or self._is_an_entry(start, end) or self._begins_a_sentence_as_name(word, end)
        return start, end, not named

    def _is_an_entry(self, start: int, end: int) -> bool:
        """Whether this is all that an item of a list or a cell of a table holds."""
        line = self.left.rfind("\n", max(0, start - 80), start) + 1
        before = self.left[line:start].strip(" \t*_")
        while self.left[end : end + 1] in _MARKUP:
            end += 1
        after = self.left[end : end + 1]
        return after == "|" if before.endswith("|") else after in {"", "\n"} and bool(patterns.ITEM.fullmatch(before))

    def _begins_a_sentence_as_name(self, word: str, end: int) -> bool:
        if self.language != "en":
            return False
        following = patterns.LOWER_WORD.search(self.left, end, end + 16)
        lower = word.casefold()
        return (
            following is not None
            and self.left[end : following.start()] == " "
            and following[0] in VERBS_AFTER_NAMES
            and lower not in ORDINARY_NOUNS
            and not lower.endswith(("ing", "tion", "ment", "ness", "ity", "ism", "ers", "ance", "ence", "ees", "ly"))
        )

    def _opens(self, start: int) -> bool:
        """Whether a sentence, a line or a cell begins here."""
        text, at = self.left, start - 1
        while at >= 0 and text[at] in " \t\u00a0*_#>-+•|([“\"'‘¿¡":
            at -= 1
        if at < 0 or text[at] in "\n!?:;…。！？)]":
            return True
        if text[at] == ".":
            word = re.search(r"(\w+)\.$", text[max(0, at - 12) : at + 1])
            return word is None or word[1].casefold() not in _DOTTED_WORDS
        return unicodedata.category(text[at]) == "So"


def _without_letters(text: str) -> str:
    return "".join(patterns.TAKEN if c.isalpha() else c for c in text)


_DOTTED_WORDS = HONORIFICS | ABBREVIATIONS
_MARKUP = frozenset(" \t*_")


class _Trimmed(NamedTuple):
    """Where the name in a run of capitalised words is, counted from the run's beginning.

    Attributes:
        start: Where it begins.
        end: Where it ends.
        certain: Whether it is a name wherever it stands.
        opens: Whether its capital may be a sentence's.
        possessive: Whether an "'s" followed.
    """

    start: int
    end: int
    certain: bool
    opens: bool
    possessive: bool


@lru_cache(maxsize=4096)
def _trimmed(run: str, language: str, opens: bool, led: bool) -> _Trimmed | None:
    """A run without the ordinary words at its head and what ends it (a possessive, a full stop); None if none is left.

    `led` says that it begins with a small word that belongs to it.
    """
    start, end = 0, len(run)
    starters = STARTERS.get(language, ())
    while not led:
        head = patterns.FIRST_WORD.match(run, start)
        assert head is not None  # what is left of a run begins with a letter
        word = head[0].rstrip(".").casefold()
        elided = patterns.ELIDED.match(run, start) if language == "fr" else None
        if elided is not None:
            start, opens = elided.end(), False
            continue
        honorific = (
            word in HONORIFICS and (head[0].endswith(".") or word in {"mr", "mrs", "ms", "dr"}) and len(word) > 1
        )
        dropped = (
            word in starters and not head[0].endswith(".") and not (head[0].isupper() and len(word) > 1 and not opens)
        )
        if not (honorific or dropped):
            break
        rest = patterns.AFTER_WORD.match(run, head.end())
        if rest is None or rest.end() == end:
            return None
        start = rest.end()
        # What follows a dropped word does not begin the sentence, so its capital says something.
        opens = False
        if not (run[start].isupper() or run[start] in "dDlL"):
            # "The state of Utah": what is left begins with a particle.
            capital = patterns.CAPITAL.search(run, start)
            assert capital is not None  # a particle joins two words with capitals
            start = capital.start()
    name = run[start:end]
    possessive = name.endswith(("'s", "’s"))
    if possessive:
        name = name[:-2]
    if name.endswith(".") and not patterns.INITIALS_END.search(name):
        name = name[:-1]
    if name in {"I", "O", "A"}:
        return None
    return _Trimmed(start, start + len(name), led or len(name.split()) > 1, opens, possessive)


def _same(key: str) -> Reading:
    return Reading(frozenset({key}), frozenset({key}))


def _titled(words: str) -> Reading:
    """A quotation's reading. One of a single word is no ordinary word ("It"), but may be a name."""
    keys = frozenset({f"q:{words}"})
    return Reading(keys | {f"name:{words}"} if " " not in words else keys, keys)


def _code(text: str) -> str:
    return re.sub(r"[\s()-]+", "", folded(text))


def words_of(text: str) -> str:
    """A text's folded words, without marks, separated by single spaces; "U.S." is one word."""
    plain = folded(text)
    plain = _DOTTED.sub(lambda match: match[0].replace(".", ""), plain)
    return " ".join(_WORD.findall(plain))


_DOTTED = re.compile(r"\b(?:[^\W\d_]\.){2,}(?:[^\W\d_]\b)?")
_WORD = re.compile(r"[^\W_]+")


# Names recur, above all across samples of one answer.
_words_of_name = lru_cache(maxsize=4096)(words_of)


@lru_cache(maxsize=4096)
def _named(text: str, *, short: bool) -> Reading:
    """A name's reading: its last words alone support it, and so do its initials; it states them only weakly.

    "Curie" in a sample supports "Marie Curie". The other way round, "Marie Curie" in a sample speaks for "Curie" only
    where that stands for somebody of that last name: the first name of two says nothing of the one alone. A middle name
    may be left out. "New Mexico" has no short form.
    """
    words = _words_of_name(text)
    # Only the whole name is looked for without its capitals, and none so short that it may be a word ("US").
    in_capitals = text.replace(".", "").isupper()
    plain = frozenset() if in_capitals and len(words) < 3 else frozenset({f"w:{words}"})
    needs, states = {*plain, f"name:{words}"}, {*plain, f"name:{words}"}
    parts = [part for part in words.split() if part not in {"jr", "sr"}]
    if in_capitals:
        states.add(f"caps:{words}")
    if short and len(parts) > 1:
        numbered = _ROMAN_NUMERAL.fullmatch(parts[-1]) is not None
        if parts[0] not in _NO_NAME_ALONE and not numbered:
            tails = {" ".join(parts[i:]) for i in range(1, len(parts)) if len(parts[i]) > 1}
            needs |= {f"name:{tail}" for tail in tails}
            states |= {f"tail:{tail}" for tail in tails}
        if len(parts) > 2 and not numbered and not _SMALL & set(parts):
            outer = f"name:{parts[0]} {parts[-1]}"
            needs.add(outer)
            states.add(outer)
        initials = "".join(part if _ROMAN_NUMERAL.fullmatch(part) else part[0] for part in parts if part not in _SMALL)
        if len(initials) > 1:
            needs.add(f"caps:{initials}")
            states.add(f"initials:{initials}")
    elif len(parts) == 1:
        needs.add(f"initials:{words}" if in_capitals else f"tail:{words}")
        if in_capitals:
            needs.add(f"tail:{words}")
    return Reading(frozenset(needs), frozenset(states))


_ROMAN_NUMERAL = re.compile(r"[ivx]{1,5}")
_NO_NAME_ALONE = frozenset(
    [
        *("new", "north", "south", "east", "west", "northern", "southern", "eastern", "western", "central", "upper"),
        *("lower", "great", "old", "saint", "st", "san", "santa", "los", "las", "united"),
    ]
)
_SMALL = frozenset(
    PARTICLES["en"] | PARTICLES["de"] | PARTICLES["fr"] | PARTICLES["es"] | {"the", "and", "des", "et", "y", "und"}
)

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
# Arabic writes "and" in one with the next word: خمسة وعشرون.
_CONJOINED = re.compile(r"^و(?=\w{4})(?!احد)")
_CURRENCY_SIGNS = {"a$": "usd", "c$": "usd"}


def _currency(written: str) -> str:
    name = written.strip(SPACES).casefold()
    return _CURRENCY_SIGNS.get(name, name)
