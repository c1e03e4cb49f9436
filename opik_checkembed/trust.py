"""One answer held against thresholds, with all that a reader needs to see why it fell short."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.selfcheck import Passage, SelfCheckResult, SentenceScore
from opik_checkembed.gate.thresholds import Threshold, parse_threshold
from opik_checkembed.local import evaluate_locally
from opik_checkembed.metric_names import metric_of
from opik_checkembed.results import ItemResult, Score, finite
from opik_checkembed.samples.request import asked_text
from opik_checkembed.samples.sample import Status
from opik_checkembed.wording import shortened

if TYPE_CHECKING:
    from opik.evaluation.metrics import BaseMetric

    Metrics = BaseMetric | str | Sequence[BaseMetric | str]
    Thresholds = float | str | Mapping[str, float] | Sequence[str]

_TEXT_CHARS = 300
_SAMPLE_CHARS = 160
_FACTS = 3


@dataclass(frozen=True)
class Check:
    """One threshold and what the answer scored.

    Attributes:
        threshold: What was wanted.
        score: What was found; without a value where the answer could not be scored.
    """

    threshold: Threshold
    score: Score

    @property
    def passed(self) -> bool:
        """Whether there is a score and it is on the good side of the threshold, or at it."""
        return self.score.value is not None and self.threshold.holds(self.score.value)

    @property
    def reason(self) -> str:
        """The metric's own words."""
        return self.score.reason or "no reason was given"

    def __str__(self) -> str:
        if self.score.value is None:
            return f"{self.score.name} could not be scored, wanted {self._wanted}"
        return f"{self.score.name} is {self.threshold.shown(self.score.value)}, wanted {self._wanted}"

    @property
    def _wanted(self) -> str:
        return f"{self.threshold.operator} {self.threshold.value:g}"


@dataclass(frozen=True)
class TrustReport:
    """What `check_answer` found.

    Attributes:
        item: The answer's scores with their evidence, and the samples they rest on.
        checks: One for each threshold.
    """

    item: ItemResult
    checks: tuple[Check, ...]

    @property
    def trusted(self) -> bool:
        """Whether every threshold was met; what could not be scored meets none."""
        return all(check.passed for check in self.checks)

    @property
    def missed(self) -> tuple[Check, ...]:
        """The thresholds that a score missed."""
        return tuple(check for check in self.checks if not check.passed and not check.score.failed)

    @property
    def unscored(self) -> tuple[Check, ...]:
        """The thresholds for which there is no score."""
        return tuple(check for check in self.checks if check.score.failed)

    @property
    def title(self) -> str:
        """In one line whether the answer is to be trusted, and why not."""
        if self.missed:
            short = "; ".join(map(str, [*self.missed, *self.unscored]))
            return _harmless(f"the answer is not to be trusted: {short}")
        if self.unscored:
            short = "; ".join(f"{one} ({shortened(one.reason, _TEXT_CHARS)})" for one in self.unscored)
            return _harmless(f"whether the answer is to be trusted cannot be told: {short}")
        return "the answer meets every threshold"

    def __str__(self) -> str:
        """Scores against thresholds, the worst sentence with its evidence, what was asked, answer and samples.

        Long texts are cut visibly, and control characters are written as escapes: a model's words must not move the
        cursor of the reader's terminal.
        """
        lines = [self.title, ""]
        for check in self.checks:
            lines += self._check_lines(check)
        lines += ["", *self._text_lines()]
        for number in range(len(self.item.samples)):
            lines += self._sample_lines(number)
        return _harmless("\n".join(lines))

    def _check_lines(self, check: Check) -> list[str]:
        if check.passed:
            return [f"{check} (passed)"]
        evidence = [] if check.score.failed else list(_evidence(check.score, self.item))
        return [str(check), *(f"  {line}" for line in [check.reason, *evidence])]

    def _text_lines(self) -> list[str]:
        fields = {**self.item.item, **self.item.output}
        asked, judged = asked_text(fields), fields["output"]
        answer = shortened(judged if isinstance(judged, str) else repr(judged), _TEXT_CHARS)
        return [*([f"asked:  {shortened(asked, _TEXT_CHARS)}"] if asked else []), f"answer: {answer}"]

    def _sample_lines(self, number: int) -> list[str]:
        """A sample set: those that were compared by the numbers that reasons use, then those that were left out."""
        drawn = self.item.samples[number]
        compared = [one for one in drawn["samples"] if one["status"] == Status.OK]
        left_out = [one for one in drawn["samples"] if one["status"] != Status.OK]
        origins = Counter(one["origin"] for one in drawn["samples"])
        told = ", ".join(f"{count} {origin}" for origin, count in origins.items())
        which = ""
        if len(self.item.samples) > 1:
            which = f" of {', '.join(score.name for score in self.item.scores if score.samples == number)}"
        return [
            f"{len(drawn['samples'])} of {drawn['requested']} samples{which}{f' ({told})' if told else ''}:",
            *(f"  {place}. {shortened(one['text'], _SAMPLE_CHARS)}" for place, one in enumerate(compared, 1)),
            *(f"  left out, {one['status']}: {shortened(one['text'], _SAMPLE_CHARS)}" for one in left_out),
            *(f"  failed: {shortened(text, _TEXT_CHARS)}" for text in drawn["failures"]),
        ]


def check_answer(
    answer: Any,
    *,
    metrics: Metrics,
    threshold: Thresholds,
    **fields: Any,
) -> TrustReport:
    """Score one answer and hold the scores against thresholds, with no Opik server.

    Args:
        answer: The answer to judge.
        metrics: Opik metrics, ours or others, or short names with options ("fact_recurrence",
            "checkembed:embedder=lexical"; see `metric_of`).
        threshold: What each metric's score must reach: a number, read with the metric's direction (at least, where
            higher is better; at most, where lower is); numbers by score name, read the same way; or texts like
            "selfcheck_nli<=0.3". Every metric needs one, so that none is computed and then not looked at.
        **fields: What else the item holds: `input` or `messages`, `model`, `context`, `samples`, `reference`, ...

    Returns:
        The scores, whether they meet the thresholds, and as text (`str(report)`) why they do not.

    Raises:
        ConfigurationError: The arguments do not fit each other; says what to do. Nothing was asked then.

    Example:
        >>> from opik_checkembed import FactRecurrenceMetric
        >>> samples = ["She was born in Oslo in 1901.", "Born in Oslo in 1903.", "In Oslo, in 1903."]
        >>> metric = FactRecurrenceMetric(store=None, track=False)
        >>> report = check_answer("She was born in 1898.", metrics=metric, threshold=0.3, samples=samples)
        >>> report.trusted, str(report.missed[0])
        (False, 'fact_recurrence is 0.95, wanted <= 0.3')
    """
    if "output" in fields:
        raise ConfigurationError("the answer to judge is the first argument; leave `output` out")
    chosen = metrics_of(metrics)
    limits = thresholds_of(threshold, chosen)
    item = {**fields, "output": answer}
    found = evaluate_locally([item], None, chosen, progress=False).items[0]
    return TrustReport(found, tuple(Check(limit, _score_of(limit, found)) for limit in limits))


def metrics_of(metrics: Metrics, named: Callable[[str], BaseMetric] = metric_of) -> list[BaseMetric]:
    """Metrics from objects and short names.

    Args:
        metrics: One or several, each an object or a name.
        named: Makes a metric from a name.

    Raises:
        ConfigurationError: There is none, or one is neither a metric nor a name of one.
    """
    from opik.evaluation.metrics import BaseMetric

    given = [metrics] if isinstance(metrics, str | BaseMetric) else metrics
    if not isinstance(given, Sequence) or not given:
        raise ConfigurationError(f'metrics must be a list like ["fact_recurrence"], not {metrics!r}')
    wrong = [one for one in given if not isinstance(one, str | BaseMetric)]
    if wrong:
        raise ConfigurationError(f"metrics must be Opik metrics or their short names, not {wrong[0]!r}")
    return [named(one) if isinstance(one, str) else one for one in given]


def thresholds_of(threshold: Thresholds, metrics: Sequence[BaseMetric]) -> tuple[Threshold, ...]:
    """Thresholds from what `check_answer` takes.

    Raises:
        ConfigurationError: One cannot be read, needs a direction that its metric does not state, or is missing.
    """
    if isinstance(threshold, str):
        limits = [parse_threshold(threshold)]
    elif isinstance(threshold, Mapping):
        limits = [_directed(name, value, metrics) for name, value in threshold.items()]
    elif isinstance(threshold, Sequence):
        limits = [parse_threshold(_text(one)) for one in threshold]
    else:
        limits = [_directed(metric.name, threshold, metrics) for metric in metrics]
        if len({limit.operator for limit in limits}) > 1:
            names = ", ".join(metric.name for metric in metrics)
            raise ConfigurationError(
                f"one threshold cannot serve metrics of both directions ({names}): give each its own, "
                f"threshold={{{metrics[0].name!r}: {threshold!r}, ...}}"
            )
    for metric in metrics:
        if not any(_belongs(limit.name, metric) for limit in limits):
            raise ConfigurationError(f"no threshold is given for {metric.name}: nothing would look at its score")
    return tuple(limits)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ConfigurationError(f"a threshold in a list must be a text like 'selfcheck_nli<=0.3', not {value!r}")
    return value


def _belongs(score: str, metric: BaseMetric) -> bool:
    """Whether a metric gives this score: its own, or a further one (`<name>_reference`)."""
    return score == metric.name or score.startswith(f"{metric.name}_")


def _directed(score: str, value: object, metrics: Sequence[BaseMetric]) -> Threshold:
    number = finite(value)
    if number is None or isinstance(value, bool):
        raise ConfigurationError(f"the threshold for {score} must be a finite number, not {value!r}")
    higher = _direction(score, metrics)
    if higher is None:
        raise ConfigurationError(
            f"no metric here says whether a higher {score} is better: write which way the threshold goes, "
            f'threshold="{score}<={number:g}" or "{score}>={number:g}"'
        )
    return Threshold(score, ">=" if higher else "<=", number)


def _direction(score: str, metrics: Sequence[BaseMetric]) -> bool | None:
    """`higher_is_better` of a score; None where no metric says."""
    for metric in metrics:
        of = getattr(metric, "direction", None)
        if callable(of):
            direction = of(score)
        else:
            direction = getattr(metric, "higher_is_better", None) if _belongs(score, metric) else None
        if isinstance(direction, bool):
            return direction
    return None


def _score_of(limit: Threshold, item: ItemResult) -> Score:
    """The score that a threshold names; without a value, and with the reason, where there is none."""
    found = item.score(limit.name)
    if found is not None:
        return found
    # A metric that fails returns its own score, not the further ones it would have had.
    failed = [score for score in item.scores if score.failed and limit.name.startswith(f"{score.name}_")]
    if failed:
        return Score(limit.name, None, failed[0].reason)
    names = ", ".join(score.name for score in item.scores)
    return Score(limit.name, None, f"no metric returned a score of this name; there are {names}")


def _evidence(score: Score, item: ItemResult) -> Iterator[str]:
    """What a score rests on, in lines: the worst sentence, or the answers that agree least."""
    evidence = score.evidence
    result = _selfcheck(evidence)
    if result is not None and result.worst is not None:
        yield from _sentence_lines(result.worst)
    yield from _claim_lines(evidence)
    if isinstance(evidence.get("agreement"), list) and isinstance(evidence.get("labels"), list):
        shares = zip(evidence["labels"], evidence["agreement"], strict=False)
        yield f"mean similarity with the others: {', '.join(f'{label} {share:.3f}' for label, share in shares)}"
    # An ensemble rests on the scores of its parts.
    for part in evidence.get("parts") or ():
        one = item.score(part["name"])
        if one is not None and one.value is not None:
            yield f"{one.name} is {one.value:.3g}"
            yield from (f"  {line}" for line in _evidence(one, item))


def _selfcheck(evidence: Mapping[str, Any]) -> SelfCheckResult | None:
    try:
        return SelfCheckResult.from_dict(evidence)
    except (KeyError, TypeError):
        # Another metric's evidence.
        return None


def _sentence_lines(worst: SentenceScore) -> Iterator[str]:
    yield f"worst sentence ({worst.score:.3f}): {shortened(worst.text, _TEXT_CHARS)!r}"
    facts = sorted(worst.detail.get("facts") or (), key=lambda fact: float(fact["support"]))
    for fact in facts[:_FACTS]:
        others = ", ".join(f"{text!r} ({count})" for text, count in fact["instead"])
        held = f"in {len(fact['samples'])} of {len(worst.per_sample)} samples"
        yield f"{shortened(fact['text'])!r} is {held}{f'; others have {others}' if others else ''}"
    if len(facts) > _FACTS:
        yield f"and {len(facts) - _FACTS} more with no less support"
    yield from _passage_lines(worst.against, worst.support)


def _claim_lines(evidence: Mapping[str, Any]) -> Iterator[str]:
    """The claim in most doubt, of a metric that holds claims against a source or against samples."""
    claims, place = evidence.get("claims"), evidence.get("worst")
    if not isinstance(claims, list) or not isinstance(place, int) or place >= len(claims):
        return
    worst = claims[place]
    if not isinstance(worst, Mapping) or not worst.keys() >= {"text", "score"}:
        # Another metric's evidence.
        return
    verdict = f", {worst['verdict']}" if "verdict" in worst else ""
    yield f"claim in most doubt ({worst['score']:.3f}{verdict}): {shortened(worst['text'], _TEXT_CHARS)!r}"
    if worst.get("evidence"):
        yield f"the source there: {shortened(worst['evidence']['text'], _TEXT_CHARS)!r}"
    yield from _passage_lines(*(Passage(**worst[side]) if worst.get(side) else None for side in ("against", "support")))


def _passage_lines(against: Passage | None, support: Passage | None) -> Iterator[str]:
    for told, passage in (("least", against), ("most", support)):
        # Where all support it equally, one sample is both.
        if passage is not None and (passage is against or against is None or passage.sample != against.sample):
            quoted = f"{shortened(passage.text, _SAMPLE_CHARS)!r}"
            yield f"sample {passage.sample + 1} supports it {told} ({passage.score:.3f}): {quoted}"


def _harmless(text: str) -> str:
    """The text with control characters and lone surrogates written as escapes, but for line breaks."""
    return "".join(
        character
        if character == "\n" or unicodedata.category(character) not in {"Cc", "Cs"}
        else ascii(character)[1:-1]
        for character in text
    )
