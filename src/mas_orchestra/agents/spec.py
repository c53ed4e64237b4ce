"""Short names of sub-agents with their most important number, as ``sc:5`` or ``debate:3x5``."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from mas_orchestra.errors import ConfigError, nearest
from mas_orchestra.plan.catalog import Catalog, installed_catalog
from mas_orchestra.types import JsonValue

__all__ = ["ACCEPTED_FORMS", "STANDALONE_ROLES", "AgentSpec", "parse_agent_spec"]

ACCEPTED_FORMS = "cot, sc[:SAMPLES], debate[:ROLES[xROUNDS]], reflexion[:ROUNDS], search[:ITERATIONS]"

STANDALONE_ROLES = (
    "Domain expert",
    "Sceptical reviewer",
    "Thinker from first principles",
    "Practical problem solver",
    "Careful fact checker",
    "Devil's advocate",
    "Statistician",
    "Teacher",
)
"""Roles of a debate that no orchestrator has cast, the first n of them."""

_SIZE = {"SCAgent": "samples", "ReflexionAgent": "rounds", "WebSearchAgent": "iterations"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """A sub-agent to be used by itself.

    Attributes:
        agent: Its name, as ``DebateAgent``.
        options: For `Registry.only` or `Registry.installed`, under that name.
        arguments: Of the one step, as in a plan.
    """

    agent: str
    options: Mapping[str, JsonValue] = field(default_factory=dict)
    arguments: Mapping[str, JsonValue] = field(default_factory=dict)


def parse_agent_spec(text: str, catalog: Catalog | None = None) -> AgentSpec:
    """The sub-agent that a short name means; what it leaves out has the paper's default.

    Full names, aliases and the sub-agents of other packages are names too.

    >>> parse_agent_spec("sc:5")
    AgentSpec(agent='SCAgent', options={'samples': 5}, arguments={})
    >>> parse_agent_spec("debate:2x3").options
    {'rounds': 3}

    Args:
        text: ``NAME`` or ``NAME:SIZE``.
        catalog: Where names are looked up; the installed sub-agents by default.

    Raises:
        ConfigError: Not one of the accepted forms, or no such sub-agent.
    """
    known = installed_catalog() if catalog is None else catalog
    name, colon, size = text.strip().partition(":")
    agent = known.resolve(name)
    if agent is None:
        hint = f" Did you mean {close!r}?" if (close := nearest(name, _spellings(known))) else ""
        raise ConfigError(f"{text!r} names no sub-agent.{hint} Accepted: {_accepted(known)}")
    if agent == "DebateAgent":
        return _debate(text, size if colon else "2")
    if not colon:
        return AgentSpec(agent=agent)
    if agent not in _SIZE or not re.fullmatch(r"[0-9]{1,4}", size):
        reason = f"{size!r} is not the number of {_SIZE[agent]}" if agent in _SIZE else f"{agent} has no size"
        raise ConfigError(f"{text!r}: {reason}. Accepted: {_accepted(known)}")
    return AgentSpec(agent=agent, options={_SIZE[agent]: int(size)})


def _debate(text: str, size: str) -> AgentSpec:
    match = re.fullmatch(r"([0-9]{1,2})(?:x([0-9]{1,2}))?", size)
    if match is None or not 2 <= int(match[1]) <= len(STANDALONE_ROLES):
        raise ConfigError(
            f"{text!r}: {size!r} is not ROLES or ROLESxROUNDS with 2 to {len(STANDALONE_ROLES)} roles, "
            f"as in debate:3x5. Accepted: {ACCEPTED_FORMS}"
        )
    return AgentSpec(
        agent="DebateAgent",
        options={"rounds": int(match[2])} if match[2] else {},
        arguments={"roles": list(STANDALONE_ROLES[: int(match[1])])},
    )


def _accepted(catalog: Catalog) -> str:
    return f"{ACCEPTED_FORMS}, or any of {', '.join(catalog.names)}"


def _spellings(catalog: Catalog) -> list[str]:
    return [spelling for card in catalog for spelling in (card.name, *card.aliases)]
