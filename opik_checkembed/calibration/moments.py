"""Means and standard deviations of finished scores: what makes scores of different scales comparable without labels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from opik_checkembed._version import __version__
from opik_checkembed.calibration.apply import feature_value, independent, known, sampled
from opik_checkembed.calibration.fit import ENOUGH, complete, refuse_constant, standardised
from opik_checkembed.calibration.model import Calibration, CalibrationWarning, FittedOn
from opik_checkembed.calibration.options import options_in
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.results import LocalResults

# The least threshold that no place between 0 and 1 reaches.
_FLAGS_NONE = math.nextafter(1.0, 2.0)


def fit_moments(
    results: LocalResults,
    scores: Sequence[str] | None = None,
    *,
    directions: Mapping[str, bool] | None = None,
    name: str = "moments",
    data: str = "results",
) -> Calibration:
    """Store the mean and standard deviation of each score, to weigh all alike in an `EnsembleMetric`; needs no label.

    The calibration that comes of it says how doubtful an answer is beside those of `results`, and no probability: see
    "moments" in `Calibration`. It flags nothing by itself: give it a `threshold` (`dataclasses.replace`), or one to
    `rethreshold`. Answers that lack a score are left out, and counted.

    Args:
        results: Of answers like those that it will be applied to; some fifty or more.
        scores: Names of the scores to read, or of numbers of their evidence ("checkembed_metric.std"); None for all but
            those that are made of others (an ensemble's).
        directions: `higher_is_better` of those scores whose direction the results do not say.
        name: What reasons will call it.
        data: Name of the results, for the record.

    Raises:
        ConfigurationError: No item has such a score, a direction lacks, or a score is the same for all answers.

    Example:
        >>> from opik_checkembed.results import ItemResult, Score
        >>> items = [ItemResult(str(n), {}, {}, (Score("doubt", n / 4), Score("surprise", n % 3))) for n in range(60)]
        >>> moments = fit_moments(LocalResults(tuple(items), {"doubt": False, "surprise": False}))
        >>> moments.probability(moments.means), round(moments.probability({"doubt": 9.0, "surprise": 2}), 2)
        (0.5, 0.79)
    """
    names = list(independent(results) if scores is None else scores)
    known(results, names)
    ways = {**{one: way for one in names if (way := results.directions.get(one)) is not None}, **(directions or {})}
    columns = {one: [feature_value(item, one) for item in results.items] for one in names}
    matrix, rows = complete(columns, len(results.items), ways)
    if not len(rows):
        raise ConfigurationError(f"none of {len(results.items)} answers has every score ({', '.join(names)})")
    refuse_constant(matrix, names, f"{len(rows)} answers, so that its distances from the mean say nothing")
    few = f"the moments of only {len(rows)} answers; {ENOUGH} are the least to rely on"
    said = [few] if len(rows) < ENOUGH else []
    for text in said:
        warnings.warn(f"the calibration {name!r}: {text}", CalibrationWarning, stacklevel=2)
    items = [results.items[row] for row in rows]
    sets = [sampled(item, names) for item in items]
    fitted_on = FittedOn(
        data=data,
        labels=0,
        positives=0,
        groups=len(items),
        left_out=len(results.items) - len(items),
        models=tuple(sorted({model for models, _ in sets for model in models})),
        num_samples=tuple(sorted({count for _, counts in sets for count in counts})),
        metrics=tuple(names),
        date=datetime.now(UTC).date().isoformat(),
        package=__version__,
        folds=0,
        auroc=None,
        brier=None,
        ece=None,
        warnings=tuple(said),
        options=options_in(items, names),
        answers=len(items),
    )
    features = standardised(matrix, {one: ways[one] for one in names})
    return Calibration(name, "moments", features, threshold=_FLAGS_NONE, fitted_on=fitted_on)
