"""The checkable specifics of a text: its numbers, dates, names, quoted titles, identifiers and addresses, by rules.

No model and no language detection: the caller names the language. English, German, French and Spanish are covered in
full; Chinese, Japanese, Arabic and Hindi for numbers, dates, quotations, words in Latin letters and (Japanese) runs of
Katakana, since their scripts do not mark names; other languages for what all share (digits, ISO dates, quotations,
capitals). German nouns are capitalised, so there a single capitalised word is a name only after a preposition of place.
"""

from opik_checkembed.functional.specifics.extraction import specifics
from opik_checkembed.functional.specifics.folding import folded, words_of, words_with_cuts
from opik_checkembed.functional.specifics.specific import Kind, Specific

__all__ = ["Kind", "Specific", "folded", "specifics", "words_of", "words_with_cuts"]
