"""What a run looks like from outside at one moment: a fold over its events.

Nothing is drawn here and no clock is read, so the same events always give the same view, live or from a trace.
"""

from dataclasses import dataclass, field

from mas_orchestra.plan.report import PlanReport
from mas_orchestra.plan.schema import Plan
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
from mas_orchestra.types import StepStatus, Usage

__all__ = ["RunView", "StepView", "levels"]


@dataclass(slots=True, kw_only=True)
class StepView:
    """One step, or the writing of the plan, so far.

    Attributes:
        level: 1 for a step that reads nobody, else one more than the highest level that it reads.
        reads: Ids of the steps whose output it gets, in plan order.
        purposes: What its calls under way are for, oldest first.
    """

    id: str
    agent: str
    level: int = 1
    reads: tuple[str, ...] = ()
    status: StepStatus = StepStatus.WAITING
    started_s: float | None = None
    finished_s: float | None = None
    calls: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = 0.0
    purposes: list[str] = field(default_factory=list)
    failure: Failure | None = None
    warnings: list[Warned] = field(default_factory=list)

    def book(self, record: CallRecord) -> None:
        """Count one call that ended."""
        if record.purpose in self.purposes:
            self.purposes.remove(record.purpose)
        self.calls += record.samples
        self.usage += record.usage
        self.cost_usd = None if self.cost_usd is None or record.cost_usd is None else self.cost_usd + record.cost_usd

    def finish(self, record: StepRecord) -> None:
        """Take over how the step ended."""
        self.status = record.status
        self.started_s, self.finished_s = record.started_s, record.finished_s
        self.calls = sum(call.samples for call in record.calls)
        self.usage, self.cost_usd = record.usage, record.cost_usd
        self.failure = record.failure
        self.warnings = list(record.warnings)
        self.purposes.clear()


class RunView:
    """All that can be drawn of a run.

    Attributes:
        planning: The writing of the plan; ``None`` while the orchestrator was not asked.
        attempts: How each text of the orchestrator was read, by its number; the last one counts. 0 is a given plan.
        steps: By id, in plan order.
        outcome: The end, once there is one.
    """

    def __init__(self) -> None:
        self.system = ""
        self.question = ""
        self.planning: StepView | None = None
        self.attempts: dict[int, PlanReport] = {}
        self.steps: dict[str, StepView] = {}
        self.outcome: Outcome | None = None

    @classmethod
    def of(cls, outcome: Outcome) -> "RunView":
        """The view of a finished run."""
        view = cls()
        view.system, view.question = outcome.system, outcome.question
        for record in outcome.planning:
            view.apply(CallStarted(at_s=record.started_s, step=ORCHESTRATOR, purpose=record.purpose))
            view.apply(CallFinished(at_s=record.started_s + record.queue_s + record.latency_s, record=record))
        if outcome.report is not None:
            read_s = view.planning.finished_s or 0.0 if view.planning else 0.0
            view.apply(PlanParsed(at_s=read_s, attempt=len(outcome.planning), report=outcome.report))
        for step in outcome.steps:
            view.apply(StepFinished(at_s=step.finished_s or 0.0, record=step))
        view.apply(RunFinished(at_s=outcome.wall_s, outcome=outcome))
        return view

    def apply(self, event: Event) -> None:
        """Take in the next event."""
        match event:
            case RunStarted():
                self.system, self.question = event.system, event.question
            case PlanParsed():
                self._read(event)
            case StepStarted():
                step = self._step(event.step, event.agent)
                step.status, step.started_s = StepStatus.RUNNING, event.at_s
            case CallStarted():
                self._start_call(event)
            case CallFinished():
                self._finish_call(event)
            case StepWarned():
                self._step(event.step).warnings.append(event.warning)
            case StepFinished():
                self._step(event.record.id, event.record.agent).finish(event.record)
            case RunFinished():
                self.outcome = event.outcome
                if self.planning is not None:
                    self.planning.purposes.clear()

    def _lay_out(self, plan: Plan) -> None:
        """Add the plan's steps, all of them waiting."""
        level = levels(plan)
        reads: dict[str, list[str]] = {step.id: [] for step in plan.steps}
        for source, target in plan.edges:
            reads[target].append(source)
        for step in plan.steps:
            self.steps[step.id] = StepView(
                id=step.id, agent=step.agent, level=level[step.id], reads=tuple(reads[step.id])
            )

    def _read(self, event: PlanParsed) -> None:
        self.attempts[event.attempt] = event.report
        if self.planning is not None:
            valid = event.report.valid
            self.planning.status = StepStatus.ANSWERED if valid else StepStatus.FAILED
            self.planning.finished_s = event.at_s
        if event.report.plan is not None:
            self._lay_out(event.report.plan)

    def _start_call(self, event: CallStarted) -> None:
        if not self._is_planning(event.step):
            self._step(event.step).purposes.append(event.purpose)
            return
        if self.planning is None:
            self.planning = StepView(id=ORCHESTRATOR, agent="", level=0, started_s=event.at_s)
        self.planning.status, self.planning.finished_s = StepStatus.RUNNING, None
        self.planning.purposes.append(event.purpose)

    def _finish_call(self, event: CallFinished) -> None:
        record = event.record
        if not self._is_planning(record.step):
            self._step(record.step).book(record)
        elif self.planning is not None:
            self.planning.book(record)
            self.planning.status = StepStatus.FAILED if record.failure else StepStatus.ANSWERED
            self.planning.failure, self.planning.finished_s = record.failure, event.at_s

    def _is_planning(self, step: str) -> bool:
        """Whether a call writes the plan. A plan may name a step like the orchestrator; then it has been written."""
        return step == ORCHESTRATOR and step not in self.steps

    def _step(self, name: str, agent: str = "") -> StepView:
        return self.steps.setdefault(name, StepView(id=name, agent=agent))


def levels(plan: Plan) -> dict[str, int]:
    """Level of each step by its longest way from a step that reads nobody, 1 first."""
    level = {step.id: 1 for step in plan.steps}
    targets: dict[str, list[str]] = {step.id: [] for step in plan.steps}
    missing = dict.fromkeys(level, 0)
    for source, target in plan.edges:
        targets[source].append(target)
        missing[target] += 1
    ready = [step for step, count in missing.items() if not count]
    while ready:
        source = ready.pop()
        for target in targets[source]:
            level[target] = max(level[target], level[source] + 1)
            missing[target] -= 1
            if not missing[target]:
                ready.append(target)
    return level
