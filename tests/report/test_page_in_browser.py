"""The HTML page in Chromium: what a reader sees, and can do with a mouse, a keyboard, a phone and a screen reader."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from opik_checkembed.gate.comparison import Comparison, MetricComparison, PairedItem, Verdict
from opik_checkembed.report.page import comparison_page, results_page
from opik_checkembed.results import ItemResult, LocalResults, Score
from tests.page_results import ANSWER, CREATED, HOSTILE, PASSAGES, city, hostile, many, results

pytest.importorskip("selenium", reason="selenium is not installed")

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select
from selenium.webdriver.support.wait import WebDriverWait

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="Chromium or its driver is not installed")

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


class Reader:
    """A browser with one page open."""

    def __init__(self, driver: webdriver.Chrome, folder: Path) -> None:
        self.driver = driver
        self.folder = folder
        self.pages = 0

    def opens(self, page: str, anchor: str = "") -> None:
        self.pages += 1
        path = self.folder / f"{self.pages}.html"
        path.write_text(page, encoding="utf-8")
        self.driver.get(path.as_uri() + anchor)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> WebElement:
        (found,) = self.all(selector)
        return found

    def texts(self, selector: str) -> list[str]:
        return [
            str(text)
            for text in self.runs(f"return [...document.querySelectorAll({selector!r})].map(e => e.innerText)")
        ]

    def text(self, selector: str) -> str:
        (found,) = self.texts(selector)
        return found

    def runs(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def tells(self, command: str, **arguments: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, arguments)

    def waits(self, condition: Callable[[], object]) -> None:
        WebDriverWait(self.driver, 5, poll_frequency=0.02).until(lambda _: condition())

    def shows(self, selector: str, text: str) -> None:
        self.waits(lambda: text in self.text(selector))

    def presses(self, *keys: str) -> None:
        self.driver.switch_to.active_element.send_keys(*keys)

    def complains(self) -> list[Any]:
        return list(self.driver.get_log("browser"))  # type: ignore[no-untyped-call]  # selenium gives this one no types

    def column(self, number: int) -> list[str]:
        return self.texts(f"#table tbody tr > :nth-child({number})")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in [*FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    yield opened
    opened.quit()


@pytest.fixture
def reader(driver: webdriver.Chrome, tmp_path: Path) -> Iterator[Reader]:
    found = Reader(driver, tmp_path)
    found.complains()  # what another page left
    found.tells("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
    yield found
    assert found.complains() == []


def four() -> LocalResults:
    """Two scores of opposite directions, one failed, one that an item does not have."""
    values = {"b": (0.2, 0.9), "a": (0.9, None), "d": (None, 0.4), "c": (0.5, 0.1)}
    items = []
    for name, (agreement, doubt) in values.items():
        scores = [Score("agreement", agreement, "said" if agreement is not None else "no samples")]
        scores += [] if doubt is None else [Score("doubt", doubt, "said")]
        items.append(ItemResult(name, {"input": f"Question {name}?"}, {"output": f"Answer {name}."}, tuple(scores)))
    return LocalResults(tuple(items), {"agreement": True, "doubt": False}, CREATED)


def compared(count: int = 3) -> Comparison:
    pairs = []
    for number in range(count):
        change = (0.1, -0.3, -0.2)[number % 3]
        sides = [
            ItemResult(f"n{number}", {"input": f"Question {number}?"}, {"output": f"{text} {number}."}, scores)
            for text, scores in (
                ("Before", (Score("agreement", 0.5, "was so"),)),
                ("After", (Score("agreement", 0.5 + change, "is so"),)),
            )
        ]
        values = ({"agreement": 0.5}, {"agreement": 0.5 + change})
        pairs.append(PairedItem(f"n{number}", sides[0], sides[1], {"agreement": change}, values[0], values[1], (1, 1)))
    metric = MetricComparison(
        "agreement",
        True,
        count,
        0.5,
        0.37,
        -0.13,
        (-0.2, -0.06),
        0.01,
        0.01,
        1 / 3,
        2 / 3,
        0.0,
        0.02,
        0.1,
        Verdict.WORSE,
    )
    return Comparison((metric,), tuple(pairs), ("only here",), (), (), "main", "pull request", 0, 0.05)


# The table


def test_items_stand_worst_first_and_a_header_sorts_both_ways(reader: Reader) -> None:
    reader.opens(results_page(four()))
    button = "#table thead th:nth-child({}) button"

    # A failed score is the worst there is, one that an item does not have says nothing.
    assert reader.column(1) == ["d", "b", "c", "a"]
    assert reader.column(3) == ["failed", "0.200", "0.500", "0.900"]
    assert reader.one("#table thead [aria-sort]").get_attribute("aria-sort") == "ascending"
    reader.one(button.format(3)).click()
    assert reader.column(1) == ["a", "c", "b", "d"]
    assert reader.one("#table thead [aria-sort]").get_attribute("aria-sort") == "descending"
    reader.one(button.format(4)).click()
    assert reader.column(1) == ["b", "d", "c", "a"]
    assert reader.column(4) == ["0.900", "0.400", "0.100", "\u2013"]
    reader.one(button.format(4)).send_keys(Keys.ENTER)
    assert reader.column(1) == ["c", "d", "b", "a"]
    reader.one(button.format(1)).click()
    assert reader.column(1) == ["a", "b", "c", "d"]
    assert len(reader.all("#table thead [aria-sort]")) == 1


def test_filters_say_how_many_items_are_left(reader: Reader) -> None:
    reader.opens(results_page(four()))
    assert reader.text("#count") == "4 items"
    assert reader.one("#count").get_attribute("aria-live") == "polite"

    reader.one("#words").send_keys("ANSWER C")
    assert (reader.column(1), reader.text("#count")) == (["c"], "1 of 4 items")
    reader.one("#words").send_keys(Keys.CONTROL, "a", Keys.DELETE)
    Select(reader.one("#state")).select_by_visible_text("with a failed score")
    assert reader.column(1) == ["d"]
    Select(reader.one("#state")).select_by_visible_text("all items")
    reader.one("#ranges summary").click()
    reader.one("#low-0").send_keys("0.3")
    assert reader.column(1) == ["c", "a"]
    reader.one("#high-1").send_keys("0.2")
    assert (reader.column(1), reader.text("#count")) == (["c"], "1 of 4 items")
    reader.one("#filters [type=reset]").click()
    reader.waits(lambda: reader.text("#count") == "4 items")
    # The text loses the focus to the row that is clicked, which must be there still.
    reader.one("#words").send_keys("question")
    reader.one("#table tbody tr:nth-child(2) a").click()
    reader.waits(lambda: reader.text("#item-heading") == "Question b?")


def test_only_a_page_of_the_items_is_built(reader: Reader) -> None:
    reader.opens(results_page(many(120)))

    assert reader.text("#page") == "1 to 50 of 120"
    assert len(reader.all("#table tbody tr")) == 50
    assert not reader.one("#earlier").is_enabled()
    reader.one("#later").click()
    reader.one("#later").click()
    assert reader.text("#page") == "101 to 120 of 120"
    assert len(reader.all("#table tbody tr")) == 20
    assert not reader.one("#later").is_enabled()
    assert reader.all("#item > *") == []


# One item


def test_an_item_opens_and_closes_by_keyboard_and_by_address(reader: Reader) -> None:
    reader.opens(results_page(four(), title="Mine"))
    reader.runs("document.querySelectorAll('#table tbody a')[1].focus()")
    reader.presses(Keys.ENTER)

    reader.waits(lambda: reader.text("#item-heading") == "Question b?")
    assert reader.driver.switch_to.active_element.get_attribute("id") == "item-heading"
    assert reader.driver.title == "Question b? \u2013 Mine"
    assert "Item b, 2 of 4" in reader.text("#item .kicker")
    assert not reader.one("#overview").is_displayed()
    next_item = next(one for one in reader.all("#item nav button") if one.text == "Next")
    next_item.click()
    reader.waits(lambda: reader.text("#item-heading") == "Question c?")
    reader.driver.back()
    reader.waits(lambda: reader.text("#item-heading") == "Question b?")
    reader.one("#item nav button:first-child").click()
    reader.waits(lambda: reader.one("#overview").is_displayed())
    assert reader.driver.title == "Mine"
    reader.opens(results_page(four()), "#item=2")
    assert reader.text("#item-heading") == "Question a?"
    reader.opens(results_page(four()), "#item=9")
    assert reader.one("#overview").is_displayed()


def test_a_sentence_shows_what_decided_its_score(reader: Reader) -> None:
    reader.opens(results_page(results([city()])), "#item=1")
    first, second, third = reader.all(".answer .mark")

    # Colour is not all: an underline of its own, and the number.
    assert [one.get_attribute("class") for one in (first, second, third)] == ["mark l0", "mark l4", "mark unscored"]
    assert "double" in second.value_of_css_property("text-decoration")
    assert second.text.startswith("It has 3 rivers.0.85")
    assert "0.850, most doubt" in str(second.get_attribute("textContent"))
    reader.runs("arguments[0].focus()", second)
    reader.presses(Keys.SPACE)
    said = reader.text(".evidence")
    assert second.get_attribute("aria-pressed") == "true"
    assert "selfcheck: 0.850, most doubt" in said
    assert "Supported least by sample 3 (0.950)\nIt has one river, the Ner." in said
    assert "Supported most by sample 1 (0.600)\nIt has 3 rivers." in said
    assert reader.texts(".sample mark") == [
        "It has 3 rivers.(supports most)",
        "It has one river, the Ner.(supports least)",
    ]
    assert reader.texts(".sample h3 span") == ["doubt 0.600, yes", "", "doubt 0.950, no", "doubt 1.000, n/a"]
    reader.presses(Keys.ENTER)
    assert second.get_attribute("aria-pressed") == "false"
    third.click()
    assert "Not scored: it says nothing" in reader.text(".evidence")
    assert reader.all(".sample mark") == []
    reader.presses(Keys.ESCAPE)
    assert third.get_attribute("aria-pressed") == "false"
    second.click()
    next(one for one in reader.all(".evidence a") if one.text == "sample 3").click()
    assert reader.driver.switch_to.active_element.get_attribute("id") == "sample-0-2"


def test_another_score_colours_the_answer_its_own_way(reader: Reader) -> None:
    reader.opens(results_page(results([city()])), "#item=1")
    labels = reader.all(".choice label")
    assert [label.text for label in labels] == ["selfcheck", "facts", "source"]

    labels[1].click()
    assert reader.texts(".answer .fact") == ["Łódź", "3"]
    assert reader.one(".answer .mark:nth-child(2) .fact").get_attribute("class") == "fact l3"
    reader.all(".answer .mark")[1].click()
    assert reader.texts(".evidence tbody tr") == ["3\t33 %\t"]
    labels[2].click()
    reader.all(".answer .mark")[1].click()
    said = reader.text(".evidence")
    assert "Verdict contradicted" in said
    assert "Not in the source 3 (number)" in said
    assert "In the source, passage 1\n18 rivers" in said
    assert reader.texts(".source mark") == ["18 rivers"]
    assert reader.texts(".source .words")[0] == PASSAGES[0]
    next(one for one in reader.all(".evidence a") if one.text == "passage 1").click()
    assert reader.driver.switch_to.active_element.get_attribute("id") == "source-3-0"
    assert "".join(reader.texts(".answer")).replace("0.96", "").startswith(ANSWER[:8])


def test_samples_stand_side_by_side_with_status_origin_and_age(reader: Reader) -> None:
    reader.opens(results_page(results([city()])), "#item=1")

    assert reader.texts(".sample .about") == ["ok, from store, 3 days old", "empty, asked", "ok, asked", "ok, asked"]
    assert reader.texts(".sample .words")[1] == "(empty)"
    first, second = (one.rect for one in reader.all(".sample")[:2])
    assert (first["y"], first["x"] < second["x"]) == (second["y"], True)
    assert "4 of 4 came; temperature 1; failed: a timeout; a note" in reader.text("#item")


def test_the_heatmap_says_exact_values_on_hover_and_by_arrow_keys(reader: Reader) -> None:
    reader.opens(results_page(results([city()])), "#item=1")
    cells = reader.all(".heatmap .cell")
    said = ".heatmap + p"

    assert len(cells) == 12
    assert [cell.get_attribute("tabindex") for cell in cells].count("0") == 1
    webdriver.ActionChains(reader.driver).move_to_element(cells[2]).perform()
    assert reader.text(said) == "output and sample 3: 0"
    reader.runs("arguments[0].focus()", cells[0])
    assert reader.text(said) == "output and sample 1: 1"
    reader.presses(Keys.ARROW_RIGHT)
    assert reader.text(said) == "output and sample 2: 0.6"
    # Over the diagonal, which says nothing.
    reader.presses(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    reader.presses(Keys.ARROW_DOWN)
    assert reader.text(said) == "sample 3 and sample 2: 0.8"
    reader.presses(Keys.ARROW_DOWN)
    assert reader.text(said) == "sample 3 and sample 2: 0.8"


def test_fields_and_figures_are_there_when_asked_for(reader: Reader) -> None:
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How many?"}]
    asked = replace(city(), item={"messages": turns, "context": list(PASSAGES)})
    reader.opens(results_page(results([asked, replace(city(), error="KeyError: x")])), "#item=1")

    assert reader.texts(".turns dt") == ["system", "user"]
    for summary in reader.all("#item summary"):
        summary.click()
    shown = reader.text("#item")
    assert f"{PASSAGES[0]}\n\n{PASSAGES[1].strip()}" in shown
    assert "embedding: model\n4" in shown
    reader.opens(results_page(results([replace(city(), error="KeyError: x")])), "#item=1")
    assert "The task failed: KeyError: x" in reader.text("#item")


# Texts that no page should obey


@pytest.mark.parametrize("page", ["results", "comparison"])
def test_hostile_text_is_shown_as_text(reader: Reader, page: str) -> None:
    found = hostile()
    if page == "results":
        reader.opens(results_page(found, title=HOSTILE[0]))
        shown = reader.text("#table")
    else:
        pairs = tuple(PairedItem(one.id, one, one, {}, {}, {}, (1, 1)) for one in found.items)
        reader.opens(comparison_page(replace(compared(), items=pairs, baseline_name=HOSTILE[0]), title=HOSTILE[0]))
        shown = reader.text("#pairs")
    assert reader.text("h1") == HOSTILE[0]
    for text in HOSTILE[:6]:
        assert text in shown
    assert "evil [U+202E]txt.exe" in shown
    assert reader.runs("return window.hacked ?? null") is None
    assert reader.runs("return document.querySelectorAll('img, iframe, object, svg[onload]').length") == 0


def test_hostile_text_is_shown_as_text_in_an_item(reader: Reader) -> None:
    reader.opens(results_page(hostile()), "#item=1")
    for place, text in enumerate(HOSTILE):
        reader.runs(f"location.hash = 'item={place + 1}'")
        reader.shows("#item .kicker", f", {place + 1} of {len(HOSTILE)}")
        reader.runs("document.querySelector('.answer .mark').click()")

        assert reader.runs("return window.hacked ?? null") is None
        assert reader.runs("return document.documentElement.scrollWidth <= innerWidth")
        if place < 6:
            assert reader.text("#item-heading") == text
            assert reader.text(".evidence blockquote:first-of-type") == text
            assert reader.texts(".sample mark")[0].startswith(text)


# Readers of every kind


@cache
def views() -> dict[str, tuple[str, str]]:
    page = results_page(
        results([city(), *many(60).items, replace(city("lost"), scores=(Score("selfcheck", None, "why"),))])
    )
    return {"list": (page, ""), "item": (page, "#item=1"), "comparison": (comparison_page(compared()), "")}


@pytest.mark.parametrize("view", ["list", "item", "comparison"])
def test_a_phone_shows_the_page_without_scrolling_sideways(reader: Reader, view: str) -> None:
    reader.tells("Emulation.setDeviceMetricsOverride", width=360, height=780, deviceScaleFactor=1, mobile=True)
    reader.opens(*views()[view])
    if view == "item":
        reader.all(".answer .mark")[1].click()
        # What decided the score is in sight, and so is the sentence.
        assert reader.runs(
            "const r = document.querySelector('.evidence').getBoundingClientRect(); return r.top < innerHeight - 99"
        )
        assert reader.runs(
            "return document.querySelector('.mark[aria-pressed=true]').getBoundingClientRect().bottom "
            "<= document.querySelector('.evidence').getBoundingClientRect().top + 1"
        )
    assert reader.runs("return [document.documentElement.scrollWidth, innerWidth]") == [360, 360]


_CONTRAST = """
const rgba = (text) => {
  const parts = text.match(/-?[\\d.]+(e-?\\d+)?/g).map(Number);
  const [r, g, b, a = 1] = text.startsWith("color(") ? parts.map((p, at) => at < 3 ? p * 255 : p) : parts;
  return [r, g, b, a];
};
const over = ([r, g, b, a], under) => [r, g, b].map((part, at) => part * a + under[at] * (1 - a));
const light = (rgb) => {
  const [r, g, b] = rgb.map((part) => part <= 10.3 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (node) => {
  const own = rgba(getComputedStyle(node).backgroundColor);
  return own[3] === 1 || !node.parentElement ? own.slice(0, 3) : over(own, behind(node.parentElement));
};
const low = [];
for (const node of document.body.querySelectorAll("*")) {
  if (node.closest("svg, script") || node.disabled || !node.checkVisibility()) continue;
  if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim())) continue;
  const [a, b] = [light(over(rgba(getComputedStyle(node).color), behind(node))), light(behind(node))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) low.push([node.className, node.textContent.slice(0, 30), ratio.toFixed(2)]);
}
return low;
"""


@pytest.mark.parametrize("view", ["list", "item", "comparison"])
def test_every_text_stands_out_from_what_is_behind_it(reader: Reader, view: str) -> None:
    reader.opens(*views()[view])
    if view == "item":
        reader.all(".answer .mark")[1].click()

    papers = []
    for scheme in ("light", "dark"):
        reader.tells("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        assert reader.runs(_CONTRAST) == []
        papers.append(reader.runs("return getComputedStyle(document.body).backgroundColor"))
    assert papers == ["rgb(251, 250, 248)", "rgb(23, 22, 20)"]


@pytest.mark.parametrize("view", ["list", "item", "comparison"])
def test_a_screen_reader_finds_names_landmarks_and_one_heading_of_the_first_level(reader: Reader, view: str) -> None:
    reader.opens(*views()[view])
    for summary in reader.all("summary"):
        reader.runs("arguments[0].click()", summary)
    nodes = [one for one in reader.tells("Accessibility.getFullAXTree")["nodes"] if not one["ignored"]]
    roles = [(one["role"]["value"], one.get("name", {}).get("value", "")) for one in nodes]

    used = {"button", "link", "searchbox", "combobox", "spinbutton", "radio", "region", "img", "navigation", "table"}
    assert [role for role, name in roles if role in used - {"table"} and not name.strip()] == []
    kinds = {role for role, _ in roles}
    assert {"main", "heading", "contentinfo"} <= kinds
    levels = [
        next(int(p["value"]["value"]) for p in one["properties"] if p["name"] == "level")
        for one in nodes
        if one["role"]["value"] == "heading"
    ]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    if view == "list":
        assert {"columnheader", "rowheader", "search", "status"} <= kinds


def test_nothing_is_loaded_and_what_has_focus_is_seen(reader: Reader) -> None:
    reader.opens(*views()["list"])

    assert reader.runs("return performance.getEntriesByType('resource').map(e => e.name)") == []
    reader.runs("document.body.focus()")
    reader.presses(Keys.TAB)
    assert reader.driver.switch_to.active_element.text == "Skip to the items"
    assert reader.driver.switch_to.active_element.value_of_css_property("outline-style") == "solid"
    reader.presses(Keys.ENTER)
    reader.waits(lambda: reader.driver.switch_to.active_element.get_attribute("id") == "items")


# Two runs compared


def test_a_comparison_shows_both_answers_worst_first(reader: Reader) -> None:
    reader.opens(comparison_page(compared(), title="Gate"))

    assert [text.splitlines()[0] for text in reader.texts("#pairs > li")] == ["Item n1", "Item n2", "Item n0"]
    assert reader.texts("#pairs > li:first-child .words") == ["Before 1.", "After 1."]
    assert "agreement 0.500 \u2192 0.200, worse" in reader.text("#pairs > li:first-child .changes")
    assert reader.one(".interval").get_attribute("aria-label") == (
        "Difference -0.13, interval -0.2 to -0.06, margin 0.02; worse"
    )
    left, right = (one.rect for one in reader.all("#pairs > li:first-child .words"))
    assert (left["y"], left["x"] < right["x"]) == (right["y"], True)
    reader.one("#words").send_keys("after 2")
    assert reader.text("#count") == "1 of 3 items"
    reader.one("#pairs summary").click()
    assert "was so" in reader.text("#pairs")
    reader.one("#filters [type=reset]").click()
    reader.waits(lambda: reader.text("#count") == "3 items")


def test_a_comparison_sorts_by_the_chosen_score_and_shows_a_page_at_a_time(reader: Reader) -> None:
    one = compared(60)
    (metric,) = one.metrics
    items = tuple(
        replace(item, differences={**item.differences, **({"other": float(at)} if at else {})})
        for at, item in enumerate(one.items)
    )
    other = replace(metric, name="other", verdict=Verdict.IMPROVED)
    reader.opens(comparison_page(replace(one, metrics=(other, metric), items=items)))

    assert reader.text("#page") == "1 to 50 of 60"
    assert reader.texts("#pairs h3")[0] == "Question 1?"
    Select(reader.one("#metric")).select_by_visible_text("other")
    assert reader.texts("#pairs h3")[:2] == ["Question 1?", "Question 2?"]
    reader.one("#later").click()
    # An item without a value comes last.
    assert reader.texts("#pairs h3")[-1] == "Question 0?"


def test_pages_of_nothing_open(reader: Reader) -> None:
    reader.opens(results_page(LocalResults(())))
    assert reader.text("#count") == "0 items"
    reader.opens(comparison_page(Comparison((), (), (), (), (), "a", "b", 0, 0.05)))
    assert reader.text("#count") == "0 items"
