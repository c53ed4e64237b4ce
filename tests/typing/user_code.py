"""The public API as a user's program calls it. `test_typing.py` has mypy read it; it is never run.

A line that must be refused ends with ``# refused: CODE``, mypy's code for the mistake.
"""

from mas_orchestra import plan
from mas_orchestra.agents.registry import Registry
from mas_orchestra.models.base import ChatModel, Completion, Params
from mas_orchestra.plan.report import PlanReport
from mas_orchestra.plan.schema import Edge, Plan, Step
from mas_orchestra.run import Event, FixedPlan, Limits, OnStepError, Outcome, Runtime, System, solve, solve_sync
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import DoM, Message, OutcomeStatus, Role


def read_a_plan(text: str) -> Plan | None:
    report: PlanReport = plan.read(text, dom="high", mode="strict")
    codes: list[str] = [fault.code for fault in report.faults]
    lines: list[int | None] = [fault.line for fault in report.faults]
    del codes, lines
    steps: tuple[Step, ...] = report.plan.steps  # refused: union-attr
    del steps
    return report.plan


def write_a_plan() -> str:
    two = Plan(steps=(Step(id="a", agent="CoTAgent"), Step(id="b", agent="CoTAgent")), edges=(Edge("a", "b"),))
    two.answer = "no"  # refused: misc
    Step(id="a")  # refused: call-arg
    text: str = plan.render(two, "json")
    return text


async def solve_a_question(model: ChatModel, registry: Registry, system: System) -> str:
    events: list[Event] = []
    runtime = Runtime(
        model=model,
        registry=registry,
        limits=Limits(max_calls=20, max_cost_usd=0.5, timeout_s=60),
        on_step_error=OnStepError.PARTIAL,
        listeners=(events.append,),
    )
    Limits(timeout=60)  # refused: call-arg
    outcome: Outcome = await solve("How many primes are there below 100?", system, runtime)
    length: int = len(outcome.answer)  # refused: arg-type
    del length
    if outcome.status is OutcomeStatus.ANSWERED and outcome.answer is not None:
        return outcome.answer
    cost: float = outcome.cost_usd  # refused: assignment
    return f"{outcome.failure}, {cost}"


async def ask_a_model(model: ChatModel) -> Completion:
    await model.complete("hello", Params())  # refused: arg-type
    return await model.complete((Message(role=Role.USER, content="hello"),), Params(temperature=0.5, n=3))


class Echo:
    """A system of the user's own needs no base class."""

    name = "echo"

    async def solve(self, task: Task, runtime: Runtime) -> Outcome:
        del runtime
        return Outcome(status=OutcomeStatus.ANSWERED, system=self.name, question=task.question, task_id=task.id)


def everything_that_solves(runtime: Runtime, fixed: Plan) -> tuple[Outcome, ...]:
    systems: tuple[System, ...] = (Echo(), FixedPlan(plan=fixed))
    return tuple(solve_sync(Task(id="1", question="?"), system, runtime) for system in systems)


LOW: DoM = DoM("low")
