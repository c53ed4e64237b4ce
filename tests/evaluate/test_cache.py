"""The response cache of an evaluation: nothing is paid twice, and no attempt is given another one's reply."""

import itertools
import json
from contextlib import ExitStack

import pytest

from mas_orchestra.evaluate.launch import open_desk
from mas_orchestra.evaluate.run_folder import RunFolder
from mas_orchestra.models.base import Params
from mas_orchestra.models.cache import CachedModel
from mas_orchestra.tasks.load import load_tasks
from mas_orchestra.types import Message, Role
from support.evaluation import config_of, opened, scripted, work

ASKED = (Message(role=Role.USER, content="What is 6 times 7?"),)


def numbered():
    """A model that never says the same twice."""
    count = itertools.count(1)
    return scripted(lambda messages, params: json.dumps({"thinking": "", "answer": str(next(count))}))


def cached(tmp_path, *systems, **settings):
    return config_of(*systems, cache=str(tmp_path / "cache"), **settings)


async def test_the_same_prompt_in_another_attempt_is_asked_again(tmp_path):
    with opened(tmp_path / "run", cached(tmp_path, "cot", attempts=5), numbered(), tasks=1) as desk:
        await work(desk)

        answers = [a.answer for a in desk.store.attempts()]
        assert len(set(answers)) == 5, "each attempt has a reply of its own"
        assert {a.cached_calls for a in desk.store.attempts()} == {0}


async def test_the_same_prompt_of_another_system_is_asked_again(tmp_path):
    model = numbered()
    with opened(tmp_path / "run", cached(tmp_path, "cot", "sc:1", attempts=1), model, tasks=1) as desk:
        await work(desk)

        assert model.calls == 2
        assert {a.cost_usd for a in desk.store.attempts()} == {0.0}


async def test_a_second_run_with_the_same_seed_is_answered_from_the_cache(tmp_path):
    model = numbered()
    config = cached(tmp_path, "cot", "sc:3", "debate:2x2", attempts=2)
    answers = []
    for name in ("first", "second"):
        with opened(tmp_path / name, config, model) as desk:
            await work(desk)
            answers.append({(a.system, a.task_id, a.attempt): a.answer for a in desk.store.attempts()})
            attempts = list(desk.store.attempts())
            calls, spent = model.calls, desk.store.spent()

    assert answers[0] == answers[1]
    assert all(a.cached_calls == a.calls > 0 for a in attempts), "hits are counted"
    assert (spent.calls, spent.tokens, spent.cost_usd) == (0, 0, 0.0), "and cost nothing"
    assert calls == model.calls


async def test_another_seed_is_another_sample(tmp_path):
    model = numbered()
    for seed in (0, 1):
        with opened(tmp_path / f"run{seed}", cached(tmp_path, "cot", attempts=1, seed=seed), model, tasks=1) as desk:
            await work(desk)

    assert model.calls == 2


async def test_a_baseline_matches_calls_where_the_other_was_answered_from_the_cache(tmp_path):
    config = cached(tmp_path, "debate:2x2", "sc@cost:debate:2x2", attempts=1)
    for name in ("first", "second"):
        with opened(tmp_path / name, config) as desk:
            await work(desk)
            matched = [
                stored.outcome.steps[0].details["matched"]
                for stored in desk.store.outcomes()
                if stored.key.system.startswith("sc@cost")
            ]

    assert {(one["unit"], one["target"]) for one in matched} == {("calls", 5)}


async def ask(model):
    return (await model.complete(ASKED, Params())).content


async def test_namespaces_are_kept_apart_and_kept(tmp_path):
    model = CachedModel(numbered(), tmp_path)
    first, second = model.within("a"), model.within("b")

    replies = [await ask(one) for one in (model, first, second, first.within("b"))]

    assert len(set(replies)) == 4
    assert replies == [await ask(one) for one in (model, first, second, first.within("b"))]


@pytest.mark.parametrize(("first", "second"), [(("a", "b"), ("a/b",)), (("a",), ("a", "")), (("1", "11"), ("11", "1"))])
async def test_namespaces_with_the_same_parts_differ_unless_their_paths_do_not(tmp_path, first, second):
    model = CachedModel(numbered(), tmp_path)
    one, other = model, model
    for part in first:
        one = one.within(part)
    for part in second:
        other = other.within(part)

    assert (await ask(one) == await ask(other)) is ("/".join(first) == "/".join(second))


async def test_what_is_behind_a_cache_keeps_attempts_apart_too(tmp_path):
    class Counting:
        uri, abilities = "scripted:model", scripted().abilities

        def __init__(self, namespace=""):
            self.namespace = namespace

        def within(self, namespace):
            return Counting(f"{self.namespace}/{namespace}")

        async def complete(self, messages, params, *, queue=None):
            return await scripted(lambda m, p: self.namespace).complete(messages, params)

    assert await ask(CachedModel(Counting(), tmp_path).within("a").within("b")) == "/a/b"


async def test_simulated_attempts_do_not_depend_on_order_or_interruptions(tmp_path):
    tasks = load_tasks("masbench:horizon?values=6&n=6")
    tables = []
    for concurrency in (1, 16):
        config = config_of("cot", "sc:3", model="sim:weak", attempts=3, concurrency=concurrency)
        folder = RunFolder(tmp_path / f"run{concurrency}")
        with ExitStack() as stack, folder.locked():
            folder.begin(config)
            desk = open_desk(folder, config, stack=stack, tasks=[tasks])
            await work(desk)
            tables.append([(a.system, a.task_id, a.attempt, a.answer, a.score) for a in desk.store.attempts()])
            assert all(one.is_simulated for one in desk.store.head().systems)

    assert tables[0] == tables[1]
    answers = {answer for system, _, _, answer, _ in tables[0] if system == "cot"}
    assert len(answers) > 6, "attempts differ, not tasks alone"
