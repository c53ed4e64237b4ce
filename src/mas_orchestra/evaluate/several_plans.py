"""``best_of:N`` and ``majority_of:N``: several plans for one question, one of which runs, or all of which vote."""

import asyncio
import dataclasses
from dataclasses import dataclass

from mas_orchestra import seeds
from mas_orchestra.agents.equivalence import Grouping, group_by_key
from mas_orchestra.agents.vote import vote
from mas_orchestra.evaluate.attempt_runtime import in_namespace
from mas_orchestra.evaluate.plan_scorers import PlanScorer
from mas_orchestra.plan.report import PlanReport
from mas_orchestra.run import Limits, Orchestrated, Outcome, PlanWriter, Runtime, StepRecord
from mas_orchestra.run.conduct import conduct
from mas_orchestra.run.session import Session
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import OutcomeStatus, Usage

__all__ = ["BestOf", "MajorityOf"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BestOf:
    """N plans are written, a scorer picks one of the valid ones, only that one runs."""

    plans: int
    writer: PlanWriter
    scorer: PlanScorer
    name: str

    async def solve(self, task: Task, runtime: Runtime) -> Outcome:
        """Write, pick, run."""

        async def best(session: Session) -> PlanReport:
            async with asyncio.TaskGroup() as group:
                writing = [group.create_task(writer(session)) for writer in _writers(self.writer, self.plans, runtime)]
            reports = [one.result() for one in writing]
            valid = [report for report in reports if report.plan is not None]
            if not valid:
                return reports[0]
            plans = [report.plan for report in valid if report.plan is not None]
            scores = await self.scorer.score(task, plans)
            return valid[max(range(len(valid)), key=lambda number: scores[number])]

        return await conduct(self.name, task, runtime, best)


@dataclass(frozen=True, slots=True, kw_only=True)
class MajorityOf:
    """N plans are written and all run; the answer that most of them give wins, of equals the first.

    Each run has its share of the attempt's limits. The outcome shows the plan of the first run that gave the winning
    answer and the steps of all runs, ``2/step`` for step ``step`` of the second run.
    """

    plans: int
    writer: PlanWriter
    name: str
    grouping: Grouping = group_by_key

    async def solve(self, task: Task, runtime: Runtime) -> Outcome:
        """Write and run N plans at the same time, then vote."""
        async with asyncio.TaskGroup() as group:
            running = [
                group.create_task(self._run(number, writer, task, runtime))
                for number, writer in enumerate(_writers(self.writer, self.plans, runtime))
            ]
        outcomes = [one.result() for one in running]
        answered = [outcome for outcome in outcomes if outcome.answer is not None]
        if not answered:
            broken = [outcome for outcome in outcomes if outcome.status is OutcomeStatus.ENDPOINT_ERROR]
            return _merged(self.name, outcomes, (broken or outcomes)[0])
        labels = await self.grouping([outcome.answer or "" for outcome in answered])
        return _merged(self.name, outcomes, answered[vote(labels).winner])

    async def _run(self, number: int, writer: PlanWriter, task: Task, runtime: Runtime) -> Outcome:
        own = dataclasses.replace(
            in_namespace(runtime, f"plan {number}"),
            seed=seeds.digest("plan", runtime.seed, number) % 2**63,
            limits=_share(runtime.limits, self.plans),
        )
        return await Orchestrated(writer=writer, name=self.name).solve(task, own)


def _writers(writer: PlanWriter, count: int, runtime: Runtime) -> list[PlanWriter]:
    """The same writer with a sampling seed for each plan, or a cache would give one plan several times."""
    return [
        dataclasses.replace(
            writer, params=dataclasses.replace(writer.params, seed=seeds.digest("plan", runtime.seed, number) % 2**31)
        )
        for number in range(count)
    ]


def _share(limits: Limits, parts: int) -> Limits:
    """What one of several runs may use, so that together they keep the attempt's limits."""

    def floor(limit: int | None) -> int | None:
        return None if limit is None else max(1, limit // parts)

    return dataclasses.replace(
        limits,
        max_calls=floor(limits.max_calls),
        max_tokens=floor(limits.max_tokens),
        max_cost_usd=None if limits.max_cost_usd is None else limits.max_cost_usd / parts,
    )


def _merged(name: str, outcomes: list[Outcome], winner: Outcome) -> Outcome:
    """One outcome of several runs at the same time."""
    steps = [_numbered(step, number) for number, outcome in enumerate(outcomes, start=1) for step in outcome.steps]
    usage = Usage()
    for outcome in outcomes:
        usage += outcome.usage
    costs = [outcome.cost_usd for outcome in outcomes]
    return dataclasses.replace(
        winner,
        system=name,
        warnings=tuple(warning for outcome in outcomes for warning in outcome.warnings),
        planning=tuple(call for outcome in outcomes for call in outcome.planning),
        steps=tuple(steps),
        calls=sum(outcome.calls for outcome in outcomes),
        usage=usage,
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        wall_s=max(outcome.wall_s for outcome in outcomes),
        critical_path_s=max(outcome.critical_path_s for outcome in outcomes),
        started_at=outcomes[0].started_at,
    )


def _numbered(step: StepRecord, number: int) -> StepRecord:
    name = f"{number}/{step.id}"
    calls = tuple(dataclasses.replace(call, step=name) for call in step.calls)
    return dataclasses.replace(step, id=name, calls=calls)
