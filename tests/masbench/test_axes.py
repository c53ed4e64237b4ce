import pytest
from hypothesis import given, settings

from mas_orchestra.errors import UsageError
from mas_orchestra.masbench import axes
from mas_orchestra.masbench.generate import Recipe, generate
from mas_orchestra.masbench.problem import AttackKind, Axis, Parameters, Split
from masbench.recipes import parameters


@given(parameters(attacked=True))
@settings(deadline=None)
def test_feasible_parameters_are_accepted(size):
    axes.check(size)


@pytest.mark.parametrize(
    ("size", "says"),
    [
        ({"d": 1, "b": 1, "n": 1, "T": 4}, "d=2 or more"),
        ({"d": 4, "b": 1, "n": 5, "T": 9}, "n must be d=4"),
        ({"d": 4, "b": 3, "n": 5, "T": 9}, "n=6 or more"),
        ({"d": 3, "b": 2, "n": 8, "T": 9}, "n=7 or less"),
        ({"d": 3, "b": 2, "n": 5, "T": 9, "p": 2}, "T=10 or more"),
        ({"d": 5, "b": 2, "n": 8, "T": 9, "h": 5}, "h<=4 or d=6"),
        ({"d": 5, "b": 2, "n": 8, "T": 9, "h": 4, "r": 5}, "r=4 or less"),
    ],
)
def test_infeasible_parameters_state_the_bound_and_the_remedy(size, says):
    with pytest.raises(UsageError, match=says):
        axes.check(Parameters(**size))


def test_every_sweep_is_feasible_and_measures_what_it_names():
    for axis in Axis:
        if axis is Axis.COMBINE:
            continue
        for value, size in axes.sweep(axis).items():
            kind = AttackKind.NOTE if size.r else None
            for split in Split:
                measured = generate(
                    Recipe(axis=axis, parameters=size, split=split, value=value, attack=kind), 1
                ).measured
                assert getattr(measured, axis.split("-")[0]) == value


@pytest.mark.parametrize(("axis", "values"), [(Axis.DEPTH, [13]), (Axis.DEPTH_FIXED_SIZE, [2]), (Axis.COMBINE, [2])])
def test_values_that_a_sweep_does_not_have_are_refused(axis, values):
    with pytest.raises(UsageError, match="sweep"):
        axes.sweep(axis, values)


def test_the_capacity_bound_is_reached_exactly():
    for b, d in [(2, 4), (3, 3), (2, 2), (5, 2)]:
        most = (b**d - 1) // (b - 1)
        full = Recipe(axis=Axis.COMBINE, parameters=Parameters(d=d, b=b, n=most, T=most), split=Split.TRAIN)
        assert generate(full, 0).measured.needed == most


def test_a_huge_depth_is_checked_without_computing_its_capacity():
    axes.check(Parameters(d=10**6, b=12, n=2 * 10**6, T=2 * 10**6))
