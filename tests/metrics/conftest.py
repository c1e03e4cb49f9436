"""What the tests of the metrics share: an embedder whose scores can be worked out by hand, and servers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import opik
import pytest
from numpy.typing import NDArray

from opik_checkembed.samples import calls
from opik_checkembed.testing import FakeOpik


class FirstLetter:
    """Texts that begin alike are the same, others are at right angles."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.eye(128, dtype=np.float32)[[ord(text[0]) % 128 for text in texts]]


@pytest.fixture(scope="session")
def embedder() -> FirstLetter:
    return FirstLetter()


@pytest.fixture(autouse=True)
def _nothing_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    # Ports are used again: what one test's server rejected must not be remembered against another's.
    monkeypatch.setattr(calls, "_endpoints", {})


@pytest.fixture
def opik_server() -> Iterator[FakeOpik]:
    with FakeOpik() as server:
        yield server
    assert server.unknown == []


@pytest.fixture
def client(opik_server: FakeOpik) -> Iterator[opik.Opik]:
    with opik_server.in_this_process() as client:
        yield client


@pytest.fixture
def ten_questions(client: opik.Opik) -> Any:
    dataset = client.get_or_create_dataset("ten questions")
    dataset.insert([{"input": f"Question {number}?"} for number in range(10)])
    return dataset
