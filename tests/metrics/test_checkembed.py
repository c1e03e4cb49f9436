"""The scores of the metric, against values worked out by hand from vectors that are set by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed import CheckEmbedMetric, evaluate_locally
from opik_checkembed.functional.checkembed import CheckEmbedResult
from opik_checkembed.testing import FakeOpenAI


class Placed:
    """Puts each text at an angle in the plane: "60" lies at 60 degrees."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        angles = [math.radians(float(text)) for text in texts]
        return np.array([[math.cos(a), math.sin(a)] for a in angles], dtype=np.float32)


class Broken:
    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise RuntimeError("out of memory")


def scores(*, samples: list[str], output: str = "0", metric: dict[str, Any] | None = None, **fields: Any) -> Any:
    made = CheckEmbedMetric(embedder=Placed(), store=None, track=False, **(metric or {}))
    return made.score(input="Which way?", output=output, samples=samples, **fields)


def test_the_score_is_the_frobenius_norm_over_output_and_samples() -> None:
    # Cosines 0.5 (0, 60), 0.5 (60, 120), -0.5 (0, 120): halves shifted to .75, .75, .25.
    found = scores(samples=["60", "120"])
    assert isinstance(found, ScoreResult)
    assert found.name == "checkembed_metric"
    assert found.value == pytest.approx(math.sqrt((0.75**2 + 0.75**2 + 0.25**2) / 3), abs=1e-6)
    evidence = (found.metadata or {})["evidence"]
    assert evidence["mean"] == pytest.approx(0.5 / 3, abs=1e-6)
    assert evidence["min"] == pytest.approx(-0.5, abs=1e-6)
    assert CheckEmbedResult.from_dict(evidence).labels == ("output", "sample 1", "sample 2")
    assert "mean 0.167, std 0.471, min -0.500 (score 0 to 1, higher is better); not confident" in str(found.reason)


def test_a_reference_and_the_papers_score_come_under_their_own_names() -> None:
    found = scores(samples=["60", "120"], reference="90", metric={"samples_only": True, "name": "ce"})
    by_name = {score.name: score.value for score in found}
    assert by_name.keys() == {"ce", "ce_reference", "ce_samples_only"}
    # Output at 0 and reference at 90 degrees: cosine 0, on the score's scale .5. The samples' only cosine is .5.
    assert by_name["ce_reference"] == pytest.approx(0.5, abs=1e-6)
    assert by_name["ce_samples_only"] == pytest.approx(0.75, abs=1e-6)


def test_rebasing_maps_the_baseline_to_minus_one() -> None:
    # 2 (0.5 - 0) / (1 - 0) - 1 = 0, and -0.5 is clipped at -1: halves .5, .5, 0.
    found = scores(samples=["60", "120"], metric={"baseline": 0.0})
    assert found.value == pytest.approx(math.sqrt((0.25 + 0.25 + 0.0) / 3), abs=1e-6)


def test_agreeing_answers_are_confident_and_thresholds_can_be_moved() -> None:
    assert "; confident by the rule mean > 0.9 and std < 0.05" in str(scores(samples=["1", "2"]).reason)
    strict = scores(samples=["1", "2"], metric={"confident_mean": 0.9999})
    assert (strict.metadata or {})["evidence"]["confident"] is False


def test_identical_samples_are_said_and_never_called_confident() -> None:
    found = scores(samples=["0", "0"])
    assert found.value == pytest.approx(1.0)
    evidence = (found.metadata or {})["evidence"]
    assert (evidence["confident"], evidence["identical"]) == (False, True)
    assert "says nothing about identical samples" in str(found.reason)
    assert "All 2 samples are identical" in str(found.reason)


def test_the_order_of_the_samples_does_not_change_the_score() -> None:
    assert scores(samples=["10", "50", "80"]).value == pytest.approx(scores(samples=["80", "10", "50"]).value)


def test_what_was_bought_before_a_failure_still_counts_as_paid() -> None:
    with FakeOpenAI(answers=["one", "two"], usage=lambda *_: (10, 5)) as server:
        metric = CheckEmbedMetric(
            "openai/gpt-4o-mini",
            embedder=Broken(),
            num_samples=2,
            store=None,
            model_parameters={"api_base": server.base_url, "api_key": "none"},
            track=False,
        )
        results = evaluate_locally(
            [{"input": "Bought in vain?", "output": "x"}], scoring_metrics=[metric], progress=False
        )
    assert results.summary()["checkembed_metric"].failed == 1
    assert "out of memory" in str(results.items[0].scores[0].reason)
    assert results.calls == 1
    # 10 prompt tokens at $0.15 and 5 completion tokens at $0.60 a million.
    assert results.cost_usd == pytest.approx(10 * 0.15e-6 + 5 * 0.6e-6)
