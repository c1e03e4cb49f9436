"""Asks the tracked model again through litellm."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.samples.budget import Budget
from opik_checkembed.samples.pool import DEFAULT_MAX_CONCURRENCY, check_max_concurrency
from opik_checkembed.samples.request import Fields, SampleRequest, build_request, check_parameters
from opik_checkembed.samples.retry import Retry
from opik_checkembed.samples.sample import SampleSet
from opik_checkembed.samples.shared_store import open_store
from opik_checkembed.samples.store import SampleStore

if TYPE_CHECKING:
    from opik_checkembed.samples.calls import Answers
    from opik_checkembed.samples.collector import Collecting


class LiteLLMSampler:
    """Asks the model that made the judged answer the same again, through litellm.

    One call brings all samples where the provider takes `n`; elsewhere each is a call of its own. Calls run on
    `max_concurrency` threads that the whole process shares. Rate limits, server errors, timeouts and resets are
    retried with backoff, honouring Retry-After; a parameter the provider rejects is left out, once, and the reason
    says so. Every answer is kept in the store as it arrives.

    Args:
        model: The model to ask where the task's output names none.
        temperature: Sampling temperature; None keeps what the task used.
        store: A `SampleStore`, a path for one, "default" (`OPIK_CHECKEMBED_STORE`, else the user's cache directory),
            or None to keep answers in this process only.
        budget: A limit on calls or cost, shared by everyone who holds the same object.
        timeout: Seconds one call may take.
        max_concurrency: Calls in flight at most, counted over all samplers of this process that name the same number.
        retry: How often and how long to try.
        **parameters: Completion and connection parameters for litellm (max_tokens, api_base, api_key, ...).

    Raises:
        ConfigurationError: An argument cannot work, or a budget in dollars meets a model without a price.

    Example:
        >>> sampler = LiteLLMSampler("gpt-4o-mini", max_tokens=200, store=None)
        >>> sampler.request({"input": "Who was Ernst Öpik?"}).temperature
        1.0
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        temperature: float | None = 1.0,
        store: SampleStore | str | PathLike[str] | None = "default",
        budget: Budget | None = None,
        timeout: float = 60.0,
        max_concurrency: int = DEFAULT_MAX_CONCURRENCY,
        retry: Retry | None = None,
        **parameters: Any,
    ) -> None:
        if model is not None and (not isinstance(model, str) or not model.strip()):
            raise ConfigurationError(f"model must be a name that litellm routes, like 'gpt-4o-mini', not {model!r}")
        if not (isinstance(timeout, int | float) and timeout > 0):
            raise ConfigurationError(f"timeout must be a positive number of seconds, not {timeout!r}")
        check_max_concurrency(max_concurrency)
        check_parameters(parameters)
        self.model = model
        self.temperature = as_temperature(temperature)
        self.timeout = timeout
        self.max_concurrency = max_concurrency
        self.retry = retry or Retry()
        self.budget = budget
        self.parameters = dict(parameters)
        self.store = open_store(store)
        if budget is not None and model is not None and self.store.mode != "replay":
            budget.check(model)

    def request(self, fields: Fields) -> SampleRequest:
        """What `draw` would ask for this item.

        Raises:
            RequestError: The item holds nothing to ask again.
        """
        return build_request(fields, model=self.model, parameters=self.parameters, temperature=self.temperature)

    def draw(self, fields: Fields, count: int) -> SampleSet:
        """`count` answers to what `fields` asked; see `Sampler.draw`."""
        return self.begin(fields, count).result()

    def begin(self, fields: Fields, count: int, span: str = "sample") -> Collecting:
        """Start what `draw` then waits for, so that one thread can begin many requests and wait for all of them.

        Args:
            fields: See `Sampler.draw`.
            count: See `Sampler.draw`.
            span: The name of the calls' spans.

        Raises:
            ItemError: The item holds nothing to ask again.
        """
        from opik_checkembed.samples.calls import begin_calls

        request = self.request(fields)
        return begin_calls(
            self,
            request,
            count,
            complete=lambda arguments: self._complete(request, arguments),
            errors=provider_errors,
            span=span,
        )

    def _complete(self, request: SampleRequest, arguments: Mapping[str, Any]) -> Answers:
        import litellm

        from opik_checkembed.samples.calls import read_response

        response = litellm.completion(
            model=request.model,
            # litellm rewrites messages for some providers; the other calls share these.
            messages=copy.deepcopy(list(request.messages)),
            **request.connection,
            **arguments,
            timeout=self.timeout,
            # Retries are ours, so that they are counted, spread over items and stop when the caller says so.
            max_retries=0,
            num_retries=0,
        )
        return read_response(response)


def as_temperature(temperature: float | None) -> float | None:
    """A sampling temperature as a float, so that 0 and 0.0 are one request.

    Raises:
        ConfigurationError: It is neither None nor a number between 0 and 2.
    """
    valid = isinstance(temperature, int | float) and not isinstance(temperature, bool) and 0 <= temperature <= 2
    if temperature is not None and not valid:
        raise ConfigurationError(f"temperature must be between 0 and 2, or None, not {temperature!r}")
    return None if temperature is None else float(temperature)


def provider_errors() -> tuple[type[Exception], ...]:
    """The exceptions by which a litellm call fails; each derives from the openai client's."""
    import openai

    return (openai.OpenAIError,)
