"""One component of a problem as a graph of numbers, built in closed form: no retries, nothing clipped, time O(size).

Quantities are nodes, numbered so that a tree parent has a larger number than the quantity computed from it: node 0 is
the final quantity (the sink), nodes 0 to d-1 are the spine that gives the depth. The construction is a tree in which
some leaves are then read a second time; the influence of a node is the derivative of the sink's value with respect to
it, modulo 23. On a tree it is a product of units, hence never 0, and a leaf is shared only where it stays so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from mas_orchestra.masbench.problem import MODULUS, Form, Modifier

__all__ = ["MOST_TOTALS", "Component", "build"]

_PLAIN_SPINE = 0.1
"""Share of spine links without an operator: a chain of mere equalities would make depth free."""
_PLAIN_BRANCH = 0.35
_SHARED_LEAF = 0.25
"""How many of the sums with room for one more operand also read a leaf that is used elsewhere."""
_TOTAL = 0.5
"""How many of the plain sums become category totals, where those are wanted."""
MOST_TOTALS = 4
"""In one component, since each needs an owner of its own."""
_CONSTANT_DISTRACTOR = 0.3
_WIDER_DISTRACTOR = 0.4
"""Chance of each further operand of a distractor."""


@dataclass(slots=True, kw_only=True)
class Component:
    """A graph under construction; all lists are indexed by node.

    Attributes:
        parents: What each node is computed from, in the order of mention.
        constants: Value of a leaf, constant of a modifier, else 0.
        influence: Of needed nodes only.
        needed: Nodes below this number are needed, the others are distractors.
        spine: Nodes below this number are the spine.
    """

    parents: list[list[int]]
    spine: int
    needed: int
    forms: list[Form] = field(default_factory=list)
    modifiers: list[Modifier] = field(default_factory=list)
    constants: list[int] = field(default_factory=list)
    influence: list[int] = field(default_factory=list)

    @property
    def computed(self) -> list[int]:
        """Needed nodes that are not leaves, in topological order: the sink is the last."""
        return [node for node in range(self.needed - 1, -1, -1) if self.parents[node]]

    @property
    def leaves(self) -> list[int]:
        """Needed nodes that are stated as a constant."""
        return [node for node in range(self.needed) if not self.parents[node]]

    @property
    def order(self) -> list[int]:
        """All nodes in topological order, needed ones first."""
        return [*self.leaves, *self.computed, *range(self.needed, len(self.parents))]

    @property
    def stated(self) -> int:
        """How many nodes have a statement in the text."""
        return len(self.forms) - self.forms.count(Form.TOTAL)

    def values(self, believed: Mapping[int, int] | None = None) -> list[int]:
        """Value of every needed node; `believed` overrides what some of them are computed to."""
        values = self.constants[: self.needed]
        for node, value in (believed or {}).items():
            values[node] = value
        for node in self.computed:
            if not believed or node not in believed:
                values[node] = self._value(node, values)
        return values

    def _value(self, node: int, values: list[int]) -> int:
        operands = [values[parent] for parent in self.parents[node]]
        value = operands[0] - operands[1] if self.forms[node] is Form.DIFFERENCE else sum(operands)
        modifier = self.modifiers[node]
        if modifier is Modifier.MORE:
            value += self.constants[node]
        elif modifier is Modifier.TIMES:
            value *= self.constants[node]
        return value % MODULUS

    def aim(self, target: int, rng: Random) -> None:
        """Shift one leaf so that the sink's value is `target`."""
        leaf = rng.choice(self.leaves)
        missing = target - self.values()[0]
        shift = missing * pow(self.influence[leaf], -1, MODULUS)
        self.constants[leaf] = (self.constants[leaf] + shift) % MODULUS

    def measure_influence(self) -> None:
        """Set `influence`; the graph must still be a tree."""
        self.influence = [1] + [0] * (self.needed - 1)
        for node in range(self.needed):
            passed = self.passed_on(node)
            for position, parent in enumerate(self.parents[node]):
                sign = -1 if position and self.forms[node] is Form.DIFFERENCE else 1
                self.influence[parent] = sign * passed % MODULUS

    def passed_on(self, node: int) -> int:
        """Influence on the sink of one unit more in an operand of `node` that is added there."""
        factor = self.constants[node] if self.modifiers[node] is Modifier.TIMES else 1
        return self.influence[node] * factor % MODULUS

    def share_leaves(self, b: int, rng: Random) -> None:
        """Let some sums with less than `b` operands read a leaf that is read elsewhere, no influence becoming 0."""
        leaves = self.leaves
        for node in self.computed:
            if (
                len(self.parents[node]) >= b
                or self.forms[node] not in {Form.EQUAL, Form.SUM}
                or rng.random() > _SHARED_LEAF
            ):
                continue
            leaf = rng.choice(leaves)
            influence = (self.influence[leaf] + self.passed_on(node)) % MODULUS
            if influence and leaf not in self.parents[node]:
                self.influence[leaf] = influence
                self.parents[node].insert(rng.randrange(len(self.parents[node]) + 1), leaf)
                self.forms[node] = Form.SUM

    def add_distractors(self, count: int, b: int, rng: Random) -> None:
        """Append nodes that read any node before them and that no needed node reads."""
        for _ in range(count):
            known = len(self.parents)
            operands = 0
            if rng.random() >= _CONSTANT_DISTRACTOR:
                operands = 1
                while operands < min(b, known) and rng.random() < _WIDER_DISTRACTOR:
                    operands += 1
            self.parents.append(rng.sample(range(known), operands))
            self._draw_operator(operands, _PLAIN_BRANCH, rng)

    def draw_operators(self, rng: Random) -> None:
        """Give every node of the bare graph its operator, a leaf its value."""
        for node, parents in enumerate(self.parents):
            rng.shuffle(parents)
            self._draw_operator(len(parents), _PLAIN_SPINE if node < self.spine else _PLAIN_BRANCH, rng)

    def _draw_operator(self, operands: int, plain: float, rng: Random) -> None:
        modifier, constant = Modifier.NONE, 0
        if operands == 0:
            form, constant = Form.CONSTANT, rng.randrange(MODULUS)
        else:
            form = Form.EQUAL if operands == 1 else Form.SUM
            if operands == 2 and rng.random() < 0.5:
                form = Form.DIFFERENCE
            if rng.random() >= plain:
                modifier = Modifier.MORE if rng.random() < 0.5 else Modifier.TIMES
                constant = rng.randint(1 if modifier is Modifier.MORE else 2, MODULUS - 1)
        self.forms.append(form)
        self.modifiers.append(modifier)
        self.constants.append(constant)

    def make_totals(self, rng: Random) -> None:
        """Turn one to `MOST_TOTALS` computed nodes of the tree into category totals; none is part of another."""
        plain = [node for node in reversed(self.computed) if self._can_be_total(node) and rng.random() < _TOTAL]
        parts: set[int] = set()
        for node in plain or [rng.choice(self.computed)]:
            if node not in parts and self.forms.count(Form.TOTAL) < MOST_TOTALS:
                self.forms[node], self.modifiers[node], self.constants[node] = Form.TOTAL, Modifier.NONE, 0
                parts.update(self.parents[node])

    def _can_be_total(self, node: int) -> bool:
        return self.forms[node] is not Form.DIFFERENCE and self.modifiers[node] is Modifier.NONE

    def depths(self) -> list[int]:
        """Nodes on the longest chain that ends at each node."""
        depths = [1] * len(self.parents)
        for node in self.order:
            if self.parents[node]:
                depths[node] = 1 + max(depths[parent] for parent in self.parents[node])
        return depths


def build(*, d: int, b: int, n: int, rng: Random) -> Component:
    """A tree of exactly depth `d`, breadth `b` and `n` needed quantities, with operators and random constants.

    The parameters must have passed `axes.check`.
    """
    component = Component(parents=_grow(d, b, n, rng), spine=d, needed=n)
    component.draw_operators(rng)
    return component


def _grow(d: int, b: int, n: int, rng: Random) -> list[list[int]]:
    """The bare tree: a spine of `d`, a hub with `b` parents, the rest wherever there is room.

    Levels bound every chain: a parent's level is below its child's, the sink has level d, level 1 stays a leaf.
    """
    tree = _Tree(d)
    hub = rng.randrange(d - 1)
    for _ in range(b - 1):
        tree.attach(hub, rng.randint(1, tree.levels[hub] - 1))
    room = tree.with_room(b)
    raised = False
    while len(tree.parents) < n:
        if not room:
            # With every level at its maximum the tree can be filled up to the full b-ary tree of depth d.
            raised = True
            tree.raise_levels()
            room = tree.with_room(b)
        slot = rng.randrange(len(room))
        child = room[slot]
        highest = tree.levels[child] - 1
        added = tree.attach(child, highest if raised else rng.randint(1, highest))
        if len(tree.parents[child]) == b:
            room[slot] = room[-1]
            room.pop()
        if tree.levels[added] > 1:
            room.append(added)
    return tree.parents


class _Tree:
    def __init__(self, d: int) -> None:
        self.parents: list[list[int]] = [[node + 1] for node in range(d - 1)] + [[]]
        self.levels = list(range(d, 0, -1))
        self.child = list(range(-1, d - 1))

    def attach(self, child: int, level: int) -> int:
        added = len(self.parents)
        self.parents.append([])
        self.levels.append(level)
        self.child.append(child)
        self.parents[child].append(added)
        return added

    def with_room(self, b: int) -> list[int]:
        return [node for node, parents in enumerate(self.parents) if self.levels[node] > 1 and len(parents) < b]

    def raise_levels(self) -> None:
        for node in range(1, len(self.levels)):
            self.levels[node] = self.levels[self.child[node]] - 1
