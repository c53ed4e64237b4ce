"""Scoring anew what is stored: no call, all scores or none."""

import dataclasses

import pytest

from mas_orchestra.errors import ConfigError, ServerError
from mas_orchestra.evaluate.rescore import Rescored, rescore
from mas_orchestra.score.base import Score
from support.evaluation import config_of, opened, scripted, work

NAMES = {"text": "another"}


async def other(task, outcome):
    """Another scorer."""
    return Score(value=0.5, reason="half", parts={"other": 0.5}, details={"read": outcome.answer})


async def test_every_attempt_is_scored_anew_without_a_call(tmp_path):
    model = scripted()
    with opened(tmp_path / "run", config_of("cot", "debate:2x2"), model, tasks=70) as desk:
        await work(desk)
        calls = model.calls

        done = await rescore(desk.store, other, NAMES)

        assert model.calls == calls
        assert done == Rescored(attempts=280, changed=280, unscored=0)
        assert {(a.score, a.reason) for a in desk.store.attempts()} == {(0.5, "half")}
        assert {stored.score.details["read"] for stored in desk.store.outcomes()} == {"42"}


async def test_the_same_scorer_changes_nothing(tmp_path):
    with opened(tmp_path / "run", config_of("cot")) as desk:
        await work(desk)
        before = list(desk.store.attempts())

        done = await rescore(desk.store, desk.score, NAMES)

        assert done == Rescored(attempts=6, changed=0, unscored=0)
        assert list(desk.store.attempts()) == before


async def test_a_broken_endpoint_stays_unscored(tmp_path):
    def reply(messages, params):
        raise ServerError("down")

    with opened(tmp_path / "run", config_of("cot"), scripted(reply)) as desk:
        await work(desk)

        assert await rescore(desk.store, desk.score, NAMES) == Rescored(attempts=6, changed=0, unscored=6)


async def test_an_attempt_that_a_cap_cut_is_left_alone(tmp_path):
    config = config_of("debate:2x2", attempts=1, caps={"max_calls": 7}, concurrency=1)
    with opened(tmp_path / "run", config, tasks=2) as desk:
        await work(desk)

        done = await rescore(desk.store, other, NAMES)

        assert done.attempts == 1
        assert {a.reason for a in desk.store.attempts()} == {"half", "run_cap_reached"}


async def test_a_judge_that_breaks_leaves_attempts_unscored(tmp_path):
    async def broken(task, outcome):
        raise ServerError("the judge is down")

    with opened(tmp_path / "run", config_of("cot")) as desk:
        await work(desk)

        assert await rescore(desk.store, broken, NAMES) == Rescored(attempts=6, changed=6, unscored=6)


async def test_a_crash_in_the_middle_changes_nothing(tmp_path):
    count = 0

    async def crashing(task, outcome):
        nonlocal count
        count += 1
        if count == 4:
            raise ZeroDivisionError
        return Score(value=0.0, reason="wrong")

    with opened(tmp_path / "run", config_of("cot")) as desk:
        await work(desk)
        before = list(desk.store.attempts())

        with pytest.raises(ExceptionGroup):
            await rescore(desk.store, crashing, NAMES)

        assert list(desk.store.attempts()) == before


async def test_scores_survive_being_stored(tmp_path):
    score = Score(value=1 / 3, reason="partly", parts={"a": 0.1, "b": 1.0}, details={"nested": [1, {"x": None}]})

    async def exact(task, outcome):
        return dataclasses.replace(score)

    with opened(tmp_path / "run", config_of("cot")) as desk:
        await work(desk)
        await rescore(desk.store, exact, NAMES)

        assert all(stored.score == score for stored in desk.store.outcomes())


async def test_the_facts_say_what_scored(tmp_path):
    with opened(tmp_path / "run", config_of("cot")) as desk:
        await work(desk)
        before = desk.store.head().facts
        await rescore(desk.store, other, NAMES)
        facts = desk.store.head().facts

    assert facts["scorers"] == NAMES
    assert facts["rescored_by"] == facts["mas_orchestra"]
    assert facts["rescored_at"] > ""
    assert {name: facts[name] for name in before if name != "scorers"} == {
        name: before[name] for name in before if name != "scorers"
    }


async def test_a_run_of_another_release_is_scored_anew_and_not_gone_on_with(tmp_path):
    with opened(tmp_path / "run", config_of("cot")) as desk:
        await work(desk)
        desk.store.note({"mas_orchestra": "0.0.1"})

    with pytest.raises(ConfigError, match=r"begun by mas-orchestra 0\.0\.1, this is"):
        opened(tmp_path / "run", config_of("cot")).__enter__()
    with opened(tmp_path / "run", config_of("cot"), any_release=True) as desk:
        assert (await rescore(desk.store, other, NAMES)).changed == 6
