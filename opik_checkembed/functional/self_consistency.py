"""Claims held against answers to the same question: in how many of them does each come back?

Source: the published 132-claim comparison's Method A: the share of five regenerated answers that mention a claim or
directly support it; flagged at an agreement of .40 or less.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from opik_checkembed.functional.claims import Claim
from opik_checkembed.functional.selfcheck import Aggregate, Passage

Measures = Literal["support", "contradiction"]
"""What was told of claim and sample: whether the sample supports it, or only whether it contradicts it."""

# Likelier than not.
_SUPPORTS = 0.5


@dataclass(frozen=True)
class ClaimAgreement:
    """One claim and the samples.

    Attributes:
        claim: The claim.
        per_sample: Probability that each sample supports it, 0 to 1; where only contradiction is known, that it does
            not contradict it. None where that could not be read.
        against: The sample that supports it least (or contradicts it most), and the place there that is nearest to it;
            None where none is.
        support: The sample that supports it most; None where only contradiction is known.
    """

    claim: Claim
    per_sample: tuple[float | None, ...]
    against: Passage | None = None
    support: Passage | None = None

    @property
    def agreement(self) -> float | None:
        """Share of the samples that likelier than not support it, 0 to 1; None when none could be read.

        Where only contradiction is known: of those that likelier than not do not contradict it.

        Example:
            >>> ClaimAgreement(Claim("It rains."), (0.9, 0.2, None)).agreement
            0.5
        """
        known = [p for p in self.per_sample if p is not None]
        return sum(p >= _SUPPORTS for p in known) / len(known) if known else None


@dataclass(frozen=True)
class SelfConsistencyResult:
    """The claims of an answer, held against its samples.

    Attributes:
        claims: In the order of the answer.
        threshold: A claim is flagged at this agreement or less.
        aggregate: "mean", the share of claims that are flagged; or "max", 1 - the smallest agreement.
        measures: "support"; or "contradiction", where samples agree with a claim that they do not contradict.
    """

    claims: tuple[ClaimAgreement, ...]
    threshold: float = 0.4
    aggregate: Aggregate = "mean"
    measures: Measures = "support"

    @property
    def flagged(self) -> tuple[ClaimAgreement, ...]:
        """The claims that too few samples support, or that too many contradict."""
        return tuple(one for one in self.claims if one.agreement is not None and one.agreement <= self.threshold)

    @property
    def value(self) -> float | None:
        """0 (consistent) to 1; None when no claim could be judged."""
        known = [one.agreement for one in self.claims if one.agreement is not None]
        if not known:
            return None
        return len(self.flagged) / len(known) if self.aggregate == "mean" else 1.0 - min(known)

    @property
    def worst(self) -> ClaimAgreement | None:
        """The claim with the least agreement, the first of equals; None when no claim could be judged."""
        known = [one for one in self.claims if one.agreement is not None]
        return min(known, key=lambda one: one.agreement or 0.0, default=None)

    def rethreshold(self, threshold: float) -> SelfConsistencyResult:
        """The same findings read with another threshold."""
        return replace(self, threshold=threshold)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON-ready values.

        Returns:
            `aggregate`, `value`, `threshold`, `measures`, `worst` (a position) and `claims`, each with `text`, `start`,
            `end`, `agreement`, `not_contradicted`, `score` (1 - agreement), `flagged`, `per_sample`, `against` and
            `support`. Where `measures` is "contradiction" the share of samples stands in `not_contradicted`, and
            `agreement` and `support` are None; else `not_contradicted` is.
        """
        worst = self.worst
        flagged = self.flagged
        supporting = self.measures == "support"
        return {
            "aggregate": self.aggregate,
            "value": self.value,
            "threshold": self.threshold,
            "measures": self.measures,
            "worst": None if worst is None else next(i for i, one in enumerate(self.claims) if one is worst),
            "claims": [
                {
                    **asdict(one.claim),
                    "agreement": one.agreement if supporting else None,
                    "not_contradicted": None if supporting else one.agreement,
                    "score": None if one.agreement is None else 1.0 - one.agreement,
                    "flagged": any(one is other for other in flagged),
                    "per_sample": list(one.per_sample),
                    "against": None if one.against is None else asdict(one.against),
                    "support": None if one.support is None else asdict(one.support),
                }
                for one in self.claims
            ],
        }
