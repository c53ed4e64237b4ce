"""MASBENCH rows proven and replies scored per CPU-second, and the memory of a verification.

Run alone:  python benchmarks/masbench_read.py
"""

import subprocess
import sys
import time
from collections.abc import Callable

from mas_orchestra.masbench import axes
from mas_orchestra.masbench.generate import Recipe, generate
from mas_orchestra.masbench.problem import AttackKind, Axis, Split
from mas_orchestra.masbench.read_rows import read_row_line
from mas_orchestra.masbench.score import read_answer, score_answers
from mas_orchestra.masbench.verify import Verifier
from measure_options import Options, options_from_command_line
from results import Goal, Row, Table, row
from show import show

OURS = "mas_orchestra"
COMMAND = "python benchmarks/masbench_read.py"
REPEATS = 10_000
ROWS = 500
GOAL = Goal(value=50_000, at_least=True)

LONG_REPLY = "We compute step by step. " * 60 + r"Thus the answer is \boxed{17}."
TWELVE_LINES = "\n".join(rf"Problem {number}: \boxed{{{number}}}" for number in range(1, 13))
SCORED: dict[str, Callable[[], object]] = {
    "one integer": lambda: read_answer("17"),
    r"one \boxed{} after 1,500 characters": lambda: score_answers(LONG_REPLY, [17]),
    "twelve answers, one a line": lambda: score_answers(TWELVE_LINES, range(1, 13)),
}

VERIFY = """
import sys, tempfile
from pathlib import Path
from mas_orchestra.masbench.build import build
from mas_orchestra.masbench.problem import Axis
from mas_orchestra.masbench.request import BuildRequest
from mas_orchestra.masbench.verify import verify

with tempfile.TemporaryDirectory() as folder:
    build(Path(folder) / "set", BuildRequest(axes=(Axis.DEPTH,), values=(5,), train=int(sys.argv[1]), test=0))
    assert verify(Path(folder) / "set").faults == 0
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


def scored_per_cpu_second(work: Callable[[], object]) -> float:
    """How many replies of this kind one core scores in a second of its time."""
    began = time.process_time()
    for _ in range(REPEATS):
        work()
    return REPEATS / (time.process_time() - began)


def proven_per_cpu_second(axis: Axis, value: int) -> float:
    """How many rows of this size one core proves in a second of its time."""
    size = axes.sweep(axis, [value])[value]
    recipe = Recipe(
        axis=axis, value=value, parameters=size, split=Split.TRAIN, attack=AttackKind.NOTE if size.r else None
    )
    lines = [generate(recipe, index).model_dump_json().encode() for index in range(ROWS)]
    verifier = Verifier()
    began = time.process_time()
    for line in lines:
        verifier.take(read_row_line(line, "benchmark"))
    return ROWS / (time.process_time() - began)


def peak_mib(rows: int) -> float:
    """The most memory that building and verifying so many rows took, in a process of its own (Linux).

    Not `ru_maxrss`: that of a child begins at what its parent held.
    """
    done = subprocess.run([sys.executable, "-c", VERIFY, str(rows)], capture_output=True, text=True, check=True)
    return float(done.stdout) / 1024


def measure_all(options: Options) -> tuple[Table, ...]:
    """Speed of scoring and of proving, and memory by number of rows."""
    repetitions = range(options.repetitions)
    scoring = [
        row(name, OURS, [scored_per_cpu_second(work) for _ in repetitions], goal=GOAL if "twelve" not in name else None)
        for name, work in SCORED.items()
    ]
    sizes = ((Axis.DEPTH, 5), (Axis.BREADTH, 6), (Axis.PARALLEL, 12), (Axis.ROBUSTNESS, 6))
    proving = [
        row(f"{axis.value} {value}", OURS, [proven_per_cpu_second(axis, value) for _ in repetitions])
        for axis, value in sizes
    ]
    memory = [row(f"{rows:,} rows", OURS, [peak_mib(rows)]) for rows in (1_000, 10_000)]
    return (
        _table("MASBENCH replies scored per CPU-second", "replies/s", "Both readings and all faults of form.", scoring),
        _table("MASBENCH rows proven per CPU-second", "rows/s", "`mas bench verify`, one core.", proving),
        _table("Peak memory of a verification", "MiB", "One process; a few digests a row are kept.", memory),
    )


def _table(title: str, unit: str, explanation: str, rows: list[Row]) -> Table:
    return Table(title=title, unit=unit, command=COMMAND, explanation=explanation, rows=tuple(rows))


if __name__ == "__main__":
    show(measure_all(options_from_command_line(__doc__)))
