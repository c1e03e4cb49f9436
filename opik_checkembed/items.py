"""Dataset items from wherever a user keeps them: a list, JSONL, CSV or a pandas frame."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time, timedelta
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.wording import kind_of

if TYPE_CHECKING:
    import pandas

Item = dict[str, Any]

# A CSV cell is text; in these columns it can only be meant as JSON.
_JSON_COLUMNS = ("messages", "samples", "tools", "model_parameters", "claims")

# The csv module stops at 131072 characters; a retrieved context may be longer. No C long is shorter than this.
_LONGEST_CELL = 2**31 - 1


def load_items(source: Iterable[Mapping[str, Any]] | str | PathLike[str] | pandas.DataFrame) -> list[Item]:
    """The items as a list of dicts; the source is not changed.

    A file's form is read from its ending: `.jsonl` or `.ndjson` (one object a line), `.json` (a list of objects),
    `.csv` (a header line; the columns messages, samples, tools, model_parameters and claims hold JSON; an empty cell
    is a missing field). A frame's missing values are missing fields too, its arrays become lists, its dates ISO 8601
    text and its numbers Python's, so that an item can be part of a request.

    Raises:
        ConfigurationError: The file is missing, of another kind or malformed (with its line), two columns share a
            name, or an entry is not a dict.

    Example:
        >>> load_items([{"input": "Why?"}])
        [{'input': 'Why?'}]
    """
    if isinstance(source, str | PathLike):
        return _read(Path(source))
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(source, pandas.DataFrame):
        return _frame(source)
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise ConfigurationError(
            f"items must be a list of dicts, a file or a pandas frame, not {type(source).__name__}"
        )
    items = list(cast("Iterable[Any]", source))
    for index, item in enumerate(items):
        if not isinstance(item, Mapping):
            raise ConfigurationError(f"item {index} is a {type(item).__name__}, not a dict like {{'input': '...'}}")
    return [dict(item) for item in items]


def _read(path: Path) -> list[Item]:
    if not path.is_file():
        raise ConfigurationError(f"there is no file {path}")
    readers = {".jsonl": _jsonl, ".ndjson": _jsonl, ".json": _json, ".csv": _csv}
    if path.suffix.lower() not in readers:
        raise ConfigurationError(f"{path}: items are read from {', '.join(readers)}, not {path.suffix or 'this'}")
    try:
        return readers[path.suffix.lower()](path)
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not UTF-8 text: {error}") from error


def _jsonl(path: Path) -> list[Item]:
    items = []
    # Not str.splitlines: it also breaks at separators that may stand inside a JSON string.
    for number, line in enumerate(path.read_text("utf-8-sig").split("\n"), 1):
        if line.strip():
            items.append(_object(_parsed(line, f"{path}, line {number}"), f"{path}, line {number}"))
    return items


def _json(path: Path) -> list[Item]:
    parsed = _parsed(path.read_text("utf-8-sig"), str(path))
    if not isinstance(parsed, list):
        raise ConfigurationError(f"{path} must hold a list of objects, not {kind_of(parsed)}")
    return [_object(entry, f"{path}, entry {number}") for number, entry in enumerate(parsed)]


def _csv(path: Path) -> list[Item]:
    limit = csv.field_size_limit(_LONGEST_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, strict=True)
            try:
                header = next(rows, [])
                _distinct(header, f"{path}, line 1")
                return [_row(header, cells, f"{path}, line {rows.line_num}") for cells in rows if cells]
            except csv.Error as error:
                raise ConfigurationError(f"{path}, line {rows.line_num}: {error}") from error
    finally:
        csv.field_size_limit(limit)


def _row(header: Sequence[str], cells: Sequence[str], where: str) -> Item:
    if len(cells) > len(header):
        raise ConfigurationError(f"{where} has more cells than the header")
    return {
        name: _parsed(cell, f"{where}, column {name}") if name in _JSON_COLUMNS else cell
        for name, cell in zip(header, cells, strict=False)
        if cell
    }


def _frame(frame: pandas.DataFrame) -> list[Item]:
    names = [str(column) for column in frame.columns]
    _distinct(names, "the frame")
    rows = frame.itertuples(index=False, name=None)
    cells = ({name: _plain(value) for name, value in zip(names, row, strict=True)} for row in rows)
    return [{name: value for name, value in row.items() if value is not None} for row in cells]


def _plain(value: Any) -> Any:
    """A frame's cell as plain Python values; None where it is missing."""
    import pandas

    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if pandas.api.types.is_scalar(value) and pandas.isna(value):
        return None
    if isinstance(value, np.datetime64 | np.timedelta64):
        return str(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if isinstance(value, timedelta) else value


def _distinct(names: Sequence[str], where: str) -> None:
    twice = [repr(name) for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ConfigurationError(f"{where}: several columns are named {', '.join(twice)}")


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ConfigurationError(f"{where} is not JSON: {error}") from error


def _object(value: Any, where: str) -> Item:
    if not isinstance(value, dict):
        raise ConfigurationError(f'{where} is a {type(value).__name__}, not an object like {{"input": "..."}}')
    return value
