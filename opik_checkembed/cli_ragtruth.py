"""`opik-checkembed bench ragtruth`: do signals find the responses that their source does not support?"""

from __future__ import annotations

from pathlib import Path

import click

from opik_checkembed.cli_console import console
from opik_checkembed.cli_help import keeps_lines

_FILE = click.Path(dir_okay=False, path_type=Path)


@keeps_lines
@click.command("ragtruth")
@click.option(
    "--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True, help="Folder of the data."
)
@click.option(
    "--signal",
    "names",
    multiple=True,
    metavar="NAME[:OPTION=VALUE,...]",
    help="specifics, wording, nli or judge, with options. Repeatable; specifics and wording if nothing is asked for.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Only the responses to the first so many sources.")
@click.option(
    "--scores",
    type=_FILE,
    help="JSON file of the scores of nli and judge; what it has is not run again, "
    "unless it is of another model, prompt or option. No key is written.",
)
@click.option(
    "--out",
    type=_FILE,
    help="JSON file of the table; rows already there stay, "
    "except those of a signal that is run again with the same model and options. No key is written.",
)
def bench_ragtruth(
    data: Path, names: tuple[str, ...], limit: int | None, scores: Path | None, out: Path | None
) -> None:
    r"""RAGTruth: responses to a source, hallucinated or not, and where.

    DATA holds response.jsonl and source_info.jsonl, as published, or a part: ..._responses.jsonl and
    ..._sources.jsonl. Trivial rows come with every table: all responses called hallucinated, the kind of task, and the
    length. A response that a signal cannot score is counted, and gets no number.

    \b
    opik-checkembed bench ragtruth --data ragtruth --signal specifics --signal wording
    opik-checkembed bench ragtruth --data ragtruth --signal nli:nli_model=FOLDER --limit 40 --scores scores.json
    opik-checkembed bench ragtruth --data ragtruth --signal judge:model=gpt-4o-mini --limit 20 --scores scores.json
    """
    from opik_checkembed.benchmarks.ragtruth import RAGTruthResult, ragtruth
    from opik_checkembed.benchmarks.ragtruth_data import load_ragtruth
    from opik_checkembed.benchmarks.ragtruth_signals import signal_of
    from opik_checkembed.report.ragtruth_table import ragtruth_table

    there = RAGTruthResult.from_json(out) if out is not None and out.exists() else None
    signals = [signal_of(name) for name in names or ("specifics", "wording")]
    found = ragtruth(load_ragtruth(data), signals, limit=limit, scores=scores)
    if there is not None:
        found = there.merged(found)
    if out is not None:
        found.to_json(out)
    console().print(ragtruth_table(found))
