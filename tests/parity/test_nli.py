"""The NLI metric against selfcheckgpt 0.1.7, on the same model and sentences."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opik_checkembed.benchmarks.reference import nli_reference
from opik_checkembed.metrics.selfcheck_nli import SelfCheckNLIMetric
from opik_checkembed.models.nli import TransformerNLI
from tests.tiny_nli import save_deberta

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


@pytest.fixture
def tiny_deberta(tmp_path: Path) -> str:
    return save_deberta(tmp_path, [PASSAGE, *SAMPLES])


def metric(model: Any) -> SelfCheckNLIMetric:
    return SelfCheckNLIMetric(nli_model=model, store=None, track=False)


def scores(ours: SelfCheckNLIMetric, passage: str, samples: list[str]) -> tuple[list[str], list[float]]:
    sentences = [s for s in ours.splitter.split(passage) if s.tokens >= ours.min_tokens]
    found = ours.check(passage, sentences, samples, {}).sentences
    known = [s.score for s in found if s.score is not None]
    assert len(known) == len(sentences)
    return [s.of(passage) for s in sentences], known


@pytest.mark.parametrize("batch_tokens", [1, 400, 100_000])
def test_sentence_scores_are_the_references(tiny_deberta: str, batch_tokens: int) -> None:
    model = TransformerNLI(tiny_deberta, device="cpu", batch_tokens=batch_tokens)
    sentences, ours = scores(metric(model), PASSAGE, SAMPLES)

    theirs = nli_reference(tiny_deberta).predict(sentences, PASSAGE, SAMPLES)

    assert len(ours) == 4
    assert ours == pytest.approx(theirs, abs=TOLERANCE)
    assert np.ptp(ours) > 100 * TOLERANCE  # a random model tells the sentences apart


def test_beyond_the_models_length_the_reference_reads_less(tiny_deberta: str) -> None:
    """It cuts off what two samples differ in; ours reads both to their ends."""
    long = SAMPLES[1] + " " + " ".join(SAMPLES[:1] * 12)
    other = long + " " + SAMPLES[2]
    sentence = "He was born in Kunda in 1893."
    reference = nli_reference(tiny_deberta)

    assert reference.predict([sentence], "", [long]) == reference.predict([sentence], "", [other])

    ours = metric(TransformerNLI(tiny_deberta, device="cpu"))
    (one,), (two,) = (scores(ours, sentence, [sample])[1] for sample in (long, other))
    assert abs(one - two) > TOLERANCE


def test_a_real_classifier_on_real_passages(wikibio: list[dict[str, Any]]) -> None:
    models = os.environ.get("OPIK_CHECKEMBED_TEST_MODELS")
    if not models:
        pytest.skip("OPIK_CHECKEMBED_TEST_MODELS does not name a folder with models")
    folder = str(Path(models) / "nli")
    passage = wikibio[0]
    samples = passage["gpt3_text_samples"][:2]
    sentences, ours = scores(metric(folder), " ".join(passage["gpt3_sentences"][:3]), samples)

    theirs = nli_reference(folder).predict(sentences, "", samples)

    assert ours == pytest.approx(theirs, abs=TOLERANCE)
