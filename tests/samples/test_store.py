from __future__ import annotations

import contextlib
import gc
import json
import math
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opik_checkembed.errors import ConfigurationError, StoreError
from opik_checkembed.samples import store as store_module
from opik_checkembed.samples.sample import Origin, Sample, Status, Usage
from opik_checkembed.samples.store import Mode, SampleStore, StoreEntry, default_path

posix_only = pytest.mark.skipif(os.name != "posix", reason="file modes, fork and SIGKILL are POSIX")
REQUEST: dict[str, Any] = {
    "kind": "chat",
    "model": "gpt-x",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Capital of France?"},
    ],
    "parameters": {"temperature": 1.0},
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "samples.sqlite3"


@pytest.fixture
def memory() -> Iterator[SampleStore]:
    with SampleStore.in_memory() as store:
        yield store


def answer(index: int = 0, text: str = "Paris", **fields: Any) -> Sample:
    return Sample(index, text, **{"created": time.time(), **fields})


def texts(store: SampleStore, key: str = "k", wanted: int = 10) -> dict[int, str]:
    return {index: sample.text for index, sample in store.get(key, range(wanted)).items()}


def beside(path: Path) -> set[str]:
    return {file.name for file in path.parent.iterdir()}


def run_script(tmp_path: Path, source: str, *arguments: object, name: str = "script.py") -> subprocess.Popen[str]:
    script = tmp_path / name
    script.write_text(source, encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, "-W", "error", str(script), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out


# ---------------------------------------------------------------------------------------- keeping and finding


def test_a_sample_comes_back_as_it_was_from_another_store_object(path: Path) -> None:
    bought = Sample(
        index=2,
        text="Paris \u2028\ud800 🗼",
        status=Status.TRUNCATED,
        finish_reason="length",
        usage=Usage(11, None, choices=5),
        cost_usd=0.25,
        model="gpt-x-2024",
        created=1_700_000_000.5,
        dropped=("n", "temperature"),
        origin=Origin.ASKED,
    )
    with SampleStore(path) as store:
        store.put("k", REQUEST, [bought])
    with SampleStore(path) as store:
        assert store.get("k", [2]) == {2: replace(bought, origin=Origin.STORE)}
        assert store.get("k", [0, 1]) == {}
        assert store.get("other", [2]) == {}


def test_logprobs_come_back_and_rows_from_before_there_were_any_are_read(path: Path, tmp_path: Path) -> None:
    weighed = answer(1, logprobs=((("Yes", -0.5), ("No", -1.5)),))
    with SampleStore(path) as store:
        store.put("k", REQUEST, [answer(0), weighed])
        store.export(tmp_path / "export.jsonl")
        assert [sample.logprobs for sample in store.get("k", [0, 1]).values()] == [(), weighed.logprobs]
    old, new = (tmp_path / "export.jsonl").read_text("utf-8").splitlines()
    # As an earlier version wrote it, to the letter.
    assert "logprobs" not in old
    assert "logprobs" in new
    with SampleStore(tmp_path / "other") as store:
        assert store.import_(tmp_path / "export.jsonl") == 2
        assert store.get("k", [1])[1].logprobs == weighed.logprobs
    (tmp_path / "bad.jsonl").write_text(new.replace("-0.5", '"much"'), "utf-8")
    with SampleStore(tmp_path / "other") as store, pytest.raises(StoreError, match="is no token with its"):
        store.import_(tmp_path / "bad.jsonl")


def test_fewer_wanted_takes_the_first_and_more_wanted_leaves_the_missing_out(memory: SampleStore) -> None:
    memory.put("k", REQUEST, [answer(3, "d"), answer(0, "a"), answer(1, "b")])
    assert list(texts(memory, wanted=2).items()) == [(0, "a"), (1, "b")]
    assert list(texts(memory, wanted=5).items()) == [(0, "a"), (1, "b"), (3, "d")]


def test_a_sample_without_a_time_is_kept_as_answered_now(memory: SampleStore) -> None:
    before = time.time()
    memory.put("k", REQUEST, [Sample(0, "Paris", created=None)])
    created = memory.get("k", [0])[0].created
    assert created is not None
    assert before <= created <= time.time()


def test_what_is_handed_in_is_all_that_is_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    sample = answer(4, created=1000.0)
    with SampleStore(path) as store:
        store.put("k", REQUEST, [sample, replace(sample, index=5)])
        written = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"sk-very-secret" not in written
    with sqlite3.connect(path) as raw:
        tables = {
            name: raw.execute(f"SELECT * FROM {name}").fetchall()
            for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
    raw.close()
    kept = json.dumps(sample.to_dict())
    assert tables == {
        "requests": [(1, "k", "gpt-x", json.dumps(REQUEST))],
        "samples": [(1, "k", 4, 1000.0, kept), (2, "k", 5, 1000.0, kept)],
        "sqlite_sequence": [("samples", 2)],
    }


def test_nothing_to_keep_writes_nothing(memory: SampleStore) -> None:
    memory.put("k", REQUEST, [])
    assert memory.entries() == []


@pytest.mark.parametrize(
    ("request_", "sample"),
    [
        ({"model": "m", "callback": object()}, answer()),
        ({"model": "m", "temperature": math.nan}, answer()),
        (REQUEST, answer(cost_usd=math.inf)),
    ],
)
def test_what_is_not_json_is_refused_and_named(memory: SampleStore, request_: dict[str, Any], sample: Sample) -> None:
    with pytest.raises(StoreError, match="Request k cannot be kept in in memory"):
        memory.put("k", request_, [sample])
    assert memory.entries() == []


# ------------------------------------------------------------------------------------------------------ modes


def test_reuse_keeps_the_first_answer(path: Path) -> None:
    with SampleStore(path) as first, SampleStore(path) as second:
        first.put("k", REQUEST, [answer(0, "Paris")])
        second.put("k", REQUEST, [answer(0, "Lyon"), answer(1, "Nice"), answer(1, "Brest")])
        assert texts(first) == texts(second) == {0: "Paris", 1: "Nice"}


def test_an_expired_entry_counts_as_missing_and_is_replaced(path: Path) -> None:
    now = time.time()
    with SampleStore(path) as store:
        store.put("k", REQUEST, [answer(0, "old", created=now - 7200), answer(1, "new", created=now - 60)])
    with SampleStore(path, max_age=timedelta(hours=1)) as store:
        assert texts(store) == {1: "new"}
        store.put("k", REQUEST, [answer(0, "newest"), answer(1, "unwanted")])
        assert texts(store) == {0: "newest", 1: "new"}
    with SampleStore(path) as store:
        assert texts(store) == {0: "newest", 1: "new"}


def test_without_max_age_an_entry_of_any_age_is_reused(path: Path) -> None:
    with SampleStore(path) as store:
        store.put("k", REQUEST, [answer(0, "Paris", created=0.0)])
        assert texts(store) == {0: "Paris"}


def test_refresh_buys_anew_once_per_run(path: Path) -> None:
    with SampleStore(path) as store:
        # A clock ahead of ours must not make an old entry look new.
        store.put("k", REQUEST, [answer(0, "old", created=time.time() + 9e6), answer(1, "old too")])
    with SampleStore(path, mode="refresh") as store:
        assert texts(store) == {}
        # A provider's clock may lie behind ours, and its times are whole seconds.
        store.put("k", REQUEST, [answer(0, "new", created=1.0)])
        assert texts(store) == {0: "new"}
        store.put("k", REQUEST, [answer(0, "second metric")])
        assert texts(store) == {0: "new"}
        with SampleStore(path) as reader:
            assert texts(reader) == {0: "new", 1: "old too"}


def test_each_refresh_run_starts_anew(path: Path) -> None:
    for run in ("first", "second", "third"):
        with SampleStore(path, mode="refresh") as store:
            assert texts(store) == {}
            store.put("k", REQUEST, [answer(0, run)])
            assert texts(store) == {0: run}


def test_refresh_sees_what_another_store_kept_since(path: Path) -> None:
    with SampleStore(path, mode="refresh") as refreshing, SampleStore(path) as other:
        other.put("k", REQUEST, [answer(0, "bought meanwhile")])
        assert texts(refreshing) == {0: "bought meanwhile"}


def test_refresh_after_clear_does_not_take_new_entries_for_old_ones(path: Path) -> None:
    with SampleStore(path) as store:
        store.put("k", REQUEST, [answer(i) for i in range(10)])
    with SampleStore(path, mode="refresh") as store:
        store.clear()
        store.put("k", REQUEST, [answer(0, "new")])
        assert texts(store) == {0: "new"}


def test_replay_reads_and_writes_nothing(path: Path, tmp_path: Path) -> None:
    with SampleStore(path) as store:
        store.put("k", REQUEST, [answer(0, "Paris")])
        store.export(tmp_path / "export.jsonl")
    before, files = path.read_bytes(), beside(path)
    with SampleStore(path, mode="replay") as store:
        assert texts(store) == {0: "Paris"}
        assert [entry.key for entry in store.entries()] == ["k"]
        assert store.export(tmp_path / "again.jsonl") == 1
        for write in (
            lambda: store.put("k", REQUEST, [answer(1)]),
            lambda: store.import_(tmp_path / "export.jsonl"),
            store.clear,
        ):
            with pytest.raises(StoreError, match="open in mode 'replay', which writes nothing"):
                write()
    assert path.read_bytes() == before
    assert beside(path) == files | {"again.jsonl"}


def test_replay_sees_what_is_written_meanwhile(path: Path) -> None:
    with SampleStore(path) as writer, SampleStore(path, mode="replay") as reader:
        writer.put("k", REQUEST, [answer(0, "Paris")])
        assert texts(reader) == {0: "Paris"}


def test_replay_honours_max_age(path: Path) -> None:
    with SampleStore(path) as store:
        store.put("k", REQUEST, [answer(0, created=1.0)])
    with SampleStore(path, mode="replay", max_age=timedelta(days=1)) as store:
        assert texts(store) == {}


def test_replay_of_a_missing_file_says_so_and_creates_nothing(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "samples.sqlite3"
    with pytest.raises(StoreError, match=r"no sample store at .*samples\.sqlite3.* 'replay' creates none"):
        SampleStore(path, mode="replay")
    assert list(tmp_path.iterdir()) == []


def test_replay_of_an_empty_file_is_no_store(path: Path) -> None:
    path.touch()
    with pytest.raises(StoreError, match="not a sample store"):
        SampleStore(path, mode="replay")
    assert path.read_bytes() == b""


def pretend_read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    # What os.access says on read-only media; root, whom CI may run as, is told so nowhere else.
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)


def test_replay_from_read_only_media_creates_no_file_beside_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SampleStore(path) as store:
        store.put("k", REQUEST, [answer(0, "Paris")])
    pretend_read_only(monkeypatch)
    with SampleStore(path, mode="replay") as store:
        assert texts(store) == {0: "Paris"}
        assert beside(path) == {"samples.sqlite3"}


def test_replay_from_read_only_media_reads_the_log_of_a_writer(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SampleStore(path) as writer:
        writer.put("k", REQUEST, [answer(0, "Paris")])
        pretend_read_only(monkeypatch)
        with SampleStore(path, mode="replay") as reader:
            assert texts(reader) == {0: "Paris"}


# --------------------------------------------------------------------------------------- where the store lies


def test_the_default_path_is_in_the_cache_and_moved_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPIK_CHECKEMBED_STORE", raising=False)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name, appauthor: tmp_path / name)
    assert default_path() == tmp_path / "opik-checkembed" / "samples.sqlite3"
    monkeypatch.setenv("OPIK_CHECKEMBED_STORE", "")
    assert default_path() == tmp_path / "opik-checkembed" / "samples.sqlite3"
    with SampleStore() as store:
        assert store.path == tmp_path / "opik-checkembed" / "samples.sqlite3"
        assert store.path.exists()
    monkeypatch.setenv("OPIK_CHECKEMBED_STORE", str(tmp_path / "moved" / "s.db"))
    with SampleStore() as store:
        assert store.path == tmp_path / "moved" / "s.db"


def test_a_relative_path_and_a_home_are_resolved_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    with SampleStore("relative.db") as store, SampleStore("~/s.db") as at_home:
        assert store.path == tmp_path / "relative.db"
        assert at_home.path == tmp_path / "home" / "s.db"


def test_the_home_of_nobody_is_a_clear_error() -> None:
    with pytest.raises(StoreError, match="~no-such-user-at-all"):
        SampleStore("~no-such-user-at-all/s.db")


@pytest.mark.parametrize("name", ["with space.db", "100%25 #1?mode=memory&x.db", "größe-大.db", "file:x.db"])
@pytest.mark.parametrize("mode", ["reuse", "replay"])
def test_any_file_name_is_taken_as_it_is(tmp_path: Path, name: str, mode: Mode) -> None:
    if os.name == "nt" and set(name) & set('?:"'):
        pytest.skip("not a file name on Windows")
    with SampleStore(tmp_path / name) as store:
        store.put("k", REQUEST, [answer(0, "Paris")])
    with SampleStore(tmp_path / name, mode=mode) as store:
        assert texts(store) == {0: "Paris"}
    assert beside(tmp_path / name) == {name}


def test_memory_is_no_path() -> None:
    with pytest.raises(StoreError, match="store=None"):
        SampleStore(":memory:")


@posix_only
def test_identity_is_that_of_the_file(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(path)
    with SampleStore(link) as first, SampleStore(path, mode="refresh") as second:
        assert first.identity == second.identity
        assert first.path == link
        first.put("k", REQUEST, [answer(0, "Paris")])
        assert texts(second) == {0: "Paris"}
    with SampleStore(tmp_path / "other.db") as other:
        assert other.identity != first.identity
        assert SampleStore.in_memory().identity not in (first.identity, other.identity)


@posix_only
@pytest.mark.parametrize("umask", [0o000, 0o077, 0o277])
@pytest.mark.parametrize("already_there", [False, True])
def test_the_files_are_private_whatever_the_umask(path: Path, umask: int, already_there: bool) -> None:
    if already_there:
        path.touch()
        path.chmod(0o644)
    before = os.umask(umask)
    try:
        with SampleStore(path) as store:
            store.put("k", REQUEST, [answer()])
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert modes == {f"samples.sqlite3{end}": 0o600 for end in ("", "-wal", "-shm")}


@posix_only
def test_a_new_folder_is_private_and_a_file_with_content_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "samples.sqlite3"
    SampleStore(path).close()
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.chmod(0o660)
    SampleStore(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o660


def test_repr_names_file_and_mode(path: Path, memory: SampleStore) -> None:
    with SampleStore(path, mode="refresh") as store:
        assert repr(store) == f"SampleStore({os.path.realpath(path)!r}, mode='refresh')"
    assert repr(memory) == "SampleStore(':memory:', mode='reuse')"


# -------------------------------------------------------------------------------- what is wrong, said at once


@pytest.mark.parametrize("mode", ["again", None, "REUSE"])
def test_an_unknown_mode_is_refused(path: Path, mode: Any) -> None:
    with pytest.raises(ConfigurationError, match="'reuse', 'refresh' or 'replay'"):
        SampleStore(path, mode=mode)


@pytest.mark.parametrize("max_age", [3600, timedelta(0), timedelta(days=-1)])
def test_an_age_that_is_none_is_refused(path: Path, max_age: Any) -> None:
    with pytest.raises(ConfigurationError, match="max_age"):
        SampleStore(path, max_age=max_age)


@pytest.mark.parametrize("mode", ["reuse", "replay"])
def test_a_directory_is_refused(tmp_path: Path, mode: Mode) -> None:
    with pytest.raises(StoreError, match="is a directory: give the path of a file in it"):
        SampleStore(tmp_path, mode=mode)


@pytest.mark.parametrize("below", ["samples.sqlite3", "folder/samples.sqlite3"])
@pytest.mark.parametrize("mode", ["reuse", "refresh"])
def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path, below: str, mode: Mode) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    with pytest.raises(StoreError, match=r"file.*samples\.sqlite3 cannot be created .*store=None"):
        SampleStore(tmp_path / "file" / below, mode=mode)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_a_file_system_that_creates_no_files_is_refused() -> None:
    with pytest.raises(StoreError, match=r"/proc/opik/samples\.sqlite3 cannot be created"):
        SampleStore("/proc/opik/samples.sqlite3")


@posix_only
def test_a_link_to_itself_is_refused(path: Path) -> None:
    path.symlink_to(path)
    with pytest.raises(StoreError, match="cannot be"):
        SampleStore(path)


def test_a_file_that_can_only_be_read_is_refused_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SampleStore(path).close()
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect

    def read_only(database: str, **options: Any) -> sqlite3.Connection:
        # What SQLite itself falls back to when the system refuses to open a file for writing.
        return connect(database.replace("mode=rw", "mode=ro"), **options)

    monkeypatch.setattr(sqlite3, "connect", read_only)
    with pytest.raises(StoreError, match=r"cannot be written .*mode='replay' to only read it"):
        SampleStore(path)


@pytest.mark.parametrize("mode", ["reuse", "refresh", "replay"])
@pytest.mark.parametrize("content", [b"hello", b"PK\x03\x04" * 5000])
def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path, mode: Mode, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"samples\.sqlite3 is not a sample store, or is damaged .*move the file"):
        SampleStore(path, mode=mode)
    assert path.read_bytes() == content


def filled(path: Path, samples: int = 200) -> None:
    with SampleStore(path) as store:
        for i in range(samples):
            store.put(f"k{i}", REQUEST, [answer(0, f"answer {i} " * 50)])


@pytest.mark.parametrize("mode", ["reuse", "replay"])
def test_a_truncated_store_is_found_at_once(path: Path, mode: Mode) -> None:
    filled(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreError, match=r"samples\.sqlite3 is damaged .*move the file away"):
        SampleStore(path, mode=mode)


@pytest.mark.parametrize("mode", ["reuse", "replay"])
def test_damaged_pages_are_found_at_once(path: Path, mode: Mode) -> None:
    filled(path)
    whole = bytearray(path.read_bytes())
    middle = len(whole) // 2 // 4096 * 4096
    whole[middle : middle + 4096] = b"\xa5" * 4096
    path.write_bytes(whole)
    with pytest.raises(StoreError, match=r"samples\.sqlite3 is damaged .*move the file away"):
        SampleStore(path, mode=mode)


def test_damage_in_a_store_too_large_to_check_is_found_by_the_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_CHECKED_BYTES", 0)
    filled(path)
    whole = bytearray(path.read_bytes())
    whole[5 * 4096 :] = b"\xa5" * (len(whole) - 5 * 4096)
    path.write_bytes(whole)
    with SampleStore(path) as store, pytest.raises(StoreError, match="is damaged"):
        store.entries()


def test_damage_while_open_is_a_clear_error_of_get_and_put(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect

    def with_small_memory(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.execute("PRAGMA cache_size = 1")
        return connection

    monkeypatch.setattr(sqlite3, "connect", with_small_memory)
    filled(path)
    with SampleStore(path) as store:
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xa5" * (size - 4096))
        with pytest.raises(StoreError, match=r"is damaged .*move the file away"):
            store.get("k100", [0])
        with pytest.raises(StoreError, match=r"is damaged .*move the file away"):
            store.put("new", REQUEST, [answer()])


def test_a_store_from_a_newer_version_is_refused_and_left_alone(path: Path) -> None:
    filled(path, 1)
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA user_version = 2")
    raw.close()
    before = path.read_bytes()
    for mode in ("reuse", "refresh", "replay"):
        with pytest.raises(StoreError, match=r"newer version .*\(schema 2, this one reads 1\): upgrade"):
            SampleStore(path, mode=mode)
    assert path.read_bytes() == before


@pytest.mark.parametrize("user_version", [0, 1])
def test_a_database_of_another_program_is_refused_and_left_alone(path: Path, user_version: int) -> None:
    raw = sqlite3.connect(path)
    raw.executescript(f"CREATE TABLE bookmarks (url TEXT); PRAGMA user_version = {user_version}")
    raw.close()
    before = path.read_bytes()
    for mode in ("reuse", "replay"):
        with pytest.raises(StoreError, match="an SQLite database but not a sample store"):
            SampleStore(path, mode=mode)
    assert path.read_bytes() == before
    assert beside(path) == {"samples.sqlite3"}


def test_the_schema_is_versioned(path: Path) -> None:
    SampleStore(path).close()
    raw = sqlite3.connect(path)
    assert raw.execute("PRAGMA user_version").fetchone() == (1,)
    assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    raw.close()


def test_a_store_that_stays_locked_is_a_clear_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_LOCK_TIMEOUT_S", 0.05)
    with SampleStore(path) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"is locked by another process .*end that process"):
            store.put("k", REQUEST, [answer(0, "Paris")])
        with pytest.raises(StoreError, match="is locked by another process"):
            SampleStore(path)
        assert texts(store) == {}
        other.close()
        store.put("k", REQUEST, [answer(0, "Lyon")])
        assert texts(store) == {0: "Lyon"}


def test_a_store_that_another_process_is_creating_is_waited_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect
    other = connect(path, isolation_level=None)
    happened: list[str] = []

    def meet(statement: str) -> None:
        if statement == "PRAGMA journal_mode = WAL" and not happened:
            happened.append("the other writes")
            other.execute("BEGIN IMMEDIATE")

    def watched(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(meet)
        return connection

    def sleep(seconds: float) -> None:
        happened.append("we wait")
        other.close()

    monkeypatch.setattr(sqlite3, "connect", watched)
    monkeypatch.setattr(time, "sleep", sleep)
    with SampleStore(path) as store:
        store.put("k", REQUEST, [answer(0, "Paris")])
        assert texts(store) == {0: "Paris"}
        assert len(beside(path)) == 3
    assert happened == ["the other writes", "we wait"]


@pytest.mark.parametrize(
    ("stored", "why"),
    [
        ("{", "Expecting property name"),
        ("[]", "malformed"),
        ("{}", "no 'usage'"),
        (b"\xff\xfe", "can't decode"),
        (7, "malformed"),
        (json.dumps({**answer().to_dict(), "status": "great"}), "not a valid Status"),
        (json.dumps({**answer().to_dict(), "text": None}), "text is None"),
        (json.dumps({**answer().to_dict(), "cost_usd": math.nan}), "NaN is not JSON"),
    ],
)
def test_a_row_that_is_no_sample_is_named(path: Path, stored: str | bytes | int, why: str) -> None:
    with SampleStore(path) as store:
        store.put("key-1", REQUEST, [answer(3)])
        with sqlite3.connect(path) as raw:
            raw.execute("UPDATE samples SET sample = ?", (stored,))
        raw.close()
        for read in (lambda: store.get("key-1", [3]), store.entries, lambda: store.export(path.parent / "e")):
            with pytest.raises(StoreError, match=rf"not a sample: key key-1, index 3 \(.*{why}"):
                read()
        assert store.get("key-1", [0]) == {}


def test_a_row_that_is_no_request_is_named(path: Path) -> None:
    with SampleStore(path) as store:
        store.put("key-1", REQUEST, [answer()])
        with sqlite3.connect(path) as raw:
            raw.execute("UPDATE requests SET request = '[]'")
        raw.close()
        for read in (store.entries, lambda: store.export(path.parent / "e")):
            with pytest.raises(StoreError, match=r"not a request: key key-1 .*not an object"):
                read()


def test_a_full_disk_loses_nothing_that_was_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect
    connections: list[sqlite3.Connection] = []

    def with_small_disk(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.execute("PRAGMA max_page_count = 12")
        connections.append(connection)
        return connection

    monkeypatch.setattr(sqlite3, "connect", with_small_disk)
    with SampleStore(path) as store:
        store.put("k", REQUEST, [answer(0, "small")])
        with pytest.raises(StoreError, match=r"samples\.sqlite3 has no room to grow .*free disk space"):
            store.put("k", REQUEST, [answer(1, "also small"), answer(2, "x" * 100_000)])
        assert texts(store) == {0: "small"}
        connections[0].execute("PRAGMA max_page_count = 1000")
        store.put("k", REQUEST, [answer(2, "x" * 100_000)])
        assert list(texts(store)) == [0, 2]


@posix_only
def test_a_write_that_the_system_refuses_is_a_clear_error(tmp_path: Path, path: Path) -> None:
    script = """
import resource, sys
from opik_checkembed.errors import StoreError
from opik_checkembed.samples.sample import Sample
from opik_checkembed.samples.store import SampleStore

with SampleStore(sys.argv[1]) as store:
    store.put("k", {}, [Sample(0, "before")])
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, hard))
    try:
        store.put("k", {}, [Sample(1, "x" * 500_000)])
    except StoreError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    store.put("k", {}, [Sample(2, "after")])
    print(sorted(store.get("k", range(5))))
"""
    said = finish(run_script(tmp_path, script, path)).splitlines()
    assert "samples.sqlite3" in said[0]
    assert "check the disk" in said[0] or "free disk space" in said[0]
    assert said[1] == "[0, 2]"


def test_a_put_that_fails_half_way_keeps_nothing_of_it(path: Path) -> None:
    with SampleStore(path) as store:
        raw = sqlite3.connect(path)
        raw.execute("CREATE TRIGGER t BEFORE INSERT ON samples WHEN NEW.idx = 1 BEGIN SELECT RAISE(ABORT, 'no'); END")
        raw.close()
        with pytest.raises(StoreError, match=r"cannot be used .no.: check the disk"):
            store.put("k", REQUEST, [answer(0), answer(1)])
        assert store.entries() == []
        store.put("k", REQUEST, [answer(0), answer(2)])
        assert list(texts(store)) == [0, 2]


# -------------------------------------------------------------------------------------------- open and closed


def test_a_closed_store_says_so(path: Path) -> None:
    store = SampleStore(path)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="is closed: open it again"):
        store.get("k", [0])


def test_the_last_one_to_close_leaves_one_file(path: Path) -> None:
    with SampleStore(path) as store:
        store.put("k", REQUEST, [answer()])
    assert beside(path) == {"samples.sqlite3"}


def test_a_store_that_is_dropped_is_closed(path: Path) -> None:
    store = SampleStore(path)
    store.put("k", REQUEST, [answer()])
    assert len(beside(path)) == 3
    del store
    gc.collect()
    assert beside(path) == {"samples.sqlite3"}


def test_a_store_that_is_refused_is_closed(path: Path) -> None:
    filled(path)
    whole = bytearray(path.read_bytes())
    whole[8 * 4096 : 9 * 4096] = b"\xa5" * 4096
    path.write_bytes(whole)
    with pytest.raises(StoreError) as refused:
        SampleStore(path)
    # The error still holds on to the frame of the constructor, yet not to the file.
    assert refused.value.__traceback__ is not None
    assert beside(path) == {"samples.sqlite3"}


def test_the_store_of_the_process_is_shared_until_closed() -> None:
    first = SampleStore.in_memory()
    assert SampleStore.in_memory() is first
    assert (first.path, first.mode) == (None, "reuse")
    first.put("k", REQUEST, [answer(0, "Paris")])
    assert texts(SampleStore.in_memory()) == {0: "Paris"}
    first.close()
    second = SampleStore.in_memory()
    assert texts(second) == {}
    second.close()


@posix_only
@pytest.mark.parametrize("deleted", ["the file", "the folder"])
def test_a_store_deleted_under_our_feet_is_started_anew(tmp_path: Path, deleted: str) -> None:
    path = tmp_path / "folder" / "samples.sqlite3"
    with SampleStore(path, mode="refresh") as store:
        store.put("k", REQUEST, [answer(i) for i in range(5)])
        for file in list(path.parent.iterdir()) if deleted == "the folder" else [path]:
            file.unlink()
        if deleted == "the folder":
            path.parent.rmdir()
        store.put("k", REQUEST, [answer(7, "new")])
        assert texts(store) == {7: "new"}
    with SampleStore(path) as store:
        assert texts(store) == {7: "new"}


@posix_only
def test_a_store_deleted_while_replayed_is_a_clear_error(path: Path) -> None:
    filled(path, 1)
    with SampleStore(path, mode="replay") as store:
        path.unlink()
        with pytest.raises(StoreError, match="no sample store at"):
            store.get("k0", [0])


# ------------------------------------------------------------------------------------ looking after the store


def test_entries_sum_up_each_request_in_order(memory: SampleStore) -> None:
    memory.put("z", REQUEST, [answer(0, cost_usd=0.25, created=20.0), answer(1, cost_usd=0.5, created=10.0)])
    memory.put("a", {"kind": "chat", "model": "m2", "messages": []}, [answer(0, cost_usd=None, created=5.0)])
    memory.put("a", {}, [answer(1, cost_usd=0.5, created=6.0)])
    memory.put("free", {"kind": "task", "item": {"question": "Why?"}}, [answer(0, cost_usd=0.0, created=7.0)])
    assert memory.entries() == [
        StoreEntry("z", "gpt-x", "Capital of France?", 2, 10.0, 20.0, 0.75),
        StoreEntry("a", "m2", '{"messages": []}', 2, 5.0, 6.0, None),
        StoreEntry("free", None, '{"item": {"question": "Why?"}}', 1, 7.0, 7.0, 0.0),
    ]


@pytest.mark.parametrize(
    ("messages", "excerpt"),
    [
        ([{"role": "user", "content": "one"}, {"role": "user", "content": " two\n\tlines "}], "two lines"),
        ([{"role": "user", "content": "asked"}, {"role": "assistant", "content": "said"}], "asked"),
        ([{"role": "system", "content": "only this"}], "only this"),
        ([{"role": "user", "content": "x" * 80}], "x" * 80),
        ([{"role": "user", "content": "x" * 81}], "x" * 79 + "…"),
        (
            [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "What is"},
                        {"type": "image_url"},
                        {"text": "this?"},
                    ],
                }
            ],
            "What is this?",
        ),
        ([{"role": "user", "content": None}], ""),
    ],
)
def test_the_excerpt_is_the_last_user_message(memory: SampleStore, messages: list[Any], excerpt: str) -> None:
    memory.put("k", {"model": "m", "messages": messages}, [answer()])
    assert [entry.excerpt for entry in memory.entries()] == [excerpt]


def test_export_has_one_documented_line_a_sample(memory: SampleStore, tmp_path: Path) -> None:
    target = tmp_path / "export.jsonl"
    second, first = answer(1, "b", created=2.0), answer(0, "a", created=1.0, usage=Usage(3, 4), cost_usd=0.5)
    memory.put("z", REQUEST, [second])
    memory.put("z", REQUEST, [first])
    memory.put("a", {"model": "m2"}, [first])
    assert memory.export(target) == 3
    assert [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()] == [
        {"schema": 1, "key": "a", "index": 0, "request": {"model": "m2"}, "sample": first.to_dict()},
        {"schema": 1, "key": "z", "index": 0, "request": REQUEST, "sample": first.to_dict()},
        {"schema": 1, "key": "z", "index": 1, "request": REQUEST, "sample": second.to_dict()},
    ]
    assert memory.export(target, model="m2") == 1
    assert len(target.read_text(encoding="utf-8").splitlines()) == 1
    assert memory.export(target, model="unknown") == 0
    assert target.read_bytes() == b""
    assert beside(target) == {"export.jsonl"}


sample_fields = st.fixed_dictionaries(
    {
        "text": st.text(st.characters(exclude_categories=())),
        "status": st.sampled_from(Status),
        "finish_reason": st.none() | st.text(max_size=5),
        "usage": st.none() | st.builds(Usage, st.none() | st.integers(0, 10**9), st.none(), st.integers(1, 9)),
        "cost_usd": st.none() | st.floats(0, 1e6),
        "model": st.none() | st.text(max_size=5),
        "created": st.floats(0, 4e9),
        "dropped": st.lists(st.text(max_size=3), max_size=2).map(tuple),
    }
)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.tuples(st.text(min_size=1, max_size=3), st.integers(0, 20)), sample_fields, max_size=8))
def test_import_of_an_export_gives_every_sample_back(
    tmp_path_factory: pytest.TempPathFactory, kept: dict[tuple[str, int], dict[str, Any]]
) -> None:
    target = tmp_path_factory.mktemp("export") / "export.jsonl"
    samples = {(key, index): Sample(index, **fields) for (key, index), fields in kept.items()}
    with SampleStore.in_memory() as store:
        for (key, _), sample in samples.items():
            store.put(key, REQUEST, [sample])
        assert store.export(target) == len(samples)
    exported = target.read_bytes()
    with SampleStore.in_memory() as store:
        assert store.import_(target) == len(samples)
        assert store.import_(target) == 0
        found = {(key, i): s for key, _ in samples for i, s in store.get(key, range(21)).items()}
        assert found == {at: replace(sample, origin=Origin.STORE) for at, sample in samples.items()}
        store.export(target)
    assert target.read_bytes() == exported


def test_import_keeps_what_is_there_even_if_expired(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "export.jsonl"
    with SampleStore.in_memory() as source:
        source.put("k", REQUEST, [answer(0, "imported"), answer(1, "imported")])
        source.export(target)
    with SampleStore(path, max_age=timedelta(hours=1)) as store:
        store.put("k", REQUEST, [answer(0, "there", created=1.0)])
        assert store.import_(target) == 1
        assert texts(store) == {1: "imported"}
    with SampleStore(path) as store:
        assert texts(store) == {0: "there", 1: "imported"}


def line(**changes: Any) -> dict[str, Any]:
    return {"schema": 1, "key": "k", "index": 0, "request": REQUEST, "sample": answer().to_dict(), **changes}


def sample_line(**changes: Any) -> dict[str, Any]:
    return line(sample={**answer().to_dict(), **changes})


def test_import_takes_files_that_windows_tools_have_saved(memory: SampleStore, tmp_path: Path) -> None:
    target = tmp_path / "windows.jsonl"
    lines = [json.dumps(line(index=index)) for index in range(2)]
    target.write_bytes(b"\xef\xbb\xbf" + "\r\n".join([*lines, "", ""]).encode())
    assert memory.import_(target) == 2


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("{", "Expecting property name"),
        ("[1]", "not an object"),
        (json.dumps({"key": "k", "index": 0}), "no schema, request, sample"),
        (json.dumps(line(schema=2)), "schema is 2, this version reads 1"),
        (json.dumps(line(key="")), "key is ''"),
        (json.dumps(line(key=5)), "key is 5"),
        (json.dumps(line(index=-1)), "index is -1"),
        (json.dumps(line(index=True)), "index is True"),
        (json.dumps(line(index=10**30)), "index is 1000"),
        (json.dumps(line(index="0")), "index is '0'"),
        (json.dumps(line(request=[])), "request is not an object"),
        (json.dumps(line(request={"temperature": math.nan})), "NaN is not JSON"),
        (json.dumps(line(sample="Paris")), "malformed"),
        (json.dumps(line(sample={"text": "Paris"})), "sample has no 'usage'"),
        (json.dumps(sample_line(text=5)), "text is 5"),
        (json.dumps(sample_line(status="fine")), "'fine' is not a valid Status"),
        (json.dumps(sample_line(model=5)), "model is 5"),
        (json.dumps(sample_line(finish_reason=[])), r"finish_reason is \[\]"),
        (json.dumps(sample_line(cost_usd="free")), "cost_usd is 'free'"),
        (json.dumps(sample_line(cost_usd=True)), "cost_usd is True"),
        (json.dumps(sample_line(created=10**400)), "created is 1000"),
        (json.dumps(sample_line(created=0)).replace('"created": 0', '"created": 1e999'), "created is inf"),
        (json.dumps(sample_line(dropped="n")), "dropped is 'n'"),
        (json.dumps(sample_line(dropped=[1])), r"dropped is \[1\]"),
        (json.dumps(sample_line(usage=5)), "malformed"),
        (
            json.dumps(sample_line(usage={"prompt_tokens": 1, "completion_tokens": 1, "choices": 0})),
            "usage is",
        ),
        (json.dumps(sample_line(usage={"prompt_tokens": -1, "completion_tokens": 1})), "usage is"),
        (b"\xff\xfe\xfa", "can't decode"),
    ],
)
def test_import_names_the_bad_line_and_imports_nothing(
    memory: SampleStore, tmp_path: Path, bad: str | bytes, why: str
) -> None:
    target = tmp_path / "export.jsonl"
    lines = [json.dumps(line(key="good")).encode(), b"", bad if isinstance(bad, bytes) else bad.encode()]
    target.write_bytes(b"\n".join([*lines, json.dumps(line(key="also good")).encode()]))
    with pytest.raises(StoreError, match=rf"export\.jsonl, line 3: .*{why}.*; nothing was imported"):
        memory.import_(target)
    assert memory.entries() == []


def test_import_and_export_name_a_file_that_cannot_be_used(path: Path, tmp_path: Path) -> None:
    with SampleStore(path) as store:
        store.put("k", REQUEST, [answer(0, "Paris")])
        with pytest.raises(StoreError, match=r"Cannot import .*absent\.jsonl: No such file"):
            store.import_(tmp_path / "absent.jsonl")
        (tmp_path / "folder").mkdir()
        with pytest.raises(StoreError, match=r"Cannot export to .*folder: "):
            store.export(tmp_path / "folder")
        with pytest.raises(StoreError, match=r"Cannot export to .*No such file"):
            store.export(tmp_path / "absent" / "export.jsonl")
        with pytest.raises(StoreError, match="it is the store itself"):
            store.export(path)
        assert texts(store) == {0: "Paris"}
    assert beside(path) == {"samples.sqlite3", "folder"}


def test_an_export_that_fails_leaves_the_old_file(
    memory: SampleStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "export.jsonl"
    target.write_text("precious", encoding="utf-8")
    memory.put("k", REQUEST, [answer()])

    def fail(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(StoreError, match="No space left on device"):
        memory.export(target)
    assert target.read_text(encoding="utf-8") == "precious"
    assert beside(target) == {"export.jsonl"}


def test_import_of_nothing_is_nothing(memory: SampleStore, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    assert memory.import_(tmp_path / "empty.jsonl") == 0


@pytest.mark.parametrize(
    ("conditions", "left"),
    [
        ({}, []),
        ({"model": "gpt-x"}, ["c"]),
        ({"model": "unknown"}, ["a", "b", "c"]),
        ({"older_than": timedelta(hours=1)}, ["b"]),
        ({"model": "gpt-x", "older_than": timedelta(hours=1)}, ["b", "c"]),
    ],
)
def test_clear_deletes_what_meets_both_conditions(
    memory: SampleStore, conditions: dict[str, Any], left: list[str]
) -> None:
    old = time.time() - 7200
    memory.put("a", REQUEST, [answer(0, created=old), answer(1, created=old)])
    memory.put("b", REQUEST, [answer(0)])
    memory.put("c", {"model": "other"}, [answer(0, created=old)])
    sizes = {"a": 2, "b": 1, "c": 1}
    assert memory.clear(**conditions) == 4 - sum(sizes[key] for key in left)
    assert {entry.key: entry.samples for entry in memory.entries()} == {key: sizes[key] for key in left}


def test_cleared_samples_are_gone_from_the_disk(path: Path) -> None:
    with SampleStore(path) as store:
        store.put(
            "private",
            {"messages": "PRIVATE-QUESTION"},
            [answer(i, "PRIVATE-ANSWER " * 99) for i in range(50)],
        )
        store.put("k", REQUEST, [answer(0, "Paris")])
        size = sum(file.stat().st_size for file in path.parent.iterdir())
        assert store.clear(older_than=timedelta(days=1)) == 0
        store.put("private", {}, [answer(99)])
        assert store.clear() == 52
        left = b"".join(file.read_bytes() for file in path.parent.iterdir())
        assert b"PRIVATE" not in left
        assert len(left) < size / 2


# --------------------------------------------------------------------------- threads, processes, kills, forks


@pytest.mark.parametrize("make", [lambda path: SampleStore(path), lambda path: SampleStore.in_memory()])
def test_sixteen_threads_share_a_store(path: Path, make: Callable[[Path], SampleStore]) -> None:
    start = threading.Barrier(16)

    def work(store: SampleStore, thread: int) -> list[dict[int, str]]:
        start.wait(timeout=10)
        seen = []
        for i in range(20):
            store.put(f"shared{i}", REQUEST, [answer(0, f"by {thread}")])
            store.put(f"own{thread}", REQUEST, [answer(i, f"{thread}/{i}")])
            seen.append(texts(store, f"shared{i}"))
        return seen

    with make(path) as store, ThreadPoolExecutor(16) as pool:
        seen = [run.result() for run in [pool.submit(work, store, thread) for thread in range(16)]]
        # The first writer won, and everyone read what it wrote.
        assert all(other == seen[0] for other in seen)
        for thread in range(16):
            assert texts(store, f"own{thread}", 20) == {i: f"{thread}/{i}" for i in range(20)}


def test_stores_opened_at_once_over_a_new_file(path: Path) -> None:
    start = threading.Barrier(8)

    def work(thread: int) -> None:
        start.wait(timeout=10)
        with SampleStore(path) as store:
            store.put("k", REQUEST, [answer(thread, str(thread))])

    with ThreadPoolExecutor(8) as pool:
        for run in [pool.submit(work, thread) for thread in range(8)]:
            run.result()
    with SampleStore(path) as store:
        assert texts(store) == {i: str(i) for i in range(8)}


WORKER = """
import sys
from opik_checkembed.samples.sample import Sample
from opik_checkembed.samples.store import SampleStore

path, worker = sys.argv[1], int(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
seen = []
for i in range(25):
    # Opened again and again, as the first to come creates the file and the last to go tidies up.
    with SampleStore(path) as store:
        store.put(f"shared{i}", {"model": "m"}, [Sample(0, f"by {worker}")])
        for j in range(4):
            store.put("own", {"model": "m"}, [Sample(worker * 1000 + i * 4 + j, "x" * 500)])
        seen.append(store.get(f"shared{i}", [0])[0].text)
print(seen)
"""


def test_four_processes_share_a_file(tmp_path: Path, path: Path) -> None:
    (tmp_path / "worker.py").write_text(WORKER, encoding="utf-8")
    workers = [
        subprocess.Popen(
            [sys.executable, "-W", "error", str(tmp_path / "worker.py"), str(path), str(worker)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for worker in range(4)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    seen = [finish(worker) for worker in workers]
    assert len(set(seen)) == 1
    with SampleStore(path) as store:
        assert len(store.get("own", range(4000))) == 400
        assert [entry.samples for entry in store.entries() if entry.key != "own"] == [1] * 25


@posix_only
def test_what_was_kept_survives_a_kill(tmp_path: Path, path: Path) -> None:
    script = """
import itertools, sys
from opik_checkembed.samples.sample import Sample
from opik_checkembed.samples.store import SampleStore

store = SampleStore(sys.argv[1])
for i in itertools.count():
    store.put("k", {"model": "m"}, [Sample(i, f"answer {i}")])
    print(i, flush=True)
"""
    with run_script(tmp_path, script, path) as process:
        assert process.stdout is not None
        for _ in range(200):
            assert process.stdout.readline()
        process.kill()
        returned = int(["199", *process.stdout.read().split()][-1])
    assert process.returncode == -signal.SIGKILL
    assert beside(path) >= {"samples.sqlite3", "samples.sqlite3-wal"}
    for mode in ("replay", "reuse"):
        with SampleStore(path, mode=mode) as store:
            kept = texts(store, wanted=returned + 100)
    # One more may have been written before its number could be printed.
    assert len(kept) in (returned + 1, returned + 2)
    assert kept == {i: f"answer {i}" for i in range(len(kept))}


@posix_only
def test_a_fork_amid_writing_threads_harms_neither_side(tmp_path: Path, path: Path) -> None:
    script = """
import os, sys, threading, warnings
from opik_checkembed.samples.sample import Sample
from opik_checkembed.samples.store import SampleStore

# Newer Pythons warn of what this is about: forking while other threads run.
warnings.simplefilter("ignore", DeprecationWarning)
refreshing = SampleStore(sys.argv[1], mode="refresh")
memory = SampleStore.in_memory()
memory.put("k", {}, [Sample(0, "from the parent")])
stop = threading.Event()
counts = [0] * 4

def write(thread):
    while not stop.is_set():
        refreshing.put(f"thread{thread}", {}, [Sample(counts[thread], "x" * 200)])
        memory.put(f"thread{thread}", {}, [Sample(counts[thread], "x")])
        counts[thread] += 1

threads = [threading.Thread(target=write, args=(i,)) for i in range(4)]
for thread in threads:
    thread.start()
children = []
for child in range(8):
    refreshing.put("before", {}, [Sample(child, "parent")])
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            assert refreshing.get("before", [child])[child].text == "parent"
            assert memory.get("k", [0])[0].text == "from the parent"
            memory.put("k", {}, [Sample(1, "from a child")])
            for i in range(20):
                refreshing.put("children", {}, [Sample(child * 20 + i, "child")])
            assert len(refreshing.get("children", range(child * 20, child * 20 + 20))) == 20
            status = 0
        finally:
            os._exit(status)
    children.append(pid)
statuses = [os.waitpid(pid, 0)[1] for pid in children]
stop.set()
for thread in threads:
    thread.join()
assert statuses == [0] * 8, statuses
assert len(refreshing.get("children", range(160))) == 160
assert len(refreshing.get("before", range(8))) == 8
assert all(len(refreshing.get(f"thread{i}", range(counts[i]))) == counts[i] > 0 for i in range(4))
assert list(memory.get("k", range(5))) == [0]
refreshing.close()
memory.close()
"""
    finish(run_script(tmp_path, script, path))
    with SampleStore(path) as store:
        assert len(store.get("children", range(160))) == 160
    assert beside(path) == {"samples.sqlite3", "script.py"}


@posix_only
def test_refresh_goes_on_across_a_fork(path: Path, memory: SampleStore) -> None:
    memory.put("k", REQUEST, [answer(0, "in memory")])
    with SampleStore(path) as store:
        store.put("k", REQUEST, [answer(0, "old"), answer(1, "old")])
    with SampleStore(path, mode="refresh") as store:
        store.put("k", REQUEST, [answer(0, "new")])
        with warnings.catch_warnings():
            # Newer Pythons warn of what this is about, should other threads be running.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            os._exit(0 if texts(store) == {0: "new"} and texts(memory) == {0: "in memory"} else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert texts(store) == {0: "new"}
        assert texts(memory) == {0: "in memory"}


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are listed in /proc on Linux alone")
def test_a_child_has_no_connection_of_its_parent(path: Path) -> None:
    with SampleStore(path) as store:
        store.put("k", REQUEST, [answer(0, "of the parent")])
        assert path.name in " ".join(_open_files())
        with warnings.catch_warnings():
            # Newer Pythons warn of what this is about, should other threads be running.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            os._exit(1 if path.name in " ".join(_open_files()) else 0)
        assert os.waitpid(child, 0)[1] == 0
        assert texts(store) == {0: "of the parent"}


def _open_files() -> list[str]:
    found = []
    for file in Path("/proc/self/fd").iterdir():
        # The one that lists the folder is closed by now.
        with contextlib.suppress(OSError):
            found.append(str(file.readlink()))
    return found


def test_importing_it_loads_nothing_heavy(tmp_path: Path) -> None:
    script = """
import sys
import opik_checkembed.samples.store
print(sorted({"opik", "litellm", "torch", "numpy", "platformdirs"} & set(sys.modules)))
"""
    assert finish(run_script(tmp_path, script)) == "[]\n"
