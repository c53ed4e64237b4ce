"""Small built sets for tests of what reads them."""

import json

from mas_orchestra.masbench import axes
from mas_orchestra.masbench.generate import Recipe, generate
from mas_orchestra.masbench.problem import AttackKind, Axis, Problem, Split, Style


def problem(axis=Axis.DEPTH, value=4, index=0, split=Split.TRAIN, **options) -> Problem:
    """One problem of a sweep."""
    parameters = axes.sweep(axis, [value])[value]
    if parameters.r:
        options.setdefault("attack", AttackKind.NOTE)
    return generate(Recipe(axis=axis, value=value, parameters=parameters, split=split, **options), index)


def record(*args, **options) -> dict:
    """The JSON object of one problem."""
    return json.loads(problem(*args, **options).model_dump_json())


def write(path, records) -> None:
    """A file of JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in records), "utf-8")


def variants(axis, split, index=0):
    """Every style, attack and needle variant that an axis has, at its smallest and at a larger value."""
    for value in (3, 7):
        for style in Style:
            if axes.sweep(axis, [value])[value].r:
                for attack in AttackKind:
                    for needle in (False, True):
                        yield problem(axis, value, index, split, style=style, attack=attack, needle=needle)
            else:
                yield problem(axis, value, index, split, style=style)
