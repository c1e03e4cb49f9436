"""Repeated answers: what to ask again, asking it once, keeping what was bought, and what it may cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opik_checkembed._lazy import lazily

if TYPE_CHECKING:
    from opik_checkembed.samples.budget import Budget, Estimate, price_requests
    from opik_checkembed.samples.given_samples import GivenSamples
    from opik_checkembed.samples.litellm_sampler import LiteLLMSampler
    from opik_checkembed.samples.opik_model_sampler import OpikModelSampler
    from opik_checkembed.samples.request import SampleRequest, build_request
    from opik_checkembed.samples.retry import Retry
    from opik_checkembed.samples.sample import Origin, Sample, SampleSet, Status, Usage
    from opik_checkembed.samples.sampler import Sampler
    from opik_checkembed.samples.store import SampleStore, StoreEntry
    from opik_checkembed.samples.task_sampler import TaskSampler

_HOMES = {
    "Budget": "budget",
    "Estimate": "budget",
    "GivenSamples": "given_samples",
    "LiteLLMSampler": "litellm_sampler",
    "OpikModelSampler": "opik_model_sampler",
    "Origin": "sample",
    "Retry": "retry",
    "Sample": "sample",
    "SampleRequest": "request",
    "SampleSet": "sample",
    "SampleStore": "store",
    "Sampler": "sampler",
    "Status": "sample",
    "StoreEntry": "store",
    "TaskSampler": "task_sampler",
    "Usage": "sample",
    "build_request": "request",
    "price_requests": "budget",
}

__all__ = [
    "Budget",
    "Estimate",
    "GivenSamples",
    "LiteLLMSampler",
    "OpikModelSampler",
    "Origin",
    "Retry",
    "Sample",
    "SampleRequest",
    "SampleSet",
    "SampleStore",
    "Sampler",
    "Status",
    "StoreEntry",
    "TaskSampler",
    "Usage",
    "build_request",
    "price_requests",
]

__getattr__ = lazily(globals(), _HOMES)
