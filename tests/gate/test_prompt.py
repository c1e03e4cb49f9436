from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opik_checkembed.errors import ConfigurationError, RequestError
from opik_checkembed.gate.prompt import Prompt

ASK = ({"role": "user", "content": "{{question}}"},)


def written(path: Path, data: object) -> Path:
    path.write_text(data if isinstance(data, str) else json.dumps(data), "utf-8")
    return path


@pytest.mark.parametrize("name", ["prompt.txt", "prompt.md", "PROMPT.MD"])
def test_a_text_is_the_users_message(tmp_path: Path, name: str) -> None:
    prompt = Prompt.from_file(
        written(tmp_path / name, "\ufeffAnswer from the context.\n\n{{ context }}\n{{question}}\n")
    )
    assert prompt.messages == ({"role": "user", "content": "Answer from the context.\n\n{{ context }}\n{{question}}"},)
    assert prompt.fields == ("context", "question")
    assert (prompt.model, dict(prompt.parameters)) == (None, {})


def test_json_says_messages_model_and_parameters(tmp_path: Path) -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "{{q}}"}]
    data = {"model": "gpt-4o-mini", "messages": messages, "parameters": {"max_tokens": 50}}
    prompt = Prompt.from_file(written(tmp_path / "prompt.json", data))
    assert prompt == Prompt(tuple(messages), "gpt-4o-mini", {"max_tokens": 50})


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("{", "is not JSON"),
        ([], "must be a prompt like"),
        ({"model": "x"}, "must be a prompt like"),
        ({"messages": [], "temperature": 1}, "must be a prompt like"),
        ({"messages": []}, "must be texts with a role"),
        ({"messages": "Why?"}, "must be texts with a role"),
        ({"messages": [{"role": "user"}]}, "must be texts with a role"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "must be texts with a role"),
        ({"messages": list(ASK), "model": 4}, "model must be a name"),
        ({"messages": list(ASK), "parameters": [1]}, "parameters an object"),
        (
            {"messages": list(ASK), "parameters": {"api_base": "http://evil"}},
            "where or with which key to ask: api_base",
        ),
        (
            {"messages": list(ASK), "parameters": {"max_tokens": 5, "extra_body": {"a": [{"auth_token": "hidden"}]}}},
            "where or with which key to ask: extra_body$",
        ),
        (
            '{"messages": [{"role": "user", "content": "Why?"}], "parameters": {"top_p": NaN}}',
            "the parameters of .*prompt.json cannot be sent as JSON",
        ),
    ],
)
def test_other_json_is_refused(tmp_path: Path, data: Any, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        Prompt.from_file(written(tmp_path / "prompt.json", data))


def test_what_a_schema_calls_a_property_is_no_secret() -> None:
    schema = {"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]}
    parameters = {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}}
    assert Prompt.from_dict({"messages": list(ASK), "parameters": parameters}).parameters == parameters


def test_a_missing_empty_or_unreadable_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no prompt can be read from"):
        Prompt.from_file(tmp_path / "none.txt")
    (tmp_path / "latin.txt").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(ConfigurationError, match="no prompt can be read from"):
        Prompt.from_file(tmp_path / "latin.txt")
    with pytest.raises(ConfigurationError, match="is empty"):
        Prompt.from_file(written(tmp_path / "empty.txt", " \n"))


def test_fields_are_put_in_as_they_are() -> None:
    prompt = Prompt(({"role": "user", "content": "{{a}} and {{ b }}, {c} {{}}"},))
    filled = prompt.filled({"a": "{{b}} \\1", "b": ["ä", 1], "c": "no"})
    assert filled == [{"role": "user", "content": '{{b}} \\1 and ["ä", 1], {c} {{}}'}]


def test_an_item_without_a_field_is_named_and_a_field_of_no_item_stops_the_run() -> None:
    prompt = Prompt(ASK)
    with pytest.raises(RequestError, match="the prompt reads question, which this item lacks"):
        prompt.filled({"question": None})
    prompt.check([{"id": 1}, {"question": "Why?"}])
    with pytest.raises(ConfigurationError, match="reads 'question', which no item has; there are id, input"):
        prompt.check([{"id": 1, "input": "Why?"}])
