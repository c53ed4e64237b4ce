r"""Where in a reply the answer stands: one rule for every kind of task, named in the score's details.

========================  ===============================================================================
rule                      what is read
========================  ===============================================================================
``answer_line``           what follows "Answer:", "the answer is" or a heading "Answer", unless a box follows it
``last_box``              the last closed ``\boxed{}``, unless a line with the answer follows it
``whole``                 a reply without either: all of it
========================  ===============================================================================

Of two final statements the later one counts: models put intermediate results into boxes and then state the answer.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["FinalAnswer", "ReadBy", "answer_line", "boxes", "final_answer", "repeats", "statements"]

_BRACE = re.compile(r"\\[{}]|\\f?boxed ?\{|[{}]")
_BOX = re.compile(r"\\f?boxed ?\{")
_LABEL = re.compile(
    r"(?:^|(?<=[\s*_#>.,;]))(?:final[ _])?answer(?:[*_]{0,3} ?[:=：]|[*_]{0,3} is\b:?)[*_ \t]{0,4}"
    r"|^[#*_> \t]{0,8}(?:final )?answer[*_ \t]{0,8}$",
    re.IGNORECASE | re.MULTILINE,
)
_LONGEST_LINE = 2_000


class ReadBy(StrEnum):
    """By which rule a final answer was read."""

    ANSWER_LINE = "answer_line"
    LAST_BOX = "last_box"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalAnswer:
    """A piece of a reply.

    Attributes:
        start: Where it begins in the reply.
    """

    text: str
    start: int
    read_by: ReadBy


def final_answer(reply: str) -> FinalAnswer:
    r"""What the reply gives as its answer.

    >>> final_answer(r"so \boxed{3} and hence \boxed{\frac{1}{2}}").text
    '\\frac{1}{2}'
    >>> final_answer("\\boxed{\\Delta E} is small.\nAnswer: **D**").text
    'D'
    """
    return next(statements(reply), FinalAnswer(text=reply.strip(), start=0, read_by=ReadBy.WHOLE))


def statements(reply: str) -> Iterator[FinalAnswer]:
    """The last box and the last line with the answer, the later one first; of a line with a box in it, the box."""
    found = [*boxes(reply)[-1:], *filter(None, [answer_line(reply)])]
    for statement in sorted(found, key=lambda answer: answer.start, reverse=True):
        yield (boxes(statement.text) or [statement])[-1] if statement.read_by is ReadBy.ANSWER_LINE else statement


def boxes(text: str) -> list[FinalAnswer]:
    """Every closed innermost box with a content, in order; one pass over the text."""
    found: list[FinalAnswer] = []
    opened: list[int | None] = []  # where a box's content starts; None for an ordinary brace
    last_start = -1
    first = _BOX.search(text)  # braces before it belong to no box
    for match in _BRACE.finditer(text, first.start()) if first else ():
        mark = match.group()
        if mark in {"\\{", "\\}"}:
            continue
        if mark != "}":
            opened.append(match.end() if "boxed" in mark else None)
        elif opened and (start := opened.pop()) is not None and start > last_start:
            last_start = start
            if content := text[start : match.start()].strip():
                found.append(FinalAnswer(text=content, start=start, read_by=ReadBy.LAST_BOX))
    return found


def answer_line(text: str) -> FinalAnswer | None:
    """What follows the last label that anything follows: the rest of its line, or the next line that is not empty."""
    if "answer" not in text.lower():  # far faster than the pattern, and the usual case
        return None
    for match in reversed(list(_LABEL.finditer(text))):
        rest = text[match.end() : match.end() + _LONGEST_LINE].lstrip()
        if line := rest.partition("\n")[0].lstrip(" \t*_").rstrip(" \t*_."):
            return FinalAnswer(text=line, start=match.end(), read_by=ReadBy.ANSWER_LINE)
    return None


def repeats(reply: str, text: str) -> bool:
    """Whether the reply is nothing but the text, blanks and letter case aside."""
    return len(reply) <= 2 * len(text) + 20 and _folded(reply) == _folded(text)


def _folded(text: str) -> str:
    return "".join(text.split()).casefold()
