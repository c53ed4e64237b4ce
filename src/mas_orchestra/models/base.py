"""What a chat model is, and the values that go in and come out."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable

from mas_orchestra.types import Message, ResponseSchema, ToolCall, ToolSpec, Usage

__all__ = [
    "Abilities",
    "ChatModel",
    "Choice",
    "Completion",
    "FinishReason",
    "Namespaced",
    "Params",
    "QueueWatch",
]


class FinishReason(StrEnum):
    """Why the model stopped."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CONTENT_FILTER = "content_filter"
    UNKNOWN = "unknown"
    """The endpoint gave none, or one that we do not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How to sample one call. ``None`` leaves the endpoint's own default.

    Attributes:
        max_tokens: Upper bound of generated tokens, reasoning included.
        n: Independent samples of the same prompt, one `Choice` each. A model without native `n` sends `n` requests.
        response_schema: Structured output; a model that cannot enforce it ignores it, so replies are always checked.
        stream: Ask for a stream, so that a reply cut off half-way is still paid for and a hung one is noticed early.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    n: int = 1
    tools: tuple[ToolSpec, ...] = ()
    response_schema: ResponseSchema | None = None
    stream: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One sample: text, reasoning kept apart, tool calls. An empty `content` is possible and is no answer."""

    content: str
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: FinishReason = FinishReason.STOP


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The reply to one call.

    Attributes:
        choices: `n` samples, in the endpoint's order.
        usage: Tokens of the whole call, failed requests that were billed included.
        model: The model's name as the endpoint gave it.
        latency_s: From the request that succeeded to its last byte, in seconds; queueing and back-off not included.
        queue_s: Time spent waiting for the endpoint's limiter and in back-off, in seconds.
        requests: HTTP requests sent, retries included.
        cached: True when the reply came from our own response cache and cost nothing.
        notes: What was adapted to get the reply, in words for people ("max_tokens lowered from 400 to 212 …").
    """

    choices: tuple[Choice, ...]
    usage: Usage
    model: str
    latency_s: float
    queue_s: float = 0.0
    requests: int = 1
    cached: bool = False
    notes: tuple[str, ...] = field(default=())

    @property
    def content(self) -> str:
        """Text of the first choice."""
        return self.choices[0].content


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What an endpoint can do, as configured or as found by ``mas models check``."""

    tools: bool = True
    json_schema: bool = True
    native_n: bool = True
    context_tokens: int | None = None
    """Window of prompt and reply together; ``None`` when unknown."""
    small: bool = False
    """Some hundred million parameters: plans need a short prompt, and a schema that holds the rules of the language."""


class QueueWatch(Protocol):
    """Told while a call only waits in a queue, so that waiting does not count against a step's time-out."""

    def waiting(self) -> AbstractContextManager[None]:
        """A context that is entered while the call waits for the endpoint's limiter or for a back-off to pass."""
        ...


class ChatModel(Protocol):
    """A chat model behind any transport.

    Cancelling `complete` cancels the request. A call either returns a `Completion` or raises a `CallError`; it never
    returns an empty string for a failure.
    """

    @property
    def uri(self) -> str:
        """Name of model and endpoint, without secrets; part of every cache key and trace."""
        ...

    @property
    def abilities(self) -> Abilities:
        """What the endpoint can do."""
        ...

    def cost_usd(self, usage: Usage) -> float | None:
        """Price of `usage` in US dollars, or ``None`` where the price of this model is not known."""
        ...

    async def complete(
        self, messages: tuple[Message, ...], params: Params, *, queue: QueueWatch | None = None
    ) -> Completion:
        """One reply to `messages`.

        Raises:
            CallError: No usable reply, see `mas_orchestra.errors`.
        """
        ...

    async def close(self) -> None:
        """Release connections; the model is not used afterwards."""
        ...


@runtime_checkable
class Namespaced(Protocol):
    """A model that remembers or counts what it was asked, or stands before one that does."""

    def within(self, namespace: str) -> ChatModel:
        """The same model, to which only what was asked under `namespace` has ever been asked."""
        ...
