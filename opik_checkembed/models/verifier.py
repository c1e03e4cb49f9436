"""Do passages support a claim? What a verifier is, one that is a local classifier, and one that is an LLM."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

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


def ask_verifier(verifier: ClaimVerifier, questions: Sequence[Question]) -> Verification:
    """What any verifier finds, whoever wrote it.

    Raises:
        ItemError: A model cannot be loaded or failed, a reply is missing in replay, or a verifier of the caller's own
            raised or did not return a `Support` for each question.
    """
    try:
        found = verifier.verify(questions)
    except OpikCheckEmbedError:
        raise
    except Exception as error:
        raise ModelError(f"the verifier raised {error!r}") from error
    supports = found.supports if isinstance(found, Verification) else ()
    if len(supports) != len(questions) or not all(isinstance(one, Support) and _in_range(one) for one in supports):
        raise ModelError(
            f"the verifier did not return a Verification with a Support, of probabilities from 0 to 1, for each of "
            f"{len(questions)} questions"
        )
    return found


def _in_range(support: Support) -> bool:
    return all(p is None or 0.0 <= p <= 1.0 for p in (support.p_supported, support.p_contradicted))


class _Place(NamedTuple):
    """A window of one of a question's passages."""

    passage: int
    span: Span
    text: str


class NLIVerifier:
    """A classifier of natural language inference in this process: premise a window of the source, hypothesis the claim.

    A claim is held against every window of every passage; windows are made of whole sentences and overlap by one, so
    that nothing is cut off. P(supported) is the entailment of the window that entails it most, P(contradicted) the
    contradiction of the one that contradicts it most. Small windows are the rule because classifiers that learned from
    single sentences say less of whole documents (Laban et al., "SummaC", TACL 2022): given the documents of
    `bench claims` whole, the small classifier measured here calls every claim contradicted, true or not.

    A classifier without an entailment label cannot tell support: for it P(supported) is None. What it says of a window
    that has nothing to do with the claim means nothing either, for it cannot call it neutral, so only the window most
    like the claim (by its letters) is read.

    Args:
        nli_model: A sequence classification model of two or three labels: a Hugging Face name, a folder, or an
            `NLIModel`. None takes `DEFAULT_GROUNDING_MODEL`, downloaded at the first use. Shared with all metrics of
            this process that use the model.
        labels: Positions of its outputs; None reads them from its configuration. See `TransformerNLI`.
        device: Where it runs.
        first: Which text it is given first: "source", as most were trained, or "claim", as SelfCheckGPT's was.
        window_tokens: The most tokens of a window; no more than the model has room for beside a claim is read at once
            in any case.

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
        laid = {key: self._places(key) for key in dict.fromkeys(tuple(passages) for _, passages in questions)}
        places = [laid[tuple(passages)] for _, passages in questions]
        if questions and not self._tells_support(questions[0][0], places[0][0]):
            places = [[place] for place in _most_alike(questions, laid)]
        pairs = [(claim, place.text) for (claim, _), held in zip(questions, places, strict=True) for place in held]
        readings = iter(self.nli.read(pairs, passage_first=self.first == "source"))
        held = [_held(windows, [next(readings) for _ in windows]) for windows in places]
        claims = [claim for claim, _ in questions]
        supporting = _evidence(claims, [one.support for one in held])
        contradicting = _evidence(claims, [one.against for one in held])
        return Verification(
            tuple(
                Support(one.p_supported, one.p_contradicted, supporting[number], contradicting[number])
                for number, one in enumerate(held)
            )
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.nli.model!r})"

    def _places(self, passages: Sequence[str]) -> list[_Place]:
        from opik_checkembed.text import windows  # its patterns take a while to compile

        try:
            laid = [windows(passage, self.nli.count, self.window_tokens) for passage in passages]
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
    support: _Place | None
    against: _Place | None


def _held(places: Sequence[_Place], readings: Sequence[Reading]) -> _Held:
    support, p_supported = _highest([_over_parts(reading, "entailment") for reading in readings])
    against, p_contradicted = _highest([_over_parts(reading, "contradiction") for reading in readings])
    return _Held(
        p_supported,
        p_contradicted,
        None if support is None else places[support],
        None if against is None else places[against],
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


def _most_alike(questions: Sequence[Question], laid: Mapping[tuple[str, ...], Sequence[_Place]]) -> list[_Place]:
    """For each claim the place of its source that is most like it by its letters."""
    found: dict[int, _Place] = {}
    for key, places in laid.items():
        numbers = [number for number, (_, passages) in enumerate(questions) if tuple(passages) == key]
        near = alike([questions[number][0] for number in numbers], [place.text for place in places])
        found.update({number: places[int(best)] for number, best in zip(numbers, near.argmax(axis=1), strict=True)})
    return [found[number] for number in range(len(questions))]


def _evidence(claims: Sequence[str], windows: Sequence[_Place | None]) -> list[Evidence | None]:
    """For each claim the sentence of its window that is most like it."""
    from opik_checkembed.text import sentences

    found: list[Evidence | None] = [None] * len(claims)
    numbers: dict[_Place, list[int]] = {}
    for number, window in enumerate(windows):
        if window is not None:
            numbers.setdefault(window, []).append(number)
    for window, own in numbers.items():
        spans = sentences(window.text)
        near = alike([claims[number] for number in own], [span.of(window.text) for span in spans])
        for number, best in zip(own, near.argmax(axis=1), strict=True):
            span = spans[int(best)]
            start = window.span.start + span.start
            found[number] = Evidence(window.passage, start, start + span.end - span.start, span.of(window.text))
    return found


class LLMVerifier:
    """An LLM, asked whether the source supports a claim.

    Three rules, those of the published Method B: only what the source states directly, no inference, and a claim that
    exaggerates or states a cause that the source does not is unsupported. Temperature 0; P(yes) from the reply's
    log-probabilities where the provider gives them, else 0 or 1; a reply that is neither yes nor no is unread, never a
    half. Claim and source are fenced as data (see `JudgePrompt`), and replies are kept as samples are, so that a rerun
    makes no call.

    One call for each claim and window of the source, and one more for those it does not support, to tell contradicted
    from absent. A source of up to `window_chars` is one window; of a longer one the window decides that supports most.

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

    def verify(self, questions: Sequence[Question]) -> Verification:
        """See `ClaimVerifier.verify`.

        Raises:
            ItemError: A reply is missing in replay, or a judge of the caller's own failed.
        """
        keys = dict.fromkeys(tuple(passages) for _, passages in questions)
        laid = {key: list(_windows(key, self.window_chars)) for key in keys}
        held = [laid[tuple(passages)] for _, passages in questions]
        claims = [claim for claim, _ in questions]
        first = self._asked(self.prompt, claims, held)
        supported = [_surest(readings) for readings in first]
        again = [place for place, p in enumerate(supported) if self._second and p is not None and p < 0.5]
        second = self._asked(self._second, [claims[p] for p in again], [held[p] for p in again]) if self._second else []
        contradicted = dict(zip(again, map(_surest, second), strict=True))
        readings = [one for group in (*first, *second) for one in group]
        near = _most_alike(questions, {key: _sentences(key) for key in keys})
        supports = tuple(
            _judged(p, contradicted.get(number), near[number], first[number]) for number, p in enumerate(supported)
        )
        return Verification(supports, judging_notes(readings), judging_bill(readings))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.judge!r})"

    def _asked(
        self, prompt: JudgePrompt, claims: Sequence[str], held: Sequence[Sequence[str]]
    ) -> list[list[JudgeReading]]:
        """For each claim the readings of its windows."""
        prompts = [
            (window, prompt.fill(source=window, claim=claim))
            for claim, windows in zip(claims, held, strict=True)
            for window in windows
        ]
        # Prompts with the same source next to each other, for the sake of providers' prompt caches.
        order = sorted(range(len(prompts)), key=lambda place: prompts[place][0])
        found = ask_judge(self.judge, [prompts[place][1] for place in order]) if order else []
        readings = iter([reading for _, reading in sorted(zip(order, found, strict=True), key=lambda one: one[0])])
        return [[next(readings) for _ in windows] for windows in held]


def _windows(passages: Sequence[str], limit: int) -> Iterable[str]:
    """The passages in as few windows as hold them whole, those too long cut on sentence borders."""
    from opik_checkembed.text import windows

    gathered: list[str] = []
    for passage in passages:
        if sum(map(len, gathered)) + len(passage) + 2 * len(gathered) <= limit:
            gathered.append(passage)
            continue
        if gathered:
            yield "\n\n".join(gathered)
        gathered = [passage]
        if len(passage) > limit:
            yield from (span.of(passage) for span in windows(passage, lambda texts: list(map(len, texts)), limit))
            gathered = []
    if gathered:
        yield "\n\n".join(gathered)


def _surest(readings: Sequence[JudgeReading]) -> float | None:
    """The highest P(yes) over the windows; None where one could not be read that might have been it."""
    known = [one.probability for one in readings]
    sure = [p for p in known if p is not None]
    if len(sure) < len(known) and max(sure, default=0.0) < 0.5:
        return None
    return max(sure)


def _judged(p: float | None, contradicted: float | None, near: _Place, readings: Sequence[JudgeReading]) -> Support:
    if p is None:
        return Support(problem=next(one.problem for one in readings if one.problem))
    # A verdict names no place; the sentence most like the claim is where to look.
    place = Evidence(near.passage, near.span.start, near.span.end, near.text)
    return Support(p, contradicted, supporting=place, contradicting=None if contradicted is None else place)


def _sentences(passages: Sequence[str]) -> list[_Place]:
    from opik_checkembed.text import sentences

    return [
        _Place(number, span, span.of(passage)) for number, passage in enumerate(passages) for span in sentences(passage)
    ]


def _positive(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigurationError(f"{name} must be a whole number of at least 1, not {value!r}")
    return value


def verifier_of(
    verifier: ClaimVerifier | None,
    judge: str | OpikBaseModel | Judge | None,
    judge_parameters: Mapping[str, Any] | None,
    nli: Mapping[str, Any],
    **asking: Any,
) -> ClaimVerifier:
    """The verifier that a metric's arguments stand for: one's own, an LLM, or else a classifier.

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
