"""Where samples come from: one method, four sources. And who asks through which of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from opik_checkembed.samples.request import Fields
from opik_checkembed.samples.sample import SampleSet


@runtime_checkable
class Sampler(Protocol):
    """Anything that can answer an item again.

    `LiteLLMSampler` asks the tracked model, `OpikModelSampler` an `OpikBaseModel`, `TaskSampler` runs the whole
    task again, `GivenSamples` reads the answers that the item already holds.
    """

    def draw(self, fields: Fields, count: int) -> SampleSet:
        """`count` more answers to what `fields` (dataset item and task output, merged) asked.

        Raises:
            ItemError: The item holds nothing to ask again.
        """
        ...


@runtime_checkable
class AsksModels(Protocol):
    """A metric, verifier, judge or splitter that asks models, and says through what.

    One of your own that has this method is seen by a replay and a budget; one without it is taken to ask nobody.
    """

    def samplers(self) -> Sequence[object]:
        """The samplers that it asks through; their `store` and `budget`, where they have them, hold for it."""
        ...


def samplers_of(*askers: object) -> list[object]:
    """The samplers that these ask through.

    Example:
        >>> samplers_of("a text", None)
        []
    """
    return [sampler for one in askers if isinstance(one, AsksModels) for sampler in one.samplers()]


def asks_past(asker: object, held: str, value: object) -> bool:
    """Whether this asks a model through another store or budget than the one that should hold.

    Args:
        asker: Anything.
        held: "store" or "budget".
        value: The store or budget that should hold. A sampler that has none, such as `GivenSamples`, asks nobody.
    """
    return any(getattr(sampler, held, value) is not value for sampler in samplers_of(asker))
