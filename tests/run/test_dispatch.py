"""Which requests count when a run ends: those that left, not those that still waited for the endpoint."""

import asyncio
from contextlib import nullcontext

import pytest

from mas_orchestra.agents import Registry
from mas_orchestra.models.base import Abilities
from mas_orchestra.run import FixedPlan, Limits, StandaloneAgent, solve
from mas_orchestra.run.dispatch import Dispatch
from mas_orchestra.run.runtime import Runtime
from mas_orchestra.run.step_clock import StepClock
from mas_orchestra.types import OutcomeStatus
from support.runs import FakeModel, echo_plan, runtime_of
from support.virtual_time import run_virtual


class Crowded(FakeModel):
    """Serves `places` requests at once, for ever; the others wait in line. Samples are requests of their own."""

    def __init__(self, places, **options):
        super().__init__(abilities=Abilities(native_n=False), **options)
        self.places = asyncio.Semaphore(places)

    async def complete(self, messages, params, *, queue=None):
        async def one():
            with queue.waiting() if self.places.locked() else nullcontext():
                await self.places.acquire()
            await asyncio.sleep(1e9)

        async with asyncio.TaskGroup() as group:
            for _ in range(params.n):
                group.create_task(one())


def test_of_steps_that_wait_in_line_nothing_is_billed():
    plan = echo_plan(*(f"{node}>z" for node in "abcdefgh"))
    outcome = run_virtual(solve("Why?", FixedPlan(plan=plan), runtime_of(Crowded(3), limits=Limits(timeout_s=5))))

    assert outcome.status is OutcomeStatus.TIMED_OUT
    assert outcome.calls == 3
    requests = [call.requests for step in outcome.steps for call in step.calls]
    assert sorted(requests) == [0] * 5 + [1] * 3
    sent = [call.usage for step in outcome.steps for call in step.calls if call.requests]
    assert outcome.usage.input_tokens == sum(usage.input_tokens for usage in sent) > 0
    assert outcome.usage.estimated


def test_of_samples_those_that_left_are_billed():
    runtime = Runtime(model=Crowded(2), registry=Registry.only("SCAgent"), limits=Limits(timeout_s=5))
    outcome = run_virtual(solve("Why?", StandaloneAgent(agent="SCAgent"), runtime))

    (call,) = outcome.steps[0].calls
    assert (call.samples, call.requests) == (5, 2)
    whole = run_virtual(solve("Why?", StandaloneAgent(agent="SCAgent"), runtime_with(Crowded(5))))
    assert call.usage.input_tokens / 2 == whole.usage.input_tokens / 5


def runtime_with(model):
    return Runtime(model=model, registry=Registry.only("SCAgent"), limits=Limits(timeout_s=5))


def test_a_queue_that_ends_well_counts_nothing():
    async def main():
        dispatch = Dispatch(StepClock(None))
        with dispatch.waiting():
            await asyncio.sleep(1)
        return dispatch.unsent

    assert run_virtual(main()) == 0


def test_an_error_in_the_queue_is_no_cancellation():
    dispatch = Dispatch(StepClock(None))
    with pytest.raises(KeyError), dispatch.waiting():
        raise KeyError
    assert dispatch.unsent == 0
