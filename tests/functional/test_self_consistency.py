"""Claims held against samples: agreement, the published rule, and another threshold."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed.functional.claims import Claim
from opik_checkembed.functional.self_consistency import ClaimAgreement, SelfConsistencyResult

per_sample = st.lists(st.none() | st.floats(0, 1), min_size=1, max_size=7)


def agreement(*found: float | None) -> ClaimAgreement:
    return ClaimAgreement(Claim("It rains."), found)


def test_agreement_is_the_share_of_samples_that_likelier_than_not_support() -> None:
    assert agreement(0.9, 0.5, 0.49, 0.0, 1.0).agreement == 3 / 5
    assert agreement(0.9, None, 0.1).agreement == 1 / 2
    assert agreement(None).agreement is None


def test_two_of_five_are_flagged_and_three_are_not() -> None:
    two, three = agreement(1, 1, 0, 0, 0), agreement(1, 1, 1, 0, 0)
    result = SelfConsistencyResult((two, three, agreement(None)))

    assert result.flagged == (two,)
    assert result.value == 1 / 2
    assert result.worst is two
    assert SelfConsistencyResult(result.claims, aggregate="max").value == pytest.approx(3 / 5)
    assert result.rethreshold(0.6).value == 1
    assert result.rethreshold(0.39).value == 0


def test_where_only_contradiction_is_known_the_share_stands_under_its_own_name() -> None:
    result = SelfConsistencyResult((agreement(0.9, 0.9, 0.1), agreement(0.1, 0.1, 0.1)), measures="contradiction")
    told = result.to_dict()

    assert told["measures"] == "contradiction"
    assert [(one["agreement"], one["not_contradicted"]) for one in told["claims"]] == [(None, 2 / 3), (None, 0)]
    assert [one["per_sample"] for one in told["claims"]] == [[0.9, 0.9, 0.1], [0.1, 0.1, 0.1]]
    assert (told["value"], told["worst"]) == (1 / 2, 1)
    assert result.rethreshold(0.7).to_dict()["measures"] == "contradiction"
    plain = SelfConsistencyResult(result.claims).to_dict()
    assert plain["measures"] == "support"
    assert [(one["agreement"], one["not_contradicted"]) for one in plain["claims"]] == [(2 / 3, None), (0, None)]


def test_nothing_read_has_no_value() -> None:
    result = SelfConsistencyResult((agreement(None, None),))

    assert result.value is None
    assert result.worst is None
    told = json.loads(json.dumps(result.to_dict()))
    assert told["worst"] is None
    assert told["claims"][0]["score"] is None
    assert told["claims"][0]["flagged"] is False


@given(st.lists(per_sample, min_size=1, max_size=6), st.floats(0, 0.99))
def test_the_value_is_a_share_whatever_the_order_of_claims_and_samples(
    found: list[list[float | None]], threshold: float
) -> None:
    result = SelfConsistencyResult(tuple(agreement(*one) for one in found), threshold)
    turned = SelfConsistencyResult(tuple(agreement(*reversed(one)) for one in reversed(found)), threshold)

    assert result.value == turned.value
    assert result.value is None or 0 <= result.value <= 1
