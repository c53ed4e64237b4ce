"""The executor: walks a valid plan by data flow.

1. A step starts the moment all its inputs exist; there are no levels and no barriers.
2. References are replaced once, from the template, so a prompt depends on the plan and on answers, never on timing.
3. Every step runs in a task of one task group: whatever stops the run cancels **and awaits** all that still runs.
4. Every step ends with exactly one `StepRecord`, whether it answered, failed, was skipped, cancelled or never started.
"""

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from typing import cast

from mas_orchestra import plan as language
from mas_orchestra.agents.base import StepCall, StepOutcome
from mas_orchestra.errors import BudgetError, CallError, StepError
from mas_orchestra.plan.schema import Plan, Step
from mas_orchestra.run.context import StepContext
from mas_orchestra.run.events import StepFinished, StepStarted
from mas_orchestra.run.ledger import total_cost_usd, total_usage
from mas_orchestra.run.outcome import Failure, StepRecord
from mas_orchestra.run.runtime import OnStepError
from mas_orchestra.run.session import Session
from mas_orchestra.run.step import answer_step
from mas_orchestra.types import StepStatus

__all__ = ["Executor", "StepHaltError"]

_CANCELLED = Failure(code="cancelled", message="the run ended while this step was running")
_NEVER_STARTED = Failure(code="not_started", message="the run ended before this step could start")


class StepHaltError(Exception):
    """A failed step ends the whole plan (`OnStepError.FAIL`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Started:
    """A step that runs: what its sub-agent was given, and since when."""

    task: str
    context: StepContext
    started_s: float


class Executor:
    """One run of one valid plan.

    Attributes:
        records: How each step ended, by id, in the order in which they ended.
        failures: The errors of failed steps, by id.
    """

    def __init__(self, plan: Plan, session: Session) -> None:
        self.records: dict[str, StepRecord] = {}
        self.failures: dict[str, StepError | CallError] = {}
        self._session = session
        self._catalog = session.runtime.catalog
        self._steps = {step.id: step for step in plan.steps}
        self._sources: dict[str, list[str]] = defaultdict(list)
        self._targets: dict[str, list[str]] = defaultdict(list)
        for source, target in plan.edges:
            self._sources[target].append(source)
            self._targets[source].append(target)
        self._inputs_missing = {step.id: len(self._sources[step.id]) for step in plan.steps}

    async def run(self) -> None:
        """Run every step that can run; afterwards each has its record.

        Raises:
            StepHaltError: A step failed and the policy is to stop.
            BudgetError: A limit of the run was reached.
        """
        try:
            async with asyncio.TaskGroup() as group:
                for step in self._steps.values():
                    if not self._inputs_missing[step.id]:
                        group.create_task(self._flow(step, group))
        except BaseExceptionGroup as stops:
            raise _first_stop(stops) from None
        finally:
            for step in self._steps.values():
                if step.id not in self.records:
                    self._record(step, StepStatus.SKIPPED, failure=_NEVER_STARTED)

    async def _flow(self, step: Step, group: asyncio.TaskGroup) -> None:
        """Run one step, then start those for which its output was the last that was missing."""
        gaps = [source for source in self._sources[step.id] if self.records[source].output is None]
        if gaps and self._session.runtime.on_step_error is OnStepError.SKIP:
            missing = Failure(code="input_missing", message=f"no output from {', '.join(map(repr, gaps))}")
            self._record(step, StepStatus.SKIPPED, failure=missing)
        else:
            await self._run_step(step)
        if cast("asyncio.Task[None]", asyncio.current_task()).cancelling():
            return  # the run is ending, even if a sub-agent's own failure came in place of the cancellation
        for target in self._targets[step.id]:
            self._inputs_missing[target] -= 1
            if not self._inputs_missing[target]:
                group.create_task(self._flow(self._steps[target], group))

    async def _run_step(self, step: Step) -> None:
        started = self._start(step)
        arguments = language.arguments_of(step, self._catalog)
        call = StepCall(question=self._session.task.question, task=started.task, arguments=arguments)
        try:
            outcome = await answer_step(self._session.runtime.registry[step.agent], call, started.context)
        except (StepError, CallError) as error:
            self.failures[step.id] = error
            self._record(step, StepStatus.FAILED, started, failure=Failure(code=error.code, message=str(error)))
            if self._session.runtime.on_step_error is OnStepError.FAIL:
                raise StepHaltError from error
        except BudgetError as error:
            self._record(step, StepStatus.FAILED, started, failure=Failure(code=error.code, message=str(error)))
            raise
        except asyncio.CancelledError:
            self._record(step, StepStatus.CANCELLED, started, failure=_CANCELLED)
            raise
        else:
            self._record(step, StepStatus.ANSWERED, started, outcome=outcome)

    def _start(self, step: Step) -> _Started:
        task = language.substitute(step.input, {source: self._output(source) for source in self._sources[step.id]})
        model = self._session.runtime.model_of(step.agent, step.arguments.get("model"))
        context = StepContext(self._session, step=step.id, model=model)
        started = _Started(task=task, context=context, started_s=self._session.elapsed_s)
        self._session.emit(StepStarted(at_s=started.started_s, step=step.id, agent=step.agent, input=task))
        return started

    def _output(self, source: str) -> str:
        """What a reference stands for: the step's answer, or a marked gap where there is none."""
        record = self.records[source]
        if record.output is not None:
            return record.output
        code = record.failure.code if record.failure else record.status
        return f"[no output: step {source!r} failed ({code})]"

    def _record(
        self,
        step: Step,
        status: StepStatus,
        started: _Started | None = None,
        *,
        outcome: StepOutcome | None = None,
        failure: Failure | None = None,
    ) -> None:
        """Keep how a step ended, and tell the listeners."""
        now_s = self._session.elapsed_s
        calls = self._session.ledger.of_step(step.id)
        record = StepRecord(
            id=step.id,
            agent=step.agent,
            status=status,
            input=started.task if started else "",
            output=outcome.answer if outcome else None,
            thinking=outcome.thinking if outcome else "",
            details=outcome.details if outcome else {},
            calls=calls,
            usage=total_usage(calls),
            cost_usd=total_cost_usd(calls),
            started_s=started.started_s if started else None,
            finished_s=now_s if started else None,
            wall_s=now_s - started.started_s if started else 0.0,
            failure=failure,
            warnings=tuple(started.context.warnings) if started else (),
        )
        self.records[step.id] = record
        self._session.emit(StepFinished(at_s=now_s, record=record))


def _first_stop(stops: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one stop that the caller handles; a group with anything else in it is a bug and stays whole."""
    expected, others = stops.split((StepHaltError, BudgetError))
    return stops if others or expected is None else expected.exceptions[0]
