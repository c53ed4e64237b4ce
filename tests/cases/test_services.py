"""Services that are crowded, slow or dead, met by whole runs over real connections."""

import asyncio
import time

import pytest

from mas_orchestra.agents import Registry, StepOutcome, sub_agent
from mas_orchestra.errors import StepError
from mas_orchestra.models.base import Params
from mas_orchestra.plan import Edge, Plan, Step
from mas_orchestra.run import FixedPlan, Limits, OnStepError, StandaloneAgent, solve
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import Message, OutcomeStatus, Role
from support.clock import FakeClock
from support.context import says
from support.endpoint import at_most, hang, held, reset, slow, status, text
from support.runs import independent

QUESTION = "What is 6 times 7?"
ALONE = StandaloneAgent(agent="CoTAgent")
ANSWER = says("42")


class TestCrowds:
    async def test_five_hundred_steps_against_a_server_that_hangs_beyond_sixteen_at_a_time(self, endpoint, runtime):
        """One limit for the whole endpoint, and waiting for it is not the steps' own time."""
        endpoint.handle(at_most(16, slow(0.05, text(ANSWER)), hang(endpoint)))
        limits = Limits(step_timeout_s=1.2)
        crowded = runtime(endpoint_options={"concurrency": 16, "request_timeout_s": 30.0}, limits=limits)
        outcome = await solve(QUESTION, independent(499), crowded)

        assert outcome.status is OutcomeStatus.ANSWERED, outcome.failure
        assert len(outcome.steps) == outcome.calls == endpoint.count == 500
        assert all(step.output == "42" for step in outcome.steps)
        assert endpoint.peak == 16

    async def test_one_refusal_with_a_time_to_wait_slows_every_step(self, endpoint, runtime):
        clock = FakeClock()
        endpoint.script(status(429, retry_after="3"), text(ANSWER))
        patient = runtime(clock=clock, endpoint_options={"max_retries": 2, "concurrency": 1})
        task = asyncio.create_task(solve(QUESTION, independent(4), patient))
        await endpoint.until(lambda: endpoint.count == 1 and endpoint.in_flight == 0)
        await clock.advance(2.9)
        assert endpoint.count == 1, "nobody asks before the three seconds are over"
        while not task.done():
            await clock.advance(0.5)
            await asyncio.sleep(0.001)

        outcome = task.result()
        assert outcome.status is OutcomeStatus.ANSWERED, outcome.failure
        assert endpoint.count == 6
        assert sum(call.requests for step in outcome.steps for call in step.calls) == 6

    @pytest.mark.parametrize(("code", "requests"), [(503, 3), (429, 3), (500, 3), (400, 1), (401, 1), (404, 1)])
    async def test_only_what_may_pass_is_tried_again(self, endpoint, runtime, code, requests):
        endpoint.handle(status(code))
        outcome = await solve(QUESTION, ALONE, runtime(clock=FakeClock(auto=True), endpoint_options={"max_retries": 2}))
        assert outcome.status is OutcomeStatus.ENDPOINT_ERROR
        assert endpoint.count == outcome.steps[0].calls[0].requests == requests

    async def test_one_of_sixty_four_rollouts_dies_alone(self, endpoint, runtime):
        async def behave(call):
            return await (reset() if "Rollout 17?" in call.prompt else slow(0.01, text(ANSWER)))(call)

        endpoint.handle(behave)
        shared = runtime()
        async with asyncio.TaskGroup() as group:
            rollouts = [
                group.create_task(solve(Task(id=str(n), question=f"Rollout {n}?"), ALONE, shared)) for n in range(64)
            ]
        outcomes = [rollout.result() for rollout in rollouts]
        assert [outcome.answer for outcome in outcomes].count("42") == 63
        assert outcomes[17].status is OutcomeStatus.ENDPOINT_ERROR
        assert outcomes[17].failure.code == "unreachable"

    async def test_a_step_starts_before_a_slow_one_that_it_does_not_read_has_ended(self, endpoint, runtime):
        gate = asyncio.Event()
        endpoint.handle(text(ANSWER))

        async def behave(call):
            return await (held(gate, text(ANSWER)) if "slow b" in call.prompt else text(ANSWER))(call)

        endpoint.handle(behave)
        steps = [("a", "quick a"), ("b", "slow b"), ("c", "c ${a}"), ("d", "d ${b}"), ("e", "e ${c} ${d}")]
        edges = [("a", "c"), ("b", "d"), ("c", "e"), ("d", "e")]
        plan = Plan(
            steps=tuple(Step(id=name, agent="CoTAgent", input=task) for name, task in steps),
            edges=tuple(Edge(*edge) for edge in edges),
        )
        task = asyncio.create_task(solve(QUESTION, FixedPlan(plan=plan), runtime()))
        await endpoint.until(lambda: any("c 42" in call.prompt for call in endpoint.calls))
        assert not any("d 42" in call.prompt for call in endpoint.calls)
        gate.set()
        assert (await task).status is OutcomeStatus.ANSWERED


class TestWindows:
    async def test_a_reply_that_would_not_fit_is_asked_for_shorter_and_that_is_noted(self, endpoint, runtime):
        async def behave(call):
            if call.body["max_tokens"] > 212:
                words = "maximum context length is 512 tokens, however you requested 700 (300 in the messages, 400 in"
                return await status(400, words)(call)
            return await text(ANSWER)(call)

        endpoint.handle(behave)
        registry = Registry.only("CoTAgent", options={"CoTAgent": {"max_tokens": 400}})
        outcome = await solve(QUESTION, ALONE, runtime(registry=registry))

        assert outcome.answer == "42"
        assert outcome.steps[0].calls[0].notes[0].startswith("max_tokens lowered from 400 to 212")
        assert [body["max_tokens"] for body in endpoint.bodies] == [400, 212]

    @pytest.mark.parametrize("policy", OnStepError)
    async def test_a_prompt_that_does_not_fit_fails_its_step_with_the_sizes(self, endpoint, runtime, policy):
        words = "maximum context length is 512 tokens. However, your messages resulted in 600 tokens"
        endpoint.handle(status(400, words, code="context_length_exceeded"))
        outcome = await solve(QUESTION, ALONE, runtime(on_step_error=policy))

        assert outcome.status is OutcomeStatus.STEP_FAILED
        assert outcome.failure.code == "context_overflow"
        assert "(prompt 600, window 512 tokens)" in outcome.failure.message
        assert outcome.answer is None


class TestLateness:
    async def test_a_thread_that_asks_after_its_step_has_ended_sends_nothing(self, endpoint, runtime):
        refused = []
        asked, ended = Message(role=Role.USER, content="late"), asyncio.Event()

        @sub_agent
        async def Sleeper(context, call) -> StepOutcome:  # noqa: N802  (a sub-agent's name)
            """Runs a tool in a thread that calls the model at the end."""
            loop = asyncio.get_running_loop()

            def tool():
                time.sleep(0.3)
                late = asyncio.run_coroutine_threadsafe(context.complete((asked,), Params(), purpose="late"), loop)
                refused.append(late.exception())
                loop.call_soon_threadsafe(ended.set)

            await asyncio.to_thread(tool)
            return StepOutcome(answer="never")

        registry = Registry([Sleeper])
        outcome = await solve(
            QUESTION, StandaloneAgent(agent="Sleeper"), runtime(registry=registry, limits=Limits(step_timeout_s=0.05))
        )
        await ended.wait()

        assert outcome.failure.code == "step_timeout"
        assert isinstance(refused[0], StepError)
        assert endpoint.count == 0

    async def test_what_hangs_when_time_is_over_is_booked_and_what_waits_in_line_is_not(self, endpoint, runtime):
        endpoint.handle(hang(endpoint))
        stuck = runtime(endpoint_options={"concurrency": 3}, limits=Limits(timeout_s=0.5))
        outcome = await solve(QUESTION, independent(20), stuck)

        assert outcome.status is OutcomeStatus.TIMED_OUT
        assert outcome.calls == endpoint.count == 3
        assert outcome.usage.estimated
