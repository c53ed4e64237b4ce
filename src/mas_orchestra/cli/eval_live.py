"""Shows an evaluation while it goes on: one line a system on a terminal, now and then a line anywhere else."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from mas_orchestra.cli.boundary import complain
from mas_orchestra.cli.eval_view import progress_line
from mas_orchestra.cli.live import can_draw
from mas_orchestra.evaluate.progress import Tallies

__all__ = ["shown"]

REFRESH_S = 0.5
LINES_EVERY_S = 10.0


@asynccontextmanager
async def shown(
    tallies: Tallies, stream: TextIO, *, quiet: bool, clock: Callable[[], float] = time.monotonic
) -> AsyncIterator[Tallies]:
    """What to tell of attempts, shown on `stream` while inside."""
    if quiet:
        yield tallies
        return
    began_s = clock()

    def lines() -> list[str]:
        return [progress_line(name, tally, clock() - began_s) for name, tally in tallies.by_system.items()]

    task = asyncio.create_task(_draw(lines) if can_draw(stream) else _write(lines))
    try:
        yield tallies
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _draw(lines: Callable[[], list[str]]) -> None:
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False)
    with suppress(OSError), live:  # a terminal that was closed: the run goes on
        while True:
            live.update(Text("\n".join(lines()), no_wrap=True, overflow="crop"), refresh=True)
            await asyncio.sleep(REFRESH_S)


async def _write(lines: Callable[[], list[str]]) -> None:
    while True:
        await asyncio.sleep(LINES_EVERY_S)
        for line in lines():
            complain(line)
