"""``--agent NAME[:SIZE]``: one sub-agent that is given the whole question."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from mas_orchestra.errors import UnknownNameError, UsageError
from mas_orchestra.plan.catalog import Catalog
from mas_orchestra.types import JsonValue

__all__ = ["AgentChoice", "read_agent"]

DEBATERS = ("Domain expert", "Sceptical reviewer", "Careful calculator", "Generalist")
"""Roles of a debate that no orchestrator has cast."""
SIZE_OPTION = {"SCAgent": "samples", "ReflexionAgent": "rounds", "WebSearchAgent": "iterations"}
"""What a single number sets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentChoice:
    """A sub-agent with its options (how it is built) and arguments (what a plan would say)."""

    agent: str
    options: Mapping[str, JsonValue] = field(default_factory=dict)
    arguments: Mapping[str, JsonValue] = field(default_factory=dict)


def read_agent(text: str, catalog: Catalog) -> AgentChoice:
    """The choice that ``NAME[:SIZE]`` makes; names and aliases count letter case, hyphens and blanks aside.

    Raises:
        UnknownNameError: No such sub-agent is installed.
        UsageError: A size that this sub-agent does not have.
    """
    word, colon, size = text.partition(":")
    agent = _named(word, catalog)
    if agent == "DebateAgent":
        return _debate(text, size if colon else "2x5")
    if not colon:
        return AgentChoice(agent=agent)
    option = SIZE_OPTION.get(agent)
    if option is None:
        raise UsageError(f"--agent {text}: {agent} has no size; give {word} alone")
    if not re.fullmatch(r"[0-9]{1,4}", size):
        raise UsageError(f"--agent {text}: got {size!r}; give the number of {option}, as {word}:5")
    return AgentChoice(agent=agent, options={option: int(size)})


def _named(word: str, catalog: Catalog) -> str:
    by_alias = {_loose(alias): card.name for card in catalog for alias in (card.name, *card.aliases)}
    try:
        return by_alias[_loose(word)]
    except KeyError:
        raise UnknownNameError("sub-agent", word, (*catalog.names, *_SHORT)) from None


def _debate(text: str, size: str) -> AgentChoice:
    match = re.fullmatch(r"([0-9]{1,2})x([0-9]{1,2})", size)
    if match is None:
        raise UsageError(f"--agent {text}: got {size!r}; give debaters x rounds, as debate:3x5")
    number, rounds = int(match[1]), int(match[2])
    roles: list[JsonValue] = [
        *DEBATERS[:number],
        *(f"Debater {count}" for count in range(len(DEBATERS) + 1, number + 1)),
    ]
    return AgentChoice(agent="DebateAgent", options={"rounds": rounds}, arguments={"roles": roles})


_SHORT = ("cot", "sc", "debate", "reflexion", "search")


def _loose(name: str) -> str:
    return re.sub(r"[-_\s]", "", name).casefold()
