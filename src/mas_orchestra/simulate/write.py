r"""How a simulated model writes its reply down: steps, answer, the form asked for, and faults of form."""

import json
from collections.abc import Mapping
from random import Random

from mas_orchestra.simulate.handed import Assignment
from mas_orchestra.simulate.prompt import Form
from mas_orchestra.simulate.text import Text

__all__ = ["ANSWER_MARK", "answer_of", "fields", "malformed"]

ANSWER_MARK = "So the answer is: "
"""Begins the end of a reply's reasoning, so that whoever reads the reasoning alone finds the answer."""


def answer_of(text: Text, asked: Assignment, values: Mapping[str, int]) -> str:
    r"""The answer alone, in the form that question or sub-task ask for.

    The whole of a question with several problems, or problems named by number: a line ``Problem k: \boxed{v}`` each.
    A question with one: its box. Quantities named in a sub-task: the bare number of one, ``A's B = v`` of several.
    """
    if asked.is_whole and len(asked.targets) == 1:
        return f"\\boxed{{{values[asked.targets[0]]}}}"
    if asked.is_whole or asked.by_number:
        numbers = {name: number for number, name in text.by_number.items()}
        lines = [(f"Problem {numbers[name]}: " if name in numbers else "", values[name]) for name in asked.targets]
        return "\n".join(f"{label}\\boxed{{{value}}}" for label, value in lines)
    if len(asked.targets) == 1:
        return str(values[asked.targets[0]])
    return "\n".join(f"{name} = {values[name]}" for name in asked.targets)


def fields(form: Form, contents: Mapping[str, str | bool]) -> str:
    """The fields of a reply in the form asked for; empty ones are left out."""
    kept = {name: value for name, value in contents.items() if value != ""}
    match form:
        case Form.JSON:
            return json.dumps(kept, ensure_ascii=False)
        case Form.TAGS:
            return "\n".join(f"<{name}>{_word(value)}</{name}>" for name, value in kept.items())
        case Form.PLAIN:  # the reasoning ends with the answer, and a box too many would be a fault
            return _word(kept["thinking"]) if "thinking" in kept else "\n\n".join(map(_word, kept.values()))


def malformed(form: Form, contents: Mapping[str, str | bool], rng: Random) -> str:
    """A reply that misses the form: prose without fields, or fields that break off."""
    if form is Form.PLAIN or rng.random() < 0.5:
        steps = str(contents.get("thinking", ""))
        return f"Let me work through this.\n{steps}".rstrip() + "\nI hope that this helps."
    whole = fields(form, contents)
    return whole[: max(1, len(whole) // 2)]


def _word(value: str | bool) -> str:  # noqa: FBT001  (the field's own value)
    return value if isinstance(value, str) else str(value).lower()
