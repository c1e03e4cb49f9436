"""What importing this package costs others: a program that has Opik, and every pytest run; in fresh processes."""

from __future__ import annotations

import statistics
import subprocess
import sys

# Opik imports bert_score where it is installed, and with it torch; a user need not have it.
# What Opik holds in memory by then is frozen: a collection of it, which any import may set off, is no cost of ours.
_METRIC = """
import gc, sys, time
sys.modules["bert_score"] = None
import opik
gc.collect(); gc.freeze()
started = time.perf_counter()
from opik_checkembed import CheckEmbedMetric
print(1000 * (time.perf_counter() - started))
"""

_PLUGIN = """
import pytest, time
started = time.perf_counter()
import opik_checkembed.pytest_plugin
print(1000 * (time.perf_counter() - started))
"""

LIMIT_MS = 100.0
PLUGIN_LIMIT_MS = 50.0


def import_milliseconds(rounds: int = 5) -> float:
    """What `from opik_checkembed import CheckEmbedMetric` adds to `import opik`.

    Returns:
        Median milliseconds over `rounds` fresh processes, after one to fill the file cache.
    """
    return _milliseconds(_METRIC, rounds)


def plugin_milliseconds(rounds: int = 5) -> float:
    """What the pytest plugin adds to `import pytest`, whether or not a test uses it.

    Returns:
        Median milliseconds over `rounds` fresh processes, after one to fill the file cache.
    """
    return _milliseconds(_PLUGIN, rounds)


def _milliseconds(script: str, rounds: int) -> float:
    measured = []
    for _ in range(rounds + 1):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        measured.append(float(done.stdout.split()[-1]))
    return statistics.median(measured[1:])
