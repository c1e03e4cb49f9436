"""Self-consistency and the source on labelled claims: which unsupported claims does each catch, which does it miss?

Method A asks the model to answer about each document again, and holds every claim against these answers; it never reads
the document. Method B holds every claim against its document. Both are what `SelfConsistencyMetric` and
`SourceNLIMetric` do; the guard is the rules that the latter reports beside its verdict.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from opik_checkembed.benchmarks.claims_data import ClaimSet, LabelledClaim, SourceDocument
from opik_checkembed.benchmarks.scoring import write_json
from opik_checkembed.errors import ConfigurationError, SamplingError
from opik_checkembed.functional.claim_support import ClaimScore, SourceNLIResult, Support
from opik_checkembed.functional.claims import Claim
from opik_checkembed.functional.grounding import SourceFacts
from opik_checkembed.functional.ranking import auroc
from opik_checkembed.functional.reliability import wilson_interval
from opik_checkembed.functional.self_consistency import ClaimAgreement
from opik_checkembed.models.verifier import ClaimVerifier, ask_verifier
from opik_checkembed.progress import Progress, show_progress
from opik_checkembed.samples.sampler import Sampler

MethodName = Literal["A", "B", "guard"]

SCHEMA = 1

REGENERATIONS = 5
TEMPERATURE = 0.7
AGREEMENT = 0.4
"""As published: a claim is flagged at an agreement of this or less."""

THRESHOLD = 0.5
"""P(supported) from which `SourceNLIMetric` takes a claim as supported."""

PUBLISHED: dict[str, dict[str, tuple[int, int]]] = {
    "A": {"numerical": (11, 11), "entity": (9, 10), "causal": (24, 25), "all": (44, 46), "false": (5, 86)},
    "B": {"numerical": (11, 11), "entity": (10, 10), "causal": (25, 25), "all": (46, 46), "false": (4, 86)},
}
"""Caught and how many there were, with gpt-4o-mini on another set of 132 claims."""


@dataclass(frozen=True)
class Rate:
    """How many of some claims were flagged.

    Attributes:
        flagged: Of those that were judged.
        judged: How many were.
    """

    flagged: int
    judged: int

    @property
    def share(self) -> float | None:
        """0 to 1; None where none was judged."""
        return self.flagged / self.judged if self.judged else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The share's 95 % Wilson interval; None where none was judged."""
        return wilson_interval(self.flagged / self.judged, self.judged) if self.judged else None


@dataclass(frozen=True)
class ClaimOutcome:
    """What the methods say of one claim.

    Attributes:
        claim_id: The claim.
        agreement: Method A: share of the regenerated answers that support it, or do not contradict it where
            `only_contradiction`; None where it was not run or no answer could be read.
        p_supported: Method B: P(supported); None where the verifier cannot tell.
        p_contradicted: Method B: P(contradicted), where it was asked.
        lacking: The guard: specifics that are not in the source.
        stronger: The guard: words stronger than the source's.
        problem: Why method B could not judge it.
        only_contradiction: Method A: whether the verifier told contradiction only.
        unread_answers: Method A: the regenerated answers that the claim could not be held against.
        unread_why: Method A: why the first of them could not.
    """

    claim_id: str
    agreement: float | None = None
    p_supported: float | None = None
    p_contradicted: float | None = None
    lacking: tuple[str, ...] = ()
    stronger: tuple[str, ...] = ()
    problem: str | None = None
    only_contradiction: bool = False
    unread_answers: int = 0
    unread_why: str | None = None

    @property
    def support(self) -> Support:
        """What method B found."""
        return Support(self.p_supported, self.p_contradicted)

    def score(self, method: MethodName) -> float | None:
        """How far a method doubts the claim, 0 to 1; None where it could not judge it."""
        if method == "A":
            return None if self.agreement is None else 1.0 - self.agreement
        if method == "B":
            return self.support.doubt
        return float(bool(self.lacking or self.stronger))


@dataclass(frozen=True)
class ClaimsResult:
    """What the methods found.

    Attributes:
        fingerprint: Of the claims.
        verifier: What judged, in words.
        generator: The model that answered again; None where method A was not run.
        settings: All that shapes the verdicts and answers, so that results are not taken for those of others.
            Nothing secret.
        outcomes: One for each claim that has been worked on, in the order of the set.
        regenerations: The answers about each document, by its id.
        threshold: P(supported) from which method B takes a claim as supported, above 0 and at most 1.
        agreement: A claim is flagged by method A at this agreement or less, from 0 to below 1.

    Raises:
        ConfigurationError: A threshold is out of its range.
    """

    fingerprint: str
    verifier: str
    generator: str | None
    settings: Mapping[str, Any] = field(default_factory=dict)
    outcomes: tuple[ClaimOutcome, ...] = ()
    regenerations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    threshold: float = THRESHOLD
    agreement: float = AGREEMENT

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise ConfigurationError(f"threshold must be above 0 and at most 1, not {self.threshold!r}")
        if not 0 <= self.agreement < 1:
            raise ConfigurationError(f"agreement must be from 0 to below 1, not {self.agreement!r}")

    @property
    def methods(self) -> tuple[MethodName, ...]:
        """The methods that were run."""
        return ("A", "B", "guard") if self.generator is not None else ("B", "guard")

    def contradiction_only(self, method: Literal["A", "B"]) -> bool:
        """Whether a method's verifier told contradiction only."""
        told = [one for one in self.outcomes if one.score(method) is not None]
        return bool(told) and all(one.only_contradiction if method == "A" else one.p_supported is None for one in told)

    def rethreshold(self, threshold: float | None = None, agreement: float | None = None) -> ClaimsResult:
        """The same findings read with other thresholds; None leaves one as it is.

        Raises:
            ConfigurationError: One is out of its range.

        Example:
            >>> found = ClaimsResult("x", "v", None, outcomes=(ClaimOutcome("c1", p_supported=0.6),))
            >>> found.flagged("B", found.outcomes[0]), found.rethreshold(0.7).flagged("B", found.outcomes[0])
            (False, True)
        """
        return replace(
            self,
            threshold=self.threshold if threshold is None else threshold,
            agreement=self.agreement if agreement is None else agreement,
        )

    def flagged(self, method: MethodName, outcome: ClaimOutcome) -> bool | None:
        """Whether a method flags a claim; None where it could not judge it."""
        if method == "A":
            return None if outcome.agreement is None else outcome.agreement <= self.agreement
        if method == "B":
            one = ClaimScore(Claim(""), outcome.support)
            result = SourceNLIResult((one,), self.threshold)
            return bool(result.flagged) if result.read else None
        return bool(outcome.lacking or outcome.stronger)

    def rate(self, method: MethodName, claims: Sequence[LabelledClaim]) -> Rate:
        """How many of some claims a method flags: recall over unsupported ones, false positives over controls."""
        known = {one.claim_id: one for one in self.outcomes}
        flags = [self.flagged(method, known[c.claim_id]) for c in claims if c.claim_id in known]
        judged = [flag for flag in flags if flag is not None]
        return Rate(sum(judged), len(judged))

    def auroc(self, method: MethodName, claims: ClaimSet) -> float | None:
        """How often an unsupported claim scores higher than a supported one; .5 by chance."""
        known = {one.claim_id: one.score(method) for one in self.outcomes}
        pairs = [(c.is_unsupported, known[c.claim_id]) for c in claims.claims if known.get(c.claim_id) is not None]
        if len({label for label, _ in pairs}) < 2:
            return None
        labels, scores = zip(*pairs, strict=True)
        return float(auroc(np.array(labels), np.array(scores, dtype=np.float64)))

    def cross(self, claims: Sequence[LabelledClaim]) -> dict[tuple[bool, bool], int]:
        """How many of some claims both methods caught, one, or neither: counts by (A caught, B caught)."""
        known = {one.claim_id: one for one in self.outcomes}
        found = dict.fromkeys([(True, True), (True, False), (False, True), (False, False)], 0)
        for claim in claims:
            outcome = known.get(claim.claim_id)
            flags = None if outcome is None else (self.flagged("A", outcome), self.flagged("B", outcome))
            if flags is not None and flags[0] is not None and flags[1] is not None:
                found[flags[0], flags[1]] += 1
        return found

    def judged_by_both(self, claims: Sequence[LabelledClaim]) -> tuple[int, int]:
        """How many of some claims both methods judged, and how many have been worked on."""
        known = {one.claim_id: one for one in self.outcomes}
        worked = [known[claim.claim_id] for claim in claims if claim.claim_id in known]
        return sum(one.score("A") is not None and one.score("B") is not None for one in worked), len(worked)

    def missed(self, method: MethodName, claims: Sequence[LabelledClaim]) -> list[tuple[LabelledClaim, ClaimOutcome]]:
        """The unsupported claims that a method takes for supported."""
        known = {one.claim_id: one for one in self.outcomes}
        found = [(claim, known[claim.claim_id]) for claim in claims if claim.is_unsupported and claim.claim_id in known]
        return [(claim, outcome) for claim, outcome in found if self.flagged(method, outcome) is False]

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Keep the result, regenerated answers included."""
        write_json({"schema": SCHEMA, "benchmark": "claims", **asdict(self)}, path)

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> ClaimsResult:
        """The inverse of `to_json`.

        Raises:
            ConfigurationError: The file holds something else.
        """
        try:
            data = json.loads(Path(path).read_text("utf-8"))
            if data.pop("schema") != SCHEMA or data.pop("benchmark") != "claims":
                raise ValueError("it is of another schema or benchmark")
            outcomes = tuple(
                ClaimOutcome(**{**one, "lacking": tuple(one["lacking"]), "stronger": tuple(one["stronger"])})
                for one in data.pop("outcomes")
            )
            answers = {name: tuple(texts) for name, texts in data.pop("regenerations").items()}
            return cls(**data, outcomes=outcomes, regenerations=answers)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigurationError(f"{path} holds no result of bench claims: {error!r}") from error


def check_claims(
    claims: ClaimSet,
    verifier: ClaimVerifier,
    *,
    name: str,
    mention: ClaimVerifier | None = None,
    sampler: Sampler | None = None,
    generator: str | None = None,
    settings: Mapping[str, Any] | None = None,
    regenerations: int = REGENERATIONS,
    agreement: float = AGREEMENT,
    threshold: float = THRESHOLD,
    known: ClaimsResult | None = None,
    keep: Callable[[ClaimsResult], None] | None = None,
    limit: int | None = None,
    progress: bool | Progress = True,
) -> ClaimsResult:
    """Run both methods, document by document.

    Args:
        claims: What `load_claims` read.
        verifier: Holds claims against their document.
        name: The verifier in words, for the table and for telling results apart.
        mention: Holds claims against the regenerated answers; None for `verifier`.
        sampler: Answers again; None leaves method A out.
        generator: Its model in words.
        settings: What else shapes the verdicts and answers, as JSON-ready values and nothing secret; see
            `verifier_settings`.
        regenerations: Answers for each document.
        agreement: See `ClaimsResult`.
        threshold: See `ClaimsResult`.
        known: An earlier result of the same claims, verifier, generator, settings and number of regenerations: its
            documents are not run again, but for those with a claim that could not be judged. What it found is read
            with these thresholds, and the guard, which costs nothing, looks anew. One without method A is begun anew
            with it.
        keep: Called with the result after each document, so that a run that breaks off can go on, and where `known` is
            read in another way.
        limit: Only the first so many documents.
        progress: As in `evaluate_locally`.

    Raises:
        ConfigurationError: `known` is of other claims, models or settings, or a threshold is out of its range.
        ItemError: A model is not to be had, or gave fewer answers than `regenerations`.
    """
    drawn = {} if generator is None else {"regenerations": regenerations}
    result = ClaimsResult(
        claims.fingerprint, name, generator, {**(settings or {}), **drawn}, threshold=threshold, agreement=agreement
    )
    if known is not None and not (known.generator is None and generator is not None):
        result = _gone_on(known, result, claims)
        if keep is not None and result != known:
            keep(result)
    order = {claim.claim_id: place for place, claim in enumerate(claims.claims)}
    done = {one.claim_id for one in result.outcomes if _judged(one, generator)}
    documents = claims.documents[:limit]
    with show_progress(len(documents), progress) as advance:
        for document in documents:
            own = claims.claims_of(document.doc_id)
            if any(claim.claim_id not in done for claim in own):
                answers = result.regenerations.get(document.doc_id) or _answers(document, sampler, regenerations)
                outcomes = _outcomes(document, own, answers, verifier, mention or verifier)
                kept = [one for one in result.outcomes if one.claim_id not in {claim.claim_id for claim in own}]
                result = replace(
                    result,
                    outcomes=tuple(sorted((*kept, *outcomes), key=lambda one: order[one.claim_id])),
                    regenerations={**result.regenerations, document.doc_id: answers} if answers else {},
                )
                if keep is not None:
                    keep(result)
            advance()
    return result


def _gone_on(known: ClaimsResult, wanted: ClaimsResult, claims: ClaimSet) -> ClaimsResult:
    """What is known, read as is wanted and with the guard as it is now."""
    there, here = _made_with(known), _made_with(wanted)
    other = [name for name in {**there, **here} if there.get(name, "none") != here.get(name, "none")]
    if other:
        told = "; ".join(f"{name} is {there.get(name, 'none')} there, {here.get(name, 'none')} here" for name in other)
        raise ConfigurationError(f"the file holds another result ({told}); name another file")
    of = {claim.claim_id: claim for claim in claims.claims}
    facts = {document.doc_id: SourceFacts([document.source_text]) for document in claims.documents}
    outcomes = []
    for one in known.outcomes:
        claim = of[one.claim_id]
        lacking, stronger = _guard(facts[claim.doc_id], claim.text)
        outcomes.append(replace(one, lacking=lacking, stronger=stronger))
    return replace(known, outcomes=tuple(outcomes)).rethreshold(wanted.threshold, wanted.agreement)


def _made_with(result: ClaimsResult) -> dict[str, str]:
    """What a result was made with, flat and as text."""
    head = {"claims": result.fingerprint, "verifier": result.verifier, "generator": result.generator}
    return dict(_flat("", {**head, "settings": result.settings}))


def _flat(name: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{name}.{key}" if name else str(key), inner)
    else:
        yield name, json.dumps(value)


def _guard(facts: SourceFacts, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Specifics that the source lacks, and words stronger than its own."""
    return tuple(one.text for one in facts.lacking(text)), tuple(one.text for one in facts.stronger(text) or ())


def _judged(outcome: ClaimOutcome, generator: str | None) -> bool:
    return outcome.support.doubt is not None and (generator is None or outcome.agreement is not None)


def _answers(document: SourceDocument, sampler: Sampler | None, count: int) -> tuple[str, ...]:
    if sampler is None:
        return ()
    drawn = sampler.draw({"input": f"{document.prompt}\n\n{document.source_text}"}, count)
    if len(drawn.usable) < count:
        why = "; ".join(drawn.warnings())
        raise SamplingError(f"{len(drawn.usable)} of {count} answers about {document.doc_id} are of use: {why}")
    return tuple(drawn.texts)


def _outcomes(
    document: SourceDocument,
    claims: Sequence[LabelledClaim],
    answers: Sequence[str],
    verifier: ClaimVerifier,
    mention: ClaimVerifier,
) -> list[ClaimOutcome]:
    # Without the threshold, which a kept result may be read at anew: what is found does not depend on it.
    against_source = ask_verifier(verifier, [(claim.text, [document.source_text]) for claim in claims]).supports
    pairs = [(claim.text, [answer]) for claim in claims for answer in answers]
    against_answers = ask_verifier(mention, pairs).supports if pairs else ()
    facts = SourceFacts([document.source_text])
    found = []
    for place, (claim, support) in enumerate(zip(claims, against_source, strict=True)):
        held = against_answers[place * len(answers) :][: len(answers)]
        per_sample = tuple(None if one.doubt is None else 1.0 - one.doubt for one in held)
        unread = [one for one in held if one.doubt is None]
        lacking, stronger = _guard(facts, claim.text)
        found.append(
            ClaimOutcome(
                claim.claim_id,
                agreement=ClaimAgreement(Claim(claim.text), per_sample).agreement,
                only_contradiction=any(one.doubt is not None and one.p_supported is None for one in held),
                unread_answers=len(unread),
                unread_why=unread[0].problem if unread else None,
                p_supported=support.p_supported,
                p_contradicted=support.p_contradicted,
                lacking=lacking,
                stronger=stronger,
                problem=support.problem,
            )
        )
    return found
