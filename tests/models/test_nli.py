"""The local NLI model on tiny random classifiers, and the one shared across threads."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from opik_checkembed.errors import ConfigurationError, ItemError, ModelError, ModelUnavailable
from opik_checkembed.functional.nli import NLIProbabilities
from opik_checkembed.models import nli
from opik_checkembed.models.nli import (
    DEFAULT_NLI_MODEL,
    CountsTokens,
    NLIModel,
    Pair,
    SharedNLI,
    TransformerNLI,
    shared_nli,
)

# Hardly typed, and so not worth a cast at every call.
transformers: Any = importlib.import_module("transformers")

DEADLINE = 60.0
TOLERANCE = 1e-5
"""Of probabilities by batches of other lengths: processors round floats of 32 bits otherwise, one by 1.2e-6."""
TEXT = "the tower of paris was built in 1889 by gustave eiffel and it is made iron stone not wood he lived there ."
PAIRS = [
    ("the tower is made of iron .", "it was built in paris . it is made of stone ."),
    ("gustave eiffel lived there .", "the tower was not built by eiffel ."),
    ("it is iron", "it is wood"),
    ("it is wood", "it is iron"),
    ("he lived in paris .", "he lived in paris ."),
]
THREE = ["contradiction", "entailment", "neutral"]
POSITIONS = 40


def tokenizer(**options: Any) -> Any:
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *TEXT.split()]
    fast = Tokenizer(models.WordPiece({token: i for i, token in enumerate(tokens)}, unk_token="[UNK]"))
    fast.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    fast.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=fast, **{**special, **options})


def bert(cls: str = "BertForSequenceClassification", names: Sequence[str] = THREE, **options: Any) -> Any:
    torch.manual_seed(5)
    config = transformers.BertConfig(
        vocab_size=40,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=POSITIONS,
        initializer_range=0.8,
        id2label=dict(enumerate(names)),
        label2id={name: i for i, name in enumerate(names)},
        **options,
    )
    return getattr(transformers, cls)(config).eval()


def saved(folder: Path, model: Any, changes: Callable[[dict[str, Any]], object] = lambda _: None) -> Path:
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    file = folder / "config.json"
    config = json.loads(file.read_text())
    changes(config)
    file.write_text(json.dumps(config))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("nli") / "three", bert())


def expected(pairs: Sequence[Pair], names: Sequence[str] = THREE) -> NDArray[np.float64]:
    """What transformers says of one pair after the other."""
    model, tokens = bert(names=names), tokenizer()
    with torch.inference_mode():
        logits = [model(**tokens(*pair, return_tensors="pt")).logits[0] for pair in pairs]
    return torch.softmax(torch.stack(logits), dim=-1).double().numpy()


def column(values: NDArray[np.float64] | None) -> NDArray[np.float64]:
    assert values is not None
    return values


class Overlap:
    """Entailed by the share of common words; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[Pair]] = []

    def probabilities(self, pairs: Sequence[Pair]) -> NLIProbabilities:
        self.asked.append(list(pairs))
        shares = [len({*a.split()} & {*b.split()}) / max(len({*a.split()} | {*b.split()}), 1) for a, b in pairs]
        return NLIProbabilities(entailment=np.array(shares), contradiction=1 - np.array(shares))


class Answers:
    """Says what it is told to say."""

    def __init__(self, answer: Callable[[int], Any]) -> None:
        self._answer = answer

    def probabilities(self, pairs: Sequence[Pair]) -> NLIProbabilities:
        answer: NLIProbabilities = self._answer(len(pairs))
        return answer


# --- the local model ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_tokens", [None, 1, 50, 100_000])
def test_probabilities_are_those_of_transformers(folder: Path, batch_tokens: int | None) -> None:
    found = TransformerNLI(folder, device="cpu", batch_tokens=batch_tokens).probabilities(PAIRS)
    by_hand = expected(PAIRS)
    for place, values in enumerate((found.contradiction, found.entailment, found.neutral)):
        np.testing.assert_allclose(column(values), by_hand[:, place], atol=TOLERANCE)
    assert by_hand.std(axis=0).min() > 0.01  # the pairs do differ


def test_the_order_of_a_pair_is_kept(folder: Path) -> None:
    found = column(TransformerNLI(folder, device="cpu").probabilities(PAIRS).contradiction)
    assert abs(found[2] - found[3]) > 1e-3


def test_many_pairs_are_tokenised_in_portions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nli, "_TOKENISED", 2)
    found = TransformerNLI(folder, device="cpu").probabilities(PAIRS)
    np.testing.assert_allclose(column(found.entailment), expected(PAIRS)[:, 1], atol=TOLERANCE)


def test_a_model_of_two_labels(tmp_path: Path) -> None:
    names = ["no_contradiction", "contradiction"]
    found = TransformerNLI(saved(tmp_path, bert(names=names)), device="cpu").probabilities(PAIRS)
    assert found.entailment is None
    np.testing.assert_allclose(found.inconsistency(), expected(PAIRS, names)[:, 1], atol=TOLERANCE)


def test_labels_without_names_have_to_be_mapped(tmp_path: Path) -> None:
    names = ["LABEL_0", "LABEL_1", "LABEL_2"]
    saved(tmp_path, bert(names=names))
    with pytest.raises(ConfigurationError, match=r'LABEL_2.*labels=\{"contradiction": 0, "entailment": 2\}'):
        TransformerNLI(tmp_path)
    with pytest.raises(ConfigurationError, match="a classifier with 3 outputs does not have"):
        TransformerNLI(tmp_path, labels={"contradiction": 3})
    mapped = TransformerNLI(tmp_path, labels={"contradiction": 0, "entailment": 2}, device="cpu")
    by_hand = expected(PAIRS, names)
    np.testing.assert_allclose(
        mapped.probabilities(PAIRS).inconsistency(), by_hand[:, 0] / (by_hand[:, 0] + by_hand[:, 2]), atol=TOLERANCE
    )


def test_a_configuration_that_names_no_labels(tmp_path: Path) -> None:
    saved(tmp_path, bert(names=["LABEL_0", "LABEL_1"]), lambda config: config.pop("id2label", None))
    with pytest.raises(ConfigurationError, match=r"\['LABEL_0', 'LABEL_1'\] do not say"):
        TransformerNLI(tmp_path)


@pytest.mark.parametrize("labels", [{}, {"no": 1}, ["contradiction"], {"contradiction": 1.0}])
def test_labels_that_are_no_mapping(folder: Path, labels: Any) -> None:
    with pytest.raises(ConfigurationError, match='labels must map "contradiction"'):
        TransformerNLI(folder, labels=labels)


def test_a_folder_that_holds_no_classifier(tmp_path: Path) -> None:
    saved(tmp_path, bert("BertModel"))
    with pytest.raises(ConfigurationError, match="holds BertModel, which is not a classifier"):
        TransformerNLI(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", '{"id2label": {"first": "entailment"}}', '{"id2label": 3}'])
def test_a_folder_with_a_broken_configuration(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ConfigurationError, match=r"config\.json is no configuration of a model"):
        TransformerNLI(tmp_path)


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no folder"):
        TransformerNLI(tmp_path / "missing")


def test_weights_that_are_missing_are_not_made_up(tmp_path: Path) -> None:
    saved(tmp_path, bert("BertModel"), lambda config: config.pop("architectures"))
    with pytest.raises(ModelUnavailable, match="not a trained classifier: it lacks the weights classifier"):
        TransformerNLI(tmp_path, device="cpu").probabilities(PAIRS)


def test_a_name_that_cannot_be_had() -> None:
    model = TransformerNLI("no-such-organisation/no-such-model", device="cpu")
    with pytest.raises(ModelUnavailable, match=r"was not found.*Three ways to give one"):
        model.probabilities(PAIRS)


def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, **options: Any) -> TransformerNLI:
    """A model of which only its name is known at construction, as of one on the hub."""
    monkeypatch.chdir(tmp_path)
    return TransformerNLI(name, device="cpu", **options)


def test_labels_of_a_hub_model_are_told_once_it_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = named(tmp_path, monkeypatch, "hub/unknown-labels")
    saved(tmp_path / "hub" / "unknown-labels", bert(names=["LABEL_0", "LABEL_1", "LABEL_2"]))
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match=r"LABEL_2.*map them"):
            model.probabilities(PAIRS)


def test_a_hub_model_that_is_no_classifier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = named(tmp_path, monkeypatch, "hub/encoder")
    saved(tmp_path / "hub" / "encoder", bert("BertModel"))
    with pytest.raises(ModelUnavailable, match="'hub/encoder' is BertModel, which is not a classifier"):
        model.probabilities(PAIRS)


def test_the_labels_of_the_papers_model_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = named(tmp_path, monkeypatch, DEFAULT_NLI_MODEL)
    assert model.source == TransformerNLI().source == DEFAULT_NLI_MODEL
    names = ["LABEL_0", "LABEL_1"]
    saved(tmp_path / DEFAULT_NLI_MODEL, bert(names=names))
    found = model.probabilities(PAIRS)
    np.testing.assert_allclose(column(found.entailment), expected(PAIRS, names)[:, 0], atol=TOLERANCE)
    np.testing.assert_allclose(column(found.contradiction), expected(PAIRS, names)[:, 1], atol=TOLERANCE)


def test_a_loaded_model_is_used_as_it_is(folder: Path) -> None:
    model, tokens = bert(), tokenizer()
    loaded = TransformerNLI(model, tokenizer=tokens)
    np.testing.assert_allclose(column(loaded.probabilities(PAIRS).entailment), expected(PAIRS)[:, 1], atol=TOLERANCE)
    assert loaded == TransformerNLI(model, tokenizer=tokens) != TransformerNLI(bert(), tokenizer=tokens)
    assert loaded != TransformerNLI(model, tokenizer=tokenizer())
    assert "loaded BertForSequenceClassification" in repr(loaded)
    for wrong, said in (
        ({}, "a loaded model needs its tokenizer"),
        ({"tokenizer": tokens, "device": "cpu"}, "device is for a model that is still to be loaded"),
        ({"tokenizer": tokens, "labels": {"contradiction": 5}}, "with 3 outputs does not have"),
    ):
        with pytest.raises(ConfigurationError, match=said):
            TransformerNLI(model, **wrong)
    with pytest.raises(ConfigurationError, match="is not a classifier of pairs"):
        TransformerNLI(bert("BertModel"), tokenizer=tokens)
    with pytest.raises(ConfigurationError, match=r"dropout is on; call model\.eval"):
        TransformerNLI(bert().train(), tokenizer=tokens)
    with pytest.raises(ConfigurationError, match="tokenizer is for a loaded model"):
        TransformerNLI(folder, tokenizer=tokens)


def test_a_loaded_deberta_is_not_changed() -> None:
    config = transformers.DebertaV2Config(
        vocab_size=40, hidden_size=8, num_hidden_layers=2, num_attention_heads=1, intermediate_size=8,
        max_position_embeddings=POSITIONS, relative_attention=True, pos_att_type=["c2p", "p2c"], pooler_hidden_size=8,
        id2label={0: "entailment", 1: "contradiction"}, label2id={"entailment": 0, "contradiction": 1},
    )  # fmt: skip
    model = transformers.DebertaV2ForSequenceClassification(config).eval()
    before = [type(module) for module in model.modules()]
    TransformerNLI(model, tokenizer=tokenizer()).probabilities(PAIRS)
    assert [type(module) for module in model.modules()] == before


def test_a_deberta_of_a_folder_gives_the_same_without_repeated_work(tmp_path: Path) -> None:
    torch.manual_seed(1)
    config = transformers.DebertaV2Config(
        vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=8,
        max_position_embeddings=POSITIONS, relative_attention=True, pos_att_type=["c2p", "p2c"], position_buckets=4,
        pooler_hidden_size=16, initializer_range=0.5, type_vocab_size=0,
        id2label={0: "entailment", 1: "contradiction"}, label2id={"entailment": 0, "contradiction": 1},
    )  # fmt: skip
    model = transformers.DebertaV2ForSequenceClassification(config).eval()
    as_it_is = TransformerNLI(model, tokenizer=tokenizer()).probabilities(PAIRS)
    from_folder = TransformerNLI(saved(tmp_path, model), device="cpu").probabilities(PAIRS)
    np.testing.assert_allclose(column(from_folder.contradiction), column(as_it_is.contradiction), atol=1e-5)


def test_a_tokenizer_without_padding_reads_one_pair_at_a_time() -> None:
    loaded = TransformerNLI(bert(), tokenizer=tokenizer(pad_token=None))
    np.testing.assert_allclose(column(loaded.probabilities(PAIRS).entailment), expected(PAIRS)[:, 1], atol=TOLERANCE)


def test_weights_in_half_precision_are_read_in_full(tmp_path: Path) -> None:
    saved(tmp_path, bert().half())
    model = TransformerNLI(tmp_path, device="cpu")
    full = TransformerNLI(bert().half().float(), tokenizer=tokenizer())
    np.testing.assert_allclose(
        column(model.probabilities(PAIRS).entailment), column(full.probabilities(PAIRS).entailment), atol=TOLERANCE
    )


@pytest.mark.parametrize("argument", [{"device": ""}, {"device": 3}, {"batch_tokens": 0}, {"batch_tokens": True}])
def test_arguments_that_cannot_work(folder: Path, argument: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(argument))):
        TransformerNLI(folder, **argument)


def test_a_device_that_does_not_exist(folder: Path) -> None:
    with pytest.raises(ModelUnavailable, match="no device 'abacus'"):
        TransformerNLI(folder, device="abacus").probabilities(PAIRS)


def test_logits_that_are_not_finite() -> None:
    model = bert()
    with torch.no_grad():
        model.classifier.bias[0] = torch.nan
    with pytest.raises(ModelError, match="not finite"):
        TransformerNLI(model, tokenizer=tokenizer()).probabilities(PAIRS)


def test_one_model_for_equal_arguments_and_its_release(folder: Path, tmp_path: Path) -> None:
    one, same = TransformerNLI(folder, device="cpu"), TransformerNLI(str(folder), device="cpu")
    assert one == same
    assert hash(one) == hash(same)
    assert one != TransformerNLI(folder, device="cpu", labels={"contradiction": 1})
    assert one != TransformerNLI(folder, device="cpu", batch_tokens=7)
    assert one != "one"
    assert repr(one) == f"TransformerNLI({str(folder.resolve())!r}, device='cpu')"
    before = column(one.probabilities(PAIRS).entailment)
    same.release()
    np.testing.assert_array_equal(column(one.probabilities(PAIRS).entailment), before)


# --- how much a model reads ---------------------------------------------------------------------------------


def test_room_is_what_special_tokens_leave(folder: Path) -> None:
    model = TransformerNLI(folder, device="cpu")
    assert isinstance(model, CountsTokens)
    assert model.room() == POSITIONS - 3
    assert model.count(["the tower is iron .", "", "unknown"]) == [5, 0, 1]
    assert model.count([]) == []
    with pytest.raises(ModelError, match=f"a pair holds {POSITIONS + 1} tokens, and the NLI model reads {POSITIONS}"):
        model.probabilities([("iron " * 19, "wood " * 19)])


def test_the_tokenizers_own_limit_counts() -> None:
    assert TransformerNLI(bert(), tokenizer=tokenizer(model_max_length=20)).room() == 17


def test_roberta_reads_fewer_tokens_than_it_has_positions() -> None:
    config = transformers.RobertaConfig(
        vocab_size=40, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8,
        max_position_embeddings=34, pad_token_id=1, id2label=dict(enumerate(THREE)), label2id={},
    )  # fmt: skip
    model = transformers.RobertaForSequenceClassification(config).eval()
    assert TransformerNLI(model, tokenizer=tokenizer()).room() == 32 - 3


def test_a_model_without_a_limit_gets_passages_whole() -> None:
    config = transformers.XLNetConfig(
        vocab_size=40, d_model=8, n_layer=1, n_head=1, d_inner=8, id2label=dict(enumerate(THREE)), label2id={}
    )
    model = TransformerNLI(transformers.XLNetForSequenceClassification(config).eval(), tokenizer=tokenizer())
    assert model.room() is None
    (reading,) = SharedNLI(model).read([("it is iron", "the tower is made of iron . " * 30)])
    assert (len(reading.pieces), len(reading.windows)) == (1, 1)


def test_long_passages_are_read_in_windows(folder: Path) -> None:
    statement = "the tower is made of iron ."
    passage = "it was built in paris . he lived there . it is made of stone . eiffel was not there . it is wood . " * 3
    shared = SharedNLI(TransformerNLI(folder, device="cpu"))
    short, long = shared.read([(statement, "it is wood ."), (statement, passage)])
    assert len(short.windows) == 1
    assert len(long.pieces) == 1
    assert len(long.windows) > 3
    texts = [window.of(passage) for window in long.windows]
    assert set(" ".join(texts).split()) == set(passage.split())
    assert long.windows[0].start == 0
    assert long.windows[-1].end == len(passage.rstrip())
    assert all(later.start <= earlier.end + 1 for earlier, later in zip(long.windows, long.windows[1:], strict=False))
    np.testing.assert_allclose(
        column(long.probabilities.entailment), expected([(statement, text) for text in texts])[:, 1], atol=TOLERANCE
    )
    (reversed_,) = shared.read([(statement, passage)], passage_first=True)
    assert reversed_.windows == long.windows
    np.testing.assert_allclose(
        column(reversed_.probabilities.entailment),
        expected([(text, statement) for text in texts])[:, 1],
        atol=TOLERANCE,
    )


def test_a_statement_that_leaves_no_room_is_read_in_pieces(folder: Path) -> None:
    statement = "the tower is made of iron . " * 5
    passage = "it was built in paris . he lived there . " * 4
    shared = SharedNLI(TransformerNLI(folder, device="cpu"))
    (reading,) = shared.read([(statement, passage)])
    assert len(reading.pieces) > 1
    assert len(reading.windows) > 1
    pairs = [(piece.of(statement), window.of(passage)) for piece in reading.pieces for window in reading.windows]
    np.testing.assert_allclose(column(reading.probabilities.entailment), expected(pairs)[:, 1], atol=TOLERANCE)


def test_statements_of_about_equal_length_share_a_passages_windows(folder: Path) -> None:
    passage = "it was built in paris . he lived there . it is wood . " * 4
    shared = SharedNLI(TransformerNLI(folder, device="cpu"))
    one, other = shared.read([("it is iron .", passage), ("the tower is not made of iron .", passage)])
    assert one.windows is other.windows
    assert len(one.windows) > 1


def test_a_pair_that_fits_is_never_cut(folder: Path) -> None:
    # 30 tokens of statement are more than half of the room, yet 37 are all of it.
    (reading,) = SharedNLI(TransformerNLI(folder, device="cpu")).read([("iron " * 30, "wood " * 7)])
    assert len(reading.probabilities) == 1


def test_a_blank_passage_beside_a_long_statement(folder: Path) -> None:
    (reading,) = SharedNLI(TransformerNLI(folder, device="cpu")).read([("iron " * 60, " ")])
    assert len(reading.windows) == 1
    assert len(reading.pieces) > 1


def test_a_model_whose_room_is_too_small_for_a_character() -> None:
    class Narrow(Overlap):
        def room(self) -> int:
            return 4

        def count(self, texts: Sequence[str]) -> list[int]:
            return [3 * len(text) for text in texts]

    with pytest.raises(ModelError, match="no window of a text fits the 4 tokens of the NLI model Narrow"):
        SharedNLI(Narrow()).read([("a", "bcd")])


# --- one for all threads ------------------------------------------------------------------------------------


def test_each_distinct_pair_is_read_once_and_kept() -> None:
    model = Overlap()
    shared = SharedNLI(model)
    pairs = [("a", "b c"), ("a b", "a b"), ("a", "b c"), ("b c", "a")]
    assert column(shared.probabilities(pairs).entailment).tolist() == [0, 1, 0, 0]
    assert model.asked == [[("a b", "a b"), ("a", "b c"), ("b c", "a")]]  # the longest first
    shared.read([("a b", "a b")])
    assert len(model.asked) == 1
    assert shared.probabilities([]).entailment is not None


def test_what_is_kept_is_bounded() -> None:
    model = Overlap()
    shared = SharedNLI(model, max_bytes=3 * nli._ROW_BYTES)
    pairs = [(str(number), "a") for number in range(5)]
    shared.probabilities(pairs)
    shared.probabilities(pairs[2:])
    assert len(model.asked) == 1
    shared.probabilities(pairs[:1])
    assert len(model.asked) == 2


def test_threads_share_the_work() -> None:
    started, go = threading.Event(), threading.Event()

    class Slow(Overlap):
        def probabilities(self, pairs: Sequence[Pair]) -> NLIProbabilities:
            started.set()
            assert go.wait(DEADLINE)
            return super().probabilities(pairs)

    model = Slow()
    shared = SharedNLI(model)
    with ThreadPoolExecutor(9) as pool:
        first = pool.submit(shared.probabilities, [("a", "a")])
        assert started.wait(DEADLINE)
        others = [pool.submit(shared.probabilities, [("a", str(i % 4)), ("b", "b")]) for i in range(8)]
        go.set()
        assert column(first.result(DEADLINE).entailment).tolist() == [1]
        for other in others:
            assert column(other.result(DEADLINE).entailment).tolist() == [0, 1]
    assert sum(map(len, model.asked)) == 6


def test_one_transformer_under_threads(folder: Path) -> None:
    shared = SharedNLI(TransformerNLI(folder, device="cpu"))
    by_hand = expected(PAIRS)[:, 1]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: shared.probabilities([PAIRS[i % 5]]), range(40), timeout=DEADLINE))
    np.testing.assert_allclose(
        [column(one.entailment)[0] for one in found], [by_hand[i % 5] for i in range(40)], atol=TOLERANCE
    )


def ones(count: int) -> NDArray[np.float64]:
    return np.ones(count)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda n: NLIProbabilities(entailment=ones(n + 1)), "no probabilities of entailment for 2 pairs"),
        (lambda n: NLIProbabilities(contradiction=1.5 * ones(n)), "no probabilities of contradiction"),
        (lambda n: NLIProbabilities(entailment=ones(n) * np.nan), "no probabilities of entailment"),
        (lambda n: NLIProbabilities(ones(n), ones(n), -ones(n)), "no probabilities of neutral"),
        (lambda n: NLIProbabilities(neutral=ones(n)), "neither entailment nor contradiction"),
        (lambda _: None, "neither entailment nor contradiction"),
        (lambda n: n / 0, r"the NLI model Answers failed: ZeroDivisionError"),
    ],
)
def test_a_users_model_that_fails_fails_the_item(answer: Callable[[int], Any], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        SharedNLI(Answers(answer)).probabilities([("a", "b"), ("c", "d")])


def test_what_a_users_model_says_of_an_item_is_passed_on() -> None:
    def refuse(count: int) -> Any:
        raise ItemError("no quota left")

    with pytest.raises(ItemError, match=r"^no quota left$"):
        SharedNLI(Answers(refuse)).probabilities([("a", "b")])


def test_half_a_surrogate_pair() -> None:
    with pytest.raises(ModelError, match="half of a surrogate pair at character 2"):
        SharedNLI(Overlap()).probabilities([("a", "ab\ud800")])


def test_the_shared_one_of_a_name_or_object(folder: Path) -> None:
    assert shared_nli(folder) is shared_nli(str(folder))
    assert shared_nli(folder) is not shared_nli(folder, labels={"contradiction": 0, "entailment": 1})
    assert isinstance(shared_nli().model, TransformerNLI)
    assert shared_nli() is shared_nli(DEFAULT_NLI_MODEL)
    own = Overlap()
    assert isinstance(own, NLIModel)
    assert shared_nli(own) is shared_nli(own)
    assert "Overlap" in repr(shared_nli(own))

    class Unhashable(Overlap):
        __hash__ = None  # type: ignore[assignment]  # what a dataclass with eq does too

    unhashable = Unhashable()
    assert shared_nli(unhashable) is shared_nli(unhashable)
    assert shared_nli(unhashable) is not shared_nli(Unhashable())


@pytest.mark.parametrize(
    ("model", "options", "said"),
    [
        (3, {}, "nli_model must be a model name"),
        (Overlap, {}, "nli_model must be a model name"),
        (Overlap(), {"labels": {"contradiction": 1}}, "labels and device are for a name or folder"),
        (Overlap(), {"device": "cpu"}, "labels and device are for a name or folder"),
    ],
)
def test_what_cannot_be_shared(model: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        shared_nli(model, **options)


def test_a_bare_loaded_model_is_told_from_its_wrapper() -> None:
    with pytest.raises(ConfigurationError, match=r"nli_model=TransformerNLI\(model, tokenizer"):
        shared_nli(bert())


def test_naming_a_model_loads_nothing_heavy() -> None:
    code = (
        "import sys; from opik_checkembed.models.nli import shared_nli; shared_nli('a/b'); "
        "heavy = {'torch', 'transformers', 'sentencex'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=DEADLINE)
