"""Compares mathematics in processes of their own, each comparison with a time limit that holds.

Math-Verify's own limit is an alarm signal: it works in the main thread only, and not while a library holds on to the
interpreter. Here a comparison that takes too long is ended by killing its process, from whatever thread or event loop
it was asked for.
"""

import asyncio
import json
import queue
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from pathlib import Path
from typing import IO

from mas_orchestra.errors import MasError, MissingExtraError, UsageError

__all__ = ["Compared", "MathWorkers"]

_START_LIMIT_S = 120.0
_MEMORY_BYTES = 4 << 30
_TRIES = 2


class Compared(StrEnum):
    """What came of one comparison."""

    SAME = "same"
    DIFFERENT = "different"
    TIME_LIMIT = "time_limit"
    FAILED = "failed"
    """The texts cannot be compared: too deep, too large, or beyond what the library can do."""


class MathWorkers:
    """A few worker processes, started when they are needed and kept; usable from any thread and any event loop.

    Attributes:
        kills: Processes that were ended because a comparison took too long.
    """

    def __init__(self, *, count: int = 1, time_limit_s: float = 5.0) -> None:
        """At most `count` processes; `time_limit_s` for each comparison."""
        if count < 1 or time_limit_s <= 0:
            raise UsageError(f"workers={count}, time_limit_s={time_limit_s}: at least 1 worker and more than 0 seconds")
        self._time_limit_s = time_limit_s
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        self._count = count
        self._threads: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._reset()
        self.kills = 0
        weakref.finalize(self, _end_all, self._idle)

    async def compare(self, left: str, right: str, *, both_ways: bool = True) -> Compared:
        """Whether two LaTeX texts without dollar signs mean the same; the event loop goes on meanwhile.

        Raises:
            MissingExtraError: Math-Verify is not installed.
            MasError: The worker process does not start.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor(), lambda: self.compare_now(left, right, both_ways=both_ways))

    def compare_now(self, left: str, right: str, *, both_ways: bool = True) -> Compared:
        """As `compare`, for code without an event loop; waits while all workers are busy."""
        worker = self._idle.get()
        try:
            for _ in range(_TRIES):
                if worker is not None and not worker.is_alive:
                    worker.end()
                    worker = None
                worker = worker or _Worker.start()
                if (compared := worker.compare(left, right, both_ways, self._time_limit_s)) is not None:
                    break
            else:
                return Compared.FAILED
        finally:
            self._idle.put(worker)
        with self._lock:
            self.kills += compared is Compared.TIME_LIMIT
        return compared

    @property
    def processes(self) -> "tuple[subprocess.Popen[str], ...]":
        """The processes that wait for work; none before the first comparison."""
        return tuple(worker.process for worker in tuple(self._idle.queue) if worker is not None)

    def close(self) -> None:
        """End the processes; a later comparison starts new ones."""
        with self._lock:
            threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown()
        _end_all(self._idle)
        self._reset()

    def _reset(self) -> None:
        for _ in range(self._count):
            self._idle.put(None)

    def _executor(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(self._count, thread_name_prefix="mathematics")
            return self._threads


class _Worker:
    """One process. Used by one thread at a time."""

    def __init__(self, process: "subprocess.Popen[str]", stdin: IO[str], stdout: IO[str]) -> None:
        self.process = process
        self._stdin = stdin
        self._stdout = stdout

    @classmethod
    def start(cls) -> "_Worker":
        program = Path(__file__).with_name("math_worker.py")
        process = subprocess.Popen(  # noqa: S603  (our own file, by this interpreter)
            [sys.executable, "-P", str(program), str(_MEMORY_BYTES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        if process.stdin is None or process.stdout is None:
            raise MasError("the process that compares mathematics has no pipes")
        worker = cls(process, process.stdin, process.stdout)
        greeting, _ = worker._read_line(_START_LIMIT_S)
        if "ready" not in greeting:
            worker.end()
            if "missing" in greeting:
                raise MissingExtraError("comparing mathematics", "eval")
            raise MasError(f"the process that compares mathematics did not start ({sys.executable} -P {program})")
        return worker

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def compare(self, left: str, right: str, both_ways: bool, time_limit_s: float) -> Compared | None:  # noqa: FBT001  (private; the pool's own keyword)
        """What came of it; ``None`` where the process was found dead and the same may be asked of another."""
        try:
            self._stdin.write(json.dumps([left, right, both_ways]) + "\n")
            self._stdin.flush()
        except OSError:
            self.end()
            return None
        reply, in_time = self._read_line(time_limit_s)
        if not reply:
            self.end()
            return None if in_time else Compared.TIME_LIMIT
        if "error" in reply:
            return Compared.FAILED
        return Compared.SAME if reply["same"] else Compared.DIFFERENT

    def _read_line(self, limit_s: float) -> tuple[dict[str, object], bool]:
        """The next line, empty where the process ended, and whether that was before the limit."""
        # Killing the process ends the read on every system, whatever the reading thread is.
        late = threading.Event()
        timer = threading.Timer(limit_s, self._kill_late, [late])
        timer.daemon = True
        timer.start()
        try:
            line = self._stdout.readline()
        finally:
            timer.cancel()
        complete = line.endswith("\n")
        return (json.loads(line) if complete else {}), not late.is_set()

    def _kill_late(self, late: threading.Event) -> None:
        late.set()
        self.process.kill()

    def end(self) -> None:
        """Kill the process and take back what it held."""
        self.process.kill()
        self.process.wait()
        for pipe in (self._stdout, self._stdin):
            try:
                pipe.close()
            except OSError:  # what was not yet sent goes nowhere
                continue


def _end_all(idle: "queue.LifoQueue[_Worker | None]") -> None:
    while True:
        try:
            worker = idle.get_nowait()
        except queue.Empty:
            return
        if worker is not None:
            worker.end()
