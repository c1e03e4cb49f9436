"""How the benchmarks time: both sides in one process, in turn, and the median of the pairs' ratios."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """Two pieces of work timed in turn.

    Attributes:
        ours: Median seconds of the first.
        floor: Median seconds of the second.
        ratio: Median of the pairs' ratios, which holds when the machine's speed drifts.
        rounds: Pairs that were timed.
    """

    ours: float
    floor: float
    ratio: float
    rounds: int


def compare(ours: Callable[[], object], floor: Callable[[], object], rounds: int) -> Comparison:
    """Time `ours` against `floor`, A B B A A B ..., after one untimed run of each."""
    ours()
    floor()
    pairs = []
    for number in range(rounds):
        if number % 2:
            b, a = timed(floor), timed(ours)
        else:
            a, b = timed(ours), timed(floor)
        pairs.append((a, b))
    return Comparison(
        ours=statistics.median(a for a, _ in pairs),
        floor=statistics.median(b for _, b in pairs),
        ratio=statistics.median(a / b for a, b in pairs),
        rounds=rounds,
    )


def timed(work: Callable[[], object]) -> float:
    """Seconds of wall time that `work` takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
