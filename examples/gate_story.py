"""A support bot's prompt loses one sentence, and the gate says what that does; a harmless rewording beside it. Offline.

    python examples/gate_story.py

Reads the answers of a small local model to 96 questions under three prompts (`examples/gate_story/`, whose README says
how they were made), scores them with a metric that is written here, and prints what the gate says of both changes. The
items, the prompts, the metric, the margin and the seed stood in `examples/gate_story/plan.json` before the model was
asked. `--results FOLDER` also writes the three result files, which `opik-checkembed gate` compares as well.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from opik.evaluation.metrics.score_result import ScoreResult
from rich.console import Console

from opik_checkembed import LocalResults, evaluate_locally
from opik_checkembed.errors import AnswerError
from opik_checkembed.functional.grounding import SourceFacts
from opik_checkembed.gate.comparison import Comparison, compare
from opik_checkembed.gate.decision import decide
from opik_checkembed.gate.prompt import Prompt
from opik_checkembed.gate.sides import replayed
from opik_checkembed.gate.terminal import terminal_report
from opik_checkembed.gate.wording import answer_of
from opik_checkembed.metrics.base import ItemMetric
from opik_checkembed.samples import LiteLLMSampler
from opik_checkembed.samples.request import judged_output

STORY = Path(__file__).parent / "gate_story"
PRODUCT = "Pipwren"


class InventedSpecificsMetric(ItemMetric):
    """1 where an answer holds a number, name or the like that neither context nor question has, else 0."""

    higher_is_better = False
    default_name = "invented_specifics"

    def score(self, output: Any = None, context: str = "", question: str = "", **_: Any) -> ScoreResult:
        """Score one answer; one that says it does not know invents nothing."""
        try:
            answer = judged_output({"output": output})[0]
        except AnswerError as error:
            return self.failed(error)
        found = SourceFacts(context, known=f"{question}\n{PRODUCT}").lacking(answer)
        named = ", ".join(f'{one.kind} "{one.text}"' for one in found)
        reason = f"Neither context nor question has {named}." if found else "Nothing specific beyond the context."
        evidence = {"found": [one.to_dict() for one in found]}
        return ScoreResult(name=self.name, value=float(bool(found)), reason=reason, metadata={"evidence": evidence})


METRICS = [InventedSpecificsMetric(track=False)]


def main() -> None:
    """Score the recorded answers and print both comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, help="folder to write the three result files to")
    args = parser.parse_args()
    plan = json.loads((STORY / "plan.json").read_text("utf-8"))
    about = json.loads((STORY / "recording.json").read_text("utf-8"))

    results = answered(list(plan["prompts"]), about)
    console = Console()
    for planned in plan["comparisons"]:
        baseline, candidate = planned["baseline"], planned["candidate"]
        comparison = compare(
            results[baseline],
            results[candidate],
            margin=plan["margin"],
            alpha=plan["alpha"],
            seed=plan["seed"],
            names=(baseline, candidate),
        )
        decision = decide(comparison)
        console.rule(f"{baseline} -> {candidate}: expected {planned['expected']}", align="left")
        console.print(terminal_report(comparison, decision, worst=0))
        print_worst(console, comparison)
        console.print(f"\nThe command for the same, which exits with {int(decision.outcome)}:\n")
        print(command(baseline, candidate, plan, about) + "\n")
    if args.results is not None:
        args.results.mkdir(parents=True, exist_ok=True)
        for name, result in results.items():
            result.to_json(args.results / f"{name}.json")


def answered(prompts: list[str], about: dict[str, Any]) -> dict[str, LocalResults]:
    """The recorded answers to each prompt, scored; no model is asked."""
    with replayed(STORY / "answers.jsonl") as store:
        sampler = LiteLLMSampler(about["model"], temperature=0.0, store=store, **about["parameters"])
        return {
            name: evaluate_locally(
                STORY / "items.jsonl",
                Prompt.from_file(STORY / "prompts" / f"{name}.json").task(sampler),
                METRICS,
                progress=False,
            )
            for name in prompts
        }


def print_worst(console: Console, comparison: Comparison) -> None:
    """The items that lost most, with both answers and why the candidate's is the worse one."""
    for place, item in enumerate(comparison.worst(5), 1):
        why = "; ".join(score.reason or "" for score in item.candidate.scores)
        lines = {
            "asked": item.baseline.item["question"],
            comparison.baseline_name: answer_of(item.baseline),
            comparison.candidate_name: answer_of(item.candidate),
            "why": why,
        }
        console.print(f"\n{place}. {item.id}", markup=False, style="bold")
        for label, text in lines.items():
            console.print(f"   {label:<12} {text}", markup=False, highlight=False)


def command(baseline: str, candidate: str, plan: dict[str, Any], about: dict[str, Any]) -> str:
    """The gate's command that runs both prompts from the recording."""
    parameters = [f"--param {name}={value}" for name, value in about["parameters"].items()]
    return " \\\n    ".join(
        [
            "opik-checkembed gate",
            f"--baseline examples/gate_story/prompts/{baseline}.json",
            f"--candidate examples/gate_story/prompts/{candidate}.json",
            "--data examples/gate_story/items.jsonl --metrics examples/gate_story.py:METRICS",
            " ".join([f"--model {about['model']}", *parameters]),
            f"--replay examples/gate_story/answers.jsonl --margin {plan['margin']} --seed {plan['seed']}",
        ]
    )


if __name__ == "__main__":
    main()
