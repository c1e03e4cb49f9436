"""What goes into a transformer at a time: how many tokens it reads, and which texts go through together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

# Longer inputs than this no transformer reads; tokenizers without a limit say 10^30.
_NO_LIMIT = 10_000_000


def token_limit(model: Any, tokenizer: Any) -> int | None:
    """The most tokens that a transformer reads at once, special tokens included; None where nothing limits it.

    The tokenizer alone is not trusted: those of many models name no limit, and their models then fail beyond their
    positions.
    """
    limits = [tokenizer.model_max_length]
    positions = getattr(model.config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        limits.append(positions)
    for name, module in model.named_modules():
        # RoBERTa and its descendants begin to count positions after that of the padding: of 514 they read 512.
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            limits.append(module.num_embeddings - module.padding_idx - 1)
    known = [int(limit) for limit in limits if limit < _NO_LIMIT]
    return min(known) if known else None


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Positions of inputs that go through together: the longest first, so that little is padding.

    Args:
        lengths: Tokens of each input.
        budget: Tokens of a batch, padding included; a longer input goes alone.

    Example:
        >>> list(batches([3, 9, 4, 1, 20, 4], budget=10))
        [[4], [1], [2, 5], [0, 3]]
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > budget:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
