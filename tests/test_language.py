from __future__ import annotations

from typing import Any

import pytest

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.language import bare_language


@pytest.mark.parametrize(
    ("code", "bare"),
    [
        ("en", "en"),
        ("en-US", "en"),
        ("en_US", "en"),
        ("DE-de", "de"),
        ("zh-CN", "zh"),
        ("zh-Hant-TW", "zh"),
        ("es-419", "es"),
        ("yue", "yue"),
    ],
)
def test_script_and_region_are_left_out(code: str, bare: str) -> None:
    assert bare_language(code) == bare


@pytest.mark.parametrize(
    "code", ["", "e", "English", "en-", "-en", "en US", "en--US", "en\n", "\u0131t", b"en", None, 3, ["en"]]
)
def test_what_is_no_code_is_refused(code: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"^language must be a code like 'en', 'de' or 'pt-BR', not "):
        bare_language(code)
