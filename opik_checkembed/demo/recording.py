"""What a real local model answered, and which, when and how (`examples/record_samples.py` made it)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from opik_checkembed.items import load_items


@dataclass(frozen=True)
class Recording:
    """A recorded model.

    Attributes:
        items: One for each question: `id`, `kind` (tutorial, certain, unknowable), `question`, `system_prompt`,
            `model_name` and `output`, the answer at temperature 0.
        samples: For each item the texts of its samples, at temperature 1, in order.
        about: `model`, `recorded` (when), `num_samples`, `temperature`, `parameters`, `system_prompt`.
        path: The folder, as `record_samples.py` writes it.
    """

    items: list[dict[str, Any]]
    samples: list[list[str]]
    about: dict[str, Any]
    path: Path

    @property
    def samples_file(self) -> Path:
        """The samples as a store imports them."""
        return self.path / "samples.jsonl"


def load_recording(path: Path | None = None) -> Recording:
    """A recording from a folder; None for the one that comes with the package."""
    folder = path or Path(str(resources.files("opik_checkembed.demo") / "recording"))
    items = load_items(folder / "items.jsonl")
    by_question: dict[str, list[tuple[int, str]]] = {}
    for line in load_items(folder / "samples.jsonl"):
        request = line["request"]
        if request["parameters"].get("temperature"):
            question = request["messages"][-1]["content"]
            by_question.setdefault(question, []).append((line["index"], line["sample"]["text"]))
    return Recording(
        items=items,
        samples=[[text for _, text in sorted(by_question[item["question"]])] for item in items],
        about=json.loads((folder / "recording.json").read_text("utf-8")),
        path=folder,
    )
