"""CheckEmbed: how far whole answers to one request agree, from one embedding per answer.

Source: Besta et al., "CheckEmbed: Effective Verification of LLM Solutions to Open-Ended Tasks" (2024),
https://arxiv.org/abs/2406.02524.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from opik_checkembed.report.heatmap import Heatmap

Similarity: TypeAlias = Literal["cosine", "pearson"]

BASELINES: Mapping[str, float] = MappingProxyType(
    {
        "text-embedding-3-large": 0.3616,
        "Salesforce/SFR-Embedding-Mistral": 0.4591,
        "intfloat/e5-mistral-7b-instruct": 0.5348,
        "Alibaba-NLP/gte-Qwen1.5-7B-instruct": 0.1770,
        "NovaSearch/stella_en_400M_v5": 0.3189,
        "NovaSearch/stella_en_1.5B_v5": 0.3656,
    }
)
"""The similarity of unrelated texts under a model, as CheckEmbed's authors published it, for `rebase`."""

# The labels of the judged answer's row and of the true answer's.
OUTPUT = "output"
REFERENCE = "reference"

# Answers that differ by less than this in agreement differ by rounding alone.
_TIE = 1e-9


def similarity_matrix(vectors: ArrayLike, kind: Similarity = "cosine") -> NDArray[np.float64]:
    """Similarity of every vector with every other.

    Args:
        vectors: Shape (n, d), one row an answer; any real dtype, rows of any length above 0.
        kind: `cosine`, or `pearson`, which is the cosine after each row's mean is taken off.

    Returns:
        Shape (n, n), symmetric, within [-1, 1], with a diagonal of exactly 1.

    Raises:
        ValueError: The vectors are not an (n, d) table of finite numbers, or a row has no direction (all
            zeros; for `pearson`, all components equal).

    Example:
        >>> similarity_matrix([[1, 0], [0, 2]]).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    table = _table(vectors)
    return _similarities(table, kind, [f"vector {row}" for row in range(len(table))])


def rebase(matrix: ArrayLike, baseline: float) -> NDArray[np.float64]:
    """Stretch similarities so that unrelated texts lie at -1 instead of at the model's own floor.

    Args:
        matrix: Similarities of any shape within [-1, 1].
        baseline: The similarity of unrelated texts under the model, below 1; see `BASELINES`.

    Returns:
        `2 (c - b) / (1 - b) - 1`, clipped to [-1, 1]; the baseline becomes -1, and 1 stays 1.

    Raises:
        ValueError: The baseline is not a number from -1 to below 1.

    Example:
        >>> rebase([1.0, 0.75, 0.5, 0.0], baseline=0.5).tolist()
        [1.0, 0.0, -1.0, -1.0]
    """
    if not -1 <= baseline < 1:
        raise ValueError(f"baseline must be at least -1 and below 1, got {baseline}")
    similarities = np.asarray(matrix, dtype=np.float64)
    rebased: NDArray[np.float64] = np.clip(2 * (similarities - baseline) / (1 - baseline) - 1, -1.0, 1.0)
    return rebased


def frobenius_score(matrix: ArrayLike) -> float:
    """CheckEmbed's score: the Frobenius norm of the shifted similarities, without the diagonal.

    Higher means that the answers agree more; 1 when all are alike, 0 when all are opposed. Unrelated
    vectors (all similarities 0) score 0.5, so without `rebase` scores in the lower half are rare.

    Args:
        matrix: Similarities of k answers, shape (k, k), k at least 2, within [-1, 1].

    Returns:
        `sqrt(sum over i != j of (c_ij + 1)^2 / (4 k (k - 1)))`, from 0 to 1.

    Raises:
        ValueError: The matrix is not square, or holds fewer than two answers.

    Example:
        >>> frobenius_score([[1, 0], [0, 1]])
        0.5
    """
    pairs = _off_diagonal(_square(matrix))
    return float(np.sqrt(np.mean((pairs + 1) ** 2)) / 2)


def checkembed(
    samples: ArrayLike,
    *,
    output: ArrayLike | None = None,
    reference: ArrayLike | None = None,
    similarity: Similarity = "cosine",
    baseline: float | None = None,
) -> CheckEmbedResult:
    """How far the embedded answers to one request agree.

    Args:
        samples: Embeddings of the answers to the request asked again, shape (k, d); their order carries no
            meaning.
        output: Embedding of the judged answer, shape (d,). It takes part in the agreement as its first row.
        reference: Embedding of the true answer, shape (d,), when there is one. It is compared with the
            answers and takes no part in their agreement.
        similarity: `cosine` or `pearson`.
        baseline: Rebase every similarity with this baseline; see `rebase`. All of the result is then in
            rebased similarities.

    Returns:
        The agreement with its evidence.

    Raises:
        ValueError: Fewer than two answers in total, a vector without a direction, or shapes that do not fit.

    Example:
        >>> result = checkembed([[1, 0], [0, 1]], output=[1, 0])
        >>> result.labels
        ('output', 'sample 1', 'sample 2')
        >>> round(result.score, 4), result.samples_only_score
        (0.7071, 0.5)
        >>> result.outlier
        Outlier(index=2, label='sample 2')
    """
    rows = _numbers(samples, "samples")
    rows = _table(rows, "samples") if rows.size else np.empty((0, 0))
    answers = len(rows) + (output is not None)
    if answers < 2:
        raise ValueError(
            f"agreement needs at least two answers, got {answers}: ask for more samples, or give the output"
        )
    parts = [rows]
    labels = [f"sample {number}" for number in range(1, len(rows) + 1)]
    if output is not None:
        parts.insert(0, _row(output, "output", rows.shape[1]))
        labels.insert(0, OUTPUT)
    if reference is not None:
        parts.append(_row(reference, "reference", rows.shape[1]))
        labels.append(REFERENCE)
    matrix = _similarities(np.concatenate(parts), similarity, labels)
    if baseline is not None:
        matrix = rebase(matrix, baseline)
    return CheckEmbedResult(matrix=matrix, labels=tuple(labels), similarity=similarity, baseline=baseline)


@dataclass(frozen=True, slots=True)
class Outlier:
    """The answer that agrees least with the others: its row in the matrix, and its label."""

    index: int
    label: str


@dataclass(frozen=True, eq=False)
class CheckEmbedResult:
    """What `checkembed` found. Every number is read off `matrix`, so a result cannot contradict its evidence.

    Attributes:
        matrix: Similarities of all rows, (n, n), within [-1, 1]; rebased if `baseline` is set. Read-only.
        labels: One for each row: "output" first if it was given, "sample 1" to "sample k", and "reference"
            last if it was given.
        similarity: `cosine` or `pearson`.
        baseline: What the similarities were rebased with, or None.
    """

    matrix: NDArray[np.float64]
    labels: tuple[str, ...]
    similarity: Similarity = "cosine"
    baseline: float | None = None

    def __post_init__(self) -> None:
        matrix = np.array(_square(self.matrix))
        matrix.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "labels", tuple(self.labels))
        if len(self.labels) != len(matrix):
            raise ValueError(f"{len(matrix)} rows but {len(self.labels)} labels")
        if len(matrix) - self._has_reference < 2:
            raise ValueError("agreement needs at least two answers beside the reference")

    @property
    def _has_output(self) -> bool:
        return self.labels[0] == OUTPUT

    @property
    def _has_reference(self) -> bool:
        return self.labels[-1] == REFERENCE

    @cached_property
    def _answers(self) -> NDArray[np.float64]:
        """The similarities of the answers alone, without the reference."""
        return self.matrix[:-1, :-1] if self._has_reference else self.matrix

    @cached_property
    def _pairs(self) -> NDArray[np.float64]:
        return _off_diagonal(self._answers)

    @cached_property
    def score(self) -> float:
        """CheckEmbed's score over output and samples, 0 to 1, higher is better; see `frobenius_score`.

        Without an output, over the samples alone.
        """
        return frobenius_score(self._answers)

    @cached_property
    def samples_only_score(self) -> float | None:
        """The paper's score, which never reads the judged output; None with fewer than two samples."""
        samples = self._answers[1:, 1:] if self._has_output else self._answers
        return frobenius_score(samples) if len(samples) > 1 else None

    @cached_property
    def mean(self) -> float:
        """Mean similarity of two answers, -1 to 1."""
        return float(self._pairs.mean())

    @cached_property
    def std(self) -> float:
        """Population standard deviation of the similarities of two answers, 0 to 1."""
        return float(self._pairs.std())

    @cached_property
    def min(self) -> float:
        """Similarity of the two answers that agree least, -1 to 1."""
        return float(self._pairs.min())

    @cached_property
    def agreement(self) -> NDArray[np.float64]:
        """Mean similarity of each answer with the others, -1 to 1, in the order of `labels`; read-only."""
        answers = self._answers
        agreement: NDArray[np.float64] = (answers.sum(axis=1) - answers.diagonal()) / (len(answers) - 1)
        agreement.flags.writeable = False
        return agreement

    @cached_property
    def outlier(self) -> Outlier | None:
        """The answer that agrees least with the others; None when all agree equally, as two always do."""
        if float(np.ptp(self.agreement)) < _TIE:
            return None
        index = int(self.agreement.argmin())
        return Outlier(index, self.labels[index])

    @cached_property
    def output_agreement(self) -> float | None:
        """Mean similarity of the judged output with the samples, -1 to 1; None without an output."""
        return float(self.agreement[0]) if self._has_output else None

    @cached_property
    def reference_similarity(self) -> float | None:
        """Similarity of the output with the reference, mapped from [-1, 1] to 0..1, the scale of `score`.

        None unless both were given.
        """
        if not (self._has_output and self._has_reference):
            return None
        return float((self.matrix[0, -1] + 1) / 2)

    @cached_property
    def samples_reference_similarity(self) -> float | None:
        """Mean similarity of the samples with the reference, mapped to 0..1; None without a reference."""
        if not self._has_reference:
            return None
        return float((self.matrix[int(self._has_output) : -1, -1].mean() + 1) / 2)

    def confident(self, mean: float = 0.9, std: float = 0.05) -> bool:
        """The paper's rule of thumb for an answer to trust: mean above 0.9 and standard deviation below 0.05.

        The absolute values depend on the embedder; thresholds for another one come from labelled answers.

        Args:
            mean: What the mean similarity must exceed.
            std: What the standard deviation must stay under.
        """
        return self.mean > mean and self.std < std

    def heatmap(self, title: str | None = None) -> Heatmap:
        """The matrix as a picture, with the reference set apart."""
        from opik_checkembed.report.heatmap import draw  # matplotlib loads when a picture is wanted

        return draw(self.matrix, self.labels, title)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON-ready values: every attribute and property of this class under its own name."""
        outlier = self.outlier
        return {
            "score": self.score,
            "samples_only_score": self.samples_only_score,
            "mean": self.mean,
            "std": self.std,
            "min": self.min,
            "agreement": self.agreement.tolist(),
            "output_agreement": self.output_agreement,
            "outlier": None if outlier is None else {"index": outlier.index, "label": outlier.label},
            "reference_similarity": self.reference_similarity,
            "samples_reference_similarity": self.samples_reference_similarity,
            "labels": list(self.labels),
            "matrix": self.matrix.tolist(),
            "similarity": self.similarity,
            "baseline": self.baseline,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CheckEmbedResult:
        """The inverse of `to_dict`; the derived numbers are computed again from the matrix.

        Raises:
            KeyError: A field is missing.
            ValueError: The matrix and labels do not fit each other.
        """
        return cls(
            matrix=np.asarray(data["matrix"], dtype=np.float64),
            labels=tuple(data["labels"]),
            similarity=data["similarity"],
            baseline=data["baseline"],
        )


def _numbers(values: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers, with rows of one length: {error}") from error


def _table(vectors: ArrayLike, name: str = "vectors") -> NDArray[np.float64]:
    table = _numbers(vectors, name)
    if table.ndim != 2 or not table.size:
        raise ValueError(f"{name} must have shape (n, d) with n and d above 0, got {table.shape}")
    return table


def _row(vector: ArrayLike, name: str, width: int) -> NDArray[np.float64]:
    row = _numbers(vector, name)
    if row.shape != (width,):
        raise ValueError(f"{name} must have shape ({width},) like a row of the samples, got {row.shape}")
    return row[np.newaxis]


def _similarities(table: NDArray[np.float64], kind: Similarity, names: Sequence[str]) -> NDArray[np.float64]:
    if kind not in get_args(Similarity):
        raise ValueError(f"similarity must be one of {', '.join(get_args(Similarity))}, got {kind!r}")
    finite = np.isfinite(table).all(axis=1)
    if not finite.all():
        raise ValueError(f"{names[int(finite.argmin())]} holds NaN or infinity")
    # Scaled to a largest component of 1 first, so that squares of huge or tiny components keep their digits.
    peaks = np.abs(table).max(axis=1, keepdims=True)
    if not peaks.all():
        raise ValueError(f"{names[int(peaks.argmin())]} is all zeros: it has no direction to compare")
    rows = table / peaks
    if kind == "pearson":
        spread = np.ptp(rows, axis=1)
        if not spread.all():
            raise ValueError(f"{names[int(spread.argmin())]} has equal components: its correlation is undefined")
        rows = rows - rows.mean(axis=1, keepdims=True)
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    matrix: NDArray[np.float64] = np.clip(rows @ rows.T, -1.0, 1.0)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def _square(matrix: ArrayLike) -> NDArray[np.float64]:
    square = np.asarray(matrix, dtype=np.float64)
    if square.ndim != 2 or square.shape[0] != square.shape[1]:
        raise ValueError(f"a similarity matrix must be square, got shape {square.shape}")
    if len(square) < 2:
        raise ValueError(f"agreement needs at least two answers, got {len(square)}")
    return square


def _off_diagonal(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    return matrix[~np.eye(len(matrix), dtype=bool)]
