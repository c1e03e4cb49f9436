"""Subjects are computed once, in joined batches, and a failure stays with those it concerns."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed.errors import EmbeddingError, ItemError
from opik_checkembed.models.batching import Batcher, Source

NEW, SHARED, CACHED = Source.COMPUTED, Source.SHARED, Source.CACHED
DEADLINE = 20.0


class Outage(EmbeddingError):
    pass


class Upper:
    """Computes upper case; what it is asked for is written down, and it can be made to wait or to fail."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.started = threading.Event()
        self.go = threading.Event()
        self.go.set()
        self.trouble: Callable[[Sequence[str]], None] = lambda subjects: None

    def __call__(self, subjects: Sequence[str]) -> list[str]:
        self.batches.append(list(subjects))
        self.started.set()
        assert self.go.wait(DEADLINE)
        self.trouble(subjects)
        return [s.upper() for s in subjects]


def batcher(compute: Callable[[Sequence[str]], Sequence[str]], max_bytes: int = 2**20) -> Batcher[str, str]:
    return Batcher(compute, key=str.encode, weigh=len, max_bytes=max_bytes, outage=(Outage,))


def wait_for_pending(batches: Batcher[str, str], count: int) -> None:
    deadline = time.monotonic() + DEADLINE
    while len(batches._pending) < count:
        assert time.monotonic() < deadline
        threading.Event().wait(0.001)


def joined(upper: Upper, first: list[str], others: list[list[str]]) -> tuple[Batcher[str, str], list[object]]:
    """`first` is being computed while the others come; the outcomes are values with sources, or exceptions."""
    batches = batcher(upper)
    upper.go.clear()

    def get(subjects: list[str]) -> object:
        try:
            return batches.get(subjects)
        except (ItemError, ValueError, KeyboardInterrupt) as error:
            return error

    with ThreadPoolExecutor(len(others) + 1) as pool:
        futures = [pool.submit(get, first)]
        assert upper.started.wait(DEADLINE)
        for n, subjects in enumerate(others, start=1):
            futures.append(pool.submit(get, subjects))
            wait_for_pending(batches, n)
        upper.go.set()
        return batches, [future.result(DEADLINE) for future in futures]


def test_each_distinct_subject_is_computed_once_and_kept() -> None:
    upper = Upper()
    batches = batcher(upper)
    assert batches.get(["a", "b", "a"]) == [("A", NEW), ("B", NEW), ("A", SHARED)]
    assert batches.get(["c", "b", "b"]) == [("C", NEW), ("B", CACHED), ("B", CACHED)]
    assert batches.get([]) == []
    assert upper.batches == [["a", "b"], ["c"]]


def test_callers_that_come_while_a_batch_runs_are_joined_into_the_next() -> None:
    upper = Upper()
    _, outcomes = joined(upper, ["a"], [["b", "a"], ["c", "b"], ["c"]])
    assert upper.batches == [["a"], ["b", "c"]]
    assert outcomes == [
        [("A", NEW)],
        [("B", NEW), ("A", SHARED)],
        [("C", NEW), ("B", SHARED)],
        [("C", SHARED)],
    ]


def test_sixteen_threads_at_once_compute_nothing_twice() -> None:
    upper = Upper()
    batches = batcher(upper)
    barrier = threading.Barrier(16)

    def get(n: int) -> list[tuple[str, Source]]:
        barrier.wait(DEADLINE)
        return batches.get([f"text {(n + i) % 20}" for i in range(10)])

    with ThreadPoolExecutor(16) as pool:
        outcomes = list(pool.map(get, range(16)))
    done = [subject for batch in upper.batches for subject in batch]
    assert sorted(done) == sorted({f"text {i}" for i in range(20)})
    for n, outcome in enumerate(outcomes):
        assert [value for value, _ in outcome] == [f"TEXT {(n + i) % 20}" for i in range(10)]
    assert sum(source is NEW for outcome in outcomes for _, source in outcome) == 20


def fail_on(bad: str, error: type[Exception]) -> Callable[[Sequence[str]], None]:
    def trouble(subjects: Sequence[str]) -> None:
        if bad in subjects:
            raise error(f"{bad} is bad")

    return trouble


def test_a_failure_is_raised_and_not_kept() -> None:
    upper = Upper()
    batches = batcher(upper)
    upper.trouble = fail_on("b", EmbeddingError)
    for _ in range(2):
        with pytest.raises(EmbeddingError, match="b is bad"):
            batches.get(["a", "b"])
    upper.trouble = lambda subjects: None
    assert batches.get(["a", "b"]) == [("A", NEW), ("B", NEW)]


def test_a_bad_subject_fails_only_who_asked_for_it() -> None:
    upper = Upper()
    upper.trouble = fail_on("bad", EmbeddingError)
    _, outcomes = joined(upper, ["a"], [["bad", "x"], ["x", "y"], ["bad"]])
    assert outcomes[0] == [("A", NEW)]
    assert isinstance(outcomes[1], EmbeddingError)
    # x was first wanted by the caller that failed; the one that had it computed says so.
    assert outcomes[2] == [("X", NEW), ("Y", NEW)]
    assert isinstance(outcomes[3], EmbeddingError)
    assert upper.batches == [["a"], ["bad", "x", "y"], ["bad", "x"], ["x", "y"], ["bad"]]


def test_callers_of_a_failed_batch_that_find_their_subjects_done_cost_nothing_more() -> None:
    upper = Upper()
    upper.trouble = fail_on("bad", EmbeddingError)
    _, outcomes = joined(upper, ["a"], [["x"], ["bad"], ["x"]])
    assert outcomes[1] == [("X", NEW)]
    assert outcomes[3] == [("X", SHARED)]
    assert upper.batches == [["a"], ["x", "bad"], ["x"], ["bad"]]


def test_an_outage_is_everyones_without_another_try() -> None:
    upper = Upper()
    upper.trouble = fail_on("b", Outage)
    batches, outcomes = joined(upper, ["a"], [["b"], ["c"], ["d"]])
    assert upper.batches == [["a"], ["b", "c", "d"]]
    errors = outcomes[1:]
    assert [type(e) for e in errors] == [Outage] * 3
    assert len({id(e) for e in errors}) == 3  # each thread raises its own
    upper.trouble = lambda subjects: None
    assert batches.get(["c"]) == [("C", NEW)]


def test_who_waited_for_a_subject_of_a_failed_batch_has_it_computed() -> None:
    upper = Upper()
    upper.trouble = fail_on("bad", EmbeddingError)
    _, outcomes = joined(upper, ["a", "bad"], [["a"]])
    assert isinstance(outcomes[0], EmbeddingError)
    assert outcomes[1] == [("A", NEW)]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupt_or_a_fault_of_the_program_is_one_threads_alone(error: type[BaseException]) -> None:
    upper = Upper()
    failed: list[None] = []

    def once(subjects: Sequence[str]) -> None:
        if "b" in subjects and not failed:
            failed.append(None)
            raise error

    upper.trouble = once
    _, outcomes = joined(upper, ["a"], [["b"], ["c"], ["d", "a"]])
    assert outcomes[0] == [("A", NEW)]
    broken = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    assert [type(e) for e in broken] == [error]
    assert sum(isinstance(outcome, list) for outcome in outcomes) == 3


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs POSIX signals")
def test_an_interrupted_wait_withdraws_what_it_asked_for() -> None:
    upper = Upper()
    batches = batcher(upper)
    upper.go.clear()
    interrupted = threading.Event()

    def interrupt_once(*_: object) -> None:
        if not interrupted.is_set():
            interrupted.set()
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt_once)
    with ThreadPoolExecutor(2) as pool:
        working = pool.submit(batches.get, ["a"])
        assert upper.started.wait(DEADLINE)

        def interrupt() -> None:
            wait_for_pending(batches, 1)
            deadline = time.monotonic() + DEADLINE
            # A signal that comes just before the wait begins does not end it, in Python as it is; so again.
            while time.monotonic() < deadline:
                os.kill(os.getpid(), signal.SIGINT)
                if interrupted.wait(0.05):
                    return

        interrupting = pool.submit(interrupt)
        try:
            with pytest.raises(KeyboardInterrupt):
                batches.get(["b"])
            interrupting.result(DEADLINE)
        finally:
            signal.signal(signal.SIGINT, before)
        upper.go.set()
        assert working.result(DEADLINE) == [("A", NEW)]
    assert batches.get(["c"]) == [("C", NEW)]
    assert upper.batches == [["a"], ["c"]]


def test_the_longest_unused_values_go_first() -> None:
    upper = Upper()
    batches = batcher(upper, max_bytes=4)
    batches.get(["aa"])
    batches.get(["bb"])
    batches.get(["aa"])
    batches.get(["cc"])  # drops bb, the longest unused
    assert batches.get(["aa", "cc"]) == [("AA", CACHED), ("CC", CACHED)]
    assert batches.get(["bb"]) == [("BB", NEW)]


def test_a_value_too_large_to_keep_is_still_given() -> None:
    upper = Upper()
    batches = batcher(upper, max_bytes=2)
    assert batches.get(["long", "a"]) == [("LONG", NEW), ("A", NEW)]
    assert batches.get(["long"]) == [("LONG", NEW)]


@given(st.integers(0, 6), st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), max_size=8))
def test_values_are_right_whatever_is_kept(max_bytes: int, calls: list[list[str]]) -> None:
    upper = Upper()
    batches = batcher(upper, max_bytes)
    for subjects in calls:
        before = sum(map(len, upper.batches))
        results = batches.get(subjects)
        assert [value for value, _ in results] == [s.upper() for s in subjects]
        assert sum(source is NEW for _, source in results) == sum(map(len, upper.batches)) - before
        assert batches._kept_bytes == sum(map(len, batches._kept.values())) <= max_bytes


def test_a_failure_keeps_its_type_text_and_cause() -> None:
    def compute(subjects: Sequence[str]) -> list[str]:
        raise Outage("nothing answers") from OSError("refused")

    with pytest.raises(ItemError, match=r"^nothing answers$") as caught:
        batcher(compute).get(["a"])
    assert type(caught.value) is Outage
    assert isinstance(caught.value.__cause__, Outage)
    assert isinstance(caught.value.__cause__.__cause__, OSError)
