"""Ablation fidelity: does the final answer change when one step's output is taken away?

A plan whose answer stays the same whichever step is silenced only looks like a division of labour. The run is replayed
from its record: steps that do not depend on the silenced one keep the outputs they had and cost nothing, only what
comes after it runs again. Sampling alone can change an answer, so every silenced replay has a control that replays the
same steps with the output as it was.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mas_orchestra import seeds
from mas_orchestra.agents.concurrency import all_of
from mas_orchestra.agents.equivalence import Grouping, group_by_key
from mas_orchestra.errors import UnknownNameError
from mas_orchestra.plan.references import substitute
from mas_orchestra.plan.schema import Plan
from mas_orchestra.run.outcome import Outcome
from mas_orchestra.run.runtime import Runtime
from mas_orchestra.run.system import FixedPlan
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import OutcomeStatus

__all__ = ["Fidelity", "ablate", "ablation_fidelity"]

SAMPLE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Fidelity:
    """What silencing steps did.

    Attributes:
        steps: Steps that were silenced and replayed.
        changed: Of these, how many changed the final answer; no answer at all is a change.
        changed_anyway: How many controls changed it: what sampling alone does.
        broken: Steps left out because the endpoint broke or a replay was cancelled.
    """

    steps: int
    changed: int
    changed_anyway: int
    broken: int = 0


def ablate(outcome: Outcome, step_id: str, output: str = "") -> Plan:
    """The part of a run's plan that comes after a step, with that step's output replaced.

    Outputs that are not recomputed stand in the inputs as text. In them ``${`` is parted by an invisible word joiner,
    so that an output is never read as a reference. A step whose whole input becomes empty gets the question itself,
    as everywhere.

    Args:
        outcome: A run that answered by a plan.
        step_id: A step whose output another one reads.
        output: What the readers get instead.

    Raises:
        UnknownNameError: The plan has no such step, or nothing comes after it.
    """
    plan = outcome.plan or Plan()
    after = _after(plan, step_id)
    if not after:
        raise UnknownNameError("step with readers", step_id, _with_readers(plan))
    given = {record.id: _inert(record.output or "") for record in outcome.steps if record.id not in after}
    given[step_id] = _inert(output)
    return Plan(
        steps=tuple(
            step.model_copy(update={"input": substitute(step.input, given)}) for step in plan.steps if step.id in after
        ),
        edges=tuple(edge for edge in plan.edges if edge.source in after and edge.target in after),
    )


async def ablation_fidelity(
    outcomes: Sequence[Outcome],
    runtime: Runtime,
    *seed: str | int,
    sample: int = SAMPLE,
    grouping: Grouping = group_by_key,
) -> Fidelity:
    """Fidelity over a random sample of steps of these runs.

    Args:
        outcomes: Runs of one system; only those that answered by a plan of several steps count.
        runtime: What the replays run with: the models and limits of the runs.
        seed: Names the sample.
        sample: Most steps to silence; each costs at most two runs of what comes after it.
        grouping: When two final answers are the same.

    Raises:
        UsageError: A plan cannot run in this runtime.
    """
    places = [
        (outcome, step)
        for outcome in outcomes
        if outcome.status is OutcomeStatus.ANSWERED and outcome.plan is not None
        for step in _with_readers(outcome.plan)
    ]
    chosen = seeds.rng("ablation", *seed).sample(places, min(sample, len(places)))
    changes = [one for one in await all_of(_changes(*place, runtime, grouping) for place in chosen) if one is not None]
    return Fidelity(
        steps=len(changes),
        changed=sum(silenced for silenced, _ in changes),
        changed_anyway=sum(control for _, control in changes),
        broken=len(chosen) - len(changes),
    )


async def _changes(outcome: Outcome, step_id: str, runtime: Runtime, grouping: Grouping) -> tuple[bool, bool] | None:
    """Whether silencing the step and whether its control changed the answer; ``None`` when the service broke."""
    recorded = next(record.output or "" for record in outcome.steps if record.id == step_id)
    task = Task(id=outcome.task_id, question=outcome.question)
    replays = await all_of(
        FixedPlan(plan=ablate(outcome, step_id, output), name="ablation").solve(task, runtime)
        for output in ("", recorded)
    )
    if any(one.status in {OutcomeStatus.ENDPOINT_ERROR, OutcomeStatus.CANCELLED} for one in replays):
        return None
    silenced, control = [await _differs(outcome, one, grouping) for one in replays]
    return silenced, control


async def _differs(first: Outcome, second: Outcome, grouping: Grouping) -> bool:
    if first.answer is None or second.answer is None:
        return first.answer is not second.answer
    return len(set(await grouping([first.answer, second.answer]))) > 1


def _after(plan: Plan, step_id: str) -> set[str]:
    """Ids of the steps that depend on a step, however far."""
    found: set[str] = set()
    waiting = [step_id]
    while waiting:
        source = waiting.pop()
        fresh = {edge.target for edge in plan.edges if edge.source == source} - found
        found |= fresh
        waiting += fresh
    return found


def _with_readers(plan: Plan) -> list[str]:
    sources = {edge.source for edge in plan.edges}
    return [step.id for step in plan.steps if step.id in sources]


def _inert(output: str) -> str:
    return output.replace("${", "$\u2060{")
