from __future__ import annotations

import json
import statistics
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opik_checkembed.calibration import Calibration, CalibrationWarning, fit_moments, rethreshold
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.results import ItemResult, LocalResults, Score

SAMPLES = {
    "requested": 5,
    "samples": [{"text": "x", "status": "ok", "model": "gpt", "origin": "asked"}],
    "failures": [],
    "notes": [],
    "temperature": 1.0,
    "cost_usd": 0.0,
    "calls": 5,
}


def results_of(count: int = 60, **changes: list[float | None]) -> LocalResults:
    rng = np.random.default_rng(0)
    columns: dict[str, list[float | None]] = {
        "agreement": rng.normal(0.9, 0.02, count).tolist(),
        "surprise": rng.normal(6.0, 2.0, count).tolist(),
        **changes,
    }
    items = []
    for number in range(count):
        scores = [
            Score(name, column[number], evidence={"options": {"n": 1}, "std": number / 7}, samples=0)
            for name, column in columns.items()
        ]
        items.append(ItemResult(f"q{number}", {}, {}, tuple(scores), (SAMPLES,)))
    return LocalResults(tuple(items), {"agreement": True, "surprise": False, **dict.fromkeys(changes, False)})


def column(results: LocalResults, name: str) -> list[float]:
    scores = [item.score(name) for item in results.items]
    return [score.value for score in scores if score is not None and score.value is not None]


def test_mean_and_deviation_of_each_score_are_kept_with_what_they_are_of() -> None:
    results = results_of()
    moments = fit_moments(results, name="mine", data="sixty answers")
    assert (moments.name, moments.method, moments.names) == ("mine", "moments", ("agreement", "surprise"))
    for feature in moments.features:
        values = column(results, feature.name)
        assert feature.mean == pytest.approx(statistics.fmean(values))
        assert feature.sd == pytest.approx(statistics.pstdev(values))
    assert [feature.higher_is_better for feature in moments.features] == [True, False]
    told = moments.fitted_on
    assert told is not None
    assert (told.data, told.answers, told.left_out, told.labels, told.folds) == ("sixty answers", 60, 0, 0, 0)
    assert (told.models, told.num_samples, told.warnings) == (("gpt",), (5,), ())
    assert told.options == {"agreement": {"n": 1}, "surprise": {"n": 1}}


def test_they_are_the_same_after_json(tmp_path: Path) -> None:
    results = results_of()
    moments = fit_moments(results)
    moments.to_json(tmp_path / "moments.json")
    again = Calibration.from_json(tmp_path / "moments.json")
    assert again == moments
    assert json.loads((tmp_path / "moments.json").read_text("utf-8"))["method"] == "moments"
    assert rethreshold(results, again, 0.5) == rethreshold(results, moments, 0.5)


def test_half_of_the_answers_they_are_of_lie_on_each_side_and_scale_does_not_matter() -> None:
    results = results_of(400)
    found = rethreshold(results, fit_moments(results), 0.5)
    assert len(found.flagged) == pytest.approx(200, abs=30)
    hundredfold: list[float | None] = [100 * value for value in column(results, "surprise")]
    scaled = results_of(400, surprise=hundredfold)
    again = rethreshold(scaled, fit_moments(scaled), 0.5)
    assert [one.value for one in again.items] == pytest.approx([one.value for one in found.items])


def test_answers_that_lack_a_score_are_left_out_and_counted() -> None:
    surprise: list[float | None] = [float(number) for number in range(60)]
    surprise[3] = None
    moments = fit_moments(results_of(surprise=surprise))
    told = moments.fitted_on
    assert told is not None
    assert (told.answers, told.left_out) == (59, 1)
    assert moments.means["surprise"] == pytest.approx((sum(range(60)) - 3) / 59)


def test_numbers_of_the_evidence_and_their_directions_can_be_named() -> None:
    moments = fit_moments(results_of(), ["agreement.std", "agreement"], directions={"agreement.std": False})
    assert moments.names == ("agreement.std", "agreement")
    assert moments.means["agreement.std"] == pytest.approx(59 / 2 / 7)
    told = moments.fitted_on
    assert told is not None
    assert told.options.keys() == {"agreement.std", "agreement"}
    turned = fit_moments(results_of(), ["agreement"], directions={"agreement": False})
    assert turned.features[0].higher_is_better is False


def test_few_answers_are_warned_of() -> None:
    with pytest.warns(CalibrationWarning, match="'moments': the moments of only 49 answers; 50 are the least"):
        moments = fit_moments(results_of(49))
    told = moments.fitted_on
    assert told is not None
    assert told.warnings == ("the moments of only 49 answers; 50 are the least to rely on",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit_moments(results_of(50))


@pytest.mark.parametrize(
    ("results", "options", "says"),
    [
        (results_of(surprise=[0.5] * 60), {}, "surprise is the same for all 60 answers.*leave it out"),
        (results_of(1), {}, "agreement, surprise is the same for all 1 answers"),
        (results_of(surprise=[None] * 60), {"scores": ["agreement", "surprise"]}, "no item has a value of surprise"),
        (results_of(), {"scores": ["agreement.std"]}, "directions lacks agreement.std"),
        (results_of(), {"scores": []}, "no score to fit on"),
        (results_of(), {"scores": ["nli"]}, "no item has a value of nli"),
        (
            results_of(2, agreement=[0.5, None], surprise=[None, 0.5]),
            {},
            r"none of 2 answers has every score \(agreement, surprise\)",
        ),
    ],
)
def test_what_has_no_moments_is_said(results: LocalResults, options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        fit_moments(results, **options)


def test_they_flag_nothing_by_themselves() -> None:
    results = results_of()
    moments = fit_moments(results)
    assert moments.threshold > 1
    with pytest.raises(ConfigurationError, match="'moments' holds moments, which flag nothing by themselves"):
        rethreshold(results, moments)
    assert 0 < len(rethreshold(results, replace(moments, threshold=0.84)).flagged) < 30


def test_a_score_made_of_others_is_not_among_them() -> None:
    results = results_of()
    items = [
        replace(one, scores=(*one.scores, Score("both", number / 60, evidence={"parts": []})))
        for number, one in enumerate(results.items)
    ]
    with_both = replace(results, items=tuple(items), directions={**results.directions, "both": False})
    assert fit_moments(with_both).names == fit_moments(results).names
    assert fit_moments(with_both, ["both"]).names == ("both",)


def test_scores_that_differ_by_rounding_are_constant() -> None:
    agreement: list[float | None] = [(1.0, 0.9999999999999999, 0.9999999999999998)[at % 3] for at in range(60)]
    with pytest.raises(ConfigurationError, match="agreement is the same for all"):
        fit_moments(results_of(agreement=agreement))
