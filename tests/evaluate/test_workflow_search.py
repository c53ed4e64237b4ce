"""The search over fixed workflows: it finds the best, once, and its cost is counted."""

import pytest

from mas_orchestra.config import Price
from mas_orchestra.errors import ConfigError, EndpointError, ServerError, UsageError
from mas_orchestra.evaluate.workflow_search import WorkflowSearch
from mas_orchestra.models import Rule, Script, ScriptedModel
from mas_orchestra.plan.schema import Plan, Step
from support.evaluation import RIGHT, WRONG, config_of, opened, scripted, some_tasks, work

VALIDATION = [
    {"question": f"Validation {number}: what is 6 times 7?", "answer": "42", "id": f"v{number}"} for number in range(9)
]


@pytest.fixture
def validation(tmp_path):
    import json

    file = tmp_path / "validation.jsonl"
    file.write_text("\n".join(map(json.dumps, VALIDATION)))
    return f"jsonl:{file}?kind=text"


def judges_only(messages, params):
    """Right only where somebody checks or decides."""
    text = messages[-1].content
    return RIGHT if "Check this solution" in text else WRONG


def config(validation, **settings):
    return config_of("workflow_search", **{"matched_cost": False, "validation": (validation,), **settings})


async def test_the_best_workflow_answers_every_task(tmp_path, validation):
    with opened(tmp_path / "run", config(validation), scripted(judges_only)) as desk:
        ending = await work(desk)

        assert ending.unscored == 0
        assert desk.store.prepared()["workflow_search"]["chosen"] == "solve, then check"
        assert {(a.score, a.agents) for a in desk.store.attempts()} == {(1.0, ("CoTAgent", "CoTAgent"))}


async def test_halves_go_on_until_one_is_left(tmp_path, validation):
    with opened(tmp_path / "run", config(validation), scripted(judges_only)) as desk:
        await work(desk)
        rounds = desk.store.prepared()["workflow_search"]["rounds"]

    assert [len(one["means"]) for one in rounds] == [6, 3, 1]
    assert sum(one["tasks"] for one in rounds) == len(VALIDATION)


async def test_the_cost_of_the_search_is_shared_by_all_attempts(tmp_path, validation):
    model = ScriptedModel(script=Script(default=Rule(reply=RIGHT), price=Price(input=1, output=1)), name="model")
    with opened(tmp_path / "run", config(validation), model) as desk:
        await work(desk)
        found = desk.store.prepared()["workflow_search"]["spent"]
        attempts = list(desk.store.attempts())
        own = sum(step.cost_usd for stored in desk.store.outcomes() for step in stored.outcome.steps)

        assert found["calls"] > 0
        assert sum(a.cost_usd for a in attempts) == pytest.approx(own + found["cost_usd"])
        spent = desk.store.spent()
        assert spent.cost_usd == pytest.approx(own + found["cost_usd"]), "nothing is counted twice"
        assert spent.calls > found["calls"]


async def test_the_search_is_done_once(tmp_path, validation):
    model = scripted(judges_only)
    with opened(tmp_path / "run", config(validation), model) as desk:
        await work(desk)
    calls = model.calls
    with opened(tmp_path / "run", config(validation), model) as desk:
        await work(desk)

    assert model.calls == calls


async def test_a_cap_that_the_search_reaches_stops_the_run_cleanly(tmp_path, validation):
    with opened(tmp_path / "run", config(validation, caps={"max_calls": 5})) as desk:
        ending = await work(desk)

        assert ending.is_capped
        assert list(desk.store.attempts()) == []


async def test_validation_tasks_may_not_be_asked_in_the_evaluation(tmp_path):
    import json

    file = tmp_path / "validation.jsonl"
    file.write_text(json.dumps({"question": some_tasks(1).tasks[0].question, "answer": "42"}))
    told = "1 validation tasks are asked in the evaluation too"
    with opened(tmp_path / "run", config(f"jsonl:{file}?kind=text")) as desk, pytest.raises(ConfigError, match=told):
        await work(desk)


async def test_a_broken_endpoint_ends_the_search_and_keeps_nothing(tmp_path, validation):
    def reply(messages, params):
        raise ServerError("down")

    with opened(tmp_path / "run", config(validation), scripted(reply)) as desk:
        with pytest.raises(EndpointError, match="could not be tried"):
            await work(desk)

        assert desk.store.prepared() == {}


async def test_it_answers_only_after_its_search():
    search = WorkflowSearch({"one": Plan(steps=(Step(id="a", agent="CoTAgent"),))})

    with pytest.raises(UsageError, match="has not searched yet"):
        await search.solve(some_tasks(1).tasks[0], None)
    with pytest.raises(UsageError, match="no validation tasks"):
        await search.prepare([], None)
