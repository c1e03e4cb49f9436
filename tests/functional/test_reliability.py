from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import brier_score_loss

from opik_checkembed.functional.reliability import (
    brier,
    expected_calibration_error,
    reliability_bins,
    wilson_interval,
)

# Few distinct values, so that ties are the rule.
OBSERVATIONS = st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=2, max_size=60)


def test_bins_hold_as_many_each_and_say_what_came_true() -> None:
    # 30 low ones of which a third happened, 30 high ones of which all did.
    labels = [True, False, False] * 10 + [True] * 30
    found = reliability_bins(labels, [0.2] * 15 + [0.3] * 15 + [0.8] * 30, bins=2)
    assert [(one.count, one.low, one.high) for one in found] == [(30, 0.2, 0.3), (30, 0.8, 0.8)]
    assert [one.predicted for one in found] == pytest.approx([0.25, 0.8])
    assert [one.observed for one in found] == pytest.approx([1 / 3, 1.0])
    assert found[0].observed_low < 1 / 3 < found[0].observed_high
    assert found[1].observed_low < 1.0
    assert found[1].observed_high == 1.0


def test_the_error_is_the_mean_gap_of_the_bins_by_their_size() -> None:
    labels = [True, False, False] * 10 + [True] * 30
    p = [0.2] * 15 + [0.3] * 15 + [0.8] * 30
    assert float(expected_calibration_error(labels, p, bins=2)) == pytest.approx((1 / 3 - 0.25) / 2 + 0.2 / 2)


def test_too_few_observations_for_two_bins_have_no_error() -> None:
    # In one bin only the means are compared: those who are always wrong would get 0.
    for each, error in ((10, None), (14, None), (15, 1.0)):
        found = expected_calibration_error([True] * each + [False] * each, [0.0] * each + [1.0] * each)
        assert float(found) == pytest.approx(np.nan if error is None else error, nan_ok=True)
    assert np.isnan(expected_calibration_error([True, False], [0.5, 0.5], np.ones((3, 2)))).tolist() == [True] * 3
    # What is always the same is in one bin, and not for want of observations.
    assert float(expected_calibration_error([True, False] * 15, [0.75] * 30)) == 0.25


def test_equal_probabilities_are_never_parted() -> None:
    found = reliability_bins([True, False] * 50, [0.4] * 99 + [0.9])
    assert [one.count for one in found] == [99, 1]
    assert len(reliability_bins([True, False] * 50, [0.4] * 100)) == 1


def test_weights_count_as_often_as_they_say() -> None:
    labels, p = [True, False, True], [0.9, 0.4, 0.2]
    once, drawn = brier(labels, p, [[1, 1, 1], [2, 0, 1]])
    assert once == pytest.approx((0.01 + 0.16 + 0.64) / 3)
    assert drawn == pytest.approx((0.01 + 0.01 + 0.64) / 3)
    assert float(brier(labels, p)) == pytest.approx(once)
    many = expected_calibration_error(labels * 10, p * 10, [[2, 0, 0] * 10])
    assert many == pytest.approx(0.1)
    assert np.isnan(brier(labels, p, [0, 0, 0]))


@given(OBSERVATIONS, st.data())
@settings(max_examples=60, deadline=None)
def test_brier_is_scikit_learns_also_in_resamples(observed: list[tuple[bool, int]], data: st.DataObject) -> None:
    labels, scores = np.array([one[0] for one in observed]), np.array([one[1] for one in observed]) / 4
    counts = st.lists(st.integers(0, 3), min_size=len(labels), max_size=len(labels)).filter(any)
    times = np.array(data.draw(counts))
    assert float(brier(labels, scores, times)) == pytest.approx(
        brier_score_loss(labels, scores, sample_weight=times, pos_label=True)
    )


@given(OBSERVATIONS)
@settings(max_examples=60, deadline=None)
def test_bins_part_the_observations_in_order(observed: list[tuple[bool, int]]) -> None:
    labels, p = [one[0] for one in observed], [one[1] / 4 for one in observed]
    found = reliability_bins(labels, p, bins=3)
    assert sum(one.count for one in found) == len(labels)
    assert sum(one.count * one.observed for one in found) == pytest.approx(sum(labels))
    assert sum(one.count * one.predicted for one in found) == pytest.approx(sum(p))
    assert all(a.high < b.low for a, b in pairwise(found))
    assert all(one.low <= one.predicted + 1e-12 and one.predicted <= one.high + 1e-12 for one in found)
    gaps = sum(one.count * abs(one.observed - one.predicted) for one in found) / len(labels)
    error = float(expected_calibration_error(labels, p, bins=3))
    assert error == pytest.approx(gaps if len(labels) >= 30 else np.nan, nan_ok=True)


@pytest.mark.parametrize(("positives", "count"), [(0, 7), (7, 7), (3, 10), (150, 400)])
def test_intervals_are_wilsons(positives: int, count: int) -> None:
    reference = binomtest(positives, count).proportion_ci(method="wilson")
    assert wilson_interval(positives / count, count) == pytest.approx((reference.low, reference.high), abs=1e-12)


def test_probabilities_that_come_true_have_a_small_error() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    happened = rng.random(20_000) < p
    assert float(expected_calibration_error(happened, p)) < 0.015
    # Twice as sure in log-odds: the gap is worked out over the uniform distribution.
    sure = p**2 / (p**2 + (1 - p) ** 2)
    assert float(expected_calibration_error(happened, sure)) == pytest.approx(np.abs(sure - p).mean(), abs=0.02)


def test_there_are_ten_bins_and_equal_probabilities_are_in_one() -> None:
    assert [one.count for one in reliability_bins([0, 1] * 150, [at / 300 for at in range(300)])] == [30] * 10
    assert [one.count for one in reliability_bins([0, 1] * 15, [0.1] * 8 + [0.5] * 12 + [0.9] * 10)] == [20, 10]
