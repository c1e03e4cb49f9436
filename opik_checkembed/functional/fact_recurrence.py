"""Do the names and numbers of an answer come back when the model is asked again?

A model that knows something repeats its specifics; one that makes them up makes up others. No model is needed to see
that: the specifics of a sentence are found by rules (`specifics`), and each one's support is the share of samples that
hold an equal one.

Source: this package's own measure; what it measures is the consistency of Manakul et al., "SelfCheckGPT" (EMNLP 2023),
read off the specifics alone.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple, get_args

from opik_checkembed.functional.shared_words import nearest_by_words
from opik_checkembed.functional.specifics import Kind, Specific, specifics, words_of

Combine = Literal["geometric", "min"]

_LONGEST_INDEXED = 8
"""Phrases up to so many words are looked up; longer ones are read for in the text where they begin so."""

_RIVALS = 64
"""So many specifics of one kind in one sentence are compared with what they may stand in place of."""

FLOOR = 0.05
"""A specific that no sample holds counts as this much support in the geometric mean, which it would else make zero."""


@dataclass(frozen=True)
class FactSupport:
    """One specific of the judged answer.

    Attributes:
        start: Where it begins in the answer, in characters.
        end: Where it ends.
        text: As it is written.
        kind: "number", "date", "name", "title", "identifier" or "url".
        support: Share of the samples that hold an equal one, 0 to 1.
        samples: Which samples hold it, counted from 0.
        instead: What the other samples say in its place, with how many of them, the most frequent first.
        year: For a date that says more than its year, how many samples have at least that year; None for others.
    """

    start: int
    end: int
    text: str
    kind: Kind
    support: float
    samples: tuple[int, ...]
    instead: tuple[tuple[str, int], ...] = ()
    year: int | None = None

    def __str__(self) -> str:
        """In words, for example '"1898" in 1 of 10 samples; others say 1893 (6), 1890 (3)'."""
        total = round(len(self.samples) / self.support) if self.support else None
        held = f"in {len(self.samples)} of {total} samples" if total else "in no sample"
        if self.year is not None and self.year > len(self.samples):
            held += f", its year in {self.year}"
        said = ", ".join(f"{text} ({count})" for text, count in self.instead[:3])
        return f'"{_line(self.text)}" {held}' + (f"; others say {said}" if said else "")

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {
            "start": self.start,
            "end": self.end,
            "text": self.text,
            "kind": self.kind,
            "support": self.support,
            "samples": list(self.samples),
            "instead": [list(one) for one in self.instead],
            "year": self.year,
        }


@dataclass(frozen=True)
class SentenceFacts:
    """The specifics of one sentence.

    Attributes:
        facts: With their supports, in the order of the sentence.
        score: 0 all come back in every sample, 1 none in any; None for a sentence without specifics.
        per_sample: For each sample the share of the sentence's specifics that it lacks; empty without specifics.
        nearest: For each sample where its sentence is that shares most words with this one, and None where none does.
        known: How many specifics were left out because the question already says them.
    """

    facts: tuple[FactSupport, ...]
    score: float | None
    per_sample: tuple[float, ...] = ()
    nearest: tuple[tuple[int, int] | None, ...] = ()
    known: int = 0

    @property
    def worst(self) -> FactSupport | None:
        """The specific with the least support; the first of equals."""
        return min(self.facts, key=lambda fact: fact.support, default=None)


class _Longer(NamedTuple):
    """What specifics need and state, as `Specific` has it."""

    needs: frozenset[str]
    states: frozenset[str]

    @classmethod
    def joined(cls, of: Iterable[_Longer]) -> _Longer:
        """What all of them need and state."""
        every = list(of)
        return cls(frozenset().union(*(one.needs for one in every)), frozenset().union(*(one.states for one in every)))


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
        names = {at: _Longer(one.needs, one.states) for at, one in enumerate(self.specifics) if one.kind == "name"}
        ends: dict[str, set[_Longer]] = {}
        for name in set(names.values()):
            for key in name.states:
                if key.startswith("tail:"):
                    ends.setdefault(key[5:], set()).add(name)
        joined: dict[_Longer, _Longer] = {}
        for name in set(names.values()) if ends else ():
            own = [key[5:] for key in name.states if key.startswith("name:")]
            of = {longer for one in own for longer in ends.get(one, ())} - {name}
            if of:
                joined[name] = _Longer.joined(of)
        return {at: joined[name] for at, name in names.items() if name in joined} if joined else {}

    @cached_property
    def words(self) -> str:
        """Its folded words, each between spaces."""
        return f" {words_of(self.text)} "

    def says(self, phrase: str) -> bool:
        """Whether these folded words stand in it, one after the other."""
        wanted = phrase.split()
        size = min(len(wanted), _LONGEST_INDEXED)
        if size not in self._phrases:
            words = self.words.split()
            self._phrases[size] = frozenset(map(" ".join, zip(*(words[at:] for at in range(size)), strict=False)))
        if " ".join(wanted[:size]) not in self._phrases[size]:
            return False
        return size == len(wanted) or f" {phrase} " in self.words

    @cached_property
    def _phrases(self) -> dict[int, frozenset[str]]:
        """Its runs of so many words, found when they are first asked for: a search of the text each time is slow."""
        return {}

    @cached_property
    def loose(self) -> frozenset[str]:
        """Its folded words outside names."""
        pieces, done = [], 0
        for one in self.specifics:
            if one.kind == "name":
                pieces.append(self.text[done : one.start])
                done = one.end
        pieces.append(self.text[done:])
        return frozenset(words_of(" ".join(pieces)).split())

    @cached_property
    def by_sentence(self) -> Mapping[tuple[int, int], Mapping[_Sort, Sequence[_Told]]]:
        """The specifics of each of its sentences, by what can stand in whose place."""
        found: dict[tuple[int, int], dict[_Sort, list[_Told]]] = {}
        at = 0
        for span in self.sentences:
            while at < len(self.specifics) and self.specifics[at].start < span[0]:
                at += 1
            told = found[span] = {}
            while at < len(self.specifics) and self.specifics[at].start < span[1]:
                alike = told.setdefault(_sort(self.specifics[at]), [])
                # Of a longer list none stands in another's place more than the rest.
                if len(alike) < _RIVALS:
                    alike.append(_told(self.specifics[at], self.text))
                at += 1
        return found

    def holds(self, needs: frozenset[str]) -> bool:
        """Whether it states one of these keys, or has the words of a name or title without its capitals or marks."""
        return bool(self._alone.holders(needs))

    @cached_property
    def _alone(self) -> _Index:
        return _Index((self,))


class _Index:
    """Which of some texts hold what, so that none is searched again for each specific. Sets of texts are bit masks."""

    def __init__(self, texts: Sequence[TextFacts]) -> None:
        self.texts = texts
        self.stated = _masks([text.states for text in texts])
        self.loose = _masks([text.loose for text in texts])
        self.words = _masks([frozenset(text.words.split()) for text in texts])

    def holders(self, needs: frozenset[str]) -> list[int]:
        """The texts that state one of these keys, or have the words of a name or title without capitals or marks."""
        mask = 0
        for key in needs:
            mask |= self.stated.get(key, 0)
            kind, _, words = key.partition(":")
            if kind == "w" and " " not in words:
                # A name of one word may be somebody else's within a longer name.
                mask |= self.loose.get(words, 0)
            elif kind == "w" or (kind == "q" and " " in words):
                having = self._all(self.words, words.split()) & ~mask
                mask |= sum(1 << at for at in _bits(having) if self.texts[at].says(words))
            elif kind == "both":
                mask |= self._all(self.stated, words.split("&"))
        return _bits(mask)

    def _all(self, masks: Mapping[str, int], keys: Iterable[str]) -> int:
        mask = (1 << len(self.texts)) - 1
        for key in keys:
            mask &= masks.get(key, 0)
        return mask


def _masks(sets: Sequence[Iterable[str]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for at, keys in enumerate(sets):
        bit = 1 << at
        for key in keys:
            found[key] = found.get(key, 0) | bit
    return found


def _bits(mask: int) -> list[int]:
    return [at for at in range(mask.bit_length()) if mask >> at & 1]


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


def fact_recurrence(
    output: TextFacts,
    samples: Sequence[TextFacts],
    *,
    question: TextFacts | None = None,
    combine: Combine = "geometric",
    floor: float = FLOOR,
) -> list[SentenceFacts]:
    """How far the specifics of each sentence recur across samples: 0 consistent, 1 hallucinated.

    A sentence's score is 1 minus the geometric mean of its specifics' supports, each at least `floor`, or 1 minus the
    smallest support. A date that says more than its year counts twice in the geometric mean, as the date and as the
    year: the right year with a wrong day is not all invented.

    Args:
        output: The judged text with its sentences.
        samples: The same asked again, with their sentences.
        question: What was asked; what it says is no evidence and is left out.
        combine: "geometric" or "min".
        floor: Least support in the geometric mean, above 0 and below 1.

    Returns:
        One for each of `output.sentences`.

    Raises:
        ValueError: There are no samples, or an argument is out of range.

    Example:
        >>> output = text_facts("She was born in Warsaw in 1867.", sentences=[(0, 31)])
        >>> others = [text_facts("Born in Warsaw in 1867."), text_facts("Warsaw, 1868.")]
        >>> [str(fact) for fact in fact_recurrence(output, others)[0].facts]
        ['"Warsaw" in 2 of 2 samples', '"1867" in 1 of 2 samples']
    """
    if not samples:
        raise ValueError("there are no samples to hold the text against")
    if combine not in get_args(Combine):
        raise ValueError(f"combine must be 'geometric' or 'min', not {combine!r}")
    if not 0 < floor < 1:
        raise ValueError(f"floor must lie between 0 and 1, not {floor!r}")
    found, known = _by_sentence(output, question)
    asked = frozenset() if question is None else question.states
    # The same name in a hundred sentences is looked for once.
    index = _Index(samples)
    holding = {needs: index.holders(needs) for needs in {needs for facts in found for _, needs in facts}}
    held = [[holding[needs] for _, needs in facts] for facts in found]
    nearest = _nearest(output, samples, [any(len(h) < len(samples) for h in of) for of in held])
    results = []
    for at, (facts, holders) in enumerate(zip(found, held, strict=True)):
        rivals = _Rivals(samples, nearest[at], frozenset().union(asked, *(fact.states for fact, _ in facts)))
        supports = [
            FactSupport(
                one.start,
                one.end,
                one.text,
                one.kind,
                len(of) / len(samples),
                tuple(of),
                _instead(one, output.text, rivals, set(of)),
                _with_year(one, needs, index),
            )
            for (one, needs), of in zip(facts, holders, strict=True)
        ]
        lacking = (
            tuple(
                1 - sum(sample in fact.samples for fact in supports) / len(supports) for sample in range(len(samples))
            )
            if supports
            else ()
        )
        results.append(
            SentenceFacts(
                tuple(supports),
                _score(supports, len(samples), combine, floor),
                lacking,
                tuple(nearest[at]),
                known[at],
            )
        )
    return results


def _score(supports: Sequence[FactSupport], samples: int, combine: Combine, floor: float) -> float | None:
    if not supports:
        return None
    if combine == "min":
        return 1 - min(fact.support for fact in supports)
    shares = [fact.support for fact in supports] + [fact.year / samples for fact in supports if fact.year is not None]
    return 1 - math.exp(math.fsum(math.log(max(share, floor)) for share in shares) / len(shares))


_Needed = tuple[Specific, frozenset[str]]


def _by_sentence(output: TextFacts, question: TextFacts | None) -> tuple[list[list[_Needed]], list[int]]:
    """The specifics of each sentence, each once, with what supports it; and how many the question already has."""
    found: list[list[_Needed]] = [[] for _ in output.sentences]
    seen: list[set[frozenset[str]]] = [set() for _ in output.sentences]
    known = [0] * len(output.sentences)
    place = 0
    for at, one in enumerate(output.specifics):
        while place < len(output.sentences) and output.sentences[place][1] <= one.start:
            place += 1
        if place == len(output.sentences) or one.start < output.sentences[place][0]:
            continue
        longer = output.longer.get(at)
        needs = one.needs if longer is None else longer.needs
        if question is not None and question.holds(needs):
            known[place] += 1
        elif needs not in seen[place]:
            seen[place].add(needs)
            found[place].append((one, needs))
    return found, known


def _with_year(one: Specific, needs: frozenset[str], index: _Index) -> int | None:
    """For a date within one year, how many samples have it or at least its year."""
    years = {key for key in one.states if _YEAR.fullmatch(key)} if one.kind == "date" else set()
    if len(years) != 1 or not years.isdisjoint(needs):
        return None
    return len(index.holders(needs | years))


_YEAR = re.compile(r"d:-?\d+--")


# --- what the samples say instead ---------------------------------------------------------------------------

_TOKEN = re.compile(r"\w+")


def _nearest(
    output: TextFacts, samples: Sequence[TextFacts], wanted: Sequence[bool]
) -> list[list[tuple[int, int] | None]]:
    """For each sentence of the output and each sample, the sentence of the sample that shares most words with it."""
    rows = [at for at, want in enumerate(wanted) if want]
    found: list[list[tuple[int, int] | None]] = [[None] * len(samples)] * len(wanted)
    ours = [output.text[slice(*output.sentences[at])] for at in rows]
    theirs = [[sample.text[slice(*span)] for span in sample.sentences] for sample in samples]
    for at, nearest in zip(rows, nearest_by_words(ours, theirs), strict=True):
        found[at] = [
            None if place is None else sample.sentences[place] for sample, place in zip(samples, nearest, strict=True)
        ]
    return found


class _Told(NamedTuple):
    """A specific of a sample with what tells which of them stands in another's place."""

    specific: Specific
    before: frozenset[str]
    after: frozenset[str]

    def fits(self, other: _Told) -> int:
        """How many of the words around the two are the same; those before count twice."""
        return 2 * len(self.before & other.before) + len(self.after & other.after)


def _told(one: Specific, text: str) -> _Told:
    before = _TOKEN.findall(text[max(0, one.start - 40) : one.start].casefold())
    after = _TOKEN.findall(text[one.end : one.end + 30].casefold())
    return _Told(one, frozenset(before[-3:]), frozenset(after[:2]))


_Sort = tuple[Kind, frozenset[str]]


def _sort(one: Specific) -> _Sort:
    """What can stand in its place: what is of its kind, an amount of its unit, a date that says as much."""
    return one.kind, _shape(one.needs) if one.kind in {"number", "date"} else frozenset()


@lru_cache(maxsize=4096)
def _shape(needs: frozenset[str]) -> frozenset[str]:
    return frozenset(_FIGURES.sub("0", key) for key in needs)


_FIGURES = re.compile(r"\d+(?:\.\d+)?")


class _Rivals:
    """What the samples say in a sentence's place, by its sort, but for what the sentence says itself."""

    def __init__(
        self, samples: Sequence[TextFacts], nearest: Sequence[tuple[int, int] | None], stated: frozenset[str]
    ) -> None:
        self._places = [
            (at, sample.by_sentence[span])
            for at, (sample, span) in enumerate(zip(samples, nearest, strict=True))
            if span is not None
        ]
        self._stated = stated
        self._found: dict[_Sort, list[tuple[int, list[_Told]]]] = {}

    def of(self, sort: _Sort) -> Sequence[tuple[int, Sequence[_Told]]]:
        """The samples that have any, with theirs."""
        if sort not in self._found:
            told = [
                (at, [one for one in sentence[sort] if one.specific.needs.isdisjoint(self._stated)])
                for at, sentence in self._places
                if sort in sentence
            ]
            self._found[sort] = [(at, rivals) for at, rivals in told if rivals]
        return self._found[sort]


def _instead(one: Specific, text: str, rivals: _Rivals, holders: set[int]) -> tuple[tuple[str, int], ...]:
    """What the samples that lack a specific have in its place: of the same sort, in their nearest sentence."""
    counts: Counter[frozenset[str]] = Counter()
    shown: dict[frozenset[str], str] = {}
    own: _Told | None = None
    for at, there in rivals.of(_sort(one)):
        if at in holders:
            continue
        if len(there) == 1:
            best = there[0].specific
        else:
            own = own or _told(one, text)
            best = max(there, key=own.fits).specific
        counts[best.needs] += 1
        shown.setdefault(best.needs, best.text)
    return tuple((_line(shown[key]), count) for key, count in counts.most_common(5))


def _line(text: str) -> str:
    return " ".join(text.split())
