"""Makes chunks of rows in order, in this process or on several."""

import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context

from mas_orchestra.errors import MasError, UsageError
from mas_orchestra.masbench.export import Encoded, encode
from mas_orchestra.masbench.generate import generate
from mas_orchestra.masbench.request import Chunk

__all__ = ["Maker", "makers"]

Maker = Callable[[Iterator[Chunk]], Iterator[list[Encoded]]]


@contextmanager
def makers(workers: int) -> Iterator[Maker]:
    """Something that makes chunks, in order, on so many processes; results wait in a short queue only."""
    if workers < 1:
        raise UsageError(f"workers={workers}: at least 1")
    if workers == 1:
        yield lambda chunks: map(_make, chunks)
        return
    executor = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_ignore_interrupts)
    try:
        yield lambda chunks: _in_order(executor, chunks, ahead=4 * workers)
    except BrokenProcessPool as error:
        raise MasError(
            "a worker process died: out of memory, or a script that builds outside of `if __name__ == '__main__':`. "
            "The same build started again goes on; fewer workers need less memory."
        ) from error
    finally:
        executor.shutdown(cancel_futures=True)


def _in_order(executor: ProcessPoolExecutor, chunks: Iterator[Chunk], *, ahead: int) -> Iterator[list[Encoded]]:
    waiting: deque[Future[list[Encoded]]] = deque()
    for chunk in chunks:
        with _interrupts_later():
            waiting.append(executor.submit(_make, chunk))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Holds back Ctrl-C while a worker may be starting: cut off from its parent, it would print a traceback.

    The worker inherits the blocked signal and so never takes part in a Ctrl-C itself.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: arrived.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if sys.platform != "win32" else None
    try:
        yield
    finally:
        if mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    for number in arrived[:1]:
        signal.raise_signal(number)


def _ignore_interrupts() -> None:
    """Where a blocked signal is not inherited: Ctrl-C reaches all processes, and the parent ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _make(chunk: Chunk) -> list[Encoded]:
    family = chunk.family
    indices = range(chunk.start, chunk.stop)
    return [encode(generate(family[index % len(family)], index), chunk.layout) for index in indices]
