"""What tells the rows of a labelled benchmark apart, and what a reader calls them.

A model is known by its short name, which two folders may share. So a row also says what it is of: the model's full name
and the options that its scores depend on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeVar

T = TypeVar("T")


class Key(NamedTuple):
    """What tells a row from others.

    Attributes:
        method: The method's name.
        model: The model's name, as the reader knows it; None for none.
        identity: What tells the row from another of this method and model, as JSON; None for a row that does not say,
            as those of older versions do not.
    """

    method: str
    model: str | None = None
    identity: str | None = None

    @classmethod
    def of(cls, method: str, model: str | None, identity: Mapping[str, Any] | None) -> Self:
        """The key of a row with this identity, whatever the order of its entries.

        Example:
            >>> Key.of("SelfCheck-NLI", "deberta", {"model": "/models/deberta", "fast": True}).identity
            '{"fast": true, "model": "/models/deberta"}'
        """
        return cls(method, model, None if identity is None else json.dumps(identity, sort_keys=True))

    @property
    def title(self) -> str:
        """Method and model as a reader sees them."""
        return title(self.method, self.model)

    @property
    def settings(self) -> dict[str, Any]:
        """The identity's entries; none where there is no identity."""
        found: dict[str, Any] = {} if self.identity is None else json.loads(self.identity)
        return found


def title(method: str, model: str | None) -> str:
    """Method and model as a reader sees them.

    Example:
        >>> title("SelfCheck-NLI", "deberta"), title("SelfCheck-unigram (max)", None)
        ('SelfCheck-NLI (deberta)', 'SelfCheck-unigram (max)')
    """
    return method if model is None else f"{method} ({model})"


def names_apart(keys: Sequence[Key]) -> list[str]:
    """A name for each row: its title, and for those of one title also what they differ in.

    Example:
        >>> a, b = ({"model": f"/{place}/deberta", "fast": True} for place in "ab")
        >>> names_apart([Key.of("NLI", "deberta", a), Key.of("NLI", "deberta", b), Key("unigram")])
        ['NLI (deberta) [model=/a/deberta]', 'NLI (deberta) [model=/b/deberta]', 'unigram']
    """
    alike: dict[str, list[dict[str, Any]]] = {}
    for key in keys:
        alike.setdefault(key.title, []).append(key.settings)
    return [key.title + _apart(key.settings, alike[key.title]) for key in keys]


def _apart(own: Mapping[str, Any], others: Iterable[Mapping[str, Any]]) -> str:
    given = list(others)
    said = [
        f"{name}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in own.items()
        if any(name not in other or other[name] != value for other in given)
    ]
    return f" [{', '.join(said)}]" if said else ""


def merged(older: Mapping[Key, T], newer: Mapping[Key, T]) -> dict[Key, T]:
    """The older rows and the newer ones, a newer one in the place of the older one with the same key.

    An older row that does not say what it is of gives way to any of its method and model.
    """
    heirs = {(key.method, key.model): key for key in newer}
    kept = {
        key if key.identity is not None else heirs.get((key.method, key.model), key): row for key, row in older.items()
    }
    return {**kept, **newer}


def identity_in(data: Mapping[str, Any]) -> dict[str, Any] | None:
    """The identity of a row that was read from a file; None in files of older versions.

    Raises:
        TypeError: It is something else.
    """
    found = data.get("identity")
    if found is not None and not isinstance(found, dict):
        raise TypeError(f"{found!r} is no identity")
    return found
