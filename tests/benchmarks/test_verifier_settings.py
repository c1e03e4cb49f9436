"""What kept results are found by: all that shapes a verdict, and nothing secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from opik_checkembed.benchmarks.verifier_settings import (
    asking_settings,
    judging_settings,
    prompts_fingerprint,
    reading_settings,
)
from opik_checkembed.models.verifier import CONTRADICTION_PROMPT, MENTION_PROMPT, LLMVerifier, NLIVerifier


def test_one_name_on_two_servers_is_two_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert asking_settings("openai/m", {}) == {"model": "openai/m", "api_base": None, "parameters": {}}
    one, two = (asking_settings("openai/m", {"api_base": f"http://{host}/v1?key=sk-x"}) for host in ("a", "b"))
    assert (one["api_base"], two["api_base"]) == ("http://a/v1", "http://b/v1")
    assert asking_settings("m", {"custom_llm_provider": "openai"})["model"] == "openai/m"


def test_what_is_left_out_and_what_is_not() -> None:
    kept = {"max_tokens": None, "temperature": 0.5, "extra_body": {"top_k": 3}}
    left = {
        "store": object(),
        "budget": object(),
        "retry": object(),
        "max_concurrency": 3,
        "timeout": 9,
        "api_key": "x",
    }
    hidden = {"extra_body": {"top_k": 3, "auth_token": "x"}}
    # None leaves a parameter out, which is not what saying nothing does.
    assert asking_settings("m", {**kept, **left, **hidden})["parameters"] == kept


def test_a_judge_and_a_classifier(tmp_path: Path) -> None:
    judge = LLMVerifier("openai/m", store=None, window_chars=900)
    told = judging_settings(judge, "openai/m", {"seed": 1}, CONTRADICTION_PROMPT)
    assert (told["window_chars"], told["parameters"]) == (900, {"seed": 1})
    assert told["prompts"] == prompts_fingerprint(judge.prompt.template, CONTRADICTION_PROMPT)
    assert len({prompts_fingerprint(one) for one in (judge.prompt.template, CONTRADICTION_PROMPT, MENTION_PROMPT)}) == 3
    labels = {"entailment": 1, "contradiction": 0}
    verifier = NLIVerifier("some/model", labels={"entailment": 1, "contradiction": 0}, first="claim", window_tokens=64)
    assert reading_settings(verifier, "some/model", labels) == {
        "model": "some/model",
        "labels": labels,
        "first": "claim",
        "window_tokens": 64,
    }
