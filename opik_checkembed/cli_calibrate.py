"""`opik-checkembed calibrate`: from finished results and labels to thresholds and probabilities."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from opik_checkembed.cli_console import console
from opik_checkembed.errors import ConfigurationError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from opik_checkembed.calibration.fit import Fit
    from opik_checkembed.calibration.thresholds import OperatingPoint
    from opik_checkembed.report.reliability_plot import CalibrationRow
    from opik_checkembed.results import ItemResult, LocalResults

# Click keeps the lines of a paragraph that begins with a backspace.
_EXAMPLES = """\b
opik-checkembed calibrate results.json --labels labels.csv --group source --out calibration.json
opik-checkembed calibrate results.json --labels labels.csv --score checkembed_metric --fpr 0.05
opik-checkembed calibrate results.json --method equal --out moments.json
"""

# A column of whole numbers that lacks one is written as 1.0 and 0.0 by pandas.
_TRUTH = {
    **dict.fromkeys(("1", "1.0", "true", "yes"), True),
    **dict.fromkeys(("0", "0.0", "false", "no"), False),
}
# What a label that is missing may be read as.
_NO_LABEL = frozenset(("", "nan", "none", "null"))

_OF_LABELS = ("id_column", "label_column", "labelled_only", "group", "folds", "fpr", "best_f1", "plot")
_SHOWN = 5


@click.command(epilog=_EXAMPLES)
@click.argument("results", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--labels",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="CSV, JSONL or JSON with an id and a label for each item: 1 (true, yes) hallucinated, 0 (false, no) right.",
)
@click.option("--id-column", default="id", show_default=True, help="Where the labels' file holds the item's id.")
@click.option("--label-column", default="label", show_default=True, help="Where it holds the label.")
@click.option("--labelled-only", is_flag=True, help="Leave out items without a label instead of stopping.")
@click.option(
    "--score",
    "scores",
    multiple=True,
    metavar="NAME[:higher|:lower]",
    help="A score to read, and which way is better where RESULTS does not say; SCORE.NUMBER reads a number of its "
    "evidence. Repeatable; if not given all scores but those made of others, as an ensemble's is.",
)
@click.option(
    "--method",
    type=click.Choice(["logistic", "isotonic", "equal"]),
    default="logistic",
    show_default=True,
    help="How scores are weighed; equal works without --labels, and then stores their means and deviations alone.",
)
@click.option("--group", help="The field of the items that says what belongs together (passage, source, question).")
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Of the cross-validation.")
@click.option("--fpr", type=click.FloatRange(0, 1), help="Flag at most this share of right answers; 0.1 if not given.")
@click.option("--best-f1", is_flag=True, help="Choose the threshold with the best F1 instead.")
@click.option("--name", help="What reasons will call the calibration; the file's name if not given.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the calibration as JSON.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw the reliability diagram.")
def calibrate(results: Path, **options: Any) -> None:
    """Fit the scores in RESULTS to labels: what each is worth, and one probability from all.

    RESULTS is what `run --out` or `LocalResults.to_json` wrote. Figures are cross-validated in folds that share no
    group. The calibration that --out writes is what EnsembleMetric takes as `weights`, and `rethreshold` reads finished
    results with.

    Without labels, --method equal stores the mean and standard deviation of each score. With them as its `weights`, an
    EnsembleMetric says how doubtful an answer is beside those in RESULTS, all scores weighing the same.
    """
    from opik_checkembed.calibration.model import CalibrationWarning
    from opik_checkembed.report.reliability_plot import calibration_table, save_reliability_plot
    from opik_checkembed.results import LocalResults

    if options["best_f1"] and options["fpr"] is not None:
        raise click.UsageError("--fpr and --best-f1 are two ways to choose the threshold: give one")
    if options["labels"] is None:
        _refuse_options_of_labels(options)
        _store_moments(LocalResults.from_json(results), options, results.stem)
        return
    found = LocalResults.from_json(results)
    directions = _directions(found, options["scores"])
    items, labels = _labelled(found, options)
    with warnings.catch_warnings():
        # They stand under the table.
        warnings.simplefilter("ignore", CalibrationWarning)
        fit, rows = _fitted(items, labels, directions, options, results.stem)
    console().print(calibration_table(rows, fit.fitted_on))
    if options["out"] is not None:
        fit.calibration.to_json(options["out"])
        click.echo(f"Wrote {options['out']}")
    if options["plot"] is not None:
        if fit.probabilities is None:
            raise ConfigurationError("without cross-validation there is nothing to draw: label more groups")
        save_reliability_plot(fit.labels, fit.probabilities, options["plot"], title=_title(fit))
        click.echo(f"Wrote {options['plot']}")


def _refuse_options_of_labels(options: Mapping[str, Any]) -> None:
    if options["method"] != "equal":
        raise click.UsageError(
            f"--method {options['method']} needs --labels; without labels, --method equal stores the moments of the "
            "scores"
        )
    source = click.get_current_context().get_parameter_source
    given = [f"--{name.replace('_', '-')}" for name in _OF_LABELS if source(name) is ParameterSource.COMMANDLINE]
    if given:
        raise click.UsageError(f"{', '.join(given)} cannot be followed without --labels")


def _store_moments(results: LocalResults, options: Mapping[str, Any], data: str) -> None:
    from opik_checkembed.calibration.model import CalibrationWarning
    from opik_checkembed.calibration.moments import fit_moments
    from opik_checkembed.report.reliability_plot import moments_table

    directions = _directions(results, options["scores"])
    with warnings.catch_warnings():
        # They stand under the table.
        warnings.simplefilter("ignore", CalibrationWarning)
        found = fit_moments(results, list(directions), directions=directions, name=_name(options), data=data)
    assert found.fitted_on is not None  # it was just measured
    console().print(moments_table(found.features, found.fitted_on))
    if options["out"] is not None:
        found.to_json(options["out"])
        click.echo(f"Wrote {options['out']}")


def _name(options: Mapping[str, Any]) -> str:
    return options["name"] or (options["out"].stem if options["out"] else "calibration")


def _fitted(
    items: Sequence[ItemResult],
    labels: Sequence[bool],
    directions: Mapping[str, bool],
    options: Mapping[str, Any],
    data: str,
) -> tuple[Fit, list[CalibrationRow]]:
    """The fit with its threshold, and the table's rows: each score alone, over the same answers, and the fit."""
    import numpy as np

    from opik_checkembed.calibration.apply import feature_value, sampled
    from opik_checkembed.calibration.fit import auroc_of, fit_calibration
    from opik_checkembed.calibration.options import options_in
    from opik_checkembed.report.reliability_plot import CalibrationRow

    scores = {name: [feature_value(item, name) for item in items] for name in directions}
    groups = None if options["group"] is None else [_group(item, options["group"]) for item in items]
    sets = [sampled(item, list(directions)) for item in items]
    common: dict[str, Any] = {
        "data": data,
        "models": sorted({model for models, _ in sets for model in models}),
        "num_samples": sorted({count for _, counts in sets for count in counts}),
        "folds": options["folds"],
    }
    fit = fit_calibration(
        scores,
        labels,
        directions=directions,
        groups=groups,
        method=options["method"],
        name=_name(options),
        options=options_in(items, list(directions)),
        **common,
    )
    rows: list[CalibrationRow] = []
    for one, higher_is_better in directions.items():
        values = np.array([scores[one][row] for row in fit.rows], dtype=np.float64)
        alone = fit_calibration(
            {one: values.tolist()},
            fit.labels.tolist(),
            directions={one: higher_is_better},
            groups=fit.groups.tolist(),
            name=one,
            **common,
        )
        point = _chosen(values, fit.labels, options, higher_is_better)
        told, worse = alone.fitted_on, -values if higher_is_better else values
        rows.append(
            CalibrationRow(one, auroc_of(worse, fit.labels, fit.groups), told.brier, told.ece, point, higher_is_better)
        )
    chosen: OperatingPoint | None = None
    if fit.probabilities is None:
        click.echo(f"No threshold can be chosen without cross-validation: it stays {fit.calibration.threshold:g}")
    else:
        chosen = _chosen(fit.probabilities, fit.labels, options)
        fit = replace(fit, calibration=replace(fit.calibration, threshold=chosen.threshold))
    told = fit.fitted_on
    rows.append(CalibrationRow(f"fitted ({options['method']})", told.auroc, told.brier, told.ece, chosen))
    return fit, rows


def _chosen(
    scores: ArrayLike, labels: ArrayLike, options: Mapping[str, Any], higher_is_better: bool = False
) -> OperatingPoint:
    from opik_checkembed.calibration.thresholds import threshold_at_fpr, threshold_best_f1

    if options["best_f1"]:
        return threshold_best_f1(scores, labels, higher_is_better=higher_is_better)
    fpr = 0.1 if options["fpr"] is None else options["fpr"]
    return threshold_at_fpr(scores, labels, fpr, higher_is_better=higher_is_better)


def _directions(results: LocalResults, scores: Sequence[str]) -> dict[str, bool]:
    """The scores to read, with `higher_is_better` of each."""
    from opik_checkembed.calibration.apply import independent, known

    names = scores or independent(results)
    if not scores and (left := [name for name in results.names if name not in names]):
        click.echo(f"{', '.join(left)} left out: made of other scores of the results; --score reads it all the same")
    found: dict[str, bool] = {}
    for text in names:
        name, _, way = text.rpartition(":")
        if way not in {"higher", "lower"} or not name:
            name, way = text, ""
        said = results.directions.get(name)
        if not way and said is None:
            raise ConfigurationError(
                f"the results do not say which way {name} is better: give --score {name}:higher or --score {name}:lower"
            )
        higher = way == "higher" if way else bool(said)
        if found.setdefault(name, higher) != higher:
            raise ConfigurationError(f"--score names {name} with both ways")
    known(results, list(found))
    return found


def _labelled(results: LocalResults, options: Mapping[str, Any]) -> tuple[list[ItemResult], list[bool]]:
    """The items with a label, and their labels.

    Raises:
        ConfigurationError: Ids do not match, or stand twice; says which.
    """
    from opik_checkembed.items import load_items

    path, column = options["labels"], options["label_column"]
    rows = [(row.get(options["id_column"]), row.get(column)) for row in load_items(path)]
    lacking = [number for number, (identity, _) in enumerate(rows, 1) if identity is None]
    if all(_is_missing(label) for _, label in rows):
        lacking = list(range(1, len(rows) + 1))
    if lacking:
        raise ConfigurationError(
            f"{path}: {_some(lacking, 'row')} without {options['id_column']} or {column}; name the columns with "
            "--id-column and --label-column"
        )
    labels = {str(one): _label(label, f"{path}, id {one}") for one, label in rows if not _is_missing(label)}
    ids = [item.id for item in results.items]
    for where, given in ((path, [str(identity) for identity, _ in rows]), ("the results", ids)):
        twice = [identity for identity, count in Counter(given).items() if count > 1]
        if twice:
            raise ConfigurationError(f"{_some(twice, 'id')} in {where} more than once: a label belongs to one answer")
    known = set(ids)
    unknown = [identity for identity in labels if identity not in known]
    if unknown:
        raise ConfigurationError(f"{_some(unknown, 'label')} of {len(labels)} without an item in the results")
    unlabelled = [identity for identity in ids if identity not in labels]
    if unlabelled and not options["labelled_only"]:
        raise ConfigurationError(
            f"{_some(unlabelled, 'item')} of {len(ids)} without a label in {path}; --labelled-only leaves them out"
        )
    if unlabelled:
        click.echo(f"{_some(unlabelled, 'item')} of {len(ids)} without a label left out")
    items = [item for item in results.items if item.id in labels]
    return items, [labels[item.id] for item in items]


def _is_missing(label: object) -> bool:
    return str(label).strip().lower() in _NO_LABEL


def _label(value: object, where: str) -> bool:
    text = str(value).strip().lower()
    if text not in _TRUTH:
        raise ConfigurationError(
            f"{where}: a label is 1, true or yes (hallucinated) or 0, false or no (right), not {value!r}"
        )
    return _TRUTH[text]


def _group(item: ItemResult, field: str) -> str:
    fields = {**item.item, **item.output}
    if fields.get(field) is None:
        raise ConfigurationError(f"item {item.id} has no field {field!r} to group by; it has {', '.join(fields)}")
    return str(fields[field])


def _some(found: Sequence[object], what: str) -> str:
    """How many, and the first few of them."""
    more = ", ..." if len(found) > _SHOWN else ""
    return f"{len(found)} {what}{'s' if len(found) > 1 else ''} ({', '.join(map(str, found[:_SHOWN]))}{more})"


def _title(fit: Fit) -> str:
    ece = fit.fitted_on.ece
    said = "" if ece is None or ece.value is None else f", ECE {ece.value:.3f}"
    return f"{fit.calibration.name} on {fit.fitted_on.data}{said}"
