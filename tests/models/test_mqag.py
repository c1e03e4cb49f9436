"""The four models of MQAG: what they read and say, how they sample, and how many threads share them."""

from __future__ import annotations

import importlib
import logging
import random
import shutil
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from opik_checkembed.errors import ConfigurationError, ModelError, ModelUnavailable
from opik_checkembed.models import mqag as mqag_module
from opik_checkembed.models.mqag import (
    MQAG,
    PUBLISHED,
    Answerable,
    Asked,
    Choice,
    Chosen,
    Distractors,
    Draw,
    Drawn,
    Openly,
    Stem,
)
from opik_checkembed.models.mqag_answering import (
    ANSWERABILITY_MODEL,
    ANSWERING_MODEL,
    AnswerabilityClassifier,
    MultipleChoiceAnswerer,
)
from opik_checkembed.models.mqag_generation import (
    DISTRACTOR_MODEL,
    PASSAGE_QUESTION_MODEL,
    SENTENCE_QUESTION_MODEL,
    Seq2SeqDistractorGenerator,
    Seq2SeqQuestionGenerator,
)
from tests.tiny_mqag import (
    ANSWERABLE,
    ANSWERING,
    DISTRACTORS,
    PLACES,
    QUESTIONS,
    bpe_tokenizer,
    passage,
    save_longformer,
    save_models,
    sentence,
    t5_tokenizer,
)

transformers: Any = importlib.import_module("transformers")

SENTENCES = [sentence(random.Random(seed)) for seed in range(6)]
LOCAL: list[type[Any]] = [
    Seq2SeqQuestionGenerator,
    Seq2SeqDistractorGenerator,
    MultipleChoiceAnswerer,
    AnswerabilityClassifier,
]


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """Models as small as these only wait for each other in several threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_models(tmp_path_factory.mktemp("mqag"))


# --- generation ---------------------------------------------------------------------------------------------


def draws(texts: Sequence[str], count: int = 4) -> list[Draw]:
    return [Draw(text, number) for text in texts for number in range(count)]


def test_questions_depend_on_seed_text_and_number_alone(folder: Path) -> None:
    generator = Seq2SeqQuestionGenerator(folder / QUESTIONS)
    wanted = draws(SENTENCES)
    torch.manual_seed(1)
    together = generator.questions(wanted)
    state = torch.get_rng_state()
    torch.manual_seed(2)
    alone = [generator.questions([draw])[0] for draw in reversed(wanted)][::-1]
    assert together == alone
    assert len({one.question for one in together if one.question}) > 6
    # Nor does it use up random numbers of others.
    torch.manual_seed(1)
    assert torch.equal(torch.get_rng_state(), state)
    other = Seq2SeqQuestionGenerator(folder / QUESTIONS, seed=1).questions(wanted)
    assert other != together


def test_sampling_follows_the_models_distribution(folder: Path) -> None:
    """Against transformers' own sampling: the first word that is asked with, over many draws."""
    generator = Seq2SeqQuestionGenerator(folder / QUESTIONS)
    ours = Counter(one.question.split()[0] for one in generator.questions(draws(SENTENCES[:1], 400)) if one.question)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / QUESTIONS)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder / QUESTIONS).eval()
    inputs = tokenizer(SENTENCES[:1] * 400, return_tensors="pt")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        written = model.generate(**inputs, do_sample=True, max_new_tokens=40)
    texts = [tokenizer.decode(ids).replace("<pad>", "").replace("</s>", "").split("<sep>") for ids in written]
    theirs = Counter(pieces[0].split()[0] for pieces in texts if len(pieces) == 2 and all(map(str.strip, pieces)))
    for word in ("who", "where", "when"):
        a, b = ours[word] / ours.total(), theirs[word] / theirs.total()
        # Four standard deviations of the difference of two shares of 300.
        assert abs(a - b) < 4 * (2 * 0.25 / 300) ** 0.5
        assert a > 0.05


@pytest.mark.parametrize(
    ("settings", "distinct"),
    [
        ({"top_k": 1}, 1),
        ({"top_k": 0, "top_p": 1e-6}, 1),
        ({"temperature": 1e-4}, 1),
        ({"top_k": 0}, 4),
        ({"top_p": 0.95}, 3),
    ],
)
def test_sampling_is_narrowed_as_the_model_is_configured(
    folder: Path, tmp_path: Path, settings: dict[str, float], distinct: int
) -> None:
    shutil.copytree(folder / QUESTIONS, tmp_path / "model")
    config = transformers.GenerationConfig.from_pretrained(tmp_path / "model")
    config.update(do_sample=True, **settings)
    config.save_pretrained(tmp_path / "model")
    found = Seq2SeqQuestionGenerator(tmp_path / "model").questions(draws(SENTENCES[:1], 12))
    said = {(one.question, one.answer) for one in found}
    assert len(said) == 1 if distinct == 1 else len(said) >= distinct


def test_distractors_are_cut_at_separators_and_depend_on_their_question_alone(folder: Path) -> None:
    generator = Seq2SeqDistractorGenerator(folder / DISTRACTORS)
    stems = [Stem(f"where {text[:9]}", text.split()[3], text) for text in SENTENCES]
    together = generator.distractors(stems)
    assert together == [generator.distractors([stem])[0] for stem in stems]
    assert sum(len(one.texts) == 3 for one in together) >= 3
    assert {text for one in together for text in one.texts} & set(PLACES)


def test_a_long_text_gives_questions_about_all_of_its_windows(folder: Path) -> None:
    text = passage(random.Random(3), 12)
    found = Seq2SeqQuestionGenerator(folder / QUESTIONS, max_tokens=32).questions(draws([text, SENTENCES[0]], 5))
    windows = found[0].windows
    assert windows >= 3
    assert [one.window for one in found[:5]] == [number % windows for number in range(5)]
    assert {(one.window, one.windows) for one in found[5:]} == {(0, 1)}


def test_distractors_come_from_the_window_that_is_nearest_to_the_question(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    generator = Seq2SeqDistractorGenerator(folder / DISTRACTORS, max_tokens=32)
    filler = ". ".join(["poet died near rome in 1901"] * 8)
    context = f"{filler}. king sang at lima near 1905. {filler}."
    with generator._local.lock:
        loaded = generator._local.model()
    write = loaded.write

    def noted(prompts: Sequence[str], seeds: Sequence[int]) -> list[list[str]]:
        written.extend(prompts)
        return write(prompts, seeds)

    # To see what the model reads.
    monkeypatch.setattr(loaded, "write", noted)
    (found,) = generator.distractors([Stem("where king sang", "lima", context)])
    assert found.windows > 2
    assert "lima near 1905" in written[0]
    assert written[0].startswith("where king sang <sep> lima <sep> ")
    assert max(loaded.count(written)) <= 32 + 2
    with pytest.raises(ModelError, match="leaves no room for the text it is about"):
        generator.distractors([Stem("where king sang " * 20, "lima", context)])


def test_what_looks_like_a_special_token_is_text(folder: Path) -> None:
    generator = Seq2SeqDistractorGenerator(folder / DISTRACTORS)
    with generator._local.lock:
        loaded = generator._local.model()
        assert loaded.joined("a</s>", "<sep> b", "") == "a< /s> <sep> < sep> b <sep>"
        ids = loaded._ids([loaded.joined("a</s>", "<sep> b", "")])[0]
    assert ids.count(1) == 1
    assert ids.count(len(t5_tokenizer(sep_token="<sep>")) - 1) == 2


def test_an_empty_text_and_no_text_at_all(folder: Path) -> None:
    assert Seq2SeqQuestionGenerator(folder / QUESTIONS).questions([]) == []
    assert Seq2SeqDistractorGenerator(folder / DISTRACTORS).distractors([]) == []
    (drawn,) = Seq2SeqQuestionGenerator(folder / QUESTIONS).questions([Draw("", 0)])
    assert (drawn.window, drawn.windows) == (0, 1)
    assert MultipleChoiceAnswerer(folder / ANSWERING).answer([]) == []
    (found,) = MultipleChoiceAnswerer(folder / ANSWERING).answer([Choice("", ("", "a"), "")])
    assert sum(found.probabilities) == pytest.approx(1)


# --- answering ----------------------------------------------------------------------------------------------


def test_answers_do_not_depend_on_the_batch(folder: Path) -> None:
    answerer = MultipleChoiceAnswerer(folder / ANSWERING)
    draw = random.Random(5)
    choices = [Choice("where king sang", tuple(PLACES[n : n + 4]), passage(draw, 1 + 3 * n)) for n in range(6)]
    together = answerer.answer(choices)
    for choice, one in zip(choices, together, strict=True):
        (alone,) = answerer.answer([choice])
        assert one.probabilities == pytest.approx(alone.probabilities, abs=1e-5)
        assert one.windows == 1
    assert len({np.argmax(one.probabilities) for one in together}) > 1
    repeated = answerer.answer([Choice("where", ("rome", "oslo", "oslo", "oslo"), SENTENCES[0])])[0].probabilities
    assert repeated[1] == repeated[2] == repeated[3]


def test_a_long_passage_is_read_in_windows_and_each_option_counts_where_it_counts_most(folder: Path) -> None:
    answerer = MultipleChoiceAnswerer(folder / ANSWERING)
    text = passage(random.Random(6), 80)
    options = tuple(PLACES[:4])
    (found,) = answerer.answer([Choice("where king sang", options, text)])
    assert found.windows >= 2
    assert sum(found.probabilities) == pytest.approx(1)
    with answerer._local.lock:
        loaded = answerer._local.model()
        choice = Choice("where king sang", options, text)

        def rows(one: Choice, window: str) -> list[tuple[str, str | None]]:
            return [(f"{window} <s> {one.question}", option) for option in one.options]

        windows = loaded._windows(choice, rows)
        every = np.array([loaded._logits(rows(choice, window)) for window in windows])
    assert len(windows) == found.windows
    assert all(word in " ".join(windows) for word in text.split())
    best = np.exp(every.max(axis=0))
    assert found.probabilities == pytest.approx(best / best.sum(), abs=1e-5)
    with pytest.raises(ModelError, match="leaves no room for the passage to answer it from"):
        answerer.answer([Choice("where king sang " * 200, options, text)])


def test_text_of_many_bytes_a_token_is_counted_before_it_is_cut(folder: Path) -> None:
    # More bytes than the model reads tokens, yet fewer tokens: each word is one.
    text = passage(random.Random(7), 17)
    assert len(text) > 510
    (found,) = MultipleChoiceAnswerer(folder / ANSWERING).answer([Choice("where", ("rome", "oslo"), text)])
    assert found.windows == 1


def test_answerability_is_a_sigmoid_and_an_answer_in_any_window_will_do(folder: Path) -> None:
    classifier = AnswerabilityClassifier(folder / ANSWERABLE)
    texts = [SENTENCES[0], passage(random.Random(8), 10), passage(random.Random(6), 80)]
    found = classifier.answerable([Openly("where king sang", text) for text in texts])
    model = transformers.LongformerForSequenceClassification.from_pretrained(folder / ANSWERABLE).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / ANSWERABLE)
    for text, one in zip(texts[:2], found, strict=False):
        with torch.no_grad():
            logit = model(**tokenizer(f"where king sang </s> {text}", return_tensors="pt")).logits
        assert one.probability == pytest.approx(float(torch.sigmoid(logit)), abs=1e-5)
        assert one.windows == 1
    assert found[2].windows > 1
    pieces = [" ".join(texts[2].split()[start : start + 200]) for start in range(0, 400, 200)]
    assert found[2].probability > min(
        p.probability for p in classifier.answerable([Openly("where king sang", t) for t in pieces])
    )


def test_any_multiple_choice_model_will_do(tmp_path: Path) -> None:
    tokenizer = bpe_tokenizer(64)
    torch.manual_seed(0)
    config = transformers.RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=34,
        type_vocab_size=1,
        initializer_range=0.5,
    )
    model = transformers.RobertaForMultipleChoice(config).eval()
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    (found, long) = MultipleChoiceAnswerer(tmp_path).answer(
        [
            Choice("where", ("rome", "oslo"), SENTENCES[0]),
            Choice("where", ("rome", "oslo"), passage(random.Random(0), 9)),
        ]
    )
    inputs = tokenizer([f"{SENTENCES[0]} <s> where"] * 2, ["rome", "oslo"], return_tensors="pt", padding=True)
    with torch.no_grad():
        expected = torch.softmax(model(**{k: v[None] for k, v in inputs.items()}).logits[0], 0)
    assert found.probabilities == pytest.approx(expected.tolist(), abs=1e-5)
    # Of 34 positions the first two are not for tokens.
    assert long.windows > 1


# --- loading ------------------------------------------------------------------------------------------------


def test_models_say_what_and_how_big_they_are_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_longformer(tmp_path / "model", "MultipleChoice")
    choice = Choice("where", ("rome", "oslo"), SENTENCES[0])
    first, second = MultipleChoiceAnswerer(tmp_path / "model"), MultipleChoiceAnswerer(tmp_path / "model")
    assert first == second
    with caplog.at_level(logging.INFO, mqag_module.__name__):
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda n: (first, second)[n % 2].answer([choice]), range(8)))
        assert all(answer == answers[0] for answer in answers)
        loading, loaded = [record.getMessage() for record in caplog.records]
        assert f"Loading the answering model {(tmp_path / 'model').resolve()} (about 0.00 GB)" in loading
        assert "million parameters, 0.00 GB, in" in loaded
        assert [record.levelname for record in caplog.records] == ["INFO", "INFO"]
        caplog.clear()
        # What takes a gigabyte is said where everyone sees it.
        first.release()
        monkeypatch.setattr(mqag_module, "_HEAVY", 1000)
        assert second.answer([choice]) == answers[0]
        assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]


def test_the_published_models_are_the_defaults_and_their_sizes_are_known() -> None:
    named = {SENTENCE_QUESTION_MODEL, PASSAGE_QUESTION_MODEL, DISTRACTOR_MODEL, ANSWERING_MODEL, ANSWERABILITY_MODEL}
    assert named == set(PUBLISHED)
    assert Seq2SeqQuestionGenerator().source == SENTENCE_QUESTION_MODEL
    assert Seq2SeqDistractorGenerator().source == DISTRACTOR_MODEL
    assert MultipleChoiceAnswerer().source == ANSWERING_MODEL
    assert AnswerabilityClassifier().source == ANSWERABILITY_MODEL
    with torch.device("meta"):
        t5 = transformers.T5ForConditionalGeneration(
            transformers.T5Config(vocab_size=32128, d_model=1024, d_ff=4096, num_layers=24, num_heads=16)
        )
        longformer = transformers.LongformerForMultipleChoice(
            transformers.LongformerConfig(
                vocab_size=50265,
                hidden_size=1024,
                num_hidden_layers=24,
                num_attention_heads=16,
                intermediate_size=4096,
                max_position_embeddings=4098,
                type_vocab_size=1,
            )
        )
    for name, size in PUBLISHED.items():
        model = t5 if "t5" in name else longformer
        assert model.num_parameters() * 4 == pytest.approx(size, rel=0.01)


@pytest.mark.parametrize("kind", LOCAL)
def test_a_model_that_is_not_there(kind: type[Any], tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ConfigurationError, match="there is no folder"):
        kind(tmp_path / "missing")
    with pytest.raises(ConfigurationError, match="holds no model"):
        kind(tmp_path)
    with pytest.raises(ConfigurationError, match="device must be a name"):
        kind(device="")
    name = f"nobody/no-such-{kind.__name__}"
    model = kind(name)
    method, subject = {
        Seq2SeqQuestionGenerator: ("questions", Draw("a", 0)),
        Seq2SeqDistractorGenerator: ("distractors", Stem("a", "b", "c")),
        MultipleChoiceAnswerer: ("answer", Choice("a", ("b", "c"), "d")),
        AnswerabilityClassifier: ("answerable", Openly("a", "b")),
    }[kind]
    with pytest.raises(ModelUnavailable, match=r"was not found.*Two ways to give"):
        getattr(model, method)([subject])
    assert "(a size not known yet)" in caplog.text
    assert repr(model).startswith(f"{kind.__name__}({name!r}")
    assert model == kind(name)
    assert hash(model) == hash(kind(name))
    assert model != kind("nobody/another")
    assert model != name


@pytest.mark.parametrize(
    "wrong", [{"seed": -1}, {"seed": 1.5}, {"seed": True}, {"max_tokens": 15}, {"max_tokens": None}]
)
def test_arguments_of_generators_that_cannot_work(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="must be a whole number of at least"):
        Seq2SeqQuestionGenerator(**wrong)


def test_folders_that_hold_another_kind_of_model(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"could not be loaded.*Unrecognized configuration"):
        MultipleChoiceAnswerer(folder / QUESTIONS).answer([Choice("a", ("b", "c"), "d")])
    with pytest.raises(ModelUnavailable, match=r"could not be loaded.*Unrecognized configuration"):
        Seq2SeqQuestionGenerator(folder / ANSWERING).questions([Draw("a", 0)])


def test_a_generator_without_a_separator_or_with_weights_missing(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / QUESTIONS, tmp_path / "no separator")
    t5_tokenizer().save_pretrained(tmp_path / "no separator")
    with pytest.raises(ModelUnavailable, match="has no separator token"):
        Seq2SeqQuestionGenerator(tmp_path / "no separator").questions([Draw("a", 0)])
    shutil.copytree(folder / QUESTIONS, tmp_path / "half")
    safetensors: Any = importlib.import_module("safetensors.torch")
    weights = safetensors.load_file(tmp_path / "half" / "model.safetensors")
    del weights["decoder.final_layer_norm.weight"]
    safetensors.save_file(weights, tmp_path / "half" / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelUnavailable, match=r"lacks the weights decoder\.final_layer_norm\.weight"):
        Seq2SeqQuestionGenerator(tmp_path / "half").questions([Draw("a", 0)])


def test_a_model_without_a_head_or_with_three_labels(folder: Path, tmp_path: Path) -> None:
    save_longformer(tmp_path / "three", "SequenceClassification", labels=3)
    with pytest.raises(ModelUnavailable, match="has 3 labels, and an answerability model has one"):
        AnswerabilityClassifier(tmp_path / "three").answerable([Openly("a", "b")])
    with pytest.raises(ModelUnavailable, match=r"is no trained multiple choice model: it lacks the weights"):
        MultipleChoiceAnswerer(tmp_path / "three").answer([Choice("a", ("b", "c"), "d")])


# --- the four together --------------------------------------------------------------------------------------


class Scripted:
    """All four models: what is asked of them is noted, and their answers can be worked out by hand."""

    def __init__(self, distractors: Sequence[str] = ("oslo", "bonn", "lima")) -> None:
        self.asked: list[Any] = []
        self.released = 0
        self.made = tuple(distractors)

    def questions(self, draws: Sequence[Draw]) -> list[Drawn]:
        self.asked += draws
        # Every third draw gives none.
        return [Drawn(f"{d.text} {d.number}?", "" if d.number % 3 == 2 else "rome") for d in draws]

    def distractors(self, stems: Sequence[Stem]) -> list[Distractors]:
        self.asked += stems
        return [Distractors(self.made, 2 if "long" in stem.context else 1) for stem in stems]

    def answer(self, choices: Sequence[Choice]) -> list[Chosen]:
        self.asked += choices
        found = [np.array([option in choice.passage for option in choice.options]) + 0.1 for choice in choices]
        return [
            Chosen(tuple(row / row.sum()), 1 + c.passage.count("long")) for row, c in zip(found, choices, strict=True)
        ]

    def answerable(self, asked: Sequence[Openly]) -> list[Answerable]:
        self.asked += asked
        return [Answerable(0.9 if "rome" in one.passage else 0.2) for one in asked]

    def release(self) -> None:
        self.released += 1


def scripted(models: Any, answerability: bool = True) -> MQAG:
    return MQAG(models, models, models, models if answerability else None)


def test_questions_are_asked_for_each_text_and_answered_from_each_passage() -> None:
    models = Scripted()
    mqag = scripted(models)
    (first, second) = mqag.ask(["a", "b"], "context", 3, 3)
    options = ("rome", "oslo", "bonn", "lima")
    assert first == Asked((("a 0?", options), ("a 1?", options)), draws=3, invalid=1)
    assert [question for question, _ in second.questions] == ["b 0?", "b 1?"]
    answered, long = mqag.answer(first.questions, ["rome", "lima", "oslo, long"])
    assert [one.question for one in answered] == ["a 0?", "a 1?"]
    assert answered[0].answers.tolist() == [0, 3, 1]
    assert answered[0].answerability is not None
    assert answered[0].answerability.tolist() == [0.9, 0.2, 0.2]
    assert long == 1
    mqag.release()
    assert models.released == 4
    assert repr(mqag).startswith("MQAG(<")


def test_equal_things_are_asked_once_also_by_another_mqag() -> None:
    models = Scripted()
    for mqag in (scripted(models), scripted(models, answerability=False)):
        asked = mqag.ask(["a", "a"], "context", 2, 2)
        assert asked[0] == asked[1]
        answered, _ = mqag.answer([*asked[0].questions, *asked[1].questions], ["rome", "lima", "lima"])
        assert len(answered) == 4
    assert Counter(models.asked).most_common(1)[0][1] == 1
    assert Counter(type(one).__name__ for one in models.asked) == {"Draw": 2, "Stem": 2, "Choice": 4, "Openly": 4}
    assert answered[0].answerability is None


def test_draws_that_fail_are_made_up_for() -> None:
    models = Scripted()
    (asked,) = scripted(models).ask(["a"], "context", 4, 6)
    assert [question for question, _ in asked.questions] == ["a 0?", "a 1?", "a 3?", "a 4?"]
    assert (asked.draws, asked.invalid) == (6, 2)
    (few,) = scripted(models).ask(["a"], "context", 2, 3)
    assert (few.draws, few.invalid, len(few.questions)) == (2, 0, 2)


@pytest.mark.parametrize(
    ("distractors", "asked"),
    [
        (["oslo"], Asked((("a 0?", ("rome", "oslo", "oslo", "oslo")),), 1, repeated=1)),
        (["a", "b", "c", "d"], Asked((("a 0?", ("rome", "a", "b", "c")),), 1, shortened=1)),
        (["", "rome"], Asked((), 1, invalid=1)),
        ([], Asked((), 1, invalid=1)),
    ],
)
def test_too_few_and_too_many_distractors(distractors: list[str], asked: Asked) -> None:
    assert scripted(Scripted(distractors)).ask(["a"], "context", 1, 1) == [asked]


def test_what_was_not_read_is_counted() -> None:
    class Long(Scripted):
        def questions(self, draws: Sequence[Draw]) -> list[Drawn]:
            return [Drawn("q?", "rome", draw.number, 5) for draw in draws]

    (asked,) = scripted(Long()).ask(["a"], "a long context", 2, 2)
    assert (asked.unread, asked.narrowed) == (3, 2)


def test_models_that_hold_nothing_need_no_release() -> None:
    class Light:
        def questions(self, draws: Sequence[Draw]) -> list[Drawn]:
            raise NotImplementedError

        def distractors(self, stems: Sequence[Stem]) -> list[Distractors]:
            raise NotImplementedError

        def answer(self, choices: Sequence[Choice]) -> list[Chosen]:
            raise NotImplementedError

    MQAG(Light(), Light(), Light()).release()


def test_no_questions_ask_nothing() -> None:
    models = Scripted()
    assert scripted(models).answer([], ["a"]) == ([], 0)
    assert models.asked == []


@pytest.mark.parametrize(
    ("method", "result", "message"),
    [
        ("questions", [], r"Broken\.questions returned 0 results for 1 inputs"),
        ("questions", ZeroDivisionError("by zero"), r"Broken\.questions failed: ZeroDivisionError: by zero"),
        ("questions", ModelError("too hot"), "^too hot$"),
        ("answer", [Chosen((0.5, 0.5))], "the answers to a question cannot be used: probabilities must have shape"),
        ("answerable", [Answerable(1.5)], "the answers to a question cannot be used: answerability must be"),
    ],
)
def test_a_model_that_fails_fails_the_item(method: str, result: Any, message: str) -> None:
    class Broken(Scripted):
        def __init__(self) -> None:
            super().__init__()

            def respond(_: Sequence[Any]) -> Any:
                if isinstance(result, Exception):
                    raise result
                return result

            setattr(self, method, respond)

    mqag = scripted(Broken())
    with pytest.raises(ModelError, match=message):
        mqag.answer(mqag.ask(["a"], "context", 1, 1)[0].questions, ["rome"])


def test_half_a_character_is_no_text() -> None:
    with pytest.raises(ModelError, match="half of a surrogate pair at character 2"):
        scripted(Scripted()).ask(["ab\ud800"], "context", 1, 1)


def test_models_that_cannot_be_hashed_are_told_apart() -> None:
    class Unhashable(Scripted):
        def __eq__(self, other: object) -> bool:
            return True

    one, other = Unhashable(), Unhashable(["a"])
    assert len(scripted(one).ask(["a"], "c", 1, 1)[0].questions[0][1]) == 4
    assert scripted(other).ask(["a"], "c", 1, 1)[0].questions[0][1] == ("rome", "a", "a", "a")


def test_threads_join_their_questions(folder: Path) -> None:
    mqag = MQAG(
        Seq2SeqQuestionGenerator(folder / QUESTIONS),
        Seq2SeqDistractorGenerator(folder / DISTRACTORS),
        MultipleChoiceAnswerer(folder / ANSWERING),
        AnswerabilityClassifier(folder / ANSWERABLE),
    )
    context = passage(random.Random(11), 3)
    start = threading.Barrier(4)

    def work(number: int) -> Any:
        start.wait(timeout=60)
        asked = mqag.ask([SENTENCES[number % 2]], context, 3, 3)[0]
        answered, _ = mqag.answer(asked.questions, [context, SENTENCES[0]])
        return asked, [one.to_dict() for one in answered]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(4)))
    assert found[0] == found[2]
    assert found[1] == found[3]
    again = mqag.ask([SENTENCES[0]], context, 3, 3)[0]
    assert again == found[0][0]
    mqag.release()
    local: list[Any] = mqag._models
    assert not any(model._local.loaded for model in local)
