r"""Turns an answer as people and models write it into LaTeX that a parser reads.

``sqrt(2)/2`` ``x <= 3`` ``2*pi`` ``π/2`` and ``(-inf, 3)`` are not LaTeX; ``\sqrt{2}/2``, ``x \le 3``, … are.
"""

import re

from mas_orchestra.score.quantity import bare

__all__ = ["canonical", "is_formula", "to_latex"]

_LONGEST_FORMULA = 1_000
_DEEPEST_FORMULA = 40

_SYMBOLS = {
    "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "π": r"\pi ", "∞": r"\infty ", "×": r"\times ", "÷": r"\div ",
    "·": r"\cdot ", "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ", "±": r"\pm ", "√": r"\sqrt ", "θ": r"\theta ",
    "²": "^2", "³": "^3", "½": r"\frac{1}{2}", "°": r"^\circ ",
}  # fmt: skip
_SYMBOL = re.compile("[" + "".join(_SYMBOLS) + "]")
_OPERATORS = {"<=": r"\le ", ">=": r"\ge ", "!=": r"\ne ", "**": "^", "*": r"\cdot "}
_OPERATOR = re.compile(r"<=|>=|!=|\*\*|\*")
_WORDS = {"pi": r"\pi ", "inf": r"\infty ", "infinity": r"\infty ", "oo": r"\infty ", "theta": r"\theta "}
_WORD = re.compile(r"(?<![\\A-Za-z])(?:pi|inf|infinity|oo|theta)(?![A-Za-z])")
_ROOT = re.compile(r"(?<!\\)\bsqrt ?\(|[()]")


def is_formula(text: str) -> bool:
    """Whether the text may be a formula: one line, neither long nor nested beyond what an answer is."""
    if len(text) > _LONGEST_FORMULA or "\n" in text.strip():
        return False
    depth = deepest = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    return deepest <= _DEEPEST_FORMULA and bool(text.strip())


def to_latex(text: str) -> str:
    r"""The text as LaTeX without dollar signs.

    >>> to_latex("$sqrt(2)/2 <= x$")
    '\\sqrt{2}/2 \\le x'
    """
    plain = bare(text).replace("$", " ")
    plain = _SYMBOL.sub(lambda match: _SYMBOLS[match.group()], plain)
    plain = _OPERATOR.sub(lambda match: _OPERATORS[match.group()], plain)
    plain = _WORD.sub(lambda match: _WORDS[match.group()], plain)
    return " ".join(_with_roots(plain).split())


def canonical(text: str) -> str:
    """A form in which equal texts are equal, blanks and decoration aside; it decides nothing about mathematics."""
    return "".join(to_latex(text).replace("\\left", "").replace("\\right", "").replace("\\dfrac", "\\frac").split())


def _with_roots(text: str) -> str:
    """The text with the brackets of ``sqrt(…)`` as braces, matched in one pass."""
    if "sqrt" not in text:
        return text
    pieces: list[str] = []
    open_roots: list[bool] = []
    position = 0
    for match in _ROOT.finditer(text):
        mark = match.group()
        pieces.append(text[position : match.start()])
        position = match.end()
        if mark == ")":
            pieces.append("}" if open_roots and open_roots.pop() else ")")
        else:
            open_roots.append(mark != "(")
            pieces.append("(" if mark == "(" else "\\sqrt{")
    return "".join(pieces) + text[position:]
