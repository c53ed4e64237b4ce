"""Time as a value that is passed in, so that waiting can be tested without waiting."""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

__all__ = ["Clock", "LoopClock", "Timer", "sleep"]


class Timer(Protocol):
    """A callback that waits for its time."""

    def cancel(self) -> object:
        """Forget it."""
        ...


class Clock(Protocol):
    """Seconds that only grow, and timers on them."""

    def now(self) -> float:
        """Seconds since some fixed moment."""
        ...

    def call_later(self, delay_s: float, callback: Callable[[], object]) -> Timer:
        """Have `callback` called in the running event loop, `delay_s` seconds from now."""
        ...


class LoopClock:
    """The real time."""

    def now(self) -> float:
        """Monotonic seconds."""
        return time.monotonic()

    def call_later(self, delay_s: float, callback: Callable[[], object]) -> Timer:
        """A timer of the running event loop."""
        return asyncio.get_running_loop().call_later(delay_s, callback)


async def sleep(clock: Clock, seconds: float) -> None:
    """Return once `seconds` have passed on `clock`."""
    over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def wake() -> None:
        if not over.done():
            over.set_result(None)

    timer = clock.call_later(max(0.0, seconds), wake)
    try:
        await over
    finally:
        timer.cancel()
