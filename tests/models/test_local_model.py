from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

from opik_checkembed.errors import ConfigurationError, ModelUnavailable
from opik_checkembed.models import local_model
from opik_checkembed.models.local_model import (
    LocalModel,
    check_device,
    load_pretrained,
    locate,
    resolve_device,
    shared_local_model,
)


def test_it_is_loaded_at_the_first_use_and_once() -> None:
    loads: list[int] = []
    model = LocalModel(lambda: loads.append(1) or object())  # type: ignore[func-returns-value]
    start = threading.Barrier(8)

    def use() -> object:
        start.wait(10)
        with model.lock:
            return model.model()

    assert not model.loaded
    with ThreadPoolExecutor(8) as pool:
        found = [f.result() for f in [pool.submit(use) for _ in range(8)]]
    assert len(set(map(id, found))) == 1
    assert loads == [1]
    assert model.loaded


def test_a_released_model_is_loaded_again() -> None:
    model = LocalModel(object)
    first = model.model()
    model.release()

    assert not model.loaded
    assert model.model() is not first


def test_a_failure_is_remembered_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def load() -> object:
        tries.append(1)
        if len(tries) < 3:
            raise ModelUnavailable(f"try {len(tries)}")
        return object()

    model = LocalModel(load)
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="try 1"):
            model.model()
    monkeypatch.setattr(local_model, "_SECONDS_BETWEEN_LOADS", 0.0)
    with pytest.raises(ModelUnavailable, match="try 2"):
        model.model()
    assert model.model() is model.model()
    assert len(tries) == 3


def test_equal_keys_share_a_model() -> None:
    one = shared_local_model(("test", "a"), object)

    assert shared_local_model(("test", "a"), object) is one
    assert shared_local_model(("test", "b"), object) is not one


def test_a_folder_and_a_name_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setenv("HOME", str(tmp_path.parent))

    assert locate(tmp_path, "a model", "org/name") == str(tmp_path.resolve())
    assert locate(f"~/{tmp_path.name}", "a model", "org/name") == str(tmp_path.resolve())
    assert locate("org/name", "a model", "org/name") == "org/name"


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (None, "a model is a Hugging Face name like 'org/name' or a folder, not None"),
        ("", "not ''"),
        ("./nowhere", "there is no folder"),
        ("a/b/c", "there is no folder"),
        (Path("nowhere"), "there is no folder"),
        ("~nobody/x", "there is no folder"),
    ],
)
def test_what_can_be_no_model_is_refused(model: Any, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        locate(model, "a model", "org/name")


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"holds no model \(no config.json\).*save_pretrained\(\) wrote"):
        locate(tmp_path, "a model", "org/name")
    with pytest.raises(ConfigurationError, match=r"\(neither a nor b\).*that X wrote"):
        locate(tmp_path, "a model", "org/name", ("a", "b"), "X")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError("no such file.\nmore"), r"the thing 'org/name' was not found \(no such file\). Ways. With a conn"),
        (RuntimeError("bad\nmore"), r"the thing 'org/name' could not be loaded \(RuntimeError: bad\)"),
        (ModelUnavailable("as it is"), "^as it is$"),
    ],
)
def test_what_keeps_a_model_from_loading_is_named(error: Exception, says: str) -> None:
    def load() -> object:
        raise error

    with pytest.raises(ModelUnavailable, match=says):
        load_pretrained(load, "org/name", "thing", "Ways")


def test_devices() -> None:
    best = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"

    assert resolve_device(None) == torch.device(best)
    assert resolve_device("cpu") == torch.device("cpu")
    with pytest.raises(ModelUnavailable, match="there is no device 'nonsense'"):
        resolve_device("nonsense")
    check_device("cuda:1")
    for wrong in ("", 3):
        with pytest.raises(ConfigurationError, match="device must be a name"):
            check_device(wrong)  # type: ignore[arg-type]
