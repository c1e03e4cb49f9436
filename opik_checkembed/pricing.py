"""What a run would cost, before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from opik_checkembed.items import load_items
from opik_checkembed.samples.budget import Estimate, price_requests
from opik_checkembed.samples.litellm_sampler import LiteLLMSampler
from opik_checkembed.samples.prices import Prices
from opik_checkembed.samples.request import SampleRequest

if TYPE_CHECKING:
    import pandas


def estimate(
    items: Iterable[Mapping[str, Any]] | str | PathLike[str] | pandas.DataFrame,
    *,
    sampler: LiteLLMSampler,
    num_samples: int = 5,
    answering: LiteLLMSampler | None = None,
    prices: Prices | None = None,
    completion_tokens: int | None = None,
) -> Estimate:
    """Price the samples of a run: calls, tokens, dollars, and which models have no price.

    What the sampler's store holds is not counted, equal requests are counted once, and items that bring their own
    `samples` cost nothing. Each answer counts as long as it may be, so the result is the most the samples can cost;
    embedding through an API is not in it.

    Args:
        items: As for `evaluate_locally`; they hold what the task would return (`model`, `messages`, ...).
        sampler: The sampler of the run.
        num_samples: Samples for each item.
        answering: Who is asked for the answer of items that hold none; None counts no such calls.
        prices: `{model: (input, output)}` in US dollars per million tokens, for models litellm has no price of.
        completion_tokens: Tokens to expect of one answer, instead of the longest allowed.

    Raises:
        RequestError: An item holds nothing to ask.

    Example:
        >>> free = LiteLLMSampler("ollama/llama3", store=None, max_tokens=100)
        >>> found = estimate([{"input": "Why?"}, {"input": "Why?"}], sampler=free)
        >>> found.samples, found.cost_usd
        (5, 0.0)
    """
    wanted: dict[str, tuple[LiteLLMSampler, SampleRequest, int]] = {}
    for item in load_items(items):
        if item.get("samples") is None:
            request = sampler.request(item)
            wanted[request.key] = (sampler, request, num_samples)
        if answering is not None and "output" not in item and "answer" not in item:
            request = answering.request(item)
            wanted.setdefault(request.key, (answering, request, 1))
    missing, kept = [], 0
    for asked, request, count in wanted.values():
        here = len(asked.store.get(request.key, range(count)))
        kept += here
        missing.append((request, count - here))
    return price_requests(missing, kept=kept, prices=prices, completion_tokens=completion_tokens)
