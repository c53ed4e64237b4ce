"""A step's clock under random calls: it ends the step exactly when the step's own time is used up."""

import asyncio
import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.run.step_clock import StepClock
from support.virtual_time import run_virtual

eighths = st.integers(0, 80).map(lambda number: number / 8)
phases = st.lists(st.tuples(st.booleans(), eighths), min_size=1, max_size=4)
"""Parts of one call, one after the other: whether it waits in a queue, and for how long."""
calls = st.lists(st.tuples(eighths, phases), max_size=6)
"""When each call begins, and its parts."""


async def one_call(clock, begins_s, parts):
    await asyncio.sleep(begins_s)
    with clock.call():
        for is_queued, seconds in parts:
            if is_queued:
                with clock.waiting():
                    await asyncio.sleep(seconds)
            else:
                await asyncio.sleep(seconds)


def ended_at(found, timeout_s, *, is_cancelled_at_s=None):
    """When the step ended, and whether its clock ended it."""

    async def main():
        clock = StepClock(timeout_s)
        loop = asyncio.get_running_loop()
        if is_cancelled_at_s is not None:
            loop.call_later(is_cancelled_at_s, asyncio.current_task().cancel)
        try:
            async with clock.limit(), asyncio.TaskGroup() as group:
                for begins_s, parts in found:
                    group.create_task(one_call(clock, begins_s, parts))
        except (TimeoutError, asyncio.CancelledError):
            pass
        clock.end()
        return loop.time(), clock.is_expired

    return run_virtual(main())


def intervals(found):
    """Each call's parts as (from, to, whether it is queued)."""
    for begins_s, parts in found:
        at_s = begins_s
        spans = []
        for is_queued, seconds in parts:
            spans.append((at_s, at_s + seconds, is_queued))
            at_s += seconds
        yield spans


def stands_still(found, at_s):
    """Whether at least one call is in flight at a moment, and all that are wait in a queue."""
    states = [is_queued for spans in intervals(found) for start, end, is_queued in spans if start <= at_s < end]
    return bool(states) and all(states)


def own_time_is_over_at_s(found, timeout_s):
    """By the definition: the first moment at which so much time has passed that did not stand still."""
    borders = sorted({0.0, *(border for spans in intervals(found) for span in spans for border in span[:2])})
    own_s = 0.0
    for start, end in pairwise(borders):
        if stands_still(found, start):
            continue
        if own_s + (end - start) >= timeout_s:
            return start + timeout_s - own_s
        own_s += end - start
    return math.inf


def last_end_s(found):
    return max((spans[-1][1] for spans in intervals(found)), default=0.0)


@given(calls, st.integers(1, 60))
def test_it_ends_the_step_exactly_when_its_own_time_is_over(found, sixteenths):
    timeout_s = sixteenths / 8 + 1 / 16  # never at the very moment at which something else happens
    expected_s = own_time_is_over_at_s(found, timeout_s)
    at_s, is_expired = ended_at(found, timeout_s)
    assert is_expired == (expected_s < last_end_s(found))
    assert abs(at_s - min(expected_s, last_end_s(found))) < 1e-6


@given(calls)
def test_without_a_limit_every_call_runs_to_its_end(found):
    assert ended_at(found, None) == (last_end_s(found), False)


@given(calls, st.integers(1, 60))
def test_queueing_longer_never_ends_a_step_that_waits_for_one_call(found, timeout):
    """One call after the other: whatever is added to the queue, the own time is the same."""
    for _, parts in found[:1]:
        longer = [(is_queued, seconds + 1000.0 * is_queued) for is_queued, seconds in parts]
        limit_s = timeout / 8 + 1 / 16
        assert ended_at([(0.0, parts)], limit_s)[1] == ended_at([(0.0, longer)], limit_s)[1]


@given(calls, st.integers(1, 40), eighths)
def test_a_cancelled_step_is_not_one_that_ran_out_of_time(found, timeout, cancelled_s):
    timeout_s = timeout / 8 + 1 / 16
    at_s, is_expired = ended_at(found, timeout_s, is_cancelled_at_s=cancelled_s)
    assert at_s <= max(cancelled_s, min(own_time_is_over_at_s(found, timeout_s), last_end_s(found))) + 1e-6
    if cancelled_s < own_time_is_over_at_s(found, timeout_s):
        assert not is_expired


@given(phases)
def test_a_call_that_is_left_behind_cannot_end_what_comes_after_the_step(parts):
    """After `end`, a call that still runs changes no time-out."""

    async def main():
        clock = StepClock(1.0)
        async with clock.limit():
            left = asyncio.create_task(one_call(clock, 0.0, [(True, 0.5), *parts]))
            await asyncio.sleep(0.25)
        clock.end()
        await asyncio.sleep(1000)
        await left
        return clock.is_expired

    assert run_virtual(main()) is False
