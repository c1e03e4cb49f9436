import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from opik_checkembed.benchmarks.keys import Key
from opik_checkembed.benchmarks.scoring import (
    Cost,
    JudgedText,
    MethodScores,
    PassageScore,
    ScoreFile,
    score_all,
)
from opik_checkembed.errors import ConfigurationError, ItemError, ModelUnavailable
from opik_checkembed.splitters import Sentence


def text(name: str, sentences: int = 1) -> JudgedText:
    return JudgedText(name, name, tuple(Sentence(n, n + 1, 1) for n in range(sentences)), ("one", "two", "three"))


@dataclass
class Given:
    """Scores that are written down by id; an error that is written down is raised."""

    given: Mapping[str, Any]
    name: str = "given"
    model: str | None = "m"
    samples: int | None = None
    headline: int | None = None
    varies: bool = True
    published: str | None = "SelfCheck-NLI"
    identity: Mapping[str, Any] = field(default_factory=dict)

    def score(self, passage: JudgedText, counts: Sequence[int]) -> dict[int, PassageScore]:
        found = self.given[passage.id]
        if isinstance(found, Exception):
            raise found
        return {k: found[k] if isinstance(found, dict) else found for k in counts}


def test_the_score_of_a_text_is_the_mean_of_its_sentences_or_the_worst() -> None:
    assert PassageScore.of([0.0, None, 0.5]) == PassageScore(0.25, (0.0, None, 0.5))
    assert PassageScore.of([0.0, None, 0.5], aggregate="max").value == 0.5
    assert PassageScore.of([None], aggregate="max") == PassageScore.of([None]) == PassageScore(None, (None,))
    assert PassageScore.of([1.0], Cost(2.0)).cost == Cost(2.0)


def test_every_text_is_scored_and_what_fails_is_said() -> None:
    advanced: list[int] = []
    found = score_all(
        Given({"a": PassageScore(0.5, (0.5,)), "b": ItemError("no letters"), "c": PassageScore(None, (None,))}),
        [text("a"), text("b"), text("c")],
        [2, 3],
        3,
        lambda: advanced.append(1),
    )
    assert found.texts == ({2: PassageScore(0.5, (0.5,)), 3: PassageScore(0.5, (0.5,))}, None, None)
    assert found.failures == {"b": "no letters", "c": "no sentence could be scored"}
    assert (found.key, found.title) == (Key("given", "m", "{}"), "given (m)")
    assert (found.published, found.headline, found.varies) == ("SelfCheck-NLI", 3, True)
    assert (found.counts, found.scored, found.at(2)) == ([2, 3], [0], [PassageScore(0.5, (0.5,))])
    assert len(advanced) == 3


def test_a_method_that_says_no_cost_has_the_time_of_its_call() -> None:
    own = Cost(7.0, 3, 1)
    found = score_all(Given({"a": {2: PassageScore(0.5), 3: PassageScore(0.5, cost=own)}}), [text("a")], [2, 3], 3)
    (measured,), (said,) = ([score.cost for score in found.at(k)] for k in (2, 3))
    assert said == own
    assert measured is not None
    assert 0 <= measured.seconds <= found.seconds
    assert (measured.judge_calls, measured.kept) == (0, 0)


def test_a_lost_sentence_a_missing_model_and_no_score_at_all_end_the_run() -> None:
    with pytest.raises(ValueError, match="given gave 1 scores for the 2 sentences of text a"):
        score_all(Given({"a": PassageScore(0.5, (0.5,))}), [text("a", 2)], [2], 2)
    with pytest.raises(ModelUnavailable, match="no such folder"):
        score_all(Given({"a": ModelUnavailable("no such folder")}), [text("a")], [2], 2)
    with pytest.raises(ItemError, match="given scored none of 2 texts: too short"):
        score_all(Given({"a": ItemError("too short"), "b": ItemError("x")}), [text("a"), text("b")], [2], 2)


SCORES = MethodScores(
    method="given",
    model=None,
    published=None,
    headline=3,
    varies=True,
    texts=({2: PassageScore(0.5, (0.25, None), Cost(0.1, 4, 2)), 3: PassageScore(0.5, None, Cost(0.2))}, None),
    failures={"b": "no letters"},
    seconds=1.5,
)


def test_scores_come_back_from_their_file_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "new" / "scores.json"
    other = replace(SCORES, model="m")
    ScoreFile("f", (SCORES, other)).to_json(path)
    read = ScoreFile.from_json(path, "f")
    assert read.rows == (SCORES, other)
    # Costs do not count in a comparison of scores.
    costs = [[score.cost for score in (row.texts[0] or {}).values()] for row in read.rows]
    assert costs == [[Cost(0.1, 4, 2), Cost(0.2)]] * 2
    assert [one.name for one in path.parent.iterdir()] == ["scores.json"]


def test_a_newer_row_takes_the_olders_place() -> None:
    newer = replace(SCORES, headline=2)
    kept = ScoreFile("f", (SCORES, replace(SCORES, model="m"))).with_rows([newer])
    assert [(row.title, row.headline) for row in kept.rows] == [("given", 2), ("given (m)", 3)]


def test_two_folders_of_one_name_are_two_rows_also_in_their_file(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    a, b = (replace(SCORES, model="m", identity={"model": f"/{place}/m"}) for place in "ab")
    ScoreFile("f", (a, b)).to_json(path)
    kept = ScoreFile.from_json(path, "f").with_rows([replace(b, headline=2)])
    assert [(row.identity, row.headline) for row in kept.rows] == [({"model": "/a/m"}, 3), ({"model": "/b/m"}, 2)]


def test_scores_of_an_older_version_are_read_and_give_way(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    ScoreFile("f", (replace(SCORES, model="m"), SCORES)).to_json(path)
    told = json.loads(path.read_text())
    path.write_text(
        json.dumps({**told, "scores": [{k: v for k, v in r.items() if k != "identity"} for r in told["scores"]]})
    )
    older = ScoreFile.from_json(path, "f")
    assert older.rows == (replace(SCORES, model="m"), SCORES)
    a, b = (replace(SCORES, model="m", identity={"model": f"/{place}/m"}) for place in "ab")
    # What it is of is not known, so that either may be what it was.
    assert older.with_rows([a]).with_rows([b]).rows == (a, SCORES, b)


def test_the_first_texts_can_be_had_alone() -> None:
    assert SCORES.first(1).texts == SCORES.texts[:1]
    assert SCORES.first(2) is SCORES.first(3) is SCORES


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "does not hold scores that this version"),
        ({"fingerprint": "g"}, "are over other data"),
        ({"scores": [{"method": "x"}]}, "are malformed: KeyError"),
        ({"scores": 3}, "are malformed: TypeError"),
        ({"scores": [[]]}, "are malformed: TypeError"),
        ({"scores": [{**SCORES.to_dict(), "identity": "/a/m"}]}, "are malformed: TypeError.*is no identity"),
    ],
)
def test_a_file_with_something_else_is_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    ScoreFile("f", (SCORES,)).to_json(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ConfigurationError, match=message):
        ScoreFile.from_json(path, "f")
    path.write_text("[]")
    with pytest.raises(ConfigurationError, match="does not hold scores"):
        ScoreFile.from_json(path, "f")
    path.write_text("no")
    with pytest.raises(ConfigurationError, match="no scores can be read from"):
        ScoreFile.from_json(path, "f")
