"""The table as plain text, the way a log file or a terminal without colours shows it."""

import io
from collections.abc import Mapping
from typing import Any

import pytest
from rich.console import Console

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.report.table import results_table
from opik_checkembed.results import ItemResult, LocalResults, Score
from opik_checkembed.samples import Sample, SampleSet, Usage


def shown(results: LocalResults, width: int = 140, colours: bool = False, **options: Any) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=colours, color_system="truecolor" if colours else None)
    console.print(results_table(results, **options))
    return file.getvalue()


def rows(text: str) -> list[list[str]]:
    """The cells of each row below the header's line, which is the one of dashes."""
    lines = [line.split() for line in text.splitlines()]
    start = next(n for n, cells in enumerate(lines) if cells and set(cells[0]) == {"─"})
    end = next(n for n in range(start + 1, len(lines)) if not lines[n])
    return lines[start + 1 : end]


def item(name: str, value: float | None, asked: Any = "Why?", **more: Any) -> ItemResult:
    return ItemResult(name, {"input": asked}, {}, (Score("score", value, **more),))


def many(*values: float | None, higher_is_better: bool | None = True) -> LocalResults:
    items = tuple(item(f"n{number}", value, reason="said") for number, value in enumerate(values))
    return LocalResults(items, {"score": higher_is_better})


def ruled(name: str, mean: float, std: float, confident: bool, value: float = 0.9) -> Score:
    return Score(name, value, evidence={"mean": mean, "std": std, "confident": confident, "labels": ["output"]})


def bought(cost: float | None, count: int = 2) -> Mapping[str, Any]:
    samples = [Sample(n, "x", usage=Usage(1, 1), cost_usd=cost) for n in range(count)]
    return SampleSet(tuple(samples), count).to_dict()


def test_rows_stand_worst_first_and_failed_before_all() -> None:
    text = shown(many(0.9, None, 0.25, 0.5))

    assert rows(text) == [
        ["n1", "Why?", "failed"],
        ["n2", "Why?", "0.250"],
        ["n3", "Why?", "0.500"],
        ["n0", "Why?", "0.900"],
    ]


@pytest.mark.parametrize(
    ("higher_is_better", "order"), [(True, ["n1", "n0"]), (False, ["n0", "n1"]), (None, ["n1", "n0"])]
)
def test_the_direction_says_which_is_worst(higher_is_better: bool | None, order: list[str]) -> None:
    assert [row[0] for row in rows(shown(many(0.9, 0.25, higher_is_better=higher_is_better)))] == order


def test_an_item_without_the_first_score_comes_before_those_that_have_it() -> None:
    results = LocalResults((item("has", 0.1), ItemResult("lacks", {}, {}, (Score("other", 1.0),))))

    assert rows(shown(results)) == [["lacks", "-", "-", "1.000"], ["has", "Why?", "0.100", "-"]]


def test_the_caption_says_means_counts_calls_and_cost() -> None:
    results = LocalResults(
        (
            ItemResult("a", {}, {}, (Score("up", 0.5), Score("down", 1.0)), (bought(0.01),)),
            ItemResult("b", {}, {}, (Score("up", 0.75), Score("down", None, "why")), (bought(0.01, 1),)),
            ItemResult("c", {}, {}, (Score("up", None, "why"), Score("lost", None, "why"))),
        ),
        {"up": True, "down": False, "lost": None},
    )

    text = [line.strip() for line in shown(results).splitlines()]
    assert text[-6:] == [
        "c: failed: why",
        "b: down failed: why",
        "up: mean 0.625, 2 scored, 1 failed, higher is better",
        "down: mean 1.000, 1 scored, 1 failed, lower is better",
        "lost: no mean, 0 scored, 1 failed",
        "3 calls to the model, $0.0300 paid",
    ]
    assert [row[-1] for row in rows(shown(results))] == ["$0", "$0.0200", "$0.0100"]


def test_an_unknown_cost_is_said_to_be_unknown() -> None:
    results = LocalResults((ItemResult("a", {}, {}, (Score("s", 1.0),), (bought(None, 1),)),))

    text = shown(results)

    assert rows(text) == [["a", "-", "1.000", "unknown"]]
    assert "1 call to the model, cost unknown" in text


def test_no_cost_is_no_column() -> None:
    text = shown(many(0.5))

    assert "cost" not in text
    assert "no calls to the model, $0 paid" in text


@pytest.mark.parametrize(("cost", "dollars"), [(0.25, "$0.2500"), (0.00002, "$2e-05"), (12.5, "$12.5000")])
def test_small_costs_do_not_round_to_nothing(cost: float, dollars: str) -> None:
    results = LocalResults((ItemResult("a", {}, {}, (Score("s", 1.0),), (bought(cost, 1),)),))

    assert rows(shown(results))[0][-1] == dollars


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0.0, "0.000"),
        (-0.5, "-0.500"),
        (0.0004, "0.0004"),
        (-3e-9, "-3e-09"),
        (1234567.0, "1.23e+06"),
        (999.0, "999.000"),
    ],
)
def test_numbers_keep_their_digits(value: float, number: str) -> None:
    assert rows(shown(many(value)))[0][-1] == number


def test_failures_of_one_kind_are_said_once_with_their_items() -> None:
    failed = [item(f"n{number}", None, reason="no `input`") for number in range(8)]
    silent = item("x", None)

    text = shown(LocalResults((*failed, silent, item("y", 1.0))))

    assert "n0, n1, n2, n3, n4 and 3 more: failed: no `input`" in text
    assert "x: failed: no reason was given" in text
    assert text.count("no `input`") == 1


def test_the_rules_verdict_stands_beside_its_score_and_once_for_each_metric() -> None:
    yes, no = ("m", 0.95, 0.0125, True), ("m", 0.5, 0.25, False)
    results = LocalResults(
        (
            ItemResult("a", {}, {}, (ruled(*yes), ruled("m_ref", *yes[1:], value=0.8), Score("n", 0.7))),
            ItemResult("b", {}, {}, (ruled(*no), Score("n", 0.6))),
            ItemResult("c", {}, {}, (Score("m", None, "why"), Score("n", 0.5))),
        ),
        {"m": True},
    )

    text = shown(results)

    assert text.split("─")[0].split() == ["id", "asked", "m", "mean", "std", "confident", "m_ref", "n"]
    assert rows(text) == [
        ["c", "-", "failed", "-", "-", "-", "-", "0.500"],
        ["a", "-", "0.900", "0.950", "0.013", "yes", "0.800", "0.700"],
        ["b", "-", "0.900", "0.500", "0.250", "no", "-", "0.600"],
    ]


def test_two_metrics_with_rules_have_columns_of_their_own() -> None:
    scores = (ruled("m", 0.95, 0.01, True), ruled("n", 0.5, 0.25, False))

    text = shown(LocalResults((ItemResult("a", {}, {}, scores),)))

    assert rows(text) == [["a", "-", "0.900", "0.950", "0.010", "yes", "0.900", "0.500", "0.250", "no"]]


def test_evidence_of_other_metrics_is_no_verdict() -> None:
    scores = (Score("m", 1.0, evidence={"mean": "high", "std": 0.1, "confident": True}),)

    assert rows(shown(LocalResults((ItemResult("a", {}, {}, scores),)))) == [["a", "-", "1.000"]]


def test_the_verdict_is_a_word_and_colour_only_helps() -> None:
    results = LocalResults((ItemResult("a", {}, {}, (ruled("m", 0.9, 0.1, True), Score("n", None, "why"))),))

    plain, coloured = shown(results), shown(results, colours=True)

    assert "\x1b" not in plain
    assert "\x1b[32myes" in coloured
    assert "failed" in plain


HOSTILE = [
    "[red]not red[/red] [/] [bold",
    "[link=file:///etc]x[/link] :smile: \\[x]",
    "\x1b[31mred\x1b[0m \x07bell \x9b31m",
    "right \u202eto left\u202c \ud83d half",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("colours", [False, True])
def test_what_an_item_holds_is_shown_and_never_obeyed(text: str, colours: bool) -> None:
    plain = "".join(c if c.isprintable() else "\ufffd" for c in text)
    scores = (Score(text, 0.5), Score("s", None, text))
    results = LocalResults((ItemResult("x", {"input": text}, {}, scores),))

    written = shown(results, width=200, colours=colours, title=text, extra={text: {"x": 0.5}})

    assert written.count(plain) >= 3  # the title, the question, the reason
    written.encode()
    assert not {"\x07", "\x9b", "\u202e", "\u202c"} & set(written)
    if not colours:
        assert "\x1b" not in written
    assert "\x1b[31mred" not in written


def test_emoji_stay_whole() -> None:
    family = "\U0001f469\u200d\U0001f469\u200d\U0001f467"

    assert family in shown(LocalResults((item("a", 1.0, f"who is {family}?"),)))


MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}]
PARTS = [{"type": "text", "text": "What is"}, {"type": "image_url", "image_url": {"url": "data:..."}}]


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({"input": "Who?", "question": "Why?"}, "Who?"),
        ({"input": None, "question": "Why?"}, "Why?"),
        ({"messages": MESSAGES}, "Who?"),
        ({"input": MESSAGES}, "Who?"),
        ({"input": PARTS}, "What is [image_url]"),
        ({"input": [{"role": "user", "content": PARTS}]}, "What is [image_url]"),
        ({"input": {"city": "Rome"}}, "{'city': 'Rome'}"),
        ({"input": []}, "[]"),
        ({"input": "two\n\n  lines\t"}, "two lines"),
        ({"other": "x"}, "-"),
    ],
)
def test_what_was_asked_is_found_and_put_on_one_line(fields: dict[str, Any], asked: str) -> None:
    results = LocalResults((ItemResult("a", fields, {}, (Score("s", 1.0),)),))

    assert " ".join(rows(shown(results))[0]) == f"a {asked} 1.000"


def test_a_long_question_is_shortened_visibly() -> None:
    assert "a" + " ab" * 23 + "…" in " ".join(rows(shown(LocalResults((item("x", 1.0, "a" + " ab" * 90),))))[0])
    assert "…" not in shown(LocalResults((item("x", 1.0, "a" * 72),)))


def test_a_field_of_choice_is_shown() -> None:
    results = LocalResults((ItemResult("a", {"input": "x", "topic": "Moon"}, {}, (Score("s", 1.0),)), item("b", 0.5)))

    assert [row[:2] for row in rows(shown(results, text_field="topic"))] == [["b", "-"], ["a", "Moon"]]
    with pytest.raises(ConfigurationError, match="no item has a field 'subject'; there are input, topic"):
        results_table(results, text_field="subject")


def test_ids_of_opik_are_told_apart_by_their_ends() -> None:
    ids = [f"0199f2a1-7c55-7aa0-b111-22334455660{n}" for n in range(2)]

    text = shown(LocalResults(tuple(item(name, 1.0) for name in ids)))

    assert [row[0] for row in rows(text)] == ["…-223344556600", "…-223344556601"]


def test_a_limit_shows_the_worst_and_says_so() -> None:
    text = shown(many(0.9, 0.8, 0.7, None), limit=2)

    assert [row[0] for row in rows(text)] == ["n3", "n2"]
    assert "shown: the worst 2 of 4 items" in text
    assert "score: mean 0.800, 3 scored, 1 failed" in text
    assert "shown" not in shown(many(0.9, 0.8), limit=2)
    with pytest.raises(ConfigurationError, match="limit must be at least 1, not 0"):
        results_table(many(0.9), limit=0)


def test_extra_columns_stand_under_their_header() -> None:
    text = shown(many(0.9, 0.8), extra={"rebased": {"n0": 0.25}})

    assert rows(text) == [["n1", "Why?", "0.800", "-"], ["n0", "Why?", "0.900", "0.250"]]


def test_no_items_are_a_table_that_says_so() -> None:
    text = shown(LocalResults(()), title="Nothing", text_field="topic")

    assert text.splitlines()[0].strip() == "Nothing"
    assert "no calls to the model" in text


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_a_narrow_terminal_folds_and_cuts_nothing(width: int) -> None:
    name = "checkembed_metric"
    scores = (ruled(name, 0.782, 0.113, False, 0.871), Score(f"{name}_reference", 0.964), Score("equals_metric", 0.5))
    question = "Describe the reign of King Arvald the Third of Norbania and his tax."
    results = LocalResults(
        (
            ItemResult("0199f2a1-7c55-7aa0", {"input": question}, {}, scores, (bought(None, 1),)),
            ItemResult("b", {"input": question}, {}, (Score(name, None, "the provider answered 429 " * 5),)),
        )
    )

    lines = shown(results, width).splitlines()

    assert max(map(len, lines)) <= width
    together = "".join("".join(lines).split())
    for number in ("0.871", "0.782", "0.113", "0.964", "0.500", "no", "failed"):
        assert number in " ".join(lines).split()
    for folded in ("theprovideranswered429" * 5, "costunknown"):
        assert folded in together
    # Shortened are the id and the question, and nothing else.
    assert together.count("…") == 1


def test_at_eighty_columns_one_metric_stands_on_lines_of_its_own() -> None:
    scores = (ruled("checkembed_metric", 0.782, 0.113, False, 0.871),)
    results = LocalResults((ItemResult("moon-7", {"input": "Who was first on the Moon?"}, {}, scores),), {})

    assert [line.rstrip() for line in shown(results, 80, title="Run 1").splitlines()] == [
        "Run 1",
        "",
        "                                     checkembed",
        " id      asked                          _metric   mean    std  confident",
        " " + "─" * 71,
        " moon-7  Who was first on the Moon?       0.871  0.782  0.113  no",
        "",
        "checkembed_metric: mean 0.871, 1 scored, 0 failed",
        "no calls to the model, $0 paid",
    ]


def test_identical_samples_are_neither_sure_nor_unsure() -> None:
    evidence = {"mean": 1.0, "std": 3e-16, "confident": False, "identical": True}
    one = ItemResult("a", {"input": "Which city?"}, {}, (Score("checkembed_metric", 1.0, evidence=evidence),))

    text = shown(LocalResults((one,)))

    assert rows(text)[0][-3:] == ["1.000", "0.000", "same"]
    assert "same: all samples are identical" in " ".join(text.split())
