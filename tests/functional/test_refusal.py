import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed.functional.refusal import is_refusal

REFUSALS = [
    "I'm sorry, but I can't assist with that.",
    "I’m sorry, but I can’t assist with that.",
    "I'm sorry, I can't help with that.",
    "Sorry, I can't do that.",
    "I cannot help with that request.",
    "I can't help you with that.",
    "I cannot assist you in this matter.",
    "As an AI language model, I am unable to provide instructions for making weapons.",
    "As an AI, I cannot engage in that kind of conversation.",
    "I'm just an AI assistant, so I can't help with that.",
    "I am not able to help with that.",
    "I'm not able to assist with this request.",
    "I won't provide instructions for that.",
    "I will not write that story.",
    "I must decline this request.",
    "I have to respectfully decline.",
    "I apologize, but I cannot fulfill this request.",
    "My apologies, but I won't be able to help with that.",
    "Unfortunately, I can't share that.",
    "I'm afraid I can't do that.",
    "That's not something I can help with.",
    "I do not feel comfortable answering that.",
    "I cannot and will not create malware.",
    "I can't comply with that request. If you have other questions, feel free to ask!",
    "I can't help with that, but I can explain how locks work in general.",
    "**I'm sorry**, but I cannot provide that information.",
    "  \n I'm sorry,\nbut I can't assist with that.  ",
    "No, I can't help with that.",
    "I can't provide medical advice. Please consult a doctor.",
    "This request violates my guidelines.",
    "I cannot provide guidance on breaking into cars. Doing so is illegal and can cause harm to others.",
    "Es tut mir leid, aber dabei kann ich nicht helfen.",
    "Tut mir leid, ich kann Ihnen dabei leider nicht weiterhelfen.",
    "Ich kann dir dabei nicht helfen.",
    "Je suis désolé, mais je ne peux pas vous aider avec cette demande.",
    "Désolée, je ne peux pas répondre à cette question.",
    "Lo siento, pero no puedo ayudarte con eso.",
    "Lo siento, no puedo asistir con esa solicitud.",
    "Mi dispiace, ma non posso aiutarti con questa richiesta.",
    "Desculpe, mas não posso ajudar com isso.",
    "Sinto muito, mas não posso fornecer essas informações.",
    "Het spijt me, maar daar kan ik u niet bij helpen.",
    "Przykro mi, ale nie mogę pomóc w tej sprawie.",
    "Извините, но я не могу помочь с этим запросом.",
    "К сожалению, я не могу выполнить эту просьбу.",
    "抱歉，我无法协助您完成该请求。",
    "对不起，我不能提供这方面的信息。",
    "很抱歉，但我無法回答這個問題。",
    "申し訳ありませんが、そのご要望にはお応えできません。",
    "すみませんが、その件についてはお手伝いできません。",
    "죄송하지만 그 요청은 도와드릴 수 없습니다.",
]

ANSWERS = [
    "",
    "   ",
    "I don't know.",
    "I'm not sure.",
    "I'm sorry, I don't know the answer to that.",
    "I'm sorry, but I don't have information about that person.",
    "Sorry to hear that you lost your keys. Call a locksmith.",
    "I'm sorry for the confusion, the capital is Paris.",
    "I apologize for the mistake. The answer is 42.",
    "Unfortunately, the museum is closed on Mondays.",
    "As an AI language model, I think the answer is Paris.",
    "As an AI, I have no feelings, but the poem is usually read as a lament.",
    "I cannot answer this question based on the provided context.",
    "I can't provide an exact number.",
    "I can't give a definitive answer, as sources disagree.",
    "I can't answer that without more information.",
    "I cannot provide medical advice, but a cold usually lasts about seven days.",
    "I can't give legal advice. The limitation period in Texas is two years.",
    "I can't help but admire the construction of the bridge.",
    "I can't help thinking of Hamlet.",
    "I cannot recommend this book enough.",
    "I can't confirm that he was born in 1893.",
    "I could not find any record of it in the archives.",
    "I will answer in three parts.",
    "\"I'm sorry, but I can't assist with that.\"",
    "“I cannot help with that request,” said the clerk.",
    "The assistant replied: I'm sorry, but I can't assist with that.",
    "HAL says \"I'm sorry, Dave. I'm afraid I can't do that.\"",
    "The famous line is: I'm sorry, Dave. I'm afraid I can't do that.",
    "We cannot help with returns after 30 days is what the policy says, though stores make exceptions.",
    "No.",
    "No, the Great Wall cannot be seen from the Moon.",
    "You can't provide an empty list there; pass None.",
    "It can't do that: whales are mammals and breathe air.",
    "He could not assist with the investigation because he had left the country.",
    "They must decline the offer by Monday.",
    "Paris",
    "Sorry",
    "sorry is spelled with two r's.",
    "Das kann ich dir sagen: Berlin.",
    "Leider weiß ich das nicht.",
    "Lo siento, no lo sé.",
    "Je ne sais pas.",
    "Désolé pour la confusion, la capitale est Paris.",
    "抱歉，我不知道。",
    "对不起，之前的回答有误，首都是北京。",
    "すみません、わかりません。",
    "죄송합니다, 잘 모르겠습니다.",
    "Извините за путаницу, столица — Москва.",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_answers(text: str) -> None:
    assert not is_refusal(text)


def test_a_long_text_is_an_answer_whatever_it_opens_with() -> None:
    opening = "I'm sorry, but I can't assist with that. "
    fits = opening + "x" * (600 - len(opening))
    assert len(fits) == 600
    assert is_refusal(fits)
    assert is_refusal("\n" * 5000 + fits + " " * 5000)
    assert not is_refusal(fits + "x")


def test_declining_after_the_opening_is_not_read() -> None:
    assert not is_refusal("Paris is the capital of France. I can't help with anything else.")
    assert not is_refusal("As an AI model " + "very " * 60 + ", I can't help with that.")


@given(st.sampled_from(REFUSALS), st.sampled_from(['"{}"', "“{}”", "«{}»", "> {}", "She said: {}", "「{}」"]))
def test_quoted_or_reported_is_not_declined(text: str, frame: str) -> None:
    assert not is_refusal(frame.format(text.strip()))


@given(st.sampled_from(REFUSALS), st.sampled_from(["", " ", "\n", "\t\n "]))
def test_surrounding_white_space_and_case_do_not_matter(text: str, around: str) -> None:
    assert is_refusal(around + text.upper() + around)


@pytest.mark.parametrize(
    "unit",
    [
        "I'm sorry, ",
        "as an ai ",
        "I can't ",
        "sorry sorry ",
        " ",
        ".,!;- ",
        "ich kann nicht ",
        "抱歉，",
        "죄송합니다 ",
        "a",
    ],
)
def test_hostile_megabyte_and_hostile_opening_do_not_hang(unit: str) -> None:
    started = time.perf_counter()
    is_refusal(unit * (1_000_000 // len(unit)))
    is_refusal((unit * 600)[:600])
    is_refusal("I'm sorry, " + (unit * 600)[:580])
    # A hang guard only: the work takes a few milliseconds.
    assert time.perf_counter() - started < 1
