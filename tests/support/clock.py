"""A clock for tests: time passes only when the test says so, or at once when everybody waits."""

import asyncio
import heapq
import itertools
from collections.abc import Callable


class Timer:
    def __init__(self, callback: Callable[[], object]) -> None:
        self.callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        self.callback = None


class FakeClock:
    """`mas_orchestra.models.clock.Clock` for tests.

    Attributes:
        time_s: Now, in seconds.
        waits_s: Every delay that was asked for.
    """

    def __init__(self, *, auto: bool = False, time_s: float = 1_000.0) -> None:
        """`auto` lets a timer fire at the next turn of the event loop, the time having passed."""
        self.time_s = time_s
        self.waits_s: list[float] = []
        self._auto = auto
        self._timers: list[tuple[float, int, Timer]] = []
        self._order = itertools.count()

    def now(self) -> float:
        return self.time_s

    def call_later(self, delay_s: float, callback: Callable[[], object]) -> Timer:
        self.waits_s.append(delay_s)
        timer = Timer(callback)
        heapq.heappush(self._timers, (self.time_s + delay_s, next(self._order), timer))
        if self._auto:
            asyncio.get_running_loop().call_soon(self._fire_next)
        return timer

    def _fire_next(self) -> None:
        if self._timers:
            self._fire()

    def _fire(self) -> None:
        due_s, _, timer = heapq.heappop(self._timers)
        if timer.callback is not None:
            self.time_s = max(self.time_s, due_s)
            timer.callback()

    async def advance(self, seconds: float) -> None:
        """Let time pass and everything that became due happen."""
        await settle()
        end_s = self.time_s + seconds
        while self._timers and self._timers[0][0] <= end_s + 1e-9:
            self._fire()
            await settle()
        self.time_s = max(self.time_s, end_s)
        await settle()


async def settle() -> None:
    """Let every task run until it waits for something."""
    for _ in range(20):
        await asyncio.sleep(0)
