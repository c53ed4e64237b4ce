"""A text as the simulated model has it before it agrees with the row's certificate."""

import pytest

from mas_orchestra.masbench.problem import Axis
from mas_orchestra.masbench.sentences import UnreadableTextError
from mas_orchestra.masbench.system import UnsolvableTextError
from mas_orchestra.simulate.text import Kind, read
from support.simulated import CHAIN, SINGLE, problem


@pytest.mark.parametrize(
    ("axis", "kind"),
    [
        (Axis.DEPTH, Kind.SINGLE),
        (Axis.BREADTH, Kind.SINGLE),
        (Axis.PARALLEL, Kind.INDEPENDENT),
        (Axis.HORIZON, Kind.LINKED),
        (Axis.ROBUSTNESS, Kind.LINKED),
    ],
)
def test_what_is_asked_and_its_answers_are_those_of_the_row(axis, kind):
    for index in range(5):
        row = problem(axis, 4, index)
        text = read(row.question)

        assert tuple(text.true_values(text.names).values()) == row.answers
        assert text.kind is kind
        assert len(text.claims) == row.parameters.r


def test_a_route_holds_what_is_needed_with_its_level_and_its_operations():
    text = read(SINGLE)
    route = text.route(text.names, ())

    assert [(line.name, line.level, line.operations) for line in route.lines] == [
        ("Fox Farm's Red Barn", 1, 0),
        ("Red Barn's Hay Stack", 2, 1),
        ("Hay Stack's Straw", 3, 1),
    ]
    assert route.work == 3


def test_what_is_handed_over_cuts_the_route_short():
    text = read(SINGLE)

    assert [line.name for line in text.route(text.names, ("Red Barn's Hay Stack",)).lines] == ["Hay Stack's Straw"]
    assert text.route(text.names, text.names).lines == ()
    assert text.route(text.names, ("Nobody's Thing",)).handed == ()


def test_steps_are_written_as_sums():
    row = problem(Axis.BREADTH, 4)
    text = read(row.question)
    values: dict[str, int] = {}
    for line in text.route(text.names, ()).lines:
        values[line.name] = line.equation.value(values)
        written = line.sentence % (*(values[name] for name in line.inputs), values[line.name])

        assert written.startswith(f"{line.name} = ")
        assert written.endswith(f" {values[line.name]}")


def test_names_with_percent_signs_are_only_names():
    text = read(CHAIN.replace("Straw", "100%d Straw%"))

    assert "100%d Straw% = 2 * 7 = 14" in text.route(text.names, ()).lines[-1].sentence % (7, 14)


@pytest.mark.parametrize(
    ("question", "error"),
    [
        ("What is 2 + 2?", UnreadableTextError),
        ("", UnreadableTextError),
        ("The number of each A's B equals 3.", UnreadableTextError),
        ("The number of each A's B equals each A's B. How many B does A have?", UnsolvableTextError),
    ],
)
def test_what_is_not_of_the_family_or_has_no_answer_is_refused(question, error):
    with pytest.raises(error):
        read(question).route(("A's B",), ())


def test_two_statements_of_one_quantity_leave_it_without_an_answer():
    text = read("The number of each A's B equals 3. The number of each A's B equals 4. How many B does A have?")

    with pytest.raises(UnsolvableTextError, match="twice"):
        text.route(text.names, ())
