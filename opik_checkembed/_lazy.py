"""Public names loaded when first used (PEP 562), so that importing a package loads no more than is needed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazily(namespace: dict[str, Any], homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A module's `__getattr__`.

    Args:
        namespace: The module's `globals()`; a loaded name is kept there.
        homes: For each public name the submodule that defines it.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        module = importlib.import_module(f"{namespace['__name__']}.{homes[name]}")
        namespace[name] = getattr(module, name)
        return namespace[name]

    return load
