"""RAGTruth: do the signals find the responses, and the spans, that their source does not support?

The benchmark of SourceNLI and its guards on answers that language models wrote and annotators marked. Three trivial
rows stand in every table: calling every response hallucinated, the kind of task, and the response's length.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

from opik_checkembed._version import __version__
from opik_checkembed.benchmarks.fusing import check_sizes
from opik_checkembed.benchmarks.keys import Key
from opik_checkembed.benchmarks.ragtruth_data import GroundedResponse, RAGTruthData
from opik_checkembed.benchmarks.ragtruth_figures import Detection, Marks, Observed, always_flagged, detection
from opik_checkembed.benchmarks.ragtruth_signals import LengthSignal, Piece, Signal, SignalScore, Statistic
from opik_checkembed.benchmarks.scoring import read_json, write_json
from opik_checkembed.benchmarks.table import MethodRow, ResultTable
from opik_checkembed.errors import ConfigurationError, ItemError, ModelUnavailable
from opik_checkembed.progress import Progress, show_progress

# 2: what kept scores are found by says all that they depend on, and holds no key of a judge's.
SCHEMA = 2

ALWAYS = "always hallucinated"
"""The row that calls every response hallucinated."""

TASK = "kind of task"
"""The row that gives each response the share of hallucinated ones of its kind of task, read off these labels.

Kinds of task differ in that share, so that over all responses together a signal that tells them apart looks good, and
within one kind it tells nothing.
"""

# A run that breaks off loses no more than this many seconds of scoring.
_KEEP_EVERY = 30.0


# --- the result ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TaskFigures:
    """A row's figures over the responses of one kind of task.

    Attributes:
        responses: Responses that were scored.
        hallucinated: How many of them are hallucinated.
        accuracy: The figures; thresholds are fitted within the kind.
    """

    responses: int
    hallucinated: int
    accuracy: Detection

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {
            "responses": self.responses,
            "hallucinated": self.hallucinated,
            "accuracy": self.accuracy.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; raises KeyError, TypeError or ValueError for anything else."""
        return cls(data["responses"], data["hallucinated"], Detection.from_dict(data["accuracy"]))


@dataclass(frozen=True, kw_only=True)
class SignalRow(MethodRow[Detection]):
    """One statistic of a signal on the data; there are no samples.

    Attributes:
        responses: Responses that were scored; all figures are over these.
        hallucinated: How many of them are hallucinated.
        tasks: The figures by the kind of task.
    """

    figures: ClassVar[type[Detection]] = Detection

    responses: int
    hallucinated: int
    tasks: Mapping[str, TaskFigures]

    @property
    def scored(self) -> int:
        """Responses that have a score."""
        return self.responses

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON-ready values, each attribute under its own name."""
        return {**super().to_dict(), "tasks": {name: one.to_dict() for name, one in self.tasks.items()}}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; raises KeyError, TypeError or ValueError for anything else."""
        row = super().from_dict(data)
        return replace(row, tasks={name: TaskFigures.from_dict(one) for name, one in data["tasks"].items()})


@dataclass(frozen=True, kw_only=True)
class RAGTruthResult(ResultTable[SignalRow]):
    """The table: one row for each statistic of each signal, after the trivial ones.

    Attributes:
        responses: Responses of the data.
        hallucinated: How many of them are hallucinated.
        sources: How many sources they rest on.
    """

    benchmark: ClassVar[str] = "ragtruth"
    row_type: ClassVar[type[SignalRow]] = SignalRow

    responses: int
    hallucinated: int
    sources: int

    @property
    def size(self) -> str:
        """How much data the figures are over, in words."""
        return f"{self.responses} responses"


# --- scores that are kept -----------------------------------------------------------------------------------

Scored = Mapping[str, SignalScore]
"""By the response's id."""


@dataclass(frozen=True)
class KeptScores:
    """What signals gave each response, kept so that a run that broke off goes on where it was.

    Attributes:
        fingerprint: Of the data they are over.
        signals: By the signal's key.
    """

    fingerprint: str
    signals: Mapping[str, Scored]

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write the scores to a file, whole or not at all."""
        scores = {key: {name: one.to_dict() for name, one in of.items()} for key, of in self.signals.items()}
        head = {"schema": SCHEMA, "benchmark": "ragtruth", "package": __version__, "fingerprint": self.fingerprint}
        write_json({**head, "scores": scores}, path, indent=None)

    @classmethod
    def from_json(cls, path: str | os.PathLike[str], fingerprint: str) -> KeptScores:
        """Scores as `to_json` wrote them.

        Raises:
            ConfigurationError: The file cannot be read, holds something else, or scores over other data.
        """
        data = read_json(path, "scores")
        if (data.get("schema"), data.get("benchmark")) != (SCHEMA, "ragtruth") or "scores" not in data:
            raise ConfigurationError(
                f"{path} does not hold scores of bench ragtruth that this version reads; name another file"
            )
        if data.get("fingerprint") != fingerprint:
            raise ConfigurationError(f"the scores in {path} are over other data ({data.get('fingerprint')})")
        try:
            signals = {
                key: {name: SignalScore.from_dict(one) for name, one in of.items()}
                for key, of in data["scores"].items()
            }
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ConfigurationError(f"the scores in {path} are malformed: {error!r}") from error
        return cls(fingerprint, signals)


# --- the run ------------------------------------------------------------------------------------------------


def ragtruth(
    data: RAGTruthData,
    signals: Sequence[Signal],
    *,
    limit: int | None = None,
    scores: str | os.PathLike[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    progress: bool | Progress = True,
) -> RAGTruthResult:
    """Score the responses with every signal and hold the scores against the annotations.

    A response that a signal cannot score is left out of its figures and counted; it gets no number.

    Args:
        data: What `load_ragtruth` read.
        signals: What to run; see `signals_of`. The trivial rows come of themselves.
        limit: Score only the responses to the first so many of `data.sources`, of which any part has every kind of
            task in due proportion. The names of the rows say so, so that they can stand beside those of a whole run.
        scores: JSON file that keeps the scores of signals that rest on a model; what it has is not scored again. It is
            written while the run goes on.
        resamples: Bootstrap resamples of sources behind the 95 % intervals.
        seed: Seed of the resamples and of the halves; the same sources are drawn for every row.
        progress: As in `evaluate_locally`; counts the responses of all signals.

    Raises:
        ConfigurationError: `limit` or `resamples` is below 1, a signal is given twice, or the file holds something
            else.
        ItemError: A signal's model is not to be had, or it could score no response.
    """
    check_sizes(limit=limit, resamples=resamples)
    responses = data.limited(limit)
    run: list[Signal] = [LengthSignal(), *signals]
    keys = [Key.of(signal.name, signal.model, signal.identity) for signal in run]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise ConfigurationError(f"the signal {twice.title!r} stands twice in the table")
    keeper = _Keeper(scores, data.fingerprint)
    part = "" if limit is None or limit >= len(data.sources) else f", first {limit} sources"
    plan = _Plan(resamples, seed, part)
    rows = [_always(responses, plan), _by_task(responses, plan)]
    with show_progress(len(run) * len(responses), progress) as advance:
        for signal in run:
            rows += _score_all(signal, responses, keeper, advance).rows(responses, plan)
    return RAGTruthResult(
        rows=tuple(rows),
        responses=len(data.responses),
        hallucinated=sum(one.hallucinated for one in data.responses),
        sources=len(data.sources),
        fingerprint=data.fingerprint,
    )


class _Keeper:
    """Scores by signal, and the file they are kept in."""

    def __init__(self, path: str | os.PathLike[str] | None, fingerprint: str) -> None:
        self._path = path
        self._fingerprint = fingerprint
        there = path is not None and os.path.exists(path)  # noqa: PTH110
        self._signals = dict(KeptScores.from_json(path, fingerprint).signals) if path is not None and there else {}
        self._written = time.monotonic()

    def of(self, key: str | None) -> dict[str, SignalScore]:
        """What there is of a signal, to be added to."""
        if key is None:
            return {}
        found = self._signals[key] = dict(self._signals.get(key, {}))
        return found

    def write(self, *, now: bool = False) -> None:
        """Write the file if it is time."""
        if self._path is not None and (now or time.monotonic() - self._written >= _KEEP_EVERY):
            KeptScores(self._fingerprint, self._signals).to_json(self._path)
            self._written = time.monotonic()


@dataclass(frozen=True)
class _Plan:
    """How figures are made, and what the names of the rows say of a part of the data."""

    resamples: int
    seed: int
    part: str


@dataclass(frozen=True)
class _Outcome:
    """What became of one signal."""

    signal: Signal
    scores: Scored
    failures: Mapping[str, str]
    seconds: float
    run: int

    def rows(self, responses: Sequence[GroundedResponse], plan: _Plan) -> list[SignalRow]:
        return [self._row(statistic, responses, plan) for statistic in self.signal.statistics]

    def _row(self, statistic: Statistic, responses: Sequence[GroundedResponse], plan: _Plan) -> SignalRow:
        scored = [one for one in responses if one.id in self.scores]
        calls = sum(self.scores[one.id].calls for one in scored)
        return _row(
            scored,
            [_observed(one, self.scores[one.id], statistic) for one in scored],
            detection,
            plan,
            name=f"{self.signal.name}, {statistic.name}",
            model=self.signal.model,
            identity=self.signal.identity,
            failures=self.failures,
            seconds=self.seconds,
            milliseconds=1000 * self.seconds / self.run if self.run else None,
            judge_calls=calls / len(scored) if calls else None,
            notes=self._notes(scored),
        )

    def _notes(self, scored: Sequence[GroundedResponse]) -> tuple[str, ...]:
        partly = sum(any(piece.score is None for piece in self.scores[one.id].pieces) for one in scored)
        return (f"{partly} are scored without some of their claims",) if partly else ()


def _score_all(
    signal: Signal, responses: Sequence[GroundedResponse], keeper: _Keeper, advance: Callable[[], object]
) -> _Outcome:
    scores = keeper.of(signal.key)
    failures: dict[str, str] = {}
    started, run = time.perf_counter(), 0
    try:
        for response in responses:
            if response.id not in scores:
                run += 1
                try:
                    scores[response.id] = signal.score(response)
                except ModelUnavailable:
                    raise
                except ItemError as error:
                    # Not kept: it may be gone when the run is repeated.
                    failures[response.id] = str(error)
                if signal.key is not None:
                    keeper.write()
            advance()
    finally:
        if signal.key is not None and run:
            keeper.write(now=True)
    if len(failures) == len(responses):
        reason = next(iter(failures.values()))
        raise ItemError(f"{signal.name} scored none of {len(responses)} responses: {reason}")
    return _Outcome(signal, scores, failures, time.perf_counter() - started, run)


def _observed(response: GroundedResponse, score: SignalScore, statistic: Statistic) -> Observed:
    marks = {
        "none": None,
        "all": partial(_marked, score.pieces, fixed=True),
        "threshold": partial(_marked, score.pieces, fixed=False),
    }[statistic.marking]
    return _plain(response, score.values[statistic.name], marks)


def _plain(response: GroundedResponse, score: float = 0.0, marks: Marks | None = None) -> Observed:
    return Observed(response.source.id, len(response.text), response.spans, score, marks)


def _marked(pieces: Sequence[Piece], threshold: float, *, fixed: bool) -> list[tuple[int, int]]:
    return [(one.start, one.end) for one in pieces if fixed or (one.score is not None and one.score >= threshold)]


def _always(responses: Sequence[GroundedResponse], plan: _Plan) -> SignalRow:
    seen = [_plain(one) for one in responses]
    return _row(responses, seen, always_flagged, plan, name=ALWAYS, model=None, failures={}, seconds=0.0)


def _by_task(responses: Sequence[GroundedResponse], plan: _Plan) -> SignalRow:
    labels: dict[str, list[bool]] = {}
    for one in responses:
        labels.setdefault(one.source.task, []).append(one.hallucinated)
    seen = [_plain(one, sum(labels[one.source.task]) / len(labels[one.source.task])) for one in responses]
    return _row(responses, seen, detection, plan, name=TASK, model=None, failures={}, seconds=0.0)


def _row(
    responses: Sequence[GroundedResponse],
    seen: Sequence[Observed],
    figures: Callable[[Sequence[Observed], int, int], Detection],
    plan: _Plan,
    *,
    name: str,
    **given: Any,
) -> SignalRow:
    tasks = dict.fromkeys(one.source.task for one in responses)
    of_task = {
        task: [one for one, response in zip(seen, responses, strict=True) if response.source.task == task]
        for task in tasks
    }
    return SignalRow(
        **given,
        method=f"{name}{plan.part}",
        samples=0,
        accuracy=figures(seen, plan.resamples, plan.seed),
        curve={},
        resamples=plan.resamples,
        seed=plan.seed,
        responses=len(responses),
        hallucinated=sum(one.hallucinated for one in responses),
        tasks={
            task: TaskFigures(
                len(part), sum(bool(one.annotated) for one in part), figures(part, plan.resamples, plan.seed)
            )
            for task, part in of_task.items()
        },
    )
