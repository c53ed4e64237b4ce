"""Ctrl-C and its relatives: the first ends a run cleanly, the second ends the process at once."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from mas_orchestra.cli.boundary import ExitCode

__all__ = ["cancelling", "undisturbed"]

SIGNALS = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)  # Windows has no SIGHUP
)
SHOW_CURSOR = b"\x1b[?25h\n"


@contextmanager
def cancelling(task: asyncio.Task[Any], say: Callable[[str], None]) -> Iterator[None]:
    """While inside, the first signal cancels `task` and says so; the second one ends the process with 130."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        task.cancel()
        say("Interrupted: stopping the calls under way. Once more to quit at once.")

    with _first_signal(lambda: loop.call_soon_threadsafe(stop)):
        yield


@contextmanager
def undisturbed() -> Iterator[None]:
    """While inside, the first signal is let pass: what was paid for is being written; the second ends the process."""
    with _first_signal(lambda: None):
        yield


@contextmanager
def _first_signal(react: Callable[[], object]) -> Iterator[None]:
    """`react` to the first signal, quit on the second; afterwards everything is as before."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set handlers
        yield
        return
    is_second = False

    def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  (the signature of signal handlers)
        nonlocal is_second
        if is_second:
            _quit_now()
        is_second = True
        react()

    # A signal that was ignored before us (`nohup`, a background job) stays ignored.
    heeded = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handle) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _quit_now() -> None:
    """End without any clean-up but the cursor's: whatever hangs must not hold the user."""
    with suppress(OSError):
        if os.isatty(2):
            os.write(2, SHOW_CURSOR)
    os._exit(ExitCode.INTERRUPTED)
