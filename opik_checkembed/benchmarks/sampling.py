"""How long sampling takes when each call takes a second: rounds of concurrent calls, and nothing besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from opik_checkembed.benchmarks.timing import timed
from opik_checkembed.local import evaluate_locally
from opik_checkembed.metrics.checkembed import CheckEmbedMetric
from opik_checkembed.testing import FakeOpenAI, hash_vector


@dataclass(frozen=True)
class SamplingTime:
    """One run against a server that answers after a second.

    Attributes:
        n: Whether the server honours `n` or refuses it.
        seconds: Wall time of the whole evaluation.
        limit: What it may take.
        requests: Requests the server answered.
        choices: Answers it gave.
    """

    n: str
    seconds: float
    limit: float
    requests: int
    choices: int


class _HashEmbedder:
    """Costs nothing, so that the sampling alone is timed."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([hash_vector(text, 16) for text in texts], dtype=np.float32)


def sampling_time(
    n: Literal["honour", "reject"], *, items: int = 10, num_samples: int = 5, latency: float = 1.0
) -> SamplingTime:
    """Evaluate `items` questions with `num_samples` samples each, eight calls at a time, `latency` seconds a call."""
    rows = [{"input": f"Question {number}?", "output": f"Answer {number}."} for number in range(items)]
    limit = 2.4 if n == "honour" else 1.2 * 7

    with FakeOpenAI(answers=[f"Answer {number}." for number in range(97)], latency=latency, n=n) as server:
        metric = CheckEmbedMetric(
            # A name of its own: what this process learned about another server must not help here.
            model=f"openai/bench-{n}",
            embedder=_HashEmbedder(),
            num_samples=num_samples,
            store=None,
            max_concurrency=8,
            model_parameters={"api_base": server.base_url, "api_key": "none"},
            track=False,
        )
        import litellm  # noqa: F401 - loading it takes seconds that are start-up, not sampling

        seconds = timed(lambda: evaluate_locally(rows, scoring_metrics=[metric], progress=False))
        return SamplingTime(n, seconds, limit, server.answered, server.choices)
