from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opik_checkembed import CheckEmbedMetric, evaluate_locally
from opik_checkembed.calibration import Calibration, CalibrationWarning, Feature, FittedOn, load_preset, rethreshold
from opik_checkembed.calibration.apply import feature_value, independent, sampled
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.results import ItemResult, LocalResults, Score

CALIBRATION = Calibration(
    "mine",
    "equal",
    (Feature("agreement", True, 0.5, 0.25), Feature("doubt.worst", False, 2.0, 1.0)),
    coefficients=(1.0, 1.0),
    threshold=0.7,
)


def sample_set(model: str | None, requested: int) -> dict[str, Any]:
    return {
        "requested": requested,
        "samples": [{"model": model, "origin": "asked"}] * requested,
        "failures": [],
        "notes": [],
        "temperature": 1.0,
        "cost_usd": 0.0,
        "calls": 1,
    }


def item(identity: str, agreement: float | None, worst: Any, model: str | None = "gpt") -> ItemResult:
    scores = (
        Score("agreement", agreement, samples=0),
        Score("doubt", 0.5, evidence={"worst": worst}, samples=1),
        Score("free", 0.5),
    )
    # The last set belongs to the answer, not to a score.
    sets = (sample_set(model, 5), sample_set("gpt", 5), sample_set("answering", 1))
    return ItemResult(identity, {}, {}, scores, sets)


RESULTS = LocalResults(
    (item("good", 0.75, 1.0), item("bad", 0.25, 3.0), item("failed", None, 3.0), item("blank", 0.5, "much")),
    directions={"agreement": True, "doubt": False, "free": None},
)


def test_a_calibration_flags_what_it_finds_probable() -> None:
    found = rethreshold(RESULTS, CALIBRATION)
    # One deviation each on the good side (sum -2), on the bad side (+2).
    assert [one.value for one in found.items[:2]] == pytest.approx([0.1192, 0.8808], abs=1e-4)
    assert [one.flagged for one in found.items] == [False, True, None, None]
    assert [one.reason for one in found.items[2:]] == [
        "it has no value of agreement",
        "it has no value of doubt.worst",
    ]
    assert (found.flagged, found.unscored, found.by, found.threshold) == (("bad",), ("failed", "blank"), "mine", 0.7)


def test_another_threshold_needs_no_new_calibration() -> None:
    assert rethreshold(RESULTS, CALIBRATION, 0.1).flagged == ("good", "bad")
    assert rethreshold(RESULTS, CALIBRATION, 0.9).flagged == ()
    at = rethreshold(RESULTS, CALIBRATION).items[1].value
    assert rethreshold(RESULTS, CALIBRATION, at).flagged == ("bad",)


def test_a_score_is_cut_by_its_own_direction() -> None:
    found = rethreshold(RESULTS, "agreement", 0.5)
    assert found.flagged == ("bad", "blank")
    assert found.unscored == ("failed",)
    assert found.items[2].reason == "it could not be scored"
    assert rethreshold(RESULTS, "agreement", 0.5, higher_is_better=False).flagged == ("good", "blank")
    assert rethreshold(RESULTS, "doubt.worst", 2.0, higher_is_better=False).flagged == ("bad", "failed")


@pytest.mark.parametrize(
    ("by", "threshold", "says"),
    [
        ("agreement", None, "'agreement' needs a threshold"),
        ("free", 0.5, "'free' needs higher_is_better, which the results do not say"),
        ("nli", 0.5, "no item has a value of nli; the results' scores are agreement, doubt, free"),
        ("doubt.best", 0.5, "no item has a value of doubt.best"),
        ("agreement", float("nan"), "a threshold must be a finite number, not nan"),
        ("agreement", float("inf"), "a threshold must be a finite number, not inf"),
        ("agreement", "0.5", "a threshold must be a finite number, not '0.5'"),
        ("agreement", True, "a threshold must be a finite number, not True"),
        (CALIBRATION, float("nan"), "a threshold must be a finite number, not nan"),
        (replace(CALIBRATION, method="moments", coefficients=(), threshold=1.5), None, "moments.*give a threshold"),
        (replace(CALIBRATION, features=(*CALIBRATION.features[:1], Feature("nli", False))), None, "a value of nli"),
    ],
)
def test_what_cannot_be_read_is_said(by: Any, threshold: Any, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        rethreshold(RESULTS, by, threshold)


def fitted(models: tuple[str, ...], num_samples: tuple[int, ...], name: str) -> Calibration:
    told = FittedOn("data", 100, 50, 100, 0, models, num_samples, (), "", "", 0, None, None, None, ())
    return replace(CALIBRATION, name=name, fitted_on=told)


def test_another_model_or_number_of_samples_is_warned_of_once_and_kept() -> None:
    calibration = fitted(("llama",), (3,), "fitted elsewhere")
    with pytest.warns(CalibrationWarning) as caught:
        found = rethreshold(RESULTS, calibration)
    assert found.warnings == (
        "it was fitted on samples of llama, not of gpt",
        "it was fitted on 3 samples for each answer, not 5",
    )
    assert len(caught) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rethreshold(RESULTS, calibration).warnings == found.warnings
        assert rethreshold(RESULTS, fitted(("gpt",), (5,), "fitted here")).warnings == ()
        # Samples that came with the item have no model.
        given = LocalResults((item("given", 0.5, 1.0, model=None),), RESULTS.directions)
        assert rethreshold(given, fitted(("gpt",), (5,), "given")).warnings == ()


def test_metrics_that_were_set_up_otherwise_are_warned_of() -> None:
    told = FittedOn("data", 100, 50, 100, 0, (), (), (), "", "", 0, None, None, None, (), {"agreement": {"n": 1}})
    calibration = replace(CALIBRATION, name="set up otherwise", fitted_on=told)
    assert rethreshold(RESULTS, calibration).warnings == ()
    for n, says in ((1, ()), (2, ("it was fitted on agreement with n=1, not n=2",))):
        scores = [replace(one, evidence={**one.evidence, "options": {"n": n}}) for one in RESULTS.items[0].scores]
        there = LocalResults((replace(RESULTS.items[0], scores=tuple(scores)),), RESULTS.directions)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert rethreshold(there, calibration).warnings == says
        assert len(caught) == len(says)


def test_moments_flag_what_lies_beyond_a_threshold_of_ones_own() -> None:
    moments = replace(CALIBRATION, method="moments", coefficients=(), threshold=1.5)
    # One deviation each on the good side, and on the bad.
    found = rethreshold(RESULTS, moments, 0.8)
    assert [one.value for one in found.items[:2]] == pytest.approx([0.1587, 0.8413], abs=1e-4)
    assert found.flagged == ("bad",)
    assert rethreshold(RESULTS, replace(moments, threshold=0.9)).flagged == ()


def test_only_the_samples_behind_the_scores_count() -> None:
    assert sampled(RESULTS.items[0], ["agreement", "doubt.worst"]) == ({"gpt"}, {5})
    assert sampled(RESULTS.items[0], ["free", "absent"]) == (set(), set())


def test_a_score_with_a_dot_in_its_name_is_a_score() -> None:
    one = ItemResult("x", {}, {}, (Score("v1.2", 0.5), Score("v1", 0.1, evidence={"2": 0.9, "yes": True})))
    assert feature_value(one, "v1.2") == 0.5
    assert feature_value(one, "v1.yes") == 1.0
    assert feature_value(one, "v2.2") is None
    failed = ItemResult("x", {}, {}, (Score("v1", None, evidence={"2": 0.9}),))
    assert feature_value(failed, "v1.2") is None


class FirstLetter:
    """Texts that begin alike are the same, others are at right angles."""

    def encode(self, texts: Any) -> Any:
        import numpy as np

        return np.eye(128, dtype=np.float32)[[ord(text[0]) % 128 for text in texts]]


def test_the_papers_rule_is_the_verdict_of_checkembed(tmp_path: Path) -> None:
    items = [
        {"id": "agreed", "output": "A one", "samples": ["A two", "A three", "A four"]},
        {"id": "apart", "output": "A one", "samples": ["B two", "C three", "A four"]},
        {"id": "identical", "output": "A one", "samples": ["A two"] * 3},
        {"id": "failed", "output": "A one", "samples": []},
    ]
    metric = CheckEmbedMetric(embedder=FirstLetter(), store=None, track=False)
    results = evaluate_locally(items, scoring_metrics=[metric], progress=False)
    path = tmp_path / "results.json"
    results.to_json(path)
    for read in (results, LocalResults.from_json(path)):
        found = rethreshold(read, load_preset("paper_rule"))
        confident = [one.scores[0].evidence.get("confident") for one in read.items]
        assert confident == [True, False, False, None]
        assert [one.flagged for one in found.items] == [False, True, True, None]


def test_results_with_a_score_the_other_way_round_are_refused() -> None:
    turned = LocalResults((item("a", 0.5, 2.0),), {"agreement": False})
    with pytest.raises(ConfigurationError, match="has agreement the other way round"):
        rethreshold(turned, CALIBRATION)


def test_a_score_made_of_others_is_read_where_there_is_no_other() -> None:
    made, part = Score("both", 0.5, evidence={"parts": [{"name": "doubt"}]}), Score("doubt", 0.5)
    assert independent(LocalResults((ItemResult("a", {}, {}, (made, part)),))) == ["doubt"]
    assert independent(LocalResults((ItemResult("a", {}, {}, (made,)),))) == ["both"]
