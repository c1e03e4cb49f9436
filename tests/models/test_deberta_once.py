"""Reading a sample once: exact where all of it is read for every pair, close elsewhere, refused where not known."""

from __future__ import annotations

import copy
import importlib
from typing import Any

import pytest
import torch

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.models.deberta import spare_repeated_work
from opik_checkembed.models.deberta_once import PremiseOnce

# Hardly typed, and so not worth a cast at every call.
transformers: Any = importlib.import_module("transformers")

V3 = {
    "vocab_size": 60, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 40,
    "max_position_embeddings": 64, "relative_attention": True, "position_biased_input": False,
    "pos_att_type": ["p2c", "c2p"], "position_buckets": 8, "norm_rel_ebd": "layer_norm", "share_att_key": True,
    "type_vocab_size": 0, "initializer_range": 0.3, "pooler_dropout": 0, "pooler_hidden_size": 24, "num_labels": 3,
}  # fmt: skip
SENTENCES = [[5, 9, 11], [30], [7, 8, 5, 44, 21, 17, 50], [12, 13]]
SAMPLES = [[20, 21, 5, 9, 33, 40, 41, 8, 17, 19], [22, 50, 51, 52] * 8]


def classifier(**changes: Any) -> Any:
    torch.manual_seed(7)
    return transformers.DebertaV2ForSequenceClassification(transformers.DebertaV2Config(**{**V3, **changes})).eval()


def exact(model: Any, first: str) -> torch.Tensor:
    with torch.inference_mode():
        return torch.stack([torch.stack([_exact(model, s, p, first) for p in SAMPLES]) for s in SENTENCES])


def _exact(model: Any, sentence: list[int], sample: list[int], first: str) -> torch.Tensor:
    one, other = (sentence, sample) if first == "sentence" else (sample, sentence)
    logits: torch.Tensor = model(input_ids=torch.tensor([[1, *one, 2, *other, 2]])).logits[0]
    return logits


@pytest.mark.parametrize("first", ["sentence", "sample"])
@pytest.mark.parametrize("spared", [False, True], ids=["plain", "spared"])
@pytest.mark.parametrize(
    "changes",
    [{}, {"share_att_key": False}, {"position_buckets": -1}, {"norm_rel_ebd": "none"}, {"num_hidden_layers": 1}],
    ids=str,
)
def test_all_tokens_for_every_pair_give_the_exact_logits(changes: dict[str, Any], spared: bool, first: Any) -> None:
    model = classifier(**changes)
    expected = exact(model, first)
    if spared:
        model = copy.deepcopy(model)
        spare_repeated_work(model)
    found = PremiseOnce(model, cls=1, sep=2, share=1.0).logits(SENTENCES, SAMPLES, first)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


def test_less_of_a_sample_gives_other_logits_and_more_of_it_closer_ones() -> None:
    model = classifier()
    expected = exact(model, "sentence")
    off = [
        float((PremiseOnce(model, cls=1, sep=2, share=share).logits(SENTENCES, SAMPLES, "sentence") - expected).norm())
        for share in (0.0, 0.5, 1.0)
    ]
    assert off[0] > off[1] > off[2]
    assert off[0] > 1e-3


def test_a_sentence_does_not_depend_on_its_neighbours_nor_on_how_many_they_are() -> None:
    once = PremiseOnce(classifier(), cls=1, sep=2, share=0.3)
    sentences = [[*one, 5 + turn] for turn in range(12) for one in SENTENCES]
    together = once.logits(sentences, SAMPLES, "sentence")
    apart = torch.cat([once.logits([one], SAMPLES, "sentence") for one in sentences])
    torch.testing.assert_close(together, apart, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"position_biased_input": True}, "absolute positions"),
        ({"relative_attention": False, "position_biased_input": True}, "absolute positions"),
        ({"type_vocab_size": 2}, "token types"),
        ({"conv_kernel_size": 3, "conv_act": "gelu"}, "a convolution"),
        ({"pos_att_type": ["c2p"]}, "one kind of position scores"),
    ],
    ids=str,
)
def test_variants_it_does_not_know_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=f"this one has .*{said}.*: leave fast=False"):
        PremiseOnce(classifier(**changes), cls=1, sep=2, share=0.1)


def test_another_architecture_is_refused() -> None:
    config = transformers.BertConfig(
        vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24
    )
    with pytest.raises(ConfigurationError, match="this one is a bert: leave fast=False"):
        PremiseOnce(transformers.BertForSequenceClassification(config), cls=1, sep=2, share=0.1)


@pytest.mark.parametrize("share", [-0.1, 1.5])
def test_a_share_beyond_0_to_1_is_refused(share: float) -> None:
    with pytest.raises(ConfigurationError, match="share must be from 0 to 1"):
        PremiseOnce(classifier(), cls=1, sep=2, share=share)


def test_half_precision_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="this one is in bfloat16, not in full precision: leave fast=False"):
        PremiseOnce(classifier().bfloat16(), cls=1, sep=2, share=0.1)


def test_another_head_is_refused() -> None:
    model = transformers.DebertaV2Model(transformers.DebertaV2Config(**V3))
    with pytest.raises(ConfigurationError, match="this one is a DebertaV2Model: leave fast=False"):
        PremiseOnce(model, cls=1, sep=2, share=0.1)
