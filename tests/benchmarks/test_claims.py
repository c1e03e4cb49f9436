"""`bench claims`: the figures on a set small enough to count by hand, going on where it was, and the tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
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
    assert not found.contradiction_only


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
    for changed in ({"name": "another"}, {"generator": "another"}, {"settings": {"first": "claim"}}):
        with pytest.raises(ConfigurationError, match="name another file"):
            run(known=run(), **changed)


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
    sampler = Answers(*SUMMARIES)

    again = run(known=unsure, sampler=sampler)

    assert again == run()
    assert sampler.asked == []  # the answers are kept


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


def test_a_verifier_of_contradiction_only_is_named_so() -> None:
    found = run(verifier=Quoted(contradiction_only=True), sampler=None, generator=None)

    assert found.contradiction_only
    shown = text(found)
    assert "B: contradicted by the source" in shown
    assert "no entailment label" in shown
    assert "method A was not run" in shown
    assert "B caught" not in shown


def test_the_published_figures_are_those_of_the_seed() -> None:
    assert PUBLISHED["A"]["all"] == (44, 46)
    for figures in PUBLISHED.values():
        assert sum(figures[name][0] for name in ("numerical", "entity", "causal")) == figures["all"][0]
        assert sum(figures[name][1] for name in ("numerical", "entity", "causal")) == figures["all"][1]


def test_the_command_runs_both_methods_and_goes_on(tmp_path: Path) -> None:
    def answer(call: ChatCall) -> str:
        claim = re.search(r"<claim-(\d+)>\n(.+)\n</claim-\1>", call.prompt)
        if claim is None:
            return "Something else happened that day."
        return "No" if "contradict" in call.prompt else "Yes"

    out, store = tmp_path / "claims.json", tmp_path / "store"
    with FakeOpenAI(answer) as server:
        arguments = [
            "bench", "claims", "--model", "openai/fake", "--verifier", "llm", "--param", f"api_base={server.base_url}",
            "--param", "api_key=none", "--param", "max_tokens=50", "--limit", "1", "--out", str(out),
            "--store", str(store),
        ]  # fmt: skip
        done = CliRunner().invoke(cli, arguments)
        assert done.exit_code == 0, done.output
        asked = server.chat_requests
        again = CliRunner().invoke(cli, arguments)
        assert again.exit_code == 0, again.output
        assert server.chat_requests == asked

    own = load_claims().claims_of(load_claims().documents[0].doc_id)
    found = ClaimsResult.from_json(out)
    assert [one.agreement for one in found.outcomes] == [1.0] * len(own)
    assert found.rate("B", own) == Rate(0, len(own))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--verifier", "llm"], "needs a model"),
        (["--verifier", "llm", "--model", "m", "--param", "temperature=0.5"], "temperature is set by the benchmark"),
    ],
)
def test_the_command_names_what_it_lacks(arguments: list[str], says: str) -> None:
    done = CliRunner().invoke(cli, ["bench", "claims", *arguments])

    assert done.exit_code != 0
    assert says in done.output
