"""The equations of a text: one definition a quantity, evaluated modulo 23 in dependency order and without recursion."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from mas_orchestra.errors import FileFormatError
from mas_orchestra.masbench.expression import Combination, Expression
from mas_orchestra.masbench.layers import Layers, Name, read_layers
from mas_orchestra.masbench.questions import Question, Subject
from mas_orchestra.masbench.read_text import Statement

__all__ = ["MODULUS", "Definition", "System", "UnsolvableTextError", "build_systems"]

MODULUS = 23
"""All arithmetic of the family is modulo this prime."""


class UnsolvableTextError(FileFormatError):
    """The text can be read but does not determine what it asks for."""

    code = "unsolvable_text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """How a quantity is computed: the offset plus every coefficient times the product of its quantities.

    Attributes:
        parents: The distinct quantities that it is computed from, in the order of the text.
        expression: The words of its statement, ``None`` for a category total.
    """

    offset: int = 0
    products: tuple[tuple[int, tuple[str, ...]], ...] = ()
    parents: tuple[str, ...] = ()
    expression: Expression | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """The definitions of a text.

    Attributes:
        definitions: By quantity; statements in the order of the text, then category totals.
        ambiguous: Quantities stated again with different words, and the lines of both; the first statement is kept.
        names: Owner and item of every quantity that the text names.
    """

    definitions: Mapping[str, Definition]
    ambiguous: Mapping[str, tuple[int, int]]
    names: Mapping[str, Name]

    def needed(self, targets: Iterable[str]) -> tuple[str, ...]:
        """What the targets need, themselves included, every quantity after those it is computed from.

        Raises:
            UnsolvableTextError: A quantity needs itself; names the circle.
        """
        done: dict[str, None] = {}
        path: dict[str, None] = {}
        stack = [(target, False) for target in reversed(list(targets))]
        while stack:
            key, is_left = stack.pop()
            if is_left:
                del path[key]
                done[key] = None
            elif key in path:
                raise UnsolvableTextError(f"{key!r} needs itself: {_circle(path, key)}")
            elif key not in done:
                path[key] = None
                stack.append((key, True))
                stack.extend((parent, False) for parent in reversed(self.parents(key)))
        return tuple(done)

    def parents(self, key: str) -> tuple[str, ...]:
        """The distinct quantities that `key` is computed from; none where it is undefined."""
        return self.definitions.get(key, _UNDEFINED).parents

    def values(self, targets: Iterable[str], believed: Mapping[str, int] | None = None) -> dict[str, int]:
        """The value of everything that the targets need, 0 for the undefined.

        Args:
            targets: Quantities asked for.
            believed: Values that replace a quantity's own, as a reader who believes a claim has them.
        """
        values: dict[str, int] = {}
        for key in self.needed(targets):
            values[key] = believed[key] % MODULUS if believed and key in believed else self._value(key, values)
        return values

    def _value(self, key: str, values: Mapping[str, int]) -> int:
        definition = self.definitions.get(key, _UNDEFINED)
        total = definition.offset
        for coefficient, keys in definition.products:
            product = coefficient
            for parent in keys:
                product *= values[parent]
            total += product
        return total % MODULUS


_UNDEFINED = Definition()


def build_systems(statements: Iterable[Statement], questions: Iterable[Question]) -> tuple[System, ...]:
    """The system of the text, then those of its other readings (category totals over other layers), if it has any.

    A reading in which some quantity would need itself is none, where there is a better one.
    """
    stated, ambiguous = _stated(statements)
    keys = [key for quantity, definition in stated.items() for key in (quantity, *definition.parents)]
    keys += [question.name for question in questions if question.subject is Subject.QUANTITY]
    layers = read_layers(keys, stated)
    systems = tuple(
        System(definitions=stated | _totals(stated, layers, distances), ambiguous=ambiguous, names=layers.names)
        for distances in (layers.distances, *layers.alternatives)
    )
    if len(systems) == 1:
        return systems
    return tuple(system for system in systems if not _is_circular(system)) or systems[:1]


def _is_circular(system: System) -> bool:
    try:
        system.needed(system.definitions)
    except UnsolvableTextError:
        return True
    return False


def _stated(statements: Iterable[Statement]) -> tuple[dict[str, Definition], dict[str, tuple[int, int]]]:
    first: dict[str, Statement] = {}
    ambiguous = {}
    for statement in statements:
        earlier = first.setdefault(statement.quantity, statement)
        if earlier.expression != statement.expression:
            ambiguous[statement.quantity] = (earlier.line, statement.line)
    return {key: _definition(statement.expression) for key, statement in first.items()}, ambiguous


def _definition(expression: Expression) -> Definition:
    offset, scale = expression.coefficients()
    signs = (1, -1) if expression.combination is Combination.DIFFERENCE else (1,) * len(expression.terms)
    return Definition(
        offset=offset + scale * expression.literal,
        products=tuple((scale * sign, (term,)) for sign, term in zip(signs, expression.terms, strict=True)),
        parents=tuple(dict.fromkeys(expression.terms)),
        expression=expression,
    )


def _totals(stated: Mapping[str, Definition], layers: Layers, distances: Mapping[str, int]) -> dict[str, Definition]:
    """Every named total spelt out, and the totals inside it; one over nothing stays undefined."""
    totals: dict[str, Definition] = {}
    stack = [(layers.names[key], distance) for key, distance in distances.items()]
    while stack:
        name, distance = stack.pop()
        key = f"{name.owner}'s {name.item}"
        items = layers.held.get(name.owner, ())
        if key in totals or key in stated or not items:
            continue
        inner = [Name(owner=item, item=name.item) for item in items] if distance > 1 else []
        stack.extend((total, distance - 1) for total in inner)
        products = [(f"{name.owner}'s {item}", *(f"{item}'s {name.item}" for _ in inner[:1])) for item in items]
        totals[key] = Definition(
            products=tuple((1, keys) for keys in products),
            parents=tuple(dict.fromkeys(chain.from_iterable(products))),
        )
    return totals


def _circle(path: Iterable[str], key: str) -> str:
    steps = list(path)
    circle = [*steps[steps.index(key) :], key]
    shown = circle if len(circle) <= 8 else [*circle[:6], "…", key]
    return " ← ".join(shown)
