"""What a calibration was fitted under and is applied to: the options of metrics, as finished results hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opik_checkembed.calibration.model import Options, score_of
from opik_checkembed.metric_options import OPTIONS, options_of
from opik_checkembed.results import ItemResult, json_ready

__all__ = ["checked_options", "options_in", "options_of"]


def options_in(items: Sequence[ItemResult], names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """For each of these scores its metric's options, as its evidence holds them; those that all items share.

    Args:
        items: Finished results.
        names: Scores, or numbers of their evidence.
    """
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        scores = [item.score(name) or item.score(score_of(name)) for item in items]
        said = [one for score in scores if score is not None and (one := score.evidence.get(OPTIONS))]
        told = [one for one in said if isinstance(one, Mapping)]
        if told:
            found[name] = {
                option: value for option, value in told[0].items() if all(one.get(option) == value for one in told)
            }
    return found


def checked_options(options: Options | None, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Options as a calibration keeps them: of the scores that it reads, and JSON-ready."""
    given = options or {}
    return {name: json_ready(dict(given[name])) for name in names if name in given}
