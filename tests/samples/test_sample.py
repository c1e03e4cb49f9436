from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opik_checkembed.errors import SamplingError
from opik_checkembed.samples.sample import Origin, Sample, SampleSet, Status, Usage

NOW = 1_700_000_000.0
FULL = Sample(
    3, " Paris. ", Status.TRUNCATED, "length", Usage(7, 9, 2), 0.25, "gpt-x-2024", NOW, ("n", "seed"), Origin.ASKED
)


def ok(*texts: str, origin: Origin = Origin.ASKED) -> tuple[Sample, ...]:
    return tuple(Sample(index, text, origin=origin) for index, text in enumerate(texts))


def warnings(samples: tuple[Sample, ...], temperature: float | None = None) -> list[str]:
    return SampleSet(samples, requested=len(samples), temperature=temperature).warnings(NOW)


class TestSample:
    def test_to_dict_is_json_and_from_dict_its_inverse(self) -> None:
        data = json.loads(json.dumps(FULL.to_dict()))
        assert data == {
            "text": " Paris. ",
            "status": "truncated",
            "finish_reason": "length",
            "usage": {"prompt_tokens": 7, "completion_tokens": 9, "choices": 2},
            "cost_usd": 0.25,
            "model": "gpt-x-2024",
            "created": NOW,
            "dropped": ["n", "seed"],
        }
        assert Sample.from_dict(3, data) == replace(FULL, origin=Origin.STORE)
        assert Sample.from_dict(3, data, Origin.ASKED) == FULL

    def test_without_usage_or_cost(self) -> None:
        sample = Sample(0, "Paris")
        assert sample.to_dict()["usage"] is None
        assert Sample.from_dict(0, sample.to_dict(), Origin.ASKED) == sample
        assert sample.cost_usd is None

    def test_logprobs_are_kept_where_there_are_some(self) -> None:
        logprobs = ((("Yes", -0.5), ("No", -1.5)), ((".", 0.0),))
        sample = replace(FULL, logprobs=logprobs)
        data = json.loads(json.dumps(sample.to_dict()))

        assert data == {**FULL.to_dict(), "logprobs": [[["Yes", -0.5], ["No", -1.5]], [[".", 0.0]]]}
        assert Sample.from_dict(3, data, Origin.ASKED) == sample

    def test_a_sample_kept_before_there_were_logprobs_has_none(self) -> None:
        assert "logprobs" not in FULL.to_dict()
        assert Sample.from_dict(3, FULL.to_dict()).logprobs == ()
        assert Sample.from_dict(3, {**FULL.to_dict(), "logprobs": None}).logprobs == ()

    @pytest.mark.parametrize(
        "logprobs", [3, [3], [[3]], [["Yes", -1.0]], [[["Yes"]]], [[["Yes", "no"]]], [[[1, 2.0]]], [[["Yes", True]]]]
    )
    def test_what_are_no_logprobs_is_refused(self, logprobs: object) -> None:
        with pytest.raises((TypeError, ValueError)):
            Sample.from_dict(0, {**FULL.to_dict(), "logprobs": logprobs})

    def test_what_is_no_sample_is_refused(self) -> None:
        data = FULL.to_dict()
        with pytest.raises(KeyError):
            Sample.from_dict(0, {k: v for k, v in data.items() if k != "text"})
        with pytest.raises(ValueError):
            Sample.from_dict(0, {**data, "status": "fine"})
        with pytest.raises(TypeError):
            Sample.from_dict(0, {**data, "usage": {"tokens": 1}})

    def test_seen_as(self) -> None:
        assert FULL.seen_as(Origin.ASKED) is FULL
        shared = FULL.seen_as(Origin.SHARED)
        assert (shared.origin, FULL.origin) == (Origin.SHARED, Origin.ASKED)
        assert replace(shared, origin=Origin.ASKED) == FULL


class TestUsable:
    def test_only_ok_ones_and_stripped(self) -> None:
        samples = (*ok(" a \n"), *(Sample(i, "x", s) for i, s in enumerate(Status, 1) if s is not Status.OK))
        drawn = SampleSet(samples, requested=7)
        assert drawn.texts == ["a"]
        assert [s.index for s in drawn.usable] == [0]

    def test_require(self) -> None:
        drawn = SampleSet((*ok("a", "b"), Sample(2, "", Status.EMPTY)), 5, failures=("429: slow down", "reset"))
        drawn.require(2)
        with pytest.raises(SamplingError) as failure:
            drawn.require(3)
        assert str(failure.value) == (
            "2 of 5 samples are usable, 3 are needed: 1 of 5 samples left out: empty; "
            "2 of 5 samples failed (429: slow down)"
        )

    def test_require_of_given_ones_with_nothing_wrong(self) -> None:
        with pytest.raises(SamplingError, match="1 of 1 samples are usable, 2 are needed: no more were given"):
            SampleSet(ok("a"), 1).require(2)


class TestCost:
    def test_one_calls_cost_counts_once_over_its_choices(self) -> None:
        share = 0.03 / 3
        call = tuple(Sample(i, "x", cost_usd=share, usage=Usage(1, 1, 3)) for i in range(3))
        drawn = SampleSet(call, 3)
        assert drawn.cost_usd == pytest.approx(0.03, abs=1e-15)
        assert drawn.calls == 1.0

    @given(st.lists(st.integers(min_value=1, max_value=64), max_size=6))
    def test_calls_are_whole_whatever_each_brought(self, calls: list[int]) -> None:
        samples = [Sample(0, "x", usage=Usage(1, 1, choices)) for choices in calls for _ in range(choices)]
        assert SampleSet(tuple(samples), len(samples)).calls == len(calls)

    @pytest.mark.parametrize("origin", [Origin.SHARED, Origin.STORE, Origin.GIVEN])
    def test_only_what_was_asked_for_here_was_paid_here(self, origin: Origin) -> None:
        drawn = SampleSet((Sample(0, "x", cost_usd=0.5, origin=origin), Sample(1, "y", cost_usd=0.25)), 2)
        assert (drawn.cost_usd, drawn.calls) == (0.25, 1.0)
        none_asked = SampleSet((Sample(0, "x", origin=origin),), 1)
        assert (none_asked.cost_usd, none_asked.calls) == (0.0, 0.0)

    def test_one_unknown_price_makes_the_sum_unknown(self) -> None:
        assert SampleSet((Sample(0, "x", cost_usd=0.5), Sample(1, "y")), 2).cost_usd is None
        assert SampleSet((Sample(0, "x", cost_usd=0.0),), 1).cost_usd == 0.0

    def test_answers_of_no_use_are_paid_for_as_well(self) -> None:
        assert SampleSet((Sample(0, "", Status.EMPTY, cost_usd=0.5),), 1).cost_usd == 0.5


class TestWarnings:
    def test_nothing_to_say(self) -> None:
        assert warnings(ok("a", "b")) == []

    def test_each_kind_left_out_is_counted(self) -> None:
        kinds = [Status.EMPTY, Status.REFUSED, Status.EMPTY, Status.TRUNCATED, Status.TOOL_CALL, Status.FILTERED]
        assert warnings(tuple(Sample(i, "", kind) for i, kind in enumerate(kinds))) == [
            "2 of 6 samples left out: empty",
            "1 of 6 samples left out: refused",
            "1 of 6 samples left out: truncated",
            "1 of 6 samples left out: tool call instead of text",
            "1 of 6 samples left out: content-filtered",
        ]

    def test_failures_are_counted_and_the_first_quoted(self) -> None:
        said = SampleSet(ok("a", "b"), 4, failures=("reset", "timeout")).warnings()
        assert said == ["2 of 4 samples failed (reset)"]

    @pytest.mark.parametrize(
        ("temperature", "start"),
        [(1.0, "all 3 samples are identical at temperature 1: a provider cache"),
         (0.7, "all 3 samples are identical at temperature 0.7: "),
         (None, "all 3 samples are identical: a provider cache or a fixed seed"),
         (0.0, "all samples are identical because they were asked for at temperature 0")],
    )  # fmt: skip
    def test_identical_samples(self, temperature: float | None, start: str) -> None:
        (said,) = warnings(ok("Paris", " Paris", "Paris\n"), temperature=temperature)
        assert said.startswith(start)
        assert said.endswith("no sign of confidence") is (temperature != 0)

    @pytest.mark.parametrize("temperature", [0.0, 1.0])
    def test_a_rejected_temperature_is_not_named_as_theirs(self, temperature: float) -> None:
        samples = tuple(replace(s, dropped=("temperature",)) for s in ok("Paris", "Paris"))
        identical, dropped = warnings(samples, temperature=temperature)
        assert identical.startswith("all 2 samples are identical: a provider cache")
        assert dropped == "the provider rejected temperature; asked without"

    def test_one_sample_is_not_called_identical(self) -> None:
        assert warnings(ok("Paris"), temperature=1.0) == []

    def test_unusable_ones_do_not_hide_that_the_rest_is_identical(self) -> None:
        said = warnings((*ok("Paris", "Paris"), Sample(2, "", Status.EMPTY)), temperature=1.0)
        assert said[1].startswith("all 2 samples are identical")

    def test_dropped_parameters_once_each(self) -> None:
        first, second = ok("a", "b")
        samples = (replace(first, dropped=("seed", "n")), replace(second, dropped=("n",)))
        assert warnings(samples) == ["the provider rejected n, seed; asked without"]

    @pytest.mark.parametrize(
        ("age", "words"),
        [(0, "a minute"), (59, "a minute"), (60, "1 minute"), (3599, "59 minutes"), (3600, "1 hour"),
         (7300, "2 hours"), (86400, "1 day"), (90 * 86400, "90 days"), (-5, "a minute")],
    )  # fmt: skip
    def test_age_of_the_oldest(self, age: float, words: str) -> None:
        old, newer = ok("a", "b", origin=Origin.STORE)
        samples = (replace(old, created=NOW - age), replace(newer, created=NOW - min(age, 0)))
        assert warnings(samples) == [f"2 from the store, up to {words} old"]

    def test_age_is_of_now_and_only_of_stored_ones(self) -> None:
        sample = Sample(0, "a", created=time.time() - 7205, origin=Origin.STORE)
        shared = Sample(1, "b", created=1.0, origin=Origin.SHARED)
        assert SampleSet((sample, shared), 2).warnings() == ["1 from the store, up to 2 hours old"]
        assert warnings((replace(sample, created=None),)) == []

    def test_notes_come_last_and_more_can_be_added(self) -> None:
        drawn = SampleSet(ok("a", "b"), 3, failures=("reset",), notes=("first",))
        assert drawn.noting(()) is drawn
        assert drawn.noting(("second",)).warnings() == ["1 of 3 samples failed (reset)", "first", "second"]
        assert drawn.notes == ("first",)


def test_a_set_as_json() -> None:
    drawn = SampleSet((FULL,), 2, ("reset",), ("note",), 1.0)
    assert json.loads(json.dumps(drawn.to_dict())) == {
        "requested": 2,
        "samples": [{"index": 3, "origin": "asked", **FULL.to_dict()}],
        "failures": ["reset"],
        "notes": ["note"],
        "temperature": 1.0,
        "cost_usd": 0.25,
        "calls": 0.5,
    }
