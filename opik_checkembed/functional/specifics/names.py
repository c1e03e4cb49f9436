"""Names, by their capitals or their script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from opik_checkembed.functional.specifics import name_patterns as patterns
from opik_checkembed.functional.specifics.dates import month_of
from opik_checkembed.functional.specifics.figures import suffix
from opik_checkembed.functional.specifics.pattern_parts import LOWER_WORD, TAKEN
from opik_checkembed.functional.specifics.readings import named, same, words_of_name
from opik_checkembed.functional.specifics.scan import Scan
from opik_checkembed.functional.specifics.vocabulary import (
    BEFORE_PLACES,
    DECIMAL_COMMA,
    DOUBTFUL_MONTHS,
    GERMAN_ADJECTIVES,
    GERMAN_NOUN_ENDINGS,
    GERMAN_NOUNS,
    GERMAN_OFFICES,
    HEADED_BY_POSSESSIVE,
    HEADS_OF_NAMES,
    HONORIFICS,
    INSTITUTIONS,
    KNOWN_NAMES,
    NAMES_LIKE_PLURALS,
    NO_LATIN_NAMES,
    NOUNS_IN_CAPITALS,
    ORDINARY_NOUNS,
    PAIRS,
    POSSESSIVE_NAMES,
    STARTERS,
    VERBS_AFTER_NAMES,
    VERBS_AFTER_NAMES_ES,
    VERBS_AFTER_NAMES_FR,
)

_GERMAN_NOUNS = frozenset(word.casefold() for word in GERMAN_NOUNS)
_GERMAN_ADJECTIVES = frozenset(word.casefold() for word in GERMAN_ADJECTIVES)
_UNDOTTED = frozenset({"mr", "mrs", "ms", "dr", "mme", "mlle", "me", "herr", "herrn", "frau", "fräulein"})
_ENDINGS_OF_NOUNS = (
    *("ing", "tion", "ment", "ness", "ity", "ism", "ers", "ance", "ence", "ees", "ly"),
    *("ions", "ments", "ings", "ists"),
)
_VERBS_OF_ONE = frozenset({"is", "has", "was"})
_MARKUP = frozenset(" \t*_")


def given_names(scan: Scan, spans: Sequence[tuple[int, int]], latin: bool) -> None:
    """Names that an entity recogniser has found."""
    for start, end in spans:
        scan.take(start, end, "name", named(scan.text[start:end], short=latin))
    scan.settle()


def names(scan: Scan, latin: bool) -> None:
    """Names that their capitals show, runs of Katakana, words in Latin letters."""
    if scan.language == "ja":
        scan.each(patterns.KATAKANA, _name)
    if latin:
        _capitalised(scan)
    else:
        scan.each(patterns.LATIN_RUN, _name)


def _name(scan: Scan, match: re.Match[str]) -> None:
    start, written = match.start(), match[0]
    if (honorific := patterns.HONORIFIC_BEFORE.match(written)) is not None:
        start += honorific.end()
        written = written[honorific.end() :]
    if len(written) == 1 or written.casefold() in NO_LATIN_NAMES:
        return
    if patterns.CODE_WORD.fullmatch(written):
        scan.take(start, match.end(), "identifier", same(f"i:{written.casefold()}"))
        return
    person = all(part[0].isupper() or part in {"van", "von", "de"} for part in written.split()) or "・" in written
    # J.K.ローリング is J・K・ローリング.
    plain = written.replace(".", "・") if patterns.KATAKANA.fullmatch(written) else written
    scan.take(start, match.end(), "name", named(plain, short=person))


def _capitalised(scan: Scan) -> None:
    _hide_letters(scan)
    runs = [run for match in _matches(scan) if (run := _run(scan, match)) is not None]
    if scan.language in {"en", "es"}:
        runs = _joined(scan, runs)
    # What is a name in the middle of a sentence is one at the beginning as well.
    spans = [(start, end, doubtful, words_of_name(scan.text[start:end])) for start, end, doubtful in runs]
    known = set(" ".join([words for *_, doubtful, words in spans if not doubtful]).split())
    for start, end, doubtful, words in spans:
        if not doubtful or words in known:
            scan.take(start, end, "name", named(scan.text[start:end], short=True))


def _matches(scan: Scan) -> Iterator[re.Match[str]]:
    """Runs of capitalised words, of one line unless a line of prose was wrapped within them."""
    pattern, left, done = patterns.runs(scan.language), scan.left, 0
    for place in _name_places(scan):
        match = pattern.match(left, place) if place >= done else None
        if match is not None and "\n" in match[0] and not _is_wrapped(scan, match):
            match = pattern.match(left, place, left.index("\n", place))
        if match is not None:
            yield match
            done = match.end()


def _is_wrapped(scan: Scan, match: re.Match[str]) -> bool:
    """Whether a line break within a run is one of prose; those behind headings and entries end a name."""
    before, after = scan.left[max(0, match.start() - 3) : match.start()], match[0].partition("\n")[2]
    if before.endswith(" ") and before.rstrip(" ,;.")[-1:].islower():
        return after.split(None, 1)[0].casefold() not in STARTERS.get(scan.language, ())
    return match.start() == 0 and match.end() == len(scan.left.rstrip()) and "\n" not in after


def _joined(scan: Scan, runs: list[tuple[int, int, bool]]) -> list[tuple[int, int, bool]]:
    """Runs that form one name: King's College London, the Food and Drug Administration, Trinidad and Tobago."""
    joined: list[tuple[int, int, bool]] = []
    for start, end, doubtful in runs:
        first, stop = joined[-1][:2] if joined else (start, start)
        # A bound, so that time grows with the text and no faster.
        if scan.text[stop:start] in _JOINTS and end - first < 120 and _is_one_name(scan.text, first, stop, start, end):
            joined[-1] = (first, end, False)
        else:
            joined.append((start, end, doubtful))
    return joined


_JOINTS = frozenset({"'s ", "’s ", " and ", " y ", " e "})


def _is_one_name(text: str, first: int, stop: int, start: int, end: int) -> bool:
    """Whether two runs with one of the joints between them are one name."""
    between, before, last = text[stop:start], text[first:stop].casefold(), text[start:end].casefold()
    if between.endswith("s "):
        return last.split()[0] in HEADED_BY_POSSESSIVE
    words = last.split()
    return (
        f"{before}{between}{last}" in PAIRS
        or (len(words) > 1 and not INSTITUTIONS.isdisjoint(words[1:]) and " " not in before)
        or patterns.OFFICE_OF.match(before) is not None
    )


def _name_places(scan: Scan) -> list[int]:
    """Where names may begin: at capitals, at an elided article before one (d'Albert), at a leading particle."""
    text, capitals = scan.left, scan.capitals
    places = [place - 2 if place > 1 and text[place - 1] in "'’" else place for place in capitals]
    return sorted([*places, *scan.places(patterns.LEADING_HEADS)])


def _hide_letters(scan: Scan) -> None:
    """Capitals say nothing in the heads of tables, nor in lines that have no small letters."""
    if "|" in scan.left:
        scan.left = patterns.TABLE_HEAD.sub(lambda head: _without_letters(head[0]), scan.left)
    scan.left = "\n".join(
        _without_letters(line)
        if patterns.SHOUTED.fullmatch(line) and len(patterns.LONG_WORD.findall(line)) > 1
        else line
        for line in scan.left.split("\n")
    )


def _run(scan: Scan, match: re.Match[str]) -> tuple[int, int, bool] | None:
    """Where the name in a run of capitalised words is, and whether it may be an ordinary word."""
    written, begun = match[0], match.start()
    lower = written.casefold()
    if lower in STARTERS.get(scan.language, ()) and not written[1:].isupper():
        return None
    led, possessive = match["lead"] is not None, False
    if not led and _is_plain(written, lower, scan.language):
        start, end, certain = begun, match.end(), " " in written
        opens = not certain and scan.opens(begun)
    else:
        trimmed = _trimmed(written, scan.language, scan.opens(begun), led)
        if trimmed is not None and scan.language in NOUNS_IN_CAPITALS:
            trimmed = _without_nouns(written, trimmed)
        if trimmed is None:
            return None
        first, last, certain, opens, possessive = trimmed
        start, end = begun + first, begun + last
    word = scan.text[start:end]
    if certain or _is_known(word, scan.language):
        return start, end, False
    if len(word) == 1 or (month_of(word) is not None and word.casefold() not in DOUBTFUL_MONTHS):
        return None
    inner = not word[1:].islower() and any(c.isupper() for c in word[1:])
    if scan.language in NOUNS_IN_CAPITALS and not inner:
        before = scan.left[max(0, start - 12) : start].split()
        placed = bool(before) and before[-1].casefold() in BEFORE_PLACES and not opens and not is_german_noun(word)
        return (start, end, not (placed or _is_all(scan, start, end)))
    if not opens or inner or (possessive and word.casefold() not in ORDINARY_NOUNS):
        return start, end, False
    alone = _is_all(scan, start, end)
    # "Python 3.12": what a version follows is no ordinary word.
    version = patterns.VERSION_NEXT.match(scan.text, end) if scan.language not in DECIMAL_COMMA else None
    versioned = (
        version is not None
        and not word.endswith(("ed", "ing"))
        and suffix(scan.text, version.end(), scan.language, money=False).end == version.end()
    )
    told = alone or versioned or _is_an_entry(scan, start, end) or _begins_a_sentence_as_name(scan, word, end)
    return start, end, not told


def _is_plain(run: str, lower: str, language: str) -> bool:
    """Whether nothing of a run is to be left out: so with most, and this is seen soon."""
    if patterns.PLAIN_NAME.fullmatch(run) is None or language in NOUNS_IN_CAPITALS:
        return False
    first = lower.partition(" ")[0]
    return first not in HONORIFICS and first not in STARTERS.get(language, ())


def _is_all(scan: Scan, start: int, end: int) -> bool:
    return start == 0 and not scan.text[end:].strip(" .!?'’s")


def _is_known(word: str, language: str) -> bool:
    return word.casefold() in KNOWN_NAMES and not (language in NOUNS_IN_CAPITALS and is_german_noun(word))


@lru_cache(maxsize=4096)
def is_german_noun(word: str) -> bool:
    """Whether a capitalised German word is an ordinary noun, as far as a list and endings tell.

    Example:
        >>> is_german_noun("Physikerin"), is_german_noun("Bewegung"), is_german_noun("Merkel")
        (True, True, False)
    """
    lower = word.casefold()
    ending = lower.endswith(GERMAN_NOUN_ENDINGS) and not lower.endswith(GERMAN_OFFICES) and "-" not in word
    return ending or lower in _GERMAN_NOUNS


@lru_cache(maxsize=4096)
def _without_nouns(run: str, trimmed: _Trimmed) -> _Trimmed | None:
    """A German run without the ordinary nouns at its head ("Physikerin Lise Meitner"), or what opened the sentence."""
    start, end, opens = trimmed.start, trimmed.end, trimmed.opens
    polite = [match.end() for match in patterns.POLITE.finditer(run, start, end)]
    if polite:
        # "Setzen Sie": the verb's capital is the sentence's, the pronoun's is courtesy.
        start, opens = polite[-1], False
    words = list(patterns.WORD.finditer(run, start, end))
    capitals = [word for word in words if word[0][0].isupper()]
    if (
        opens
        and len(capitals) > 1
        and (
            _is_german_adjective(capitals[0][0]) or (_is_inflected(capitals[0][0]) and is_german_noun(capitals[-1][0]))
        )
    ):
        capitals, opens = capitals[1:], False
    while len(capitals) > 1 and is_german_noun(capitals[0][0]):
        capitals, opens = capitals[1:], False
    if not capitals or (len(capitals) == 1 and polite and is_german_noun(capitals[0][0])):
        return None
    start = max(start, capitals[0].start())
    certain = trimmed.certain and len(capitals) > 1 and not all(is_german_noun(word[0]) for word in capitals)
    certain = certain or (trimmed.certain and start == trimmed.start and end == trimmed.end and len(capitals) == 1)
    return trimmed._replace(start=start, end=end, certain=certain, opens=opens)


def _is_inflected(word: str) -> bool:
    return word.endswith(("e", "en", "er", "es", "em"))


def _is_german_adjective(word: str) -> bool:
    lower = word.casefold()
    stem = patterns.GERMAN_ENDING.sub("", lower)
    return stem != lower and (stem in _GERMAN_ADJECTIVES or stem.endswith(("ig", "lich", "bar", "los", "sam", "ell")))


def _is_an_entry(scan: Scan, start: int, end: int) -> bool:
    """Whether this is all that an item of a list or a cell of a table holds."""
    line = scan.left.rfind("\n", max(0, start - 80), start) + 1
    before = scan.left[line:start].strip(" \t*_")
    while scan.left[end : end + 1] in _MARKUP:
        end += 1
    after = scan.left[end : end + 1]
    return after == "|" if before.endswith("|") else after in {"", "\n"} and bool(patterns.ITEM.fullmatch(before))


def _begins_a_sentence_as_name(scan: Scan, word: str, end: int) -> bool:
    lower = word.casefold()
    if lower not in ORDINARY_NOUNS and patterns.BORN.match(scan.text, end) is not None:
        return True
    if scan.language not in {"en", "fr", "es"}:
        return False
    if scan.language == "fr" and scan.left.startswith(" a ", end):
        return True
    following = LOWER_WORD.search(scan.left, end, end + 16)
    if following is None or scan.left[end : following.start()] != " ":
        following = None
    if lower not in ORDINARY_NOUNS and not _is_plural(lower) and patterns.LISTED.match(scan.text, end) is not None:
        return not lower.endswith(("ly", "ment", "mente", "ing"))
    if scan.language == "fr":
        return following is not None and following[0] in VERBS_AFTER_NAMES_FR and not lower.endswith(("er", "ir", "re"))
    if scan.language == "es":
        verb = "" if following is None else following[0]
        preterite = verb.endswith(("ó", "aron", "ieron")) and not lower.endswith(("ar", "er", "ir", "mente"))
        return preterite or (verb in VERBS_AFTER_NAMES_ES and not lower.endswith(("ar", "er", "ir", "mente")))
    if lower in ORDINARY_NOUNS or lower.endswith(_ENDINGS_OF_NOUNS):
        return False
    plural = _is_plural(lower)
    if following is None:
        return not plural and patterns.WHO.match(scan.left, end) is not None
    return following[0] in VERBS_AFTER_NAMES and not (plural and following[0] not in _VERBS_OF_ONE)


def _is_plural(lower: str) -> bool:
    """English, by its ending."""
    return (
        lower.endswith("s") and not lower.endswith(("us", "is", "os", "as", "ss")) and lower not in NAMES_LIKE_PLURALS
    )


def _without_letters(text: str) -> str:
    return "".join(TAKEN if c.isalpha() else c for c in text)


class _Trimmed(NamedTuple):
    """Where the name in a run of capitalised words is, counted from the run's beginning.

    Attributes:
        start: Where it begins.
        end: Where it ends.
        certain: Whether it is a name wherever it stands.
        opens: Whether its capital may be a sentence's.
        possessive: Whether an "'s" followed.
    """

    start: int
    end: int
    certain: bool
    opens: bool
    possessive: bool


@lru_cache(maxsize=4096)
def _trimmed(run: str, language: str, opens: bool, led: bool) -> _Trimmed | None:
    """A run without the ordinary words at its head and what ends it (a possessive, a full stop); None if none is left.

    `led` says that it begins with a small word that belongs to it.
    """
    start, end = 0, len(run)
    starters = STARTERS.get(language, ())
    crowd = patterns.OF_MANY.match(run) if opens and language == "en" and not led else None
    if crowd is not None and _is_plural(crowd[0].split()[0].casefold()):
        start, opens = crowd.end(), False
    while not led:
        head = patterns.FIRST_WORD.match(run, start)
        assert head is not None  # what is left of a run begins with a letter
        word = head[0].rstrip(".").casefold()
        elided = patterns.ELIDED.match(run, start) if language == "fr" else None
        if elided is not None:
            start, opens = elided.end(), False
            continue
        honorific = (
            word in HONORIFICS and (head[0].endswith(".") or word in _UNDOTTED) and (len(word) > 1 or language == "fr")
        )
        # "The First World War", "the Great Wall": where no sentence opens, their capitals are the name's.
        kept = not opens and (word in HEADS_OF_NAMES or (head[0].isupper() and len(word) > 1))
        dropped = word in starters and not head[0].endswith(".") and not kept
        if not (honorific or dropped):
            break
        rest = patterns.AFTER_WORD.match(run, head.end())
        if rest is None or rest.end() == end:
            return None
        start = rest.end()
        # What follows a dropped word does not begin the sentence, so its capital says something.
        opens = False
        if not (run[start].isupper() or run[start] in "dDlL"):
            # "The state of Utah": what is left begins with a particle.
            capital = patterns.CAPITAL.search(run, start)
            assert capital is not None  # a particle joins two words with capitals
            start = capital.start()
    name = run[start:end]
    possessive = name.endswith(("'s", "’s"))
    if possessive and name.replace("’", "'").casefold() not in POSSESSIVE_NAMES - {"king's", "queen's"}:
        name = name[:-2]
    if name.endswith(".") and not patterns.INITIALS_END.search(name):
        name = name[:-1]
    if name in {"I", "O", "A"}:
        return None
    return _Trimmed(start, start + len(name), led or len(name.split()) > 1, opens, possessive)
