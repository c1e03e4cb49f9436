"""Which sentences are most like a given one by their letters: for narrowing and for evidence, not for judging."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_SHORTEST, _LONGEST = 3, 5
# Where n-grams are counted; collisions among the few thousand of an answer and its samples do not matter.
_BINS = 2**14
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
    if not texts or not others:
        return np.zeros((len(texts), len(others)), dtype=np.float32)
    counts = np.stack([_counts(text) for text in [*texts, *others]])
    held = np.count_nonzero(counts, axis=0)
    rarity = np.log(len(counts) / np.maximum(held, 1)) + 1
    weighted = np.log1p(counts) * rarity.astype(np.float32)
    unit = weighted / np.maximum(np.linalg.norm(weighted, axis=1, keepdims=True), np.float32(1e-9))
    found: NDArray[np.float32] = np.clip(unit[: len(texts)] @ unit[len(texts) :].T, 0, 1)
    return found


def _counts(text: str) -> NDArray[np.float32]:
    plain = f" {_SPACES.sub(' ', text.casefold()).strip()} "
    points = np.array([ord(character) for character in plain], dtype=np.uint64)
    grams: list[NDArray[np.uint64]] = []
    hashed = np.zeros(len(points), dtype=np.uint64)
    for size in range(1, min(_LONGEST, len(points)) + 1):
        last = len(points) - size + 1
        hashed = hashed[:last] * _PRIME + points[size - 1 :]
        if size >= _SHORTEST:
            # The upper half: the lower bits of such a product repeat.
            grams.append((hashed * _PRIME >> np.uint64(40)) % np.uint64(_BINS))
    found = np.concatenate(grams) if grams else np.empty(0, dtype=np.uint64)
    return np.bincount(found.astype(np.intp), minlength=_BINS).astype(np.float32)
