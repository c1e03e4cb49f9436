"""A similarity matrix as a picture."""

from __future__ import annotations

import io
import os
import textwrap
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opik_checkembed.functional.checkembed import OUTPUT, REFERENCE

# The fonts and caches of matplotlib are not made for threads, and metrics draw from many.
_LOCK = threading.Lock()

# One scale for all pictures, so that a colour means the same in each, but not an even one: similarities of
# answers to one request crowd above 0.8, and half of the colours are theirs.
_VALUES = (-1.0, 0.0, 0.5, 0.8, 0.9, 1.0)
_COLOURS = (0.0, 0.12, 0.3, 0.52, 0.75, 1.0)

_Pixels: TypeAlias = NDArray[np.uint8]
_Colour: TypeAlias = tuple[int, int, int]
_INK: _Colour = (26, 26, 26)
_FAINT: _Colour = (95, 95, 95)
_PAPER: _Colour = (255, 255, 255)
_DIAGONAL: _Colour = (228, 228, 228)

_ANNOTATED = 12  # rows with values in the cells, at most
_LABELLED = 50  # rows with a label each, at most

# Lengths in pixels.
_MARGIN, _LEFT, _RIGHT = 16, 100, 78
_LINE = 20  # of the title
_APART = 13  # between the answers and the reference

_FONT = "DejaVu Sans"  # comes with matplotlib


@dataclass(frozen=True, slots=True)
class Heatmap:
    """A drawn matrix. A notebook shows it as it is.

    Attributes:
        png: The picture, with its own white background, so that it reads on a dark page too.
    """

    png: bytes = field(repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file, replacing it."""
        Path(path).write_bytes(self.png)

    def _repr_png_(self) -> bytes:
        return self.png


def draw(matrix: ArrayLike, labels: Sequence[str], title: str | None = None) -> Heatmap:
    """Draw the similarities of answers with each other.

    Bright is agreement, dark is doubt, on one fixed scale from -1 to 1 for every picture, so that pictures
    compare. The scale is stretched where answers to one request lie: 0.8 to 1 has half of the colours, and
    the colour bar is marked accordingly. The colours (viridis) keep their order for colour-blind readers and
    in print. Each cell holds its value up to 12 rows. The diagonal, always 1, is left grey. A last row
    labelled "reference" is set apart by a line.

    Args:
        matrix: Similarities, shape (n, n), within [-1, 1].
        labels: One for each row; long ones are cut with an ellipsis, and beyond 50 rows only every second,
            third, ... is shown.
        title: Set above, on two lines at most; more is cut with an ellipsis. A character that matplotlib's
            own font lacks is shown as an empty square.

    Raises:
        ValueError: The matrix is empty, not square, or holds something beside numbers from -1 to 1, or the
            labels do not fit it.
    """
    values = np.asarray(matrix, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] != values.shape[1] or not values.size:
        raise ValueError(f"a heatmap needs a square matrix, got shape {values.shape}")
    if len(labels) != len(values):
        raise ValueError(f"{len(values)} rows but {len(labels)} labels")
    if not (np.abs(values) <= 1 + 1e-9).all():
        raise ValueError("similarities must lie within [-1, 1]")
    with _LOCK:
        return Heatmap(_encode(_paint(values, labels, title or "")))


# The picture is put together from pixels, with colours and lettering by matplotlib. A matrix of six rows has
# fifty pieces of text, most of which the pictures before it had too; as Text in Axes they would be laid out
# anew each time, which takes several times as long as all the rest.


def _paint(values: NDArray[np.float64], labels: Sequence[str], title: str) -> _Pixels:
    n = len(values)
    annotated = n <= _ANNOTATED
    cell = (76 if n <= 3 else 60) if annotated else max(2, 730 // n)
    apart = _APART if labels[-1] == REFERENCE and n > 1 else 0
    side = n * cell + apart
    names = _names(labels)
    longest = max(name.shape[1] for name in names.values())
    upright = not annotated or longest > cell + apart
    width = _LEFT + side + _RIGHT
    lines = _title(title, width - 2 * _MARGIN)
    top = _MARGIN + len(lines) * _LINE + (6 if lines else 0)
    canvas = np.full((top + side + (longest + 20 if upright else 30), width, 3), _PAPER, dtype=np.uint8)

    colours = _viridis(np.interp(values, _VALUES, _COLOURS))
    colours[np.diag_indices(n)] = _DIAGONAL
    starts = np.arange(n) * cell
    starts[-1] += apart
    middles = (starts + cell // 2).tolist()
    pixels = (starts[:, np.newaxis] + np.arange(cell)).ravel()
    canvas[np.ix_(top + pixels, _LEFT + pixels)] = colours.repeat(cell, axis=0).repeat(cell, axis=1)
    if annotated:
        canvas[top + starts[1:], _LEFT : _LEFT + side] = _PAPER
        canvas[top : top + side, _LEFT + starts[1:]] = _PAPER
    if apart:
        rule = side - cell - apart // 2 - 1
        canvas[top + rule : top + rule + 2, _LEFT : _LEFT + side] = _INK
        canvas[top : top + side, _LEFT + rule : _LEFT + rule + 2] = _INK

    for number, line in enumerate(lines):
        _stamp(canvas, line, _MARGIN, _MARGIN + 6 + number * _LINE, "left")
    if annotated:
        dark = _is_dark(colours)
        for row, column in zip(*np.nonzero(~np.eye(n, dtype=bool)), strict=True):
            number_ink = _lettering(_number(f"{values[row, column]:z.2f}"), 12)
            colour = _PAPER if dark[row, column] else _INK
            _stamp(canvas, number_ink, _LEFT + middles[column], top + middles[row], "middle", colour)
    for at, name in names.items():
        _stamp(canvas, name, _LEFT - 7, top + middles[at], "right")
        if upright:
            below = top + side + 7 + name.shape[1] // 2
            _stamp(canvas, np.rot90(name), _LEFT + middles[at], below, "middle")
        else:
            _stamp(canvas, name, _LEFT + middles[at], top + side + 12, "middle")

    bar = slice(_LEFT + side + 20, _LEFT + side + 34)
    canvas[top : top + side, bar] = _viridis(np.linspace(1, 0, side))[:, np.newaxis]
    for value, share in zip(_VALUES, _COLOURS, strict=True):
        at = top + round((1 - share) * (side - 1))
        canvas[at, bar.stop : bar.stop + 4] = _FAINT
        _stamp(canvas, _lettering(_number(f"{value:g}"), 11), bar.stop + 8, at, "left", _FAINT)
    return canvas


def _encode(canvas: _Pixels) -> bytes:
    from matplotlib.image import imsave

    out = io.BytesIO()
    # More compression takes twice the time for a tenth of the size.
    imsave(out, canvas, format="png", dpi=100, pil_kwargs={"compress_level": 1})
    return out.getvalue()


def _viridis(shares: NDArray[np.float64]) -> _Pixels:
    from matplotlib import colormaps

    rgba: _Pixels = np.asarray(colormaps["viridis"](shares, bytes=True), dtype=np.uint8)
    return rgba[..., :3]


def _is_dark(colours: _Pixels) -> NDArray[np.bool_]:
    """Where white letters stand out more than black ones, by the relative luminance that WCAG defines."""
    shares = colours / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    dark: NDArray[np.bool_] = linear @ np.array([0.2126, 0.7152, 0.0722]) < 0.179
    return dark


def _names(labels: Sequence[str]) -> dict[int, _Pixels]:
    """The lettering of the labels that have room, by row: every one up to 50 rows, then every second, ..."""
    step = -(-len(labels) // _LABELLED)
    size = 11 if len(labels) <= _ANNOTATED else 10
    names = {}
    for at, label in enumerate(labels):
        landmark = label in (OUTPUT, REFERENCE)
        if at % step and not landmark:
            continue
        text = _printable(label if len(label) <= 20 else label[:19] + "…")
        name = _lettering(text, size, bold=landmark)
        while name.shape[1] > _LEFT - 12:
            text = text[:-2].rstrip() + "…"
            name = _lettering(text, size, bold=landmark)
        names[at] = name
    return names


def _title(title: str, width: int) -> list[_Pixels]:
    text = _printable(title)
    letters = width // 6
    while True:
        wrapped = textwrap.wrap(text, letters, max_lines=2, placeholder=" …")
        lines = [_letter(line, 13, bold=True) for line in wrapped]
        widest = max((line.shape[1] for line in lines), default=0)
        if widest <= width:
            return lines
        letters = min(letters - 1, letters * width // widest + 1)


def _number(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def _printable(text: str) -> str:
    """One line, with an empty square for what the font lacks, of which matplotlib would warn."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    font = get_font(findfont(FontProperties(family=_FONT)))
    line = " ".join(text.split())
    return "".join(c if font.get_char_index(ord(c)) else "\N{WHITE SQUARE}" for c in line)


def _letter(text: str, size: int, bold: bool) -> _Pixels:
    """How much ink a line of text has at each pixel, 0 to 255.

    Cut to its ink in width; in height the same for every text, with the middle of a digit in the middle.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    width, height = (len(text) + 1) * size * 2, size * 2
    # At 72 dots per inch a point is a pixel. What rcParams could change is said here, and so is that "$" in a
    # title is a dollar, not mathematics.
    figure = Figure(figsize=(width / 72, height / 72), dpi=72, facecolor="white")
    canvas: Any = FigureCanvasAgg(figure)  # its methods have no types
    figure.text(
        size / width,
        0.5 - 0.36 * size / height,
        text,
        color="black",
        fontfamily=_FONT,
        fontsize=size,
        fontstyle="normal",
        fontweight="bold" if bold else "normal",
        verticalalignment="baseline",
        antialiased=True,
        parse_math=False,
        usetex=False,
    )
    canvas.draw()
    ink: _Pixels = 255 - np.asarray(canvas.buffer_rgba(), dtype=np.uint8)[..., 0]
    inked = np.flatnonzero(ink.any(axis=0))
    cut = ink[:, inked[0] : inked[-1] + 1] if inked.size else ink[:, :0]
    cut.flags.writeable = False
    return cut


@lru_cache(maxsize=1024)
def _lettering(text: str, size: int, bold: bool = False) -> _Pixels:
    return _letter(text, size, bold)


def _stamp(
    canvas: _Pixels,
    ink: _Pixels,
    x: int,
    y: int,
    anchor: Literal["left", "middle", "right"],
    colour: _Colour = _INK,
) -> None:
    """Put lettering on the canvas, vertically centred at y."""
    height, width = ink.shape
    left = x - {"left": 0, "middle": width // 2, "right": width}[anchor]
    top = y - height // 2
    under = canvas[top : top + height, left : left + width]
    share = ink[..., np.newaxis] / 255
    under[...] = np.rint(under + (np.array(colour) - under) * share)
