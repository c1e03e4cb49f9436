from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from opik_checkembed.calibration import OperatingPoint, operating_points, threshold_at_fpr, threshold_best_f1
from opik_checkembed.calibration.thresholds import threshold_text
from opik_checkembed.errors import ConfigurationError

SCORES = [0.9, 0.8, 0.7, 0.7, 0.3, 0.1]
LABELS = [True, False, True, False, True, False]
OBSERVATIONS = st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=30).filter(
    lambda found: len({label for label, _ in found}) == 2
)


@pytest.mark.parametrize(
    ("fpr", "threshold", "tpr", "found"),
    [(0.0, 0.9, 1 / 3, 0.0), (0.34, 0.8, 1 / 3, 1 / 3), (0.67, 0.3, 1.0, 2 / 3), (1.0, 0.1, 1.0, 1.0)],
)
def test_the_threshold_flags_most_within_the_wanted_rate(
    fpr: float, threshold: float, tpr: float, found: float
) -> None:
    point = threshold_at_fpr(SCORES, LABELS, fpr)
    assert (point.threshold, point.tpr, point.fpr) == pytest.approx((threshold, tpr, found))


def test_a_score_that_too_many_share_flags_none() -> None:
    point = threshold_at_fpr([0.9, 0.9, 0.1], [True, False, False], 0.1)
    assert (point.flagged, point.tpr, point.fpr, point.precision, point.f1) == (0, 0.0, 0.0, None, 0.0)
    assert point.threshold > 0.9
    assert point.beyond is None
    turned = threshold_at_fpr([0.1, 0.1, 0.9], [True, False, False], 0.1, higher_is_better=True)
    assert turned.threshold < 0.1


def test_where_higher_is_better_the_low_ones_are_flagged() -> None:
    point = threshold_at_fpr([-score for score in SCORES], LABELS, 0.34, higher_is_better=True)
    assert (point.threshold, point.flagged) == (-0.8, 2)


def test_the_best_f1_is_worked_out_by_hand() -> None:
    # At .3: 3 of 5 flagged are hallucinated, and none is missed.
    point = threshold_best_f1(SCORES, LABELS)
    assert (point.threshold, point.precision, point.tpr, point.f1) == pytest.approx((0.3, 3 / 5, 1.0, 0.75))


def test_of_equal_f1_the_one_that_flags_least() -> None:
    # 2 / 3 at .9 (one of one, half of them found) and at .1 (both of four).
    assert threshold_best_f1([0.9, 0.8, 0.7, 0.1], [True, False, False, True]).threshold == 0.9


@given(OBSERVATIONS, st.booleans(), st.floats(0, 1))
@settings(max_examples=80, deadline=None)
def test_points_are_what_flagging_by_them_gives(observed: list[tuple[bool, int]], turned: bool, fpr: float) -> None:
    labels = np.array([label for label, _ in observed])
    scores = np.array([score for _, score in observed], dtype=np.float64)
    points = operating_points(scores, labels, turned)
    for point in points:
        flagged = scores <= point.threshold if turned else scores >= point.threshold
        assert point.flagged == flagged.sum()
        assert point.tpr == pytest.approx(flagged[labels].mean())
        assert point.fpr == pytest.approx(flagged[~labels].mean())
        assert point.f1 == pytest.approx(f1_score(labels, flagged, zero_division=0.0))
    chosen = threshold_at_fpr(scores, labels, fpr, higher_is_better=turned)
    assert chosen.fpr <= fpr
    assert chosen.tpr == max(point.tpr for point in points if point.fpr <= fpr)
    assert threshold_best_f1(scores, labels, higher_is_better=turned).f1 == max(point.f1 for point in points)


def test_the_nearest_score_that_is_not_flagged_is_known() -> None:
    assert [point.beyond for point in operating_points(SCORES, LABELS)] == [None, 0.8, 0.7, 0.3, 0.1, None]
    turned = operating_points([-score for score in SCORES], LABELS, True)
    assert [point.beyond for point in turned] == [None, -0.8, -0.7, -0.3, -0.1, None]


@pytest.mark.parametrize(
    ("threshold", "beyond", "higher_is_better", "text"),
    [
        (0.5, 0.25, False, "0.500"),
        (0.5, None, False, "0.500"),
        (0.99987, 0.99981, False, "0.99987"),
        (0.99987, 0.75, False, "0.999"),
        (0.99987, 0.99989, True, "0.99987"),
        (0.99987, 1.0, True, "0.9999"),
        (0.98765, 1.0, True, "0.988"),
        (1.0000000000000002, 1.0, False, "1.0000000000000002"),
        (2e-30, 1e-30, False, "2e-30"),
        (-3.14159, -4.0, False, "-3.142"),
        (1234567.0, 1234566.5, False, "1234567.000"),
    ],
)
def test_a_threshold_has_the_digits_that_it_takes(
    threshold: float, beyond: float | None, higher_is_better: bool, text: str
) -> None:
    point = OperatingPoint(threshold, 1.0, 0.0, 1.0, 1.0, 1, beyond)
    assert threshold_text(point, higher_is_better) == text


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12, unique=True), st.booleans())
@settings(max_examples=100, deadline=None)
def test_a_threshold_that_is_read_back_flags_the_same(scores: list[float], turned: bool) -> None:
    # Crowded close below 1 too, where three digits tell nothing apart.
    for values in (np.array(scores), 1 - np.abs(scores) * 1e-12):
        labels = np.arange(len(values)) % 2 == 0
        for point in operating_points(values, labels, turned)[1:]:
            read = float(threshold_text(point, turned))
            assert (values <= read if turned else values >= read).sum() == point.flagged


@pytest.mark.parametrize("fpr", [1.5, -0.1, float("nan"), "0.1", None])
def test_what_cannot_be_chosen_is_refused(fpr: Any) -> None:
    with pytest.raises(ConfigurationError, match="from 0 to 1"):
        threshold_at_fpr(SCORES, LABELS, fpr)


def test_one_class_has_no_threshold() -> None:
    with pytest.raises(ConfigurationError, match="both classes"):
        threshold_best_f1([1, 2], [True, True])


def test_a_score_that_is_no_number_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="scores that are numbers"):
        threshold_at_fpr([0.9, 0.1, float("nan")], [True, False, True], 1.0)


def test_a_large_threshold_is_written_out() -> None:
    point = OperatingPoint(1e30, 1.0, 0.0, 1.0, 1.0, 1, 1e29)
    assert threshold_text(point) == "1000000000000000000000000000000.000"


def test_a_threshold_that_flags_none_lies_right_above_the_scores() -> None:
    assert threshold_at_fpr([0.9, 0.9, 0.1], [True, False, False], 0.1).threshold == np.nextafter(0.9, np.inf)


@pytest.mark.parametrize("labels", [[1, 0, 1], [1], [1, np.nan], [1, 2], [0.5, 0]])
def test_labels_are_as_many_as_scores_and_true_or_false(labels: list[float]) -> None:
    with pytest.raises(ConfigurationError, match="2 scores need as many labels"):
        operating_points([0.1, 0.2], labels)
