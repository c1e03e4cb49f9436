"""A similarity matrix in a terminal: two digits a cell, darker where answers part."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike, NDArray
from rich.style import Style
from rich.text import Text

# Text and background by similarity; the digits carry the value where a terminal has no colours.
_SHADES = ((0.95, "black on #f0e442"), (0.9, "black on #7ac36a"), (0.8, "white on #21918c"), (0.6, "white on #31688e"))
_LOWEST = "white on #440154"


def terminal_heatmap(matrix: ArrayLike, labels: Sequence[str]) -> Text:
    """The matrix with its labels: similarities as hundredths, `--` on the diagonal.

    Args:
        matrix: Similarities, shape (n, n), -1 to 1.
        labels: One for each row.
    """
    import numpy as np

    values: NDArray[np.float64] = np.asarray(matrix, dtype=np.float64)
    width = max(len(label) for label in labels)
    text = Text()
    for row, label in enumerate(labels):
        text.append(f"{label:>{width}}  ")
        for column, value in enumerate(values[row]):
            if row == column:
                text.append(" -- ", Style(dim=True))
            else:
                text.append(f"{round(100 * value):>3} ", _shade(value))
        text.append("\n" if row < len(labels) - 1 else "")
    return text


def _shade(value: float) -> str:
    return next((style for least, style in _SHADES if value >= least), _LOWEST)
