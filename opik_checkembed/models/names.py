"""What a model is called where people read of it."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

_HUB = "models--"

# Where the objects that hold or wrap a model keep it, or its name.
_WITHIN = ("source", "model", "embedder", "encoder", "nli")


def model_name(model: object) -> str:
    """The name a reader knows a model by, from its name on a hub, its folder, or the object that holds it.

    Of a folder it is the last part that says something: not the `model` in which a package keeps its weights, nor the
    hash of a hub cache's snapshot. An object is called as the model that it says it holds, else as its class.

    Example:
        >>> model_name("sentence-transformers/all-MiniLM-L6-v2"), model_name("/packages/some_minilm/model/")
        ('all-MiniLM-L6-v2', 'some_minilm')
        >>> model_name("/cache/models--org--some-nli/snapshots/0f3a9c")
        'some-nli'
    """
    held = _innermost(model)
    if isinstance(held, str | PathLike):
        return _last(Path(held).parts) or str(held)
    return type(held).__name__


def full_name(model: object) -> str:
    """What tells a model from others of one `model_name`: a folder's full path, else its whole name.

    An object is called as the model that it says it holds, else as its class.

    Example:
        >>> full_name("org/some-nli"), full_name("openai/gpt-4o-mini")
        ('org/some-nli', 'openai/gpt-4o-mini')
    """
    held = _innermost(model)
    if isinstance(held, str | PathLike):
        path = Path(held).expanduser()
        return str(path.resolve()) if path.is_dir() else str(held)
    return type(held).__name__


def _innermost(model: object) -> object:
    """The name or folder that an object holds, through all that wrap it; the innermost object where none holds one."""
    if not isinstance(model, str | PathLike):
        for name in _WITHIN:
            held = getattr(model, name, None)
            if held is not None and not isinstance(held, Mapping) and not callable(held):
                return _innermost(held)
    return model


def _last(parts: tuple[str, ...]) -> str:
    cached = [part for part in parts if part.startswith(_HUB)]
    if cached:
        return cached[-1].rpartition("--")[2]
    said = [part for part in parts if part != "model"]
    return (said or list(parts) or [""])[-1]
