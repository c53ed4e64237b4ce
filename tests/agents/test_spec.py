"""Short names of standalone sub-agents."""

import pytest

from mas_orchestra.agents import AgentContext, CoTAgent, Registry, StepCall, sub_agent
from mas_orchestra.agents.spec import ACCEPTED_FORMS, STANDALONE_ROLES, parse_agent_spec
from mas_orchestra.errors import ConfigError


@sub_agent
async def Extra(context: AgentContext, call: StepCall) -> str:  # noqa: N802  (named like a class)
    """Is one more."""
    return "extra"


@pytest.mark.parametrize(
    ("text", "agent", "options", "roles"),
    [
        ("cot", "CoTAgent", {}, None),
        ("sc", "SCAgent", {}, None),
        ("sc:7", "SCAgent", {"samples": 7}, None),
        (" SC:7 ", "SCAgent", {"samples": 7}, None),
        ("debate", "DebateAgent", {}, 2),
        ("debate:3", "DebateAgent", {}, 3),
        ("debate:3x5", "DebateAgent", {"rounds": 5}, 3),
        ("reflexion:5", "ReflexionAgent", {"rounds": 5}, None),
        ("search", "WebSearchAgent", {}, None),
        ("web-search:3", "WebSearchAgent", {"iterations": 3}, None),
        ("CoTAgent", "CoTAgent", {}, None),
        ("DebateAgent:2x1", "DebateAgent", {"rounds": 1}, 2),
        ("search:3", "WebSearchAgent", {"iterations": 3}, None),
    ],
)
def test_short_names_mean_a_sub_agent_with_options_and_arguments(text, agent, options, roles):
    spec = parse_agent_spec(text)

    assert (spec.agent, spec.options) == (agent, options)
    assert spec.arguments == ({} if roles is None else {"roles": list(STANDALONE_ROLES[:roles])})
    built = Registry.only(spec.agent, options={spec.agent: spec.options})[spec.agent]
    assert built.card.arguments(**spec.arguments)


@pytest.mark.parametrize(
    "text",
    ["", "cot:5", "sc:", "sc:x", "sc:3x5", "sc:-1", "sc:5.0", "debate:x5", "debate:3x", "debat", "a:b:c", "sc:99999"],
)
def test_anything_else_lists_the_accepted_forms(text):
    with pytest.raises(ConfigError) as caught:
        parse_agent_spec(text)

    assert ACCEPTED_FORMS in str(caught.value)
    assert repr(text) in str(caught.value)


def test_an_unknown_name_gets_a_suggestion():
    with pytest.raises(ConfigError, match=r"'debat:3x5' names no sub-agent. Did you mean 'debate'"):
        parse_agent_spec("debat:3x5")


def test_a_sub_agent_of_another_package_is_a_name_without_size():
    catalog = Registry([CoTAgent(), Extra]).catalog

    assert parse_agent_spec("extra", catalog).agent == "Extra"
    with pytest.raises(ConfigError, match="Extra has no size"):
        parse_agent_spec("extra:3", catalog)


@pytest.mark.parametrize("text", ["debate:1", "debate:0x5", "debate:9x2"])
def test_a_debate_has_at_least_two_roles_and_no_more_than_are_named(text):
    with pytest.raises(ConfigError, match="2 to 8 roles"):
        parse_agent_spec(text)


def test_numbers_out_of_range_are_refused_by_the_sub_agent():
    spec = parse_agent_spec("sc:999")

    with pytest.raises(ConfigError, match="samples = 999 is not accepted; give an integer from 1 to 128"):
        Registry.only(spec.agent, options={spec.agent: spec.options})
