import asyncio

import pytest

from mas_orchestra.run.step_clock import StepClock
from support.virtual_time import run_virtual


def time_of_expiry(work, timeout_s):
    """When the clock ends `work(clock)`, or ``None`` if it lets it finish."""

    async def main():
        clock = StepClock(timeout_s)
        try:
            async with clock.limit():
                await work(clock)
        except TimeoutError:
            assert clock.is_expired
            return asyncio.get_running_loop().time()
        assert not clock.is_expired
        return None

    return run_virtual(main())


async def queue_then_work(clock, queue_s, work_s):
    with clock.call():
        with clock.waiting():
            await asyncio.sleep(queue_s)
        await asyncio.sleep(work_s)


def test_own_time_counts():
    assert time_of_expiry(lambda _: asyncio.sleep(5), 2) == pytest.approx(2)


def test_queueing_does_not_count():
    assert time_of_expiry(lambda clock: queue_then_work(clock, 100, 1), 2) is None


def test_own_time_goes_on_counting_after_the_queue():
    assert time_of_expiry(lambda clock: queue_then_work(clock, 100, 3), 2) == pytest.approx(102)


def test_own_time_before_the_queue_is_remembered():
    async def work(clock):
        await asyncio.sleep(1.5)
        await queue_then_work(clock, 100, 1)

    assert time_of_expiry(work, 2) == pytest.approx(1.5 + 100 + 0.5)


def test_one_call_at_work_is_enough_to_count():
    async def work(clock):
        async with asyncio.TaskGroup() as group:
            group.create_task(queue_then_work(clock, 100, 0))
            group.create_task(queue_then_work(clock, 0, 10))

    assert time_of_expiry(work, 2) == pytest.approx(2)


def test_all_calls_queued_stand_still():
    async def work(clock):
        async with asyncio.TaskGroup() as group:
            for _ in range(5):
                group.create_task(queue_then_work(clock, 50, 1))

    assert time_of_expiry(work, 2) is None


def test_without_a_limit_nothing_expires():
    assert time_of_expiry(lambda clock: queue_then_work(clock, 1000, 1000), None) is None
