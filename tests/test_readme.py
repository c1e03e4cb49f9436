"""What the README says is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")


def test_the_first_two_code_blocks_are_the_set_up_commands() -> None:
    blocks = re.findall(r"```\w*\n(.*?)```", README, re.S)
    assert blocks[0] == 'pip install -c constraints.txt -e ".[demo]" && opik-checkembed demo\n'
    assert blocks[1] == 'pip install -c constraints.txt -e ".[dev]" && pytest\n'


def test_the_example_for_ones_own_tests_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPIK_CHECKEMBED_STORE", str(tmp_path / "samples.sqlite3"))
    (example,) = [block for block in re.findall(r"```python\n(.*?)```", README, re.S) if "FakeOpenAI" in block]
    exec(example, {"CheckEmbedMetric": __import__("opik_checkembed").CheckEmbedMetric})


def test_the_pictures_are_there() -> None:
    for target in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README):
        assert (Path(__file__).parent.parent / target).read_bytes().startswith(b"\x89PNG")
