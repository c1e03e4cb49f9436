"""`opik-checkembed bench`: every figure that this package states about itself, measured again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console


@click.group()
def bench() -> None:
    """Measure this package on this machine."""


@bench.command("wikibio")
@click.option(
    "--data", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True, help="The data set."
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    default=("ngram",),
    show_default=True,
    metavar="NAME[:OPTION=VALUE,...]",
    help="ngram, checkembed, bertscore, nli, mqag or prompt, with arguments of its metric. Repeatable.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Score only the first so many passages.")
@click.option("--column", default="spearman", show_default=True, help="What to show against the number of samples.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="JSON file; rows already there stay.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw accuracy against samples.")
def bench_wikibio(
    data: Path, methods: tuple[str, ...], limit: int | None, column: str, out: Path | None, plot: Path | None
) -> None:
    r"""SelfCheckGPT's table on WikiBio-GPT3, our rows beside the published ones.

    DATA has the columns of the public data set potsawee/wiki_bio_gpt3_hallucination (.parquet, .jsonl, .json, .csv).

    \b
    opik-checkembed bench wikibio --data dev.jsonl --method ngram --method checkembed:embedder=all-MiniLM-L6-v2
    opik-checkembed bench wikibio --data dev.jsonl --method nli:nli_model=FOLDER,fast=true --out table.json
    opik-checkembed bench wikibio --data dev.jsonl --method bertscore:encoder=FOLDER,num_layers=6,baseline=null
    opik-checkembed bench wikibio --data dev.jsonl --method prompt:judge=gpt-4o-mini --limit 20
    """
    from opik_checkembed.benchmarks.wikibio import WikiBioResult, load_wikibio, wikibio
    from opik_checkembed.benchmarks.wikibio_methods import methods_of
    from opik_checkembed.report.accuracy_plot import accuracy_table, save_accuracy_plot, wikibio_table

    found = WikiBioResult.from_json(out) if out is not None and out.exists() else None
    passages = load_wikibio(data)
    for chosen in [methods_of(text) for text in methods]:
        newer = wikibio(passages, chosen, limit=limit)
        found = newer if found is None else found.merged(newer)
        if out is not None:
            # After each, so that a long run that breaks off keeps what it has.
            found.to_json(out)
    console = Console()
    assert found is not None  # the option has a default, so there is a method
    console.print(wikibio_table(found))
    console.print(accuracy_table(found, column))
    if plot is not None:
        save_accuracy_plot(found, plot)


@bench.command("runtime")
@click.option(
    "--length", "lengths", multiple=True, type=click.IntRange(min=20), default=(200, 500, 1000), show_default=True
)
@click.option("--samples", "counts", multiple=True, type=click.IntRange(min=1), default=(2, 5, 10), show_default=True)
@click.option("--embedder", help="For CheckEmbed: a sentence-transformers name or folder.")
@click.option("--encoder", help="For BERTScore: a name or folder; the default embedder's if not given.")
@click.option("--num-layers", type=int, default=6, show_default=True, help="For BERTScore: the layer that is compared.")
@click.option("--nli-model", help="For NLI: a name or folder; left out if not given.")
@click.option("--spacy", "pipeline", default="en_core_web_sm", show_default=True, help="spaCy pipeline of both sides.")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw time against length and samples.")
def bench_runtime(**options: Any) -> None:
    """Ours, selfcheckgpt 0.1.7 and the bare forward pass, in one process on the same models, loading timed apart.

    The text length is varied at the first number of samples, the number of samples at the first length.
    """
    from opik_checkembed.benchmarks.runtime import Contender, runtime, workload
    from opik_checkembed.benchmarks.runtime_contenders import (
        BERTScoreContender,
        CheckEmbedContender,
        NgramContender,
        NLIContender,
    )
    from opik_checkembed.models.embedder import SentenceTransformerEmbedder, default_embedder
    from opik_checkembed.report.runtime_plot import runtime_table, save_runtime_plot
    from opik_checkembed.splitters import RuleSplitter

    pipeline = options["pipeline"]
    encoder = options["encoder"] or SentenceTransformerEmbedder(default_embedder()).source
    contenders: list[Contender] = [
        CheckEmbedContender(options["embedder"]),
        NgramContender(pipeline),
        BERTScoreContender(encoder, options["num_layers"], pipeline),
        *([] if options["nli_model"] is None else [NLIContender(options["nli_model"])]),
    ]
    sizes = [(length, options["counts"][0]) for length in options["lengths"]]
    sizes += [(options["lengths"][0], count) for count in options["counts"][1:]]
    cells = runtime(
        contenders,
        [workload(length, count, RuleSplitter()) for length, count in sizes],
        rounds=options["rounds"],
        progress=lambda cell: click.echo(f"{cell.method}: {cell.tokens} tokens, {cell.samples} samples done", err=True),
    )
    Console().print(runtime_table(cells))
    if options["plot"] is not None:
        save_runtime_plot(cells, options["plot"])


@bench.command("overhead")
@click.option("--embedder", help="sentence-transformers name or folder.")
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True)
def bench_overhead(embedder: str | None, rounds: int) -> None:
    """CheckEmbed on 200 answers against a plain `encode` of the distinct texts, in one process."""
    from opik_checkembed.benchmarks.overhead import TARGET, overhead

    for threads in (20, 16):
        found = overhead(embedder, rounds, task_threads=threads)
        click.echo(
            f"20 items, {threads} at once: CheckEmbed {found.ours:.3f} s, raw encode {found.floor:.3f} s, ratio "
            f"{found.ratio:.3f} (target at most {TARGET}; medians of {found.rounds} pairs)"
        )


@bench.command("sampling")
def bench_sampling() -> None:
    """Wall time of sampling with one second a call: 10 items, 5 samples each, 8 calls at a time."""
    from opik_checkembed.benchmarks.sampling import sampling_time

    for n in ("reject", "honour"):
        found = sampling_time(n)
        click.echo(
            f"n {'honoured' if n == 'honour' else 'refused '}: {found.seconds:.2f} s for {found.choices} answers in "
            f"{found.requests} requests (target at most {found.limit:.1f} s plus start-up)"
        )


@bench.command("imports")
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True)
def bench_imports(rounds: int) -> None:
    """Milliseconds that `from opik_checkembed import CheckEmbedMetric` adds to `import opik`."""
    from opik_checkembed.benchmarks.imports import LIMIT_MS, import_milliseconds

    found = import_milliseconds(rounds)
    click.echo(f"{found:.0f} ms beyond import opik (target under {LIMIT_MS:.0f}; median of {rounds} processes)")
