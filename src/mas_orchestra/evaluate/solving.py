"""One attempt by itself: its system's outcome whatever happens, and what cannot be scored."""

from collections.abc import Sequence
from dataclasses import dataclass

from mas_orchestra.errors import EndpointError, UsageError
from mas_orchestra.evaluate.attempt import AttemptKey, Spent
from mas_orchestra.evaluate.caps import CAP_REACHED
from mas_orchestra.evaluate.contenders import Contender
from mas_orchestra.evaluate.matched_cost import MatchedCost
from mas_orchestra.evaluate.store import Price
from mas_orchestra.run import Failure, Outcome, Runtime
from mas_orchestra.score.base import Score
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import OutcomeStatus

__all__ = ["UNTRIED", "Unit", "answer", "total_spent", "unscored_as", "void"]

NOTHING_SPENT = Price(calls=0, tokens=0, cost_usd=None, is_whole=True)
CRASHED = "system_crashed"
UNTRIED = frozenset({CAP_REACHED, CRASHED})
"""Reasons why an attempt was never whole, so that there is nothing to score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One attempt that there is to be."""

    contender: Contender
    task: Task
    key: AttemptKey


async def answer(unit: Unit, runtime: Runtime, price: Price | None) -> Outcome:
    """The system's outcome; boundary: a system may be anybody's code, and one crash must not end the run.

    Raises:
        UsageError: The system cannot run as it is configured.
    """
    system = unit.contender.system
    try:
        if isinstance(system, MatchedCost):
            return await system.solve_for(price or NOTHING_SPENT, unit.task, runtime)
        return await system.solve(unit.task, runtime)
    except UsageError:
        raise
    except EndpointError as error:
        return _failed(unit, OutcomeStatus.ENDPOINT_ERROR, error.code, str(error))
    except Exception as error:  # noqa: BLE001  (the boundary that the docstring names)
        return _failed(unit, OutcomeStatus.STEP_FAILED, CRASHED, f"{type(error).__name__}: {error}")


def _failed(unit: Unit, status: OutcomeStatus, code: str, message: str) -> Outcome:
    return Outcome(
        status=status,
        system=unit.contender.name,
        question=unit.task.question,
        task_id=unit.task.id,
        failure=Failure(code=code, message=message),
    )


def void(outcome: Outcome, ends: Sequence[Outcome]) -> Score | None:
    """No score, where the end says nothing about the system: a cap of the run, or a crash of its code."""
    codes = {one.failure.code for one in (*ends, outcome) if one.failure}
    reason = next((code for code in (CAP_REACHED, CRASHED) if code in codes), None)
    return Score(value=None, reason=reason) if reason else None


def unscored_as(outcome: Outcome) -> Score:
    """No score, by how the run ended."""
    return Score(value=None, reason=outcome.status.value)


def total_spent(outcomes: Sequence[Outcome]) -> Spent:
    """What several runs took together."""
    total = Spent()
    for outcome in outcomes:
        total += Spent.of(outcome)
    return total
