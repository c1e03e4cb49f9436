"""Pairs of texts into entailment and contradiction: what an NLI model is, the local one, and one shared per process.

Nothing heavy is imported before the first pair is read.
"""

from __future__ import annotations

import json
import os
import threading
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from opik_checkembed.errors import ConfigurationError, ItemError, ModelError, ModelUnavailable
from opik_checkembed.functional.nli import (
    RELATIONS,
    NLILabels,
    NLIProbabilities,
    Relation,
    check_mapping,
    map_labels,
    read_labels,
)
from opik_checkembed.models.batching import Batcher
from opik_checkembed.models.digest import digest
from opik_checkembed.models.inputs import batches, token_limit
from opik_checkembed.models.local_model import (
    LocalModel,
    check_device,
    load_pretrained,
    locate,
    resolve_device,
    shared_local_model,
)
from opik_checkembed.models.registry import Registry

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from opik_checkembed.models.deberta_once import PremiseOnce
    from opik_checkembed.text import Span

DEFAULT_NLI_MODEL = "potsawee/deberta-v3-large-mnli"
"""SelfCheckGPT's classifier: Apache-2.0, 1.7 GB, English, reads 512 tokens; entailment and contradiction.

It was trained with the hypothesis first and the premise second, the reverse of most NLI models.
"""

# Classifiers whose configuration does not name their outputs; these are their model cards' words.
_KNOWN_LABELS: dict[str, dict[Relation, int]] = {DEFAULT_NLI_MODEL: {"entailment": 0, "contradiction": 1}}

_WAYS = (
    'Three ways to give one: a folder (nli_model="path/to/model"), TransformerNLI(model, tokenizer=tokenizer) with '
    "loaded ones, or an object of your own with probabilities(pairs)"
)
_MAP_THEM = 'map them, as its model card has them: labels={"contradiction": 0, "entailment": 2}'

_CLASSIFIER = "ForSequenceClassification"
# What transformers calls the outputs of a configuration that names none.
_UNNAMED = {"0": "LABEL_0", "1": "LABEL_1"}

# Padded tokens in a batch. On a CPU, batches of 1 to 8 pairs of 200 tokens took DeBERTa the same time a pair; of 55
# tokens, 8 together took two thirds of what they take one by one, and 16 gained no more.
_CPU_BATCH_TOKENS = 512
_GPU_BATCH_TOKENS = 16_384
# Pairs that are tokenised together, so that ids of a large job do not lie in memory all at once.
_TOKENISED = 1024

# What a statement leaves of the model's room to a long passage is rounded down to this many tokens, so that statements
# of about equal length share a passage's windows.
_STEP = 32

Pair = tuple[str, str]

G = TypeVar("G")
R = TypeVar("R")


@runtime_checkable
class NLIModel(Protocol):
    """Says of pairs of texts whether one entails or contradicts the other.

    Example:
        >>> class Equal:
        ...     def probabilities(self, pairs):
        ...         equal = np.array([float(a == b) for a, b in pairs])
        ...         return NLIProbabilities(entailment=equal, contradiction=1 - equal)
        >>> isinstance(Equal(), NLIModel)
        True
    """

    def probabilities(self, pairs: Sequence[Pair]) -> NLIProbabilities:
        """The pairs' probabilities, in order; which text is the premise is the caller's choice.

        Args:
            pairs: Not empty, distinct, the longest first. A model that is no `CountsTokens` gets every text whole.
        """
        ...


@runtime_checkable
class CountsTokens(Protocol):
    """A model that knows how much text it reads at once."""

    def room(self) -> int | None:
        """Tokens that both texts of a pair may hold together; None where there is no limit."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """The texts' tokens, special tokens left out."""
        ...


class TransformerNLI:
    """A sequence classification model in this process, of two or three labels.

    Loaded at the first use, once per process for equal (model, device), and used by one thread at a time. Pairs are
    sorted by length and go through in batches of at most `batch_tokens`. On a CPU that is one or two long pairs, or
    several short ones: larger batches gain nothing there. DeBERTa-v2 and -v3 that are loaded here run without the
    work that transformers repeats (`opik_checkembed.models.deberta`).

    Args:
        model: A name on the Hugging Face hub, a folder, or a loaded model (then with its `tokenizer`).
        tokenizer: Only for a loaded model.
        labels: Positions of the classifier's outputs, like {"contradiction": 1, "entailment": 0}; None reads them from
            its configuration.
        device: Where to run (`cpu`, `cuda:1`, `mps`); None takes a GPU where there is one.
        batch_tokens: Tokens that go through at a time, padding included; None chooses by the device.

    Raises:
        ConfigurationError: There can be no model under this name; the folder holds no classifier, or one whose labels
            cannot be read; an argument cannot work. What only the model hub can tell fails every item instead, with
            the same text, once the model is loaded.

    Example:
        >>> TransformerNLI("cross-encoder/nli-deberta-v3-small", device="cpu")
        TransformerNLI('cross-encoder/nli-deberta-v3-small', device='cpu')
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | PreTrainedModel = DEFAULT_NLI_MODEL,
        *,
        tokenizer: PreTrainedTokenizerBase | None = None,
        labels: Mapping[Relation, int] | None = None,
        device: str | None = None,
        batch_tokens: int | None = None,
    ) -> None:
        check_device(device)
        if batch_tokens is not None and (
            isinstance(batch_tokens, bool) or not isinstance(batch_tokens, int) or batch_tokens < 1
        ):
            raise ConfigurationError(f"batch_tokens must be a whole number of at least 1, not {batch_tokens!r}")
        self.device = device
        self.batch_tokens = batch_tokens
        self._mapping = None if labels is None else _configured(check_mapping, labels)
        if _is_loaded(model):
            if device is not None:
                raise ConfigurationError("device is for a model that is still to be loaded")
            if tokenizer is None:
                raise ConfigurationError("a loaded model needs its tokenizer: TransformerNLI(model, tokenizer=...)")
            if model.training:
                raise ConfigurationError("the model is in training mode, in which dropout is on; call model.eval()")
            if not any(_CLASSIFIER in cls.__name__ for cls in type(model).__mro__):
                raise ConfigurationError(
                    f"a {type(model).__name__} is not a classifier of pairs: needed is a model {_CLASSIFIER}"
                )
            self.source = f"a loaded {type(model).__name__}"
            self.configuration: Mapping[str, Any] | None = model.config.to_dict()
            self._local = _given(model, tokenizer)
            _configured(self._labels, _loaded_names(model))
            return
        if tokenizer is not None:
            raise ConfigurationError("tokenizer is for a loaded model; a name or folder brings its own")
        self.source = locate(model, "an NLI model", DEFAULT_NLI_MODEL)
        self.configuration = None
        if Path(self.source).is_dir():
            self.configuration = _folder_configuration(Path(self.source))
            _configured(self._labels, _folder_names(Path(self.source), self.configuration))
        self._local = shared_local_model(("nli", self.source, device), partial(_load, self.source, device))

    def probabilities(self, pairs: Sequence[Pair]) -> NLIProbabilities:
        """The pairs' probabilities, in order, in full precision.

        Raises:
            ModelUnavailable: The model cannot be loaded, is no classifier, or its labels cannot be read; says what to
                do.
            ModelError: A pair is longer than the model reads, or its logits are not finite.
        """
        return self._read(lambda loaded: loaded.logits(pairs, self.batch_tokens))

    def probabilities_once(
        self, statements: Sequence[str], passages: Sequence[str], *, passage_first: bool
    ) -> NLIProbabilities:
        """Of every statement beside every passage, a statement's after each other; approximately, see `PassageOnceNLI`.

        Raises:
            ModelUnavailable: As `probabilities`; or the model is one that cannot be read so.
            ModelError: As `probabilities`.
        """
        return self._read(lambda loaded: loaded.logits_once(statements, passages, passage_first=passage_first))

    def _read(self, logits_of: Callable[[_Loaded], NDArray[np.float64]]) -> NLIProbabilities:
        with self._local.lock:
            loaded = self._local.model()
            try:
                labels = self._labels(loaded.names)
            except ValueError as error:
                raise ModelUnavailable(str(error)) from error
            logits = logits_of(loaded)
        try:
            return NLIProbabilities.of_logits(logits, labels)
        except ValueError as error:
            raise ModelError(f"the NLI model {self.source!r} failed: {error}") from error

    def room(self) -> int | None:
        """Tokens that both texts of a pair may hold together; None where there is no limit. Loads the model.

        Raises:
            ModelUnavailable: It cannot be loaded.
        """
        with self._local.lock:
            return self._local.model().room

    def count(self, texts: Sequence[str]) -> list[int]:
        """The texts' tokens, special tokens left out. Loads the model.

        Raises:
            ModelUnavailable: It cannot be loaded.
        """
        with self._local.lock:
            return self._local.model().count(texts)

    def release(self) -> None:
        """Free the model's memory; the next use loads it again."""
        self._local.release()

    def _labels(self, names: Sequence[str]) -> NLILabels:
        mapping = self._mapping
        try:
            if mapping is not None:
                return map_labels(mapping, len(names))
            return read_labels(names)
        except ValueError as error:
            known = _KNOWN_LABELS.get(self.source)
            if mapping is None and known is not None:
                return map_labels(known, len(names))
            raise ValueError(f"the NLI model {self.source!r}: {error}; {_MAP_THEM}") from error

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TransformerNLI):
            return NotImplemented
        return self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> Hashable:
        return id(self._local), None if self._mapping is None else frozenset(self._mapping.items()), self.batch_tokens

    def __repr__(self) -> str:
        device = "" if self.device is None else f", device={self.device!r}"
        return f"{type(self).__name__}({self.source!r}{device})"


def _is_loaded(value: object) -> TypeGuard[PreTrainedModel]:
    """Whether this is a loaded model of transformers, told without importing the library."""
    return any(
        cls.__name__ == "PreTrainedModel" and cls.__module__.startswith("transformers.") for cls in type(value).__mro__
    )


def _configured(read: Callable[[G], R], given: G) -> R:
    try:
        return read(given)
    except ValueError as error:
        raise ConfigurationError(str(error)) from error


def _folder_configuration(folder: Path) -> dict[str, Any]:
    file = folder / "config.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigurationError(f"{file} is no configuration of a model: {error}") from error
    if not isinstance(config, dict):
        raise ConfigurationError(f"{file} is no configuration of a model: it holds a {type(config).__name__}")
    return config


def _folder_names(folder: Path, config: Mapping[str, Any]) -> list[str]:
    """The label names that a folder's configuration gives.

    Raises:
        ConfigurationError: It is not a classifier's.
    """
    try:
        architectures = config.get("architectures") or [_CLASSIFIER]
        names = _names({int(place): name for place, name in config.get("id2label", _UNNAMED).items()})
    except (ValueError, AttributeError) as error:
        raise ConfigurationError(f"{folder / 'config.json'} is no configuration of a model: {error}") from error
    if not any(_CLASSIFIER in str(name) for name in architectures):
        raise ConfigurationError(
            f"the folder {folder} holds {architectures[0]}, which is not a classifier of pairs: needed is a model "
            f"{_CLASSIFIER} that was trained on NLI"
        )
    return names


def _loaded_names(model: Any) -> list[str]:
    return _names(model.config.id2label)


def _names(id2label: Mapping[int, str]) -> list[str]:
    return [str(id2label[place]) for place in sorted(id2label)]


# --- the loaded model ---------------------------------------------------------------------------------------


def _load(source: str, device: str | None) -> _Loaded:
    return load_pretrained(partial(_loaded, source, device), source, "NLI model", _WAYS)


def _loaded(source: str, device: str | None) -> _Loaded:
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    where = resolve_device(device)
    config = AutoConfig.from_pretrained(source)
    architectures = config.architectures or [_CLASSIFIER]
    # Told before a download of gigabytes.
    if not any(_CLASSIFIER in name for name in architectures):
        raise ModelUnavailable(f"{source!r} is {architectures[0]}, which is not a classifier of pairs. {_WAYS}")
    tokenizer: Any = AutoTokenizer.from_pretrained(source)
    found: Any = AutoModelForSequenceClassification.from_pretrained(source, output_loading_info=True)
    model, info = found
    if info["missing_keys"]:
        # They are random numbers now, and so would be the scores.
        missing = ", ".join(sorted(info["missing_keys"])[:3])
        raise ModelUnavailable(f"{source!r} is not a trained classifier: it lacks the weights {missing}. {_WAYS}")
    # Some checkpoints are stored in half precision, in which a processor is slow and scores are coarse.
    model = model.float().eval().to(where)
    if model.config.model_type == "deberta-v2":
        from opik_checkembed.models.deberta import spare_repeated_work

        spare_repeated_work(model)
    return _Loaded(model, tokenizer)


class _Loaded:
    """A model in memory. Used under its lock: a tokenizer keeps its padding as state."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.names = _loaded_names(model)
        self.limit = token_limit(model, tokenizer)
        self.room = None if self.limit is None else self.limit - int(tokenizer.num_special_tokens_to_add(pair=True))
        self._model = model
        self._tokenizer = tokenizer

    def count(self, texts: Sequence[str]) -> list[int]:
        if not texts:
            return []
        encoded = self._tokenizer(
            list(texts),
            add_special_tokens=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
        return [len(ids) for ids in encoded["input_ids"]]

    def logits(self, pairs: Sequence[Pair], batch_tokens: int | None) -> NDArray[np.float64]:
        import torch
        from torch.nn.utils.rnn import pad_sequence

        device = self._model.device
        fill = {"input_ids": self._tokenizer.pad_token_id or 0, "token_type_ids": self._tokenizer.pad_token_type_id}
        budget = batch_tokens or (_CPU_BATCH_TOKENS if device.type == "cpu" else _GPU_BATCH_TOKENS)
        if self._tokenizer.pad_token is None:
            budget = 1  # such models read one pair at a time
        found = np.empty((len(pairs), len(self.names)))
        for start in range(0, len(pairs), _TOKENISED):
            chunk = pairs[start : start + _TOKENISED]
            encoded = self._tokenizer([first for first, _ in chunk], [second for _, second in chunk], verbose=False)
            lengths = [len(ids) for ids in encoded["input_ids"]]
            if self.limit is not None and max(lengths) > self.limit:
                raise ModelError(f"a pair holds {max(lengths)} tokens, and the NLI model reads {self.limit}")
            with torch.inference_mode():
                for batch in batches(lengths, budget):
                    inputs = {
                        name: pad_sequence([torch.tensor(values[place]) for place in batch], True, fill.get(name, 0))
                        for name, values in encoded.items()
                    }
                    on_device = {name: values.to(device) for name, values in inputs.items()}
                    found[[start + place for place in batch]] = self._model(**on_device).logits.cpu().numpy()
        return found

    def logits_once(
        self, statements: Sequence[str], passages: Sequence[str], *, passage_first: bool
    ) -> NDArray[np.float64]:
        """Shape (statements x passages, labels)."""
        texts = [*statements, *passages]
        ids: list[list[int]] = self._tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
        told, held = ids[: len(statements)], ids[len(statements) :]
        longest = max(map(len, told)) + max(map(len, held))
        if self.room is not None and longest > self.room:
            raise ModelError(f"a pair holds {longest} tokens, and the NLI model reads {self.room} and their marks")
        found = self._once.logits(told, held, "sample" if passage_first else "sentence")
        return found.flatten(0, 1).double().numpy()

    @cached_property
    def _once(self) -> PremiseOnce:
        from opik_checkembed.models import deberta_once

        cls, sep = self._tokenizer.cls_token_id, self._tokenizer.sep_token_id
        (one,), (other,) = (self._tokenizer([text], add_special_tokens=False)["input_ids"] for text in ("a", "b"))
        if self._tokenizer("a", "b")["input_ids"] != [cls, *one, sep, *other, sep]:
            raise ModelUnavailable("the fast mode does not know the marks that this tokenizer puts around a pair")
        try:
            return deberta_once.PremiseOnce(self._model, cls=cls, sep=sep, share=deberta_once.SHARE)
        except ConfigurationError as error:
            raise ModelUnavailable(str(error)) from error


# By their ids, which stay theirs while the entry, which holds both, is there.
_given_models: weakref.WeakValueDictionary[tuple[int, int], LocalModel[_Loaded]] = weakref.WeakValueDictionary()
_registry_lock = threading.Lock()


def _given(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> LocalModel[_Loaded]:
    with _registry_lock:
        key = id(model), id(tokenizer)
        local = _given_models.get(key)
        if local is None:
            local = _given_models[key] = LocalModel(partial(_Loaded, model, tokenizer))
        return local


# --- one per process ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Reading:
    """A statement held against a passage.

    Attributes:
        pieces: The parts of the statement that were read; one, the whole, unless it is very long.
        windows: The parts of the passage that were read; one, the whole, where it has room beside the statement.
        probabilities: For each piece and window, the windows of the first piece first.
    """

    pieces: tuple[Span, ...]
    windows: tuple[Span, ...]
    probabilities: NLIProbabilities


# The parts of a statement and of its passage.
_Cut = tuple[tuple["Span", ...], tuple["Span", ...]]


class SharedNLI:
    """Reads pairs with one NLI model for many threads.

    Pairs that concurrent callers want are joined, the longest first, and each distinct pair is read once: its
    probabilities are kept, up to `max_bytes` in all.

    Args:
        model: Used by one thread at a time. If it is a `CountsTokens`, long passages are cut into windows.
        max_bytes: Probabilities are kept up to this size; the longest unused go first.

    Example:
        >>> class Equal:
        ...     def probabilities(self, pairs):
        ...         equal = np.array([float(a == b) for a, b in pairs])
        ...         return NLIProbabilities(entailment=equal, contradiction=1 - equal)
        >>> SharedNLI(Equal()).probabilities([("a", "a"), ("a", "b")]).contradiction
        array([0., 1.])
    """

    def __init__(self, model: NLIModel, *, max_bytes: int = 64 * 2**20) -> None:
        self.model = model
        self._batcher: Batcher[Pair, _Row] = Batcher(
            self._compute, key=_key, weigh=lambda _: _ROW_BYTES, max_bytes=max_bytes, outage=(ModelUnavailable,)
        )

    def probabilities(self, pairs: Sequence[Pair]) -> NLIProbabilities:
        """The pairs' probabilities, in order. The texts are read whole; `read` cuts what is too long.

        Raises:
            ModelUnavailable: The model cannot be loaded.
            ModelError: It failed, returned no probabilities, or a text cannot be encoded. Nothing of it is kept.
        """
        return _of_rows([row for row, _ in self._batcher.get(pairs)])

    def read(self, statements: Sequence[Pair], *, passage_first: bool = False) -> list[Reading]:
        """Hold statements against passages, all of both read and nothing cut off.

        A passage without room beside its statement is read in overlapping windows on sentence borders; a statement
        that takes more than half of the model's room is itself read in pieces of at most that.

        Args:
            statements: Pairs of a statement and a passage.
            passage_first: Whether the model is given the passage as the first text of a pair.

        Raises:
            ModelUnavailable: The model cannot be loaded.
            ModelError: As `probabilities`.
        """
        cut = self._cut(statements)
        pairs = [
            (window.of(passage), piece.of(statement)) if passage_first else (piece.of(statement), window.of(passage))
            for (statement, passage), (pieces, windows) in zip(statements, cut, strict=True)
            for piece in pieces
            for window in windows
        ]
        rows = [row for row, _ in self._batcher.get(pairs)]
        readings = []
        at = 0
        for pieces, windows in cut:
            count = len(pieces) * len(windows)
            readings.append(Reading(pieces, windows, _of_rows(rows[at : at + count])))
            at += count
        return readings

    def count(self, texts: Sequence[str]) -> list[int]:
        """The texts' tokens as the model counts them; words and marks where it does not say.

        Raises:
            ModelUnavailable: The model cannot be loaded.
            ModelError: It failed.
        """
        model = self.model
        if isinstance(model, CountsTokens):
            return self._asked(lambda: model.count(texts))
        from opik_checkembed.splitters import tokens_of

        return [tokens_of(text) for text in texts]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"

    def _cut(self, statements: Sequence[Pair]) -> list[_Cut]:
        from opik_checkembed.text import Span, windows  # its patterns take a while to compile

        cut: list[_Cut] = [((Span(0, len(s)),), (Span(0, len(p)),)) for s, p in statements]
        model = self.model
        if not isinstance(model, CountsTokens):
            return cut
        room = self._asked(model.room)
        if room is None:
            return cut

        def count(texts: Sequence[str]) -> list[int]:
            return self._asked(lambda: model.count(texts))

        texts = list(dict.fromkeys(text for pair in statements for text in pair))
        tokens = dict(zip(texts, count(texts), strict=True))
        # Statements of about equal length share a passage's windows.
        laid: dict[tuple[str, int], tuple[Span, ...]] = {}

        def lay(text: str, limit: int, overlap: int) -> tuple[Span, ...]:
            if (text, limit) not in laid:
                try:
                    laid[text, limit] = tuple(windows(text, count, limit, overlap)) or (Span(0, len(text)),)
                except ValueError as error:
                    raise ModelError(f"no window of a text fits the {room} tokens of {self._name}: {error}") from error
            return laid[text, limit]

        half = room // 2
        for place, (statement, passage) in enumerate(statements):
            if tokens[statement] + tokens[passage] <= room:
                continue
            pieces = cut[place][0] if tokens[statement] <= half else lay(statement, half, 0)
            beside = min(-(-tokens[statement] // _STEP) * _STEP, half)
            cut[place] = pieces, lay(passage, room - beside, 1)
        return cut

    def _compute(self, pairs: Sequence[Pair]) -> list[_Row]:
        order = sorted(range(len(pairs)), key=lambda place: -sum(map(len, pairs[place])))
        found = self._asked(lambda: self.model.probabilities([pairs[place] for place in order]))
        rows: list[_Row] = [_NOTHING] * len(pairs)
        for place, row in zip(order, self._rows(found, len(pairs)), strict=True):
            rows[place] = row
        return rows

    def _asked(self, ask: Callable[[], R]) -> R:
        try:
            return ask()
        except ItemError:
            raise
        except Exception as error:
            # A model may be the user's own, so this can be anything; it must fail items, not the evaluation.
            raise ModelError(f"{self._name} failed: {type(error).__name__}: {error}") from error

    def _rows(self, found: NLIProbabilities, count: int) -> list[_Row]:
        columns = []
        for relation in RELATIONS:
            values = getattr(found, relation, None)
            column = np.full(count, np.nan) if values is None else np.asarray(values, dtype=np.float64)
            if column.shape != (count,) or (values is not None and not ((column >= 0) & (column <= 1)).all()):
                raise ModelError(f"{self._name} returned no probabilities of {relation} for {count} pairs")
            columns.append(column)
        if np.isnan(columns[0]).all() and np.isnan(columns[1]).all():
            raise ModelError(f"{self._name} returned neither entailment nor contradiction")
        return [(float(e), float(c), float(n)) for e, c, n in zip(*columns, strict=True)]

    @property
    def _name(self) -> str:
        return f"the NLI model {type(self.model).__name__}"


# Entailment, contradiction, neutral; not a number where the model has no such label.
_Row = tuple[float, float, float]
_NOTHING: _Row = (float("nan"),) * 3
# With its key and its place in the dictionary.
_ROW_BYTES = 400


def _of_rows(rows: Sequence[_Row]) -> NLIProbabilities:
    return NLIProbabilities.of_columns(np.array(rows, dtype=np.float64).reshape(-1, len(RELATIONS)).T)


_shared: Registry[NLIModel, SharedNLI] = Registry(SharedNLI)


def shared_nli(
    model: str | os.PathLike[str] | NLIModel | None = None,
    *,
    labels: Mapping[Relation, int] | None = None,
    device: str | None = None,
) -> SharedNLI:
    """The one `SharedNLI` that this process has for a model, so that all metrics share it and what it has read.

    Args:
        model: None for `DEFAULT_NLI_MODEL`; a folder or Hugging Face name; or an object with `probabilities`, such as
            a `TransformerNLI` over a loaded model. Equal names, and equal objects, get the same.
        labels: See `TransformerNLI`; only for a name or folder.
        device: See `TransformerNLI`; only for a name or folder.

    Raises:
        ConfigurationError: It is none of these, or there can be no such model.
    """
    if model is None or isinstance(model, str | os.PathLike):
        named = True
        used: NLIModel = TransformerNLI(DEFAULT_NLI_MODEL if model is None else model, labels=labels, device=device)
    else:
        named = False
        if _is_loaded(model):
            raise ConfigurationError(
                "a loaded model needs its tokenizer: nli_model=TransformerNLI(model, tokenizer=...)"
            )
        if isinstance(model, type) or not isinstance(model, NLIModel):
            raise ConfigurationError(
                "nli_model must be a model name, a folder, or an object with probabilities(pairs), such as "
                f"TransformerNLI(model, tokenizer=...), not {model!r}"
            )
        if labels is not None or device is not None:
            raise ConfigurationError("labels and device are for a name or folder; construct the object with them")
        used = model
    return _shared.of(used, kept=named)


def _key(pair: Pair) -> bytes:
    return digest(*pair)
