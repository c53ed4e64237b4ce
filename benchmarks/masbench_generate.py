"""MASBENCH problems per CPU-second, text and certificate included, and the memory of a streamed build.

Run alone:  python benchmarks/masbench_generate.py
"""

import subprocess
import sys
import time

from mas_orchestra.masbench import axes
from mas_orchestra.masbench.generate import Recipe, generate
from mas_orchestra.masbench.problem import AttackKind, Axis, Parameters, Split
from measure_options import Options, options_from_command_line
from results import Goal, Row, Table, row
from show import show

OURS = "mas_orchestra"
PROBLEMS = 2_000
GOAL = Goal(value=2_000, at_least=True)

SIZES = {
    "d5 b2 n8 T24": Parameters(d=5, b=2, n=8, T=24),
    "d2 b2 n3 T12": Parameters(d=2, b=2, n=3, T=12),
    "d12 b2 n13 T36": Parameters(d=12, b=2, n=13, T=36),
    "d4 b12 n20 T36": Parameters(d=4, b=12, n=20, T=36),
    "parallel 12": axes.sweep(Axis.PARALLEL)[12],
    "robustness 12": axes.sweep(Axis.ROBUSTNESS)[12],
}

BUILD = """
import sys, tempfile
from pathlib import Path
from mas_orchestra.masbench.build import build
from mas_orchestra.masbench.problem import Axis
from mas_orchestra.masbench.request import BuildRequest

with tempfile.TemporaryDirectory() as folder:
    build(Path(folder) / "set", BuildRequest(axes=(Axis.DEPTH,), values=(5,), train=int(sys.argv[1]), test=0))
status = Path("/proc/self/status").read_text()
print(int(status.partition("VmHWM:")[2].split()[0]) / 1024)
"""


def per_cpu_second(size: Parameters) -> float:
    """How many problems of this size one core makes in a second of its time."""
    kind = AttackKind.NOTE if size.r else None
    recipe = Recipe(axis=Axis.COMBINE, parameters=size, split=Split.TRAIN, attack=kind)
    generate(recipe, 0)  # reads the vocabulary
    began = time.process_time()
    for index in range(PROBLEMS):
        generate(recipe, index)
    return PROBLEMS / (time.process_time() - began)


def peak_mib(rows: int) -> float:
    """The most memory that building so many rows took, in a process of its own.

    Read from ``VmHWM``: ``ru_maxrss`` begins with what the parent held when it forked.
    """
    done = subprocess.run([sys.executable, "-c", BUILD, str(rows)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def measure_all(options: Options) -> tuple[Table, ...]:
    """Speed by size, and memory by number of rows."""
    turns = [(name, per_cpu_second(size)) for _ in range(options.repetitions) for name, size in SIZES.items()]
    speed = [
        row(name, OURS, [value for key, value in turns if key == name], goal=GOAL if name == "d5 b2 n8 T24" else None)
        for name in SIZES
    ]
    memory = [row(f"{rows:,} rows", OURS, [peak_mib(rows)]) for rows in (1_000, 20_000)]
    return (
        _table("MASBENCH problems per CPU-second", "problems/s", "Certificate and text, one core.", speed),
        _table("Peak memory of a build", "MiB", "One process, JSON lines; flat since rows are streamed.", memory),
    )


def _table(title: str, unit: str, explanation: str, rows: list[Row]) -> Table:
    command = "python benchmarks/masbench_generate.py"
    return Table(title=title, unit=unit, command=command, explanation=explanation, rows=tuple(rows))


if __name__ == "__main__":
    show(measure_all(options_from_command_line(__doc__)))
