"""One object in front of a model for everyone in this process, so that its work is shared and done once."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

M = TypeVar("M")
S = TypeVar("S")


class Registry(Generic[M, S]):
    """The one shared object for each model: equal models get the same.

    It goes with its last user, but one that is `kept` stays for the process, as models loaded by name do.

    Args:
        share: Makes the shared object, which must hold on to its model.

    Example:
        >>> class Queue:
        ...     def __init__(self, model):
        ...         self.model = model
        >>> queues = Registry(Queue)
        >>> queues.of("minilm", kept=True) is queues.of("minilm")
        True
    """

    def __init__(self, share: Callable[[M], S]) -> None:
        self._share = share
        self._shared: weakref.WeakValueDictionary[Hashable, S] = weakref.WeakValueDictionary()
        self._kept: set[S] = set()
        self._lock = threading.Lock()

    def of(self, model: M, *, kept: bool = False) -> S:
        """The model's shared object, made at the first call."""
        with self._lock:
            key = identity(model)
            shared = self._shared.get(key)
            if shared is None:
                shared = self._shared[key] = self._share(model)
            if kept:
                self._kept.add(shared)
            return shared


def identity(model: object) -> Hashable:
    """What tells a model from others: itself where it can be a key, else its place in memory.

    Whoever keeps an entry under it must hold on to the model, so that no other takes that place meanwhile.
    """
    try:
        hash(model)
    except TypeError:
        return "id", id(model)
    return model
