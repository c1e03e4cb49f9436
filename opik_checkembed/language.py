"""Language codes as users write them, and the bare code that rules and tables go by."""

from __future__ import annotations

import re

from opik_checkembed.errors import ConfigurationError

_CODE = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]+)*", re.IGNORECASE | re.ASCII)


def bare_language(code: str) -> str:
    """The language of a code, without its script and region and in small letters: all that the rules here tell apart.

    Args:
        code: ISO 639 code, alone or with more behind it ("de", "de-DE", "en_US", "zh-Hant-TW"), in any case.

    Raises:
        ConfigurationError: It is no such code.

    Example:
        >>> bare_language("de-AT"), bare_language("EN_us"), bare_language("zh-Hant-TW")
        ('de', 'en', 'zh')
    """
    found = _CODE.fullmatch(code) if isinstance(code, str) else None
    if found is None:
        raise ConfigurationError(f"language must be a code like 'en', 'de' or 'pt-BR', not {code!r}")
    return found[1].lower()
