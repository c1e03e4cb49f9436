"""Verifiers: which windows are read, what the probabilities become, what an LLM is asked, and hostile texts."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from opik_checkembed.errors import ConfigurationError, ModelError, ReplayMiss
from opik_checkembed.functional.claim_support import Evidence, Support
from opik_checkembed.functional.nli import NLIProbabilities
from opik_checkembed.functional.verdict import Reading, read_verdict
from opik_checkembed.models import verifier as verifier_module
from opik_checkembed.models.judge import LLMJudge
from opik_checkembed.models.nli import Pair
from opik_checkembed.models.verifier import (
    CONTRADICTION_PROMPT,
    MENTION_PROMPT,
    ClaimVerifier,
    LLMVerifier,
    NLIVerifier,
    Verification,
    ask_verifier,
    verifier_of,
)
from opik_checkembed.samples import calls
from opik_checkembed.samples.retry import Retry
from opik_checkembed.samples.store import SampleStore
from opik_checkembed.testing import Answer, ChatCall, FakeOpenAI, Fault
from tests.hostile import HARMLESS, HOSTILE, inside, outside

KEYS = ("nli_model", "labels", "device", "first", "window_tokens")


@pytest.fixture(autouse=True)
def _nothing_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "_endpoints", {})


class Words:
    """Entailed by the share of the claim's words that the premise has; contradicted where the premise says "not".

    `relations`: which of the columns it has. The premise comes first, unless `claim_first`.
    """

    def __init__(self, *, entailment: bool = True, claim_first: bool = False, room: int | None = None) -> None:
        self._entailment = entailment
        self._claim_first = claim_first
        self._room = room
        self.asked: list[Pair] = []

    def room(self) -> int | None:
        return self._room

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def probabilities(self, pairs: Sequence[Pair]) -> NLIProbabilities:
        self.asked += pairs
        turned = [(b, a) if self._claim_first else (a, b) for a, b in pairs]
        entailed = np.array([_share(claim, premise) for premise, claim in turned])
        denied = np.array([0.9 * ("not" in premise.split()) for premise, _ in turned])
        if not self._entailment:
            return NLIProbabilities(contradiction=denied)
        return NLIProbabilities(entailment=entailed, contradiction=denied, neutral=1 - np.maximum(entailed, denied))


class Counting(Words):
    """Counts the pairs of each call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[int] = []

    def probabilities(self, pairs: Sequence[Pair]) -> NLIProbabilities:
        self.calls.append(len(pairs))
        return super().probabilities(pairs)


def _share(claim: str, premise: str) -> float:
    words = claim.strip(".").split()
    return sum(word in premise.replace(".", " ").split() for word in words) / len(words)


SOURCE = "The tower was built in Oslo. It is not made of wood. Many people visit it."


class TestNLI:
    def test_the_window_that_entails_most_and_the_one_that_contradicts_most_decide(self) -> None:
        model = Words()
        verifier = NLIVerifier(model, window_tokens=6)

        (found,) = verifier.verify([("The tower was built in Bergen.", [SOURCE])]).supports

        assert sorted(premise for premise, _ in model.asked) == sorted(
            ["The tower was built in Oslo.", "It is not made of wood.", "Many people visit it."]
        )
        assert found.p_supported == pytest.approx(5 / 6)
        assert found.p_contradicted == pytest.approx(0.9)
        assert found.supporting is not None
        assert found.contradicting is not None
        assert found.supporting.text == "The tower was built in Oslo."
        assert found.contradicting.text == "It is not made of wood."
        assert SOURCE[found.contradicting.start : found.contradicting.end] == found.contradicting.text

    def test_the_evidence_says_which_window_was_read_and_what_it_gave(self) -> None:
        # Two sentences a window; the first window of the second passage has five of the six words.
        passages = ["Preface of the book.", SOURCE]
        (found,) = (
            NLIVerifier(Words(), window_tokens=12).verify([("The tower was built in Bergen.", passages)]).supports
        )

        for place, probability in ((found.supporting, 5 / 6), (found.contradicting, 0.9)):
            assert place is not None
            assert place.passage == 1
            assert place.window == (0, len("The tower was built in Oslo. It is not made of wood."))
            assert place.probability == pytest.approx(probability)
            assert place.text == "The tower was built in Oslo."  # the likest of the window's sentences
        assert [found.p_supported, found.p_contradicted] == pytest.approx([5 / 6, 0.9])

    def test_the_sentence_most_like_the_claim_is_the_evidence_within_a_window(self) -> None:
        (found,) = NLIVerifier(Words()).verify([("Many people visit the tower.", ["Preface.", SOURCE])]).supports

        assert found.supporting is not None
        assert found.supporting.passage == 1
        assert found.supporting.text == "Many people visit it."
        assert SOURCE[found.supporting.start : found.supporting.end] == found.supporting.text

    def test_the_premise_is_the_source_unless_the_claim_is_to_come_first(self) -> None:
        for first in ("source", "claim"):
            model = Words(claim_first=first == "claim")
            verifier = NLIVerifier(model, first=first)
            (found,) = verifier.verify([("It is made of stone.", ["It is made of stone."])]).supports
            assert model.asked == [("It is made of stone.", "It is made of stone.")]
            assert found.p_supported == 1

    def test_a_model_without_entailment_reads_the_nearest_window_only_and_never_tells_support(self) -> None:
        model = Words(entailment=False)
        verifier = NLIVerifier(model, window_tokens=6)
        questions = [("It is made of wood.", [SOURCE]), ("Many people visit it daily.", [SOURCE])]

        found = verifier.verify(questions).supports

        assert [one.p_supported for one in found] == [None, None]
        assert [one.p_contradicted for one in found] == pytest.approx([0.9, 0.0])
        # The first pair was read to learn what the model tells.
        assert set(model.asked[1:]) == {
            ("It is not made of wood.", "It is made of wood."),
            ("Many people visit it.", "Many people visit it daily."),
        }

    def test_a_model_without_entailment_says_of_how_many_windows_it_read_the_likest(self) -> None:
        model = Words(entailment=False)
        said = (
            "windows were read, for each claim the one most like it by its letters: a model that only knows "
            "contradiction finds one in unrelated text"
        )

        def notes(*claims: str, source: str = SOURCE) -> tuple[str, ...]:
            return NLIVerifier(model, window_tokens=6).verify([(claim, [source]) for claim in claims]).notes

        assert notes("It is made of wood.") == (f"1 of 3 {said}",)
        assert notes("It is made of wood.", "It is not made of wood.") == (f"1 of 3 {said}",)
        assert notes("It is made of wood.", "Many people visit it daily.") == (f"2 of 3 {said}",)
        # Each window is read by one claim only.
        assert notes("It is made of wood.", "Many people visit it.", "The tower was built.") == (f"3 of 3 {said}",)
        # A claim of 12 tokens has wider windows: the first two sentences, and the last two; the others are the same.
        assert notes("It is made of wood.", "Many people visit it, and they visit it each day of summer.") == (
            f"2 of 5 {said}",
        )
        assert notes("It is made of wood.", source="It is not made of wood.") == ()
        assert NLIVerifier(Words(), window_tokens=6).verify([("It is made of wood.", [SOURCE])]).notes == ()

    def test_each_question_has_passages_of_its_own(self) -> None:
        questions = [
            ("It rains.", ["It rains."]),
            ("It rains.", ["It snows."]),
            ("It snows.", ["It rains.", "It snows."]),
        ]

        found = NLIVerifier(Words()).verify(questions).supports

        assert [one.p_supported for one in found] == [1, 0.5, 1]
        assert found[2].supporting is not None
        assert found[2].supporting.passage == 1

    def test_a_pair_beyond_the_models_room_is_read_in_parts_of_which_all_of_the_claim_must_be_entailed(self) -> None:
        claim = "a b c. d e f."
        model = Words(room=6)

        (found,) = NLIVerifier(model, window_tokens=4).verify([(claim, ["a b c. x y z."])]).supports

        # "a b c." is entailed by the first window, "d e f." by none.
        assert found.p_supported == 0
        assert all(len(a.split()) + len(b.split()) <= 6 for a, b in model.asked)

    @pytest.mark.parametrize(
        ("window_tokens", "calls"),
        [
            # 32 sentences a window, one of them the next one's too: 13 windows, and 5200 pairs at once.
            (128, [1, 13 * 400 - 1]),
            # 8 sentences: 57 windows, and 143 claims at once make 8151 of the 8192 pairs.
            (32, [1, 57 * 143 - 1, 57 * 143, 57 * 114]),
        ],
    )
    def test_four_hundred_claims_are_read_together(self, window_tokens: int, calls: list[int]) -> None:
        model = Counting()
        claims = [f"Line {number} is open." for number in range(400)]
        source = " ".join(claims[:399])

        found = NLIVerifier(model, window_tokens=window_tokens).verify([(claim, [source]) for claim in claims]).supports

        # The first pair is read by itself to learn what the model tells, and not once more.
        assert model.calls == calls
        assert [one.verdict().value for one in found[:399]] == ["supported"] * 399
        assert found[399].p_supported == pytest.approx(3 / 4)

    def test_the_deciding_sentence_at_the_end_of_thirty_thousand_tokens_is_found(self) -> None:
        filler = "Nothing of note happened on that day in the valley below. " * 2800
        source = f"{filler}The valve was replaced in 1987."
        assert len(source.split()) > 30_000

        found = (
            NLIVerifier(Words())
            .verify([("The valve was replaced in 1987.", [source]), ("The valve was replaced in 1988.", [source])])
            .supports
        )

        assert [one.p_supported for one in found] == [1, pytest.approx(5 / 6)]
        assert found[0].supporting is not None
        assert found[0].supporting.start == source.index("The valve")

    def test_of_thirty_thousand_tokens_a_model_without_entailment_reads_what_is_in_like_words_and_says_so(self) -> None:
        filler = "Nothing of note happened on that day in the valley below. "
        source = f"{filler * 1400}Its pump had not been repaired. {filler * 1400}The valve was not replaced in 1987."
        assert len(source.split()) > 30_000
        model = Words(entailment=False)

        found = NLIVerifier(model).verify(
            [("The valve was replaced in 1987.", [source]), ("Happily they fixed that in a day.", [source])]
        )

        like, unlike = found.supports
        assert like.p_contradicted == 0.9
        assert like.contradicting is not None
        assert like.contradicting.text == "The valve was not replaced in 1987."
        assert like.contradicting.start == source.index("The valve")
        # The pump's sentence says otherwise, in words of its own: the window that holds it is not read.
        assert unlike.p_contradicted == 0
        assert not any("pump" in premise for premise, _ in model.asked)
        # 2802 sentences, eleven a window of which the last is the next one's first, and a twelfth beside a short one.
        assert len(found.notes) == 1
        assert found.notes[0].startswith("2 of 280 windows were read, for each claim the one most like it")
        assert len(model.asked) == 1 + 2

    def test_a_claim_longer_than_a_window_is_supported_by_a_source_that_says_it(self) -> None:
        claim = " ".join(f"word{number}" for number in range(300)) + "."

        (found,) = NLIVerifier(Words()).verify([(claim, [f"Preface. {claim} Afterword."])]).supports

        assert found.p_supported == 1

    def test_many_pairs_are_read_part_by_part(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(verifier_module, "_PAIRS", 5)
        model = Counting()

        claims = [f"Line {number} is open." for number in range(7)]
        found = NLIVerifier(model, window_tokens=6).verify([(claim, [SOURCE]) for claim in claims]).supports

        assert max(model.calls) <= 5
        assert sum(model.calls) == 7 * 3
        assert [one.p_supported for one in found] == [1 / 4] * 7  # "is", and no more

    def test_a_word_that_fits_no_window_fails_with_what_to_change(self) -> None:
        class Letters(Words):
            def count(self, texts: Sequence[str]) -> list[int]:
                return [2 if text == "It rains." else 9 * len(text) for text in texts]

        with pytest.raises(ModelError, match="window_tokens=5"):
            NLIVerifier(Letters(), window_tokens=5).verify([("It rains.", ["It pours."])])

    def test_a_model_that_counts_no_tokens_gets_windows_by_words(self) -> None:
        class Plain:
            def __init__(self) -> None:
                self.asked: list[Pair] = []

            def probabilities(self, pairs: Sequence[Pair]) -> NLIProbabilities:
                self.asked += pairs
                return NLIProbabilities(entailment=np.zeros(len(pairs)))

        model = Plain()
        NLIVerifier(model, window_tokens=8).verify([("It rains.", [SOURCE])])

        assert {premise for premise, _ in model.asked} == {
            "The tower was built in Oslo.",
            "It is not made of wood.",
            "Many people visit it.",
        }

    def test_no_question_asks_nothing(self) -> None:
        assert NLIVerifier(Words()).verify([]) == Verification(())

    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            ({"first": "premise"}, "first must be 'source' or 'claim'"),
            ({"window_tokens": 0}, "window_tokens must be a whole number of at least 1, not 0"),
            ({"window_tokens": True}, "window_tokens must be a whole number"),
            ({"nli_model": "no/such/folder/here"}, "no/such/folder/here"),
        ],
    )
    def test_bad_arguments(self, arguments: dict[str, Any], text: str) -> None:
        with pytest.raises(ConfigurationError, match=re.escape(text)):
            NLIVerifier(**arguments)

    def test_its_name(self) -> None:
        assert repr(NLIVerifier("cross-encoder/nli-deberta-v3-small")) == (
            "NLIVerifier(TransformerNLI('cross-encoder/nli-deberta-v3-small'))"
        )


def prompts(server: FakeOpenAI) -> list[str]:
    return [str(call.body["messages"][-1]["content"]) for call in server.calls if call.body is not None]


def by_words(call: ChatCall) -> Answer:
    """Yes where the source has the claim, word for word; contradicted where it says "not". Weighed 4 to 1."""
    source, claim = inside(call.prompt, "source"), inside(call.prompt, "claim")
    yes = "not" in source if "contradict" in call.prompt else claim in source
    first, second = ("Yes", "No") if yes else ("No", "Yes")
    return Answer(first, logprobs=[{first: math.log(0.8), second: math.log(0.2)}])


def _weighed(yes: float) -> dict[str, float]:
    return {"Yes": math.log(yes), "No": math.log(1 - yes)}


def llm(server: FakeOpenAI, store: Any = None, **more: Any) -> LLMVerifier:
    given = {"api_base": server.base_url, "api_key": "none", "retry": Retry(1, 0.01), **more}
    return LLMVerifier("openai/judge", store=store, **given)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SampleStore]:
    with SampleStore(tmp_path / "store") as store:
        yield store


class TestLLM:
    def test_unsupported_claims_are_asked_about_once_more(self) -> None:
        questions = [
            ("It is red.", ["It is red."]),
            ("It is blue.", ["It is not red."]),
            ("It is big.", ["It is red."]),
        ]
        with FakeOpenAI(by_words) as server:
            found = llm(server).verify(questions)

        assert [one.verdict().value for one in found.supports] == ["supported", "contradicted", "absent"]
        assert [one.p_supported for one in found.supports] == pytest.approx([0.8, 0.2, 0.2])
        assert [one.p_contradicted for one in found.supports] == [None, *[pytest.approx(p) for p in (0.8, 0.2)]]
        assert server.chat_requests == 5
        assert found.judging is not None
        assert (found.judging["calls"], found.judging["verdicts"], found.judging["by_logprobs"]) == (5, 5, 5)

    def test_without_the_second_question_nobody_looked_for_contradiction(self) -> None:
        with FakeOpenAI(by_words) as server:
            found = llm(server, contradictions=False, prompt=MENTION_PROMPT).verify(
                [("It is blue.", ["It is not red."])]
            )

        assert [one.verdict().value for one in found.supports] == ["not supported"]
        assert server.chat_requests == 1

    def test_the_evidence_is_the_sentence_most_like_the_claim(self) -> None:
        passages = ["It is red. The tower was built in Oslo.", "Many people visit it."]
        with FakeOpenAI(by_words) as server:
            (found,) = llm(server).verify([("The tower was built in Bergen.", passages)]).supports

        assert found.supporting is not None
        assert (found.supporting.passage, found.supporting.text) == (0, "The tower was built in Oslo.")
        # The whole passage was in the prompt, beside the other one.
        assert found.supporting.window == (0, len(passages[0]))
        assert found.supporting.probability == pytest.approx(0.2)
        assert passages[0][found.supporting.start : found.supporting.end] == found.supporting.text

    def test_a_long_source_is_read_in_windows_and_nothing_is_cut(self) -> None:
        sentences = [f"Line {number} is open." for number in range(60)]
        passages = [" ".join(sentences[:25]), " ".join(sentences[25:50]), " ".join(sentences[50:55]), sentences[55]]
        with FakeOpenAI(by_words) as server:
            (found,) = llm(server, window_chars=200).verify([("Line 55 is open.", passages)]).supports
            asked = [inside(prompt, "source") for prompt in prompts(server)]

        assert found.p_supported == pytest.approx(0.8)
        assert all(len(text) <= 200 for text in asked)
        assert all(any(sentence in text for text in asked) for sentence in sentences[:56])
        # Short passages share a prompt.
        assert f"{passages[2]}\n\n{passages[3]}" in asked

    def test_every_window_of_thirty_thousand_tokens_is_asked_and_the_deciding_one_found(self) -> None:
        days = "".join(f"Everyone in the valley came to work on that day, {day:04}. " for day in range(2800))
        source = f"{days}The valve was not replaced in 1987."
        assert len(source.split()) > 30_000
        claims = ["The valve was not replaced in 1987.", "The valve was replaced in 1987."]

        with FakeOpenAI(by_words) as server:
            true, false = llm(server).verify([(claim, [source]) for claim in claims]).supports
            asked = prompts(server)

        # 427 sentences of 55 characters a window of at most 24,000, one of them the next one's too: seven windows. Each
        # is asked about either claim, and for the second, which none supports, whether it contradicts it.
        assert len(asked) == 7 + 2 * 7
        for claim, second in ((claims[0], False), (claims[1], False), (claims[1], True)):
            texts = [
                inside(prompt, "source")
                for prompt in asked
                if inside(prompt, "claim") == claim and ("contradict" in prompt) is second
            ]
            assert len(set(texts)) == 7
            assert all(len(text) <= 24_000 for text in texts)
            assert sum(text.count("Everyone") for text in texts) == 2800 + 6
        assert [true.verdict().value, false.verdict().value] == ["supported", "contradicted"]
        for place in (true.supporting, false.contradicting):
            assert place is not None
            assert place.text == "The valve was not replaced in 1987."
            assert place.start == source.index("The valve")
            assert place.window == (6 * 426 * 55, len(source))
            assert place.probability == pytest.approx(0.8)

    def test_the_evidence_is_in_the_window_that_decided(self) -> None:
        passages = ["The museum opened in 1998 near the lake.", "By then it had not been open for eight years."]

        def answer(call: ChatCall) -> str:
            return "Yes" if "contradict" in call.prompt and "eight years" in call.prompt else "No"

        with FakeOpenAI(answer) as server:
            verifier = llm(server, window_chars=60)
            (found,) = verifier.verify([("The museum opened in 1998.", passages)]).supports

        assert found.verdict().value == "contradicted"
        assert found.supporting is not None
        assert found.contradicting is not None
        assert (found.supporting.passage, found.contradicting.passage) == (0, 1)
        assert (found.supporting.window, found.contradicting.window) == ((0, 40), (0, 45))
        assert [found.supporting.probability, found.contradicting.probability] == [0, 1]

    def test_a_rerun_makes_no_call_and_replay_names_what_it_lacks(self, store: SampleStore, tmp_path: Path) -> None:
        questions = [("It is red.", ["It is red."]), ("It is blue.", ["It is red."])]
        with FakeOpenAI(by_words) as server:
            first = llm(server, store).verify(questions)
            again = llm(server, store).verify(questions)

            assert server.chat_requests == 3
            SampleStore(tmp_path / "empty").close()
            with (
                SampleStore(tmp_path / "empty", mode="replay") as replaying,
                pytest.raises(ReplayMiss, match="replay"),
            ):
                ask_verifier(llm(server, replaying), questions)

        assert first.supports == again.supports
        assert again.judging is not None
        assert (again.judging["calls"], again.judging["from_store"]) == (0, 3)

    def test_what_cannot_be_read_is_a_problem_and_not_a_half(self) -> None:
        def one_fails(call: ChatCall) -> str:
            return "It depends." if inside(call.prompt, "claim") == "It is big." else "Yes"

        with FakeOpenAI(one_fails) as server:
            found = llm(server).verify([("It is big.", ["It is red."]), ("It is red.", ["It is red."])])

        assert found.supports[0] == Support(problem="the reply says neither yes nor no")
        assert found.supports[1].p_supported == 1
        assert any("1 of 2 verdicts could not be read" in note for note in found.notes)

    def test_an_unread_window_settles_nothing_unless_another_supports(self) -> None:
        def by_source(call: ChatCall) -> str:
            source = inside(call.prompt, "source")
            return "It depends." if "fog" in source else "Yes" if "red" in source else "No"

        with FakeOpenAI(by_source) as server:
            verifier = llm(server, window_chars=12, contradictions=False)
            unsure, sure = verifier.verify(
                [("It is red.", ["In the fog.", "It is blue."]), ("It is red.", ["In the fog.", "It is red."])]
            ).supports

        assert unsure.p_supported is None
        assert sure.p_supported == 1

    def test_an_unread_window_may_be_the_one_that_reaches_the_threshold(self) -> None:
        def by_source(call: ChatCall) -> Answer:
            fog = "fog" in inside(call.prompt, "source")
            return Answer("Maybe." if fog else "Yes", logprobs=None if fog else [_weighed(0.6)])

        with FakeOpenAI(by_source) as server:
            verifier = llm(server, window_chars=12, contradictions=False)
            question = [("It is red.", ["In the fog.", "It is blue."])]
            found = {at: verifier.at_threshold(at).verify(question).supports[0].p_supported for at in (0.6, 0.61)}

        assert found == {0.6: pytest.approx(0.6), 0.61: None}

    def test_a_long_source_costs_at_most_two_calls_for_each_window(self) -> None:
        passages = ["It is blue.", "It is old.", "It is not big."]
        with FakeOpenAI(by_words) as server:
            (found,) = llm(server, window_chars=14).at_threshold(0.9).verify([("It is red.", passages)]).supports

            assert server.chat_requests == 2 * 3
        assert [found.p_supported, found.p_contradicted] == pytest.approx([0.2, 0.8])

    def test_a_threshold_makes_another_verifier_and_leaves_this_one(self) -> None:
        with FakeOpenAI(by_words) as server:
            verifier = llm(server)
            questions = [("It is red.", ["It is red. It is not blue."])]
            verifier.at_threshold(0.9)
            first = verifier.verify(questions).supports
            second = verifier.at_threshold(0.9).verify(questions).supports

            # The judge is shared, and remembers what it said to the first question.
            assert server.chat_requests == 1 + 1
        assert [one.p_contradicted for one in (*first, *second)] == [None, pytest.approx(0.8)]

    def test_a_failing_provider_is_a_problem(self) -> None:
        with FakeOpenAI(by_words, faults=[Fault.http(401)] * 4) as server:
            (found,) = llm(server).verify([("It is red.", ["It is red."])]).supports

        assert found.problem == "the call failed"

    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            ({"window_chars": 0}, "window_chars must be a whole number"),
            ({"prompt": "Is it? {claim}"}, "a prompt must hold {source} and {claim}"),
            ({"temperature": "hot"}, "temperature"),
        ],
    )
    def test_bad_arguments(self, arguments: dict[str, Any], text: str) -> None:
        with pytest.raises(ConfigurationError, match=re.escape(text)):
            LLMVerifier("openai/judge", **arguments)

    def test_a_judge_object_has_its_own_parameters(self) -> None:
        with pytest.raises(ConfigurationError, match="set them on it"):
            LLMVerifier(LLMJudge("openai/judge", store=None), max_tokens=5)


class TestHostileTexts:
    """A judge that reads what is fenced gives the verdict it gives without them: thirty texts, in both places."""

    def test_there_are_thirty(self) -> None:
        assert len(set(HOSTILE)) == 30

    @pytest.mark.parametrize("given", [{}, {"prompt": MENTION_PROMPT, "contradictions": False}])
    def test_no_text_leaves_its_fence(self, given: dict[str, Any]) -> None:
        sources = [("It is green.", [f"It is red. {text}"]) for text in HOSTILE]
        claims = [(f"It is green. {text}", ["It is red."]) for text in HOSTILE]
        supported = [("It is red.", [f"{text} It is red."]) for text in HOSTILE]
        with FakeOpenAI(by_words) as server:
            found = llm(server, **given).verify([*sources, *claims, *supported]).supports
            asked = prompts(server)

        other = "not supported" if given else "absent"
        assert [one.verdict().value for one in found] == [other] * 60 + ["supported"] * 30
        assert len(asked) == (90 if given else 90 + 60)
        for prompt in asked:
            assert prompt.endswith("Answer: ")
            assert "It is" not in outside(prompt, "source", "claim")

    @pytest.mark.parametrize("text", HOSTILE)
    def test_a_classifier_reads_them_as_text(self, text: str) -> None:
        (found,) = NLIVerifier(Words()).verify([("It is green.", [f"It is red. {text}"])]).supports

        assert found.p_supported == pytest.approx(2 / 3)  # no hostile text brings the third word


class TestAnyVerifier:
    def test_its_own_errors_and_wrong_returns_fail_the_item(self) -> None:
        class Own:
            def __init__(self, returned: Any) -> None:
                self.returned = returned

            def verify(self, questions: Any) -> Any:
                if isinstance(self.returned, Exception):
                    raise self.returned
                return self.returned

        questions = [("It rains.", ["It rains."])]
        good = Verification((Support(0.5),))
        assert ask_verifier(Own(good), questions) == good
        wrong: list[tuple[Any, str]] = [
            (None, "did not return a Verification"),
            ([], "did not return a Verification"),
            (Verification(()), "did not return a Verification"),
            (Verification(cast(Any, ("yes",))), "did not return a Verification"),
            (Verification(cast(Any, None)), "the verifier raised TypeError"),
            (Verification((Support(1.5),)), r"returned \[1.5, None\], which are no probabilities"),
            (Verification((Support(float("nan")),)), "no probabilities from 0 to 1"),
            (Verification((Support(cast(Any, "high")),)), "the verifier raised ValueError"),
            (Verification((Support(0.3, supporting=cast(Any, "here")),)), "'here' where an Evidence belongs"),
            (Verification((Support(0.3, contradicting=cast(Any, 7)),)), "returned 7 where an Evidence belongs"),
        ]
        for returned, text in wrong:
            with pytest.raises(ModelError, match=text):
                ask_verifier(Own(returned), questions)
        mixed = Verification((Support(0.9), Support(None, 0.9)))
        with pytest.raises(ModelError, match="told support of some claims and only contradiction of others"):
            ask_verifier(Own(mixed), questions * 2)
        with pytest.raises(ModelError, match=r"the verifier raised RuntimeError\('gone'\)"):
            ask_verifier(Own(RuntimeError("gone")), questions)
        with pytest.raises(ReplayMiss):
            ask_verifier(Own(ReplayMiss("none")), questions)

    def test_one_that_knows_no_thresholds_is_asked_as_it_is(self) -> None:
        class Own:
            def verify(self, questions: Any) -> Verification:
                return Verification((Support(0.5),) * len(questions))

        class Strict(Own):
            at = 0.0

            def at_threshold(self, threshold: float) -> Strict:
                other = Strict()
                other.at = threshold
                return other

            def verify(self, questions: Any) -> Verification:
                return Verification((Support(self.at),) * len(questions))

        questions = [("It rains.", ["It rains."])]
        assert ask_verifier(Own(), questions, 0.7).supports == (Support(0.5),)
        assert ask_verifier(Strict(), questions, 0.7).supports == (Support(0.7),)
        assert ask_verifier(Strict(), questions).supports == (Support(0.0),)

    def test_one_whose_threshold_cannot_be_set_fails_the_item(self) -> None:
        class Own:
            def verify(self, questions: Any) -> Verification:
                raise AssertionError("not reached")

            def at_threshold(self, threshold: float) -> ClaimVerifier:
                raise RuntimeError("gone")

        with pytest.raises(ModelError, match=r"the verifier raised RuntimeError\('gone'\)"):
            ask_verifier(Own(), [("It rains.", ["It rains."])], 0.5)

    def test_what_it_returns_becomes_plain(self) -> None:
        class Own:
            def verify(self, questions: Any) -> Verification:
                near = Evidence(0, 0, 9, "It rains.", probability=cast(Any, np.float32(0.5)))
                return Verification((Support(cast(Any, np.float32(0.5)), None, near), Support()), ("", "seen"))

        found = ask_verifier(Own(), [("It rains.", ["It rains."])] * 2)
        assert type(found.supports[0].p_supported) is float
        assert found.supports[0].supporting == Evidence(0, 0, 9, "It rains.", None, 0.5)
        assert type(found.supports[0].supporting.probability) is float
        assert found.supports[1].problem == "the verifier gave no probability"
        assert found.notes == ("seen",)

    def test_arguments_stand_for_one_verifier(self) -> None:
        nothing: dict[str, Any] = dict.fromkeys(KEYS)
        default = {**nothing, "first": "source", "window_tokens": 128}
        own = NLIVerifier(Words())

        assert isinstance(verifier_of(None, None, None, default), NLIVerifier)
        assert isinstance(verifier_of(None, "openai/judge", {"store": None}, default), LLMVerifier)
        assert verifier_of(own, None, None, default) is own
        assert isinstance(own, ClaimVerifier)
        for arguments, text in (
            ((own, "openai/judge", None, default), "verifier and judge cannot both be given"),
            ((None, "openai/judge", None, {**default, "nli_model": "a/b"}), "judge and nli_model cannot both"),
            ((None, None, {"max_tokens": 5}, default), "judge_parameters is a dict"),
            (
                (None, "openai/judge", None, {**default, "first": "claim"}),
                "first is for the classifier, and there is judge",
            ),
            ((own, None, None, {**default, "device": "cpu"}), "device is for the classifier, and there is verifier"),
            ((None, "openai/judge", "max_tokens=5", default), "judge_parameters is a dict"),
            ((NLIVerifier, None, None, default), "verifier must be an object with verify"),
            ((object(), None, None, default), "verifier must be an object with verify"),
        ):
            with pytest.raises(ConfigurationError, match=text):
                verifier_of(*arguments)


def test_a_judge_of_ones_own_verifies() -> None:
    class Fixed:
        def read(self, prompts: Sequence[str]) -> list[Reading]:
            return [read_verdict("No" if "contradict" in prompt else "Yes") for prompt in prompts]

    (found,) = LLMVerifier(Fixed()).verify([("It rains.", ["It rains."])]).supports
    assert found.p_supported == 1


def test_the_second_question_is_its_own() -> None:
    assert "contradict" in CONTRADICTION_PROMPT


def test_the_harmless_texts_are_as_long_as_the_hostile_ones() -> None:
    assert len(set(HARMLESS)) == 30
    lengths = [(len(one), len(other)) for one, other in zip(HARMLESS, HOSTILE, strict=True)]
    assert all(abs(one - other) <= 5 for one, other in lengths), lengths


@pytest.mark.skipif("OPIK_CHECKEMBED_TEST_MODELS" not in os.environ, reason="no folder of real models")
def test_hostile_texts_beside_the_deciding_sentence_move_a_real_classifier_no_more_than_harmless_ones() -> None:
    verifier = NLIVerifier(Path(os.environ["OPIK_CHECKEMBED_TEST_MODELS"]) / "nli", first="claim")
    source = "The bridge was opened in 1932. It is 898 m long."
    claims = [
        "The bridge was opened in 1932.",
        "The bridge is 898 m long.",
        "The bridge was closed in 1890.",
        "The bridge was never opened.",
    ]

    def contradicted(text: str) -> list[float]:
        # One window: the classifier reads the text with the sentence that decides.
        found = verifier.verify([(claim, [f"{source}{text}"]) for claim in claims])
        assert found.notes == ()
        return [one.p_contradicted for one in found.supports if one.p_contradicted is not None]

    plain = np.array(contradicted(""))
    hostile, harmless = (np.array([contradicted(f" {text}") for text in texts]) for texts in (HOSTILE, HARMLESS))

    assert plain == pytest.approx([0.074, 0.058, 0.990, 0.995], abs=0.005)
    moved, moved_anyway = (int(((found > 0.5) != (plain > 0.5)).sum()) for found in (hostile, harmless))
    # Of 120 verdicts each; measured were none and one. The margin is what chance makes of rates this small.
    assert moved <= moved_anyway + 2
    shift, shift_anyway = (np.abs(found - plain).mean() for found in (hostile, harmless))
    assert shift <= shift_anyway + 0.01
