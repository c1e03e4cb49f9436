"""What is published about encoders for BERTScore: the layer to read, and the F1 of unrelated sentences there."""

from __future__ import annotations

import csv
import functools
import json
import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.language import bare_language

# The hub's organisations of models that were published under a bare name; both spellings are one model.
_CANONICAL = ("FacebookAI/", "albert/", "distilbert/", "google-bert/", "google-t5/", "xlnet/")


def default_layer(encoder: str) -> int | None:
    """The layer whose embeddings bert-score compares with this encoder; None for an encoder not in its table.

    Example:
        >>> default_layer("roberta-large"), default_layer("FacebookAI/roberta-large"), default_layer("my/encoder")
        (17, 17, None)
    """
    known = _known(encoder)
    return None if known is None else int(known["layer"])


def published_baseline(encoder: str, num_layers: int, language: str) -> float:
    """The published F1 of unrelated sentences, by which scores are rescaled.

    Args:
        encoder: Its name on the Hugging Face hub.
        num_layers: The layer that is read.
        language: The sentences' language; of a code like "en-GB" the first part.

    Raises:
        ConfigurationError: None is published, and says which ways there are without one; or the language is not a code.

    Example:
        >>> published_baseline("roberta-large", 17, "en")
        0.83122575
    """
    known = _known(encoder)
    by_language = {} if known is None else {code.partition("-")[0]: value for code, value in known["f1"].items()}
    value = by_language.get(bare_language(language))
    if known is None or value is None or num_layers != known["layer"]:
        also = ", ".join(other for other in ("roberta-large", "bert-base-multilingual-cased", "bert-base-chinese")
                         if _published_in(other, language))  # fmt: skip
        hint = f"an encoder that has one for {language!r} ({also}), " if also else ""
        raise ConfigurationError(
            f"no baseline is published for layer {num_layers} of {encoder!r} and language {language!r}, and without "
            f"one BERTScore is high for unrelated sentences too. Give {hint}a file in bert-score's form "
            '(baseline="rescale.tsv"), the F1 of unrelated sentences itself (baseline=0.83), or accept scores that '
            "are not rescaled (baseline=None)"
        )
    return float(value)


def read_baseline(path: str | os.PathLike[str], num_layers: int) -> float:
    """A layer's F1 of unrelated sentences from a file in bert-score's form.

    Args:
        path: A table with the columns LAYER and F, separated by commas (as bert-score's own, which are called .tsv)
            or tabs.
        num_layers: The layer that is read.

    Raises:
        ConfigurationError: There is no such file, or it does not hold the layer's F1.
    """
    try:
        text = Path(path).expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"the baseline file {os.fspath(path)!r} cannot be read: {error}") from error
    lines = text.splitlines()
    header = lines[0] if lines else ""
    rows = list(csv.DictReader(lines, delimiter="\t" if "\t" in header else ","))
    try:
        found = {int(float(row["LAYER"])): float(row["F"]) for row in rows}
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigurationError(
            f"the baseline file {os.fspath(path)!r} is no table with the columns LAYER,P,R,F and numbers below them"
        ) from error
    if num_layers not in found:
        held = f"layers {min(found)} to {max(found)}" if found else "no layer"
        raise ConfigurationError(f"the baseline file {os.fspath(path)!r} holds {held}, not layer {num_layers}")
    return found[num_layers]


def _known(encoder: str) -> Mapping[str, Any] | None:
    for organisation in _CANONICAL:
        bare = encoder.removeprefix(organisation)
        if bare != encoder and bare in _table():
            return _table()[bare]
    return _table().get(encoder)


def _published_in(encoder: str, language: str) -> bool:
    return bare_language(language) in _table()[encoder]["f1"]


@functools.cache
def _table() -> dict[str, dict[str, Any]]:
    file = files("opik_checkembed.models") / "bertscore_baselines.json"
    table: dict[str, dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["encoders"]
    return table
