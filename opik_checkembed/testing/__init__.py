"""Stand-ins for tests that must not reach a network: a chat and embeddings server, and an Opik server.

Both are real HTTP servers on 127.0.0.1, so the real clients run in front of them.
"""

from opik_checkembed.testing.fake_openai import (
    Answer,
    ChatCall,
    EmbeddingCall,
    FakeOpenAI,
    Fault,
    RecordedCall,
    hash_vector,
)
from opik_checkembed.testing.fake_opik import FakeOpik

__all__ = [
    "Answer",
    "ChatCall",
    "EmbeddingCall",
    "FakeOpenAI",
    "FakeOpik",
    "Fault",
    "RecordedCall",
    "hash_vector",
]
