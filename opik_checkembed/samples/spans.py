"""The LLM span of a provider call, under the metric that caused it.

The span is written after the call, with the times it really had: a call that was refused and asked again without
a parameter then shows once, as what it became, and a worker thread needs no span stack of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any


def current_span() -> Any | None:
    """The span to hang calls under, or None when Opik does not record."""
    import opik
    from opik import opik_context

    return opik_context.get_current_span_data() if opik.is_tracing_active() else None


def record_llm_span(
    parent: Any,
    *,
    name: str,
    started: datetime,
    ended: datetime,
    model: str,
    input: Mapping[str, Any],
    output: Mapping[str, Any] | None = None,
    usage: Mapping[str, int] | None = None,
    cost_usd: float | None = None,
    metadata: Mapping[str, Any] | None = None,
    error: str | None = None,
) -> None:
    """Log one provider call as a child of `parent`, a `current_span()` taken where the call was asked for.

    A cost of None leaves the estimate to Opik, which knows prices of its own.
    """
    import opik

    provider, short = _provider(model)
    opik.get_global_client().span(
        trace_id=parent.trace_id,
        parent_span_id=parent.id,
        project_name=parent.project_name,
        name=name,
        type="llm",
        start_time=started,
        end_time=ended,
        input=dict(input),
        output=None if output is None else dict(output),
        model=short,
        provider=provider,
        usage=None if usage is None else dict(usage),
        total_cost=cost_usd,
        metadata=None if metadata is None else dict(metadata),
        error_info=None if error is None else {"exception_type": "ProviderError", "message": error, "traceback": error},
    )


# Opik prices a call by its own names of providers.
_OPIK_NAMES = {"gemini": "google_ai", "vertex_ai": "google_vertexai"}


def _provider(model: str) -> tuple[str | None, str]:
    """Who serves a model that litellm routes, and the model's name there."""
    import litellm

    try:
        short, provider, *_ = litellm.get_llm_provider(model)
    except litellm.exceptions.BadRequestError:
        return None, model
    return _OPIK_NAMES.get(provider, provider), short


def attach_png(file_name: str, png: bytes) -> None:
    """Attach a picture to the current span; only to be called where there is one."""
    import opik
    from opik import opik_context

    opik_context.update_current_span(
        attachments=[opik.Attachment(data=png, file_name=file_name, content_type="image/png")]
    )
