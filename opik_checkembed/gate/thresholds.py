"""Limits that a score must keep, whatever it was before: `checkembed_metric>=0.8`."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from opik_checkembed.errors import ConfigurationError

_OPERATORS: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
)
_FORM = re.compile(r"(?P<name>[^<>=]+)(?P<operator>>=|<=|>|<)(?P<value>[^<>=]+)")


@dataclass(frozen=True)
class Threshold:
    """What a score must be.

    Attributes:
        name: The score's name.
        operator: ">=", "<=", ">" or "<".
        value: The limit, in the score's unit.

    Example:
        >>> str(Threshold("selfcheck_nli", "<=", 0.3)), Threshold("selfcheck_nli", "<=", 0.3).holds(0.31)
        ('selfcheck_nli<=0.3', False)
    """

    name: str
    operator: str
    value: float

    def __post_init__(self) -> None:
        if self.operator not in _OPERATORS:
            raise ConfigurationError(f"a threshold compares with {', '.join(_OPERATORS)}, not {self.operator!r}")
        if not math.isfinite(self.value):
            raise ConfigurationError(f"the threshold of {self.name} must be a finite number, not {self.value!r}")

    def holds(self, value: float) -> bool:
        """Whether a value keeps to the limit."""
        return _OPERATORS[self.operator](value, self.value)

    def shown(self, value: float) -> str:
        """A value with as many digits as tell it from the limit.

        Example:
            >>> Threshold("m", "<=", 0.3).shown(0.30003), Threshold("m", "<=", 0.3).shown(0.25)
            ('0.30003', '0.25')
        """
        texts = (f"{value + 0.0:.{digits}g}" for digits in (3, 6, 17))
        return next(text for text in texts if self.holds(float(text)) == self.holds(value))

    def __str__(self) -> str:
        short = f"{self.value:g}"
        return f"{self.name}{self.operator}{short if float(short) == self.value else repr(self.value)}"


def parse_threshold(text: str) -> Threshold:
    """A threshold from text.

    Raises:
        ConfigurationError: It is not NAME>=NUMBER, with one of the four signs.

    Example:
        >>> parse_threshold("checkembed_metric >= 0.8")
        Threshold(name='checkembed_metric', operator='>=', value=0.8)
    """
    found = _FORM.fullmatch(text)
    try:
        number = float(found["value"]) if found else math.nan
    except ValueError:
        number = math.nan
    if found is None or math.isnan(number) or not found["name"].strip():
        raise ConfigurationError(f"{text!r} is not a threshold like checkembed_metric>=0.8 or selfcheck_nli<=0.3")
    return Threshold(found["name"].strip(), found["operator"], number)
