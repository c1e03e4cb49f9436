"""RAGTruth: answers of language models to a source, with the spans that annotators found unsupported by it.

Source: Niu et al., "RAGTruth: A Hallucination Corpus for Developing Trustworthy Retrieval-Augmented Language Models"
(ACL 2024).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.items import load_items

RESPONSES = ("response.jsonl", "*_responses.jsonl")
"""Names of the file with the responses: the published one, and that of a part of it."""

SOURCES = ("source_info.jsonl", "*_sources.jsonl")
"""Names of the file with the sources."""

SPLIT = "test"
"""Where the rows name their split, as the published file does, only those of this one are read."""

_HOURS = re.compile(r"(\d{1,2}):(\d{1,2})-(\d{1,2}):(\d{1,2})")


@dataclass(frozen=True)
class GroundedSource:
    """What responses are held against.

    Attributes:
        id: Its id.
        task: The kind of task, such as "QA", "Summary" or "Data2txt".
        text: All of it as text; see `source_text`.
        question: What was asked about it; empty where the task asks nothing.
    """

    id: str
    task: str
    text: str
    question: str = ""


@dataclass(frozen=True)
class GroundedResponse:
    """One response with the spans of it that its source does not support.

    Attributes:
        id: Its id.
        source: What it is to rest on.
        text: The response.
        spans: Where the annotated spans begin and end, in characters; none for a faithful response.
        model: What wrote it; empty where the data does not say.
    """

    id: str
    source: GroundedSource
    text: str
    spans: tuple[tuple[int, int], ...]
    model: str = ""

    @property
    def hallucinated(self) -> bool:
        """Whether any span of it is not supported."""
        return bool(self.spans)


@dataclass(frozen=True)
class RAGTruthData:
    """Labelled responses.

    Attributes:
        responses: In the order of the file.
    """

    responses: tuple[GroundedResponse, ...]

    @cached_property
    def fingerprint(self) -> str:
        """Equal for equal texts and labels."""
        rows = [
            [one.id, one.source.id, one.source.task, one.source.text, one.source.question, one.text, one.spans]
            for one in self.responses
        ]
        return hashlib.blake2b(json.dumps(rows).encode(), digest_size=8).hexdigest()

    @cached_property
    def sources(self) -> tuple[GroundedSource, ...]:
        """The sources that there are responses to, the kinds of task mixed: any first part has all in due proportion.

        Within a kind they are in the order of the file.
        """
        of_task: dict[str, list[GroundedSource]] = {}
        for source in dict.fromkeys(one.source for one in self.responses):
            of_task.setdefault(source.task, []).append(source)
        placed = [
            ((place + 0.5) / len(of), number, source)
            for number, of in enumerate(of_task.values())
            for place, source in enumerate(of)
        ]
        return tuple(source for *_, source in sorted(placed, key=lambda entry: entry[:2]))

    def limited(self, sources: int | None) -> tuple[GroundedResponse, ...]:
        """The responses to the first so many of `sources`; all for None."""
        kept = set(self.sources[:sources])
        return tuple(one for one in self.responses if one.source in kept)


def source_text(info: object) -> str:
    """A source as text.

    A text stays as it is. Of a question with its passages the passages are the text. Any other structure becomes one
    line a field, its path in words before its value ("hours Monday: 11:00-17:00"); list items share their list's path.
    true, false and null are written as JSON has them, line breaks within a value become spaces, and opening hours such
    as 11:0-17:0 get their minutes in two digits.

    Example:
        >>> print(source_text({"name": "Tinker's", "hours": {"Monday": "11:0-17:0"}, "attributes": {"WiFi": None}}))
        name: Tinker's
        hours Monday: 11:00-17:00
        attributes WiFi: null
    """
    if isinstance(info, Mapping) and isinstance(info.get("passages"), str):
        return str(info["passages"])
    return info if isinstance(info, str) else "\n".join(_lines(info, ()))


def _lines(value: object, path: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _lines(inner, (*path, str(name)))
    elif isinstance(value, list):
        for inner in value:
            yield from _lines(inner, path)
    else:
        written = " ".join(value.split()) if isinstance(value, str) else json.dumps(value)
        hours = _HOURS.fullmatch(written)
        if hours is not None:
            opens, opens_at, closes, closes_at = hours.groups()
            written = f"{opens}:{opens_at:0>2}-{closes}:{closes_at:0>2}"
        yield f"{' '.join(path)}: {written}"


def load_ragtruth(folder: str | os.PathLike[str]) -> RAGTruthData:
    """Read RAGTruth from a folder with its two files.

    A response has `id`, `source_id`, `response` and `labels` (each with `start` and `end`, in characters), and may have
    `model` and `split`; a source has `source_id`, `task_type` and `source_info` (see `source_text`). Responses of every
    `quality` are read, refusals and cut ones too.

    Args:
        folder: Holds `response.jsonl` and `source_info.jsonl`, as published, of which the split "test" is read; or a
            part, `..._responses.jsonl` and `..._sources.jsonl`.

    Raises:
        ConfigurationError: A file is missing or there are several, or a row does not fit; says which.
    """
    place = Path(folder)
    responses, sources = (_file(place, names) for names in (RESPONSES, SOURCES))
    known: dict[str, GroundedSource] = {}
    for number, row in enumerate(load_items(sources)):
        source = _source(row, f"{sources.name}, row {number}")
        if source.id in known:
            raise ConfigurationError(f"{sources.name}: two sources have the source_id {source.id!r}")
        known[source.id] = source
    rows = [row for row in load_items(responses) if row.get("split", SPLIT) == SPLIT]
    found = tuple(_response(row, known, f"{responses.name}, row {number}") for number, row in enumerate(rows))
    if not found:
        raise ConfigurationError(f"{responses} holds no responses")
    twice = [name for name, count in Counter(one.id for one in found).items() if count > 1]
    if twice:
        raise ConfigurationError(f"{responses.name}: two responses have the id {twice[0]!r}")
    return RAGTruthData(found)


def _file(folder: Path, names: Sequence[str]) -> Path:
    found = sorted({path for name in names for path in folder.glob(name)})
    if len(found) != 1:
        there = ", ".join(path.name for path in found) or "none of them"
        raise ConfigurationError(f"{folder} must hold one file {' or '.join(names)}; it holds {there}")
    return found[0]


def _source(row: Mapping[str, Any], where: str) -> GroundedSource:
    info = row.get("source_info")
    text = source_text(info) if isinstance(info, str | Mapping | list) else ""
    if not text.strip():
        raise ConfigurationError(f"{where}: source_info must be a text, an object or a list with content")
    question = info.get("question") if isinstance(info, Mapping) else None
    return GroundedSource(
        id=_text(row, "source_id", where),
        task=_text(row, "task_type", where),
        text=text,
        question=question if isinstance(question, str) else "",
    )


def _response(row: Mapping[str, Any], sources: Mapping[str, GroundedSource], where: str) -> GroundedResponse:
    text, source_id = _text(row, "response", where), _text(row, "source_id", where)
    if source_id not in sources:
        raise ConfigurationError(f"{where}: there is no source with the source_id {source_id!r}")
    labels = row.get("labels")
    if not isinstance(labels, list):
        raise ConfigurationError(f"{where}: labels must be a list of spans, empty for a faithful response")
    spans = []
    for label in labels:
        start, end = (label.get("start"), label.get("end")) if isinstance(label, Mapping) else (None, None)
        if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= len(text):
            raise ConfigurationError(
                f"{where}: a label must have start and end within the {len(text)} characters of its response, not "
                f"{label!r}"
            )
        spans.append((start, end))
    model = row.get("model")
    return GroundedResponse(
        id=_text(row, "id", where),
        source=sources[source_id],
        text=text,
        spans=tuple(sorted(spans)),
        model=model if isinstance(model, str) else "",
    )


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise ConfigurationError(f"{where}: {name} must be a text that is not empty, not {value!r}")
    return value
