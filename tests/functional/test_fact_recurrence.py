"""Supports, scores and what samples say instead, worked out by hand."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed.functional import alternatives as alternatives_module
from opik_checkembed.functional.fact_recurrence import fact_recurrence
from opik_checkembed.functional.text_facts import TextFacts, text_facts
from opik_checkembed.splitters import RuleSplitter


def facts(text: str, language: str = "en") -> TextFacts:
    return text_facts(text, language, [(s.start, s.end) for s in RuleSplitter(language).split(text)])


OUTPUT = "Ada Lovelace was born in London in 1815. She wrote about the engine. Lovelace died in 1852."
SAMPLES = [
    "Ada Lovelace was born in London in 1815 and died in 1852.",
    "Lovelace was born in Paris in 1815. She died in 1850.",
    "Born in London in 1816, Ada Lovelace died in 1850.",
    "Ada Lovelace died in London in 1851. She was born in Paris in 1815.",
]


def test_supports_and_scores_by_hand() -> None:
    first, second, third = fact_recurrence(facts(OUTPUT), [facts(sample) for sample in SAMPLES])

    assert [(fact.text, fact.support, fact.samples) for fact in first.facts] == [
        ("Ada Lovelace", 1.0, (0, 1, 2, 3)),
        ("London", 0.75, (0, 2, 3)),
        ("1815", 0.75, (0, 1, 3)),
    ]
    assert first.score == pytest.approx(1 - (1 * 0.75 * 0.75) ** (1 / 3))
    assert first.per_sample == pytest.approx((0, 1 / 3, 1 / 3, 0))
    assert (second.score, second.facts, second.per_sample, second.worst) == (None, (), (), None)
    # "Lovelace" stands for Ada Lovelace here, in the answer and in the second sample.
    assert [(fact.text, fact.support) for fact in third.facts] == [("Lovelace", 1.0), ("1852", 0.25)]
    assert third.score == pytest.approx(1 - math.sqrt(0.25))


def test_what_the_samples_say_instead_is_of_the_same_kind_in_the_nearest_sentence() -> None:
    first, _, third = fact_recurrence(facts(OUTPUT), [facts(sample) for sample in SAMPLES])

    assert first.facts[1].instead == (("Paris", 1),)
    assert first.facts[2].instead == (("1816", 1),)
    # The last sample's nearest sentence to "Lovelace died in 1852" is the one about her death.
    assert third.facts[1].instead == (("1850", 2), ("1851", 1))
    assert str(third.worst) == '"1852" in 1 of 4 samples; others say 1850 (2), 1851 (1)'


@pytest.mark.parametrize(
    ("sample", "instead"),
    [
        # "He moved from" and "to" stand around Paris too, and "from", "to" before Milan.
        ("He moved from Paris to Milan.", ["Paris", "Milan"]),
        # One word is not enough for a name: "to" stands before Milan, as before Rome.
        ("To Milan he moved from Paris.", ["Paris"]),
        ("She knew Paris, Milan: he moved", []),
        # As many of the words around are the same: then the first.
        ("He moved from Paris, moved from Milan.", ["Paris"]),
        # What the sentence says itself is no alternative.
        ("He moved from Rome to Milan, moved from Paris.", ["Paris"]),
        # Nor is what is of another kind, or of another unit.
        ("He moved from one to 12 km.", []),
    ],
)
def test_the_words_around_tell_what_stands_in_whose_place(sample: str, instead: list[str]) -> None:
    (found,) = fact_recurrence(facts("He moved from Oslo to Rome."), [facts(sample)])
    assert [said for fact in found.facts for said, _ in fact.instead] == instead


def test_of_words_that_stand_twice_one_counts() -> None:
    sample = facts("So to Paris he, to to Milan he")
    (found,) = fact_recurrence(facts("to to to Oslo he went"), [sample])
    # "to" before both and "he" behind both: of equals the first.
    assert found.facts[0].instead == (("Paris", 1),)


def test_the_most_frequent_alternatives_come_first_and_of_equals_the_one_said_first() -> None:
    said = ["Rome", "Paris", "Bonn", "Paris", "Lima", "Kiel", "Ulm", "Ulm"]
    (found,) = fact_recurrence(facts("He is in Oslo."), [facts(f"He is in {place}.") for place in said])
    assert found.facts[0].instead == (("Paris", 2), ("Ulm", 2), ("Rome", 1), ("Bonn", 1), ("Lima", 1))


def test_an_alternative_is_shown_as_it_is_written_first() -> None:
    samples = [facts(f"It was on {day}.") for day in ("May 3,\n1820", "3 May 1820", "1820-05-03")]
    (found,) = fact_recurrence(facts("It was on 4 May 1820."), samples)
    assert found.facts[0].instead == (("May 3, 1820", 3),)


def test_alternatives_do_not_depend_on_how_many_are_compared_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    output = facts(" ".join(f"In 18{year} she went from Oslo{year} to Rome{year}." for year in range(10, 40)))
    samples = [facts(output.text.replace("Oslo", other).replace("18", "19")) for other in ("Bonn", "Kiel", "Oslo")]
    whole = fact_recurrence(output, samples)

    monkeypatch.setattr(alternatives_module, "_PAIRS", 1)
    assert fact_recurrence(output, samples) == whole
    assert whole[5].facts[1].instead == (("Bonn15", 1), ("Kiel15", 1))


def test_a_specific_that_no_sample_holds() -> None:
    (found,) = fact_recurrence(facts("It happened in 1898."), [facts("Nothing is known."), facts("It was in 1893.")])

    assert str(found.worst) == '"1898" in no sample; others say 1893 (1)'
    assert found.score == pytest.approx(1 - 0.05)
    assert found.nearest[0] is None


@pytest.mark.parametrize(("floor", "score"), [(0.05, 1 - math.sqrt(0.5 * 0.05)), (0.2, 1 - math.sqrt(0.5 * 0.2))])
def test_the_floor_keeps_one_missing_fact_from_deciding_alone(floor: float, score: float) -> None:
    samples = [facts("In Oslo."), facts("In Rome.")]
    (found,) = fact_recurrence(facts("It was in Oslo in 1898."), samples, floor=floor)
    assert found.score == pytest.approx(score)
    (least,) = fact_recurrence(facts("It was in Oslo in 1898."), samples, combine="min")
    assert least.score == 1


def test_a_date_counts_as_itself_and_as_its_year() -> None:
    samples = [
        facts(text) for text in ("She was born on 7 May 1867.", "Born on 9 May 1867.", "In 1867.", "In May 1901.")
    ]
    (found,) = fact_recurrence(facts("She was born on 7 May 1867 in Oslo."), samples)

    date, place = found.facts
    assert (date.support, date.year, place.year) == (0.25, 3, None)
    # A quarter for the date, three quarters for the year, the floor for Oslo.
    assert found.score == pytest.approx(1 - (0.25 * 0.75 * 0.05) ** (1 / 3))
    assert str(date) == '"7 May 1867" in 1 of 4 samples, its year in 3; others say 9 May 1867 (1)'
    assert date.to_dict()["year"] == 3
    (least,) = fact_recurrence(facts("She was born on 7 May 1867."), samples, combine="min")
    assert least.score == 0.75


@pytest.mark.parametrize("text", ["1867", "from 1867 to 1869", "on 7 May", "in the 1860s", "1867 people"])
def test_what_names_no_date_within_one_year_counts_once(text: str) -> None:
    (found,) = fact_recurrence(facts(f"It was {text}."), [facts("It was in 1867."), facts(f"It was {text}.")])
    assert [fact.year for fact in found.facts] == [None]


def test_a_year_that_no_sample_has_without_the_date_is_not_told() -> None:
    (found,) = fact_recurrence(facts("Born on 7 May 1867."), [facts("On 7 May 1867."), facts("In 1901.")])
    assert str(found.worst) == '"7 May 1867" in 1 of 2 samples'
    assert found.score == pytest.approx(0.5)


def test_what_the_question_says_is_left_out() -> None:
    question = facts("Where was Ada Lovelace born?")
    first, second, third = fact_recurrence(facts(OUTPUT), [facts(s) for s in SAMPLES], question=question)

    assert [fact.text for fact in first.facts] == ["London", "1815"]
    assert [of.known for of in (first, second, third)] == [1, 0, 1]


def test_what_the_question_says_is_no_alternative() -> None:
    samples = [facts("The guard of the Louvre was Jean Roux."), facts("The Louvre had a guard.")]
    question = facts("Who guarded the Louvre?")
    (found,) = fact_recurrence(facts("The guard of the Louvre was John Doe."), samples, question=question)

    assert [str(fact) for fact in found.facts] == ['"John Doe" in no sample; others say Jean Roux (1)']


def test_each_fact_counts_once_in_a_sentence() -> None:
    (found,) = fact_recurrence(facts("On 3 May 1820, and again on May 3, 1820, it rained."), [facts("May 3, 1820")])
    assert [fact.text for fact in found.facts] == ["3 May 1820"]


@pytest.mark.parametrize(
    ("output", "sample", "support"),
    [
        ("Marie Curie won.", "It was Curie.", 1),  # the short form of somebody else is not known
        ("Marie Curie won.", "Pierre Curie won. Curie was happy.", 0),  # here it is
        ("They saw Paris.", "They saw Paris Hilton.", 0),
        ("She met Hilton.", "She met Paris Hilton.", 1),
        ("They founded the World Health Organization.", "They founded the WHO.", 1),
        ("She won the Nobel Prize.", "she won the nobel prize", 1),  # no capitals
        ("They live in Oslo.", "they live in oslo", 1),
        ("She read “Emma” there.", "She read Emma there.", 1),
        ("It took 12 km.", "It took 12 miles.", 0),
        ("It took 12 km.", "It took 12 kilometers.", 1),
        ("It was in 1820.", "It was on 3 May 1820.", 1),
        ("It was on 3 May 1820.", "It was in 1820.", 0),
        ("They sold 1820 of it.", "They sold 1,820 of it.", 1),
    ],
)
def test_what_supports_what(output: str, sample: str, support: float) -> None:
    (found,) = fact_recurrence(facts(output), [facts(sample)])
    (fact,) = found.facts
    assert fact.support == support


@pytest.mark.parametrize(
    ("language", "output", "sample", "supports"),
    [
        # A word that ends a name is no short form of it unless it is written as a name.
        ("en", "He lives in New York City.", "Berlin is a city.", [0]),
        ("en", "Tim Cook left.", "he likes to cook", [0]),
        ("en", "New Mexico is big.", "Mexico is big.", [0]),
        ("en", "The US left.", "come with us", [0]),
        ("en", "King wrote “It”.", "King wrote it.", [0]),
        # Numerals belong to the name, middle names may be left out, initials stand for it.
        ("en", "He fought in World War II.", "He fought in WWI.", [0]),
        ("en", "He fought in World War II.", "He fought in WWII.", [1]),
        ("en", "Thomas Edison did.", "Thomas A. Edison did.", [1]),
        ("en", "Martin Luther King Jr. spoke", "Martin Luther King spoke", [1]),
        ("en", "the European Union", "the EU", [1]),
        ("en", "the UK", "the United Kingdom", [1]),
        # Arithmetic is no range and no sign.
        ("en", "16-3=13", "16 - 3 = 13", [1, 1, 1]),
        ("en", "6.6×10⁻²⁷ kg", "6.6×10⁻³¹ kg", [0]),
        ("en", "10^6 and 1.5e6", "1,000,000 and 1500000", [1, 1]),
        ("en", "1/2 cup", "½ cup", [1]),
        ("en", "It costs ₹5 lakh.", "It costs ₹5 crore.", [0]),
        ("en", "It costs ₹5 lakh.", "It costs ₹500,000.", [1]),
        ("en", "Half a million people.", "A million people.", [0]),
        ("en", "thousands of soldiers", "1,000", []),
        ("zh", "占百分之三十。", "占百分之四十五。", [0]),
        ("zh", "占百分之三十。", "占30%。", [1]),
        ("zh", "占三分之一。", "占三分之二。", [0]),
        ("ja", "1億2千万人", "1億3千万人", [0]),
        ("ja", "3億5000万円", "350,000,000円", [1]),
        # Ranges of years, and both of their ends apart.
        ("en", "from 1914 to 1918", "1914–1918", [1]),
        ("en", "(1879-1955)", "born in 1879 and died in 1955", [1]),
        ("en", "(1879-1955)", "born in 1879 and died in 1956", [0]),
        # Type faces are no facts, and an apostrophe is no quotation mark.
        ("en", "Use `pandas`; port `8080`.", "Use pandas; port 8080.", [1, 1]),
        ("en", "in the '80s the Beatles' music", "the Beatles", [0, 1]),
        ("en", "Revenue 3.5 million rose", "3.5 million", [1]),
        ("es", "Costó 1.500 euros", "1.500 euros", [1]),
    ],
)
def test_what_a_reader_would_take_for_the_same(language: str, output: str, sample: str, supports: list[float]) -> None:
    (found,) = fact_recurrence(text_facts(output, language, [(0, len(output))]), [facts(sample, language)])
    assert [fact.support for fact in found.facts] == supports


def test_the_question_does_not_say_what_it_asks_for() -> None:
    question = facts("Which university did she attend?")
    (found,) = fact_recurrence(facts("She attended Yale University."), [facts("Harvard.")], question=question)
    assert [(fact.text, fact.support) for fact in found.facts] == [("Yale University", 0)]


def test_specifics_outside_sentences_are_not_judged() -> None:
    text = "In 1820.\n```\nx = 1821\n```\nIn 1822."
    found = fact_recurrence(facts(text), [facts("1820")])
    assert [[fact.text for fact in of.facts] for of in found] == [["1820"], ["1822"]]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"samples": []}, "no samples"),
        ({"samples": [facts("a")], "combine": "mean"}, "combine"),
        ({"samples": [facts("a")], "floor": 0}, "floor"),
        ({"samples": [facts("a")], "floor": 1}, "floor"),
    ],
)
def test_bad_arguments_are_said(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        fact_recurrence(facts("In 1820."), **arguments)  # type: ignore[arg-type]  # on purpose


PIECES = st.lists(
    st.sampled_from(["Oslo", "Rome", "in 1820", "in 1821", "12 km", "she", "won."]), min_size=1, max_size=6
)


@given(PIECES, st.lists(PIECES, min_size=1, max_size=4))
def test_scores_lie_in_range_and_do_not_depend_on_the_samples_order(said: list[str], others: list[list[str]]) -> None:
    output = facts(f"They said {' '.join(said)}")
    samples = [facts(f"They said {' '.join(other)}") for other in others]
    found = fact_recurrence(output, samples)
    turned = fact_recurrence(output, samples[::-1])

    for of, back in zip(found, turned, strict=True):
        assert of.score == back.score
        assert [fact.support for fact in of.facts] == [fact.support for fact in back.facts]
        assert of.per_sample == back.per_sample[::-1]
        if of.score is not None:
            assert 0 <= of.score <= 1
            assert of.worst is not None


@given(PIECES)
def test_a_text_supports_itself(said: list[str]) -> None:
    text = facts(f"They said {' '.join(said)}")
    for of in fact_recurrence(text, [text, text]):
        assert of.score in {None, 0.0}


@pytest.mark.parametrize("words_behind", [0, 3000])
def test_a_text_says_words_that_stand_one_after_the_other(words_behind: int) -> None:
    # A long text is read another way than a short one.
    text = TextFacts("One, two. Three: FOUR five six seven eight nine ten" + " more" * words_behind, ())
    there = ["one", "two three", "one two three four five six seven eight nine"]
    missing = ["one three", "ne two", "nine te", "one two three four five six seven eight ten"]
    assert [phrase for phrase in [*there, *missing] if text.says(phrase)] == there
    assert text.says("ten more") == bool(words_behind)


def test_words_are_looked_for_in_time_that_grows_with_a_text_of_one_long_word() -> None:
    def seconds(size: int) -> float:
        text = TextFacts(f"{'a' * 300 * size} {' '.join(f'w{i}' for i in range(size))}", ())
        started = time.process_time()
        assert not any(text.says(f"w{i} w{i}") for i in range(size))
        return time.process_time() - started

    assert seconds(1600) < 9 * max(seconds(400), 0.01)


HOSTILE = {
    "the same two names again and again": lambda n: "We met Marie Curie and then Curie. " * n,
    "a short name that ends very many": lambda n: " ".join(f"We met A{i}a Curie and Curie." for i in range(n)),
    "one sentence full of amounts": lambda n: "They are " + ", ".join(f"{i} km" for i in range(n)) + ".",
    "no word twice": lambda n: " ".join(f"It was word{i}x other{i}y in 18{i % 100:02d}." for i in range(n)),
    "titles of many words": lambda n: " ".join(f"I read 'A long title of nine words number {i}'." for i in range(n)),
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_time_grows_with_the_text_and_not_with_its_square(make: Callable[[int], str]) -> None:
    def seconds(size: int) -> float:
        output, sample = facts(make(size)), facts(make(size).replace("18", "19").replace("km", "kg"))
        best = math.inf
        for _ in range(3):
            # What a text has told once it keeps, so each round reads fresh ones.
            ours, theirs = (TextFacts(one.text, one.specifics, one.sentences) for one in (output, sample))
            started = time.process_time()
            fact_recurrence(ours, [theirs, theirs])
            best = min(best, time.process_time() - started)
        return best

    # Sixteen times the time for four times the text would be the square.
    assert seconds(800) < 9 * seconds(200)


@pytest.mark.parametrize(
    ("output", "samples", "instead"),
    [
        # Two words behind count, each once and half of one before; the beginning of a text has none before it.
        ("In 1990 it was first.", ["In 1991 it is, in 1992 it was."], [[(("1992", 1),)]]),
        ("to to he 1990", ["he 1991 and to 1992"], [[(("1991", 1),)]]),
        ("He came to 1990 was said.", ["He saw 1991 was there, and came to 1992."], [[(("1992", 1),)]]),
        ("sang now he 1990 was", ["he sang", "1991 is big, 1992 was"], [[(("1992", 1),)]]),
        # What another sentence says may stand in this one's place.
        (
            "He moved in 1990. By 1991 it was never his home.",
            ["He moved in 1991."],
            [[(("1991", 1),)], [()]],
        ),
    ],
)
def test_alternatives_word_by_word(
    output: str, samples: list[str], instead: list[list[tuple[tuple[str, int], ...]]]
) -> None:
    found = fact_recurrence(facts(output), [facts(sample) for sample in samples])
    assert [[fact.instead for fact in sentence.facts] for sentence in found] == instead


def test_what_the_question_says_is_no_alternative_in_any_sentence() -> None:
    def said(guard: str, cook: str, driver: str) -> str:
        return f"The guard of the Louvre was {guard}. The cook of the Ritz was {cook}. The driver of it was {driver}."

    output, sample = facts(said("John Doe", "Jim Poe", "Sam Loe")), facts(said(*["Jean Roux"] * 3))
    found = fact_recurrence(output, [sample], question=facts("What did Jean Roux do?"))
    assert [fact.instead for sentence in found for fact in sentence.facts if " " in fact.text] == [()] * 3
    unasked = fact_recurrence(output, [sample])
    said_instead = [fact.instead for sentence in unasked for fact in sentence.facts if " " in fact.text]
    assert said_instead == [(("Jean Roux", 1),)] * 3


def test_three_alternatives_are_said() -> None:
    (found,) = fact_recurrence(
        facts("He is in Oslo."), [facts(f"He is in {place}.") for place in ("Rome", "Paris", "Bonn", "Lima")]
    )
    assert str(found.worst) == '"Oslo" in no sample; others say Rome (1), Paris (1), Bonn (1)'


def test_names_without_capitals_are_looked_for_in_every_sample() -> None:
    (found,) = fact_recurrence(
        facts("They live in Oslo."), [facts("they live in rome"), facts("they live in oslo"), facts("in Oslo")]
    )
    assert found.facts[0].samples == (1, 2)


def test_a_name_that_ends_like_another_is_no_short_form_of_it() -> None:
    assert facts("Marie Curie met Durie there.").longer == {}
