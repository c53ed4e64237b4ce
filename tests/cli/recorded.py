"""Recorded runs: lists of events as an executor emits them, without any model."""

from collections.abc import Iterable

from mas_orchestra.models.base import Choice
from mas_orchestra.plan.report import Fault, FaultCode, Mode, PlanFormat, PlanReport, Severity
from mas_orchestra.plan.schema import Edge, Plan, Step
from mas_orchestra.run.events import (
    CallFinished,
    CallStarted,
    Event,
    PlanParsed,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    StepWarned,
)
from mas_orchestra.run.outcome import ORCHESTRATOR, CallRecord, Failure, Outcome, StepRecord, Warned
from mas_orchestra.types import DoM, Message, OutcomeStatus, Role, StepStatus, Usage

HOUSING = Plan(
    thinking="two facts, then a debate",
    steps=(
        Step(id="facts", agent="CoTAgent"),
        Step(id="rates", agent="SCAgent"),
        Step(id="compare", agent="DebateAgent", arguments={"roles": ["Statistician", "Realist"]}),
    ),
    edges=(Edge("facts", "compare"), Edge("rates", "compare")),
)


def report(plan: Plan | None, *faults: Fault) -> PlanReport:
    return PlanReport(
        plan=plan,
        faults=faults,
        warnings=(),
        format=PlanFormat.XML,
        mode=Mode.LENIENT,
        dom=DoM.HIGH,
        sink=plan.steps[-1].id if plan and plan.steps else None,
        width=2,
        length=2,
        max_calls=17,
    )


def fault(message: str = "the block is not closed") -> Fault:
    return Fault(code=FaultCode.UNCLOSED_TAG, severity=Severity.ERROR, message=message, line=3, column=7)


def call(step: str, purpose: str, **changes: object) -> CallRecord:
    values: dict[str, object] = {
        "step": step,
        "purpose": purpose,
        "model": "scripted:demo",
        "messages": (Message(role=Role.USER, content="What is 6 times 7?"),),
        "choices": (Choice(content="42"),),
        "usage": Usage(input_tokens=100, output_tokens=10),
        "cost_usd": 0.001,
        "started_s": 0.5,
        "latency_s": 1.0,
    }
    return CallRecord(**(values | changes))  # type: ignore[arg-type]  # a test's own table of values


def step(name: str, agent: str, status: StepStatus = StepStatus.ANSWERED, **changes: object) -> StepRecord:
    values: dict[str, object] = {
        "id": name,
        "agent": agent,
        "status": status,
        "output": "42" if status is StepStatus.ANSWERED else None,
        "calls": (call(name, "answer"),),
        "usage": Usage(input_tokens=100, output_tokens=10),
        "cost_usd": 0.001,
        "started_s": 0.5,
        "finished_s": 2.0,
        "wall_s": 1.5,
    }
    return StepRecord(**(values | changes))  # type: ignore[arg-type]  # a test's own table of values


def outcome(status: OutcomeStatus = OutcomeStatus.ANSWERED, **changes: object) -> Outcome:
    values: dict[str, object] = {
        "status": status,
        "system": "orchestrated",
        "question": "What is 6 times 7?",
        "task_id": "question",
        "answer": "42" if status is OutcomeStatus.ANSWERED else None,
        "report": report(HOUSING),
        "planning": (call(ORCHESTRATOR, "plan"),),
        "steps": (step("facts", "CoTAgent"), step("rates", "SCAgent"), step("compare", "DebateAgent")),
        "calls": 4,
        "usage": Usage(input_tokens=400, output_tokens=40),
        "cost_usd": 0.004,
        "wall_s": 4.0,
        "critical_path_s": 3.9,
    }
    return Outcome(**(values | changes))  # type: ignore[arg-type]  # a test's own table of values


def housing() -> list[Event]:
    """A bad text, a plan of three steps on two levels, the second of which fails."""
    failed = step(
        "rates", "SCAgent", StepStatus.FAILED, failure=Failure(code="empty_reply", message="no sample had an answer")
    )
    return [
        RunStarted(at_s=0.0, system="orchestrated", question="What is 6 times 7?", task_id="question"),
        CallStarted(at_s=0.0, step=ORCHESTRATOR, purpose="plan"),
        CallFinished(at_s=0.2, record=call(ORCHESTRATOR, "plan", started_s=0.0)),
        PlanParsed(at_s=0.2, attempt=1, report=report(None, fault())),
        CallStarted(at_s=0.2, step=ORCHESTRATOR, purpose="plan, repair turn 1"),
        CallFinished(at_s=0.4, record=call(ORCHESTRATOR, "plan, repair turn 1", started_s=0.2)),
        PlanParsed(at_s=0.4, attempt=2, report=report(HOUSING)),
        StepStarted(at_s=0.5, step="facts", agent="CoTAgent", input=""),
        StepStarted(at_s=0.5, step="rates", agent="SCAgent", input=""),
        CallStarted(at_s=0.5, step="facts", purpose="answer"),
        CallStarted(at_s=0.5, step="rates", purpose="sample 1"),
        CallStarted(at_s=0.5, step="rates", purpose="sample 2"),
        CallFinished(at_s=2.0, record=call("facts", "answer")),
        StepFinished(at_s=2.0, record=step("facts", "CoTAgent")),
        CallFinished(at_s=2.0, record=call("rates", "sample 1")),
        StepWarned(at_s=2.0, step="rates", warning=Warned(code="empty_reply", message="sample 1 was empty")),
        StepFinished(at_s=2.0, record=failed),
        StepStarted(at_s=2.0, step="compare", agent="DebateAgent", input="[no output: step 'rates' failed]"),
        CallStarted(at_s=2.0, step="compare", purpose="round 2: Statistician"),
        CallStarted(at_s=2.0, step="compare", purpose="round 2: Realist"),
    ]


def wide(count: int, names: Iterable[str] | None = None) -> Plan:
    """`count` - 1 steps that one last step reads."""
    ids = list(names) if names is not None else [f"step {number}" for number in range(1, count + 1)]
    steps = tuple(Step(id=name, agent="CoTAgent") for name in ids)
    return Plan(steps=steps, edges=tuple(Edge(name, ids[-1]) for name in ids[:-1]))


def finished(plan: Plan, *, answer: str = "42") -> Event:
    records = tuple(step(item.id, item.agent) for item in plan.steps)
    return RunFinished(at_s=4.0, outcome=outcome(report=report(plan), steps=records, answer=answer))
