"""A limit on what sampling may cost, held by reserving the worst case before each call.

Calls in flight count as if they had cost their most, so that many threads cannot overshoot together.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from opik_checkembed.errors import BudgetExceeded, ConfigurationError
from opik_checkembed.samples.prices import Price, Prices, check_prices, count_prompt_tokens, longest_answer, price_of
from opik_checkembed.samples.request import SampleRequest

_PICO = 10**12


def _units(usd: float) -> int:
    """Money as whole picodollars: sums of floats drift, and would refuse the call that just fits."""
    return round(usd * _PICO)


@dataclass
class Reservation:
    """Room held for one call until it is known what the call cost."""

    budget: Budget = field(repr=False)
    usd: float

    def settle(self, cost_usd: float | None) -> None:
        """The call was made: put its cost in place of the reservation; an unknown cost keeps the worst case."""
        self.budget._settle(self.usd, cost_usd)

    def release(self) -> None:
        """The provider did not carry the call out."""
        self.budget._release(self.usd)


class Budget:
    """The most that a run may spend on provider calls; give one object to all metrics that share it.

    Args:
        max_cost_usd: US dollars. Each call reserves its worst case first: the prompt's tokens and the longest
            answer allowed. Without `max_tokens` that is the model's own limit, often a hundred times what an answer
            takes, so set `max_tokens` to use the budget to its end.
        max_calls: Provider calls (one call may bring several samples).
        prices: `{model: (input, output)}` in US dollars per million tokens, for models litellm has no price of.

    Raises:
        ConfigurationError: No limit is given, or one that is not a positive number.

    Example:
        >>> budget = Budget(max_cost_usd=2.0, prices={"openai/local": (0.0, 0.0)})
        >>> budget.spent_usd, budget.calls
        (0.0, 0)
    """

    def __init__(
        self, *, max_cost_usd: float | None = None, max_calls: int | None = None, prices: Prices | None = None
    ) -> None:
        if max_cost_usd is None and max_calls is None:
            raise ConfigurationError("a Budget needs max_cost_usd= or max_calls=")
        if max_cost_usd is not None and not 0 < max_cost_usd < float("inf"):
            raise ConfigurationError(f"max_cost_usd must be a positive number of US dollars, not {max_cost_usd!r}")
        if max_calls is not None and (not isinstance(max_calls, int) or isinstance(max_calls, bool) or max_calls < 1):
            raise ConfigurationError(f"max_calls must be a whole number of at least 1, not {max_calls!r}")
        self.max_cost_usd = max_cost_usd
        self.max_calls = max_calls
        self.prices = check_prices(prices)
        self._lock = threading.Lock()
        self._reserved = 0
        self._spent = 0
        self._calls = 0
        self._unknown = False

    @property
    def spent_usd(self) -> float | None:
        """What finished calls cost.

        A call of unknown cost counts with its worst case; where only calls are limited no worst case is reckoned, so
        that the sum is not known either: None.
        """
        with self._lock:
            return None if self._unknown else self._spent / _PICO

    @property
    def calls(self) -> int:
        """Calls made or in flight."""
        with self._lock:
            return self._calls

    def check(self, model: str) -> None:
        """Refuse a model whose cost could not be known, before anything is asked.

        Raises:
            ConfigurationError: `max_cost_usd` is set and the model has no price; names the two ways out.
        """
        if self.max_cost_usd is not None:
            self._price(model)

    def reserve(self, request: SampleRequest, choices: int = 1) -> Reservation:
        """Hold room for one call that brings `choices` answers.

        Raises:
            BudgetExceeded: There is no room; nothing was reserved.
            ConfigurationError: `max_cost_usd` is set and the model has no price.
        """
        return self.reserve_usd(0.0 if self.max_cost_usd is None else self._worst_case(request, choices))

    def reserve_usd(self, usd: float) -> Reservation:
        """Hold room for one call that costs `usd` at most.

        Raises:
            BudgetExceeded: There is no room; nothing was reserved. `may_pass` says whether only calls in flight are in
                the way.
        """
        with self._lock:
            if self.max_calls is not None and self._calls >= self.max_calls:
                raise BudgetExceeded(f"the budget of {self.max_calls} calls is used up")
            taken = self._spent + self._reserved + _units(usd)
            if self.max_cost_usd is not None and taken > _units(self.max_cost_usd):
                raise BudgetExceeded(
                    f"the budget of ${self.max_cost_usd:g} has no room for a call that may cost ${usd:.4g} "
                    f"(${self._spent / _PICO:.4g} spent, ${self._reserved / _PICO:.4g} in flight)",
                    may_pass=taken - self._reserved <= _units(self.max_cost_usd),
                )
            self._calls += 1
            self._reserved += _units(usd)
        return Reservation(self, usd)

    def cost_of(self, model: str, usage: Mapping[str, int], known: float | None) -> float | None:
        """What one finished call cost: by the price given here, else as it is `known`."""
        prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
        if model not in self.prices or prompt is None or completion is None:
            return known
        return self._price(model).of(prompt, completion)

    def _price(self, model: str) -> Price:
        price = price_of(model, self.prices)
        if price is None:
            raise ConfigurationError(
                f"max_cost_usd cannot be held: no price is known for {model!r}. Give it, "
                f"Budget(max_cost_usd=..., prices={{{model!r}: (input, output)}}) in US dollars per million tokens, "
                "or limit calls instead, Budget(max_calls=...)"
            )
        return price

    def _worst_case(self, request: SampleRequest, choices: int) -> float:
        price = self._price(request.model)
        if price.prompt == price.completion == 0:
            return 0.0
        longest = longest_answer(request.model, request.parameters)
        if longest is None and price.completion > 0:
            raise ConfigurationError(
                f"max_cost_usd cannot be held: neither the request nor litellm limits the length of an answer of "
                f"{request.model!r}. Set max_tokens in model_parameters"
            )
        prompt = count_prompt_tokens(request.model, list(request.messages), list(request.tools))
        return price.of(prompt, (longest or 0) * choices)

    def _settle(self, reserved: float, cost: float | None) -> None:
        with self._lock:
            self._reserved -= _units(reserved)
            self._spent += _units(reserved if cost is None else cost)
            self._unknown |= cost is None and self.max_cost_usd is None

    def _release(self, reserved: float) -> None:
        with self._lock:
            self._reserved -= _units(reserved)
            self._calls -= 1


@dataclass(frozen=True)
class Estimate:
    """What a run would ask for and cost at most.

    Attributes:
        samples: Samples to be bought.
        calls: Provider calls if every sample is a call of its own; fewer where the provider takes `n`.
        prompt_tokens: Tokens sent, if every sample is a call of its own.
        completion_tokens: The most tokens that could come back; None when some model's limit is unknown.
        cost_usd: The most it could cost; None when a price or a limit is unknown.
        kept: Samples that the store already holds.
        unpriced: Models without a known price.
    """

    samples: int
    calls: int
    prompt_tokens: int
    completion_tokens: int | None
    cost_usd: float | None
    kept: int
    unpriced: tuple[str, ...]


def price_requests(
    requests: Iterable[tuple[SampleRequest, int]],
    *,
    kept: int = 0,
    prices: Prices | None = None,
    completion_tokens: int | None = None,
) -> Estimate:
    """Price requests before they are asked.

    Args:
        requests: Each request with the number of samples still to be bought for it.
        kept: Samples the store already holds, carried through to the result.
        prices: As for `Budget`.
        completion_tokens: Tokens to expect of one answer, instead of the longest allowed.

    Example:
        >>> request = SampleRequest("ollama/llama3", ({"role": "user", "content": "Why?"},), {"max_tokens": 100})
        >>> price_requests([(request, 5)]).cost_usd
        0.0
    """
    checked = check_prices(prices)
    samples = prompt = completion = 0
    cost: float | None = 0.0
    unlimited = False
    unpriced: set[str] = set()
    for request, count in requests:
        price = price_of(request.model, checked)
        longest = completion_tokens or longest_answer(request.model, request.parameters)
        sent = count * count_prompt_tokens(request.model, list(request.messages), list(request.tools))
        samples += count
        prompt += sent
        completion += count * (longest or 0)
        unlimited |= longest is None
        if price is None:
            unpriced.add(request.model)
        if price is None or (longest is None and price.completion > 0):
            cost = None
        elif cost is not None:
            cost += price.of(sent, count * (longest or 0))
    return Estimate(
        samples=samples,
        calls=samples,
        prompt_tokens=prompt,
        completion_tokens=None if unlimited else completion,
        cost_usd=cost,
        kept=kept,
        unpriced=tuple(sorted(unpriced)),
    )
