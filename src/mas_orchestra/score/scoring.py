"""The one way from a run to a score."""

from mas_orchestra.score.base import Answered, Score
from mas_orchestra.score.registry import Scorers
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import OutcomeStatus

__all__ = ["UNSCORED", "score"]

UNSCORED = frozenset({OutcomeStatus.ENDPOINT_ERROR, OutcomeStatus.CANCELLED})
"""Ends that say nothing about the system: a broken service and a person's Ctrl-C."""


async def score(task: Task, outcome: Answered, scorers: Scorers) -> Score:
    """How right the run's answer is, by the scorer of the task's kind.

    A run in `UNSCORED`, and a task without a kind, has no value; any other run without an answer is worth 0. The
    status is the reason in both. An answer of blanks is worth 0 and is shown to no scorer.

    Raises:
        UnknownNameError: No scorer for this kind.
        MissingExtraError: The scorer needs a library that is not installed.
    """
    if outcome.status in UNSCORED:
        return Score(value=None, reason=outcome.status.value)
    if not task.kind:
        return Score(value=None, reason="not_scored")
    scorer = scorers[task.kind]
    if outcome.answer is None or outcome.status is not OutcomeStatus.ANSWERED:
        return Score(value=0.0, reason=outcome.status.value)
    if not outcome.answer.strip():
        return Score(value=0.0, reason="empty_answer")
    return await scorer.score(task, outcome.answer)
