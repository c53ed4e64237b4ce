"""Answers scored in a second: numbers by hand (CPU time), formulas in one worker process (wall time).

Run alone:  python benchmarks/score_answers.py [--json]
"""

import argparse
import asyncio
import json
import time
from collections.abc import Callable

from mas_orchestra.score import Scorers
from mas_orchestra.score.base import Scorer
from mas_orchestra.tasks import Task
from measure_options import Options
from results import Goal, Row, Table, row
from show import show

OURS = "mas_orchestra"
NUMBERS_GOAL = 50_000
WORTH_S = 0.3
"""One repetition scores answers for so long."""

NUMBERS = {
    "an integer": ("204", "{}"),
    "an integer in a box": ("204", r"\boxed{{{}}}"),
    "a decimal": ("2.5", "{}.5"),
}
FORMULAS = {
    "an interval": ("x<{}", r"(-\infty, {})"),
    "a polynomial": ("(x+{})^2", "x^2+2*{0}*x+{0}^2"),
}


async def per_second(scorer: Scorer, gold: str, answer: str, clock: Callable[[], float]) -> float:
    """Scores a second over answers that all differ, so that no cache helps."""
    count, began = 0, clock()
    while (spent := clock() - began) < WORTH_S:
        task = Task(id="t", question="What is it?", answers=(gold.format(count),), kind="mathematics")
        await scorer.score(task, answer.format(count))
        count += 1
    return count / spent


async def rows(options: Options) -> list[Row]:
    """Numbers with their goal, then formulas."""
    found: list[Row] = []
    with Scorers.standard() as scorers:
        scorer = scorers["mathematics"]
        for cases, goal, clock in (
            (NUMBERS, Goal(value=NUMBERS_GOAL, at_least=True), time.process_time),
            (FORMULAS, None, time.perf_counter),
        ):
            for name, (gold, answer) in cases.items():
                await per_second(scorer, gold, answer, clock)
                rates = [await per_second(scorer, gold, answer, clock) for _ in range(options.repetitions)]
                found.append(row(name, OURS, rates, goal=goal))
    return found


def measure_all(options: Options) -> tuple[Table, ...]:
    """One table."""
    return (
        Table(
            title="Score mathematics",
            unit="answers/s",
            command="python benchmarks/score_answers.py",
            explanation="Answers that all differ, one after the other: numbers by CPU time, formulas by wall time.",
            rows=tuple(asyncio.run(rows(options))),
        ),
    )


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=Options().repetitions, help="of every measurement")
    parser.add_argument("--json", action="store_true", help="print the tables as JSON")
    arguments = parser.parse_args()
    tables = measure_all(Options(repetitions=arguments.repetitions))
    if arguments.json:
        print(json.dumps([table.model_dump(mode="json") for table in tables], indent=2))
    else:
        show(tables)


if __name__ == "__main__":
    main()
