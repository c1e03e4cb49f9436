"""Opik's own model objects asked again."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import opik
import pytest
from opik.evaluation.metrics.score_result import ScoreResult
from opik.evaluation.models import LiteLLMChatModel, OpikBaseModel

from opik_checkembed import CheckEmbedMetric
from opik_checkembed.errors import ConfigurationError, RequestError
from opik_checkembed.samples import calls
from opik_checkembed.samples.budget import Budget
from opik_checkembed.samples.opik_model_sampler import OpikModelSampler
from opik_checkembed.samples.retry import Retry
from opik_checkembed.samples.sample import Status
from opik_checkembed.samples.store import SampleStore
from opik_checkembed.testing import Answer, FakeOpenAI, FakeOpik, Fault, hash_vector

FIELDS = {"input": "Which?"}
CHAT = {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which?"}]}


@pytest.fixture(autouse=True)
def _nothing_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    # Ports are used again: what one test's server rejected must not be remembered against another's.
    monkeypatch.setattr(calls, "_endpoints", {})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SampleStore]:
    with SampleStore(tmp_path / "store") as store:
        yield store


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    numbers = itertools.count()
    with FakeOpenAI(lambda _: f"A{next(numbers)}", usage=lambda _, given: (100, 20 * len(given))) as server:
        yield server


def chat_model(server: FakeOpenAI, **more: Any) -> LiteLLMChatModel:
    return LiteLLMChatModel("openai/gpt-4o-mini", api_base=server.base_url, api_key="sk-very-secret", **more)


class OnlyText(OpikBaseModel):
    """As a user may write it: one text in, one text out."""

    def __init__(self, name: str = "mine") -> None:
        super().__init__(name)
        self.asked: list[Any] = []

    def generate_string(self, input: str, response_format: Any = None, **kwargs: Any) -> str:
        self.asked.append((input, kwargs))
        return f"A{len(self.asked)}"

    def generate_provider_response(self, messages: list[dict[str, Any]], **kwargs: Any) -> Any:
        raise NotImplementedError


class Chatting(OnlyText):
    """One that takes conversations."""

    turns: Any = ({"role": "assistant", "content": "A"},)

    def generate_chat_completion(self, messages: Any, response_format: Any = None, **kwargs: Any) -> Any:
        self.asked.append((copy.deepcopy(messages), kwargs))
        messages[0]["content"] = "rewritten"
        return self.turns[(len(self.asked) - 1) % len(self.turns)]


class TestLiteLLMChatModel:
    def test_one_call_brings_all_choices_with_their_cost(self, server: FakeOpenAI, store: SampleStore) -> None:
        found = OpikModelSampler(chat_model(server), store=store).draw(CHAT, 5)

        assert sorted(found.texts) == ["A0", "A1", "A2", "A3", "A4"]
        assert found.cost_usd == pytest.approx(100 * 0.15e-6 + 100 * 0.6e-6)
        assert server.chat_requests == 1
        assert server.calls[0].body["messages"] == CHAT["messages"]
        assert server.calls[0].body["temperature"] == 1.0

    def test_logprobs_come_along(self, store: SampleStore) -> None:
        with FakeOpenAI(Answer("Yes", logprobs=[{"Yes": -0.25, "No": -1.5}])) as server:
            sampler = OpikModelSampler(chat_model(server), store=store, logprobs=True, top_logprobs=2)
            begun = [sampler.begin({"input": text}, 1) for text in ("Which?", "What?")]
            found = [one.result().samples[0].logprobs for one in begun]

        assert found == [((("Yes", -0.25), ("No", -1.5)),)] * 2

    def test_the_model_named_by_the_task_is_not_asked(self, server: FakeOpenAI, store: SampleStore) -> None:
        fields = {**FIELDS, "model": "openai/other", "model_name": "openai/another"}
        OpikModelSampler(chat_model(server), store=store).draw(fields, 2)

        assert server.calls[0].body["model"] == "gpt-4o-mini"

    def test_the_object_is_left_as_it_was(self, server: FakeOpenAI, store: SampleStore) -> None:
        model = chat_model(server, temperature=0.2, max_tokens=30)
        before = copy.copy(vars(model)), copy.deepcopy(model._completion_kwargs)
        OpikModelSampler(model, store=store).draw(FIELDS, 2)

        assert (vars(model), model._completion_kwargs) == before
        assert server.calls[0].body["max_tokens"] == 30
        assert server.calls[0].body["temperature"] == 1.0

    def test_temperature_none_leaves_it_to_the_object(self, server: FakeOpenAI, store: SampleStore) -> None:
        sampler = OpikModelSampler(chat_model(server, temperature=0.2), temperature=None, store=store)

        assert sampler.draw(FIELDS, 2).temperature == 0.2
        assert server.calls[0].body["temperature"] == 0.2

    def test_what_the_object_was_made_with_is_part_of_the_key(self, server: FakeOpenAI, store: SampleStore) -> None:
        with FakeOpenAI() as other:
            models = [
                chat_model(server),
                chat_model(server, max_tokens=5),
                chat_model(server, max_tokens=5, timeout=7),
                chat_model(other),
            ]
            requests = [OpikModelSampler(model, store=store).request(FIELDS) for model in models]

        assert [request.key == requests[0].key for request in requests] == [True, False, False, False]
        # How long one waits does not shape the answer.
        assert requests[1].key == requests[2].key
        assert "sk-very-secret" not in str([request.description for request in requests])

    @pytest.mark.parametrize("status", [400, 401, 403, 404])
    def test_what_cannot_work_is_asked_once(self, status: int, store: SampleStore) -> None:
        with FakeOpenAI(faults=lambda _: Fault.http(status)) as server:
            found = OpikModelSampler(chat_model(server), store=store).draw(FIELDS, 3)

            assert len(found.failures) == 3
            assert server.chat_requests == 1

    def test_what_may_pass_is_asked_as_often_as_retry_says(self, store: SampleStore) -> None:
        with FakeOpenAI(faults=[Fault.http(500), Fault.http(429)]) as server:
            retry = Retry(attempts=3, first_delay=0.01)
            assert len(OpikModelSampler(chat_model(server), store=store, retry=retry).draw(FIELDS, 3).usable) == 3
            assert server.chat_requests == 3

    def test_a_rejected_n_is_left_out(self, store: SampleStore) -> None:
        with FakeOpenAI(n="reject") as server:
            found = OpikModelSampler(chat_model(server), store=store).draw(FIELDS, 3)

            assert server.chat_requests == 4
            assert [sample.dropped for sample in found.samples] == [("n",)] * 3

    def test_a_key_in_the_providers_words_is_not_repeated(self, store: SampleStore) -> None:
        fault = Fault.http(401, "Incorrect API key provided: sk-very-secret.")
        with FakeOpenAI(faults=lambda _: fault) as server:
            found = OpikModelSampler(chat_model(server), store=store).draw(FIELDS, 2)

        assert "Incorrect API key provided: ***" in found.failures[0]

    def test_a_budget_in_dollars(self, server: FakeOpenAI, store: SampleStore) -> None:
        budget = Budget(max_cost_usd=1.0)
        OpikModelSampler(chat_model(server, max_tokens=100), store=store, budget=budget).draw(FIELDS, 5)

        assert budget.spent_usd == pytest.approx(100 * 0.15e-6 + 100 * 0.6e-6)

    def test_in_opik_its_span_stands_once_under_the_metric(self, server: FakeOpenAI, store: SampleStore) -> None:
        class Letters:
            def encode(self, texts: Any) -> Any:
                return [hash_vector(text[0]) for text in texts]

        with FakeOpik() as recorder:
            with recorder.in_this_process() as client:
                dataset = client.get_or_create_dataset("rows")
                dataset.insert([{"input": "Which?"}])
                metrics = [
                    CheckEmbedMetric(chat_model(server), name, embedder=Letters(), store=store, heatmap=False)
                    for name in ("first", "second")
                ]
                opik.evaluate(dataset=dataset, task=lambda _: {"output": "A"}, scoring_metrics=metrics, verbose=0)

            (span,) = [span for span in recorder.spans if span.type == "llm"]
            assert {each.id: each.name for each in recorder.spans}[str(span.parent_span_id)] == "first"
            assert recorder.total_cost() == pytest.approx(100 * 0.15e-6 + 100 * 0.6e-6)
            assert [score.value for score in recorder.scores] == pytest.approx([1.0, 1.0])


class TestOwnModels:
    def test_only_generate_string(self, store: SampleStore) -> None:
        model = OnlyText()
        found = OpikModelSampler(model, store=store, top_p=0.9).draw(FIELDS, 3)

        assert sorted(found.texts) == ["A1", "A2", "A3"]
        assert model.asked == [("Which?", {"temperature": 1.0, "top_p": 0.9})] * 3
        assert found.cost_usd is None

    @pytest.mark.parametrize(
        "fields",
        [
            CHAT,
            {**FIELDS, "system_prompt": "Be brief."},
            {"input": [{"type": "text", "text": "Which?"}]},
            {**FIELDS, "tools": [{"type": "function"}]},
        ],
    )
    def test_a_request_that_is_no_single_text_is_not_flattened(self, fields: Any, store: SampleStore) -> None:
        model = OnlyText()
        with pytest.raises(RequestError, match="OnlyText has only generate_string"):
            OpikModelSampler(model, store=store).draw(fields, 3)
        assert model.asked == []

    def test_generate_chat_completion(self, store: SampleStore) -> None:
        model = Chatting()
        sampler = OpikModelSampler(model, store=store, temperature=None)
        found = sampler.draw(CHAT, 3)

        assert found.texts == ["A", "A", "A"]
        assert model.asked == [(CHAT["messages"], {})] * 3

    def test_turns_without_text(self, store: SampleStore) -> None:
        model = Chatting()
        model.turns = ({"role": "assistant", "tool_calls": [{"id": "1"}]}, {"role": "assistant", "content": ""})
        found = OpikModelSampler(model, store=store, max_concurrency=1).draw(CHAT, 2)

        assert [sample.status for sample in found.samples] == [Status.TOOL_CALL, Status.EMPTY]

    def test_no_text_at_all_is_an_empty_answer(self, store: SampleStore, monkeypatch: pytest.MonkeyPatch) -> None:
        model = OnlyText()
        monkeypatch.setattr(model, "generate_string", lambda **_: None)

        assert [s.status for s in OpikModelSampler(model, store=store).draw(FIELDS, 2).samples] == [Status.EMPTY] * 2

    def test_an_exception_of_its_own_is_a_named_failure(
        self, store: SampleStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(**_: Any) -> str:
            raise RuntimeError("out of memory")

        model = OnlyText()
        monkeypatch.setattr(model, "generate_string", broken)
        found = OpikModelSampler(model, store=store).draw(FIELDS, 2)

        assert found.failures == ("RuntimeError: out of memory",) * 2

    def test_samples_are_kept_under_class_and_name(self, store: SampleStore) -> None:
        OpikModelSampler(OnlyText(), store=store).draw(FIELDS, 2)
        same, named, other = OnlyText(), OnlyText("other"), Chatting()
        for model in (same, named, other):
            OpikModelSampler(model, store=store).draw(FIELDS, 2)

        assert [len(model.asked) for model in (same, named, other)] == [0, 2, 2]

    def test_a_budget_counts_its_calls(self, store: SampleStore) -> None:
        found = OpikModelSampler(OnlyText(), store=store, budget=Budget(max_calls=1)).draw(FIELDS, 3)

        assert len(found.usable) == 1
        assert found.failures == ("the budget of 1 calls is used up",) * 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"model": "gpt-4o"}, "model must be an OpikBaseModel, not str"),
        ({"temperature": 5}, "temperature must be"),
        ({"max_concurrency": 0}, "max_concurrency must be"),
        ({"n": 2}, "use num_samples="),
        ({"api_base": "http://127.0.0.1:9", "api_key": "k"}, "api_base, api_key cannot be changed here"),
        ({"budget": Budget(max_cost_usd=1.0)}, "no price is known for 'mine'"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        OpikModelSampler(**{"model": OnlyText(), "store": None, **arguments})


def test_a_metric_takes_a_model_object_but_not_its_timeout(store: SampleStore) -> None:
    model = Chatting()
    metric = CheckEmbedMetric(model, embedder=_Same(), store=store, model_parameters={"top_p": 0.5}, track=False)
    result = metric.score(input="Which?", output="A")

    assert isinstance(result, ScoreResult)
    assert result.value == pytest.approx(1.0)
    assert model.asked[0][1] == {"top_p": 0.5, "temperature": 1.0}
    with pytest.raises(ConfigurationError, match="timeout cannot be changed for a model object"):
        CheckEmbedMetric(model, embedder=_Same(), store=store, timeout=5, track=False)


class _Same:
    def encode(self, texts: Any) -> Any:
        return [[1.0, 0.0] for _ in texts]
