from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from opik.message_processing.emulation.models import SpanModel
from opik.types import LLMProvider

from opik_checkembed.errors import RequestError
from opik_checkembed.samples.request import build_request
from opik_checkembed.samples.trace import TracedRequest, request_of_trace

MESSAGES = [{"role": "user", "content": "Why?"}]
TOOLS = [{"type": "function", "function": {"name": "look_up"}}]


def span(*inside: SpanModel, **given: Any) -> SpanModel:
    return SpanModel(id="1", start_time=datetime.now(UTC), source="sdk", spans=list(inside), **given)


def call(*inside: SpanModel, **given: Any) -> SpanModel:
    return span(
        *inside, **{"type": "llm", "name": "completion", "model": "gpt-x", "input": {"messages": MESSAGES}, **given}
    )


def traced(**given: Any) -> TracedRequest:
    return request_of_trace(span(call(**given)))


def test_the_only_llm_span_wherever_it_hangs() -> None:
    tree = span(span(type="tool"), span(span(call(model="gpt-x-2024"))))
    assert request_of_trace(tree) == TracedRequest(
        {
            "model": "gpt-x-2024",
            "messages": MESSAGES,
            "system_prompt": None,
            "model_parameters": {},
            "tools": None,
        },
        None,
    )


def test_the_task_may_be_the_llm_span_itself() -> None:
    assert request_of_trace(call()).fields["model"] == "gpt-x"


def test_no_tree() -> None:
    with pytest.raises(RequestError, match="needs the task's span, which Opik's evaluate hands over"):
        request_of_trace(None)


def test_none_or_several_llm_spans() -> None:
    with pytest.raises(RequestError, match=r"holds 0 LLM spans; only with one .* TaskSampler\(task\)"):
        request_of_trace(span(span()))
    with pytest.raises(RequestError, match=r"holds 2 LLM spans \(plan, answer\); only with one"):
        request_of_trace(span(call(name="plan"), span(call(name="answer"))))
    with pytest.raises(RequestError, match="holds 2 LLM spans"):
        request_of_trace(call(call()))


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"model": None}, "model"),
        ({"model": ""}, "model"),
        ({"input": None}, "messages"),
        ({"input": {}}, "messages"),
        ({"input": {"messages": []}}, "messages"),
        ({"input": {"input": "a response's"}}, "messages"),
    ],
)
def test_a_span_that_records_too_little(given: dict[str, Any], missing: str) -> None:
    with pytest.raises(RequestError, match=f"the LLM span 'completion' of the task's trace records no {missing};"):
        traced(**given)


@pytest.mark.parametrize(
    ("model", "provider", "name"),
    [
        ("gpt-x", None, "gpt-x"),
        ("gpt-x", "openai", "openai/gpt-x"),
        ("gpt-x", LLMProvider.OPENAI, "openai/gpt-x"),
        ("gemini-x", LLMProvider.GOOGLE_AI, "gemini/gemini-x"),
        ("gemini-x", "google_vertexai", "vertex_ai/gemini-x"),
        ("claude-x", LLMProvider.ANTHROPIC_VERTEXAI, "vertex_ai/claude-x"),
        ("groq/llama", "groq", "groq/llama"),
        ("org/model", "openrouter", "openrouter/org/model"),
        # The openai client with another address: Opik logs its host.
        ("local", "127.0.0.1", "openai/local"),
        ("local", "localhost", "openai/local"),
        ("org/model", "openrouter.ai", "openai/org/model"),
        ("local", "::1", "openai/local"),
    ],
)
def test_the_name_is_as_litellm_routes_it(model: str, provider: str | None, name: str) -> None:
    assert traced(model=model, provider=provider).fields["model"] == name


def test_parameters_stand_in_the_metadata_or_the_input_beside_other_things() -> None:
    found = traced(
        metadata={
            "temperature": 0, "max_tokens": 9, "stream": False, "usage": {}, "created_from": "openai", "seed": None,
            "n": 1, "api_key": "sk-secret", "extra_body": {"top_k": 3}, "tools": TOOLS,
        },
        input={"messages": MESSAGES, "stop": ["a"], "response_format": {"type": "text"}},
    )  # fmt: skip
    assert found.fields["model_parameters"] == {
        "temperature": 0,
        "max_tokens": 9,
        "stop": ["a"],
        "response_format": {"type": "text"},
        "extra_body": {"top_k": 3},
    }
    # Opik's openai integration logs tools as metadata, litellm's as input.
    assert found.fields["tools"] == TOOLS
    assert traced(input={"messages": MESSAGES, "tools": TOOLS}).fields["tools"] == TOOLS


@pytest.mark.parametrize(
    ("system", "prompt"),
    [("Be brief.", "Be brief."), ([{"type": "text", "text": "Be brief."}], "Be brief."), (None, None), ("", None)],
)
def test_anthropics_system_prompt_is_asked_again(system: object, prompt: str | None) -> None:
    assert traced(input={"messages": MESSAGES, "system": system}).fields["system_prompt"] == prompt


def test_merged_over_an_item_nothing_of_the_items_own_is_asked() -> None:
    item = {"input": "another", "system_prompt": "another", "tools": TOOLS, "model_parameters": {"top_p": 0.1}}
    merged = {**item, **traced().fields, "model_name": "another"}
    request = build_request(merged, model=None, parameters={}, temperature=None)
    assert (request.model, list(request.messages)) == ("gpt-x", MESSAGES)
    assert (request.tools, dict(request.parameters)) == ((), {})


class TestServer:
    @pytest.mark.parametrize(
        ("given", "server"),
        [
            ({}, None),
            ({"metadata": {"api_base": "http://a/v1"}}, "http://a/v1"),
            ({"metadata": {"base_url": "http://b/v1"}}, "http://b/v1"),
            ({"metadata": {"api_base": "http://a/v1"}, "provider": "a"}, "http://a/v1"),
            ({"provider": "openrouter.ai"}, "openrouter.ai"),
            ({"provider": "openai"}, None),
        ],
    )
    def test_is_read_where_the_span_records_it(self, given: dict[str, Any], server: str | None) -> None:
        assert traced(**given).api_base == server

    def test_a_clients_url_object_is_taken(self) -> None:
        import httpx

        found = traced(metadata={"base_url": httpx.URL("https://api.anthropic.com")})
        assert found.api_base == "https://api.anthropic.com"
        assert found.called(None)

    @pytest.mark.parametrize(
        ("recorded", "asked", "same"),
        [
            (None, None, True),
            (None, "http://a:8000/v1", True),
            ("http://a:8000/v1/", "http://a:8000/v1", True),
            ("http://a:8000/v1", "http://a:8000", True),
            ("http://a:8000/v1", "http://a:9000/v1", False),
            ("http://a:8000/v1", "http://b:8000/v1", False),
            ("http://a:8000/v1", None, False),
            ("https://a/v1", "https://a:443/v1", True),
            ("http://a/v1", "https://a/v1", False),
            # Only the host is recorded.
            ("openrouter.ai", "https://openrouter.ai/api/v1", True),
            ("openrouter.ai", "https://api.openai.com/v1", False),
            ("openrouter.ai", None, False),
            ("https://api.openai.com/v1", None, True),
            ("https://api.openai.com/v1", "https://elsewhere/v1", False),
        ],
    )
    def test_a_private_prompt_goes_to_no_other(self, recorded: str | None, asked: str | None, same: bool) -> None:
        assert TracedRequest({}, recorded).called(asked) is same
