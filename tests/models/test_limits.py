"""The limiter on a clock of its own: nothing here waits, and every order is exact."""

import asyncio

import pytest

from mas_orchestra.config import EndpointSettings
from mas_orchestra.models.limits import Limiter, Verdict, limiter_for
from support.clock import FakeClock, settle
from support.watch import Watch


def build(**options):
    clock = FakeClock()
    return Limiter(EndpointSettings(**options), clock=clock), clock


async def take(limiter, *, tokens=0, number=1, **options):
    return [await limiter.acquire(tokens, **options) for _ in range(number)]


class TestConcurrency:
    async def test_no_more_are_in_flight_than_allowed(self):
        limiter, _ = build(concurrency=2)
        first, _second = await take(limiter, number=2)
        third = asyncio.create_task(limiter.acquire(0))
        await settle()
        assert not third.done()
        limiter.release(first, Verdict.SERVED)
        await third
        assert limiter.in_flight == 2

    async def test_who_came_first_goes_first(self):
        limiter, _ = build(concurrency=1)
        (slot,) = await take(limiter)
        order = []

        async def caller(number):
            mine = await limiter.acquire(0)
            order.append(number)
            limiter.release(mine, Verdict.SERVED)

        tasks = [asyncio.create_task(caller(number)) for number in range(20)]
        await settle()
        limiter.release(slot, Verdict.SERVED)
        for task in tasks:
            await task
        assert order == list(range(20))

    async def test_nobody_overtakes_those_in_line(self):
        limiter, _ = build(concurrency=1)
        (slot,) = await take(limiter)
        waiting = asyncio.create_task(limiter.acquire(0))
        await settle()
        limiter.release(slot, Verdict.SERVED)
        late = asyncio.create_task(limiter.acquire(0))
        limiter.release(await waiting, Verdict.SERVED)
        await late
        assert limiter.in_flight == 1

    async def test_retries_go_before_those_that_were_never_served(self):
        limiter, _ = build(concurrency=1)
        (slot,) = await take(limiter)
        fresh = asyncio.create_task(limiter.acquire(0))
        await settle()
        retry = asyncio.create_task(limiter.acquire(0, returning=True))
        await settle()
        limiter.release(slot, Verdict.OTHER)
        await retry
        assert not fresh.done()
        fresh.cancel()

    async def test_waiting_is_measured_and_watched(self):
        limiter, clock = build(concurrency=1)
        (slot,) = await take(limiter)
        assert slot.waited_s == 0
        watch = Watch()
        task = asyncio.create_task(limiter.acquire(0, queue=watch))
        await settle()
        assert watch.now == 1
        await clock.advance(5)
        limiter.release(slot, Verdict.SERVED)
        assert (await task).waited_s == 5
        assert (watch.entered, watch.now) == (1, 0)

    async def test_a_free_endpoint_never_enters_the_watch(self):
        limiter, _ = build()
        watch = Watch()
        await limiter.acquire(0, queue=watch)
        assert watch.entered == 0


class TestCancellation:
    async def test_a_cancelled_waiter_leaves_the_line(self):
        limiter, _ = build(concurrency=1)
        (slot,) = await take(limiter)
        gone, stays = (asyncio.create_task(limiter.acquire(0)) for _ in range(2))
        await settle()
        gone.cancel()
        await settle()
        limiter.release(slot, Verdict.SERVED)
        await stays
        assert limiter.in_flight == 1

    async def test_a_place_given_to_a_cancelled_waiter_comes_back(self):
        limiter, _ = build(concurrency=1)
        (slot,) = await take(limiter)
        gone, stays = (asyncio.create_task(limiter.acquire(0)) for _ in range(2))
        await settle()
        limiter.release(slot, Verdict.SERVED)  # gives the place to `gone`, which has not run yet
        gone.cancel()
        await stays
        assert limiter.in_flight == 1

    async def test_a_cancelled_giant_lets_the_small_ones_behind_it_go(self):
        limiter, _ = build(tokens_per_minute=100)
        await take(limiter, tokens=50)
        giant = asyncio.create_task(limiter.acquire(90))
        small = asyncio.create_task(limiter.acquire(10))
        await settle()
        assert not small.done()
        giant.cancel()
        await small

    async def test_nothing_leaks_whatever_is_cancelled_when(self):
        limiter, _ = build(concurrency=3)

        async def caller(number):
            slot = await limiter.acquire(0)
            try:
                await asyncio.sleep(0)
            finally:
                limiter.release(slot, Verdict.SERVED)

        tasks = [asyncio.create_task(caller(number)) for number in range(50)]
        for turn, task in enumerate(tasks):
            if turn % 3 == 0:
                task.cancel()
            await asyncio.sleep(0)
        await asyncio.wait(tasks)
        assert limiter.in_flight == 0
        assert (await limiter.acquire(0)).waited_s == 0


class TestRates:
    @pytest.mark.parametrize("limit", [1, 3])
    async def test_no_span_of_60_seconds_holds_more_requests(self, limit):
        limiter, clock = build(requests_per_minute=limit)
        started = []

        async def caller():
            slot = await limiter.acquire(0)
            started.append(slot.sent_s)
            limiter.release(slot, Verdict.SERVED)

        tasks = [asyncio.create_task(caller()) for _ in range(4 * limit)]
        await settle()
        for _ in range(240):
            await clock.advance(1)
        assert all(task.done() for task in tasks)
        assert all(late - early >= 60 for early, late in zip(started, started[limit:], strict=False))
        assert started[-1] - started[0] == 180

    async def test_tokens_of_a_minute_are_counted(self):
        limiter, clock = build(tokens_per_minute=100)
        await take(limiter, tokens=60)
        task = asyncio.create_task(limiter.acquire(60))
        await clock.advance(59)
        assert not task.done()
        await clock.advance(1)
        assert (await task).waited_s == 60

    async def test_what_a_request_really_used_replaces_the_guess(self):
        limiter, _ = build(tokens_per_minute=100)
        (slot,) = await take(limiter, tokens=90)
        task = asyncio.create_task(limiter.acquire(60))
        await settle()
        assert not task.done()
        limiter.release(slot, Verdict.SERVED, tokens=30)
        await task

    async def test_more_than_a_minutes_tokens_go_alone(self):
        limiter, clock = build(tokens_per_minute=100)
        await take(limiter, tokens=500)
        task = asyncio.create_task(limiter.acquire(10))
        await clock.advance(59)
        assert not task.done()
        await clock.advance(1)
        assert task.done()

    async def test_a_correction_after_the_minute_changes_nothing(self):
        limiter, clock = build(tokens_per_minute=100)
        (slot,) = await take(limiter, tokens=90)
        await clock.advance(61)
        await take(limiter, tokens=90)
        limiter.release(slot, Verdict.SERVED, tokens=1)
        task = asyncio.create_task(limiter.acquire(60))
        await settle()
        assert not task.done()
        task.cancel()


class TestPauses:
    async def test_a_pause_holds_everybody(self):
        limiter, clock = build()
        limiter.pause(10)
        tasks = [asyncio.create_task(limiter.acquire(0)) for _ in range(3)]
        await clock.advance(9.9)
        assert not any(task.done() for task in tasks)
        await clock.advance(0.1)
        assert all(task.done() for task in tasks)

    async def test_a_shorter_pause_does_not_end_a_longer_one(self):
        limiter, clock = build()
        limiter.pause(10)
        limiter.pause(1)
        task = asyncio.create_task(limiter.acquire(0))
        await clock.advance(5)
        assert not task.done()
        await clock.advance(5)
        assert task.done()

    async def test_a_longer_pause_that_comes_while_waiting_counts(self):
        limiter, clock = build()
        limiter.pause(1)
        task = asyncio.create_task(limiter.acquire(0))
        await settle()
        limiter.pause(10)
        await clock.advance(9)
        assert not task.done()
        await clock.advance(1)
        assert task.done()

    async def test_many_who_wait_cost_one_timer(self):
        limiter, clock = build()
        limiter.pause(10)
        tasks = [asyncio.create_task(limiter.acquire(0)) for _ in range(500)]
        await settle()
        assert len(clock.waits_s) == 1
        await clock.advance(10)
        assert all(task.done() for task in tasks)

    async def test_back_off_grows_is_jittered_and_bounded(self):
        limiter = Limiter(EndpointSettings(), clock=FakeClock(auto=True))
        waits = [await limiter.back_off(number, refused=False) for number in range(1, 12)]
        ceilings = [min(30.0, 0.5 * 2**number) for number in range(11)]
        assert all(ceiling / 2 <= wait <= ceiling for wait, ceiling in zip(waits, ceilings, strict=True))
        assert len({wait / ceiling for wait, ceiling in zip(waits, ceilings, strict=True)}) > 5

    async def test_refusals_without_a_reply_in_between_hold_everybody(self):
        limiter, clock = build()
        first = asyncio.create_task(limiter.back_off(1, refused=True))
        await settle()
        assert (await limiter.acquire(0)).waited_s == 0
        second = asyncio.create_task(limiter.back_off(2, refused=True))
        await settle()
        other = asyncio.create_task(limiter.acquire(0))
        await clock.advance(0.4)
        assert not other.done()
        await clock.advance(1)
        assert (first.done(), second.done(), other.done()) == (True, True, True)


async def test_one_endpoint_has_one_limiter_in_an_event_loop():
    options = EndpointSettings(concurrency=3)
    assert limiter_for("http://a/v1", options) is limiter_for("http://a/v1", EndpointSettings())
    assert limiter_for("http://a/v1", options) is not limiter_for("http://b/v1", options)


def test_another_event_loop_has_another_limiter():
    async def mine():
        return limiter_for("http://a/v1", EndpointSettings())

    kept = asyncio.run(mine())
    assert asyncio.run(mine()) is not kept


async def test_the_open_file_limit_bounds_what_is_in_flight(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 4096))
    assert Limiter(EndpointSettings(), clock=FakeClock()).window == 160
    assert Limiter(EndpointSettings(concurrency=5), clock=FakeClock()).window == 5
