"""What `import opik_checkembed` promises: the names, and how little it loads."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import opik_checkembed

HEAVY = {"torch", "litellm", "transformers", "sentence_transformers", "spacy", "matplotlib"}

# Opik imports bert_score where it is installed, and that all of torch. In one process, since Opik takes a while.
PROGRAM = """
import json, sys
sys.modules["bert_score"] = None

def loaded():
    return sorted({name.partition(".")[0] for name in sys.modules})

import opik_checkembed
steps = {"package": loaded()}
import opik
steps["opik"] = loaded()
from opik_checkembed import CheckEmbedMetric
steps["metric"] = loaded()
from opik_checkembed import evaluate_locally
from opik.evaluation.metrics import Equals
evaluate_locally([{"output": "x", "reference": "x"}], None, [Equals()], progress=False)
steps["evaluation"] = loaded()
print(json.dumps(steps))
"""


@pytest.fixture(scope="module")
def loaded() -> dict[str, set[str]]:
    """Top-level modules in a fresh process after each step."""
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=True)
    return {step: set(names) for step, names in json.loads(ran.stdout.splitlines()[-1]).items()}


@pytest.mark.parametrize("name", opik_checkembed.__all__)
def test_each_public_name_loads_and_is_documented(name: str) -> None:
    value = getattr(opik_checkembed, name)

    assert value is getattr(opik_checkembed, name)
    assert value.__doc__
    if name != "__version__":
        assert value.__name__ == name
        assert value.__module__.startswith("opik_checkembed.")


def test_the_list_of_names_is_what_loads_lazily() -> None:
    lazy = set(opik_checkembed._HOMES)

    assert set(opik_checkembed.__all__) == lazy | {"__version__"}
    assert opik_checkembed.__all__ == sorted(opik_checkembed.__all__)
    assert set(opik_checkembed.__all__) <= set(dir(opik_checkembed))


def test_a_star_import_gives_the_public_names() -> None:
    names: dict[str, object] = {}

    exec("from opik_checkembed import *", names)

    assert set(opik_checkembed.__all__) == names.keys() - {"__builtins__"}


def test_the_type_checker_sees_the_names_that_load() -> None:
    source = Path(opik_checkembed.__file__).read_text("utf-8")
    typed = source[source.index("if TYPE_CHECKING:") : source.index("_HOMES")]

    assert [name for name in opik_checkembed._HOMES if name not in typed] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'opik_checkembed' has no attribute 'CheckEmbedMertic'"):
        _ = opik_checkembed.CheckEmbedMertic
    with pytest.raises(ImportError):
        exec("from opik_checkembed import CheckEmbedMertic")


def test_importing_the_package_loads_nothing_heavy(loaded: dict[str, set[str]]) -> None:
    assert loaded["package"] & (HEAVY | {"opik", "numpy", "pandas", "rich"}) == set()
    assert "opik_checkembed" in loaded["package"]


def test_the_metric_loads_nothing_heavy_beyond_opik(loaded: dict[str, set[str]]) -> None:
    assert (loaded["metric"] - loaded["opik"]) & (HEAVY | {"pandas"}) == set()
    assert "numpy" in loaded["metric"]


def test_evaluating_locally_loads_nothing_heavy_beyond_opik(loaded: dict[str, set[str]]) -> None:
    assert (loaded["evaluation"] - loaded["opik"]) & (HEAVY | {"pandas"}) == set()
