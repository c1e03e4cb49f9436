"""Runs for the gate's tests: items with scores, and no metric behind them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from opik_checkembed.results import ItemResult, LocalResults, Score

DIRECTIONS = {"agreement": True, "doubt": False}


def result(
    identity: str,
    scores: Mapping[str, float | None],
    *,
    answer: str = "Paris.",
    question: str | None = None,
    **item: Any,
) -> ItemResult:
    asked = {"input": f"Question {identity}?" if question is None else question}
    found = tuple(Score(n, v, None if v is not None else "the judge gave no verdict") for n, v in scores.items())
    return ItemResult(identity, {**asked, **item}, {"output": answer}, found)


def run(values: Iterable[float | None], name: str = "agreement", answer: str = "Paris.") -> LocalResults:
    items = (result(f"q{number}", {name: value}, answer=answer) for number, value in enumerate(values))
    return LocalResults(tuple(items), {name: DIRECTIONS[name]})


def shifted(count: int, shift: float, spread: float = 0.05, seed: int = 0) -> tuple[list[float], list[float]]:
    """Scores of two sides whose differences have exactly this mean and this standard deviation."""
    rng = np.random.default_rng(seed)
    baseline = rng.uniform(0.5, 0.9, count)
    noise = rng.normal(0, 1, count)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    return baseline.tolist(), (baseline + shift + spread * noise).tolist()


def pair_of(shift: float, count: int = 60, name: str = "agreement") -> tuple[LocalResults, LocalResults]:
    baseline, candidate = shifted(count, shift)
    return run(baseline, name), run(candidate, name, answer="Lyon.")


def several(columns: Mapping[str, Sequence[float | None]], directions: Mapping[str, bool | None]) -> LocalResults:
    count = len(next(iter(columns.values())))
    items = (result(f"q{n}", {name: values[n] for name, values in columns.items()}) for n in range(count))
    return LocalResults(tuple(items), dict(directions))
