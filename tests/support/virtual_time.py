"""An event loop whose clock jumps: sleeping costs no time, and durations are exact numbers that tests can compare."""

import asyncio
import selectors


class _JumpingSelector(selectors.DefaultSelector):
    """Instead of blocking until the next timer, moves the loop's clock there."""

    def __init__(self):
        super().__init__()
        self.now = 0.0

    def select(self, timeout=None):
        ready = super().select(0)
        if not ready and timeout:
            self.now += timeout
        elif not ready and timeout is None:
            raise RuntimeError("deadlock: nothing is scheduled and nothing is ready")
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """For coroutines that sleep and wait but do no real input or output."""

    def __init__(self):
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self):
        return self._jumping.now


def run_virtual(coroutine):
    """What `coroutine` returns, in virtual time that begins at 0."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(coroutine)
