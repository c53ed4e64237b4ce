"""The sub-agents in real runs: the calls that the card promises, budgets that end them, records that serialise."""

import json

import pytest

from mas_orchestra.agents import Registry, parse_agent_spec
from mas_orchestra.errors import ServerError
from mas_orchestra.models.scripted import ScriptedModel
from mas_orchestra.plan.schema import Edge, Plan, Step
from mas_orchestra.run import FixedPlan, Limits, Runtime, StandaloneAgent, solve
from mas_orchestra.search import BM25Retriever, Document
from mas_orchestra.types import OutcomeStatus
from support.context import says, tools

CORPUS = BM25Retriever([Document(id="d1", title="T", text="six times seven")])


def reply(messages, params):
    if params.tools:
        return tools(("search", '{"query": "six"}'))
    return '{"feedback": "no", "correct": false}' if "You are a critic" in messages[0].content else says("42")


def run_of(spec: str, model=None, **limits):
    chosen = parse_agent_spec(spec)
    runtime = Runtime(
        model=model or ScriptedModel.from_function(reply),
        registry=Registry.only(chosen.agent, options={chosen.agent: chosen.options}),
        retriever=CORPUS,
        limits=Limits(**limits),
    )
    return StandaloneAgent(agent=chosen.agent, arguments=dict(chosen.arguments)), runtime


@pytest.mark.parametrize(
    ("spec", "calls"), [("cot", 1), ("sc:5", 5), ("debate:3x5", 16), ("reflexion:5", 11), ("search:5", 6)]
)
async def test_a_run_makes_exactly_the_calls_that_the_card_promises(spec, calls):
    system, runtime = run_of(spec)

    outcome = await solve("What is 6 times 7?", system, runtime)

    assert outcome.status is OutcomeStatus.ANSWERED
    assert outcome.answer == "42"
    assert outcome.calls == calls
    card = runtime.registry[system.agent].card
    assert card.max_calls(card.arguments(**system.arguments)) == calls
    assert json.loads(json.dumps(outcome.steps[0].details)) == outcome.steps[0].details


@pytest.mark.parametrize("spec", ["cot", "sc:5", "debate:3x5", "reflexion:5", "search:5"])
async def test_a_broken_service_leaves_the_question_unscored(spec):
    def down(messages, params):
        raise ServerError("down")

    system, runtime = run_of(spec, ScriptedModel.from_function(down))

    outcome = await solve("What is 6 times 7?", system, runtime)

    assert outcome.status is OutcomeStatus.ENDPOINT_ERROR


async def test_retries_of_unreadable_replies_count_against_the_budget():
    system, runtime = run_of("cot", ScriptedModel.from_function(lambda *_: "Well.\nHm."), max_calls=3)

    outcome = await solve("What is 6 times 7?", system, runtime)

    assert outcome.status is OutcomeStatus.BUDGET_EXCEEDED
    assert outcome.calls == 3


async def test_steps_read_answers_and_nothing_else_of_each_other():
    seen = []

    def remember(messages, params):
        seen.append(messages[-1].content)
        return says("42", "secret thought")

    plan = Plan(
        steps=(
            Step(id="a", agent="SCAgent", input="Multiply."),
            Step(id="b", agent="CoTAgent", input="Check ${a}."),
        ),
        edges=(Edge("a", "b"),),
    )
    runtime = Runtime(model=ScriptedModel.from_function(remember), registry=Registry.only("CoTAgent", "SCAgent"))

    outcome = await solve("What is 6 times 7?", FixedPlan(plan=plan), runtime)

    assert outcome.answer == "42"
    assert "Check 42." in seen[-1]
    assert "secret thought" not in seen[-1]
