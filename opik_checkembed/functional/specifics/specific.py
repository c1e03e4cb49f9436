"""What a specific is."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["number", "date", "name", "title", "identifier", "url"]


class Specific(NamedTuple):
    """Something in a text that another text can hold or not.

    Attributes:
        start: Where it begins, in characters.
        end: Where it ends.
        text: As it is written.
        kind: What it is.
        needs: A text that states one of these keys supports it.
        states: The keys it supports elsewhere.
    """

    start: int
    end: int
    text: str
    kind: Kind
    needs: frozenset[str]
    states: frozenset[str]

    def supported_by(self, other: Specific) -> bool:
        """Whether a text that holds the other one supports this.

        Example:
            >>> from opik_checkembed.functional.specifics import specifics
            >>> full, short = specifics("Marie Curie")[0], specifics("by Curie")[0]
            >>> full.supported_by(short)
            True
        """
        return not self.needs.isdisjoint(other.states)
