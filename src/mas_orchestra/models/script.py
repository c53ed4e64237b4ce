"""What a scripted model says: rules in order, read from a TOML or JSON file and checked."""

import re
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from mas_orchestra import errors
from mas_orchestra.config import Price
from mas_orchestra.errors import CallError, FileFormatError
from mas_orchestra.models.base import Choice, FinishReason
from mas_orchestra.types import JsonValue, Message, Role, ToolCall

__all__ = ["FAILURES", "CountBy", "Rule", "Script", "ScriptedReply", "ScriptedToolCall", "ScriptedUsage"]

LONGEST_MATCH = 1_000
"""Characters that a rule's pattern may match at most: with a bound, a search is linear in the prompt."""
FAILURES: Mapping[str, type[CallError]] = {
    kind.code: kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, CallError)
}
"""Errors by their code, the words that a rule's `fail` accepts."""


class CountBy(StrEnum):
    """What "the k-th call" of a rule counts."""

    CONVERSATION = "conversation"
    """Calls with exactly these messages: the same whatever else runs at the same time."""
    RULE = "rule"
    """All calls that the rule matches, in the order in which they begin."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScriptedToolCall(_Part):
    """A function call in a reply; `arguments` as a table, or as the text that the model writes (broken if you like)."""

    name: str
    arguments: dict[str, JsonValue] | str = Field(default_factory=dict)


class ScriptedUsage(_Part):
    """What a call reports to have used, all samples together."""

    input_tokens: int = Field(default=0, ge=0)
    cache_read_tokens: int = Field(default=0, ge=0)
    cache_write_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    reasoning_tokens: int = Field(default=0, ge=0)
    estimated: bool = False


class ScriptedReply(_Part):
    """One sample. Its finish reason follows from `tool_calls` unless it is given."""

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ScriptedToolCall, ...] = ()
    finish_reason: FinishReason | None = None

    def choice(self) -> Choice:
        """The reply as a model gives it."""
        calls = tuple(
            ToolCall(id=f"call_{number}", name=call.name, arguments=_arguments(call.arguments))
            for number, call in enumerate(self.tool_calls, start=1)
        )
        reason = self.finish_reason or (FinishReason.TOOL_CALLS if calls else FinishReason.STOP)
        return Choice(content=self.text, reasoning=self.reasoning, tool_calls=calls, finish_reason=reason)


def _arguments(value: dict[str, JsonValue] | str) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _replies(value: object) -> object:
    """One reply or several, each a text or a table."""
    several = value if isinstance(value, (list, tuple)) else [value]
    return [{"text": one} if isinstance(one, str) else one for one in several]


def _texts(value: object) -> object:
    return [value] if isinstance(value, str) else value


class Rule(_Part):
    """Replies for the conversations that fit all of its conditions.

    Attributes:
        contains: Texts that must all occur, letter case included.
        regex: A Python pattern that must be found. It needs a longest match (``{0,40}`` instead of ``*``) and no
            repetition inside another, so that no prompt makes it slow.
        role: Look only at messages of this role.
        last_only: Look only at the last message (of that role).
        reply: One reply, or several: sample i of the k-th call gets number k + i, the last one repeats.
        fail: Code of the error to raise (`rate_limited`, `server_error`, `call_timeout`, …).
        fail_on: Which calls fail, counted from 1; empty means all.
        count_by: What is counted.
        latency_s: Seconds that a call takes.
        usage: Reported usage; estimated from the texts when left out.
    """

    contains: Annotated[tuple[str, ...], BeforeValidator(_texts)] = ()
    regex: str | None = None
    role: Role | None = None
    last_only: bool = False
    reply: Annotated[tuple[ScriptedReply, ...], BeforeValidator(_replies)] = ()
    fail: str | None = None
    fail_on: tuple[int, ...] = ()
    count_by: CountBy = CountBy.CONVERSATION
    latency_s: float = Field(default=0.0, ge=0)
    usage: ScriptedUsage | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.reply and (self.fail is None or self.fail_on):
            raise ValueError("a rule needs a `reply`, or a `fail` without `fail_on`")
        if self.fail is not None and self.fail not in FAILURES:
            raise ValueError(f"unknown failure {self.fail!r}; known: {', '.join(sorted(FAILURES))}")
        if self.regex is not None:
            _check_linear(self.regex)
        return self

    @property
    def is_conditional(self) -> bool:
        """Whether there are conversations that it does not match."""
        return bool(self.contains or self.regex is not None or self.role)

    def matches(self, messages: tuple[Message, ...]) -> bool:
        """Whether the conversation fits all conditions."""
        seen = tuple(message for message in messages if self.role in {None, message.role})
        if not seen:
            return False
        text = "\n".join(message.content for message in (seen[-1:] if self.last_only else seen))
        return all(part in text for part in self.contains) and (
            self.regex is None or re.search(self.regex, text) is not None
        )


def _check_linear(pattern: str) -> None:
    """Refuse a pattern whose search is not linear in the text.

    Raises:
        ValueError: Not a pattern, one without a longest match, or one that repeats a repetition.
    """
    from re import _parser  # type: ignore[attr-defined]  # the only place that knows the width of a match

    try:
        parsed = _parser.parse(pattern)
    except re.error as error:
        raise ValueError(f"regex {pattern!r} is no pattern: {error}") from None
    if parsed.getwidth()[1] > LONGEST_MATCH or _repeats(parsed.data, inside=False):
        raise ValueError(
            f"regex {pattern!r} could be slow: bound every repetition as {{0,40}}, {LONGEST_MATCH:,} characters in all,"
            ' and put none inside another; `contains` with several texts says "this and that"'
        )


def _repeats(node: object, *, inside: bool) -> bool:
    """Whether a parsed pattern repeats something that itself varies in length."""
    if isinstance(node, (list, tuple)):
        head = str(node[0]) if node else ""
        varies = head in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}
        return (varies and inside) or any(_repeats(part, inside=inside or varies) for part in node)
    data = getattr(node, "data", None)
    return data is not None and _repeats(data, inside=inside)


class Script(_Part):
    """Rules in order, what to say when none matches, and what the model claims to be.

    Attributes:
        rules: The first that matches replies.
        default: Replies when none matches; without it such a call is an error.
        price: US dollars per million tokens; a script costs nothing without it.
        tools, json_schema, native_n, context_tokens: The abilities that it reports.
    """

    rules: tuple[Rule, ...] = ()
    default: Rule | None = None
    price: Price = Price(input=0, output=0)
    tools: bool = True
    json_schema: bool = True
    native_n: bool = True
    context_tokens: int | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        for number, rule in enumerate(self.rules, start=1):
            if not rule.is_conditional:
                raise ValueError(f"rule {number} has no condition, so none after it could match; make it the default")
        return self

    @classmethod
    def read(cls, file: Path) -> Self:
        """The script in a TOML or JSON file.

        Raises:
            FileFormatError: It cannot be read, or is no script; the message names the place.
        """
        try:
            data = file.read_bytes()
            tree = orjson.loads(data) if file.suffix == ".json" else tomllib.loads(data.decode())
            return cls.model_validate(tree)
        except OSError as error:
            raise FileFormatError(f"{file}: cannot be read: {error.strerror or error}") from None
        except ValidationError as error:
            problem = error.errors()[0]
            raise FileFormatError(f"{file}: {'.'.join(map(str, problem['loc']))}: {problem['msg']}") from None
        except ValueError as error:
            raise FileFormatError(f"{file}: is no script: {error}") from None
