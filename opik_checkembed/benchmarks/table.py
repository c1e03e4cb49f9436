"""What a labelled benchmark found: a row of figures for each method, kept as JSON that later runs add to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, ClassVar, Generic, Self, TypeVar

from opik_checkembed._version import __version__
from opik_checkembed.benchmarks.keys import Key, identity_in, merged, names_apart
from opik_checkembed.benchmarks.scoring import MethodScores, read_json, write_json
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.ranking import Estimate

SCHEMA = 1

RANDOM = "random"


@dataclass(frozen=True)
class Figures:
    """Figures of one method, x100; None where a method has no such figure."""

    def column(self, name: str) -> Estimate | None:
        """The figure of this name."""
        figure: Estimate | None = getattr(self, name)
        return figure

    def to_dict(self) -> dict[str, Any]:
        """By column: `value`, `low`, `high`, or None."""
        return {one.name: None if (e := self.column(one.name)) is None else _plain(e) for one in fields(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; raises KeyError, TypeError or ValueError for anything else."""
        return cls(**{one.name: None if data[one.name] is None else _estimate(data[one.name]) for one in fields(cls)})


F = TypeVar("F", bound=Figures)


@dataclass(frozen=True, kw_only=True)
class MethodRow(Generic[F]):
    """One method on the data.

    Attributes:
        method: Its name.
        model: The model it rests on.
        samples: Samples used for `accuracy`; 0 for none.
        failures: Why texts were not scored, by id; they are left out of all figures.
        seconds: Wall time of the scoring, all k together. What several rows share, as those of CheckEmbed share their
            embeddings, counts for the first.
        accuracy: The figures.
        curve: The figures from the first k samples, by k.
        resamples: Bootstrap resamples behind the intervals.
        seed: Seed of the resamples.
        milliseconds: For one text with `samples` samples, its share of what rows have in common included; None in
            results of older versions.
        judge_calls: Calls of a judge for one text, beside the calls for its samples.
        kept: Judge's replies that came from the store, so that `seconds` and `milliseconds` lack their time.
        parts: The rows that a fused one joins.
        notes: What a reader must know beside the figures.
        identity: What tells the row from another of its method and model: its options, and the model's full name. None
            for a trivial or a fused row, and in results of older versions.
    """

    figures: ClassVar[type[Any]]

    method: str
    model: str | None
    samples: int
    failures: Mapping[str, str]
    seconds: float
    accuracy: F
    curve: Mapping[int, F]
    resamples: int
    seed: int
    milliseconds: float | None = None
    judge_calls: float | None = None
    kept: int = 0
    parts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    identity: Mapping[str, Any] | None = None

    @property
    def key(self) -> Key:
        """What tells it from other rows."""
        return Key.of(self.method, self.model, self.identity)

    @property
    def title(self) -> str:
        """Method and model in one; another row may have the same, see `ResultTable.names`."""
        return self.key.title

    @property
    def scored(self) -> int:
        """Texts that have a score."""
        raise NotImplementedError

    @property
    def milliseconds_each(self) -> float | None:
        """Milliseconds for one text; for a row of an older version all numbers of samples together. None for none."""
        run = self.scored + len(self.failures)
        if self.milliseconds is not None or not self.seconds or not run:
            return self.milliseconds
        return 1000 * self.seconds / run

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON-ready values, each attribute under its own name."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            **plain,
            "failures": dict(self.failures),
            "accuracy": self.accuracy.to_dict(),
            "curve": {str(k): accuracy.to_dict() for k, accuracy in self.curve.items()},
            "parts": list(self.parts),
            "notes": list(self.notes),
            "identity": None if self.identity is None else dict(self.identity),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; raises KeyError, TypeError or ValueError for anything else."""
        given = {
            one.name: data[one.name] if one.default is MISSING else data.get(one.name, one.default)
            for one in fields(cls)
        }
        return cls(
            **{
                **given,
                "failures": dict(given["failures"]),
                "accuracy": cls.figures.from_dict(given["accuracy"]),
                "curve": {int(k): cls.figures.from_dict(accuracy) for k, accuracy in given["curve"].items()},
                "parts": tuple(given["parts"]),
                "notes": tuple(given["notes"]),
                "identity": identity_in(data),
            }
        )


R = TypeVar("R", bound=MethodRow[Any])


@dataclass(frozen=True, kw_only=True)
class ResultTable(Generic[R]):
    """One row for each method, a random order first.

    Attributes:
        rows: In the order they were asked for.
        fingerprint: Of the data; results over other data cannot be merged.
        created: When the run ended, ISO 8601.
        scores: What the rows of this run rest on, text by text; not kept in the table's own file.
    """

    benchmark: ClassVar[str]
    row_type: ClassVar[type[Any]]

    rows: tuple[R, ...]
    fingerprint: str
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    scores: tuple[MethodScores, ...] = field(default=(), compare=False, repr=False)

    @property
    def size(self) -> str:
        """How much data the figures are over, in words."""
        raise NotImplementedError

    @property
    def names(self) -> list[str]:
        """What a reader calls the rows: their titles, and of those with one title also what they differ in."""
        return names_apart([row.key for row in self.rows])

    def row(self, method: str, model: str | None = None, *, identity: Mapping[str, Any] | None = None) -> R:
        """The one row of this method and model.

        Args:
            method: Its name.
            model: The model it rests on, by its short name.
            identity: As much of the row's identity as tells it from others of this method and model, like
                {"model": "/models/deberta"}.

        Raises:
            KeyError: There is none.
            ConfigurationError: There are several.
        """
        found = [
            (row, name)
            for row, name in zip(self.rows, self.names, strict=True)
            if (row.method, row.model) == (method, model) and _holds(row.identity or {}, identity or {})
        ]
        if not found:
            raise KeyError((method, model))
        if len(found) > 1:
            names = ", ".join(repr(name) for _, name in found)
            raise ConfigurationError(f"{found[0][0].title!r} names several rows: {names}; say which with identity=")
        return found[0][0]

    def merged(self, newer: Self) -> Self:
        """These rows and the newer ones, so that slow methods can run on their own.

        A newer row takes the place of an older one of the same method, model and identity: two folders with one name,
        or one model with other options, are two rows. A row of an older version, which does not say what it is of,
        gives way to any of its method and model.

        Raises:
            ConfigurationError: They were computed over other data.
        """
        if newer.fingerprint != self.fingerprint:
            raise ConfigurationError(
                f"results over other data cannot be merged: {self.size} ({self.fingerprint}) and {newer.size} "
                f"({newer.fingerprint})"
            )
        rows = merged({row.key: row for row in self.rows}, {row.key: row for row in newer.rows})
        scores = merged({one.key: one for one in self.scores}, {one.key: one for one in newer.scores})
        return replace(newer, rows=tuple(rows.values()), scores=tuple(scores.values()))

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON-ready values: `schema` 1, `benchmark`, `package` (version), and each attribute."""
        plain = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "scores"}
        head = {"schema": SCHEMA, "benchmark": self.benchmark, "package": __version__}
        return {**head, **plain, "rows": [row.to_dict() for row in self.rows]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`.

        Raises:
            ConfigurationError: The data is no such result, or of another schema or benchmark.
        """
        if data.get("schema") != SCHEMA:
            raise ConfigurationError(
                f"these results have schema {data.get('schema')!r}; this version of opik-checkembed reads {SCHEMA}"
            )
        benchmark = data.get("benchmark", cls.benchmark)
        if benchmark != cls.benchmark:
            raise ConfigurationError(f"these are results of bench {benchmark}, not of bench {cls.benchmark}")
        try:
            given = {one.name: data[one.name] for one in fields(cls) if one.name != "scores"}
            return cls(**{**given, "rows": tuple(cls.row_type.from_dict(row) for row in given["rows"])})
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ConfigurationError(f"these results are malformed: {error!r}") from error

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a file, whole or not at all: an hour's run may stand in the one that is replaced."""
        write_json(self.to_dict(), path)

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Self:
        """A result as `to_json` wrote it.

        Raises:
            ConfigurationError: The file is missing, not JSON, or holds something else.
        """
        return cls.from_dict(read_json(path, "results"))


def row_fields(scores: MethodScores, curve: Mapping[int, F], resamples: int, seed: int) -> dict[str, Any]:
    """What a row takes from its scores, as arguments of `MethodRow`."""
    costs = [score.cost for score in scores.at(scores.headline) if score.cost is not None]
    return {
        "method": scores.method,
        "model": scores.model,
        "samples": scores.headline,
        "failures": scores.failures,
        "seconds": scores.seconds,
        "accuracy": curve[scores.headline],
        "curve": curve if scores.varies else {},
        "resamples": resamples,
        "seed": seed,
        "milliseconds": 1000 * _mean([cost.seconds for cost in costs]),
        "judge_calls": _mean([cost.judge_calls for cost in costs]),
        "kept": sum(cost.kept for cost in costs),
        "parts": scores.parts,
        "notes": scores.notes,
        "identity": scores.identity,
    }


def percent(estimate: Estimate) -> Estimate:
    """The figure x100."""
    value, low, high = (None if v is None else 100 * v for v in (estimate.value, estimate.low, estimate.high))
    return Estimate(value, low, high)


def _holds(whole: Mapping[str, Any], part: Mapping[str, Any]) -> bool:
    return all(name in whole and whole[name] == value for name, value in part.items())


def _mean(values: Iterable[float]) -> float:
    counted = list(values)
    return sum(counted) / len(counted)


def _plain(estimate: Estimate) -> dict[str, float | None]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def _estimate(data: Mapping[str, Any]) -> Estimate:
    numbers = [data[name] for name in ("value", "low", "high")]
    if not all(
        number is None or (isinstance(number, int | float) and not isinstance(number, bool)) for number in numbers
    ):
        raise TypeError(f"{data!r} is no figure")
    return Estimate(*numbers)
