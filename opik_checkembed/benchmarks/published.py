"""What others published on the same data, as printed (x100), to stand beside what is measured here."""

from __future__ import annotations

from dataclasses import dataclass

COLUMNS = ("nonfact", "nonfact_star", "factual", "pearson", "spearman")
"""The columns of the WikiBio table: three areas under precision-recall curves of sentences, two correlations of
passages."""

HEADERS = {
    "nonfact": "NonFact",
    "nonfact_star": "NonFact*",
    "factual": "Factual",
    "pearson": "Pearson",
    "spearman": "Spearman",
}


@dataclass(frozen=True)
class PublishedRow:
    """One method on all 238 passages of WikiBio-GPT3, x100; None where nothing was published.

    Attributes:
        method: Its name in the source.
        source: Where it is printed.
        nonfact: Area under the precision-recall curve for inaccurate sentences.
        nonfact_star: The same for major inaccuracies, totally hallucinated passages left out.
        factual: The same for accurate sentences.
        pearson: Correlation of passage scores with passage labels.
        spearman: Rank correlation of the same.
    """

    method: str
    source: str
    nonfact: float | None = None
    nonfact_star: float | None = None
    factual: float | None = None
    pearson: float | None = None
    spearman: float | None = None


_SELFCHECK = "SelfCheckGPT (EMNLP 2023)"

WIKIBIO = (
    PublishedRow("random", _SELFCHECK, 72.96, 29.72, 27.04),
    PublishedRow("SelfCheck-BERTScore", _SELFCHECK, 81.96, 45.96, 44.23, 58.18, 55.90),
    PublishedRow("SelfCheck-QA (MQAG)", _SELFCHECK, 84.26, None, 48.14, 61.07),
    PublishedRow("SelfCheck-unigram (max)", _SELFCHECK, 85.63, None, 58.47, 64.71),
    PublishedRow("SelfCheck-NLI", _SELFCHECK, 92.50, 45.17, 66.08, 74.14, 73.78),
    PublishedRow("SelfCheck-prompt gpt-3.5", _SELFCHECK, 93.42, 53.19, 67.09, 78.32, 78.30),
    PublishedRow("CheckEmbed best (16 samples)", "CheckEmbed (2024)", pearson=73.6, spearman=76.2),
)
"""Published rows, in the order of their sources."""


def published_row(method: str) -> PublishedRow:
    """The row of this name.

    Raises:
        KeyError: Nothing was published under it.

    Example:
        >>> published_row("SelfCheck-NLI").pearson
        74.14
    """
    return {row.method: row for row in WIKIBIO}[method]
