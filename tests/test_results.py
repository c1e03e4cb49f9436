import builtins
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed._version import __version__
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.results import (
    SCHEMA,
    ItemResult,
    LocalResults,
    Score,
    Summary,
    finite,
    is_sample_set,
    json_ready,
    merge_sample_sets,
)
from opik_checkembed.samples import Sample, SampleSet
from opik_checkembed.samples.sample import Origin, Usage


def sample(index: int, origin: Origin, cost: float | None = 0.25, text: str = "an answer", choices: int = 1) -> Sample:
    return Sample(index, text, usage=Usage(10, 5, choices), cost_usd=cost, created=1.5, origin=origin)


def drawn(*origins: Origin, **more: Any) -> dict[str, Any]:
    return SampleSet(tuple(sample(i, origin, **more) for i, origin in enumerate(origins)), len(origins)).to_dict()


def item(name: str, *values: float | None, samples: tuple[Mapping[str, Any], ...] = ()) -> ItemResult:
    scores = tuple(Score(f"score {n}", value, "said") for n, value in enumerate(values))
    return ItemResult(name, {"input": name}, {"output": name.upper()}, scores, samples)


RESULTS = LocalResults(
    items=(
        ItemResult(
            id="a",
            item={"input": "Why?", "id": "a"},
            output={"output": "Because."},
            scores=(
                Score("agreement", 0.75, "they agree", {"mean": 0.5, "labels": ["output", "sample 1"]}, 0),
                Score("length", 8.0),
            ),
            samples=(drawn(Origin.ASKED, Origin.STORE),),
        ),
        ItemResult("b", {"input": "How?"}, {}, (Score("agreement", None, "the task raised"),), error="the task raised"),
        ItemResult("c", {"input": "Who?"}, {"output": "X"}, (Score("agreement", 0.25), Score("length", 1.0))),
    ),
    directions={"agreement": True, "length": None},
    created="2024-05-01T12:00:00+00:00",
)


def test_a_failed_score_is_counted_apart_and_never_a_zero() -> None:
    assert RESULTS.summary() == {
        "agreement": Summary(mean=0.5, scored=2, failed=1, higher_is_better=True),
        "length": Summary(mean=4.5, scored=2, failed=0, higher_is_better=None),
    }
    assert RESULTS.names == ["agreement", "length"]
    assert [score.failed for score in RESULTS.items[1].scores] == [True]


def test_a_score_that_failed_everywhere_has_no_mean() -> None:
    results = LocalResults((item("a", None), item("b", None)))

    assert results.summary() == {"score 0": Summary(None, 0, 2, None)}


def test_a_score_is_found_by_its_name() -> None:
    assert RESULTS.items[0].score("length") == Score("length", 8.0)
    assert RESULTS.items[1].score("length") is None


def test_cost_is_what_was_asked_for_and_calls_are_whole() -> None:
    thirds = drawn(*[Origin.ASKED] * 3, choices=3)
    results = LocalResults((item("a", 1.0, samples=(thirds, drawn(Origin.SHARED))), item("b", 1.0, samples=(thirds,))))

    assert results.items[0].cost_usd == 0.75
    assert (results.cost_usd, results.calls) == (1.5, 2)
    assert RESULTS.cost_usd == 0.25
    assert RESULTS.calls == 1


def judged(name: str, **judging: Any) -> Score:
    return Score(name, 0.5, evidence={"judging": {"verdicts": 6, "calls": 6.0, "cost_usd": 0.125, **judging}})


def test_judging_is_paid_for_as_well() -> None:
    one = ItemResult("a", {}, {}, (judged("x"), judged("y", calls=0.0, cost_usd=0.0)), (drawn(Origin.ASKED),))
    failed = ItemResult("b", {}, {}, (replace(judged("x"), value=None),))
    results = LocalResults((one, failed))

    assert (one.calls, one.cost_usd) == (7, 0.375)
    assert (results.calls, results.cost_usd) == (13, 0.5)
    read = LocalResults.from_dict(json.loads(results.to_json()))
    assert (read.calls, read.cost_usd) == (13, 0.5)
    assert LocalResults((ItemResult("a", {}, {}, (judged("x", cost_usd=None),)),)).cost_usd is None


@pytest.mark.parametrize(
    "judging", ["free", {"calls": 3}, {"calls": "3", "cost_usd": 0.5}, {"calls": 3, "cost_usd": "0.5"}, None]
)
def test_what_others_keep_under_the_name_of_judging_is_no_bill(judging: object) -> None:
    one = ItemResult("a", {}, {}, (Score("x", 0.5, evidence={"judging": judging}),))

    assert (one.calls, one.cost_usd) == (0, 0)


def test_an_unknown_price_makes_the_cost_unknown_and_never_nothing() -> None:
    known, unknown = drawn(Origin.ASKED), drawn(Origin.ASKED, cost=None)
    results = LocalResults((item("a", 1.0, samples=(known, unknown)), item("b", 1.0, samples=(known,))))

    assert [one.cost_usd for one in results.items] == [None, 0.25]
    assert results.cost_usd is None
    assert results.calls == 3
    # What an earlier run paid for is free now, whatever it cost.
    assert LocalResults((item("a", samples=(drawn(Origin.STORE, cost=None),)),)).cost_usd == 0


def test_sets_seen_by_several_metrics_become_one_that_costs_what_all_paid() -> None:
    asked, shared = drawn(Origin.ASKED, Origin.STORE), drawn(Origin.SHARED, Origin.STORE)
    noted = {**shared, "notes": ["said by the second"]}
    other = drawn(Origin.ASKED, Origin.ASKED, text="of another request")

    merged, positions = merge_sample_sets([None, shared, asked, other, noted, None])

    assert positions == [None, 0, 0, 1, 0, None]
    assert [s["origin"] for s in merged[0]["samples"]] == ["asked", "from store"]
    assert (merged[0]["cost_usd"], merged[0]["calls"]) == (0.25, 1)
    assert merged[0]["notes"] == ["said by the second"]
    assert merged[1] == other
    assert shared["notes"] == []


def test_a_paid_sample_stays_asked_whoever_asked_first() -> None:
    for one, other in ((Origin.ASKED, Origin.SHARED), (Origin.SHARED, Origin.ASKED)):
        merged, _ = merge_sample_sets([drawn(one), drawn(other)])

        assert merged[0]["samples"][0]["origin"] == "asked"
        assert merged[0]["cost_usd"] == 0.25


def test_an_unknown_cost_stays_unknown_when_sets_are_merged() -> None:
    merged, _ = merge_sample_sets([drawn(Origin.SHARED, cost=None), drawn(Origin.ASKED, cost=None)])

    assert merged[0]["cost_usd"] is None


def test_sets_of_other_requests_stay_apart_even_if_both_hold_nothing() -> None:
    sets = [SampleSet((), 5, failures=(why,)).to_dict() for why in ("timed out", "refused", "timed out")]
    sets.append(SampleSet((), 3, failures=("timed out",)).to_dict())

    merged, positions = merge_sample_sets(sets)

    assert positions == [0, 1, 0, 2]
    assert [s["failures"] for s in merged] == [["timed out"], ["refused"], ["timed out"]]


@given(st.lists(st.lists(st.sampled_from([Origin.ASKED, Origin.SHARED, Origin.STORE]), max_size=3), max_size=5))
def test_merging_loses_no_cost_and_no_call(origins: list[list[Origin]]) -> None:
    sets = [drawn(*one) for one in origins]

    merged, positions = merge_sample_sets(sets)

    assert math.fsum(s["cost_usd"] for s in merged) == math.fsum(s["cost_usd"] for s in sets)
    assert sum(s["calls"] for s in merged) == sum(s["calls"] for s in sets)
    assert [len(merged[p]["samples"]) for p in positions if p is not None] == [len(one) for one in origins]


def test_json_gives_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.json"

    text = RESULTS.to_json(path)

    assert path.read_text("utf-8") == text
    assert LocalResults.from_json(path) == RESULTS
    assert LocalResults.from_json(str(path)).to_json() == text


def test_the_schema_holds_what_it_says() -> None:
    data = json.loads(RESULTS.to_json())

    assert (data["schema"], data["package"], data["created"]) == (1, __version__, RESULTS.created)
    assert data["scores"]["agreement"] == {"mean": 0.5, "scored": 2, "failed": 1, "higher_is_better": True}
    assert (data["cost_usd"], data["calls"]) == (0.25, 1)
    assert data["items"][1] == {
        "id": "b",
        "item": {"input": "How?"},
        "output": {},
        "error": "the task raised",
        "cost_usd": 0,
        "samples": [],
        "scores": [{"name": "agreement", "value": None, "reason": "the task raised", "evidence": {}, "samples": None}],
    }
    assert data["items"][0]["samples"][0]["samples"][1] == {
        "index": 1,
        "origin": "from store",
        "text": "an answer",
        "status": "ok",
        "finish_reason": None,
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "choices": 1},
        "cost_usd": 0.25,
        "model": None,
        "created": 1.5,
        "dropped": [],
    }


def test_the_time_is_noted_with_its_zone() -> None:
    created = datetime.fromisoformat(LocalResults(()).created)

    assert abs((datetime.now(UTC) - created).total_seconds()) < 60


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ((1, {2}), [1, [2]]),
        ({"b", "a"}, ["a", "b"]),
        ({1: {None: True}, ("a", 2): 0}, {"1": {"None": True}, "('a', 2)": 0}),
        ([math.nan, math.inf, -math.inf, 1.5], [None, None, None, 1.5]),
        (np.arange(2000), list(range(2000))),
        (np.array([[0.5, np.nan]], dtype=np.float32), [[0.5, None]]),
        (np.array(3), "3"),
        ([np.float32(0.5), np.int8(3), np.bool_(True), np.str_("x")], [0.5, 3, True, "x"]),
        ([np.datetime64("2024-05-01"), date(2024, 5, 1)], ["2024-05-01", "2024-05-01"]),
        (Origin.STORE, "from store"),
        (ValueError("x"), "x"),
        (b"\xff", "b'\\xff'"),
    ],
)
def test_what_json_lacks_is_written_as_the_nearest_it_has(value: Any, written: Any) -> None:
    assert json.loads(json.dumps(json_ready(value), allow_nan=False)) == written

    results = LocalResults((ItemResult("a", {"x": value}, {"y": value}, (Score("s", 1.0, None, {"z": value}),)),))
    back = LocalResults.from_dict(json.loads(results.to_json()))
    assert back.items[0].item == {"x": written}
    assert back.items[0].output == {"y": written}
    assert back.items[0].scores[0].evidence == {"z": written}
    assert back.to_json() == results.to_json()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_what_json_has_is_written_as_it_is(value: Any) -> None:
    assert json_ready(value) == value
    results = LocalResults((ItemResult("a", {"x": value}, {}, ()),), created="now")
    assert LocalResults.from_dict(json.loads(results.to_json())) == results


@pytest.mark.parametrize("text", ["\ud83d", "a\udc80b", "\\\ud83d\\", "\U0001f600 \u2028 \x00", "\ud83d\ud83d"])
def test_half_characters_in_an_answer_survive(tmp_path: Path, text: str) -> None:
    sets = (drawn(Origin.ASKED, text=text),)
    results = LocalResults((ItemResult("a", {text: text}, {"output": text}, (Score(text, 1.0, text),), sets),))
    path = tmp_path / "results.json"

    results.to_json(path)

    assert LocalResults.from_json(path).items == results.items


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(b"\xef\xbb\xbf" + RESULTS.to_json().encode())

    assert LocalResults.from_json(path) == RESULTS


SAMPLE_SET: dict[str, Any] = {
    "requested": 1, "samples": [], "failures": [], "notes": [], "temperature": 1.0, "cost_usd": 0.0, "calls": 0.0,
}  # fmt: skip


def changed(**changes: Any) -> dict[str, Any]:
    return {**RESULTS.to_dict(), **changes}


def with_item(**changes: Any) -> dict[str, Any]:
    return changed(items=[{**RESULTS.to_dict()["items"][0], **changes}])


def with_score(**changes: Any) -> dict[str, Any]:
    return with_item(scores=[{**RESULTS.to_dict()["items"][0]["scores"][0], **changes}])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (changed(schema=SCHEMA + 1), "have schema 2; this version of opik-checkembed reads 1. Install a newer one"),
        (changed(schema="x"), "have schema 'x'; this version of opik-checkembed reads 1$"),
        ({}, "have schema None"),
        ({"schema": 1}, "malformed: KeyError"),
        (changed(items=None), "malformed: TypeError"),
        (changed(items=[3]), "malformed: TypeError"),
        (changed(scores=[1]), "malformed: TypeError"),
        (changed(scores={"agreement": {}}), "malformed: KeyError"),
        (changed(created=None), "None is no str"),
        (with_item(id=7), "7 is no str"),
        (with_item(item=[]), r"\[\] is no dict"),
        (with_item(output="x"), "'x' is no dict"),
        (with_item(error=1), "1 is no str"),
        (with_item(samples={}), "{} is no list"),
        (with_item(samples=[{"samples": []}]), "samples are no sample sets"),
        (with_item(samples=[{**SAMPLE_SET, "samples": None}]), "None is no list"),
        (with_item(samples=[{**SAMPLE_SET, "samples": [{"status": "ok", "origin": "given"}]}]), "no sample sets"),
        (changed(scores={"agreement": {"higher_is_better": "yes"}}), "'yes' is no bool"),
        (with_score(value=True), "True is no score"),
        (with_item(scores=["x"]), "malformed"),
        (with_score(confidence=1), "unexpected keyword argument"),
        (with_score(name=None), "None is no str"),
        (with_score(evidence=None), "None is no dict"),
        (with_score(value="high"), "'high' is no score"),
        (with_score(value=math.nan), "nan is no score"),
        (with_score(samples=1), "there is no sample set 1"),
        (with_score(samples="0"), "there is no sample set '0'"),
    ],
)
def test_other_data_is_refused_by_what_is_wrong_with_it(data: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        LocalResults.from_dict(data)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "no results can be read from .*results.json: "),
        (b"\xff\xfe", "no results can be read"),
        (b"[]", "results.json does not hold results"),
        (b'{"schema": 99}', "schema 99"),
        (b"[" * 100_000, "no results can be read"),
        (None, "no results can be read from .*No such file"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "results.json"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ConfigurationError, match=message):
        LocalResults.from_json(path)


def test_a_frame_has_one_row_for_each_item() -> None:
    frame = RESULTS.to_pandas()

    assert list(frame.columns) == [
        *("id", "input", "output", "agreement", "agreement_reason", "length", "length_reason", "cost_usd", "error")
    ]
    assert frame["id"].tolist() == ["a", "b", "c"]
    assert frame["agreement"].mean() == 0.5
    assert frame["agreement_reason"].tolist()[1] == "the task raised"
    assert math.isnan(frame["length"][1])
    assert frame["error"].notna().tolist() == [False, True, False]


def test_scores_and_costs_are_numbers_in_a_frame_even_if_none_is_known() -> None:
    results = LocalResults((item("a", None, samples=(drawn(Origin.ASKED, cost=None),)),))

    frame = results.to_pandas()

    assert [str(frame[name].dtype) for name in ("score 0", "cost_usd")] == ["float64", "float64"]
    assert frame[["score 0", "cost_usd"]].isna().all(axis=None)


def test_a_frame_shows_a_score_rather_than_a_field_of_its_name() -> None:
    one = replace(item("a", 0.5), item={"score 0": "a field", "id": 7})

    assert LocalResults((one,)).to_pandas()[["id", "score 0"]].to_dict("records") == [{"id": 7, "score 0": 0.5}]


def test_a_frame_without_pandas_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(ImportError, match="to_pandas needs pandas: pip install pandas"):
        RESULTS.to_pandas()


def test_no_results_are_an_empty_frame() -> None:
    assert isinstance(LocalResults(()).to_pandas(), pandas.DataFrame)
    assert LocalResults(()).to_pandas().empty


@pytest.mark.parametrize("value", [math.nan, math.inf, 10**400, "1", None, 1j, [1.0], np.array([1.0])])
def test_what_is_no_finite_number_is_no_score(value: object) -> None:
    assert finite(value) is None


@pytest.mark.parametrize("value", [1, 1.0, True, np.float16(1), np.uint8(1), np.bool_(True)])
def test_a_number_of_any_kind_becomes_a_float(value: object) -> None:
    assert (finite(value), type(finite(value))) == (1.0, float)


def test_a_sample_set_is_known_by_its_shape() -> None:
    assert is_sample_set(drawn(Origin.ASKED))
    assert not is_sample_set({"samples": []})
    assert not is_sample_set(["a"])
    assert not is_sample_set(None)
