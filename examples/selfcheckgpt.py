"""The SelfCheckGPT tutorial's flow: three SelfCheck metrics and CheckEmbed over ten questions, one sample set for all.

    python examples/selfcheckgpt.py --model gpt-4o-mini             # local: no Opik server
    python examples/selfcheckgpt.py --model gpt-4o-mini --opik      # the same, logged to Opik

The tutorial asks for new samples for every metric; here the four metrics share them. By default they are BERTScore
(roberta-large), NLI (deberta-v3-large), the prompt variant with the model itself as judge, and CheckEmbed. `--metrics`
chooses others ("bertscore nli prompt checkembed ngram mqag"). On a laptop, smaller local models do:

    python examples/selfcheckgpt.py --model gpt-4o-mini --metrics bertscore ngram prompt checkembed \
        --encoder sentence-transformers/all-MiniLM-L6-v2 --num-layers 6

Any model litellm routes will do; for one of your own add --api-base http://127.0.0.1:8000/v1 --api-key none.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from opik.evaluation.metrics.base_metric import BaseMetric

from opik_checkembed import (
    CheckEmbedMetric,
    SelfCheckAPIPromptMetric,
    SelfCheckBERTScoreMetric,
    SelfCheckMQAGMetric,
    SelfCheckNgramMetric,
    SelfCheckNLIMetric,
    evaluate_locally,
)

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
    """Ask, ask again, and print which sentences to doubt."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--api-base")
    parser.add_argument("--api-key")
    parser.add_argument("--num-samples", type=int, default=3)
    parser.add_argument("--max-tokens", type=int, default=256)
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds a call may take; local models need more")
    parser.add_argument("--metrics", nargs="+", default=["bertscore", "nli", "prompt", "checkembed"])
    parser.add_argument("--encoder", default="roberta-large", help="for BERTScore")
    parser.add_argument("--num-layers", type=int, help="for BERTScore: the encoder's layer, if not known")
    parser.add_argument("--nli-model", help="for NLI; the reference's deberta-v3-large if not given")
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
        # What the task says it used is what the metrics ask again.
        return {
            "output": response.choices[0].message.content,
            "model_name": args.model,
            "system_prompt": SYSTEM_PROMPT,
        }

    sampling = {"num_samples": args.num_samples, "model_parameters": connection, "timeout": args.timeout}
    # Scores of another encoder than roberta-large cannot be rescaled with its baseline.
    baseline = "published" if args.encoder == "roberta-large" else None
    nli = {} if args.nli_model is None else {"nli_model": args.nli_model}
    makers: dict[str, Callable[[], BaseMetric]] = {
        "bertscore": lambda: SelfCheckBERTScoreMetric(
            encoder=args.encoder, num_layers=args.num_layers, baseline=baseline, **sampling
        ),
        "nli": lambda: SelfCheckNLIMetric(**nli, **sampling),
        "prompt": lambda: SelfCheckAPIPromptMetric(**sampling),
        "checkembed": lambda: CheckEmbedMetric(**sampling),
        "ngram": lambda: SelfCheckNgramMetric(**sampling),
        "mqag": lambda: SelfCheckMQAGMetric(distance="total_variation", **sampling),
    }
    metrics = [makers[name]() for name in args.metrics]
    items = [{"question": question} for question in QUESTIONS]

    if args.opik:
        import opik
        from opik.evaluation import evaluate

        dataset = opik.Opik().get_or_create_dataset("opik-checkembed-selfcheckgpt")
        dataset.insert(items)
        evaluate(dataset=dataset, task=task, scoring_metrics=metrics, experiment_name="SelfCheckGPT")
        return

    from rich.console import Console

    from opik_checkembed.report.table import results_table

    results = evaluate_locally(items, task, metrics)
    Console().print(results_table(results, text_field="question"))
    for item in results.items:
        for score in item.scores:
            print(f"{item.item['question']} {score.name}: {score.reason}")
    print(f"{results.calls} calls for samples and judging; what the store already held was not asked again")


if __name__ == "__main__":
    main()
