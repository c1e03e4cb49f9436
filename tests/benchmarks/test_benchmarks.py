"""The benchmarks run and measure what they say; how fast this machine is, no test can know."""

from __future__ import annotations

from opik_checkembed.benchmarks.imports import import_milliseconds
from opik_checkembed.benchmarks.overhead import overhead
from opik_checkembed.benchmarks.timing import compare


def test_compare_runs_both_sides_equally_often_and_takes_medians_of_pairs() -> None:
    order: list[str] = []
    found = compare(lambda: order.append("a"), lambda: order.append("b"), rounds=3)
    # One run of each first, uncounted; then the sides take turns at going first.
    assert order == ["a", "b", "a", "b", "b", "a", "a", "b"]
    assert found.rounds == 3
    assert found.ours >= 0
    assert found.ratio > 0


def test_overhead_scores_every_item_on_both_sides() -> None:
    found = overhead(rounds=1, items=2, answers=3)
    assert found.rounds == 1
    assert found.floor > 0
    assert found.ratio > 0


def test_imports_are_measured_in_fresh_processes() -> None:
    assert import_milliseconds(rounds=1) > 0
