"""The SelfCheckGPT tutorial's flow with CheckEmbed: ten questions, a model, and which answers to trust.

    python examples/quickstart.py --model gpt-4o-mini             # local: no Opik server
    python examples/quickstart.py --model gpt-4o-mini --opik      # the same, logged to Opik

Any model litellm routes will do; for one of your own add --api-base http://127.0.0.1:8000/v1 --api-key none.
"""

from __future__ import annotations

import argparse
from typing import Any

from opik_checkembed import CheckEmbedMetric, evaluate_locally

SYSTEM_PROMPT = "Answer the question as truthfully as possible in no more than six sentences."

QUESTIONS = [
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
]


def main() -> None:
    """Ask, ask again, and print what to trust."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--api-base")
    parser.add_argument("--api-key")
    parser.add_argument("--num-samples", type=int, default=5)
    parser.add_argument("--max-tokens", type=int, default=256)
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds a call may take; local models need more")
    parser.add_argument("--opik", action="store_true", help="log to the Opik server you configured")
    args = parser.parse_args()

    connection = {"api_base": args.api_base, "api_key": args.api_key, "max_tokens": args.max_tokens}
    connection = {name: value for name, value in connection.items() if value is not None}

    def task(item: dict[str, Any]) -> dict[str, Any]:
        import litellm
        from opik.integrations.litellm import track_completion

        completion = track_completion()(litellm.completion) if args.opik else litellm.completion
        response = completion(
            model=args.model,
            messages=[
                {"role": "system", "content": SYSTEM_PROMPT},
                {"role": "user", "content": item["question"]},
            ],
            timeout=args.timeout,
            **connection,
        )
        # What the task says it used is what the metric asks again.
        return {
            "output": response.choices[0].message.content,
            "model_name": args.model,
            "system_prompt": SYSTEM_PROMPT,
        }

    metric = CheckEmbedMetric(num_samples=args.num_samples, model_parameters=connection, timeout=args.timeout)
    items = [{"question": question} for question in QUESTIONS]

    if args.opik:
        import opik
        from opik.evaluation import evaluate

        dataset = opik.Opik().get_or_create_dataset("opik-checkembed-quickstart")
        dataset.insert(items)
        evaluate(dataset=dataset, task=task, scoring_metrics=[metric], experiment_name="CheckEmbed quickstart")
        return

    from rich.console import Console

    from opik_checkembed.report.table import results_table

    results = evaluate_locally(items, task, [metric])
    Console().print(results_table(results, text_field="question"))
    print(f"{results.calls} calls for samples; what the store already held was not asked again")


if __name__ == "__main__":
    main()
