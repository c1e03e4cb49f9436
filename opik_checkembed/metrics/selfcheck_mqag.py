"""SelfCheckGPT-MQAG as an Opik metric: do the samples answer questions about the output as the output does?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, get_args

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.mqag import (
    AnsweredQuestion,
    Distance,
    MQAGScore,
    Scoring,
    passage_score,
    sentence_score,
)
from opik_checkembed.functional.selfcheck import Passage, SentenceScore
from opik_checkembed.metrics.selfcheck import Checked, SelfCheckMetric
from opik_checkembed.models.mqag import (
    MQAG,
    AnswerabilityModel,
    Answerer,
    Asked,
    DistractorGenerator,
    QuestionGenerator,
)
from opik_checkembed.models.mqag_answering import AnswerabilityClassifier, MultipleChoiceAnswerer
from opik_checkembed.models.mqag_generation import (
    PASSAGE_QUESTION_MODEL,
    SENTENCE_QUESTION_MODEL,
    Seq2SeqDistractorGenerator,
    Seq2SeqQuestionGenerator,
)
from opik_checkembed.samples.request import Fields
from opik_checkembed.splitters import RuleSplitter, Sentence
from opik_checkembed.wording import shortened

if TYPE_CHECKING:
    from opik.evaluation.models import OpikBaseModel

M = TypeVar("M")

# Questions for a sentence, as SelfCheckGPT's authors have it, and for a whole output, as MQAG's.
_PER_SENTENCE, _PER_OUTPUT = 5, 10


class SelfCheckMQAGMetric(SelfCheckMetric):
    """How far the samples answer questions about the output otherwise than the output itself: lower is better.

    Multiple-choice questions are generated from the judged output and answered from the output and from every sample.
    There are two forms; give one of `scoring` and `distance`.

    - `scoring`, SelfCheckGPT's: questions about each sentence. Answers that match or not become a score from 0
      (consistent) to 1 (hallucinated). "counting" is the share of samples that answer otherwise; "bayes" the
      probability that the sentence is not factual, given those answers; "bayes_with_alpha" (the default) counts each
      sample as far as it answers the question at all. The value is the worst sentence's (`aggregate="mean"`: the mean).
    - `distance`, the Opik tutorial's: questions about the whole output, no sentences. For each sample the mean distance
      between the output's and the sample's distributions over the options, and of these the maximum.
      "total_variation", "hellinger" and "counting" reach from 0 to 1; "kl" is the Kullback-Leibler divergence in nats,
      0 upward and unbounded.

    A sentence that no valid question comes of, or none that can be compared, has no score and says why; it is never a
    0 or a .5. A question that the output itself does not answer is left out under "counting" and "bayes". The metadata
    hold, for each sentence, the questions, their options and the answers of output and samples.

    By default four models are used, 9.4 GB in all (three with `distance`, 7.6 GB); each is loaded at its first use,
    once per process, and `release()` frees them. The same input gives the same score: questions are drawn with `seed`.
    The models are English.

    A model that is consistently wrong agrees with itself and scores low: this measures confidence, not truth.

    Sources: Manakul et al., "SelfCheckGPT: Zero-Resource Black-Box Hallucination Detection for Generative Large
    Language Models" (EMNLP 2023), section 5.2; Manakul et al., "MQAG: Multiple-choice Question Answering and Generation
    for Assessing Information Consistency in Summarization" (AACL 2023).

    Args:
        model: The model to ask where the task's output names none; a litellm name or an `OpikBaseModel`.
        name: The score's name.
        scoring: "counting", "bayes" or "bayes_with_alpha"; the last, if neither form is named.
        distance: "total_variation", "kl", "hellinger" or "counting".
        num_questions: Drawn for each sentence (default 5; some draws give no valid question), or for the output
            (default 10; up to half as many draws again make up for invalid ones).
        question_model: A name, a folder or a `QuestionGenerator`; None for SelfCheckGPT's model for sentences, and
            MQAG's for whole outputs.
        distractor_model: A name, a folder or a `DistractorGenerator`.
        answering_model: A name, a folder or an `Answerer`.
        answerability_model: A name, a folder or an `AnswerabilityModel`; not used with `distance`.
        device: Where models named here run (`cpu`, `cuda:1`, `mps`); None takes a GPU where there is one.
        seed: Another seed draws other questions.
        threshold: The answerability from which a text counts as answering, for "counting" and "bayes".
        beta1: How probable a matching answer is if the sentence is factual, for the two "bayes".
        beta2: How probable another answer is if it is not.
        **selfcheck: See `SelfCheckMetric`; with `distance` there is no `splitter` and no `aggregate`.

    Raises:
        ConfigurationError: An argument cannot work; says what to do.

    Example:
        >>> metric = SelfCheckMQAGMetric(distance="total_variation", model="gpt-4o-mini", num_samples=5)
        >>> metric.name, metric.higher_is_better
        ('selfcheck_mqag', False)
    """

    default_name: ClassVar[str] = "selfcheck_mqag"

    def __init__(
        self,
        model: str | OpikBaseModel | None = None,
        name: str | None = None,
        *,
        scoring: Scoring | None = None,
        distance: Distance | None = None,
        num_questions: int | None = None,
        question_model: str | PathLike[str] | QuestionGenerator | None = None,
        distractor_model: str | PathLike[str] | DistractorGenerator | None = None,
        answering_model: str | PathLike[str] | Answerer | None = None,
        answerability_model: str | PathLike[str] | AnswerabilityModel | None = None,
        device: str | None = None,
        seed: int = 0,
        threshold: float = 0.5,
        beta1: float = 0.8,
        beta2: float = 0.8,
        **selfcheck: Any,
    ) -> None:
        if scoring is not None and distance is not None:
            raise ConfigurationError(
                "scoring is for sentences and distance for the whole output: give one of them, and construct two "
                "metrics to have both"
            )
        for argument, value, names in (
            ("scoring", scoring, get_args(Scoring)),
            ("distance", distance, get_args(Distance)),
        ):
            if value is not None and value not in names:
                raise ConfigurationError(f"{argument} must be one of {', '.join(map(repr, names))}, not {value!r}")
        self.distance = distance
        self.scoring: Scoring = scoring or "bayes_with_alpha"
        default = _PER_SENTENCE if distance is None else _PER_OUTPUT
        self.num_questions = default if num_questions is None else num_questions
        if not isinstance(self.num_questions, int) or isinstance(self.num_questions, bool) or self.num_questions < 1:
            raise ConfigurationError(f"num_questions must be a whole number of at least 1, not {num_questions!r}")
        self.threshold = _probability("threshold", threshold)
        self.beta1 = _probability("beta1", beta1)
        self.beta2 = _probability("beta2", beta2)
        if not (self.beta1 < 1 and self.beta2 < 1 and self.beta1 + self.beta2 > 1):
            raise ConfigurationError(
                f"beta1 and beta2 must lie below 1 and add up to more than 1, not {beta1!r} and {beta2!r}: otherwise a "
                "matching answer would speak against a sentence"
            )
        if distance is not None:
            unread: list[str] = [argument for argument in ("splitter", "aggregate") if argument in selfcheck]
            unread += ["answerability_model"] if answerability_model is not None else []
            if unread:
                raise ConfigurationError(
                    f"{' and '.join(unread)} cannot be given with distance, which has no use for it"
                )
            selfcheck["splitter"] = _WholeOutput(RuleSplitter(selfcheck.get("language", "en")))
        questions = SENTENCE_QUESTION_MODEL if distance is None else PASSAGE_QUESTION_MODEL
        self.mqag = MQAG(
            _model(
                "question_model",
                question_model,
                "questions",
                lambda name: Seq2SeqQuestionGenerator(questions if name is None else name, device=device, seed=seed),
            ),
            _model(
                "distractor_model",
                distractor_model,
                "distractors",
                lambda name: Seq2SeqDistractorGenerator(name, device=device, seed=seed),
            ),
            _model(
                "answering_model", answering_model, "answer", lambda name: MultipleChoiceAnswerer(name, device=device)
            ),
            None
            if distance is not None
            else _model(
                "answerability_model",
                answerability_model,
                "answerable",
                lambda name: AnswerabilityClassifier(name, device=device),
            ),
        )
        super().__init__(model, name, **selfcheck)
        if distance is not None:
            self.bounded = distance != "kl"
            scale = "in nats, 0 alike and without upper bound" if distance == "kl" else "0 alike to 1 different"
            self.scale = f"{_NAMES[distance]}, {scale}, lower is better"

    def release(self) -> None:
        """Let go of the models' memory; the next score loads them again."""
        self.mqag.release()

    def check(self, output: str, sentences: Sequence[Sentence], samples: Sequence[str], fields: Fields) -> Checked:
        """See `SelfCheckMetric.check`."""
        texts = [sentence.of(output) for sentence in sentences]
        retries = self.num_questions // 2 if self.distance is not None else 0
        asked = self.mqag.ask(texts, output, self.num_questions, self.num_questions + retries)
        answered, windowed = self.mqag.answer([one for of in asked for one in of.questions], [output, *samples])
        left = iter(answered)
        scored = []
        for sentence, text, of in zip(sentences, texts, asked, strict=True):
            questions = [next(left) for _ in of.questions]
            scored.append(_sentence(sentence, text, of, questions, self._score(questions, len(samples)), samples))
        return Checked(tuple(scored), tuple(_notes(asked, windowed, 1 + len(samples))))

    def why(self, worst: SentenceScore) -> str:
        """See `SelfCheckMetric.why`."""
        questions = [one for one in worst.detail["questions"] if one["score"] is not None]
        telling = max(questions, key=lambda one: float(one["score"]))
        own, *others = telling["answers"]
        options = telling["options"]
        said = f"asked {shortened(telling['question'])!r}, the output answers {shortened(options[own])!r}"
        otherwise = [sample for sample, answer in enumerate(others) if answer != own]
        if not otherwise:
            return f"{said}, and so do all {len(others)} samples"
        first = otherwise[0]
        return (
            f"{said}, and {len(otherwise)} of {len(others)} samples answer otherwise (sample {first + 1}: "
            f"{shortened(options[others[first]])!r})"
        )

    def _score(self, questions: Sequence[AnsweredQuestion], samples: int) -> MQAGScore:
        if self.distance is not None:
            return passage_score(questions, self.distance, samples=samples)
        return sentence_score(
            questions,
            self.scoring,
            samples=samples,
            threshold=self.threshold,
            beta1=self.beta1,
            beta2=self.beta2,
        )


_NAMES = {
    "total_variation": "total variation",
    "kl": "Kullback-Leibler divergence",
    "hellinger": "Hellinger distance",
    "counting": "share of questions answered otherwise",
}


class _WholeOutput:
    """Takes the whole output for one sentence, if it holds any."""

    def __init__(self, splitter: RuleSplitter) -> None:
        self._splitter = splitter

    def split(self, text: str) -> list[Sentence]:
        found = self._splitter.split(text)
        if not found:
            return []
        start = len(text) - len(text.lstrip())
        return [Sentence(start, len(text.rstrip()), sum(sentence.tokens for sentence in found))]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._splitter!r})"


def _sentence(
    sentence: Sentence,
    text: str,
    asked: Asked,
    questions: Sequence[AnsweredQuestion],
    found: MQAGScore,
    samples: Sequence[str],
) -> SentenceScore:
    detail: dict[str, Any] = {
        "questions": [
            {**one.to_dict(), "score": score} for one, score in zip(questions, found.per_question, strict=True)
        ],
        "draws": asked.draws,
        "invalid": asked.invalid,
    }
    if found.unscored is not None:
        detail["unscored"] = found.unscored
    known = [(score, place) for place, score in enumerate(found.per_sample) if score is not None]
    against = support = None
    if known and found.score is not None:

        def passage(place: tuple[float, int]) -> Passage:
            score, sample = place
            return Passage(sample, 0, len(samples[sample]), samples[sample], score)

        # The first of equals in both.
        against, support = passage(max(known, key=lambda one: (one[0], -one[1]))), passage(min(known))
    return SentenceScore(
        text, sentence.start, sentence.end, found.score, found.per_sample, against, support, detail=detail
    )


def _notes(asked: Sequence[Asked], windowed: int, texts: int) -> list[str]:
    """What of all this a reader of the score must know."""
    draws, invalid = sum(one.draws for one in asked), sum(one.invalid for one in asked)
    valid = sum(len(one.questions) for one in asked)
    counts = (
        (invalid, f"of {draws} draws gave no valid question"),
        (
            sum(one.repeated for one in asked),
            f"of {valid} questions had fewer than 3 distractors, the last is repeated",
        ),
        (
            sum(one.shortened for one in asked),
            f"of {valid} questions had more than 3 distractors, the first 3 are used",
        ),
        (sum(one.unread for one in asked), "windows of the output had no question drawn from them"),
        (sum(one.narrowed for one in asked), f"of {valid} questions got distractors from a part of the output only"),
        (windowed, f"of {texts} texts are longer than a model reads and were read in windows"),
    )
    return [f"{count} {what}" for count, what in counts if count]


def _model(argument: str, given: str | PathLike[str] | M | None, method: str, named: Callable[[Any], M]) -> M:
    """The model that an argument stands for."""
    if given is None or isinstance(given, str | PathLike):
        return named(given)
    if isinstance(given, type) or not callable(getattr(given, method, None)):
        raise ConfigurationError(
            f"{argument} must be a model name, a folder, or an object with {method}(...), not {given!r}"
        )
    return given


def _probability(argument: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ConfigurationError(f"{argument} must be a number from 0 to 1, not {value!r}")
    return float(value)
