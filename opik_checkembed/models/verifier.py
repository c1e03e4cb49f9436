"""Do passages support a claim? What a verifier is, one that is a local classifier, and one that is an LLM."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

from opik_checkembed.errors import ConfigurationError, ModelError, OpikCheckEmbedError
from opik_checkembed.functional.claim_support import Evidence, Support
from opik_checkembed.functional.nearest import alike
from opik_checkembed.functional.nli import Relation
from opik_checkembed.models.judge import (
    Judge,
    JudgePrompt,
    JudgeReading,
    LLMJudge,
    ask_judge,
    judging_bill,
    judging_notes,
)
from opik_checkembed.models.nli import NLIModel, Reading, shared_nli
from opik_checkembed.samples.sampler import samplers_of

if TYPE_CHECKING:
    from opik.evaluation.models import OpikBaseModel

    from opik_checkembed.text import Span

DEFAULT_GROUNDING_MODEL = "MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli"
"""An English classifier of entailment, neutral and contradiction, trained with the premise first."""

SUPPORT_PROMPT = (
    "Source: {source}\n\nClaim: {claim}\n\nDoes the source support the claim?\n"
    "1. Only what the source states directly counts as support.\n"
    "2. Infer nothing, and use no knowledge of your own.\n"
    "3. A claim that exaggerates, or that states a cause, a superlative or a certainty which the source does not "
    "state, is not supported.\n\nAnswer Yes or No.\n\nAnswer: "
)
"""What an LLM is asked about a claim and its source: the three rules of the published Method B."""

CONTRADICTION_PROMPT = (
    "Source: {source}\n\nClaim: {claim}\n\nDoes the source contradict the claim, so that they cannot both be true? "
    "Answer Yes or No.\n\nAnswer: "
)
"""What it is asked about a claim that the source does not support."""

MENTION_PROMPT = (
    "Text: {source}\n\nClaim: {claim}\n\nDoes the text mention the claim or directly support it? Answer Yes or "
    "No.\n\nAnswer: "
)
"""What it is asked about a claim and a sample: the question of the published Method A."""

Question = tuple[str, Sequence[str]]
"""A claim, and the passages that together it is held against."""


@dataclass(frozen=True)
class Verification:
    """What a verifier found.

    Attributes:
        supports: One for each question, in order.
        notes: What a reason must say (windows, verdicts that could not be read, ...).
        judging: What it paid, as `judging_bill` has it; None for a verifier that makes no calls.
    """

    supports: tuple[Support, ...]
    notes: tuple[str, ...] = ()
    judging: Mapping[str, Any] | None = field(default=None)


@runtime_checkable
class ClaimVerifier(Protocol):
    """Says of claims whether passages support them.

    One that asks models also has `samplers()`, so that a replay or a budget can hold it; see `AsksModels`.

    Example:
        >>> class Quoted:
        ...     def verify(self, questions):
        ...         return Verification(tuple(Support(float(claim in " ".join(texts))) for claim, texts in questions))
        >>> Quoted().verify([("It rains.", ["It rains. It pours."])]).supports[0].verdict().value
        'supported'
    """

    def verify(self, questions: Sequence[Question]) -> Verification:
        """One `Support` for each question, in order; one that cannot be judged has a `problem`, and is not left out.

        Args:
            questions: Claims, each with at least one passage.
        """
        ...


@runtime_checkable
class ThresholdVerifier(ClaimVerifier, Protocol):
    """A verifier that looks closer at the claims that will be flagged, and so has to know which these are."""

    def at_threshold(self, threshold: float) -> ClaimVerifier:
        """The same verifier, where a claim counts as supported from P(supported) >= `threshold`."""
        ...


def ask_verifier(
    verifier: ClaimVerifier, questions: Sequence[Question], threshold: float | None = None
) -> Verification:
    """What any verifier finds, whoever wrote it.

    Args:
        verifier: The verifier.
        questions: See `ClaimVerifier.verify`.
        threshold: P(supported) from which the caller takes a claim for supported, told to a `ThresholdVerifier`; None
            leaves it at its own.

    Raises:
        ItemError: A model cannot be loaded or failed, a reply is missing in replay, or a verifier of the caller's own
            raised or did not return a `Support` for each question.
    """
    try:
        if threshold is not None and isinstance(verifier, ThresholdVerifier):
            verifier = verifier.at_threshold(threshold)
        return _normal(verifier.verify(questions), len(questions))
    except OpikCheckEmbedError:
        raise
    except Exception as error:
        raise ModelError(f"the verifier raised {error!r}") from error


def _normal(found: Verification, count: int) -> Verification:
    supports = tuple(found.supports) if isinstance(found, Verification) else ()
    if len(supports) != count or not all(isinstance(one, Support) for one in supports):
        raise ModelError(f"the verifier did not return a Verification with a Support for each of {count} questions")
    normal = tuple(map(_plain, supports))
    told = {one.p_supported is not None for one in normal if one.doubt is not None}
    if len(told) > 1:
        raise ModelError("the verifier told support of some claims and only contradiction of others")
    return Verification(normal, tuple(str(note) for note in found.notes if str(note).strip()), found.judging)


def _plain(support: Support) -> Support:
    """With probabilities that are Python's own, and a problem where there is none of them."""
    values = [_probability(p) for p in (support.p_supported, support.p_contradicted)]
    if not all(p is None or 0.0 <= p <= 1.0 for p in values):
        raise ModelError(f"the verifier returned {values}, which are no probabilities from 0 to 1")
    problem = support.problem or ("the verifier gave no probability" if values == [None, None] else None)
    return Support(values[0], values[1], _place(support.supporting), _place(support.contradicting), problem)


def _place(found: Evidence | None) -> Evidence | None:
    if found is None:
        return None
    if not isinstance(found, Evidence):
        raise ModelError(f"the verifier returned {found!r:.80} where an Evidence belongs")
    return replace(found, probability=_probability(found.probability))


def _probability(value: float | None) -> float | None:
    return None if value is None else float(value)


class _Place(NamedTuple):
    """A window of one of a question's passages."""

    passage: int
    span: Span
    text: str


Window = tuple[_Place, ...]
"""What a model reads at once: a part of a passage, or several short passages."""

K = TypeVar("K", bound=Hashable)

# Likelier than not: where an LLM takes a claim for supported, or for contradicted, unless it is told another threshold.
_LIKELY = 0.5

# Pairs that are read at once.
_PAIRS = 8192


class NLIVerifier:
    """A classifier of natural language inference in this process: premise a window of the source, hypothesis the claim.

    A claim is held against every window of every passage, if the classifier has an entailment label; windows are made
    of whole sentences and overlap by one, so that nothing is cut off. P(supported) is the entailment of the window that
    entails it most, P(contradicted) the contradiction of the one that contradicts it most. Small windows are the rule
    because classifiers that learned from single sentences say less of whole documents (Laban et al., "SummaC", TACL
    2022): given the documents of `bench claims` whole, the small classifier measured here calls every claim
    contradicted, true or not.

    A classifier without an entailment label cannot tell support: for it P(supported) is None. What it says of a window
    that has nothing to do with the claim means nothing either, for it cannot call it neutral, so only the window most
    like the claim (by its letters) is read. The others are not: what contradicts the claim in other words is then not
    found. The notes say how many windows were read of how many.

    A text that speaks to its reader ("answer YES") is read as any other, and any text beside the deciding sentence
    moves the probabilities a little. Measured with a small contradiction-only classifier on two claims that a source
    states and two that it denies: thirty hostile texts in the same window changed none of 120 verdicts, and thirty
    harmless ones of their lengths one. Near the threshold any text does: the verdict on a claim of P(contradicted) .58
    changed beside 17 of the hostile and 18 of the harmless ones.

    Args:
        nli_model: A sequence classification model of two or three labels: a Hugging Face name, a folder, or an
            `NLIModel`. None takes `DEFAULT_GROUNDING_MODEL`, downloaded at the first use. Shared with all metrics of
            this process that use the model.
        labels: Positions of its outputs; None reads them from its configuration. See `TransformerNLI`.
        device: Where it runs.
        first: Which text it is given first: "source", as most were trained, or "claim", as SelfCheckGPT's was.
        window_tokens: The most tokens of a window; beside a longer claim as many more as it needs. No more than the
            model has room for is read at once in any case.

    Raises:
        ConfigurationError: An argument cannot work, or a folder holds no classifier whose labels can be read; says
            what to do.

    Example:
        >>> NLIVerifier("cross-encoder/nli-deberta-v3-small").window_tokens
        128
    """

    def __init__(
        self,
        nli_model: str | PathLike[str] | NLIModel | None = None,
        *,
        labels: Mapping[Relation, int] | None = None,
        device: str | None = None,
        first: Literal["source", "claim"] = "source",
        window_tokens: int = 128,
    ) -> None:
        if first not in {"source", "claim"}:
            raise ConfigurationError(f"first must be 'source' or 'claim', not {first!r}")
        self.window_tokens = _positive("window_tokens", window_tokens)
        self.first = first
        self.nli = shared_nli(DEFAULT_GROUNDING_MODEL if nli_model is None else nli_model, labels=labels, device=device)

    def verify(self, questions: Sequence[Question]) -> Verification:
        """See `ClaimVerifier.verify`.

        Raises:
            ModelUnavailable: The model cannot be loaded.
            ModelError: It failed, or a text cannot be encoded.
        """
        claims = [claim for claim, _ in questions]
        keys = [(tuple(passages), limit) for (_, passages), limit in zip(questions, self._limits(claims), strict=True)]
        laid = {key: self._places(*key) for key in dict.fromkeys(keys)}
        places = [laid[key] for key in keys]
        notes: tuple[str, ...] = ()
        if questions and not self._tells_support(claims[0], places[0][0]):
            near = _most_alike(claims, keys, laid)
            notes = _unread(keys, laid, near)
            places = [[place] for place in near]
        held: list[_Held] = []
        for part in _parts([len(windows) for windows in places]):
            # Part by part, so that a long source and many claims do not lie in memory as pairs.
            pairs = [(claims[number], place.text) for number in part for place in places[number]]
            readings = iter(self.nli.read(pairs, passage_first=self.first == "source"))
            held += [_held(places[number], [next(readings) for _ in places[number]]) for number in part]
        supporting = _evidence(claims, [(one.support, one.p_supported) for one in held])
        contradicting = _evidence(claims, [(one.against, one.p_contradicted) for one in held])
        return Verification(
            tuple(
                Support(one.p_supported, one.p_contradicted, supporting[number], contradicting[number])
                for number, one in enumerate(held)
            ),
            notes,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.nli.model!r})"

    def _limits(self, claims: Sequence[str]) -> list[int]:
        """The most tokens of a window beside each claim: more where it is longer than a window, which else could not
        hold all that supports it; in coarse steps, so that claims of about equal length share windows.
        """
        tokens = self.nli.count(claims) if claims else []
        return [self.window_tokens * max(1, -(-count // self.window_tokens)) for count in tokens]

    def _places(self, passages: Sequence[str], limit: int) -> list[_Place]:
        from opik_checkembed.text import windows  # its patterns take a while to compile

        try:
            laid = [windows(passage, self.nli.count, limit) for passage in passages]
        except ValueError as error:
            raise ModelError(f"no window of the source fits window_tokens={self.window_tokens}: {error}") from error
        return [
            _Place(number, span, span.of(passage))
            for number, (passage, spans) in enumerate(zip(passages, laid, strict=True))
            for span in spans
        ]

    def _tells_support(self, claim: str, place: _Place) -> bool:
        # Kept, so that the pair is not read twice.
        (reading,) = self.nli.read([(claim, place.text)], passage_first=self.first == "source")
        return reading.probabilities.entailment is not None


class _Held(NamedTuple):
    """One claim after its windows were read."""

    p_supported: float | None
    p_contradicted: float | None
    support: Window | None
    against: Window | None


def _held(places: Sequence[_Place], readings: Sequence[Reading]) -> _Held:
    support, p_supported = _highest([_over_parts(reading, "entailment") for reading in readings])
    against, p_contradicted = _highest([_over_parts(reading, "contradiction") for reading in readings])
    return _Held(
        p_supported,
        p_contradicted,
        None if support is None else (places[support],),
        None if against is None else (places[against],),
    )


def _over_parts(reading: Reading, relation: Relation) -> float | None:
    """A relation over the parts of a pair too long to be read at once: all pieces of a claim must be entailed, each
    somewhere; it is contradicted where one of them is.
    """
    values = getattr(reading.probabilities, relation)
    if values is None:
        return None
    table = values.reshape(len(reading.pieces), len(reading.windows))
    return float(table.max(axis=1).min() if relation == "entailment" else table.max())


def _highest(values: Sequence[float | None]) -> tuple[int | None, float | None]:
    known = [(value, -place) for place, value in enumerate(values) if value is not None]
    if not known:
        return None, None
    value, place = max(known)
    return -place, value


def _parts(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Positions in order, in parts whose sizes sum to no more than `_PAIRS`, or of one that is larger."""
    part: list[int] = []
    held = 0
    for number, size in enumerate(sizes):
        if part and held + size > _PAIRS:
            yield part
            part, held = [], 0
        part.append(number)
        held += size
    if part:
        yield part


def _most_alike(claims: Sequence[str], keys: Sequence[K], laid: Mapping[K, Sequence[_Place]]) -> list[_Place]:
    """For each claim the place, among those laid for its key, that is most like it by its letters."""
    numbers: dict[K, list[int]] = {}
    for number, key in enumerate(keys):
        numbers.setdefault(key, []).append(number)
    found: dict[int, _Place] = {}
    for key, own in numbers.items():
        near = alike([claims[number] for number in own], [place.text for place in laid[key]])
        found.update({number: laid[key][int(best)] for number, best in zip(own, near.argmax(axis=1), strict=True)})
    return [found[number] for number in range(len(claims))]


def _unread(
    keys: Sequence[tuple[tuple[str, ...], int]],
    laid: Mapping[tuple[tuple[str, ...], int], Sequence[_Place]],
    near: Sequence[_Place],
) -> tuple[str, ...]:
    """What is to be said where each claim was held against one window of several."""
    # Claims of other lengths have windows of their own; those that are the same for both count once.
    windows = {(passages, place) for (passages, _), places in laid.items() for place in places}
    if all(len(places) == 1 for places in laid.values()):
        return ()
    read = {(passages, place) for (passages, _), place in zip(keys, near, strict=True)}
    return (
        f"{len(read)} of {len(windows)} windows were read, for each claim the one most like it by its letters: a model "
        "that only knows contradiction finds one in unrelated text",
    )


def _evidence(claims: Sequence[str], windows: Sequence[tuple[Window | None, float | None]]) -> list[Evidence | None]:
    """For each claim the sentence most like it, of the window that decided with some probability."""
    known = [(number, window, p) for number, (window, p) in enumerate(windows) if window is not None]
    laid = {window: _sentences(window) for window in dict.fromkeys(window for _, window, _ in known)}
    near = _most_alike([claims[number] for number, _, _ in known], [window for _, window, _ in known], laid)
    found: list[Evidence | None] = [None] * len(claims)
    for (number, window, p), one in zip(known, near, strict=True):
        read = next((place.span.start, place.span.end) for place in window if place.passage == one.passage)
        found[number] = Evidence(one.passage, one.span.start, one.span.end, one.text, read, p)
    return found


def _sentences(window: Window) -> list[_Place]:
    from opik_checkembed.text import Span, sentences

    found = []
    for place in window:
        for span in sentences(place.text):
            start = place.span.start + span.start
            found.append(_Place(place.passage, Span(start, start + span.end - span.start), span.of(place.text)))
    return found


class LLMVerifier:
    """An LLM, asked whether the source supports a claim.

    Three rules, those of the published Method B: only what the source states directly, no inference, and a claim that
    exaggerates or states a cause that the source does not is unsupported. Temperature 0; P(yes) from the reply's
    log-probabilities where the provider gives them, else 0 or 1; a reply that is neither yes nor no is unread, never a
    half. Claim and source are fenced as data (see `JudgePrompt`), and replies are kept as samples are, so that a rerun
    makes no call.

    One call for each claim and window of the source, and one more for each window of a claim that is not supported, to
    tell contradicted from absent: at most two for each claim and window. Supported is a claim from P(supported) >= .5,
    or from the threshold of the metric that asks (see `at_threshold`), so that every claim which the metric flags is
    asked about once more, and no other. A source of up to `window_chars` is one window; of a longer one the window
    decides that supports most.

    Args:
        judge: Who judges: a litellm name, an `OpikBaseModel` or a `Judge`.
        prompt: A template with `{source}` and `{claim}`; other braces are doubled. It must ask for yes or no.
        contradictions: Whether to ask the second question.
        window_chars: The most characters of the source in one prompt; choose it by the judge's context length.
        **judge_parameters: See `LLMJudge`; only for a name or model.

    Raises:
        ConfigurationError: An argument cannot work; says what to do.

    Example:
        >>> LLMVerifier("gpt-4o-mini", store=None)
        LLMVerifier(LLMJudge('gpt-4o-mini'))
    """

    def __init__(
        self,
        judge: str | OpikBaseModel | Judge,
        *,
        prompt: str = SUPPORT_PROMPT,
        contradictions: bool = True,
        window_chars: int = 24_000,
        **judge_parameters: Any,
    ) -> None:
        self.prompt = JudgePrompt(prompt, ["source", "claim"])
        self.window_chars = _positive("window_chars", window_chars)
        self._second = JudgePrompt(CONTRADICTION_PROMPT, ["source", "claim"]) if contradictions else None
        if isinstance(judge, Judge) and judge_parameters:
            raise ConfigurationError("parameters and a judge object cannot both be given; set them on it")
        self.judge: Judge = judge if isinstance(judge, Judge) else LLMJudge(judge, **judge_parameters)
        self._threshold = _LIKELY

    def at_threshold(self, threshold: float) -> Self:
        """See `ThresholdVerifier.at_threshold`; the judge is shared.

        Example:
            >>> verifier = LLMVerifier("gpt-4o-mini", store=None)
            >>> verifier.at_threshold(0.9).judge is verifier.judge
            True
        """
        other = copy.copy(self)
        other._threshold = threshold
        return other

    def samplers(self) -> list[object]:
        """See `AsksModels.samplers`."""
        return samplers_of(self.judge)

    def verify(self, questions: Sequence[Question]) -> Verification:
        """See `ClaimVerifier.verify`.

        Raises:
            ItemError: A reply is missing in replay, or a judge of the caller's own failed.
        """
        keys = [tuple(passages) for _, passages in questions]
        laid = {key: list(_windows(key, self.window_chars)) for key in dict.fromkeys(keys)}
        held = [laid[key] for key in keys]
        claims = [claim for claim, _ in questions]
        first = self._asked(self.prompt, claims, held)
        found = [_surest(readings, self._threshold) for readings in first]
        again = [place for place, (p, _) in enumerate(found) if self._second and p is not None and p < self._threshold]
        second = self._asked(self._second, [claims[p] for p in again], [held[p] for p in again]) if self._second else []
        against = dict(zip(again, [_surest(readings, _LIKELY) for readings in second], strict=True))
        # A verdict names no place; where to look is the sentence of the deciding window that is most like the claim.
        supporting = _evidence(claims, [(held[number][at], p) for number, (p, at) in enumerate(found)])
        denied = [against.get(number) for number in range(len(claims))]
        contradicting = _evidence(
            claims,
            [(None, None) if one is None else (held[number][one[1]], one[0]) for number, one in enumerate(denied)],
        )
        readings = [one for group in (*first, *second) for one in group]
        return Verification(
            tuple(
                Support(problem=next(one.problem for one in first[number] if one.problem))
                if p is None
                else Support(p, against.get(number, (None, 0))[0], supporting[number], contradicting[number])
                for number, (p, _) in enumerate(found)
            ),
            judging_notes(readings),
            judging_bill(readings),
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.judge!r})"

    def _asked(
        self, prompt: JudgePrompt, claims: Sequence[str], held: Sequence[Sequence[Window]]
    ) -> list[list[JudgeReading]]:
        """For each claim the readings of its windows."""
        prompts = [
            (source, prompt.fill(source=source, claim=claim))
            for claim, windows in zip(claims, held, strict=True)
            for source in ("\n\n".join(place.text for place in window) for window in windows)
        ]
        # Prompts with the same source next to each other, for the sake of providers' prompt caches.
        order = sorted(range(len(prompts)), key=lambda place: prompts[place][0])
        found = ask_judge(self.judge, [prompts[place][1] for place in order]) if order else []
        readings = iter([reading for _, reading in sorted(zip(order, found, strict=True), key=lambda one: one[0])])
        return [[next(readings) for _ in windows] for windows in held]


def _windows(passages: Sequence[str], limit: int) -> Iterator[Window]:
    """The passages in as few windows as hold them whole, those too long cut on sentence borders."""
    from opik_checkembed.text import Span, windows

    gathered: list[_Place] = []
    held = 0
    for number, passage in enumerate(passages):
        if gathered and held + len(passage) + 2 > limit:
            yield tuple(gathered)
            gathered, held = [], 0
        if len(passage) > limit:
            for span in windows(passage, lambda texts: list(map(len, texts)), limit):
                yield (_Place(number, span, span.of(passage)),)
            continue
        gathered.append(_Place(number, Span(0, len(passage)), passage))
        held += len(passage) + 2
    if gathered:
        yield tuple(gathered)


def _surest(readings: Sequence[JudgeReading], threshold: float) -> tuple[float | None, int]:
    """The highest P(yes) over the windows and which of them has it; no P where it is below the threshold and a window
    could not be read, which might have been the one that reaches it.
    """
    known = [(one.probability, -place) for place, one in enumerate(readings)]
    sure = [(p, place) for p, place in known if p is not None]
    best, place = max(sure, default=(0.0, 0))
    return (None if len(sure) < len(known) and best < threshold else best), -place


def _positive(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigurationError(f"{name} must be a whole number of at least 1, not {value!r}")
    return value


def sharing(asked: object, parameters: Mapping[str, Any] | None, shared: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The parameters of a model named by a metric, with what it shares unless they say otherwise.

    Args:
        asked: What is asked; one that is None, or an object of the caller's own, shares nothing.
        parameters: What the caller gave.
        shared: `store`, `budget` and the like.
    """
    if asked is None or isinstance(asked, Judge) or not (parameters is None or isinstance(parameters, Mapping)):
        return parameters
    return {**shared, **(parameters or {})}


def verifier_of(
    verifier: ClaimVerifier | None,
    judge: str | OpikBaseModel | Judge | None,
    judge_parameters: Mapping[str, Any] | None,
    nli: Mapping[str, Any],
    **asking: Any,
) -> ClaimVerifier:
    """The verifier that a metric's arguments stand for: one's own, an LLM, or else a classifier.

    Args:
        verifier: One of the caller's own.
        judge: An LLM; see `LLMVerifier`.
        judge_parameters: For `LLMVerifier`, beside `judge`.
        nli: The arguments of `NLIVerifier`, all of them.
        **asking: What the metric itself has an LLM asked, unless `judge_parameters` say otherwise.

    Raises:
        ConfigurationError: More than one is given, or one that cannot work.
    """
    if judge_parameters is not None and (not isinstance(judge_parameters, Mapping) or judge is None):
        raise ConfigurationError("judge_parameters is a dict like {'max_tokens': 500}, beside judge=")
    given = [
        name
        for name, value in (("verifier", verifier), ("judge", judge), ("nli_model", nli["nli_model"]))
        if value is not None
    ]
    defaults = inspect.signature(NLIVerifier).parameters
    for_nli = [name for name, value in nli.items() if value != defaults[name].default and name != "nli_model"]
    if for_nli and (verifier is not None or judge is not None):
        raise ConfigurationError(f"{', '.join(for_nli)} is for the classifier, and there is {' and '.join(given)}")
    if len(given) > 1:
        raise ConfigurationError(f"{' and '.join(given)} cannot both be given: each is a way to verify claims")
    if verifier is not None:
        if isinstance(verifier, type) or not isinstance(verifier, ClaimVerifier):
            raise ConfigurationError(
                f"verifier must be an object with verify(questions), such as NLIVerifier() or LLMVerifier(model), not "
                f"{verifier!r}"
            )
        return verifier
    if judge is not None:
        return LLMVerifier(judge, **{**asking, **(judge_parameters or {})})
    return NLIVerifier(**nli)
