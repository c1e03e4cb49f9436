"""Fitting a calibration on labelled answers, and how well it does on answers it has not seen."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opik_checkembed._version import __version__
from opik_checkembed.calibration.model import Calibration, CalibrationWarning, Feature, FittedOn, Options
from opik_checkembed.calibration.options import checked_options
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional import ranking
from opik_checkembed.functional.ranking import Estimate
from opik_checkembed.functional.reliability import brier, expected_calibration_error
from opik_checkembed.results import finite

Array: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.intp]

FittedMethod = Literal["logistic", "isotonic", "equal"]

# With fewer, the figures are mostly chance.
ENOUGH = 50
_ENOUGH_OF_A_CLASS = 5

_SMALLEST_SD = 1e-150


@dataclass(frozen=True, eq=False)
class Fit:
    """A calibration with what it gave answers that it had not seen.

    Attributes:
        calibration: Fitted on all answers that have every score.
        rows: Positions of these answers among those given.
        labels: Their labels, shape (n,).
        groups: Their groups as numbers from 0, shape (n,).
        probabilities: Their cross-validated probabilities, each from a fit on other groups, shape (n,); None where
            there was no cross-validation.
        folds: The fold each was in, shape (n,); None where there was none.
    """

    calibration: Calibration
    rows: Places
    labels: Labels
    groups: Places
    probabilities: Array | None
    folds: Places | None

    @property
    def fitted_on(self) -> FittedOn:
        """What the calibration was fitted on, and its cross-validated figures."""
        assert self.calibration.fitted_on is not None  # it was just fitted
        return self.calibration.fitted_on


def fit_calibration(
    scores: Mapping[str, Sequence[float | None]],
    labels: Sequence[bool | int],
    *,
    directions: Mapping[str, bool],
    groups: Sequence[Hashable] | None = None,
    method: FittedMethod = "logistic",
    name: str = "calibration",
    data: str = "labelled answers",
    models: Sequence[str] = (),
    num_samples: Sequence[int] = (),
    options: Options | None = None,
    folds: int = 5,
    resamples: int = 1000,
    seed: int = 0,
) -> Fit:
    """Fit a calibration on labelled answers, and cross-validate it.

    Scores are compared as distances from their means in standard deviations, turned towards hallucinated:

    - "logistic": logistic regression (L2 penalty of strength 1), one weight for each score
    - "equal": all weigh the same, so that only two numbers are fitted: for few labels (without any: `fit_moments`)
    - "isotonic": any curve that does not fall; one score, and some hundred labels

    Folds are stratified and share no group: parts of one passage are no strangers to each other, and figures from folds
    that share them are too good. Answers that lack a score are left out, and counted.

    Args:
        scores: By name, one value for each answer; None or NaN where it has none.
        labels: True (or 1) for each answer that is hallucinated.
        directions: `higher_is_better` of each score.
        groups: What each answer belongs to (passage, source, question); None makes each a group of its own.
        method: See above.
        name: What reasons will call the calibration.
        data: Name of the data, for the record.
        models: The models that gave the samples, for the record; an application to others is warned of.
        num_samples: How many samples an answer was held against; the same.
        options: For each score how its metric is set up (`options_of(metric)`); the same.
        folds: Folds of the cross-validation; fewer where the groups are few.
        resamples: Bootstrap resamples of groups behind the 95 % intervals.
        seed: Of folds and resamples.

    Raises:
        ConfigurationError: Arguments do not fit together, the labels are of one class, or a score is constant.

    Example:
        >>> scores = {"doubt": [0.1, 0.2, 0.3, 0.6, 0.7, 0.8] * 10}
        >>> fit = fit_calibration(scores, [0, 0, 1, 0, 1, 1] * 10, directions={"doubt": False})
        >>> round(fit.calibration.probability({"doubt": 0.45}), 3)
        0.5
    """
    if method not in get_args(FittedMethod):
        raise ConfigurationError(f"method must be one of {', '.join(get_args(FittedMethod))}, not {method!r}")
    for argument, value, least in (("folds", folds, 2), ("resamples", resamples, 1)):
        if value < least:
            raise ConfigurationError(f"{argument} must be at least {least}, not {value!r}")
    matrix, rows = complete(scores, len(labels), directions)
    if method == "isotonic" and len(scores) != 1:
        raise ConfigurationError(f"'isotonic' reads one score, not {', '.join(scores)}; choose one")
    # By position: a column of a shuffled or filtered table would be read by the names of its rows.
    members = None if groups is None else list(groups)
    if members is not None and len(members) != len(labels):
        raise ConfigurationError(f"there are {len(labels)} labels but {len(members)} groups")
    truth = _truth(labels)[rows]
    within = np.arange(len(rows)) if members is None else _numbered([members[row] for row in rows])
    _check(matrix, truth, list(scores), len(labels))

    read = {one: directions[one] for one in scores}
    calibration = _fitted(matrix, truth, method, read, name)
    validation = _cross_validated(matrix, truth, _folds(truth, within, folds, seed), method, read)
    said = [*_doubts(calibration, truth), *([] if validation is not None else [_NOT_VALIDATED])]
    for text in said:
        warnings.warn(f"the calibration {name!r}: {text}", CalibrationWarning, stacklevel=2)
    probabilities, folds_of = (None, None) if validation is None else validation
    found = {}
    if probabilities is not None and folds_of is not None:
        found = _figures(truth, probabilities, within, folds_of, resamples, seed)
    fitted_on = FittedOn(
        data=data,
        labels=len(truth),
        positives=int(truth.sum()),
        groups=len(np.unique(within)),
        left_out=len(labels) - len(rows),
        models=tuple(models),
        num_samples=tuple(num_samples),
        metrics=tuple(scores),
        date=datetime.now(UTC).date().isoformat(),
        package=__version__,
        folds=0 if folds_of is None else len(np.unique(folds_of)),
        auroc=found.get("auroc"),
        brier=found.get("brier"),
        ece=found.get("ece"),
        warnings=tuple(said),
        options=checked_options(options, list(scores)),
        answers=len(truth),
    )
    return Fit(replace(calibration, fitted_on=fitted_on), rows, truth, within, probabilities, folds_of)


def complete(
    scores: Mapping[str, Sequence[float | None]], count: int, directions: Mapping[str, bool]
) -> tuple[Array, Places]:
    """The answers that have every score, a row each, and their positions.

    Raises:
        ConfigurationError: There is no score, not one value for each of `count` answers, or a direction lacks.
    """
    if not scores:
        raise ConfigurationError("there is no score to fit on")
    for name, values in scores.items():
        if len(values) != count:
            raise ConfigurationError(f"there are {count} labels but {len(values)} values of {name}")
        if not isinstance(directions.get(name), bool):
            raise ConfigurationError(f"directions lacks {name}: say {{{name!r}: True}} where higher is better")
    columns = [[finite(value) for value in values] for values in scores.values()]
    kept = [row for row in range(count) if all(column[row] is not None for column in columns)]
    rows = np.array(kept, dtype=np.intp)
    matrix = np.array([[column[row] for column in columns] for row in kept], dtype=np.float64)
    return matrix.reshape(len(kept), len(columns)), rows


def _truth(labels: Sequence[bool | int]) -> Labels:
    kinds = bool | int | np.bool_ | np.integer
    wrong = [label for label in labels if not (isinstance(label, kinds) and label in (0, 1))]
    if wrong:
        raise ConfigurationError(f"a label must be True (1, hallucinated) or False (0), not {wrong[0]!r}")
    return np.array(labels, dtype=np.bool_)


def _numbered(groups: Sequence[Hashable]) -> Places:
    """The groups as numbers from 0, in the order of their first appearance."""
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    return np.array([numbers[group] for group in groups], dtype=np.intp)


def _check(matrix: Array, truth: Labels, names: Sequence[str], given: int) -> None:
    if not len(truth):
        raise ConfigurationError(f"none of {given} labelled answers has every score ({', '.join(names)})")
    if truth.all() or not truth.any():
        only = "hallucinated" if truth.any() else "right"
        raise ConfigurationError(
            f"all {len(truth)} labelled answers that have every score are {only}: nothing can be fitted on one class"
        )
    refuse_constant(matrix, names, "labelled answers")


_ROUNDING = 1e-12
"""Scores that differ by less, beside the largest of them, differ by rounding."""


def refuse_constant(matrix: Array, names: Sequence[str], what: str) -> None:
    """Refuse scores that are the same for all answers.

    Raises:
        ConfigurationError: Names them.
    """
    # Cosines of equal texts differ by some 1e-16, which as a standard deviation would make a number of nothing.
    constant = [
        name
        for name, column in zip(names, matrix.T, strict=True)
        if column.max() - column.min() <= _ROUNDING * np.abs(column).max()
    ]
    if constant:
        raise ConfigurationError(f"{', '.join(constant)} is the same for all {what}: leave it out")


def _fitted(
    matrix: Array, truth: Labels, method: FittedMethod, directions: Mapping[str, bool], name: str
) -> Calibration:
    features = standardised(matrix, directions)
    turned = np.array([-1.0 if feature.higher_is_better else 1.0 for feature in features])
    z = turned * (matrix - [feature.mean for feature in features]) / [feature.sd for feature in features]
    if method == "isotonic":
        return Calibration(name, method, features, knots=_isotonic(z[:, 0], truth))
    inputs = z if method == "logistic" else z.sum(axis=1, keepdims=True)
    intercept, coefficients = _logistic(inputs, truth)
    each = coefficients if method == "logistic" else coefficients * len(features)
    return Calibration(name, method, features, intercept=intercept, coefficients=each)


def standardised(matrix: Array, directions: Mapping[str, bool]) -> tuple[Feature, ...]:
    """The scores, a column each, with their means and standard deviations."""
    return tuple(
        Feature(one, higher_is_better, float(column.mean()), _sd(column))
        for (one, higher_is_better), column in zip(directions.items(), matrix.T, strict=True)
    )


def _sd(column: Array) -> float:
    """The standard deviation; 1 where there is none: a fold's answers may be alike where all of them are not."""
    sd = float(column.std())
    # Equal values may have one by rounding alone, and one that is too small leaves no finite distances.
    return sd if column.min() < column.max() and sd > _SMALLEST_SD else 1.0


def _logistic(inputs: Array, truth: Labels) -> tuple[float, tuple[float, ...]]:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=1000).fit(inputs, truth)
    return float(model.intercept_[0]), tuple(float(one) for one in model.coef_[0])


def _isotonic(z: Array, truth: Labels) -> tuple[tuple[float, float], ...]:
    from sklearn.isotonic import IsotonicRegression

    model = IsotonicRegression(y_min=0.0, y_max=1.0, increasing=True).fit(z, truth)
    return tuple(zip(model.X_thresholds_.tolist(), model.y_thresholds_.tolist(), strict=True))


_NOT_VALIDATED = "not cross-validated: too few groups hold both classes for folds that share none"


def _cross_validated(
    matrix: Array, truth: Labels, folds: Places | None, method: FittedMethod, directions: Mapping[str, bool]
) -> tuple[Array, Places] | None:
    """Each answer's probability by a fit on the other folds, and its fold."""
    if folds is None:
        return None
    probabilities = np.empty(len(truth))
    for fold in np.unique(folds):
        out = folds == fold
        fitted = _fitted(matrix[~out], truth[~out], method, directions, "fold")
        rows = matrix[out].tolist()
        probabilities[out] = [fitted.probability(dict(zip(directions, row, strict=True))) for row in rows]
    return probabilities, folds


def _folds(truth: Labels, within: Places, folds: int, seed: int) -> Places | None:
    """The fold of each answer, or None: groups stay whole, and what is outside of a fold holds both classes."""
    from sklearn.model_selection import StratifiedGroupKFold

    # The groups that hold each class, and the members of each class, bound the number of folds.
    most = min(min(len(np.unique(within[truth == label])), (truth == label).sum()) for label in (False, True))
    if most < 2:
        return None
    splitter = StratifiedGroupKFold(min(folds, int(most)), shuffle=True, random_state=seed)
    placed = np.empty(len(truth), dtype=np.intp)
    for fold, (_, out) in enumerate(splitter.split(np.zeros(len(truth)), truth, within)):
        placed[out] = fold
    # With two folds of few groups, one class may still be all in one of them.
    both = (len(np.unique(truth[placed != fold])) == 2 for fold in np.unique(placed))
    return placed if all(both) else None


def _doubts(calibration: Calibration, truth: Labels) -> list[str]:
    """What makes a fit doubtful."""
    said = []
    if len(truth) < ENOUGH:
        said.append(f"fitted on only {len(truth)} labels; {ENOUGH} are the least to rely on")
    for count, which in ((int(truth.sum()), "hallucinated"), (int((~truth).sum()), "right")):
        if count < _ENOUGH_OF_A_CLASS:
            said.append(f"only {count} of its {len(truth)} labelled answers {'is' if count == 1 else 'are'} {which}")
    if calibration.coefficients and max(calibration.coefficients) <= 0:
        said.append("its scores point against the labels: are the directions or the labels turned around?")
    return said


def _figures(
    truth: Labels, probabilities: Array, within: Places, folds: Places, resamples: int, seed: int
) -> dict[str, Estimate]:
    """How good cross-validated probabilities are, with intervals over resampled groups."""
    draws = ranking.resampled(int(within.max()) + 1, resamples, seed)

    def figure(statistic: Callable[[Array], Array]) -> Estimate:
        return ranking.estimate(statistic, draws, within=within)

    return {
        "auroc": figure(lambda w: _auroc_within(folds, truth, probabilities, w)),
        "brier": figure(lambda w: brier(truth, probabilities, w)),
        "ece": _ece(truth, probabilities, draws[:, within]),
    }


def _auroc_within(folds: Places, truth: Labels, probabilities: Array, weights: Array) -> Array:
    """AUROC over the pairs of answers that share a fold.

    Each fold has a fit of its own, whose level falls where the fold holds many positives, for they are missing from
    what it was fitted on. Pairs across folds would see that, and give a score of pure noise less than one half.
    """
    total, pairs = np.zeros(weights.shape[:-1]), np.zeros(weights.shape[:-1])
    for fold in np.unique(folds):
        own = folds == fold
        drawn, positive = weights[..., own], truth[own]
        count = (drawn * positive).sum(-1) * (drawn * ~positive).sum(-1)
        total += np.where(count > 0, np.nan_to_num(ranking.auroc(positive, probabilities[own], drawn)) * count, 0.0)
        pairs += count
    with np.errstate(invalid="ignore"):
        found: Array = total / pairs
    return found


def _ece(truth: Labels, probabilities: Array, drawn: NDArray[np.int64]) -> Estimate:
    """The calibration error with its interval, shifted by as much as resampling alone raises the figure.

    Without a value where there are too few labels for one.

    Drawing again adds noise, and noise is error that only adds up: the plain percentile interval of probabilities that
    come true lies above the figure itself.
    """
    value = float(expected_calibration_error(truth, probabilities))
    if np.isnan(value):
        return Estimate(None)
    spread = expected_calibration_error(truth, probabilities, drawn)
    low, high = np.quantile(spread, [(1 - ranking.CONFIDENCE) / 2, (1 + ranking.CONFIDENCE) / 2])
    raised = float(spread.mean()) - value
    return Estimate(value, max(0.0, float(low) - raised), float(high) - raised)


def auroc_of(
    scores: ArrayLike, labels: ArrayLike, groups: Sequence[int] | Places, *, resamples: int = 1000, seed: int = 0
) -> Estimate:
    """AUROC of a score as it is, higher meaning hallucinated, with its interval over resampled groups.

    Args:
        scores: Shape (n,).
        labels: Which answers are hallucinated, shape (n,).
        groups: The group of each, numbered from 0 without gaps, shape (n,).
        resamples: See `fit_calibration`.
        seed: See `fit_calibration`.

    Example:
        >>> auroc_of([0.1, 0.4, 0.3, 0.9], [False, False, True, True], [0, 1, 2, 3]).value
        0.75
    """
    within = np.asarray(groups, dtype=np.intp)
    draws = ranking.resampled(int(within.max()) + 1, resamples, seed)
    return ranking.estimate(lambda w: ranking.auroc(labels, scores, w), draws, within=within)
