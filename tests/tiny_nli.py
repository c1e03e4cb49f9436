"""A classifier small enough to be made by a test, of the reference's architecture."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

# Hardly typed, and so not worth a cast at every call.
transformers: Any = importlib.import_module("transformers")


def save_deberta(folder: Path, texts: Sequence[str], labels: Sequence[str] = ("entailment", "contradiction")) -> str:
    """Save a random DeBERTa-v2 with a sentencepiece model trained on the texts; returns where."""
    sentencepiece = importlib.import_module("sentencepiece")
    told = folder / "texts.txt"
    told.write_text("\n".join(texts), encoding="utf-8")
    model = folder / "deberta"
    model.mkdir()
    sentencepiece.SentencePieceTrainer.train(
        input=str(told), model_prefix=str(model / "spm"), vocab_size=120, hard_vocab_limit=False, minloglevel=2,
        pad_id=0, bos_id=1, eos_id=2, unk_id=3, pad_piece="[PAD]", bos_piece="[CLS]", eos_piece="[SEP]",
        unk_piece="[UNK]",
    )  # fmt: skip
    (model / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "DebertaV2Tokenizer", "model_max_length": 512, "vocab_type": "spm"})
    )
    torch.manual_seed(11)
    config = transformers.DebertaV2Config(
        vocab_size=130, hidden_size=24, num_hidden_layers=3, num_attention_heads=3, intermediate_size=40,
        max_position_embeddings=512, relative_attention=True, position_biased_input=False, position_buckets=32,
        pos_att_type=["p2c", "c2p"], norm_rel_ebd="layer_norm", share_att_key=True, type_vocab_size=0,
        pooler_dropout=0, pooler_hidden_size=24, pooler_hidden_act="gelu", initializer_range=0.4,
        id2label=dict(enumerate(labels)), label2id={label: place for place, label in enumerate(labels)},
    )  # fmt: skip
    transformers.DebertaV2ForSequenceClassification(config).save_pretrained(model)
    return str(model)
