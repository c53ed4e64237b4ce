"""A simulated orchestrator writes valid plans of random design, in every format."""

import json

import pytest

from mas_orchestra import plan as language
from mas_orchestra.agents.registry import Registry
from mas_orchestra.models.base import FinishReason, Params
from mas_orchestra.types import ResponseSchema
from support.simulated import CHAIN, SINGLE, flawed

CATALOG = Registry.installed().catalog


def plans(*, dom, format, n=60, question=CHAIN, catalog=CATALOG):  # noqa: A002  (the word of the plan language)
    messages = language.prompt_messages(question, dom=dom, catalog=catalog, format=format)
    params = {
        "tools": {"tools": language.tools(catalog, dom)},
        "json": {"response_schema": ResponseSchema(name="plan", schema={})},
    }
    choices = flawed().reply(messages, Params(n=n, **params.get(format, {}))).choices
    texts = [
        language.text_of_tool_calls(choice.tool_calls, choice.content) if choice.tool_calls else choice.content
        for choice in choices
    ]
    return [language.read(text, dom=dom, mode="strict", catalog=catalog, format=format) for text in texts]


@pytest.mark.parametrize("dom", ["low", "high"])
@pytest.mark.parametrize("format", ["xml", "json", "tools"])
def test_every_plan_is_valid(dom, format):  # noqa: A002  (as above)
    reports = plans(dom=dom, format=format)

    assert [report.faults for report in reports if not report.valid] == []


def test_designs_vary_and_use_the_agents_that_are_offered():
    found = [report.plan for report in plans(dom="high", format="xml", n=200)]

    assert {len(plan.steps) for plan in found} == {1, 2, 3, 4, 5, 6}
    assert {step.agent for plan in found for step in plan.steps} == set(CATALOG.names) - {"WebSearchAgent"}
    assert len({(len(plan.steps), plan.edges) for plan in found}) > 30


def test_only_offered_agents_are_used():
    only = Registry.only("CoTAgent").catalog

    found = plans(dom="high", format="xml", catalog=only)
    assert {step.agent for report in found for step in report.plan.steps} == {"CoTAgent"}


def test_low_degree_means_one_step():
    assert {len(report.plan.steps) for report in plans(dom="low", format="xml")} == {1}


def test_sub_tasks_name_problems_of_the_question():
    inputs = {step.input for report in plans(dom="high", format="xml") for step in report.plan.steps}

    assert any("Solve Problem 2." in text for text in inputs)
    assert not any("Problem 3" in text for text in inputs)
    single = plans(dom="high", format="xml", question=SINGLE)
    assert not any("Problem" in step.input for report in single for step in report.plan.steps)


def test_a_question_of_another_kind_gets_a_plan_too():
    assert all(report.valid for report in plans(dom="high", format="xml", question="What is 2 + 2?"))


def test_tool_calls_are_calls():
    messages = language.prompt_messages(CHAIN, dom="high", catalog=CATALOG, format="tools")
    choice = flawed().reply(messages, Params(tools=language.tools(CATALOG, "high"))).choices[0]

    assert choice.finish_reason is FinishReason.TOOL_CALLS
    assert all(isinstance(json.loads(call.arguments), dict) for call in choice.tool_calls)
