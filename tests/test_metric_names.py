from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import opik_checkembed
from opik_checkembed.cli_values import pair, parameters, price_list
from opik_checkembed.errors import ConfigurationError
from opik_checkembed.metric_names import METRICS, metric_of, parse_options
from opik_checkembed.samples import Budget, SampleStore


def test_every_name_is_of_a_public_class_and_begins_its_scores() -> None:
    for name, of in METRICS.items():
        assert of in opik_checkembed.__all__
        assert getattr(opik_checkembed, of).default_name.startswith(name)


def test_a_metric_is_built_with_its_options_and_what_else_is_given() -> None:
    store = SampleStore.in_memory()
    metric = metric_of("checkembed:embedder=lexical,num_samples=3", store=store, num_samples=9, model="gpt-4o-mini")
    assert isinstance(metric, opik_checkembed.CheckEmbedMetric)
    assert metric.num_samples == 3
    assert isinstance(metric.sampler, opik_checkembed.LiteLLMSampler)
    assert metric.sampler.store is store
    assert metric.sampler.model == "gpt-4o-mini"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hallucination", "there is no metric 'hallucination'; there are checkembed, fact_recurrence"),
        ("ensemble:parts=fact_recurrence", r"an ensemble is made of other metrics.*EnsembleMetric\(\[...\]\)"),
        ("ensemble", "make it in Python"),
        ("fact_recurrence:shoe_size=43", "fact_recurrence: .*'shoe_size'$"),
        ("fact_recurrence:num_samples=0", "num_samples must be a whole number"),
        ("fact_recurrence:", "not of the form NAME"),
        ("fact_recurrence:num_samples", "not of the form NAME"),
        ("fact_recurrence:a=1,a.b=2", "not of the form NAME"),
    ],
)
def test_other_texts_are_refused(text: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        metric_of(text, store=None)


@pytest.mark.parametrize(
    "text",
    [
        "source_nli:judge_parameters.api_key=sk-x,more",
        "fact_recurrence:api_key=sk-x",
        "source_nli,judge_parameters.api_key=sk-x",
        "api_key=sk-x",
    ],
)
def test_no_message_repeats_an_option(text: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        metric_of(text, store=None)
    assert "sk-x" not in str(caught.value)


def test_options_are_json_or_text_and_reach_into_dicts() -> None:
    assert parse_options("x: a =1,b.c=true,b.d={},e=main") == ("x", {"a": 1, "b": {"c": True, "d": {}}, "e": "main"})
    assert parse_options("x") == ("x", {})


def test_values_of_the_command_line() -> None:
    assert pair("a=b=c", "A=B") == ("a", "b=c")
    assert parameters(["max_tokens=20", "stop=[1]", "name=x"]) == {"max_tokens": 20, "stop": [1], "name": "x"}
    assert price_list(["a=1,2"]) == {"a": (1.0, 2.0)}
    for wrong in ("a", "=b"):
        with pytest.raises(ConfigurationError, match="not of the form A=B"):
            pair(wrong, "A=B")
    for price in ("a=1", "a=1,2,3", "a=x,y"):
        with pytest.raises(ConfigurationError, match="--price must be MODEL=IN,OUT"):
            price_list([price])


def test_a_metric_without_samples_gets_what_it_takes_and_its_models_the_rest(tmp_path: Path) -> None:
    with SampleStore(tmp_path / "store") as store:
        budget = Budget(max_calls=1)
        made: Any = metric_of(
            "source_nli:name=mine,judge=openai/judge,judge_parameters.max_tokens=9,claims=llm,claims_model=openai/splitter",
            store=store,
            budget=budget,
            model="openai/fake",
            name="another",
        )

        assert made.name == "mine"
        for replies in (made.verifier.judge._llm, made.reader._llm):
            assert replies._sampler.store is store
            assert replies._sampler.budget is budget
        assert made.verifier.judge._llm._sampler.parameters["max_tokens"] == 9
