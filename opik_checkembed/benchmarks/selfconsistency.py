"""Questions with one right answer: do the scores of a method find the answers that are wrong?

Each item is a question, the answer that is judged, the same asked again, and whether the judged answer is wrong: GSM8K
(Cobbe et al., "Training Verifiers to Solve Math Word Problems", 2021) as answered by a language model, or any file of
the same form. A second kind of text beside the biographies of WikiBio, so that nothing is tuned to one of them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opik_checkembed.benchmarks.fusing import FusedMethod, Targets, check_sizes, run_methods
from opik_checkembed.benchmarks.scoring import JudgedText, Method, MethodScores
from opik_checkembed.benchmarks.table import RANDOM, Figures, MethodRow, ResultTable, percent, row_fields
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional import ranking
from opik_checkembed.functional.ranking import Estimate
from opik_checkembed.items import load_items
from opik_checkembed.progress import Progress
from opik_checkembed.splitters import RuleSplitter, SentenceSplitter

COUNTS = (3, 5, 10)
"""The numbers of samples that methods are scored with, beside all of them."""

HEADERS = {"auroc": "AUROC", "auc_pr": "AUC-PR"}
"""The columns of the table."""

_QUESTION = "question"
_ANSWER = "predict"
_SAMPLES = "samples"
_LABEL = "label"


# --- the data -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JudgedAnswer(JudgedText):
    """An answer of which is known whether it is wrong.

    Attributes:
        wrong: Whether it is.
    """

    noun: ClassVar[str] = "answer"

    wrong: bool = field(kw_only=True)


@dataclass(frozen=True)
class SelfConsistencyData:
    """Labelled answers of one file.

    Attributes:
        answers: In the order of the file.
    """

    answers: tuple[JudgedAnswer, ...]

    def __post_init__(self) -> None:
        if not self.answers:
            raise ConfigurationError("the data holds no answers")

    @cached_property
    def fingerprint(self) -> str:
        """Equal for equal texts, labels and samples."""
        rows = [
            [one.question, one.text, [[s.start, s.end] for s in one.sentences], one.wrong, one.samples]
            for one in self.answers
        ]
        return hashlib.blake2b(json.dumps(rows).encode(), digest_size=8).hexdigest()

    @cached_property
    def num_samples(self) -> int:
        """Samples that every answer has."""
        return min(len(answer.samples) for answer in self.answers)


def load_selfconsistency(
    source: str | os.PathLike[str] | Sequence[Mapping[str, Any]], splitter: SentenceSplitter | None = None
) -> SelfConsistencyData:
    """Read labelled answers: `question`, `predict` (the judged answer), `samples` and `label` (1 = it is wrong).

    `id` names an answer, else its position does. Other fields, the reference solution among them, are not read.

    Args:
        source: A `.jsonl`, `.json` or `.csv` file (its samples written as JSON), or the rows themselves.
        splitter: Finds the sentences of the judged answers, all of which are scored; None splits by rules.

    Raises:
        ConfigurationError: The file cannot be read or a row does not fit; says which.
    """
    rows = load_items(source)
    splitter = splitter or RuleSplitter()
    answers = tuple(_answer(row, number, splitter) for number, row in enumerate(rows))
    twice = [name for name, count in Counter(answer.id for answer in answers).items() if count > 1]
    if twice:
        raise ConfigurationError(f"the id {twice[0]!r} stands twice in the data")
    return SelfConsistencyData(answers)


def _answer(row: Mapping[str, Any], number: int, splitter: SentenceSplitter) -> JudgedAnswer:
    identity = str(row.get("id", number))
    where = f"row {number} (id {identity})" if "id" in row else f"row {number}"
    question, text, samples = row.get(_QUESTION), row.get(_ANSWER), row.get(_SAMPLES)
    for name, value in ((_QUESTION, question), (_ANSWER, text)):
        if not isinstance(value, str) or not value.strip():
            raise ConfigurationError(f"{where}: {name} must be a text, not {value!r}")
    if not isinstance(samples, list | tuple) or not all(isinstance(s, str) and s.strip() for s in samples):
        raise ConfigurationError(f"{where}: {_SAMPLES} must be a list of texts that are not empty")
    if len(samples) < 2:
        raise ConfigurationError(f"{where}: {_SAMPLES} must hold at least 2 texts, not {len(samples)}")
    # A CSV cell is text.
    label = {"0": 0, "1": 1}.get(str(row.get(_LABEL)), row.get(_LABEL))
    if label not in (0, 1):
        raise ConfigurationError(f"{where}: {_LABEL} must be 1 for a wrong answer or 0 for a right one, not {label!r}")
    assert isinstance(text, str)  # as is the question: looked at above
    return JudgedAnswer(identity, text, tuple(splitter.split(text)), tuple(samples), question, wrong=bool(label))


# --- the result ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Separation(Figures):
    """How well scores set wrong answers apart from right ones, x100.

    Attributes:
        auroc: How often a wrong answer scores higher than a right one; 50 by chance.
        auc_pr: Average precision at which wrong answers are found; their share by chance.
    """

    auroc: Estimate | None = None
    auc_pr: Estimate | None = None


@dataclass(frozen=True, kw_only=True)
class AnswerRow(MethodRow[Separation]):
    """One method on the data; every point of its curve has intervals, over resampled questions.

    Attributes:
        answers: Answers that were scored; all figures are over these.
        wrong: How many of them are wrong.
    """

    figures: ClassVar[type[Separation]] = Separation

    answers: int
    wrong: int

    @property
    def scored(self) -> int:
        """Answers that have a score."""
        return self.answers


@dataclass(frozen=True, kw_only=True)
class SelfConsistencyResult(ResultTable[AnswerRow]):
    """The table: one row for each method, after one for a random order, which gets the share of wrong answers.

    Attributes:
        answers: Answers of the data.
        wrong: How many of them are wrong.
        questions: How many questions they answer.
    """

    benchmark: ClassVar[str] = "selfconsistency"
    row_type: ClassVar[type[AnswerRow]] = AnswerRow

    answers: int
    wrong: int
    questions: int

    @property
    def size(self) -> str:
        """How much data the figures are over, in words."""
        return f"{self.answers} answers"


# --- the run ------------------------------------------------------------------------------------------------


def selfconsistency(
    data: SelfConsistencyData,
    methods: Sequence[Method | FusedMethod],
    *,
    limit: int | None = None,
    resamples: int = 1000,
    seed: int = 0,
    progress: bool | Progress = True,
) -> SelfConsistencyResult:
    """Score the answers with every method and hold the scores against the labels.

    An answer that a method cannot score is left out of its figures and counted; it gets no number.

    Args:
        data: What `load_selfconsistency` read.
        methods: What to run; see `wikibio_methods`. A fused one's fit is a logistic regression on the labels. Each is
            scored with 3, 5, 10 and all samples, or with all it takes where fewer would take long.
        limit: Score only the first so many answers; the row says how many.
        resamples: Bootstrap resamples of questions behind the 95 % intervals.
        seed: Seed of the resamples; the same questions are drawn for every method.
        progress: As in `evaluate_locally`.

    Raises:
        ConfigurationError: `limit` or `resamples` is below 1, two methods have one name, model and identity, or
            a fused one's part was scored over fewer answers.
        ItemError: A method's model is not to be had, or no answer could be scored.
    """
    check_sizes(limit=limit, resamples=resamples)
    answers = data.answers[:limit]

    def plan(method: Method) -> tuple[list[int], int]:
        most = min(data.num_samples, method.samples or data.num_samples)
        return sorted({*(k for k in COUNTS if k < most), most} if method.varies else {most}), most

    scores = run_methods(answers, methods, plan, _targets(answers, seed), progress)
    return SelfConsistencyResult(
        rows=(_random(answers, resamples, seed), *(_row(one, answers, resamples, seed) for one in scores)),
        answers=len(data.answers),
        wrong=sum(answer.wrong for answer in data.answers),
        questions=len({answer.question for answer in data.answers}),
        fingerprint=data.fingerprint,
        scores=tuple(one for one in scores if not one.parts),
    )


def _targets(answers: Sequence[JudgedAnswer], seed: int) -> Targets:
    wrong = np.array([float(answer.wrong) for answer in answers])
    return Targets(wrong, None, [answer.question for answer in answers], seed=seed)


def _row(scores: MethodScores, answers: Sequence[JudgedAnswer], resamples: int, seed: int) -> AnswerRow:
    kept = [answers[place] for place in scores.scored]
    curve = {k: _separation(kept, [score.value for score in scores.at(k)], resamples, seed) for k in scores.counts}
    return AnswerRow(
        **row_fields(scores, curve, resamples, seed), answers=len(kept), wrong=sum(answer.wrong for answer in kept)
    )


def _separation(
    answers: Sequence[JudgedAnswer], values: Sequence[float | None], resamples: int, seed: int
) -> Separation:
    wrong = np.array([answer.wrong for answer in answers])
    scores = np.array(values, dtype=np.float64)
    draws, within = _draws(answers, resamples, seed)
    return Separation(
        auroc=percent(ranking.estimate(lambda w: ranking.auroc(wrong, scores, w), draws, within)),
        auc_pr=percent(ranking.estimate(lambda w: ranking.average_precision(wrong, scores, w), draws, within)),
    )


def _random(answers: Sequence[JudgedAnswer], resamples: int, seed: int) -> AnswerRow:
    """What scores in random order are expected to get."""
    wrong = np.array([answer.wrong for answer in answers])
    draws, within = _draws(answers, resamples, seed)
    share = ranking.estimate(lambda w: ranking.prevalence(wrong, w), draws, within)
    return AnswerRow(
        method=RANDOM,
        model=None,
        samples=0,
        failures={},
        seconds=0.0,
        accuracy=Separation(auroc=Estimate(50.0), auc_pr=percent(share)),
        curve={},
        resamples=resamples,
        seed=seed,
        answers=len(wrong),
        wrong=int(wrong.sum()),
    )


def _draws(answers: Sequence[JudgedAnswer], resamples: int, seed: int) -> tuple[NDArray[np.int64], ArrayLike]:
    """How often each question is drawn, and the question of each answer."""
    numbers = {question: number for number, question in enumerate(dict.fromkeys(one.question for one in answers))}
    return ranking.resampled(len(numbers), resamples, seed), [numbers[one.question] for one in answers]
