"""The limiter under random callers: whatever comes, goes, is cancelled and when, its limits and its order hold."""

import asyncio
from dataclasses import dataclass, field
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from mas_orchestra.config import EndpointSettings
from mas_orchestra.models.limits import SPAN_S, Limiter, Verdict
from mas_orchestra.models.window import Window
from support.virtual_time import run_virtual
from support.watch import Watch

# Eighths of a second are exact in binary: sums of them compare exactly, so "in any span of 60 seconds" needs no margin.
moments_s = st.integers(0, 1600).map(lambda eighths: eighths / 8) | st.sampled_from([0.0, 1.0, 2.0])
durations_s = st.integers(0, 160).map(lambda eighths: eighths / 8) | st.sampled_from([0.0, 1.0, 2.0])


@dataclass(frozen=True)
class Caller:
    """One request: when it comes, how long it runs, what it says of the endpoint, when (if ever) its caller leaves.

    `turns` of the event loop lie between that moment and the cancellation: a place may be given in between.
    """

    number: int
    comes_s: float
    runs_s: float
    tokens: int
    verdict: Verdict
    leaves_s: float | None
    returning: bool
    turns: int


@dataclass(frozen=True)
class Grant:
    """A request that started."""

    caller: Caller
    at_s: float
    waited_s: float


@dataclass
class LoopTime:
    """The clock of the running event loop, which is virtual here."""

    def now(self):
        return asyncio.get_running_loop().time()

    def call_later(self, delay_s, callback):
        return asyncio.get_running_loop().call_later(delay_s, callback)


class ToldLimiter(Limiter):
    """Keeps how many were in flight, and how many might be, at the moment of each start."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.starts = []

    def _grant(self, now_s, since_s, tokens):
        slot = super()._grant(now_s, since_s, tokens)
        self.starts.append((self.in_flight, self.window))
        return slot


def after_turns(turns, callback):
    """Call back so many turns of the event loop later, at the same moment of the clock."""
    if turns:
        asyncio.get_running_loop().call_soon(after_turns, turns - 1, callback)
    else:
        callback()


@dataclass
class Run:
    """What happened while some callers used one limiter."""

    limiter: ToldLimiter
    grants: list[Grant] = field(default_factory=list)
    joined: list[Caller] = field(default_factory=list)
    left: set[int] = field(default_factory=set)
    watch: Watch = field(default_factory=Watch)

    async def call(self, caller):
        await asyncio.sleep(caller.comes_s)
        self.joined.append(caller)
        try:
            slot = await self.limiter.acquire(caller.tokens, queue=self.watch, returning=caller.returning)
        except asyncio.CancelledError:
            self.left.add(caller.number)
            raise
        self.grants.append(Grant(caller, slot.sent_s, slot.waited_s))
        try:
            await asyncio.sleep(caller.runs_s)
        finally:
            self.limiter.release(slot, caller.verdict)

    async def all_of(self, callers, pauses):
        loop = asyncio.get_running_loop()
        tasks = [asyncio.create_task(self.call(caller)) for caller in callers]
        for caller, task in zip(callers, tasks, strict=True):
            if caller.leaves_s is not None:
                loop.call_later(caller.comes_s + caller.leaves_s, after_turns, caller.turns, task.cancel)
        for at_s, seconds in pauses:
            loop.call_later(at_s, self.limiter.pause, seconds)
        await asyncio.wait(tasks)
        for task in tasks:
            if not task.cancelled():
                task.result()


def callers(max_size=25, verdicts=tuple(Verdict), cancel=True, returning=True):
    one = st.tuples(
        moments_s,
        durations_s,
        st.integers(1, 60),
        st.sampled_from(verdicts),
        (st.none() | durations_s) if cancel else st.none(),
        st.booleans() if returning else st.just(value=False),
        st.integers(0, 3),
    )
    return st.lists(one, min_size=1, max_size=max_size).map(
        lambda rows: [Caller(number, *row) for number, row in enumerate(rows)]
    )


def run_of(found, *, pauses=(), **options):
    async def main():
        run = Run(ToldLimiter(EndpointSettings(**options), clock=LoopTime()))
        await run.all_of(found, pauses)
        return run

    return run_virtual(main())


class TestConcurrency:
    @given(callers(), st.integers(1, 6))
    def test_never_more_in_flight_than_allowed(self, found, concurrency):
        run = run_of(found, concurrency=concurrency)
        assert all(in_flight <= concurrency for in_flight, _ in run.limiter.starts)

    @given(callers(), st.integers(1, 6))
    def test_never_more_in_flight_than_the_window_of_the_moment(self, found, concurrency):
        run = run_of(found, concurrency=concurrency)
        assert all(in_flight <= max(1.0, window) for in_flight, window in run.limiter.starts)

    @given(callers(), st.integers(1, 6))
    def test_whoever_stays_is_served_and_nothing_is_left_over(self, found, concurrency):
        """The virtual clock raises on a deadlock, so this ends only if nobody waits for ever."""
        run = run_of(found, concurrency=concurrency)
        served = {grant.caller.number for grant in run.grants}
        assert served | run.left >= {caller.number for caller in found if caller.leaves_s is None}
        assert served.isdisjoint(run.left)
        assert run.limiter.in_flight == 0
        assert run.watch.now == 0

    @given(callers(cancel=False, verdicts=(Verdict.SERVED,)), st.integers(1, 6))
    def test_nobody_waits_while_there_is_room(self, found, concurrency):
        """A healthy endpoint is kept as busy as a queue with so many servers would be, to the moment."""
        run = run_of(sorted(found, key=lambda caller: caller.comes_s), concurrency=concurrency)
        free_at_s = [0.0] * concurrency
        for grant in run.grants:
            assert grant.at_s == max(min(free_at_s), grant.caller.comes_s)
            free_at_s.remove(min(free_at_s))
            free_at_s.append(grant.at_s + grant.caller.runs_s)


class TestOrder:
    @given(callers(returning=False), st.integers(1, 4))
    def test_who_came_first_goes_first_whoever_leaves_the_line(self, found, concurrency):
        run = run_of(found, concurrency=concurrency)
        place = {caller.number: place for place, caller in enumerate(run.joined)}
        served = [place[grant.caller.number] for grant in run.grants]
        assert served == sorted(served)

    @given(callers(), st.integers(1, 3))
    def test_retries_keep_their_own_order_and_so_do_the_others(self, found, concurrency):
        run = run_of(found, concurrency=concurrency)
        place = {caller.number: place for place, caller in enumerate(run.joined)}
        for returning in (False, True):
            served = [place[grant.caller.number] for grant in run.grants if grant.caller.returning is returning]
            assert served == sorted(served)

    @given(callers(cancel=False), st.integers(1, 3))
    def test_no_fresh_request_starts_while_a_retry_stands_in_line(self, found, concurrency):
        run = run_of(found, concurrency=concurrency)
        starts_s = {grant.caller.number: grant.at_s for grant in run.grants}
        retries = [caller for caller in found if caller.returning]
        for grant in run.grants:
            if not grant.caller.returning:
                assert not [r for r in retries if r.comes_s < grant.at_s < starts_s[r.number]]

    @given(callers(cancel=False), st.integers(1, 3))
    def test_the_wait_that_is_told_is_the_time_in_line(self, found, concurrency):
        run = run_of(found, concurrency=concurrency)
        assert all(grant.waited_s == grant.at_s - grant.caller.comes_s for grant in run.grants)


def spans(run, amount):
    """What started in the 60 seconds that begin with each start."""
    for first in run.grants:
        inside = [g for g in run.grants if first.at_s <= g.at_s < first.at_s + SPAN_S]
        yield inside, sum(amount(grant) for grant in inside)


class TestRates:
    @given(callers(), st.integers(1, 8))
    def test_no_span_of_a_minute_holds_more_requests_than_allowed(self, found, limit):
        run = run_of(found, requests_per_minute=limit)
        assert all(total <= limit for _, total in spans(run, lambda _: 1))

    @given(callers(), st.integers(20, 100))
    def test_no_span_of_a_minute_holds_more_tokens_than_allowed(self, found, limit):
        """A request that is larger than the whole limit goes alone: otherwise it could never go."""
        run = run_of(found, tokens_per_minute=limit)
        for inside, total in spans(run, lambda grant: grant.caller.tokens):
            assert total <= limit or len(inside) == 1

    @given(callers(cancel=False, verdicts=(Verdict.SERVED,)), st.integers(1, 5), st.integers(1, 5), st.integers(20, 90))
    def test_all_limits_hold_together_and_everybody_is_served(self, found, concurrency, requests, tokens):
        run = run_of(found, concurrency=concurrency, requests_per_minute=requests, tokens_per_minute=tokens)
        assert len(run.grants) == len(found)
        assert all(in_flight <= concurrency for in_flight, _ in run.limiter.starts)
        assert all(total <= requests for _, total in spans(run, lambda _: 1))

    @given(callers(cancel=False, verdicts=(Verdict.SERVED,)), st.integers(1, 5))
    def test_a_rate_lets_requests_go_the_moment_it_can(self, found, limit):
        """Each start is as early as arrival, the order of the line and the rate let it be."""
        run = run_of(sorted(found, key=lambda caller: caller.comes_s), requests_per_minute=limit)
        starts_s = []
        for grant in run.grants:
            earliest = [grant.caller.comes_s, *starts_s[-1:]]
            if len(starts_s) >= limit:
                earliest.append(starts_s[-limit] + SPAN_S)
            assert grant.at_s == max(earliest)
            starts_s.append(grant.at_s)


class TestPauses:
    pauses = st.lists(st.tuples(moments_s, durations_s), max_size=4)

    @given(callers(), pauses, st.integers(1, 4))
    @settings(max_examples=60)
    def test_nothing_starts_in_a_pause(self, found, pauses, concurrency):
        run = run_of(found, pauses=pauses, concurrency=concurrency)
        for grant in run.grants:
            # At the very moment at which a pause begins, a start may come just before it.
            assert not [p for p in pauses if p[0] < grant.at_s < p[0] + p[1]]

    @given(callers(cancel=False), pauses, st.integers(1, 4))
    @settings(max_examples=60)
    def test_everybody_goes_on_after_the_last_pause(self, found, pauses, concurrency):
        assert len(run_of(found, pauses=pauses, concurrency=concurrency).grants) == len(found)


class TestWindow:
    signs = st.lists(
        st.tuples(st.sampled_from(["served", "refused", "silent"]), durations_s, durations_s, st.integers(1, 64)),
        max_size=80,
    )

    @staticmethod
    def sizes(signs, ceiling=64.0):
        """The window after each sign: requests take some time, and signs come at growing times."""
        window, now_s = Window(ceiling, 0.0), 0.0
        yield None, window.size
        for kind, gap_s, took_s, in_flight in signs:
            now_s += gap_s
            getattr(window, kind)(sent_s=now_s - took_s, now_s=now_s, in_flight=in_flight)
            yield kind, window.size

    @given(signs, st.integers(1, 200))
    def test_it_stays_between_one_and_its_ceiling(self, signs, ceiling):
        assert all(1 <= size <= ceiling for _, size in self.sizes(signs, float(ceiling)))

    @given(signs)
    def test_a_reply_never_narrows_it_and_overload_never_widens_it(self, signs):
        found = list(self.sizes(signs))
        for (_, before), (kind, after) in pairwise(found):
            assert after >= before if kind == "served" else after <= before

    @given(signs)
    def test_one_reply_widens_it_by_one_at_most(self, signs):
        found = list(self.sizes(signs))
        for (_, before), (kind, after) in pairwise(found):
            assert kind != "served" or after - before <= 1.0

    @given(st.integers(2, 64), st.lists(st.integers(1, 64), min_size=1, max_size=30))
    def test_a_burst_halves_it_once_at_most_where_the_endpoint_keeps_its_others(self, ceiling, burst):
        """Refusals of requests that were sent before the first cut say nothing new while as many are in flight."""
        window = Window(float(ceiling), 0.0)
        window.refused(sent_s=1.0, now_s=2.0, in_flight=ceiling)
        after_first = window.size
        for _ in burst:
            window.refused(sent_s=1.5, now_s=3.0, in_flight=ceiling + 1)
        assert window.size == after_first == max(1.0, ceiling / 2)

    @given(signs)
    def test_an_endpoint_that_gets_well_gets_its_whole_window_back(self, signs):
        window = Window(64.0, 0.0)
        now_s = 0.0
        for kind, gap_s, took_s, in_flight in signs:
            now_s += gap_s
            getattr(window, kind)(sent_s=now_s - took_s, now_s=now_s, in_flight=in_flight)
        for _ in range(64 * 64):
            now_s += 1
            window.served(sent_s=now_s - 1, now_s=now_s, in_flight=64)
        assert window.size == 64
