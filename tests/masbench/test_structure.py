import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mas_orchestra.masbench.problem import Form, Modifier
from mas_orchestra.masbench.structure import MOST_TOTALS, Component, build


@st.composite
def shapes(draw, *, least_depth: int = 2) -> dict[str, int]:
    d = draw(st.integers(least_depth, 12))
    b = draw(st.integers(1, 12))
    most = d if b == 1 else min((b**d - 1) // (b - 1), 80)
    return {"d": d, "b": b, "n": draw(st.integers(min(d + b - 1, most), most))}


def made(shape: dict[str, int], seed: int) -> tuple[Component, random.Random]:
    rng = random.Random(seed)
    return build(**shape, rng=rng), rng


@settings(max_examples=150, deadline=None)
@given(shapes(), st.integers(0, 10**6))
def test_a_tree_has_exactly_the_asked_depth_breadth_and_size(shape, seed):
    component, _ = made(shape, seed)
    assert len(component.parents) == component.needed == shape["n"]
    assert component.depths()[0] == max(component.depths()) == shape["d"]
    assert max(map(len, component.parents)) == shape["b"]
    read = [parent for parents in component.parents for parent in parents]
    assert sorted(read) == list(range(1, shape["n"])), "everything but the sink is read exactly once"


@settings(max_examples=150, deadline=None)
@given(shapes(), st.integers(0, 10**6))
def test_influence_is_what_one_more_does_to_the_sink(shape, seed):
    component, rng = made(shape, seed)
    component.measure_influence()
    component.share_leaves(shape["b"], rng)
    values = component.values()
    for node in range(component.needed):
        moved = component.values({node: (values[node] + 1) % 23})[0]
        assert (moved - values[0]) % 23 == component.influence[node] != 0


@settings(max_examples=100, deadline=None)
@given(shapes(), st.integers(0, 10**6), st.integers(0, 22))
def test_aiming_reaches_the_target_by_one_leaf(shape, seed, target):
    component, rng = made(shape, seed)
    component.measure_influence()
    component.share_leaves(shape["b"], rng)
    before = list(component.constants)
    component.aim(target, rng)
    assert component.values()[0] == target
    changed = [node for node, constant in enumerate(before) if component.constants[node] != constant]
    assert len(changed) <= 1
    assert set(changed) <= set(component.leaves)


@settings(max_examples=100, deadline=None)
@given(shapes(), st.integers(0, 10**6))
def test_shared_leaves_keep_depth_and_breadth_and_enter_no_difference(shape, seed):
    component, rng = made(shape, seed)
    differences = [node for node, form in enumerate(component.forms) if form is Form.DIFFERENCE]
    component.measure_influence()
    component.share_leaves(shape["b"], rng)
    assert component.depths()[0] == shape["d"]
    assert max(map(len, component.parents)) == shape["b"]
    assert all(len(set(parents)) == len(parents) for parents in component.parents)
    assert [node for node, form in enumerate(component.forms) if form is Form.DIFFERENCE] == differences
    assert all(len(component.parents[node]) == 2 for node in differences)


def test_leaves_are_shared_now_and_then():
    shared = 0
    for seed in range(50):
        component, rng = made({"d": 4, "b": 3, "n": 9}, seed)
        component.measure_influence()
        component.share_leaves(3, rng)
        shared += sum(map(len, component.parents)) > 8
    assert 5 < shared < 50


@settings(max_examples=80, deadline=None)
@given(shapes(), st.integers(0, 10**6), st.integers(0, 20))
def test_distractors_read_what_is_before_them_and_are_read_by_nobody_needed(shape, seed, count):
    component, rng = made(shape, seed)
    component.add_distractors(count, shape["b"], rng)
    assert len(component.parents) == len(component.forms) == shape["n"] + count
    for node, parents in enumerate(component.parents):
        assert len(parents) <= shape["b"]
        assert len(set(parents)) == len(parents)
        if node >= component.needed:
            assert all(parent < node for parent in parents)
        else:
            assert all(parent < component.needed for parent in parents)


@settings(max_examples=80, deadline=None)
@given(shapes(least_depth=3), st.integers(0, 10**6))
def test_totals_are_plain_few_and_never_inside_each_other(shape, seed):
    component, rng = made(shape, seed)
    component.make_totals(rng)
    totals = {node for node, form in enumerate(component.forms) if form is Form.TOTAL}
    assert 1 <= len(totals) <= MOST_TOTALS
    assert component.stated == shape["n"] - len(totals)
    for node in totals:
        assert component.modifiers[node] is Modifier.NONE
        assert not totals & set(component.parents[node])


@settings(max_examples=80, deadline=None)
@given(shapes(), st.integers(0, 10**6))
def test_the_order_is_topological_with_the_sink_last_of_the_needed(shape, seed):
    component, rng = made(shape, seed)
    component.add_distractors(5, shape["b"], rng)
    order = component.order
    assert sorted(order) == list(range(shape["n"] + 5))
    assert order[shape["n"] - 1] == 0
    place = {node: number for number, node in enumerate(order)}
    assert all(place[parent] < place[node] for node, parents in enumerate(component.parents) for parent in parents)


def test_operators_stay_in_their_ranges_and_factors_are_units():
    for seed in range(40):
        component, rng = made({"d": 6, "b": 3, "n": 20}, seed)
        component.add_distractors(10, 3, rng)
        for node, parents in enumerate(component.parents):
            form, modifier, constant = component.forms[node], component.modifiers[node], component.constants[node]
            assert (form is Form.CONSTANT) == (not parents)
            assert (form is Form.EQUAL) == (len(parents) == 1)
            assert form is not Form.DIFFERENCE or len(parents) == 2
            if modifier is Modifier.MORE:
                assert 1 <= constant <= 22
            elif modifier is Modifier.TIMES:
                assert 2 <= constant <= 22


@pytest.mark.parametrize("believed", [{}, {0: 5}, {3: 1}, {1: 7, 3: 2}])
def test_what_is_believed_is_what_dependents_are_computed_from(believed):
    component = Component(
        parents=[[1, 2], [3], [], []],
        spine=3,
        needed=4,
        forms=[Form.DIFFERENCE, Form.EQUAL, Form.CONSTANT, Form.CONSTANT],
        modifiers=[Modifier.TIMES, Modifier.MORE, Modifier.NONE, Modifier.NONE],
        constants=[4, 10, 3, 20],
    )
    third = believed.get(3, 20)
    second = believed.get(1, (third + 10) % 23)
    first = believed.get(0, 4 * (second - 3) % 23)
    assert component.values(believed) == [first, second, 3, third]


def test_a_very_deep_chain_needs_no_recursion():
    component, rng = made({"d": 5_000, "b": 1, "n": 5_000}, 1)
    component.measure_influence()
    component.aim(7, rng)
    assert component.values()[0] == 7
    assert component.depths()[0] == 5_000
