import io
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib import colormaps
from numpy.typing import NDArray
from PIL import Image

from opik_checkembed.report.heatmap import Heatmap, draw

# A cell's side, where the first begins, and what the reference is set apart by: a picture without a title.
CELL, LEFT, TOP, APART = 60, 100, 16, 13


def uniform(n: int, similarity: float) -> NDArray[np.float64]:
    matrix = np.full((n, n), similarity)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def names(n: int, reference: bool = False) -> list[str]:
    labels = ["output", *(f"sample {number}" for number in range(1, n))]
    return [*labels[:-1], "reference"] if reference else labels


def pixels(heatmap: Heatmap) -> NDArray[np.int_]:
    with Image.open(io.BytesIO(heatmap.png)) as image:
        assert image.format == "PNG"
        return np.asarray(image.convert("RGB"), dtype=int)


def colour(picture: NDArray[np.int_], row: int, column: int, cell: int = CELL) -> tuple[int, ...]:
    """Of a cell's corner, where nothing is written."""
    return tuple(picture[TOP + row * cell + 4, LEFT + column * cell + 4].tolist())


def viridis(share: float) -> tuple[int, ...]:
    return tuple(round(channel * 255) for channel in colormaps["viridis"](float(share))[:3])


@pytest.mark.parametrize(
    ("similarity", "share"),
    [(-1, 0), (0, 0.12), (0.5, 0.3), (0.65, 0.41), (0.8, 0.52), (0.9, 0.75), (0.95, 0.875), (1, 1)],
)
def test_colour_of_a_similarity_is_the_same_in_every_picture(similarity: float, share: float) -> None:
    for n in (4, 7):
        picture = pixels(draw(uniform(n, similarity), names(n)))
        np.testing.assert_allclose(colour(picture, 0, 1), viridis(share), atol=4)
        np.testing.assert_allclose(colour(picture, n - 1, 0), viridis(share), atol=4)


def test_diagonal_is_grey_and_background_white() -> None:
    picture = pixels(draw(uniform(4, 0.5), names(4)))
    assert {colour(picture, at, at) for at in range(4)} == {(228, 228, 228)}
    edge = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
    assert (edge == 255).all()


def test_each_cell_has_its_own_colour() -> None:
    matrix = np.array([[1, 0.9, 0.8, 0], [0.9, 1, 0.5, 0], [0.8, 0.5, 1, 0], [0, 0, 0, 1.0]])
    picture = pixels(draw(matrix, names(4)))
    shares = {0.9: 0.75, 0.8: 0.52, 0.5: 0.3, 0.0: 0.12}
    for row in range(4):
        for column in range(4):
            if row != column:
                expected = viridis(shares[matrix[row, column]])
                np.testing.assert_allclose(colour(picture, row, column), expected, atol=4)


def test_reference_is_set_apart_by_a_line() -> None:
    without = pixels(draw(uniform(5, 0.9), names(5)))
    picture = pixels(draw(uniform(5, 0.9), names(5, reference=True)))
    assert picture.shape == (without.shape[0] + APART, without.shape[1] + APART, 3)
    gap = picture[TOP + 4 * CELL : TOP + 4 * CELL + APART, LEFT + 20]
    assert (gap == 26).all(axis=1).sum() == 2
    assert (gap == 255).all(axis=1).sum() == APART - 2
    assert not (without[TOP + 4 * CELL - 8 : TOP + 4 * CELL + 8, LEFT + 20] == 26).all(axis=1).any()


def ink_in_cell(picture: NDArray[np.int_], row: int, column: int) -> NDArray[np.int_]:
    top, left = TOP + row * CELL + 2, LEFT + column * CELL + 2
    cell = picture[top : top + CELL - 4, left : left + CELL - 4].reshape(-1, 3)
    ink: NDArray[np.int_] = cell[(np.abs(cell - cell[0]) > 40).any(axis=1)]
    return ink


def test_values_stand_in_the_cells_in_contrast() -> None:
    dark = ink_in_cell(pixels(draw(uniform(4, 0.1), names(4))), 0, 1)
    bright = ink_in_cell(pixels(draw(uniform(4, 0.95), names(4))), 0, 1)
    assert len(dark) > 50
    assert len(bright) > 50
    assert dark.max() == 255  # white on dark
    assert bright.min() < 60  # black on bright


def test_values_are_written_up_to_twelve_rows() -> None:
    assert len(ink_in_cell(pixels(draw(uniform(12, 0.9), names(12))), 0, 1)) > 50
    crowded = pixels(draw(uniform(13, 0.9), names(13)))
    cell = crowded[TOP : TOP + 56, LEFT + 56 : LEFT + 112].reshape(-1, 3)
    assert (cell == cell[0]).all()


def test_minus_and_no_negative_zero() -> None:
    plain = ink_in_cell(pixels(draw(uniform(4, 0.0), names(4))), 0, 1)
    rounded = ink_in_cell(pixels(draw(uniform(4, -0.001), names(4))), 0, 1)
    negative = ink_in_cell(pixels(draw(uniform(4, -0.01), names(4))), 0, 1)
    assert len(plain) == len(rounded) < len(negative)


@pytest.mark.parametrize("n", [1, 2, 3, 12, 13, 51, 120, 400])
@pytest.mark.parametrize("reference", [False, True])
def test_every_size_draws_with_a_margin(n: int, reference: bool) -> None:
    labels = names(n, reference) if n > 1 else (["reference"] if reference else ["output"])
    picture = pixels(draw(uniform(n, 0.9), labels, "A title " * 40))
    for band in (picture[:6], picture[-4:], picture[:, :4], picture[:, -8:]):
        assert (band == 255).all()


def test_title_takes_at_most_two_lines() -> None:
    matrix, labels = uniform(4, 0.9), names(4)
    heights = [draw_height(matrix, labels, title) for title in (None, "", "  ", "One line", "word " * 30, "x" * 999)]
    assert heights == [heights[0]] * 3 + [heights[0] + 26] + [heights[0] + 46] * 2


def draw_height(matrix: NDArray[np.float64], labels: Sequence[str], title: str | None) -> int:
    return int(pixels(draw(matrix, labels, title)).shape[0])


@pytest.mark.parametrize(
    "title", ["W" * 200, "costs $5 or $6_x^2", "\\frac{", "日本語 🎉 \x00 \ud800", "a\nb\tc", "مرحبا"]
)
def test_any_title_and_label_draws_without_a_warning(title: str) -> None:
    picture = pixels(draw(uniform(3, 0.9), ["output", title, "reference"], title))
    assert (picture[:, :4] == 255).all()
    assert (picture[:, -8:] == 255).all()


def test_dollars_are_no_mathematics() -> None:
    one, two = (draw(uniform(3, 0.9), names(3), title) for title in ("a $x$ b", "a x b"))
    assert one.png != two.png


def test_long_labels_stand_upright_below() -> None:
    short = pixels(draw(uniform(6, 0.9), names(6)))
    long = pixels(draw(uniform(6, 0.9), [*names(5), "sample number 5"]))
    assert long.shape[1] == short.shape[1]
    assert long.shape[0] > short.shape[0] + 40


@pytest.mark.parametrize(
    ("matrix", "labels", "said"),
    [
        ([[1.0, 0.5]], ["a"], r"square matrix, got shape \(1, 2\)"),
        ([1.0], ["a"], "square"),
        (np.empty((0, 0)), [], "square"),
        ([[1.0, 0.5], [0.5, 1.0]], ["a"], "2 rows but 1 labels"),
        ([[1.0, 1.5], [1.5, 1.0]], ["a", "b"], r"within \[-1, 1\]"),
        ([[1.0, np.nan], [np.nan, 1.0]], ["a", "b"], r"within \[-1, 1\]"),
    ],
)
def test_what_cannot_be_drawn(matrix: Any, labels: list[str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        draw(matrix, labels)


def test_save_and_notebook(tmp_path: Path) -> None:
    heatmap = draw(uniform(3, 0.9), names(3))
    path = tmp_path / "map.png"
    path.write_bytes(b"older and longer" * 10_000)
    heatmap.save(path)
    assert path.read_bytes() == heatmap.png == heatmap._repr_png_()
    heatmap.save(str(tmp_path / "text-path.png"))
    assert (tmp_path / "text-path.png").read_bytes() == heatmap.png
    assert repr(heatmap) == "Heatmap()"


def test_users_style_neither_changes_the_picture_nor_is_changed() -> None:
    # Texts that no other test draws, so that none of their lettering is kept from before.
    style: Any = {
        "text.usetex": True,
        "text.color": "red",
        "font.family": "serif",
        "font.size": 40,
        "figure.facecolor": "black",
        "savefig.bbox": "tight",
        "savefig.dpi": 30,
        "image.cmap": "jet",
    }
    labels = ["output", "styled 1", "styled 2"]
    with matplotlib.rc_context(style):
        before = dict(matplotlib.rcParams)
        styled = draw(uniform(3, 0.4321), labels, "styled")
        assert dict(matplotlib.rcParams) == before
    other = [label.replace("styled", "styled ") for label in labels]  # the same once white space is joined
    assert pixels(styled).tolist() == pixels(draw(uniform(3, 0.4321), other, "styled")).tolist()


def test_threads_draw_what_one_thread_draws() -> None:
    matrices = [uniform(5, number / 40) for number in range(16)]
    found: dict[int, Heatmap] = {}
    start = threading.Barrier(16)

    def work(number: int) -> None:
        start.wait(timeout=30)
        found[number] = draw(matrices[number], names(5), f"Thread {number}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    alone = {number: draw(matrices[number], names(5), f"Thread {number}") for number in range(16)}
    assert found == alone


def test_drawing_loads_no_pyplot_and_importing_no_matplotlib() -> None:
    code = (
        "import sys; from opik_checkembed.report.heatmap import draw;"
        "print('matplotlib' in sys.modules);"
        "draw([[1.0, 0.5], [0.5, 1.0]], ['output', 'sample 1'], 'x');"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
