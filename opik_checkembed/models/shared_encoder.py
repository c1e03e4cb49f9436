"""Every distinct text encoded once per process, whichever metric, item or thread asks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from opik_checkembed.errors import ConfigurationError, EmbeddingError
from opik_checkembed.models.batching import Batcher, Source
from opik_checkembed.models.digest import digest
from opik_checkembed.models.embedder import (
    Embedder,
    EmbedderUnavailable,
    SplitsText,
    default_embedder,
    is_api_model,
    is_sentence_transformer,
    local_embedder,
)
from opik_checkembed.models.registry import Registry

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

EncodedBy = Literal["encoded", "shared", "cached"]

_ENCODED_BY: dict[Source, EncodedBy] = {
    Source.COMPUTED: "encoded",
    Source.SHARED: "shared",
    Source.CACHED: "cached",
}


@dataclass(frozen=True, eq=False)
class Embedded:
    """Vectors of some texts.

    Attributes:
        vectors: Shape (n, d), float32, one row of length 1 for each text; read-only.
        windows: For each text how many windows it was read in; 1 where the model read it at once.
        origin: For each text whether this call had it `encoded`, `shared` the work with another call or an
            equal text before it, or found it `cached`.
    """

    vectors: NDArray[np.float32]
    windows: tuple[int, ...]
    origin: tuple[EncodedBy, ...]


class SharedEncoder:
    """Encodes with one embedder for many threads.

    Texts that concurrent callers want are joined into one `encode` call, longest first, and each distinct
    text is encoded once: its vector is kept, up to `max_bytes` in all.

    A text longer than the embedder reads is encoded in overlapping windows on sentence borders. Its vector is
    the mean of the windows' unit vectors, weighted by their length in characters and made a unit vector
    again.

    Args:
        embedder: Used by one thread at a time. If it is a `SplitsText` it is asked for the windows; any other
            gets every text whole, and answers for what it does with long ones.
        max_bytes: Vectors are kept up to this size; the longest unused go first.

    Example:
        >>> class Letters:
        ...     def encode(self, texts):
        ...         return np.array([[t.count("a"), t.count("b")] for t in texts], dtype=np.float32)
        >>> embedded = SharedEncoder(Letters()).vectors(["aaaabbb", "b", "b"])
        >>> embedded.vectors.tolist()
        [[0.8..., 0.6...], [0.0, 1.0], [0.0, 1.0]]
        >>> embedded.origin
        ('encoded', 'encoded', 'shared')
    """

    def __init__(self, embedder: Embedder, *, max_bytes: int = 256 * 2**20) -> None:
        self.embedder = embedder
        self._dimensions: int | None = None
        self._batcher: Batcher[str, _Vector] = Batcher(
            self._encode,
            key=partial(digest, error=EmbeddingError),
            weigh=lambda vector: vector.row.nbytes,
            max_bytes=max_bytes,
            outage=(EmbedderUnavailable,),
        )

    def vectors(self, texts: Sequence[str]) -> Embedded:
        """The texts' unit vectors, in order. No texts give an array of shape (0, 0).

        Raises:
            EmbeddingError: The embedder failed, returned something that is no set of vectors, or a text
                cannot be encoded. Nothing of it is kept; the next call tries again.
        """
        if isinstance(texts, str):
            raise TypeError("vectors() takes a sequence of texts, not one text")
        found = self._batcher.get(texts)
        rows = np.stack([vector.row for vector, _ in found]) if found else np.empty((0, 0), dtype=np.float32)
        rows.setflags(write=False)
        return Embedded(
            vectors=rows,
            windows=tuple(vector.windows for vector, _ in found),
            origin=tuple(_ENCODED_BY[source] for _, source in found),
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.embedder!r})"

    def _encode(self, texts: Sequence[str]) -> list[_Vector]:
        split = [[text] for text in texts]
        try:
            if isinstance(self.embedder, SplitsText):
                split = self.embedder.split(texts)
                if len(split) != len(texts) or not all(split):
                    raise EmbeddingError(f"{self._name} did not split each of {len(texts)} texts into windows")
            pieces = sorted({piece for windows in split for piece in windows}, key=lambda p: (-len(p), p))
            answer = np.asarray(self.embedder.encode(pieces))
        except EmbeddingError:
            raise
        except Exception as error:
            # An embedder may be the user's own, so this can be anything; it must fail items, not the
            # evaluation.
            raise EmbeddingError(f"{self._name} failed: {type(error).__name__}: {error}") from error
        rows = self._unit_rows(answer, pieces)
        place = {piece: index for index, piece in enumerate(pieces)}
        return [self._pooled([place[piece] for piece in windows], pieces, rows) for windows in split]

    def _unit_rows(self, answer: NDArray[np.generic], pieces: Sequence[str]) -> NDArray[np.float32]:
        count = len(pieces)
        if answer.ndim != 2 or answer.shape[0] != count or answer.shape[1] == 0 or answer.dtype.kind not in "fiu":
            raise EmbeddingError(
                f"{self._name} returned {answer.dtype} of shape {answer.shape} for {count} texts; "
                f"needed are numbers of shape ({count}, d)"
            )
        if self._dimensions is not None and answer.shape[1] != self._dimensions:
            raise EmbeddingError(
                f"{self._name} returned vectors of {answer.shape[1]} dimensions, before {self._dimensions}"
            )
        rows = answer.astype(np.float64)
        with np.errstate(over="ignore"):
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        for bad, what in ((~np.isfinite(lengths), "that is not finite"), (lengths == 0, "of length 0")):
            if bad.any():
                text = pieces[int(np.argmax(bad))]
                raise EmbeddingError(f"{self._name} returned a vector {what} for the text {_shown(text)}")
        self._dimensions = answer.shape[1]
        unit: NDArray[np.float32] = (rows / lengths).astype(np.float32)
        return unit

    def _pooled(self, places: Sequence[int], pieces: Sequence[str], rows: NDArray[np.float32]) -> _Vector:
        if len(places) == 1:
            # A copy, so that one kept row does not hold on to the whole batch.
            return _Vector(rows[places[0]].copy(), 1)
        weights = np.array([len(pieces[place]) for place in places], dtype=np.float64)
        pooled = weights @ rows[places].astype(np.float64)
        length = float(np.linalg.norm(pooled))
        if length == 0:
            raise EmbeddingError(f"the windows of the text {_shown(pieces[places[0]])} cancel each other out")
        return _Vector((pooled / length).astype(np.float32), len(places))

    @property
    def _name(self) -> str:
        return f"the embedder {type(self.embedder).__name__}"


@dataclass(frozen=True, eq=False, slots=True)
class _Vector:
    row: NDArray[np.float32]
    windows: int


_encoders: Registry[Embedder, SharedEncoder] = Registry(SharedEncoder)


def shared_encoder(
    embedder: str | os.PathLike[str] | Embedder | SentenceTransformer | None = None,
) -> SharedEncoder:
    """The one `SharedEncoder` that this process has for an embedder, so that all metrics share its vectors.

    Args:
        embedder: None for `OPIK_CHECKEMBED_EMBEDDER` or the default; a folder or Hugging Face name (local);
            "lexical" (no model); a name that litellm routes (API); a loaded `SentenceTransformer`; or an object
            of your own with `encode`. Equal names, and equal objects, get the same.

    Raises:
        ConfigurationError: It is none of these, or there can be no such model.
    """
    given = default_embedder() if embedder is None else embedder
    named = isinstance(given, str | os.PathLike)
    used = _embedder_of(given)
    return _encoders.of(used, kept=named)


def _embedder_of(given: str | os.PathLike[str] | Embedder | SentenceTransformer) -> Embedder:
    if isinstance(given, str) and is_api_model(given):
        # Slow to import, and local models need none of it.
        from opik_checkembed.models.litellm_embedder import LiteLLMEmbedder

        return LiteLLMEmbedder(given)
    if isinstance(given, str | os.PathLike) or is_sentence_transformer(given):
        return local_embedder(given)
    if isinstance(given, type) or not isinstance(given, Embedder):
        raise ConfigurationError(
            "embedder must be a model name, a folder, or an object with encode(texts) that returns one vector "
            f"a text, not {given!r}"
        )
    return given


def _shown(text: str, limit: int = 60) -> str:
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")
