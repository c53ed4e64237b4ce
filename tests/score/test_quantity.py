"""Numbers with units: the table of readings, and what is left to mathematics."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.score.latex import canonical, is_formula, to_latex
from mas_orchestra.score.mathematics import PercentRule, same_quantity
from mas_orchestra.score.quantity import read_quantity


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("073", 73, ""),
        ("+5", 5, ""),
        ("−5", -5, ""),
        (".50", Fraction(1, 2), ""),
        ("5.", 5, ""),
        ("2.5e3", 2500, ""),
        ("1/3", Fraction(1, 3), ""),
        ("-1/2", Fraction(-1, 2), ""),
        (r"\frac13", Fraction(1, 3), ""),
        (r"-\dfrac{1}{3}", Fraction(-1, 3), ""),
        ("16,181", 16181, ""),
        ("16{,}181", 16181, ""),
        (r"16\,181", 16181, ""),
        ("16 181", 16181, ""),
        ("16\u202f181", 16181, ""),
        ("1’234", 1234, ""),
        ("1,00,000", 100000, ""),
        ("1,234,567.5", Fraction(2469135, 2), ""),
        ("1.234.567", 1234567, ""),
        ("16.181", Fraction(16181, 1000), ""),
        ("$1,250.00", 1250, "$"),
        (r"\$1,250", 1250, "$"),
        ("-$5", -5, "$"),
        ("3.50 dollars", Fraction(7, 2), "$"),
        ("US$5", 5, "$"),
        ("5 €", 5, "€"),
        (r"60\%", 60, "%"),
        ("60 percent", 60, "%"),
        ("12 cm", 12, "cm"),
        ("12cm", 12, "cm"),
        (r"12\text{ cm}", 12, "cm"),
        (r"5\text{m}", 5, "m"),
        ("5 m", 5, "m"),
        ("12 square inches", 12, "in^2"),
        ("5 cm²", 5, "cm^2"),
        ("7 m/s^2", 7, "m/s^2"),
        (r"90^\circ", 90, "°"),
        (r"90^{\circ}", 90, "°"),
        ("1/2 cup", Fraction(1, 2), "cup"),
        ("12 red balls", 12, "red ball"),
        ("**5**", 5, ""),
        ("$5$", 5, ""),
        (r"\(5\)", 5, ""),
        ("５", 5, ""),
    ],
)
def test_a_number_is_read_with_its_unit(text, value, unit):
    quantity = read_quantity(text)

    assert quantity is not None
    assert (quantity.value, quantity.unit) == (value, unit)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "12x",
        "5m",
        "5 x",
        "5i",
        "5!",
        "5^2",
        "3 sin",
        "5 pi",
        r"2\pi",
        "1,5",
        "3, 5",
        "1,234,56",
        "0,123",
        "1.2.3",
        "1234 567",
        "1/0",
        r"\frac{1}{0}",
        "5 or 6",
        "5 apples or 6",
        "5 is wrong",
        "5 is the first",
        "not 5",
        "٣",
        "$",
        "5 and",
        "9" * 300,
        "1e9999",
    ],
)
def test_what_is_not_surely_a_number_is_left_alone(text):
    assert read_quantity(text) is None


def test_the_decimal_mark_turns_marks_round():
    assert read_quantity("1,5", decimal_mark=",").value == Fraction(3, 2)
    assert read_quantity("16.181,5", decimal_mark=",").value == Fraction(32363, 2)
    assert read_quantity("16,181", decimal_mark=",").value == Fraction(16181, 1000)


@given(st.integers(min_value=-(10**30), max_value=10**30))
def test_integers_are_read_exactly_in_every_spelling(number):
    for text in (str(number), f"{number:,}", f"{number:_}", f"${number}$", f"{number}."):
        assert read_quantity(text).value == number, text


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**9), max_value=10**9))
def test_decimals_are_read_exactly(number):
    assert read_quantity(f"{number:f}").value == Fraction(number)


QUANTITIES = st.sampled_from([read_quantity(text) for text in ("60", "60%", "0.6", "0.6%", "60 cm", "1/3", "0.333333")])


@given(QUANTITIES, QUANTITIES, st.sampled_from(PercentRule))
def test_sameness_is_reflexive_and_symmetric(first, second, rule):
    assert same_quantity(first, first, rule)
    assert same_quantity(first, second, rule) == same_quantity(second, first, rule)


@given(st.text(max_size=60))
def test_no_text_is_too_strange_to_read(text):
    read_quantity(text)
    assert "$" not in to_latex(text)
    assert canonical(text) == canonical(f" {text}")


@pytest.mark.parametrize(
    ("text", "may_be"),
    [
        ("x+1", True),
        (" x+1\n", True),
        ("(" * 40, True),
        ("(" * 41, False),
        ("()" * 400, True),
        ("", False),
        ("a\nb", False),
    ],
)
def test_what_is_too_long_or_too_deep_is_no_formula(text, may_be):
    assert is_formula(text) is may_be
    assert not is_formula("x" * 1001)


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("sqrt(2)/2", r"\sqrt{2}/2"),
        ("sqrt((a+b)c) + sqrt(2", r"\sqrt{(a+b)c} + \sqrt{2"),
        (r"\sqrt{2}", r"\sqrt{2}"),
        ("x <= 3 and y>=2", r"x \le 3 and y\ge 2"),
        ("2*pi**2", r"2\cdot \pi ^2"),
        ("(-inf, 3)", r"(-\infty , 3)"),
        ("spin", "spin"),
        ("$x$ or $y$", "x or y"),
    ],
)
def test_plain_notation_becomes_latex(text, latex):
    assert to_latex(text) == latex
