"""Which sentences of an answer claim something: the rest is greeting, question, hedge, heading or talk about itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True)
class Claim:
    """One statement of an answer.

    Attributes:
        text: The statement.
        start: Where it begins in the answer, in characters, or where the sentence begins that it was split from; None
            for a claim that was given and does not stand in the answer word for word.
        end: Where that ends.
    """

    text: str
    start: int | None = None
    end: int | None = None


class NoClaim(StrEnum):
    """Why a sentence claims nothing that a source could support."""

    QUESTION = "question"
    GREETING = "greeting"
    META = "remark about the answer"
    HEDGE = "hedge"
    HEADING = "heading"
    FRAGMENT = "fragment"


# Marks and emphasis around a sentence, bullets before it.
_DRESS = "*_`\"'“”‘’«»()[]# \t-•>"
_QUESTION = ("?", "？", "؟", "⸮")
_COLON = (":", "：")

_OPENER = (
    r"(?:sure(?: thing)?|certainly|of course|absolutely|ok(?:ay)?|alright|all right|great(?: question)?|"
    r"good question|no problem|gladly|natürlich|gerne?|klar|bien sûr|d'accord|claro|por supuesto|当然|好的|"
    r"もちろん|はい)"
)
_GREETING = re.compile(
    rf"(?:{_OPENER}|hello|hi|hey|dear [\w .'-]+|greetings|good (?:morning|afternoon|evening|day)|welcome|"
    r"thanks?(?: you)?(?: (?:so|very) much)?(?: for [\w' ]+)?|you(?:'re| are) welcome|"
    r"(?:kind |best |warm )?regards|yours (?:sincerely|faithfully|truly)|sincerely|cheers|goodbye|bye|"
    r"have a (?:nice|great|good|lovely|wonderful) \w+|"
    r"hallo|guten (?:tag|morgen|abend)|danke(?: schön)?|vielen dank|bonjour|bonsoir|merci(?: beaucoup)?|salut|"
    r"hola|buen[oa]s (?:días|tardes|noches)|(?:muchas )?gracias|"
    r"你好|您好|谢谢(?:你|您)?|こんにちは|ありがとう(?:ございます)?|안녕하세요|감사합니다|नमस्ते|धन्यवाद|مرحبا|شكرا)"
    r"(?:[,\s]+(?:there|everyone|all|again|[A-Z]\w+|your question|zusammen|a todos))?[\s.,!。！،]*",
    re.IGNORECASE,
)
_PRODUCT = (
    r"(?:summary|overview|answer|response|reply|list|explanation|breakdown|outline|description|translation|draft|"
    r"rewrite|version|example|table|key points|main points|information you|details you|zusammenfassung|überblick|"
    r"antwort|liste|résumé|réponse|aperçu|resumen|respuesta|lista|摘要|总结|概要|まとめ|要約)"
)
_META = re.compile(
    rf"(?:{_OPENER}[\s,!.:;–—-]+)?(?:"
    rf"(?:here(?:'s|’s| is| are)|below (?:is|are)|the following is|this is|hier (?:ist|sind|folgt)|voici|"
    rf"aquí (?:está|tiene)s?|以下是|这是|以下は).*{_PRODUCT}.*|"
    r"(?:here(?:'s|’s| is| are)|below (?:is|are)) .*[:：]|"
    r"i(?:'ve| have)? (?:hope (?:this|that)|(?:can|will|'ll) (?:help|summari[sz]e|provide|explain)|summari[sz]ed).*|"
    r"hope (?:this|that) helps.*|let me (?:know|explain|summari[sz]e).*|(?:please )?feel free to .*|"
    r"(?:please )?do(?:n't| not) hesitate to .*|if you (?:have|need|would like|want) (?:any|more|further|me).*|"
    r"as an? (?:ai|artificial|large|language|virtual)\b.*|"
    r"ich hoffe,? (?:das|dies).*|j'espère que (?:cela|ça).*|espero que (?:esto|te|le).*|希望(?:这|对).*)",
    re.IGNORECASE | re.DOTALL,
)
_HEDGE = re.compile(
    r"(?:however,? |but |please note that |note that )?(?:"
    r"i(?:'m| am)? (?:not (?:entirely |completely |quite |absolutely |100 ?% )?(?:sure|certain|aware)|"
    r"(?:do not|don't|cannot|can't|could not|couldn't) (?:know|say|tell|verify|confirm|find|be (?:sure|certain)|"
    r"recall|remember)|(?:may|might|could) be (?:wrong|mistaken)|have no (?:information|knowledge))|"
    r"(?:it is|it's) (?:hard|difficult|impossible) (?:to say|to know|to tell|for me)|"
    r"(?:please |you should |it is (?:best|advisable|recommended) to |always )?(?:verify|double-check|check|consult|"
    r"contact|ask) .{0,40}(?:source|professional|expert|doctor|lawyer|website|official|physician|advisor).*|"
    r"ich (?:bin (?:mir )?nicht sicher|weiß (?:es )?nicht)|je ne (?:suis pas (?:sûre?|certaine?)|sais pas)|"
    r"no (?:estoy segur[oa]|(?:lo )?sé)|我不(?:确定|知道|清楚)|わかりません|分かりません)",
    re.IGNORECASE,
)
# "Sure, here is a summary: the bridge is 6 km long." claims that it is.
_AFTER_COLON = re.compile(r"[:：]\s*[^\s:：]+(?:\s+[^\s:：]+){2,}|[:：]\s*\S{8,}")
# What follows such a word may be a claim after all: "I am not sure, but it was in 1893."
_TURN = re.compile(
    r"[,;–—:]\s*(?:but|however|though|although|yet|aber|jedoch|mais|pero|但|but i think)\b", re.IGNORECASE
)
_MARKDOWN_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_HEADING_WORDS = 8


def no_claim(sentence: str) -> NoClaim | None:
    """Why a sentence is no claim, or None where it is one.

    Rules in English, with the usual words of German, French, Spanish, Chinese and Japanese; a sentence that no rule
    knows is a claim. A claim worded with caution ("may reduce", "suggests") is one; a sentence that says only that its
    author does not know is not, unless it goes on with "but".

    Example:
        >>> [no_claim(s) for s in ("Sure, here is a summary:", "Is that so?", "It may have been built in 1190.")]
        [<NoClaim.META: 'remark about the answer'>, <NoClaim.QUESTION: 'question'>, None]
    """
    bare = sentence.strip().strip(_DRESS)
    if bare.endswith(_QUESTION):
        return NoClaim.QUESTION
    if _GREETING.fullmatch(bare):
        return NoClaim.GREETING
    if _META.fullmatch(bare) and not _AFTER_COLON.search(bare):
        return NoClaim.META
    if _HEDGE.match(bare) and not _TURN.search(bare):
        return NoClaim.HEDGE
    if _MARKDOWN_HEADING.match(sentence) or (bare.endswith(_COLON) and len(bare.split()) <= _HEADING_WORDS):
        return NoClaim.HEADING
    return None
