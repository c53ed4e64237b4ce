"""Short names of sub-agents with their most important number, as ``sc:5`` or ``debate:3x5``."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mas_orchestra.errors import ConfigError
from mas_orchestra.types import JsonValue

__all__ = ["ACCEPTED_FORMS", "STANDALONE_ROLES", "AgentSpec", "parse_agent_spec"]

ACCEPTED_FORMS = "cot, sc[:SAMPLES], debate[:ROLES[xROUNDS]], reflexion[:ROUNDS], search[:ITERATIONS]"

STANDALONE_ROLES = (
    "an expert of the task's field",
    "a sceptical reviewer who checks every step",
    "a thinker who starts from first principles",
    "a practical problem solver",
    "a careful fact checker",
    "a devil's advocate",
    "a statistician",
    "a teacher who explains simply",
)
"""Roles of a debate that no orchestrator set up, the first n of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """A sub-agent to be used by itself.

    Attributes:
        agent: Its name, as ``DebateAgent``.
        options: For `Registry.only` or `Registry.installed`, under that name.
        arguments: Of the one step, as in a plan.
    """

    agent: str
    options: Mapping[str, object] = field(default_factory=dict)
    arguments: Mapping[str, JsonValue] = field(default_factory=dict)


def parse_agent_spec(text: str) -> AgentSpec:
    """The sub-agent that a short name means; what it leaves out has the paper's default.

    >>> parse_agent_spec("sc:5")
    AgentSpec(agent='SCAgent', options={'samples': 5}, arguments={})
    >>> parse_agent_spec("debate:2x3").options
    {'rounds': 3}

    Raises:
        ConfigError: Not one of the accepted forms, or a number without meaning.
    """
    match = re.fullmatch(r"([a-z]+)(?::([0-9]{1,4}(?:x[0-9]{1,4})?))?", text.strip().lower())
    reader = _READERS.get(match[1]) if match else None
    spec = reader(match[2] or "") if match and reader else None
    if spec is None:
        raise ConfigError(f"{text!r} names no sub-agent; accepted: {ACCEPTED_FORMS}")
    return spec


def _with_count(agent: str, option: str) -> Callable[[str], AgentSpec | None]:
    def read(number: str) -> AgentSpec | None:
        if "x" in number:
            return None
        return AgentSpec(agent=agent, options={option: int(number)} if number else {})

    return read


def _debate(numbers: str) -> AgentSpec:
    roles, _, rounds = numbers.partition("x")
    count = int(roles or 2)
    if not 2 <= count <= len(STANDALONE_ROLES):
        raise ConfigError(
            f"'debate:{numbers}' asks for {count} roles; accepted are 2 to {len(STANDALONE_ROLES)}, "
            "as in debate:3x5 (3 roles, 5 rounds)"
        )
    return AgentSpec(
        agent="DebateAgent",
        options={"rounds": int(rounds)} if rounds else {},
        arguments={"roles": list(STANDALONE_ROLES[:count])},
    )


_READERS: Mapping[str, Callable[[str], AgentSpec | None]] = {
    "cot": lambda number: None if number else AgentSpec(agent="CoTAgent"),
    "sc": _with_count("SCAgent", "samples"),
    "debate": _debate,
    "reflexion": _with_count("ReflexionAgent", "rounds"),
    "search": _with_count("WebSearchAgent", "iterations"),
}
