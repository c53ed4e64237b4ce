"""Which requests of a call never left: they wait in the endpoint's line when the run ends, and nobody bills them."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from mas_orchestra.run.step_clock import StepClock

__all__ = ["Dispatch"]


class Dispatch:
    """The `QueueWatch` of one call: tells the step's clock of its waiting, and counts what was cancelled in line.

    Attributes:
        unsent: Requests that were cancelled while they waited.
    """

    def __init__(self, clock: StepClock) -> None:
        self._clock = clock
        self.unsent = 0

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Entered while one request of the call waits in a queue."""
        try:
            with self._clock.waiting():
                yield
        except asyncio.CancelledError:
            self.unsent += 1
            raise
