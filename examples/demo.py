"""A whole run on this machine with no key, no network and no GPU: SmolLM2-135M writes the plans and does the steps.

python examples/demo.py [FILE.jsonl]
"""

import json
import sys
from pathlib import Path

from mas_orchestra.agents.cot import CoTAgent
from mas_orchestra.agents.debate import DebateAgent
from mas_orchestra.agents.reflexion import ReflexionAgent
from mas_orchestra.agents.registry import Registry
from mas_orchestra.agents.self_consistency import SCAgent
from mas_orchestra.config import Settings
from mas_orchestra.models.base import Params
from mas_orchestra.models.uri import open_model
from mas_orchestra.run import Limits, Orchestrated, Outcome, PlanWriter, Runtime, run_async, solve
from mas_orchestra.tasks.task import Task

QUESTIONS = Path(__file__).with_name("questions.jsonl")
HONESTLY = """\
The model is SmolLM2-135M: 135 million parameters, a thousandth of those that such systems are made for. A JSON Schema
keeps its plans valid; what stands in them, and the answers, are often wrong. It shows the machinery, not the quality.
"""
# Small options: every token is computed here, some 90 a second on one core.
AGENTS = (
    CoTAgent(max_tokens=120, format_retries=2),
    SCAgent(max_tokens=120, format_retries=2, samples=3),
    DebateAgent(max_tokens=120, format_retries=2, rounds=1),
    ReflexionAgent(max_tokens=120, format_retries=2, rounds=1),
)


def read_tasks(file: Path) -> list[Task]:
    """One task a line."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [Task(id=row["id"], question=row["question"], answers=tuple(row["answers"])) for row in rows]


def show(task: Task, outcome: Outcome) -> None:
    """Print plan, steps, answer and cost of one run."""
    print(f"── {task.question}")
    if outcome.plan is not None:
        print(f"   plan: {outcome.plan.thinking}")
    for step in outcome.steps:
        print(f"   {step.id} {step.agent}: {step.input or task.question}")
        print(f"      → {step.output or step.status}   [{len(step.calls)} calls, {step.wall_s:.1f} s]")
    print(f"   answer: {outcome.answer or f'none: {outcome.failure}'}")
    print(f"   reference: {', '.join(task.answers) or 'none; it is a matter of opinion'}")
    spent = f"{outcome.calls} calls, {outcome.usage.total_tokens} tokens, ${outcome.cost_usd:.2f}"
    print(f"   {spent}, {outcome.wall_s:.1f} s\n")


async def main(file: Path) -> None:
    """Answer every question of `file`, one after the other."""
    print(HONESTLY)
    model = open_model("local:smollm2-135m", Settings())
    runtime = Runtime(model=model, registry=Registry(AGENTS), limits=Limits(timeout_s=60))
    system = Orchestrated(writer=PlanWriter(params=Params(temperature=0.3, max_tokens=400, seed=1)))
    try:
        for task in read_tasks(file):
            show(task, await solve(task, system, runtime))
    finally:
        await runtime.close()


if __name__ == "__main__":
    run_async(main(Path(sys.argv[1]) if len(sys.argv) > 1 else QUESTIONS))
