"""One run in progress: its clock, budget, ledger and listeners, and the one way to call a model."""

import asyncio
from datetime import UTC, datetime

from mas_orchestra.errors import CallError, PriceUnknownError
from mas_orchestra.models.base import ChatModel, Completion, Params
from mas_orchestra.models.tokens import estimate_prompt_tokens
from mas_orchestra.run.budget import Budget, Reservation
from mas_orchestra.run.dispatch import Dispatch
from mas_orchestra.run.events import CallFinished, CallStarted, Event
from mas_orchestra.run.ledger import Ledger
from mas_orchestra.run.outcome import CallRecord, Failure
from mas_orchestra.run.runtime import Runtime
from mas_orchestra.run.step_clock import StepClock
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import Message, Usage

__all__ = ["Session"]


class Session:
    """What all parts of one run share.

    Raises:
        PriceUnknownError: A money cap, no token cap, and a model without a known price.
    """

    def __init__(self, task: Task, runtime: Runtime) -> None:
        self.task = task
        self.runtime = runtime
        self.ledger = Ledger()
        self.budget = Budget(runtime.limits, self.ledger)
        self.listener_error: Exception | None = None
        self.started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._began_s = asyncio.get_running_loop().time()
        _refuse_unpriced(runtime)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the run began."""
        return asyncio.get_running_loop().time() - self._began_s

    @property
    def deadline_s(self) -> float | None:
        """When the run must end, on the loop's clock; ``None`` without a time limit."""
        timeout_s = self.runtime.limits.timeout_s
        return None if timeout_s is None else self._began_s + timeout_s

    def emit(self, event: Event) -> None:
        """Hand an event to every listener, in order; what one raises ends the run, whoever catches it on the way."""
        for listener in self.runtime.listeners:
            try:
                listener(event)
            except Exception as error:  # boundary: a listener is anybody's code, and may be called below a sub-agent
                self.listener_error = error
                raise

    async def call(
        self,
        model: ChatModel,
        messages: tuple[Message, ...],
        params: Params,
        *,
        step: str,
        purpose: str,
        clock: StepClock,
    ) -> Completion:
        """One call through budget, events and ledger; a call that fails or is cancelled is booked like any other."""
        with clock.call():
            with clock.waiting():
                reservation = await self.budget.reserve(model, messages, params)
            try:
                return await _Call(self, model, messages, reservation, step=step, purpose=purpose).send(clock)
            finally:
                self.budget.settle(reservation)


class _Call:
    """One call from start to booking."""

    def __init__(
        self,
        session: Session,
        model: ChatModel,
        messages: tuple[Message, ...],
        reservation: Reservation,
        *,
        step: str,
        purpose: str,
    ) -> None:
        self._session = session
        self._model = model
        self._messages = messages
        self._params = reservation.params
        self._step = step
        self._purpose = purpose
        self._started_s = session.elapsed_s

    async def send(self, clock: StepClock) -> Completion:
        self._session.emit(CallStarted(at_s=self._started_s, step=self._step, purpose=self._purpose))
        dispatch = Dispatch(clock)
        try:
            completion = await self._model.complete(self._messages, self._params, queue=dispatch)
        except CallError as error:
            self._book_failure(error.usage, Failure(code=error.code, message=str(error)), requests=error.requests)
            raise
        except asyncio.CancelledError:
            # The endpoint may bill a prompt whose reply nobody waits for any more.
            sent = max(0, self._requests - dispatch.unsent)
            paid = Usage(input_tokens=sent * estimate_prompt_tokens(self._messages), estimated=sent > 0)
            failure = Failure(code="cancelled", message="the call was cancelled before its reply")
            self._book_failure(paid, failure, requests=sent)
            raise
        self._book(self._record_of(completion))
        return completion

    @property
    def _requests(self) -> int:
        """Requests that all samples take when nothing has to be repeated."""
        return 1 if self._model.abilities.native_n else self._params.n

    def _record_of(self, completion: Completion) -> CallRecord:
        return CallRecord(
            step=self._step,
            purpose=self._purpose,
            model=self._model.uri,
            messages=self._messages,
            samples=self._params.n,
            choices=completion.choices,
            usage=completion.usage,
            cost_usd=0.0 if completion.cached else self._model.cost_usd(completion.usage),
            started_s=self._started_s,
            latency_s=completion.latency_s,
            queue_s=completion.queue_s,
            requests=completion.requests,
            cached=completion.cached,
            notes=completion.notes,
        )

    def _book_failure(self, usage: Usage, failure: Failure, *, requests: int = 1) -> None:
        self._book(
            CallRecord(
                step=self._step,
                purpose=self._purpose,
                model=self._model.uri,
                messages=self._messages,
                samples=self._params.n,
                usage=usage,
                cost_usd=self._model.cost_usd(usage),
                started_s=self._started_s,
                latency_s=self._session.elapsed_s - self._started_s,
                requests=requests,
                failure=failure,
            )
        )

    def _book(self, record: CallRecord) -> None:
        self._session.ledger.book(record)
        self._session.emit(CallFinished(at_s=self._session.elapsed_s, record=record))


def _refuse_unpriced(runtime: Runtime) -> None:
    """A budget cannot bind what it cannot see: a money cap needs a price, or a token cap beside it."""
    limits = runtime.limits
    if limits.max_cost_usd is None or limits.max_tokens is not None:
        return
    unpriced = sorted(model.uri for model in runtime.all_models if model.cost_usd(Usage()) is None)
    if unpriced:
        raise PriceUnknownError(
            f"a cost limit of ${limits.max_cost_usd} cannot be kept: no price is known for {', '.join(unpriced)}. "
            "Give a token limit as well (--max-tokens), or put the price under [prices] in mas.toml."
        )
