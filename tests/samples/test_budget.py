from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import litellm
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opik_checkembed.errors import BudgetExceeded, ConfigurationError, RequestError
from opik_checkembed.samples.budget import Budget, Estimate, Reservation, price_requests
from opik_checkembed.samples.prices import Price, check_prices, count_prompt_tokens, longest_answer, price_of
from opik_checkembed.samples.request import SampleRequest

# 10 dollars per million tokens in, 20 out: with these a token costs $0.00001 and $0.00002.
PRICES = {"openai/local": (10.0, 20.0)}
MESSAGES = [{"role": "user", "content": "Why is the sky blue?"}]


def request(model: str = "openai/local", messages: list[dict[str, Any]] = MESSAGES, **parameters: Any) -> SampleRequest:
    return SampleRequest(model, tuple(messages), parameters)


PROMPT = count_prompt_tokens("openai/local", MESSAGES)


class TestLimits:
    @pytest.mark.parametrize(
        "arguments",
        [
            {},
            {"max_cost_usd": 0},
            {"max_cost_usd": -1.0},
            {"max_cost_usd": float("nan")},
            {"max_cost_usd": float("inf")},
            {"max_calls": 0},
            {"max_calls": 2.5},
            {"max_calls": True},
            {"max_calls": "5"},
            {"max_calls": 1, "prices": {"m": (1.0,)}},
        ],
    )
    def test_what_limits_nothing_is_refused(self, arguments: dict[str, Any]) -> None:
        with pytest.raises(ConfigurationError):
            Budget(**arguments)

    def test_calls(self) -> None:
        budget = Budget(max_calls=2)
        budget.reserve(request("no-such-model"))
        budget.reserve(request("no-such-model"), choices=5)
        with pytest.raises(BudgetExceeded, match="the budget of 2 calls is used up"):
            budget.reserve(request())
        assert budget.calls == 2

    def test_a_released_call_makes_room(self) -> None:
        budget = Budget(max_calls=1)
        budget.reserve(request()).release()
        assert budget.calls == 0
        budget.reserve(request()).settle(0.1)
        assert (budget.calls, budget.spent_usd) == (1, 0.1)

    def test_the_last_cent_can_be_spent(self) -> None:
        # As floats, 0.1 + 0.1 + 0.1 is more than 0.3.
        budget = Budget(max_cost_usd=0.3)
        for _ in range(3):
            budget.reserve_usd(0.1)
        with pytest.raises(BudgetExceeded) as failure:
            budget.reserve_usd(0.1)
        assert str(failure.value) == (
            "the budget of $0.3 has no room for a call that may cost $0.1 ($0 spent, $0.3 in flight)"
        )

    def test_the_worst_case_is_held_and_what_it_cost_put_in_its_place(self) -> None:
        budget = Budget(max_cost_usd=1.0)
        held = budget.reserve_usd(0.8)
        assert budget.spent_usd == 0.0
        with pytest.raises(BudgetExceeded):
            budget.reserve_usd(0.3)
        held.settle(0.1)
        assert budget.spent_usd == 0.1
        budget.reserve_usd(0.9)

    def test_an_unknown_cost_keeps_the_worst_case(self) -> None:
        budget = Budget(max_cost_usd=1.0)
        budget.reserve_usd(0.8).settle(None)
        assert budget.spent_usd == 0.8

    def test_with_no_worst_case_an_unknown_cost_makes_the_sum_unknown(self) -> None:
        budget = Budget(max_calls=3)
        budget.reserve(request()).settle(0.5)
        assert budget.spent_usd == 0.5
        budget.reserve(request()).settle(None)
        assert budget.spent_usd is None

    def test_both_limits_hold(self) -> None:
        budget = Budget(max_cost_usd=1.0, max_calls=2)
        budget.reserve_usd(0.1)
        with pytest.raises(BudgetExceeded, match="no room"):
            budget.reserve_usd(1.0)
        budget.reserve_usd(0.1)
        with pytest.raises(BudgetExceeded, match="2 calls"):
            budget.reserve_usd(0.0)

    def test_a_reservation_shows_no_budget(self) -> None:
        assert repr(Budget(max_calls=1).reserve(request())) == "Reservation(usd=0.0)"

    @settings(deadline=None, max_examples=30)
    @given(
        limit=st.integers(1, 40),
        calls=st.lists(
            st.tuples(st.integers(1, 20), st.sampled_from(["settle", "unknown", "release", "keep"])), max_size=60
        ),
    )
    def test_sixteen_threads_never_overshoot(self, limit: int, calls: list[tuple[int, str]]) -> None:
        budget = Budget(max_cost_usd=limit / 10, max_calls=30)
        lock = threading.Lock()
        in_flight: dict[int, int] = {}
        spent: list[int] = []
        most = [0]

        def call(number: int, tenths: int, outcome: str) -> None:
            try:
                held = budget.reserve_usd(tenths / 10)
            except BudgetExceeded:
                return
            with lock:
                in_flight[number] = tenths
                most[0] = max(most[0], sum(in_flight.values()) + sum(spent))
                # Recorded before the budget hears of it, so that ours is never the larger of the two.
                if outcome != "keep":
                    del in_flight[number]
                    spent.extend({"settle": [1], "unknown": [tenths], "release": []}[outcome])
            if outcome == "release":
                held.release()
            elif outcome != "keep":
                held.settle(0.1 if outcome == "settle" else None)

        with ThreadPoolExecutor(16) as pool:
            for number, (tenths, outcome) in enumerate(calls):
                pool.submit(call, number, tenths, outcome)
        assert most[0] <= limit
        assert budget.calls <= 30
        assert budget.spent_usd == pytest.approx(sum(spent) / 10, abs=1e-12)

    def test_one_place_goes_to_one_of_sixteen(self) -> None:
        budget = Budget(max_cost_usd=1.0)
        together = threading.Barrier(16, timeout=10)

        def reserve(_: int) -> bool:
            together.wait()
            try:
                budget.reserve_usd(0.6)
            except BudgetExceeded:
                return False
            return True

        with ThreadPoolExecutor(16) as pool:
            assert sum(pool.map(reserve, range(16))) == 1


class TestWorstCase:
    def reserved(self, asked: SampleRequest, choices: int = 1) -> float:
        return Budget(max_cost_usd=1000.0, prices=PRICES).reserve(asked, choices).usd

    @pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
    def test_is_the_prompt_and_the_longest_answer_of_each_choice(self, name: str) -> None:
        asked = SampleRequest("openai/local", tuple(MESSAGES), {name: 100})
        assert self.reserved(asked) == pytest.approx(PROMPT * 1e-5 + 100 * 2e-5)
        assert self.reserved(asked, choices=5) == pytest.approx(PROMPT * 1e-5 + 500 * 2e-5)

    def test_tools_count_as_prompt(self) -> None:
        tool = {"type": "function", "function": {"name": "look_up", "description": "Look a word up", "parameters": {}}}
        with_tool = SampleRequest("openai/local", tuple(MESSAGES), {"max_tokens": 1}, (tool,))
        assert self.reserved(with_tool) > self.reserved(request(max_tokens=1))

    def test_without_a_limit_the_models_own(self) -> None:
        assert self.reserved(request("gpt-4o-mini")) == pytest.approx(PROMPT * 0.15e-6 + 16384 * 0.6e-6)

    def test_a_length_nobody_limits_is_refused(self) -> None:
        with pytest.raises(ConfigurationError, match="Set max_tokens in model_parameters"):
            self.reserved(request())
        free_answers = Budget(max_cost_usd=1.0, prices={"openai/local": (10.0, 0.0)})
        assert free_answers.reserve(request()).usd == pytest.approx(PROMPT * 1e-5)

    def test_what_is_free_needs_no_counting(self) -> None:
        audio = [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}]}]
        assert self.reserved(request("ollama/llama3", audio)) == 0.0
        with pytest.raises(RequestError, match=r"tokens cannot be counted.*Budget\(max_calls=...\)"):
            self.reserved(request("openai/local", audio, max_tokens=1))

    def test_an_unknown_price_names_two_ways_out(self) -> None:
        budget = Budget(max_cost_usd=1.0)
        for refused in (lambda: budget.check("openai/local"), lambda: budget.reserve(request(max_tokens=1))):
            with pytest.raises(ConfigurationError) as failure:
                refused()
            assert "no price is known for 'openai/local'" in str(failure.value)
            assert "Budget(max_cost_usd=..., prices={'openai/local': (input, output)})" in str(failure.value)
            assert "Budget(max_calls=...)" in str(failure.value)
        assert budget.calls == 0

    def test_a_known_or_given_price_or_a_limit_on_calls_is_enough(self) -> None:
        Budget(max_cost_usd=1.0).check("gpt-4o-mini")
        Budget(max_cost_usd=1.0).check("ollama/whatever")
        Budget(max_cost_usd=1.0, prices=PRICES).check("openai/local")
        Budget(max_calls=1).check("openai/local")


class TestCostOf:
    USAGE = {"prompt_tokens": 1000, "completion_tokens": 500}  # noqa: RUF012 - read only

    def test_a_given_price_is_used(self) -> None:
        budget = Budget(max_calls=1, prices=PRICES)
        assert budget.cost_of("openai/local", self.USAGE, None) == pytest.approx(0.02)
        assert budget.cost_of("openai/local", self.USAGE, 9.0) == pytest.approx(0.02)

    def test_else_it_is_as_known_and_unknown_stays_unknown(self) -> None:
        budget = Budget(max_calls=1, prices=PRICES)
        assert budget.cost_of("openai/other", self.USAGE, 0.5) == 0.5
        assert budget.cost_of("openai/other", self.USAGE, None) is None

    @pytest.mark.parametrize("usage", [{}, {"prompt_tokens": 3}, {"completion_tokens": 3}])
    def test_no_usage_no_cost(self, usage: dict[str, int]) -> None:
        assert Budget(max_calls=1, prices=PRICES).cost_of("openai/local", usage, None) is None


class TestPrices:
    def test_given_per_million(self) -> None:
        price = price_of("openai/local", PRICES)
        assert price == Price(1e-5, 2e-5)
        assert price is not None
        assert price.of(3, 4) == pytest.approx(11e-5)

    def test_given_wins_over_litellms(self) -> None:
        assert price_of("gpt-4o-mini", {"gpt-4o-mini": (1e6, 2e6)}) == Price(1.0, 2.0)
        assert price_of("gpt-4o-mini") == Price(0.15e-6, 0.6e-6)
        assert price_of("ft:gpt-4o-mini-2024-07-18:org::id") == Price(0.3e-6, 1.2e-6)

    @pytest.mark.parametrize("model", ["ollama/llama3", "ollama_chat/unheard-of", "lemonade/any"])
    def test_ones_own_machine_is_truly_free(self, model: str) -> None:
        assert price_of(model) == Price(0.0, 0.0)
        assert longest_answer(model, {}) is None

    @pytest.mark.parametrize(
        "model",
        ["openai/local", "nonsense", "", "no-provider/model", "hosted_vllm/x", "openrouter/some/model",
         # litellm says 0 for these, since its table has no price of them.
         "huggingface/org/model", "github_copilot/gpt-4o", "anthropic/claude-sonnet-4-20250514"],
    )  # fmt: skip
    def test_an_unknown_price_is_none_and_never_zero(self, model: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert price_of(model) is None
        assert capsys.readouterr() == ("", "")

    def test_a_zero_in_litellms_table_is_a_price(self, monkeypatch: pytest.MonkeyPatch) -> None:
        entry = {"input_cost_per_token": 0.0, "output_cost_per_token": 0, "litellm_provider": "openai", "mode": "chat"}
        monkeypatch.setitem(litellm.model_cost, "openai/free-of-charge", entry)
        assert price_of("openai/free-of-charge") == Price(0.0, 0.0)

    def test_nothing_comes_out_of_an_embedding(self, monkeypatch: pytest.MonkeyPatch) -> None:
        entry = {"input_cost_per_token": 1e-6, "litellm_provider": "openai", "mode": "embedding"}
        monkeypatch.setitem(litellm.model_cost, "openai/embedder", entry)
        assert price_of("openai/embedder") == Price(1e-6, 0.0)
        monkeypatch.setitem(litellm.model_cost, "openai/half-known", {**entry, "mode": "chat"})
        assert price_of("openai/half-known") is None

    @pytest.mark.parametrize(
        "prices",
        [{"m": (1.0,)}, {"m": (1.0, 2.0, 3.0)}, {"m": 1.0}, {"m": "12"}, {"m": {1.0: 1, 2.0: 2}}, {"m": ("a", "b")},
         {"m": (-1.0, 1.0)}, {"m": (1.0, float("nan"))}, {"m": (float("inf"), 1.0)}, [("m", (1.0, 2.0))]],
    )  # fmt: skip
    def test_malformed(self, prices: Any) -> None:
        with pytest.raises(ConfigurationError, match="prices"):
            check_prices(prices)

    def test_are_copied(self) -> None:
        own: dict[str, tuple[float, float]] = {"m": (1, 2)}
        checked = check_prices(own)
        own["m"] = (3, 4)
        assert checked == {"m": (1.0, 2.0)}
        assert check_prices(None) == {}


class TestTokens:
    def test_longest_answer(self) -> None:
        assert longest_answer("gpt-4o-mini", {"max_tokens": 9}) == 9
        assert longest_answer("gpt-4o-mini", {"max_tokens": 9, "max_completion_tokens": 7}) == 7
        assert longest_answer("gpt-4o-mini", {"max_tokens": None}) == 16384
        assert longest_answer("ollama/llama3", {"max_tokens": 9}) == 9
        assert longest_answer("openai/local", {}) is None

    def test_prompts_grow_with_their_text(self) -> None:
        double = [{"role": "user", "content": "Why is the sky blue? Why is the sky blue?"}]
        assert 5 < PROMPT < count_prompt_tokens("openai/local", double) < 2 * PROMPT

    @pytest.mark.parametrize("model", ["groq/llama-3.1-8b", "replicate/x", "command-r-plus", "meta/Llama-2-7b"])
    def test_no_tokenizer_is_downloaded(self, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
        def download(*args: object, **kwargs: object) -> None:
            raise AssertionError(args)

        monkeypatch.setattr("litellm.utils._return_huggingface_tokenizer", download)
        assert count_prompt_tokens(model, MESSAGES) == count_prompt_tokens("gpt-4o", MESSAGES)


class TestEstimate:
    def test_calls_tokens_and_dollars(self) -> None:
        asked = [(request(max_tokens=100), 5), (request(max_tokens=10), 2)]
        found = price_requests(asked, kept=3, prices=PRICES)
        assert found.cost_usd == pytest.approx(7 * PROMPT * 1e-5 + 520 * 2e-5)
        assert found == Estimate(
            samples=7,
            calls=7,
            prompt_tokens=7 * PROMPT,
            completion_tokens=520,
            cost_usd=found.cost_usd,
            kept=3,
            unpriced=(),
        )

    def test_what_is_expected_instead_of_the_longest(self) -> None:
        found = price_requests([(request(max_tokens=100), 5)], prices=PRICES, completion_tokens=20)
        assert found.completion_tokens == 100

    def test_unpriced_models_are_named_once_and_the_sum_is_unknown(self) -> None:
        models = ["hosted_vllm/b", "gpt-4o-mini", "hosted_vllm/a", "hosted_vllm/b"]
        found = price_requests([(request(model, max_tokens=10), 1) for model in models])
        assert (found.cost_usd, found.unpriced) == (None, ("hosted_vllm/a", "hosted_vllm/b"))
        assert found.completion_tokens == 40

    def test_an_unknown_length_makes_the_cost_unknown_unless_it_is_free(self) -> None:
        found = price_requests([(request(), 1)], prices=PRICES)
        assert (found.cost_usd, found.completion_tokens, found.unpriced) == (None, None, ())
        free = price_requests([(request("ollama/llama3"), 2), (request("gpt-4o-mini", max_tokens=10), 1)])
        assert free.cost_usd == pytest.approx(PROMPT * 0.15e-6 + 10 * 0.6e-6)
        assert free.completion_tokens is None

    def test_nothing(self) -> None:
        assert price_requests([]) == Estimate(0, 0, 0, 0, 0.0, 0, ())


def test_reservations_of_one_budget_are_told_apart_by_what_they_hold() -> None:
    budget = Budget(max_cost_usd=1.0)
    first, second = budget.reserve_usd(0.25), budget.reserve_usd(0.5)
    first.release()
    second.settle(0.5)
    assert (budget.spent_usd, budget.calls) == (0.5, 1)
    assert isinstance(first, Reservation)


def test_what_a_released_call_held_can_be_spent() -> None:
    budget = Budget(max_cost_usd=1.0)
    budget.reserve_usd(1.0).release()
    assert budget.reserve_usd(1.0).usd == 1.0


def test_a_call_is_reserved_with_one_answer_unless_more_are_asked_for() -> None:
    budget = Budget(max_cost_usd=1.0, prices={"openai/local": (0.0, 1000.0)})
    assert budget.reserve(request(max_tokens=100)).usd == pytest.approx(0.1)
