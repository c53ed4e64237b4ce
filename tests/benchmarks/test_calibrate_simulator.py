"""The calibration's formula says what the simulator does, its fit finds what is there, its file is the shipped one."""

import pytest

from calibrate_simulator import FITS, PROFILES, Fit, Free, expected, fit, measured, sizes, toml
from mas_orchestra.masbench.problem import Axis
from mas_orchestra.simulate.profile import profile, profiles
from support.simulated import FLAWLESS

TEXTS, ATTEMPTS = 120, 3


@pytest.mark.parametrize(
    "cell", [(Axis.DEPTH, 4), (Axis.BREADTH, 4), (Axis.PARALLEL, 2), (Axis.HORIZON, 4), (Axis.ROBUSTNESS, 2)]
)
@pytest.mark.parametrize(
    "changes",
    [
        {"lookup": 0.01, "chaining": 1.0, "operation": 0.02},
        {"lookup": 0.02, "linked": 0.5, "independent": 0.4, "crowding": 0.2, "context": 1.0, "unevenness": 0.8},
        {"misreading": 0.4, "systematic": 0.7, "lookup": 0.005},
        {"operation_budget": 14.0, "budget_spread": 0.3, "lookup": 0.01, "unwritten": 3.0},
        {"belief": 0.05, "format_error": 0.05},
    ],
    ids=["errors", "scale", "misreading", "room", "belief"],
)
async def test_replies_are_as_accurate_as_the_formula_says(cell, changes):
    """Within four standard errors of that many texts; all is seeded, so it is the same every time."""
    tested = FLAWLESS.model_copy(update={"budget_spread": 0.1, "unevenness": 0.01, **changes})
    (formula,) = expected(tested, sizes([cell], TEXTS))
    found = await measured("test", tested, cell, texts=TEXTS, attempts=ATTEMPTS)

    assert found == pytest.approx(formula, abs=0.02 + 4 * (formula * (1 - formula) / TEXTS) ** 0.5)


def test_a_fit_finds_the_numbers_that_made_its_targets():
    cells = [(Axis.DEPTH, value) for value in (2, 4, 6, 8)]
    true = FLAWLESS.model_copy(update={"lookup": 0.05, "chaining": 1.5, "unevenness": 0.01, "budget_spread": 0.1})
    targets = dict(zip(cells, expected(true, sizes(cells, 20)).tolist(), strict=True))
    free = (Free(name="lookup", low=0.0, high=1.0), Free(name="chaining", low=0.0, high=4.0))
    found = fit(Fit(name="test", start="weak", targets=targets, free=free), true.model_copy(update={"lookup": 0.5}), 20)

    assert (found.lookup, found.chaining) == pytest.approx((0.05, 1.5), rel=0.02)


def test_the_shipped_file_is_what_the_script_writes():
    assert PROFILES.read_text("utf-8") == toml(profiles())


@pytest.mark.parametrize("plan", FITS, ids=lambda plan: plan.name)
def test_shipped_numbers_are_within_their_bounds_and_as_near_to_the_targets_as_documented(plan):
    shipped = profile(plan.name)
    tested = shipped.model_copy(update=dict(plan.fixed))
    misses = expected(tested, sizes(list(plan.targets), 60)) - list(plan.targets.values())

    assert all(each.low <= getattr(tested, each.name) <= each.high for each in plan.free)
    assert (misses**2).mean() ** 0.5 < 0.06


def test_nothing_of_the_multi_agent_side_is_a_target():
    """The paper's multi-agent accuracies at the same cells: none of them may be fitted to."""
    multi_agent = {(Axis.ROBUSTNESS, 2): 0.466, (Axis.HORIZON, 2): 0.208, (Axis.PARALLEL, 2): 0.401}

    assert all(plan.targets.get(cell) != value for plan in FITS for cell, value in multi_agent.items())
