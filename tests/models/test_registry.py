from __future__ import annotations

import gc
import weakref

from opik_checkembed.models.registry import Registry, identity


class Queue:
    def __init__(self, model: object) -> None:
        self.model = model


def test_equal_models_share_and_others_do_not() -> None:
    queues: Registry[object, Queue] = Registry(Queue)
    one = queues.of(("minilm", 6))

    assert queues.of(("minilm", 6)) is one
    assert queues.of(("minilm", 4)) is not one


def test_what_cannot_be_hashed_is_told_apart_by_its_place() -> None:
    queues: Registry[list[int], Queue] = Registry(Queue)
    first, second = [1], [1]
    one = queues.of(first)

    assert identity(first) == ("id", id(first))
    assert queues.of(first) is one
    assert queues.of(second) is not one


def test_one_goes_with_its_last_user_unless_it_is_kept() -> None:
    queues: Registry[str, Queue] = Registry(Queue)
    lost, kept = weakref.ref(queues.of("lost")), weakref.ref(queues.of("kept", kept=True))

    gc.collect()

    assert lost() is None
    assert kept() is queues.of("kept")
