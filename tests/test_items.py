import csv
import json
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.items import load_items
from opik_checkembed.samples.request import digest, plain

Write = Callable[[str, str | bytes], Path]

SEPARATORS = "\u2028 \u2029 \x85 \x0b \x0c \x1c"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(source: Any) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_items(source)
    return str(caught.value)


def test_a_list_and_a_generator_give_copies() -> None:
    items = [{"input": "a"}, {"input": "b"}]

    loaded = load_items(items)

    assert loaded == items == load_items(item for item in items)
    assert all(one is not other for one, other in zip(loaded, items, strict=True))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"input": "a"}, "items must be a list of dicts, a file or a pandas frame, not dict"),
        (7, "not int"),
        (None, "not NoneType"),
        ([{"input": "a"}, "b"], "item 1 is a str, not a dict like {'input': '...'}"),
        (pandas.Series(["a"]), "item 0 is a str"),
    ],
)
def test_what_is_no_list_of_dicts_is_refused(source: Any, message: str) -> None:
    assert message in refused(source)


def test_jsonl_is_read_with_a_mark_blank_lines_and_separators_inside_strings(write: Write) -> None:
    lines = ["", json.dumps({"input": SEPARATORS}, ensure_ascii=False), "  ", '{"input": "\\ud83d"}', ""]
    path = write("items.jsonl", "\ufeff" + "\r\n".join(lines))

    assert load_items(path) == load_items(str(path)) == [{"input": SEPARATORS}, {"input": "\ud83d"}]
    assert load_items(write("ITEMS.NDJSON", '{"a": 1}')) == [{"a": 1}]
    assert load_items(write("none.jsonl", "")) == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.jsonl", '{"a": 1}\n\n{"a": }\n', "x.jsonl, line 3 is not JSON: Expecting value"),
        ("x.jsonl", '{"a": 1}\n[1]', 'x.jsonl, line 2 is a list, not an object like {"input": "..."}'),
        ("x.jsonl", f'{{"a": {"9" * 5000}}}', "x.jsonl, line 1 is not JSON: Exceeds the limit"),
        ("x.jsonl", b'{"a": "\xff"}', "x.jsonl is not UTF-8 text"),
        ("x.json", "[{}, 2]", "x.json, entry 1 is a int"),
        ("x.json", '{"a": 1}', "x.json must hold a list of objects, not a dict"),
        ("x.json", "[", "x.json is not JSON"),
        ("x.csv", "a,b\n1,2\n\n1,2,3\n", "x.csv, line 4 has more cells than the header"),
        ("x.csv", 'a,samples\n1,"[""x"",]"\n', "x.csv, line 2, column samples is not JSON"),
        ("x.csv", 'a\n"open\n', "x.csv, line 2: unexpected end of data"),
        ("x.csv", "a,b,a\n1,2,3\n", "x.csv, line 1: several columns are named 'a'"),
        ("x.csv", b"a\n\xff\n", "x.csv is not UTF-8 text"),
        ("x.txt", "a", "items are read from .jsonl, .ndjson, .json, .csv, not .txt"),
        ("items", "a", "not this"),
    ],
)
def test_a_malformed_file_is_refused_with_the_place(
    write: Write, name: str, content: str | bytes, message: str
) -> None:
    assert message in refused(write(name, content))


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.jsonl") == f"there is no file {tmp_path / 'none.jsonl'}"
    assert "there is no file" in refused(tmp_path)


def test_json_is_a_list_of_objects(write: Write) -> None:
    assert load_items(write("x.json", '\ufeff[{"a": 1}, {"a": null}]')) == [{"a": 1}, {"a": None}]


def test_csv_cells_are_text_but_for_the_columns_that_hold_json(write: Write) -> None:
    content = (
        "\ufeffinput,output,samples,model_parameters,note\r\n"
        '"two\nlines, and ""quotes""",7,"[""a"", ""b""]","{""max_tokens"": 5}",\r\n'
        "short,x\r\n"
    )

    assert load_items(write("x.csv", content)) == [
        {
            "input": 'two\nlines, and "quotes"',
            "output": "7",
            "samples": ["a", "b"],
            "model_parameters": {"max_tokens": 5},
        },
        {"input": "short", "output": "x"},
    ]
    assert load_items(write("empty.csv", "")) == []


def test_csv_cells_may_be_long_and_the_limit_of_others_stays(write: Write) -> None:
    before = csv.field_size_limit()

    assert load_items(write("x.csv", "input,context\nq," + "x" * 200_000 + "\n"))[0]["context"] == "x" * 200_000
    assert csv.field_size_limit() == before

    refused(write("y.csv", "a\n1,2\n"))
    assert csv.field_size_limit() == before


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=20)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.dictionaries(st.sampled_from("abc"), TEXT, min_size=1), max_size=4))
def test_files_give_back_what_was_written_to_them(tmp_path: Path, rows: list[dict[str, str]]) -> None:
    lines = tmp_path / "items.jsonl"
    lines.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    with (tmp_path / "items.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, "abc", quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(rows)

    assert load_items(lines) == rows
    assert load_items(file.name) == [{k: v for k, v in row.items() if v} for row in rows]


def test_a_frame_gives_plain_values_that_a_request_can_hold() -> None:
    frame = pandas.DataFrame(
        {
            "whole": np.array([1, 2], dtype=np.int32),
            "real": np.array([0.5, np.nan], dtype=np.float32),
            "truth": [True, False],
            "when": [pandas.Timestamp("2024-05-01T12:00"), pandas.NaT],
            "wait": [pandas.Timedelta("1h"), pandas.NaT],
            "maybe": pandas.array([3, None], dtype="Int64"),
            "text": ["a", None],
            "kind": pandas.Categorical(["x", None]),
            "samples": [np.array(["a", "b"]), np.array(["c"])],
            "nested": [{"n": np.float64(1.5), 2: [np.int8(3), float("nan"), pandas.NaT]}, {}],
            "days": [np.array(["2024-05-01"], dtype="datetime64[D]"), (date(2024, 5, 1), time(3), timedelta(1))],
            7: [pandas.NA, np.bool_(True)],
        }
    )
    before = frame.copy(deep=True)

    first, second = load_items(frame)

    assert first == {
        "whole": 1,
        "real": 0.5,
        "truth": True,
        "when": "2024-05-01T12:00:00",
        "wait": "0 days 01:00:00",
        "maybe": 3,
        "text": "a",
        "kind": "x",
        "samples": ["a", "b"],
        "nested": {"n": 1.5, "2": [3, None, None]},
        "days": ["2024-05-01"],
    }
    assert second == {
        "whole": 2,
        "truth": False,
        "samples": ["c"],
        "nested": {},
        "days": ["2024-05-01", "03:00:00", "1 day, 0:00:00"],
        "7": True,
    }
    for item in (first, second):
        assert len(digest(plain(item))) == 64
    pandas.testing.assert_frame_equal(frame, before)


def test_whole_numbers_of_a_frame_stay_whole_beside_real_ones() -> None:
    item = load_items(pandas.DataFrame({"id": [2**53 + 1], "score": [0.5]}))[0]

    assert item == {"id": 2**53 + 1, "score": 0.5}
    assert [type(value) for value in item.values()] == [int, float]


def test_an_object_that_is_no_number_or_date_stays_what_it_is() -> None:
    kept = object()

    assert load_items(pandas.DataFrame({"a": [kept]})) == [{"a": kept}]
    assert load_items([{"when": datetime(2024, 5, 1, tzinfo=UTC)}]) == [{"when": datetime(2024, 5, 1, tzinfo=UTC)}]


def test_a_frame_whose_columns_share_a_name_is_refused() -> None:
    assert "several columns are named 'a'" in refused(pandas.DataFrame([[1, 2]], columns=["a", "a"]))
    assert "several columns are named '1'" in refused(pandas.DataFrame({1: [1], "1": [2]}))


def test_an_empty_frame_is_no_items() -> None:
    assert load_items(pandas.DataFrame({"a": []})) == []
