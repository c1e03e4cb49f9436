"""The main job, offline: a recorded model, replayed through the store and scored by a real embedder."""

from opik_checkembed.demo.recording import Recording, load_recording
from opik_checkembed.demo.run import run_demo

__all__ = ["Recording", "load_recording", "run_demo"]
