"""Repeated answers: what to ask again, asking it once, keeping what was bought, and what it may cost."""

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
