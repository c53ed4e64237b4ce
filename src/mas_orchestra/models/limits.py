"""One limiter for each endpoint: how many requests are in flight, how many start in a minute, and who waits.

All callers of an endpoint share it. A request starts when there is room in the adaptive window (`window`), when the
last 60 seconds hold fewer requests and tokens than allowed, and when no ``Retry-After`` is running; otherwise it waits
in line, retries first. Every step is O(1), whatever is in flight.
"""

import asyncio
from collections import deque
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from weakref import WeakKeyDictionary

from mas_orchestra.config import EndpointSettings
from mas_orchestra.models.base import QueueWatch
from mas_orchestra.models.clock import Clock, LoopClock, Timer, sleep
from mas_orchestra.models.window import Window
from mas_orchestra.seeds import rng

__all__ = ["Limiter", "Slot", "Verdict", "limiter_for"]

SPAN_S = 60.0
FIRST_BACKOFF_S = 0.5
LONGEST_BACKOFF_S = 30.0
RESERVED_FILES = 96
"""Open files left to everything but the connections: logs, stores, pipes."""


class Verdict(StrEnum):
    """What an attempt said about the endpoint's load."""

    SERVED = "served"
    REFUSED = "refused"
    """It said "too much": 429, 503."""
    SILENT = "silent"
    """It did not answer in time."""
    OTHER = "other"
    """Nothing about load: a wrong request, a lost connection, a cancelled call."""


@dataclass(slots=True)
class _Spent:
    """Requests or tokens that one request took out of a minute; 0 again once the minute is over."""

    at_s: float
    amount: int


@dataclass(frozen=True, slots=True)
class Slot:
    """Leave to send one request: when it was given, how long it took to get, and the tokens booked for it."""

    sent_s: float
    waited_s: float
    tokens: _Spent


@dataclass(frozen=True, slots=True)
class _Waiter:
    ready: asyncio.Future[Slot]
    since_s: float
    tokens: int


class _Rate:
    """At most `limit` in any span of 60 seconds: exact, and amortised O(1)."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._spent: deque[_Spent] = deque()
        self._total = 0

    def delay_s(self, now_s: float, amount: int) -> float:
        """Seconds until it is worth asking again; 0 means go. An amount over the whole limit goes alone."""
        if self._limit is None:
            return 0.0
        while self._spent and self._spent[0].at_s + SPAN_S <= now_s:
            gone = self._spent.popleft()
            self._total -= gone.amount
            gone.amount = 0
        if not self._spent or self._total + amount <= self._limit:
            return 0.0
        return self._spent[0].at_s + SPAN_S - now_s

    def spend(self, now_s: float, amount: int) -> _Spent:
        spent = _Spent(now_s, amount)
        if self._limit is not None:
            self._spent.append(spent)
            self._total += amount
        return spent

    def correct(self, spent: _Spent, amount: int) -> None:
        """The true amount is known now; an entry that has left the span no longer matters."""
        if self._limit is not None and spent.amount:
            self._total += amount - spent.amount
            spent.amount = amount


class Limiter:
    """The line in front of one endpoint, for one event loop."""

    def __init__(self, settings: EndpointSettings, *, name: str = "", clock: Clock | None = None) -> None:
        self.clock = clock or LoopClock()
        ceiling = min(settings.concurrency or _open_files(), _open_files())
        self._window = Window(float(ceiling), self.clock.now())
        self._requests = _Rate(settings.requests_per_minute)
        self._tokens = _Rate(settings.tokens_per_minute)
        self._fresh: deque[_Waiter] = deque()
        self._returning: deque[_Waiter] = deque()
        self._paused_until_s = float("-inf")
        self._timer: Timer | None = None
        self._timer_due_s = float("inf")
        self._rng = rng("models", "backoff", name)
        self._served_since_refusal = True
        self.in_flight = 0

    @property
    def window(self) -> float:
        """How many requests may be in flight now."""
        return self._window.size

    async def acquire(self, tokens: int, *, queue: QueueWatch | None = None, returning: bool = False) -> Slot:
        """Leave to send one request; give it back with `release`.

        Args:
            tokens: Tokens that the request may use, prompt and reply.
            queue: Told while there is something to wait for.
            returning: A retry: it stands before those that have not been served at all.
        """
        now_s = self.clock.now()
        if not (self._returning or self._fresh) and self._delay_s(now_s, tokens) == 0:
            return self._grant(now_s, now_s, tokens)
        waiter = _Waiter(asyncio.get_running_loop().create_future(), now_s, tokens)
        (self._returning if returning else self._fresh).append(waiter)
        self._pump()
        if waiter.ready.done():
            return waiter.ready.result()
        try:
            with _watched(queue):
                return await waiter.ready
        except asyncio.CancelledError:
            self._leave(waiter)
            raise

    def release(self, slot: Slot, verdict: Verdict, *, tokens: int | None = None) -> None:
        """The request of `slot` is over. `tokens` is what it used, where that is known."""
        now_s, in_flight = self.clock.now(), self.in_flight
        self.in_flight -= 1
        if tokens is not None:
            self._tokens.correct(slot.tokens, tokens)
        match verdict:
            case Verdict.SERVED:
                self._window.served(sent_s=slot.sent_s, now_s=now_s, in_flight=in_flight)
                self._served_since_refusal = True
            case Verdict.REFUSED:
                self._window.refused(sent_s=slot.sent_s, now_s=now_s, in_flight=in_flight)
            case Verdict.SILENT:
                self._window.silent(sent_s=slot.sent_s, now_s=now_s, in_flight=in_flight)
            case Verdict.OTHER:
                pass
        self._pump()

    def pause(self, seconds: float) -> None:
        """No request to this endpoint starts for `seconds`, whoever asks."""
        self._paused_until_s = max(self._paused_until_s, self.clock.now() + seconds)

    async def back_off(self, failures: int, *, refused: bool, queue: QueueWatch | None = None) -> float:
        """Wait after the `failures`-th failure of a call, longer each time and jittered; gives back the seconds.

        Everybody waits along when the endpoint refuses again without having served anyone in between.
        """
        ceiling_s = min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2.0 ** (failures - 1))
        delay_s = ceiling_s * self._rng.uniform(0.5, 1.0)
        if refused:
            if not self._served_since_refusal:
                self.pause(delay_s)
            self._served_since_refusal = False
        with _watched(queue):
            await sleep(self.clock, delay_s)
        return delay_s

    def _grant(self, now_s: float, since_s: float, tokens: int) -> Slot:
        if self.in_flight == 0:
            self._window.busy(now_s)
        self.in_flight += 1
        self._requests.spend(now_s, 1)
        return Slot(now_s, now_s - since_s, self._tokens.spend(now_s, tokens))

    def _delay_s(self, now_s: float, tokens: int) -> float:
        """Seconds until a request may start by the clock; infinite while only a release can make room."""
        if self.in_flight and self.in_flight + 1 > self._window.size:
            return float("inf")
        pause_s = max(0.0, self._paused_until_s - now_s)
        return max(pause_s, self._requests.delay_s(now_s, 1), self._tokens.delay_s(now_s, tokens))

    def _pump(self) -> None:
        """Let those at the head of the line go for whom there is room."""
        now_s = self.clock.now()
        while line := self._returning or self._fresh:
            waiter = line[0]
            if not waiter.ready.done():
                delay_s = self._delay_s(now_s, waiter.tokens)
                if delay_s > 0:
                    self._wake_in(now_s, delay_s)
                    return
                waiter.ready.set_result(self._grant(now_s, waiter.since_s, waiter.tokens))
            line.popleft()

    def _wake_in(self, now_s: float, delay_s: float) -> None:
        if delay_s == float("inf") or self._timer_due_s <= now_s + delay_s:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due_s = now_s + delay_s
        self._timer = self.clock.call_later(delay_s, self._wake)

    def _wake(self) -> None:
        self._timer, self._timer_due_s = None, float("inf")
        self._pump()

    def _leave(self, waiter: _Waiter) -> None:
        """A waiter was cancelled: what it was just given goes back, and whoever stood behind it may go."""
        if waiter.ready.done() and not waiter.ready.cancelled():
            self.release(waiter.ready.result(), Verdict.OTHER)
        else:
            self._pump()


def _watched(queue: QueueWatch | None) -> AbstractContextManager[None]:
    return nullcontext() if queue is None else queue.waiting()


def _open_files() -> int:
    """Connections that the operating system lets this process have at once."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 512
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 65_536 if soft == resource.RLIM_INFINITY else max(8, soft - RESERVED_FILES)


# An endpoint's limits are a fact of the process, whoever opens a model there; event loops share no futures.
_LIMITERS: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Limiter]] = WeakKeyDictionary()


def limiter_for(base_url: str, settings: EndpointSettings) -> Limiter:
    """The limiter of an endpoint in the running event loop; the first caller's settings hold."""
    limiters = _LIMITERS.setdefault(asyncio.get_running_loop(), {})
    if base_url not in limiters:
        limiters[base_url] = Limiter(settings, name=base_url)
    return limiters[base_url]
