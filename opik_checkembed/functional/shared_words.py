"""Which sentence of another text is about the same thing: the one that shares most words, rare ones counting more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate, count, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_COMMON = 256
"""A word of more sentences than this tells none apart, and to follow it to all of them would take quadratic time."""

_CELLS = 1_000_000
"""So many likenesses are held at once."""


def numbered(texts: Iterable[Iterable[str]]) -> list[NDArray[np.intp]]:
    """The words of each text as numbers from 1 on, the same word in all of them as the same number.

    Example:
        >>> [numbers.tolist() for numbers in numbered([["to", "be"], ["to", "do"]])]
        [[1, 2], [1, 3]]
    """
    numbers: dict[str, int] = defaultdict(count(1).__next__)
    return [np.fromiter(map(numbers.__getitem__, text), dtype=np.intp) for text in texts]


class SentenceWords(NamedTuple):
    """The words of a text's sentences.

    Attributes:
        words: Numbers that stand for words.
        starts: For each sentence where its words begin among them.
        ends: Where they end.
    """

    words: NDArray[np.intp]
    starts: NDArray[np.intp]
    ends: NDArray[np.intp]

    def at(self, places: NDArray[np.intp]) -> SentenceWords:
        """Some of its sentences."""
        return SentenceWords(self.words, self.starts[places], self.ends[places])


def nearest_by_words(sentences: SentenceWords, texts: Sequence[SentenceWords]) -> NDArray[np.intp]:
    """For each sentence and each text, the sentence of the text that shares most words with it.

    The likeness is the cosine of word sets, a word that stands in n of N sentences weighing log((1 + N) / n).

    Args:
        sentences: What to look for.
        texts: The sentences of each other text, the same word as the same number.

    Returns:
        Shape (sentences, texts): the position of the nearest sentence, the first of equals; -1 where none shares a
        word.

    Example:
        >>> words = np.array([1, 2, 3, 4, 5, 6])  # born in Rome, she died there
        >>> told = SentenceWords(words, starts=np.array([0, 3]), ends=np.array([3, 6]))
        >>> asked = SentenceWords(np.array([4, 5, 2, 7]), starts=np.array([0]), ends=np.array([4]))  # she died in Oslo
        >>> nearest_by_words(asked, [told, told.at(np.arange(0))]).tolist()
        [[1, -1]]
    """
    total = len(sentences.starts)
    bounds = list(pairwise(accumulate((len(text.starts) for text in texts), initial=0)))
    if not bounds or not bounds[-1][1]:
        return np.full((total, len(texts)), -1, dtype=np.intp)
    shared = _SharedWords(sentences, texts)
    step = max(1, _CELLS // bounds[-1][1])
    found = np.empty((total, len(texts)), dtype=np.intp)
    for first in range(0, total, step):
        rows = slice(first, min(first + step, total))
        likeness = shared.likeness(rows.start, rows.stop)
        found[rows] = np.stack([_best(likeness[:, start:end]) for start, end in bounds], axis=1)
    return found


def _best(likeness: NDArray[np.float64]) -> NDArray[np.intp]:
    """The column of each row's largest value, -1 where none is above 0."""
    if not likeness.shape[1]:
        return np.full(len(likeness), -1, dtype=np.intp)
    top = likeness.argmax(axis=1)
    return np.where(likeness[np.arange(len(top)), top] > 0, top, -1)


def expanded(starts: NDArray[np.intp], sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """All numbers of all ranges, one range after the other.

    Example:
        >>> expanded(np.array([5, 0]), np.array([2, 3])).tolist()
        [5, 6, 0, 1, 2]
    """
    return np.arange(sizes.sum()) + np.repeat(starts - (sizes.cumsum() - sizes), sizes)


class _SharedWords:
    """Which sentences hold which word, and what a word weighs."""

    def __init__(self, ours: SentenceWords, theirs: Sequence[SentenceWords]) -> None:
        size = 1 + max((int(text.words.max()) for text in (ours, *theirs) if len(text.words)), default=0)
        self._ours, self._words = _sets([ours], size)
        held, words = _sets(theirs, size)
        self._size = sum(len(text.starts) for text in theirs)
        # The sentences that hold the first word, then those that hold the second, and so on.
        self._places = held[words.argsort(kind="stable")]
        self._times = np.bincount(words, minlength=size)
        self._starts = self._times.cumsum() - self._times
        total = len(ours.starts) + self._size
        in_all = np.maximum(self._times + np.bincount(self._words, minlength=size), 1)
        self._weights = np.log((1 + total) / in_all) ** 2
        lengths = np.sqrt(np.bincount(held, self._weights[words], self._size))
        self._lengths = np.where(lengths > 0, lengths, 1.0)

    def likeness(self, first: int, stop: int) -> NDArray[np.float64]:
        """Cosines of some of our sentences but for their own lengths, which change no order; shape (ours, theirs)."""
        part = slice(*self._ours.searchsorted([first, stop]))
        words, rows = self._words[part], self._ours[part] - first
        telling = self._times[words] <= _COMMON
        words, rows = words[telling], rows[telling]
        times = self._times[words]
        # Each word stands for all its places, which lie one after the other.
        places = self._places[expanded(self._starts[words], times)]
        cells = np.repeat(rows * self._size, times) + places
        sums = np.bincount(cells, np.repeat(self._weights[words], times), (stop - first) * self._size)
        return sums.reshape(stop - first, self._size) / self._lengths


def _sets(texts: Sequence[SentenceWords], size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The words of each sentence, each once: sentences, counted through all texts, and words below `size`, in order."""
    codes, done = [np.empty(0, dtype=np.intp)], 0
    for text in texts:
        lengths = text.ends - text.starts
        rows = np.repeat(np.arange(done, done + len(lengths)), lengths)
        codes.append(rows * size + text.words[expanded(text.starts, lengths)])
        done += len(lengths)
    every = np.sort(np.concatenate(codes))
    # As `np.unique`, which makes a table of what it has seen and is ten times as slow here.
    sentences, words = np.divmod(every[np.diff(every, prepend=-1) > 0], size)
    return sentences, words
