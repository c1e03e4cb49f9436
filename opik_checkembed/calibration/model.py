"""A calibration: what turns the scores of an answer into one probability that it is hallucinated, kept as numbers."""

from __future__ import annotations

import json
import math
import os
import threading
import warnings
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeGuard, get_args

from opik_checkembed._version import __version__
from opik_checkembed.errors import ConfigurationError, ItemError
from opik_checkembed.functional.ranking import Estimate
from opik_checkembed.results import finite

SCHEMA = 1

Method = Literal["logistic", "isotonic", "equal", "moments", "threshold"]

Options: TypeAlias = Mapping[str, Mapping[str, Any]]
"""By score name, how its metric was set up; see `options_of`."""


class CalibrationWarning(UserWarning):
    """A calibration rests on little, or is applied to something else than it was fitted on."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A number that a calibration reads.

    Attributes:
        name: The score's name; or a score's name, a dot and the name of a number in its evidence, like
            "checkembed_metric.std".
        higher_is_better: Its direction.
        mean: Mean over the answers it was fitted on.
        sd: Standard deviation over them, above 0.
    """

    name: str
    higher_is_better: bool
    mean: float = 0.0
    sd: float = 1.0

    def z(self, value: float) -> float:
        """How many standard deviations a value is on the hallucinated side of the mean."""
        z = (value - self.mean) / self.sd
        return -z if self.higher_is_better else z


@dataclass(frozen=True, slots=True)
class FittedOn:
    """What a calibration was fitted on, and how well it did on answers it had not seen.

    Attributes:
        data: Name of the data.
        labels: Labelled answers; 0 for "moments", which take none.
        positives: Hallucinated ones among them.
        groups: Groups (passages, sources, questions) that the answers belong to; folds share none.
        left_out: Answers left out because they lack a score.
        models: The models that gave the samples, as their providers name them; empty where not known.
        num_samples: How many samples an answer was held against; empty where not known.
        metrics: The scores' names.
        date: The day, ISO 8601.
        package: Version of this package.
        folds: Folds of the cross-validation; 0 where there was none.
        auroc: Of the cross-validated probabilities, with its interval over resampled groups; None where there was no
            cross-validation. So are the others.
        brier: Brier score; see `functional.reliability`.
        ece: Expected calibration error, without a value where there are too few labels; see `functional.reliability`.
        warnings: What makes it doubtful.
        options: For each feature how its metric was set up, as far as known; see `options_of`.
        answers: The answers it was made from; None in files of older versions.
    """

    data: str
    labels: int
    positives: int
    groups: int
    left_out: int
    models: tuple[str, ...]
    num_samples: tuple[int, ...]
    metrics: tuple[str, ...]
    date: str
    package: str
    folds: int
    auroc: Estimate | None
    brier: Estimate | None
    ece: Estimate | None
    warnings: tuple[str, ...]
    options: Options = field(default_factory=dict, hash=False)
    answers: int | None = None


@dataclass(frozen=True)
class Calibration:
    """Turns scores into the probability that an answer is hallucinated; all it knows are plain numbers.

    With z_i the distance of score i from its mean in standard deviations, positive towards hallucinated:

    - "logistic": log-odds = intercept + sum of coefficient_i z_i
    - "equal": the same with one coefficient for all
    - "isotonic": a line through `knots` over the one z, never falling; outside of them it stays level
    - "moments": no probability, but a place beside the answers that the means are from, without any label: the share of
      the standard normal distribution below the mean of the z_i. 0.5 is as doubtful as their mean, 0.84 one standard
      deviation more
    - "threshold": a rule and no probability: 0 where every score is strictly on the better side of its bound, else 1

    Attributes:
        name: What reasons call it.
        method: One of the above.
        features: What it reads, each name once.
        intercept: For "logistic" and "equal".
        coefficients: For "logistic" and "equal", one for each feature.
        knots: For "isotonic": pairs of z, strictly rising, and probability, never falling.
        bounds: For "threshold", one for each feature.
        threshold: From this probability (or place) up an answer is flagged; above 1 none is.
        fitted_on: What it was fitted on; None for a rule that nobody fitted.

    Raises:
        ConfigurationError: The numbers do not belong together.

    Example:
        >>> doubt = Feature("doubt", higher_is_better=False, mean=0.5, sd=0.25)
        >>> calibration = Calibration("mine", "logistic", (doubt,), intercept=0.0, coefficients=(2.0,))
        >>> calibration.probability({"doubt": 0.5}), calibration.contributions({"doubt": 0.75})
        (0.5, {'doubt': 2.0})
    """

    name: str
    method: Method
    features: tuple[Feature, ...]
    intercept: float = 0.0
    coefficients: tuple[float, ...] = ()
    knots: tuple[tuple[float, float], ...] = ()
    bounds: tuple[float, ...] = ()
    threshold: float = 0.5
    fitted_on: FittedOn | None = None

    def __post_init__(self) -> None:
        wrong = _what_is_wrong(self)
        if wrong:
            raise ConfigurationError(f"the calibration {self.name!r} cannot work: {wrong}")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(feature.name for feature in self.features)

    @property
    def means(self) -> dict[str, float]:
        """Each feature's mean: the value that says nothing."""
        return {feature.name: feature.mean for feature in self.features}

    @property
    def adds(self) -> bool:
        """Whether it adds its scores up, so that each has a contribution and the others can do without it."""
        return bool(self.coefficients) or self.method == "moments"

    def probability(self, scores: Mapping[str, float | None]) -> float:
        """How likely the answer is hallucinated, 0 to 1; for "moments" and "threshold" what the class says of them.

        Args:
            scores: Values by feature name; others are ignored.

        Raises:
            ItemError: A feature has no value.
        """
        values = self._values(scores)
        if self.method == "threshold":
            passed = (self._passes(*one) for one in zip(self.features, values, self.bounds, strict=True))
            return 0.0 if all(passed) else 1.0
        z = [feature.z(value) for feature, value in zip(self.features, values, strict=True)]
        if self.method == "isotonic":
            return _interpolated(self.knots, z[0])
        if self.method == "moments":
            return normal_share(math.fsum(z) / len(z))
        return sigmoid(math.fsum([self.intercept, *(c * one for c, one in zip(self.coefficients, z, strict=True))]))

    def contributions(self, scores: Mapping[str, float | None]) -> dict[str, float]:
        """What each feature adds to the log-odds that the answer is hallucinated; the intercept comes on top.

        For "moments" what it adds to the mean, in standard deviations. Empty for "isotonic" and "threshold", which add
        nothing up.

        Raises:
            ItemError: A feature has no value.
        """
        values = self._values(scores)
        if not self.adds:
            return {}
        shares = self.coefficients or [1 / len(self.features)] * len(self.features)
        rows = zip(self.features, shares, values, strict=True)
        return {feature.name: coefficient * feature.z(value) for feature, coefficient, value in rows}

    def missing(self, scores: Mapping[str, float | None]) -> tuple[str, ...]:
        """The features without a finite value."""
        return tuple(name for name in self.names if finite(scores.get(name)) is None)

    def mismatches(
        self,
        *,
        model: str | None = None,
        k: int | None = None,
        names: Collection[str] | None = None,
        options: Options | None = None,
    ) -> tuple[str, ...]:
        """In what an application differs from what this was fitted on; nothing where either is not known.

        Args:
            model: The model that gave the samples, as its provider names it.
            k: How many samples were asked for.
            names: The scores at hand.
            options: For each feature how its metric is set up; see `options_of`.
        """
        said = []
        fitted = self.fitted_on
        if fitted is not None and model is not None and fitted.models and model not in fitted.models:
            said.append(f"it was fitted on samples of {', '.join(fitted.models)}, not of {model}")
        if fitted is not None and k is not None and fitted.num_samples and k not in fitted.num_samples:
            said.append(f"it was fitted on {_listed(fitted.num_samples)} samples for each answer, not {k}")
        if fitted is not None and options is not None:
            said += [text for name in self.names if (text := _other_options(name, fitted.options, options))]
        if names is not None:
            lacking = [name for name in self.names if score_of(name) not in names and name not in names]
            unread = [name for name in names if name not in self.names and name not in map(score_of, self.names)]
            said += [f"it reads {', '.join(lacking)}, which is not there"] if lacking else []
            said += [f"it does not read {', '.join(unread)}"] if unread else []
        return tuple(said)

    def check(
        self,
        *,
        model: str | None = None,
        k: int | None = None,
        names: Collection[str] | None = None,
        options: Options | None = None,
    ) -> tuple[str, ...]:
        """The `mismatches`, each also a `CalibrationWarning` the first time in this process."""
        found = self.mismatches(model=model, k=k, names=names, options=options)
        for text in found:
            with _lock:
                first = (self, text) not in _warned
                _warned.add((self, text))
            if first:
                warnings.warn(f"the calibration {self.name!r}: {text}", CalibrationWarning, stacklevel=2)
        return found

    def refuse_turned(self, directions: Mapping[str, bool | None]) -> None:
        """Refuse scores that are the other way round than those it was fitted on.

        Args:
            directions: `higher_is_better` of scores; None where nobody says.

        Raises:
            ConfigurationError: Names the first such score.
        """
        for feature in self.features:
            if directions.get(feature.name) not in {None, feature.higher_is_better}:
                raise ConfigurationError(
                    f"the calibration {self.name!r} has {feature.name} the other way round: it was fitted where "
                    f"higher_is_better is {feature.higher_is_better}"
                )

    def to_dict(self) -> dict[str, Any]:
        """The calibration as JSON-ready values: `schema` 1, `package` (version), and each attribute."""
        return {"schema": SCHEMA, "package": __version__, **asdict(self)}

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The calibration as JSON text, also written to `path` if given."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
        if path is not None:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            # Half of a surrogate pair is written as JSON's own escape.
            Path(path).write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
        return text

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Calibration:
        """The inverse of `to_dict`.

        Raises:
            ConfigurationError: The data is no calibration, or of another schema.
        """
        schema = data.get("schema")
        if schema != SCHEMA or isinstance(schema, bool):
            newer = isinstance(schema, int) and schema > SCHEMA
            raise ConfigurationError(
                f"this calibration has schema {schema!r}; this version of opik-checkembed reads {SCHEMA}"
                f"{'. Install a newer one' if newer else ''}"
            )
        try:
            given = {one.name: data[one.name] for one in fields(cls)}
            return cls(
                **{
                    **given,
                    "features": tuple(Feature(**feature) for feature in given["features"]),
                    "coefficients": tuple(given["coefficients"]),
                    "knots": tuple(tuple(knot) for knot in given["knots"]),
                    "bounds": tuple(given["bounds"]),
                    "fitted_on": None if given["fitted_on"] is None else _fitted_on(given["fitted_on"]),
                }
            )
        except ConfigurationError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigurationError(f"this calibration is malformed: {error!r}") from error

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Calibration:
        """A calibration as `to_json` wrote it.

        Raises:
            ConfigurationError: The file is missing, not JSON, or holds something else.
        """
        try:
            text = Path(path).read_text("utf-8-sig")
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"no calibration can be read from {path}: {error}") from error
        return parsed_calibration(text, str(path))

    def _values(self, scores: Mapping[str, float | None]) -> list[float]:
        values = [finite(scores.get(name)) for name in self.names]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            missing = ", ".join(self.missing(scores))
            raise ItemError(f"the calibration {self.name!r} needs {missing}, which has no value here")
        return known

    @staticmethod
    def _passes(feature: Feature, value: float, bound: float) -> bool:
        return value > bound if feature.higher_is_better else value < bound


_warned: set[tuple[Calibration, str]] = set()
_lock = threading.Lock()


def parsed_calibration(text: str, where: str) -> Calibration:
    """A calibration from JSON text.

    Raises:
        ConfigurationError: The text is no calibration; names `where`.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"no calibration can be read from {where}: {error}") from error
    if not isinstance(data, dict):
        raise ConfigurationError(f"{where} does not hold a calibration")
    return Calibration.from_dict(data)


def score_of(feature: str) -> str:
    """The score whose evidence a feature's name points into; empty for a name without a dot.

    Example:
        >>> score_of("checkembed_metric.std"), score_of("checkembed_metric")
        ('checkembed_metric', '')
    """
    return feature.rpartition(".")[0]


def sigmoid(log_odds: float) -> float:
    """The probability with these log-odds.

    Example:
        >>> sigmoid(0.0), sigmoid(-1e6), sigmoid(1e6)
        (0.5, 0.0, 1.0)
    """
    if log_odds >= 0:
        return 1 / (1 + math.exp(-log_odds))
    odds = math.exp(log_odds)
    return odds / (1 + odds)


def normal_share(z: float) -> float:
    """The share of the standard normal distribution below z.

    Example:
        >>> normal_share(0.0), round(normal_share(1.0), 2)
        (0.5, 0.84)
    """
    return 0.5 * math.erfc(-z / math.sqrt(2))


def _interpolated(knots: Sequence[tuple[float, float]], z: float) -> float:
    right = bisect_left(knots, z, key=lambda knot: knot[0])
    if right in {0, len(knots)}:
        return knots[max(0, right - 1)][1]
    (a, p), (b, q) = knots[right - 1 : right + 1]
    return min(q, p + (q - p) * (z - a) / (b - a))


def _what_is_wrong(calibration: Calibration) -> str:
    """Why the numbers cannot be used; empty where they can."""
    own = calibration
    if not isinstance(own.name, str) or not own.name:
        return "it has no name"
    if own.method not in get_args(Method):
        return f"method must be one of {', '.join(get_args(Method))}, not {own.method!r}"
    for feature in own.features:
        if not (isinstance(feature.name, str) and feature.name and isinstance(feature.higher_is_better, bool)):
            return f"{feature!r} needs a name, and True or False for higher_is_better"
        if not (_numbers([feature.mean, feature.sd]) and feature.sd > 0):
            return f"mean and sd of {feature.name} must be finite numbers, sd above 0"
    if not own.features or len(set(own.names)) < len(own.features):
        return "it must read at least one score, and each once"
    if not _numbers([own.intercept, own.threshold, *own.coefficients, *own.bounds]):
        return "intercept, threshold, coefficients and bounds must be finite numbers"
    count = len(own.features)
    added, bounds = own.method in {"logistic", "equal"}, own.method == "threshold"
    if (len(own.coefficients), len(own.bounds)) != (count if added else 0, count if bounds else 0):
        takes = {"isotonic": "knots", "moments": "means and deviations", "threshold": "bounds"}
        return f"{own.method!r} takes {takes.get(own.method, 'coefficients')} alone, one a score"
    return _wrong_knots(own) if own.method == "isotonic" or own.knots else ""


def _wrong_knots(calibration: Calibration) -> str:
    knots = calibration.knots
    if calibration.method != "isotonic" or len(calibration.features) != 1:
        return "knots belong to 'isotonic', which reads one score"
    if not knots or not all(len(knot) == 2 and _numbers(knot) for knot in knots):
        return "'isotonic' needs knots: pairs of finite numbers"
    z, p = zip(*knots, strict=True)
    if any(b <= a for a, b in pairwise(z)) or any(b < a for a, b in pairwise(p)):
        return "knots must rise in z and not fall in probability"
    return "" if p[0] >= 0 and p[-1] <= 1 else "probabilities must be from 0 to 1"


def _numbers(values: Iterable[object]) -> bool:
    return all(_is_number(value) for value in values)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and finite(value) is not None


def _other_options(name: str, fitted: Options, there: Options) -> str:
    """In which options a score's metric differs from the one that was fitted on; empty where in none."""
    before, now = fitted.get(name, {}), there.get(name, {})
    others = [option for option in sorted(before.keys() & now.keys()) if before[option] != now[option]]
    told = [", ".join(f"{option}={options[option]!r}" for option in others) for options in (before, now)]
    return f"it was fitted on {name} with {told[0]}, not {told[1]}" if others else ""


def _fitted_on(data: Mapping[str, Any]) -> FittedOn:
    """The inverse of `asdict`; raises KeyError, TypeError or ValueError for anything else."""
    # Files of earlier versions lack these.
    data = {"options": {}, "answers": None, **data}
    given = {one.name: data[one.name] for one in fields(FittedOn)}
    for name in ("data", "date", "package"):
        if not isinstance(given[name], str):
            raise TypeError(f"{name} must be text, not {given[name]!r}")
    counts = [given[name] for name in ("labels", "positives", "groups", "left_out", "folds")]
    counts += [] if given["answers"] is None else [given["answers"]]
    options = given["options"]
    if not isinstance(options, Mapping) or not all(isinstance(one, Mapping) for one in options.values()):
        raise TypeError(f"options must be dicts by score, not {options!r}")
    if not all(isinstance(count, int) and not isinstance(count, bool) for count in [*counts, *given["num_samples"]]):
        raise TypeError("counts must be whole numbers")
    for name in ("models", "metrics", "warnings"):
        if not isinstance(given[name], list | tuple) or not all(isinstance(text, str) for text in given[name]):
            raise TypeError(f"{name} must be a list of texts, not {given[name]!r}")
    return FittedOn(
        **{
            **given,
            **{name: tuple(given[name]) for name in ("models", "num_samples", "metrics", "warnings")},
            **{name: _estimate(given[name]) for name in ("auroc", "brier", "ece")},
        }
    )


def _estimate(data: Mapping[str, Any] | None) -> Estimate | None:
    if data is None:
        return None
    found = Estimate(**data)
    if not all(value is None or _is_number(value) for value in (found.value, found.low, found.high)):
        raise TypeError(f"{data!r} is no figure")
    return found


def _listed(numbers: Sequence[int]) -> str:
    return " or ".join(map(str, numbers))
