"""Several metrics as one: what they buy, what they say together, and what becomes of a part that fails."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import Any, ClassVar

import opik
import pytest
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed import (
    CheckEmbedMetric,
    FactRecurrenceMetric,
    SelfCheckMQAGMetric,
    SelfCheckNgramMetric,
    evaluate_locally,
)
from opik_checkembed.calibration import (
    Calibration,
    CalibrationWarning,
    Feature,
    FittedOn,
    fit_calibration,
    fit_moments,
    options_of,
)
from opik_checkembed.errors import ConfigurationError, ItemError
from opik_checkembed.metrics.base import SampledMetric
from opik_checkembed.metrics.ensemble import EnsembleMetric
from opik_checkembed.samples.request import Fields
from opik_checkembed.samples.sample import SampleSet
from opik_checkembed.samples.sampler import samplers_of
from opik_checkembed.testing import FakeOpenAI, FakeOpik

ITEM: dict[str, Any] = {"output": "A is the answer to it.", "samples": ["A is one.", "A is another.", "Bergen it is."]}


class Fixed(SampledMetric):
    """Gives what it was told to; what it was told to fail with, it raises."""

    default_name: ClassVar[str] = "fixed"
    higher_is_better: ClassVar[bool] = False

    def __init__(self, name: str, value: float | Exception, *, bill: Mapping[str, Any] | None = None, **more: Any):
        self.value = value
        self.bill = bill
        super().__init__(name=name, **{"store": None, **more})

    def judge(self, output: str, samples: SampleSet, fields: Fields) -> list[ScoreResult]:
        if isinstance(self.value, Exception):
            raise self.value
        evidence = {"half": self.value / 2} | ({} if self.bill is None else {"judging": self.bill})
        return [self.scored(self.value, f"{self.value} it is", samples, evidence)]


class Agreeing(Fixed):
    """The same, higher being better."""

    higher_is_better: ClassVar[bool] = True


class Misnamed(Fixed):
    """Returns what no part is called."""

    def judge(self, output: str, samples: SampleSet, fields: Fields) -> list[ScoreResult]:
        return [self.scored(0.5, "it is", samples, {}, "_other")]


def scores(metric: EnsembleMetric, **item: Any) -> list[ScoreResult]:
    found = metric.score(**{**ITEM, **item})
    return found if isinstance(found, list) else [found]


def evidence(score: ScoreResult) -> dict[str, Any]:
    found: dict[str, Any] = (score.metadata or {})["evidence"]
    return found


def parts() -> list[SampledMetric]:
    return [Agreeing("agreement", 0.75), Fixed("doubt", 0.5), Fixed("nli", 0.25)]


FEATURES = (Feature("agreement", True, 0.5, 0.25), Feature("doubt", False, 0.25, 0.25), Feature("nli", False, 0.5, 0.5))
CALIBRATION = Calibration("mine", "logistic", FEATURES, intercept=0.25, coefficients=(1.0, 2.0, 0.5), threshold=0.6)
# -1 deviation of agreement, +1 of doubt, -0.5 of nli: 0.25 - 1 + 2 - 0.25.
PROBABILITY = 1 / (1 + 2.718281828459045**-1.0)


# --- the value ----------------------------------------------------------------------------------------------


def test_equal_weights_are_the_mean_of_what_is_hallucinated() -> None:
    own, *others = scores(EnsembleMetric(parts()))
    assert own.value == pytest.approx((0.25 + 0.5 + 0.25) / 3)
    assert (own.name, own.scoring_failed) == ("ensemble", False)
    assert own.reason is not None
    assert own.reason.startswith(
        "0.333 (0 consistent to 1 hallucinated, lower is better), the plain mean of the parts' scores, not a "
        "calibrated probability: doubt 0.50 (+0.167), agreement 0.75 (+0.083), nli 0.25 (+0.083)."
    )
    assert [(one.name, one.value) for one in others] == [("agreement", 0.75), ("doubt", 0.5), ("nli", 0.25)]
    assert evidence(own)["calibration"] is None
    assert evidence(own)["contributions"] == pytest.approx({"agreement": 1 / 12, "doubt": 1 / 6, "nli": 1 / 12})


def test_weights_count_as_given() -> None:
    own, *_ = scores(EnsembleMetric(parts(), weights={"nli": 2, "agreement": 1, "doubt": 0}))
    assert own.value == pytest.approx((2 * 0.25 + 0.25) / 3)
    assert own.reason is not None
    assert "the weighted mean of the parts' scores, not a calibrated probability: nli 0.25 (+0.167)" in own.reason


def test_a_calibration_gives_a_probability_and_what_each_adds_to_the_log_odds() -> None:
    own, *_ = scores(EnsembleMetric(parts(), weights=CALIBRATION))
    assert own.value == pytest.approx(PROBABILITY)
    assert own.reason is not None
    assert own.reason.startswith(
        "The answer is hallucinated with probability 0.731 (lower is better), flagged at 0.600, by the calibration "
        "'mine' (logistic): doubt 0.50 (+2.0), agreement 0.75 (-1.0), nli 0.25 (-0.2); "
        "the rest of the log-odds is +0.2."
    )
    found = evidence(own)
    assert found["contributions"] == pytest.approx({"agreement": -1.0, "doubt": 2.0, "nli": -0.25})
    assert found["method"] == "logistic"
    assert (found["calibration"], found["intercept"], found["threshold"], found["flagged"]) == ("mine", 0.25, 0.6, True)
    assert found["parts"] == [
        {"name": "agreement", "value": 0.75, "failed": False},
        {"name": "doubt", "value": 0.5, "failed": False},
        {"name": "nli", "value": 0.25, "failed": False},
    ]


def test_stored_moments_weigh_all_parts_alike_without_a_label(tmp_path: Path) -> None:
    moments = Calibration(
        "those",
        "moments",
        (Feature("agreement", True, 0.9, 0.05), Feature("selfcheck_ngram", False, 6.0, 2.0)),
        threshold=1.5,
    )
    moments.to_json(tmp_path / "moments.json")
    parts = [Agreeing("agreement", 0.8), Fixed("selfcheck_ngram", 7.0)]
    own, *_ = scores(EnsembleMetric(parts, weights=tmp_path / "moments.json"))
    # Two deviations of agreement, half a one of surprise.
    assert own.value == pytest.approx(NormalDist().cdf(1.25))
    assert str(own.reason).startswith(
        "0.894 (0 consistent to 1 hallucinated, lower is better; 0.5 is as doubtful as the mean of the answers behind "
        "'those'), no probability; the scores are on average 1.25 standard deviations more doubtful than there: "
        "agreement 0.80 (+1.00), selfcheck_ngram 7.00 (+0.25)."
    )
    assert "hallucinated with probability" not in str(own.reason)
    found = evidence(own)
    assert (found["method"], found["flagged"]) == ("moments", False)
    assert found["contributions"] == pytest.approx({"agreement": 1.0, "selfcheck_ngram": 0.25})

    broken = [Agreeing("agreement", 0.8), Fixed("selfcheck_ngram", ItemError("no model"))]
    going_on, *_ = scores(EnsembleMetric(broken, weights=moments))
    assert going_on.value == pytest.approx(NormalDist().cdf(2.0))
    assert "selfcheck_ngram is left out of the mean" in str(going_on.reason)


def test_moments_of_an_evaluation_are_those_an_ensemble_takes() -> None:
    texts = [f"The {word} fox of {number} ran." for number, word in enumerate(["red", "old", "sly", "big", "shy"] * 10)]
    items = [{"output": text, "samples": [texts[row - 1], text[: row + 9], "A fox."]} for row, text in enumerate(texts)]
    parts: list[SampledMetric] = [
        CheckEmbedMetric(embedder="lexical", store=None, track=False),
        SelfCheckNgramMetric(store=None, track=False),
    ]
    moments = fit_moments(evaluate_locally(items, scoring_metrics=parts, progress=False))
    metric = EnsembleMetric(parts, weights=moments, track=False)
    found = evaluate_locally(items, scoring_metrics=[metric], progress=False)
    values = [score.value for item in found.items if (score := item.score("ensemble")) is not None]
    assert all(value is not None and 0 < value < 1 for value in values)
    z = [sum(item.scores[0].evidence["contributions"].values()) for item in found.items]
    assert sum(z) == pytest.approx(0.0, abs=1e-9)


def test_a_calibration_is_taken_from_a_file_and_a_preset_by_name(tmp_path: Path) -> None:
    CALIBRATION.to_json(tmp_path / "mine.json")
    for path in (tmp_path / "mine.json", str(tmp_path / "mine.json")):
        assert scores(EnsembleMetric(parts(), weights=path))[0].value == pytest.approx(PROBABILITY)


@pytest.mark.parametrize(("output", "value"), [("A it is.", 0.0), ("B it is.", 1.0)])
def test_the_papers_rule_is_a_part_of_its_own(embedder: Any, output: str, value: float) -> None:
    metric = EnsembleMetric([CheckEmbedMetric(embedder=embedder, store=None)], weights="paper_rule")
    own, part = scores(metric, output=output, samples=["A one", "A two", "A three"])
    assert own.value == value
    assert own.reason is not None
    assert "a rule, not a probability" in own.reason
    assert evidence(part)["confident"] is (value == 0.0)


def test_an_unbounded_score_goes_through_a_calibration_fitted_on_it() -> None:
    rng = itertools.cycle([0.5, -0.5, 0.25])
    surprise = [2.0 + number % 2 + next(rng) for number in range(60)]
    fit = fit_calibration(
        {"selfcheck_ngram": surprise},
        [number % 2 for number in range(60)],
        directions={"selfcheck_ngram": False},
        method="isotonic",
        resamples=5,
    )
    metric = EnsembleMetric([SelfCheckNgramMetric(store=None)], weights=fit.calibration)
    own, part = scores(metric)
    assert not own.scoring_failed
    assert own.value == fit.calibration.probability({"selfcheck_ngram": part.value})
    assert "contributions" in evidence(own)


def test_a_score_above_1_counts_as_1_and_is_named() -> None:
    own, *_ = scores(EnsembleMetric([Fixed("bertscore", 1.25), Fixed("nli", 0.0)]))
    assert own.value == 0.5
    assert own.reason is not None
    assert "bertscore is 1.250 and counts as 1" in own.reason


def test_what_must_be_known_of_the_samples_is_said_once() -> None:
    own, *_ = scores(EnsembleMetric(parts()), samples=["A is it."] * 3)
    assert own.reason is not None
    assert own.reason.count("all 3 samples are identical") == 1


# --- parts that fail ----------------------------------------------------------------------------------------

BROKEN: list[tuple[SampledMetric, str]] = [
    (Fixed("doubt", ItemError("no model here.")), "doubt failed (no model here)"),
    (Fixed("doubt", ZeroDivisionError("oh")), "doubt failed (it raised ZeroDivisionError('oh'))"),
    (Fixed("doubt", float("nan")), "doubt failed (it returned nan)"),
    (Misnamed("doubt", 0.5), "doubt failed (it returned no score named doubt)"),
]


@pytest.mark.parametrize(("broken", "says"), BROKEN, ids=["item error", "exception", "nan", "another name"])
def test_the_others_weights_take_the_place_of_a_part_that_fails(broken: SampledMetric, says: str) -> None:
    own, *others = scores(EnsembleMetric([Agreeing("agreement", 0.75), broken], weights={"agreement": 1, "doubt": 3}))
    assert (own.value, own.scoring_failed) == (0.25, False)
    assert own.reason is not None
    assert f"Note: {says}" in own.reason
    assert len(others) == 2
    assert evidence(own)["contributions"] == {"agreement": 0.25}


@pytest.mark.parametrize(("broken", "says"), BROKEN, ids=["item error", "exception", "nan", "another name"])
def test_on_demand_nothing_is_scored_without_all_parts(broken: SampledMetric, says: str) -> None:
    own, *others = scores(EnsembleMetric([Agreeing("agreement", 0.75), broken], on_failure="fail"))
    assert own.scoring_failed
    assert own.reason == f"not all parts have a score: {says}"
    assert others[0].value == 0.75


def test_on_demand_nothing_is_scored_without_all_that_a_calibration_reads() -> None:
    # By its name, "doubt_nli" could be a further score of "doubt"; only scoring tells that it is none.
    features = (Feature("doubt", False, 0.25, 0.25), Feature("doubt_nli", False, 0.5, 0.5))
    own = Calibration("mine", "logistic", features, intercept=0.0, coefficients=(1.0, 1.0))

    going_on, *_ = scores(EnsembleMetric([Fixed("doubt", 0.5)], weights=own))
    assert "doubt_nli counts as its mean" in str(going_on.reason)
    failed, *_ = scores(EnsembleMetric([Fixed("doubt", 0.5)], weights=own, on_failure="fail"))
    assert failed.scoring_failed
    assert failed.reason == "the calibration reads doubt_nli, which no part gave"


def test_a_score_out_of_range_fails_nothing() -> None:
    own, *_ = scores(EnsembleMetric([Fixed("doubt", 1.01), Fixed("nli", 0.5)], on_failure="fail"))
    assert own.value == pytest.approx(0.75)


def test_a_calibration_takes_a_part_that_fails_at_its_mean() -> None:
    own, *_ = scores(EnsembleMetric([*parts()[::2], BROKEN[0][0]], weights=CALIBRATION))
    # 0.25 - 1 - 0.25
    assert own.value == pytest.approx(1 / (1 + 2.718281828459045))
    assert own.reason is not None
    assert "doubt failed (no model here); doubt counts as its mean, which says nothing" in own.reason
    assert evidence(own)["contributions"].keys() == {"agreement", "nli"}


def test_all_parts_that_failed_are_named() -> None:
    own, *others = scores(EnsembleMetric([Fixed("a", ItemError("one")), Fixed("b", ItemError("two"))]))
    assert (own.scoring_failed, own.value) == (True, 0.0)
    assert own.reason == "no part with a weight has a score: a failed (one); b failed (two)"
    assert all(one.scoring_failed for one in others)
    own, *_ = scores(EnsembleMetric(parts(), weights=CALIBRATION), output="")
    assert own.scoring_failed
    assert own.reason is not None
    assert "has no value of agreement, doubt, nli: agreement, doubt, nli failed (`output` is empty" in own.reason


def test_only_a_part_without_weight_is_no_score() -> None:
    own, *_ = scores(EnsembleMetric([Fixed("a", ItemError("one")), Fixed("b", 0.5)], weights={"a": 1, "b": 0}))
    assert own.reason == "no part with a weight has a score: a failed (one)"


# --- one sample set, one bill -------------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    number = itertools.count()
    with FakeOpenAI(lambda _: f"A{next(number)} is the answer.", usage=lambda _, given: (100, 20 * len(given))) as fake:
        yield fake


def sampling(server: FakeOpenAI, tmp_path: Path) -> dict[str, Any]:
    return {
        "num_samples": 5,
        "store": tmp_path / "store",
        "model_parameters": {"api_base": server.base_url, "api_key": "none"},
    }


def real_parts(embedder: Any, **common: Any) -> list[SampledMetric]:
    return [
        CheckEmbedMetric(embedder=embedder, samples_only=True, **common),
        CheckEmbedMetric(name="pearson", embedder=embedder, similarity="pearson", **common),
        SelfCheckNgramMetric(**common),
    ]


NGRAM = Calibration(
    "three",
    "logistic",
    (
        Feature("checkembed_metric_samples_only", True, 0.8, 0.1),
        Feature("pearson", True, 0.8, 0.1),
        Feature("selfcheck_ngram", False, 3.0, 1.0),
    ),
    coefficients=(1.0, 1.0, 1.0),
)

QUESTIONS = [
    {"input": f"Question {number}?", "output": "A is the answer.", "model": "openai/gpt-4o-mini"} for number in (1, 2)
]


@pytest.mark.parametrize("with_parts", [True, False])
def test_three_parts_buy_five_answers_and_one_bill(
    with_parts: bool, embedder: Any, server: FakeOpenAI, tmp_path: Path
) -> None:
    metric = EnsembleMetric(
        real_parts(embedder, **sampling(server, tmp_path)), weights=NGRAM, parts=with_parts, track=False
    )
    results = evaluate_locally(QUESTIONS[:1], scoring_metrics=[metric], progress=False)

    assert server.choices == 5
    (item,) = results.items
    assert not any(score.failed for score in item.scores), item.scores
    names = ["ensemble", "checkembed_metric", "checkembed_metric_samples_only", "pearson", "selfcheck_ngram"]
    assert [score.name for score in item.scores] == names[: None if with_parts else 1]
    assert len(item.samples) == 1
    calls = [call for call in server.calls if call.status == 200]
    paid = sum(100 * 0.15e-6 + 20 * call.choices * 0.6e-6 for call in calls)
    assert results.calls == len(calls)
    assert results.cost_usd == pytest.approx(paid, rel=1e-9)
    assert item.scores[0].evidence["contributions"].keys() == set(NGRAM.names)
    assert item.scores[0].samples == (None if with_parts else 0)


def test_a_bill_of_judging_and_of_other_samples_is_kept_without_the_parts(server: FakeOpenAI, tmp_path: Path) -> None:
    common = sampling(server, tmp_path)
    metric = EnsembleMetric(
        [
            Fixed("a", 0.5, bill={"calls": 3, "cost_usd": 0.25}, **common),
            Fixed("b", 0.5, bill={"calls": 2, "cost_usd": 0.5}, **{**common, "num_samples": 3, "temperature": 0.5}),
        ],
        parts=False,
        track=False,
    )
    results = evaluate_locally(QUESTIONS[:1], scoring_metrics=[metric], progress=False)

    calls = [call for call in server.calls if call.status == 200]
    assert server.choices == 8
    assert results.calls == len(calls) + 5
    paid = sum(100 * 0.15e-6 + 20 * call.choices * 0.6e-6 for call in calls)
    assert results.cost_usd == pytest.approx(paid + 0.75, rel=1e-9)
    unpriced = EnsembleMetric([Fixed("a", 0.5, bill={"calls": 1, "cost_usd": None})], parts=False)
    assert evidence(scores(unpriced)[0])["judging"] == {"calls": 1.0, "cost_usd": None}


def test_one_span_for_the_ensemble_and_the_calls_below_it(
    client: opik.Opik, opik_server: FakeOpik, embedder: Any, server: FakeOpenAI, tmp_path: Path
) -> None:
    dataset = client.get_or_create_dataset("two")
    dataset.insert([{"input": question["input"]} for question in QUESTIONS])
    parts = real_parts(embedder, **sampling(server, tmp_path))
    result = opik.evaluate(
        dataset=dataset,
        task=lambda item: {"output": "A is the answer.", "model": "openai/gpt-4o-mini"},
        scoring_metrics=[EnsembleMetric(parts, weights=NGRAM)],
        verbose=0,
    )

    found = [score for test in result.test_results for score in test.score_results]
    assert not any(score.scoring_failed for score in found)
    assert Counter(score.name for score in found)["ensemble"] == 2
    spans = Counter(span.name for span in opik_server.spans)
    assert spans["ensemble"] == 2
    assert not {part.name for part in parts} & spans.keys()
    names = {span.id: span.name for span in opik_server.spans}
    calls = [span for span in opik_server.spans if span.type == "llm"]
    assert {names[str(span.parent_span_id)] for span in calls} == {"ensemble"}
    assert len(calls) == len([call for call in server.calls if call.status == 200])
    assert server.choices == 10


def test_parts_that_read_the_tasks_trace_get_it(
    client: opik.Opik, embedder: Any, server: FakeOpenAI, tmp_path: Path
) -> None:
    from opik.integrations.litellm import track_completion

    def task(item: Mapping[str, Any]) -> dict[str, Any]:
        import litellm

        response = track_completion()(litellm.completion)(
            model="openai/gpt-4o-mini",
            messages=[{"role": "user", "content": f"Please: {item['input']}"}],
            **common["model_parameters"],
        )
        return {"output": response.choices[0].message.content}

    dataset = client.get_or_create_dataset("traced")
    dataset.insert([{"input": "Which?"}])
    common = sampling(server, tmp_path)
    parts: list[SampledMetric] = [
        Fixed("traced", 0.5, request_from="trace", **common),
        Fixed("plain", 0.25, **common, model="openai/gpt-4o-mini"),
    ]
    result = opik.evaluate(
        dataset=dataset,
        task=task,
        scoring_metrics=[EnsembleMetric(parts)],
        verbose=0,
    )

    own, traced, plain = result.test_results[0].score_results
    assert (own.value, traced.value, plain.value) == (0.375, 0.5, 0.25), (own, traced, plain)
    asked = Counter(call.body["messages"][-1]["content"] for call in server.calls if call.status == 200)
    assert asked.keys() == {"Please: Which?", "Which?"}
    # The task's own answer was one more.
    assert server.choices == 5 + 5 + 1


def test_ascore_awaits_the_same_work_on_another_thread() -> None:
    threads: list[int] = []

    class Watching(Fixed):
        def judge(self, output: str, samples: SampleSet, fields: Fields) -> list[ScoreResult]:
            threads.append(threading.get_ident())
            return super().judge(output, samples, fields)

    metric = EnsembleMetric([Watching("a", 0.5)], track=False)
    found = asyncio.run(metric.ascore(**ITEM))
    assert isinstance(found, list)
    assert [(one.name, one.value) for one in found] == [("ensemble", 0.5), ("a", 0.5)]
    assert threads != [threading.get_ident()]


# --- another model or number of samples than it was fitted on -----------------------------------------------


FITTED_ON = FittedOn("data", 100, 50, 100, 0, (), (), (), "", "", 0, None, None, None, ())


def fitted(models: tuple[str, ...] = (), num_samples: tuple[int, ...] = (), **changes: Any) -> Calibration:
    return replace(CALIBRATION, fitted_on=replace(FITTED_ON, models=models, num_samples=num_samples), **changes)


def test_another_number_of_samples_stands_in_the_reason_and_once_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    metric = EnsembleMetric(parts(), weights=fitted(num_samples=(10,)))
    for _ in range(2):
        own, *_ = scores(metric)
        assert own.reason is not None
        assert "the calibration may not hold here: it was fitted on 10 samples for each answer, not 3" in own.reason
        assert [record.message for record in caplog.records] == [
            "ensemble: the calibration 'mine': it was fitted on 10 samples for each answer, not 3 (said once)"
        ]
    own, *_ = scores(EnsembleMetric(parts(), weights=fitted(num_samples=(3,))))
    assert own.reason is not None
    assert "may not hold" not in own.reason


def test_another_model_stands_in_the_reason(server: FakeOpenAI, tmp_path: Path) -> None:
    one = Calibration("one", "equal", FEATURES[1:2], coefficients=(1.0,))
    metric = EnsembleMetric(
        [Fixed("doubt", 0.5, **sampling(server, tmp_path))],
        weights=replace(one, fitted_on=fitted(("davinci",), (5,)).fitted_on),
    )
    found = metric.score(input="Which?", output="A is it.", model="openai/gpt-4o-mini")
    assert isinstance(found, list)
    assert found[0].reason is not None
    assert "it was fitted on samples of davinci, not of " in found[0].reason
    assert "samples for each answer" not in found[0].reason


def test_the_provider_behind_the_shipped_preset_is_another_model_than_any_other(
    server: FakeOpenAI, tmp_path: Path
) -> None:
    one = Calibration("one", "equal", FEATURES[1:2], coefficients=(1.0,))
    told = replace(FITTED_ON, models=("GPT-3 (text-davinci-003)",))
    metric = EnsembleMetric(
        [Fixed("doubt", 0.5, **sampling(server, tmp_path))], weights=replace(one, fitted_on=told), parts=False
    )
    found = metric.score(input="Which?", output="A is it.", model="openai/gpt-4o-mini")
    assert isinstance(found, ScoreResult)
    assert "it was fitted on samples of GPT-3 (text-davinci-003), not of " in str(found.reason)


def test_parts_set_up_otherwise_are_warned_of_at_construction_and_in_the_reason() -> None:
    told = options_of(FactRecurrenceMetric(store=None))
    fitted_on = replace(FITTED_ON, options={"fact_recurrence": told})
    own = Calibration("facts", "equal", (Feature("fact_recurrence", False),), coefficients=(1.0,), fitted_on=fitted_on)
    item = {"output": "She was born in Oslo in 1898.", "samples": ["In Oslo, in 1898.", "In Oslo in 1901."]}

    same, *_ = scores(EnsembleMetric([FactRecurrenceMetric(store=None)], weights=own), **item)
    assert "may not hold" not in str(same.reason)
    says = (
        "it was fitted on fact_recurrence with aggregate='mean', combine='geometric', "
        "not aggregate='max', combine='min'"
    )
    with pytest.warns(CalibrationWarning) as caught:
        metric = EnsembleMetric([FactRecurrenceMetric(combine="min", aggregate="max", store=None)], weights=own)
    assert [str(one.message) for one in caught] == [f"the calibration 'facts': {says}"]
    other, *_ = scores(metric, **item)
    assert f"the calibration may not hold here: {says}" in str(other.reason)


def test_another_set_of_metrics_is_warned_of_at_construction() -> None:
    calibration = replace(CALIBRATION, name="another set")
    with pytest.warns(CalibrationWarning) as caught:
        metric = EnsembleMetric([*parts()[:2], Fixed("extra", 0.9)], weights=calibration)
    assert [str(one.message) for one in caught] == [
        "the calibration 'another set': it reads nli, which is not there",
        "the calibration 'another set': it does not read extra",
    ]
    own, *_ = scores(metric)
    assert own.value == pytest.approx(CALIBRATION.probability({"agreement": 0.75, "doubt": 0.5, "nli": 0.5}))
    assert own.reason is not None
    assert "nli counts as its mean, which says nothing" in own.reason


def test_further_scores_and_evidence_of_a_part_are_known_as_its_own() -> None:
    # No warning: they are errors in these tests.
    rule = Calibration(
        "halves", "threshold", (Feature("doubt.half", False), Feature("doubt", False)), bounds=(0.3, 0.6)
    )
    metric = EnsembleMetric([Fixed("doubt", 0.5)], weights=rule)
    assert scores(metric)[0].value == 0.0
    assert metric.calibration is rule
    assert EnsembleMetric(parts()).calibration is None


def test_the_direction_of_each_score_is_known() -> None:
    metric = EnsembleMetric([*parts(), Fixed("agreement_twice", 0.5)])
    assert {
        name: metric.direction(name)
        for name in ("ensemble", "agreement", "agreement_reference", "agreement_twice", "doubt", "stranger")
    } == {
        "ensemble": False,
        "agreement": True,
        "agreement_reference": True,
        "agreement_twice": False,
        "doubt": False,
        "stranger": None,
    }


# --- construction -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metrics", "options", "says"),
    [
        ([], {}, "must be a list of this package's metrics"),
        (parts()[0], {}, "must be a list of this package's metrics"),
        ([opik.evaluation.metrics.Equals(track=False)], {}, "over samples, not <opik"),
        ([Fixed("a", 1), Fixed("a", 1)], {}, "are named a: give each its own name="),
        ([Fixed("ensemble", 1)], {}, "are named ensemble"),
        (parts(), {"on_failure": "ignore"}, "must be 'renormalise' or 'fail', not 'ignore'"),
        (parts(), {"weights": "best"}, r"'best' is neither 'equal', a preset \(.*paper_rule.*\) nor a file"),
        (parts(), {"weights": 1}, r"a Calibration \(of a Fit: its .calibration\)"),
        (parts(), {"weights": {"doubt": 1}}, r"name each part once \(agreement, doubt, nli\), not doubt"),
        (parts(), {"weights": {"agreement": 0, "doubt": 0, "nli": 0}}, "not all 0"),
        (parts(), {"weights": {"agreement": -1, "doubt": 1, "nli": 1}}, "numbers of 0 or more"),
        (parts(), {"weights": {"agreement": "1", "doubt": 1, "nli": 1}}, "numbers of 0 or more"),
        ([SelfCheckMQAGMetric(distance="kl", store=None)], {}, "selfcheck_mqag has no upper bound"),
        ([SelfCheckNgramMetric(store=None)], {}, "selfcheck_ngram has no upper bound.*fit_moments.*fit a calib"),
        (
            [Fixed("a", 1), SelfCheckNgramMetric(store=None)],
            {"weights": {"a": 1, "selfcheck_ngram": 1}},
            "has no upper bound",
        ),
        (
            [Fixed("a", 1)],
            {"weights": CALIBRATION},
            r"reads agreement, doubt, nli, which none of the parts gives \(a\)",
        ),
        (parts()[:2], {"weights": CALIBRATION, "on_failure": "fail"}, "reads nli, which none of the parts gives"),
        (parts()[:2], {"weights": "paper_rule"}, "reads checkembed_metric.mean"),
        ([Fixed("agreement", 1), *parts()[1:]], {"weights": CALIBRATION}, "agreement the other way round"),
    ],
)
def test_what_cannot_work_is_refused_at_construction(metrics: Any, options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        EnsembleMetric(metrics, **options)


def test_importing_it_loads_nothing_heavy() -> None:
    script = (
        "import sys, opik.evaluation.metrics; had = set(sys.modules); import opik_checkembed.metrics.ensemble; "
        "new = {'sklearn', 'scipy', 'torch', 'spacy', 'matplotlib', 'litellm'} & (set(sys.modules) - had); "
        "sys.exit(' '.join(new) or None)"
    )
    done = subprocess.run([sys.executable, "-c", script], check=False, timeout=60, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_an_ensemble_asks_through_the_samplers_of_its_parts() -> None:
    one = FactRecurrenceMetric(model="openai/x", store=None)
    other = FactRecurrenceMetric(name="other", model="openai/y", store=None)
    assert samplers_of(EnsembleMetric([one, other])) == [*one.samplers(), *other.samplers()]
    assert len(samplers_of(EnsembleMetric([one, other]))) == 2
