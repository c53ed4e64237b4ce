"""Fit the simulated models' profiles to the paper's single-agent accuracies, and say how far off they stay.

    python benchmarks/calibrate_simulator.py            # fit, then measure with real replies; prints Markdown
    python benchmarks/calibrate_simulator.py --write    # and keep the profiles in the package

Targets are accuracies of ONE agent (`simulator_targets`).
Nothing of the paper's multi-agent side is used: that is what the simulator is to predict. Everything here is SIMULATED.
"""

import argparse
import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mas_orchestra import seeds
from mas_orchestra.agents.base import StepCall
from mas_orchestra.agents.cot import CoTAgent
from mas_orchestra.errors import StepError
from mas_orchestra.masbench.axes import sweep
from mas_orchestra.masbench.generate import Recipe, generate
from mas_orchestra.masbench.problem import AttackKind, Axis, Problem, Split
from mas_orchestra.masbench.score import score_answers
from mas_orchestra.models.base import Completion, Params
from mas_orchestra.models.tokens import estimate_tokens
from mas_orchestra.plan.catalog import NoArguments
from mas_orchestra.search.base import Retriever
from mas_orchestra.simulate.model import SimulatedModel
from mas_orchestra.simulate.profile import Profile, profiles
from mas_orchestra.simulate.text import Kind, read
from mas_orchestra.types import Message
from simulator_targets import HIGH_EFFORT, STRONG, WEAK, Cell

Floats = NDArray[np.float64]
PROFILES = Path(__file__).parents[1] / "src/mas_orchestra/simulate/profiles.toml"
HEAD = "# Written by `python benchmarks/calibrate_simulator.py --write`; what each number means is in profile.py.\n"
PROMPT_TOKENS = 130
"""Of a chain-of-thought prompt besides its question."""
CHANCE = 1 / 23


@dataclass(frozen=True, slots=True, kw_only=True)
class Free:
    """A number that is fitted, with its bounds."""

    name: str
    low: float
    high: float


SHAPE = (
    Free(name="combining", low=1.0, high=4.0),
    Free(name="chaining", low=0.0, high=4.0),
    Free(name="unevenness", low=0.01, high=4.0),
    Free(name="independent", low=0.01, high=3.0),
    Free(name="operation_budget", low=10.0, high=80.0),
)
SKILL = (
    Free(name="lookup", low=1e-4, high=1.0),
    Free(name="operation", low=1e-5, high=1.0),
    Free(name="misreading", low=0.0, high=0.9),
    Free(name="linked", low=0.005, high=3.0),
    Free(name="crowding", low=0.0, high=0.6),
    Free(name="context", low=0.1, high=1.5),
)
BELIEF = (Free(name="belief", low=0.0, high=0.9),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How one profile comes about.

    Attributes:
        start: The profile whose other numbers it takes over.
        fixed: Numbers that are set and not fitted.
        afterwards: Numbers that are set after the fit.
    """

    name: str
    start: str
    targets: Mapping[Cell, float]
    free: tuple[Free, ...]
    fixed: Mapping[str, float] = field(default_factory=dict)
    afterwards: Mapping[str, float | str] = field(default_factory=dict)


FITS = (
    Fit(name="strong", start="strong", targets=STRONG, free=SKILL + SHAPE + BELIEF),
    Fit(name="weak", start="weak", targets=WEAK, free=SKILL + SHAPE),
    Fit(
        name="short-output",
        start="strong",
        targets=HIGH_EFFORT,
        free=SKILL + BELIEF,
        fixed={"operation_budget": 1e6},
        afterwards={
            "operation_budget": 12.0,
            "summary": "A large model at high effort whose replies are cut: room for 12 operations",
        },
    ),
)
START = {
    "misreading": 0.3,
    "unevenness": 0.7,
    "context": 0.5,
    "linked": 0.05,
    "independent": 1.0,
    "crowding": 0.3,
    "belief": 0.1,
    "operation_budget": 33.0,
}
STARTS = tuple(
    START | {"lookup": lookup, "operation": operation, "chaining": chaining, "combining": combining}
    for lookup, operation, chaining, combining in (
        (0.05, 0.02, 0.5, 1.2),
        (0.003, 0.005, 2.0, 2.0),
        (1e-3, 1e-3, 3.0, 2.5),
    )
)
"""Where each fit begins, so that it does not depend on the profiles that are there: the best end is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """What the accuracy of one reply depends on, for all texts of all cells in one row of arrays."""

    levels: Floats
    operations: Floats
    first_lines: NDArray[np.intp]
    tokens: Floats
    answers: Floats
    work: Floats
    claims: Floats
    kinds: NDArray[np.object_]
    first_texts: NDArray[np.intp]


def problems(cell: Cell, count: int) -> list[Problem]:
    """The first problems of a cell of the standard sweep, test split."""
    axis, value = cell
    attack = AttackKind.NOTE if axis is Axis.ROBUSTNESS else None
    recipe = Recipe(axis=axis, value=value, parameters=sweep(axis)[value], split=Split.TEST, attack=attack)
    return [generate(recipe, index) for index in range(count)]


def sizes(chosen: Sequence[Cell], texts: int) -> Sizes:
    """The sizes of so many texts of each cell."""
    questions = [problem.question for cell in chosen for problem in problems(cell, texts)]
    found = [read(question) for question in questions]
    routes = [text.route(text.names, ()) for text in found]
    counts = np.array([len(route.lines) for route in routes])
    return Sizes(
        levels=np.array([line.level for route in routes for line in route.lines], dtype=float),
        operations=np.array([line.operations for route in routes for line in route.lines], dtype=float),
        first_lines=np.concatenate([[0], np.cumsum(counts)[:-1]]),
        tokens=np.array([PROMPT_TOKENS + estimate_tokens(question) for question in questions], dtype=float),
        answers=np.array([len(text.names) for text in found], dtype=float),
        work=np.array([route.work for route in routes], dtype=float),
        claims=np.array([len(route.claims) for route in routes], dtype=float),
        kinds=np.array([text.kind for text in found], dtype=object),
        first_texts=np.arange(0, len(questions), texts),
    )


def expected(profile: Profile, given: Sizes) -> Floats:
    """Expected accuracy of one agent in each cell: the formulas of docs/simulator.md."""
    from scipy.stats import norm

    lines = profile.lookup * given.levels**profile.chaining + profile.operation * given.operations**profile.combining
    factors = {Kind.SINGLE: 1.0, Kind.LINKED: profile.linked, Kind.INDEPENDENT: profile.independent}
    scale = np.array([factors[kind] for kind in given.kinds])
    scale *= (given.tokens / profile.reference_tokens) ** profile.context
    scale *= 1 + profile.crowding * (given.answers - 1)
    hazards = np.add.reduceat(lines, given.first_lines) * scale
    unbelieving = (1 - profile.belief) ** (given.answers * given.claims)
    is_single = given.kinds == Kind.SINGLE

    def accuracy(hazard: Floats) -> Floats:
        right = (1 + profile.unevenness * hazard) ** (-1 / profile.unevenness) * unbelieving
        found: Floats = np.where(is_single, right + (1 - right) * CHANCE, right)
        return found

    cut: Floats = norm.cdf(np.log(given.work / profile.operation_budget) / profile.budget_spread)
    texts: Floats = (1 - cut) * accuracy(hazards) + cut * accuracy(profile.unwritten * hazards)
    by_chance = np.where(is_single, CHANCE, 0.0)
    texts = (1 - profile.misreading) * texts + profile.misreading * by_chance
    means: Floats = np.add.reduceat(texts, given.first_texts)
    texts_per_cell = len(texts) / len(given.first_texts)
    averages: Floats = means / texts_per_cell
    return averages


def fit(plan: Fit, base: Profile, texts: int) -> Profile:
    """The profile whose expected accuracies are nearest to the targets, in units of their own uncertainty."""
    from scipy.optimize import least_squares

    chosen, wanted = list(plan.targets), np.array(list(plan.targets.values()))
    uncertainty = np.sqrt(wanted * (1 - wanted) / 200 + 0.015**2)
    given = sizes(chosen, texts)
    base = base.model_copy(update=dict(plan.fixed))
    names = [each.name for each in plan.free]
    low, high = (np.array([getattr(each, bound) for each in plan.free]) for bound in ("low", "high"))

    def profile_of(numbers: Floats) -> Profile:
        return base.model_copy(update=dict(zip(names, map(float, numbers), strict=True)))

    def residuals(numbers: Floats) -> Floats:
        found: Floats = (expected(profile_of(numbers), given) - wanted) / uncertainty
        return found

    starts = [np.array([start[name] for name in names]) for start in STARTS]
    ends = [
        least_squares(residuals, np.clip(start, low, high), bounds=(low, high), x_scale=np.maximum(start, 1e-3))
        for start in starts
    ]
    best = min(ends, key=lambda end: float(end.cost))
    rounded = [float(f"{number:.3g}") for number in best.x]
    return profile_of(np.array(rounded)).model_copy(update=dict(plan.afterwards))


@dataclass(eq=False)
class DirectContext:
    """An `AgentContext` that asks the model and keeps nothing."""

    model: SimulatedModel
    rng: random.Random = field(default_factory=lambda: seeds.rng("calibrate"))
    retriever: Retriever | None = None

    async def complete(self, messages: tuple[Message, ...], params: Params, *, purpose: str) -> Completion:
        """One call."""
        del purpose
        return await self.model.complete(messages, params)

    def warn(self, code: str, message: str) -> None:
        """Nobody is told."""


async def measured(name: str, profile: Profile, cell: Cell, *, texts: int, attempts: int) -> float:
    """Accuracy of `CoTAgent` with that model, format retries included: avg@attempts over the texts of a cell."""
    context = DirectContext(SimulatedModel(name, own=profile))
    agent, right = CoTAgent(), 0
    for problem in problems(cell, texts):
        call = StepCall(question=problem.question, task="", arguments=NoArguments())
        for _ in range(attempts):
            try:
                answer = (await agent.run(call, context)).answer
            except StepError:
                continue
            right += score_answers(answer, problem.answers).strict.all_correct
    return right / (texts * attempts)


def report(plan: Fit, profile: Profile, *, texts: int, attempts: int) -> str:
    """A Markdown table of targets, expected and measured accuracies, before what is set afterwards."""
    tested = profile.model_copy(update=dict(plan.fixed)) if plan.fixed else profile
    formula = expected(tested, sizes(list(plan.targets), texts))
    rows = [f"### `sim:{plan.name}` (SIMULATED)", "", "| axis | value | paper | formula | replies | replies - paper |"]
    rows.append("|---|---|---|---|---|---|")
    misses = []
    for (cell, target), from_formula in zip(plan.targets.items(), formula, strict=True):
        found = asyncio.run(measured(plan.name, tested, cell, texts=texts, attempts=attempts))
        misses.append(found - target)
        rows.append(f"| {cell[0]} | {cell[1]} | {target:.3f} | {from_formula:.3f} | {found:.3f} | {misses[-1]:+.3f} |")
    root_mean_square, worst = np.sqrt(np.mean(np.square(misses))), max(misses, key=abs)
    return "\n".join([*rows, "", f"Root mean square residual {root_mean_square:.3f}, largest {worst:+.3f}."])


def toml(tables: Mapping[str, Profile]) -> str:
    """The profiles as a file."""
    parts = [HEAD]
    for name, profile in tables.items():
        lines = [f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}" for key, value in profile]
        parts.append("\n".join([f"[{name}]", *lines, ""]))
    return "\n".join(parts)


def main() -> None:
    """Fit all profiles, print the tables, and keep the profiles when asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the profiles in the package")
    parser.add_argument("--texts", type=int, default=200, help="texts a cell")
    parser.add_argument("--attempts", type=int, default=8, help="replies a text")
    chosen = parser.parse_args()
    found = dict(profiles())
    for plan in FITS:
        found[plan.name] = fit(plan, found[plan.start], min(chosen.texts, 60))
        print(report(plan, found[plan.name], texts=chosen.texts, attempts=chosen.attempts), end="\n\n", flush=True)
    ordered = {name: found[name] for name in ("weak", "strong", "short-output")}
    if chosen.write:
        PROFILES.write_text(toml(ordered), "utf-8")
    print(toml(ordered))


if __name__ == "__main__":
    main()
