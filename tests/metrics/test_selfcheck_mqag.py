"""The MQAG metric: its two forms on models whose answers can be worked out by hand, and what cannot be scored."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.mqag import Distance
from opik_checkembed.functional.selfcheck import SelfCheckResult
from opik_checkembed.local import evaluate_locally
from opik_checkembed.metrics.selfcheck_mqag import SelfCheckMQAGMetric
from opik_checkembed.models.mqag import Answerable, Choice, Chosen, Distractors, Draw, Drawn, Openly, Stem

OUTPUT = "She was born in Bergen. She died in Oslo."
SAMPLES = ["She was born in Bergen. She died in Rome.", "Born in Lima, she died in Oslo.", "I do not know."]
PLACES = ("Bergen", "Oslo", "Rome", "Lima")


class Places:
    """Asks for the place in a sentence, and answers with the place that follows the sentence's verb."""

    def __init__(self) -> None:
        self.batches: list[tuple[str, int]] = []

    def questions(self, draws: Sequence[Draw]) -> list[Drawn]:
        self.batches.append(("questions", len(draws)))
        found = []
        for draw in draws:
            place = next((place for place in PLACES if place in draw.text), "")
            found.append(Drawn(f"Where was she {'born' if 'born' in draw.text else 'dead'}?", place))
        return found

    def distractors(self, stems: Sequence[Stem]) -> list[Distractors]:
        self.batches.append(("distractors", len(stems)))
        return [Distractors(tuple(place for place in PLACES if place != stem.answer)) for stem in stems]

    def answer(self, choices: Sequence[Choice]) -> list[Chosen]:
        self.batches.append(("answer", len(choices)))
        found = []
        for choice in choices:
            _, _, after = choice.passage.lower().partition("born" if "born" in choice.question else "died")
            said = [after.find(option.lower()) for option in choice.options]
            first = min((place for place in said if place >= 0), default=-1)
            row = [0.7 if first >= 0 and place == first else 0.1 for place in said]
            found.append(Chosen(tuple(np.array(row) / sum(row))))
        return found

    def answerable(self, asked: Sequence[Openly]) -> list[Answerable]:
        self.batches.append(("answerable", len(asked)))
        return [Answerable(0.0 if "not know" in one.passage else 1.0) for one in asked]


def metric(models: Any = None, **options: Any) -> SelfCheckMQAGMetric:
    models = models or Places()
    given: dict[str, Any] = {
        "question_model": models,
        "distractor_model": models,
        "answering_model": models,
        "num_questions": 1,
        "store": None,
        "track": False,
    }
    if options.get("distance") is None:
        given["answerability_model"] = models
    return SelfCheckMQAGMetric(**{**given, **options})


def scored(output: Any = OUTPUT, samples: Any = SAMPLES, models: Any = None, **options: Any) -> ScoreResult:
    result = metric(models, **options).score(output=output, samples=samples)
    assert isinstance(result, ScoreResult)
    return result


def sentences(result: ScoreResult) -> list[dict[str, Any]]:
    assert result.metadata is not None
    found: list[dict[str, Any]] = result.metadata["evidence"]["sentences"]
    return found


@pytest.mark.parametrize(
    ("scoring", "value", "alone"),
    [
        # Two samples answer, one of them otherwise.
        ("counting", 0.5, [0.0, 1.0, None]),
        ("bayes", 0.5, [0.2, 0.8, 0.5]),
        ("bayes_with_alpha", 0.5, [0.2, 0.8, 0.5]),
        (None, 0.5, [0.2, 0.8, 0.5]),
    ],
)
def test_sentence_scores_are_worked_out_by_hand(scoring: Any, value: float, alone: list[float | None]) -> None:
    result = scored(scoring=scoring)

    assert not result.scoring_failed
    assert result.value == pytest.approx(value)
    first, second = sentences(result)
    assert first["per_sample"] == pytest.approx(alone)
    # About her death it is the other way round.
    assert second["per_sample"] == pytest.approx([alone[1], alone[0], alone[2]])
    assert first["score"] == second["score"] == pytest.approx(value)
    assert OUTPUT[first["start"] : first["end"]] == first["text"] == "She was born in Bergen."
    assert first["against"]["sample"] == 1
    assert first["against"]["text"] == SAMPLES[1]
    assert first["support"]["sample"] == 0
    (question,) = first["detail"]["questions"]
    assert question["question"] == "Where was she born?"
    assert question["options"] == ["Bergen", "Oslo", "Rome", "Lima"]
    assert question["answers"][:3] == [0, 0, 3]
    assert question["answerability"] == [1, 1, 1, 0]
    assert question["score"] == first["score"]


def test_the_reason_says_what_was_asked_and_answered() -> None:
    assert scored(scoring="counting").reason == (
        "Sentence 1 of 2 is supported least, 0.500 (0 consistent to 1 hallucinated, lower is better): 'She was born in "
        "Bergen.'; asked 'Where was she born?', the output answers 'Bergen', and 1 of 3 samples answer otherwise "
        "(sample 2: 'Lima')."
    )
    same = scored(samples=[OUTPUT, "Born in Bergen, died in Oslo."])
    assert "asked 'Where was she born?', the output answers 'Bergen', and so do all 2 samples" in str(same.reason)
    assert same.value == pytest.approx(1 / 17)


def test_the_mean_over_sentences() -> None:
    result = scored(samples=["Born in Bergen, died in Rome."], min_samples=1, aggregate="mean", scoring="counting")
    assert result.value == 0.5
    assert [one["score"] for one in sentences(result)] == [0, 1]


@pytest.mark.parametrize(
    ("distance", "one"),
    [
        ("total_variation", 0.6),
        ("kl", 0.6 * math.log(7)),
        ("hellinger", math.sqrt((math.sqrt(0.7) - math.sqrt(0.1)) ** 2)),
        ("counting", 1.0),
    ],
)
def test_distances_are_worked_out_by_hand(distance: Any, one: float) -> None:
    class FromTheWhole(Places):
        def questions(self, draws: Sequence[Draw]) -> list[Drawn]:
            assert {draw.text for draw in draws} == {OUTPUT}
            return [Drawn("Where was she born?", "Bergen"), Drawn("Where was she dead?", "Oslo")]

    samples = [OUTPUT, "Born in Bergen, she died in Rome.", "Born in Lima, she died in Rome."]
    result = scored(samples=samples, models=FromTheWhole(), distance=distance, num_questions=2)

    assert result.value == pytest.approx(one)
    (whole,) = sentences(result)
    assert whole["per_sample"] == pytest.approx([0, one / 2, one])
    assert (whole["start"], whole["end"], whole["text"]) == (0, len(OUTPUT), OUTPUT)
    assert whole["against"]["sample"] == 2
    assert whole["support"]["sample"] == 0
    assert [question["answerability"] for question in whole["detail"]["questions"]] == [None, None]


def test_each_distance_says_its_scale() -> None:
    said = {distance: metric(distance=distance).scale for distance in get_args(Distance)}
    assert said["total_variation"] == "total variation, 0 alike to 1 different, lower is better"
    assert said["kl"] == "Kullback-Leibler divergence, in nats, 0 alike and without upper bound, lower is better"
    assert metric().scale == "0 consistent to 1 hallucinated, lower is better"
    assert said["kl"] in str(scored(distance="kl").reason)


def test_short_pieces_belong_to_the_whole_output() -> None:
    output = "  Hi! She was born in Bergen. OK.\n"
    (whole,) = sentences(scored(output, distance="total_variation"))
    assert whole["text"] == output.strip()
    assert "fewer than" not in str(scored(output, distance="total_variation").reason)


def test_an_invalid_question_is_no_half() -> None:
    result = scored("She was born in Bergen. She was rather tall.", scoring="counting")

    first, second = sentences(result)
    assert first["score"] == 0.5
    assert second["score"] is None
    assert second["per_sample"] == [None, None, None]
    assert second["against"] is None
    assert second["detail"]["unscored"] == "no valid question came of it"
    assert "1 of 2 sentences could not be scored (no valid question came of it)" in str(result.reason)
    assert "1 of 2 draws gave no valid question" in str(result.reason)


@pytest.mark.parametrize("options", [{}, {"distance": "hellinger"}])
def test_no_valid_question_at_all_is_not_scored(options: dict[str, Any]) -> None:
    result = scored("She was rather tall. She liked to read.", **options)

    assert result.scoring_failed
    assert "no valid question came of it" in str(result.reason)


def test_no_answer_is_no_half() -> None:
    result = scored(samples=["I do not know.", "I do not know it."], scoring="counting")

    assert result.scoring_failed
    assert "of its 1 questions no sample answers 1" in str(result.reason)
    # Bayes has a prior to fall back on.
    assert scored(samples=["I do not know.", "I do not know it."], scoring="bayes").value == 0.5
    lost = scored("She was born in Bergen, I do not know.", scoring="bayes")
    assert lost.scoring_failed
    assert "of its 1 questions the output itself does not answer 1" in str(lost.reason)


def test_what_was_not_read_is_said() -> None:
    class Long(Places):
        def questions(self, draws: Sequence[Draw]) -> list[Drawn]:
            return [one._replace(windows=4) for one in super().questions(draws)]

        def distractors(self, stems: Sequence[Stem]) -> list[Distractors]:
            return [Distractors(("Oslo", "Rome"), 2) for _ in stems]

        def answer(self, choices: Sequence[Choice]) -> list[Chosen]:
            windows = [2 if "not know" in choice.passage else 1 for choice in choices]
            return [one._replace(windows=n) for one, n in zip(super().answer(choices), windows, strict=True)]

    reason = str(scored(models=Long()).reason)
    assert "6 windows of the output had no question drawn from them" in reason
    assert "2 of 2 questions got distractors from a part of the output only" in reason
    assert "2 of 2 questions had fewer than 3 distractors, the last is repeated" in reason
    assert "1 of 4 texts are longer than a model reads and were read in windows" in reason


def test_identical_samples_are_answered_once() -> None:
    models = Places()
    result = scored(samples=[SAMPLES[0]] * 5, models=models)

    assert "identical" in str(result.reason)
    # Two sentences, each asked of the output and of one sample.
    assert dict(models.batches) == {"questions": 2, "distractors": 2, "answer": 4, "answerable": 4}


def test_one_item_is_one_batch_for_each_model_and_a_second_metric_asks_nothing() -> None:
    models = Places()
    output = " ".join(f"She was born in {PLACES[number % 4]} in {1900 + number}." for number in range(200))
    samples = [f"{output} Or so, {number}." for number in range(20)]
    both = [metric(models), metric(models, scoring="counting")]
    for one in both:
        result = one.score(output=output, samples=samples)
        assert isinstance(result, ScoreResult)
        assert len(sentences(result)) == 200
    assert [name for name, _ in models.batches] == ["questions", "distractors", "answer", "answerable"]


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("", "empty"),
        ("Oslo", "holds no sentence to check ('Oslo')"),
        ("```\nx = 1\ny = 2\n```", "holds no sentence to check"),
        (["She was born in Oslo."], "output"),
        (None, "output"),
        ("She was born in \ud800 Oslo.", "half of a surrogate pair"),
    ],
)
@pytest.mark.parametrize("form", [{}, {"distance": "total_variation"}])
def test_outputs_that_cannot_be_scored(output: Any, says: str, form: dict[str, Any]) -> None:
    result = scored(output, **form)

    assert result.scoring_failed
    assert says in str(result.reason)


@pytest.mark.parametrize("samples", [[], [""], "not a list"])
def test_samples_that_are_none(samples: Any) -> None:
    assert scored(samples=samples).scoring_failed


def test_one_sample_and_other_scripts_are_enough() -> None:
    assert scored(samples=SAMPLES[:1], min_samples=1).value == pytest.approx(0.8)
    result = scored("彼女はOsloで生まれた。彼女はRomeで死んだ。", ["彼女はOsloで生まれた。"] * 2)
    assert len(sentences(result)) == 2
    listed = scored("- She was born in Bergen\n- She died in Oslo\n")
    assert len(sentences(listed)) == 2


def test_a_model_that_is_missing_or_fails_fails_the_item_alone(tmp_path: Path) -> None:
    class Failing(Places):
        def answer(self, choices: Sequence[Choice]) -> list[Chosen]:
            if any("tall" in choice.passage for choice in choices):
                raise MemoryError("no room")
            return super().answer(choices)

    one = metric(Failing())
    tall = one.score(output="She was born in Oslo, tall.", samples=SAMPLES)
    well = one.score(output=OUTPUT, samples=SAMPLES)
    assert isinstance(tall, ScoreResult)
    assert isinstance(well, ScoreResult)
    assert tall.scoring_failed
    assert tall.reason == "Failing.answer failed: MemoryError: no room"
    assert not well.scoring_failed
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    broken = scored(answering_model=tmp_path)
    assert broken.scoring_failed
    assert "could not be loaded" in str(broken.reason)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"scoring": "counting", "distance": "kl"}, "give one of them"),
        ({"scoring": "median"}, "scoring must be one of 'counting', 'bayes', 'bayes_with_alpha', not 'median'"),
        ({"distance": "cosine"}, "distance must be one of 'total_variation', 'kl', 'hellinger', 'counting'"),
        ({"num_questions": 0}, "num_questions must be a whole number of at least 1"),
        ({"num_questions": True}, "num_questions must be a whole number"),
        ({"threshold": 1.5}, "threshold must be a number from 0 to 1"),
        ({"beta1": "high"}, "beta1 must be a number from 0 to 1"),
        ({"beta1": 1.0}, "beta1 and beta2 must lie below 1"),
        ({"beta1": 0.4, "beta2": 0.6}, "add up to more than 1"),
        ({"distance": "kl", "splitter": "en_core_web_sm"}, "splitter cannot be given with distance"),
        ({"distance": "kl", "aggregate": "mean", "answerability_model": Places()}, "aggregate and answerability_model"),
        ({"distance": "kl", "language": "?"}, "language must be a code"),
        (
            {"question_model": 3},
            r"question_model must be a model name, a folder, or an object with questions\(...\), not 3",
        ),
        ({"answering_model": Places}, "answering_model must be"),
        ({"distractor_model": "/no/such/folder"}, "there is no folder"),
        ({"answerability_model": "a/b/c"}, "there is no folder"),
        ({"question_model": "a/b", "seed": -1}, "seed must be a whole number of at least 0"),
        ({"answering_model": "a/b", "device": 3}, "device must be a name"),
    ],
)
def test_arguments_that_cannot_work(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        metric(**options)


def test_defaults_are_the_published_models_and_nothing_is_loaded_before_it_is_used() -> None:
    code = (
        "import sys\n"
        # Opik loads it, and with it torch, where it is installed.
        "sys.modules['bert_score'] = None\n"
        "from opik_checkembed.metrics.selfcheck_mqag import SelfCheckMQAGMetric\n"
        "for form in ({}, {'distance': 'kl'}):\n"
        "    one = SelfCheckMQAGMetric(model='m', store=None, **form)\n"
        "    print(one.num_questions, one.mqag)\n"
        "print([name for name in ('torch', 'transformers', 'spacy', 'litellm') if name in sys.modules])\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120).stdout
    sentence, whole, loaded = said.splitlines()
    assert sentence.startswith(
        "5 MQAG(Seq2SeqQuestionGenerator('potsawee/t5-large-generation-squad-QuestionAnswer', seed=0)"
    )
    assert "AnswerabilityClassifier('potsawee/longformer-large-4096-answerable-squad2')" in sentence
    assert whole.startswith(
        "10 MQAG(Seq2SeqQuestionGenerator('potsawee/t5-large-generation-race-QuestionAnswer', seed=0)"
    )
    assert "Answerability" not in whole
    assert loaded == "[]"


def test_the_result_is_json_and_reads_back() -> None:
    result = scored(distance="kl")
    assert result.metadata is not None
    evidence = json.loads(json.dumps(result.metadata["evidence"]))
    again = SelfCheckResult.from_dict({name: evidence[name] for name in ("sentences", "aggregate")})
    assert again.value == result.value


def test_in_an_evaluation_of_many_threads_scores_are_those_of_one() -> None:
    items = [{"input": f"{n}?", "samples": [SAMPLES[n % 2]]} for n in range(12)]
    models = Places()
    outcome = evaluate_locally(
        items,
        lambda item: {"output": f"She was born in {PLACES[int(item['input'][:-1]) % 4]}."},
        [metric(models, min_samples=1)],
        progress=False,
    )
    values = [item.scores[0].value for item in outcome.items]
    assert len(values) == 12
    # Bergen, Oslo, Rome and Lima in turn; the samples say Bergen and Lima in turn.
    assert values == pytest.approx([0.2, 0.8, 0.8, 0.2] * 3)


def test_release_frees_the_models() -> None:
    class Held(Places):
        released = 0

        def release(self) -> None:
            self.released += 1

    models = Held()
    metric(models).release()
    assert models.released == 4
    assert "RuleSplitter('en')" in repr(metric(distance="kl").splitter)
