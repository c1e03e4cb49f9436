"""CheckEmbed inside the real Opik SDK, against an Opik and an OpenAI that are real servers on 127.0.0.1."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import opik
import pytest
from opik.evaluation.metrics.score_result import ScoreResult
from opik.evaluation.models import LiteLLMChatModel

from opik_checkembed import Budget, CheckEmbedMetric, LiteLLMSampler, TaskSampler
from opik_checkembed.testing import ChatCall, FakeOpenAI, FakeOpik

NAMES = ("first", "second", "third")
# litellm's price of gpt-4o-mini, in dollars a token.
PROMPT_PRICE, COMPLETION_PRICE = 0.15e-6, 0.6e-6


def answer_differently(number: Iterator[int]) -> Any:
    return lambda _: f"A{next(number)}"


@pytest.fixture
def answers() -> Any:
    return answer_differently(itertools.count())


def parameters(server: FakeOpenAI) -> dict[str, Any]:
    return {"api_base": server.base_url, "api_key": "none"}


def answer(item: Mapping[str, Any]) -> dict[str, str]:
    return {"output": f"A answer to {item['input']}", "model": "openai/gpt-4o-mini"}


def evaluate(dataset: Any, metrics: list[Any], **more: Any) -> list[ScoreResult]:
    arguments = {"task": answer, "task_threads": 16, "verbose": 0, **more}
    result = opik.evaluate(dataset=dataset, scoring_metrics=metrics, **arguments)
    return [score for test in result.test_results for score in test.score_results]


def origins(scores: list[ScoreResult]) -> Counter[str]:
    return Counter(sample["origin"] for score in scores for sample in (score.metadata or {})["samples"]["samples"])


# ------------------------------------------------------------------------ one sample set for three metrics


@pytest.mark.parametrize(("n", "requests"), [("reject", 50), ("honour", 10)])
def test_thirty_metric_runs_buy_fifty_answers_and_a_second_run_none(
    n: Literal["reject", "honour"], requests: int, ten_questions: Any, embedder: Any, answers: Any, tmp_path: Path
) -> None:
    with FakeOpenAI(answers, n=n, latency=0.02) as server:

        def run() -> list[ScoreResult]:
            return evaluate(
                ten_questions,
                [
                    CheckEmbedMetric(
                        name=name,
                        embedder=embedder,
                        store=tmp_path / "store",
                        model_parameters=parameters(server),
                        heatmap=False,
                    )
                    for name in NAMES
                ],
            )

        scores = run()

        assert Counter(score.name for score in scores) == dict.fromkeys(NAMES, 10)
        assert not any(score.scoring_failed for score in scores)
        assert (server.answered, server.choices) == (requests, 50)
        assert server.max_in_flight <= 8
        # Refusals of n bring no answer; at most those in flight before the first one came.
        assert sum(call.status == 400 for call in server.calls) == (0 if n == "honour" else server.chat_requests - 50)
        assert server.chat_requests - requests <= 8
        assert origins(scores) == {"asked": 50, "from store": 100}

        server.reset_counts()
        again = run()

        assert server.chat_requests == 0
        assert origins(again) == {"from store": 150}
        assert [score.value for score in again] == pytest.approx([1.0] * 30)


SCRIPT = """
    import sys
    # Opik imports it where it is installed, and with it torch: seconds that this script has no use for.
    sys.modules["bert_score"] = None
    import numpy as np
    import opik
    from opik_checkembed import CheckEmbedMetric

    class FirstLetter:
        def encode(self, texts):
            return np.eye(128, dtype=np.float32)[[ord(text[0]) % 128 for text in texts]]

    def answer(item):
        return {"output": "A", "model": "openai/fake"}

    if __name__ == "__main__":
        base_url, store = sys.argv[1:]
        client = opik.get_global_client()
        result = opik.evaluate(
            dataset=client.get_dataset("ten questions"),
            task=answer,
            scoring_metrics=[
                CheckEmbedMetric(
                    name=name,
                    embedder=FirstLetter(),
                    store=store,
                    heatmap=False,
                    model_parameters={"api_base": base_url, "api_key": "none"},
                )
                for name in ("first", "second", "third")
            ],
            verbose=0,
        )
        scores = [score for test in result.test_results for score in test.score_results]
        assert len(scores) == 30 and not any(score.scoring_failed for score in scores), scores
"""


@pytest.mark.parametrize(("n", "fast", "requests"), [("reject", 20, 50), ("honour", 4, 10)])
def test_a_killed_run_pays_again_only_for_calls_in_flight(
    n: Literal["reject", "honour"],
    fast: int,
    requests: int,
    opik_server: FakeOpik,
    ten_questions: Any,
    answers: Any,
    tmp_path: Path,
) -> None:
    script = tmp_path / "run.py"
    script.write_text(textwrap.dedent(SCRIPT))
    resumed = threading.Event()
    bought = itertools.count()

    def latency(_: ChatCall) -> float:
        # Only what is answered comes here: some at once, the rest is under way when the process is killed.
        return 0.0 if resumed.is_set() or next(bought) < fast else 600.0

    with FakeOpenAI(answers, n=n, latency=latency) as server:
        command = [sys.executable, str(script), server.base_url, str(tmp_path / "store")]
        environment = {**os.environ, **opik_server.environment()}
        with subprocess.Popen(command, env=environment) as process:
            server.wait_until(lambda s: s.answered == fast and s.in_flight == min(8, requests - fast), timeout=120)
            process.send_signal(signal.SIGKILL)
        server.wait_until(lambda s: s.in_flight == 0)
        resumed.set()

        finished = subprocess.run(command, env=environment, check=False, timeout=120)

        assert finished.returncode == 0
        billed = sum(call.status != 400 for call in server.calls)
        assert requests <= billed <= requests + 8
        # An answer sent in the moment of the kill may not have reached the store.
        assert server.choices >= 50


# ----------------------------------------------------------------------------------------- spans and costs


@pytest.mark.parametrize("n", ["reject", "honour"])
def test_the_costs_of_all_spans_add_up_to_what_was_paid(
    n: Literal["reject", "honour"],
    client: opik.Opik,
    opik_server: FakeOpik,
    embedder: Any,
    answers: Any,
    tmp_path: Path,
) -> None:
    dataset = client.get_or_create_dataset("pairs")
    # Each question twice, so that two items ask the same at the same time.
    dataset.insert([{"input": f"Question {row // 2}?", "row": row} for row in range(6)])
    with FakeOpenAI(answers, n=n, latency=0.1, usage=lambda _, given: (100, 20 * len(given))) as server:
        metrics = [
            CheckEmbedMetric(
                name=name,
                embedder=embedder,
                store=tmp_path / "store",
                model_parameters=parameters(server),
                heatmap=False,
            )
            for name in NAMES
        ]
        scores = evaluate(dataset, metrics)
        calls = [call for call in server.calls if call.status == 200]

    paid = sum(100 * PROMPT_PRICE + 20 * call.choices * COMPLETION_PRICE for call in calls)
    spans = [span for span in opik_server.spans if span.type == "llm"]
    assert sum(call.choices for call in calls) == 15
    assert len(spans) == len(calls)
    assert opik_server.total_cost() == pytest.approx(paid, rel=1e-9)
    assert sum((score.metadata or {})["samples"]["cost_usd"] for score in scores) == pytest.approx(paid, rel=1e-9)
    names = {span.id: span.name for span in opik_server.spans}
    for span in spans:
        assert names[str(span.parent_span_id)] in NAMES
        assert (span.model, span.provider) == ("gpt-4o-mini", "openai")
        assert span.usage["prompt_tokens"] == 100
        assert span.metadata["parameters"]["temperature"] == 1.0
        assert span.input["messages"][0]["content"].startswith("Question")
        assert "none" not in str(span.data)
    # Six items with three metrics each: one of them paid, whoever came meanwhile or later did not.
    seen = origins(scores)
    assert seen["asked"] == 15
    assert seen["asked"] + seen["shared"] + seen["from store"] == 90
    assert set(seen) <= {"asked", "shared", "from store"}


def test_a_call_that_fails_for_good_leaves_a_span_with_its_error(
    client: opik.Opik, opik_server: FakeOpik, embedder: Any, tmp_path: Path
) -> None:
    from opik_checkembed.testing import Fault

    dataset = client.get_or_create_dataset("one")
    dataset.insert([{"input": "Which?"}])
    with FakeOpenAI(faults=lambda _: Fault.http(401)) as server:
        metric = CheckEmbedMetric(embedder=embedder, store=tmp_path / "s", model_parameters=parameters(server))
        (score,) = evaluate(dataset, [metric])

    assert score.scoring_failed
    (span,) = [span for span in opik_server.spans if span.type == "llm"]
    assert span.error_info is not None
    assert "Incorrect API key" in span.error_info["message"]
    assert span.output is None
    # A failed score is not uploaded.
    assert opik_server.scores == []


# ------------------------------------------------------------------------------------ scores and pictures


def test_scores_reference_and_heatmap_arrive(
    client: opik.Opik, opik_server: FakeOpik, embedder: Any, tmp_path: Path
) -> None:
    dataset = client.get_or_create_dataset("one")
    dataset.insert([{"input": "Which?", "reference": "B it is"}])
    with FakeOpenAI(["A1", "A2", "A3", "B4"]) as server:
        metric = CheckEmbedMetric(
            embedder=embedder,
            num_samples=4,
            samples_only=True,
            store=tmp_path / "store",
            model_parameters=parameters(server),
        )
        evaluate(dataset, [metric])

    values = {score.name: score.value for score in opik_server.scores}
    assert values == {
        # Of ten pairs of five answers four are apart.
        "checkembed_metric": pytest.approx(((6 + 4 * 0.25) / 10) ** 0.5),
        "checkembed_metric_reference": pytest.approx(0.5),
        # Of six pairs of four samples three are apart.
        "checkembed_metric_samples_only": pytest.approx(((3 + 3 * 0.25) / 6) ** 0.5),
    }
    reasons = {score.name: str(score.reason) for score in opik_server.scores}
    assert "The output and 4 samples agree at mean 0.600, std 0.490, min 0.000" in reasons["checkembed_metric"]
    assert "not confident by the rule mean > 0.9 and std < 0.05" in reasons["checkembed_metric"]
    assert "least alike is sample 4 at 0.000" in reasons["checkembed_metric"]
    assert "0.500 close to the reference (0 to 1, higher is better)" in reasons["checkembed_metric_reference"]
    (attached,) = opik_server.attachments
    assert (attached.file_name, attached.content_type) == ("checkembed_metric.png", "image/png")
    assert attached.data is not None
    assert attached.data.startswith(b"\x89PNG\r\n\x1a\n")
    assert {span.id: span.name for span in opik_server.spans}[attached.entity_id] == "checkembed_metric"


def test_no_heatmap_where_none_is_wanted_or_nothing_records(
    client: opik.Opik, opik_server: FakeOpik, embedder: Any
) -> None:
    dataset = client.get_or_create_dataset("one")
    dataset.insert([{"input": "Which?", "samples": ["A1", "A2"]}])

    scores = evaluate(dataset, [CheckEmbedMetric(embedder=embedder, heatmap=False)])

    assert scores[0].value == pytest.approx(1.0)
    assert opik_server.attachments == []


def test_long_texts_are_read_in_windows_and_the_reason_says_so() -> None:
    metric = CheckEmbedMetric(track=False)
    long = "Ernst Öpik was an Estonian astronomer who worked at Armagh. " * 60

    result = metric.score(output=long, samples=["Ernst Öpik was an Estonian astronomer.", "An astronomer."])

    assert isinstance(result, ScoreResult)
    assert not result.scoring_failed
    assert "1 of 3 texts are longer than the embedder reads and were read in windows (" in str(result.reason)
    assert (result.metadata or {})["evidence"]["windows"][0] > 1


# ---------------------------------------------------------------------------------------- the entry points


def test_evaluate_prompt(client: opik.Opik, opik_server: FakeOpik, embedder: Any, answers: Any, tmp_path: Path) -> None:
    dataset = client.get_or_create_dataset("one")
    dataset.insert([{"question": "Which?"}, {"question": "What?"}])
    with FakeOpenAI(answers) as server:
        metric = CheckEmbedMetric(
            "openai/gpt-4o-mini", embedder=embedder, store=tmp_path / "s", model_parameters=parameters(server)
        )
        result = opik.evaluate_prompt(
            dataset=dataset,
            messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Say: {{question}}"}],
            model=LiteLLMChatModel("openai/gpt-4o-mini", **parameters(server)),
            scoring_metrics=[metric],
            verbose=0,
            task_threads=4,
        )
        sampled = [call.body for call in server.calls if call.body.get("n") == 5]

    assert [score.value for test in result.test_results for score in test.score_results] == pytest.approx([1.0, 1.0])
    assert sorted(str(body["messages"]) for body in sampled) == sorted(
        str([{"role": "system", "content": "Be brief."}, {"role": "user", "content": f"Say: {question}"}])
        for question in ("Which?", "What?")
    )


def test_evaluate_experiment_scores_a_logged_run_again(
    ten_questions: Any, opik_server: FakeOpik, embedder: Any, answers: Any, tmp_path: Path
) -> None:
    opik.evaluate(dataset=ten_questions, task=answer, experiment_name="logged", verbose=0)
    runs: list[dict[str, Any]] = []

    def task(item: dict[str, Any]) -> str:
        runs.append(item)
        return f"B{len(runs)}"

    with FakeOpenAI(answers) as server:
        result = opik.evaluate_experiment(
            experiment_name="logged",
            scoring_metrics=[
                CheckEmbedMetric(embedder=embedder, store=tmp_path / "s", model_parameters=parameters(server)),
                CheckEmbedMetric(name="task", embedder=embedder, num_samples=2, sampler=TaskSampler(task)),
            ],
            verbose=0,
        )

    scores = [score for test in result.test_results for score in test.score_results]
    assert server.choices == 50
    assert [score.value for score in scores if score.name == "checkembed_metric"] == pytest.approx([1.0] * 10)
    # The output is apart from two samples that agree.
    assert [score.value for score in scores if score.name == "task"] == pytest.approx([0.5**0.5] * 10)
    # The task got the dataset item, not what a metric sees.
    assert {frozenset(run) - {"id"} for run in runs} == {frozenset({"input"})}


def test_two_trials_of_an_item_share_its_samples(
    ten_questions: Any, embedder: Any, answers: Any, tmp_path: Path
) -> None:
    with FakeOpenAI(answers, latency=0.05) as server:
        metric = CheckEmbedMetric(
            embedder=embedder, store=tmp_path / "s", model_parameters=parameters(server), heatmap=False
        )
        scores = evaluate(ten_questions, [metric], trial_count=2)

        assert len(scores) == 20
        assert server.choices == 50


def test_ascore_in_a_running_loop(embedder: Any, answers: Any, tmp_path: Path) -> None:
    async def both() -> list[Any]:
        return list(await asyncio.gather(*(metric.ascore(input=f"Q{n}", output="A") for n in range(2))))

    with FakeOpenAI(answers) as server:
        metric = CheckEmbedMetric(
            "openai/fake",
            embedder=embedder,
            store=tmp_path / "s",
            model_parameters=parameters(server),
            track=False,
        )
        results = asyncio.run(both())

        assert [result.value for result in results] == pytest.approx([1.0, 1.0])
        assert server.choices == 10


# --------------------------------------------------------------------------------- what the task's trace says


class TestRequestFromTrace:
    @pytest.fixture
    def dataset(self, client: opik.Opik) -> Any:
        dataset: Any = client.get_or_create_dataset("one")
        dataset.insert([{"input": "Which?"}])
        return dataset

    @pytest.fixture
    def server(self, answers: Any) -> Iterator[FakeOpenAI]:
        with FakeOpenAI(answers) as server:
            yield server

    def metric(self, embedder: Any, tmp_path: Path, **more: Any) -> CheckEmbedMetric:
        return CheckEmbedMetric(embedder=embedder, request_from="trace", store=tmp_path / "s", heatmap=False, **more)

    def task(self, server: FakeOpenAI, calls: int = 1, **output: Any) -> Any:
        from opik.integrations.litellm import track_completion

        def ask(item: Mapping[str, Any]) -> dict[str, Any]:
            import litellm

            said = "A"
            for _ in range(calls):
                response = track_completion()(litellm.completion)(
                    model="openai/gpt-4o-mini",
                    messages=[{"role": "user", "content": f"Please: {item['input']}"}],
                    max_tokens=50,
                    temperature=0,
                    **parameters(server),
                )
                said = response.choices[0].message.content
            return {"output": said, **output}

        return ask

    def test_model_messages_and_parameters_come_from_the_span(
        self, dataset: Any, server: FakeOpenAI, embedder: Any, tmp_path: Path
    ) -> None:
        metric = self.metric(embedder, tmp_path, model_parameters=parameters(server))
        (score,) = evaluate(dataset, [metric], task=self.task(server))

        assert score.value == pytest.approx(1.0), score.reason
        task_call, sampling = (call.body for call in server.calls)
        assert sampling == {**task_call, "n": 5, "temperature": 1.0}

    def test_what_the_task_names_wins_over_the_trace(
        self, dataset: Any, server: FakeOpenAI, embedder: Any, tmp_path: Path
    ) -> None:
        named: dict[str, Any] = {"model_name": "openai/other", "messages": [{"role": "user", "content": "Really?"}]}
        metric = self.metric(embedder, tmp_path, model_parameters=parameters(server))
        evaluate(dataset, [metric], task=self.task(server, **named))

        assert server.calls[1].body["model"] == "other"
        assert server.calls[1].body["messages"] == named["messages"]
        assert server.calls[1].body["max_tokens"] == 50

    def test_a_model_given_to_the_metric_wins_over_the_trace(
        self, dataset: Any, server: FakeOpenAI, embedder: Any, tmp_path: Path
    ) -> None:
        metric = self.metric(embedder, tmp_path, model="openai/mine", model_parameters=parameters(server))
        evaluate(dataset, [metric], task=self.task(server))

        assert server.calls[1].body["model"] == "mine"
        assert server.calls[1].body["messages"] == server.calls[0].body["messages"]

    @pytest.mark.parametrize("calls", [0, 2])
    def test_no_span_or_several_are_a_named_failure(
        self, calls: int, dataset: Any, server: FakeOpenAI, embedder: Any, tmp_path: Path
    ) -> None:
        metric = self.metric(embedder, tmp_path, model_parameters=parameters(server))
        (score,) = evaluate(dataset, [metric], task=self.task(server, calls))

        assert score.scoring_failed
        assert f"the task's trace holds {calls} LLM spans" in str(score.reason)
        assert server.chat_requests == calls

    def test_a_prompt_goes_to_no_other_server(
        self, dataset: Any, server: FakeOpenAI, embedder: Any, tmp_path: Path
    ) -> None:
        with FakeOpenAI() as other:
            metric = self.metric(embedder, tmp_path, model_parameters=parameters(other))
            (score,) = evaluate(dataset, [metric], task=self.task(server))

            assert score.scoring_failed
            assert f"the task called the server {server.base_url}" in str(score.reason)
            assert f"model_parameters={{'api_base': '{server.base_url}'" in str(score.reason)
            assert other.chat_requests == 0

    def test_a_model_object_is_asked_what_the_trace_says(
        self, dataset: Any, server: FakeOpenAI, embedder: Any, tmp_path: Path
    ) -> None:
        model = LiteLLMChatModel("openai/gpt-4o-mini", **parameters(server))
        metric = self.metric(embedder, tmp_path, model=model)
        (score,) = evaluate(dataset, [metric], task=self.task(server))

        assert score.value == pytest.approx(1.0)
        assert server.calls[1].body["messages"] == server.calls[0].body["messages"]

    def test_given_samples_need_no_trace(
        self, client: opik.Opik, server: FakeOpenAI, embedder: Any, tmp_path: Path
    ) -> None:
        dataset = client.get_or_create_dataset("given")
        dataset.insert([{"input": "Which?", "samples": ["A1", "A2"]}])
        (score,) = evaluate(dataset, [self.metric(embedder, tmp_path)])

        assert score.value == pytest.approx(1.0)
        assert server.chat_requests == 0

    def test_without_a_trace_it_says_what_to_do(self, embedder: Any, tmp_path: Path) -> None:
        metric = self.metric(embedder, tmp_path, track=False)
        result = metric.score(input="Which?", output="A")

        assert isinstance(result, ScoreResult)
        assert result.scoring_failed


# ------------------------------------------------------------------------------------------------- budgets


def test_when_the_budget_is_reached_the_rest_fails_and_what_was_bought_is_kept(
    ten_questions: Any, embedder: Any, answers: Any, tmp_path: Path
) -> None:
    with FakeOpenAI(answers, latency=0.02) as server:

        def metric(budget: Budget | None) -> CheckEmbedMetric:
            return CheckEmbedMetric(
                embedder=embedder,
                store=tmp_path / "s",
                budget=budget,
                model_parameters={**parameters(server), "max_tokens": 100},
                heatmap=False,
            )

        scores = evaluate(ten_questions, [metric(Budget(max_calls=4))])

        failed = [score for score in scores if score.scoring_failed]
        assert len(failed) == 6
        assert all("the budget of 4 calls is used up" in str(score.reason) for score in failed)
        assert server.choices == 20

        evaluate(ten_questions, [metric(None)])
        assert server.choices == 50


def test_dollars_bound_a_run_even_with_many_calls_in_flight(
    ten_questions: Any, embedder: Any, answers: Any, tmp_path: Path
) -> None:
    budget = Budget(max_cost_usd=0.001)
    with FakeOpenAI(answers, n="reject", latency=0.02, usage=lambda *_: (10, 100)) as server:
        metric = CheckEmbedMetric(
            embedder=embedder,
            store=tmp_path / "s",
            budget=budget,
            model_parameters={**parameters(server), "max_tokens": 100},
            heatmap=False,
        )
        scores = evaluate(ten_questions, [metric])

        paid = server.answered * (10 * PROMPT_PRICE + 100 * COMPLETION_PRICE)
        assert 0.0008 < paid <= 0.001
        assert budget.spent_usd == pytest.approx(paid)
        assert budget.calls == server.answered
        assert any("has no room for a call" in str(score.reason) for score in scores)


# --------------------------------------------------------------------------------- nothing of the caller's


def test_nothing_that_the_caller_owns_is_changed(
    ten_questions: Any, embedder: Any, answers: Any, tmp_path: Path
) -> None:
    import litellm

    messages = [{"role": "user", "content": [{"type": "text", "text": "Which?"}]}]
    given: dict[str, Any] = {"max_tokens": 30, "stop": ["."]}
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]
    item = {"messages": messages, "output": "A", "model_parameters": given, "tools": tools, "model": "openai/fake"}
    before = repr(item), dict(os.environ), list(litellm.callbacks), list(litellm.success_callback)
    with FakeOpenAI(answers) as server:
        own = parameters(server)
        metric = CheckEmbedMetric(embedder=embedder, store=tmp_path / "s", model_parameters=own, track=False)
        result = metric.score(**item)

        assert isinstance(result, ScoreResult)
        assert result.value == pytest.approx(1.0)
        assert own == parameters(server)
        assert server.calls[0].body["tools"] == tools
        assert server.calls[0].body["stop"] == ["."]
    assert (repr(item), dict(os.environ), list(litellm.callbacks), list(litellm.success_callback)) == before


def test_sampler_and_metric_can_be_made_apart(embedder: Any, answers: Any, tmp_path: Path) -> None:
    with FakeOpenAI(answers) as server:
        sampler = LiteLLMSampler("openai/fake", store=tmp_path / "s", **parameters(server))
        for name in NAMES:
            metric = CheckEmbedMetric(name=name, embedder=embedder, sampler=sampler, track=False)
            result = metric.score(input="Which?", output="A")
            assert isinstance(result, ScoreResult)
            assert (result.name, result.value) == (name, pytest.approx(1.0))

        assert server.choices == 5
