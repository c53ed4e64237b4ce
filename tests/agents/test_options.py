"""Every number is an option, and a wrong one says which are right."""

import pytest

from mas_orchestra.agents import CoTAgent, DebateAgent, ReflexionAgent, SCAgent, WebSearchAgent
from mas_orchestra.errors import ConfigError


def test_defaults_are_the_papers():
    assert SCAgent().samples == 5
    assert DebateAgent().rounds == 5
    assert ReflexionAgent().rounds == 5
    search = WebSearchAgent()
    assert (search.iterations, search.tool_calls, search.results, search.page_chars) == (5, 5, 5, 10_000)
    for agent in (CoTAgent(), SCAgent(), DebateAgent(), ReflexionAgent(), search):
        assert (agent.temperature, agent.format_retries) == (0.5, 5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: SCAgent(samples=0),
            r"SCAgent: samples = 0 is not accepted; give an integer from 1 to 128 \(default 5\)",
        ),
        (lambda: SCAgent(samples="7"), "samples = '7' is not accepted; give an integer from 1 to 128"),
        (lambda: SCAgent(samples=True), "samples = True is not accepted"),
        (lambda: SCAgent(early_stop=1), "early_stop = 1 is not accepted; give true or false"),
        (lambda: CoTAgent(temperature=3), "temperature = 3 is not accepted; give a number from 0 to 2"),
        (lambda: CoTAgent(temperature=float("nan")), "temperature = nan is not accepted"),
        (lambda: CoTAgent(max_tokens=0), "give an integer or none, at least 1"),
        (lambda: SCAgent(sample=7), "unknown option 'sample'. Did you mean 'samples'. Known: early_stop, "),
        (lambda: DebateAgent(rounds=0, quoted_chars=5), "rounds = 0 .*; quoted_chars = 5 "),
    ],
)
def test_a_wrong_option_names_itself_its_value_and_what_is_accepted(make, message):
    with pytest.raises(ConfigError, match=message.replace("samples'.", r"samples'\?")):
        make()


def test_options_do_not_change_afterwards():
    with pytest.raises(ValueError, match="frozen"):
        SCAgent().samples = 7
