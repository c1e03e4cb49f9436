"""SelfCheckGPT with an n-gram model as an Opik metric: no neural model, microseconds, and which word is odd."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.ngram import NgramModel, ngrams, surprise
from opik_checkembed.functional.selfcheck import Passage, SentenceScore
from opik_checkembed.metrics.selfcheck import Checked, SelfCheckMetric
from opik_checkembed.samples.request import Fields
from opik_checkembed.spacy_text import tokenizer_of
from opik_checkembed.splitters import Sentence, sentences_of

if TYPE_CHECKING:
    from opik.evaluation.models import OpikBaseModel


class SelfCheckNgramMetric(SelfCheckMetric):
    """How surprising the output's rarest word is, given the samples: -log p, 0 upward without bound, lower is better.

    An n-gram model is counted over the output and its samples. A sentence scores the largest -log p among its tokens
    (`statistic="max"`) or their mean ("avg"), in nats. A token that no sample holds scores about the logarithm of all
    tokens counted, so values depend on how much text there is: compare them within one data set and number of samples,
    and take no threshold from another.

    It reads words, not meaning: a paraphrase surprises it. A model that is consistently wrong is not surprising.

    The evidence names, for each sentence, the rarest token, its place, and the samples that hold it. Scores are
    selfcheckgpt's, which counts spaCy's tokens: a line break, or a space after another, is one of them and can be the
    rarest. The token named is never white space; where white space scored higher, the reason says so.

    No model is needed in any language: tokens are those of spaCy's rules, but for Japanese, Korean, Thai and Vietnamese
    those of this package, since spaCy's need another package there (see `tokenizer_of`).

    Source: Manakul et al., "SelfCheckGPT" (EMNLP 2023), section 5.3; on WikiBio the unigram maximum was its best form.

    Args:
        model: See `SelfCheckMetric`.
        name: The score's name.
        n: Tokens in an n-gram; 1 is the unigram.
        statistic: "max" or "avg" over a sentence's tokens.
        smoothing: Added to every count; 0 as in the paper.
        lowercase: Whether case is ignored.
        **checking: `aggregate`, `splitter`, `language` (also of the tokens), `min_tokens` and what samples take; see
            `SelfCheckMetric`.

    Raises:
        ConfigurationError: An argument cannot work; says what to do.

    Example:
        >>> metric = SelfCheckNgramMetric(store=None, track=False)
        >>> samples = ["She was born in Oslo in 1901.", "She was born in 1901 in Oslo."]
        >>> score = metric.score(output="She was born in Bergen in 1901.", samples=samples)
        >>> round(score.value, 3), score.metadata["evidence"]["sentences"][0]["detail"]["rarest"]
        (3.178, 'Bergen')
    """

    default_name: ClassVar[str] = "selfcheck_ngram"
    bounded: bool = False
    scale: str = "-log p, 0 upward without bound, lower is better"

    def __init__(
        self,
        model: str | OpikBaseModel | None = None,
        name: str | None = None,
        *,
        n: int = 1,
        statistic: Literal["max", "avg"] = "max",
        smoothing: float = 0.0,
        lowercase: bool = True,
        language: str = "en",
        **checking: Any,
    ) -> None:
        if not isinstance(n, int) or isinstance(n, bool) or n < 1:
            raise ConfigurationError(f"n must be a whole number of at least 1, not {n!r}")
        if statistic not in {"max", "avg"}:
            raise ConfigurationError(f"statistic must be 'max' or 'avg', not {statistic!r}")
        if not isinstance(smoothing, int | float) or isinstance(smoothing, bool) or not 0 <= smoothing <= 1e6:
            raise ConfigurationError(f"smoothing must be a number from 0 up, not {smoothing!r}")
        self.n = n
        self.statistic = statistic
        self.smoothing = float(smoothing)
        self.lowercase = lowercase
        self.tokenizer = tokenizer_of(language)
        super().__init__(model, name, language=language, **checking)

    def check(self, output: str, sentences: Sequence[Sentence], samples: Sequence[str], fields: Fields) -> Checked:
        """See `SelfCheckMetric.check`."""
        # The shorter sentences are not scored, and yet counted, as in the reference.
        judged = [self._tokens(sentence.of(output)) for sentence in sentences_of(self.splitter, output)]
        told = [
            _Told(number, sentence, self._tokens(sentence.of(sample)), sample)
            for number, sample in enumerate(samples)
            for sentence in sentences_of(self.splitter, sample)
        ]
        model = NgramModel([*judged, *(one.tokens for one in told)], self.n, self.smoothing)
        holders: dict[tuple[str, ...], list[_Told]] = {}
        for one in told:
            for ngram in dict.fromkeys(ngrams(one.tokens, self.n)):
                holders.setdefault(ngram, []).append(one)
        return Checked(tuple(self._score(output, s, model, holders, len(samples)) for s in sentences))

    def why(self, worst: SentenceScore) -> str:
        """Which token was the most surprising, and how many samples hold it."""
        holds, samples = len(worst.detail["in_samples"]), worst.detail["samples"]
        spaced = "; its white space is rarer" if worst.detail["white_space_is_rarer"] else ""
        return f"{worst.detail['rarest']!r} is in {holds} of {samples} samples{spaced}"

    def _score(
        self,
        output: str,
        sentence: Sentence,
        model: NgramModel,
        holders: dict[tuple[str, ...], list[_Told]],
        samples: int,
    ) -> SentenceScore:
        text = sentence.of(output)
        words = self.tokenizer.tokens(text)
        tokens = self._cased(words)
        found = surprise(model, tokens)
        start, end = _place(text, words, found.rarest, self.n)
        holding = holders.get(ngrams(tokens, self.n)[found.rarest], [])
        score = found.maximum if self.statistic == "max" else found.average
        return SentenceScore(
            text=text,
            start=sentence.start,
            end=sentence.end,
            score=score,
            support=holding[0].passage(score) if holding else None,
            detail={
                "average": found.average,
                "maximum": found.maximum,
                "rarest": text[start:end],
                "rarest_start": sentence.start + start,
                "rarest_end": sentence.start + end,
                "white_space_is_rarer": found.spaced,
                "in_samples": list(dict.fromkeys(one.sample for one in holding)),
                "samples": samples,
            },
        )

    def _tokens(self, text: str) -> list[str]:
        return self._cased(self.tokenizer.tokens(text))

    def _cased(self, words: list[str]) -> list[str]:
        return [word.lower() for word in words] if self.lowercase else words


@dataclass(frozen=True)
class _Told:
    """A sentence of a sample."""

    sample: int
    sentence: Sentence
    tokens: list[str]
    source: str

    def passage(self, score: float) -> Passage:
        return Passage(self.sample, self.sentence.start, self.sentence.end, self.sentence.of(self.source), score)


def _place(text: str, tokens: Sequence[str], last: int, n: int) -> tuple[int, int]:
    """Where the n-gram that ends at a token stands in its sentence; tokens leave out nothing but white space."""
    at, starts = 0, []
    for token in tokens[: last + 1]:
        at = text.index(token, at)
        starts.append(at)
        at += len(token)
    return starts[max(0, last + 1 - n)], at
