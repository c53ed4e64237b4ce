"""The way of every run: a plan is made, executed, and ends as one `Outcome`."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from mas_orchestra.errors import BudgetError, CallError, EndpointError, MasError
from mas_orchestra.plan.report import PlanReport
from mas_orchestra.plan.schema import Plan
from mas_orchestra.run.events import RunFinished, RunStarted
from mas_orchestra.run.executor import Executor, StepHaltError
from mas_orchestra.run.outcome import ORCHESTRATOR, Failure, Outcome, StepRecord
from mas_orchestra.run.runtime import Runtime
from mas_orchestra.run.session import Session
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import OutcomeStatus

__all__ = ["PlanMaker", "conduct"]

PlanMaker: TypeAlias = Callable[[Session], Awaitable[PlanReport]]
"""Where a plan comes from: a model that writes it, or a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ending:
    """How a run ended, before it is put together with what it did."""

    status: OutcomeStatus
    answer: str | None = None
    failure: Failure | None = None


async def conduct(system: str, task: Task, runtime: Runtime, make_plan: PlanMaker) -> Outcome:
    """Solve `task` with the plan that `make_plan` gives.

    Raises:
        asyncio.CancelledError: After `RunFinished` with the outcome of the cancelled run was emitted.
        UsageError: Wrong usage, found before anything was sent.
    """
    run = _Run(system, Session(task, runtime))
    return await run.to_its_end(make_plan)


class _Run:
    def __init__(self, system: str, session: Session) -> None:
        self._system = system
        self._session = session
        self._report: PlanReport | None = None
        self._executor: Executor | None = None
        self._planned_s = 0.0

    async def to_its_end(self, make_plan: PlanMaker) -> Outcome:
        session = self._session
        session.emit(RunStarted(at_s=0.0, system=self._system, question=session.task.question, task_id=session.task.id))
        limit = asyncio.timeout_at(session.deadline_s)
        try:
            async with limit:
                ending = await self._work(make_plan)
        except TimeoutError:
            if not limit.expired():
                raise
            ending = _ended(OutcomeStatus.TIMED_OUT, "timed_out", _out_of_time(session.runtime))
        except BudgetError as error:
            ending = _failed(OutcomeStatus.BUDGET_EXCEEDED, error)
        except asyncio.CancelledError:
            self._finish(_ended(OutcomeStatus.CANCELLED, "cancelled", "the run was cancelled"))
            raise
        except Exception as error:  # boundary: whatever broke, what was paid for is told before it is raised
            if session.ledger.records:
                self._finish(_ended(OutcomeStatus.STEP_FAILED, "internal_error", f"{type(error).__name__}: {error}"))
            raise
        return self._finish(ending)

    async def _work(self, make_plan: PlanMaker) -> _Ending:
        try:
            self._report = await make_plan(self._session)
        except EndpointError as error:
            return _failed(OutcomeStatus.ENDPOINT_ERROR, error)
        except CallError as error:
            return _failed(OutcomeStatus.INVALID_PLAN, error)
        finally:
            self._planned_s = self._session.elapsed_s
        plan = self._report.plan
        if plan is None:
            return _Ending(status=OutcomeStatus.INVALID_PLAN, failure=_first_fault(self._report))
        if plan.answer is not None:
            return _Ending(status=OutcomeStatus.ANSWERED, answer=plan.answer)
        return await self._execute(plan, self._report.sink)

    async def _execute(self, plan: Plan, sink: str | None) -> _Ending:
        self._executor = executor = Executor(plan, self._session)
        with suppress(StepHaltError):  # the failed step's error is in `executor.failures`
            await executor.run()
        record = executor.records.get(sink or "")
        if record is not None and record.output is not None:
            return _Ending(status=OutcomeStatus.ANSWERED, answer=record.output)
        broken = [error for error in executor.failures.values() if isinstance(error, EndpointError)]
        if broken:
            return _failed(OutcomeStatus.ENDPOINT_ERROR, broken[0])
        return _failed(OutcomeStatus.STEP_FAILED, next(iter(executor.failures.values())))

    def _finish(self, ending: _Ending) -> Outcome:
        session, report = self._session, self._report
        plan = report.plan if report else None
        records = self._executor.records if self._executor else {}
        outcome = Outcome(
            status=ending.status,
            system=self._system,
            question=session.task.question,
            task_id=session.task.id,
            answer=ending.answer,
            report=report,
            warnings=tuple(warning for record in records.values() for warning in record.warnings),
            planning=session.ledger.of_step(ORCHESTRATOR),
            steps=tuple(records[step.id] for step in plan.steps) if plan and records else (),
            calls=session.ledger.calls,
            usage=session.ledger.usage,
            cost_usd=session.ledger.cost_usd,
            wall_s=session.elapsed_s,
            critical_path_s=self._planned_s + (_longest_chain_s(plan, records) if plan else 0.0),
            failure=ending.failure,
            started_at=session.started_at,
        )
        session.emit(RunFinished(at_s=outcome.wall_s, outcome=outcome))
        return outcome


def _failed(status: OutcomeStatus, error: MasError) -> _Ending:
    return _ended(status, error.code, str(error))


def _ended(status: OutcomeStatus, code: str, message: str) -> _Ending:
    return _Ending(status=status, failure=Failure(code=code, message=message))


def _out_of_time(runtime: Runtime) -> str:
    return f"the run's time limit of {runtime.limits.timeout_s} s is over"


def _first_fault(report: PlanReport) -> Failure:
    more = f" (and {len(report.faults) - 1} more)" if len(report.faults) > 1 else ""
    return Failure(code=report.faults[0].code, message=report.faults[0].message + more)


def _longest_chain_s(plan: Plan, records: Mapping[str, StepRecord]) -> float:
    """The longest chain of steps by their own wall time; records are in the order in which steps ended.

    A step ends after all that it reads, so one pass in that order is enough.
    """
    sources: dict[str, list[str]] = {step.id: [] for step in plan.steps}
    for source, target in plan.edges:
        sources[target].append(source)
    longest: dict[str, float] = {}
    for step_id, record in records.items():
        longest[step_id] = record.wall_s + max((longest.get(source, 0.0) for source in sources[step_id]), default=0.0)
    return max(longest.values(), default=0.0)
