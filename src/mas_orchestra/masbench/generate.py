"""From a recipe and an index to a row, the same bytes on any machine, in any order, in any number of processes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from mas_orchestra import seeds
from mas_orchestra.errors import UsageError
from mas_orchestra.masbench import attack as attacks
from mas_orchestra.masbench import axes, certificate, story, vocabulary
from mas_orchestra.masbench.attack import SubTask
from mas_orchestra.masbench.problem import (
    GENERATOR_VERSION,
    MODULUS,
    AttackKind,
    Axis,
    Form,
    Name,
    Parameters,
    Poisoned,
    Problem,
    Split,
    Style,
)
from mas_orchestra.masbench.splits import mark
from mas_orchestra.masbench.structure import Component, build

__all__ = ["Recipe", "family_size", "generate"]

_SINK_STEP = 7_919
"""Prime to the number of sinks of either split, so that every pair comes once before any comes twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What fixes a family of problems; together with an index it fixes one.

    Attributes:
        value: Value on the axis, ``None`` for ``combine``.
        attack: Kind of attack; needed when ``parameters.r`` is not 0. With ``r = 0`` the text is laid out for an attack
            that is not there: the clean control of the same text.
        needle: Mix segments of filler with a magic number in them into the passage, and ask for those numbers too.
        abstract: Make some needed quantities category totals.

    Raises:
        UsageError: Infeasible or contradictory; says the bound and what to do.
    """

    axis: Axis
    parameters: Parameters
    split: Split
    value: int | None = None
    style: Style = Style.EXACT
    attack: AttackKind | None = None
    needle: bool = False
    abstract: bool = False

    def __post_init__(self) -> None:
        parameters = self.parameters
        axes.check(parameters, abstract=self.abstract)
        if parameters.r and self.attack is None:
            known = ", ".join(AttackKind)
            raise UsageError(f"robustness r={parameters.r} needs a kind of attack; choose one of {known}, or set r=0")
        if self.needle and self.attack is None:
            raise UsageError("needles need a kind of attack (r may be 0); choose one of " + ", ".join(AttackKind))
        vocabulary.check_capacity(
            self.split, statements=parameters.T, b=parameters.b, p=parameters.p, abstract=self.abstract
        )

    @property
    def family(self) -> tuple[str | int, ...]:
        """The seed's path without the index. `h`, `r` and what is done to the text are no part of it."""
        size = self.parameters
        shape = (size.d, size.b, size.n, size.T, size.p)
        return ("masbench", GENERATOR_VERSION, self.split.value, self.axis.value, *shape, int(self.abstract))

    @property
    def label(self) -> str:
        """The part of a row's id that stands before the index."""
        size = "".join(f"{name}{value}" for name, value in self.parameters.model_dump().items())
        variants = {
            str(self.attack): self.attack is not None,
            "needle": self.needle,
            "abstract": self.abstract,
            "paper": self.style is Style.PAPER,
        }
        return "-".join([self.axis, size, *(name for name, is_set in variants.items() if is_set), self.split])


def family_size(split: Split) -> int:
    """How many problems a family of this split has: beyond them two texts could be the same."""
    return vocabulary.sinks(split) * MODULUS


def generate(recipe: Recipe, index: int) -> Problem:
    """Problem number `index` of a family.

    Raises:
        UsageError: The family has no such index.
    """
    last = family_size(recipe.split) - 1
    if not 0 <= index <= last:
        raise UsageError(f"index {index}: a family has the indices 0 to {last}; vary the parameters for more rows")
    rng = seeds.rng(*recipe.family, index)
    components = _components(recipe, index, rng)
    sink = vocabulary.nth_sink(recipe.split, _sink_number(recipe, index))
    names = vocabulary.name_components(components, sink, recipe.split, recipe.parameters.b, rng)
    return _Telling(recipe, index, components, names).problem(rng)


def _components(recipe: Recipe, index: int, rng: Random) -> list[Component]:
    size = recipe.parameters
    components = [build(d=size.d, b=size.b, n=size.n, rng=rng) for _ in range(size.p)]
    if recipe.abstract:
        for component in components:
            component.make_totals(rng)
    mark(components, size, recipe.split, rng)
    spare = size.T - sum(component.stated for component in components)
    for number, component in enumerate(components):
        component.measure_influence()
        component.share_leaves(size.b, rng)
        component.aim(_targets(recipe.family, number, index // MODULUS)[index % MODULUS], rng)
        component.add_distractors((spare + number) // size.p, size.b, rng)
    return components


@lru_cache(maxsize=256)
def _targets(family: tuple[str | int, ...], component: int, block: int) -> tuple[int, ...]:
    """The final answers of 23 consecutive problems: every residue once, in an order that tells nothing."""
    targets = list(range(MODULUS))
    seeds.rng(*family, "targets", component, block).shuffle(targets)
    return tuple(targets)


@lru_cache(maxsize=64)
def _sink_offset(family: tuple[str | int, ...]) -> int:
    return seeds.digest(*family, "sinks") % 1_000_003


def _sink_number(recipe: Recipe, index: int) -> int:
    """Which pair of names is asked last in the first component.

    Every 23 problems, which have 23 different answers, share a pair that no others of the family have: two texts of
    one family therefore differ in their question or in its answer. Texts of other sizes differ in what they measure.
    """
    return (index // MODULUS * _SINK_STEP + _sink_offset(recipe.family)) % vocabulary.sinks(recipe.split)


class _Telling:
    """Turns graphs of numbers with names into the row."""

    def __init__(self, recipe: Recipe, index: int, components: list[Component], names: list[list[Name]]) -> None:
        self.recipe = recipe
        self.index = index
        self.components = components
        self.names = names
        self.layout = story.PAPER if recipe.style is Style.PAPER else story.EXACT

    def problem(self, rng: Random) -> Problem:
        stated = self._statements(rng)
        asked = self._asked(rng, stated)
        poisoned = None
        if self.recipe.attack is None:
            independent = self.recipe.parameters.p > 1 and self.recipe.parameters.h == 1
            question = self.layout.plain(list(stated.values()), self._wanted(asked), independent=independent)
        else:
            question, asked, poisoned = self._attacked(self.recipe.attack, list(stated.values()), asked)
        return self._row(question, asked, poisoned)

    def _statements(self, rng: Random) -> dict[tuple[int, int], str]:
        """Statement of each (component, node) in the order of the text."""
        told = [
            ((number, node), self._statement(component, node, self.names[number]))
            for number, component in enumerate(self.components)
            for node in range(len(component.parents))
            if component.forms[node] is not Form.TOTAL
        ]
        rng.shuffle(told)
        return dict(told)

    def _statement(self, component: Component, node: int, names: Sequence[Name]) -> str:
        operands = [names[parent] for parent in component.parents[node]]
        return story.statement(
            names[node], component.forms[node], component.modifiers[node], component.constants[node], operands
        )

    def _asked(self, rng: Random, stated: dict[tuple[int, int], str]) -> list[SubTask]:
        """The asked quantities of every component; those of a smaller horizon are among those of a larger one."""
        segment = {key: place // story.SEGMENT_STATEMENTS for place, key in enumerate(stated)}
        asked = []
        for number, component in enumerate(self.components):
            values = component.values()
            *inner, sink = component.computed
            chosen = {*rng.sample(inner, len(inner))[: self.recipe.parameters.h - 1], sink}
            asked += [
                SubTask(self.names[number][node], values[node], segment.get((number, node), 0), number, node)
                for node in component.computed
                if node in chosen
            ]
        return asked

    def _attacked(
        self, kind: AttackKind, statements: Sequence[str], asked: list[SubTask]
    ) -> tuple[str, list[SubTask], Poisoned | None]:
        segments = self._segments(statements)
        if self.recipe.needle:
            segments, asked = self._hide_needles(segments, asked)
        r = self.recipe.parameters.r
        poisoned = None
        if r:
            rng = seeds.rng(*self.recipe.family, self.index, "attack", kind.value)
            attack = attacks.attack(kind, asked, self.components, r=r, segments=len(segments), rng=rng)
            segments = [" ".join([text, *attack.sentences.get(place, ())]) for place, text in enumerate(segments)]
            poisoned = attack.poisoned
        return self.layout.attacked(segments, self._wanted(asked)), asked, poisoned

    def _wanted(self, asked: Sequence[SubTask]) -> story.Asked:
        totals = {
            names[node][1]
            for component, names in zip(self.components, self.names, strict=True)
            for node, form in enumerate(component.forms)
            if form is Form.TOTAL
        }
        return story.Asked(names=[task.name for task in asked], categories=sorted(totals))

    def _segments(self, statements: Sequence[str]) -> list[str]:
        if self.layout.numbers_statements:
            statements = [f"({number}) {text}" for number, text in enumerate(statements, 1)]
        step = story.SEGMENT_STATEMENTS
        return [" ".join(statements[start : start + step]) for start in range(0, len(statements), step)]

    def _hide_needles(self, segments: list[str], asked: list[SubTask]) -> tuple[list[str], list[SubTask]]:
        """A needle after every segment; as many are asked as there are quantities asked, if there are so many."""
        rng = seeds.rng(*self.recipe.family, self.index, "needles")
        hidden = attacks.needles(len(segments), rng)
        mixed: list[str] = []
        for segment, needle in zip(segments, hidden, strict=True):
            mixed += [segment, attacks.needle_segment(needle, rng)]
        alternating: list[SubTask] = []
        for place, task in enumerate(asked):
            alternating.append(task._replace(segment=2 * task.segment))
            if place < len(hidden):
                name = (story.NEEDLE_OWNER, hidden[place].name)
                alternating.append(SubTask(name, hidden[place].number, 2 * place + 1, None, 0))
        return mixed, alternating

    def _row(self, question: str, asked: Sequence[SubTask], poisoned: Poisoned | None) -> Problem:
        recipe = self.recipe
        # Built from our own values, which tests validate; validating every row again would take a third of the time.
        return Problem.model_construct(
            id=f"{recipe.label}-{self.index}",
            axis=recipe.axis,
            value=recipe.value,
            parameters=recipe.parameters,
            split=recipe.split,
            question=question,
            answers=tuple(task.answer for task in asked),
            asked=tuple(task.name for task in asked),
            graph=certificate.graph(self.components, self.names),
            measured=certificate.measure(self.components, recipe.parameters, question),
            poisoned=poisoned,
            attack=recipe.attack,
            style=recipe.style,
            generator_version=GENERATOR_VERSION,
        )
