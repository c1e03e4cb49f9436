"""The sides of the runtime comparison, one class for each method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from opik_checkembed.benchmarks.reference import Reference, bertscore_reference, ngram_reference, nli_reference
from opik_checkembed.benchmarks.runtime import Reading, Workload
from opik_checkembed.benchmarks.timing import timed
from opik_checkembed.functional.checkembed import checkembed
from opik_checkembed.metrics.selfcheck import SelfCheckMetric
from opik_checkembed.metrics.selfcheck_bertscore import SelfCheckBERTScoreMetric
from opik_checkembed.metrics.selfcheck_ngram import SelfCheckNgramMetric
from opik_checkembed.metrics.selfcheck_nli import SelfCheckNLIMetric
from opik_checkembed.models.embedder import DEFAULT_EMBEDDER, SentenceTransformerEmbedder
from opik_checkembed.models.nli import SharedNLI, TransformerNLI
from opik_checkembed.models.shared_encoder import SharedEncoder
from opik_checkembed.models.token_encoder import SharedTokenEncoder, TransformerTokenEncoder

_FLOOR_BATCHES = (1, 8, 32)


class CheckEmbedContender:
    """CheckEmbed against `SentenceTransformer.encode` of the same texts, long ones in the same windows."""

    name = "CheckEmbed"

    def __init__(self, embedder: str | None = None) -> None:
        self._embedder = SentenceTransformerEmbedder(embedder or DEFAULT_EMBEDDER)
        self.model = embedder or DEFAULT_EMBEDDER
        self.ours_load_s = timed(lambda: self._embedder.encode(["x"]))

    def ours(self, work: Workload) -> Sequence[float]:
        """See `Contender.ours`."""
        vectors = SharedEncoder(self._embedder).vectors([work.output, *work.samples]).vectors
        return [checkembed(vectors[1:], output=vectors[0]).score]

    def reference(self, work: Workload) -> Reading | None:
        """SelfCheckGPT has no such method."""
        return None

    def floor(self, work: Workload) -> Callable[[], object] | None:
        """See `Contender.floor`."""
        pieces = [piece for windows in self._embedder.split([work.output, *work.samples]) for piece in windows]
        distinct = sorted(set(pieces), key=len)
        return lambda: self._embedder.encode(distinct)


class _SelfCheckContender:
    """What the SelfCheckGPT methods have in common: the same sentences for both sides."""

    name: str
    model: str
    ours_load_s = 0.0
    _metric: SelfCheckMetric
    _reference: Reference

    def ours(self, work: Workload) -> Sequence[float]:
        """See `Contender.ours`."""
        self._forget()
        found = self._metric.check(work.output, work.sentences, work.samples, {}).sentences
        return [float("nan") if one.score is None else one.score for one in found]

    def reference(self, work: Workload) -> Reading | None:
        """See `Contender.reference`."""
        before = self._reference.load_s
        sentences = [sentence.of(work.output) for sentence in work.sentences]
        scores = self._reference.predict(sentences, work.output, work.samples)
        return Reading(scores, self._reference.load_s - before)

    def floor(self, work: Workload) -> Callable[[], object] | None:
        """See `Contender.floor`."""
        return None

    def _forget(self) -> None:
        """Drop what an earlier round has computed."""


class NgramContender(_SelfCheckContender):
    """Unigram (max). Ours needs no parser: counts of single tokens do not depend on where sentences end."""

    name = "SelfCheck n-gram (n=1, max)"
    model = "none"

    def __init__(self, pipeline: str) -> None:
        self._metric = SelfCheckNgramMetric(store=None, track=False)
        self._reference = ngram_reference(pipeline)


class BERTScoreContender(_SelfCheckContender):
    """BERTScore, not rescaled, against the encoder's forward pass over the distinct sentences."""

    name = "SelfCheck BERTScore"

    def __init__(self, encoder: str, num_layers: int, pipeline: str) -> None:
        self._encoder = TransformerTokenEncoder(encoder, num_layers=num_layers)
        self.model = f"{encoder}, layer {num_layers}"
        metric = SelfCheckBERTScoreMetric(
            encoder=self._encoder, baseline=None, splitter=pipeline, store=None, track=False
        )
        self._metric = metric
        self._bertscore = metric
        self.ours_load_s = timed(lambda: self._encoder.encode(["x"]))
        self._reference = bertscore_reference(self._encoder.source, num_layers, pipeline)

    def _forget(self) -> None:
        self._bertscore.encoder = SharedTokenEncoder(self._encoder)

    def floor(self, work: Workload) -> Callable[[], object] | None:
        """See `Contender.floor`: the fastest of a few batch sizes."""
        splitter = self._metric.splitter
        texts = [sentence.of(work.output) for sentence in work.sentences]
        texts += [s.of(sample) for sample in work.samples for s in splitter.split(sample) if s.tokens > 3]
        return _forward(self._encoder.source, list(dict.fromkeys(texts)), layers=self._encoder.num_layers)


class NLIContender(_SelfCheckContender):
    """NLI against the classifier's forward pass over the distinct pairs."""

    name = "SelfCheck NLI"

    def __init__(self, nli_model: str) -> None:
        self._nli = TransformerNLI(nli_model)
        self.model = nli_model
        metric = SelfCheckNLIMetric(nli_model=self._nli, store=None, track=False)
        self._metric = metric
        self._shell = metric
        self.ours_load_s = timed(lambda: self._nli.probabilities([("x", "y")]))
        self._reference = nli_reference(self._nli.source)

    def _forget(self) -> None:
        self._shell.nli = SharedNLI(self._nli)

    def floor(self, work: Workload) -> Callable[[], object] | None:
        """See `Contender.floor`: the fastest of a few batch sizes."""
        sentences = [sentence.of(work.output) for sentence in work.sentences]
        pairs = list(dict.fromkeys((sentence, sample) for sentence in sentences for sample in work.samples))
        return _forward(self._nli.source, pairs)


def _forward(
    source: str, inputs: Sequence[str] | Sequence[tuple[str, str]], layers: int | None = None
) -> Callable[[], object]:
    """The model's bare forward pass over these inputs, sorted by length, at the batch size that is fastest here."""
    import torch
    from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(source)
    if layers is None:
        model: Any = AutoModelForSequenceClassification.from_pretrained(source)
    else:
        model = AutoModel.from_pretrained(source)
        model.encoder.layer = model.encoder.layer[:layers]
    model.eval()
    limit = min(tokenizer.model_max_length, model.config.max_position_embeddings)
    pairs = [one if isinstance(one, tuple) else (one,) for one in inputs]
    encoded = [tokenizer(*texts, truncation=True, max_length=limit) for texts in pairs]
    encoded.sort(key=lambda one: len(one["input_ids"]))

    def run(batch: int) -> None:
        with torch.inference_mode():
            for at in range(0, len(encoded), batch):
                model(**tokenizer.pad(encoded[at : at + batch], return_tensors="pt"))

    run(_FLOOR_BATCHES[-1])
    best = min(_FLOOR_BATCHES, key=lambda batch: timed(lambda: run(batch)))
    return lambda: run(best)
