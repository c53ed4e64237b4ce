"""A model menu: plans choose a model for a step, the prompt says what each is for and costs, the ledger pays each."""

import json

import pytest

from mas_orchestra.agents import Registry
from mas_orchestra.errors import InvalidPlanError, PriceUnknownError
from mas_orchestra.models.base import Abilities
from mas_orchestra.plan import Edge, Plan, Step
from mas_orchestra.run import FixedPlan, Limits, Orchestrated, Runtime, outcome_json, solve
from mas_orchestra.types import OutcomeStatus
from support.context import says
from support.runs import EchoAgent, FakeModel
from support.virtual_time import run_virtual

PLAN = {
    "thinking": "cheap draft, strong check",
    "steps": [
        {"id": "draft", "agent": "Echo", "description": "", "input": "draft", "model": "cheap"},
        {"id": "check", "agent": "Echo", "description": "", "input": "check ${draft}", "model": "strong"},
        {"id": "end", "agent": "Echo", "description": "", "input": "end ${check}", "model": None},
    ],
    "edges": [["draft", "check"], ["check", "end"]],
}


def models():
    return {
        "cheap": FakeModel(uri="fake:cheap", price=1e-6),
        "strong": FakeModel(uri="fake:strong", price=1e-3),
    }


def runtime_of(model=None, registry=None, **options):
    hints = {"cheap": "Quick drafts.", "strong": "hard checks"}
    return Runtime(
        model=model or FakeModel(uri="fake:usual"),
        registry=registry or Registry([EchoAgent()]),
        models=models(),
        model_hints=hints,
        **options,
    )


def ran_with(outcome):
    return {step.id: step.calls[0].model for step in outcome.steps}


def fixed(*steps, edges=()):
    return FixedPlan(plan=Plan(steps=steps, edges=edges))


def test_the_orchestrator_is_told_of_the_menu_and_its_choice_runs():
    writer = FakeModel(reply=lambda _: json.dumps(PLAN), abilities=Abilities(json_schema=False))
    prompts = []

    async def complete(messages, params, *, queue=None):
        prompts.append("\n".join(message.content for message in messages))
        return await FakeModel.complete(writer, messages, params, queue=queue)

    writer.complete = complete
    outcome = run_virtual(solve("Why?", Orchestrated(), runtime_of(orchestrator=writer)))

    assert outcome.status is OutcomeStatus.ANSWERED, outcome.failure
    assert ran_with(outcome) == {"draft": "fake:cheap", "check": "fake:strong", "end": "fake:usual"}
    assert "cheap: Quick drafts, $1.00 in and $1.00 out per million tokens" in prompts[0]
    assert "strong: hard checks, $1000.00 in and $1000.00 out per million tokens" in prompts[0]


def test_every_model_is_paid_at_its_own_price():
    steps = [Step(id=name, agent="Echo", input=name, arguments={"model": name}) for name in ("cheap", "strong")]
    end = Step(id="end", agent="Echo", input="${cheap} ${strong}")
    system = fixed(*steps, end, edges=(Edge("cheap", "end"), Edge("strong", "end")))
    outcome = run_virtual(solve("Why?", system, runtime_of()))

    assert {step.id: step.cost_usd for step in outcome.steps} == pytest.approx(
        {"cheap": 15e-6, "strong": 15e-3, "end": 15e-6}
    )
    by_model = {row["model"]: row for row in outcome_json(outcome)["models"]}
    assert by_model["fake:strong"]["cost_usd"] == pytest.approx(15e-3)
    assert by_model["fake:cheap"]["usage"]["calls"] == 1
    assert sum(row["cost_usd"] for row in by_model.values()) == pytest.approx(outcome.cost_usd)


@pytest.mark.parametrize("agent", ["CoTAgent", "SCAgent", "ReflexionAgent", "DebateAgent"])
def test_every_built_in_sub_agent_takes_the_choice_for_all_its_calls(agent):
    reply = json.dumps({"thinking": "t", "answer": "42", "feedback": "f", "correct": True})
    chosen = FakeModel(uri="fake:strong", reply=lambda _: reply)
    runtime = Runtime(model=FakeModel(), registry=Registry.only(agent), models={"strong": chosen})
    roles = {"roles": ["A", "B"]} if agent == "DebateAgent" else {}
    system = fixed(Step(id="a", agent=agent, arguments={"model": "strong", **roles}))
    outcome = run_virtual(solve("Why?", system, runtime))

    assert outcome.answer == "42", outcome.failure
    assert {call.model for call in outcome.steps[0].calls} == {"fake:strong"}
    assert runtime.model.prompts == []


def test_a_sub_agents_own_model_comes_before_the_usual_one_and_after_the_plans_choice():
    own = FakeModel(uri="fake:own")
    steps = (
        Step(id="a", agent="Echo", input="a"),
        Step(id="b", agent="Echo", input="b ${a}", arguments={"model": "cheap"}),
    )
    runtime = runtime_of(agent_models={"Echo": own})
    outcome = run_virtual(solve("Why?", fixed(*steps, edges=(Edge("a", "b"),)), runtime))

    assert ran_with(outcome) == {"a": "fake:own", "b": "fake:cheap"}


def test_a_model_that_is_not_on_the_menu_is_a_fault_of_the_plan():
    system = fixed(Step(id="a", agent="Echo", input="a", arguments={"model": "dearest"}))
    with pytest.raises(InvalidPlanError, match=r"model.*'cheap' or 'strong'"):
        run_virtual(solve("Why?", system, runtime_of()))


def test_without_a_menu_there_is_nothing_to_choose():
    system = fixed(Step(id="a", agent="Echo", input="a", arguments={"model": "cheap"}))
    runtime = Runtime(model=FakeModel(), registry=Registry([EchoAgent()]))
    assert runtime.catalog is runtime.registry.catalog
    with pytest.raises(InvalidPlanError, match="model"):
        run_virtual(solve("Why?", system, runtime))


def test_the_catalog_of_a_menu_is_made_once():
    """Prompts and schemas are kept by catalog, and a training run solves thousands of questions."""
    runtime = runtime_of()
    assert runtime.catalog is runtime.catalog


def test_a_model_without_a_price_says_so_and_binds_a_cost_limit():
    unpriced = FakeModel(uri="fake:unpriced", price=None)
    runtime = Runtime(
        model=FakeModel(price=0.0),
        registry=Registry.only("CoTAgent"),
        models={"x": unpriced},
        limits=Limits(max_cost_usd=1),
    )
    described = str(runtime.catalog["CoTAgent"].arguments.model_fields["model"].description)
    assert "x: price unknown" in described
    with pytest.raises(PriceUnknownError, match="fake:unpriced"):
        run_virtual(solve("Why?", fixed(Step(id="a", agent="CoTAgent")), runtime))


def test_a_free_model_is_called_free():
    runtime = Runtime(
        model=FakeModel(reply=lambda _: says("42")),
        registry=Registry.only("CoTAgent"),
        models={"local": FakeModel(price=0.0)},
    )
    assert "local: free" in str(runtime.catalog["CoTAgent"].arguments.model_fields["model"].description)
