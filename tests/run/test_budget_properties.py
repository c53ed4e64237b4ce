"""A run's budget under random calls at once: no limit is ever passed, nobody waits for ever, nothing is left held."""

import asyncio
import dataclasses
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.errors import BudgetError
from mas_orchestra.models.base import Params
from mas_orchestra.models.tokens import estimate_prompt_tokens
from mas_orchestra.run.budget import MIN_REPLY_TOKENS, REPLY_RESERVE_TOKENS, Budget
from mas_orchestra.run.ledger import Ledger, total_cost_usd, total_usage
from mas_orchestra.run.outcome import CallRecord
from mas_orchestra.run.runtime import Limits
from mas_orchestra.types import Message, Role, Usage
from support.runs import FakeModel
from support.virtual_time import run_virtual

PRICE_USD = 2.0**-20
"""A dollar a binary million tokens: sums of costs are exact, so limits can be compared without a margin."""


@dataclass(frozen=True)
class Call:
    """One call: when it comes, how long it takes, what it asks for and which part of its replies it really writes."""

    comes_s: float
    runs_s: float
    words: int
    samples: int
    max_tokens: int | None
    used: float
    fails: bool
    leaves_s: float | None

    @property
    def messages(self):
        return (Message(role=Role.USER, content="word " * self.words),)

    @property
    def prompt_tokens(self):
        return estimate_prompt_tokens(self.messages)


eighths = st.integers(0, 40).map(lambda number: number / 8)
calls = st.builds(
    Call,
    comes_s=eighths,
    runs_s=eighths,
    words=st.integers(1, 60),
    samples=st.integers(1, 4),
    max_tokens=st.none() | st.integers(1, 300),
    used=st.sampled_from([0.0, 0.5, 1.0]),
    fails=st.booleans(),
    leaves_s=st.none() | eighths,
)
many_calls = st.lists(calls, min_size=1, max_size=15)
limits = st.builds(
    Limits,
    max_calls=st.none() | st.integers(1, 12),
    max_tokens=st.none() | st.integers(1, 3000),
    max_cost_usd=st.none() | st.integers(1, 3000).map(lambda tokens: tokens * PRICE_USD),
)


@dataclass
class Run:
    """Calls through one budget, booked as `Session` books them."""

    budget: Budget
    ledger: Ledger
    model: FakeModel = field(default_factory=lambda: FakeModel(price=PRICE_USD))
    in_flight: list = field(default_factory=list)
    worst: list = field(default_factory=list)
    refused: list = field(default_factory=list)

    async def call(self, call):
        await asyncio.sleep(call.comes_s)
        params = Params(n=call.samples, max_tokens=call.max_tokens)
        try:
            reservation = await self.budget.reserve(self.model, call.messages, params)
        except BudgetError as error:
            self.refused.append((call, error, bool(self.in_flight)))
            return
        self.in_flight.append((call, reservation))
        self.worst.append(self.worst_case())
        try:
            await asyncio.sleep(call.runs_s)
            written = 0 if call.fails else int(call.used * call.samples * (reservation.params.max_tokens or 0))
            self.book(call, written)
        except asyncio.CancelledError:
            self.book(call, 0)
            raise
        finally:
            self.in_flight.remove((call, reservation))
            self.budget.settle(reservation)

    def book(self, call, written):
        usage = Usage(input_tokens=call.prompt_tokens, output_tokens=written)
        self.ledger.book(
            CallRecord(
                step="a",
                purpose="",
                model="m",
                messages=(),
                samples=call.samples,
                usage=usage,
                cost_usd=self.model.cost_usd(usage),
                started_s=0.0,
                latency_s=0.0,
            )
        )

    def worst_case(self):
        """Calls and tokens when all that is in flight writes all that it may."""
        held = sum(call.prompt_tokens + call.samples * (r.params.max_tokens or 0) for call, r in self.in_flight)
        samples = sum(call.samples for call, _ in self.in_flight)
        return self.ledger.calls + samples, self.ledger.usage.total_tokens + held


def run_of(found, bounds):
    async def main():
        loop = asyncio.get_running_loop()
        ledger = Ledger()
        run = Run(Budget(bounds, ledger), ledger)
        tasks = [asyncio.create_task(run.call(call)) for call in found]
        for call, task in zip(found, tasks, strict=True):
            if call.leaves_s is not None:
                loop.call_later(call.comes_s + call.leaves_s, task.cancel)
        await asyncio.wait(tasks)
        for task in tasks:
            if not task.cancelled():
                task.result()
        return run

    return run_virtual(main())


def is_within(bounds, number_of_calls, tokens):
    return (
        (bounds.max_calls is None or number_of_calls <= bounds.max_calls)
        and (bounds.max_tokens is None or tokens <= bounds.max_tokens)
        and (bounds.max_cost_usd is None or tokens * PRICE_USD <= bounds.max_cost_usd)
    )


@given(many_calls, limits)
def test_no_limit_is_passed_even_if_all_in_flight_write_all_they_may(found, bounds):
    run = run_of(found, bounds)
    assert all(is_within(bounds, *worst) for worst in run.worst)


@given(many_calls, limits)
def test_what_is_spent_in_the_end_is_within_every_limit(found, bounds):
    ledger = run_of(found, bounds).ledger
    assert is_within(bounds, ledger.calls, ledger.usage.total_tokens)
    assert ledger.cost_usd == ledger.usage.total_tokens * PRICE_USD


@given(many_calls, limits)
def test_everybody_is_answered_one_way_or_the_other_and_nothing_stays_held(found, bounds):
    """The virtual clock raises on a deadlock: that the run ends at all is half of what is shown here."""
    run = run_of(found, bounds)
    assert run.in_flight == []
    held = run.budget._held
    assert (held.calls, held.tokens, held.cost_usd) == (0, 0, 0.0)


@given(many_calls, limits)
def test_a_refused_call_could_not_have_been_made_with_nothing_in_flight(found, bounds):
    """Whoever is refused is refused for what is spent, never for what others only may spend."""
    run = run_of(found, bounds)
    for call, error, others_in_flight in run.refused:
        assert error.limit in {"calls", "tokens", "cost_usd"}
        assert not others_in_flight, "a call that others stand in the way of waits for them"
        assert getattr(bounds, {"calls": "max_calls", "tokens": "max_tokens"}.get(error.limit, "max_cost_usd"))
        assert call.samples >= 1


@given(many_calls)
def test_without_limits_nobody_waits_and_parameters_stay_as_they_are(found):
    asked = [dataclasses.replace(call, leaves_s=None) for call in found]
    run = run_of(asked, Limits())
    assert run.refused == []
    assert len(run.ledger.records) == len(asked)


@given(many_calls, st.integers(1, 3000))
def test_a_reply_limit_is_kept_or_the_call_is_refused(found, max_tokens):
    """A call that names its own `max_tokens` never gets fewer: a cut answer would be a wrong one."""
    granted = []

    async def main():
        budget = Budget(Limits(max_tokens=max_tokens), Ledger())
        for call in found:
            try:
                params = Params(n=call.samples, max_tokens=call.max_tokens)
                reservation = await budget.reserve(FakeModel(), call.messages, params)
            except BudgetError:
                continue
            granted.append((call, reservation.params.max_tokens))
            budget.settle(reservation)

    run_virtual(main())
    for call, tokens in granted:
        if call.max_tokens is None:
            assert MIN_REPLY_TOKENS <= tokens <= REPLY_RESERVE_TOKENS
        else:
            assert tokens == call.max_tokens


@given(many_calls)
def test_prices_that_are_no_binary_fractions_leave_nothing_held(found):
    """Sums of such prices round; what is left of them must not refuse the call that would have used the limit up."""

    async def main():
        model, last = FakeModel(price=1e-7), (Message(role=Role.USER, content="last"),)
        room = sum(call.prompt_tokens + call.samples * (call.max_tokens or 7) for call in found)
        whole = model.cost_usd(Usage(input_tokens=estimate_prompt_tokens(last), output_tokens=room))
        budget = Budget(Limits(max_cost_usd=whole), Ledger())
        held = [
            await budget.reserve(model, call.messages, Params(n=call.samples, max_tokens=call.max_tokens or 7))
            for call in found
        ]
        for reservation in held:
            budget.settle(reservation)
        return await budget.reserve(model, last, Params(max_tokens=room))

    assert run_virtual(main()).calls == 1


class TestLedger:
    costs = st.none() | st.integers(0, 1000).map(lambda tokens: tokens * PRICE_USD)

    @staticmethod
    def records(rows):
        return [
            CallRecord(
                step=step,
                purpose="",
                model="m",
                messages=(),
                samples=samples,
                usage=Usage(input_tokens=tokens, output_tokens=2 * tokens, estimated=tokens == 3),
                cost_usd=cost,
                requests=requests,
                cached=cached,
                started_s=0.0,
                latency_s=0.0,
            )
            for step, samples, tokens, cost, requests, cached in rows
        ]

    rows = st.lists(
        st.tuples(
            st.sampled_from("abc"), st.integers(1, 5), st.integers(0, 50), costs, st.integers(0, 3), st.booleans()
        ),
        max_size=20,
    )

    @given(rows)
    def test_running_totals_are_the_totals_of_the_records(self, rows):
        ledger, records = Ledger(), self.records(rows)
        for record in records:
            ledger.book(record)
        assert ledger.records == records
        assert ledger.calls == sum(record.calls for record in records)
        assert ledger.usage == total_usage(records)
        assert ledger.cost_usd == total_cost_usd(records)
        assert ledger.known_cost_usd == sum(record.cost_usd or 0.0 for record in records)

    @given(rows)
    def test_every_call_belongs_to_one_step_and_keeps_its_order(self, rows):
        ledger, records = Ledger(), self.records(rows)
        for record in records:
            ledger.book(record)
        for step in "abc":
            assert ledger.of_step(step) == tuple(record for record in records if record.step == step)
        assert sum(len(ledger.of_step(step)) for step in "abc") == len(records)

    @given(rows)
    def test_one_unknown_price_makes_the_total_unknown_and_never_cheap(self, rows):
        total = total_cost_usd(self.records(rows))
        assert (total is None) == any(row[3] is None for row in rows)

    @given(rows)
    def test_only_what_left_or_was_kept_counts_as_a_call(self, rows):
        for record in self.records(rows):
            assert record.calls == (0 if record.requests == 0 and not record.cached else record.samples)

    def test_asking_for_a_step_that_made_no_call_books_nothing(self):
        ledger = Ledger()
        assert ledger.of_step("never") == ()
        assert (ledger.calls, ledger.usage, ledger.cost_usd, ledger.records) == (0, Usage(), 0.0, [])
