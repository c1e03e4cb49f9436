"""What fact recurrence costs, from texts to evidence, and how that grows with their length."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from opik_checkembed.benchmarks.wikibio import BioPassage
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.fact_recurrence import fact_recurrence
from opik_checkembed.functional.text_facts import text_facts
from opik_checkembed.splitters import RuleSplitter

SENTENCES, SAMPLES, WORDS = 200, 20, 300
TARGET_MS = 100.0


@dataclass(frozen=True)
class Spent:
    """Milliseconds of one core that fact recurrence took over one answer.

    Attributes:
        characters: Of the answer and its samples.
        splitting: To find the sentences.
        finding: To find their specifics.
        comparing: To find which recur, and what samples say instead.
    """

    characters: int
    splitting: float
    finding: float
    comparing: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.splitting + self.finding + self.comparing


def recurrence_times(
    passages: Sequence[BioPassage], *, sentences: int = SENTENCES, words: int = WORDS, rounds: int = 8, seed: int = 0
) -> list[Spent]:
    """Milliseconds of fact recurrence for an answer of so many sentences and 20 samples of so many words.

    Answers and samples are put together from the sentences of passages' samples. Each round has passages of its own, so
    that no name is known from the round before; it is processor time, which other programs change less than wall time.

    Args:
        passages: Where the sentences come from.
        sentences: Of the answer.
        words: Of each sample, at least.
        rounds: Answers, after one that is not timed.
        seed: Of the choice.

    Raises:
        ConfigurationError: There are fewer passages than rounds.
    """
    if len(passages) <= rounds:
        raise ConfigurationError(f"{rounds} rounds need more than {rounds} passages, not {len(passages)}")
    share = len(passages) // (rounds + 1)
    parts = [passages[first : first + share] for first in range(0, share * (rounds + 1), share)]
    return [_spent(*_texts(part, sentences, words, random.Random(seed))) for part in parts][1:]


def _texts(passages: Sequence[BioPassage], sentences: int, words: int, chance: random.Random) -> tuple[str, list[str]]:
    splitter = RuleSplitter()
    pool = [s.of(text) for passage in passages for text in passage.samples for s in splitter.split(text)]

    def sample() -> str:
        found: list[str] = []
        length = 0
        while length < words:
            found.append(chance.choice(pool))
            length += len(found[-1].split())
        return " ".join(found)

    return " ".join(chance.choices(pool, k=sentences)), [sample() for _ in range(SAMPLES)]


def _spent(output: str, samples: Sequence[str]) -> Spent:
    splitter = RuleSplitter()
    texts = [output, *samples]
    at = [time.process_time()]
    split = [[(s.start, s.end) for s in splitter.split(text)] for text in texts]
    at.append(time.process_time())
    told, *others = (text_facts(text, "en", spans) for text, spans in zip(texts, split, strict=True))
    at.append(time.process_time())
    fact_recurrence(told, others)
    at.append(time.process_time())
    splitting, finding, comparing = (1000 * (end - start) for start, end in pairwise(at))
    return Spent(sum(map(len, texts)), splitting, finding, comparing)
