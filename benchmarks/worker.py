"""One peer in a process of its own: reads commands as JSON lines, runs them, answers with what they took.

Started by `workers.py`; the peers take turns, so that all of them see the same machine in the same minutes.
"""

import argparse
import asyncio
import gc
import importlib
import json
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any

from fake_endpoint import allow_many_files
from workloads import SHAPES, Shape

Run = Callable[[Shape], Awaitable[str]]
Measured = dict[str, float]


def cpu_s() -> float:
    """Seconds of CPU of this process, its threads included."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Stopwatch:
    """Wall and CPU time since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), cpu_s()

    def read(self, *, runs: int) -> Measured:
        """What has passed, for `runs` runs."""
        wall = time.perf_counter() - self._wall
        return {"wall_s": wall, "cpu_s": cpu_s() - self._cpu, "runs": runs}


async def once(run: Run, shape: Shape) -> Measured:
    """One run."""
    watch = Stopwatch()
    await checked(run, shape)
    return watch.read(runs=1)


async def checked(run: Run, shape: Shape) -> None:
    """One run whose answer must be the endpoint's."""
    answer = await run(shape)
    if answer != "42":
        raise RuntimeError(f"{shape.name} was answered {answer!r}; the endpoint always says 42")


async def steadily(run: Run, shape: Shape, *, at_once: int, seconds: float) -> Measured:
    """Runs for `seconds`, always `at_once` of them; connections are opened before the clock starts."""
    await all_at_once(run, shape, count=at_once)
    gc.collect()
    watch, done = Stopwatch(), 0
    end = time.perf_counter() + seconds

    async def keep_running() -> None:
        nonlocal done
        while time.perf_counter() < end:
            await checked(run, shape)
            done += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(keep_running())
    return watch.read(runs=done)


async def all_at_once(run: Run, shape: Shape, *, count: int) -> Measured:
    """`count` runs that start together."""
    watch = Stopwatch()
    async with asyncio.TaskGroup() as group:
        for _ in range(count):
            group.create_task(checked(run, shape))
    return watch.read(runs=count)


def measure(run: Run, command: dict[str, Any]) -> Coroutine[Any, Any, Measured]:
    """The measurement that a command asks for."""
    shape = SHAPES[command["shape"]]
    match command["do"]:
        case "once":
            return once(run, shape)
        case "steadily":
            return steadily(run, shape, at_once=command["at_once"], seconds=command["seconds"])
        case "all_at_once":
            return all_at_once(run, shape, count=command["count"])
        case other:
            raise ValueError(f"unknown command {other!r}")


async def work(peer: str, base_url: str) -> None:
    """Answer commands until the input ends."""
    connected: Callable[[str], AbstractAsyncContextManager[Run]] = importlib.import_module(f"peers.{peer}").connected
    async with connected(base_url) as run:
        print(json.dumps({"ready": peer}), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            measured = await measure(run, json.loads(line))
            memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(json.dumps({**measured, "memory_mb": memory_mb}), flush=True)


def main() -> None:
    """Run on uvloop where it is installed, whichever the peer."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("peer")
    arguments.add_argument("base_url")
    options = arguments.parse_args()
    allow_many_files()
    try:
        import uvloop
    except ImportError:
        asyncio.run(work(options.peer, options.base_url))
    else:
        uvloop.run(work(options.peer, options.base_url))


if __name__ == "__main__":
    main()
