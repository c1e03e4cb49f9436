"""What addresses, quotations and identifiers are found with; see `codes`.

Each pattern is bounded, so that time grows with the length of the text and no faster.
"""

from __future__ import annotations

import re

from opik_checkembed.functional.specifics.pattern_parts import (
    ACCENTED,
    LATIN,
    LATIN_WORD,
    NO_LETTER,
    NO_LETTER_NEXT,
    SPACES,
    UPPER,
    any_of,
)
from opik_checkembed.functional.specifics.vocabulary import STANDARD_BODIES

_DOMAINS = "com|org|net|io|dev|edu|gov|int|info|eu|uk|de|fr|es|ch|mx|app|ai|example"

DOMAIN = re.compile(rf"\.(?:{_DOMAINS})")

URL = re.compile(
    rf"(?:https?://|www\.)[\w{ACCENTED}.~:/?#()\[\]@!$&'*+,;=%-]{{1,2000}}"
    rf"|(?<![\w{ACCENTED}@.-])(?:[a-z0-9-]{{1,63}}\.){{1,4}}(?:{_DOMAINS})(?:/[\w{ACCENTED}./?=&#%~-]*)?"
    rf"(?![\w{ACCENTED}@])",
    re.ASCII,
)

EMAIL = re.compile(
    rf"(?<![\w{ACCENTED}.+-])[\w{ACCENTED}.+-]{{1,64}}@[\w{ACCENTED}-]{{1,63}}(?:\.[\w{ACCENTED}-]{{1,63}}){{1,4}}",
    re.ASCII,
)

DOI = re.compile(r"(?<![\w./])10\.\d{4,9}/[\w.;()/:<>+-]{1,200}", re.ASCII)

ISBN = re.compile(r"ISBN(?:-1[03])?:?[ \u00a0]?(?P<isbn>(?:97[89][ -]?)?(?:\d[ -]?){9}[\dXx])(?![\w-])")

EXTENSION = re.compile(
    r"\.(?:py|js|ts|tsx|jsx|json|ya?ml|md|txt|csv|toml|ini|cfg|conf|sh|html?|css|xml|sql|log|exe|dll|zip|gz|pdf|docx?|xlsx?"
    r"|png|jpe?g|svg|java|cpp|rs|go|rb|php|ipynb|lock|env)(?!\w|\.\w)"
    rf"(?![{ACCENTED}])",
    re.ASCII,
)

FILE = re.compile(rf"(?<![\w{ACCENTED}@:])[\w{ACCENTED}~./-]{{1,80}}\Z", re.ASCII)
"""The name of a file up to its extension."""

CALLED = re.compile(rf"(?<![\w{ACCENTED}.])(?:[A-Za-z_]\w{{0,40}}\.){{1,4}}[A-Za-z_]\w{{0,40}}\Z", re.ASCII)
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

SERIAL = re.compile(r"(?<![\w./°-])(?<!\d,)(?:[A-Z0-9]{1,8}[-/]){1,5}[A-Z0-9]{1,8}(?![\w-]|[./]\w)")

AMOUNTS = re.compile(r"(\d{1,8})([A-Z]{0,4})-(\d{1,8})([A-Z]{0,4})")

GENETIC = re.compile(r"(?<![\w.-])(?:\d{1,2}[pq]\d{1,2}(?:\.\d{1,2})?|[a-z]{1,2}\d{2,9})(?![\w-]|[.,]\d)")

LAW = re.compile(
    r"(?:§{1,2}|\bArt\.)[ \u00a0]?\d{1,4}[a-z]?(?:[ \u00a0]Abs\.[ \u00a0]\d{1,2})?"
    r"(?:[ \u00a0](?:Satz|S\.|Nr\.)[ \u00a0]\d{1,2}){0,2}"
    r"(?:\(\w{1,3}\)){0,3}(?:[ \u00a0][A-Z][A-Za-z]{0,3}[A-Z])?(?!\w)"
)

QUOTE_MARK = re.compile("[“„«»「『《〈\"‘‚']")

CODE = re.compile(r"(?<!`)`([^`\n]{1,80})`(?!`)")

QUOTED = re.compile(
    r"“([^“”]{1,300})”|„([^“”„]{1,300})[“”]|«[\s\u00a0\u202f]?([^«»]{1,300}?)[\s\u00a0\u202f]?»|»([^«»]{1,300})«"
    r"|「([^「」]{1,300})」|『([^『』]{1,300})』|《([^《》]{1,300})》|〈([^〈〉]{1,300})〉"
    rf"|{NO_LETTER}(?<!\")\"([^\"\n]{{1,300}})\"|‘([^‘\n]{{1,200}}?)’{NO_LETTER_NEXT}|‚([^‘’‚\n]{{1,200}})[‘’]"
    rf"|{NO_LETTER}(?<!')'(?!\d\ds)(?=[{UPPER}\w])([^'\n]{{2,120}}(?:'\w[^'\n]{{1,60}}){{0,2}})'{NO_LETTER_NEXT}"
)

SNAKE = re.compile(
    rf"(?<![\w{ACCENTED}.])(?:(?:[A-Za-z][A-Za-z0-9]{{0,40}}(?:_[A-Za-z0-9]{{1,40}}){{1,8}}"
    rf"|[a-z]{{1,30}}(?:[A-Z][a-z0-9]{{1,30}}){{1,6}}(?=\())(?:\(\))?+(?![\w{ACCENTED}])|[A-Za-z_]\w{{1,40}}\(\))",
    re.ASCII,
)

# What stands behind the point of 6.02214076e23 is none.
HASH = re.compile(
    r"(?<![\w-])(?!(?<=\d[.,])\d{1,300}+e\d{1,3}(?!\w))(?=[a-f]{0,39}\d)(?=\d{0,39}[a-f])[0-9a-f]{7,40}(?![\w-])",
    re.ASCII,
)

VERSION = re.compile(
    rf"{NO_LETTER}(?<!\.)(?:v\d{{1,4}}(?:\.\d{{1,6}}){{0,3}}|\d{{1,4}}(?:\.\d{{1,6}}){{2,3}})(?:-?(?:rc|alpha|beta|b|a)\.?\d{{0,3}})?"
    rf"(?![A-Za-z0-9_.]{{0,20}}\d){NO_LETTER_NEXT}",
    re.IGNORECASE,
)

DESIGNATION = re.compile(
    rf"{NO_LETTER}(?<![-°])(?:[A-Z]{{1,6}}[a-z]{{0,3}}-?\d{{1,6}}[A-Za-z]{{0,3}}|[A-Z]{{1,4}}(?:\d{{1,3}}[A-Z]{{1,3}}){{1,3}}\d?"
    rf"|[A-Z]{{2,10}}-[A-Z]{{0,4}}\d{{1,6}}[A-Za-z]{{0,2}}"
    rf"|[A-Z]{{2,8}}[ \u00a0](?:[A-Z]{{2,6}}[ \u00a0])?\d{{1,6}}(?:[-.:/]\d{{1,6}}){{0,5}}"
    rf"|[{LATIN}]{{3,20}}-\d{{2,5}}[A-Za-z]?){NO_LETTER_NEXT}(?![.,:]\d)"
)

STANDARD_BY_FORM = re.compile(
    rf"{NO_LETTER}(?<![/-])[A-Z]{{2,8}}(?:/[A-Z]{{1,8}}){{1,2}}[ \u00a0-]?(?:[A-Z]{{1,4}}[ \u00a0-]?)?\d{{1,6}}"
    rf"(?:[-.:/]\d{{1,6}}){{0,5}}{NO_LETTER_NEXT}(?![.,:]\d)"
    rf"|{NO_LETTER}(?<![/-])[A-Z]{{3,8}}[ \u00a0][A-Z][ \u00a0]\d{{2,6}}{NO_LETTER_NEXT}(?![.,:]\d)"
)
"""Whatever body it is from: ISO/IEC 27001, GB/T 5750-2006, JIS B 0001."""

LONGEST_HEAD = 21
"""Of a designation, up to its first figure."""

MIXED = re.compile(
    rf"{NO_LETTER}(?<!-)(?:[a-z]{{1,3}}[A-Z][A-Za-z]{{1,20}}(?:[ \u00a0]\d{{1,3}}(?![\w.,:]{{0,20}}\d))?"
    rf"(?:[ \u00a0](?:Pro|Max|Plus|Mini|Air|Ultra))?){NO_LETTER_NEXT}"
)

_AREA = r"(?:\(\d{2,5}\)[ -]?|\d{2,5}[ -])"

PHONE = re.compile(
    rf"{NO_LETTER}(?<!\.)(?:(?:\+|00)\d{{1,3}}[ -]?(?:\(0\)[ ]?)?{_AREA}{{1,5}}\d{{2,8}}"
    rf"|(?:\(0\d{{1,5}}\)[ ]?|0\d{{1,5}}[ /-])\d{{3,8}}(?:[ -]\d{{2,8}}){{0,4}}"
    rf"|(?:1-)?{_AREA}{{2,5}}\d{{2,5}})(?!-){NO_LETTER_NEXT}"
)

LATIN_NUMBERED = re.compile(
    rf"{NO_LETTER}(?<![@/.-])(?:(?=[A-Za-z]{{0,3}}[A-Z]){LATIN_WORD}[ \u00a0]){{1,4}}(?P<n>\d{{1,4}})"
    rf"(?:[ \u00a0](?:Pro|Max|Plus|Mini|Air|Ultra)){{0,2}}{NO_LETTER_NEXT}(?![.,:/–～〜~-]\d|[ ]?[%％°℃])"
)

VERSION_BEHIND_WORD = re.compile(
    r"(?:版本号?|バージョン|الإصدار|إصدار|نسخة|النسخة|संस्करण|वर्ज़न|वर्जन"
    r"|(?=[A-Za-z]{2,19}[a-z])(?:[A-Za-z]{3,20}|iOS))[ ：:]?[ ]?"
    rf"([vV]?\d{{1,4}}(?:\.\d{{1,6}}){{1,3}}){NO_LETTER_NEXT}(?![.]\d|[ ]?[%％٪°℃])"
)
"""A version of two parts is told from a number by the word before it: 版本2.4, Python 3.12."""

GENERATION = re.compile(rf"{NO_LETTER}(?<![.,])(?:[2-6]G|[248]K|[234]D){NO_LETTER_NEXT}")

NUMBER_SIGN = re.compile(r"[ \u00a0](?:N[or]\.|Núm\.|[nN][°º])\Z")

NUMBERED_NAME = re.compile(
    rf"(?<![\w-])([{UPPER}][^\W\d_]*+(?:-[^\W\d_]++)?+)[ \u00a0]"
    r"((?:(?:N[or]\.|Núm\.|[nN][°º])[ \u00a0])?\d{1,4}(?:[a-z]|-\d{1,4})?(?:\((?:\d{1,2}|[a-z]{1,4})\)){0,3})"
    rf"(?![\w]|[.,:/]\d|[ ]?[%°–-]|[{SPACES}]?[$€£]|[ \u00a0\u202f]\d{{3}})"
)

LEADING_WORDS = re.compile(rf"(?:[{UPPER}][\w'’-]*[ ]){{1,3}}\Z")
"""Before a numbered name: what else belongs to it."""
