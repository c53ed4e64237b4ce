"""Depth, breadth and the other sizes of a system of equations; linear in its edges, without recursion."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from mas_orchestra.masbench.expression import Combination
from mas_orchestra.masbench.system import System, UnsolvableTextError

__all__ = ["Measurement", "components", "measure"]

_MOST_CYCLES = 20
"""Circles that are listed; a text can hold more of them than it has words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Sizes over the quantities that the asked ones need, unless said otherwise; category totals count as quantities.

    Attributes:
        depth: Quantities on the longest chain that ends at an asked one, constants included; ``None`` on a circle.
        breadth: Largest number of distinct quantities that one is computed from.
        horizon: Most asked quantities in one connected component.
        parallel: Connected components.
        needed: How many quantities.
        operations: Additions, subtractions and multiplications of two numbers.
        equalities: Quantities that merely equal another one.
        text_depth: `depth` over the whole text; ``None`` on a circle.
        text_breadth: `breadth` over the whole text.
        cycles: Circles of quantities that need themselves, anywhere in the text; 20 at most.
        undefined: Quantities mentioned anywhere and never defined, totals over nothing included.
    """

    depth: int | None
    breadth: int
    horizon: int
    parallel: int
    needed: int
    operations: int
    equalities: int
    text_depth: int | None
    text_breadth: int
    cycles: tuple[tuple[str, ...], ...]
    undefined: tuple[str, ...]


def measure(system: System, targets: Collection[str]) -> Measurement:
    """The sizes of the system as seen from the asked quantities."""
    everything = _reached(system, [*system.definitions, *system.names])
    cycles = _cycles(system, everything)
    needed = _reached(system, targets)
    component = components(system, needed)
    return Measurement(
        depth=_longest_chain(system, targets),
        breadth=max((len(system.parents(key)) for key in needed), default=0),
        horizon=max(Counter(component[target] for target in set(targets)).values(), default=0),
        parallel=len(set(component.values())),
        needed=len(needed),
        operations=sum(_operations(system, key) for key in needed),
        equalities=sum(_is_equality(system, key) for key in needed),
        text_depth=_longest_chain(system, everything),
        text_breadth=max((len(system.parents(key)) for key in everything), default=0),
        cycles=cycles,
        undefined=tuple(key for key in everything if key not in system.definitions),
    )


def components(system: System, keys: Iterable[str]) -> Mapping[str, str]:
    """One quantity of its connected component for every quantity of `keys`, which must hold what its members need."""
    leader = {key: key for key in keys}
    for key in leader:
        for parent in system.parents(key):
            leader[_leader(leader, parent)] = _leader(leader, key)
    return {key: _leader(leader, key) for key in leader}


def _leader(leader: dict[str, str], key: str) -> str:
    while leader[key] != key:
        leader[key] = leader[leader[key]]
        key = leader[key]
    return key


def _reached(system: System, targets: Iterable[str]) -> dict[str, None]:
    """What the targets need, themselves included, in the order of finding; circles do no harm."""
    found = dict.fromkeys(targets)
    queue = list(found)
    for key in queue:
        for parent in system.parents(key):
            if parent not in found:
                found[parent] = None
                queue.append(parent)
    return found


def _longest_chain(system: System, targets: Iterable[str]) -> int | None:
    try:
        order = system.needed(targets)
    except UnsolvableTextError:
        return None  # a chain that comes back to itself has no length
    depth: dict[str, int] = {}
    for key in order:
        depth[key] = 1 + max((depth[parent] for parent in system.parents(key)), default=0)
    return max(depth.values(), default=0)


def _operations(system: System, key: str) -> int:
    definition = system.definitions.get(key)
    if definition is None:
        return 0
    additions = max(0, len(definition.products) - 1)
    products = sum(len(keys) - 1 for _, keys in definition.products)
    return additions + products + (len(definition.expression.prefixes) if definition.expression else 0)


def _is_equality(system: System, key: str) -> bool:
    definition = system.definitions.get(key)
    expression = definition.expression if definition else None
    return expression is not None and expression.combination is Combination.ONE and not expression.prefixes


def _cycles(system: System, keys: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Circles that a depth-first walk closes, as the quantities on them: one where there is any, 20 at most."""
    finished: set[str] = set()
    path: dict[str, None] = {}
    found: list[tuple[str, ...]] = []
    stack = [(key, False) for key in keys]
    while stack:
        key, is_left = stack.pop()
        if is_left:
            del path[key]
            finished.add(key)
        elif key in path and len(found) < _MOST_CYCLES:
            steps = list(path)
            found.append(tuple(steps[steps.index(key) :]))
        elif key not in finished and key not in path:
            path[key] = None
            stack.append((key, True))
            stack.extend((parent, False) for parent in system.parents(key))
    return tuple(found)
