"""The certificate against the graph that it describes, by definition rather than by the generator's way."""

from hypothesis import given, settings
from hypothesis import strategies as st

from mas_orchestra.masbench.generate import Recipe, generate
from mas_orchestra.masbench.problem import Axis, Form, Graph, Modifier, Parameters, Problem, Split
from masbench.recipes import recipes

INDICES = st.integers(0, 5_000)


def parents_of(graph: Graph) -> list[list[int]]:
    parents: list[list[int]] = [[] for _ in graph.quantities]
    for parent, child in graph.edges:
        parents[child].append(parent)
    return parents


def values_of(graph: Graph) -> list[int]:
    """Every quantity, distractors included, from graph and operators alone."""
    values: list[int] = []
    for operator, parents in zip(graph.operators, parents_of(graph), strict=True):
        operands = [values[parent] for parent in parents]
        if operator.form is Form.CONSTANT:
            value = operator.constant
        elif operator.form is Form.DIFFERENCE:
            value = operands[0] - operands[1]
        else:
            value = sum(operands)
        if operator.modifier is Modifier.MORE:
            value += operator.constant
        elif operator.modifier is Modifier.TIMES:
            value *= operator.constant
        values.append(value % 23)
    return values


def depths_of(graph: Graph) -> list[int]:
    depths: list[int] = []
    for parents in parents_of(graph):
        depths.append(1 + max((depths[parent] for parent in parents), default=0))
    return depths


@settings(max_examples=120, deadline=None)
@given(recipes(), INDICES)
def test_the_answers_follow_from_graph_and_operators(recipe, index):
    problem = generate(recipe, index)
    values = values_of(problem.graph)
    place = problem.graph.quantities.index
    assert tuple(values[place(name)] for name in problem.asked) == problem.answers


@settings(max_examples=120, deadline=None)
@given(recipes(), INDICES)
def test_quantities_come_in_topological_order_with_the_needed_ones_first(recipe, index):
    graph = generate(recipe, index).graph
    assert all(parent < child for parent, child in graph.edges)
    assert len(set(graph.quantities)) == len(graph.quantities) == len(graph.operators)
    needed = {graph.needed - 1}
    read = {parent for parent, child in graph.edges if child < graph.needed}
    assert len(read | needed) >= graph.needed - recipe.parameters.p + 1, "only final quantities are read by nobody"


@settings(max_examples=120, deadline=None)
@given(recipes(), INDICES)
def test_the_measured_sizes_are_those_of_the_graph(recipe, index):
    problem = generate(recipe, index)
    graph, measured = problem.graph, problem.measured
    breadths = [len(parents) for parents in parents_of(graph)]
    depths = depths_of(graph)
    assert measured.depth == max(depths[: graph.needed])
    assert measured.breadth == max(breadths[: graph.needed])
    assert measured.text_depth == max(depths) >= measured.depth
    assert measured.text_breadth == max(breadths) == measured.breadth
    needed = list(zip(graph.operators, breadths, strict=True))[: graph.needed]
    modified = sum(operator.modifier is not Modifier.NONE for operator, _ in needed)
    assert measured.operations == modified + sum(breadth - 1 for _, breadth in needed if breadth)
    assert measured.equalities == sum(
        operator.form is Form.EQUAL and operator.modifier is Modifier.NONE for operator, _ in needed
    )
    assert measured.characters == len(problem.question)
    assert len(problem.question.split()) <= measured.tokens <= measured.characters


@settings(max_examples=60, deadline=None)
@given(recipes(attacked=True), INDICES)
def test_the_parameters_stand_in_the_certificate(recipe, index):
    problem = generate(recipe, index)
    size, measured = problem.parameters, problem.measured
    assert (measured.horizon, measured.parallel, measured.robustness) == (size.h, size.p, size.r)
    assert (measured.needed, measured.statements) == (size.n * size.p, size.T)


def test_chains_of_mere_equalities_are_rare():
    """Else depth would be free: most links of a chain need an operation."""
    recipe = Recipe(axis=Axis.HORIZON, parameters=Parameters(d=13, b=2, n=16, T=24), split=Split.TRAIN)
    measured = [generate(recipe, index).measured for index in range(100)]
    assert sum(one.equalities for one in measured) / 100 < 2.5
    assert all(one.operations >= 8 for one in measured)


def problem_of(index: int) -> Problem:
    recipe = Recipe(axis=Axis.DEPTH, parameters=Parameters(d=5, b=2, n=8, T=24), split=Split.TRAIN)
    return generate(recipe, index)


def test_operators_of_leaves_and_only_those_are_constants():
    for index in range(30):
        graph = problem_of(index).graph
        for operator, parents in zip(graph.operators, parents_of(graph), strict=True):
            assert (operator.form is Form.CONSTANT) == (not parents)
            assert (operator.constant is None) == (
                operator.form is not Form.CONSTANT and operator.modifier is Modifier.NONE
            )
