"""Parameters for a model that a command line gives: what may be a credential stands in no message and no file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from opik_checkembed.cli import cli
from opik_checkembed.cli_values import own_parameters, pair, parameters, price_list
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.testing import FakeOpenAI, Fault

SECRETS = {
    "api_key": "sk-secret-one",
    "extra_headers": {"Authorization": "Bearer secret-two", "x-team": "secret-three"},
    "extra_body": {"top_k": 3, "auth_token": "secret-four", "inner": [{"password": "secret-five"}]},
    "organization": "secret-six",
}


@pytest.fixture(autouse=True)
def _own_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPIK_CHECKEMBED_STORE", str(tmp_path / "default.sqlite3"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sk-secret", "an option without an '=' is not of the form --param NAME=VALUE"),
        ("=sk-secret", "an option without a name before its '=' is not of the form --param NAME=VALUE"),
        ("", "an option without an '='"),
    ],
)
def test_a_malformed_option_is_not_repeated(text: str, said: str) -> None:
    for read in (
        lambda: pair(text, "--param NAME=VALUE"),
        lambda: parameters([text]),
        lambda: own_parameters([text], {}),
    ):
        with pytest.raises(ConfigurationError, match=said) as caught:
            read()
        assert "secret" not in str(caught.value)


def test_a_parameter_that_is_set_elsewhere_is_named_without_its_value() -> None:
    with pytest.raises(ConfigurationError, match="store is set by --store, not by --param") as caught:
        own_parameters(["store=secret"], {"store": "--store"})
    assert "secret" not in str(caught.value)


def test_prices_are_no_secret() -> None:
    with pytest.raises(ConfigurationError, match="US dollars per million tokens: m=dear"):
        price_list(["m=dear"])


def asking(server: FakeOpenAI) -> list[str]:
    # User and password of a server, and a key in its address.
    at = server.base_url.replace("//", "//secret-user:secret-pass@")
    given = {"api_base": at, **SECRETS}
    texts = [f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in given.items()]
    return [part for text in texts for part in ("--param", text)]


def call(*arguments: Any) -> Result:
    return CliRunner().invoke(cli, [str(one) for one in arguments])


def written(folder: Path) -> str:
    """All that stands in the files below a folder, and their names."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return "\n".join(f"{path} {path.read_bytes()!r}" for path in found)


@pytest.mark.parametrize("fault", [None, Fault.http(401, "not with sk-secret-one, Bearer secret-two, secret-four")])
def test_neither_a_run_nor_an_estimate_nor_a_gate_shows_a_credential(tmp_path: Path, fault: Fault | None) -> None:
    items = tmp_path / "items.jsonl"
    items.write_text(json.dumps({"id": "a", "question": "Which city?"}) + "\n", "utf-8")
    for name, text in (("old", "Say: {{question}}"), ("new", "Tell me: {{question}}")):
        (tmp_path / f"{name}.txt").write_text(text, "utf-8")
    out = tmp_path / "out"
    with FakeOpenAI(answers=["It was Paris in 1969."], faults=lambda _: fault) as server:
        given = ("--model", "openai/fake", *asking(server))
        done = [
            call("run", items, *given, "--metric", "fact_recurrence", "--out", out / "run.json"),
            call("estimate", items, *given, "--price", "openai/fake=1,1"),
            call(
                *("gate", "--baseline", tmp_path / "old.txt", "--candidate", tmp_path / "new.txt", "--data", items),
                *("--metrics", "fact_recurrence:num_samples=2", *given, "--json", out / "gate.json"),
                *("--markdown", out / "gate.md", "--junit", out / "gate.xml", "--html", out / "gate.html"),
                *("--save-baseline", out / "old.json", "--save-candidate", out / "new.json"),
            ),
        ]
        assert server.chat_requests > 0
        assert {one.headers["x-team"] for one in server.calls} == {"secret-three"}
    # A fault leaves no score; one item is too few for any verdict.
    assert [one.exit_code for one in done] == [0 if fault is None else 1, 0, 2]
    assert len(list(out.iterdir())) == 7
    shown = "\n".join(one.output for one in done) + written(tmp_path)
    if fault is not None:
        assert "not with ***, ***, ***" in shown
    assert "secret" not in shown
