"""CheckEmbed as an Opik metric: do the model's answers, as wholes, mean the same?"""

from __future__ import annotations

from collections import Counter
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed.errors import ConfigurationError, EmbeddingError
from opik_checkembed.functional.checkembed import BASELINES, CheckEmbedResult, checkembed
from opik_checkembed.metrics.base import SampledMetric
from opik_checkembed.models.embedder import Embedder
from opik_checkembed.models.shared_encoder import shared_encoder
from opik_checkembed.samples.request import Fields
from opik_checkembed.samples.sample import SampleSet
from opik_checkembed.samples.spans import attach_png, current_span

if TYPE_CHECKING:
    from opik.evaluation.models import OpikBaseModel


class CheckEmbedMetric(SampledMetric):
    """How far the model's repeated answers agree as wholes: 0 to 1, higher is better.

    The tracked model is asked the same again, each answer becomes one embedding, and the score is the Frobenius norm
    of the shifted cosine matrix over the judged output and its samples (unrelated vectors score about 0.5, identical
    ones 1). Absolute values depend on the embedder: with a small one the topic dominates and scores crowd between .8
    and 1, yet their order holds. Choose thresholds on labelled answers of your own.

    A model that is consistently wrong agrees with itself and scores high: this measures confidence, not truth.

    Returns one score under `name`, one under `<name>_reference` when the item holds a `reference` (how close the
    judged output is to it, on the same scale), and one under `<name>_samples_only` if asked for. Mean, standard
    deviation and minimum of the similarities, and whether they satisfy the paper's rule for a good answer, stand in
    the reason; matrix and samples in the metadata; the heatmap is attached to the metric's span. Identical samples are
    never called confident: a provider cache makes any answer agree with itself.

    Source: Besta et al., "CheckEmbed: Effective Verification of LLM Solutions to Open-Ended Tasks" (2024), section 2.

    Args:
        model: The model to ask where the task's output names none; a litellm name or an `OpikBaseModel`.
        name: The score's name.
        embedder: A sentence-transformers name or folder, an embedding model litellm routes
            ("text-embedding-3-large"), "lexical" (hashed character n-grams: no model, spelling and not meaning; see
            `LexicalEmbedder`), or an `Embedder`; None takes `OPIK_CHECKEMBED_EMBEDDER`, else
            all-MiniLM-L6-v2.
        similarity: "cosine" or "pearson".
        baseline: Similarity of unrelated answers for this embedder, mapped to -1 before scoring: a number, or the name
            of a model with a published one (`opik_checkembed.functional.checkembed.BASELINES`). None leaves the
            similarities as they are.
        confident_mean: The rule's lower bound on the mean similarity.
        confident_std: The rule's upper bound on the standard deviation.
        samples_only: Also return the paper's score, which never reads the judged output.
        heatmap: Attach the heatmap when Opik records.
        **sampling: See `SampledMetric`.

    Raises:
        ConfigurationError: An argument cannot work; says what to do.

    Example:
        >>> metric = CheckEmbedMetric(embedder="text-embedding-3-large", model="gpt-4o-mini", num_samples=8)
        >>> metric.name, metric.higher_is_better
        ('checkembed_metric', True)
    """

    higher_is_better: ClassVar[bool] = True
    default_name: ClassVar[str] = "checkembed_metric"

    def __init__(
        self,
        model: str | OpikBaseModel | None = None,
        name: str | None = None,
        *,
        embedder: str | PathLike[str] | Embedder | None = None,
        similarity: Literal["cosine", "pearson"] = "cosine",
        baseline: float | str | None = None,
        confident_mean: float = 0.9,
        confident_std: float = 0.05,
        samples_only: bool = False,
        heatmap: bool = True,
        **sampling: Any,
    ) -> None:
        if similarity not in {"cosine", "pearson"}:
            raise ConfigurationError(f"similarity must be 'cosine' or 'pearson', not {similarity!r}")
        for argument, value in (("confident_mean", confident_mean), ("confident_std", confident_std)):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ConfigurationError(f"{argument} must be a number, not {value!r}")
        self.similarity = similarity
        self.baseline = _baseline(baseline)
        self.confident_mean = confident_mean
        self.confident_std = confident_std
        self.samples_only = samples_only
        self.heatmap = heatmap
        self.encoder = shared_encoder(embedder)
        super().__init__(model, name, **sampling)

    def judge(self, output: str, samples: SampleSet, fields: Fields) -> list[ScoreResult]:
        """See `SampledMetric.judge`."""
        reference = fields.get("reference")
        known = [reference.strip()] if isinstance(reference, str) and reference.strip() else []
        if reference is not None and not known:
            samples = samples.noting(("`reference` holds no text and was not compared",))
        texts = [output, *samples.texts, *known]
        embedded = self.encoder.vectors(texts)
        answers = len(samples.texts) + 1
        try:
            result = checkembed(
                embedded.vectors[1:answers],
                output=embedded.vectors[0],
                reference=embedded.vectors[answers] if known else None,
                similarity=self.similarity,
                baseline=self.baseline,
            )
        except ValueError as error:
            raise EmbeddingError(f"the embeddings cannot be compared: {error}") from error
        split = sum(count > 1 for count in embedded.windows)
        if split:
            samples = samples.noting(
                (
                    f"{split} of {len(texts)} texts are longer than the embedder reads and were read in windows "
                    f"({sum(embedded.windows)} in all)",
                )
            )
        # A cache or a fixed seed makes all samples equal, whatever they say; that is never called confidence.
        identical = len(set(samples.texts)) == 1
        confident = result.confident(self.confident_mean, self.confident_std) and not identical
        evidence = {
            **result.to_dict(),
            "confident": confident,
            "identical": identical,
            "windows": list(embedded.windows),
            "embedding": dict(Counter(embedded.origin)),
        }
        scores = [self.scored(result.score, self._sentence(result, confident, identical), samples, evidence)]
        if result.reference_similarity is not None:
            sentence = (
                f"The output is {result.reference_similarity:.3f} close to the reference (0 to 1, higher is better)"
            )
            scores.append(self.scored(result.reference_similarity, sentence, samples, evidence, "_reference"))
        if self.samples_only and result.samples_only_score is not None:
            sentence = (
                "Agreement of the samples among themselves, the judged output not read (0 to 1, higher is better)"
            )
            scores.append(self.scored(result.samples_only_score, sentence, samples, evidence, "_samples_only"))
        if self.heatmap and current_span() is not None:
            attach_png(f"{self.name}.png", result.heatmap(f"{self.name} {result.score:.3f}").png)
        return scores

    def _sentence(self, result: CheckEmbedResult, confident: bool, identical: bool) -> str:
        outlier = f"; least alike is {result.outlier.label} at {min(result.agreement):.3f}" if result.outlier else ""
        rule = f"the rule mean > {self.confident_mean:g} and std < {self.confident_std:g}"
        verdict = f"{'' if confident else 'not '}confident by {rule}"
        return (
            f"The output and {len(result.agreement) - 1} samples agree at mean {result.mean:.3f}, "
            f"std {result.std:.3f}, min {result.min:.3f} (score 0 to 1, higher is better); "
            f"{f'{rule} says nothing about identical samples' if identical else verdict}{outlier}"
        )


def _baseline(value: float | str | None) -> float | None:
    if value is None:
        return None
    if isinstance(value, str):
        if value not in BASELINES:
            raise ConfigurationError(f"no baseline is published for {value!r}; there are {', '.join(BASELINES)}")
        return BASELINES[value]
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1 <= value < 1:
        raise ConfigurationError(f"baseline must be a similarity from -1 to below 1, not {value!r}")
    return float(value)
