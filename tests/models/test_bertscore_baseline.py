"""The published figures against bert-score's own files, and files of one's own."""

from __future__ import annotations

import csv
import importlib
import json
from importlib.metadata import files
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import pytest

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.models.bertscore_baseline import default_layer, published_baseline, read_baseline

SHIPPED: dict[str, Any] = json.loads((resources("opik_checkembed.models") / "bertscore_baselines.json").read_text())


def test_every_figure_is_bert_scores() -> None:
    model2layers = importlib.import_module("bert_score.utils").model2layers
    tables = {
        (path.parts[2], "/".join(path.parts[3:])): path for path in files("bert-score") or [] if path.suffix == ".tsv"
    }
    compared = 0
    for encoder, known in SHIPPED["encoders"].items():
        assert known["layer"] == model2layers[encoder]
        for language, value in known["f1"].items():
            path = tables[language, f"{encoder}.tsv"].locate()
            with Path(str(path)).open(encoding="utf-8", newline="") as file:
                rows = {int(row["LAYER"]): float(row["F"]) for row in csv.DictReader(file)}
            assert value == rows[known["layer"]]
            assert published_baseline(encoder, known["layer"], language) == value
            assert read_baseline(str(path), known["layer"]) == value
            compared += 1
    assert compared >= 50


def test_their_licence_goes_with_them() -> None:
    notice = " ".join(SHIPPED["notice"])
    licence = next(path for path in files("bert-score") or [] if path.name == "LICENSE")
    assert notice.split() == licence.read_text().split()
    assert "https://github.com/Tiiiger/bert_score" in SHIPPED["source"]


def test_one_encoder_has_two_names() -> None:
    assert default_layer("google-bert/bert-base-chinese") == default_layer("bert-base-chinese") == 8
    assert default_layer("someone/bert-base-chinese") is None
    assert default_layer("google-bert/unheard-of") is None
    assert default_layer("microsoft/deberta-xlarge-mnli") == 40
    assert published_baseline("FacebookAI/roberta-large", 17, "en") == 0.83122575


def test_a_languages_first_part_counts() -> None:
    for code in ("en-GB", "en_US", "EN"):
        assert published_baseline("roberta-large", 17, code) == published_baseline("roberta-large", 17, "en")
    with pytest.raises(ConfigurationError, match="language must be a code"):
        published_baseline("roberta-large", 17, "English")
    # Published for "en-sci", bert-score's own name for English of the sciences.
    assert published_baseline("allenai/scibert_scivocab_uncased", 8, "en") == 0.5322364


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("my/encoder", 6, "en"), r"layer 6 of 'my/encoder' .*one for 'en' \(roberta-large, bert-base-multilingual"),
        (("roberta-large", 12, "en"), "layer 12 of 'roberta-large'"),
        (("roberta-large", 17, "de"), r"one for 'de' \(bert-base-multilingual-cased\)"),
        (("bert-base-multilingual-cased", 9, "zh-Hant"), None),
        (("roberta-large", 17, "zh"), r"\(bert-base-multilingual-cased, bert-base-chinese\)"),
        (("roberta-large", 17, "sw"), r"Give a file in bert-score's form \(baseline=\"rescale.tsv\"\).*baseline=None"),
        (("microsoft/deberta-v3-large", 12, "en"), "no baseline is published"),
    ],
)
def test_none_published(asked: tuple[str, int, str], said: str | None) -> None:
    if said is None:
        assert published_baseline(*asked) == 0.62803453
        return
    with pytest.raises(ConfigurationError, match=said):
        published_baseline(*asked)


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_a_file_of_ones_own(separator: str, start: str, tmp_path: Path) -> None:
    rows = [["LAYER", "P", "R", "F"], ["0", "0.1", "0.2", "0.3"], ["5", "0.4", "0.5", "0.6"]]
    file = tmp_path / "baseline.tsv"
    file.write_text(start + "\n".join(separator.join(row) for row in rows) + "\n", encoding="utf-8")
    assert read_baseline(file, 5) == 0.6
    assert read_baseline(str(file), 0) == 0.3
    with pytest.raises(ConfigurationError, match=r"baseline\.tsv' holds layers 0 to 5, not layer 3"):
        read_baseline(file, 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no layer, not layer 1"),
        ("LAYER,P,R,F\n", "holds no layer"),
        ("layer,f\n1,0.5\n", "no table with the columns LAYER,P,R,F"),
        ("LAYER,P,R,F\n1,0.5\n", "no table with the columns"),
        ("LAYER,P,R,F\n1,0.5,0.5,high\n", "no table with the columns"),
    ],
)
def test_what_is_no_baseline_file(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "baseline.tsv"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=said):
        read_baseline(file, 1)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"nowhere\.tsv' cannot be read"):
        read_baseline(tmp_path / "nowhere.tsv", 1)
    (tmp_path / "binary.tsv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_baseline(tmp_path / "binary.tsv", 1)
