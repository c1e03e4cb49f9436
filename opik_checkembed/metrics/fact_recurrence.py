"""Fact recurrence as an Opik metric: do the answer's names and numbers come back when the model is asked again?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.fact_recurrence import FLOOR, Combine, SentenceFacts, fact_recurrence
from opik_checkembed.functional.selfcheck import Aggregate, Passage, SentenceScore
from opik_checkembed.functional.text_facts import TextFacts, text_facts
from opik_checkembed.language import bare_language
from opik_checkembed.metrics.selfcheck import Checked, SelfCheckMetric
from opik_checkembed.samples.request import Fields, asked_text
from opik_checkembed.spacy_text import SpacyEntities
from opik_checkembed.splitters import Sentence, sentences_of

if TYPE_CHECKING:
    from opik.evaluation.models import OpikBaseModel


class FactRecurrenceMetric(SelfCheckMetric):
    """How far an answer's names, numbers and dates fail to recur in its samples: 0 consistent, 1 hallucinated.

    A model that knows something repeats its specifics; one that invents them invents others. The checkable specifics
    of each sentence (numbers with their units, dates and times, names, quoted titles, identifiers, addresses) are found
    by rules, and each one's support is the share of samples that hold an equal one: 3 May 1820 is May 3, 1820; $3.5m is
    3.5 million dollars; "Curie" supports "Marie Curie". What the question already says is no evidence and is left out.
    A sentence scores 1 minus the geometric mean of its supports, or 1 minus the smallest; the answer scores the mean of
    its sentences, or the worst one. In the mean a sentence of n specifics weighs log(1 + n): more of them say more, but
    they stand and fall together.

    No model, microseconds, and it says what to look at: the evidence holds for each specific its span, its support, the
    samples that hold it, and what the others say instead.

    An answer without specifics (how a starfish moves) cannot be judged this way: it is `scoring_failed` and says so;
    single sentences without any are left out and counted. A model that repeats the same wrong fact is consistent.

    Languages: English, German, French and Spanish in full; numbers, dates, quotations and words in Latin letters in
    Chinese, Japanese (with Katakana), Arabic and Hindi; what all share in others. See `specifics`.

    Source: this package's own; the consistency of Manakul et al., "SelfCheckGPT" (EMNLP 2023), read off the specifics.

    Args:
        model: See `SelfCheckMetric`.
        name: The score's name.
        combine: "geometric" or "min" over the specifics of a sentence.
        floor: The least support in the geometric mean, above 0 and below 1.
        entities: A spaCy pipeline with an entity recogniser (a name, folder or `Language`), whose names take the place
            of those that rules find; None for the rules.
        aggregate: "mean" (weighted, see above) or "max".
        language: ISO 639-1 code of the answers, with a region or without.
        min_tokens: Shorter sentences are left out; 1 reads also list items of a single word.
        **checking: `splitter` and what samples take; see `SelfCheckMetric`.

    Raises:
        ConfigurationError: An argument cannot work; says what to do.

    Example:
        >>> metric = FactRecurrenceMetric(store=None, track=False)
        >>> samples = ["She was born in Oslo in 1901.", "Born in Oslo in 1903.", "In Oslo, in 1903."]
        >>> score = metric.score(output="She was born in Oslo in 1898.", samples=samples)
        >>> round(score.value, 3), score.metadata["evidence"]["sentences"][0]["detail"]["facts"][1]["instead"]
        (0.776, [['1903', 2], ['1901', 1]])
    """

    default_name: ClassVar[str] = "fact_recurrence"

    def __init__(
        self,
        model: str | OpikBaseModel | None = None,
        name: str | None = None,
        *,
        combine: Combine = "geometric",
        floor: float = FLOOR,
        entities: Any = None,
        aggregate: Aggregate = "mean",
        language: str = "en",
        min_tokens: int = 1,
        **checking: Any,
    ) -> None:
        if combine not in get_args(Combine):
            raise ConfigurationError(f"combine must be 'geometric' or 'min', not {combine!r}")
        if isinstance(floor, bool) or not isinstance(floor, int | float) or not 0 < floor < 1:
            raise ConfigurationError(f"floor must be a number above 0 and below 1, not {floor!r}")
        self.combine: Combine = combine
        self.floor = float(floor)
        self.language = bare_language(language)
        self.entities = None if entities is None else SpacyEntities(entities)
        super().__init__(model, name, aggregate=aggregate, language=language, min_tokens=min_tokens, **checking)

    def check(self, output: str, sentences: Sequence[Sentence], samples: Sequence[str], fields: Fields) -> Checked:
        """See `SelfCheckMetric.check`."""
        asked = asked_text(fields)
        found = fact_recurrence(
            self._facts(output, sentences),
            [self._facts(sample, sentences_of(self.splitter, sample)) for sample in samples],
            question=self._facts(asked, ()) if asked else None,
            combine=self.combine,
            floor=self.floor,
        )
        known = sum(of.known for of in found)
        left_out = "1 specific was" if known == 1 else f"{known} specifics were"
        notes = [f"{left_out} left out because the question says so"] if known else []
        scored = tuple(map(_scored, sentences, found, [output] * len(found), [samples] * len(found)))
        return Checked(scored, (*_least(found), *notes))

    def why(self, worst: SentenceScore) -> str:
        """The specific with the least support, and what the samples say instead."""
        return str(worst.detail["worst"])

    def _facts(self, text: str, sentences: Sequence[Sentence]) -> TextFacts:
        names = None if self.entities is None else self.entities.names(text)
        return text_facts(text, self.language, [(s.start, s.end) for s in sentences], names=names)


def _least(found: Sequence[SentenceFacts]) -> list[str]:
    """The specific with the least support, where it stands outside the sentence that scores worst."""
    scored = [(of.score, place, of.worst) for place, of in enumerate(found, 1) if of.score is not None and of.worst]
    if not scored:
        return []
    _, _, told = max(scored, key=lambda one: one[0])
    _, place, least = min(scored, key=lambda one: one[2].support)
    return [f"least of all came back {least} (sentence {place})"] if least.support < told.support else []


def _scored(sentence: Sentence, found: SentenceFacts, output: str, samples: Sequence[str]) -> SentenceScore:
    text = sentence.of(output)
    detail: dict[str, Any] = {"facts": [fact.to_dict() for fact in found.facts], "known": found.known}
    if found.worst is None or found.score is None:
        if found.known:
            unscored = "it holds no specifics but those of the question"
        else:
            unscored = "it holds no name, number, date or other specific to look for"
        return SentenceScore(text, sentence.start, sentence.end, None, detail={**detail, "unscored": unscored})
    detail["worst"] = str(found.worst)
    shares = list(enumerate(found.per_sample))
    against, support = max(shares, key=lambda one: (one[1], -one[0])), min(shares, key=lambda one: one[1])
    return SentenceScore(
        text,
        sentence.start,
        sentence.end,
        found.score,
        found.per_sample,
        against=_passage(against, found, samples),
        support=_passage(support, found, samples),
        detail=detail,
        weight=math.log1p(len(found.facts)),
    )


def _passage(share: tuple[int, float], found: SentenceFacts, samples: Sequence[str]) -> Passage | None:
    """The sentence of a sample that is nearest to a sentence of the output; None where none is near."""
    sample, score = share
    span = found.nearest[sample]
    return None if span is None else Passage(sample, *span, samples[sample][slice(*span)], score)
