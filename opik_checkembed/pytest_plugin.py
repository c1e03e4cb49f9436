"""A pytest plugin: `checkembed.assert_trustworthy(answer, input="...", metrics=[...], threshold=...)`.

It is found by its entry point once the package is installed, and loads nothing but this module until a test asks for
the `checkembed` fixture. `-p no:checkembed` turns it off.

Settings are read from the command line, else from the ini file, else from the environment:

    --checkembed-model         checkembed_model         OPIK_CHECKEMBED_MODEL
    --checkembed-store         checkembed_store         OPIK_CHECKEMBED_STORE
    --checkembed-replay        checkembed_replay        OPIK_CHECKEMBED_REPLAY
    --checkembed-max-cost-usd  checkembed_max_cost_usd  OPIK_CHECKEMBED_MAX_COST_USD
    --checkembed-max-calls     checkembed_max_calls     OPIK_CHECKEMBED_MAX_CALLS

The first of the three that names a store or a replay decides where samples come from, and within one a replay wins.
So a project can replay its committed recording by its ini file and be recorded anew with `--checkembed-store FILE`,
then `opik-checkembed samples export RECORDING.jsonl --store FILE`. A relative path in the ini file is relative to it.

The budget holds for the whole session; under pytest-xdist each worker is a process, and has it for itself.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from opik_checkembed.errors import ConfigurationError

if TYPE_CHECKING:
    from opik.evaluation.metrics import BaseMetric

    from opik_checkembed.samples import Budget, SampleStore
    from opik_checkembed.trust import Metrics, Thresholds, TrustReport

_MARKER = "checkembed"
# What a marker may set; the assertion takes any field of an item besides.
_DEFAULTS = ("metrics", "threshold", "model", "num_samples", "model_parameters", "system_prompt", "allow_unscored")


@dataclass(frozen=True)
class _Setting:
    name: str
    kind: type[str] | type[Path] | type[float] | type[int]
    metavar: str
    help: str

    @property
    def option(self) -> str:
        return f"--checkembed-{self.name.replace('_', '-')}"

    @property
    def key(self) -> str:
        """In the ini file, and of the parsed option."""
        return f"checkembed_{self.name}"

    @property
    def variable(self) -> str:
        return f"OPIK_CHECKEMBED_{self.name.upper()}"

    def read(self, text: str, source: str, folder: Path) -> Any:
        """The value that a text stands for; paths are relative to a folder.

        Raises:
            pytest.UsageError: It is none.
        """
        if self.kind is str or (self.name, text) == ("store", "default"):
            return text
        if self.kind is Path:
            # Absolute now: a test may change the working directory.
            return folder / Path(text).expanduser()
        try:
            value = self.kind(text)
        except ValueError:
            value = None
        if not isinstance(value, int | float) or not 0 < value < math.inf:
            wanted = "a whole number" if self.kind is int else "a number"
            raise pytest.UsageError(f"{source} must be {wanted} above 0, not {text!r}")
        return value


_SETTINGS = (
    _Setting("model", str, "MODEL", "Model to ask again where a test names none (any name litellm routes)."),
    _Setting("store", Path, "FILE", "Sample store to use; 'default' for the user's own."),
    _Setting("replay", Path, "FILE", "Take samples from an exported JSONL file; no model is asked for any."),
    _Setting("max_cost_usd", float, "USD", "Spend at most this much on samples; an answer beyond it fails."),
    _Setting("max_calls", int, "N", "Make at most this many calls for samples; an answer beyond it fails."),
)


@dataclass
class _Account:
    """What was checked and paid for."""

    answers: int = 0
    calls: float = 0.0
    cost_usd: float | None = 0.0

    def add(self, answers: int, calls: float, cost_usd: float | None) -> None:
        self.answers += answers
        self.calls += calls
        self.cost_usd = None if self.cost_usd is None or cost_usd is None else self.cost_usd + cost_usd

    def __str__(self) -> str:
        cost = "cost unknown" if self.cost_usd is None else f"${self.cost_usd:.4f}"
        answers = f"{self.answers} answer{'' if self.answers == 1 else 's'} checked"
        return f"{answers}, {self.calls:g} call{'' if self.calls == 1 else 's'}, {cost}"


@dataclass
class _Session:
    """What all tests of this process share."""

    settings: Mapping[str, Any]
    account: _Account = field(default_factory=_Account)
    lost_workers: int = 0
    metrics: dict[tuple[str, int | None], BaseMetric] = field(default_factory=dict)
    opened: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    @property
    def replays(self) -> bool:
        return self.settings["replay"] is not None

    @cached_property
    def store(self) -> SampleStore:
        if self.replays:
            from opik_checkembed.gate.sides import replayed

            return self.opened.enter_context(replayed(self.settings["replay"]))
        from opik_checkembed.samples.shared_store import open_store

        return open_store(self.settings["store"] or "default")

    @cached_property
    def budget(self) -> Budget | None:
        from opik_checkembed.samples import Budget

        limits = {name: self.settings[name] for name in ("max_cost_usd", "max_calls")}
        # A replay pays for nothing.
        return None if self.replays or set(limits.values()) == {None} else Budget(**limits)

    @property
    def sampling(self) -> dict[str, Any]:
        return {"model": self.settings["model"], "store": self.store, "budget": self.budget}

    def metric(self, spec: str, num_samples: int | None) -> BaseMetric:
        """The metric of a short name, built once in a session: it may hold a model."""
        from opik_checkembed.metric_names import metric_of

        if (spec, num_samples) not in self.metrics:
            own = {} if num_samples is None else {"num_samples": num_samples}
            self.metrics[spec, num_samples] = metric_of(spec, **self.sampling, **own)
        return self.metrics[spec, num_samples]

    def check_governed(self, metric: Any) -> None:
        """Refuse a metric that would ask past the replay or the budget of this session.

        Raises:
            ConfigurationError: It, or what judges, verifies or splits for it, asks through a sampler of its own.
        """
        from opik_checkembed.samples.sampler import asks_past

        for part in getattr(metric, "metrics", ()):
            self.check_governed(part)
        held = [
            *(["the replay"] if self.replays and asks_past(metric, "store", self.store) else []),
            *(["the budget"] if self.budget and asks_past(metric, "budget", self.budget) else []),
        ]
        if held:
            raise ConfigurationError(
                f"{metric.name} was constructed with a store or budget of its own, past {' and '.join(held)} of this "
                "session: give its short name, or construct it, and what judges, verifies or splits for it, with the "
                "store and budget of checkembed.sampling"
            )


_SESSION = pytest.StashKey[_Session]()


class CheckEmbed:
    """What the `checkembed` fixture gives a test."""

    def __init__(self, session: _Session, defaults: Mapping[str, Any]) -> None:
        self._session = session
        self._defaults = defaults

    @property
    def sampling(self) -> dict[str, Any]:
        """This session's `model`, `store` and `budget`, to construct a metric with.

        Example:
            `FactRecurrenceMetric(**checkembed.sampling, temperature=0.7)`;
            `SourceNLIMetric(verifier=LLMVerifier("gpt-4o-mini", store=checkembed.sampling["store"]))`
        """
        return self._session.sampling

    def check(self, answer: Any, **arguments: Any) -> TrustReport:
        """Score an answer without asserting anything; takes what `assert_trustworthy` takes.

        Raises:
            ConfigurationError: The arguments do not fit each other, or this session; says what to do.
        """
        from opik_checkembed.trust import check_answer, metrics_of

        given = {**self._defaults, **arguments}
        given.pop("allow_unscored", None)
        told = "num_samples" in arguments
        missing = [name for name in ("metrics", "threshold") if given.get(name) is None]
        if missing:
            raise ConfigurationError(
                f"{' and '.join(missing)} must be given, in the call or by @pytest.mark.checkembed"
            )
        num_samples = given.pop("num_samples", None)
        metrics = metrics_of(given.pop("metrics"), lambda spec: self._session.metric(spec, num_samples))
        own = [metric.name for metric in metrics if metric not in self._session.metrics.values()]
        # A marker's is a default, for those that can take it.
        if own and num_samples is not None and told:
            raise ConfigurationError(f"num_samples is for metrics by name; {own[0]} was constructed with its own")
        for metric in metrics:
            self._session.check_governed(metric)
        report = check_answer(answer, metrics=metrics, **given)
        self._session.account.add(1, report.item.calls, report.item.cost_usd)
        return report

    def assert_trustworthy(
        self,
        answer: Any,
        *,
        metrics: Metrics | None = None,
        threshold: Thresholds | None = None,
        num_samples: int | None = None,
        allow_unscored: bool | None = None,
        **fields: Any,
    ) -> TrustReport:
        """Fail the test unless every score of the answer meets its threshold.

        What is not given here comes from the nearest `@pytest.mark.checkembed` (metrics, threshold, model,
        num_samples, model_parameters, system_prompt, allow_unscored).

        Args:
            answer: The answer to judge.
            metrics: Metric objects, or short names with options ("fact_recurrence", "checkembed:embedder=lexical").
                A metric by name asks with this session's model, store and budget; an object asks with its own, which
                a replay or a budget of the session refuses, be they its own or those of its verifier, judge or claim
                splitter (construct them with those of `checkembed.sampling`). Under neither is what names no samplers:
                an embedding model behind an API, a metric of others, a verifier, judge or splitter of your own without
                a method `samplers` (see `AsksModels`).
            threshold: A number, read with the metric's direction; numbers by score name; or texts like
                "selfcheck_nli<=0.3". Every metric needs one.
            num_samples: Samples for metrics by name.
            allow_unscored: Skip the test, with the reason, where an answer cannot be scored, instead of failing it.
            **fields: What else the item holds: `input` or `messages`, `model`, `context`, `samples`, `reference`, ...

        Returns:
            The scores with their evidence.

        Raises:
            AssertionError: A score misses its threshold, or the answer cannot be scored. Names the worst sentence, its
                evidence and the samples.
            ConfigurationError: The arguments do not fit each other, or this session; says what to do.
        """
        __tracebackhide__ = True
        own = {"metrics": metrics, "threshold": threshold, "num_samples": num_samples}
        given = {name: value for name, value in own.items() if value is not None}
        try:
            report = self.check(answer, **given, **fields)
        except ConfigurationError as error:
            # The text says all; the way to it through this package is none of the reader's concern.
            raise error.with_traceback(None) from error.__cause__
        if allow_unscored is None:
            allow_unscored = self._defaults.get("allow_unscored", False)
        if report.unscored and not report.missed and allow_unscored:
            pytest.skip(report.title)
        if not report.trusted:
            raise AssertionError(f"{report}{_hint(report)}")
        return report


def _hint(report: TrustReport) -> str:
    """What a test would write where a reason speaks of a dataset's fields."""
    item = report.item.item
    asked = any(item.get(name) is not None for name in ("input", "messages", "question", "samples"))
    if not report.unscored or (asked and (item.get("model") or item.get("samples"))):
        return ""
    return (
        "\n\nin a test, what was asked is input= or messages=, and the model is model=, "
        "@pytest.mark.checkembed(model=...) or --checkembed-model"
    )


@pytest.fixture
def checkembed(request: pytest.FixtureRequest) -> CheckEmbed:
    """Checks on answers of a language model: `checkembed.assert_trustworthy(answer, input=..., metrics=[...], ...)`."""
    return CheckEmbed(request.config.stash[_SESSION], _marked(request.node))


def _marked(node: pytest.Item) -> dict[str, Any]:
    """What the markers set, the nearest one first."""
    defaults: dict[str, Any] = {}
    for marker in node.iter_markers(_MARKER):
        unknown = [*map(repr, marker.args), *(name for name in marker.kwargs if name not in _DEFAULTS)]
        if unknown:
            raise ConfigurationError(
                f"@pytest.mark.{_MARKER} takes {', '.join(_DEFAULTS)} by name, not {', '.join(unknown)}"
            )
        defaults = {**marker.kwargs, **defaults}
    return defaults


def pytest_addoption(parser: pytest.Parser) -> None:
    """The settings, as options and for the ini file."""
    group = parser.getgroup("checkembed", "trust in a language model's answers (opik-checkembed)")
    for setting in _SETTINGS:
        group.addoption(setting.option, dest=setting.key, metavar=setting.metavar, help=setting.help)
        parser.addini(setting.key, setting.help)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and read the settings."""
    config.addinivalue_line(
        "markers",
        f"{_MARKER}({', '.join(f'{name}=...' for name in _DEFAULTS)}): what checkembed.assert_trustworthy takes where "
        "it is not told otherwise",
    )
    config.stash[_SESSION] = _Session(_settings(config))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove what the session kept on disk."""
    if _SESSION in config.stash:
        config.stash[_SESSION].opened.close()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of pytest-xdist hands its account to the process that prints it."""
    sent = getattr(session.config, "workeroutput", None)
    if sent is not None:
        account = session.config.stash[_SESSION].account
        sent[_MARKER] = [account.answers, account.calls, account.cost_usd]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker of pytest-xdist has ended; one that crashed hands nothing over."""
    session = node.config.stash[_SESSION]
    handed = getattr(node, "workeroutput", {}).get(_MARKER)
    if handed is None:
        session.lost_workers += 1
    else:
        session.account.add(*handed)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """One line: answers checked, calls, cost."""
    session = config.stash[_SESSION]
    if session.account.answers:
        lost = f"; without what {session.lost_workers} crashed workers did" if session.lost_workers else ""
        terminalreporter.write_line(f"checkembed: {session.account}{lost}")


def _settings(config: pytest.Config) -> dict[str, Any]:
    """Each setting from the command line, else the ini file, else the environment; None where it is nowhere."""
    here = config.invocation_params.dir
    levels: tuple[_Level, ...] = (
        _Level(here, {s.option: config.getoption(s.key) for s in _SETTINGS}),
        _Level(config.inipath.parent if config.inipath else here, {s.key: config.getini(s.key) for s in _SETTINGS}),
        _Level(here, {s.variable: os.environ.get(s.variable) for s in _SETTINGS}),
    )
    read = [level.read() for level in levels]
    found = {s.name: next((one[s.name] for one in read if one[s.name] is not None), None) for s in _SETTINGS}
    source = next((one for one in read if one["replay"] or one["store"]), read[0])
    if source["replay"] is not None and not source["replay"].is_file():
        raise pytest.UsageError(
            f"there is no file {source['replay']} to replay; write one with opik-checkembed samples export"
        )
    return {**found, "replay": source["replay"], "store": source["store"]}


@dataclass(frozen=True)
class _Level:
    """One place that settings are read from."""

    folder: Path
    texts: Mapping[str, str | None]

    def read(self) -> dict[str, Any]:
        """By name; None for what is absent or empty."""
        return {
            setting.name: setting.read(text, source, self.folder) if text else None
            for setting, (source, text) in zip(_SETTINGS, self.texts.items(), strict=True)
        }
