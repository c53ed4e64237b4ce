"""What the plan language knows of sub-agents: one card each.

The catalog is the single source of the tool schemas, the plan's JSON schema, the prompt's agent cards and the parser's
checks. Sub-agents live above this package, so it learns of them through the entry-point group
``mas_orchestra.agents``, through which the built-in ones are found just like those of outside packages.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Literal, Protocol, cast

from pydantic import BaseModel, ConfigDict, Field, create_model

from mas_orchestra.errors import ConfigError, UnknownNameError
from mas_orchestra.plan.entry_point import load_agent
from mas_orchestra.plan.names import loose, slugs, undoubled

__all__ = ["ENTRY_POINT_GROUP", "AgentCard", "Catalog", "HasCard", "NoArguments", "installed_catalog"]

ENTRY_POINT_GROUP = "mas_orchestra.agents"
_RESERVED_NAMES = frozenset({"answer"})
"""Tool that gives a direct answer."""
_RESERVED_ARGUMENTS = frozenset(
    {
        "id",
        "agent",
        "description",
        "input",
        "arguments",
        "thinking",
        "think",
        "answer",
        "edge",
        "from",
        "to",
        "required_arguments",
        "agent_id",
        "agent_name",
        "agent_description",
        "agent_input",
        "agent_output_id",
    }
)
"""Keys and tags of the plan language itself."""


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

    @property
    def tags(self) -> dict[str, str]:
        """Tag in the xml format → argument, for every argument."""
        renamed = {argument: tag for tag, argument in self.argument_tags.items()}
        return {renamed.get(argument, argument): argument for argument in self.arguments.model_fields}


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
            _refuse_reserved(card)
            self._cards[card.name] = card
        self.slugs: Mapping[str, str] = slugs(self._cards)
        """Name → a name that providers accept for a tool."""
        self.tags_of: Mapping[str, Mapping[str, str]] = {card.name: card.tags for card in self._cards.values()}
        """Name → tag in the xml format → argument."""
        self.tags = frozenset(tag for tags in self.tags_of.values() for tag in tags)
        """Tags of all arguments in the xml format."""
        self._by_slug = {slug: name for name, slug in self.slugs.items()}
        self._aliases = _alias_table(self._cards.values())

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

    def get(self, name: str) -> AgentCard | None:
        """The card of `name`, or ``None``."""
        return self._cards.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, in registration order."""
        return tuple(self._cards)

    def of_slug(self, slug: str) -> str:
        """The name behind a tool's name; what is no slug of ours comes back as it is."""
        return self._by_slug.get(slug, slug)

    def resolve(self, spelling: str) -> str | None:
        """The name that a near miss means (`AgentCard.aliases`, a name written twice), or ``None``."""
        for candidate in (spelling, undoubled(spelling)):
            if candidate and (name := self._aliases.get(loose(candidate))):
                return name
        return None

    def with_models(self, menu: Mapping[str, str]) -> "Catalog":
        """The same cards, each with the optional argument ``model``, so that a plan can choose cheap or strong.

        Args:
            menu: Model (as the run's `models` name it) → blurb with its price, shown to the orchestrator.

        Raises:
            ConfigError: A sub-agent has an argument ``model`` of its own.
        """
        return Catalog(tuple(_with_model(card, menu) for card in self)) if menu else self


def _refuse_reserved(card: AgentCard) -> None:
    taken = _RESERVED_ARGUMENTS & {*card.tags, *card.arguments.model_fields}
    if card.name in _RESERVED_NAMES or taken:
        word = card.name if card.name in _RESERVED_NAMES else min(taken)
        raise ConfigError(f"sub-agent {card.name!r}: {word!r} is a word of the plan language; choose another name")


def _alias_table(cards: Iterable[AgentCard]) -> dict[str, str | None]:
    """Spelling → name; ``None`` where two sub-agents could be meant. A name of its own always wins."""
    table: dict[str, str | None] = {}
    for card in cards:
        for spelling in {loose(alias) for alias in (card.name.removesuffix("Agent"), *card.aliases)}:
            table[spelling] = None if table.get(spelling, card.name) != card.name else card.name
    table.update({loose(card.name): card.name for card in cards})
    return table


def _with_model(card: AgentCard, menu: Mapping[str, str]) -> AgentCard:
    if "model" in card.arguments.model_fields:
        raise ConfigError(f"sub-agent {card.name!r} has an argument 'model' of its own; a model menu needs that name")
    described = "Model for this step; leave it out for the default. " + "; ".join(
        f"{name}: {blurb}" for name, blurb in menu.items()
    )
    choice = Literal[tuple(menu)] | None  # type: ignore[valid-type]  # the menu is known only at run time
    arguments = create_model(
        card.arguments.__name__ + "WithModel",
        __base__=card.arguments,
        model=(choice, Field(default=None, description=described)),  # type: ignore[arg-type]  # as above
    )
    return replace(card, arguments=arguments)


@cache
def installed_catalog() -> Catalog:
    """Cards of every installed sub-agent with its default options, built-in ones first in the order of the paper."""
    return Catalog(tuple(cast("HasCard", load_agent(point)).card for point in agent_entry_points()))


def agent_entry_points() -> tuple[Any, ...]:
    """Entry points of all installed sub-agents: ours in the paper's order, then others by name."""
    order = ("CoTAgent", "SCAgent", "DebateAgent", "ReflexionAgent", "WebSearchAgent")
    rank = {name: position for position, name in enumerate(order)}
    return tuple(
        sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: (rank.get(point.name, len(order)), point.name))
    )
