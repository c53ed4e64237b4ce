"""Several processes on one run: each takes its part of the tasks and writes to the same store.

What a process needs is one picklable `WorkerJob`; whoever starts processes elsewhere (a cluster) starts `run_worker`
with one. Caps are split: each process gets an equal part of what is left, and what one did not need is split again.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from mas_orchestra.errors import MasError
from mas_orchestra.evaluate.attempt import Spent
from mas_orchestra.evaluate.config import EvalConfig, RunCaps
from mas_orchestra.evaluate.harness import Ending
from mas_orchestra.evaluate.launch import Desk, Shard, open_desk
from mas_orchestra.evaluate.progress import Ended, Watch
from mas_orchestra.evaluate.run_folder import RunFolder
from mas_orchestra.run import run_async

__all__ = ["WorkerJob", "run_worker", "work_in_processes"]

GRACE_S = 10.0
"""How long a process may take to store what it was doing when it is told to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerJob:
    """What one process works on.

    Attributes:
        caps: Its part of what is left of the run's caps.
    """

    folder: str
    config: EvalConfig
    shard: Shard
    caps: RunCaps


@dataclass(frozen=True, slots=True, kw_only=True)
class _Started:
    system: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Aborted:
    system: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Broken:
    message: str


class _Teller:
    """A `Watch` that tells the parent process."""

    def __init__(self, parent: Connection) -> None:
        self._parent = parent

    def started(self, system: str) -> None:
        self._parent.send(_Started(system=system))

    def ended(self, ended: Ended) -> None:
        self._parent.send(ended)

    def aborted(self, system: str) -> None:
        with suppress(OSError):  # the parent may be why it was cut off
            self._parent.send(_Aborted(system=system))


async def work_in_processes(
    desk: Desk, folder: RunFolder, watch: Watch, workers: int, shard: Shard | None = None
) -> Ending:
    """Work a run off in so many processes, as `Desk.work` does in this one.

    Raises:
        MasError: From a process, or one that died.
    """
    await desk.prepare(desk.budget(desk.config.caps, desk.store.spent()))
    while True:
        before = desk.store.spent()
        caps = _parts(desk.config.caps, before, workers)
        jobs = [
            WorkerJob(folder=str(folder.path), config=desk.config, shard=part, caps=caps)
            for part in (shard or Shard()).split(workers)
        ]
        endings = await _all_of(jobs, watch)
        capped = [ending for ending in endings if ending.is_capped]
        is_spare = len(capped) < len(endings) and desk.store.spent() != before
        if not (capped and is_spare):
            break
    stopped = next((ending.stopped for ending in endings if ending.stopped), None)
    unscored = sum(ending.unscored for ending in endings)
    return Ending(stopped=stopped, unscored=unscored, is_capped=bool(capped))


def _parts(caps: RunCaps, spent: Spent, workers: int) -> RunCaps:
    """An equal part of what is left, for each process; the limits' least value where nothing is."""

    def whole(cap: int | None, used: int) -> int | None:
        return None if cap is None else max(0, cap - used) // workers

    money = None if caps.max_cost_usd is None else max(0.0, caps.max_cost_usd - (spent.cost_usd or 0.0)) / workers
    return RunCaps.model_construct(
        max_calls=whole(caps.max_calls, spent.calls),
        max_tokens=whole(caps.max_tokens, spent.tokens),
        max_cost_usd=money,
        max_time_s=caps.max_time_s,
    )


async def _all_of(jobs: Sequence[WorkerJob], watch: Watch) -> list[Ending]:
    context = get_context("spawn")
    started: list[tuple[BaseProcess, Connection]] = []
    with ThreadPoolExecutor(len(jobs), thread_name_prefix="worker") as threads:
        try:
            for job in jobs:
                ours, theirs = context.Pipe()
                process = context.Process(target=run_worker, args=(job, theirs), daemon=True)
                process.start()
                theirs.close()
                started.append((process, ours))
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(_listen(ours, watch, threads)) for _, ours in started]
        except BaseExceptionGroup as errors:
            ours_only, others = errors.split(MasError)
            raise (errors if others or ours_only is None else ours_only.exceptions[0]) from None
        finally:
            _end(started)
    return [task.result() for task in tasks]


async def _listen(connection: Connection, watch: Watch, threads: ThreadPoolExecutor) -> Ending:
    """Pass on what a process tells until it has ended."""
    loop = asyncio.get_running_loop()
    while True:
        try:
            message = await loop.run_in_executor(threads, connection.recv)
        except (EOFError, OSError):
            raise MasError(
                "a worker process died (out of memory?). What is stored is safe; `mas eval resume` goes on from there."
            ) from None
        match message:
            case _Started():
                watch.started(message.system)
            case _Aborted():
                watch.aborted(message.system)
            case Ended():
                watch.ended(message)
            case _Broken():
                raise MasError(message.message)
            case Ending():
                return message


def _end(started: Sequence[tuple[BaseProcess, Connection]]) -> None:
    """Tell every process to end, and see to it that it does."""
    for process, _ in started:
        if process.is_alive():
            process.terminate()
    for process, connection in started:
        process.join(GRACE_S)
        if process.is_alive():
            process.kill()
            process.join()
        connection.close()


def run_worker(job: WorkerJob, parent: Connection) -> None:
    """Work one job off in this process and tell the parent of it; ends when the parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C reaches all processes; the parent ends this one in order
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    try:
        with ExitStack() as stack:
            desk = open_desk(RunFolder(Path(job.folder)), job.config, stack=stack)
            ending = run_async(_work(desk, job, _Teller(parent)))
        parent.send(ending)
    except MasError as error:
        with suppress(OSError):  # nobody is left to be told
            parent.send(_Broken(message=str(error)))
    except asyncio.CancelledError:
        pass  # told to end: what was under way is stored


async def _work(desk: Desk, job: WorkerJob, watch: Watch) -> Ending:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101  (a coroutine always runs in a task)
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):  # Windows ends processes without a signal that could be handled
        loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        return await desk.work(watch, desk.budget(job.caps, Spent()), job.shard)
    finally:
        await desk.models.close()


def _end_with(parent: Connection) -> None:
    """End this process when the parent's end of the pipe is closed, however the parent ended."""
    with suppress(EOFError, OSError):
        parent.recv()
    with suppress(OSError):
        os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(GRACE_S)
    os._exit(1)
