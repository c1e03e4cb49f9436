"""The MQAG metric against selfcheckgpt 0.1.7, on the same tiny models: scores, distances, questions, and its faults."""

from __future__ import annotations

import importlib
import random
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch

from opik_checkembed.functional.mqag import Distance, Scoring
from opik_checkembed.functional.selfcheck import SentenceScore
from opik_checkembed.metrics.selfcheck_mqag import SelfCheckMQAGMetric
from opik_checkembed.models.mqag import Distractors, Draw, Drawn, Stem
from opik_checkembed.models.mqag_answering import MultipleChoiceAnswerer
from opik_checkembed.models.mqag_generation import Seq2SeqDistractorGenerator, Seq2SeqQuestionGenerator
from opik_checkembed.splitters import Sentence
from tests.tiny_mqag import ANSWERABLE, ANSWERING, DISTRACTORS, QUESTIONS, passage, save_models

TOLERANCE = 1e-4
SAMPLES = 4
BETAS = {"beta1": 0.75, "beta2": 0.85}

Question = dict[str, Any]


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """Models as small as these only wait for each other in several threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models whose generators have one thing to say to each prompt (`top_k` is 1), so that both sides say the same."""
    return save_models(tmp_path_factory.mktemp("mqag"), top_k=1)


def modeling(name: str) -> Any:
    with warnings.catch_warnings():
        # Its regular expressions are no raw strings.
        warnings.filterwarnings("ignore", "invalid escape sequence", DeprecationWarning)
        return importlib.import_module(f"selfcheckgpt.modeling_{name}")


@pytest.fixture(scope="module")
def reference(folder: Path) -> Any:
    return modeling("selfcheck").SelfCheckMQAG(
        *(str(folder / n) for n in (QUESTIONS, DISTRACTORS, ANSWERING, ANSWERABLE))
    )


@pytest.fixture
def sampling(reference: Any) -> Iterator[None]:
    """The reference samples, for a while."""
    configs = [reference.g1_model.generation_config, reference.g2_model.generation_config]
    for config in configs:
        config.top_k = 50
    yield
    for config in configs:
        config.top_k = 1


@pytest.fixture(scope="module")
def texts() -> tuple[str, list[str]]:
    draw = random.Random(9)
    # One sample is long enough for the window of the attention to leave tokens out.
    return passage(draw, 5), [passage(draw, length) for length in (5, 1, 12, 3)]


def sentences_of(output: str) -> list[Sentence]:
    found = []
    for start in range(len(output)):
        if start == 0 or output[start - 2 : start] == ". ":
            end = output.index(".", start) + 1
            found.append(Sentence(start, end, 6))
    return found


def metric(folder: Path, **options: Any) -> SelfCheckMQAGMetric:
    models: dict[str, Any] = {
        "question_model": folder / QUESTIONS,
        "distractor_model": folder / DISTRACTORS,
        "answering_model": folder / ANSWERING,
    }
    if "distance" not in options:
        models["answerability_model"] = folder / ANSWERABLE
    return SelfCheckMQAGMetric(**{**models, **options})


def scored(ours: SelfCheckMQAGMetric, texts: tuple[str, list[str]]) -> tuple[SentenceScore, ...]:
    output, samples = texts
    return ours.check(output, sentences_of(output), samples, {}).sentences


def predicted(reference: Any, texts: tuple[str, list[str]], count: int, scoring: str, **options: Any) -> list[float]:
    output, samples = texts
    sentences = [sentence.of(output) for sentence in sentences_of(output)]
    with warnings.catch_warnings():
        # Where no question is valid it takes the mean of nothing.
        warnings.filterwarnings("ignore", "Mean of empty slice", RuntimeWarning)
        warnings.filterwarnings("ignore", "invalid value encountered", RuntimeWarning)
        scores: list[float] = reference.predict(sentences, output, samples, count, scoring, **options).tolist()
    return scores


def compare(ours: Sequence[SentenceScore], theirs: Sequence[float]) -> int:
    """Assert that the scores are equal, None standing for their nan; returns how many were numbers."""
    assert [one.score is None for one in ours] == [bool(np.isnan(score)) for score in theirs]
    known = [(one.score, score) for one, score in zip(ours, theirs, strict=True) if one.score is not None]
    assert [a for a, _ in known] == pytest.approx([b for _, b in known], abs=TOLERANCE)
    return len(known)


@pytest.mark.parametrize("scoring", get_args(Scoring))
def test_sentence_scores_are_equal_from_the_first_question_on(
    scoring: Scoring, folder: Path, reference: Any, texts: tuple[str, list[str]]
) -> None:
    # At a threshold of 0 every text answers.
    theirs = predicted(reference, texts, 2, scoring, AT=0.0, **BETAS)
    ours = scored(metric(folder, scoring=scoring, num_questions=2, threshold=0.0, **BETAS), texts)
    assert compare(ours, theirs) >= 4
    assert len({one.score for one in ours}) >= 3
    unscored = [one.detail["unscored"] for one in ours if one.score is None]
    assert unscored == ["no valid question came of it"] * len(unscored)


class Recorded:
    """Says what the reference drew."""

    def __init__(self, questions: dict[str, list[Question]]) -> None:
        self._drawn = questions
        self._of = {(q["question"], q["options"][0]): q for drawn in questions.values() for q in drawn}

    def questions(self, draws: Sequence[Draw]) -> list[Drawn]:
        found = []
        for draw in draws:
            drawn = self._drawn[draw.text]
            one = drawn[draw.number] if draw.number < len(drawn) else None
            found.append(Drawn("", "") if one is None else Drawn(one["question"], one["options"][0]))
        return found

    def distractors(self, stems: Sequence[Stem]) -> list[Distractors]:
        return [Distractors(tuple(self._of[stem.question, stem.answer]["options"][1:])) for stem in stems]


@pytest.fixture(scope="module")
def drawn() -> dict[str, list[Question]]:
    return {}


@pytest.fixture
def recorded(
    reference: Any, sampling: None, drawn: dict[str, list[Question]], monkeypatch: pytest.MonkeyPatch
) -> dict[str, list[Question]]:
    """What the reference samples for each sentence; where it breaks down, over more than three distractors, three."""
    module = modeling("selfcheck")
    generate = module.question_generation_sentence_level

    def kept(*arguments: Any) -> list[Question]:
        sentence = arguments[4]
        if sentence not in drawn:
            usable: dict[tuple[str, str], Question] = {}
            for one in generate(*arguments):
                options = [one["options"][0], *[option for option in one["options"][1:] if option][:3]]
                # Neither an empty question nor one with a single answer is one; see the tests below.
                if one["question"] and one["options"][0] and len(set(options)) > 1:
                    options += options[-1:] * (4 - len(options))
                    usable.setdefault((one["question"], options[0]), {**one, "options": options})
            drawn[sentence] = list(usable.values())
        return drawn[sentence]

    monkeypatch.setattr(module, "question_generation_sentence_level", kept)
    torch.manual_seed(0)
    return drawn


@pytest.mark.parametrize("scoring", get_args(Scoring))
def test_sentence_scores_are_equal_on_sampled_questions(
    scoring: Scoring, folder: Path, reference: Any, recorded: dict[str, list[Question]], texts: tuple[str, list[str]]
) -> None:
    theirs = predicted(reference, texts, 6, scoring, AT=0.0, **BETAS)
    models = Recorded(recorded)
    ours = metric(
        folder,
        scoring=scoring,
        threshold=0.0,
        num_questions=6,
        question_model=models,
        distractor_model=models,
        **BETAS,
    )
    assert compare(scored(ours, texts), theirs) >= 4
    assert sum(map(len, recorded.values())) >= 10


@pytest.mark.parametrize("scoring", ["counting", "bayes"])
def test_a_question_that_the_output_does_not_answer_is_left_out_and_no_half(
    scoring: Scoring, folder: Path, reference: Any, texts: tuple[str, list[str]]
) -> None:
    # With one question for each sentence both sides' decisions can be seen one by one.
    open_ = scored(metric(folder, scoring=scoring, num_questions=1, threshold=0.0), texts)
    own = sorted(one.detail["questions"][0]["answerability"][0] for one in open_ if one.score is not None)
    threshold = (own[0] + own[-1]) / 2
    theirs = predicted(reference, texts, 1, scoring, AT=threshold, beta1=0.8, beta2=0.8)
    ours = scored(metric(folder, scoring=scoring, num_questions=1, threshold=threshold), texts)
    decided = []
    for mine, score in zip(ours, theirs, strict=True):
        if not mine.detail["questions"]:
            continue
        answerable = [value >= threshold for value in mine.detail["questions"][0]["answerability"]]
        unsaid = not answerable[0] or (scoring == "counting" and not any(answerable[1:]))
        decided.append(not unsaid)
        if unsaid:
            assert score == 0.5
            assert mine.score is None
            assert "answer" in mine.detail["unscored"]
        else:
            assert mine.score == pytest.approx(score, abs=TOLERANCE)
    assert {True, False} == set(decided)


@pytest.fixture
def mqag(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The reference's other class, which takes its models from a configuration."""
    module = modeling("mqag")
    for name, model in (
        ("generation1_race", QUESTIONS),
        ("generation2", DISTRACTORS),
        ("answering", ANSWERING),
    ):
        monkeypatch.setattr(module.MQAGConfig, name, str(folder / model))
    return module.MQAG()


@pytest.mark.parametrize("distance", get_args(Distance))
def test_the_distances_of_the_tutorial_are_equal(
    distance: Distance, folder: Path, mqag: Any, texts: tuple[str, list[str]]
) -> None:
    _, samples = texts
    draw = random.Random(1)
    # The reference cannot do with a passage that no valid question comes of.
    output = next(text for text in (passage(draw, 2) for _ in range(20)) if mqag.generate(text, num_questions=1))
    theirs = [mqag.score(output, sample, num_questions=2) for sample in samples]
    ours = metric(folder, distance=distance, num_questions=2)
    (found,) = ours.check(output, ours.splitter.split(output), samples, {}).sentences
    assert (found.start, found.end, found.text) == (0, len(output), output)
    if distance == "hellinger":
        # The reference leaves out the root. Both of its questions are the same one here, so it can be drawn afterwards.
        expected = [float(np.sqrt(score["hellinger"] / np.sqrt(2))) for score in theirs]
    else:
        expected = [float(score["kl_div" if distance == "kl" else distance]) for score in theirs]
    assert found.per_sample == pytest.approx(expected, abs=TOLERANCE)
    assert found.score == pytest.approx(max(expected), abs=TOLERANCE)
    assert max(expected) > 0.1


def test_probabilities_are_equal_up_to_the_length_that_is_read(folder: Path, mqag: Any) -> None:
    draw = random.Random(4)
    from opik_checkembed.models.mqag import Choice

    for sentences in (1, 3, 9, 26):
        choice = Choice("where king sang?", ("rome", "a much longer oslo", "1904", "rome"), passage(draw, sentences))
        (theirs,) = mqag.answer([{"question": choice.question, "options": list(choice.options)}], choice.passage)
        (ours,) = MultipleChoiceAnswerer(folder / ANSWERING).answer([choice])
        assert ours.windows == 1
        assert ours.probabilities == pytest.approx(theirs, abs=TOLERANCE)


def test_questions_and_distractors_are_the_same_where_there_is_nothing_to_sample(
    folder: Path, reference: Any, texts: tuple[str, list[str]]
) -> None:
    output, _ = texts
    sentences = [sentence.of(output) for sentence in sentences_of(output)]
    questions = Seq2SeqQuestionGenerator(folder / QUESTIONS)
    distractors = Seq2SeqDistractorGenerator(folder / DISTRACTORS)
    drawn = questions.questions([Draw(text, 0) for text in sentences])
    valid = [one for one in drawn if one.question]
    made = iter(distractors.distractors([Stem(one.question, one.answer, output) for one in valid]))
    compared = 0
    for text, one in zip(sentences, drawn, strict=True):
        theirs = modeling("mqag").question_generation_sentence_level(
            reference.g1_model,
            reference.g1_tokenizer,
            reference.g2_model,
            reference.g2_tokenizer,
            text,
            output,
            1,
            "cpu",
        )
        if one.question:
            (question,) = theirs
            assert (question["question"], question["options"][0]) == (one.question, one.answer)
            assert question["options"][1:4] == list(next(made).texts)
            compared += 1
        else:
            assert theirs == []
    assert compared >= 3


def test_more_than_three_distractors_break_the_reference(
    folder: Path, reference: Any, monkeypatch: pytest.MonkeyPatch, texts: tuple[str, list[str]]
) -> None:
    output, samples = texts
    options = ["rome", "oslo", "bonn", "lima", "cairo"]
    question = {"question": "where king sang", "options": options}
    monkeypatch.setattr(modeling("selfcheck"), "question_generation_sentence_level", lambda *_: [question])
    with pytest.raises(ValueError, match="could not broadcast"):
        reference.predict(["A."], output, samples, 1, "counting", AT=0.0)
    models = Recorded({sentence.of(output): [question] for sentence in sentences_of(output)})
    ours = metric(folder, question_model=models, distractor_model=models, num_questions=1)
    checked = ours.check(output, sentences_of(output), samples, {})
    assert checked.sentences[0].detail["questions"][0]["options"] == options[:4]
    assert checked.notes == ("5 of 5 questions had more than 3 distractors, the first 3 are used",)


def test_fewer_valid_questions_than_asked_for_break_the_references_distances(mqag: Any) -> None:
    output = "king " * 3
    assert mqag.generate(output, num_questions=2) == []
    with pytest.raises(IndexError):
        mqag.score(output, output, num_questions=2)


def test_a_tag_of_html_breaks_the_reference(folder: Path, mqag: Any) -> None:
    from opik_checkembed.models.mqag import Choice

    question, options, text = "where king sang", ("rome", "oslo", "bonn", "lima"), "king sang at <s>rome</s> oslo."
    with pytest.raises(AssertionError, match="exactly three separator tokens"):
        mqag.answer([{"question": question, "options": list(options)}], text)
    (ours,) = MultipleChoiceAnswerer(folder / ANSWERING).answer([Choice(question, options, text)])
    (spaced,) = MultipleChoiceAnswerer(folder / ANSWERING).answer(
        [Choice(question, options, "king sang at < s>rome< /s> oslo.")]
    )
    assert sum(ours.probabilities) == pytest.approx(1)
    assert ours == spaced
