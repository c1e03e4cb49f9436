from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed.errors import EmbeddingError, ModelError
from opik_checkembed.models.digest import digest, readable

TEXTS = st.lists(st.text(alphabet="ab東\0", max_size=3), max_size=3).map(tuple)


@given(TEXTS, TEXTS)
def test_equal_texts_alone_have_equal_keys(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert (digest(*one) == digest(*other)) == (one == other)
    assert len(digest(*one)) == 16


def test_a_text_is_read_as_utf_8() -> None:
    assert readable("Öpik 東") == b"\xc3\x96pik \xe6\x9d\xb1"


@pytest.mark.parametrize("error", [ModelError, EmbeddingError])
def test_half_a_surrogate_pair_is_named(error: type[ModelError]) -> None:
    for call in (readable, digest):
        for text in ("ab\ud83dc", "ab\ude00"):
            with pytest.raises(
                error, match=r"^a text cannot be read: it holds half of a surrogate pair at character 2$"
            ):
                call(text, error=error)


def test_whichever_of_several_it_is() -> None:
    with pytest.raises(ModelError, match="character 0"):
        digest("good", "\ud800")
