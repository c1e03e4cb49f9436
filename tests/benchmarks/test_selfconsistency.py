import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from opik_checkembed.benchmarks.fusing import FusedMethod
from opik_checkembed.benchmarks.scoring import JudgedText, PassageScore
from opik_checkembed.benchmarks.selfconsistency import (
    SelfConsistencyData,
    SelfConsistencyResult,
    load_selfconsistency,
    selfconsistency,
)
from opik_checkembed.benchmarks.wikibio_methods import methods_of
from opik_checkembed.errors import ConfigurationError, ItemError
from opik_checkembed.functional.ranking import Estimate
from opik_checkembed.splitters import Sentence


def item(name: str, wrong: int, question: str | None = None, samples: int = 20) -> dict[str, Any]:
    asked = f"How many {name}?" if question is None else question
    return {
        "id": name,
        "question": asked,
        "answer": "#### 4",
        "predict": f"{name} are 2 + 2. So 4.",
        "samples": [f"There are {n}." for n in range(samples)],
        "label": wrong,
    }


ROWS = [item("A", 1), item("B", 1), item("C", 0), item("D", 0)]
GIVEN = {"A": 0.9, "B": 0.4, "C": 0.4, "D": 0.1}


@dataclass
class Fixed:
    """Scores that are written down, by the answer's first letter."""

    given: Mapping[str, float] = field(default_factory=lambda: GIVEN)
    name: str = "fixed"
    model: str | None = None
    samples: int | None = None
    headline: int | None = 16
    varies: bool = False
    published: str | None = "SelfCheck-NLI"
    identity: Mapping[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, list[int]]] = field(default_factory=list)

    def score(self, passage: JudgedText, counts: Sequence[int]) -> dict[int, PassageScore]:
        self.asked.append((passage.id, list(counts)))
        if passage.text[0] not in self.given:
            raise ItemError("nothing to check")
        return dict.fromkeys(counts, PassageScore(self.given[passage.text[0]]))


def run(*methods: Any, data: SelfConsistencyData | None = None, **options: Any) -> SelfConsistencyResult:
    given = {"progress": False, "resamples": 50, **options}
    return selfconsistency(data or load_selfconsistency(ROWS), methods, **given)


# --- reading ------------------------------------------------------------------------------------------------


def refused(source: Any) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_selfconsistency(source)
    return str(caught.value)


def test_an_answer_has_its_question_sentences_samples_and_label() -> None:
    data = load_selfconsistency(ROWS)
    first, *_, last = data.answers
    assert (first.id, first.question, first.text, first.wrong) == ("A", "How many A?", "A are 2 + 2. So 4.", True)
    assert [s.of(first.text) for s in first.sentences] == ["A are 2 + 2.", "So 4."]
    assert first.samples[:2] == ("There are 0.", "There are 1.")
    assert not last.wrong
    assert data.num_samples == 20
    without = [{name: value for name, value in ROWS[0].items() if name not in ("id", "answer")}]
    assert load_selfconsistency(without).answers[0].id == "0"


def test_sentences_are_those_of_the_splitter() -> None:
    class Whole:
        def split(self, text: str) -> list[Sentence]:
            return [Sentence(0, len(text), 9)]

    (answer, *_) = load_selfconsistency(ROWS, Whole()).answers
    assert answer.sentences == (Sentence(0, 18, 9),)


def test_every_form_of_file_holds_the_same(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    (tmp_path / "x.json").write_text(json.dumps(ROWS))
    cells = [[c if isinstance(c, str) else json.dumps(c) for c in row.values()] for row in ROWS]
    lines = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in cells]
    (tmp_path / "x.csv").write_text("\n".join([",".join(ROWS[0]), *lines]))
    direct = load_selfconsistency(ROWS)
    for name in ("x.jsonl", "x.json", "x.csv"):
        read = load_selfconsistency(tmp_path / name)
        assert read == direct
        assert read.fingerprint == direct.fingerprint
    assert load_selfconsistency([*ROWS[:3], {**ROWS[3], "label": 1}]).fingerprint != direct.fingerprint


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"predict": " "}, "predict must be a text, not ' '"),
        ({"question": None}, "question must be a text, not None"),
        ({"samples": "x"}, "samples must be a list of texts"),
        ({"samples": ["x", ""]}, "samples must be a list of texts that are not empty"),
        ({"samples": ["x"]}, "samples must hold at least 2 texts, not 1"),
        ({"label": None}, "label must be 1 for a wrong answer or 0 for a right one, not None"),
        ({"label": 0.5}, "label must be 1 for a wrong answer or 0 for a right one, not 0.5"),
        ({"label": "wrong"}, "label must be 1 for a wrong answer or 0 for a right one, not 'wrong'"),
    ],
)
def test_a_row_that_does_not_fit_is_named(change: dict[str, Any], message: str) -> None:
    said = refused([ROWS[1], {**ROWS[0], **change}])
    assert said.startswith("row 1 (id A): ")
    assert message in said


def test_answers_have_names_of_their_own() -> None:
    assert refused([ROWS[0], ROWS[0]]) == "the id 'A' stands twice in the data"
    assert refused([{"question": "?"}]).startswith("row 0: predict must be a text")
    assert refused([]) == "the data holds no answers"


# --- the figures --------------------------------------------------------------------------------------------


def test_the_figures_are_those_worked_out_by_hand() -> None:
    result = run(Fixed())
    found = result.row("fixed")
    assert found.accuracy.auroc is not None
    assert found.accuracy.auc_pr is not None
    # Of four pairs three are in order and one is tied; wrong answers are found at precision 1 and 2/3.
    assert found.accuracy.auroc.value == pytest.approx(87.5)
    assert found.accuracy.auc_pr.value == pytest.approx(100 * (1 + 2 / 3) / 2)
    assert (found.answers, found.wrong, found.failures, found.samples) == (4, 2, {}, 20)
    assert (result.answers, result.wrong, result.questions) == (4, 2, 4)


def test_a_random_order_gets_half_of_the_pairs_and_the_share_of_wrong_answers() -> None:
    result = run(data=load_selfconsistency([*ROWS, item("E", 1)]))
    (row,) = result.rows
    assert (row.method, row.answers, row.wrong) == ("random", 5, 3)
    assert row.accuracy.auroc == Estimate(50.0)
    assert row.accuracy.auc_pr is not None
    assert row.accuracy.auc_pr.value == pytest.approx(60.0)
    assert (row.accuracy.auc_pr.low or 0) < 60 < (row.accuracy.auc_pr.high or 0)


def test_an_answer_that_cannot_be_scored_is_counted_and_gets_no_number() -> None:
    found = run(Fixed({key: GIVEN[key] for key in "ABC"})).row("fixed")
    assert found.failures == {"D": "nothing to check"}
    assert (found.answers, found.wrong) == (3, 2)
    assert found.accuracy.auroc is not None
    # Of two pairs one is in order and one is tied.
    assert found.accuracy.auroc.value == pytest.approx(75.0)
    with pytest.raises(ItemError, match="fixed scored none of 4 answers: nothing to check"):
        run(Fixed({}))


def test_where_all_are_wrong_nothing_is_told_apart() -> None:
    found = run(Fixed(), data=load_selfconsistency(ROWS[:2])).row("fixed")
    assert found.accuracy.auroc == Estimate(None)
    assert found.accuracy.auc_pr == Estimate(100.0, 100.0, 100.0)


def test_every_number_of_samples_has_figures_and_intervals() -> None:
    all_, few, some = Fixed(varies=True), Fixed(name="few", samples=4, varies=True), Fixed(name="some", samples=7)
    result = run(all_, few, some)
    assert [method.asked[0][1] for method in (all_, few, some)] == [[3, 5, 10, 20], [3, 4], [7]]
    assert [row.samples for row in result.rows] == [0, 20, 4, 7]
    assert list(result.row("fixed").curve) == [3, 5, 10, 20]
    assert result.row("some").curve == {}
    for separation in result.row("fixed").curve.values():
        assert separation.auroc is not None
        assert separation.auroc.low is not None
    two = run(
        Fixed(varies=True), data=load_selfconsistency([item(name, n % 2, samples=2) for n, name in enumerate("AB")])
    )
    assert list(two.row("fixed").curve) == [2]


def test_intervals_are_over_questions() -> None:
    rng = np.random.default_rng(0)
    # Ten questions, each answered ten times alike: ten answers as good as one.
    rows = [item(f"{q}-{n}", q % 2, f"Question {q}?") for q in range(10) for n in range(10)]
    level = {str(q): q % 2 + 1.5 * rng.normal() for q in range(10)}
    data = load_selfconsistency(rows)
    found = run(Fixed(level), data=data, resamples=500).row("fixed").accuracy.auroc
    apart = load_selfconsistency([{**row, "question": row["id"]} for row in rows])
    alone = run(Fixed(level), data=apart, resamples=500).row("fixed").accuracy.auroc
    assert found is not None
    assert alone is not None
    assert found.value == alone.value
    assert (found.high or 0) - (found.low or 0) > 2 * ((alone.high or 0) - (alone.low or 0))


def test_a_limit_takes_the_first_answers() -> None:
    method = Fixed()
    result = run(method, limit=3)
    assert [name for name, _ in method.asked] == ["A", "B", "C"]
    assert result.answers == 4
    assert result.row("fixed").answers == 3
    # What chance gets among these, two of which are wrong.
    random = result.row("random")
    assert (random.answers, random.wrong) == (3, 2)
    assert random.accuracy.auc_pr is not None
    assert random.accuracy.auc_pr.value == pytest.approx(200 / 3)


@pytest.mark.parametrize(
    ("methods", "options", "message"),
    [
        ([], {"limit": 0}, "limit must be at least 1, not 0"),
        ([], {"resamples": 0}, "resamples must be at least 1, not 0"),
        ([Fixed(), Fixed()], {}, "the method 'fixed' stands twice"),
    ],
)
def test_what_cannot_be_run_is_refused(methods: list[Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        run(*methods, **options)


def test_rows_are_fused_and_fitted_by_question() -> None:
    rng = np.random.default_rng(0)
    rows = [item(f"{q}-{n}", q % 2, f"Question {q}?") for q in range(20) for n in range(3)]
    given = {f"m{m}": {row["id"]: row["label"] + rng.normal() for row in rows} for m in range(2)}

    class ById(Fixed):
        def score(self, passage: JudgedText, counts: Sequence[int]) -> dict[int, PassageScore]:
            return dict.fromkeys(counts, PassageScore(self.given[passage.id]))

    parts = [ById(known, name=name) for name, known in given.items()]
    data = load_selfconsistency(rows)
    result = run(*parts, FusedMethod("both", parts), FusedMethod("both", parts, fitted=True), data=data)
    area = {row.title: row.accuracy.auroc.value for row in result.rows if row.accuracy.auroc is not None}
    labels = [row["label"] for row in rows]
    whole = [sum((g[r["id"]] - np.mean([*g.values()])) / np.std([*g.values()]) for g in given.values()) for r in rows]
    assert area["both"] == pytest.approx(100 * roc_auc_score(labels, whole))
    auc_pr = result.row("both").accuracy.auc_pr
    assert auc_pr is not None
    assert auc_pr.value == pytest.approx(100 * average_precision_score(labels, whole))
    assert (area["both (fitted)"] or 0) > 60
    assert "logistic regression" in result.row("both (fitted)").notes[0]
    assert [scores.method for scores in result.scores] == ["m0", "m1"]


def test_results_come_back_from_json_and_are_merged(tmp_path: Path) -> None:
    result = run(Fixed(varies=True))
    result.to_json(tmp_path / "x.json")
    read = SelfConsistencyResult.from_json(tmp_path / "x.json")
    assert read == result
    merged = read.merged(run(Fixed(name="other")))
    assert [row.title for row in merged.rows] == ["random", "fixed", "other"]
    assert json.loads((tmp_path / "x.json").read_text())["benchmark"] == "selfconsistency"
    a, b = (run(Fixed(model="tiny", identity={"model": f"/{place}/tiny"})) for place in "ab")
    assert a.merged(b).names == ["random", "fixed (tiny) [model=/a/tiny]", "fixed (tiny) [model=/b/tiny]"]
    with pytest.raises(ConfigurationError, match=r"cannot be merged: 4 answers .* and 2 answers"):
        read.merged(run(Fixed(), data=load_selfconsistency(ROWS[1:3])))


# --- the real data ------------------------------------------------------------------------------------------


@pytest.mark.skipif("OPIK_CHECKEMBED_TEST_DATA" not in os.environ, reason="needs labelled data")
def test_grade_school_problems() -> None:
    data = load_selfconsistency(Path(os.environ["OPIK_CHECKEMBED_TEST_DATA"]) / "gsm8k" / "mistral7b_dev.jsonl")
    assert (len(data.answers), sum(answer.wrong for answer in data.answers), data.num_samples) == (100, 55, 20)
    rows = methods_of("checkembed:embedder=lexical,reads=output")
    found = run(*rows, data=data).row("CheckEmbed, passage to samples", "lexical")
    assert found.failures == {}
    assert found.accuracy.auroc is not None
    assert found.accuracy.auroc.value == pytest.approx(71.6, abs=0.1)
