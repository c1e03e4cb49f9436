"""Results for the tests of the HTML page: every form of evidence, and texts that no page should obey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from opik_checkembed.functional.checkembed import checkembed
from opik_checkembed.functional.fact_recurrence import fact_recurrence
from opik_checkembed.functional.selfcheck import Passage, SelfCheckResult, SentenceScore
from opik_checkembed.functional.text_facts import text_facts
from opik_checkembed.results import ItemResult, LocalResults, Score
from opik_checkembed.samples import Sample, SampleSet, Status
from opik_checkembed.samples.sample import Origin

CREATED = "2026-03-02T12:00:00+00:00"
ANSWER = "Łódź is 🦄 old. It has 3 rivers. Yes."
SAMPLES = ("Łódź is old. It has 3 rivers.", "", "  🦄 It has one river, the Ner. \n", "It has 18 rivers.")
PASSAGES = ("Łódź lies on 18 rivers, most of them small.", "It got town rights in 1423. " * 10)

HOSTILE = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 2</script>",
    '<img src="x" onerror="window.hacked = 3">',
    "\"'><svg onload=window.hacked=4>",
    "<!--<script>",
    "{{ 7 * 7 }} ${7 * 7} javascript:window.hacked=5",
    "evil \u202etxt.exe\u202c \u2066nested\u2069",
    "lone \ud800 surrogate \udc00 and \x00 nul \x1b[31m",
    "line\u2028separator\u2029here \r\n next",
    "W" * 3000,
    "👩‍👩‍👧‍👦 شكرا جزيلا 東京 Ελλάδα",
)


def sample_set(texts: Sequence[str] = SAMPLES, **more: Any) -> dict[str, Any]:
    """A sample set of which the first sample is three days old and an empty text is not usable."""
    samples = [
        Sample(
            at,
            text,
            status=Status.OK if text.strip() else Status.EMPTY,
            created=1772452800.0 - 3 * 86400,  # three days before CREATED
            origin=Origin.ASKED if at else Origin.STORE,
            cost_usd=0.001,
        )
        for at, text in enumerate(texts)
    ]
    return SampleSet(tuple(samples), requested=len(texts), **more).to_dict()


def selfcheck_evidence() -> dict[str, Any]:
    """Two sentences scored and one not; what decided lies in the sample after the one that is not usable."""
    river = "It has one river, the Ner."
    sentences = (
        SentenceScore(ANSWER[:14], 0, 14, 0.05, (0.0, 0.1, 0.05), support=Passage(0, 0, 12, "Łódź is old.", 0.0)),
        SentenceScore(
            ANSWER[15:31],
            15,
            31,
            0.85,
            (0.6, 0.95, 1.0),
            against=Passage(1, 2, 2 + len(river), river, 0.95),
            support=Passage(0, 13, 29, "It has 3 rivers.", 0.6),
            detail={"verdicts": ["yes", "no", "n/a"]},
        ),
        SentenceScore(ANSWER[32:], 32, 36, None, detail={"unscored": "it says nothing"}),
    )
    return SelfCheckResult(sentences, "max").to_dict()


def facts_evidence() -> dict[str, Any]:
    """What fact recurrence finds of the second sentence."""
    usable = [text.strip() for text in SAMPLES if text.strip()]
    spans = [(0, 14), (15, 31), (32, 36)]
    found = fact_recurrence(text_facts(ANSWER, "en", spans), [text_facts(text, "en") for text in usable])
    sentences = tuple(
        SentenceScore(
            ANSWER[start:end], start, end, one.score, one.per_sample, detail={"facts": [f.to_dict() for f in one.facts]}
        )
        for (start, end), one in zip(spans, found, strict=True)
    )
    return SelfCheckResult(sentences, "mean").to_dict()


def claims_evidence() -> dict[str, Any]:
    """Claims against a source: one supported, one contradicted with its place in the source."""
    return {
        "claims": [
            {
                "text": "Łódź is 🦄 old.",
                "start": 0,
                "end": 14,
                "score": 0.1,
                "p_supported": 0.9,
                "verdict": "supported",
                "evidence": None,
                "unsupported_specifics": [],
                "stronger_wording": [],
            },
            {
                "text": "It has 3 rivers.",
                "start": 15,
                "end": 31,
                "score": 0.96,
                "p_supported": 0.04,
                "verdict": "contradicted",
                "evidence": {"text": "18 rivers", "start": 13, "end": 22, "passage": 0},
                "unsupported_specifics": [{"kind": "number", "start": 22, "end": 23, "text": "3"}],
                "stronger_wording": [{"kind": "causal", "start": 19, "end": 22, "text": "has"}, ["always"], "never"],
            },
        ],
        "source": {"passages": list(PASSAGES)},
        "skipped": 1,
    }


def agreement_evidence() -> dict[str, Any]:
    """The similarities of an output and three samples."""
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    evidence = checkembed(vectors[1:], output=vectors[0]).to_dict()
    return {**evidence, "confident": False, "embedding": {"model": 4, "cache": 0}}


def city(name: str = "city", **more: Any) -> ItemResult:
    """An item with every form of evidence."""
    item = {"id": name, "input": "How many rivers has Łódź?", "context": list(PASSAGES), "year": 2024, **more}
    scores = (
        Score("checkembed_metric", 0.75, "They agree.", agreement_evidence(), 0),
        Score("selfcheck", 0.85, "Sentence 2 is supported least.", selfcheck_evidence(), 0),
        Score("facts", 0.5, "3 came back once.", facts_evidence(), 0),
        Score("source", 0.48, "One of two claims is not supported.", claims_evidence()),
    )
    return ItemResult(
        name,
        item,
        {"output": f" {ANSWER}\n"},
        scores,
        (sample_set(notes=("a note",), failures=("a timeout",), temperature=1.0),),
    )


def hostile() -> LocalResults:
    """Texts that no page should obey, at every place that a text can stand."""
    items = []
    for text in HOSTILE:
        sentence = SentenceScore(
            text, 0, len(text), 0.5, (0.5, 0.5), against=Passage(0, 0, len(text), text, 0.5), detail={"worst": text}
        )
        evidence = {**SelfCheckResult((sentence,), "max").to_dict(), text: text}
        scores = (Score("hostile", 0.5, text, evidence, 0), Score(HOSTILE[0], None, text))
        samples = (sample_set([text, text], notes=(text,)),)
        items.append(ItemResult(text, {"input": text, text: text}, {"output": text}, scores, samples, error=text))
    return LocalResults(tuple(items), {"hostile": False, HOSTILE[0]: None}, CREATED)


def results(items: Sequence[ItemResult]) -> LocalResults:
    """The items with the directions of the scores above."""
    directions = {"checkembed_metric": True, "selfcheck": False, "facts": False, "source": False, "score": True}
    return LocalResults(tuple(items), directions, CREATED)


def many(count: int, samples: int = 3, words: int = 12) -> LocalResults:
    """Items that differ, every tenth of them failed."""
    rng = np.random.default_rng(0)
    vocabulary = [
        "river",
        "town",
        "old",
        "granted",
        "rights",
        "by",
        "the",
        "king",
        "in",
        "1423",
        "and",
        "later",
        "grew",
    ]

    def text() -> str:
        return " ".join(vocabulary[at] for at in rng.integers(0, len(vocabulary), words)) + "."

    found = []
    for number in range(count):
        answer = text()
        sentence = SentenceScore(answer, 0, len(answer), number / count, tuple(rng.random(samples).tolist()))
        evidence: Mapping[str, Any] = SelfCheckResult((sentence,), "max").to_dict()
        value = None if number % 10 == 3 else number / count
        scores = (Score("score", value, "failed on purpose" if value is None else "found", evidence, 0),)
        item = {"input": f"Question {number}?"}
        drawn = (sample_set([text() for _ in range(samples)]),)
        found.append(ItemResult(f"n{number}", item, {"output": answer}, scores, drawn))
    return results(found)
