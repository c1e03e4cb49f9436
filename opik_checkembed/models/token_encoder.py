"""Texts into token embeddings: what a token encoder is, the local one, and one shared per process.

Nothing heavy is imported before the first text is encoded.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from opik_checkembed.errors import ConfigurationError, ModelError, ModelUnavailable
from opik_checkembed.functional.bertscore import TokenEmbeddings
from opik_checkembed.models.batching import Batcher
from opik_checkembed.models.bertscore_baseline import default_layer
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
    import torch

DEFAULT_TOKEN_ENCODER = "roberta-large"
"""SelfCheckGPT's encoder for English: MIT, 24 layers of which 17 are read, 1.4 GB."""

# Where neither tokenizer nor model names a limit (XLNet, T5), long texts are still read in windows: attention grows
# with the square of their length.
_WINDOW = 512

# Padded tokens in a batch. On a processor more tokens fill no core better and only add padding; a GPU wants many.
_BATCH_TOKENS = {"cpu": 512}
_GPU_BATCH_TOKENS = 16_384

# The names that configurations have for the number of layers.
_LAYER_COUNTS = ("num_hidden_layers", "encoder_layers", "num_layers", "n_layers", "n_layer")


@runtime_checkable
class TokenEncoder(Protocol):
    """Turns texts into one embedding for each of their tokens.

    Example:
        >>> class Letters:
        ...     def encode(self, texts):
        ...         one_hot = np.eye(128, dtype=np.float32)
        ...         return [TokenEmbeddings(one_hot[[ord(c) for c in t]], np.ones(len(t), dtype=bool)) for t in texts]
        >>> isinstance(Letters(), TokenEncoder)
        True
    """

    def encode(self, texts: Sequence[str]) -> Sequence[TokenEmbeddings]:
        """The texts' token embeddings, in order.

        Args:
            texts: What to encode; the list is not empty and its texts are distinct.

        Returns:
            One for each text, all of one width. A text without a token to count may have no rows at all.
        """
        ...


class TransformerTokenEncoder:
    """The token embeddings of an encoder's layer, as BERTScore reads them; runs in this process.

    Loaded at the first use, once per process for equal arguments, and used by one thread at a time. Layers above the
    one that is read are not run. A text longer than the model reads is encoded in windows, at white space where there
    is any, and has the windows' tokens one after the other: nothing is cut. Texts go through sorted by length, in
    batches of about equal cost. A text without anything to read has no tokens.

    Args:
        model: A name on the Hugging Face hub or a folder, of any encoder (BERT, RoBERTa, DeBERTa, MPNet, ...) or the
            encoder of an encoder-decoder (BART, T5).
        num_layers: The layer whose output is compared; None takes the default of bert-score for its encoders, by name.
        device: Where to run (`cpu`, `cuda:1`, `mps`); None takes a GPU where there is one.
        trust_remote_code: Whether code that comes with the model may run. Only for models you trust.
        batch_tokens: Tokens that go through at a time, padding included; None chooses by the device.

    Raises:
        ConfigurationError: There can be no model under this name, no layer is known for it, it has fewer layers, or an
            argument cannot work.

    Example:
        >>> TransformerTokenEncoder("roberta-large")
        TransformerTokenEncoder('roberta-large', num_layers=17)
        >>> TransformerTokenEncoder("sentence-transformers/all-mpnet-base-v2", num_layers=11, device="cpu")
        TransformerTokenEncoder('sentence-transformers/all-mpnet-base-v2', num_layers=11, device='cpu')
    """

    def __init__(
        self,
        model: str | os.PathLike[str] = DEFAULT_TOKEN_ENCODER,
        *,
        num_layers: int | None = None,
        device: str | None = None,
        trust_remote_code: bool = False,
        batch_tokens: int | None = None,
    ) -> None:
        check_device(device)
        if batch_tokens is not None and (
            isinstance(batch_tokens, bool) or not isinstance(batch_tokens, int) or batch_tokens < 1
        ):
            raise ConfigurationError(f"batch_tokens must be a whole number of at least 1, not {batch_tokens!r}")
        self.source = locate(model, "a token encoder", DEFAULT_TOKEN_ENCODER)
        self.num_layers = _layer(self.source, num_layers)
        self.device = device
        self.batch_tokens = batch_tokens
        self._local: LocalModel[_Loaded] = shared_local_model(
            ("token encoder", self.source, self.num_layers, device, trust_remote_code),
            partial(_load, self.source, self.num_layers, device, trust_remote_code),
        )

    def encode(self, texts: Sequence[str]) -> list[TokenEmbeddings]:
        """The texts' token embeddings, in order: float32, special tokens included but not counted.

        Raises:
            ModelUnavailable: The model cannot be loaded; says what to do.
        """
        with self._local.lock:
            return self._local.model().encode(texts, self.batch_tokens)

    def release(self) -> None:
        """Free the model's memory; the next use loads it again."""
        self._local.release()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TransformerTokenEncoder):
            return NotImplemented
        return self._local is other._local and self.batch_tokens == other.batch_tokens

    def __hash__(self) -> int:
        return hash((id(self._local), self.batch_tokens))

    def __repr__(self) -> str:
        device = "" if self.device is None else f", device={self.device!r}"
        return f"{type(self).__name__}({self.source!r}, num_layers={self.num_layers}{device})"


def _layer(source: str, given: int | None) -> int:
    if given is None:
        known = default_layer(source)
        if known is None:
            raise ConfigurationError(
                f"which layer of {source!r} to compare is not known: give num_layers. For the encoders that "
                "bert-score knows by name it is chosen on human judgements, mostly at two thirds to all of the layers "
                "(roberta-large 17 of 24, bert-base-uncased 9 of 12)"
            )
        return known
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise ConfigurationError(f"num_layers must be a whole number of at least 1, not {given!r}")
    held = _layers_of_folder(source)
    if held is not None and given > held:
        raise ConfigurationError(f"num_layers is {given}, but the model in {source} has {held} layers")
    return given


def _layers_of_folder(source: str) -> int | None:
    """How many layers a folder's configuration names; None for a hub name, or where it names none."""
    file = Path(source) / "config.json"
    if not file.is_file():
        return None
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigurationError(f"{file} is not JSON: {error}") from error
    return next((config[name] for name in _LAYER_COUNTS if isinstance(config.get(name), int)), None)


# --- the loaded model ---------------------------------------------------------------------------------------


def _load(source: str, num_layers: int, device: str | None, trust_remote_code: bool) -> _Loaded:
    ways = (
        'Two ways to give one: a folder (encoder="path/to/model", num_layers=...), or an object of your own with '
        "encode(texts)"
    )
    return load_pretrained(
        lambda: _loaded(source, num_layers, device, trust_remote_code), source, "token encoder", ways
    )


def _loaded(source: str, num_layers: int, device: str | None, trust_remote_code: bool) -> _Loaded:
    from transformers import AutoModel, AutoTokenizer

    where = resolve_device(device)
    tokenizer: Any = AutoTokenizer.from_pretrained(source, trust_remote_code=trust_remote_code)
    with _no_load_report():
        loaded: Any = AutoModel.from_pretrained(source, trust_remote_code=trust_remote_code, output_loading_info=True)
    model, info = loaded
    # Checkpoints of language models lack the pooler, which no token embedding goes through. Anything else that is
    # missing would be filled with random numbers.
    missing = sorted(key for key in info["missing_keys"] if "pooler" not in key)
    if missing:
        raise ModelUnavailable(
            f"the token encoder {source!r} lacks {len(missing)} weights ({missing[0]}, ...): it was not saved by "
            "save_pretrained() of this architecture"
        )
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    _keep_layers(model, num_layers, source)
    # Some checkpoints are stored in half precision, in which a processor is slow and scores are coarse.
    model = model.float().eval().to(where)
    return _Loaded(model, tokenizer, where)


@contextlib.contextmanager
def _no_load_report() -> Iterator[None]:
    """Transformers does not advise to train the pooler meanwhile."""
    from transformers.utils import logging as untyped

    logging: Any = untyped
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(before)


def _keep_layers(model: torch.nn.Module, num_layers: int, source: str) -> None:
    """Drop the layers above the one that is read; what a model does after its last layer it does after that one."""
    from torch.nn import ModuleList

    config: Any = model.config
    held = int(config.num_hidden_layers)
    if num_layers > held:
        raise ModelUnavailable(f"num_layers is {num_layers}, but {source!r} has {held} layers")
    if num_layers == held:
        return
    if config.model_type == "albert":
        # One layer, run as often as its configuration says.
        config.num_hidden_layers = num_layers
        return
    outermost: dict[str, ModuleList] = {}
    for name, module in model.named_modules():
        if isinstance(module, ModuleList) and len(module) == held and not name.startswith(tuple(outermost)):
            outermost[f"{name}."] = module
    if len(outermost) != 1:
        raise ModelUnavailable(
            f"how to stop {source!r} ({config.model_type}) at layer {num_layers} is not known: give num_layers={held}, "
            "or an object of your own with encode(texts)"
        )
    del next(iter(outermost.values()))[num_layers:]


class _Loaded:
    """A model in memory. Used under its lock."""

    def __init__(self, model: Any, tokenizer: Any, device: torch.device) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._device = device
        self._limit = token_limit(model, tokenizer) or _WINDOW
        self._prefix = " " if _wants_space(tokenizer, model.config.model_type) else ""
        self._pad = tokenizer.pad_token_id or 0
        # What bert-score gives no weight, also where a text happens to spell it.
        self._uncounted = [i for i in (tokenizer.cls_token_id, tokenizer.sep_token_id) if i is not None]

    def encode(self, texts: Sequence[str], batch_tokens: int | None) -> list[TokenEmbeddings]:
        pieces: list[list[int]] = []
        of_text: list[list[int]] = []
        for text, ids in zip(texts, self.ids(texts), strict=True):
            windows = [ids] if len(ids) <= self._limit else self.ids(self._windows(text))
            windows = [window for window in windows if not set(window).issubset(self._uncounted)]
            of_text.append(list(range(len(pieces), len(pieces) + len(windows))))
            pieces += windows
        vectors = self._forward(pieces, batch_tokens or _BATCH_TOKENS.get(self._device.type, _GPU_BATCH_TOKENS))
        return [self._joined([pieces[i] for i in places], [vectors[i] for i in places]) for places in of_text]

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids with the special tokens, nothing cut."""
        if not texts:
            return []
        stripped = [text.strip() for text in texts]
        encoded = self._tokenizer(
            [self._prefix + text if text else "" for text in stripped],
            add_special_tokens=True,
            truncation=False,
            padding=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
        found: list[list[int]] = encoded["input_ids"]
        return found

    def _windows(self, text: str) -> list[str]:
        from opik_checkembed.text import windows  # its patterns take a while to compile

        spans = windows(text, lambda pieces: [len(ids) for ids in self.ids(pieces)], self._limit, overlap=0)
        return [span.of(text) for span in spans]

    def _forward(self, pieces: Sequence[Sequence[int]], batch_tokens: int) -> list[NDArray[np.float32]]:
        import torch

        vectors: dict[int, NDArray[np.float32]] = {}
        with torch.inference_mode():
            for batch in batches([len(piece) for piece in pieces], batch_tokens):
                length = max(len(pieces[i]) for i in batch)
                ids = torch.full((len(batch), length), self._pad, dtype=torch.long)
                mask = torch.zeros((len(batch), length), dtype=torch.long)
                for row, i in enumerate(batch):
                    ids[row, : len(pieces[i])] = torch.tensor(pieces[i])
                    mask[row, : len(pieces[i])] = 1
                output = self._model(input_ids=ids.to(self._device), attention_mask=mask.to(self._device))[0]
                rows = output.cpu().numpy()
                # Copies, so that one kept text does not hold on to its whole batch.
                vectors.update((i, rows[row, : len(pieces[i])].copy()) for row, i in enumerate(batch))
        return [vectors[i] for i in range(len(pieces))]

    def _joined(self, pieces: Sequence[Sequence[int]], vectors: Sequence[NDArray[np.float32]]) -> TokenEmbeddings:
        if not pieces:
            return TokenEmbeddings(np.empty((0, self._model.config.hidden_size), np.float32), np.empty(0, np.bool_))
        ids = np.concatenate([np.asarray(piece) for piece in pieces])
        joined = vectors[0] if len(vectors) == 1 else np.concatenate(vectors)
        return TokenEmbeddings(joined, ~np.isin(ids, self._uncounted), windows=len(pieces))


def _wants_space(tokenizer: Any, model_type: str) -> bool:
    """Whether a text needs a space in front to be read as bert-score's published figures were made.

    To a byte-level tokenizer (RoBERTa, GPT-2, BART) "Paris" and " Paris" are different tokens, and the first word of a
    sentence is the rarer one of the two. bert-score asks for the space by `add_prefix_space=True`, which transformers 5
    ignores, so that its RoBERTa scores differ there from the published ones (.649 instead of .672); set by hand, the
    space works in every version. DeBERTa's tokenizer was never asked for it.
    """
    if model_type == "deberta":
        return False
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None or backend.pre_tokenizer is None:
        return False
    state = json.loads(backend.pre_tokenizer.__getstate__())
    steps = state.get("pretokenizers", [state])
    return any(step["type"] == "ByteLevel" and not step["add_prefix_space"] for step in steps)


# --- one per process ----------------------------------------------------------------------------------------


class SharedTokenEncoder:
    """Encodes with one token encoder for many threads.

    Texts that concurrent callers want are joined into one `encode` call and each distinct text is encoded once; its
    embeddings are kept, up to `max_bytes` in all.

    Args:
        encoder: Used by one thread at a time.
        max_bytes: Embeddings are kept up to this size; the longest unused go first.

    Example:
        >>> class Letters:
        ...     def encode(self, texts):
        ...         one_hot = np.eye(128, dtype=np.float32)
        ...         return [TokenEmbeddings(one_hot[[ord(c) for c in t]], np.ones(len(t), dtype=bool)) for t in texts]
        >>> [len(tokens.vectors) for tokens in SharedTokenEncoder(Letters()).embeddings(["three", "one"])]
        [5, 3]
    """

    def __init__(self, encoder: TokenEncoder, *, max_bytes: int = 256 * 2**20) -> None:
        self.encoder = encoder
        self._width: int | None = None
        self._batcher: Batcher[str, TokenEmbeddings] = Batcher(
            self._encode,
            key=digest,
            weigh=lambda tokens: tokens.vectors.nbytes + tokens.counted.nbytes,
            max_bytes=max_bytes,
            outage=(ModelUnavailable,),
        )

    def embeddings(self, texts: Sequence[str]) -> list[TokenEmbeddings]:
        """The texts' token embeddings, in order; not to be changed.

        Raises:
            ModelError: The encoder failed, returned something that is no set of embeddings, or a text cannot be
                encoded. Nothing of it is kept; the next call tries again.
        """
        if isinstance(texts, str):
            raise TypeError("embeddings() takes a sequence of texts, not one text")
        return [tokens for tokens, _ in self._batcher.get(texts)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.encoder!r})"

    def _encode(self, texts: Sequence[str]) -> list[TokenEmbeddings]:
        name = f"the token encoder {type(self.encoder).__name__}"
        try:
            found = [
                TokenEmbeddings(
                    np.asarray(tokens.vectors, dtype=np.float32), np.asarray(tokens.counted, dtype=bool), tokens.windows
                )
                for tokens in self.encoder.encode(texts)
            ]
        except ModelError:
            raise
        except Exception as error:
            # An encoder may be the user's own, so this can be anything; it must fail items, not the evaluation.
            raise ModelError(f"{name} failed: {type(error).__name__}: {error}") from error
        if len(found) != len(texts):
            raise ModelError(f"{name} returned {len(found)} sets of token embeddings for {len(texts)} texts")
        for tokens in found:
            shape = tokens.vectors.shape
            if len(shape) != 2 or tokens.counted.shape != shape[:1]:
                raise ModelError(
                    f"{name} returned embeddings of shape {shape} with a mask of shape {tokens.counted.shape}; needed "
                    "are (L, d) and (L,)"
                )
            if not np.isfinite(tokens.vectors).all():
                raise ModelError(f"{name} returned an embedding that is not finite")
            if shape[0]:
                self._width = self._width or shape[1]
                if shape[1] != self._width:
                    raise ModelError(f"{name} returned embeddings of {shape[1]} dimensions, before {self._width}")
        return found


_shared: Registry[TokenEncoder, SharedTokenEncoder] = Registry(SharedTokenEncoder)


def shared_token_encoder(
    encoder: str | os.PathLike[str] | TokenEncoder = DEFAULT_TOKEN_ENCODER,
    *,
    num_layers: int | None = None,
    device: str | None = None,
) -> SharedTokenEncoder:
    """The one `SharedTokenEncoder` that this process has for an encoder, so that all metrics share its embeddings.

    Args:
        encoder: A Hugging Face name, a folder, or an object of your own with `encode`. Equal names, and equal objects,
            get the same.
        num_layers: See `TransformerTokenEncoder`; for names and folders only.
        device: See `TransformerTokenEncoder`; for names and folders only.

    Raises:
        ConfigurationError: It is none of these, or an argument cannot work.
    """
    named = isinstance(encoder, str | os.PathLike)
    used: TokenEncoder
    if isinstance(encoder, str | os.PathLike):
        used = TransformerTokenEncoder(encoder, num_layers=num_layers, device=device)
    elif isinstance(encoder, type) or not isinstance(encoder, TokenEncoder):
        raise ConfigurationError(
            "encoder must be a model name, a folder, or an object with encode(texts) that returns token embeddings, "
            f"not {encoder!r}"
        )
    elif num_layers is not None or device is not None:
        raise ConfigurationError("num_layers and device are for a name or folder; set them on the encoder")
    else:
        used = encoder
    return _shared.of(used, kept=named)
