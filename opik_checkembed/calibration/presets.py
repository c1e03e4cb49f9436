"""Calibrations that come with the package; none is used unless it is named."""

from __future__ import annotations

from importlib.resources import files

from opik_checkembed.calibration.model import Calibration, parsed_calibration
from opik_checkembed.errors import ConfigurationError

_FOLDER = files("opik_checkembed") / "presets"


def preset_names() -> tuple[str, ...]:
    """The names `load_preset` knows, sorted.

    Example:
        >>> "paper_rule" in preset_names()
        True
    """
    return tuple(sorted(one.name.removesuffix(".json") for one in _FOLDER.iterdir() if one.name.endswith(".json")))


def load_preset(name: str) -> Calibration:
    """A calibration that comes with the package.

    - "paper_rule": CheckEmbed's rule of thumb. An answer is good where the mean similarity of the answers is above .9
      and their standard deviation below .05; identical samples never are, as a provider cache makes any answer agree
      with itself. It reads the evidence of a score named "checkembed_metric", and is a rule, not a probability.

    Others are fitted, and named after the data they were fitted on, which their `fitted_on` describes. On other data,
    models and numbers of samples their probabilities are off; fit your own where you have labels.

    Raises:
        ConfigurationError: There is no such preset; lists those there are.

    Example:
        >>> rule = load_preset("paper_rule")
        >>> agreement = {"mean": 0.95, "std": 0.02, "identical": 0}
        >>> rule.probability({f"checkembed_metric.{name}": value for name, value in agreement.items()})
        0.0
    """
    if name not in preset_names():
        raise ConfigurationError(f"there is no preset {name!r}; there are {', '.join(preset_names())}")
    return parsed_calibration((_FOLDER / f"{name}.json").read_text("utf-8"), f"the preset {name}")
