"""The sub-agents of a run, by name."""

from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint
from typing import cast

from mas_orchestra.agents.base import SubAgent
from mas_orchestra.errors import UnknownNameError
from mas_orchestra.plan.catalog import Catalog, agent_entry_points
from mas_orchestra.plan.entry_point import load_agent

__all__ = ["Registry"]

Options = Mapping[str, Mapping[str, object]]
"""Options by sub-agent name: ``{"SCAgent": {"samples": 7}}``."""


class Registry:
    """Sub-agents with their options. Refuses a duplicate name; an unknown one lists the known and the nearest.

    >>> registry = Registry.only("CoTAgent", "SCAgent", options={"SCAgent": {"samples": 7}})
    >>> registry.catalog.names, registry["SCAgent"].card.cost
    (('CoTAgent', 'SCAgent'), '7 calls at the same time')
    """

    def __init__(self, agents: Iterable[SubAgent]) -> None:
        found = tuple(agents)
        self.catalog = Catalog(tuple(agent.card for agent in found))
        self._agents = {agent.card.name: agent for agent in found}
        self._menus: dict[tuple[tuple[str, str], ...], Catalog] = {}

    def catalog_with(self, menu: Mapping[str, str]) -> Catalog:
        """`Catalog.with_models`, made once a menu: prompts and schemas are kept by catalog."""
        if not menu:
            return self.catalog
        key = tuple(menu.items())
        if key not in self._menus:
            self._menus[key] = self.catalog.with_models(menu)
        return self._menus[key]

    @classmethod
    def installed(cls, options: Options | None = None) -> "Registry":
        """Every installed sub-agent, those of other packages included.

        Raises:
            UnknownNameError: Options for a sub-agent that is not installed.
            ConfigError: A wrong option, or a package whose sub-agent cannot be loaded.
        """
        return cls._build(tuple(agent_entry_points()), options or {})

    @classmethod
    def only(cls, *names: str, options: Options | None = None) -> "Registry":
        """The installed sub-agents of these names, in this order; the packages of others are not even imported.

        Raises:
            UnknownNameError: A name that is not installed, or options for one that is not asked for.
            ConfigError: As `installed`.
        """
        points = {point.name: point for point in agent_entry_points()}
        for name in names:
            if name not in points:
                raise UnknownNameError("sub-agent", name, points)
        return cls._build(tuple(points[name] for name in names), options or {})

    @classmethod
    def _build(cls, points: tuple[EntryPoint, ...], options: Options) -> "Registry":
        for name in options:
            if name not in {point.name for point in points}:
                raise UnknownNameError("sub-agent", name, [point.name for point in points])
        return cls(cast("SubAgent", load_agent(point, options.get(point.name, {}))) for point in points)

    def with_agents(self, *agents: SubAgent) -> "Registry":
        """These sub-agents too; one whose name is known takes the place of the known one."""
        return Registry({**self._agents, **{agent.card.name: agent for agent in agents}}.values())

    def __iter__(self) -> Iterator[SubAgent]:
        return iter(self._agents.values())

    def __len__(self) -> int:
        return len(self._agents)

    def __contains__(self, name: object) -> bool:
        return name in self._agents

    def __getitem__(self, name: str) -> SubAgent:
        try:
            return self._agents[name]
        except KeyError:
            raise UnknownNameError("sub-agent", name, self._agents) from None
