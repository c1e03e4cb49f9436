import subprocess
import sys

PROGRAM = """
import sys

watchers = []
sys.addaudithook = watchers.append

import litellm, opik, sentence_transformers, spacy, opik_checkembed

print(len(watchers), *(f"{watcher.__module__}.{watcher.__qualname__}" for watcher in watchers))
"""


def test_no_dependency_watches_the_process_from_python() -> None:
    # Python code that runs while a trace function is being installed lets another thread in, which then fails to
    # install its own and dies: under coverage, one request of thousands is never answered (Python 3.11).
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["0"], done.stdout + done.stderr
