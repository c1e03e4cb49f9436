"""WikiBio-GPT3: do the scores of a method find the sentences and passages that GPT-3 made up?

238 passages about people, each with 20 samples, every sentence labelled by hand as accurate, inaccurate in minor or
inaccurate in major points. The protocol is that of SelfCheckGPT, so that figures stand beside the published ones.

Source: Manakul et al., "SelfCheckGPT: Zero-Resource Black-Box Hallucination Detection for Generative Large Language
Models" (EMNLP 2023), section 7; data set potsawee/wiki_bio_gpt3_hallucination (CC BY-SA 3.0).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from opik_checkembed._version import __version__
from opik_checkembed.benchmarks import ranking
from opik_checkembed.benchmarks.published import COLUMNS
from opik_checkembed.benchmarks.ranking import Estimate
from opik_checkembed.errors import ConfigurationError, ItemError, ModelUnavailable
from opik_checkembed.items import load_items
from opik_checkembed.progress import Progress, show_progress
from opik_checkembed.splitters import Sentence

SCHEMA = 1

HALLUCINATION = {"accurate": 0.0, "minor_inaccurate": 0.5, "major_inaccurate": 1.0}
"""How far a sentence with this label is hallucinated; a passage's label is the mean over its sentences."""

RANDOM = "random"

_TEXT = "gpt3_text"
_SENTENCES = "gpt3_sentences"
_LABELS = "annotation"
_SAMPLES = "gpt3_text_samples"

# The paper leaves passages out of NonFact* whose label is this or more: all of it is made up.
_TOTAL = 0.99


# --- the data -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BioPassage:
    """One labelled passage.

    Attributes:
        id: `wiki_bio_test_idx` where the data has it, else the position.
        text: The passage that is judged.
        sentences: Where the data set's own sentences are in it.
        labels: One for each sentence, a key of `HALLUCINATION`.
        samples: The same asked again.
    """

    id: str
    text: str
    sentences: tuple[Sentence, ...]
    labels: tuple[str, ...]
    samples: tuple[str, ...]

    @cached_property
    def label(self) -> float:
        """How far the passage is hallucinated: 0 for all accurate, 1 for all inaccurate in major points."""
        return float(np.mean([HALLUCINATION[label] for label in self.labels]))


@dataclass(frozen=True)
class WikiBioData:
    """Labelled passages of one file.

    Attributes:
        passages: In the order of the file.
        fingerprint: Of the texts, labels and samples, so that results over other data are not taken for these.
    """

    passages: tuple[BioPassage, ...]

    def __post_init__(self) -> None:
        if not self.passages:
            raise ConfigurationError("the data holds no passages")

    @cached_property
    def fingerprint(self) -> str:
        """Equal for equal texts, labels and samples."""
        rows = [
            [passage.text, [[s.start, s.end] for s in passage.sentences], passage.labels, passage.samples]
            for passage in self.passages
        ]
        return hashlib.blake2b(json.dumps(rows).encode(), digest_size=8).hexdigest()

    @cached_property
    def num_samples(self) -> int:
        """Samples that every passage has."""
        return min(len(passage.samples) for passage in self.passages)


def load_wikibio(source: str | os.PathLike[str] | Sequence[Mapping[str, Any]]) -> WikiBioData:
    """Read labelled passages from a file or rows with the columns of the public data set.

    The columns are `gpt3_text`, `gpt3_sentences`, `annotation` and `gpt3_text_samples`; `wiki_bio_test_idx` is used as
    the passage's id. Others are ignored.

    Args:
        source: A `.parquet` file (as on the hub; needs pyarrow), `.jsonl`, `.json` or `.csv` (its lists written as
            JSON), or the rows themselves.

    Raises:
        ConfigurationError: The file cannot be read, a column is missing, or a row does not fit together; says which.
    """
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    rows = _parquet(path) if path is not None and path.suffix.lower() == ".parquet" else load_items(source)
    if not rows:
        raise ConfigurationError(f"{'the list' if path is None else path} holds no passages")
    known = dict.fromkeys(str(name) for row in rows for name in row)
    missing = [name for name in (_TEXT, _SENTENCES, _LABELS, _SAMPLES) if name not in known]
    if missing:
        raise ConfigurationError(
            f"the data lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)} of "
            f"potsawee/wiki_bio_gpt3_hallucination; it has {', '.join(known) or 'none'}"
        )
    return WikiBioData(tuple(_passage(row, number) for number, row in enumerate(rows)))


def _parquet(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        raise ConfigurationError(f"there is no file {path}")
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError as error:
        raise ConfigurationError(f"reading {path.name} needs pyarrow: pip install pyarrow") from error
    try:
        rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} cannot be read as Parquet: {error}") from error
    return rows


def _passage(row: Mapping[str, Any], number: int) -> BioPassage:
    named = row.get("wiki_bio_test_idx")
    identity = str(number if named is None else named)
    where = f"row {number} (wiki_bio_test_idx {identity})" if named is not None else f"row {number}"
    text = row.get(_TEXT)
    if not isinstance(text, str) or not text.strip():
        raise ConfigurationError(f"{where}: {_TEXT} must be a text, not {text!r}")
    sentences, labels, samples = (_texts(row, name, where) for name in (_SENTENCES, _LABELS, _SAMPLES))
    if len(sentences) != len(labels):
        raise ConfigurationError(f"{where}: {len(sentences)} {_SENTENCES} but {len(labels)} labels in {_LABELS}")
    if not sentences:
        raise ConfigurationError(f"{where}: {_SENTENCES} is empty")
    unknown = [label for label in labels if label not in HALLUCINATION]
    if unknown:
        raise ConfigurationError(f"{where}: {_LABELS} must be {', '.join(HALLUCINATION)}, not {unknown[0]!r}")
    if len(samples) < 2:
        raise ConfigurationError(f"{where}: {_SAMPLES} must hold at least 2 texts, not {len(samples)}")
    return BioPassage(identity, text, _places(sentences, text, where), labels, samples)


def _texts(row: Mapping[str, Any], name: str, where: str) -> tuple[str, ...]:
    value = row.get(name)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise ConfigurationError(f"{where}: {name} is a text and not a list written as JSON: {error}") from error
    if not isinstance(value, list | tuple) or not all(isinstance(entry, str) and entry.strip() for entry in value):
        raise ConfigurationError(f"{where}: {name} must be a list of texts that are not empty")
    return tuple(value)


def _places(sentences: Sequence[str], text: str, where: str) -> tuple[Sentence, ...]:
    """Where the given sentences are: in their order, white space may differ."""
    found, done = [], 0
    for sentence in sentences:
        words = sentence.split()
        match = re.compile(r"\s+".join(map(re.escape, words))).search(text, done)
        if match is None:
            raise ConfigurationError(f"{where}: the sentence {sentence!r} is not in {_TEXT} after the one before it")
        done = match.end()
        found.append(Sentence(match.start(), done, len(words)))
    return tuple(found)


# --- the methods --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PassageScore:
    """What a method gives one passage, higher meaning more hallucinated.

    Attributes:
        value: Score of the passage; None where it has none.
        sentences: One for each sentence, None where a sentence could not be scored; None for methods that score
            passages as wholes.
    """

    value: float | None
    sentences: tuple[float | None, ...] | None = None

    @classmethod
    def of(cls, sentences: Sequence[float | None]) -> PassageScore:
        """Sentence scores with the paper's passage score: their mean."""
        known = [score for score in sentences if score is not None]
        return cls(float(np.mean(known)) if known else None, tuple(sentences))


class Method(Protocol):
    """Something that scores passages."""

    @property
    def name(self) -> str:
        """Name of the row."""
        ...

    @property
    def model(self) -> str | None:
        """The model it rests on, as the reader knows it; None for none."""
        ...

    @property
    def samples(self) -> int | None:
        """The most samples it is given; None for all."""
        ...

    @property
    def headline(self) -> int | None:
        """How many of them the row itself is about, as its protocol says; None for the most."""
        ...

    @property
    def varies(self) -> bool:
        """Whether it can be scored with fewer samples at little cost."""
        ...

    @property
    def published(self) -> str | None:
        """The published row to compare it with; None for none."""
        ...

    def score(self, passage: BioPassage, counts: Sequence[int]) -> Mapping[int, PassageScore]:
        """Scores from the first k samples, for each k of `counts` (ascending, 2 or more).

        Raises:
            ItemError: The passage cannot be scored.
        """
        ...


# --- the result ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Accuracy:
    """One row of figures, x100 as in the published tables; None where a method has no such figure.

    Attributes:
        nonfact: Area under the precision-recall curve (trapezoid rule) for sentences with any inaccuracy.
        nonfact_star: The same for major inaccuracies, passages left out whose label is .99 or more.
        factual: The same for accurate sentences, found by low scores.
        pearson: Correlation of passage scores with passage labels.
        spearman: Rank correlation of the same.
    """

    nonfact: Estimate | None = None
    nonfact_star: Estimate | None = None
    factual: Estimate | None = None
    pearson: Estimate | None = None
    spearman: Estimate | None = None

    def column(self, name: str) -> Estimate | None:
        """The figure of this column (a member of `published.COLUMNS`)."""
        figure: Estimate | None = getattr(self, name)
        return figure

    def to_dict(self) -> dict[str, Any]:
        """By column: `value`, `low`, `high`, or None."""
        return {name: None if (e := self.column(name)) is None else _plain(e) for name in COLUMNS}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Accuracy:
        """The inverse of `to_dict`; raises KeyError, TypeError or ValueError for anything else."""
        return cls(**{name: None if data[name] is None else _estimate(data[name]) for name in COLUMNS})


@dataclass(frozen=True)
class MethodResult:
    """One method on the data.

    Attributes:
        method: Its name.
        model: The model it rests on.
        published: The published row to compare it with.
        samples: Samples used for `accuracy`; 0 for none.
        passages: Passages that were scored.
        sentences: Sentences of these passages.
        unscored: Sentences among them that the method could not score, which are left out of all figures.
        failures: Why passages were not scored, by id; they are left out too.
        seconds: Wall time of the scoring, all k together. What several rows share, as those of CheckEmbed share their
            embeddings, counts for the first.
        accuracy: The figures.
        curve: The figures from the first k samples, by k; without intervals except at `samples`.
        resamples: Bootstrap resamples behind the intervals.
        seed: Seed of the resamples.
    """

    method: str
    model: str | None
    published: str | None
    samples: int
    passages: int
    sentences: int
    unscored: int
    failures: Mapping[str, str]
    seconds: float
    accuracy: Accuracy
    curve: Mapping[int, Accuracy]
    resamples: int
    seed: int

    @property
    def title(self) -> str:
        """Method and model in one."""
        return self.method if self.model is None else f"{self.method} ({self.model})"

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON-ready values, each attribute under its own name."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            **plain,
            "failures": dict(self.failures),
            "accuracy": self.accuracy.to_dict(),
            "curve": {str(k): accuracy.to_dict() for k, accuracy in self.curve.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MethodResult:
        """The inverse of `to_dict`; raises KeyError, TypeError or ValueError for anything else."""
        given = {one.name: data[one.name] for one in fields(cls)}
        return cls(
            **{
                **given,
                "failures": dict(given["failures"]),
                "accuracy": Accuracy.from_dict(given["accuracy"]),
                "curve": {int(k): Accuracy.from_dict(accuracy) for k, accuracy in given["curve"].items()},
            }
        )


@dataclass(frozen=True)
class WikiBioResult:
    """The table: one row for each method, a random order first.

    Attributes:
        rows: In the order they were asked for.
        passages: Passages of the data.
        sentences: Their sentences.
        star_passages: Passages that count for NonFact*.
        star_sentences: Their sentences.
        fingerprint: Of the data; results over other data cannot be merged.
        created: When the run ended, ISO 8601.
    """

    rows: tuple[MethodResult, ...]
    passages: int
    sentences: int
    star_passages: int
    star_sentences: int
    fingerprint: str
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    def row(self, method: str, model: str | None = None) -> MethodResult:
        """The row of this method.

        Raises:
            KeyError: There is none.
        """
        return {(row.method, row.model): row for row in self.rows}[method, model]

    def merged(self, newer: WikiBioResult) -> WikiBioResult:
        """These rows and the newer ones, so that slow methods can run on their own.

        A newer row of the same method and model takes the older one's place.

        Raises:
            ConfigurationError: They were computed over other data.
        """
        if newer.fingerprint != self.fingerprint:
            raise ConfigurationError(
                f"results over other data cannot be merged: {self.passages} passages ({self.fingerprint}) and "
                f"{newer.passages} ({newer.fingerprint})"
            )
        rows = {(row.method, row.model): row for row in (*self.rows, *newer.rows)}
        return replace(newer, rows=tuple(rows.values()))

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON-ready values: `schema` 1, `package` (version), and each attribute."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        return {"schema": SCHEMA, "package": __version__, **plain, "rows": [row.to_dict() for row in self.rows]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> WikiBioResult:
        """The inverse of `to_dict`.

        Raises:
            ConfigurationError: The data is no such result, or of another schema.
        """
        if data.get("schema") != SCHEMA:
            raise ConfigurationError(
                f"these results have schema {data.get('schema')!r}; this version of opik-checkembed reads {SCHEMA}"
            )
        try:
            given = {one.name: data[one.name] for one in fields(cls)}
            return cls(**{**given, "rows": tuple(MethodResult.from_dict(row) for row in given["rows"])})
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ConfigurationError(f"these results are malformed: {error!r}") from error

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a file, whole or not at all: an hour's run may stand in the one that is replaced."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_name(f"{target.name}.new")
        beside.write_text(json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False), encoding="utf-8")
        beside.replace(target)

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> WikiBioResult:
        """A result as `to_json` wrote it.

        Raises:
            ConfigurationError: The file is missing, not JSON, or holds something else.
        """
        try:
            data = json.loads(Path(path).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"no results can be read from {path}: {error}") from error
        if not isinstance(data, dict):
            raise ConfigurationError(f"{path} does not hold results")
        return cls.from_dict(data)


# --- the run ------------------------------------------------------------------------------------------------


def wikibio(
    data: WikiBioData,
    methods: Sequence[Method],
    *,
    limit: int | None = None,
    resamples: int = 1000,
    seed: int = 0,
    progress: bool | Progress = True,
) -> WikiBioResult:
    """Score the passages with every method and hold the scores against the labels.

    Args:
        data: What `load_wikibio` read.
        methods: What to run; see `wikibio_methods`.
        limit: Score only the first so many passages; the row says how many.
        resamples: Bootstrap resamples of passages behind the 95 % intervals.
        seed: Seed of the resamples; the same passages are drawn for every method.
        progress: As in `evaluate_locally`.

    Returns:
        One row for each method after one for a random order, which is taken over all of the data.

    Raises:
        ConfigurationError: `limit` or `resamples` is below 1, or two methods have one name and model.
        ItemError: A method's model is not to be had, or no passage could be scored.
    """
    for name, value in (("limit", limit), ("resamples", resamples)):
        if value is not None and value < 1:
            raise ConfigurationError(f"{name} must be at least 1, not {value!r}")
    keys = [(method.name, method.model) for method in methods]
    twice = [name for name, model in keys if keys.count((name, model)) > 1 or name == RANDOM]
    if twice:
        raise ConfigurationError(f"the method {twice[0]!r} stands twice in the table")
    passages = data.passages[:limit]
    rows = [_random(data, resamples, seed)]
    with show_progress(len(methods) * len(passages), progress) as advance:
        for method in methods:
            scored: list[tuple[BioPassage, Mapping[int, PassageScore]]] = []
            failures: dict[str, str] = {}
            most = min(data.num_samples, method.samples or data.num_samples)
            headline = min(most, method.headline or most)
            counts = sorted({*range(2, most + 1, 2), headline} if method.varies else {headline})
            started = time.perf_counter()
            for passage in passages:
                try:
                    found = method.score(passage, counts)
                    _check(method, passage, counts, found)
                    scored.append((passage, found))
                except ModelUnavailable:
                    raise
                except ItemError as error:
                    failures[passage.id] = str(error)
                advance()
            seconds = time.perf_counter() - started
            if not scored:
                reason = next(iter(failures.values()))
                raise ItemError(f"{method.name} scored none of {len(passages)} passages: {reason}")
            # Only the row itself has intervals: those of a curve's points would take ten times as long.
            curve = {
                k: _accuracy([(p, found[k]) for p, found in scored], resamples if k == headline else 0, seed)
                for k in counts
            }
            sentence_scores = [found[headline].sentences or () for _, found in scored]
            rows.append(
                MethodResult(
                    method=method.name,
                    model=method.model,
                    published=method.published,
                    samples=headline,
                    passages=len(scored),
                    sentences=sum(len(passage.sentences) for passage, _ in scored),
                    unscored=sum(score is None for scores in sentence_scores for score in scores),
                    failures=failures,
                    seconds=seconds,
                    accuracy=curve[headline],
                    curve=curve if method.varies else {},
                    resamples=resamples,
                    seed=seed,
                )
            )
    star = [passage for passage in data.passages if passage.label < _TOTAL]
    return WikiBioResult(
        rows=tuple(rows),
        passages=len(data.passages),
        sentences=sum(len(passage.sentences) for passage in data.passages),
        star_passages=len(star),
        star_sentences=sum(len(passage.sentences) for passage in star),
        fingerprint=data.fingerprint,
    )


def _check(method: Method, passage: BioPassage, counts: Sequence[int], found: Mapping[int, PassageScore]) -> None:
    """An adapter that loses a sentence would shift every score after it against the labels."""
    for k in counts:
        score = found[k]
        if score.sentences is not None and len(score.sentences) != len(passage.sentences):
            raise ValueError(
                f"{method.name} gave {len(score.sentences)} scores for the {len(passage.sentences)} sentences of "
                f"passage {passage.id}"
            )
        if score.value is None:
            raise ItemError("no sentence could be scored")


def _accuracy(scored: Sequence[tuple[BioPassage, PassageScore]], resamples: int, seed: int) -> Accuracy:
    draws = ranking.resampled(len(scored), resamples, seed)
    labels = np.array([passage.label for passage, _ in scored])
    values = np.array([score.value for _, score in scored], dtype=np.float64)
    passage_level = Accuracy(
        pearson=_percent(ranking.estimate(lambda w: ranking.pearson(values, labels, w), draws)),
        spearman=_percent(ranking.estimate(lambda w: ranking.spearman(values, labels, w), draws)),
    )
    kept = [
        (number, HALLUCINATION[label], score, passage.label < _TOTAL)
        for number, (passage, scores) in enumerate(scored)
        for label, score in zip(passage.labels, scores.sentences or (), strict=scores.sentences is not None)
        if score is not None
    ]
    if not kept:
        return passage_level
    within, hallucinated, scores, counts = (np.array(column) for column in zip(*kept, strict=True))

    def area(positive: NDArray[np.bool_], scores: NDArray[np.float64], within: NDArray[np.intp]) -> Estimate:
        return _percent(
            ranking.estimate(lambda w: ranking.precision_recall_area(positive, scores, w), draws, within=within)
        )

    return replace(
        passage_level,
        nonfact=area(hallucinated > 0, scores, within),
        nonfact_star=area(hallucinated[counts] == 1, scores[counts], within[counts]) if counts.any() else None,
        factual=area(hallucinated == 0, -scores, within),
    )


def _random(data: WikiBioData, resamples: int, seed: int) -> MethodResult:
    """What scores in random order are expected to get: the share of positives. Correlations are none to speak of."""
    draws = ranking.resampled(len(data.passages), resamples, seed)
    rows = [
        (number, HALLUCINATION[label], passage.label < _TOTAL)
        for number, passage in enumerate(data.passages)
        for label in passage.labels
    ]
    within, hallucinated, counts = (np.array(column) for column in zip(*rows, strict=True))

    def share(positive: NDArray[np.bool_], within: NDArray[np.intp]) -> Estimate:
        return _percent(ranking.estimate(lambda w: ranking.prevalence(positive, w), draws, within=within))

    return MethodResult(
        method=RANDOM,
        model=None,
        published=RANDOM,
        samples=0,
        passages=len(data.passages),
        sentences=len(rows),
        unscored=0,
        failures={},
        seconds=0.0,
        accuracy=Accuracy(
            nonfact=share(hallucinated > 0, within),
            nonfact_star=share(hallucinated[counts] == 1, within[counts]) if counts.any() else None,
            factual=share(hallucinated == 0, within),
        ),
        curve={},
        resamples=resamples,
        seed=seed,
    )


def _percent(estimate: Estimate) -> Estimate:
    value, low, high = (None if v is None else 100 * v for v in (estimate.value, estimate.low, estimate.high))
    return Estimate(value, low, high)


def _plain(estimate: Estimate) -> dict[str, float | None]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def _estimate(data: Mapping[str, Any]) -> Estimate:
    numbers = [data[name] for name in ("value", "low", "high")]
    if not all(
        number is None or (isinstance(number, int | float) and not isinstance(number, bool)) for number in numbers
    ):
        raise TypeError(f"{data!r} is no figure")
    return Estimate(*numbers)
