"""What samples say in the place of a specific that they lack."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, count, pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from opik_checkembed.functional.shared_words import flat
from opik_checkembed.functional.specifics import Specific
from opik_checkembed.functional.text_facts import MOST_ALIKE, Sort, TextFacts, sort_of

_PAIRS = 1_000_000
"""So many specifics and what may stand in their place are compared at once."""

_TOKEN = re.compile(r"\w+")


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


def alternatives(
    output: TextFacts,
    samples: Sequence[TextFacts],
    found: Sequence[Sequence[Specific]],
    held: Sequence[Sequence[Sequence[int]]],
    nearest: Sequence[Sequence[tuple[int, int] | None]],
    asked: frozenset[str],
) -> Iterator[tuple[tuple[str, int], ...]]:
    """For each specific what the samples that lack it have in its place: of the same sort, in their nearest sentence.

    What the sentence or the question says itself is no alternative.

    Args:
        output: The judged text.
        samples: The same asked again.
        found: The specifics of each of its sentences.
        held: For each of these, which samples hold it.
        nearest: For each sentence and each sample, where the sample's sentence is that is most like it.
        asked: The keys that the question states.

    Returns:
        For each specific, sentence after sentence, up to five texts and how many samples have each, the most frequent
        first.
    """
    others = _Alternatives(output, [one for facts in found for one in facts], samples)
    rivals: list[_Rivals] = []
    for facts, holders, spans in zip(found, held, nearest, strict=True):
        stated = asked.union(*(one.states for one in facts))
        by_sort: dict[Sort, _Rivals] = {}
        for one, of in zip(facts, holders, strict=True):
            if len(of) == len(samples):
                rivals.append(_NO_RIVALS)
                continue
            sort = sort_of(one)
            if sort not in by_sort:
                by_sort[sort] = others.rivals(sort, spans, stated)
            rivals.append(by_sort[sort])
    lacking = np.ones((len(rivals), len(samples)), dtype=np.bool_)
    for row, of in zip(lacking, chain.from_iterable(held), strict=True):
        row[of] = False
    return others.counted(rivals, lacking)


class _Alternatives:
    """What the samples have in the place of the judged text's specifics; many are compared at once."""

    def __init__(self, output: TextFacts, ours: Sequence[Specific], samples: Sequence[TextFacts]) -> None:
        self._samples = samples
        self._theirs = [one for sample in samples for one in sample.specifics]
        self._firsts = list(accumulate((len(sample.specifics) for sample in samples), initial=0))[:-1]
        numbers: dict[str, int] = defaultdict(count(1).__next__)
        self._around_ours = _words_around([(output.text, ours)], numbers)
        self._around_theirs = _words_around([(sample.text, sample.specifics) for sample in samples], numbers)

    def rivals(self, sort: Sort, spans: Sequence[tuple[int, int] | None], stated: frozenset[str]) -> _Rivals:
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
        step = max(1, _PAIRS // (MOST_ALIKE * len(self._samples)))
        for first in range(0, len(rivals), step):
            batch = rivals[first : first + step]
            rows = np.repeat(np.arange(len(batch)), [len(one.samples) for one in batch])
            counts = lacking[first + rows, flat(one.samples for one in batch)]
            best = self._best(first, batch)[counts].tolist()
            bounds = accumulate(np.bincount(rows[counts], minlength=len(batch)).tolist(), initial=0)
            for start, end in pairwise(bounds):
                yield _most_frequent([self._theirs[place] for place in best[start:end]])

    def _best(self, first: int, batch: Sequence[_Rivals]) -> NDArray[np.intp]:
        """Of each sample's rivals the one that shares most of the words around it with ours, the first of equals."""
        places, sizes = flat(one.places for one in batch), flat(one.sizes for one in batch)
        ours = np.repeat(np.arange(first, first + len(batch)), [len(one.places) for one in batch])
        starts = sizes.cumsum() - sizes
        later = np.arange(len(places)) - np.repeat(starts, sizes)
        shared = _shared(self._around_ours[:, ours], self._around_theirs[:, places])
        # One number for both: less than one word for the place among equals, which is below `MOST_ALIKE`.
        best = np.maximum.reduceat(shared * MOST_ALIKE - later, starts)
        chosen: NDArray[np.intp] = places[starts + -best % MOST_ALIKE]
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


def _most_frequent(told: Sequence[Specific]) -> tuple[tuple[str, int], ...]:
    """The five that are said most, each as it is written first, with how often."""
    counts = Counter(one.needs for one in told)
    first = {one.needs: one.text for one in reversed(told)}
    return tuple((one_line(first[needs]), times) for needs, times in counts.most_common()[:5])


def one_line(text: str) -> str:
    """A text with single spaces for its line breaks and other gaps."""
    return " ".join(text.split())
