"""The sub-agents of a run, by name."""

from collections.abc import Iterable, Iterator

from mas_orchestra.agents.base import SubAgent
from mas_orchestra.errors import UnknownNameError
from mas_orchestra.plan.catalog import Catalog

__all__ = ["Registry"]


class Registry:
    """Sub-agents with their options. Refuses a duplicate name; an unknown one lists the known and the nearest."""

    def __init__(self, agents: Iterable[SubAgent]) -> None:
        found = tuple(agents)
        self.catalog = Catalog(tuple(agent.card for agent in found))
        self._agents = {agent.card.name: agent for agent in found}

    def __iter__(self) -> Iterator[SubAgent]:
        return iter(self._agents.values())

    def __getitem__(self, name: str) -> SubAgent:
        try:
            return self._agents[name]
        except KeyError:
            raise UnknownNameError("sub-agent", name, self._agents) from None
