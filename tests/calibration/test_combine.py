from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from opik_checkembed.calibration import Calibration, Feature
from opik_checkembed.calibration.combine import Calibrated, WeightedMean, _told_apart
from opik_checkembed.errors import ItemError

WAYS = {"agreement": True, "doubt": False, "nli": False}
MEAN = WeightedMean({"agreement": 1.0, "doubt": 3.0, "nli": 0.0}, WAYS)
CALIBRATION = Calibration(
    "mine",
    "logistic",
    (Feature("agreement", True, 0.7, 0.1), Feature("doubt", False, 0.5, 0.25)),
    intercept=-1.0,
    coefficients=(2.0, 0.5),
)


def test_the_mean_turns_scores_towards_hallucinated() -> None:
    found = MEAN.combine({"agreement": 0.75, "doubt": 0.5, "nli": 1.0, "more": 0.9})
    assert found.value == pytest.approx(0.25 / 4 + 0.5 * 3 / 4)
    assert found.contributions == pytest.approx({"agreement": 0.0625, "doubt": 0.375, "nli": 0.0})
    assert MEAN.sentence(found) == (
        "0.438 (0 consistent to 1 hallucinated, lower is better), the weighted mean of the parts' scores, not a "
        "calibrated probability: doubt 0.50 (+0.375), agreement 0.75 (+0.062), nli 1.00 (+0.000)"
    )
    assert "the plain mean" in WeightedMean({"doubt": 1.0}, WAYS).sentence(found)


def test_what_has_no_score_leaves_its_weight_to_the_others() -> None:
    found = MEAN.combine({"agreement": None, "doubt": 0.5, "nli": 1.0})
    assert (found.value, dict(found.contributions)) == (0.5, {"doubt": 0.5, "nli": 0.0})
    with pytest.raises(ItemError, match="no part with a weight has a score"):
        MEAN.combine({"nli": 1.0})


def test_a_score_outside_of_0_and_1_counts_as_the_end_and_is_named() -> None:
    found = MEAN.combine({"agreement": -0.1, "doubt": 1.04})
    assert found.value == 1.0
    assert found.notes == ("agreement is -0.100 and counts as 0", "doubt is 1.040 and counts as 1")
    assert found.scores["doubt"] == 1.04


def test_a_calibration_gives_its_probability() -> None:
    scores = {"agreement": 0.6, "doubt": 1.0}
    found = Calibrated(CALIBRATION).combine(scores)
    assert found.value == CALIBRATION.probability(scores)
    assert found.contributions == pytest.approx({"agreement": 2.0, "doubt": 1.0})
    assert Calibrated(CALIBRATION).sentence(found) == (
        "The answer is hallucinated with probability 0.881 (lower is better), flagged at 0.500, by the calibration "
        "'mine' (logistic): agreement 0.60 (+2.0), doubt 1.00 (+1.0); the rest of the log-odds is -1.0"
    )


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ({"agreement": 0.7, "doubt": 0.5}, "probability 0.2689 (lower is better), not flagged at 0.2690, by"),
        ({"agreement": 0.7, "doubt": 1.0}, "probability 0.500 (lower is better), flagged at 0.269, by"),
    ],
)
def test_value_and_threshold_are_told_apart(scores: dict[str, float], said: str) -> None:
    own = Calibrated(replace(CALIBRATION, threshold=0.26895))
    assert said in own.sentence(own.combine(scores))
    same = Calibrated(replace(CALIBRATION, threshold=CALIBRATION.probability(scores)))
    assert re.search(r"probability (0\.\d{3}) .*, flagged at \1, by", same.sentence(same.combine(scores)))
    near = Calibrated(replace(CALIBRATION, threshold=math.nextafter(CALIBRATION.probability(scores), 1)))
    value, cut = re.findall(r"0\.\d{10,}", near.sentence(near.combine(scores)))
    assert float(value) < float(cut)
    # Where decimals do not suffice, as they are.
    assert _told_apart(1e-5, math.nextafter(1e-5, 1)) == ("1e-05", "1.0000000000000003e-05")


def test_moments_say_how_far_from_the_others_and_no_probability() -> None:
    moments = replace(CALIBRATION, name="those", method="moments", intercept=0.0, coefficients=(), threshold=1.5)
    found = Calibrated(moments).combine({"agreement": 0.6, "doubt": 1.0})
    # Agreement one deviation below its mean, doubt two above.
    assert found.value == pytest.approx(0.9332, abs=1e-4)
    assert found.contributions == pytest.approx({"agreement": 0.5, "doubt": 1.0})
    assert Calibrated(moments).sentence(found) == (
        "0.933 (0 consistent to 1 hallucinated, lower is better; 0.5 is as doubtful as the mean of the answers behind "
        "'those'), no probability; the scores are on average 1.50 standard deviations more doubtful than there: "
        "doubt 1.00 (+1.00), agreement 0.60 (+0.50)"
    )
    flagging = Calibrated(replace(moments, threshold=0.9))
    assert "'those'), flagged at 0.900, no probability; " in flagging.sentence(found)
    calm = Calibrated(moments).combine({"agreement": 0.8, "doubt": 0.5})
    assert f"on average {-sum(calm.contributions.values()):.2f} standard deviations less doubtful" in Calibrated(
        moments
    ).sentence(calm)
    assert sum(calm.contributions.values()) < 0


def test_moments_go_on_with_the_mean_of_the_scores_that_are_there() -> None:
    moments = Calibrated(replace(CALIBRATION, method="moments", intercept=0.0, coefficients=()))
    found = moments.combine({"agreement": 0.6, "doubt": None})
    assert found.value == pytest.approx(0.8413, abs=1e-4)
    assert dict(found.contributions) == pytest.approx({"agreement": 1.0})
    assert found.notes == ("doubt is left out of the mean",)
    with pytest.raises(ItemError, match="'mine' has no value of agreement, doubt"):
        moments.combine({})


def test_a_missing_score_counts_as_its_mean() -> None:
    found = Calibrated(CALIBRATION).combine({"agreement": 0.6, "doubt": None})
    assert found.value == pytest.approx(CALIBRATION.probability({"agreement": 0.6, "doubt": 0.5}))
    assert (dict(found.scores), list(found.contributions)) == ({"agreement": 0.6}, ["agreement"])
    assert found.notes == ("doubt counts as its mean, which says nothing",)
    with pytest.raises(ItemError, match="'mine' has no value of agreement, doubt"):
        Calibrated(CALIBRATION).combine({})


def test_a_rule_and_a_curve_need_all_they_read() -> None:
    rule = Calibration("rule", "threshold", CALIBRATION.features, bounds=(0.9, 0.2))
    found = Calibrated(rule).combine({"agreement": 0.95, "doubt": 0.1})
    assert Calibrated(rule).sentence(found) == (
        "The rule 'rule' passes the answer (1 flagged, 0 passed; a rule, not a probability): agreement 0.95, doubt 0.10"
    )
    assert "'rule' flags" in Calibrated(rule).sentence(Calibrated(rule).combine({"agreement": 0.5, "doubt": 0.1}))
    with pytest.raises(ItemError, match="has no value of doubt"):
        Calibrated(rule).combine({"agreement": 0.95})
    curve = Calibration("curve", "isotonic", CALIBRATION.features[1:], knots=((0.0, 0.25),))
    said = Calibrated(curve).sentence(Calibrated(curve).combine({"doubt": 0.3}))
    assert said.endswith("not flagged at 0.500, by the calibration 'curve' (isotonic): doubt 0.30")
