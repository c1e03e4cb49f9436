"""A prompt in a file, as a task: what the gate runs when a side is a prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opik_checkembed.errors import ConfigurationError, RequestError
from opik_checkembed.samples.request import is_connection, showable

if TYPE_CHECKING:
    from opik_checkembed.samples import Sampler

SUFFIXES = frozenset({".txt", ".md", ".json"})

_FIELD = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")
_KEYS = frozenset({"model", "messages", "parameters"})


@dataclass(frozen=True)
class Prompt:
    """A prompt with places for an item's fields, written `{{question}}` as in Opik's prompts.

    Attributes:
        messages: The conversation; its texts hold the places.
        model: Who is asked; None leaves it to the sampler.
        parameters: Completion parameters of the answer (max_tokens, temperature, ...).
    """

    messages: tuple[Mapping[str, Any], ...]
    model: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_file(cls, path: Path) -> Prompt:
        """Read a prompt.

        A `.txt` or `.md` file is the user's message. A `.json` file is an object with `messages` (OpenAI's form,
        contents being text), and, if it says so, `model` and `parameters`.

        Raises:
            ConfigurationError: It is missing, or of another form.
        """
        try:
            text = path.read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"no prompt can be read from {path}: {error}") from error
        if path.suffix.lower() != ".json":
            if not text.strip():
                raise ConfigurationError(f"{path} is empty: it must hold the user's message")
            return cls(({"role": "user", "content": text.strip()},))
        try:
            data = json.loads(text)
        except ValueError as error:
            raise ConfigurationError(f"{path} is not JSON: {error}") from error
        return cls.from_dict(data, str(path))

    @classmethod
    def from_dict(cls, data: object, where: str = "the prompt") -> Prompt:
        """A prompt from what a `.json` file holds; see `from_file`.

        Raises:
            ConfigurationError: It is of another form.
        """
        form = '{"model": "...", "messages": [{"role": "user", "content": "{{question}}"}], "parameters": {}}'
        if not isinstance(data, dict) or "messages" not in data or not data.keys() <= _KEYS:
            raise ConfigurationError(f"{where} must be a prompt like {form}")
        messages, model, parameters = data["messages"], data.get("model"), data.get("parameters", {})
        if not isinstance(messages, list) or not messages or not all(_is_message(one) for one in messages):
            raise ConfigurationError(f"the messages of {where} must be texts with a role, like those in {form}")
        if not isinstance(model, str | None) or not isinstance(parameters, dict):
            raise ConfigurationError(f"in {where}, model must be a name and parameters an object, as in {form}")
        connection = [name for name, value in parameters.items() if is_connection(name) or _holds_secret(value, where)]
        if connection:
            # A prompt comes with a pull request, and could send the caller's key to a stranger; and what it says stands
            # in the results.
            raise ConfigurationError(f"{where} may not say where or with which key to ask: {', '.join(connection)}")
        return cls(tuple(messages), model, parameters)

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of an item that it reads."""
        texts = (str(one["content"]) for one in self.messages)
        return tuple(dict.fromkeys(name for text in texts for name in _FIELD.findall(text)))

    def check(self, items: Iterable[Mapping[str, Any]]) -> None:
        """Refuse items of which none has a field that the prompt reads.

        Raises:
            ConfigurationError: Says which, and what there is.
        """
        known = dict.fromkeys(str(name) for item in items for name in item)
        unknown = [name for name in self.fields if name not in known]
        if unknown:
            raise ConfigurationError(
                f"the prompt reads {unknown[0]!r}, which no item has; there are {', '.join(known)}"
            )

    def filled(self, item: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The messages for one item. What a field holds is put in as it is: places in it are not filled.

        Raises:
            RequestError: The item lacks a field.

        Example:
            >>> Prompt(({"role": "user", "content": "Answer: {{ question }}"},)).filled({"question": "Why {{x}}?"})
            [{'role': 'user', 'content': 'Answer: Why {{x}}?'}]
        """
        lacking = [name for name in self.fields if item.get(name) is None]
        if lacking:
            raise RequestError(f"the prompt reads {', '.join(lacking)}, which this item lacks")
        return [
            {**one, "content": _FIELD.sub(lambda found: _text(item[found[1]]), str(one["content"]))}
            for one in self.messages
        ]

    def task(self, sampler: Sampler) -> PromptTask:
        """The prompt as a task for `evaluate_locally`, its answers drawn from a sampler."""
        return PromptTask(self, sampler)


@dataclass(frozen=True)
class PromptTask:
    """Asks for one answer to an item, and says what was asked of whom, so that metrics can ask the same again."""

    prompt: Prompt
    sampler: Sampler

    def __call__(self, item: dict[str, Any]) -> dict[str, Any]:
        """The answer, with `messages`, `model` and `model_parameters`.

        Raises:
            ItemError: There is none; says why.
        """
        prompt = self.prompt
        asked: dict[str, Any] = {"messages": prompt.filled(item), "model_parameters": dict(prompt.parameters)}
        if prompt.model is not None:
            asked["model"] = prompt.model
        drawn = self.sampler.draw(asked, 1)
        drawn.require(1)
        return {**asked, "output": drawn.texts[0]}


def _holds_secret(value: Any, where: str) -> bool:
    """Whether something in a parameter's value has the name of a secret."""
    try:
        return showable({"value": value}) != {"value": value}
    except ValueError as error:
        raise ConfigurationError(f"the parameters of {where} cannot be sent as JSON: {error}") from error


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str) and isinstance(value.get("content"), str)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
