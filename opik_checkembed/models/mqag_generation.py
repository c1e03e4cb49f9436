"""Questions and distractors by sequence-to-sequence models in this process.

Both models are T5s that MQAG's authors trained: one writes `question <sep> answer` about a text, the other
`distractor <sep> distractor <sep> distractor` for `question <sep> answer <sep> text`. Any other sequence-to-sequence
model with a separator token that was trained to do so will do.

Sampling draws on nothing but its own seed: each row of a batch has a stream of random numbers that depends on the
seed and on what it is asked alone. So the same text gives the same questions whatever else is in the batch, whichever
thread comes first, and whatever state torch's generators are in.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Hashable, Sequence
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from opik_checkembed.errors import ConfigurationError, ModelError, ModelUnavailable
from opik_checkembed.models.inputs import batches
from opik_checkembed.models.local_model import check_device, locate, resolve_device, shared_local_model
from opik_checkembed.models.mqag import Distractors, Draw, Drawn, Stem, load_announced

if TYPE_CHECKING:
    import torch

SENTENCE_QUESTION_MODEL = "potsawee/t5-large-generation-squad-QuestionAnswer"
"""Makes questions about a sentence; SelfCheckGPT's default."""

PASSAGE_QUESTION_MODEL = "potsawee/t5-large-generation-race-QuestionAnswer"
"""Makes questions about a passage; MQAG's default."""

DISTRACTOR_MODEL = "potsawee/t5-large-generation-race-Distractor"
"""Makes wrong answers to a question."""

# As in the reference.
_NEW_TOKENS = 128
# Rows of a batch times tokens read and written. For T5-large each takes 0.2 MB while the batch is being written.
_CPU_BATCH_TOKENS, _GPU_BATCH_TOKENS = 4096, 32768
_SENTINEL = re.compile(r"<extra_id_\d+>")
_WORD = re.compile(r"\w+")


class _Seq2Seq:
    """What the two generators share.

    Args:
        model: A name on the Hugging Face hub or a folder.
        device: Where to run (`cpu`, `cuda:1`, `mps`); None takes a GPU where there is one.
        seed: Another seed draws other questions.
        max_tokens: Longer texts are read in windows on sentence borders.

    Raises:
        ConfigurationError: An argument cannot work.
    """

    what: str
    default: str

    def __init__(
        self,
        model: str | PathLike[str] | None = None,
        *,
        device: str | None = None,
        seed: int = 0,
        max_tokens: int = 1024,
    ) -> None:
        check_device(device)
        for name, value, least in (("seed", seed, 0), ("max_tokens", max_tokens, 16)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ConfigurationError(f"{name} must be a whole number of at least {least}, not {value!r}")
        self.source = locate(self.default if model is None else model, f"a {self.what}", self.default)
        self.device = device
        self.seed = seed
        self.max_tokens = max_tokens
        self._local = shared_local_model(
            ("sequence to sequence", self.source, device), partial(_load, self.source, device, self.what)
        )

    def release(self) -> None:
        """Let go of the model's memory; the next use loads it again."""
        self._local.release()

    @property
    def _identity(self) -> Hashable:
        return type(self), self.source, self.device, self.seed, self.max_tokens

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Seq2Seq) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source!r}, seed={self.seed})"


class Seq2SeqQuestionGenerator(_Seq2Seq):
    """A `QuestionGenerator` that samples `question <sep> answer`.

    An attempt whose text does not hold exactly one separator between two texts gives no question. A text longer than
    `max_tokens` is read in windows: its attempts go through them in turn.

    Args:
        model: A name on the Hugging Face hub or a folder; None for `SENTENCE_QUESTION_MODEL`.
        device: Where to run (`cpu`, `cuda:1`, `mps`); None takes a GPU where there is one.
        seed: Another seed draws other questions.
        max_tokens: The longest text that is read at once.

    Raises:
        ConfigurationError: An argument cannot work.
    """

    what = "question generator"
    default = SENTENCE_QUESTION_MODEL

    def questions(self, draws: Sequence[Draw]) -> list[Drawn]:
        """See `QuestionGenerator`.

        Raises:
            ModelUnavailable: The model cannot be loaded.
        """
        with self._local.lock:
            loaded = self._local.model()
            texts = list(dict.fromkeys(draw.text for draw in draws))
            counts = loaded.count(texts)
            read = {text: loaded.windows(text, n, self.max_tokens) for text, n in zip(texts, counts, strict=True)}
            prompts = [read[draw.text][draw.number % len(read[draw.text])] for draw in draws]
            written = loaded.write(prompts, [_seed(self.seed, draw.text, str(draw.number)) for draw in draws])
        found = []
        for draw, pieces in zip(draws, written, strict=True):
            windows = len(read[draw.text])
            question, answer = pieces if len(pieces) == 2 else ("", "")
            found.append(Drawn(question, answer, draw.number % windows, windows))
        return found


class Seq2SeqDistractorGenerator(_Seq2Seq):
    """A `DistractorGenerator` that samples `distractor <sep> distractor <sep> distractor`.

    Where the context does not fit into `max_tokens` beside the question, the window of it that shares the most words
    with question and answer is read.

    Args:
        model: A name on the Hugging Face hub or a folder; None for `DISTRACTOR_MODEL`.
        device: Where to run (`cpu`, `cuda:1`, `mps`); None takes a GPU where there is one.
        seed: Another seed draws other distractors.
        max_tokens: The longest input that is read at once.

    Raises:
        ConfigurationError: An argument cannot work.
    """

    what = "distractor generator"
    default = DISTRACTOR_MODEL

    def distractors(self, stems: Sequence[Stem]) -> list[Distractors]:
        """See `DistractorGenerator`.

        Raises:
            ModelUnavailable: The model cannot be loaded.
            ModelError: A question leaves no room for a context.
        """
        with self._local.lock:
            loaded = self._local.model()
            contexts = list(dict.fromkeys(stem.context for stem in stems))
            counts = dict(zip(contexts, loaded.count(contexts), strict=True))
            fronts = [loaded.joined(stem.question, stem.answer, "") for stem in stems]
            read: dict[tuple[str, int], list[str]] = {}
            prompts = []
            windows = []
            for stem, front, count in zip(stems, fronts, loaded.count(fronts), strict=True):
                key = stem.context, self.max_tokens - count
                if key not in read:
                    read[key] = loaded.windows(stem.context, counts[stem.context], key[1])
                prompts.append(f"{front} {_nearest(read[key], f'{stem.question} {stem.answer}')}")
                windows.append(len(read[key]))
            written = loaded.write(prompts, [_seed(self.seed, *stem) for stem in stems])
        return [Distractors(tuple(pieces), count) for pieces, count in zip(written, windows, strict=True)]


def _seed(*parts: object) -> int:
    """A number of 128 bits that these texts and nothing else decide."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=16).digest())


def _nearest(windows: Sequence[str], asked: str) -> str:
    words = set(_WORD.findall(asked.lower()))
    return max(windows, key=lambda window: len(words & set(_WORD.findall(window.lower()))))


# --- the loaded model ---------------------------------------------------------------------------------------


def _load(source: str, device: str | None, what: str) -> _Loaded:
    ways = f"Two ways to give a {what}: a folder that save_pretrained() wrote, or an object of your own"
    return load_announced(partial(_loaded, source, device, ways), source, what, ways)


def _loaded(source: str, device: str | None, ways: str) -> _Loaded:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    where = resolve_device(device)
    tokenizer: Any = AutoTokenizer.from_pretrained(source)
    if tokenizer.sep_token_id is None:
        raise ModelUnavailable(
            f"the tokenizer of {source!r} has no separator token, so the model cannot write question <sep> answer. "
            f"{ways}"
        )
    found: Any = AutoModelForSeq2SeqLM.from_pretrained(source, output_loading_info=True)
    model, info = found
    if info["missing_keys"]:
        # They are random numbers now, and so would be the questions.
        missing = ", ".join(sorted(info["missing_keys"])[:3])
        raise ModelUnavailable(f"{source!r} is not a trained generator: it lacks the weights {missing}. {ways}")
    return _Loaded(model.float().eval().to(where), tokenizer)


class _Warping(NamedTuple):
    """How a model's distribution over the next token is narrowed, as its own configuration has it."""

    temperature: float
    top_k: int
    top_p: float


class _Loaded:
    """A model in memory. Used under its lock: a tokenizer keeps its padding as state."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model = model
        self._tokenizer = tokenizer
        config = model.generation_config
        # What transformers' own sampling takes where nothing is configured.
        self._warping = _Warping(
            1.0 if config.temperature is None else float(config.temperature),
            50 if config.top_k is None else int(config.top_k),
            1.0 if config.top_p is None else float(config.top_p),
        )
        config.do_sample = False
        config.num_beams = 1
        config.temperature = config.top_k = config.top_p = None
        vocabulary: dict[str, int] = tokenizer.get_vocab()
        sentinels = {token: id_ for token, id_ in vocabulary.items() if _SENTINEL.fullmatch(token)}
        self._separators = {tokenizer.sep_token_id, *sentinels.values()}
        self._silent = {tokenizer.pad_token_id, tokenizer.eos_token_id, model.config.decoder_start_token_id}
        special = {tokenizer.pad_token, tokenizer.eos_token, tokenizer.sep_token, *sentinels} - {None, ""}
        self._special = re.compile("|".join(re.escape(token) for token in sorted(special)))

    def joined(self, *texts: str) -> str:
        """Texts with separators between them."""
        return f" {self._tokenizer.sep_token} ".join(map(self._plain, texts)).strip()

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special ones included."""
        return [len(ids) for ids in self._ids(texts)]

    def windows(self, text: str, count: int, limit: int) -> list[str]:
        """The windows of a text of `count` tokens, of at most `limit` each; one, the whole, where it fits."""
        plain = self._plain(text)
        if count <= limit:
            return [plain]
        from opik_checkembed.text import windows  # its patterns take a while to compile

        try:
            return [span.of(plain) for span in windows(plain, self.count, limit)] or [plain]
        except ValueError as error:
            raise ModelError(f"a question leaves no room for the text it is about: {error}") from error

    def write(self, prompts: Sequence[str], seeds: Sequence[int]) -> list[list[str]]:
        """For each prompt what the model writes, cut at separators."""
        import torch

        written: list[list[str]] = [[] for _ in prompts]
        ids = self._ids(prompts)
        budget = _CPU_BATCH_TOKENS if self.model.device.type == "cpu" else _GPU_BATCH_TOKENS
        with torch.inference_mode():
            for batch in batches([len(row) + _NEW_TOKENS for row in ids], budget):
                rows = self._sampled([ids[place] for place in batch], [seeds[place] for place in batch])
                for place, row in zip(batch, rows, strict=True):
                    written[place] = self._pieces(row)
        return written

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        encoded = self._tokenizer(list(texts), return_attention_mask=False, verbose=False)
        ids: list[list[int]] = encoded["input_ids"]
        return ids

    def _plain(self, text: str) -> str:
        """The text with what would be read as a special token broken apart."""
        return self._special.sub(lambda token: f"{token[0][0]} {token[0][1:]}", text)

    def _sampled(self, rows: Sequence[Sequence[int]], seeds: Sequence[int]) -> list[list[int]]:
        import torch
        from torch.nn.utils.rnn import pad_sequence
        from transformers.modeling_outputs import BaseModelOutput

        device = self.model.device
        distinct = list(dict.fromkeys(map(tuple, rows)))
        ids = pad_sequence([torch.tensor(row) for row in distinct], True, self._tokenizer.pad_token_id).to(device)
        ends = torch.tensor([[len(row)] for row in distinct])
        mask = (torch.arange(ids.shape[1])[None, :] < ends).long().to(device)
        # Several questions are asked about one text, which is encoded once.
        states = self.model.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state
        place = {row: index for index, row in enumerate(distinct)}
        of_row = torch.tensor([place[tuple(row)] for row in rows], device=device)
        uniform = np.stack([np.random.default_rng(seed).random(_NEW_TOKENS) for seed in seeds])
        generated = self.model.generate(
            encoder_outputs=BaseModelOutput(last_hidden_state=states[of_row]),
            attention_mask=mask[of_row],
            max_new_tokens=_NEW_TOKENS,
            logits_processor=[_Sampler(uniform, self._warping)],
        )
        sampled: list[list[int]] = generated.tolist()
        return sampled

    def _pieces(self, ids: Sequence[int]) -> list[str]:
        pieces: list[list[int]] = [[]]
        for id_ in ids:
            if id_ in self._separators:
                pieces.append([])
            elif id_ not in self._silent:
                pieces[-1].append(id_)
        return [str(self._tokenizer.decode(piece)).strip() for piece in pieces]


class _Sampler:
    """A logits processor that leaves one token to choose: the one that the row's own random number picks."""

    def __init__(self, uniform: NDArray[np.float64], warping: _Warping) -> None:
        self._uniform = uniform
        self._warping = warping
        self._step = 0

    def __call__(self, _: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        import torch

        temperature, top_k, top_p = self._warping
        count = min(top_k, scores.shape[-1]) if top_k > 0 else scores.shape[-1]
        best, tokens = (scores.float() / temperature).topk(count, dim=-1)
        upto = best.softmax(dim=-1).cumsum(dim=-1)
        # The tokens that it takes to reach `top_p`, and the last of them is in.
        kept = (
            (upto[:, :-1] < top_p).sum(dim=-1, keepdim=True) if top_p < 1 else torch.full_like(tokens[:, :1], count - 1)
        )
        drawn = torch.tensor(self._uniform[:, self._step], dtype=upto.dtype, device=upto.device)[:, None]
        picked = torch.minimum((upto < drawn * upto.gather(1, kept)).sum(dim=-1, keepdim=True), kept)
        self._step += 1
        return torch.full_like(scores, float("-inf")).scatter(1, tokens.gather(1, picked), 0.0)
