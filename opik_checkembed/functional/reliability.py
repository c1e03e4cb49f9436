"""How good probabilities are: do they come true?

Every statistic takes weights, how often each observation counts, so that all resamples of a bootstrap are computed at
once. A label says what happened: here, that the answer was hallucinated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.float64]

BINS = 10

# A bin of fewer observations says more about chance than about the probabilities.
_FEWEST_IN_BIN = 15

# Two standard deviations of the normal distribution hold 95 % of it.
_Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Observations with probabilities close to each other, and how often what they announce happened.

    Attributes:
        count: Observations.
        low: The smallest probability among them.
        high: The largest.
        predicted: Their mean probability.
        observed: The share of them with a positive label.
        observed_low: Lower end of its 95 % Wilson interval.
        observed_high: Upper end.
    """

    count: int
    low: float
    high: float
    predicted: float
    observed: float
    observed_low: float
    observed_high: float


def reliability_bins(labels: ArrayLike, probabilities: ArrayLike, bins: int = BINS) -> tuple[ReliabilityBin, ...]:
    """The bins of a reliability diagram, from the smallest probabilities to the largest.

    Bins are of equal mass: each holds about as many observations, however the probabilities crowd. Equal probabilities
    stay together, so there may be fewer bins than asked for; and there are no more than leave each 15 observations.
    The intervals take observations as independent; where several belong to one passage they are too narrow.

    Args:
        labels: What happened, shape (n,), n above 0.
        probabilities: What was announced, shape (n,), 0 to 1.
        bins: The most bins.

    Source: Nixon et al., "Measuring Calibration in Deep Learning" (CVPR workshops 2019), on bins of equal mass.

    Example:
        >>> [(b.count, b.predicted, b.observed) for b in reliability_bins([0, 1] * 20, [0.25] * 20 + [0.75] * 20)]
        [(20, 0.25, 0.5), (20, 0.75, 0.5)]
    """
    happened, p = np.asarray(labels, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    place = _equal_mass(p, bins)
    found = []
    for number in range(place.max() + 1):
        inside = place == number
        count, observed = int(inside.sum()), float(happened[inside].mean())
        low, high = wilson_interval(observed, count)
        found.append(
            ReliabilityBin(
                count=count,
                low=float(p[inside].min()),
                high=float(p[inside].max()),
                predicted=float(p[inside].mean()),
                observed=observed,
                observed_low=low,
                observed_high=high,
            )
        )
    return tuple(found)


def expected_calibration_error(
    labels: ArrayLike, probabilities: ArrayLike, weights: ArrayLike | None = None, bins: int = BINS
) -> Array:
    """How far probabilities are from the shares they announce: 0 (they come true) to 1.

    The mean over the observations of |share of positive labels - mean probability| of their bin; bins are those of
    `reliability_bins`, and stay the same in all resamples. Chance alone raises it, the more the fewer observations
    there are, so that probabilities that come true do not get 0: compare it between methods on the same data. With
    fewer than 30 observations there is one bin, in which right and wrong probabilities cancel out, and so no figure.

    Args:
        labels: What happened, shape (n,).
        probabilities: What was announced, shape (n,), 0 to 1.
        weights: How often each observation counts, shape (..., n); None counts each once.
        bins: The most bins.

    Returns:
        Shape (...): one figure for each row of weights; NaN where nothing counts, or there are too few observations
        for two bins.

    Example:
        >>> float(expected_calibration_error([0, 1] * 20, [0.25] * 20 + [0.75] * 20))
        0.25
    """
    p = np.asarray(probabilities, dtype=np.float64)
    w = _weights(weights, len(p))
    if len(p) < 2 * _FEWEST_IN_BIN:
        return np.full(w.shape[:-1], np.nan)
    place = _equal_mass(p, bins)
    apart = w * (p - np.asarray(labels, dtype=np.float64))
    gaps = np.stack([np.abs(apart[..., place == number].sum(-1)) for number in range(place.max() + 1)], axis=-1)
    return _mean(gaps.sum(-1), w)


def brier(labels: ArrayLike, probabilities: ArrayLike, weights: ArrayLike | None = None) -> Array:
    """The mean squared distance of probabilities from what happened: 0 (all right and sure) to 1.

    Always announcing the share s of positive labels gets s (1 - s), at most .25. Arguments and result are as in
    `expected_calibration_error`.

    Source: Brier, "Verification of forecasts expressed in terms of probability" (1950).

    Example:
        >>> float(brier([1, 0], [0.5, 0.0]))
        0.125
    """
    p = np.asarray(probabilities, dtype=np.float64)
    w = _weights(weights, len(p))
    return _mean((w * (p - np.asarray(labels, dtype=np.float64)) ** 2).sum(-1), w)


def wilson_interval(share: float, count: int) -> tuple[float, float]:
    """The 95 % interval of a share, which stays within 0 and 1 and has a width also where all or none were positive.

    Args:
        share: The share of positives.
        count: Of how many observations, above 0.

    Source: Wilson, "Probable inference, the law of succession, and statistical inference" (1927).

    Example:
        >>> [round(end, 3) for end in wilson_interval(0.0, 10)]
        [0.0, 0.278]
    """
    middle = share + _Z * _Z / (2 * count)
    reach = _Z * math.sqrt(share * (1 - share) / count + _Z * _Z / (4 * count * count))
    scale = 1 + _Z * _Z / count
    return max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)


def _equal_mass(probabilities: Array, bins: int) -> NDArray[np.intp]:
    """The bin of each observation, numbered without gaps; equal probabilities share the bin of their mean rank."""
    count = max(1, min(bins, len(probabilities) // _FEWEST_IN_BIN))
    _, place, times = np.unique(probabilities, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(times) - times / 2) / len(probabilities)
    numbers = (ranks * count).astype(np.intp)[place]
    return np.unique(numbers, return_inverse=True)[1].astype(np.intp)


def _weights(weights: ArrayLike | None, count: int) -> Array:
    return np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)


def _mean(total: Array, weights: Array) -> Array:
    with np.errstate(invalid="ignore"):
        mean: Array = total / weights.sum(-1)
    return mean
