"""Replies of simulated models per CPU-second: to texts never seen, to known ones, and to sub-tasks of known ones.

Run alone:  python benchmarks/simulated_replies.py
"""

import time
from collections.abc import Sequence

from mas_orchestra.agents.base import StepCall
from mas_orchestra.agents.prompting import prompt
from mas_orchestra.masbench.axes import sweep
from mas_orchestra.masbench.generate import Recipe, generate
from mas_orchestra.masbench.problem import Axis, Split
from mas_orchestra.models.base import Params
from mas_orchestra.plan.catalog import NoArguments
from mas_orchestra.simulate.model import SimulatedModel
from mas_orchestra.types import Message
from measure_options import Options, options_from_command_line
from results import Goal, Table, row
from show import show

COMMAND = "python benchmarks/simulated_replies.py"
OURS = "mas_orchestra"
TEXTS = 400
GOAL = Goal(value=2_000, at_least=True)


def prompts(task: str, repetition: int) -> list[tuple[Message, ...]]:
    """Chain-of-thought prompts for horizon texts of 24 statements and 4 questions, other ones each repetition."""
    recipe = Recipe(axis=Axis.HORIZON, value=4, parameters=sweep(Axis.HORIZON)[4], split=Split.TRAIN)
    questions = (generate(recipe, TEXTS * repetition + index).question for index in range(TEXTS))
    return [prompt("cot", StepCall(question=text, task=task, arguments=NoArguments())) for text in questions]


def replies_per_cpu_second(asked: Sequence[tuple[Message, ...]]) -> float:
    """How many of these one core answers in a second of its time."""
    model = SimulatedModel("weak")
    began = time.process_time()
    for messages in asked:
        model.reply(messages, Params())
    return len(asked) / (time.process_time() - began)


def measure_all(options: Options) -> tuple[Table, ...]:
    """The table."""
    readings: dict[str, list[float]] = {"a new text": [], "a known text": [], "one problem of a known text": []}
    for repetition in range(options.repetitions):
        whole = prompts("", repetition)
        readings["a new text"].append(replies_per_cpu_second(whole))
        readings["a known text"].append(replies_per_cpu_second(whole))
        parts = prompts("Solve Problem 2.", repetition)
        replies_per_cpu_second(parts)
        readings["one problem of a known text"].append(replies_per_cpu_second(parts))
    rows = tuple(row(name, OURS, values, goal=None if "new" in name else GOAL) for name, values in readings.items())
    explanation = "Horizon texts of 24 statements and 4 questions; a new text is read first. SIMULATED replies."
    title = "Replies of a simulated model per CPU-second"
    return (Table(title=title, unit="replies/s", command=COMMAND, explanation=explanation, rows=rows),)


if __name__ == "__main__":
    show(measure_all(options_from_command_line(__doc__)))
