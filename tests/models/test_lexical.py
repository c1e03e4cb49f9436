"""The embedder without a model: its vectors by plain counting, and what it does and does not tell apart."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from opik_checkembed.models.embedder import Embedder, SentenceTransformerEmbedder, SplitsText, local_embedder
from opik_checkembed.models.lexical import DIMENSIONS, LexicalEmbedder
from opik_checkembed.models.shared_encoder import shared_encoder

TEXTS = st.text(max_size=60)


def vectors(*texts: str) -> NDArray[np.float64]:
    return LexicalEmbedder().encode(texts).astype(np.float64)


def cosine(one: str, other: str) -> float:
    first, second = vectors(one, other)
    return float(first @ second)


def plain_hash(gram: str) -> int:
    """The polynomial and splitmix64's last step, in whole numbers."""
    value = 0
    for character in gram:
        value = (value * 0x9E3779B97F4A7C15 + ord(character) + 1) % 2**64
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) % 2**64
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) % 2**64
    return value ^ value >> 31


def plain_vector(folded: str) -> NDArray[np.float64]:
    counts = Counter(folded[at : at + n] for n in range(2, 7) for at in range(len(folded) - n + 1))
    vector = np.zeros(DIMENSIONS)
    for gram, count in counts.items():
        value = plain_hash(gram)
        vector[value % DIMENSIONS] += (-1 if value >> 63 else 1) * (1 + math.log(count))
    return vector / math.sqrt(sum(vector**2))


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("", "  "),
        ("a", " a "),
        ("ab", " ab "),
        ("Banana banana", " banana banana "),
        (" One\n\ttwo\u3000three ", " one two three "),
        ("STRASSE Straße", " strasse strasse "),
        ("ＡＢＣ１２３ ﬁn", " abc123 fin "),
        ("日本語のテキスト 👩‍🚀", " 日本語のテキスト 👩‍🚀 "),
    ],
)
def test_a_vector_counts_the_n_grams(text: str, folded: str) -> None:
    np.testing.assert_allclose(vectors(text)[0], plain_vector(folded), atol=1e-7)


def test_counts_weigh_by_their_logarithm() -> None:
    # " aaa " holds " a" and "a " once and "aa" twice, and of longer ones " aa", "aaa", "aa ", " aaa", "aaa " and
    # " aaa " once. Before its length is made 1, "aa" has 1 + log 2 and the other eight have 1.
    vector = vectors("aaa")[0]
    parts = sorted(np.abs(vector[vector != 0]))
    length = math.sqrt(8 + (1 + math.log(2)) ** 2)
    assert parts == pytest.approx([1 / length] * 8 + [(1 + math.log(2)) / length], abs=1e-7)


def test_the_cosine_is_near_that_of_the_counts() -> None:
    one, other = "Born in Oslo in 1893, she painted ships.", "Born in Bergen in 1890, she painted ships and harbours."
    grams = [
        Counter(text[at : at + n] for n in range(2, 7) for at in range(len(text) - n + 1))
        for text in (f" {one.lower()} ", f" {other.lower()} ")
    ]
    weights = [{gram: 1 + math.log(count) for gram, count in counts.items()} for counts in grams]
    dot = sum(weight * weights[1].get(gram, 0) for gram, weight in weights[0].items())
    lengths = [math.sqrt(sum(weight**2 for weight in each.values())) for each in weights]
    assert cosine(one, other) == pytest.approx(dot / (lengths[0] * lengths[1]), abs=0.03)


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_rows_are_unit_vectors_and_do_not_depend_on_their_neighbours(texts: list[str]) -> None:
    found = LexicalEmbedder().encode(texts)
    assert found.dtype == np.float32
    assert found.shape == (len(texts), DIMENSIONS)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    for row, text in zip(found, texts, strict=True):
        assert (row == LexicalEmbedder().encode([text])[0]).all()


@given(TEXTS, st.sampled_from([" ", "\n\n", "\t", "\u00a0", "\u3000"]))
def test_space_does_not_count(text: str, space: str) -> None:
    assert (vectors(space.join(text.split())) == vectors(f"{space} {text}\n")).all()


@given(st.text(st.characters(codec="ascii"), max_size=60))
def test_case_and_width_do_not_count(text: str) -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
    assert (vectors(text) == vectors(text.upper())).all()
    assert (vectors(text) == vectors(wide)).all()


def test_other_alphabets_share_nothing() -> None:
    english = "The quick brown fox jumps over the lazy dog and runs away from the hunters in the woods. " * 20
    cyrillic = "Быстрая коричневая лиса прыгает через ленивую собаку и убегает от охотников в лесу. " * 20
    assert cosine(english, english) == pytest.approx(1.0)
    assert abs(cosine(english, cyrillic)) < 0.05
    assert abs(cosine("paris", "東京都")) < 0.1


def test_long_texts_without_common_letters_do_not_drift_together() -> None:
    # Without signs these fill every component, and their cosine is .9.
    rng = np.random.default_rng(0)
    latin = "".join(chr(97 + c) for c in rng.integers(0, 26, 100_000))
    greek = "".join(chr(0x3B1 + c) for c in rng.integers(0, 17, 100_000))
    assert abs(cosine(latin, greek)) < 0.05


def test_nothing_of_a_long_text_is_cut() -> None:
    start = "The committee met on Tuesday and discussed the budget. " * 2000
    assert cosine(start + "Xylophone quartz.", start) < 1 - 1e-6


def test_empty_texts_are_alike_and_unlike_others() -> None:
    assert cosine("", " \n") == pytest.approx(1.0)
    assert abs(cosine("", "a")) < 1e-6
    assert cosine("a", "A") == pytest.approx(1.0)
    assert abs(cosine("a", "b")) < 1e-6
    assert LexicalEmbedder().encode([]).shape == (0, DIMENSIONS)


def test_half_a_surrogate_pair_is_a_character_like_others() -> None:
    assert cosine("a\ud800b", "a\ud800b") == pytest.approx(1.0)


def test_what_is_written_alike_is_closer() -> None:
    said = "Marie Curie was born in Warsaw in 1867."
    assert cosine(said, "Marie Curie was born in Warsaw in 1868.") > cosine(said, "She was born in Paris in 1902.")
    # Its limit: the same in other words is no closer than another statement.
    assert cosine("He died young.", "His life ended early.") < 0.2


def test_every_process_has_the_same_vectors() -> None:
    texts = ["Zoë paid 3,50 € in 東京.", "", "a" * 5000]
    code = (
        "import hashlib, json, sys\n"
        "from opik_checkembed.models.lexical import LexicalEmbedder\n"
        "print(hashlib.sha256(LexicalEmbedder().encode(json.loads(sys.argv[1])).tobytes()).hexdigest())\n"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code, json.dumps(texts)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert told == {hashlib.sha256(LexicalEmbedder().encode(texts).tobytes()).hexdigest()}


def test_it_goes_by_its_name() -> None:
    assert local_embedder("lexical") == LexicalEmbedder()
    assert isinstance(LexicalEmbedder(), Embedder)
    assert not isinstance(LexicalEmbedder(), SplitsText)
    assert shared_encoder("lexical") is shared_encoder("lexical")
    assert shared_encoder("lexical").embedder == LexicalEmbedder()


def test_the_environment_may_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPIK_CHECKEMBED_EMBEDDER", "lexical")
    assert shared_encoder() is shared_encoder("lexical")


def test_a_folder_of_this_name_is_named_as_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lexical").mkdir()
    (tmp_path / "lexical" / "modules.json").touch()
    monkeypatch.chdir(tmp_path)
    assert local_embedder("lexical") == LexicalEmbedder()
    for path in ("./lexical", Path("lexical")):
        found = local_embedder(path)
        assert isinstance(found, SentenceTransformerEmbedder)
        assert found.source == str(tmp_path / "lexical")


def test_a_metric_scores_with_it_and_loads_no_model_library() -> None:
    code = (
        "import json, sys\n"
        "sys.modules['bert_score'] = None\n"  # Opik imports it where it is installed, and it imports torch
        "from opik_checkembed import CheckEmbedMetric\n"
        "metric = CheckEmbedMetric(embedder='lexical', store=None, track=False)\n"
        "sure = ['She was born in Oslo in 1893.'] * 3\n"
        "unsure = ['Perhaps in Bergen.', 'Nobody knows that.', 'It was Rome, I think.']\n"
        "found = [metric.score(output='She was born in Oslo in 1893.', samples=s) for s in (sure, unsure)]\n"
        "assert not any(one.scoring_failed for one in found), found\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'litellm', 'spacy'}\n"
        "print(json.dumps([[one.value for one in found], sorted(heavy & sys.modules.keys())]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (sure, unsure), loaded = json.loads(done.stdout)
    assert sure == pytest.approx(1.0)
    # Cosines are near 0, which the score shifts to a half.
    assert 0.45 < unsure < 0.65
    assert loaded == []
