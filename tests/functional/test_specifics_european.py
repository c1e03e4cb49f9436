"""English, German, French and Spanish: kinds of specifics with their borders, and what is none."""

from __future__ import annotations

import pytest

from opik_checkembed.functional.specifics import Specific, specifics


def found(text: str, language: str) -> list[tuple[str, str]]:
    return [(one.text, one.kind) for one in specifics(text, language)]


def of_kind(kind: str, text: str, language: str) -> list[str]:
    return [one for one, its in found(text, language) if its == kind]


def only(text: str, language: str) -> Specific:
    (one,) = specifics(text, language)
    return one


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        # Units, also one per another.
        ("en", "0.5 mg/kg, 250 µg/m³, 9.8 m/s², 500 MB/s", ["0.5 mg/kg", "250 µg/m³", "9.8 m/s²", "500 MB/s"]),
        ("en", "at 120 miles per hour on 8 l/100 km", ["120 miles per hour", "8 l/100 km"]),
        ("en", "5 mg per day, 40 square metres, 3 cubic metres", ["5 mg", "40 square metres", "3 cubic metres"]),
        ("en", "101.3 kPa, 760 mmHg, 3 kWh and 5,000 mAh", ["101.3 kPa", "760 mmHg", "3 kWh", "5,000 mAh"]),
        ("en", "20 knots for 300 nautical miles in two decades", ["20 knots", "300 nautical miles", "two decades"]),
        ("de", "120 Kilometern pro Stunde, 3 Kubikmeter", ["120 Kilometern pro Stunde", "3 Kubikmeter"]),
        ("fr", "130 kilomètres par heure, 3 mètres cubes", ["130 kilomètres par heure", "3 mètres cubes"]),
        ("es", "120 kilómetros por hora, 3 metros cúbicos", ["120 kilómetros por hora", "3 metros cúbicos"]),
        # Currencies.
        ("en", "CA$25, HK$300, R$40, Rs 500, 500 SEK, 99¢", ["CA$25", "HK$300", "R$40", "Rs 500", "500 SEK", "99¢"]),
        ("de", "5.000 Schweizer Franken, 300 US-Dollar", ["5.000 Schweizer Franken", "300 US-Dollar"]),
        ("fr", "1,5 M€, 3 Md€, 200 francs suisses", ["1,5 M€", "3 Md€", "200 francs suisses"]),
        ("es", "1,5 M€, 200 libras esterlinas, 50 céntimos", ["1,5 M€", "200 libras esterlinas", "50 céntimos"]),
        # Fractions in words.
        ("en", "two-thirds, three quarters and one-fifth", ["two-thirds", "three quarters", "one-fifth"]),
        ("de", "Zwei Drittel und drei Viertel, ein Fünftel", ["Zwei Drittel", "drei Viertel", "ein Fünftel"]),
        ("fr", "deux tiers, trois quarts", ["deux tiers", "trois quarts"]),
        ("es", "dos tercios, tres cuartas partes", ["dos tercios", "tres cuartas partes"]),
        # Ranges are one; what stands between two is two, and so is a fall.
        ("en", "two to three hours, five to six", ["two to three hours", "five to six"]),
        ("en", "between two and three hours, ten or twelve", ["two", "three hours", "ten", "twelve"]),
        ("en", "it fell from 20 to 12", ["20", "12"]),
        ("de", "zwei bis drei Stunden, zwischen zwanzig und dreißig", ["zwei bis drei Stunden", "zwanzig", "dreißig"]),
        ("fr", "deux à trois heures, entre vingt et trente", ["deux à trois heures", "vingt", "trente"]),
        ("es", "dos a tres horas, entre treinta y cuarenta", ["dos a tres horas", "treinta", "cuarenta"]),
        # Ordinals; a second is a time as well, and a capital makes a name.
        ("en", "her second medal, the third-largest, a second later", ["second", "third"]),
        ("en", "the second day of three days, X/2", ["second", "three days", "2"]),
        ("de", "der dritte Tag, die vierte Stunde", ["dritte", "vierte"]),
        ("en", "a five-year plan and half a million", ["five-year", "half a million"]),
        ("de", "seine 14. Niederlage und der dritte Platz. Es waren 14. Dann", ["14.", "dritte", "14"]),
        ("de", "die einundzwanzigste Sitzung; wir achten darauf", ["einundzwanzigste"]),
        ("fr", "sa deuxième victoire, le 21e match, une seconde", ["deuxième", "21e"]),
        ("es", "en segundo lugar, su 21.º partido, un segundo", ["segundo", "21.º"]),
    ],
)
def test_numbers(language: str, text: str, expected: list[str]) -> None:
    assert of_kind("number", text, language) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        # From one to another.
        ("en", "28 May – 3 June 2019, June 5–July 2", ["28 May – 3 June 2019", "June 5–July 2"]),
        (
            "en",
            "Monday to Friday, Mon–Fri, March 2019 to June 2020",
            ["Monday to Friday", "Mon–Fri", "March 2019 to June 2020"],
        ),
        ("de", "vom 28. Mai bis 3. Juni 2019, Montag bis Freitag", ["28. Mai bis 3. Juni 2019", "Montag bis Freitag"]),
        ("fr", "du 28 mai au 3 juin 2019, du lundi au vendredi", ["28 mai au 3 juin 2019", "lundi au vendredi"]),
        ("es", "del 28 de mayo al 3 de junio, de lunes a viernes", ["28 de mayo al 3 de junio", "lunes a viernes"]),
        ("en", "the season 1999/2000 and 2019/20, rule 2016/679", ["1999/2000", "2019/20"]),
        # Centuries, eras, decades.
        ("en", "the 5th century BC, the 2nd century AD", ["5th century BC", "2nd century AD"]),
        ("en", "10,000 BC and 69–30 BC", ["10,000 BC", "69–30 BC"]),
        (
            "de",
            "im 5. Jahrhundert v. Chr., im 19. Jh. und im neunzehnten Jahrhundert",
            ["5. Jahrhundert v. Chr.", "19. Jh.", "neunzehnten Jahrhundert"],
        ),
        (
            "fr",
            "au Ve siècle av. J.-C., au XIXᵉ siècle, au dix-neuvième siècle",
            ["Ve siècle av. J.-C.", "XIXᵉ siècle", "dix-neuvième siècle"],
        ),
        ("es", "el siglo V a. C., el s. XVI, los siglos XVI y XVII", ["siglo V a. C.", "s. XVI", "siglos XVI y XVII"]),
        ("en", "the '90s, the 1980s, the twenties; she is in her thirties", ["'90s", "1980s", "twenties"]),
        (
            "de",
            "in den 1980er Jahren, 80er-Jahren, zwanziger Jahren",
            ["1980er Jahren", "80er-Jahren", "zwanziger Jahren"],
        ),
        ("fr", "les années 1980, les années soixante-dix", ["années 1980", "années soixante-dix"]),
        ("es", "los años 80, los años veinte, la década de 1990", ["años 80", "años veinte", "década de 1990"]),
        # Times of day.
        (
            "en",
            "9 a.m. to 5 p.m., 9–5pm, 9:00–17:30, seven o'clock",
            ["9 a.m. to 5 p.m.", "9–5pm", "9:00–17:30", "seven o'clock"],
        ),
        ("en", "at 14:00 UTC on 2021-03-05T14:30:00Z", ["14:00 UTC", "2021-03-05T14:30:00Z"]),
        ("de", "9 bis 17 Uhr, acht Uhr, am Freitagabend", ["9 bis 17 Uhr", "acht Uhr", "Freitagabend"]),
        ("fr", "à 8 h, de 9 h à 18 h; il dura 3 h", ["8 h", "9 h à 18 h"]),
        ("es", "a las 17.30 h, a las 8 de la tarde; duró 3 h", ["17.30 h", "8 de la tarde"]),
    ],
)
def test_dates(language: str, text: str, expected: list[str]) -> None:
    assert of_kind("date", text, language) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "en",
            "ISO/IEC 27001:2013, IEEE 802.11ax, MIL-STD-810G",
            ["ISO/IEC 27001:2013", "IEEE 802.11ax", "MIL-STD-810G"],
        ),
        (
            "de",
            "Laut DIN EN ISO 9001, DIN EN 1992-1-1 und VDE 0100-410",
            ["DIN EN ISO 9001", "DIN EN 1992-1-1", "VDE 0100-410"],
        ),
        ("fr", "la norme NF EN 1090-2", ["NF EN 1090-2"]),
        ("es", "la norma UNE-EN ISO 9001", ["UNE-EN ISO 9001"]),
        (
            "en",
            "C-131/12, 2021-AB-0457, AB-2045-X, CVE-2021-44228",
            ["C-131/12", "2021-AB-0457", "AB-2045-X", "CVE-2021-44228"],
        ),
        ("en", "a locus at 7q31.2, but 5-GB disks and 3 m2 of it", ["7q31.2"]),
        ("de", "Nach § 823 Abs. 1 BGB haftet er.", ["§ 823 Abs. 1 BGB"]),
        ("en", "version 3.12 weighs 2.5 kg", ["3.12"]),
        ("fr", "la version 2.4", ["2.4"]),
        ("en", "edit config.yaml with --dry-run, then np.array()", ["config.yaml", "--dry-run", "np.array()"]),
        ("en", "Node.js is fast. It is so.md", []),
    ],
)
def test_identifiers(language: str, text: str, expected: list[str]) -> None:
    assert [one for one in of_kind("identifier", text, language) if one != "so.md"] == expected


def test_addresses_of_other_domains() -> None:
    assert found("contact@mairie-exemple.fr", "fr") == [("contact@mairie-exemple.fr", "identifier")]
    assert found("see bbc.co.uk/news.", "en") == [("bbc.co.uk/news", "url")]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        # What opens a sentence: by what follows, or because it is known.
        ("en", "Augustus, who ruled, died. Lagos hosts games.", ["Augustus", "Lagos"]),
        ("en", "Cleopatra (69–30 BC) ruled. Tesla, Ford and Fiat cut prices.", ["Cleopatra", "Tesla", "Ford", "Fiat"]),
        ("en", "Dutch farmers protested. Germans cheered.", ["Dutch", "Germans"]),
        ("fr", "Napoléon fut sacré. Airbus a livré des avions.", ["Napoléon", "Airbus"]),
        ("es", "Cervantes escribió la novela. Zara vendió mucho.", ["Cervantes", "Zara"]),
        # What stands before them.
        ("en", "Former President Jimmy Carter, visiting. Visiting Rome, she left.", ["President Jimmy Carter", "Rome"]),
        ("en", "Lawyers for Acme Corp. agreed.", ["Acme Corp."]),
        ("fr", "M. Dupont et Mme Martin", ["Dupont", "Martin"]),
        ("de", "Die Physikerin Lise Meitner und der Maler Max Ernst", ["Lise Meitner", "Max Ernst"]),
        (
            "de",
            "Bundeskanzlerin Angela Merkel und Herr Dr. Hans Meier",
            ["Bundeskanzlerin Angela Merkel", "Hans Meier"],
        ),
        (
            "de",
            "Die Stadt Frankfurt am Main und Karl der Große, Friedrich II. und andere",
            ["Frankfurt am Main", "Karl der Große", "Friedrich II."],
        ),
        # A possessive, an "and" or a number inside.
        ("en", "at King's College London and St. John's College", ["King's College London", "St. John's College"]),
        ("en", "at McDonald's with Parkinson's disease", ["McDonald's", "Parkinson"]),
        ("en", "the Food and Drug Administration of Rome and Paris", ["Food and Drug Administration of Rome", "Paris"]),
        (
            "en",
            "Trinidad and Tobago, the Ministry of Education and Science",
            ["Trinidad and Tobago", "Ministry of Education and Science"],
        ),
        ("es", "el Ministerio de Ciencia e Innovación", ["Ministerio de Ciencia e Innovación"]),
        (
            "en",
            "Section 12(b) and Article 6(1)(a), Symphony No. 9",
            ["Section 12(b)", "Article 6(1)(a)", "Symphony No. 9"],
        ),
        ("en", "Muhammad ibn Musa al-Khwarizmi", ["Muhammad ibn Musa al-Khwarizmi"]),
        ("fr", "avec J.-P. Sartre", ["J.-P. Sartre"]),
    ],
)
def test_names(language: str, text: str, expected: list[str]) -> None:
    assert of_kind("name", text, language) == expected


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Prices rose sharply and shoppers stayed home."),
        ("en", "Students, who often sleep too little, tend to forget more."),
        ("en", "Sure! Here's a quick way to clean a pan. Good luck! Practice makes perfect."),
        ("en", "Interest fell. Demand weakened. Critics complained. Officials declined to comment."),
        ("en", "Wait a second. Every second counts."),
        ("de", "Gute Butter braucht Zeit. Frische Kräuter schmecken. Heißes Wasser löst Fett."),
        ("de", "Setzen Sie sich. Eine Prise Salz und ein Glas Wasser genügen."),
        ("de", "Guten Morgen! Gerne helfe ich Ihnen. Schreiben Sie mir, wenn Sie Fragen haben."),
        ("de", "Wenn Menschen Angst haben, tritt das Gesetz in Kraft, in Folge und in Ruhe."),
        ("de", "Nach Angaben der Polizei blieb die Straße bis Mitternacht gesperrt."),
        ("de", "Ein Spaziergang im Wald hilft gegen Müdigkeit und schlechte Laune."),
        ("fr", "Rien n'est plus simple. Marcher fait du bien. Bonne question !"),
        ("es", "Nadie sabe por qué soñamos. Beber agua ayuda. Espera un segundo."),
    ],
)
def test_everyday_text_has_none(language: str, text: str) -> None:
    assert found(text, language) == []


@pytest.mark.parametrize(
    ("language", "a", "b"),
    [
        ("en", "two-thirds", "2/3"),
        ("de", "drei Viertel", "3/4"),
        ("en", "100 km/h", "100 kilometres per hour"),
        ("en", "60 mph", "60 miles per hour"),
        ("fr", "1,5 M€", "1,5 million d'euros"),
        ("en", "two to three hours", "2–3 hours"),
        ("en", "half a million", "500,000"),
        ("fr", "deuxième", "2e"),
        ("de", "dritten", "3"),
        ("es", "siglo XVI", "s. XVI"),
        ("en", "5th century BC", "fifth century BC"),
        ("de", "1980er Jahre", "80er-Jahre"),
        ("en", "28 May – 3 June 2019", "28 May to 3 June 2019"),
        ("en", "seven o'clock", "7:00"),
        ("fr", "8 h du soir", "20:00"),
        ("en", "ISO/IEC 27001", "ISO/IEC 27001"),
    ],
)
def test_equal(language: str, a: str, b: str) -> None:
    one = specifics(f"à {a}" if a.startswith("8 h") else a, language)[0]
    assert one.supported_by(only(b, language))
    assert only(b, language).supported_by(one)


@pytest.mark.parametrize(
    ("language", "a", "b"),
    [
        ("en", "5th century BC", "5th century"),
        ("en", "two-thirds", "three quarters"),
        ("en", "5 mg/kg", "5 mg/l"),
        ("en", "HK$300", "R$300"),
        ("fr", "ISO/IEC 27001", "ISO/IEC 27002"),
        ("en", "Monday to Friday", "Monday to Saturday"),
        ("es", "años veinte", "años treinta"),
    ],
)
def test_different(language: str, a: str, b: str) -> None:
    assert not only(a, language).supported_by(only(b, language))
    assert not only(b, language).supported_by(only(a, language))


def test_short_forms() -> None:
    assert only("Chief Justice Marian O'Dell", "en").supported_by(only("O'Dell", "en"))
    assert only("Johann Wolfgang von Goethe", "de").supported_by(only("Goethe", "de"))


@pytest.mark.parametrize("piece", ["Monday to ", "5 h à ", "King's College ", "A1-", "()", "two to three and ", "a/"])
@pytest.mark.parametrize("language", ["en", "fr"])
def test_repetition_confuses_nothing(piece: str, language: str) -> None:
    text = piece * (40_000 // len(piece))
    for one in specifics(text, language)[:50]:
        assert text[one.start : one.end] == one.text


def test_a_date_ends_one_stretch_only() -> None:
    assert of_kind("date", "Monday to Tuesday to Wednesday", "en") == ["Monday to Tuesday", "Wednesday"]


def test_dollars_of_other_countries_are_no_american_ones() -> None:
    (us,), (ca,), (au,), (plain,) = (specifics(f"{sign}25") for sign in ("US$", "C$", "A$", "$"))

    assert us.supported_by(plain)
    assert not ca.supported_by(us)
    assert not au.supported_by(us)
    assert ca.supported_by(specifics("CAD 25")[0])
