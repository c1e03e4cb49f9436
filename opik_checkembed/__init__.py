"""Opik metrics for trusting an LLM answer without a reference: ask the model again and measure agreement.

The public names are loaded when first used, so importing the package loads neither torch nor litellm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from opik_checkembed._lazy import lazily
from opik_checkembed._version import __version__

if TYPE_CHECKING:
    from opik_checkembed.calibration import Calibration, fit_calibration, fit_moments, load_preset, rethreshold
    from opik_checkembed.experiment_scores import cost_per_item, share_above, share_below, share_confident
    from opik_checkembed.functional.checkembed import CheckEmbedResult, checkembed
    from opik_checkembed.functional.grounding import SourceFacts
    from opik_checkembed.functional.selfcheck import SelfCheckResult
    from opik_checkembed.gate.comparison import compare
    from opik_checkembed.local import evaluate_locally
    from opik_checkembed.metrics.checkembed import CheckEmbedMetric
    from opik_checkembed.metrics.ensemble import EnsembleMetric
    from opik_checkembed.metrics.fact_recurrence import FactRecurrenceMetric
    from opik_checkembed.metrics.self_consistency import SelfConsistencyMetric
    from opik_checkembed.metrics.selfcheck_api_prompt import SelfCheckAPIPromptMetric
    from opik_checkembed.metrics.selfcheck_bertscore import SelfCheckBERTScoreMetric
    from opik_checkembed.metrics.selfcheck_mqag import SelfCheckMQAGMetric
    from opik_checkembed.metrics.selfcheck_ngram import SelfCheckNgramMetric
    from opik_checkembed.metrics.selfcheck_nli import SelfCheckNLIMetric
    from opik_checkembed.metrics.source_nli import SourceNLIMetric
    from opik_checkembed.models.judge import LLMJudge
    from opik_checkembed.models.verifier import ClaimVerifier, LLMVerifier, NLIVerifier
    from opik_checkembed.pricing import estimate
    from opik_checkembed.results import LocalResults
    from opik_checkembed.samples import (
        Budget,
        GivenSamples,
        LiteLLMSampler,
        OpikModelSampler,
        Retry,
        Sampler,
        SampleStore,
        TaskSampler,
    )
    from opik_checkembed.spacy_text import SpacySplitter
    from opik_checkembed.trust import check_answer

_HOMES = {
    "Budget": "samples",
    "Calibration": "calibration",
    "CheckEmbedMetric": "metrics.checkembed",
    "CheckEmbedResult": "functional.checkembed",
    "EnsembleMetric": "metrics.ensemble",
    "FactRecurrenceMetric": "metrics.fact_recurrence",
    "GivenSamples": "samples",
    "ClaimVerifier": "models.verifier",
    "LLMJudge": "models.judge",
    "LLMVerifier": "models.verifier",
    "NLIVerifier": "models.verifier",
    "LiteLLMSampler": "samples",
    "LocalResults": "results",
    "OpikModelSampler": "samples",
    "Retry": "samples",
    "SampleStore": "samples",
    "Sampler": "samples",
    "TaskSampler": "samples",
    "check_answer": "trust",
    "compare": "gate.comparison",
    "SourceFacts": "functional.grounding",
    "share_confident": "experiment_scores",
    "share_below": "experiment_scores",
    "share_above": "experiment_scores",
    "cost_per_item": "experiment_scores",
    "checkembed": "functional.checkembed",
    "SelfCheckAPIPromptMetric": "metrics.selfcheck_api_prompt",
    "SelfCheckBERTScoreMetric": "metrics.selfcheck_bertscore",
    "SelfCheckMQAGMetric": "metrics.selfcheck_mqag",
    "SelfCheckNLIMetric": "metrics.selfcheck_nli",
    "SelfCheckNgramMetric": "metrics.selfcheck_ngram",
    "SelfCheckResult": "functional.selfcheck",
    "SelfConsistencyMetric": "metrics.self_consistency",
    "SourceNLIMetric": "metrics.source_nli",
    "SpacySplitter": "spacy_text",
    "estimate": "pricing",
    "evaluate_locally": "local",
    "fit_calibration": "calibration",
    "fit_moments": "calibration",
    "load_preset": "calibration",
    "rethreshold": "calibration",
}

__all__ = [
    "Budget",
    "Calibration",
    "CheckEmbedMetric",
    "CheckEmbedResult",
    "ClaimVerifier",
    "EnsembleMetric",
    "FactRecurrenceMetric",
    "GivenSamples",
    "LLMJudge",
    "LLMVerifier",
    "LiteLLMSampler",
    "LocalResults",
    "NLIVerifier",
    "OpikModelSampler",
    "Retry",
    "SampleStore",
    "Sampler",
    "SelfCheckAPIPromptMetric",
    "SelfCheckBERTScoreMetric",
    "SelfCheckMQAGMetric",
    "SelfCheckNLIMetric",
    "SelfCheckNgramMetric",
    "SelfCheckResult",
    "SelfConsistencyMetric",
    "SourceFacts",
    "SourceNLIMetric",
    "SpacySplitter",
    "TaskSampler",
    "__version__",
    "check_answer",
    "checkembed",
    "compare",
    "cost_per_item",
    "estimate",
    "evaluate_locally",
    "fit_calibration",
    "fit_moments",
    "load_preset",
    "rethreshold",
    "share_above",
    "share_below",
    "share_confident",
]


__getattr__ = lazily(globals(), _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
