"""The NLI metric with a model whose probabilities can be worked out by hand."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed.errors import ConfigurationError, ModelUnavailable
from opik_checkembed.functional.nli import NLIProbabilities
from opik_checkembed.functional.selfcheck import SelfCheckResult, SentenceScore
from opik_checkembed.metrics.selfcheck_nli import SelfCheckNLIMetric
from opik_checkembed.models import deberta_once
from opik_checkembed.models.nli import Pair, TransformerNLI
from tests.tiny_nli import save_deberta

DEADLINE = 60.0


class Missing:
    """Contradicted by the share of the first text's words that the second lacks; the rest is entailed. Reads `room`
    words at once."""

    def __init__(self, room: int | None = None) -> None:
        self._room = room
        self.asked: list[Pair] = []

    def room(self) -> int | None:
        return self._room

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def probabilities(self, pairs: Sequence[Pair]) -> NLIProbabilities:
        self.asked += pairs
        missing = []
        for first, second in pairs:
            words = set(first.replace(".", "").split())
            missing.append(len(words - set(second.replace(".", "").split())) / max(len(words), 1))
        contradiction = np.array(missing)
        return NLIProbabilities(entailment=1 - contradiction, contradiction=contradiction)


def metric(model: Any = None, **changed: Any) -> SelfCheckNLIMetric:
    return SelfCheckNLIMetric(
        nli_model=model or Missing(), **{"store": None, "track": False, "min_samples": 1, **changed}
    )


def score(judging: SelfCheckNLIMetric, output: Any, samples: Any) -> tuple[ScoreResult, str]:
    found = judging.score(input="Who?", output=output, samples=samples)
    assert isinstance(found, ScoreResult)
    assert found.reason is not None
    return found, found.reason


def sentences(found: ScoreResult) -> tuple[SentenceScore, ...]:
    assert found.metadata is not None
    return SelfCheckResult.from_dict(json.loads(json.dumps(found.metadata["evidence"]))).sentences


OUTPUT = "Anna was born in Kunda. Anna later died in Bangor."
SAMPLES = ["Anna was born in Kunda. She liked red apples.", "He sang an opera. Anna later died in Rome."]


def test_every_sentence_with_its_evidence() -> None:
    found, reason = score(metric(), OUTPUT, SAMPLES)

    # Of {Anna, was, born, in, Kunda} sample 2 lacks 3; of {Anna, later, died, in, Bangor} sample 1 lacks 3, sample 2 1.
    first, second = sentences(found)
    assert first.per_sample == pytest.approx((0, 3 / 5))
    assert second.per_sample == pytest.approx((3 / 5, 1 / 5))
    assert first.score == pytest.approx(0.3)
    assert found.value == second.score == pytest.approx(0.4)
    assert [OUTPUT[s.start : s.end] for s in (first, second)] == [first.text, second.text]
    assert first.against is not None
    assert (first.against.sample, first.against.text) == (1, "Anna later died in Rome.")
    assert second.support is not None
    assert (second.support.sample, second.support.text) == (1, "Anna later died in Rome.")
    for place in (first.against, second.support):
        assert SAMPLES[1][place.start : place.end] == place.text
    assert second.support.score == pytest.approx(1 / 5)
    assert first.detail == {}
    assert reason.startswith(
        "Sentence 2 of 2 is supported least, 0.400 (0 consistent to 1 hallucinated, lower is better): 'Anna later died "
        "in Bangor.'; sample 1 contradicts it most (0.60): 'Anna was born in Kunda.'"
    )
    assert "windows" not in reason
    assert "fast" not in reason


def test_the_mean_over_sentences() -> None:
    found, _ = score(metric(aggregate="mean"), OUTPUT, SAMPLES)
    assert found.value == pytest.approx(0.35)


def test_the_sentence_goes_first_unless_the_sample_is_asked_to() -> None:
    model = Missing()
    score(metric(model), OUTPUT, SAMPLES)
    told = ("Anna was born in Kunda.", "Anna later died in Bangor.")
    assert set(model.asked) == {(text, sample) for text in told for sample in SAMPLES}
    turned = Missing()
    found, _ = score(metric(turned, first="sample"), OUTPUT, SAMPLES)
    assert set(turned.asked) == {(sample, text) for text, sample in model.asked}
    # Sample 1 has 9 words, "Anna was born in Kunda" 5 of them; sample 2 has 9, of which the sentence holds 2.
    assert sentences(found)[0].per_sample == pytest.approx((4 / 9, 7 / 9))


def test_equal_pairs_are_read_once() -> None:
    model = Missing()
    found, reason = score(metric(model), "Anna was born in Kunda. Anna was born in Kunda.", [SAMPLES[0]] * 5)
    assert len(model.asked) == 1
    assert found.value == 0
    assert "identical" in reason


def test_one_model_for_every_metric_that_uses_it() -> None:
    model = Missing()
    score(metric(model), OUTPUT, SAMPLES)
    asked = len(model.asked)
    score(metric(model, name="another", aggregate="mean"), OUTPUT, SAMPLES)
    assert len(model.asked) == asked


def test_long_samples_are_read_in_windows_and_the_reason_says_so() -> None:
    long = "He sang one long opera there. " * 3 + "Anna was born in Kunda. " + "He sang one more opera. " * 3
    found, reason = score(metric(Missing(room=42)), OUTPUT, [long, SAMPLES[0]])
    first, second = sentences(found)
    assert "1 of 2 samples are longer than the NLI model reads and were read in windows" in reason
    # Of three windows the middle one holds the sentence whole (0, taken as 1e-6) and the others nothing of it (1): the
    # mean of the log-odds is a third of those of 1e6, odds of 100.
    assert first.detail == {"windows": 3}
    assert first.per_sample == pytest.approx((100 / 101, 0), abs=1e-4)
    assert second.per_sample[0] is not None
    assert second.per_sample[0] > 100 / 101
    assert first.support is not None
    assert first.support.sample == 1
    assert second.against is not None
    assert long[second.against.start : second.against.end] == second.against.text


def test_the_deciding_window_of_a_long_sample_is_the_evidence() -> None:
    long = "He sang one long opera there. " * 3 + "Anna was born in Kunda. " + "He sang one more opera. " * 3
    found, _ = score(metric(Missing(room=42)), "Anna was born in Kunda.", [long])
    (only,) = sentences(found)
    assert only.support is not None
    assert only.support.text == "Anna was born in Kunda."
    assert only.against is not None
    assert only.against.text.startswith("He sang")


def test_a_window_within_one_endless_sentence_is_its_own_evidence() -> None:
    endless = "and then " * 60 + "he sang"
    found, reason = score(metric(Missing(room=42)), "Anna was born in Kunda.", [endless])
    (only,) = sentences(found)
    assert "read in windows" in reason
    assert only.against is not None
    assert endless[only.against.start : only.against.end] == only.against.text
    assert len(only.against.text) < len(endless)


def test_an_endless_sentence_is_read_in_pieces() -> None:
    output = "Anna was born in Kunda and " * 20 + "died in Bangor."
    found, reason = score(metric(Missing(room=42)), output, [SAMPLES[0]])
    assert "1 of 1 sentences are longer than the NLI model reads and were read in pieces" in reason
    # The last piece is the worst: sample 1 lacks at least "and", "died" and "Bangor".
    assert 0 < found.value < 1


def test_the_fast_mode_approximates_the_scores_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = save_deberta(tmp_path, [OUTPUT, *SAMPLES])
    exact, _ = score(metric(folder), OUTPUT, SAMPLES)
    fast, reason = score(metric(folder, fast=True), OUTPUT, SAMPLES)
    TransformerNLI(folder).release()
    # With all of a sample read beside each sentence there is nothing to approximate.
    monkeypatch.setattr(deberta_once, "SHARE", 1.0)
    whole, _ = score(metric(folder, fast=True, first="sample"), OUTPUT, SAMPLES)
    wanted, _ = score(metric(folder, first="sample"), OUTPUT, SAMPLES)

    assert "Fast mode: each sample was read once for all sentences, which approximates the scores" in reason
    for one, other in zip(sentences(fast), sentences(exact), strict=True):
        assert one.per_sample != pytest.approx(other.per_sample, abs=1e-4)
        assert (one.start, one.end, one.text) == (other.start, other.end, other.text)
    for one, other in zip(sentences(whole), sentences(wanted), strict=True):
        assert one.per_sample == pytest.approx(other.per_sample, abs=1e-5)


@pytest.mark.parametrize(
    ("output", "samples", "value"),
    [
        ("Anna was born in Kunda.", ["Kunda"], 4 / 5),  # a sample without a sentence is read whole
        ("Anna was born in Kunda.", ["Kunda", "Anna was born in Kunda."], 2 / 5),
        ("- Anna was born in Kunda\n- Anna died in Bangor", ["Anna was born in Kunda"], 1 / 2),
        ("彼女は一九零一年に東京で生まれた。", ["彼女は東京で生まれた。"], 1),
        ("Anna was born in Kunda.\n```python\nprint(1)\n```", ["Anna was born in Kunda."], 0),
    ],
)
def test_outputs_and_samples_of_every_kind(output: str, samples: list[str], value: float) -> None:
    found, _ = score(metric(), output, samples)
    assert not found.scoring_failed
    if output.startswith("-"):
        assert found.value == pytest.approx(value, abs=0.2)
    else:
        assert found.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("", "empty"),
        ("   ", "blank"),
        ("Hello!", "no sentence to check"),
        ("```python\nprint('Anna was born in Kunda')\n```", "no sentence to check"),
        (["Anna", "was"], "list"),
        (None, "None"),
    ],
)
def test_outputs_without_a_sentence(output: Any, said: str) -> None:
    found, reason = score(metric(), output, SAMPLES)
    assert found.scoring_failed
    assert said in reason


def test_no_samples() -> None:
    found, reason = score(metric(), OUTPUT, [])
    assert found.scoring_failed
    assert "`samples` is empty" in reason


def test_two_hundred_sentences() -> None:
    output = " ".join(f"Person number {i} was born in Kunda." for i in range(200))
    found, _ = score(metric(), output, ["Person number 7 was born in Kunda."] * 3)
    assert len(sentences(found)) == 200
    # Only its number is missing, one word of seven.
    assert found.value == pytest.approx(1 / 7)


def test_a_model_that_fails_fails_the_item() -> None:
    class Down(Missing):
        def probabilities(self, pairs: Sequence[Pair]) -> NLIProbabilities:
            raise ModelUnavailable("the lights are out")

    found, reason = score(metric(Down()), OUTPUT, SAMPLES)
    assert found.scoring_failed
    assert reason == "the lights are out"


def test_a_model_of_one_relation() -> None:
    class EntailmentOnly(Missing):
        def probabilities(self, pairs: Sequence[Pair]) -> NLIProbabilities:
            return NLIProbabilities(entailment=super().probabilities(pairs).entailment)

    assert score(metric(EntailmentOnly()), OUTPUT, SAMPLES)[0].value == pytest.approx(0.4)


def test_many_threads_agree_with_one() -> None:
    judging = metric()
    outputs = [f"Anna was born in Kunda. Number {i} later died in Bangor." for i in range(24)]
    alone = [score(metric(), output, SAMPLES)[0].value for output in outputs]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda o: score(judging, o, SAMPLES)[0].value, outputs, timeout=DEADLINE))
    assert together == alone


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"first": "premise"}, "first must be 'sentence' or 'sample'"),
        ({"fast": "yes"}, "fast must be True or False"),
        ({"fast": True}, "this one is a Missing: leave fast=False"),
        ({"labels": {"contradiction": 1}}, "labels and device are for a name or folder"),
        ({"nli_model": 3}, "nli_model must be a model name"),
        ({"nli_model": "/no/such/folder"}, "there is no folder"),
    ],
)
def test_arguments_that_cannot_work(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        SelfCheckNLIMetric(**{"nli_model": Missing(), "store": None, "track": False, **options})


def test_a_folder_with_unknown_labels_is_refused_at_once(tmp_path: Path) -> None:
    names = {str(i): f"LABEL_{i}" for i in range(3)}
    config = {"architectures": ["BertForSequenceClassification"], "id2label": names}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ConfigurationError, match=r"LABEL_2.*labels=\{"):
        metric(str(tmp_path))
    assert metric(str(tmp_path), labels={"contradiction": 0, "entailment": 2}).higher_is_better is False


def test_importing_and_constructing_loads_nothing_heavy() -> None:
    code = (
        # Opik imports bert_score, and with it torch, where that is installed.
        "import sys; sys.modules['bert_score'] = None; "
        "from opik_checkembed.metrics.selfcheck_nli import SelfCheckNLIMetric as M; M(store=None, track=False); "
        "heavy = {'torch', 'transformers', 'spacy'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=DEADLINE)


def test_the_default_is_the_papers_model() -> None:
    module = importlib.import_module("opik_checkembed.models.nli")
    assert SelfCheckNLIMetric(store=None, track=False).nli is module.shared_nli("potsawee/deberta-v3-large-mnli")
