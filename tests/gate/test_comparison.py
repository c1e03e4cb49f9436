from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.paired import fewest_pairs, mean_interval
from opik_checkembed.gate.comparison import Comparison, MetricComparison, Verdict, compare, verdict_of
from opik_checkembed.results import ItemResult, LocalResults, Score
from tests.gate.runs import DIRECTIONS, pair_of, result, run, several, shifted


def only(comparison: Comparison) -> MetricComparison:
    assert len(comparison.metrics) == 1
    return comparison.metrics[0]


# --- figures ---------------------------------------------------------------------------------------------------------


def test_figures_of_one_metric_by_hand() -> None:
    found = only(compare(run([0.9, 0.8, 0.7, 0.6]), run([0.8, 0.8, 0.9, 0.2])))
    assert found.pairs == 4
    assert found.baseline_mean == pytest.approx(0.75)
    assert found.candidate_mean == pytest.approx(0.675)
    assert found.difference == pytest.approx(-0.075)
    assert (found.better, found.worse, found.equal) == (0.25, 0.5, 0.25)
    # Of the 8 flips of -.1, +.2 and -.4 those that reach .3: -.3, -.5, -.7 and their opposites.
    assert found.p_value == found.p_adjusted == 0.75
    assert found.margin == 0.02


def test_the_interval_is_in_the_metrics_own_unit_whichever_way_is_better() -> None:
    baseline, candidate = shifted(40, 0.1)
    up, down = (only(compare(run(baseline, name), run(candidate, name))) for name in ("agreement", "doubt"))
    assert up.difference == pytest.approx(0.1)
    assert down.difference == pytest.approx(0.1)
    assert up.interval is not None
    assert down.interval is not None
    assert up.interval == pytest.approx(down.interval)
    assert up.interval[0] < 0.1 < up.interval[1]
    assert (up.better, up.worse) == (down.worse, down.better)
    assert (up.verdict, down.verdict) == (Verdict.IMPROVED, Verdict.WORSE)
    assert up.interval == pytest.approx(tuple(map(float, mean_interval(np.subtract(candidate, baseline)))))


@pytest.mark.parametrize(
    ("shift", "margin", "verdict"),
    [
        (0.03, 0.02, Verdict.IMPROVED),
        (0.0, 0.02, Verdict.NO_WORSE),
        (-0.03, 0.02, Verdict.WORSE),
        # Surely a loss, and surely one within the margin.
        (-0.03, 0.06, Verdict.NO_WORSE),
        (0.0, 0.005, Verdict.UNDERPOWERED),
        # No loss is shown, and none beyond the margin is ruled out.
        (-0.01, 0.02, Verdict.UNDERPOWERED),
    ],
)
def test_verdicts_of_a_known_difference(shift: float, margin: float, verdict: Verdict) -> None:
    for name in ("agreement", "doubt"):
        sides = pair_of(shift if name == "agreement" else -shift, name=name)
        assert only(compare(*sides, margin=margin)).verdict is verdict


@pytest.mark.parametrize(
    ("low", "high", "p", "verdict"),
    [
        (0.01, 0.05, 0.01, Verdict.IMPROVED),
        (0.0, 0.05, 0.01, Verdict.NO_WORSE),
        (0.01, 0.05, 0.06, Verdict.NO_WORSE),
        (-0.02, 0.05, 0.01, Verdict.NO_WORSE),
        (-0.02, -0.01, 0.01, Verdict.NO_WORSE),
        (-0.021, -0.01, 0.01, Verdict.WORSE),
        (-0.021, -0.01, 0.06, Verdict.UNDERPOWERED),
        (-0.021, 0.0, 0.01, Verdict.UNDERPOWERED),
        (-0.5, 0.5, 0.9, Verdict.UNDERPOWERED),
    ],
)
def test_every_row_of_the_truth_table(low: float, high: float, p: float, verdict: Verdict) -> None:
    assert verdict_of(low, high, p, margin=0.02, pairs=50) is verdict
    assert verdict_of(low, high, p, margin=0.02, pairs=5) is Verdict.UNDERPOWERED


@settings(max_examples=60, deadline=None)
@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.integers(0, 100))
def test_no_verdict_contradicts_its_interval(low: float, width: float, p: float, margin: float, pairs: int) -> None:
    high = low + width
    found = verdict_of(low, high, p, margin=margin, pairs=pairs)
    assert found is not Verdict.WORSE or (high < 0 and low < -margin and p <= 0.05)
    assert found is not Verdict.IMPROVED or (low > 0 and p <= 0.05)
    assert found is not Verdict.NO_WORSE or low >= -margin
    assert pairs >= 6 or found is Verdict.UNDERPOWERED
    if pairs >= 6 and found is not Verdict.WORSE:
        # More room never makes a verdict worse.
        assert verdict_of(low, high, p, margin=margin + 0.1, pairs=pairs) is not Verdict.WORSE


def test_a_loss_is_found_and_no_loss_raises_a_false_alarm_as_often_as_the_statistics_say() -> None:
    def verdict(seed: int, shift: float) -> Verdict:
        rng = np.random.default_rng(seed)
        before = rng.beta(8, 2, 40)
        after = before + shift + rng.normal(0, 0.1, 40)
        return only(compare(run(before), run(after), margin=0.0)).verdict

    alarms = sum(verdict(seed, 0.0) is Verdict.WORSE for seed in range(60))
    # One-sided 2.5 %; and a difference of six standard errors.
    assert alarms <= stats.binom.ppf(0.999, 60, 0.025)
    assert all(verdict(seed, -0.1) is Verdict.WORSE for seed in range(5))


def test_several_metrics_are_corrected_by_holm() -> None:
    clear, unclear = shifted(40, -0.05), shifted(40, -0.018, seed=1)
    columns = [{"agreement": clear[side], "doubt": unclear[side], "third": unclear[side]} for side in (0, 1)]
    ways = {"agreement": True, "doubt": True, "third": True}
    together = compare(several(columns[0], ways), several(columns[1], ways), margin=0.0)
    alone = compare(several(columns[0], ways), several(columns[1], ways), margin=0.0, metrics=["doubt"])
    first, second, third = together.metrics
    assert first.p_adjusted == pytest.approx(3 * (first.p_value or 0))
    assert second.p_adjusted == third.p_adjusted == pytest.approx(2 * (second.p_value or 0))
    assert 0.025 < (second.p_value or 0) < 0.05
    assert only(alone).verdict is Verdict.WORSE
    assert second.verdict is Verdict.UNDERPOWERED
    assert first.verdict is Verdict.WORSE
    assert (second.detectable or 0) > (only(alone).detectable or 0)


def test_same_seed_same_answer_and_another_seed_another_draw() -> None:
    sides = pair_of(-0.01)
    first, again, other = (compare(*sides, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.to_dict() == again.to_dict()
    assert only(first).p_value != only(other).p_value
    assert only(first).interval != only(other).interval


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30))
def test_sides_exchanged_is_the_opposite_and_shares_make_one(values: list[tuple[float, float]]) -> None:
    sides = [run([value[side] for value in values]) for side in (0, 1)]
    found, back = only(compare(*sides)), only(compare(*reversed(sides)))
    assert found.better + found.worse + found.equal == pytest.approx(1)
    assert found.difference == pytest.approx(-(back.difference or 0), abs=1e-12)
    assert (found.better, found.worse) == (back.worse, back.better)
    assert found.p_value == back.p_value
    assert {found.verdict, back.verdict} != {Verdict.WORSE}


# --- few items, equal items ------------------------------------------------------------------------------------------


def test_one_item_is_underpowered() -> None:
    found = only(compare(run([0.9]), run([0.1])))
    assert (found.interval, found.detectable) == (None, None)
    assert found.difference == pytest.approx(-0.8)
    assert found.p_value == 1.0
    assert found.verdict is Verdict.UNDERPOWERED


def test_fewer_items_than_any_test_can_decide_over_are_underpowered_even_where_all_are_equal() -> None:
    for count, verdict in ((fewest_pairs() - 1, Verdict.UNDERPOWERED), (fewest_pairs(), Verdict.NO_WORSE)):
        found = only(compare(run([0.5] * count), run([0.5] * count), margin=1.0))
        assert found.verdict is verdict
        assert (found.interval, found.p_value, found.equal, found.detectable) == ((0, 0), 1.0, 1.0, None)
        assert found.keeps_from_telling is (verdict is Verdict.UNDERPOWERED)


@pytest.mark.parametrize(("count", "verdict"), [(10, "underpowered"), (148, "underpowered"), (149, "no worse")])
def test_equal_runs_are_no_worse_only_if_so_many_items_would_have_shown_a_loss_beyond_the_margin(
    count: int, verdict: str
) -> None:
    # 1 - .05 ** (1 / n) is .02 at n = 148.3: with more items, that share times the largest loss, 1, is within it.
    found = only(compare(run([0.5] * count), run([0.5] * count), margin=0.02))
    assert (str(found.verdict), found.keeps_from_telling) == (verdict, False)
    assert found.equal_words.startswith(f"no item differs; with {count} items up to ")
    # Outside 0 to 1 the range seen stands for the largest loss: 8, and their size where all are the same: 3.
    wide = [2.0, 10.0] * 100
    assert only(compare(run(wide), run(wide), margin=8 * 0.0149)).verdict is Verdict.NO_WORSE
    assert only(compare(run(wide), run(wide), margin=8 * 0.0148)).verdict is Verdict.UNDERPOWERED
    assert only(compare(run([3.0] * 200), run([3.0] * 200), margin=3 * 0.0148)).verdict is Verdict.UNDERPOWERED


def test_a_small_loss_by_the_same_everywhere_is_neither_no_worse_nor_worse() -> None:
    found = only(compare(run([0.5] * 20), run([0.49] * 20)))
    assert found.verdict is Verdict.UNDERPOWERED
    assert (found.unsure or "").startswith("agreement is underpowered: all items differ by the same; with 20 items up")
    assert only(compare(run([0.9] * 6), run([0.1] * 6))).verdict is Verdict.WORSE


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_verdicts_do_not_depend_on_the_unit(unit: float) -> None:
    baseline, candidate = shifted(40, -0.05)
    sides = [run([unit * value for value in side]) for side in (baseline, candidate)]
    assert only(compare(*sides, margin=0.02 * unit)).verdict is Verdict.WORSE
    noisy = run([unit * value * (1 + 5e-7) for value in baseline])
    assert only(compare(sides[0], noisy, margin=0.02 * unit)).equal == 1.0


@pytest.mark.parametrize("count", [1, 5, 6, 7])
def test_a_loss_on_every_item_of_two_metrics_is_worse_or_cannot_be_told(count: int) -> None:
    ways = {"agreement": True, "third": True}
    before, after = (several({name: [value] * count for name in ways}, ways) for value in (0.9, 0.1))
    for found in compare(before, after).metrics:
        assert found.fewest == 7
        assert found.verdict is (Verdict.WORSE if count == 7 else Verdict.UNDERPOWERED)
        assert found.keeps_from_telling is (count < 7)
        assert count == 7 or f"too few items: {count}, and with fewer than 7" in (found.unsure or "")


def test_all_of_six_items_losing_alike_is_worse_with_an_interval_of_their_spread() -> None:
    found = only(compare(run([0.9] * 6), run([0.12, 0.1, 0.09, 0.11, 0.1, 0.13])))
    assert found.verdict is Verdict.WORSE
    assert found.interval is not None
    assert -0.84 < found.interval[0] < found.interval[1] < -0.74


def test_the_detectable_difference_reaches_as_far_as_the_interval() -> None:
    found = only(compare(run([0.9] * 40), run([0.9] * 37 + [0.5, 0.6, 0.4])))
    assert found.interval is not None
    assert found.difference is not None
    reach = max(found.difference - found.interval[0], found.interval[1] - found.difference)
    assert (found.detectable or 0) > reach


def test_what_single_precision_leaves_is_no_difference() -> None:
    values = [0.1 * n for n in range(1, 10)]
    found = only(compare(run(values), run([value - 2e-7 for value in values]), margin=0.0))
    assert (found.equal, found.difference, found.detectable) == (1.0, 0.0, None)


def test_an_empty_side_is_refused() -> None:
    for sides in ((run([]), run([0.5])), (run([0.5]), run([]))):
        with pytest.raises(ConfigurationError, match="holds no items"):
            compare(*sides)


def test_items_without_scores_are_refused() -> None:
    bare = LocalResults((ItemResult("a", {}, {}, ()),))
    with pytest.raises(ConfigurationError, match="neither side holds a score"):
        compare(bare, bare)


# --- pairing ---------------------------------------------------------------------------------------------------------


def test_items_are_paired_by_id_in_any_order_and_those_of_one_side_are_listed() -> None:
    baseline, candidate = run([0.1, 0.2, 0.3]), run([0.1, 0.2, 0.3])
    turned = replace(candidate, items=(*reversed(candidate.items), result("new", {"agreement": 0.0})))
    found = compare(replace(baseline, items=(*baseline.items, result("old", {"agreement": 1.0}))), turned)
    assert [item.id for item in found.items] == ["q0", "q1", "q2"]
    assert only(found).equal == 1.0
    assert (found.only_baseline, found.only_candidate) == (("old",), ("new",))
    assert found.unscored == ()


def test_different_datasets_are_refused() -> None:
    other = replace(run([0.5]), items=(result("x", {"agreement": 0.5}),))
    with pytest.raises(ConfigurationError, match=r"no item in common \(ids like 'q0', 'x'\)"):
        compare(run([0.5]), other)


def test_one_id_for_another_question_is_refused_and_named() -> None:
    other = run([0.5] * 8)
    renamed = [replace(item, item={"input": "What else?"}) for item in other.items[:6]]
    with pytest.raises(ConfigurationError) as refused:
        compare(run([0.5] * 8), replace(other, items=(*renamed, *other.items[6:])))
    assert "6 of 8 ids" in str(refused.value)
    assert "q0, q1, q2, q3, q4, ..." in str(refused.value)
    assert "'Question q0?' in the baseline and 'What else?' in the candidate" in str(refused.value)


def conversation(system: str, question: str) -> dict[str, Any]:
    return {"messages": [{"role": "system", "content": system}, {"role": "user", "content": question}]}


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ({"input": "Why?", "output": "So."}, {"input": "Why?", "output": "Else.", "model": "other"}, True),
        ({"question": "Why?", "context": "old"}, {"question": "Why?", "context": "new"}, True),
        (conversation("Be brief.", "Why?"), conversation("Be long.", "Why?"), True),
        (conversation("Be brief.", "Why?"), conversation("Be brief.", "How?"), False),
        ({"messages": [{"role": "system", "content": "a"}]}, {"messages": [{"role": "system", "content": "b"}]}, True),
        ({"topic": "birds", "output": "a"}, {"topic": "birds", "output": "b"}, True),
        ({"topic": "birds"}, {"topic": "fish"}, False),
        ({"topic": float("nan")}, {"topic": float("nan")}, True),
    ],
)
def test_an_item_is_the_same_if_the_same_is_asked(before: Mapping[str, Any], after: Any, same: bool) -> None:
    sides = [LocalResults((ItemResult("a", item, {}, (Score("s", 0.5),)),), {"s": True}) for item in (before, after)]
    if same:
        assert only(compare(*sides)).pairs == 1
    else:
        with pytest.raises(ConfigurationError, match="another item on each side: a;"):
            compare(*sides)


def test_trials_of_an_item_count_as_one_item_with_their_mean() -> None:
    twice = [result("a", {"agreement": value}, answer=f"Answer {value}") for value in (0.2, 0.6)]
    candidate = LocalResults((*twice, result("b", {"agreement": 0.5})), {"agreement": True})
    baseline = LocalResults((result("a", {"agreement": 0.5}), result("b", {"agreement": 0.5})), {"agreement": True})
    found = compare(baseline, candidate)
    assert only(found).pairs == 2
    item = found.items[0]
    assert item.trials == (1, 2)
    assert item.candidate_values["agreement"] == pytest.approx(0.4)
    assert item.differences["agreement"] == pytest.approx(-0.1)
    assert item.candidate.output == {"output": "Answer 0.2"}


def test_one_id_for_several_items_is_refused() -> None:
    mixed = replace(run([0.5]), items=(result("a", {"agreement": 1}), result("a", {"agreement": 1}, question="Else?")))
    with pytest.raises(ConfigurationError, match="in the candidate one id stands for several items: a"):
        compare(replace(run([0.5]), items=(result("a", {"agreement": 1}),)), mixed)


# --- scores that are not there ---------------------------------------------------------------------------------------


def test_every_score_that_is_not_there_is_listed_with_its_reason() -> None:
    baseline = run([0.5, None, 0.5, 0.5])
    candidate = run([0.5, 0.5, 0.5, 0.5])
    broken = replace(candidate.items[2], scores=(Score("agreement", None),), error="the task raised KeyError('x')")
    candidate = replace(candidate, items=(*candidate.items[:2], broken, replace(candidate.items[3], scores=())))
    found = compare(baseline, candidate)
    assert [(one.side, one.id, one.metric, one.reason) for one in found.unscored] == [
        ("baseline", "q1", "agreement", "the judge gave no verdict"),
        ("candidate", "q2", "agreement", "the task raised KeyError('x')"),
        ("candidate", "q3", "agreement", "the run has no such score for this item"),
    ]
    assert found.unscored_items == ("q1", "q2", "q3")
    assert only(found).pairs == 1
    assert found.items[1].differences == {}


def test_a_failed_trial_is_unscored_and_the_others_are_the_items_value() -> None:
    trials = (result("a", {"agreement": None}), result("a", {"agreement": 0.4}))
    baseline = LocalResults((result("a", {"agreement": 0.5}),), {"agreement": True})
    found = compare(baseline, LocalResults(trials))
    assert [one.id for one in found.unscored] == ["a"]
    assert found.items[0].differences["agreement"] == pytest.approx(-0.1)


def test_a_metric_without_any_pair_has_no_figures() -> None:
    found = only(compare(run([None, None]), run([0.5, 0.5])))
    assert (found.pairs, found.verdict) == (0, Verdict.UNDERPOWERED)
    figures = (found.baseline_mean, found.candidate_mean, found.difference, found.interval, found.p_value)
    assert figures == (None,) * 5
    assert (found.p_adjusted, found.detectable) == (None, None)
    assert (found.better, found.worse, found.equal) == (0, 0, 0)


# --- metrics, directions, margins ------------------------------------------------------------------------------------


def test_a_score_on_one_side_only_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="the baseline has no score doubt; it has agreement"):
        compare(run([0.5]), run([0.5], "doubt"))
    with pytest.raises(ConfigurationError, match="has no score nothing"):
        compare(run([0.5]), run([0.5]), metrics=["nothing"])


def test_a_direction_must_be_known_and_can_be_given() -> None:
    silent = several({"agreement": [0.5] * 8}, {"agreement": None})
    with pytest.raises(ConfigurationError, match=r"which way agreement is better.*--metric agreement:higher"):
        compare(silent, silent)
    assert only(compare(silent, silent, directions={"agreement": False})).higher_is_better is False
    # One side that says it is enough, as where the other was read from Opik.
    assert only(compare(silent, run([0.5] * 8))).higher_is_better is True


def test_contradicting_directions_are_refused_unless_one_is_given() -> None:
    up, down = (several({"agreement": [0.5] * 8}, {"agreement": way}) for way in (True, False))
    with pytest.raises(ConfigurationError, match="in different directions"):
        compare(up, down)
    assert only(compare(up, down, directions={"agreement": True})).higher_is_better is True


def test_margins_are_given_for_all_or_by_metric() -> None:
    columns = {"agreement": [0.5] * 8, "doubt": [0.5] * 8}
    sides = [several(columns, DIRECTIONS)] * 2
    assert [m.margin for m in compare(*sides).metrics] == [0.02, 0.02]
    assert [m.margin for m in compare(*sides, margin=0.1).metrics] == [0.1, 0.1]
    assert [m.margin for m in compare(*sides, margin={"doubt": 0.3}).metrics] == [0.02, 0.3]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"margin": -0.1}, "at least 0, not -0.1"),
        ({"margin": math.nan}, "at least 0, not nan"),
        ({"margin": True}, "at least 0, not True"),
        ({"margin": {"doubt": 0.1}}, "a margin is given for doubt, which is not compared"),
        ({"directions": {"doubt": True}}, "a direction is given for doubt, which is not compared"),
        ({"alpha": 0.0}, "alpha must be between 0 and 1"),
        ({"alpha": 1}, "alpha must be between 0 and 1"),
        ({"alpha": 0.00009}, "an alpha of 9e-05 over 1 metric is finer than a test of 9,999 permutations"),
        ({"alpha": "x"}, "alpha must be between 0 and 1"),
    ],
)
def test_arguments_that_cannot_work_are_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        compare(run([0.5] * 8), run([0.5] * 8), **arguments)


# --- the worst items, and JSON ---------------------------------------------------------------------------------------


def test_the_worst_items_are_those_that_lost_most_by_the_metrics_own_measure() -> None:
    before = several({"agreement": [0.5, 0.5, 0.5, 0.5], "doubt": [10.0, 10.0, 10.0, 10.0]}, DIRECTIONS)
    after = several({"agreement": [0.5, 0.3, 0.6, 0.45], "doubt": [30.0, 10.0, 9.0, 10.0]}, DIRECTIONS)
    found = compare(before, after)
    # q0 lost 20 of doubt's root mean square of 10.01; q1 .2 of agreement's .115; q3 .05; q2 lost nothing.
    assert [item.id for item in found.worst(9)] == ["q0", "q1", "q3"]
    assert [item.id for item in found.worst(1)] == ["q0"]
    assert [item.id for item in found.worst(9, "agreement")] == ["q1", "q3"]
    assert found.worst(0) == ()
    with pytest.raises(ConfigurationError, match="no metric 'third' was compared"):
        found.worst(1, "third")


def test_equal_runs_have_no_worst_item() -> None:
    assert compare(run([0.5] * 3), run([0.5] * 3)).worst(5) == ()


def test_the_comparison_as_json_holds_every_figure() -> None:
    comparison = compare(*pair_of(-0.03), names=("main", "branch"), seed=3)
    data = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert (data["schema"], data["baseline"], data["candidate"], data["seed"]) == (1, "main", "branch", 3)
    metric = data["metrics"][0]
    assert metric["verdict"] == "worse"
    assert metric["interval"] == list(only(comparison).interval or ())
    assert len(data["items"]) == 60
    assert data["items"][0]["differences"] == comparison.items[0].differences
    assert (data["only_baseline"], data["unscored"]) == ([], [])


def test_of_two_metrics_each_needs_the_items_that_both_need() -> None:
    before = several({"agreement": [0.9] * 6, "doubt": [0.2] * 6}, DIRECTIONS)
    agreement = [0.9, 0.91, 0.9, 0.89, 0.9, 0.9]
    after = several({"agreement": agreement, "doubt": [0.2, 0.21, 0.2, 0.19, 0.2, 0.2]}, DIRECTIONS)
    compared = compare(before, after)
    assert [(metric.verdict, metric.fewest) for metric in compared.metrics] == [(Verdict.UNDERPOWERED, 7)] * 2


def test_what_could_have_been_detected_does_not_depend_on_what_was_found() -> None:
    none, large = (only(compare(*pair_of(shift))).detectable for shift in (0.0, -0.3))
    assert none == pytest.approx(0.018388610747960, abs=1e-12)
    assert large == pytest.approx(none)


def test_an_item_without_a_score_lost_nothing_by_it() -> None:
    before = several({"agreement": [0.5] * 4, "doubt": [0.5] * 4}, DIRECTIONS)
    after = several({"agreement": [0.4, None, None, None], "doubt": [0.5, 0.7, 0.7, 0.5]}, DIRECTIONS)
    compared = compare(before, after)
    assert [item.id for item in compared.worst(3)] == ["q0", "q1", "q2"]
    assert compared.lost_most(compared.items[0]) == "agreement"
