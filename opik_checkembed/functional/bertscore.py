"""BERTScore between many sentences at once, and what SelfCheckGPT makes of it.

Source: Zhang et al., "BERTScore: Evaluating Text Generation with BERT" (ICLR 2020), section 3; Manakul et al.,
"SelfCheckGPT: Zero-Resource Black-Box Hallucination Detection for Generative Large Language Models" (EMNLP 2023),
section 5.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Similarities of this many tokens by this many tokens exist at a time: 4 MB, which a processor's cache mostly holds.
_TILE_ROWS, _TILE_COLUMNS = 256, 4096


@dataclass(frozen=True, eq=False, slots=True)
class TokenEmbeddings:
    """A text as its encoder sees it.

    Attributes:
        vectors: Shape (L, d), one row for each token, special tokens included; of any length but not all zeros.
        counted: Shape (L,). False for the tokens that begin and end a sequence ([CLS], [SEP]): others may match
            them, but they have no weight of their own.
        windows: How many pieces the text was read in; 1 where the encoder read it at once.
    """

    vectors: NDArray[np.float32]
    counted: NDArray[np.bool_]
    windows: int = 1


@dataclass(frozen=True, eq=False, slots=True)
class Nearest:
    """Each sentence's best match in each sample.

    Attributes:
        f1: Shape (n sentences, N samples): the F1 of the sample's passage that matches best; nan where the sentence
            or the whole sample has no counted token.
        passage: Shape (n, N): which of the passages it is, the first of equals; -1 where `f1` is nan.
    """

    f1: NDArray[np.float32]
    passage: NDArray[np.intp]

    @property
    def scores(self) -> tuple[tuple[float | None, ...], ...]:
        """`1 - f1` for each sentence and sample, None for nan: 0 where the sample says the same, 1 where nothing
        there is nearer than an unrelated sentence (if the F1 was rescaled). Their mean is SelfCheckGPT's score.
        """
        return tuple(tuple(None if np.isnan(f1) else 1.0 - float(f1) for f1 in row) for row in self.f1)


def bertscore_f1(
    references: Sequence[TokenEmbeddings], candidates: Sequence[TokenEmbeddings], *, baseline: float | None = None
) -> NDArray[np.float32]:
    """BERTScore F1 of every reference with every candidate; higher is more alike.

    Each token of one text is matched with the token of the other whose embedding has the highest cosine. The mean
    over the candidate's tokens is the precision P, over the reference's the recall R, and F1 = 2PR / (P + R). Special
    tokens may be matched but are not counted in the means, and no token weighs more than another, as in the bert-score
    package without idf. (That package takes the padding of a batch to have cosine 0, so a token whose cosines are all
    negative may count 0 there; here it counts what it is.)

    Args:
        references: n texts.
        candidates: m texts of the same encoder.
        baseline: F1 of unrelated texts with this encoder, below 1. If given, F1 becomes (F1 - b) / (1 - b): about 0
            for unrelated texts, 1 for equal ones. Without it even unrelated texts score high.

    Returns:
        Shape (n, m), float32; nan where one of the two has no counted token. Memory beyond the embeddings: one
        number for each reference token and candidate, and for each candidate token and reference.

    Raises:
        ValueError: `baseline` is 1 or more, or the embeddings are not of one width.

    Example:
        >>> east, north = np.eye(2, dtype=np.float32)
        >>> def text(*vectors):
        ...     return TokenEmbeddings(np.stack(vectors), np.ones(len(vectors), dtype=bool))
        >>> bertscore_f1([text(east, north)], [text(east, north), text(east)]).round(3).tolist()
        [[1.0, 0.66...]]
    """
    if baseline is not None and not baseline < 1:
        raise ValueError(f"baseline must be below 1, not {baseline}")
    f1 = np.full((len(references), len(candidates)), np.nan, dtype=np.float32)
    rows = [i for i, text in enumerate(references) if text.counted.any()]
    columns = [i for i, text in enumerate(candidates) if text.counted.any()]
    if not rows or not columns:
        return f1
    reference, candidate = _Stack([references[i] for i in rows]), _Stack([candidates[i] for i in columns])
    if reference.vectors.shape[1] != candidate.vectors.shape[1]:
        raise ValueError(f"embeddings have {reference.vectors.shape[1]} and {candidate.vectors.shape[1]} dimensions")
    best_of_reference, best_of_candidate = _best_matches(reference, candidate)
    recall = reference.means(best_of_reference)
    precision = candidate.means(best_of_candidate).T
    total = precision + recall
    kept = np.zeros_like(total)
    np.divide(2 * precision * recall, total, out=kept, where=total != 0)
    if baseline is not None:
        kept = (kept - np.float32(baseline)) / (np.float32(1) - np.float32(baseline))
    f1[np.ix_(rows, columns)] = kept
    return f1


def nearest_passages(f1: NDArray[np.float32], samples: Sequence[Sequence[int]]) -> Nearest:
    """SelfCheckGPT's use of BERTScore: for each sentence and sample the passage that matches best.

    Args:
        f1: Shape (n, m): each sentence with each distinct passage of all samples.
        samples: For each sample which of the m passages it holds.

    Example:
        >>> f1 = np.array([[0.9, 0.2, 0.4]], dtype=np.float32)
        >>> nearest = nearest_passages(f1, [[0, 1], [1, 2]])
        >>> nearest.passage.tolist(), [round(score, 3) for score in nearest.scores[0]]
        ([[0, 2]], [0.1, 0.6])
    """
    sentences = np.arange(len(f1))
    best = np.full((len(f1), len(samples)), np.nan, dtype=np.float32)
    passage = np.full(best.shape, -1, dtype=np.intp)
    known = np.where(np.isnan(f1), -np.inf, f1)
    for sample, members in enumerate(samples):
        if not members:
            continue
        place = known[:, list(members)].argmax(axis=1)
        best[:, sample] = f1[:, list(members)][sentences, place]
        passage[:, sample] = np.where(np.isnan(best[:, sample]), -1, np.asarray(members)[place])
    return Nearest(best, passage)


class _Stack:
    """Texts as one matrix of unit rows; text i has the rows from `starts[i]` to before `starts[i + 1]`."""

    def __init__(self, texts: Sequence[TokenEmbeddings]) -> None:
        self.starts = np.concatenate([[0], np.cumsum([len(text.vectors) for text in texts])])
        self.counted = [text.counted for text in texts]
        # A copy, also of a single text, and so free to be changed in place.
        self.vectors = np.concatenate([text.vectors for text in texts]).astype(np.float32, copy=False)
        lengths = np.sqrt(np.einsum("ij,ij->i", self.vectors, self.vectors))[:, np.newaxis]
        self.vectors /= np.where(lengths == 0, np.float32(1), lengths)

    def __len__(self) -> int:
        return len(self.counted)

    def within(self, first: int, last: int) -> tuple[int, int]:
        """The texts that have some of these rows: from which to before which."""
        return int(np.searchsorted(self.starts, first, "right")) - 1, int(np.searchsorted(self.starts, last, "left"))

    def means(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Rows of values, one for each token, averaged over the counted tokens of each text."""
        means = np.empty((len(self), values.shape[1]), dtype=np.float32)
        for text, counted in enumerate(self.counted):
            weights = counted.astype(np.float32) / np.float32(counted.sum())
            means[text] = weights @ values[self.starts[text] : self.starts[text + 1]]
        return means


def _best_matches(rows: _Stack, columns: _Stack) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The highest cosine of each row's token in each column's text, and of each column's token in each row's text."""
    n, m = len(rows.vectors), len(columns.vectors)
    of_rows = np.full((n, len(columns)), -np.inf, dtype=np.float32)
    of_columns = np.full((len(rows), m), -np.inf, dtype=np.float32)
    for top in range(0, n, _TILE_ROWS):
        bottom = min(top + _TILE_ROWS, n)
        for left in range(0, m, _TILE_COLUMNS):
            right = min(left + _TILE_COLUMNS, m)
            cosines = rows.vectors[top:bottom] @ columns.vectors[left:right].T
            first, last = columns.within(left, right)
            cuts = np.maximum(columns.starts[first:last], left) - left
            so_far = of_rows[top:bottom, first:last]
            np.maximum(so_far, np.maximum.reduceat(cosines, cuts, axis=1), out=so_far)
            # Down the columns reduceat is many times slower than a loop over the few texts of a tile.
            for text in range(*rows.within(top, bottom)):
                start, end = max(rows.starts[text], top) - top, min(rows.starts[text + 1], bottom) - top
                below = of_columns[text, left:right]
                np.maximum(below, cosines[start:end].max(axis=0), out=below)
    return of_rows, of_columns.T
