"""What a call costs, as far as anyone knows. An unknown price is None, never 0."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opik_checkembed.errors import ConfigurationError, RequestError

Prices = Mapping[str, tuple[float, float]]

# Served on the user's own machine: free, whatever the model. litellm would ask the server for its details.
_LOCAL_PROVIDERS = ("ollama/", "ollama_chat/", "lemonade/")
# litellm would ask the hub for the model's configuration, and knows no price all the same.
_ASKED_OVER_THE_NETWORK = ("huggingface/",)
# litellm would download these tokenizers.
_DOWNLOADED_TOKENIZER = re.compile(r"llama-[23]|replicate|command-r", re.IGNORECASE)


@dataclass(frozen=True)
class Price:
    """US dollars per token."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """The cost in US dollars."""
        return prompt_tokens * self.prompt + completion_tokens * self.completion


def check_prices(prices: Prices | None) -> dict[str, tuple[float, float]]:
    """A copy of `{model: (input, output)}`, in US dollars per million tokens.

    Raises:
        ConfigurationError: It is anything else.
    """
    checked: dict[str, tuple[float, float]] = {}
    if prices is not None and not isinstance(prices, Mapping):
        raise ConfigurationError(f"prices must be a dict {{model: (input, output)}}, not {type(prices).__name__}")
    for model, pair in (prices or {}).items():
        try:
            if isinstance(pair, str | Mapping):
                raise TypeError("not a pair")
            prompt, completion = (float(part) for part in pair)
        except (TypeError, ValueError) as error:
            raise ConfigurationError(
                f"prices[{model!r}] must be (input, output) in US dollars per million tokens, not {pair!r}"
            ) from error
        if not (0 <= prompt < float("inf") and 0 <= completion < float("inf")):
            raise ConfigurationError(f"prices[{model!r}] must be finite and not negative, not {pair!r}")
        checked[model] = (prompt, completion)
    return checked


def price_of(model: str, prices: Prices | None = None) -> Price | None:
    """A model's price: the given one, else litellm's, else None."""
    if prices and model in prices:
        prompt, completion = prices[model]
        return Price(prompt / 1e6, completion / 1e6)
    if model.startswith(_LOCAL_PROVIDERS):
        return Price(0.0, 0.0)
    info = _info(model)
    input_cost, output_cost = _cost(info, "input_cost_per_token"), _cost(info, "output_cost_per_token")
    return None if input_cost is None or output_cost is None else Price(input_cost, output_cost)


def longest_answer(model: str, parameters: Mapping[str, Any]) -> int | None:
    """The most completion tokens one answer can have: the request's own limit, else the model's, else None."""
    for name in ("max_completion_tokens", "max_tokens"):
        if isinstance(parameters.get(name), int):
            return int(parameters[name])
    if model.startswith(_LOCAL_PROVIDERS):
        return None
    info = _info(model)
    # Where the first is missing, the second is the whole context: no answer is longer.
    limit = info.get("max_output_tokens") or info.get("max_tokens")
    return int(limit) if limit else None


def count_prompt_tokens(model: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None = None) -> int:
    """Prompt tokens as litellm counts them, with OpenAI's tokenizer where the model's own would be downloaded.

    Raises:
        RequestError: The messages hold something whose tokens cannot be counted, such as audio.
    """
    import litellm

    # The stubs want a narrower union of content types than messages may hold.
    count: Any = litellm.token_counter
    counted_as = "gpt-4o" if _DOWNLOADED_TOKENIZER.search(model) else model
    try:
        return int(count(model=counted_as, messages=messages, tools=tools or None))
    except ValueError as error:
        raise RequestError(
            "the prompt's tokens cannot be counted, so its cost cannot be bounded; limit calls instead, "
            f"Budget(max_calls=...): {error}"
        ) from error


def _cost(info: Mapping[str, Any], name: str) -> float | None:
    """A price per token; litellm's 0 counts only where its table says 0, since it also stands for "unknown"."""
    import litellm

    if info.get(name):
        return float(info[name])
    said = name in litellm.model_cost.get(info.get("key", ""), {})
    nothing_comes_out = info.get("mode") == "embedding" and name == "output_cost_per_token"
    return 0.0 if said or nothing_comes_out else None


def _info(model: str) -> Mapping[str, Any]:
    """What litellm knows of a model; empty where that is nothing."""
    import litellm
    from litellm.exceptions import ModelNotMappedError

    provider, slash, _ = model.partition("/")
    # Asked about any other name, litellm prints its list of providers.
    routed = provider in set(litellm.provider_list) if slash else model.startswith("ft:")
    if model.startswith(_ASKED_OVER_THE_NETWORK) or not (routed or model in litellm.model_cost):
        return {}
    try:
        return dict(litellm.get_model_info(model))
    except ModelNotMappedError:
        return {}
