"""From a comparison to yes or no: what a gate says, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.gate.comparison import Comparison, Verdict
from opik_checkembed.gate.thresholds import Threshold


class Outcome(IntEnum):
    """What a gate says; the number is the command's exit code."""

    PASSED = 0
    WORSE = 1
    CANNOT_TELL = 2

    @property
    def words(self) -> str:
        """In words, for a heading."""
        return {0: "passed", 1: "worse", 2: "cannot tell"}[self]


@dataclass(frozen=True)
class ThresholdCheck:
    """A threshold held against the candidate.

    Attributes:
        threshold: What was wanted.
        value: The candidate's mean over the paired items; None where none has a value.
    """

    threshold: Threshold
    value: float | None

    @property
    def passed(self) -> bool:
        """Whether there is a value, and it keeps to the limit."""
        return self.value is not None and self.threshold.holds(self.value)

    @property
    def shown(self) -> str:
        """The value with as many digits as tell it from the limit."""
        return "-" if self.value is None else self.threshold.shown(self.value)


@dataclass(frozen=True)
class Decision:
    """What a gate says of a comparison.

    Attributes:
        outcome: Passed, worse or cannot tell.
        reasons: Why, one sentence each; for a pass, what a reader must still know.
        complete: Whether no more items lack a score, or are on one side only, than may.
        thresholds: The thresholds with what the candidate has.
    """

    outcome: Outcome
    reasons: tuple[str, ...]
    complete: bool = True
    thresholds: tuple[ThresholdCheck, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """`outcome` (in words), `exit_code`, `reasons`, `complete`, `thresholds` (`threshold`, `value`, `passed`)."""
        return {
            "outcome": self.outcome.words,
            "exit_code": int(self.outcome),
            "reasons": list(self.reasons),
            "complete": self.complete,
            "thresholds": [
                {"threshold": str(one.threshold), "value": one.value, "passed": one.passed} for one in self.thresholds
            ],
        }


def decide(
    comparison: Comparison,
    thresholds: Sequence[Threshold] = (),
    *,
    allow_unscored: int = 0,
    allow_missing: int = 0,
    fail_on_underpowered: bool = False,
) -> Decision:
    """What a gate says.

    The first row that holds decides; what the rows below it found is among the reasons all the same.

    ======================================================================== ===========
    what holds                                                               outcome
    ======================================================================== ===========
    more items than `allow_unscored` lack a score on either side             cannot tell
    more items than `allow_missing` are on one side only                     cannot tell
    a metric is worse, or the candidate does not keep to a threshold         worse
    a metric is underpowered, and `fail_on_underpowered`                     cannot tell
    a metric has fewer items with a value on both sides than any test needs  cannot tell
    a metric's whole interval is a loss beyond the margin, and yet the test
    over so few items does not call it significant                           cannot tell
    anything else                                                            passed
    ======================================================================== ===========

    What is underpowered for another reason passes with a word: small samples with an unsure difference are the normal
    case, and no sign of a loss.

    Items without a score come first, since those that an answer's change made unscorable may be the ones that got
    worse: the figures over the others are then no answer to the question.

    Args:
        comparison: The two runs compared.
        thresholds: Limits for the candidate's means over the paired items.
        allow_unscored: So many items may lack a score.
        allow_missing: So many items may be on one side only.
        fail_on_underpowered: Whether too few items to tell is a failure.

    Raises:
        ConfigurationError: A threshold is for a score that was not compared.
    """
    by_name = {one.name: one for one in comparison.metrics}
    unknown = [str(one) for one in thresholds if one.name not in by_name]
    if unknown:
        raise ConfigurationError(
            f"a threshold is given for what was not compared: {', '.join(unknown)}; there are {', '.join(by_name)}"
        )
    checks = tuple(ThresholdCheck(one, by_name[one.name].candidate_mean) for one in thresholds)
    worse = [one.name for one in comparison.metrics if one.verdict is Verdict.WORSE]
    unsure = [one for one in comparison.metrics if one.verdict is Verdict.UNDERPOWERED]
    unscored, paired = comparison.unscored_items, len(comparison.items)
    missing = len(comparison.only_baseline) + len(comparison.only_candidate)

    incomplete = []
    if len(unscored) > allow_unscored:
        incomplete.append(f"items without a score: {len(unscored)} of {paired} ({allow_unscored} allowed)")
    if missing > allow_missing:
        incomplete.append(f"items on one side only: {missing} ({allow_missing} allowed)")
    failed = [f"{name} is worse" for name in worse]
    failed += [
        f"{one.threshold} does not hold: the candidate has {one.shown}"
        for one in checks
        if one.value is not None and not one.passed
    ]
    # Those first that alone keep the gate from telling.
    blind = [one for one in unsure if one.keeps_from_telling]
    reasons = [one.unsure or "" for one in (*blind, *(one for one in unsure if one not in blind))]
    reasons += [f"{one.name}: {one.equal_words}" for one in comparison.metrics if one.equal_words and one not in unsure]

    silent = bool(blind) or (fail_on_underpowered and bool(unsure))
    if incomplete or (silent and not failed):
        outcome = Outcome.CANNOT_TELL
    else:
        outcome = Outcome.WORSE if failed else Outcome.PASSED
    return Decision(outcome, (*incomplete, *failed, *reasons), not incomplete, checks)
