"""Which sentence of another text is about the same thing: the one that shares most words, rare ones counting more."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, count, pairwise

import numpy as np
from numpy.typing import NDArray

_TOKEN = re.compile(r"\w+")

_COMMON = 256
"""A word of more sentences than this tells none apart, and to follow it to all of them would take quadratic time."""

_CELLS = 1_000_000
"""So many likenesses are held at once."""


def nearest_by_words(sentences: Sequence[str], texts: Sequence[Sequence[str]]) -> list[list[int | None]]:
    """For each sentence and each text, the sentence of the text that shares most words with it.

    The likeness is the cosine of word sets, a word that stands in n of N sentences weighing log((1 + N) / n).

    Args:
        sentences: What to look for.
        texts: The sentences of each other text.

    Returns:
        For each sentence and each text the position of the nearest one, the first of equals; None where none shares a
        word.

    Example:
        >>> nearest_by_words(["She died in Oslo."], [["Born in Rome.", "She died there."], ["Nothing."]])
        [[1, None]]
    """
    theirs = [_words(sentence) for text in texts for sentence in text]
    if not theirs:
        return [[None] * len(texts) for _ in sentences]
    ours = [_words(sentence) for sentence in sentences]
    bounds = list(pairwise(accumulate(map(len, texts), initial=0)))
    shared = _SharedWords(ours, theirs)
    step = max(1, _CELLS // len(theirs))
    found: list[list[int | None]] = []
    for first in range(0, len(ours), step):
        likeness = shared.likeness(slice(first, first + step))
        best = [_best(likeness[:, start:end]) for start, end in bounds]
        found.extend([None if place < 0 else place for place in row] for row in zip(*best, strict=True))
    return found


def _best(likeness: NDArray[np.float64]) -> list[int]:
    """The column of each row's largest value, -1 where none is above 0."""
    if not likeness.shape[1]:
        return [-1] * len(likeness)
    top = likeness.argmax(axis=1)
    found: list[int] = np.where(likeness[np.arange(len(top)), top] > 0, top, -1).tolist()
    return found


def _words(text: str) -> dict[str, None]:
    """Its words, each once, in an order that no hash decides: sums of floats depend on it."""
    return dict.fromkeys(_TOKEN.findall(text.casefold()))


class _SharedWords:
    """Which sentences hold which word, and what a word weighs. Words are numbers here, and sentences too."""

    def __init__(self, ours: Sequence[Iterable[str]], theirs: Sequence[Iterable[str]]) -> None:
        numbers: dict[str, int] = defaultdict(count().__next__)
        self._ours = [[numbers[word] for word in words] for words in ours]
        held = [[numbers[word] for word in words] for words in theirs]
        words, sentences = flat(held), np.repeat(np.arange(len(held)), list(map(len, held)))
        # The sentences that hold the first word, then those that hold the second, and so on.
        self._places = sentences[words.argsort(kind="stable")]
        self._times = np.bincount(words, minlength=len(numbers))
        self._starts = self._times.cumsum() - self._times
        total = len(ours) + len(theirs)
        weights = np.array([0.0, *(math.log((1 + total) / times) ** 2 for times in range(1, total + 1))])
        self._weights = weights[self._times + np.bincount(flat(self._ours), minlength=len(numbers))]
        lengths = [math.sqrt(math.fsum(self._weights[words])) or 1.0 for words in held]
        self._lengths = np.array(lengths, dtype=np.float64)

    def likeness(self, rows: slice) -> NDArray[np.float64]:
        """Cosines of some of our sentences but for their own lengths, which change no order; shape (ours, theirs)."""
        size = len(self._lengths)
        ours = self._ours[rows]
        words = flat(ours)
        firsts = np.repeat(np.arange(len(ours)) * size, list(map(len, ours)))
        telling = self._times[words] <= _COMMON
        words, firsts = words[telling], firsts[telling]
        times = self._times[words]
        # Each word stands for all its places, which lie one after the other.
        within = np.arange(times.sum()) - np.repeat(times.cumsum() - times, times)
        places = self._places[np.repeat(self._starts[words], times) + within]
        sums = np.bincount(np.repeat(firsts, times) + places, np.repeat(self._weights[words], times), len(ours) * size)
        return sums.reshape(len(ours), size) / self._lengths


def flat(lists: Iterable[Iterable[int]]) -> NDArray[np.intp]:
    """The numbers of all lists, one list after the other."""
    return np.fromiter(chain.from_iterable(lists), dtype=np.intp)
