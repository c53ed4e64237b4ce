"""Wall time of every shape at 200 ms a call, as a multiple of its critical path: what scheduling costs.

Run alone:  python benchmarks/shapes.py
"""

from collections import defaultdict

from measure_options import Options, options_from_command_line
from results import Goal, Row, Table, row
from show import show
from workers import PEERS, Bench, bench
from workloads import SHAPES, Shape

LATENCY_MS = 200
WIDE = ("fan8", "sc5", "skew")


def goal_of(shape: Shape) -> Goal:
    """Our own bound: wide shapes open several connections at once."""
    return Goal(value=1.05 if shape.name in WIDE else 1.03)


def ratios(bench: Bench, shape: Shape, repetitions: int) -> dict[str, list[float]]:
    """Wall time over the bound by peer, the peers taking turns."""
    bound_s = shape.bound * LATENCY_MS / 1000
    found: dict[str, list[float]] = defaultdict(list)
    bench.endpoint.reset()
    for worker in bench.workers:
        worker.ask("once", shape.name)  # imports, connections and first calls of every code path
    bench.endpoint.reset(latency_ms=LATENCY_MS)
    for _ in range(repetitions):
        for worker in bench.workers:
            found[worker.peer].append(worker.ask("once", shape.name).wall_s / bound_s)
    return found


def rows_of(bench: Bench, shape: Shape, repetitions: int) -> list[Row]:
    """One row a peer."""
    note = f"{shape.calls} calls, {shape.bound} one after another"
    found = ratios(bench, shape, repetitions)
    return [row(shape.name, peer, values, goal=goal_of(shape), note=note) for peer, values in found.items()]


def measure_all(options: Options) -> tuple[Table, ...]:
    """One table."""
    with bench(tuple(PEERS)) as running:
        rows = [line for shape in SHAPES.values() for line in rows_of(running, shape, options.repetitions)]
    table = Table(
        title="Wall time over critical path",
        unit="ratio",
        command="python benchmarks/shapes.py",
        explanation=f"Every call takes {LATENCY_MS} ms. 1.00 is what no runtime can beat.",
        rows=tuple(rows),
    )
    return (table,)


if __name__ == "__main__":
    show(measure_all(options_from_command_line(__doc__)))
