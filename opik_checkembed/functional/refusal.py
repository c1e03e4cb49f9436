"""Plain-text refusals: answers that decline the request and so say nothing that could agree or disagree.

An abstention ("I don't know", "the context does not say") is an answer: two of them agree. A refusal is not.
"""

from __future__ import annotations

import re

# A refusal says little beyond declining; a longer text that opens like one goes on to answer.
_LONGEST = 600
_OPENING = 250

# The English patterns read a text whose contractions are written out: see `_plain`.
_APOLOGY = (
    r"(?:(?:(?:i am|we are) )?(?:(?:so|very|really|truly) )?(?:sorry|afraid)|"
    r"(?:i|we) (?:do )?apologi[sz]e|(?:my |our )?(?:sincere )?apologies|unfortunately|regrettably)"
)
_ROLE = (
    r"(?:as|since i am|i am|being) (?:just |only |merely )?(?:an?|your) (?:[\w-]+ ){0,3}"
    r"(?:ai|assistant|model|chatbot|bot)\b[^.!?]{0,60}?"
)
_JOIN = r"[\s,;:.!—–-]+(?:(?:but|and|however|so|that|that said|unfortunately),? )*"
_CANNOT = (
    r"(?:i|we) (?:(?:really|simply|just) )?"
    r"(?:can not|could not|will not|would not|will not be able to|(?:am|are) (?:not able|unable) to|"
    r"(?:am|are) not (?:allowed|permitted|authori[sz]ed|programmed|designed) to|"
    r"(?:do not feel|am not) comfortable)(?: (?:and|or) (?:can|will) not)?"
)
# Verbs of helping, not of knowing: "I can't confirm", "I can't say" are answers. "I can't help but" is none.
_HELP = (
    r"(?:(?:in good conscience|ethically|knowingly) )?"
    r"(?:(?:assist|help)(?:ing)?(?= (?:you|with|in|anyone|him|her|them|there|out)\b|[.,!;]|$)|"
    r"comply|accommodate|engag(?:e|ing)|participat(?:e|ing)|"
    r"(?:answer|respond to|reply to|support|process|honou?r|satisfy|continue with)(?:ing)? "
    r"(?:that|this|your|such|the|it|any)\b|"
    r"(?:do|doing|continue) (?:that|this|so)\b|"
    r"(?:fulfil|fulfill|provid|generat|creat|writ|produc|discuss|shar|giv|offer|mak|facilitat|promot|reveal)"
    r"(?:e|ing)? \w)"
)
_DECLINE = (
    rf"(?:{_CANNOT} {_HELP}|"
    r"(?:i|we) (?:must|have to|need to|will have to) (?:respectfully |politely )?(?:decline|refuse)|"
    r"(?:that|this|it) is (?:not )?something (?:that )?(?:i|we) "
    r"(?:can(?: not)?|am (?:not able|unable) to|will not) (?:help|assist|do|discuss|provide|answer|engage)|"
    r"(?:that|this|it|your request|this request) (?:is against|(?:would |may )?violates?|goes against) "
    r"(?:my|our|the)\b)"
)
_ENGLISH = re.compile(rf"(?:(?:{_APOLOGY}|{_ROLE}|no|hi|hello){_JOIN}){{0,3}}{_DECLINE}")

# The declining clause at the start, after at most one apology. Verbs are the ones of help, not of knowledge.
_OTHERS = re.compile(
    r"(?:"
    # German
    r"(?:(?:es )?tut mir (?:sehr )?leid|entschuldigung|leider|ich bedau?re)[\s,.!]+(?:aber )?(?:dass )?"
    r"(?:ich (?:kann|darf|werde)|(?:kann|darf) ich|dabei kann ich|das kann ich)\b[^.!?]{0,80}"
    r"\b(?:nicht|keine)\b[^.!?]{0,60}\b(?:helfen|weiterhelfen|behilflich sein|unterstützen|erfüllen|"
    r"nachkommen|bereitstellen|beantworten)|"
    r"(?:ich kann|ich darf|dabei kann ich|das kann ich)\b[^.!?]{0,40}\b(?:nicht|keine)\b[^.!?]{0,30}"
    r"\b(?:helfen|weiterhelfen|behilflich sein|unterstützen)|"
    # French
    r"(?:(?:je suis |nous sommes )?(?:vraiment |sincèrement )?désolée?s?|je m'excuse|malheureusement|"
    r"je regrette)[\s,.!]+(?:mais )?je ne (?:peux|suis|pourrai|puis)\b[^.!?]{0,60}"
    r"\b(?:aider|assister|répondre à (?:cette|votre|ta|ce)|fournir|satisfaire|accéder)|"
    r"je ne (?:peux|suis)\b[^.!?]{0,40}\b(?:vous aider|t'aider|aider (?:avec|à)|assister|"
    r"accéder à (?:cette|votre))|"
    # Spanish
    r"(?:lo siento|lo lamento|disculpa|perdona|lamentablemente|desafortunadamente)[\s,.!]+(?:mucho,? )?"
    r"(?:pero )?no (?:puedo|podemos|me es posible|estoy autorizad[oa])\b[^.!?]{0,40}"
    r"\b(?:ayudar\w*|asistir\w*|responder (?:a )?es[ato]|proporcionar\w*|cumplir|hacer eso)|"
    r"no puedo (?:ayudar(?:te|le|los)?|asistir(?:te|le)?|cumplir)\b|"
    # Italian
    r"(?:mi dispiace|spiacente|purtroppo)[\s,.!]+(?:ma )?non (?:posso|sono in grado di)\b[^.!?]{0,40}"
    r"\b(?:aiutar\w*|assister\w*|fornir\w*|rispondere a (?:questa|tale)|soddisfare)|"
    r"non posso (?:aiutart[ie]|aiutarl[aoi]|assistert[ie])\b|"
    # Portuguese
    r"(?:(?:eu )?sinto muito|desculp[ea]|lamento|infelizmente)[\s,.!]+(?:mas )?(?:eu )?"
    r"não (?:posso|consigo|estou autorizad[oa])\b[^.!?]{0,40}"
    r"\b(?:ajud[aá]\w*|auxili\w*|fornec\w*|responder (?:a )?ess[ae]|atender|cumprir)|"
    r"não posso (?:ajudar|te ajudar|ajudá-l[oa]|auxiliar)\b|"
    # Dutch
    r"(?:het spijt me|sorry|helaas)[\s,.!]+(?:maar )?(?:daar |dat )?(?:ik kan|kan ik)\b[^.!?]{0,40}"
    r"\b(?:niet|geen)\b[^.!?]{0,30}\b(?:helpen|assisteren|voldoen|beantwoorden|verstrekken)|"
    # Polish
    r"(?:przykro mi|przepraszam|niestety)[\s,.!]+(?:ale )?nie mogę (?:ci |panu |pani )?(?:w tym )?"
    r"(?:pomóc|udzielić|spełnić|odpowiedzieć na to)|"
    # Russian
    r"(?:извините|простите|к сожалению|мне (?:очень )?жаль)[\s,.!]+(?:но )?я не (?:могу|имею права)\b"
    r"[^.!?]{0,30}\b(?:помочь|помогать|выполнить|предоставить|ответить на (?:этот|ваш))|"
    r"я не могу (?:вам |тебе )?(?:с этим |в этом )?помочь|"
    # Chinese
    r"(?:(?:非常|很|真的)?(?:抱歉|对不起|對不起)|不好意思|很遗憾|很遺憾)[，,。！\s]*(?:但是?)?我?(?:们|們)?"
    r"(?:不能|无法|無法|没办法|沒辦法)[^。！？]{0,12}?(?:帮助|幫助|协助|協助|提供|满足|滿足|回答(?:这|這|该|該|您|你))|"
    r"我(?:不能|无法|無法)(?:帮助|幫助|协助|協助|满足|滿足)|"
    # Japanese
    r"(?:(?:大変|誠に)?申し訳(?:ありません|ございません|ない)|すみません|ごめんなさい|残念ながら)[が、。，,！\s]*(?:ですが、?)?"
    r"[^。！？]{0,40}(?:(?:お手伝い|お答え|回答|対応|お応え|提供|ご?協力|サポート)(?:を|は)?"
    r"(?:する(?:こと)?(?:が|は))?(?:でき(?:ません|かね|ない)|いたしかねます|致しかねます)|お力になれません)|"
    # Korean
    r"(?:(?:정말 )?죄송(?:합니다|하지만|해요)|미안(?:합니다|하지만|해요)|유감스럽게도)[\s,.!]*"
    r"(?:하지만 |만 )?[^.!?]{0,40}(?:도와\s?드릴|도울|제공(?:해 드릴|할)|답변(?:해 드릴|드릴|할)|응할|"
    r"들어드릴) 수 없"
    r")"
)

# Declining for want of knowledge is an abstention.
_ABSTAINS = re.compile(
    r"\b(?:based on|according to|from (?:the|this|these)|in the) (?:\w+ ){0,3}"
    r"(?:context|passages?|documents?|texts?|sources?|information|excerpts?|articles?|data|evidence)\b|"
    r"\bwithout (?:\w+ ){0,3}(?:information|context|details?|data)\b|"
    r"\b(?:not|no) (?:\w+ ){0,2}(?:contain|mention|specif|includ|enough|know|sufficient|state[ds]?\b)|"
    r"\b(?:(?:definit|conclusiv)\w*|exact|precise|accurate|certain|reliable|specific) (?:\w+ )?"
    r"(?:answer|number|figure|date|estimate|value|information|details)\b|"
    r"\b(?:more|further|additional) (?:information|context|details?)\b|"
    r"\b(?:enough (?:praise|thanks)|strongly enough)\b"
)
# "…, but I can help with X" still declines; "…, but X is Y" answers.
_TURNS = re.compile(
    r"\b(?:but|however|though|although|nevertheless|that said|here (?:is|are))\b,?"
    r"(?! (?:(?:i|we)(?:'d| would|'ll| will| can| could| am)|if|feel|let|please|you can|there are|perhaps|"
    r"maybe|happy|instead|hopefully)\b)"
)
_DISCLAIMER = re.compile(
    r"\b(?:medical|legal|financial|investment|tax|professional|personali[sz]ed|diagnostic) (?:\w+ )?"
    r"(?:advice|diagnos\w*|opinions?|recommendations?|guidance)\b"
)
_OFFER = re.compile(
    r"\b(?:if you|feel free|let me know|please|i can|i'd|i would|consult|seek|contact|speak|talk|see a|"
    r"reach out)\b"
)

_TYPOGRAPHY = str.maketrans({"\u2019": "'", "\u02bc": "'", "*": None, "_": None})
_CONTRACTIONS = (
    (re.compile(r"\bcan(?:'t|not)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\b(i|we|that|this|it|here)'(?:m|re|s)\b"), r"\1 is"),
    (re.compile(r"\b(i) is\b"), r"\1 am"),
    (re.compile(r"\b(we) is\b"), r"\1 are"),
)
_SENTENCE_END = re.compile(r"[.!?。！？]+(?=\s|$)|[。！？]")


def is_refusal(text: str) -> bool:
    """Whether an answer declines the request instead of answering it.

    The rule, made to keep an answer when in doubt:

    1. A text of more than 600 characters is no refusal, whatever it opens with.
    2. Within its first 250 characters, and from the first on, it must say that the writer cannot, may not or
       will not help with, answer, provide or do it, after at most three lead-ins (an apology, "as an AI
       language model", a greeting). Mentioned later, or in quotation marks, it is no refusal.
       English in full; the common forms of German, French, Spanish, Italian, Portuguese, Dutch, Polish,
       Russian, Chinese, Japanese and Korean.
    3. In English, it is not a refusal if it declines for want of knowledge ("based on the given context",
       "an exact number"), if it turns to an answer ("..., but the usual dose is 5 mg"; an offer such as
       "..., but I can explain" is no answer), or if it is a disclaimer ("I can't give legal advice") with
       something other than an offer or a referral after it.

    The work is bounded by the 600 characters, so a text of any length is safe to hand in.

    Args:
        text: The whole answer.

    Example:
        >>> is_refusal("I'm sorry, but I can't assist with that.")
        True
        >>> is_refusal("I'm sorry for the confusion, the capital is Paris.")
        False
        >>> is_refusal("I don't know.")
        False
    """
    stripped = text.strip()
    if len(stripped) > _LONGEST:
        return False
    plain = _plain(stripped)
    if _OTHERS.match(plain, 0, _OPENING):
        return True
    declined = _ENGLISH.match(plain, 0, _OPENING)
    if declined is None:
        return False
    end = _SENTENCE_END.search(plain, declined.end())
    sentence, rest = (plain[: end.end()], plain[end.end() :]) if end else (plain, "")
    if _ABSTAINS.search(sentence) or _TURNS.search(plain, declined.end()):
        return False
    return not (_DISCLAIMER.search(sentence) and rest.strip() and not _OFFER.search(rest))


def _plain(text: str) -> str:
    """One line in lower case, without emphasis marks, English contractions written out."""
    plain = " ".join(text.translate(_TYPOGRAPHY).casefold().split())
    for pattern, written_out in _CONTRACTIONS:
        plain = pattern.sub(written_out, plain)
    return plain
