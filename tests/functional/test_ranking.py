import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_auc_score

from opik_checkembed.functional.ranking import (
    Estimate,
    auroc,
    average_precision,
    estimate,
    pearson,
    precision_recall_area,
    prevalence,
    resampled,
    spearman,
)

# Few distinct values, so that ties are the rule.
SCORES = st.lists(st.integers(0, 4).map(float), min_size=3, max_size=30)


def reference_area(positive: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    precision, recall, _ = precision_recall_curve(positive, scores)
    return float(auc(recall, precision))


def test_the_area_is_the_trapezoid_over_the_curve() -> None:
    # Points (recall, precision): (0, 1), (1/2, 1), (1/2, 1/2), (1, 2/3).
    area = precision_recall_area([True, False, True], [0.9, 0.8, 0.7])
    assert float(area) == pytest.approx(0.5 * 1 + 0.5 * (1 / 2 + 2 / 3) / 2)


def test_equal_scores_are_one_point_of_the_curve() -> None:
    # (0, 1), (1/2, 1/2) for the two tied at .9, (1, 1/2).
    area = precision_recall_area([True, False, False, True], [0.9, 0.9, 0.5, 0.5])
    assert float(area) == pytest.approx(0.5 * (1 + 0.5) / 2 + 0.5 * 0.5)
    # All tied: a straight line from (0, 1) to (1, 1/4), more than a random order gets.
    assert float(precision_recall_area([True, False, False, False], [0.3] * 4)) == pytest.approx((1 + 0.25) / 2)
    assert float(prevalence([True, False, False, False])) == 0.25


def test_perfect_and_reversed_orders() -> None:
    assert float(precision_recall_area([True, True, False], [3, 2, 1])) == 1.0
    # (0, 1), (0, 0), (1, 1/2).
    assert float(precision_recall_area([True, False], [1, 2])) == pytest.approx(0.25)


def test_no_positive_has_no_area() -> None:
    assert np.isnan(precision_recall_area([False, False], [1, 2]))


@given(st.data(), SCORES)
@settings(max_examples=40, deadline=None)
def test_the_area_is_scikit_learns_also_in_resamples(data: st.DataObject, values: list[float]) -> None:
    scores = np.array(values)
    positive = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))))
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values))))
    plain, drawn = precision_recall_area(positive, scores, [np.ones(len(values)), times])
    for area, counts in ((plain, np.ones(len(values), dtype=int)), (drawn, times)):
        if positive.repeat(counts).any():
            assert area == pytest.approx(reference_area(positive.repeat(counts), scores.repeat(counts)))
        else:
            assert np.isnan(area)


def test_the_roc_area_counts_pairs() -> None:
    # Of four pairs of a positive and a negative three are in order and one is tied.
    assert float(auroc([True, False, True, False], [0.9, 0.8, 0.8, 0.1])) == (3 + 0.5) / 4
    assert float(auroc([True, False, False], [0.3] * 3)) == 0.5
    assert float(auroc([True, False], [1, 2])) == 0.0
    # A positive that counts twice, and a negative that does not count.
    assert float(auroc([True, True, False, False], [3, 1, 2, 0], [2, 1, 1, 0])) == pytest.approx(2 / 3)
    assert np.isnan(auroc([True, True], [1, 2]))
    assert np.isnan(auroc([False, False], [1, 2]))


def test_average_precision_by_hand() -> None:
    # The positives are found at precision 1 and 2/3.
    assert float(average_precision([True, False, True], [0.9, 0.8, 0.7])) == pytest.approx((1 + 2 / 3) / 2)
    # Constant scores get the share of positives, where the trapezoid gets more.
    assert float(average_precision([True, False, False, False], [0.3] * 4)) == 0.25
    assert np.isnan(average_precision([False, False], [1, 2]))


@given(st.data(), SCORES)
@settings(max_examples=40, deadline=None)
def test_both_are_scikit_learns_also_in_resamples(data: st.DataObject, values: list[float]) -> None:
    scores = np.array(values)
    positive = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))))
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values))))
    labels, drawn = positive.repeat(times), scores.repeat(times)
    area, precision = (statistic(positive, scores, [times])[0] for statistic in (auroc, average_precision))
    if 0 < labels.sum() < len(labels):
        assert area == pytest.approx(roc_auc_score(labels, drawn))
    else:
        assert np.isnan(area)
    if labels.any():
        assert precision == pytest.approx(average_precision_score(labels, drawn))
    else:
        assert np.isnan(precision)


def test_correlations_by_hand() -> None:
    # Deviations (-1, 0, 1) and (-4/3, -1/3, 5/3): 3 / sqrt(2 * 14/3).
    assert float(pearson([1, 2, 3], [1, 2, 4])) == pytest.approx(3 / np.sqrt(28 / 3))
    assert float(spearman([1, 2, 3], [1, 2, 4])) == 1.0
    # Ranks (1, 2, 3) and (1.5, 1.5, 3): deviations (-1, 0, 1) and (-.5, -.5, 1).
    assert float(spearman([1, 2, 3], [5, 5, 9])) == pytest.approx(1.5 / np.sqrt(2 * 1.5))


@given(st.data(), SCORES)
@settings(max_examples=40, deadline=None)
def test_correlations_are_scipys_also_in_resamples(data: st.DataObject, values: list[float]) -> None:
    x = np.array(values)
    y = np.array(data.draw(st.lists(st.integers(0, 4).map(float), min_size=len(x), max_size=len(x))))
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(x), max_size=len(x))))
    rx, ry = x.repeat(times), y.repeat(times)
    for ours, theirs in ((pearson, stats.pearsonr), (spearman, stats.spearmanr)):
        found = ours(x, y, [times])[0]
        if len(rx) and np.ptp(rx) and np.ptp(ry):
            assert found == pytest.approx(theirs(rx, ry).statistic, abs=1e-9)
        else:
            assert np.isnan(found)


def test_a_constant_has_no_correlation_whatever_its_rounding() -> None:
    assert np.isnan(pearson([0.1] * 3, [1, 2, 3]))
    assert np.isnan(spearman([1, 2, 3], [0.7] * 3))
    assert np.isnan(pearson([0.1, 0.1, 5], [1, 2, 3], weights=[1, 1, 0]))


@given(st.lists(st.floats(-100, 100), min_size=4, max_size=12, unique=True), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_ranks_do_not_mind_a_monotone_change(values: list[float], seed: int) -> None:
    y = np.random.default_rng(seed).normal(size=len(values))
    stretched = np.argsort(np.argsort(values)) ** 3.0
    assert float(spearman(values, y)) == pytest.approx(float(spearman(stretched, y)))
    assert float(precision_recall_area(y > y.min(), values)) == pytest.approx(
        float(precision_recall_area(y > y.min(), stretched))
    )


def test_draws_are_fixed_by_the_seed() -> None:
    draws = resampled(20, 50, seed=3)
    assert draws.shape == (50, 20)
    assert (draws.sum(axis=1) == 20).all()
    assert (draws == resampled(20, 50, seed=3)).all()
    assert (draws != resampled(20, 50, seed=4)).any()


def test_the_interval_is_that_of_a_bootstrap_written_out() -> None:
    rng = np.random.default_rng(0)
    within = np.repeat(np.arange(12), 4)
    scores = rng.normal(size=48).round(1)
    positive = rng.random(48) < 0.4
    draws = resampled(12, 300, seed=1)
    found = estimate(lambda w: precision_recall_area(positive, scores, w), draws, within)

    areas = []
    for row in draws:
        chosen = np.concatenate([np.flatnonzero(within == passage) for passage in np.arange(12).repeat(row)])
        areas.append(reference_area(positive[chosen], scores[chosen]))
    assert found.value == pytest.approx(reference_area(positive, scores))
    assert found.low == pytest.approx(np.quantile(areas, 0.025))
    assert found.high == pytest.approx(np.quantile(areas, 0.975))


def test_the_interval_holds_the_value_and_narrows_with_more_passages() -> None:
    def correlated(passages: int) -> tuple[float, float, float]:
        rng = np.random.default_rng(5)
        x = rng.normal(size=passages)
        y = x + rng.normal(size=passages)
        found = estimate(lambda w: pearson(x, y, w), resampled(passages, 500, seed=0))
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        return found.value, found.low, found.high

    few, many = correlated(40), correlated(400)
    assert few[1] < few[0] < few[2]
    assert many[1] < many[0] < many[2]
    assert many[2] - many[1] < (few[2] - few[1]) / 2


def test_what_cannot_be_estimated_is_none() -> None:
    draws = resampled(2, 20, seed=0)
    assert estimate(lambda w: pearson([1, 1], [1, 2], w), draws) == Estimate(None)
    # Two passages have a correlation, one drawn twice has none.
    assert estimate(lambda w: pearson([1, 2], [1, 2], w), [[2, 0], [0, 2]]) == Estimate(1.0)
    # Resamples without a value are left out.
    assert estimate(lambda w: pearson([1, 2], [1, 2], w), [[2, 0], [1, 1]]) == Estimate(1.0, 1.0, 1.0)


def test_a_resample_of_equal_values_has_no_correlation() -> None:
    assert np.isnan(pearson([0.1, 0.1, 0.1, 0.5], [1, 2, 4, 3], [1, 1, 1, 0]))


def test_each_row_has_a_correlation() -> None:
    assert pearson([[1, 2, 4], [3, 2, 1]], [1, 2, 3]) == pytest.approx([np.corrcoef([1, 2, 4], [1, 2, 3])[0, 1], -1])
