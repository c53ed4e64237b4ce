"""Milliseconds of CPU to read and check a plan's text, and hostile megabytes; the floor is one bare scan.

Run alone:  python benchmarks/plan_reading.py [--json]
"""

import argparse
import json
import re
import time
from collections.abc import Callable
from functools import partial

from mas_orchestra.plan import Edge, Plan, Step, installed_catalog, read, render
from measure_options import Options
from results import Goal, Row, Table, row
from show import show

OURS = "mas_orchestra"
FLOOR = "bare scan or json.loads"
GOALS_MS = {1: 0.1, 7: 0.5, 30: 2.0, 300: 20.0}
HOSTILE_GOAL_MS = 500.0
MEGABYTE = 1_000_000
WORTH_MS = 100.0
"""One repetition reads a text as often as fits into this, and takes the mean."""

TAG = re.compile(r"<(/?)([a-z_]+)\s*>")
PIECES = {
    "blanks": " ",
    "<agent>": "<agent>",
    "whole empty agents": "<agent></agent>",
    "open inputs": "<agent><agent_input>",
    "edges": "<edge><from>a</from><to>b</to></edge>",
    "</think>": "</think>",
    "open answers": "<answer>a",
    "{": "{",
    "nested objects": '{"a":',
    "broken objects": '{"a":x',
    "open quotes": '{"',
    "references": "${",
    "entities": "&lt;",
}


def plan_of(steps: int) -> Plan:
    """Solvers in threes, each reading the one before, and a last step that joins the three chains."""
    solvers = [
        Step(
            id=f"part_{number}",
            agent="CoTAgent",
            description=f"Works out part {number} of the question",
            input=f"Work out part {number}, step by step."
            + (f" It needs this: ${{part_{number - 3}}}" if number >= 3 else ""),
        )
        for number in range(max(1, steps - 1))
    ]
    edges = [Edge(f"part_{number - 3}", f"part_{number}") for number in range(3, len(solvers))]
    if steps == 1:
        return Plan(thinking="One step is enough.", steps=tuple(solvers))
    ends = [solver.id for solver in solvers[-3:]]
    last = Step(
        id="join", agent="CoTAgent", description="Joins", input="Join: " + ", ".join(f"${{{end}}}" for end in ends)
    )
    edges += [Edge(end, "join") for end in ends]
    return Plan(thinking="Three chains side by side.", steps=(*solvers, last), edges=tuple(edges))


def milliseconds(work: Callable[[], object]) -> float:
    """Mean CPU time of one call, over as many as are worth timing; reading waits for nothing."""
    began = time.process_time()
    work()
    once = (time.process_time() - began) * 1000
    calls = max(1, int(WORTH_MS / max(once, 0.001)))
    began = time.process_time()
    for _ in range(calls):
        work()
    return (time.process_time() - began) * 1000 / calls


def scan(text: str) -> int:
    """The floor: finds every tag once and does nothing with it."""
    return sum(1 for _ in TAG.finditer(text))


def plan_rows(options: Options) -> list[Row]:
    """Valid plans of every size in every wire format."""
    rows: list[Row] = []
    for steps, goal_ms in GOALS_MS.items():
        for wire in ("xml", "tools", "json"):
            text = render(plan_of(steps), wire)
            reads = partial(read, text, max_steps=steps)
            assert reads().valid
            name = f"{steps} steps, {wire}, {len(text) / 1000:.1f} kB"
            times = [milliseconds(reads) for _ in range(options.repetitions)]
            rows.append(row(name, OURS, times, goal=Goal(value=goal_ms)))
            bare = partial(scan, text) if wire == "xml" else partial(json.loads, text)
            floor = [milliseconds(bare) for _ in range(options.repetitions)]
            rows.append(row(name, FLOOR, floor))
    return rows


def hostile_rows(options: Options) -> list[Row]:
    """A megabyte of each piece."""
    rows: list[Row] = []
    for name, piece in PIECES.items():
        text = piece * (MEGABYTE // len(piece))
        times = [milliseconds(partial(read, text, mode="lenient")) for _ in range(options.repetitions)]
        rows.append(row(f"1 MB of {name}", OURS, times, goal=Goal(value=HOSTILE_GOAL_MS)))
        floor = [milliseconds(partial(scan, text)) for _ in range(options.repetitions)]
        rows.append(row(f"1 MB of {name}", FLOOR, floor))
    return rows


def measure_all(options: Options) -> tuple[Table, ...]:
    """Valid plans, then hostile text."""
    installed_catalog()
    command = "python benchmarks/plan_reading.py"
    return (
        Table(
            title="Read and check a plan",
            unit="ms",
            command=command,
            explanation="CPU time of `plan.read` on a valid plan, strictly; the floor only finds tags or parses JSON.",
            rows=tuple(plan_rows(options)),
        ),
        Table(
            title="Read hostile text",
            unit="ms",
            command=command,
            explanation="CPU time of `plan.read` in lenient mode on a megabyte made of one piece.",
            rows=tuple(hostile_rows(options)),
        ),
    )


def main() -> None:
    """Measure, and print tables or one JSON list of them."""
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
