"""`opik-checkembed bench claims`: what do self-consistency and the source catch of unsupported claims?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from opik_checkembed.cli_console import console
from opik_checkembed.cli_help import keeps_lines
from opik_checkembed.cli_values import own_parameters, pair
from opik_checkembed.metric_names import value_of

if TYPE_CHECKING:
    from opik_checkembed.models.verifier import ClaimVerifier

# What a judge that is the same model shares beside the connection: how long and how many at a time.
_CALLING = ("timeout", "max_concurrency")

_OF_THE_JUDGE = {
    "model": "--judge",
    "judge": "--judge",
    "store": "--store",
    "prompt": "the benchmark",
    "contradictions": "the benchmark",
}


@keeps_lines
@click.command("claims")
@click.option("--data", type=click.Path(dir_okay=False, path_type=Path), help="Claims of your own, of the same fields.")
@click.option("--model", help="Answers about each document again (method A); judges with --verifier llm.")
@click.option("--verifier", type=click.Choice(["nli", "llm"]), default="nli", show_default=True)
@click.option("--nli-model", help="Classifier for --verifier nli: a Hugging Face name or a folder.")
@click.option("--nli-first", type=click.Choice(["source", "claim"]), help="What it is given first.  [default: source]")
@click.option("--judge", help="The model that judges with --verifier llm; --model if not given.")
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter for --model. Where it is the judge too, that is asked in the same place (api_base, api_key, ..., "
    "timeout, max_concurrency); max_tokens, top_p and the like are for its answers alone. Repeatable.",
)
@click.option(
    "--judge-param",
    "judge_params",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter for the judge, like max_tokens=50; all that a --judge of its own gets. Repeatable.",
)
@click.option(
    "--agreement",
    type=click.FloatRange(0, 1, max_open=True),
    help="A flags a claim at this agreement or less; 0.4 if not given. Kept results are read again with it.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True),
    help="B takes a claim as supported from this P(supported); 0.5 if not given. Kept results are read again with it.",
)
@click.option("--store", help="Sample store of answers and verdicts; the default one if not given.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first so many documents.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="JSON file; a run goes on where it was.")
def bench_claims(
    data: Path | None,
    model: str | None,
    verifier: str,
    nli_model: str | None,
    nli_first: Literal["source", "claim"] | None,
    judge: str | None,
    params: tuple[str, ...],
    judge_params: tuple[str, ...],
    agreement: float | None,
    threshold: float | None,
    store: str | None,
    limit: int | None,
    out: Path | None,
) -> None:
    r"""Recall by category and false positives of self-consistency (A) and of the source (B), on 132 labelled claims.

    A needs --model, which answers five times about each of 13 documents; its answers are kept. Without it only B runs.

    \b
    opik-checkembed bench claims --model gpt-4o-mini --verifier llm --out claims.json
    opik-checkembed bench claims --verifier nli
    opik-checkembed bench claims --model openai/local --param api_base=http://127.0.0.1:8000/v1 --verifier llm
    opik-checkembed bench claims --judge openai/local --judge-param api_base=http://127.0.0.1:8000/v1 --verifier llm
    """
    from opik_checkembed.benchmarks.claims import AGREEMENT, TEMPERATURE, THRESHOLD, ClaimsResult, check_claims
    from opik_checkembed.benchmarks.claims_data import load_claims
    from opik_checkembed.benchmarks.verifier_settings import asking_settings
    from opik_checkembed.report.claims_table import claims_tables
    from opik_checkembed.samples.litellm_sampler import LiteLLMSampler

    _check_options(verifier, model, judge, {"--nli-model": nli_model, "--nli-first": nli_first}, judge_params, params)
    if model is None and agreement is not None:
        raise click.UsageError("--agreement is of method A, which needs --model")
    if verifier == "nli" and model is None and store is not None:
        raise click.UsageError("--store keeps the answers and verdicts of models, and none is asked without --model")
    given = own_parameters(params, {"model": "--model", "store": "--store", "temperature": "the benchmark"})
    kept: dict[str, Any] = {} if store is None else {"store": store}
    against_source, mention, title, settings = (
        _judges(str(judge or model), {} if judge else _shared(given), judge_params, kept)
        if verifier == "llm"
        else _classifier(nli_model, nli_first or "source")
    )
    sampler = None
    if model is not None:
        sampler = LiteLLMSampler(model, temperature=TEMPERATURE, **kept, **given)
        settings = {**settings, "answers": asking_settings(model, {"temperature": TEMPERATURE, **given})}
    claims = load_claims(data)
    found = check_claims(
        claims,
        against_source,
        name=title,
        mention=mention,
        sampler=sampler,
        generator=model,
        settings={"verifier": verifier, **settings},
        agreement=AGREEMENT if agreement is None else agreement,
        threshold=THRESHOLD if threshold is None else threshold,
        known=ClaimsResult.from_json(out) if out is not None and out.exists() else None,
        keep=None if out is None else partial(ClaimsResult.to_json, path=out),
        limit=limit,
    )
    console().print(claims_tables(found, claims))


def _check_options(
    verifier: str,
    model: str | None,
    judge: str | None,
    of_nli: Mapping[str, str | None],
    judge_params: Sequence[str],
    params: Sequence[str],
) -> None:
    """Refuse options that would be ignored.

    Raises:
        click.UsageError: There is one; or no model to judge.
    """
    of_llm = {"--judge": judge, "--judge-param": judge_params or None}
    wrong = of_nli if verifier == "llm" else of_llm
    other = "nli" if verifier == "llm" else "llm"
    unread = [name for name, value in wrong.items() if value is not None]
    if unread:
        raise click.UsageError(
            f"{' and '.join(unread)} {'goes' if len(unread) == 1 else 'go'} with --verifier {other}, and this is "
            f"--verifier {verifier}"
        )
    if verifier == "llm" and judge is None and model is None:
        raise click.UsageError("--verifier llm needs a model: --judge, or --model for both")
    if params and model is None:
        raise click.UsageError("--param is for --model, which is not given; the judge's are --judge-param")


def _shared(given: Mapping[str, Any]) -> dict[str, Any]:
    """What a model's parameters say of where and how it is asked."""
    from opik_checkembed.samples.request import is_connection

    return {name: value for name, value in given.items() if is_connection(name) or name in _CALLING}


_Verifiers = tuple["ClaimVerifier", "ClaimVerifier | None", str, dict[str, Any]]
"""For the source, for the answers (None: the same), in words, and what their verdicts depend on."""


def _judges(name: str, shared: Mapping[str, Any], texts: Sequence[str], kept: Mapping[str, Any]) -> _Verifiers:
    from opik_checkembed.benchmarks.verifier_settings import judging_settings
    from opik_checkembed.errors import ConfigurationError
    from opik_checkembed.models.verifier import CONTRADICTION_PROMPT, MENTION_PROMPT, LLMVerifier

    own = {key: value_of(value) for key, value in (pair(text, "--judge-param NAME=VALUE") for text in texts)}
    taken = next((key for key in own if key in _OF_THE_JUDGE), None)
    if taken is not None:
        raise ConfigurationError(f"{taken} is set by {_OF_THE_JUDGE[taken]}, not by --judge-param")
    asking = {**shared, **own}
    against_source = LLMVerifier(name, **kept, **asking)
    mention = LLMVerifier(name, prompt=MENTION_PROMPT, contradictions=False, **kept, **asking)
    asked = {key: value for key, value in asking.items() if key != "window_chars"}
    settings = judging_settings(against_source, name, asked, CONTRADICTION_PROMPT, MENTION_PROMPT)
    return against_source, mention, name, {"judge": settings}


def _classifier(nli_model: str | None, first: Literal["source", "claim"]) -> _Verifiers:
    from opik_checkembed.benchmarks.verifier_settings import reading_settings
    from opik_checkembed.models.verifier import NLIVerifier

    verifier = NLIVerifier(nli_model, first=first)
    settings = reading_settings(verifier, nli_model)
    return verifier, None, Path(settings["model"]).name, {"classifier": settings}
