from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opik_checkembed.calibration import Calibration, CalibrationWarning, Feature, FittedOn
from opik_checkembed.calibration.model import Options
from opik_checkembed.errors import ConfigurationError, ItemError
from opik_checkembed.functional.ranking import Estimate

AGREEMENT = Feature("agreement", higher_is_better=True, mean=0.7, sd=0.1)
DOUBT = Feature("doubt", higher_is_better=False, mean=2.0, sd=0.5)
FITTED_ON = FittedOn(
    data="biographies",
    labels=120,
    positives=40,
    groups=30,
    left_out=2,
    models=("davinci",),
    num_samples=(5, 10),
    metrics=("agreement", "doubt"),
    date="2025-01-31",
    package="0.1.0",
    folds=5,
    auroc=Estimate(0.8, 0.7, 0.9),
    brier=Estimate(0.2, 0.1, 0.3),
    ece=Estimate(0.05),
    warnings=("few",),
    options={"agreement": {"embedder": "minilm", "baseline": None}, "doubt": {"aggregate": "max", "n": 1}},
    answers=120,
)
LOGISTIC = Calibration(
    "mine",
    "logistic",
    (AGREEMENT, DOUBT),
    intercept=-0.5,
    coefficients=(1.5, 0.25),
    threshold=0.3,
    fitted_on=FITTED_ON,
)
ISOTONIC = Calibration("steps", "isotonic", (DOUBT,), knots=((-1.0, 0.1), (0.0, 0.2), (2.0, 1.0)))
MOMENTS = Calibration("moments", "moments", (AGREEMENT, DOUBT), fitted_on=FITTED_ON)
RULE = Calibration("rule", "threshold", (AGREEMENT, DOUBT), bounds=(0.9, 1.0))


def test_logistic_adds_up_log_odds_of_what_is_worse_than_usual() -> None:
    # Agreement two deviations below its mean, doubt one above: -0.5 + 1.5 * 2 + 0.25 * 1.
    scores = {"agreement": 0.5, "doubt": 2.5, "other": math.nan}
    assert LOGISTIC.contributions(scores) == pytest.approx({"agreement": 3.0, "doubt": 0.25})
    assert LOGISTIC.probability(scores) == pytest.approx(1 / (1 + math.exp(-2.75)))
    assert LOGISTIC.probability(LOGISTIC.means) == pytest.approx(1 / (1 + math.exp(0.5)))


def test_isotonic_is_a_line_through_its_knots_and_level_outside() -> None:
    at = {2.0: 0.2, 1.5: 0.1, 0.0: 0.1, 1.75: 0.15, 2.5: 0.6, 3.0: 1.0, 9.0: 1.0}
    assert {doubt: ISOTONIC.probability({"doubt": doubt}) for doubt in at} == pytest.approx(at)
    assert ISOTONIC.contributions({"doubt": 2.0}) == {}


def test_a_rule_is_passed_only_strictly_within_all_bounds() -> None:
    assert RULE.probability({"agreement": 0.91, "doubt": 0.99}) == 0.0
    assert RULE.probability({"agreement": 0.9, "doubt": 0.5}) == 1.0
    assert RULE.probability({"agreement": 0.95, "doubt": 1.0}) == 1.0
    assert RULE.contributions({"agreement": 0.95, "doubt": 1.0}) == {}


@pytest.mark.parametrize(
    ("agreement", "doubt", "z"),
    [(0.7, 2.0, 0.0), (0.6, 2.5, 1.0), (0.5, 2.0, 1.0), (0.8, 2.5, 0.0), (0.9, 1.0, -2.0), (-9.3, 2.0, 50.0)],
)
def test_moments_are_the_place_of_the_mean_deviation_on_the_normal_distribution(
    agreement: float, doubt: float, z: float
) -> None:
    scores = {"agreement": agreement, "doubt": doubt}
    assert MOMENTS.probability(scores) == pytest.approx(NormalDist().cdf(z), abs=1e-12)
    contributions = MOMENTS.contributions(scores)
    assert sum(contributions.values()) == pytest.approx(z, abs=1e-12)
    assert contributions["doubt"] == pytest.approx((doubt - 2.0) / 0.5 / 2)


def test_only_what_adds_its_scores_up_can_do_without_one() -> None:
    assert [one.adds for one in (LOGISTIC, MOMENTS, ISOTONIC, RULE)] == [True, True, False, False]


@pytest.mark.parametrize("missing", [None, math.nan, math.inf])
def test_a_score_without_a_value_is_named(missing: float | None) -> None:
    scores = {"agreement": 0.5, "doubt": missing}
    assert LOGISTIC.missing(scores) == ("doubt",)
    for use in (LOGISTIC.probability, LOGISTIC.contributions):
        with pytest.raises(ItemError, match="'mine' needs doubt, which has no value"):
            use(scores)


@pytest.mark.parametrize("calibration", [LOGISTIC, ISOTONIC, MOMENTS, RULE], ids=lambda one: one.name)
def test_json_holds_the_same_numbers(calibration: Calibration, tmp_path: Path) -> None:
    path = tmp_path / "new" / "calibration.json"
    text = calibration.to_json(path)
    assert Calibration.from_json(path) == calibration
    assert json.loads(path.read_text("utf-8")) == json.loads(text)
    assert json.loads(text)["schema"] == 1


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=2), st.floats(0.01, 9), st.floats(-9, 9))
@settings(max_examples=50, deadline=None)
def test_probabilities_are_the_same_after_a_round_trip(values: list[float], weight: float, intercept: float) -> None:
    calibration = replace(LOGISTIC, coefficients=(weight, weight / 3), intercept=intercept)
    again = Calibration.from_dict(json.loads(calibration.to_json()))
    scores = dict(zip(("agreement", "doubt"), values, strict=True))
    assert again.probability(scores) == calibration.probability(scores)
    assert 0 <= again.probability(scores) <= 1


def changed(**parts: Any) -> dict[str, Any]:
    return {**json.loads(LOGISTIC.to_json()), **parts}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({}, "has schema None"),
        (changed(schema=True), "has schema True"),
        (changed(schema=2), "Install a newer one"),
        ({"schema": 1}, "malformed: KeyError"),
        (changed(features=[{"name": "x"}]), "malformed: TypeError"),
        (changed(features=["agreement"]), "malformed"),
        (changed(knots=[1]), "malformed"),
        (changed(coefficients=["1", 2]), "must be finite numbers"),
        (changed(coefficients=[1.0]), "takes coefficients alone, one a score"),
        (changed(threshold=None), "must be finite numbers"),
        (changed(threshold=math.inf), "must be finite numbers"),
        (changed(method="forest"), "method must be one of logistic, isotonic, equal, moments, threshold"),
        (changed(method="moments"), "'moments' takes means and deviations alone"),
        (changed(method="threshold"), "takes bounds alone"),
        (changed(method="isotonic"), "takes knots alone"),
        (changed(method="isotonic", coefficients=[], knots=[[0, 0.5]]), "knots belong to 'isotonic', which reads one"),
        (changed(knots=[[0, 0.5]]), "knots belong to 'isotonic'"),
        (changed(name=""), "it has no name"),
        (changed(features=[], coefficients=[]), "at least one score"),
        (changed(features=json.loads(LOGISTIC.to_json())["features"][:1] * 2), "each once"),
        (changed(fitted_on={}), "malformed: KeyError"),
        (changed(fitted_on={**json.loads(LOGISTIC.to_json())["fitted_on"], "labels": "120"}), "whole numbers"),
        (changed(fitted_on={**json.loads(LOGISTIC.to_json())["fitted_on"], "models": "gpt"}), "a list of texts"),
        (changed(fitted_on={**json.loads(LOGISTIC.to_json())["fitted_on"], "data": 1}), "must be text"),
        (changed(fitted_on={**json.loads(LOGISTIC.to_json())["fitted_on"], "ece": {"value": "x"}}), "is no figure"),
        (changed(fitted_on={**json.loads(LOGISTIC.to_json())["fitted_on"], "answers": "x"}), "whole numbers"),
        (changed(fitted_on={**json.loads(LOGISTIC.to_json())["fitted_on"], "options": []}), "dicts by score"),
        (changed(fitted_on={**json.loads(LOGISTIC.to_json())["fitted_on"], "options": {"a": 1}}), "dicts by score"),
    ],
)
def test_anything_else_is_refused(data: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        Calibration.from_dict(data)


@pytest.mark.parametrize(
    ("feature", "says"),
    [
        (Feature("", True), "needs a name"),
        (Feature("x", 1), "needs a name"),  # type: ignore[arg-type]  # what JSON may hold
        (Feature("x", True, sd=0.0), "sd above 0"),
        (Feature("x", True, mean=math.nan), "finite"),
    ],
)
def test_a_feature_must_make_sense(feature: Feature, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        Calibration("x", "equal", (feature,), coefficients=(1.0,))


@pytest.mark.parametrize(
    ("knots", "says"),
    [
        ((), "needs knots"),
        (((0.0, 0.1), (0.0, 0.2)), "rise in z"),
        (((0.0, 0.2), (1.0, 0.1)), "not fall"),
        (((0.0, -0.1),), "from 0 to 1"),
        (((0.0, 0.1), (1.0, 1.1)), "from 0 to 1"),
        (((0.0, math.nan),), "finite numbers"),
    ],
)
def test_knots_must_rise(knots: tuple[tuple[float, float], ...], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        replace(ISOTONIC, knots=knots)


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "No such file"), (b"{", "Expecting"), (b"[1]", "does not hold a calibration"), (b"\xff", "utf-8")],
)
def test_a_file_that_is_no_calibration_is_refused(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "calibration.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=says):
        Calibration.from_json(path)


def test_what_differs_from_the_fit_is_said() -> None:
    assert LOGISTIC.mismatches(model="davinci", k=10, names=["agreement", "doubt"]) == ()
    assert LOGISTIC.mismatches(model="gpt", k=3, names=["agreement", "nli"]) == (
        "it was fitted on samples of davinci, not of gpt",
        "it was fitted on 5 or 10 samples for each answer, not 3",
        "it reads doubt, which is not there",
        "it does not read nli",
    )
    # What is not known on either side is no difference.
    assert LOGISTIC.mismatches() == ()
    unknown = replace(LOGISTIC, fitted_on=replace(FITTED_ON, models=(), num_samples=()))
    assert unknown.mismatches(model="gpt", k=3) == ()
    assert RULE.mismatches(model="gpt", k=3) == ()


def test_metrics_set_up_otherwise_are_said() -> None:
    same: Options = {"agreement": {"embedder": "minilm", "baseline": None}, "doubt": {"aggregate": "max"}}
    assert LOGISTIC.mismatches(options=same) == ()
    # What either side does not know is no difference.
    assert LOGISTIC.mismatches(options={"doubt": {"language": "de"}, "other": {"n": 2}}) == ()
    assert RULE.mismatches(options={"doubt": {"n": 2}}) == ()
    assert LOGISTIC.mismatches(options={"agreement": {"baseline": 0.5}, "doubt": {"n": 2, "aggregate": "mean"}}) == (
        "it was fitted on agreement with baseline=None, not baseline=0.5",
        "it was fitted on doubt with aggregate='max', n=1, not aggregate='mean', n=2",
    )


def test_a_file_of_an_earlier_version_is_read() -> None:
    data = json.loads(LOGISTIC.to_json())
    assert data["fitted_on"].pop("options") == FITTED_ON.options
    assert data["fitted_on"].pop("answers") == 120
    assert Calibration.from_dict(data) == replace(LOGISTIC, fitted_on=replace(FITTED_ON, options={}, answers=None))


def test_a_number_of_a_scores_evidence_needs_the_score() -> None:
    rule = replace(RULE, features=(Feature("agreement.mean", True), Feature("agreement.std", False)))
    assert rule.mismatches(names=["agreement"]) == ()
    assert rule.mismatches(names=["doubt"]) == (
        "it reads agreement.mean, agreement.std, which is not there",
        "it does not read doubt",
    )


def test_a_difference_is_warned_of_once() -> None:
    calibration = replace(LOGISTIC, name="warned of once")
    with pytest.warns(CalibrationWarning, match="'warned of once': it was fitted on samples of davinci, not of gpt"):
        assert len(calibration.check(model="gpt")) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(calibration.check(model="gpt")) == 1
        assert calibration.check(model="davinci") == ()
    with pytest.warns(CalibrationWarning, match="not of llama"):
        calibration.check(model="llama")


def test_a_file_is_in_utf_8_wherever_it_is_written(tmp_path: Path) -> None:
    code = f"""
from opik_checkembed.calibration import Calibration, Feature
own = Calibration("m\\u00fcller", "equal", (Feature("doubt", False),), coefficients=(1.0,))
own.to_json({str(tmp_path / "own.json")!r})
assert Calibration.from_json({str(tmp_path / "own.json")!r}) == own
"""
    plain = {**os.environ, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    subprocess.run([sys.executable, "-c", code], env=plain, check=True)


def test_half_a_surrogate_pair_in_a_name_and_a_mark_of_byte_order_are_no_hindrance(tmp_path: Path) -> None:
    own = Calibration("a \ud800", "equal", (Feature("doubt", False),), coefficients=(1.0,))
    own.to_json(tmp_path / "own.json")
    assert Calibration.from_json(tmp_path / "own.json") == own
    (tmp_path / "marked.json").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "own.json").read_bytes())
    assert Calibration.from_json(tmp_path / "marked.json") == own


def test_a_file_of_very_many_brackets_is_refused(tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text("[" * 200_000)
    with pytest.raises(ConfigurationError, match="no calibration can be read"):
        Calibration.from_json(tmp_path / "deep.json")
