"""Simulated models that do exactly one thing wrong, or nothing, and MASBENCH problems to give them."""

from mas_orchestra.agents.base import StepCall
from mas_orchestra.agents.prompting import prompt
from mas_orchestra.masbench.axes import sweep
from mas_orchestra.masbench.generate import Recipe, generate
from mas_orchestra.masbench.problem import AttackKind, Axis, Problem, Split
from mas_orchestra.plan.catalog import NoArguments
from mas_orchestra.simulate.model import SimulatedModel
from mas_orchestra.simulate.profile import Profile

FLAWLESS = Profile(
    summary="Makes no mistake.",
    lookup=0,
    operation=0,
    combining=1,
    chaining=0,
    misreading=0,
    unevenness=0,
    context=0,
    reference_tokens=800,
    linked=1,
    independent=1,
    crowding=0,
    belief=0,
    operation_budget=1e6,
    budget_spread=0,
    unwritten=1,
    format_error=0,
    systematic=0,
    catch=1,
    false_alarm=0,
    conformity=0,
    copy_error=0,
    context_tokens=1_000_000,
    first_token_s=0.5,
    token_s=0.01,
)

CHAIN = (
    "The number of each Fox Farm's Red Barn equals 4. "
    "The number of each Red Barn's Hay Stack equals 3 more than each Fox Farm's Red Barn. "
    "The number of each Hay Stack's Straw equals 2 times as much as each Red Barn's Hay Stack.\n\n"
    "Problem 1: How many Hay Stack does Red Barn have?\nProblem 2: How many Straw does Hay Stack have?\n\n"
    'All arithmetic is modulo 23. Give one line a problem, written as "Problem k: \\boxed{answer}".'
)
"""Answers 7 and 14; what is asked first is needed for what is asked second."""
SINGLE = CHAIN.partition("\n\n")[0] + " How many Straw does Hay Stack have?"


def flawed(*, seed: int = 0, **changes: float) -> SimulatedModel:
    """A model that is flawless but for these numbers."""
    return SimulatedModel("test", seed=seed, own=FLAWLESS.model_copy(update=changes))


def problem(axis: Axis, value: int, index: int = 0) -> Problem:
    attack = AttackKind.NOTE if axis is Axis.ROBUSTNESS else None
    parameters = sweep(axis)[value]
    return generate(Recipe(axis=axis, value=value, parameters=parameters, split=Split.TEST, attack=attack), index)


def asked(question: str, task: str = "", template: str = "cot", **values):
    """The messages that a built-in sub-agent sends."""
    return prompt(template, StepCall(question=question, task=task, arguments=NoArguments()), **values)
