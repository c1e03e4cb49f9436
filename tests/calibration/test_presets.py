from __future__ import annotations

import subprocess
import sys

import pytest

from opik_checkembed.calibration import Calibration, load_preset, preset_names
from opik_checkembed.errors import ConfigurationError


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_is_named_as_its_file_and_round_trips(name: str) -> None:
    preset = load_preset(name)
    assert preset.name == name
    assert Calibration.from_dict(preset.to_dict()) == preset


def test_the_papers_rule_has_the_papers_bounds() -> None:
    rule = load_preset("paper_rule")
    assert dict(zip(rule.names, rule.bounds, strict=True)) == {
        "checkembed_metric.mean": 0.9,
        "checkembed_metric.std": 0.05,
        "checkembed_metric.identical": 1.0,
    }
    assert rule.fitted_on is None


def test_an_unknown_preset_names_those_there_are() -> None:
    with pytest.raises(ConfigurationError, match=r"no preset 'best'; there are .*paper_rule"):
        load_preset("best")


def test_nothing_heavy_is_loaded_to_use_a_calibration() -> None:
    script = (
        "import sys, opik_checkembed.calibration as c; import opik_checkembed.cli_calibrate; "
        "c.rethreshold, c.load_preset('paper_rule'), c.fit_calibration, c.threshold_at_fpr; "
        "sys.exit(any(m in sys.modules for m in ('sklearn', 'scipy', 'matplotlib', 'torch', 'litellm', 'opik')))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode == 0
