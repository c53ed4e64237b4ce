"""When two mathematical answers are the same answer, for votes: stronger than comparing their spelling."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from mas_orchestra.score.final_answer import boxes, final_answer
from mas_orchestra.score.latex import canonical, is_formula, to_latex
from mas_orchestra.score.math_workers import Compared, MathWorkers
from mas_orchestra.score.quantity import read_quantity

__all__ = ["MathematicsGrouping"]

_MOST_LATE = 2
"""After so many comparisons out of time an answer is compared no more; one may have been the fault of the other."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer as read; equal ones are the same answer.

    Attributes:
        latex: What Math-Verify is shown; empty where only equal keys are the same.
    """

    key: Hashable
    is_number: bool = False
    latex: str = field(default="", compare=False)


class MathematicsGrouping:
    r"""Labels of the connected components of "Math-Verify calls them equal in one direction or the other".

    So neither the order of the answers nor the direction of asking matters, and the labels are an equivalence. Numbers
    are compared exactly, with their units: ``60%`` is ``0.6`` and not ``60``; ``12 cm`` is not ``12``. A reply with
    several boxes is the list of them. What cannot be compared, or not in time, stays apart.

    An instance goes wherever a vote takes a rule of its own, as in ``SCAgent``.
    """

    def __init__(self, workers: MathWorkers | None = None) -> None:
        """A grouping that compares formulas in `workers`, by default one process of its own."""
        self._workers = workers or MathWorkers()

    async def __call__(self, answers: Sequence[str]) -> Sequence[int]:
        """One label an answer, in order, numbered by first appearance."""
        read = [_read(answer) for answer in answers]
        roots = {answer: answer for answer in read}
        late: Counter[_Answer] = Counter()  # comparisons that ran out of time; a vote must not wait for one n times
        for left, right in combinations(list(roots), 2):
            if (
                roots[left] == roots[right]
                or max(late[left], late[right]) >= _MOST_LATE
                or not _may_be_same(left, right)
            ):
                continue
            compared = await self._workers.compare(left.latex, right.latex)
            if compared is Compared.SAME:
                merged = roots[right]
                roots = {answer: roots[left] if root == merged else root for answer, root in roots.items()}
            elif compared is Compared.TIME_LIMIT:
                late.update((left, right))
        numbers: dict[_Answer, int] = {}
        return [numbers.setdefault(roots[answer], len(numbers)) for answer in read]


def _may_be_same(left: _Answer, right: _Answer) -> bool:
    """Whether equality is still open: numbers are equal by their keys or not at all."""
    return bool(left.latex and right.latex) and not (left.is_number and right.is_number)


def _read(answer: str) -> _Answer:
    found = boxes(answer)
    if len(found) > 1:
        return _Answer(key=tuple(_read_one(box.text).key for box in found))
    return _read_one(final_answer(answer).text)


def _read_one(text: str) -> _Answer:
    quantity = read_quantity(text)
    if quantity is None:
        plain = canonical(text)
        return _Answer(key=plain or text.strip(), latex=to_latex(text) if is_formula(text) else "")
    value = quantity.value / 100 if quantity.unit == "%" else quantity.value
    unit = "" if quantity.unit in {"%", "$"} else quantity.unit
    return _Answer(key=(value, unit), is_number=True, latex="" if unit else str(value))
