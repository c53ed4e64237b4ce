"""Answers to every question of a MASBENCH text, from the text alone.

Nothing is guessed silently: a quantity without a statement is an error, or 0 and listed (the published rule); one
stated twice with different words and one that needs itself are errors; a category total that the text allows to read
in several ways with different answers is read the nearest way and listed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from mas_orchestra.masbench.expression import Combination, Expression
from mas_orchestra.masbench.questions import Question, Subject
from mas_orchestra.masbench.read_text import Passage, Statement, read_text
from mas_orchestra.masbench.system import System, UnsolvableTextError, build_systems

__all__ = ["NEEDLE_OWNER", "Asked", "Reading", "Solution", "UndefinedRule", "asked_of", "solve_passage", "solve_text"]

NEEDLE_OWNER = "magic number"
"""Stands for the owner in `Asked` where a needle is asked for."""


class UndefinedRule(StrEnum):
    """What a quantity without a statement is worth."""

    ZERO = "zero"
    """0, as the published set's prompts say."""
    ERROR = "error"


class Reading(StrEnum):
    """Which statements a problem of a numbered set may use."""

    POOLED = "pooled"
    """Those of all problems: what reproduces the published answers."""
    ISOLATED = "isolated"
    """Its own, and those that stand before the first problem."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One asked quantity; a needle's owner is `NEEDLE_OWNER`."""

    owner: str
    item: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """Every asked answer.

    Attributes:
        answers: In the order of the questions; quantities from 0 to 22, needles as written.
        asked: What each answer is the value of.
        taken_as_zero: Quantities that the answers need and the text never defines.
        assumptions: Choices that the text leaves open and that change an answer, in words.
    """

    answers: tuple[int, ...]
    asked: tuple[Asked, ...]
    taken_as_zero: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()


def solve_text(
    text: str | Passage, *, undefined: UndefinedRule = UndefinedRule.ZERO, reading: Reading = Reading.POOLED
) -> Solution:
    """Every asked answer of the text.

    >>> statements = "The number of each A's B equals 5 more than each A's C. The number of each A's C equals 20."
    >>> solve_text(f"{statements} How many B does A have?").answers
    (2,)

    Raises:
        UnreadableTextError: The text is not of this family.
        UnsolvableTextError: It does not determine an answer: stated twice, circular, or undefined under ``error``.
    """
    passage = read_text(text) if isinstance(text, str) else text
    if reading is Reading.POOLED:
        return solve_passage(passage, build_systems(passage.statements, passage.questions), undefined=undefined)
    parts = _solve_apart(passage, undefined)
    return Solution(
        answers=tuple(answer for part in parts for answer in part.answers),
        asked=tuple(asked for part in parts for asked in part.asked),
        taken_as_zero=tuple(dict.fromkeys(key for part in parts for key in part.taken_as_zero)),
        assumptions=tuple(dict.fromkeys(line for part in parts for line in part.assumptions)),
    )


def _solve_apart(passage: Passage, undefined: UndefinedRule) -> list[Solution]:
    """Every question from its own problem's statements and the earlier answers that these mention by placeholder."""
    parts: list[Solution] = []
    earlier: dict[str, int] = {}
    for question in passage.questions:
        own = [statement for statement in passage.statements if statement.problem in {0, question.problem}]
        known = passage.carried.get(question.problem, frozenset()) & earlier.keys()
        known -= {statement.quantity for statement in own}
        own += [_known(name, earlier[name], question) for name in sorted(known)]
        alone = replace(passage, statements=tuple(own), questions=(question,))
        parts.append(solve_passage(alone, build_systems(own, [question]), undefined=undefined))
        earlier[question.name] = parts[-1].answers[0]
    return parts


def _known(name: str, value: int, question: Question) -> Statement:
    literal = Expression(combination=Combination.LITERAL, literal=value)
    return Statement(quantity=name, expression=literal, problem=question.problem, line=question.line)


def solve_passage(
    passage: Passage, systems: Sequence[System], *, undefined: UndefinedRule = UndefinedRule.ZERO
) -> Solution:
    """Every answer that the passage asks for, all its statements pooled.

    Args:
        passage: The text, read.
        systems: What `build_systems` makes of it: its system, then those of its other readings.
        undefined: What a quantity without a statement is worth.
    """
    system, *others = systems
    questions = passage.questions
    targets = [question.name for question in questions if question.subject is Subject.QUANTITY]
    needed = system.needed(targets)
    _refuse_ambiguous(system, needed)
    missing = tuple(key for key in needed if key not in system.definitions)
    if missing and undefined is UndefinedRule.ERROR:
        raise UnsolvableTextError(f"never defined, and needed for an answer: {', '.join(missing)}")
    values = system.values(targets)
    return Solution(
        answers=tuple(_answer(passage, question, values) for question in questions),
        asked=tuple(asked_of(system, question) for question in questions),
        taken_as_zero=missing,
        assumptions=tuple(_assumption(system, other, targets) for other in others if _differ(values, other, targets)),
    )


def _refuse_ambiguous(system: System, needed: Sequence[str]) -> None:
    if twice := [key for key in needed if key in system.ambiguous]:
        first, second = system.ambiguous[twice[0]]
        raise UnsolvableTextError(f"{twice[0]!r} is stated twice with different words, on lines {first} and {second}")


def _answer(passage: Passage, question: Question, values: dict[str, int]) -> int:
    if question.subject is Subject.QUANTITY:
        return values[question.name]
    found = {needle.value for needle in passage.needles if needle.name == question.name}
    if len(found) != 1:
        times = f"is stated with {len(found)} different values" if found else "is never stated"
        raise UnsolvableTextError(f"the magic number for {question.name!r}, asked on line {question.line}, {times}")
    return found.pop()


def asked_of(system: System, question: Question) -> Asked:
    """Owner and item that the question asks for."""
    if question.subject is Subject.NEEDLE:
        return Asked(owner=NEEDLE_OWNER, item=question.name)
    if question.owner:
        return Asked(owner=question.owner, item=question.name.removeprefix(f"{question.owner}'s "))
    name = system.names[question.name]
    return Asked(owner=name.owner, item=name.item)


def _differ(values: dict[str, int], other: System, targets: Sequence[str]) -> bool:
    others = other.values(targets)
    return any(values[target] != others[target] for target in targets)


def _assumption(system: System, other: System, targets: Sequence[str]) -> str:
    """The choice between two readings, in words."""
    needed = system.needed(targets)
    changed = [key for key in needed if system.parents(key) != other.parents(key)]
    values, others = system.values(targets), other.values(targets)
    answers = ", ".join(f"{target} = {others[target]}" for target in targets if values[target] != others[target])
    read = " and ".join(repr(key) for key in changed)
    return f"{read} read as a total over the next layer; over a farther one the text gives {answers}"
