r"""What a sub-task or another agent's reply says about a text: values that are given, and quantities that are named.

Read from the words alone, as ``each A's B equals 7``, ``A's B = 7``, ``the number of B that A has is 7``,
``Problem 2: \boxed{7}``, or bare values in the order of what is due, where there are exactly as many of them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mas_orchestra.masbench.sentences import sentences
from mas_orchestra.simulate.text import Text

__all__ = ["Assignment", "assignment", "given_answers"]

_STATEMENT = "The number of each "
_COMPUTED = re.compile(r" equals (?:\d{1,18} (?:more|times) |each |the (?:sum|difference) )")
_WORD_START = re.compile(r"(?<!\w)\w")
_NUMBERED = re.compile(r"(?:problem|question|task|part)s? (?=\d)", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,4}(?!\d)")
_JOINER = re.compile(r",? ?(?:and |& ?|problem |to |through |- ?|– ?)|, ?|-|–", re.IGNORECASE)
_RANGES = ("to", "through", "-", "–")
_VALUE = re.compile(
    r"(?:'s answer| have| has)?(?:\?:?| (?:is|are|was|equals|equal to)(?: the answer)?:?| ?[=:])"
    r"(?: answer:| the answer is)? ?(?:problem \d{1,4}(?::| is| =) ?)?\$?(?:\\boxed\{ ?)?(-?\d{1,18})"
    r"(?![\d\w]|[.,]\d| more than | times as much )",
    re.IGNORECASE,
)
_BOXED = re.compile(r"\\boxed\{ ?(-?\d{1,18}) ?\}")
_BARE = re.compile(r"(?<![\w.\-])-?\d{1,18}(?![\w]|[.,]\d)")
_CHECK = re.compile(r"\b(?:verify|verifies|check|checks|double-check|review|validate|confirm)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What one reply is asked for.

    Attributes:
        targets: Quantities and needles to give, in order.
        handed: Values given beforehand, by name.
        by_number: The targets are named by their problem's number.
        is_whole: The targets are those of the question.
        is_check: Values given are to be checked, not only used.
    """

    targets: tuple[str, ...]
    handed: tuple[tuple[str, int], ...] = ()
    by_number: bool = False
    is_whole: bool = False
    is_check: bool = False


@dataclass(frozen=True, slots=True)
class _Mention:
    """A name in a text; `value` where one is given for it."""

    names: tuple[str, ...]
    by_number: bool
    value: int | None
    start: int
    stop: int


@lru_cache(maxsize=4096)
def assignment(text: Text, task: str) -> Assignment:
    """What the sub-task asks of the text; one that names nothing, or only what is given, asks for all of it."""
    task = _without_statements(task.replace(text.text, ""))
    if not task:
        return Assignment(targets=text.names, is_whole=True)
    mentions = tuple(_mentions(text, task))
    handed = {mention.names[0]: mention.value for mention in mentions if mention.value is not None}
    wanted = [(name, mention) for mention in mentions for name in mention.names if name not in handed]
    targets = tuple(dict.fromkeys(name for name, _ in wanted))
    is_check = bool(handed) and _CHECK.search(task) is not None
    if not targets:
        given = handed or _unlabelled(text.names, task, mentions)
        is_check = bool(given) and _CHECK.search(task) is not None
        return Assignment(targets=text.names, handed=tuple(given.items()), is_whole=True, is_check=is_check)
    return Assignment(
        targets=targets,
        handed=tuple(handed.items()),
        by_number=any(mention.by_number for _, mention in wanted),
        is_check=is_check,
    )


def given_answers(text: Text, targets: Sequence[str], reply: str) -> dict[str, int]:
    """The answers to the targets that another agent's text gives; what it does not give is left out."""
    mentions = tuple(_mentions(text, reply))
    labelled = {mention.names[0]: mention.value for mention in mentions if mention.value is not None}
    found = {name: labelled[name] for name in targets if name in labelled}
    return found or _unlabelled(targets, reply, mentions)


def _without_statements(task: str) -> str:
    """The sub-task without statements that it repeats from the text; one that gives a bare value stays, as given."""
    if _STATEMENT not in task:
        return task.strip()
    kept = (sentence.text for sentence in sentences(task))
    return "\n".join(text for text in kept if not (text.startswith(_STATEMENT) and _COMPUTED.search(text)))


def _mentions(text: Text, task: str) -> Iterator[_Mention]:
    position = 0
    while match := _WORD_START.search(task, position):
        position = match.start()
        found = _numbered(text, task, position) or _named(text, task, position)
        if found:
            yield found
        position = found.stop if found else position + 1


def _named(text: Text, task: str, start: int) -> _Mention | None:
    for phrase in text.phrases_by_letter.get(task[start], ()):
        if task.startswith(phrase, start):
            stop = start + len(phrase)
            return _valued((text.phrases[phrase],), task, start, stop, by_number=False)
    return None


def _numbered(text: Text, task: str, start: int) -> _Mention | None:
    """A problem or several by number: "Problem 2", "problems 1, 2 and 5", "problems 2 to 4"."""
    opening = _NUMBERED.match(task, start)
    first = opening and _NUMBER.match(task, opening.end())
    if not first:
        return None
    numbers, stop = [int(first[0])], first.end()
    while (joiner := _JOINER.match(task, stop)) and (following := _NUMBER.match(task, joiner.end())):
        number = int(following[0])
        is_range = joiner[0].strip() in _RANGES and numbers[-1] < number <= len(text.asked)
        numbers += range(numbers[-1] + 1, number + 1) if is_range else [number]
        stop = following.end()
    names = tuple(text.by_number[number] for number in numbers if number in text.by_number)
    return _valued(names, task, start, stop, by_number=True) if names else None


def _valued(names: tuple[str, ...], task: str, start: int, stop: int, *, by_number: bool) -> _Mention:
    value = _VALUE.match(task, stop) if len(names) == 1 else None
    if value is None:
        return _Mention(names, by_number, None, start, stop)
    return _Mention(names, by_number, int(value[1]), start, value.end())


def _unlabelled(targets: Sequence[str], task: str, mentions: Sequence[_Mention]) -> dict[str, int]:
    """Values without a name: boxes, else integers, where there is exactly one for each target."""
    rest = _without(task, mentions)
    for pattern in (_BOXED, _BARE):
        found = [int(match[1] if match.lastindex else match[0]) for match in pattern.finditer(rest)]
        if len(found) == len(targets):
            return dict(zip(targets, found, strict=True))
    return {}


def _without(task: str, mentions: Sequence[_Mention]) -> str:
    parts, position = [], 0
    for mention in mentions:
        parts.append(task[position : mention.start])
        position = mention.stop
    return "".join([*parts, task[position:]])
