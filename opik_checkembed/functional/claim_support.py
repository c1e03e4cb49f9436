"""Claims held against a source: what a verifier found for each, and one value for the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from opik_checkembed.functional.claims import Claim
from opik_checkembed.functional.selfcheck import Aggregate

# Likelier than not. Not a setting: it only tells contradicted from absent among claims that are unsupported anyway.
_CONTRADICTED = 0.5


class ClaimVerdict(StrEnum):
    """What a source says of a claim.

    `ABSENT` claims are neither supported nor contradicted. `NOT_SUPPORTED` says that nobody looked which of the two it
    is. A verifier that knows contradiction only says `CONTRADICTED` or `NOT_CONTRADICTED`, never that a claim is
    supported or absent.
    """

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    ABSENT = "absent"
    NOT_SUPPORTED = "not supported"
    NOT_CONTRADICTED = "not contradicted"
    UNREAD = "unread"


@dataclass(frozen=True)
class Evidence:
    """A place in the source: the sentence to look at, and around it what was read.

    Attributes:
        passage: Which of the passages, counted from 0.
        start: Where it begins in that passage, in characters.
        end: Where it ends.
        text: The place itself.
        window: Where the part of that passage begins and ends that the verifier read at once, in characters: its
            verdict is of this part, not of the place alone. None where it does not say.
        probability: What the verifier gave for this window, 0 to 1: that it supports the claim, or for a contradicting
            place that it contradicts it. None where it does not say.
    """

    passage: int
    start: int
    end: int
    text: str
    window: tuple[int, int] | None = None
    probability: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values; `window` is a list."""
        return {**asdict(self), "window": None if self.window is None else list(self.window)}


@dataclass(frozen=True)
class Support:
    """What a verifier found for one claim.

    Attributes:
        p_supported: Probability that the passages support it, 0 to 1; None where the verifier cannot tell.
        p_contradicted: Probability that they contradict it; None where it cannot tell or was not asked.
        supporting: The place that supports it most, whether or not that is enough.
        contradicting: The place that contradicts it most.
        problem: Why neither probability is known.
    """

    p_supported: float | None = None
    p_contradicted: float | None = None
    supporting: Evidence | None = None
    contradicting: Evidence | None = None
    problem: str | None = None

    @property
    def doubt(self) -> float | None:
        """1 - P(supported), or P(contradicted) where only that is known; None where neither is."""
        return self.p_contradicted if self.p_supported is None else 1.0 - self.p_supported

    def verdict(self, threshold: float = 0.5) -> ClaimVerdict:
        """What that says of the claim: supported from P(supported) >= `threshold`.

        Where only contradiction is known, contradicted from P(contradicted) > 1 - `threshold`.

        Example:
            >>> Support(p_supported=0.2, p_contradicted=0.7).verdict()
            <ClaimVerdict.CONTRADICTED: 'contradicted'>
            >>> Support(p_contradicted=0.3).verdict()
            <ClaimVerdict.NOT_CONTRADICTED: 'not contradicted'>
        """
        doubt = self.doubt
        if doubt is None:
            return ClaimVerdict.UNREAD
        if self.p_supported is None:
            return ClaimVerdict.CONTRADICTED if doubt > 1.0 - threshold else ClaimVerdict.NOT_CONTRADICTED
        if self.p_supported >= threshold:
            return ClaimVerdict.SUPPORTED
        if self.p_contradicted is None:
            return ClaimVerdict.NOT_SUPPORTED
        return ClaimVerdict.CONTRADICTED if self.p_contradicted > _CONTRADICTED else ClaimVerdict.ABSENT


@dataclass(frozen=True)
class ClaimScore:
    """One claim and what the source says of it.

    Attributes:
        claim: The claim.
        support: What the verifier found.
        guard: What deterministic rules found beside it; see `opik_checkembed.functional.grounding`.
    """

    claim: Claim
    support: Support
    guard: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SourceNLIResult:
    """The claims of an answer, held against its source.

    Attributes:
        claims: In the order of the answer.
        threshold: P(supported) from which a claim counts as supported.
        aggregate: "mean", the share of claims that are not supported; or "max", the doubt in the worst.
    """

    claims: tuple[ClaimScore, ...]
    threshold: float = 0.5
    aggregate: Aggregate = "mean"

    @property
    def read(self) -> tuple[ClaimScore, ...]:
        """The claims that the verifier could judge."""
        return tuple(one for one in self.claims if one.support.doubt is not None)

    @property
    def flagged(self) -> tuple[ClaimScore, ...]:
        """The claims that are not supported (or, where only that is known, contradicted)."""
        sound = {ClaimVerdict.SUPPORTED, ClaimVerdict.NOT_CONTRADICTED}
        return tuple(one for one in self.read if self.verdict(one) not in sound)

    @property
    def value(self) -> float | None:
        """0 (all supported) to 1; None when no claim could be judged."""
        read = self.read
        if not read:
            return None
        return len(self.flagged) / len(read) if self.aggregate == "mean" else max(map(_doubt, read))

    @property
    def worst(self) -> ClaimScore | None:
        """The claim in most doubt, the first of equals; None when no claim could be judged."""
        return max(self.read, key=_doubt, default=None)

    @property
    def contradiction_only(self) -> bool:
        """Whether the verifier told contradiction only, so that nothing is said of support."""
        return bool(self.read) and all(one.support.p_supported is None for one in self.read)

    def verdict(self, one: ClaimScore) -> ClaimVerdict:
        """The verdict on one claim at this threshold."""
        return one.support.verdict(self.threshold)

    def rethreshold(self, threshold: float) -> SourceNLIResult:
        """The same findings read with another threshold.

        Example:
            >>> result = SourceNLIResult((ClaimScore(Claim("It rains."), Support(p_supported=0.6)),))
            >>> result.value, result.rethreshold(0.7).value
            (0.0, 1.0)
        """
        return replace(self, threshold=threshold)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON-ready values.

        Returns:
            `aggregate`, `value`, `threshold`, `worst` (a position), `measures` ("support" or "contradiction"), and
            `claims`, each with `text`, `start`, `end`, `score` (the doubt), `verdict`, `p_supported`,
            `p_contradicted`, `evidence` (the place that decided: `passage`, `start`, `end`, `text`, `window`,
            `probability`; see `Evidence`), `supporting`, `contradicting`, `problem`, and what the guard found.
        """
        worst = self.worst
        return {
            "aggregate": self.aggregate,
            "value": self.value,
            "threshold": self.threshold,
            "measures": "contradiction" if self.contradiction_only else "support",
            "worst": None if worst is None else next(i for i, one in enumerate(self.claims) if one is worst),
            "claims": [self._claim(one) for one in self.claims],
        }

    def _claim(self, one: ClaimScore) -> dict[str, Any]:
        return {
            **asdict(one.claim),
            "score": one.support.doubt,
            "verdict": self.verdict(one).value,
            "evidence": _place(self.deciding(one)),
            "p_supported": one.support.p_supported,
            "p_contradicted": one.support.p_contradicted,
            "supporting": _place(one.support.supporting),
            "contradicting": _place(one.support.contradicting),
            "problem": one.support.problem,
            **one.guard,
        }

    def deciding(self, one: ClaimScore) -> Evidence | None:
        """The place in the source that the verdict rests on: the contradicting one for a contradicted claim."""
        against = self.verdict(one) in {ClaimVerdict.CONTRADICTED, ClaimVerdict.NOT_CONTRADICTED}
        return one.support.contradicting if against else one.support.supporting


def _place(found: Evidence | None) -> dict[str, Any] | None:
    return None if found is None else found.to_dict()


def _doubt(one: ClaimScore) -> float:
    doubt = one.support.doubt
    return 0.0 if doubt is None else doubt
