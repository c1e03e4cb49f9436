"""Vectors from an API, through litellm."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opik_checkembed.errors import ConfigurationError, EmbeddingError
from opik_checkembed.models.embedder import EmbedderUnavailable, windowed
from opik_checkembed.samples.prices import price_of
from opik_checkembed.samples.retry import Retry, diagnose
from opik_checkembed.samples.spans import current_span, record_llm_span

# Providers bound a request's tokens as well as its texts (120,000 at the strictest), and a token may be a
# character.
_MAX_REQUEST_CHARACTERS = 100_000

# litellm counts the tokens of every other model with a tokenizer that is not that model's.
_COUNTED_EXACTLY = ("text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002")
_MARGIN = 0.75

_OURS = frozenset({"input", "encoding_format", "max_retries", "num_retries"})

# Only these can be about the texts (too long, malformed); what else fails would fail for any text.
_ABOUT_THE_TEXTS = frozenset({400, 413, 422})


class _NoRetries(int):
    """A 0 that is true: litellm's embedding route reads a plain 0 as unset and has the client retry twice."""

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True)
class Spent:
    """What an embedder has used so far.

    Attributes:
        calls: Requests that were answered.
        tokens: Tokens the provider counted in them.
        cost_usd: Their cost in US dollars; None when a price is not known.
    """

    calls: int = 0
    tokens: int = 0
    cost_usd: float | None = 0.0


class LiteLLMEmbedder:
    """An embedding model behind an API that litellm routes (`text-embedding-3-large`, `ollama/...`,
    `voyage/...`).

    Texts go in batches; rate limits, server errors, timeouts and resets are retried with backoff, honouring
    Retry-After. Every request is an Opik span with model, usage and cost under the metric that caused it,
    where Opik records.

    A text longer than the model reads is split where the limit is known: from `max_tokens`, else from
    litellm's model table. Tokens are counted exactly for OpenAI's models; for others litellm's count is an
    estimate, so their windows are made for three quarters of the limit. With no known limit a text is sent
    whole, and what the provider then does with it is its own: most refuse it, which is reported; Cohere,
    Voyage and Gemini may cut it, so name `max_tokens` for a model of theirs that litellm does not know.
    Ollama is told not to cut.

    Args:
        model: The name that litellm routes.
        batch_size: Texts per request at most; a request also ends at 100,000 characters.
        timeout: Seconds one request may take.
        max_tokens: Tokens the model reads.
        dimensions: Shorter vectors, from models that can.
        retry: How often and how long to try.
        **parameters: What else litellm is to get: api_base, api_key, input_type, ...

    Raises:
        ConfigurationError: An argument cannot work.

    Example:
        >>> LiteLLMEmbedder("text-embedding-3-small", dimensions=256)
        LiteLLMEmbedder('text-embedding-3-small', dimensions=256)
    """

    def __init__(
        self,
        model: str,
        *,
        batch_size: int = 64,
        timeout: float = 60.0,
        max_tokens: int | None = None,
        dimensions: int | None = None,
        retry: Retry | None = None,
        **parameters: Any,
    ) -> None:
        if not isinstance(model, str) or not model.strip():
            raise ConfigurationError(f"model must be a name that litellm routes, not {model!r}")
        for name, number in {
            "batch_size": batch_size,
            "max_tokens": max_tokens,
            "dimensions": dimensions,
        }.items():
            optional = name != "batch_size"
            if not (optional and number is None) and (type(number) is not int or number < 1):
                raise ConfigurationError(f"{name} must be a whole number of at least 1, not {number!r}")
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
            raise ConfigurationError(f"timeout must be a positive number of seconds, not {timeout!r}")
        ours = sorted(_OURS & parameters.keys())
        if ours:
            raise ConfigurationError(f"{', '.join(ours)} cannot be set for an embedder; for retries there is retry=")
        self.model = model
        self.batch_size = batch_size
        self.timeout = timeout
        self.max_tokens = max_tokens
        self.dimensions = dimensions
        self.retry = Retry() if retry is None else retry
        self._parameters = parameters
        self._lock = threading.Lock()
        self._spent = Spent()

    @property
    def spent(self) -> Spent:
        """What this embedder has used so far, over all threads."""
        return self._spent

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The texts' vectors as the provider made them: float32, shape (n, d).

        Raises:
            EmbeddingError: The provider refused the texts, or its answer does not fit them.
            EmbedderUnavailable: It could not be reached, or does not let us in.
        """
        rows: list[Sequence[float]] = []
        for batch in self._batches(texts):
            rows += self._embed(batch)
        return np.asarray(rows, dtype=np.float32)

    def split(self, texts: Sequence[str]) -> list[list[str]]:
        """For each text its windows on sentence borders; itself where it fits or no limit is known."""
        limit = self._limit()
        if limit is None:
            return [[text] for text in texts]
        return [self._windows(text, limit) for text in texts]

    def _windows(self, text: str, limit: int) -> list[str]:
        # A token is at least one byte, so most texts need no counting.
        if len(text.encode()) <= limit or self._count([text])[0] <= limit:
            return [text]
        return windowed(text, self._count, limit)

    def _limit(self) -> int | None:
        import litellm
        from litellm.exceptions import ModelNotMappedError

        limit = self.max_tokens
        if limit is None:
            try:
                limit = litellm.get_model_info(self.model).get("max_input_tokens")
            except ModelNotMappedError:
                return None
        if not limit:
            return None
        exact = self.model.rpartition("/")[2] in _COUNTED_EXACTLY
        return limit if exact else max(1, int(limit * _MARGIN))

    def _count(self, texts: Sequence[str]) -> list[int]:
        import litellm

        return [litellm.token_counter(model=self.model, text=text) for text in texts]

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        characters = 0
        for text in texts:
            full = len(batch) == self.batch_size or characters + len(text) > _MAX_REQUEST_CHARACTERS
            if batch and full:
                yield batch
                batch, characters = [], 0
            batch.append(text)
            characters += len(text)
        if batch:
            yield batch

    def _embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        import openai

        attempts = 0
        while True:
            attempts += 1
            started = datetime.now(UTC)
            try:
                response = self._call(texts)
            except openai.OpenAIError as error:
                # Every litellm exception that speaks of a provider derives from the openai client's.
                trouble = diagnose(error, secrets=self._secrets())
                wait = self.retry.delay(attempts, trouble.retry_after) if trouble.action == "wait" else None
                if wait is not None:
                    time.sleep(wait)
                    continue
                tried = f" ({attempts} attempts)" if attempts > 1 else ""
                said = f"{self.model}: {trouble.text}{tried}"
                self._record(started, texts, error=said)
                about_texts = getattr(error, "status_code", None) in _ABOUT_THE_TEXTS
                raise (EmbeddingError if about_texts else EmbedderUnavailable)(said) from error
            return self._answered(response, texts, started)

    def _call(self, texts: Sequence[str]) -> Any:
        import litellm

        parameters = dict(self._parameters)
        if self.dimensions is not None:
            parameters["dimensions"] = self.dimensions
        if self.model.startswith("ollama/"):
            parameters.setdefault("truncate", False)
        return litellm.embedding(
            model=self.model,
            input=list(texts),
            timeout=self.timeout,
            max_retries=_NoRetries(0),
            num_retries=0,
            **parameters,
        )

    def _answered(self, response: Any, texts: Sequence[str], started: datetime) -> list[Sequence[float]]:
        usage = {
            name: int(count)
            for name in ("prompt_tokens", "completion_tokens", "total_tokens")
            if (count := getattr(response.usage, name, None)) is not None
        }
        tokens = usage.get("prompt_tokens", 0)
        cost = response._hidden_params.get("response_cost")
        if cost is None:
            price = price_of(self.model)
            cost = None if price is None else price.of(tokens, 0)
        with self._lock:
            known = None if cost is None or self._spent.cost_usd is None else self._spent.cost_usd + cost
            self._spent = Spent(self._spent.calls + 1, self._spent.tokens + tokens, known)
        rows = sorted(response.data, key=lambda row: row["index"])
        if [row["index"] for row in rows] != list(range(len(texts))):
            said = f"{self.model}: {len(rows)} vectors for {len(texts)} texts, or for others than these"
            self._record(started, texts, usage=usage, cost_usd=cost, error=said)
            raise EmbeddingError(said)
        vectors = [row["embedding"] for row in rows]
        self._record(started, texts, dimensions=len(vectors[0]), usage=usage, cost_usd=cost)
        return vectors

    def _record(
        self,
        started: datetime,
        texts: Sequence[str],
        *,
        dimensions: int | None = None,
        usage: Mapping[str, int] | None = None,
        cost_usd: float | None = None,
        error: str | None = None,
    ) -> None:
        parent = current_span()
        if parent is None:
            return
        record_llm_span(
            parent,
            name="embed",
            started=started,
            ended=datetime.now(UTC),
            model=self.model,
            input={"texts": list(texts)},
            output=None if dimensions is None else {"vectors": len(texts), "dimensions": dimensions},
            usage=usage,
            cost_usd=cost_usd,
            error=error,
        )

    def _secrets(self) -> list[str]:
        values = [*self._parameters.values()]
        values += [inner for value in values if isinstance(value, Mapping) for inner in value.values()]
        return [value for value in values if isinstance(value, str) and len(value) > 5]

    def _settings(self) -> tuple[object, ...]:
        return self.batch_size, self.timeout, self.max_tokens, self.dimensions, self.retry, self._parameters

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LiteLLMEmbedder):
            return NotImplemented
        return self.model == other.model and self._settings() == other._settings()

    def __hash__(self) -> int:
        # Parameters may hold dicts and are compared, not hashed.
        return hash((self.model, self.dimensions))

    def __repr__(self) -> str:
        # Parameters may hold a key and are not shown.
        dimensions = "" if self.dimensions is None else f", dimensions={self.dimensions}"
        return f"{type(self).__name__}({self.model!r}{dimensions})"
