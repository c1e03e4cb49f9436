"""Texts into vectors by their letters alone: no model, nothing to download, the same on every machine."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DIMENSIONS = 8192
"""Components of a vector. Two texts without a common n-gram have a cosine of about 0, give or take 1/90."""

NGRAMS = range(2, 7)
"""The lengths, in characters, of the pieces that are counted."""

# An odd multiplier, and the two of splitmix64's last step, which spreads a hash over all of its bits.
_BASE = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_SIGN = np.uint64(63)


@dataclass(frozen=True)
class LexicalEmbedder:
    """Hashed character n-grams as an embedder: how far two texts are written alike.

    Every run of 2 to 6 characters counts with 1 + log(how often it occurs), and its hash says at which component and
    with which sign it is added, so that n-grams which share a component cancel out rather than add up. Upper and lower
    case, full and half width, and kinds of white space are the same; all of a text is read, whatever its length. The
    cosine of two texts is near that of their n-gram counts: 1 for equal texts, about 0 without a common n-gram.

    What it cannot do. It reads spelling, not meaning: a paraphrase in other words counts as disagreement, "he did" and
    "he did not" as agreement, and a translation shares nothing. Texts in one language share common letters, long ones
    more than short ones, so the level of a score says little: compare it with scores of answers of like kind and
    length, never with those of a neural embedder or with their thresholds.

    Usable by name, `CheckEmbedMetric(embedder="lexical")`. A folder of that name is `"./lexical"`.

    Example:
        >>> one, same, other = LexicalEmbedder().encode(["Born in 1893.", "BORN  in 1893.", "Born in 1901."])
        >>> round(float(one @ same), 3), round(float(one @ other), 1)
        (1.0, 0.6)
    """

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The texts' vectors: float32, shape (n, `DIMENSIONS`), rows of length 1.

        A text of one character is compared by that character. Empty texts, and those of white space alone, are equal
        to each other and unlike all others.
        """
        rows = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = _vector(text)
        return rows


def _vector(text: str) -> NDArray[np.float64]:
    vector = np.zeros(DIMENSIONS)
    for hashes in _hashes(_folded(text)):
        distinct, counts = np.unique(hashes, return_counts=True)
        weights = 1 + np.log(counts)
        signed = np.where(distinct >> _SIGN, -weights, weights)
        vector += np.bincount((distinct & np.uint64(DIMENSIONS - 1)).view(np.int64), signed, DIMENSIONS)
    unit: NDArray[np.float64] = vector / np.linalg.norm(vector)
    return unit


def _folded(text: str) -> str:
    """The text without what does not count, between two spaces, so that even an empty one holds an n-gram."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return f" {' '.join(folded.split())} "


def _hashes(text: str) -> list[NDArray[np.uint64]]:
    """For each n the hashes of the text's n-grams, one for each place; made from those of n - 1."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64) + np.uint64(1)
    rolling, found = points, []
    for n in range(NGRAMS.start, min(NGRAMS.stop, len(points) + 1)):
        rolling = rolling[:-1] * _BASE + points[n - 1 :]
        found.append(_spread(rolling))
    return found


def _spread(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    mixed = (hashes ^ (hashes >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return mixed ^ (mixed >> np.uint64(31))
