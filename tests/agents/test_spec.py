"""Short names of standalone sub-agents."""

import pytest

from mas_orchestra.agents import Registry
from mas_orchestra.agents.spec import ACCEPTED_FORMS, STANDALONE_ROLES, parse_agent_spec
from mas_orchestra.errors import ConfigError


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


@pytest.mark.parametrize("text", ["debate:1", "debate:0x5", "debate:9x2"])
def test_a_debate_has_at_least_two_roles_and_no_more_than_are_named(text):
    with pytest.raises(ConfigError, match="accepted are 2 to 8"):
        parse_agent_spec(text)


def test_numbers_out_of_range_are_refused_by_the_sub_agent():
    spec = parse_agent_spec("sc:999")

    with pytest.raises(ConfigError, match="samples = 999 is not accepted; give an integer from 1 to 128"):
        Registry.only(spec.agent, options={spec.agent: spec.options})
