"""A sentence and the statements it was split into: do they say the same?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from opik_checkembed.functional.grounding import SourceFacts

_WORD = re.compile(r"[^\W_]+")
_LONG, _STEM = 4, 5
_AGREEING = 0.8
_DENIALS = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|nicht|kein\w*|nie(?:mals)?|ohne|pas|jamais|aucune?|sans|nunca|sin)\b"
    r"|n['’]t\b|不|没|沒|無|ない|ません",
    re.IGNORECASE,
)
_HEDGES = re.compile(
    r"\b(?:may|might|could|would|should|possibly|perhaps|probably|likely|suggest\w*|appears?|seems?|reportedly|alleged\w*|"
    r"approximately|about|könnten?|vielleicht|wahrscheinlich|peut(?:-être)?|pourraient?|probablement|podrían?|quizás?)\b"
    r"|可能|也许|かもしれ",
    re.IGNORECASE,
)


def says_the_same(sentence: str, parts: Sequence[str], language: str) -> bool:
    """Whether statements say no more and no less than their sentence, as far as words show it.

    Specifics must agree both ways, and nearly all other words; a denial or hedge of the sentence must come back.

    Args:
        sentence: The sentence.
        parts: What it was split into.
        language: ISO 639-1 code of both.

    Example:
        >>> sentence = "The bridge opened in 1932 and carries trains."
        >>> says_the_same(sentence, ["The bridge opened in 1932.", "The bridge carries trains."], "en")
        True
        >>> says_the_same("It may leak.", ["It leaks."], "en")
        False
    """
    together = " ".join(parts)
    if SourceFacts(parts, language=language).lacking(sentence):
        return False
    own = SourceFacts([sentence], language=language)
    if any(own.lacking(part) for part in parts):
        return False
    said, told = _stems(sentence), _stems(together)
    kept = len(said & told)
    if kept < _AGREEING * len(said) or kept < _AGREEING * len(told):
        return False
    return all(len(words.findall(together)) >= len(words.findall(sentence)) for words in (_DENIALS, _HEDGES))


def _stems(text: str) -> frozenset[str]:
    """The beginnings of a text's longer words, which inflections share."""
    return frozenset(word[:_STEM].casefold() for word in _WORD.findall(text) if len(word) >= _LONG)
