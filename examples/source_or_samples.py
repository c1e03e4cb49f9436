"""Claims that self-consistency lets pass and the source does not, and the reverse: no key, no model, no network.

    python examples/source_or_samples.py

Reads what a small local model answered when it was asked about two documents again, and what it said as the judge of
claims about them (`colab/recordings/claims.json` says which model, when and how). Each claim is held against the
answers (`SelfConsistencyMetric`, which never reads the document) and against the document (`SourceNLIMetric`); beside
them stands the guard, rules that no model has a part in. Printed are all claims, and the reasons for those where one of
the two methods errs. `colab/3_source_or_samples.ipynb` explains them, and records with a model of your own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from opik_checkembed import SampleStore, SelfConsistencyMetric, SourceNLIMetric, evaluate_locally
from opik_checkembed.benchmarks.claims_data import LabelledClaim, load_claims
from opik_checkembed.gate.sides import replayed
from opik_checkembed.results import ItemResult

RECORDINGS = Path(__file__).parent.parent / "colab" / "recordings"


@dataclass(frozen=True)
class Row:
    """One claim and what each method says of it.

    Attributes:
        claim: The claim with its label.
        by_samples: Its evidence in `SelfConsistencyMetric`.
        by_source: Its evidence in `SourceNLIMetric`.
    """

    claim: LabelledClaim
    by_samples: Mapping[str, Any]
    by_source: Mapping[str, Any]

    @property
    def samples_err(self) -> bool:
        """Whether self-consistency flags a supported claim, or lets an unsupported one pass."""
        return bool(self.by_samples["flagged"]) != self.claim.is_unsupported

    @property
    def source_errs(self) -> bool:
        """Whether the verdict by the source is wrong."""
        return bool(self.by_source["verdict"] != "supported") != self.claim.is_unsupported

    @property
    def guard(self) -> list[str]:
        """What the rules found."""
        # None where the language has no list of strong words.
        found = [*self.by_source["unsupported_specifics"], *(self.by_source["stronger_wording"] or ())]
        return [f"{one['kind']} {one['text']!r}" for one in found]


def main() -> None:
    """Judge the recorded claims and print them."""
    about = json.loads((RECORDINGS / "claims.json").read_text("utf-8"))
    with replayed(RECORDINGS / "claims.jsonl") as store:
        rows = judged(about, store)
    console = Console()
    console.print(table(rows))
    for title, chosen in (
        ("The samples err, the source does not", [row for row in rows if row.samples_err and not row.source_errs]),
        ("The source errs, the samples do not", [row for row in rows if row.source_errs and not row.samples_err]),
    ):
        console.print(f"\n{title}: {len(chosen)} of {len(rows)} claims", style="bold")
        for row in chosen:
            console.print(Text("\n".join(["", *reasons(row)])))


def judged(about: Mapping[str, Any], store: SampleStore) -> list[Row]:
    """Every recorded claim with what both methods say of it."""
    known = {claim.claim_id: claim for claim in load_claims().claims}
    chosen = [[known[name] for name in names] for names in about["claims"].values()]
    judge = {"judge": about["model"], "judge_parameters": {**about["judging"], "store": store}}
    metrics = [
        SelfConsistencyMetric(
            about["model"],
            num_samples=about["num_samples"],
            temperature=about["temperature"],
            model_parameters=about["parameters"],
            store=store,
            track=False,
            **judge,
        ),
        SourceNLIMetric(track=False, **judge),
    ]
    results = evaluate_locally([item(claims) for claims in chosen], scoring_metrics=metrics, progress=False)
    return [row for claims, result in zip(chosen, results.items, strict=True) for row in rows_of(claims, result)]


def item(claims: Sequence[LabelledClaim]) -> dict[str, Any]:
    """The claims about one document as an item: the request that is made again holds the document."""
    document = claims[0].document
    return {
        "id": document.doc_id,
        "input": f"{document.prompt}\n\n{document.source_text}",
        "context": document.source_text,
        "output": " ".join(claim.text for claim in claims),
        "claims": [claim.text for claim in claims],
    }


def rows_of(claims: Sequence[LabelledClaim], result: ItemResult) -> list[Row]:
    """The claims of one document beside what both metrics found."""
    found = [score.evidence["claims"] for score in result.scores]
    return [Row(*each) for each in zip(claims, *found, strict=True)]


def table(rows: Sequence[Row]) -> Table:
    """All claims, those in error marked."""
    shown = Table("claim", "is", "agreement", "P(supported)", "guard", box=None, padding=(0, 2, 0, 0))
    for row in rows:
        agreement, supported = row.by_samples["agreement"], row.by_source["p_supported"]
        shown.add_row(
            row.claim.text,
            "unsupported" if row.claim.is_unsupported else "supported",
            Text(f"{agreement:.1f}", style="red" if row.samples_err else ""),
            Text(f"{supported:.2f}", style="red" if row.source_errs else ""),
            ", ".join(row.guard),
        )
    return shown


def reasons(row: Row) -> list[str]:
    """Why each method says what it says."""
    samples, source = row.by_samples, row.by_source
    votes = [p >= 0.5 for p in samples["per_sample"]]
    flagged = "flagged" if samples["flagged"] else "passes"
    lines = [
        f"{row.claim.text} ({'un' if row.claim.is_unsupported else ''}supported)",
        f"  samples: {flagged}, {sum(votes)} of {len(votes)} support it; nearest there: {samples['support']['text']!r}",
        f"  source:  {source['verdict']}, P(supported) {source['p_supported']:.2f}; nearest there: "
        f"{source['evidence']['text']!r}",
    ]
    return [*lines, f"  guard:   {', '.join(row.guard)}"] if row.guard else lines


if __name__ == "__main__":
    main()
