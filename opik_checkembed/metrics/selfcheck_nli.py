"""SelfCheckGPT with natural language inference as an Opik metric: which sentences do the samples contradict?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.nearest import alike
from opik_checkembed.functional.nli import Relation, pooled
from opik_checkembed.functional.selfcheck import Passage, SentenceScore, mean_over_samples
from opik_checkembed.metrics.selfcheck import Checked, SelfCheckMetric
from opik_checkembed.models.nli import NLIModel, Reading, shared_nli
from opik_checkembed.models.nli_once import shared_once
from opik_checkembed.samples.request import Fields
from opik_checkembed.splitters import Sentence, sentences_of
from opik_checkembed.wording import shortened

if TYPE_CHECKING:
    from opik.evaluation.models import OpikBaseModel


class SelfCheckNLIMetric(SelfCheckMetric):
    """How far the samples contradict the output's worst sentence, 0 consistent to 1 hallucinated, lower is better.

    An NLI model reads every sentence of the output beside every sample and says how likely they contradict each other,
    with neutral left out; a sentence scores the mean over the samples. Each distinct pair is read once, shared with
    all metrics of this process that use the model. A sample too long to be read beside a sentence is read in windows,
    which the reason says; nothing is cut.

    A model that is consistently wrong does not contradict itself: this measures confidence, not truth. Values depend
    on the NLI model, and some crowd near 1: compare them within one model, and choose thresholds on labelled answers.

    The evidence names, for each sentence, the sample that contradicts it most and the one that does least, each with
    its sentence that is most like the judged one.

    `fast=True` reads each sample once for all sentences, and beside each sentence only the twelfth of its tokens that
    would attend most to the sentence (`opik_checkembed.models.deberta_once`; for classifiers like DeBERTa-v2 and -v3
    in this process). On a CPU it was three to four and a half times as fast as selfcheckgpt, more with more sentences.
    It approximates the scores: with a small classifier (DeBERTa-v3-xsmall's shape) and 3 samples the rank correlation
    to the exact scores of WikiBio-GPT3's sentences (951, of half of the passages) was .96 (.95 to .97). Choose
    thresholds in the mode that you use.

    Source: Manakul et al., "SelfCheckGPT" (EMNLP 2023), section 5.4.

    Args:
        model: The model to ask where the task's output names none; a litellm name or an `OpikBaseModel`.
        name: The score's name.
        nli_model: A sequence classification model trained on NLI: a Hugging Face name, a folder, or an `NLIModel` such
            as `TransformerNLI(model, tokenizer=tokenizer)`. None takes the paper's, potsawee/deberta-v3-large-mnli
            (1.7 GB, downloaded at the first use).
        labels: Positions of the classifier's outputs, like {"contradiction": 0, "entailment": 2}; None reads them from
            its configuration.
        device: Where it runs (`cpu`, `cuda:1`, `mps`); None takes a GPU where there is one.
        first: Which text the classifier is given first, "sentence" as in the paper or "sample". The paper's model was
            trained with the hypothesis first; for most others, the premise, "sample", belongs there.
        fast: See above.
        **checking: `aggregate`, `splitter`, `language`, `min_tokens` and what samples take; see `SelfCheckMetric`.

    Raises:
        ConfigurationError: An argument cannot work, or a folder holds no classifier whose labels can be read; says
            what to do.

    Example:
        >>> metric = SelfCheckNLIMetric(nli_model="cross-encoder/nli-deberta-v3-small", first="sample", num_samples=5)
        >>> metric.name, metric.higher_is_better
        ('selfcheck_nli', False)
    """

    default_name: ClassVar[str] = "selfcheck_nli"

    def __init__(
        self,
        model: str | OpikBaseModel | None = None,
        name: str | None = None,
        *,
        nli_model: str | PathLike[str] | NLIModel | None = None,
        labels: Mapping[Relation, int] | None = None,
        device: str | None = None,
        first: Literal["sentence", "sample"] = "sentence",
        fast: bool = False,
        **checking: Any,
    ) -> None:
        if first not in {"sentence", "sample"}:
            raise ConfigurationError(f"first must be 'sentence' or 'sample', not {first!r}")
        if not isinstance(fast, bool):
            raise ConfigurationError(f"fast must be True or False, not {fast!r}")
        self.first = first
        self.fast = fast
        self.nli = shared_nli(nli_model, labels=labels, device=device)
        if fast:
            self.nli = shared_once(self.nli, passage_first=first == "sample")
        super().__init__(model, name, **checking)

    def check(self, output: str, sentences: Sequence[Sentence], samples: Sequence[str], fields: Fields) -> Checked:
        """See `SelfCheckMetric.check`."""
        texts = [sentence.of(output) for sentence in sentences]
        told = {sample: self._told(sample) for sample in samples}
        flat = [place.of(sample) for sample, places in told.items() for place in places]
        scores = alike(texts, flat)
        ends = np.cumsum([len(places) for places in told.values()])
        near = dict(zip(told, np.split(scores, ends[:-1], axis=1), strict=True))

        pairs = [(text, sample) for text in texts for sample in samples]
        readings = self.nli.read(pairs, passage_first=self.first == "sample")
        found = []
        for row, sentence in enumerate(sentences):
            held = [
                _Held(number, sample, told[sample], near[sample][row], reading)
                for number, (sample, reading) in enumerate(
                    zip(samples, readings[row * len(samples) :][: len(samples)], strict=True)
                )
            ]
            found.append(_score(texts[row], sentence, held))
        return Checked(tuple(found), tuple(self._notes(readings, len(texts), len(samples))))

    def why(self, worst: SentenceScore) -> str:
        """Which sample contradicts it most, and how much."""
        assert worst.against is not None  # every sentence is held against at least one sample
        said = shortened(worst.against.text)
        return f"sample {worst.against.sample + 1} contradicts it most ({worst.against.score:.2f}): {said!r}"

    def _told(self, sample: str) -> list[Sentence]:
        found = [one for one in sentences_of(self.splitter, sample) if one.tokens >= self.min_tokens]
        return found or [Sentence(0, len(sample), 0)]

    def _notes(self, readings: Sequence[Reading], sentences: int, samples: int) -> list[str]:
        split = {place % samples for place, reading in enumerate(readings) if len(reading.windows) > 1}
        long = {place // samples for place, reading in enumerate(readings) if len(reading.pieces) > 1}
        notes = []
        if split:
            notes.append(
                f"{len(split)} of {samples} samples are longer than the NLI model reads and were read in windows"
            )
        if long:
            notes.append(
                f"{len(long)} of {sentences} sentences are longer than the NLI model reads and were read in pieces"
            )
        if self.fast:
            notes.append("fast mode: each sample was read once for all sentences, which approximates the scores")
        return notes


class _Held:
    """A sentence held against one sample."""

    def __init__(
        self,
        number: int,
        sample: str,
        places: Sequence[Sentence],
        near: NDArray[np.float32],
        reading: Reading,
    ) -> None:
        shape = (len(reading.pieces), len(reading.windows))
        self._inconsistency = reading.probabilities.inconsistency().reshape(shape)
        self.score = pooled(self._inconsistency)
        self.windows = len(reading.windows)
        self._number = number
        self._sample = sample
        self._places = places
        self._near = near
        self._windows = reading.windows

    def passage(self, *, against: bool) -> Passage:
        """The sample's sentence most like the judged one, of the window that decided where there are several."""
        by_window = self._inconsistency.max(axis=0)
        among = list(range(len(self._places)))
        if len(self._windows) > 1:
            window = self._windows[int(by_window.argmax() if against else by_window.argmin())]
            inside = [i for i in among if window.start <= self._places[i].start and self._places[i].end <= window.end]
            if not inside:
                # A window within one endless sentence.
                return Passage(self._number, window.start, window.end, window.of(self._sample), self.score)
            among = inside
        place = self._places[max(among, key=lambda i: float(self._near[i]))]
        return Passage(self._number, place.start, place.end, place.of(self._sample), self.score)


def _score(text: str, sentence: Sentence, held: Sequence[_Held]) -> SentenceScore:
    windows = max(one.windows for one in held)
    return SentenceScore(
        text=text,
        start=sentence.start,
        end=sentence.end,
        score=mean_over_samples([one.score for one in held]),
        per_sample=tuple(one.score for one in held),
        against=max(held, key=lambda one: one.score).passage(against=True),
        support=min(held, key=lambda one: one.score).passage(against=False),
        detail={"windows": windows} if windows > 1 else {},
    )
