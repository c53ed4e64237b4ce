"""The order of events, and that they tell all of an outcome, for random plans, failures, limits and cancellations."""

import asyncio
from collections import Counter
from contextlib import nullcontext, suppress
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.agents.base import StepOutcome
from mas_orchestra.errors import ContextOverflowError, ServerError, StepError
from mas_orchestra.models.base import Params
from mas_orchestra.run import FixedPlan, Limits, OnStepError, solve
from mas_orchestra.run.events import (
    CallFinished,
    CallStarted,
    PlanParsed,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    StepWarned,
)
from mas_orchestra.run.ledger import total_cost_usd, total_usage
from mas_orchestra.types import Message, OutcomeStatus, Role, StepStatus, Usage
from strategies import graphs
from support.runs import FakeModel, echo_plan, runtime_of
from support.virtual_time import run_virtual

PAID = Usage(input_tokens=3, estimated=True)
FAILURES = {
    "broken service": lambda: ServerError("503", usage=PAID, requests=5),
    "full window": lambda: ContextOverflowError("too long"),
}


@dataclass(frozen=True)
class Case:
    """One run: a plan, what each step does, and what else happens."""

    nodes: str
    edges: tuple
    deeds: dict
    calls: dict
    latencies_s: dict
    limits: Limits
    on_step_error: OnStepError
    cancelled_at_s: float | None


DEEDS = [
    "answer",
    "answer",
    "answer",
    "warn",
    "empty",
    "broken service",
    "full window",
    "give up",
    "crash",
    "call apart",
]
times_s = st.integers(0, 16).map(lambda quarter: quarter / 4)


def is_plan(graph):
    nodes, edges = graph
    unread = set(nodes) - {source for source, _ in edges}
    return len(unread) == 1 and all(source < target for source, target in edges)


@st.composite
def cases(draw):
    nodes, edges = draw(graphs().filter(is_plan))
    most = sum(calls := [draw(st.integers(0, 3)) for _ in nodes])
    return Case(
        nodes=nodes,
        edges=tuple(edges),
        deeds={node: draw(st.sampled_from(DEEDS)) for node in nodes},
        calls=dict(zip(nodes, calls, strict=True)),
        latencies_s={node: draw(times_s) for node in nodes},
        limits=Limits(
            max_calls=draw(st.none() | st.integers(len(nodes), len(nodes) + most)),
            max_tokens=draw(st.none() | st.integers(20, 400)),
            timeout_s=draw(st.none() | times_s.map(lambda seconds: seconds + 1 / 8)),
            step_timeout_s=draw(st.none() | times_s.map(lambda seconds: seconds + 1 / 8)),
        ),
        on_step_error=draw(st.sampled_from(OnStepError)),
        cancelled_at_s=draw(st.none() | times_s),
    )


def worker(case):
    """A sub-agent that does what the case says of the step whose id its task begins with."""

    async def work(call, context):
        node = call.task[0]
        for _ in range(case.calls[node]):
            await one_call(context, node)
        await DOING.get(case.deeds[node], one_more_call)(context, node)
        return StepOutcome(answer=" " if case.deeds[node] == "empty" else f"from {node}")

    return work


async def one_call(context, prompt):
    return await context.complete((Message(role=Role.USER, content=prompt),), Params(max_tokens=5), purpose="try")


async def one_more_call(context, node):
    await one_call(context, node)


async def warn(context, node):
    context.warn("odd", "something odd")


async def call_what_fails(context, node):
    await one_call(context, f"{node}!")


async def give_up(context, node):
    raise StepError("no_idea", "no idea")


async def crash(context, node):
    raise ZeroDivisionError("a bug")


async def call_apart(context, node):
    async with asyncio.TaskGroup() as group:
        for _ in range(2):
            group.create_task(one_call(context, node))


DOING = {
    "warn": warn,
    "broken service": call_what_fails,
    "full window": call_what_fails,
    "give up": give_up,
    "crash": crash,
    "call apart": call_apart,
}


def reply_of(case):
    return lambda prompt: FAILURES[case.deeds[prompt[0]]]() if prompt.endswith("!") else "reply"


def run_of(case):
    """The events of a run, and how many tasks it left behind."""
    seen = []
    model = FakeModel(reply=reply_of(case), latency=lambda prompt: case.latencies_s[prompt[0]])
    options = {"limits": case.limits, "on_step_error": case.on_step_error}
    runtime = runtime_of(model, work=worker(case), listeners=(seen.append,), **options)
    plan = echo_plan(*(f"{source}>{target}" for source, target in case.edges), steps=case.nodes)

    async def main():
        run = asyncio.create_task(solve("Why?", FixedPlan(plan=plan), runtime))
        if case.cancelled_at_s is not None:
            asyncio.get_running_loop().call_later(case.cancelled_at_s, run.cancel)
        await asyncio.wait([run])
        return len(asyncio.all_tasks()) - 1

    left_behind = run_virtual(main())
    return seen, left_behind, model


def of_kind(seen, kind):
    return [event for event in seen if isinstance(event, kind)]


@given(cases())
def test_a_run_begins_once_and_ends_once_and_nothing_comes_after(case):
    seen, left_behind, model = run_of(case)
    assert isinstance(seen[0], RunStarted)
    assert isinstance(seen[1], PlanParsed)
    assert isinstance(seen[-1], RunFinished)
    counts = Counter(type(event) for event in seen)
    assert (counts[RunStarted], counts[PlanParsed], counts[RunFinished]) == (1, 1, 1)
    assert (left_behind, model.in_flight) == (0, 0)


@given(cases())
def test_every_step_ends_once_and_after_it_began(case):
    seen, _, _ = run_of(case)
    started = [event.step for event in of_kind(seen, StepStarted)]
    finished = [event.record.id for event in of_kind(seen, StepFinished)]
    assert sorted(finished) == sorted(case.nodes), "each exactly once, those that never began included"
    assert len(set(started)) == len(started)
    for event in of_kind(seen, StepFinished):
        began = event.record.started_s is not None
        assert began == (event.record.id in started)
        assert began == (event.record.status is not StepStatus.SKIPPED)
    for step in started:
        begins = next(at for at, event in enumerate(seen) if isinstance(event, StepStarted) and event.step == step)
        ends = next(at for at, event in enumerate(seen) if isinstance(event, StepFinished) and event.record.id == step)
        assert begins < ends


@given(cases())
def test_no_step_begins_before_all_that_it_reads_has_ended(case):
    seen, _, _ = run_of(case)
    ended = set()
    for event in seen:
        if isinstance(event, StepStarted):
            assert {source for source, target in case.edges if target == event.step} <= ended
        if isinstance(event, StepFinished):
            ended.add(event.record.id)


@given(cases())
def test_calls_lie_within_their_steps_and_each_that_began_ends_once(case):
    seen, _, _ = run_of(case)
    running, open_calls = set(), Counter()
    for event in seen:
        match event:
            case StepStarted():
                running.add(event.step)
            case CallStarted():
                assert event.step in running
                open_calls[event.step] += 1
            case CallFinished():
                assert event.record.step in running
                open_calls[event.record.step] -= 1
            case StepWarned():
                assert event.step in running
            case StepFinished():
                assert not open_calls[event.record.id], "a step ends after its calls, so that all of them are booked"
                running.discard(event.record.id)
    assert not +open_calls
    assert not running


@given(cases())
def test_time_never_runs_backwards(case):
    seen, _, _ = run_of(case)
    times_s = [event.at_s for event in seen]
    assert times_s == sorted(times_s)
    assert times_s[0] == 0


@given(cases())
def test_the_outcome_says_what_the_events_said(case):
    seen, _, _ = run_of(case)
    outcome = seen[-1].outcome
    records = {event.record.id: event.record for event in of_kind(seen, StepFinished)}
    assert outcome.steps == tuple(records[node] for node in [step.id for step in outcome.plan.steps])
    booked = [event.record for event in of_kind(seen, CallFinished)]
    assert Counter(map(id, booked)) == Counter(id(call) for step in outcome.steps for call in step.calls)
    warned = Counter(event.warning for event in of_kind(seen, StepWarned))
    assert warned <= Counter(outcome.warnings)


@given(cases())
def test_totals_are_the_sums_of_what_they_are_the_totals_of(case):
    outcome = run_of(case)[0][-1].outcome
    calls = [call for step in outcome.steps for call in step.calls]
    assert outcome.calls == sum(call.calls for call in calls)
    assert outcome.usage == total_usage(calls)
    assert outcome.cost_usd == pytest.approx(total_cost_usd(calls))
    for step in outcome.steps:
        assert step.usage == total_usage(step.calls)
        assert step.cost_usd == total_cost_usd(step.calls)


@given(cases())
def test_no_step_takes_longer_than_the_run_and_no_chain_either(case):
    outcome = run_of(case)[0][-1].outcome
    assert outcome.critical_path_s <= outcome.wall_s + 1e-9
    for step in outcome.steps:
        assert step.wall_s <= outcome.critical_path_s + 1e-9
        if step.started_s is not None:
            assert step.finished_s - step.started_s == pytest.approx(step.wall_s)


@given(cases())
def test_an_answer_is_there_exactly_when_the_run_answered_and_it_is_the_sinks(case):
    outcome = run_of(case)[0][-1].outcome
    sink = next(step for step in outcome.steps if step.id == outcome.report.sink)
    is_answered = outcome.status is OutcomeStatus.ANSWERED
    assert is_answered == (outcome.answer is not None) == (outcome.failure is None)
    if is_answered:
        assert outcome.answer == sink.output == f"from {sink.id}"
    for step in outcome.steps:
        assert (step.status is StepStatus.ANSWERED) == (step.output is not None) == (step.failure is None)


@given(cases())
def test_a_run_is_cancelled_timed_out_or_out_of_budget_only_if_somebody_asked_for_it(case):
    outcome = run_of(case)[0][-1].outcome
    if outcome.status is OutcomeStatus.CANCELLED:
        assert case.cancelled_at_s is not None
    if outcome.status is OutcomeStatus.TIMED_OUT:
        assert outcome.wall_s == pytest.approx(case.limits.timeout_s)
    if outcome.status is OutcomeStatus.BUDGET_EXCEEDED:
        assert case.limits.max_calls is not None or case.limits.max_tokens is not None
    if case.limits.max_calls is not None:
        assert outcome.calls <= case.limits.max_calls


@given(cases())
def test_a_broken_service_is_never_taken_for_a_wrong_answer(case):
    """With nothing else to end it, a run whose answer was lost to a failed call says which kind of failure it was."""
    outcome = run_of(case)[0][-1].outcome
    codes = {step.failure.code for step in outcome.steps if step.status is StepStatus.FAILED}
    if outcome.status is OutcomeStatus.ENDPOINT_ERROR:
        assert "server_error" in codes
    if outcome.status is OutcomeStatus.STEP_FAILED:
        assert "server_error" not in codes
    known = {"server_error", "context_overflow", "no_idea", "agent_crashed", "empty_reply", "step_timeout"}
    assert codes <= known | {"budget_exceeded", "step_ended"}


@given(cases())
def test_a_failed_step_has_the_effect_that_was_asked_for(case):
    outcome = run_of(case)[0][-1].outcome
    failed = [step for step in outcome.steps if step.status is StepStatus.FAILED]
    if failed and case.on_step_error is OnStepError.FAIL:
        assert outcome.status is not OutcomeStatus.ANSWERED
    if case.on_step_error is OnStepError.SKIP:
        status = {step.id: step.status for step in outcome.steps}
        for source, target in case.edges:
            if status[source] is not StepStatus.ANSWERED:
                assert status[target] is StepStatus.SKIPPED
    if case.on_step_error is OnStepError.PARTIAL and outcome.status is OutcomeStatus.ANSWERED:
        assert {step.status for step in outcome.steps} <= {StepStatus.ANSWERED, StepStatus.FAILED}


class TestListeners:
    PLAN = FixedPlan(plan=echo_plan("a>b"))

    def test_all_hear_the_same_in_the_same_order(self):
        first, second, both = [], [], []
        listeners = (
            lambda event: (first.append(event), both.append(1)),
            lambda event: (second.append(event), both.append(2)),
        )
        run_virtual(solve("Why?", self.PLAN, runtime_of(FakeModel(), listeners=listeners)))
        assert first == second
        assert both == [1, 2] * len(first)

    @pytest.mark.parametrize("kind", [RunStarted, PlanParsed, StepStarted, CallStarted, CallFinished, StepFinished])
    @pytest.mark.parametrize("is_caught", [False, True], ids=["passed on", "caught by the sub-agent"])
    def test_one_that_breaks_ends_the_run_and_leaves_no_task_behind(self, kind, is_caught):
        """A listener that loses events would lie: its error is nothing that a sub-agent could get over."""
        failures = []

        def broken(event):
            if isinstance(event, kind) and not failures:
                failures.append(OSError("disk full"))
                raise failures[0]

        async def work(call, context):
            with suppress(OSError) if is_caught else nullcontext():
                await one_call(context, call.task)
            return StepOutcome(answer="went on")

        async def main():
            run = asyncio.create_task(solve("Why?", self.PLAN, runtime_of(FakeModel(), work=work, listeners=[broken])))
            await asyncio.wait([run])
            return run.exception(), len(asyncio.all_tasks())

        error, tasks = run_virtual(main())
        assert failures[0] in {error, *getattr(error, "exceptions", ())}
        assert tasks == 1


def test_a_run_that_is_ending_starts_nothing_even_if_a_failure_came_in_place_of_the_cancellation():
    """Two steps run out of budget in one turn; the second hides its cancellation behind its own task group's errors."""
    plan = echo_plan("a>c", "b>d", "c>e", "d>e")

    async def work(call, context):
        if call.task.startswith("b"):
            await call_apart(context, "b")
        return StepOutcome(answer=(await one_call(context, call.task)).content)

    for policy in OnStepError:
        runtime = runtime_of(FakeModel(), work=work, limits=Limits(max_tokens=20), on_step_error=policy)
        outcome = run_virtual(solve("Why?", FixedPlan(plan=plan), runtime))
        assert outcome.status is OutcomeStatus.BUDGET_EXCEEDED
        assert outcome.usage.total_tokens <= 20
