"""Do the names and numbers of an answer come back when the model is asked again?

A model that knows something repeats its specifics; one that makes them up makes up others. No model is needed to see
that: the specifics of a sentence are found by rules (`specifics`), and each one's support is the share of samples that
hold an equal one.

Source: this package's own measure; what it measures is the consistency of Manakul et al., "SelfCheckGPT" (EMNLP 2023),
read off the specifics alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from opik_checkembed.functional.alternatives import Judged, alternatives, one_line
from opik_checkembed.functional.shared_words import SentenceWords, nearest_by_words, numbered
from opik_checkembed.functional.specifics import Kind, Specific
from opik_checkembed.functional.text_facts import FactIndex, TextFacts

Combine = Literal["geometric", "min"]

FLOOR = 0.05
"""A specific that no sample holds counts as this much support in the geometric mean, which it would else make zero."""


class FactSupport(NamedTuple):
    """One specific of the judged answer.

    Attributes:
        start: Where it begins in the answer, in characters.
        end: Where it ends.
        text: As it is written.
        kind: "number", "date", "name", "title", "identifier" or "url".
        support: Share of the samples that hold an equal one, 0 to 1.
        samples: Which samples hold it, counted from 0.
        instead: What the other samples say in its place, with how many of them, the most frequent first.
        year: For a date that says more than its year, how many samples have at least that year; None for others.
    """

    start: int
    end: int
    text: str
    kind: Kind
    support: float
    samples: tuple[int, ...]
    instead: tuple[tuple[str, int], ...] = ()
    year: int | None = None

    def __str__(self) -> str:
        """In words, for example '"1898" in 1 of 10 samples; others say 1893 (6), 1890 (3)'."""
        total = round(len(self.samples) / self.support) if self.support else None
        held = f"in {len(self.samples)} of {total} samples" if total else "in no sample"
        if self.year is not None and self.year > len(self.samples):
            held += f", its year in {self.year}"
        said = ", ".join(f"{text} ({count})" for text, count in self.instead[:3])
        return f'"{one_line(self.text)}" {held}' + (f"; others say {said}" if said else "")

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {
            "start": self.start,
            "end": self.end,
            "text": self.text,
            "kind": self.kind,
            "support": self.support,
            "samples": list(self.samples),
            "instead": [list(one) for one in self.instead],
            "year": self.year,
        }


class SentenceFacts(NamedTuple):
    """The specifics of one sentence.

    Attributes:
        facts: With their supports, in the order of the sentence.
        score: 0 all come back in every sample, 1 none in any; None for a sentence without specifics.
        per_sample: For each sample the share of the sentence's specifics that it lacks; empty without specifics.
        nearest: For each sample where its sentence is that shares most words with this one, and None where none does.
        known: How many specifics were left out because the question already says them.
    """

    facts: tuple[FactSupport, ...]
    score: float | None
    per_sample: tuple[float, ...] = ()
    nearest: tuple[tuple[int, int] | None, ...] = ()
    known: int = 0

    @property
    def worst(self) -> FactSupport | None:
        """The specific with the least support; the first of equals."""
        return min(self.facts, key=lambda fact: fact.support, default=None)


def fact_recurrence(
    output: TextFacts,
    samples: Sequence[TextFacts],
    *,
    question: TextFacts | None = None,
    combine: Combine = "geometric",
    floor: float = FLOOR,
) -> list[SentenceFacts]:
    """How far the specifics of each sentence recur across samples: 0 consistent, 1 hallucinated.

    A sentence's score is 1 minus the geometric mean of its specifics' supports, each at least `floor`, or 1 minus the
    smallest support. A date that says more than its year counts twice in the geometric mean, as the date and as the
    year: the right year with a wrong day is not all invented.

    Args:
        output: The judged text with its sentences.
        samples: The same asked again, with their sentences.
        question: What was asked; what it says is no evidence and is left out.
        combine: "geometric" or "min".
        floor: Least support in the geometric mean, above 0 and below 1.

    Returns:
        One for each of `output.sentences`.

    Raises:
        ValueError: There are no samples, or an argument is out of range.

    Example:
        >>> from opik_checkembed.functional.text_facts import text_facts
        >>> output = text_facts("She was born in Warsaw in 1867.", sentences=[(0, 31)])
        >>> others = [text_facts("Born in Warsaw in 1867."), text_facts("Warsaw, 1868.")]
        >>> [str(fact) for fact in fact_recurrence(output, others)[0].facts]
        ['"Warsaw" in 2 of 2 samples', '"1867" in 1 of 2 samples']
    """
    if not samples:
        raise ValueError("there are no samples to hold the text against")
    if combine not in get_args(Combine):
        raise ValueError(f"combine must be 'geometric' or 'min', not {combine!r}")
    if not 0 < floor < 1:
        raise ValueError(f"floor must lie between 0 and 1, not {floor!r}")
    found, known = _by_sentence(output, question)
    # The same name in a hundred sentences is looked for once.
    index = FactIndex(samples)
    holding = {needs: index.holders(needs) for needs in {needs for facts in found for _, needs in facts}}
    held = [[holding[needs] for _, needs in facts] for facts in found]
    lacking = _lacking(held, len(samples))
    asked = frozenset[str]() if question is None else question.states
    nearest, instead = _in_place(output, samples, found, lacking, asked)
    results = []
    for facts, holders, shares, spans, already in zip(
        found, held, _shares(lacking, found), nearest, known, strict=True
    ):
        supports = tuple(
            FactSupport(*one[:4], len(of) / len(samples), of, next(instead), _with_year(one, needs, index))
            for (one, needs), of in zip(facts, holders, strict=True)
        )
        results.append(SentenceFacts(supports, _score(supports, len(samples), combine, floor), shares, spans, already))
    return results


def _score(supports: Sequence[FactSupport], samples: int, combine: Combine, floor: float) -> float | None:
    if not supports:
        return None
    if combine == "min":
        return 1 - min(fact.support for fact in supports)
    shares = [fact.support for fact in supports] + [fact.year / samples for fact in supports if fact.year is not None]
    return 1 - math.exp(math.fsum(math.log(max(share, floor)) for share in shares) / len(shares))


def _lacking(held: Sequence[Sequence[Sequence[int]]], samples: int) -> NDArray[np.bool_]:
    """Which samples lack which specific, those of all sentences one after the other; shape (specifics, samples)."""
    holders = list(chain.from_iterable(held))
    lacking = np.ones((len(holders), samples), dtype=np.bool_)
    rows = np.repeat(np.arange(len(holders)), list(map(len, holders)))
    lacking[rows, np.fromiter(chain.from_iterable(holders), dtype=np.intp)] = False
    return lacking


def _shares(lacking: NDArray[np.bool_], found: Sequence[Sequence[_Needed]]) -> list[tuple[float, ...]]:
    """For each sentence and sample the share of the sentence's specifics that it lacks; empty without specifics."""
    sizes = np.array(list(map(len, found)), dtype=np.intp)
    held = np.zeros((len(lacking) + 1, lacking.shape[1]), dtype=np.intp)
    np.cumsum(~lacking, axis=0, out=held[1:])
    ends = sizes.cumsum()
    shares = 1 - (held[ends] - held[ends - sizes]) / np.maximum(sizes, 1)[:, None]
    return [tuple(row) if size else () for row, size in zip(shares.tolist(), sizes.tolist(), strict=True)]


_Needed = tuple[Specific, frozenset[str]]


def _by_sentence(output: TextFacts, question: TextFacts | None) -> tuple[list[list[_Needed]], list[int]]:
    """The specifics of each sentence, each once, with what supports it; and how many the question already has."""
    found: list[list[_Needed]] = [[] for _ in output.sentences]
    seen: list[set[frozenset[str]]] = [set() for _ in output.sentences]
    known = [0] * len(output.sentences)
    place = 0
    for at, one in enumerate(output.specifics):
        while place < len(output.sentences) and output.sentences[place][1] <= one.start:
            place += 1
        if place == len(output.sentences) or one.start < output.sentences[place][0]:
            continue
        longer = output.longer.get(at)
        needs = one.needs if longer is None else longer.needs
        if question is not None and question.holds(needs):
            known[place] += 1
        elif needs not in seen[place]:
            seen[place].add(needs)
            found[place].append((one, needs))
    return found, known


def _with_year(one: Specific, needs: frozenset[str], index: FactIndex) -> int | None:
    """For a date within one year, how many samples have it or at least its year."""
    years = _years(one.states) if one.kind == "date" else frozenset()
    if len(years) != 1 or not years.isdisjoint(needs):
        return None
    return len(index.holders(needs | years))


@lru_cache(maxsize=4096)
def _years(states: frozenset[str]) -> frozenset[str]:
    """The keys of years without a day or month."""
    return frozenset(key for key in states if key[-2:] == "--" and _YEAR.fullmatch(key))


_YEAR = re.compile(r"d:-?\d+--")


def _in_place(
    output: TextFacts,
    samples: Sequence[TextFacts],
    found: Sequence[Sequence[_Needed]],
    lacking: NDArray[np.bool_],
    asked: frozenset[str],
) -> tuple[list[tuple[tuple[int, int] | None, ...]], Iterator[tuple[tuple[str, int], ...]]]:
    """For each sentence where the samples' sentences are that are most like it; for each specific what these say.

    A sentence with nothing that a sample lacks is held against none.
    """
    words = numbered([text.words for text in (output, *samples)])
    ours, *theirs = map(_sentence_words, (output, *samples), words)
    of_sentence = np.repeat(np.arange(len(found)), list(map(len, found)))
    wanted = np.unique(of_sentence[lacking.any(axis=1)])
    nearest = np.full((len(found), len(samples)), -1, dtype=np.intp)
    nearest[wanted] = nearest_by_words(ours.at(wanted), theirs)
    specifics = [one for facts in found for one, _ in facts]
    judged = Judged(output, specifics, of_sentence, lacking, nearest, asked)
    spans = [
        tuple(None if at < 0 else sample.sentences[at] for sample, at in zip(samples, row, strict=True))
        for row in nearest.tolist()
    ]
    return spans, alternatives(judged, samples, words)


def _sentence_words(text: TextFacts, words: NDArray[np.intp]) -> SentenceWords:
    before = text.before
    starts, ends = ([before[sentence[side]] for sentence in text.sentences] for side in (0, 1))
    return SentenceWords(words, np.array(starts, dtype=np.intp), np.array(ends, dtype=np.intp))
