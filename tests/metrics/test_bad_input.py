"""Inputs nobody should send, each with its own clear result; none ever raises out of a metric."""

from __future__ import annotations

import inspect
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opik.evaluation.metrics.score_result import ScoreResult

from opik_checkembed import CheckEmbedMetric, LiteLLMSampler, SampleStore
from opik_checkembed.errors import ConfigurationError, StoreError
from opik_checkembed.metrics.base import SampledMetric
from opik_checkembed.testing import FakeOpenAI

ABSENT = object()


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(answers=["A1", "A2", "A3", "A4", "A5"]) as server:
        yield server


@pytest.fixture
def metric(server: FakeOpenAI, embedder: Any, tmp_path: Path) -> CheckEmbedMetric:
    return CheckEmbedMetric(
        "openai/fake",
        embedder=embedder,
        store=tmp_path / "store",
        model_parameters={"api_base": server.base_url, "api_key": "none"},
        track=False,
    )


def first(result: ScoreResult | list[ScoreResult]) -> ScoreResult:
    found = result[0] if isinstance(result, list) else result
    assert found.reason is not None
    return found


FAILURES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no output": ({"output": ABSENT}, ["there is no `output`", "scoring_key_mapping={'output': 'your_field'}"]),
    "output None": ({"output": None}, ["`output` is None", "the task returned no answer"]),
    "output empty": ({"output": ""}, ["`output` is empty"]),
    "output blank": ({"output": " \n\t"}, ["`output` is blank"]),
    "output a dict": ({"output": {"text": "A"}}, ["`output` is a dict, not text", "item['output']['text']"]),
    "output a number": ({"output": 42}, ["`output` is a int, not text"]),
    "output a list of texts": ({"output": ["A"]}, ["`output` is a list, not text"]),
    "output only an image": (
        {"output": [{"type": "image_url", "image_url": {"url": "u"}}]},
        ["`output` holds no text"],
    ),
    "output a refusal": (
        {"output": "I'm sorry, but I can't assist with that request."},
        ["the judged output is a refusal (\"I'm sorry, but I can't assist with that request.\")"],
    ),
    "output a long refusal": (
        {"output": "I'm sorry, but I can't help with that. " + "Really. " * 20},
        ["is a refusal", "Really. Really. Real…"],
    ),
    "no input": (
        {"input": ABSENT, "topic": "x"},
        [
            "there is no `input`, `question` or `messages`",
            "scoring_key_mapping={'input': 'your_field'}",
            "(fields here: output, topic)",
        ],
    ),
    "input None": ({"input": None}, ["there is no `input`"]),
    "input empty": ({"input": ""}, ["`input` is empty"]),
    "input a dict": ({"input": {"q": "Which?"}}, ["`input` is neither text nor a list of messages"]),
    "input a number": ({"input": 7}, ["`input` is neither text nor a list of messages"]),
    "messages of no use": ({"messages": [{"text": "Which?"}]}, ["`messages` is neither text nor a list of messages"]),
    "messages end with another answer": (
        {"messages": [{"role": "user", "content": "Which?"}, {"role": "assistant", "content": "B"}]},
        ["ends with an assistant message that is not the judged output"],
    ),
    "a system prompt that is no text": ({"system_prompt": 3}, ["`system_prompt` is a int"]),
    "a model that is no name": ({"model": 3}, ["`model` must be a model's name"]),
    "a model nobody knows": ({"model": "no-such-model"}, ["5 of 5 samples failed", "no-such-model"]),
    "parameters that are none": ({"model_parameters": 3}, ["`model_parameters` must be a dict"]),
    "a server from the data": ({"model_parameters": {"api_base": "http://127.0.0.1:9"}}, ["api_base", "constructor"]),
    "a key from the data": ({"model_parameters": {"api_key": "sk-1"}}, ["api_key", "constructor"]),
    "tools that are none": ({"tools": "search"}, ["`tools` must be a list"]),
    "a request without a JSON form": ({"model_parameters": {"top_p": {1, 2}}}, ["cannot be written as JSON"]),
    "samples a text": ({"samples": "A1"}, ["`samples` must be a list of texts, not str"]),
    "samples a number": ({"samples": 5}, ["`samples` must be a list of texts, not int"]),
    "samples empty": ({"samples": []}, ["`samples` is empty: leave the field out"]),
    "samples all empty": (
        {"samples": ["", " "]},
        ["0 of 2 samples are usable, 2 are needed", "2 of 2 samples left out: empty"],
    ),
    "samples no text": (
        {"samples": [1, None, {"a": 1}]},
        ["0 of 3 samples are usable", "3 of 3 samples left out: not text"],
    ),
    "a single sample": ({"samples": ["A1"]}, ["1 of 1 samples are usable, 2 are needed"]),
    "half a surrogate pair": ({"output": "A\ud83d", "samples": ["A1", "A2"]}, ["half of a surrogate pair"]),
}


@pytest.mark.parametrize(("fields", "says"), FAILURES.values(), ids=FAILURES)
def test_a_bad_item_is_a_failed_score_that_says_what_to_do(
    fields: dict[str, Any], says: list[str], metric: CheckEmbedMetric, server: FakeOpenAI
) -> None:
    given = {"input": "Which?", "output": "A0", **fields}
    result = first(metric.score(**{name: value for name, value in given.items() if value is not ABSENT}))

    assert result.scoring_failed
    assert result.name == "checkembed_metric"
    for text in says:
        assert text in str(result.reason)
    assert server.chat_requests == 0


SCORED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "content parts": ({"output": [{"type": "text", "text": "A0"}]}, []),
    "content parts with an image": (
        {"output": [{"type": "text", "text": "A0"}, {"type": "image_url", "image_url": {"url": "u"}}]},
        ["1 of the 2 parts of `output` are not text and were not read"],
    ),
    "input of parts": ({"input": [{"type": "text", "text": "Which?"}]}, []),
    "input of messages": ({"input": [{"role": "user", "content": "Which?"}]}, []),
    "200,000 characters": ({"output": "A" * 200_000}, []),
    "200,000 characters asked": ({"input": "w" * 200_000}, []),
    "the tutorial's names": ({"input": ABSENT, "output": ABSENT, "question": "Which?", "answer": "A0"}, ["`answer`"]),
    "an answer beside the output": ({"answer": "B"}, []),
    "context": ({"context": ["Some text."]}, ["`context` was not part of the repeated request"]),
    "reference empty": ({"reference": ""}, ["`reference` holds no text and was not compared"]),
    "reference a list": ({"reference": ["A"]}, ["`reference` holds no text and was not compared"]),
    "what Opik adds": ({"id": "1", "task_span": object(), "trace_tool_context": object()}, []),
    "samples with odd entries": ({"samples": ["A1", "", 3, {"text": "A2"}, " "]}, ["2 of 5 samples left out: empty"]),
}


@pytest.mark.parametrize(("fields", "says"), SCORED.values(), ids=SCORED)
def test_an_unusual_item_is_scored(fields: dict[str, Any], says: list[str], metric: CheckEmbedMetric) -> None:
    given = {"input": "Which?", "output": "A0", **fields}
    result = first(metric.score(**{name: value for name, value in given.items() if value is not ABSENT}))

    assert not result.scoring_failed
    assert result.value == pytest.approx(1.0, abs=1e-6)
    for text in says:
        assert text in str(result.reason)


@pytest.mark.parametrize("text", ["🎈🎈", "東京です。", "ﷺ", "\u200d"])
def test_every_script_is_text(text: str, metric: CheckEmbedMetric) -> None:
    result = first(metric.score(input="Which?", output=text, samples=[text, text + "!", text]))

    assert not result.scoring_failed
    assert result.value == pytest.approx(1.0, abs=1e-6)


def test_an_embedder_that_cannot_tell_texts_apart_is_named(metric: CheckEmbedMetric) -> None:
    class OneNumber:
        def encode(self, texts: Any) -> Any:
            return [[1.0] for _ in texts]

    flat = CheckEmbedMetric(embedder=OneNumber(), similarity="pearson", track=False)
    result = first(flat.score(output="A0", samples=["A1", "A2"]))

    assert result.scoring_failed
    assert "the embeddings cannot be compared" in str(result.reason)


ARGUMENTS: dict[str, tuple[dict[str, Any], str]] = {
    "k = 0": ({"num_samples": 0}, "num_samples must be a whole number of at least 2, not 0"),
    "k = 1": ({"num_samples": 1}, "num_samples must be a whole number of at least 2, not 1"),
    "k = -1": ({"num_samples": -1}, "not -1"),
    "k = '5'": ({"num_samples": "5"}, "not '5'"),
    "k = 5.0": ({"num_samples": 5.0}, r"not 5\.0"),
    "k = True": ({"num_samples": True}, "not True"),
    "min_samples = 1": ({"min_samples": 1}, "min_samples must be a whole number of at least 2"),
    "min_samples above k": ({"min_samples": 6}, r"min_samples \(6\) cannot exceed num_samples \(5\)"),
    "request_from": ({"request_from": "span"}, "request_from must be 'fields' or 'trace', not 'span'"),
    "model a number": ({"model": 5}, "model must be an OpikBaseModel, not int"),
    "model empty": ({"model": " "}, "model must be a name that litellm routes"),
    "temperature": ({"temperature": 3}, "temperature must be between 0 and 2, or None, not 3"),
    "temperature a bool": ({"temperature": True}, "temperature must be"),
    "timeout": ({"timeout": 0}, "timeout must be a positive number of seconds"),
    "max_concurrency": ({"max_concurrency": 0}, "max_concurrency must be a whole number of at least 1"),
    "parameters no dict": ({"model_parameters": "max_tokens"}, "model_parameters must be a dict"),
    "n": ({"model_parameters": {"n": 5}}, "use num_samples="),
    "an argument twice": ({"model_parameters": {"timeout": 5}}, "timeout cannot stand in model_parameters"),
    "model twice": ({"model_parameters": {"model": "x"}}, "model cannot stand in model_parameters"),
    "a parameter without a JSON form": ({"model_parameters": {"stop": {1}}}, "stop cannot be written as JSON"),
    "a sampler that is none": ({"sampler": object()}, r"sampler must have a draw\(fields, count\) method"),
    "a sampler and a model": (
        {"sampler": LiteLLMSampler(store=None), "model": "x", "store": None, "model_parameters": {"stop": "."}},
        "store, model, model_parameters and sampler= cannot both be given",
    ),
    "similarity": ({"similarity": "euclid"}, "similarity must be 'cosine' or 'pearson'"),
    "baseline without a name": ({"baseline": "my-model"}, "no baseline is published for 'my-model'"),
    "baseline 1": ({"baseline": 1}, "baseline must be a similarity from -1 to below 1"),
    "baseline a bool": ({"baseline": True}, "baseline must be a similarity"),
    "a threshold": ({"confident_mean": "high"}, "confident_mean must be a number"),
    "another threshold": ({"confident_std": None}, "confident_std must be a number"),
    "an embedder that is none": ({"embedder": 3}, "embedder must be"),
    "store": ({"store": ""}, "store must be"),
}


@pytest.mark.parametrize(("arguments", "says"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_bad_configuration_raises_at_construction(arguments: dict[str, Any], says: str, embedder: Any) -> None:
    with pytest.raises(ConfigurationError, match=says):
        CheckEmbedMetric(**{"embedder": embedder, "track": False, **arguments})


def test_the_published_baselines_are_taken_by_name(embedder: Any) -> None:
    metric = CheckEmbedMetric(embedder=embedder, store=None, baseline="text-embedding-3-large", track=False)

    # Of three answers one is at right angles: rebased, 0 lies at the baseline's -1 and counts nothing.
    result = first(metric.score(output="A0", samples=["A1", "B2"]))

    assert metric.baseline == 0.3616
    assert result.value == pytest.approx((1 / 3) ** 0.5)


def test_a_baseline_may_be_a_number(embedder: Any) -> None:
    metric = CheckEmbedMetric(embedder=embedder, store=None, baseline=-1, track=False)

    assert first(metric.score(output="A0", samples=["A1", "B2"])).value == pytest.approx((1.5 / 3) ** 0.5)


def test_help_shows_what_is_not_given() -> None:
    assert "timeout: 'float' = <unset>" in str(inspect.signature(SampledMetric.__init__))


class TestStoreTroubles:
    def test_a_directory(self, embedder: Any, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="is a directory"):
            CheckEmbedMetric(embedder=embedder, store=tmp_path, track=False)

    def test_no_folder_can_be_made(self, embedder: Any, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(StoreError, match="cannot be created or reached"):
            CheckEmbedMetric(embedder=embedder, store=tmp_path / "file" / "store", track=False)

    def test_not_a_store(self, embedder: Any, tmp_path: Path) -> None:
        (tmp_path / "store").write_bytes(b"no database" * 500)
        with pytest.raises(StoreError, match="is not a sample store"):
            CheckEmbedMetric(embedder=embedder, store=tmp_path / "store", track=False)

    def test_from_a_newer_version(self, embedder: Any, tmp_path: Path) -> None:
        SampleStore(tmp_path / "store").close()
        connection = sqlite3.connect(tmp_path / "store")
        connection.execute("PRAGMA user_version = 99")
        connection.close()
        with pytest.raises(StoreError, match="newer version of opik-checkembed"):
            CheckEmbedMetric(embedder=embedder, store=tmp_path / "store", track=False)

    def test_one_that_breaks_during_the_run(self, metric: CheckEmbedMetric, tmp_path: Path, server: FakeOpenAI) -> None:
        assert not first(metric.score(input="Which?", output="A0")).scoring_failed
        for file in tmp_path.glob("store*"):
            file.unlink()
        (tmp_path / "store").write_bytes(b"no database" * 500)

        result = first(metric.score(input="Which?", output="A0"))

        assert result.scoring_failed
        assert "is not a sample store, or is damaged" in str(result.reason)
        assert server.chat_requests == 1
