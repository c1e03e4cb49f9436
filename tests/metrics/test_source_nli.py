"""SourceNLI in Opik's hands: what is read, what is reported, what it costs, and items nobody should send."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed import SelfCheckNLIMetric, SourceNLIMetric, evaluate_locally
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.nli import NLIProbabilities
from opik_checkembed.functional.verdict import Reading, read_verdict
from opik_checkembed.models.nli import Pair
from opik_checkembed.samples import calls
from opik_checkembed.samples.store import SampleStore
from opik_checkembed.testing import ChatCall, FakeOpenAI, Fault

transformers: Any = importlib.import_module("transformers")

SOURCE = "The bridge was opened in 1932. It is 898 m long. Rain may have caused the damage."
OUTPUT = "The bridge was opened in 1932. It is 950 m long. Rain caused the damage."


@pytest.fixture(autouse=True)
def _nothing_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "_endpoints", {})


class Exact:
    """Entails what the premise says word for word; contradicts what begins alike and goes on otherwise."""

    def __init__(self, *, entailment: bool = True) -> None:
        self.entailment = entailment
        self.asked: list[Pair] = []

    def probabilities(self, pairs: Sequence[Pair]) -> NLIProbabilities:
        self.asked += pairs
        same = np.array([0.95 if claim in premise else 0.05 for premise, claim in pairs])
        against = np.array([_against(claim, premise) for premise, claim in pairs])
        return NLIProbabilities(entailment=same if self.entailment else None, contradiction=against)


def _against(claim: str, premise: str) -> float:
    start = " ".join(claim.split()[:2])
    return 0.9 if start in premise and claim not in premise else 0.05


def metric(**more: Any) -> SourceNLIMetric:
    arguments: dict[str, Any] = {"track": False, **more}
    if not {"judge", "verifier"} & set(more):
        arguments.setdefault("nli_model", Exact())
    return SourceNLIMetric(**arguments)


def scored(by: SourceNLIMetric, **fields: Any) -> tuple[ScoreResult, dict[str, Any]]:
    found = by.score(**{"output": OUTPUT, "context": SOURCE, **fields})
    assert found.reason is not None
    evidence = (found.metadata or {}).get("evidence", {})
    return found, json.loads(json.dumps(evidence))


def test_the_share_of_claims_not_supported_with_all_that_decided() -> None:
    found, evidence = scored(metric())

    assert found.name == "source_nli"
    assert found.value == 2 / 3
    assert not found.scoring_failed
    assert [one["verdict"] for one in evidence["claims"]] == ["supported", "contradicted", "absent"]
    assert [one["p_supported"] for one in evidence["claims"]] == [0.95, 0.05, 0.05]
    assert [OUTPUT[one["start"] : one["end"]] for one in evidence["claims"]] == [
        one["text"] for one in evidence["claims"]
    ]
    against = evidence["claims"][1]["evidence"]
    assert against["text"] == "It is 898 m long."
    assert SOURCE[against["start"] : against["end"]] == against["text"]
    assert evidence["source"] == {"passages": [SOURCE]}
    assert evidence["measures"] == "support"
    assert found.reason == (
        "1 of 3 claims are supported by the source (0 all supported to 1 none); in most doubt, contradicted, "
        "P(supported) 0.05: 'It is 950 m long.'; nearest in the source: 'It is 898 m long.'; not in the source: "
        "'950 m'."
    )


def test_the_guard_stands_beside_the_verdict_and_does_not_change_it() -> None:
    _, evidence = scored(metric())

    assert [[one["text"] for one in claim["unsupported_specifics"]] for claim in evidence["claims"]] == [
        [],
        ["950 m"],
        [],
    ]
    assert [[one["text"] for one in claim["stronger_wording"]] for claim in evidence["claims"]] == [[], [], ["caused"]]
    found, evidence = scored(metric(), output="Rain caused the damage.", context="Rain caused the damage, or may have.")
    assert (found.value, evidence["claims"][0]["stronger_wording"]) == (1.0, [])


def test_what_the_question_says_needs_no_source() -> None:
    _, evidence = scored(metric(), input="Is it 950 m long?")

    assert evidence["claims"][1]["unsupported_specifics"] == []


def test_the_worst_claim_and_another_threshold() -> None:
    worst, _ = scored(metric(aggregate="max"))
    assert worst.value == pytest.approx(0.95)
    assert "the value is 1 - P(supported) of the worst" in (worst.reason or "")
    assert scored(metric(threshold=0.04))[0].value == 0
    assert scored(metric(threshold=0.96))[0].value == 1


@pytest.mark.parametrize("name", ["context", "source", "source_text"])
def test_the_source_stands_in_any_of_three_fields_as_text_or_passages(name: str) -> None:
    for source in (SOURCE, [SOURCE], ["Preface.", " ", SOURCE], ("Preface.", SOURCE)):
        found, evidence = scored(metric(), **{"context": None, name: source})
        assert found.value == 2 / 3
        assert all(passage.strip() for passage in evidence["source"]["passages"])


def test_the_first_of_the_three_that_holds_anything_is_read() -> None:
    assert scored(metric(), context=OUTPUT, source="Nothing of it.")[0].value == 0
    assert scored(metric(), context=[], source=OUTPUT)[0].value == 0


def test_empty_passages_are_left_out_and_said() -> None:
    found, evidence = scored(metric(), context=[SOURCE, None, " "])

    assert evidence["source"]["passages"] == [SOURCE]
    assert "2 of 3 passages of `context` are empty and were left out" in (found.reason or "")


def test_a_model_of_contradiction_only_says_nothing_of_support() -> None:
    found, evidence = scored(metric(nli_model=Exact(entailment=False)))

    assert found.value == 1 / 3
    assert [one["verdict"] for one in evidence["claims"]] == ["not contradicted", "contradicted", "not contradicted"]
    assert [one["p_supported"] for one in evidence["claims"]] == [None] * 3
    assert evidence["measures"] == "contradiction"
    assert found.reason is not None
    assert (
        "The source contradicts 1 of 3 claims (0 none to 1 all; the classifier has no entailment label" in found.reason
    )
    assert "upported by" not in found.reason


def test_claims_of_the_item_need_no_output() -> None:
    by = metric()
    found = by.score(context=SOURCE, claims=["It is 898 m long.", "It is red."])

    assert found.value == 1 / 2


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no context": ({"context": None}, "there is no source to hold the answer against: no `context`"),
    "empty context": ({"context": ""}, "`context` is empty"),
    "blank passages": ({"context": [" ", "\n"]}, "`context` is empty"),
    "no passages": ({"context": []}, "`context` is empty"),
    "a dict": ({"context": {"text": SOURCE}}, "`context` must be a text or a list of texts, not a dict"),
    "all fields empty": ({"context": [], "source": " "}, "`context` is empty"),
    "a nested list": ({"context": [[SOURCE]]}, "not a list that holds a list"),
    "a list of dicts": ({"context": [{"text": SOURCE}]}, "not a list that holds a dict"),
    "a number": ({"context": 7}, "not a int"),
    "claims of another kind": ({"claims": "It rains."}, "`claims` must be a list of texts, not a str"),
    "no output": ({"output": None}, "`output` is None"),
    "a greeting": ({"output": "Hello!"}, "the output holds no claim to check"),
    "a refusal": ({"output": "I'm sorry, but I can't help with that."}, "is a refusal"),
    "half of a surrogate pair": ({"output": "It is \ud800 long now."}, "surrogate"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_item_fails_with_what_to_do(case: str) -> None:
    fields, text = BAD[case]
    found, _ = scored(metric(), **fields)

    assert found.scoring_failed
    assert text in (found.reason or "")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"aggregate": "median"}, "aggregate must be 'max' or 'mean'"),
        ({"threshold": 0}, "threshold must be a number above 0 and at most 1"),
        ({"threshold": True}, "threshold must be"),
        ({"judge": "gpt-4o-mini", "nli_model": "a/b"}, "judge and nli_model cannot both be given"),
        ({"nli_model": "a/b", "labels": {"yes": 1}}, "labels must map"),
        ({"claims": "llm"}, "name the model that splits sentences"),
        ({"claims": "llm", "claims_model": "m", "claims_parameters": "x"}, "claims_parameters is a dict"),
        ({"judge": "gpt-4o-mini", "window_tokens": 64}, "window_tokens is for the classifier"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(text)):
        SourceNLIMetric(**arguments)


# --- an LLM as the verifier ---------------------------------------------------------------------------------


def by_source(call: ChatCall) -> str:
    tag = re.search(r"<claim-(\d+)>\n(.+)\n</claim-\1>", call.prompt)
    assert tag is not None
    return "Yes" if call.prompt.count(tag[2]) == 2 else "No"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SampleStore]:
    with SampleStore(tmp_path / "store") as store:
        yield store


def asking(server: FakeOpenAI, store: SampleStore) -> SourceNLIMetric:
    parameters = {"api_base": server.base_url, "api_key": "none", "store": store}
    return metric(judge="openai/judge", judge_parameters=parameters)


def test_verdicts_are_kept_so_that_a_rerun_makes_no_call(store: SampleStore) -> None:
    with FakeOpenAI(by_source) as server:
        first, evidence = scored(asking(server, store))
        again, evidence_again = scored(asking(server, store))

        # Three claims, and the two unsupported ones once more.
        assert server.chat_requests == 5
    assert (first.value, again.value) == (2 / 3, 2 / 3)
    assert (evidence["judging"]["calls"], evidence_again["judging"]["calls"]) == (5, 0)


def test_a_local_evaluation_counts_what_judging_took(store: SampleStore) -> None:
    with FakeOpenAI(by_source) as server:
        results = evaluate_locally(
            [{"output": OUTPUT, "context": SOURCE}], scoring_metrics=[asking(server, store)], progress=False
        )

    assert results.calls == 5
    assert results.summary()["source_nli"].higher_is_better is False


def test_a_failing_judge_is_named_with_what_the_provider_said(store: SampleStore) -> None:
    with FakeOpenAI(by_source, faults=[Fault.http(401)] * 20) as server:
        found, _ = scored(asking(server, store))

    assert found.scoring_failed
    assert (
        "none of 3 claims could be judged: the call failed; 3 of 3 verdicts could not be read: the call failed ("
        in (found.reason or "")
    )


def test_a_splitter_of_ones_own_that_fails_fails_the_item() -> None:
    class Own:
        def __init__(self, returned: Any) -> None:
            self.returned = returned

        def split(self, text: str) -> Any:
            if self.returned is None:
                raise RuntimeError("gone")
            return self.returned

    assert "the splitter raised RuntimeError('gone')" in (scored(metric(splitter=Own(None)))[0].reason or "")
    assert "did not return a list of Sentence" in (scored(metric(splitter=Own([(0, 3)])))[0].reason or "")


def test_splitting_and_judging_make_one_bill(store: SampleStore) -> None:
    def answer(call: ChatCall) -> str:
        if "Statements:" in call.prompt:
            return "The bridge was opened in 1932.\nThe bridge was 898 m long."
        return by_source(call)

    with FakeOpenAI(answer) as server:
        parameters = {"api_base": server.base_url, "api_key": "none", "store": store}
        by = metric(
            judge="openai/judge",
            judge_parameters=parameters,
            claims="llm",
            claims_model="openai/splitter",
            claims_parameters=parameters,
        )
        found, evidence = scored(by, output="The bridge was opened in 1932 and it was 898 m long.")

    assert [one["verdict"] for one in evidence["claims"]] == ["supported", "absent"]
    assert found.value == 1 / 2
    assert evidence["judging"]["calls"] == server.chat_requests == 4


def test_verdicts_that_cannot_be_read_are_left_out_and_said() -> None:
    class Unsure:
        def read(self, prompts: Sequence[str]) -> list[Reading]:
            return [read_verdict("It depends." if "950" in prompt else "Yes") for prompt in prompts]

    found, evidence = scored(metric(judge=Unsure()))
    assert found.value == 0
    assert evidence["claims"][1]["verdict"] == "unread"
    assert "1 of 3 claims could not be judged and are left out" in (found.reason or "")

    found, evidence = scored(metric(judge=Unsure()), output="It is 950 m long.")
    assert found.scoring_failed
    assert "none of 1 claims could be judged: the reply says neither yes nor no" in (found.reason or "")
    assert evidence["judging"]["verdicts"] == 1


# --- one model for all --------------------------------------------------------------------------------------


def three_labels(folder: Path) -> str:
    """A tiny random model of the default's architecture, DeBERTa-v2 with three labels."""
    from tests.tiny_nli import save_deberta

    folder.mkdir(exist_ok=True)
    return save_deberta(
        folder, [SOURCE, OUTPUT, "It rains in the valley."], labels=["entailment", "neutral", "contradiction"]
    )


def test_the_default_models_architecture_is_read_and_shared_with_selfcheck(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = three_labels(tmp_path)
    loads = []
    real = transformers.AutoModelForSequenceClassification.from_pretrained

    def counted(*given: Any, **more: Any) -> Any:
        loads.append(given)
        return real(*given, **more)

    monkeypatch.setattr(transformers.AutoModelForSequenceClassification, "from_pretrained", counted)
    source, selfcheck = metric(nli_model=folder), SelfCheckNLIMetric(nli_model=folder, store=None, track=False)

    found, evidence = scored(source)
    sampled = selfcheck.score(output=OUTPUT, samples=[SOURCE, OUTPUT])

    assert isinstance(sampled, ScoreResult)
    assert not found.scoring_failed
    assert not sampled.scoring_failed
    assert len(loads) == 1
    for one in evidence["claims"]:
        assert 0 < one["p_supported"] < 1
        assert 0 < one["p_contradicted"] < 1
        assert one["p_supported"] + one["p_contradicted"] < 1  # the rest is neutral


def test_importing_it_loads_no_model_library() -> None:
    code = (
        "import sys; from opik_checkembed.metrics.source_nli import SourceNLIMetric; SourceNLIMetric(nli_model='a/b');"
        "print([name for name in ('torch', 'transformers', 'spacy', 'litellm') if name in sys.modules])"
    )
    # Opik itself loads torch where bert_score is installed, and its litellm models are loaded late.
    told = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.modules['bert_score'] = None; {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == "[]"
