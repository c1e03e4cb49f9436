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
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, chain, count, pairwise, product
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from opik_checkembed.functional.shared_words import nearest_by_words
from opik_checkembed.functional.specifics import Kind, Specific, specifics, words_of

Combine = Literal["geometric", "min"]

_LONGEST_INDEXED = 8
"""Phrases up to so many words are looked up; longer ones are read for in the text where they begin so."""

_RIVALS = 64
"""So many specifics of one kind in one sentence are compared with what they may stand in place of."""

_PAIRS = 1_000_000
"""So many specifics and what may stand in their place are compared at once."""

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
    def by_sentence(self) -> Mapping[tuple[int, int], Mapping[_Sort, Sequence[int]]]:
        """Which of its specifics each of its sentences holds, by what can stand in whose place."""
        found: dict[tuple[int, int], dict[_Sort, list[int]]] = {}
        at = 0
        for span in self.sentences:
            while at < len(self.specifics) and self.specifics[at].start < span[0]:
                at += 1
            told = found[span] = {}
            while at < len(self.specifics) and self.specifics[at].start < span[1]:
                alike = told.setdefault(_sort(self.specifics[at]), [])
                # Of a longer list none stands in another's place more than the rest.
                if len(alike) < _RIVALS:
                    alike.append(at)
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
        self._every = (1 << len(texts)) - 1
        self.stated = _masks([text.states for text in texts])
        self.loose = _masks([text.loose for text in texts])
        self.words = _masks([frozenset(text.words.split()) for text in texts])

    def holders(self, needs: frozenset[str]) -> list[int]:
        """The texts that state one of these keys, or have the words of a name or title without capitals or marks."""
        mask = 0
        for key in needs:
            mask |= self.stated.get(key, 0)
        # Only the texts that do not state it are read for its words.
        for key in needs if mask != self._every else ():
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
        mask = self._every
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
    instead = _instead(output, samples, found, held, nearest, asked)
    results = []
    for facts, holders, spans, already in zip(found, held, nearest, known, strict=True):
        supports = tuple(
            FactSupport(
                one.start,
                one.end,
                one.text,
                one.kind,
                len(of) / len(samples),
                tuple(of),
                next(instead),
                _with_year(one, needs, index),
            )
            for (one, needs), of in zip(facts, holders, strict=True)
        )
        score = _score(supports, len(samples), combine, floor)
        results.append(SentenceFacts(supports, score, _lacking(supports, len(samples)), tuple(spans), already))
    return results


def _score(supports: Sequence[FactSupport], samples: int, combine: Combine, floor: float) -> float | None:
    if not supports:
        return None
    if combine == "min":
        return 1 - min(fact.support for fact in supports)
    shares = [fact.support for fact in supports] + [fact.year / samples for fact in supports if fact.year is not None]
    return 1 - math.exp(math.fsum(math.log(max(share, floor)) for share in shares) / len(shares))


def _lacking(supports: Sequence[FactSupport], samples: int) -> tuple[float, ...]:
    """For each sample the share of these specifics that it lacks."""
    if not supports:
        return ()
    held = [0] * samples
    for fact in supports:
        for sample in fact.samples:
            held[sample] += 1
    return tuple(1 - count / len(supports) for count in held)


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


_Sort = tuple[Kind, frozenset[str]]


def _sort(one: Specific) -> _Sort:
    """What can stand in its place: what is of its kind, an amount of its unit, a date that says as much."""
    return one.kind, _shape(one.needs) if one.kind in {"number", "date"} else frozenset()


@lru_cache(maxsize=4096)
def _shape(needs: frozenset[str]) -> frozenset[str]:
    return frozenset(_FIGURES.sub("0", key) for key in needs)


_FIGURES = re.compile(r"\d+(?:\.\d+)?")


class _Rivals(NamedTuple):
    """What the samples have of one sort in their sentences that are nearest to one of the judged text.

    Attributes:
        places: Which of the specifics of all samples, sample after sample.
        samples: The samples that have any.
        sizes: How many each of these has.
    """

    places: Sequence[int]
    samples: Sequence[int]
    sizes: Sequence[int]


_NO_RIVALS = _Rivals((), (), ())


def _instead(
    output: TextFacts,
    samples: Sequence[TextFacts],
    found: Sequence[Sequence[_Needed]],
    held: Sequence[Sequence[Sequence[int]]],
    nearest: Sequence[Sequence[tuple[int, int] | None]],
    asked: frozenset[str],
) -> Iterator[tuple[tuple[str, int], ...]]:
    """For each specific what the samples that lack it have in its place: of the same sort, in their nearest sentence.

    What the sentence or the question says itself is no alternative.
    """
    alternatives = _Alternatives(output, [one for facts in found for one, _ in facts], samples)
    rivals: list[_Rivals] = []
    for facts, holders, spans in zip(found, held, nearest, strict=True):
        stated = asked.union(*(one.states for one, _ in facts))
        by_sort: dict[_Sort, _Rivals] = {}
        for (one, _), of in zip(facts, holders, strict=True):
            if len(of) == len(samples):
                rivals.append(_NO_RIVALS)
                continue
            sort = _sort(one)
            if sort not in by_sort:
                by_sort[sort] = alternatives.rivals(sort, spans, stated)
            rivals.append(by_sort[sort])
    lacking = np.ones((len(rivals), len(samples)), dtype=np.bool_)
    for row, of in zip(lacking, chain.from_iterable(held), strict=True):
        row[of] = False
    return alternatives.counted(rivals, lacking)


class _Alternatives:
    """What the samples have in the place of the judged text's specifics; many are compared at once."""

    def __init__(self, output: TextFacts, ours: Sequence[Specific], samples: Sequence[TextFacts]) -> None:
        self._samples = samples
        self._theirs = [one for sample in samples for one in sample.specifics]
        self._firsts = list(accumulate((len(sample.specifics) for sample in samples), initial=0))[:-1]
        numbers: dict[str, int] = defaultdict(count(1).__next__)
        self._around_ours = _words_around([(output.text, ours)], numbers)
        self._around_theirs = _words_around([(sample.text, sample.specifics) for sample in samples], numbers)

    def rivals(self, sort: _Sort, spans: Sequence[tuple[int, int] | None], stated: frozenset[str]) -> _Rivals:
        """What is of this sort in these sentences, one of each sample, and says something that is not stated."""
        found, having, sizes = [], [], []
        for at, (first, sample, span) in enumerate(zip(self._firsts, self._samples, spans, strict=True)):
            there = None if span is None else sample.by_sentence[span].get(sort)
            if there is None:
                continue
            places = [first + one for one in there if sample.specifics[one].needs.isdisjoint(stated)]
            if places:
                found += places
                having.append(at)
                sizes.append(len(places))
        return _Rivals(found, having, sizes)

    def counted(self, rivals: Sequence[_Rivals], lacking: NDArray[np.bool_]) -> Iterator[tuple[tuple[str, int], ...]]:
        """For each of our specifics what the samples that lack it have in its place, the most frequent first.

        Args:
            rivals: What may stand in the place of each.
            lacking: Which samples lack it; shape (specifics, samples).
        """
        step = max(1, _PAIRS // (_RIVALS * len(self._samples)))
        for first in range(0, len(rivals), step):
            batch = rivals[first : first + step]
            rows = np.repeat(np.arange(len(batch)), [len(one.samples) for one in batch])
            counts = lacking[first + rows, _flat(one.samples for one in batch)]
            best = self._best(first, batch)[counts].tolist()
            bounds = accumulate(np.bincount(rows[counts], minlength=len(batch)).tolist(), initial=0)
            for start, end in pairwise(bounds):
                yield _most_frequent([self._theirs[place] for place in best[start:end]])

    def _best(self, first: int, batch: Sequence[_Rivals]) -> NDArray[np.intp]:
        """Of each sample's rivals the one that shares most of the words around it with ours, the first of equals."""
        places, sizes = _flat(one.places for one in batch), _flat(one.sizes for one in batch)
        ours = np.repeat(np.arange(first, first + len(batch)), [len(one.places) for one in batch])
        starts = sizes.cumsum() - sizes
        later = np.arange(len(places)) - np.repeat(starts, sizes)
        shared = _shared(self._around_ours[:, ours], self._around_theirs[:, places])
        # One number for both: less than one word for the place among equals, which is below `_RIVALS`.
        best = np.maximum.reduceat(shared * _RIVALS - later, starts)
        chosen: NDArray[np.intp] = places[starts + -best % _RIVALS]
        return chosen


_BEFORE, _AFTER = 3, 2
"""So many words around a specific tell in whose place it stands."""


def _words_around(texts: Iterable[tuple[str, Sequence[Specific]]], numbers: Mapping[str, int]) -> NDArray[np.intp]:
    """The words around specifics, as numbers from 1 and 0 for none; a column for each, those before first."""
    columns = []
    for text, told in texts:
        for one in told:
            before = _TOKEN.findall(text[max(0, one.start - 40) : one.start].casefold())[-_BEFORE:]
            after = _TOKEN.findall(text[one.end : one.end + 30].casefold())[:_AFTER]
            for words, size in ((before, _BEFORE), (after, _AFTER)):
                found = [numbers[word] for word in dict.fromkeys(words)]
                columns += [*found, *[0] * (size - len(found))]
    return np.array(columns, dtype=np.intp).reshape(-1, _BEFORE + _AFTER).T


def _shared(ours: NDArray[np.intp], theirs: NDArray[np.intp]) -> NDArray[np.intp]:
    """How many of the words around are the same, pair by pair; those before count twice."""
    same = np.zeros(ours.shape[1], dtype=np.intp)
    for side, weight in ((slice(_BEFORE), 2), (slice(_BEFORE, None), 1)):
        for mine, other in product(ours[side], theirs[side]):
            same += weight * ((mine == other) & (mine > 0))
    return same


def _flat(lists: Iterable[Iterable[int]]) -> NDArray[np.intp]:
    return np.fromiter(chain.from_iterable(lists), dtype=np.intp)


def _most_frequent(told: Sequence[Specific]) -> tuple[tuple[str, int], ...]:
    """The five that are said most, each as it is written first, with how often."""
    counts = Counter(one.needs for one in told)
    first = {one.needs: one.text for one in reversed(told)}
    return tuple((_line(first[needs]), times) for needs, times in counts.most_common()[:5])


def _line(text: str) -> str:
    return " ".join(text.split())
