"""Texts under a short key, and the one text for those that no model can be given."""

from __future__ import annotations

import hashlib

from opik_checkembed.errors import ItemError, ModelError


def readable(text: str, error: type[ItemError] = ModelError) -> bytes:
    r"""A text as UTF-8, in which every model and tokenizer is given it.

    Args:
        text: Any text.
        error: What to raise where there is no such form.

    Raises:
        ItemError: The text holds half of a surrogate pair, as JSON's "\ud83d" alone gives.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as cause:
        raise error(f"a text cannot be read: it holds half of a surrogate pair at character {cause.start}") from cause


def digest(*texts: str, error: type[ItemError] = ModelError) -> bytes:
    """A key of 16 bytes for some texts in their order, where one ends and the next begins included.

    Args:
        *texts: Any texts.
        error: What to raise where one of them cannot be read.

    Raises:
        ItemError: See `readable`.
    """
    key = hashlib.blake2b(digest_size=16)
    for text in texts:
        raw = readable(text, error)
        key.update(len(raw).to_bytes(8))
        key.update(raw)
    return key.digest()
