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
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from opik_checkembed.functional.specifics import Kind, Specific, specifics, words_of

Combine = Literal["geometric", "min"]

FLOOR = 0.05
"""A specific that no sample holds counts as this much support in the geometric mean, which it would else make zero."""


@dataclass(frozen=True)
class FactSupport:
    """One specific of the judged answer.

    Attributes:
        start: Where it begins in the answer, in characters.
        end: Where it ends.
        text: As it is written.
        kind: "number", "date", "name", "title", "identifier" or "url".
        support: Share of the samples that hold an equal one, 0 to 1.
        samples: Which samples hold it, counted from 0.
        instead: What the other samples say in its place, with how many of them, the most frequent first.
    """

    start: int
    end: int
    text: str
    kind: Kind
    support: float
    samples: tuple[int, ...]
    instead: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        """In words, for example '"1898" in 1 of 10 samples; others say 1893 (6), 1890 (3)'."""
        total = round(len(self.samples) / self.support) if self.support else None
        held = f"in {len(self.samples)} of {total} samples" if total else "in no sample"
        said = ", ".join(f"{text} ({count})" for text, count in self.instead[:3])
        return f'"{_line(self.text)}" {held}' + (f"; others say {said}" if said else "")

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
        }


@dataclass(frozen=True)
class SentenceFacts:
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


@dataclass(frozen=True)
class TextFacts:
    """A text as others are held against it.

    Args:
        text: The text.
        specifics: Its specifics, in order.
        sentences: Where its sentences are.
    """

    text: str
    specifics: tuple[Specific, ...]
    sentences: tuple[tuple[int, int], ...] = ()

    @cached_property
    def states(self) -> frozenset[str]:
        """Every key that it states. A short name that stands for a long one of the same text states that one only."""
        longer = self.longer
        return frozenset().union(
            *(
                one.states if at not in longer else frozenset().union(*(self.specifics[i].states for i in longer[at]))
                for at, one in enumerate(self.specifics)
            )
        )

    @cached_property
    def longer(self) -> Mapping[int, Sequence[int]]:
        """For a short name that ends longer ones of this text ("Curie" beside "Marie Curie"), which those are."""
        ends: dict[str, list[int]] = {}
        for at, one in enumerate(self.specifics):
            for key in one.states:
                if key.startswith("tail:"):
                    ends.setdefault(key[5:], []).append(at)
        if not ends:
            return {}
        found = {}
        for at, one in enumerate(self.specifics):
            if one.kind == "name":
                own = [key[5:] for key in one.states if key.startswith("name:")]
                of = [i for name in own for i in ends.get(name, ()) if i != at]
                if of:
                    found[at] = of
        return found

    @cached_property
    def words(self) -> str:
        """Its folded words, each between spaces."""
        return f" {words_of(self.text)} "

    @cached_property
    def loose(self) -> frozenset[str]:
        """Its folded words outside names."""
        pieces, done = [], 0
        for one in self.specifics:
            if one.kind == "name":
                pieces.append(self.text[done : one.start])
                done = one.end
        pieces.append(self.text[done:])
        return frozenset(words_of(" ".join(pieces)).split())

    @cached_property
    def by_sentence(self) -> Mapping[tuple[int, int], Sequence[_Told]]:
        """The specifics of each of its sentences."""
        found: dict[tuple[int, int], list[_Told]] = {}
        at = 0
        for span in self.sentences:
            while at < len(self.specifics) and self.specifics[at].start < span[0]:
                at += 1
            told = found[span] = []
            while at < len(self.specifics) and self.specifics[at].start < span[1]:
                told.append(_told(self.specifics[at], self.text))
                at += 1
        return found

    def holds(self, needs: frozenset[str]) -> bool:
        """Whether it states one of these keys, or has the words of a name or title without its capitals or marks."""
        if not needs.isdisjoint(self.states):
            return True
        for key in needs:
            kind, _, words = key.partition(":")
            if kind == "w" and " " not in words:
                # A name of one word may be somebody else's within a longer name.
                if words in self.loose:
                    return True
            elif kind == "w" or (kind == "q" and " " in words):
                if f" {words} " in self.words:
                    return True
            elif kind == "both" and all(part in self.states for part in words.split("&")):
                return True
        return False


def text_facts(
    text: str,
    language: str = "en",
    sentences: Sequence[tuple[int, int]] = (),
    *,
    names: Sequence[tuple[int, int]] | None = None,
) -> TextFacts:
    """The specifics of a text, found by rules.

    Args:
        text: The text.
        language: ISO 639-1 code; see `specifics`.
        sentences: Where its sentences begin and end, to say what it has in place of something else.
        names: Where its names are, if something better than rules has found them.
    """
    return TextFacts(text, tuple(specifics(text, language, names=names)), tuple(sentences))


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
    smallest support.

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
    asked = frozenset() if question is None else question.states
    held = [[_holders(needs, samples) for _, needs in facts] for facts in found]
    nearest = _nearest(output, samples, [any(len(h) < len(samples) for h in of) for of in held])
    results = []
    for at, (facts, holders) in enumerate(zip(found, held, strict=True)):
        stated = frozenset().union(asked, *(fact.states for fact, _ in facts))
        supports = [
            FactSupport(
                one.start,
                one.end,
                one.text,
                one.kind,
                len(of) / len(samples),
                tuple(of),
                _instead(one, stated, samples, set(of), nearest[at], output.text),
            )
            for (one, _), of in zip(facts, holders, strict=True)
        ]
        lacking = (
            tuple(
                1 - sum(sample in fact.samples for fact in supports) / len(supports) for sample in range(len(samples))
            )
            if supports
            else ()
        )
        results.append(
            SentenceFacts(tuple(supports), _score(supports, combine, floor), lacking, tuple(nearest[at]), known[at])
        )
    return results


def _score(supports: Sequence[FactSupport], combine: Combine, floor: float) -> float | None:
    if not supports:
        return None
    if combine == "min":
        return 1 - min(fact.support for fact in supports)
    return 1 - math.exp(math.fsum(math.log(max(fact.support, floor)) for fact in supports) / len(supports))


_Needed = tuple[Specific, frozenset[str]]


def _by_sentence(output: TextFacts, question: TextFacts | None) -> tuple[list[list[_Needed]], list[int]]:
    """The specifics of each sentence, each once, with what supports it; and how many the question already has."""
    found: list[list[_Needed]] = [[] for _ in output.sentences]
    known = [0] * len(output.sentences)
    place = 0
    for at, one in enumerate(output.specifics):
        while place < len(output.sentences) and output.sentences[place][1] <= one.start:
            place += 1
        if place == len(output.sentences) or one.start < output.sentences[place][0]:
            continue
        of = output.longer.get(at)
        needs = one.needs if of is None else frozenset().union(*(output.specifics[i].needs for i in of))
        if question is not None and question.holds(needs):
            known[place] += 1
        elif all(needs != earlier for _, earlier in found[place]):
            found[place].append((one, needs))
    return found, known


def _holders(needs: frozenset[str], samples: Sequence[TextFacts]) -> list[int]:
    return [at for at, sample in enumerate(samples) if sample.holds(needs)]


# --- what the samples say instead ---------------------------------------------------------------------------

_TOKEN = re.compile(r"\w+")


def _nearest(
    output: TextFacts, samples: Sequence[TextFacts], wanted: Sequence[bool]
) -> list[list[tuple[int, int] | None]]:
    """For each sentence of the output and each sample, the sentence of the sample that shares most words with it."""
    empty: list[tuple[int, int] | None] = [None] * len(samples)
    rows = [at for at, want in enumerate(wanted) if want]
    places = [(at, span) for at, sample in enumerate(samples) for span in sample.sentences]
    if not rows or not places:
        return [empty] * len(wanted)
    ours = [_tokens(output.text[slice(*output.sentences[at])]) for at in rows]
    theirs = [_tokens(samples[at].text[slice(*span)]) for at, span in places]
    overlap = _overlap(ours, theirs)
    starts = np.searchsorted([at for at, _ in places], range(len(samples) + 1))
    found: list[list[tuple[int, int] | None]] = [empty] * len(wanted)
    for row, at in zip(overlap, rows, strict=True):
        best: list[tuple[int, int] | None] = []
        for first, last in pairwise(starts.tolist()):
            top = first + int(row[first:last].argmax()) if last > first else -1
            best.append(places[top][1] if top >= 0 and row[top] > 0 else None)
        found[at] = best
    return found


def _tokens(text: str) -> set[str]:
    return set(_TOKEN.findall(text.casefold()))


def _overlap(ours: Sequence[set[str]], theirs: Sequence[set[str]]) -> NDArray[np.float32]:
    """Cosine of word sets, rare words counting more; shape (ours, theirs)."""
    counts = Counter(word for words in (*ours, *theirs) for word in words)
    column = {word: i for i, word in enumerate(counts)}
    total = len(ours) + len(theirs)
    weight = np.array([math.log((1 + total) / n) for n in counts.values()], dtype=np.float32)

    def matrix(sets: Sequence[set[str]]) -> NDArray[np.float32]:
        rows = np.zeros((len(sets), len(column)), dtype=np.float32)
        for row, words in zip(rows, sets, strict=True):
            places = [column[word] for word in words]
            row[places] = weight[places]
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return rows

    found: NDArray[np.float32] = matrix(ours) @ matrix(theirs).T
    return found


class _Told(NamedTuple):
    """A specific of a sample with what tells which of them stands in another's place."""

    specific: Specific
    shape: frozenset[str]
    before: frozenset[str]
    after: frozenset[str]

    def fits(self, other: _Told) -> int:
        """How many of the words around the two are the same; those before count twice."""
        return 2 * len(self.before & other.before) + len(self.after & other.after)


def _told(one: Specific, text: str) -> _Told:
    before = _TOKEN.findall(text[max(0, one.start - 40) : one.start].casefold())
    after = _TOKEN.findall(text[one.end : one.end + 30].casefold())
    # Amounts of one unit can stand for each other, and dates that say as much.
    comparable = one.kind in {"number", "date"}
    shape = frozenset(_FIGURES.sub("0", key) for key in one.needs) if comparable else frozenset()
    return _Told(one, shape, frozenset(before[-3:]), frozenset(after[:2]))


_FIGURES = re.compile(r"\d+(?:\.\d+)?")


def _instead(
    one: Specific,
    stated: frozenset[str],
    samples: Sequence[TextFacts],
    holders: set[int],
    nearest: Sequence[tuple[int, int] | None],
    text: str,
) -> tuple[tuple[str, int], ...]:
    """What the samples that lack a specific have in its place: of the same kind, in their nearest sentence."""
    counts: Counter[frozenset[str]] = Counter()
    shown: dict[frozenset[str], str] = {}
    own = _told(one, text)
    for at, (sample, span) in enumerate(zip(samples, nearest, strict=True)):
        if at in holders or span is None:
            continue
        rivals = [
            told
            for told in sample.by_sentence[span]
            if told.specific.kind == one.kind and told.shape == own.shape and told.specific.needs.isdisjoint(stated)
        ]
        if rivals:
            best = max(rivals, key=own.fits).specific
            counts[best.needs] += 1
            shown.setdefault(best.needs, _line(best.text))
    return tuple((shown[key], count) for key, count in counts.most_common(5))


def _line(text: str) -> str:
    return " ".join(text.split())
