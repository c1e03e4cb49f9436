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
from opik_checkembed.functional.specifics.vocabulary import (
    ABBREVIATIONS,
    HONORIFICS,
    LEADING_PARTICLES,
    MONTHS,
    PARTICLES,
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

URL = re.compile(
    r"(?:https?://|www\.)[\w.~:/?#()\[\]@!$&'*+,;=%-]{1,2000}|(?<![\w@.])(?:[a-z0-9-]{1,63}\.){1,4}(?:com|org|net|io|dev|edu|gov)(?:/[\w./?=&#%~-]*)?(?![\w@])",
    re.ASCII,
)

EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}", re.ASCII)

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
    rf"|[A-Z]{{2,8}}[ \u00a0](?:[A-Z]{{2,6}}[ \u00a0])?\d{{1,6}}(?:[-.:/]\d{{1,6}}){{0,3}}"
    rf"|[{_LATIN}]{{3,20}}-\d{{2,5}}[A-Za-z]?){_NO_LETTER_NEXT}(?![.,:]\d)"
)

STANDARD = re.compile(
    rf"{_NO_LETTER}(?<![/-])[A-Z]{{2,8}}(?:/[A-Z]{{1,8}}){{1,2}}[ \u00a0-]?(?:[A-Z]{{1,4}}[ \u00a0-]?)?\d{{1,6}}"
    rf"(?:[-.:/]\d{{1,6}}){{0,3}}{_NO_LETTER_NEXT}(?![.,:]\d)"
    rf"|{_NO_LETTER}(?<![/-])[A-Z]{{3,8}}[ \u00a0][A-Z][ \u00a0]\d{{2,6}}{_NO_LETTER_NEXT}(?![.,:]\d)"
)
"""ISO/IEC 27001, GB/T 5750-2006, JIS B 0001."""

HUMP = re.compile(r"[A-Z](?<=[a-z].)")

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
    ordered = sorted(words, key=lambda word: (-len(word), word))
    first = "".join(sorted({word[0] for word in ordered}))
    return rf"(?=[{first}])(?:{'|'.join(map(re.escape, ordered))})"


def _in_both_cases(words: Iterable[str]) -> set[str]:
    return {form for word in words for form in (word, word.capitalize(), word.upper())}


LETTERS = re.compile(rf"[{_LATIN}\u0620-\u064a\u0904-\u0939\u0958-\u0961]+")
"""Runs of letters: Latin, Arabic, and Hindi without its vowel signs, which Python counts as marks."""


def heads(words: Iterable[str]) -> frozenset[str]:
    """The first run of letters of each word, in small letters and capitals: where none stands, no word does."""
    return frozenset(match[0] for form in _in_both_cases(words) if (match := LETTERS.match(form)) is not None)


MONTH_HEADS = heads(MONTHS)

WEEKDAY_HEADS = heads(WEEKDAYS)


@lru_cache(maxsize=16)
def number_heads(language: str) -> frozenset[str]:
    """What numbers in words may begin with."""
    return heads(words_for_numbers(language))


_MONTH = rf"{_any(_in_both_cases(MONTHS))}(?!\w)\.?"

# Arabic often names a month twice: أيار/مايو.
_ARABIC_MONTHS = sorted((month for month in MONTHS if "\u0600" < month[0] < "\u0700"), key=lambda m: (-len(m), m))

_ALIAS = rf"(?:[ ]?[/(][ ]?(?:{'|'.join(_ARABIC_MONTHS)})(?!\w)\)?)?"

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
    r"(?:BCE?|B\.C\.(?:E\.)?|v\.[ \u00a0]?Chr\.|(?:av\.|avant)[ \u00a0]?J\.-C\.|a\.[ \u00a0]?(?:d\.[ \u00a0]?)?C\.)"
)

_AFTER_CHRIST = (
    r"(?:AD|A\.D\.|CE|C\.E\.|n\.[ \u00a0]?Chr\.|(?:apr?\.|après)[ \u00a0]?J\.-C\.|d\.[ \u00a0]?(?:d\.[ \u00a0]?)?C\.)"
)

ERA = re.compile(
    rf"(?<![\w.,])(?:(?P<bc>\d{{1,5}})[{SPACES}]{_BEFORE_CHRIST}|(?P<ad>\d{{1,5}})[{SPACES}]{_AFTER_CHRIST})(?!\w)"
)

AD_BEFORE = re.compile(r"(?<!\w)(?:AD|A\.D\.)[ ](?P<ad>\d{1,4})(?!\w)")

CENTURY_WORDS = ("centur", "siècle", "siglo", "jahrhundert")

CENTURY_WORD = re.compile("|".join(CENTURY_WORDS), re.IGNORECASE)

LONGEST_CENTURY = 20
"""Up to the end of its word."""

CENTURY = re.compile(
    rf"(?<!\w)(?:(?P<n>\d{{1,2}})(?:st|nd|rd|th|\.|e)?[{SPACES}-]?(?:century|centuries|Jahrhunderts?|siècle)"
    rf"|(?P<r>[IVX]{{1,6}})(?:e|ème)?[{SPACES}]siècle|siglo[{SPACES}](?P<r2>[IVX]{{1,6}})"
    rf"|(?P<w>[a-z]{{5,12}}|twenty-first)[ -]century)(?!\w)",
    re.IGNORECASE,
)

DECADE = re.compile(r"(?<![\w.,])([1-9]\d{2}0)(?:['’]?s|er)(?!\w)", re.IGNORECASE)

DECADE_BEFORE = re.compile(
    r"(?<!\w)(?:les )?années[ \u00a0]([1-9]\d{2}0|\d0)(?!\w)|años[ \u00a0]([1-9]\d{2}0|\d0)(?!\w)", re.IGNORECASE
)

YEARS = re.compile(
    rf"{_NO_LETTER}(?<![.,/+-])(\d{{4}})(?:[{SPACES}]?[–—-][{SPACES}]?|[ ](?:to|bis|à|a|إلى|حتى|से)[ ])"
    rf"(\d{{4}}|\d{{2}}){_NO_LETTER_NEXT}(?!/|[.,-]\d)"
)

TIME = re.compile(
    rf"(?<![\w.,])(?P<h2>\d{{1,2}})[{SPACES}]?h[{SPACES}]?(?P<n3>\d{{2}})(?![\w:/])"
    rf"|{_NO_LETTER}(?<![:.,])(?P<h>\d{{1,2}})(?:[:](?P<n>\d{{2}})(?::\d{{2}})?|[.](?P<n2>\d{{2}})(?=[{SPACES}]?(?:Uhr|[ap]\.?m)))?[{SPACES}]?(?P<x>[ap]\.m\.|[ap]m\b|uhr\b|o['’]clock\b|बजे)?{_NO_LETTER_NEXT}(?!:|[.,]\d)",
    re.IGNORECASE,
)

SCORE = re.compile(rf"{_NO_LETTER}(?<![.,:/–-])(\d{{1,3}})[:](\d{{1,2}}){_NO_LETTER_NEXT}(?!:|[.,]\d)")

_SYMBOL = r"US\$|A\$|C\$|HK\$|NT\$|[$€£¥₹₩₽￥＄]"

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

_MONEY = rf"(?:{_SYMBOL}|人民币)[{SPACES}]?|\b(?:USD|EUR|GBP|CHF|JPY|CNY|Rs\.?|रु\.?)[{SPACES}]"

BEFORE_FIGURE = re.compile(rf"(?P<sign>{_SIGN})(?:(?P<money>{_MONEY})(?P<sign2>[-−])?)?\Z")


@lru_cache(maxsize=16)
def numbers(language: str) -> re.Pattern[str]:
    """Figures (`a`), with an ordinal's ending (`ord`), a range's end (`b`) or what divides them (`over`)."""
    dash = f"{_DASH}|{_OWN_DASHES[language]}" if language in _OWN_DASHES else _DASH
    figure = f"(?:{_SPACED_FIGURE}|{_FIGURE})" if language in {"fr", "es", "pl", "ru", "sv", "cs"} else f"(?:{_FIGURE})"
    return re.compile(
        rf"{_NO_LETTER}(?<!\d:)(?P<a>{figure})"
        rf"(?:(?P<ord>st|nd|rd|th|er|ère|ème|e|º|ª|वाँ|वां|वा|वीं|वी|वें|वे|री|रा|ली|ला|थी|था|ठी|ठा)(?!\w)|(?P<dash>{dash})(?:{_SYMBOL})?(?P<b>{figure}){_NO_LETTER_NEXT}(?![=]|[{SPACES}]?[=])|/(?P<over>\d{{1,3}}){_NO_LETTER_NEXT}(?!/))?",
    )


DIGITS = re.compile(r"[\d½⅓⅔¼¾⅕⅖⅗⅘⅙⅛⅜⅝⅞](?:(?<=\d)\d+)?")

TABLE_HEAD = re.compile(r"^\|[^\n]{1,400}\|[ \t]*\n(?=\|[ :|-]{3,400}\|?[ \t]*$)", re.MULTILINE)

SHOUTED = re.compile(rf"[^a-zà-ÿ{TAKEN}]{{1,200}}")
"""A line without small letters."""

LONG_WORD = re.compile(r"[^\W\d]{2,}")

ITEM = re.compile(r"[-+•]|\d{1,3}[.)]")

LOWER_WORD = re.compile(r"(?<![\w-])[^\W\d_]{2,60}(?![\w-])")

AND_A_HALF = {
    "en": re.compile(r"[ ]and[ ]a[ ]half(?![\w-])"),
    "fr": re.compile(r"[ ]et[ ]demie?(?!\w)"),
    "es": re.compile(r"[ ]y[ ]medi[oa](?!\w)"),
}

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

INITIALS_END = re.compile(rf"(?:\b[{UPPER}]\.){{2,}}$|\b(?:Jr|Sr|Inc|Ltd|Corp|Co)\.$")

ELIDED = re.compile(r"(?:[LDJCSNMTldjcsnmt]|[Qq]u)['’](?=\w)")

NUMBERED_NAME = re.compile(
    rf"(?<![\w-])([{UPPER}][^\W\d_]*+(?:-[^\W\d_]++)?+)[ \u00a0](\d{{1,4}}(?:[a-z]|-\d{{1,4}})?)"
    rf"(?![\w]|[.,:/]\d|[ ]?[%°–-]|[{SPACES}]?[$€£])"
)


@lru_cache(maxsize=2)
def weekday_pattern(glued: bool) -> re.Pattern[str]:
    """Days of the week; `glued` for scripts that put no space between words."""
    words = _any(_in_both_cases(WEEKDAYS))
    return re.compile(words if glued else rf"(?<!\w){words}(?!\w)")


WEEKDAY_WITH_PREFIX = re.compile(rf"(?<![\w\u093a-\u094f])[وفب]?({_any(WEEKDAYS)})(?![\w\u0900-\u0903\u093a-\u094f])")
"""Arabic writes small words in one with the next."""

LEADING_HEADS = frozenset(particle.split()[0] for particle in (*LEADING_PARTICLES, "von"))


@lru_cache(maxsize=16)
def runs(language: str) -> re.Pattern[str]:
    """Capitalised words with what joins them to one name."""
    particles = PARTICLES.get(language, PARTICLES["en"])
    joined = "|".join(sorted((re.escape(p).replace(r"\ ", " ") for p in particles), key=lambda p: (-len(p), p)))
    lead = "|".join(LEADING_PARTICLES) + ("" if language == "de" else "|von der|von")
    # A full stop belongs to a word that is a known abbreviation, and to nothing else.
    dotted = "|".join(
        rf"\.(?<=\b(?i:{'|'.join(sorted(w for w in HONORIFICS | ABBREVIATIONS if len(w) == length))})\.)"
        for length in (2, 3, 4)
    )
    word = (
        rf"(?:(?:[{UPPER}]\.){{2,5}}(?![{UPPER}]\w)|(?:[{UPPER}]\.[ ]?){{1,4}}(?=[{UPPER}])[{UPPER}]\w*"
        rf"|[{UPPER}]\.(?=[ \u00a0][{UPPER}])"
        rf"|(?:[dDlL][{_QUOTE}])?[{UPPER}]\w{{0,40}}(?:[-‑{_QUOTE}][^\W\d_]{{1,40}}|&[{UPPER}]\w*){{0,6}}(?:{dotted})?)"
    )
    # "L'eau" is no name: the capital is the article's.
    elided = rf"(?!(?:[LDJCSNMT]|Qu)[{_QUOTE}](?![{UPPER}]))" if language == "fr" else ""
    return re.compile(
        rf"(?<![\w{_QUOTE}]){elided}(?:(?P<lead>{lead})[ ](?=[{UPPER}]))?{word}"
        rf"(?:(?<!['’]s)(?:{_GAP}|[ ]&[ ])(?:(?:{joined})(?:{_GAP}|(?<=\b[dl])[{_QUOTE}]))?{word}){{0,12}}"
        rf"(?:[ \u00a0](?:[IVX]{{1,5}}|the[ ](?:Great|Second|First|Third|Elder|Younger))(?!\w))?"
    )
