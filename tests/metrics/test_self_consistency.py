"""SelfConsistency in Opik's hands: claims against the answers to the same question, the source never read."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed import (
    Budget,
    NLIVerifier,
    SampleStore,
    SelfConsistencyMetric,
    SourceNLIMetric,
    evaluate_locally,
)
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.claim_support import Support
from opik_checkembed.functional.nli import NLIProbabilities
from opik_checkembed.functional.verdict import Reading, read_verdict
from opik_checkembed.metrics.claim_reader import ClaimReader
from opik_checkembed.models.nli import Pair
from opik_checkembed.models.verifier import Verification
from opik_checkembed.samples import calls
from opik_checkembed.testing import ChatCall, FakeOpenAI


@pytest.fixture(autouse=True)
def _nothing_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "_endpoints", {})


class Exact:
    """Entails what the premise says word for word."""

    def __init__(self, *, entailment: bool = True) -> None:
        self.entailment = entailment
        self.asked: list[Pair] = []

    def probabilities(self, pairs: Sequence[Pair]) -> NLIProbabilities:
        self.asked += pairs
        same = np.array([0.9 if claim in premise else 0.1 for premise, claim in pairs])
        if not self.entailment:
            return NLIProbabilities(contradiction=1 - same)
        return NLIProbabilities(entailment=same, contradiction=1 - same)


OUTPUT = "Anna was born in Oslo. She paints red horses."
SAMPLES = [
    "Anna was born in Oslo. She sings.",
    "Anna was born in Oslo. He knows her.",
    "She paints red horses. Anna was born in Oslo.",
    "Anna was born in Rome. She paints red horses.",
    "No more is known of her.",
]


def metric(**more: Any) -> SelfConsistencyMetric:
    arguments: dict[str, Any] = {"store": None, "track": False, **more}
    if not {"judge", "verifier"} & set(more):
        arguments.setdefault("nli_model", Exact())
    return SelfConsistencyMetric(**arguments)


def scored(by: SelfConsistencyMetric, **fields: Any) -> tuple[ScoreResult, dict[str, Any]]:
    found = by.score(**{"output": OUTPUT, "samples": SAMPLES, **fields})
    assert isinstance(found, ScoreResult)
    return found, json.loads(json.dumps((found.metadata or {}).get("evidence", {})))


def test_a_claim_is_flagged_where_two_of_five_samples_support_it() -> None:
    found, evidence = scored(metric())

    assert [one["agreement"] for one in evidence["claims"]] == [3 / 5, 2 / 5]
    assert [one["flagged"] for one in evidence["claims"]] == [False, True]
    assert evidence["measures"] == "support"
    assert [one["not_contradicted"] for one in evidence["claims"]] == [None, None]
    assert found.value == 1 / 2
    assert evidence["claims"][1]["per_sample"] == pytest.approx([0.1, 0.1, 0.9, 0.9, 0.1])
    assert evidence["claims"][1]["support"]["sample"] == 2
    assert evidence["claims"][1]["support"]["text"] == "She paints red horses."
    assert found.reason is not None
    assert found.reason.startswith(
        "1 of 2 claims are flagged, at an agreement of 0.4 or less (0 consistent to 1 not); least agreement 0.40: 'She "
        "paints red horses.'; sample 1 supports it least: 'She sings.'."
    )


def test_thresholds_and_the_worst_claim() -> None:
    assert scored(metric(threshold=0.39))[0].value == 0
    assert scored(metric(threshold=0.6))[0].value == 1
    assert scored(metric(aggregate="max"))[0].value == pytest.approx(3 / 5)


def test_the_source_is_never_read() -> None:
    model = Exact()
    found, _ = scored(metric(nli_model=model), context="She paints red horses. She paints blue ones.")

    assert found.value == 1 / 2
    assert {premise for premise, _ in model.asked} == set(SAMPLES)


@pytest.mark.parametrize(
    ("found", "measures", "rule"),
    [
        (Support(0.2), "support", "at an agreement of 0.4 or less (0 consistent to 1 not); least agreement 0.00"),
        (
            Support(None, 0.8),
            "contradiction",
            "not contradicted by a share of 0.4 of the samples or less (0 consistent to 1 not); least share 0.00",
        ),
    ],
)
def test_a_verifier_of_ones_own_need_not_show_a_place(found: Support, measures: str, rule: str) -> None:
    class Own:
        def verify(self, questions: Any) -> Verification:
            return Verification((found,) * len(questions))

    score, evidence = scored(metric(verifier=Own()), claims=["She paints red horses."])

    assert evidence["measures"] == measures
    assert (evidence["claims"][0]["against"], evidence["claims"][0]["support"]) == (None, None)
    assert (score.reason or "").startswith(f"1 of 1 claims are flagged, {rule}: 'She paints red horses.'.")


def test_a_model_of_contradiction_only_counts_what_is_not_contradicted_and_says_so() -> None:
    found, evidence = scored(metric(nli_model=Exact(entailment=False)))

    assert evidence["measures"] == "contradiction"
    first, second = evidence["claims"]
    # Contradicted with .9 by what does not have it word for word, and else with .1.
    assert first["per_sample"] == pytest.approx([0.9, 0.9, 0.9, 0.1, 0.1])
    assert second["per_sample"] == pytest.approx([0.1, 0.1, 0.9, 0.9, 0.1])
    assert [one["not_contradicted"] for one in (first, second)] == [3 / 5, 2 / 5]
    assert [(one["score"], one["flagged"]) for one in (first, second)] == [(2 / 5, False), (3 / 5, True)]
    # Nothing is said of support.
    assert [(one["agreement"], one["support"]) for one in (first, second)] == [(None, None)] * 2
    assert (second["against"]["sample"], second["against"]["text"]) == (0, "She sings.")
    assert second["against"]["score"] == pytest.approx(0.1)
    assert found.value == 1 / 2
    assert found.reason is not None
    assert found.reason.startswith(
        "1 of 2 claims are flagged, not contradicted by a share of 0.4 of the samples or less (0 consistent to 1 not); "
        "least share 0.40: 'She paints red horses.'; sample 1 contradicts it most: 'She sings.'."
    )
    assert found.reason.endswith(
        "The classifier has no entailment label: an answer counts for a claim unless it contradicts it, and nothing is "
        "said of support."
    )


def test_the_reason_says_that_a_model_of_contradiction_only_read_a_window_of_each_sample() -> None:
    by = metric(nli_model=Exact(entailment=False), window_tokens=7, aggregate="max")
    found, _ = scored(by, claims=["Anna was born in Oslo."])

    assert found.value == pytest.approx(2 / 5)
    assert "(the value is 1 - the least share)" in (found.reason or "")
    # Four samples of two sentences, each a window, and one of one.
    assert "5 of 9 windows were read, for each claim the one most like it by its letters" in (found.reason or "")


def test_an_llm_is_asked_once_for_each_claim_and_sample_and_never_a_second_question() -> None:
    def answer(call: ChatCall) -> str:
        tag = re.search(r"<claim-(\d+)>\n(.+)\n</claim-\1>", call.prompt)
        if tag is None:
            return SAMPLES[call.choice]
        assert "mention the claim or directly support it" in call.prompt
        return "Yes" if call.prompt.count(tag[2]) == 2 else "No"

    with FakeOpenAI(answer) as server:
        connection = {"api_base": server.base_url, "api_key": "none"}
        by = metric(
            model="openai/fake", model_parameters=connection, judge="openai/judge",
            judge_parameters={**connection, "store": None}, num_samples=5,
        )  # fmt: skip
        results = evaluate_locally([{"input": "Who is Anna?", "output": OUTPUT}], scoring_metrics=[by], progress=False)
    score = results.items[0].score("self_consistency")
    assert score is not None
    assert score.value == 1 / 2
    assert score.evidence["judging"]["calls"] == 10
    assert results.calls == server.chat_requests == 11


def test_verdicts_that_cannot_be_read_are_left_out_and_said() -> None:
    class Unsure:
        def read(self, prompts: Sequence[str]) -> list[Reading]:
            return [
                read_verdict("It depends." if "paints red horses.\n</claim" in prompt else "Yes") for prompt in prompts
            ]

    found, evidence = scored(metric(judge=Unsure()))
    assert found.value == 0
    assert evidence["claims"][1]["agreement"] is None
    assert evidence["measures"] == "support"
    assert "1 of 2 claims could not be judged and are left out" in (found.reason or "")

    found, evidence = scored(metric(judge=Unsure()), output="She paints red horses.")
    assert found.scoring_failed
    assert "none of 1 claims could be judged: the reply says neither yes nor no" in (found.reason or "")
    assert evidence["judging"]["verdicts"] == 5
    assert evidence["measures"] == "support"  # of which nothing could be read


def test_the_judge_shares_store_and_budget_of_the_samples(tmp_path: Path) -> None:
    def answer(call: ChatCall) -> str:
        return "Yes" if "<claim-" in call.prompt else "Anna was born in Oslo."

    with FakeOpenAI(answer) as server, SampleStore(tmp_path / "store") as store:
        connection = {"api_base": server.base_url, "api_key": "none"}
        by = metric(
            model="openai/fake", model_parameters=connection, judge="openai/judge", judge_parameters=connection,
            store=store, budget=Budget(max_calls=1), num_samples=2,
        )  # fmt: skip
        found = by.score(input="Who is Anna?", output=OUTPUT)

        assert isinstance(found, ScoreResult)
        assert found.scoring_failed  # the samples took the one call
        assert server.chat_requests == 1
        assert "budget" in (found.reason or "")


def test_a_sampler_of_ones_own_that_raises_fails_the_item() -> None:
    class Own:
        def draw(self, fields: Any, count: int) -> Any:
            raise RuntimeError("gone")

    found = SelfConsistencyMetric(sampler=Own(), nli_model=Exact(), track=False).score(input="Who?", output=OUTPUT)
    assert isinstance(found, ScoreResult)
    assert found.scoring_failed
    assert found.reason == "the sampler raised RuntimeError('gone')"


def test_claims_may_be_given() -> None:
    found, evidence = scored(metric(), claims=["Anna was born in Oslo."])

    assert found.value == 0
    assert len(evidence["claims"]) == 1


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"output": "Hello!"}, "the output holds no claim to check"),
        ({"claims": 5}, "`claims` must be a list of texts"),
        ({"samples": []}, "samples"),
        ({"output": None}, "`output` is None"),
    ],
)
def test_a_bad_item_fails_with_what_to_do(fields: dict[str, Any], text: str) -> None:
    found, _ = scored(metric(), **fields)

    assert found.scoring_failed
    assert text in (found.reason or "")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"aggregate": "median"}, "aggregate must be 'max' or 'mean'"),
        ({"threshold": 1}, "threshold must be a number from 0 to below 1"),
        ({"threshold": "low"}, "threshold must be"),
        ({"num_samples": 0}, "num_samples must be"),
        ({"judge": "gpt-4o-mini", "nli_model": "a/b"}, "cannot both be given"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(text)):
        SelfConsistencyMetric(**arguments)


def _defaults(kind: type) -> dict[str, Any]:
    return {name: one.default for name, one in inspect.signature(kind).parameters.items()}


@pytest.mark.parametrize("kind", [SelfConsistencyMetric, SourceNLIMetric])
def test_both_metrics_over_claims_take_the_arguments_of_what_they_are_made_of_with_its_defaults(kind: type) -> None:
    taken = _defaults(kind)

    for part in (NLIVerifier, ClaimReader):
        assert {name: taken.get(name, "missing") for name in _defaults(part)} == _defaults(part)


def test_the_metrics_over_claims_differ_in_name_and_threshold_only() -> None:
    source, samples = _defaults(SourceNLIMetric), _defaults(SelfConsistencyMetric)

    assert {name for name in source if source[name] != samples.get(name, "missing")} == {
        "threshold",
        # Among what samples take.
        "track",
        "project_name",
    }
    assert set(samples) - set(source) == {"model", "sampling"}
