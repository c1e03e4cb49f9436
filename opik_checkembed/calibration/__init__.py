"""Scores to probabilities and verdicts: fitted on labelled answers, kept as JSON, applied to finished results.

```python
fit = fit_calibration(scores, labels, directions={"fact_recurrence": False}, groups=passages)
fit.calibration.to_json("calibration.json")
rethreshold(results, Calibration.from_json("calibration.json")).flagged
```

Without labels, `fit_moments(results)` stores what makes scores of different scales comparable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from opik_checkembed._lazy import lazily

if TYPE_CHECKING:
    from opik_checkembed.calibration.apply import ItemVerdict, Verdicts, rethreshold
    from opik_checkembed.calibration.fit import Fit, fit_calibration
    from opik_checkembed.calibration.model import Calibration, CalibrationWarning, Feature, FittedOn
    from opik_checkembed.calibration.moments import fit_moments
    from opik_checkembed.calibration.options import options_of
    from opik_checkembed.calibration.presets import load_preset, preset_names
    from opik_checkembed.calibration.thresholds import (
        OperatingPoint,
        operating_points,
        threshold_at_fpr,
        threshold_best_f1,
    )

_HOMES = {
    "Calibration": "model",
    "CalibrationWarning": "model",
    "Feature": "model",
    "Fit": "fit",
    "FittedOn": "model",
    "ItemVerdict": "apply",
    "OperatingPoint": "thresholds",
    "Verdicts": "apply",
    "fit_calibration": "fit",
    "fit_moments": "moments",
    "load_preset": "presets",
    "operating_points": "thresholds",
    "options_of": "options",
    "preset_names": "presets",
    "rethreshold": "apply",
    "threshold_at_fpr": "thresholds",
    "threshold_best_f1": "thresholds",
}

__all__ = [
    "Calibration",
    "CalibrationWarning",
    "Feature",
    "Fit",
    "FittedOn",
    "ItemVerdict",
    "OperatingPoint",
    "Verdicts",
    "fit_calibration",
    "fit_moments",
    "load_preset",
    "operating_points",
    "options_of",
    "preset_names",
    "rethreshold",
    "threshold_at_fpr",
    "threshold_best_f1",
]

__getattr__ = lazily(globals(), _HOMES)
