import asyncio
import gc

import pytest

from mas_orchestra.run import FixedPlan, run_async, solve_sync
from mas_orchestra.tasks.task import Task
from support.runs import FakeModel, echo_plan, runtime_of


def test_a_program_without_an_event_loop_gets_the_outcome_and_closed_models():
    model = FakeModel()
    outcome = solve_sync("Why?", FixedPlan(plan=echo_plan("a>b")), runtime_of(model))
    assert outcome.answer == "<b <a>>"
    assert model.is_closed


def test_a_task_keeps_its_id():
    outcome = solve_sync(Task(id="t7", question="Why?"), FixedPlan(plan=echo_plan(steps="a")), runtime_of(FakeModel()))
    assert (outcome.task_id, outcome.question) == ("t7", "Why?")


def test_the_collector_is_left_as_it_was_found():
    before = gc.get_threshold(), gc.get_freeze_count()

    async def fail():
        await asyncio.sleep(0)
        assert gc.get_threshold() != before[0]
        raise ValueError("out")

    with pytest.raises(ValueError, match="out"):
        run_async(fail())
    assert (gc.get_threshold(), gc.get_freeze_count()) == before
