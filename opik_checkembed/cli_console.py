"""Where commands print their tables."""

from __future__ import annotations

import os

from rich.console import Console

_IN_A_LOG = 120


def console(*, highlight: bool = True) -> Console:
    """As wide as the terminal; a file or a pipe, which rich takes for 80 columns, gets as many as most tables need.

    `COLUMNS` says otherwise for both.

    Args:
        highlight: Whether rich colours the numbers it finds.
    """
    found = Console(highlight=highlight)
    return found if found.is_terminal or "COLUMNS" in os.environ else Console(width=_IN_A_LOG, highlight=highlight)
