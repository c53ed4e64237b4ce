"""Names for quantities: who owns what, drawn from the pools of a split.

A component lives on one chain of categories and has a few names on each of its four layers; a quantity is an owner on
one layer and an item on the next. Components never share a name, nor do train and test, and no name is part of another.
"""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from random import Random
from typing import NamedTuple

from mas_orchestra.errors import UsageError
from mas_orchestra.masbench.categories import CHAINS
from mas_orchestra.masbench.problem import Form, Name, Split
from mas_orchestra.masbench.structure import MOST_TOTALS, Component

__all__ = ["Sink", "check_capacity", "name_components", "nth_sink", "pools", "sinks", "vocabulary"]

_SPARE = 1.3
"""Owner-item pairs a component has for each one that it uses."""

Pools = tuple[tuple[tuple[str, ...], ...], ...]
"""Names by chain and layer."""


class Sink(NamedTuple):
    """Which pair of names the first component's final quantity gets."""

    chain: int
    layer: int
    owner: str
    item: str


@cache
def vocabulary() -> dict[str, tuple[str, ...]]:
    """All names by category."""
    text = files("mas_orchestra.masbench").joinpath("vocabulary.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return {category: tuple(names.strip().split(", ")) for category, names in (line.split(":") for line in lines)}


@cache
def pools(split: Split) -> Pools:
    """The names that a split may use: of every three the first two for train, the third for test."""
    wanted = (2,) if split is Split.TEST else (0, 1)

    def part(category: str) -> tuple[str, ...]:
        return tuple(name for place, name in enumerate(vocabulary()[category]) if place % 3 in wanted)

    return tuple(tuple(part(category) for category in chain) for chain in CHAINS)


@cache
def sinks(split: Split) -> int:
    """How many different pairs a final quantity can have."""
    return sum(len(owners) * len(items) for layers in pools(split) for owners, items in pairwise(layers))


def nth_sink(split: Split, number: int) -> Sink:
    """The pair with this number, counted through all chains, layers, owners and items."""
    for chain, layers in enumerate(pools(split)):
        for layer, (owners, items) in enumerate(pairwise(layers)):
            if number < len(owners) * len(items):
                return Sink(chain, layer, owners[number // len(items)], items[number % len(items)])
            number -= len(owners) * len(items)
    raise IndexError(number)


def _width(quantities: int, b: int, *, abstract: bool) -> int:
    """Names on each layer of a component with so many stated quantities."""
    width = 2
    while 3 * width * width < _SPARE * quantities:
        width += 1
    return max(width, b) if abstract else width


def check_capacity(split: Split, *, statements: int, b: int, p: int, abstract: bool) -> None:
    """Refuses sizes for which the split has too few names, whatever the draw.

    Raises:
        UsageError: States how many names are needed and available.
    """
    spare = MOST_TOTALS if abstract else 0
    width = _width(-(-statements // p) + spare, b, abstract=abstract) + spare
    sharing = -(-p // len(CHAINS))
    available = min(len(names) for layers in pools(split) for names in layers)
    if width * sharing > available:
        raise UsageError(
            f"statements T={statements} over p={p} component(s) need {width * sharing} names in every category, "
            f"the {split} vocabulary has {available}; lower T or p"
        )


def name_components(components: Sequence[Component], sink: Sink, split: Split, b: int, rng: Random) -> list[list[Name]]:
    """Owner and item of every node; the first component's final quantity is named `sink`, unless it is a total."""
    others = [chain for chain in range(len(CHAINS)) if chain != sink.chain]
    rng.shuffle(others)
    chains = (sink.chain, *others)
    drawers: dict[int, _Drawer] = {}
    named = []
    for number, component in enumerate(components):
        chain = chains[number % len(chains)]
        if chain not in drawers:
            drawers[chain] = _Drawer(chain, split, sink if number == 0 else None, rng)
        named.append(_name(component, drawers[chain], sink.layer if number == 0 else rng.randrange(3), b, rng))
    return named


class _Drawer:
    """Hands out the names of one chain, each once."""

    def __init__(self, chain: int, split: Split, first: Sink | None, rng: Random) -> None:
        self.chain = chain
        self._rng = rng
        self._left = [list(names) for names in pools(split)[chain]]
        self._promised: dict[int, str] = {}
        if first:
            for layer, name in ((first.layer, first.owner), (first.layer + 1, first.item)):
                self._left[layer].remove(name)
                self._promised[layer] = name

    def draw(self, layer: int, count: int) -> list[str]:
        """`count` names of a layer, a promised one first."""
        drawn = [self._promised.pop(layer)] if layer in self._promised else []
        left = self._left[layer]
        while len(drawn) < count:
            place = self._rng.randrange(len(left))
            left[place], left[-1] = left[-1], left[place]
            drawn.append(left.pop())
        return drawn


def _name(component: Component, drawer: _Drawer, sink_layer: int, b: int, rng: Random) -> list[Name]:
    totals = [node for node in range(component.needed) if component.forms[node] is Form.TOTAL]
    width = _width(len(component.parents) - len(totals), b, abstract=bool(totals))
    layers = [drawer.draw(layer, width) for layer in range(4)]
    names: dict[int, Name] = {}
    for node in totals:
        layer = rng.randrange(3)
        owner = drawer.draw(layer, 1)[0]
        names[node] = (owner, CHAINS[drawer.chain][layer + 1])
        # A total's parts belong to an owner that owns nothing else in the text.
        parts = component.parents[node]
        names.update(zip(parts, ((owner, item) for item in rng.sample(layers[layer + 1], len(parts))), strict=True))
    rest = [node for node in range(len(component.parents)) if node not in names]
    names.update(zip(rest, _draw_pairs(layers, len(rest), sink_layer, rng), strict=True))
    return [names[node] for node in range(len(component.parents))]


def _draw_pairs(layers: list[list[str]], count: int, sink_layer: int, rng: Random) -> list[Name]:
    """Distinct pairs; the first one is the first owner and the first item of `sink_layer`."""
    width = len(layers[0])
    area = width * width
    first = sink_layer * area
    codes = [first, *(code + (code >= first) for code in rng.sample(range(3 * area - 1), count - 1))]
    return [(layers[code // area][code % area // width], layers[code // area + 1][code % width]) for code in codes]
