from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed.functional.selfcheck import Passage, SelfCheckResult, SentenceScore, mean_over_samples

SCORES = st.one_of(st.none(), st.floats(0, 1))


def sentence(score: float | None, at: int = 0) -> SentenceScore:
    return SentenceScore(f"Sentence {at}.", at, at + 11, score)


def test_the_worst_sentence_is_the_value() -> None:
    result = SelfCheckResult((sentence(0.25), sentence(0.75, 12), sentence(None, 24), sentence(0.75, 36)))

    assert result.value == 0.75
    assert result.worst is result.sentences[1]
    assert result.flagged(0.5) == [result.sentences[1], result.sentences[3]]
    assert result.flagged(0.76) == []


def test_the_mean_leaves_out_what_has_no_score() -> None:
    result = SelfCheckResult((sentence(0.25), sentence(None), sentence(0.5))).aggregated("mean")

    assert result.value == 0.375
    assert result.worst is result.sentences[2]


@pytest.mark.parametrize("sentences", [(), (sentence(None),)])
def test_nothing_scored_is_no_value(sentences: tuple[SentenceScore, ...]) -> None:
    assert SelfCheckResult(sentences).value is None
    assert SelfCheckResult(sentences).worst is None
    assert SelfCheckResult(sentences).to_dict()["worst"] is None


@given(st.lists(SCORES, max_size=8), st.sampled_from(["max", "mean"]))
def test_the_value_is_within_the_scores_whatever_their_order(scores: list[float | None], how: str) -> None:
    result = SelfCheckResult(tuple(map(sentence, scores)), "max" if how == "max" else "mean")
    known = [score for score in scores if score is not None]

    backwards = SelfCheckResult(result.sentences[::-1], result.aggregate)
    assert result.value == backwards.value
    if result.value is not None:
        assert min(known) <= result.value <= max(known)


def test_the_mean_of_equal_scores_is_that_score() -> None:
    # Their rounded sum over three is the next float below.
    same = 0.4669789674141501
    assert SelfCheckResult((sentence(same),) * 3, "mean").value == same
    assert mean_over_samples([same] * 3) == same


def test_it_comes_back_from_json_as_it_was() -> None:
    place = Passage(1, 3, 9, "nearby", 0.5)
    full = SentenceScore("One.", 0, 4, 0.5, (0.25, None, 0.75), place, None, {"token": "One"})
    result = SelfCheckResult((full, sentence(None, 5)), "mean")

    data = json.loads(json.dumps(result.to_dict()))

    assert data["worst"] == 0
    assert data["value"] == 0.5
    assert SelfCheckResult.from_dict(data) == result


@pytest.mark.parametrize(
    ("scores", "mean"), [([], None), ([None], None), ([0.5, None, 1.0], 0.75), ([0.0], 0.0), ([0.1] * 10, 0.1)]
)
def test_the_mean_over_samples(scores: list[float | None], mean: float | None) -> None:
    assert mean_over_samples(scores) == mean
