"""What the page holds, without a browser; how it looks and works stands in `test_page_in_browser.py`."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed._version import __version__
from opik_checkembed.functional.selfcheck import SelfCheckResult, SentenceScore
from opik_checkembed.gate.comparison import Comparison, MetricComparison, PairedItem, Unscored, Verdict
from opik_checkembed.gate.decision import Decision, Outcome, ThresholdCheck
from opik_checkembed.gate.thresholds import Threshold
from opik_checkembed.report.comparison_data import comparison_data
from opik_checkembed.report.page import comparison_page, results_page
from opik_checkembed.report.page_data import page_data
from opik_checkembed.results import ItemResult, LocalResults, Score
from tests.page_results import (
    ANSWER,
    CREATED,
    HOSTILE,
    PASSAGES,
    agreement_evidence,
    city,
    hostile,
    many,
    results,
    sample_set,
)


class Page(HTMLParser):
    """The page's elements as a browser would see them, as far as a parser can tell."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.text = ""
        self._inside: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.text += "" if tag == "wbr" else " "
        self._inside.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self.text += " "
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._inside and self._inside[-1] == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif self._inside and self._inside[-1] != "style":
            self.text += data

    def json(self, name: str) -> Any:
        return next(json.loads(text) for attributes, text in self.scripts if attributes.get("id") == name)


def scored(*values: float | None, name: str = "score", **more: Any) -> LocalResults:
    items = tuple(
        ItemResult(f"n{at}", {"input": f"Q{at}?"}, {"output": "A."}, (Score(name, value, f"why {at}", **more),))
        for at, value in enumerate(values)
    )
    return LocalResults(items, {name: True}, CREATED)


def details(item: ItemResult, place: int = 0, **more: Any) -> Any:
    return page_data(replace(results([item]), **more)).details[0]["scores"][place]


def judged(evidence: dict[str, Any], output: str = ANSWER) -> Any:
    return details(ItemResult("a", {}, {"output": output}, (Score("s", 0.5, "", evidence, 0),), (sample_set(),)))


# What the overview says


def test_a_distribution_lies_on_the_scale_of_the_values() -> None:
    (overview,) = page_data(scored(0.0, 0.04, 0.05, 1.0, None)).scores

    assert [one.low for one in overview.bins if one.count] == pytest.approx([0.0, 0.05, 0.95])
    assert [one.count for one in overview.bins if one.count] == [2, 1, 1]
    assert [one.height for one in overview.bins if one.count] == [1.0, 0.5, 0.5]
    assert (overview.scored, overview.failed, overview.higher_is_better) == (4, 1, True)
    assert overview.mean == pytest.approx(0.2725)
    assert overview.mean_at == pytest.approx(0.2725)
    assert overview.quartiles == pytest.approx((0.0, 0.03, 0.045, 0.2875, 1.0))


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [((-0.5, 0.5), -1, 1), ((2.0, 6.0), 2, 6), ((4.0, 4.0), 2, 6), ((-4.0,), -6, -2), ((4.0, 4.0 + 1e-15), 2, 6)],
)
def test_values_beyond_0_to_1_have_an_axis_of_their_own(values: tuple[float, ...], low: float, high: float) -> None:
    (overview,) = page_data(scored(*values)).scores

    assert [overview.bins[0].low, overview.bins[-1].high] == pytest.approx([low, high])
    assert sum(one.count for one in overview.bins) == len(values)
    assert overview.mean_at == pytest.approx((sum(values) / len(values) - low) / (high - low))


def test_values_without_a_scale_have_no_histogram() -> None:
    (none,) = page_data(scored(None)).scores
    (far,) = page_data(scored(-1.7e308, 1.7e308)).scores

    assert (none.bins, none.quartiles, none.mean) == ((), (), None)
    assert far.bins == ()
    assert "no mean" in results_page(scored(None))
    assert 'class="histogram"' not in results_page(scored(-1.7e308, 1.7e308))


def test_failures_stand_by_reason_the_most_frequent_first() -> None:
    ok, lost = Score("a", 0.5), Score("a", None, "no model")
    items = (
        ItemResult("x", {}, {}, (ok, Score("b", None))),
        ItemResult("y", {}, {}, (lost, replace(lost, name="b"))),
        ItemResult("z", {}, {}, (lost, replace(lost, name="b"))),
        ItemResult("w", {}, {}, (), error="KeyError: 'q'"),
    )
    found = page_data(LocalResults(items))

    assert [(one.what, one.reason, one.items) for one in found.failures] == [
        ("a, b", "no model", ((1, "y"), (2, "z"))),
        ("b", "no reason was given", ((0, "x"),)),
        ("the task", "KeyError: 'q'", ((3, "w"),)),
    ]
    assert found.unscored == 4


def test_the_overview_says_date_version_calls_cost_and_failures() -> None:
    page = Page(results_page(results([city(), ItemResult("b", {}, {}, (Score("facts", None, "no name in it"),))])))
    text = " ".join(page.text.split())

    assert f"opik-checkembed {__version__}" in text
    assert "2026-03-02 12:00 UTC" in text
    assert "Items 2 Items with a failed score 1 Calls to a model 3 Paid $0.0030" in text
    assert "checkembed_metric higher is better 0.750 mean" in text
    assert "1 item : facts failed. no name in it b" in text
    assert ("a", {"href": "#item=2"}) in page.elements


def test_an_unknown_price_and_a_date_in_no_known_form_are_said_as_they_are() -> None:
    unpriced = sample_set()
    unpriced["cost_usd"] = None
    found = LocalResults((ItemResult("a", {}, {}, (), (unpriced,)),), created="yesterday")

    text = Page(results_page(found)).text
    assert "unknown, a price is missing" in text
    assert "yesterday" in text
    assert "These results hold no score." in text


def test_many_failures_for_one_reason_are_folded() -> None:
    same = [replace(one, scores=(Score("score", None, "why"),)) for one in scored(*[None] * 6).items]
    page = Page(results_page(LocalResults(tuple(same))))

    assert "6 items" in page.text
    assert ("details", {}) in page.elements


# What the table shows


def test_the_index_tells_a_failed_score_from_one_that_is_not_there() -> None:
    items = (
        ItemResult("a", {"question": "Why?"}, {"output": " So. "}, (Score("x", 1 / 3), Score("y", None))),
        ItemResult("b", {"messages": [{"role": "user", "content": "Hi"}]}, {"output": None}, (Score("x", 1.0),)),
    )
    index = page_data(LocalResults(items, {"x": False})).index

    assert index == {
        "scores": [
            {"name": "x", "higher": False, "cuts": [0.2, 0.4, 0.6, 0.8]},
            {"name": "y", "higher": None, "cuts": [0.2, 0.4, 0.6, 0.8]},
        ],
        "items": [
            {"id": "a", "asked": "Why?", "output": "So.", "values": [0.333333, False], "failed": True},
            {"id": "b", "asked": "Hi", "output": "", "values": [1.0, None], "failed": False},
        ],
    }


# What an item shows


def test_evidence_is_places_in_texts_that_are_kept_once() -> None:
    scores = page_data(results([city()])).details[0]["scores"]
    first, second, third = scores[1]["marks"]

    # The unicorn takes two units in a script; and the second sample cannot be used.
    assert (first["s"], first["e"], second["s"], second["e"]) == (0, 15, 16, 32)
    assert second["against"] == {"n": 1, "s": 3, "e": 29, "v": 0.95}
    assert second["per"] == [0.6, 0.95, 1.0]
    assert second["verdicts"] == ["yes", "no", "n/a"]
    assert third == {"s": 33, "e": 37, "v": None, "unscored": "it says nothing"}
    fact = scores[2]["marks"][1]["facts"][0]
    assert fact == {"s": 23, "e": 24, "support": 0.3333, "instead": []}
    page = results_page(results([city()]))
    # Question and answer stand in the index, each sample in the item's details.
    assert [page.count(text) for text in ("How many rivers", ANSWER, "It has 18 rivers.")] == [1, 1, 1]
    assert page.count(PASSAGES[1]) == 1


def test_claims_carry_their_verdict_and_their_place_in_the_source() -> None:
    details = page_data(results([city()])).details[0]
    source = details["scores"][3]

    assert source["kind"] == "claims"
    assert source["source"] == [PASSAGES[0], 0]
    assert source["marks"][1]["source"] == {"n": 0, "s": 13, "e": 22}
    assert source["marks"][1]["said"] == [
        ["Verdict", "contradicted"],
        ["P(supported)", "0.040"],
        ["Not in the source", "3 (number)"],
        ["Stronger than the source", "has (causal), always, never"],
    ]
    assert source["numbers"] == [["skipped", "1"]]
    assert details["fields"] == [["context", [PASSAGES[0], 0]], ["year", ["2024"]]]


def test_the_guard_marks_what_the_question_says_and_names_what_was_not_looked_for() -> None:
    claim = {
        "text": ANSWER,
        "not_contradicted": 0.6,
        "unsupported_specifics": [
            {"kind": "number", "start": 22, "end": 23, "text": "3", "asked": True},
            {"kind": "name", "start": 0, "end": 4, "text": "Łódź", "asked": False},
        ],
        "stronger_wording": None,
    }
    found = judged({"claims": [claim]})

    assert found["marks"][0]["said"] == [
        ["Not contradicted", "0.600"],
        ["Not in the source", "3 (number, as the question says), Łódź (name)"],
        ["Stronger than the source", "not looked for"],
    ]


@pytest.mark.parametrize(
    ("claim", "doubt"),
    [
        ({"score": 0.25, "p_supported": 0.1}, 0.25),
        ({"p_supported": 0.25}, 0.75),
        ({"p_contradicted": 0.125}, 0.125),
        ({"verdict": "unread", "problem": "the reply was cut"}, None),
    ],
)
def test_a_claim_without_a_score_is_doubted_as_its_verifier_says(claim: dict[str, Any], doubt: float | None) -> None:
    found = judged({"claims": [{"text": ANSWER, "start": 0, "end": len(ANSWER), **claim}]})

    assert found["marks"][0]["v"] == doubt
    assert found["marks"][0].get("unscored") == claim.get("problem")


def test_passages_that_are_objects_and_evidence_beside_the_passages_are_shown() -> None:
    claim = {"text": "old", "evidence": {"text": "It is young.", "start": 0, "end": 3, "passage": 7}}
    found = judged({"claims": [claim], "source": {"passages": [{"text": "It is young."}, "more"]}}, "It is old.")

    assert found["source"] == ["It is young.", "more"]
    assert found["marks"][0]["source"] == {"text": "It is young."}
    # The claim says no place: it stands in a text of its own.
    assert (found["text"], found["marks"][0]["s"], found["marks"][0]["e"]) == ("old", 0, 3)


def test_claims_that_overlap_or_judge_another_field_are_listed() -> None:
    overlapping = [{"text": "Łódź is 🦄", "start": 0, "end": 9}, {"text": "is 🦄 old", "start": 5, "end": 13}]
    found = judged({"claims": overlapping})

    assert found["text"] == "Łódź is 🦄\nis 🦄 old"
    assert [(one["s"], one["e"]) for one in found["marks"]] == [(0, 10), (11, 20)]
    sentence = SentenceScore("Another field.", 0, 14, 0.5)
    assert judged(SelfCheckResult((sentence,)).to_dict())["text"] == "Another field."


def test_what_a_method_found_is_said_in_words() -> None:
    question = {"question": "How many?", "options": ["3", "18", "1"], "answers": [0, 1, 1, 0, 2]}
    detail = {
        "rarest": "3",
        "in_samples": [0],
        "samples": 3,
        "questions": [question, {**question, "answers": [0, 0]}, {**question, "answers": [9]}, {"options": []}, 5],
        "facts": [{"text": "3", "start": 99, "end": 100, "instead": [["18", 2], "?"]}, {"text": "x"}],
    }
    place = {"text": ANSWER, "start": 0, "end": len(ANSWER)}
    entry = {**place, "score": None, "agreement": 0.25, "detail": detail, "against": {"sample": 9}}
    (mark,) = judged({"sentences": [entry]})["marks"]

    assert mark["said"] == [
        ["Agreement", "0.250"],
        ["Rarest", "“3” in 1 of 3 samples"],
        ["How many?", "3; 1 of 4 samples agree, others: 18 (2), 1 (1)"],
        ["How many?", "3; 1 of 1 samples agree"],
    ]
    assert mark["facts"] == [{"text": "3", "instead": ["18 (2)"]}, {"text": "x"}]
    assert mark["against"] == {"text": ""}


def test_similarities_are_kept_once_and_only_on_one_side_of_the_diagonal() -> None:
    both = (Score("a", 0.5, "", agreement_evidence()), Score("a_reference", 0.5, "", agreement_evidence()))
    first, second = page_data(results([ItemResult("a", {}, {}, both)])).details[0]["scores"]

    assert first["matrix"] == {
        "labels": ["output", "sample 1", "sample 2", "sample 3"],
        "values": [1.0, 0.6, 0.0, 0.6, 0.0, 0.8],
    }
    assert "matrix" not in second
    assert ["embedding: model", "4"] in second["numbers"]


@pytest.mark.parametrize(
    "evidence",
    [
        {"matrix": [[1.0]]},
        {"matrix": [], "labels": []},
        {"matrix": [[1.0, 2.0]], "labels": ["a"]},
        {"matrix": [[1.0, None], [None, 1.0]], "labels": ["a", "b"]},
        {"matrix": [[1.0]], "labels": "a"},
        {"matrix": [[1.0, 0.5]], "labels": ["a", "b"]},
    ],
)
def test_what_is_no_matrix_is_not_drawn(evidence: dict[str, Any]) -> None:
    assert "matrix" not in judged(evidence)


def test_single_values_of_the_evidence_are_listed() -> None:
    evidence = {"yes": True, "no": False, "pi": 3.14159, "nan": float("nan"), "n": 3, "said": "x", "long": "x" * 999}
    found = judged({**evidence, "inner": {"deep": 1, "list": [1]}, "list": [1]})

    assert found["numbers"] == [
        ["yes", "yes"],
        ["no", "no"],
        ["pi", "3.142"],
        ["n", "3"],
        ["said", "x"],
        ["inner: deep", "1"],
    ]


def test_tints_are_fifths_of_the_scale_or_of_the_sentences_where_it_has_no_end() -> None:
    def cuts(*scores: float) -> Any:
        sentences = tuple(SentenceScore("A.", 0, 2, score) for score in scores)
        evidence = SelfCheckResult(sentences[:1]).to_dict()
        items = [
            ItemResult("a", {}, {"output": "A."}, (Score("s", 1.0, "", {**evidence, "sentences": [vars(one)]}),))
            for one in sentences
        ]
        return page_data(results(items)).index["scores"][0]["cuts"]

    assert cuts(0.0, 1.0) == [0.2, 0.4, 0.6, 0.8]
    assert cuts(0.0, 1.0, 2.0, 3.0, 4.0, 5.0) == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(5, "under a minute old"), (60, "1 minute old"), (7300, "2 hours old"), (86400, "1 day old")],
)
def test_a_sample_from_the_store_says_how_old_it_was(seconds: float, said: str) -> None:
    kept = sample_set(["x"])
    kept["samples"][0]["created"] = 1772452800.0 - seconds
    found = page_data(results([ItemResult("a", {}, {}, (), (kept,))])).details[0]["sets"][0]["samples"][0]

    assert found["about"] == ["ok", "from store", said]
    undated = replace(results([ItemResult("a", {}, {}, (), (kept,))]), created="yesterday")
    assert page_data(undated).details[0]["sets"][0]["samples"][0]["about"] == ["ok", "from store"]


def test_a_conversation_is_shown_turn_by_turn() -> None:
    parts = [{"type": "text", "text": "Look:"}, {"type": "image_url"}]
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": parts}]
    found = page_data(results([ItemResult("a", {"messages": turns}, {"output": "x", "note": ["a", "b"]}, ())]))

    assert found.details[0]["conversation"] == [["system", "Be brief."], ["user", "Look: [image_url]"]]
    assert found.details[0]["fields"] == [["note", ["a", "b"]]]
    assert found.index["items"][0]["asked"] == "Look: [image_url]"


def test_a_failed_task_says_why() -> None:
    (found,) = page_data(LocalResults((ItemResult("a", {}, {}, (), error="KeyError"),))).details

    assert found == {"scores": [], "sets": [], "fields": [], "error": "KeyError"}


# Anything may stand in the evidence of somebody else's metric

_NAMES = [
    "sentences",
    "claims",
    "text",
    "start",
    "end",
    "score",
    "detail",
    "facts",
    "instead",
    "against",
    "support",
    "sample",
    "passage",
    "evidence",
    "source",
    "passages",
    "matrix",
    "labels",
    "per_sample",
    "verdict",
    "verdicts",
    "questions",
    "options",
    "answers",
    "rarest",
    "in_samples",
    "absolute",
    "unsupported_specifics",
    "p_supported",
    "p_contradicted",
    "unscored",
    "worst",
]
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 5) | st.floats() | st.text(max_size=5) | st.just(ANSWER[:14]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=5),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(_NAMES), _VALUES, max_size=5))
def test_evidence_of_any_form_is_tolerated(evidence: dict[str, Any]) -> None:
    item = ItemResult("a", {}, {"output": ANSWER}, (Score("s", 0.5, "", evidence, 0),), (sample_set(),))
    found = page_data(results([item]))

    assert json.loads(json.dumps(found.details, allow_nan=False)) == [found.details[0]]
    for mark in found.details[0]["scores"][0].get("marks", []):
        assert 0 <= mark["s"] <= mark["e"]


@given(st.lists(st.text(st.characters(exclude_categories=[]), min_size=1), min_size=1, max_size=4))
def test_places_are_counted_as_a_script_counts(pieces: list[str]) -> None:
    output = "".join(pieces)
    spans: list[tuple[int, int]] = []
    for piece in pieces:
        start = spans[-1][1] if spans else 0
        spans.append((start, start + len(piece)))
    sentences = tuple(SentenceScore(piece, *span, 0.5) for piece, span in zip(pieces, spans, strict=True))
    item = {"output": f"x{output}x"}
    moved = tuple(replace(one, start=one.start + 1, end=one.end + 1) for one in sentences)
    scores = (Score("s", 0.5, "", SelfCheckResult(moved).to_dict()),)
    (found,) = page_data(results([ItemResult("a", {}, item, scores)])).details[0]["scores"]

    units = f"x{output}x".encode("utf-16-le", "surrogatepass")
    shown = [units[2 * one["s"] : 2 * one["e"]] for one in found["marks"]]
    assert shown == [piece.encode("utf-16-le", "surrogatepass") for piece in pieces]
    assert "text" not in found


# The file


def test_only_the_page_s_own_script_may_run_and_nothing_is_loaded() -> None:
    page = results_page(results([city()]))
    parsed = Page(page)
    (policy,) = [of["content"] for tag, of in parsed.elements if of.get("http-equiv") == "Content-Security-Policy"]
    (code,) = [text for attributes, text in parsed.scripts if "type" not in attributes]
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()

    assert policy == (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    loaded = {of.get("src") or of.get("href") for _, of in parsed.elements} - {None}
    assert all(str(one).startswith(("#", "data:,")) for one in loaded)
    assert set(re.findall(r"https?://[^\s\"']+", page)) == {"http://www.w3.org/2000/svg"}
    assert "innerHTML" not in code
    assert not any(name.startswith("on") for _, of in parsed.elements for name in of)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_neither_adds_an_element_nor_ends_a_script(text: str) -> None:
    item = next(one for one in hostile().items if one.id == text)
    plain = ItemResult("plain", {"input": "p", "f": "f"}, {"output": "p"}, item.scores, item.samples, error="e")
    harmless = [Score("h", score.value, "r", {}, score.samples) for score in item.scores]
    page = results_page(LocalResults((item,), created=CREATED), title=text)
    parsed = Page(page)
    expected = Page(results_page(LocalResults((replace(plain, scores=tuple(harmless)),), created=CREATED), title="t"))

    assert {tag for tag, _ in parsed.elements} <= {tag for tag, _ in expected.elements} | {"wbr"}
    assert len(parsed.scripts) == len(expected.scripts)
    assert parsed.json("index")["items"][0]["asked"] == text
    assert parsed.json("item-0")["error"] == text
    page.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202d\u202e\ud800-\udfff]", page)
    assert all("\u2028" not in script for _, script in parsed.scripts)


@given(st.recursive(st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=5))
def test_data_reaches_the_script_unchanged(value: Any) -> None:
    item = ItemResult("a", {"input": "x", "field": value}, {}, ())
    page = Page(results_page(results([item])))

    (stored,) = page.json("item-0")["fields"]
    flat = value if isinstance(value, list) and value and all(isinstance(one, str) for one in value) else None
    if isinstance(value, str) or flat is not None:
        assert stored == ["field", [value] if flat is None else flat]
    else:
        assert json.loads(stored[1][0]) == value


def test_a_page_of_nothing_is_a_page() -> None:
    page = Page(results_page(LocalResults(()), title="Empty"))

    assert page.json("index") == {"scores": [], "items": []}
    assert "Empty" in page.text


def test_most_of_the_file_is_the_texts_each_once() -> None:
    found = many(200, samples=10, words=100)
    written = sum(
        len(sample["text"]) for item in found.items for one in item.samples for sample in one["samples"]
    ) + sum(len(item.output["output"]) for item in found.items)

    assert len(results_page(found)) < 1.4 * written + 60_000


# Two runs compared


def compared(**changes: Any) -> MetricComparison:
    metric = MetricComparison(
        name="score",
        higher_is_better=True,
        pairs=2,
        baseline_mean=0.8,
        candidate_mean=0.7,
        difference=-0.1,
        interval=(-0.2, 0.05),
        p_value=0.04,
        p_adjusted=0.08,
        better=0.25,
        worse=0.5,
        equal=0.25,
        margin=0.02,
        detectable=0.06,
        verdict=Verdict.UNDERPOWERED,
    )
    return replace(metric, **changes)


def pair(name: str, baseline: float, candidate: float, text: str = "So.") -> PairedItem:
    sides = [
        ItemResult(name, {"input": f"Why {name}?"}, {"output": answer}, (Score("score", value, f"why {value}"),))
        for answer, value in ((f"{text} Before.", baseline), (f"{text} After.", candidate))
    ]
    values = ({"score": baseline}, {"score": candidate})
    return PairedItem(name, sides[0], sides[1], {"score": candidate - baseline}, values[0], values[1], (1, 1))


def comparison(*metrics: MetricComparison, **changes: Any) -> Comparison:
    made = Comparison(metrics, (), (), (), (), "main", "pull request", 0, 0.05)
    return replace(made, **changes)


def test_an_interval_is_drawn_from_worse_to_better() -> None:
    # The longest way from zero, 0.2, takes the 108 units between the middle and the edge.
    drawn, turned = comparison_data(
        comparison(compared(), compared(higher_is_better=False, difference=0.1, interval=(-0.05, 0.2)))
    ).intervals

    assert drawn is not None
    assert turned is not None
    assert (drawn.low, drawn.at, drawn.margin, drawn.zero, drawn.high) == (12.0, 66.0, 109.2, 120.0, 147.0)
    assert drawn.said == "Difference -0.1, interval -0.2 to 0.05, margin 0.02; underpowered"
    assert (turned.low, turned.at, turned.margin, turned.zero, turned.high) == (12.0, 66.0, 109.2, 120.0, 147.0)


def test_what_cannot_be_drawn_is_left_out() -> None:
    nothing = compared(pairs=0, difference=None, interval=None, baseline_mean=None, detectable=None, p_adjusted=None)
    single = compared(difference=0.0, interval=None, margin=0.0)
    none, dot = comparison_data(comparison(nothing, single)).intervals

    assert none is None
    assert dot is not None
    assert (dot.at, dot.zero, dot.margin, dot.low, dot.high) == (120.0, 120.0, None, None, None)
    text = " ".join(Page(comparison_page(comparison(nothing, single))).text.split())
    assert "0.000" in text
    assert "There is no score to compare." in Page(comparison_page(comparison())).text


def test_the_comparison_says_verdicts_figures_and_what_is_missing() -> None:
    unscored = tuple(Unscored("candidate", f"n{at}", "score", "no model") for at in range(7))
    found = comparison(
        compared(verdict=Verdict.WORSE), only_baseline=("n8",), only_candidate=("n9",), unscored=unscored
    )
    page = Page(comparison_page(found, title="Gate"))
    text = " ".join(page.text.split())

    assert "Gate Baseline main Candidate pull request Items on both sides 0 Missing scores 7" in text
    assert "score higher is better, 2 pairs ▼ worse" in text
    assert "margin 0.020, detectable 0.060 0.800 0.700 -0.100 -0.200 to +0.050 0.080 25, 50, 25 %" in text
    assert "The candidate has no score: no model 7 items n0 , n1 , n2 , n3 , n4 , n5 , n6" in text
    assert "Only the baseline has these items n8 Only the candidate has these items n9" in text


def test_the_comparison_begins_with_what_the_gate_says() -> None:
    wanted = ThresholdCheck(Threshold("score", "<=", 0.3), 0.30003)
    decision = Decision(Outcome.WORSE, ("score is worse", "<b>odd</b>"), True, (wanted,))
    found = comparison(compared(better=1 / 300, worse=299 / 300, equal=0.0), alpha=0.005)
    page = Page(comparison_page(found, decision=decision))
    text = " ".join(page.text.split())

    assert "Gate: worse score is worse <b>odd</b> Threshold Candidate Holds score<=0.3 0.30003 no Verdicts" in text
    assert "its 99.5 % interval" in text
    assert "<1, >99, 0 %" in text
    assert "Gate:" not in Page(comparison_page(found)).text


def test_items_carry_both_answers_and_the_score_that_got_worse_comes_first() -> None:
    better = compared(name="other", verdict=Verdict.IMPROVED)
    found = comparison(better, compared(verdict=Verdict.WORSE), items=(pair("a", 0.5, 0.25),))
    page = Page(comparison_page(found))

    assert page.json("index") == {
        "metrics": [{"name": "score"}, {"name": "other"}],
        "items": [
            {
                "id": "a",
                "asked": "Why a?",
                "answers": ["So. Before.", "So. After."],
                "values": [[0.5, 0.25], [None, None]],
                "differences": [-0.25, None],
                "reasons": [["why 0.5", "why 0.25"], ["", ""]],
            }
        ],
    }


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_no_part_of_a_comparison(text: str) -> None:
    found = comparison(
        compared(name=text),
        baseline_name=text,
        only_baseline=(text,),
        unscored=(Unscored("baseline", text, text, text),),
        items=(pair(text, 0.5, 0.25, text),),
    )
    parsed, plain = Page(comparison_page(found, title=text)), Page(comparison_page(comparison(compared())))

    assert {tag for tag, _ in parsed.elements} <= {tag for tag, _ in plain.elements} | {
        "wbr",
        "ul",
        "li",
        "h3",
        "div",
        "bdi",
    }
    assert len(parsed.scripts) == len(plain.scripts)
    assert parsed.json("index")["items"][0]["id"] == text


def test_templates_come_with_the_package() -> None:
    from opik_checkembed.report import page

    folder = Path(page.__file__).parent / "templates"
    names = {
        "base.html.j2",
        "results.html.j2",
        "comparison.html.j2",
        "page.css",
        "page.js",
        "results.js",
        "comparison.js",
    }
    assert names <= {one.name for one in folder.iterdir()}


def test_numpy_values_in_an_item_are_written_as_numbers() -> None:
    item = ItemResult("a", {"input": "x", "v": np.array([1, 2])}, {}, ())

    assert page_data(results([item])).details[0]["fields"] == [["v", ["[\n 1,\n 2\n]"]]]
