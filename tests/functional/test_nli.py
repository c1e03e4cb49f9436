"""Label names, probabilities and pooling of NLI, against values worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from opik_checkembed.functional.nli import (
    NLILabels,
    NLIProbabilities,
    check_mapping,
    map_labels,
    pooled,
    read_labels,
)


@pytest.mark.parametrize(
    ("names", "places"),
    [
        # As published: microsoft/deberta-*-mnli, cross-encoder/nli-*, MoritzLaurer/*, facebook/bart-large-mnli.
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], {"contradiction": 0, "neutral": 1, "entailment": 2}),
        (["contradiction", "entailment", "neutral"], {"contradiction": 0, "entailment": 1, "neutral": 2}),
        (["entailment", "neutral", "contradiction"], {"entailment": 0, "neutral": 1, "contradiction": 2}),
        (["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"], {"entailment": 0, "contradiction": 1, "neutral": 2}),
        (["contradict", "entail", "neutral"], {"contradiction": 0, "entailment": 1, "neutral": 2}),
        (["entailment", "contradiction"], {"entailment": 0, "contradiction": 1}),
        ([" Contradiction ", "Entailment"], {"contradiction": 0, "entailment": 1}),
        # Binary models: one relation, and all the rest.
        (["no_contradiction", "contradiction"], {"contradiction": 1}),
        (["contradiction", "not_contradiction"], {"contradiction": 0}),
        (["NON-CONTRADICTION", "CONTRADICTION"], {"contradiction": 1}),
        (["entailment", "not_entailment"], {"entailment": 0}),
        (["not entailment", "entailment"], {"entailment": 1}),
        (["not_supported", "supported"], {"entailment": 1}),
        (["nonentailment", "entailment"], {"entailment": 1}),
    ],
)
def test_label_names_are_read(names: list[str], places: dict[str, int]) -> None:
    assert read_labels(names) == NLILabels(len(names), **places)


@pytest.mark.parametrize(
    "names",
    [
        ["LABEL_0", "LABEL_1", "LABEL_2"],
        ["LABEL_0", "LABEL_1"],
        ["positive", "negative"],
        ["contradiction"],
        ["contradiction", "contradiction", "neutral"],
        ["contradiction", "refuted"],
        ["entailment", "neutral"],
        ["no_contradiction", "entailment"],
        ["neutral", "not_neutral"],
        ["not_entailment", "no_contradiction"],
        ["entailment", "neutral", "not_entailment"],
        ["entailment", "neutral", "contradiction", "other"],
        [],
    ],
)
def test_label_names_that_do_not_say_it_are_refused(names: list[str]) -> None:
    with pytest.raises(ValueError, match=r"the labels \[") as caught:
        read_labels(names)
    assert str(names) in str(caught.value)


@pytest.mark.parametrize(
    ("mapping", "size", "labels"),
    [
        ({"contradiction": 1, "entailment": 0}, 2, NLILabels(2, entailment=0, contradiction=1)),
        ({"contradiction": 1}, 2, NLILabels(2, contradiction=1)),
        ({"contradiction": 0, "entailment": 2}, 3, NLILabels(3, entailment=2, contradiction=0, neutral=1)),
        ({"contradiction": 2, "neutral": 0}, 3, NLILabels(3, entailment=1, contradiction=2, neutral=0)),
        ({"contradiction": 2}, 3, NLILabels(3, contradiction=2)),
        ({"contradiction": 3, "entailment": 1}, 5, NLILabels(5, entailment=1, contradiction=3)),
    ],
)
def test_a_users_mapping(mapping: Any, size: int, labels: NLILabels) -> None:
    assert map_labels(check_mapping(mapping), size) == labels


def test_a_mapping_beyond_the_outputs() -> None:
    with pytest.raises(ValueError, match="a position that a classifier with 2 outputs does not have"):
        map_labels({"contradiction": 2, "entailment": 0}, 2)


@pytest.mark.parametrize(
    "mapping",
    [
        {},
        {"neutral": 1},
        {"Contradiction": 1},
        {"contradiction": -1},
        {"contradiction": True},
        {"contradiction": "1"},
        {"contradiction": 0, "entailment": 0},
        ["contradiction", "entailment"],
        "contradiction",
    ],
)
def test_what_is_no_mapping(mapping: object) -> None:
    with pytest.raises(ValueError, match='labels must map "contradiction"'):
        check_mapping(mapping)


def test_two_labels_by_hand() -> None:
    logits = np.log([[3.0, 1.0], [1.0, 1.0]])
    found = NLIProbabilities.of_logits(logits, NLILabels(2, entailment=0, contradiction=1))
    assert len(found) == 2
    assert found.neutral is None
    np.testing.assert_allclose(found.inconsistency(), [0.25, 0.5])


def test_neutral_is_left_out_of_three_labels() -> None:
    logits = np.log([[6.0, 1.0, 3.0]])
    found = NLIProbabilities.of_logits(logits, NLILabels(3, neutral=0, contradiction=1, entailment=2))
    for values, expected in ((found.neutral, 0.6), (found.contradiction, 0.1), (found.entailment, 0.3)):
        assert values is not None
        np.testing.assert_allclose(values, [expected])
    np.testing.assert_allclose(found.inconsistency(), [0.25])


def test_a_model_of_contradiction_only_says_nothing_of_entailment() -> None:
    found = NLIProbabilities.of_logits(np.log([[1.0, 4.0]]), NLILabels(2, contradiction=1))
    assert found.entailment is None
    np.testing.assert_allclose(found.inconsistency(), [0.8])


def test_a_model_of_entailment_only() -> None:
    found = NLIProbabilities.of_logits(np.log([[1.0, 4.0]]), NLILabels(2, entailment=1))
    assert found.contradiction is None
    assert len(found) == 1
    np.testing.assert_allclose(found.inconsistency(), [0.2])


def test_where_neutral_leaves_nothing_neither_is_likelier() -> None:
    found = NLIProbabilities.of_logits(np.array([[0.0, 0.0, 2000.0]]), NLILabels(3, 0, 1, 2))
    assert found.inconsistency().tolist() == [0.5]


@pytest.mark.parametrize(
    ("logits", "said"),
    [
        (np.zeros((2, 3)), r"shape \(2, 3\)"),
        (np.zeros(2), r"shape \(2,\)"),
        (np.array([[0.0, np.nan]]), "values that are not finite"),
        (np.array([[0.0, np.inf]]), "values that are not finite"),
    ],
)
def test_what_are_no_logits(logits: np.ndarray[Any, np.dtype[np.float64]], said: str) -> None:
    with pytest.raises(ValueError, match=rf"needed are finite logits of shape \(n, 2\), not {said}"):
        NLIProbabilities.of_logits(logits, NLILabels(2, entailment=0, contradiction=1))


@given(arrays(np.float64, (4, 3), elements=st.floats(-50, 50)))
def test_three_labels_equal_the_softmax_over_two_logits(logits: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    three = NLIProbabilities.of_logits(logits, NLILabels(3, entailment=2, contradiction=0, neutral=1))
    two = NLIProbabilities.of_logits(logits[:, [2, 0]], NLILabels(2, entailment=0, contradiction=1))
    np.testing.assert_allclose(three.inconsistency(), two.inconsistency(), atol=1e-12)


def test_windows_pool_by_their_log_odds_and_pieces_by_their_maximum() -> None:
    # Odds of 1 and 9 have the geometric mean 3.
    assert pooled(np.array([[0.2, 0.8], [0.5, 0.9]])) == pytest.approx(0.75)
    assert pooled(np.array([[0.3], [0.4]])) == 0.4
    assert pooled(np.array([[0.0, 1.0]])) == pytest.approx(0.5)


@given(arrays(np.float64, st.tuples(st.integers(1, 3), st.integers(1, 5)), elements=st.floats(0, 1)))
def test_pooling_stays_within_what_it_pools(parts: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    assert parts.min() - 2e-6 <= pooled(parts) <= parts.max() + 2e-6
    assert pooled(parts[:1, :1]) == parts[0, 0]
