"""A step's time-out that stands still while the step only waits in a queue."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["StepClock"]


class StepClock:
    """Counts a step's own time: not that in which every call it has in flight waits for the endpoint's limiter.

    Used as the `QueueWatch` of the step's calls, and entered by the task that runs the step::

        async with clock.limit():
            await agent.run(...)
    """

    def __init__(self, timeout_s: float | None) -> None:
        self.timeout_s = timeout_s
        self._timeout: asyncio.Timeout | None = None
        self._left_s: float | None = None
        self._in_flight = 0
        self._queued = 0
        self._has_ended = False

    def limit(self) -> asyncio.Timeout:
        """The time-out to enter; it raises `TimeoutError` once the step's own time is used up."""
        self._timeout = asyncio.timeout(self.timeout_s)
        return self._timeout

    @property
    def is_expired(self) -> bool:
        """Whether the step was ended by this clock."""
        return self._timeout is not None and self._timeout.expired()

    def end(self) -> None:
        """The step has ended: calls that it left behind change nothing any more."""
        self._has_ended = True

    @contextmanager
    def call(self) -> Iterator[None]:
        """Entered while one call is in flight."""
        self._in_flight += 1
        self._update()
        try:
            yield
        finally:
            self._in_flight -= 1
            self._update()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Entered while one call in flight waits in a queue."""
        self._queued += 1
        self._update()
        try:
            yield
        finally:
            self._queued -= 1
            self._update()

    def _update(self) -> None:
        timeout = self._timeout
        if self.timeout_s is None or timeout is None or timeout.expired() or self._has_ended:
            return
        stands_still = self._in_flight > 0 and self._queued == self._in_flight
        now = asyncio.get_running_loop().time()
        deadline = timeout.when()
        if stands_still and deadline is not None:
            self._left_s = deadline - now
            timeout.reschedule(None)
        elif not stands_still and deadline is None and self._left_s is not None:
            timeout.reschedule(now + self._left_s)
            self._left_s = None
