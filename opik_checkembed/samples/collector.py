"""One request, asked once: the store first, then calls already in flight, then the model.

Whoever wants a sample claims it in a table shared by the whole process. The first to claim it looks into the
store and asks for it; everyone else waits for the same future. Three metrics on one item therefore buy one set.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import timedelta

from opik_checkembed.errors import (
    BudgetExceeded,
    ConfigurationError,
    OpikCheckEmbedError,
    ReplayMiss,
    SamplingError,
    StoreError,
)
from opik_checkembed.samples.request import Request
from opik_checkembed.samples.sample import Origin, Sample, SampleSet
from opik_checkembed.samples.store import SampleStore

# Stores over one file that count different samples as present must not answer for each other.
_Claim = tuple[str, str, timedelta | None, str, int]
_in_flight: dict[_Claim, Future[Sample]] = {}
_lock = threading.Lock()


class Delivery:
    """Takes the answers of one request as they arrive: keeps each, then hands it to everyone who waits for it."""

    def __init__(self, store: SampleStore, request: Request, futures: dict[int, Future[Sample]]) -> None:
        self._store = store
        self._request = request
        self._futures = futures
        self.problems: list[str] = []

    def samples(self, samples: Sequence[Sample]) -> None:
        """These answers came with one call."""
        try:
            self._store.put(self._request.key, self._request.description, samples)
        except StoreError as error:
            # The answers are paid for: a full disk costs the next run money, not this one its score.
            self.problems.append(f"samples could not be kept: {error}")
        for sample in samples:
            self.found(sample)

    def found(self, sample: Sample) -> None:
        """Hand over an answer that is kept already."""
        future = self._finish(sample.index)
        if not future.done():
            future.set_result(sample)

    def failure(self, index: int, error: Exception) -> None:
        """No answer will come for this index; one that came already stands."""
        future = self._finish(index)
        if not future.done():
            future.set_exception(error)

    def _finish(self, index: int) -> Future[Sample]:
        future = self._futures[index]
        claim = _claim(self._store, self._request, index)
        with _lock:
            # A call that outlived its caller may report after somebody else has claimed the index anew.
            if _in_flight.get(claim) is future:
                del _in_flight[claim]
        return future


def _claim(store: SampleStore, request: Request, index: int) -> _Claim:
    return (store.identity, store.mode, store.max_age, request.key, index)


Ask = Callable[[Sequence[int], Delivery], None]


def collect(store: SampleStore, request: Request, count: int, ask: Ask) -> SampleSet:
    """The first `count` samples of a request, bought only where nobody has them yet; `begin`, and wait.

    Raises:
        ReplayMiss, StoreError: See `begin`.
    """
    return begin(store, request, count, ask).result()


def begin(store: SampleStore, request: Request, count: int, ask: Ask) -> Collecting:
    """Claim the first `count` samples of a request and start asking for those that nobody has yet.

    Returns at once where `ask` does, so that one thread can begin any number of requests before it waits for any.

    Args:
        store: Where samples are kept.
        request: What is asked.
        count: How many are wanted.
        ask: Starts asking for the given indices and returns at once; every index must later be delivered, as a
            sample or as a failure.

    Raises:
        ReplayMiss: The store replays and lacks a sample.
        StoreError: The store cannot be read.
    """
    return Collecting(store, request, range(count), ask)


class Collecting:
    """Samples of one request that are on their way."""

    def __init__(self, store: SampleStore, request: Request, indices: Sequence[int], ask: Ask) -> None:
        self._store = store
        self._request = request
        self._indices = indices
        self._ask = ask
        self._owned: dict[int, Future[Sample]] = {}
        self._joined: dict[int, Future[Sample]] = {}
        with _lock:
            for index in indices:
                claim = _claim(store, request, index)
                other = _in_flight.get(claim)
                if other is None:
                    self._owned[index] = _in_flight[claim] = Future()
                else:
                    self._joined[index] = other
        self._delivery = Delivery(store, request, self._owned)
        if self._owned:
            _supply(store, request, ask, self._owned, self._delivery)

    def result(self) -> SampleSet:
        """Wait for all of them.

        Raises:
            ReplayMiss: The store replays and lacks a sample.
            StoreError: The store cannot be read.
        """
        samples: list[Sample] = []
        failures: list[str] = []
        again: list[int] = []
        for index in self._indices:
            try:
                sample = (self._owned.get(index) or self._joined[index]).result()
            except ReplayMiss:
                raise
            except (BudgetExceeded, ConfigurationError) as error:
                # Whoever asked had no more to spend, or could not: that is no limit of those who only joined.
                if index in self._joined:
                    again.append(index)
                else:
                    failures.append(str(error))
            except OpikCheckEmbedError as error:
                failures.append(str(error))
            else:
                asked = sample.origin is Origin.ASKED
                samples.append(sample.seen_as(Origin.SHARED) if asked and index in self._joined else sample)
        problems = list(self._delivery.problems)
        if again:
            own = Collecting(self._store, self._request, again, self._ask).result()
            samples = sorted([*samples, *own.samples], key=lambda s: s.index)
            failures += own.failures
            problems += [note for note in own.notes if note not in self._request.notes]
        return SampleSet(
            samples=tuple(samples),
            requested=len(self._indices),
            failures=tuple(failures),
            notes=(*self._request.notes, *dict.fromkeys(problems)),
            temperature=self._request.temperature,
        )


def _supply(
    store: SampleStore, request: Request, ask: Ask, owned: dict[int, Future[Sample]], delivery: Delivery
) -> None:
    """See to it that every owned future is or will be done, whatever happens."""
    try:
        # Looked up after claiming: a call that ended in between has left its answer in the store.
        kept = store.get(request.key, owned)
        for sample in kept.values():
            delivery.found(sample)
        missing = [index for index in owned if index not in kept]
        if missing and store.mode == "replay":
            raise ReplayMiss(
                f"the store is in replay mode and lacks sample {missing[0] + 1} of {name(request)}; "
                "record it first with mode='reuse', or import the recording that holds it"
            )
        if missing:
            ask(missing, delivery)
    except BaseException as error:
        reason = error if isinstance(error, OpikCheckEmbedError) else SamplingError(f"sampling broke off: {error!r}")
        for index in owned:
            delivery.failure(index, reason)
        raise


def name(request: Request) -> str:
    """A request in a few words, for a message."""
    description = request.description
    messages = description.get("messages") or []
    last = next((m.get("content") for m in reversed(messages) if m.get("role") == "user"), None)
    if isinstance(last, list):
        last = " ".join(part["text"] for part in last if isinstance(part.get("text"), str))
    asked = last if isinstance(last, str) else str(description.get("item"))
    asked = " ".join(asked.split())
    asked = asked if len(asked) <= 60 else asked[:59] + "…"
    return f"the request {asked!r} to {description.get('model')!r} (key {request.key[:12]})"


def _after_fork() -> None:
    # The calls in flight are the parent's: in the child nobody would ever end the wait for them.
    global _lock
    _lock = threading.Lock()
    _in_flight.clear()


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows has no fork
    os.register_at_fork(after_in_child=_after_fork)
