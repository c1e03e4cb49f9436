from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from opik_checkembed import calibration, metrics
from opik_checkembed.calibration.model import Options
from opik_checkembed.calibration.options import checked_options, options_in
from opik_checkembed.results import ItemResult, Score


def imported(module: Path) -> list[str]:
    tree = ast.walk(ast.parse(module.read_text("utf-8")))
    return [str(one.module) for one in tree if isinstance(one, ast.ImportFrom)]


# An ensemble applies a calibration, and so knows it; a calibration reads finished scores, and knows no metric.
@pytest.mark.parametrize(
    ("package", "without", "other"),
    [(calibration, set(), "opik_checkembed.metrics"), (metrics, {"ensemble"}, "opik_checkembed.calibration")],
    ids=["calibration", "metrics"],
)
def test_metrics_and_calibration_know_nothing_of_each_other(package: Any, without: set[str], other: str) -> None:
    modules = [one for one in sorted(Path(package.__file__).parent.glob("*.py")) if one.stem not in without]
    assert modules
    for module in modules:
        assert not [name for name in imported(module) if name.startswith(other)], module


def item(**options: Any) -> ItemResult:
    scores = (Score("doubt", 0.5, evidence={"options": options, "std": 0.1}), Score("other", 0.5))
    return ItemResult("x", {}, {}, scores)


def test_options_are_read_from_evidence_as_far_as_all_items_share_them() -> None:
    both = [item(n=1, language="en"), item(n=1, language="de")]
    assert options_in(both, ["doubt", "doubt.std", "other", "absent"]) == {"doubt": {"n": 1}, "doubt.std": {"n": 1}}
    odd = ItemResult("x", {}, {}, (Score("doubt", 0.5, evidence={"options": "none to tell"}),))
    assert options_in([odd], ["doubt"]) == {}


def test_those_of_the_scores_that_are_read_are_kept_json_ready() -> None:
    given: Options = {"doubt": {"words": ("a",)}, "other": {"n": 1}}
    assert checked_options(given, ["doubt", "absent"]) == {"doubt": {"words": ["a"]}}
    assert checked_options(None, ["doubt"]) == {}
