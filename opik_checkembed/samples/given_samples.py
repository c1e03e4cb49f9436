"""Reads samples that the dataset item or the task's output already holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opik_checkembed.errors import RequestError
from opik_checkembed.samples.request import Fields
from opik_checkembed.samples.sample import Origin, Sample, SampleSet, Status, status_of


class GivenSamples:
    """Takes the `samples` field as it is: all of them, whatever number the metric would have asked for.

    Entries are texts, or dicts with a `text`. Blank entries and refusals are counted and left out of agreement, as
    are entries that are not text.

    Example:
        >>> GivenSamples().draw({"samples": ["Paris.", "", "Paris"]}, count=5).texts
        ['Paris.', 'Paris']
    """

    def draw(self, fields: Fields, count: int) -> SampleSet:  # noqa: ARG002 - the Protocol's; all are taken
        """Every sample of the `samples` field.

        Raises:
            RequestError: `samples` is missing, empty or not a list.
        """
        given = fields.get("samples")
        if not isinstance(given, Sequence) or isinstance(given, str | bytes):
            raise RequestError(f"`samples` must be a list of texts, not {type(given).__name__}")
        if not given:
            raise RequestError("`samples` is empty: leave the field out to have the model asked again")
        samples = tuple(_sample(index, entry) for index, entry in enumerate(given))
        return SampleSet(samples=samples, requested=len(samples))


def _sample(index: int, entry: object) -> Sample:
    text = entry.get("text") if isinstance(entry, Mapping) else entry
    if not isinstance(text, str):
        return Sample(index, "", Status.NOT_TEXT, origin=Origin.GIVEN)
    return Sample(index, text, status_of(text), origin=Origin.GIVEN)
