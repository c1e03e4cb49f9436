"""spaCy's sentences and tokens, for parity with SelfCheckGPT, which uses them throughout."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opik_checkembed.errors import ConfigurationError, ModelUnavailable
from opik_checkembed.models.local_model import LocalModel, shared_local_model
from opik_checkembed.splitters import Sentence

if TYPE_CHECKING:
    from spacy.language import Language


class SpacySplitter:
    """The sentences of a spaCy pipeline, as in the SelfCheckGPT tutorial; a token is a spaCy token.

    The parser is slow beside the rules (about a thousandth of their speed) and English pipelines do not split Chinese
    or Japanese; it is here so that figures can be compared.

    Args:
        pipeline: A package's name ("en_core_web_sm"), a folder, or a loaded pipeline. It must set sentence borders.

    Raises:
        ConfigurationError: It is not installed, or sets no sentence borders.
    """

    def __init__(self, pipeline: str | Language = "en_core_web_sm") -> None:
        self._pipeline = _pipeline(pipeline, _check_borders, "leave splitter out to split by rules")
        self._named = pipeline if isinstance(pipeline, str) else str(pipeline.meta.get("name"))

    def split(self, text: str) -> list[Sentence]:
        """The sentences of a text.

        Raises:
            ModelUnavailable: The pipeline cannot be loaded, or sets no sentence borders.
        """
        with self._pipeline.lock:
            document = self._pipeline.model()(text)
        found = []
        for sentence in document.sents:
            stripped = sentence.text.strip()
            if stripped:
                start = sentence.start_char + sentence.text.index(stripped)
                found.append(Sentence(start, start + len(stripped), len(sentence)))
        return found

    def __repr__(self) -> str:
        return f"SpacySplitter({self._named!r})"


class SpacyEntities:
    """Finds names with a spaCy pipeline's entity recogniser.

    Args:
        pipeline: The name or folder of a pipeline, or the pipeline itself.

    Raises:
        ConfigurationError: It cannot be loaded, or recognises no entities; says what to do.
    """

    # What rules find better (numbers, dates, amounts) is left to them.
    _NAMES = frozenset(
        (
            "PERSON",
            "PER",
            "NORP",
            "FAC",
            "ORG",
            "GPE",
            "LOC",
            "PRODUCT",
            "EVENT",
            "WORK_OF_ART",
            "LAW",
            "LANGUAGE",
            "MISC",
        )
    )

    def __init__(self, pipeline: str | Language) -> None:
        self._pipeline = _pipeline(pipeline, _check_entities, "leave entities out to find names by rules")

    def names(self, text: str) -> list[tuple[int, int]]:
        """Where names of people, places, organisations, works and the like begin and end, articles left out.

        Raises:
            ModelUnavailable: The pipeline cannot be loaded, or recognises no entities.
        """
        with self._pipeline.lock:
            document = self._pipeline.model()(text)
        found = []
        for entity in document.ents:
            if entity.label_ in self._NAMES:
                # "the United States" and "Marie Curie's" hold more than the name.
                first = 1 if len(entity) > 1 and entity[0].lower_ in {"the", "a", "an"} else 0
                last = len(entity) - (
                    1 if len(entity) > 1 + first and entity[-1].lower_ in {"'s", "’s", "'", "’"} else 0
                )
                found.append((entity[first].idx, entity[last - 1].idx + len(entity[last - 1])))
        return found


class SpacyTokenizer:
    """The tokens of spaCy's rules for a language; no model is needed.

    Args:
        language: A language code that spaCy knows. English rules leave a run of Chinese or Japanese in one token; "zh"
            takes each character for one.

    Raises:
        ConfigurationError: spaCy has no rules for this language.

    Example:
        >>> SpacyTokenizer().tokens("She wasn't in the U.S. then.")
        ['She', 'was', "n't", 'in', 'the', 'U.S.', 'then', '.']
    """

    def __init__(self, language: str = "en") -> None:
        if not isinstance(language, str) or not _has_rules(language):
            raise ConfigurationError(f"language must be a code that spaCy has rules for, like 'en', not {language!r}")
        self.language = language
        self._blank: LocalModel[Any] = shared_local_model(("spacy blank", language), lambda: _blank(language))

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, in order, white space among them where it is more than one space.

        Raises:
            ModelUnavailable: The language's rules need a package that is not installed; says which.
        """
        with self._blank.lock:
            return [token.text for token in self._blank.model()(text)]


def _is_installed(name: str) -> bool:
    if name and Path(name).is_dir():
        return True
    try:
        distribution(name.replace("_", "-"))
    except (PackageNotFoundError, ValueError):
        return False
    return True


def _has_rules(language: str) -> bool:
    # Looked up on disk: importing spaCy takes a second that constructing a metric should not.
    spec = importlib.util.find_spec("spacy")
    folders = spec.submodule_search_locations if spec is not None else None
    return language.isalpha() and any((Path(folder) / "lang" / language).is_dir() for folder in folders or ())


def _pipeline(pipeline: str | Language, check: Callable[[Language], None], otherwise: str) -> LocalModel[Language]:
    """A named pipeline, loaded at its first use, or a loaded one; `check` says whether it can do what is wanted."""
    if isinstance(pipeline, str):
        if not _is_installed(pipeline):
            raise ConfigurationError(
                f"there is no spaCy pipeline {pipeline!r} here: run `python -m spacy download {pipeline}`, name a "
                f"folder, or {otherwise}"
            )
        return shared_local_model(("spacy", check.__name__, pipeline), lambda: _load(pipeline, check))
    if not hasattr(pipeline, "pipe_names"):
        raise ConfigurationError(f"a spaCy pipeline is a name, a folder or a loaded pipeline, not {pipeline!r}")
    check(pipeline)
    return LocalModel(lambda: pipeline)


def _load(name: str, check: Callable[[Language], None]) -> Language:
    import spacy

    try:
        pipeline = spacy.load(name)
    except (OSError, ValueError, ImportError) as error:
        raise ModelUnavailable(f"the spaCy pipeline {name!r} could not be loaded: {error}") from error
    try:
        check(pipeline)
    except ConfigurationError as error:
        raise ModelUnavailable(str(error)) from error
    return pipeline


def _check_entities(pipeline: Language) -> None:
    if not {"ner", "entity_ruler", "span_ruler"} & set(pipeline.pipe_names):
        raise ConfigurationError(
            f"the spaCy pipeline {pipeline.meta.get('name')!r} recognises no entities (it has "
            f"{', '.join(pipeline.pipe_names) or 'no components'}); name one that does, such as en_core_web_sm"
        )


def _check_borders(pipeline: Language) -> None:
    if not {"parser", "senter", "sentencizer"} & set(pipeline.pipe_names):
        raise ConfigurationError(
            f"the spaCy pipeline {pipeline.meta.get('name')!r} sets no sentence borders: it needs a parser, a senter "
            'or pipeline.add_pipe("sentencizer")'
        )


def _blank(language: str) -> Any:
    import spacy

    try:
        return spacy.blank(language).tokenizer
    except (ImportError, ValueError) as error:
        raise ModelUnavailable(f"spaCy cannot split {language!r} into tokens: {error}") from error
