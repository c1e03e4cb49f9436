"""What a claim says that its source does not: specifics that occur nowhere in it, and wording stronger than its own.

Two guards that stand beside a verdict and are never mixed into it. Both are rules, so that every finding can be
explained by pointing at the texts, and equal texts get equal findings:

- `unsupported_specifics`: numbers, dates, names, units, quotations, identifiers and addresses of the claim that do not
  occur in the source. They are found and compared as in `fact_recurrence`.
- `absolute_wording`: words such as only, first, always, impossible, caused, enabled and proved where the source does
  not say so.

Neither says that a claim is false: a sum that the answer computed occurs in no source. Nor does an empty list say that
it is supported: "5" may stand in the source for something else.

Source: this package's own measure.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, Literal, NamedTuple

from opik_checkembed.functional.absolute_words import STRONG_WORDS, Family, Strength
from opik_checkembed.functional.specifics import Specific, words_of
from opik_checkembed.functional.text_facts import TextFacts, text_facts
from opik_checkembed.language import bare_language

SpecificKind = Literal["number", "unit", "date", "name", "quotation", "identifier", "url"]
"""What a specific is; a "unit" is a number that the source has with another unit only."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a claim that its source does not have.

    Attributes:
        kind: Of a specific "number", "unit", "date", "name", "quotation", "identifier" or "url"; of wording
            "absolute", "superlative", "causal" or "certainty".
        start: Where it begins in the claim, in characters.
        end: Where it ends.
        text: As it is written.
        asked: Whether the question says it: then the answer repeats what the source lacks, and did not invent it.
    """

    kind: SpecificKind | Strength
    start: int
    end: int
    text: str
    asked: bool = False

    @property
    def span(self) -> tuple[int, int]:
        """Where it begins and ends."""
        return self.start, self.end

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return asdict(self)


@dataclass(frozen=True)
class SourceFacts:
    """A source as claims are held against it; read once, however many claims there are.

    Args:
        passages: The source's texts, which count as one.
        language: ISO 639-1 code of source and claims; see `specifics`.
        known: What was asked: specifics that it has need no support of the source; see `lacking`.

    Example:
        >>> source = SourceFacts(["The bridge is 5 km long. Rain may have caused the delay."])
        >>> [(one.kind, one.text) for one in source.lacking("The bridge in Oslo is 5 miles long.")]
        [('name', 'Oslo'), ('unit', '5 miles')]
        >>> [(one.kind, one.text) for one in source.stronger("Rain caused the delay.")]
        [('causal', 'caused')]
    """

    passages: tuple[str, ...]
    language: str = "en"
    known: str = ""

    def __init__(self, passages: Sequence[str] | str, *, language: str = "en", known: str = "") -> None:
        object.__setattr__(self, "passages", (passages,) if isinstance(passages, str) else tuple(passages))
        object.__setattr__(self, "language", bare_language(language))
        object.__setattr__(self, "known", known)

    def lacking(self, claim: str, *, with_asked: bool = False) -> list[Finding]:
        """The specifics of a claim that do not occur in the source; see `unsupported_specifics`.

        Args:
            claim: A statement.
            with_asked: Whether to list, as `asked`, those too that the question has and the source has not: a false
                premise that the answer repeats is among them.

        Example:
            >>> source = SourceFacts("The bridge is in Oslo.", known="When did Eiffel build the bridge?")
            >>> source.lacking("Eiffel built it.")
            []
            >>> [(one.text, one.asked) for one in source.lacking("Eiffel built it in 1889.", with_asked=True)]
            [('Eiffel', True), ('1889', False)]
        """
        facts = text_facts(claim, self.language)
        found = []
        seen: set[frozenset[str]] = set()
        for place, one in enumerate(facts.specifics):
            longer = facts.longer.get(place)
            needs = one.needs if longer is None else longer.needs
            if needs in seen or self._source.has(one, needs):
                continue
            asked = self._question.has(one, needs)
            if asked and not with_asked:
                continue
            seen.add(needs)
            found.append(Finding(self._kind(one, asked=asked), one.start, one.end, one.text, asked))
        return found

    def stronger(self, claim: str) -> list[Finding] | None:
        """The words of a claim that are stronger than the source's; see `absolute_wording`.

        None for a language whose words are not known: nothing was looked for.
        """
        words = _strong(self.language)
        if words is None:
            return None
        text = _Reading(words, _folded(claim))
        strong = [one for one in text.claimed() if text.is_said(one)]
        if not strong:
            return []
        said = frozenset().union(*(self._said[at] for at in self._about(text.topics())))
        return [
            Finding(words.families[one.family].kind, one.start, one.end, claim[one.start : one.end])
            for one in strong
            if one.family not in said
        ]

    # --- specifics

    @cached_property
    def _source(self) -> _Held:
        return _held("\n\n".join(self.passages), self.language)

    @cached_property
    def _question(self) -> _Held:
        return _held(self.known, self.language)

    def _kind(self, one: Specific, *, asked: bool) -> SpecificKind:
        if one.kind == "title":
            return "quotation"
        values = {f"{key.rpartition(':')[0]}:*" for key in one.needs} if one.kind == "number" else set()
        # A figure that was asked for with this unit has it there, and no other.
        texts = self._source.texts if asked else (*self._source.texts, *self._question.texts)
        return one.kind if all(values.isdisjoint(text.states) for text in texts) else "unit"

    # --- wording

    @cached_property
    def _sentences(self) -> tuple[_Reading, ...]:
        from opik_checkembed.text import sentences  # its patterns take a while to compile

        words = _strong(self.language)
        assert words is not None  # or nothing is claimed that could be said
        return tuple(
            _Reading(words, _folded(span.of(passage)))
            for passage in self.passages
            for span in sentences(passage, self.language)
        )

    @cached_property
    def _said(self) -> tuple[frozenset[int], ...]:
        """For each sentence the families that it has a word of, neither denied nor left open."""
        return tuple(
            frozenset(one.family for one in sentence.stated() if sentence.is_said(one)) for sentence in self._sentences
        )

    @cached_property
    def _by_topic(self) -> Mapping[str, Sequence[int]]:
        found: dict[str, list[int]] = {}
        for at, sentence in enumerate(self._sentences):
            for topic in sentence.topics():
                found.setdefault(topic, []).append(at)
        return found

    def _about(self, topics: frozenset[str]) -> list[int]:
        """The sentences that are about the same: they share a third of these words, and two if there are two."""
        shared = Counter(at for topic in topics for at in self._by_topic.get(topic, ()))
        least = max(min(2, len(topics)), math.ceil(len(topics) / 3))
        return [at for at, count in shared.items() if count >= least]


def unsupported_specifics(
    claim: str, source_texts: Sequence[str] | str, *, language: str = "en", known: str = "", with_asked: bool = False
) -> list[Finding]:
    """The numbers, dates, names, units, quotations, identifiers and addresses of a claim that its source lacks.

    Equal is what means the same: "3.5 million" and "3,500,000", "7 November 1867" and "Nov. 7, 1867", digits of any
    script. A figure with a unit is supported by the same figure with that unit or with none, and one without a unit by
    the figure with any; a year by any date in it. A name is supported by its last words ("Curie" for "Marie Curie"),
    its initials, a longer name that it is part of, and a plural by its singular; a hyphen in it does not count. A
    quotation is supported where its words stand in the source in that order.

    Args:
        claim: A statement.
        source_texts: What it is held against. For many claims make one `SourceFacts`.
        language: ISO 639-1 code.
        known: What was asked, which needs no support.
        with_asked: Whether to list, as `asked`, what the question has and the source has not.

    Returns:
        In the order of the claim, each once; empty where nothing is lacking.

    Example:
        >>> [one.text for one in unsupported_specifics("Ada paid $3.5 million in May 2021.", "In 2021 she paid $3 m.")]
        ['Ada', '$3.5 million', 'May 2021']
    """
    return SourceFacts(source_texts, language=language, known=known).lacking(claim, with_asked=with_asked)


def absolute_wording(claim: str, source_texts: Sequence[str] | str, *, language: str = "en") -> list[Finding] | None:
    """The absolute, superlative, causal and certain words of a claim that its source does not have for the same.

    The rule: such a word is listed if no sentence of the source that is about the same holds a word of its family
    (cause, caused, because, due to, led to, ... are one). A sentence is about the same if it shares a third of the
    claim's content words, at least two of them. A word counts in the source only where its clause neither denies nor
    hedges it ("may have caused", "the cause is not known"), and in the claim likewise: "not the only one" and "may
    have caused" claim no absolute.

    English, German, French and Spanish.

    Args:
        claim: A statement.
        source_texts: What it is held against. For many claims make one `SourceFacts`.
        language: ISO 639-1 code.

    Returns:
        In the order of the claim; empty where it is no stronger than the source; None for a language whose words are
        not known, where nothing was looked for.

    Example:
        >>> claim = "The coronagraph enabled this discovery, which would have been completely impossible without it."
        >>> [(one.kind, one.text) for one in absolute_wording(claim, "A coronagraph blocks the light of the star.")]
        [('causal', 'enabled'), ('absolute', 'completely'), ('absolute', 'impossible')]
    """
    return SourceFacts(source_texts, language=language).stronger(claim)


# --- specifics ----------------------------------------------------------------------------------------------

_NO_QUOTES = str.maketrans(dict.fromkeys('"“”„«»「」『』', " "))
_COMPOUND = re.compile(r"[^\W\d_]+(?:[-‑][^\W\d_]+)+")


@dataclass(frozen=True)
class _Held:
    """A text that specifics are looked up in.

    Attributes:
        texts: It, and the same without the marks around quotations.
        compounds: Its words with a hyphen as one word, as Wi-Fi is wifi.
    """

    texts: tuple[TextFacts, ...]
    compounds: frozenset[str]

    def has(self, one: Specific, needs: frozenset[str]) -> bool:
        """Whether the text supports a specific."""
        if any(text.holds(needs) for text in self.texts):
            return True
        if one.kind not in {"name", "title"}:
            return False
        # A name within a longer one occurs, whoever is meant; so does what is quoted, whatever marks are around it.
        words = words_of(one.text)
        forms = {words}
        if one.kind == "name":
            forms |= {words_of(one.text.removesuffix("s")), words.replace(" ", "") if "-" in one.text else words}
        return any(text.says(form) for form in forms for text in self.texts) or words in self.compounds


def _held(text: str, language: str) -> _Held:
    # A quotation is one specific, which hides the numbers and names in it: they are read without the marks, too.
    texts = dict.fromkeys((text, text.translate(_NO_QUOTES)))
    return _Held(
        tuple(text_facts(one, language) for one in texts),
        frozenset(words_of(match[0]).replace(" ", "") for match in _COMPOUND.finditer(text)),
    )


# --- words --------------------------------------------------------------------------------------------------

_TOPIC = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
_CLAUSE_END = re.compile(r"[,;:()–—!?]|\.(?=\s|$)")
# Letters that two words must begin with alike to be taken for forms of one.
_STEM = 5
# A denial before a word denies it over this many others.
_REACH = 3


class _Word(NamedTuple):
    """Where a word of a family stands in a folded text."""

    family: int
    start: int
    end: int


def _folded(text: str) -> str:
    """A text in lower case without accents, of the same length, so that places in it are places in the text."""
    return text.lower() if text.isascii() else "".join(map(_folded_letter, text))


@lru_cache(maxsize=4096)
def _folded_letter(letter: str) -> str:
    plain = unicodedata.normalize("NFKD", _APOSTROPHES.get(letter, letter).lower())
    return plain[0] if plain else letter


_APOSTROPHES = {"’": "'", "‑": "-"}


class _Strong:
    """The words of a language as patterns."""

    def __init__(self, language: str) -> None:
        words = STRONG_WORDS[language]
        self.families: tuple[Family, ...] = words.families
        self.claims = [_pattern(family.words) for family in words.families]
        self.states = [
            _pattern(f"{family.words} | {family.also}" if family.also else family.words) for family in words.families
        ]
        self.neutral = _pattern(words.neutral)
        self.denials = _pattern(words.denials)
        self.hedges = _pattern(words.hedges)
        self.borders = (_CLAUSE_END, _pattern(words.borders))
        self.stop = words.stop


class _Spans:
    """Matches of one pattern: in order and apart, so that a place is looked up by bisection."""

    def __init__(self, pattern: re.Pattern[str], text: str, start: int, end: int) -> None:
        spans = [match.span() for match in pattern.finditer(text, start, end)]
        self.starts = [start for start, _ in spans]
        self.ends = [end for _, end in spans]

    def hold(self, start: int, end: int) -> bool:
        """Whether one of them has all of a span in it."""
        at = bisect_right(self.starts, start) - 1
        return at >= 0 and end <= self.ends[at]

    def end_before(self, place: int) -> int | None:
        """Where the last ends that ends at a place or before it."""
        at = bisect_right(self.ends, place) - 1
        return self.ends[at] if at >= 0 else None

    def start_after(self, place: int) -> int | None:
        """Where the first begins that begins at a place or after it."""
        at = bisect_left(self.starts, place)
        return self.starts[at] if at < len(self.starts) else None

    def any_beside(self, start: int, end: int) -> bool:
        """Whether one of them ends before a span or begins after it."""
        return bool(self.starts) and (self.ends[0] <= start or end <= self.starts[-1])


class _Reading:
    """A folded text and where its strong words stand; what is looked up for each word is found once for the text."""

    def __init__(self, words: _Strong, text: str) -> None:
        self._words = words
        self._text = text
        self._clauses: dict[tuple[int, int], tuple[_Spans, _Spans]] = {}
        self._reaches: dict[int, int] = {}

    def claimed(self) -> list[_Word]:
        """The words that claim something strong, in order; of two that overlap the longer."""
        taken = bytearray(len(self._text))
        kept: list[_Word] = []
        for one in sorted(self._claimed, key=lambda w: (w.start - w.end, w.start)):
            if taken.find(1, one.start, one.end) < 0:
                taken[one.start : one.end] = b"\1" * (one.end - one.start)
                kept.append(one)
        return sorted(kept, key=lambda w: w.start)

    def stated(self) -> list[_Word]:
        """The words that say such a thing, one family's beside another's."""
        return self._found(self._words.states)

    def is_said(self, word: _Word) -> bool:
        """Whether the clause around a word neither denies nor hedges it."""
        hedges, denials = self._clause(word)
        if hedges.any_beside(word.start, word.end):
            return False
        if self._words.families[word.family].negative:
            return True
        denied = denials.end_before(word.start)  # the nearest, which reaches furthest
        return denied is None or self._reach(denied) < word.start

    def topics(self) -> frozenset[str]:
        """What a sentence is about: its words of four letters or more and its figures, without endings."""
        strong = bytearray(len(self._text))
        for one in self._claimed:
            strong[one.start : one.end] = b"\1" * (one.end - one.start)
        return frozenset(
            match[0][:_STEM]
            for match in _TOPIC.finditer(self._text)
            if (len(match[0]) > 3 or match[0][0].isdigit())
            and match[0] not in self._words.stop
            and not strong[match.start()]
        )

    @cached_property
    def _claimed(self) -> list[_Word]:
        return self._found(self._words.claims)

    def _found(self, patterns: Sequence[re.Pattern[str]]) -> list[_Word]:
        return [
            _Word(number, *match.span())
            for number, pattern in enumerate(patterns)
            for match in pattern.finditer(self._text)
            if not self._neutral.hold(*match.span())
        ]

    @cached_property
    def _neutral(self) -> _Spans:
        return _Spans(self._words.neutral, self._text, 0, len(self._text))

    @cached_property
    def _borders(self) -> list[_Spans]:
        return [_Spans(pattern, self._text, 0, len(self._text)) for pattern in self._words.borders]

    def _clause(self, word: _Word) -> tuple[_Spans, _Spans]:
        """The hedges and the denials of the clause around a word."""
        start = max(border.end_before(word.start) or 0 for border in self._borders)
        ends = [at for border in self._borders if (at := border.start_after(word.end)) is not None]
        clause = start, min(ends, default=len(self._text))
        if clause not in self._clauses:
            self._clauses[clause] = (
                _Spans(self._words.hedges, self._text, *clause),
                _Spans(self._words.denials, self._text, *clause),
            )
        return self._clauses[clause]

    def _reach(self, denied: int) -> int:
        """Where the last of the words begins that a denial reaches over: what follows that is out of its reach."""
        if denied not in self._reaches:
            beyond = islice(_TOPIC.finditer(self._text, denied), _REACH - 1, None)
            match = next(beyond, None)
            self._reaches[denied] = len(self._text) if match is None else match.start()
        return self._reaches[denied]


@lru_cache(maxsize=8)
def _strong(language: str) -> _Strong | None:
    return _Strong(language) if language in STRONG_WORDS else None


def _pattern(phrases: str) -> re.Pattern[str]:
    kept = sorted((phrase for phrase in phrases.split(" | ") if phrase), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(kept)})(?![\w-])".replace(" ", r"\s+"))
