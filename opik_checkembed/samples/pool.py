"""The package's own threads for provider calls.

The standard executor is not used for two reasons. Its threads are joined when the interpreter exits, so a
Ctrl-C would first buy every call still queued; these are daemons. And a call that must wait (Retry-After,
backoff) would hold one of its threads; here it goes back into the queue with the time it is due, and the other
items keep going.
"""

from __future__ import annotations

import heapq
import itertools
import os
import threading
import time
from collections.abc import Callable
from typing import Literal

from opik_checkembed.errors import ConfigurationError

DEFAULT_MAX_CONCURRENCY = 8


class CallPool:
    """Runs calls on at most `size` daemon threads, each call not before it is due.

    A call must not raise: whoever submits it delivers its own outcome.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._changed = threading.Condition()
        self._threads = 0
        self._idle = 0

    def submit(self, call: Callable[[], None], delay: float = 0.0) -> None:
        """Run `call` on one of the threads, `delay` seconds from now or later."""
        with self._changed:
            if len(self._queue) >= self._idle and self._threads < self.size:
                # Before the call is queued: where no thread can be started, the caller knows that nothing will run.
                name = f"opik-checkembed-{self._threads + 1}"
                threading.Thread(target=self._work, name=name, daemon=True).start()
                self._threads += 1
            heapq.heappush(self._queue, (time.monotonic() + delay, next(self._order), call))
            self._changed.notify()

    def _work(self) -> None:
        while True:
            self._next()()

    def _next(self) -> Callable[[], None]:
        with self._changed:
            self._idle += 1
            try:
                while True:
                    wait = self._queue[0][0] - time.monotonic() if self._queue else None
                    if wait is not None and wait <= 0:
                        return heapq.heappop(self._queue)[2]
                    self._changed.wait(wait)
            finally:
                self._idle -= 1


def check_max_concurrency(value: int) -> None:
    """Refuse what cannot be a number of threads.

    Raises:
        ConfigurationError: It is not a whole number of at least 1.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigurationError(f"max_concurrency must be a whole number of at least 1, not {value!r}")


_pools: dict[tuple[str, int], CallPool] = {}
_lock = threading.Lock()


def shared_pool(max_concurrency: int, kind: Literal["calls", "tasks"] = "calls") -> CallPool:
    """The one pool of this kind and size in this process; everyone who names the same size shares its threads.

    Whole tasks have threads apart from provider calls: a task may itself wait for such calls.
    """
    with _lock:
        return _pools.setdefault((kind, max_concurrency), CallPool(max_concurrency))


def _after_fork() -> None:
    # A forked child inherits the queues but none of the threads.
    global _lock
    _lock = threading.Lock()
    _pools.clear()


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows has no fork
    os.register_at_fork(after_in_child=_after_fork)
