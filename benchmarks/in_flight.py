"""Thousands of calls in flight at once, 2 s each, over connections that are opened for them.

Run alone:  python benchmarks/in_flight.py
"""

from measure_options import Options, options_from_command_line
from results import Goal, Row, Table, row
from show import show
from workers import Measured, bench

LATENCY_MS = 2000
# The openai SDK needs over a minute for a thousand: measured once, and not beyond.
PEERS_OF = {1_000: ("mas_orchestra", "aiohttp_client", "openai_sdk"), 5_000: ("mas_orchestra", "aiohttp_client")}
GOAL_S = {1_000: 3.5, 5_000: 8.0}
ONCE = frozenset({"openai_sdk"})


def fresh(peer: str, count: int) -> Measured:
    """One measurement in a new process, so that every connection is new."""
    with bench([peer]) as running:
        running.workers[0].ask("once", "single")
        running.endpoint.reset(latency_ms=LATENCY_MS)
        found = running.workers[0].ask("all_at_once", "single", count=count)
        peak = running.endpoint.counters().peak_in_flight
    if peak < 0.9 * count:
        print(f"{peer}: only {peak} of {count} calls were in flight at the same time")
    return found


def rows_of(count: int, repetitions: int) -> list[Row]:
    """Wall seconds, and CPU milliseconds of a call."""
    peers = PEERS_OF[count]
    turns = [
        (peer, fresh(peer, count)) for turn in range(repetitions) for peer in peers if not turn or peer not in ONCE
    ]
    found = {peer: [one for name, one in turns if name == peer] for peer in peers}
    goal = Goal(value=GOAL_S[count])
    wall = [row(f"{count}: wall s", peer, [one.wall_s for one in runs], goal=goal) for peer, runs in found.items()]
    return wall + [
        row(f"{count}: CPU ms a call", peer, [1000 * one.cpu_s / count for one in runs]) for peer, runs in found.items()
    ]


def measure_all(options: Options) -> tuple[Table, ...]:
    """One table."""
    table = Table(
        title="Calls in flight",
        unit="s, ms",
        command="python benchmarks/in_flight.py",
        explanation=f"Every call takes {LATENCY_MS / 1000:.0f} s, so no client can be quicker than that.",
        rows=tuple(line for count in PEERS_OF for line in rows_of(count, min(options.repetitions, 3))),
    )
    return (table,)


if __name__ == "__main__":
    show(measure_all(options_from_command_line(__doc__)))
