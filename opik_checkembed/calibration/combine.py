"""Several scores of one answer as one number, with what each adds to it and what must be said about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from opik_checkembed.calibration.model import Calibration
from opik_checkembed.errors import ItemError


@dataclass(frozen=True, slots=True)
class Combined:
    """One number from several.

    Attributes:
        value: 0 consistent to 1 hallucinated.
        scores: The scores that were read, by name.
        contributions: What each adds: to the value for a mean, to the log-odds for a calibration, to the mean of
            deviations for moments. Empty where nothing is added up.
        notes: What a reader must know.
    """

    value: float
    scores: Mapping[str, float]
    contributions: Mapping[str, float]
    notes: tuple[str, ...] = ()


class Combination(Protocol):
    """A way of making one number of several."""

    def combine(self, scores: Mapping[str, float | None]) -> Combined:
        """Make one number of the scores that are there.

        Raises:
            ItemError: Too few are there.
        """
        ...

    def sentence(self, combined: Combined) -> str:
        """What the number says, in one clause."""
        ...


@dataclass(frozen=True)
class WeightedMean:
    """The mean of scores from 0 to 1 as they are, each turned so that 1 means hallucinated; no probability.

    A score whose values crowd moves it less than one whose values spread; moments (`fit_moments`) even that out.

    Attributes:
        weights: By score name, 0 or more; not all 0.
        directions: `higher_is_better` by score name.

    Example:
        >>> mean = WeightedMean({"agreement": 1.0, "doubt": 3.0}, {"agreement": True, "doubt": False})
        >>> mean.combine({"agreement": 0.75, "doubt": 0.5}).value
        0.4375
        >>> mean.combine({"agreement": 0.75, "doubt": None}).value
        0.25
    """

    weights: Mapping[str, float]
    directions: Mapping[str, bool]

    def combine(self, scores: Mapping[str, float | None]) -> Combined:
        """The mean over the scores that are there; see `Combination`."""
        there = {name: value for name in self.weights if (value := scores.get(name)) is not None}
        total = math.fsum(self.weights[name] for name in there)
        if total == 0:
            raise ItemError("no part with a weight has a score")
        outside = [name for name, value in there.items() if not 0 <= value <= 1]
        turned = {name: min(1.0, max(0.0, value)) for name, value in there.items()}
        turned = {name: 1 - value if self.directions[name] else value for name, value in turned.items()}
        added = {name: self.weights[name] * value / total for name, value in turned.items()}
        notes = [f"{name} is {there[name]:.3f} and counts as {min(1, max(0, there[name])):g}" for name in outside]
        return Combined(min(1.0, math.fsum(added.values())), there, added, tuple(notes))

    def sentence(self, combined: Combined) -> str:
        """See `Combination`."""
        kind = "plain" if len(set(self.weights.values())) == 1 else "weighted"
        return (
            f"{combined.value:.3f} (0 consistent to 1 hallucinated, lower is better), the {kind} mean of the parts' "
            f"scores, not a calibrated probability: {_listed(combined, '+.3f')}"
        )


@dataclass(frozen=True)
class Calibrated:
    """A calibration, which may go on without some of its scores.

    Attributes:
        calibration: What makes the probability.
    """

    calibration: Calibration

    def combine(self, scores: Mapping[str, float | None]) -> Combined:
        """The probability, with a score that is not there at its mean: it then says nothing. See `Combination`.

        Moments are read of the scores that are there alone.
        """
        own = self.calibration
        missing = own.missing(scores)
        if len(missing) == len(own.names) or (missing and not own.adds):
            raise ItemError(f"the calibration {own.name!r} has no value of {', '.join(missing)}")
        there = {name: value for name in own.names if (value := scores.get(name)) is not None}
        if own.method == "moments":
            left = replace(own, features=tuple(feature for feature in own.features if feature.name in there))
            notes = (f"{', '.join(missing)} is left out of the mean",) if missing else ()
            return Combined(left.probability(there), there, left.contributions(there), notes)
        filled = {**own.means, **there}
        contributions = {name: one for name, one in own.contributions(filled).items() if name in there}
        notes = (f"{', '.join(missing)} counts as its mean, which says nothing",) if missing else ()
        return Combined(own.probability(filled), there, contributions, notes)

    def sentence(self, combined: Combined) -> str:
        """See `Combination`."""
        own = self.calibration
        flagged = combined.value >= own.threshold
        if own.method == "threshold":
            return (
                f"The rule {own.name!r} {'flags' if flagged else 'passes'} the answer (1 flagged, 0 passed; a rule, "
                f"not a probability): {_listed(combined, '+.1f')}"
            )
        value, cut = _told_apart(combined.value, own.threshold)
        verdict = f"{'flagged' if flagged else 'not flagged'} at {cut}, "
        if own.method == "moments":
            beyond = math.fsum(combined.contributions.values())
            return (
                f"{value} (0 consistent to 1 hallucinated, lower is better; 0.5 is as doubtful as the mean of the "
                f"answers behind {own.name!r}), {verdict if own.threshold <= 1 else ''}no probability; the scores are "
                f"on average {abs(beyond):.2f} standard deviations {'less' if beyond < 0 else 'more'} doubtful than "
                f"there: {_listed(combined, '+.2f')}"
            )
        base = f"; the rest of the log-odds is {own.intercept:+.1f}" if own.coefficients else ""
        return (
            f"The answer is hallucinated with probability {value} (lower is better), {verdict}by the calibration "
            f"{own.name!r} ({own.method}): {_listed(combined, '+.1f')}{base}"
        )


def _told_apart(value: float, threshold: float) -> tuple[str, str]:
    """Both as texts of three digits, or of as many more as show on which side of the threshold the value is."""
    for digits in range(3, 17):
        one, other = f"{value:.{digits}f}", f"{threshold:.{digits}f}"
        if one != other or value == threshold:
            return one, other
    return repr(value), repr(threshold)


def _listed(combined: Combined, form: str) -> str:
    """The scores with what each adds, the largest first."""
    added = combined.contributions
    names = sorted(combined.scores, key=lambda name: -abs(added.get(name, 0.0)))
    return ", ".join(
        f"{name} {combined.scores[name]:.2f}" + (f" ({added[name]:{form}})" if name in added else "") for name in names
    )
