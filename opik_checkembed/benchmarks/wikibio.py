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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from opik_checkembed.benchmarks.fusing import FusedMethod, Targets, check_sizes, run_methods
from opik_checkembed.benchmarks.scoring import JudgedText, Method, MethodScores, PassageScore
from opik_checkembed.benchmarks.table import RANDOM, Figures, MethodRow, ResultTable, percent, row_fields
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional import ranking
from opik_checkembed.functional.ranking import Estimate
from opik_checkembed.functional.specifics import specifics
from opik_checkembed.items import load_items
from opik_checkembed.progress import Progress
from opik_checkembed.splitters import Sentence

HALLUCINATION = {"accurate": 0.0, "minor_inaccurate": 0.5, "major_inaccurate": 1.0}
"""How far a sentence with this label is hallucinated; a passage's label is the mean over its sentences."""

_TEXT = "gpt3_text"
_SENTENCES = "gpt3_sentences"
_LABELS = "annotation"
_SAMPLES = "gpt3_text_samples"

# The paper leaves passages out of NonFact* whose label is this or more: all of it is made up.
_TOTAL = 0.99


# --- the data -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BioPassage(JudgedText):
    """One labelled passage, with the data set's own sentences.

    Its id is `wiki_bio_test_idx` where the data has it, else the position. The prompt was "This is a
    Wikipedia passage about NAME:"; the name is not in the data, so the first one of the passage stands for it.

    Attributes:
        labels: One for each sentence, a key of `HALLUCINATION`.
    """

    noun: ClassVar[str] = "passage"

    labels: tuple[str, ...] = field(kw_only=True)

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
    name = next((one.text for one in specifics(text) if one.kind == "name"), None)
    question = None if name is None else f"This is a Wikipedia passage about {name}:"
    return BioPassage(identity, text, _places(sentences, text, where), samples, question, labels=labels)


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


# --- the result ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Accuracy(Figures):
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


@dataclass(frozen=True, kw_only=True)
class MethodResult(MethodRow[Accuracy]):
    """One method on the data; the points of its curve have no intervals, except at `samples`.

    Attributes:
        published: The published row to compare it with.
        passages: Passages that were scored.
        sentences: Sentences of these passages.
        unscored: Sentences among them that the method could not score, which are left out of all figures.
    """

    figures: ClassVar[type[Accuracy]] = Accuracy

    published: str | None
    passages: int
    sentences: int
    unscored: int

    @property
    def scored(self) -> int:
        """Passages that have a score."""
        return self.passages


@dataclass(frozen=True, kw_only=True)
class WikiBioResult(ResultTable[MethodResult]):
    """The table: one row for each method, a random order first.

    Attributes:
        passages: Passages of the data.
        sentences: Their sentences.
        star_passages: Passages that count for NonFact*.
        star_sentences: Their sentences.
    """

    benchmark: ClassVar[str] = "wikibio"
    row_type: ClassVar[type[MethodResult]] = MethodResult

    passages: int
    sentences: int
    star_passages: int
    star_sentences: int

    @property
    def size(self) -> str:
        """How much data the figures are over, in words."""
        return f"{self.passages} passages"


# --- the run ------------------------------------------------------------------------------------------------


def wikibio(
    data: WikiBioData,
    methods: Sequence[Method | FusedMethod],
    *,
    limit: int | None = None,
    resamples: int = 1000,
    seed: int = 0,
    progress: bool | Progress = True,
) -> WikiBioResult:
    """Score the passages with every method and hold the scores against the labels.

    Args:
        data: What `load_wikibio` read.
        methods: What to run; see `wikibio_methods`. A fused one's fit is a logistic regression on the labels of
            passages, and one on those of sentences.
        limit: Score only the first so many passages; the row says how many.
        resamples: Bootstrap resamples of passages behind the 95 % intervals.
        seed: Seed of the resamples; the same passages are drawn for every method.
        progress: As in `evaluate_locally`.

    Returns:
        One row for each method after one for a random order, which is taken over all of the data.

    Raises:
        ConfigurationError: `limit` or `resamples` is below 1, two methods have one name, model and identity, or
            a fused one's part was scored over fewer passages.
        ItemError: A method's model is not to be had, or no passage could be scored.
    """
    check_sizes(limit=limit, resamples=resamples)
    passages = data.passages[:limit]

    def plan(method: Method) -> tuple[list[int], int]:
        most = min(data.num_samples, method.samples or data.num_samples)
        headline = min(most, method.headline or most)
        return sorted({*range(2, most + 1, 2), headline} if method.varies else {headline}), headline

    scores = run_methods(passages, methods, plan, _targets(passages, seed), progress)
    star = [passage for passage in data.passages if passage.label < _TOTAL]
    return WikiBioResult(
        rows=(_random(data, resamples, seed), *(_row(one, passages, resamples, seed) for one in scores)),
        passages=len(data.passages),
        sentences=sum(len(passage.sentences) for passage in data.passages),
        star_passages=len(star),
        star_sentences=sum(len(passage.sentences) for passage in star),
        fingerprint=data.fingerprint,
        scores=tuple(one for one in scores if not one.parts),
    )


def _targets(passages: Sequence[BioPassage], seed: int) -> Targets:
    sentences = [np.array([HALLUCINATION[label] for label in passage.labels]) for passage in passages]
    labels = np.array([passage.label for passage in passages])
    return Targets(labels, sentences, range(len(passages)), seed=seed)


def _row(scores: MethodScores, passages: Sequence[BioPassage], resamples: int, seed: int) -> MethodResult:
    kept = [passages[place] for place in scores.scored]
    # Only the row itself has intervals: those of a curve's points would take ten times as long.
    curve = {
        k: _accuracy(list(zip(kept, scores.at(k), strict=True)), resamples if k == scores.headline else 0, seed)
        for k in scores.counts
    }
    sentences = [score.sentences or () for score in scores.at(scores.headline)]
    return MethodResult(
        **row_fields(scores, curve, resamples, seed),
        published=scores.published,
        passages=len(kept),
        sentences=sum(len(passage.sentences) for passage in kept),
        unscored=sum(score is None for own in sentences for score in own),
    )


def _accuracy(scored: Sequence[tuple[BioPassage, PassageScore]], resamples: int, seed: int) -> Accuracy:
    draws = ranking.resampled(len(scored), resamples, seed)
    labels = np.array([passage.label for passage, _ in scored])
    values = np.array([score.value for _, score in scored], dtype=np.float64)
    passage_level = Accuracy(
        pearson=percent(ranking.estimate(lambda w: ranking.pearson(values, labels, w), draws)),
        spearman=percent(ranking.estimate(lambda w: ranking.spearman(values, labels, w), draws)),
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
        return percent(
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
        return percent(ranking.estimate(lambda w: ranking.prevalence(positive, w), draws, within=within))

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
