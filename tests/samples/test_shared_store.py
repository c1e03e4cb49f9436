from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from opik_checkembed.errors import ConfigurationError, StoreError
from opik_checkembed.samples.shared_store import open_store
from opik_checkembed.samples.store import SampleStore

Open = Callable[..., SampleStore]


@pytest.fixture
def opened() -> Iterator[Open]:
    """`open_store`, whose files are closed after the test; the store in memory is the whole process's."""
    stores: list[SampleStore] = []

    def keep(*arguments: object) -> SampleStore:
        store = open_store(*arguments)  # type: ignore[arg-type] # wrong ones are given as well
        stores.append(store)
        return store

    yield keep
    for store in stores:
        if store.path is not None:
            store.close()


def test_one_store_for_one_file_however_it_is_named(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    path = tmp_path / "samples.sqlite3"
    store = opened(path)
    assert path.exists()
    for same in (str(path), "samples.sqlite3", Path("samples.sqlite3"), "~/samples.sqlite3"):
        assert opened(same) is store
    assert opened(tmp_path / "other.sqlite3") is not store


@pytest.mark.parametrize("spelled", ["{}/samples.sqlite3", "~/samples.sqlite3"])
def test_the_default_is_where_the_environment_says(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spelled: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("OPIK_CHECKEMBED_STORE", spelled.format(tmp_path))
    store = opened()
    assert (tmp_path / "samples.sqlite3").exists()
    assert opened("default") is store
    assert opened(tmp_path / "samples.sqlite3") is store


def test_a_store_is_itself(opened: Open) -> None:
    own = opened(None)
    assert opened(own) is own


def test_none_is_the_one_in_memory(opened: Open) -> None:
    store = opened(None)
    assert store.path is None
    assert opened(None) is store


def test_a_closed_one_is_opened_anew(opened: Open, tmp_path: Path) -> None:
    first = opened(tmp_path / "samples.sqlite3")
    first.close()
    second = opened(tmp_path / "samples.sqlite3")
    assert second is not first
    assert not second.closed


def test_a_file_that_cannot_be_used_is_tried_again(opened: Open, tmp_path: Path) -> None:
    place = tmp_path / "samples.sqlite3"
    place.mkdir()
    with pytest.raises(StoreError):
        opened(place)
    place.rmdir()
    assert not opened(place).closed


@pytest.mark.parametrize("store", [5, "", True, ["samples.sqlite3"], b"samples.sqlite3"])
def test_what_names_no_store(opened: Open, store: object) -> None:
    with pytest.raises(ConfigurationError, match="store must be a SampleStore, a path, 'default' or None"):
        opened(store)


def test_sixteen_threads_open_one(opened: Open, tmp_path: Path) -> None:
    together = threading.Barrier(16, timeout=10)

    def open_it(_: int) -> SampleStore:
        together.wait()
        return opened(tmp_path / "samples.sqlite3")

    with ThreadPoolExecutor(16) as pool:
        assert len(set(map(id, pool.map(open_it, range(16))))) == 1
