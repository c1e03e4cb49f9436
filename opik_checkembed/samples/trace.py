"""What a task asked, read from the one LLM span of its own trace (opt-in, `request_from="trace"`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from opik_checkembed.errors import RequestError
from opik_checkembed.samples.request import text_of

# Opik's integrations log the call's arguments as metadata, beside what they add themselves; only these shape an
# answer and may be sent again.
_PARAMETERS = (
    "max_tokens", "max_completion_tokens", "temperature", "top_p", "top_k", "min_p", "stop", "seed",
    "presence_penalty", "frequency_penalty", "repetition_penalty", "logit_bias", "response_format", "verbosity",
    "reasoning_effort", "thinking", "tool_choice", "parallel_tool_calls", "functions", "function_call", "extra_body",
)  # fmt: skip


@dataclass(frozen=True)
class TracedRequest:
    """What a task's one LLM call asked.

    Attributes:
        fields: `model`, `messages`, `system_prompt`, `model_parameters` and `tools`, None where it had none, so that
            merged over an item's fields nothing of the item's own is asked instead.
        api_base: The server it called, where the span records one: a URL, or no more than its host.
    """

    fields: dict[str, Any]
    api_base: str | None

    def called(self, api_base: str | None) -> bool:
        """Whether a call to `api_base` (None for the provider's own address) goes to the server the task called.

        Where the span records none it is taken to be the same.
        """
        if self.api_base is None:
            return True
        host, port = _server(self.api_base)
        if api_base is None:
            return host in _PROVIDERS_OWN
        other_host, other_port = _server(api_base)
        return other_host == host and port in {None, other_port}


# What the clients call when no address is given.
_PROVIDERS_OWN = frozenset({"api.openai.com", "api.anthropic.com"})


def _server(address: str) -> tuple[str, int | None]:
    parts = urlsplit(address if "://" in address else f"//{address}")
    return parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def request_of_trace(task_span: Any) -> TracedRequest:
    """Read the only LLM span of a task's trace.

    The span holds the model's name as the provider answered it, often a dated snapshot: that is who is asked again.

    Args:
        task_span: The span tree Opik hands to a metric with a `task_span` parameter.

    Raises:
        RequestError: There is no such tree, or it holds no LLM span, several, or one without model or messages.
    """
    if task_span is None:
        raise RequestError(
            "request_from='trace' needs the task's span, which Opik's evaluate hands over while it records; return "
            "model and messages from the task to score without it"
        )
    calls = [span for span in _walk(task_span) if span.type == "llm"]
    if len(calls) != 1:
        found = f" ({', '.join(str(span.name) for span in calls)})" if calls else ""
        raise RequestError(
            f"the task's trace holds {len(calls)} LLM spans{found}; only with one is it clear what to ask again. "
            "Return model and messages from the task, or sample with TaskSampler(task)"
        )
    (call,) = calls
    logged: Mapping[str, Any] = call.input or {}
    metadata: Mapping[str, Any] = call.metadata or {}
    messages = logged.get("messages")
    if not call.model or not messages:
        raise RequestError(
            f"the LLM span {call.name!r} of the task's trace records no {'messages' if call.model else 'model'}; "
            "return model and messages from the task"
        )
    # The openai integration logs tools as metadata, the others as input.
    known = {**metadata, **logged}
    provider = str(getattr(call.provider, "value", call.provider) or "")
    server = metadata.get("api_base") or metadata.get("base_url")
    if server is None and _is_host(provider):
        server = provider
    fields = {
        "model": _routed(str(call.model), provider),
        "messages": messages,
        # Anthropic's form keeps the system prompt beside the messages.
        "system_prompt": _system_prompt(logged.get("system")),
        "model_parameters": {name: known[name] for name in _PARAMETERS if known.get(name) is not None},
        "tools": known.get("tools") or None,
    }
    return TracedRequest(fields, None if server is None else str(server))


def _system_prompt(system: Any) -> str | None:
    return text_of("system", system)[0] if system else None


def _routed(model: str, provider: str) -> str:
    """The model's name as litellm routes it: a span keeps the provider beside the bare name."""
    # The openai client with another address: its host stands where the provider's name would.
    prefix = "openai" if _is_host(provider) else _LITELLM_PREFIX.get(provider, provider)
    return model if not prefix or model.startswith(f"{prefix}/") else f"{prefix}/{model}"


def _is_host(provider: str) -> bool:
    return "." in provider or ":" in provider or provider == "localhost"


# Where Opik and litellm name a provider differently.
_LITELLM_PREFIX = {"google_ai": "gemini", "google_vertexai": "vertex_ai", "anthropic_vertexai": "vertex_ai"}


def _walk(span: Any) -> Iterator[Any]:
    yield span
    for child in span.spans:
        yield from _walk(child)
