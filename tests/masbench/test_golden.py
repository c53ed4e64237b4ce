"""The bytes of every sweep, pinned: whoever changes one raises GENERATOR_VERSION."""

import json

import pytest

from mas_orchestra.masbench import axes
from mas_orchestra.masbench.generate import Recipe, generate
from mas_orchestra.masbench.problem import AttackKind, Axis, Parameters, Problem, Split, Style


def lines(rows: list[Problem]) -> str:
    return "".join(json.dumps(row.model_dump(mode="json"), indent=1) + "\n" for row in rows)


@pytest.mark.parametrize("axis", [axis for axis in Axis if axis is not Axis.COMBINE])
def test_a_sweep_keeps_its_bytes(axis, golden):
    sizes = axes.sweep(axis, (3, 7, 12))
    kind = AttackKind.NOTE if axis is Axis.ROBUSTNESS else None
    rows = [
        generate(Recipe(axis=axis, parameters=size, split=split, value=value, attack=kind), 5)
        for value, size in sizes.items()
        for split in Split
    ]
    golden(f"{axis}.txt", lines(rows))


def test_the_variants_keep_their_bytes(golden):
    size = Parameters(d=4, b=2, n=6, T=12, h=2, r=2)
    attacked = [
        Recipe(axis=Axis.COMBINE, parameters=size, split=Split.TEST, attack=kind, style=style, needle=needle)
        for kind in AttackKind
        for style, needle in [(Style.EXACT, False), (Style.PAPER, True)]
    ]
    totals = Recipe(axis=Axis.COMBINE, parameters=Parameters(d=4, b=3, n=8, T=12), split=Split.TRAIN, abstract=True)
    paper = Recipe(
        axis=Axis.COMBINE, parameters=Parameters(d=3, b=2, n=4, T=8, p=2), split=Split.TRAIN, style=Style.PAPER
    )
    golden("combine.txt", lines([generate(recipe, 0) for recipe in [*attacked, totals, paper]]))
