"""The n-gram metric against selfcheckgpt 0.1.7, on the same sentences and tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from opik_checkembed import SelfCheckNgramMetric
from opik_checkembed.functional.ngram import NgramModel

PASSAGE = (
    "Ernst Öpik was an Estonian astronomer. He wasn't born in the U.S. but in Kunda, in 1893.  He paid $3.5 m. to "
    "Dr. Smith.\nHe died in Bangor, Northern Ireland."
)
SAMPLES = [
    "Ernst Öpik (1893–1985) was an astronomer. He was born in Kunda.",
    "Ernst Öpik was an Estonian astronomer who spent half of his life at Armagh Observatory in Northern Ireland.",
    "Ernst Öpik died in 1985. He wasn't a chemist.",
]


def scores(metric: SelfCheckNgramMetric, passage: str, samples: list[str]) -> list[float | None]:
    sentences = metric.splitter.split(passage)
    return [s.score for s in metric.check(passage, sentences, samples, {}).sentences]


def reference(n: int, statistic: str, lowercase: bool, sentences: list[str], passage: str, samples: list[str]) -> Any:
    from selfcheckgpt.modeling_selfcheck import SelfCheckNgram

    found: Any = SelfCheckNgram(n=n, lowercase=lowercase).predict(sentences, passage, samples)
    return found["sent_level"][f"{statistic}_neg_logprob"]


@pytest.mark.parametrize("statistic", ["max", "avg"])
@pytest.mark.parametrize(("n", "lowercase"), [(1, True), (1, False), (2, True), (3, True), (5, False)])
def test_sentence_scores_are_the_references(n: int, lowercase: bool, statistic: Any, en_core_web_sm: str) -> None:
    metric = SelfCheckNgramMetric(
        n=n, statistic=statistic, lowercase=lowercase, splitter=en_core_web_sm, store=None, track=False
    )
    sentences = [s.of(PASSAGE) for s in metric.splitter.split(PASSAGE)]

    ours = scores(metric, PASSAGE, SAMPLES)

    assert len(ours) == len(sentences) >= 4
    assert ours == pytest.approx(reference(n, statistic, lowercase, sentences, PASSAGE, SAMPLES), abs=1e-12)


@pytest.mark.parametrize("n", [1, 2])
def test_they_are_on_real_passages(n: int, en_core_web_sm: str, wikibio: list[dict[str, Any]]) -> None:
    metric = SelfCheckNgramMetric(n=n, splitter=en_core_web_sm, store=None, track=False)
    for row in wikibio[:2]:
        passage, samples = row["gpt3_text"], row["gpt3_text_samples"][:5]
        sentences = [s.of(passage) for s in metric.splitter.split(passage)]

        ours = scores(metric, passage, samples)

        assert ours == pytest.approx(reference(n, "max", True, sentences, passage, samples), abs=1e-12)


@pytest.mark.parametrize("smoothing", [1, 3])
def test_smoothed_probabilities_are_the_references(smoothing: int, en_core_web_sm: str) -> None:
    from selfcheckgpt.modeling_ngram import UnigramModel

    metric = SelfCheckNgramMetric(splitter=en_core_web_sm, smoothing=smoothing, store=None, track=False)
    theirs: Any = UnigramModel()
    for text in (PASSAGE, *SAMPLES):
        theirs.add(text)
    theirs.train(k=smoothing)
    sentences = [s.of(PASSAGE) for s in metric.splitter.split(PASSAGE)]

    found = theirs.evaluate([*sentences, "Zebras."])["sent_level"]["max_neg_logprob"]

    assert scores(metric, PASSAGE, SAMPLES) == pytest.approx(found[:-1], abs=1e-12)
    counted = [[t.lower() for t in metric.tokenizer.tokens(s)] for s in sentences]
    counted += [
        [t.lower() for t in metric.tokenizer.tokens(s.of(x))] for x in SAMPLES for s in metric.splitter.split(x)
    ]
    assert NgramModel(counted, smoothing=smoothing).surprises(["zebras"])[0] == pytest.approx(found[-1], abs=1e-12)


def test_where_the_reference_is_infinite_we_are_not(en_core_web_sm: str) -> None:
    from selfcheckgpt.modeling_ngram import UnigramModel

    theirs: Any = UnigramModel()
    theirs.add("A cat sat.")
    theirs.train()
    with np.errstate(divide="ignore"):
        found = theirs.evaluate(["A zebra sat."])["sent_level"]["max_neg_logprob"]

    assert found == [np.inf]  # an unseen token has probability 0 there
    assert NgramModel([["a", "cat", "sat", "."]]).surprises(["zebra"]) == [pytest.approx(np.log(5))]
