"""What to do when a provider's call fails: wait and ask again, ask without a parameter, or give up."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from opik_checkembed.errors import ConfigurationError

# Without these the answer would no longer be the one asked for (tools, response_format) or could cost more than
# the caller allowed (token limits), so a provider that rejects one fails the call instead.
_NEVER_DROPPED = frozenset({
    "max_tokens", "max_completion_tokens", "tools", "tool_choice", "response_format", "messages", "model",
})  # fmt: skip
_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
# litellm gives 500 to a key that was never set.
_NO_KEY = re.compile(r"missing (credentials|(\w+ )?api[ _]key)", re.I)
# What credentials look like that a server repeats in its error, whoever configured them.
_CREDENTIALS = (
    (re.compile(r"(?<=://)[^/@\s]+@"), ""),
    (re.compile(r"\b(bearer|basic)\s+(?=\S*\d)[\w.~+/=-]{8,}", re.I), r"\1 ***"),
    (re.compile(r"\b(sk|pk|rk|gsk|xai|hf|key)[-_][\w*-]{4,}"), "***"),
)
# Other names that `n` has with some providers.
_N_BY_ANOTHER_NAME = re.compile(
    r"\b(candidate_?count|num_generations|(one|single|multiple|1) (\w+ )?(choice|candidate|completion|generation)s?)\b",
    re.I,
)


@dataclass(frozen=True)
class Retry:
    """How often and how long to try.

    Attributes:
        attempts: Calls made for one answer at most, the first included.
        first_delay: Seconds before the second attempt; doubled for each further one, with jitter.
        longest_delay: No wait is longer. A provider that asks for more (Retry-After) is not waited for.
    """

    attempts: int = 5
    first_delay: float = 0.5
    longest_delay: float = 60.0

    def __post_init__(self) -> None:
        attempts = self.attempts
        whole = isinstance(attempts, int) and not isinstance(attempts, bool) and attempts >= 1
        delays = (self.first_delay, self.longest_delay)
        if not whole or not all(isinstance(d, int | float) and 0 <= d < float("inf") for d in delays):
            raise ConfigurationError("Retry needs attempts of at least 1 and delays of at least 0 seconds")

    def delay(self, attempts_made: int, retry_after: float | None) -> float | None:
        """Seconds to wait before asking again, or None to give up."""
        if attempts_made >= self.attempts:
            return None
        if retry_after is not None:
            return retry_after if retry_after <= self.longest_delay else None
        backoff = self.first_delay * 2.0 ** (attempts_made - 1)
        # Jitter keeps calls that failed together from coming back together.
        return min(self.longest_delay, backoff) * random.uniform(0.5, 1.0)


@dataclass(frozen=True)
class Trouble:
    """A failed call, read.

    Attributes:
        action: `wait` (transient), `drop` (a parameter was rejected) or `stop`.
        text: What to tell the user, in one line.
        parameter: The rejected parameter, when the action is `drop`.
        retry_after: Seconds the provider asked to wait.
        throttled: The provider said that calls come too fast, so every call to it should wait.
        maybe_billed: The call may have been carried out although no answer arrived.
    """

    action: Literal["wait", "drop", "stop"]
    text: str
    parameter: str | None = None
    retry_after: float | None = None
    throttled: bool = False
    maybe_billed: bool = False


def diagnose(error: Exception, sent: Collection[str] = (), secrets: Collection[str] = ()) -> Trouble:
    """Read an exception of litellm, the openai client or an `OpikBaseModel`.

    Args:
        error: The exception; `status_code`, `param`, `body` and `response` are read where it has them.
        sent: Names of the parameters the call was made with.
        secrets: Values that must not appear in the text.
    """
    status = getattr(error, "status_code", None)
    text = _one_line(error, secrets)
    rejected = _rejected(error, sent) if status in {400, 422} else None
    if rejected is not None:
        return Trouble("drop", text, parameter=rejected)
    if status not in _TRANSIENT or _quota_is_used_up(error) or _NO_KEY.search(str(error)):
        return Trouble("stop", text)
    throttled = status in {429, 503, 529}
    return Trouble(
        "wait",
        text,
        retry_after=_retry_after(error),
        throttled=throttled,
        # After a timeout, a reset or a server error the provider may have worked (and billed) all the same.
        maybe_billed=not throttled and not _never_connected(error),
    )


def _quota_is_used_up(error: Exception) -> bool:
    """A used-up quota is a 429 too, but no wait brings it back."""
    # OpenAI says it in the code alone; the words are also those of another provider's limit per minute.
    body = getattr(error, "body", None)
    said = [getattr(error, "code", None), getattr(error, "type", None), str(error)]
    said += [body.get("code"), body.get("type")] if isinstance(body, Mapping) else []
    return any("insufficient_quota" in str(part) for part in said)


def _never_connected(error: Exception) -> bool:
    """Whether no server was reached; litellm tells only by what caused its error."""
    return any(type(cause).__name__ in {"ConnectError", "ConnectTimeout"} for cause in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        yield error
        seen.add(id(error))
        error = error.__cause__ or error.__context__


def _rejected(error: Exception, sent: Collection[str]) -> str | None:
    """The parameter that the provider does not take, if it is one that may be left out."""
    body = getattr(error, "body", None)
    named = getattr(error, "param", None) or (body.get("param") if isinstance(body, Mapping) else None)
    detail = body.get("detail") if isinstance(body, Mapping) else None
    if isinstance(named, str) and named not in {"", "None"}:
        found = _sent_name(named, sent)
    elif isinstance(detail, list):
        # FastAPI's form; its text repeats the whole request, so only the places it names count.
        places = [place for entry in detail if isinstance(entry, Mapping) for place in entry.get("loc") or ()]
        found = next((name for place in places if (name := _sent_name(str(place), sent))), None)
    else:
        found = _first_mentioned(str(error), sent)
    return None if found in _NEVER_DROPPED else found


def _sent_name(name: str, sent: Collection[str]) -> str | None:
    return name if name in sent else "n" if "n" in sent and _N_BY_ANOTHER_NAME.search(name) else None


def _first_mentioned(message: str, sent: Collection[str]) -> str | None:
    """The first parameter a message speaks of: what follows is advice ("use ... instead", "only with ...")."""
    places = {name: place for name in sent if (place := _mentioned(message, name)) is not None}
    return min(places, key=lambda name: places[name]) if places else None


def _mentioned(message: str, name: str) -> int | None:
    word = re.escape(name)
    # A name that is an ordinary word (`n`, `stop`, `user`) must be quoted, assigned or announced to count.
    patterns = [
        rf"""['"`\[(]{word}['"`\])]""",
        rf"\b{word}\s*(=|>|<|must\b|should\b)",
        rf"\b(param(eter)?|field|argument|option|key)(s|\(s\))?( supplied)?:?\s+{word}\b",
    ]
    if "_" in name or name == "temperature":
        patterns.append(rf"\b{word}\b")
    if name == "n":
        patterns.append(_N_BY_ANOTHER_NAME.pattern)
    found = re.search("|".join(f"({pattern})" for pattern in patterns), message, re.I if name == "n" else 0)
    return None if found is None else found.start()


def _retry_after(error: Exception) -> float | None:
    # litellm keeps what the server sent apart; the headers of its own `response` are empty.
    sources = (getattr(error, "response", None), error)
    found = [getattr(source, "headers", None) for source in sources]
    for headers in (*found, getattr(error, "litellm_response_headers", None)):
        said = {str(name).lower(): value for name, value in headers.items()} if isinstance(headers, Mapping) else {}
        if said.get("retry-after") is not None:
            return _seconds(str(said["retry-after"]))
    return None


def _seconds(value: str) -> float | None:
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime  # seldom needed, slow to import

    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


def _one_line(error: Exception, secrets: Collection[str], limit: int = 240) -> str:
    text = str(error).partition("Traceback (most recent call last)")[0]
    text = " ".join(text.split()) or type(error).__name__
    text = re.sub(r"\blitellm\.(?=\w+:)", "", text)
    text = re.sub(r"\b(\w+: )\1+", r"\1", text)
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "***")
    for pattern, instead in _CREDENTIALS:
        text = pattern.sub(instead, text)
    name = type(error).__name__
    text = text if text.startswith(name) else f"{name}: {text}"
    return text if len(text) <= limit else text[: limit - 1] + "…"
