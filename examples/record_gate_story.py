"""Record the answers of the gate's story with a model of your choice.

    python examples/record_gate_story.py --model gpt-4o-mini --out recording
    python examples/record_gate_story.py --model openai/local --param api_base=http://127.0.0.1:8000/v1 \
        --param api_key=none --out recording

Asks every item of `examples/gate_story/items.jsonl` once under each of its three prompts and writes `answers.jsonl` (as
`opik-checkembed gate --replay` reads it) and `recording.json` (which model, when, with which parameters). Every answer
is kept as it arrives: run it again after an interruption and only what is missing is asked for.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from opik_checkembed import __version__
from opik_checkembed.gate.prompt import Prompt
from opik_checkembed.items import load_items
from opik_checkembed.metric_names import value_of
from opik_checkembed.samples import LiteLLMSampler, SampleStore

STORY = Path(__file__).parent / "gate_story"
PROMPTS = ("baseline", "without_rule", "reworded")
SECRET = "api_key"


def main() -> None:
    """Record what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a model that litellm routes")
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="for litellm; repeatable")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    parser.add_argument("--max-concurrency", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds an answer may take")
    parser.add_argument("--note", action="append", default=[], metavar="NAME=TEXT", help="more for recording.json")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    parameters = {name: value_of(value) for name, _, value in (text.partition("=") for text in args.param)}
    items = load_items(STORY / "items.jsonl")

    with SampleStore(args.out / "answers.sqlite3") as store:
        sampler = LiteLLMSampler(
            args.model,
            temperature=0.0,
            store=store,
            timeout=args.timeout,
            max_concurrency=args.max_concurrency,
            **parameters,
        )
        for name in PROMPTS:
            task = Prompt.from_file(STORY / "prompts" / f"{name}.json").task(sampler)
            with ThreadPoolExecutor(args.max_concurrency) as threads:
                for item, answered in zip(items, threads.map(task, items), strict=True):
                    print(f"{name}, {item['id']}: {answered['output']}", flush=True)
        count = store.export(args.out / "answers.jsonl")
    recording = {
        "model": args.model,
        "recorded": datetime.now(UTC).isoformat(timespec="seconds"),
        "opik_checkembed": __version__,
        "answers": count,
        "parameters": {name: value for name, value in parameters.items() if name != SECRET},
        **{name: text for name, _, text in (note.partition("=") for note in args.note)},
    }
    (args.out / "recording.json").write_text(json.dumps(recording, indent=2, ensure_ascii=False) + "\n", "utf-8")
    print(f"wrote answers.jsonl and recording.json to {args.out}")


if __name__ == "__main__":
    main()
