"""Values that all packages share: messages, usage, the states of a step and of a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from pydantic import JsonValue

__all__ = [
    "DoM",
    "JsonObject",
    "JsonValue",
    "Message",
    "OutcomeStatus",
    "ResponseSchema",
    "Role",
    "StepStatus",
    "ToolCall",
    "ToolSpec",
    "Usage",
]

JsonObject: TypeAlias = Mapping[str, JsonValue]


class DoM(StrEnum):
    """Degree of MAS, chosen by the caller (MAS-Orchestra, section 3)."""

    LOW = "low"
    """A direct answer or exactly one step."""
    HIGH = "high"
    """One or more steps."""


class OutcomeStatus(StrEnum):
    """How a run ended."""

    ANSWERED = "answered"
    INVALID_PLAN = "invalid_plan"
    STEP_FAILED = "step_failed"
    BUDGET_EXCEEDED = "budget_exceeded"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    ENDPOINT_ERROR = "endpoint_error"


class StepStatus(StrEnum):
    """Where a step is, or how it ended."""

    WAITING = "waiting"
    RUNNING = "running"
    ANSWERED = "answered"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one or more calls in disjoint buckets.

    Attributes:
        input_tokens: Prompt tokens that were neither read from nor written to a prompt cache.
        cache_read_tokens: Prompt tokens read from the endpoint's prompt cache.
        cache_write_tokens: Prompt tokens written to it.
        output_tokens: All generated tokens, reasoning included.
        reasoning_tokens: The part of `output_tokens` that was reasoning.
        estimated: True when any part was not reported by the endpoint but estimated by us; totals are "at least".
    """

    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    estimated: bool = False

    @property
    def total_tokens(self) -> int:
        """Every token once.

        >>> Usage(input_tokens=5_005, cache_read_tokens=257_955, output_tokens=1_744).total_tokens
        264704
        """
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            estimated=self.estimated or other.estimated,
        )


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One function call that a model asks for. `arguments` is the model's own JSON text, unchecked."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation.

    Attributes:
        tool_calls: Calls that an assistant turn asks for.
        tool_call_id: The call that a tool turn answers.
    """

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A function offered to a model; `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseSchema:
    """A JSON Schema that the reply must follow, where the endpoint can enforce one."""

    name: str
    schema: JsonObject
