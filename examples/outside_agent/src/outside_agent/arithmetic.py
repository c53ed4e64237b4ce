"""Arithmetic on text, exactly and without running any of it."""

import ast
import operator
from collections.abc import Callable
from fractions import Fraction

__all__ = ["compute", "shown"]

LONGEST_EXPRESSION = 500
MOST_BITS = 10_000

_BINARY: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}


def compute(expression: str) -> Fraction:
    """The exact value of an expression of numbers, ``+ - * / % **`` and brackets.

    >>> compute("0.1 + 0.2")
    Fraction(3, 10)

    Raises:
        ValueError: Anything else, a division by zero, or a number too large to be meant.
    """
    if len(expression) > LONGEST_EXPRESSION:
        raise ValueError(f"an expression has at most {LONGEST_EXPRESSION} characters, not {len(expression)}")
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ZeroDivisionError, RecursionError) as error:
        raise ValueError(f"{expression!r} cannot be computed: {error}") from None


def shown(value: Fraction, digits: int) -> str:
    """The value as an integer where it is one, else rounded to at most `digits` digits after the point.

    >>> shown(Fraction(8, 2), 3), shown(Fraction(-2, 3), 3), shown(Fraction(1, 4), 3)
    ('4', '-0.667', '0.25')
    """
    scaled = round(value * 10**digits)
    whole, rest = divmod(abs(scaled), 10**digits)
    fraction = f"{rest:0{digits}}".rstrip("0") if rest else ""
    return f"{'-' * (scaled < 0)}{whole}{'.' * bool(fraction)}{fraction}"


def _value(node: ast.expr) -> Fraction:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return Fraction(str(number))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left), _value(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left), _value(right))
    raise ValueError(f"{ast.unparse(node)!r} is no arithmetic; use numbers, + - * / % ** and brackets")


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if exponent.denominator != 1 or bits * abs(exponent) > MOST_BITS:
        raise ValueError(f"{base} to the power of {exponent} is not computed: whole, small powers only")
    return Fraction(base ** int(exponent))
