"""Longformer's attention, dense: the same numbers as transformers' own, at every length."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
import torch

from opik_checkembed.models.longformer import attend_densely, is_longformer

transformers: Any = importlib.import_module("transformers")

SIZES: dict[str, Any] = {
    "vocab_size": 50,
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 200,
    "pad_token_id": 1,
    "initializer_range": 0.5,
}


def both(window: int | list[int]) -> tuple[Any, Any]:
    models = []
    for _ in range(2):
        torch.manual_seed(0)
        models.append(
            transformers.LongformerModel(transformers.LongformerConfig(**SIZES, attention_window=window)).eval()
        )
    attend_densely(models[1])
    return models[0], models[1]


@pytest.mark.parametrize("window", [8, 64, [4, 16, 64]])
@pytest.mark.parametrize("tokens", ["none", "first", "many"])
def test_hidden_states_are_the_same(window: int | list[int], tokens: str) -> None:
    theirs, ours = both(window)
    lengths = [4, 10, 33, 60, 96]
    ids = torch.randint(2, 50, (len(lengths), max(lengths)), generator=torch.Generator().manual_seed(1))
    mask = (torch.arange(max(lengths))[None, :] < torch.tensor(lengths)[:, None]).long()
    ids[mask == 0] = 1
    attends_globally = torch.zeros_like(ids)
    if tokens != "none":
        attends_globally[:, 0] = 1
    if tokens == "many":
        # Each row has another number of them.
        attends_globally |= (torch.arange(max(lengths))[None, :] > torch.tensor(lengths)[:, None] - 4).long() * mask
        attends_globally[1] = mask[1]
    with torch.no_grad():
        a, b = (
            model(ids, attention_mask=mask, global_attention_mask=attends_globally).last_hidden_state
            for model in (theirs, ours)
        )
    difference = ((a - b).abs() * mask[..., None]).max()
    assert float(difference) < 1e-4
    assert float(a.abs().max()) > 1


def test_texts_are_hardly_padded() -> None:
    theirs, ours = both(64)
    seen = []
    for model in (theirs, ours):
        layer = model.encoder.layer[0]
        layer.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].shape[1]))
        with torch.no_grad():
            model(torch.full((1, 10), 5), attention_mask=torch.ones(1, 10, dtype=torch.long))
    assert seen == [64, 10]


def test_which_models_are_longformers() -> None:
    assert is_longformer(both(8)[0])
    assert not is_longformer(torch.nn.Linear(1, 1))
    small = {
        "vocab_size": 50,
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "intermediate_size": 8,
    }
    assert not is_longformer(transformers.RobertaModel(transformers.RobertaConfig(**small)))
