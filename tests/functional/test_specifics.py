"""What is found in a text, and what equals what; the hand-made exam is in `test_specifics_exam`."""

from __future__ import annotations

import random
import string
import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.specifics import Specific, folded, specifics, words_of, words_with_cuts
from opik_checkembed.functional.specifics.figures import number_value, suffix
from opik_checkembed.functional.specifics.numerals import words_value
from opik_checkembed.functional.text_facts import TextFacts


def found(text: str, language: str = "en") -> list[tuple[str, str]]:
    return [(one.text, one.kind) for one in specifics(text, language)]


def only(text: str, language: str = "en") -> Specific:
    (one,) = specifics(text, language)
    return one


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        # Names: where they begin and end.
        ("en", "Johannes Diderik van der Waals won.", ["Johannes Diderik van der Waals"]),
        ("en", "It is named after van der Waals, not John F. Kennedy Jr.", ["van der Waals", "John F. Kennedy Jr."]),
        ("en", "Mr. Smith met Dr. Jane Doe of MIT.", ["Smith", "Jane Doe of MIT"]),
        (
            "en",
            "Then William the Conqueror left Newcastle upon Tyne.",
            ["William the Conqueror", "Newcastle upon Tyne"],
        ),
        ("en", "We heard Beethoven's Symphony and AT&T.", ["Beethoven", "Symphony", "AT&T"]),
        ("en", "The Beatles met Queen Elizabeth II.", ["Beatles", "Queen Elizabeth II"]),
        ("en", "Boeing 747-400 and Apollo 11 flew.", ["Boeing 747-400", "Apollo 11"]),
        ("en", "In World War II, Saturn V and St. Louis", ["World War II", "Saturn V", "St. Louis"]),
        ("en", "They took a boat from Warsaw to Paris", ["Warsaw", "Paris"]),
        # An ordinary word at the beginning is none; a name there is known from elsewhere or by its verb.
        ("en", "Bread rises. Plants bend. Running helps.", []),
        ("en", "Curie discovered radium. Water was cold.", ["Curie"]),
        ("en", "Bergen lies by the sea. She left Bergen.", ["Bergen", "Bergen"]),
        ("en", "- Oslo\n- Rome\n\n| Lima |", ["Oslo", "Rome", "Lima"]),
        ("en", "| City | People |\n|---|---|\n| a | b |\n\nBASIC SETTINGS HERE", []),
        ("en", "He said that I may go, and NASA agreed.", ["NASA"]),
        (
            "de",
            "Der Hund und die Katze sahen Johann Wolfgang von Goethe in Weimar.",
            ["Johann Wolfgang von Goethe", "Weimar"],
        ),
        (
            "fr",
            "L'eau de Charles de Gaulle, d'Albert Camus et de l'Oréal.",
            ["Charles de Gaulle", "Albert Camus", "Oréal"],
        ),
        ("es", "Isabel la Católica y José de San Martín vivieron.", ["Isabel la Católica", "José de San Martín"]),
        ("ja", "マリー・キュリーはソニーのiPhone 15を見た。", ["マリー・キュリー", "ソニー", "iPhone 15"]),
        ("zh", "他在NASA使用Windows。", ["NASA", "Windows"]),
        # Numbers with what belongs to them.
        ("en", "It cost $3.5m, EUR 45, US$48 or -4 °C.", ["$3.5m", "EUR 45", "US$48", "-4 °C"]),
        ("en", "add 1½ cups, 25–30 minutes, 3–1, 4.8/5 and 24/7", ["1½", "25–30 minutes", "3–1", "4.8/5", "24/7"]),
        ("en", "two hundred and ten of one, twenty-first, 3rd", ["two hundred and ten", "twenty-first", "3rd"]),
        ("en", "2. this\n3. that and 1) those", []),
        ("de", "um 1.234,5 km und einundzwanzig, 3 Mrd. €", ["1.234,5 km", "einundzwanzig", "3 Mrd. €"]),
        (
            "fr",
            "soit 2 000 m et quatre-vingt-dix ou 1,5 milliard d'euros",
            ["2 000 m", "quatre-vingt-dix", "1,5 milliard d'euros"],
        ),
        ("es", "unos 3,5 millones de dólares y cincuenta millones", ["3,5 millones de dólares", "cincuenta millones"]),
        ("zh", "三百名员工和一百二十回，一直有12亿元", ["三百", "一百二十", "12亿元"]),
        ("ar", "حضر خمسة وعشرون طالبا", ["خمسة وعشرون"]),
        ("hi", "दो सौ रुपये और ३.५ किलो", ["दो सौ रुपये", "३.५ किलो"]),
        # "$" belongs to one of two figures only.
        ("en", "0$0", ["0$", "0"]),
        # Dates and times.
        ("en", "on 3rd of May, 1820 or May 3, 1820 at 2:05 pm", ["3rd of May, 1820", "May 3, 1820", "2:05 pm"]),
        ("en", "in May and Dec. 5, 2019, she may march", ["May", "Dec. 5, 2019"]),
        (
            "en",
            "44 BC, AD 79, the 1820s, the 19th century, 2019–21",
            ["44 BC", "AD 79", "1820s", "19th century", "2019–21"],
        ),
        ("en", "12/11/10 and 2024-02-29T10:00", ["12/11/10", "2024-02-29T10:00"]),
        ("fr", "au XVe siècle, lundi à 14 h 05", ["XVe siècle", "lundi", "14 h 05"]),
        ("zh", "下午3点和1998年3月2日，公元前44年", ["下午3点", "1998年3月2日", "公元前44年"]),
        ("en", "A.D. 79 or 79 CE; 44 B.C.E., May 3 to 5 June", ["A.D. 79", "79 CE", "44 B.C.E.", "May 3 to 5 June"]),
        ("en", "on 3rd to 5th May, May 3–5, 1820 or March 3–1", ["3rd to 5th May", "May 3–5, 1820", "March 3", "–1"]),
        ("en", "on 5-3 May and May 3-15:00", ["5", "3 May", "May 3", "15:00"]),
        ("de", "vom 3. bis 5. Mai 1820, 79 n. Chr.", ["3. bis 5. Mai 1820", "79 n. Chr."]),
        ("fr", "du 3 au 5 mai 1820, 79 apr. J.-C.", ["3 au 5 mai 1820", "79 apr. J.-C."]),
        ("es", "del 3 al 5 de mayo de 1820, 79 d. C.", ["3 al 5 de mayo de 1820", "79 d. C."]),
        ("zh", "1998年5月3日至5日，公元79年下午3点半", ["1998年5月3日至5日", "公元79年", "下午3点半"]),
        ("ja", "5月3日から5日、紀元前44年の午後3時半", ["5月3日から5日", "紀元前44年", "午後3時半"]),
        # Halves.
        (
            "en",
            "two and a half million, one and a half hours, two and half",
            ["two and a half million", "one and a half hours", "two"],
        ),
        ("fr", "2 et demi et deux millions et demi", ["2 et demi", "deux millions et demi"]),
        (
            "de",
            "zweieinhalb Millionen, anderthalb Jahre, dreißig",
            ["zweieinhalb Millionen", "anderthalb Jahre", "dreißig"],
        ),
        ("en", r"1{,}000 or 10\,000", ["1{,}000", r"10\,000"]),
        # Telephone numbers.
        (
            "en",
            "(555) 010-9999, +1 (555) 010-9999, 1-555-010-9999",
            ["(555) 010-9999", "+1 (555) 010-9999", "1-555-010-9999"],
        ),
        (
            "de",
            "(030) 901820, 0049 30 901820, +49 (0)30 901820",
            ["(030) 901820", "0049 30 901820", "+49 (0)30 901820"],
        ),
        ("fr", "soit 12 345 678", ["12 345 678"]),
        ("en", "5 k, 1990-80, 1990–1985, 25:99, 5 à 7", ["5", "1990-80", "1990–1985", "25:99", "5", "7"]),
        ("en", "6.02×10^23, 1e5 or 3×10⁻⁴ m", ["6.02×10^23", "1e5", "3×10⁻⁴ m"]),
        ("en", "May-20, From-10, USD 45, AC 30 km", ["20", "10", "USD 45", "AC", "30 km"]),
        ("en", "10.11.12, 99/99/2020, at 12:30 am", ["10.11.12", "99", "99", "2020", "12:30 am"]),
        ("en", "the twentieth century, another century, sunday, 5 may", ["twentieth century", "5"]),
        ("en", "We met Capt. yesterday: type O, twenty thirty", ["Capt"]),
        ("fr", "les années 1990, XXe siècle, 12 34 56", ["années 1990", "XXe siècle", "12", "34", "56"]),
        ("fr", "soixante-dix, vingt-trente", ["soixante-dix"]),
        ("de", "1.234.567 Euro, zweiж", ["1.234.567 Euro"]),
        ("zh", "3月间，98年，13月40日", ["3", "98年", "13", "40日"]),
        ("zh", "三分之二，百分之五十，万一，他一三", ["三分之二", "百分之五十"]),
        ("ja", "3億5000万円", ["3億5000万円"]),
        ("xx", "two 3", ["3"]),
        # Quotations, codes, addresses.
        ("en", "“—” `42` and `foo`", ["42", "foo"]),
        ("en", "“The ‘Great’ Gatsby”, 'a return' and \"Emma.\"", ["The ‘Great’ Gatsby", "a return", "Emma"]),
        (
            "en",
            "call `run_all` or load_data(), RFC 2616, B-52, v2.3.1",
            ["run_all", "load_data()", "RFC 2616", "B-52", "v2.3.1"],
        ),
        ("en", "commit 3f2a9bc, me@example.org, +44 20 7946 0958", ["3f2a9bc", "me@example.org", "+44 20 7946 0958"]),
        ("en", "(see https://example.com/a_(b)?x=1).", ["https://example.com/a_(b)?x=1"]),
    ],
)
def test_specifics_and_their_borders(language: str, text: str, expected: list[str]) -> None:
    assert [one for one, _ in found(text, language)] == expected


@pytest.mark.parametrize(
    ("language", "a", "b"),
    [
        ("en", "$3.5m", "3,500,000 dollars"),
        ("en", "twenty-one", "21"),
        ("en", "2:05 pm", "14:05"),
        ("en", "3 May 1820", "1820-05-03"),
        ("en", "10–12 km", "10 to 12 kilometres"),
        ("en", "the U.S. Senate", "the US Senate"),
        ("en", "https://www.example.org/a/", "http://example.org/a"),
        ("en", "½", "0.5"),
        ("de", "1.234", "1234"),
        ("hi", "१२३", "123"),
        ("zh", "三万五千米", "35000米"),
        ("en", "+49 30 901820", "+49 30 9018 20"),
        ("en", "+49 30 901820", "0049 (0)30 901820"),
        ("en", "+1 (555) 010-9999", "1-555-010-9999"),
        ("de", "(030) 901820", "030/901820"),
        ("en", "44 BC", "44 B.C.E."),
        ("en", "AD 79", "79 CE"),
        ("en", "A.D. 79", "79 A.D."),
        ("de", "44 v. Chr.", "44 v.Chr."),
        ("fr", "44 av. J.-C.", "44 avant J.-C."),
        ("es", "44 a. C.", "44 a.C."),
        ("zh", "下午3点半", "15:30"),
        ("ja", "午後3時半", "15:30"),
        ("en", "two and a half million", "2.5 million"),
        ("en", "2 and a half hours", "2.5 h"),
        ("fr", "deux millions et demi", "2 500 000"),
        ("es", "dos millones y medio", "2,5 millones"),
        ("de", "dreißig", "30"),
        ("de", "zweieinhalb Jahre", "2,5 Jahre"),
        ("en", "3-5 May 1820", "May 3 to 5, 1820"),
        ("en", "3rd to 5th May", "May 3–5"),
        ("de", "3. bis 5. Mai 1820", "3.–5. Mai 1820"),
        ("zh", "5月3日至5日", "5月3-5日"),
        ("en", "1{,}000", "1,000"),
        ("en", r"10\,000", "10,000"),
        ("en", "10-15km", "10 to 15 km"),
        *(("en", spelt, "10–15 %") for spelt in ("10%-15%", "10% to 15%", "10 % – 15 %", "10 to 15 percent")),
        *(("en", spelt, "$10,000 to $15,000") for spelt in ("$10k-15k", "$10K–$15K", "$10-15k", "USD 10k to USD 15k")),
        ("en", "$10 million-$15 million", "$10M-15M"),
        ("en", "$10–15bn", "$10B to $15B"),
        ("en", "20°C-25°C", "20–25 °C"),
        ("en", "-10°C to -5°C", "-10 °C – -5 °C"),
        ("en", "5 days-10 days", "5-10 days"),
        ("en", "100-200GB", "100GB to 200GB"),
        ("en", "1,000-2,000GB", "1000 GB to 2000 GB"),
        ("en", "7B-70B", "7 billion to 70 billion"),
        ("en", "10M", "10 million"),
        ("en", "$1.5T", "1.5 trillion dollars"),
        ("en", "$15 B", "$15 billion"),
        ("en", "2x-3x faster", "2-3x faster"),
        ("en", "10x faster", "10 times faster"),
        *(("en", height, "5'11\"") for height in ("5’11”", "5 feet 11 inches", "5 ft 11 in", "5-foot-11")),
        ("en", "7 3/4 inches", "7.75 inches"),
        ("en", "2 1/2 hours", "two and a half hours"),
        ("en", "$12$", "12"),
        ("en", r"$3 \times 10^5$", "300,000"),
        ("en", r"$\frac{3}{4}$", "3/4"),
        ("en", r"$25\%$", "25 %"),
        ("en", "doi:10.1038/Nature12373.", "https://doi.org/10.1038/nature12373"),
        ("en", "(10.1016/S0140-6736(20)30183-5)", "10.1016/s0140-6736(20)30183-5"),
        ("en", "ISBN 978-3-16-148410-0", "ISBN-13: 9783161484100"),
        ("en", "in the Second World War", "in World War II"),
        ("en", "in the USA", "in the United States"),
        ("en", "in the United States of America", "in the U.S."),
        ("de", "10 % bis 15 %", "10-15 %"),
        ("fr", "10 000 € à 15 000 €", "10.000-15.000 €"),
        ("fr", "de 10h-15h", "10-15 heures"),
        ("es", "10 km a 15 km", "10-15 km"),
        ("zh", "7B到70B", "70亿到700亿"),
        ("zh", "10M用户", "1000万用户"),
        ("ja", "100K人", "10万人"),
        ("zh", "3-2胜", "3–2胜"),
        ("en", "5–10mg", "5-10 mg"),
        ("en", "6.02×10^23", "602e21"),
        ("en", "6.02214076e23", "602,214,076,000,000,000,000,000"),
        ("en", "18446744073709551616", "18,446,744,073,709,551,616"),
        ("en", "10^36", "1" + ",000" * 12),
        ("fr", "1 234 567,1234567890123", "1234567,1234567890123"),
        ("en", "12:30 am", "00:30"),
        ("en", "twentieth century", "20th century"),
        ("es", "siglo XX", "20th century"),
        ("zh", "一九三六", "1936"),
        ("zh", "百分之五十", "50%"),
        ("ja", "3億5000万円", "350000000円"),
        ("en", "`foo`", "`foo`"),
    ],
)
def test_equal_specifics_support_each_other(language: str, a: str, b: str) -> None:
    one, other = only(a, language), only(b, language)
    assert one.supported_by(other)
    assert other.supported_by(one)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("$20", "€20"),
        ("12 km", "12 miles"),
        ("3 million", "3 billion"),
        ("Marie Curie", "Pierre Curie"),
        ("Paris Hilton", "by Paris"),
        ("1820s", "1820"),
        ("3–1", "1–3"),
        ("RFC 2616", "RFC 2617"),
        ("+49 30 901820", "+43 30 901820"),
        ("44 BC", "AD 44"),
        ("3-5 May 1820", "3-6 May 1820"),
        ("3-5 May 1820", "4 May 1820"),
        ("two and a half million", "two million"),
        ("18446744073709551616", "18446744073709551617"),
        ("3.14159265358979323846", "3.14159265358979323847"),
        ("1" + "0" * 39 + "1 million", "1" + "0" * 39 + "2 million"),
        ("1" + ",000" * 12 + ",001", "1" + ",000" * 12 + ",002"),
        ("in the First World War", "in the Second World War"),
        ("of the Third Army", "of the Second Army"),
        ("6'6\"", "66"),
        ("7 3/4 inches", "7 inches"),
        (r"$\frac{3}{4}$", r"$\frac{4}{3}$"),
    ],
)
def test_different_specifics_do_not(a: str, b: str) -> None:
    one, other = specifics(a)[0], specifics(b)[0]
    assert not one.supported_by(other)
    assert not other.supported_by(one)


def test_a_date_supports_its_parts_and_not_the_other_way_round() -> None:
    full, month, year = only("3 May 1820"), only("May 1820"), only("in 1820")
    assert year.supported_by(full)
    assert month.supported_by(full)
    assert not full.supported_by(year)
    assert not month.supported_by(year)


def test_days_from_one_to_another_state_both_and_need_both() -> None:
    days, without_year = only("3-5 May 1820"), only("May 3–5")
    for part in ("3 May 1820", "5 May 1820", "May 1820", "1820"):
        assert only(part).supported_by(days)
        assert not days.supported_by(only(part))
    assert without_year.supported_by(days)
    assert not days.supported_by(without_year)
    both = TextFacts("3 May 1820 and 5 May 1820", tuple(specifics("3 May 1820 and 5 May 1820")))
    assert both.holds(days.needs)


@pytest.mark.parametrize(
    ("full", "national"),
    [
        ("+1 (555) 010-9999", "555-010-9999"),
        ("+1 (555) 010-9999", "(555) 010-9999"),
        ("+49 30 901820", "030 901820"),
        ("+7 495 123-45-67", "495 123-45-67"),
        ("+353 21 234 5678", "021 234 5678"),
    ],
)
def test_a_telephone_number_with_its_country_supports_the_one_without(full: str, national: str) -> None:
    long, short = only(full), only(national)
    assert short.supported_by(long)
    assert not long.supported_by(short)


def test_an_open_date_is_supported_by_itself_and_by_either_reading() -> None:
    open_date = only("12/11/10")
    assert open_date.supported_by(only("12/11/10"))
    assert open_date.supported_by(only("12 November 2010"))
    assert open_date.supported_by(only("December 11, 2010"))
    assert not only("12 November 2010").supported_by(open_date)


def test_the_language_decides_what_a_comma_is() -> None:
    assert only("1,5", "de").supported_by(only("1.5", "de"))
    assert not only("1.234", "en").supported_by(only("1234", "en"))
    assert only("1.234", "de").supported_by(only("1234", "de"))


def test_given_names_take_the_place_of_those_of_rules() -> None:
    text = "Marie Curie was in Warsaw in 1867."
    assert [one.text for one in specifics(text, names=[(0, 11)])] == ["Marie Curie", "1867"]
    assert [one.text for one in specifics(text, names=[])] == ["1867"]
    # One that covers a date is left out.
    assert [one.text for one in specifics(text, names=[(19, 33)])] == ["1867"]
    assert [one.text for one in specifics("ソニーは1867年", "ja", names=[(0, 3)])] == ["ソニー", "1867年"]


def test_what_is_no_number_has_no_value() -> None:
    assert number_value("1.2,3.4", "en") is None
    assert words_value(["two", "cats"], "en") is None
    assert words_value(["twenty", "thirty"], "en") is None


def test_what_stands_behind_a_figure() -> None:
    assert suffix("3 million km", 1, "en", money=False) == (12, 6, "km")
    assert suffix("3 million km", 1, "en", money=True) == (9, 6, None)
    assert suffix("3万亿亿元", 1, "zh", money=False) == (5, 20, "cny")
    assert suffix("3万亿亿亿元", 1, "zh", money=False) == (5, 28, None)  # three words at most
    assert suffix("3 cats", 1, "en", money=False) == (1, 0, None)


def test_folding_and_words() -> None:
    assert folded("O’Neill's  CAFÉ") == "o'neill cafe"
    assert words_of("The U.S. — Marie\nCurie's!") == "the us marie curie"
    assert words_of("in the U.S.A, J.R.R. Tolkien; U.S.-based p.m.The James' x.y a.bc.d.") == (
        "in the usa jrr tolkien us based pmthe james x y a bc d"
    )
    assert words_of("_U.S._ 2.A.B. o'clock's 'tis") == "us 2 ab o clock tis"


def test_words_between_cuts() -> None:
    text = "The U.S. Mint’s coin_book, 1893年に"
    words, before = words_with_cuts(text, [4, 8, 9, 13, 27, 31])
    assert words == ["the", "us", "mint", "coin", "book", "1893", "年に"]
    assert [text[at:] for at in before] == [
        text,
        "U.S. Mint’s coin_book, 1893年に",
        " Mint’s coin_book, 1893年に",
        "Mint’s coin_book, 1893年に",
        "’s coin_book, 1893年に",
        "1893年に",
        "年に",
        "",
    ]
    # The possessive behind the cut is no word of its own.
    assert list(before.values()) == [0, 1, 2, 2, 3, 5, 6, 7]
    assert words_with_cuts("", []) == ([], {0: 0})


@given(st.text(max_size=40), st.data())
def test_whatever_the_text_every_cut_has_its_words_before_it(text: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(text))))
    words, before = words_with_cuts(text, cuts)
    assert set(before) == {0, len(text), *cuts}
    assert list(before.values()) == sorted(before.values())
    assert before[len(text)] == len(words)
    assert "_" not in " ".join(words)


def test_all_that_folding_makes_an_underscore_of_divides_words() -> None:
    low_lines = [one for one in map(chr, range(0x110000)) if "_" in unicodedata.normalize("NFKD", one)]
    assert len(low_lines) == 7
    for one in low_lines:
        assert words_of(f"a{one}b") == "a b"
        assert words_with_cuts(f"a{one}b", [1]) == (["a", "b"], {0: 0, 1: 1, 3: 2})


@given(st.text(alphabet="ab. é'_1ß年", max_size=40), st.data())
def test_words_between_cuts_are_the_words_of_the_pieces_where_cuts_are_white_space(
    text: str, data: st.DataObject
) -> None:
    spaces = [at for at, letter in enumerate(text) if letter == " "]
    cuts = data.draw(st.lists(st.sampled_from(spaces), unique=True)) if spaces else []
    words, before = words_with_cuts(text, cuts)
    assert " ".join(words) == words_of(text)
    assert all(before[at] == len(words_of(text[:at]).split()) for at in before)


@given(st.text(max_size=60))
@example("".join(f"{mark}a" for mark in map(chr, range(0x2190, 0x2200))))
def test_without_cuts_all_words_are_found(text: str) -> None:
    assert words_with_cuts(text, [])[0] == words_of(text).split()


TEXTS = st.lists(
    st.one_of(
        st.text(max_size=30),
        st.sampled_from(
            [
                *(
                    "3 May 1820",
                    "$3.5m",
                    "Marie Curie",
                    "“a b”",
                    "\n- Oslo",
                    "v1.2.3",
                    "12/11/10",
                    "三百米",
                    "१२३",
                    "'s",
                ),
                *(
                    "12345678901234567890",
                    "6.02214076e23",
                    "1,000,000",
                    "1 234 567,12345678901",
                    "分之",
                    "世纪",
                    "年代",
                    "12V",
                    "个半小时",
                    "½",
                ),
            ]
        ),
    ),
    max_size=12,
).map("".join)


@given(TEXTS, st.sampled_from(["en", "de", "fr", "es", "zh", "ja", "ar", "hi", "xx"]))
def test_whatever_the_text_spans_are_its_own_and_do_not_overlap(text: str, language: str) -> None:
    done = 0
    for one in specifics(text, language):
        assert done <= one.start < one.end <= len(text)
        assert text[one.start : one.end] == one.text
        assert one.supported_by(one)
        # Half of a figure is another one.
        for at in {one.start, one.end} - {0, len(text)}:
            assert not (text[at - 1].isdecimal() and text[at].isdecimal())
        done = one.end


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "In Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch.", None),
        ("zh", "在Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogochxyz。", None),
        ("de", "Siehe Überblick.pdf.", "Überblick.pdf"),
        ("de", "Post an müller@beispiel.de.", "müller@beispiel.de"),
        ("de", "Siehe https://de.wikipedia.org/wiki/Münster.", "https://de.wikipedia.org/wiki/Münster"),
        ("de", "Siehe de.example/wiki/Größe.", "de.example/wiki/Größe"),
    ],
)
def test_long_and_accented_words_are_whole(language: str, text: str, expected: str | None) -> None:
    assert [one.text for one in specifics(text, language)] == [expected or text[1 if language == "zh" else 3 : -1]]


def test_letters_beside_ascii_bound_no_name_in_code() -> None:
    assert [one.text for one in specifics("in größe_max, in foo_barß and in ßnp.array()")] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("commit 2.1e2a3b4c5d", ["2", "1e2a3b4c5d"]),
        ("It is 6.02214076e23.", ["6.02214076e23"]),
        ("In 2019-20m it was.", ["2019", "20m"]),
        ("It took 1-1min.", ["1", "1min"]),
        ("See foo_bar()ü.", ["foo_bar()"]),
    ],
)
def test_hashes_behind_points_and_units_behind_what_is_no_range(text: str, expected: list[str]) -> None:
    assert [one.text for one in specifics(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # What rises, and what falls, is two numbers, and so are amounts of two units.
        ("It rose from 10% to 15%.", ["10%", "15%"]),
        ("It fell 15% to 10%, or 100%-60%.", ["15%", "10%", "100%", "60%"]),
        ("Take 500MB-1GB, or 10k-15 km.", ["500MB", "1GB", "10k", "15 km"]),
        ("The 747-400F and 1,200MB-2GB.", ["747-400F", "1,200MB", "2GB"]),
        # A figure is whole: 60/2 is another share, and 2.5 has no 5.
        ("60/2.5 = 24", ["60", "2.5", "24"]),
        ("12.6-4.6=8", ["12.6", "4.6", "8"]),
        ("5-0.5=4.5", ["5", "0.5", "4.5"]),
        # Letters behind figures are variables in sums.
        ("So 3M + 3M = 101, 2x - 20 = 4x, and $1.5x = 7B.", ["101", "20"]),
        ("Kim has 4x cookies.", ["Kim"]),
        ("It costs $10k-€15k.", ["$10k", "€15k"]),
        ("Most Americans left.", ["Americans"]),
        ("It costs $5 and $10, or $3-$5.", ["$5", "$10", "$3-$5"]),
        ("In 2021 3/4 of them, 1'000'000 in all.", ["2021", "3/4", "1'000'000"]),
        ("He ate 5 apples [1] and pears.[2, 3] With x = [7, 8].", ["5", "7", "8"]),
        ("Subtract 5 from both sides.", ["5"]),
    ],
)
def test_two_amounts_sums_and_variables(text: str, expected: list[str]) -> None:
    assert [one.text for one in specifics(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Education\nHe was in Oslo.", ["Oslo"]),
        ("Director: Ridley Scott\nStarring: Sigourney Weaver", ["Ridley Scott", "Sigourney Weaver"]),
        ("He knew Paris,\nLondon and Rome.", ["Paris", "London", "Rome"]),
        ("at the house of Ridley Scott\nThe end", ["Ridley Scott"]),
        ("at the house of Ridley\nScott", ["Ridley\nScott"]),
        ("a friend of Ursula\nvon der Leyen.", ["Ursula\nvon der Leyen"]),
        ("Marie\nCurie", ["Marie\nCurie"]),
    ],
)
def test_a_line_break_is_in_a_name_where_prose_was_wrapped(text: str, expected: list[str]) -> None:
    assert [one.text for one in specifics(text)] == expected


def test_a_century_of_more_digits_is_none() -> None:
    assert [one.text for one in specifics("1234世纪", "zh")] == ["1234"]
    assert [one.text for one in specifics("12020年代", "zh")] == ["12020"]


def test_a_run_of_very_many_digits_is_no_figure() -> None:
    assert [len(one.text) for one in specifics(f"{'7' * 300} and {'7' * 301}")] == [300]


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "1.",
        "1,",
        "1-",
        "1 1 ",
        "A",
        "A.",
        "a ",
        "Aa ",
        "Aa-",
        "Aa's ",
        "\n",
        '"',
        "'",
        "“",
        "`",
        "_",
        "a_",
        "1:",
        "()",
        "a@",
        "http://",
        "http://)",
        "3 May ",
        "May ",
        "1½",
        "$",
        "-",
        "two hundred ",
        "三",
        "年1",
        "ア",
        "ア・",
        "van ",
        "de la ",
        "|",
        "I. ",
        "\t-",
        "«",
        "U.S.",
        "0x",
        "aB",
        "1/",
        "1–",
        "Dr. ",
        "AB CD\n",
        "Aa.\n",
        "- Aa ",
        "1 to ",
        "1{,}",
        "(01) ",
        "+1 (",
        "a1A",
        "centur",
        "two and a half ",
        "A\n",
        "Aa b Cc\n",
        "$1$",
        "a[1]",
        "1k-",
        "5'1\"",
        "7 3/4 ",
        "10.1234/",
        "1M-1M",
    ],
)
@pytest.mark.parametrize("language", ["fr", "ja"])
def test_repetition_confuses_no_pattern(piece: str, language: str) -> None:
    text = piece * (20_000 // len(piece))
    for one in specifics(text, language)[:50]:
        assert text[one.start : one.end] == one.text


@pytest.mark.parametrize("piece", ["A\n", "Aa b Cc\n"])
def test_time_grows_with_the_text_and_not_with_its_square(piece: str) -> None:
    def seconds(size: int) -> float:
        started = time.process_time()
        specifics(piece * size)
        return time.process_time() - started

    # Sixty-four times the time for eight times the text would be the square.
    assert seconds(320_000) < 16 * min(seconds(40_000) for _ in range(2))


def test_a_megabyte_of_noise() -> None:
    chance = random.Random(0)
    letters = string.ascii_letters + string.digits + " .,:;-–'\"$%()\n三年アé"
    text = "".join(chance.choices(letters, k=1_000_000))
    assert specifics(text)


@pytest.mark.parametrize(("code", "bare"), [("de-AT", "de"), ("en_US", "en"), ("FR-ca", "fr"), ("zh-Hant-TW", "zh")])
def test_a_region_changes_nothing(code: str, bare: str) -> None:
    text = "Zum ersten Mal am 3. Mai 1820: deux cents, two hundred, 二百, Herr Mal in Wien."
    assert specifics(text, code) == specifics(text, bare)


def test_what_is_no_language_code_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="language must be a code like 'en'"):
        specifics("in Oslo", "English please")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("George H. W. Bush", "George Herbert Walker Bush", True),
        ("George H. W. Bush", "George Bush", True),
        ("George H. W. Bush", "George W. Bush", False),
        ("John F. Kennedy", "John Fitzgerald Kennedy", True),
        ("Martin Luther King, Jr.", "Martin Luther King Jr.", True),
        ("Martin Luther King, Jr.", "Martin Luther King", True),
    ],
)
def test_a_middle_name_may_be_left_out_or_shortened_and_is_no_other(one: str, other: str, same: bool) -> None:
    (first,), (second,) = specifics(one), specifics(other)

    assert first.supported_by(second) == second.supported_by(first) == same


def test_particles_of_another_language_and_codes_of_many_parts() -> None:
    assert [one.text for one in specifics("con Ursula von der Leyen", "es")] == ["Ursula von der Leyen"]
    assert [one.text for one in specifics("avec Ludwig van Beethoven", "fr")] == ["Ludwig van Beethoven"]
    assert [one.text for one in specifics("published in 1955 (ISBN 978-3-16-148410-0)")] == [
        "1955",
        "ISBN 978-3-16-148410-0",
    ]
    (amount,) = specifics("राजस्व ₹2.25 लाख करोड़ रहा", "hi")
    assert "n:2250000000000:inr" in amount.states


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("About one in five adults smoke.", ["one in five"]),
        ("It hits 1 in 10,000 births, three out of four of them boys.", ["1 in 10,000", "three out of four"]),
        ("He scored three in ten minutes.", ["three", "ten minutes"]),
        ("She was one in a million.", ["one in a million"]),
        ("It opened 2 in 1999 and 3 in 12 towns.", ["2", "1999", "3", "12"]),
        ("Seven in three teams.", ["Seven", "three"]),
        ("The walk takes two-and-a-half hours.", ["two-and-a-half hours"]),
        ("Its rating is 3.5 out of 5; another gave it four out of five stars.", ["3.5 out of 5", "four out of five"]),
        ("It is 3.5 out of 5 miles.", ["3.5", "5 miles"]),
        ("A rating of 5 out of 5, not of 4 out of two stars.", ["5 out of 5", "4", "two"]),
    ],
)
def test_proportions_and_halves_with_hyphens(text: str, expected: list[str]) -> None:
    assert [one.text for one in specifics(text)] == expected


def test_a_proportion_is_its_fraction() -> None:
    (one_in_five,) = specifics("one in five")

    assert one_in_five.supported_by(specifics("1/5 of them")[0])
    assert one_in_five.supported_by(specifics("Overall, 20 out of 100 do.")[0])
    assert not one_in_five.supported_by(specifics("five of them")[0])


def test_a_century_may_be_written_in_one_with_its_figure() -> None:
    assert [one.text for one in specifics("early 21stcentury art")] == ["21stcentury"]


@pytest.mark.parametrize(
    ("text", "language"), [("他说'今日はよい'。", "zh"), ("彼は'a b'と言った。", "ja"), ("قال'a b'", "ar")]
)
def test_where_words_stand_without_spaces_a_quotation_begins_behind_a_letter(text: str, language: str) -> None:
    quoted = text.split("'")[1]
    assert [(one.text, one.kind) for one in specifics(text, language)] == [(quoted, "title")]


@pytest.mark.parametrize("rating", ["4 out of 5 stars", "rated four out of five", "a 4 out of 5 rating"])
def test_a_rating_is_its_figure_and_no_share(rating: str) -> None:
    four = specifics(rating)[-1]

    assert four.supported_by(specifics("stars: 4.0")[0])
    assert not four.supported_by(specifics("four in five guests")[0])
