from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from opik_checkembed.errors import AnswerError, ConfigurationError, RequestError
from opik_checkembed.samples.request import (
    SampleRequest,
    build_request,
    check_parameters,
    digest,
    judged_output,
    plain,
    showable,
    text_of,
)

QUESTION = {"input": "Who was Ernst Öpik?"}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
# What must never be seen, and is never part of a key.
SECRET = "sk-TOP-SECRET-0123456789"


@pytest.fixture(autouse=True)
def _no_server_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in ("OPENAI", "ANTHROPIC", "GROQ", "HOSTED_VLLM", "LOCAL"):
        monkeypatch.delenv(f"{provider}_API_BASE", raising=False)
        monkeypatch.delenv(f"{provider}_BASE_URL", raising=False)


def build(
    fields: Mapping[str, Any] = QUESTION,
    *,
    model: str | None = "gpt-x",
    temperature: float | None = 1.0,
    kind: str = "litellm",
    **parameters: Any,
) -> SampleRequest:
    return build_request(fields, model=model, parameters=parameters, temperature=temperature, kind=kind)


def messages(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(build(fields).messages)


class TestJudgedOutput:
    def test_output_is_judged_without_a_note(self) -> None:
        assert judged_output({"output": " Paris. \n"}) == ("Paris.", ())

    def test_output_beats_answer(self) -> None:
        assert judged_output({"answer": "Berlin", "output": "Paris"}) == ("Paris", ())

    def test_answer_alone_is_judged_with_a_note(self) -> None:
        text, notes = judged_output({"answer": "Paris"})
        assert text == "Paris"
        assert notes == ("judged the `answer` field, since there is no `output`",)

    @pytest.mark.parametrize(
        ("output", "said"),
        [
            (None, "`output` is None"),
            ("", "`output` is empty"),
            (" \n\t", "`output` is blank"),
            ({"text": "Paris"}, "`output` is a dict, not text.*lambda item: item"),
            ([], "`output` is a list"),
            (5, "`output` is a int"),
            ([IMAGE, IMAGE], "`output` holds no text: none of its 2 parts"),
            ([{"type": "text", "text": " "}], "`output` is blank"),
        ],
    )
    def test_a_bad_output_fails_even_beside_an_answer(self, output: object, said: str) -> None:
        with pytest.raises(AnswerError, match=said):
            judged_output({"output": output, "answer": "Paris"})

    def test_nothing_to_judge_shows_the_mapping_and_the_fields_that_hold_something(self) -> None:
        with pytest.raises(AnswerError) as failure:
            judged_output({"response": "Paris", "id": "1", "context": None, "trace_tool_context": {}})
        assert "scoring_key_mapping={'output': 'your_field'}" in str(failure.value)
        assert str(failure.value).endswith("(fields here: response)")

    def test_nothing_at_all_lists_no_fields(self) -> None:
        with pytest.raises(AnswerError, match=r"'your_field'\}$"):
            judged_output({})

    def test_content_parts_are_joined_and_what_was_not_read_is_counted(self) -> None:
        parts = [{"type": "text", "text": "Paris"}, IMAGE, {"type": "text", "text": "France"}, {"type": "text"}]
        text, notes = text_of("output", parts)
        assert text == "Paris\nFrance"
        assert notes == ("2 of the 4 parts of `output` are not text and were not read",)

    @pytest.mark.parametrize("text", ["🙂", "日本語の答え", "x" * 200_000, "a\ud800b"])
    def test_any_script_and_length(self, text: str) -> None:
        assert judged_output({"output": text}) == (text, ())


class TestMessages:
    @pytest.mark.parametrize("name", ["input", "question"])
    def test_both_names_for_the_question(self, name: str) -> None:
        assert messages({name: "Why?"}) == [{"role": "user", "content": "Why?"}]

    def test_system_prompt_comes_first(self) -> None:
        system = {"role": "system", "content": "Be brief."}
        assert messages({"question": "Why?", "system_prompt": "Be brief."}) == [
            system,
            {"role": "user", "content": "Why?"},
        ]

    @pytest.mark.parametrize("role", ["system", "developer"])
    def test_system_prompt_is_not_repeated(self, role: str) -> None:
        given = [{"role": role, "content": "Be brief."}, {"role": "user", "content": "Why?"}]
        assert messages({"messages": given, "system_prompt": "Be brief."}) == given

    def test_a_message_list_as_input_is_what_evaluate_prompt_passes(self) -> None:
        given = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
        request = build({"input": given, "output": "Because.", "context": "It is so."})
        assert list(request.messages) == given
        assert request.notes == ()

    def test_messages_win_over_input(self) -> None:
        given = [{"role": "user", "content": "the whole prompt"}]
        assert messages({"messages": given, "input": "Why?"}) == given

    def test_content_parts_as_input(self) -> None:
        parts = [{"type": "text", "text": "What is this?"}, IMAGE]
        assert messages({"input": parts}) == [{"role": "user", "content": parts}]

    @pytest.mark.parametrize(
        ("asked", "context", "noted"),
        [
            ("Why?", ["Rayleigh scattering"], True),
            ("Why?", "Rayleigh scattering", True),
            ("Rayleigh scattering. Why?", ["Rayleigh scattering "], False),
            ("Rayleigh scattering. Why?", "Rayleigh scattering", False),
            ("Rayleigh scattering. Why?", ["Rayleigh scattering", "Mie"], True),
            ("Why?", [{"text": "Rayleigh"}], True),
            ("Why?", [], False),
            ([{"type": "text", "text": "Rayleigh scattering. Why?"}], "Rayleigh scattering", False),
            ([IMAGE], "Rayleigh scattering", True),
        ],
    )
    def test_a_context_left_out_of_the_prompt_is_noted(self, asked: object, context: object, noted: bool) -> None:
        notes = build({"input": asked, "context": context}).notes
        assert [note.startswith("`context` was not part") for note in notes] == [True] * noted

    @pytest.mark.parametrize("name", ["output", "answer"])
    @pytest.mark.parametrize("content", ["Paris. ", [{"type": "text", "text": "Paris."}]])
    def test_a_conversation_may_end_with_the_judged_answer(self, name: str, content: object) -> None:
        user = {"role": "user", "content": "Capital?"}
        logged = [user, {"role": "assistant", "content": content}]
        assert messages({"messages": logged, name: "Paris."}) == [user]
        assert messages({"messages": logged, name: [{"type": "text", "text": "Paris."}]}) == [user]

    @pytest.mark.parametrize("fields", [{"output": "Berlin"}, {"output": None, "answer": "Paris"}, {}])
    def test_a_conversation_must_not_end_with_another_answer(self, fields: dict[str, Any]) -> None:
        logged = [{"role": "user", "content": "Capital?"}, {"role": "assistant", "content": "Paris"}]
        with pytest.raises(RequestError, match="ends with an assistant message that is not the judged output"):
            build({"messages": logged, **fields})

    def test_an_assistants_tool_call_is_no_answer(self) -> None:
        with pytest.raises(RequestError, match="not the judged output"):
            build({"messages": [{"role": "assistant", "content": None}], "output": "Paris"})

    def test_nothing_but_the_answer_leaves_no_question(self) -> None:
        with pytest.raises(RequestError, match="nothing but the judged output"):
            build({"messages": [{"role": "assistant", "content": "Paris"}], "output": "Paris"})

    @pytest.mark.parametrize("fields", [{}, {"input": None, "question": None}])
    def test_no_question_shows_the_mapping(self, fields: dict[str, Any]) -> None:
        with pytest.raises(RequestError) as failure:
            build({**fields, "output": "Paris", "prompt": "Capital?"})
        assert "no `input`, `question` or `messages`" in str(failure.value)
        assert "scoring_key_mapping={'input': 'your_field'} (fields here: output, prompt)" in str(failure.value)

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"input": ""}, "`input` is empty"),
            ({"question": " "}, "`question` is empty"),
            ({"input": {"text": "Why?"}}, r"`input` is neither text.*lambda item: item\['input'\]"),
            ({"input": 5}, "`input` is neither"),
            ({"messages": []}, "`messages` is neither"),
            ({"messages": "Why?"}, "`messages` is neither"),
            ({"messages": [{"content": "Why?"}]}, "`messages` is neither"),
            ({"messages": [{"role": "user", "content": b"Why?"}]}, "cannot be written as JSON.*bytes has no JSON form"),
            ({"messages": [{"role": "user", "content": float("nan")}]}, "cannot be written as JSON"),
            ({"input": "Why?", "system_prompt": ["Be brief."]}, "`system_prompt` is a list"),
        ],
    )
    def test_malformed(self, fields: dict[str, Any], said: str) -> None:
        with pytest.raises(RequestError, match=said):
            build(fields)

    def test_read_only_mappings_are_taken_and_made_plain(self) -> None:
        message = MappingProxyType({"role": "user", "content": "Why?", "names": ("a", "b")})
        assert messages({"messages": (message,)}) == [{"role": "user", "content": "Why?", "names": ["a", "b"]}]


class TestModel:
    def test_the_task_wins_over_the_constructor(self) -> None:
        assert build({**QUESTION, "model": " gpt-task "}).model == "gpt-task"
        assert build({**QUESTION, "model_name": "gpt-task"}).model == "gpt-task"
        assert build({**QUESTION, "model": "a", "model_name": "b"}).model == "a"
        assert build({**QUESTION, "model": None}, model=" gpt-x").model == "gpt-x"

    def test_no_model_names_three_ways(self) -> None:
        with pytest.raises(RequestError, match=r"return 'model'.*model='gpt-4o-mini'.*request_from='trace'"):
            build(model=None)

    @pytest.mark.parametrize("model", ["", "  ", {"name": "gpt", "api_key": SECRET}, 4])
    def test_a_model_that_is_no_name(self, model: object) -> None:
        with pytest.raises(RequestError, match="must be a model's name") as failure:
            build({**QUESTION, "model": model})
        assert SECRET not in str(failure.value)


class TestParameters:
    def test_the_task_wins_over_the_constructor_but_for_the_temperature(self) -> None:
        fields = {**QUESTION, "model_parameters": {"max_tokens": 5, "temperature": 0}}
        request = build(fields, max_tokens=9, top_p=0.5)
        assert request.parameters == {"max_tokens": 5, "top_p": 0.5, "temperature": 1.0}
        assert request.temperature == 1.0
        kept = build(fields, temperature=None)
        assert kept.parameters == {"max_tokens": 5, "temperature": 0}
        assert kept.temperature == 0.0

    def test_a_temperature_nobody_set_or_that_is_no_number_is_not_known(self) -> None:
        assert build(temperature=None).temperature is None
        assert SampleRequest("m", (), {"temperature": "hot"}).temperature is None

    def test_transport_and_none_do_not_come_from_the_task(self) -> None:
        given = {"n": 3, "stream": True, "timeout": 5, "user": "u", "fallbacks": ["x"], "stop": None, "seed": 1}
        assert build({**QUESTION, "model_parameters": given}, temperature=None).parameters == {"seed": 1}

    @pytest.mark.parametrize(
        "name",
        [
            "api_base", "base_url", "api_key", "api_version", "headers", "extra_headers", "client", "organization",
            "custom_llm_provider", "aws_secret_access_key", "aws_access_key_id", "aws_bedrock_runtime_endpoint",
            "vertex_credentials", "vertex_project", "azure_ad_token", "azure_ad_token_provider", "azure_password",
            "litellm_credential_name", "ssl_verify", "model_list", "s3_endpoint_url", "mock_response", "region_name",
        ],
    )  # fmt: skip
    def test_connection_settings_in_the_data_are_refused_and_not_repeated(self, name: str) -> None:
        with pytest.raises(RequestError, match=rf"`model_parameters` holds {name}:.*constructor") as failure:
            build({**QUESTION, "model_parameters": {name: SECRET}})
        assert SECRET not in str(failure.value)

    def test_whatever_litellm_takes_for_credentials_is_a_connection_setting(self) -> None:
        from litellm.types.router import CredentialLiteLLMParams

        taken = [
            name for name in CredentialLiteLLMParams.model_fields if not build(**dict[str, Any]({name: "x"})).connection
        ]
        assert taken == []

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            (["max_tokens"], "must be a dict like .* not list"),
            ({"model": "gpt-y", "messages": []}, "holds messages, model: return them beside it"),
            ({"logit_bias": {1, 2}}, "cannot be written as JSON.*set has no JSON form"),
        ],
    )
    def test_malformed(self, given: object, said: str) -> None:
        with pytest.raises(RequestError, match=said):
            build({**QUESTION, "model_parameters": given})

    @pytest.mark.parametrize(
        ("name", "instead"),
        [
            ("n", "num_samples="),
            ("messages", "`messages` field"),
            ("num_retries", "retry="),
            ("request_timeout", "timeout="),
            ("stream", "answers are read whole"),
            ("drop_params", "what a provider rejects"),
            ("fallbacks", "one model only"),
        ],
    )
    def test_the_constructor_refuses_what_belongs_elsewhere(self, name: str, instead: str) -> None:
        with pytest.raises(ConfigurationError, match=rf"{name} is not a completion parameter here.*{instead}"):
            check_parameters({name: 3})

    def test_the_constructor_refuses_what_has_no_key(self) -> None:
        with pytest.raises(ConfigurationError, match="parameter stop cannot be written as JSON: set has no JSON form"):
            check_parameters({"stop": {"a"}})
        with pytest.raises(ConfigurationError, match="parameter top_p cannot be written"):
            check_parameters({"top_p": float("inf")})

    @pytest.mark.parametrize("url", ["http://user:hunter22@host:port/v1", "http://[::1/v1", "http://hunter22℀.org"])
    def test_a_malformed_address_is_refused_without_repeating_it(self, url: str) -> None:
        with pytest.raises(ConfigurationError, match="api_base is not a URL") as failure:
            check_parameters({"api_base": url})
        assert "hunter22" not in str(failure.value)
        assert failure.value.__cause__ is None

    def test_what_cannot_be_copied_may_travel(self) -> None:
        def log(event: object) -> None:
            raise AssertionError(event)

        given: dict[str, Any] = {"logger_fn": log, "client": object(), "api_base": None}
        check_parameters(given)
        request = build(**given)
        assert request.parameters["logger_fn"] is log
        assert request.connection["client"] is given["client"]


class TestTools:
    TOOL = {"type": "function", "function": {"name": "look_up"}}  # noqa: RUF012 - read only

    def test_from_the_task_else_from_parameters(self) -> None:
        other = {"type": "function", "function": {"name": "other"}}
        assert build().tools == ()
        assert build({**QUESTION, "tools": [self.TOOL]}, tools=[other]).tools == (self.TOOL,)
        assert build({**QUESTION, "model_parameters": {"tools": [self.TOOL]}}).tools == (self.TOOL,)
        constructed = build({**QUESTION, "tools": None}, tools=(self.TOOL,))
        assert constructed.tools == (self.TOOL,)
        assert "tools" not in constructed.parameters

    @pytest.mark.parametrize("given", ["look_up", {"name": "look_up"}, ["look_up"], 3])
    def test_malformed(self, given: object) -> None:
        with pytest.raises(RequestError, match="`tools` must be a list of tool definitions"):
            build({**QUESTION, "tools": given})


class TestKey:
    BASE = {"input": "Why?", "output": "Because.", "model_parameters": {"top_p": 0.5, "max_tokens": 9}}  # noqa: RUF012

    @pytest.mark.parametrize(
        "other",
        [
            {"input": "Why not?"},
            {"system_prompt": "Be brief."},
            {"model": "gpt-y"},
            {"model_parameters": {"top_p": 0.6, "max_tokens": 9}},
            {"model_parameters": {"top_p": 0.5}},
            {"tools": [{"type": "function", "function": {"name": "f"}}]},
            {"messages": [{"role": "developer", "content": "Why?"}]},
        ],
    )
    def test_changes_with_all_that_shapes_the_answer(self, other: dict[str, Any]) -> None:
        assert build({**self.BASE, **other}).key != build(self.BASE).key

    @pytest.mark.parametrize(
        "parameters",
        [
            {"api_base": "http://other:8000/v1"},
            {"seed": 1},
            {"mock_response": "Because."},
            {"custom_llm_provider": "groq"},
            {"extra_body": {"guided_choice": ["a"]}},
        ],
    )
    def test_changes_with_what_the_constructor_shapes(self, parameters: dict[str, Any]) -> None:
        assert build(self.BASE, **parameters).key != build(self.BASE).key

    def test_changes_with_the_temperature_and_with_who_is_asked(self) -> None:
        keys = {build(self.BASE, temperature=t, kind=k).key for t in (None, 0.5, 1.0) for k in ("litellm", "other")}
        assert len(keys) == 6

    @pytest.mark.parametrize(
        "other",
        [
            {"id": "7"},
            {"output": "Something else."},
            {"reference": "Because."},
            {"task_span": object()},
            {"trace_tool_context": {}},
            {"model_parameters": {"max_tokens": 9, "top_p": 0.5, "n": 3, "stream": True, "timeout": 3, "stop": None}},
        ],
    )
    def test_does_not_change_with_anything_else_of_the_item(self, other: dict[str, Any]) -> None:
        assert build({**self.BASE, **other}).key == build(self.BASE).key

    @pytest.mark.parametrize(
        "parameters",
        [
            {"api_key": SECRET},
            {"organization": "acme"},
            {"extra_headers": {"Authorization": SECRET}},
            {"timeout": 3.0},
            {"user": "me"},
            {"metadata": {"run": 1}},
            {"caching": False},
            {"aws_region_name": "eu-west-1"},
            {"api_base": None},
            {"max_tokens": 9, "stop": None},
        ],
    )
    def test_does_not_change_with_how_the_call_travels(self, parameters: dict[str, Any]) -> None:
        assert build(self.BASE, **parameters).key == build(self.BASE).key

    def test_does_not_change_with_a_nested_secret(self) -> None:
        keys = {build(self.BASE, extra_body={"top_k": 3, "api_key": key}).key for key in ("a", "b")}
        assert keys == {build(self.BASE, extra_body={"top_k": 3}).key}

    @given(st.permutations(["role", "content", "name"]), st.permutations(["top_p", "max_tokens", "seed"]))
    def test_does_not_change_with_the_order_of_keys(self, of_message: list[str], of_parameters: list[str]) -> None:
        message = dict.fromkeys(of_message, "user")
        shaped = build({"messages": [message], "model_parameters": dict.fromkeys(of_parameters, 1)})
        assert (
            shaped.key
            == build({"messages": [{"role": "user", "content": "user", "name": "user"}]}, **shaped.parameters).key
        )

    def test_order_of_messages_matters(self) -> None:
        two = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
        assert build({"messages": two}).key != build({"messages": two[::-1]}).key

    def test_a_lone_surrogate_has_a_key(self) -> None:
        assert build({"input": "a\ud800"}).key != build({"input": "a\ud801"}).key

    def test_is_the_digest_of_the_description(self) -> None:
        request = build()
        assert request.key == digest(json.loads(json.dumps(request.description)))
        assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

    def test_a_schema_tells_properties_apart_whatever_they_are_called(self) -> None:
        def schema(kind: str) -> dict[str, Any]:
            properties = {"author": {"type": "string"}, "token": {"type": kind}, "properties": {"type": "string"}}
            return {"type": "json_schema", "json_schema": {"schema": {"type": "object", "properties": properties}}}

        def tool(kind: str) -> dict[str, Any]:
            return {"type": "function", "function": {"name": "f", "parameters": schema(kind)["json_schema"]["schema"]}}

        assert build(response_format=schema("string")).key != build(response_format=schema("number")).key
        of_tools = {build({**QUESTION, "tools": [tool(kind)]}).key for kind in ("string", "number")}
        assert len(of_tools) == 2

    def test_a_pydantic_class_counts_by_its_schema(self) -> None:
        class Short(BaseModel):
            text: str

        class Long(BaseModel):
            text: str
            token: str

        request = build(response_format=Short)
        assert request.parameters["response_format"] is Short
        assert request.description["parameters"]["response_format"]["properties"]["text"]["type"] == "string"
        assert len({build(response_format=form).key for form in (Short, Long, None)}) == 3


class TestServer:
    @pytest.mark.parametrize(
        ("url", "seen"),
        [
            ("http://localhost:8000/v1/", "http://localhost:8000/v1"),
            ("https://user:hunter22@Example.org/v1?api_key=hunter22#hunter22", "https://example.org/v1"),
            ("user:hunter22@example.org:80/v1", "example.org:80/v1"),
            ("localhost:8000/v1", "localhost:8000/v1"),
            ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
            ("https://example.org", "https://example.org"),
            ("unix", "unix"),
        ],
    )
    def test_is_described_without_secrets(self, url: str, seen: str) -> None:
        assert build(api_base=url).description["api_base"] == seen
        assert build(base_url=url).description["api_base"] == seen

    @pytest.mark.parametrize(
        ("model", "variable"),
        [
            ("gpt-x", "OPENAI_API_BASE"),
            ("gpt-x", "OPENAI_BASE_URL"),
            ("openai/local", "OPENAI_BASE_URL"),
            ("hosted_vllm/local", "HOSTED_VLLM_API_BASE"),
            ("claude-x", "ANTHROPIC_API_BASE"),
            ("anthropic/claude-x", "ANTHROPIC_BASE_URL"),
        ],
    )
    def test_the_environments_counts(self, model: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(variable, "http://in-environment/v1")
        assert build(model=model).description["api_base"] == "http://in-environment/v1"
        assert build(model="groq/x").description["api_base"] is None
        assert build(model=model, api_base="http://given").description["api_base"] == "http://given"
        assert build(model=model, kind="other").description["api_base"] is None

    @pytest.mark.parametrize(("provider", "wins"), [("OPENAI", "BASE_URL"), ("ANTHROPIC", "API_BASE")])
    def test_of_two_variables_the_one_litellm_reads_first(
        self, provider: str, wins: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("API_BASE", "BASE_URL"):
            monkeypatch.setenv(f"{provider}_{name}", f"http://{name}".lower())
        assert build(model=f"{provider.lower()}/x").description["api_base"] == f"http://{wins}".lower()

    def test_litellms_own_setting_counts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import litellm

        monkeypatch.setattr(litellm, "api_base", "http://of-litellm/v1")
        monkeypatch.setenv("OPENAI_API_BASE", "http://in-environment/v1")
        assert build().description["api_base"] == "http://of-litellm/v1"

    def test_a_provider_given_apart_is_part_of_the_name(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GROQ_API_BASE", "http://in-environment")
        seen = build(custom_llm_provider="groq").description
        assert (seen["model"], seen["api_base"]) == ("groq/gpt-x", "http://in-environment")

    def test_a_malformed_one_in_the_environment_is_not_repeated(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_BASE", "http://user:hunter22@host:port")
        with pytest.raises(RequestError, match="api_base is not a URL") as failure:
            build()
        assert "hunter22" not in str(failure.value)


class TestSecrets:
    PARAMETERS: dict[str, Any] = {  # noqa: RUF012 - read only
        "api_key": SECRET,
        "api_base": "https://someone:hunter-two@example.org/v1?sig=signature-1",
        "extra_headers": {"Authorization": f"Bearer {SECRET}"},
        "aws_secret_access_key": SECRET,
        "extra_body": {"top_k": 3, "nested": [{"X-Api-Key": SECRET, "apiKey": SECRET, "clientSecret": SECRET, "k": 1}]},
    }

    def test_are_nowhere_to_be_seen(self) -> None:
        tool = {"type": "mcp", "server_label": "s", "headers": {"Authorization": SECRET}}
        request = build({**QUESTION, "tools": [tool]}, **self.PARAMETERS)
        seen = json.dumps(request.description) + repr(request) + str(request)
        for secret in (SECRET, "someone", "hunter-two", "signature-1", "Bearer"):
            assert secret not in seen
        assert request.description["parameters"]["extra_body"] == {"top_k": 3, "nested": [{"k": 1}]}
        assert "Who was Ernst Öpik?" in repr(request)

    def test_are_sent_all_the_same(self) -> None:
        request = build(**self.PARAMETERS)
        assert request.connection["api_key"] == SECRET
        assert request.parameters["extra_body"] == self.PARAMETERS["extra_body"]

    def test_are_known_for_masking(self) -> None:
        tool = {"type": "mcp", "headers": {"Authorization": "of-the-tool"}}
        found = build({**QUESTION, "tools": [tool]}, **self.PARAMETERS, organization="acme").secrets
        assert {SECRET, f"Bearer {SECRET}", "someone:hunter-two", "hunter-two", "sig=signature-1"} <= set(found)
        assert "of-the-tool" in found
        assert "acme" not in found
        assert list(found) == sorted(found, key=len, reverse=True)

    @pytest.mark.parametrize(
        "name",
        ["api_key", "apiKey", "X-API-Key", "Authorization", "access_token", "clientSecret", "private_key", "password",
         "aws_secret_access_key", "Ocp-Apim-Subscription-Key", "auth", "Set-Cookie", "credentials", "bearer"],
    )  # fmt: skip
    def test_by_name(self, name: str) -> None:
        assert showable({"a": {name: "x", "b": 1}}) == {"a": {"b": 1}}

    @pytest.mark.parametrize("name", ["max_tokens", "author", "keys", "monkey", "tokenizer", "top_k", "secretary"])
    def test_ordinary_names_stay(self, name: str) -> None:
        assert showable({name: 1}) == {name: 1}


class TestOwnership:
    def test_nothing_of_the_callers_is_changed_or_shared(self) -> None:
        fields = {
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Why?"}]}],
            "system_prompt": "Be brief.",
            "model_parameters": {"stop": ["a"], "temperature": 0, "tools": [{"type": "function"}]},
            "tools": [{"type": "function", "function": {"name": "f"}}],
        }
        parameters: dict[str, Any] = {"logit_bias": {"1": 2}, "extra_body": {"x": [1]}}
        before = copy.deepcopy((fields, parameters))
        request = build(fields, **parameters)
        request.messages[1]["content"][0]["text"] = "changed"
        request.parameters["stop"].append("b")
        request.parameters["extra_body"]["x"].append(2)
        request.tools[0]["function"]["name"] = "changed"
        assert (fields, parameters) == before


class TestPlain:
    def test_numbers_text_and_nesting(self) -> None:
        value = {"a": (1, 2.5, True, None, "x"), 3: [{"b": ()}]}
        assert plain(value) == {"a": [1, 2.5, True, None, "x"], "3": [{"b": []}]}

    @pytest.mark.parametrize("value", [object(), {1}, b"x", float("nan"), float("-inf"), SampleRequest])
    def test_what_json_lacks_is_refused(self, value: object) -> None:
        with pytest.raises((TypeError, ValueError)):
            plain({"a": [value]})
