"""The graph of a plan: cycles, sinks, components and levels, in O(steps + edges) and without recursion.

Nodes are numbers 0 … n-1 in plan order.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Graph", "Shape"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a plan looks like.

    Attributes:
        levels: Level of each node: the longest chain of nodes before it.
        width: Most nodes on one level.
        length: Nodes on the longest chain.
    """

    levels: tuple[int, ...]
    width: int
    length: int


class Graph:
    """A directed graph; self-loops and repeated edges are the caller's to keep out."""

    def __init__(self, size: int, edges: Iterable[tuple[int, int]]) -> None:
        self.size = size
        self.targets: list[list[int]] = [[] for _ in range(size)]
        self.sources: list[list[int]] = [[] for _ in range(size)]
        for source, target in edges:
            self.targets[source].append(target)
            self.sources[target].append(source)

    def sinks(self) -> list[int]:
        """Nodes that no other reads."""
        return [node for node in range(self.size) if not self.targets[node]]

    def shape(self) -> Shape | None:
        """Levels by Kahn's algorithm, or ``None`` when there is a cycle."""
        missing = [len(sources) for sources in self.sources]
        ready = deque(node for node in range(self.size) if not missing[node])
        levels = [0] * self.size
        done = 0
        while ready:
            node = ready.popleft()
            done += 1
            for target in self.targets[node]:
                levels[target] = max(levels[target], levels[node] + 1)
                missing[target] -= 1
                if not missing[target]:
                    ready.append(target)
        if done < self.size:
            return None
        counts = [0] * (max(levels, default=-1) + 1)
        for level in levels:
            counts[level] += 1
        return Shape(levels=tuple(levels), width=max(counts, default=0), length=len(counts))

    def components(self) -> list[list[int]]:
        """Nodes that hang together, directions aside."""
        component = [-1] * self.size
        found: list[list[int]] = []
        for start in range(self.size):
            if component[start] >= 0:
                continue
            component[start] = len(found)
            members = [start]
            for node in members:  # grows while it is walked
                for other in (*self.targets[node], *self.sources[node]):
                    if component[other] < 0:
                        component[other] = len(found)
                        members.append(other)
            found.append(sorted(members))
        return found

    def knots(self) -> list[list[int]]:
        """Strongly connected components of two nodes or more (Tarjan, 1972): every cycle lies in one of them."""
        return [sorted(component) for component in _strong_components(self.targets) if len(component) > 1]

    def cycle_in(self, knot: Sequence[int]) -> list[int]:
        """One shortest cycle through the first node of a knot, that node first."""
        members, start = set(knot), knot[0]
        came_from = {start: start}
        queue = deque([start])
        while queue:
            node = queue.popleft()
            for target in self.targets[node]:
                if target == start:
                    return _path(came_from, start, node)
                if target in members and target not in came_from:
                    came_from[target] = node
                    queue.append(target)
        raise AssertionError("every node of a strongly connected component lies on a cycle")


def _path(came_from: dict[int, int], start: int, end: int) -> list[int]:
    path = [end]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return path[::-1]


def _strong_components(targets: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    walk = _Tarjan(targets)
    for root in range(len(targets)):
        if root not in walk.order:
            yield from walk.components_from(root)


class _Tarjan:
    """Tarjan's algorithm with an explicit stack of (node, edges still to follow)."""

    def __init__(self, targets: Sequence[Sequence[int]]) -> None:
        self.order: dict[int, int] = {}
        self._targets = targets
        self._low = [0] * len(targets)
        self._waiting: list[int] = []
        self._is_waiting = [False] * len(targets)
        self._path: list[tuple[int, Iterator[int]]] = []

    def components_from(self, root: int) -> Iterator[list[int]]:
        """Components among the nodes that are reachable from `root` and were not visited before."""
        low, order = self._low, self.order
        self._enter(root)
        while self._path:
            node, rest = self._path[-1]
            target = next(rest, None)
            if target is None:
                self._path.pop()
                if self._path:
                    parent = self._path[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == order[node]:
                    yield self._leave(node)
            elif target not in order:
                self._enter(target)
            elif self._is_waiting[target]:
                low[node] = min(low[node], order[target])

    def _enter(self, node: int) -> None:
        self.order[node] = self._low[node] = len(self.order)
        self._waiting.append(node)
        self._is_waiting[node] = True
        self._path.append((node, iter(self._targets[node])))

    def _leave(self, node: int) -> list[int]:
        position = len(self._waiting) - 1
        while self._waiting[position] != node:
            position -= 1
        component = self._waiting[position:]
        del self._waiting[position:]
        for member in component:
            self._is_waiting[member] = False
        return component
