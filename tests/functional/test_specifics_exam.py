"""Hand-made sentences with the specifics that a careful reader finds, written by others than the rules' authors.

Of the first two sets, halves of one, the open one was in sight while the rules were written; the other is held back:
nobody who wrote rules has read it, but for part of its first sentence, which was seen by accident by somebody who
wrote those of other languages. The second set was written later by another author and the rules were revised on it;
the third, by one more, was read only afterwards. Run with `-s` to see the figures.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from opik_checkembed.functional.specifics import Specific, specifics

HERE = Path(__file__).parent
EXAM: dict[str, dict[str, Any]] = {
    part: json.loads((HERE / f"specifics_{part}.json").read_text(encoding="utf-8"))
    for part in ("open", "held_back", "second", "third")
}


def marked(sentence: dict[str, Any]) -> tuple[int, int, int]:
    """How many specifics were found with their exact span and kind, how many were missed, how many are too many."""
    found = {(one.start, one.end): one for one in specifics(sentence["text"], sentence["language"])}
    right = missed = 0
    optional = [(one["start"], one["end"]) for one in sentence["specifics"] if one.get("optional")]
    for one in sentence["specifics"]:
        own = found.pop((one["start"], one["end"]), None)
        if one.get("optional"):
            continue
        if own is not None and own.kind in one["kind"].split("|"):
            right += 1
        else:
            missed += 1
            if own is not None:
                found[one["start"], one["end"]] = own
    extra = sum(not any(start < b and a < end for a, b in optional) for start, end in found)
    return right, missed, extra


def agrees(pair: dict[str, Any]) -> bool:
    """Whether two ways of writing something are found to be equal or different as they should."""

    def alone(text: str) -> Specific | None:
        found = specifics(text, pair["language"])
        return found[0] if len(found) == 1 else None

    a, b = alone(pair["a"]), alone(pair["b"])
    if a is None or b is None:
        return False
    forth, back = a.supported_by(b), b.supported_by(a)
    return {
        "equal": forth and back,
        "different": not forth and not back,
        "short_supports_long": forth,
        "full_supports_part": back and not forth,
    }[pair["relation"]]


@pytest.mark.parametrize(
    ("part", "least", "equal"),
    [("open", 1.0, 1.0), ("held_back", 0.95, 0.9), ("second", 1.0, 0.98), ("third", 0.93, 0.97)],
)
def test_precision_and_recall(part: str, least: float, equal: float) -> None:
    sentences = EXAM[part]["sentences"]
    right, missed, extra = (sum(column) for column in zip(*map(marked, sentences), strict=True))
    precision, recall = right / (right + extra), right / (right + missed)
    pairs = [pair for pair in EXAM[part]["equalities"] if not pair.get("optional")]
    agreeing = sum(map(agrees, pairs)) / len(pairs)

    sys.stdout.write(
        f"\n{part}: {len(sentences)} sentences, precision {precision:.3f}, recall {recall:.3f}; "
        f"{len(pairs)} equalities, right {agreeing:.3f}\n"
    )
    assert min(precision, recall) >= least
    assert agreeing >= equal


@pytest.mark.parametrize("part", EXAM)
def test_the_exam_is_sound(part: str) -> None:
    sentences = EXAM[part]["sentences"]
    assert len(sentences) >= 40
    assert len({sentence["language"] for sentence in sentences}) == 8
    for sentence in sentences:
        for one in sentence["specifics"]:
            assert sentence["text"][one["start"] : one["end"]] == one["text"]
