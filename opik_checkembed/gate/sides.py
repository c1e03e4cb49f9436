"""Where the two sides of a comparison come from: finished results, or a task or prompt that is run now."""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opik_checkembed.errors import ConfigurationError
from opik_checkembed.gate.comparison import ANSWER_FIELDS
from opik_checkembed.gate.prompt import SUFFIXES, Prompt
from opik_checkembed.gate.user_code import Place, folder_first
from opik_checkembed.items import load_items
from opik_checkembed.local import evaluate_locally
from opik_checkembed.metric_names import METRICS, metric_of
from opik_checkembed.results import LocalResults

if TYPE_CHECKING:
    from opik.evaluation.metrics import BaseMetric

    from opik_checkembed.samples import Budget, LiteLLMSampler, SampleStore

_OPIK = "opik:"
_SIDE = "a side is results.json, opik:EXPERIMENT, a prompt file, or file.py:function"
_METRIC = f"metrics are {', '.join(METRICS)}, or file.py:name"


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
    # Not shown: it may hold a key.
    parameters: Mapping[str, Any] = field(default_factory=dict, repr=False)
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

    While a task runs, modules are looked for in its own folder first; those out of it are forgotten afterwards, so that
    each of two checkouts has its own.

    Args:
        text: A result file (`.json`, as `LocalResults.to_json` writes); `opik:NAME` for an experiment; a prompt file
            (see `Prompt.from_file`); or `file.py:function` or `package.module:function` for a task.
        running: How to run a prompt or a task.

    Raises:
        ConfigurationError: It is none of these, or cannot be read or run.
    """
    return parse_side(text).results(running)


@dataclass(frozen=True)
class Side:
    """One side of a comparison, before it is read or run.

    Attributes:
        text: As the user named it.
        prompt: The prompt to run, if it is one.
        task: Where the task to run is, if it is one.
        finished: Results that there are already, if it is a file of them.
    """

    text: str
    prompt: Prompt | None = None
    task: Place | None = None
    finished: LocalResults | None = None

    @property
    def is_run(self) -> bool:
        """Whether it has yet to be run, which may cost something."""
        return self.prompt is not None or self.task is not None

    def check(self, running: Running) -> None:
        """Refuse a side that cannot be run as it was asked for, before another one is paid for.

        Raises:
            ConfigurationError: It has no items or no metrics, or a prompt reads what no item has.
        """
        if self.is_run:
            rows = _items(self.text, running)
            if self.prompt is not None:
                self.prompt.check(rows)

    def results(self, running: Running) -> LocalResults:
        """Its results; see `load_side`."""
        if self.finished is not None:
            return self.finished
        if self.prompt is not None:
            return _run_prompt(self.prompt, self.text, running)
        if self.task is not None:
            return _run_task(self.task, self.text, running)
        from opik_checkembed.gate.experiment import read_experiment

        return read_experiment(self.text.removeprefix(_OPIK))


def parse_side(text: str) -> Side:
    """What a side is; nothing is run. For the forms and the errors see `load_side`."""
    if text.startswith(_OPIK):
        return Side(text)
    if text.lower().endswith(".json"):
        data = _json(Path(text))
        if "messages" not in data:
            return Side(text, finished=LocalResults.from_dict(data))
        return Side(text, prompt=Prompt.from_dict(data, text))
    if Path(text).suffix.lower() in SUFFIXES:
        return Side(text, prompt=Prompt.from_file(Path(text)))
    return Side(text, task=Place.parse(text, _SIDE))


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
    # RecursionError: brackets in brackets, thousands deep.
    except (OSError, ValueError, RecursionError) as error:
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
    with _metrics(running) as metrics:
        task = prompt.task(_answering(prompt, metrics, running))
        return evaluate_locally(items, task, metrics, trial_count=running.trials)


def _run_task(place: Place, text: str, running: Running) -> LocalResults:
    items = _items(text, running)
    with _metrics(running, place.folder) as metrics:
        task = place.load()
        if not callable(task):
            raise ConfigurationError(f"{text} is no function of an item but a {type(task).__name__}")
        return evaluate_locally(items, _staying(task), metrics, trial_count=running.trials)


def _staying(task: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    """The task, of which a call to `sys.exit`, and whatever else would end the process, fails the item alone."""
    if inspect.iscoroutinefunction(task):
        return task  # and `evaluate_locally` says why it cannot be run

    @functools.wraps(task)
    def staying(item: dict[str, Any]) -> Any:
        try:
            return task(item)
        except (Exception, KeyboardInterrupt):
            raise
        except SystemExit as error:
            raise RuntimeError(f"the task called sys.exit({error.code!r})") from error
        # Like `pytest.fail`, or a call of asyncio's that was cancelled.
        except BaseException as error:
            raise RuntimeError(f"{type(error).__qualname__}: {error}") from error

    return staying


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


@contextlib.contextmanager
def _metrics(running: Running, home: Path | None = None) -> Iterator[list[BaseMetric]]:
    """The metrics; as long as this lasts, modules are looked for in `home` first, else in the first metric's folder."""
    places = {text: _place(text) for text in running.metrics if text.partition(":")[0] not in METRICS}
    home = home or next((place.folder for place in places.values()), None)
    with contextlib.ExitStack() as stack:
        if home is not None:
            stack.enter_context(folder_first(home))
        own: dict[str, list[Any]] = {}
        # Those out of other folders first: the modules of `home` are not there yet to be taken for theirs.
        for text, place in sorted(places.items(), key=lambda one: one[1].folder == home):
            with contextlib.nullcontext() if place.folder == home else folder_first(place.folder):
                own[text] = _made(place, running)
        found: list[BaseMetric] = []
        for text in running.metrics:
            found += own[text] if text in own else [metric_of(text, **running.sampling)]
        _check_replay(found, running)
        yield found


def _place(text: str) -> Place:
    """Where metrics of a user's own are.

    Raises:
        ConfigurationError: There is no such place. No option of a name that is misspelt is repeated: one may be a key.
    """
    where, _, name = text.rpartition(":")
    if "=" in name or ("=" in where and not Path(where).is_file()):
        raise ConfigurationError(f"{re.split('[:,=]', text)[0]!r} with its options cannot be read: {_METRIC}")
    return Place.parse(text, _METRIC)


def _made(place: Place, running: Running) -> list[Any]:
    """The metrics that a list holds, or a function returns."""
    named = place.load()
    if callable(named):
        what = f"{place.where}:{place.name}"
        try:
            inspect.signature(named).bind(**running.sampling)
        except (TypeError, ValueError) as error:
            raise ConfigurationError(
                f"{what} cannot be called with {', '.join(running.sampling)} ({error}): name a list of metrics, or a "
                "function like def metrics(**sampling): ..."
            ) from error
        try:
            named = named(**running.sampling)
        except (Exception, SystemExit) as error:
            raise ConfigurationError(f"{what} cannot be called: {error!r}") from error
    return list(named) if isinstance(named, list | tuple) else [named]


def _check_replay(metrics: Sequence[BaseMetric], running: Running) -> None:
    if running.store.mode == "replay":
        from opik_checkembed.samples.sampler import asks_past

        own = [metric.name for metric in metrics if asks_past(metric, "store", running.store)]
        if own:
            raise ConfigurationError(
                f"{', '.join(own)} would ask past the recording: with --replay, name a function in --metrics that "
                "constructs its metrics, their judges and verifiers with the store it is given, def "
                "metrics(**sampling): ..."
            )
