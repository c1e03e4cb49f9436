"""An LLM's replies to prompts: kept, shared, budgeted and retried as samples are, each the one of its own request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.samples.budget import Budget
from opik_checkembed.samples.litellm_sampler import LiteLLMSampler
from opik_checkembed.samples.pool import DEFAULT_MAX_CONCURRENCY
from opik_checkembed.samples.retry import Retry
from opik_checkembed.samples.sample import Origin, Sample, SampleSet
from opik_checkembed.samples.store import SampleStore

if TYPE_CHECKING:
    from opik.evaluation.models import OpikBaseModel

    from opik_checkembed.samples.collector import Collecting
    from opik_checkembed.samples.opik_model_sampler import OpikModelSampler

# As many as every provider gives that gives any; they hold all spellings of yes and no that carry weight.
_TOP_LOGPROBS = 5

_SUMMED = ("calls", "cost_usd", "prompt_tokens", "completion_tokens", "from_store")


class LLMReplies:
    """Any model behind litellm, or an `OpikBaseModel`, that is asked prompts.

    All prompts are asked at once, on the threads and under the limits of sampling: the store keeps each reply, so that
    a rerun is free; equal prompts are asked once; rate limits and server errors are retried; a parameter the provider
    rejects is left out. Prompts go out in the order given, so those that begin alike should follow each other, for
    the sake of providers' prompt caches.

    Args:
        model: A litellm name or an `OpikBaseModel`.
        role: What it is to the user, for errors and spans, like "judge".
        reply_tokens: `max_tokens` where `parameters` say nothing.
        weighed: Whether to ask for log-probabilities where replies can bring them and `parameters` say nothing.
        temperature: 0 by default; None leaves it to the model.
        store: See `LiteLLMSampler`.
        budget: See `LiteLLMSampler`.
        timeout: Seconds one call may take, 60 by default; a model object has its own.
        max_concurrency: See `LiteLLMSampler`.
        retry: See `LiteLLMSampler`.
        **parameters: Completion and connection parameters; None leaves one out.

    Raises:
        ConfigurationError: An argument cannot work.

    Example:
        >>> LLMReplies("gpt-4o-mini", role="judge", reply_tokens=16, store=None).model
        'gpt-4o-mini'
    """

    def __init__(
        self,
        model: str | OpikBaseModel,
        *,
        role: str,
        reply_tokens: int,
        weighed: bool = False,
        temperature: float | None = 0.0,
        store: SampleStore | str | PathLike[str] | None = "default",
        budget: Budget | None = None,
        timeout: float | None = None,
        max_concurrency: int = DEFAULT_MAX_CONCURRENCY,
        retry: Retry | None = None,
        **parameters: Any,
    ) -> None:
        self._role = role
        shared: dict[str, Any] = {
            "temperature": temperature,
            "store": store,
            "budget": budget,
            "max_concurrency": max_concurrency,
            "retry": retry,
        }
        self._sampler: LiteLLMSampler | OpikModelSampler
        if isinstance(model, str):
            if timeout is not None:
                shared["timeout"] = timeout
            self._sampler = LiteLLMSampler(model, **shared, **_asked(parameters, reply_tokens, weighed=weighed))
            self.model = model
            return
        from opik.evaluation.models import LiteLLMChatModel, OpikBaseModel

        from opik_checkembed.samples.opik_model_sampler import OpikModelSampler

        if not isinstance(model, OpikBaseModel):
            raise ConfigurationError(
                f"a {role} is a name that litellm routes, like 'gpt-4o-mini', or an OpikBaseModel"
                f"{', or an object with read(prompts)' if role == 'judge' else ''}, not {type(model).__name__}"
            )
        if timeout is not None:
            raise ConfigurationError("timeout cannot be changed for a model object; construct the model with it")
        # The text of any other model brings none, and its methods need not know the parameters.
        asked = _asked(parameters, reply_tokens, weighed=weighed and isinstance(model, LiteLLMChatModel))
        self._sampler = OpikModelSampler(model, **shared, **asked)
        self.model = model.model_name

    def samplers(self) -> list[object]:
        """See `AsksModels.samplers`."""
        return [self._sampler]

    def ask(self, prompts: Sequence[str]) -> list[SampleSet]:
        """The reply to each prompt, in order: a set of one sample, or of none and its failure.

        Raises:
            ReplayMiss: The store replays and lacks a reply.
            StoreError: The store cannot be read.
        """
        begun = {prompt: self._begin(prompt) for prompt in dict.fromkeys(prompts)}
        known: dict[str, SampleSet] = {}
        found = []
        for prompt in prompts:
            if prompt in known:
                # Asked once, paid for once.
                found.append(_seen_again(known[prompt]))
            else:
                known[prompt] = begun[prompt].result()
                found.append(known[prompt])
        return found

    def _begin(self, prompt: str) -> Collecting:
        # One message, and no system prompt: not every chat template or `generate_string` takes one.
        fields = {"messages": [{"role": "user", "content": prompt}]}
        if isinstance(self._sampler, LiteLLMSampler):
            return self._sampler.begin(fields, 1, span=self._role)
        return self._sampler.begin(fields, 1)


def _asked(parameters: Mapping[str, Any], reply_tokens: int, *, weighed: bool) -> dict[str, Any]:
    own: dict[str, Any] = {} if parameters.get("max_completion_tokens") else {"max_tokens": reply_tokens}
    if weighed and parameters.get("logprobs", True):
        own |= {"logprobs": True, "top_logprobs": _TOP_LOGPROBS}
    return {name: value for name, value in {**own, **parameters}.items() if value is not None}


def _seen_again(drawn: SampleSet) -> SampleSet:
    shared = [s.seen_as(Origin.SHARED) if s.origin is Origin.ASKED else s for s in drawn.samples]
    return replace(drawn, samples=tuple(shared))


def replies_bill(samples: Sequence[Sample]) -> dict[str, Any]:
    """What this run paid for replies, as JSON-ready values.

    Returns:
        `calls` and `cost_usd` of this run (None when a price is unknown), `prompt_tokens` and `completion_tokens` of
        those calls, `from_store`, `model` (as the provider named it) and `dropped` (parameters the provider rejected).
    """
    drawn = SampleSet(tuple(samples), len(samples))
    paid = [sample.usage for sample in samples if sample.origin is Origin.ASKED and sample.usage]
    return {
        "calls": drawn.calls,
        "cost_usd": drawn.cost_usd,
        "prompt_tokens": sum(usage.prompt_tokens or 0 for usage in paid),
        "completion_tokens": sum(usage.completion_tokens or 0 for usage in paid),
        "from_store": sum(sample.origin is Origin.STORE for sample in samples),
        "model": next((sample.model for sample in samples if sample.model), None),
        "dropped": sorted({name for sample in samples for name in sample.dropped}),
    }


def joined_bills(*bills: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Several bills as one; None where there is none. What cannot be added is the first bill's.

    Example:
        >>> joined_bills({"calls": 2.0, "cost_usd": 0.5}, None, {"calls": 1.0, "cost_usd": None})
        {'calls': 3.0, 'cost_usd': None}
    """
    known = [bill for bill in bills if bill is not None]
    if not known:
        return None
    summed = {
        name: None if any(bill[name] is None for bill in known) else sum(bill[name] for bill in known)
        for name in _SUMMED
        if all(name in bill for bill in known)
    }
    return {**known[0], **summed}
