"""Where capitals and figures are."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from opik_checkembed.functional.specifics.characters import Characters

LETTERS = st.text(alphabet="aZ1½0é É٣𝟜\ud800 Ǆ", max_size=30)


@given(st.text(max_size=40) | LETTERS)
@example("½½12½3")
@example("𝟜2 in \U0010ffff")
def test_figures_are_runs_of_digits_and_single_fractions(text: str) -> None:
    runs = [match.span() for match in re.finditer(r"\d+|[½⅓⅔¼¾⅕⅖⅗⅘⅙⅛⅜⅝⅞]", text)]
    assert Characters(text).figures() == runs


@given(st.text(max_size=40) | LETTERS)
@example("ǅ")
def test_capitals_are_those_of_all_scripts_of_the_basic_plane(text: str) -> None:
    kinds = [unicodedata.category(one) if one < "\U00010000" else "" for one in text]
    assert Characters(text).capitals() == [at for at, kind in enumerate(kinds) if kind in {"Lu", "Lt"}]


@given(LETTERS | st.text(alphabet="abXYé", max_size=20))
def test_humps_are_plain_capitals_behind_plain_small_letters(text: str) -> None:
    assert Characters(text).humps() == [match.start() + 1 for match in re.finditer("[a-z](?=[A-Z])", text)]
