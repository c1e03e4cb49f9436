"""The provider calls behind one request: how many answers each asks for, and what happens when one fails."""

from __future__ import annotations

import contextvars
import copy
import math
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from opik_checkembed.errors import BudgetExceeded, OpikCheckEmbedError, SamplingError
from opik_checkembed.samples.budget import Budget, Reservation
from opik_checkembed.samples.collector import Collecting, Delivery, begin
from opik_checkembed.samples.pool import CallPool, shared_pool
from opik_checkembed.samples.prices import price_of
from opik_checkembed.samples.request import SampleRequest
from opik_checkembed.samples.retry import Retry, diagnose
from opik_checkembed.samples.sample import Origin, Sample, Status, TokenLogprobs, Usage, status_of
from opik_checkembed.samples.spans import current_span, record_llm_span
from opik_checkembed.samples.store import SampleStore

# A call that only reservations of others keep out looks again after this; each of them ends within its timeout.
_UNTIL_ROOM_S = 0.05

# Log-probabilities serve to weigh a verdict, which stands at the beginning of a reply.
_TOKENS_WITH_LOGPROBS = 16


@dataclass(frozen=True)
class Choice:
    """One answer as a provider gave it."""

    text: str
    finish_reason: str | None = None
    refusal: str | None = None
    tool_calls: bool = False
    logprobs: tuple[TokenLogprobs, ...] = ()

    @property
    def status(self) -> Status:
        """Whether the answer can be compared, and if not, why."""
        alone = status_of(self.text)
        if self.finish_reason == "content_filter":
            return Status.FILTERED
        if self.tool_calls and alone is Status.EMPTY:
            return Status.TOOL_CALL
        if self.refusal or alone is Status.REFUSED:
            return Status.REFUSED
        return Status.TRUNCATED if self.finish_reason == "length" else alone


@dataclass(frozen=True)
class Answers:
    """What one provider call brought."""

    choices: tuple[Choice, ...]
    usage: Mapping[str, int] = field(default_factory=dict)
    cost_usd: float | None = None
    model: str | None = None


def read_response(response: Any) -> Answers:
    """Read a chat completion in OpenAI's form, as litellm returns it for every provider."""
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    counts = {name: getattr(getattr(response, "usage", None), name, None) for name in names}
    # A provider that reports no usage reaches us as zeros, and its cost as 0: neither is known.
    usage = {name: int(count) for name, count in counts.items() if count is not None} if any(counts.values()) else {}
    cost = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
    return Answers(
        choices=tuple(_read_choice(choice) for choice in response.choices or ()),
        usage=usage,
        cost_usd=None if cost is None or not usage else float(cost),
        model=_answered_as(getattr(response, "model", None)),
    )


def _answered_as(model: str | None) -> str | None:
    """The model's name as the provider gave it; a self-hosted server may give its file, whose folders are private."""
    return re.split(r"[/\\]", model)[-1] if model and re.match(r"[/\\]|[A-Za-z]:[/\\]", model) else model


def _read_choice(choice: Any) -> Choice:
    message = choice.message
    # litellm keeps what its own message has no field for apart.
    extra = getattr(message, "provider_specific_fields", None) or {}
    return Choice(
        text=message.content if isinstance(message.content, str) else "",
        finish_reason=choice.finish_reason,
        refusal=getattr(message, "refusal", None) or extra.get("refusal"),
        tool_calls=bool(getattr(message, "tool_calls", None)),
        logprobs=_read_logprobs(getattr(choice, "logprobs", None)),
    )


def _read_logprobs(logprobs: Any) -> tuple[TokenLogprobs, ...]:
    content = getattr(logprobs, "content", None)
    if not isinstance(content, list):
        return ()
    read = []
    for token in content[:_TOKENS_WITH_LOGPROBS]:
        found: dict[str, float] = {}
        for one in (token, *(getattr(token, "top_logprobs", None) or ())):
            value = getattr(one, "logprob", None)
            # A probability of nothing, -inf, has no place in JSON.
            if isinstance(value, int | float) and math.isfinite(value):
                found.setdefault(str(one.token), float(value))
        read.append(tuple(found.items()))
    # Without the token that was chosen, nobody knows where in the answer the next ones stand.
    whole = next((place for place, token in enumerate(read) if not token), len(read))
    return tuple(read[:whole])


@dataclass
class Endpoint:
    """What this process has learned about one model on one server."""

    _not_before: float = 0.0
    _rejected: frozenset[tuple[str, str]] = frozenset()
    _one_by_one: bool = False
    _rejects_n: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def rejects_n(self) -> bool:
        """Whether it refused to give several answers in one call."""
        return self._rejects_n

    @property
    def takes_n(self) -> bool:
        """Whether one call may ask it for several answers, as far as is known."""
        return not self._one_by_one and not self._rejects_n

    def accepts(self, parameter: str, value: Any) -> bool:
        """Whether it has not yet rejected this parameter with this value; another value may be fine."""
        return (parameter, repr(value)) not in self._rejected

    def learn(self, parameter: str, value: Any) -> None:
        """It rejected this parameter with this value; nobody need send it again."""
        with self._lock:
            if parameter == "n":
                self._rejects_n = True
            else:
                self._rejected |= {(parameter, repr(value))}

    def ignores_n(self) -> None:
        """It took `n` and brought fewer answers."""
        self._one_by_one = True

    def hold(self, seconds: float) -> None:
        """It asked for a pause; no call to it goes out before."""
        with self._lock:
            self._not_before = max(self._not_before, time.monotonic() + seconds)

    def pause(self) -> float:
        """Seconds until it may be called."""
        return max(0.0, self._not_before - time.monotonic())


_endpoints: dict[tuple[str, str, str | None], Endpoint] = {}
_endpoints_lock = threading.Lock()


def endpoint_of(request: SampleRequest) -> Endpoint:
    """The one endpoint object for this request's model and server in this process."""
    with _endpoints_lock:
        place = (request.kind, request.model, request.description["api_base"])
        return _endpoints.setdefault(place, Endpoint())


class Asking(Protocol):
    """What a sampler that makes provider calls knows about making them."""

    store: SampleStore
    max_concurrency: int
    retry: Retry
    budget: Budget | None


def begin_calls(
    sampler: Asking,
    request: SampleRequest,
    count: int,
    *,
    complete: Callable[[Mapping[str, Any]], Answers],
    errors: Callable[[], tuple[type[Exception], ...]],
    takes_n: bool = True,
    records: bool = True,
    span: str = "sample",
) -> Collecting:
    """Start asking for the first `count` answers to a request, as far as nobody has them yet; see `Calls`.

    Raises:
        ReplayMiss: The store replays and lacks one.
        StoreError: The store cannot be read.
    """

    def ask(indices: Sequence[int], delivery: Delivery) -> None:
        pool = shared_pool(sampler.max_concurrency)
        Calls(request, delivery, pool, complete, errors, sampler.retry, sampler.budget, takes_n, records, span).start(
            indices
        )

    return begin(sampler.store, request, count, ask)


@dataclass
class Calls:
    """Asks for the missing samples of one request and delivers each; `start` returns at once.

    Attributes:
        request: What is asked.
        complete: Makes one provider call with these arguments.
        errors: The exceptions by which a provider call fails.
        takes_n: Whether one call may ask for several answers.
        records: Whether the call's span is ours to write.
        span: The span's name.
    """

    request: SampleRequest
    delivery: Delivery
    pool: CallPool
    complete: Callable[[Mapping[str, Any]], Answers]
    errors: Callable[[], tuple[type[Exception], ...]]
    retry: Retry
    budget: Budget | None
    takes_n: bool = True
    records: bool = True
    span: str = "sample"

    def __post_init__(self) -> None:
        # Opik's span stack and the caller's own context variables travel with each call.
        self._context = contextvars.copy_context()
        self._endpoint = endpoint_of(self.request)

    def start(self, indices: Sequence[int]) -> None:
        """Ask for these samples, in one call where the provider takes `n`."""
        if self.takes_n and self._endpoint.takes_n:
            self._submit(indices)
        else:
            for index in indices:
                self._submit([index])

    def _submit(self, indices: Sequence[int], attempt: int = 1, delay: float = 0.0) -> None:
        self.pool.submit(lambda: self._context.copy().run(self._run, indices, attempt), delay)

    def _run(self, indices: Sequence[int], attempt: int) -> None:
        # Whatever goes wrong on a pool thread must reach those who wait, or they would wait for ever.
        try:
            self._call(indices, attempt)
        except BaseException as error:  # noqa: BLE001 - delivered to the waiting metric, which names it
            broke = SamplingError(f"the call broke off: {error!r}")
            self._fail(indices, error if isinstance(error, OpikCheckEmbedError) else broke)

    def _fail(self, indices: Sequence[int], error: Exception) -> None:
        for index in indices:
            self.delivery.failure(index, error)

    def _call(self, indices: Sequence[int], attempt: int) -> None:
        pause = self._endpoint.pause()
        if pause > 0:
            self._submit(indices, attempt, pause)
            return
        if len(indices) > 1 and not self._endpoint.takes_n:
            self.start(indices)
            return
        wanted = self._arguments(indices)
        # By the value as it was asked for: a seed is another number in each call.
        asked_for = self.request.parameters
        sent = {name: value for name, value in wanted.items() if self._endpoint.accepts(name, asked_for.get(name))}
        reservation = None
        if self.budget is not None:
            try:
                reservation = self.budget.reserve(self.request, len(indices))
            except BudgetExceeded as error:
                if error.may_pass:
                    self._submit(indices, attempt, _UNTIL_ROOM_S)
                elif len(indices) > 1:
                    # There may be room for some of them.
                    for index in indices:
                        self._submit([index], attempt)
                else:
                    self._fail(indices, error)
                return
        started = datetime.now(UTC)
        try:
            answers = self.complete(sent)
        except self.errors() as error:
            self._failed(error, indices, attempt, sent, reservation, started)
        except BaseException:
            if reservation is not None:
                reservation.settle(None)
            raise
        else:
            cost = self._cost(answers)
            if reservation is not None:
                reservation.settle(cost)
            dropped = {*wanted, *(["n"] if self._endpoint.rejects_n else [])} - sent.keys()
            samples = self._samples(answers, indices, cost, dropped)
            try:
                # First, since a run may end, and Opik be flushed, as soon as the answers are there.
                self._record(started, sent, samples=samples, usage=answers.usage, cost_usd=cost)
            finally:
                if samples:
                    self.delivery.samples(samples)
            self._ask_for_the_rest(indices[len(samples) :], bool(samples), attempt)

    def _cost(self, answers: Answers) -> float | None:
        known = answers.cost_usd
        if known == 0 and price_of(self.request.model) is None:
            # litellm says 0 where it has no price; only what is known to be free costs nothing.
            known = None
        return known if self.budget is None else self.budget.cost_of(self.request.model, answers.usage, known)

    def _arguments(self, indices: Sequence[int]) -> dict[str, Any]:
        # Clients may rewrite what they are handed, and other calls share this request. What does not shape the
        # answer (callbacks, say) need not be data.
        shaping = self.request.description["parameters"]
        given = self.request.parameters.items()
        arguments = {name: copy.deepcopy(value) if name in shaping else value for name, value in given}
        if self.request.tools:
            arguments["tools"] = copy.deepcopy(list(self.request.tools))
        if len(indices) > 1:
            arguments["n"] = len(indices)
        if isinstance(arguments.get("seed"), int):
            # With one seed for all, every sample would be the same answer.
            arguments["seed"] += indices[0]
        return arguments

    def _samples(self, answers: Answers, indices: Sequence[int], cost: float | None, dropped: set[str]) -> list[Sample]:
        # More choices than were asked for have nobody waiting for them.
        choices = answers.choices[: len(indices)]
        usage = Usage(answers.usage.get("prompt_tokens"), answers.usage.get("completion_tokens"), len(choices))
        return [
            Sample(
                index=index,
                text=choice.text or choice.refusal or "",
                status=choice.status,
                finish_reason=choice.finish_reason,
                usage=usage,
                cost_usd=None if cost is None else cost / len(choices),
                model=answers.model,
                created=time.time(),
                dropped=tuple(sorted(dropped)),
                origin=Origin.ASKED,
                logprobs=choice.logprobs,
            )
            for index, choice in zip(indices, choices, strict=False)
        ]

    def _ask_for_the_rest(self, rest: Sequence[int], some_came: bool, attempt: int) -> None:
        """A server may take `n` and return fewer choices, or none at all."""
        if not rest:
            return
        if some_came:
            self._endpoint.ignores_n()
            self.start(rest)
            return
        delay = self.retry.delay(attempt, None)
        if delay is None:
            self._fail(rest, SamplingError(f"the provider's answer held no choices ({attempt} attempts)"))
        else:
            self._submit(rest, attempt + 1, delay)

    def _failed(
        self,
        error: Exception,
        indices: Sequence[int],
        attempt: int,
        sent: Mapping[str, Any],
        reservation: Reservation | None,
        started: datetime,
    ) -> None:
        trouble = diagnose(error, sent, self.request.secrets)
        if reservation is not None and trouble.maybe_billed:
            reservation.settle(None)
        elif reservation is not None:
            reservation.release()
        if trouble.parameter is not None:
            self._endpoint.learn(trouble.parameter, self.request.parameters.get(trouble.parameter))
            self.start(indices)
            return
        delay = self.retry.delay(attempt, trouble.retry_after) if trouble.action == "wait" else None
        if delay is None:
            self._record(started, sent, error=trouble.text)
            tried = f" ({attempt} attempts)" if attempt > 1 else ""
            self._fail(indices, SamplingError(f"{trouble.text}{tried}"))
            return
        if trouble.throttled:
            self._endpoint.hold(delay)
        self._submit(indices, attempt + 1, delay)

    def _record(
        self,
        started: datetime,
        sent: Mapping[str, Any],
        *,
        samples: Sequence[Sample] = (),
        usage: Mapping[str, int] | None = None,
        cost_usd: float | None = None,
        error: str | None = None,
    ) -> None:
        parent = current_span() if self.records else None
        if parent is None:
            return
        record_llm_span(
            parent,
            name=self.span,
            started=started,
            ended=datetime.now(UTC),
            model=self.request.model,
            input={"messages": list(self.request.messages)},
            output={"samples": [s.text for s in samples]} if samples else None,
            usage=usage,
            cost_usd=cost_usd,
            metadata={"parameters": self._shown(sent)},
            error=error,
        )

    def _shown(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters of one call without what is secret, as JSON-ready values."""
        public = self.request.description["parameters"]
        own = {name: sent[name] for name in ("n", "seed") if name in sent}
        return {**{name: value for name, value in public.items() if name in sent}, **own}
