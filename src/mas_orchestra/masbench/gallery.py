"""The gallery page: one small problem of every axis, attack and variant, with its graph and its answers."""

from collections.abc import Iterator

from mas_orchestra.masbench.drawing import mermaid
from mas_orchestra.masbench.generate import Recipe, generate
from mas_orchestra.masbench.problem import AttackKind, Axis, Parameters, Problem, Split, Style

__all__ = ["exhibits", "gallery"]

_SMALL = Parameters(d=4, b=2, n=5, T=8)
_ATTACKED = Parameters(d=4, b=2, n=5, T=8, h=2, r=2)

_HEAD = """# MASBENCH gallery

One small problem of every axis and attack, as `mas bench gallery` writes it. Arrows go from what a quantity is computed
from; double frames are asked, `⚠` is attacked. Statements that no arrow shows are distractors.
"""


def _recipes() -> Iterator[tuple[str, Recipe]]:
    def recipe(axis: Axis, parameters: Parameters, value: int | None = None, **options: object) -> Recipe:
        return Recipe(axis=axis, parameters=parameters, value=value, split=Split.TEST, **options)  # type: ignore[arg-type]  # keywords of Recipe

    yield "Depth 4", recipe(Axis.DEPTH, _SMALL, 4)
    yield "Breadth 3", recipe(Axis.BREADTH, Parameters(d=3, b=3, n=6, T=9), 3)
    yield "Horizon 3", recipe(Axis.HORIZON, Parameters(d=4, b=2, n=5, T=8, h=3), 3)
    yield "Parallel 2", recipe(Axis.PARALLEL, Parameters(d=3, b=2, n=4, T=10, p=2), 2)
    for kind in AttackKind:
        yield f"Robustness 2, attack `{kind}`", recipe(Axis.ROBUSTNESS, _ATTACKED, 2, attack=kind)
    yield "Robustness 2 with needles", recipe(Axis.ROBUSTNESS, _ATTACKED, 2, attack=AttackKind.NOTE, needle=True)
    yield "Category totals (`--abstract`)", recipe(Axis.COMBINE, Parameters(d=4, b=3, n=7, T=10), abstract=True)
    yield "The paper's wording (`--style paper`)", recipe(Axis.DEPTH, _SMALL, 4, style=Style.PAPER)


def exhibits() -> Iterator[tuple[str, Problem]]:
    """Every problem of the gallery with its title."""
    return ((title, generate(recipe, 0)) for title, recipe in _recipes())


def gallery() -> str:
    """The page as Markdown, the same on every machine."""
    return "\n".join([_HEAD, *(_exhibit(title, problem) for title, problem in exhibits())])


def _exhibit(title: str, problem: Problem) -> str:
    return "\n".join(
        [
            f"## {title}\n",
            f"`{problem.id}`\n",
            f"```text\n{problem.question}\n```\n",
            f"Answers: {', '.join(map(str, problem.answers))}\n",
            *_believed(problem),
            f"```mermaid\n{mermaid(problem)}\n```\n",
        ]
    )


def _believed(problem: Problem) -> Iterator[str]:
    if problem.poisoned:
        joint = ", ".join(map(str, problem.poisoned.joint))
        yield f"Answers of a reader who believes every false value: {joint}\n"
