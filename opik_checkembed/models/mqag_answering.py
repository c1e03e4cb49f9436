"""Answers to multiple-choice questions, and whether a passage answers at all, by models in this process.

Both models are Longformers that SelfCheckGPT's authors trained; any multiple-choice model, and any classifier with one
label, will do in their place.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from opik_checkembed.errors import ModelError, ModelUnavailable
from opik_checkembed.models.inputs import batches, token_limit
from opik_checkembed.models.local_model import check_device, locate, resolve_device, shared_local_model
from opik_checkembed.models.mqag import Answerable, Choice, Chosen, Openly, load_announced

ANSWERING_MODEL = "potsawee/longformer-large-4096-answering-race"
"""Answers multiple-choice questions; SelfCheckGPT's and MQAG's default."""

ANSWERABILITY_MODEL = "potsawee/longformer-large-4096-answerable-squad2"
"""Says whether a passage answers a question; SelfCheckGPT's default."""

# A first text, and a second where the model reads pairs.
Row = tuple[str, str | None]
Kind = Literal["multiple choice", "answerability"]

# Tokens of a batch, padding included. On a CPU larger ones gain nothing.
_CPU_BATCH_TOKENS, _GPU_BATCH_TOKENS = 4096, 65536
# Rows that are tokens at the same time; a row of 300 tokens takes 10 KB then.
_TOKENISED = 256
# Tokens that may be added where a window meets the question.
_SEAM = 4


class _Reader:
    """What the two readers share."""

    what: str
    default: str
    kind: Kind

    def __init__(self, model: str | PathLike[str] | None = None, *, device: str | None = None) -> None:
        check_device(device)
        self.source = locate(self.default if model is None else model, f"an {self.what}", self.default)
        self.device = device
        self._local = shared_local_model(
            (self.kind, self.source, device), partial(_load, self.source, device, self.kind, self.what)
        )

    def release(self) -> None:
        """Let go of the model's memory; the next use loads it again."""
        self._local.release()

    @property
    def _identity(self) -> Hashable:
        return type(self), self.source, self.device

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Reader) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source!r})"


class MultipleChoiceAnswerer(_Reader):
    """An `Answerer` by a multiple-choice model of transformers.

    Each option is read behind `passage <s> question`, and the logits of a question's options become probabilities. A
    passage that does not fit is read in overlapping windows, and an option counts by the window that speaks for it most
    (the maximum of its logits).

    Args:
        model: A name on the Hugging Face hub or a folder; None for `ANSWERING_MODEL`.
        device: Where to run (`cpu`, `cuda:1`, `mps`); None takes a GPU where there is one.

    Raises:
        ConfigurationError: An argument cannot work.
    """

    what = "answering model"
    default = ANSWERING_MODEL
    kind = "multiple choice"

    def answer(self, choices: Sequence[Choice]) -> list[Chosen]:
        """See `Answerer`.

        Raises:
            ModelUnavailable: The model cannot be loaded.
            ModelError: A question leaves no room for a passage.
        """
        with self._local.lock:
            loaded = self._local.model()

            def rows(choice: Choice, passage: str) -> list[Row]:
                first = f"{loaded.plain(passage)} {loaded.start} {loaded.plain(choice.question)}"
                return [(first, loaded.plain(option)) for option in choice.options]

            found = loaded.read(choices, rows)
        return [Chosen(tuple(_softmax(logits)), windows) for logits, windows in found]


class AnswerabilityClassifier(_Reader):
    """An `AnswerabilityModel` by a classifier of transformers with one label.

    It reads `question </s> passage`. A passage that does not fit is read in overlapping windows, and answers if any
    of them does (the maximum of their logits).

    Args:
        model: A name on the Hugging Face hub or a folder; None for `ANSWERABILITY_MODEL`.
        device: Where to run (`cpu`, `cuda:1`, `mps`); None takes a GPU where there is one.

    Raises:
        ConfigurationError: An argument cannot work.
    """

    what = "answerability model"
    default = ANSWERABILITY_MODEL
    kind = "answerability"

    def answerable(self, asked: Sequence[Openly]) -> list[Answerable]:
        """See `AnswerabilityModel`.

        Raises:
            ModelUnavailable: The model cannot be loaded, or is no classifier with one label.
            ModelError: A question leaves no room for a passage.
        """
        with self._local.lock:
            loaded = self._local.model()

            def rows(one: Openly, passage: str) -> list[Row]:
                return [(f"{loaded.plain(one.question)} {loaded.separator} {loaded.plain(passage)}", None)]

            found = loaded.read(asked, rows)
        return [Answerable(float(_sigmoid(logits[0])), windows) for logits, windows in found]


def _softmax(logits: NDArray[np.float64]) -> list[float]:
    raised = np.exp(logits - logits.max())
    probabilities: list[float] = (raised / raised.sum()).tolist()
    return probabilities


def _sigmoid(logit: float) -> float:
    return float(1 / (1 + np.exp(-logit))) if logit >= 0 else float(np.exp(logit) / (1 + np.exp(logit)))


# --- the loaded model ---------------------------------------------------------------------------------------


def _load(source: str, device: str | None, kind: Kind, what: str) -> _Loaded:
    ways = f"Two ways to give an {what}: a folder that save_pretrained() wrote, or an object of your own"
    return load_announced(partial(_loaded, source, device, kind, ways), source, what, ways)


def _loaded(source: str, device: str | None, kind: Kind, ways: str) -> _Loaded:
    from transformers import AutoModelForMultipleChoice, AutoModelForSequenceClassification, AutoTokenizer

    from opik_checkembed.models.longformer import attend_densely, is_longformer

    where = resolve_device(device)
    tokenizer: Any = AutoTokenizer.from_pretrained(source)
    loader: Any = AutoModelForMultipleChoice if kind == "multiple choice" else AutoModelForSequenceClassification
    model, info = loader.from_pretrained(source, output_loading_info=True)
    if info["missing_keys"]:
        # They are random numbers now, and so would be the answers.
        missing = ", ".join(sorted(info["missing_keys"])[:3])
        raise ModelUnavailable(f"{source!r} is no trained {kind} model: it lacks the weights {missing}. {ways}")
    if kind == "answerability" and model.config.num_labels != 1:
        raise ModelUnavailable(
            f"{source!r} has {model.config.num_labels} labels, and an answerability model has one, whose sigmoid is "
            f"the probability. {ways}"
        )
    if is_longformer(model):
        attend_densely(model)
    return _Loaded(model.float().eval().to(where), tokenizer, kind)


class _Loaded:
    """A model in memory. Used under its lock: a tokenizer keeps its padding as state."""

    def __init__(self, model: Any, tokenizer: Any, kind: Kind) -> None:
        self.model = model
        self.start: str = tokenizer.bos_token or tokenizer.cls_token or ""
        self.separator: str = tokenizer.sep_token or ""
        self._tokenizer = tokenizer
        self._kind = kind
        self._global = model.config.model_type == "longformer"
        self._limit = token_limit(model, tokenizer) or sys.maxsize
        special = {tokenizer.bos_token, tokenizer.eos_token, tokenizer.sep_token, tokenizer.cls_token}
        special |= {tokenizer.pad_token}
        self._special = re.compile("|".join(re.escape(token) for token in sorted(special - {None, ""})) or r"(?!)")

    def plain(self, text: str) -> str:
        """The text with what would be read as a special token broken apart: `<s>` is a tag of HTML, too."""
        return self._special.sub(lambda token: f"{token[0][0]} {token[0][1:]}", text)

    def read(
        self, asked: Sequence[Any], rows: Callable[[Any, str], list[Row]]
    ) -> list[tuple[NDArray[np.float64], int]]:
        """The logits of each one's rows, maxima over the windows of its passage; and how many windows there were.

        Args:
            asked: Each with a `passage`.
            rows: What to read for one of them and a window of its passage.
        """
        wanted = [[rows(one, window) for window in self._windows(one, rows)] for one in asked]
        distinct = list(dict.fromkeys(row for windows in wanted for window in windows for row in window))
        logits = dict(zip(distinct, self._logits(distinct).tolist(), strict=True))
        return [
            (np.array([[logits[row] for row in window] for window in windows]).max(axis=0), len(windows))
            for windows in wanted
        ]

    def _windows(self, one: Any, rows: Callable[[Any, str], list[Row]]) -> list[str]:
        # No tokenizer makes more tokens than there are bytes, special ones aside.
        if all(_bytes(row) + 16 <= self._limit for row in rows(one, one.passage)):
            return [one.passage]
        if max(map(len, self._ids(rows(one, one.passage))["input_ids"])) <= self._limit:
            return [one.passage]
        from opik_checkembed.text import windows  # its patterns take a while to compile

        room = self._limit - _SEAM - max(map(len, self._ids(rows(one, ""))["input_ids"]))

        def count(texts: Sequence[str]) -> list[int]:
            encoded = self._tokenizer([self.plain(text) for text in texts], add_special_tokens=False, verbose=False)
            return [len(ids) for ids in encoded["input_ids"]]

        try:
            return [span.of(one.passage) for span in windows(one.passage, count, room)] or [""]
        except ValueError as error:
            raise ModelError(f"a question leaves no room for the passage to answer it from: {error}") from error

    def _ids(self, rows: Sequence[Row]) -> Any:
        firsts = [first for first, _ in rows]
        seconds = [second for _, second in rows if second is not None]
        return self._tokenizer(firsts, seconds or None, return_attention_mask=False, verbose=False)

    def _logits(self, rows: Sequence[Row]) -> NDArray[np.float64]:
        import torch

        device = self.model.device
        budget = _CPU_BATCH_TOKENS if device.type == "cpu" else _GPU_BATCH_TOKENS
        found = np.empty(len(rows))
        # By length, so that what is made tokens together can be a batch together.
        order = sorted(range(len(rows)), key=lambda place: -_bytes(rows[place]))
        with torch.inference_mode():
            for start in range(0, len(order), _TOKENISED):
                places = order[start : start + _TOKENISED]
                encoded = self._ids([rows[place] for place in places])
                for batch in batches([len(ids) for ids in encoded["input_ids"]], budget):
                    inputs = {
                        name: self._padded([values[place] for place in batch], name).to(device)
                        for name, values in encoded.items()
                    }
                    lengths = torch.tensor([[len(encoded["input_ids"][place])] for place in batch], device=device)
                    found[[places[place] for place in batch]] = self._forward(inputs, lengths)
        return found

    def _padded(self, rows: Sequence[Sequence[int]], name: str) -> Any:
        import torch

        longest = max(map(len, rows))
        # An even number, which is all that a Longformer asks for here.
        padded = torch.full(
            (len(rows), longest + longest % 2), self._tokenizer.pad_token_id if name == "input_ids" else 0
        )
        for place, row in enumerate(rows):
            padded[place, : len(row)] = torch.tensor(row)
        return padded

    def _forward(self, inputs: dict[str, Any], lengths: Any) -> NDArray[np.float64]:
        import torch

        ids = inputs["input_ids"]
        place = torch.arange(ids.shape[1], device=ids.device)[None, :]
        inputs["attention_mask"] = (place < lengths).long()
        if self._global:
            inputs["global_attention_mask"] = self._attends_globally(ids, place).long() * inputs["attention_mask"]
        if self._kind == "multiple choice":
            # Every option alone: the model scores them one by one, and here they may be of different questions.
            inputs = {name: values[:, None] for name, values in inputs.items()}
        logits: NDArray[np.float64] = self.model(**inputs).logits[:, 0].double().cpu().numpy()
        return logits

    def _attends_globally(self, ids: Any, place: Any) -> Any:
        """What transformers lets attend to all tokens: the first, or with options all behind the two separators."""
        if self._kind == "answerability":
            return (place == 0).expand_as(ids)
        ends = (ids == self._tokenizer.sep_token_id).int().argmax(dim=1, keepdim=True)
        return place > ends + 1


def _bytes(row: Row) -> int:
    return len(row[0].encode()) + len((row[1] or "").encode())
