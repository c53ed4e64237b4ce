"""``--agent NAME[:SIZE]`` finds any installed sub-agent and sets its size."""

import pytest

from mas_orchestra.agents.registry import Registry
from mas_orchestra.cli.agent_choice import read_agent
from mas_orchestra.errors import UnknownNameError, UsageError
from mas_orchestra.plan.catalog import installed_catalog


@pytest.mark.parametrize(
    ("text", "agent", "options"),
    [
        ("cot", "CoTAgent", {}),
        ("CoTAgent", "CoTAgent", {}),
        ("chain-of-thought", "CoTAgent", {}),
        ("sc", "SCAgent", {}),
        ("sc:7", "SCAgent", {"samples": 7}),
        ("reflexion:3", "ReflexionAgent", {"rounds": 3}),
        ("search:4", "WebSearchAgent", {"iterations": 4}),
        ("Web Search", "WebSearchAgent", {}),
        ("debate:3x2", "DebateAgent", {"rounds": 2}),
    ],
)
def test_names_aliases_and_sizes(text, agent, options):
    choice = read_agent(text, installed_catalog())

    assert (choice.agent, dict(choice.options)) == (agent, options)
    assert agent in Registry.installed({choice.agent: choice.options}).catalog


@pytest.mark.parametrize(("text", "count"), [("debate", 2), ("debate:3x5", 3), ("debate:6x1", 6), ("debate:16x1", 16)])
def test_a_debate_has_as_many_different_roles_as_asked_for(text, count):
    choice = read_agent(text, installed_catalog())
    roles = choice.arguments["roles"]

    assert len(roles) == len(set(roles)) == count
    assert len(installed_catalog()["DebateAgent"].arguments(**choice.arguments).roles) == count


@pytest.mark.parametrize(
    "text", ["sc:", "sc:x", "sc:1.5", "sc:-1", "sc:3x5", "debate:3", "debate:3x", "debate:x5", "cot:3"]
)
def test_a_size_that_makes_no_sense_is_refused_with_an_example(text):
    with pytest.raises(UsageError, match=f"--agent {text}: .* give "):
        read_agent(text, installed_catalog())


@pytest.mark.parametrize("text", ["", "cott", "nothing:3"])
def test_an_unknown_name_lists_the_known_ones(text):
    with pytest.raises(UnknownNameError, match=r"Known: .*CoTAgent.*cot"):
        read_agent(text, installed_catalog())


def test_a_near_miss_is_named():
    with pytest.raises(UnknownNameError, match="Did you mean 'reflexion'"):
        read_agent("reflexon", installed_catalog())
