"""Sentences and windows of a text, as exact character offsets into it.

Both return spans, never copies: `text[span.start:span.end]` is the piece, so evidence can point at its place.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from opik_checkembed.language import bare_language


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """The characters of a text from `start` to before `end`."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """This span's part of the text it was found in."""
        return text[self.start : self.end]


def sentences(text: str, language: str = "en") -> list[Span]:
    """The sentences of a text.

    Blocks come first, so that a list or table does not run together: a fenced code block (also one in a list
    item or block quote), a heading and a table row are one piece each, and a blank line, a bullet or a number at
    the start of a line begins a new one. A single line break does so too, unless the line was wrapped (it has
    50 to 120 characters) or the next goes on in lower case. Within a block, Chinese and Japanese marks split
    without white space, but not inside 「…」; the rest is split by `sentencex`, which knows abbreviations and
    decimals. A quotation or bracket is kept whole up to 200 characters. Time grows with the text's length.

    Args:
        text: Any text.
        language: ISO 639 code for the abbreviations of that language; see `bare_language`.

    Returns:
        Spans in order, without white space at their ends, that do not overlap and together hold every
        character of the text that is not white space. Each holds a letter or digit if the text has any: a
        rule, a row of dashes or a lone emoji belongs to the sentence before it, a list marker to its item.

    Raises:
        ConfigurationError: The language is not a code.

    Example:
        >>> text = "Dr. Smith paid $3.5 m. to U.S. Steel Inc. Then he left."
        >>> [span.of(text) for span in sentences(text)]
        ['Dr. Smith paid $3.5 m. to U.S. Steel Inc.', 'Then he left.']
    """
    return [piece.span for piece in _pieces(text, language)]


def sentences_and_code(text: str, language: str = "en") -> tuple[list[Span], list[Span]]:
    r"""The `sentences` of a text in two lists: those that are no fenced code, and those that are.

    Example:
        >>> text = "- Run:\n- ```\n  x = 1\n  ```\nDone."
        >>> [[span.of(text) for span in spans] for spans in sentences_and_code(text)]
        [['- Run:', 'Done.'], ['- ```\n  x = 1\n  ```']]
    """
    pieces = _pieces(text, language)
    return [piece.span for piece in pieces if not piece.code], [piece.span for piece in pieces if piece.code]


@dataclass(frozen=True, slots=True)
class _Piece:
    span: Span
    code: bool


def _pieces(text: str, language: str) -> list[_Piece]:
    language = bare_language(language)
    found: list[_Piece] = []
    for block in _blocks(text):
        spans = [] if block.whole else _in_block(text, block.body, block.end, language)
        # The list marker, left out above because its full stop ends no sentence, goes with the first.
        spans[:1] = [Span(block.start, spans[0].end if spans else block.end)]
        found += [_Piece(trimmed, block.code) for span in spans if (trimmed := _trim(text, span.start, span.end))]
    return _without_bare_symbols(text, found)


# --- blocks -------------------------------------------------------------------------------------------------

_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`\n]*$)|~{3,})")
_MARKER = re.compile(
    r"[ \t]*(?:(?:[-*+•‣◦▪●–—·]|\(?\d{1,3}[.)]|\(?[a-z][.)]|\([A-Z]\)|[IVX]{1,5}[.)])[ \t]+|"
    r"#{1,6}[ \t]+|>+[ \t]?)+"
)
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
_TABLE_ROW = re.compile(r"[ \t]*\||[^\n|]*\|[^\n|]*[ \t]\|[ \t]")
_ENDED = re.compile(r"[.!?:;…。！？：；][\"'”’»)\]*_]*$")

# A line shorter or longer than this was broken on purpose, not wrapped at a margin.
_WRAPPED, _WIDEST = 50, 120


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines that sentences do not reach out of; `body` is where the text after a list marker begins."""

    start: int
    body: int
    end: int
    whole: bool
    code: bool = False


def _blocks(text: str) -> Iterator[_Block]:
    start = body = end = -1  # of the paragraph being gathered; start < 0 when there is none
    fence = ""
    fence_start = 0
    around = ""  # what stands before the text on each line of a quotation that the fence is in
    last = ""
    for line_start, line in _lines(text):
        stripped = line.strip()
        line_end = line_start + len(line)
        if fence:
            inside = stripped.lstrip(around)
            if inside.startswith(fence) and not inside.strip(fence[0]):
                yield _Block(fence_start, fence_start, line_end, whole=True, code=True)
                fence = ""
            continue
        marker = _MARKER.match(line)
        before = marker[0] if marker and "#" not in marker[0] else ""
        opening = _FENCE.match(line, len(before))
        row = _TABLE_ROW.match(line) is not None
        alone = opening is not None or row or _HEADING.match(line) is not None
        if start >= 0 and (not stripped or alone or marker or not _runs_on(last, stripped)):
            yield _Block(start, body, end, whole=False)
            start = -1
        if opening:
            fence, fence_start, around = opening[1], line_start, "> \t" if ">" in before else " \t"
        elif alone:
            yield _Block(line_start, line_start, line_end, whole=True)
        elif stripped:
            if start < 0:
                start, body = line_start, line_start + (marker.end() if marker else 0)
            end = line_end
        last = stripped
    if fence:
        yield _Block(fence_start, fence_start, len(text), whole=True, code=True)
    elif start >= 0:
        yield _Block(start, body, end, whole=False)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, line.rstrip("\r\n")
        start += len(line)


def _runs_on(line: str, following: str) -> bool:
    if line.endswith((":", "：")):
        return False
    # A wrapped line may end in an abbreviation, so the splitter has to say whether a full stop ends it.
    return _WRAPPED <= len(line) <= _WIDEST or (following[0].islower() and not _ENDED.search(line))


# --- sentences within a block -------------------------------------------------------------------------------

_CLOSING = "\"'”’»)\\]」』）】〉》"
_CJK_STOPS = "。！？｡︒"
_CJK_STOP = re.compile(f"[{_CJK_STOPS}]")
_CJK_END = re.compile(rf"[{_CJK_STOPS}]++(?:(?![{_CLOSING}])|[{_CLOSING}]++(?!って|と(?!ても)|[っ、，,]))")
_CJK_QUOTE = re.compile(r"「[^「」]{1,200}」|『[^『』]{1,200}』|（[^（）]{1,200}）")
_CJK_MARKS = str.maketrans(dict.fromkeys(_CJK_STOPS, "、"))

_PAIRED = '"“”„«»‹›《》()[]{}<>`‚‛‟'
_OPENING = "\"'“‘„«([{"
# Apostrophes, which the splitter takes for quotation marks, and the marks `_at_cjk_marks` has dealt with.
_NEUTRAL = {**dict.fromkeys("'‘’", " "), **dict.fromkeys(_CJK_STOPS, "、")}
_NO_PAIRS = dict.fromkeys(_PAIRED, " ")
_ENUMERATOR = re.compile(r"(?:^\s*|(?<=[:;,] ))\(?\d{1,3}[.)]$")
# Abbreviations unknown to the splitter that end no sentence before a digit or a small letter.
_ABBREVIATED = re.compile(
    r"\b(?:approx|chap?|eds?|eqs?|est|excl|figs|incl|max|suppl|tbsp|tel|trans|tsp|vol)\.$", re.IGNORECASE
)
# Nothing in here ends a sentence, the marks dealt with before excepted: most Chinese and Japanese sentences.
_UNMARKED = re.compile(r"[\w\s,;、，；：。！？｡︒「」『』（）]*")
_LEAST_UNBROKEN = 1000
_UNBROKEN = re.compile(rf"(\S{{{_LEAST_UNBROKEN},}})")
_UNSPACED = re.compile(r"\S+")
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[^\W_]")
_NOT_TEXT = re.compile(r"[\ud800-\udfff]")

# The splitter's time grows with the square of what it is given at once: with each quotation mark it looks at all
# others. Longer blocks are given in parts; what it finds near the end of a part, where the text is cut, is read again.
# A word that begins in the first half of a part (it is shorter than `_UNBROKEN`) ends before that.
_AT_ONCE, _CUT_END = 3072, 512

# Quotations and brackets longer than this are split inside: a pair this far apart is a stray mark, or an
# answer that stands in quotation marks as a whole.
_QUOTED = 200


def _in_block(text: str, start: int, end: int, language: str) -> list[Span]:
    pieces: list[Span] = []
    for piece_start, piece_end in _at_cjk_marks(text, start, end):
        pieces += _at_other_marks(text, piece_start, piece_end, language)
    return pieces


def _at_cjk_marks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if _CJK_STOP.search(text, start, end) is None:
        yield start, end
        return
    # Marks within a quotation do not end the sentence around it, save one right before its closing bracket.
    masked = _CJK_QUOTE.sub(lambda quote: quote[0][:-2].translate(_CJK_MARKS) + quote[0][-2:], text[start:end])
    at = start
    for mark in _CJK_END.finditer(masked):
        yield at, start + mark.end()
        at = start + mark.end()
    if at < end:
        yield at, end


def _at_other_marks(text: str, start: int, end: int, language: str) -> Iterator[Span]:
    if _UNMARKED.fullmatch(text, start, end):
        yield Span(start, end)
        return
    at = start
    for index, run in enumerate(_runs(text[start:end])):
        unbroken = index % 2 == 1
        for length in [len(run)] if unbroken else _lengths(run, language):
            yield Span(at, at + length)
            at += length


def _runs(text: str) -> list[str]:
    """What stands before, between and behind unbroken runs, and these; one piece where there are none."""
    # Every such run holds a whole half of its least length, counted from the beginning of the text, without a space.
    half = _LEAST_UNBROKEN // 2
    if all(_SPACE.search(text, at, at + half) for at in range(0, len(text) - half + 1, half)):
        return [text]
    return _UNBROKEN.split(text)


def _lengths(text: str, language: str) -> Iterator[int]:
    """Lengths of the pieces that a text falls into at the marks of its language, white space included."""
    plain = _NOT_TEXT.sub("\ufffd", _replaced(text, _NEUTRAL))
    if plain.count('"') % 2:
        plain = plain.replace('"', " ")
    elif len(plain) > _AT_ONCE:
        # A part may begin within a quotation, so these have to say which of them opens.
        sides = itertools.cycle("“”")
        plain = re.sub('"', lambda _: next(sides), plain)
    ends: list[int] = []
    begun = 0
    for end in [*_ends(plain, language), len(plain)]:
        if end - begun > _QUOTED:
            ends += [begun + inner for inner in _ends(_replaced(plain[begun:end], _NO_PAIRS), language)]
        ends.append(end)
        begun = end
    start = 0
    for end in ends[:-1]:
        stop = end
        while stop > start and text[stop - 1].isspace():
            stop -= 1
        if language == "en" and _ABBREVIATED.search(text, max(start, stop - 9), stop) and not text[end].isupper():
            continue
        length = len(_without_opening(text[start:stop]))
        yield length
        start += length
    yield len(text) - start


def _replaced(text: str, marks: Mapping[str, str]) -> str:
    # Most marks are in no text, and to look for one is faster than to look up every letter, as `translate` does.
    for mark, other in marks.items():
        text = text.replace(mark, other)
    return text


def _ends(text: str, language: str) -> list[int]:
    """Where sentences end by the splitter, the end of the text left out."""
    from sentencex import segment

    ends: list[int] = []
    start = 0
    while True:
        cut = len(text) - start > _AT_ONCE
        pieces = segment(language, text[start : start + _AT_ONCE])
        found = [start + length for length in itertools.accumulate(map(len, pieces[:-1]))]
        if not cut:
            return ends + found
        ends += [end for end in found if end <= start + _AT_ONCE - _CUT_END]
        # At least half of the part is done with: where no sentence ends behind its middle, none has to be read again.
        middle = _SPACE.search(text, start + _AT_ONCE // 2)
        start = max(ends[-1] if ends else 0, middle.end() if middle else start + _AT_ONCE // 2)


def _without_opening(head: str) -> str:
    """A piece without what at its end opens the next: a quotation mark or bracket, or an item's number."""
    bare = head.rstrip(_OPENING)
    if bare != head and bare[-1:].isspace():
        return bare
    number = _ENUMERATOR.search(head) if head[-2:-1].isdigit() else None
    return head[: number.start()] if number else head


def _trim(text: str, start: int, end: int) -> Span | None:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    return Span(start + left, start + len(piece.rstrip())) if left < len(piece) else None


def _without_bare_symbols(text: str, pieces: list[_Piece]) -> list[_Piece]:
    kept: list[_Piece] = []
    pending: int | None = None
    for piece in pieces:
        start, end = piece.span.start, piece.span.end
        if _WORD.search(text, start, end):
            kept.append(piece if pending is None else _Piece(Span(pending, end), piece.code))
            pending = None
        elif kept:
            kept[-1] = _Piece(Span(kept[-1].span.start, end), kept[-1].code)
        elif pending is None:
            pending = start
    return kept if pending is None else [_Piece(Span(pending, pieces[-1].span.end), all(one.code for one in pieces))]


# --- windows ------------------------------------------------------------------------------------------------

Counter = Callable[[Sequence[str]], Sequence[int]]
"""Token counts of a batch of texts, in their order."""


class _Grain(IntEnum):
    SENTENCE = 0
    WORD = 1
    CHARACTER = 2


@dataclass(slots=True)
class _Unit:
    """A piece that windows are built from, and how many tokens it is taken to hold."""

    span: Span
    tokens: float
    grain: _Grain


def windows(text: str, count: Counter, limit: int, overlap: int = 1) -> list[Span]:
    """Cut a text into windows that a model can read as a whole.

    Windows begin and end at sentences. A sentence over the limit is cut at white space, and a word over it
    (or a script without white space) between characters; nothing is lost and no window is over the limit.
    Tokens of joined sentences do not add up exactly, so every window is counted as it is; those found too
    long are laid out again. A text takes about three counting calls, and a few more if sentences are cut.

    Args:
        text: Any text.
        count: Token counter of the model, for a batch of texts. If it counts special tokens, `limit` has to
            allow for them.
        limit: The most tokens that a window may hold.
        overlap: Sentences that a window repeats of the one before, where they fit beside a new one.

    Returns:
        Windows in order, together holding every character that is not white space: none for a text without
        any, one for a text within the limit.

    Raises:
        ValueError: `limit` is below 1, `overlap` below 0, or a single character is over the limit.

    Example:
        >>> def words(texts):
        ...     return [len(text.split()) for text in texts]
        >>> text = "One two. Three four. Five six."
        >>> [window.of(text) for window in windows(text, words, limit=4)]
        ['One two. Three four.', 'Three four. Five six.']
    """
    if limit < 1 or overlap < 0:
        raise ValueError(f"limit must be at least 1 and overlap at least 0, got {limit} and {overlap}")
    whole = _trim(text, 0, len(text))
    if whole is None:
        return []
    special, total = count(["", whole.of(text)])
    if total <= limit:
        return [whole]
    if special >= limit:
        raise ValueError(f"limit {limit} leaves no room beside {special} special tokens")
    room = limit - special
    units = _units(text, count, special, room)
    known: dict[Span, int] = {}
    while True:
        laid = _lay_out(units, room, overlap)
        new = [span for first, last in laid if (span := _joined(units, first, last)) not in known]
        known.update(zip(new, count([span.of(text) for span in new]), strict=True))
        tokens = [known[_joined(units, first, last)] - special for first, last in laid]
        over = [(first, last, held) for (first, last), held in zip(laid, tokens, strict=True) if held > room]
        if not over:
            return [_joined(units, first, last) for first, last in laid]
        _correct(text, units, over)


def _units(text: str, count: Counter, special: int, room: int) -> list[_Unit]:
    """Sentences; where one has no room, its words; where a word has none, its characters."""

    def counted(spans: list[Span], grain: _Grain) -> list[_Unit]:
        counts = count([span.of(text) for span in spans])
        return [_Unit(span, max(tokens - special, 1), grain) for span, tokens in zip(spans, counts, strict=True)]

    units: list[_Unit] = []
    words: list[Span] = []
    for unit in counted(sentences(text), _Grain.SENTENCE):
        if unit.tokens <= room:
            units.append(unit)
        else:
            words += [Span(*word.span()) for word in _UNSPACED.finditer(text, unit.span.start, unit.span.end)]
    for unit in counted(words, _Grain.WORD) if words else []:
        units += [unit] if unit.tokens <= room else _characters(unit)
    return sorted(units, key=lambda unit: unit.span)


def _characters(unit: _Unit) -> list[_Unit]:
    # Counted one by one, characters would hold several times the tokens that they hold together.
    share = unit.tokens / (unit.span.end - unit.span.start)
    return [_Unit(Span(at, at + 1), share, _Grain.CHARACTER) for at in range(unit.span.start, unit.span.end)]


def _joined(units: list[_Unit], first: int, last: int) -> Span:
    return Span(units[first].span.start, units[last - 1].span.end)


def _lay_out(units: list[_Unit], room: int, overlap: int) -> list[tuple[int, int]]:
    """Windows as ranges of units, each filled as far as the token estimates allow."""
    laid: list[tuple[int, int]] = []
    done = 0
    while done < len(units):
        first, last = done, done + 1
        tokens = units[done].tokens
        while (
            done - first < overlap
            and first > 0
            and units[first - 1].grain is _Grain.SENTENCE
            and tokens + units[first - 1].tokens <= room
        ):
            first -= 1
            tokens += units[first].tokens
        while last < len(units) and tokens + units[last].tokens <= room:
            tokens += units[last].tokens
            last += 1
        laid.append((first, last))
        done = last
    return laid


# Estimates found too low are raised by this much more than was missing, so that few rounds of counting do.
_MARGIN = 1.02


def _correct(text: str, units: list[_Unit], over: list[tuple[int, int, int]]) -> None:
    """Raise the estimates of the finest units that windows over the limit hold: those are the roughest."""
    factors = dict.fromkeys(_Grain, 1.0)
    for first, last, tokens in over:
        if last - first == 1:
            raise ValueError(f"{units[first].span.of(text)!r} alone is over the limit")
        window = units[first:last]
        finest = max(unit.grain for unit in window)
        taken = sum(unit.tokens for unit in window if unit.grain is finest)
        rest = sum(unit.tokens for unit in window) - taken
        factors[finest] = max(factors[finest], _MARGIN * (tokens - rest) / taken)
    for unit in units:
        unit.tokens *= factors[unit.grain]
