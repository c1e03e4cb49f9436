"""What the commands of the labelled benchmarks do with their options: score, fuse, keep, and draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from opik_checkembed.benchmarks.fusing import FusedMethod, key_of
from opik_checkembed.benchmarks.keys import Key, merged, names_apart
from opik_checkembed.benchmarks.scoring import Method, MethodScores, ScoreFile
from opik_checkembed.benchmarks.table import ResultTable
from opik_checkembed.benchmarks.wikibio_methods import methods_of
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.metric_names import name_in

T = TypeVar("T", bound=ResultTable[Any])

DEFAULT_METHOD = "ngram"


@dataclass(frozen=True)
class Wanted:
    """Rows to score and to fuse, as the command line names them.

    Attributes:
        methods: Each NAME or NAME:OPTION=VALUE,...
        fuse: Each NAME=PART+PART+..., the mean of the parts' z-scores.
        fuse_fitted: The same, weighed by a cross-validated fit.
        out: JSON file of the table; rows already there stay.
        scores: JSON file of the rows' scores, text by text; those already there can be parts.
    """

    methods: Sequence[str] = ()
    fuse: Sequence[str] = ()
    fuse_fitted: Sequence[str] = ()
    out: Path | None = None
    scores: Path | None = None


def fill_table(
    wanted: Wanted,
    run: Callable[[Sequence[Method | FusedMethod]], T],
    read: Callable[[Path], T],
    fingerprint: str,
) -> T:
    """Score the methods, then fuse them, and keep after each what there is, so that a run that breaks off loses little.

    Args:
        wanted: What to do. Without any row "ngram" is scored.
        run: Scores methods over the data.
        read: Reads a table from its file.
        fingerprint: Of the data.

    Returns:
        The table, with the rows that its file had.

    Raises:
        ConfigurationError: A row cannot be what its text says, or a file holds something else; before anything is
            scored.
        ItemError: As for `run`.
    """
    table = read(wanted.out) if wanted.out is not None and wanted.out.exists() else None
    kept = ScoreFile(fingerprint)
    if wanted.scores is not None and wanted.scores.exists():
        kept = ScoreFile.from_json(wanted.scores, fingerprint)
    texts = wanted.methods or ([] if wanted.fuse or wanted.fuse_fitted else [DEFAULT_METHOD])
    scored: list[list[Method]] = [methods_of(text) for text in texts]
    there = {row.key: row for row in kept.rows}
    # As they will be when these are scored: a row that does not say what it is of gives way.
    keys = merged(dict.fromkeys(there), dict.fromkeys(key_of(one) for rows in scored for one in rows))
    fusions: dict[tuple[str, bool], list[Key]] = {}
    for fitted, given in ((False, wanted.fuse), (True, wanted.fuse_fitted)):
        for text in given:
            name, parts = _fusion(text)
            part_keys = []
            for part in parts:
                key, method = _part(part, keys)
                if method is not None:
                    scored.append([method])
                    keys = merged(keys, {key: None})
                part_keys.append(key)
            if len(set(part_keys)) < len(part_keys):
                raise ConfigurationError(f"the fused row {name!r} has a part twice")
            if (name, fitted) in fusions:
                raise ConfigurationError(f"two fused rows are named {name!r}")
            fusions[name, fitted] = part_keys
    taken = next((name for name, _ in fusions if any((key.method, key.model) == (name, None) for key in keys)), None)
    if taken is not None:
        raise ConfigurationError(f"there is a row {taken!r} already; give the fused one another name")

    def add(methods: Sequence[Method | FusedMethod]) -> None:
        nonlocal table, kept
        newer = run(methods)
        table = newer if table is None else table.merged(newer)
        kept = kept.with_rows(newer.scores)
        if wanted.out is not None:
            table.to_json(wanted.out)
        if wanted.scores is not None:
            kept.to_json(wanted.scores)

    for methods in scored:
        add(methods)
    # A part may be a row that has given way since.
    by_key: Mapping[Key, MethodScores] = {**there, **{row.key: row for row in kept.rows}}
    for (name, fitted), part_keys in fusions.items():
        add([FusedMethod(name, [by_key[key] for key in part_keys], fitted)])
    assert table is not None  # there is a method, or a row that is fused
    return table


def _fusion(text: str) -> tuple[str, list[str]]:
    name, equals, rest = text.partition("=")
    parts = [part.strip() for part in rest.split("+")]
    if not name.strip() or not equals or len(parts) < 2 or not all(parts):
        raise ConfigurationError(f"{_shown(text)!r} is not of the form NAME=PART+PART, parts being rows or methods")
    return name.strip(), parts


def _shown(text: str) -> str:
    """What a message may repeat of a text: where it has options, which may be keys, no more than its name."""
    return name_in(text) if "=" in text else text


def _part(text: str, keys: Mapping[Key, object]) -> tuple[Key, Method | None]:
    """The row that a text names by its name, its title, its method, or what makes it, with that if it is not there."""
    names = dict(zip(keys, names_apart(list(keys)), strict=True))
    named: list[Key] = []
    for call in (names.__getitem__, lambda key: key.title, lambda key: key.method):
        named = named or [key for key in keys if call(key) == text]
    if len(named) == 1:
        return named[0], None
    known = ", ".join(map(repr, names.values())) or "none yet"
    if named:
        raise ConfigurationError(f"{text!r} names several rows: {', '.join(repr(names[key]) for key in named)}")
    try:
        methods = methods_of(text)
    except ConfigurationError as error:
        raise ConfigurationError(
            f"there is no row {_shown(text)!r} to fuse (there are {known}), and as a method: {error}"
        ) from error
    if len(methods) > 1:
        rows = ", ".join(map(repr, names_apart([key_of(one) for one in methods])))
        raise ConfigurationError(f"{_shown(text)!r} stands for several rows ({rows}): name the one to fuse")
    key = key_of(methods[0])
    return key, None if key in keys else methods[0]
