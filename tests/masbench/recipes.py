"""Strategies for feasible parameters and recipes."""

from hypothesis import strategies as st

from mas_orchestra.masbench.generate import Recipe
from mas_orchestra.masbench.problem import AttackKind, Axis, Parameters, Split


@st.composite
def parameters(draw, *, attacked: bool = False, least_depth: int = 2) -> Parameters:
    d = draw(st.integers(least_depth, 8))
    b = draw(st.integers(1, 5))
    most = d if b == 1 else min((b**d - 1) // (b - 1), 40)
    n = draw(st.integers(d + b - 1, most))
    p = draw(st.integers(1, 3))
    h = draw(st.integers(1, d - 1))
    r = draw(st.integers(1, p * h)) if attacked else 0
    return Parameters(d=d, b=b, n=n, T=n * p + draw(st.integers(0, 12)), h=h, p=p, r=r)


@st.composite
def recipes(draw, *, attacked: bool = False, abstract: bool = False) -> Recipe:
    return Recipe(
        axis=Axis.COMBINE,
        parameters=draw(parameters(attacked=attacked, least_depth=3 if abstract else 2)),
        split=draw(st.sampled_from(Split)),
        attack=draw(st.sampled_from(AttackKind)) if attacked else None,
        abstract=abstract,
    )
