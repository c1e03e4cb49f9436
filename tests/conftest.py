"""Set before anything imports Opik or litellm: no test reaches a network, a model hub or the user's own store."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings

_HOME = Path(tempfile.mkdtemp(prefix="opik-checkembed-tests-"))
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)
# Empty, so that the user's own ~/.opik.config is not read.
(_HOME / "opik.config").touch()

os.environ.update(
    HF_HUB_OFFLINE="1",
    LITELLM_LOCAL_MODEL_COST_MAP="True",
    OPIK_ANALYTICS_ENABLE="false",
    OPIK_CHECKEMBED_STORE=str(_HOME / "samples.sqlite3"),
    OPIK_CONFIG_PATH=str(_HOME / "opik.config"),
    OPIK_SENTRY_ENABLE="false",
    OPIK_TRACK_DISABLE="true",
    OPIK_URL_OVERRIDE="http://127.0.0.1:9/api",
    TOKENIZERS_PARALLELISM="false",
)

# How long an example takes says more about the machine than about the code.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
