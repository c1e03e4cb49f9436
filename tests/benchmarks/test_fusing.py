"""Fused rows against means worked out by hand, and fits against the same fit written out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from opik_checkembed.benchmarks.fusing import (
    FOLDS,
    FusedMethod,
    Targets,
    _folds,
    check_sizes,
    fused,
    key_of,
    run_methods,
)
from opik_checkembed.benchmarks.keys import Key
from opik_checkembed.benchmarks.scoring import Cost, JudgedText, MethodScores, PassageScore
from opik_checkembed.calibration import fit_moments
from opik_checkembed.errors import ConfigurationError, ItemError
from opik_checkembed.results import ItemResult, LocalResults, Score
from opik_checkembed.splitters import Sentence

Value = float | tuple[float | None, ...] | None


def texts(*sentences: int) -> list[JudgedText]:
    return [
        JudgedText(str(place), str(place), tuple(Sentence(n, n + 1, 1) for n in range(count)), ("a", "b", "c"))
        for place, count in enumerate(sentences)
    ]


def score_of(value: Value, cost: Cost) -> PassageScore:
    return PassageScore.of(value, cost) if isinstance(value, tuple) else PassageScore(value, cost=cost)


def part(name: str, *values: Value, k: int = 3, **more: Any) -> MethodScores:
    """A method that gives these values from k samples."""
    given: dict[str, Any] = {"model": None, "published": None, "headline": k, "varies": False, **more}
    return MethodScores(
        method=name,
        texts=tuple(None if value is None else {k: score_of(value, Cost(0.5, 2, 1))} for value in values),
        failures={str(place): f"{name} cannot" for place, value in enumerate(values) if value is None},
        seconds=2.0,
        **given,
    )


def text_values(found: MethodScores, k: int = 3) -> list[float | None]:
    return [None if scores is None else scores[k].value for scores in found.texts]


def means(*expected: float | None) -> list[float | None]:
    """The scores that these means of z-scores have."""
    return [None if mean is None else NormalDist().cdf(mean) for mean in expected]


def fuse(name: str, parts: Sequence[MethodScores], judged: Sequence[JudgedText]) -> MethodScores:
    return fused(FusedMethod(name, parts), parts, judged)


def test_a_score_is_the_place_of_the_mean_z_score_on_the_normal_distribution() -> None:
    # Means 2 and 30, deviations 1 and 10: the z-scores are -1 or 1, their means -1, 0, 0 and 1.
    parts = [part("one", 1.0, 3.0, 1.0, 3.0), part("two", 20.0, 20.0, 40.0, 40.0)]
    found = fuse("both", parts, texts(1, 1, 1, 1))
    assert text_values(found) == pytest.approx([0.158655, 0.5, 0.5, 0.841345], abs=1e-6)
    assert (found.key, found.published, found.headline, found.seconds) == (Key("both"), None, 3, 4.0)
    assert found.parts == ("one", "two")
    assert found.notes == ("one + two: equal weights, z-scores over this data, nothing fitted",)
    assert [score.sentences for score in found.at(3)] == [None] * 4
    assert [score.cost for score in found.at(3)] == [Cost(1.0, 4, 2)] * 4


def test_texts_that_all_parts_scored_have_what_an_ensemble_with_the_moments_of_this_data_gives_them() -> None:
    rng = np.random.default_rng(0)
    given = {name: rng.gamma(2.0, size=60).tolist() for name in ("one", "two", "three")}
    found = fuse("all", [part(name, *of) for name, of in given.items()], texts(*[1] * 60))
    items = [ItemResult(str(n), {}, {}, tuple(Score(name, of[n]) for name, of in given.items())) for n in range(60)]
    moments = fit_moments(LocalResults(tuple(items), dict.fromkeys(given, False)))
    expected = [moments.probability({name: of[n] for name, of in given.items()}) for n in range(60)]
    assert text_values(found) == pytest.approx(expected)


def test_a_part_without_a_score_adds_nothing_and_is_counted() -> None:
    parts = [part("one", 1.0, 3.0, None, None), part("two", 20.0, None, 40.0, None)]
    found = fuse("both", parts, texts(1, 1, 1, 1))
    # Moments are over what each part scored: both have z -1 and 1.
    assert text_values(found) == pytest.approx(means(-1.0, 0.5, 0.5, None))
    assert found.failures == {"3": "one cannot; two cannot"}
    assert found.notes[1] == "3 of 4 texts lack a part"
    assert found.at(3)[1].cost == Cost(0.5, 2, 1)


def test_a_part_that_says_the_same_of_all_adds_nothing() -> None:
    found = fuse("both", [part("one", 1.0, 3.0), part("same", 0.1, 0.1)], texts(1, 1))
    assert text_values(found) == pytest.approx(means(-0.5, 0.5))


def test_sentences_have_the_mean_over_sentences_and_texts() -> None:
    # Sentences 0, 1, 0, 1 of "by sentence": z -1, 1, -1, 1. Texts of "whole": z -1 and 1, the same for each sentence.
    parts = [part("by sentence", (0.0, 1.0), (0.0, 1.0, None)), part("whole", 5.0, 7.0)]
    first, second = fuse("both", parts, texts(2, 3)).at(3)
    assert first.sentences == pytest.approx(means(-1.0, 0.0))
    # What one part could not score has what the other says.
    assert second.sentences == pytest.approx(means(0.0, 1.0, 0.5))
    # The texts' own scores, .5 and .5, say nothing.
    assert [first.value, second.value] == pytest.approx(means(-0.5, 0.5))


def test_moments_of_texts_are_over_texts_however_many_sentences_they_have() -> None:
    parts = [part("by sentence", (0.0,), (0.0, 1.0, 1.0)), part("whole", 5.0, 7.0)]
    first, second = fuse("both", parts, texts(1, 3)).at(3)
    assert first.sentences == pytest.approx(means(-1.0))
    assert second.sentences == pytest.approx(means(0.0, 1.0, 1.0))


def test_a_sentence_that_no_part_can_score_has_none() -> None:
    parts = [part("one", (0.0, None), (1.0,)), part("two", (0.0, None), (1.0,))]
    first, second = fuse("both", parts, texts(2, 1)).at(3)
    assert first.sentences == pytest.approx(means(-1.0, None))
    assert second.sentences == pytest.approx(means(1.0))
    # Where a part has no score for the whole text, its sentences have none of it either.
    parts = [part("one", (0.0, 1.0), None), part("two", (0.0, 0.0), (1.0,))]
    _, second = fuse("both", parts, texts(2, 1)).at(3)
    # Of 0, 0 and 1 the last is at z = sqrt(2).
    assert second.sentences == pytest.approx(means(np.sqrt(2) / 2))


def test_with_k_samples_a_part_is_read_at_the_most_up_to_k() -> None:
    scores = ((1.0, 2.0), (2.0, 1.0), (1.0, 2.0))
    curve = replace(
        part("curve", 0.0, 0.0),
        headline=6,
        texts=tuple({k: PassageScore(at[place]) for k, at in zip((2, 4, 6), scores, strict=True)} for place in (0, 1)),
    )
    few = part("few", 3.0, 5.0)
    found = fuse("both", [curve, few], texts(1, 1))
    # Two samples are too few for one part; with three the other is read at two.
    assert (found.counts, found.headline, found.varies) == ([3, 4, 6], 6, True)
    assert text_values(found, 3) == pytest.approx(means(-1.0, 1.0))
    assert text_values(found, 4) == pytest.approx(means(0.0, 0.0))
    assert text_values(found, 6) == pytest.approx(means(-1.0, 1.0))
    single = fuse("both", [few, part("other", 1.0, 2.0)], texts(1, 1))
    assert (single.counts, single.varies) == ([3], False)


def test_a_part_over_more_texts_is_cut_and_one_over_fewer_refused() -> None:
    parts = [part("one", 1.0, 3.0, 90.0), part("two", 1.0, 3.0)]
    assert text_values(fuse("both", parts, texts(1, 1))) == pytest.approx(means(-1.0, 1.0))
    with pytest.raises(ConfigurationError, match="two was scored over 2 texts of 3"):
        fuse("both", parts, texts(1, 1, 1))


def test_a_fused_row_needs_two_different_parts() -> None:
    with pytest.raises(ConfigurationError, match="'both' needs at least two parts"):
        FusedMethod("both", [part("one", 1.0)])
    with pytest.raises(ConfigurationError, match="'both' has the part 'one' twice"):
        FusedMethod("both", [part("one", 1.0), part("one", 2.0)])
    of_two = FusedMethod("both", [part("one", 1.0), part("one", 2.0, model="m")], fitted=True)
    assert key_of(of_two) == Key("both (fitted)")


def test_two_models_of_one_name_are_two_parts_and_are_named_apart() -> None:
    parts = [part("nli", 1.0, 3.0, model="tiny", identity={"model": f"/{place}/tiny"}) for place in "ab"]
    found = fuse("both", parts, texts(1, 1))
    assert text_values(found) == pytest.approx([0.158655, 0.841345], abs=1e-6)
    assert found.parts == ("nli (tiny) [model=/a/tiny]", "nli (tiny) [model=/b/tiny]")
    assert found.notes[0].startswith("nli (tiny) [model=/a/tiny] + nli (tiny) [model=/b/tiny]: equal weights")
    with pytest.raises(ConfigurationError, match="'both' has the part 'nli' twice"):
        FusedMethod("both", [parts[0], parts[0]])
    rows = run(*(Counted(model="tiny", identity={"model": f"/{place}/tiny"}) for place in "ab"))
    assert [row.identity for row in rows] == [{"model": "/a/tiny"}, {"model": "/b/tiny"}]


@given(st.lists(st.integers(0, 50).map(float), min_size=2, max_size=12), st.floats(0.1, 100), st.floats(-50, 50))
def test_unit_and_origin_of_a_part_do_not_matter(values: list[float], unit: float, origin: float) -> None:
    other = part("other", *range(len(values)))
    judged = texts(*[1] * len(values))
    plain = fuse("both", [part("one", *values), other], judged)
    moved = fuse("both", [part("one", *(unit * v + origin for v in values)), other], judged)
    assert text_values(plain) == pytest.approx(text_values(moved), abs=1e-6)


# --- fits ---------------------------------------------------------------------------------------------------


def noisy(count: int, seed: int = 0) -> tuple[np.ndarray[Any, np.dtype[np.float64]], list[MethodScores]]:
    rng = np.random.default_rng(seed)
    labels = rng.random(count)
    parts = [part(f"p{n}", *(labels + rng.normal(size=count) * (n + 0.3))) for n in range(2)]
    return labels, parts


def targets(labels: Any, groups: Sequence[Any] | None = None, **more: Any) -> Targets:
    given = np.asarray(labels, dtype=np.float64)
    return Targets(given, None, range(len(given)) if groups is None else groups, **more)


def standardised(parts: Sequence[MethodScores], to: Targets) -> list[tuple[Any, Any, Any]]:
    """For each fold which texts it holds, and the z-scores of the others and of these by the moments of the others."""
    features = features_of(parts)
    moments = [(fold, features[~fold].mean(0), features[~fold].std(0)) for fold in _folds(to)]
    return [(f, (features[~f] - mean) / deviation, (features[f] - mean) / deviation) for f, mean, deviation in moments]


def features_of(parts: Sequence[MethodScores]) -> Any:
    return np.array([[scores[3].value for scores in p.texts if scores] for p in parts]).T


@given(st.lists(st.integers(0, 8), min_size=2, max_size=60), st.integers(0, 5))
def test_folds_share_no_group_and_hold_every_text_once(groups: list[int], seed: int) -> None:
    if len(set(groups)) < 2:
        return
    held = _folds(targets(np.zeros(len(groups)), groups, seed=seed))
    assert (held.sum(axis=0) == 1).all()
    assert held.any(axis=1).all()
    assert len(held) == min(FOLDS, len(set(groups)))
    for fold in held:
        assert not {g for g, h in zip(groups, fold, strict=True) if h} & {
            g for g, h in zip(groups, fold, strict=True) if not h
        }


def test_a_fit_scores_each_text_by_the_others() -> None:
    shares, parts = noisy(40)
    labels = (shares > 0.5).astype(np.float64)
    to = targets(labels, seed=3)
    found = fused(FusedMethod("both", parts, fitted=True), parts, texts(*[1] * 40), to)
    expected = np.empty(40)
    for fold, z, held in standardised(parts, to):
        expected[fold] = LogisticRegression().fit(z, labels[~fold]).predict_proba(held)[:, 1]
    assert text_values(found) == pytest.approx(expected.tolist(), abs=1e-4)
    assert found.method == "both (fitted)"
    assert found.notes == ("p0 + p1: logistic regression on this data's labels, cross-validated, scores out of fold",)


def test_a_label_between_counts_as_that_share_of_a_one() -> None:
    shares, parts = noisy(40)
    quarters = np.round(4 * shares).astype(int)
    to = targets(quarters / 4)
    found = fused(FusedMethod("both", parts, fitted=True), parts, texts(*[1] * 40), to)
    expected = np.empty(40)
    for fold, z, held in standardised(parts, to):
        # Each text four times, as many of them a one as its label has quarters; the penalty weighs a quarter as much.
        outcomes = np.array([place < count for count in quarters[~fold] for place in range(4)])
        expected[fold] = LogisticRegression(C=0.25).fit(np.repeat(z, 4, axis=0), outcomes).predict_proba(held)[:, 1]
    assert text_values(found) == pytest.approx(expected.tolist(), abs=1e-4)


def test_labels_that_mean_nothing_are_not_learned() -> None:
    # A fit that had seen the texts it scores would follow their labels.
    rng = np.random.default_rng(1)
    count = 60
    parts = [part(f"p{n}", *rng.normal(size=count)) for n in range(20)]
    labels = rng.random(count)
    found = fused(FusedMethod("all", parts, fitted=True), parts, texts(*[1] * count), targets(labels))
    assert np.corrcoef(np.array(text_values(found), dtype=float), labels)[0, 1] < 0.3
    features = np.column_stack([np.ones(count), features_of(parts)])
    seen = features @ np.linalg.lstsq(features, labels)[0]
    assert np.corrcoef(seen, labels)[0, 1] > 0.5


def test_sentences_are_fitted_to_their_own_labels_with_their_texts_fold() -> None:
    rng = np.random.default_rng(2)
    labels = [rng.integers(0, 3, 2) / 2 for _ in range(30)]
    by_sentence = part("s", *(tuple(float(v) for v in own + rng.normal(size=2) * 0.1) for own in labels))
    whole = part("w", *(float(own.mean()) for own in labels))
    to = Targets(np.array([own.mean() for own in labels]), labels, range(30))
    parts = [by_sentence, whole]
    found = fused(FusedMethod("both", parts, fitted=True), parts, texts(*[2] * 30), to)
    told = np.array([one for score in found.at(3) for one in score.sentences or ()], dtype=float)
    assert np.corrcoef(told, np.concatenate(labels))[0, 1] > 0.95
    without = fused(FusedMethod("both", parts, fitted=True), parts, texts(*[2] * 30), targets(to.texts))
    assert [score.sentences for score in without.at(3)] == [None] * 30


def test_what_no_part_scored_is_neither_learned_from_nor_scored() -> None:
    labels, parts = noisy(12)
    # As if none of the first six had been scored; they are one group, the others one each.
    parts = [replace(one, texts=(*[None] * 6, *one.texts[6:])) for one in parts]
    groups = [0] * 6 + list(range(1, 7))
    found = fused(FusedMethod("both", parts, fitted=True), parts, texts(*[1] * 12), targets(labels, groups))
    assert [value is None for value in text_values(found)] == [True] * 6 + [False] * 6


def test_a_fit_needs_something_to_learn_from() -> None:
    parts = [part("one", 1.0, 2.0, 3.0), part("two", 1.0, 3.0, 2.0)]

    def fit(to: Targets) -> MethodScores:
        return fused(FusedMethod("both", parts, fitted=True), parts, texts(1, 1, 1), to)

    with pytest.raises(ConfigurationError, match="at least two groups"):
        fit(targets([0, 1, 0], ["q", "q", "q"]))
    with pytest.raises(ConfigurationError, match="a fold cannot be fitted"):
        fit(targets([0, 1, 0]))
    parts = [part("one", 1.0, None, None), part("two", 1.0, None, None)]
    with pytest.raises(ConfigurationError, match="a fold cannot be fitted"):
        fit(targets([0.5, 0.5, 0.5]))


# --- runs ---------------------------------------------------------------------------------------------------


@dataclass
class Counted:
    """Scores texts by their ids, and counts how often it is asked."""

    name: str = "counted"
    factor: float = 1.0
    model: str | None = None
    samples: int | None = None
    headline: int | None = None
    varies: bool = False
    published: str | None = None
    identity: Mapping[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def score(self, passage: JudgedText, counts: Sequence[int]) -> Mapping[int, PassageScore]:
        self.asked.append(passage.id)
        return {k: PassageScore(self.factor * float(passage.id)) for k in counts}


def run(*methods: Any, **options: Any) -> list[MethodScores]:
    judged = texts(1, 1, 1)
    return run_methods(judged, methods, lambda _: ([3], 3), targets([0, 1, 0]), **{"progress": False, **options})


def test_no_part_is_scored_twice() -> None:
    one, two = Counted(), Counted("two", factor=-1.0)
    seen: list[tuple[int, int]] = []
    rows = run(
        FusedMethod("first", [one, two]),
        one,
        FusedMethod("second", [two, part("kept", 1.0, 2.0, 3.0)]),
        progress=lambda done, total: seen.append((done, total)),
    )
    assert [row.method for row in rows] == ["first", "counted", "second"]
    assert one.asked == two.asked == ["0", "1", "2"]
    assert text_values(rows[0]) == pytest.approx([0.5, 0.5, 0.5])
    assert seen == [(done, 6) for done in range(1, 7)]


def test_what_cannot_be_run_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'counted' stands twice"):
        run(Counted(), Counted())
    with pytest.raises(ConfigurationError, match="'random' stands twice"):
        run(Counted("random"))
    with pytest.raises(ConfigurationError, match="limit must be at least 1, not 0"):
        check_sizes(resamples=3, limit=0)
    check_sizes(limit=None)

    class Broken(Counted):
        def score(self, passage: JudgedText, counts: Sequence[int]) -> Mapping[int, PassageScore]:
            raise ItemError("nothing to score")

    with pytest.raises(ItemError, match="counted scored none of 3 texts: nothing to score"):
        run(FusedMethod("both", [Broken(), part("kept", 1.0, 2.0, 3.0)]))
