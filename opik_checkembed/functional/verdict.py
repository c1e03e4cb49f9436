"""Yes or no: the one place where a judge's reply becomes a verdict.

A reply that says anything else is unreadable. It is never taken for a verdict because a word begins like one.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate


class Verdict(StrEnum):
    """What a reply says."""

    YES = "yes"
    NO = "no"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Reading:
    """A judge's reply, read.

    Attributes:
        verdict: What it says.
        p_yes: The probability of yes at the token that decided, among yes and no; None without log-probabilities.
        text: The reply.
    """

    verdict: Verdict
    p_yes: float | None = None
    text: str = ""

    @property
    def probability(self) -> float | None:
        """The probability of yes, 0 to 1: `p_yes` where it is known, else 1 or 0; None for an unreadable reply."""
        if self.verdict is Verdict.UNREADABLE:
            return None
        return float(self.verdict is Verdict.YES) if self.p_yes is None else self.p_yes


def read_verdict(text: str, logprobs: Sequence[Sequence[tuple[str, float]]] = ()) -> Reading:
    """Read yes or no from a judge's reply, in any of some thirty languages.

    The verdict must be the first word of the reply, or follow a label ("Answer:", "VERDICT:", `<answer>`, a JSON key
    of that kind) at its beginning or in its last line. Case, emphasis, quotes, code fences, HTML and a closed
    `<think>` block do not count. After the word the sentence must end or pause ("No, ...", "no - ..."), or go on with
    "because", "it", "the" and the like: "No information is given", "No doubt", "None" and "Yes and no" are no
    verdicts, nor is a sentence that has a yes somewhere, nor a reply whose beginning and last line disagree.

    Languages that mean the opposite by one word are read in the better known: "no" as English, Spanish and Italian
    have it, not as colloquial Polish or Czech; "tak" as in Polish; "ne" as in Czech; "ναι" is yes.

    Args:
        text: The whole reply.
        logprobs: For each token of the reply the (token, log-probability) pairs at its place, the chosen one first.
            Tokens as providers write them: a space before a word may be " ", "▁" or "Ġ". The first tokens are enough.

    Returns:
        The verdict, and where the log-probabilities belong to this reply and reach its verdict, P(yes): the mass of
        all spellings of yes over that of yes and no, in the language of the verdict.

    Example:
        >>> [read_verdict(reply).verdict.value for reply in ("**No**", "Answer: Yes.", "Nein, denn", "Not mentioned")]
        ['no', 'yes', 'no', 'unreadable']
        >>> round(read_verdict("Yes", [[("Yes", -0.1), (" yes", -3.0), ("No", -3.0)]]).p_yes, 2)
        0.95
    """
    folded = _fold(text)
    found = _find(folded)
    if found is None:
        return Reading(Verdict.UNREADABLE, text=text)
    return Reading(found.verdict, _p_yes(folded, found, logprobs), text)


# --- the words ----------------------------------------------------------------------------------------------

_YES_AND_NO: Mapping[str, tuple[str, str]] = {
    "en": ("yes yeah yep yup", "no nope nah"),
    "de": ("ja jawohl", "nein nee nö"),
    "fr": ("oui", "non"),
    "es": ("sí si", "no"),
    "it": ("sì si", "no"),
    "pt": ("sim", "não nao"),
    "ca": ("sí", "no"),
    "nl": ("ja", "nee neen"),
    "sv": ("ja", "nej"),
    "da": ("ja", "nej"),
    "no": ("ja", "nei"),
    "fi": ("kyllä", "ei"),
    "pl": ("tak", "nie"),
    "cs": ("ano", "ne"),
    "sk": ("áno", "nie"),
    "hr": ("da", "ne"),
    "ro": ("da", "nu"),
    "hu": ("igen", "nem"),
    "ru": ("да", "нет"),
    "uk": ("так", "ні"),
    "bg": ("да", "не"),
    "el": ("ναι", "όχι οχι"),
    "tr": ("evet", "hayır hayir"),
    "ar": ("نعم", "لا كلا"),
    "fa": ("بله", "خیر نه"),
    "he": ("כן", "לא"),
    "hi": ("हाँ हां जी_हाँ जी_हां", "नहीं जी_नहीं"),
    "bn": ("হ্যাঁ", "না"),
    "zh": ("是 是的 对 对的 對 對的", "否 不 不是 不是的 不对 不對 没有 沒有"),
    "ja": ("はい", "いいえ"),
    "ko": ("예 네", "아니요 아니오 아뇨"),
    "vi": ("có vâng", "không"),
    "id": ("ya iya", "tidak"),
    "th": ("ใช่", "ไม่ใช่ ไม่"),
}
_LABELS = (
    "answer verdict judgement judgment conclusion result response decision output label antwort urteil réponse "
    "respuesta veredicto risposta verdetto resposta veredito antwoord oordeel svar odpowiedź odpověď ответ вердикт "
    "відповідь cevap yanıt απάντηση إجابة الإجابة الجواب תשובה התשובה उत्तर 答案 回答 判断 判定 结论 結論 答え 답변 답 "
    "정답 câu_trả_lời trả_lời jawaban"
)
# What may follow a verdict with no more than a space between.
_GOES_ON = frozenset((
    "because", "since", "as", "the", "it", "its", "it's", "this", "that", "there", "i", "weil", "denn", "parce", "car",
    "porque", "pois", "perché", "omdat", "want", "eftersom", "fordi", "bo", "ponieważ", "protože", "потому", "бо",
    "тому", "çünkü", "γιατί", "επειδή", "karena", "vì",
))  # fmt: skip


def _fold(text: str) -> str:
    """One spelling for what looks the same: compatibility forms, case, invisible characters."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if unicodedata.category(c) != "Cf")


def _alternatives(words: Sequence[str]) -> str:
    """A pattern of folded words, the longest first; "_" stands for white space."""
    folded = sorted({_fold(word) for word in words}, key=len, reverse=True)
    return "|".join(re.escape(word).replace("_", r"\s+") for word in folded)


def _meanings() -> dict[str, tuple[Verdict, frozenset[str]]]:
    """Each folded word with its verdict and the languages that have it."""
    found: dict[str, tuple[Verdict, frozenset[str]]] = {}
    for language, spellings in _YES_AND_NO.items():
        for verdict, words in zip((Verdict.YES, Verdict.NO), spellings, strict=True):
            for word in words.split():
                key = _fold(word).replace("_", " ")
                found[key] = (verdict, found.get(key, (verdict, frozenset()))[1] | {language})
    return found


_MEANINGS = _meanings()
_WORD = re.compile(_alternatives([word.replace(" ", "_") for word in _MEANINGS]))
_LABEL = _alternatives(_LABELS.split())
_HTML = r"</?(?:b|i|u|p|em|strong|code|br|span|div)\s*/?>"
_MARKUP = re.compile(rf"(?:```(?:json|text|txt|markdown|yaml|xml)\b|\\(?:boxed|text|textbf|mathrm)\b|{_HTML}|[\W_])*")
_LEAD = re.compile(
    rf"(?:(?:the|my)\s+)?(?:(?:final|short|correct)\s+)?(?:{_LABEL})(?:\s+(?:is|ist|est|es|è|é|is:)\b)?(?!\w)"
)
# In the last line a label must be written as one.
_LABELLED = re.compile(rf'(?:^[\W_]*(?:final\s+)?(?:{_LABEL})[\W_]*?[:=]|(?<!\\)"(?:{_LABEL})"\s*:|<(?:{_LABEL})>)')
_THOUGHT = re.compile(r"</think(?:ing)?>")
_THINKING = re.compile(r"\s*<think(?:ing)?>")
# "No-one", "yes'm", "no_information", "No.5" are words of their own.
_COMPOUND = re.compile(r"[-'’_‐‑][^\W_]|\.\s*\d")
_RUNS_ON = re.compile(r"[*_]*[ \t]+([^\W\d_][\w'’]*)(\s*:)?")
_AND = re.compile(r"[\W_]*(?:(?:and|or|but|nor|und|oder|et|ou|y|o|e|i|и|или|або)\b[\W_]*)*")


@dataclass(frozen=True)
class _Found:
    """A verdict word and where it begins in the folded text."""

    verdict: Verdict
    languages: frozenset[str]
    start: int


def _find(folded: str) -> _Found | None:
    """The verdict of a folded reply; None where it has none, or two."""
    thoughts = list(_THOUGHT.finditer(folded))
    begin = thoughts[-1].end() if thoughts else 0
    if _THINKING.match(folded, begin):
        # Cut while it was still thinking.
        return None
    found = [one for one in (_opening(folded, begin), _closing(folded, begin)) if one is not None]
    return found[0] if len({one.verdict for one in found}) == 1 else None


def _opening(folded: str, begin: int) -> _Found | None:
    place = _past(_MARKUP, folded, begin)
    # "Final answer: <answer>no": labels may follow each other, but no reply has many.
    for _ in range(3):
        lead = _LEAD.match(folded, place)
        if lead is None:
            break
        place = _past(_MARKUP, folded, lead.end())
    return _word_at(folded, place)


def _closing(folded: str, begin: int) -> _Found | None:
    end = len(folded)
    while end > begin and not folded[end - 1].isalnum():
        end -= 1
    start = max(begin, folded.rfind("\n", 0, end) + 1)
    labels = list(_LABELLED.finditer(folded[start:end]))
    return _word_at(folded, _past(_MARKUP, folded, start + labels[-1].end())) if labels else None


def _past(pattern: re.Pattern[str], folded: str, place: int) -> int:
    """Where the pattern, which may match nothing, ends."""
    found = pattern.match(folded, place)
    return found.end() if found else place


def _word_at(folded: str, place: int) -> _Found | None:
    word = _word(folded, place)
    if word is None or _COMPOUND.match(folded, word.end()):
        return None
    after = _RUNS_ON.match(folded, word.end())
    if after and not after[2] and after[1] not in _GOES_ON:
        return None
    verdict, languages = _meaning(word[0])
    other = _word(folded, _past(_AND, folded, word.end()))
    if other is not None:
        opposite, spoken = _meaning(other[0])
        if opposite is not verdict and spoken & languages:
            return None
    return _Found(verdict, languages, place)


def _word(folded: str, place: int) -> re.Match[str] | None:
    """The verdict word that stands here as a whole word."""
    word = _WORD.match(folded, place)
    following = folded[word.end() : word.end() + 1] if word else ""
    # Vowel signs of Indic scripts belong to the word, though `\w` leaves them out.
    return None if following and unicodedata.category(following)[0] in "LMN" else word


def _meaning(word: str) -> tuple[Verdict, frozenset[str]]:
    return _MEANINGS[" ".join(word.split())]


# --- the tokens ---------------------------------------------------------------------------------------------

# How tokenizers write a space and a line break.
_TOKEN_SPACES = str.maketrans({"▁": " ", "Ġ": " ", "Ċ": "\n"})


def _p_yes(folded: str, found: _Found, logprobs: Sequence[Sequence[tuple[str, float]]]) -> float | None:
    """P(yes) at the token that holds the verdict's word; None where no token holds the whole of it."""
    pieces = [_fold(tokens[0][0].translate(_TOKEN_SPACES)) for tokens in logprobs]
    written = "".join(pieces)
    shown, said = written.strip(), folded.strip()
    if not shown or not (said.startswith(shown) or shown.startswith(said)):
        # Of another text, such as the thoughts that a server has taken out of the reply.
        return None
    same = _find(written)
    if same is None or same.verdict is not found.verdict:
        return None
    ends = list(accumulate(map(len, pieces)))
    tokens = logprobs[bisect_right(ends, same.start)]
    masses = {Verdict.YES: 0.0, Verdict.NO: 0.0}
    for token, logprob in tokens:
        meaning = _MEANINGS.get(_bare(token))
        if meaning is not None and meaning[1] & same.languages:
            masses[meaning[0]] += math.exp(min(logprob, 0.0))
    verdict, languages = _MEANINGS.get(_bare(tokens[0][0]), (None, frozenset()))
    total = math.fsum(masses.values())
    if verdict is not same.verdict or not languages & same.languages or total == 0:
        # A word in pieces: what else begins with the first of them is not known.
        return None
    return masses[Verdict.YES] / total


def _bare(token: str) -> str:
    """A token's word without the spaces and marks around it."""
    word = re.sub(r"^[\W_]+", "", _fold(token.translate(_TOKEN_SPACES)))
    while word and unicodedata.category(word[-1])[0] not in "LMN":
        word = word[:-1]
    return word
