"""What one step sees of its run: the `AgentContext` of a sub-agent."""

import asyncio
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from mas_orchestra import seeds
from mas_orchestra.errors import StepError
from mas_orchestra.models.base import ChatModel, Completion, Params
from mas_orchestra.run.events import StepWarned
from mas_orchestra.run.outcome import Warned
from mas_orchestra.run.session import Session
from mas_orchestra.run.step_clock import StepClock
from mas_orchestra.search.base import Retriever
from mas_orchestra.types import Message

__all__ = ["StepContext"]


class StepContext:
    """The window through which one step reaches models and retriever.

    Made by the task that runs the step. Once closed it sends nothing any more, so that work a sub-agent left behind (a
    thread, a stray task) cannot spend after the step has ended; nor does it once that task is being cancelled, so that
    neither can a sub-agent that takes a time-out or a Ctrl-C for one more thing to work around.
    """

    def __init__(self, session: Session, *, step: str, model: ChatModel) -> None:
        self._session = session
        self._step = step
        self._model = model
        self._is_open = True
        self._task = asyncio.current_task()
        self._callers: set[asyncio.Task[object]] = set()
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self.clock = StepClock(session.runtime.limits.step_timeout_s)
        self.warnings: list[Warned] = []
        self.rng: random.Random = seeds.rng("step", session.runtime.seed, session.task.id, step)

    @property
    def retriever(self) -> Retriever | None:
        """What a search agent searches."""
        return self._session.runtime.retriever

    @property
    def listener_error(self) -> Exception | None:
        """What a listener raised; it ends the run, and is no failure of the sub-agent that was at work."""
        return self._session.listener_error

    async def complete(self, messages: tuple[Message, ...], params: Params, *, purpose: str) -> Completion:
        """One call of the step's model."""
        if not self._is_open or (self._task is not None and self._task.cancelling()):
            raise StepError("step_ended", f"step {self._step!r} has ended; its sub-agent may not call a model any more")
        with self._counted():
            return await self._session.call(
                self._model, messages, params, step=self._step, purpose=purpose, clock=self.clock
            )

    def warn(self, code: str, message: str) -> None:
        """Record something a reader of the trace should know."""
        warning = Warned(code=code, message=message)
        self.warnings.append(warning)
        self._session.emit(StepWarned(at_s=self._session.elapsed_s, step=self._step, warning=warning))

    async def close(self) -> None:
        """Let nothing through any more; calls that the sub-agent left behind are cancelled, awaited and so booked."""
        self._is_open = False
        self.clock.end()
        for caller in self._callers:
            caller.cancel()
        await self._is_idle.wait()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Entered while one call is under way, by the task that waits for it."""
        caller = cast("asyncio.Task[object]", asyncio.current_task())
        self._callers.add(caller)
        self._is_idle.clear()
        try:
            yield
        finally:
            self._callers.discard(caller)
            if not self._callers:
                self._is_idle.set()
