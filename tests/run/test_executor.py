import asyncio
import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.agents.base import StepOutcome
from mas_orchestra.errors import BudgetError, InvalidPlanError, RateLimitError, ServerError, StepError
from mas_orchestra.models.base import Params
from mas_orchestra.run import FixedPlan, Limits, OnStepError, solve
from mas_orchestra.run.events import CallFinished, CallStarted, RunFinished, RunStarted, StepFinished, StepStarted
from mas_orchestra.types import Message, OutcomeStatus, Role, StepStatus, Usage
from support.runs import FakeModel, echo_plan, runtime_of
from support.virtual_time import run_virtual

DIAMOND = echo_plan("a>b", "a>c", "b>d", "c>d")


def run(plan, model=None, **options):
    return run_virtual(solve("Why?", FixedPlan(plan=plan), runtime_of(model or FakeModel(), **options)))


def statuses(outcome):
    return {step.id: str(step.status) for step in outcome.steps}


def failing_on(prompt_start, error):
    return FakeModel(reply=lambda prompt: error if prompt.startswith(prompt_start) else f"<{prompt}>")


# --- data flow -------------------------------------------------------------------------------------------------------


def test_outputs_flow_along_references():
    outcome = run(DIAMOND)
    assert outcome.status is OutcomeStatus.ANSWERED
    assert outcome.answer == "<d <b <a>> <c <a>>>"
    assert [step.input for step in outcome.steps] == ["a", "b <a>", "c <a>", "d <b <a>> <c <a>>"]
    assert outcome.calls == 4


def test_an_empty_input_is_the_question_word_for_word():
    model = FakeModel()
    run(echo_plan(steps="a", inputs={"a": ""}), model)
    assert model.prompts == ["Why?"]


def test_a_step_starts_the_moment_its_own_inputs_exist():
    """No barrier: `c` does not wait for the slow `b`, which it does not read."""
    latency = {"a": 0.1, "b": 3.0, "c": 0.1, "d": 0.1, "e": 0.1}
    model = FakeModel(latency=lambda prompt: latency[prompt[0]])
    outcome = run(echo_plan("a>c", "b>d", "c>e", "d>e"), model)
    started = {step.id: step.started_s for step in outcome.steps}
    assert started == pytest.approx({"a": 0, "b": 0, "c": 0.1, "d": 3.0, "e": 3.1})
    assert outcome.wall_s == pytest.approx(3.2)
    assert outcome.critical_path_s == pytest.approx(3.2)


def test_everything_independent_runs_at_once():
    model = FakeModel(latency=lambda _: 1.0)
    outcome = run(echo_plan(*(f"{node}>z" for node in "abcdefgh")), model)
    assert model.peak == 8
    assert outcome.wall_s == pytest.approx(2.0)


@given(st.permutations([0.1, 0.4, 0.7, 1.1, 1.9, 2.3]))
def test_prompts_do_not_depend_on_timing(latencies):
    plan = echo_plan("a>c", "b>c", "a>d", "c>e", "d>e", "e>f", "b>f")
    delay = dict(zip("abcdef", latencies, strict=True))
    model = FakeModel(latency=lambda prompt: delay[prompt[0]])
    outcome = run(plan, model)
    reference = FakeModel()
    assert outcome.answer == run(plan, reference).answer
    assert sorted(model.prompts) == sorted(reference.prompts)


def test_what_is_put_in_is_never_scanned_again():
    model = FakeModel(reply=lambda prompt: "${b} ${a} $${x}" if prompt == "a" else prompt)
    assert run(echo_plan("a>b"), model).answer == "b ${b} ${a} $${x}"


def test_each_step_draws_from_a_generator_of_its_own():
    async def draw(_, context):
        return StepOutcome(answer=str(context.rng.random()))

    plan = echo_plan("a>c", "b>c")
    first, again, other = (run(plan, work=draw, seed=seed) for seed in (1, 1, 2))
    outputs = [step.output for step in first.steps]
    assert len(set(outputs)) == 3
    assert outputs == [step.output for step in again.steps]
    assert outputs != [step.output for step in other.steps]


def test_five_thousand_steps_in_a_chain():
    count = 5_000
    chain = itertools.starmap("{}>{}".format, itertools.pairwise(range(count)))
    outcome = run(echo_plan(*chain), FakeModel(reply=lambda _: "x"))
    assert outcome.calls == count
    assert outcome.answer == "x"


# --- failures --------------------------------------------------------------------------------------------------------


def test_fail_cancels_and_awaits_what_still_runs():
    ended = []

    async def work(call, context):
        if call.task == "b":
            await asyncio.sleep(1)
            raise StepError("no_luck", "no luck")
        try:
            await asyncio.sleep(100)
        finally:
            await asyncio.sleep(0)  # a clean-up that itself has to wait
            ended.append(call.task)

    outcome = run(echo_plan("a>c", "b>c"), work=work)
    assert outcome.status is OutcomeStatus.STEP_FAILED
    assert outcome.failure.code == "no_luck"
    assert statuses(outcome) == {"a": "cancelled", "b": "failed", "c": "skipped"}
    assert ended == ["a"]
    assert outcome.wall_s == pytest.approx(1)


def test_partial_goes_on_with_a_marked_gap():
    outcome = run(echo_plan("a>c", "b>c"), failing_on("b", ServerError("boom")), on_step_error=OnStepError.PARTIAL)
    assert outcome.status is OutcomeStatus.ANSWERED
    assert outcome.answer == "<c <a> [no output: step 'b' failed (server_error)]>"
    assert statuses(outcome) == {"a": "answered", "b": "failed", "c": "answered"}


def test_skip_leaves_out_what_depends_on_the_failed_step_and_finishes_the_rest():
    plan = echo_plan("a>c", "b>c", "b>d", "c>e", "d>e")
    outcome = run(plan, failing_on("a", StepError("no_luck", "")), on_step_error=OnStepError.SKIP)
    assert statuses(outcome) == {"a": "failed", "b": "answered", "c": "skipped", "d": "answered", "e": "skipped"}
    assert outcome.status is OutcomeStatus.STEP_FAILED
    assert outcome.answer is None


def test_partial_without_an_answer_of_the_sink_is_no_success():
    outcome = run(echo_plan("a>b"), failing_on("b", StepError("no_luck", "")), on_step_error=OnStepError.PARTIAL)
    assert outcome.status is OutcomeStatus.STEP_FAILED
    assert outcome.answer is None


@pytest.mark.parametrize("policy", OnStepError)
def test_a_broken_service_is_not_a_wrong_answer(policy):
    outcome = run(echo_plan("a>b"), FakeModel(reply=lambda _: RateLimitError("slow down")), on_step_error=policy)
    assert outcome.status is OutcomeStatus.ENDPOINT_ERROR
    assert outcome.failure.code == "rate_limited"


def test_a_crash_of_a_sub_agent_names_its_place():
    async def buggy_agent(call, context):
        return {}["missing"]

    outcome = run(echo_plan(steps="a"), work=buggy_agent)
    assert outcome.status is OutcomeStatus.STEP_FAILED
    assert outcome.failure.code == "agent_crashed"
    assert "KeyError: 'missing' (buggy_agent, line" in outcome.failure.message


@pytest.mark.parametrize(
    ("errors", "status", "code"),
    [
        ([ServerError("down")], OutcomeStatus.ENDPOINT_ERROR, "server_error"),
        ([StepError("no_luck", ""), ServerError("down")], OutcomeStatus.ENDPOINT_ERROR, "server_error"),
        ([ServerError("down"), BudgetError("calls", "all spent")], OutcomeStatus.BUDGET_EXCEEDED, "budget_exceeded"),
        ([StepError("no_luck", "")], OutcomeStatus.STEP_FAILED, "no_luck"),
        ([ServerError("down"), KeyError("bug")], OutcomeStatus.STEP_FAILED, "agent_crashed"),
    ],
)
def test_a_task_group_of_a_sub_agents_own_hides_no_broken_service(errors, status, code):
    async def fail(error):
        raise error

    async def work(call, context):
        async with asyncio.TaskGroup() as outer:
            outer.create_task(nested())
        return StepOutcome(answer="never")

    async def nested():
        async with asyncio.TaskGroup() as inner:
            for error in errors:
                inner.create_task(fail(error))

    outcome = run(echo_plan(steps="a"), work=work)
    assert (outcome.status, outcome.failure.code) == (status, code)


@pytest.mark.parametrize("answer", ["", "   ", "\n\t"])
def test_an_empty_answer_is_a_failure(answer):
    async def work(call, context):
        return StepOutcome(answer=answer)

    outcome = run(echo_plan(steps="a"), work=work)
    assert (outcome.status, outcome.failure.code) == (OutcomeStatus.STEP_FAILED, "empty_reply")


# --- limits ----------------------------------------------------------------------------------------------------------


def test_a_plan_whose_worst_case_passes_the_call_limit_is_refused_before_the_first_call():
    model = FakeModel()
    with pytest.raises(InvalidPlanError, match="calls"):
        run(echo_plan("a>b", "b>c"), model, limits=Limits(max_calls=2))
    assert model.prompts == []


def test_the_token_limit_stops_the_run_and_keeps_what_was_done():
    model = FakeModel()
    outcome = run(echo_plan("a>b", "b>c"), model, limits=Limits(max_tokens=40))
    assert outcome.status is OutcomeStatus.BUDGET_EXCEEDED
    assert outcome.usage.total_tokens <= 40
    assert statuses(outcome) == {"a": "answered", "b": "answered", "c": "failed"}
    assert len(model.prompts) == 2


def test_the_time_limit_ends_the_run_and_no_call_starts_after_it():
    model = FakeModel(latency=lambda _: 1.0)
    outcome = run(echo_plan("a>b", "b>c", "c>d"), model, limits=Limits(timeout_s=2.5))
    assert outcome.status is OutcomeStatus.TIMED_OUT
    assert outcome.wall_s == pytest.approx(2.5)
    assert statuses(outcome) == {"a": "answered", "b": "answered", "c": "cancelled", "d": "skipped"}
    assert len(model.prompts) == 3
    assert outcome.calls == 3
    assert outcome.usage.estimated


def test_a_slow_step_fails_alone():
    model = FakeModel(latency=lambda prompt: 10.0 if prompt == "b" else 1.0)
    limits = Limits(step_timeout_s=2)
    outcome = run(echo_plan("a>c", "b>c"), model, limits=limits, on_step_error=OnStepError.PARTIAL)
    assert outcome.answer == "<c <a> [no output: step 'b' failed (step_timeout)]>"
    assert outcome.wall_s == pytest.approx(3.0)


def test_queueing_is_not_the_steps_time():
    outcome = run(echo_plan(steps="a"), FakeModel(queue_s=1000.0), limits=Limits(step_timeout_s=2))
    assert outcome.status is OutcomeStatus.ANSWERED


def test_work_left_behind_in_a_thread_cannot_call_a_model_any_more():
    """The step's time-out ends the step, not the thread; what the thread asks for afterwards is refused unsent."""
    model = FakeModel()
    late = []
    tool_ended = asyncio.Event()

    async def work(call, context):
        loop = asyncio.get_running_loop()

        def blocking_tool():
            time.sleep(0.2)
            message = Message(role=Role.USER, content="late")
            late.append(asyncio.run_coroutine_threadsafe(context.complete((message,), Params(), purpose="late"), loop))
            loop.call_soon_threadsafe(tool_ended.set)

        await asyncio.to_thread(blocking_tool)

    async def main():
        runtime = runtime_of(model, work=work, limits=Limits(step_timeout_s=0.05))
        outcome = await solve("Why?", FixedPlan(plan=echo_plan(steps="a")), runtime)
        await tool_ended.wait()
        with pytest.raises(StepError, match="has ended"):
            await asyncio.wrap_future(late[0])
        return outcome

    assert asyncio.run(main()).failure.code == "step_timeout"
    assert model.prompts == []


@pytest.mark.parametrize("limits", [Limits(), Limits(step_timeout_s=5)], ids=["no limit", "limit"])
@pytest.mark.parametrize("queue_s", [0.0, 50.0], ids=["in flight", "queued"])
def test_calls_that_a_sub_agent_leaves_behind_end_with_its_step(limits, queue_s):
    """They are cancelled, awaited and booked to their step, so that nothing happens after the run's end."""
    model = FakeModel(latency=lambda _: 100.0, queue_s=queue_s)
    strays, events = [], []

    async def work(call, context):
        message = (Message(role=Role.USER, content=call.task),)
        strays.extend(asyncio.create_task(context.complete(message, Params(), purpose="stray")) for _ in range(2))
        await asyncio.sleep(1)
        return StepOutcome(answer="done")

    async def main():
        runtime = runtime_of(model, work=work, limits=limits, listeners=(events.append,))
        outcome = await solve("Why?", FixedPlan(plan=echo_plan(steps="a")), runtime)
        assert all(stray.cancelled() for stray in strays)
        return outcome

    outcome = run_virtual(main())
    assert outcome.answer == "done"
    assert outcome.wall_s == pytest.approx(1)
    assert len(outcome.steps[0].calls) == 2
    assert outcome.calls == sum(call.calls for call in outcome.steps[0].calls) == (0 if queue_s else 2)
    assert isinstance(events[-1], RunFinished)


@pytest.mark.parametrize("limits", [Limits(step_timeout_s=1), Limits(timeout_s=1)], ids=["step", "run"])
def test_a_sub_agent_that_works_around_its_time_out_sends_nothing_more(limits):
    """It catches the cancellation and asks all the same: refused unsent, in its own task and in any that it makes."""
    model = FakeModel(latency=lambda _: 100.0)
    refused = []
    message = (Message(role=Role.USER, content="again"),)

    async def work(call, context):
        try:
            await context.complete(message, Params(), purpose="first")
        except asyncio.CancelledError:
            for ask in (context.complete, lambda *a, **k: asyncio.ensure_future(context.complete(*a, **k))):
                try:
                    await ask(message, Params(), purpose="second")
                except StepError as error:
                    refused.append(error.code)
        return StepOutcome(answer="late")

    outcome = run(echo_plan(steps="a"), model, work=work, limits=limits)
    assert refused == ["step_ended"] * 2
    assert model.prompts == ["again"]
    assert outcome.calls == 1
    assert outcome.wall_s == pytest.approx(1)


def test_a_fault_of_ours_does_not_lose_what_was_paid_for():
    """The error is raised, but only after the run's end with all its calls was told."""
    events = []

    def break_at_the_second_step(event):
        if isinstance(event, StepStarted) and event.step == "b":
            raise ZeroDivisionError

    with pytest.raises(ExceptionGroup):
        run(echo_plan("a>b"), listeners=(events.append, break_at_the_second_step))
    (end,) = (event.outcome for event in events if isinstance(event, RunFinished))
    assert (end.status, end.failure.code) == (OutcomeStatus.STEP_FAILED, "internal_error")
    assert end.steps[0].output == "<a>"
    assert end.calls == 1


# --- cancellation ----------------------------------------------------------------------------------------------------


def cancelled_run(plan, model, after_s):
    events = []

    async def main():
        runtime = runtime_of(model, listeners=(events.append,))
        task = asyncio.create_task(solve("Why?", FixedPlan(plan=plan), runtime))
        await asyncio.sleep(after_s)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(1000)  # nothing that was left behind may add anything

    run_virtual(main())
    assert isinstance(events[-1], RunFinished)
    return events[-1].outcome, events


def test_a_cancelled_run_leaves_its_outcome():
    model = FakeModel(latency=lambda _: 1.0)
    outcome, events = cancelled_run(DIAMOND, model, 1.5)
    assert outcome.status is OutcomeStatus.CANCELLED
    assert outcome.answer is None
    assert statuses(outcome) == {"a": "answered", "b": "cancelled", "c": "cancelled", "d": "skipped"}
    assert outcome.calls == 3
    assert model.in_flight == 0
    assert sum(isinstance(event, RunFinished) for event in events) == 1


def test_cancelled_while_the_last_step_finishes_stays_cancelled():
    async def work(call, context):
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            await asyncio.sleep(5)  # finishing its work all the same
        return StepOutcome(answer="late")

    events = []

    async def main():
        runtime = runtime_of(FakeModel(), work=work, listeners=(events.append,))
        task = asyncio.create_task(solve("Why?", FixedPlan(plan=echo_plan(steps="a")), runtime))
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_virtual(main())
    outcome = events[-1].outcome
    assert outcome.status is OutcomeStatus.CANCELLED
    assert outcome.answer is None


# --- records and events ----------------------------------------------------------------------------------------------


def test_events_tell_the_run_in_order():
    events = []
    outcome = run(echo_plan("a>b"), listeners=(events.append,))
    kinds = [type(event).__name__ for event in events]
    assert kinds == [
        "RunStarted",
        "PlanParsed",
        *["StepStarted", "CallStarted", "CallFinished", "StepFinished"] * 2,
        "RunFinished",
    ]
    assert isinstance(events[0], RunStarted)
    assert [event.step for event in events if isinstance(event, StepStarted | CallStarted)] == ["a", "a", "b", "b"]
    assert [event.record.id for event in events if isinstance(event, StepFinished)] == ["a", "b"]
    booked = [event.record for event in events if isinstance(event, CallFinished)]
    assert sum(record.usage.total_tokens for record in booked) == outcome.usage.total_tokens == 30


def test_every_step_has_exactly_one_record_whatever_happens():
    events = []
    run(echo_plan("a>b", "b>c"), failing_on("b", StepError("x", "")), listeners=(events.append,))
    assert sorted(event.record.id for event in events if isinstance(event, StepFinished)) == ["a", "b", "c"]


def test_failed_calls_are_booked():
    error = ServerError("boom", usage=Usage(output_tokens=37), requests=3)
    outcome = run(echo_plan(steps="a"), FakeModel(reply=lambda _: error))
    (call,) = outcome.steps[0].calls
    assert (call.usage.output_tokens, call.requests, call.failure.code) == (37, 3, "server_error")
    assert outcome.usage.output_tokens == 37


def test_records_add_up():
    outcome = run(DIAMOND)
    assert sum(step.usage.total_tokens for step in outcome.steps) == outcome.usage.total_tokens
    assert sum(step.cost_usd for step in outcome.steps) == pytest.approx(outcome.cost_usd)
    assert all(step.status is StepStatus.ANSWERED for step in outcome.steps)


def test_an_unknown_price_makes_the_cost_unknown():
    assert run(DIAMOND, FakeModel(price=None)).cost_usd is None
