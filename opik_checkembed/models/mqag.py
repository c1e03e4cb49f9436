"""Multiple-choice questions about a text, and other texts' answers to them: the four models that this takes.

What each of the four is asked and returns, and how many threads share them. The models themselves, as transformers
has them, are in `mqag_generation` and `mqag_answering`.
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from opik_checkembed.errors import ItemError, ModelError, ModelUnavailable
from opik_checkembed.functional.mqag import AnsweredQuestion, four_options
from opik_checkembed.models.batching import Batcher
from opik_checkembed.models.digest import digest
from opik_checkembed.models.local_model import load_pretrained
from opik_checkembed.models.registry import identity

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_LOGGER = logging.getLogger(__name__)

S = TypeVar("S", bound=tuple[Any, ...])
V = TypeVar("V")
L = TypeVar("L", bound="HoldsModel")


# --- what the models are asked, and what they say -----------------------------------------------------------


class Draw(NamedTuple):
    """One attempt to make a question: the `number`-th about a text, counted from 0."""

    text: str
    number: int


class Drawn(NamedTuple):
    """What an attempt gave: a question and its answer, one of them empty where it gave none.

    A text longer than the generator reads is cut into `windows`; this attempt read the one numbered `window`.
    """

    question: str
    answer: str
    window: int = 0
    windows: int = 1


class Stem(NamedTuple):
    """A question with its answer, and the text that wrong answers are to be plausible in."""

    question: str
    answer: str
    context: str


class Distractors(NamedTuple):
    """Wrong answers, any number of them; made from one of so many windows of the context."""

    texts: tuple[str, ...]
    windows: int = 1


class Choice(NamedTuple):
    """A multiple-choice question put to a passage."""

    question: str
    options: tuple[str, ...]
    passage: str


class Chosen(NamedTuple):
    """How probable each option is by a passage that was read in so many windows."""

    probabilities: tuple[float, ...]
    windows: int = 1


class Openly(NamedTuple):
    """A question put to a passage without options: can it be answered from there at all?"""

    question: str
    passage: str


class Answerable(NamedTuple):
    """How probable it is that a passage, read in so many windows, answers a question."""

    probability: float
    windows: int = 1


@runtime_checkable
class QuestionGenerator(Protocol):
    """Makes questions, with their answers, about a text."""

    def questions(self, draws: Sequence[Draw]) -> Sequence[Drawn]:
        """One attempt for each draw, in order. Equal draws give equal results."""
        ...


@runtime_checkable
class DistractorGenerator(Protocol):
    """Makes wrong answers to a question."""

    def distractors(self, stems: Sequence[Stem]) -> Sequence[Distractors]:
        """For each question its wrong answers, in order. Equal stems give equal results."""
        ...


@runtime_checkable
class Answerer(Protocol):
    """Answers multiple-choice questions from a passage.

    Example:
        >>> class Mentioned:
        ...     def answer(self, choices):
        ...         found = [np.array([o in c.passage for o in c.options]) + 0.1 for c in choices]
        ...         return [Chosen(tuple(row / row.sum())) for row in found]
        >>> isinstance(Mentioned(), Answerer)
        True
    """

    def answer(self, choices: Sequence[Choice]) -> Sequence[Chosen]:
        """For each question the probabilities of its options, in order; they add up to 1."""
        ...


@runtime_checkable
class AnswerabilityModel(Protocol):
    """Says whether a passage answers a question."""

    def answerable(self, asked: Sequence[Openly]) -> Sequence[Answerable]:
        """For each question and passage the probability that it does, in order."""
        ...


# --- the four together --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """The multiple-choice questions about a text.

    Attributes:
        questions: Each with its four options, the right one first.
        draws: How often a question was drawn.
        invalid: Draws that gave no question, no answer, or no distractor that differs from the answer.
        shortened: Questions with more than three distractors, of which the first three are used.
        repeated: Questions with fewer than three distractors, whose last one fills the options.
        unread: Windows of the text that no question was drawn from.
        narrowed: Questions whose distractors were made from a window of the context, not all of it.
    """

    questions: tuple[tuple[str, tuple[str, ...]], ...]
    draws: int
    invalid: int = 0
    shortened: int = 0
    repeated: int = 0
    unread: int = 0
    narrowed: int = 0


class MQAG:
    """Makes multiple-choice questions and has texts answer them, for many threads.

    Whatever concurrent callers want of a model is put to it in one batch. Each distinct thing is asked once and the
    result kept, also for other `MQAG`s in this process that use equal models.

    Args:
        questions: Makes questions.
        distractors: Makes wrong answers.
        answerer: Answers.
        answerability: Tells whether a text answers at all; None where nobody needs to know.
    """

    def __init__(
        self,
        questions: QuestionGenerator,
        distractors: DistractorGenerator,
        answerer: Answerer,
        answerability: AnswerabilityModel | None = None,
    ) -> None:
        self._models = [questions, distractors, answerer, *([] if answerability is None else [answerability])]
        self._questions: Batcher[Draw, Drawn] = _shared_batcher(questions, "questions")
        self._distractors: Batcher[Stem, Distractors] = _shared_batcher(distractors, "distractors")
        self._answerer: Batcher[Choice, Chosen] = _shared_batcher(answerer, "answer")
        self._answerability: Batcher[Openly, Answerable] | None = (
            None if answerability is None else _shared_batcher(answerability, "answerable")
        )

    def ask(self, texts: Sequence[str], context: str, count: int, most: int) -> list[Asked]:
        """Multiple-choice questions about each text.

        Args:
            texts: What to ask about.
            context: What wrong answers are made from.
            count: How many questions to draw for each text.
            most: Where fewer than `count` draws gave a question, draw up to so many times in all.

        Raises:
            ItemError: A model failed.
        """
        drawn: list[list[Drawn]] = [[] for _ in texts]
        for numbers in (range(count), range(count, most)):
            draws = [
                (place, Draw(text, number))
                for place, text in enumerate(texts)
                for number in numbers
                if number < count or sum(map(_is_question, drawn[place])) < count
            ]
            found = self._questions.get([draw for _, draw in draws]) if draws else []
            for (place, _), (one, _) in zip(draws, found, strict=True):
                drawn[place].append(one)
        kept = [[one for one in of_text if _is_question(one)][:count] for of_text in drawn]
        stems = [Stem(one.question, one.answer, context) for of_text in kept for one in of_text]
        made = iter([one for one, _ in self._distractors.get(stems)] if stems else [])
        return [_asked(all_of, valid, [next(made) for _ in valid]) for all_of, valid in zip(drawn, kept, strict=True)]

    def answer(
        self, questions: Sequence[tuple[str, tuple[str, ...]]], passages: Sequence[str]
    ) -> tuple[list[AnsweredQuestion], int]:
        """Every question answered from every passage.

        Args:
            questions: Each with its options.
            passages: The output first, then the samples.

        Returns:
            The questions, answered; and how many of the passages a model had to read in windows.

        Raises:
            ItemError: A model failed.
        """
        if not questions:
            return [], 0
        choices = [Choice(question, options, passage) for question, options in questions for passage in passages]
        chosen = [one for one, _ in self._answerer.get(choices)]
        answerable: list[Answerable] | None = None
        if self._answerability is not None:
            asked = [Openly(choice.question, choice.passage) for choice in choices]
            answerable = [one for one, _ in self._answerability.get(asked)]
        windows = [
            max(read) for read in zip(*(_windows(given) for given in (chosen, answerable) if given), strict=True)
        ]
        long = {place % len(passages) for place, count in enumerate(windows) if count > 1}
        try:
            answered = [
                AnsweredQuestion(
                    question,
                    options,
                    np.array([one.probabilities for one in chosen[rows]]),
                    None if answerable is None else np.array([one.probability for one in answerable[rows]]),
                )
                for (question, options), rows in zip(questions, _slices(len(choices), len(passages)), strict=True)
            ]
        except ValueError as error:
            raise ModelError(f"the answers to a question cannot be used: {error}") from error
        return answered, len(long)

    def release(self) -> None:
        """Let go of the models' memory, for every user in this process; the next use loads them again."""
        for model in self._models:
            release = getattr(model, "release", None)
            if callable(release):
                release()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._models))})"


def _is_question(drawn: Drawn) -> bool:
    return bool(drawn.question and drawn.answer)


def _asked(drawn: Sequence[Drawn], valid: Sequence[Drawn], made: Sequence[Distractors]) -> Asked:
    questions = []
    shortened = repeated = narrowed = 0
    for one, distractors in zip(valid, made, strict=True):
        options = four_options(one.answer, distractors.texts)
        if options is not None:
            questions.append((one.question, options))
            given = sum(map(bool, distractors.texts))
            shortened += given > 3
            repeated += given < 3
            narrowed += distractors.windows > 1
    return Asked(
        questions=tuple(questions),
        draws=len(drawn),
        invalid=sum(not _is_question(one) for one in drawn) + len(valid) - len(questions),
        shortened=shortened,
        repeated=repeated,
        unread=drawn[0].windows - len({one.window for one in drawn}),
        narrowed=narrowed,
    )


def _windows(read: Iterable[Chosen | Answerable]) -> list[int]:
    return [one.windows for one in read]


def _slices(total: int, step: int) -> list[slice]:
    return [slice(start, start + step) for start in range(0, total, step)]


# --- one per process ----------------------------------------------------------------------------------------

# A result with its key and its place in the dictionary; texts of questions weigh a little more.
_RESULT_BYTES = 512
_MAX_BYTES = 64 * 2**20

_batchers: weakref.WeakValueDictionary[Hashable, Batcher[Any, Any]] = weakref.WeakValueDictionary()
_registry_lock = threading.Lock()


def _shared_batcher(model: object, method: str) -> Batcher[Any, Any]:
    """The one queue that this process has in front of a model, and what it has said so far."""
    key = (method, identity(model))
    with _registry_lock:
        batcher = _batchers.get(key)
        if batcher is None:
            batcher = _batchers[key] = Batcher(
                _Asking(model, method),
                key=_key,
                weigh=lambda _: _RESULT_BYTES,
                max_bytes=_MAX_BYTES,
                outage=(ModelUnavailable,),
            )
        return batcher


class _Asking:
    """Puts a batch to a model, whose faults are made the items'."""

    def __init__(self, model: object, method: str) -> None:
        self._model = model
        self._method = method

    def __call__(self, subjects: Sequence[S]) -> Sequence[Any]:
        name = type(self._model).__name__
        try:
            found = list(getattr(self._model, self._method)(subjects))
        except ItemError:
            raise
        except Exception as error:
            # A model may be the user's own, so this can be anything; it must fail items, not the evaluation.
            raise ModelError(f"{name}.{self._method} failed: {type(error).__name__}: {error}") from error
        if len(found) != len(subjects):
            raise ModelError(f"{name}.{self._method} returned {len(found)} results for {len(subjects)} inputs")
        return found


def _key(subject: Iterable[Any]) -> bytes:
    return digest(*(text for part in subject for text in (part if isinstance(part, tuple) else (str(part),))))


# --- what the local models share -----------------------------------------------------------------------------


_T5_LARGE, _LONGFORMER_LARGE = 2.95e9, 1.74e9

PUBLISHED: Mapping[str, float] = MappingProxyType(
    {
        "potsawee/t5-large-generation-squad-QuestionAnswer": _T5_LARGE,
        "potsawee/t5-large-generation-race-QuestionAnswer": _T5_LARGE,
        "potsawee/t5-large-generation-race-Distractor": _T5_LARGE,
        "potsawee/longformer-large-4096-answering-race": _LONGFORMER_LARGE,
        "potsawee/longformer-large-4096-answerable-squad2": _LONGFORMER_LARGE,
    }
)
"""The models that SelfCheckGPT and MQAG published, and the bytes each takes in memory."""

# Loading this much is worth a line that users see.
_HEAVY = 1e9


class HoldsModel(Protocol):
    """A loaded model with whatever belongs to it."""

    @property
    def model(self) -> PreTrainedModel:
        """The model itself."""
        ...


def load_announced(load: Callable[[], L], source: str, what: str, ways: str) -> L:
    """Load a model, and say in the log which and how big it is; before, where it takes a gigabyte or more.

    Raises:
        ModelUnavailable: See `load_pretrained`.
    """
    size = _size(source)
    known = "a size not known yet" if size is None else f"about {_gigabytes(size)}"
    _LOGGER.log(
        logging.INFO if size is not None and size < _HEAVY else logging.WARNING,
        "Loading the %s %s (%s); release() frees the memory again",
        what,
        source,
        known,
    )
    start = time.monotonic()
    loaded = load_pretrained(load, source, what, ways)
    parameters = list(loaded.model.parameters())
    _LOGGER.info(
        "Loaded the %s %s: %.1f million parameters, %s, in %.1f s",
        what,
        source,
        sum(parameter.numel() for parameter in parameters) / 1e6,
        _gigabytes(sum(parameter.numel() * parameter.element_size() for parameter in parameters)),
        time.monotonic() - start,
    )
    return loaded


def _size(source: str) -> float | None:
    folder = Path(source)
    for pattern in ("*.safetensors", "*.bin"):
        files = sorted(folder.glob(pattern)) if folder.is_dir() else []
        if files:
            return float(sum(file.stat().st_size for file in files))
    return PUBLISHED.get(source)


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.2f} GB"
