"""On real streams: a pseudo-terminal, a file, a stand-in for a notebook's display."""

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from rich.console import Console

from opik_checkembed.progress import show_progress

pty = pytest.importorskip("pty", reason="pseudo-terminals are a Unix matter")

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
TWENTY_THREE = [f"scored {done} of 23" for done in (3, 5, 7, 10, 12, 14, 17, 19, 21, 23)]


class Terminal:
    """A pseudo-terminal in place of a stream; what was written to it can be read."""

    def __init__(self) -> None:
        self.outside, inside = pty.openpty()
        self.stream = os.fdopen(inside, "w", encoding="utf-8")

    def read(self) -> str:
        self.stream.flush()
        os.set_blocking(self.outside, False)
        written = b""
        while True:
            try:
                written += os.read(self.outside, 65536)
            except BlockingIOError:
                return written.decode()

    def close(self) -> None:
        self.stream.close()
        os.close(self.outside)


@contextmanager
def terminal_as(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    terminal = Terminal()
    with monkeypatch.context() as patch:
        patch.setattr(sys, name, terminal.stream)
        try:
            yield terminal
        finally:
            terminal.close()


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def go(total: int, progress: Any = True) -> None:
    with show_progress(total, progress) as advance:
        for _ in range(total):
            advance()


def log_file(monkeypatch: pytest.MonkeyPatch, total: int) -> str:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    go(total)
    return file.getvalue()


def test_a_terminal_shows_a_bar_and_is_left_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal_as("stderr", monkeypatch) as terminal:
        with show_progress(4) as advance:
            for _ in range(4):
                advance()
            shown = terminal.read()
        end = terminal.read()

    assert "scoring" in shown
    assert "\x1b[?25l" in shown
    assert "4/4" in end
    # The bar's line is erased and the cursor is back.
    assert "\x1b[2K" in end
    assert "\x1b[?25h" in end
    assert "scored" not in shown + end


def test_a_terminal_is_left_clean_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal_as("stderr", monkeypatch) as terminal:
        with pytest.raises(ZeroDivisionError), show_progress(4):
            _ = 1 / 0
        assert "\x1b[?25h" in terminal.read()


def test_what_a_task_prints_stays_in_a_redirected_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with terminal_as("stderr", monkeypatch) as terminal:
        with show_progress(2) as advance:
            sys.stdout.write("the task's own line\n")
            advance()
        written = terminal.read()

    assert capsys.readouterr().out == "the task's own line\n"
    assert "the task's own line" not in written


def test_what_a_task_prints_on_the_terminal_goes_above_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal_as("stderr", monkeypatch) as terminal:
        with terminal_as("stdout", monkeypatch) as output:
            with show_progress(2) as advance:
                sys.stdout.write("the task's own line\n")
                advance()
            assert output.read() == ""
        assert "the task's own line\r\n" in terminal.read()


def test_a_log_file_gets_a_line_at_each_tenth(monkeypatch: pytest.MonkeyPatch) -> None:
    written = log_file(monkeypatch, 23)

    assert written.splitlines() == TWENTY_THREE
    assert not CONTROL.search(written)


@pytest.mark.parametrize(("total", "lines"), [(1, 1), (3, 3), (10, 10), (11, 10), (1000, 10)])
def test_a_log_file_gets_ten_lines_at_most_and_the_last_says_that_all_is_done(
    monkeypatch: pytest.MonkeyPatch, total: int, lines: int
) -> None:
    written = log_file(monkeypatch, total).splitlines()

    assert len(written) == lines
    assert written[-1] == f"scored {total} of {total}"


def test_a_log_file_stays_plain_where_colours_are_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")

    written = log_file(monkeypatch, 23)

    assert written.splitlines() == TWENTY_THREE
    assert not CONTROL.search(written)


def test_a_terminal_that_cannot_redraw_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")

    with terminal_as("stderr", monkeypatch) as terminal:
        go(2)
        assert terminal.read() == "scored 1 of 2\r\nscored 2 of 2\r\n"


def test_a_notebook_gets_lines_and_no_redrawing(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr("rich.jupyter.display", lambda segments, text: shown.append(text))

    with terminal_as("stderr", monkeypatch):
        go(23)

    assert [text.strip() for text in shown] == TWENTY_THREE


def test_no_stream_at_all_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    go(3)

    with terminal_as("stderr", monkeypatch) as terminal:
        monkeypatch.setattr(sys, "stdout", None)
        go(3)
        assert "3/3" in terminal.read()


def test_a_function_is_told_of_each_item() -> None:
    seen: list[tuple[int, int]] = []

    go(3, lambda done, total: seen.append((done, total)))

    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(("total", "progress"), [(5, False), (0, True)])
def test_nothing_is_shown_where_nothing_is_wanted(
    capsys: pytest.CaptureFixture[str], total: int, progress: bool
) -> None:
    with show_progress(total, progress) as advance:
        advance()

    assert capsys.readouterr() == ("", "")


def test_rich_takes_a_file_for_a_terminal_where_colours_are_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Why the stream is asked: if this ever fails, the detour is no longer needed."""
    monkeypatch.setenv("FORCE_COLOR", "1")

    assert Console(file=io.StringIO()).is_terminal
