"""The patterns that specifics are found with.

Each is bounded, so that time grows with the length of the text and no faster.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from opik_checkembed.functional.specifics.figures import SPACES
from opik_checkembed.functional.specifics.numerals import words_for_numbers
from opik_checkembed.functional.specifics.pattern_parts import any_of
from opik_checkembed.functional.specifics.vocabulary import (
    ABBREVIATIONS,
    BELOW_TEN,
    CURRENCY_CODES,
    GERMAN_EPITHETS,
    GERMAN_WATERS,
    HONORIFICS,
    LEADING_PARTICLES,
    MONTHS,
    PARTICLES,
    STANDARD_BODIES,
    WEEKDAYS,
)


def _class(*categories: str) -> str:
    """A regular expression's set of the characters in these categories, up to the end of the basic plane."""
    ranges: list[list[int]] = []
    for code in range(0x10000):
        if unicodedata.category(chr(code)) in categories:
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(a)}-{chr(b)}" if a < b else chr(a) for a, b in ranges)


UPPER = _class("Lu", "Lt")

_LATIN = r"A-Za-zÀ-ÖØ-öø-ɏ"

_GAP = rf"(?:[{SPACES}]{{1,3}}|[ \t]?\n[ \t]?(?![\n#>|*+-]))"

_QUOTE = "'’"

TAKEN = "\ue000"
"""Stands where something has been found already, so that later patterns do not find it again."""

# Chinese and Japanese put no space between words, so their letters bound a figure as marks do. In Arabic small words
# are written in one with what follows: "و1945".
_ARABIC = r"\u0620-\u065f\u0670-\u06d3"

_NO_LETTER = rf"(?<![^\W{_ARABIC}\u2e80-\uffff])"

_NO_LETTER_NEXT = r"(?![^\W\u2e80-\uffff])"

_DOMAINS = "com|org|net|io|dev|edu|gov|int|info|eu|uk|de|fr|es|ch|mx|app|ai|example"

DOMAIN = re.compile(rf"\.(?:{_DOMAINS})")

URL = re.compile(
    r"(?:https?://|www\.)[\w.~:/?#()\[\]@!$&'*+,;=%-]{1,2000}"
    rf"|(?<![\w@.-])(?:[a-z0-9-]{{1,63}}\.){{1,4}}(?:{_DOMAINS})(?:/[\w./?=&#%~-]*)?(?![\w@])",
    re.ASCII,
)

EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}", re.ASCII)

EXTENSION = re.compile(
    r"\.(?:py|js|ts|tsx|jsx|json|ya?ml|md|txt|csv|toml|ini|cfg|conf|sh|html?|css|xml|sql|log|exe|dll|zip|gz|pdf|docx?|xlsx?"
    r"|png|jpe?g|svg|java|cpp|rs|go|rb|php|ipynb|lock|env)(?!\w|\.\w)",
    re.ASCII,
)

FILE = re.compile(r"(?<![\w@:])[\w~./-]{1,80}\Z", re.ASCII)
"""The name of a file up to its extension."""

CALLED = re.compile(r"(?<![\w.])(?:[A-Za-z_]\w{0,40}\.){1,4}[A-Za-z_]\w{0,40}\Z", re.ASCII)
"""What a call with a dot stands upon, as in np.array()."""

EMPTY_CALL = re.compile(r"\(\)")

PROSE = re.compile(r"[A-Z]\w*|[.-]*")
"""Before an extension: Node.js is a name, and ".env" may be all there is."""

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]{1,30}(?!\w)")

_BODY = any_of(STANDARD_BODIES)

STANDARD_HEADS = frozenset(body.split("-")[0] for body in STANDARD_BODIES)

STANDARD = re.compile(
    rf"(?<![\w-])(?:{_BODY})(?:[ \u00a0/-](?:{_BODY})){{0,3}}[ \u00a0-]?"
    r"(?:[A-Z][ ]?)?\d{1,6}(?:[-.:/]\d{1,6}){0,5}[A-Za-z]{0,2}"
    r"(?:[-:]\d{1,4})?(?![\w-])"
)

SERIAL = re.compile(r"(?<![\w./-])(?:[A-Z0-9]{1,8}[-/]){1,5}[A-Z0-9]{1,8}(?![\w-]|[./]\w)")

GENETIC = re.compile(r"(?<![\w.-])(?:\d{1,2}[pq]\d{1,2}(?:\.\d{1,2})?|[a-z]{1,2}\d{2,9})(?![\w-]|[.,]\d)")

LAW = re.compile(
    r"(?:§{1,2}|\bArt\.)[ \u00a0]?\d{1,4}[a-z]?(?:[ \u00a0]Abs\.[ \u00a0]\d{1,2})?"
    r"(?:[ \u00a0](?:Satz|S\.|Nr\.)[ \u00a0]\d{1,2}){0,2}"
    r"(?:\(\w{1,3}\)){0,3}(?:[ \u00a0][A-Z][A-Za-z]{0,3}[A-Z])?(?!\w)"
)

VERSION_WORD = re.compile(r"(?:\b(?:version|versión|release|ver\.|v\.))[ \u00a0]\Z", re.IGNORECASE)

QUOTE_MARK = re.compile("[“„«»「『《〈\"‘‚']")

CODE = re.compile(r"(?<!`)`([^`\n]{1,80})`(?!`)")

QUOTED = re.compile(
    r"“([^“”]{1,300})”|„([^“”„]{1,300})[“”]|«[\s\u00a0\u202f]?([^«»]{1,300}?)[\s\u00a0\u202f]?»|»([^«»]{1,300})«"
    r"|「([^「」]{1,300})」|『([^『』]{1,300})』|《([^《》]{1,300})》|〈([^〈〉]{1,300})〉"
    rf"|{_NO_LETTER}(?<!\")\"([^\"\n]{{1,300}})\"|‘([^‘\n]{{1,200}}?)’{_NO_LETTER_NEXT}|‚([^‘’‚\n]{{1,200}})[‘’]"
    rf"|{_NO_LETTER}(?<!')'(?!\d\ds)(?=[{UPPER}\w])([^'\n]{{2,120}}(?:'\w[^'\n]{{1,60}}){{0,2}})'{_NO_LETTER_NEXT}"
)

SNAKE = re.compile(
    r"(?<![\w.])(?:[A-Za-z][A-Za-z0-9]{0,40}(?:_[A-Za-z0-9]{1,40}){1,8}|[a-z]{1,30}(?:[A-Z][a-z0-9]{1,30}){1,6}(?=\())(?:\(\))?(?!\w)|(?<![\w.])[A-Za-z_]\w{1,40}\(\)",
    re.ASCII,
)

HASH = re.compile(r"(?<![\w-])(?=[a-f]{0,39}\d)(?=\d{0,39}[a-f])[0-9a-f]{7,40}(?![\w-])", re.ASCII)

VERSION = re.compile(
    rf"{_NO_LETTER}(?<!\.)(?:v\d{{1,4}}(?:\.\d{{1,6}}){{0,3}}|\d{{1,4}}(?:\.\d{{1,6}}){{2,3}})(?:-?(?:rc|alpha|beta|b|a)\.?\d{{0,3}})?"
    rf"(?![A-Za-z0-9_.]{{0,20}}\d){_NO_LETTER_NEXT}",
    re.IGNORECASE,
)

VERSION_NEXT = re.compile(r"[ ]\d{1,3}\.\d{1,3}(?:\.\d{1,3}){0,2}(?![\d/%])(?![ ]?[%°])")

DESIGNATION = re.compile(
    rf"{_NO_LETTER}(?<!-)(?:[A-Z]{{1,6}}[a-z]{{0,3}}-?\d{{1,6}}[A-Za-z]{{0,3}}|[A-Z]{{1,4}}(?:\d{{1,3}}[A-Z]{{1,3}}){{1,3}}\d?"
    rf"|[A-Z]{{2,10}}-[A-Z]{{0,4}}\d{{1,6}}[A-Za-z]{{0,2}}"
    rf"|[A-Z]{{2,8}}[ \u00a0](?:[A-Z]{{2,6}}[ \u00a0])?\d{{1,6}}(?:[-.:/]\d{{1,6}}){{0,5}}"
    rf"|[{_LATIN}]{{3,20}}-\d{{2,5}}[A-Za-z]?){_NO_LETTER_NEXT}(?![.,:]\d)"
)

STANDARD_BY_FORM = re.compile(
    rf"{_NO_LETTER}(?<![/-])[A-Z]{{2,8}}(?:/[A-Z]{{1,8}}){{1,2}}[ \u00a0-]?(?:[A-Z]{{1,4}}[ \u00a0-]?)?\d{{1,6}}"
    rf"(?:[-.:/]\d{{1,6}}){{0,5}}{_NO_LETTER_NEXT}(?![.,:]\d)"
    rf"|{_NO_LETTER}(?<![/-])[A-Z]{{3,8}}[ \u00a0][A-Z][ \u00a0]\d{{2,6}}{_NO_LETTER_NEXT}(?![.,:]\d)"
)
"""Whatever body it is from: ISO/IEC 27001, GB/T 5750-2006, JIS B 0001."""

LONGEST_HEAD = 21
"""Of a designation, up to its first figure."""

MIXED = re.compile(
    rf"{_NO_LETTER}(?<!-)(?:[a-z]{{1,3}}[A-Z][A-Za-z]{{1,20}}(?:[ \u00a0]\d{{1,3}}(?![\w.,:]{{0,20}}\d))?"
    rf"(?:[ \u00a0](?:Pro|Max|Plus|Mini|Air|Ultra))?){_NO_LETTER_NEXT}"
)

_AREA = r"(?:\(\d{2,5}\)[ -]?|\d{2,5}[ -])"

PHONE = re.compile(
    rf"{_NO_LETTER}(?<!\.)(?:(?:\+|00)\d{{1,3}}[ -]?(?:\(0\)[ ]?)?{_AREA}{{1,5}}\d{{2,8}}"
    rf"|(?:\(0\d{{1,5}}\)[ ]?|0\d{{1,5}}[ /-])\d{{3,8}}(?:[ -]\d{{2,8}}){{0,4}}"
    rf"|(?:1-)?{_AREA}{{2,5}}\d{{2,5}})(?!-){_NO_LETTER_NEXT}"
)

_OF = rf"(?:{_GAP}?(?:of|de|del|d['’]|من{_GAP}عام|من|عام|سنة|सन्|सन)?{_GAP}?)"

_ORD = r"(?:st|nd|rd|th|er|ère|e|º|\.)?"


def _any(words: Iterable[str]) -> str:
    """An alternation, longest first, behind a hint of what it may begin with: most places are ruled out by one look."""
    either = set(words)
    first = "".join(sorted({word[0] for word in either}))
    return rf"(?=[{first}])(?:{any_of(either)})"


def _in_both_cases(words: Iterable[str]) -> set[str]:
    return {form for word in words for form in (word, word.capitalize(), word.upper())}


LETTERS = re.compile(rf"[{_LATIN}\u0620-\u064a\u0904-\u0939\u0958-\u0961]+")
"""Runs of letters: Latin, Arabic, and Hindi without its vowel signs, which Python counts as marks."""


def heads(words: Iterable[str]) -> frozenset[str]:
    """The first run of letters of each word, in small letters and capitals: where none stands, no word does."""
    return frozenset(match[0] for form in _in_both_cases(words) if (match := LETTERS.match(form)) is not None)


MONTH_HEADS = heads(MONTHS)

CENTURY_HEADS = heads(
    ["century", "centuries", "siècle", "siècles", "siglo", "siglos", "jh", "jhd"]
    + [f"jahrhundert{ending}" for ending in ("", "e", "n", "en", "s", "es", "ns", "ens")]
)

WEEKDAY_HEADS = heads(WEEKDAYS)


@lru_cache(maxsize=16)
def number_heads(language: str) -> frozenset[str]:
    """What numbers in words may begin with."""
    return heads(words_for_numbers(language))


_MONTH = rf"{_any(_in_both_cases(MONTHS))}(?!\w)\.?"

# Arabic often names a month twice: أيار/مايو.
_ARABIC_MONTHS = any_of(month for month in MONTHS if "\u0600" < month[0] < "\u0700")

_ALIAS = rf"(?:[ ]?[/(][ ]?(?:{_ARABIC_MONTHS})(?!\w)\)?)?"

_TO = r"(?:to|through|bis|au|al|a|إلى|حتى|से)"

DAY_FIRST = re.compile(
    rf"(?P<d>\d{{1,2}})(?!\d){_ORD}(?:(?:[{SPACES}]?[–—-][{SPACES}]?|{_GAP}{_TO}{_GAP})(?P<e>\d{{1,2}}){_ORD})?"
    rf"{_OF}(?P<m>{_MONTH}){_ALIAS}(?:[,،]?{_OF}(?P<y>\d{{4}})(?!(?!م\b)\w|[.,]\d)(?:[ ]?م\b)?)?"
)
"""A day, or the first day and the last (`e`), before the month."""

MONTH_FIRST = re.compile(
    rf"(?<!\w)(?P<m>{_MONTH}){_ALIAS}(?:{_GAP}(?P<d>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"(?P<to>(?:[–—-]|{_GAP}{_TO}{_GAP})(?P<e>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"(?![\w-]|[.,:]\d|{_GAP}{_MONTH}|[ ]?[ap]\.?m))?"
    rf"(?!\w|[.,:]\d)(?:,?{_GAP}(?P<y>\d{{4}})(?!\w|[.,]\d))?"
    rf"|[,،]?{_OF}(?P<y2>\d{{4}})(?!(?!م\b)\w|[.,]\d)(?:[ ]?م\b)?)?"
)

NUMERIC_DATE = re.compile(
    rf"{_NO_LETTER}(?<![./-])(?:(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}})(?:(?=T\d)|{_NO_LETTER_NEXT}(?![/-]|\.\d))"
    rf"|(\d{{1,2}})([-/.])(\d{{1,2}})\6(\d{{4}}|\d{{2}}){_NO_LETTER_NEXT}(?![/-]|\.\d))"
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
    rf"{_NO_LETTER}(?<![.,/+-])(\d{{4}})"
    rf"(?:[{SPACES}]?[–—/-][{SPACES}]?|[ ](?:to|through|until|bis|à|a|إلى|حتى|से)[ ])"
    rf"(\d{{4}}|\d{{2}}){_NO_LETTER_NEXT}(?!/|[.,-]\d)"
)

TIME = re.compile(
    rf"{_NO_LETTER}(?<![.,])(?:(?P<from>\d{{1,2}})(?:[–-]|[ ](?:to|bis|a)[ ]))?(?P<h4>\d{{1,2}})"
    rf"(?:[.:](?P<n5>\d{{2}}))?[{SPACES}]?(?P<x2>uhr\b|[ap]\.[ \u00a0]?m\.|[ap]m\b)"
    rf"|(?<![\w.,])(?P<h2>\d{{1,2}})[{SPACES}]?h[{SPACES}]?(?P<n3>\d{{2}})(?![\w:/])"
    rf"|{_NO_LETTER}(?<![:.,])(?P<h>\d{{1,2}})(?:[:](?P<n>\d{{2}})(?::\d{{2}})?|[.](?P<n2>\d{{2}})(?=[{SPACES}]?(?:Uhr|[ap]\.?m)))?[{SPACES}]?(?P<x>[ap]\.m\.|[ap]m\b|uhr\b|o['’]clock\b|बजे)?{_NO_LETTER_NEXT}(?!:|[.,]\d)"
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

SCORE = re.compile(rf"{_NO_LETTER}(?<![.,:/–-])(\d{{1,3}})[:](\d{{1,2}}){_NO_LETTER_NEXT}(?!:|[.,]\d)")

_SYMBOL = rf"(?:{_NO_LETTER}(?:US|CA|AU|NZ|HK|MX|NT|[ACRS]))?\$|[＄€£¥￥₹₩₽₺₴₫₱₪₦฿]"

_FIGURE = r"\d{1,18}(?:(?:[.,٬٫'’\u202f\u00a0\u2009．，]|\{,\}|\\,)\d{1,18}){0,8}[½⅓⅔¼¾⅕⅖⅗⅘⅙⅛⅜⅝⅞]?|[½⅓⅔¼¾⅕⅖⅗⅘⅙⅛⅜⅝⅞]"

_SPACED_FIGURE = r"\d{1,3}(?:[ \u00a0\u202f\u2009]\d{3}(?!\d)){1,6}(?:,\d{1,9})?"

_SIGN = rf"(?:{_NO_LETTER}(?<![.,)\]%/*+=-])[-−–+±－]|零下|マイナス|氷点下|माइनस[ ]|سالب[ ]|ناقص[ ])?"

_DASH = rf"-|[{SPACES}]?[–—‒][{SPACES}]?|{_GAP}(?:to|bis|à|a){_GAP}"

_OWN_DASHES = {
    "zh": "[~～〜－―—]|至|到",
    "ja": "[~～〜－―—]|から|至",
    "ar": rf"{_GAP}(?:إلى|حتى){_GAP}",
    "hi": rf"{_GAP}से{_GAP}",
}
"""What more stands between the ends of a range."""

_MONEY = rf"(?:{_SYMBOL}|人民币)[{SPACES}]?|\b(?:{'|'.join(sorted(CURRENCY_CODES))}|Rs\.?|रु\.?)[{SPACES}]"

BEFORE_FIGURE = re.compile(rf"(?P<sign>{_SIGN})(?:(?P<money>{_MONEY})(?P<sign2>[-−])?)?\Z")


@lru_cache(maxsize=16)
def numbers(language: str) -> re.Pattern[str]:
    """Figures (`a`), with an ordinal's ending (`ord`), a range's end (`b`) or what divides them (`over`)."""
    dash = f"{_DASH}|{_OWN_DASHES[language]}" if language in _OWN_DASHES else _DASH
    figure = f"(?:{_SPACED_FIGURE}|{_FIGURE})" if language in {"fr", "es", "pl", "ru", "sv", "cs"} else f"(?:{_FIGURE})"
    return re.compile(
        rf"{_NO_LETTER}(?<!\d:)(?P<a>{figure})"
        rf"(?:(?P<ord>st|nd|rd|th|er|ère|ème|e|ᵉ|ʳᵉ|\.?º|\.?ª|वाँ|वां|वा|वीं|वी|वें|वे|री|रा|ली|ला|थी|था|ठी|ठा)(?!\w)"
        rf"|(?P<dash>{dash})(?:{_SYMBOL})?(?P<b>{figure}){_NO_LETTER_NEXT}(?![=]|[{SPACES}]?[=])"
        rf"|/(?P<over>\d{{1,3}}){_NO_LETTER_NEXT}(?!/))?",
    )


DIGITS = re.compile(r"[\d½⅓⅔¼¾⅕⅖⅗⅘⅙⅛⅜⅝⅞](?:(?<=\d)\d+)?")

TABLE_HEAD = re.compile(r"^\|[^\n]{1,400}\|[ \t]*\n(?=\|[ :|-]{3,400}\|?[ \t]*$)", re.MULTILINE)

SHOUTED = re.compile(rf"[^a-zà-ÿ{TAKEN}]{{1,200}}")
"""A line without small letters."""

LONG_WORD = re.compile(r"[^\W\d]{2,}")

ITEM = re.compile(r"[-+•]|\d{1,3}[.)]")

LOWER_WORD = re.compile(r"(?<![\w-])[^\W\d_]{2,60}(?![\w-])")

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

AND_A_HALF = {
    "en": re.compile(r"(?:[ ]and[ ]a[ ]|-and-a-)half(?![\w-])"),
    "fr": re.compile(r"[ ]et[ ]demie?(?!\w)"),
    "es": re.compile(r"[ ]y[ ]medi[oa](?!\w)"),
}

OUT_OF = re.compile(
    rf"[ ](?P<far>in|out[ ]of)[ ](?:every[ ]|a[ ](?=[htm]))?"
    rf"(?P<below>{any_of(words_for_numbers('en'))}|\d{{1,3}}(?:,\d{{3}}){{0,2}})(?![\w-]|[.,]\d)"
)
"""In an English proportion what stands between its numbers, and the second: one in five, 3 out of 4."""

ABOVE = re.compile(r"(?<![\w.,-])(?:[a-z]{3,5}|\d{1,2}(?:\.\d)?)\Z", re.IGNORECASE)

RATED = re.compile(r"\b(?:rat(?:ed|es?|ings?)|stars?)\b[^.!?\n]{0,20}\Z", re.IGNORECASE)

OF_A_SCALE = re.compile(r"[ -](?:stars?|points?|ratings?)\b", re.IGNORECASE)
"""Before and behind 4 out of 5 that is no share."""

FRACTION_HEADS = {language: heads(words) for language, words in BELOW_TEN.items()}

BETWEEN = re.compile(r"(?<!\w)(?:between|entre)[ \n]\Z", re.IGNORECASE)

AND = re.compile(r"\s+(?:and|y|et)\s+", re.IGNORECASE)

TO_NUMBER = {
    "en": re.compile(r"[ ]to[ ]|-to-|[–—]"),
    "de": re.compile(r"[ ]bis[ ]|[–—]"),
    "fr": re.compile(r"[ ]à[ ]|[–—]"),
    "es": re.compile(r"[ ]a[ ]|[–—]"),
}
"""What joins two numbers in words to a range."""

NEXT_FIGURE = re.compile(r"(?:[ ](?=\d{1,3}[ ](?:लाख|हज़ार|हज़ार|हजार)))?\d{1,4}(?:,\d{3})?(?![\d.,])")

SCIENTIFIC = re.compile(
    rf"{_NO_LETTER}(?:(?P<a>\d{{1,9}}(?:[.,]\d{{1,12}})?)(?:[ ]?[×x·*][ ]?10"
    rf"(?:\^\{{?(?P<e>[-−+]?\d{{1,3}})\}}?|(?P<s>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,3}}))"
    rf"|[eE](?P<e2>[-+]?\d{{1,3}}))|10\^\{{?(?P<e3>[-−+]?\d{{1,3}})\}}?){_NO_LETTER_NEXT}"
)

_KATAKANA = r"[ァ-ヺーｦ-ﾟ]"

KATAKANA = re.compile(
    rf"(?:[A-Z]\.?[・･]){{0,3}}{_KATAKANA}{{1,30}}(?:[・･＝=](?:{_KATAKANA}{{1,30}}|[A-Z]\.?(?=[・･]))){{1,5}}"
    rf"|(?:(?:[A-Z]\.){{1,3}}|(?:[A-Z]\.?[・･]){{1,3}})?{_KATAKANA}{{3,30}}"
)
"""Runs of Katakana, with initials in Latin letters: ジョン・F・ケネディ, J.K.ローリング."""

_LATIN_WORD = rf"[{_LATIN}][{_LATIN}\d+#]{{0,60}}(?:[-&'’._][{_LATIN}\d][{_LATIN}\d+#]{{0,40}}){{0,8}}"

_INITIALS = r"(?:[A-Z]\.[ \u00a0]?){1,4}"

LATIN_RUN = re.compile(
    rf"{_NO_LETTER}(?<![@/.-])(?:(?:[A-Z]\.){{2,5}}(?![A-Za-z])|(?:{_INITIALS}(?=[A-Z][a-zÀ-ɏ]))?{_LATIN_WORD})"
    rf"(?:(?:[ \u00a0](?:&[ \u00a0])?|(?<=\b(?i:Dr|Mr|Ms|St))\.[ \u00a0]|(?<=\b(?i:Mrs))\.[ \u00a0])"
    rf"(?:(?:{_INITIALS}(?=[A-Z]))?{_LATIN_WORD}|\d{{1,4}}(?![\d.,:]))){{0,6}}"
)
"""Words in Latin letters among others, with initials before and between them."""

HONORIFIC_BEFORE = re.compile(r"(?:Mr|Mrs|Ms|Dr|Prof)\.?[ \u00a0](?=[A-Z])")

CODE_WORD = re.compile(
    r"[a-z]{2,30}(?:[A-Z][a-z0-9]{1,30}){1,6}"
    r"|[a-z][\w-]{0,60}(?:\.[\w-]{1,30}){0,3}\.(?:py|js|ts|json|ya?ml|toml|txt|csv|md|html?|css|xml|pdf|log|ini|cfg|sh|sql|java|cpp|exe|zip)",
    re.ASCII,
)
"""A name in code or of a file."""

LATIN_NUMBERED = re.compile(
    rf"{_NO_LETTER}(?<![@/.-])(?:(?=[A-Za-z]{{0,3}}[A-Z]){_LATIN_WORD}[ \u00a0]){{1,4}}(?P<n>\d{{1,4}})"
    rf"(?:[ \u00a0](?:Pro|Max|Plus|Mini|Air|Ultra)){{0,2}}{_NO_LETTER_NEXT}(?![.,:/–～〜~-]\d|[ ]?[%％°℃])"
)

VERSION_BEHIND_WORD = re.compile(
    r"(?:版本号?|バージョン|الإصدار|إصدار|نسخة|النسخة|संस्करण|वर्ज़न|वर्जन"
    r"|(?=[A-Za-z]{2,19}[a-z])(?:[A-Za-z]{3,20}|iOS))[ ：:]?[ ]?"
    rf"([vV]?\d{{1,4}}(?:\.\d{{1,6}}){{1,3}}){_NO_LETTER_NEXT}(?![.]\d|[ ]?[%％٪°℃])"
)
"""A version of two parts is told from a number by the word before it: 版本2.4, Python 3.12."""

GENERATION = re.compile(rf"{_NO_LETTER}(?<![.,])(?:[2-6]G|[248]K|[234]D){_NO_LETTER_NEXT}")

FIRST_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*\.?")

LAST_WORD = re.compile(r"\w+\Z")

AFTER_WORD = re.compile(rf"(?:[{SPACES}\n\t&]+)")

ANY_CAPITAL = re.compile(rf"[{UPPER}]")

CAPITAL = re.compile(rf"(?<!\w)[{UPPER}]")

INITIALS_END = re.compile(rf"(?:\b[{UPPER}]\.){{2,}}$|\b(?:Jr|Sr|Inc|Ltd|Corp|Co|[IVX]{{1,5}})\.$")

ELIDED = re.compile(r"(?:[LDJCSNMTldjcsnmt]|[Qq]u)['’](?=\w)")

NUMBER_SIGN = re.compile(r"[ \u00a0](?:N[or]\.|Núm\.|[nN][°º])\Z")

NUMBERED_NAME = re.compile(
    rf"(?<![\w-])([{UPPER}][^\W\d_]*+(?:-[^\W\d_]++)?+)[ \u00a0]"
    r"((?:(?:N[or]\.|Núm\.|[nN][°º])[ \u00a0])?\d{1,4}(?:[a-z]|-\d{1,4})?(?:\((?:\d{1,2}|[a-z]{1,4})\)){0,3})"
    rf"(?![\w]|[.,:/]\d|[ ]?[%°–-]|[{SPACES}]?[$€£]|[ \u00a0\u202f]\d{{3}})"
)


@lru_cache(maxsize=2)
def weekday_pattern(glued: bool) -> re.Pattern[str]:
    """Days of the week; `glued` for scripts that put no space between words."""
    words = _any(_in_both_cases(WEEKDAYS))
    return re.compile(words if glued else rf"(?<!\w){words}(?!\w)")


WEEKDAY_WITH_PREFIX = re.compile(rf"(?<![\w\u093a-\u094f])[وفب]?({_any(WEEKDAYS)})(?![\w\u0900-\u0903\u093a-\u094f])")
"""Arabic writes small words in one with the next."""

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
        rf"(?:[{UPPER}]\.-[{UPPER}]\.[ ][{UPPER}]\w*|(?:[{UPPER}]\.){{2,5}}(?![{UPPER}]\w)"
        rf"|(?:[{UPPER}]\.[ ]?){{1,4}}(?=[{UPPER}])[{UPPER}]\w*"
        rf"|[{UPPER}]\.(?=[ \u00a0][{UPPER}])"
        rf"|(?:[dDlL][{_QUOTE}])?[{UPPER}]\w{{0,40}}(?:[-‑{_QUOTE}][^\W\d_]{{1,40}}|&[{UPPER}]\w*){{0,6}}(?:{dotted})?)"
    )
    # "L'eau" is no name: the capital is the article's.
    elided = rf"(?!(?:[LDJCSNMT]|Qu)[{_QUOTE}](?![{UPPER}]))" if language == "fr" else ""
    # "Friedrich II. starb": a German ordinal keeps its full stop within the sentence.
    numeral = "|".join(rf"(?<=[ ][IVX]{{{length}}})" for length in range(1, 5))
    ordinal = rf"(?:(?:{numeral})\.(?=,|[ ][a-zäöü]))?" if language == "de" else ""
    return re.compile(
        rf"(?<![\w{_QUOTE}]){elided}(?:(?P<lead>{lead})[ ](?=[{UPPER}]))?{word}"
        rf"(?:(?<!['’]s)(?:{_GAP}|[ ]&[ ])(?:(?:{joined})(?:{_GAP}|(?<=\b[dl])[{_QUOTE}]|(?<=\bal)-))?{word}){{0,12}}"
        rf"(?:[ \u00a0](?:[IVX]{{1,5}}|the[ ](?:Great|Second|First|Third|Elder|Younger))(?!\w))?{ordinal}"
        rf"(?:,[ ](?:Jr|Sr)(?:\.|\b))?"
    )
