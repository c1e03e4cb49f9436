"""Scores of a whole experiment, worked out by hand and through the real `evaluate`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import opik
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from opik.evaluation.metrics.score_result import ScoreResult
from opik.evaluation.test_case import TestCase as Case
from opik.evaluation.test_result import TestResult as Result

from opik_checkembed import CheckEmbedMetric, FactRecurrenceMetric
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.experiment_scores import cost_per_item, share_above, share_below, share_confident
from opik_checkembed.testing import FakeOpenAI, FakeOpik

# litellm's price of gpt-4o-mini, in dollars a token.
PROMPT_PRICE, COMPLETION_PRICE = 0.15e-6, 0.6e-6


class FirstLetter:
    """Texts that begin alike are the same, others are at right angles."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.eye(128, dtype=np.float32)[[ord(text[0]) % 128 for text in texts]]


def results(*scores: ScoreResult | list[ScoreResult]) -> list[Result]:
    lists = [one if isinstance(one, list) else [one] for one in scores]
    return [Result(Case("trace", str(place), {}), one, 0) for place, one in enumerate(lists)]


def failed(reason: str = "no samples") -> ScoreResult:
    return ScoreResult("s", 0.0, reason=reason, scoring_failed=True)


def agreeing(mean: float, std: float, identical: bool = False) -> ScoreResult:
    evidence = {"mean": mean, "std": std, "identical": identical}
    return ScoreResult("checkembed_metric", mean, metadata={"evidence": evidence})


def values(scores: Sequence[ScoreResult]) -> dict[str, float]:
    return {score.name: score.value for score in scores}


# --------------------------------------------------------------------------------------------------- shares


def test_a_share_is_over_the_answers_that_have_a_score() -> None:
    found = share_above("s", 0.5)(results(ScoreResult("s", 0.5), ScoreResult("s", 0.4), failed("it refused")))

    assert values(found) == {"s_above_0.5": 0.5, "s_above_0.5_unscored": 1.0}
    assert found[0].reason == "1 of 2 answers score at least 0.5; 1 unscored: it refused"
    assert found[1].reason == "it refused"


def test_below_counts_the_bound_itself_and_takes_a_name() -> None:
    found = share_below("s", 0.3, name="supported")(results(*(ScoreResult("s", v) for v in (0.3, 0.31, 0.0, 1.0))))

    assert values(found) == {"supported": 0.5, "supported_unscored": 0.0}
    assert found[0].reason == "2 of 4 answers score at most 0.3"
    assert found[1].reason is None


def test_an_answer_without_the_score_or_with_a_nan_is_unscored() -> None:
    found = share_above("s", 0.5)(results([ScoreResult("other", 1.0)], ScoreResult("s", math.nan), ScoreResult("s", 1)))

    assert values(found) == {"s_above_0.5": 1.0, "s_above_0.5_unscored": 2.0}
    assert "it has no score 's' (the experiment has other, s)" in str(found[1].reason)


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ((), "the experiment has no results"),
        (([],), "it has no score 's' (the experiment has none)"),
        ((failed("it refused"), failed("or not")), "it refused"),
        ((ScoreResult("s", 0.0, scoring_failed=True),), "no reason was given"),
    ],
)
@pytest.mark.parametrize("factory", [share_above, share_below])
def test_without_any_score_the_share_is_failed_and_no_number(
    factory: Callable[[str, float], Callable[[list[Result]], list[ScoreResult]]], scores: Any, reason: str
) -> None:
    own, unscored = factory("s", 0.5)(results(*scores))

    assert own.scoring_failed
    assert math.isnan(own.value)
    assert own.reason == reason
    assert unscored.value == len(scores)
    assert not unscored.scoring_failed


@given(st.lists(st.none() | st.floats(0, 1), max_size=30), st.floats(0, 1))
def test_the_shares_on_both_sides_cover_every_scored_answer(scores: list[float | None], threshold: float) -> None:
    experiment = results(*(failed() if value is None else ScoreResult("s", value) for value in scores))
    scored = [value for value in scores if value is not None]

    above, unscored = share_above("s", threshold)(experiment)
    below, _ = share_below("s", threshold)(experiment)

    assert unscored.value == len(scores) - len(scored)
    if scored:
        at = sum(value == threshold for value in scored) / len(scored)
        assert above.value + below.value == pytest.approx(1 + at)
        assert 0 <= above.value <= 1


def test_confident_is_read_off_the_evidence_by_the_papers_rule() -> None:
    experiment = results(
        agreeing(0.95, 0.01),
        agreeing(0.9, 0.01),  # not above .9
        agreeing(0.95, 0.05),  # not below .05
        agreeing(1.0, 0.0, identical=True),  # a cache agrees with itself
        [agreeing(0.91, 0.049), ScoreResult("checkembed_metric_reference", 0.1)],
    )

    assert values(share_confident()(experiment)) == {
        "checkembed_metric_confident": 0.4,
        "checkembed_metric_confident_unscored": 0.0,
    }
    loose = share_confident(mean=0.8, std=0.1, name="sure")(experiment)
    assert values(loose) == {"sure": 0.8, "sure_unscored": 0.0}
    assert loose[0].reason == "4 of 5 answers are confident by the rule mean > 0.8 and std < 0.1"


@pytest.mark.parametrize("metadata", [None, {"evidence": {"mean": 0.95}}, {"evidence": {"mean": "high", "std": 0.0}}])
def test_a_score_without_the_evidence_is_unscored_and_said_to_be(metadata: dict[str, Any] | None) -> None:
    bare = ScoreResult("checkembed_metric", 0.99, metadata=metadata)

    own, unscored = share_confident()(results(bare, agreeing(0.5, 0.01)))

    assert (own.value, unscored.value) == (0.0, 1.0)
    assert "has no evidence with a mean and a standard deviation" in str(own.reason)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, True, "0.5", None])
def test_a_bound_must_be_a_finite_number(wrong: Any) -> None:
    with pytest.raises(ConfigurationError, match="threshold must be a finite number"):
        share_above("s", wrong)
    with pytest.raises(ConfigurationError, match="threshold must be a finite number"):
        share_below("s", wrong)
    with pytest.raises(ConfigurationError, match="mean must be a finite number"):
        share_confident(mean=wrong)
    with pytest.raises(ConfigurationError, match="std must be a finite number"):
        share_confident(std=wrong)


# --------------------------------------------------------------------------------------------------- costs


def drawn(cost: float | None, calls: float, text: str = "A") -> dict[str, Any]:
    origin = "asked" if calls else "from store"
    sample = {"index": 0, "origin": origin, "text": text, "status": "ok", "cost_usd": cost}
    return {
        "requested": 1,
        "samples": [sample],
        "failures": [],
        "notes": [],
        "temperature": 1.0,
        "cost_usd": cost,
        "calls": calls,
    }


def bought(name: str, samples: dict[str, Any] | None, judging: Mapping[str, Any] | None = None) -> ScoreResult:
    evidence = {} if judging is None else {"judging": dict(judging)}
    metadata: dict[str, Any] = {"evidence": evidence, **({} if samples is None else {"samples": samples})}
    return ScoreResult(name, 0.5, metadata=metadata)


def test_the_cost_of_an_answer_is_its_samples_and_its_judging_each_once() -> None:
    experiment = results(
        [
            # Two scores of one metric rest on one set, which was paid for once; another metric found it in the store.
            bought("checkembed_metric", drawn(0.02, 5)),
            bought("checkembed_metric_reference", drawn(0.02, 5)),
            bought("selfcheck_api_prompt", drawn(0.0, 0), {"calls": 10, "cost_usd": 0.01}),
        ],
        [bought("checkembed_metric", drawn(0.0, 0))],
        # Refused before anything was asked.
        [ScoreResult("checkembed_metric", 0.0, reason="no question", scoring_failed=True)],
    )

    (cost,) = cost_per_item()(experiment)

    assert cost.name == "cost_per_item_usd"
    assert cost.value == pytest.approx(0.01)
    assert cost.reason == "$0.03 for 15 calls over 3 answers"
    assert not cost.scoring_failed


def test_two_sets_that_differ_were_both_paid_for() -> None:
    (cost,) = cost_per_item(name="usd")(results([bought("a", drawn(0.02, 5)), bought("b", drawn(0.03, 5, "B"))]))

    assert (cost.name, cost.value) == ("usd", pytest.approx(0.05))


@pytest.mark.parametrize(
    "unpriced",
    [bought("a", drawn(None, 5)), bought("a", drawn(0.02, 5), {"calls": 10, "cost_usd": None})],
)
def test_an_unknown_price_is_no_cost(unpriced: ScoreResult) -> None:
    (cost,) = cost_per_item()(results(unpriced, bought("a", drawn(0.02, 5))))

    assert cost.scoring_failed
    assert math.isnan(cost.value)
    assert "what 1 of 2 answers cost is not known" in str(cost.reason)


@pytest.mark.parametrize("scores", [(), (ScoreResult("equals", 1.0),), (ScoreResult("j", 1, metadata={"judging": 1}),)])
def test_where_nothing_says_what_it_cost_there_is_no_cost(scores: tuple[ScoreResult, ...]) -> None:
    (cost,) = cost_per_item()(results(*scores))

    assert cost.scoring_failed
    assert cost.reason == "no score says what its samples or its judging cost"


# --------------------------------------------------------------------------------------------- in evaluate


@pytest.fixture
def opik_server() -> Iterator[FakeOpik]:
    with FakeOpik() as server:
        yield server
    assert server.unknown == []


@pytest.fixture
def client(opik_server: FakeOpik) -> Iterator[opik.Opik]:
    with opik_server.in_this_process() as client:
        yield client


def test_evaluate_uploads_the_shares_and_the_cost(client: opik.Opik, opik_server: FakeOpik, tmp_path: Path) -> None:
    dataset = client.get_or_create_dataset("questions")
    dataset.insert([{"input": f"Question {number}?", "judged": judged} for number, judged in enumerate("AAB")])
    # Without a question nothing can be asked again.
    dataset.insert([{"judged": "A"}])
    number = itertools.count()

    def answer(item: Mapping[str, Any]) -> dict[str, str]:
        return {"output": f"{item['judged']} in 1901", "model": "openai/gpt-4o-mini"}

    with FakeOpenAI(lambda _: f"A{next(number)} in 1901", usage=lambda _, given: (100, 20 * len(given))) as server:
        common: dict[str, Any] = {
            "store": tmp_path / "store",
            "num_samples": 2,
            "model_parameters": {"api_base": server.base_url, "api_key": "none"},
        }
        found = opik.evaluate(
            dataset=dataset,
            task=answer,
            scoring_metrics=[
                CheckEmbedMetric(embedder=FirstLetter(), heatmap=False, **common),
                FactRecurrenceMetric(**common),
            ],
            experiment_scoring_functions=[
                share_confident(),
                share_above("checkembed_metric", 0.8),
                share_below("fact_recurrence", 0.3),
                share_above("no_such_score", 0.5),
                cost_per_item(),
            ],
            verbose=0,
        )

    # "B" agrees with none of its samples; one of four has no question.
    paid = (server.answered * 100 * PROMPT_PRICE + 6 * 20 * COMPLETION_PRICE) / 4
    wanted = {
        "checkembed_metric_confident": pytest.approx(2 / 3),
        "checkembed_metric_confident_unscored": 1.0,
        "checkembed_metric_above_0.8": pytest.approx(2 / 3),
        "checkembed_metric_above_0.8_unscored": 1.0,
        "fact_recurrence_below_0.3": 1.0,
        "fact_recurrence_below_0.3_unscored": 1.0,
        "no_such_score_above_0.5_unscored": 4.0,
        "cost_per_item_usd": pytest.approx(paid, rel=1e-9),
    }
    assert server.choices == 6
    (experiment,) = opik_server.experiments
    assert experiment.scores == wanted
    failures = [score for score in found.experiment_scores if score.scoring_failed]
    assert [score.name for score in failures] == ["no_such_score_above_0.5"]
    assert {score.name: score.value for score in found.experiment_scores if not score.scoring_failed} == wanted
