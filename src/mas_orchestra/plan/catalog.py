"""What the plan language knows of sub-agents: one card each.

The catalog is the single source of the tool schemas, the plan's JSON schema, the prompt's agent cards and the parser's
checks. Sub-agents live above this package, so it learns of them through the entry-point group
``mas_orchestra.agents``, through which the built-in ones are found just like those of outside packages.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Protocol, cast

from pydantic import BaseModel, ConfigDict

from mas_orchestra.errors import ConfigError, UnknownNameError

__all__ = ["ENTRY_POINT_GROUP", "AgentCard", "Catalog", "HasCard", "NoArguments", "installed_catalog"]

ENTRY_POINT_GROUP = "mas_orchestra.agents"


class NoArguments(BaseModel):
    """Arguments of a sub-agent that takes nothing but its input."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCard:
    """What an orchestrator is told of a sub-agent, and what the parser checks.

    Attributes:
        name: The name in plans, as ``CoTAgent``.
        summary: One sentence: what it does.
        good_at: One sentence: when to choose it.
        cost: Its price in words, as ``"5 calls"``.
        aliases: Other spellings that lenient mode accepts (letter case, ``-``, ``_`` and blanks aside).
        arguments: Model of its own arguments (beyond the input); it forbids extras.
        argument_tags: Tag in the xml format → argument name, where they differ (``debate_roles`` → ``roles``).
        max_calls: Most LLM calls of one step with these checked arguments, retries of empty replies included or not
            is up to the sub-agent's documentation; the executor enforces its budget in any case.
    """

    name: str
    summary: str
    good_at: str
    cost: str
    aliases: tuple[str, ...] = ()
    arguments: type[BaseModel] = NoArguments
    argument_tags: Mapping[str, str] = field(default_factory=dict)
    max_calls: Callable[[BaseModel], int] = lambda _: 1


class HasCard(Protocol):
    """Whatever carries an `AgentCard`: every sub-agent does."""

    @property
    def card(self) -> AgentCard:
        """Its card."""
        ...


class Catalog:
    """Cards by name, in registration order. Refuses a duplicate name and lists the known ones for an unknown one."""

    def __init__(self, cards: tuple[AgentCard, ...] = ()) -> None:
        self._cards: dict[str, AgentCard] = {}
        for card in cards:
            if card.name in self._cards:
                raise ConfigError(f"two sub-agents are named {card.name!r}; rename or remove one of them")
            self._cards[card.name] = card

    def __iter__(self) -> Iterator[AgentCard]:
        return iter(self._cards.values())

    def __len__(self) -> int:
        return len(self._cards)

    def __contains__(self, name: object) -> bool:
        return name in self._cards

    def __getitem__(self, name: str) -> AgentCard:
        try:
            return self._cards[name]
        except KeyError:
            raise UnknownNameError("sub-agent", name, self._cards) from None

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, in registration order."""
        return tuple(self._cards)


@cache
def installed_catalog() -> Catalog:
    """Cards of every installed sub-agent with its default options, built-in ones first in the order of the paper."""
    return Catalog(tuple(cast("HasCard", cast("Any", point.load())()).card for point in agent_entry_points()))


def agent_entry_points() -> tuple[Any, ...]:
    """Entry points of all installed sub-agents: ours in the paper's order, then others by name."""
    order = ("CoTAgent", "SCAgent", "DebateAgent", "ReflexionAgent", "WebSearchAgent")
    rank = {name: position for position, name in enumerate(order)}
    return tuple(
        sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: (rank.get(point.name, len(order)), point.name))
    )
