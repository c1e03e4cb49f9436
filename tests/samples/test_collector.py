"""One request asked once: whoever wants a sample, whatever becomes of those who ask for it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from opik_checkembed.errors import BudgetExceeded, ReplayMiss, SamplingError, StoreError
from opik_checkembed.samples.collector import Delivery, begin, collect, name
from opik_checkembed.samples.sample import Origin, Sample, SampleSet
from opik_checkembed.samples.store import SampleStore

WAIT = 20.0


@dataclass(frozen=True)
class Question:
    """A request of a few words."""

    key: str = "k"
    asked: str = "Which?"
    temperature: float | None = 1.0
    notes: tuple[str, ...] = ("a note",)

    @property
    def description(self) -> dict[str, Any]:
        return {"model": "m", "messages": [{"role": "user", "content": self.asked}]}


@pytest.fixture
def store(tmp_path: Path) -> SampleStore:
    return SampleStore(tmp_path / "store")


class Asking:
    """Answers at once and counts what it was asked for."""

    def __init__(self) -> None:
        self.indices: list[int] = []
        self.lock = threading.Lock()

    def __call__(self, indices: Sequence[int], delivery: Delivery) -> None:
        with self.lock:
            self.indices += indices
        delivery.samples([Sample(index, f"A{index}") for index in indices])


def texts(found: SampleSet) -> list[str]:
    return [sample.text for sample in found.samples]


def of_sixteen(action: Callable[[], SampleSet]) -> list[SampleSet]:
    with ThreadPoolExecutor(16) as pool:
        return [future.result(WAIT) for future in [pool.submit(action) for _ in range(16)]]


def test_answers_come_in_order_whatever_order_they_arrive_in(store: SampleStore) -> None:
    def ask(indices: Sequence[int], delivery: Delivery) -> None:
        for index in reversed(indices):
            delivery.samples([Sample(index, f"A{index}")])

    found = collect(store, Question(), 3, ask)

    assert texts(found) == ["A0", "A1", "A2"]
    assert {sample.origin for sample in found.samples} == {Origin.ASKED}
    assert (found.requested, found.failures, found.notes, found.temperature) == (3, (), ("a note",), 1.0)


def test_one_thread_begins_many_requests_before_it_waits_for_any(store: SampleStore) -> None:
    held: dict[str, Delivery] = {}

    def hold(key: str) -> Callable[[Sequence[int], Delivery], None]:
        def ask(indices: Sequence[int], delivery: Delivery) -> None:
            held[key] = delivery

        return ask

    # The third is the first again: whoever begins it joins.
    keys = ["a", "b", "a"]
    begun = [begin(store, Question(key), 1, hold(key)) for key in keys]
    for key, delivery in reversed(held.items()):
        delivery.samples([Sample(0, f"of {key}")])
    found = [one.result() for one in begun]

    assert [texts(each) for each in found] == [["of a"], ["of b"], ["of a"]]
    assert [each.samples[0].origin for each in found] == [Origin.ASKED, Origin.ASKED, Origin.SHARED]
    # A result may be looked at again.
    assert begun[0].result() == found[0]


def test_only_what_is_missing_is_asked_for_and_fewer_takes_the_first(store: SampleStore) -> None:
    asking = Asking()

    collect(store, Question(), 2, asking)
    more = collect(store, Question(), 5, asking)
    fewer = collect(store, Question(), 3, asking)

    assert asking.indices == [0, 1, 2, 3, 4]
    assert [sample.origin for sample in more.samples] == [Origin.STORE] * 2 + [Origin.ASKED] * 3
    assert texts(fewer) == ["A0", "A1", "A2"]
    assert {sample.origin for sample in fewer.samples} == {Origin.STORE}


def test_sixteen_threads_with_one_request_buy_once(store: SampleStore) -> None:
    together = threading.Barrier(16)
    asking = Asking()
    everyone_waits = threading.Event()

    def ask(indices: Sequence[int], delivery: Delivery) -> None:
        def answer() -> None:
            everyone_waits.wait(WAIT)
            asking(indices, delivery)

        threading.Thread(target=answer, daemon=True).start()

    def one() -> SampleSet:
        if together.wait(WAIT) == 0:
            everyone_waits.set()
        return collect(store, Question(), 5, ask)

    found = of_sixteen(one)

    assert sorted(asking.indices) == [0, 1, 2, 3, 4]
    assert {tuple(texts(each)) for each in found} == {("A0", "A1", "A2", "A3", "A4")}
    bought = [sample for each in found for sample in each.samples if sample.origin is Origin.ASKED]
    assert len(bought) == 5


def joined(store: SampleStore, release: Callable[[Delivery, Sequence[int]], None]) -> list[SampleSet]:
    """Two who want the same while it is under way: the one who asked, and the one who joined."""
    started: list[tuple[Sequence[int], Delivery]] = []
    asked = threading.Event()

    def ask(indices: Sequence[int], delivery: Delivery) -> None:
        started.append((indices, delivery))
        asked.set()

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(collect, store, Question(), 2, ask)
        assert asked.wait(WAIT)

        def ask_the_third(indices: Sequence[int], delivery: Delivery) -> None:
            # It runs when the first two are joined, so everything is known to be waiting.
            assert list(indices) == [2]
            delivery.samples([Sample(2, "A2")])
            release(started[0][1], started[0][0])

        other = pool.submit(collect, store, Question(), 3, ask_the_third)
        return [first.result(WAIT), other.result(WAIT)]


def test_who_joins_shares_the_answers_and_pays_nothing(store: SampleStore) -> None:
    def release(delivery: Delivery, indices: Sequence[int]) -> None:
        delivery.samples([Sample(index, f"A{index}", cost_usd=0.5) for index in indices])

    first, second = joined(store, release)

    assert [sample.origin for sample in first.samples] == [Origin.ASKED] * 2
    assert [sample.origin for sample in second.samples] == [Origin.SHARED] * 2 + [Origin.ASKED]
    assert first.cost_usd == 1.0
    assert second.cost_usd is None


def test_a_failure_reaches_everyone_who_waits_and_is_not_kept(store: SampleStore) -> None:
    def release(delivery: Delivery, indices: Sequence[int]) -> None:
        delivery.samples([Sample(0, "A0")])
        delivery.failure(1, SamplingError("gone"))

    for found in joined(store, release):
        assert found.failures == ("gone",)
        assert "A0" in texts(found)

    asking = Asking()
    assert texts(collect(store, Question(), 2, asking)) == ["A0", "A1"]
    assert asking.indices == [1]


def test_the_spent_budget_of_who_asked_is_no_limit_of_who_joined(store: SampleStore) -> None:
    asked, joined_in = threading.Event(), threading.Event()
    held: list[Delivery] = []

    def hold(indices: Sequence[int], delivery: Delivery) -> None:
        held.append(delivery)
        asked.set()

    def own(indices: Sequence[int], delivery: Delivery) -> None:
        delivery.samples([Sample(index, f"own {index}") for index in indices])
        joined_in.set()

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(collect, store, Question(), 2, hold)
        assert asked.wait(WAIT)
        # It asks for the third itself, after joining the other two.
        second = pool.submit(collect, store, Question(), 3, own)
        assert joined_in.wait(WAIT)
        for index in range(2):
            held[0].failure(index, BudgetExceeded("used up"))

        assert first.result(WAIT).failures == ("used up", "used up")
        found = second.result(WAIT)
    assert texts(found) == ["own 0", "own 1", "own 2"]
    assert found.requested == 3
    assert found.failures == ()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("odd"), "sampling broke off: ValueError('odd')"),
        (KeyboardInterrupt(), "sampling broke off: KeyboardInterrupt()"),
        (SamplingError("gone"), "gone"),
    ],
)
def test_when_asking_breaks_off_nobody_waits_for_ever(error: BaseException, reason: str, store: SampleStore) -> None:
    asked, waiting = threading.Event(), threading.Event()

    def ask(indices: Sequence[int], delivery: Delivery) -> None:
        asked.set()
        assert waiting.wait(WAIT)
        raise error

    def wait(indices: Sequence[int], delivery: Delivery) -> None:
        delivery.samples([Sample(2, "A2")])
        waiting.set()

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(collect, store, Question(), 2, ask)
        assert asked.wait(WAIT)
        # It asks for the third itself, after joining the other two.
        second = pool.submit(collect, store, Question(), 3, wait)

        found = second.result(WAIT)
        with pytest.raises(type(error)):
            first.result(WAIT)

    assert found.failures == (reason, reason)
    assert texts(found) == ["A2"]


def test_answers_that_come_after_their_caller_gave_up_are_kept_and_harm_nobody(store: SampleStore) -> None:
    late: list[Delivery] = []

    def breaks(indices: Sequence[int], delivery: Delivery) -> None:
        late.append(delivery)
        raise SamplingError("no thread left")

    def ask(indices: Sequence[int], delivery: Delivery) -> None:
        # The first call reports while somebody else has claimed the same samples anew.
        late[0].samples([Sample(0, "late")])
        late[0].failure(1, SamplingError("late as well"))
        with ThreadPoolExecutor(1) as pool:
            joiner = pool.submit(collect, store, Question(), 2, Asking())
            delivery.samples([Sample(index, "new") for index in indices])
            assert joiner.result(WAIT).failures == ()

    with pytest.raises(SamplingError):
        collect(store, Question(), 2, breaks)

    assert texts(collect(store, Question(), 2, ask)) == ["new", "new"]
    # The first writer won.
    assert [sample.text for sample in store.get("k", range(2)).values()] == ["late", "new"]


def test_a_failure_after_an_answer_changes_nothing(store: SampleStore) -> None:
    def ask(indices: Sequence[int], delivery: Delivery) -> None:
        delivery.samples([Sample(0, "A0")])
        delivery.failure(0, SamplingError("later"))

    assert texts(collect(store, Question(), 1, ask)) == ["A0"]


class TestReplay:
    def test_a_miss_names_the_request(self, tmp_path: Path) -> None:
        asking = Asking()
        with SampleStore(tmp_path / "store") as recording:
            collect(recording, Question(), 2, asking)
        asking.indices.clear()
        with SampleStore(tmp_path / "store", mode="replay") as replay:
            assert texts(collect(replay, Question(), 2, asking)) == ["A0", "A1"]
            with pytest.raises(ReplayMiss) as miss:
                collect(replay, Question(), 3, asking)

        assert "lacks sample 3 of the request 'Which?' to 'm' (key k)" in str(miss.value)
        assert "mode='reuse'" in str(miss.value)
        assert asking.indices == []

    def test_a_miss_reaches_everyone_who_waits_for_it(self, tmp_path: Path) -> None:
        SampleStore(tmp_path / "store").close()
        replay = SampleStore(tmp_path / "store", mode="replay")
        read, looking, joined = replay.get, threading.Event(), threading.Event()

        def get(key: str, indices: Any) -> Any:
            if looking.is_set():
                # The second, which has joined the first and looks for the other sample only.
                assert list(indices) == [1]
                joined.set()
                return {1: Sample(1, "A1", origin=Origin.STORE)}
            looking.set()
            assert joined.wait(WAIT)
            return read(key, indices)

        replay.get = get  # type: ignore[method-assign]
        with ThreadPoolExecutor(2) as pool:
            waiting = [pool.submit(collect, replay, Question(), 1, Asking())]
            assert looking.wait(WAIT)
            waiting.append(pool.submit(collect, replay, Question(), 2, Asking()))
            for each in waiting:
                with pytest.raises(ReplayMiss, match="lacks sample 1 "):
                    each.result(WAIT)
        replay.close()

    def test_who_reuses_never_joins_one_who_replays(self, tmp_path: Path) -> None:
        SampleStore(tmp_path / "store").close()
        replay = SampleStore(tmp_path / "store", mode="replay")
        looking, go_on = threading.Event(), threading.Event()

        slow_get = replay.get

        def get(key: str, indices: Any) -> Any:
            looking.set()
            assert go_on.wait(WAIT)
            return slow_get(key, indices)

        replay.get = get  # type: ignore[method-assign]
        with SampleStore(tmp_path / "store") as reuse, ThreadPoolExecutor(1) as pool:
            missing = pool.submit(collect, replay, Question(), 1, Asking())
            assert looking.wait(WAIT)
            assert texts(collect(reuse, Question(), 1, Asking())) == ["A0"]
            go_on.set()
            # What was bought meanwhile is there by now.
            assert texts(missing.result(WAIT)) == ["A0"]
        replay.close()


def test_refresh_buys_anew_once(tmp_path: Path) -> None:
    with SampleStore(tmp_path / "store") as store:
        store.put("k", {}, [Sample(0, "old")])
    with SampleStore(tmp_path / "store", mode="refresh") as store:
        asking = Asking()
        assert [texts(collect(store, Question(), 1, asking)) for _ in range(2)] == [["A0"], ["A0"]]
        assert asking.indices == [0]


def test_expired_samples_are_bought_again(tmp_path: Path) -> None:
    with SampleStore(tmp_path / "store", max_age=timedelta(seconds=1)) as store:
        store.put("k", {}, [Sample(0, "old", created=1.0)])
        assert texts(collect(store, Question(), 1, Asking())) == ["A0"]


def test_a_full_disk_keeps_the_score_and_says_so(store: SampleStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(store, "put", full)

    def ask(indices: Sequence[int], delivery: Delivery) -> None:
        for index in indices:
            delivery.samples([Sample(index, "A")])

    found = collect(store, Question(), 2, ask)

    assert texts(found) == ["A", "A"]
    assert found.notes == ("a note", "samples could not be kept: the disk is full")


def test_a_real_store_without_room_keeps_the_score(tmp_path: Path) -> None:
    with SampleStore(tmp_path / "store") as store:
        with store._using() as connection:
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {pages}")

        def ask(indices: Sequence[int], delivery: Delivery) -> None:
            delivery.samples([Sample(0, "A" * 100_000)])

        found = collect(store, Question(), 1, ask)

    assert len(found.samples) == 1
    assert "samples could not be kept" in found.notes[1]
    assert "has no room to grow" in found.notes[1]


def test_a_store_that_cannot_be_read_is_the_askers_error(store: SampleStore) -> None:
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        collect(store, Question(), 1, Asking())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_its_parents_calls(store: SampleStore) -> None:
    asked, end = threading.Event(), threading.Event()

    def never(indices: Sequence[int], delivery: Delivery) -> None:
        asked.set()
        assert end.wait(WAIT)
        delivery.samples([Sample(0, "parent's")])

    with ThreadPoolExecutor(1) as pool:
        parent = pool.submit(collect, store, Question(), 1, never)
        assert asked.wait(WAIT)
        child = os.fork()
        if child == 0:
            # No test machinery may run twice: leave at once, whatever happens.
            code = 1
            try:
                threading.Timer(WAIT, os._exit, [2]).start()
                code = 0 if texts(collect(store, Question(), 1, Asking())) == ["A0"] else 3
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        end.set()
        assert texts(parent.result(WAIT)) == ["parent's"]
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ({"messages": [{"role": "user", "content": "a  b\n" + "c" * 90}]}, f"'a b {'c' * 55}…'"),
        ({"messages": [{"role": "user", "content": "first"}, {"role": "assistant", "content": "x"}]}, "'first'"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "p"}, {"type": "x"}]}]}, "'p'"),
        ({"item": {"input": "row"}}, "\"{'input': 'row'}\""),
    ],
)
def test_a_request_is_named_by_what_was_asked(description: dict[str, Any], said: str) -> None:
    class Described(Question):
        @property
        def description(self) -> dict[str, Any]:
            return {"model": "m", **description}

    assert name(Described(key="0123456789abcdef")).startswith(f"the request {said}")
    assert name(Described(key="0123456789abcdef")).endswith("to 'm' (key 0123456789ab)")
