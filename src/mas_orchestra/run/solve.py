"""Solve one question: the entry point for programs."""

import asyncio
import gc
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TypeVar

from mas_orchestra.run.outcome import Outcome
from mas_orchestra.run.runtime import Runtime
from mas_orchestra.run.system import System
from mas_orchestra.tasks.task import Task

__all__ = ["rare_collections", "run_async", "solve", "solve_sync"]

Result = TypeVar("Result")


async def solve(question: str | Task, system: System, runtime: Runtime) -> Outcome:
    """What `system` makes of `question`, whatever happened.

    Args:
        question: The question, or a task that holds it.
        system: `Orchestrated`, `StandaloneAgent`, `FixedPlan`, or anything else with the same `solve`.
        runtime: Models, sub-agents and limits.

    Raises:
        asyncio.CancelledError: The run was cancelled; its outcome went to the listeners first.
        UsageError: Wrong usage, found before anything was sent.
    """
    task = question if isinstance(question, Task) else Task(id="question", question=question)
    return await system.solve(task, runtime)


def solve_sync(question: str | Task, system: System, runtime: Runtime) -> Outcome:
    """`solve` for programs without an event loop; closes the runtime's models at the end."""

    async def solve_and_close() -> Outcome:
        try:
            return await solve(question, system, runtime)
        finally:
            await runtime.close()

    return run_async(solve_and_close())


def run_async(coroutine: Coroutine[object, object, Result]) -> Result:
    """What `coroutine` returns, run on the fastest event loop that is installed, with rare garbage collections."""
    with rare_collections(), asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(coroutine)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect cycles less often: thousands of calls in flight are millions of live objects, each walked every time.

    At 5,000 calls in flight Python's default thresholds take half of the whole CPU time (docs/benchmarks.md).
    """
    before = gc.get_threshold()
    gc.freeze()  # what is loaded by now stays, and need not be walked at all
    gc.set_threshold(50_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
