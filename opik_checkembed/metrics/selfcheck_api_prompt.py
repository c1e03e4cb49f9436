"""SelfCheckGPT with an LLM as the judge: does each sample support each sentence, yes or no?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

from opik_checkembed.errors import ConfigurationError, RequestError
from opik_checkembed.functional.selfcheck import Passage, SentenceScore, mean_over_samples
from opik_checkembed.metrics.selfcheck import Checked, SelfCheckMetric
from opik_checkembed.models.digest import readable
from opik_checkembed.models.judge import (
    Judge,
    JudgePrompt,
    JudgeReading,
    LLMJudge,
    ask_judge,
    judging_bill,
    judging_notes,
)
from opik_checkembed.samples.litellm_sampler import LiteLLMSampler
from opik_checkembed.samples.request import MODEL_FIELDS, Fields, is_connection
from opik_checkembed.samples.sampler import samplers_of
from opik_checkembed.splitters import Sentence

if TYPE_CHECKING:
    from opik.evaluation.models import OpikBaseModel

REFERENCE_PROMPT = (
    "Context: {context}\n\nSentence: {sentence}\n\nIs the sentence supported by the context above? Answer Yes or "
    "No.\n\nAnswer: "
)
"""The paper's prompt, as selfcheckgpt sends it."""

# What a judge without limits of its own shares with the samples.
_SHARED = ("store", "budget", "retry", "max_concurrency", "timeout")


class SelfCheckAPIPromptMetric(SelfCheckMetric):
    """How many samples fail to support the worst sentence, as an LLM judges: 0 consistent to 1 hallucinated.

    For every sentence and every sample the judge is asked whether the sample supports the sentence. A pair scores
    1 - P(yes), from the reply's log-probabilities where the provider gives them, else 0 or 1 by the verdict; a sentence
    scores the mean over the samples whose verdict could be read. A verdict that could not be read (a call that failed,
    a reply without yes or no) is left out, counted and named in the reason, never taken for a half; a sentence without
    any has no score.

    By default the tracked model judges its own answers, as in the paper. The prompt is the paper's, with one
    difference: both texts are fenced as data, since they are a model's own words and may hold instructions or a verdict
    (see `JudgePrompt`). `fence=False` sends exactly what selfcheckgpt sends. As there, line breaks in samples become
    spaces.

    One call is made for each pair, all of them at once: 10 sentences and 5 samples are 50 calls of a few hundred
    tokens. Replies are kept as samples are, so that a rerun makes none; calls and cost of judging stand in the evidence
    under `judging`.

    A model that is consistently wrong supports itself.

    Source: Manakul et al., "SelfCheckGPT" (EMNLP 2023), section 5.5.

    Args:
        model: See `SelfCheckMetric`.
        name: The score's name.
        judge: Who judges: a litellm name, an `OpikBaseModel`, or a `Judge`. None takes the model that is asked for
            samples, on its server.
        judge_parameters: Completion and connection parameters for the judge (`max_tokens`, `api_base`, `api_key`, ...)
            and other arguments of `LLMJudge`. A reasoning model needs more `max_tokens` than the 16 there are.
        prompt: A template with `{context}` and `{sentence}`; other braces are doubled. It must ask for yes or no.
        fence: Whether both texts are fenced.
        **checking: `aggregate`, `splitter`, `language`, `min_tokens` and what samples take; see `SelfCheckMetric`. The
            judge shares `store`, `budget`, `timeout` and `max_concurrency`.

    Raises:
        ConfigurationError: An argument cannot work; says what to do.

    Example:
        >>> from opik_checkembed.functional.verdict import read_verdict
        >>> class SameYear:
        ...     def read(self, prompts):
        ...         return [read_verdict("Yes" if prompt.count("1893") == 2 else "No") for prompt in prompts]
        >>> metric = SelfCheckAPIPromptMetric(judge=SameYear(), store=None, track=False)
        >>> metric.score(output="He was born in 1893.", samples=["Born in 1893.", "Born in 1901."]).value
        0.5
    """

    default_name: ClassVar[str] = "selfcheck_api_prompt"

    def __init__(
        self,
        model: str | OpikBaseModel | None = None,
        name: str | None = None,
        *,
        judge: str | OpikBaseModel | Judge | None = None,
        judge_parameters: Mapping[str, Any] | None = None,
        prompt: str = REFERENCE_PROMPT,
        fence: bool = True,
        **checking: Any,
    ) -> None:
        if judge_parameters is not None and not isinstance(judge_parameters, Mapping):
            raise ConfigurationError(
                f"judge_parameters must be a dict like {{'max_tokens': 500}}, not {type(judge_parameters).__name__}"
            )
        if "model" in (judge_parameters or {}):
            raise ConfigurationError("model cannot stand in judge_parameters; name the judge with judge=")
        self.prompt = JudgePrompt(prompt, ["context", "sentence"], fence=fence)
        self.judge_parameters = dict(judge_parameters or {})
        super().__init__(model, name, **checking)
        self._judge = self._named(judge)

    def samplers(self) -> list[object]:
        """See `AsksModels.samplers`."""
        # Without a judge of its own each item's model judges, with the samples' store and budget unless told otherwise.
        own = {name: value for name, value in self.judge_parameters.items() if name in {"store", "budget"}}
        each = [SimpleNamespace(**own)] if self._judge is None else samplers_of(self._judge)
        return [*super().samplers(), *each]

    def check(self, output: str, sentences: Sequence[Sentence], samples: Sequence[str], fields: Fields) -> Checked:
        """See `SelfCheckMetric.check`."""
        for text in (*(sentence.of(output) for sentence in sentences), *samples):
            readable(text)  # no judge can be sent it
        contexts = [sample.replace("\n", " ") for sample in samples]
        # Sample by sample: prompts with the same context begin alike, which providers' caches and local servers use.
        prompts = [
            self.prompt.fill(context=context, sentence=sentence.of(output))
            for context in contexts
            for sentence in sentences
        ]
        readings = ask_judge(self._judge or self._own(fields), prompts)
        return Checked(
            sentences=tuple(
                _score(sentence, output, samples, readings[place :: len(sentences)])
                for place, sentence in enumerate(sentences)
            ),
            notes=judging_notes(readings),
            evidence={"judging": judging_bill(readings)},
        )

    def why(self, worst: SentenceScore) -> str:
        """How many samples do not support the sentence."""
        read = [score for score in worst.per_sample if score is not None]
        return f"{sum(score > 0.5 for score in read)} of {len(read)} samples do not support it"

    def _named(self, judge: str | OpikBaseModel | Judge | None) -> Judge | None:
        """The judge that is the same for all items; None where each item's own model judges."""
        if isinstance(judge, Judge):
            if self.judge_parameters:
                raise ConfigurationError("judge_parameters and a judge object cannot both be given; set them on it")
            return judge
        from opik_checkembed.samples.opik_model_sampler import OpikModelSampler

        if judge is None and isinstance(self.sampler, OpikModelSampler):
            return self._llm(self.sampler.model)
        if judge is None:
            # Only to look at the arguments before the first item comes; which model it will be is not known.
            LLMJudge("openai/any", **{**self.judge_parameters, "store": None, "budget": None})
            return None
        return self._llm(judge)

    def _own(self, fields: Fields) -> Judge:
        """The model that answered this item, on the server where it is asked for samples."""
        model = next((fields[name] for name in MODEL_FIELDS if fields.get(name)), None)
        connection: dict[str, Any] = {}
        if isinstance(self.sampler, LiteLLMSampler):
            model = model or self.sampler.model
            connection = {name: value for name, value in self.sampler.parameters.items() if is_connection(name)}
        if not isinstance(model, str):
            raise RequestError(
                "no model to judge with: name one, judge='gpt-4o-mini' or the like, or return 'model' from the task so "
                "that it judges itself"
            )
        return self._llm(model.strip(), connection)

    def _llm(self, model: str | OpikBaseModel, connection: Mapping[str, Any] | None = None) -> LLMJudge:
        shared = {name: getattr(self.sampler, name) for name in _SHARED if hasattr(self.sampler, name)}
        if not isinstance(model, str):
            shared.pop("timeout", None)
        return LLMJudge(model, **{**shared, **(connection or {}), **self.judge_parameters})


def _score(sentence: Sentence, output: str, samples: Sequence[str], readings: Sequence[JudgeReading]) -> SentenceScore:
    supported = [one.probability for one in readings]
    scores = tuple(None if p is None else 1.0 - p for p in supported)
    found = [
        Passage(place, 0, len(sample), sample, score)
        for place, (sample, score) in enumerate(zip(samples, scores, strict=True))
        if score is not None
    ]
    detail: dict[str, Any] = {"verdicts": [one.verdict.value for one in readings]}
    if not found:
        detail["unscored"] = f"no verdict could be read: {readings[0].problem}"
    return SentenceScore(
        text=sentence.of(output),
        start=sentence.start,
        end=sentence.end,
        score=mean_over_samples(scores),
        per_sample=scores,
        against=max(found, key=lambda one: one.score, default=None),
        support=min(found, key=lambda one: one.score, default=None),
        detail=detail,
    )
