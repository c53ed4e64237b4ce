"""Scores anew what is stored, without asking a system again."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice

from mas_orchestra.errors import CallError
from mas_orchestra.evaluate.attempt import AttemptKey
from mas_orchestra.evaluate.harness import Scoring
from mas_orchestra.evaluate.solving import UNTRIED
from mas_orchestra.evaluate.store import Store, StoredOutcome
from mas_orchestra.evaluate.stored_run import now
from mas_orchestra.score.base import Score

__all__ = ["Rescored", "rescore"]

BATCH = 64
"""Outcomes that are held and scored at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescored:
    """What scoring anew came to.

    Attributes:
        attempts: Attempts that were scored again.
        changed: Those whose value is another one now.
        unscored: Those without a value now.
    """

    attempts: int
    changed: int
    unscored: int


async def rescore(store: Store, scoring: Scoring, scorers: Mapping[str, str]) -> Rescored:
    """Score every stored outcome again; all scores are replaced, or none.

    The run's facts say by what (`scorers`: name by kind of task), by which release and when.

    Attempts that were never whole (a cap of the run, a crash of a system's code) keep their reason.

    Raises:
        StoreError: The store refuses.
    """
    tasks = {task.id: task for task in store.tasks()}
    found: list[tuple[AttemptKey, Score]] = []
    changed = 0

    async def one(stored: StoredOutcome) -> Score:
        try:
            return await scoring(tasks[stored.key.task_id], stored.outcome)
        except CallError as error:
            return Score(value=None, reason=error.code, details={"message": str(error)})

    outcomes = (stored for stored in store.outcomes() if stored.score.reason not in UNTRIED)
    for batch in _batches(outcomes):
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(one(stored)) for stored in batch]
        for stored, task in zip(batch, running, strict=True):
            score = task.result()
            changed += score.value != stored.score.value
            found.append((stored.key, score))
    store.rescore(found)
    store.note({"scorers": dict(scorers), "rescored_by": version("mas-orchestra"), "rescored_at": now()})
    return Rescored(attempts=len(found), changed=changed, unscored=sum(score.value is None for _, score in found))


def _batches(outcomes: Iterator[StoredOutcome]) -> Iterator[list[StoredOutcome]]:
    while batch := list(islice(outcomes, BATCH)):
        yield batch
