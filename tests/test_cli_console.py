from __future__ import annotations

import pytest
from rich.table import Table

from opik_checkembed.cli_console import console


def test_a_log_is_wide_enough_for_figures_unless_it_is_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = Table("name", *"abcdefgh")
    table.add_row("a long name of a method, with its options", *["0.123456"] * 8)

    monkeypatch.delenv("COLUMNS", raising=False)
    console().print(table)
    assert capsys.readouterr().out.count("0.123456") == 8

    monkeypatch.setenv("COLUMNS", "40")
    assert console().width == 40
