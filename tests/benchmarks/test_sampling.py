from __future__ import annotations

from typing import Literal

import pytest

from opik_checkembed.benchmarks.sampling import sampling_time


@pytest.mark.parametrize(("n", "requests"), [("honour", 2), ("reject", 6)])
def test_sampling_buys_each_answer_once(n: Literal["honour", "reject"], requests: int) -> None:
    found = sampling_time(n, items=2, num_samples=3, latency=0.01)
    assert found.choices == 6
    assert found.requests == requests
    assert found.seconds > 0
