"""The figures of `bench ragtruth`, worked out by hand on eight responses to four sources."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score

from opik_checkembed.benchmarks.ragtruth_figures import (
    Detection,
    Observed,
    always_flagged,
    balanced_accuracy,
    detection,
    f1,
    fitted_thresholds,
    halves,
)

POSITIVE = np.array([1, 1, 0, 0, 1, 0, 0, 1], dtype=np.bool_)
SCORES = np.array([0.9, 0.6, 0.5, 0.1, 0.8, 0.7, 0.2, 0.3])
HALF = np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=np.bool_)


def seen(
    source: str, score: float, annotated: Sequence[tuple[int, int]], marked: Sequence[tuple[int, int]]
) -> Observed:
    return Observed(source, 10, annotated, score, lambda _: marked)


def test_thresholds_are_fitted_on_the_other_half() -> None:
    # On the second half (.8 .7 .2 .3; + - - +) flagging from .8 or from .3 gets .75: the one that flags least counts.
    # On the first (.9 .6 .5 .1; + + - -) .6 tells all apart.
    assert fitted_thresholds(POSITIVE, SCORES, HALF) == (0.8, 0.6)


def test_no_threshold_without_both_classes_in_both_halves() -> None:
    assert fitted_thresholds(POSITIVE, SCORES, POSITIVE) is None
    assert fitted_thresholds(np.ones(8, dtype=np.bool_), SCORES, HALF) is None


def test_balanced_accuracy_and_f1_are_averaged_over_the_halves() -> None:
    flagged = np.where(HALF, 0.6, 0.8) <= SCORES
    ones = np.ones(8)
    # First half: 1 of 2 hallucinated and 2 of 2 faithful; second: 1 of 2 and 1 of 2.
    assert float(balanced_accuracy(POSITIVE, flagged, HALF, ones)) == pytest.approx((0.75 + 0.5) / 2)
    assert float(f1(POSITIVE, flagged, HALF, ones)) == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert float(f1(~POSITIVE, ~flagged, HALF, ones)) == pytest.approx((4 / 5 + 1 / 2) / 2)
    for inside, accuracy, score in ((~HALF, 0.75, 2 / 3), (HALF, 0.5, 1 / 2)):
        assert balanced_accuracy_score(POSITIVE[inside], flagged[inside]) == pytest.approx(accuracy)
        assert f1_score(POSITIVE[inside], flagged[inside]) == pytest.approx(score)
    # A resample without a class in a half has no balanced accuracy.
    assert np.isnan(balanced_accuracy(POSITIVE, flagged, HALF, [0, 0, 1, 1, 1, 1, 1, 1]))


def test_halves_differ_by_one_source_at_most_and_by_the_seed() -> None:
    assert [int(halves(n, seed=0).sum()) for n in (1, 2, 7)] == [0, 1, 3]
    assert halves(50, seed=0).tolist() == halves(50, seed=0).tolist()
    assert halves(50, seed=0).tolist() != halves(50, seed=1).tolist()


def test_spans_are_compared_character_by_character() -> None:
    responses = [
        seen("a", 0.9, [(0, 4)], [(2, 6)]),  # 2 in both, 4 marked, 4 annotated
        seen("a", 0.1, [], [(0, 1)]),  # 1 marked
        seen("b", 0.8, [(0, 2), (1, 3)], [(0, 3), (2, 3)]),  # overlapping spans count once: 3, 3, 3
        seen("b", 0.2, [], []),
    ]
    found = detection(responses, resamples=20, seed=0)
    figures = [found.column(name) for name in ("span_precision", "span_recall", "span_f1")]
    assert [one and one.value for one in figures] == pytest.approx([100 * 5 / 8, 100 * 5 / 7, 100 * 10 / 15])
    assert found.auroc is not None
    assert found.auroc.value == 100.0
    # The threshold of one half is .9, which misses the .8 of the other; that of the other, .8, misses nothing.
    assert found.balanced_accuracy is not None
    assert found.balanced_accuracy.value == 75.0


def test_a_signal_may_mark_by_its_threshold() -> None:
    def marking(source: str, score: float, annotated: Sequence[tuple[int, int]]) -> Observed:
        return Observed(source, 10, annotated, score, lambda threshold: [(0, 5)] if score >= threshold else [])

    found = detection(
        [marking("a", 0.9, [(0, 5)]), marking("a", 0.1, []), marking("b", 0.7, [(0, 5)]), marking("b", 0.2, [])], 20, 0
    )
    # The first half's threshold is .7 or .9: from the half where it is .9 nothing else reaches it.
    assert found.span_precision is not None
    assert found.span_precision.value == 100.0
    assert found.span_recall is not None
    assert found.span_recall.value == 50.0


def test_responses_that_mark_nothing_have_no_span_figures() -> None:
    plain = [
        Observed(str(n), 10, [(0, 1)] * bool(one), float(s))
        for n, (one, s) in enumerate(zip(POSITIVE, SCORES, strict=True))
    ]
    found = detection(plain, resamples=50, seed=3)
    assert (found.span_precision, found.span_recall, found.span_f1) == (None, None, None)
    assert found.auroc is not None
    assert found.auroc.value == pytest.approx(100 * roc_auc_score(POSITIVE, SCORES))
    assert found.auroc.low is not None
    assert found.auroc.low < 100 * roc_auc_score(POSITIVE, SCORES)


def test_calling_everything_hallucinated() -> None:
    responses = [
        seen("a", 0.9, [(0, 4)], []),
        seen("a", 0.8, [], []),
        seen("b", 0.5, [(0, 2)], []),
        seen("b", 0.4, [], []),
    ]
    found = always_flagged(responses, resamples=20, seed=0)
    values = {name: None if one is None else one["value"] for name, one in found.to_dict().items()}
    assert values == pytest.approx(
        {
            "auroc": 50.0,
            "auc_pr": 50.0,
            "balanced_accuracy": 50.0,
            "f1_hallucinated": 100 * 2 / 3,
            "f1_faithful": 0.0,
            "span_precision": 100 * 6 / 40,
            "span_recall": 100.0,
            "span_f1": 100 * 12 / 46,
        }
    )


def test_nothing_scored_and_one_class_have_no_figures() -> None:
    assert detection([], resamples=10, seed=0) == Detection()
    faithful = detection([seen("a", 0.5, [], []), seen("b", 0.4, [], [])], resamples=10, seed=0)
    assert faithful.auroc is not None
    assert faithful.auroc.value is None
    assert faithful.balanced_accuracy is None
