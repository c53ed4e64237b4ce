import asyncio
from dataclasses import replace
from itertools import pairwise

import pytest

from mas_orchestra.errors import BudgetError
from mas_orchestra.models.base import Params
from mas_orchestra.models.tokens import estimate_prompt_tokens
from mas_orchestra.plan import Edge, Plan, Step
from mas_orchestra.run import FixedPlan, solve
from mas_orchestra.run.budget import MIN_REPLY_TOKENS, REPLY_RESERVE_TOKENS, Budget
from mas_orchestra.run.ledger import Ledger
from mas_orchestra.run.outcome import CallRecord
from mas_orchestra.run.runtime import Limits
from mas_orchestra.types import Message, OutcomeStatus, Role, Usage
from support.runs import FakeModel, runtime_of
from support.virtual_time import run_virtual

PROMPT = (Message(role=Role.USER, content="word " * 40),)
PROMPT_TOKENS = estimate_prompt_tokens(PROMPT)


def record(tokens, samples=1, cost_usd=0.0):
    usage = Usage(output_tokens=tokens)
    return CallRecord(
        step="a",
        purpose="",
        model="m",
        messages=(),
        usage=usage,
        samples=samples,
        cost_usd=cost_usd,
        started_s=0,
        latency_s=0,
    )


def reserve(limits, *, spent=(), params=Params(max_tokens=100), price=1e-6):
    ledger = Ledger()
    for call in spent:
        ledger.book(call)
    return run_virtual(Budget(limits, ledger).reserve(FakeModel(price=price), PROMPT, params))


def test_without_limits_the_parameters_are_sent_as_they_are():
    assert reserve(Limits(), params=Params(n=5)).params == Params(n=5)


@pytest.mark.parametrize(("spent", "n", "fits"), [(0, 3, True), (1, 2, True), (1, 3, False), (3, 1, False)])
def test_calls_count_samples(spent, n, fits):
    spent_records = [record(1, samples=spent)] if spent else []
    if fits:
        assert reserve(Limits(max_calls=3), spent=spent_records, params=Params(n=n)).calls == n
    else:
        with pytest.raises(BudgetError, match="limit of 3") as caught:
            reserve(Limits(max_calls=3), spent=spent_records, params=Params(n=n))
        assert caught.value.limit == "calls"


def test_tokens_reserve_prompt_and_every_reply():
    reservation = reserve(Limits(max_tokens=10_000), params=Params(max_tokens=100, n=5))
    assert reservation.tokens == PROMPT_TOKENS + 500
    assert reservation.params.max_tokens == 100


def test_a_call_that_could_pass_the_token_limit_is_refused():
    enough = PROMPT_TOKENS + 100
    assert reserve(Limits(max_tokens=enough)).tokens == enough
    with pytest.raises(BudgetError) as caught:
        reserve(Limits(max_tokens=enough - 1))
    assert caught.value.limit == "tokens"


def test_spent_tokens_leave_less():
    with pytest.raises(BudgetError, match="500 are spent"):
        reserve(Limits(max_tokens=PROMPT_TOKENS + 599), spent=[record(500)])


@pytest.mark.parametrize(
    ("room", "granted"), [(REPLY_RESERVE_TOKENS + 1, REPLY_RESERVE_TOKENS), (1000, 1000), (MIN_REPLY_TOKENS, 64)]
)
def test_a_call_without_max_tokens_gets_what_is_left(room, granted):
    assert reserve(Limits(max_tokens=PROMPT_TOKENS + room), params=Params()).params.max_tokens == granted


def test_a_reply_too_short_to_be_worth_its_prompt_is_refused():
    with pytest.raises(BudgetError):
        reserve(Limits(max_tokens=PROMPT_TOKENS + MIN_REPLY_TOKENS - 1), params=Params())


def test_cost_is_checked_at_its_worst():
    worst = 1e-6 * (PROMPT_TOKENS + 100)
    assert reserve(Limits(max_cost_usd=worst * 1.001)).cost_usd == pytest.approx(worst)
    with pytest.raises(BudgetError) as caught:
        reserve(Limits(max_cost_usd=worst * 0.999))
    assert caught.value.limit == "cost_usd"


def test_calls_in_flight_hold_what_they_may_still_use():
    """The second call waits for the first; what the first gave back is enough for it."""

    async def main():
        ledger = Ledger()
        budget = Budget(Limits(max_tokens=2 * PROMPT_TOKENS + 150), ledger)
        model = FakeModel()
        first = await budget.reserve(model, PROMPT, Params(max_tokens=100))
        second = asyncio.create_task(budget.reserve(model, PROMPT, Params(max_tokens=100)))
        await asyncio.sleep(1)
        assert not second.done()
        ledger.book(record(PROMPT_TOKENS + 50))
        budget.settle(first)
        assert (await second).params.max_tokens == 100

    run_virtual(main())


def test_a_waiting_call_is_refused_once_nothing_in_flight_can_make_room():
    async def main():
        ledger = Ledger()
        budget = Budget(Limits(max_calls=1), ledger)
        first = await budget.reserve(FakeModel(), PROMPT, Params())
        second = asyncio.create_task(budget.reserve(FakeModel(), PROMPT, Params()))
        await asyncio.sleep(1)
        ledger.book(record(1))
        budget.settle(first)
        with pytest.raises(BudgetError):
            await second

    run_virtual(main())


def test_calls_left():
    ledger = Ledger()
    budget = Budget(Limits(max_calls=4), ledger)
    assert budget.calls_left == 4
    ledger.book(record(1, samples=3))
    assert budget.calls_left == 1
    ledger.book(record(1, samples=3))
    assert budget.calls_left == 0
    assert Budget(Limits(), ledger).calls_left is None


def test_an_unknown_cost_stays_unknown():
    ledger = Ledger()
    ledger.book(record(1, cost_usd=0.5))
    assert ledger.cost_usd == 0.5
    ledger.book(replace(record(1), cost_usd=None))
    ledger.book(record(1, cost_usd=0.5))
    assert ledger.cost_usd is None


def test_a_cost_limit_binds_what_has_a_price_beside_what_has_none():
    """One unpriced call makes the total unknown, but not what is known to be spent."""
    priced, unpriced = FakeModel(price=1e-3, uri="fake:priced"), FakeModel(price=None, uri="fake:unpriced")
    limits = Limits(max_cost_usd=0.05, max_tokens=100_000)
    steps = [Step(id="free", agent="Echo", input="free", arguments={"model": "unpriced"})]
    steps += [
        Step(id=f"s{number}", agent="Echo", input=f"${{{previous}}}")
        for number, previous in enumerate(["free", "s0", "s1", "s2", "s3"])
    ]
    edges = tuple(Edge(first.id, second.id) for first, second in pairwise(steps))
    runtime = runtime_of(priced, models={"unpriced": unpriced}, limits=limits)
    outcome = run_virtual(solve("Why?", FixedPlan(plan=Plan(steps=tuple(steps), edges=edges)), runtime))
    assert outcome.status is OutcomeStatus.BUDGET_EXCEEDED
    assert outcome.cost_usd is None
    assert sum(step.cost_usd or 0.0 for step in outcome.steps) <= 0.05
