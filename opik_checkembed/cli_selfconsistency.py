"""`opik-checkembed bench selfconsistency`: do the methods find wrong answers to questions with one right answer?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from opik_checkembed.cli_console import console
from opik_checkembed.cli_help import keeps_lines
from opik_checkembed.cli_rows import row_options


@keeps_lines
@click.command("selfconsistency")
@row_options
def bench_selfconsistency(data: Path, limit: int | None, cost_plot: Path | None, **rows: Any) -> None:
    r"""AUROC and AUC-PR of finding wrong answers, as in GSM8K answered by a model, from 3, 5, 10 and all samples.

    DATA has the columns question, predict (the judged answer), samples and label (1 = it is wrong), as .jsonl, .json or
    .csv. What a method cannot score is counted, and gets no number.

    \b
    opik-checkembed bench selfconsistency --data gsm8k.jsonl --method ngram --method checkembed:embedder=lexical
    opik-checkembed bench selfconsistency --data gsm8k.jsonl --method ngram:statistic=max,aggregate=max
    opik-checkembed bench selfconsistency --data gsm8k.jsonl --scores scores.json \
        --fuse "both=ngram:statistic=max+checkembed:embedder=lexical,reads=output"
    """
    from opik_checkembed.benchmarks.command import Wanted, fill_table
    from opik_checkembed.benchmarks.selfconsistency import (
        HEADERS,
        SelfConsistencyResult,
        load_selfconsistency,
        selfconsistency,
    )
    from opik_checkembed.report.cost_plot import save_cost_plot
    from opik_checkembed.report.selfconsistency_table import selfconsistency_table

    answers = load_selfconsistency(data)
    found = fill_table(
        Wanted(**rows),
        lambda chosen: selfconsistency(answers, chosen, limit=limit),
        SelfConsistencyResult.from_json,
        answers.fingerprint,
    )
    console().print(selfconsistency_table(found))
    if cost_plot is not None:
        save_cost_plot(found, cost_plot, "auroc", HEADERS["auroc"])
