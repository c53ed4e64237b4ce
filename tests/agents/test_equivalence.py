"""Which answers are the same answer."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.agents.equivalence import answer_key, group_by_key, group_by_relation

SAME = [
    [
        "16181",
        "16,181",
        "16{,}181",
        "16\\,181",
        "16\u2009181",
        "$16,181$",
        "\\boxed{16181}",
        "16181.0",
        "+16181",
        "16181.",
    ],
    ["1234567", "1,234,567", "1.234.567"],
    ["0.5", ".5", "0.50", "1/2", "\\frac{1}{2}", "\\dfrac12", "\\boxed{\\frac{2}{4}}", "5e-1", "$\\frac{1}{2}$", "1⁄2"],
    ["-3", "−3", "- 3", "-3.0", "\\(-3\\)", "-6/2"],
    ["0", "-0", "0.0"],
    ["1250", "$1,250.00", "\\$1250"],
    ["60%", "60 %", "60\\%", "60.0%"],
    ["B", "b", "(B)", "B.", "B)", "**B**", "option B", "\\text{B}", "(b).", "\\boxed{B}"],
    ["New York", "new-york", "New York.", " new  york ", "“New York”", "NEW YORK!"],
    ["x^2 + 1", "x^2+1", "$x^2+1$"],
    ["a an the", "A an the"],
    ["４２", "42"],
    ["Don't know", "don’t know"],
]
APART = [
    ("16.181", "16181"),
    ("16 181", "16181"),
    ("1,5", "1.5"),
    ("1,5", "15"),
    ("3, 5", "35"),
    ("50%", "0.5"),
    ("60%", "60"),
    ("12 cm", "12"),
    ("12 cm", "12 m"),
    ("€5", "5"),
    ("x<3", "x>3"),
    ("X+1", "x+1"),
    ("x²", "x2"),
    ("a-b", "ab"),
    ("(0,1]", "[0,1)"),
    ("B", "B) Paris"),
    ("A", "B"),
    ("A", "a an the"),
    ("1.5", "15"),
    ("-5", "5"),
    ("1/0", "0"),
    ("...", "?!"),
    ("\\boxed{3} \\boxed{4}", "\\boxed{4} \\boxed{3}"),
    ("\\boxed{3} \\boxed{4}", "4"),
    ("0,123", "123"),
    ("9" * 5_000, "8" * 5_000),
]


@pytest.mark.parametrize("forms", SAME, ids=lambda forms: forms[0])
def test_forms_of_one_answer_are_the_same(forms):
    assert {form: answer_key(form) for form in forms} == dict.fromkeys(forms, answer_key(forms[0]))


@pytest.mark.parametrize(("first", "second"), APART)
def test_different_answers_stay_apart(first, second):
    assert answer_key(first) != answer_key(second)


def test_answers_of_different_lines_of_the_table_stay_apart():
    for forms, others in itertools.combinations(SAME, 2):
        assert answer_key(forms[0]) != answer_key(others[0])


def test_answers_in_several_boxes_are_compared_box_by_box():
    assert answer_key("Problem 1: \\boxed{3}; problem 2: \\boxed{1/2}") == answer_key("\\boxed{3.0}\n\n\\boxed{0.5}")


@st.composite
def number_forms(draw) -> tuple[Fraction, str]:
    """An integer or a fraction, in one of its forms."""
    numerator, denominator = draw(st.integers(-(10**9), 10**9)), draw(st.sampled_from([1, 1, 2, 4, 5, 8, 3, 7]))
    value = Fraction(numerator, denominator)
    sign, size = "-" * (value < 0), abs(value)
    forms = [f"{value}", f"{sign}\\frac{{{size.numerator}}}{{{size.denominator}}}", f"\\boxed{{{value}}}", f" {value} "]
    if value.denominator == 1:
        forms += [f"{value.numerator:,}", f"{value.numerator}.00", f"${value.numerator}$"]
    if 1000 % value.denominator == 0:
        forms.append(f"{sign}{size.numerator // size.denominator}.{int(size * 1000 % 1000):03}")
    return value, draw(st.sampled_from(forms))


@given(number_forms(), number_forms())
def test_numbers_are_the_same_exactly_when_their_values_are(first, second):
    assert (answer_key(first[1]) == answer_key(second[1])) == (first[0] == second[0])


@given(st.text())
def test_every_text_has_a_key_that_blanks_around_it_do_not_change(text):
    assert answer_key(f"  {text}\n") == answer_key(text)


@given(st.lists(st.sampled_from(list(itertools.chain(*SAME))), max_size=12))
async def test_labels_are_an_equivalence_relation(answers):
    labels = await group_by_key(answers)

    assert len(labels) == len(answers)
    for (one, first), (two, second) in itertools.product(zip(labels, answers, strict=True), repeat=2):
        assert (one == two) == any(first in forms and second in forms for forms in SAME)


@given(st.lists(st.integers(0, 12), max_size=10), st.randoms())
def test_a_relation_that_is_neither_symmetric_nor_transitive_gives_the_same_groups_in_any_order(numbers, random):
    answers = [str(number) for number in numbers]

    def one_below(first: str, second: str) -> bool:
        return int(first) + 1 == int(second) or first == second

    def groups(order: list[int]) -> set[frozenset[int]]:
        labels = group_by_relation([answers[at] for at in order], one_below)
        return {frozenset(at for at, label in zip(order, labels, strict=True) if label == one) for one in labels}

    shuffled = list(range(len(answers)))
    random.shuffle(shuffled)
    assert groups(list(range(len(answers)))) == groups(shuffled)
