"""Faults of providers, at the HTTP boundary, with the real litellm: each ends in the right score or a named failure."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed import CheckEmbedMetric, LiteLLMSampler
from opik_checkembed.samples.retry import Retry
from opik_checkembed.testing import Answer, ChatCall, FakeOpenAI, Fault

# Output and samples all begin with A, but for one sample that begins with B: of the 30 cells of the shifted cosine
# matrix beside the diagonal 20 are 1 and 10 are 0.5, so the Frobenius score is sqrt((20 + 10 * 0.25) / 30).
ONE_APART = (22.5 / 30) ** 0.5


@dataclass(frozen=True)
class Case:
    """What the server does, and what must come of it."""

    script: dict[str, Any]
    value: float | None
    says: tuple[str, ...] = ()
    never_says: tuple[str, ...] = ()
    requests: int | None = None
    usable: int = 5
    sampler: dict[str, Any] = field(default_factory=dict)


def agreeing(last: str | Answer = "A5") -> list[str | Answer]:
    return ["A1", "A2", "A3", "A4", last]


def always(fault: Fault) -> Callable[[ChatCall], Fault]:
    return lambda _: fault


def four(last: Answer | str, says: str) -> Case:
    return Case({"answers": agreeing(last)}, 1.0, (f"1 of 5 samples left out: {says}",), usable=4, requests=1)


def failed(script: dict[str, Any], *says: str, requests: int, **sampler: Any) -> Case:
    least = ("0 of 5 samples are usable, 2 are needed", "5 of 5 samples failed")
    return Case(script, None, (*least, *says), requests=requests, sampler=sampler)


CASES = {
    "no fault": Case({"answers": agreeing("B5")}, ONE_APART, ("score 0 to 1, higher is better",), requests=1),
    "429, then well": Case({"answers": agreeing(), "faults": [Fault.http(429)]}, 1.0, requests=2),
    "429 for good": failed({"faults": always(Fault.http(429))}, "RateLimitError", "(3 attempts)", requests=3),
    "429 for longer than anyone waits": failed(
        {"faults": always(Fault.http(429, retry_after=3600))}, "RateLimitError", requests=1
    ),
    "500, then well": Case({"answers": agreeing(), "faults": [Fault.http(500)] * 2}, 1.0, requests=3),
    "500 for good": failed({"faults": always(Fault.http(500))}, "InternalServerError", "(3 attempts)", requests=3),
    "503, then well": Case({"answers": agreeing(), "faults": [Fault.http(503)]}, 1.0, requests=2),
    "timeout, then well": Case(
        {"answers": agreeing(), "faults": [Fault.hang()]}, 1.0, requests=2, sampler={"timeout": 0.5}
    ),
    "timeout for good": failed({"faults": always(Fault.hang())}, "Timeout", "(3 attempts)", requests=3, timeout=0.3),
    "reset, then well": Case({"answers": agreeing(), "faults": [Fault.reset()]}, 1.0, requests=2),
    "reset for good": failed({"faults": always(Fault.reset())}, "Connection error", "(3 attempts)", requests=3),
    "malformed, then well": Case({"answers": agreeing(), "faults": [Fault.malformed()]}, 1.0, requests=2),
    "malformed for good": failed({"faults": always(Fault.malformed())}, "Unterminated string", requests=3),
    "an empty body": failed({"faults": always(Fault.empty_body())}, "Expecting value", requests=3),
    "no choices, then well": Case({"answers": agreeing(), "faults": [Fault.no_choices()]}, 1.0, requests=2),
    "no choices for good": failed(
        {"faults": always(Fault.no_choices())}, "the provider's answer held no choices (3 attempts)", requests=3
    ),
    "an empty answer": four("", "empty"),
    "null content": four(Answer(None), "empty"),
    "a blank answer": four(" \n", "empty"),
    "a refusal field": four(Answer.refused(), "refused"),
    "a refusal in words": four("I'm sorry, but I can't assist with that.", "refused"),
    "a cut answer": four(Answer("A5 and", finish_reason="length"), "truncated"),
    "all tokens spent before a word": four(Answer("", finish_reason="length"), "truncated"),
    "a tool call": four(Answer.tool_call("search", {"query": "A"}), "tool call instead of text"),
    "a content filter": four(Answer.filtered("A5"), "content-filtered"),
    "only refusals": Case(
        {"answers": Answer.refused()},
        None,
        ("0 of 5 samples are usable, 2 are needed: 5 of 5 samples left out: refused",),
        requests=1,
    ),
    "n rejected": Case(
        {"answers": agreeing("B5"), "n": "reject"}, ONE_APART, ("provider rejected n; asked without",), requests=6
    ),
    "n ignored": Case({"answers": agreeing("B5"), "n": "ignore"}, ONE_APART, never_says=("rejected",), requests=5),
    "temperature rejected": Case(
        {"answers": agreeing("B5"), "reject": ["temperature"]},
        ONE_APART,
        ("provider rejected temperature; asked without",),
        requests=2,
    ),
    "n and temperature and a seed rejected": Case(
        {"answers": agreeing("B5"), "reject": ["temperature", "seed"], "n": "reject"},
        ONE_APART,
        ("provider rejected n, seed, temperature; asked without",),
        # Rejected three times, once for each.
        requests=8,
        sampler={"seed": 7, "max_concurrency": 1},
    ),
    "a token limit rejected": failed({"reject": ["max_tokens"]}, "max_tokens", requests=1, max_tokens=20),
    "all identical": Case(
        {"answers": "A"},
        1.0,
        (
            "all 5 samples are identical at temperature 1",
            "no sign of confidence",
            "says nothing about identical samples",
        ),
        requests=1,
    ),
    "all identical at temperature 0": Case(
        {"answers": "A"},
        1.0,
        ("identical because they were asked for at temperature 0", "says nothing about identical samples"),
        requests=1,
        sampler={"temperature": 0},
    ),
    "400": failed({"faults": always(Fault.http(400))}, "BadRequestError", requests=1),
    "401": failed({"faults": always(Fault.http(401))}, "AuthenticationError", "Incorrect API key", requests=1),
    "403": failed({"faults": always(Fault.http(403))}, "Country, region, or territory", requests=1),
    "404": failed({"faults": always(Fault.http(404))}, "NotFoundError", "does not exist", requests=1),
    "a used-up quota": failed(
        {"faults": always(Fault.http(429, "You exceeded your current quota (insufficient_quota)"))},
        "insufficient_quota",
        requests=1,
    ),
}


def sampler_at(base_url: str, store: Path, **more: Any) -> LiteLLMSampler:
    arguments = {"timeout": 10.0, "retry": Retry(attempts=3, first_delay=0.01), **more}
    return LiteLLMSampler("openai/fake", store=store, api_base=base_url, api_key="sk-very-secret", **arguments)


def score(embedder: Any, sampler: LiteLLMSampler, **fields: Any) -> ScoreResult:
    metric = CheckEmbedMetric(embedder=embedder, sampler=sampler, track=False)
    result = metric.score(**{"input": "Which?", "output": "A0", **fields})
    assert isinstance(result, ScoreResult)
    assert result.reason is not None
    return result


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_fault_ends_in_the_right_score_or_a_named_failure(case: Case, embedder: Any, tmp_path: Path) -> None:
    with FakeOpenAI(**case.script) as server:
        result = score(embedder, sampler_at(server.base_url, tmp_path / "store", **case.sampler))

    assert result.reason is not None
    for text in case.says:
        assert text.casefold() in result.reason.casefold()
    for text in (*case.never_says, "sk-very-secret"):
        assert text not in result.reason
    assert server.chat_requests == case.requests
    if case.value is None:
        assert result.scoring_failed
        assert result.value == 0.0
    else:
        assert not result.scoring_failed
        assert result.value == pytest.approx(case.value, abs=1e-6)
        assert f"The output and {case.usable} samples agree" in result.reason


def test_a_port_where_nobody_listens(embedder: Any, tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        result = score(embedder, sampler_at(f"http://127.0.0.1:{unused.getsockname()[1]}/v1", tmp_path / "store"))

    assert result.scoring_failed
    assert "Connection error" in str(result.reason)
    assert "(3 attempts)" in str(result.reason)


def test_a_name_that_litellm_cannot_route(embedder: Any, tmp_path: Path) -> None:
    sampler = LiteLLMSampler("no-such-model-anywhere", store=tmp_path / "store")

    result = score(embedder, sampler)

    assert result.scoring_failed
    assert "no-such-model-anywhere" in str(result.reason)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_nobody_calls_a_model_before_its_retry_after_is_up(concurrency: int, embedder: Any, tmp_path: Path) -> None:
    answers = (f"A{number}" for number in itertools.count())
    with FakeOpenAI(
        answers=lambda _: next(answers),
        # The first of several single calls is sent away; those that were queued behind it have to wait as well.
        n="reject",
        faults=lambda call: Fault.http(429, retry_after=0.6) if call.number == 1 else None,
        # Long enough for the 429 to be read while the others are under way.
        latency=0.3 if concurrency > 1 else 0.0,
    ) as server:
        result = score(
            embedder, sampler_at(server.base_url, tmp_path / "store", max_concurrency=concurrency), output="A"
        )

    assert not result.scoring_failed
    assert [call.status for call in server.calls].count(429) == 1
    assert server.calls[1].status == 429
    # The first was refused its n. Those already on their way when the 429 came cannot be called back.
    later = server.calls[1 + concurrency :]
    assert len(later) == 6 - concurrency
    assert min(call.arrived for call in later) >= server.calls[1].arrived + 0.6
    assert server.answered == 5


def test_without_retry_after_the_wait_grows(embedder: Any, tmp_path: Path) -> None:
    retry = Retry(attempts=3, first_delay=0.2)
    with FakeOpenAI(answers=agreeing(), faults=[Fault.http(429)] * 2) as server:
        result = score(embedder, sampler_at(server.base_url, tmp_path / "store", retry=retry))

    first, second, third = (call.arrived for call in server.calls)
    assert not result.scoring_failed
    # Half of each delay at least: the rest is jitter.
    assert second - first >= 0.1
    assert third - second >= 0.2


def test_one_lost_sample_does_not_lose_the_others(embedder: Any, tmp_path: Path) -> None:
    def fault(call: ChatCall) -> Fault | None:
        return Fault.http(400, "odd") if call.number == 2 else None

    with FakeOpenAI(answers=agreeing(), n="reject", faults=fault) as server:
        sampler = sampler_at(server.base_url, tmp_path / "store", max_concurrency=1)
        result = score(embedder, sampler)
        again = score(embedder, sampler)

    assert result.value == pytest.approx(1.0)
    assert "The output and 4 samples agree" in str(result.reason)
    assert "1 of 5 samples failed (BadRequestError" in str(result.reason)
    # Only what is missing is asked for again.
    assert "The output and 5 samples agree" in str(again.reason)
    assert "4 from the store, up to a minute old" in str(again.reason)
    assert server.answered == 5


def test_fewer_than_min_samples_is_a_failure(embedder: Any, tmp_path: Path) -> None:
    with FakeOpenAI(answers=["A", "A", "", "", ""]) as server:
        sampler = sampler_at(server.base_url, tmp_path / "store")
        metric = CheckEmbedMetric(embedder=embedder, sampler=sampler, min_samples=3, track=False)
        result = metric.score(input="Which?", output="A")

    assert isinstance(result, ScoreResult)
    assert result.scoring_failed
    assert (
        result.reason == "2 of 5 samples are usable, 3 are needed: 3 of 5 samples left out: empty; all 2 samples "
        "are identical at temperature 1: a provider cache or a fixed seed makes any answer agree with itself, so "
        "this is no sign of confidence"
    )


def test_one_kind_of_failure_is_logged_once(embedder: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    metric = CheckEmbedMetric(embedder=embedder, store=tmp_path / "store", track=False)
    for number in range(3):
        metric.score(output=f"A{number}")
        metric.score(input="Which?", output="")

    said = [record.getMessage() for record in caplog.records if record.name.startswith("opik_checkembed")]
    assert len(said) == 2
    assert "there is no `input`" in said[0]
    assert "`output` is empty" in said[1]
