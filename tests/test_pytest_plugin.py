"""The pytest plugin, in pytest runs of its own: against real servers where a model is asked."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import litellm
import pytest

import opik_checkembed.gate.sides
import opik_checkembed.pytest_plugin
import opik_checkembed.trust
from opik_checkembed import (
    EnsembleMetric,
    FactRecurrenceMetric,
    SampleStore,
    SelfCheckAPIPromptMetric,
    SelfCheckNgramMetric,
    SelfConsistencyMetric,
    SourceNLIMetric,
)
from opik_checkembed.benchmarks.imports import plugin_milliseconds
from opik_checkembed.testing import FakeOpenAI

pytest_plugins = ["pytester"]

# A run within this process forgets the modules that it was the first to import. These must not come twice.
KEPT = (
    litellm,
    opik_checkembed.gate.sides,
    opik_checkembed.trust,
    EnsembleMetric,
    FactRecurrenceMetric,
    SelfCheckAPIPromptMetric,
    SelfCheckNgramMetric,
    SelfConsistencyMetric,
    SourceNLIMetric,
)

PLUGIN = ("-p", opik_checkembed.pytest_plugin.__name__)
MODEL = "openai/gpt-4o-mini"

# A test that asks the model again.
ASKING = """
    def test_answer(checkembed):
        checkembed.assert_trustworthy(
            "She was born in Oslo in 1903.", input="Where was she born?", metrics="fact_recurrence", threshold=0.3
        )
"""


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No option of this run reaches an inner one, and no sample of another test."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("OPIK_CHECKEMBED_STORE", str(tmp_path_factory.mktemp("store") / "samples.sqlite3"))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    years = itertools.cycle(("1903", "1903", "1901"))
    usage = lambda _, given: (100, 20 * len(given))  # noqa: E731
    with FakeOpenAI(lambda _: f"Born in Oslo in {next(years)}.", usage=usage) as running:
        monkeypatch.setenv("OPENAI_API_BASE", running.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield running


def run(pytester: pytest.Pytester, test: str, *arguments: str | Path, ini: str = "") -> pytest.RunResult:
    pytester.makepyfile(test)
    if ini:
        pytester.makeini(f"[pytest]\n{ini}\n")
    return pytester.runpytest_inprocess(*PLUGIN, "--strict-markers", "--strict-config", "-rs", *arguments)


# ------------------------------------------------------------------------------------------------ assertions


def test_a_trusted_answer_passes_and_the_report_is_there_to_look_at(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        def test_answer(checkembed):
            report = checkembed.assert_trustworthy(
                "Born in Oslo in 1903.",
                metrics=["fact_recurrence"],
                threshold=0.3,
                samples=["In 1903, in Oslo.", "Oslo, 1903."],
            )
            assert report.trusted
            assert report.item.score("fact_recurrence").value == 0.0
        """,
    )

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["checkembed: 1 answer checked, 0 calls, $0.0000"])


def test_a_doubted_answer_fails_with_sentence_evidence_and_samples(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        def test_answer(checkembed):
            checkembed.assert_trustworthy(
                "She was born in Oslo in 1898.",
                input="Where was she born?",
                metrics=["fact_recurrence"],
                threshold="fact_recurrence<=0.3",
                samples=["In 1903, in Oslo.", "Oslo, 1901.", "Oslo, 1903."],
            )
        """,
    )

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E       AssertionError: the answer is not to be trusted: fact_recurrence is 0.776, wanted <= 0.3",
            "E       fact_recurrence is 0.776, wanted <= 0.3",
            "E         worst sentence (0.776): 'She was born in Oslo in 1898.'",
            "E         '1898' is in 0 of 3 samples; others have '1903' (2), '1901' (1)",
            "E       asked:  Where was she born?",
            "E       answer: She was born in Oslo in 1898.",
            "E       3 of 3 samples (3 given):",
            "E         1. In 1903, in Oslo.",
            "E         2. Oslo, 1901.",
            "E         3. Oslo, 1903.",
            "*test_a_doubted_answer_fails_with_sentence_evidence_and_samples.py:2: AssertionError",
        ]
    )
    # Where it happened is the user's test, not this package.
    result.stdout.no_fnmatch_line("*opik_checkembed*pytest_plugin.py:*")


def test_an_answer_that_cannot_be_scored_fails_or_is_skipped_where_that_is_allowed(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import pytest
        given = {"metrics": "fact_recurrence", "threshold": 0.3, "samples": ["Oslo.", "Oslo."]}

        def test_refused(checkembed):
            checkembed.assert_trustworthy("I'm sorry, I can't help with that.", **given)

        def test_allowed(checkembed):
            checkembed.assert_trustworthy("I'm sorry, I can't help with that.", allow_unscored=True, **given)

        @pytest.mark.checkembed(allow_unscored=True)
        def test_marked(checkembed):
            checkembed.assert_trustworthy("It was so.", **given)

        @pytest.mark.checkembed(allow_unscored=True)
        def test_not_here(checkembed):
            checkembed.assert_trustworthy("It was so.", allow_unscored=False, **given)

        def test_doubted_all_the_same(checkembed):
            limits = {"fact_recurrence": 0.3, "selfcheck_ngram": 99}
            checkembed.assert_trustworthy(
                "Born in Bergen.",
                metrics=["fact_recurrence", "selfcheck_ngram:min_tokens=9"],
                threshold=limits,
                samples=["Oslo.", "Oslo."],
                allow_unscored=True,
            )
        """,
    )

    result.assert_outcomes(failed=3, skipped=2)
    result.stdout.fnmatch_lines(
        [
            "E       AssertionError: whether the answer is to be trusted cannot be told: fact_recurrence could *",
            "E         the judged output is a refusal *",
            "E       AssertionError: whether the answer is to be trusted cannot be told: fact_recurrence could *",
            "E         none of 1 sentences could be scored*",
            "E       AssertionError: the answer is not to be trusted: fact_recurrence is 0.95, wanted <= 0.3; self*",
            "SKIPPED*:12: whether the answer is to be trusted cannot be told: fact_recurrence could not be scored, "
            "wanted <= 0.3 (none of 1 sentences could be scored: it holds no name, *)",
        ]
    )


def test_check_asserts_nothing(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        def test_a_wrong_answer_is_doubted(checkembed):
            samples = ["1901.", "1903."]
            report = checkembed.check("Born in 1898.", metrics="fact_recurrence", threshold=0.3, samples=samples)
            assert not report.trusted
        """,
    )

    result.assert_outcomes(passed=1)


def test_arguments_that_cannot_work_fail_the_test_and_say_why(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import pytest
        from opik_checkembed import FactRecurrenceMetric

        def test_nothing(checkembed):
            checkembed.assert_trustworthy("Oslo.")

        def test_name(checkembed):
            checkembed.assert_trustworthy("Oslo.", metrics="facts", threshold=0.3)

        def test_count(checkembed):
            metric = FactRecurrenceMetric(store=None)
            checkembed.assert_trustworthy("Oslo.", metrics=metric, threshold=0.3, num_samples=3)

        @pytest.mark.checkembed(0.3, metric="fact_recurrence")
        def test_marker(checkembed):
            raise AssertionError("not reached")
        """,
    )

    result.assert_outcomes(failed=3, errors=1)
    result.stdout.fnmatch_lines(
        [
            "E   *ConfigurationError: @pytest.mark.checkembed takes metrics, threshold, *, not 0.3, metric",
            "E       *ConfigurationError: metrics and threshold must be given, in the call or by @pytest.mark.*",
            "E       *ConfigurationError: there is no metric 'facts'; there are *",
            "E       *ConfigurationError: num_samples is for metrics by name; fact_recurrence was constructed with *",
        ]
    )
    result.stdout.no_fnmatch_line("*opik_checkembed*trust.py:*")
    result.stdout.no_fnmatch_line("*answers checked*")


def test_the_nearest_marker_wins(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import pytest
        pytestmark = pytest.mark.checkembed(metrics=["fact_recurrence"], threshold=0.0)
        answer, samples = "Born in Oslo in 1903.", ["Born in Oslo in 1903.", "Born in Bergen in 1903."]

        def test_module(checkembed):
            assert not checkembed.check(answer, samples=samples).trusted

        @pytest.mark.checkembed(threshold=0.5)
        class TestClass:
            def test_class(self, checkembed):
                assert checkembed.check(answer, samples=samples).trusted

            @pytest.mark.checkembed(threshold=0.1)
            def test_function(self, checkembed):
                assert not checkembed.check(answer, samples=samples).trusted
                assert checkembed.check(answer, samples=samples, threshold=0.9).trusted
        """,
    )

    result.assert_outcomes(passed=3)


# ----------------------------------------------------------------------------------------- asking the model


def test_a_named_metric_asks_with_the_sessions_settings(
    pytester: pytest.Pytester, server: FakeOpenAI, tmp_path: Path
) -> None:
    result = run(
        pytester,
        """
        import pytest

        @pytest.mark.checkembed(metrics="fact_recurrence", threshold=0.3)
        class TestAnswers:
            def test_option(self, checkembed):
                checkembed.assert_trustworthy("Born in Oslo in 1903.", input="Where?")

            @pytest.mark.checkembed(model="openai/marked", num_samples=2, model_parameters={"max_tokens": 9})
            def test_marker(self, checkembed):
                checkembed.assert_trustworthy("Born in Oslo in 1903.", input="Where?")

            @pytest.mark.checkembed(model="openai/marked", system_prompt="Be brief.")
            def test_argument(self, checkembed):
                checkembed.assert_trustworthy("Born in Oslo in 1903.", input="Where?", model="openai/given")
        """,
        f"--checkembed-model={MODEL}",
        f"--checkembed-store={tmp_path / 'own.sqlite3'}",
    )

    result.assert_outcomes(passed=3)
    bodies = [call.body for call in server.calls if call.status == 200]
    assert [body["model"] for body in bodies] == ["gpt-4o-mini", "marked", "given"]
    assert [body["n"] for body in bodies] == [5, 2, 5]
    assert [body.get("max_tokens") for body in bodies] == [None, 9, None]
    assert bodies[2]["messages"][0] == {"role": "system", "content": "Be brief."}
    result.stdout.fnmatch_lines(["checkembed: 3 answers checked, 3 calls, cost unknown"])
    with SampleStore(tmp_path / "own.sqlite3") as store:
        assert sorted(entry.samples for entry in store.entries()) == [2, 5, 5]


def test_two_metrics_and_a_second_test_share_samples_and_the_line_says_what_was_paid(
    pytester: pytest.Pytester, server: FakeOpenAI
) -> None:
    test = """
        import pytest
        from opik_checkembed import FactRecurrenceMetric

        @pytest.mark.parametrize("again", [1, 2])
        def test_answer(checkembed, again):
            metrics = ["selfcheck_ngram", FactRecurrenceMetric(**checkembed.sampling, num_samples=5)]
            checkembed.assert_trustworthy(
                "Born in Oslo in 1903.", input="Where?", metrics=metrics,
                threshold=["fact_recurrence<=0.3", "selfcheck_ngram<=99"],
            )
    """
    result = run(pytester, test, f"--checkembed-model={MODEL}")

    result.assert_outcomes(passed=2)
    assert server.answered == 1
    # 100 tokens in, 5 x 20 out, at litellm's price of gpt-4o-mini: 0.000075 dollars.
    result.stdout.fnmatch_lines(["checkembed: 2 answers checked, 1 call, $0.0001"])


@pytest.mark.parametrize(
    ("option", "ini", "environment", "asked"),
    [
        ("openai/option", "openai/ini", "openai/environment", "option"),
        (None, "openai/ini", "openai/environment", "ini"),
        (None, None, "openai/environment", "environment"),
    ],
)
def test_an_option_goes_before_the_ini_file_and_that_before_the_environment(
    pytester: pytest.Pytester,
    server: FakeOpenAI,
    monkeypatch: pytest.MonkeyPatch,
    option: str | None,
    ini: str | None,
    environment: str,
    asked: str,
) -> None:
    monkeypatch.setenv("OPIK_CHECKEMBED_MODEL", environment)

    result = run(
        pytester,
        ASKING,
        *([f"--checkembed-model={option}"] if option else []),
        ini=f"checkembed_model = {ini}" if ini else "",
    )

    result.assert_outcomes(passed=1)
    assert {call.body["model"] for call in server.calls} == {asked}


def test_without_a_model_the_test_fails_and_says_what_to_do(pytester: pytest.Pytester) -> None:
    result = run(pytester, ASKING)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*no model to ask again*"])


# --------------------------------------------------------------------------------------------------- replay


@pytest.fixture
def recording(pytester: pytest.Pytester, server: FakeOpenAI, tmp_path: Path) -> Path:
    """Five samples for `ASKING`, exported."""
    run(pytester, ASKING, f"--checkembed-model={MODEL}", f"--checkembed-store={tmp_path / 'r'}").assert_outcomes(
        passed=1
    )
    with SampleStore(tmp_path / "r") as store:
        assert store.export(tmp_path / "recording.jsonl") == 5
    server.reset_counts()
    return tmp_path / "recording.jsonl"


def test_a_replay_asks_nothing_and_an_unrecorded_question_fails(
    pytester: pytest.Pytester, server: FakeOpenAI, recording: Path
) -> None:
    before = set(recording.parent.iterdir())
    test = f"""{ASKING}
    def test_other(checkembed):
        checkembed.assert_trustworthy("Oslo.", input="Where else?", metrics="fact_recurrence", threshold=0.3)
    """

    result = run(
        pytester, test, f"--checkembed-model={MODEL}", f"--checkembed-replay={recording}", "--checkembed-max-calls=1"
    )

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*the store is in replay mode and lacks sample 1 of *",
            "checkembed: 2 answers checked, 0 calls, $0.0000",
        ]
    )
    assert server.chat_requests == 0
    assert set(recording.parent.iterdir()) == before


def test_a_metric_with_a_store_of_its_own_would_ask_past_a_replay(
    pytester: pytest.Pytester, server: FakeOpenAI, recording: Path
) -> None:
    result = run(
        pytester,
        """
        import pytest
        from opik.evaluation.metrics import Equals
        from opik_checkembed import EnsembleMetric, FactRecurrenceMetric, GivenSamples

        own = FactRecurrenceMetric(store=None)
        given = FactRecurrenceMetric(sampler=GivenSamples(), name="given")

        @pytest.mark.parametrize("metric", [own, EnsembleMetric([given, own], name="both", parts=False)])
        def test_refused(checkembed, metric):
            checkembed.assert_trustworthy("Oslo.", input="Where?", metrics=metric, threshold=0.3)

        def test_an_option_of_the_name(checkembed):
            checkembed.assert_trustworthy("Oslo.", input="Where?", metrics="fact_recurrence:store=own", threshold=0.3)

        def test_harmless(checkembed):
            metrics = [given, Equals()]
            limits = ["given<=0.3", "equals_metric>=1"]
            more = {"reference": "In Oslo.", "samples": ["In Oslo.", "In Oslo!"]}
            checkembed.assert_trustworthy("In Oslo.", metrics=metrics, threshold=limits, **more)

        def test_constructed_for_it(checkembed):
            metric = FactRecurrenceMetric(**checkembed.sampling)
            question = "Where was she born?"
            checkembed.assert_trustworthy("Born in Oslo in 1903.", input=question, metrics=metric, threshold=0.3)
        """,
        f"--checkembed-model={MODEL}",
        f"--checkembed-replay={recording}",
    )

    result.assert_outcomes(passed=2, failed=3)
    result.stdout.fnmatch_lines(
        [
            "*ConfigurationError: fact_recurrence was constructed with a store or budget of its own, past the replay "
            "of this session: give its short name, or construct it, and what judges, verifies or splits for it, with *",
        ]
    )
    assert server.chat_requests == 0


JUDGING = """
    import pytest
    from opik_checkembed import LLMVerifier, SelfCheckAPIPromptMetric, SelfConsistencyMetric, SourceNLIMetric
    from opik_checkembed.models.judge import LLMJudge
    from opik_checkembed.models.replies import LLMReplies
    from opik_checkembed.splitters import RuleSplitter

    class AskingSplitter(RuleSplitter):
        llm = LLMReplies("openai/splitter", role="splitter", reply_tokens=9)

        def samplers(self):
            return self.llm.samplers()

    class Rule:
        def read(self, prompts):
            raise AssertionError("not reached")

    own = LLMVerifier("openai/judge")
    llm = {"claims": "llm", "claims_model": "openai/splitter"}
    METRICS = {
        "verifier": lambda sampling: SourceNLIMetric(verifier=own),
        "its judge": lambda sampling: SourceNLIMetric(verifier=LLMVerifier(LLMJudge("openai/judge"))),
        "judge by name": lambda sampling: SourceNLIMetric(judge="openai/judge"),
        "judge": lambda sampling: SourceNLIMetric(judge=LLMJudge("openai/judge")),
        "claim splitter": lambda sampling: SourceNLIMetric(judge=Rule(), **llm),
        "splitter": lambda sampling: SourceNLIMetric(judge=Rule(), splitter=AskingSplitter()),
        "verifier over samples": lambda sampling: SelfConsistencyMetric(verifier=own, **sampling),
        "judge parameters": lambda sampling: SelfConsistencyMetric(
            judge="openai/judge", judge_parameters={"store": None, "budget": None}, **sampling
        ),
        "judge over samples": lambda sampling: SelfCheckAPIPromptMetric(judge=LLMJudge("openai/judge"), **sampling),
        "each item's judge": lambda sampling: SelfCheckAPIPromptMetric(
            judge_parameters={"store": None, "budget": None}, **sampling
        ),
        "splitter over samples": lambda sampling: SelfCheckAPIPromptMetric(splitter=AskingSplitter(), **sampling),
    }
    ITEM = {"input": "Where was she born?", "context": "She was born in Oslo.", "threshold": 0.3}

    @pytest.mark.parametrize("name", METRICS)
    def test_refused(checkembed, name):
        metric = METRICS[name](checkembed.sampling)
        with pytest.raises(ValueError, match="of its own, past the (replay|budget) of this session"):
            checkembed.check("She was born in Oslo in 1903.", metrics=metric, **ITEM)
"""


def test_what_judges_verifies_or_splits_with_a_store_of_its_own_would_ask_past_a_replay(
    pytester: pytest.Pytester, server: FakeOpenAI, recording: Path
) -> None:
    result = run(pytester, JUDGING, f"--checkembed-model={MODEL}", f"--checkembed-replay={recording}")

    result.assert_outcomes(passed=11)
    assert server.chat_requests == 0


def test_what_judges_verifies_or_splits_with_a_budget_of_its_own_would_spend_past_the_sessions(
    pytester: pytest.Pytester, server: FakeOpenAI
) -> None:
    result = run(pytester, JUDGING, f"--checkembed-model={MODEL}", "--checkembed-max-calls=1")

    result.assert_outcomes(passed=11)
    assert server.chat_requests == 0


def test_verifiers_with_the_sessions_store_are_replayed_and_ask_nothing(
    pytester: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = """
        import pytest
        from opik_checkembed import LLMVerifier, SourceNLIMetric

        def verifier(sampling):
            return LLMVerifier("openai/judge", store=sampling["store"], budget=sampling["budget"])

        @pytest.mark.parametrize("answer", ["She was born in Oslo.", "She was born in Rome."])
        def test_answer(checkembed, answer):
            metric = SourceNLIMetric(verifier=verifier(checkembed.sampling))
            checkembed.assert_trustworthy(answer, context="She was born in Oslo.", metrics=metric, threshold=0.3)

        def test_name(checkembed):
            checkembed.assert_trustworthy(
                "She was born in Oslo.", context="She was born in Oslo.", metrics="source_nli:judge=openai/judge",
                threshold=0.3,
            )
    """
    kept = tmp_path / "kept.sqlite3"
    with FakeOpenAI(lambda call: "Yes" if "Rome" not in call.prompt else "No") as judge:
        monkeypatch.setenv("OPENAI_API_BASE", judge.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        run(pytester, test, f"--checkembed-store={kept}").assert_outcomes(passed=2, failed=1)
        # The claim that is not supported is asked about once more.
        assert judge.chat_requests == 3
        with SampleStore(kept) as store:
            store.export(tmp_path / "verdicts.jsonl")
        judge.reset_counts()

        result = run(pytester, test, f"--checkembed-replay={tmp_path / 'verdicts.jsonl'}")
        unheard = test.replace('answer, context="She was born in Oslo.', 'answer, context="She was born in Bergen.')
        missing = run(pytester, unheard, f"--checkembed-replay={tmp_path / 'verdicts.jsonl'}")

        assert judge.chat_requests == 0
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*source_nli is 1, wanted <= 0.3*", "checkembed: 3 answers checked, 0 calls, $0.0000"])
    missing.assert_outcomes(passed=1, failed=2)
    missing.stdout.fnmatch_lines(["*the store is in replay mode and lacks sample 1 of *"])


def test_a_committed_replay_is_recorded_anew_with_a_store(
    pytester: pytest.Pytester, server: FakeOpenAI, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording.rename(pytester.path / "recording.jsonl")
    (pytester.path / "sub").mkdir()
    monkeypatch.chdir(pytester.path / "sub")
    ini = f"checkembed_model = {MODEL}\ncheckembed_replay = recording.jsonl"

    # Beside the ini file, wherever pytest is started.
    run(pytester, ASKING, pytester.path, ini=ini).assert_outcomes(passed=1)
    assert server.chat_requests == 0
    run(pytester, ASKING, pytester.path, "--checkembed-store=new.sqlite3", ini=ini).assert_outcomes(passed=1)

    assert server.chat_requests == 1
    assert (pytester.path / "sub" / "new.sqlite3").exists()


def test_a_missing_recording_is_named(pytester: pytest.Pytester) -> None:
    result = run(pytester, ASKING, "--checkembed-replay=nowhere.jsonl")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: there is no file {pytester.path / 'nowhere.jsonl'} to replay; write one *"])


def test_without_a_model_or_question_the_message_says_what_a_test_writes(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        def test_no_model(checkembed):
            checkembed.assert_trustworthy("Oslo.", input="Where?", metrics=["fact_recurrence"], threshold=0.3)

        def test_samples_are_there(checkembed):
            checkembed.assert_trustworthy("It rains.", samples=["A", "B"], metrics=["fact_recurrence"], threshold=0.3)
        """,
    )

    result.assert_outcomes(failed=2)
    hint = "E       in a test, what was asked is input= or messages=, and the model is model=, *"
    assert str(result.stdout).count("in a test, what was asked") == 1
    result.stdout.fnmatch_lines([hint])


def test_a_markers_number_of_samples_is_a_default_for_those_that_take_it(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import pytest
        from opik_checkembed import FactRecurrenceMetric

        @pytest.mark.checkembed(num_samples=3)
        def test_object(checkembed):
            metric = FactRecurrenceMetric(store=None, track=False)
            checkembed.assert_trustworthy("Oslo.", samples=["Oslo."] * 2, metrics=[metric], threshold=0.3)
        """,
    )

    result.assert_outcomes(passed=1)


# --------------------------------------------------------------------------------------------------- budget


def test_the_budget_is_the_sessions(pytester: pytest.Pytester, server: FakeOpenAI) -> None:
    result = run(
        pytester,
        """
        import pytest
        from opik_checkembed import FactRecurrenceMetric

        @pytest.mark.parametrize("number", [1, 2, 3])
        def test_answer(checkembed, number):
            checkembed.assert_trustworthy(
                "Born in Oslo in 1903.", input=f"Question {number}?", metrics="fact_recurrence", threshold=0.3
            )

        def test_past_it(checkembed):
            metric = FactRecurrenceMetric(**{**checkembed.sampling, "budget": None})
            checkembed.assert_trustworthy("Oslo.", input="Where?", metrics=metric, threshold=0.3)
        """,
        f"--checkembed-model={MODEL}",
        ini="checkembed_max_calls = 2",
    )

    result.assert_outcomes(passed=2, failed=2)
    assert server.answered == 2
    result.stdout.fnmatch_lines(
        [
            "*the budget of 2 calls is used up*",
            "*of its own, past the budget of this session*",
            "checkembed: 3 answers checked, 2 calls, $0.0001",
        ]
    )


def test_a_budget_in_dollars_needs_a_price(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPIK_CHECKEMBED_MAX_COST_USD", "0.5")

    result = run(pytester, ASKING, "--checkembed-model=openai/unheard-of")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*ConfigurationError: max_cost_usd cannot be held: no price is known for *"])


@pytest.mark.parametrize(
    ("arguments", "ini", "said"),
    [
        (["--checkembed-max-calls=few"], "", "--checkembed-max-calls must be a whole number above 0, not 'few'"),
        (["--checkembed-max-calls=2.5"], "", "--checkembed-max-calls must be a whole number above 0, not '2.5'"),
        ([], "checkembed_max_calls = 0", "checkembed_max_calls must be a whole number above 0, not '0'"),
        (["--checkembed-max-cost-usd=nan"], "", "--checkembed-max-cost-usd must be a number above 0, not 'nan'"),
        ([], "checkembed_max_cost_usd = -1", "checkembed_max_cost_usd must be a number above 0, not '-1'"),
    ],
)
def test_a_limit_that_is_none_stops_the_run(
    pytester: pytest.Pytester, arguments: list[str], ini: str, said: str
) -> None:
    result = run(pytester, ASKING, *arguments, ini=ini)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {said}"])


# ------------------------------------------------------------------------------------------- how it is loaded

PROGRAM = """
import json, sys
import pytest

def modules(*arguments):
    assert pytest.main(["-q", "test_nothing.py", *arguments]) == 0
    return set(sys.modules)

bare = modules()
print(json.dumps(sorted(modules("-p", "opik_checkembed.pytest_plugin") - bare)))
"""


def test_loading_the_plugin_loads_nothing_else(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_nothing="def test_nothing(): pass")

    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=True, cwd=pytester.path
    )

    added = set(json.loads(ran.stdout.splitlines()[-1]))
    ours = {name for name in added if name.partition(".")[0] == "opik_checkembed"}
    assert ours == {
        "opik_checkembed",
        "opik_checkembed._lazy",
        "opik_checkembed._version",
        "opik_checkembed.errors",
        "opik_checkembed.pytest_plugin",
    }
    assert {name for name in added - ours if name.partition(".")[0] not in sys.stdlib_module_names} == set()


def test_the_benchmark_times_it() -> None:
    assert plugin_milliseconds(rounds=1) > 0


def test_an_entry_point_loads_it_once_and_can_be_turned_off(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As an installed distribution has it; where this package is installed with its own, they are two of one name.
    folder = pytester.mkdir("installed") / "somewhere-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: somewhere\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[pytest11]\ncheckembed = opik_checkembed.pytest_plugin\n")
    (folder / "RECORD").touch()
    monkeypatch.syspath_prepend(str(folder.parent))
    pytester.makepyfile(
        """
        import opik_checkembed.pytest_plugin as plugin

        def test_plugins(request):
            names = [name for name, one in request.config.pluginmanager.list_name_plugin() if one is plugin]
            assert names == ["checkembed"]
            assert request.getfixturevalue("checkembed")
        """
    )

    twice = pytester.runpytest_inprocess("-p", "checkembed", "-p", "checkembed")
    off = pytester.runpytest_inprocess("-p", "checkembed", "-p", "no:checkembed")

    twice.assert_outcomes(passed=1)
    off.assert_outcomes(failed=1)


def test_help_and_markers_tell_what_there_is(pytester: pytest.Pytester) -> None:
    markers = pytester.runpytest_inprocess(*PLUGIN, "--markers")
    options = pytester.runpytest_inprocess(*PLUGIN, "--help")

    markers.stdout.fnmatch_lines(["@pytest.mark.checkembed(metrics=..., threshold=..., model=..., num_samples=...*"])
    options.stdout.fnmatch_lines(["*--checkembed-replay=FILE*", "*checkembed_max_calls (string):*"])


# -------------------------------------------------------------------------------------------------- xdist

# Opik imports it where it is installed, and with it torch: seconds that a worker has no use for.
CONFTEST = """
    import sys
    sys.modules["bert_score"] = None
"""


def test_workers_hand_over_what_they_did_but_one_that_crashed(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    pytester.makeconftest(CONFTEST)
    answers = """
        import pytest
        from opik_checkembed import FactRecurrenceMetric, TaskSampler

        @pytest.mark.parametrize("number", [1, 2])
        def test_answer(checkembed, worker_id, number):
            assert worker_id.startswith("gw")
            metric = FactRecurrenceMetric(sampler=TaskSampler(lambda item: "Born in Oslo."), num_samples=3)
            checkembed.assert_trustworthy("She was born in Oslo.", input="Where?", metrics=metric, threshold=0.3)
    """
    pytester.makepyfile(
        test_a="import os\ndef test_crash(): os._exit(1)",
        test_b=answers,
        test_c=answers,
    )

    # The crash is the first test of its worker, which has done nothing else then.
    result = pytester.runpytest_subprocess("-p", "xdist", *PLUGIN, "-n", "2", timeout=120)

    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(
        ["checkembed: 4 answers checked, 12 calls, cost unknown; without what 1 crashed workers did"]
    )
