from __future__ import annotations

import pytest

from opik_checkembed.benchmarks.keys import Key, identity_in, merged, names_apart, title

A, B = (Key.of("nli", "tiny", {"model": f"/{place}/tiny", "fast": True}) for place in "ab")
UNTOLD = Key("nli", "tiny")


def test_a_key_is_the_same_whatever_the_order_of_the_identity() -> None:
    assert Key.of("nli", "tiny", {"fast": True, "model": "/a/tiny"}) == A != B
    assert A.settings == {"model": "/a/tiny", "fast": True}
    assert (UNTOLD.settings, UNTOLD.title, title("nli", None)) == ({}, "nli (tiny)", "nli")
    assert Key.of("nli", "tiny", None) == UNTOLD != Key.of("nli", "tiny", {})


def test_names_are_short_where_they_are_alone_and_say_what_they_differ_in_where_not() -> None:
    assert names_apart([A, Key.of("nli", "other", {"model": "/a/other"})]) == ["nli (tiny)", "nli (other)"]
    assert names_apart([A, B]) == ["nli (tiny) [model=/a/tiny]", "nli (tiny) [model=/b/tiny]"]
    slow = Key.of("nli", "tiny", {"model": "/a/tiny", "fast": False, "samples": 3})
    assert names_apart([A, slow]) == ["nli (tiny) [fast=true]", "nli (tiny) [fast=false, samples=3]"]
    # An option that an older version did not have may well be null.
    newer = Key.of("nli", "tiny", {**A.settings, "labels": None})
    assert names_apart([A, newer]) == ["nli (tiny)", "nli (tiny) [labels=null]"]
    assert names_apart([]) == []


def test_a_newer_row_takes_the_place_of_its_like_and_of_one_that_does_not_say_what_it_is_of() -> None:
    other = Key("ngram")
    assert list(merged({A: 1, other: 2}, {B: 3, A: 4}).items()) == [(A, 4), (other, 2), (B, 3)]
    assert list(merged({UNTOLD: 1, other: 2}, {B: 3}).items()) == [(B, 3), (other, 2)]
    assert merged({A: 1}, {UNTOLD: 2}) == {A: 1, UNTOLD: 2}
    assert merged({UNTOLD: 1}, {UNTOLD: 2}) == {UNTOLD: 2}


def test_an_identity_is_read_where_there_is_one() -> None:
    assert identity_in({}) is identity_in({"identity": None}) is None
    assert identity_in({"identity": {"n": 1}}) == {"n": 1}
    with pytest.raises(TypeError, match="3 is no identity"):
        identity_in({"identity": 3})
