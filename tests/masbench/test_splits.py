import pytest

from mas_orchestra.masbench.generate import Recipe, generate
from mas_orchestra.masbench.problem import Axis, Form, Modifier, Parameters, Problem, Split
from mas_orchestra.masbench.splits import has_few_templates


def template(problem: Problem) -> tuple:
    """The needed graph with its operators, names and constants blanked, the same for isomorphic numberings."""
    graph = problem.graph
    parents = {child: [] for child in range(graph.needed)}
    for parent, child in graph.edges:
        if child < graph.needed:
            parents[child].append(parent)

    def shape(node: int) -> tuple:
        operator = graph.operators[node]
        operands = [shape(parent) for parent in parents[node]]
        return operator.form, operator.modifier, *(operands if operator.form is Form.DIFFERENCE else sorted(operands))

    return tuple(sorted(shape(graph.quantities.index(name)) for name in problem.asked))


@pytest.mark.parametrize("d", [4, 5, 8])
def test_train_and_test_share_no_template(d):
    found = {}
    for split in Split:
        recipe = Recipe(axis=Axis.DEPTH, parameters=Parameters(d=d, b=2, n=d + 1, T=24), split=split)
        found[split] = {template(generate(recipe, index)) for index in range(300)}
    assert not found[Split.TRAIN] & found[Split.TEST]


@pytest.mark.parametrize(("d", "b", "n"), [(2, 1, 2), (2, 2, 3), (3, 2, 4), (3, 1, 3)])
def test_tiny_sizes_differ_in_their_constants(d, b, n):
    sums = {}
    for split in Split:
        recipe = Recipe(axis=Axis.DEPTH, parameters=Parameters(d=d, b=b, n=n, T=12), split=split)
        graphs = [generate(recipe, index).graph for index in range(100)]
        sums[split] = {
            sum(op.constant for op in graph.operators[: graph.needed] if op.modifier is not Modifier.NONE) % 2
            for graph in graphs
        }
    assert sums == {Split.TRAIN: {0}, Split.TEST: {1}}


@pytest.mark.parametrize(("d", "p", "few"), [(2, 1, True), (3, 1, True), (4, 1, False), (2, 2, True), (2, 3, False)])
def test_few_templates_are_fewer_than_three_sure_links(d, p, few):
    assert has_few_templates(Parameters(d=d, b=2, n=d + 1, T=24, p=p)) is few


@pytest.mark.parametrize("split", Split)
def test_both_operators_are_common_in_both_splits(split):
    """The mark must not leave a split without an operator."""
    recipe = Recipe(axis=Axis.DEPTH, parameters=Parameters(d=4, b=2, n=5, T=12), split=split)
    graphs = [generate(recipe, index).graph for index in range(200)]
    found = [operator.modifier for graph in graphs for operator in graph.operators[: graph.needed]]
    for modifier in (Modifier.MORE, Modifier.TIMES):
        assert 0.2 < found.count(modifier) / sum(kind is not Modifier.NONE for kind in found) < 0.8
