"""How far a run is: a bar on a terminal, a line now and then in a notebook or a log file."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

Progress = Callable[[int, int], None]


@contextlib.contextmanager
def show_progress(total: int, progress: bool | Progress = True) -> Iterator[Callable[[], None]]:
    """Yields a function to call after each finished item.

    Args:
        total: Items in all.
        progress: False for nothing; a function of (done, total) to show it yourself.
    """
    if progress is False or total == 0:
        yield lambda: None
    elif progress is True:
        with _shown(total) as advance:
            yield advance
    else:
        yield _counted(total, progress)


def _counted(total: int, show: Progress) -> Callable[[], None]:
    done = 0

    def advance() -> None:
        nonlocal done
        done += 1
        show(done, total)

    return advance


@contextlib.contextmanager
def _shown(total: int) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    # Not what rich takes for a terminal: with FORCE_COLOR set, as CI does, that may be a log file.
    if not _is_terminal(console.file) or console.is_dumb_terminal or console.is_jupyter:
        # No redrawing: a log file or a notebook cell would keep every frame.
        yield _counted(total, lambda done, of: _say(console, done, of))
        return
    columns = (TextColumn("scoring"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # What a task prints goes above the bar, but never from a redirected output to the terminal.
    beside = _is_terminal(sys.stdout)
    with Bar(*columns, console=console, transient=True, redirect_stdout=beside) as bar:
        task = bar.add_task("scoring", total=total)
        yield lambda: bar.advance(task)


def _is_terminal(stream: IO[str] | None) -> bool:
    return stream is not None and stream.isatty()


def _say(console: Console, done: int, total: int) -> None:
    """A line at each tenth of the way."""
    if done * 10 // total > (done - 1) * 10 // total:
        console.print(f"scored {done} of {total}", highlight=False)
