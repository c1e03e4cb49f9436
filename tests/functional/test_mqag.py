"""MQAG's numbers: by hand, by their properties, and where nothing can be said."""

from __future__ import annotations

import json
import math
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed.functional.mqag import (
    DISTANCES,
    AnsweredQuestion,
    Distance,
    Scoring,
    bayes,
    bayes_with_alpha,
    counting,
    four_options,
    hellinger,
    kl_divergence,
    passage_score,
    sentence_score,
    top_differs,
    total_variation,
)

OPTIONS = ("rome", "oslo", "bonn", "lima")


def asked(answers: list[int], answerability: list[float] | None = None) -> AnsweredQuestion:
    """The output's answer and the samples', each given with .7."""
    rows = np.full((len(answers), 4), 0.1)
    rows[range(len(answers)), answers] = 0.7
    return AnsweredQuestion("where?", OPTIONS, rows, None if answerability is None else np.array(answerability))


def test_counting_is_the_share_of_answering_samples_that_say_otherwise() -> None:
    assert counting(asked([0, 0, 1, 2, 3], [1, 1, 1, 1, 0.49])) == 2 / 3
    assert counting(asked([0, 0, 1, 2, 3], [1, 1, 1, 1, 0.5])) == 3 / 4
    assert counting(asked([0, 0, 1], [1, 0.2, 0.3]), threshold=0.3) == 1


def test_counting_says_nothing_where_the_reference_says_half() -> None:
    assert counting(asked([0, 1, 1], [0.49, 1, 1])) is None
    assert counting(asked([0, 1, 1], [1, 0.4, 0.4])) is None


def test_bayes_by_hand() -> None:
    # g1 = .6 / .1 = 6, g2 = .9 / .4 = 2.25; one match, two mismatches.
    question = asked([0, 0, 1, 2, 3], [1, 1, 1, 1, 0.1])
    assert bayes(question, beta1=0.9, beta2=0.6) == pytest.approx(2.25**2 / (6 + 2.25**2), abs=1e-12)
    assert bayes(asked([0, 1], [0.4, 1])) is None
    # No sample answers: the prior.
    assert bayes(asked([0, 1], [1, 0.4])) == 0.5


def test_bayes_with_alpha_counts_samples_as_far_as_they_answer() -> None:
    question = asked([0, 0, 1, 2], [0.0, 0.5, 0.25, 0.5])
    assert bayes_with_alpha(question) == pytest.approx(4**0.75 / (4**0.5 + 4**0.75), abs=1e-12)


def test_bayes_does_not_overflow() -> None:
    many = asked([0] + [1] * 2000, [1.0] * 2001)
    assert bayes(many, beta1=0.999, beta2=0.999) == 1.0
    assert bayes_with_alpha(asked([0] * 2001, [1.0] * 2001), beta1=0.999, beta2=0.999) == 0.0


@given(st.lists(st.integers(0, 3), min_size=2, max_size=8), st.data())
def test_more_contradiction_never_lowers_a_score(answers: list[int], data: st.DataObject) -> None:
    answerable = data.draw(st.lists(st.floats(0, 1), min_size=len(answers), max_size=len(answers)))
    before = asked(answers, answerable)
    flipped = asked([answers[0], (answers[0] + 1) % 4, *answers[2:]], answerable)
    for score in (counting, bayes, bayes_with_alpha):
        low, high = score(before), score(flipped)
        assert (low is None) == (high is None)
        if low is not None and high is not None:
            assert 0 <= low <= high + 1e-12
            assert high <= 1


@pytest.mark.parametrize("betas", [(0.0, 0.8), (0.8, 1.0), (0.5, 0.5), (0.2, 0.7), (math.nan, 0.8)])
def test_betas_under_which_a_match_would_accuse_are_refused(betas: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="add up to more than 1"):
        bayes(asked([0, 0], [1, 1]), beta1=betas[0], beta2=betas[1])
    with pytest.raises(ValueError, match="add up to more than 1"):
        bayes_with_alpha(asked([0, 0], [1, 1]), beta1=betas[0], beta2=betas[1])


def test_distances_by_hand() -> None:
    p, q = [0.5, 0.3, 0.2, 0.0], [0.1, 0.3, 0.2, 0.4]
    assert float(total_variation(p, q)) == pytest.approx(0.4)
    assert float(hellinger(p, q)) == pytest.approx(math.sqrt(((0.5**0.5 - 0.1**0.5) ** 2 + 0.4) / 2), abs=1e-12)
    assert float(kl_divergence(p, q)) == pytest.approx(0.5 * math.log(5), abs=1e-9)
    assert float(top_differs(p, q)) == 1.0
    # What q rules out and p does not costs much, and is still finite.
    assert float(kl_divergence(q, p)) == pytest.approx(0.1 * math.log(0.2) + 0.4 * math.log(0.4 / 1e-12), abs=1e-6)


distributions = st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4).filter(lambda row: sum(row) > 0.01)


@given(distributions, distributions)
def test_distances_are_distances(first: list[float], second: list[float]) -> None:
    p, q = np.array(first) / sum(first), np.array(second) / sum(second)
    for name, distance in DISTANCES.items():
        assert float(distance(p, p)) == pytest.approx(0, abs=1e-9)
        assert -1e-9 <= float(distance(p, q)) <= (28 if name == "kl" else 1 + 1e-9)
        if name != "kl":
            assert float(distance(p, q)) == pytest.approx(float(distance(q, p)))


def test_a_sentence_has_the_mean_of_its_questions_and_what_each_sample_alone_gives() -> None:
    questions = [asked([0, 0, 1], [1, 1, 1]), asked([0, 1, 1], [1, 1, 1]), asked([0, 1, 1], [0.1, 1, 1])]
    found = sentence_score(questions, "counting")
    assert found.score == (0.5 + 1.0) / 2
    assert found.per_sample == ((0 + 1) / 2, 1.0)
    assert found.per_question == (0.5, 1.0, None)
    assert found.unscored is None
    alpha = sentence_score(questions, "bayes_with_alpha", beta1=0.7, beta2=0.9)
    assert alpha.score == pytest.approx(np.mean([bayes_with_alpha(q, beta1=0.7, beta2=0.9) for q in questions]))
    assert alpha.per_sample[0] == pytest.approx(
        np.mean([bayes_with_alpha(q.only(0), beta1=0.7, beta2=0.9) for q in questions])
    )
    assert sentence_score(questions[2:], "bayes", threshold=0.1).score == pytest.approx(16 / 17)


@pytest.mark.parametrize(
    ("questions", "samples", "why"),
    [
        ([], 3, "no valid question came of it"),
        ([asked([0], [1])], None, "there is no sample"),
        ([asked([0, 1], [0.2, 1])], None, "of its 1 questions the output itself does not answer 1"),
        ([asked([0, 1], [1, 0.2])], None, "of its 1 questions no sample answers 1"),
        (
            [asked([0, 1], [1, 0.2]), asked([0, 1], [0.2, 1])],
            None,
            "of its 2 questions the output itself does not answer 1 and no sample answers 1",
        ),
    ],
)
def test_why_a_sentence_has_no_score(questions: list[AnsweredQuestion], samples: int | None, why: str) -> None:
    found = sentence_score(questions, "counting", samples=samples)
    count = samples if samples is not None else questions[0].samples
    assert (found.score, found.unscored) == (None, why)
    assert found.per_sample == (None,) * count
    assert found.per_question == (None,) * len(questions)


def test_an_output_has_the_distance_of_the_farthest_sample() -> None:
    first = AnsweredQuestion("a?", ("x", "y"), np.array([[1.0, 0.0], [0.5, 0.5], [1.0, 0.0]]))
    second = AnsweredQuestion("b?", ("x", "y"), np.array([[0.5, 0.5], [0.5, 0.5], [0.2, 0.8]]))
    found = passage_score([first, second])
    assert found.per_sample == pytest.approx((0.25, 0.15))
    assert found.score == 0.25
    assert found.per_question == pytest.approx((0.5, 0.3))
    assert passage_score([first, second], "counting").per_sample == (0.0, 0.5)
    assert passage_score([], "kl", samples=2).unscored == "no valid question came of it"
    assert passage_score([AnsweredQuestion("a?", ("x",), np.ones((1, 1)))]).unscored == "there is no sample"


@pytest.mark.parametrize(
    ("answer", "distractors", "options"),
    [
        ("a", ["b", "c", "d"], ("a", "b", "c", "d")),
        ("a", ["b", "c", "d", "e", "f"], ("a", "b", "c", "d")),
        ("a", ["b"], ("a", "b", "b", "b")),
        ("a", ["", "b", "", "a"], ("a", "b", "a", "a")),
        ("a", [], None),
        ("a", ["", "a", "a"], None),
    ],
)
def test_options(answer: str, distractors: list[str], options: tuple[str, ...] | None) -> None:
    assert four_options(answer, distractors) == options


def test_repeated_options_share_their_answer() -> None:
    rows = np.array([[0.1, 0.3, 0.3, 0.3], [0.2, 0.1, 0.35, 0.35], [0.1, 0.3, 0.3, 0.3]])
    question = AnsweredQuestion("?", ("a", "b", "c", "c"), rows)
    # The first of equals, in every text.
    assert question.answers.tolist() == [1, 2, 1]
    assert question.agree.tolist() == [False, True]


def test_a_question_is_read_only_json_and_checked() -> None:
    question = asked([0, 1], [1, 0.5])
    assert json.loads(json.dumps(question.to_dict()))["answers"] == [0, 1]
    assert question.to_dict()["answerability"] == [1, 0.5]
    assert asked([0, 1]).to_dict()["answerability"] is None
    assert asked([0, 1, 2]).only(1).answers.tolist() == [0, 2]
    for array in (question.probabilities, question.answerability):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize(
    ("rows", "answerability", "message"),
    [
        (np.ones((2, 3)) / 3, None, "shape"),
        (np.ones((0, 4)), None, "shape"),
        (np.ones(4) / 4, None, "shape"),
        (np.ones((2, 4)), None, "add up to 1"),
        (np.full((2, 4), np.nan), None, "add up to 1"),
        (np.ones((2, 4)) / 4, np.ones(3), "answerability must be 2 numbers"),
        (np.ones((2, 4)) / 4, np.array([1, 1.5]), "answerability must be 2 numbers"),
    ],
)
def test_what_is_no_answered_question(rows: Any, answerability: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AnsweredQuestion("?", OPTIONS, rows, answerability)


def test_what_cannot_be_scored_at_all() -> None:
    wrong: Any = "median"
    with pytest.raises(ValueError, match="scoring must be"):
        sentence_score([asked([0, 1], [1, 1])], wrong)
    with pytest.raises(ValueError, match="distance must be one of 'total_variation'"):
        passage_score([asked([0, 1])], wrong)
    with pytest.raises(ValueError, match=r"differ in their number of samples: \[1, 2\]"):
        passage_score([asked([0, 1]), asked([0, 1, 1])])
    with pytest.raises(ValueError, match="has no answerability"):
        sentence_score([asked([0, 1])])


def test_every_name_has_a_number() -> None:
    assert set(get_args(Distance)) == set(DISTANCES)
    for scoring in get_args(Scoring):
        assert sentence_score([asked([0, 1], [1, 1])], scoring).score == pytest.approx(
            1 if scoring == "counting" else 0.8
        )
