"""Runs the user's whole task again: for agents and retrieval, where no single request made the answer."""

from __future__ import annotations

import contextvars
import copy
import inspect
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from opik_checkembed.errors import AnswerError, ConfigurationError, OpikCheckEmbedError, RequestError, SamplingError
from opik_checkembed.samples.budget import Budget
from opik_checkembed.samples.collector import Delivery, collect
from opik_checkembed.samples.pool import DEFAULT_MAX_CONCURRENCY, check_max_concurrency, shared_pool
from opik_checkembed.samples.request import Fields, digest, judged_output, plain
from opik_checkembed.samples.sample import Origin, Sample, SampleSet, status_of
from opik_checkembed.samples.shared_store import open_store
from opik_checkembed.samples.store import SampleStore

Task = Callable[[dict[str, Any]], Any]

current_item: contextvars.ContextVar[Mapping[str, Any] | None] = contextvars.ContextVar("current_item", default=None)
"""The dataset item under evaluation; `evaluate_locally` sets it, since a metric only sees it merged."""

_inside_a_run: contextvars.ContextVar[bool] = contextvars.ContextVar("inside_a_run", default=False)

# Opik adds these to what a metric sees.
_NOT_THE_ITEMS = frozenset({"trace_tool_context", "task_span"})

_tokens: dict[Task, str] = {}
_tokens_lock = threading.Lock()


class TaskSampler:
    """Runs the whole task again on the same dataset item, once per sample.

    The task must vary by itself (a temperature above 0); if it does not, the reason says that all samples are
    identical. Inside `evaluate` and `evaluate_locally` the task gets the dataset item as it was; called directly, a
    metric hands it the fields it was given.

    Args:
        task: The function given to `evaluate`: takes the item, returns the output or a dict with `output`.
        version: Names this state of the task. Only with it are samples kept in the store, for as long as the name
            stays the same; without it they are kept in this process, since nobody can see whether a task changed. A
            kept sample is found again by where the function is defined and its name.
        name: Names the task in the store instead. Needed with `version` for a lambda, partial, method or callable
            object, since two of a kind would be taken for each other.
        store: See `LiteLLMSampler`.
        budget: A limit on runs (`max_calls`); what a run costs is not known here.
        max_concurrency: Runs in flight at most, in this process.

    Raises:
        ConfigurationError: An argument cannot work.
    """

    def __init__(
        self,
        task: Task,
        *,
        version: str | None = None,
        name: str | None = None,
        store: SampleStore | str | PathLike[str] | None = "default",
        budget: Budget | None = None,
        max_concurrency: int = DEFAULT_MAX_CONCURRENCY,
    ) -> None:
        if not callable(task):
            raise ConfigurationError(f"task must be the function given to evaluate, not {type(task).__name__}")
        if version is not None and (not isinstance(version, str) or not version):
            raise ConfigurationError(f"version must be a text that changes when the task does, not {version!r}")
        if budget is not None and budget.max_cost_usd is not None:
            raise ConfigurationError(
                "what a run of a task costs is not known here, so max_cost_usd cannot be held; use "
                "Budget(max_calls=...)"
            )
        if version is not None and not name and not _is_named_function(task):
            raise ConfigurationError(
                "with version=, give the task a name= too: a lambda, partial, method or callable object cannot be told "
                "from another of its kind in the store"
            )
        check_max_concurrency(max_concurrency)
        self.task = task
        self.version = version
        self.budget = budget
        self.max_concurrency = max_concurrency
        self.store = open_store(store if version is not None else None)
        self._identity = (name or _place(task)) if version is not None else _token(task)

    def draw(self, fields: Fields, count: int) -> SampleSet:
        """`count` more runs of the task on this item; see `Sampler.draw`."""
        if _inside_a_run.get():
            raise RequestError(
                "a task that is itself being sampled cannot be sampled by TaskSampler: its runs would wait for each "
                "other"
            )
        item = dict(_dataset_item(fields))
        request = _TaskRequest(_describe(self._identity, _name(self.task), self.version, item))
        context = contextvars.copy_context()
        pool = shared_pool(self.max_concurrency, "tasks")

        def ask(indices: Sequence[int], delivery: Delivery) -> None:
            for index in indices:
                pool.submit(lambda i=index: context.copy().run(self._run, item, i, delivery))  # type: ignore[misc]

        return collect(self.store, request, count, ask)

    def _run(self, item: dict[str, Any], index: int, delivery: Delivery) -> None:
        # The context is this run's own copy.
        _inside_a_run.set(True)
        try:
            if self.budget is not None:
                self.budget.reserve_usd(0.0).settle(None)
            # A copy for each run: a task may change what it is given.
            result = self.task(copy.deepcopy(item))
        except BaseException as error:  # noqa: BLE001 - the user's task may raise anything; the reason names it
            raised = SamplingError(f"the task raised {error!r}")
            delivery.failure(index, error if isinstance(error, OpikCheckEmbedError) else raised)
            return
        try:
            text, _ = judged_output(result if isinstance(result, Mapping) else {"output": result})
        except AnswerError as error:
            delivery.failure(index, SamplingError(f"the task returned no answer: {error}"))
            return
        delivery.samples([Sample(index, text, status_of(text), created=time.time(), origin=Origin.ASKED)])


@dataclass(frozen=True)
class _TaskRequest:
    description: dict[str, Any]
    temperature: None = None
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return digest(self.description)


def _describe(identity: str, name: str, version: str | None, item: Mapping[str, Any]) -> dict[str, Any]:
    # `id` names the row, not what is asked.
    asked = {k: v for k, v in item.items() if k not in {"id", *_NOT_THE_ITEMS}}
    try:
        return {"kind": "task", "model": name, "task": identity, "version": version, "item": plain(asked)}
    except (TypeError, ValueError) as error:
        raise RequestError(
            f"the dataset item cannot be written as JSON, so its samples have no key: {error}"
        ) from error


def _dataset_item(fields: Fields) -> Mapping[str, Any]:
    item = current_item.get()
    if item is not None:
        return item
    from opik import opik_context

    trace = opik_context.get_current_trace_data()
    seen: Any = trace.input if trace is not None else None
    if isinstance(seen, Mapping) and trace is not None:
        if trace.name == "evaluation_task":
            return seen
        # `evaluate_experiment` scores in a trace of its own, whose input is the logged case.
        case = getattr(seen.get("test_case_"), "dataset_item_content", None)
        if isinstance(case, Mapping):
            return case
    return {k: v for k, v in fields.items() if k not in {"output", *_NOT_THE_ITEMS}}


def _name(task: Task) -> str:
    kind = task if hasattr(task, "__qualname__") else type(task)
    return f"{kind.__module__}.{kind.__qualname__}"


def _is_named_function(task: Task) -> bool:
    return inspect.isfunction(task) and "<lambda>" not in task.__qualname__


def _place(task: Task) -> str:
    """Where a function is defined: every script's `task` is `__main__.task`, so there the file counts too."""
    if task.__module__ != "__main__":
        return _name(task)
    return f"{_name(task)} in {Path(inspect.getfile(inspect.unwrap(task))).resolve().as_posix()}"


def _token(task: Task) -> str:
    """A name for this very object while the process lives; equal tasks (bound methods) share it."""
    with _tokens_lock:
        try:
            return _tokens.setdefault(task, uuid.uuid4().hex)
        except TypeError:
            return uuid.uuid4().hex
