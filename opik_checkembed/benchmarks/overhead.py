"""What CheckEmbed costs beyond the embedding itself: the metric against a plain `encode` of the distinct texts."""

from __future__ import annotations

from opik_checkembed.benchmarks.timing import Comparison, compare
from opik_checkembed.demo import load_recording
from opik_checkembed.local import evaluate_locally
from opik_checkembed.metrics.checkembed import CheckEmbedMetric
from opik_checkembed.models.embedder import DEFAULT_EMBEDDER, SentenceTransformerEmbedder
from opik_checkembed.models.shared_encoder import SharedEncoder

TARGET = 1.05


def overhead(
    embedder: str | None = None, rounds: int = 5, items: int = 20, answers: int = 10, task_threads: int = 20
) -> Comparison:
    """CheckEmbed over `items` x `answers` recorded answers against `SentenceTransformer.encode` of the distinct ones.

    Both sides use the one loaded model; ours starts each round with an empty cache. Items that are worked on at once
    share one `encode` call, so with fewer threads than items there are more calls and their batches hold texts of less
    equal length.

    Args:
        embedder: A sentence-transformers name or folder; None for the default.
        rounds: Timed pairs.
        items: Questions of the recording.
        answers: Answers of each, the judged one included.
        task_threads: Items worked on at once.
    """
    recording = load_recording()
    rows = [
        {**item, "samples": samples[: answers - 1]}
        for item, samples in zip(recording.items[:items], recording.samples[:items], strict=True)
    ]
    from sentence_transformers import SentenceTransformer

    raw = SentenceTransformer(SentenceTransformerEmbedder(embedder or DEFAULT_EMBEDDER).source)
    model = SentenceTransformerEmbedder(raw)
    texts = list(dict.fromkeys(text.strip() for row in rows for text in [row["output"], *row["samples"]]))
    metric = CheckEmbedMetric(embedder=model, store=None, track=False)

    def ours() -> None:
        metric.encoder = SharedEncoder(model)
        results = evaluate_locally(rows, scoring_metrics=[metric], task_threads=task_threads, progress=False)
        failed = results.summary()[metric.name].failed
        if failed:
            raise RuntimeError(f"{failed} items could not be scored, so the timing would be of something else")

    def floor() -> None:
        raw.encode(texts, normalize_embeddings=True, show_progress_bar=False)

    return compare(ours, floor, rounds)
