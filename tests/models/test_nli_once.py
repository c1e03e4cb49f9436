"""Reading a passage once for all statements: which pairs go together, whose answers they get, and what is refused."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opik_checkembed.errors import ConfigurationError, ModelError, ModelUnavailable
from opik_checkembed.functional.nli import NLIProbabilities
from opik_checkembed.models import deberta_once
from opik_checkembed.models.nli import Pair, TransformerNLI, shared_nli
from opik_checkembed.models.nli_once import PassageOnceNLI, shared_once, unsupported
from tests.tiny_nli import save_deberta

transformers: Any = importlib.import_module("transformers")

STATEMENTS = ["Anna was born in Kunda.", "She died in Bangor.", "Anna sang."]
PASSAGES = [
    "Anna was born in Oslo. She moved to Kunda and sang in the choir there. She died in Bangor in 1999.",
    "Anna never sang. She was born in Kunda.",
]
THREE = ("contradiction", "entailment", "neutral")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_deberta(tmp_path_factory.mktemp("nli"), [*STATEMENTS, *PASSAGES], THREE)


def contradiction(found: NLIProbabilities) -> np.ndarray[Any, Any]:
    assert found.contradiction is not None
    return found.contradiction


@pytest.mark.parametrize("passage_first", [False, True])
def test_with_all_of_a_passage_beside_each_statement_the_answers_are_the_exact_ones(
    folder: str, passage_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [(p, s) if passage_first else (s, p) for s in STATEMENTS for p in PASSAGES]
    pairs = [pairs[place] for place in (5, 0, 3, 1, 4)]  # whose answer is whose, and not all beside all
    exact = TransformerNLI(folder)
    # Exact is what it approximates, so that only a share of 1 can be held against it to a tolerance.
    monkeypatch.setattr(deberta_once, "SHARE", 1.0)
    found = PassageOnceNLI(exact, passage_first=passage_first).probabilities(pairs)
    wanted = exact.probabilities(pairs)
    exact.release()
    for relation in THREE:
        np.testing.assert_allclose(getattr(found, relation), getattr(wanted, relation), atol=1e-5)


def test_without_it_they_are_close_and_others(folder: str) -> None:
    pairs = [(statement, passage) for statement in STATEMENTS for passage in PASSAGES]
    exact = TransformerNLI(folder)
    off = np.abs(
        contradiction(PassageOnceNLI(exact, passage_first=False).probabilities(pairs))
        - contradiction(exact.probabilities(pairs))
    )
    exact.release()
    assert 1e-4 < off.max() < 0.5


def test_one_for_each_model_and_order_and_apart_from_the_exact_one(folder: str) -> None:
    exact = shared_nli(folder)
    once = shared_once(exact, passage_first=False)
    assert once is shared_once(shared_nli(folder), passage_first=False)
    assert once is not shared_once(exact, passage_first=True)
    assert once is not exact
    assert once.model != exact.model
    assert isinstance(once.model, PassageOnceNLI)
    assert (once.model.room(), once.count(["Anna sang."])) == (
        TransformerNLI(folder).room(),
        exact.count(["Anna sang."]),
    )
    assert repr(once.model) == f"PassageOnceNLI(TransformerNLI({folder!r}), passage_first=False)"


def test_long_passages_are_read_in_windows(folder: str) -> None:
    once = shared_once(shared_nli(folder), passage_first=False)
    (reading,) = once.read([("Anna sang.", " ".join(["She was born in Kunda and died in Bangor."] * 60))])
    assert len(reading.windows) > 1
    assert contradiction(reading.probabilities).shape == (len(reading.windows),)
    with pytest.raises(ModelError, match="a pair holds"):
        once.probabilities([("Anna sang.", "Kunda " * 600)])


class Own:
    def probabilities(self, pairs: Sequence[Pair]) -> NLIProbabilities:
        raise AssertionError


def test_a_model_of_ones_own_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="this one is a Own: leave fast=False"):
        shared_once(shared_nli(Own()), passage_first=False)


def changed(folder: str, to: Path, **changes: Any) -> str:
    to.mkdir()
    for file in Path(folder).iterdir():
        (to / file.name).write_bytes(file.read_bytes())
    config = json.loads((to / "config.json").read_text("utf-8"))
    (to / "config.json").write_text(json.dumps({**config, **changes}), "utf-8")
    return str(to)


def test_a_folder_of_another_architecture_is_refused_before_it_is_loaded(folder: str, tmp_path: Path) -> None:
    other = TransformerNLI(changed(folder, tmp_path / "bert", model_type="bert"))
    with pytest.raises(ConfigurationError, match="this one is a bert: leave fast=False"):
        PassageOnceNLI(other, passage_first=False)


def test_what_only_the_loaded_model_shows_fails_the_pairs(folder: str, tmp_path: Path) -> None:
    exact = TransformerNLI(changed(folder, tmp_path / "other", pos_att_type=["c2p"]))
    exact.configuration = None  # as for a name on a hub
    with pytest.raises(ModelUnavailable, match="this one has one kind of position scores: leave fast=False"):
        PassageOnceNLI(exact, passage_first=False).probabilities([("Anna sang.", "She sang.")])
    exact.release()


def test_a_tokenizer_with_other_marks_fails_the_pairs(folder: str) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.DebertaV2ForSequenceClassification.from_pretrained(folder).eval()
    tokenizer.cls_token = "[UNK]"
    exact = TransformerNLI(model, tokenizer=tokenizer)
    with pytest.raises(ModelUnavailable, match="does not know the marks"):
        PassageOnceNLI(exact, passage_first=False).probabilities([("Anna sang.", "She sang.")])


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({}, "is a None"),
        ({"model_type": "deberta-v2"}, "has absolute positions and one kind of position scores"),
        ({"pos_att_type": "p2c|c2p"}, None),
        ({"pos_att_type": ["p2c"]}, "has one kind of position scores"),
        ({"conv_kernel_size": 3, "type_vocab_size": 2}, "has token types and a convolution"),
    ],
)
def test_what_a_configuration_says_against_it(config: dict[str, Any], says: str | None) -> None:
    known = {
        "model_type": "deberta-v2", "relative_attention": True, "position_biased_input": False,
        "pos_att_type": ["c2p", "p2c"],
    }  # fmt: skip
    assert unsupported({**known, **config} if config and "model_type" not in config else config) == says


def test_importing_it_loads_no_model_library() -> None:
    code = "import opik_checkembed.models.nli_once, sys; print({'torch', 'transformers'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "set()"
