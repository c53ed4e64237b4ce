"""``workflow_search``: a small search over fixed workflows at inference time, the family that looks before it answers.

Successive halving (Jamieson and Talwalkar, 2016): every workflow works on a part of the validation tasks, the better
half goes on to the next part, until one is left. That one then answers every task of the evaluation. What the search
cost is shared equally by all of the system's attempts and shows up in each as a call of its own.
"""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol, TypeAlias

from mas_orchestra.errors import EndpointError, UsageError
from mas_orchestra.evaluate.attempt import Spent
from mas_orchestra.plan.catalog import Catalog
from mas_orchestra.plan.schema import Edge, Plan, Step
from mas_orchestra.run import ORCHESTRATOR, CallRecord, FixedPlan, Outcome, Runtime, System
from mas_orchestra.score.base import Score
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import JsonValue, Usage

__all__ = ["Prepared", "Trial", "TrySystem", "WorkflowSearch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How one system did on one task of the validation split."""

    outcome: Outcome
    score: Score


TrySystem: TypeAlias = Callable[[Sequence[tuple[str, System, Task]]], Awaitable[Sequence[Trial]]]
"""Runs systems on tasks, each named for its seeds, within the run's caps; results in order."""


class Prepared(Protocol):
    """A system that finds something out once, before its first attempt; it is kept in the store."""

    async def prepare(self, validation: Sequence[Task], attempt: TrySystem) -> dict[str, JsonValue]:
        """What it found, JSON values only; ``spent`` holds `Spent` as a mapping."""
        ...

    def restore(self, found: Mapping[str, JsonValue], *, attempts: int) -> None:
        """Take what `prepare` found; `attempts` share what that cost."""
        ...


class WorkflowSearch:
    """Searches among `candidates` once, then answers with the best.

    Attributes:
        candidates: Plans by name.
    """

    def __init__(self, candidates: Mapping[str, Plan], *, name: str = "workflow_search") -> None:
        self.candidates = dict(candidates)
        self.name = name
        self._chosen: Plan | None = None
        self._share = CallRecord(
            step=ORCHESTRATOR,
            purpose="share of the search",
            model="",
            messages=(),
            usage=Usage(),
            cost_usd=0.0,
            started_s=0.0,
            latency_s=0.0,
        )

    @classmethod
    def over(cls, catalog: Catalog, *, name: str) -> "WorkflowSearch":
        """The workflows that people would try first, as far as their sub-agents are installed."""
        roles = {"roles": ["Domain expert", "Sceptical reviewer"]}
        check = "Check this solution and give the right answer.\n\n${a}"
        known = {
            "one chain of thought": Plan(steps=(_step("a", "CoTAgent"),)),
            "self-consistency": Plan(steps=(_step("a", "SCAgent"),)),
            "reflexion": Plan(steps=(_step("a", "ReflexionAgent"),)),
            "debate": Plan(steps=(Step(id="a", agent="DebateAgent", arguments=roles),)),
            "solve, then check": Plan(
                steps=(_step("a", "CoTAgent"), Step(id="b", agent="CoTAgent", input=check)), edges=(Edge("a", "b"),)
            ),
            "two solve, one decides": Plan(
                steps=(
                    _step("a", "CoTAgent"),
                    _step("b", "ReflexionAgent"),
                    Step(id="c", agent="CoTAgent", input="Decide between two solutions.\n\n1: ${a}\n\n2: ${b}"),
                ),
                edges=(Edge("a", "c"), Edge("b", "c")),
            ),
        }
        usable = {label: plan for label, plan in known.items() if all(step.agent in catalog for step in plan.steps)}
        return cls(usable, name=name)

    async def prepare(self, validation: Sequence[Task], attempt: TrySystem) -> dict[str, JsonValue]:
        """The best workflow, how all of them did, and what the search cost.

        Raises:
            UsageError: No validation tasks.
            EndpointError: A workflow could not be tried because the service broke.
        """
        if not validation:
            raise UsageError(f"{self.name} has no validation tasks")
        left, spent, usage, rounds = list(self.candidates), Spent(), Usage(), list[JsonValue]()
        parts = _parts(validation, rounds=max(1, math.ceil(math.log2(len(left)))))
        for number, tasks in enumerate(parts, start=1):
            jobs = [
                (f"round {number}: {label}", FixedPlan(plan=self.candidates[label], name=self.name), task)
                for label in left
                for task in tasks
            ]
            trials = await attempt(jobs)
            means = dict[str, JsonValue]()
            for place, label in enumerate(left):
                own = trials[place * len(tasks) : (place + 1) * len(tasks)]
                means[label] = _mean(label, own)
            for trial in trials:
                spent += Spent.of(trial.outcome)
                usage += trial.outcome.usage
            rounds.append({"tasks": len(tasks), "means": means})
            # Of equals the one that stands first, which is the simpler.
            left = sorted(left, key=lambda label: -float(str(means[label])))[: max(1, len(left) // 2)]
        return {
            "chosen": left[0],
            "rounds": rounds,
            "spent": {"calls": spent.calls, "tokens": spent.tokens, "cost_usd": spent.cost_usd},
            "input_tokens": usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
            "output_tokens": usage.output_tokens,
        }

    def restore(self, found: Mapping[str, JsonValue], *, attempts: int) -> None:
        """Answer with the workflow that was found."""
        spent = found["spent"]
        assert isinstance(spent, dict)  # noqa: S101  (written by `prepare`)
        self._chosen = self.candidates[str(found["chosen"])]
        cost = spent["cost_usd"]
        self._share = replace(
            self._share,
            samples=round(float(str(spent["calls"])) / attempts),
            usage=Usage(
                input_tokens=round(float(str(found["input_tokens"])) / attempts),
                output_tokens=round(float(str(found["output_tokens"])) / attempts),
            ),
            cost_usd=None if cost is None else float(str(cost)) / attempts,
        )

    async def solve(self, task: Task, runtime: Runtime) -> Outcome:
        """Run the workflow that was found; the outcome holds its share of the search.

        Raises:
            UsageError: `restore` was not called.
        """
        if self._chosen is None:
            raise UsageError(f"{self.name} has not searched yet")
        outcome = await FixedPlan(plan=self._chosen, name=self.name).solve(task, runtime)
        share = self._share
        is_known = outcome.cost_usd is not None and share.cost_usd is not None
        return replace(
            outcome,
            planning=(share, *outcome.planning),
            calls=outcome.calls + share.samples,
            usage=outcome.usage + share.usage,
            cost_usd=(outcome.cost_usd or 0.0) + (share.cost_usd or 0.0) if is_known else None,
        )


def _step(name: str, agent: str) -> Step:
    return Step(id=name, agent=agent)


def _parts(tasks: Sequence[Task], *, rounds: int) -> list[Sequence[Task]]:
    """The tasks in `rounds` parts, each about twice as large as the one before; all of them where there are few."""
    if len(tasks) < 2**rounds:
        return [tasks] * rounds
    unit = len(tasks) / (2**rounds - 1)
    bounds = [round(unit * (2**number - 1)) for number in range(rounds + 1)]
    return [tasks[start:end] for start, end in pairwise(bounds)]


def _mean(label: str, trials: Sequence[Trial]) -> float:
    values = [trial.score.value for trial in trials if trial.score.value is not None]
    if len(values) < len(trials):
        reason = next(trial.score.reason for trial in trials if trial.score.value is None)
        raise EndpointError(f"the workflow {label!r} could not be tried on every validation task: {reason}")
    return sum(values) / len(values)
