"""Where samples come from: one method, four sources."""

from __future__ import annotations

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
