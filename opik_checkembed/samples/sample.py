"""One answer of the model asked again, and the set of them that the metrics of one item share."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from math import fsum
from typing import Any

from opik_checkembed.errors import SamplingError


class Status(StrEnum):
    """What kind of answer came back. Only `OK` answers are compared with each other."""

    OK = "ok"
    EMPTY = "empty"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    FILTERED = "content-filtered"
    TOOL_CALL = "tool call instead of text"
    NOT_TEXT = "not text"


def status_of(text: str) -> Status:
    """Whether a text can be compared, as far as the text alone shows: it is neither blank nor a refusal."""
    from opik_checkembed.functional.refusal import is_refusal  # its patterns take a while to compile

    if not text.strip():
        return Status.EMPTY
    return Status.REFUSED if is_refusal(text) else Status.OK


class Origin(StrEnum):
    """Where this metric run got the sample from; only an `ASKED` sample was paid for by it."""

    ASKED = "asked"
    SHARED = "shared"
    STORE = "from store"
    GIVEN = "given"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of the one provider call that a sample came with, and how many samples that call brought."""

    prompt_tokens: int | None
    completion_tokens: int | None
    choices: int = 1


TokenLogprobs = tuple[tuple[str, float], ...]
"""Log-probabilities at one token of an answer: the token that was chosen first, then its alternatives."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer.

    Attributes:
        index: Position in the sample set; part of the key it is kept under.
        text: The answer; empty when the model gave none.
        status: Whether it can be compared, and if not, why.
        finish_reason: As the provider said it.
        usage: Tokens of the call this sample came with.
        cost_usd: This sample's even share of what its call cost; None when the price is not known.
        model: The model as the provider named it in its answer.
        created: When it was answered, in Unix seconds; None for given samples.
        dropped: Parameters the provider rejected, so that the answer was made without them.
        origin: Where this metric run got it from; never stored.
        logprobs: Of the answer's first tokens, where they were asked for and the provider gave them.
    """

    index: int
    text: str
    status: Status = Status.OK
    finish_reason: str | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    model: str | None = None
    created: float | None = None
    dropped: tuple[str, ...] = ()
    origin: Origin = Origin.ASKED
    logprobs: tuple[TokenLogprobs, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The sample as JSON-ready values, without `index` and `origin`, which belong to where it is used.

        `logprobs`, a list of [token, log-probability] pairs for each token, is there only for a sample that has some.
        """
        data: dict[str, Any] = {
            "text": self.text,
            "status": self.status.value,
            "finish_reason": self.finish_reason,
            "usage": None
            if self.usage is None
            else {
                "prompt_tokens": self.usage.prompt_tokens,
                "completion_tokens": self.usage.completion_tokens,
                "choices": self.usage.choices,
            },
            "cost_usd": self.cost_usd,
            "model": self.model,
            "created": self.created,
            "dropped": list(self.dropped),
        }
        if self.logprobs:
            data["logprobs"] = [[[token, value] for token, value in tokens] for tokens in self.logprobs]
        return data

    @classmethod
    def from_dict(cls, index: int, data: Mapping[str, Any], origin: Origin = Origin.STORE) -> Sample:
        """The inverse of `to_dict`.

        Raises:
            KeyError, TypeError, ValueError: The data is not a sample.
        """
        usage = data["usage"]
        return cls(
            index=index,
            text=data["text"],
            status=Status(data["status"]),
            finish_reason=data["finish_reason"],
            usage=None if usage is None else Usage(**usage),
            cost_usd=data["cost_usd"],
            model=data["model"],
            created=data["created"],
            dropped=tuple(data["dropped"]),
            origin=origin,
            # What was kept before samples had them has none.
            logprobs=tuple(tuple(_logprob(*pair) for pair in tokens) for tokens in data.get("logprobs") or ()),
        )

    def seen_as(self, origin: Origin) -> Sample:
        """The same sample as another metric run sees it."""
        return self if self.origin is origin else replace(self, origin=origin)


def _logprob(token: object, value: object) -> tuple[str, float]:
    if not isinstance(token, str) or not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{token!r:.80}, {value!r:.80} is no token with its log-probability")
    return token, float(value)


@dataclass(frozen=True, slots=True)
class SampleSet:
    """The answers to one request, in index order, and what is to be said about them.

    Attributes:
        samples: Every answer that came, usable or not.
        requested: How many were wanted.
        failures: Why the missing ones are missing, one text each.
        notes: What a reader must know (context left out of the request, parameters dropped, ...).
        temperature: The sampling temperature asked for; None when it is not known.
    """

    samples: tuple[Sample, ...]
    requested: int
    failures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    temperature: float | None = None

    @property
    def usable(self) -> tuple[Sample, ...]:
        """The samples that agreement is computed over."""
        return tuple(s for s in self.samples if s.status is Status.OK)

    @property
    def texts(self) -> list[str]:
        """The texts of the usable samples, without the white space around them."""
        return [s.text.strip() for s in self.usable]

    @property
    def cost_usd(self) -> float | None:
        """What this metric run paid for its samples: 0.0 when it asked for none, None when a price is unknown."""
        costs = [s.cost_usd for s in self.samples if s.origin is Origin.ASKED]
        known = [c for c in costs if c is not None]
        return fsum(known) if len(known) == len(costs) else None

    @property
    def calls(self) -> float:
        """Calls of this run that brought these samples (one that brought n choices counts 1/n each); those that failed
        and were retried are not among them.
        """
        from fractions import Fraction  # exact, so that six sixths are one call

        asked = [s for s in self.samples if s.origin is Origin.ASKED]
        return float(sum(Fraction(1, s.usage.choices if s.usage else 1) for s in asked))

    def noting(self, notes: tuple[str, ...]) -> SampleSet:
        """The same set with more for the reason to say."""
        return replace(self, notes=(*self.notes, *notes)) if notes else self

    def require(self, least: int) -> None:
        """Refuse to go on with fewer than `least` usable samples.

        Raises:
            SamplingError: Says how many came, and why the others did not or are of no use.
        """
        if len(self.usable) < least:
            why = "; ".join(self.warnings()) or "no more were given"
            raise SamplingError(f"{len(self.usable)} of {self.requested} samples are usable, {least} are needed: {why}")

    def to_dict(self) -> dict[str, Any]:
        """The set as JSON-ready values."""
        return {
            "requested": self.requested,
            "samples": [{"index": s.index, "origin": s.origin.value, **s.to_dict()} for s in self.samples],
            "failures": list(self.failures),
            "notes": list(self.notes),
            "temperature": self.temperature,
            "cost_usd": self.cost_usd,
            "calls": self.calls,
        }

    def warnings(self, now: float | None = None) -> list[str]:
        """What must stand in the reason, in plain words.

        Args:
            now: The present in Unix seconds, for the age of stored samples.
        """
        said: list[str] = []
        lost = Counter(s.status for s in self.samples if s.status is not Status.OK)
        said += [f"{count} of {self.requested} samples left out: {status.value}" for status, count in lost.items()]
        if self.failures:
            said.append(f"{len(self.failures)} of {self.requested} samples failed ({self.failures[0]})")
        texts = self.texts
        dropped = sorted({name for s in self.samples for name in s.dropped})
        temperature = None if "temperature" in dropped else self.temperature
        if len(texts) > 1 and len(set(texts)) == 1 and temperature != 0:
            at = "" if temperature is None else f" at temperature {temperature:g}"
            said.append(
                f"all {len(texts)} samples are identical{at}: a provider cache or a fixed seed makes any answer "
                "agree with itself, so this is no sign of confidence"
            )
        elif len(texts) > 1 and len(set(texts)) == 1:
            said.append("all samples are identical because they were asked for at temperature 0")
        if dropped:
            said.append(f"the provider rejected {', '.join(dropped)}; asked without")
        kept = [s.created for s in self.samples if s.origin is Origin.STORE and s.created is not None]
        if kept:
            age = (time.time() if now is None else now) - min(kept)
            said.append(f"{len(kept)} from the store, up to {_age(age)} old")
        return [*said, *self.notes]


def _age(seconds: float) -> str:
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return "a minute"
