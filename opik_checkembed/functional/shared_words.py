"""Which sentence of another text is about the same thing: the one that shares most words, rare ones counting more."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

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
        likeness = shared.likeness(ours[first : first + step])
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
    """Which sentences hold which word, and what a word weighs."""

    def __init__(self, ours: Sequence[Iterable[str]], theirs: Sequence[Iterable[str]]) -> None:
        counts = Counter(word for words in (*ours, *theirs) for word in words)
        total = len(ours) + len(theirs)
        self.weights = {word: math.log((1 + total) / count) ** 2 for word, count in counts.items()}
        places: dict[str, list[int]] = {}
        for at, words in enumerate(theirs):
            for word in words:
                places.setdefault(word, []).append(at)
        self.places = {word: np.array(at) for word, at in places.items() if len(at) <= _COMMON}
        lengths = [math.sqrt(math.fsum(self.weights[word] for word in words)) or 1.0 for words in theirs]
        self.lengths = np.array(lengths, dtype=np.float64)

    def likeness(self, ours: Sequence[Iterable[str]]) -> NDArray[np.float64]:
        """Cosines but for our own lengths, which change no order; shape (ours, theirs)."""
        size = len(self.lengths)
        told = [(row * size, word) for row, words in enumerate(ours) for word in words if word in self.places]
        cells = np.zeros(0, dtype=np.intp)
        weights = np.zeros(0)
        if told:
            places = [self.places[word] for _, word in told]
            times = [len(one) for one in places]
            cells = np.concatenate(places) + np.repeat([first for first, _ in told], times)
            weights = np.repeat([self.weights[word] for _, word in told], times)
        sums = np.bincount(cells, weights, len(ours) * size)
        return sums.reshape(len(ours), size) / self.lengths
