r"""Reads a number with its unit, exactly and fast; what it does not surely understand it leaves to others.

=========================================  ==========================================================================
text                                       reading
=========================================  ==========================================================================
``073`` ``+5`` ``−5`` ``.50`` ``2.5e3``    the number
``1/3`` ``\frac13`` ``\tfrac{1}{3}``       the ratio
``16,181`` ``16{,}181`` ``16'181``         16181; also with a blank, thin or not, before groups of three
``1.234.567``                              1234567: two marks or more cannot be decimal ones
``16.181`` ``1,5``                         16.181, and no number; with the decimal mark ``,``: 16181, and 1.5
``60%`` ``60\%`` ``60 percent``            60 with the unit ``%``
``$1,250.00`` ``1250 dollars``             1250 with the unit ``$``; likewise ``€`` ``£`` ``¥``
``12 cm`` ``12\text{ cm}``                 12 with the unit ``cm``; words for units by a small table, else as written
``12x`` ``3 sin`` ``2\pi``                 no number: mathematics
=========================================  ==========================================================================
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

__all__ = ["Quantity", "bare", "read_quantity"]

_LONGEST = 200
_CHARACTERS = (
    {ord(mark): "-" for mark in "−–—‐‑"}
    | {ord(mark): "'" for mark in "‘’"}
    | {ord(mark): " " for mark in "\u00a0\u2007\u2009\u202f"}
    | {ord("⁄"): "/"}
    | {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
)
_WRAPPERS = (("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$"), ("**", "**"), ("`", "`"), ("{", "}"))
_PLAIN = re.compile(r"([+-]?[0-9]{1,60})(?:\.([0-9]{1,40}))?")
_SPACING = re.compile(r"\\[,;:! ]|\\quad\b|~")
_TEXT = re.compile(r"\\(?:text|textrm|mathrm|mbox|rm|operatorname) ?\{([^{}]*)\}")
_MONEY = re.compile(r"(-?) ?(US\$|[$€£¥]) ?(-?[0-9.].*)")
_NUMBER = re.compile(
    r"[+-]? ?(?:"
    r"[1-9][0-9]{0,2}(?:(?:,[0-9]{2}){0,4},[0-9]{3}|(?:,[0-9]{3}){1,12}|(?:[ '_][0-9]{3}){1,12})(?:\.[0-9]{0,40})?"
    r"|[1-9][0-9]{0,2}(?:\.[0-9]{3}){2,12}"
    r"|(?:[0-9]{1,60}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?"
    r"|\\[dt]?frac ?(?:\{ ?-?[0-9]{1,40} ?\} ?\{ ?[0-9]{1,40} ?\}|[0-9][0-9])"
    r")(?![0-9,.]?[0-9])"
)
_OVER = re.compile(r" ?/ ?([0-9]{1,40})")
_UNIT = re.compile(r"-?([a-z°%$€£¥¢µμ]{1,20}(?:[ /·][a-z°]{1,20}){0,2})(\^[23])?")
_POWER_WORD = re.compile(r"\b(square|cubic) ([a-z]{1,20})")
_WRITTEN = {ord("²"): "^2", ord("³"): "^3", ord("{"): None, ord("}"): None}
_NO_UNITS = frozenset(
    {"sqrt", "sin", "cos", "tan", "cot", "sec", "csc", "log", "ln", "exp", "mod", "pi", "theta", "alpha", "beta"}
    | {"and", "or", "if", "then", "times", "over", "plus", "minus", "not", "is", "are", "was", "but", "to", "so"}
    | {"because", "since", "maybe", "nor", "either", "with", "when", "where", "for", "cdot", "choose", "infty"}
)
"""A word of these makes it mathematics, or a sentence."""
_SHORTEST_WORD = 3
_UNIT_TABLE: Mapping[str, tuple[str, ...]] = {
    "%": ("percent", "per cent", "percentage points", "pct"),
    "$": ("dollar", "usd", "us$"),
    "€": ("euro", "eur"),
    "£": ("pound sterling", "gbp"),
    "¥": ("yen", "jpy"),
    "¢": ("cent",),
    "°": ("degree", "deg", "^circ"),
    "mm": ("millimeter", "millimetre"),
    "cm": ("centimeter", "centimetre"),
    "m": ("meter", "metre"),
    "km": ("kilometer", "kilometre"),
    "in": ("inch", "inches"),
    "ft": ("foot", "feet"),
    "mi": ("mile",),
    "g": ("gram", "gramme"),
    "kg": ("kilogram", "kilo"),
    "s": ("second", "sec"),
    "min": ("minute",),
    "h": ("hour", "hr"),
    "l": ("liter", "litre"),
    "ml": ("milliliter", "millilitre"),
    "km/h": ("kph", "kmh", "kilometers per hour"),
    "mph": ("miles per hour",),
}
_UNITS = {spelling: unit for unit, spellings in _UNIT_TABLE.items() for spelling in (unit, *spellings)}
_POWER_WORD = re.compile(r"\b(square|cubic) ([a-z]{1,20})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number with its unit.

    Attributes:
        unit: As in the table above; empty without one.
        decimals: Digits behind the decimal mark; ``None`` for a ratio.
    """

    value: Fraction
    unit: str = ""
    decimals: int | None = 0


def read_quantity(text: str, decimal_mark: str = ".") -> Quantity | None:
    r"""The number that the whole text is, or ``None``.

    >>> read_quantity(r"\$1,250.00").value, read_quantity("60\\%").unit, read_quantity("12x") is None
    (Fraction(1250, 1), '%', True)
    >>> read_quantity("16.181").value, read_quantity("16.181", decimal_mark=",").value
    (Fraction(16181, 1000), Fraction(16181, 1))
    """
    # The cache keeps its texts, so that long ones must not reach it.
    return _read(text, decimal_mark) if len(text) <= _LONGEST else None


@lru_cache(maxsize=4096)
def _read(text: str, decimal_mark: str) -> Quantity | None:
    plain_number = _PLAIN.fullmatch(text)
    if plain_number is not None and (plain_number[2] is None or decimal_mark == "."):  # nearly all: without the rest
        whole, digits = plain_number[1], plain_number[2] or ""
        return Quantity(value=Fraction(int(whole + digits), 10 ** len(digits)), decimals=len(digits))
    plain = bare(text)
    unit = ""
    if (money := _MONEY.fullmatch(plain)) is not None:
        plain, unit = money[1] + money[3], money[2].removeprefix("US")
    if decimal_mark == ",":
        plain = plain.translate({ord("."): ",", ord(","): "."})
    number = _NUMBER.match(plain)
    return _with_unit(number.group(), plain[number.end() :], unit) if number else None


def bare(text: str) -> str:
    """The text without what only decorates it: dollar signs and bold around the whole, spacing, a final full stop."""
    text = unicodedata.normalize("NFC", text).translate(_CHARACTERS)
    text = text.replace("{,}", ",").replace("\\%", "%")
    text = " ".join(_SPACING.sub(" ", text).split()).removesuffix(".")
    for opening, closing in _WRAPPERS:
        inside = text[len(opening) : -len(closing)]
        if text.startswith(opening) and text.endswith(closing) and inside and opening not in inside:
            text = inside.strip().removesuffix(".")
    return text.replace("\\$", "$")


def _with_unit(number: str, rest: str, unit: str) -> Quantity | None:
    value, decimals = _value(number)
    if value is None:
        return None
    if decimals is not None and (over := _OVER.match(rest)) is not None:
        if not int(over[1]):
            return None
        value, decimals, rest = value / Fraction(over[1]), None, rest[over.end() :]
    if rest:
        read = _unit(rest)
        if read is None or (unit and read != unit):
            return None
        unit = read
    return Quantity(value=value, unit=unit, decimals=decimals)


def _value(number: str) -> tuple[Fraction | None, int | None]:
    """The number's value and its decimals, ``None`` for those of a ratio."""
    if "frac" in number:
        parts = re.findall(r"-?[0-9]+", number)
        above, below = parts if len(parts) == 2 else (parts[0][0], parts[0][1])
        sign = -1 if number.startswith("-") else 1
        return (Fraction(sign * int(above), int(below)) if int(below) else None), None
    plain = re.sub(r"[ ,'_]", "", number)
    if plain.count(".") > 1:
        plain = plain.replace(".", "")
    mantissa = re.split("[eE]", plain)[0]
    return Fraction(plain.removesuffix(".")), len(mantissa.partition(".")[2])


def _unit(rest: str) -> str | None:
    """The unit that the whole text behind a number is; ``None`` where it may be mathematics or a sentence."""
    text = _TEXT.sub(r" \1", rest).replace("\\", "").translate(_WRITTEN).casefold()
    text = _POWER_WORD.sub(_as_power, " ".join(text.split()).rstrip("."))
    if text in _UNITS and len(text) > 1:
        return _UNITS[text]
    match = _UNIT.fullmatch(text)
    if match is None or _NO_UNITS & set(text.split()):
        return None
    name, power = match[1], match[2] or ""
    if known := _UNITS.get(name) or _UNITS.get(name.removesuffix("s")):
        is_variable = len(name) == 1 and name.isalpha() and not rest.startswith((" ", "\\"))
        return None if is_variable else known + power
    is_word = len(name) >= _SHORTEST_WORD or bool(_TEXT.search(rest)) or "/" in name
    return (name.removesuffix("s") if len(name) > _SHORTEST_WORD else name) + power if is_word else None


def _as_power(match: re.Match[str]) -> str:
    return f"{match[2]}^{2 if match[1] == 'square' else 3}"
