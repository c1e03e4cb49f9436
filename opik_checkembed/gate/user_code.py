"""A user's functions and metrics, named as `file.py:name` or `package.module:name`.

Both sides of a comparison may come with modules of one name, `helper.py` beside each of two checkouts' `bot.py`. What a
side has imported out of its own folders is therefore forgotten before the next one is loaded.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from opik_checkembed.errors import ConfigurationError

_INSTALLED = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True)
class Place:
    """Where something is to be found.

    Attributes:
        where: A file that ends in `.py`, or a module that can be imported.
        name: What it is called there.
    """

    where: str
    name: str

    @classmethod
    def parse(cls, text: str, form: str) -> Place:
        """Where a text points.

        Raises:
            ConfigurationError: It is not of the form that `form` says, or its file is missing.
        """
        where, colon, name = text.rpartition(":")
        if not colon or not where or not name:
            raise ConfigurationError(f"{text!r} cannot be read: {form}")
        if where.endswith(".py") and not Path(where).is_file():
            raise ConfigurationError(f"there is no file {where}")
        return cls(where, name)

    @property
    def folder(self) -> Path:
        """Whose modules it may import: the file's folder, as for a script, else the current one."""
        return Path(self.where).resolve().parent if self.where.endswith(".py") else Path.cwd()

    def load(self) -> Any:
        """What is there.

        Raises:
            ConfigurationError: It cannot be imported, or has no such name.
        """
        with _explained(self.where):
            module = (
                _file_module(Path(self.where)) if self.where.endswith(".py") else importlib.import_module(self.where)
            )
        if not hasattr(module, self.name):
            raise ConfigurationError(f"{self.where} has no {self.name!r}")
        return getattr(module, self.name)


@contextlib.contextmanager
def folder_first(folder: Path) -> Iterator[None]:
    """Modules are looked for in this folder before any other, and those out of it are forgotten afterwards.

    What was loaded before, what is installed, and what is no Python source stay.
    """
    path, loaded = list(sys.path), set(sys.modules)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        # What its modules have put on the path is theirs too.
        own = [folder, *(Path(entry).resolve() for entry in sys.path if entry not in path)]
        sys.path[:] = path
        _forget(own, loaded)
        importlib.invalidate_caches()


def _forget(folders: Collection[Path], loaded: Collection[str]) -> None:
    for name, module in list(sys.modules.items()):
        if name in loaded or name.partition(".")[0] in loaded:
            continue
        origin = getattr(module, "__file__", None)
        # A folder without `__init__.py` is a module that has no file.
        places = [origin] if origin is not None else list(getattr(module, "__path__", ()))
        if any(_is_own(Path(place), folders) for place in places):
            del sys.modules[name]


def _is_own(place: Path, folders: Collection[Path]) -> bool:
    if _INSTALLED & set(place.parts) or place.suffix not in {".py", ".pyc", ""}:
        return False
    return any(place.resolve().is_relative_to(folder) for folder in folders)


def _file_module(path: Path) -> ModuleType:
    # Named by the path as it was given: the same on every machine, since a `TaskSampler` knows its task by it, and
    # two for two files of one name. The prefix keeps it off other modules' names.
    name = f"task_file.{'.'.join(path.with_suffix('').parts)}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # for a path that ends in .py there always is one
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def _explained(what: str) -> Iterator[None]:
    try:
        yield
    except SyntaxError as error:
        # Without the line itself, which may hold anything.
        where = "it" if error.lineno is None else f"line {error.lineno} of {error.filename}"
        raise ConfigurationError(f"{what} cannot be imported: {where} is no Python ({error.msg})") from error
    # A file that is a script calls `sys.exit` where it ends: that is no verdict.
    except (Exception, SystemExit) as error:
        raise ConfigurationError(f"{what} cannot be imported: {error!r}") from error
