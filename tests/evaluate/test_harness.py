"""The evaluation loop: every attempt once, whatever breaks, in any order."""

import asyncio
import dataclasses
from collections import Counter

import pytest

from mas_orchestra.errors import ServerError, UsageError
from mas_orchestra.evaluate.attempt import AttemptKey
from mas_orchestra.evaluate.contenders import Contender
from mas_orchestra.evaluate.harness import Evaluation
from mas_orchestra.evaluate.progress import Tallies, Tally
from mas_orchestra.evaluate.store_engine import StoreError
from mas_orchestra.run import StandaloneAgent
from mas_orchestra.score.base import Score
from mas_orchestra.types import OutcomeStatus
from support.evaluation import RIGHT, WRONG, config_of, key, opened, question, scripted, work


def asked(messages) -> str:
    return messages[-1].content


def table(desk) -> dict[AttemptKey, tuple]:
    """What a scoreboard is made of."""
    return {
        key(a.system, a.task_id, a.attempt, a.seed): (a.status, a.answer, a.score, a.calls)
        for a in desk.store.attempts()
    }


async def test_every_system_tries_every_task_k_times(tmp_path):
    with opened(tmp_path / "run", config_of("cot", "sc:3")) as desk:
        ending = await work(desk)

        assert ending.stopped is None
        assert ending.unscored == 0
        assert set(table(desk)) == {
            key(system, f"t{task}", attempt) for system in ("cot", "sc:3") for task in range(3) for attempt in range(2)
        }
        assert {a.score for a in desk.store.attempts()} == {1.0}
        assert desk.store.spent().calls == 3 * 2 * (1 + 3)


async def test_right_and_wrong_answers_are_told_apart(tmp_path):
    model = scripted(lambda messages, params: WRONG if question(1) in asked(messages) else RIGHT)
    with opened(tmp_path / "run", config_of("cot"), model) as desk:
        await work(desk)

        scores = {a.task_id: a.score for a in desk.store.attempts()}
        assert scores == {"t0": 1.0, "t1": 0.0, "t2": 1.0}


async def test_a_second_start_asks_nothing(tmp_path):
    model = scripted()
    with opened(tmp_path / "run", config_of("cot"), model) as desk:
        await work(desk)
        before = table(desk)
    calls = model.calls

    with opened(tmp_path / "run", config_of("cot"), model) as desk:
        ending = await work(desk)

        assert model.calls == calls
        assert table(desk) == before
        assert ending.unscored == 0


@pytest.mark.parametrize("concurrency", [1, 2, 32])
async def test_concurrency_is_bounded_and_changes_no_result(tmp_path, concurrency):
    running, peak = 0, 0

    class Counting(StandaloneAgent):
        async def solve(self, task, runtime):
            nonlocal running, peak
            running += 1
            peak = max(peak, running)
            await asyncio.sleep(0)
            try:
                return await super().solve(task, runtime)
            finally:
                running -= 1

    with opened(tmp_path / "run", config_of("cot", concurrency=concurrency), tasks=20) as desk:
        contender = dataclasses.replace(desk.contenders[0], system=Counting(agent="CoTAgent", name="cot"))
        ending = await work(dataclasses.replace(desk, contenders=(contender,)))

        assert ending.unscored == 0
        assert peak == min(concurrency, 40)
        assert len(table(desk)) == 40


async def test_seeds_do_not_depend_on_order(tmp_path):
    seen: dict[tuple[str, int], list[int]] = {}

    class Remembering(StandaloneAgent):
        async def solve(self, task, runtime):
            seen.setdefault((task.id, runtime.seed), []).append(1)
            return await super().solve(task, runtime)

    found = []
    for concurrency in (1, 7):
        seen.clear()
        with opened(tmp_path / f"run{concurrency}", config_of("cot", concurrency=concurrency)) as desk:
            contender = dataclasses.replace(desk.contenders[0], system=Remembering(agent="CoTAgent", name="cot"))
            await work(dataclasses.replace(desk, contenders=(contender,)))
        found.append(dict(seen))

    assert found[0] == found[1]
    assert len(found[0]) == 6, "every attempt has a seed of its own"


@pytest.mark.parametrize("part", ["system", "task_id", "attempt", "seed"])
def test_every_part_of_the_key_changes_the_draws(part):
    other = {"system": "sc:5", "task_id": "t1", "attempt": 1, "seed": 1}[part]

    assert dataclasses.replace(key(), **{part: other}).run_seed != key().run_seed


async def test_a_broken_endpoint_leaves_the_attempt_unscored_and_a_resume_tries_it_again(tmp_path):
    is_down = True

    def reply(messages, params):
        if is_down and question(1) in asked(messages):
            raise ServerError("503 beyond the retries")
        return RIGHT

    with opened(tmp_path / "run", config_of("cot"), scripted(reply)) as desk:
        ending = await work(desk)
        broken = [a for a in desk.store.attempts() if a.score is None]

        assert ending.stopped is None
        assert ending.unscored == 2
        assert {(a.task_id, a.reason) for a in broken} == {("t1", "endpoint_error")}
        assert desk.tallies().by_system["cot"].errored == 2
        assert desk.tallies().by_system["cot"].accuracy == 1.0, "a broken service is not a wrong answer"

    is_down = False
    model = scripted(reply)
    with opened(tmp_path / "run", config_of("cot"), model) as desk:
        ending = await work(desk)

        assert model.calls == 2, "only what had no score is asked again"
        assert ending.unscored == 0
        assert {a.score for a in desk.store.attempts()} == {1.0}


async def test_one_broken_attempt_of_many_does_not_end_the_run(tmp_path):
    def reply(messages, params):
        if question(17) in asked(messages):
            raise ServerError("connection reset")
        return RIGHT

    with opened(tmp_path / "run", config_of("cot", attempts=1, concurrency=64), scripted(reply), tasks=64) as desk:
        ending = await work(desk)

        counts = Counter(a.score for a in desk.store.attempts())
        assert counts == {1.0: 63, None: 1}
        assert ending.stopped is None


async def test_an_endpoint_that_is_down_ends_the_run(tmp_path):
    def reply(messages, params):
        raise ServerError("503 beyond the retries")

    config = config_of("cot", concurrency=2, stop_after_errors=5)
    with opened(tmp_path / "run", config, scripted(reply), tasks=50) as desk:
        ending = await work(desk)

        assert "5 attempts in a row met a broken endpoint" in ending.stopped
        assert "503 beyond the retries" in ending.stopped
        assert len(table(desk)) <= 7


async def test_a_crash_of_somebody_s_system_is_an_unscored_attempt(tmp_path):
    class Crashing(StandaloneAgent):
        async def solve(self, task, runtime):
            if task.id == "t1":
                raise KeyError("a bug")
            return await super().solve(task, runtime)

    with opened(tmp_path / "run", config_of("cot")) as desk:
        contender = dataclasses.replace(desk.contenders[0], system=Crashing(agent="CoTAgent", name="cot"))
        ending = await work(dataclasses.replace(desk, contenders=(contender,)))

        crashed = [a for a in desk.store.attempts() if a.score is None]
        assert ending.unscored == 2
        assert {(a.task_id, a.reason) for a in crashed} == {("t1", "system_crashed")}
        assert "KeyError: 'a bug'" in desk.store.outcome(key(task="t1")).failure.message


async def test_wrong_usage_found_late_ends_the_run_with_its_message(tmp_path):
    class Refusing(StandaloneAgent):
        async def solve(self, task, runtime):
            raise UsageError("this plan cannot run here")

    with opened(tmp_path / "run", config_of("cot")) as desk:
        contender = dataclasses.replace(desk.contenders[0], system=Refusing(agent="CoTAgent", name="cot"))
        with pytest.raises(UsageError, match="cannot run here"):
            await work(dataclasses.replace(desk, contenders=(contender,)))


async def test_a_broken_judge_leaves_the_attempt_unscored_and_only_scoring_is_tried_again(tmp_path):
    is_down = True

    async def judged(task, outcome):
        if is_down:
            raise ServerError("the judge is down")
        return Score(value=1.0, reason="right")

    model = scripted()
    with opened(tmp_path / "run", config_of("cot"), model) as desk:
        ending = await work(dataclasses.replace(desk, score=judged))
        assert ending.unscored == 6
        assert {a.reason for a in desk.store.attempts()} == {"server_error"}
        assert {a.status for a in desk.store.attempts()} == {OutcomeStatus.ANSWERED}

    calls, is_down = model.calls, False
    with opened(tmp_path / "run", config_of("cot"), model) as desk:
        ending = await work(dataclasses.replace(desk, score=judged))

        assert model.calls == calls, "the answers are there already"
        assert ending.unscored == 0
        assert {a.score for a in desk.store.attempts()} == {1.0}


async def test_an_interrupt_stores_what_was_spent_and_a_resume_ends_with_the_same_table(tmp_path):
    reached = asyncio.Event()

    class Hanging(StandaloneAgent):
        async def solve(self, task, runtime):
            if task.id == "t1":
                outcome = await super().solve(task, dataclasses.replace(runtime, listeners=()))
                assert outcome.answer
                reached.set()
                await asyncio.Event().wait()
            return await super().solve(task, runtime)

    with opened(tmp_path / "run", config_of("cot", concurrency=1)) as desk:
        contender = dataclasses.replace(desk.contenders[0], system=Hanging(agent="CoTAgent", name="cot"))
        task = asyncio.create_task(work(dataclasses.replace(desk, contenders=(contender,))))
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert set(table(desk)) == {key()}

    with opened(tmp_path / "run", config_of("cot")) as desk:
        await work(desk)
        resumed = table(desk)
    with opened(tmp_path / "other", config_of("cot")) as desk:
        await work(desk)
        assert table(desk) == resumed


async def test_money_spent_on_a_cancelled_attempt_is_not_forgotten(tmp_path):
    reached = asyncio.Event()

    class Slow:
        uri, abilities = "scripted:model", scripted().abilities

        def cost_usd(self, usage):
            return 1e-6 * usage.total_tokens

        async def complete(self, messages, params, *, queue=None):
            reached.set()
            await asyncio.Event().wait()

        async def close(self):
            pass

    with opened(tmp_path / "run", config_of("cot", concurrency=1), Slow()) as desk:
        task = asyncio.create_task(work(desk))
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        (attempt,) = desk.store.attempts()
        assert (attempt.status, attempt.score) == (OutcomeStatus.CANCELLED, None)
        assert desk.store.spent().tokens > 0


async def test_a_store_that_fails_ends_the_run_with_its_own_message(tmp_path, monkeypatch):
    with opened(tmp_path / "run", config_of("cot", concurrency=8), tasks=20) as desk:
        stored = 0
        add = desk.store.add

        def fails(*arguments, **options):
            nonlocal stored
            stored += 1
            if stored > 5:
                raise StoreError("database or disk is full. Free some space")
            return add(*arguments, **options)

        monkeypatch.setattr(desk.store, "add", fails)
        with pytest.raises(StoreError, match="Free some space"):
            await work(desk)

        assert len(table(desk)) == 5


async def test_a_run_that_is_cut_short_compares_systems_on_the_same_tasks(tmp_path):
    order = []

    class Ordered(Tallies):
        def started(self, system):
            order.append(system)
            super().started(system)

    with opened(tmp_path / "run", config_of("cot", "sc:3", concurrency=1)) as desk:
        watch = Ordered({name: Tally(total=6) for name in ("cot", "sc:3")})
        await desk.work(watch, desk.budget(desk.config.caps, desk.store.spent()))

    assert order == ["cot", "sc:3"] * 6


async def test_the_watch_is_told_of_everything(tmp_path):
    def reply(messages, params):
        if question(0) in asked(messages):
            raise ServerError("down")
        return RIGHT

    with opened(tmp_path / "run", config_of("cot"), scripted(reply)) as desk:
        tallies = desk.tallies()
        await desk.work(tallies, desk.budget(desk.config.caps, desk.store.spent()))
        tally = tallies.by_system["cot"]

        assert (tally.total, tally.scored, tally.errored, tally.in_flight) == (6, 4, 2, 0)
        stored = desk.tallies().by_system["cot"]
        assert (stored.scored, stored.errored, stored.score_sum) == (tally.scored, tally.errored, tally.score_sum)


async def test_time_is_capped(tmp_path):
    class Endless(StandaloneAgent):
        async def solve(self, task, runtime):
            if task.id == "t2":
                await asyncio.Event().wait()
            return await super().solve(task, runtime)

    with opened(tmp_path / "run", config_of("cot", caps={"max_time_s": 0.5})) as desk:
        contender = dataclasses.replace(desk.contenders[0], system=Endless(agent="CoTAgent", name="cot"))
        ending = await work(dataclasses.replace(desk, contenders=(contender,)))

        assert ending.stopped == "the time cap of 0.5 s is reached"
        assert {a.task_id for a in desk.store.attempts()} == {"t0", "t1"}


async def test_a_program_may_use_the_loop_by_itself(tmp_path):
    with opened(tmp_path / "run", config_of("cot")) as desk:
        own = StandaloneAgent(agent="CoTAgent", name="cot")
        evaluation = Evaluation(
            store=desk.store,
            contenders=[Contender(name="cot", system=own, runtime=desk.contenders[0].runtime)],
            tasks=desk.tasks[:1],
            attempts=3,
            seed=5,
            score=desk.score,
            budget=desk.budget(desk.config.caps, desk.store.spent()),
            watch=desk.tallies(),
        )
        await evaluation.run()

        assert desk.store.scored() == {key(attempt=number, seed=5) for number in range(3)}
