"""What names are found with; see `names`.

Each pattern is bounded, so that time grows with the length of the text and no faster.
"""

from __future__ import annotations

import re
from functools import lru_cache

from opik_checkembed.functional.specifics.pattern_parts import GAP, LATIN_WORD, NO_LETTER, SPACES, TAKEN, UPPER
from opik_checkembed.functional.specifics.vocabulary import (
    ABBREVIATIONS,
    GERMAN_EPITHETS,
    GERMAN_WATERS,
    HONORIFICS,
    LEADING_PARTICLES,
    PARTICLES,
)

_KATAKANA = r"[ァ-ヺーｦ-ﾟ]"

KATAKANA = re.compile(
    rf"(?:[A-Z]\.?[・･]){{0,3}}{_KATAKANA}{{1,30}}(?:[・･＝=](?:{_KATAKANA}{{1,30}}|[A-Z]\.?(?=[・･]))){{1,5}}"
    rf"|(?:(?:[A-Z]\.){{1,3}}|(?:[A-Z]\.?[・･]){{1,3}})?{_KATAKANA}{{3,30}}"
)
"""Runs of Katakana, with initials in Latin letters: ジョン・F・ケネディ, J.K.ローリング."""

_INITIALS = r"(?:[A-Z]\.[ \u00a0]?){1,4}"

LATIN_RUN = re.compile(
    rf"{NO_LETTER}(?<![@/.-])(?:(?:[A-Z]\.){{2,5}}(?![A-Za-z])|(?:{_INITIALS}(?=[A-Z][a-zÀ-ɏ]))?{LATIN_WORD})"
    rf"(?:(?:[ \u00a0](?:&[ \u00a0])?|(?<=\b(?i:Dr|Mr|Ms|St))\.[ \u00a0]|(?<=\b(?i:Mrs))\.[ \u00a0])"
    rf"(?:(?:{_INITIALS}(?=[A-Z]))?{LATIN_WORD}|\d{{1,4}}(?![\d.,:]))){{0,6}}"
)
"""Words in Latin letters among others, with initials before and between them."""

HONORIFIC_BEFORE = re.compile(r"(?:Mr|Mrs|Ms|Dr|Prof)\.?[ \u00a0](?=[A-Z])")

CODE_WORD = re.compile(
    r"[a-z]{2,30}(?:[A-Z][a-z0-9]{1,30}){1,6}"
    r"|[a-z][\w-]{0,60}(?:\.[\w-]{1,30}){0,3}\.(?:py|js|ts|json|ya?ml|toml|txt|csv|md|html?|css|xml|pdf|log|ini|cfg|sh|sql|java|cpp|exe|zip)",
    re.ASCII,
)
"""A name in code or of a file."""

_QUOTE = "'’"

LEADING_HEADS = frozenset(particle.split()[0] for particle in (*LEADING_PARTICLES, "von"))

_PARTED = frozenset({"der", "zur", "im", "am", "an der"})


@lru_cache(maxsize=16)
def runs(language: str) -> re.Pattern[str]:
    """Capitalised words with what joins them to one name."""
    particles = PARTICLES.get(language, PARTICLES["en"]) - (_PARTED if language == "de" else frozenset())
    joined = "|".join(sorted((re.escape(p).replace(r"\ ", " ") for p in particles), key=lambda p: (-len(p), p)))
    if language == "de":
        # "Der Präsident der USA", "ein Spaziergang im Wald": these join nothing but a byname or a river.
        epithets, waters = "|".join(sorted(GERMAN_EPITHETS)), "|".join(sorted(GERMAN_WATERS))
        joined += rf"|der(?=[ ](?i:{epithets})\b)|(?:am|an[ ]der)(?=[ ](?:{waters})\b)"
    lead = "|".join(LEADING_PARTICLES) + ("" if language == "de" else "|von der|von")
    # A full stop belongs to a word that is a known abbreviation, and to nothing else.
    dotted = "|".join(
        rf"\.(?<=\b(?i:{'|'.join(sorted(w for w in HONORIFICS | ABBREVIATIONS if len(w) == length))})\.)"
        for length in (2, 3, 4)
    )
    word = (
        rf"(?:(?=[{UPPER}]\.)(?:[{UPPER}]\.-[{UPPER}]\.[ ][{UPPER}]\w*|(?:[{UPPER}]\.){{2,5}}(?![{UPPER}]\w)"
        rf"|(?:[{UPPER}]\.[ ]?){{1,4}}(?=[{UPPER}])[{UPPER}]\w*"
        rf"|[{UPPER}]\.(?=[ \u00a0][{UPPER}]))"
        rf"|(?:[dDlL][{_QUOTE}])?[{UPPER}]\w{{0,300}}+(?!\w)(?:[-‑{_QUOTE}][^\W\d_]{{1,300}}+(?![^\W\d_])|&[{UPPER}]\w*){{0,6}}(?:{dotted})?)"
    )
    # "L'eau" is no name: the capital is the article's.
    elided = rf"(?!(?:[LDJCSNMT]|Qu)[{_QUOTE}](?![{UPPER}]))" if language == "fr" else ""
    # "Friedrich II. starb": a German ordinal keeps its full stop within the sentence.
    numeral = "|".join(rf"(?<=[ ][IVX]{{{length}}})" for length in range(1, 5))
    ordinal = rf"(?:(?:{numeral})\.(?=,|[ ][a-zäöü]))?" if language == "de" else ""
    return re.compile(
        rf"(?<![\w{_QUOTE}]){elided}(?:(?P<lead>{lead})[ ](?=[{UPPER}]))?{word}"
        rf"(?:(?<!['’]s)(?:{GAP}|[ ]&[ ])(?:(?:{joined})(?:{GAP}|(?<=\b[dl])[{_QUOTE}]|(?<=\bal)-))?{word}){{0,12}}"
        rf"(?:[ \u00a0](?:[IVX]{{1,5}}|the[ ](?:Great|Second|First|Third|Elder|Younger))(?!\w))?{ordinal}"
        rf"(?:,[ ](?:Jr|Sr)(?:\.|\b))?"
    )


PLAIN_NAME = re.compile(r"[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]+(?: [A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]+)*")

TABLE_HEAD = re.compile(r"^\|[^\n]{1,400}\|[ \t]*\n(?=\|[ :|-]{3,400}\|?[ \t]*$)", re.MULTILINE)

SHOUTED = re.compile(rf"[^a-zà-ÿ{TAKEN}]{{1,200}}")
"""A line without small letters."""

LONG_WORD = re.compile(r"[^\W\d]{2,}")

ITEM = re.compile(r"[-+•]|\d{1,3}[.)]")

LISTED = re.compile(
    rf"(?:[ ](?:and|et|y|e)|,[ ](?:[{UPPER}][\w.'’-]{{1,30}}[ ]?){{1,3}}(?:,|(?<= )(?:and|or|et|ou|y|o)))[ ][{UPPER}]"
)
"""Behind a name: others."""

BORN = re.compile(r"[ ]\((?:\d{2,4}[ ]?[–-]|born[ ]|geb\.|n(?:é|ée|acid[oa])[ ])")
"""Behind a name: the years of a life."""

WHO = re.compile(r",[ ](?:who|whose|whom|born)(?!\w)")

OF_MANY = re.compile(r"[^\W\d_]+s[ ](?:for|of|in)[ ](?=[^\W\d_])")
"""What opens a sentence before a name: "Lawyers for Acme"."""

POLITE = re.compile(r"(?<=[ ])(?:Sie|Ihnen|Ihr(?:e[mnrs]?)?)(?!\w)[ ]?")

GERMAN_ENDING = re.compile(r"e[mnrs]?$")

WORD = re.compile(r"[^\W\d_][\w’'-]*")

OFFICE_OF = re.compile(
    r"(?:ministry|department|institute|faculty|school|academy|secretary"
    r"|ministerio|consejería|facultad) (?:of|for|de)(?!\w)"
)

VERSION_NEXT = re.compile(r"[ ]\d{1,3}\.\d{1,3}(?:\.\d{1,3}){0,2}(?![\d/%])(?![ ]?[%°])")

FIRST_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*\.?")

AFTER_WORD = re.compile(rf"(?:[{SPACES}\n\t&]+)")

CAPITAL = re.compile(rf"(?<!\w)[{UPPER}]")

INITIALS_END = re.compile(rf"(?:\b[{UPPER}]\.){{2,}}$|\b(?:Jr|Sr|Inc|Ltd|Corp|Co|[IVX]{{1,5}})\.$")

ELIDED = re.compile(r"(?:[LDJCSNMTldjcsnmt]|[Qq]u)['’](?=\w)")
