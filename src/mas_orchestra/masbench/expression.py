"""The right side of a statement, read strictly from its words.

One grammar, the published one (MASBENCH after iGSM), read left to right in one pass::

    expression = {integer ("more than" | "times as much as")} combination
    combination = integer | term | "the sum of" term {"," term} "and" term | "the difference of" term "and" term
    term = "each" name

A name is any text, apostrophes and " and " included; a quantity is known by its whole text ("Governor's District's
Aldi"), so reading never has to guess where an owner ends.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Combination", "Expression", "Prefix", "read_expression", "read_integer"]

_PREFIX = re.compile(r"(\d{1,18}) (more than|times as much as) ")
_BETWEEN_TERMS = re.compile(r",? and each |, each ")
_INTEGER = re.compile(r"-?\d{1,18}")


class Prefix(StrEnum):
    """What a constant does to the rest of the expression."""

    MORE = "more than"
    TIMES = "times as much as"


class Combination(StrEnum):
    """How the terms of an expression are put together."""

    LITERAL = "literal"
    ONE = "one"
    SUM = "sum"
    DIFFERENCE = "difference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """What a statement says that a quantity equals.

    Attributes:
        prefixes: Constants before the combination, outermost first; at most one in the published set.
        literal: The constant of a `LITERAL` combination, else 0.
        terms: Quantities read, in the order of the text.
    """

    combination: Combination
    prefixes: tuple[tuple[Prefix, int], ...] = ()
    literal: int = 0
    terms: tuple[str, ...] = ()

    @property
    def constants(self) -> tuple[int, ...]:
        """Every constant, in the order of the text: what a template leaves blank."""
        tail = (self.literal,) if self.combination is Combination.LITERAL else ()
        return (*(constant for _, constant in self.prefixes), *tail)

    def coefficients(self) -> tuple[int, int]:
        """Offset and scale: the value is ``offset + scale × combination``, not reduced.

        >>> read_expression("3 more than 2 times as much as each Zoo's Cage").coefficients()
        (3, 2)
        """
        offset, scale = 0, 1
        for prefix, constant in self.prefixes:
            if prefix is Prefix.MORE:
                offset += scale * constant
            else:
                scale *= constant
        return offset, scale


def read_integer(text: str) -> int | None:
    """The integer that the whole text is, or ``None``.

    >>> read_integer("17"), read_integer("17 apples")
    (17, None)
    """
    return int(text) if _INTEGER.fullmatch(text) and text.isascii() else None


def read_expression(text: str) -> Expression:
    """The expression that the whole text is, full stop removed.

    >>> read_expression("8 more than the sum of each A's B and each C's D").terms
    ("A's B", "C's D")

    Raises:
        ValueError: It is none; says what stands where a term was due.
    """
    prefixes = []
    position = 0
    while match := _PREFIX.match(text, position):
        prefixes.append((Prefix(match[2]), int(match[1])))
        position = match.end()
    rest = text[position:]
    combination, terms = _combination(rest)
    literal = read_integer(rest) if combination is Combination.LITERAL else None
    return Expression(combination=combination, prefixes=tuple(prefixes), literal=literal or 0, terms=terms)


def _combination(text: str) -> tuple[Combination, tuple[str, ...]]:
    if read_integer(text) is not None:
        return Combination.LITERAL, ()
    if text.startswith("the sum of "):
        return Combination.SUM, _terms(text.removeprefix("the sum of "), least=2, most=None)
    if text.startswith("the difference of "):
        return Combination.DIFFERENCE, _terms(text.removeprefix("the difference of "), least=2, most=2)
    return Combination.ONE, _terms(text, least=1, most=1)


def _terms(text: str, *, least: int, most: int | None) -> tuple[str, ...]:
    if not text.startswith("each "):
        raise ValueError(
            f"expected an integer, 'each …', 'the sum of each …' or 'the difference of each …', got {text!r}"
        )
    terms = tuple(_BETWEEN_TERMS.split(text.removeprefix("each ")))
    if len(terms) < least or (most is not None and len(terms) > most):
        wanted = f"{least}" if least == most else f"{least} or more"
        raise ValueError(f"expected {wanted} of 'each …', got {len(terms)} in {text!r}")
    for term in terms:
        if not is_quantity_name(term):
            raise ValueError(f'expected an owner and an item as in "each Zoo\'s Cage", got {term!r}')
    return terms


def is_quantity_name(text: str) -> bool:
    """Whether the text names a quantity: "A's B", or the placeholder of an earlier answer.

    >>> is_quantity_name("Marc's's Canned Olives"), is_quantity_name("[answer2]"), is_quantity_name("Marc's")
    (True, True, False)
    """
    owner, _, item = text.partition("'s ")
    return bool(owner.strip() and item.strip()) or (text.startswith("[answer") and text.endswith("]"))
