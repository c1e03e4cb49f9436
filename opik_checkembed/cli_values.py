"""Options of the form NAME=VALUE, which several commands take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.metric_names import value_of


def pair(text: str, form: str) -> tuple[str, str]:
    """The two sides of NAME=VALUE.

    Raises:
        ConfigurationError: It is of another form than `form` says. The text is not repeated, since it may be a key.

    Example:
        >>> pair("max_tokens=200", "--param NAME=VALUE")
        ('max_tokens', '200')
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        lacking = "a name before its '='" if equals else "an '='"
        raise ConfigurationError(f"an option without {lacking} is not of the form {form}")
    return name, value


def parameters(texts: Sequence[str]) -> dict[str, Any]:
    """Parameters for a model: JSON where the value is JSON, else text.

    Raises:
        ConfigurationError: One is not NAME=VALUE.

    Example:
        >>> parameters(["max_tokens=200", "api_base=http://127.0.0.1:8000/v1"])
        {'max_tokens': 200, 'api_base': 'http://127.0.0.1:8000/v1'}
    """
    pairs = (pair(text, "--param NAME=VALUE") for text in texts)
    return {name: value_of(value) for name, value in pairs}


def own_parameters(texts: Sequence[str], options: Mapping[str, str]) -> dict[str, Any]:
    """Parameters for a model, none of which is set in another way.

    Args:
        texts: Each NAME=VALUE.
        options: By name what sets it instead.

    Raises:
        ConfigurationError: One is not NAME=VALUE, or is set by something else.

    Example:
        >>> own_parameters(["max_tokens=200"], {"timeout": "--timeout"})
        {'max_tokens': 200}
    """
    named = parameters(texts)
    taken = next((name for name in named if name in options), None)
    if taken is not None:
        raise ConfigurationError(f"{taken} is set by {options[taken]}, not by --param")
    return named


def price_list(texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Prices by model, in US dollars per million tokens in and out.

    Raises:
        ConfigurationError: One is not MODEL=IN,OUT.

    Example:
        >>> price_list(["openai/local=0,0.5"])
        {'openai/local': (0.0, 0.5)}
    """
    prices = {}
    for text in texts:
        model, figures = pair(text, "--price MODEL=IN,OUT")
        try:
            prompt, completion = (float(part) for part in figures.split(","))
        except ValueError as error:
            raise ConfigurationError(
                f"--price must be MODEL=IN,OUT in US dollars per million tokens: {text}"
            ) from error
        prices[model] = (prompt, completion)
    return prices
