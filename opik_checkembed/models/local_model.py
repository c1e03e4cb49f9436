"""Models in this process: named or in a folder, loaded at the first use, once, behind a lock."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from opik_checkembed.errors import ConfigurationError, ModelUnavailable

if TYPE_CHECKING:
    import torch

M = TypeVar("M")

# A hub that cannot be reached keeps a caller waiting for a minute, so not every item of a run may try it.
_SECONDS_BETWEEN_LOADS = 60.0


class LocalModel(Generic[M]):
    """A model that is loaded at the first use.

    Attributes:
        lock: Held whenever the model is used: neither models nor tokenizers are safe under threads.

    Args:
        load: Returns the model. What it raises as `ModelUnavailable` is remembered for a minute.
    """

    def __init__(self, load: Callable[[], M]) -> None:
        self.lock = threading.RLock()
        self._load = load
        self._model: M | None = None
        self._failure: ModelUnavailable | None = None
        self._failed_at = float("-inf")

    @property
    def loaded(self) -> bool:
        """Whether it takes memory now."""
        return self._model is not None

    def model(self) -> M:
        """The model, loaded if it is not. The caller holds `lock`.

        Raises:
            ModelUnavailable: It cannot be loaded.
        """
        if self._model is None:
            if self._failure is not None and time.monotonic() - self._failed_at < _SECONDS_BETWEEN_LOADS:
                # Each thread that fails needs a traceback of its own.
                raise type(self._failure)(str(self._failure)) from self._failure
            try:
                self._model = self._load()
            except ModelUnavailable as error:
                self._failure, self._failed_at = error, time.monotonic()
                raise
        return self._model

    def release(self) -> None:
        """Let go of the model, so that its memory can be used for something else; the next use loads it again."""
        with self.lock:
            self._model = None


_shared: dict[Hashable, LocalModel[Any]] = {}
_registry_lock = threading.Lock()


def shared_local_model(key: Hashable, load: Callable[[], M]) -> LocalModel[M]:
    """The one model of this key in this process: it is in memory once, whoever asks."""
    with _registry_lock:
        if key not in _shared:
            _shared[key] = LocalModel(load)
        return cast(LocalModel[M], _shared[key])


def locate(
    model: object,
    what: str,
    example: str,
    files: tuple[str, ...] = ("config.json",),
    saved_by: str = "save_pretrained()",
) -> str:
    """Where a model is to be loaded from: a folder's full path, or a name for the model hub.

    Args:
        model: A folder or a name.
        what: What it is, with its article, for messages ("an embedder").
        example: A name that would do.
        files: A folder must hold one of these.
        saved_by: What writes such a folder.

    Raises:
        ConfigurationError: There can be no model under this name.
    """
    if not isinstance(model, str | os.PathLike) or not str(model).strip():
        raise ConfigurationError(f"{what} is a Hugging Face name like {example!r} or a folder, not {model!r}")
    name = os.fspath(model)
    path = Path(name)
    if name.startswith("~/"):
        path = path.expanduser()
    if path.is_dir():
        if not any((path / file).is_file() for file in files):
            missing = f"no {files[0]}" if len(files) == 1 else f"neither {' nor '.join(files[:2])}"
            raise ConfigurationError(
                f"the folder {path} holds no model ({missing}): name the folder that {saved_by} wrote"
            )
        return str(path.resolve())
    # A hub name has at most one slash and does not begin like a path.
    if not isinstance(model, str) or path.exists() or name.startswith(("/", "./", "../", "~")) or name.count("/") > 1:
        raise ConfigurationError(f"there is no folder {path}: name a folder that holds a model, or a Hugging Face name")
    return name


def load_pretrained(load: Callable[[], M], source: str, what: str, ways: str) -> M:
    """Run a loader of transformers or sentence-transformers.

    Args:
        load: Returns the model.
        source: The folder or name it is loaded from.
        what: What it is, for messages ("embedder").
        ways: How else to give one, for messages.

    Raises:
        ModelUnavailable: It was not found, or could not be loaded; says what to do.
    """
    # A download is worth a progress bar, reading a folder for a second is not.
    quiet = no_progress_bar() if Path(source).is_dir() else contextlib.nullcontext()
    try:
        with quiet:
            return load()
    except ModelUnavailable:
        raise
    except OSError as error:
        # What the hub's client raises for a name it does not know, cannot reach or may not read.
        raise ModelUnavailable(
            f"the {what} {source!r} was not found ({_first_line(error)}). {ways}. With a connection to the Hugging "
            "Face hub, a name is downloaded once and kept"
        ) from error
    except Exception as error:
        # A model may come with code of its own, so this can be anything.
        raise ModelUnavailable(
            f"the {what} {source!r} could not be loaded ({type(error).__name__}: {_first_line(error)})"
        ) from error


def check_device(device: str | None) -> None:
    """Refuse what cannot name a device.

    Raises:
        ConfigurationError: It is neither None nor a text.
    """
    if device is not None and (not isinstance(device, str) or not device):
        raise ConfigurationError(f"device must be a name like 'cpu' or 'cuda:0', or None, not {device!r}")


def resolve_device(device: str | None) -> torch.device:
    """The device of this name; None takes a GPU where there is one.

    Raises:
        ModelUnavailable: torch knows no such device.
    """
    import torch

    if device is None:
        mps = torch.backends.mps.is_available()
        device = "cuda" if torch.cuda.is_available() else "mps" if mps else "cpu"
    try:
        return torch.device(device)
    except RuntimeError as error:
        raise ModelUnavailable(f"there is no device {device!r}: {_first_line(error)}") from error


@contextlib.contextmanager
def no_progress_bar() -> Iterator[None]:
    """Transformers shows no bar meanwhile, and what the user had set is set again afterwards."""
    from transformers.utils import logging as untyped

    logging: Any = untyped
    shown = logging.is_progress_bar_enabled()
    if shown:
        logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")
