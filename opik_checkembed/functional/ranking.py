"""How well scores rank labelled passages and sentences, with intervals from resampled passages.

Every statistic takes weights: how often each observation counts. A bootstrap draws whole passages with replacement, so
a resample is nothing but a row of weights, and all resamples are computed at once from one sorting of the scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.float64]

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic with its bootstrap interval.

    Attributes:
        value: The statistic over all observations; None where it is undefined, as a correlation of equal scores is.
        low: Lower end of the 95 % interval; None where no resample has a value.
        high: Upper end.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


def pearson(x: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> Array:
    """Pearson's correlation, -1 to 1; NaN where either side is constant.

    Args:
        x: Shape (n,), or (..., n) with one row for each row of the weights.
        y: The same.
        weights: How often each observation counts, shape (..., n); None counts each once.

    Returns:
        Shape (...): one correlation for each row of weights.

    Example:
        >>> round(float(pearson([1, 2, 3], [1, 2, 4])), 4)
        0.982
        >>> pearson([1, 2, 3], [1, 2, 4], weights=[[1, 1, 0], [0, 1, 0]]).tolist()
        [1.0, nan]
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    w = _weights(weights, a.shape[-1])
    varies = _varies(a, w) & _varies(b, w)
    a, b = _centred(a, w), _centred(b, w)
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = (w * a * b).sum(-1) / np.sqrt((w * a * a).sum(-1) * (w * b * b).sum(-1))
    return np.where(varies, np.clip(correlation, -1.0, 1.0), np.nan)


def spearman(x: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> Array:
    """Spearman's rank correlation, -1 to 1: Pearson's over ranks, equal values sharing their mean rank.

    Ranks are those within each resample. Arguments and result are as in `pearson`.

    Example:
        >>> float(spearman([1, 2, 9], [5, 6, 7]))
        1.0
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    w = _weights(weights, a.shape[-1])
    return pearson(_ranks(a, w), _ranks(b, w), w)


def precision_recall_area(positive: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> Array:
    """Area under the precision-recall curve by the trapezoid rule, 0 to 1, as SelfCheckGPT's tables have it.

    The curve starts at recall 0 with precision 1 and has one point for each distinct score. A straight line between
    points is optimistic where many scores are equal: constant scores get (1 + p) / 2, p being the share of positives,
    while a random order gets p. `average_precision` of scikit-learn is another number.

    Args:
        positive: Which observations are to be found, shape (n,).
        scores: Higher means more likely positive, shape (n,).
        weights: As in `pearson`.

    Returns:
        Shape (...); NaN where no observation is positive.

    Example:
        >>> float(precision_recall_area([True, False, True], [0.9, 0.8, 0.7]))
        0.791...
    """
    found, taken = _curve(positive, scores, weights)
    start = np.zeros((*found.shape[:-1], 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        recall = np.concatenate([start, found / found[..., -1:]], axis=-1)
        # Scores that a resample lacks above its first add nothing: recall stays 0 and precision 1.
        precision = np.concatenate([start + 1, np.where(taken > 0, found / taken, 1.0)], axis=-1)
    steps = np.diff(recall, axis=-1) * (precision[..., 1:] + precision[..., :-1]) / 2
    area: Array = steps.sum(-1)
    return area


def average_precision(positive: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> Array:
    """Area under the precision-recall curve by steps, 0 to 1: the mean precision at which a positive is found.

    Constant scores get the share of positives, as a random order does, so that ties make nothing look better than it
    is; the published tables' `precision_recall_area` is kinder. Arguments and result are as there.

    Example:
        >>> round(float(average_precision([True, False, True], [0.9, 0.8, 0.7])), 4)
        0.8333
    """
    found, taken = _curve(positive, scores, weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.where(taken > 0, found / taken, 0.0)
        area: Array = (np.diff(found, axis=-1, prepend=0.0) * precision).sum(-1) / found[..., -1]
    return area


def auroc(positive: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> Array:
    """Area under the ROC curve, 0 to 1: how often a positive scores higher than a negative, equal scores for half.

    Args:
        positive: Which observations are to be found, shape (n,).
        scores: Higher means more likely positive, shape (n,).
        weights: As in `pearson`.

    Returns:
        Shape (...); NaN where all observations are positive, or none.

    Example:
        >>> float(auroc([True, False, True, False], [0.9, 0.8, 0.8, 0.1]))
        0.875
    """
    found, taken = _curve(positive, scores, weights)
    missed = np.diff(taken - found, axis=-1, prepend=0.0)
    before = found - np.diff(found, axis=-1, prepend=0.0) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        area: Array = (missed * before).sum(-1) / (found[..., -1] * (taken - found)[..., -1])
    return area


def prevalence(positive: ArrayLike, weights: ArrayLike | None = None) -> Array:
    """Share of positives: the area that scores in random order are expected to get.

    Example:
        >>> float(prevalence([True, False, False, True]))
        0.5
    """
    labels = np.asarray(positive, dtype=np.float64)
    w = _weights(weights, len(labels))
    with np.errstate(invalid="ignore"):
        share: Array = (w * labels).sum(-1) / w.sum(-1)
    return share


def resampled(passages: int, resamples: int, seed: int) -> NDArray[np.int64]:
    """How often each passage is drawn in each bootstrap resample.

    Args:
        passages: Number of passages, above 0.
        resamples: Number of resamples.
        seed: Equal seeds give equal draws.

    Returns:
        Shape (resamples, passages); every row sums to `passages`.

    Example:
        >>> resampled(4, 2, seed=0).sum(axis=1).tolist()
        [4, 4]
    """
    return np.random.default_rng(seed).multinomial(passages, np.full(passages, 1 / passages), size=resamples)


def estimate(statistic: Callable[[Array], Array], draws: ArrayLike, within: ArrayLike | None = None) -> Estimate:
    """A statistic over all observations, with the percentile interval of its bootstrap distribution.

    Resamples in which the statistic is undefined are left out.

    Args:
        statistic: Takes weights of shape (..., n) and returns shape (...).
        draws: How often each passage is drawn, shape (resamples, passages); see `resampled`.
        within: The passage of each observation, shape (n,), where observations are parts of passages.

    Example:
        >>> draws = resampled(3, 200, seed=0)
        >>> found = estimate(lambda w: prevalence([1, 0, 0, 1], w), draws, within=[0, 0, 1, 2])
        >>> found.value, found.low <= found.value <= found.high
        (0.5, True)
    """
    rows = np.asarray(draws, dtype=np.float64)
    if within is not None:
        rows = rows[:, np.asarray(within, dtype=np.intp)]
    value = float(statistic(np.ones(rows.shape[1])))
    if np.isnan(value):
        return Estimate(None)
    spread = statistic(rows)
    spread = spread[~np.isnan(spread)]
    if not len(spread):
        return Estimate(value)
    low, high = np.quantile(spread, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(value, float(low), float(high))


def _curve(positive: ArrayLike, scores: ArrayLike, weights: ArrayLike | None) -> tuple[Array, Array]:
    """Down to each distinct score, highest first: positives found and observations taken, shape (..., scores)."""
    values = np.asarray(scores, dtype=np.float64)
    order = np.argsort(-values, kind="stable")
    values = values[order]
    last = np.append(np.flatnonzero(np.diff(values)), len(values) - 1)
    w = _weights(weights, len(values))[..., order]
    found = np.cumsum(w * np.asarray(positive, dtype=np.float64)[order], axis=-1)[..., last]
    taken = np.cumsum(w, axis=-1)[..., last]
    return found, taken


def _weights(weights: ArrayLike | None, count: int) -> Array:
    return np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)


def _varies(values: Array, weights: Array) -> NDArray[np.bool_]:
    """Whether the counted values differ; exact, where a variance of equal values may be a rounding error."""
    counted = weights > 0
    highest = np.where(counted, values, -np.inf).max(-1)
    lowest = np.where(counted, values, np.inf).min(-1)
    differ: NDArray[np.bool_] = highest > lowest
    return differ


def _centred(values: Array, weights: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (weights * values).sum(-1, keepdims=True) / weights.sum(-1, keepdims=True)
    centred: Array = values - means
    return centred


def _ranks(values: Array, weights: Array) -> Array:
    """Mean ranks of the values when each stands as often as its weight says."""
    distinct, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(distinct)))
    held = np.add.reduceat(weights[..., order], starts, axis=-1)
    ranks: Array = (np.cumsum(held, axis=-1) - held + (held + 1) / 2)[..., place]
    return ranks
