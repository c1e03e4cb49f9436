"""Record answers and samples of a model, for the demo, for tests or for a gate that replays them.

    python examples/record_samples.py --model gpt-4o-mini --out recording

Asks each question once at temperature 0 (the judged answer) and `--num-samples` times at temperature 1, and writes
three files: `items.jsonl` (question, answer, model, system prompt), `samples.jsonl` (as `opik-checkembed samples
import` reads it) and `recording.json` (which model, when, with which parameters). Every answer is kept as it arrives:
run it again after an interruption and only what is missing is asked for.
"""

from __future__ import annotations

import argparse
import json
import os
from datetime import UTC, datetime
from pathlib import Path

from opik_checkembed import __version__
from opik_checkembed.samples import LiteLLMSampler, SampleStore

SYSTEM_PROMPT = "Answer the question as truthfully as possible in no more than six sentences."

QUESTIONS = {
    "tutorial": [
        "Who was Ernst Opik?",
        "How big was the Spanish Armada?",
        "What is the Great Wall of China?",
        "Do honeybees sleep?",
        "What are asteroids made of?",
        "How does a starfish move?",
        "What did Marie Curie do?",
        "What did the sixth president of the United States accomplish?",
        "When is the best time to launch a rocket?",
        "Where is the largest man-made structure located?",
    ],
    "certain": [
        "What is the capital of France?",
        "How many days are there in a week?",
        "Who wrote Romeo and Juliet?",
        "What is the chemical symbol for gold?",
        "What is seven times eight?",
    ],
    "unknowable": [
        "What did Ernst Opik have for breakfast on 3 May 1931?",
        "Who was the night guard on duty at the Louvre last night?",
        "What was the name of the first dog that Marie Curie's neighbour owned?",
        "Which song did the captain of the Spanish Armada's smallest ship hum most often?",
        "What was the winning number of the village raffle in Kunda, Estonia, in 1954?",
    ],
}


def main() -> None:
    """Record what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a model that litellm routes")
    parser.add_argument("--api-base", help="the server, for self-hosted models")
    parser.add_argument("--api-key", default=os.environ.get("OPENAI_API_KEY"), help="default: OPENAI_API_KEY")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    parser.add_argument("--num-samples", type=int, default=10)
    parser.add_argument("--max-tokens", type=int, default=256)
    parser.add_argument("--max-concurrency", type=int, default=8)
    parser.add_argument("--timeout", type=float, default=60.0)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    # `api_base` is part of what a sample is kept under: the same name on another server is another model.
    shaping = {"max_tokens": args.max_tokens, **({"api_base": args.api_base} if args.api_base else {})}
    with SampleStore(args.out / "samples.sqlite3") as store:

        def sampler(temperature: float) -> LiteLLMSampler:
            return LiteLLMSampler(
                args.model,
                temperature=temperature,
                store=store,
                timeout=args.timeout,
                max_concurrency=args.max_concurrency,
                api_key=args.api_key,
                **shaping,
            )

        items: list[dict[str, str]] = []
        for kind, questions in QUESTIONS.items():
            for question in questions:
                fields = {"question": question, "system_prompt": SYSTEM_PROMPT, "model_name": args.model}
                judged = sampler(0.0).draw(fields, 1)
                samples = sampler(1.0).draw(fields, args.num_samples)
                failures = [*judged.failures, *samples.failures]
                if failures:
                    raise SystemExit(f"{question}: {failures[0]}\nRun the same command again to go on from here.")
                items.append(
                    {"id": f"{kind}-{len(items) + 1}", "kind": kind, **fields, "output": judged.samples[0].text}
                )
                print(f"{len(samples.usable)}/{args.num_samples} usable: {question}", flush=True)
        store.export(args.out / "samples.jsonl")
    _write(args.out / "items.jsonl", "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items))
    recording = {
        "model": args.model,
        "recorded": datetime.now(UTC).isoformat(timespec="seconds"),
        "opik_checkembed": __version__,
        "num_samples": args.num_samples,
        "temperature": {"judged answer": 0.0, "samples": 1.0},
        "parameters": shaping,
        "system_prompt": SYSTEM_PROMPT,
    }
    _write(args.out / "recording.json", json.dumps(recording, indent=2, ensure_ascii=False) + "\n")
    print(f"wrote items.jsonl, samples.jsonl and recording.json to {args.out}")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
