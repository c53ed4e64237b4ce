"""A plan is valid exactly when a brute-force reading of the rules says so, on any graph."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.plan import Edge, Plan, Step, check
from mas_orchestra.plan.graph import Graph
from support.cards import CARDS

SIZES = st.integers(min_value=1, max_value=6)


@st.composite
def graphs(draw):
    size = draw(SIZES)
    pairs = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
    return size, draw(st.sets(pairs, max_size=10))


def reachable(size, edges):
    """Warshall's closure: which node reaches which by one edge or more."""
    reach = set(edges)
    for middle, start, end in product(range(size), repeat=3):
        if (start, middle) in reach and (middle, end) in reach:
            reach.add((start, end))
    return reach


def is_plan(size, edges):
    """One sink, no cycle, and everything leads to the sink."""
    reach = reachable(size, edges)
    sinks = [node for node in range(size) if not any(source == node for source, _ in edges)]
    acyclic = not any((node, node) in reach for node in range(size))
    return acyclic and len(sinks) == 1 and all((node, sinks[0]) in reach for node in range(size) if node != sinks[0])


def plan_of(size, edges):
    steps = tuple(
        Step(
            id=f"s{node}",
            agent="CoTAgent",
            input=" ".join(f"${{s{source}}}" for source, target in sorted(edges) if target == node),
        )
        for node in range(size)
    )
    return Plan(steps=steps, edges=tuple(Edge(f"s{source}", f"s{target}") for source, target in edges))


@given(graph=graphs())
def test_valid_exactly_when_the_oracle_says_so(graph):
    report = check(plan_of(*graph), catalog=CARDS)

    assert report.valid == is_plan(*graph)
    assert report.valid == (not report.faults)


@given(graph=graphs())
def test_a_cycle_is_reported_exactly_when_there_is_one_and_is_one(graph):
    size, edges = graph
    edges = {(source, target) for source, target in edges if source != target}
    reach = reachable(size, edges)
    walk = Graph(size, edges)
    knots = walk.knots()

    on_cycles = {node for node in range(size) if (node, node) in reach}
    assert set().union(*knots) == on_cycles
    assert (walk.shape() is None) == bool(on_cycles)
    for knot in knots:
        cycle = walk.cycle_in(knot)
        assert all(pair in edges for pair in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
        assert all((a, b) in reach for a in knot for b in knot)


@given(graph=graphs())
def test_levels_are_longest_chains(graph):
    size, edges = graph
    edges = {(source, target) for source, target in edges if source < target}
    shape = Graph(size, edges).shape()

    longest = [0] * size
    for target in range(size):
        longest[target] = max((longest[source] + 1 for source, end in edges if end == target), default=0)
    assert list(shape.levels) == longest
    assert shape.length == max(longest) + 1
    assert shape.width == max(longest.count(level) for level in longest)


@given(graph=graphs())
def test_components_are_what_hangs_together(graph):
    size, edges = graph
    reach = reachable(size, edges | {(target, source) for source, target in edges})

    for part in Graph(size, edges).components():
        assert all(a == b or (a, b) in reach for a in part for b in part)
        assert not any((a, b) in reach for a in part for b in range(size) if b not in part)


def test_a_deep_graph_needs_no_recursion():
    size = 50_000
    chain = [(node, node + 1) for node in range(size - 1)]

    assert Graph(size, chain).shape().length == size
    assert Graph(size, [*chain, (size - 1, 0)]).knots() == [list(range(size))]
