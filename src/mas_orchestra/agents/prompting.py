"""Messages from the Jinja files under ``prompts/``, and the form of reply that they ask for.

A file holds a block ``system`` and a block ``user``. Questions, sub-tasks and other agents' texts are values: they are
inserted once and never read as templates. The same values give the same bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mas_orchestra.agents.base import StepCall
from mas_orchestra.types import JsonValue, Message, ResponseSchema, Role

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["FieldsAsked", "prompt", "shortened", "with_reminder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldsAsked:
    """The fields of a reply, in the order in which the model should write them.

    Attributes:
        name: Name of the schema, for endpoints that want one.
        properties: Field → JSON type.
        wanted: The field without which a reply is worth nothing.
    """

    name: str
    properties: Mapping[str, Literal["string", "boolean"]]
    wanted: str

    @property
    def schema(self) -> ResponseSchema:
        """As structured output: every field required, nothing else allowed."""
        properties: dict[str, JsonValue] = {name: {"type": kind} for name, kind in self.properties.items()}
        return ResponseSchema(
            name=self.name,
            schema={
                "type": "object",
                "properties": properties,
                "required": list(self.properties),
                "additionalProperties": False,
            },
        )

    @property
    def example(self) -> str:
        """What the reply should look like.

        >>> FieldsAsked(name="verdict", properties={"why": "string", "correct": "boolean"}, wanted="correct").example
        '{"why": "…", "correct": true or false}'
        """
        shown = {"string": '"…"', "boolean": "true or false"}
        return "{" + ", ".join(f'"{name}": {shown[kind]}' for name, kind in self.properties.items()) + "}"

    def only_wanted(self) -> "FieldsAsked":
        """The same without all that is not strictly wanted, for a model that ran out of room."""
        return replace(self, properties={self.wanted: self.properties[self.wanted]})


def prompt(name: str, call: StepCall, **values: object) -> tuple[Message, Message]:
    """System and user message of ``prompts/NAME.jinja`` for the call's question and sub-task.

    Raises:
        jinja2.UndefinedError: The file uses a value that is not given.
    """
    template = _environment().get_template(f"{name}.jinja")
    context = template.new_context({"question": call.question, "task": call.task, **values})
    system, user = ("".join(template.blocks[block](context)).strip() for block in ("system", "user"))
    return Message(role=Role.SYSTEM, content=system), Message(role=Role.USER, content=user)


def with_reminder(messages: tuple[Message, ...], fields: FieldsAsked, *, fault: str) -> tuple[Message, ...]:
    """The same conversation whose last message ends with a reminder of the format.

    Appended rather than sent as a turn of its own, since many chat templates refuse two user turns in a row.
    """
    text = _environment().get_template("reminder.jinja").render(example=fields.example, fault=fault)
    last = messages[-1]
    return *messages[:-1], replace(last, content=f"{last.content}\n\n{text.strip()}")


def shortened(text: str, limit: int | None) -> str:
    """The text, or its first and last part with a note of how much is left out in between.

    >>> shortened("abcdefghij", 4)
    'ab [… 6 characters left out …] ij'
    """
    if limit is None or len(text) <= limit:
        return text
    tail = limit // 2
    return f"{text[: limit - tail]} [… {len(text) - limit} characters left out …] {text[len(text) - tail :]}"


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(Path(__file__).parent / "prompts"),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701  (prompts are plain text for a model; nothing here becomes HTML)
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # else the file's time is read for every prompt
    )
