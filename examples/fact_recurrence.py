"""Which names and numbers of an answer come back when the model is asked again: no key, no model, no network.

    python examples/fact_recurrence.py

Reads the twenty recorded questions of the demo, each with the answer of a small local model and ten samples, and prints
what each answer scores with the specific that came back least and what the samples say instead. Beside it stands the
agreement of the whole answers, and an ensemble of both.
"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from opik_checkembed import CheckEmbedMetric, EnsembleMetric, FactRecurrenceMetric, evaluate_locally
from opik_checkembed.demo import load_recording


def main() -> None:
    """Score the recorded answers and print them with what came back least."""
    recording = load_recording()
    items = [
        {**item, "samples": list(samples)} for item, samples in zip(recording.items, recording.samples, strict=True)
    ]
    facts = FactRecurrenceMetric(store=None, track=False)
    agreement = CheckEmbedMetric(embedder="lexical", heatmap=False, store=None, track=False)
    results = evaluate_locally(items, scoring_metrics=[EnsembleMetric([facts, agreement], track=False)])

    table = Table("question", "facts", "agreement", "ensemble", "what came back least", box=None, padding=(0, 2, 0, 0))
    for item in results.items:
        values = [item.score(name) for name in ("fact_recurrence", "checkembed_metric", "ensemble")]
        shown = ["-" if score is None or score.value is None else f"{score.value:.2f}" for score in values]
        table.add_row(str(item.item["question"]), *shown, least(item.score("fact_recurrence")))
    Console().print(table)


def least(score: object) -> str:
    """The specific of the worst sentence, from the evidence of its score."""
    sentences = getattr(score, "evidence", {}).get("sentences", [])
    scored = [one for one in sentences if one["score"] is not None]
    if not scored:
        return "no specifics to check"
    return str(max(scored, key=lambda one: float(one["score"]))["detail"]["worst"])


if __name__ == "__main__":
    main()
