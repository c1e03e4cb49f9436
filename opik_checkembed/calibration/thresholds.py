"""Where to cut: the score from which answers are flagged, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import numpy as np
from numpy.typing import ArrayLike

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.results import finite

# All digits that any float has before the point, and those after it that are still read by people.
_EXACT = Context(prec=400)
_MOST_DIGITS = 18


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """A threshold and what it does to the labelled answers it was chosen on.

    Attributes:
        threshold: Answers with this score or one that is worse are flagged.
        tpr: Share of the hallucinated answers that are flagged (recall).
        fpr: Share of the right answers that are flagged.
        precision: Share of the flagged answers that are hallucinated; None where none is flagged.
        f1: Harmonic mean of precision and recall; 0 where none is flagged.
        flagged: Answers flagged.
        beyond: The score nearest to the threshold that is not flagged; None where all are, or none is.
    """

    threshold: float
    tpr: float
    fpr: float
    precision: float | None
    f1: float
    flagged: int
    beyond: float | None = None


def threshold_at_fpr(
    scores: ArrayLike, labels: ArrayLike, fpr: float, *, higher_is_better: bool = False
) -> OperatingPoint:
    """The threshold that flags most, with at most this share of the right answers among the flagged.

    Where even the worst score is shared by more right answers than that, no answer is flagged.

    Args:
        scores: Shape (n,).
        labels: Which answers are hallucinated, shape (n,).
        fpr: The wanted false positive rate, 0 to 1.
        higher_is_better: The scores' direction; probabilities of hallucination are better low.

    Raises:
        ConfigurationError: `fpr` is no share, or the scores and labels are none that `operating_points` takes.

    Example:
        >>> threshold_at_fpr([0.9, 0.8, 0.7, 0.1], [True, False, True, False], fpr=0.5)
        OperatingPoint(threshold=0.7, tpr=1.0, fpr=0.5, precision=0.666..., f1=0.8, flagged=3, beyond=0.1)
    """
    rate = finite(fpr)
    if rate is None or not 0 <= rate <= 1:
        raise ConfigurationError(f"a false positive rate must be from 0 to 1, not {fpr!r}")
    # The points go from none flagged to all; the last one that is allowed flags most.
    return [point for point in operating_points(scores, labels, higher_is_better) if point.fpr <= rate][-1]


def threshold_best_f1(scores: ArrayLike, labels: ArrayLike, *, higher_is_better: bool = False) -> OperatingPoint:
    """The threshold with the best F1 for hallucinated answers; of several the one that flags least.

    Arguments are as in `threshold_at_fpr`.

    Raises:
        ConfigurationError: The scores and labels are none that `operating_points` takes.

    Example:
        >>> threshold_best_f1([0.9, 0.8, 0.7, 0.1], [True, False, True, False]).threshold
        0.7
    """
    return max(operating_points(scores, labels, higher_is_better), key=lambda point: point.f1)


def operating_points(scores: ArrayLike, labels: ArrayLike, higher_is_better: bool = False) -> Sequence[OperatingPoint]:
    """One point for each distinct score, from the worst on, after one that flags nothing: the ROC curve.

    Raises:
        ConfigurationError: The labels are of one class, no labels or not as many as scores, or a score is no number.
    """
    values, given = np.asarray(scores, dtype=np.float64), np.asarray(labels)
    if given.shape != values.shape or not np.isin(given, (0, 1)).all():
        raise ConfigurationError(f"{values.size} scores need as many labels, each True (hallucinated) or False")
    worse = -values if higher_is_better else values
    hallucinated = given.astype(np.bool_)
    if not np.isfinite(values).all():
        raise ConfigurationError("a threshold needs scores that are numbers: leave out the answers without one")
    positives, negatives = int(hallucinated.sum()), int((~hallucinated).sum())
    if not positives or not negatives:
        raise ConfigurationError("a threshold needs labelled answers of both classes, hallucinated and right")
    order = np.argsort(-worse, kind="stable")
    last = np.append(np.flatnonzero(np.diff(worse[order])), len(order) - 1)
    hits = np.cumsum(hallucinated[order])[last]
    taken = last + 1
    nothing = float(np.nextafter(worse.max(), np.inf))
    points = [OperatingPoint(-nothing if higher_is_better else nothing, 0.0, 0.0, None, 0.0, 0)]
    beyond = [*values[order[last[1:]]].tolist(), None]
    for at, hit, flagged, left in zip(last.tolist(), hits.tolist(), taken.tolist(), beyond, strict=True):
        points.append(
            OperatingPoint(
                threshold=float(values[order[at]]),
                tpr=hit / positives,
                fpr=(flagged - hit) / negatives,
                precision=hit / flagged,
                f1=2 * hit / (flagged + positives),
                flagged=flagged,
                beyond=left,
            )
        )
    return points


def threshold_text(point: OperatingPoint, higher_is_better: bool = False, digits: int = 3) -> str:
    """The point's threshold in decimals, as few as flag the same answers when they are read back, `digits` at least.

    Example:
        >>> threshold_text(OperatingPoint(0.99987, 0.5, 0.0, 1.0, 0.67, 10, beyond=0.99981))
        '0.99987'
        >>> threshold_text(OperatingPoint(0.99987, 0.5, 0.0, 1.0, 0.67, 10, beyond=0.75))
        '0.999'
    """
    exact = Decimal(repr(point.threshold))
    # Towards what is not flagged, so that the threshold itself stays flagged.
    rounding = ROUND_CEILING if higher_is_better else ROUND_FLOOR
    for places in range(digits, _MOST_DIGITS):
        text = format(exact.quantize(Decimal(1).scaleb(-places), rounding=rounding, context=_EXACT), "f")
        read, left = float(text), point.beyond
        if left is None or (read < left if higher_is_better else read > left):
            return text
    return repr(point.threshold)
