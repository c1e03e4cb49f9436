from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from click.testing import CliRunner, Result

from opik_checkembed.calibration import Calibration, rethreshold
from opik_checkembed.cli import cli
from opik_checkembed.cli_calibrate import calibrate
from opik_checkembed.results import ItemResult, LocalResults, Score


@pytest.fixture(autouse=True)
def _plain_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")


def call(*arguments: str | Path) -> Result:
    # The package's own group, which turns its errors into a line.
    group = type(cli)("opik-checkembed", commands={"calibrate": calibrate})
    return CliRunner().invoke(group, ["calibrate", *map(str, arguments)])


def results_of(count: int = 80) -> tuple[LocalResults, list[int]]:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, count)
    items = []
    for number, label in enumerate(labels.tolist()):
        agreement, doubt = float(rng.normal(0.8 - 0.1 * label, 0.1)), float(rng.normal(2.0 * label, 1.5))
        scores = (
            Score("agreement", agreement, evidence={"std": doubt / 10}, samples=0),
            Score("doubt", None if number == 3 else doubt, "failed" if number == 3 else None, samples=0),
        )
        samples = {
            "requested": 5,
            "samples": [{"text": "x", "status": "ok", "model": "gpt", "origin": "asked"}],
            "failures": [],
            "notes": [],
            "temperature": 1.0,
            "cost_usd": 0.0,
            "calls": 5,
        }
        items.append(ItemResult(f"q{number}", {"source": number // 2}, {"output": "x"}, scores, (samples,)))
    return LocalResults(tuple(items), directions={"agreement": True, "doubt": False}), labels.tolist()


@pytest.fixture
def results(tmp_path: Path) -> Path:
    results_of()[0].to_json(tmp_path / "results.json")
    return tmp_path / "results.json"


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    return written(tmp_path / "labels.csv", [(f"q{number}", label) for number, label in enumerate(results_of()[1])])


def written(path: Path, rows: Sequence[Sequence[Any]], header: Sequence[str] = ("id", "label")) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def test_scores_and_fit_stand_in_a_table_and_in_a_file(results: Path, labels: Path, tmp_path: Path) -> None:
    out, plot = tmp_path / "mine.json", tmp_path / "plot.png"
    done = call(results, "--labels", labels, "--group", "source", "--out", out, "--plot", plot)
    assert done.exit_code == 0, done.output
    words = [line.split() for line in done.output.splitlines()]
    figures = {row[0]: row for row in words if row and row[0] in {"agreement", "doubt", "fitted"}}
    assert "<=" in figures["agreement"]
    assert ">=" in figures["doubt"]
    assert float(figures["fitted"][-1]) <= 0.1
    assert float(figures["fitted"][2]) > max(float(figures[name][1]) for name in ("agreement", "doubt"))
    assert "79 labelled answers in 40 groups" in done.output
    assert "1 more answers were left out" in done.output
    assert plot.stat().st_size > 1000

    calibration = Calibration.from_json(out)
    told = calibration.fitted_on
    assert told is not None
    assert (calibration.name, calibration.method, calibration.names) == ("mine", "logistic", ("agreement", "doubt"))
    assert (told.data, told.models, told.num_samples, told.groups) == ("results", ("gpt",), (5,), 40)
    found = rethreshold(LocalResults.from_json(results), calibration)
    assert found.unscored == ("q3",)
    assert found.warnings == ()
    assert 0 < len(found.flagged) < 80


def test_one_score_by_isotonic_with_the_best_f1(results: Path, labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "calibration.json"
    done = call(
        *(results, "--labels", labels, "--score", "doubt", "--method", "isotonic", "--best-f1"),
        *("--name", "curve", "--out", out),
    )
    assert done.exit_code == 0, done.output
    calibration = Calibration.from_json(out)
    assert (calibration.name, calibration.method, calibration.names) == ("curve", "isotonic", ("doubt",))


def test_a_number_of_the_evidence_and_a_direction_can_be_named(results: Path, labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "calibration.json"
    scores = ("--score", "agreement:higher", "--score", "agreement.std:lower")
    done = call(results, "--labels", labels, *scores, "--method", "equal", "--out", out)
    assert done.exit_code == 0, done.output
    features = Calibration.from_json(out).features
    assert [(one.name, one.higher_is_better) for one in features] == [("agreement", True), ("agreement.std", False)]
    unsaid = call(results, "--labels", labels, "--score", "agreement.std")
    assert unsaid.exit_code == 1
    assert "--score agreement.std:higher or --score agreement.std:lower" in unsaid.output


def test_labels_are_read_from_jsonl_with_columns_of_any_name(results: Path, tmp_path: Path) -> None:
    rows = [{"item": f"q{number}", "wrong": bool(label)} for number, label in enumerate(results_of()[1])]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = call(results, "--labels", path, "--id-column", "item", "--label-column", "wrong")
    assert done.exit_code == 0, done.output
    lacking = call(results, "--labels", path)
    assert lacking.exit_code == 1
    assert "80 rows (1, 2, 3, 4, 5, ...) without id or label" in lacking.output


def test_items_without_a_label_stop_it_or_are_left_out_on_demand(results: Path, tmp_path: Path) -> None:
    some = written(tmp_path / "some.csv", [(f"q{n}", label) for n, label in enumerate(results_of()[1]) if n >= 2])
    stopped = call(results, "--labels", some)
    assert stopped.exit_code == 1
    assert "2 items (q0, q1) of 80 without a label" in stopped.output
    assert "--labelled-only" in stopped.output
    done = call(results, "--labels", some, "--labelled-only")
    assert done.exit_code == 0, done.output
    assert "2 items (q0, q1) of 80 without a label left out" in done.output
    assert "77 labelled answers" in done.output


@pytest.mark.parametrize(("right", "hallucinated"), [("0.0", "1.0"), ("no", "YES"), ("False", "true")])
def test_labels_are_read_as_people_and_pandas_write_them(
    results: Path, labels: Path, tmp_path: Path, right: str, hallucinated: str
) -> None:
    rows = [(f"q{number}", hallucinated if label else right) for number, label in enumerate(results_of()[1])]
    outs = tmp_path / "one.json", tmp_path / "other.json"
    for given, out in zip((labels, written(tmp_path / "other.csv", rows)), outs, strict=True):
        done = call(results, "--labels", given, "--score", "agreement", "--name", "x", "--out", out)
        assert done.exit_code == 0, done.output
    assert Calibration.from_json(outs[0]) == Calibration.from_json(outs[1])


def test_a_frame_that_lacks_labels_is_read_as_it_was_written(results: Path, tmp_path: Path) -> None:
    labels: list[float | None] = [float(label) for label in results_of()[1]]
    labels[:2] = [None, None]
    frame = pandas.DataFrame({"id": [f"q{number}" for number in range(80)], "label": labels})
    frame.to_csv(tmp_path / "labels.csv", index=False)
    frame.to_json(tmp_path / "labels.json", orient="records")
    (tmp_path / "nan.jsonl").write_text(
        "".join(
            json.dumps({"id": f"q{n}", "label": float("nan") if one is None else one}) + "\n"
            for n, one in enumerate(labels)
        )
    )
    for name in ("labels.csv", "labels.json", "nan.jsonl"):
        stopped = call(results, "--labels", tmp_path / name)
        assert stopped.exit_code == 1
        assert "2 items (q0, q1) of 80 without a label" in stopped.output
        done = call(results, "--labels", tmp_path / name, "--labelled-only")
        assert done.exit_code == 0, done.output
        assert "77 labelled answers" in done.output


def test_without_labels_the_moments_of_the_scores_are_stored(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "moments.json"
    done = call(results, "--method", "equal", "--out", out)
    assert done.exit_code == 0, done.output
    assert "Moments: results" in done.output
    assert "79 answers, none of them labelled" in done.output
    moments = Calibration.from_json(out)
    assert (moments.name, moments.method, moments.names) == ("moments", "moments", ("agreement", "doubt"))
    values = [item.scores[0].value for item in results_of()[0].items if item.id != "q3"]
    assert moments.means["agreement"] == pytest.approx(np.mean(np.array(values, dtype=np.float64)))
    told = moments.fitted_on
    assert told is not None
    assert (told.data, told.models, told.num_samples, told.left_out) == ("results", ("gpt",), (5,), 1)

    shown = call(results, "--method", "equal", "--score", "doubt", "--name", "mine")
    assert shown.exit_code == 0, shown.output
    assert "agreement" not in shown.output


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "--method logistic needs --labels; without labels, --method equal stores the moments"),
        (("--method", "isotonic"), "--method isotonic needs --labels"),
        (("--method", "equal", "--fpr", "0.1"), "--fpr cannot be followed without --labels"),
        (("--method", "equal", "--folds", "3", "--best-f1"), "--folds, --best-f1 cannot be followed without --labels"),
        (("--method", "equal", "--plot", "x.png", "--group", "source"), "--group, --plot cannot be followed"),
    ],
)
def test_what_needs_labels_is_refused_without_them(results: Path, options: tuple[str, ...], says: str) -> None:
    done = call(results, *options)
    assert done.exit_code == 2
    assert says in " ".join(done.output.replace("│", " ").split())


def test_how_the_metrics_were_set_up_is_kept(labels: Path, tmp_path: Path) -> None:
    found, _ = results_of()
    items = tuple(
        replace(item, scores=tuple(replace(one, evidence={"options": {"n": 1}}) for one in item.scores))
        for item in found.items
    )
    LocalResults(items, found.directions).to_json(tmp_path / "told.json")
    out = tmp_path / "calibration.json"
    done = call(tmp_path / "told.json", "--labels", labels, "--score", "agreement", "--out", out)
    assert done.exit_code == 0, done.output
    assert Calibration.from_json(out).mismatches(options={"agreement": {"n": 2}}) == (
        "it was fitted on agreement with n=1, not n=2",
    )


def test_a_threshold_close_below_1_can_be_acted_on(labels: Path, tmp_path: Path) -> None:
    found, truth = results_of()
    items = tuple(
        replace(item, scores=(Score("agreement", 1 - 1e-5 * (2 * truth[row] + (row % 5) / 4)),))
        for row, item in enumerate(found.items)
    )
    results = LocalResults(items, {"agreement": True})
    results.to_json(tmp_path / "crowded.json")
    done = call(tmp_path / "crowded.json", "--labels", labels, "--best-f1")
    assert done.exit_code == 0, done.output
    (threshold,) = re.findall(r"<= (\S+)", done.output)
    assert 0.9999 < float(threshold) < 1
    flagged = rethreshold(results, "agreement", float(threshold)).flagged
    assert [truth[int(one[1:])] for one in flagged] == [1] * sum(truth)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([("q0", "1"), ("z9", "0")], "1 label (z9) of 2 without an item in the results"),
        ([("q0", "1"), ("q0", "0")], "1 id (q0) in"),
        ([("q0", "maybe")], "a label is 1, true or yes (hallucinated) or 0, false or no (right), not 'maybe'"),
        ([("q0", "0.5")], "not '0.5'"),
        ([("", "1"), ("q1", "0")], "1 row (1) without id or label"),
        ([("q0", "")], "1 row (1) without id or label"),
    ],
)
def test_labels_that_fit_no_item_are_listed(
    results: Path, tmp_path: Path, rows: list[tuple[str, str]], says: str
) -> None:
    done = call(results, "--labels", written(tmp_path / "labels.csv", rows))
    assert done.exit_code == 1
    assert says in done.output
    assert "Traceback" not in done.output


def test_trials_of_one_item_share_no_label(tmp_path: Path, labels: Path) -> None:
    found, _ = results_of()
    twice = LocalResults((*found.items, found.items[0]), found.directions)
    twice.to_json(tmp_path / "twice.json")
    done = call(tmp_path / "twice.json", "--labels", labels)
    assert done.exit_code == 1
    assert "1 id (q0) in the results more than once: a label belongs to one answer" in done.output


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (("--fpr", "0.1", "--best-f1"), 2, "two ways to choose the threshold"),
        (("--group", "passage"), 1, "item q0 has no field 'passage' to group by; it has source, output"),
        (("--score", "nli:lower"), 1, "no item has a value of nli"),
        (("--method", "isotonic"), 1, "'isotonic' reads one score"),
    ],
)
def test_options_that_cannot_be_followed(
    results: Path, labels: Path, options: tuple[str, ...], code: int, says: str
) -> None:
    done = call(results, "--labels", labels, *options)
    assert done.exit_code == code
    assert says in done.output


def test_without_cross_validation_no_threshold_is_chosen_and_nothing_drawn(
    labels: Path, results: Path, tmp_path: Path
) -> None:
    found, truth = results_of()
    items = tuple(
        ItemResult(one.id, {"topic": "all" if label else one.id}, {}, one.scores, one.samples)
        for one, label in zip(found.items, truth, strict=True)
    )
    LocalResults(items, found.directions).to_json(tmp_path / "grouped.json")
    out = tmp_path / "calibration.json"
    arguments = (tmp_path / "grouped.json", "--labels", labels, "--group", "topic", "--out", out)
    done = call(*arguments)
    assert done.exit_code == 0, done.output
    assert "No threshold can be chosen without cross-validation: it stays 0.5" in done.output
    assert "Warning: not cross-validated" in done.output
    assert Calibration.from_json(out).threshold == 0.5
    drawn = call(*arguments, "--plot", tmp_path / "plot.png")
    assert drawn.exit_code == 1
    assert "nothing to draw" in drawn.output


def test_an_ensembles_own_score_is_left_out_and_said(tmp_path: Path) -> None:
    results, labels = results_of()
    items = [
        replace(one, scores=(*one.scores, Score("both", number / 80, evidence={"parts": []}, samples=0)))
        for number, one in enumerate(results.items)
    ]
    both = replace(results, items=tuple(items), directions={**results.directions, "both": False})
    both.to_json(tmp_path / "both.json")
    told = "\n".join(["id,label", *(f"q{number},{label}" for number, label in enumerate(labels))])
    (tmp_path / "labels.csv").write_text(told)
    given = (tmp_path / "both.json", "--labels", tmp_path / "labels.csv")
    done = call(*given, "--out", tmp_path / "out.json")
    assert (done.exit_code, "both left out: made of other scores" in done.output) == (0, True), done.output
    assert Calibration.from_json(tmp_path / "out.json").names == ("agreement", "doubt")
    twice = call(*given, "--score", "doubt:lower", "--score", "doubt:higher")
    assert (twice.exit_code, "--score names doubt with both ways" in twice.output) == (1, True), twice.output
