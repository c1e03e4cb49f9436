"""The tracked model asked again through the real litellm, at the HTTP boundary."""

from __future__ import annotations

import contextvars
import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import openai
import pytest

from opik_checkembed.errors import ConfigurationError, RequestError
from opik_checkembed.samples import calls, litellm_sampler
from opik_checkembed.samples.budget import Budget
from opik_checkembed.samples.calls import Answers, Choice, read_response
from opik_checkembed.samples.litellm_sampler import LiteLLMSampler
from opik_checkembed.samples.retry import Retry
from opik_checkembed.samples.sample import Origin, SampleSet, Status
from opik_checkembed.samples.spans import _provider
from opik_checkembed.samples.store import SampleStore
from opik_checkembed.testing import Answer, FakeOpenAI, Fault

FIELDS = {"input": "Which?"}


@pytest.fixture(autouse=True)
def _nothing_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    # Ports are used again: what one test's server rejected must not be remembered against another's.
    monkeypatch.setattr(calls, "_endpoints", {})


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    numbers = itertools.count()
    with FakeOpenAI(lambda _: f"A{next(numbers)}", usage=lambda _, given: (100, 20 * len(given))) as server:
        yield server


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SampleStore]:
    with SampleStore(tmp_path / "store") as store:
        yield store


def sampler(server: FakeOpenAI, store: SampleStore, model: str = "openai/gpt-4o-mini", **more: Any) -> LiteLLMSampler:
    arguments = {"api_key": "sk-very-secret", "retry": Retry(attempts=3, first_delay=0.01), **more}
    return LiteLLMSampler(model, store=store, api_base=server.base_url, **arguments)


def test_every_sample_says_where_it_came_from(server: FakeOpenAI, store: SampleStore) -> None:
    found = sampler(server, store).draw(FIELDS, 4)

    assert sorted(found.texts) == ["A0", "A1", "A2", "A3"]
    for sample in found.samples:
        assert (sample.status, sample.finish_reason, sample.model) == (Status.OK, "stop", "gpt-4o-mini")
        assert sample.usage is not None
        assert (sample.usage.prompt_tokens, sample.usage.completion_tokens, sample.usage.choices) == (100, 80, 4)
        # One call's cost is counted once, not per choice.
        assert sample.cost_usd == pytest.approx((100 * 0.15e-6 + 80 * 0.6e-6) / 4)
        assert sample.created is not None
        assert sample.origin is Origin.ASKED
    assert found.temperature == 1.0
    assert found.calls == 1


def test_a_cost_nobody_knows_is_none(server: FakeOpenAI, store: SampleStore) -> None:
    assert sampler(server, store, "openai/local").draw(FIELDS, 2).cost_usd is None


def test_a_price_given_to_the_budget_counts(server: FakeOpenAI, store: SampleStore) -> None:
    budget = Budget(max_cost_usd=1.0, prices={"openai/local": (1.0, 10.0)})
    found = sampler(server, store, "openai/local", budget=budget, max_tokens=20).draw(FIELDS, 2)

    assert found.cost_usd == pytest.approx(100e-6 + 40 * 10e-6)
    assert budget.spent_usd == pytest.approx(100e-6 + 40 * 10e-6)


def test_without_usage_neither_tokens_nor_cost_are_made_up(store: SampleStore) -> None:
    with FakeOpenAI("A", usage=lambda *_: None) as server:
        found = sampler(server, store).draw(FIELDS, 2)

    assert {sample.cost_usd for sample in found.samples} == {None}
    assert {sample.usage.prompt_tokens for sample in found.samples if sample.usage} == {None}


def test_logprobs_of_the_first_tokens_are_kept(store: SampleStore) -> None:
    long = [{"Yes": -0.25, "No": -1.5}, *[{" so": -0.5, " not": -1.0}] * 40]
    with FakeOpenAI(Answer("Yes" + " so" * 40, logprobs=long)) as server:
        asking = sampler(server, store, logprobs=True, top_logprobs=2)
        found = asking.draw(FIELDS, 2)
        again = asking.draw(FIELDS, 2)
        without = sampler(server, store).draw(FIELDS, 2)

    for sample in (*found.samples, *again.samples):
        assert sample.logprobs == ((("Yes", -0.25), ("No", -1.5)), *[((" so", -0.5), (" not", -1.0))] * 15)
    assert {sample.origin for sample in again.samples} == {Origin.STORE}
    assert [sample.logprobs for sample in without.samples] == [(), ()]


def test_a_lone_server_ignoring_n_is_asked_one_by_one_from_then_on(store: SampleStore) -> None:
    with FakeOpenAI(n="ignore") as server:
        asking = sampler(server, store)
        first = asking.draw(FIELDS, 3)
        asking.draw({"input": "What?"}, 3)

        assert server.chat_requests == 6
        assert ["n" in call.body for call in server.calls] == [True] + [False] * 5
        assert [sample.dropped for sample in first.samples] == [()] * 3


def test_what_was_rejected_once_is_not_sent_again(store: SampleStore) -> None:
    with FakeOpenAI(n="reject", reject=["temperature"]) as server:
        asking = sampler(server, store, max_concurrency=1)
        first = asking.draw(FIELDS, 2)
        assert server.chat_requests == 4
        asking.draw({"input": "What?"}, 2)
        assert server.chat_requests == 6

    assert [sample.dropped for sample in first.samples] == [("n", "temperature")] * 2


def test_calls_waiting_while_n_is_rejected_are_split(store: SampleStore) -> None:
    # Both wait for the pause that the first answer asks for; only one of them meets the rejection.
    with FakeOpenAI(n="reject", faults=[Fault.http(429, retry_after=0.3)], latency=0.01) as server:
        asking = sampler(server, store, max_concurrency=1)
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda n: asking.draw({"input": f"Q{n}"}, 2), range(2)))

        assert [len(each.usable) for each in found] == [2, 2]
        assert [call.status for call in server.calls] == [429, 400, 200, 200, 200, 200]


def test_a_seed_moves_with_the_sample(store: SampleStore) -> None:
    with FakeOpenAI(n="reject") as server:
        sampler(server, store, seed=100).draw(FIELDS, 3)

        assert sorted(call.body["seed"] for call in server.calls if call.status == 200) == [100, 101, 102]


def test_surplus_choices_have_nobody_waiting_for_them(
    server: FakeOpenAI, store: SampleStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def generous(*_: Any) -> Answers:
        return Answers(tuple(Choice(f"A{number}") for number in range(7)), {"prompt_tokens": 7}, cost_usd=0.2)

    asking = sampler(server, store)
    monkeypatch.setattr(asking, "_complete", generous)
    found = asking.draw(FIELDS, 2)

    assert found.texts == ["A0", "A1"]
    assert found.cost_usd == pytest.approx(0.2)


@pytest.mark.parametrize("error", [ValueError("odd"), SystemExit(3)])
def test_whatever_breaks_a_call_reaches_the_waiting_and_keeps_the_pool(
    error: BaseException, server: FakeOpenAI, store: SampleStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = Budget(max_cost_usd=1.0)
    asking = sampler(server, store, budget=budget, max_tokens=10, max_concurrency=3)

    def broken(*_: Any) -> Answers:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(asking, "_complete", broken)
        found = asking.draw(FIELDS, 2)

    assert found.failures == (f"the call broke off: {error!r}",) * 2
    # It may have been carried out, so its worst case stays booked, and no longer as being in flight.
    assert budget.calls == 1
    assert budget.spent_usd is not None
    assert 0 < budget.spent_usd < 0.001
    assert budget._reserved == pytest.approx(0.0)
    assert len(asking.draw(FIELDS, 2).usable) == 2


def test_a_call_breaks_off_without_a_budget_too(
    server: FakeOpenAI, store: SampleStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Answers:
        raise TypeError("odd")

    asking = sampler(server, store)
    monkeypatch.setattr(asking, "_complete", broken)

    assert asking.draw(FIELDS, 2).failures == ("the call broke off: TypeError('odd')",) * 2


def test_answers_outlive_a_span_that_cannot_be_logged(
    server: FakeOpenAI, store: SampleStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise RuntimeError("Opik is gone")

    monkeypatch.setattr(calls, "current_span", broken)

    assert len(sampler(server, store).draw(FIELDS, 2).usable) == 2
    assert list(store.get(store.entries()[0].key, range(2))) == [0, 1]


def test_a_call_that_may_have_been_carried_out_stays_booked(store: SampleStore) -> None:
    budget = Budget(max_cost_usd=1.0)
    usage = (100, 40)
    with FakeOpenAI(faults=[Fault.http(500)], usage=lambda *_: usage) as server:
        found = sampler(server, store, budget=budget, max_tokens=20).draw(FIELDS, 2)

    assert len(found.usable) == 2
    paid = 100 * 0.15e-6 + 40 * 0.6e-6
    assert found.cost_usd == pytest.approx(paid)
    # The lost one counts with its worst case: 40 tokens out, and a prompt of some tokens.
    assert budget.spent_usd is not None
    assert paid + 40 * 0.6e-6 < budget.spent_usd < 2 * paid


def test_a_budget_that_cannot_be_held_for_the_tasks_model_is_said(server: FakeOpenAI, store: SampleStore) -> None:
    asking = sampler(server, store, budget=Budget(max_cost_usd=1.0))

    found = asking.draw({**FIELDS, "model": "openai/local"}, 2)

    assert "no price is known for 'openai/local'" in found.failures[0]
    assert server.chat_requests == 0


def test_a_refused_call_gives_its_room_back(store: SampleStore) -> None:
    with FakeOpenAI(faults=[Fault.http(429)]) as server:
        budget = Budget(max_calls=1)
        assert len(sampler(server, store, budget=budget).draw(FIELDS, 2).usable) == 2
        assert budget.calls == 1


def test_context_variables_travel_with_the_call(server: FakeOpenAI, store: SampleStore) -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")
    seen: list[str] = []

    class Watching(LiteLLMSampler):
        def _complete(self, *arguments: Any) -> Answers:
            seen.append(variable.get())
            return super()._complete(*arguments)

    asking = Watching("openai/fake", store=store, api_base=server.base_url, api_key="none")
    contextvars.copy_context().run(lambda: (variable.set("mine"), asking.draw(FIELDS, 2)))

    assert seen == ["mine"]


def test_no_more_than_max_concurrency_calls_at_once(store: SampleStore) -> None:
    arrived = threading.Semaphore(0)

    def latency(_: Any) -> float:
        arrived.release()
        return 0.05

    with FakeOpenAI(n="reject", latency=latency) as server:
        asking = sampler(server, store, max_concurrency=3)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda n: asking.draw({"input": f"Q{n}"}, 3), range(4)))

        assert server.max_in_flight == 3
        assert server.answered == 12


def test_only_what_the_server_must_know_is_sent(server: FakeOpenAI, store: SampleStore) -> None:
    sampler(server, store, max_tokens=30).draw({**FIELDS, "id": "7", "task_span": object(), "row": 3}, 5)

    (call,) = server.calls
    assert call.body == {
        "model": "gpt-4o-mini",
        "messages": [{"role": "user", "content": "Which?"}],
        "max_tokens": 30,
        "n": 5,
        "temperature": 1.0,
    }
    assert call.headers["authorization"] == "Bearer sk-very-secret"


def test_nothing_secret_is_kept(server: FakeOpenAI, store: SampleStore, tmp_path: Path) -> None:
    sampler(server, store, extra_headers={"x-team": "team-secret"}).draw(FIELDS, 2)
    store.close()

    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"Which?" in kept
    assert b"sk-very-secret" not in kept
    assert b"team-secret" not in kept


def test_a_client_that_rewrites_what_it_gets_changes_no_other_call(
    server: FakeOpenAI, store: SampleStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    import litellm

    def rewriting(*, messages: Any, tools: Any, stop: Any, **_: Any) -> Any:
        seen.append(repr((messages, tools, stop)))
        messages[0]["content"][0]["text"] = tools[0]["function"]["name"] = stop[0] = "rewritten"
        raise openai.OpenAIError("no")

    seen: list[str] = []
    monkeypatch.setattr(litellm, "completion", rewriting)
    item = {
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Which?"}]}],
        "tools": [{"type": "function", "function": {"name": "f"}}],
    }
    asking = sampler(server, store, stop=["."])
    for _ in range(2):
        assert len(asking.draw(item, 2).failures) == 2

    assert len(seen) == 2
    assert not any("rewritten" in each for each in seen)
    assert "rewritten" not in repr(item)


def test_callbacks_that_are_no_data_go_through_as_they_are(
    server: FakeOpenAI, store: SampleStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    import litellm

    lock, seen = threading.Lock(), []

    def completion(**arguments: Any) -> Any:
        seen.append(arguments["metadata"]["lock"])
        raise openai.OpenAIError("no")

    monkeypatch.setattr(litellm, "completion", completion)
    sampler(server, store, metadata={"lock": lock}).draw(FIELDS, 2)

    assert seen == [lock]


def test_replay_checks_no_price(tmp_path: Path) -> None:
    SampleStore(tmp_path / "store").close()
    with SampleStore(tmp_path / "store", mode="replay") as store:
        LiteLLMSampler("openai/local", store=store, budget=Budget(max_cost_usd=1.0))
    with pytest.raises(ConfigurationError, match="no price is known"):
        LiteLLMSampler("openai/local", store=None, budget=Budget(max_cost_usd=1.0))


def test_a_request_can_be_looked_at_before_it_is_asked() -> None:
    asking = LiteLLMSampler(store=None, temperature=None, max_tokens=9)

    request = asking.request({"input": "Which?", "model": "m", "model_parameters": {"temperature": 0.2}})

    assert (request.model, request.temperature, request.parameters["max_tokens"]) == ("m", 0.2, 9)
    with pytest.raises(RequestError, match="no model to ask again"):
        asking.request(FIELDS)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"model": ""}, "model must be a name"),
        ({"model": 3}, "model must be a name"),
        ({"timeout": -1}, "timeout must be"),
        ({"timeout": "60"}, "timeout must be"),
        ({"temperature": -0.1}, "temperature must be"),
        ({"temperature": "hot"}, "temperature must be"),
        ({"max_concurrency": True}, "max_concurrency must be"),
        ({"messages": []}, "the `messages` field"),
        ({"logit_bias": {1, 2}}, "cannot be written as JSON"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        LiteLLMSampler(**{"store": None, **arguments})


def test_every_error_of_litellm_is_one_of_the_clients() -> None:
    import litellm

    assert issubclass(litellm.exceptions.RateLimitError, litellm_sampler.provider_errors())
    assert issubclass(litellm.exceptions.UnsupportedParamsError, litellm_sampler.provider_errors())


class TestChoices:
    @pytest.mark.parametrize(
        ("choice", "status"),
        [
            (Choice("A"), Status.OK),
            (Choice(""), Status.EMPTY),
            (Choice(" \n"), Status.EMPTY),
            (Choice("A", "length"), Status.TRUNCATED),
            (Choice("", "length"), Status.TRUNCATED),
            (Choice("A", "content_filter"), Status.FILTERED),
            (Choice("", "tool_calls", tool_calls=True), Status.TOOL_CALL),
            (Choice("A", "tool_calls", tool_calls=True), Status.OK),
            (Choice("", refusal="I can't help with that."), Status.REFUSED),
            (Choice("I'm sorry, but I can't assist with that."), Status.REFUSED),
            (Choice("I'm sorry, but I can't assist with that.", "length"), Status.REFUSED),
        ],
    )
    def test_the_status_of_an_answer(self, choice: Choice, status: Status) -> None:
        assert choice.status is status

    def test_a_response_is_read_leniently(self) -> None:
        parts = SimpleNamespace(content=[{"type": "text"}], refusal="no")
        response = SimpleNamespace(choices=[SimpleNamespace(message=parts, finish_reason=None)])

        answers = read_response(response)

        assert answers == Answers((Choice("", None, "no"),))
        assert read_response(SimpleNamespace(choices=None)) == Answers(())

    def test_only_logprobs_that_json_can_hold_are_read(self) -> None:
        def token(text: str, value: object, *top: SimpleNamespace) -> SimpleNamespace:
            return SimpleNamespace(token=text, logprob=value, top_logprobs=list(top) or None)

        tokens = [
            token("Yes", -0.5, token("Yes", -0.5), token("No", -1), token("?", float("-inf")), token("!", None)),
            token(".", 0.0),
            token("odd", float("-inf")),
            token("after", 0.0),
        ]
        message = SimpleNamespace(content="Yes.oddafter")
        given = [SimpleNamespace(content=tokens), SimpleNamespace(content=None), None, {"content": tokens}]
        response = SimpleNamespace(
            choices=[SimpleNamespace(message=message, finish_reason="stop", logprobs=one) for one in given]
        )

        read = [choice.logprobs for choice in read_response(response).choices]

        assert read == [((("Yes", -0.5), ("No", -1.0)), ((".", 0.0),)), (), (), ()]

    def test_a_free_call_with_usage_costs_nothing_rather_than_an_unknown_sum(self) -> None:
        usage = SimpleNamespace(prompt_tokens=3, completion_tokens=4, total_tokens=None)
        response = SimpleNamespace(choices=[], usage=usage, model="m", _hidden_params={"response_cost": 0.0})

        assert read_response(response) == Answers((), {"prompt_tokens": 3, "completion_tokens": 4}, 0.0, "m")


@pytest.mark.parametrize(
    ("model", "provider", "short"),
    [
        ("openai/gpt-4o-mini", "openai", "gpt-4o-mini"),
        ("gpt-4o-mini", "openai", "gpt-4o-mini"),
        ("openrouter/meta-llama/llama-3-70b-instruct", "openrouter", "meta-llama/llama-3-70b-instruct"),
        ("gemini/gemini-1.5-pro", "google_ai", "gemini-1.5-pro"),
        ("claude-haiku-4-5", "anthropic", "claude-haiku-4-5"),
        ("nobody-knows", None, "nobody-knows"),
    ],
)
def test_a_span_names_the_provider_as_opik_does(model: str, provider: str | None, short: str) -> None:
    assert _provider(model) == (provider, short)


def test_draw_is_what_the_protocol_says(server: FakeOpenAI, store: SampleStore) -> None:
    from opik_checkembed.samples.sampler import Sampler

    asking = sampler(server, store)
    assert isinstance(asking, Sampler)
    assert isinstance(asking.draw(FIELDS, 2), SampleSet)


def test_a_dollar_budget_waits_for_calls_in_flight_instead_of_failing_items(store: SampleStore) -> None:
    # Each call may cost $0.4 (4,000 completion tokens at $100 a million) and really costs next to nothing: with $1
    # only two fit at a time, yet all twelve are paid for in the end.
    with FakeOpenAI(answers=[f"Answer {n}." for n in range(12)], n="reject", latency=0.02) as server:
        budget = Budget(max_cost_usd=1.0, prices={"openai/waits": (0.0, 100.0)})
        sampler = LiteLLMSampler(
            "openai/waits", store=store, budget=budget, max_tokens=4000, api_base=server.base_url, api_key="none"
        )
        samples = sampler.draw({"input": "Which city?"}, 12)
        assert len(samples.usable) == 12
        assert samples.failures == ()
        assert server.max_in_flight <= 2
        assert budget.spent_usd is not None
        assert 0 < budget.spent_usd < 0.01


def test_a_cost_of_zero_is_believed_only_of_a_model_with_a_price(
    server: FakeOpenAI, store: SampleStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    # litellm reports 0.0 for some models it has no price for.
    complete = LiteLLMSampler._complete

    def free(self: LiteLLMSampler, *arguments: Any) -> Answers:
        answers = complete(self, *arguments)
        return Answers(answers.choices, answers.usage, 0.0, answers.model)

    monkeypatch.setattr(LiteLLMSampler, "_complete", free)
    assert sampler(server, store, "openai/nobody-knows-its-price").draw(FIELDS, 2).cost_usd is None
    assert sampler(server, store, "openai/gpt-4o-mini").draw(FIELDS, 2).cost_usd == 0.0


def test_a_value_rejected_once_does_not_take_the_parameter_from_other_values(store: SampleStore) -> None:
    faults = [Fault.http(400, "Invalid value for temperature", param="temperature")]
    with FakeOpenAI("Paris.", faults=faults, n="honour") as server:
        hot = sampler(server, store, temperature=1.9).draw(FIELDS, 2)
        mild = sampler(server, store, temperature=0.9).draw(FIELDS, 2)
        bodies = [call.body for call in server.calls if call.status == 200]
    assert hot.samples[0].dropped == ("temperature",)
    assert mild.samples[0].dropped == ()
    assert [body.get("temperature") for body in bodies if body is not None] == [None, 0.9]


def test_who_wants_the_same_is_not_bound_by_the_budget_of_another(store: SampleStore) -> None:
    with FakeOpenAI(["A", "B", "C", "D"], n="reject", latency=0.2) as server:
        spent = sampler(server, store, budget=Budget(max_calls=1))
        free = sampler(server, store)
        with ThreadPoolExecutor(2) as threads:
            first = threads.submit(spent.draw, FIELDS, 2)
            server.wait_until(lambda s: s.in_flight >= 1)
            second = threads.submit(free.draw, FIELDS, 2)
            assert len(second.result().samples) == 2
            assert len(first.result().samples) == 1


def test_temperatures_of_equal_value_are_one_request() -> None:
    fields = {"input": "Who?"}
    whole, broken = LiteLLMSampler("m", temperature=0, store=None), LiteLLMSampler("m", temperature=0.0, store=None)

    assert whole.request(fields).key == broken.request(fields).key
