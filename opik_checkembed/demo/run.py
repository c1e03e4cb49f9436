"""Replays the recording through the product's own path: request, store, embedder, score."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from opik_checkembed.demo.recording import Recording, load_recording
from opik_checkembed.functional.checkembed import CheckEmbedResult, frobenius_score, rebase
from opik_checkembed.local import evaluate_locally
from opik_checkembed.metrics.checkembed import CheckEmbedMetric
from opik_checkembed.models.embedder import DEFAULT_EMBEDDER
from opik_checkembed.models.shared_encoder import shared_encoder
from opik_checkembed.progress import Progress
from opik_checkembed.results import LocalResults
from opik_checkembed.samples import LiteLLMSampler, SampleStore


def run_demo(recording: Recording | None = None, progress: bool | Progress = True) -> LocalResults:
    """Score every recorded answer with CheckEmbed; nothing is asked, no network is used.

    Raises:
        StoreError: The recording cannot be read.
    """
    recording = recording or load_recording()
    with tempfile.TemporaryDirectory(prefix="opik-checkembed-demo-") as folder:
        path = Path(folder) / "samples.sqlite3"
        with SampleStore(path) as store:
            store.import_(recording.samples_file)
        with SampleStore(path, mode="replay") as store:
            sampler = LiteLLMSampler(recording.about["model"], store=store, **recording.about["parameters"])
            # Not the user's own default, which may be an API: the demo is offline, and its figures are this model's.
            metric = CheckEmbedMetric(
                sampler=sampler, num_samples=recording.about["num_samples"], embedder=DEFAULT_EMBEDDER
            )
            return evaluate_locally(recording.items, scoring_metrics=[metric], progress=progress)


def rebased_scores(results: LocalResults, baseline: float) -> dict[str, float]:
    """Each item's CheckEmbed score with `baseline`, the similarity of unrelated answers, mapped to -1."""
    found = {}
    for item in results.items:
        evidence = checkembed_evidence(item.scores[0].evidence)
        if evidence is not None:
            found[item.id] = frobenius_score(rebase(evidence.matrix, baseline))
    return found


def checkembed_evidence(evidence: Mapping[str, Any]) -> CheckEmbedResult | None:
    """The result behind a score, or None where there is none (the item was not scored)."""
    return CheckEmbedResult.from_dict(evidence) if "matrix" in evidence else None


def unrelated_similarity(results: LocalResults) -> float:
    """Mean cosine between the judged answers to different questions: what this embedder gives to unrelated texts."""
    vectors = (
        shared_encoder(DEFAULT_EMBEDDER).vectors([str(item.item["output"]).strip() for item in results.items]).vectors
    )
    similar = np.asarray(vectors @ vectors.T, dtype=np.float64)
    return float(similar[~np.eye(len(similar), dtype=bool)].mean())
