"""`opik-checkembed gate`: does a change make answers worse?"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import math
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from opik_checkembed.cli_console import console
from opik_checkembed.cli_values import own_parameters, pair, price_list
from opik_checkembed.errors import ConfigurationError, ItemError

if TYPE_CHECKING:
    from opik_checkembed.gate.comparison import Comparison
    from opik_checkembed.gate.decision import Decision
    from opik_checkembed.gate.sides import Running
    from opik_checkembed.gate.thresholds import Threshold
    from opik_checkembed.results import LocalResults
    from opik_checkembed.samples import Budget, SampleStore

# Click keeps the lines of a paragraph that begins with a backspace.
_EXAMPLES = """\b
opik-checkembed gate --baseline main.json --candidate branch.json --margin 0.02
opik-checkembed gate --baseline opik:bot-v1 --candidate opik:bot-v2 --metric checkembed_metric:higher
opik-checkembed gate --baseline old.txt --candidate new.txt --data questions.jsonl \\
    --metrics fact_recurrence --model gpt-4o-mini --replay samples.jsonl --threshold "fact_recurrence<=0.3"
"""

_LOGGER = logging.getLogger(__name__)

# What a sampler takes beside parameters for the model.
_SET_ELSEWHERE = {
    "model": "--model",
    "temperature": "the prompt's parameters, or the metric's option temperature=,",
    "store": "--store",
    "budget": "--max-cost-usd",
    "timeout": "the package itself",
    "max_concurrency": "the package itself",
    "retry": "the package itself",
}

_FILE = click.Path(dir_okay=False, path_type=Path)
_EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(epilog=_EXAMPLES)
@click.option("--baseline", required=True, metavar="SIDE", help="What there is now.")
@click.option("--candidate", required=True, metavar="SIDE", help="What is to take its place.")
@click.option(
    "--metric",
    "chosen",
    multiple=True,
    metavar="NAME[:higher|:lower]",
    help="A score to compare, and which way is better where the results do not say. Repeatable; all if not given.",
)
@click.option(
    "--margin",
    "margins",
    multiple=True,
    metavar="NUMBER or NAME=NUMBER",
    help="Loss that is still no worse, in the metric's own unit; 0.02 if not given. Repeatable.",
)
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    metavar="NAME>=NUMBER",
    help="What the candidate's mean must be, like selfcheck_nli<=0.3. Repeatable.",
)
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Error rate; intervals hold 1 - alpha.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Of the resampling: same seed, same answer.",
)
@click.option(
    "--allow-unscored",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="So many items may lack a score; 0 if not given.",
)
@click.option(
    "--allow-missing",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="So many items may be on one side only; 0 if not given.",
)
@click.option(
    "--fail-on-underpowered/--no-fail-on-underpowered", help="Exit with 2 if there are too few items to tell."
)
@click.option("--data", type=_EXISTING, help="Items for a task or prompt (.jsonl, .json or .csv).")
@click.option(
    "--metrics",
    multiple=True,
    metavar="NAME[:OPTION=VALUE,...]",
    help="What scores a task or prompt, like fact_recurrence or checkembed:num_samples=8, or file.py:name for a list "
    "or a function that returns one. Repeatable.",
)
@click.option("--model", help="Model to ask where the prompt or the task's output names none.")
@click.option(
    "--param",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter for the model, like api_base=http://127.0.0.1:8000/v1. Repeatable.",
)
@click.option("--trials", type=click.IntRange(min=1), default=1, show_default=True, help="Runs of each item.")
@click.option("--store", type=_FILE, help="Sample store to use.")
@click.option(
    "--replay",
    type=_EXISTING,
    help="JSONL of `samples export`: a prompt's answers and the metrics' samples come from it alone. Not covered: "
    "what a task, a judge or an embedder of a user's own asks for itself.",
)
@click.option(
    "--max-cost-usd",
    type=float,
    help="Spend at most this much on prompts' answers and "
    "metrics' samples, both sides together; the rest is not scored. What a task asks for itself is not in it.",
)
@click.option("--price", "prices", multiple=True, metavar="MODEL=IN,OUT", help="US dollars per million tokens.")
@click.option(
    "--worst",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="So many of the items that lost most are shown.",
)
@click.option("--save-baseline", type=_FILE, help="Keep the baseline's results, for `report` or a later gate.")
@click.option("--save-candidate", type=_FILE, help="Keep the candidate's results.")
@click.option("--markdown", type=_FILE, help="Write a summary as Markdown.")
@click.option("--junit", type=_FILE, help="Write JUnit XML, a test case for each metric and threshold.")
@click.option("--json", "json_file", type=_FILE, help="Write everything as JSON.")
@click.option("--html", type=_FILE, help="Write a page with every item on both sides.")
def gate(**options: Any) -> None:
    """Compare two runs over the same items, item by item, and fail if the candidate is worse.

    A SIDE is a result file (.json, as `run --out` writes it); opik:NAME, an experiment in Opik; a prompt file (.txt or
    .md: the user's message; .json: {"model", "messages", "parameters"}) with {{field}} where an item's field goes; or a
    task, file.py:function. Prompts and tasks are run over --data and scored by --metrics.

    Each metric is improved, no worse (within the margin), worse, or underpowered (too few items to tell).

    Exit code 0 when no metric is worse and every threshold holds, 1 when one is or does not, 2 when that cannot be
    told: options that cannot be read, anything that breaks, items without a score or on one side only beyond what is
    allowed, fewer items than any test needs, a loss that so few items do not show to be significant, and, with
    --fail-on-underpowered, too few items for another reason.
    """
    with _exit_2():
        comparison, decision = _decided(options)
        _write(comparison, decision, options)
        from opik_checkembed.gate.terminal import terminal_report

        report = terminal_report(comparison, decision, worst=options["worst"])
        if isinstance(sys.stdout, io.TextIOWrapper):
            # An answer may hold what the terminal's encoding does not.
            sys.stdout.reconfigure(errors="replace")
    # The verdict stands though nobody may read it: rich ends the process with 1 where the reader of a pipe has left.
    with contextlib.suppress(OSError, SystemExit, KeyboardInterrupt):
        console().print(report)
    raise SystemExit(int(decision.outcome))


class _CannotTell(click.ClickException):
    exit_code = 2


@contextlib.contextmanager
def _exit_2() -> Iterator[None]:
    """What cannot be read or written is no verdict: 1 would say that the candidate is worse."""
    try:
        yield
    except (ConfigurationError, ItemError) as error:
        raise _CannotTell(str(error)) from error
    except click.ClickException:
        raise
    except (click.Abort, KeyboardInterrupt) as error:
        raise _CannotTell("the gate was interrupted, which is no verdict") from error
    # A user's code may raise anything; 1 is what Python would end with.
    except BaseException as error:
        _LOGGER.debug("the gate broke", exc_info=True)
        raise _CannotTell(_said(error)) from error


def _said(error: BaseException) -> str:
    """What broke, in a sentence.

    The system's own words are repeated; those of any other error may hold a key, a prompt or a whole request, so that
    it is named by its type and place.
    """
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{error.filename} cannot be read or written: "
        return f"{where}{error.strerror}"
    frames = list(traceback.walk_tb(error.__traceback__))
    own = [one for one in frames if str(one[0].f_globals.get("__name__")).startswith(f"{__package__}.")]
    places = dict.fromkeys(_place(*one) for one in (frames[-1], own[-1]))
    return (
        f"the gate broke off, which is no verdict: {type(error).__qualname__} in {', called in '.join(places)}. What "
        f"the error says may hold a key or a prompt and is not repeated; the log of {__name__} has it at level DEBUG"
    )


def _place(frame: FrameType, line: int) -> str:
    return f"{'/'.join(Path(frame.f_code.co_filename).parts[-2:])}, line {line}"


def _decided(options: Mapping[str, Any]) -> tuple[Comparison, Decision]:
    from opik_checkembed.gate.comparison import check_alpha, compare
    from opik_checkembed.gate.decision import decide
    from opik_checkembed.gate.sides import parse_side
    from opik_checkembed.gate.thresholds import parse_threshold

    # All that can be wrong with the options is said before anything is paid for.
    thresholds = [parse_threshold(text) for text in options["thresholds"]]
    directions = _directions(options["chosen"])
    margin = _Margin(options["margins"])
    check_alpha(options["alpha"], len(directions) or 1)
    margin.check()
    if directions:
        _check_names(list(directions), thresholds, margin, "--metric chose")
    sides = {name: parse_side(options[name]) for name in ("baseline", "candidate")}
    found: dict[str, LocalResults] = {}
    with _running(options) as running:
        for side in sides.values():
            side.check(running)
        # What is there already first: a name that it lacks is not paid for.
        for name, side in sorted(sides.items(), key=lambda one: one[1].is_run):
            found[name] = side.results(running)
            _check_names(found[name].names, thresholds, margin, f"the {name} has", list(directions))
            if options[f"save_{name}"] is not None:
                found[name].to_json(options[f"save_{name}"])
    baseline, candidate = found["baseline"], found["candidate"]
    comparison = compare(
        baseline,
        candidate,
        margin=margin.of(list(directions) or [*baseline.names, *candidate.names]),
        alpha=options["alpha"],
        seed=options["seed"],
        metrics=list(directions) or None,
        directions={name: higher for name, higher in directions.items() if higher is not None},
        names=(options["baseline"], options["candidate"]),
    )
    decision = decide(
        comparison,
        thresholds,
        allow_unscored=options["allow_unscored"],
        allow_missing=options["allow_missing"],
        fail_on_underpowered=options["fail_on_underpowered"],
    )
    return comparison, decision


def _check_names(
    names: Sequence[str], thresholds: Sequence[Threshold], margin: _Margin, said: str, chosen: Sequence[str] = ()
) -> None:
    """Refuse a name that options give and a side does not have."""
    given = {
        "--metric": chosen,
        "--threshold": [one.name for one in thresholds],
        "--margin": list(margin.own),
    }
    for option, wanted in given.items():
        unknown = [name for name in wanted if name not in names]
        if unknown:
            raise ConfigurationError(f"{option} names {', '.join(unknown)}; {said} {', '.join(names) or 'no score'}")


def _directions(chosen: Sequence[str]) -> dict[str, bool | None]:
    """The scores to compare, and which way is better where the user says so."""
    found: dict[str, bool | None] = {}
    for text in chosen:
        name, _, way = text.rpartition(":")
        if way not in {"higher", "lower"} or not name:
            name, way = text, ""
        found[name] = way == "higher" if way else None
    return found


class _Margin:
    """`--margin`: a number for all metrics, numbers for single ones."""

    def __init__(self, texts: Sequence[str]) -> None:
        from opik_checkembed.gate.comparison import DEFAULT_MARGIN

        self._common = DEFAULT_MARGIN
        self.own: dict[str, float] = {}
        for text in texts:
            if "=" in text:
                name, value = pair(text, "--margin NAME=NUMBER")
                self.own[name] = _number(value, text)
            else:
                self._common = _number(text, text)

    def check(self) -> None:
        for name, value in {"all": self._common, **self.own}.items():
            if not (math.isfinite(value) and value >= 0):
                raise ConfigurationError(f"the margin of {name} must be a number of at least 0, not {value!r}")

    def of(self, names: Sequence[str]) -> dict[str, float]:
        return {**dict.fromkeys(names, self._common), **self.own}


def _number(value: str, text: str) -> float:
    try:
        return float(value)
    except ValueError as error:
        raise ConfigurationError(f"--margin must be a number or NAME=NUMBER, not {text!r}") from error


@contextlib.contextmanager
def _running(options: Mapping[str, Any]) -> Iterator[Running]:
    """How to run a side; a replay's store lasts as long as this."""
    from opik_checkembed.gate.sides import Running, replayed

    if options["replay"] is not None and options["store"] is not None:
        raise click.UsageError("--replay reads its own file alone, so it goes with no --store")
    with replayed(options["replay"]) if options["replay"] is not None else _opened(options["store"]) as store:
        yield Running(
            data=options["data"],
            metrics=options["metrics"],
            store=store,
            model=options["model"],
            parameters=own_parameters(options["parameters"], _SET_ELSEWHERE),
            budget=_budget(options),
            trials=options["trials"],
        )


@contextlib.contextmanager
def _opened(path: Path | None) -> Iterator[SampleStore]:
    from opik_checkembed.samples.shared_store import open_store

    # The process has one store for each file: it stays open for whoever shares it.
    yield open_store(path or "default")


def _budget(options: Mapping[str, Any]) -> Budget | None:
    from opik_checkembed.samples import Budget

    prices = price_list(options["prices"])
    # A replay pays for nothing.
    if options["max_cost_usd"] is None or options["replay"] is not None:
        return None
    return Budget(max_cost_usd=options["max_cost_usd"], prices=prices)


def _write(comparison: Comparison, decision: Decision, options: Mapping[str, Any]) -> None:
    """The files that were asked for."""
    from opik_checkembed.gate.junit import junit_report
    from opik_checkembed.gate.markdown import markdown_report

    texts: list[tuple[Path, str]] = []
    if options["markdown"] is not None:
        texts.append((options["markdown"], markdown_report(comparison, decision, worst=options["worst"])))
    if options["junit"] is not None:
        underpowered = options["fail_on_underpowered"]
        texts.append((options["junit"], junit_report(comparison, decision, fail_on_underpowered=underpowered)))
    if options["json_file"] is not None:
        found = {**comparison.to_dict(), "decision": decision.to_dict()}
        texts.append((options["json_file"], json.dumps(found, indent=1, allow_nan=False)))
    if options["html"] is not None:
        from opik_checkembed.report.page import comparison_page

        texts.append((options["html"], comparison_page(comparison, title="Gate", decision=decision)))
    for path, text in texts:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
