"""What dates and times are found with; see `dates`.

Each pattern is bounded, so that time grows with the length of the text and no faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from opik_checkembed.functional.specifics.pattern_parts import (
    GAP,
    NO_LETTER,
    NO_LETTER_NEXT,
    SPACES,
    any_of,
    heads,
    in_both_cases,
)
from opik_checkembed.functional.specifics.vocabulary import MONTHS, WEEKDAYS

_OF = rf"(?:{GAP}?(?:of|de|del|d['’]|من{GAP}عام|من|عام|سنة|सन्|सन)?{GAP}?)"

_ORD = r"(?:st|nd|rd|th|er|ère|e|º|\.)?"


def _any(words: Iterable[str]) -> str:
    """An alternation, longest first, behind a hint of what it may begin with: most places are ruled out by one look."""
    either = set(words)
    first = "".join(sorted({word[0] for word in either}))
    return rf"(?=[{first}])(?:{any_of(either)})"


MONTH_HEADS = heads(MONTHS)

# "21stcentury" is one run of letters behind its figure.
CENTURY_HEADS = heads(
    f"{ordinal}{word}"
    for ordinal in ("", "st", "nd", "rd", "th", "e", "ème")
    for word in (
        *("century", "centuries", "siècle", "siècles", "siglo", "siglos", "jh", "jhd"),
        *(f"jahrhundert{ending}" for ending in ("", "e", "n", "en", "s", "es", "ns", "ens")),
    )
)

WEEKDAY_HEADS = heads(WEEKDAYS)

_MONTH = rf"{_any(in_both_cases(MONTHS))}(?!\w)\.?"

# Arabic often names a month twice: أيار/مايو.
_ARABIC_MONTHS = any_of(month for month in MONTHS if "\u0600" < month[0] < "\u0700")

_ALIAS = rf"(?:[ ]?[/(][ ]?(?:{_ARABIC_MONTHS})(?!\w)\)?)?"

_TO = r"(?:to|through|bis|au|al|a|إلى|حتى|से)"

DAY_FIRST = re.compile(
    rf"(?P<d>\d{{1,2}})(?!\d){_ORD}(?:(?:[{SPACES}]?[–—-][{SPACES}]?|{GAP}{_TO}{GAP})(?P<e>\d{{1,2}}){_ORD})?"
    rf"{_OF}(?P<m>{_MONTH}){_ALIAS}(?:[,،]?{_OF}(?P<y>\d{{4}})(?!(?!م\b)\w|[.,]\d)(?:[ ]?م\b)?)?"
)
"""A day, or the first day and the last (`e`), before the month."""

MONTH_FIRST = re.compile(
    rf"(?<!\w)(?P<m>{_MONTH}){_ALIAS}(?:{GAP}(?P<d>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"(?P<to>(?:[–—-]|{GAP}{_TO}{GAP})(?P<e>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"(?![\w-]|[.,:]\d|{GAP}{_MONTH}|[ ]?[ap]\.?m))?"
    rf"(?!\w|[.,:]\d)(?:,?{GAP}(?P<y>\d{{4}})(?!\w|[.,]\d))?"
    rf"|[,،]?{_OF}(?P<y2>\d{{4}})(?!(?!م\b)\w|[.,]\d)(?:[ ]?م\b)?)?"
)

NUMERIC_DATE = re.compile(
    rf"{NO_LETTER}(?<![./-])(?:(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}})(?:(?=T\d)|{NO_LETTER_NEXT}(?![/-]|\.\d))"
    rf"|(\d{{1,2}})([-/.])(\d{{1,2}})\6(\d{{4}}|\d{{2}}){NO_LETTER_NEXT}(?![/-]|\.\d))"
)

_BEFORE_CHRIST = (
    r"(?:BCE?|B\.C\.(?:E\.)?|v\.[ \u00a0]?(?:Chr|u\.[ \u00a0]?Z)\.|vor[ ]Christus"
    r"|a(?:v\.|vant)[ \u00a0](?:J\.-C\.|Jésus-Christ"
    r"|notre[ ]ère)|a\.[ \u00a0]?(?:d(?:\.|e)[ \u00a0]?)?C\.|a\.[ \u00a0]?n\.[ \u00a0]?e\.|antes[ ]de[ ]Cristo)"
)

_AFTER_CHRIST = (
    r"(?:AD|A\.D\.|CE|C\.E\.|n\.[ \u00a0]?Chr\.|nach[ ]Christus|ap(?:r?\.|rès)[ \u00a0](?:J\.-C\.|Jésus-Christ)"
    r"|d\.[ \u00a0]?(?:d(?:\.|e)[ \u00a0]?)?C\.|después[ ]de[ ]Cristo)"
)

_YEAR_BEFORE = r"\d{1,3}[.,\u00a0\u202f]\d{3}|\d{1,5}"

ERA = re.compile(
    rf"(?<![\w.,])(?:(?:(?P<from>\d{{1,5}})(?:[–-]|[ ](?:to|bis|à|a)[ ]))?"
    rf"(?P<bc>{_YEAR_BEFORE})[{SPACES}]?{_BEFORE_CHRIST}"
    rf"|(?P<ad>\d{{1,5}})[{SPACES}]?{_AFTER_CHRIST})(?!\w)"
)

ERA_HINTS = ("BC", "B.C", "AD", "A.D", "CE", "C.E", "Chr", ".-C", ". C", ".C", "Crist", "n. e", "notre ère", "u. Z")

AD_BEFORE = re.compile(r"(?<!\w)(?:AD|A\.D\.)[ ](?P<ad>\d{1,4})(?!\w)")

LONGEST_CENTURY = 34
"""Up to its word."""

_ROMAN = r"[IVX]{1,6}"

CENTURY = re.compile(
    rf"(?<!\w)(?:(?:(?P<from>\d{{1,2}})(?:st|nd|rd|th|\.|e)?(?:[–-]|[ ](?:to|bis)[ ]))?"
    rf"(?P<n>\d{{1,2}})(?:st|nd|rd|th|\.|e|ème|ᵉ)?[{SPACES}-]?(?:century|centuries|Jahrhunderte?n?s?|Jhd?\.|siècles?)"
    rf"|(?:(?P<from2>{_ROMAN})(?:e|er|ᵉ)?[–-])?(?P<r>{_ROMAN})(?:e|er|ème|ᵉ|ᵉʳ)?[{SPACES}]siècles?"
    rf"|siglos?[{SPACES}](?P<r2>{_ROMAN})(?:(?:[–-]|[ ](?:y|al|a)[ ](?:el[ ])?)(?P<to>{_ROMAN}))?"
    rf"|(?P<w>[a-z]{{5,12}}|twenty-first|[a-zäöüß]{{5,20}}n|[a-zè-]{{5,16}}ième)[{SPACES}-](?:century|Jahrhunderts?|siècle))(?!\w)"
    rf"(?:[{SPACES}](?:(?P<bc>{_BEFORE_CHRIST})|{_AFTER_CHRIST})(?!\w))?",
    re.IGNORECASE,
)

CENTURY_SHORT = re.compile(rf"(?<!\w)ss?\.[{SPACES}](?P<r>{_ROMAN})(?!\w)")
"""Spanish."""

_TENS = {
    "en": "twenties thirties forties fifties sixties seventies eighties nineties",
    "de": "zwanziger dreißiger vierziger fünfziger sechziger siebziger achtziger neunziger",
    "fr": "vingt trente quarante cinquante soixante soixante-dix quatre-vingt quatre-vingt-dix",
    "es": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
}

DECADES = {word: tens for words in _TENS.values() for tens, word in enumerate(words.split(), 2)}
"""20 to 90 as decades are named after them."""

DECADE = re.compile(
    rf"(?<![\w.,])(?:([1-9]\d{{2}}0)(?:['’]?s|er(?:[{SPACES}-]Jahren?)?)|['’]?(\d0)(?:s|er[{SPACES}-]Jahren?))(?!\w)",
    re.IGNORECASE,
)

DECADE_WORDS = {
    "en": re.compile(
        rf"(?:(?<=\bthe )|(?<=\bearly )|(?<=\blate )|(?<=\broaring ))({_TENS['en'].replace(' ', '|')})(?!\w)",
        re.IGNORECASE,
    ),
    "de": re.compile(rf"(?<!\w)({_TENS['de'].replace(' ', '|')})[ -]?jahren?(?!\w)", re.IGNORECASE),
    "fr": re.compile(
        r"(?<!\w)années[ \u00a0]"
        rf"([1-9]\d{{2}}0|\d0|{any_of(_TENS['fr'].split())})(?![\w-])",
        re.IGNORECASE,
    ),
    "es": re.compile(
        r"(?<!\w)(?:década[ ]de(?:[ ]los)?(?:[ ]años)?|años)[ \u00a0]"
        rf"([1-9]\d{{2}}0|\d0|{_TENS['es'].replace(' ', '|')})(?!\w)",
        re.IGNORECASE,
    ),
}

DECADE_HEADS = {
    language: heads(words.split() if language in {"en", "de"} else ["années", "años", "década"])
    for language, words in _TENS.items()
} | {"de": heads([f"{word}{end}" for word in _TENS["de"].split() for end in ("", "jahre", "jahren")])}

DECADE_HINTS = {"en": ("ties",), "de": ("ziger", "ßiger"), "fr": ("années",), "es": ("años", "década")}

YEARS = re.compile(
    rf"{NO_LETTER}(?<![.,/+-])(\d{{4}})"
    rf"(?:[{SPACES}]?[–—/-][{SPACES}]?|[ ](?:to|through|until|bis|à|a|إلى|حتى|से)[ ])"
    rf"(\d{{4}}|\d{{2}}){NO_LETTER_NEXT}(?!/|[.,-]\d)"
)

TIME = re.compile(
    rf"{NO_LETTER}(?<![.,])(?:(?P<from>\d{{1,2}})(?:[–-]|[ ](?:to|bis|a)[ ]))?(?P<h4>\d{{1,2}})"
    rf"(?:[.:](?P<n5>\d{{2}}))?[{SPACES}]?(?P<x2>uhr\b|[ap]\.[ \u00a0]?m\.|[ap]m\b)"
    rf"|(?<![\w.,])(?P<h2>\d{{1,2}})[{SPACES}]?h[{SPACES}]?(?P<n3>\d{{2}})(?![\w:/])"
    rf"|{NO_LETTER}(?<![:.,])(?P<h>\d{{1,2}})(?:[:](?P<n>\d{{2}})(?::\d{{2}})?|[.](?P<n2>\d{{2}})(?=[{SPACES}]?(?:Uhr|[ap]\.?m)))?[{SPACES}]?(?P<x>[ap]\.m\.|[ap]m\b|uhr\b|o['’]clock\b|बजे)?{NO_LETTER_NEXT}(?!:|[.,]\d)"
    rf"(?:[{SPACES}](?:UTC|GMT|CES?T|E[SD]T|P[SD]T|BST|MES?Z)(?!\w))?",
    re.IGNORECASE,
)

_HOURS = {
    "en": "one two three four five six seven eight nine ten eleven twelve",
    "de": "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
}

HOURS = {word: hour for words in _HOURS.values() for hour, word in enumerate(words.split(), 1)}

WORDED_HOUR = {
    "en": re.compile(rf"(?<!\w)({_HOURS['en'].replace(' ', '|')})[ ]o['’]clock(?!\w)", re.IGNORECASE),
    "de": re.compile(rf"(?<!\w)({_HOURS['de'].replace(' ', '|')})[ ]Uhr(?!\w)", re.IGNORECASE),
}

# A bare "8 h" lasts as often as it strikes.
HOUR = {
    "fr": re.compile(
        rf"(?P<h>\d{{1,2}})[{SPACES}]?h(?:eures?)?(?:[{SPACES}]?(?P<n>\d{{2}}))?(?!\w)"
        r"(?P<x>[ ]du[ ](?:matin|soir)|[ ]de[ ]l['’]après-midi)?"
        r"(?P<on>(?=[ ](?:à|et)[ ]\d{1,2}[ \u00a0]?h))?"
    ),
    "es": re.compile(
        rf"(?P<h>\d{{1,2}})(?:[:.](?P<n>\d{{2}}))?(?![\d.,:]\d)(?:[{SPACES}]?h(?:s|oras?)?(?!\w)\.?)?"
        r"(?P<x>[ ]de[ ]la[ ](?:mañana|tarde|noche|madrugada))?(?P<on>(?!))?"
    ),
}

BEFORE_HOUR = {
    "fr": re.compile(r"(?<!\w)(?:à|vers|dès|jusqu['’]à|avant|après)[ ]\Z", re.IGNORECASE),
    "es": re.compile(r"(?<!\w)las?[ ]\Z", re.IGNORECASE),
}

TO_DATE = re.compile(
    rf"[{SPACES}]?[–—-][{SPACES}]?|[ ](?:to|through|until|bis(?:[ ]zum)?|au|à|a|al|hasta(?:[ ]el)?)[ ]"
)
"""Between two dates that are the ends of one stretch of time."""

DAY_KEY = re.compile(r"d:\d+-\d+-\d")

TIMESTAMP = re.compile(r"T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?(?!\w)")

WEEKDAYS_FROM_TO = re.compile(
    r"(?<!\w)((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\.?|Mo|Di|Mi|Do|Fr|Sa|So)(?:[ ]?[–-][ ]?|[ ](?:to|bis)[ ])"
    r"((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)|Mo|Di|Mi|Do|Fr|Sa|So)(?!\w)"
)

SHORT_WEEKDAY_HEADS = frozenset(
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"]
)


@lru_cache(maxsize=2)
def weekday_pattern(glued: bool) -> re.Pattern[str]:
    """Days of the week; `glued` for scripts that put no space between words."""
    words = _any(in_both_cases(WEEKDAYS))
    return re.compile(words if glued else rf"(?<!\w){words}(?!\w)")


WEEKDAY_WITH_PREFIX = re.compile(rf"(?<![\w\u093a-\u094f])[وفب]?({_any(WEEKDAYS)})(?![\w\u0900-\u0903\u093a-\u094f])")
"""Arabic writes small words in one with the next."""
