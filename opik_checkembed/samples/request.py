"""What was asked, of which model: everything that shapes an answer, and nothing secret.

A request is read from what Opik hands to `score()`, the dataset item merged with the task's output. What the
task says it used wins over what the metric was constructed with.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeGuard
from urllib.parse import urlsplit

from opik_checkembed.errors import AnswerError, ConfigurationError, RequestError

Fields = Mapping[str, Any]
Message = dict[str, Any]

# `id`, `task_span`, `trace_tool_context` and whatever else Opik or a dataset adds never enter a request:
# only these names are read.
INPUT_FIELDS = ("input", "question")
MODEL_FIELDS = ("model", "model_name")

# They say where and how a call is made. From a dataset they could send the caller's key to a stranger, so only
# the constructor may set them.
_CONNECTION = frozenset({
    "api_version", "api_type", "organization", "project", "default_headers", "http_client", "custom_llm_provider",
    "deployment_id", "region_name", "model_list", "tenant_id", "client_id", "extra_query", "shared_session",
})  # fmt: skip
_CONNECTION_NAME = re.compile(
    r"^(aws|azure|bedrock|gcs|litellm|s3|ssl|vertex|watsonx)_|(^|_)(base|base_url|url|endpoint|host|bucket_name)$"
)
# Of these even the constructor's are part of the key, since they make the answer.
_MADE_UP = frozenset({"mock_response", "mock_tool_calls", "mock_timeout", "mock_delay"})
_SECRET = re.compile(
    r"(^|_)(api_?key|key_id|\w+_key|token|jwt|secret|password|passwd|passphrase|credentials?|auth|authorization|"
    r"authentication|bearer|cookies?|headers|client)$"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^\w]+")
# They change how an answer travels or how many come, not what it says.
_TRANSPORT = frozenset({
    "n", "stream", "stream_options", "timeout", "request_timeout", "max_retries", "num_retries", "metadata", "user",
    "callbacks", "success_callback", "failure_callback", "logger_fn", "drop_params", "caching", "cache",
})  # fmt: skip
_OWN_ARGUMENTS = {
    "fallbacks": "one model only: another's answers say nothing about this one",
    "n": "num_samples=",
    "messages": "the `messages` field of the task's output",
    "num_retries": "retry=",
    "max_retries": "retry=",
    "request_timeout": "timeout=",
    "stream": "nothing: answers are read whole",
    "stream_options": "nothing: answers are read whole",
    "drop_params": "nothing: what a provider rejects is left out and named in the reason",
}


class Request(Protocol):
    """What the collector needs to know of anything that can be asked again."""

    @property
    def key(self) -> str:
        """SHA-256, in hex, of everything that shapes the answer."""
        ...

    @property
    def description(self) -> dict[str, Any]:
        """The same as JSON-ready values with nothing secret in it; kept beside the samples."""
        ...

    @property
    def temperature(self) -> float | None:
        """The sampling temperature, when known."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reason must say about how the request was built."""
        ...


@dataclass(frozen=True)
class SampleRequest:
    """A chat completion to be asked again.

    Attributes:
        model: The model's name as litellm or the `OpikBaseModel` knows it.
        messages: The conversation, in OpenAI's form.
        parameters: Completion parameters that shape the answer (temperature, max_tokens, ...).
        tools: Tool definitions, if the task used any.
        connection: Where and with which credentials to ask. Never stored, shown or compared.
        kind: Who is asked, so that two ways to the same model name are kept apart.
        notes: What the reason must say about how this request was built.
    """

    model: str
    messages: tuple[Message, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[dict[str, Any], ...] = ()
    connection: Mapping[str, Any] = field(default_factory=dict, compare=False)
    kind: str = "litellm"
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"SampleRequest({self.description!r}, notes={self.notes!r})"

    @property
    def temperature(self) -> float | None:
        """The sampling temperature, when the request sets one."""
        value = self.parameters.get("temperature")
        return float(value) if isinstance(value, int | float) else None

    @cached_property
    def description(self) -> dict[str, Any]:
        """Everything that shapes the answer, as JSON-ready values, with nothing secret in it."""
        provider = self.connection.get("custom_llm_provider")
        model = f"{provider}/{self.model}" if provider else self.model
        return {
            "kind": self.kind,
            "model": model,
            "api_base": server_of(model, self.connection) if self.kind == "litellm" else None,
            "messages": plain(list(self.messages)),
            "parameters": showable({k: v for k, v in self.parameters.items() if k not in _TRANSPORT}),
            "tools": _without_secrets(plain(list(self.tools))),
        }

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that no message may repeat: credentials, header values, the user-info part of a URL."""
        found = [*_texts(self.connection), *_secret_texts(self.parameters), *_secret_texts(list(self.tools))]
        found += [part for text in found if "://" in text for part in _user_info(text)]
        # Shorter ones ("none", "local") would blot out ordinary words.
        return tuple(sorted({text for text in found if len(text) > 5}, key=len, reverse=True))

    @cached_property
    def key(self) -> str:
        """SHA-256, in hex, of everything that shapes the answer."""
        return digest(self.description)


def digest(description: Mapping[str, Any]) -> str:
    """The key of a description: SHA-256, in hex, of its canonical JSON."""
    canonical = json.dumps(description, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def build_request(
    fields: Fields,
    *,
    model: str | None,
    parameters: Mapping[str, Any],
    temperature: float | None,
    kind: str = "litellm",
) -> SampleRequest:
    """Read from an item what to ask again, and of whom.

    Args:
        fields: The dataset item merged with the task's output.
        model: The model to ask when the fields name none.
        parameters: Completion and connection parameters from the constructor; the fields' `model_parameters` win.
        temperature: The sampling temperature. It is the sampler's own choice and replaces the task's, which says
            how the judged answer was made (often 0, where every sample would be the same); None keeps the task's.
        kind: Who is asked.

    Raises:
        RequestError: A field is missing or malformed; the text names it and shows the mapping to write.
    """
    notes: list[str] = []
    messages = _messages(fields, notes)
    asked = {**parameters, **_parameters(fields)}
    shaping = {k: v for k, v in asked.items() if not is_connection(k) and v is not None}
    tools = _tools(shaping.pop("tools", None) if fields.get("tools") is None else fields["tools"])
    if temperature is not None:
        shaping["temperature"] = temperature
    asked_of = _model(fields, model)
    connection = {k: v for k, v in parameters.items() if is_connection(k)}
    try:
        request = SampleRequest(
            model=asked_of,
            messages=tuple(plain(m) for m in messages),
            # What a transport parameter holds (a logger, a client's cache) is the caller's to share, not to copy.
            parameters={k: v if k in _TRANSPORT else copy.deepcopy(v) for k, v in shaping.items()},
            tools=tuple(plain(t) for t in tools),
            connection=connection,
            kind=kind,
            notes=tuple(notes),
        )
        _ = request.key
    except (TypeError, ValueError) as error:
        raise RequestError(f"the request cannot be written as JSON, so its samples have no key: {error}") from error
    return request


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Refuse constructor parameters that belong elsewhere or cannot be part of a key.

    Raises:
        ConfigurationError: With the argument to use instead.
    """
    for name, value in parameters.items():
        if name in _OWN_ARGUMENTS:
            raise ConfigurationError(f"{name} is not a completion parameter here; use {_OWN_ARGUMENTS[name]}")
        if name in {"api_base", "base_url"} and value is not None:
            _address(value)
        if not is_connection(name) and name not in _TRANSPORT:
            try:
                digest({name: plain(value)})
            except (TypeError, ValueError) as error:
                raise ConfigurationError(f"parameter {name} cannot be written as JSON: {error}") from error


def judged_output(fields: Fields) -> tuple[str, tuple[str, ...]]:
    """The text to judge, and what the reason must say about where it came from.

    Opik merges the dataset item with the task's output, and in many question-answering sets `answer` is the
    reference. So an `output` is always judged, and an `answer` only where there is no `output`.

    Raises:
        AnswerError: There is no text to judge; says what was found and the mapping to write.
    """
    if "output" in fields:
        return text_of("output", fields["output"])
    if "answer" in fields:
        text, notes = text_of("answer", fields["answer"])
        return text, (*notes, "judged the `answer` field, since there is no `output`")
    raise AnswerError(
        "there is no `output` (nor `answer`) to judge; name the field that holds the answer, for example "
        f"scoring_key_mapping={{'output': 'your_field'}}{_present(fields)}"
    )


def text_of(name: str, value: object) -> tuple[str, tuple[str, ...]]:
    """The text of a field that holds a string or OpenAI content parts, and notes for the reason.

    Raises:
        AnswerError: The field is empty or something else.
    """
    notes: tuple[str, ...] = ()
    if _is_parts(value):
        texts = [part["text"] for part in value if part.get("type") == "text" and isinstance(part.get("text"), str)]
        if len(texts) < len(value):
            notes = (f"{len(value) - len(texts)} of the {len(value)} parts of `{name}` are not text and were not read",)
        if not texts:
            raise AnswerError(f"`{name}` holds no text: none of its {len(value)} parts is of type 'text'")
        value = "\n".join(texts)
    if isinstance(value, str):
        if value.strip():
            return value.strip(), notes
        raise AnswerError(f"`{name}` is {'empty' if not value else 'blank'}: there is nothing to judge")
    if value is None:
        raise AnswerError(f"`{name}` is None: the task returned no answer to judge")
    raise AnswerError(
        f"`{name}` is a {type(value).__name__}, not text; map its text, for example "
        f"scoring_key_mapping={{'{name}': lambda item: item['{name}']['text']}}"
    )


def asked_text(fields: Fields) -> str:
    """All that was asked, as text: the question, or the texts of the messages; empty where the item holds neither."""
    found: list[str] = []
    for name in (*INPUT_FIELDS, "messages"):
        value = fields.get(name)
        if isinstance(value, str):
            found.append(value)
        elif _is_messages(value):
            contents = [_text_or_none(message.get("content")) for message in value if message["role"] != "assistant"]
            found += [content for content in contents if content is not None]
    return "\n".join(found)


def _messages(fields: Fields, notes: list[str]) -> tuple[Message, ...]:
    given = fields.get("messages")
    system = fields.get("system_prompt")
    if system is not None and not isinstance(system, str):
        raise RequestError(f"`system_prompt` is a {type(system).__name__}, not text")
    if given is None:
        name = next((n for n in INPUT_FIELDS if fields.get(n) is not None), None)
        if name is None:
            raise RequestError(
                "there is no `input`, `question` or `messages` to ask the model again; name the field that holds "
                f"it, for example scoring_key_mapping={{'input': 'your_field'}}{_present(fields)}"
            )
        given = fields[name]
        if fields.get("context") and not _is_messages(given) and not _holds(given, fields["context"]):
            notes.append(
                "`context` was not part of the repeated request: if the task's prompt held it, return the whole "
                "prompt as `messages`"
            )
        if isinstance(given, str) or _is_parts(given):
            if isinstance(given, str) and not given.strip():
                raise RequestError(f"`{name}` is empty: there is nothing to ask the model again")
            given = [{"role": "user", "content": given}]
    else:
        name = "messages"
    if not _is_messages(given):
        raise RequestError(
            f"`{name}` is neither text nor a list of messages like {{'role': 'user', 'content': '...'}}; map the "
            f"text, for example scoring_key_mapping={{'{name}': lambda item: item['{name}']['text']}}"
        )
    messages = tuple(given)
    last = messages[-1]
    if last["role"] == "assistant":
        # A logged conversation may end with the very answer that is judged.
        judged = _text_or_none(fields.get("output", fields.get("answer")))
        if judged is None or _text_or_none(last.get("content")) != judged:
            raise RequestError(
                f"`{name}` ends with an assistant message that is not the judged output; give the conversation up "
                "to the question"
            )
        messages = messages[:-1]
        if not messages:
            raise RequestError(f"`{name}` holds nothing but the judged output: there is no question to ask again")
    if system and not any(m["role"] in {"system", "developer"} for m in messages):
        messages = ({"role": "system", "content": system}, *messages)
    return messages


def _model(fields: Fields, default: str | None) -> str:
    for name in MODEL_FIELDS:
        value = fields.get(name)
        if value is None:
            continue
        if not isinstance(value, str) or not value.strip():
            found = "a blank text" if isinstance(value, str) else f"a {type(value).__name__}"
            raise RequestError(f"`{name}` must be a model's name, like 'gpt-4o-mini', not {found}")
        return value.strip()
    if default is None:
        raise RequestError(
            "no model to ask again: return 'model' from the task, construct the metric with model='gpt-4o-mini' or "
            "the like, or with request_from='trace' to read it from the task's own LLM span"
        )
    return default.strip()


def _parameters(fields: Fields) -> dict[str, Any]:
    given = fields.get("model_parameters")
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise RequestError(f"`model_parameters` must be a dict like {{'max_tokens': 200}}, not {type(given).__name__}")
    connection = sorted(str(k) for k in given if is_connection(str(k)) or k in _MADE_UP)
    if connection:
        raise RequestError(
            f"`model_parameters` holds {', '.join(connection)}: connection settings and keys are not read from data; "
            "give them to the metric's constructor"
        )
    misplaced = sorted(k for k in ("model", "messages") if k in given)
    if misplaced:
        raise RequestError(f"`model_parameters` holds {', '.join(misplaced)}: return them beside it, not in it")
    return {str(k): v for k, v in given.items() if k not in _TRANSPORT and k != "fallbacks" and v is not None}


def _tools(given: object) -> tuple[Mapping[str, Any], ...]:
    if given is None:
        return ()
    if not isinstance(given, Sequence) or isinstance(given, str) or not all(isinstance(t, Mapping) for t in given):
        raise RequestError("`tools` must be a list of tool definitions")
    return tuple(given)


def _text_or_none(value: object) -> str | None:
    try:
        return text_of("content", value)[0]
    except AnswerError:
        return None


def _holds(given: object, context: object) -> bool:
    """Whether a prompt repeats the context word for word."""
    asked = _text_or_none(given) or ""
    texts = context if isinstance(context, list | tuple) else [context]
    return all(isinstance(text, str) and text.strip() in asked for text in texts)


def _present(fields: Fields) -> str:
    hidden = {"id", "task_span", "trace_tool_context"}
    names = sorted(str(n) for n, value in fields.items() if n not in hidden and value is not None)
    return f" (fields here: {', '.join(names)})" if names else ""


def _is_messages(value: object) -> TypeGuard[Sequence[dict[str, Any]]]:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str | bytes)
        and len(value) > 0
        and all(isinstance(m, Mapping) and isinstance(m.get("role"), str) for m in value)
    )


def _is_parts(value: object) -> TypeGuard[Sequence[Mapping[str, Any]]]:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str | bytes)
        and len(value) > 0
        and all(isinstance(p, Mapping) and isinstance(p.get("type"), str) and "role" not in p for p in value)
    )


def is_connection(name: str) -> bool:
    """Whether a parameter says where or with which credentials to ask, rather than what."""
    return name in _CONNECTION or _CONNECTION_NAME.search(name) is not None or _is_secret(name)


def _is_secret(name: object) -> bool:
    return _SECRET.search(_CAMEL.sub("_", str(name)).lower()) is not None


def showable(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as JSON-ready values, at every depth without those whose name says that they are secret.

    Raises:
        TypeError, ValueError: One of them has no JSON form.
    """
    shown: dict[str, Any] = _without_secrets(plain(parameters))
    return shown


def _without_secrets(value: Any, in_schema: bool = False) -> Any:
    """Plain values without secrets. What a JSON schema calls a property is a name, whatever it says."""
    if isinstance(value, dict):
        return {
            k: _without_secrets(v, in_schema=k in {"properties", "$defs", "definitions"} and not in_schema)
            for k, v in value.items()
            if not _is_secret(k) or (in_schema and isinstance(v, dict))
        }
    if isinstance(value, list):
        return [_without_secrets(v) for v in value]
    return value


def _texts(value: Any) -> list[str]:
    """Every text in nested values."""
    if isinstance(value, str):
        return [value]
    values = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return [text for part in values for text in _texts(part)]


def _secret_texts(value: Any) -> list[str]:
    """Every text in nested values that stands under a secret's name."""
    if isinstance(value, Mapping):
        return [t for k, v in value.items() for t in (_texts(v) if _is_secret(k) else _secret_texts(v))]
    return [t for part in value for t in _secret_texts(part)] if isinstance(value, list | tuple) else []


def plain(value: Any) -> Any:
    """A value as JSON holds it; a pydantic class given as `response_format` becomes its schema.

    Raises:
        TypeError, ValueError: It has no JSON form.
    """
    if isinstance(value, type) and hasattr(value, "model_json_schema"):
        return value.model_json_schema()
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        json.dumps(value, allow_nan=False)
        return value
    raise TypeError(f"{type(value).__name__} has no JSON form")


# A bare name goes to OpenAI, unless litellm knows it as another provider's.
_BARE_NAMES = {"claude": "ANTHROPIC", "gemini": "VERTEXAI", "command": "COHERE"}


def server_of(model: str, connection: Mapping[str, Any]) -> str | None:
    """The server behind a model's name, without user, password, query or fragment.

    The same name on two servers is two models, so a base set in the environment or on litellm counts too.
    """
    provider, slash, _ = model.partition("/")
    if not slash:
        provider = next((known for start, known in _BARE_NAMES.items() if model.startswith(start)), "OPENAI")
    provider = provider.upper()
    # The order is litellm's.
    variables = [f"{provider}_API_BASE", f"{provider}_BASE_URL"]
    if provider == "OPENAI":
        variables.reverse()
    given = connection.get("api_base") or connection.get("base_url")
    given = given or getattr(sys.modules.get("litellm"), "api_base", None)
    for name in variables:
        given = given or os.environ.get(name)
    return _address(given) if given else None


def _address(given: object) -> str:
    """Scheme, host, port and path of a URL.

    Raises:
        ConfigurationError: It is no URL; does not repeat it, since it may hold a password.
    """
    text = str(given)
    try:
        parts = urlsplit(text if "://" in text else f"//{text}")
        port = f":{parts.port}" if parts.port else ""
        host = parts.hostname or ""
    except ValueError:
        # The cause's text quotes the URL.
        raise ConfigurationError("api_base is not a URL like 'http://localhost:8000/v1'") from None
    host = f"[{host}]" if ":" in host else host
    scheme = f"{parts.scheme}://" if parts.scheme else ""
    return f"{scheme}{host}{port}{parts.path.rstrip('/')}"


def _user_info(url: str) -> list[str]:
    parts = urlsplit(url)
    return [part for part in (parts.netloc.rpartition("@")[0], parts.password, parts.query) if part]
