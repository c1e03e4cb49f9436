"""Yes or no, read from replies as judges write them."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed.functional import verdict
from opik_checkembed.functional.verdict import Reading, Verdict, read_verdict

YES = [
    "Yes", "YES.", "yes", '"Yes"', "'yes'", "“Yes”", "Answer: Yes", "<answer>yes</answer>", "**Yes**", "- Yes",
    "```Yes```", "```\nyes\n```", "> yes", "✅ Yes", "Yes!", "(yes)", "`Yes`", "<b>Yes</b>", "Yes, it is.",
    "Yes because it says so", "Yes it is", "Yes - the text says no such thing is untrue", "The answer is yes.",
    "My final answer: yes", "VERDICT: YES", '{"answer": "yes"}', "{'verdict': 'Yes'}",
    '```json\n{"verdict": "YES", "why": "no idea"}\n```', '{"reason": "it says no", "answer": "yes"}',
    '{\n "reason": "the text",\n "answer": "yes"\n}\n', r"\boxed{Yes}", r"$\boxed{\text{Yes}}$", "Ｙｅｓ",
    "y\u200bes\ufeff", "Yeah.", "yep", "<think>\nNo. Answer: no\n</think>\n\nYes", "so it does</think>Yes",
    "The text says it.\n\nVERDICT: YES", "The text says it.\n**Final answer:** yes.\n",
    "So it is. <answer>yes</answer>", "Yes Explanation: it says so", "Yes.\n\nNothing in the context says no.",
    "Yes\nAnswer: yes",
]  # fmt: skip
NO = [
    "No", "no - because", "**No**", "Answer: No", "**Answer:** No", "**Answer: No**", "VERDICT: NO", "NO",
    "No.", '{"answer": "no"}', "No, no.", "No, the sentence says yes to another question.",
    "No\nThe sentence is about yes.", "no—because", "No the context does not say so", "No: not at all", "Nope",
    "__No__", "No because yes is not what it says", "Reasoning first, that says yes.\nAnswer: No",
    "no, and that is that",
]  # fmt: skip
UNREADABLE = [
    "", "  \n", "Not mentioned", "Not mentioned.", "None", "Known", "Nothing", "yesterday", "Yesterday.",
    "Nobody knows", "No information is given", "No information is given?", "**No** information is given",
    "No evidence", "No doubt", "No one knows", "No-one", "no_one", "No. 5", "No.5 is right", "N/A",
    "Yes and no", "Yes, and no", "Yes/No", "Yes or No", "Yes | No", "yes, but no", "No. Yes.",
    "Answer: Yes or No", "The sentence says yes.", "I would say yes", "not yes", "The answer is not yes",
    "It is not the case that the answer is no", "Answer:", "**Answer:**", "answers vary", "Know", "<think>Yes",
    "<think>\nSo the answer is\nAnswer: yes", "Yes. On second thought:\nAnswer: no", "maybe", "1", "true-ish",
    "I cannot tell.\nAnswer: unknown", r'{"reason": "\"answer\": \"yes\""}', "Yesterday\nNo answer came",
    "naïve", "nonsense", "Noël", "Sicher", "…", "🙂", "</think>",
]  # fmt: skip

YES_ABROAD = {
    "de": "Ja, denn so steht es da.", "fr": "Oui.", "es": "Sí, porque...", "it": "Sì", "pt": "Sim.", "nl": "ja",
    "sv": "Ja.", "pl": "Tak, ponieważ", "cs": "Ano.", "ru": "Да, так как", "uk": "Так.", "tr": "EVET",
    "el": "ΝΑΙ", "ar": "نعم.", "fa": "بله", "he": "כן, כתוב", "hi": "जी हाँ।", "bn": "হ্যাঁ।",
    "zh": "是的，文中提到。", "zh-hant": "對。", "ja": "はい、そうです。", "ko": "네, 맞습니다.", "vi": "Có.",
    "id": "Ya, karena", "th": "ใช่", "fi": "Kyllä.", "hu": "Igen.", "ro": "Da.", "labels": "答案：是",
    "fr label": "Réponse : oui", "ko label": "답변: 예", "vi label": "Câu trả lời: có",
    "de label": "Antwort: **Ja**", "ru label": "Ответ: да",
}  # fmt: skip
NO_ABROAD = {
    "de": "Nein.", "fr": "Non, car", "es": "No porque", "it": "No.", "pt": "Não.", "nl": "Nee, omdat",
    "sv": "Nej", "no": "Nei.", "pl": "NIE", "cs": "Ne.", "ru": "Нет.", "uk": "Ні,", "bg": "Не.", "tr": "HAYIR",
    "tr lower": "hayır", "el": "Όχι.", "ar": "لا، لم يذكر", "fa": "خیر", "he": "לא.", "hi": "नहीं।",
    "bn": "না।", "zh": "不是。", "zh 2": "否", "zh 3": "不", "ja": "いいえ。", "ko": "아니요.", "vi": "Không.",
    "id": "Tidak.", "th": "ไม่ใช่", "fi": "Ei.", "hu": "Nem.", "ro": "Nu,", "label": "结论：不对",
}  # fmt: skip
# A longer word or an idiom that begins as a verdict does.
UNREADABLE_ABROAD = [
    "不支持", "不清楚", "否定", "是否支持", "예를 들어", "네덜란드", "لا يوجد", "Non è chiaro", "No está claro",
    "не упоминается", "Da der Satz das sagt", "nahin", "नहींं", "हाँथी", "Si la frase es cierta", "да нет",
    "Ja und nein", "oui et non", "Nie wspomniano", "tak jak", "ใช่ไหม", "はいけい", "Néant", "nene",
]  # fmt: skip


@pytest.mark.parametrize("reply", [*YES, *YES_ABROAD.values()])
def test_yes(reply: str) -> None:
    assert read_verdict(reply) == Reading(Verdict.YES, None, reply)


@pytest.mark.parametrize("reply", [*NO, *NO_ABROAD.values()])
def test_no(reply: str) -> None:
    assert read_verdict(reply) == Reading(Verdict.NO, None, reply)


@pytest.mark.parametrize("reply", [*UNREADABLE, *UNREADABLE_ABROAD])
def test_anything_else_is_no_verdict(reply: str) -> None:
    assert read_verdict(reply) == Reading(Verdict.UNREADABLE, None, reply)


def test_no_word_means_both() -> None:
    said: dict[str, set[str]] = {}
    for spellings in verdict._YES_AND_NO.values():
        for meaning, words in zip("yn", spellings, strict=True):
            for word in words.split():
                said.setdefault(verdict._fold(word), set()).add(meaning)

    assert {word for word, meanings in said.items() if len(meanings) > 1} == set()
    assert (said["tak"], said["ναι"], said["no"], said["ne"]) == ({"y"}, {"y"}, {"n"}, {"n"})


@given(st.text(max_size=80))
def test_any_text_is_read_and_given_back(text: str) -> None:
    reading = read_verdict(text)

    assert reading.text == text
    assert reading.p_yes is None
    assert (reading.probability is None) == (reading.verdict is Verdict.UNREADABLE)


MARKS = st.text(" \n\t*\"'`#>-.:()[]{}“”", max_size=6)


@given(MARKS, st.sampled_from(["Yes", "no", "NEIN", "oui", "да", "否", "いいえ"]), MARKS)
def test_marks_around_a_verdict_change_nothing(before: str, word: str, after: str) -> None:
    assert read_verdict(f"{before}{word}{after}").verdict is read_verdict(word).verdict


@given(st.sampled_from([*verdict._MEANINGS]), st.characters(categories=["Lo", "Ll", "Nd"]))
def test_a_letter_more_is_another_word(word: str, letter: str) -> None:
    longer = verdict._fold(word + letter)
    if not any(longer.startswith(other) and other != word for other in verdict._MEANINGS):
        assert read_verdict(word + letter).verdict is Verdict.UNREADABLE


@pytest.mark.parametrize(
    "text",
    ["`" * 50_000, "_" * 50_000 + "x", "answer " * 10_000, "\n" * 50_000 + "answer: yes", '"answer"' * 10_000,
     "<think>" * 10_000, "no " + "and " * 10_000, "the" + " " * 50_000, "<b" + " " * 50_000 + "x", "<answer>" * 10_000,
     "जी" + " " * 50_000, "final " * 10_000],
)  # fmt: skip
def test_long_replies_take_no_time(text: str) -> None:
    started = time.process_time()
    read_verdict(text)

    assert time.process_time() - started < 2


class TestProbability:
    def test_without_log_probabilities_it_is_one_or_nothing(self) -> None:
        assert [read_verdict(text).probability for text in ("Yes", "No", "None")] == [1.0, 0.0, None]

    def test_the_mass_of_yes_over_that_of_yes_and_no(self) -> None:
        tokens = [[("Yes", math.log(0.5)), ("No", math.log(0.2)), (" yes", math.log(0.1)), ("Not", math.log(0.15))]]
        reading = read_verdict("Yes", tokens)

        assert reading.p_yes == pytest.approx(0.6 / 0.8)
        assert reading.probability == reading.p_yes

    @pytest.mark.parametrize("no", ["No", "no", " No", "▁No", "Ġno", "NO", '"No', "**No", "No."])
    def test_every_spelling_counts(self, no: str) -> None:
        reading = read_verdict("Yes", [[("Yes", math.log(0.75)), (no, math.log(0.25))]])

        assert reading.p_yes == pytest.approx(0.75)

    def test_the_words_of_one_language_weigh_against_each_other(self) -> None:
        # "Ne" may be the beginning of anything, and nobody who says Yes means it in Czech.
        tokens = [[("Yes", math.log(0.5)), ("Ne", math.log(0.3)), ("No", math.log(0.2))]]

        assert read_verdict("Yes", tokens).p_yes == pytest.approx(5 / 7)
        assert read_verdict("ano", [[("ano", math.log(0.5)), ("ne", math.log(0.3))]]).p_yes == pytest.approx(5 / 8)

    def test_marks_and_labels_before_it_do_not_decide(self) -> None:
        tokens = [
            [("**", -0.1), ("Yes", -2.0)],
            [("Answer", -0.1), ("Yes", -1.0)],
            [(":**", 0.0)],
            [(" No", math.log(0.6)), (" Yes", math.log(0.3)), ("Not", math.log(0.1))],
            [(",", -0.1), ("yes", -0.2)],
        ]
        reading = read_verdict("**Answer:** No, yes is not", tokens)

        assert reading.verdict is Verdict.UNREADABLE
        reading = read_verdict("**Answer:** No, it", tokens)
        assert reading.verdict is Verdict.NO
        assert reading.p_yes == pytest.approx(0.3 / 0.9)

    def test_a_key_of_json_does_not_decide(self) -> None:
        tokens = [[(piece, 0.0)] for piece in ('{"', "answer", '":', ' "')] + [[("no", -0.1), ("yes", -2.4)]]

        p_yes = math.exp(-2.4) / (math.exp(-2.4) + math.exp(-0.1))
        assert read_verdict('{"answer": "no"}', tokens).p_yes == pytest.approx(p_yes)

    def test_a_space_before_the_reply_does_not_matter(self) -> None:
        assert read_verdict("No", [[("▁No", -0.1)], [("</s>", -0.1)]]).p_yes == 0.0
        assert read_verdict(" Yes", [[("Yes", -0.1)]]).p_yes == 1.0

    def test_the_verdict_may_stand_in_the_last_line(self) -> None:
        tokens = [[("It", 0.0)], [(" does", 0.0)], [(".\n", 0.0)], [("Answer", 0.0)], [(":", 0.0)]]
        tokens.append([(" yes", math.log(0.5)), (" no", math.log(0.5))])

        assert read_verdict("It does.\nAnswer: yes", tokens).p_yes == pytest.approx(0.5)

    @pytest.mark.parametrize(
        ("text", "tokens"),
        [
            ("Yes", []),
            ("Yes", [[(" ", 0.0)]]),
            # A word in pieces: what else begins with them is not known.
            ("Nein", [[("Ne", -0.1), ("Ja", -2.0)], [("in", 0.0)]]),
            # The thoughts that a server took out of the reply.
            ("Yes", [[("Okay", 0.0)], [(",", 0.0)], [(" no", 0.0)]]),
            ("Yes", [[("No", 0.0)]]),
            # The tokens end before the verdict.
            ("It does.\nAnswer: yes", [[("It", 0.0)], [(" does", 0.0)]]),
            # No mass at all.
            ("Yes", [[("Yes", -9999.0)]]),
            # What was chosen begins a longer reply that says something else.
            ("Not mentioned", [[("No", -0.1), ("Yes", -2.0)], [("t", 0.0)]]),
        ],
    )
    def test_where_no_token_holds_the_verdict_there_is_none(
        self, text: str, tokens: list[list[tuple[str, float]]]
    ) -> None:
        assert read_verdict(text, tokens).p_yes is None

    def test_the_tokens_may_say_something_else_before_they_end(self) -> None:
        # Only the first tokens are kept, and these stop before "and no".
        tokens = [[("Yes", -0.1)], [(" and", -0.1)]]
        assert read_verdict("Yes and no", tokens) == Reading(Verdict.UNREADABLE, None, "Yes and no")

    @given(
        st.lists(
            st.lists(
                st.tuples(st.sampled_from(["Yes", " no", "No", "▁yes", "**", "x"]), st.floats(-20, 0)), min_size=1
            ),
            max_size=4,
        )
    )
    def test_it_is_a_probability_or_none(self, tokens: list[list[tuple[str, float]]]) -> None:
        text = "".join(token[0][0].replace("▁", " ") for token in tokens)
        reading = read_verdict(text, tokens)

        assert reading.p_yes is None or 0 <= reading.p_yes <= 1
        assert reading.verdict is read_verdict(text).verdict


@pytest.mark.parametrize(("reply", "said"), [("जी  हाँ", "yes"), ("जी\nनहीं", "no")])
def test_words_of_a_verdict_may_stand_apart(reply: str, said: str) -> None:
    assert read_verdict(reply).verdict.value == said
