"""The forms of one comparison: terminal, Markdown, JUnit."""

from __future__ import annotations

import html
import io
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from rich.console import Console

from opik_checkembed.gate.comparison import Comparison, compare
from opik_checkembed.gate.decision import Decision, decide
from opik_checkembed.gate.junit import junit_report
from opik_checkembed.gate.markdown import markdown_report
from opik_checkembed.gate.terminal import terminal_report
from opik_checkembed.gate.thresholds import Threshold, parse_threshold
from opik_checkembed.gate.wording import answer_of, asked_of, number
from opik_checkembed.report.page import comparison_page
from opik_checkembed.results import ItemResult, LocalResults
from tests.gate.runs import DIRECTIONS, pair_of, result, run

HOSTILE = (
    "`|</code></details><script>alert(1)</script> **bold** @everyone #1 :+1: $x$ [a](http://b) \x1b[31m\x00\ud800\u202e"
)


def shown(comparison: Comparison, decision: Decision, worst: int = 5) -> str:
    printed = io.StringIO()
    Console(width=220, file=printed).print(terminal_report(comparison, decision, worst=worst))
    return printed.getvalue()


def hostile() -> tuple[Comparison, Decision]:
    """Hostile text wherever a user's or a model's text goes: ids, questions, answers, reasons, names."""
    count, name = 8, f"score {HOSTILE}"
    items: list[list[ItemResult]] = [[], []]
    for number_, values in enumerate([(0.9, 0.1)] * count):
        for side, value in zip(items, values, strict=True):
            side.append(result(f"{number_} {HOSTILE}", {name: value}, answer=HOSTILE, question=HOSTILE))
    items[1][7] = replace(items[1][7], scores=(replace(items[1][7].scores[0], value=None, reason=HOSTILE),))
    items[1].append(result(f"extra {HOSTILE}", {name: 0.5}))
    baseline, candidate = (LocalResults(tuple(side), {name: True}) for side in items)
    comparison = compare(baseline, candidate, names=(HOSTILE, "branch"))
    return comparison, decide(comparison, [Threshold(name, ">=", 0.5)])


def test_figures_to_read() -> None:
    figures = [0.0, 0.5, -0.0004, 1234.0, None]
    assert [number(one) for one in figures] == ["0.000", "0.500", "-0.0004", "1.23e+03", "-"]
    assert number(0.5, sign=True) == "+0.500"


def test_the_asked_and_the_answer_are_found_wherever_they_stand() -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
    assert asked_of(ItemResult("a", {"question": "Why?"}, {}, ())) == "Why?"
    assert asked_of(ItemResult("a", {"messages": messages}, {}, ())) == "Be brief.\nWhy?"
    assert asked_of(ItemResult("a", {}, {}, ())) == ""
    assert answer_of(ItemResult("a", {"output": "So."}, {}, ())) == "So."
    assert answer_of(ItemResult("a", {"output": "So."}, {"output": "Else."}, ())) == "Else."
    assert answer_of(ItemResult("a", {}, {}, (), error="the task raised X")) == "(the task raised X)"
    assert answer_of(ItemResult("a", {}, {"output": ""}, ())).startswith("(`output` is empty")


# --- terminal --------------------------------------------------------------------------------------------------------


def test_the_terminal_shows_figures_verdict_and_the_worst_items_with_both_answers() -> None:
    comparison = compare(*pair_of(-0.03), names=("main.json", "branch.json"))
    text = shown(comparison, decide(comparison, [parse_threshold("agreement>=0.1")]), worst=2)
    assert "branch.json against main.json, 60 items, seed 0" in text
    row = next(line for line in text.splitlines() if line.startswith(" agreement  worse"))
    assert "-0.030  [-0.04" in row
    assert "agreement, higher is better: 60 items, better / worse / equal 28 % / 72 % / 0 %, margin 0.020" in " ".join(
        text.split()
    )
    assert "agreement>=0.1 holds: 0." in text
    worst = comparison.worst(2)
    assert [item.id for item in worst] == re.findall(r"^\d\. (q\d+)", text, re.MULTILINE)
    assert f"Question {worst[0].id}?" in text
    assert text.count("Paris.") == text.count("Lyon.") == 2
    assert text.rstrip().endswith("worse\n  agreement is worse")


def test_the_terminal_lists_every_item_without_a_score_under_its_reason() -> None:
    values: list[float | None] = [None if number_ % 2 else 0.5 for number_ in range(40)]
    comparison = compare(run([0.5] * 41), run(values))
    text = " ".join(shown(comparison, decide(comparison)).split())
    assert "candidate, agreement: the judge gave no verdict items (20): q1, q3," in text
    assert all(f"q{number_}" in text for number_ in range(1, 40, 2))
    assert "only in the baseline items (1): q40" in text
    assert "cannot tell" in text


def test_the_terminal_obeys_no_text() -> None:
    text = shown(*hostile())
    assert "\x1b" not in text
    assert "\x00" not in text
    assert "\u202e" not in text
    assert "**bold**" in text
    assert "[a](http://b)" in text


def test_a_comparison_without_figures_can_be_shown_in_every_form() -> None:
    comparison = compare(run([None]), run([0.5]))
    decision = decide(comparison)
    for text in (
        shown(comparison, decision),
        markdown_report(comparison, decision),
        junit_report(comparison, decision),
    ):
        assert "the judge gave no verdict" in html.unescape(text)


# --- Markdown --------------------------------------------------------------------------------------------------------


def test_the_summary_opens_with_the_outcome_and_has_a_row_for_each_metric_and_threshold() -> None:
    comparison = compare(*pair_of(-0.03))
    text = markdown_report(comparison, decide(comparison, [parse_threshold("agreement<=0.1")]), worst=3)
    lines = html.unescape(text).splitlines()
    assert lines[0] == "### Gate: worse"
    assert "- agreement is worse" in lines
    row = next(line for line in lines if line.startswith("| <code>agreement</code>"))
    assert "**worse**" in row
    assert "higher is better" in row
    assert any(line.startswith("| <code>agreement<=0.1</code>") and line.endswith("**no** |") for line in lines)
    assert sum(line.startswith("<details>") for line in lines) == text.count("</details>") == 3
    assert text.count("Paris.") == text.count("Lyon.") == 3


def test_every_row_of_a_table_has_as_many_cells_as_its_header() -> None:
    for text in (markdown_report(*hostile()), markdown_report(*both_forms())):
        tables: list[list[int]] = [[]]
        for line in text.splitlines():
            if line.startswith("|"):
                tables[-1].append(line.count("|"))
            else:
                tables.append([])
        widths = [set(table) for table in tables if table]
        assert len(widths) == 2
        assert all(len(width) == 1 for width in widths)


def both_forms() -> tuple[Comparison, Decision]:
    comparison = compare(*pair_of(0.0, name="doubt"))
    return comparison, decide(comparison, [parse_threshold("doubt<=0.9")])


def test_no_text_is_read_as_markdown_or_html() -> None:
    text = markdown_report(*hostile())
    ours = re.sub(r"</?(code|details|summary)>|&#\d+;|\*\*(worse|no)\*\*", "", text)
    lines = [line.lstrip("-# ") for line in ours.splitlines() if not line.startswith("|")]
    assert not re.search(r"[<>`*@#$\[\]_~\\]", "".join(lines))
    assert "\x1b" not in text
    text.encode("utf-8")
    assert "<script>alert(1)</script>" in html.unescape(text)
    # No line of a text begins a line of ours.
    assert all(line.startswith(("|", "-", "#", "<", "")) for line in text.splitlines())


def test_no_address_in_a_text_becomes_a_link() -> None:
    text = "See www.evil.example, WWW.evil.example, mail me@evil.example or http://evil.example/x."
    before = LocalResults(tuple(result(f"q{n}", {"agreement": 0.9}) for n in range(8)), DIRECTIONS)
    after = LocalResults(tuple(result(f"q{n}", {"agreement": 0.1}, answer=text) for n in range(8)), DIRECTIONS)
    comparison = compare(before, after)
    shown_ = markdown_report(comparison, decide(comparison))
    # As GitHub reads it: `www.` in the source, the others after character references.
    assert not re.search(r"www\.", shown_, re.IGNORECASE)
    assert not re.search(r"\w@\w|://|www\.\w", html.unescape(shown_), re.IGNORECASE)
    assert "me@\u2060evil.example" in html.unescape(shown_)


def test_the_reason_of_the_metric_that_lost_most_is_shown_for_each_of_the_worst_items() -> None:
    def side(agreement: float, doubt: float) -> LocalResults:
        items = [result(f"q{n}", {"agreement": agreement - n / 100, "doubt": doubt - (n == 0) / 10}) for n in range(8)]
        named = [replace(i, scores=tuple(replace(s, reason=f"{s.name}\nis odd") for s in i.scores)) for i in items]
        return LocalResults(tuple(named), DIRECTIONS)

    comparison = compare(side(0.9, 0.3), side(0.3, 0.3))
    decision = decide(comparison)
    assert shown(comparison, decision, worst=3).count("why       agreement is odd") == 3
    assert html.unescape(markdown_report(comparison, decision, worst=3)).count("- why: <code>agreement is odd") == 3


def test_equal_runs_say_in_every_form_what_that_leaves_open() -> None:
    comparison = compare(run([0.5] * 10), run([0.5] * 10))
    decision = decide(comparison)
    said = "no item differs; with 10 items up to 26 % of all may still do otherwise"
    for text in (
        shown(comparison, decision),
        markdown_report(comparison, decision),
        junit_report(comparison, decision),
        comparison_page(comparison, decision=decision),
    ):
        assert said in html.unescape(text)
    assert "detectable -" in " ".join(shown(comparison, decision).split())


def test_long_answers_and_long_lists_are_cut_visibly_and_fit_a_comment() -> None:
    count = 300
    before = [result(f"{n}" * 30, {"agreement": 0.9}, answer="#" * 5000, question="|" * 5000) for n in range(count)]
    after = [result(f"{n}" * 30, {"agreement": None if n % 2 else 0.1}, answer="*" * 5000, question="|" * 5000)
             for n in range(count)]  # fmt: skip
    comparison = compare(LocalResults(tuple(before), DIRECTIONS), LocalResults(tuple(after), DIRECTIONS))
    text = markdown_report(comparison, decide(comparison))
    assert len(text) < 65_536
    assert "and 140 more" in text
    assert "…</code>" in text


def test_many_reasons_are_counted() -> None:
    broken = [replace(result(f"q{n}", {"agreement": None}), error=f"no {n}") for n in range(25)]
    comparison = compare(run([0.5] * 25), LocalResults(tuple(broken)))
    assert "- and 15 more reasons; the JSON report has all" in markdown_report(comparison, decide(comparison))


# --- JUnit -----------------------------------------------------------------------------------------------------------


def cases(text: str) -> dict[str, tuple[str | None, str]]:
    """By name: what a case reports (failure, error, skipped) and its message."""
    suite = ElementTree.fromstring(text)
    found: dict[str, tuple[str | None, str]] = {}
    for case in suite:
        problem = next((child for child in case if child.tag != "system-out"), None)
        found[case.get("name", "")] = (None, "") if problem is None else (problem.tag, problem.get("message", ""))
    assert int(suite.get("tests", "")) == len(found)
    for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert int(suite.get(name, "")) == sum(problem == kind for problem, _ in found.values())
    return found


COMPLETE = "every item has its scores on both sides"


def test_a_test_case_for_each_metric_and_threshold() -> None:
    comparison = compare(*pair_of(-0.03))
    found = cases(
        junit_report(comparison, decide(comparison, [parse_threshold(f"agreement{r}") for r in (">=1", "<=1")]))
    )
    assert list(found) == ["agreement", "agreement>=1", "agreement<=1", COMPLETE]
    assert found["agreement"][0] == "failure"
    assert found["agreement"][1].startswith("agreement is worse: 0.")
    assert found["agreement>=1"][0] == "failure"
    assert found["agreement<=1"] == found[COMPLETE] == (None, "")


@pytest.mark.parametrize(("fails", "problem"), [(False, "skipped"), (True, "error")])
def test_underpowered_is_skipped_or_an_error(fails: bool, problem: str) -> None:
    comparison = compare(*pair_of(-0.01))
    decision = decide(comparison, fail_on_underpowered=fails)
    found = cases(junit_report(comparison, decision, fail_on_underpowered=fails))
    assert found["agreement"][0] == problem


def test_unscored_items_are_an_error_or_where_allowed_skipped() -> None:
    values: list[float | None] = [0.5] * 20
    values[4] = None
    comparison = compare(run([0.5] * 20), run(values))
    for allowed, problem in ((0, "error"), (1, "skipped")):
        text = junit_report(comparison, decide(comparison, allow_unscored=allowed))
        assert cases(text)[COMPLETE][0] == problem
        assert "candidate, agreement: the judge gave no verdict (q4)" in text


def test_a_metric_without_values_and_its_threshold_are_errors() -> None:
    comparison = compare(run([None] * 8), run([0.5] * 8))
    decision = decide(comparison, [parse_threshold("agreement>=0.1")], allow_unscored=8)
    found = cases(junit_report(comparison, decision))
    assert found["agreement"][0] == found["agreement>=0.1"][0] == "error"


def test_hostile_text_leaves_the_xml_well_formed() -> None:
    text = junit_report(*hostile())
    text.encode("utf-8")
    assert cases(text)[COMPLETE][0] == "error"
    assert "<script>" not in text
