"""What a prompt asks a simulated model to do: solve, take part in a debate, judge, criticise, try again, plan.

Reads the prompts of this package's own sub-agents, and plain ones: a text alone, or with a sub-task after it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from mas_orchestra.models.base import Params
from mas_orchestra.types import Message, Role

__all__ = ["Form", "Part", "Prompt", "read_prompt"]


class Part(StrEnum):
    """What the model is to be."""

    SOLVER = "solver"
    DEBATER = "debater"
    JUDGE = "judge"
    CRITIC = "critic"
    PLANNER = "planner"


class Form(StrEnum):
    """How a reply is to be written."""

    JSON = "json"
    TAGS = "tags"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt, read.

    Attributes:
        text: The question, where the MASBENCH text stands.
        task: The sub-task, empty for the whole question.
        own: What the model itself said before: in a debate its last thought, for a critic the attempt.
        opinions: What others said.
        is_brief: The model is told to be short: an answer without its steps.
    """

    part: Part
    form: Form
    text: str
    task: str = ""
    own: str = ""
    opinions: tuple[str, ...] = ()
    is_brief: bool = False


_QUESTION = ("Original task, for context:\n", "Task:\n", "Original task:")
_TASK = ("\n\nYour sub-task, the only thing to answer now:\n", "\n\nCurrent Sub-task:", "\nCurrent Sub-task:")
_ENDS = (
    "\n\nThink step by step",
    "\n\nAn attempt to solve it:\n",
    "\n\nYour attempt 1:\n",
    "\n\nThink about where the attempts",
    "\n\nWhat you thought in the last round:\n",
    "\n\nYou gave no usable reply in the last round.",
    "\n\nSearch as far as you need to",
    "\n\nWhat the search found:\n",
    "\n\nWeigh every opinion",
    "\n\nYour last reply was ",
)
_OPINION_HEADS = re.compile(
    r"\n\n(?:Opinion of [^\n]{1,300}:\n<opinion>|[^\n]{1,300} gave no usable reply in the last round\.)"
)
_BRIEF = "Be brief now."
_SYSTEM_PARTS: Mapping[str, Part] = {
    "You are a critic.": Part.CRITIC,
    "You are the judge of a debate.": Part.JUDGE,
    "You take part in a debate.": Part.DEBATER,
    "You are an orchestrator.": Part.PLANNER,
}


def read_prompt(messages: tuple[Message, ...], params: Params) -> Prompt:
    """The prompt that a conversation is; its last user turn counts, and the system turn says the part."""
    system = "\n".join(message.content for message in messages if message.role is Role.SYSTEM)
    turn = next((message.content for message in reversed(messages) if message.role is Role.USER), "")
    first = next((message.content for message in messages if message.role is Role.USER), "")
    part = _part(system, params)
    if part is Part.PLANNER:
        return Prompt(part=part, form=_form(system + turn), text=first)
    text, task, rest = _split(turn)
    return Prompt(
        part=part,
        form=_form(system + rest),
        text=text,
        task=task,
        own="\n".join(_blocks(rest, "own" if part is Part.DEBATER else "attempt")),
        opinions=tuple(_blocks(rest, "opinion")),
        is_brief=_BRIEF in rest,
    )


def _part(system: str, params: Params) -> Part:
    if params.response_schema is not None and params.response_schema.name == "plan":
        return Part.PLANNER
    return next((part for opening, part in _SYSTEM_PARTS.items() if system.lstrip().startswith(opening)), Part.SOLVER)


def _form(words: str) -> Form:
    if "JSON object" in words:
        return Form.JSON
    return Form.TAGS if "<answer>" in words else Form.PLAIN


def _split(turn: str) -> tuple[str, str, str]:
    """Question, sub-task and what follows them."""
    opening = next((opening for opening in _QUESTION if turn.startswith(opening)), "")
    body = turn.removeprefix(opening)
    question, sub_task, rest = _partition(body, _TASK)
    if not opening and not sub_task:
        return turn, "", turn
    block = rest if sub_task else body
    end = min((place for mark in _ENDS if (place := block.find(mark)) >= 0), default=len(block))
    if (head := _OPINION_HEADS.search(block)) and head.start() < end:
        end = head.start()
    task = block[:end].strip()
    return (question.strip(), task, block[end:]) if sub_task else (task, "", block[end:])


def _partition(text: str, marks: tuple[str, ...]) -> tuple[str, str, str]:
    """Around the first mark that occurs; all of the text before where none does."""
    for mark in marks:
        before, found, after = text.partition(mark)
        if found:
            return before, found, after
    return text, "", ""


def _blocks(text: str, tag: str) -> list[str]:
    """Contents of every closed block of this tag, in order."""
    found, position = [], 0
    opening, closing = f"<{tag}>", f"</{tag}>"
    while (start := text.find(opening, position)) >= 0 and (stop := text.find(closing, start)) >= 0:
        found.append(text[start + len(opening) : stop])
        position = stop + len(closing)
    return found
