"""Independent work: ordered results, typed failures, nothing left running."""

import asyncio

import pytest

from mas_orchestra.agents.concurrency import all_of
from mas_orchestra.errors import BudgetError, ServerError, StepError


async def test_results_have_the_order_of_the_work_and_not_of_its_end():
    first_may_end = asyncio.Event()

    async def first() -> str:
        await first_may_end.wait()
        return "first"

    async def second() -> str:
        first_may_end.set()
        return "second"

    assert await all_of([first(), second()]) == ("first", "second")


async def test_no_work_gives_no_results():
    assert await all_of([]) == ()


@pytest.mark.parametrize("error", [StepError("x", "x"), ServerError("x"), BudgetError("calls", "x")])
async def test_a_failure_comes_out_as_itself_after_the_others_have_ended(error):
    ended = []

    async def fails() -> None:
        raise error

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("waits")

    with pytest.raises(type(error)) as caught:
        await all_of([waits(), fails(), waits()])

    assert caught.value is error
    assert ended == ["waits", "waits"]


async def test_of_several_failures_one_comes_out_with_the_others_as_its_cause():
    async def fails(error: Exception) -> None:
        raise error

    with pytest.raises(ServerError) as caught:
        await all_of([fails(ServerError("one")), fails(ServerError("two"))])

    assert isinstance(caught.value.__cause__, ExceptionGroup)


async def test_a_failure_inside_nested_work_comes_out_as_itself():
    async def inner() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(fails())

    async def fails() -> None:
        raise ServerError("deep")

    with pytest.raises(ServerError, match="deep"):
        await all_of([inner()])


async def test_cancelling_the_whole_cancels_and_awaits_every_part():
    ended = []

    async def waits(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    whole = asyncio.create_task(all_of([waits("a"), waits("b")]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    whole.cancel()

    with pytest.raises(asyncio.CancelledError):
        await whole
    assert sorted(ended) == ["a", "b"]
