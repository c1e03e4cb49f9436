"""The sides of the runtime comparison, one class for each method."""

from __future__ import annotations

import contextlib
import importlib
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from opik_checkembed.benchmarks.reference import (
    Predict,
    Reference,
    bertscore_reference,
    mqag_reference,
    ngram_reference,
    nli_reference,
)
from opik_checkembed.benchmarks.runtime import Reading, Workload
from opik_checkembed.benchmarks.timing import timed
from opik_checkembed.functional.checkembed import checkembed
from opik_checkembed.functional.mqag import sentence_score
from opik_checkembed.metrics.fact_recurrence import FactRecurrenceMetric
from opik_checkembed.metrics.selfcheck import SelfCheckMetric
from opik_checkembed.metrics.selfcheck_bertscore import SelfCheckBERTScoreMetric
from opik_checkembed.metrics.selfcheck_ngram import SelfCheckNgramMetric
from opik_checkembed.metrics.selfcheck_nli import SelfCheckNLIMetric
from opik_checkembed.models.embedder import DEFAULT_EMBEDDER, SentenceTransformerEmbedder
from opik_checkembed.models.local_model import no_progress_bar
from opik_checkembed.models.mqag import MQAG
from opik_checkembed.models.mqag_answering import AnswerabilityClassifier, MultipleChoiceAnswerer
from opik_checkembed.models.mqag_generation import Seq2SeqDistractorGenerator, Seq2SeqQuestionGenerator
from opik_checkembed.models.names import model_name
from opik_checkembed.models.nli import SharedNLI, TransformerNLI
from opik_checkembed.models.nli_once import PassageOnceNLI
from opik_checkembed.models.shared_encoder import SharedEncoder
from opik_checkembed.models.token_encoder import SharedTokenEncoder, TransformerTokenEncoder
from opik_checkembed.spacy_text import SpacySplitter
from opik_checkembed.splitters import RuleSplitter, Sentence, SentenceSplitter

_FLOOR_BATCHES = (1, 8, 32)


class CheckEmbedContender:
    """CheckEmbed against `SentenceTransformer.encode` of the same texts, long ones in the same windows."""

    name = "CheckEmbed"

    def __init__(self, embedder: str | None = None) -> None:
        self._embedder = SentenceTransformerEmbedder(embedder or DEFAULT_EMBEDDER)
        self.model = model_name(embedder or DEFAULT_EMBEDDER)
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

    def reference(self, work: Workload) -> Reading:
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
    """Unigram (max). Ours needs no parser: counts of single tokens do not depend on where sentences end.

    The reference loads its parser anew each time, which counts as loading, and puts every text through it twice: as a
    whole, to split it, and sentence by sentence, for the tokens.

    Args:
        pipeline: The reference's spaCy pipeline.
        splitting: Whether splitting counts on both sides. Without it, what is timed is tokens and counts.
    """

    model = "none"

    def __init__(self, pipeline: str, *, splitting: bool = True) -> None:
        self.name = f"SelfCheck n-gram (n=1, max){'' if splitting else ', splitting apart'}"
        splitter = None if splitting else _SplitsOnce(RuleSplitter())
        self._metric = SelfCheckNgramMetric(splitter=splitter, store=None, track=False)
        self._reference = ngram_reference(pipeline)
        self._splitting = splitting

    def reference(self, work: Workload) -> Reading:
        """See `Contender.reference`."""
        whole = () if self._splitting else (work.output, *work.samples)
        with _spacy_timed(frozenset(whole)) as apart:
            reading = super().reference(work)
        return Reading(reading.scores, reading.load_s + math.fsum(apart), "" if self._splitting else _SPLIT_APART)


_SPLIT_APART = "splitting texts into sentences is timed apart on both sides"


@contextlib.contextmanager
def _spacy_timed(texts: Set[str]) -> Iterator[list[float]]:
    """The seconds that loading spaCy pipelines takes meanwhile, and that they take to read these texts as a whole."""
    spacy: Any = importlib.import_module("spacy")
    load, apart, unread = spacy.load, list[float](), set(texts)

    def timed_load(name: str) -> Callable[[str], Any]:
        started = time.perf_counter()
        pipeline = load(name)
        apart.append(time.perf_counter() - started)

        def read(text: str) -> Any:
            begun = time.perf_counter()
            document = pipeline(text)
            # A text of one sentence is read once more, for its tokens.
            if text in unread:
                unread.remove(text)
                apart.append(time.perf_counter() - begun)
            return document

        return read

    spacy.load = timed_load
    try:
        yield apart
    finally:
        spacy.load = load


class _SplitsOnce:
    """Splits each text once, so that only the first, untimed run pays for it."""

    def __init__(self, splitter: SentenceSplitter) -> None:
        self._splitter = splitter
        self._known: dict[str, list[Sentence]] = {}

    def split(self, text: str) -> list[Sentence]:
        if text not in self._known:
            self._known[text] = self._splitter.split(text)
        return self._known[text]


class BERTScoreContender(_SelfCheckContender):
    """BERTScore, not rescaled, against the encoder's forward pass over the distinct sentences; splitting apart."""

    def __init__(self, encoder: str, num_layers: int, pipeline: str) -> None:
        self._encoder = TransformerTokenEncoder(encoder, num_layers=num_layers)
        self.model = f"{model_name(encoder)}, layer {num_layers}"
        self.name = f"SelfCheck BERTScore, {model_name(encoder)}"
        # Both sides split with the same slow parser; what is compared is the score.
        splitter = _SplitsOnce(SpacySplitter(pipeline))
        metric = SelfCheckBERTScoreMetric(
            encoder=self._encoder, baseline=None, splitter=splitter, store=None, track=False
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
        self.model = model_name(nli_model)
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


class FastNLIContender(NLIContender):
    """NLI that reads each sample once. Its scores are near the exact ones, so that only times are compared.

    Raises:
        ConfigurationError: The classifier cannot be read so.
    """

    name = "SelfCheck NLI, fast"

    def __init__(self, nli_model: str) -> None:
        super().__init__(nli_model)
        self._once = PassageOnceNLI(self._nli, passage_first=False)

    def _forget(self) -> None:
        self._shell.nli = SharedNLI(self._once)

    def reference(self, work: Workload) -> Reading:
        """See `Contender.reference`."""
        return Reading(None, super().reference(work).load_s, "the fast mode approximates: no scores to compare")

    def floor(self, work: Workload) -> Callable[[], object] | None:
        """None: a full forward pass is more than it does."""
        return None


class MQAGContender(_SelfCheckContender):
    """MQAG's answering, which is most of its work: both sides answer the questions that ours has drawn.

    Args:
        folder: Holds the four models, in folders named `questions`, `distractors`, `answering` and `answerable`.
    """

    name = "SelfCheck MQAG (answering)"

    def __init__(self, folder: Path) -> None:
        self.model = model_name(folder)
        self.folders = {
            "g1_model": str(folder / "questions"),
            "g2_model": str(folder / "distractors"),
            "answering_model": str(folder / "answering"),
            "answerability_model": str(folder / "answerable"),
        }
        self._answerer = MultipleChoiceAnswerer(folder / "answering")
        self._answerability = AnswerabilityClassifier(folder / "answerable")
        self._generators = (
            Seq2SeqQuestionGenerator(folder / "questions"),
            Seq2SeqDistractorGenerator(folder / "distractors"),
        )
        self._asking = MQAG(*self._generators, self._answerer)
        self._asked: dict[str, list[dict[str, Any]]] = {}
        self._reference = mqag_reference(self.folders, self._asked)

    def ours(self, work: Workload) -> Sequence[float]:
        """See `Contender.ours`."""
        texts = [sentence.of(work.output) for sentence in work.sentences]
        new = [text for text in texts if text not in self._asked]
        for text, found in zip(new, self._asking.ask(new, work.output, _QUESTIONS, _QUESTIONS), strict=True):
            self._asked[text] = [{"question": question, "options": list(of)} for question, of in found.questions]
        questions = [[(one["question"], tuple(one["options"])) for one in self._asked[text]] for text in texts]
        return _scores_of(self.anew(), questions, work)

    def anew(self) -> MQAG:
        """Our models, which remember nothing of an earlier round."""
        questions, distractors = self._generators
        return MQAG(_Anew(questions), _Anew(distractors), _Anew(self._answerer), _Anew(self._answerability))

    def reference(self, work: Workload) -> Reading:
        """See `Contender.reference`; it gives NaN where there is no question, so such sentences are left out."""
        before = self._reference.load_s
        texts = [text for sentence in work.sentences if self._asked[text := sentence.of(work.output)]]
        return Reading(self._reference.predict(texts, work.output, work.samples), self._reference.load_s - before)


class WholeMQAGContender(_SelfCheckContender):
    """MQAG from the sentences to their scores: five questions drawn for each, with distractors, and answered.

    Each side draws from random numbers of its own, the same in every round. So their questions differ, and only times
    are compared; that equal questions get equal scores is for `MQAGContender` to show.

    Args:
        answering: Holds our models, and says where they lie.
    """

    name = "SelfCheck MQAG (asking and answering)"

    def __init__(self, answering: MQAGContender) -> None:
        self.model = answering.model
        self._answering = answering
        self._reference = Reference(partial(_drawing, models=answering.folders))

    def ours(self, work: Workload) -> Sequence[float]:
        """See `Contender.ours`."""
        mqag = self._answering.anew()
        texts = [sentence.of(work.output) for sentence in work.sentences]
        asked = mqag.ask(texts, work.output, _QUESTIONS, _QUESTIONS)
        return _scores_of(mqag, [found.questions for found in asked], work)

    def reference(self, work: Workload) -> Reading:
        """See `Contender.reference`."""
        return Reading(None, super().reference(work).load_s, "each side draws its own questions: no scores to compare")


def _drawing(_: Reference, models: Mapping[str, str]) -> Predict:
    """Its MQAG method as it was released, from the same random numbers each time."""
    import torch
    from selfcheckgpt.modeling_selfcheck import SelfCheckMQAG

    method = SelfCheckMQAG(**models)

    def predict(sentences: Sequence[str], passage: str, samples: Sequence[str]) -> list[float]:
        # A sentence without a question has a mean of no scores there.
        with torch.random.fork_rng(), np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Mean of empty slice", RuntimeWarning)
            torch.manual_seed(0)
            found: list[float] = method.predict(list(sentences), passage, list(samples), beta1=0.8, beta2=0.8)
        return found

    return predict


def _scores_of(mqag: MQAG, questions: Sequence[Sequence[tuple[str, tuple[str, ...]]]], work: Workload) -> list[float]:
    """The scores of the sentences with these questions, those left out that have none."""
    answered = iter(mqag.answer([one for of_text in questions for one in of_text], [work.output, *work.samples])[0])
    scores = []
    for of_text in questions:
        found = [next(answered) for _ in of_text]
        scored = sentence_score(found, "bayes_with_alpha", samples=len(work.samples))
        if scored.score is not None:
            scores.append(scored.score)
    return scores


_QUESTIONS = 5


class _Anew:
    """Another name for a model, unequal to any other."""

    def __init__(self, model: object) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


class FactsContender:
    """Fact recurrence, rules only: neither a reference nor a model below it."""

    name = "Fact recurrence"
    model = "none"
    ours_load_s = 0.0

    def __init__(self) -> None:
        self._metric = FactRecurrenceMetric(store=None, track=False)

    def ours(self, work: Workload) -> Sequence[float]:
        """See `Contender.ours`."""
        found = self._metric.check(work.output, work.sentences, work.samples, {}).sentences
        return [float("nan") if one.score is None else one.score for one in found]

    def reference(self, work: Workload) -> Reading | None:
        """SelfCheckGPT has no such method."""
        return None

    def floor(self, work: Workload) -> Callable[[], object] | None:
        """See `Contender.floor`."""
        return None


def random_encoder(folder: Path, tokenizer: str, *, width: int = 1024, layers: int = 24) -> Path:
    """Save an encoder of roberta-large's shape with random weights, which take as long as trained ones.

    Args:
        folder: Where to save it.
        tokenizer: A name or folder whose tokenizer it takes.
        width: Its hidden size, a multiple of 64.
        layers: How many it has.
    """
    import torch
    from transformers import AutoTokenizer, RobertaConfig, RobertaModel

    words: Any = AutoTokenizer.from_pretrained(tokenizer)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = RobertaModel(
            RobertaConfig(
                vocab_size=len(words),
                hidden_size=width,
                num_hidden_layers=layers,
                num_attention_heads=width // 64,
                intermediate_size=4 * width,
                max_position_embeddings=514,
                pad_token_id=words.pad_token_id,
            )
        )
    with no_progress_bar():
        model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


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
