"""What a local evaluation found: one documented, versioned form for tables, reports, gates and calibration."""

from __future__ import annotations

import json
import math
import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

import numpy as np

from opik_checkembed._version import __version__
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.samples.sample import Origin

if TYPE_CHECKING:
    import pandas

SCHEMA = 1

_SAMPLE_SET = frozenset({"requested", "samples", "failures", "notes", "temperature", "cost_usd", "calls"})
_T = TypeVar("_T")


@dataclass(frozen=True)
class Score:
    """One score of one item.

    Attributes:
        name: The score's name.
        value: The value; None when the item could not be scored.
        reason: In words: what the value says, or why there is none.
        evidence: What the value rests on, as the metric's docstring describes it.
        samples: Position in the item's `samples` of the set it was computed over; None for metrics without samples.
    """

    name: str
    value: float | None
    reason: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    samples: int | None = None

    @property
    def failed(self) -> bool:
        """Whether the item could not be scored."""
        return self.value is None


@dataclass(frozen=True)
class ItemResult:
    """One item: what was asked, what the task returned, and what the metrics found.

    Attributes:
        id: The item's own `id`, else its position among the items; trials of one item share it.
        item: The dataset item.
        output: What the task returned; empty for logged outputs, which the item itself holds.
        scores: In the order of the metrics.
        samples: The sample sets the scores were computed over, each once.
        error: Why the task failed, if it did.
    """

    id: str
    item: Mapping[str, Any]
    output: Mapping[str, Any]
    scores: tuple[Score, ...]
    samples: tuple[Mapping[str, Any], ...] = ()
    error: str | None = None

    def score(self, name: str) -> Score | None:
        """The score of this name."""
        return next((s for s in self.scores if s.name == name), None)

    @property
    def _bills(self) -> list[Mapping[str, Any]]:
        """Whatever was paid for: sample sets, and what metrics say of their judging."""
        judged = [s.evidence.get("judging") for s in self.scores]
        return [*self.samples, *(one for one in judged if _is_bill(one))]

    @property
    def cost_usd(self) -> float | None:
        """What this run paid for the item's samples and for judging them; None when a price is unknown."""
        costs = [bill.get("cost_usd") for bill in self._bills]
        known = [c for c in costs if c is not None]
        return sum(known) if len(known) == len(costs) else None

    @property
    def calls(self) -> float:
        """Provider calls this run made for the item's samples and for judging them; see `SampleSet.calls`."""
        return math.fsum(bill.get("calls", 0) for bill in self._bills)


@dataclass(frozen=True)
class Summary:
    """One score over all items.

    Attributes:
        mean: Mean of the scored items; None when none was scored.
        scored: Items with a value.
        failed: Items without one.
        higher_is_better: The metric's direction; None where it does not say.
    """

    mean: float | None
    scored: int
    failed: int
    higher_is_better: bool | None = None


@dataclass(frozen=True)
class LocalResults:
    """All items of one local evaluation, in input order.

    Attributes:
        items: One result for each item.
        directions: `higher_is_better` by score name.
        created: When the evaluation ended, ISO 8601.
    """

    items: tuple[ItemResult, ...]
    directions: Mapping[str, bool | None] = field(default_factory=dict)
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def names(self) -> list[str]:
        """Every score's name, in the order of first appearance."""
        return list(dict.fromkeys(s.name for item in self.items for s in item.scores))

    def summary(self) -> dict[str, Summary]:
        """Mean and counts by score name. A failed score is never a zero: it is counted apart."""
        found = {}
        for name in self.names:
            values = [s.value for item in self.items for s in item.scores if s.name == name]
            scored = [v for v in values if v is not None]
            found[name] = Summary(
                mean=statistics.mean(scored) if scored else None,
                scored=len(scored),
                failed=len(values) - len(scored),
                higher_is_better=self.directions.get(name),
            )
        return found

    @property
    def cost_usd(self) -> float | None:
        """What this run paid for samples and for judging them; None when a price is unknown."""
        costs = [item.cost_usd for item in self.items]
        known = [c for c in costs if c is not None]
        return math.fsum(known) if len(known) == len(costs) else None

    @property
    def calls(self) -> int:
        """Provider calls this run made for samples and for judging them."""
        return round(math.fsum(item.calls for item in self.items))

    def to_dict(self) -> dict[str, Any]:
        """The results as JSON-ready values.

        What JSON lacks is written as the nearest it has: a NaN or infinity in an item or its evidence as null, an
        array, tuple or set as a list, a key or any other object as text.

        Schema 1: `schema`, `package` (version), `created`, `scores` (by name: `mean`, `scored`, `failed`,
        `higher_is_better`), `cost_usd`, `calls`, and `items`, each with `id`, `item`, `output`, `error`, `cost_usd`,
        `samples` (sample sets: `requested`, `samples` with text, status, origin, usage, cost and age, `failures`,
        `notes`, `temperature`, `cost_usd`, `calls`) and `scores` (`name`, `value` or null, `reason`, `evidence`,
        `samples`: which of the item's sample sets). A metric that asks a judge says in the evidence of one score, under
        `judging`, what that took (`calls`, `cost_usd`, ...); the sums above hold it.
        """
        return {
            "schema": SCHEMA,
            "package": __version__,
            "created": self.created,
            "scores": {
                name: {"mean": s.mean, "scored": s.scored, "failed": s.failed, "higher_is_better": s.higher_is_better}
                for name, s in self.summary().items()
            },
            "cost_usd": self.cost_usd,
            "calls": self.calls,
            "items": [
                {
                    "id": item.id,
                    "item": json_ready(item.item),
                    "output": json_ready(item.output),
                    "error": item.error,
                    "cost_usd": item.cost_usd,
                    "samples": json_ready(item.samples),
                    "scores": [
                        {
                            "name": s.name,
                            "value": s.value,
                            "reason": s.reason,
                            "evidence": json_ready(s.evidence),
                            "samples": s.samples,
                        }
                        for s in item.scores
                    ],
                }
                for item in self.items
            ],
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The results as JSON text (schema: see `to_dict`), also written to `path` if given."""
        text = _encodable(json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False))
        if path is not None:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(text, encoding="utf-8")
        return text

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> LocalResults:
        """The inverse of `to_dict`.

        Raises:
            ConfigurationError: The data is not such results, or of a newer schema.
        """
        schema = data.get("schema")
        if schema != SCHEMA:
            newer = isinstance(schema, int) and schema > SCHEMA
            raise ConfigurationError(
                f"these results have schema {schema!r}; this version of opik-checkembed reads {SCHEMA}"
                f"{'. Install a newer one' if newer else ''}"
            )
        try:
            return cls(
                items=tuple(_item(item) for item in data["items"]),
                directions={name: _direction(one["higher_is_better"]) for name, one in dict(data["scores"]).items()},
                created=_of(str, data["created"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigurationError(f"these results are malformed: {error!r}") from error

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> LocalResults:
        """Results as `to_json` wrote them.

        Raises:
            ConfigurationError: The file is missing, not JSON or of a newer schema.
        """
        try:
            data = json.loads(Path(path).read_text("utf-8-sig"))
        except (OSError, ValueError, RecursionError) as error:
            raise ConfigurationError(f"no results can be read from {path}: {error}") from error
        if not isinstance(data, dict):
            raise ConfigurationError(f"{path} does not hold results")
        return cls.from_dict(data)

    def to_pandas(self) -> pandas.DataFrame:
        """One row for each item.

        Columns: `id`, the item's fields, the output's fields, the value and reason of each score (`<name>`,
        `<name>_reason`; NaN where there is no score), `cost_usd` and `error`. Where two have one name, the later in
        this order is shown.

        Raises:
            ImportError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas") from error
        rows = []
        for item in self.items:
            row: dict[str, Any] = {"id": item.id, **item.item, **item.output}
            for score in item.scores:
                # Not None, which would make the columns hold objects instead of numbers.
                row[score.name] = math.nan if score.value is None else score.value
                row[f"{score.name}_reason"] = score.reason
            cost = item.cost_usd
            rows.append({**row, "cost_usd": math.nan if cost is None else cost, "error": item.error})
        return pandas.DataFrame(rows)


def _item(data: Mapping[str, Any]) -> ItemResult:
    """One item as `to_dict` wrote it; raises KeyError, TypeError or ValueError for anything else."""
    item = ItemResult(
        id=_of(str, data["id"]),
        item=_of(dict, data["item"]),
        output=_of(dict, data["output"]),
        error=None if data["error"] is None else _of(str, data["error"]),
        samples=tuple(_of(list, data["samples"])),
        scores=tuple(Score(**score) for score in data["scores"]),
    )
    if not all(is_sample_set(s) and all(map(_is_sample, _of(list, s["samples"]))) for s in item.samples):
        raise TypeError("samples are no sample sets")
    for score in item.scores:
        _of(str, score.name), _of(dict, score.evidence)
        if score.value is not None and (isinstance(score.value, bool) or finite(score.value) is None):
            raise ValueError(f"{score.value!r} is no score")
        if score.samples is not None and score.samples not in range(len(item.samples)):
            raise ValueError(f"there is no sample set {score.samples!r}")
    return item


def _is_sample(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(value.get(name), str) for name in ("text", "status", "origin"))


def _direction(value: object) -> bool | None:
    return None if value is None else _of(bool, value)


def _of(kind: type[_T], value: object) -> _T:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def json_ready(value: Any) -> Any:
    """A value as JSON can hold it; see `LocalResults.to_dict`.

    Example:
        >>> json_ready({1: (2, float("nan"))})
        {'1': [2, None]}
    """
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(k): json_ready(v) for k, v in value.items()}
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim):
        return [json_ready(v) for v in value]
    if isinstance(value, set | frozenset):
        return sorted((json_ready(v) for v in value), key=repr)
    return str(value)


def finite(value: object) -> float | None:
    """A metric's value as a finite number, or None: a metric that returns NaN has not scored.

    Example:
        >>> finite(True), finite(float("nan")), finite("0.5")
        (1.0, None, None)
    """
    # numpy's numbers are `Real` too, its truth values are not.
    if not isinstance(value, Real | np.bool_):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def is_sample_set(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether this is a `SampleSet.to_dict()`: a metric of others may keep anything under `samples`."""
    return isinstance(value, Mapping) and value.keys() >= _SAMPLE_SET


def _is_bill(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether a metric says here how many calls judging took, and what they cost."""
    if not isinstance(value, Mapping) or not value.keys() >= {"calls", "cost_usd"}:
        return False
    return finite(value["calls"]) is not None and (value["cost_usd"] is None or finite(value["cost_usd"]) is not None)


def merge_sample_sets(sets: Sequence[Mapping[str, Any] | None]) -> tuple[list[dict[str, Any]], list[int | None]]:
    """Each distinct sample set of one item once, and for each metric's set its position among them.

    Metrics that share samples see them with different origins: the one that asked paid, the others shared. The merged
    set says what was asked by anyone, and costs what all of them paid.
    """
    merged: list[dict[str, Any]] = []
    positions: list[int | None] = []
    for one in sets:
        if one is None:
            positions.append(None)
            continue
        for position, known in enumerate(merged):
            if _drawn(known) == _drawn(one):
                merged[position] = _joined(known, one)
                positions.append(position)
                break
        else:
            positions.append(len(merged))
            merged.append(dict(one))
    return merged, positions


def _drawn(samples: Mapping[str, Any]) -> dict[str, Any]:
    """A set without what differs between the metrics that see it: who asked, and what that cost."""
    seen = {k: v for k, v in samples.items() if k not in {"cost_usd", "calls", "notes"}}
    return {**seen, "samples": [{k: v for k, v in s.items() if k != "origin"} for s in samples["samples"]]}


def _joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    paid = [one["cost_usd"], other["cost_usd"]]
    return {
        **one,
        "samples": [
            b if b["origin"] == Origin.ASKED.value else a for a, b in zip(one["samples"], other["samples"], strict=True)
        ],
        "cost_usd": None if None in paid else math.fsum(paid),
        "calls": one["calls"] + other["calls"],
        "notes": list(dict.fromkeys([*one["notes"], *other["notes"]])),
    }


def _encodable(text: str) -> str:
    # A lone surrogate in a model's answer is no valid UTF-8; as an escape, JSON can hold it.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
