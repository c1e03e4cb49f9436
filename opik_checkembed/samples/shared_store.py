"""One open store per file in this process, however many metrics name it."""

from __future__ import annotations

import os
import threading
from os import PathLike
from pathlib import Path

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.samples.store import SampleStore, default_path

_open: dict[Path, SampleStore] = {}
_lock = threading.Lock()


def open_store(store: SampleStore | str | PathLike[str] | None = "default") -> SampleStore:
    """The store that an argument names.

    Args:
        store: A `SampleStore`; a path; "default" for `OPIK_CHECKEMBED_STORE`, else the user's cache directory; None
            for one that lives in this process only.

    Raises:
        StoreError: The file cannot be used; says why and what to do.
        ConfigurationError: The argument names no store.
    """
    if isinstance(store, SampleStore):
        return store
    if store is None:
        return SampleStore.in_memory()
    if not isinstance(store, str | PathLike) or not str(store):
        raise ConfigurationError(f"store must be a SampleStore, a path, 'default' or None, not {store!r}")
    path = default_path() if store == "default" else Path(store)
    place = path.expanduser().absolute()
    with _lock:
        if place not in _open or _open[place].closed:
            _open[place] = SampleStore(place)
        return _open[place]


def _after_fork() -> None:
    # Another thread of the parent may have held it.
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows has no fork
    os.register_at_fork(after_in_child=_after_fork)
