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
    ABSTENTION = "abstention"
    HEADING = "heading"
    FRAGMENT = "fragment"


# Marks and emphasis around a sentence, bullets before it.
_DRESS = "*_`\"'“”‘’«»()[]# \t-•>"
# A question's mark, and exclamation marks, emojis and the like after it.
_ASKED = re.compile(r"[?？؟⸮][^\w.,;:\"'()\[\]…–—。、，；：]*\Z")
# Japanese asks with か before a full stop, too.
_ASKED_JA = re.compile(r"(?:です|ます|ません|でした|ました|でしょう)か[。！]?\Z")
_ASKED_WITHIN = 12
_MARKUP = "*_`# \t\r\n-•>"
# The marks that close a quotation, and what opens it.
_QUOTES = {'"': '"', "”": "“", "»": "«", "」": "「", "“": "„"}
_COLON = (":", "：")
# No rule for talk about the answer reaches further: what is longer says something besides.
_LONGEST = 300

# Figures say something, whatever the words around them are, but for how long the answer is to be.
_SIZE = re.compile(
    r"\b\d+[ -](?:bullet |key |main |short )?(?:words?|sentences?|points?|bullets?|paragraphs?|lines|steps|items|"
    r"characters|wörtern?|sätzen?|mots|phrases|palabras|frases)\b|^\d{1,3}[.)]\s|^\(\d{1,3}\)\s",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(?:1\d|20)\d\d(?!\d)")
_FIGURE = re.compile(r"\d")

# --- pieces of patterns: each word is set apart by white space and each count bounded, so that nothing is tried twice
_OPENER = (
    r"(?:sure(?: thing)?|certainly|of course|absolutely|ok(?:ay)?|alright|all right|great(?: question)?|"
    r"good question|no problem|gladly|natürlich|gerne?|klar|selbstverständlich|bien sûr|d'accord|claro|por supuesto|"
    r"当然(?:可以)?|好的|没问题|もちろん(?:です)?|はい)"
)
_OPENING = rf"(?:{_OPENER}[\s,!.:;–—，！。、-]{{1,4}})?"
_END = r"[\s.!:。！：…]{0,4}"
# Words that make a statement of what would be a mere phrase.
_TELLS = (
    r"(?:is|are|was|were|be|been|has|have|had|does|did|will|would|can|could|must|should|who|whom|whose|which|why|how|"
    r"where|when|but|however|though|although|yet|because|since|according|while|aber|jedoch|mais|pero)\b"
)
_WORD = r"(?:(?!\d|[.!?…]\s)[^\s,;:–—，；：、。！])+"
_PLAIN = rf"(?:\s+(?!{_TELLS}){_WORD})"
# "the length and the width" is one thing unknown; "the length and the bridge is in Oslo" goes on to claim.
_ANY = (
    r"(?:\s+(?!(?:but|however|though|although|yet|because|since|who|aber|jedoch|mais|pero)\b|"
    rf"and\b(?!\s+(?:(?:the|its|their|an?)\s+)?\S+$)){_WORD})"
)
# After a comma talk may go on, but as talk only.
_TALK_ON = rf"(?:,?\s+(?:and|or|so|please|feel|let|i|i'll|i'd|just|don't|do not){_ANY}{{1,14}})?"
_PRODUCT = (
    r"(?:summary|overview|answers?|response|reply|list|explanation|breakdown|outline|description|translation|draft|"
    r"rewrite|version|examples?|table|points|details|information|zusammenfassung|überblick|"
    r"antwort|liste|résumé|réponse|aperçu|resumen|respuesta|lista)"
)
_HERE = (
    r"(?:here(?:'s| is| are)|below (?:is|are)|the following (?:is|are)|hier (?:ist|sind|folgt)|voici|"
    r"aquí (?:está|tienes?))"
)
# What an answer is drawn from, as against a report or a letter that the source speaks of.
_GIVEN = r"(?:provided|given|supplied|above|available|retrieved|original|source)"
_SOURCE = (
    rf"(?:the|this|these|any|your)(?:(?: {_GIVEN}){{0,2}} (?:context|texts?|passages?|documents?|sources?|"
    rf"excerpts?|articles?)(?: (?:provided|given|above|itself))?|(?: {_GIVEN}){{1,2}} information|"
    r" information (?:provided|given|above))"
)
_DRAWN = rf"(?:based on|according to|from|given|in) {_SOURCE},? "
_FROM = rf"(?:{_DRAWN})?"
_CAUTION = (
    r"(?:(?:however|unfortunately|sorry|i'm sorry|i am sorry|i apologi[sz]e),? (?:but )?|but |please note that |"
    r"note that )?"
)
_CANNOT = r"(?:do not|don't|cannot|can't|can not|could not|couldn't|am not able to|am unable to|was unable to)"
_NOT = r"(?:does|do)(?: not|n't)(?: (?:explicitly|specifically|directly|clearly|actually))?"
_SAYS = (
    r"(?:say|mention|state|contain|specify|provide|include|give|indicate|discuss|address|cover|tell|reveal|disclose|"
    r"answer|describe|explain)"
)
_SAID = r"(?:mentioned|stated|specified|provided|given|included|discussed|indicated|described|disclosed|addressed)"

_GREETING = re.compile(
    rf"(?:{_OPENER}(?:[,\s]+(?:there|everyone|all|again|zusammen))?|"
    r"(?:hello|hi|hey|greetings|good (?:morning|afternoon|evening|day)|welcome|hallo|guten (?:tag|morgen|abend)|"
    r"bonjour|bonsoir|salut|hola|buen[oa]s (?:días|tardes|noches))"
    r"(?:[,\s]+(?:there|everyone|all|again|zusammen|a todos|(?-i:[A-Z])\w+))?|"
    rf"dear(?: (?!{_TELLS})(?:\w{{1,4}}\.|[\w'-]+)){{0,4}} [\w'-]+(?=[,!:，]|$)|"
    r"(?:thanks|thank you)(?: (?:so|very) much)?(?: (?:again|everyone|all))?(?: for (?:(?:your|the) (?:\w+ ){0,2}"
    r"(?:questions?|messages?|time|patience|interest|help|emails?|query|queries|requests?|inquiry|feedback|"
    r"understanding|clarification|context|information)|asking|reaching out|sharing(?: (?:this|that|it))?|"
    r"contacting us))?|"
    r"you(?:'re| are) welcome|(?:that's|that is|what) an? (?:very )?(?:great|good|excellent|interesting|fascinating|"
    r"important) question|"
    r"(?:kind |best |warm )?regards|yours (?:sincerely|faithfully|truly)|sincerely|cheers|goodbye|bye|"
    r"have a (?:nice|great|good|lovely|wonderful) \w+|"
    r"danke(?: schön)?|vielen dank|merci(?: beaucoup)?|(?:muchas )?gracias|"
    r"你好|您好|谢谢(?:你|您)?|こんにちは|ありがとう(?:ございます)?|안녕하세요|감사합니다|नमस्ते|धन्यवाद|مرحبا|شكرا)"
    r"[\s.,!。！，]*",
    re.IGNORECASE,
)
_META = re.compile(
    rf"{_OPENING}(?:"
    # "Here is a summary of the article in your words": the product is the head of a short phrase.
    rf"{_FROM}{_HERE}{_PLAIN}{{0,4}}\s+{_PRODUCT}"
    rf"(?:\s+(?:of|for|from|about|on|in|to|based|that you|you|with|within|using|as|und|des|der|zu|zum|von|du|de|"
    rf"demandé|del){_PLAIN}{{0,10}})?|"
    rf"{_FROM}{_HERE}(?:\s+how (?:to|you can))?{_PLAIN}{{1,20}}(?:\s+according to {_SOURCE})?(?=\s?[:：]$)|"
    r"i hope (?:this|that|it)(?: (?:helps?|answers?|clarifies|clears|meets|(?:is|was) (?:helpful|useful|clear)))"
    rf"{_PLAIN}{{0,6}}|hope (?:this|that|it) helps{_PLAIN}{{0,3}}|"
    r"i(?:'ll|'d)?(?: can| will| would)?(?: also| be (?:happy|glad) to)? (?:help|assist) you"
    rf"(?:\s+(?:with|by){_PLAIN}{{1,6}})?|"
    rf"i(?:'ll|'ve| can| will| have)(?: also| now)? (?:provided?|explain(?:ed)?|summari[sz]ed?|give|given)"
    r"(?= (?:you|an?|the|some|more|further|additional|this|that|it|your)\b)"
    rf"{_PLAIN}{{1,7}}|"
    rf"let me (?:know|explain|summari[sz]e|rephrase|help)(?:,?{_ANY}{{0,14}})?{_TALK_ON}|let's (?:dive in|get started|"
    rf"begin|start|take a (?:closer )?look)(?:\s+(?:at|with|by|to){_PLAIN}{{1,6}})?|"
    r"(?:please )?feel free to (?:ask|reach|contact|let|reply|write|share|provide|follow|message|tell|modify|edit|"
    rf"adjust|use (?:it|this)){_ANY}{{0,14}}{_TALK_ON}|"
    r"(?:please )?do(?:n't| not) hesitate to (?:ask|reach|contact|let|reply|write|share|get in touch)"
    rf"{_ANY}{{0,14}}|"
    r"if you (?:have|need|would like|want|'d like)(?: any| more| further| other| additional| specific){1,3} "
    r"(?:questions?|feedback|doubts?|concerns?|help|clarifications?|assistance|information|details)"
    rf"{_ANY}{{0,8}},? (?:please|feel|don't|do not|let|just|contact|write|ask|reach|email|tell|i|i'll|i'd)"
    rf"{_ANY}{{1,14}}{_TALK_ON}|"
    r"as an? (?:ai|artificial intelligence|(?:large )?language model|virtual assistant)(?: [\w-]+){0,6}, "
    rf"i(?:'m| am| do| have| can| cannot| can't| could| don't)(?: not| no| unable|n't)?{_ANY}{{0,14}}|"
    rf"i(?:'m| am) (?:just |only )?an? (?:ai|artificial intelligence|(?:large )?language model)(?: [\w-]+){{0,4}}|"
    rf"i(?:'m| am)? (?:apologi[sz]e|sorry) for (?:the|any|my) (?:confusion|mistake|error|inconvenience|oversight|"
    rf"misunderstanding)|"
    r"ich hoffe,? (?:das|dies|diese \w+) (?:hilft|beantwortet|ist hilfreich|war hilfreich)(?: \w+){0,4}|"
    r"(?:gerne? )(?:helfe|beantworte|erkläre)(?: ich)(?: \w+){0,4}|"
    r"j'espère que (?:cela|ça|ceci|cette \w+) (?:vous |t'|te )?(?:aide|aidera|répond|est utile|sera utile)"
    r"(?: \w+){0,4}|"
    r"n'hésitez pas à (?:me |nous )?(?:contacter|demander|poser|écrire|revenir)(?: \w+){0,8}|"
    r"espero que (?:esto|te|le)(?: (?:te|le|les))? (?:ayude|sirva|sea (?:útil|de ayuda)|haya ayudado)(?: \w+){0,4}|"
    r"以下是[^，,；：:。—\d]{0,8}(?:摘要|总结|概要|回答|答案|翻译)|"
    r"以下は[^、，：:。\d]{0,12}(?:まとめ|要約|概要|回答)(?:です)?|"
    r"希望(?:这|对)[^，。\d]{0,10}(?:有(?:所)?帮助|有用|帮到你|帮到您)|"
    r"お役に立て(?:れば|たら)(?:幸い|嬉しい|うれしい)です"
    rf"){_END}",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    rf"{_CAUTION}(?:"
    r"i(?:'m| am) not (?:entirely |completely |quite |absolutely |100 ?% )?(?:sure|certain)"
    rf"(?:\s+(?:about|of|if|whether|what|which|who|how|when|where|why){_ANY}{{0,8}})?|"
    r"i(?:'m| am) not aware of (?:that|this|it|any)|"
    rf"i {_CANNOT} (?:know|say|tell|verify|confirm|be (?:sure|certain)|recall|remember)(?!\s+that\b)"
    rf"(?:\s+who)?{_ANY}{{0,8}}|"
    r"i (?:may|might|could) be (?:wrong|mistaken)(?: (?:here|about (?:this|that|it)))?|"
    rf"i have no (?:information|knowledge)(?:\s+(?:about|of|on){_ANY}{{1,8}})?|"
    r"(?:it is|it's) (?:hard|difficult|impossible)(?: for me)? to (?:say|know|tell|verify|determine)"
    r"(?: (?:exactly|precisely|for sure|for certain|with certainty))?"
    rf"(?:\s+(?:if|whether|what|which|who|how|when|where|why){_ANY}{{0,8}})?|"
    r"(?:please |you should |it is (?:best|advisable|recommended) to |always )?(?:verify|double-check|check|consult|"
    rf"contact|ask|see)(?: (?:with|this|that|it)){{0,2}}(?:\s+(?:an?|the|your|their|any|its|other))?{_PLAIN}{{0,3}}\s+"
    r"(?:sources?|professionals?|experts?|doctors?|lawyers?|websites?|officials?|physicians?|advisors?|advisers?)"
    rf"(?:\s+(?:for|before|about|if|first|regarding){_PLAIN}{{0,8}})?|"
    rf"ich (?:bin (?:mir )?nicht (?:ganz )?sicher|weiß (?:es )?nicht)(?:,? (?:ob|wann|wie|was|wer){_ANY}{{1,8}})?|"
    r"je ne (?:suis pas (?:sûre?|certaine?)|sais pas)|no (?:estoy segur[oa]|(?:lo )?sé)|"
    r"我不(?:太)?(?:确定|知道|清楚)|(?:[^、，。\d]{1,12}(?:は|が))?(?:わ|分)かりません"
    rf"){_END}",
    re.IGNORECASE,
)
_ABSTENTION = re.compile(
    rf"{_CAUTION}(?:"
    rf"{_SOURCE} {_NOT} {_SAYS}{_ANY}{{0,16}}|"
    rf"{_FROM}(?:there is|there's) no (?:information|mention|indication|data|details?|answer){_ANY}{{0,12}} "
    rf"in {_SOURCE}|"
    rf"{_DRAWN}(?:there is|there's) no (?:information|mention|indication)"
    rf"(?:\s+(?:about|of|on|regarding){_ANY}{{1,12}})?|"
    rf"(?:{_WORD}(?:\s+(?!and\b|{_TELLS}){_WORD}){{0,10}}\s+(?:is|are|was|were)\s+)?"
    rf"not (?:explicitly |specifically )?{_SAID} (?:in|by) {_SOURCE}|"
    rf"{_FROM}i {_CANNOT} (?:determine|answer|(?:find|provide|identify)"
    rf"(?= (?:any|the|an?|this|that|it|your|information|enough|details)\b)){_ANY}{{0,12}}|"
    rf"{_FROM}i (?:do not|don't) have (?:enough|sufficient|any) (?:information|context|data){_ANY}{{0,12}}|"
    rf"{_FROM}(?:i am |i'm )?unable to (?:answer|determine){_ANY}{{0,12}}|"
    rf"{_FROM}it (?:is|was) not possible to (?:answer|determine|say|tell){_ANY}{{0,12}}|"
    r"(?:leider )?(?:enthält|liefert|nennt|gibt|macht) (?:der|das|die) (?:bereitgestellte |vorliegende )?"
    rf"(?:text|kontext|quelle|dokument|artikel|abschnitt)(?: (?:dazu|darüber|hierzu))? keine{_ANY}{{1,8}}|"
    r"(?:der|das|die) (?:bereitgestellte |vorliegende )?(?:text|kontext|quelle|dokument|artikel|abschnitt) "
    rf"(?:(?:enthält|liefert|nennt|gibt|macht)(?: (?:dazu|darüber|hierzu))? keine{_ANY}{{1,8}}|"
    rf"(?:erwähnt|nennt|sagt|gibt){_ANY}{{0,8}} nicht(?: an)?)|"
    r"(?:le|la) (?:texte|contexte|document|source|passage|article)(?: fourni| fournie)? ne (?:le |la |les )?"
    rf"(?:précise|mentionne|dit|indique|contient|fournit|donne|spécifie) pas{_ANY}{{0,12}}|"
    r"(?:el|la) (?:texto|contexto|documento|fuente|pasaje|artículo)(?: proporcionado)? no (?:lo |la )?"
    rf"(?:menciona|dice|especifica|indica|contiene|proporciona){_ANY}{{0,12}}|"
    r"(?:根据)?(?:提供的|所给的|给定的)?(?:上下文|文本|文档|文章|资料|原文|材料)(?:中|里)?(?:并)?(?:没有|未)"
    r"(?:提到|提及|说明|提供|包含|给出)[^，。；：\d]{0,20}|"
    r"(?:提供された)?(?:文脈|文章|テキスト|文書|資料|本文)(?:に|で|では|には)[^、。\d]{0,20}"
    r"(?:記載|言及|説明)(?:されていません|がありません)"
    rf"){_END}",
    re.IGNORECASE,
)
_MARKDOWN_HEADING = re.compile(r"#{1,6}\s")
_BOLD_LINE = re.compile(r"(?:(?:[-*+•]|\d{1,3}[.)])\s+)?(\*\*|__)(?![\s*_])([^*_\n]+)\1")
_STATES = re.compile(r"\b(?:is|are|was|were|has|have|had|does|did|will|would|can|could)\b", re.IGNORECASE)
_ENDS = (".", "!", "。", "！")
_HEADING_WORDS = 8
# A heading that ends as a sentence does, and is no "Acme Inc."
_SENTENCE_WORDS = 4

# --- what makes a statement of a title: narrow, for most titles are noun phrases
_NUMBERED = re.compile(r"(?:\(?\d{1,3}[.)]|\d{1,3}(?:\.\d{1,3}){1,3}\.?)\s+")
_SMALL = r"(?:of|and|or|for|in|by|to|with)\b"
# Title words that ask or tell what follows; what stands behind them is no statement of its own.
_ASKS = (
    r"(?:how|what|why|when|where|who|whom|whose|which|whether|if|that|than|wie|warum|weshalb|wer|wann|wenn|wo|ob|dass|"
    r"welche[nrms]?|comment|pourquoi|quand|qui|que|quel(?:le)?s?|dont|où|cómo|qué|cuándo|cuando|quién(?:es)?|dónde|"
    r"donde|cuál(?:es)?)\b"
)
# "Things you should know", "Länder, die betroffen sind".
_NESTED = rf"\s(?:{_ASKS}|(?:you|we|i|they|he|she|it)\b)|,\s(?:der|die|das|deren|den|dem)\b"
_AUXILIARY = (
    r"(?:is|are|was|were|has|had|does|did|(?:is|are|was|were|has|have|had|does|do|did|ca|wo|would|could)n['’]t|cannot|"
    r"(?<!\bmust )(?<!\bto )(?-i:have)|(?-i:can|will|would|could)(?! power)|"
    r"(?-i:ist|sind|wird|wurde|wurden|waren|est|sont|était|étaient|fut|furent|fue|fueron|está|están|eran))"
    rf"\s+(?!{_SMALL}\s*$|(?:and|or|of)\b)\w"
)
# Past tenses that no participle shares; else what a verb does to something: "Acme lost its case", but not "goods sold".
_PAST = (
    r"(?:went|came|became|began|chose|drove|fell|flew|froze|gave|grew|knew|overtook|ran|sank|shook|spoke|swam|threw|"
    r"took|undertook|underwent|withdrew|wrote|rose(?=\s+(?:by|from|to|sharply|again|\d)|\s*[.!:]*$))\b"
)
_TIMES = (
    r"(?:years?|months?|weeks?|days?|decades?|century|hours?|times?|ways?|world|quarter|summer|winter|spring|night)\b"
)
_OBJECT = rf"(?:its|his|her|their|(?:an?|the)(?!\s+(?:\w+\s+)?{_TIMES}))\s+\w"
_DONE = rf"(?:\w{{2,}}ed|won|lost|sold|bought|built|made|left|met|paid|led|held)\s+{_OBJECT}"
_CAUSE = (
    rf"(?:(?<=s\s)cause(?!s)|(?<!s\s)causes|(?:leads?|led)\s+to|result(?:s|ed)?\s+in)\s+(?!{_SMALL}|\w+ed\b)\w|"
    r"(?:is|are|was|were)\s+(?:\w+ly\s+)?(?:caused|triggered|due)\b"
)
_ACT = re.compile(rf"(?P<nested>{_NESTED})|\s(?:{_PAST}|{_DONE}|{_CAUSE})", re.IGNORECASE)
_VERB = re.compile(rf"(?P<nested>{_NESTED})|\s(?:{_PAST}|{_DONE}|{_CAUSE}|{_AUXILIARY})", re.IGNORECASE)
_TITLE_ASKS = re.compile(_ASKS, re.IGNORECASE)
_MEASURED = re.compile(
    r"[$€£¥]\s?\d|\d\s?(?:%|‰|°|(?:percent|per cent|prozent|pour cent|por ciento|million(?:en|s)?|millones|billion|"
    r"trillion|milliarden?|milliards?|k?wh|mwh?|[gmk]w|[gmk]?hz|km|cm|mm|kg|mg|tons?|tonn(?:es?|en)|lit(?:er|re)s?|"
    r"miles?|feet|ft|(?:kilo|centi|milli)?m(?:eter|etre)s?|(?-i:m|g|t))(?!\w))",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:here(?:['’]s| is| are)|th(?:is|at) is|that['’]s|hier (?:ist|sind)|voici|voilà|aquí (?:está|tienes?)|he aquí)"
    r",?\s+(?:(?:the|die|les|las)\s+(?:\w+\s+)?(?:reasons?|gründe|raisons|razones),?\s*)?"
    r"(?P<why>why|warum|weshalb|pourquoi|por qué)?(?:how|wie|comment|cómo)?\b\s*",
    re.IGNORECASE,
)
# "Why it matters" says nothing, "why the dam fell" says that it fell.
_SUBJECT = re.compile(
    r"(?!(?:it|this|that|these|those|they|you|we|i|he|she|es|das|dies|sie|wir|ça|cela|c['’]est|il|elle|ils|elles|nous|"
    r"vous|esto|eso|ello)\b)\S+(?:\s+\S+){2}",
    re.IGNORECASE,
)
# A word's share; scripts without spaces have a clause where others have a word.
_HEADING_LETTERS = 12


def no_claim(sentence: str) -> NoClaim | None:
    """Why a sentence is no claim, or None where it is one.

    Rules in English, with the usual words of German, French, Spanish, Chinese and Japanese. They are narrow, for a
    claim that is skipped goes unchecked: a sentence that no rule knows as a whole is a claim, and so is one with
    figures, unless it is a question or a heading. A heading is a claim where it is a sentence, with a finite verb that
    these rules know, or has a figure with its unit; words that lead in are one where they say that something is so
    while they announce why ("Here's why the dam fell:"). A request is none, whatever it takes for granted. A claim
    worded with caution ("may reduce", "suggests") is one; a sentence that says only that its author does not know, or
    that the given text does not say, is not.

    Example:
        >>> [no_claim(s) for s in ("Sure, here is a summary:", "Is that so?", "It may have been built in 1190.")]
        [<NoClaim.META: 'remark about the answer'>, <NoClaim.QUESTION: 'question'>, None]
    """
    bare = sentence.strip().strip(_DRESS)
    if _is_question(sentence, bare):
        return NoClaim.QUESTION
    if bare.endswith(_COLON) and _leads_with_cause(bare):
        return None
    kind = _talk(bare.replace("’", "'")) if len(bare) <= _LONGEST else None
    return NoClaim.HEADING if kind is None and _is_heading(sentence.strip(), bare) else kind


def _talk(bare: str) -> NoClaim | None:
    plain = _SIZE.sub("", bare)
    # The year that a text does not speak of is the question's.
    if _ABSTENTION.fullmatch(_YEAR.sub("then", bare)):
        return NoClaim.ABSTENTION
    if _FIGURE.search(plain):
        return None
    rules = ((_GREETING, NoClaim.GREETING), (_META, NoClaim.META), (_HEDGE, NoClaim.HEDGE))
    return next((kind for rule, kind in rules if rule.fullmatch(plain)), None)


def _is_question(sentence: str, bare: str) -> bool:
    end = bare[-_ASKED_WITHIN:]
    return bool(_ASKED_JA.search(end) or (_ASKED.search(end) and not _quotes_at_end(sentence.strip(_MARKUP))))


def _quotes_at_end(sentence: str) -> bool:
    """Whether it ends in a quotation, whose question is not its own: '... wrote "Who's Afraid of Virginia Woolf?"'."""
    opening = _QUOTES.get(sentence[-1:], "")
    return sentence[0] not in opening and any(mark in sentence[1:-1] for mark in opening)


def _is_heading(sentence: str, bare: str) -> bool:
    head, _, rule = sentence.partition("\n")
    if "|" in head and "-" in rule and not rule.strip("|-: \t\r\n"):
        return True
    if _MARKDOWN_HEADING.match(sentence):
        return len(bare) <= _LONGEST and not _states(bare)
    words = len(bare.split())
    if words > _HEADING_WORDS or len(bare) > _HEADING_LETTERS * max(words, 2):
        return False
    if bare.endswith(_COLON):
        return not (_STATES.search(bare) and _FIGURE.search(bare)) and not _has(_ACT, bare)
    states = _STATES.search(bare) is not None or _has(_ACT, bare)
    return not (states or _FIGURE.search(bare) or bare.endswith(_ENDS)) and _BOLD_LINE.fullmatch(sentence) is not None


def _states(title: str) -> bool:
    """Whether a title is a sentence, with a finite verb, or has a figure with its unit."""
    title = title[found.end() :] if (found := _NUMBERED.match(title)) else title
    if _TITLE_ASKS.match(title):
        return False
    full = title.endswith(_ENDS) and (len(title.split()) >= _SENTENCE_WORDS or not title.isascii())
    return full or _MEASURED.search(title) is not None or _has(_VERB, title)


def _has(verb: re.Pattern[str], title: str) -> bool:
    """Whether a verb stands in a title behind its subject, before any clause that is within another."""
    found = None if _TITLE_ASKS.match(title) else verb.search(title)
    return found is not None and found["nested"] is None


def _leads_with_cause(bare: str) -> bool:
    """Whether the words before a colon say that something is so while they announce why."""
    lead = _LEAD.match(bare) if len(bare) <= _LONGEST else None
    if lead is None:
        return False
    rest = bare[lead.end() :]
    return _has(_ACT, rest) or (lead["why"] is not None and _SUBJECT.match(rest) is not None)
