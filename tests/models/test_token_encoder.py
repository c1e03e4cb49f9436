"""The local token encoder on tiny models of many architectures, and the one shared across threads."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from opik_checkembed.errors import ConfigurationError, ModelError, ModelUnavailable
from opik_checkembed.functional.bertscore import TokenEmbeddings
from opik_checkembed.models import local_model
from opik_checkembed.models.token_encoder import (
    SharedTokenEncoder,
    TokenEncoder,
    TransformerTokenEncoder,
    shared_token_encoder,
)

# Hardly typed, and so not worth a cast at every call.
transformers: Any = importlib.import_module("transformers")

DEADLINE = 60.0
SENTENCE = "paris is the capital of france and lies on the seine while the museum opened its doors again"
WORDS = SENTENCE.split()
TEXTS = [" ".join(WORDS[:12]), "the museum", " ".join(WORDS[5:]), "paris opened the museum again"]
VOCABULARY = 300


def wordpiece() -> Any:
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(WORDS)]
    tokenizer = Tokenizer(models.WordPiece({token: i for i, token in enumerate(tokens)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


def byte_level(add_prefix_space: bool = False, step: Callable[[Any], Any] = lambda byte_level: byte_level) -> Any:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = step(pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space))
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<s>", "<pad>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([SENTENCE] * 3, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", cls_token="<s>", sep_token="</s>"
    )


SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "pad_token_id": 0,
}
CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("BertConfig", SIZES),
    "roberta": ("RobertaConfig", {**SIZES, "max_position_embeddings": 34, "pad_token_id": 1}),
    "electra": ("ElectraConfig", {**SIZES, "embedding_size": 16}),
    "mpnet": ("MPNetConfig", SIZES),
    "albert": ("AlbertConfig", {**SIZES, "embedding_size": 8}),
    "deberta": ("DebertaConfig", SIZES),
    "deberta-v2": ("DebertaV2Config", {**SIZES, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "distilbert": (
        "DistilBertConfig",
        {"vocab_size": VOCABULARY, "dim": 16, "n_layers": 3, "n_heads": 2, "hidden_dim": 32},
    ),
    "xlnet": ("XLNetConfig", {"vocab_size": VOCABULARY, "d_model": 16, "n_layer": 3, "n_head": 2, "d_inner": 32}),
    "bart": (
        "BartConfig",
        {
            "vocab_size": VOCABULARY, "d_model": 16, "encoder_layers": 3, "decoder_layers": 1, "encoder_ffn_dim": 32,
            "decoder_ffn_dim": 32, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "pad_token_id": 1,
        },
    ),
    "t5": (
        "T5Config",
        {"vocab_size": VOCABULARY, "d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2},
    ),
    "xlm": ("XLMConfig", {"vocab_size": VOCABULARY, "emb_dim": 16, "n_layers": 3, "n_heads": 2}),
}  # fmt: skip


def saved(folder: Path, name: str = "bert", tokenizer: Any = None, **changed: Any) -> Path:
    """A randomly initialised model of this architecture in a folder."""
    config, sizes = CONFIGS[name]
    torch.manual_seed(0)
    model = transformers.AutoModel.from_config(getattr(transformers, config)(**{**sizes, **changed}))
    save(folder, model, tokenizer or wordpiece())
    return folder


def save(folder: Path, model: Any, tokenizer: Any) -> None:
    transformers.utils.logging.disable_progress_bar()
    try:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    finally:
        transformers.utils.logging.enable_progress_bar()


@pytest.fixture(autouse=True)
def _forget_models() -> Iterator[None]:
    before = dict(local_model._shared)
    yield
    local_model._shared.clear()
    local_model._shared.update(before)


def inner(encoder: TransformerTokenEncoder) -> Any:
    with encoder._local.lock:
        return encoder._local.model()


# --- the model ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in CONFIGS if name not in {"t5", "xlm"}])
def test_embeddings_are_the_layers_of_the_whole_model(name: str, tmp_path: Path) -> None:
    encoder = TransformerTokenEncoder(saved(tmp_path, name), num_layers=2, device="cpu")
    whole = transformers.AutoModel.from_pretrained(tmp_path).eval()
    if name == "bart":
        whole = whole.get_encoder()
    tokenizer = wordpiece()

    found = encoder.encode(TEXTS)

    assert len(found) == len(TEXTS)
    for text, tokens in zip(TEXTS, found, strict=True):
        ids = tokenizer(text)["input_ids"]
        with torch.no_grad():
            expected = whole(torch.tensor([ids]), output_hidden_states=True).hidden_states[2][0]
        if name == "xlnet":  # it takes turns with the axes
            expected = expected.reshape(len(ids), -1)
        assert tokens.vectors == pytest.approx(expected.numpy(), abs=1e-5)
        assert tokens.vectors.dtype == np.float32
        assert tokens.counted.tolist() == [False, *[True] * (len(ids) - 2), False]
        assert tokens.windows == 1


def test_what_follows_the_last_layer_follows_the_one_that_is_read(tmp_path: Path) -> None:
    """T5 normalises after its last layer; so does bert-score, which cuts the layers off as well."""
    encoder = TransformerTokenEncoder(saved(tmp_path, "t5"), num_layers=1, device="cpu")
    whole = transformers.T5EncoderModel.from_pretrained(tmp_path).eval()
    ids = torch.tensor([wordpiece()(TEXTS[0])["input_ids"]])
    with torch.no_grad():
        expected = whole.encoder.final_layer_norm(whole(ids, output_hidden_states=True).hidden_states[1])[0]
    assert encoder.encode(TEXTS[:1])[0].vectors == pytest.approx(expected.numpy(), abs=1e-5)


def test_layers_above_are_not_run(tmp_path: Path) -> None:
    encoder = TransformerTokenEncoder(saved(tmp_path), num_layers=1)
    assert len(inner(encoder)._model.encoder.layer) == 1


def test_the_last_layer_needs_nothing_cut(tmp_path: Path) -> None:
    encoder = TransformerTokenEncoder(saved(tmp_path, "xlm"), num_layers=3)
    assert encoder.encode(TEXTS)[0].vectors.shape == (14, 16)


def test_a_model_that_cannot_be_cut_says_so(tmp_path: Path) -> None:
    encoder = TransformerTokenEncoder(saved(tmp_path, "xlm"), num_layers=2)
    with pytest.raises(ModelUnavailable, match=r"stop .* \(xlm\) at layer 2 is not known: give num_layers=3"):
        encoder.encode(TEXTS)


def test_order_and_batches_change_nothing(tmp_path: Path) -> None:
    saved(tmp_path)
    texts = [" ".join(WORDS[i : i + length]) for i in range(4) for length in (1, 7, 3, 12)]
    alone = [TransformerTokenEncoder(tmp_path, num_layers=2, batch_tokens=1).encode([text])[0] for text in texts]
    for batch_tokens in (1, 20, 10_000, None):
        encoder = TransformerTokenEncoder(tmp_path, num_layers=2, batch_tokens=batch_tokens)
        for one, together in zip(alone, encoder.encode(texts), strict=True):
            assert together.vectors == pytest.approx(one.vectors, abs=1e-5)


def test_half_precision_is_not_kept(tmp_path: Path) -> None:
    torch.manual_seed(0)
    save(tmp_path, transformers.BertModel(transformers.BertConfig(**SIZES)).half(), wordpiece())
    assert inner(TransformerTokenEncoder(tmp_path, num_layers=2))._model.dtype == torch.float32
    assert np.isfinite(TransformerTokenEncoder(tmp_path, num_layers=2).encode(TEXTS)[0].vectors).all()


def test_a_language_model_without_pooler_loads_without_a_word(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    model = transformers.RobertaForMaskedLM(transformers.RobertaConfig(**CONFIGS["roberta"][1]))
    save(tmp_path, model, byte_level())
    capfd.readouterr()
    encoder = TransformerTokenEncoder(tmp_path, num_layers=2, device="cpu")
    assert len(encoder.encode(["paris"])[0].vectors) >= 3
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


def test_missing_weights_are_not_made_up(tmp_path: Path) -> None:
    saved(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 4}))
    encoder = TransformerTokenEncoder(tmp_path, num_layers=2)
    with pytest.raises(ModelUnavailable, match=r"lacks 16 weights \(encoder\.layer\.3\."):
        encoder.encode(TEXTS)


def test_loaded_once_and_released(tmp_path: Path) -> None:
    saved(tmp_path)
    first = TransformerTokenEncoder(tmp_path, num_layers=2)
    second = TransformerTokenEncoder(str(tmp_path), num_layers=2)
    other = TransformerTokenEncoder(tmp_path, num_layers=1)
    assert first == second
    assert hash(first) == hash(second)
    assert first not in (other, TransformerTokenEncoder(tmp_path, num_layers=2, batch_tokens=8), "text")
    loaded = inner(first)
    assert inner(second) is loaded
    assert inner(other) is not loaded
    first.release()
    assert not second._local.loaded
    assert second.encode(["the museum"])[0].vectors.shape == (4, 16)
    assert repr(other) == f"TransformerTokenEncoder({str(tmp_path.resolve())!r}, num_layers=1)"


# --- what the tokenizer is given ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "step",
    [
        lambda byte_level: byte_level,
        lambda byte_level: pre_tokenizers.Sequence([pre_tokenizers.Digits(), byte_level]),
    ],
)
def test_a_byte_level_tokenizer_gets_the_space_of_the_published_scores(
    step: Callable[[Any], Any], tmp_path: Path
) -> None:
    saved(tmp_path, "roberta", byte_level(step=step))
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    with_space, without = tokenizer([" paris is", "paris is"])["input_ids"]
    assert with_space != without
    assert inner(TransformerTokenEncoder(tmp_path, num_layers=2)).ids(["paris is", "\n paris is "]) == [with_space] * 2


def test_a_tokenizer_that_sets_it_gets_no_second_space(tmp_path: Path) -> None:
    saved(tmp_path, "roberta", byte_level(add_prefix_space=True))
    ids = inner(TransformerTokenEncoder(tmp_path, num_layers=2)).ids(["paris is"])
    assert ids == byte_level(add_prefix_space=True)(["paris is"])["input_ids"]
    assert ids == byte_level()([" paris is"])["input_ids"]


@pytest.mark.parametrize(("name", "tokenizer"), [("deberta", byte_level), ("bert", wordpiece)])
def test_others_get_none(name: str, tokenizer: Callable[[], Any], tmp_path: Path) -> None:
    saved(tmp_path, name, tokenizer())
    assert inner(TransformerTokenEncoder(tmp_path, num_layers=2)).ids(["paris is"]) == [
        tokenizer()("paris is")["input_ids"]
    ]


def test_a_tokenizer_without_steps_gets_none(tmp_path: Path) -> None:
    tokenizer = wordpiece()
    tokenizer.backend_tokenizer.pre_tokenizer = None
    saved(tmp_path, "bert", tokenizer)
    assert inner(TransformerTokenEncoder(tmp_path, num_layers=2)).ids(["paris"]) == [wordpiece()("paris")["input_ids"]]


@pytest.mark.parametrize(
    ("text", "tokenizer"),
    [("", wordpiece), (" \n\t", wordpiece), ("[CLS] [SEP]", wordpiece), ("", byte_level), (" \n\t", byte_level)],
)
def test_a_text_without_anything_to_read_has_no_tokens(text: str, tokenizer: Callable[[], Any], tmp_path: Path) -> None:
    saved(tmp_path, "roberta", tokenizer())
    encoder = TransformerTokenEncoder(tmp_path, num_layers=2)
    empty, word = encoder.encode([text, "paris"])
    assert empty.vectors.shape == (0, 16)
    assert empty.counted.shape == (0,)
    assert word.counted.any()
    assert len(encoder.encode([text])[0].vectors) == 0
    assert encoder.encode([]) == []


@pytest.mark.parametrize("name", ["roberta", "bert"])
def test_a_long_text_is_read_in_windows(name: str, tmp_path: Path) -> None:
    """RoBERTa's first two positions are not for tokens: of 34 it reads 32, and one more would be out of range."""
    saved(tmp_path, name, max_position_embeddings=34 if name == "roberta" else 32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert tokenizer.model_max_length > 10**9
    encoder = TransformerTokenEncoder(tmp_path, num_layers=2, device="cpu")
    words = WORDS * 4  # 68 tokens: 30 + 30 + 8
    fits, long = encoder.encode([" ".join(words[:30]), " ".join(words)])

    assert (fits.windows, fits.vectors.shape) == (1, (32, 16))
    assert long.windows == 3
    assert long.counted.sum() == len(words)
    pieces = encoder.encode([" ".join(words[at : at + 30]) for at in (0, 30, 60)])
    assert long.vectors == pytest.approx(np.concatenate([piece.vectors for piece in pieces]), abs=1e-5)
    assert long.counted.tolist() == np.concatenate([piece.counted for piece in pieces]).tolist()


def test_the_tokenizers_own_limit_holds_too(tmp_path: Path) -> None:
    tokenizer = wordpiece()
    tokenizer.model_max_length = 10
    encoder = TransformerTokenEncoder(saved(tmp_path, tokenizer=tokenizer), num_layers=2)
    assert encoder.encode([SENTENCE])[0].windows == 3


def test_a_model_without_any_limit_reads_windows_of_512(tmp_path: Path) -> None:
    encoder = TransformerTokenEncoder(saved(tmp_path, "xlnet"), num_layers=2)
    short, long = encoder.encode(["paris " * 510, "paris " * 511])
    assert (short.windows, long.windows) == (1, 2)


# --- arguments ----------------------------------------------------------------------------------------------


def test_the_layer_of_a_known_encoder_is_its_default() -> None:
    assert TransformerTokenEncoder().num_layers == 17
    assert TransformerTokenEncoder("FacebookAI/roberta-large").num_layers == 17
    assert TransformerTokenEncoder("bert-base-chinese").num_layers == 8
    assert TransformerTokenEncoder("roberta-large", num_layers=3).num_layers == 3
    assert "device='cpu'" in repr(TransformerTokenEncoder(device="cpu"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"model": "my/encoder"}, "which layer of 'my/encoder' to compare is not known: give num_layers"),
        ({"num_layers": 0}, "at least 1, not 0"),
        ({"num_layers": True}, "at least 1, not True"),
        ({"num_layers": 2.0}, "at least 1, not 2.0"),
        ({"device": ""}, "device must be a name"),
        ({"batch_tokens": 0}, "batch_tokens must be a whole number of at least 1, not 0"),
        ({"batch_tokens": True}, "not True"),
        ({"batch_tokens": 1.5}, "not 1.5"),
        ({"model": 7}, "a token encoder is a Hugging Face name like 'roberta-large' or a folder, not 7"),
        ({"model": "./nowhere", "num_layers": 2}, "there is no folder nowhere"),
    ],
)
def test_what_cannot_work_is_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        TransformerTokenEncoder(**arguments)


def test_folders_are_looked_into(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="holds no model"):
        TransformerTokenEncoder(tmp_path, num_layers=2)
    saved(tmp_path)
    with pytest.raises(ConfigurationError, match="which layer of"):
        TransformerTokenEncoder(tmp_path)
    with pytest.raises(ConfigurationError, match=r"num_layers is 4, but the model in .* has 3 layers"):
        TransformerTokenEncoder(tmp_path, num_layers=4)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ConfigurationError, match=r"config\.json is not JSON"):
        TransformerTokenEncoder(tmp_path, num_layers=2)


def test_a_layer_the_configuration_hides_is_found_missing_when_loaded(tmp_path: Path) -> None:
    saved(tmp_path, num_hidden_layers=12)
    config = json.loads((tmp_path / "config.json").read_text())
    del config["num_hidden_layers"]  # then the architecture's default holds, which is 12
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelUnavailable, match=r"num_layers is 13, but .* has 12 layers"):
        TransformerTokenEncoder(tmp_path, num_layers=13).encode(TEXTS)


def test_a_hub_name_without_a_hub_says_what_to_do() -> None:
    with pytest.raises(ModelUnavailable, match=r"'no-such/encoder' was not found .*encoder=\"path/to/model\""):
        TransformerTokenEncoder("no-such/encoder", num_layers=2).encode(["paris"])


def test_a_device_torch_does_not_know(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="there is no device 'abacus'"):
        TransformerTokenEncoder(saved(tmp_path), num_layers=2, device="abacus").encode(["paris"])


def test_importing_it_loads_nothing_heavy() -> None:
    code = (
        "import sys, opik_checkembed.models.token_encoder as t; "
        "t.TransformerTokenEncoder(); t.shared_token_encoder(); "
        "print(sorted({'torch', 'transformers', 'spacy', 'litellm'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE, check=True)
    assert done.stdout.strip() == "[]"


# --- one for all threads ------------------------------------------------------------------------------------


class Letters:
    """One-hot letters; what it was asked for is kept."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> list[TokenEmbeddings]:
        self.calls.append(list(texts))
        one_hot = np.eye(128, dtype=np.float32)
        return [TokenEmbeddings(one_hot[[ord(c) % 128 for c in text]], np.ones(len(text), bool)) for text in texts]


def test_a_text_is_encoded_once() -> None:
    letters = Letters()
    shared = SharedTokenEncoder(letters)
    first = shared.embeddings(["ab", "c", "ab"])
    assert [len(tokens.vectors) for tokens in first] == [2, 1, 2]
    assert first[0] is first[2]
    assert len(shared.embeddings(["c", "d"])[1].vectors) == 1
    assert letters.calls == [["ab", "c"], ["d"]]
    assert shared.embeddings([]) == []
    assert repr(shared).startswith("SharedTokenEncoder(<")


def test_threads_share_the_work(tmp_path: Path) -> None:
    encoder = shared_token_encoder(saved(tmp_path), num_layers=2, device="cpu")
    alone = TransformerTokenEncoder(tmp_path, num_layers=2, device="cpu").encode(TEXTS)
    start = threading.Barrier(8)

    def use(_: int) -> list[TokenEmbeddings]:
        start.wait(DEADLINE)
        return encoder.embeddings(TEXTS)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(use, range(8), timeout=DEADLINE))
    for one in found:
        assert all(a is b for a, b in zip(one, found[0], strict=True))
    for tokens, expected in zip(found[0], alone, strict=True):
        assert tokens.vectors == pytest.approx(expected.vectors, abs=1e-5)


def test_equal_encoders_are_one(tmp_path: Path) -> None:
    saved(tmp_path)
    named = shared_token_encoder(tmp_path, num_layers=2)
    assert shared_token_encoder(str(tmp_path), num_layers=2) is named
    assert shared_token_encoder(TransformerTokenEncoder(tmp_path, num_layers=2)) is named
    assert shared_token_encoder(tmp_path, num_layers=1) is not named
    mine = Letters()
    kept = shared_token_encoder(mine)
    assert shared_token_encoder(mine) is kept
    assert shared_token_encoder(Letters()) is not kept


def test_an_encoder_without_a_hash_is_known_by_identity() -> None:
    class Unhashable(Letters):
        __hash__ = None  # type: ignore[assignment]  # how Python marks it

    mine, other = Unhashable(), Unhashable()
    kept = shared_token_encoder(mine)
    assert shared_token_encoder(mine) is kept
    assert shared_token_encoder(other) is not kept


@pytest.mark.parametrize(
    ("encoder", "arguments", "said"),
    [
        (Letters, {}, "encoder must be a model name, a folder, or an object"),
        (object(), {}, "encoder must be"),
        (None, {}, "encoder must be"),
        (Letters(), {"num_layers": 2}, "num_layers and device are for a name or folder"),
        (Letters(), {"device": "cpu"}, "num_layers and device are for a name or folder"),
    ],
)
def test_what_is_no_encoder_is_refused(encoder: Any, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        shared_token_encoder(encoder, **arguments)


def answer(vectors: Any, counted: Any) -> TokenEmbeddings:
    return TokenEmbeddings(vectors, counted)


ONES = np.ones((2, 3), dtype=np.float32)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([], "returned 0 sets of token embeddings for 1 texts"),
        ([answer(ONES[0], np.ones(3, bool))], r"of shape \(3,\) with a mask of shape \(3,\)"),
        ([answer(ONES, np.ones(3, bool))], r"of shape \(2, 3\) with a mask of shape \(3,\)"),
        ([answer(ONES * np.nan, np.ones(2, bool))], "an embedding that is not finite"),
        ([answer("text", np.ones(2, bool))], "failed: ValueError"),
        ([ONES], "failed: AttributeError"),
        (ModelError("out of ideas"), "^out of ideas"),
        (MemoryError("too much"), "^the token encoder Fixed failed: MemoryError: too much"),
    ],
)
def test_what_an_encoder_does_wrong_fails_the_item(answers: Any, said: str) -> None:
    class Fixed:
        def encode(self, texts: Sequence[str]) -> Any:
            if isinstance(answers, Exception):
                raise answers
            return answers

    assert isinstance(Fixed(), TokenEncoder)
    with pytest.raises(ModelError, match=said):
        SharedTokenEncoder(Fixed()).embeddings(["a"])


def test_embeddings_have_one_width() -> None:
    class Growing:
        def encode(self, texts: Sequence[str]) -> list[TokenEmbeddings]:
            return [answer(np.ones((len(text) % 4, len(text))), np.ones(len(text) % 4)) for text in texts]

    shared = SharedTokenEncoder(Growing())
    empty, two = shared.embeddings(["four", "to"])  # what has no token fits every width
    assert (empty.vectors.shape, two.vectors.shape) == ((0, 4), (2, 2))
    assert two.vectors.dtype == np.float32
    assert two.counted.dtype == bool
    with pytest.raises(ModelError, match="returned embeddings of 3 dimensions, before 2"):
        shared.embeddings(["one"])


def test_half_a_character_is_nobodys_text() -> None:
    with pytest.raises(ModelError, match="half of a surrogate pair at character 3"):
        SharedTokenEncoder(Letters()).embeddings(["bad\ud800"])
    with pytest.raises(TypeError, match="not one text"):
        SharedTokenEncoder(Letters()).embeddings("text")
