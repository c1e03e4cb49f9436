"""A text as others are held against it: its specifics, what they state, and which texts hold what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from opik_checkembed.functional.specifics import Kind, Specific, specifics, words_with_cuts

_LONGEST_INDEXED = 8
"""Phrases up to so many words are looked up; longer ones are read for in the text where they begin so."""

_SEARCHED = 12_000
"""A text of up to so many characters is searched for each phrase; a longer one's phrases are indexed."""

Sort = tuple[Kind, frozenset[str]]
"""What can stand in a specific's place."""


class _Longer(NamedTuple):
    """What specifics need and state, as `Specific` has it."""

    needs: frozenset[str]
    states: frozenset[str]

    @classmethod
    def joined(cls, of: Sequence[Specific]) -> _Longer:
        """What all of them need and state."""
        return cls(frozenset().union(*(one.needs for one in of)), frozenset().union(*(one.states for one in of)))


def _told(name: Specific, kind: str) -> list[str]:
    """The words of the keys of a kind, as "tail:", that a name states."""
    return [key[len(kind) :] for key in name.states if key.startswith(kind)]


_SPAN = attrgetter("start", "end")


def _read(one: Specific) -> tuple[frozenset[str], frozenset[str]]:
    return one.needs, one.states


@dataclass(frozen=True)
class TextFacts:
    """A text as others are held against it.

    Args:
        text: The text.
        specifics: Its specifics, in order.
        sentences: Where its sentences are.
    """

    text: str
    specifics: tuple[Specific, ...]
    sentences: tuple[tuple[int, int], ...] = ()

    @cached_property
    def states(self) -> frozenset[str]:
        """Every key that it states. A short name that stands for a long one of the same text states that one only."""
        longer = self.longer
        told = {longer[at].states if at in longer else one.states for at, one in enumerate(self.specifics)}
        return frozenset().union(*told)

    @cached_property
    def longer(self) -> Mapping[int, _Longer]:
        """For a short name that ends longer ones of this text ("Curie" beside "Marie Curie"), what those say."""
        # A name that stands a thousand times says the same each time.
        names = {one.text: one for one in self.specifics if one.kind == "name"}
        ends: dict[str, list[Specific]] = {}
        for name in names.values():
            for tail in _told(name, "tail:"):
                ends.setdefault(tail, []).append(name)
        joined: dict[str, _Longer] = {}
        for name in names.values() if ends else ():
            of = [longer for words in _told(name, "name:") for longer in ends.get(words, ())]
            of = [longer for longer in of if _read(longer) != _read(name)]
            if of:
                joined[name.text] = _Longer.joined(of)
        if not joined:
            return {}
        every = enumerate(self.specifics)
        return {at: joined[one.text] for at, one in every if one.kind == "name" and one.text in joined}

    @cached_property
    def words(self) -> Sequence[str]:
        """Its folded words. None reaches over the beginning or end of a sentence or specific."""
        return self._words_and_cuts[0]

    @cached_property
    def before(self) -> Mapping[int, int]:
        """For where each sentence and specific begins and ends, how many words stand before it."""
        return self._words_and_cuts[1]

    @cached_property
    def _words_and_cuts(self) -> tuple[list[str], dict[int, int]]:
        cuts = [*chain.from_iterable(self.sentences), *chain.from_iterable(map(_SPAN, self.specifics))]
        return words_with_cuts(self.text, cuts)

    def says(self, phrase: str) -> bool:
        """Whether these folded words stand in it, one after the other."""
        if len(self._spaced) <= _SEARCHED:
            return f" {phrase} " in self._spaced
        wanted = phrase.split()
        size = min(len(wanted), _LONGEST_INDEXED)
        if size not in self._phrases:
            self._phrases[size] = frozenset(map(" ".join, zip(*(self.words[at:] for at in range(size)), strict=False)))
        if " ".join(wanted[:size]) not in self._phrases[size]:
            return False
        return size == len(wanted) or f" {phrase} " in self._spaced

    @cached_property
    def _spaced(self) -> str:
        """Its folded words, a space around each."""
        return " ".join(["", *self.words, ""])

    @cached_property
    def _phrases(self) -> dict[int, frozenset[str]]:
        """Its runs of so many words, found when they are first asked for."""
        return {}

    @cached_property
    def loose(self) -> frozenset[str]:
        """Its folded words outside names."""
        found: set[str] = set()
        done = 0
        for one in self.specifics:
            if one.kind == "name":
                found.update(self.words[done : self.before[one.start]])
                done = self.before[one.end]
        found.update(self.words[done:])
        return frozenset(found)

    def holds(self, needs: frozenset[str]) -> bool:
        """Whether it states one of these keys, or has the words of a name or title without its capitals or marks."""
        return bool(self._alone.holders(needs))

    @cached_property
    def _alone(self) -> FactIndex:
        return FactIndex((self,))


class FactIndex:
    """Which of some texts hold what, so that none is searched again for each specific."""

    def __init__(self, texts: Sequence[TextFacts]) -> None:
        self.texts = texts
        self._every = (1 << len(texts)) - 1
        # For each key the texts that state it, as bits.
        self.stated = bit_masks([text.states for text in texts])
        self.loose = [text.loose for text in texts]
        self.words = [frozenset(text.words) for text in texts]

    def holders(self, needs: frozenset[str]) -> tuple[int, ...]:
        """The texts that state one of these keys, or have the words of a name or title without capitals or marks."""
        mask = 0
        for key in needs:
            mask |= self.stated.get(key, 0)
        # Only the texts that do not state it are read for its words.
        for key in needs if mask != self._every else ():
            if not key.startswith(("w:", "q:", "both:")):
                continue
            kind, _, words = key.partition(":")
            missing = _bits(self._every & ~mask)
            if kind == "both":
                first, _, last = words.partition("&")
                mask |= self.stated.get(first, 0) & self.stated.get(last, 0)
            elif " " in words:
                each = words.split()
                mask |= sum(1 << at for at in missing if self.words[at].issuperset(each) and self.texts[at].says(words))
            elif kind == "w":
                # A name of one word may be somebody else's within a longer name.
                mask |= sum(1 << at for at in missing if words in self.loose[at])
        return _bits(mask)


def bit_masks(sets: Sequence[Iterable[str]]) -> dict[str, int]:
    """Which of the sets hold each key: the first as 1, the second as 2, the third as 4.

    Example:
        >>> bit_masks([["a", "b"], ["b"]])
        {'a': 1, 'b': 3}
    """
    found: dict[str, int] = {}
    for at, keys in enumerate(sets):
        bit = 1 << at
        for key in keys:
            found[key] = found.get(key, 0) | bit
    return found


@lru_cache(maxsize=256)
def _bits(mask: int) -> tuple[int, ...]:
    return tuple(at for at in range(mask.bit_length()) if mask >> at & 1)


def text_facts(
    text: str,
    language: str = "en",
    sentences: Sequence[tuple[int, int]] = (),
    *,
    names: Sequence[tuple[int, int]] | None = None,
) -> TextFacts:
    """The specifics of a text, found by rules.

    Args:
        text: The text.
        language: ISO 639-1 code; see `specifics`.
        sentences: Where its sentences begin and end, to say what it has in place of something else.
        names: Where its names are, if something better than rules has found them.
    """
    return TextFacts(text, tuple(specifics(text, language, names=names)), tuple(sentences))


def sort_of(one: Specific) -> Sort:
    """What can stand in its place: what is of its kind, an amount of its unit, a date that says as much."""
    return one.kind, _shape(one.needs) if one.kind in {"number", "date"} else frozenset()


@lru_cache(maxsize=4096)
def _shape(needs: frozenset[str]) -> frozenset[str]:
    return frozenset(_FIGURES.sub("0", "\n".join(needs)).split("\n"))


_FIGURES = re.compile(r"\d+(?:\.\d+)?")
