"""Methods that score texts beside their samples, and what comes of running them: shared by the labelled benchmarks."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

from opik_checkembed._version import __version__
from opik_checkembed.benchmarks.keys import Key, identity_in, merged
from opik_checkembed.errors import ConfigurationError, ItemError, ModelUnavailable
from opik_checkembed.functional.selfcheck import Aggregate, weighted_mean
from opik_checkembed.splitters import Sentence

SCHEMA = 1


@dataclass(frozen=True)
class JudgedText:
    """A text that is judged by what the same model said when it was asked again.

    Attributes:
        id: As the data has it.
        text: What is judged.
        sentences: Where its sentences are; may be none where the data set has none of its own.
        samples: The same asked again.
        question: What was asked; None where the data does not say.
    """

    noun: ClassVar[str] = "text"

    id: str
    text: str
    sentences: tuple[Sentence, ...]
    samples: tuple[str, ...]
    question: str | None = None


@dataclass(frozen=True)
class Cost:
    """What one text took with one number of samples, the samples themselves not counted.

    Attributes:
        seconds: Wall time. What rows share and only the first computed (embeddings, sentences) counts for each.
        judge_calls: Calls of a judge that the method wants; it makes fewer where a reply is kept.
        kept: How many of them came from the store, so that `seconds` lacks their time.
    """

    seconds: float
    judge_calls: int = 0
    kept: int = 0


@dataclass(frozen=True)
class PassageScore:
    """What a method gives one text, higher meaning more hallucinated.

    Attributes:
        value: Score of the text as a whole; None where it has none.
        sentences: One for each sentence, None where a sentence could not be scored; None for methods that score
            texts as wholes.
        cost: What it took; None takes the wall time of the call for it.
    """

    value: float | None
    sentences: tuple[float | None, ...] | None = None
    cost: Cost | None = field(default=None, compare=False)

    @classmethod
    def of(
        cls,
        sentences: Sequence[float | None],
        cost: Cost | None = None,
        aggregate: Aggregate = "mean",
        weights: Sequence[float] | None = None,
    ) -> PassageScore:
        """Sentence scores with the papers' passage score, their mean (weighted where a method says), or the worst."""
        scored = zip(sentences, [1] * len(sentences) if weights is None else weights, strict=True)
        known = [(score, weight) for score, weight in scored if score is not None]
        if not known:
            return cls(None, tuple(sentences), cost)
        whole = max(known)[0] if aggregate == "max" else weighted_mean(*zip(*known, strict=True))
        return cls(float(whole), tuple(sentences), cost)


class Method(Protocol):
    """Something that scores texts."""

    @property
    def name(self) -> str:
        """Name of the row."""
        ...

    @property
    def model(self) -> str | None:
        """The model it rests on, as the reader knows it; None for none."""
        ...

    @property
    def identity(self) -> Mapping[str, Any]:
        """What tells it from another of its name and model, as JSON-ready values: its options, and the model's full
        name. It is written beside its figures, so that nothing secret may be in it.
        """
        ...

    @property
    def samples(self) -> int | None:
        """The most samples it is given; None for all."""
        ...

    @property
    def headline(self) -> int | None:
        """How many of them the row itself is about, as WikiBio's protocol says; None for the most."""
        ...

    @property
    def varies(self) -> bool:
        """Whether it can be scored with fewer samples at little cost."""
        ...

    @property
    def published(self) -> str | None:
        """The published row of WikiBio to compare it with; None for none."""
        ...

    def score(self, passage: JudgedText, counts: Sequence[int]) -> Mapping[int, PassageScore]:
        """Scores from the first k samples, for each k of `counts` (ascending, 2 or more).

        Raises:
            ItemError: The text cannot be scored.
        """
        ...


@dataclass(frozen=True)
class MethodScores:
    """What one method gave each text.

    Attributes:
        method: Its name.
        model: The model it rests on.
        published: The published row to compare it with.
        headline: The number of samples that its row is about.
        varies: Whether it was scored with other numbers too.
        texts: For each text that was run its scores by number of samples; None where it could not be scored.
        failures: Why texts were not scored, by id.
        seconds: Wall time of the scoring, all numbers of samples together.
        parts: The rows it joins, for a fused one.
        notes: What a reader must know beside the figures.
        identity: See `Method.identity`; None for a fused one, and in scores of older versions.
    """

    method: str
    model: str | None
    published: str | None
    headline: int
    varies: bool
    texts: tuple[Mapping[int, PassageScore] | None, ...]
    failures: Mapping[str, str]
    seconds: float
    parts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    identity: Mapping[str, Any] | None = None

    @property
    def key(self) -> Key:
        """What tells it from other rows."""
        return Key.of(self.method, self.model, self.identity)

    @property
    def title(self) -> str:
        """Method and model in one."""
        return self.key.title

    @property
    def counts(self) -> list[int]:
        """The numbers of samples it was scored with."""
        return sorted({k for scores in self.texts if scores is not None for k in scores})

    @property
    def scored(self) -> list[int]:
        """The places of the texts that have scores."""
        return [place for place, scores in enumerate(self.texts) if scores is not None]

    def at(self, k: int) -> list[PassageScore]:
        """The scores from k samples of the texts at `scored`."""
        return [scores[k] for scores in self.texts if scores is not None]

    def first(self, count: int) -> MethodScores:
        """The same for the first so many texts; what failed after them is no longer said."""
        return replace(self, texts=self.texts[:count]) if count < len(self.texts) else self

    def to_dict(self) -> dict[str, Any]:
        """The scores as JSON-ready values: a text's by number of samples, each `value`, `sentences` and its cost."""
        return {
            "method": self.method,
            "model": self.model,
            "identity": None if self.identity is None else dict(self.identity),
            "published": self.published,
            "headline": self.headline,
            "varies": self.varies,
            "texts": [None if t is None else {str(k): _plain(score) for k, score in t.items()} for t in self.texts],
            "failures": dict(self.failures),
            "seconds": self.seconds,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MethodScores:
        """The inverse of `to_dict`; raises KeyError, TypeError or ValueError for anything else."""
        texts = tuple(None if t is None else {int(k): _score(one) for k, one in t.items()} for t in data["texts"])
        named = ("method", "model", "published", "headline", "varies", "failures", "seconds")
        return cls(texts=texts, identity=identity_in(data), **{name: data[name] for name in named})


def score_all(
    method: Method,
    texts: Sequence[JudgedText],
    counts: Sequence[int],
    headline: int,
    advance: Callable[[], object] = lambda: None,
) -> MethodScores:
    """Score every text.

    Args:
        method: What scores.
        texts: What is scored.
        counts: Numbers of samples, ascending, `headline` among them.
        headline: The one that the row is about.
        advance: Called after each text.

    Raises:
        ItemError: The method's model is not to be had, or no text could be scored.
        ValueError: The method lost a sentence, which is a bug in it.
    """
    found: list[Mapping[int, PassageScore] | None] = []
    failures: dict[str, str] = {}
    started = time.perf_counter()
    for text in texts:
        before = time.perf_counter()
        try:
            scores = method.score(text, counts)
            _check(method, text, counts, scores)
            cost = Cost(time.perf_counter() - before)
            found.append({k: s if s.cost is not None else replace(s, cost=cost) for k, s in scores.items()})
        except ModelUnavailable:
            raise
        except ItemError as error:
            found.append(None)
            failures[text.id] = str(error)
        advance()
    seconds = time.perf_counter() - started
    if all(scores is None for scores in found):
        reason = next(iter(failures.values()))
        raise ItemError(f"{method.name} scored none of {len(texts)} {texts[0].noun}s: {reason}")
    return MethodScores(
        method=method.name,
        model=method.model,
        published=method.published,
        headline=headline,
        varies=method.varies,
        texts=tuple(found),
        failures=failures,
        seconds=seconds,
        identity=method.identity,
    )


def _check(method: Method, text: JudgedText, counts: Sequence[int], found: Mapping[int, PassageScore]) -> None:
    """An adapter that loses a sentence would shift every score after it against the labels."""
    for k in counts:
        score = found[k]
        if score.sentences is not None and len(score.sentences) != len(text.sentences):
            raise ValueError(
                f"{method.name} gave {len(score.sentences)} scores for the {len(text.sentences)} sentences of "
                f"{text.noun} {text.id}"
            )
        if score.value is None:
            raise ItemError("no sentence could be scored")


@dataclass(frozen=True)
class ScoreFile:
    """Scores of methods kept beside a table, so that a later run can fuse them without scoring again.

    Attributes:
        fingerprint: Of the data they are over.
        rows: One for each method.
    """

    fingerprint: str
    rows: tuple[MethodScores, ...] = ()

    def with_rows(self, newer: Sequence[MethodScores]) -> ScoreFile:
        """These and the newer ones, which take the place of older ones with the same key; see `keys.merged`."""
        rows = merged({row.key: row for row in self.rows}, {row.key: row for row in newer})
        return replace(self, rows=tuple(rows.values()))

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write the scores to a file, whole or not at all."""
        rows = [row.to_dict() for row in self.rows]
        head = {"schema": SCHEMA, "package": __version__, "fingerprint": self.fingerprint}
        write_json({**head, "scores": rows}, path, indent=None)

    @classmethod
    def from_json(cls, path: str | os.PathLike[str], fingerprint: str) -> ScoreFile:
        """Scores as `to_json` wrote them.

        Raises:
            ConfigurationError: The file cannot be read, holds something else, or scores over other data.
        """
        data = read_json(path, "scores")
        if data.get("schema") != SCHEMA or "scores" not in data:
            raise ConfigurationError(f"{path} does not hold scores that this version of opik-checkembed reads")
        if data.get("fingerprint") != fingerprint:
            raise ConfigurationError(f"the scores in {path} are over other data ({data.get('fingerprint')})")
        try:
            return cls(fingerprint, tuple(MethodScores.from_dict(row) for row in data["scores"]))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ConfigurationError(f"the scores in {path} are malformed: {error!r}") from error


def write_json(data: Any, path: str | os.PathLike[str], indent: int | None = 1) -> None:
    """Write a file whole or not at all: an hour's run may stand in the one that is replaced."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f"{target.name}.new")
    beside.write_text(json.dumps(data, ensure_ascii=False, indent=indent, allow_nan=False), encoding="utf-8")
    beside.replace(target)


def read_json(path: str | os.PathLike[str], what: str) -> dict[str, Any]:
    """The object in a file.

    Raises:
        ConfigurationError: The file is missing, not JSON, or holds something else.
    """
    try:
        data = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"no {what} can be read from {path}: {error}") from error
    if not isinstance(data, dict):
        raise ConfigurationError(f"{path} does not hold {what}")
    return data


def _plain(score: PassageScore) -> dict[str, Any]:
    cost = score.cost or Cost(0.0)
    return {
        "value": score.value,
        "sentences": None if score.sentences is None else list(score.sentences),
        "seconds": cost.seconds,
        "judge_calls": cost.judge_calls,
        "kept": cost.kept,
    }


def _score(data: Mapping[str, Any]) -> PassageScore:
    sentences = data["sentences"]
    return PassageScore(
        float(data["value"]),
        None if sentences is None else tuple(None if one is None else float(one) for one in sentences),
        Cost(data["seconds"], data["judge_calls"], data["kept"]),
    )
