"""Chat completions on the wire, as a server reads and writes them."""

import time
from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from mas_orchestra.models.base import Choice, Completion, Params
from mas_orchestra.types import Message, ResponseSchema, Role, ToolCall, ToolSpec

__all__ = ["Request", "chunks", "completion_body"]

_CHUNK_CHARACTERS = 64


class _Wire(BaseModel):
    """Part of a request; what we do not use is ignored, as servers of this protocol do."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _Text(_Wire):
    type: Literal["text"]
    text: str


class _Function(_Wire):
    name: str
    arguments: str = ""


class _Call(_Wire):
    id: str
    function: _Function


class _Turn(_Wire):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | tuple[_Text, ...] | None = None
    tool_calls: tuple[_Call, ...] | None = None
    tool_call_id: str | None = None

    def message(self) -> Message:
        content = self.content or ""
        return Message(
            role=Role.SYSTEM if self.role == "developer" else Role(self.role),
            content=content if isinstance(content, str) else "".join(part.text for part in content),
            tool_calls=tuple(
                ToolCall(id=call.id, name=call.function.name, arguments=call.function.arguments)
                for call in self.tool_calls or ()
            ),
            tool_call_id=self.tool_call_id,
        )


class _ToolFunction(_Wire):
    name: str
    description: str = ""
    parameters: dict[str, JsonValue] = Field(default_factory=dict)


class _Tool(_Wire):
    function: _ToolFunction


class _JsonSchema(_Wire):
    name: str
    schema_: dict[str, JsonValue] = Field(alias="schema", default_factory=dict)


class _ResponseFormat(_Wire):
    json_schema: _JsonSchema | None = None


class _StreamOptions(_Wire):
    include_usage: bool = False


class Request(_Wire):
    """The body of ``POST /v1/chat/completions``."""

    model: str
    messages: tuple[_Turn, ...] = Field(min_length=1)
    n: int | None = Field(default=None, ge=1, le=128)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    seed: int | None = None
    stop: str | tuple[str, ...] | None = None
    tools: tuple[_Tool, ...] | None = None
    response_format: _ResponseFormat | None = None
    stream: bool | None = None
    stream_options: _StreamOptions | None = None

    @property
    def conversation(self) -> tuple[Message, ...]:
        """The messages."""
        return tuple(turn.message() for turn in self.messages)

    @property
    def params(self) -> Params:
        """How to sample."""
        stop = (self.stop,) if isinstance(self.stop, str) else self.stop or ()
        wanted = self.response_format.json_schema if self.response_format else None
        return Params(
            n=self.n or 1,
            max_tokens=self.max_completion_tokens or self.max_tokens,
            seed=self.seed,
            stop=tuple(text for text in stop if text),
            tools=tuple(
                ToolSpec(name=f.name, description=f.description, parameters=f.parameters)
                for f in (tool.function for tool in self.tools or ())
            ),
            response_schema=ResponseSchema(name=wanted.name, schema=wanted.schema_) if wanted else None,
        )

    @property
    def wants_usage(self) -> bool:
        """Whether a stream is to end with its usage."""
        return self.stream_options is not None and self.stream_options.include_usage


Body = dict[str, object]


def completion_body(completion: Completion, number: int) -> Body:
    """A whole reply."""
    choices = [
        {"index": index, "message": _message(choice), "finish_reason": choice.finish_reason.value, "logprobs": None}
        for index, choice in enumerate(completion.choices)
    ]
    return {**_head(completion, number, "chat.completion"), "choices": choices, "usage": _usage(completion)}


def chunks(completion: Completion, number: int, *, with_usage: bool) -> Iterator[Body]:
    """The same reply as the events of a stream."""
    head = _head(completion, number, "chat.completion.chunk")
    for index, choice in enumerate(completion.choices):
        for delta in _deltas(choice):
            yield {**head, "choices": [{"index": index, "delta": delta, "finish_reason": None}]}
        yield {**head, "choices": [{"index": index, "delta": {}, "finish_reason": choice.finish_reason.value}]}
    if with_usage:
        yield {**head, "choices": [], "usage": _usage(completion)}


def _head(completion: Completion, number: int, kind: str) -> Body:
    return {
        "id": f"chatcmpl-simulated-{number}",
        "object": kind,
        "created": int(time.time()),
        "model": completion.model,
        "system_fingerprint": "simulated",
    }


def _message(choice: Choice) -> Body:
    message: Body = {"role": "assistant", "content": choice.content, "refusal": None}
    if choice.tool_calls:
        message["tool_calls"] = [_call(call) for call in choice.tool_calls]
    return message


def _deltas(choice: Choice) -> Iterator[Body]:
    yield {"role": "assistant", "content": ""}
    for start in range(0, len(choice.content), _CHUNK_CHARACTERS):
        yield {"content": choice.content[start : start + _CHUNK_CHARACTERS]}
    for index, call in enumerate(choice.tool_calls):
        yield {"tool_calls": [{"index": index, **_call(call)}]}


def _call(call: ToolCall) -> Body:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _usage(completion: Completion) -> Body:
    usage = completion.usage
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
    }
