from __future__ import annotations

from dataclasses import replace

import pytest

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.gate.comparison import Comparison, Verdict, compare
from opik_checkembed.gate.decision import Outcome, decide
from opik_checkembed.gate.thresholds import parse_threshold
from opik_checkembed.results import LocalResults
from tests.gate.runs import pair_of, result, run


def comparison(shift: float, unscored: int = 0, margin: float = 0.02) -> Comparison:
    baseline, candidate = pair_of(shift)
    failed = tuple(result(item.id, {"agreement": None}) for item in candidate.items[:unscored])
    return compare(baseline, replace(candidate, items=(*failed, *candidate.items[unscored:])), margin=margin)


def test_no_worse_and_improved_pass_without_a_word() -> None:
    for shift in (0.0, 0.03):
        found = decide(comparison(shift))
        assert (found.outcome, found.reasons, found.complete) == (Outcome.PASSED, (), True)


def test_worse_fails() -> None:
    found = decide(comparison(-0.03))
    assert (found.outcome, found.reasons) == (Outcome.WORSE, ("agreement is worse",))
    assert found.outcome == 1


def test_underpowered_passes_with_a_word_or_fails_where_that_is_asked_for() -> None:
    unsure = comparison(-0.01)
    assert decide(unsure).outcome is Outcome.PASSED
    assert "agreement is underpowered" in decide(unsure).reasons[0]
    failed = decide(unsure, fail_on_underpowered=True)
    assert (failed.outcome, failed.complete) == (Outcome.CANNOT_TELL, True)


def test_a_threshold_that_does_not_hold_fails_though_nothing_got_worse() -> None:
    found = decide(comparison(0.0), [parse_threshold("agreement>=0.99"), parse_threshold("agreement>=0.1")])
    assert found.outcome is Outcome.WORSE
    assert [one.passed for one in found.thresholds] == [False, True]
    assert len(found.reasons) == 1
    assert found.reasons[0].startswith("agreement>=0.99 does not hold: the candidate has 0.")


def test_a_threshold_fails_whatever_is_underpowered() -> None:
    found = decide(comparison(-0.01), [parse_threshold("agreement>=0.99")], fail_on_underpowered=True)
    assert found.outcome is Outcome.WORSE
    assert len(found.reasons) == 2


def test_a_threshold_for_another_score_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="not compared: doubt<=1; there are agreement"):
        decide(comparison(0.0), [parse_threshold("doubt<=1")])


def test_unscored_items_fail_unless_allowed_by_number_even_where_the_rest_is_worse() -> None:
    for shift, otherwise in ((0.0, Outcome.PASSED), (-0.03, Outcome.WORSE)):
        broken = comparison(shift, unscored=2)
        for allowed in (0, 1):
            found = decide(broken, allow_unscored=allowed)
            assert (found.outcome, found.complete) == (Outcome.CANNOT_TELL, False)
            assert found.reasons[0] == f"items without a score: 2 of 60 ({allowed} allowed)"
        assert decide(broken, allow_unscored=2).outcome is otherwise


def test_missing_items_fail_unless_allowed_by_number() -> None:
    baseline, candidate = pair_of(0.0)
    found = compare(replace(baseline, items=baseline.items[1:]), replace(candidate, items=candidate.items[:-2]))
    assert (found.only_baseline, found.only_candidate) == (("q58", "q59"), ("q0",))
    failed = decide(found, allow_missing=2)
    assert (failed.outcome, failed.reasons) == (Outcome.CANNOT_TELL, ("items on one side only: 3 (2 allowed)",))
    assert decide(found, allow_missing=3).outcome is Outcome.PASSED


def test_nothing_scored_cannot_be_told_even_where_that_is_allowed() -> None:
    nothing = compare(run([None] * 8), run([0.5] * 8))
    found = decide(nothing, [parse_threshold("agreement>=0.1")], allow_unscored=8)
    assert found.outcome is Outcome.CANNOT_TELL
    assert found.reasons == ("agreement has no item with a value on both sides",)
    assert [(one.value, one.passed) for one in found.thresholds] == [(None, False)]


def test_three_percent_failed_scores_are_no_pass() -> None:
    values: list[float | None] = [0.8] * 100
    for place in (3, 50, 97):
        values[place] = None
    found = compare(run([0.8] * 100), run(values))
    assert decide(found).outcome == 2
    assert [one.id for one in found.unscored] == ["q3", "q50", "q97"]


def test_the_decision_as_json() -> None:
    found = decide(comparison(-0.03), [parse_threshold("agreement>=0.1")])
    data = found.to_dict()
    assert (data["outcome"], data["exit_code"], data["complete"]) == ("worse", 1, True)
    assert data["thresholds"] == [{"threshold": "agreement>=0.1", "value": found.thresholds[0].value, "passed": True}]
    assert [outcome.words for outcome in Outcome] == ["passed", "worse", "cannot tell"]


def test_one_item_cannot_be_told() -> None:
    one = LocalResults((result("a", {"agreement": 0.5}),), {"agreement": True})
    found = decide(compare(one, one))
    assert found.outcome is Outcome.CANNOT_TELL
    assert found.reasons == ("agreement has too few items: 1, and with fewer than 6 no test can tell",)


def test_a_loss_on_all_of_too_few_items_is_no_pass() -> None:
    found = decide(compare(run([0.9] * 5), run([0.1] * 5)))
    assert found.outcome is Outcome.CANNOT_TELL
    assert found.reasons[0].endswith("no test can tell, though the candidate lost on every one of them")


def test_a_loss_beyond_the_margin_that_is_not_significant_is_no_pass() -> None:
    base = comparison(-0.03)
    unsure = replace(base.metrics[0], verdict=Verdict.UNDERPOWERED, interval=(-0.5, -0.03))
    found = decide(replace(base, metrics=(unsure,)))
    assert found.outcome is Outcome.CANNOT_TELL
    assert "lost more than the margin" in found.reasons[0]
    within = decide(replace(base, metrics=(replace(unsure, interval=(-0.5, -0.01)),)))
    assert within.outcome is Outcome.PASSED


def test_equal_runs_of_ten_items_pass_with_a_word() -> None:
    found = decide(compare(run([0.5] * 10), run([0.5] * 10)))
    assert found.outcome is Outcome.PASSED
    assert "no item differs; with 10 items up to 26 % of all" in found.reasons[0]
    many = decide(compare(run([0.5] * 300), run([0.5] * 300)))
    assert many.reasons == ("agreement: no item differs; with 300 items up to 0.99 % of all may still do otherwise",)


def test_a_value_just_beyond_its_threshold_is_shown_to_be() -> None:
    found = decide(compare(run([0.30003] * 8), run([0.30003] * 8)), [parse_threshold("agreement<=0.3")])
    assert found.reasons[0] == "agreement<=0.3 does not hold: the candidate has 0.30003"


def test_one_item_without_a_score_or_on_one_side_only_is_too_many_unless_it_is_allowed() -> None:
    unscored = decide(comparison(0.0, unscored=1))
    assert (unscored.outcome, unscored.reasons) == (
        Outcome.CANNOT_TELL,
        ("items without a score: 1 of 60 (0 allowed)",),
    )
    baseline, candidate = pair_of(0.0)
    missing = decide(compare(baseline, replace(candidate, items=candidate.items[1:])))
    assert (missing.outcome, missing.reasons[0]) == (Outcome.CANNOT_TELL, "items on one side only: 1 (0 allowed)")
