"""What the HTML page shows of results, as plain values: nothing here is HTML.

The texts are kept once: evidence names places in them. A place is counted as a script counts, in UTF-16 units.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

import numpy as np

from opik_checkembed.errors import AnswerError
from opik_checkembed.report.table import text_in
from opik_checkembed.results import ItemResult, LocalResults, Score, finite, json_ready
from opik_checkembed.samples.request import INPUT_FIELDS, judged_output
from opik_checkembed.samples.sample import Origin, Status

Json: TypeAlias = dict[str, Any]

_BINS = 20
_LEVELS = 5  # of doubt, each with a tint and an underline of its own
_SHARED = 200  # characters from which a text that comes again is kept once
_SCALAR = 200  # characters of evidence that is shown as a line
_ASKED = (*INPUT_FIELDS, "messages")
_ANSWER = ("output", "answer")
_GUARD = (
    ("unsupported_specifics", "Not in the source"),
    ("stronger_wording", "Stronger than the source"),
    ("absolute", "Absolute wording"),
)


@dataclass(frozen=True)
class Bin:
    """One bar of a histogram.

    Attributes:
        low: Where it begins.
        high: Where it ends; the last one holds this value too.
        count: Items in it.
        height: Its share of the highest bar, 0 to 1.
    """

    low: float
    high: float
    count: int
    height: float


@dataclass(frozen=True)
class ScoreOverview:
    """One score over all items.

    Attributes:
        name: The score's name.
        higher_is_better: Its direction, where it says one.
        mean: Of the scored items; None without any.
        scored: Items with a value.
        failed: Items without one.
        quartiles: Minimum, quartiles and maximum; empty where `bins` is.
        bins: The distribution; empty without any value, and where the values' range is beyond what a float holds.
        mean_at: Where the mean lies on the histogram's axis, 0 to 1.
    """

    name: str
    higher_is_better: bool | None
    mean: float | None
    scored: int
    failed: int
    quartiles: tuple[float, ...]
    bins: tuple[Bin, ...]
    mean_at: float


@dataclass(frozen=True)
class Failure:
    """Why items have no score.

    Attributes:
        what: The scores that failed for this reason, or what else did.
        reason: The reason.
        items: The items' positions and ids, in order.
    """

    what: str
    reason: str
    items: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class PageData:
    """All that the page of results holds.

    Attributes:
        scores: For the overview.
        failures: The same, the most frequent first.
        unscored: Items with a failed score or task.
        index: JSON-ready: of every item what the table shows, sorts and filters by.
        details: JSON-ready: what is shown of each item when it is opened.
        texts: Long texts that come more than once; a number in place of a text points to them.
    """

    scores: tuple[ScoreOverview, ...]
    failures: tuple[Failure, ...]
    unscored: int
    index: Json
    details: tuple[Json, ...]
    texts: tuple[str, ...]


def page_data(results: LocalResults) -> PageData:
    """Prepare results for the page."""
    names = results.names
    texts = _Texts(results)
    outputs = [output_of(item) for item in results.items]
    details = tuple(
        _details(item, output, names, results.created, texts)
        for item, output in zip(results.items, outputs, strict=True)
    )
    return PageData(
        scores=tuple(_overview(results)),
        failures=tuple(_failures(results)),
        unscored=sum(_has_failed(item) for item in results.items),
        index={
            "scores": [
                {"name": name, "higher": results.directions.get(name), "cuts": _cuts(place, details)}
                for place, name in enumerate(names)
            ],
            "items": [
                {
                    "id": item.id,
                    "asked": asked_of(item),
                    "output": output,
                    "values": [_cell(item.score(name)) for name in names],
                    "failed": _has_failed(item),
                }
                for item, output in zip(results.items, outputs, strict=True)
            ],
        },
        details=details,
        texts=texts.shared,
    )


def asked_of(item: ItemResult) -> str:
    """What was asked, in words; of a conversation its last turn; empty where the item does not say."""
    fields = {**item.item, **item.output}
    name = _asked_field(fields)
    return "" if name is None else text_in(fields[name])


def output_of(item: ItemResult) -> str:
    """The text that was judged; empty where there is none."""
    try:
        return judged_output({**item.item, **item.output})[0]
    except AnswerError:
        return ""


def rounded(value: float) -> float:
    """A value with the six digits that are shown of it at most."""
    return float(f"{value:.6g}")


def _asked_field(fields: Mapping[str, Any]) -> str | None:
    return next((name for name in _ASKED if fields.get(name) is not None), None)


def _has_failed(item: ItemResult) -> bool:
    return item.error is not None or any(score.failed for score in item.scores)


def _cell(score: Score | None) -> float | bool | None:
    """A value; False for a failed score, None for one that the item does not have."""
    if score is None:
        return None
    return False if score.value is None else rounded(score.value)


def _overview(results: LocalResults) -> Iterator[ScoreOverview]:
    for name, summary in results.summary().items():
        values = [s.value for item in results.items for s in item.scores if s.name == name and s.value is not None]
        bins = _bins(values)
        spread = np.quantile(values, (0, 0.25, 0.5, 0.75, 1)) if bins else ()
        yield ScoreOverview(
            name=name,
            higher_is_better=summary.higher_is_better,
            mean=summary.mean,
            scored=summary.scored,
            failed=summary.failed,
            quartiles=tuple(map(float, spread)),
            bins=bins,
            mean_at=(summary.mean - bins[0].low) / (bins[-1].high - bins[0].low)
            if summary.mean is not None and bins
            else 0.0,
        )


def _bins(values: Sequence[float]) -> tuple[Bin, ...]:
    """A histogram on the scale that the values lie on: 0 to 1, -1 to 1, or their own range."""
    if not values:
        return ()
    low, high = min(values), max(values)
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    elif low >= -1 and high <= 1:
        low, high = -1.0, 1.0
    elif high - low <= 1e-9 * max(abs(low), abs(high)):
        low, high = low - 0.5 * abs(low), high + 0.5 * abs(high)
    if not math.isfinite(high - low):
        return ()
    counts, edges = np.histogram(values, bins=_BINS, range=(low, high))
    most = int(counts.max())
    return tuple(
        Bin(float(a), float(b), int(count), int(count) / most)
        for (a, b), count in zip(pairwise(edges), counts, strict=True)
    )


def _failures(results: LocalResults) -> list[Failure]:
    """Items by what failed and why; scores of an item that failed for one reason stand together."""
    found: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for place, item in enumerate(results.items):
        reasons: dict[str, list[str]] = {}
        if item.error is not None:
            reasons[item.error] = ["the task"]
        for score in item.scores:
            if score.failed:
                reasons.setdefault(score.reason or "no reason was given", []).append(score.name)
        for reason, names in reasons.items():
            found.setdefault((", ".join(names), reason), []).append((place, item.id))
    failures = [Failure(what, reason, tuple(items)) for (what, reason), items in found.items()]
    return sorted(failures, key=lambda failure: -len(failure.items))


def _cuts(place: int, details: Sequence[Json]) -> list[float]:
    """From which values on a sentence is doubted more: fifths of the scale, or of the sentences where it has no end."""
    values = [
        mark["v"]
        for of in details
        for score in of["scores"]
        if score["n"] == place and "marks" in score
        for mark in score["marks"]
        if mark.get("v") is not None
    ]
    shares = [level / _LEVELS for level in range(1, _LEVELS)]
    if not values or (min(values) >= 0 and max(values) <= 1):
        return shares
    return [round(float(cut), 4) for cut in np.quantile(values, shares)]


class _Texts:
    """Long texts that come more than once, such as a document that many items ask about."""

    def __init__(self, results: LocalResults) -> None:
        counts = Counter(text for item in results.items for text in _long_texts(item) if len(text) >= _SHARED)
        self.shared = tuple(text for text, count in counts.items() if count > 1)
        self._places = {text: place for place, text in enumerate(self.shared)}

    def ref(self, text: str) -> str | int:
        """The text, or its place among the shared ones."""
        return self._places.get(text, text)


def _long_texts(item: ItemResult) -> Iterator[str]:
    for _, parts in _fields(item):
        yield from parts
    # Scores that rest on the same source hold it each.
    yield from dict.fromkeys(text for score in item.scores for text in _passages(score.evidence))


def _details(item: ItemResult, output: str, names: Sequence[str], created: str, texts: _Texts) -> Json:
    sets = [_sample_set(one, created) for one in item.samples]
    placed = [[_Placed(text) for text in _usable(one)] for one in item.samples]
    judged = _Placed(output)
    details: Json = {
        "scores": [],
        "sets": sets,
        "fields": [[name, [texts.ref(part) for part in parts]] for name, parts in _fields(item)],
    }
    conversation = _conversation(item)
    if conversation:
        details["conversation"] = conversation
    if item.error is not None:
        details["error"] = item.error
    drawn: list[Any] = []
    for score in item.scores:
        usable = placed[score.samples] if score.samples is not None else placed[0] if len(placed) == 1 else []
        one: Json = {"n": names.index(score.name), "reason": score.reason or "", "set": score.samples}
        one |= _marks(score.evidence, judged, usable)
        passages = _passages(score.evidence)
        if passages:
            one["source"] = [texts.ref(text) for text in passages]
        matrix = _matrix(score.evidence)
        # The scores of one metric rest on one matrix.
        if matrix is not None and matrix not in drawn:
            drawn.append(matrix)
            one["matrix"] = matrix
        one["numbers"] = [[name, text] for name, text in _numbers(score.evidence)]
        details["scores"].append(one)
    return details


def _fields(item: ItemResult) -> Iterator[tuple[str, list[str]]]:
    """What else the item and the output hold: texts as they are, other values as JSON."""
    fields = {**item.item, **item.output}
    shown = {"id", "samples", _asked_field(fields), next((name for name in _ANSWER if name in fields), None)}
    for name, value in fields.items():
        if name in shown or value is None:
            continue
        if isinstance(value, str):
            yield str(name), [value]
        elif isinstance(value, list | tuple) and value and all(isinstance(part, str) for part in value):
            yield str(name), list(value)
        else:
            yield str(name), [json.dumps(json_ready(value), ensure_ascii=False, indent=1)]


def _conversation(item: ItemResult) -> list[list[str]]:
    """Role and text of each message, where a conversation was asked."""
    fields = {**item.item, **item.output}
    asked = fields.get(_asked_field(fields) or "")
    if not isinstance(asked, list | tuple) or not all(isinstance(one, Mapping) and "role" in one for one in asked):
        return []
    return [[str(one["role"]), text_in(one.get("content"))] for one in asked]


def _usable(samples: Mapping[str, Any]) -> list[str]:
    """The texts that evidence counts and places refer to; see `SampleSet.texts`."""
    return [str(one["text"]).strip() for one in samples["samples"] if one.get("status") == Status.OK]


def _sample_set(samples: Mapping[str, Any], created: str) -> Json:
    return {
        "requested": samples["requested"],
        "temperature": samples["temperature"],
        "failures": list(samples["failures"]),
        "notes": list(samples["notes"]),
        "samples": [
            {
                "text": str(one["text"]).strip(),
                "ok": one.get("status") == Status.OK,
                "about": [str(said) for said in (one.get("status"), one.get("origin"), _age(one, created)) if said],
            }
            for one in samples["samples"]
        ],
    }


def _age(sample: Mapping[str, Any], created: str) -> str | None:
    """How long before the evaluation a kept sample was answered."""
    answered = finite(sample.get("created"))
    if answered is None or sample.get("origin") != Origin.STORE:
        return None
    try:
        seconds = datetime.fromisoformat(created).timestamp() - answered
    except (ValueError, OverflowError):
        return None
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'s' if count > 1 else ''} old"
    return "under a minute old"


class _Placed:
    """A text and where a script finds its characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        # A script counts a character outside the basic plane twice.
        self._wide = [] if text.isascii() else [at for at, char in enumerate(text) if char > "\uffff"]

    def span(self, entry: Mapping[str, Any]) -> tuple[int, int] | None:
        """Where an entry with `start`, `end` and `text` stands; None where the text there is another."""
        start, end = entry.get("start"), entry.get("end")
        if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= len(self.text):
            return None
        return (self.at(start), self.at(end)) if self.text[start:end] == entry.get("text") else None

    def at(self, place: int) -> int:
        return place + bisect_left(self._wide, place)


def _marks(evidence: Mapping[str, Any], judged: _Placed, samples: Sequence[_Placed]) -> Json:
    """The sentences or claims with what decided each; with a text of their own where they are no places in the output.

    Claims that a model has split may overlap, and a metric may have been given another field to judge.
    """
    kind = next((name for name in ("claims", "sentences") if _entries(evidence.get(name))), None)
    if kind is None:
        return {}
    entries = sorted(_entries(evidence[kind]), key=lambda one: finite(one.get("start")) or 0.0)
    found: Json = {"kind": kind}
    spans = _apart(entries, judged)
    if spans is None:
        judged, spans = _listed(entries)
        found["text"] = judged.text
    passages = [_Placed(text) for text in _passages(evidence)]
    found["marks"] = [
        {"s": start, "e": end, **_mark(one, judged, samples, passages)}
        for one, (start, end) in zip(entries, spans, strict=True)
    ]
    return found


def _apart(entries: Sequence[Mapping[str, Any]], judged: _Placed) -> list[tuple[int, int]] | None:
    """Where the entries stand in a text; None where one does not, or two overlap."""
    spans = [span for one in entries if (span := judged.span(one)) is not None]
    overlap = any(one[1] > other[0] for one, other in pairwise(spans))
    return None if overlap or len(spans) < len(entries) else spans


def _listed(entries: Sequence[Mapping[str, Any]]) -> tuple[_Placed, list[tuple[int, int]]]:
    """The entries below each other as a text, and where they stand in it."""
    ends = list(accumulate(len(one["text"]) + 1 for one in entries))
    placed = _Placed("\n".join(one["text"] for one in entries))
    return placed, [
        (placed.at(end - 1 - len(one["text"])), placed.at(end - 1)) for one, end in zip(entries, ends, strict=True)
    ]


def _entries(value: object) -> list[Mapping[str, Any]]:
    """The entries, where each says what it is about."""
    if not isinstance(value, list | tuple) or not all(isinstance(one, Mapping) for one in value):
        return []
    return [one for one in value if isinstance(one.get("text"), str)]


def _mark(entry: Mapping[str, Any], judged: _Placed, samples: Sequence[_Placed], passages: Sequence[_Placed]) -> Json:
    score = _doubt(entry)
    detail = entry.get("detail")
    detail = detail if isinstance(detail, Mapping) else {}
    mark: Json = {"v": None if score is None else round(score, 4)}
    why = detail.get("unscored", entry.get("problem"))
    if score is None and isinstance(why, str):
        mark["unscored"] = why
    per_sample = entry.get("per_sample")
    if isinstance(per_sample, list | tuple) and per_sample:
        mark["per"] = [None if (value := finite(one)) is None else round(value, 4) for one in per_sample]
    for side in ("against", "support"):
        passage = entry.get(side)
        if isinstance(passage, Mapping):
            mark[side] = _place(passage, passage.get("sample"), samples)
    facts = [_fact(one, judged) for one in _entries(detail.get("facts"))]
    if facts:
        mark["facts"] = facts
    verdicts = detail.get("verdicts")
    if isinstance(verdicts, list | tuple) and verdicts:
        mark["verdicts"] = [str(one) for one in verdicts]
    said = list(_said(entry, detail))
    if said:
        mark["said"] = said
    source = entry.get("evidence")
    if isinstance(source, Mapping):
        mark["source"] = _place(source, source.get("passage"), passages)
    return mark


def _doubt(entry: Mapping[str, Any]) -> float | None:
    """How far a sentence or claim is to be doubted: its score, else what the verifier says, in the same direction."""
    score, supported, contradicted = (finite(entry.get(name)) for name in ("score", "p_supported", "p_contradicted"))
    if score is not None:
        return score
    return 1 - supported if supported is not None else contradicted


def _place(passage: Mapping[str, Any], number: object, texts: Sequence[_Placed]) -> Json:
    """A place in a text: which, from where to where, and what it scores; its text where it is no such place."""
    place: Json = {}
    known = isinstance(number, int) and 0 <= number < len(texts)
    if known:
        place["n"] = number
    span = texts[number].span(passage) if known and isinstance(number, int) else None
    if span is not None:
        place |= {"s": span[0], "e": span[1]}
    else:
        place["text"] = str(passage.get("text", ""))
    score = finite(passage.get("score"))
    if score is not None:
        place["v"] = round(score, 4)
    return place


def _fact(fact: Mapping[str, Any], judged: _Placed) -> Json:
    span = judged.span(fact)
    found: Json = {"text": fact["text"]} if span is None else {"s": span[0], "e": span[1]}
    support = finite(fact.get("support"))
    if support is not None:
        found["support"] = round(support, 4)
    instead = fact.get("instead")
    if isinstance(instead, list | tuple):
        found["instead"] = [
            f"{one[0]} ({one[1]})" for one in instead if isinstance(one, list | tuple) and len(one) == 2
        ]
    return found


def _said(entry: Mapping[str, Any], detail: Mapping[str, Any]) -> Iterator[list[str]]:
    """What else the method found of a sentence or claim, each with a word for what it is."""
    if entry.get("verdict") is not None:
        yield ["Verdict", str(entry["verdict"])]
    for name, said in (("p_supported", "P(supported)"), ("p_contradicted", "P(contradicted)")):
        value = finite(entry.get(name))
        if value is not None:
            yield [said, f"{value:.3f}"]
    for name, said in (("agreement", "Agreement"), ("not_contradicted", "Not contradicted")):
        value = finite(entry.get(name))
        if value is not None:
            yield [said, f"{value:.3f}"]
    for name, said in _GUARD:
        listed = entry.get(name, ())
        if listed is None:
            yield [said, "not looked for"]
        elif isinstance(listed, list | tuple) and listed:
            yield [said, ", ".join(_word(one) for one in listed)]
    if isinstance(detail.get("rarest"), str) and isinstance(detail.get("in_samples"), list | tuple):
        yield [
            "Rarest",
            f"\u201c{detail['rarest']}\u201d in {len(detail['in_samples'])} of {detail.get('samples')} samples",
        ]
    questions = detail.get("questions")
    for question in questions if isinstance(questions, list | tuple) else ():
        if isinstance(question, Mapping):
            yield from _question(question)


def _word(value: object) -> str:
    """A specific or a wording: its text with its kind, in whatever form it was written down."""
    if isinstance(value, Mapping):
        about = [str(kind)] if (kind := value.get("kind")) else []
        if value.get("asked") is True:
            about.append("as the question says")
        return f"{value.get('text', '')} ({', '.join(about)})" if about else str(value.get("text", ""))
    if isinstance(value, list | tuple):
        return " ".join(str(part) for part in value if isinstance(part, str))
    return str(value)


def _question(question: Mapping[str, Any]) -> Iterator[list[str]]:
    """A question that was drawn from the output: what the output answers, and what the samples do."""
    options, answers = question.get("options"), question.get("answers")
    if not isinstance(options, list | tuple) or not isinstance(answers, list | tuple) or not answers:
        return
    if not all(isinstance(one, int) and 0 <= one < len(options) for one in answers):
        return
    own, *others = answers
    otherwise = ", ".join(f"{options[one]} ({count})" for one, count in Counter(others).most_common() if one != own)
    agreeing = f"{others.count(own)} of {len(others)} samples agree"
    yield [
        str(question.get("question", "")),
        f"{options[own]}; {agreeing}{f', others: {otherwise}' if otherwise else ''}",
    ]


def _passages(evidence: Mapping[str, Any]) -> list[str]:
    """The source that claims were held against."""
    source = evidence.get("source")
    passages = source.get("passages") if isinstance(source, Mapping) else None
    if not isinstance(passages, list | tuple):
        return []
    return [str(one.get("text", "")) if isinstance(one, Mapping) else str(one) for one in passages]


def _matrix(evidence: Mapping[str, Any]) -> Json | None:
    """Similarities of the answers: labels, and the values right of the diagonal row by row."""
    matrix, labels = evidence.get("matrix"), evidence.get("labels")
    if not isinstance(matrix, list | tuple) or not isinstance(labels, list | tuple) or not labels:
        return None
    if not all(isinstance(row, list | tuple) and len(row) == len(labels) for row in matrix):
        return None
    values = [finite(value) for at, row in enumerate(matrix) for value in row[at + 1 :]]
    if len(matrix) != len(labels) or None in values:
        return None
    return {"labels": [str(label) for label in labels], "values": [round(value or 0.0, 4) for value in values]}


def _numbers(evidence: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The single values of the evidence, in words; of the sentences, the worst is seen by its tint."""
    for name, value in evidence.items():
        if name == "worst":
            continue
        if isinstance(value, Mapping):
            yield from ((f"{name}: {inner}", text) for inner, one in value.items() if (text := _scalar(one)))
        elif text := _scalar(value):
            yield str(name), text


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else ""
    if isinstance(value, int):
        return str(value)
    return value if isinstance(value, str) and len(value) <= _SCALAR else ""
