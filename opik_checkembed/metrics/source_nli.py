"""Claims against their source as an Opik metric: what of the answer does the source not support?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed.errors import ConfigurationError, ItemError, RequestError
from opik_checkembed.functional.claim_support import ClaimScore, SourceNLIResult
from opik_checkembed.functional.grounding import Finding, SourceFacts
from opik_checkembed.functional.nli import Relation
from opik_checkembed.functional.selfcheck import Aggregate, is_aggregate
from opik_checkembed.metrics.base import UNSET, ItemMetric, given_fields
from opik_checkembed.metrics.claim_reader import CheckedClaims, ClaimReader, ClaimsFrom
from opik_checkembed.models.judge import Judge
from opik_checkembed.models.nli import NLIModel
from opik_checkembed.models.verifier import SUPPORT_PROMPT, ClaimVerifier, ask_verifier, verifier_of
from opik_checkembed.samples.request import Fields, asked_text
from opik_checkembed.samples.sampler import samplers_of
from opik_checkembed.wording import kind_of, shortened

if TYPE_CHECKING:
    from opik.evaluation.models import OpikBaseModel

SOURCE_FIELDS = ("context", "source", "source_text")


class SourceNLIMetric(ItemMetric):
    """Share of an answer's claims that its source does not support: 0 all supported to 1 none, lower is better.

    Each claim of the output is held against the source (`context`, `source` or `source_text`: a text, or a list of
    passages), by a local classifier of natural language inference or by an LLM (`judge=`). Per claim the evidence holds
    its text and place, P(supported), the verdict (supported; contradicted; or absent, which is neither), and the place
    in the source that decided, with the window around it that was read (see `Evidence`). No sample is drawn and the
    model is not asked again: this looks at the source alone, and says nothing of whether the source is true.

    Supported needs a classifier with an entailment label. With one that knows contradiction only, claims are
    "contradicted" or "not contradicted", and the value is the share of those contradicted. Such a classifier reads for
    each claim only the window most like it, so that what contradicts it in other words elsewhere is not seen. The
    reason says both.

    Beside the verdict, never mixed into it, the evidence lists what rules find: `unsupported_specifics`, the numbers,
    dates, names and units of the claim that do not occur in the source (`asked` are those that the question has: the
    answer repeats them, true or not), and `stronger_wording` (only, first, always, caused, proved, ...) where the
    source does not say so, which is None for a language whose words are not known. See
    `opik_checkembed.functional.grounding`.

    Texts in source or claim that speak to the verifier ("answer YES") cannot leave their place in an LLM's prompt. A
    classifier reads them as text; see `NLIVerifier` for what was measured.

    Support that is spread over places further apart than a window is not seen as such by the classifier, and a verifier
    can be wrong: choose `threshold` on labelled answers.

    Source: Method B of the published 132-claim comparison of self-consistency and source-grounded NLI; windows after
    Laban et al., "SummaC" (TACL 2022).

    Args:
        name: The score's name.
        nli_model: See `NLIVerifier`; the default verifier.
        labels: See `NLIVerifier`.
        device: See `NLIVerifier`.
        first: See `NLIVerifier`; the model's card has it. Nothing warns of the wrong one: a claim beside its own copy
            or its negation reads alike both ways.
        window_tokens: See `NLIVerifier`.
        judge: An LLM as the verifier: a litellm name, an `OpikBaseModel` or a `Judge`; see `LLMVerifier`.
        judge_parameters: For `LLMVerifier` and its `LLMJudge`: `window_chars`, `prompt`, `max_tokens`, `api_base`,
            `store`, `budget`, ...
        verifier: A `ClaimVerifier` of your own.
        claims: "sentences", or "llm" to have `claims_model` split compound sentences. An item's own `claims` are
            taken as they are. See `ClaimReader`.
        claims_model: See `ClaimReader`.
        claims_parameters: See `ClaimReader`.
        max_claims: Claims beyond are not checked, which the reason says; None for no limit.
        aggregate: "mean", the share of claims not supported; or "max", the doubt in the worst (1 - P(supported)).
        threshold: P(supported) from which a claim counts as supported, above 0 and at most 1. An LLM is asked about
            each claim below it once more: is it contradicted, or absent? Where only contradiction is known, a claim
            counts as contradicted from P(contradicted) > 1 - `threshold`.
        splitter: See `SelfCheckMetric`.
        language: Language code for the rules.
        min_tokens: Shorter sentences are no claims.
        track: Whether Opik logs the metric's span.
        project_name: See Opik's `BaseMetric`.

    Raises:
        ConfigurationError: An argument cannot work; says what to do.

    Example:
        >>> from opik_checkembed.functional.verdict import read_verdict
        >>> class Length:
        ...     def read(self, prompts):
        ...         return [read_verdict("Yes" if prompt.count("5 km") == 2 else "No") for prompt in prompts]
        >>> metric = SourceNLIMetric(judge=Length(), track=False)
        >>> score = metric.score(output="The bridge is 5 km long. It is 90 m wide.", context="It is 5 km long.")
        >>> score.value, [claim["verdict"] for claim in score.metadata["evidence"]["claims"]]
        (0.5, ['supported', 'absent'])
    """

    higher_is_better: ClassVar[bool] = False
    default_name: ClassVar[str] = "source_nli"

    def __init__(
        self,
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
        threshold: float = 0.5,
        splitter: Any = None,
        language: str = "en",
        min_tokens: int = 3,
        track: bool = True,
        project_name: str | None = None,
    ) -> None:
        if not is_aggregate(aggregate):
            raise ConfigurationError(f"aggregate must be 'max' or 'mean', not {aggregate!r}")
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold <= 1:
            raise ConfigurationError(f"threshold must be a number above 0 and at most 1, not {threshold!r}")
        self.aggregate: Aggregate = aggregate
        self.threshold = float(threshold)
        self.verifier = verifier_of(
            verifier,
            judge,
            judge_parameters,
            {
                "nli_model": nli_model,
                "labels": labels,
                "device": device,
                "first": first,
                "window_tokens": window_tokens,
            },
            prompt=SUPPORT_PROMPT,
        )
        self.reader = ClaimReader(
            claims,
            claims_model=claims_model,
            claims_parameters=claims_parameters,
            splitter=splitter,
            language=language,
            min_tokens=min_tokens,
            max_claims=max_claims,
        )
        super().__init__(name, track=track, project_name=project_name)

    def samplers(self) -> list[object]:
        """See `AsksModels.samplers`."""
        return samplers_of(self.verifier, self.reader)

    def score(
        self,
        input: Any = None,
        output: Any = UNSET,
        context: Any = None,
        **fields: Any,
    ) -> ScoreResult:
        """Judge one answer; Opik calls this with the dataset item and the task's output, merged.

        Args:
            input: What was asked; numbers and names that it has are marked so where the source lacks them.
            output: The answer.
            context: The source, a text or a list of texts; else `source` or `source_text`.
            **fields: `claims`, a list of texts to check instead of the output's sentences.

        Returns:
            One score, or a failed one (`scoring_failed=True`) whose reason says what to do.
        """
        named = {"input": input, "context": context}
        given = given_fields(output, {**{k: v for k, v in named.items() if v is not None}, **fields})
        try:
            passages, noted = source_passages(given)
            read = self.reader.read(given)
            found = ask_verifier(self.verifier, [(claim.text, passages) for claim in read.claims], self.threshold)
        except (ItemError, ConfigurationError) as error:
            return self.failed(error)
        return self._scored(passages, noted, CheckedClaims(read, found), given)

    def _scored(
        self, passages: Sequence[str], noted: Sequence[str], checked: CheckedClaims, fields: Fields
    ) -> ScoreResult:
        facts = SourceFacts(passages, language=self.reader.language, known=asked_text(fields))
        result = SourceNLIResult(
            tuple(
                ClaimScore(
                    claim,
                    support,
                    {
                        "unsupported_specifics": _listed(facts.lacking(claim.text, with_asked=True)),
                        "stronger_wording": _listed(facts.stronger(claim.text)),
                    },
                )
                for claim, support in zip(checked.read.claims, checked.found.supports, strict=True)
            ),
            self.threshold,
            self.aggregate,
        )
        evidence = {**result.to_dict(), "source": {"passages": list(passages)}, **checked.evidence}
        value, worst = result.value, result.worst
        if value is None or worst is None:
            return self.failed(checked.nothing(), evidence=evidence)
        notes = [*noted, *checked.notes(len(result.claims) - len(result.read))]
        said = "".join(f" {note[:1].upper()}{note[1:]}." for note in notes)
        return ScoreResult(
            name=self.name, value=value, reason=f"{_why(result, worst)}.{said}", metadata={"evidence": evidence}
        )


def _listed(found: Sequence[Finding] | None) -> list[dict[str, Any]] | None:
    """None where nothing was looked for."""
    return None if found is None else [one.to_dict() for one in found]


def source_passages(fields: Fields) -> tuple[list[str], tuple[str, ...]]:
    """The source of an item as passages, and what the reason must say of those left out.

    The first of `SOURCE_FIELDS` that holds anything is read.

    Raises:
        RequestError: There is none, it is empty, or it is something else than a text or a list of texts.
    """
    given = [name for name in SOURCE_FIELDS if fields.get(name) is not None]
    for name in given:
        passages, empty = _passages(name, fields[name])
        if passages:
            left_out = f"{empty} of {empty + len(passages)} passages of `{name}` are empty and were left out"
            return passages, (left_out,) if empty else ()
    if given:
        raise RequestError(f"`{given[0]}` is empty: there is no source to hold the answer against")
    raise RequestError(
        "there is no source to hold the answer against: no `context`, `source` or `source_text`; name the field "
        "that holds it, for example scoring_key_mapping={'context': 'your_field'}"
    )


def _passages(name: str, given: object) -> tuple[list[str], int]:
    """The passages of a field, and how many of them are empty."""
    texts = [given] if isinstance(given, str) else given
    if (
        isinstance(texts, Mapping)
        or not isinstance(texts, Sequence)
        or not all(isinstance(text, str) or text is None for text in texts)
    ):
        raise RequestError(
            f"`{name}` must be a text or a list of texts, not {_described(given)}; {_mapped(name, given)}"
        )
    passages = [text.strip() for text in texts if text and text.strip()]
    return passages, len(texts) - len(passages)


def _described(given: object) -> str:
    other = _no_text(given)
    return kind_of(given) if other is None else f"{kind_of(given)} that holds {kind_of(other)}"


def _no_text(given: object) -> object | None:
    """The first part of a sequence that is no text."""
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return next((one for one in given if not isinstance(one, str) and one is not None), None)
    return None


def _mapped(name: str, given: object) -> str:
    """How to make texts of it."""
    if isinstance(_no_text(given), Mapping):
        texts = f"[part['text'] for part in item['{name}']]"
    elif isinstance(given, Iterable) and not isinstance(given, Mapping | Sequence):
        texts = f"list(item['{name}'])"
    else:
        return "name the field that holds its texts, for example scoring_key_mapping={'context': 'your_field'}"
    return f"map its texts, for example scoring_key_mapping={{'context': lambda item: {texts}}}"


def _why(result: SourceNLIResult, worst: ClaimScore) -> str:
    flagged, read = len(result.flagged), len(result.read)
    highest = result.aggregate == "max"
    if result.contradiction_only:
        scale = "the value is the worst claim's P(contradicted)" if highest else "0 none to 1 all"
        share = (
            f"The source contradicts {flagged} of {read} claims ({scale}; the classifier has no entailment label, so "
            "nothing is said of support)"
        )
        doubt = f"P(contradicted) {worst.support.p_contradicted:.2f}"
    else:
        scale = "the value is 1 - P(supported) of the worst" if highest else "0 all supported to 1 none"
        share = f"{read - flagged} of {read} claims are supported by the source ({scale})"
        doubt = f"P(supported) {worst.support.p_supported:.2f}"
    said = f"{share}; in most doubt, {result.verdict(worst).value}, {doubt}: {shortened(worst.claim.text, 120)!r}"
    place = result.deciding(worst)
    if place is not None:
        said += f"; nearest in the source: {shortened(place.text, 120)!r}"
    for key, words in (
        ("unsupported_specifics", "not in the source"),
        ("stronger_wording", "stronger than the source"),
    ):
        # None where nothing was looked for.
        listed = worst.guard.get(key) or ()
        found = [f"{one['text']!r}{' (as the question says)' if one['asked'] else ''}" for one in listed]
        if found:
            said += f"; {words}: {', '.join(found)}"
    return said
