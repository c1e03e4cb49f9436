from __future__ import annotations

import math
import socket
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import litellm
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.samples.retry import Retry, Trouble, diagnose
from opik_checkembed.testing.fake_openai import FakeOpenAI, Fault

# As OpenAI sends it: the code says more than the text.
QUOTA = (
    '{"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "param": null, '
    '"code": "insufficient_quota"}}'
)
SENT = ("n", "temperature", "top_p", "seed", "max_tokens", "reasoning_effort", "stop")


class ProviderError(Exception):
    """An error as litellm and the openai client raise it: attributes, not types, are read."""

    def __init__(self, text: str, status: int | None = 400, **attributes: Any) -> None:
        super().__init__(text)
        if status is not None:
            self.status_code = status
        for name, value in attributes.items():
            setattr(self, name, value)


class Response:
    def __init__(self, **headers: str) -> None:
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def rejected(text: str, sent: tuple[str, ...] = SENT, status: int = 400, **attributes: Any) -> str | None:
    trouble = diagnose(ProviderError(text, status, **attributes), sent)
    assert trouble.action == ("stop" if trouble.parameter is None else "drop")
    return trouble.parameter


@pytest.fixture
def no_debug_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(litellm, "suppress_debug_info", True)


def raised(base_url: str, model: str = "openai/fake", **arguments: Any) -> openai.OpenAIError:
    """What litellm raises for one call."""
    given: dict[str, Any] = {"api_key": "sk-local-key", "max_retries": 0, "num_retries": 0, "timeout": 10, **arguments}
    # Not on the main thread, where litellm would leave an event loop behind.
    with ThreadPoolExecutor(1) as worker:
        asked = worker.submit(
            litellm.completion, model, [{"role": "user", "content": "Hi"}], api_base=base_url, **given
        )
        error = asked.exception()
    assert isinstance(error, openai.OpenAIError)
    return error


class TestRetry:
    @given(made=st.integers(1, 9), first=st.floats(0, 10), longest=st.floats(0, 100))
    def test_backoff_doubles_with_jitter_up_to_the_longest(self, made: int, first: float, longest: float) -> None:
        delay = Retry(attempts=10, first_delay=first, longest_delay=longest).delay(made, None)
        assert delay is not None
        whole = min(longest, first * 2 ** (made - 1))
        assert whole / 2 <= delay <= whole

    def test_retry_after_is_kept_exactly(self) -> None:
        assert Retry().delay(1, 7.25) == 7.25
        assert Retry().delay(1, 0.0) == 0.0
        assert Retry(longest_delay=60).delay(1, 60.0) == 60.0

    def test_a_longer_wait_than_allowed_is_not_waited_for(self) -> None:
        assert Retry(longest_delay=60).delay(1, 60.5) is None

    @pytest.mark.parametrize("retry_after", [None, 1.0])
    def test_the_last_attempt_is_the_last(self, retry_after: float | None) -> None:
        assert Retry(attempts=3).delay(2, retry_after) is not None
        assert Retry(attempts=3).delay(3, retry_after) is None
        assert Retry(attempts=1).delay(1, retry_after) is None

    @pytest.mark.parametrize(
        "arguments",
        [{"attempts": 0}, {"attempts": "5"}, {"attempts": 2.5}, {"attempts": True}, {"first_delay": -1},
         {"longest_delay": -0.1}, {"longest_delay": math.nan}, {"first_delay": math.inf}, {"first_delay": None}],
    )  # fmt: skip
    def test_what_cannot_work_is_refused(self, arguments: dict[str, Any]) -> None:
        with pytest.raises(ConfigurationError, match="attempts of at least 1 and delays of at least 0"):
            Retry(**arguments)


class TestStatus:
    @pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422, None])
    def test_the_callers_faults_stop(self, status: int | None) -> None:
        trouble = diagnose(ProviderError("no", status, response=Response(retry_after="1")), SENT)
        assert trouble == Trouble("stop", "ProviderError: no")

    @pytest.mark.parametrize("status", [429, 503, 529])
    def test_overload_waits_for_all_and_costs_nothing(self, status: int) -> None:
        assert diagnose(ProviderError("slow", status)) == Trouble("wait", "ProviderError: slow", throttled=True)

    @pytest.mark.parametrize("status", [408, 409, 425, 500, 502, 504])
    def test_a_broken_call_waits_and_may_have_cost(self, status: int) -> None:
        assert diagnose(ProviderError("broken", status)) == Trouble("wait", "ProviderError: broken", maybe_billed=True)

    @pytest.mark.parametrize("name", ["ConnectError", "ConnectTimeout"])
    def test_no_connection_costs_nothing(self, name: str) -> None:
        cause = type(name, (Exception,), {})("refused")
        error = ProviderError("Connection error.", 500)
        error.__cause__ = Exception("in between")
        error.__cause__.__context__ = cause
        assert diagnose(error) == Trouble("wait", "ProviderError: Connection error.")

    def test_causes_in_a_circle(self) -> None:
        error, cause = ProviderError("broken", 500), Exception()
        error.__cause__, cause.__context__ = cause, error
        assert diagnose(error).maybe_billed

    @pytest.mark.parametrize(
        "attributes",
        [{"code": "insufficient_quota"}, {"type": "insufficient_quota"}, {"body": {"code": "insufficient_quota"}},
         {"body": {"type": "insufficient_quota"}}],
    )  # fmt: skip
    def test_a_used_up_quota_is_not_waited_for(self, attributes: dict[str, Any]) -> None:
        error = ProviderError("You exceeded your current quota", 429, **attributes)
        assert diagnose(error).action == "stop"
        assert diagnose(ProviderError("Error: insufficient_quota", 429)).action == "stop"

    def test_another_providers_quota_per_minute_is(self) -> None:
        # Gemini's words for a limit that is over within the minute.
        said = "RESOURCE_EXHAUSTED: You exceeded your current quota, please check your plan. Please retry in 7s."
        assert diagnose(ProviderError(said, 429, body={"code": 429})).action == "wait"

    @pytest.mark.parametrize("said", ["Missing credentials. Please pass an `api_key`", "Missing Gemini API key."])
    def test_a_key_nobody_set_is_not_waited_for(self, said: str) -> None:
        assert diagnose(ProviderError(said, 500)) == Trouble("stop", f"ProviderError: {said}")


class TestRetryAfter:
    @pytest.mark.parametrize(
        ("value", "seconds"),
        [("7", 7.0), ("0.25", 0.25), ("0", 0.0), ("-3", 0.0), ("inf", math.inf), ("soon", None), ("", None),
         ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0), ("Wed, 99 Oct 2015 07:28:00 GMT", None)],
    )  # fmt: skip
    def test_seconds_fractions_and_nonsense(self, value: str, seconds: float | None) -> None:
        error = ProviderError("slow", 429, litellm_response_headers={"retry-after": value})
        assert diagnose(error).retry_after == seconds

    def test_a_date(self) -> None:
        then = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
        wait = diagnose(ProviderError("slow", 429, litellm_response_headers={"Retry-After": then})).retry_after
        assert wait is not None
        # The date has whole seconds.
        assert 60 < wait <= 90

    @pytest.mark.parametrize(
        "attributes",
        [
            {"litellm_response_headers": {"retry-after": "7"}},
            {"response": Response(), "litellm_response_headers": {"Retry-After": "7"}},
            {"response": Response(Content_Type="text"), "litellm_response_headers": {"retry-after": "7"}},
            {"response": Response(Retry_After="7"), "litellm_response_headers": None},
            {"headers": {"retry-after": "7"}, "response": None},
        ],
    )
    def test_wherever_it_stands(self, attributes: Mapping[str, Any]) -> None:
        assert diagnose(ProviderError("slow", 429, **attributes)).retry_after == 7.0

    def test_of_a_server_error_too(self) -> None:
        assert diagnose(ProviderError("x", 500, litellm_response_headers={"retry-after": "3"})).retry_after == 3.0

    def test_none_said(self) -> None:
        assert diagnose(ProviderError("x", 429, response=Response(), headers=None)).retry_after is None


class TestRejectedParameter:
    @pytest.mark.parametrize(
        ("text", "name"),
        [
            # OpenAI, vLLM, llama.cpp, Groq, Anthropic, Fireworks, Gemini; litellm's own follow below.
            ("Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is "
             "supported.", "temperature"),
            ("Invalid 'n': integer above maximum value. Expected a value <= 128, but got 500 instead.", "n"),
            ("n must be 1 when using greedy sampling, got 5.", "n"),
            ("Only one completion choice is allowed", "n"),
            ("'n' : number must be at most 1", "n"),
            ("`temperature` and `top_p` cannot both be specified for this model. Please use only one.", "temperature"),
            ("Unrecognized request argument supplied: n", "n"),
            ("Multiple candidates is not enabled for this model", "n"),
            ("Only one candidate can be specified in the current model", "n"),
            ("Unknown name: candidateCount", "n"),
            ("Unsupported parameter(s): `seed`", "seed"),
            ("extraneous key [top_p] is not permitted", "top_p"),
            ("unexpected keyword argument 'seed'", "seed"),
            ("seed=3 is out of range", "seed"),
            ("top_p must be in (0, 1], got 0.0.", "top_p"),
        ],
    )  # fmt: skip
    def test_is_found_in_what_providers_say(self, text: str, name: str) -> None:
        assert rejected(text) == name

    @pytest.mark.parametrize(
        "text",
        [
            "Unsupported parameter: 'max_tokens' is not supported here. Use 'max_completion_tokens' instead.",
            "max_tokens (5000) is too large with n=5: the limit is 4096",
            "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (1000 in the "
            "messages, 4000 in the completion). Please reduce the length of the messages or completion.",
            "Please stop sending seed data, user.",
            "Conversation roles must alternate user/assistant",
            "An internal nonsense",
            "",
        ],
    )
    def test_nothing_is_dropped_for_other_faults(self, text: str) -> None:
        assert rejected(text) is None

    def test_only_what_was_sent_can_be_dropped(self) -> None:
        assert rejected("Unsupported value: 'temperature'", ("n",)) is None
        assert rejected("Unsupported value: 'temperature'", ()) is None
        assert rejected("Only one completion choice is allowed", ("temperature",)) is None

    def test_what_the_error_names_wins_over_its_text(self) -> None:
        assert rejected("'n' and 'seed'", param="seed") == "seed"
        assert rejected("'n' and 'seed'", body={"param": "seed"}) == "seed"
        assert rejected("'n' and 'seed'", param="candidate_count") == "n"
        assert rejected("'n' and 'seed'", param="prompt") is None
        assert rejected("'n' and 'seed'", param="max_tokens") is None
        assert rejected("'n' is too large", param="None") == "n"
        assert rejected("'n' is too large", param="", body={"param": None}) == "n"

    def test_of_a_validation_error_only_the_places_count(self) -> None:
        whole = {"messages": [], "n": 5, "temperature": 0.7}
        extra = {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": whole}]}
        missing = {"detail": ["odd", {"loc": ["body", "chat_id"], "input": whole}, {"msg": "no place"}]}
        assert rejected(f"Error code: 422 - {extra}", status=422, body=extra) == "seed"
        assert rejected(f"Error code: 422 - {missing}", status=422, body=missing) is None

    @pytest.mark.parametrize("status", [401, 403, 404, 413])
    def test_other_refusals_are_about_no_parameter(self, status: int) -> None:
        assert rejected("'n' is not allowed", status=status) is None

    def test_a_server_errors_text_is_not_read_for_it(self) -> None:
        assert diagnose(ProviderError("'n' broke", 500), SENT).action == "wait"

    @pytest.mark.parametrize(
        ("model", "provider", "parameters", "name"),
        [
            ("claude-3-5-sonnet-20241022", "anthropic", {"n": 5, "temperature": 1.0, "max_tokens": 9}, "n"),
            ("claude-3-5-sonnet-20241022", "anthropic", {"seed": 3, "temperature": 1.0}, "seed"),
            ("llama3", "ollama", {"n": 5, "temperature": 1.0}, "n"),
            ("mistral-small", "mistral", {"n": 5, "seed": 2}, "n"),
            ("o1", "openai", {"temperature": 0.7, "n": 5}, "temperature"),
            ("o3", "openai", {"temperature": 0.7, "top_p": 0.5, "n": 5}, "top_p"),
            ("gpt-5", "openai", {"temperature": 0.7, "reasoning_effort": "low"}, "temperature"),
            ("gpt-5", "openai", {"top_p": 0.5, "temperature": 1.0}, "top_p"),
            ("gpt-5.1", "openai", {"top_p": 0.5, "temperature": 1.0, "reasoning_effort": "low"}, "top_p"),
        ],
    )
    def test_is_found_in_what_litellm_itself_says(
        self, model: str, provider: str, parameters: dict[str, Any], name: str
    ) -> None:
        with pytest.raises(openai.BadRequestError, match="UnsupportedParamsError") as failure:
            litellm.get_optional_params(model=model, custom_llm_provider=provider, **parameters)
        trouble = diagnose(failure.value, parameters)
        assert (trouble.action, trouble.parameter) == ("drop", name)


class TestText:
    def test_is_one_line_of_a_limited_length(self) -> None:
        text = diagnose(ProviderError("a\n  b " + "x" * 500)).text
        assert text.startswith("ProviderError: a b xxx")
        assert (len(text), text[-1]) == (240, "…")

    def test_names_the_error_once(self) -> None:
        class RateLimitError(ProviderError):
            pass

        error = RateLimitError("litellm.RateLimitError: RateLimitError: OpenAIException - slow down", 429)
        assert diagnose(error).text == "RateLimitError: OpenAIException - slow down"
        assert diagnose(RateLimitError("", 429)).text == "RateLimitError"

    def test_leaves_a_traceback_out(self) -> None:
        error = ProviderError("No key.\nTraceback (most recent call last):\n  File 'x'", 401)
        assert diagnose(error).text == "ProviderError: No key."

    def test_masks_the_secrets_it_is_given(self) -> None:
        error = ProviderError("bad key hunter-two-long, hunter-two, other")
        assert (
            diagnose(error, (), ["hunter-two", "", "hunter-two-long"]).text == "ProviderError: bad key ***, ***, other"
        )

    @pytest.mark.parametrize(
        ("said", "shown"),
        [
            ("Incorrect API key provided: sk-abc12345", "Incorrect API key provided: ***"),
            ("connect https://user:hunter2@host/v1 failed", "connect https://host/v1 failed"),
            ("header Authorization: Bearer abcdef123456.xyz refused", "header Authorization: Bearer *** refused"),
            ("a basic misunderstanding", "a basic misunderstanding"),
            ("hf_ABCDEFGH is unknown", "*** is unknown"),
        ],
    )
    def test_masks_what_looks_like_a_credential(self, said: str, shown: str) -> None:
        assert diagnose(ProviderError(said, 401)).text == f"ProviderError: {shown}"


# litellm builds its types on the first call, and pydantic has a remark about one of them.
@pytest.mark.filterwarnings("ignore:Item .* on TypedDict class:UserWarning")
@pytest.mark.usefixtures("no_debug_output")
class TestThroughLiteLLM:
    """The same with real errors: a server on 127.0.0.1 behind the real litellm."""

    @pytest.fixture
    def closed_port(self) -> Iterator[str]:
        # Bound but not listening: nobody else can take it, and a connection is refused.
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"

    @pytest.mark.parametrize("status", [429, 500, 503])
    def test_retry_after_arrives(self, status: int) -> None:
        with FakeOpenAI(faults=[Fault.http(status, retry_after="7")]) as server:
            trouble = diagnose(raised(server.base_url))
        assert (trouble.action, trouble.retry_after, trouble.throttled) == ("wait", 7.0, status != 500)

    def test_a_used_up_quota(self) -> None:
        with FakeOpenAI(faults=[Fault.http(429, body=QUOTA)]) as server:
            assert diagnose(raised(server.base_url)).action == "stop"

    @pytest.mark.parametrize("status", [400, 401, 403, 404])
    def test_the_callers_faults(self, status: int) -> None:
        with FakeOpenAI(faults=[Fault.http(status)]) as server:
            assert diagnose(raised(server.base_url)).action == "stop"

    @pytest.mark.parametrize("name", ["n", "temperature", "top_p", "seed"])
    def test_a_rejected_parameter(self, name: str) -> None:
        sent: dict[str, Any] = {"n": 5, "temperature": 0.7, "top_p": 0.5, "seed": 3}
        with FakeOpenAI(reject=[name]) as server:
            assert diagnose(raised(server.base_url, **sent), sent).parameter == name

    def test_rejected_token_limits_are_kept(self) -> None:
        with FakeOpenAI(reject=["max_tokens"]) as server:
            trouble = diagnose(raised(server.base_url, max_tokens=5, n=2), ["max_tokens", "n"])
        assert (trouble.action, trouble.parameter) == ("stop", None)

    def test_a_refused_port_costs_nothing(self, closed_port: str) -> None:
        trouble = diagnose(raised(closed_port))
        assert (trouble.action, trouble.maybe_billed) == ("wait", False)

    def test_a_dropped_connection_may_have_cost(self) -> None:
        with FakeOpenAI(faults=[Fault.reset()]) as server:
            trouble = diagnose(raised(server.base_url))
        assert (trouble.action, trouble.maybe_billed) == ("wait", True)

    def test_a_timeout_may_have_cost(self) -> None:
        with FakeOpenAI(faults=[Fault.hang()]) as server:
            trouble = diagnose(raised(server.base_url, timeout=0.2))
        assert (trouble.action, trouble.maybe_billed) == ("wait", True)

    def test_a_key_nobody_set(self, monkeypatch: pytest.MonkeyPatch, closed_port: str) -> None:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        assert diagnose(raised(closed_port, api_key=None)).action == "stop"
