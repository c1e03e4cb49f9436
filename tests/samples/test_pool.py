from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.samples.pool import CallPool, check_max_concurrency, shared_pool

SOON = 10.0
"""Seconds after which a test gives up."""


class Gate:
    """Calls that stop until they are let through."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._inside = threading.Semaphore(0)

    def __call__(self) -> None:
        self._inside.release()
        assert self._open.wait(SOON)

    def wait_for(self, calls: int) -> None:
        for _ in range(calls):
            assert self._inside.acquire(timeout=SOON)

    def is_empty(self) -> bool:
        return not self._inside.acquire(blocking=False)

    def open(self) -> None:
        self._open.set()


def run_all(pool: CallPool, delays: list[float], call: Callable[[int], None]) -> None:
    """Submit a call for each delay and wait until all have returned."""
    done = threading.Semaphore(0)

    def one(index: int) -> None:
        call(index)
        done.release()

    for index, delay in enumerate(delays):
        pool.submit(lambda index=index: one(index), delay)  # type: ignore[misc] # mypy has no type for the default
    for _ in delays:
        assert done.acquire(timeout=SOON)


@pytest.mark.parametrize("size", [1, 3])
def test_at_most_size_run_at_once(size: int) -> None:
    pool, gate = CallPool(size), Gate()
    done = threading.Semaphore(0)

    def call() -> None:
        gate()
        done.release()

    for _ in range(size + 2):
        pool.submit(call)
    gate.wait_for(size)
    assert gate.is_empty()
    gate.open()
    for _ in range(size + 2):
        assert done.acquire(timeout=SOON)


def test_as_many_as_size_do_run_at_once() -> None:
    together = threading.Barrier(8, timeout=SOON)
    pool = CallPool(8)
    run_all(pool, [0.0] * 8, lambda _: (together.wait(), None)[1])
    # And once more on the threads that are there.
    run_all(pool, [0.0] * 8, lambda _: (together.wait(), None)[1])


def test_all_that_are_due_together_run_together() -> None:
    together = threading.Barrier(4, timeout=SOON)
    pool = CallPool(4)
    run_all(pool, [0.0] * 4, lambda _: (together.wait(), None)[1])
    run_all(pool, [0.02] * 4, lambda _: (together.wait(), None)[1])


def test_a_waiting_call_holds_no_thread() -> None:
    pool, ran = CallPool(1), threading.Event()
    pool.submit(lambda: None, delay=3600)
    pool.submit(ran.set)
    assert ran.wait(SOON)


def test_an_idle_thread_wakes_for_what_is_due_before_what_it_waits_for() -> None:
    pool = CallPool(1)
    run_all(pool, [0.0], lambda _: None)
    pool.submit(lambda: None, delay=3600)
    run_all(pool, [0.02, 0.0, 0.01], lambda _: None)


def test_not_before_it_is_due() -> None:
    started = time.monotonic()
    ended: list[float] = []
    run_all(CallPool(2), [0.05], lambda _: ended.append(time.monotonic()))
    assert ended[0] - started >= 0.05


def test_in_the_order_in_which_they_are_due_then_as_submitted() -> None:
    pool, gate = CallPool(1), Gate()
    pool.submit(gate)
    gate.wait_for(1)
    order: list[int] = []
    delays = [0.04, 0.0, 0.02, 0.0]
    opener = threading.Timer(0.0, gate.open)
    opener.start()
    run_all(pool, delays, order.append)
    opener.join()
    assert order == [1, 3, 2, 0]


def test_threads_are_reused_and_are_daemons() -> None:
    pool = CallPool(8)
    seen: list[threading.Thread] = []
    for _ in range(20):
        run_all(pool, [0.0], lambda _: seen.append(threading.current_thread()))
    # One that has just returned may not yet be waiting when the next call comes.
    assert len(set(seen)) < 8
    assert all(thread.daemon and thread.name.startswith("opik-checkembed-") for thread in seen)


def test_where_no_thread_can_be_started_nothing_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = CallPool(1)

    def start(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    ran: list[int] = []
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        with pytest.raises(RuntimeError, match="can't start"):
            pool.submit(lambda: ran.append(0))
    run_all(pool, [0.0], lambda _: ran.append(1))
    assert ran == [1]


def test_one_pool_for_each_size() -> None:
    assert shared_pool(3) is shared_pool(3)
    assert shared_pool(3) is not shared_pool(4)
    assert shared_pool(4).size == 4


@pytest.mark.parametrize("value", [0, -1, 2.0, "8", True, None])
def test_max_concurrency(value: object) -> None:
    with pytest.raises(ConfigurationError, match="max_concurrency must be a whole number of at least 1"):
        check_max_concurrency(value)  # type: ignore[arg-type] # the point of the test
    check_max_concurrency(1)


_FORK = """
import os, threading
from opik_checkembed.samples import pool, shared_store

def runs():
    ran = threading.Event()
    pool.shared_pool(2).submit(ran.set)
    return ran.wait(10)

assert runs()
before = pool.shared_pool(2)
with pool._lock, shared_store._lock:
    child = os.fork()
    if child == 0:
        store = shared_store.open_store(os.environ["STORE"])
        works = runs() and pool.shared_pool(2) is not before and not store.closed
        os._exit(0 if works else 1)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0
assert runs() and pool.shared_pool(2) is before
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork is POSIX")
def test_a_forked_child_starts_anew_even_if_forked_under_the_locks(tmp_path: object) -> None:
    environment = {**os.environ, "STORE": f"{tmp_path}/samples.sqlite3"}
    subprocess.run([sys.executable, "-W", "ignore", "-c", _FORK], env=environment, check=True, timeout=60)
