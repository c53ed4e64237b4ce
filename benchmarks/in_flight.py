"""Thousands of calls in flight at once, 2 s each, over connections that are opened for them.

Run alone:  python benchmarks/in_flight.py
"""

from dataclasses import dataclass

from measure_options import Options, options_from_command_line
from results import Goal, Row, Table, row
from show import show
from workers import Measured, bench

LATENCY_MS = 2000
# The openai SDK takes many times as long: measured once, and not beyond a thousand.
PEERS_OF = {1_000: ("mas_orchestra", "aiohttp_client", "openai_sdk"), 5_000: ("mas_orchestra", "aiohttp_client")}
GOAL_S = {1_000: 3.5, 5_000: 8.0}
CPU_GOAL_MS = 0.6
ONCE = frozenset({"openai_sdk"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """The same burst twice: over connections that it has to open, then over those that it has."""

    cold: Measured
    warm: Measured


def burst(peer: str, count: int) -> Burst:
    """Both measurements in a new process."""
    with bench([peer]) as running:
        worker = running.workers[0]
        worker.ask("once", "single")
        running.endpoint.reset(latency_ms=LATENCY_MS)
        cold = worker.ask("all_at_once", "single", count=count)
        peak = running.endpoint.counters().peak_in_flight
        if peak < 0.9 * count:
            print(f"{peer}: only {peak} of {count} calls were in flight at the same time")
        return Burst(cold=cold, warm=worker.ask("all_at_once", "single", count=count))


def rows_of(count: int, repetitions: int) -> list[Row]:
    """Wall seconds, and CPU milliseconds of a call."""
    peers = PEERS_OF[count]
    turns = [
        (peer, burst(peer, count)) for turn in range(repetitions) for peer in peers if not turn or peer not in ONCE
    ]
    found = {peer: [one for name, one in turns if name == peer] for peer in peers}
    wall, cpu = Goal(value=GOAL_S[count]), Goal(value=CPU_GOAL_MS)
    return [
        *(row(f"{count}: wall s", p, [b.cold.wall_s for b in bursts], goal=wall) for p, bursts in found.items()),
        *(row(f"{count}: CPU ms a call", p, cpu_ms([b.cold for b in bursts])) for p, bursts in found.items()),
        *(
            row(f"{count}: CPU ms a call, connections open", p, cpu_ms([b.warm for b in bursts]), goal=cpu)
            for p, bursts in found.items()
        ),
    ]


def cpu_ms(found: list[Measured]) -> list[float]:
    """CPU milliseconds of one call."""
    return [1000 * one.cpu_s / one.runs for one in found]


def measure_all(options: Options) -> tuple[Table, ...]:
    """One table."""
    table = Table(
        title="Calls in flight",
        unit="s, ms",
        command="python benchmarks/in_flight.py",
        explanation=f"Every call takes {LATENCY_MS / 1000:.0f} s, so no client can be quicker than that. "
        "Each burst is sent twice: its connections are opened for the first one.",
        rows=tuple(line for count in PEERS_OF for line in rows_of(count, min(options.repetitions, 3))),
    )
    return (table,)


if __name__ == "__main__":
    show(measure_all(options_from_command_line(__doc__)))
