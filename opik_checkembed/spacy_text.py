"""spaCy's sentences and tokens, for parity with SelfCheckGPT, which uses them throughout."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from opik_checkembed.errors import ConfigurationError, ModelUnavailable
from opik_checkembed.language import bare_language
from opik_checkembed.models.digest import readable
from opik_checkembed.models.local_model import LocalModel, shared_local_model
from opik_checkembed.splitters import Sentence, words_of

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

    def __init__(self, pipeline: str | os.PathLike[str] | Language = "en_core_web_sm") -> None:
        self._pipeline = _pipeline(pipeline, _check_borders, "leave splitter out to split by rules")
        self._named = str(pipeline if isinstance(pipeline, str | os.PathLike) else pipeline.meta.get("name"))

    def split(self, text: str) -> list[Sentence]:
        """The sentences of a text.

        Raises:
            ModelUnavailable: The pipeline cannot be loaded, or sets no sentence borders.
            ModelError: The text cannot be read; see `readable`.
        """
        readable(text)
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

    def __init__(self, pipeline: str | os.PathLike[str] | Language) -> None:
        self._pipeline = _pipeline(pipeline, _check_entities, "leave entities out to find names by rules")

    def names(self, text: str) -> list[tuple[int, int]]:
        """Where names of people, places, organisations, works and the like begin and end, articles left out.

        Raises:
            ModelUnavailable: The pipeline cannot be loaded, or recognises no entities.
            ModelError: The text cannot be read; see `readable`.
        """
        readable(text)
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


class Tokenizer(Protocol):
    """Cuts a text into words and marks."""

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, in order; between them stands nothing but white space.

        Raises:
            ModelError: The text cannot be read; see `readable`.
        """
        ...


class RuleTokenizer:
    """This package's own tokens: a word, a mark, or a character of a script that sets no spaces; see `RuleSplitter`.

    Example:
        >>> RuleTokenizer().tokens("東京 2020!")
        ['東', '京', '2020', '!']
    """

    def tokens(self, text: str) -> list[str]:
        """See `Tokenizer.tokens`."""
        readable(text)
        return words_of(text)


# What spaCy needs another package for. A score must not depend on whether that happens to be installed.
_BY_RULES = frozenset(("ja", "ko", "th", "vi"))


def tokenizer_of(language: str) -> Tokenizer:
    """The tokens of a language, without a model: spaCy's rules, as in SelfCheckGPT.

    For Japanese, Korean, Thai and Vietnamese spaCy has none of its own but asks another package (SudachiPy, MeCab,
    PyThaiNLP, Pyvi). There it is this package's rules, which take each character for a token (in Vietnamese each
    syllable), whatever is installed.

    Raises:
        ConfigurationError: The language is not a code, or one that spaCy has no rules for.

    Example:
        >>> tokenizer_of("ja").tokens("東京")
        ['東', '京']
    """
    bare = bare_language(language)
    return RuleTokenizer() if bare in _BY_RULES else SpacyTokenizer(bare)


class SpacyTokenizer:
    """The tokens of spaCy's rules for a language; no model is needed.

    Args:
        language: A language code that spaCy knows, with or without a region. English rules leave a run of Chinese or
            Japanese in one token; "zh" takes each character for one.

    Raises:
        ConfigurationError: spaCy has no rules for this language.

    Example:
        >>> SpacyTokenizer().tokens("She wasn't in the U.S. then.")
        ['She', 'was', "n't", 'in', 'the', 'U.S.', 'then', '.']
    """

    def __init__(self, language: str = "en") -> None:
        bare = bare_language(language)
        if not _has_rules(bare):
            raise ConfigurationError(f"language must be a code that spaCy has rules for, like 'en', not {language!r}")
        self.language = bare
        self._blank: LocalModel[Any] = shared_local_model(("spacy blank", bare), lambda: _blank(bare))

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, in order, white space among them where it is more than one space.

        Raises:
            ModelUnavailable: The language's rules need a package that is not installed; says which.
            ModelError: The text cannot be read; see `readable`.
        """
        readable(text)
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
    return any((Path(folder) / "lang" / language).is_dir() for folder in folders or ())


def _pipeline(
    pipeline: str | os.PathLike[str] | Language, check: Callable[[Language], None], otherwise: str
) -> LocalModel[Language]:
    """A named pipeline, loaded at its first use, or a loaded one; `check` says whether it can do what is wanted."""
    if isinstance(pipeline, str | os.PathLike):
        name = os.fspath(pipeline)
        if not _is_installed(name):
            raise ConfigurationError(
                f"there is no spaCy pipeline {name!r} here: run `python -m spacy download {name}`, name a folder, or "
                f"{otherwise}"
            )
        return shared_local_model(("spacy", check.__name__, name), lambda: _load(name, check))
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
