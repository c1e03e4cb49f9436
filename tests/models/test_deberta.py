"""DeBERTa without repeated work gives the logits of transformers' own, on tiny random models of every kind."""

from __future__ import annotations

import copy
import importlib
from typing import Any

import pytest
import torch

from opik_checkembed.models.deberta import spare_repeated_work

# Hardly typed, and so not worth a cast at every call.
transformers: Any = importlib.import_module("transformers")

V3 = {
    "vocab_size": 60,
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 3,
    "intermediate_size": 40,
    "max_position_embeddings": 64,
    "relative_attention": True,
    "position_biased_input": False,
    "pos_att_type": ["p2c", "c2p"],
    "position_buckets": 8,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "type_vocab_size": 0,
    # Larger than usual, so that attention is not even and a fault in it shows.
    "initializer_range": 0.5,
    "pooler_dropout": 0,
    "pooler_hidden_size": 24,
    "num_labels": 2,
}


def classifier(**changes: Any) -> Any:
    torch.manual_seed(7)
    return transformers.DebertaV2ForSequenceClassification(transformers.DebertaV2Config(**{**V3, **changes})).eval()


def batch() -> dict[str, torch.Tensor]:
    """Rows of 40, 23, 5 and 1 tokens: beyond the buckets' middle, padded, and next to nothing."""
    lengths = torch.tensor([40, 23, 5, 1])
    mask = (torch.arange(40) < lengths[:, None]).long()
    ids = torch.randint(4, 60, (4, 40), generator=torch.Generator().manual_seed(3))
    return {"input_ids": ids * mask, "attention_mask": mask}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"share_att_key": False},
        {"share_att_key": False, "pos_att_type": ["c2p"]},
        {"pos_att_type": ["c2p"]},
        {"pos_att_type": ["p2c"]},
        {"pos_att_type": []},
        {"position_buckets": -1},
        {"position_buckets": -1, "max_relative_positions": 16},
        {"norm_rel_ebd": "none"},
        {"position_biased_input": True, "type_vocab_size": 2},
        {"conv_kernel_size": 3, "conv_act": "gelu"},
        {"num_hidden_layers": 1},
        {"num_hidden_layers": 1, "conv_kernel_size": 3},
        {"relative_attention": False, "position_biased_input": True},
    ],
    ids=str,
)
def test_logits_are_equal(changes: dict[str, Any]) -> None:
    original = classifier(**changes)
    spared = copy.deepcopy(original)
    spare_repeated_work(spared)
    inputs = batch()
    with torch.inference_mode():
        expected = original(**inputs).logits
        torch.testing.assert_close(spared(**inputs).logits, expected, atol=1e-4, rtol=0)
        for row, length in enumerate([40, 23, 5, 1]):
            alone = {name: values[row : row + 1, :length] for name, values in inputs.items()}
            torch.testing.assert_close(spared(**alone).logits, expected[row : row + 1], atol=1e-4, rtol=0)
    assert (expected[0] - expected[1]).abs().max() > 0.01  # the inputs do make a difference


def test_less_work_is_done() -> None:
    original = classifier()
    spared = copy.deepcopy(original)
    spare_repeated_work(spared)
    inputs = {name: values[:1, :20] for name, values in batch().items()}

    def multiplied(model: Any) -> int:
        from torch.utils.flop_counter import FlopCounterMode

        counter = FlopCounterMode(display=False)
        with torch.no_grad(), counter:
            model(**inputs)
        return counter.get_total_flops()

    assert multiplied(spared) < 0.8 * multiplied(original)


def test_another_architecture_is_left_alone() -> None:
    config = transformers.BertConfig(
        vocab_size=60, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8
    )
    model = transformers.BertForSequenceClassification(config).eval()
    before = [type(module) for module in model.modules()]
    spare_repeated_work(model)
    assert [type(module) for module in model.modules()] == before
