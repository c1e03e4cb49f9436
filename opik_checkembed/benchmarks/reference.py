"""selfcheckgpt 0.1.7 as it was released, to compare scores and speed with; needs the `dev` extra.

Its loads are timed apart, and it is pointed at the models of a comparison, since it takes no model argument of its
own. Nothing of it is mended: what it computes is what its users get.
"""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.models.local_model import no_progress_bar
from opik_checkembed.spacy_text import SpacySplitter

Predict = Callable[[Sequence[str], str, Sequence[str]], list[float]]
"""Sentence scores from sentences, the passage they are from, and its samples."""


class Reference:
    """One method of selfcheckgpt.

    Attributes:
        load_s: Seconds it has spent loading models so far; BERTScore loads its encoder again for every sample.
    """

    def __init__(self, predict: Callable[[Reference], Predict]) -> None:
        self.load_s = 0.0
        started = time.perf_counter()
        with _quiet():
            self._predict = predict(self)
        self.load_s = time.perf_counter() - started

    def predict(self, sentences: Sequence[str], passage: str, samples: Sequence[str]) -> list[float]:
        """Its score for each sentence."""
        with _quiet():
            return [float(score) for score in self._predict(sentences, passage, samples)]

    @contextlib.contextmanager
    def loading(self) -> Iterator[None]:
        """Count what happens within as loading."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.load_s += time.perf_counter() - started


def ngram_reference(pipeline: str, n: int = 1) -> Reference:
    """Its n-gram method (maximum), with this spaCy pipeline as its `en_core_web_sm`.

    Raises:
        ConfigurationError: selfcheckgpt or the pipeline is not installed.
    """
    package = _selfcheckgpt()
    SpacySplitter(pipeline)  # says what to do where it is not installed

    def build(_: Reference) -> Predict:
        with _spacy_as(pipeline):
            method = package.SelfCheckNgram(n=n)

        def predict(sentences: Sequence[str], passage: str, samples: Sequence[str]) -> list[float]:
            with _spacy_as(pipeline):
                found = method.predict(list(sentences), passage, list(samples))
            scores: list[float] = found["sent_level"]["max_neg_logprob"]
            return scores

        return predict

    return Reference(build)


def bertscore_reference(encoder: str, num_layers: int, pipeline: str, *, rescale: bool = False) -> Reference:
    """Its BERTScore method with this encoder and layer; rescaled only if a baseline file lies where it looks.

    Splitting a text into sentences happens once and counts as loading.

    Raises:
        ConfigurationError: selfcheckgpt or the pipeline is not installed.
    """
    package = _selfcheckgpt()
    SpacySplitter(pipeline)
    import bert_score
    from bert_score import utils

    # The module is hidden behind the function of its name.
    scorer: Any = __import__("sys").modules[bert_score.score.__module__]

    def build(reference: Reference) -> Predict:
        with _spacy_as(pipeline):
            method = package.SelfCheckBERTScore(rescale_with_baseline=rescale)
        split, known = method.nlp, {}

        def split_once(text: str) -> Any:
            if text not in known:
                with reference.loading():
                    known[text] = split(text)
            return known[text]

        method.nlp = split_once

        def predict(sentences: Sequence[str], _: str, samples: Sequence[str]) -> list[float]:
            def timed(load: Callable[..., Any]) -> Callable[..., Any]:
                def counted(*arguments: Any) -> Any:
                    with reference.loading():
                        return load(*arguments)

                return counted

            with (
                _replaced(scorer, "get_model", timed(scorer.get_model)),
                _replaced(scorer, "get_tokenizer", timed(scorer.get_tokenizer)),
                _entry(utils.lang2model, "en", encoder),
                _entry(utils.model2layers, encoder, num_layers),
            ):
                found: list[float] = method.predict(list(sentences), list(samples))
            return found

        return predict

    return Reference(build)


def nli_reference(model: str) -> Reference:
    """Its NLI method with this model.

    Raises:
        ConfigurationError: selfcheckgpt is not installed.
    """
    package = _selfcheckgpt()

    def build(_: Reference) -> Predict:
        method = package.SelfCheckNLI(nli_model=model)
        if not hasattr(method.tokenizer, "batch_encode_plus"):
            # Gone from transformers 5, where the method fails; calling the tokenizer is what took its place.
            method.tokenizer.batch_encode_plus = _batch_encode_plus(method.tokenizer)

        def predict(sentences: Sequence[str], _: str, samples: Sequence[str]) -> list[float]:
            found: list[float] = method.predict(list(sentences), list(samples))
            return found

        return predict

    return Reference(build)


def mqag_reference(models: Mapping[str, str], questions: Mapping[str, Sequence[Mapping[str, Any]]]) -> Reference:
    """Its MQAG method ("bayes_with_alpha"), answering these questions instead of drawing its own.

    Args:
        models: The folders or names of its four models, as its constructor calls them.
        questions: For each sentence its questions, with the keys `question` and `options`.

    Raises:
        ConfigurationError: selfcheckgpt is not installed.
    """
    package = _selfcheckgpt()

    def build(_: Reference) -> Predict:
        method = package.SelfCheckMQAG(**models)

        def predict(sentences: Sequence[str], passage: str, samples: Sequence[str]) -> list[float]:
            with _replaced(package, "question_generation_sentence_level", lambda *given: questions[given[4]]):
                found: list[float] = method.predict(
                    list(sentences), passage, list(samples), scoring_method="bayes_with_alpha", beta1=0.8, beta2=0.8
                )
            return found

        return predict

    return Reference(build)


def _batch_encode_plus(tokenizer: Any) -> Callable[..., Any]:
    def encode(batch_text_or_text_pairs: Sequence[tuple[str, str]], **options: Any) -> Any:
        first, second = zip(*batch_text_or_text_pairs, strict=True)
        return tokenizer(list(first), list(second), **options)

    return encode


def _selfcheckgpt() -> Any:
    try:
        from selfcheckgpt import modeling_selfcheck
    except ImportError as error:
        raise ConfigurationError(
            'comparing with selfcheckgpt needs it installed: pip install -c constraints.txt -e ".[dev]"'
        ) from error
    return modeling_selfcheck


@contextlib.contextmanager
def _spacy_as(pipeline: str) -> Iterator[None]:
    """The reference asks for `en_core_web_sm` by name, which may be installed under another."""
    import spacy

    load = spacy.load
    with _replaced(spacy, "load", lambda name: load(pipeline if name == "en_core_web_sm" else name)):
        yield


@contextlib.contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextlib.contextmanager
def _entry(table: dict[str, Any], key: str, value: Any) -> Iterator[None]:
    before = dict(table)
    table[key] = value
    try:
        yield
    finally:
        table.clear()
        table.update(before)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """It prints what it has initialised, and a bar for every load."""
    with contextlib.redirect_stdout(io.StringIO()), no_progress_bar():
        yield
