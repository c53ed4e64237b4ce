"""Systems: whatever answers a task. Harness, trainer, server and command line only know systems."""

from dataclasses import dataclass, field
from typing import Protocol

from mas_orchestra import plan as language
from mas_orchestra.errors import InvalidPlanError
from mas_orchestra.plan.report import PlanReport
from mas_orchestra.plan.schema import Plan, Step
from mas_orchestra.run.conduct import conduct
from mas_orchestra.run.events import PlanParsed
from mas_orchestra.run.orchestrate import PlanWriter
from mas_orchestra.run.outcome import Outcome
from mas_orchestra.run.runtime import Runtime
from mas_orchestra.run.session import Session
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import JsonValue

__all__ = ["FixedPlan", "Orchestrated", "StandaloneAgent", "System"]


class System(Protocol):
    """Anything that answers a task."""

    @property
    def name(self) -> str:
        """How reports call it, as ``sc:5``."""
        ...

    async def solve(self, task: Task, runtime: Runtime) -> Outcome:
        """The outcome, whatever happened.

        Raises:
            asyncio.CancelledError: The run was cancelled; its outcome went to the listeners first.
            UsageError: Wrong usage, found before anything was sent.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedPlan:
    """One given plan for every task."""

    plan: Plan
    name: str = "plan"

    async def solve(self, task: Task, runtime: Runtime) -> Outcome:
        """Run the plan.

        Raises:
            InvalidPlanError: The plan cannot run with this runtime's sub-agents and limits; nothing was sent.
        """
        report = self._checked(runtime)

        async def given(session: Session) -> PlanReport:
            session.emit(PlanParsed(at_s=session.elapsed_s, attempt=0, report=report))
            return report

        return await conduct(self.name, task, runtime, given)

    def _checked(self, runtime: Runtime) -> PlanReport:
        report = language.check(
            self.plan,
            mode="lenient",
            catalog=runtime.catalog,
            max_steps=len(self.plan.steps),
            max_calls=runtime.limits.max_calls,
        )
        if not report.valid:
            raise InvalidPlanError(f"the plan cannot run: {'; '.join(fault.message for fault in report.faults)}")
        return report


@dataclass(frozen=True, slots=True, kw_only=True)
class StandaloneAgent:
    """One sub-agent given the whole question: the paper's single-agent baselines. It is a plan of one step."""

    agent: str
    arguments: dict[str, JsonValue] = field(default_factory=dict)
    name: str = ""

    async def solve(self, task: Task, runtime: Runtime) -> Outcome:
        """Run the sub-agent on the question, word for word."""
        step = Step(id="agent", agent=self.agent, arguments=self.arguments)
        return await FixedPlan(plan=Plan(steps=(step,)), name=self.name or self.agent).solve(task, runtime)


@dataclass(frozen=True, slots=True, kw_only=True)
class Orchestrated:
    """A model writes the plan, prompted or trained; then the plan runs."""

    writer: PlanWriter = field(default_factory=PlanWriter)
    name: str = "orchestrated"

    async def solve(self, task: Task, runtime: Runtime) -> Outcome:
        """Ask the orchestrator for a plan and run it."""
        return await conduct(self.name, task, runtime, self.writer)
