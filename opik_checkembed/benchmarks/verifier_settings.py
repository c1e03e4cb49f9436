"""What a verifier's verdicts and a model's answers depend on: kept results are found, and refused, by it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from os import PathLike
from typing import Any

from opik_checkembed.models.judge import JudgePrompt
from opik_checkembed.models.local_model import locate
from opik_checkembed.models.verifier import DEFAULT_GROUNDING_MODEL, LLMVerifier, NLIVerifier
from opik_checkembed.samples.request import SampleRequest, is_connection

# They say where replies are kept, what they may cost and how they are asked for, not what they say.
_AROUND = frozenset({"store", "budget", "retry", "max_concurrency"})


def asking_settings(model: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Who is asked and how, as JSON-ready values: the model, its server and the parameters that shape an answer.

    Nothing secret is in it, and nothing that another store, key, timeout or number of threads would change. Of the
    connection only the server's address counts, without user and password: one name on two servers is two models.

    Args:
        model: As litellm knows it.
        parameters: Completion and connection parameters, and those of `LiteLLMSampler`.

    Example:
        >>> at = {"api_base": "http://me:pw@127.0.0.1:8000/v1", "api_key": "sk-x"}
        >>> asking_settings("openai/qwen", {**at, "top_p": 1})
        {'model': 'openai/qwen', 'api_base': 'http://127.0.0.1:8000/v1', 'parameters': {'top_p': 1}}
    """
    shaping = {name: value for name, value in parameters.items() if name not in _AROUND and not is_connection(name)}
    connection = {name: value for name, value in parameters.items() if is_connection(name)}
    told = SampleRequest(model, (), parameters=shaping, connection=connection).description
    return {name: told[name] for name in ("model", "api_base", "parameters")}


def judging_settings(
    verifier: LLMVerifier, model: str, parameters: Mapping[str, Any], *more_prompts: str
) -> dict[str, Any]:
    """What the verdicts of an LLM depend on, as JSON-ready values: `asking_settings`, its prompts and windows.

    Args:
        verifier: Its prompt and windows.
        model: As litellm knows it.
        parameters: See `asking_settings`.
        *more_prompts: Templates of what it is asked beside that prompt.
    """
    templates = [verifier.prompt.template, *more_prompts]
    return {
        **asking_settings(model, parameters),
        "window_chars": verifier.window_chars,
        "prompts": prompts_fingerprint(*templates),
    }


def reading_settings(
    verifier: NLIVerifier, nli_model: str | PathLike[str] | None, labels: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """What the verdicts of a local classifier depend on, as JSON-ready values; a folder with its full path.

    Args:
        verifier: Its order of texts and windows.
        nli_model: See `NLIVerifier`.
        labels: See `NLIVerifier`.
    """
    named = DEFAULT_GROUNDING_MODEL if nli_model is None else nli_model
    return {
        "model": locate(named, "an NLI model", DEFAULT_GROUNDING_MODEL),
        "labels": None if labels is None else dict(labels),
        "first": verifier.first,
        "window_tokens": verifier.window_tokens,
    }


def prompts_fingerprint(*templates: str) -> str:
    """Equal for equal prompts about a claim and its source: what goes out, fences included.

    Args:
        *templates: See `LLMVerifier`.
    """
    sent = [JudgePrompt(template, ["source", "claim"]).fill(source="source", claim="claim") for template in templates]
    return hashlib.blake2b(json.dumps(sent).encode(), digest_size=8).hexdigest()
