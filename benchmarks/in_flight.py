"""Thousands of calls in flight at once, 2 s each, over connections that are opened for them.

Run alone:  python benchmarks/in_flight.py
"""

from collections.abc import Iterable
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


def bursts_of(count: int, repetitions: int) -> dict[str, list[Burst]]:
    """Bursts of `count` calls by peer, the peers taking turns."""
    peers = PEERS_OF[count]
    turns = [
        (peer, burst(peer, count)) for turn in range(repetitions) for peer in peers if not turn or peer not in ONCE
    ]
    return {peer: [one for name, one in turns if name == peer] for peer in peers}


def wall_rows(count: int, found: dict[str, list[Burst]]) -> list[Row]:
    """Seconds until all are answered."""
    goal = Goal(value=GOAL_S[count])
    return [
        row(f"{count} calls", peer, [one.cold.wall_s for one in bursts], goal=goal) for peer, bursts in found.items()
    ]


def cpu_rows(count: int, found: dict[str, list[Burst]]) -> list[Row]:
    """CPU milliseconds of a call."""
    goal = Goal(value=CPU_GOAL_MS)
    cold = [row(f"{count} calls", peer, cpu_ms(one.cold for one in bursts)) for peer, bursts in found.items()]
    name = f"{count} calls, connections open"
    return cold + [row(name, peer, cpu_ms(one.warm for one in bursts), goal=goal) for peer, bursts in found.items()]


def cpu_ms(found: Iterable[Measured]) -> list[float]:
    """CPU milliseconds of one call."""
    return [1000 * one.cpu_s / one.runs for one in found]


def measure_all(options: Options) -> tuple[Table, ...]:
    """Wall time, and CPU time."""
    found = {count: bursts_of(count, min(options.repetitions, 3)) for count in PEERS_OF}
    command = "python benchmarks/in_flight.py"
    return (
        Table(
            title="Calls in flight: wall time",
            unit="s",
            command=command,
            explanation=f"Every call takes {LATENCY_MS / 1000:.0f} s, so no client can be quicker than that. All calls "
            "start together, over connections that are opened for them. At most three repetitions.",
            rows=tuple(line for count, bursts in found.items() for line in wall_rows(count, bursts)),
        ),
        Table(
            title="Calls in flight: CPU time of one call",
            unit="ms",
            command=command,
            explanation="The same bursts, and then a second one over the connections that are open by then.",
            rows=tuple(line for count, bursts in found.items() for line in cpu_rows(count, bursts)),
        ),
    )


if __name__ == "__main__":
    show(measure_all(options_from_command_line(__doc__)))
