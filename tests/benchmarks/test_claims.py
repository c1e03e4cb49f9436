"""`bench claims`: the figures on a set small enough to count by hand, going on where it was, and the tables."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from opik_checkembed.benchmarks.claims import PUBLISHED, ClaimOutcome, ClaimsResult, Rate, check_claims
from opik_checkembed.benchmarks.claims_data import ClaimSet, LabelledClaim, SourceDocument, load_claims
from opik_checkembed.cli import cli
from opik_checkembed.errors import ConfigurationError, SamplingError
from opik_checkembed.functional.claim_support import Support
from opik_checkembed.functional.reliability import wilson_interval
from opik_checkembed.models.verifier import Verification
from opik_checkembed.report.claims_table import claims_tables
from opik_checkembed.samples import calls
from opik_checkembed.samples.request import Fields
from opik_checkembed.samples.sample import Sample, SampleSet
from opik_checkembed.testing import ChatCall, FakeOpenAI
from tests.tiny_nli import save_deberta


@pytest.fixture(autouse=True)
def _nothing_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "_endpoints", {})


class Quoted:
    """Supports what a passage says word for word."""

    def __init__(self, *, contradiction_only: bool = False) -> None:
        self.asked: list[tuple[str, Sequence[str]]] = []
        self._only = contradiction_only

    def verify(self, questions: Sequence[tuple[str, Sequence[str]]]) -> Verification:
        self.asked += questions
        found = [float(any(claim in passage for passage in passages)) for claim, passages in questions]
        if self._only:
            return Verification(tuple(Support(None, 1 - p) for p in found))
        return Verification(tuple(Support(p, None if p else 0.9) for p in found))


class Answers:
    """Answers about a document with the same texts."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts
        self.asked: list[Fields] = []

    def draw(self, fields: Fields, count: int) -> SampleSet:
        self.asked.append(fields)
        return SampleSet(tuple(Sample(n, text) for n, text in enumerate(self.texts[:count])), count)


FIRST = SourceDocument("d1", "The dam is 90 m high. It may leak.", prompt="Summarise.")
SECOND = SourceDocument("d2", "The mill closed.", prompt="Summarise.")
CLAIMS = ClaimSet(
    (FIRST, SECOND),
    (
        LabelledClaim("c1", FIRST, "The dam is 90 m high.", "supported", False),
        LabelledClaim("c2", FIRST, "The dam is 95 m high.", "numerical", True),
        LabelledClaim("c3", FIRST, "The flood caused it to leak.", "causal", True),
        LabelledClaim("c4", SECOND, "The mill closed.", "supported", False),
        LabelledClaim("c5", SECOND, "The mill of Bergen closed.", "entity", True),
    ),
)
# c1 stands in three of five answers, c2 in two, c3 in all: an invention that is repeated.
SUMMARIES = (
    "The dam is 90 m high. The flood caused it to leak.",
    "The dam is 90 m high. The flood caused it to leak.",
    "The dam is 90 m high. The flood caused it to leak.",
    "The dam is 95 m high. The flood caused it to leak.",
    "The dam is 95 m high. The flood caused it to leak. The mill closed.",
)


def run(**more: Any) -> ClaimsResult:
    arguments: dict[str, Any] = {
        "name": "quoted",
        "sampler": Answers(*SUMMARIES),
        "generator": "fake",
        "progress": False,
    }
    return check_claims(CLAIMS, **{"verifier": Quoted(), **arguments, **more})


def test_what_each_method_catches() -> None:
    found = run()

    assert [one.agreement for one in found.outcomes] == [3 / 5, 2 / 5, 1.0, 1 / 5, 0.0]
    assert [one.p_supported for one in found.outcomes] == [1, 0, 0, 1, 0]
    assert [one.lacking for one in found.outcomes] == [(), ("95 m",), (), (), ("Bergen",)]
    assert [one.stronger for one in found.outcomes] == [(), (), ("caused",), (), ()]
    # A misses the invention that all answers repeat, and takes c4 for one, since only one answer has it.
    assert found.rate("A", CLAIMS.unsupported) == Rate(2, 3)
    assert found.rate("A", CLAIMS.supported) == Rate(1, 2)
    assert found.rate("B", CLAIMS.unsupported) == Rate(3, 3)
    assert found.rate("B", CLAIMS.supported) == Rate(0, 2)
    assert found.rate("guard", CLAIMS.unsupported) == Rate(3, 3)
    assert found.rate("B", CLAIMS.in_category("entity")) == Rate(1, 1)
    assert found.cross(CLAIMS.unsupported) == {(True, True): 2, (True, False): 0, (False, True): 1, (False, False): 0}
    assert [claim.claim_id for claim, _ in found.missed("A", CLAIMS.claims)] == ["c3"]
    assert found.missed("B", CLAIMS.claims) == []
    # Doubts of A: .6, 0 and 1 among the unsupported, .4 and .8 among the others: 3 of 6 pairs are in order.
    assert found.auroc("A", CLAIMS) == pytest.approx(3 / 6)
    assert found.auroc("B", CLAIMS) == 1
    assert found.methods == ("A", "B", "guard")
    assert not found.contradiction_only("A")
    assert not found.contradiction_only("B")


def test_the_source_is_read_by_b_only() -> None:
    against_source, mention, sampler = Quoted(), Quoted(), Answers(*SUMMARIES)
    run(verifier=against_source, mention=mention, sampler=sampler)

    assert {passage for _, passages in against_source.asked for passage in passages} == {
        FIRST.source_text,
        SECOND.source_text,
    }
    assert {passage for _, passages in mention.asked for passage in passages} == set(SUMMARIES)
    assert sampler.asked[0] == {"input": f"Summarise.\n\n{FIRST.source_text}"}


def test_without_a_model_only_b_runs() -> None:
    found = run(sampler=None, generator=None)

    assert found.methods == ("B", "guard")
    assert found.rate("A", CLAIMS.claims) == Rate(0, 0)
    assert found.rate("A", CLAIMS.claims).share is None
    assert found.rate("A", CLAIMS.claims).interval is None
    assert found.auroc("A", CLAIMS) is None
    assert found.cross(CLAIMS.unsupported) == dict.fromkeys(found.cross([]), 0)
    assert found.regenerations == {}


def test_a_run_that_breaks_off_goes_on_where_it_was(tmp_path: Path) -> None:
    file = tmp_path / "claims.json"
    run(limit=1, keep=lambda result: result.to_json(file))
    half = ClaimsResult.from_json(file)
    assert [one.claim_id for one in half.outcomes] == ["c1", "c2", "c3"]
    assert half.rate("B", CLAIMS.unsupported) == Rate(2, 2)

    sampler, verifier = Answers(*SUMMARIES), Quoted()
    whole = run(known=half, sampler=sampler, verifier=verifier)

    assert len(sampler.asked) == 1
    assert {passage for _, passages in verifier.asked for passage in passages} == {SECOND.source_text, *SUMMARIES}
    assert whole == run()


def test_a_result_of_others_is_not_gone_on_with() -> None:
    for changed, told in (
        ({"name": "another"}, 'verifier is "quoted" there, "another" here'),
        ({"generator": "another"}, 'generator is "fake" there, "another" here'),
        ({"settings": {"nli": {"first": "claim"}}}, 'settings.nli.first is none there, "claim" here'),
    ):
        with pytest.raises(ConfigurationError, match=rf"another result \({re.escape(told)}\); name another file"):
            run(known=run(), **changed)


def test_fewer_answers_are_not_gone_on_with() -> None:
    three = run(regenerations=3, limit=1)
    assert {len(answers) for answers in three.regenerations.values()} == {3}

    with pytest.raises(ConfigurationError, match=r"settings\.regenerations is 3 there, 5 here"):
        run(known=three)
    # Without answers their number says nothing.
    assert run(known=run(sampler=None, generator=None, regenerations=3), sampler=None, generator=None).methods == (
        "B",
        "guard",
    )


def test_what_is_known_is_read_at_other_thresholds_and_with_the_guard_of_now(tmp_path: Path) -> None:
    file = tmp_path / "claims.json"
    run(keep=lambda result: result.to_json(file))
    known = ClaimsResult.from_json(file)
    # As a version of other rules would have found it.
    known = replace(known, outcomes=tuple(replace(one, lacking=("90 m",), stronger=()) for one in known.outcomes))
    verifier, sampler = Quoted(), Answers(*SUMMARIES)

    again = run(
        known=known,
        agreement=0.6,
        threshold=0.9,
        verifier=verifier,
        sampler=sampler,
        keep=lambda result: result.to_json(file),
    )

    assert (verifier.asked, sampler.asked) == ([], [])
    assert (again.agreement, again.threshold) == (0.6, 0.9)
    assert again.outcomes == run().outcomes
    assert ClaimsResult.from_json(file) == again
    # c1 and c4 have agreements of .6 and .2: both are flagged now.
    assert again.rate("A", CLAIMS.supported) == Rate(2, 2)
    # Nothing to write where nothing is read in another way.
    assert run(known=again, agreement=0.6, threshold=0.9, keep=pytest.fail) == again


def test_the_thresholds_are_those_of_the_metrics() -> None:
    found = ClaimsResult(
        "x",
        "v",
        "g",
        outcomes=(ClaimOutcome("c1", 0.4, p_supported=0.6), ClaimOutcome("c2", 0.6, p_contradicted=0.3)),
    )

    def flags(result: ClaimsResult, method: Literal["A", "B"]) -> list[bool | None]:
        return [result.flagged(method, one) for one in result.outcomes]

    assert (flags(found, "A"), flags(found, "B")) == ([True, False], [False, False])
    assert flags(found.rethreshold(agreement=0.3), "A") == [False, False]
    assert flags(found.rethreshold(agreement=0.6), "A") == [True, True]
    # Supported from .6 on, and contradicted above 1 - .8.
    assert flags(found.rethreshold(threshold=0.6), "B") == [False, False]
    assert flags(found.rethreshold(threshold=0.8), "B") == [True, True]
    for out_of_range in ({"threshold": 0.0}, {"threshold": 1.1}, {"agreement": 1.0}, {"agreement": -0.1}):
        with pytest.raises(ConfigurationError, match=f"{next(iter(out_of_range))} must be"):
            found.rethreshold(**out_of_range)


def test_method_a_can_be_added_to_a_result_without_it() -> None:
    only_b = run(sampler=None, generator=None)

    assert run(known=only_b) == run()


def test_a_claim_that_could_not_be_judged_is_tried_again() -> None:
    class Unsure(Quoted):
        def verify(self, questions: Sequence[tuple[str, Sequence[str]]]) -> Verification:
            found = super().verify(questions).supports
            return Verification((Support(problem="the reply is empty"), *found[1:]))

    unsure = run(verifier=Unsure(), mention=Quoted())
    assert unsure.outcomes[0].problem == "the reply is empty"
    assert "Not judged by B: 2 of 5 (the reply is empty)." in " ".join(text(unsure).split())
    assert "Not judged by A" not in text(unsure)
    sampler = Answers(*SUMMARIES)

    again = run(known=unsure, sampler=sampler)

    assert again == run()
    assert sampler.asked == []  # the answers are kept


class Blind(Quoted):
    """Cannot read what is held against some passages."""

    def __init__(self, *passages: str) -> None:
        super().__init__()
        self.passages = passages

    def verify(self, questions: Sequence[tuple[str, Sequence[str]]]) -> Verification:
        found = super().verify(questions).supports
        return Verification(
            tuple(
                Support(problem="neither yes nor no") if passages[0] in self.passages else one
                for one, (_, passages) in zip(found, questions, strict=True)
            )
        )


def test_claims_that_a_could_not_judge_are_counted_and_said() -> None:
    blind = run(mention=Blind(*SUMMARIES))
    assert [one.agreement for one in blind.outcomes] == [None] * 5
    assert {(one.unread_answers, one.unread_why) for one in blind.outcomes} == {(5, "neither yes nor no")}
    shown = " ".join(text(blind).split())
    assert "Not judged by A: 5 of 5 (neither yes nor no)." in shown
    assert "Over the 0 of 3 unsupported claims that both methods judged." in shown
    assert blind.judged_by_both(CLAIMS.unsupported) == (0, 3)
    # They are tried again.
    assert run(known=blind) == run()


def test_claims_that_a_judged_by_some_of_the_answers_are_said() -> None:
    partly = run(mention=Blind(SUMMARIES[3]))
    # Of the other four answers three have c1, one has c2.
    assert [one.agreement for one in partly.outcomes[:2]] == [3 / 4, 1 / 4]
    shown = " ".join(text(partly).split())
    assert "Some answers not read by A: 5 of 5 (neither yes nor no)." in shown
    assert "Not judged by A" not in shown
    assert "that both methods judged" not in shown


def test_fewer_answers_than_wanted_are_said() -> None:
    with pytest.raises(SamplingError, match="3 of 5 answers about d1 are of use"):
        run(sampler=Answers(*SUMMARIES[:3]))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": 2, "benchmark": "claims"}', '{"schema": 1, "benchmark": "x"}']
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "other.json").write_text(text)

    with pytest.raises(ConfigurationError, match="holds no result of bench claims"):
        ClaimsResult.from_json(tmp_path / "other.json")


def test_outcomes_that_could_not_be_read_are_in_no_rate() -> None:
    found = ClaimsResult(CLAIMS.fingerprint, "v", "g", outcomes=(ClaimOutcome("c1"), ClaimOutcome("c2", 0.2, 0.1)))

    assert found.rate("A", CLAIMS.claims) == Rate(1, 1)
    assert found.rate("B", CLAIMS.claims) == Rate(1, 1)
    assert found.auroc("B", CLAIMS) is None


def text(result: ClaimsResult, claims: ClaimSet = CLAIMS) -> str:
    console = Console(width=160, record=True, file=None, quiet=False, force_terminal=False)
    with console.capture() as capture:
        console.print(claims_tables(result, claims))
    return capture.get()


def test_the_tables_show_rates_cross_table_misses_and_what_was_published() -> None:
    shown = text(run())

    low, high = wilson_interval(2 / 3, 3)
    assert "A: agreement of 5 answers" in shown
    assert "67 (2/3)" in shown
    assert f"{100 * low:.0f}..{100 * high:.0f}" in shown
    assert "published A" in shown
    assert "96 (44/46)" in shown
    assert re.search(r"A missed +1 +0", shown)
    assert re.search(r"A +c3 +causal +1\.00 +0\.00 +0\.90 +The flood caused it to leak\.", shown)
    assert "no entailment label" not in shown
    assert "A flags at an agreement of 0.4 or less; B flags below a P(supported) of 0.5." in " ".join(shown.split())
    assert "causal or absolute" in shown


def test_the_published_set_is_said_to_be_alike_only_where_it_is() -> None:
    def caption(claims: ClaimSet, outcomes: Sequence[LabelledClaim]) -> str:
        found = ClaimsResult(claims.fingerprint, "v", None, outcomes=tuple(ClaimOutcome(c.claim_id) for c in outcomes))
        return " ".join(text(found, claims).split())

    shipped = load_claims()
    assert "on another set of the same make-up." in caption(shipped, shipped.claims)
    another = "on another set (46 unsupported claims, 86 supported ones)."
    # A part of ours is none, nor are these five.
    assert another in caption(shipped, shipped.claims[:-1])
    assert another in caption(CLAIMS, CLAIMS.claims)


def test_a_verifier_of_contradiction_only_is_named_so() -> None:
    found = run(verifier=Quoted(contradiction_only=True), sampler=None, generator=None)

    assert found.contradiction_only("B")
    shown = text(found)
    assert "B flags above a P(contradicted) of 0.5." in " ".join(shown.split())
    assert "B: contradicted by the source" in shown
    assert "no entailment label" in shown
    assert "method A was not run" in shown
    assert "B caught" not in shown


def test_a_verifier_of_contradiction_only_says_nothing_of_agreement() -> None:
    found = run(verifier=Quoted(contradiction_only=True))

    assert found.contradiction_only("A")
    shown = " ".join(text(found).split())
    assert "A: not contradicted by 5 answers" in shown
    assert "A flags what 0.4 of the answers or less do not contradict;" in shown
    assert "agreement" not in shown.split("Published:")[0]
    # The two are told apart: here only the answers are read so.
    mixed = run(mention=Quoted(contradiction_only=True))
    assert (mixed.contradiction_only("A"), mixed.contradiction_only("B")) == (True, False)
    assert "B: not supported by the source" in text(mixed)


def test_the_published_figures_are_those_of_the_seed() -> None:
    assert PUBLISHED["A"]["all"] == (44, 46)
    for figures in PUBLISHED.values():
        assert sum(figures[name][0] for name in ("numerical", "entity", "causal")) == figures["all"][0]
        assert sum(figures[name][1] for name in ("numerical", "entity", "causal")) == figures["all"][1]


def answer(call: ChatCall) -> str:
    claim = re.search(r"<claim-(\d+)>\n(.+)\n</claim-\1>", call.prompt)
    if claim is None:
        return "Something else happened that day."
    return "No" if "contradict" in call.prompt else "Yes"


def bench(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["bench", "claims", *arguments])


def test_the_command_runs_both_methods_and_goes_on(tmp_path: Path) -> None:
    out, store = tmp_path / "claims.json", tmp_path / "store"
    with FakeOpenAI(answer) as server:
        arguments = [
            "--model", "openai/fake", "--verifier", "llm", "--param", f"api_base={server.base_url}",
            "--param", "api_key=sk-hidden", "--param", "max_tokens=50", "--limit", "1", "--out", str(out),
        ]  # fmt: skip
        done = bench(*arguments, "--store", str(store))
        assert done.exit_code == 0, done.output
        asked = server.chat_requests
        # Another key, store and way of calling change nothing, and other thresholds need no new run.
        again = bench(
            *arguments, "--store", str(tmp_path / "another"), "--param", "api_key=sk-other", "--param", "timeout=9",
            "--agreement", "0.9", "--threshold", "0.7",
        )  # fmt: skip
        assert again.exit_code == 0, again.output
        assert server.chat_requests == asked
        more = bench(*arguments, "--param", "max_tokens=60")
        assert more.exit_code == 1
        assert "settings.answers.parameters.max_tokens is 50 there, 60 here" in more.output

    own = load_claims().claims_of(load_claims().documents[0].doc_id)
    found = ClaimsResult.from_json(out)
    assert [one.agreement for one in found.outcomes] == [1.0] * len(own)
    assert found.rate("B", own) == Rate(0, len(own))
    assert (found.agreement, found.threshold) == (0.9, 0.7)
    assert "sk-" not in out.read_text()
    assert found.settings["regenerations"] == 5
    assert found.settings["answers"]["parameters"] == {"temperature": 0.7, "max_tokens": 50}
    assert "first" not in out.read_text()  # that is a classifier's


@pytest.mark.parametrize(("judge", "tokens"), [((), 16), (("--judge", "openai/judge"), 16)])
def test_parameters_go_where_they_are_said_to_go(judge: tuple[str, ...], tokens: int, tmp_path: Path) -> None:
    asked: list[ChatCall] = []

    def noting(call: ChatCall) -> str:
        asked.append(call)
        return answer(call)

    with FakeOpenAI(noting) as server:
        common = ["--model", "openai/fake", "--verifier", "llm", *judge, "--limit", "1"]
        at = [f"api_base={server.base_url}", "api_key=sk-x"]
        # A judge of its own is told where to ask; the same model knows.
        told = [value for one in at for value in ("--judge-param", one)] if judge else []
        params = [value for one in (*at, "max_tokens=50", "top_p=0.9") for value in ("--param", one)]
        done = bench(*common, *params, *told, "--store", str(tmp_path / "first"))
        assert done.exit_code == 0, done.output
        bodies = [call.body for call in asked]
        asked.clear()
        done = bench(*common, *params, *told, "--judge-param", "max_tokens=40", "--store", str(tmp_path / "second"))
        assert done.exit_code == 0, done.output

    answers = [body for body in bodies if body.get("temperature") == 0.7]
    verdicts = [body for body in bodies if body not in answers]
    assert {body["model"] for body in verdicts} == {"judge" if judge else "fake"}
    assert {(body["max_tokens"], body["top_p"]) for body in answers} == {(50, 0.9)}
    assert {(body["max_tokens"], body.get("top_p")) for body in verdicts} == {(tokens, None)}
    assert {call.body["max_tokens"] for call in asked if call.body.get("temperature") != 0.7} == {40}


def test_a_classifier_of_ones_own_on_claims_of_ones_own(tmp_path: Path) -> None:
    data, out = tmp_path / "own.json", tmp_path / "claims.json"
    data.write_text(json.dumps([claim.to_row() for claim in CLAIMS.claims]))
    model = save_deberta(tmp_path, [claim.text for claim in CLAIMS.claims], ("entailment", "neutral", "contradiction"))
    arguments = ["--data", str(data), "--nli-model", model, "--out", str(out)]

    done = bench(*arguments, "--nli-first", "claim")

    assert done.exit_code == 0, done.output
    found = ClaimsResult.from_json(out)
    assert found.settings == {
        "verifier": "nli",
        "classifier": {"model": model, "labels": None, "first": "claim", "window_tokens": 128},
    }
    assert (found.verifier, found.methods, len(found.outcomes)) == ("deberta", ("B", "guard"), 5)
    # Every claim of this random model is somewhere between 0 and 1, so a threshold of 1 flags them all.
    again = bench(*arguments, "--nli-first", "claim", "--threshold", "1")
    assert again.exit_code == 0, again.output
    assert ClaimsResult.from_json(out) == found.rethreshold(1.0)
    assert found.rethreshold(1.0).rate("B", CLAIMS.claims) == Rate(5, 5)
    refused = bench(*arguments)
    assert 'settings.classifier.first is "claim" there, "source" here' in refused.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--verifier", "llm"], "--verifier llm needs a model: --judge, or --model for both"),
        (["--verifier", "llm", "--model", "m", "--param", "temperature=0.5"], "temperature is set by the benchmark"),
        (["--judge", "m"], "--judge goes with --verifier llm, and this is --verifier nli"),
        (["--judge", "m", "--judge-param", "a=1"], "--judge and --judge-param go with --verifier llm"),
        (
            ["--verifier", "llm", "--judge", "m", "--nli-model", "n"],
            "--nli-model goes with --verifier nli, and this is",
        ),
        (["--verifier", "llm", "--model", "m", "--nli-first", "claim"], "--nli-first goes with --verifier nli"),
        (["--verifier", "llm", "--judge", "m", "--param", "top_p=1"], "--param is for --model, which is not given"),
        (["--param", "top_p=1"], "--param is for --model, which is not given"),
        (["--agreement", "0.5"], "--agreement is of method A, which needs --model"),
        (["--store", "x"], "--store keeps the answers and verdicts of models"),
        (["--verifier", "llm", "--judge", "m", "--judge-param", "prompt=x"], "prompt is set by the benchmark, not by"),
        (["--verifier", "llm", "--judge", "m", "--judge-param", "x"], "is not of the form --judge-param NAME=VALUE"),
        (["--model", "m", "--agreement", "1"], "1.0 is not in the range 0<=x<1"),
        (["--threshold", "0"], "0.0 is not in the range 0<x<=1"),
    ],
)
def test_the_command_names_what_it_lacks_or_would_ignore(arguments: list[str], says: str) -> None:
    done = bench(*arguments)

    assert done.exit_code != 0
    assert says in " ".join(done.output.replace("│", " ").split())
