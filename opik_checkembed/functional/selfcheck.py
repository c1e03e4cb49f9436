"""What the SelfCheckGPT methods have in common: a score for every sentence, and one for the answer.

Source: Manakul et al., "SelfCheckGPT: Zero-Resource Black-Box Hallucination Detection for Generative Large Language
Models" (EMNLP 2023), sections 5 and 6; the maximum over sentences is the Opik tutorial's.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, get_args

Aggregate = Literal["max", "mean"]


@dataclass(frozen=True)
class Passage:
    """A place in a sample that speaks for or against a sentence.

    Attributes:
        sample: Which sample, counted from 0 among those that were compared.
        start: Where the passage begins in that sample, in characters.
        end: Where it ends.
        text: The passage itself.
        score: What this sample alone gives the sentence.
    """

    sample: int
    start: int
    end: int
    text: str
    score: float


@dataclass(frozen=True)
class SentenceScore:
    """One sentence of the judged output, held against the samples.

    Attributes:
        text: The sentence.
        start: Where it begins in the output, in characters.
        end: Where it ends.
        score: How far the samples fail to support it; None where that could not be told, and
            `detail["unscored"]` says why.
        per_sample: What each sample alone gives it; empty for methods without such a thing.
        against: The sample that supports it least, and the passage there that came nearest or contradicted most.
        support: The sample that supports it most, and the passage.
        detail: What else the method found, as JSON-ready values.
        weight: How much evidence the score rests on, where the method says; weighs in the mean over sentences.
    """

    text: str
    start: int
    end: int
    score: float | None
    per_sample: tuple[float | None, ...] = ()
    against: Passage | None = None
    support: Passage | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    weight: float = 1


@dataclass(frozen=True)
class SelfCheckResult:
    """Sentence scores and their aggregate.

    Attributes:
        sentences: In the order of the output.
        aggregate: "max", the worst sentence, as in the tutorial; or "mean", the paper's score of a passage.
    """

    sentences: tuple[SentenceScore, ...]
    aggregate: Aggregate = "max"

    @property
    def value(self) -> float | None:
        """The aggregate of the sentences that have a score; None when none has."""
        scored = [(s.score, s.weight) for s in self.sentences if s.score is not None]
        if not scored:
            return None
        return max(scored)[0] if self.aggregate == "max" else weighted_mean(*zip(*scored, strict=True))

    @property
    def worst(self) -> SentenceScore | None:
        """The sentence that is supported least; the first of equals, None when none has a score."""
        return max((s for s in self.sentences if s.score is not None), key=lambda s: s.score or 0.0, default=None)

    def flagged(self, threshold: float) -> list[SentenceScore]:
        """The sentences that score at least `threshold`. A new threshold re-reads the result."""
        return [s for s in self.sentences if s.score is not None and s.score >= threshold]

    def aggregated(self, aggregate: Aggregate) -> SelfCheckResult:
        """The same sentences with another aggregate."""
        return replace(self, aggregate=aggregate)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON-ready values: `aggregate`, `value`, `worst` (a position), and `sentences`."""
        worst = self.worst
        return {
            "aggregate": self.aggregate,
            "value": self.value,
            "worst": None if worst is None else next(i for i, s in enumerate(self.sentences) if s is worst),
            "sentences": [{**asdict(s), "per_sample": list(s.per_sample)} for s in self.sentences],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SelfCheckResult:
        """The inverse of `to_dict`.

        Raises:
            KeyError, TypeError: The data is no such result.
        """
        return cls(tuple(_sentence(s) for s in data["sentences"]), data["aggregate"])


def _sentence(data: Mapping[str, Any]) -> SentenceScore:
    places = {name: None if data[name] is None else Passage(**data[name]) for name in ("against", "support")}
    return SentenceScore(**{**data, **places, "per_sample": tuple(data["per_sample"])})


def is_aggregate(value: object) -> bool:
    """Whether this names a way to aggregate."""
    return value in get_args(Aggregate)


def weighted_mean(scores: Sequence[float], weights: Sequence[float]) -> float:
    """The mean of scores, each counted `weight` times; weights are above 0.

    It is exact and rounded once: a rounded sum over a count can lie outside its own values.

    Example:
        >>> weighted_mean([0.25, 1.0], [2, 1])
        0.5
    """
    exact = [Fraction(weight) for weight in weights]
    return float(sum(Fraction(s) * w for s, w in zip(scores, exact, strict=True)) / sum(exact))


def mean_over_samples(per_sample: Sequence[float | None]) -> float | None:
    """The mean of what the samples give a sentence, those left out that give nothing; None when none gives anything.

    Example:
        >>> mean_over_samples([0.25, None, 0.75])
        0.5
    """
    known = [score for score in per_sample if score is not None]
    return statistics.mean(known) if known else None
