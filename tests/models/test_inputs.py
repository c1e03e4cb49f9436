from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed.models.inputs import batches, token_limit


def test_batches_hold_what_the_budget_allows_the_longest_first() -> None:
    assert list(batches([3, 9, 4, 1, 20, 4], 10)) == [[4], [1], [2, 5], [0, 3]]
    assert list(batches([500, 500], 100)) == [[0], [1]]
    assert list(batches([], 10)) == []


@given(st.lists(st.integers(1, 50), max_size=30), st.integers(1, 100))
def test_every_input_is_in_one_batch(lengths: list[int], budget: int) -> None:
    found = list(batches(lengths, budget))

    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    for batch in found:
        assert len(batch) == 1 or len(batch) * max(lengths[place] for place in batch) <= budget


class Positions(torch.nn.Module):
    def __init__(self, count: int, padding: int | None, configured: int | None) -> None:
        super().__init__()
        self.position_embeddings = torch.nn.Embedding(count, 2, padding_idx=padding)
        self.config = SimpleNamespace(max_position_embeddings=configured)


@pytest.mark.parametrize(
    ("named", "count", "padding", "configured", "limit"),
    [
        (512, 512, None, 512, 512),
        (256, 512, None, 512, 256),  # sentence-transformers' models name less than they could read
        (10**30, 514, 1, 514, 512),  # RoBERTa counts from behind its padding
        (10**30, 8, None, -1, None),  # DeBERTa's -1 is no limit
        (10**30, 8, None, None, None),
    ],
)
def test_the_limit_is_the_smallest_that_is_known(
    named: int, count: int, padding: int | None, configured: int | None, limit: int | None
) -> None:
    assert token_limit(Positions(count, padding, configured), SimpleNamespace(model_max_length=named)) == limit
