"""Claims held against a source: verdicts, the share, the worst, and another threshold."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed.functional.claim_support import ClaimScore, ClaimVerdict, Evidence, SourceNLIResult, Support
from opik_checkembed.functional.claims import Claim

probability = st.none() | st.floats(0, 1)
supports = st.builds(Support, p_supported=probability, p_contradicted=probability)


def scored(*found: Support) -> tuple[ClaimScore, ...]:
    return tuple(ClaimScore(Claim(f"Claim {number}."), one) for number, one in enumerate(found))


@pytest.mark.parametrize(
    ("support", "verdict"),
    [
        (Support(0.9), ClaimVerdict.SUPPORTED),
        (Support(0.5), ClaimVerdict.SUPPORTED),
        (Support(0.9, 0.9), ClaimVerdict.SUPPORTED),
        (Support(0.49, 0.51), ClaimVerdict.CONTRADICTED),
        (Support(0.49, 0.5), ClaimVerdict.ABSENT),
        (Support(0.49), ClaimVerdict.NOT_SUPPORTED),
        (Support(None, 0.51), ClaimVerdict.CONTRADICTED),
        (Support(None, 0.5), ClaimVerdict.NOT_CONTRADICTED),
        (Support(problem="the call failed"), ClaimVerdict.UNREAD),
    ],
)
def test_verdicts(support: Support, verdict: ClaimVerdict) -> None:
    assert support.verdict() is verdict


def test_the_value_is_the_share_not_supported_or_the_doubt_in_the_worst() -> None:
    claims = scored(Support(0.9), Support(0.25, 0.1), Support(0.75), Support(problem="unread"))
    result = SourceNLIResult(claims)

    assert result.value == 1 / 3
    assert result.worst is claims[1]
    assert result.flagged == (claims[1],)
    assert SourceNLIResult(claims, aggregate="max").value == 0.75
    # At .8 the third is unsupported too; nothing is computed again.
    assert result.rethreshold(0.8).value == 2 / 3
    assert not result.contradiction_only


def test_nothing_read_has_no_value() -> None:
    result = SourceNLIResult(scored(Support(problem="unread")))

    assert result.value is None
    assert result.worst is None
    assert result.to_dict()["worst"] is None
    assert not result.contradiction_only


def test_where_only_contradiction_is_known_nothing_is_said_of_support() -> None:
    near = Evidence(0, 3, 9, "It was", (0, 20), 0.9)
    result = SourceNLIResult(scored(Support(None, 0.9, None, near), Support(None, 0.2, None, near)))

    told = result.to_dict()
    assert result.contradiction_only
    assert told["measures"] == "contradiction"
    assert [one["verdict"] for one in told["claims"]] == ["contradicted", "not contradicted"]
    assert [one["p_supported"] for one in told["claims"]] == [None, None]
    place = {"passage": 0, "start": 3, "end": 9, "text": "It was", "window": [0, 20], "probability": 0.9}
    assert told["claims"][0]["evidence"] == told["claims"][0]["contradicting"] == place
    assert told["claims"][0]["supporting"] is None
    assert json.loads(json.dumps(told)) == told


def test_the_evidence_is_the_place_that_decided() -> None:
    near, against = Evidence(0, 0, 3, "for"), Evidence(1, 0, 7, "against")
    claims = scored(
        Support(0.9, 0.9, near, against), Support(0.1, 0.9, near, against), Support(0.1, 0.1, near, against)
    )

    told = json.loads(json.dumps(SourceNLIResult(claims).to_dict()))["claims"]
    assert [one["evidence"]["text"] for one in told] == ["for", "against", "for"]
    assert [one["score"] for one in told] == pytest.approx([0.1, 0.9, 0.9])
    # A verifier of one's own need not say what it read at once.
    assert (told[0]["evidence"]["window"], told[0]["evidence"]["probability"]) == (None, None)


@given(st.lists(supports, min_size=1, max_size=8), st.floats(0.01, 1), st.sampled_from(["mean", "max"]))
def test_values_lie_between_0_and_1_and_do_not_depend_on_the_order(
    found: list[Support], threshold: float, aggregate: Any
) -> None:
    result = SourceNLIResult(scored(*found), threshold, aggregate)
    turned = SourceNLIResult(scored(*reversed(found)), threshold, aggregate)

    assert result.value == turned.value
    assert (result.value is None) == all(one.doubt is None for one in found)
    assert result.value is None or 0 <= result.value <= 1


@given(st.lists(supports, min_size=1, max_size=8), st.floats(0.01, 1), st.floats(0.01, 1))
def test_asking_for_more_support_flags_no_fewer_claims(found: list[Support], one: float, other: float) -> None:
    # Of verifiers that tell support; the threshold of one that tells contradiction only works the same way.
    result = SourceNLIResult(scored(*found))
    low, high = sorted((one, other))

    assert set(map(id, result.rethreshold(low).flagged)) <= set(map(id, result.rethreshold(high).flagged))
