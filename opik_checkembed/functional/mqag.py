"""MQAG: do the samples answer multiple-choice questions about the output as the output itself does?

Sources: Manakul et al., "SelfCheckGPT: Zero-Resource Black-Box Hallucination Detection for Generative Large Language
Models" (EMNLP 2023), section 5.2, for the scores of a sentence; Manakul et al., "MQAG: Multiple-choice Question
Answering and Generation for Assessing Information Consistency in Summarization" (AACL 2023), for the distances.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opik_checkembed.functional.selfcheck import mean_over_samples

Scoring = Literal["counting", "bayes", "bayes_with_alpha"]
Distance = Literal["total_variation", "kl", "hellinger", "counting"]

Floats = NDArray[np.float64]

# Added to every probability before a logarithm, as in the reference: it bounds the divergence near 27.6 nats.
_SMOOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class AnsweredQuestion:
    """A multiple-choice question with the answers that the output and each of n samples give.

    Attributes:
        question: What is asked.
        options: The answers to choose from; the first is the one it was made from.
        probabilities: Of each option, shape (1 + n, options): the output's row first, then the samples'.
        answerability: How probable it is that each text answers the question at all, shape (1 + n,), 0 to 1; None
            where nobody asked.

    Raises:
        ValueError: The shapes do not fit, a row is not a distribution, or an answerability is no probability.
    """

    question: str
    options: tuple[str, ...]
    probabilities: Floats
    answerability: Floats | None = None

    def __post_init__(self) -> None:
        rows = np.array(self.probabilities, dtype=np.float64)
        if rows.ndim != 2 or not len(rows) or rows.shape[1] != len(self.options):
            raise ValueError(f"probabilities must have shape (1 + samples, {len(self.options)}), not {rows.shape}")
        if not (np.all(rows >= 0) and np.allclose(rows.sum(axis=1), 1, atol=1e-4)):
            raise ValueError("each row of probabilities must hold numbers of at least 0 that add up to 1")
        rows.flags.writeable = False
        object.__setattr__(self, "probabilities", rows)
        if self.answerability is not None:
            answerable = np.array(self.answerability, dtype=np.float64)
            if answerable.shape != rows.shape[:1] or not np.all((answerable >= 0) & (answerable <= 1)):
                raise ValueError(f"answerability must be {len(rows)} numbers from 0 to 1")
            answerable.flags.writeable = False
            object.__setattr__(self, "answerability", answerable)

    @property
    def samples(self) -> int:
        """How many samples answered."""
        return len(self.probabilities) - 1

    @cached_property
    def answers(self) -> NDArray[np.intp]:
        """The most probable option of each text, output first; the first of equals."""
        answers: NDArray[np.intp] = self.probabilities.argmax(axis=1)
        return answers

    @cached_property
    def agree(self) -> NDArray[np.bool_]:
        """Whether each sample gives the output's answer."""
        agree: NDArray[np.bool_] = self.answers[1:] == self.answers[0]
        return agree

    def only(self, sample: int) -> AnsweredQuestion:
        """The same question as if this sample were the only one."""
        rows = [0, 1 + sample]
        answerable = None if self.answerability is None else self.answerability[rows]
        return AnsweredQuestion(self.question, self.options, self.probabilities[rows], answerable)

    def to_dict(self) -> dict[str, Any]:
        """The question as JSON-ready values; of `answers`, `probabilities` and `answerability` the output's first."""
        return {
            "question": self.question,
            "options": list(self.options),
            "answers": self.answers.tolist(),
            "probabilities": self.probabilities.tolist(),
            "answerability": None if self.answerability is None else self.answerability.tolist(),
        }


@dataclass(frozen=True)
class MQAGScore:
    """What some questions say of a sentence, or of an output.

    Attributes:
        score: None where nothing can be said; `unscored` then says why.
        per_sample: What each sample alone gives; None where it answers no question.
        per_question: What each question alone gives; None where it says nothing.
        unscored: Why there is no score, in one clause.
    """

    score: float | None
    per_sample: tuple[float | None, ...]
    per_question: tuple[float | None, ...]
    unscored: str | None = None


def four_options(answer: str, distractors: Sequence[str]) -> tuple[str, ...] | None:
    """The options of a question: the answer first, then three distractors.

    Of more than three distractors the first three are kept; the last of fewer is repeated, as in the reference. Empty
    ones do not count.

    Returns:
        None where no distractor differs from the answer: any text would then agree with any other.

    Example:
        >>> four_options("Rome", ["Oslo", "", "Bonn"])
        ('Rome', 'Oslo', 'Bonn', 'Bonn')
        >>> four_options("Rome", ["Rome"]) is None
        True
    """
    options = [answer, *[distractor for distractor in distractors if distractor][:3]]
    if len(set(options)) == 1:
        return None
    return (*options, *options[-1:] * (4 - len(options)))


def counting(question: AnsweredQuestion, *, threshold: float = 0.5) -> float | None:
    """The share of samples that answer otherwise than the output: 0 to 1, higher is less consistent.

    Samples that do not answer the question (answerability below `threshold`) are not counted.

    Returns:
        None where the output does not answer its own question, or no sample does. The reference returns 0.5.

    Example:
        >>> rows = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]]
        >>> counting(AnsweredQuestion("Where?", ("Rome", "Oslo"), np.array(rows), np.array([1.0, 0.9, 0.6])))
        0.5
        >>> counting(AnsweredQuestion("Where?", ("Rome", "Oslo"), np.array(rows), np.array([1.0, 0.9, 0.4])))
        0.0
    """
    answerable = _answerable(question, threshold)
    if answerable is None or not answerable.any():
        return None
    return float(np.mean(~question.agree[answerable]))


def bayes(
    question: AnsweredQuestion, *, threshold: float = 0.5, beta1: float = 0.8, beta2: float = 0.8
) -> float | None:
    """How probable it is that the sentence is not factual, given the samples' answers: 0 to 1.

    With m samples that answer otherwise and l that answer alike, `g2^m / (g1^l + g2^m)`, where `g1 = beta2 / (1 -
    beta1)` and `g2 = beta1 / (1 - beta2)`. Where no sample answers, this is the prior, 0.5.

    Args:
        question: With answerability.
        threshold: Samples with a lower answerability are not counted.
        beta1: How probable a matching answer is if the sentence is factual.
        beta2: How probable another answer is if it is not.

    Returns:
        None where the output does not answer its own question. The reference returns 0.5.

    Raises:
        ValueError: The betas are no probabilities, or add up to 1 or less: a match would then speak against the
            sentence.

    Example:
        >>> rows = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.7, 0.3]])
        >>> bayes(AnsweredQuestion("Where?", ("Rome", "Oslo"), rows, np.ones(4)))  # 4 / (4^2 + 4)
        0.199999...
    """
    _check_betas(beta1, beta2)
    answerable = _answerable(question, threshold)
    return None if answerable is None else _posterior(question, answerable.astype(np.float64), beta1, beta2)


def bayes_with_alpha(question: AnsweredQuestion, *, beta1: float = 0.8, beta2: float = 0.8) -> float:
    """`bayes` with every sample counted as far as it answers the question: 0 to 1.

    A sample of answerability .3 is .3 of a match or mismatch, so no threshold is needed.

    Example:
        >>> rows = np.array([[0.9, 0.1], [0.3, 0.7]])
        >>> bayes_with_alpha(AnsweredQuestion("Where?", ("Rome", "Oslo"), rows, np.array([1.0, 0.5])))  # 2 / (1 + 2)
        0.666...
    """
    _check_betas(beta1, beta2)
    return _posterior(question, _known(question)[1:], beta1, beta2)


def total_variation(p: ArrayLike, q: ArrayLike) -> Floats:
    """The largest difference of two distributions in one option: 0 to 1, along the last axis.

    As MQAG has it. (The total variation of statistics is half the sum of all differences, which is never smaller.)

    Example:
        >>> float(total_variation([0.7, 0.2, 0.1], [0.1, 0.5, 0.4]).round(9))
        0.6
    """
    largest: Floats = np.abs(_floats(p) - _floats(q)).max(axis=-1)
    return largest


def kl_divergence(p: ArrayLike, q: ArrayLike) -> Floats:
    """The Kullback-Leibler divergence of q from p in nats: 0 upward, not symmetric, along the last axis.

    1e-12 is added to every probability, as in the reference, so that it stays finite (below 28).

    Example:
        >>> float(kl_divergence([0.5, 0.5], [0.25, 0.75]).round(6))
        0.143841
    """
    smooth_p, smooth_q = _smoothed(p), _smoothed(q)
    divergence: Floats = (smooth_p * np.log(smooth_p / smooth_q)).sum(axis=-1)
    return divergence


def hellinger(p: ArrayLike, q: ArrayLike) -> Floats:
    """The Hellinger distance of two distributions: 0 to 1, along the last axis.

    `sqrt(sum (sqrt p - sqrt q)^2) / sqrt 2`. The reference leaves out the root over the sum; its number is `sqrt 2`
    times the square of this one, and passes 1.

    Example:
        >>> float(hellinger([1, 0], [0, 1])), float(hellinger([0.5, 0.5], [0.5, 0.5]))
        (1.0, 0.0)
    """
    squares = ((np.sqrt(_floats(p)) - np.sqrt(_floats(q))) ** 2).sum(axis=-1)
    distance: Floats = np.sqrt(squares / 2)
    return distance


def top_differs(p: ArrayLike, q: ArrayLike) -> Floats:
    """1 where the most probable options differ, 0 where they are the same, along the last axis.

    Example:
        >>> top_differs([[0.6, 0.4], [0.6, 0.4]], [[0.9, 0.1], [0.4, 0.6]]).tolist()
        [0.0, 1.0]
    """
    differs: Floats = (_floats(p).argmax(axis=-1) != _floats(q).argmax(axis=-1)).astype(np.float64)
    return differs


DISTANCES: Mapping[str, Callable[[ArrayLike, ArrayLike], Floats]] = MappingProxyType(
    {"total_variation": total_variation, "kl": kl_divergence, "hellinger": hellinger, "counting": top_differs}
)
"""The distance of each name, between the output's distribution (first) and a sample's."""


def sentence_score(
    questions: Sequence[AnsweredQuestion],
    scoring: Scoring = "bayes_with_alpha",
    *,
    samples: int | None = None,
    threshold: float = 0.5,
    beta1: float = 0.8,
    beta2: float = 0.8,
) -> MQAGScore:
    """How far the samples contradict a sentence: the mean over its questions, 0 consistent to 1 hallucinated.

    A question that says nothing (see `counting` and `bayes`) is left out of the mean.

    Args:
        questions: About the sentence, answered, with answerability.
        scoring: How the answers to a question become a number.
        samples: How many samples there are; read off the questions if there are any.
        threshold: The answerability below which a text does not answer; for "counting" and "bayes".
        beta1: See `bayes`.
        beta2: See `bayes`.

    Raises:
        ValueError: There is no such scoring, the betas cannot work, or the questions have different numbers of samples.

    Example:
        >>> rows = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
        >>> found = sentence_score([AnsweredQuestion("Where?", ("Rome", "Oslo"), rows, np.ones(3))], "counting")
        >>> found.score, found.per_sample
        (0.5, (0.0, 1.0))
    """

    def one(question: AnsweredQuestion) -> float | None:
        if scoring == "counting":
            return counting(question, threshold=threshold)
        if scoring == "bayes":
            return bayes(question, threshold=threshold, beta1=beta1, beta2=beta2)
        return bayes_with_alpha(question, beta1=beta1, beta2=beta2)

    if scoring not in {"counting", "bayes", "bayes_with_alpha"}:
        raise ValueError(f"scoring must be 'counting', 'bayes' or 'bayes_with_alpha', not {scoring!r}")
    count = _samples(questions, samples)
    if not questions or not count:
        return _nothing(questions, count)
    scores = tuple(one(question) for question in questions)
    alone = tuple(mean_over_samples([one(question.only(n)) for question in questions]) for n in range(count))
    score = mean_over_samples(scores)
    return MQAGScore(score, alone, scores, None if score is not None else _why_unscored(questions, threshold))


def passage_score(
    questions: Sequence[AnsweredQuestion], distance: Distance = "total_variation", *, samples: int | None = None
) -> MQAGScore:
    """How far the answers of the sample that is farthest lie from the output's: 0 alike, higher is less consistent.

    For each sample the mean distance over the questions, and of these the maximum. "kl" is unbounded, the others
    reach 1.

    Args:
        questions: About the whole output, answered.
        distance: Between the output's and a sample's distribution over the options.
        samples: How many samples there are; read off the questions if there are any.

    Returns:
        With `per_question` the maximum over samples of each question.

    Raises:
        ValueError: There is no such distance, or the questions have different numbers of samples.

    Example:
        >>> rows = np.array([[0.75, 0.25], [0.5, 0.5], [0.0, 1.0]])
        >>> found = passage_score([AnsweredQuestion("Where?", ("Rome", "Oslo"), rows)])
        >>> found.score, found.per_sample
        (0.75, (0.25, 0.75))
    """
    if distance not in DISTANCES:
        raise ValueError(f"distance must be one of {', '.join(map(repr, DISTANCES))}, not {distance!r}")
    count = _samples(questions, samples)
    if not questions or not count:
        return _nothing(questions, count)
    table = np.stack([DISTANCES[distance](q.probabilities[:1], q.probabilities[1:]) for q in questions])
    alone = tuple(float(mean) for mean in table.mean(axis=0))
    return MQAGScore(max(alone), alone, tuple(float(largest) for largest in table.max(axis=1)))


def _floats(values: ArrayLike) -> Floats:
    return np.asarray(values, dtype=np.float64)


def _smoothed(values: ArrayLike) -> Floats:
    raised = _floats(values) + _SMOOTHING
    smoothed: Floats = raised / raised.sum(axis=-1, keepdims=True)
    return smoothed


def _known(question: AnsweredQuestion) -> Floats:
    if question.answerability is None:
        raise ValueError(f"the question {question.question!r} has no answerability")
    return question.answerability


def _answerable(question: AnsweredQuestion, threshold: float) -> NDArray[np.bool_] | None:
    """Which samples answer the question; None if not even the output does."""
    answerable = _known(question) >= threshold
    return answerable[1:] if answerable[0] else None


def _posterior(question: AnsweredQuestion, weights: Floats, beta1: float, beta2: float) -> float:
    match = float(weights[question.agree].sum())
    mismatch = float(weights[~question.agree].sum())
    # g2^mismatch / (g1^match + g2^mismatch), as a function of the logarithm of the odds: powers may overflow.
    odds = mismatch * math.log(beta1 / (1 - beta2)) - match * math.log(beta2 / (1 - beta1))
    return 1 / (1 + math.exp(-odds)) if odds >= 0 else math.exp(odds) / (1 + math.exp(odds))


def _check_betas(beta1: float, beta2: float) -> None:
    if not (0 < beta1 < 1 and 0 < beta2 < 1 and beta1 + beta2 > 1):
        raise ValueError(
            f"beta1 and beta2 must lie between 0 and 1 and add up to more than 1, got {beta1} and {beta2}: otherwise a "
            "matching answer would speak against a sentence"
        )


def _samples(questions: Sequence[AnsweredQuestion], given: int | None) -> int:
    counts = {question.samples for question in questions} | ({given} if given is not None else set())
    if len(counts) > 1:
        raise ValueError(f"the questions differ in their number of samples: {sorted(counts)}")
    return counts.pop() if counts else 0


def _nothing(questions: Sequence[AnsweredQuestion], samples: int) -> MQAGScore:
    missing = "there is no sample" if questions else "no valid question came of it"
    return MQAGScore(None, (None,) * samples, (None,) * len(questions), missing)


def _why_unscored(questions: Sequence[AnsweredQuestion], threshold: float) -> str:
    by_output = sum(_answerable(question, threshold) is None for question in questions)
    whys = {"the output itself does not answer": by_output, "no sample answers": len(questions) - by_output}
    return f"of its {len(questions)} questions {' and '.join(f'{why} {n}' for why, n in whys.items() if n)}"
