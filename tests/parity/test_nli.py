"""The NLI metric against selfcheckgpt 0.1.7, on the same model and sentences."""

from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from opik_checkembed.metrics.selfcheck_nli import SelfCheckNLIMetric
from opik_checkembed.models.nli import TransformerNLI

# Hardly typed, and so not worth a cast at every call.
transformers: Any = importlib.import_module("transformers")

TOLERANCE = 1e-4
PASSAGE = (
    "Ernst Öpik was an Estonian astronomer. He was born in Kunda in 1893, the son of a customs officer.\n\nHe spent "
    "half of his life at Armagh Observatory in Northern Ireland. There he predicted the density of craters on Mars."
)
SAMPLES = [
    "Ernst Öpik (1893–1985) was an Estonian astronomer and astrophysicist. He was born in Kunda. Yes.",
    "Ernst Julius Öpik worked at Armagh Observatory for many years. He is known for his work on meteors and comets.",
    "Öpik was a Finnish composer of operas, who wrote his first symphony when he was eleven years old.",
]


class Reference:
    """selfcheckgpt's own class. transformers 5 has no `batch_encode_plus`, which is the call by another name."""

    def __init__(self, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
        def batch_encode_plus(tokenizer: Any, batch_text_or_text_pairs: list[tuple[str, str]], **options: Any) -> Any:
            ((first, second),) = batch_text_or_text_pairs
            return tokenizer([first], [second], **options)

        base = importlib.import_module("transformers.tokenization_utils_base").PreTrainedTokenizerBase
        monkeypatch.setattr(base, "batch_encode_plus", batch_encode_plus, raising=False)
        self._checker = importlib.import_module("selfcheckgpt.modeling_selfcheck").SelfCheckNLI(folder)

    def scores(self, sentences: list[str], samples: list[str]) -> list[float]:
        found: list[float] = self._checker.predict(sentences, samples).tolist()
        return found


@pytest.fixture
def tiny_deberta(tmp_path: Path) -> str:
    """A random DeBERTa-v2 of two labels with a sentencepiece model trained on the texts."""
    sentencepiece = importlib.import_module("sentencepiece")
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join([PASSAGE, *SAMPLES]), encoding="utf-8")
    folder = tmp_path / "deberta"
    folder.mkdir()
    sentencepiece.SentencePieceTrainer.train(
        input=str(texts), model_prefix=str(folder / "spm"), vocab_size=120, hard_vocab_limit=False, minloglevel=2,
        pad_id=0, bos_id=1, eos_id=2, unk_id=3, pad_piece="[PAD]", bos_piece="[CLS]", eos_piece="[SEP]",
        unk_piece="[UNK]",
    )  # fmt: skip
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "DebertaV2Tokenizer", "model_max_length": 512, "vocab_type": "spm"})
    )
    torch.manual_seed(11)
    config = transformers.DebertaV2Config(
        vocab_size=130, hidden_size=24, num_hidden_layers=3, num_attention_heads=3, intermediate_size=40,
        max_position_embeddings=512, relative_attention=True, position_biased_input=False, position_buckets=32,
        pos_att_type=["p2c", "c2p"], norm_rel_ebd="layer_norm", share_att_key=True, type_vocab_size=0,
        pooler_dropout=0, pooler_hidden_size=24, pooler_hidden_act="gelu", initializer_range=0.4,
        id2label={0: "entailment", 1: "contradiction"}, label2id={"entailment": 0, "contradiction": 1},
    )  # fmt: skip
    transformers.DebertaV2ForSequenceClassification(config).save_pretrained(folder)
    return str(folder)


def metric(model: Any) -> SelfCheckNLIMetric:
    return SelfCheckNLIMetric(nli_model=model, store=None, track=False)


def scores(ours: SelfCheckNLIMetric, passage: str, samples: list[str]) -> tuple[list[str], list[float]]:
    sentences = [s for s in ours.splitter.split(passage) if s.tokens >= ours.min_tokens]
    found = ours.check(passage, sentences, samples, {}).sentences
    known = [s.score for s in found if s.score is not None]
    assert len(known) == len(sentences)
    return [s.of(passage) for s in sentences], known


@pytest.mark.parametrize("batch_tokens", [1, 400, 100_000])
def test_sentence_scores_are_the_references(
    tiny_deberta: str, batch_tokens: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = TransformerNLI(tiny_deberta, device="cpu", batch_tokens=batch_tokens)
    sentences, ours = scores(metric(model), PASSAGE, SAMPLES)

    theirs = Reference(tiny_deberta, monkeypatch).scores(sentences, SAMPLES)

    assert len(ours) == 4
    assert ours == pytest.approx(theirs, abs=TOLERANCE)
    assert np.ptp(ours) > 100 * TOLERANCE  # a random model tells the sentences apart


def test_beyond_the_models_length_the_reference_reads_less(
    tiny_deberta: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It cuts off what two samples differ in; ours reads both to their ends."""
    long = SAMPLES[1] + " " + " ".join(SAMPLES[:1] * 12)
    other = long + " " + SAMPLES[2]
    sentence = "He was born in Kunda in 1893."
    reference = Reference(tiny_deberta, monkeypatch)

    assert reference.scores([sentence], [long]) == reference.scores([sentence], [other])

    ours = metric(TransformerNLI(tiny_deberta, device="cpu"))
    (one,), (two,) = (scores(ours, sentence, [sample])[1] for sample in (long, other))
    assert abs(one - two) > TOLERANCE


def test_a_real_classifier_on_real_passages(
    wikibio: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    models = os.environ.get("OPIK_CHECKEMBED_TEST_MODELS")
    if not models:
        pytest.skip("OPIK_CHECKEMBED_TEST_MODELS does not name a folder with models")
    folder = str(Path(models) / "nli")
    passage = wikibio[0]
    samples = passage["gpt3_text_samples"][:2]
    sentences, ours = scores(metric(folder), " ".join(passage["gpt3_sentences"][:3]), samples)

    theirs = Reference(folder, monkeypatch).scores(sentences, samples)

    assert ours == pytest.approx(theirs, abs=TOLERANCE)
