"""A text while its specifics are being found."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from opik_checkembed.functional.specifics.characters import Characters
from opik_checkembed.functional.specifics.pattern_parts import LAST_WORD, LETTERS, TAKEN
from opik_checkembed.functional.specifics.readings import Reading
from opik_checkembed.functional.specifics.specific import Kind, Specific
from opik_checkembed.functional.specifics.vocabulary import ABBREVIATIONS, HONORIFICS

ANY = range(1, sys.maxsize)
"""Any number of digits."""


class Scan:
    """A text while it is read: what one pattern takes, later ones do not see.

    Args:
        text: The text.
        language: ISO 639-1 code without a region.
    """

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.language = language
        self.left = text
        self._found: list[Specific] = []
        self._hidden: list[tuple[int, int]] = []
        self._words: frozenset[str] | None = None
        self._figures_of: dict[range, list[tuple[int, int]]] = {}

    def found(self) -> list[Specific]:
        """All that has been taken, in order."""
        return sorted(self._found)

    def take(self, start: int, end: int, kind: Kind, reading: Reading) -> None:
        """Take this as a specific, unless something of it has been taken already."""
        # What this pattern has taken itself is not hidden yet; it goes from left to right.
        hidden = self._hidden  # as `taken_up_to` and `hide` have it; this is called for every specific
        if (hidden and start < hidden[-1][1]) or TAKEN in self.left[start:end]:
            return
        self._found.append(Specific(start, end, self.text[start:end], kind, *reading))
        hidden.append((start, end))

    def join(self, pairs: Iterable[tuple[Specific, Specific, Reading]]) -> None:
        """Put one specific in the place of each two that stand beside each other."""
        gone: set[int] = set()
        joined: list[Specific] = []
        for one, other, reading in pairs:
            gone |= {one.start, other.start}
            text = self.text[one.start : other.end]
            joined.append(Specific(one.start, other.end, text, one.kind, *reading))
        self._found = [each for each in self._found if each.start not in gone] + joined

    def hide(self, start: int, end: int) -> None:
        """Keep patterns to come from seeing this."""
        self._hidden.append((start, end))

    def taken_up_to(self) -> int:
        """Where that ends which the pattern at hand has taken."""
        return self._hidden[-1][1] if self._hidden else 0

    def settle(self) -> None:
        """Hide what has been taken from the patterns to come; once for each, not for each match."""
        if not self._hidden:
            return
        pieces, done = [], 0
        for start, end in sorted(self._hidden):
            pieces += [self.left[done:start], TAKEN * (end - max(start, done))]
            done = max(done, end)
        pieces.append(self.left[done:])
        self.left = "".join(pieces)
        self._hidden.clear()

    def each(self, pattern: re.Pattern[str], read: Reader) -> None:
        """Read everything that the pattern matches."""
        for match in pattern.finditer(self.left):
            if match.end() > match.start():
                read(self, match)
        self.settle()

    def at(self, places: Iterable[int], pattern: re.Pattern[str], read: Reader) -> None:
        """Read what the pattern matches at these places; see `matches`."""
        for match in self.matches(places, pattern):
            read(self, match)
        self.settle()

    def at_figures(
        self, pattern: re.Pattern[str], read: Reader, *, before: str = "", digits: range = ANY, after: str = ""
    ) -> None:
        """Read what the pattern matches where a run of digits begins, or one of `before` right before it.

        Most runs are ruled out at a glance: by how many digits they may have, and by what has to follow those that
        begin with a digit.
        """
        if after and not self.beside_figures(before, after):
            return
        done, left = 0, self.left
        runs = self.figures if before else self._runs_of(digits)
        if after and not before:
            runs = [(start, end) for start, end in runs if left[end : end + 1] in after]
        for place, end in runs:
            if place < done or left[place] == TAKEN:
                continue
            match = None
            if before and left[place - 1 : place] in before and place:
                match = pattern.match(left, place - 1)
            if match is None and end - place in digits and (not after or left[end : end + 1] in after):
                match = pattern.match(left, place)
            if match is not None:
                taken = len(self._hidden)
                read(self, match)
                if len(self._hidden) > taken:
                    done = self._hidden[-1][1]
        self.settle()

    def matches(self, places: Iterable[int], pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """What matches at these places, which are in order and hold all where the pattern can match."""
        done = 0
        for place in places:
            if place >= done and (match := pattern.match(self.left, place)) is not None:
                yield match
                done = match.end()

    def opens(self, start: int) -> bool:
        """Whether a sentence, a line or a cell begins here."""
        text, at = self.left, start - 1
        while at >= 0 and text[at] in " \t\u00a0*_#>-+•|([“\"'‘¿¡":
            at -= 1
        if at < 0 or text[at] in "\n!?:;…。！？)]":
            return True
        if text[at] == ".":
            word = LAST_WORD.search(text, max(0, at - _LONGEST_DOTTED - 1), at)
            return word is None or word[0].casefold() not in _DOTTED_WORDS
        return text[at] > "~" and unicodedata.category(text[at]) == "So"

    # Most places are no beginning of most patterns. What follows finds those that may be, once for several patterns.

    @cached_property
    def _characters(self) -> Characters:
        return Characters(self.text)

    @cached_property
    def figures(self) -> list[tuple[int, int]]:
        """Where runs of digits are."""
        return self._characters.figures()

    def _runs_of(self, digits: range) -> list[tuple[int, int]]:
        """Where runs of so many digits are."""
        if digits not in self._figures_of:
            self._figures_of[digits] = [(start, end) for start, end in self.figures if end - start in digits]
        return self._figures_of[digits]

    @cached_property
    def _beside(self) -> tuple[frozenset[str], frozenset[str]]:
        """The characters that stand right before runs of digits, and those that stand right behind."""
        text = self.text
        return (
            frozenset(text[start - 1 : start] for start, _ in self.figures if start),
            frozenset(text[end : end + 1] for _, end in self.figures),
        )

    def beside_figures(self, before: str, after: str) -> bool:
        """Whether one of these characters stands right before a run of digits or right after one."""
        return not (self._beside[0].isdisjoint(before) and self._beside[1].isdisjoint(after))

    @cached_property
    def capitals(self) -> list[int]:
        """Where capitals are, also within words: what stands before one may have been taken."""
        return self._characters.capitals()

    @cached_property
    def humps(self) -> list[int]:
        """Where capitals follow small letters, both of plain Latin."""
        return self._characters.humps()

    def joints(self) -> Iterator[int]:
        """Where figures follow letters, or letters and a hyphen, or a capital and a space, as in identifiers."""
        text = self.left
        for place, _ in self.figures:
            last, before = text[place - 1 : place], text[max(0, place - 2) : place - 1]
            if last.isalpha() or (last == "-" and before.isalpha()) or (last in {" ", "\u00a0"} and before.isupper()):
                yield place

    def places(self, heads: frozenset[str]) -> list[int]:
        """Where words with one of these beginnings are; see `pattern_parts.heads`."""
        if self._words is None:
            self._words = frozenset(LETTERS.findall(self.left))
        places = []
        for word in heads & self._words:
            at = self.left.find(word)
            while at >= 0:
                places.append(at)
                at = self.left.find(word, at + len(word))
        places.sort()
        return places

    def before(self, ends: Iterable[int], reach: int) -> Iterator[int]:
        """Where words may begin that are at most so far before these places, in order and each once."""
        last = 0
        for end in ends:
            yield from (place for place in range(max(last, end - reach), end) if not self.in_word(place))
            last = end

    def in_word(self, place: int) -> bool:
        """Whether a letter or figure stands right before, of a script in which that bounds words.

        In others, which write words without spaces or small ones in one with the next, words and quotations begin
        anywhere.
        """
        before = self.left[place - 1 : place]
        return before.isalnum() and before < "\u0600"


Reader = Callable[[Scan, re.Match[str]], None]
"""Takes what a pattern has matched, if it is a specific."""


_DOTTED_WORDS = HONORIFICS | ABBREVIATIONS
_LONGEST_DOTTED = max(map(len, _DOTTED_WORDS))
