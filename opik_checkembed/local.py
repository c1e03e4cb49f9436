"""Evaluation with no Opik server: the same metrics, called directly, with tracing off while they run."""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from opik_checkembed.errors import ConfigurationError, ItemError
from opik_checkembed.items import load_items
from opik_checkembed.progress import Progress, show_progress
from opik_checkembed.results import ItemResult, LocalResults, Score, finite, is_sample_set, merge_sample_sets
from opik_checkembed.samples.task_sampler import current_item

if TYPE_CHECKING:
    import pandas
    from opik.evaluation.metrics import BaseMetric

Task = Callable[[dict[str, Any]], Any]
KeyMapping = Mapping[str, str | Callable[[dict[str, Any]], Any]]

_LOGGER = logging.getLogger(__name__)


def evaluate_locally(
    items: Iterable[Mapping[str, Any]] | str | PathLike[str] | pandas.DataFrame,
    task: Task | None = None,
    scoring_metrics: Sequence[BaseMetric] = (),
    *,
    scoring_key_mapping: KeyMapping | None = None,
    task_threads: int = 16,
    trial_count: int = 1,
    progress: bool | Progress = True,
) -> LocalResults:
    """Run a task over items and score its outputs, with no Opik server, no key and no socket opened by Opik.

    Works as `opik.evaluation.evaluate` does, with the same metrics and the same merging of item and output, but
    nothing is recorded, results come back in input order, and a task that raises fails its item, not the run.
    Opik's tracing is off for the whole process while this runs and restored afterwards. Only what ignores that switch,
    `opik.start_as_current_span` and `start_as_current_trace` within the task, is still Opik's to send.

    Args:
        items: A list of dicts, a JSONL, JSON or CSV file, or a pandas frame; see `load_items`.
        task: Takes an item, returns the output: a dict with `output`, or the answer itself. None scores items that
            hold their `output` already.
        scoring_metrics: Opik metrics, ours or others.
        scoring_key_mapping: `{metric argument: field, or a function of the merged fields}`. As in Opik, a field that
            an item lacks maps nothing there, and the log says so.
        task_threads: Items worked on at once.
        trial_count: Runs of each item.
        progress: A bar on a terminal, a line now and then elsewhere; False for none, or a function of (done, total).

    Returns:
        Results in input order, trials of one item next to each other.

    Raises:
        ConfigurationError: Items cannot be read, no metric is given, two share a name, or one needs the task's trace.

    Example:
        >>> from opik.evaluation.metrics import Equals
        >>> done = evaluate_locally(
        ...     [{"output": "Paris", "reference": "Paris"}], scoring_metrics=[Equals(track=False)], progress=False
        ... )
        >>> done.summary()["equals_metric"].mean
        1.0
    """
    metrics = list(scoring_metrics)
    _check(metrics, task, task_threads, trial_count, progress)
    run = _Run(task, metrics, scoring_key_mapping or {})
    rows = [(str(position), item) for position, item in enumerate(load_items(items)) for _ in range(trial_count)]
    results: dict[int, ItemResult] = {}
    with (
        tracing_off(),
        show_progress(len(rows), progress) as advance,
        ThreadPoolExecutor(min(task_threads, max(1, len(rows))), "opik-checkembed-item") as threads,
    ):
        futures: dict[Future[ItemResult], int] = {}
        try:
            for index, (position, item) in enumerate(rows):
                context = contextvars.copy_context()
                futures[threads.submit(context.run, run.evaluate, position, item)] = index
            for future in as_completed(futures):
                results[futures[future]] = future.result()
                advance()
        except BaseException:
            # A Ctrl-C must not first work through everything still queued.
            threads.shutdown(wait=False, cancel_futures=True)
            raise
    ordered = tuple(results[index] for index in range(len(rows)))
    names = dict.fromkeys(score.name for item in ordered for score in item.scores)
    return LocalResults(items=ordered, directions={name: run.directions.get(name) for name in names})


_tracing_lock = threading.Lock()
_tracing_depth = 0
_tracing_before = True


@contextlib.contextmanager
def tracing_off() -> Iterator[None]:
    """Opik's tracing off, and back to what it was when the last of several overlapping users leaves."""
    global _tracing_depth, _tracing_before
    import opik

    with _tracing_lock:
        if _tracing_depth == 0:
            _tracing_before = opik.is_tracing_active()
            opik.set_tracing_active(False)
        _tracing_depth += 1
    try:
        yield
    finally:
        with _tracing_lock:
            _tracing_depth -= 1
            if _tracing_depth == 0:
                opik.set_tracing_active(_tracing_before)


def _check(
    metrics: list[BaseMetric], task: Task | None, task_threads: int, trial_count: int, progress: bool | Progress
) -> None:
    from opik.evaluation.metrics import BaseMetric

    if not metrics:
        raise ConfigurationError("give scoring_metrics, for example scoring_metrics=[CheckEmbedMetric()]")
    for metric in metrics:
        if not isinstance(metric, BaseMetric):
            raise ConfigurationError(f"scoring_metrics must hold Opik metrics, not {metric!r}")
        if "task_span" in inspect.signature(metric.score).parameters:
            raise ConfigurationError(
                f"{metric.name} reads the task's trace, which only exists when Opik records: use "
                "opik.evaluation.evaluate, or have the task return model and messages"
            )
    twice = [name for name, count in Counter(metric.name for metric in metrics).items() if count > 1]
    if twice:
        raise ConfigurationError(f"several metrics are named {', '.join(twice)}: give each a name= of its own")
    if task is not None and not callable(task):
        raise ConfigurationError(f"task must be a function of an item, not {type(task).__name__}")
    if inspect.iscoroutinefunction(task):
        raise ConfigurationError("task is async, which Opik's evaluate does not run either: wrap it in asyncio.run")
    for name, value in (("task_threads", task_threads), ("trial_count", trial_count)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ConfigurationError(f"{name} must be a whole number of at least 1, not {value!r}")
    if not isinstance(progress, bool) and not callable(progress):
        raise ConfigurationError(f"progress must be True, False or a function of (done, total), not {progress!r}")


class _Run:
    """What is the same for every item; called from many threads."""

    def __init__(self, task: Task | None, metrics: Sequence[BaseMetric], mapping: KeyMapping) -> None:
        self.task = task
        self.metrics = metrics
        self.mapping = mapping
        self.directions: dict[str, bool | None] = {}
        self._said: set[object] = set()
        self._lock = threading.Lock()

    def evaluate(self, position: str, item: dict[str, Any]) -> ItemResult:
        identity = position if item.get("id") is None else str(item["id"])
        current_item.set(item)
        try:
            output = self._output(item)
        except Exception as error:  # noqa: BLE001 - the user's task may raise anything; the item's error names it
            self._say_once(("task", type(error)), "the task failed on item %s: %r", identity, error)
            said = f"the task raised {error!r}"
            return ItemResult(identity, item, {}, self._failed(said), error=said)
        try:
            fields = self._mapped({**item, **output})
        except ItemError as error:
            self._say_once("mapping", "item %s: %s", identity, error)
            return ItemResult(identity, item, output, self._failed(str(error)))
        found = [one for metric in self.metrics for one in self._scores(metric, fields)]
        sets, positions = merge_sample_sets([samples for _, samples in found])
        scores = tuple(replace(score, samples=at) for (score, _), at in zip(found, positions, strict=True))
        return ItemResult(identity, item, output, scores, tuple(sets))

    def _output(self, item: dict[str, Any]) -> dict[str, Any]:
        if self.task is None:
            return {}
        returned = self.task(dict(item))
        return dict(returned) if isinstance(returned, Mapping) else {"output": returned}

    def _mapped(self, fields: dict[str, Any]) -> dict[str, Any]:
        """The fields with `scoring_key_mapping` applied as Opik applies it: a field that is not there maps nothing."""
        for argument, source in self.mapping.items():
            if callable(source):
                try:
                    fields[argument] = source(fields)
                except Exception as error:
                    raise ItemError(f"scoring_key_mapping for {argument!r} raised {error!r}") from error
            elif source in fields:
                fields[argument] = fields[source]
            else:
                self._say_once(
                    ("field", source),
                    "scoring_key_mapping reads %r from %r, which an item lacks (fields: %s)",
                    argument,
                    source,
                    ", ".join(map(str, fields)),
                )
        return fields

    def _scores(self, metric: BaseMetric, fields: dict[str, Any]) -> _Found:
        try:
            returned = metric.score(**_arguments(metric, fields))
            found = paid_once([as_score(one) for one in (returned if isinstance(returned, list) else [returned])])
        except Exception as error:  # noqa: BLE001 - any metric may be given; its failure is this score's, not the run's
            self._say_once((metric.name, type(error)), "%s failed: %r", metric.name, error)
            found = [(Score(metric.name, None, f"{type(error).__name__}: {error}"), None)]
        self._point(metric, [score.name for score, _ in found])
        return found

    def _failed(self, reason: str) -> tuple[Score, ...]:
        for metric in self.metrics:
            self._point(metric, [metric.name])
        return tuple(Score(metric.name, None, reason) for metric in self.metrics)

    def _point(self, metric: BaseMetric, names: list[str]) -> None:
        """The scores of a metric point the way it does, unless it says otherwise of each."""
        own = getattr(metric, "higher_is_better", None)
        of = getattr(metric, "direction", None)
        with self._lock:
            self.directions.update({name: of(name) if callable(of) else own for name in names})

    def _say_once(self, kind: object, message: str, *values: object) -> None:
        """What goes wrong on every item is worth one line in the log; each item's result has its own reason."""
        with self._lock:
            first = kind not in self._said
            self._said.add(kind)
        if first:
            _LOGGER.warning(f"{message} (said once for this kind of failure)", *values)


def as_score(result: object) -> tuple[Score, Mapping[str, Any] | None]:
    """A metric's score, and the sample set it was computed over where it names one."""
    from opik.evaluation.metrics.score_result import ScoreResult

    if not isinstance(result, ScoreResult):
        raise TypeError(f"score returned {result!r}, not a ScoreResult")
    value = None if result.scoring_failed else finite(result.value)
    reason = result.reason
    if value is None and not result.scoring_failed:
        reason = f"the metric returned {result.value!r}, which is no score. {reason or ''}".strip()
    evidence = dict(result.metadata or {})
    samples = evidence.pop("samples") if is_sample_set(evidence.get("samples")) else None
    # Metrics of this package keep the two apart; what others keep in the metadata is all evidence.
    if evidence.keys() == {"evidence"} and isinstance(evidence["evidence"], Mapping):
        evidence = dict(evidence["evidence"])
    return Score(result.name, value, reason, evidence), samples


_Found = list[tuple[Score, Mapping[str, Any] | None]]


def paid_once(found: _Found) -> _Found:
    """Several scores of one metric rest on one sample set, which it paid for once."""
    seen: list[Mapping[str, Any]] = []
    once: _Found = []
    for score, samples in found:
        again = samples is not None and samples in seen
        once.append((score, {**samples, "cost_usd": 0.0, "calls": 0} if samples and again else samples))
        seen += [samples] if samples else []
    return once


def _arguments(metric: BaseMetric, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that the metric's `score` takes, as Opik chooses them."""
    parameters = inspect.signature(metric.score).parameters.values()
    several = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    names = {p.name for p in parameters if p.kind not in several}
    missing = [p.name for p in parameters if p.name in names and p.default is p.empty and p.name not in fields]
    if missing:
        raise TypeError(
            f"score needs {', '.join(missing)}; map it with scoring_key_mapping (fields: {', '.join(map(str, fields))})"
        )
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters)
    return {k: v for k, v in fields.items() if k in names or (takes_all and isinstance(k, str))}
