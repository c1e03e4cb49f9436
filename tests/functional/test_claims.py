"""Which sentences of an answer are claims."""

from __future__ import annotations

import pytest

from opik_checkembed.functional.claims import NoClaim, no_claim

CLAIMS = [
    "Paris is the capital of France.",
    "It may have been built in 1190.",
    "Sure, the tower is 330 m high.",
    "Based on the context, sales rose by 4 %.",
    "I am not sure, but it was in 1893.",
    "The answer is 42.",
    "Here the river is 40 m wide.",
    "Hello Kitty was designed by Yuko Shimizu in 1974.",
    "Note that the trial had no control group.",
    "It is difficult to store hydrogen.",
    "Certainly the largest of them is Titan.",
    "Thanks to the new valve, losses fell by half.",
    "Consumers should check the label.",
    "**Founded:** 1901 in Lyon",
    "Die Brücke wurde 1932 eröffnet.",
    "La tour mesure 330 mètres.",
    "この橋は1932年に開通した。",
    "VERDICT: YES",
    "Sure, here is a summary in 99 words: The bridge is 6 km long.",
    "以下是摘要：这座桥于1932年建成通车。",
    "Ask any miner about the winter of 1911: forty men died.",
]

REST = {
    NoClaim.QUESTION: [
        "Is that so?",
        "**Would you like to know more?**",
        "本当ですか？",
        "هل هذا صحيح؟",
        '"Why?"',
    ],
    NoClaim.GREETING: [
        "Hello!",
        "Hi there,",
        "Sure!",
        "Of course.",
        "Great question!",
        "Thank you for your question.",
        "You're welcome!",
        "Dear Dr. Smith,",
        "Best regards,",
        "Guten Tag!",
        "Merci beaucoup !",
        "你好！",
        "ありがとうございます。",
    ],
    NoClaim.META: [
        "Sure, here is a summary:",
        "Here's the answer you asked for.",
        "Below is an overview of the trial.",
        "Here are three of them:",
        "I hope this helps!",
        "Let me know if you need anything else.",
        "Feel free to ask.",
        "As an AI language model, I have no opinions.",
        "If you have any further questions, write to me.",
        "Hier ist eine Zusammenfassung des Artikels:",
        "Voici le résumé demandé.",
        "以下是摘要：",
    ],
    NoClaim.HEDGE: [
        "I'm not sure about the year.",
        "I don't know.",
        "I could be wrong.",
        "Please consult a doctor.",
        "However, I cannot verify this.",
        "Ich bin mir nicht sicher.",
        "わかりません。",
    ],
    NoClaim.HEADING: ["## Background", "**Key points:**", "Results:"],
}


@pytest.mark.parametrize("sentence", CLAIMS)
def test_a_statement_is_a_claim_however_it_is_worded(sentence: str) -> None:
    assert no_claim(sentence) is None


@pytest.mark.parametrize(("kind", "sentence"), [(kind, one) for kind, many in REST.items() for one in many])
def test_the_rest_is_none_and_says_why(kind: NoClaim, sentence: str) -> None:
    assert no_claim(sentence) is kind


@pytest.mark.parametrize("text", ["", " ", "—", "a" * 50_000, "I hope this " * 5_000, "here is " * 5_000])
def test_no_text_takes_long_or_raises(text: str) -> None:
    assert no_claim(text) in {None, NoClaim.META}
