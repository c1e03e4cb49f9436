"""What `bench ragtruth` compares: signals that say of a response how far its source fails to support it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol

from opik_checkembed.benchmarks.ragtruth_data import GroundedResponse, GroundedSource
from opik_checkembed.benchmarks.verifier_settings import judging_settings, reading_settings
from opik_checkembed.errors import AnswerError, ConfigurationError, ModelError
from opik_checkembed.functional.claim_support import ClaimScore, SourceNLIResult
from opik_checkembed.functional.claims import Claim, no_claim
from opik_checkembed.functional.grounding import Finding, SourceFacts
from opik_checkembed.functional.specifics import specifics
from opik_checkembed.metric_names import parse_options
from opik_checkembed.models.verifier import (
    CONTRADICTION_PROMPT,
    ClaimVerifier,
    LLMVerifier,
    NLIVerifier,
    ask_verifier,
)
from opik_checkembed.splitters import RuleSplitter

Marking = Literal["none", "all", "threshold"]
"""Which pieces a row marks as hallucinated: none, all that were found, or those whose score reaches its threshold."""


@dataclass(frozen=True)
class Statistic:
    """One way to make one score of what a signal found: one row.

    Attributes:
        name: As in the table.
        marking: What the row marks.
    """

    name: str
    marking: Marking = "none"


@dataclass(frozen=True)
class Piece:
    """A part of a response with its score.

    Attributes:
        start: Where it begins, in characters.
        end: Where it ends.
        score: Higher is more hallucinated; None where it could not be told.
    """

    start: int
    end: int
    score: float | None


@dataclass(frozen=True)
class SignalScore:
    """What a signal gives one response.

    Attributes:
        values: By the name of the statistic; higher is more hallucinated.
        pieces: What the values rest on.
        calls: Calls of a judge that it wants.
    """

    values: Mapping[str, float]
    pieces: tuple[Piece, ...] = ()
    calls: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        pieces = [[one.start, one.end, one.score] for one in self.pieces]
        return {"values": dict(self.values), "pieces": pieces, "calls": self.calls}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SignalScore:
        """The inverse of `to_dict`; raises KeyError, TypeError or ValueError for anything else."""
        pieces = tuple(Piece(int(a), int(b), None if score is None else float(score)) for a, b, score in data["pieces"])
        return cls({str(name): float(value) for name, value in data["values"].items()}, pieces, int(data["calls"]))


class Signal(Protocol):
    """Something that scores a response against its source."""

    @property
    def name(self) -> str:
        """Of its rows, before the statistic's."""
        ...

    @property
    def model(self) -> str | None:
        """The model it rests on, as the reader knows it; None for none."""
        ...

    @property
    def identity(self) -> Mapping[str, Any]:
        """What tells it from another of its name and model, as JSON-ready values: its options, and the model's full
        name. It is written beside its figures, so that nothing secret may be in it.
        """
        ...

    @property
    def key(self) -> str | None:
        """What its kept scores are found by; None for a signal that is too cheap to keep any."""
        ...

    @property
    def statistics(self) -> Sequence[Statistic]:
        """Its rows."""
        ...

    def score(self, response: GroundedResponse) -> SignalScore:
        """A value for each statistic.

        Raises:
            ItemError: The response cannot be scored.
        """
        ...


# --- signals that need no model -----------------------------------------------------------------------------


@dataclass(frozen=True)
class LengthSignal:
    """The response's characters: the longer, the more room for something unsupported. A trivial baseline."""

    name: str = "response length"
    model: None = None
    key: None = None
    statistics: Sequence[Statistic] = (Statistic("characters"),)

    @property
    def identity(self) -> dict[str, Any]:
        """Nothing: there is one."""
        return {}

    def score(self, response: GroundedResponse) -> SignalScore:
        """See `Signal.score`."""
        return SignalScore({"characters": float(len(response.text))})


@dataclass(frozen=True)
class SpecificsSignal:
    """`unsupported_specifics` of each claim: how many, their share of all specifics, and whether there are any.

    What was asked needs no support.

    Args:
        language: ISO 639-1 code.
    """

    language: str = "en"
    name: str = "unsupported specifics"
    model: None = None
    key: None = None
    statistics: Sequence[Statistic] = (Statistic("count", "all"), Statistic("share"), Statistic("any"))

    @property
    def identity(self) -> dict[str, Any]:
        """Its language."""
        return {"language": self.language}

    def score(self, response: GroundedResponse) -> SignalScore:
        """See `Signal.score`. A response without specifics has a share of 0."""
        claims = claims_of(response.text, self.language)
        found = _found(claims, _facts(response.source, self.language).lacking)
        total = sum(len(specifics(claim.text, self.language)) for claim in claims)
        count = float(len(found))
        return SignalScore({"count": count, "share": count / max(total, 1), "any": float(count > 0)}, found)


@dataclass(frozen=True)
class WordingSignal:
    """`absolute_wording` of each claim: how many words, and whether there are any.

    Args:
        language: ISO 639-1 code.

    Raises:
        ConfigurationError: Such words of the language are not known.
    """

    language: str = "en"
    name: str = "absolute wording"
    model: None = None
    key: None = None
    statistics: Sequence[Statistic] = (Statistic("count", "all"), Statistic("any"))

    def __post_init__(self) -> None:
        if SourceFacts("", language=self.language).stronger("") is None:
            raise ConfigurationError(f"words that are stronger than a source's are not known of {self.language!r}")

    @property
    def identity(self) -> dict[str, Any]:
        """Its language."""
        return {"language": self.language}

    def score(self, response: GroundedResponse) -> SignalScore:
        """See `Signal.score`."""
        facts = _facts(response.source, self.language)
        found = _found(claims_of(response.text, self.language), lambda claim: facts.stronger(claim) or ())
        return SignalScore({"count": float(len(found)), "any": float(bool(found))}, found)


class _Claim(NamedTuple):
    """A claim and where it begins."""

    text: str
    start: int


def claims_of(text: str, language: str = "en") -> list[_Claim]:
    """The sentences of a response that claim something, as `SourceNLIMetric` takes them."""
    spans = RuleSplitter(language).split(text)
    claims = [_Claim(span.of(text), span.start) for span in spans]
    return [claim for claim in claims if no_claim(claim.text) is None]


def _found(claims: Sequence[_Claim], find: Callable[[str], Sequence[Finding]]) -> tuple[Piece, ...]:
    return tuple(
        Piece(claim.start + one.start, claim.start + one.end, 1.0) for claim in claims for one in find(claim.text)
    )


# The responses to a source follow each other in the data.
@lru_cache(maxsize=64)
def _facts(source: GroundedSource, language: str) -> SourceFacts:
    return SourceFacts(source.text, language=language, known=source.question)


# --- verifiers ----------------------------------------------------------------------------------------------

_OF_CLAIMS = (Statistic("share of claims"), Statistic("mean claim"), Statistic("worst claim", "threshold"))


@dataclass(frozen=True, eq=False)
class VerifierSignal:
    """A verifier of `SourceNLIMetric` on each claim.

    A claim's score is 1 - P(supported), or P(contradicted) with a classifier that knows contradiction only; the name
    says which. The rows are the share of the claims that the metric flags (its value), the mean of their scores and the
    worst (the metric with `aggregate="max"`), which marks the claims that reach its threshold.

    Args:
        verifier: The verifier.
        kind: What it is, as in the table.
        model: The model it rests on, as in the table.
        settings: What its scores depend on, as JSON-ready values; they are written beside its scores and figures. The
            model's full name belongs here where the table has a short one.
        language: ISO 639-1 code.
    """

    verifier: ClaimVerifier
    kind: str
    model: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    language: str = "en"
    statistics: Sequence[Statistic] = _OF_CLAIMS

    @cached_property
    def name(self) -> str:
        """What it is and what its scores say. A local model is loaded to see what it can tell."""
        if isinstance(self.verifier, NLIVerifier):
            (probe,) = ask_verifier(self.verifier, [("It rains.", ["It rains."])]).supports
            if probe.p_supported is None:
                return f"{self.kind}, P(contradicted)"
        return f"{self.kind}, 1 - P(supported)"

    @property
    def identity(self) -> dict[str, Any]:
        """All that its scores depend on."""
        return {"model": self.model, **self.settings, "language": self.language}

    @property
    def key(self) -> str:
        """What it is, and all that its scores depend on."""
        return json.dumps([self.kind, self.identity], sort_keys=True)

    def score(self, response: GroundedResponse) -> SignalScore:
        """See `Signal.score`.

        Raises:
            AnswerError: The response makes no claim.
            ModelError: The verifier failed, or could judge none of the claims.
        """
        claims = claims_of(response.text, self.language)
        if not claims:
            raise AnswerError("the response makes no claim")
        found = ask_verifier(self.verifier, [(claim.text, [response.source.text]) for claim in claims])
        result = SourceNLIResult(
            tuple(ClaimScore(Claim(claim.text), one) for claim, one in zip(claims, found.supports, strict=True))
        )
        share, worst = result.value, replace(result, aggregate="max").value
        if share is None or worst is None:
            raise ModelError(f"none of the claims could be judged: {found.supports[0].problem}")
        doubts = [one.doubt for one in found.supports]
        known = [doubt for doubt in doubts if doubt is not None]
        values = (share, sum(known) / len(known), worst)
        return SignalScore(
            dict(zip((one.name for one in self.statistics), values, strict=True)),
            tuple(
                Piece(claim.start, claim.start + len(claim.text), doubt)
                for claim, doubt in zip(claims, doubts, strict=True)
            ),
            calls=int((found.judging or {}).get("verdicts", 0)),
        )


# --- by name ------------------------------------------------------------------------------------------------


def signal_of(text: str) -> Signal:
    """The signal that a text like "specifics" or "nli:nli_model=FOLDER" stands for.

    "specifics" and "wording" take `language`; "nli" takes the arguments of `NLIVerifier`; "judge" takes `model` and the
    arguments of `LLMVerifier` and its judge, and asks one question a claim unless `contradictions` is true.

    Raises:
        ConfigurationError: There is no such signal, or an option cannot work.

    Example:
        >>> signal_of("specifics:language=de").language
        'de'
    """
    # No message repeats the text, which may hold a key.
    named = re.split("[:=,]", text, maxsplit=1)[0].strip()
    if named not in _BUILDERS:
        raise ConfigurationError(f"the signal must be one of {', '.join(_BUILDERS)}, not {named!r}")
    try:
        name, options = parse_options(text)
    except ConfigurationError:
        name, options = "", {}
    if name != named:
        raise ConfigurationError(f"the signal {named} is not of the form NAME or NAME:OPTION=VALUE,OPTION=VALUE")
    try:
        return _BUILDERS[name](options)
    except TypeError as error:
        raise ConfigurationError(f"the signal {named}: {error}") from error


def _nli(options: dict[str, Any]) -> Signal:
    language = options.pop("language", "en")
    verifier = NLIVerifier(**options)
    settings = reading_settings(verifier, options.get("nli_model"), options.get("labels"))
    return VerifierSignal(verifier, "NLI", Path(settings["model"]).name, settings, language)


def _judge(options: dict[str, Any]) -> Signal:
    language = options.pop("language", "en")
    model = options.pop("model", None)
    if not isinstance(model, str):
        raise ConfigurationError("judge needs a model, like judge:model=gpt-4o-mini")
    options.setdefault("contradictions", False)
    verifier = LLMVerifier(model, **options)
    second = [CONTRADICTION_PROMPT] if options["contradictions"] else []
    asking = {name: value for name, value in options.items() if name not in _OF_VERIFIER}
    settings = judging_settings(verifier, model, asking, *second)
    return VerifierSignal(verifier, "LLM verifier", model, settings, language)


# Options of the verifier itself; the rest are its judge's.
_OF_VERIFIER = frozenset({"prompt", "contradictions", "window_chars"})


_BUILDERS: Mapping[str, Callable[[dict[str, Any]], Signal]] = MappingProxyType(
    {
        "specifics": lambda options: SpecificsSignal(**options),
        "wording": lambda options: WordingSignal(**options),
        "nli": _nli,
        "judge": _judge,
    }
)
