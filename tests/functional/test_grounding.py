"""What a claim has and its source does not: worked out by hand, and counted on the shipped claims."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed.benchmarks.claims_data import load_claims
from opik_checkembed.functional.absolute_words import STRONG_WORDS
from opik_checkembed.functional.grounding import Finding, SourceFacts, absolute_wording, unsupported_specifics

SOURCE = (
    'Marie Curie was born in Warsaw on 7 November 1867. The road is 5 km long. She said: "Nothing in the 1,500 letters '
    'of May 1921 is to be feared." The prize was worth $3.5 million, of which Pierre Curie received 20 %.'
)


def listed(claim: str, source: str = SOURCE, *, language: str = "en", known: str = "") -> list[tuple[str, str]]:
    found = unsupported_specifics(claim, source, language=language, known=known)
    return [(one.kind, one.text) for one in found]


def wording(claim: str, source: str, language: str = "en") -> list[tuple[str, str]]:
    found = absolute_wording(claim, source, language=language)
    assert found is not None
    return [(one.kind, one.text) for one in found]


# --- specifics ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "claim",
    [
        "Marie Curie was born in Warsaw on Nov. 7, 1867.",
        "She was born in November 1867.",
        "Curie is from Warsaw.",
        "The road is five kilometres long.",
        "The prize was 3,500,000 dollars.",
        "Pierre Curie got 20 percent.",
        "In 1921 there were 1500 letters.",  # within the source's quotation
        'She said that "nothing in the 1,500 letters" is to be feared.',
        "Er hat ٥ km.",
        "Nothing to be listed here.",
        "",
    ],
)
def test_what_means_the_same_is_supported(claim: str) -> None:
    assert listed(claim) == []


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        ("The road is 6 km long.", [("number", "6 km")]),
        ("The road is 5 miles long.", [("unit", "5 miles")]),
        ("The prize was worth €3.5 million.", [("unit", "€3.5 million")]),
        ("She was born on 8 November 1867.", [("date", "8 November 1867")]),
        ("Irène Curie was born in Paris.", [("name", "Irène Curie"), ("name", "Paris")]),
        ("She worked with Henri Becquerel, and Becquerel agreed.", [("name", "Henri Becquerel")]),
        ('She said: "All letters are lost."', [("quotation", "All letters are lost")]),
        (
            "It is in file AB-1234 at https://example.org/x.",
            [("identifier", "AB-1234"), ("url", "https://example.org/x")],
        ),
    ],
)
def test_what_the_source_lacks_is_listed_by_kind(claim: str, found: list[tuple[str, str]]) -> None:
    assert listed(claim) == found


@pytest.mark.parametrize(
    ("claim", "source", "found"),
    [
        ("It rose 5 %.", "It rose 5 percentage points.", ["5 %"]),
        ("It rose 5 percentage points.", "It rose 5 %.", ["5 percentage points"]),
        ("It rose 25 basis points.", "It rose 25 per cent.", ["25 basis points"]),
        ("It rose 5 pp.", "It rose five percentage points.", []),
        ("Um 5 Prozentpunkte.", "5 percentage points", []),
    ],
)
def test_a_share_is_no_difference_of_shares(claim: str, source: str, found: list[str]) -> None:
    assert [one.text for one in unsupported_specifics(claim, source)] == found


def test_a_finding_says_where_it_is() -> None:
    claim = "The road to Oslo is 5 miles long."
    first, second = unsupported_specifics(claim, SOURCE)
    assert (claim[slice(*first.span)], claim[slice(*second.span)]) == ("Oslo", "5 miles")
    assert second.to_dict() == {"kind": "unit", "start": 20, "end": 27, "text": "5 miles", "asked": False}


def test_a_name_within_a_longer_one_occurs_in_the_source() -> None:
    assert listed("It is in Indiana.", "The Indiana Pacers won.") == []
    # So does the singular of a plural, and what is written with a hyphen or without.
    assert listed("Open on Saturdays, with Wi-Fi and Tex Mex.", "Saturday: WiFi, Tex-Mex") == []
    assert listed("It has TexMex.", "It has Tex-Mex.") == []
    assert listed("It is in the US.", "Is u a letter?") == [("name", "US")]
    assert listed("It is in Rome-Paris.", "It is in Rome.") == [("name", "Rome-Paris")]
    # Another person of that last name is none that the source has.
    assert listed("By Eve Curie.", "Marie Curie won.") == [("name", "Eve Curie")]


def test_the_passages_count_as_one_source_and_what_was_asked_needs_no_support() -> None:
    source = SourceFacts(["Ada Lovelace wrote it.", "It was in 1843."])
    assert source.lacking("Ada Lovelace wrote it in 1843.") == []
    assert listed("In 1999 Ada wrote to Turing.", "Ada wrote.") == [("date", "1999"), ("name", "Turing")]
    assert listed("In 1999 Ada wrote to Turing.", "Ada wrote.", known="Did she know Turing in 1999?") == []


def test_what_only_the_question_says_is_listed_as_asked_where_that_is_wanted() -> None:
    claim = "In 1999 Ada wrote to Turing, Babbage and Wi Fi Corp about 5 miles and 7 kg."
    source = SourceFacts(
        "Ada wrote to Babbage of 5 km and 7 t.", known="Did Ada write to Turing of Wi-Fi-Corp in 1999 about 5 miles?"
    )
    found = source.lacking(claim, with_asked=True)
    assert [(one.kind, one.text, one.asked) for one in found] == [
        ("date", "1999", True),
        ("name", "Turing", True),
        ("name", "Wi Fi Corp", True),
        ("unit", "5 miles", True),  # for the source has 5 of another unit
        ("unit", "7 kg", False),
    ]
    assert source.lacking(claim) == [one for one in found if not one.asked]
    assert found == unsupported_specifics(claim, source.passages, known=source.known, with_asked=True)
    # Another unit than the question's is one, a unit of the question's that the source lacks altogether is none.
    asked = SourceFacts("It is long.", known="Is it 5 km long?")
    assert [(one.kind, one.asked) for one in asked.lacking("It is 5 miles long.", with_asked=True)] == [("unit", False)]
    assert [(one.kind, one.asked) for one in asked.lacking("It is 5 km long.", with_asked=True)] == [("number", True)]
    # Nothing was asked: nothing is.
    assert [one.asked for one in SourceFacts("It is long.").lacking("It is 5 km.", with_asked=True)] == [False]


def test_the_language_decides_how_figures_are_read() -> None:
    assert listed("Es waren 1.500 Briefe.", "1500 Briefe", language="de") == []
    assert listed("There were 1.500 letters.", "1500 letters") == [("number", "1.500")]


def test_a_long_source_is_read_to_its_end() -> None:
    passages = [f"Report {n}: engineer Ada Smith{n} counted {n * 7919} screws in {1000 + n}." for n in range(600)]
    source = SourceFacts([*passages, "Zora Quill paid $12.75 million."])
    assert source.lacking("Zora Quill paid $12.75 million to Nobody Else.") == [Finding("name", 34, 45, "Nobody Else")]
    assert source.stronger("Zora Quill always paid.") == [Finding("absolute", 11, 17, "always")]
    assert SourceFacts(source.passages) == source


# --- wording ------------------------------------------------------------------------------------------------

WEBB = (
    "Webb's coronagraph blocks the light of the star, and the team used it for this discovery. No other telescope "
    "was tried."
)


def test_the_case_that_self_consistency_missed() -> None:
    claim = (
        "Webb's coronagraph technology enabled this discovery, which would have been completely impossible with any "
        "other existing telescope."
    )
    assert wording(claim, WEBB) == [("causal", "enabled"), ("absolute", "completely"), ("absolute", "impossible")]


@pytest.mark.parametrize(
    ("claim", "kind", "word"),
    [
        ("It is the only telescope of the star.", "absolute", "only"),
        ("The team is the first to see the star.", "absolute", "first"),
        ("The star is always seen by the team.", "absolute", "always"),
        ("The star was never seen by the team.", "absolute", "never"),
        ("All telescopes saw the star.", "absolute", "All"),
        ("None of the team saw the star.", "absolute", "None"),
        ("It is an unprecedented discovery of a star.", "absolute", "unprecedented"),
        ("The star is unique to the telescope.", "absolute", "unique"),
        ("It is the largest star of the team.", "superlative", "largest"),
        ("The light caused the discovery of the star.", "causal", "caused"),
        ("The discovery was due to the light of the star.", "causal", "due to"),
        ("The light led the team to the star.", "causal", "led the team to"),
        ("The coronagraph prevented light of the star.", "causal", "prevented"),
        ("The discovery proved that the star has light.", "certainty", "proved"),
        ("A discovery with the coronagraph is guaranteed by the star.", "certainty", "guaranteed"),
        ("The coronagraph ensures the discovery of the star.", "certainty", "ensures"),
        ("The discovery demonstrates the light of the star.", "certainty", "demonstrates"),
        ("The team demonstrated that the star has light.", "certainty", "demonstrated that"),
        ("The telescope confirms the light of the star.", "certainty", "confirms"),
        ("The light of the star is beyond any doubt for the team.", "certainty", "beyond any doubt"),
        ("The telescope made the discovery of the star possible.", "causal", "made the discovery of the star possible"),
        ("The team made a discovery possible.", "causal", "made a discovery possible"),
        ("The light of the star forced the team to look.", "causal", "forced the team to"),
        ("The team was forced to see the light.", "causal", "forced to"),
        ("The star drove the growth of the team.", "causal", "drove the growth"),
        ("The star is responsible for the light.", "causal", "is responsible for"),
        ("The team saw the star and therefore its light.", "causal", "therefore"),
        ("That's why the team saw the star.", "causal", "That's why"),
        ("The star kept the team from seeing light.", "causal", "kept the team from seeing"),
    ],
)
def test_a_word_that_the_source_does_not_have_is_listed(claim: str, kind: str, word: str) -> None:
    source = "The team saw the light of a star with the coronagraph of the telescope and told of the discovery."
    assert wording(claim, source) == [(kind, word)]


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        # Another form, or another word of the family.
        ("Rain caused the flood of the valley.", "The valley was in flood because of the rain."),
        ("The bridge was closed because of ice.", "Ice on the bridge led the police to close it."),
        ("It is the sole bridge over the Elbe.", "The only bridge over the Elbe is closed."),
        # Denied or hedged in the claim.
        ("It is not the only bridge over the Elbe.", "It is a bridge over the Elbe."),
        ("Rain may have caused the flood of the valley.", "There was rain before the flood of the valley."),
        ("It is one of the first bridges over the Elbe.", "It is an early bridge over the Elbe."),
        ("The ice is responsible for the closed bridge.", "The bridge was closed because of ice."),
        ("Ice forced the city to close the bridge.", "Ice caused the city to close the bridge."),
        ("Ice forced the city to close the bridge.", "The city had to close the bridge in the ice."),
        ("The grant made the new bridge possible.", "The grant allowed the city a new bridge."),
        ("The test confirms the load of the bridge.", "The test showed the load of the bridge."),
        ("The rain stopped and therefore the bridge opened.", "The rain stopped, so the bridge opened."),
        # Denied, hedged, or said of a purpose.
        ("The ice is not responsible for the closed bridge.", "The bridge is closed."),
        ("The ice may have forced the city to close the bridge.", "The bridge is closed."),
        ("The rail was added to ensure safety.", "A rail was added."),
        # The same words, and no cause or certainty.
        ("Therefore, the bridge is old.", "The bridge is old."),
        ("Thus far the bridge is open.", "The bridge is open."),
        ("Students demonstrated against the bridge.", "There are students."),
        ("They drove to the sales office.", "They went there."),
        ("They forced entry to the house.", "They went in."),
        ("The police forces had come to help.", "The police came."),
        ("They made as much noise as possible.", "They were loud."),
        ("They made a possible match.", "There was a match."),
        ("He kept the house from 1990.", "He had a house."),
        ("Many thanks to the team.", "There is a team."),
        # No strong words at all.
        ("After all, the bridge is at least first-rate and at most old.", "The bridge is old."),
    ],
)
def test_what_the_source_says_or_the_claim_does_not_is_not_listed(claim: str, source: str) -> None:
    assert wording(claim, source) == []


@pytest.mark.parametrize(
    "source",
    [
        "Rain may have caused the flood of the valley.",
        "The rain was not the cause of the flood of the valley.",
        "The cause of the flood of the valley has not been determined; there was rain.",
        "Wind caused a fire in the hills. In the valley there were rain and a flood.",
        "",
    ],
)
def test_a_source_that_denies_or_hedges_or_speaks_of_something_else_does_not_say_it(source: str) -> None:
    assert wording("Rain caused the flood of the valley.", source) == [("causal", "caused")]


def test_of_words_that_overlap_the_longer_is_listed() -> None:
    source = "The bridge fell in frost."
    assert wording("The first-ever frost made the bridge fall.", source) == [("absolute", "first-ever")]
    # A clause does not end within a phrase.
    assert wording("The frost led bridge and road to fall.", source) == [("causal", "led bridge and road to")]


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        # A denial reaches over two other words, a hedge over all of its clause.
        ("It is not by chance always old.", []),
        ("It is not by any other means always old.", [("absolute", "always")]),
        ("It is not old, and it is always cold.", [("absolute", "always")]),
        ("Perhaps it is old and it is always cold.", [("absolute", "always")]),
        ("It is perhaps always cold.", []),
        ("It is always cold, perhaps.", [("absolute", "always")]),
    ],
)
def test_how_far_a_denial_and_a_hedge_reach(claim: str, found: list[tuple[str, str]]) -> None:
    assert wording(claim, "A bridge.") == found


@pytest.mark.parametrize(
    ("text", "times", "listed_each"),
    [("only ", 10_000, 1), ("caused by rain, the only one, ", 3_000, 2), ("not only ", 10_000, 0)],
)
def test_many_words_take_no_more_than_their_share_each(text: str, times: int, listed_each: int) -> None:
    # Compared with one another, or with the whole text each, they would take hours.
    assert len(wording(text * times, "A bridge.")) == times * listed_each


def test_a_source_full_of_such_words_is_read_once() -> None:
    assert wording("It is the only bridge of the valley.", "the only bridge in the valley " * 5_000) == []


@pytest.mark.parametrize(
    ("language", "claim", "source", "found"),
    [
        (
            "de",
            "Nur die Brücke wurde völlig zerstört, weil der Fluss stieg.",
            "Die Brücke wurde zerstört, als der Fluss stieg.",
            [("absolute", "Nur"), ("absolute", "völlig"), ("causal", "weil")],
        ),
        ("de", "Die Studie beweist die Wirkung.", "Die Studie belegt die Wirkung.", []),
        ("de", "Es ist der größte Fluss des Landes.", "Der Fluss des Landes ist lang.", [("superlative", "größte")]),
        (
            "fr",
            "Le médicament a toujours guéri tous les patients, ce qui prouve son efficacité.",
            "Le médicament a guéri des patients.",
            [("absolute", "toujours"), ("absolute", "tous"), ("certainty", "prouve")],
        ),
        ("fr", "La pluie a causé la crue.", "La crue est due à la pluie : elle a été provoquée par elle.", []),
        (
            "es",
            "La lluvia causó la crecida porque nunca había llovido.",
            "Hubo lluvia y crecida.",
            [("causal", "causó"), ("causal", "porque"), ("absolute", "nunca")],
        ),
        (
            "de",
            "Der Sturm zwang die Stadt, die Brücke zu sperren.",
            "Die Stadt sperrte die Brücke im Sturm.",
            [("causal", "zwang die Stadt, die Brücke zu")],
        ),
        (
            "de",
            "Der Defekt ist für den Brand verantwortlich.",
            "Ein Defekt.",
            [("causal", "ist für den Brand verantwortlich")],
        ),
        ("de", "Der Defekt ist nicht für den Brand verantwortlich.", "Ein Defekt.", []),
        ("de", "Deshalb fiel der Strom aus.", "Der Strom fiel aus.", [("causal", "Deshalb")]),
        ("de", "Die Spende machte den Neubau möglich.", "Ein Neubau.", [("causal", "machte den Neubau möglich")]),
        ("de", "Sie machten es so gut wie möglich.", "Es ist gut.", []),
        ("de", "Die Dichtung stellt die Funktion sicher.", "Ein Teil.", [("certainty", "stellt die Funktion sicher")]),
        ("de", "Die Studie bestätigt, dass es wirkt.", "Die Studie.", [("certainty", "bestätigt, dass")]),
        ("de", "Die Studie bestätigt, dass es wirkt.", "Die Studie zeigt, dass es wirkt.", []),
        (
            "fr",
            "La tempête a forcé la ville à fermer le pont.",
            "La ville a fermé le pont.",
            [("causal", "a forcé la ville à")],
        ),
        ("fr", "La force a été testée.", "Un test.", []),
        ("fr", "Le défaut est responsable de l'incendie.", "Un défaut.", [("causal", "est responsable de")]),
        ("fr", "Le défaut n'est pas responsable de l'incendie.", "Un défaut.", []),
        ("fr", "Le don a rendu le musée possible.", "Un don.", [("causal", "rendu le musée possible")]),
        ("fr", "La panne est donc survenue.", "Une panne.", [("causal", "donc")]),
        ("fr", "L'étude confirme que le pont tient.", "Le pont.", [("certainty", "confirme que")]),
        (
            "es",
            "La tormenta obligó a la ciudad a cerrar el puente.",
            "La ciudad cerró el puente.",
            [("causal", "obligó a la ciudad a")],
        ),
        ("es", "El fallo es responsable del incendio.", "Un fallo.", [("causal", "es responsable del")]),
        ("es", "El fallo no es responsable del incendio.", "Un fallo.", []),
        ("es", "La donación hizo el museo posible.", "Un museo.", [("causal", "hizo el museo posible")]),
        ("es", "El equipo hizo todo lo posible.", "Un equipo.", []),
        ("es", "La crecida se debió a la lluvia.", "La lluvia.", [("causal", "se debió a")]),
        ("es", "El estudio confirma que funciona.", "El estudio.", [("certainty", "confirma que")]),
    ],
)
def test_other_languages(language: str, claim: str, source: str, found: list[tuple[str, str]]) -> None:
    assert wording(claim, source, language) == found


@pytest.mark.parametrize("language", ["it", "xx", "pt-BR"])
def test_a_language_without_such_words_is_told_from_one_where_none_were_found(language: str) -> None:
    assert absolute_wording("È l'unico ponte, perché nessun altro esiste.", "Un ponte.", language=language) is None
    assert absolute_wording("È l'unico ponte, perché nessun altro esiste.", "Un ponte.") == []


@pytest.mark.parametrize("language", STRONG_WORDS)
def test_every_word_list_is_of_folded_patterns(language: str) -> None:
    words = STRONG_WORDS[language]
    for text in (words.neutral, words.denials, words.hedges, words.borders, *(f.words for f in words.families)):
        assert text == text.strip()
        assert not {"", "|"} & {phrase.strip() for phrase in text.split(" | ")}
        assert not set("àáâäèéêëìíîïòóôöùúûüçñ") & set(text)


# --- both ---------------------------------------------------------------------------------------------------


TEXTS = st.text(max_size=200) | st.text(st.sampled_from("ab AB12.,:;'\"“”()%$€-–/\n5kmé年月"), max_size=60)


@given(TEXTS, TEXTS)
def test_findings_are_places_in_the_claim_and_a_source_supports_itself(claim: str, source: str) -> None:
    facts = SourceFacts([source])
    for one in (*facts.lacking(claim), *(facts.stronger(claim) or ())):
        assert claim[one.start : one.end] == one.text
        assert one.text
    assert facts.lacking(source) == []


def test_on_the_shipped_claims() -> None:
    claims = load_claims()
    sources = {one.doc_id: SourceFacts([one.source_text]) for one in claims.documents}
    specific, strong = Counter[str](), Counter[str]()
    for claim in claims.claims:
        source = sources[claim.doc_id]
        specific[claim.category] += bool(source.lacking(claim.text))
        strong[claim.category] += bool(source.stronger(claim.text))

    # Of 11 changed numbers, 10 invented names, 25 causal injections and 86 controls.
    assert specific == {"numerical": 11, "entity": 10, "causal": 0, "supported": 0}
    assert strong == {"numerical": 1, "entity": 0, "causal": 18, "supported": 2}
