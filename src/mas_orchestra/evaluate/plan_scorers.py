"""Which of several plans to run: the seam for plan reward models, and two simple ones."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from mas_orchestra.errors import UnknownNameError
from mas_orchestra.plan.schema import Plan
from mas_orchestra.tasks.task import Task

__all__ = ["PLAN_SCORERS", "MostCommonPlan", "PlanScorer", "ShortestPlan", "plan_scorer"]


class PlanScorer(Protocol):
    """Says how good plans are, without running them."""

    @property
    def name(self) -> str:
        """Name and settings; part of what makes two runs comparable."""
        ...

    async def score(self, task: Task, plans: Sequence[Plan]) -> Sequence[float]:
        """One number a plan, in order; the largest is best, of equals the first."""
        ...


class ShortestPlan:
    """Fewer steps are better."""

    name = "shortest"

    async def score(self, task: Task, plans: Sequence[Plan]) -> Sequence[float]:
        """Minus the number of steps."""
        del task
        return [-float(len(plan.steps)) for plan in plans]


class MostCommonPlan:
    """The shape that was written most often: sub-agents in order, and edges."""

    name = "most_common"

    async def score(self, task: Task, plans: Sequence[Plan]) -> Sequence[float]:
        """How many of the plans have the same shape."""
        del task
        shapes = [_shape(plan) for plan in plans]
        counts = Counter(shapes)
        return [float(counts[shape]) for shape in shapes]


def _shape(plan: Plan) -> tuple[object, ...]:
    place = {step.id: number for number, step in enumerate(plan.steps)}
    edges = tuple((place[edge.source], place[edge.target]) for edge in plan.edges)
    return (plan.answer is None, tuple(step.agent for step in plan.steps), edges)


PLAN_SCORERS: Mapping[str, Callable[[], PlanScorer]] = {"shortest": ShortestPlan, "most_common": MostCommonPlan}


def plan_scorer(name: str) -> PlanScorer:
    """The plan scorer of that name.

    Raises:
        UnknownNameError: There is none; lists the known ones.
    """
    if name not in PLAN_SCORERS:
        raise UnknownNameError("plan scorer", name, PLAN_SCORERS)
    return PLAN_SCORERS[name]()
