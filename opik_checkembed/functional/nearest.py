"""Which sentences are most like a given one by their letters: for narrowing and for evidence, not for judging."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_SHORTEST, _LONGEST = 3, 5
# Where n-grams are counted; collisions among the few thousand of an answer and its samples do not matter.
_BINS = 2**14
# So many texts have their counts laid out at once: 64 KiB each.
_ROWS = 128
_PRIME = np.uint64(1_000_003)
_SPACES = re.compile(r"\s+")


def alike(texts: Sequence[str], others: Sequence[str]) -> NDArray[np.float32]:
    """How alike texts are by their character n-grams, 0 to 1, whatever their script.

    The cosine of logarithmic counts of 3- to 5-grams, case and white space evened out, each weighted by the logarithm
    of its rarity among all the texts given: what they all say tells none apart.

    Args:
        texts: n texts.
        others: m texts.

    Returns:
        Shape (n, m).

    Example:
        >>> alike(["She was born in Oslo."], ["He paints.", "She was born in Bergen."]).round(1)
        array([[0. , 0.5]], dtype=float32)
    """
    found = np.zeros((len(texts), len(others)), dtype=np.float32)
    if not texts or not others:
        return found
    left, right = [_grams(text) for text in texts], [_grams(text) for text in others]
    held = np.zeros(_BINS, dtype=np.intp)
    for grams in (*left, *right):
        held[np.unique(grams)] += 1
    rarity = (np.log((len(left) + len(right)) / np.maximum(held, 1)) + 1).astype(np.float32)
    for top in range(0, len(left), _ROWS):
        rows = _unit(left[top : top + _ROWS], rarity)
        for at in range(0, len(right), _ROWS):
            np.clip(rows @ _unit(right[at : at + _ROWS], rarity).T, 0, 1, out=found[top : top + _ROWS, at : at + _ROWS])
    return found


def _unit(grams: Sequence[NDArray[np.uint16]], rarity: NDArray[np.float32]) -> NDArray[np.float32]:
    """A row of length 1 for each text, or of zeros for one without an n-gram."""
    rows = np.zeros((len(grams), _BINS), dtype=np.float32)
    for row, found in zip(rows, grams, strict=True):
        bins, counts = np.unique(found, return_counts=True)
        weighted = np.log1p(counts.astype(np.float32)) * rarity[bins]
        row[bins] = weighted / np.maximum(np.linalg.norm(weighted), np.float32(1e-9))
    return rows


def _grams(text: str) -> NDArray[np.uint16]:
    """The bins of a text's n-grams, one for each that it has."""
    plain = f" {_SPACES.sub(' ', text.casefold()).strip()} "
    points = np.array([ord(character) for character in plain], dtype=np.uint64)
    grams: list[NDArray[np.uint16]] = []
    hashed = np.zeros(len(points), dtype=np.uint64)
    for size in range(1, min(_LONGEST, len(points)) + 1):
        last = len(points) - size + 1
        hashed = hashed[:last] * _PRIME + points[size - 1 :]
        if size >= _SHORTEST:
            # The upper half: the lower bits of such a product repeat.
            grams.append(((hashed * _PRIME >> np.uint64(40)) % np.uint64(_BINS)).astype(np.uint16))
    return np.concatenate(grams) if grams else np.empty(0, dtype=np.uint16)
