"""Tiny models for MQAG, built and saved by the tests: two T5s that learn to ask in a second, two random Longformers."""

from __future__ import annotations

import importlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from tokenizers import ByteLevelBPETokenizer

# Hardly typed, and so not worth a cast at every call.
transformers: Any = importlib.import_module("transformers")

PLACES = ["rome", "oslo", "bonn", "paris", "lima", "cairo", "delhi", "quito", "accra", "tunis"]
DEEDS = ["born", "died", "lived", "wrote", "sang", "ruled", "found", "lost"]
WHERE = ["in", "at", "near", "from"]
PEOPLE = ["king", "poet", "clerk", "nurse", "baker", "saint"]
YEARS = ["1901", "1902", "1903", "1904", "1905"]
ASKING = ["who", "where", "when"]

QUESTIONS, DISTRACTORS, ANSWERING, ANSWERABLE = "questions", "distractors", "answering", "answerable"


def sentence(draw: random.Random) -> str:
    """A sentence of six words, such as "poet born at oslo near 1904"."""
    return " ".join(draw.choice(words) for words in (PEOPLE, DEEDS, WHERE, PLACES, WHERE, YEARS))


def passage(draw: random.Random, sentences: int) -> str:
    return ". ".join(sentence(draw) for _ in range(sentences)) + "."


def save_models(folder: Path, *, top_k: int | None = None, attention_window: int = 16, positions: int = 514) -> Path:
    """Save the four models; with `top_k=1` the generators have only one thing to say, whoever samples."""
    save_generator(folder / QUESTIONS, _question, seed=1, top_k=top_k)
    save_generator(folder / DISTRACTORS, _distractors, seed=2, top_k=top_k)
    for name, kind in ((ANSWERING, "MultipleChoice"), (ANSWERABLE, "SequenceClassification")):
        save_longformer(folder / name, kind, attention_window=attention_window, positions=positions)
    return folder


def _question(draw: random.Random) -> tuple[str, str]:
    text = sentence(draw)
    who, did, _, place, _, year = text.split()
    written = [
        f"who {did} {place} <sep> {who}",
        f"where {who} {did} <sep> {place}",
        f"when {who} {did} <sep> {year}",
        f"when {who} {did}",  # no question: such things happen
    ]
    return text, draw.choice(written)


def _distractors(draw: random.Random) -> tuple[str, str]:
    text, question = _question(draw)
    while "<sep>" not in question:
        text, question = _question(draw)
    kinds = {"who": PEOPLE, "where": PLACES, "when": YEARS}
    return f"{question} <sep> {text}. {passage(draw, 3)}", " <sep> ".join(kinds[question.split()[0]][-3:])


def t5_tokenizer(**special: Any) -> Any:
    words = [*PLACES, *DEEDS, *WHERE, *PEOPLE, *YEARS, *ASKING]
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    pieces += [(f"▁{word}", -3.0) for word in words] + [("▁", -4.0)]
    pieces += [(letter, -6.0) for letter in "abcdefghijklmnopqrstuvwxyz0123456789.,?"]
    return transformers.T5Tokenizer(vocab=pieces, extra_ids=0, additional_special_tokens=[], **special)


def save_generator(
    folder: Path, example: Callable[[random.Random], tuple[str, str]], *, seed: int, top_k: int | None = None
) -> None:
    """A T5 of two layers that has seen some thousand examples of (read, written)."""
    tokenizer = t5_tokenizer(sep_token="<sep>")
    draw = random.Random(seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        config = transformers.T5Config(
            vocab_size=len(tokenizer),
            d_model=32,
            d_kv=16,
            d_ff=64,
            num_layers=2,
            num_heads=2,
            dropout_rate=0.0,
            pad_token_id=0,
            eos_token_id=1,
            decoder_start_token_id=0,
            tie_word_embeddings=False,
        )
        model = transformers.T5ForConditionalGeneration(config)
        optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
        for _ in range(100):
            pairs = [example(draw) for _ in range(16)]
            read = tokenizer([text for text, _ in pairs], return_tensors="pt", padding=True)
            written = tokenizer([text for _, text in pairs], return_tensors="pt", padding=True)["input_ids"]
            loss = model(**read, labels=written.masked_fill(written == 0, -100)).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    if top_k is not None:
        model.generation_config.do_sample = True
        model.generation_config.top_k = top_k
    _save(model, tokenizer, folder)


def bpe_tokenizer(limit: int) -> Any:
    draw = random.Random(0)
    trained = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator(
        [passage(draw, 4) for _ in range(50)], vocab_size=360, special_tokens=special, show_progress=False
    )
    learnt = json.loads(trained.to_str())["model"]
    merges = [tuple(merge) for merge in learnt["merges"]]
    return transformers.LongformerTokenizer(vocab=learnt["vocab"], merges=merges, model_max_length=limit)


def longformer_config(tokenizer: Any, attention_window: int, positions: int, **more: Any) -> Any:
    return transformers.LongformerConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        attention_window=attention_window,
        max_position_embeddings=positions,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        sep_token_id=2,
        type_vocab_size=1,
        # Large, so that random answers differ from one passage to the next.
        initializer_range=0.5,
        **more,
    )


def save_longformer(
    folder: Path, kind: str, *, attention_window: int = 16, positions: int = 514, labels: int = 1
) -> None:
    tokenizer = bpe_tokenizer(positions - 2)
    with torch.random.fork_rng():
        torch.manual_seed(3)
        config = longformer_config(tokenizer, attention_window, positions, num_labels=labels)
        model = getattr(transformers, f"LongformerFor{kind}")(config)
    _save(model, tokenizer, folder)


def _save(model: Any, tokenizer: Any, folder: Path) -> None:
    logging = importlib.import_module("transformers.utils.logging")
    logging.disable_progress_bar()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    logging.enable_progress_bar()
