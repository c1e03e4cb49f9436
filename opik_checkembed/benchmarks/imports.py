"""What `from opik_checkembed import CheckEmbedMetric` adds to `import opik`, in processes of their own."""

from __future__ import annotations

import statistics
import subprocess
import sys

# Opik imports bert_score where it is installed, and with it torch; a user need not have it.
_SCRIPT = """
import sys, time
sys.modules["bert_score"] = None
import opik
started = time.perf_counter()
from opik_checkembed import CheckEmbedMetric
print(1000 * (time.perf_counter() - started))
"""

LIMIT_MS = 100.0


def import_milliseconds(rounds: int = 5) -> float:
    """Median milliseconds over `rounds` fresh processes, after one to fill the file cache."""
    measured = []
    for _ in range(rounds + 1):
        done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True)
        measured.append(float(done.stdout.split()[-1]))
    return statistics.median(measured[1:])
