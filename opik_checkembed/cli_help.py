"""What click does not do for docstrings."""

from __future__ import annotations

import click


def keeps_lines(command: click.Command) -> click.Command:
    r"""Keep the lines of a paragraph that a raw docstring marks with `\b`, as click does where the character is real.

    Example:
        >>> keeps_lines(click.Command("x", help="Text.\n\n\\b\na\nb")).help
        'Text.\n\n\x08\na\nb'
    """
    command.help = (command.help or "").replace("\\b\n", "\b\n")
    return command
