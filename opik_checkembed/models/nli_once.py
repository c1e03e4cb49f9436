"""An NLI model that reads a passage once for all statements held against it: the same pairs, approximately and faster.

Nothing heavy is imported before the first pair is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.functional.nli import RELATIONS, NLIProbabilities
from opik_checkembed.models.nli import Pair, SharedNLI, TransformerNLI, shared_nli


class PassageOnceNLI:
    """An `NLIModel` over a local DeBERTa classifier that shares a passage's work among statements.

    Most of a passage's tokens are computed as if there were no statement, once for all of them; only those that would
    attend most to a statement are computed beside each. See `opik_checkembed.models.deberta_once`.

    Args:
        exact: The classifier.
        passage_first: Whether the passage is the first text of the pairs.

    Raises:
        ConfigurationError: The classifier is known to be of an architecture or variant that this cannot read.
    """

    def __init__(self, exact: TransformerNLI, *, passage_first: bool) -> None:
        why = None if exact.configuration is None else unsupported(exact.configuration)
        if why is not None:
            raise ConfigurationError(refusal(why))
        self.exact = exact
        self.passage_first = passage_first

    def probabilities(self, pairs: Sequence[Pair]) -> NLIProbabilities:
        """See `NLIModel.probabilities`.

        Raises:
            ModelUnavailable: As `TransformerNLI.probabilities`; or the model turns out to be one that this cannot read.
            ModelError: As `TransformerNLI.probabilities`.
        """
        places = {pair: place for place, pair in enumerate(pairs)}
        columns = np.full((len(RELATIONS), len(pairs)), np.nan)
        for statements, passages in together([self._told(pair) for pair in pairs]):
            read = self.exact.probabilities_once(statements, passages, passage_first=self.passage_first)
            each = [places[self._told((statement, passage))] for statement in statements for passage in passages]
            for column, relation in zip(columns, RELATIONS, strict=True):
                values = getattr(read, relation)
                if values is not None:
                    column[each] = values
        return NLIProbabilities.of_columns(columns)

    def room(self) -> int | None:
        """See `CountsTokens.room`."""
        return self.exact.room()

    def count(self, texts: Sequence[str]) -> list[int]:
        """See `CountsTokens.count`."""
        return self.exact.count(texts)

    def _told(self, pair: Pair) -> Pair:
        """A pair as statement and passage, or the other way round."""
        return (pair[1], pair[0]) if self.passage_first else pair

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PassageOnceNLI):
            return NotImplemented
        return (self.exact, self.passage_first) == (other.exact, other.passage_first)

    def __hash__(self) -> int:
        return hash((self.exact, self.passage_first))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.exact!r}, passage_first={self.passage_first})"


def shared_once(nli: SharedNLI, *, passage_first: bool) -> SharedNLI:
    """The one `SharedNLI` of this process that reads each passage once with the model of another.

    Raises:
        ConfigurationError: It is no local classifier, or one that cannot be read so.
    """
    if not isinstance(nli.model, TransformerNLI):
        raise ConfigurationError(refusal(f"is a {type(nli.model).__name__}"))
    return shared_nli(PassageOnceNLI(nli.model, passage_first=passage_first))


def together(pairs: Sequence[Pair]) -> list[tuple[list[str], list[str]]]:
    """Pairs of a statement and a passage as groups, in which every statement stands beside every passage.

    Example:
        >>> together([("a", "x"), ("b", "x"), ("a", "y"), ("b", "y"), ("c", "y"), ("b", "z"), ("a", "z")])
        [(['a', 'b'], ['x', 'z']), (['a', 'b', 'c'], ['y'])]
    """
    statements: dict[str, set[str]] = {}
    for statement, passage in pairs:
        statements.setdefault(passage, set()).add(statement)
    passages: dict[tuple[str, ...], list[str]] = {}
    for passage, beside in statements.items():
        passages.setdefault(tuple(sorted(beside)), []).append(passage)
    return [(list(beside), of) for beside, of in passages.items()]


def unsupported(config: Mapping[str, Any]) -> str | None:
    """What of a model, by its configuration, cannot be read so; None if nothing is known against it."""
    if config.get("model_type") != "deberta-v2":
        return f"is a {config.get('model_type')}"
    kinds = config.get("pos_att_type") or ()
    wrong = {
        "absolute positions": not config.get("relative_attention") or config.get("position_biased_input", True),
        "one kind of position scores": set(kinds.split("|") if isinstance(kinds, str) else kinds) != {"c2p", "p2c"},
        "token types": config.get("type_vocab_size", 0) > 0,
        "a convolution": (config.get("conv_kernel_size") or 0) > 0,
    }
    found = [said for said, is_so in wrong.items() if is_so]
    return f"has {' and '.join(found)}" if found else None


def refusal(why: str) -> str:
    """What to tell who asked for the fast mode with such a model."""
    return (
        f"the fast mode reads classifiers like DeBERTa-v2 and -v3 in this process, and this one {why}: leave fast=False"
    )
