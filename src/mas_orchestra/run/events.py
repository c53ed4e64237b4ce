"""What happens during a run, as typed values in the order in which it happened.

Events feed the live view, the store, telemetry and tests. A listener is called in the event loop and must not block; an
exception in one ends the run, since a listener that loses events would lie.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from mas_orchestra.plan.report import PlanReport
from mas_orchestra.run.outcome import CallRecord, Outcome, StepRecord, Warned

__all__ = [
    "EVENT_VERSION",
    "CallFinished",
    "CallStarted",
    "Event",
    "Listener",
    "PlanParsed",
    "RunFinished",
    "RunStarted",
    "StepFinished",
    "StepStarted",
    "StepWarned",
]

EVENT_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A system began to work on a question."""

    at_s: float
    system: str
    question: str
    task_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanParsed:
    """A plan was read: from the orchestrator's `attempt`-th reply (1-based), or as given (`attempt` 0)."""

    at_s: float
    attempt: int
    report: PlanReport


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    """All inputs of a step exist and its sub-agent began."""

    at_s: float
    step: str
    agent: str
    input: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted:
    """A call passed the budget and was handed to the model (it may still queue for the endpoint)."""

    at_s: float
    step: str
    purpose: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFinished:
    """A call ended, with a reply or without; it is booked in the ledger."""

    at_s: float
    record: CallRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class StepWarned:
    """A sub-agent reported something worth knowing."""

    at_s: float
    step: str
    warning: Warned


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFinished:
    """A step ended in any way, "never started" included."""

    at_s: float
    record: StepRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """The end; always the last event, always exactly one."""

    at_s: float
    outcome: Outcome


Event: TypeAlias = (
    RunStarted | PlanParsed | StepStarted | CallStarted | CallFinished | StepWarned | StepFinished | RunFinished
)
Listener: TypeAlias = Callable[[Event], None]
