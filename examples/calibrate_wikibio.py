"""From labelled answers to a calibration: how the preset "wikibio_gpt3_dev" was made.

    python examples/calibrate_wikibio.py wiki_bio_gpt3_hallucination.parquet --out calibration.json

Reads the columns of the public data set potsawee/wiki_bio_gpt3_hallucination, scores each passage's names and numbers
against five of its samples (no model, no network), and fits the probability that a passage is hallucinated: that its
sentences' labels (accurate 0, minor 0.5, major 1) have a mean of at least .5. The threshold flags at most a tenth of
the others.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from opik_checkembed import FactRecurrenceMetric, evaluate_locally
from opik_checkembed.benchmarks.wikibio import WikiBioData, load_wikibio
from opik_checkembed.calibration import Calibration, fit_calibration, options_of, threshold_at_fpr

SAMPLES = 5
HALLUCINATED = 0.5
SCORE = "fact_recurrence"
MODEL = "text-davinci-003"
DATA = (
    "WikiBio-GPT3 (potsawee/wiki_bio_gpt3_hallucination), {} of its 238 passages, 5 samples each; "
    "hallucinated: mean sentence label of at least .5"
)


def fitted(data: WikiBioData, name: str) -> Calibration:
    """The calibration of fact recurrence on these passages, with its threshold."""
    items = [
        {"id": one.id, "input": one.question, "output": one.text, "samples": list(one.samples[:SAMPLES])}
        for one in data.passages
    ]
    metric = FactRecurrenceMetric(store=None, track=False)
    results = evaluate_locally(items, scoring_metrics=[metric])
    scores = [item.score(SCORE) for item in results.items]
    fit = fit_calibration(
        {SCORE: [None if score is None else score.value for score in scores]},
        [one.label >= HALLUCINATED for one in data.passages],
        directions={SCORE: False},
        name=name,
        data=DATA.format(len(items)),
        models=[MODEL],
        num_samples=[SAMPLES],
        options={SCORE: options_of(metric)},
    )
    if fit.probabilities is None:
        raise SystemExit("too few passages to choose a threshold on")
    point = threshold_at_fpr(fit.probabilities, fit.labels, 0.1)
    return replace(fit.calibration, threshold=point.threshold)


def main() -> None:
    """Fit on the passages of a file and write the calibration."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help=".parquet, .jsonl, .json or .csv with the data set's columns")
    parser.add_argument("--name", default="wikibio_gpt3_dev")
    parser.add_argument("--out", default="calibration.json")
    given = parser.parse_args()
    calibration = fitted(load_wikibio(given.data), given.name)
    calibration.to_json(given.out)
    told = calibration.fitted_on
    if told is not None and told.auroc is not None:
        print(f"{told.labels} passages, {told.positives} hallucinated; cross-validated AUROC {told.auroc.value:.3f}")
    print(f"Wrote {given.out}")


if __name__ == "__main__":
    main()
