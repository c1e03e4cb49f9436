"""How RAGTruth is read: its two files, its sources as text, and what is refused."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from opik_checkembed.benchmarks.ragtruth_data import load_ragtruth, source_text
from opik_checkembed.errors import ConfigurationError

SOURCES: list[dict[str, Any]] = [
    {"source_id": "1", "task_type": "Summary", "source_info": "The bridge is 5 km long."},
    {
        "source_id": "2",
        "task_type": "QA",
        "source_info": {"question": "How long is it?", "passages": "passage 1: 5 km"},
    },
    {"source_id": "3", "task_type": "Data2txt", "source_info": {"name": "Tinker's", "stars": 4.0}},
    {"source_id": "4", "task_type": "Summary", "source_info": "Nothing."},
]


def response(name: str, source: str, text: str = "It is 6 km long.", spans: Sequence[Any] = (), **more: Any) -> Any:
    labels = [{"start": a, "end": b, "text": text[a:b], "label_type": "Evident Conflict"} for a, b in spans]
    return {"id": name, "source_id": source, "response": text, "labels": labels, **more}


ROWS = [response("a", "1", spans=[(6, 10)]), response("b", "2"), response("c", "3"), response("d", "4")]


def save(folder: Path, rows: Sequence[Any] = ROWS, sources: Sequence[Any] = SOURCES, published: bool = False) -> Path:
    names = ("response.jsonl", "source_info.jsonl") if published else ("dev_responses.jsonl", "dev_sources.jsonl")
    for name, entries in zip(names, (rows, sources), strict=True):
        (folder / name).write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return folder


def refused(folder: Path) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_ragtruth(folder)
    return str(caught.value)


def test_a_response_has_its_source_and_spans(tmp_path: Path) -> None:
    data = load_ragtruth(save(tmp_path))
    first, second, third, _ = data.responses
    assert (first.id, first.text, first.spans, first.hallucinated) == ("a", "It is 6 km long.", ((6, 10),), True)
    assert (first.source.id, first.source.task, first.source.text) == ("1", "Summary", "The bridge is 5 km long.")
    assert (second.source.question, second.source.text, second.hallucinated) == (
        "How long is it?",
        "passage 1: 5 km",
        False,
    )
    assert third.source.text == "name: Tinker's\nstars: 4.0"


def test_the_published_files_are_read_in_their_test_split(tmp_path: Path) -> None:
    rows = [{**ROWS[0], "split": "train"}, {**ROWS[1], "split": "test", "model": "gpt-4"}]
    data = load_ragtruth(save(tmp_path, rows, published=True))
    assert [(one.id, one.model) for one in data.responses] == [("b", "gpt-4")]
    save(tmp_path, rows[:1], published=True)
    assert "holds no responses" in refused(tmp_path)


def test_a_structure_becomes_one_line_a_field() -> None:
    info = {
        "name": "Tinker's\nBurgers",
        "hours": {"Monday": "11:0-17:5", "Friday": "8:30-22:0"},
        "attributes": {"WiFi": None, "Takeout": True},
        "reviews": [{"stars": 5.0, "text": "Good."}, {"stars": 3.0, "text": "See 1:2-3"}],
        "tags": ["a", "b"],
    }
    assert source_text(info).split("\n") == [
        "name: Tinker's Burgers",
        "hours Monday: 11:00-17:05",
        "hours Friday: 8:30-22:00",
        "attributes WiFi: null",
        "attributes Takeout: true",
        "reviews stars: 5.0",
        "reviews text: Good.",
        "reviews stars: 3.0",
        "reviews text: See 1:2-3",
        "tags: a",
        "tags: b",
    ]
    assert source_text("As\nit is.") == "As\nit is."


def test_any_first_part_of_the_sources_has_every_task_in_due_proportion(tmp_path: Path) -> None:
    sources = [
        {"source_id": f"{task}{n}", "task_type": task, "source_info": "Text."}
        for task, count in (("QA", 2), ("Summary", 4), ("Data2txt", 6))
        for n in range(count)
    ]
    data = load_ragtruth(save(tmp_path, [response(s["source_id"], s["source_id"]) for s in sources], sources))
    for count, expected in ((6, {"QA": 1, "Summary": 2, "Data2txt": 3}), (12, {"QA": 2, "Summary": 4, "Data2txt": 6})):
        assert Counter(one.task for one in data.sources[:count]) == expected
    assert [one.id for one in data.sources if one.task == "QA"] == ["QA0", "QA1"]
    # Responses stay in the order of the file.
    assert [one.source.task for one in data.limited(6)] == ["QA", *["Summary"] * 2, *["Data2txt"] * 3]
    assert data.limited(None) == data.responses


def test_the_fingerprint_is_of_texts_and_labels(tmp_path: Path) -> None:
    first = load_ragtruth(save(tmp_path)).fingerprint
    assert load_ragtruth(save(tmp_path)).fingerprint == first
    assert load_ragtruth(save(tmp_path, [response("a", "1", spans=[(6, 9)]), *ROWS[1:]])).fingerprint != first
    changed = [{**SOURCES[0], "source_info": "The bridge is 6 km long."}, *SOURCES[1:]]
    assert load_ragtruth(save(tmp_path, ROWS, changed)).fingerprint != first


@pytest.mark.parametrize(
    ("rows", "sources", "said"),
    [
        ([response("a", "9")], SOURCES, "there is no source with the source_id '9'"),
        ([response("a", "1"), response("a", "2")], SOURCES, "two responses have the id 'a'"),
        (ROWS, [*SOURCES, SOURCES[0]], "two sources have the source_id '1'"),
        ([response("a", "1", text=" ")], SOURCES, "row 0: response must be a text that is not empty"),
        ([{**ROWS[0], "labels": None}], SOURCES, "labels must be a list of spans"),
        ([response("a", "1", spans=[(6, 99)])], SOURCES, "must have start and end within the 16 characters"),
        ([response("a", "1", spans=[(6, 6)])], SOURCES, "must have start and end"),
        ([{**ROWS[0], "labels": ["6 km"]}], SOURCES, "must have start and end"),
        (ROWS, [{**SOURCES[0], "source_info": {}}], "source_info must be a text, an object or a list with content"),
        (ROWS, [{**SOURCES[0], "source_info": 5}], "source_info must be a text, an object or a list with content"),
        (ROWS, [{**SOURCES[0], "task_type": None}], "task_type must be a text"),
    ],
)
def test_what_does_not_fit_is_refused(rows: Any, sources: Any, said: str, tmp_path: Path) -> None:
    assert said in refused(save(tmp_path, rows, sources))


def test_a_missing_or_doubtful_file_is_refused(tmp_path: Path) -> None:
    assert "must hold one file response.jsonl or *_responses.jsonl; it holds none of them" in refused(tmp_path)
    save(save(tmp_path), published=True)
    assert "it holds dev_responses.jsonl, response.jsonl" in refused(tmp_path)


def test_an_id_may_be_a_number(tmp_path: Path) -> None:
    data = load_ragtruth(
        save(tmp_path, [response("a", "1") | {"id": 7, "source_id": 1}], [{**SOURCES[0], "source_id": 1}])
    )
    assert (data.responses[0].id, data.responses[0].source.id) == ("7", "1")


@pytest.mark.skipif("OPIK_CHECKEMBED_TEST_DATA" not in os.environ, reason="needs the labelled data")
def test_the_labelled_data_is_read_whole() -> None:
    data = load_ragtruth(Path(os.environ["OPIK_CHECKEMBED_TEST_DATA"]) / "ragtruth")
    assert (len(data.responses), len(data.sources)) == (852, 142)
    assert sum(one.hallucinated for one in data.responses) == 343
    assert Counter(one.source.task for one in data.responses) == {"Data2txt": 372, "Summary": 378, "QA": 102}
    assert all(one.source.question for one in data.responses if one.source.task == "QA")
