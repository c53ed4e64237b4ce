"""What a run leaves behind, whatever happened: plan, steps, calls, usage, cost and time."""

from dataclasses import dataclass, field

from mas_orchestra.models.base import Choice
from mas_orchestra.plan.report import Fault, PlanReport
from mas_orchestra.plan.schema import Plan
from mas_orchestra.types import JsonValue, Message, OutcomeStatus, StepStatus, Usage

__all__ = ["ORCHESTRATOR", "CallRecord", "Failure", "Outcome", "StepRecord", "Warned"]

ORCHESTRATOR = "$orchestrator"
"""In place of a step's id, calls that wrote the plan; no id of a step may hold a `$`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why something ended without an answer.

    Attributes:
        code: A stable word: an error's code (`empty_reply`, `rate_limited`, …).
        message: For people: what happened, what to do.
    """

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """Something a reader of the trace should know that did not stop the run."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call of a model.

    Attributes:
        step: Id of the step that made it, or `ORCHESTRATOR`.
        purpose: What it was for: ``"sample 3"``.
        samples: Replies asked for.
        choices: What came back; empty when the call failed.
        cost_usd: Price, ``None`` when unknown.
        started_s, latency_s, queue_s: Seconds; the first since the run began, queueing not part of the latency.
        requests: HTTP requests sent, retries included.
        failure: Why there is no reply.
    """

    step: str
    purpose: str
    model: str
    messages: tuple[Message, ...]
    samples: int = 1
    choices: tuple[Choice, ...] = ()
    usage: Usage
    cost_usd: float | None
    started_s: float
    latency_s: float
    queue_s: float = 0.0
    requests: int = 1
    cached: bool = False
    notes: tuple[str, ...] = ()
    failure: Failure | None = None

    @property
    def calls(self) -> int:
        """LLM calls that this counts as: its samples, or none when no request ever left; a kept reply counts."""
        return self.samples if self.requests or self.cached else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """One step as it ran.

    Attributes:
        input: What the sub-agent was given, references replaced; empty means the question itself.
        output: Its answer; ``None`` unless `status` is `answered`.
        started_s, finished_s: Seconds since the run began; ``None`` when it never started.
        wall_s: Time from start to end, in seconds.
    """

    id: str
    agent: str
    status: StepStatus
    input: str = ""
    output: str | None = None
    thinking: str = ""
    details: dict[str, JsonValue] = field(default_factory=dict)
    calls: tuple[CallRecord, ...] = ()
    usage: Usage = Usage()
    cost_usd: float | None = 0.0
    started_s: float | None = None
    finished_s: float | None = None
    wall_s: float = 0.0
    failure: Failure | None = None
    warnings: tuple[Warned, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The end of a run.

    Attributes:
        answer: The sink's answer or the direct answer; ``None`` unless `status` is `answered`.
        report: The last reading of a plan; ``None`` when the run ended before there was one.
        warnings: What happened while the run went on that did not stop it.
        planning: Calls that wrote the plan, in order.
        steps: In plan order.
        calls: LLM calls, planning included; n samples on one request count n, replies kept in a cache count too.
        cost_usd: ``None`` when any part of it is unknown.
        critical_path_s: Longest chain of steps by their wall time, planning included: no scheduler is faster.
    """

    status: OutcomeStatus
    system: str
    question: str
    task_id: str
    answer: str | None = None
    report: PlanReport | None = None
    warnings: tuple[Warned, ...] = ()
    planning: tuple[CallRecord, ...] = ()
    steps: tuple[StepRecord, ...] = ()
    calls: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = 0.0
    wall_s: float = 0.0
    critical_path_s: float = 0.0
    failure: Failure | None = None
    started_at: str = ""
    """UTC, ISO 8601."""

    @property
    def plan(self) -> Plan | None:
        """The plan that ran; ``None`` when none was valid."""
        return self.report.plan if self.report else None

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What made the last text no plan; empty when the plan was valid."""
        return self.report.faults if self.report else ()
