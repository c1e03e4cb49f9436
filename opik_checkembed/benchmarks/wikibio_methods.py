"""The methods of this package as rows of the labelled benchmarks: small adapters over the metrics."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from opik_checkembed.benchmarks.scoring import Cost, JudgedText, Method, PassageScore
from opik_checkembed.benchmarks.verifier_settings import asking_settings
from opik_checkembed.errors import AnswerError, ConfigurationError, EmbeddingError
from opik_checkembed.functional.checkembed import CheckEmbedResult, checkembed
from opik_checkembed.functional.selfcheck import Aggregate, SentenceScore, mean_over_samples
from opik_checkembed.metric_names import parse_options
from opik_checkembed.metric_options import given_options, options_of
from opik_checkembed.metrics.checkembed import CheckEmbedMetric
from opik_checkembed.metrics.selfcheck import SelfCheckMetric
from opik_checkembed.models.embedder import default_embedder
from opik_checkembed.models.names import full_name, model_name
from opik_checkembed.models.registry import Registry
from opik_checkembed.models.shared_encoder import SharedEncoder
from opik_checkembed.splitters import RuleSplitter, Sentence, SentenceSplitter, splitter_of

if TYPE_CHECKING:
    from opik_checkembed.metrics.selfcheck_api_prompt import SelfCheckAPIPromptMetric

# The samples of the CheckEmbed paper's best row.
_PAPER_SAMPLES = 16

Agreement = Literal["samples", "all", "output"]
_READS: tuple[Agreement, ...] = ("samples", "all", "output")


class _Encoding:
    """Vectors with the seconds they took when they were first wanted, whichever row wants them now."""

    def __init__(self, encoder: SharedEncoder) -> None:
        self._encoder = encoder
        self._seconds: dict[tuple[str, ...], float] = {}

    def of(self, *texts: str) -> tuple[NDArray[np.float32], float]:
        started = time.perf_counter()
        vectors = self._encoder.vectors(texts).vectors
        return vectors, self._seconds.setdefault(texts, time.perf_counter() - started)


_encodings: Registry[SharedEncoder, _Encoding] = Registry(_Encoding)


@dataclass(frozen=True)
class CheckEmbedMethod:
    """CheckEmbed: passages as wholes, one embedding for each text.

    Args:
        metric: Holds the embedder, the similarity and the baseline.
        model: The embedder's name in the table.
        reads: "samples" is the paper's protocol, which never reads the judged passage: the score over 16 samples.
            "all" is the score over passage and samples, as `CheckEmbedMetric` has it; "output" the mean similarity of
            the passage with its samples.
        samples: The most samples to use; None for all.
        identity: See `Method.identity`.
    """

    metric: CheckEmbedMetric
    model: str
    reads: Agreement
    samples: int | None = None
    identity: Mapping[str, Any] = field(default_factory=dict, hash=False)
    varies: bool = True

    @property
    def name(self) -> str:
        """As in the table."""
        said = {"samples": "samples only", "all": "passage read", "output": "passage to samples"}
        return f"CheckEmbed, {said[self.reads]}"

    @property
    def headline(self) -> int | None:
        """16 for the paper's protocol, else all."""
        return _PAPER_SAMPLES if self.reads == "samples" else None

    @property
    def published(self) -> str:
        """The paper's best row."""
        return "CheckEmbed best (16 samples)"

    @cached_property
    def _encoding(self) -> _Encoding:
        return _encodings.of(self.metric.encoder)

    def score(self, passage: JudgedText, counts: Sequence[int]) -> dict[int, PassageScore]:
        """See `Method.score`: 1 minus the agreement. Embeddings cost each number of samples what they cost the most."""
        vectors, seconds = self._encoding.of(passage.text, *passage.samples[: counts[-1]])
        similarity, baseline = self.metric.similarity, self.metric.baseline
        found = {}
        for k in counts:
            started = time.perf_counter()
            try:
                result = checkembed(vectors[1 : k + 1], output=vectors[0], similarity=similarity, baseline=baseline)
            except ValueError as error:
                raise EmbeddingError(f"the embeddings cannot be compared: {error}") from error
            cost = Cost(seconds + time.perf_counter() - started)
            found[k] = PassageScore(1 - _agreement(result, self.reads), cost=cost)
        return found


def _agreement(result: CheckEmbedResult, reads: Agreement) -> float:
    found = {"samples": result.samples_only_score, "all": result.score, "output": result.output_agreement}[reads]
    # With an output and at least two samples, none is None.
    return cast("float", found)


@dataclass(frozen=True)
class SelfCheckMethod:
    """A SelfCheckGPT metric: the data set's sentences are handed to its `check`, and what was asked where it is known.

    Args:
        metric: What scores; its splitter is replaced by one that leaves the passage's own sentences as they are.
        name: As in the table.
        model: The model it rests on, as in the table.
        published: The published row to compare it with.
        fewer: How scores from fewer samples are had: "mean" over the first of `SentenceScore.per_sample`, where a
            score is the mean over samples; "again" by checking again; "no" for methods that would take too long.
        samples: The most samples to use; None for all.
        aggregate: What the score of a text is: the "mean" of its sentences, as in the papers, or their "max".
        identity: See `Method.identity`.
    """

    metric: SelfCheckMetric
    name: str
    model: str | None = None
    published: str | None = None
    fewer: Literal["mean", "again", "no"] = "mean"
    samples: int | None = None
    headline: int | None = None
    aggregate: Aggregate = "mean"
    identity: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def varies(self) -> bool:
        """Whether fewer samples can be had at little cost."""
        return self.fewer != "no"

    def score(self, passage: JudgedText, counts: Sequence[int]) -> dict[int, PassageScore]:
        """See `Method.score`. Where fewer samples are read from more, their cost is taken as their share of it.

        Raises:
            AnswerError: The text has no sentences.
        """
        if not passage.sentences:
            raise AnswerError("there is no sentence to check")
        if isinstance(self.metric.splitter, OwnSentences):
            self.metric.splitter.keep(passage)
        if self.fewer != "mean":
            return {k: self._scored(*self._checked(passage, k)) for k in counts}
        most = counts[-1]
        found, cost = self._checked(passage, most)
        shares = {k: Cost(cost.seconds * k / most, cost.judge_calls * k // most, cost.kept * k // most) for k in counts}
        return {
            **{
                k: PassageScore.of([mean_over_samples(s.per_sample[:k]) for s in found], shares[k], self.aggregate)
                for k in counts[:-1]
            },
            most: self._scored(found, cost),
        }

    def _scored(self, found: Sequence[SentenceScore], cost: Cost) -> PassageScore:
        return PassageScore.of([one.score for one in found], cost, self.aggregate, [one.weight for one in found])

    def _checked(self, passage: JudgedText, k: int) -> tuple[Sequence[SentenceScore], Cost]:
        fields = {} if passage.question is None else {"input": passage.question}
        splitter = self.metric.splitter
        saved = splitter.saved if isinstance(splitter, OwnSentences) else 0.0
        started = time.perf_counter()
        found = self.metric.check(passage.text, passage.sentences, passage.samples[:k], fields)
        seconds = time.perf_counter() - started
        if isinstance(splitter, OwnSentences):
            seconds += splitter.saved - saved
        judging = found.evidence.get("judging", {})
        return found.sentences, Cost(seconds, judging.get("verdicts", 0), judging.get("from_store", 0))


class OwnSentences:
    """Splits a labelled passage where its data set does, and any other text as another splitter does, once.

    Attributes:
        saved: Seconds that texts would have taken which were split before.

    Args:
        others: Splits the samples.
    """

    def __init__(self, others: SentenceSplitter) -> None:
        self._others = others
        self._known: dict[str, list[Sentence]] = {}
        self._seconds: dict[str, float] = {}
        self.saved = 0.0

    def keep(self, passage: JudgedText) -> None:
        """Use the data set's sentences for this passage, and what it left out between and after them.

        Passages cut off in mid-sentence have a last piece without a label. It is not scored, but n-grams count it.
        """
        text = passage.text
        pieces = list(passage.sentences)
        starts = [*(sentence.start for sentence in passage.sentences), len(text)]
        for start, end in zip([0, *(sentence.end for sentence in passage.sentences)], starts, strict=True):
            left_out = text[start:end].strip()
            if left_out:
                start = text.index(left_out, start)
                pieces.append(Sentence(start, start + len(left_out), len(left_out.split())))
        self._known[text] = sorted(pieces)

    def split(self, text: str) -> list[Sentence]:
        """See `SentenceSplitter`."""
        if text in self._known:
            self.saved += self._seconds.get(text, 0.0)
        else:
            started = time.perf_counter()
            self._known[text] = self._others.split(text)
            self._seconds[text] = time.perf_counter() - started
        return self._known[text]


# --- by name ------------------------------------------------------------------------------------------------


def methods(name: str, /, **options: Any) -> list[Method]:
    """The rows that a name stands for.

    Args:
        name: "checkembed" (three rows: the paper's protocol and two that read the judged passage), "ngram" (average
            and maximum), "bertscore", "nli", "mqag" or "prompt".
        **options: Arguments of the metric's constructor (`embedder`, `n`, `encoder`, `num_layers`, ...), and `samples`
            to use fewer than all. For "checkembed" `reads` ("samples", "all" or "output") chooses one of its rows.
            For the others: `splitter` for the samples' sentences, `aggregate` ("max" takes the worst sentence for a
            text's score, where the papers take the mean), and `title` for the row, since `name` is its method.

    Raises:
        ConfigurationError: There is no such name, or an option cannot work.
    """
    if name not in _BUILDERS:
        raise ConfigurationError(f"the method must be one of {', '.join(_BUILDERS)}, not {name!r}")
    if "name" in options:
        raise ConfigurationError(f"{name}: a row is named by title={options['name']}, not by name")
    try:
        return _BUILDERS[name](options)
    except TypeError as error:
        raise ConfigurationError(f"{name}: {error}") from error


def methods_of(text: str) -> list[Method]:
    """The rows that a text like "ngram" or "bertscore:encoder=all-MiniLM-L6-v2,num_layers=6" stands for.

    Values are JSON where they can be read as such (6, true, null), else text. A dot goes into an option that is a dict
    ("prompt:judge=openai/qwen,judge_parameters.api_base=http://127.0.0.1:8000/v1").

    Raises:
        ConfigurationError: It is of another form, or as for `methods`.

    Example:
        >>> [method.name for method in methods_of("ngram:n=2")]
        ['SelfCheck-2-gram (avg)', 'SelfCheck-2-gram (max)']
    """
    name, options = parse_options(text)
    return methods(name, **options)


def _checkembed(options: dict[str, Any]) -> list[Method]:
    samples = _samples(options.pop("samples", None))
    reads = (options.pop("reads"),) if "reads" in options else _READS
    if not set(reads) <= set(_READS):
        raise ConfigurationError(f"reads must be one of {', '.join(_READS)}, not {reads[0]!r}")
    metric = CheckEmbedMetric(store=None, track=False, heatmap=False, **options)
    model = options.get("embedder") or default_embedder()
    identity = _identity(metric, {**options, "samples": samples}, model=model)
    return [CheckEmbedMethod(metric, model_name(model), one, samples, identity=identity) for one in reads]


def _ngram(options: dict[str, Any]) -> list[Method]:
    from opik_checkembed.metrics.selfcheck_ngram import SelfCheckNgramMetric

    statistics: tuple[Any, ...] = (options.pop("statistic"),) if "statistic" in options else ("avg", "max")
    n = options.get("n", 1)
    # One set of options, so that both rows share the samples' sentences.
    row, checking = _row(options, f"SelfCheck-{'unigram' if n == 1 else f'{n}-gram'}")
    found: list[Method] = []
    for statistic in statistics:
        published = "SelfCheck-unigram (max)" if (n, statistic) == (1, "max") else None
        named = {**row, "name": f"{row['name']} ({statistic})"}
        metric = SelfCheckNgramMetric(statistic=statistic, **checking)
        identity = _identity(metric, options)
        found.append(SelfCheckMethod(metric, published=published, fewer="again", identity=identity, **named))
    return found


def _facts(options: dict[str, Any]) -> list[Method]:
    from opik_checkembed.metrics.fact_recurrence import FactRecurrenceMetric

    row, checking = _row(options, "Fact recurrence")
    metric = FactRecurrenceMetric(**checking)
    return [SelfCheckMethod(metric, fewer="again", identity=_identity(metric, options), **row)]


def _bertscore(options: dict[str, Any]) -> list[Method]:
    from opik_checkembed.metrics.selfcheck_bertscore import SelfCheckBERTScoreMetric
    from opik_checkembed.models.token_encoder import DEFAULT_TOKEN_ENCODER

    row, checking = _row(options, "SelfCheck-BERTScore")
    model = options.get("encoder") or DEFAULT_TOKEN_ENCODER
    metric = SelfCheckBERTScoreMetric(**checking)
    identity = _identity(metric, options, model=model)
    return [SelfCheckMethod(metric, model=model_name(model), published="SelfCheck-BERTScore", identity=identity, **row)]


def _nli(options: dict[str, Any]) -> list[Method]:
    from opik_checkembed.metrics.selfcheck_nli import SelfCheckNLIMetric
    from opik_checkembed.models.nli import DEFAULT_NLI_MODEL

    row, checking = _row(options, "SelfCheck-NLI fast" if options.get("fast") else "SelfCheck-NLI")
    model = options.get("nli_model") or DEFAULT_NLI_MODEL
    metric = SelfCheckNLIMetric(**checking)
    identity = _identity(metric, options, model=model)
    return [SelfCheckMethod(metric, model=model_name(model), published="SelfCheck-NLI", identity=identity, **row)]


def _mqag(options: dict[str, Any]) -> list[Method]:
    from opik_checkembed.metrics.selfcheck_mqag import SelfCheckMQAGMetric

    row, checking = _row(options, "SelfCheck-MQAG")
    given = options.get("question_model")
    model = None if given is None else model_name(given)
    metric = SelfCheckMQAGMetric(**checking)
    identity = _identity(metric, options)
    # Its score is no mean over samples, and asking again for each number of them would take ten times as long.
    return [SelfCheckMethod(metric, model=model, published="SelfCheck-QA (MQAG)", fewer="no", identity=identity, **row)]


def _prompt(options: dict[str, Any]) -> list[Method]:
    from opik_checkembed.metrics.selfcheck_api_prompt import SelfCheckAPIPromptMetric

    # Replies are bought, so they are kept, unless the caller says otherwise: a run that is broken off goes on for free.
    row, checking = _row(options, "SelfCheck-prompt", keeps=True)
    if options.get("judge") is None:
        raise ConfigurationError("prompt needs a judge: the model behind the data set is not there to judge itself")
    metric = SelfCheckAPIPromptMetric(**checking)
    return [
        SelfCheckMethod(
            metric,
            model=model_name(options["judge"]),
            published="SelfCheck-prompt gpt-3.5",
            identity=_judged_identity(metric, options),
            **row,
        )
    ]


_BUILDERS: Mapping[str, Callable[[dict[str, Any]], list[Method]]] = MappingProxyType(
    {
        "checkembed": _checkembed,
        "facts": _facts,
        "ngram": _ngram,
        "bertscore": _bertscore,
        "nli": _nli,
        "mqag": _mqag,
        "prompt": _prompt,
    }
)


def _row(options: Mapping[str, Any], title: str, keeps: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of the row, and those of its metric: sampling nothing, and with the data set's own sentences."""
    checking = dict(options)
    aggregate = checking.setdefault("aggregate", "mean")
    name = checking.pop("title", f"{title}, worst sentence" if aggregate == "max" else title)
    row = {"name": name, "samples": _samples(checking.pop("samples", None)), "aggregate": aggregate}
    others = splitter_of(checking.pop("splitter", None), checking.get("language", "en"))
    store = {} if keeps else {"store": None}
    return row, {**store, "track": False, **checking, "splitter": OwnSentences(others)}


def _identity(metric: object, options: Mapping[str, Any], *, model: object = None) -> dict[str, Any]:
    """What tells a row from another of its name and model: the options that its scores depend on, defaults included as
    far as the metric shows them, and the full name of the one model it rests on.

    Args:
        metric: What scores.
        options: As the caller gave them.
        model: That model; the full names of several stand among the options.
    """
    told, given = options_of(metric), given_options(options)
    named = {name: given[name] for name in _PIPELINES if given.get(name) is not None}
    # The metric's own is the one that keeps the data set's sentences.
    split = {"splitter": RuleSplitter.__name__} if "splitter" in told else {}
    found = {**given, **told, **split, **named, "samples": options.get("samples")}
    found = {name: value for name, value in found.items() if name not in _SAID_ELSEWHERE}
    return found if model is None else {"model": full_name(model), **found}


def _judged_identity(metric: SelfCheckAPIPromptMetric, options: Mapping[str, Any]) -> dict[str, Any]:
    """The same for a judge: who is asked, where, how, and in which words."""
    judge, parameters = options["judge"], options.get("judge_parameters") or {}
    asked = asking_settings(judge, parameters) if isinstance(judge, str) else {"model": full_name(judge)}
    sent = metric.prompt.fill(context="context", sentence="sentence")
    others = {name: value for name, value in options.items() if name not in _OF_JUDGE}
    return {**_identity(metric, others), **asked, "prompt": hashlib.blake2b(sent.encode(), digest_size=8).hexdigest()}


# Of these a metric tells no more than a class.
_PIPELINES = ("splitter", "entities")

# The title is the row's name, and the others are the one model it rests on.
_SAID_ELSEWHERE = frozenset({"title", "embedder", "encoder", "nli_model"})

# What a judge's settings say in their own way.
_OF_JUDGE = frozenset({"judge", "judge_parameters", "prompt", "fence"})


def _samples(value: Any) -> int | None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 2):
        raise ConfigurationError(f"samples must be a whole number of at least 2, not {value!r}")
    return value
