"""An Opik experiment as results that can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.results import ItemResult, LocalResults, Score, finite

if TYPE_CHECKING:
    import opik
    from opik.api_objects.experiment.experiment_item import ExperimentItemContent


def read_experiment(name: str, client: opik.Opik | None = None) -> LocalResults:
    """The items and feedback scores of an experiment.

    An item's id is its dataset item's, so that two experiments over one dataset pair. Opik keeps neither a score's
    direction nor the scores that failed: `compare` is to be told the directions, and an item without a score that
    others have is unscored.

    Args:
        name: The experiment's name, in full.
        client: Opik's; None builds one from its configuration.

    Raises:
        ConfigurationError: There is no such experiment, several have the name, Opik cannot be reached, or it is not set
            up in a way that can work.
    """
    reading = client or _client()
    import httpx
    from opik.exceptions import OpikException
    from opik.rest_api.core.api_error import ApiError

    try:
        found = [one for one in reading.get_experiments_by_name(name) if one.name == name]
        if len(found) != 1:
            said = "there is no experiment" if not found else f"{len(found)} experiments are"
            raise ConfigurationError(f"{said} named {name!r} in this Opik workspace; its name must be given in full")
        items = found[0].get_items(max_results=None)
    except (OpikException, ApiError, httpx.HTTPError) as error:
        said = f"HTTP {error.status_code}: {error.body}" if isinstance(error, ApiError) else str(error)
        raise ConfigurationError(f"the experiment {name!r} cannot be read from Opik: {said}") from error
    finally:
        if client is None:
            reading.end()
    return LocalResults(tuple(_result(item) for item in items))


def _client() -> opik.Opik:
    """Opik's client. No setting of it is repeated in an error: it may be the key."""
    import pydantic

    where = "see OPIK_... among the environment variables, and Opik's configuration file"
    try:
        # Some settings are read as it is imported.
        import opik

        return opik.Opik()
    except pydantic.ValidationError as error:
        named = ", ".join(".".join(map(str, one["loc"])) for one in error.errors(include_input=False))
        raise ConfigurationError(f"Opik's settings cannot be used: {named or 'as a whole'}; {where}") from error
    except UnicodeError as error:
        raise ConfigurationError(
            f"one of Opik's settings, like the API key, holds a character that cannot be sent; {where}"
        ) from error


def _result(content: ExperimentItemContent) -> ItemResult:
    scores = tuple(_score(score) for score in content.feedback_scores)
    item: Mapping[str, Any] = content.dataset_item_data or {}
    return ItemResult(content.dataset_item_id, item, content.evaluation_task_output or {}, scores)


def _score(score: Mapping[str, Any]) -> Score:
    value = finite(score["value"])
    reason = score.get("reason")
    return Score(score["name"], value, reason if value is not None else f"Opik holds {score['value']!r}, no score")
