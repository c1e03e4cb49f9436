from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from opik_checkembed._version import __version__
from opik_checkembed.calibration import Calibration, CalibrationWarning, Fit, fit_calibration
from opik_checkembed.calibration.fit import FittedMethod, _auroc_within, auroc_of
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.ranking import Estimate

WAYS = {"agreement": True, "doubt": False}


def simulated(seed: int, count: int, weights: tuple[float, float] = (1.1, 0.6)) -> Any:
    """Two scores, the true probabilities of their answers, and labels drawn from them."""
    rng = np.random.default_rng(seed)
    agreement, doubt = rng.normal(0.7, 0.1, count), rng.gamma(2.0, 1.0, count)
    log_odds = -0.4 - weights[0] * (agreement - 0.7) / 0.1 + weights[1] * (doubt - 2) / np.sqrt(2)
    truth = 1 / (1 + np.exp(-log_odds))
    return {"agreement": agreement.tolist(), "doubt": doubt.tolist()}, truth, (rng.random(count) < truth).tolist()


def given_by(calibration: Calibration, scores: dict[str, list[float]]) -> NDArray[np.float64]:
    rows = zip(*(scores[name] for name in calibration.names), strict=True)
    return np.array([calibration.probability(dict(zip(calibration.names, row, strict=True))) for row in rows])


def quietly(*arguments: Any, **more: Any) -> Fit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        return fit_calibration(*arguments, **{"resamples": 20, **more})


# --- known probabilities come back --------------------------------------------------------------------------


def test_logistic_recovers_known_probabilities() -> None:
    scores, truth, labels = simulated(0, 4000)
    fit = fit_calibration(scores, labels, directions=WAYS, resamples=200)
    error = np.abs(given_by(fit.calibration, scores) - truth)
    assert error.mean() < 0.02
    assert error.max() < 0.08
    assert fit.calibration.coefficients == pytest.approx((1.1, 0.6), abs=0.12)
    assert fit.calibration.intercept == pytest.approx(-0.4, abs=0.12)
    # What was not seen is calibrated as well: the truth itself has such figures.
    told = fit.fitted_on
    assert told.auroc is not None
    assert told.brier is not None
    assert told.ece is not None
    assert told.ece.value is not None
    assert told.ece.value < 0.03
    assert told.brier.value == pytest.approx(float((truth * (1 - truth)).mean()), abs=0.01)
    for figure in (told.auroc, told.brier, told.ece):
        assert figure.value is not None
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low < figure.value < figure.high


def test_equal_weights_recover_probabilities_that_have_them() -> None:
    scores, truth, labels = simulated(1, 4000, weights=(0.8, 0.8))
    fit = quietly(scores, labels, directions=WAYS, method="equal")
    assert len(set(fit.calibration.coefficients)) == 1
    assert np.abs(given_by(fit.calibration, scores) - truth).max() < 0.08


def test_isotonic_recovers_a_curve_that_no_logistic_has() -> None:
    rng = np.random.default_rng(2)
    doubt = rng.random(4000)
    truth = np.where(doubt < 0.5, 0.1, 0.8)
    labels = (rng.random(4000) < truth).tolist()
    scores = {"doubt": doubt.tolist()}
    errors = {}
    for method in ("isotonic", "logistic"):
        fit = quietly(scores, labels, directions=WAYS, method=method)
        errors[method] = float(np.abs(given_by(fit.calibration, scores) - truth).mean())
    assert errors["isotonic"] < 0.02 < 0.07 < errors["logistic"]


@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=15, deadline=None)
def test_isotonic_never_falls_towards_hallucinated(seed: int, higher_is_better: bool) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 8, 60).astype(float)
    labels = rng.random(60) < 0.5
    labels[:2] = [True, False]
    fit = quietly({"s": values.tolist()}, labels.tolist(), directions={"s": higher_is_better}, method="isotonic")
    line = [fit.calibration.probability({"s": value}) for value in np.linspace(-1, 9, 41)]
    if higher_is_better:
        line.reverse()
    assert line == sorted(line)


# --- cross-validation ---------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 12), st.booleans(), st.floats(0, 1)), min_size=6, max_size=60),
    st.integers(0, 3),
)
@settings(max_examples=60, deadline=None)
def test_folds_share_no_group_and_are_fitted_on_both_classes(rows: list[tuple[int, bool, float]], seed: int) -> None:
    groups, labels = [row[0] for row in rows], [row[1] for row in rows]
    scores = {"doubt": [*(row[2] for row in rows[:-1]), 2.0]}
    if len(set(labels)) < 2:
        return
    fit = quietly(scores, labels, directions=WAYS, groups=groups, seed=seed, resamples=2)
    assert fit.groups.tolist() == [list(dict.fromkeys(groups)).index(group) for group in groups]
    if fit.folds is None:
        assert fit.fitted_on.folds == 0
        return
    homes: dict[int, set[int]] = {}
    for group, fold in zip(fit.groups.tolist(), fit.folds.tolist(), strict=True):
        homes.setdefault(group, set()).add(fold)
    assert all(len(folds) == 1 for folds in homes.values())
    for fold in range(fit.fitted_on.folds):
        assert set(fit.labels[fit.folds != fold].tolist()) == {True, False}


def test_a_probability_is_of_a_fit_that_has_not_seen_its_group() -> None:
    scores, _, labels = simulated(3, 120)
    groups = [row // 4 for row in range(120)]
    fit = quietly(scores, labels, directions=WAYS, groups=groups)
    assert fit.folds is not None
    assert fit.probabilities is not None
    out = fit.folds == 0
    seen = np.flatnonzero(~out)
    again = quietly(
        {name: [values[row] for row in seen] for name, values in scores.items()},
        [labels[row] for row in seen],
        directions=WAYS,
    )
    unseen = {name: [values[row] for row in np.flatnonzero(out)] for name, values in scores.items()}
    assert fit.probabilities[out] == pytest.approx(given_by(again.calibration, unseen))


def test_a_leak_between_folds_would_look_too_good() -> None:
    # Each passage has a value and a label of its own, drawn apart: nothing can be learned but the passages themselves.
    rng = np.random.default_rng(4)
    values, labels = rng.random(60), rng.random(60) < 0.5
    scores, truth = {"doubt": np.repeat(values, 8).tolist()}, np.repeat(labels, 8).tolist()
    grouped = quietly(scores, truth, directions=WAYS, groups=np.repeat(np.arange(60), 8).tolist(), method="isotonic")
    leaking = quietly(scores, truth, directions=WAYS, method="isotonic")
    assert grouped.fitted_on.brier is not None
    assert leaking.fitted_on.brier is not None
    assert grouped.fitted_on.brier.value is not None
    assert leaking.fitted_on.brier.value is not None
    assert leaking.fitted_on.brier.value < grouped.fitted_on.brier.value


def test_intervals_are_wider_for_answers_that_belong_together() -> None:
    scores, _, labels = simulated(5, 60)
    eightfold = {name: [value for value in values for _ in range(8)] for name, values in scores.items()}
    truth = [label for label in labels for _ in range(8)]
    groups = [row // 8 for row in range(480)]
    together = quietly(eightfold, truth, directions=WAYS, groups=groups, resamples=400).fitted_on.brier
    apart = quietly(eightfold, truth, directions=WAYS, resamples=400).fitted_on.brier
    assert together is not None
    assert apart is not None
    assert width(together) > 2 * width(apart)


def width(figure: Any) -> float:
    return float(figure.high - figure.low)


def test_few_groups_make_fewer_folds() -> None:
    scores, _, labels = simulated(6, 80)
    groups = [3 * label + row % 3 for row, label in enumerate(labels)]
    assert quietly(scores, labels, directions=WAYS, groups=groups).fitted_on.folds in {2, 3}
    assert quietly(scores, labels, directions=WAYS, folds=7).fitted_on.folds == 7


def test_one_group_for_a_class_leaves_no_figures_and_says_so() -> None:
    scores, _, labels = simulated(7, 80)
    groups = [0 if label else row for row, label in enumerate(labels, 1)]
    with pytest.warns(CalibrationWarning, match="not cross-validated: too few groups"):
        fit = fit_calibration(scores, labels, directions=WAYS, groups=groups)
    assert (fit.probabilities, fit.folds, fit.fitted_on.folds, fit.fitted_on.auroc) == (None, None, 0, None)
    assert fit.fitted_on.warnings == (
        "not cross-validated: too few groups hold both classes for folds that share none",
    )


def test_folds_that_leave_one_class_to_fit_on_are_no_validation() -> None:
    # The last group makes a fold, so that its fit would see it alone.
    fit = quietly({"doubt": [1, 2, 3, 4]}, [0, 1, 0, 1], directions=WAYS, groups=[3, 4, 4, 0])
    assert fit.probabilities is None
    assert "not cross-validated" in fit.fitted_on.warnings[-1]


def test_a_score_that_is_constant_in_a_fold_says_nothing_there() -> None:
    # The only spread is in one group: fits without it see none.
    values = [0.5] * 60 + [0.9] * 3
    labels = [row % 2 == 0 for row in range(63)]
    groups = [*range(60), 60, 60, 60]
    fit = quietly({"doubt": values}, labels, directions=WAYS, groups=groups)
    assert fit.probabilities is not None
    assert fit.folds is not None
    assert np.isfinite(fit.probabilities).all()


def test_a_score_with_hardly_any_spread_in_a_fold_overflows_nothing() -> None:
    values = [0.0, 0.0, 5e-324, 0.0, 0.0, 2.0]
    labels = [False, False, False, True, False, True]
    fit = quietly({"doubt": values}, labels, directions=WAYS, groups=[0, 0, 0, 0, 1, 1])
    assert fit.probabilities is not None
    assert fit.folds is not None
    assert np.isfinite(fit.probabilities).all()


def test_equal_seeds_give_equal_fits() -> None:
    scores, _, labels = simulated(8, 100)
    one, other = (quietly(scores, labels, directions=WAYS, seed=3) for _ in range(2))
    assert one.calibration == other.calibration
    assert one.probabilities is not None
    assert other.probabilities is not None
    assert one.probabilities.tolist() == other.probabilities.tolist()


# --- what it was fitted on ----------------------------------------------------------------------------------


def test_the_record_says_what_it_was_fitted_on() -> None:
    scores, _, labels = simulated(9, 100)
    holed: dict[str, list[float | None]] = {name: [*values] for name, values in scores.items()}
    holed["doubt"][3] = None
    holed["agreement"][5] = float("nan")
    fit = fit_calibration(
        holed,
        labels,
        directions=WAYS,
        groups=[row // 2 for row in range(100)],
        name="named",
        data="simulated",
        models=["gpt"],
        num_samples=[5],
        resamples=10,
    )
    told = fit.fitted_on
    assert (fit.calibration.name, told.data, told.models, told.num_samples) == ("named", "simulated", ("gpt",), (5,))
    assert (told.labels, told.left_out, told.groups, told.folds) == (98, 2, 50, 5)
    assert told.positives == sum(label for row, label in enumerate(labels) if row not in {3, 5})
    assert (told.metrics, told.package, told.warnings) == (("agreement", "doubt"), __version__, ())
    assert fit.rows.tolist() == [row for row in range(100) if row not in {3, 5}]
    assert fit.labels.tolist() == [labels[row] for row in fit.rows]
    assert fit.calibration.means["doubt"] == pytest.approx(np.mean([scores["doubt"][row] for row in fit.rows]))
    assert Calibration.from_dict(fit.calibration.to_dict()) == fit.calibration


def test_too_few_labels_have_no_calibration_error() -> None:
    scores, labels = alternating(29)
    few = quietly(scores, labels, directions=WAYS).fitted_on
    assert few.ece == Estimate(None)
    assert few.brier is not None
    assert few.brier.value is not None
    scores, labels = alternating(30)
    enough = quietly(scores, labels, directions=WAYS).fitted_on
    assert enough.ece is not None
    assert enough.ece.value is not None


def test_the_record_says_how_the_metrics_were_set_up() -> None:
    scores, labels = alternating(60)
    options = {"doubt": {"aggregate": "max", "words": ("a", "b")}, "unread": {"n": 1}}
    fit = quietly(scores, labels, directions=WAYS, options=options)
    assert fit.fitted_on.options == {"doubt": {"aggregate": "max", "words": ["a", "b"]}}
    assert fit.fitted_on.answers == 60
    again = Calibration.from_dict(json.loads(fit.calibration.to_json()))
    assert again == fit.calibration
    assert again.mismatches(options={"doubt": {"aggregate": "mean", "words": ["a", "b"]}}) == (
        "it was fitted on doubt with aggregate='max', not aggregate='mean'",
    )


def alternating(count: int) -> tuple[dict[str, list[float]], list[bool]]:
    labels = [row % 2 == 0 for row in range(count)]
    return {"doubt": [row % 7 + 3.0 * label for row, label in enumerate(labels)]}, labels


@pytest.mark.parametrize(
    ("count", "positives", "says"),
    [
        (49, None, ["fitted on only 49 labels; 50 are the least to rely on"]),
        (50, None, []),
        (60, 4, ["only 4 of its 60 labelled answers are hallucinated"]),
        (60, 1, ["only 1 of its 60 labelled answers is hallucinated"]),
        (60, 59, ["only 1 of its 60 labelled answers is right"]),
        (60, 5, []),
    ],
)
def test_a_fit_on_little_is_warned_of(count: int, positives: int | None, says: list[str]) -> None:
    scores, labels = alternating(count)
    if positives is not None:
        labels = [row < positives for row in range(count)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = fit_calibration(scores, labels, directions=WAYS, resamples=5)
    found = [text for text in fit.fitted_on.warnings if "cross-validated" not in text and "point against" not in text]
    assert found == says
    assert [str(one.message) for one in caught] == [
        f"the calibration 'calibration': {t}" for t in fit.fitted_on.warnings
    ]
    assert all(one.category is CalibrationWarning for one in caught)


@pytest.mark.parametrize("method", ["logistic", "equal"])
def test_turned_labels_are_noticed(method: FittedMethod) -> None:
    scores, labels = alternating(60)
    with pytest.warns(CalibrationWarning, match="are the directions or the labels turned around"):
        fit_calibration(scores, [not label for label in labels], directions=WAYS, method=method, resamples=5)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"labels": [True] * 60}, "all 60 labelled answers that have every score are hallucinated"),
        ({"labels": [0] * 60}, "are right: nothing can be fitted on one class"),
        ({"labels": [2] * 60}, r"must be True \(1, hallucinated\) or False \(0\), not 2"),
        ({"labels": ["yes"] * 60}, "not 'yes'"),
        ({"scores": {}}, "no score to fit on"),
        ({"scores": {"doubt": [1.0]}}, "60 labels but 1 values of doubt"),
        ({"scores": {"doubt": [None] * 60}}, r"none of 60 labelled answers has every score \(doubt\)"),
        ({"scores": {"doubt": [0.5] * 60}}, "doubt is the same for all labelled answers"),
        ({"directions": {}}, "directions lacks doubt"),
        ({"groups": [1]}, "60 labels but 1 groups"),
        ({"method": "forest"}, "method must be one of logistic, isotonic, equal"),
        ({"folds": 1}, "folds must be at least 2"),
        ({"resamples": 0}, "resamples must be at least 1"),
        (
            {"scores": {"doubt": [1.0] * 60, "agreement": [1.0] * 60}, "method": "isotonic"},
            "'isotonic' reads one score, not doubt, agreement",
        ),
    ],
)
def test_what_cannot_be_fitted_says_why(change: dict[str, Any], says: str) -> None:
    scores, labels = alternating(60)
    given = {"scores": scores, "labels": labels, "directions": WAYS, **change}
    with pytest.raises(ConfigurationError, match=says):
        fit_calibration(given.pop("scores"), given.pop("labels"), **given)


def numpy_labels() -> Iterator[Sequence[Any]]:
    _, labels = alternating(60)
    yield np.array(labels)  # type: ignore[misc]  # arrays are no sequences to mypy, and what people have
    yield np.array(labels, dtype=np.int64)  # type: ignore[misc]
    yield [int(label) for label in labels]


def test_labels_may_be_arrays_and_numbers() -> None:
    scores, labels = alternating(60)
    plain = quietly(scores, labels, directions=WAYS).calibration
    for same in numpy_labels():
        assert quietly(scores, same, directions=WAYS).calibration == plain


def test_the_auroc_of_a_score_has_an_interval_over_groups() -> None:
    found = auroc_of([1, 2, 3, 4] * 10, [False, False, True, True] * 10, [row // 4 for row in range(40)], resamples=50)
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)


def test_the_auroc_compares_answers_of_one_fold_only() -> None:
    # Each fold has a fit of its own and so a level of its own: pooled, .2 against .8 would count as an error.
    folds, truth = np.array([0, 0, 1, 1]), np.array([True, False, True, False])
    probabilities = np.array([0.2, 0.1, 0.9, 0.8])

    assert float(_auroc_within(folds, truth, probabilities, np.ones(4))) == 1.0
    weights = np.array([[1.0, 1, 1, 1], [1, 0, 1, 1], [1, 0, 0, 1]])
    found = _auroc_within(folds, truth, np.array([0.1, 0.2, 0.9, 0.8]), weights)
    assert found[:2].tolist() == [0.5, 1.0]
    assert np.isnan(found[2])


def test_groups_are_read_by_place_whatever_their_index() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 120)
    frame: Any = pandas.DataFrame({"s": labels + rng.normal(size=120), "label": labels, "passage": np.arange(120) // 4})
    frame = frame.sample(frac=1, random_state=0)
    fit = fit_calibration({"s": frame.s}, frame.label, directions={"s": False}, groups=frame.passage)
    assert fit.folds is not None
    assert all(len(set(fit.folds[frame.passage.to_numpy() == one].tolist())) == 1 for one in range(30))
    fit_calibration({"s": frame.s[:60]}, frame.label[:60], directions={"s": False}, groups=frame.passage[:60])
