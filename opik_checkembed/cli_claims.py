"""`opik-checkembed bench claims`: what do self-consistency and the source catch of unsupported claims?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from opik_checkembed.cli_help import keeps_lines
from opik_checkembed.cli_values import own_parameters


@keeps_lines
@click.command("claims")
@click.option("--data", type=click.Path(dir_okay=False, path_type=Path), help="Claims of your own, of the same fields.")
@click.option("--model", help="Answers about each document again (method A); judges with --verifier llm.")
@click.option("--verifier", type=click.Choice(["nli", "llm"]), default="nli", show_default=True)
@click.option("--nli-model", help="Classifier for --verifier nli: a Hugging Face name or a folder.")
@click.option("--nli-first", type=click.Choice(["source", "claim"]), default="source", show_default=True)
@click.option("--judge", help="The model that judges with --verifier llm; --model if not given.")
@click.option("--param", "params", multiple=True, metavar="NAME=VALUE", help="Parameter for --model, also as judge.")
@click.option("--store", help="Sample store; the default one if not given.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first so many documents.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="JSON file; a run goes on where it was.")
def bench_claims(
    data: Path | None,
    model: str | None,
    verifier: str,
    nli_model: str | None,
    nli_first: Any,
    judge: str | None,
    params: tuple[str, ...],
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
    """
    from opik_checkembed.benchmarks.claims import TEMPERATURE, ClaimsResult, check_claims
    from opik_checkembed.benchmarks.claims_data import load_claims
    from opik_checkembed.errors import ConfigurationError
    from opik_checkembed.models.verifier import (
        DEFAULT_GROUNDING_MODEL,
        MENTION_PROMPT,
        ClaimVerifier,
        LLMVerifier,
        NLIVerifier,
    )
    from opik_checkembed.report.claims_table import claims_tables
    from opik_checkembed.samples.litellm_sampler import LiteLLMSampler
    from opik_checkembed.samples.request import showable

    given = own_parameters(params, {"model": "--model", "store": "--store", "temperature": "the benchmark"})
    kept: dict[str, Any] = {} if store is None else {"store": store}
    name = judge or model
    against_source: ClaimVerifier
    mention: ClaimVerifier | None = None
    if verifier == "llm":
        if name is None:
            raise ConfigurationError("--verifier llm needs a model: --judge, or --model for both")
        asking = {**kept, **{key: value for key, value in given.items() if key != "max_tokens"}}
        against_source = LLMVerifier(name, **asking)
        mention = LLMVerifier(name, prompt=MENTION_PROMPT, contradictions=False, **asking)
        used = title = name
    else:
        against_source = NLIVerifier(nli_model, first=nli_first)
        used = nli_model or DEFAULT_GROUNDING_MODEL
        title = Path(used).name
    claims = load_claims(data)
    found = check_claims(
        claims,
        against_source,
        name=title,
        mention=mention,
        sampler=None if model is None else LiteLLMSampler(model, temperature=TEMPERATURE, **kept, **given),
        generator=model,
        settings={"verifier": verifier, "model": used, "first": nli_first, "parameters": showable(given)},
        known=ClaimsResult.from_json(out) if out is not None and out.exists() else None,
        keep=None if out is None else partial(ClaimsResult.to_json, path=out),
        limit=limit,
    )
    Console().print(claims_tables(found, claims))
