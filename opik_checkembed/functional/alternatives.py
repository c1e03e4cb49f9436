"""What samples say in the place of a specific that they lack."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, count, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from opik_checkembed.functional.shared_words import expanded
from opik_checkembed.functional.specifics import Specific
from opik_checkembed.functional.text_facts import Sort, TextFacts, bit_masks, sort_of

MOST_ALIKE = 64
"""So many specifics of one kind in one sentence are compared with what they may stand in place of."""

_PAIRS = 1_000_000
"""So many specifics and what may stand in their place are compared at once."""

_ROWS = 2000
"""So many specifics at most, since what their sentences say takes memory for each and each that is said."""

_BEFORE, _AFTER = 3, 2
"""So many words around a specific tell in whose place it stands."""

_NAMED = 3
"""What is in a name's place shares so much of the words around it, those before twice: a firm is in no city's place."""

_MOST = 5
"""So many alternatives are named."""

Ints = NDArray[np.intp]


class Judged(NamedTuple):
    """The specifics of the judged text, sentence after sentence.

    Attributes:
        text: The text.
        specifics: They.
        sentences: For each, which sentence it is of.
        lacking: Which samples lack it; shape (specifics, samples).
        nearest: For each sentence and sample the sample's sentence that is most like it, -1 for none.
        asked: The keys that the question states.
    """

    text: TextFacts
    specifics: Sequence[Specific]
    sentences: Ints
    lacking: NDArray[np.bool_]
    nearest: Ints
    asked: frozenset[str]


def alternatives(
    judged: Judged, samples: Sequence[TextFacts], words: Sequence[Ints]
) -> Iterator[tuple[tuple[str, int], ...]]:
    """For each specific what the samples that lack it have in its place: of the same sort, in their nearest sentence.

    Of several it is the one that shares most of the words around it, and of equals the first. Numbers and dates of one
    sort are in each other's place wherever they stand; a name only where more than one word around it is the same. What
    the sentence or the question says itself is no alternative.

    Args:
        judged: What is asked for.
        samples: The same asked again.
        words: The words of the judged text and of each sample as numbers, `TextFacts.words` as `numbered` gives them.

    Returns:
        For each specific up to five texts and how many samples have each, the most frequent first.
    """
    rivals = _Rivals(judged, samples, words)
    step = min(_ROWS, max(1, _PAIRS // (MOST_ALIKE * len(samples))))
    for first in range(0, len(judged.specifics), step):
        yield from rivals.most_frequent(np.arange(first, min(first + step, len(judged.specifics))))


class _Rivals:
    """What the samples have in the place of the judged text's specifics; many are compared at once."""

    def __init__(self, judged: Judged, samples: Sequence[TextFacts], words: Sequence[Ints]) -> None:
        self._judged = judged
        self._theirs = [one for sample in samples for one in sample.specifics]
        sorts: dict[Sort, int] = defaultdict(count().__next__)
        needs: dict[frozenset[str], int] = defaultdict(count().__next__)
        self._ours_by_sort = _numbers(sorts[sort_of(one)] for one in judged.specifics)
        by_sort = _numbers(sorts[sort_of(one)] for one in self._theirs)
        self._meanings = _numbers(needs[one.needs] for one in self._theirs)
        self._needs = list(needs)
        self._sorts = len(sorts)
        sizes = [len(sample.sentences) for sample in samples]
        self._first_sentences = np.cumsum([0, *sizes[:-1]])
        # Those of one sort in one sentence lie one after the other.
        of_sentence = _sentences_of(samples)
        cells = np.where(of_sentence < 0, -1, of_sentence * self._sorts + by_sort)
        self._order = cells.argsort(kind="stable")
        self._cells = cells[self._order]
        self._least = _numbers(_NAMED if one.kind == "name" else 0 for one in judged.specifics)
        around = _around([judged.text], [judged.specifics], words[:1])
        self._around_ours = np.where(around > 0, around, -1)  # none is like no other
        self._around_theirs = _around(samples, [sample.specifics for sample in samples], words[1:])

    def most_frequent(self, rows: Ints) -> Iterator[tuple[tuple[str, int], ...]]:
        """For these specifics what is said most in their place, each as it is written first, with how often."""
        told, places = self._best(*self._alike(rows))
        # Each that is said, once for each specific.
        codes = told * (1 + len(self._theirs)) + self._meanings[places]
        _, firsts, times = np.unique(codes, return_index=True, return_counts=True)
        order = np.lexsort((firsts, -times, told[firsts]))
        of = told[firsts][order]
        first = np.arange(len(of)) - of.searchsorted(of) < _MOST
        of, order = of[first], order[first]
        # The same is said in the place of many: each with its number is made once.
        above = 1 + self._judged.lacking.shape[1]
        codes, each = np.unique(places[firsts][order] * above + times[order], return_inverse=True)
        pairs = [
            (one_line(self._theirs[at].text), often) for at, often in (divmod(one, above) for one in codes.tolist())
        ]
        said = [pairs[at] for at in each.tolist()]
        ends = of.searchsorted(rows, side="right").tolist()
        for start, end in pairwise([0, *ends]):
            yield tuple(said[start:end])

    def _alike(self, rows: Ints) -> tuple[Ints, Ints, Ints]:
        """Pairs of our specifics and what may stand in their place: ours, in which sample, which of theirs."""
        judged = self._judged
        lacking, samples = judged.lacking[rows].nonzero()
        ours = rows[lacking]
        nearest = judged.nearest[judged.sentences[ours], samples]
        ours, samples, nearest = (one[nearest >= 0] for one in (ours, samples, nearest))
        cells = (self._first_sentences[samples] + nearest) * self._sorts + self._ours_by_sort[ours]
        starts = self._cells.searchsorted(cells)
        # Of a longer list none stands in another's place more than the rest.
        sizes = np.minimum(self._cells.searchsorted(cells, side="right") - starts, MOST_ALIKE)
        ours, samples = np.repeat(ours, sizes), np.repeat(samples, sizes)
        theirs = self._order[expanded(starts, sizes)]
        new = self._new(judged.sentences[ours], self._meanings[theirs])
        return ours[new], samples[new], theirs[new]

    def _new(self, sentences: Ints, meanings: Ints) -> NDArray[np.bool_]:
        """Whether neither the sentence nor the question says what stands in its place; sentences are in order."""
        judged = self._judged
        rows, told = _occurring(meanings, len(self._needs))
        columns, of = _occurring(sentences, len(judged.nearest))
        starts, ends = judged.sentences.searchsorted(of), judged.sentences.searchsorted(of, side="right")
        told_by = [judged.specifics[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        says = bit_masks([chain.from_iterable(one.states for one in of_one) for of_one in told_by])
        width = len(of) // 8 + 1
        masks = bytearray()
        for at in told:
            mask = 0 if judged.asked.isdisjoint(self._needs[at]) else (1 << len(of)) - 1
            for key in self._needs[at]:
                mask |= says.get(key, 0)
            masks += mask.to_bytes(width, "little")
        bits = np.frombuffer(masks, dtype=np.uint8).reshape(-1, width)
        new: NDArray[np.bool_] = bits[rows, columns >> 3] >> (columns & 7) & 1 == 0
        return new

    def _best(self, ours: Ints, samples: Ints, theirs: Ints) -> tuple[Ints, Ints]:
        """Of each sample's the one that shares most of the words around it with ours, the first of equals."""
        changes = np.ones(len(ours), dtype=np.bool_)
        changes[1:] = (ours[1:] != ours[:-1]) | (samples[1:] != samples[:-1])
        starts = changes.nonzero()[0]
        if not len(starts):
            return ours, theirs
        later = np.arange(len(ours)) - np.repeat(starts, np.diff(starts, append=len(ours)))
        shared = _shared(self._around_ours.take(ours, axis=1), self._around_theirs.take(theirs, axis=1))
        # One number for both: less than one word for the place among equals, which is below `MOST_ALIKE`.
        best = starts + -np.maximum.reduceat(shared * MOST_ALIKE - later, starts) % MOST_ALIKE
        best = best[shared[best] >= self._least[ours[best]]]
        return ours[best], theirs[best]


def _numbers(numbers: Iterator[int]) -> Ints:
    return np.fromiter(numbers, dtype=np.intp)


def _occurring(values: Ints, size: int) -> tuple[Ints, list[int]]:
    """Values below `size` as places in the list of those that occur, and that list."""
    there = np.zeros(size, dtype=np.bool_)
    there[values] = True
    return (there.cumsum() - 1)[values], there.nonzero()[0].tolist()


def _sentences_of(texts: Sequence[TextFacts]) -> Ints:
    """For each specific of these texts which sentence it is in, counted through all of them; -1 for none."""
    starts, ends, places, done = [], [], [], 0
    for text in texts:
        starts += [done + start for start, _ in text.sentences]
        ends += [done + end for _, end in text.sentences]
        places += [done + one.start for one in text.specifics]
        done += len(text.text)
    at = np.array(places, dtype=np.intp)
    found = np.array(starts, dtype=np.intp).searchsorted(at, side="right") - 1
    inside = (found >= 0) & (at < np.array([*ends, 0], dtype=np.intp)[found])
    return np.where(inside, found, -1)


def _around(texts: Sequence[TextFacts], told: Sequence[Sequence[Specific]], words: Sequence[Ints]) -> Ints:
    """The words around specifics, each once and 0 for none; a column for each specific, those before first."""
    gap = np.zeros(max(_BEFORE, _AFTER), dtype=np.intp)
    every = np.concatenate([gap, *chain.from_iterable((one, gap) for one in words)])
    starts, ends, done = [], [], len(gap)
    for text, specifics, of in zip(texts, told, words, strict=True):
        before = text.before
        starts += [done + before[one.start] for one in specifics]
        ends += [done + before[one.end] for one in specifics]
        done += len(of) + len(gap)
    places = [np.array(starts, dtype=np.intp) - far for far in range(_BEFORE, 0, -1)]
    places += [np.array(ends, dtype=np.intp) + far for far in range(_AFTER)]
    found: Ints = every[np.stack(places)]
    for side in (found[:_BEFORE], found[_BEFORE:]):
        for at in range(1, len(side)):
            side[at][(side[at] == side[:at]).any(axis=0)] = 0
    return found


def _shared(ours: Ints, theirs: Ints) -> Ints:
    """How many of the words around are the same, pair by pair; those before count twice."""
    same = np.zeros(ours.shape[1], dtype=np.int8)
    for side, weight in ((slice(_BEFORE), 2), (slice(_BEFORE, None), 1)):
        for mine in ours[side]:
            same += weight * np.logical_or.reduce([mine == other for other in theirs[side]]).view(np.int8)
    return same.astype(np.intp)


def one_line(text: str) -> str:
    """A text with single spaces for its line breaks and other gaps."""
    return text if text.isalnum() else " ".join(text.split())
