"""Owners, items and category totals, told from names alone.

"A's B" is split where the rest of the text supports it (only names with apostrophes leave a choice). Owners and items
lie in layers; a category word names a layer, and "A's Animal" is the total of what A holds in that layer: over A's
own items where it is the next layer, over the items of A's items where it is farther down (iGSM, Ye et al. 2024).

A text never says which layer a category word names, so it is inferred. In the chain Zoo, Enclosure, Animal, Bone the
layers of a text are consecutive, every total lies below its owner and within the layers seen. Where several readings
are left, the nearest is taken and the others are listed, so that a solver can try them. Totals over our own chains
are always over the next layer.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from mas_orchestra.masbench.categories import CHAINS, PUBLISHED_CHAINS

__all__ = ["CATEGORY_WORDS", "Layers", "Name", "read_layers"]

_LAYERS_OF_CHAIN = 4
_PUBLISHED = {word: (chain, rank) for chain in PUBLISHED_CHAINS for rank, word in enumerate(chain)}
_OWN = frozenset(word for chain in CHAINS for word in chain)
CATEGORY_WORDS = _OWN | _PUBLISHED.keys()
"""Every word that names a layer, ours and the published ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A quantity's owner and item; a placeholder such as "[answer3]" has no owner."""

    owner: str
    item: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """Who holds what.

    Attributes:
        names: Owner and item of every quantity of the text.
        held: Items of every owner, totals left out, in the order of the text.
        distances: Layers from owner to category of every total that the text names: 1 is the next layer.
        alternatives: Other complete `distances` that the text allows; empty when it allows one reading only.
    """

    names: dict[str, Name]
    held: dict[str, tuple[str, ...]]
    distances: dict[str, int]
    alternatives: tuple[dict[str, int], ...]


def read_layers(quantities: Iterable[str], stated: Collection[str]) -> Layers:
    """The layers of a text.

    Args:
        quantities: Every quantity that the text names, in its order.
        stated: Those that have a statement of their own; they are never totals.
    """
    names = _split_names(list(dict.fromkeys(quantities)))
    totals = {key: name for key, name in names.items() if name.item in CATEGORY_WORDS and key not in stated}
    held: dict[str, list[str]] = {}
    for key, name in names.items():
        if key not in totals and name.owner:
            held.setdefault(name.owner, []).append(name.item)
    readings = _readings(totals, held) if totals else []
    nearest = {key: distance for choices in readings for key, distance in choices[0].items()}
    return Layers(
        names=names,
        held={owner: tuple(items) for owner, items in held.items()},
        distances=nearest,
        alternatives=tuple(nearest | other for choices in readings for other in choices[1:]),
    )


def _split_names(keys: list[str]) -> dict[str, Name]:
    """Every quantity split where its owner and item occur most often in the text, the longest owner first."""
    splits = {key: _splits(key) for key in keys}
    seen = Counter[str]()
    for choices in splits.values():
        seen.update({part for name in choices for part in (name.owner, name.item)})
    return {
        key: max(reversed(choices), key=lambda name: seen[name.owner] + seen[name.item])
        if len(choices) > 1
        else choices[0]
        for key, choices in splits.items()
    }


def _splits(key: str) -> list[Name]:
    """Every way to read the quantity; a category at its end leaves one."""
    parts = key.split("'s ")
    if len(parts) == 1:
        return [Name(owner="", item=key)]
    if parts[-1] in CATEGORY_WORDS:
        return [Name(owner="'s ".join(parts[:-1]), item=parts[-1])]
    # More possessives than any name has would make this quadratic: keep the first and last few places.
    places = range(1, len(parts)) if len(parts) <= 8 else (*range(1, 4), *range(len(parts) - 3, len(parts)))
    return [Name(owner="'s ".join(parts[:place]), item="'s ".join(parts[place:])) for place in places]


def _readings(totals: Mapping[str, Name], held: Mapping[str, list[str]]) -> list[list[dict[str, int]]]:
    """For every group of totals that is read as one, its possible distances, the nearest first."""
    own = {key: 1 for key, name in totals.items() if name.item not in _PUBLISHED}
    places = _places(held)
    groups: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for key, name in totals.items():
        if name.item in _PUBLISHED and name.owner in places:
            groups.setdefault((places[name.owner].component, _PUBLISHED[name.item][0]), []).append(key)
        else:
            own[key] = 1  # an owner that holds nothing: every distance gives the empty total
    return [[own], *(_group_readings({key: totals[key] for key in keys}, places) for keys in groups.values())]


def _group_readings(totals: Mapping[str, Name], places: Mapping[str, "_Place"]) -> list[dict[str, int]]:
    """Distances under every position of the text's layers in the chain that fits; farthest down, so nearest, first."""
    ranks = {key: _PUBLISHED[name.item][1] for key, name in totals.items()}
    levels = {key: places[name.owner].level for key, name in totals.items()}
    height = max(places[name.owner].height for name in totals.values())
    below = [
        top
        for top in range(_LAYERS_OF_CHAIN - height, -1, -1)
        if all(levels[key] + top < rank for key, rank in ranks.items())
    ]
    within = [top for top in below if max(ranks.values()) < top + height]
    tops = within or below
    if not tops:
        return [dict.fromkeys(totals, distance) for distance in range(1, _LAYERS_OF_CHAIN)]
    return [{key: rank - levels[key] - top for key, rank in ranks.items()} for top in tops]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a name lies: its connected part of the text, its layer in it (0 is the top), the layers that part has."""

    component: int
    level: int
    height: int


def _places(held: Mapping[str, list[str]]) -> dict[str, _Place]:
    """The place of every name, layers told from who holds whom."""
    neighbours: dict[str, list[tuple[str, int]]] = {}
    for owner, items in held.items():
        for item in items:
            neighbours.setdefault(owner, []).append((item, 1))
            neighbours.setdefault(item, []).append((owner, -1))
    places: dict[str, _Place] = {}
    for component, start in enumerate(neighbours):
        if start not in places:
            levels = _levels(start, neighbours)
            top, bottom = min(levels.values()), max(levels.values())
            for name, level in levels.items():
                places[name] = _Place(component=component, level=level - top, height=bottom - top + 1)
    return places


def _levels(start: str, neighbours: Mapping[str, list[tuple[str, int]]]) -> dict[str, int]:
    levels = {start: 0}
    queue = [start]
    for name in queue:
        for other, step in neighbours[name]:
            if other not in levels:
                levels[other] = levels[name] + step
                queue.append(other)
    return levels
