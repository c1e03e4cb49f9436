from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from opik_checkembed.cli import cli
from opik_checkembed.cli_report import report
from tests.page_results import HOSTILE, city, hostile, results


def call(*arguments: str | Path) -> Result:
    # The package's own group, which turns its errors into a line.
    group = type(cli)("opik-checkembed", commands={"report": report})
    return CliRunner().invoke(group, ["report", *map(str, arguments)])


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    results([city(), city("second")]).to_json(tmp_path / "finished.json")
    return tmp_path / "finished.json"


def test_results_become_a_page_with_the_name_of_their_file(finished: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "page.html"
    done = call(finished, "--out", out)

    assert done.exit_code == 0, done.output
    assert done.output == f"Wrote {out} (2 items, 0.1 MB)\n"
    page = out.read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "<title>finished</title>" in page
    assert "How many rivers has Łódź?" in page


def test_a_page_that_is_there_is_replaced_and_can_have_a_title(finished: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    out.write_text("old")
    done = call(finished, "--out", out, "--title", "Nightly & more")

    assert done.exit_code == 0, done.output
    assert "<title>Nightly &amp; more</title>" in out.read_text("utf-8")


def test_texts_that_utf8_cannot_hold_are_written(tmp_path: Path) -> None:
    hostile().to_json(tmp_path / "hostile.json")
    done = call(tmp_path / "hostile.json", "--out", tmp_path / "page.html")

    assert done.exit_code == 0, done.output
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "\\ud800" in page
    assert HOSTILE[0] not in page


def test_what_cannot_be_read_or_written_is_said_in_a_line(finished: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("[]")
    unread = call(other, "--out", tmp_path / "page.html")
    assert (unread.exit_code, unread.output) == (1, f"Error: {other} does not hold results\n")

    unwritten = call(finished, "--out", other / "page.html")
    assert unwritten.exit_code == 1
    assert unwritten.output.startswith(f"Error: {other / 'page.html'} cannot be written")
    assert call(tmp_path / "absent.json").exit_code == 2


def test_a_page_does_not_replace_the_results_it_is_made_of(finished: Path) -> None:
    before = finished.read_bytes()
    done = call(finished, "--out", finished)

    assert done.exit_code == 1
    assert "would replace the results" in done.output
    assert finished.read_bytes() == before
