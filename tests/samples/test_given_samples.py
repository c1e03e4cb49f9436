from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from opik_checkembed.errors import RequestError
from opik_checkembed.samples.given_samples import GivenSamples
from opik_checkembed.samples.sample import Origin, Sample, Status
from opik_checkembed.samples.sampler import Sampler


def draw(samples: Any, count: int = 5) -> tuple[Sample, ...]:
    drawn = GivenSamples().draw({"samples": samples}, count)
    assert drawn.requested == len(drawn.samples) == len(samples)
    return drawn.samples


def test_is_a_sampler() -> None:
    assert isinstance(GivenSamples(), Sampler)


@pytest.mark.parametrize("count", [1, 2, 9])
def test_all_are_taken_whatever_was_asked_for(count: int) -> None:
    samples = draw(("Paris.", "Lyon"), count)
    assert [(s.index, s.text, s.status) for s in samples] == [(0, "Paris.", Status.OK), (1, "Lyon", Status.OK)]


def test_they_cost_nothing_here_and_have_no_age() -> None:
    drawn = GivenSamples().draw({"samples": ["a", "b"]}, 2)
    assert (drawn.cost_usd, drawn.calls, drawn.temperature) == (0.0, 0.0, None)
    assert drawn.warnings() == []
    assert {(s.origin, s.created, s.cost_usd) for s in drawn.samples} == {(Origin.GIVEN, None, None)}


def test_dicts_with_a_text() -> None:
    entries = [{"text": "Paris", "model": "x"}, MappingProxyType({"text": ""}), {"content": "Paris"}, {"text": 5}]
    assert [(s.text, s.status) for s in draw(entries)] == [
        ("Paris", Status.OK),
        ("", Status.EMPTY),
        ("", Status.NOT_TEXT),
        ("", Status.NOT_TEXT),
    ]


@pytest.mark.parametrize(
    ("entry", "status"),
    [
        ("", Status.EMPTY),
        (" \n", Status.EMPTY),
        (None, Status.NOT_TEXT),
        (3, Status.NOT_TEXT),
        (["Paris"], Status.NOT_TEXT),
        (b"Paris", Status.NOT_TEXT),
        ("I'm sorry, but I can't help with that.", Status.REFUSED),
        ("🙂", Status.OK),
        ("a\ud800", Status.OK),
    ],
)
def test_what_cannot_be_compared_is_counted_and_left_out(entry: object, status: Status) -> None:
    drawn = GivenSamples().draw({"samples": ["Paris", entry]}, 2)
    assert drawn.samples[1].status is status
    assert drawn.warnings() == ([] if status is Status.OK else [f"1 of 2 samples left out: {status}"])


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "`samples` must be a list of texts, not NoneType"),
        ({"samples": "Paris"}, "`samples` must be a list of texts, not str"),
        ({"samples": b"Paris"}, "not bytes"),
        ({"samples": {"0": "Paris"}}, "not dict"),
        ({"samples": 5}, "not int"),
        ({"samples": []}, "`samples` is empty: leave the field out"),
        ({"samples": ()}, "`samples` is empty"),
    ],
)
def test_what_is_no_list_of_samples(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        GivenSamples().draw(fields, 5)


def test_nothing_of_the_callers_is_changed() -> None:
    given = [" Paris ", {"text": "Lyon"}]
    draw(given)
    assert given == [" Paris ", {"text": "Lyon"}]
