r"""Scores mathematics: exact numbers by hand, everything else by Math-Verify in a process that can be killed.

Numbers with units (`quantity` says how they are read):

=========================  ======================================================================================
reference and answer       same?
=========================  ======================================================================================
``1250``, ``$1,250.00``    yes: the reference leaves the unit to the question
``12 cm``, ``12``          yes, in both directions; ``12 cm`` and ``12 m``: no, units are not converted
``60``, ``60%``            yes; ``60`` and ``0.6%``: no
``0.6``, ``60%``           yes; but ``0.6`` and ``60``: no
``60%``, ``60`` or ``0.6`` yes; `PercentRule` narrows the three last lines, for a scorer or by task
``1/3``, ``0.333333``      yes from six decimals on, rounded; ``1/3`` and ``0.333``: no
``16181``, ``16.181``      no, with a warning; yes with the decimal mark ``,``
``x<3``, ``(-\infty,3)``   yes in either order
``(0,1)``, ``[0,1]``       no
``3, 5``, ``5, 3``         yes: without brackets, numbers are a set
=========================  ======================================================================================

A task may set ``metadata["percent_rule"]`` (a `PercentRule`) and ``metadata["decimal_mark"]`` (``","``).
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from mas_orchestra.errors import UnknownNameError
from mas_orchestra.score.base import Score
from mas_orchestra.score.final_answer import FinalAnswer, ReadBy, final_answer, repeats
from mas_orchestra.score.latex import canonical, is_formula, to_latex
from mas_orchestra.score.math_workers import Compared, MathWorkers
from mas_orchestra.score.quantity import Quantity, bare, read_quantity
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import JsonValue

__all__ = ["Direction", "MathematicsScorer", "PercentRule", "same_quantity"]

_ROUNDED_DECIMALS = 6
_EXPLANATION = re.compile(r",? (?:since|because|as|which|where|so)\b")
_HEDGE = re.compile(r"\bor\b|\beither\b", re.IGNORECASE)
_STATES = re.compile(r"=|≈|\bis\b|\bare\b|\bequals\b|:", re.IGNORECASE)


class PercentRule(StrEnum):
    """What ``60%`` is when the other side has no unit."""

    NUMBER = "number"
    """60."""
    FRACTION = "fraction"
    """0.6."""
    EITHER = "either"
    """60 or 0.6, whichever the other side is."""


class Direction(StrEnum):
    """Whether it matters which of two formulas is the reference."""

    SYMMETRIC = "symmetric"
    """It does not: each way is tried."""
    FROM_REFERENCE = "from_reference"
    """Math-Verify's own rule: an answer may be an interval where the reference is an inequality, not the other way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    compared: Compared
    rule: str


class MathematicsScorer:
    """1 for an answer equal to any of the task's answers, else 0; unscored only where the task has none.

    The answer is read by `final_answer` (of boxes the last one counts), with `read_by` in the details. A text without a
    statement of that kind may end in a number, alone on its last line or as "The total is 42."; not where the line says
    "or", and not at the end of a listing.
    """

    def __init__(
        self,
        *,
        workers: MathWorkers | None = None,
        percent: PercentRule = PercentRule.EITHER,
        direction: Direction = Direction.SYMMETRIC,
    ) -> None:
        """A scorer that compares formulas in `workers`, by default one process of its own."""
        self._workers = workers or MathWorkers()
        self._percent = percent
        self._direction = direction

    @property
    def name(self) -> str:
        """``"mathematics"``, with settings that are not the usual ones behind it."""
        settings = (self._percent, PercentRule.EITHER), (self._direction, Direction.SYMMETRIC)
        return ":".join(["mathematics", *(value for value, usual in settings if value is not usual)])

    async def score(self, task: Task, answer: str) -> Score:
        """The score; a comparison that fails or runs out of time is worth 0, with that as the reason."""
        if not task.answers:
            return Score(value=None, reason="no_reference")
        if repeats(answer, task.question):
            return Score(value=0.0, reason="echo")
        mark = str(task.metadata.get("decimal_mark", "."))
        percent = _percent_rule(task) or self._percent
        found = final_answer(answer)
        read, read_by = found.text, found.read_by.value
        verdict = _Verdict(compared=Compared.DIFFERENT, rule="number")
        for reference in task.answers:
            read, read_by = _stated(found, reference, mark)
            verdict = await self._compare(reference, read, percent, mark)
            if verdict.compared is Compared.SAME:
                break
        details: dict[str, JsonValue] = {"rule": verdict.rule, "read": read[:500], "read_by": read_by, "box": "last"}
        if verdict.compared is not Compared.SAME and _marks_are_ambiguous(task.answers, read, mark):
            details["warning"] = "ambiguous_mark: right if the decimal mark were the other one; set decimal_mark"
        return Score(value=float(verdict.compared is Compared.SAME), reason=_REASONS[verdict.compared], details=details)

    async def _compare(self, reference: str, answer: str, percent: PercentRule, mark: str) -> _Verdict:
        left, right = _quantity(reference, mark), _quantity(answer, mark)
        if left is not None and right is not None:
            return _Verdict(compared=_compared(same_quantity(left, right, percent)), rule="number")
        if canonical(reference) == canonical(answer):
            return _Verdict(compared=_compared(bool(bare(answer))), rule="same_text")
        if _is_false(answer, mark):
            return _Verdict(compared=Compared.DIFFERENT, rule="false_equation")
        if not (is_formula(answer) and is_formula(reference)):
            return _Verdict(compared=Compared.FAILED, rule="not_a_formula")
        both_ways = self._direction is Direction.SYMMETRIC
        compared = await self._workers.compare(to_latex(reference), to_latex(answer), both_ways=both_ways)
        return _Verdict(compared=compared, rule=f"math_verify:{self._direction}")


_REASONS = {
    Compared.SAME: "right",
    Compared.DIFFERENT: "wrong",
    Compared.TIME_LIMIT: "time_limit",
    Compared.FAILED: "not_comparable",
}


def same_quantity(left: Quantity, right: Quantity, percent: PercentRule = PercentRule.EITHER) -> bool:
    """Whether two numbers are the same by the table above; symmetric.

    >>> sixty, percent = read_quantity("60"), read_quantity("60%")
    >>> same_quantity(sixty, percent), same_quantity(sixty, percent, PercentRule.FRACTION)
    (True, False)
    """
    if left.unit == right.unit:
        return _same_value(left, right)
    if left.unit and right.unit:
        return False
    with_unit, without = (left, right) if left.unit else (right, left)
    if with_unit.unit != "%":
        return _same_value(left, right)
    number = _same_value(left, right)
    fraction = with_unit.value / 100 == without.value
    return {
        PercentRule.NUMBER: number,
        PercentRule.FRACTION: fraction,
        PercentRule.EITHER: number or fraction,
    }[percent]


def _same_value(left: Quantity, right: Quantity) -> bool:
    """Whether the numbers are equal, or one is a ratio and the other its decimals, rounded, six of them or more."""
    if left.value == right.value:
        return True
    if (left.decimals is None) == (right.decimals is None):
        return False
    decimals = left.decimals if left.decimals is not None else right.decimals
    return (
        decimals is not None
        and decimals >= _ROUNDED_DECIMALS
        and round(left.value, decimals) == round(right.value, decimals)
    )


def _percent_rule(task: Task) -> PercentRule | None:
    name = task.metadata.get("percent_rule")
    if name is not None and name not in list(PercentRule):
        known = [rule.value for rule in PercentRule]
        raise UnknownNameError(f"percent_rule of task {task.id!r}", str(name), known)
    return None if name is None else PercentRule(str(name))


def _compared(same: bool) -> Compared:  # noqa: FBT001  (its only argument)
    return Compared.SAME if same else Compared.DIFFERENT


def _quantity(text: str, mark: str) -> Quantity | None:
    """As `read_quantity`; with the decimal mark ``,`` a text that is none, as ``1.5``, is read with the other mark."""
    return read_quantity(text, mark) or (read_quantity(text) if mark != "." else None)


def _stated(found: FinalAnswer, reference: str, mark: str) -> tuple[str, str]:
    """The final answer without what explains it, or the number in which a text's last line ends; and by which rule."""
    is_read = found.read_by is ReadBy.LAST_BOX or _quantity(found.text, mark) is not None
    if is_read or _quantity(reference, mark) is None:
        return found.text, found.read_by.value
    *before, last = [line for line in found.text.splitlines() if line.strip()] or [""]
    line = _EXPLANATION.split(last)[0]
    if _quantity(line, mark) is not None:
        is_listing = before and _quantity(before[-1], mark) is not None
        by = ReadBy.ANSWER_LINE.value if found.read_by is ReadBy.ANSWER_LINE else "last_line"
        return (found.text, found.read_by.value) if is_listing else (line, by)
    states = list(_STATES.finditer(line)) if found.read_by is ReadBy.WHOLE else []
    tail = line[states[-1].end() :].strip() if states else ""
    if _quantity(tail, mark) is None or _HEDGE.search(line) or _is_false(line, mark):
        return found.text, found.read_by.value
    return tail, "last_line"


def _is_false(text: str, mark: str) -> bool:
    """Whether the text is an equation of two different numbers; Math-Verify would read its right side only."""
    left, equals, right = text.partition("=")
    first, second = _quantity(left.strip(), mark), _quantity(right.strip(), mark)
    return bool(equals) and first is not None and second is not None and not same_quantity(first, second)


def _marks_are_ambiguous(references: tuple[str, ...], answer: str, mark: str) -> bool:
    """Whether the answer would be right if point and comma changed places."""
    swapped = read_quantity(answer, "," if mark == "." else ".")
    return swapped is not None and any(
        (quantity := _quantity(reference, mark)) is not None and same_quantity(quantity, swapped)
        for reference in references
    )
