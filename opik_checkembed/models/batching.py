"""Work of concurrent callers joined into batches, each distinct subject done once and its result kept.

A slow model under many threads wants few, large, sorted batches and one thread at a time. So a caller puts
down what it needs and waits for its turn at the model; whoever has the turn does everything that was put down
meanwhile, and the others find theirs done. There is no timer: a lone caller never waits for company, and
under load the batches grow by themselves while a batch is worked on.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Generic, TypeVar

from opik_checkembed.errors import ItemError

S = TypeVar("S")
V = TypeVar("V")


class Source(Enum):
    """How a caller came by a value."""

    COMPUTED = "computed"
    SHARED = "shared"
    CACHED = "cached"


class Batcher(Generic[S, V]):
    """Computes a value for each distinct subject once, in batches joined across threads.

    A failed batch of several callers is tried again caller by caller, so that a subject nothing can be
    computed for fails only those who asked for it. Nothing of a failure is kept: the next call tries again.

    Args:
        compute: The values of these subjects, in their order. Run by one thread at a time. What it cannot do
            it raises as an `ItemError`; any other exception is a fault of the program and reaches the caller
            in whose thread it happened, while the others' subjects are computed by one of them.
        key: A subject's identity; equal keys share a value.
        weigh: A value's size in bytes.
        max_bytes: Values are kept up to this size in all; the longest unused go first.
        outage: Failures that say nothing about the subjects (a model that cannot be loaded, a server that is
            down): they are everyone's at once, without another try.

    Example:
        >>> lengths = Batcher(lambda texts: [len(t) for t in texts], key=str.encode, weigh=lambda _: 8)
        >>> [(length, source.value) for length, source in lengths.get(["a", "bb", "a"])]
        [(1, 'computed'), (2, 'computed'), (1, 'shared')]
        >>> lengths.get(["bb"])
        [(2, <Source.CACHED: 'cached'>)]
    """

    def __init__(
        self,
        compute: Callable[[Sequence[S]], Sequence[V]],
        *,
        key: Callable[[S], bytes],
        weigh: Callable[[V], int],
        max_bytes: int = 256 * 2**20,
        outage: tuple[type[ItemError], ...] = (),
    ) -> None:
        self._compute = compute
        self._key = key
        self._weigh = weigh
        self._max_bytes = max_bytes
        self._outage = outage
        self._turn = threading.Lock()
        self._state = threading.Lock()
        # Everything below is guarded by `_state`. A ticket lives as long as a request wants it.
        self._tickets: weakref.WeakValueDictionary[bytes, _Ticket[S, V]] = weakref.WeakValueDictionary()
        self._pending: dict[_Request[S, V], None] = {}
        self._kept: OrderedDict[bytes, V] = OrderedDict()
        self._kept_bytes = 0

    def get(self, subjects: Sequence[S]) -> list[tuple[V, Source]]:
        """The value of each subject, in order, and how it was come by; of equal subjects the first counts as
        computed.

        Raises:
            ItemError: What `compute` said of the subjects, or of all.
        """
        request = _Request[S, V]([self._key(subject) for subject in subjects])
        try:
            self._register(request, subjects)
            if not request.settled:
                with self._turn:
                    if not request.settled:
                        self._serve()
        finally:
            with self._state:
                self._pending.pop(request, None)
        if request.failure is not None:
            # Several threads raise it, and each needs a traceback of its own.
            raise type(request.failure)(str(request.failure)) from request.failure
        return request.results()

    def _register(self, request: _Request[S, V], subjects: Sequence[S]) -> None:
        with self._state:
            for key, subject in zip(request.keys, subjects, strict=True):
                if key in request.tickets:
                    continue
                ticket = self._tickets.get(key)
                if ticket is None:
                    ticket = self._tickets[key] = _Ticket[S, V](key, subject)
                if key in self._kept:
                    self._kept.move_to_end(key)
                    ticket.values = [self._kept[key]]
                if ticket.values:
                    request.cached.add(key)
                request.tickets[key] = ticket
            if not request.settled:
                self._pending[request] = None

    def _serve(self) -> None:
        """Settle every request that is pending. Only for the thread that has the turn."""
        with self._state:
            requests = list(self._pending)
            self._pending.clear()
        try:
            failure = self._attempt(requests)
            if failure is None:
                return
            if len(requests) == 1 or isinstance(failure, self._outage):
                for request in requests:
                    request.failure = failure
                return
            for request in requests:
                request.failure = self._attempt([request])
        finally:
            # An interrupt (or a fault of the program) is this thread's alone; the others' work must still be
            # done.
            with self._state:
                self._pending.update(dict.fromkeys(r for r in requests if not r.settled))

    def _attempt(self, requests: Sequence[_Request[S, V]]) -> ItemError | None:
        payers: dict[_Ticket[S, V], _Request[S, V]] = {}
        for request in requests:
            for ticket in request.tickets.values():
                if not ticket.values:
                    payers.setdefault(ticket, request)
        if not payers:
            return None
        try:
            values = self._compute([ticket.subject for ticket in payers])
        except ItemError as error:
            return error
        with self._state:
            for (ticket, payer), value in zip(payers.items(), values, strict=True):
                ticket.values = [value]
                payer.computed.add(ticket.key)
                self._keep(ticket.key, value)
        return None

    def _keep(self, key: bytes, value: V) -> None:
        self._kept[key] = value
        self._kept_bytes += self._weigh(value)
        while self._kept_bytes > self._max_bytes:
            _, dropped = self._kept.popitem(last=False)
            self._kept_bytes -= self._weigh(dropped)


class _Ticket(Generic[S, V]):
    """One subject that somebody waits for; `values` holds its value once there is one."""

    __slots__ = ("__weakref__", "key", "subject", "values")

    def __init__(self, key: bytes, subject: S) -> None:
        self.key = key
        self.subject = subject
        self.values: list[V] = []


class _Request(Generic[S, V]):
    """What one call of `get` wants."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self.keys = keys
        self.tickets: dict[bytes, _Ticket[S, V]] = {}
        self.cached: set[bytes] = set()
        self.computed: set[bytes] = set()
        self.failure: ItemError | None = None

    @property
    def settled(self) -> bool:
        return self.failure is not None or all(ticket.values for ticket in self.tickets.values())

    def results(self) -> list[tuple[V, Source]]:
        results: list[tuple[V, Source]] = []
        computed = set(self.computed)
        for key in self.keys:
            source = Source.SHARED
            if key in self.cached:
                source = Source.CACHED
            elif key in computed:
                computed.remove(key)
                source = Source.COMPUTED
            results.append((self.tickets[key].values[0], source))
        return results
