"""What the SelfCheckGPT metrics share: sentences in, a score for each, and the worst one named."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed.errors import AnswerError, ConfigurationError, ModelError
from opik_checkembed.functional.selfcheck import Aggregate, SelfCheckResult, SentenceScore, is_aggregate
from opik_checkembed.metrics.base import SampledMetric
from opik_checkembed.samples.request import Fields
from opik_checkembed.samples.sample import SampleSet
from opik_checkembed.samples.sampler import samplers_of
from opik_checkembed.splitters import RuleSplitter, Sentence, SentenceSplitter, sentences_of, splitter_of
from opik_checkembed.wording import shortened

if TYPE_CHECKING:
    from opik.evaluation.models import OpikBaseModel


@dataclass(frozen=True)
class Checked:
    """What a method found.

    Attributes:
        sentences: One score for each sentence, in order.
        notes: What the reason must say (samples read in windows, verdicts that could not be read, ...).
        evidence: What else goes into the metadata, beside the sentences.
    """

    sentences: tuple[SentenceScore, ...]
    notes: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)


class SelfCheckMetric(SampledMetric):
    """Base of the metrics that hold every sentence of the judged output against the samples.

    The value is the score of the worst sentence, as in the Opik tutorial, or with `aggregate="mean"` the paper's score
    of a passage. Sentences shorter than `min_tokens` are not scored, nor is fenced code where sentences are found by
    rules, which the reason says; an output that holds nothing else (a greeting, a single word, only code) is
    `scoring_failed`, never a 0 or a .5. So is an item that the splitter fails on.

    Args:
        model: The model to ask where the task's output names none; a litellm name or an `OpikBaseModel`.
        name: The score's name.
        aggregate: "max" or "mean" over the sentences.
        splitter: How to find sentences: None splits by rules (`RuleSplitter`), a name or folder is a spaCy pipeline
            ("en_core_web_sm", as in the tutorial), or an object with `split(text)`.
        language: Language code for the rules; a region behind it ("de-AT") changes nothing.
        min_tokens: Shorter sentences are left out; the tutorial's 4. With 1 every sentence is scored.
        **sampling: `num_samples` (at least 1), `min_samples`, `sampler`, `request_from`, `temperature`,
            `model_parameters`, `store`, `budget`, `timeout`, `max_concurrency`, `track`, `project_name`; see
            `SampledMetric`.

    Raises:
        ConfigurationError: An argument cannot work; says what to do.
    """

    higher_is_better: ClassVar[bool] = False
    fewest_samples: ClassVar[int] = 1
    scale: str = "0 consistent to 1 hallucinated, lower is better"

    def __init__(
        self,
        model: str | OpikBaseModel | None = None,
        name: str | None = None,
        *,
        aggregate: Aggregate = "max",
        splitter: SentenceSplitter | str | PathLike[str] | None = None,
        language: str = "en",
        min_tokens: int = 4,
        **sampling: Any,
    ) -> None:
        if not is_aggregate(aggregate):
            raise ConfigurationError(f"aggregate must be 'max' or 'mean', not {aggregate!r}")
        if not isinstance(min_tokens, int) or isinstance(min_tokens, bool) or min_tokens < 1:
            raise ConfigurationError(f"min_tokens must be a whole number of at least 1, not {min_tokens!r}")
        self.aggregate: Aggregate = aggregate
        self.min_tokens = min_tokens
        self.splitter = splitter_of(splitter, language)
        super().__init__(model, name, **sampling)

    def samplers(self) -> list[object]:
        """See `AsksModels.samplers`."""
        return [*super().samplers(), *samplers_of(self.splitter)]

    @abstractmethod
    def check(self, output: str, sentences: Sequence[Sentence], samples: Sequence[str], fields: Fields) -> Checked:
        """Score each of at least one sentence against at least one sample.

        Raises:
            ItemError: The item cannot be scored.
        """

    def why(self, worst: SentenceScore) -> str:
        """Why the worst sentence is the worst, in one clause."""
        if worst.against is None:
            return "no sample supports it"
        said = f"{shortened(worst.against.text)!r}"
        return f"sample {worst.against.sample + 1} supports it least: {said}"

    def judge(self, output: str, samples: SampleSet, fields: Fields) -> list[ScoreResult]:
        """See `SampledMetric.judge`."""
        found, code = self._split(output)
        kept = [sentence for sentence in found if sentence.tokens >= self.min_tokens]
        if not kept:
            raise AnswerError(
                f"the output holds no sentence to check ({shortened(output)!r}): no piece of it outside code has "
                f"{self.min_tokens} tokens; lower min_tokens to score shorter ones"
            )
        checked = self.check(output, kept, samples.texts, fields)
        result = SelfCheckResult(checked.sentences, self.aggregate)
        value, worst = result.value, result.worst
        if value is None or worst is None:
            whys = dict.fromkeys(str(s.detail.get("unscored", "no reason is known")) for s in checked.sentences)
            nothing = ModelError(f"none of {len(kept)} sentences could be scored: {'; '.join(whys)}")
            return [self.failed(nothing, samples.noting(checked.notes), checked.evidence)]
        notes = list(checked.notes)
        unscored = [s for s in checked.sentences if s.score is None]
        if unscored:
            why = unscored[0].detail.get("unscored")
            notes.insert(0, f"{len(unscored)} of {len(kept)} sentences could not be scored ({why})")
        if len(kept) < len(found):
            short = f"{len(found) - len(kept)} of {len(found)} sentences have fewer than {self.min_tokens} tokens"
            notes.append(f"{short} and were not scored")
        if code:
            notes.append(f"{code} fenced code {'block was' if code == 1 else 'blocks were'} not scored")
        evidence = {**result.to_dict(), **checked.evidence}
        said = self._sentence(value, worst, checked.sentences)
        return [self.scored(value, said, samples.noting(tuple(notes)), evidence)]

    def _split(self, output: str) -> tuple[list[Sentence], int]:
        """The output's sentences, and how many blocks of code its splitter leaves out."""
        if isinstance(self.splitter, RuleSplitter):
            return self.splitter.split_with_code(output)
        return sentences_of(self.splitter, output), 0

    def _sentence(self, value: float, worst: SentenceScore, sentences: Sequence[SentenceScore]) -> str:
        place = next(number for number, one in enumerate(sentences, 1) if one is worst)
        known = sum(one.score is not None for one in sentences)
        several = f"{known} sentence{'' if known == 1 else 's'}"
        mean = "" if self.aggregate == "max" else f"the mean of {several} is {value:.3f}; "
        said = f"{mean}sentence {place} of {len(sentences)} is supported least, {worst.score:.3f} ({self.scale})"
        return f"{said[:1].upper()}{said[1:]}: {shortened(worst.text)!r}; {self.why(worst)}"
