"""Asks an `OpikBaseModel` again."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from opik_checkembed.errors import ConfigurationError, RequestError
from opik_checkembed.samples.budget import Budget
from opik_checkembed.samples.calls import Answers, Choice, begin_calls, read_response
from opik_checkembed.samples.collector import Collecting
from opik_checkembed.samples.litellm_sampler import as_temperature
from opik_checkembed.samples.pool import DEFAULT_MAX_CONCURRENCY, check_max_concurrency
from opik_checkembed.samples.request import (
    Fields,
    SampleRequest,
    build_request,
    check_parameters,
    is_connection,
    server_of,
)
from opik_checkembed.samples.retry import Retry
from opik_checkembed.samples.sample import SampleSet
from opik_checkembed.samples.shared_store import open_store
from opik_checkembed.samples.store import SampleStore

if TYPE_CHECKING:
    from opik.evaluation.models import OpikBaseModel


class OpikModelSampler:
    """Asks the model object that Opik's own metrics take.

    Opik's `LiteLLMChatModel` answers with several choices, usage and cost. Any other model is asked through
    `generate_chat_completion` where it has one, else through `generate_string`, which takes a single text: a
    request with a system prompt then fails with a reason instead of being flattened into another question.

    The model named by the task is not read: this object is who is asked.

    Args:
        model: The model object. It is never changed.
        temperature: Sampling temperature; None leaves it to the model object.
        store: See `LiteLLMSampler`. Samples are kept under the class and name of the model.
        budget: See `LiteLLMSampler`.
        max_concurrency: See `LiteLLMSampler`.
        retry: See `LiteLLMSampler`. A model class other than `LiteLLMChatModel` may retry by itself within each
            attempt.
        **parameters: Completion parameters handed to the model; server and credentials are the model object's own.

    Raises:
        ConfigurationError: An argument cannot work.
    """

    def __init__(
        self,
        model: OpikBaseModel,
        *,
        temperature: float | None = 1.0,
        store: SampleStore | str | PathLike[str] | None = "default",
        budget: Budget | None = None,
        max_concurrency: int = DEFAULT_MAX_CONCURRENCY,
        retry: Retry | None = None,
        **parameters: Any,
    ) -> None:
        from opik.evaluation.models import LiteLLMChatModel, OpikBaseModel

        if not isinstance(model, OpikBaseModel):
            raise ConfigurationError(f"model must be an OpikBaseModel, not {type(model).__name__}")
        check_max_concurrency(max_concurrency)
        check_parameters(parameters)
        connection = [name for name in parameters if is_connection(name)]
        if connection:
            raise ConfigurationError(f"{', '.join(connection)} cannot be changed here; construct the model with it")
        self.model = model
        self.temperature = as_temperature(temperature)
        self.max_concurrency = max_concurrency
        self.retry = retry or Retry()
        self.budget = budget
        self.parameters = dict(parameters)
        self.store = open_store(store)
        self._is_litellm = isinstance(model, LiteLLMChatModel)
        self._chats = type(model).generate_chat_completion is not OpikBaseModel.generate_chat_completion
        if budget is not None:
            budget.check(model.model_name)

    def request(self, fields: Fields) -> SampleRequest:
        """What `draw` would ask for this item.

        Raises:
            RequestError: The item holds nothing to ask again, or more than this model can be asked.
        """
        name = self.model.model_name
        asked = {**fields, "model": name, "model_name": None}
        kind = f"{type(self.model).__module__}.{type(self.model).__qualname__}"
        # What the model object was constructed with shapes its answers as well.
        built_in: dict[str, Any] = getattr(self.model, "_completion_kwargs", {}) if self._is_litellm else {}
        server = server_of(name, built_in) if self._is_litellm else None
        request = build_request(
            asked,
            model=None,
            parameters={**built_in, **self.parameters},
            temperature=self.temperature,
            kind=f"{kind} at {server}" if server else kind,
        )
        if not self._is_litellm and not self._chats and _only_text(request) is None:
            raise RequestError(
                f"{type(self.model).__name__} has only generate_string, which takes one text; this request has a "
                "system prompt, several messages or parts. Give the class a generate_chat_completion"
            )
        return request

    def draw(self, fields: Fields, count: int) -> SampleSet:
        """`count` answers to what `fields` asked; see `Sampler.draw`."""
        return self.begin(fields, count).result()

    def begin(self, fields: Fields, count: int) -> Collecting:
        """Start what `draw` then waits for; see `LiteLLMSampler.begin`. The model object names its own spans."""
        request = self.request(fields)
        return begin_calls(
            self,
            request,
            count,
            complete=lambda arguments: self._complete(request, arguments),
            errors=lambda: (Exception,),
            takes_n=self._is_litellm,
            # The model object logs its own calls.
            records=False,
        )

    def _complete(self, request: SampleRequest, arguments: Mapping[str, Any]) -> Answers:
        messages: Any = copy.deepcopy(list(request.messages))
        if self._is_litellm:
            once = {"__opik_retries": 1}
            return read_response(self.model.generate_provider_response(messages=messages, **arguments, **once))
        if self._chats:
            turn = self.model.generate_chat_completion(messages=messages, **arguments)
            return Answers((Choice(turn.get("content") or "", tool_calls=bool(turn.get("tool_calls"))),))
        return Answers((Choice(self.model.generate_string(input=_only_text(request) or "", **arguments) or ""),))


def _only_text(request: SampleRequest) -> str | None:
    """The request as one text, if it is no more than that."""
    if len(request.messages) == 1 and not request.tools and isinstance(request.messages[0].get("content"), str):
        return str(request.messages[0]["content"])
    return None
