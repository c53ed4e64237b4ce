"""Places the nodes of a layered drawing: rows are levels, columns follow the neighbours above and below.

An edge over several rows gets a place in each row between, so that it runs beside the boxes and not under them
(the layered method of Sugiyama, Tagawa and Toda, 1981, with barycentres).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Layout", "layout"]

_SWEEPS = 8
_MOST_BENDS = 2_000
_BEND_WIDTH = 0.35
"""Width of a place that only an edge passes, in boxes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where everything is.

    Attributes:
        levels: Row of each node.
        columns: Column of each node, in boxes from the left.
        routes: For each edge its (row, column) points, bends included.
        width: Columns of the widest row.
        rows: Number of rows.
    """

    levels: tuple[int, ...]
    columns: tuple[float, ...]
    routes: tuple[tuple[tuple[int, float], ...], ...]
    width: float
    rows: int


def layout(size: int, edges: Sequence[tuple[int, int]], levels: Sequence[int]) -> Layout:
    """The places of `size` nodes with these edges and levels."""
    row_of = list(levels)
    chains = _chains(edges, row_of)
    rows = _rows(row_of)
    neighbours = _neighbours(chains, len(row_of))
    for sweep in range(_SWEEPS):
        _order(rows, neighbours, row_of, downwards=sweep % 2 == 0)
    widths = [1.0 if node < size else _BEND_WIDTH for node in range(len(row_of))]
    widest = max(sum(widths[node] for node in row) for row in rows)
    columns = _columns(rows, widths, widest)
    return Layout(
        levels=tuple(levels),
        columns=tuple(columns[:size]),
        routes=tuple(tuple((row_of[node], columns[node]) for node in chain) for chain in chains),
        width=widest,
        rows=len(rows),
    )


def _chains(edges: Sequence[tuple[int, int]], row_of: list[int]) -> list[list[int]]:
    """Each edge as a chain of nodes; bends are new nodes, appended to `row_of`, unless there would be too many."""
    bends = sum(max(0, row_of[target] - row_of[source] - 1) for source, target in edges)
    chains: list[list[int]] = []
    for source, target in edges:
        chain = [source]
        for row in range(row_of[source] + 1, row_of[target]) if bends <= _MOST_BENDS else ():
            chain.append(len(row_of))
            row_of.append(row)
        chains.append([*chain, target])
    return chains


def _rows(row_of: Sequence[int]) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in range(max(row_of, default=0) + 1)]
    for node, row in enumerate(row_of):
        rows[row].append(node)
    return rows


def _neighbours(chains: Sequence[Sequence[int]], size: int) -> list[list[int]]:
    neighbours: list[list[int]] = [[] for _ in range(size)]
    for chain in chains:
        for upper, lower in pairwise(chain):
            neighbours[upper].append(lower)
            neighbours[lower].append(upper)
    return neighbours


def _order(rows: list[list[int]], neighbours: list[list[int]], row_of: list[int], *, downwards: bool) -> None:
    """Sort every row by the mean place of its neighbours in the row before."""
    place = {node: position / max(1, len(row) - 1) for row in rows for position, node in enumerate(row)}
    step = 1 if downwards else -1
    for row in rows[::step]:
        means: dict[int, float] = {}
        for node in row:
            seen = [place[other] for other in neighbours[node] if (row_of[other] - row_of[node]) * step < 0]
            means[node] = sum(seen) / len(seen) if seen else place[node]
        row.sort(key=means.__getitem__)
        place.update({node: position / max(1, len(row) - 1) for position, node in enumerate(row)})


def _columns(rows: list[list[int]], widths: Sequence[float], widest: float) -> list[float]:
    """Left ends, every row centred; a bend's place is moved so that its middle is where a box's middle would be."""
    columns = [0.0] * len(widths)
    for row in rows:
        left = (widest - sum(widths[node] for node in row)) / 2
        for node in row:
            columns[node] = left - (1.0 - widths[node]) / 2
            left += widths[node]
    return columns
