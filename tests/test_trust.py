"""One answer against thresholds: which are read how, and what the report says."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from opik.evaluation.metrics import BaseMetric, Equals
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed import CheckEmbedMetric, EnsembleMetric, FactRecurrenceMetric
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.verdict import Reading, read_verdict
from opik_checkembed.gate.thresholds import Threshold
from opik_checkembed.metrics.self_consistency import SelfConsistencyMetric
from opik_checkembed.metrics.source_nli import SourceNLIMetric
from opik_checkembed.results import ItemResult, Score
from opik_checkembed.trust import Check, TrustReport, check_answer

SAMPLES = ("She was born in Oslo in 1901.", "Born in Oslo in 1903.", "In Oslo, in 1903.")
DOUBTED = "Her name was Ada. She was born in Oslo in 1898."


class FirstLetter:
    """Texts that begin alike are the same, others are at right angles."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.eye(128, dtype=np.float32)[[ord(text[0]) % 128 for text in texts]]


def facts(**more: Any) -> FactRecurrenceMetric:
    return FactRecurrenceMetric(store=None, track=False, **more)


def agreement(**more: Any) -> CheckEmbedMetric:
    return CheckEmbedMetric(embedder=FirstLetter(), store=None, track=False, heatmap=False, **more)


def check(answer: Any = DOUBTED, **arguments: Any) -> TrustReport:
    return check_answer(answer, **{"metrics": facts(), "threshold": 0.3, "samples": list(SAMPLES), **arguments})


# ----------------------------------------------------------------------------------------------- thresholds


def test_a_number_is_read_with_the_metrics_direction() -> None:
    high = check("S", metrics=[agreement()], threshold=0.9, samples=["S1", "S2"])
    low = check("In Oslo in 1903.", metrics=facts(), threshold=0.5)

    assert [str(one) for one in (*high.checks, *low.checks)] == [
        "checkembed_metric is 1, wanted >= 0.9",
        "fact_recurrence is 0.184, wanted <= 0.5",
    ]
    assert high.trusted
    assert low.trusted
    assert str(high).startswith("the answer meets every threshold\n\ncheckembed_metric is 1, wanted >= 0.9 (passed)")


@pytest.mark.parametrize("threshold", [{"fact_recurrence": 0.3}, "fact_recurrence<=0.3", ["fact_recurrence <= 0.3"]])
def test_a_mapping_a_text_and_a_list_of_texts_say_the_same(threshold: Any) -> None:
    report = check(threshold=threshold)

    assert [one.threshold for one in report.missed] == [Threshold("fact_recurrence", "<=", 0.3)]
    assert not report.trusted
    assert report.unscored == ()


def test_short_names_are_metrics_too() -> None:
    report = check(
        metrics=["fact_recurrence", "selfcheck_ngram"], threshold={"fact_recurrence": 1, "selfcheck_ngram": 99}
    )

    assert [score.name for score in report.item.scores] == ["fact_recurrence", "selfcheck_ngram"]
    assert report.trusted
    assert check(metrics="fact_recurrence", threshold=1).trusted


def test_several_thresholds_may_hold_one_score_and_a_further_score_serves_for_its_metric() -> None:
    report = check(
        "S",
        metrics=agreement(),
        threshold=["checkembed_metric_reference>=0.9", "checkembed_metric_reference<0.95"],
        samples=["S1", "S2"],
        reference="So",
    )

    assert [one.passed for one in report.checks] == [True, False]


def test_parts_of_an_ensemble_point_their_own_way() -> None:
    metric = EnsembleMetric([agreement(), facts()], track=False)

    report = check("In Oslo in 1903.", metrics=metric, threshold={"ensemble": 0.9, "checkembed_metric": 0.4})

    assert [str(one.threshold) for one in report.checks] == ["ensemble<=0.9", "checkembed_metric>=0.4"]
    assert report.trusted


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            {"metrics": [agreement(), facts()]},
            "both directions (checkembed_metric, fact_recurrence): give each its own",
        ),
        (
            {"metrics": [agreement(), facts()], "threshold": {"checkembed_metric": 0.8}},
            "no threshold is given for fact_",
        ),
        ({"threshold": {"fact_recurrence": 0.3, "other": 0.1}}, "no metric here says whether a higher other is better"),
        ({"threshold": True}, "the threshold for fact_recurrence must be a finite number, not True"),
        ({"threshold": float("nan")}, "must be a finite number, not nan"),
        ({"threshold": None}, "must be a finite number, not None"),
        ({"threshold": [0.3]}, "a threshold in a list must be a text like 'selfcheck_nli<=0.3', not 0.3"),
        ({"threshold": "fact_recurrence"}, "is not a threshold like"),
        ({"threshold": []}, "no threshold is given for fact_recurrence"),
        ({"metrics": [Equals(track=False)]}, 'write which way the threshold goes, threshold="equals_metric<=0.3"'),
        ({"metrics": []}, 'metrics must be a list like ["fact_recurrence"], not []'),
        ({"metrics": 3}, "metrics must be a list"),
        ({"metrics": [3]}, "metrics must be Opik metrics or their short names, not 3"),
        ({"metrics": ["facts"]}, "there is no metric 'facts'"),
        ({"output": "x"}, "the answer to judge is the first argument"),
        ({"metrics": [facts(), facts()]}, "several metrics are named fact_recurrence"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        check(**arguments)

    assert said in str(raised.value)


def test_a_metric_of_others_takes_a_threshold_that_says_its_way() -> None:
    report = check("Oslo", metrics=Equals(track=False), threshold="equals_metric>=1", reference="Oslo")

    assert report.trusted
    assert report.item.score("equals_metric") == report.checks[0].score


# ----------------------------------------------------------------------------------------------- the report


def test_the_report_names_sentence_evidence_and_samples() -> None:
    report = check(input="Who was she,\nand where was she born?")

    assert str(report) == inspect.cleandoc(
        """
        the answer is not to be trusted: fact_recurrence is 0.844, wanted <= 0.3

        fact_recurrence is 0.844, wanted <= 0.3
          The mean of 2 sentences is 0.844; sentence 1 of 2 is supported least, 0.950 (0 consistent to 1 hallucinated, \
lower is better): 'Her name was Ada.'; "Ada" in no sample.
          worst sentence (0.950): 'Her name was Ada.'
          'Ada' is in 0 of 3 samples
          sample 1 supports it least (1.000): 'She was born in Oslo in 1901.'

        asked:  Who was she, and where was she born?
        answer: Her name was Ada. She was born in Oslo in 1898.
        3 of 3 samples (3 given):
          1. She was born in Oslo in 1901.
          2. Born in Oslo in 1903.
          3. In Oslo, in 1903.
        """
    )


def test_a_fact_is_shown_with_what_the_samples_have_instead_and_the_passages() -> None:
    samples = ["In Oslo, in 1903.", "She was born in Bergen in 1903.", "She was born in Oslo in 1901."]
    text = str(check("She was born in Oslo in 1898.", samples=samples))

    assert "  '1898' is in 0 of 3 samples; others have '1903' (2), '1901' (1)\n  'Oslo' is in 2 of 3 samples; " in text
    assert "  sample 2 supports it least (1.000): 'She was born in Bergen in 1903.'\n" in text
    assert "  sample 1 supports it most (0.500): 'In Oslo, in 1903.'\n" in text


def test_many_facts_are_cut_and_counted() -> None:
    text = str(check("In 1811 and 1812 and 1813 and 1814 and 1815 she lived in Oslo.", threshold=0))

    assert text.count("is in 0 of 3 samples") == 3
    assert "\n  and 3 more with no less support\n" in text


def test_agreement_is_shown_for_each_answer() -> None:
    text = str(check("A", metrics=agreement(), threshold=0.99, samples=["A1", "B2"]))

    assert "  mean similarity with the others: output 0.500, sample 1 0.500, sample 2 0.000\n" in text


def test_an_ensemble_shows_what_its_parts_rest_on() -> None:
    metric = EnsembleMetric([agreement(), facts()], track=False)

    text = str(check(metrics=metric, threshold=0.1))

    assert "\n  checkembed_metric is " in text
    assert "\n    mean similarity with the others: output 0.000, " in text
    assert "\n    worst sentence (0.950): 'Her name was Ada.'\n" in text


def test_a_part_of_an_ensemble_without_a_score_rests_on_nothing() -> None:
    text = str(check("Because they do.", metrics=EnsembleMetric([agreement(), facts()], track=False), threshold=0.1))

    assert "\n  checkembed_metric is " in text
    assert "\n  fact_recurrence is" not in text
    assert "fact_recurrence failed (none of 1 sentences could be scored" in text


class SameLength:
    """Supports what names 5 km in both texts."""

    def read(self, prompts: Sequence[str]) -> list[Reading]:
        return [read_verdict("Yes" if prompt.count("5 km") == 2 else "No") for prompt in prompts]


def test_the_claim_in_most_doubt_is_shown_with_its_source_or_its_samples() -> None:
    answer = "The bridge is 5 km long. It is 90 m wide."
    source = SourceNLIMetric(judge=SameLength(), track=False)
    consistency = SelfConsistencyMetric(judge=SameLength(), store=None, track=False)

    text = str(
        check(
            answer,
            metrics=[source, consistency],
            threshold={"source_nli": 0.1, "self_consistency": 0.1},
            context="It is 5 km long.",
            samples=["It is 5 km long.", "It has 5 km."],
        )
    )

    assert "source_nli is 0.5, wanted <= 0.1\n  1 of 2 claims are supported by the source " in text
    assert (
        "\n  claim in most doubt (1.000, absent): 'It is 90 m wide.'\n  the source there: 'It is 5 km long.'\n" in text
    )
    assert "self_consistency is 0.5, wanted <= 0.1\n" in text
    assert "\n  claim in most doubt (1.000): 'It is 90 m wide.'\n  sample 1 supports it least (" in text


class Stranger(BaseMetric):
    """Has evidence of the same names and another shape."""

    higher_is_better = True

    def __init__(self, evidence: dict[str, Any]) -> None:
        super().__init__("stranger", track=False)
        self.evidence = evidence

    def score(self, output: str, **ignored: Any) -> ScoreResult:
        return ScoreResult("stranger", 0.5, reason="So it is.", metadata=self.evidence)


@pytest.mark.parametrize(
    "evidence",
    [
        {},
        {"claims": ["It is."], "worst": 0},
        {"claims": [{"text": "It is."}], "worst": 0},
        {"claims": [], "worst": 0},
        {"claims": 3, "worst": 0},
        {"sentences": 3, "aggregate": "max", "agreement": 0.5, "labels": ["output"]},
        {"sentences": [{"text": "It is."}], "aggregate": "max"},
    ],
)
def test_evidence_of_another_shape_is_left_to_its_reason(evidence: dict[str, Any]) -> None:
    text = str(check("A", metrics=Stranger(evidence), threshold=0.9, samples=None))

    assert text.endswith("stranger is 0.5, wanted >= 0.9\n  So it is.\n\nanswer: A")


def test_samples_are_numbered_as_in_the_reasons_and_the_others_are_shown_apart() -> None:
    long = "In Oslo in 1901. " * 40
    text = str(check(samples=["In Oslo.", "", "I'm sorry, I can't help with that.", 3, long]))

    assert "\n5 of 5 samples (5 given):\n  1. In Oslo.\n  2. In Oslo in 1901. In Oslo" in text
    assert "…\n  left out, empty: \n  left out, refused: I'm sorry, I can't help with that.\n" in text
    assert text.endswith("\n  left out, not text: ")
    assert max(map(len, text.splitlines()[-5:])) < 170


def test_sample_sets_that_differ_say_whose_they_are() -> None:
    sets = tuple(
        {"requested": 3, "samples": [{"text": text, "status": "ok", "origin": "asked"}], "failures": ["it was late"]}
        for text in ("A1", "B1")
    )
    scores = (Score("first", 0.5, samples=0), Score("second", 0.5, samples=1), Score("third", 0.5, samples=1))
    report = TrustReport(
        ItemResult("0", {"output": "A"}, {}, scores, sets), (Check(Threshold("first", ">=", 0.9), scores[0]),)
    )

    assert str(report).endswith(
        "answer: A\n"
        "1 of 3 samples of first (1 asked):\n  1. A1\n  failed: it was late\n"
        "1 of 3 samples of second, third (1 asked):\n  1. B1\n  failed: it was late"
    )
    assert "\n  no reason was given\n" in str(report)


def test_control_characters_and_surrogates_reach_no_terminal() -> None:
    text = str(check("\x1b[2J\x07Zoë\x9b \ud800 1898 कि\u200dताब", samples=["\x1b]0;x\x07 Oslo", "Oslo"]))

    assert not any(ord(c) < 32 and c != "\n" for c in text)
    assert "answer: \\x1b[2J\\x07Zoë\\x9b \\ud800 1898 कि\u200dताब\n" in text
    assert "1. \\x1b]0;x\\x07 Oslo\n" in text
    text.encode()


def test_a_value_is_shown_so_that_it_can_be_told_from_its_threshold() -> None:
    def said(value: float) -> str:
        return str(Check(Threshold("s", "<=", 0.3), Score("s", value)))

    assert said(0.30001) == "s is 0.30001, wanted <= 0.3"
    assert said(0.1 + 0.2) == "s is 0.30000000000000004, wanted <= 0.3"
    assert said(0.3) == "s is 0.3, wanted <= 0.3"
    assert said(0.29999) == "s is 0.3, wanted <= 0.3"


# ------------------------------------------------------------------------------------------- without a score


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"answer": "I'm sorry, I can't help with that."}, "the judged output is a refusal"),
        ({"answer": None}, "`output` is"),
        ({"answer": {"a": 1}}, "`output` is"),
        ({"samples": ["In Oslo."]}, "1 of 1 samples are usable, 2 are needed"),
        ({"samples": None}, "there is no `input`, `question` or `messages`"),
        ({"answer": "Because they do."}, "none of 1 sentences could be scored"),
        ({"metrics": facts(), "threshold": "fact_recurrence_worst<=0.3"}, "no metric returned a score of this name"),
    ],
)
def test_what_cannot_be_scored_is_not_trusted_and_says_why(arguments: dict[str, Any], reason: str) -> None:
    report = check(**arguments)

    assert not report.trusted
    assert report.missed == ()
    assert len(report.unscored) == 1
    assert str(report).startswith("whether the answer is to be trusted cannot be told: fact_recurrence")
    assert " could not be scored, wanted <= 0.3\n" in str(report)
    assert f"\n  {reason}" in str(report)


def test_a_further_score_that_a_failed_metric_did_not_give_has_the_metrics_reason() -> None:
    report = check(None, metrics=agreement(), threshold={"checkembed_metric_reference": 0.9}, reference="Oslo")

    assert report.unscored[0].score.name == "checkembed_metric_reference"
    assert "`output` is" in str(report.unscored[0].score.reason)


class Broken(BaseMetric):
    """Raises on every answer."""

    higher_is_better = True

    def score(self, output: str, **ignored: Any) -> ScoreResult:
        raise RuntimeError("out of order")


def test_a_metric_that_raises_trusts_nothing_and_a_missed_threshold_comes_first() -> None:
    report = check(metrics=[Broken("broken", track=False), facts()], threshold={"broken": 0.5, "fact_recurrence": 0.3})

    assert str(report).startswith(
        "the answer is not to be trusted: fact_recurrence is 0.844, wanted <= 0.3; "
        "broken could not be scored, wanted >= 0.5\n"
    )
    assert "\n  RuntimeError: out of order\n" in str(report)
