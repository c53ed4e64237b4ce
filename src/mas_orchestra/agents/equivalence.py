r"""When two answers are the same answer, for votes and consensus.

The rule built in gives every answer a key and compares keys, so it is an equivalence relation by construction:
reflexive, symmetric, transitive. It is careful: what it does not understand stays apart.

========================================================  ===========================================================
same                                                      not the same
========================================================  ===========================================================
``16,181`` ``16181`` ``16{,}181``                         ``16.181`` and ``16181`` (which mark is it?)
``1.234.567`` ``1234567``                                 ``1,5`` and ``1.5``
``0.5`` ``.50`` ``1/2`` ``\frac{1}{2}`` ``\boxed{2/4}``   ``50%`` and ``0.5``
``$1,250.00`` ``1250``; ``60 %`` ``60\%``                 ``12 cm`` and ``12``; ``€5`` and ``5``
``B`` ``(b)`` ``B.`` ``option B``                         ``B`` and ``B) Paris``
``New-York!`` ``new york``                                ``x<3`` and ``x>3``; ``X+1`` and ``x+1``
========================================================  ===========================================================
"""

import re
import unicodedata
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Protocol

from mas_orchestra.agents.boxed import boxed

__all__ = ["Grouping", "answer_key", "group_by_key", "group_by_relation"]

LONGEST_NUMBER = 200
_MARKS = {ord(mark): "-" for mark in "−–—‐‑"} | {ord(mark): "'" for mark in "‘’`´"} | {ord("⁄"): "/"}
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_TRANSLATION = _MARKS | _FULL_WIDTH | {ord(mark): '"' for mark in "“”"}
_WRAPPERS = (("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$"), ("**", "**"), ("`", "`"), ("'", "'"), ('"', '"'))
_THIN_SPACE = re.compile(r"(?<=\d)(?:[\u00a0\u2009\u202f]|\\,|\{,\})(?=\d{3})")

_PLAIN = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?")
_DOTTED = re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3}){2,}")
_RATIO = re.compile(r"([0-9]+) ?/ ?([0-9]+)|\\[dt]?frac ?\{ ?([0-9]+) ?\} ?\{ ?([0-9]+) ?\}|\\[dt]?frac([0-9])([0-9])")
_QUANTITY = re.compile(r"(-?)\+? ?([$€£¥]?) ?([-+]?)([^%]*)(%?)")
_LETTER = re.compile(r"(?:(?:option|choice|answer) )?\(?([a-z])[).:]{0,2}", re.IGNORECASE)
_FORMULA = re.compile(r"[\\^_=<>+*/|{}()\[\]%~&#-]")
_WORD_HYPHEN = re.compile(r"(?<=[^\W\d_]{2})-(?=[^\W\d_]{2})")
_PUNCTUATION = re.compile(r"[\"',;:!?]|\.(?![0-9])")


class Grouping(Protocol):
    """Says which answers are the same; a stronger rule than the built-in one may work in another process."""

    async def __call__(self, answers: Sequence[str]) -> Sequence[int]:
        """One label an answer, in order; equal labels mean the same answer."""
        ...


async def group_by_key(answers: Sequence[str]) -> Sequence[int]:
    """Labels by `answer_key`, numbered by first appearance."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(answer_key(answer), len(numbers)) for answer in answers]


def group_by_relation(answers: Sequence[str], same: Callable[[str, str], bool]) -> Sequence[int]:
    """Labels of the connected components of any relation, so that neither order nor direction of asking matters.

    >>> group_by_relation(["a", "B", "b", "A"], lambda first, second: first.lower() == second.lower())
    [0, 1, 1, 0]
    """
    labels = list(range(len(answers)))
    for later, answer in enumerate(answers):
        for earlier in range(later):
            if labels[earlier] != labels[later] and (same(answers[earlier], answer) or same(answer, answers[earlier])):
                low, high = sorted((labels[earlier], labels[later]))
                labels = [low if label == high else label for label in labels]
    numbers: dict[int, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def answer_key(answer: str) -> Hashable:
    r"""Equal keys mean the same answer.

    >>> answer_key(r"\boxed{\frac{2}{4}}") == answer_key("0.50")
    True
    >>> answer_key("Problem 1: \\boxed{3}, problem 2: \\boxed{4}") == answer_key("\\boxed{3} \\boxed{4.0}")
    True
    """
    boxes = boxed(answer)
    if len(boxes) > 1:
        return ("boxes", *(_plain_key(box) for box in boxes))
    return _plain_key(boxes[0] if boxes else answer)


def _plain_key(answer: str) -> Hashable:
    text = _unwrapped(_THIN_SPACE.sub("", unicodedata.normalize("NFC", answer).translate(_TRANSLATION)))
    quantity = _quantity(text.removesuffix("."))
    if quantity is not None:
        return quantity
    if letter := _LETTER.fullmatch(text):
        return ("text", letter[1].casefold())
    words = _WORD_HYPHEN.sub(" ", text)
    if _FORMULA.search(words):
        return ("formula", "".join(text.removesuffix(".").split()))
    words = " ".join(_PUNCTUATION.sub(" ", words).casefold().split())
    return ("text", words) if words else ("raw", answer.strip())


def _unwrapped(text: str) -> str:
    """Without blanks at the ends, runs of blanks, escapes of ``%`` and ``$``, and marks around the whole."""
    text = " ".join(text.split()).replace("\\%", "%").replace("\\$", "$")
    if (inner := re.fullmatch(r"\\(?:text|mathrm|mathbf) ?\{([^{}]*)\}", text)) is not None:
        text = inner[1].strip()
    for opening, closing in _WRAPPERS:
        inside = text[len(opening) : -len(closing)]
        wraps = len(text) > len(opening) + len(closing) and text.startswith(opening) and text.endswith(closing)
        if wraps and opening not in inside and closing not in inside:
            return _unwrapped(inside)
    return text


def _quantity(text: str) -> Hashable | None:
    """``("number", unit, value)`` of a number with at most a currency sign or a percent sign."""
    match = _QUANTITY.fullmatch(text) if len(text) <= LONGEST_NUMBER else None
    if match is None or (match[1] and match[3]):
        return None
    value = _number(match[4].strip())
    if value is None:
        return None
    unit = match[2].replace("$", "") + match[5]
    return ("number", unit, -value if "-" in match[1] + match[3] else value)


def _number(text: str) -> Fraction | None:
    if _PLAIN.fullmatch(text):
        return Fraction(text.removesuffix("."))
    if _GROUPED.fullmatch(text):
        return Fraction(text.replace(",", "").removesuffix("."))
    if _DOTTED.fullmatch(text):
        return Fraction(text.replace(".", ""))
    if ratio := _RATIO.fullmatch(text):
        above, below = (int(part) for part in ratio.groups() if part is not None)
        return Fraction(above, below) if below else None
    return None
