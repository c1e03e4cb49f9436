"""`bench ragtruth` on six responses to three sources, with figures worked out by hand."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opik_checkembed.benchmarks import ragtruth as module
from opik_checkembed.benchmarks.ragtruth import KeptScores, RAGTruthResult, SignalRow, ragtruth
from opik_checkembed.benchmarks.ragtruth_data import GroundedResponse, GroundedSource, RAGTruthData, load_ragtruth
from opik_checkembed.benchmarks.ragtruth_signals import (
    Piece,
    SignalScore,
    SpecificsSignal,
    Statistic,
    VerifierSignal,
    WordingSignal,
    claims_of,
    signal_of,
)
from opik_checkembed.benchmarks.verifier_settings import prompts_fingerprint
from opik_checkembed.errors import AnswerError, ConfigurationError, ItemError, ModelError, ModelUnavailable
from opik_checkembed.functional.nli import NLIProbabilities
from opik_checkembed.models.verifier import DEFAULT_GROUNDING_MODEL, SUPPORT_PROMPT, NLIVerifier
from opik_checkembed.samples import calls
from opik_checkembed.testing import ChatCall, FakeOpenAI, Fault

BRIDGE = GroundedSource("1", "Summary", "The bridge is 5 km long. It was built in 1931 by Ada Stone.")
SHOP = GroundedSource("2", "Data2txt", "name: Tinker's\nhours Monday: 11:00-17:00")
FIRE = GroundedSource(
    "3", "Summary", "A fire burned 38 homes. Its cause is not known.", question="What burned in 2025?"
)


def answer(name: str, source: GroundedSource, text: str, *marked: str) -> GroundedResponse:
    spans = tuple((text.index(piece), text.index(piece) + len(piece)) for piece in marked)
    return GroundedResponse(name, source, text, spans)


RESPONSES = (
    answer("a", BRIDGE, "Sure, here is a summary in 99 words:\nThe bridge is 6 km long. Ada Stone built it.", "6 km"),
    answer("b", BRIDGE, "The bridge is 5 km long."),
    answer("c", SHOP, "Tinker's opens at 11 AM and closes at 9 PM.", "closes at 9 PM"),
    answer("d", SHOP, "On Mondays it is open until 5 PM."),
    answer("e", FIRE, "In 2025 lightning caused a fire. It burned 38 homes.", "lightning caused a fire"),
    answer("f", FIRE, "A fire burned 38 homes. The cause is not known."),
)
DATA = RAGTruthData(RESPONSES)


@dataclass
class Fixed:
    """Scores that are written down, by the response's id."""

    given: Mapping[str, float | Exception]
    name: str = "fixed"
    model: str | None = "tiny"
    key: str | None = "fixed"
    identity: Mapping[str, Any] = field(default_factory=dict)
    statistics: Sequence[Statistic] = (Statistic("worst claim", "threshold"),)
    asked: list[str] = field(default_factory=list)

    def score(self, response: GroundedResponse) -> SignalScore:
        self.asked.append(response.id)
        value = self.given[response.id]
        if isinstance(value, BaseException):
            raise value
        return SignalScore({"worst claim": value}, (Piece(0, 4, value), Piece(4, 8, None)), calls=2)


GIVEN = {"a": 0.9, "b": 0.2, "c": 0.8, "d": 0.3, "e": 0.1, "f": 0.4}


def run(*signals: Any, data: RAGTruthData = DATA, **options: Any) -> RAGTruthResult:
    return ragtruth(data, signals, **{"progress": False, "resamples": 20, **options})


def values(row: SignalRow, task: str | None = None) -> dict[str, float | None]:
    found = row.accuracy if task is None else row.tasks[task].accuracy
    return {name: None if one is None else one["value"] for name, one in found.to_dict().items()}


@pytest.fixture(autouse=True)
def _nothing_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "_endpoints", {})


# --- the table ----------------------------------------------------------------------------------------------


def test_the_trivial_rows_come_first() -> None:
    always, kind, length = run().rows
    assert (always.title, kind.title, length.title) == (
        "always hallucinated",
        "kind of task",
        "response length, characters",
    )
    found = values(always)
    assert (found["auroc"], found["auc_pr"], found["f1_faithful"], found["span_recall"]) == (50.0, 50.0, 0.0, 100.0)
    assert found["f1_hallucinated"] == pytest.approx(100 * 2 / 3)
    # Half of either kind are hallucinated: the kind tells nothing here.
    assert values(kind)["auroc"] == 50.0
    # a is longer than all, c than b, d; e than all but a: 3 + 2 + 3 of 9 pairs.
    lengths = [len(one.text) for one in RESPONSES]
    higher = sum(lengths[p] > lengths[n] for p in (0, 2, 4) for n in (1, 3, 5))
    assert values(length)["auroc"] == pytest.approx(100 * higher / 9)


def test_a_row_has_its_figures_over_all_and_by_task() -> None:
    row = run(Fixed(GIVEN)).row("fixed, worst claim", "tiny")
    # .9 and .8 beat all of .2 .3 .4, .1 none.
    assert values(row)["auroc"] == pytest.approx(100 * 6 / 9)
    # Found first and second of three, and last of six.
    assert values(row)["auc_pr"] == pytest.approx(100 * (1 + 1 + 3 / 6) / 3)
    assert (row.responses, row.hallucinated, row.judge_calls) == (6, 3, 2)
    assert values(row, "Summary")["auroc"] == pytest.approx(100 * 2 / 4)
    assert values(row, "Data2txt")["auroc"] == 100.0
    assert {task: (part.responses, part.hallucinated) for task, part in row.tasks.items()} == {
        "Summary": (4, 2),
        "Data2txt": (2, 1),
    }
    assert row.notes == ("6 are scored without some of their claims",)


def test_what_could_not_be_scored_is_counted_and_gets_no_number() -> None:
    row = run(Fixed({**GIVEN, "e": ItemError("nothing to check")})).row("fixed, worst claim", "tiny")
    assert (row.responses, row.hallucinated, dict(row.failures)) == (5, 2, {"e": "nothing to check"})
    assert values(row)["auroc"] == 100.0


def test_a_signal_that_scores_nothing_or_has_no_model_stops_the_run() -> None:
    with pytest.raises(ItemError, match="fixed scored none of 6 responses: nothing"):
        run(Fixed(dict.fromkeys(GIVEN, ItemError("nothing"))))
    with pytest.raises(ModelUnavailable, match="no such folder"):
        run(Fixed(dict.fromkeys(GIVEN, ModelUnavailable("no such folder"))))


def test_a_limited_run_has_its_own_rows_beside_those_of_a_whole_one(tmp_path: Path) -> None:
    whole = run(Fixed(GIVEN))
    part = run(Fixed(GIVEN), limit=2)
    assert [row.responses for row in part.rows] == [4] * 4
    both = whole.merged(part)
    assert [(row.method, row.responses) for row in both.rows if row.method.startswith(("fixed", "always"))] == [
        ("always hallucinated", 6),
        ("fixed, worst claim", 6),
        ("always hallucinated, first 2 sources", 4),
        ("fixed, worst claim, first 2 sources", 4),
    ]
    both.to_json(tmp_path / "table.json")
    assert RAGTruthResult.from_json(tmp_path / "table.json") == both
    assert (both.size, both.row("fixed, worst claim", "tiny").scored) == ("6 responses", 6)


@pytest.mark.parametrize(
    ("options", "said"),
    [({"limit": 0}, "limit must be at least 1"), ({"resamples": 0}, "resamples must be at least 1")],
)
def test_sizes_below_one_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        run(**options)


def test_two_signals_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"the signal 'fixed \(tiny\)' stands twice"):
        run(Fixed(GIVEN), Fixed(GIVEN))


def test_two_models_of_one_name_are_two_rows(tmp_path: Path) -> None:
    better = {**GIVEN, "e": 0.95}
    one = Fixed(GIVEN, key="a", identity={"model": "/a/tiny"})
    other = Fixed(better, key="b", identity={"model": "/b/tiny"})
    path = tmp_path / "table.json"
    run(one).to_json(path)
    both = RAGTruthResult.from_json(path).merged(run(other))
    both.to_json(path)
    assert RAGTruthResult.from_json(path) == both

    def found(result: RAGTruthResult) -> list[tuple[Any, float | None]]:
        return [(row.identity, values(row)["auroc"]) for row in result.rows if row.title == "fixed, worst claim (tiny)"]

    assert found(both) == [({"model": "/a/tiny"}, pytest.approx(100 * 6 / 9)), ({"model": "/b/tiny"}, 100.0)]
    # They may stand beside each other from the first, and the same one again takes its own place.
    assert found(run(one, other)) == found(both)
    again = both.merged(run(Fixed(better, identity={"model": "/a/tiny"})))
    assert found(again) == [({"model": "/a/tiny"}, 100.0), ({"model": "/b/tiny"}, 100.0)]
    assert [row.key for row in again.rows] == [row.key for row in both.rows]
    # Which of them a caller wants has to be said.
    with pytest.raises(ConfigurationError, match=r"names several rows: .*/a/tiny.*/b/tiny.*; say which with identity="):
        both.row("fixed, worst claim", "tiny")
    assert both.row("fixed, worst claim", "tiny", identity={"model": "/a/tiny"}) is both.rows[-2]


def test_a_row_that_does_not_say_what_it_is_of_gives_way(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    run(Fixed(GIVEN), WordingSignal()).to_json(path)
    told = json.loads(path.read_text())
    path.write_text(
        json.dumps({**told, "rows": [{k: v for k, v in r.items() if k != "identity"} for r in told["rows"]]})
    )
    older = RAGTruthResult.from_json(path)
    assert {row.identity for row in older.rows} == {None}
    newer = run(Fixed(GIVEN, identity={"model": "/a/tiny"}))
    merged = older.merged(newer)
    assert [row.title for row in merged.rows] == [row.title for row in older.rows]
    assert merged.row("fixed, worst claim", "tiny").identity == {"model": "/a/tiny"}
    # Of the other signal nothing newer is known.
    assert merged.row("absolute wording, any").identity is None
    with pytest.raises(ConfigurationError, match="results over other data cannot be merged"):
        merged.merged(replace(newer, fingerprint="other"))


# --- scores that are kept -----------------------------------------------------------------------------------


def test_a_run_that_broke_off_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    broken = Fixed({**GIVEN, "d": ModelUnavailable("gone")})
    with pytest.raises(ModelUnavailable):
        run(broken, scores=path)
    assert broken.asked == ["a", "b", "c", "d"]
    again = Fixed({**GIVEN, "e": ItemError("for now")})
    row = run(again, scores=path).row("fixed, worst claim", "tiny")
    assert (again.asked, row.responses) == (["d", "e", "f"], 5)
    # A failure is not kept.
    last = Fixed(GIVEN)
    complete = run(last, scores=path).row("fixed, worst claim", "tiny")
    assert (complete.responses, complete.accuracy) == (6, run(Fixed(GIVEN)).rows[-1].accuracy)
    assert last.asked == ["e"]


def test_scores_are_written_while_the_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEEP_EVERY", 0.0)
    path = tmp_path / "scores.json"
    seen = []

    class Watching(Fixed):
        def score(self, response: GroundedResponse) -> SignalScore:
            there = json.loads(path.read_text())["scores"]["fixed"] if path.exists() else []
            seen.append(len(there))
            return super().score(response)

    run(Watching(GIVEN), scores=path)
    assert seen == [0, 1, 2, 3, 4, 5]


def test_what_costs_nothing_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    run(SpecificsSignal(), Fixed(GIVEN), scores=path)
    assert list(json.loads(path.read_text())["scores"]) == ["fixed"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": 9}, "does not hold scores of bench ragtruth"),
        ({"schema": 1}, "this version reads; name another file"),  # its keys may hold a judge's
        ({"benchmark": "wikibio"}, "does not hold scores of bench ragtruth"),
        ({"fingerprint": "other"}, r"over other data \(other\)"),
        ({"scores": {"fixed": {"a": {}}}}, "are malformed"),
        ({"scores": []}, "are malformed"),
    ],
)
def test_a_file_of_something_else_is_refused(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    KeptScores(DATA.fingerprint, {}).to_json(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ConfigurationError, match=said):
        run(Fixed(GIVEN), scores=path)


# --- the signals --------------------------------------------------------------------------------------------


def marked(signal: Any, response: GroundedResponse) -> tuple[dict[str, float], list[str]]:
    found = signal.score(response)
    return dict(found.values), [response.text[one.start : one.end] for one in found.pieces]


def test_unsupported_specifics_by_hand() -> None:
    a, b, c, _, e, f = RESPONSES
    # Of "6 km" and "Ada Stone"; the remark about the answer, with its 99 words, claims nothing.
    assert marked(SpecificsSignal(), a) == ({"count": 1.0, "share": 0.5, "any": 1.0}, ["6 km"])
    assert marked(SpecificsSignal(), b) == ({"count": 0.0, "share": 0.0, "any": 0.0}, [])
    assert marked(SpecificsSignal(), c)[1] == ["9 PM"]
    # The question says 2025.
    assert marked(SpecificsSignal(), e)[1] == []
    assert marked(SpecificsSignal(), answer("g", FIRE, "Nothing else."))[0]["share"] == 0.0
    assert marked(WordingSignal(), e) == ({"count": 1.0, "any": 1.0}, ["caused"])
    assert marked(WordingSignal(), f) == ({"count": 0.0, "any": 0.0}, [])


def test_the_claims_are_the_sentences_that_claim_something() -> None:
    assert [claim.text for claim in claims_of("Hello! Is it long? It is 5 km long.")] == ["It is 5 km long."]


class Six:
    """Contradicted is what says 6, entailed all else; knows all three labels, or contradiction only."""

    def __init__(self, entails: bool) -> None:
        self.entails = entails

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NLIProbabilities:
        six = np.array([0.9 if "6" in claim else 0.2 for _, claim in pairs])
        return NLIProbabilities(entailment=1 - six, contradiction=six) if self.entails else NLIProbabilities(None, six)


@pytest.mark.parametrize("entails", [True, False])
def test_a_verifier_on_each_claim(entails: bool) -> None:
    signal = VerifierSignal(NLIVerifier(Six(entails)), "NLI", "six")
    assert signal.name == ("NLI, 1 - P(supported)" if entails else "NLI, P(contradicted)")
    response = answer("a", BRIDGE, "Hello! The bridge is 6 km long. Ada Stone built it.")
    found = signal.score(response)
    assert found.values == pytest.approx({"share of claims": 0.5, "mean claim": 0.55, "worst claim": 0.9})
    assert [response.text[one.start : one.end] for one in found.pieces] == [
        "The bridge is 6 km long.",
        "Ada Stone built it.",
    ]
    assert [one.score for one in found.pieces] == pytest.approx([0.9, 0.2])
    with pytest.raises(AnswerError, match="makes no claim"):
        signal.score(answer("g", BRIDGE, "Hello!"))
    assert SignalScore.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def judged(call: ChatCall) -> str:
    claim = call.prompt.split("Claim:")[-1]
    return "Maybe." if "Ada" in claim else "No" if "6 km" in claim else "Yes"


def judge(server: FakeOpenAI, store: Path) -> VerifierSignal:
    signal = signal_of(f"judge:model=openai/qwen,api_base={server.base_url},api_key=sk-x,store={store}")
    assert isinstance(signal, VerifierSignal)
    return signal


def test_an_llm_verifier_whose_reply_cannot_be_read_is_counted(tmp_path: Path) -> None:
    with FakeOpenAI(judged) as server:
        signal = judge(server, tmp_path / "store")
        assert (signal.name, signal.model) == ("LLM verifier, 1 - P(supported)", "openai/qwen")
        found = signal.score(RESPONSES[0])
        assert found.values == {"share of claims": 1.0, "mean claim": 1.0, "worst claim": 1.0}
        assert [one.score for one in found.pieces] == [1.0, None]
        # One question a claim, and none about contradictions.
        assert (found.calls, server.chat_requests) == (2, 2)
        with pytest.raises(ModelError, match="none of the claims could be judged: the reply says neither yes nor no"):
            signal.score(answer("g", BRIDGE, "Ada Stone built it."))


def test_a_judge_that_fails_leaves_the_response_without_a_score(tmp_path: Path) -> None:
    with FakeOpenAI(faults=lambda _: Fault.http(400)) as server:
        signal = judge(server, tmp_path / "store")
        with pytest.raises(ModelError, match="none of the claims could be judged: the call failed"):
            signal.score(RESPONSES[0])


def test_a_key_is_of_all_that_scores_depend_on() -> None:
    one = VerifierSignal(NLIVerifier(Six(True)), "NLI", "six", {"window_tokens": 64})
    assert one.key == '["NLI", {"language": "en", "model": "six", "window_tokens": 64}]'
    plain = signal_of("nli")
    assert isinstance(plain, VerifierSignal)
    assert json.loads(plain.key) == [
        "NLI",
        {
            "first": "source",
            "labels": None,
            "language": "en",
            "model": DEFAULT_GROUNDING_MODEL,
            "window_tokens": 128,
        },
    ]
    for same in (f"nli:nli_model={DEFAULT_GROUNDING_MODEL}", "nli:device=cpu", "nli:first=source,window_tokens=128"):
        assert signal_of(same).key == plain.key
    for other in ("nli:window_tokens=64", "nli:first=claim", "nli:labels.contradiction=1", "nli:language=de"):
        assert signal_of(other).key != plain.key


def test_two_models_of_one_name_are_told_apart_by_their_whole_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("a", "b"):
        (tmp_path / place / "deberta").mkdir(parents=True)
        config = {
            "architectures": ["XForSequenceClassification"],
            "id2label": {"0": "entailment", "1": "contradiction"},
        }
        (tmp_path / place / "deberta" / "config.json").write_text(json.dumps(config))
    monkeypatch.chdir(tmp_path / "a")
    a, b, here = (
        signal_of(f"nli:nli_model={folder}") for folder in (tmp_path / "a/deberta", tmp_path / "b/deberta", "deberta")
    )
    assert (a.model, b.model, here.model) == ("deberta",) * 3
    assert a.key != b.key
    assert a.key == here.key
    assert a.identity["model"] == str(tmp_path / "a/deberta")
    assert (a.identity == here.identity, a.identity == b.identity) == (True, False)
    assert signal_of("nli:nli_model=x/deberta").key != signal_of("nli:nli_model=y/deberta").key


def test_the_key_of_a_judge_holds_its_prompts_and_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = "judge:model=openai/qwen,api_base=http://me:pw@127.0.0.1:8000/v1"
    key = signal_of(f"{at},api_key=sk-x").key
    assert key is not None
    assert json.loads(key) == [
        "LLM verifier",
        {
            "api_base": "http://127.0.0.1:8000/v1",
            "language": "en",
            "model": "openai/qwen",
            "parameters": {},
            "prompts": prompts_fingerprint(SUPPORT_PROMPT),
            "window_chars": 24_000,
        },
    ]
    calling = f"api_key=sk-y,store={tmp_path / 'store'},timeout=9,max_concurrency=2,organization=o,extra_headers.X=sk-z"
    assert signal_of(f"{at},{calling}").key == key
    for other in ("max_tokens=9", "contradictions=true", "window_chars=900", "prompt={source} {claim}?", "seed=1"):
        assert signal_of(f"{at},{other}").key != key
    # A version that asks in other words gives other scores.
    monkeypatch.setattr("opik_checkembed.models.judge._NOTICE", "Another notice.")
    assert signal_of(at).key != key


def test_kept_scores_hold_no_secret_and_are_found_with_another_key_and_store(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    with FakeOpenAI(judged) as server:

        def again(secret: str, store: str) -> SignalRow:
            at = f"judge:model=openai/qwen,api_base={server.base_url}"
            signal = signal_of(f"{at},api_key={secret},store={tmp_path / store},max_concurrency=3")
            return run(signal, scores=path).rows[-1]

        first = again("sk-secret", "one")
        asked = server.chat_requests
        second = again("sk-other", "two")
        assert server.chat_requests == asked
    assert (first.responses, first.accuracy) == (second.responses, second.accuracy)
    assert json.loads(json.dumps(first.identity)) == second.identity
    for text in (path.read_text(), json.dumps(first.to_dict())):
        assert "sk-" not in text
        assert str(tmp_path) not in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bleu", "the signal must be one of specifics, wording, nli, judge, not 'bleu'"),
        ("numbers", "the signal must be one of specifics, wording, nli, judge, not 'numbers'"),
        ("jugde,api_key=sk-x", "not 'jugde'$"),
        ("specifics,language=de", "the signal specifics is not of the form NAME or NAME:OPTION=VALUE"),
        ("judge:model=m,sk-x", "the signal judge is not of the form NAME or NAME:OPTION=VALUE,OPTION=VALUE$"),
        ("nli:api_key=sk-x", "the signal nli: .*unexpected keyword argument 'api_key'$"),
        ("specifics:lang=de", "unexpected keyword argument 'lang'"),
        ("nli:first=both", "first must be 'source' or 'claim'"),
        ("judge", "judge needs a model"),
        ("wording:language=xx", "stronger than a source's are not known of 'xx'"),
        ("wording:language", "is not of the form NAME or NAME:OPTION=VALUE"),
    ],
)
def test_a_signal_that_cannot_be_is_refused(text: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        signal_of(text)


# --- the labelled data --------------------------------------------------------------------------------------


@pytest.mark.skipif("OPIK_CHECKEMBED_TEST_DATA" not in os.environ, reason="needs the labelled data")
def test_on_the_labelled_data() -> None:
    data = load_ragtruth(Path(os.environ["OPIK_CHECKEMBED_TEST_DATA"]) / "ragtruth")
    result = run(signal_of("specifics"), signal_of("wording"), data=data, limit=12)
    row = result.row("unsupported specifics, count, first 12 sources")
    assert (row.responses, len(row.tasks)) == (72, 3)
    found = values(row)["auroc"]
    assert found is not None
    assert found > 60.0
