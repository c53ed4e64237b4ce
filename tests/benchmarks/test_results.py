"""Rows, verdicts and the page that they make."""

import pytest

from results import Goal, Row, Table, row
from run_all import targets
from show import markdown, short, verdict

OURS = "mas_orchestra"


@pytest.mark.parametrize(("values", "median"), [([3.0, 1.0, 2.0], 2.0), ([4.0, 1.0, 2.0, 3.0], 2.5), ([7.0], 7.0)])
def test_a_row_holds_median_and_range(values: list[float], median: float) -> None:
    found = row("x", OURS, values)

    assert (found.value, found.low, found.high, found.repetitions) == (median, min(values), max(values), len(values))


@pytest.mark.parametrize(
    ("value", "goal", "met"),
    [
        (1.0, Goal(value=1.0), True),
        (1.1, Goal(value=1.0), False),
        (120.0, Goal(value=120, at_least=True), True),
        (119.0, Goal(value=120, at_least=True), False),
    ],
)
def test_a_goal_is_met_on_its_own_side(value: float, goal: Goal, met: bool) -> None:
    found = row("x", OURS, [value], goal=goal)

    assert found.met is met
    assert verdict(found).endswith("met" if met else "**missed**")


def test_peers_have_no_goals() -> None:
    assert row("x", "openai_sdk", [1.0], goal=Goal(value=0.5)).met is None


def table(*rows: Row) -> Table:
    return Table(title="Speed", unit="ms", command="python x.py", explanation="How fast.", rows=rows)


def test_a_table_has_a_line_a_measurement_and_a_column_a_peer() -> None:
    text = markdown(table(row("1", OURS, [0.5], goal=Goal(value=0.6)), row("1", "openai_sdk", [3.0, 4.0])))

    assert "|  | ours | by hand, openai SDK | target |" in text
    assert "| 1 | 0.5 | 3.50 (3.00 to 4.00) | ≤ 0.6: met |" in text


def test_missed_targets_are_named_first() -> None:
    missed = table(row("1", OURS, [0.7], goal=Goal(value=0.6)))

    assert targets((missed,)) == "Targets that are missed:\n\n- Speed, 1: 0.7 ms, target 0.6"
    assert targets(()) == "All targets are met."


@pytest.mark.parametrize(("value", "text"), [(0.01234, "0.0123"), (1.234, "1.23"), (99.9, "99.90"), (841.3, "841")])
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert short(value) == text
