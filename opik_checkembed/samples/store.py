"""The durable memory of samples: what was bought once is there for every later metric, run and process."""

from __future__ import annotations

import codecs
import contextlib
import json
import math
import os
import sqlite3
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, get_args
from urllib.parse import quote

from opik_checkembed.errors import ConfigurationError, StoreError
from opik_checkembed.samples.sample import Origin, Sample, Usage

Mode = Literal["reuse", "refresh", "replay"]

SCHEMA_VERSION = 1
"""Version of the database (`PRAGMA user_version`) and of an exported line (`"schema"`)."""

ENV_PATH = "OPIK_CHECKEMBED_STORE"

# Marks the file as ours ("OCKE"), so that another program's database is never written to.
_APPLICATION_ID = 0x4F434B45
_LOCK_TIMEOUT_S = 30.0
# Reading every page of a store up to this size takes well under a second; a larger one would slow down
# each start, so there damage is reported by the read that meets it.
_CHECKED_BYTES = 32 * 2**20
_EXCERPT_CHARS = 80

# `seq` only ever grows (AUTOINCREMENT), also across deletions: "written since this store was opened" is
# then a comparison of numbers that no clock, of ours or of a provider, can spoil.
_SCHEMA = (
    """CREATE TABLE requests (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        model TEXT,
        request TEXT NOT NULL
    )""",
    """CREATE TABLE samples (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL REFERENCES requests (key),
        idx INTEGER NOT NULL,
        created REAL NOT NULL,
        sample TEXT NOT NULL,
        UNIQUE (key, idx)
    )""",
    f"PRAGMA application_id = {_APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)
_KEEP_REQUEST = "INSERT INTO requests (key, model, request) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING"
_KEEP_SAMPLE = """INSERT INTO samples (key, idx, created, sample) VALUES (?, ?, ?, ?)
                  ON CONFLICT (key, idx) DO NOTHING"""

_START_ANEW = "move the file away and a new store is started, or give another path"
_WHAT_TO_DO = {
    sqlite3.SQLITE_BUSY: ("is locked by another process", "end that process, or give another path"),
    sqlite3.SQLITE_FULL: ("has no room to grow", f"free disk space, or move it with store= or {ENV_PATH}"),
    sqlite3.SQLITE_CORRUPT: ("is damaged", _START_ANEW),
    sqlite3.SQLITE_NOTADB: ("is not a sample store, or is damaged", _START_ANEW),
    sqlite3.SQLITE_READONLY: (
        "cannot be written",
        "give a path that can be written, or mode='replay' to only read it",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "cannot be opened",
        "check that it can be read and (unless mode='replay') its folder written, or give another path",
    ),
}
_ANYTHING_ELSE = ("cannot be used", "check the disk and the file, or give another path")


@dataclass(frozen=True, slots=True)
class StoreEntry:
    """What a store holds for one request.

    Attributes:
        key: The request's key.
        model: The model that was asked; None when the request names none.
        excerpt: The beginning of the last user message, on one line; of the whole request where it has no
            messages.
        samples: How many samples are kept.
        oldest: When the first of them was answered, in Unix seconds.
        newest: When the last of them was answered, in Unix seconds.
        cost_usd: What they cost together; None when any of them has no known cost.
    """

    key: str
    model: str | None
    excerpt: str
    samples: int
    oldest: float
    newest: float
    cost_usd: float | None


def default_path() -> Path:
    """The store's place when none is given: `OPIK_CHECKEMBED_STORE`, else in the user's cache directory."""
    from platformdirs import user_cache_path

    configured = os.environ.get(ENV_PATH)
    if configured:
        return Path(configured)
    return user_cache_path("opik-checkembed", appauthor=False) / "samples.sqlite3"


class SampleStore:
    """Samples kept in one SQLite file (WAL), each under its request's key and its index.

    Every `put` is one transaction: once it has returned, the samples outlive the process being killed (a
    power cut can lose the last few puts, never the file). Any number of threads, processes and stores may
    use the same file at once, and a process may fork at any time. The file, and SQLite's `-wal` and `-shm`
    beside it, are created with mode 0600 whatever the umask; a file with content keeps its mode.

    Modes:
        reuse: What is kept is returned. `put` keeps an entry that is already there (the first writer wins,
            so that everyone who reads afterwards sees the same sample), unless it is older than `max_age`.
        refresh: What was in the file when this object was opened counts as missing and is replaced by
            `put`; what has been put since is returned, so metrics that share a run buy once.
        replay: As reuse, but nothing is ever written, and a missing file is an error rather than created.
            Whoever finds a sample missing must not ask a model. The file may lie on read-only media.

    Example:
        >>> with SampleStore.in_memory() as store:
        ...     store.put("k1", {"model": "m"}, [Sample(0, "Paris"), Sample(1, "Lyon")])
        ...     [sample.text for sample in store.get("k1", range(5)).values()]
        ['Paris', 'Lyon']

    Attributes:
        path: The file, absolute; None for the store in memory.
        mode: How it was opened.
        max_age: Entries answered longer ago than this count as missing; None for no limit.
        identity: Equal for all stores over the same file, whatever their mode or the way to it.
    """

    path: Path | None
    mode: Mode
    max_age: timedelta | None
    identity: str

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        mode: Mode = "reuse",
        max_age: timedelta | None = None,
    ) -> None:
        """Open the store, and create it unless the mode is replay.

        Args:
            path: The file. None takes `OPIK_CHECKEMBED_STORE`, else the user's cache directory.
            mode: `reuse`, `refresh` or `replay`.
            max_age: Entries answered longer ago than this count as missing.

        Raises:
            StoreError: The file cannot be used; says what is wrong with it and what to do.
            ConfigurationError: The mode or the age is not a valid one.
        """
        if mode not in get_args(Mode):
            raise ConfigurationError(f"mode={mode!r}: a sample store's mode is 'reuse', 'refresh' or 'replay'")
        if max_age is not None and not (isinstance(max_age, timedelta) and max_age > timedelta(0)):
            raise ConfigurationError(f"max_age={max_age!r}: give a positive datetime.timedelta, or None")
        given = os.fspath(default_path() if path is None else path)
        if given == ":memory:":
            raise StoreError("':memory:' is not a path: store=None keeps samples for this process only")
        try:
            # Absolute now, because the working directory may change before the file is opened again.
            absolute = Path(given).expanduser().absolute()
        except RuntimeError as error:
            raise StoreError(f"The sample store {given} cannot be found ({error}): write its folder out") from error
        self._setup(absolute, mode, max_age)
        with contextlib.ExitStack() as on_failure:
            on_failure.callback(self.close)
            with self._using() as connection:
                self._check_pages(connection)
            on_failure.pop_all()

    @classmethod
    def in_memory(cls) -> SampleStore:
        """The store of this process: nothing is written to disk, and everyone in the process shares it.

        Closing it forgets its samples; the next call gives a new, empty one. A forked child goes on with
        its own copy.
        """
        global _in_memory
        with _registry_lock:
            if _in_memory is None or _in_memory._closed:
                _in_memory = cls.__new__(cls)
                _in_memory._setup(None, "reuse", None)
            return _in_memory

    def _setup(self, path: Path | None, mode: Mode, max_age: timedelta | None) -> None:
        self.path = path
        self.mode = mode
        self.max_age = max_age
        # The real file, so that a link's target is what gets created and compared.
        self._file = ":memory:" if path is None else os.path.realpath(path)
        self.identity = os.path.normcase(self._file)
        # One connection behind one lock rather than one per thread: samples arrive at the pace of a model
        # and a statement takes microseconds, so nobody waits, threads that come and go leave no connection
        # behind, and a fork has one thing to close.
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._disconnect: weakref.finalize[Any, Any] | None = None
        self._file_id: tuple[int, int] | None = None
        self._closed = False
        self._seq_at_opening = 0
        if path is not None:
            with _registry_lock:
                _stores.add(self)

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def __repr__(self) -> str:
        return f"SampleStore({self._file!r}, mode={self.mode!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. Closing twice is harmless; using a closed store is a `StoreError`.

        A store that is dropped without it is closed by the garbage collector, or at the end of the process.
        """
        with self._lock:
            self._drop_connection()
            self._closed = True

    # ------------------------------------------------------------------------------------------ samples

    def get(self, key: str, indices: Iterable[int]) -> dict[int, Sample]:
        """The samples that are kept for a request and count as present (see `mode` and `max_age`).

        Args:
            key: The request's key.
            indices: Which samples are wanted.

        Returns:
            Index to sample, in index order, with `Origin.STORE`; an index that is missing is left out.

        Raises:
            StoreError: The store cannot be read, or the row is not a sample.
        """
        wanted = set(indices)
        with self._using() as connection:
            rows = connection.execute(
                """SELECT idx, CAST(sample AS BLOB) FROM samples
                   WHERE key = ? AND seq > ? AND created >= ? ORDER BY idx""",
                (key, self._seq_at_opening, self._cutoff()),
            ).fetchall()
        return {index: self._sample(key, index, text) for index, text in rows if index in wanted}

    def put(self, key: str, request: Mapping[str, Any], samples: Sequence[Sample]) -> None:
        """Keep samples, all or none of them; they are safe from a kill of the process once this returns.

        An entry that counts as present for this store (see `mode` and `max_age`) stays as it is; one that
        counts as missing is replaced. A sample without `created` is kept as answered now.

        Args:
            key: The request's key.
            request: What was asked, as JSON-ready values with nothing secret in them; kept once per key.
            samples: The answers.

        Raises:
            StoreError: They could not be kept; the store is as it was before.
        """
        self._refuse_in_replay()
        if not samples:
            return
        now = time.time()
        try:
            kept_request = (key, _model_of(request), _dumps(dict(request)))
            rows = [_row(key, sample, now) for sample in samples]
        except (TypeError, ValueError) as error:
            raise StoreError(f"Request {key} cannot be kept in {self._name}: {error}") from error
        with self._transaction() as connection:
            connection.execute(_KEEP_REQUEST, kept_request)
            connection.executemany(
                "DELETE FROM samples WHERE key = ? AND idx = ? AND (seq <= ? OR created < ?)",
                [(key, index, self._seq_at_opening, self._cutoff()) for _, index, _, _ in rows],
            )
            connection.executemany(_KEEP_SAMPLE, rows)

    def _cutoff(self) -> float:
        return -math.inf if self.max_age is None else time.time() - self.max_age.total_seconds()

    def _sample(self, key: str, index: int, text: bytes) -> Sample:
        try:
            return _parse_sample(index, _loads(text))
        except ValueError as error:
            raise StoreError(self._row_trouble(f"a sample: key {key}, index {index}", error)) from error

    def _request(self, key: str, text: bytes) -> dict[str, Any]:
        try:
            return _parse_request(_loads(text))
        except ValueError as error:
            raise StoreError(self._row_trouble(f"a request: key {key}", error)) from error

    def _row_trouble(self, what: str, error: ValueError) -> str:
        return f"The sample store {self._name} holds what is not {what} ({error}): {_START_ANEW}"

    # ------------------------------------------------------------------------------- looking after the store

    def entries(self) -> list[StoreEntry]:
        """Everything in the file, expired or not, in the order in which the requests were first kept.

        Raises:
            StoreError: The store cannot be read.
        """
        found = []
        rows = self._rows("ORDER BY requests.id, idx", ())
        for key, group in groupby(rows, key=lambda row: row[0]):
            kept = list(group)
            request = self._request(key, kept[0][1])
            costs = [self._sample(key, index, text).cost_usd for _, _, index, _, text in kept]
            known = [cost for cost in costs if cost is not None]
            created = [row[3] for row in kept]
            found.append(
                StoreEntry(
                    key=key,
                    model=_model_of(request),
                    excerpt=_excerpt(request),
                    samples=len(kept),
                    oldest=min(created),
                    newest=max(created),
                    cost_usd=sum(known) if len(known) == len(costs) else None,
                )
            )
        return found

    def export(self, path: str | os.PathLike[str], *, model: str | None = None) -> int:
        """Write the samples to a JSONL file (UTF-8, mode 0600), one line each, ordered by key and index.

        A line is `{"schema": 1, "key": ..., "index": ..., "request": {...}, "sample": {...}}`. Equal content
        gives equal bytes. The file appears whole or, on an error, not at all; an existing one is replaced.

        Args:
            path: The file to write.
            model: Only samples of requests to this model.

        Returns:
            The number of samples written.

        Raises:
            StoreError: The store cannot be read or the file cannot be written.
        """
        target = Path(path)
        if os.path.realpath(target) == self._file:
            raise StoreError(f"Cannot export to {target}: it is the store itself; give another file")
        rows = self._rows("WHERE ? IS NULL OR model = ? ORDER BY requests.key, idx", (model, model))
        lines = [
            _dumps(
                {
                    "schema": SCHEMA_VERSION,
                    "key": key,
                    "index": index,
                    "request": self._request(key, request),
                    "sample": self._sample(key, index, sample).to_dict(),
                }
            )
            for key, request, index, _, sample in rows
        ]
        try:
            _write_whole(target, "".join(f"{line}\n" for line in lines))
        except OSError as error:
            raise StoreError(f"Cannot export to {target}: {error.strerror}; give a file that can be written") from error
        return len(lines)

    def import_(self, path: str | os.PathLike[str]) -> int:
        """Take in the samples of an exported JSONL file.

        A sample that the store already has, expired or not, stays as it is. Every line is checked before
        anything is written: one bad line and nothing is imported.

        Args:
            path: The file to read.

        Returns:
            The number of samples that are new.

        Raises:
            StoreError: The file cannot be read, a line is not an exported sample (its number is named), or
                the store cannot be written.
        """
        self._refuse_in_replay()
        now = time.time()
        requests: list[tuple[str, str | None, str]] = []
        rows: list[tuple[str, int, float, str]] = []
        for key, request, sample in _read_lines(Path(path)):
            requests.append((key, _model_of(request), _dumps(request)))
            rows.append(_row(key, sample, now))
        with self._transaction() as connection:
            connection.executemany(_KEEP_REQUEST, requests)
            return connection.executemany(_KEEP_SAMPLE, rows).rowcount if rows else 0

    def clear(self, *, model: str | None = None, older_than: timedelta | None = None) -> int:
        """Delete samples for good (their bytes are overwritten); both conditions must hold, none means all.

        Args:
            model: Only samples of requests to this model.
            older_than: Only samples answered longer ago than this.

        Returns:
            The number of samples deleted.

        Raises:
            StoreError: The store cannot be written.
        """
        self._refuse_in_replay()
        before = math.inf if older_than is None else time.time() - older_than.total_seconds()
        with self._transaction() as connection:
            deleted: int = connection.execute(
                """DELETE FROM samples WHERE created < ?
                   AND (? IS NULL OR key IN (SELECT key FROM requests WHERE model = ?))""",
                (before, model, model),
            ).rowcount
            connection.execute("DELETE FROM requests WHERE key NOT IN (SELECT key FROM samples)")
        with self._using() as connection:
            # Until then the deleted bytes still lie in the log.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return deleted

    def _rows(self, clauses: str, values: Sequence[Any]) -> list[tuple[str, bytes, int, float, bytes]]:
        with self._using() as connection:
            return connection.execute(
                f"""SELECT requests.key, CAST(request AS BLOB), idx, created, CAST(sample AS BLOB)
                    FROM requests JOIN samples ON samples.key = requests.key {clauses}""",
                values,
            ).fetchall()

    def _refuse_in_replay(self) -> None:
        if self.mode == "replay":
            raise StoreError(f"The sample store {self._name} is open in mode 'replay', which writes nothing")

    # ------------------------------------------------------------------------------------ the connection

    @property
    def _name(self) -> str:
        return "in memory" if self.path is None else str(self.path)

    @contextlib.contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        """The connection, for this thread alone; whatever SQLite says comes out as a `StoreError`."""
        with self._lock:
            try:
                yield self._connected()
            except sqlite3.Error as error:
                # Errors raised by the sqlite3 module itself rather than by SQLite carry no code.
                code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
                what, to_do = _WHAT_TO_DO.get(code, _ANYTHING_ELSE)
                raise StoreError(f"The sample store {self._name} {what} ({error}): {to_do}") from error

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._using() as connection:
            # IMMEDIATE takes the write lock first: a read that turns into a write can fail with "locked"
            # without waiting for its turn.
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def _connected(self) -> sqlite3.Connection:
        if self._closed:
            raise StoreError(f"The sample store {self._name} is closed: open it again")
        if self.path is not None and self._connection is not None and _file_id(self._file) != self._file_id:
            # Somebody deleted or replaced the file (emptied the cache, say): what is written to the old one
            # would be lost without a word.
            self._drop_connection()
        if self._connection is None:
            self._connection = self._connect_patiently()
            self._disconnect = weakref.finalize(self, self._connection.close)
            file_id = _file_id(self._file)
            if self.mode == "refresh" and file_id != self._file_id:
                # Not when the same file is opened again after a fork: that is still the same run.
                self._seq_at_opening = _last_seq(self._connection)
            self._file_id = file_id
        return self._connection

    def _drop_connection(self) -> None:
        if self._disconnect is not None:
            self._disconnect()
        self._connection = self._disconnect = None

    def _connect_patiently(self) -> sqlite3.Connection:
        deadline = time.monotonic() + _LOCK_TIMEOUT_S
        while True:
            try:
                return self._connect()
            except sqlite3.OperationalError as error:
                # The switch to WAL fails at once, without using the timeout it was given, if it meets another
                # process that is writing to the same new file.
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                    raise
            time.sleep(0.01)

    def _connect(self) -> sqlite3.Connection:
        if self.path is not None:
            self._check_file()
        database, is_uri = (":memory:", False) if self.path is None else (self._uri(), True)
        with contextlib.ExitStack() as on_failure:
            connection = sqlite3.connect(
                database, uri=is_uri, timeout=_LOCK_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
            on_failure.callback(connection.close)
            if self.mode == "replay":
                connection.execute("PRAGMA query_only = ON")
                self._check_version(connection)
            else:
                self._initialise(connection)
            on_failure.pop_all()
        return connection

    def _check_file(self) -> None:
        """Find what is wrong with the path before SQLite does, whose "unable to open" names no cause."""
        file = Path(self._file)
        try:
            if file.is_dir():
                raise StoreError(
                    f"The sample store {self._name} is a directory: give the path of a file in it, such as "
                    f"{file / 'samples.sqlite3'}"
                )
            if self.mode == "replay" and not file.exists():
                raise StoreError(
                    f"There is no sample store at {self._name}, and mode 'replay' creates none: record one "
                    "with mode 'reuse', or import an exported one into it"
                )
            if self.mode != "replay" and _size(file) == 0:
                file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                _create_private(file)
        except OSError as error:
            raise StoreError(
                f"The sample store {self._name} cannot be created or reached ({error.strerror}): give a path "
                f"in a folder that can be written with store= or {ENV_PATH}, or store=None to keep nothing"
            ) from error

    def _uri(self) -> str:
        file = Path(self._file)
        name = file.as_posix()
        uri = f"file://{'' if name.startswith('/') else '/'}{quote(os.fsencode(name))}"
        if self.mode != "replay" or (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)):
            # Also for replay: a reader of a WAL database needs the files beside it, and only a connection
            # that may write takes them away again. `query_only` keeps it from writing anything else.
            return f"{uri}?mode=rw"
        if _size(Path(f"{self._file}-wal")):
            return f"{uri}?mode=ro"
        # Where no file can be created beside it, SQLite opens a WAL database only if told that nobody
        # writes to it; with no log beside it, nobody does.
        return f"{uri}?mode=ro&immutable=1"

    def _initialise(self, connection: sqlite3.Connection) -> None:
        if _is_blank(connection):
            # Pages of cleared samples are given back to the disk; can only be chosen for a blank file.
            connection.execute("PRAGMA auto_vacuum = FULL")
        connection.execute("BEGIN IMMEDIATE")
        if _is_blank(connection):
            for statement in _SCHEMA:
                connection.execute(statement)
        self._check_version(connection)
        # Deletes nothing, yet fails now rather than at the first answer if the file can only be read.
        connection.execute("DELETE FROM samples WHERE FALSE")
        connection.execute("COMMIT")
        # A commit then survives a killed process without a disk flush for each, and readers never wait.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        # A cleared answer may be private: its bytes are to go, not only the way to them.
        connection.execute("PRAGMA secure_delete = ON")

    def _check_version(self, connection: sqlite3.Connection) -> None:
        version = _pragma(connection, "user_version")
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"The sample store {self._name} was written by a newer version of opik-checkembed (schema "
                f"{version}, this one reads {SCHEMA_VERSION}): upgrade opik-checkembed, or give another path"
            )
        if version != SCHEMA_VERSION or _pragma(connection, "application_id") != _APPLICATION_ID:
            raise StoreError(
                f"{self._name} is an SQLite database but not a sample store: nothing was written to it; give "
                "another path"
            )

    def _check_pages(self, connection: sqlite3.Connection) -> None:
        if _size(Path(self._file)) > _CHECKED_BYTES:
            return
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            what, to_do = _WHAT_TO_DO[sqlite3.SQLITE_CORRUPT]
            raise StoreError(f"The sample store {self._name} {what} ({' '.join(found.split())}): {to_do}")


# ---------------------------------------------------------------------------------------------- the process

# Order of the locks: registry, then a store's, then creation (which is only ever taken under a store's, so
# that at a fork nobody holds it).
_registry_lock = threading.Lock()
_creation_lock = threading.Lock()
_stores: weakref.WeakSet[SampleStore] = weakref.WeakSet()
_in_memory: SampleStore | None = None
_held_for_fork: list[SampleStore] = []


def _before_fork() -> None:
    """Let no connection to a file cross a fork, and no lock be held by a thread that the child lacks.

    An SQLite connection must not be carried into a child: the child believes it holds file locks that only
    its parent has. Parent and child each open the file again when they next need it.
    """
    _registry_lock.acquire()  # released in parent and child by `_after_fork`
    _held_for_fork.extend(_stores)
    if _in_memory is not None:
        _held_for_fork.append(_in_memory)
    for store in _held_for_fork:
        store._lock.acquire()
        if store.path is not None:
            store._drop_connection()


def _after_fork() -> None:
    while _held_for_fork:
        _held_for_fork.pop()._lock.release()
    _registry_lock.release()


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows has no fork
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


# ------------------------------------------------------------------------------------------------- the file


def _create_private(file: Path) -> None:
    """Make a missing or empty file one for its owner alone, whatever the umask, before it has content.

    Never opens an existing one: closing it again would drop the locks that SQLite holds on it elsewhere in
    this process. Threads take turns for the same reason.
    """
    with _creation_lock:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        file.chmod(0o600)


def _file_id(file: str) -> tuple[int, int] | None:
    try:
        found = Path(file).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)


def _is_blank(connection: sqlite3.Connection) -> bool:
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return tables == (0,) and _pragma(connection, "user_version") == 0


def _last_seq(connection: sqlite3.Connection) -> int:
    (seq,) = connection.execute("SELECT coalesce(max(seq), 0) FROM samples").fetchone()
    return int(seq)


def _write_whole(target: Path, text: str) -> None:
    with contextlib.ExitStack() as leftover:
        with tempfile.NamedTemporaryFile("wb", dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            written = Path(file.name)
            leftover.callback(written.unlink)
            file.write(text.encode("ascii"))
        written.replace(target)
        leftover.pop_all()


# ------------------------------------------------------------------------------------------------- the rows


def _dumps(value: Mapping[str, Any]) -> str:
    # ASCII escapes, because a model's text may hold lone surrogates and line separators: neither SQLite
    # nor a reader of JSONL takes these.
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def _loads(text: bytes) -> Any:
    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    return json.loads(text.decode("utf-8"), parse_constant=refuse)


def _row(key: str, sample: Sample, now: float) -> tuple[str, int, float, str]:
    created = float(now if sample.created is None else sample.created)
    return key, sample.index, created, _dumps(replace(sample, created=created).to_dict())


def _parse_sample(index: int, data: Any) -> Sample:
    """`Sample.from_dict`, which trusts its caller, with every type looked at.

    Raises:
        ValueError: The data is not a sample; says why.
    """
    try:
        sample = Sample.from_dict(index, data, Origin.STORE)
    except KeyError as error:
        raise ValueError(f"the sample has no {error}") from error
    except TypeError as error:
        raise ValueError(f"the sample is malformed: {error}") from error
    problems = {
        "text": not isinstance(sample.text, str),
        "finish_reason": not isinstance(sample.finish_reason, str | None),
        "model": not isinstance(sample.model, str | None),
        "cost_usd": not _is_number_or_none(sample.cost_usd),
        "created": not _is_number_or_none(sample.created),
        "usage": not (sample.usage is None or _is_usage(sample.usage)),
        "dropped": not (isinstance(data["dropped"], list) and all(isinstance(n, str) for n in sample.dropped)),
    }
    for field, is_wrong in problems.items():
        if is_wrong:
            raise ValueError(f"the sample's {field} is {data[field]!r:.80}")
    return sample


def _is_number_or_none(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= sys.maxsize


def _is_usage(usage: Usage) -> bool:
    tokens = (usage.prompt_tokens, usage.completion_tokens)
    return _is_count(usage.choices, 1) and all(count is None or _is_count(count, 0) for count in tokens)


def _parse_request(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ValueError("the request is not an object")
    return data


def _read_lines(path: Path) -> Iterator[tuple[str, dict[str, Any], Sample]]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StoreError(f"Cannot import {path}: {error.strerror}") from error
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            found = _parse_line(_loads(line.removeprefix(codecs.BOM_UTF8)))
        except ValueError as error:
            raise StoreError(f"Cannot import {path}, line {number}: {error}; nothing was imported") from error
        yield found


def _parse_line(data: Any) -> tuple[str, dict[str, Any], Sample]:
    if not isinstance(data, dict):
        raise ValueError("the line is not an object")
    missing = [name for name in ("schema", "key", "index", "request", "sample") if name not in data]
    if missing:
        raise ValueError(f"the line has no {', '.join(missing)}")
    if data["schema"] != SCHEMA_VERSION:
        raise ValueError(f"its schema is {data['schema']!r:.80}, this version reads {SCHEMA_VERSION}")
    if not (isinstance(data["key"], str) and data["key"]):
        raise ValueError(f"the key is {data['key']!r:.80}")
    if not _is_count(data["index"], 0):
        raise ValueError(f"the index is {data['index']!r:.80}")
    return data["key"], _parse_request(data["request"]), _parse_sample(data["index"], data["sample"])


def _model_of(request: Mapping[str, Any]) -> str | None:
    model = request.get("model")
    return model if isinstance(model, str) else None


def _excerpt(request: Mapping[str, Any]) -> str:
    messages = request.get("messages")
    asked = [m for m in messages if isinstance(m, Mapping)] if isinstance(messages, list) else []
    from_user = [message for message in asked if message.get("role") == "user"] or asked
    if from_user:
        text = _text_of(from_user[-1].get("content"))
    else:
        text = _dumps({name: value for name, value in request.items() if name not in ("kind", "model")})
    line = " ".join(text.split())
    return line if len(line) <= _EXCERPT_CHARS else f"{line[: _EXCERPT_CHARS - 1]}…"


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return " ".join(part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str))
