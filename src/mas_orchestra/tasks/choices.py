"""Options of a multiple-choice question: reading them, writing them under the question, and the right one's letter."""

from collections.abc import Sequence
from random import Random
from string import ascii_uppercase

import orjson

from mas_orchestra.errors import FileFormatError
from mas_orchestra.tasks.rows import Row
from mas_orchestra.types import JsonValue

__all__ = ["letters_of", "read_choices", "shuffled", "with_choices"]

_MOST = len(ascii_uppercase)


def read_choices(value: JsonValue, row: Row) -> tuple[str, ...]:
    r"""The options in a cell: a JSON list, lines, or texts between ``|`` or commas; empty ones are left out.

    Raises:
        FileFormatError: Fewer than two or more than 26 options, or two that are the same.

    >>> from pathlib import Path
    >>> read_choices("red,green,,blue,", Row(file=Path("a.csv"), number=2, record={}))
    ('red', 'green', 'blue')
    """
    options = tuple(text for item in _items(value) if (text := str(item).strip()))
    if not 2 <= len(options) <= _MOST:
        raise FileFormatError(f"{row.place}: {len(options)} options, expected 2 to {_MOST}; got {str(value)[:200]!r}")
    if len(set(options)) < len(options):
        raise FileFormatError(f"{row.place}: the same option twice in {str(value)[:200]!r}; remove one")
    return options


def _items(value: JsonValue) -> Sequence[JsonValue]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict):  # as ARC writes them: {"text": […], "label": […]}
        texts = value.get("text")
        return texts if isinstance(texts, list) else list(value.values())
    text = str(value or "").strip()
    if text.startswith("["):
        try:
            decoded = orjson.loads(text)
        except orjson.JSONDecodeError:
            decoded = None
        if isinstance(decoded, list):
            return decoded
    mark = next((mark for mark in ("\n", "|") if mark in text), ",")
    return text.split(mark)


def with_choices(question: str, options: Sequence[str]) -> str:
    """The question with its options below it, a letter before each.

    >>> print(with_choices("Which is a colour?", ["red", "loud"]))
    Which is a colour?
    <BLANKLINE>
    A) red
    B) loud
    <BLANKLINE>
    Answer with the letter of the right option.
    """
    lines = [f"{letter}) {option}" for letter, option in zip(ascii_uppercase, options, strict=False)]
    return "\n".join([question.strip(), "", *lines, "", "Answer with the letter of the right option."])


def shuffled(right: str, wrong: Sequence[str], rng: Random) -> tuple[tuple[str, ...], str]:
    """The options in an order that `rng` draws, and the letter of the right one."""
    order = [right, *wrong]
    positions = list(range(len(order)))
    rng.shuffle(positions)
    return tuple(order[position] for position in positions), ascii_uppercase[positions.index(0)]


def letters_of(answer: JsonValue, options: Sequence[str], row: Row) -> str:
    """The letter or letters (``"A, C"``) that an answer names: letters, an option's text, its index from 0, or a list.

    Raises:
        FileFormatError: It names no option.
    """
    parts: Sequence[JsonValue] = answer if isinstance(answer, list) else [answer]
    if isinstance(answer, str) and answer.strip() not in options:
        parts = answer.replace(" and ", ",").split(",")
    found = sorted({_letter(part, options, row) for part in parts if str(part).strip()})
    if not found:
        raise FileFormatError(f"{row.place}: no answer; give the letter or the text of the right option")
    return ", ".join(found)


def _letter(answer: JsonValue, options: Sequence[str], row: Row) -> str:
    known = dict(zip(ascii_uppercase, options, strict=False))
    text = str(answer).strip()
    by_text = {option: letter for letter, option in known.items()}
    if isinstance(answer, int) and not isinstance(answer, bool) and 0 <= answer < len(options):
        return ascii_uppercase[answer]
    if text in by_text:
        return by_text[text]
    if (letter := text.strip("().").upper()) in known:
        return letter
    raise FileFormatError(
        f"{row.place}: the answer {text[:100]!r} is none of the options {', '.join(known)} "
        f"({'; '.join(options)[:300]}); give a letter, an option's text, or its index from 0"
    )
