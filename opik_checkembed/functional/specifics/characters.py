"""Which characters of a text are capitals and figures: all are looked up at once, which takes half of a search."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opik_checkembed.functional.specifics.pattern_parts import FRACTIONS, UPPER

_CAPITAL, _FIGURE, _FRACTION, _ASCII_SMALL, _ASCII_CAPITAL = (1 << bit for bit in range(5))

# All figures that Unicode has lie below.
_SIZE = 0x20000


@lru_cache(maxsize=1)
def _table() -> NDArray[np.uint8]:
    every = "".join(map(chr, range(_SIZE)))
    table = np.zeros(_SIZE, dtype=np.uint8)
    for kind, pattern in (
        (_CAPITAL, f"[{UPPER}]+"),
        (_FIGURE, r"\d+"),
        (_FRACTION, f"[{FRACTIONS}]"),
        (_ASCII_SMALL, "[a-z]+"),
        (_ASCII_CAPITAL, "[A-Z]+"),
    ):
        for match in re.finditer(pattern, every):
            table[match.start() : match.end()] |= kind
    return table


class Characters:
    """Where which characters are.

    Args:
        text: The text.
    """

    def __init__(self, text: str) -> None:
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        self._kinds = _table().take(codes, mode="clip")

    def capitals(self) -> list[int]:
        """Where capitals are, of any script, also within words.

        Example:
            >>> Characters("in Rome, McCoy").capitals()
            [3, 9, 11]
        """
        return _where(self._kinds & _CAPITAL)

    def humps(self) -> list[int]:
        """Where capitals follow small letters, both of plain Latin.

        Example:
            >>> Characters("in Rome, McCoy").humps()
            [11]
        """
        small, capital = self._kinds[:-1] & _ASCII_SMALL, self._kinds[1:] & _ASCII_CAPITAL
        return [1 + place for place in _where((small != 0) & (capital != 0))]

    def figures(self) -> list[tuple[int, int]]:
        """Where runs of digits begin and end; a sign for a fraction is one of its own.

        Example:
            >>> Characters("12½ or 7").figures()
            [(0, 2), (2, 3), (7, 8)]
        """
        digits = np.zeros(len(self._kinds) + 2, dtype=np.bool_)
        digits[1:-1] = self._kinds & _FIGURE
        edges = _where(digits[1:] != digits[:-1])
        runs = list(zip(edges[::2], edges[1::2], strict=True))
        fractions = _where(self._kinds & _FRACTION)
        return sorted([*runs, *((place, place + 1) for place in fractions)]) if fractions else runs


def _where(marked: NDArray[Any]) -> list[int]:
    places: list[int] = marked.nonzero()[0].tolist()
    return places
