"""SelfCheckGPT with BERTScore as an Opik metric: does each sample hold a sentence that says the same?"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.bertscore import Nearest, TokenEmbeddings, bertscore_f1, nearest_passages
from opik_checkembed.functional.selfcheck import Passage, SentenceScore, mean_over_samples
from opik_checkembed.metrics.selfcheck import Checked, SelfCheckMetric
from opik_checkembed.models.bertscore_baseline import published_baseline, read_baseline
from opik_checkembed.models.token_encoder import (
    DEFAULT_TOKEN_ENCODER,
    TokenEncoder,
    TransformerTokenEncoder,
    shared_token_encoder,
)
from opik_checkembed.samples.request import Fields
from opik_checkembed.splitters import Sentence, sentences_of
from opik_checkembed.wording import shortened

if TYPE_CHECKING:
    from opik.evaluation.models import OpikBaseModel


class SelfCheckBERTScoreMetric(SelfCheckMetric):
    """How far the samples lack a sentence like each of the output's: 0 consistent to 1 hallucinated, lower is better.

    For each sentence the most similar sentence of every sample is found by BERTScore; the sentence's score is 1 minus
    the mean of these F1 over the samples. The value is the score of the worst sentence, or with `aggregate="mean"` the
    paper's score of a passage.

    F1 is rescaled so that unrelated sentences get about 0; a sentence that is farther from the samples than that scores
    somewhat above 1. With `baseline=None` it is not, and scores then crowd near 0 (F1 of unrelated sentences is about
    .83 with roberta-large). Similar wording is close also where one fact differs: for contradictions use
    `SelfCheckNLIMetric`.

    Sentences of a sample with fewer than `min_tokens` tokens are left out, as in selfcheckgpt; a sample that holds
    nothing else is compared as a whole, which the reason says (selfcheckgpt crashes there).

    Source: Manakul et al., "SelfCheckGPT: Zero-Resource Black-Box Hallucination Detection for Generative Large Language
    Models" (EMNLP 2023), section 5.1, equation 3; Zhang et al., "BERTScore" (ICLR 2020).

    Args:
        model: The model to ask where the task's output names none; a litellm name or an `OpikBaseModel`.
        name: The score's name.
        encoder: A Hugging Face name, a folder, or a `TokenEncoder`. The default is for English and, like any other
            name, is loaded at first use (1.4 GB); bert-base-multilingual-cased has a baseline for many languages.
        num_layers: The layer whose embeddings are compared; None takes bert-score's default for encoders it knows.
        baseline: F1 of unrelated sentences: "published" for the encoders bert-score has figures for, a file in its form
            (columns LAYER,P,R,F), a number below 1, or None for scores that are not rescaled.
        device: Where the encoder runs; None takes a GPU where there is one.
        language: Language code, for the published baseline and for splitting sentences by rules.
        **sampling: `aggregate`, `splitter`, `min_tokens` and those of `SampledMetric`; see `SelfCheckMetric`.

    Raises:
        ConfigurationError: An argument cannot work, or no baseline is published for the encoder; says what to do.

    Example:
        >>> metric = SelfCheckBERTScoreMetric(model="gpt-4o-mini")
        >>> metric.name, round(metric.baseline, 3), metric.higher_is_better
        ('selfcheck_bertscore', 0.831, False)
    """

    default_name: ClassVar[str] = "selfcheck_bertscore"

    def __init__(
        self,
        model: str | OpikBaseModel | None = None,
        name: str | None = None,
        *,
        encoder: str | PathLike[str] | TokenEncoder = DEFAULT_TOKEN_ENCODER,
        num_layers: int | None = None,
        baseline: str | PathLike[str] | float | None = "published",
        device: str | None = None,
        language: str = "en",
        **sampling: Any,
    ) -> None:
        super().__init__(model, name, language=language, **sampling)
        self.encoder = shared_token_encoder(encoder, num_layers=num_layers, device=device)
        self.baseline = _baseline(baseline, self.encoder.encoder, language)

    def check(self, output: str, sentences: Sequence[Sentence], samples: Sequence[str], fields: Fields) -> Checked:
        """See `SelfCheckMetric.check`."""
        passages = [self._passages(sample) for sample in samples]
        texts = [[span.of(sample) for span in spans] for sample, spans in zip(samples, passages, strict=True)]
        judged = [sentence.of(output) for sentence in sentences]
        # A sentence that several samples share is compared once.
        distinct = list(dict.fromkeys(text for of_sample in texts for text in of_sample))
        place = {text: i for i, text in enumerate(distinct)}
        embedded = self.encoder.embeddings([*judged, *distinct])
        f1 = bertscore_f1(embedded[: len(judged)], embedded[len(judged) :], baseline=self.baseline)
        nearest = nearest_passages(f1, [[place[text] for text in of_sample] for of_sample in texts])
        scored = []
        for sentence, scores, best in zip(sentences, nearest.scores, nearest.passage, strict=True):
            found = []
            for n, score in enumerate(scores):
                if score is not None:
                    text = distinct[best[n]]
                    span = passages[n][texts[n].index(text)]
                    found.append(Passage(n, span.start, span.end, text, score))
            scored.append(
                SentenceScore(
                    text=sentence.of(output),
                    start=sentence.start,
                    end=sentence.end,
                    score=mean_over_samples(scores),
                    per_sample=scores,
                    against=max(found, key=lambda passage: passage.score, default=None),
                    support=min(found, key=lambda passage: passage.score, default=None),
                    detail={} if found else {"unscored": "the encoder reads no token of it, or of any sample"},
                )
            )
        return Checked(
            tuple(scored),
            notes=_notes(passages, embedded, nearest, self.min_tokens),
            evidence={"encoder": repr(self.encoder.encoder), "baseline": self.baseline},
        )

    def why(self, worst: SentenceScore) -> str:
        """See `SelfCheckMetric.why`."""
        if worst.against is None:
            return super().why(worst)
        return f"the nearest that sample {worst.against.sample + 1} has is {shortened(worst.against.text)!r}"

    def _passages(self, sample: str) -> list[Sentence]:
        """What of a sample is compared with: its sentences that are long enough, else all of it."""
        found = [span for span in sentences_of(self.splitter, sample) if span.tokens >= self.min_tokens]
        return found or [_whole(sample)]


def _whole(text: str) -> Sentence:
    stripped = text.strip()
    start = text.index(stripped)
    return Sentence(start, start + len(stripped), 0)


def _notes(
    passages: Sequence[Sequence[Sentence]], embedded: Sequence[TokenEmbeddings], nearest: Nearest, min_tokens: int
) -> tuple[str, ...]:
    notes = []
    whole = sum(spans[0].tokens < min_tokens for spans in passages)
    if whole:
        notes.append(
            f"{whole} of {len(passages)} samples hold no sentence of {min_tokens} tokens and were compared as a whole"
        )
    split = sum(tokens.windows > 1 for tokens in embedded)
    if split:
        notes.append(f"{split} of {len(embedded)} texts are longer than the encoder reads and were read in windows")
    unread = int(np.isnan(nearest.f1).all(axis=0).sum())
    if unread:
        notes.append(f"the encoder reads no token of {unread} of {len(passages)} samples, which were left out")
    return tuple(notes)


def _baseline(value: str | PathLike[str] | float | None, encoder: TokenEncoder, language: str) -> float | None:
    """The number that an argument stands for."""
    if value is None:
        return None
    if isinstance(value, str | PathLike):
        if not isinstance(encoder, TransformerTokenEncoder):
            raise ConfigurationError(
                f"baseline {value!r} is looked up by name and layer, which {type(encoder).__name__} does not have: "
                "give the F1 of unrelated sentences itself (baseline=0.83), or accept scores that are not rescaled "
                "(baseline=None)"
            )
        if value == "published":
            return published_baseline(encoder.source, encoder.num_layers, language)
        value = read_baseline(value, encoder.num_layers)
    # An F1 of 1 for unrelated sentences leaves nothing to tell apart; nan fails the comparison too.
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1 <= value < 1:
        raise ConfigurationError(f"baseline must be an F1 from -1 to below 1, not {value!r}")
    return float(value)
