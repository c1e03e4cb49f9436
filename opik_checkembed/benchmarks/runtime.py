"""How long the methods take, as texts grow longer and samples more: ours, selfcheckgpt's, and the bare forward pass.

All sides run in one process on the same models and give the same scores; loading is timed apart for each. The sides
are those of the CheckEmbed paper's Figure 6 (texts of 200 to 4,000 tokens, 2 to 10 samples).
"""

from __future__ import annotations

import random
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from opik_checkembed.benchmarks.timing import timed
from opik_checkembed.demo import load_recording
from opik_checkembed.splitters import Sentence, SentenceSplitter

TOLERANCE = 1e-4
"""How far a sentence's scores of two sides may lie apart to count as equal."""


@dataclass(frozen=True)
class Workload:
    """One judged text and its samples.

    Attributes:
        tokens: About how many tokens (words and marks) each text has.
        output: The judged text.
        sentences: Its sentences.
        samples: The texts it is compared with.
    """

    tokens: int
    output: str
    sentences: tuple[Sentence, ...]
    samples: tuple[str, ...]


def workload(tokens: int, samples: int, splitter: SentenceSplitter, seed: int = 0) -> Workload:
    """Texts of about this many tokens, put together from the recorded answers.

    A word of each sentence is replaced by another one, so that no sentence occurs twice: with repeats, whoever
    computes each distinct sentence once would look faster than on real answers.
    """
    chance = random.Random(seed)
    recording = load_recording()
    pool = [
        sentence.of(text)
        for item, drawn in zip(recording.items, recording.samples, strict=True)
        for text in (item["output"], *drawn)
        for sentence in splitter.split(text)
        if sentence.tokens > 8
    ]
    words = sorted({word for sentence in pool for word in re.findall(r"[a-z]{4,}", sentence)})

    def text() -> str:
        found: list[str] = []
        length = 0
        while length < tokens:
            sentence = chance.choice(pool)
            places = list(re.finditer(r"\b[a-z]{4,}\b", sentence))
            if not places:
                continue
            place = chance.choice(places)
            found.append(sentence[: place.start()] + chance.choice(words) + sentence[place.end() :])
            length += len(re.findall(r"\w+|[^\w\s]", found[-1]))
        return " ".join(" ".join(found).split())

    output = text()
    return Workload(tokens, output, tuple(splitter.split(output)), tuple(text() for _ in range(samples)))


class Contender(Protocol):
    """A method with its sides.

    Attributes:
        name: In the table.
        model: What it runs on, in the table.
        ours_load_s: Seconds our side took to load its model.
    """

    name: str
    model: str
    ours_load_s: float

    def ours(self, work: Workload) -> Sequence[float]:
        """Our sentence scores (for methods that score texts as wholes, the one score), nothing kept from before."""
        ...

    def reference(self, work: Workload) -> Reading | None:
        """What the reference gave; None where it has no such method."""
        ...

    def floor(self, work: Workload) -> Callable[[], object] | None:
        """The bare forward pass over the distinct inputs, prepared; None where there is no model."""
        ...


@dataclass(frozen=True)
class Reading:
    """What the reference gave.

    Attributes:
        scores: For each sentence; None where they are of something else than ours, and only the time is compared.
        load_s: Seconds of it spent loading models, or on what is to be timed apart.
        note: What a reader of the table must know.
    """

    scores: Sequence[float] | None
    load_s: float
    note: str = ""


@dataclass(frozen=True)
class Cell:
    """One method on one workload; seconds are medians over the rounds, loading left out.

    Attributes:
        method: The method's name.
        model: What it ran on.
        tokens: Tokens of each text.
        samples: How many samples.
        ours_s: Ours.
        floor_s: The bare forward pass; None where there is no model.
        reference_s: selfcheckgpt's; None where it has no such method, or was left out.
        speedup: Median over the rounds of the reference's time divided by ours.
        overhead: Median over the rounds of our time divided by the floor's.
        difference: Largest difference between our scores and the reference's; None where they are not compared.
        ours_load_s: Seconds our model took to load, once.
        reference_load_s: Seconds the reference spent loading, or on what is timed apart, in each round.
        note: Why something is missing, or what else to know.
    """

    method: str
    model: str
    tokens: int
    samples: int
    ours_s: float
    floor_s: float | None
    reference_s: float | None
    speedup: float | None
    overhead: float | None
    difference: float | None
    ours_load_s: float
    reference_load_s: float | None
    note: str = ""


def runtime(
    contenders: Sequence[Contender],
    works: Sequence[Workload],
    *,
    rounds: int = 3,
    patience_s: float = 120.0,
    progress: Callable[[Cell], None] | None = None,
) -> list[Cell]:
    """Time every method on every workload.

    Args:
        contenders: The methods.
        works: From the smallest.
        rounds: Times each side runs, in alternating order, after one untimed run of ours.
        patience_s: A reference that took longer than this is left out of larger workloads, which the cell says.
        progress: Called with each cell.
    """
    cells = []
    for contender in contenders:
        over = ""
        for work in works:
            cell = _cell(contender, work, rounds, over)
            if cell.reference_s is not None and cell.reference_s + (cell.reference_load_s or 0.0) > patience_s:
                over = f"selfcheckgpt left out: it took {cell.reference_s:.0f} s for less"
            cells.append(cell)
            if progress is not None:
                progress(cell)
    return cells


def _cell(contender: Contender, work: Workload, rounds: int, over: str) -> Cell:
    floor = contender.floor(work)
    scores = contender.ours(work)
    readings: list[Reading] = []

    def reference() -> None:
        reading = contender.reference(work)
        if reading is not None:
            readings.append(reading)

    sides: dict[str, Callable[[], object]] = {"ours": lambda: contender.ours(work)}
    if floor is not None:
        floor()
        sides["floor"] = floor
    if not over:
        sides["reference"] = reference
    seconds = {name: list(took) for name, took in _rounds(sides, rounds).items()}
    if not readings:
        seconds.pop("reference", None)
    else:
        seconds["reference"] = [
            total - reading.load_s for total, reading in zip(seconds["reference"], readings, strict=True)
        ]
    theirs = readings[0].scores if readings else None
    note = over or (readings[0].note if readings else "")
    none = theirs is not None and len(scores) == len(theirs) == 0
    if none and not note:
        note = "no sentence of this text got a score, so none are compared"
    return Cell(
        method=contender.name,
        model=contender.model,
        tokens=work.tokens,
        samples=len(work.samples),
        ours_s=statistics.median(seconds["ours"]),
        floor_s=_median(seconds.get("floor")),
        reference_s=_median(seconds.get("reference")),
        speedup=_ratio(seconds.get("reference"), seconds["ours"]),
        overhead=_ratio(seconds["ours"], seconds.get("floor")),
        difference=None if theirs is None or none else _difference(scores, theirs),
        ours_load_s=contender.ours_load_s,
        reference_load_s=_median([reading.load_s for reading in readings]),
        note=note,
    )


def _rounds(sides: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Every side once a round, in turn from the first and from the last, so that drift hits all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds):
        for name in list(sides) if number % 2 == 0 else reversed(list(sides)):
            seconds[name].append(timed(sides[name]))
    return seconds


def _median(seconds: Sequence[float] | None) -> float | None:
    return statistics.median(seconds) if seconds else None


def _ratio(above: Sequence[float] | None, below: Sequence[float] | None) -> float | None:
    if not above or not below:
        return None
    return statistics.median(a / b for a, b in zip(above, below, strict=True))


def _difference(ours: Sequence[float], theirs: Sequence[float]) -> float:
    return max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
