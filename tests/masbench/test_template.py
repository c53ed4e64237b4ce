"""Templates are the same for relabelled, reordered texts, and differ for different structures."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.masbench.read_text import read_text
from mas_orchestra.masbench.system import build_systems
from mas_orchestra.masbench.template import template_digest
from masbench.random_texts import random_text


def digest(text, **options):
    passage = read_text(text)
    system = build_systems(passage.statements, passage.questions)[0]
    return template_digest(system, [question.name for question in passage.questions], **options)


def one(*statements, ask="Z"):
    sentences = " ".join(f"The number of each A's {left} equals {right}." for left, right in statements)
    return digest(f"{sentences} How many {ask} does A have?")


@given(seed=st.integers(0, 10**9))
def test_names_constants_and_the_order_of_statements_and_sums_are_no_part_of_it(seed):
    made = random_text(seed)
    rng = random.Random(seed)
    body, _, question = made.text.rpartition(". ")
    statements = f"{body}.".replace(". The number", ".\nThe number").split("\n")
    rng.shuffle(statements)
    for place, key in enumerate(made.equations):
        statements = [statement.replace(key, f"X{place}'s Y") for statement in statements]
        question = f"What is the value of X{place}'s Y?" if key == made.asked[0] else question
    changed = " ".join(statements)

    assert digest(f"{changed} {question}") == digest(made.text)


def test_terms_of_a_sum_have_no_order_and_those_of_a_difference_do():
    leaf, other = ("B", "3"), ("C", "2 more than each A's D")
    rest = ("D", "4")

    assert one(leaf, other, rest, ("Z", "the sum of each A's B and each A's C")) == one(
        leaf, other, rest, ("Z", "the sum of each A's C and each A's B")
    )
    assert one(leaf, other, rest, ("Z", "the difference of each A's B and each A's C")) != one(
        leaf, other, rest, ("Z", "the difference of each A's C and each A's B")
    )


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("each A's B", "2 more than each A's B"),
        ("2 times as much as each A's B", "2 more than each A's B"),
        ("the sum of each A's B and each A's C", "the difference of each A's B and each A's C"),
        ("the sum of each A's B and each A's C", "each A's B"),
        ("the sum of each A's B and each A's C", "the sum of each A's B and each A's B"),
    ],
)
def test_operators_are_part_of_it(left, right):
    leaves = (("B", "3"), ("C", "4"))

    assert one(*leaves, ("Z", left)) != one(*leaves, ("Z", right))


def test_sharing_is_part_of_it():
    shared = one(("B", "3"), ("C", "each A's B"), ("D", "each A's B"), ("Z", "the sum of each A's C and each A's D"))
    apart = one(
        ("B", "3"), ("E", "3"), ("C", "each A's B"), ("D", "each A's E"), ("Z", "the sum of each A's C and each A's D")
    )

    assert shared != apart


def test_constants_count_when_asked_for_and_distractors_never():
    text = "The number of each A's B equals {}. {} How many B does A have?"

    assert digest(text.format(3, "")) == digest(text.format(4, "The number of each A's C equals 5."))
    assert digest(text.format(3, ""), with_constants=True) != digest(text.format(4, ""), with_constants=True)
    assert digest(text.format(3, ""), with_constants=True) == digest(text.format(3, ""), with_constants=True)
