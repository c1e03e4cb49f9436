"""The options that the commands of the labelled benchmarks have in common."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

C = TypeVar("C", bound=Callable[..., Any])

_FILE = click.Path(dir_okay=False, path_type=Path)

_OPTIONS = (
    click.option(
        "--data", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True, help="The data set."
    ),
    click.option(
        "--method",
        "methods",
        multiple=True,
        metavar="NAME[:OPTION=VALUE,...]",
        help="facts, ngram, checkembed, bertscore, nli, mqag or prompt, with its metric's arguments. Repeatable; ngram "
        "if nothing is asked for.",
    ),
    click.option(
        "--fuse",
        multiple=True,
        metavar="NAME=PART+PART",
        help="A row of the parts' mean z-scores. Parts are rows by their name, also those in --scores, or methods as "
        "above.",
    ),
    click.option(
        "--fuse-fitted",
        multiple=True,
        metavar="NAME=PART+PART",
        help="The same, weighed by a logistic regression on the labels; cross-validated, scores out of fold.",
    ),
    click.option("--limit", type=click.IntRange(min=1), help="Score only the first so many."),
    click.option("--out", type=_FILE, help="JSON file; rows already there stay."),
    click.option("--scores", type=_FILE, help="JSON file of the scores, to fuse them later; rows already there stay."),
    click.option("--cost-plot", type=_FILE, help="Draw accuracy against milliseconds for one item."),
)


def row_options(command: C) -> C:
    """What to score and to fuse, where to keep it, and where to draw what it costs."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
