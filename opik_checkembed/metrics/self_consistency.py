"""Claims against answers to the same question as an Opik metric: which claims do not come back?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.claim_support import Support
from opik_checkembed.functional.claims import Claim
from opik_checkembed.functional.nli import Relation
from opik_checkembed.functional.self_consistency import ClaimAgreement, Measures, SelfConsistencyResult
from opik_checkembed.functional.selfcheck import Aggregate, Passage, is_aggregate
from opik_checkembed.metrics.base import SampledMetric
from opik_checkembed.metrics.claim_reader import CheckedClaims, ClaimReader, ClaimsFrom
from opik_checkembed.models.judge import Judge
from opik_checkembed.models.nli import NLIModel
from opik_checkembed.models.verifier import MENTION_PROMPT, ClaimVerifier, ask_verifier, sharing, verifier_of
from opik_checkembed.samples.request import Fields
from opik_checkembed.samples.sample import SampleSet
from opik_checkembed.samples.sampler import samplers_of
from opik_checkembed.wording import shortened

if TYPE_CHECKING:
    from opik.evaluation.models import OpikBaseModel


# What a judge or splitter without limits of its own shares with the samples.
_SHARED = ("store", "budget", "retry", "max_concurrency")


class SelfConsistencyMetric(SampledMetric):
    """Share of an answer's claims that do not come back when the model is asked again: 0 consistent to 1, lower better.

    The question is asked k more times, and each claim of the output is held against each answer, by a local classifier
    of natural language inference or by an LLM (`judge=`): does it mention the claim or directly support it? A claim's
    agreement is the share of answers that do; at `threshold` or less it is flagged. The source is never read, even
    where the item has one: this measures consensus, not support. What a model invents the same way every time passes;
    `SourceNLIMetric` beside it, which costs no samples, sees that.

    With a classifier that knows contradiction only, an answer counts for a claim unless it contradicts it: the evidence
    then measures "contradiction", has the share of answers in `not_contradicted` instead of `agreement`, and the
    reason says so.

    Source: Method A of the published 132-claim comparison of self-consistency and source-grounded NLI.

    Args:
        model: See `SelfCheckMetric`.
        name: The score's name.
        nli_model: See `NLIVerifier`; the default verifier.
        labels: See `NLIVerifier`.
        device: See `NLIVerifier`.
        first: See `NLIVerifier`; the sample is the source.
        window_tokens: See `NLIVerifier`.
        judge: See `SourceNLIMetric`.
        judge_parameters: See `SourceNLIMetric`. `store`, `budget`, `retry` and `max_concurrency` are those of the
            samples unless they are given here; so for `claims_parameters`.
        verifier: See `SourceNLIMetric`.
        claims: See `SourceNLIMetric`.
        claims_model: See `SourceNLIMetric`.
        claims_parameters: See `SourceNLIMetric`.
        max_claims: See `SourceNLIMetric`.
        aggregate: "mean", the share of claims flagged; or "max", 1 - the smallest agreement.
        threshold: The agreement, from 0 to below 1, at which or below a claim is flagged.
        splitter: See `SelfCheckMetric`.
        language: Language code for the rules.
        min_tokens: Shorter sentences are no claims.
        **sampling: `num_samples` (at least 1; 5 as published), `min_samples`, `sampler`, `request_from`,
            `temperature` (published: .7), `model_parameters`, `store`, `budget`, `timeout`, `max_concurrency`, `track`,
            `project_name`; see `SampledMetric`.

    Raises:
        ConfigurationError: An argument cannot work; says what to do.

    Example:
        >>> from opik_checkembed.functional.verdict import read_verdict
        >>> class Length:
        ...     def read(self, prompts):
        ...         return [read_verdict("Yes" if prompt.count("5 km") == 2 else "No") for prompt in prompts]
        >>> metric = SelfConsistencyMetric(judge=Length(), store=None, track=False)
        >>> score = metric.score(output="It is 5 km long.", samples=["5 km long.", "It has 5 km.", "It has 7 km."])
        >>> score.value, round(score.metadata["evidence"]["claims"][0]["agreement"], 2)
        (0.0, 0.67)
    """

    higher_is_better: ClassVar[bool] = False
    default_name: ClassVar[str] = "self_consistency"
    fewest_samples: ClassVar[int] = 1

    def __init__(
        self,
        model: str | OpikBaseModel | None = None,
        name: str | None = None,
        *,
        nli_model: str | PathLike[str] | NLIModel | None = None,
        labels: Mapping[Relation, int] | None = None,
        device: str | None = None,
        first: Literal["source", "claim"] = "source",
        window_tokens: int = 128,
        judge: str | OpikBaseModel | Judge | None = None,
        judge_parameters: Mapping[str, Any] | None = None,
        verifier: ClaimVerifier | None = None,
        claims: ClaimsFrom = "sentences",
        claims_model: str | OpikBaseModel | None = None,
        claims_parameters: Mapping[str, Any] | None = None,
        max_claims: int | None = 100,
        aggregate: Aggregate = "mean",
        threshold: float = 0.4,
        splitter: Any = None,
        language: str = "en",
        min_tokens: int = 3,
        **sampling: Any,
    ) -> None:
        if not is_aggregate(aggregate):
            raise ConfigurationError(f"aggregate must be 'max' or 'mean', not {aggregate!r}")
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold < 1:
            raise ConfigurationError(f"threshold must be a number from 0 to below 1, not {threshold!r}")
        self.aggregate: Aggregate = aggregate
        self.threshold = float(threshold)
        super().__init__(model, name, **sampling)
        shared = {name: getattr(self.sampler, name) for name in _SHARED if hasattr(self.sampler, name)}
        self.verifier = verifier_of(
            verifier,
            judge,
            sharing(judge, judge_parameters, shared),
            {
                "nli_model": nli_model,
                "labels": labels,
                "device": device,
                "first": first,
                "window_tokens": window_tokens,
            },
            prompt=MENTION_PROMPT,
            contradictions=False,
        )
        self.reader = ClaimReader(
            claims,
            claims_model=claims_model,
            claims_parameters=sharing(claims_model, claims_parameters, shared),
            splitter=splitter,
            language=language,
            min_tokens=min_tokens,
            max_claims=max_claims,
        )

    def samplers(self) -> list[object]:
        """See `AsksModels.samplers`."""
        return [*super().samplers(), *samplers_of(self.verifier, self.reader)]

    def judge(self, output: str, samples: SampleSet, fields: Fields) -> list[ScoreResult]:
        """See `SampledMetric.judge`."""
        read = self.reader.read(fields)
        texts = samples.texts
        found = ask_verifier(self.verifier, [(claim.text, [text]) for claim in read.claims for text in texts])
        told = any(one.p_supported is not None for one in found.supports)
        measures: Measures = "support" if told or all(one.doubt is None for one in found.supports) else "contradiction"
        result = SelfConsistencyResult(
            tuple(
                _agreement(claim, found.supports[place * len(texts) :][: len(texts)], measures)
                for place, claim in enumerate(read.claims)
            ),
            self.threshold,
            self.aggregate,
            measures,
        )
        checked = CheckedClaims(read, found)
        evidence = {**result.to_dict(), **checked.evidence}
        value, worst = result.value, result.worst
        unread = sum(one.agreement is None for one in result.claims)
        if value is None or worst is None:
            # The reason says already that nothing could be judged.
            return [self.failed(checked.nothing(), samples.noting(checked.notes(0)), evidence)]
        notes = list(checked.notes(unread))
        if measures == "contradiction":
            notes.append(
                "the classifier has no entailment label: an answer counts for a claim unless it contradicts it, and "
                "nothing is said of support"
            )
        said = _why(result, worst)
        return [self.scored(value, said, samples.noting(tuple(notes)), evidence)]


def _why(result: SelfConsistencyResult, worst: ClaimAgreement) -> str:
    known = sum(one.agreement is not None for one in result.claims)
    if result.measures == "contradiction":
        rule, least = f"not contradicted by a share of {result.threshold:g} of the samples or less", "share"
        nearest = "contradicts it most"
    else:
        rule, least = f"at an agreement of {result.threshold:g} or less", "agreement"
        nearest = "supports it least"
    scale = "0 consistent to 1 not" if result.aggregate == "mean" else f"the value is 1 - the least {least}"
    said = (
        f"{len(result.flagged)} of {known} claims are flagged, {rule} ({scale}); least {least} "
        f"{worst.agreement:.2f}: {shortened(worst.claim.text, 120)!r}"
    )
    if worst.against is not None:
        said += f"; sample {worst.against.sample + 1} {nearest}: {shortened(worst.against.text)!r}"
    return said


def _agreement(claim: Claim, supports: Sequence[Support], measures: Measures) -> ClaimAgreement:
    per_sample = tuple(None if one.doubt is None else 1.0 - one.doubt for one in supports)
    places = [_place(number, one) for number, one in enumerate(supports)]
    found = [place for place in places if place is not None]
    return ClaimAgreement(
        claim,
        per_sample,
        against=min(found, key=lambda one: one.score, default=None),
        # The place that contradicts least speaks for nothing.
        support=max(found, key=lambda one: one.score, default=None) if measures == "support" else None,
    )


def _place(sample: int, support: Support) -> Passage | None:
    """Where a sample comes nearest to the claim, with how far it supports it, or does not contradict it."""
    near = support.supporting or support.contradicting
    if near is None or support.doubt is None:
        return None
    return Passage(sample, near.start, near.end, near.text, 1.0 - support.doubt)
