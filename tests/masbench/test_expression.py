"""The right side of a statement is read strictly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.masbench.expression import Combination, Prefix, is_quantity_name, read_expression, read_integer


def test_the_six_shapes():
    assert read_expression("17").literal == 17
    assert read_expression("each A's B").terms == ("A's B",)
    assert read_expression("3 more than each A's B").prefixes == ((Prefix.MORE, 3),)
    assert read_expression("3 times as much as each A's B").prefixes == ((Prefix.TIMES, 3),)
    assert read_expression("the sum of each A's B, each C's D and each E's F").terms == ("A's B", "C's D", "E's F")
    assert read_expression("the difference of each A's B and each C's D").combination is Combination.DIFFERENCE


@pytest.mark.parametrize(
    ("words", "offset", "scale"),
    [
        ("each A's B", 0, 1),
        ("4 more than each A's B", 4, 1),
        ("4 times as much as each A's B", 0, 4),
        ("4 more than 5 times as much as each A's B", 4, 5),
        ("4 times as much as 5 more than each A's B", 20, 4),
    ],
)
def test_prefixes_work_outside_in(words, offset, scale):
    assert read_expression(words).coefficients() == (offset, scale)


def test_names_may_hold_and_and_apostrophes():
    read = read_expression("the sum of each Marc's's Track and Field, and each Governor's District's Sam's Club")

    assert read.terms == ("Marc's's Track and Field", "Governor's District's Sam's Club")


def test_constants_are_what_a_template_leaves_blank():
    assert read_expression("3 more than 4 times as much as 5").constants == (3, 4, 5)
    assert read_expression("each A's B").constants == ()


@pytest.mark.parametrize(
    "words",
    [
        "",
        "five",
        "each Zoo",
        "A's B",
        "3 more than",
        "3 less than each A's B",
        "the sum of each A's B",
        "the difference of each A's B",
        "the difference of each A's B, each C's D and each E's F",
        "each A's B and each C's D",
        "-",
        "٣",
        "1" * 30,
    ],
)
def test_anything_else_is_refused_with_what_was_expected(words):
    with pytest.raises(ValueError, match="expected"):
        read_expression(words)


@given(st.text(max_size=60))
def test_no_text_does_anything_but_read_or_raise_value_error(text):
    try:
        read = read_expression(text)
    except ValueError:
        return
    assert read.constants or read.terms


def test_integers_are_ascii_and_bounded():
    assert [read_integer(text) for text in ("0", "-4", "22", "4.0", "", "1e3", "²", "9" * 18)] == [
        0,
        -4,
        22,
        None,
        None,
        None,
        None,
        10**18 - 1,
    ]


@pytest.mark.parametrize(("name", "is_one"), [("A's B", True), ("[answer3]", True), ("A's ", False), ("'s B", False)])
def test_quantity_names(name, is_one):
    assert is_quantity_name(name) is is_one
