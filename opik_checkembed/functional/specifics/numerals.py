"""Numbers that are not written in figures: in words, Chinese or Roman numerals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import gcd

from opik_checkembed.functional.specifics.pattern_parts import ARABIC_SIGNS, HINDI_SIGNS, any_of
from opik_checkembed.functional.specifics.vocabulary import BELOW_TEN, CARDINALS, FRACTIONS, MULTIPLIERS, NO_COUNT

_GERMAN_ORDINALS = {"drei": "dritte", "sieben": "siebte", "acht": "achte"}
_GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"


@lru_cache(maxsize=1)
def german_numbers() -> dict[str, str]:
    """German numbers to 999 in one word, whole thousands, and halves; casefolded ("dreissig"), with their values."""
    ones = "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn"
    small = {word: n for n, word in enumerate(f"{ones} siebzehn achtzehn neunzehn".split())}
    tens = {word: 10 * n for n, word in enumerate(_GERMAN_TENS.split(), 2)}
    below = {**small, **tens}
    for (one, n), (ten, t) in product(list(small.items())[1:10], tens.items()):
        below[f"{one}und{ten}"] = t + n
    found = {word: n for word, n in below.items() if n > 1}
    for one, n in list(small.items())[1:10]:
        for head in {f"{one}hundert", "hundert" if n == 1 else f"{one}hundert"}:
            found[head] = 100 * n
            found.update({f"{head}{rest}": 100 * n + m for rest, m in below.items() if m})
    thousands = {f"{word}tausend": 1000 * n for word, n in found.items() if n < 1000}
    halves = {f"{word}einhalb": f"{n}.5" for word, n in list(small.items())[2:11]}
    # "Achte" and "achten" are verbs as well.
    ordinals = {
        f"{_GERMAN_ORDINALS.get(word, word + ('te' if n < 20 else 'ste'))}{ending}": n
        for word, n in below.items()
        if n > 1
        for ending in ("", "r", "n", "s", "m")
        if not (n == 8 and ending in {"", "n"})
    }
    shares = {"dreiviertel": "0.75", "zweidrittel": "0.666666667"}
    whole = {**ordinals, **found, **thousands, **shares, "tausend": 1000, "eintausend": 1000}
    return {
        word.casefold(): str(n) for word, n in {**whole, **halves, "anderthalb": "1.5", "eineinhalb": "1.5"}.items()
    }


_HUNDRED = 100


def words_value(words: Sequence[str], language: str) -> int | None:
    """The number that these casefolded words spell; None if they spell none.

    Example:
        >>> words_value(["two", "hundred", "and", "ten"], "en"), words_value(["quatre", "vingt", "dix"], "fr")
        (210, 90)
    """
    numbers, multipliers = CARDINALS.get(language, {}), MULTIPLIERS.get(language, {})
    total, current, last = 0, 0, None
    group = 10**15
    for word in words:
        if word in {"and", "et", "y"}:
            continue
        plural = word.removesuffix("s") if word not in numbers else word
        if word in numbers:
            value = numbers[word]
            if language == "fr" and value == 20 and last == 4:
                current += 80 - 4
            elif last is not None and language != "ar" and value >= (last % _HUNDRED or _HUNDRED) and last < _HUNDRED:
                return None
            else:
                current += value
            last = value
        elif (
            factor := multipliers.get(word) or multipliers.get(plural) or multipliers.get(word.removesuffix("es"))
        ) is not None:
            if factor == _HUNDRED:
                current = max(current, 1) * factor
            else:
                # "Mil millones" is a thousand times a million; "two million three thousand" is a sum.
                total = (total + current) * factor if factor > group and total else total + max(current, 1) * factor
                group, current = factor, 0
            last = factor
        else:
            return None
    return total + current


@lru_cache(maxsize=16)
def words_for_numbers(language: str) -> frozenset[str]:
    """The words that numbers are written with in a language; none where no such words are known."""
    if language == "de":
        return frozenset({*german_numbers(), *(word.replace("dreissig", "dreißig") for word in german_numbers())})
    numbers = {*CARDINALS.get(language, {}), *MULTIPLIERS.get(language, {})}
    if language in {"en", "fr"}:
        numbers |= {f"{word}s" for word in MULTIPLIERS[language] if not word.endswith("s")}
    return frozenset(numbers)


_VOWEL_SIGNS = HINDI_SIGNS + ARABIC_SIGNS


@lru_cache(maxsize=16)
def number_words(language: str) -> re.Pattern[str] | None:
    """Runs of number words in a language; groups nothing."""
    numbers = words_for_numbers(language)
    if not numbers:
        return None
    word = any_of(numbers)
    between = {
        "en": r"(?:[ -]|\s+and\s+)",
        "fr": r"(?:[ -]|-et-|\s+et\s+)",
        "es": r"(?:\s+y\s+|\s+)",
    }.get(language, r"\s+")
    # A hint of what may begin such a word keeps the search from trying all of them at every letter.
    first = "".join(sorted({w[0] for w in numbers} | {w[0].upper() for w in numbers}))
    return re.compile(
        rf"(?<![\w{_VOWEL_SIGNS}-])(?=[{re.escape(first)}])(?:{word})(?:{between}(?:{word})){{0,12}}"
        rf"(?![\w{_VOWEL_SIGNS}]|-(?!{_AFTER_HYPHEN}))",
        re.IGNORECASE,
    )


_AFTER_HYPHEN = (
    r"(?:[a-z]{2,12}est|most|year|month|week|day|hour|minute|second|mile|metre|meter|foot|and-a-half)(?![\w-])"
)
"""The third-largest, a five-year plan, two-and-a-half hours."""


@lru_cache(maxsize=16)
def fraction_words(language: str) -> re.Pattern[str] | None:
    """Fractions in words in a language: two-thirds, drei Viertel."""
    if language not in FRACTIONS:
        return None
    above, below = ("|".join(map(re.escape, words[language])) for words in (BELOW_TEN, FRACTIONS))
    return re.compile(rf"(?<![\w-])({above})[ \u00a0-]({below})(?![\w-])", re.IGNORECASE)


def fraction_value(above: str, below: str, language: str) -> str | None:
    """The fraction that these words name; None for what can be cancelled ("dos cuartos" are rooms).

    Example:
        >>> fraction_value("three", "Quarters", "en"), fraction_value("dos", "cuartos", "es")
        ('0.75', None)
    """
    over, under = BELOW_TEN[language][above.casefold()], FRACTIONS[language][below.casefold()]
    return f"{over / under:.9f}".rstrip("0") if over < under and gcd(over, under) == 1 else None


_ORDINALS = {
    "en": re.compile(r"th$|first$|second$|third$"),
    "de": re.compile(r"te[mnrs]?$"),
    "fr": re.compile(r"ième$|seconde?$"),
    "es": re.compile(r"(?:segund|tercer|cuart|quint|sext|séptim|octav|noven|décim|vigésim)[oa]?$"),
}


def is_ordinal(word: str, language: str) -> bool:
    """Whether a number in words ends as an ordinal: "the second day" lasts no two days."""
    return language in _ORDINALS and _ORDINALS[language].search(word.casefold()) is not None


def is_count(words: Sequence[str]) -> bool:
    """Whether these number words count something, and are no article or pronoun."""
    # "Thousands of soldiers" says no number.
    several = len(words) == 1 and words[0] in {
        "hundreds",
        "thousands",
        "millions",
        "billions",
        "cents",
        "cientos",
        "cent",
    }
    return any(word not in NO_COUNT for word in words) and not several and words != ["mille"]


_CHINESE = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_CHINESE_TENS = {"十": 10, "百": 100, "千": 1000}
_CHINESE_GROUPS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
CHINESE_NUMERAL = "〇零一二三四五六七八九十百千万萬亿億两兩"


def chinese_value(numeral: str) -> int:
    """The value of a Chinese numeral.

    Example:
        >>> chinese_value("一百二十"), chinese_value("三万五千"), chinese_value("一九三六")
        (120, 35000, 1936)
    """
    if len(numeral) > 1 and all(c in _CHINESE for c in numeral):
        return int("".join(str(_CHINESE[c]) for c in numeral))
    total = section = digit = 0
    for c in numeral:
        if c in _CHINESE:
            digit = _CHINESE[c]
        elif c in _CHINESE_TENS:
            section += (digit or 1) * _CHINESE_TENS[c]
            digit = 0
        else:
            total = (total + section + digit or 1) * _CHINESE_GROUPS[c]
            section = digit = 0
    return total + section + digit


_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def roman_value(numeral: str) -> int:
    """The value of a Roman numeral.

    Example:
        >>> roman_value("XVIII")
        18
    """
    values = [_ROMAN[c] for c in numeral.upper()]
    return sum(-v if v < max(values[i:]) else v for i, v in enumerate(values))
