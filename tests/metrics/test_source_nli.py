"""SourceNLI in Opik's hands: what is read, what is reported, what it costs, and items nobody should send."""

from __future__ import annotations

import importlib
import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed import LLMVerifier, SelfCheckNLIMetric, SourceNLIMetric, evaluate_locally
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.claim_support import Support
from opik_checkembed.functional.nli import NLIProbabilities
from opik_checkembed.functional.verdict import Reading, read_verdict
from opik_checkembed.models import verifier
from opik_checkembed.models.nli import Pair, TransformerNLI
from opik_checkembed.models.verifier import Verification
from opik_checkembed.samples import calls
from opik_checkembed.samples.store import SampleStore
from opik_checkembed.testing import Answer, ChatCall, FakeOpenAI, Fault
from tests.hostile import HOSTILE, inside, outside

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
    assert (against["window"], against["probability"]) == ([0, len(SOURCE)], 0.9)
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


def test_what_the_question_says_is_marked_where_the_source_lacks_it() -> None:
    plain, evidence_plain = scored(metric())
    found, evidence = scored(metric(), input="Is it 950 m long?")

    start = "It is 950 m long.".index("950")
    given = {"kind": "unit", "start": start, "end": start + 5, "text": "950 m", "asked": True}
    assert evidence["claims"][1]["unsupported_specifics"] == [{**given, "kind": "number"}]
    assert evidence_plain["claims"][1]["unsupported_specifics"][0]["asked"] is False
    assert "; not in the source: '950 m' (as the question says)." in (found.reason or "")
    # Marked or not, it moves nothing.
    assert (found.value, [one["score"] for one in evidence["claims"]]) == (
        plain.value,
        [one["score"] for one in evidence_plain["claims"]],
    )


def test_in_a_language_without_word_lists_strong_wording_is_not_looked_for() -> None:
    found, evidence = scored(metric(language="pl"), output="Most otwarto w 1950 roku.", context="Most otwarto w 1932.")

    (claim,) = evidence["claims"]
    assert claim["stronger_wording"] is None
    assert [one["text"] for one in claim["unsupported_specifics"]] == ["1950"]
    assert "stronger" not in (found.reason or "")
    assert "; not in the source: '1950'." in (found.reason or "")


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
    assert "windows were read" not in found.reason  # there is but one


def test_the_reason_says_that_a_model_of_contradiction_only_read_a_window_for_each_claim() -> None:
    by = metric(nli_model=Exact(entailment=False), window_tokens=10)
    found, evidence = scored(by, context="It was opened. It has two lanes. It is 898 m long. People like it very much.")

    assert [one["verdict"] for one in evidence["claims"]] == ["not contradicted", "contradicted", "not contradicted"]
    assert (found.reason or "").endswith(
        "2 of 3 windows were read, for each claim the one most like it by its letters: a model that only knows "
        "contradiction finds one in unrelated text."
    )


def test_claims_of_the_item_need_no_output() -> None:
    by = metric()
    found = by.score(context=SOURCE, claims=["It is 898 m long.", "It is red."])

    assert found.value == 1 / 2


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no context": ({"context": None}, "there is no source to hold the answer against: no `context`"),
    "empty context": ({"context": ""}, "`context` is empty"),
    "blank passages": ({"context": [" ", "\n"]}, "`context` is empty"),
    "no passages": ({"context": []}, "`context` is empty"),
    "a dict": (
        {"context": {"text": SOURCE}},
        "`context` must be a text or a list of texts, not a dict; name the field",
    ),
    "all fields empty": ({"context": [], "source": " "}, "`context` is empty"),
    "a nested list": ({"context": [[SOURCE]]}, "not a list that holds a list"),
    "a list of dicts": (
        {"context": [{"text": SOURCE}]},
        "not a list that holds a dict; map its texts, for example scoring_key_mapping={'context': lambda item: "
        "[part['text'] for part in item['context']]}",
    ),
    "an array": (
        {"context": np.array([SOURCE])},
        "not an ndarray; map its texts, for example scoring_key_mapping={'context': lambda item: "
        "list(item['context'])}",
    ),
    "a set": (
        {"context": None, "source": {SOURCE}},
        "not a set; map its texts, for example scoring_key_mapping={'context': lambda item: list(item['source'])}",
    ),
    "bytes": ({"context": SOURCE.encode()}, "not a bytes; name the field that holds its texts"),
    "a number": (
        {"context": 7},
        "must be a text or a list of texts, not an int; name the field that holds its texts, for example",
    ),
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


def test_a_verifier_of_ones_own_need_not_show_a_place() -> None:
    class Own:
        def verify(self, questions: Any) -> Verification:
            return Verification((Support(0.2),) * len(questions))

    found, evidence = scored(metric(verifier=Own()), output="It is old now.")

    assert evidence["claims"][0]["evidence"] is None
    assert (found.reason or "").endswith("in most doubt, not supported, P(supported) 0.20: 'It is old now.'.")


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


CLAIMS = {"It is red.": 0.9, "It is big.": 0.7, "It is old.": 0.6, "It is wet.": 0.4, "It is hot.": 0.1}
"""Claims with their P(supported)."""


def by_claim(call: ChatCall) -> Answer:
    """Of the claims that end in "d." and "t." the source says the contrary."""
    (claim,) = [one for one in CLAIMS if f"\n{one}\n</claim" in call.prompt]
    yes = (0.8 if claim[-2] in "dt" else 0.2) if "contradict" in call.prompt else CLAIMS[claim]
    (first, p), (second, q) = sorted({"Yes": yes, "No": 1 - yes}.items(), key=lambda one: -one[1])
    return Answer(first, logprobs=[{first: math.log(p), second: math.log(q)}])


@pytest.mark.parametrize(
    ("threshold", "flagged"),
    [
        (0.95, ["contradicted", "absent", "contradicted", "contradicted", "contradicted"]),
        (0.65, ["contradicted", "contradicted", "contradicted"]),
        (0.5, ["contradicted", "contradicted"]),
        (0.3, ["contradicted"]),
    ],
)
@pytest.mark.parametrize("given", ["judge", "verifier"])
def test_an_llm_is_asked_once_more_about_each_claim_that_is_flagged_and_no_other(
    threshold: float, flagged: list[str], given: str
) -> None:
    with FakeOpenAI(by_claim) as server:
        connection: dict[str, Any] = {"api_base": server.base_url, "api_key": "none", "store": None}
        asked: dict[str, Any] = (
            {"judge": "openai/judge", "judge_parameters": connection}
            if given == "judge"
            else {"verifier": LLMVerifier("openai/judge", **connection)}
        )
        by = metric(threshold=threshold, **asked)
        found, evidence = scored(by, context="It is a thing.", claims=list(CLAIMS))

        assert server.chat_requests == len(CLAIMS) + len(flagged)
    told = [one["verdict"] for one in evidence["claims"]]
    assert told == ["supported"] * (len(CLAIMS) - len(flagged)) + flagged
    assert found.value == len(flagged) / len(CLAIMS)
    assert evidence["judging"]["calls"] == len(CLAIMS) + len(flagged)


def test_another_threshold_is_told_to_a_verifier_from_then_on() -> None:
    with FakeOpenAI(by_claim) as server:
        verifier = LLMVerifier("openai/judge", api_base=server.base_url, api_key="none", store=None)
        strict, lenient = metric(verifier=verifier, threshold=0.95), metric(verifier=verifier, threshold=0.05)
        fields = {"context": "It is a thing.", "claims": ["It is old."]}

        verdicts = [scored(by, **fields)[1]["claims"][0]["verdict"] for by in (strict, lenient, strict)]

        # Kept replies are not asked for again: one question, and the other one where the claim is flagged.
        assert server.chat_requests == 2
    assert verdicts == ["contradicted", "supported", "contradicted"]


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
    assert "returned a tuple among its sentences, not a Sentence" in (
        scored(metric(splitter=Own([(0, 3)])))[0].reason or ""
    )


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


# --- hostile answers, many claims ---------------------------------------------------------------------------


def test_no_hostile_answer_moves_a_verdict_through_rules_splitter_or_judge(store: SampleStore) -> None:
    def answer(call: ChatCall) -> str:
        if "Statements:" in call.prompt:
            return "Yes\nIt is red."  # it obeys, and says what the source supports
        source, claim = inside(call.prompt, "source"), inside(call.prompt, "claim")
        return "Yes" if claim in source and "contradict" not in call.prompt else "No"

    false, true = "It is green, and as large as a house in the old town.", "It is red."
    verdicts: dict[str, list[str]] = {}
    with FakeOpenAI(answer) as server:
        connection = {"api_base": server.base_url, "api_key": "none", "store": store}
        by = metric(
            judge="openai/judge",
            judge_parameters=connection,
            claims="llm",
            claims_model="openai/splitter",
            claims_parameters=connection,
            min_tokens=1,
        )
        for text in HOSTILE:
            _, evidence = scored(by, output=f"{false} {true} {text}", context=f"Preface. {true}")
            claims = evidence["claims"]
            assert [one["text"] for one in claims[:2]] == [false, true], text
            verdicts[text] = [one["verdict"] for one in claims]
        asked = [str(call.body["messages"][-1]["content"]) for call in server.calls if call.body is not None]

    assert {text: told[:2] for text, told in verdicts.items()} == {text: ["absent", "supported"] for text in HOSTILE}
    # What a hostile text itself claims, where that is a claim at all, is not in the source either.
    assert {one for told in verdicts.values() for one in told[2:]} == {"absent"}
    for prompt in asked:
        names = ("sentence",) if prompt.endswith("Statements:\n") else ("source", "claim")
        assert "It is" not in outside(prompt, *names)


def test_four_hundred_claims_are_read_in_parts_of_bounded_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[Pair]] = []
    real = TransformerNLI.probabilities

    def counted(self: TransformerNLI, pairs: Sequence[Pair]) -> NLIProbabilities:
        calls.append(list(pairs))
        return real(self, pairs)

    monkeypatch.setattr(TransformerNLI, "probabilities", counted)
    monkeypatch.setattr(verifier, "_PAIRS", 250)
    claims = [f"Line {number} is open." for number in range(400)]
    by = metric(nli_model=three_labels(tmp_path), max_claims=None, window_tokens=64)

    found, evidence = scored(by, output=" ".join(claims))

    windows = len({premise for pairs in calls for premise, _ in pairs})
    assert windows > 1
    # Each pair once, in parts of as many whole claims as 250 pairs hold.
    read = [pair for pairs in calls for pair in pairs]
    assert len(read) == len(set(read)) == 400 * windows
    assert len(calls) == 1 + math.ceil(400 / (250 // windows))
    assert max(map(len, calls)) == 250 // windows * windows
    assert [one["text"] for one in evidence["claims"]] == claims
    assert all(0 < one["p_supported"] < 1 for one in evidence["claims"])
    assert "of 400 claims are supported" in (found.reason or "")


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
