"""What the commands do with the rows they are asked for, over answers so short that n-grams take no time."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from opik_checkembed.benchmarks import command
from opik_checkembed.benchmarks.command import Wanted, fill_table
from opik_checkembed.benchmarks.fusing import key_of
from opik_checkembed.benchmarks.scoring import ScoreFile
from opik_checkembed.benchmarks.selfconsistency import SelfConsistencyResult, load_selfconsistency, selfconsistency
from opik_checkembed.errors import ConfigurationError

DATA = load_selfconsistency(
    [
        {
            "question": f"What is {n}?",
            "predict": f"It is {n} or so.",
            "samples": [f"It is {n}.", "No idea at all."],
            "label": n % 2,
        }
        for n in range(4)
    ]
)
MAXIMUM = "SelfCheck-unigram (max)"
LEXICAL = "CheckEmbed, passage to samples (lexical)"
BOTH = "ngram:statistic=max+checkembed:embedder=lexical,reads=output"


class Runs:
    """Runs methods and notes which."""

    def __init__(self) -> None:
        self.names: list[list[str]] = []

    def __call__(self, methods: Sequence[Any]) -> SelfConsistencyResult:
        self.names.append([key_of(method)[0] for method in methods])
        return selfconsistency(DATA, methods, resamples=5, progress=False)


def fill(run: Callable[[Sequence[Any]], SelfConsistencyResult] | None = None, **wanted: Any) -> SelfConsistencyResult:
    return fill_table(Wanted(**wanted), run or Runs(), SelfConsistencyResult.from_json, DATA.fingerprint)


def titles(table: SelfConsistencyResult) -> list[str]:
    return [row.title for row in table.rows]


def refused(**wanted: Any) -> str:
    runs = Runs()
    with pytest.raises(ConfigurationError) as caught:
        fill(runs, **wanted)
    # An hour of scoring must not end in a slip of the pen.
    assert runs.names == []
    return str(caught.value)


def test_without_any_row_n_grams_are_scored() -> None:
    assert titles(fill()) == ["random", "SelfCheck-unigram (avg)", MAXIMUM]


def test_rows_are_fused_by_their_names_after_they_are_scored() -> None:
    runs = Runs()
    table = fill(
        runs,
        methods=["ngram", "checkembed:embedder=lexical"],
        fuse=[f"named={MAXIMUM}+{LEXICAL}", "by method=CheckEmbed, samples only+SelfCheck-unigram (avg)"],
    )
    assert titles(table)[-2:] == ["named", "by method"]
    assert table.row("named").parts == (MAXIMUM, LEXICAL)
    assert table.row("by method").parts == ("CheckEmbed, samples only (lexical)", "SelfCheck-unigram (avg)")
    assert len(runs.names) == 4


def test_parts_that_are_methods_are_scored_once_and_have_rows() -> None:
    runs = Runs()
    table = fill(runs, methods=["ngram:statistic=max"], fuse=[f"one={BOTH}"], fuse_fitted=[f"one={BOTH}"])
    assert runs.names == [[MAXIMUM], ["CheckEmbed, passage to samples"], ["one"], ["one (fitted)"]]
    assert titles(table) == ["random", MAXIMUM, LEXICAL, "one", "one (fitted)"]
    # With nothing but fused rows their parts are all that is scored.
    runs = Runs()
    fill(runs, fuse=[f"one={BOTH}"])
    assert runs.names == [[MAXIMUM], ["CheckEmbed, passage to samples"], ["one"]]


def test_a_later_run_fuses_what_is_kept_without_scoring_it_again(tmp_path: Path) -> None:
    out, scores = tmp_path / "table.json", tmp_path / "scores.json"
    first = fill(methods=["ngram:statistic=max"], out=out, scores=scores)
    fill(methods=["checkembed:embedder=lexical,reads=output"], scores=scores)
    assert [row.title for row in ScoreFile.from_json(scores, DATA.fingerprint).rows] == [MAXIMUM, LEXICAL]
    runs = Runs()
    later = fill(runs, fuse=[f"by row={MAXIMUM}+{LEXICAL}", f"by method={BOTH}"], out=out, scores=scores)
    assert runs.names == [["by row"], ["by method"]]
    assert titles(later) == ["random", MAXIMUM, "by row", "by method"]
    assert later.row("by row").accuracy == later.row("by method").accuracy
    assert later.row(MAXIMUM) == first.row(MAXIMUM)
    assert titles(SelfConsistencyResult.from_json(out)) == titles(later)
    # Fused rows are made anew, so they are not kept among the scores.
    assert len(ScoreFile.from_json(scores, DATA.fingerprint).rows) == 2


def test_two_models_of_one_name_are_two_rows_and_are_fused_by_their_longer_names(tmp_path: Path) -> None:
    out, scores = tmp_path / "table.json", tmp_path / "scores.json"
    one, other = ("ngram:statistic=max,title=n", "ngram:statistic=max,title=n,smoothing=2")
    for text in (one, other):
        fill(methods=[text], out=out, scores=scores)
    names = ["n (max) [smoothing=0.0]", "n (max) [smoothing=2.0]"]
    table = SelfConsistencyResult.from_json(out)
    assert table.names == ["random", *names]
    assert table.rows[1].accuracy == fill(methods=[one]).rows[1].accuracy
    assert len(ScoreFile.from_json(scores, DATA.fingerprint).rows) == 2
    several = refused(fuse=["both=n (max)+ngram:n=2,statistic=max"], scores=scores)
    assert several == f"'n (max)' names several rows: {names[0]!r}, {names[1]!r}"
    runs = Runs()
    later = fill(runs, fuse=[f"named={names[0]}+{names[1]}", f"made={one}+{other}"], scores=scores)
    assert later.row("named").parts == later.row("made").parts == tuple(names)
    assert runs.names == [["named"], ["made"]]


def test_scores_of_an_older_version_are_parts_by_name_and_are_scored_again_by_what_makes_them(tmp_path: Path) -> None:
    scores = tmp_path / "scores.json"
    fill(methods=["ngram"], scores=scores)
    told = json.loads(scores.read_text())
    older = json.dumps({**told, "scores": [{k: v for k, v in r.items() if k != "identity"} for r in told["scores"]]})
    scores.write_text(older)
    average = "SelfCheck-unigram (avg)"
    runs = Runs()
    by_name = fill(runs, fuse=[f"one={MAXIMUM}+{average}"], scores=scores)
    assert runs.names == [["one"]]
    assert by_name.row("one").parts == (MAXIMUM, average)
    # Under which options it was scored it does not say.
    runs = Runs()
    made = fill(runs, fuse=[f"one={MAXIMUM}+{average}", f"two=ngram:statistic=max+{average}"], scores=scores)
    assert runs.names == [[MAXIMUM], ["one"], ["two"]]
    assert made.row("two").accuracy == made.row("one").accuracy == by_name.row("one").accuracy
    kept = ScoreFile.from_json(scores, DATA.fingerprint).rows
    assert [(row.title, row.identity is None) for row in kept] == [(average, True), (MAXIMUM, False)]
    # A method that is asked for takes the place of the one that does not say.
    fill(methods=["ngram:statistic=avg"], fuse=[f"one={MAXIMUM}+{average}"], scores=scores)
    assert len(ScoreFile.from_json(scores, DATA.fingerprint).rows) == 2


def test_what_is_scored_before_a_run_breaks_off_is_kept(tmp_path: Path) -> None:
    out, scores = tmp_path / "table.json", tmp_path / "scores.json"
    runs = Runs()

    def breaks(methods: Sequence[Any]) -> SelfConsistencyResult:
        if key_of(methods[0])[0] == "CheckEmbed, passage to samples":
            raise KeyboardInterrupt
        return runs(methods)

    with pytest.raises(KeyboardInterrupt):
        fill(breaks, fuse=[f"one={BOTH}"], out=out, scores=scores)
    assert titles(SelfConsistencyResult.from_json(out)) == ["random", MAXIMUM]
    assert [row.title for row in ScoreFile.from_json(scores, DATA.fingerprint).rows] == [MAXIMUM]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"fuse": ["ngram+nli"]}, "'ngram+nli' is not of the form NAME=PART+PART"),
        ({"fuse": ["one=ngram"]}, "is not of the form NAME=PART"),
        ({"fuse": [" =ngram+nli"]}, "is not of the form NAME=PART"),
        ({"fuse": ["one=ngram:n=2+prompt:judge_parameters.api_key=sk-x"]}, "'ngram' stands for several rows"),
        ({"fuse": ["one=prompt,api_key=sk-x+ngram"]}, "as a method: 'prompt' with its options is not of the form"),
        ({"fuse": ["one=ngram+"]}, "is not of the form NAME=PART"),
        (
            {"fuse": [f"one={MAXIMUM}+ngram:n=2"]},
            "there is no row 'SelfCheck-unigram (max)' to fuse (there are none yet)",
        ),
        (
            {"methods": ["ngram"], "fuse": [f"one={MAXIMUM}+bleu"]},
            f"no row 'bleu' to fuse (there are 'SelfCheck-unigram (avg)', '{MAXIMUM}'), and as a method: the method",
        ),
        (
            {"fuse": ["one=ngram+checkembed:embedder=lexical,reads=all"]},
            "'ngram' stands for several rows ('SelfCheck-unigram (avg)', 'SelfCheck-unigram (max)'): name the one",
        ),
        (
            {
                "methods": [
                    "checkembed:embedder=lexical,reads=all",
                    "checkembed:embedder=text-embedding-3-small,reads=all",
                ],
                "fuse": ["one=CheckEmbed, passage read+ngram:statistic=max"],
            },
            "'CheckEmbed, passage read' names several rows: 'CheckEmbed, passage read (lexical)'",
        ),
        ({"fuse": ["one=ngram:statistic=max+ngram:statistic=max"]}, "the fused row 'one' has a part twice"),
        ({"fuse": [f"{MAXIMUM}={BOTH}"]}, "there is a row 'SelfCheck-unigram (max)' already"),
        ({"fuse": [f"one={BOTH}", f"one={BOTH}"]}, "two fused rows are named 'one'"),
        ({"methods": ["bleu"]}, "the method must be one of"),
    ],
)
def test_a_row_that_cannot_be_is_refused_before_anything_is_scored(wanted: dict[str, Any], message: str) -> None:
    assert message in refused(**wanted)


def test_the_default_is_a_method_there_is() -> None:
    assert titles(fill(methods=[command.DEFAULT_METHOD])) == titles(fill())
