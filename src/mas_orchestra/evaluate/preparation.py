"""What systems find out once, before the first attempt, and get back at every later start of the run."""

import asyncio
import dataclasses
from collections.abc import Sequence

from mas_orchestra import seeds
from mas_orchestra.errors import MasError
from mas_orchestra.evaluate.attempt_runtime import in_namespace, with_models
from mas_orchestra.evaluate.caps import CappedModel, RunBudget
from mas_orchestra.evaluate.contenders import Contender
from mas_orchestra.evaluate.harness import Scoring
from mas_orchestra.evaluate.store import Store
from mas_orchestra.evaluate.workflow_search import Trial, TrySystem, WorkflowSearch
from mas_orchestra.run import System
from mas_orchestra.tasks.task import Task

__all__ = ["prepare", "restore"]


async def prepare(
    contenders: Sequence[Contender],
    *,
    store: Store,
    validation: Sequence[Task],
    score: Scoring,
    budget: RunBudget,
    seed: int,
    concurrency: int,
) -> None:
    """Let each system that has not done so yet find out what it needs, and keep it in the store.

    Raises:
        EndpointError: The service broke; nothing is kept of that system.
        BudgetError: A cap of the run was reached.
    """
    known = store.prepared()
    for one in contenders:
        if isinstance(one.system, WorkflowSearch) and one.name not in known:
            trying = _trying(one, score=score, budget=budget, seed=seed, concurrency=concurrency)
            store.keep_prepared(one.name, await one.system.prepare(validation, trying))


def restore(contenders: Sequence[Contender], store: Store, *, attempts: int) -> None:
    """Give systems back what they found; `attempts` of each share what that cost."""
    known = store.prepared()
    for one in contenders:
        if isinstance(one.system, WorkflowSearch) and one.name in known:
            one.system.restore(known[one.name], attempts=attempts)


def _trying(contender: Contender, *, score: Scoring, budget: RunBudget, seed: int, concurrency: int) -> TrySystem:
    async def attempt(jobs: Sequence[tuple[str, System, Task]]) -> Sequence[Trial]:
        room = asyncio.Semaphore(concurrency)

        async def one(label: str, system: System, task: Task) -> Trial:
            namespace = f"{contender.name}/search/{label}/{seed}"
            runtime = with_models(in_namespace(contender.runtime, namespace), lambda model: CappedModel(model, budget))
            number = seeds.digest("search", seed, contender.name, label, task.id) % 2**63
            async with room:
                outcome = await system.solve(task, dataclasses.replace(runtime, seed=number))
                return Trial(outcome=outcome, score=await score(task, outcome))

        try:
            async with asyncio.TaskGroup() as group:
                running = [group.create_task(one(*job)) for job in jobs]
        except ExceptionGroup as errors:
            ours, others = errors.split(MasError)
            raise (errors if others or ours is None else ours.exceptions[0]) from None
        return [each.result() for each in running]

    return attempt
