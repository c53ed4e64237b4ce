"""The certificate of a row: its graph, and what the text measures."""

from collections.abc import Sequence
from functools import cache

from mas_orchestra.masbench.problem import Form, Graph, Measured, Modifier, Name, Operator, Parameters
from mas_orchestra.masbench.structure import Component

__all__ = ["graph", "measure"]

_MARKS = ".,:?()'"


def graph(components: Sequence[Component], names: Sequence[Sequence[Name]]) -> Graph:
    """All quantities with their operators: needed ones first, in topological order, then the distractors."""
    order = [
        (number, node)
        for distracting in (False, True)
        for number, component in enumerate(components)
        for node in component.order
        if (node >= component.needed) is distracting
    ]
    place = {key: index for index, key in enumerate(order)}
    return Graph.model_construct(
        quantities=tuple(names[number][node] for number, node in order),
        operators=tuple(_operator(components[number], node) for number, node in order),
        edges=tuple(
            (place[number, parent], place[number, node])
            for number, node in order
            for parent in components[number].parents[node]
        ),
        needed=sum(component.needed for component in components),
    )


def _operator(component: Component, node: int) -> Operator:
    form, modifier = component.forms[node], component.modifiers[node]
    has_constant = form is Form.CONSTANT or modifier is not Modifier.NONE
    return _shared_operator(form, modifier, component.constants[node] if has_constant else None)


@cache
def _shared_operator(form: Form, modifier: Modifier, constant: int | None) -> Operator:
    """One frozen value for the few hundred operators there are."""
    return Operator(form=form, modifier=modifier, constant=constant)


def measure(components: Sequence[Component], parameters: Parameters, question: str) -> Measured:
    """The axes as built, and the sizes beside them."""
    depths = [component.depths() for component in components]
    breadths = [[len(parents) for parents in component.parents] for component in components]
    return Measured.model_construct(
        depth=max(depth[0] for depth in depths),
        breadth=max(max(breadth[: component.needed]) for component, breadth in zip(components, breadths, strict=True)),
        horizon=parameters.h,
        parallel=len(components),
        robustness=parameters.r,
        needed=sum(component.needed for component in components),
        statements=sum(component.stated for component in components),
        operations=sum(_operations(component) for component in components),
        equalities=sum(_equalities(component) for component in components),
        text_depth=max(max(depth) for depth in depths),
        text_breadth=max(max(breadth) for breadth in breadths),
        characters=len(question),
        tokens=len(question.split()) + sum(question.count(mark) for mark in _MARKS),
    )


def _operations(component: Component) -> int:
    needed = range(component.needed)
    joins = sum(max(0, len(component.parents[node]) - 1) for node in needed)
    return joins + sum(component.modifiers[node] is not Modifier.NONE for node in needed)


def _equalities(component: Component) -> int:
    return sum(
        component.forms[node] is Form.EQUAL and component.modifiers[node] is Modifier.NONE
        for node in range(component.needed)
    )
