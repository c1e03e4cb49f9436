from __future__ import annotations

import math

import pytest

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.gate.thresholds import Threshold, parse_threshold


@pytest.mark.parametrize(
    ("text", "name", "operator", "value"),
    [
        ("checkembed_metric>=0.8", "checkembed_metric", ">=", 0.8),
        (" selfcheck_nli <= .3 ", "selfcheck_nli", "<=", 0.3),
        ("a b<-1e-3", "a b", "<", -0.001),
        ("x>2", "x", ">", 2.0),
    ],
)
def test_a_threshold_is_read_from_text(text: str, name: str, operator: str, value: float) -> None:
    assert parse_threshold(text) == Threshold(name, operator, value)


@pytest.mark.parametrize("text", ["", "x", ">=1", "x>=", "x=1", "x==1", "x>=high", "x>=1>=2", "x>=nan", "x=>1"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is not a threshold like"):
        parse_threshold(text)


def test_a_threshold_holds_at_its_limit_if_it_says_so() -> None:
    holding = {operator: Threshold("x", operator, 0.5).holds(0.5) for operator in (">=", "<=", ">", "<")}
    assert holding == {">=": True, "<=": True, ">": False, "<": False}
    assert Threshold("x", ">", 0.5).holds(0.6)
    assert not Threshold("x", "<", 0.5).holds(0.6)


def test_a_threshold_that_cannot_be_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="compares with >=, <=, >, <, not '=='"):
        Threshold("x", "==", 0.5)
    with pytest.raises(ConfigurationError, match="finite number"):
        Threshold("x", ">=", math.inf)
