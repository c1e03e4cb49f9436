"""How well scores and marked spans find hallucinations: the figures of `bench ragtruth`.

The positive class is *hallucinated*: a response with at least one annotated span. Intervals come from resampled
sources, because the responses to one source are alike. Thresholds are fitted on one half of the sources and used on the
other, both ways; they stay what they are in the resamples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opik_checkembed.benchmarks.table import Figures, percent
from opik_checkembed.calibration.thresholds import operating_points
from opik_checkembed.functional import ranking
from opik_checkembed.functional.ranking import Estimate

Array = NDArray[np.float64]
Marks = Callable[[float], Sequence[tuple[int, int]]]
"""The spans of a response that are marked at a threshold."""


@dataclass(frozen=True)
class Detection(Figures):
    """How well hallucinations are found, x100; None where there is no such figure.

    Attributes:
        auroc: How often a hallucinated response scores higher than a faithful one; 50 by chance.
        auc_pr: Average precision at which hallucinated responses are found; their share by chance.
        balanced_accuracy: Mean of the shares of hallucinated and of faithful responses that are told right, at the
            threshold that is best for it on the other half of the sources; 50 by chance.
        f1_hallucinated: F1 at that threshold with hallucinated responses as the ones to be found.
        f1_faithful: The same with faithful responses as the ones to be found.
        span_precision: Share of the marked characters that are annotated.
        span_recall: Share of the annotated characters that are marked.
        span_f1: The F1 of the two.
    """

    auroc: Estimate | None = None
    auc_pr: Estimate | None = None
    balanced_accuracy: Estimate | None = None
    f1_hallucinated: Estimate | None = None
    f1_faithful: Estimate | None = None
    span_precision: Estimate | None = None
    span_recall: Estimate | None = None
    span_f1: Estimate | None = None


@dataclass(frozen=True)
class Observed:
    """One response with what a signal gave it.

    Attributes:
        source: Which source it rests on.
        length: Its characters.
        annotated: Its annotated spans.
        score: Higher is more hallucinated.
        marks: The spans that the signal marks at a threshold; None for a signal that marks none.
    """

    source: str
    length: int
    annotated: Sequence[tuple[int, int]]
    score: float
    marks: Marks | None = None


def detection(
    seen: Sequence[Observed], resamples: int, seed: int, thresholds: tuple[float, float] | None = None
) -> Detection:
    """The figures of one signal over these responses.

    Args:
        seen: The responses that have a score; may be none.
        resamples: Bootstrap resamples of sources behind the intervals.
        seed: Of the resamples and of the halves.
        thresholds: For the two halves; None fits them, each on the other half.
    """
    if not seen:
        return Detection()
    positive = np.array([bool(one.annotated) for one in seen])
    scores = np.array([one.score for one in seen], dtype=np.float64)
    names = list(dict.fromkeys(one.source for one in seen))
    within = [names.index(one.source) for one in seen]
    draws = ranking.resampled(len(names), resamples, seed)

    def estimate(statistic: Callable[[Array], Array]) -> Estimate:
        return percent(ranking.estimate(statistic, draws, within))

    half = halves(len(names), seed)[within]
    thresholds = thresholds or fitted_thresholds(positive, scores, half)
    found: dict[str, Estimate] = {}
    if thresholds is not None:
        at = np.where(half, thresholds[1], thresholds[0])
        flagged = scores >= at
        found["balanced_accuracy"] = estimate(lambda w: balanced_accuracy(positive, flagged, half, w))
        found["f1_hallucinated"] = estimate(lambda w: f1(positive, flagged, half, w))
        found["f1_faithful"] = estimate(lambda w: f1(~positive, ~flagged, half, w))
        if all(one.marks is not None for one in seen):
            counts = np.array([_overlap(one, float(t)) for one, t in zip(seen, at, strict=True)], dtype=np.float64).T
            found |= {f"span_{name}": estimate(of) for name, of in _span_figures(*counts).items()}
    return Detection(
        auroc=estimate(lambda w: ranking.auroc(positive, scores, w)),
        auc_pr=estimate(lambda w: ranking.average_precision(positive, scores, w)),
        **found,
    )


def always_flagged(seen: Sequence[Observed], resamples: int, seed: int) -> Detection:
    """What calling every response hallucinated gets, from its first character to its last: the trivial baseline."""
    every = [Observed(one.source, one.length, one.annotated, 0.0, partial(_all, one.length)) for one in seen]
    return detection(every, resamples, seed, thresholds=(0.0, 0.0))


def _all(length: int, _: float) -> list[tuple[int, int]]:
    return [(0, length)]


def halves(sources: int, seed: int) -> NDArray[np.bool_]:
    """Which half each source is in, at random; they differ by one source at most.

    Example:
        >>> int(halves(6, seed=0).sum())
        3
    """
    half = np.zeros(sources, dtype=np.bool_)
    half[np.random.default_rng(seed).permutation(sources)[: sources // 2]] = True
    return half


def fitted_thresholds(
    positive: NDArray[np.bool_], scores: Array, half: NDArray[np.bool_]
) -> tuple[float, float] | None:
    """The thresholds for the two halves, each the best for balanced accuracy on the other; None where one has no class.

    Of several that are equally good the one that flags least is taken; responses at it or above are flagged.

    Args:
        positive: Shape (n,).
        scores: Shape (n,).
        half: The half of each response, shape (n,).

    Returns:
        For the half that is False, and for the other.
    """
    found = []
    for fitted_on in (True, False):
        inside = half == fitted_on
        if positive[inside].all() or not positive[inside].any():
            return None
        points = operating_points(scores[inside], positive[inside])
        found.append(max(points, key=lambda point: point.tpr - point.fpr).threshold)
    return found[0], found[1]


def balanced_accuracy(
    positive: NDArray[np.bool_], flagged: NDArray[np.bool_], half: NDArray[np.bool_], weights: ArrayLike
) -> Array:
    """Balanced accuracy within each half, averaged; shape (...) for weights of shape (..., n).

    NaN where a half has one class only.
    """
    w = np.asarray(weights, dtype=np.float64)
    right = positive == flagged
    with np.errstate(invalid="ignore"):
        shares = [
            _total(w, right & (positive == one) & (half == part)) / _total(w, (positive == one) & (half == part))
            for one in (True, False)
            for part in (True, False)
        ]
    mean: Array = sum(shares, np.zeros(())) / len(shares)
    return mean


def f1(wanted: NDArray[np.bool_], taken: NDArray[np.bool_], half: NDArray[np.bool_], weights: ArrayLike) -> Array:
    """F1 within each half, averaged; 0 where none of the wanted are taken; NaN where a half has none and takes none."""
    w = np.asarray(weights, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        parts = [
            2 * _total(w, wanted & taken & inside) / (_total(w, wanted & inside) + _total(w, taken & inside))
            for inside in (half, ~half)
        ]
    mean: Array = (parts[0] + parts[1]) / 2
    return mean


def _total(weights: Array, which: NDArray[np.bool_]) -> Array:
    total: Array = (weights * which).sum(-1)
    return total


def _overlap(one: Observed, threshold: float) -> tuple[int, int, int]:
    """Characters that are marked and annotated, that are marked, and that are annotated."""
    assert one.marks is not None
    marked, annotated = (_characters(spans, one.length) for spans in (one.marks(threshold), one.annotated))
    return int((marked & annotated).sum()), int(marked.sum()), int(annotated.sum())


def _characters(spans: Sequence[tuple[int, int]], length: int) -> NDArray[np.bool_]:
    inside = np.zeros(length, dtype=np.bool_)
    for start, end in spans:
        inside[start:end] = True
    return inside


def _span_figures(both: Array, marked: Array, annotated: Array) -> dict[str, Callable[[Array], Array]]:
    def share(part: Array, whole: Array, weights: Array) -> Array:
        with np.errstate(invalid="ignore"):
            found: Array = (weights * part).sum(-1) / (weights * whole).sum(-1)
        return found

    return {
        "precision": lambda w: share(both, marked, w),
        "recall": lambda w: share(both, annotated, w),
        "f1": lambda w: share(2 * both, marked + annotated, w),
    }
