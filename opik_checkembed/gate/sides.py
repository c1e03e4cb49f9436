"""Where the two sides of a comparison come from: finished results, or a task or prompt that is run now."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.gate.comparison import ANSWER_FIELDS
from opik_checkembed.gate.prompt import SUFFIXES, Prompt
from opik_checkembed.items import load_items
from opik_checkembed.local import evaluate_locally
from opik_checkembed.metric_names import METRICS, metric_of
from opik_checkembed.results import LocalResults

if TYPE_CHECKING:
    from opik.evaluation.metrics import BaseMetric

    from opik_checkembed.samples import Budget, LiteLLMSampler, SampleStore

_OPIK = "opik:"


@dataclass(frozen=True)
class Running:
    """What a side that is run needs; both sides share it.

    Attributes:
        data: The items' file; None where both sides are finished.
        metrics: Each a name with options (see `metric_of`) or `file.py:name`: a list of metrics, or a function that
            takes `store`, `budget`, `model` and `model_parameters` as keyword arguments and returns one.
        model: Who is asked where the prompt or the task's output names no model.
        parameters: Connection and completion parameters for it.
        store: Where samples are kept.
        budget: What sampling may cost.
        trials: Runs of each item.
    """

    data: Path | None
    metrics: Sequence[str]
    store: SampleStore
    model: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    budget: Budget | None = None
    trials: int = 1

    @property
    def sampling(self) -> dict[str, Any]:
        """How the metrics are to sample."""
        return {
            "model": self.model,
            "model_parameters": dict(self.parameters),
            "store": self.store,
            "budget": self.budget,
        }


def load_side(text: str, running: Running) -> LocalResults:
    """The results of one side.

    Args:
        text: A result file (`.json`, as `LocalResults.to_json` writes); `opik:NAME` for an experiment; a prompt file
            (see `Prompt.from_file`); or `file.py:function` or `package.module:function` for a task.
        running: How to run a prompt or a task.

    Raises:
        ConfigurationError: It is none of these, or cannot be read or run.
    """
    if text.startswith(_OPIK):
        from opik_checkembed.gate.experiment import read_experiment

        return read_experiment(text.removeprefix(_OPIK))
    if text.lower().endswith(".json"):
        data = _json(Path(text))
        if "messages" not in data:
            return LocalResults.from_dict(data)
        return _run_prompt(Prompt.from_dict(data, text), text, running)
    if Path(text).suffix.lower() in SUFFIXES:
        return _run_prompt(Prompt.from_file(Path(text)), text, running)
    task = _named(text, "a side is results.json, opik:EXPERIMENT, a prompt file, or file.py:function")
    if not callable(task):
        raise ConfigurationError(f"{text} is no function of an item but a {type(task).__name__}")
    items, metrics = _items(text, running), _metrics(running)
    return evaluate_locally(items, task, metrics, trial_count=running.trials)


@contextlib.contextmanager
def replayed(recording: Path) -> Iterator[SampleStore]:
    """A store that holds an exported recording and nothing else, and asks no model for what it lacks.

    Raises:
        StoreError: The file is no recording.
    """
    from opik_checkembed.samples import SampleStore

    with tempfile.TemporaryDirectory(prefix="opik-checkembed-replay-") as folder:
        path = Path(folder) / "samples.sqlite3"
        with SampleStore(path) as recorded:
            recorded.import_(recording)
        with SampleStore(path, mode="replay") as store:
            yield store


def _json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"neither results nor a prompt can be read from {path}: {error}") from error
    if not isinstance(data, dict):
        raise ConfigurationError(f"{path} holds neither results nor a prompt")
    return data


def _items(text: str, running: Running) -> list[dict[str, Any]]:
    if running.data is None or not running.metrics:
        raise ConfigurationError(f"{text} is to be run: give its items with --data and its metrics with --metrics")
    return load_items(running.data)


def _run_prompt(prompt: Prompt, text: str, running: Running) -> LocalResults:
    rows = _items(text, running)
    prompt.check(rows)
    # What an item says of another run's answer, its model or samples, is not this prompt's. Its conversation stays:
    # it may be all that says what is asked.
    others = ANSWER_FIELDS - {"messages", *prompt.fields}
    items = [{name: value for name, value in row.items() if name not in others} for row in rows]
    metrics = _metrics(running)
    task = prompt.task(_answering(prompt, metrics, running))
    return evaluate_locally(items, task, metrics, trial_count=running.trials)


def _answering(prompt: Prompt, metrics: Sequence[BaseMetric], running: Running) -> LiteLLMSampler:
    """The sampler of a prompt's answers: at temperature 0, unless the prompt says otherwise."""
    from opik_checkembed.samples import LiteLLMSampler

    temperature = prompt.parameters.get("temperature", 0.0)
    answering = LiteLLMSampler(
        running.model, temperature=temperature, store=running.store, budget=running.budget, **running.parameters
    )
    for metric in metrics:
        sampler = getattr(metric, "sampler", None)
        if not isinstance(sampler, LiteLLMSampler):
            continue
        kept = sampler.temperature is None and "temperature" in prompt.parameters
        if kept or sampler.temperature == temperature:
            raise ConfigurationError(
                f"the prompt's answers and the samples of {metric.name} would both be asked for at temperature "
                f"{temperature}, so that each answer would be the first of its own samples: change the prompt's, or "
                "the metric's with the option temperature="
            )
    return answering


def _metrics(running: Running) -> list[BaseMetric]:
    found: list[BaseMetric] = []
    for text in running.metrics:
        if text.partition(":")[0] in METRICS:
            found.append(metric_of(text, **running.sampling))
            continue
        named = _named(text, f"metrics are {', '.join(METRICS)}, or file.py:name")
        made = named(**running.sampling) if callable(named) else named
        found += made if isinstance(made, list | tuple) else [made]
    if running.store.mode == "replay":
        own = [metric.name for metric in found if _samples_elsewhere(metric, running.store)]
        if own:
            raise ConfigurationError(
                f"{', '.join(own)} would ask past the recording: with --replay, name a function in --metrics that "
                "constructs its metrics with the store it is given, def metrics(**sampling): ..."
            )
    return found


def _samples_elsewhere(metric: Any, store: SampleStore) -> bool:
    """Whether a metric, or a part of an ensemble, has a sampler with a store of its own."""
    sampler = getattr(metric, "sampler", None)
    parts = getattr(metric, "metrics", ())
    return getattr(sampler, "store", store) is not store or any(_samples_elsewhere(part, store) for part in parts)


def _named(text: str, form: str) -> Any:
    """What `file.py:name` or `package.module:name` names."""
    where, colon, name = text.rpartition(":")
    if not colon or not where or not name:
        raise ConfigurationError(f"{text!r} cannot be read: {form}")
    module = _file_module(Path(where)) if where.endswith(".py") else _installed_module(where)
    if not hasattr(module, name):
        raise ConfigurationError(f"{where} has no {name!r}")
    return getattr(module, name)


def _file_module(path: Path) -> ModuleType:
    if not path.is_file():
        raise ConfigurationError(f"there is no file {path}")
    # Named by the path as it was given: the same on every machine, since a `TaskSampler` knows its task by it, and
    # two for two files of one name. The prefix keeps it off other modules' names.
    name = f"task_file.{'.'.join(path.with_suffix('').parts)}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # for a path that ends in .py there always is one
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # As for a script: its neighbours can be imported.
    with _on_path(path.resolve().parent), _explained(str(path)):
        spec.loader.exec_module(module)
    return module


def _installed_module(name: str) -> ModuleType:
    with _on_path(Path.cwd()), _explained(name):
        return importlib.import_module(name)


@contextlib.contextmanager
def _on_path(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


@contextlib.contextmanager
def _explained(what: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise ConfigurationError(f"{what} cannot be imported: {error!r}") from error
