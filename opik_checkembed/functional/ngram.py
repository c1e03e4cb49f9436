"""SelfCheckGPT with an n-gram model: how surprising is a sentence, given the samples?

Source: Manakul et al., "SelfCheckGPT" (EMNLP 2023), section 5.3.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_PAD = "<s>"

Ngram = tuple[str, ...]


class NgramModel:
    """Counts of the n-grams in some sentences, and from them probabilities.

    p = (count + smoothing) / (total + smoothing * (distinct + 1)). Without smoothing an n-gram that was never counted
    would have probability 0 and a score of infinity; it gets 1 / (total + 1), less than anything that was counted.

    Args:
        sentences: Tokens of each sentence, the judged output's and the samples'.
        n: Tokens in an n-gram; each sentence is padded on its left.
        smoothing: Added to every count.

    Raises:
        ValueError: `n` is below 1 or `smoothing` below 0.

    Example:
        >>> model = NgramModel([["the", "cat"], ["the", "dog"]])
        >>> [round(surprise, 4) for surprise in model.surprises(["the", "cat", "sang"])]
        [0.6931, 1.3863, 1.6094]
    """

    def __init__(self, sentences: Iterable[Sequence[str]], n: int = 1, smoothing: float = 0.0) -> None:
        if n < 1 or not 0 <= smoothing < math.inf:
            raise ValueError(f"n must be at least 1 and smoothing 0 or more, got {n} and {smoothing}")
        self.n = n
        self.smoothing = smoothing
        self.counts: Counter[Ngram] = Counter()
        for tokens in sentences:
            self.counts.update(ngrams(tokens, n))
        self.total = self.counts.total()

    def surprises(self, tokens: Sequence[str]) -> list[float]:
        """-log p (in nats, 0 upward, never infinite) of the n-gram that ends at each token."""
        return [self._surprise(self.counts[ngram]) for ngram in ngrams(tokens, self.n)]

    def _surprise(self, count: int) -> float:
        if self.smoothing:
            spread = self.total + self.smoothing * (len(self.counts) + 1)
            return math.log(spread / (count + self.smoothing))
        return math.log(self.total / count) if count else math.log(self.total + 1)


@dataclass(frozen=True)
class Surprise:
    """How surprising one sentence is.

    Attributes:
        average: Mean of -log p over the tokens: the paper's Avg.
        maximum: Largest -log p: the paper's Max.
        rarest: Position of the most surprising token that is not white space; the first of equals.
        spaced: Whether the largest belongs to white space alone: spaCy takes a line break, and a space after another,
            for tokens, and so does the reference.
    """

    average: float
    maximum: float
    rarest: int
    spaced: bool = False


def surprise(model: NgramModel, tokens: Sequence[str]) -> Surprise:
    """How surprising a sentence is to the model; 0 certain, upward without bound.

    Raises:
        ValueError: There are no tokens.
    """
    if not tokens:
        raise ValueError("a sentence without tokens has no surprise")
    each = model.surprises(tokens)
    maximum = max(each)
    words = [place for place, token in enumerate(tokens) if not token.isspace()] or range(len(tokens))
    rarest = max(words, key=each.__getitem__)
    # A rounded sum over a count can lie above its largest value.
    average = min(math.fsum(each) / len(each), maximum)
    return Surprise(average, maximum, rarest, spaced=each[rarest] < maximum)


def ngrams(tokens: Sequence[str], n: int) -> list[Ngram]:
    """The n-gram that ends at each token.

    Example:
        >>> ngrams(["a", "b"], 2)
        [('<s>', 'a'), ('a', 'b')]
    """
    padded = [*[_PAD] * (n - 1), *tokens]
    return [tuple(padded[at : at + n]) for at in range(len(tokens))]
