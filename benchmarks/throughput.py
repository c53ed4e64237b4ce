"""CPU time a call and systems a second when the endpoint answers at once: what a call costs the client.

Run alone:  python benchmarks/throughput.py
"""

from measure_options import Options, options_from_command_line
from results import Goal, Row, Table, row
from show import show
from workers import PEERS, Bench, Measured, Worker, bench
from workloads import SHAPES

IN_FLIGHT = (1, 32, 256)
SECONDS = 1.5
CPU_GOAL_MS = 0.6
HOUSING_AT_ONCE = 32
HOUSING_GOAL = 120


def repeated(bench: Bench, shape: str, at_once: int, repetitions: int) -> dict[str, list[Measured]]:
    """Measurements by peer, the peers taking turns."""

    def ask(worker: Worker) -> Measured:
        return worker.ask("steadily", shape, at_once=at_once, seconds=SECONDS)

    bench.endpoint.reset()
    turns = [(worker.peer, ask(worker)) for _ in range(repetitions) for worker in bench.workers]
    return {worker.peer: [found for peer, found in turns if peer == worker.peer] for worker in bench.workers}


def cpu_rows(bench: Bench, at_once: int, repetitions: int) -> list[Row]:
    """CPU milliseconds of one call."""
    goal = Goal(value=CPU_GOAL_MS)
    return [
        row(f"{at_once} in flight", peer, [1000 * one.cpu_s / one.runs for one in found], goal=goal)
        for peer, found in repeated(bench, "single", at_once, repetitions).items()
    ]


def measure_cpu(options: Options) -> Table:
    """CPU time of a call at several numbers in flight."""
    with bench(tuple(PEERS)) as running:
        rows = [line for at_once in IN_FLIGHT for line in cpu_rows(running, at_once, options.repetitions)]
    return Table(
        title="CPU time of one call",
        unit="ms",
        command="python benchmarks/throughput.py",
        explanation="Systems of one chain-of-thought step; the endpoint answers at once. User and system time of the "
        "client's process. Ours includes executor, events and ledger; the peers by hand have none.",
        rows=tuple(rows),
    )


def measure_housing(options: Options) -> Table:
    """Whole systems a second."""
    calls = SHAPES["housing"].calls
    with bench(tuple(PEERS)) as running:
        found = repeated(running, "housing", HOUSING_AT_ONCE, options.repetitions)
    goal = Goal(value=HOUSING_GOAL, at_least=True)
    rows = [row("housing", peer, [one.runs / one.wall_s for one in runs], goal=goal) for peer, runs in found.items()]
    rows += [row("housing, per second of CPU", p, [one.runs / one.cpu_s for one in runs]) for p, runs in found.items()]
    return Table(
        title="Systems a second",
        unit="1/s",
        command="python benchmarks/throughput.py",
        explanation=f"The housing system ({calls} calls), {HOUSING_AT_ONCE} at once in one process; the "
        "endpoint answers at once and shares the machine.",
        rows=tuple(rows),
    )


def measure_all(options: Options) -> tuple[Table, ...]:
    """Both tables."""
    return measure_cpu(options), measure_housing(options)


if __name__ == "__main__":
    show(measure_all(options_from_command_line(__doc__)))
