from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from opik_checkembed.functional import paired
from opik_checkembed.functional.paired import (
    detectable_difference,
    fewest_pairs,
    holm,
    mean_interval,
    permutation_p_value,
    t_quantile,
    unseen_share,
)

RUNS = 1000
# Three standard errors of a share that is .95 (or .05) in 1,000 runs.
SAMPLING_ERROR = 3 * math.sqrt(0.05 * 0.95 / RUNS)

Draws = NDArray[np.float64]


def losses(rng: np.random.Generator, size: tuple[int, int], share: float) -> Draws:
    return np.where(rng.random(size) < share, -rng.beta(2, 5, size), 0.0)


def simulated(kind: str, n: int) -> tuple[Draws, float]:
    """Runs of n differences, and the mean they are drawn with."""
    rng, size = np.random.default_rng(n), (RUNS, n)
    match kind:
        case "normal":
            return rng.normal(0, 1, size), 0.0
        case "skewed":
            return 1 - rng.exponential(1, size), 0.0
        case "discrete":
            return rng.choice([-1.0, 0.0, 1.0], p=[0.15, 0.7, 0.15], size=size), 0.0
        case "scores":
            return rng.beta(8, 2, size) - rng.beta(8, 2, size), 0.0
        case "all lose":
            return losses(rng, size, 1.0), -2 / 7
        case "half lose":
            return losses(rng, size, 0.5), -0.5 * 2 / 7
        case _:
            return losses(rng, size, 0.2), -0.2 * 2 / 7


KINDS = ["normal", "skewed", "discrete", "scores", "all lose", "half lose", "a fifth lose"]
HELD = ["normal", "discrete", "scores", "all lose", "half lose", "a fifth lose"]


@pytest.mark.parametrize("n", [20, 50, 200])
@pytest.mark.parametrize("kind", KINDS)
def test_the_interval_holds_the_true_mean_as_often_as_it_promises(kind: str, n: int) -> None:
    differences, mean = simulated(kind, n)
    low, high = mean_interval(differences, resamples=600)
    assert ((low <= mean) & (mean <= high)).mean() >= 0.95 - SAMPLING_ERROR


@pytest.mark.parametrize("n", [6, 8, 10, 12, 15])
@pytest.mark.parametrize("kind", HELD)
def test_the_interval_keeps_its_promise_over_few_items_too(kind: str, n: int) -> None:
    differences, mean = simulated(kind, n)
    seen = differences.max(-1) > differences.min(-1)
    low, high = mean_interval(differences[seen], resamples=600)
    assert ((low <= mean) & (mean <= high)).mean() >= 0.95 - SAMPLING_ERROR


@pytest.mark.parametrize(("n", "least"), [(6, 0.90), (10, 0.92), (15, 0.93)])
def test_a_skew_over_few_items_costs_what_the_docstring_says(n: int, least: float) -> None:
    differences, mean = simulated("skewed", n)
    low, high = mean_interval(differences, resamples=600)
    held = float(((low <= mean) & (mean <= high)).mean())
    assert held >= least
    reach = stats.t.ppf(0.975, n - 1) * stats.sem(differences, axis=1)
    assert held > (np.abs(differences.mean(axis=1) - mean) <= reach).mean()


def test_where_all_of_few_items_lose_alike_the_interval_is_as_narrow_as_their_spread() -> None:
    differences = np.array([0.12, 0.1, 0.09, 0.11, 0.1, 0.13]) - 0.9
    low, high = mean_interval(differences)
    mean, reach = differences.mean(), stats.t.ppf(0.975, 5) * stats.sem(differences)
    assert mean - 2 * reach - 1e-12 <= low <= mean - reach + 1e-12
    assert mean + reach - 1e-12 <= high <= mean + 2 * reach + 1e-12
    assert (-0.84, -0.76) < (float(low), float(high)) < (-0.80, -0.70)


def test_a_score_interval_takes_over_only_where_more_items_stay_than_change() -> None:
    half = np.array([-0.5, -0.3, -0.4, -0.6, -0.2] + [0.0] * 5)
    low, _ = mean_interval(half)
    assert half.mean() - low <= 2 * stats.t.ppf(0.975, 9) * stats.sem(half) + 1e-12
    one = np.array([-0.5] + [0.0] * 9)
    size, q = 0.5, stats.t.ppf(0.975, 9)
    low, _ = mean_interval(one)
    distance = one.mean() - float(low)
    assert distance**2 == pytest.approx(q**2 * (one.var(ddof=1) + size * distance) / 10)


def test_plain_intervals_would_not_keep_the_promise_where_this_one_does() -> None:
    differences, mean = simulated("a fifth lose", 20)
    reach = stats.t.ppf(0.975, 19) * stats.sem(differences, axis=1)
    assert (np.abs(differences.mean(axis=1) - mean) <= reach).mean() < 0.92


def test_the_interval_is_hardly_wider_than_students_where_that_one_is_right() -> None:
    for n, most in ((20, 1.08), (200, 1.03)):
        differences, _ = simulated("normal", n)
        low, high = mean_interval(differences, resamples=600)
        reach = stats.t.ppf(0.975, n - 1) * stats.sem(differences, axis=1)
        assert np.median((high - low) / (2 * reach)) < most


def test_the_interval_is_never_narrower_than_students() -> None:
    differences, _ = simulated("skewed", 50)
    low, high = mean_interval(differences)
    reach = stats.t.ppf(0.975, 49) * stats.sem(differences, axis=1)
    mean = differences.mean(axis=1)
    assert (low <= mean - reach + 1e-9).all()
    assert (high >= mean + reach - 1e-9).all()


def test_the_interval_follows_the_skew() -> None:
    differences = 1 - np.random.default_rng(3).exponential(1, 40)
    low, high = mean_interval(differences)
    assert differences.mean() - low > high - differences.mean()


def test_one_changed_item_leaves_room_for_others_like_it() -> None:
    differences = np.zeros(200)
    differences[7] = -0.3
    low, high = mean_interval(differences)
    # Wilson's interval of one in 200 with z = t[.975, 199], in units of what that one lost.
    assert float(low) == pytest.approx(-0.3 * 5.7 / 200, rel=0.02)
    assert float(high) > 0


@pytest.mark.parametrize("value", [0.0, -0.1, 1 / 3])
def test_equal_differences_have_an_interval_of_no_width(value: float) -> None:
    low, high = mean_interval([value] * 30)
    assert float(low) == pytest.approx(value)
    assert float(high) == pytest.approx(value)
    assert float(high - low) == 0.0


def test_resamples_drawn_in_parts_are_all_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = np.random.default_rng(0).exponential(1, (3, 40))
    whole = mean_interval(differences)
    monkeypatch.setattr(paired, "_CHUNK", 40 * 300)
    assert np.allclose(mean_interval(differences), whole)


def test_the_interval_is_narrower_for_a_larger_alpha_and_the_same_for_the_same_seed() -> None:
    differences = np.random.default_rng(0).normal(0, 1, 40)
    low, high = mean_interval(differences, seed=4)
    wide, narrow = mean_interval(differences, alpha=0.01), mean_interval(differences, alpha=0.2)
    assert wide[0] < low < narrow[0] < narrow[1] < high < wide[1]
    assert mean_interval(differences, seed=4) == (low, high)
    assert mean_interval(differences, seed=5) != (low, high)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=40), st.sampled_from([0.5, 4.0]))
def test_the_interval_turns_round_with_the_sign_and_grows_with_the_unit(values: list[float], unit: float) -> None:
    differences = np.array(values)
    low, high = mean_interval(differences, resamples=50)
    tolerance = 1e-9 + 1e-6 * float(np.abs(differences).max())
    assert low - tolerance <= differences.mean() <= high + tolerance
    turned = mean_interval(-differences, resamples=50)
    assert turned[0] == pytest.approx(-high, abs=tolerance)
    assert turned[1] == pytest.approx(-low, abs=tolerance)
    grown = mean_interval(unit * differences, resamples=50)
    assert grown[0] == pytest.approx(unit * low, abs=4 * tolerance)


@pytest.mark.parametrize("n", [20, 50, 200])
@pytest.mark.parametrize("kind", ["normal", "discrete", "scores"])
def test_the_test_raises_a_false_alarm_as_often_as_it_says(kind: str, n: int) -> None:
    differences, _ = simulated(kind, n)
    alarms = (permutation_p_value(differences, permutations=499) <= 0.05).mean()
    assert alarms <= 0.05 + SAMPLING_ERROR
    # Not for being blind: discrete sums often tie, and ties count against a finding.
    assert alarms >= (0.01 if kind == "discrete" else 0.05 - SAMPLING_ERROR)


@pytest.mark.parametrize("n", [20, 50, 200])
@pytest.mark.parametrize("kind", ["normal", "skewed", "discrete", "scores", "half lose"])
def test_test_and_interval_together_raise_no_more_false_alarms_than_they_say(kind: str, n: int) -> None:
    differences, mean = simulated(kind, n)
    low, high = mean_interval(differences - mean, resamples=600)
    significant = permutation_p_value(differences - mean, permutations=499) <= 0.05
    assert (significant & ((low > 0) | (high < 0))).mean() <= 0.05 + SAMPLING_ERROR


def test_p_values_of_few_items_are_exact_and_those_of_scipy() -> None:
    rng = np.random.default_rng(1)
    for n in (1, 2, 5, 11):
        differences = rng.normal(0.3, 1, n)
        if n > 1:
            expected = stats.permutation_test(
                (differences,), np.mean, permutation_type="samples", n_resamples=np.inf
            ).pvalue
            assert float(permutation_p_value(differences)) == pytest.approx(expected, abs=1e-12)
        # scipy gives twice the smaller tail; the sign flips are symmetric, so that both definitions agree.
        flips = np.array(np.meshgrid(*[[-1, 1]] * n)).reshape(n, -1)
        both = np.abs(differences @ flips) >= abs(differences.sum()) - 1e-12
        assert float(permutation_p_value(differences)) == pytest.approx(both.mean(), abs=1e-12)


def test_p_values_of_many_items_are_close_to_those_of_scipy() -> None:
    rng = np.random.default_rng(2)
    for shift in (0.0, 0.2, 0.4):
        differences = rng.normal(shift, 1, 60)
        drawn = float(permutation_p_value(differences))
        expected = stats.permutation_test(
            (differences,), np.mean, permutation_type="samples", n_resamples=9999, rng=np.random.default_rng(0)
        ).pvalue
        assert drawn == pytest.approx(expected, abs=0.02)
        assert drawn == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, abs=0.03)


def test_p_values_count_equal_sums_as_equal_whatever_their_rounding() -> None:
    # Sums of .1 and .2 differ in their last digit by order; all 4 of 8 flips that reach .3 must count.
    assert float(permutation_p_value([0.1, 0.2, 0.3])) == 0.25
    assert float(permutation_p_value([0.1] * 30 + [-0.1] * 30)) == 1.0


def test_differences_of_zero_change_no_p_value() -> None:
    differences = [0.3, -0.1, 0.2, 0.4, 0.1]
    assert permutation_p_value([*differences, *[0.0] * 500]) == permutation_p_value(differences)
    assert float(permutation_p_value([0.0, 0.0])) == 1.0
    assert float(permutation_p_value([])) == 1.0


def test_drawn_p_values_are_never_zero_and_follow_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    sure = [0.5] * 40
    assert float(permutation_p_value(sure, permutations=999)) == 1 / 1000
    unsure = np.random.default_rng(0).normal(0.1, 1, 40)
    found = permutation_p_value(unsure, seed=1)
    assert permutation_p_value(unsure, seed=1) == found
    assert permutation_p_value(unsure, seed=2) != found
    # Drawn in parts, all are drawn.
    monkeypatch.setattr(paired, "_CHUNK", 40 * 100)
    assert float(permutation_p_value(sure, permutations=999)) == 1 / 1000
    assert float(permutation_p_value(unsure)) == pytest.approx(float(found), abs=0.03)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_between_the_p_value_and_bonferronis_and_keeps_the_order(values: list[float]) -> None:
    p = np.array(values)
    adjusted = holm(p)
    assert (adjusted >= p).all()
    assert (adjusted <= np.minimum(1, p * len(p)) + 1e-12).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


def test_holm_by_hand() -> None:
    assert holm([0.04, 0.01, 0.5, 0.02]) == pytest.approx([0.08, 0.04, 0.5, 0.06])
    assert holm([]).tolist() == []


def test_the_detectable_difference_is_found_in_80_of_100_runs() -> None:
    rng = np.random.default_rng(5)
    found = []
    for n in (20, 100):
        spread = rng.normal(0, 1, (RUNS, n))
        shift = detectable_difference(stats.norm.ppf((np.arange(n) + 0.5) / n) * math.sqrt(n / (n - 1)))
        assert shift is not None
        found.append(float((permutation_p_value(spread + shift, permutations=499) <= 0.05).mean()))
    assert found == pytest.approx([0.8, 0.8], abs=0.05)


def test_the_detectable_difference_falls_with_the_root_of_the_items_and_is_unknown_without_spread() -> None:
    few, many, strict = (
        detectable_difference([0.1, -0.1] * pairs, alpha=alpha) for pairs, alpha in ((20, 0.05), (80, 0.05), (20, 0.01))
    )
    assert few is not None
    assert many is not None
    assert strict is not None
    assert few / many == pytest.approx(2, rel=0.03)
    assert strict > few
    assert detectable_difference([0.2] * 20) is None


def test_the_detectable_difference_counts_with_the_reach_of_the_interval_that_decides() -> None:
    values = np.array([0.1, -0.1] * 20)
    error = stats.sem(values)
    found = detectable_difference(values, reach=0.07)
    assert found == pytest.approx(0.07 + stats.t.ppf(0.8, 39) * error)
    plain = detectable_difference(values)
    assert plain == pytest.approx((stats.t.ppf(0.975, 39) + stats.t.ppf(0.8, 39)) * error)


@pytest.mark.parametrize("count", [1, 10, 200])
def test_the_unseen_share_is_where_seeing_nothing_becomes_unlikely(count: int) -> None:
    assert (1 - unseen_share(count)) ** count == pytest.approx(0.05)
    assert unseen_share(count) < 3 / count
    assert unseen_share(count, alpha=0.01) > unseen_share(count)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 6, 19, 20, 199, 1000, 9999])
@pytest.mark.parametrize("probability", [0.5, 0.8, 0.975, 0.9995])
def test_quantiles_are_those_of_scipy(probability: float, freedom: int) -> None:
    assert t_quantile(probability, freedom) == pytest.approx(stats.t.ppf(probability, freedom), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.01, 0.001])
def test_fewest_pairs_is_where_the_test_can_first_reach_alpha(alpha: float) -> None:
    fewest = fewest_pairs(alpha)
    assert float(permutation_p_value([1.0] * fewest)) <= alpha < float(permutation_p_value([1.0] * (fewest - 1)))


def test_the_module_needs_numpy_alone() -> None:
    code = (
        "import sys, opik_checkembed.functional.paired;"
        "sys.exit(any(name in sys.modules for name in ('scipy', 'torch', 'opik', 'litellm')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_end_lies_at_most_twice_as_far_as_students() -> None:
    values = np.array([0.9, 0.01, 0.02, 0.015, 0.012, 0.018])
    reach = stats.t.ppf(0.975, 5) * stats.sem(values)
    assert (mean_interval(values)[1] - values.mean()) / reach == pytest.approx(2)


def test_each_row_has_a_p_value() -> None:
    rows = [[0.1] * 6, [0.1, -0.1] * 3, [0.2] * 6]
    assert permutation_p_value(np.array(rows)).tolist() == [0.03125, 1.0, 0.03125]
