from __future__ import annotations

import json
from typing import Any

import pytest

from opik_checkembed import (
    CheckEmbedMetric,
    FactRecurrenceMetric,
    SelfCheckBERTScoreMetric,
    SelfCheckMQAGMetric,
    SelfCheckNgramMetric,
    SelfCheckNLIMetric,
    calibration,
)
from opik_checkembed.metric_options import given_options, options_of


def test_the_calibration_offers_the_same_function() -> None:
    assert calibration.options_of is options_of


def test_what_changes_a_score_is_read_with_its_defaults() -> None:
    own = options_of(FactRecurrenceMetric(combine="min", num_samples=7, store=None, track=False, name="mine"))
    assert own == {
        "combine": "min",
        "floor": 0.01,
        "entities": None,
        "aggregate": "mean",
        "language": "en",
        "min_tokens": 1,
        "splitter": "RuleSplitter",
    } | {"floor": own["floor"]}
    assert isinstance(own["floor"], float)


@pytest.mark.parametrize(
    ("metric", "holds"),
    [
        (CheckEmbedMetric(embedder="lexical", store=None), {"embedder": "LexicalEmbedder", "similarity": "cosine"}),
        (CheckEmbedMetric(embedder="org/some-embedder", store=None), {"embedder": "some-embedder", "baseline": None}),
        (SelfCheckNgramMetric(n=2, store=None), {"n": 2, "statistic": "max", "smoothing": 0.0, "lowercase": True}),
        (SelfCheckNLIMetric(nli_model="org/some-nli", store=None), {"nli_model": "some-nli", "fast": False}),
        (
            SelfCheckBERTScoreMetric(encoder="org/some-encoder", num_layers=3, baseline=None, store=None),
            {"encoder": "some-encoder", "aggregate": "max"},
        ),
        (SelfCheckMQAGMetric(distance="kl", store=None), {"distance": "kl", "num_questions": 10}),
    ],
    ids=lambda one: type(one).__name__,
)
def test_models_are_called_by_their_names(metric: object, holds: dict[str, Any]) -> None:
    found = options_of(metric)
    assert found.items() >= holds.items()
    assert json.loads(json.dumps(found)) == found
    # What is asked and shown, and where samples come from, changes no score of given samples.
    assert not found.keys() & {"self", "model", "name", "store", "num_samples", "sampler", "heatmap", "device"}


class Secretive:
    """Keeps a dict, which may hold a key, and one argument out of sight."""

    def __init__(self, parameters: dict[str, str], hidden: int, words: tuple[str, ...]) -> None:
        self.parameters, self._hidden, self.words = parameters, hidden, words


def test_dicts_and_what_is_not_shown_are_left_out() -> None:
    assert options_of(Secretive({"api_key": "secret"}, 1, ("a", "b"))) == {"words": ["a", "b"]}


class Connected:
    """Asks a service of its own, and keeps all that it is told."""

    def __init__(self, api_key: str, search_url: str, passes: int, rules: list[object]) -> None:
        self.api_key, self.search_url, self.passes, self.rules = api_key, search_url, passes, rules


def test_credentials_and_addresses_are_left_out_at_every_depth() -> None:
    metric = Connected("secret", "http://me:secret@host", 3, ["a", {"token": "secret", "weight": 2}])
    assert options_of(metric) == {"passes": 3, "rules": ["a", {"weight": 2}]}


def test_of_given_options_those_that_change_a_score_and_nothing_secret() -> None:
    given = {
        "labels": {"contradiction": 1, "api_key": "secret"},
        "num_layers": 6,
        "baseline": None,
        "splitter": Connected("secret", "http://me:secret@host", 3, []),
        "encoder": "org/some-encoder",
        "device": "cpu",
        "store": None,
        "api_key": "secret",
        "api_base": "http://me:secret@host",
    }
    assert given_options(given) == {
        "labels": {"contradiction": 1},
        "num_layers": 6,
        "baseline": None,
        "splitter": "Connected",
        "encoder": "org/some-encoder",
    }
