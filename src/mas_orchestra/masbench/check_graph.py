"""Whether the graph of a certificate is the one that the text states, quantity for quantity."""

from collections.abc import Iterator
from dataclasses import dataclass

from mas_orchestra.masbench.analyze import Analysis
from mas_orchestra.masbench.expression import Combination, Prefix
from mas_orchestra.masbench.problem import Form, Graph, Modifier
from mas_orchestra.masbench.questions import Subject
from mas_orchestra.masbench.system import Definition, UnsolvableTextError

__all__ = ["graph_faults"]

_FORMS = {
    Combination.LITERAL: Form.CONSTANT,
    Combination.ONE: Form.EQUAL,
    Combination.SUM: Form.SUM,
    Combination.DIFFERENCE: Form.DIFFERENCE,
}
_MODIFIERS = {Prefix.MORE: Modifier.MORE, Prefix.TIMES: Modifier.TIMES}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    """How one quantity is computed, in the terms of the certificate; a total's parents have no order."""

    form: Form
    modifier: Modifier
    constant: int | None
    parents: tuple[str, ...]


def graph_faults(graph: Graph, analysis: Analysis) -> Iterator[str]:
    """Every way in which the certificate's graph and the text disagree."""
    names = [f"{owner}'s {item}" for owner, item in graph.quantities]
    if any(not 0 <= index < len(names) for edge in graph.edges for index in edge):
        yield f"graph.edges: an index is outside 0 to {len(names) - 1}"
        return
    if len(set(names)) != len(names):
        yield "graph.quantities: one stands there twice"
    stored = _stored(graph, names)
    text = {key: _node(definition) for key, definition in analysis.system.definitions.items()}
    for key in stored.keys() | text.keys():
        if stored.get(key) != text.get(key):
            yield f"graph: {key!r} is {_told(stored.get(key))} in the row, {_told(text.get(key))} in the text"
    yield from _needed_faults(graph, names, analysis)


def _stored(graph: Graph, names: list[str]) -> dict[str, _Node]:
    parents: list[list[str]] = [[] for _ in names]
    for parent, child in graph.edges:
        parents[child].append(names[parent])
    return {
        name: _Node(
            form=operator.form,
            modifier=operator.modifier,
            constant=operator.constant,
            parents=tuple(sorted(read) if operator.form is Form.TOTAL else read),
        )
        for name, operator, read in zip(names, graph.operators, parents, strict=True)
    }


def _node(definition: Definition) -> _Node | None:
    """The statement in the certificate's terms; ``None`` where they cannot say it (two modifiers on one statement)."""
    expression = definition.expression
    if expression is None:
        return _Node(form=Form.TOTAL, modifier=Modifier.NONE, constant=None, parents=tuple(sorted(definition.parents)))
    if len(expression.constants) > 1:
        return None
    modifier = _MODIFIERS[expression.prefixes[0][0]] if expression.prefixes else Modifier.NONE
    constant = expression.constants[0] if expression.constants else None
    form = _FORMS[expression.combination]
    return _Node(form=form, modifier=modifier, constant=constant, parents=expression.terms)


def _told(node: _Node | None) -> str:
    if node is None:
        return "absent"
    modifier = "" if node.modifier is Modifier.NONE else f" {node.modifier.value}"
    constant = "" if node.constant is None else f" {node.constant}"
    return f"{node.form.value}{modifier}{constant} of {', '.join(node.parents) or 'nothing'}"


def _needed_faults(graph: Graph, names: list[str], analysis: Analysis) -> Iterator[str]:
    """The needed quantities stand first, each after those it is computed from."""
    asked = [question.name for question in analysis.passage.questions if question.subject is Subject.QUANTITY]
    try:
        needed = set(analysis.system.needed(asked))
    except UnsolvableTextError:
        return  # the circle is reported with the text's other faults
    if needed != set(names[: graph.needed]):
        odd = sorted(needed ^ set(names[: graph.needed]))
        yield f"graph.needed: the first {graph.needed} quantities are not the needed ones ({', '.join(odd[:4])})"
    if any(parent >= child for parent, child in graph.edges if child < graph.needed):
        yield "graph.quantities: a needed quantity stands before one that it is computed from"
