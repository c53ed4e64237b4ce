"""Seconds until the package, or the help of its command, is there; in fresh interpreters that take turns.

Run alone:  python benchmarks/import_time.py
"""

import subprocess
import sys
import time

from measure_options import Options, options_from_command_line
from results import Goal, Row, Table, row
from show import show
from workers import OURS, PEERS

HELP = "import sys; sys.argv = ['mas', '--help']; from mas_orchestra.cli import main; main()"
STATEMENTS = {
    ("python -c pass", "the interpreter"): "pass",
    ("import mas_orchestra", OURS): "import mas_orchestra",
    ("mas --help", OURS): HELP,
    ("its client", "openai_sdk"): "import openai",
    ("its client", "langgraph_chat"): "import langgraph.graph, langchain_openai",
}
GOALS = {"import mas_orchestra": Goal(value=0.2), "mas --help": Goal(value=0.35)}


def wall_s(statement: str) -> float:
    """Seconds from start to end of an interpreter."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def measure_all(options: Options) -> tuple[Table, ...]:
    """One table."""
    turns = [(key, wall_s(code)) for _ in range(options.repetitions + 1) for key, code in STATEMENTS.items()]
    rows: list[Row] = []
    for what, peer in STATEMENTS:
        values = [seconds for key, seconds in turns if key == (what, peer)][1:]  # the first may have to read the disk
        rows.append(row(what, peer, values, goal=GOALS.get(what)))
    table = Table(
        title="Time to start",
        unit="s",
        command="python benchmarks/import_time.py",
        explanation="Wall time of a whole interpreter, its own start included.",
        rows=tuple(rows),
    )
    return (table,)


if __name__ == "__main__":
    assert set(PEERS) >= {peer for _, peer in STATEMENTS} - {"the interpreter"}
    show(measure_all(options_from_command_line(__doc__)))
