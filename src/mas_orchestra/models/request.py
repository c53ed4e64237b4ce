"""The bytes of a chat-completions request."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import orjson

from mas_orchestra.models.base import Params
from mas_orchestra.seeds import digest
from mas_orchestra.types import JsonValue, Message, Role

__all__ = ["Dialect", "request_bytes", "sample_params"]

Wire: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What one model at one endpoint understands: configured at first, then learnt from what it refuses.

    Attributes:
        refused_schemas: Names of schemas that it refuses, where it takes others.
        left_out: Optional parts of a request that it refuses: ``seed``, ``temperature``, ``stream_options``, …
        max_tokens: Name of the field for the upper bound of generated tokens.
        context_tokens: Its window, as configured or as it said when a prompt was too long.
    """

    tools: bool = True
    json_schema: bool = True
    native_n: bool = True
    refused_schemas: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()
    max_tokens: str = "max_tokens"
    context_tokens: int | None = None

    def without(self, field: str, schema: str = "") -> "Dialect":
        """The dialect after the endpoint refused `field`, or the one `schema` of this name."""
        match field:
            case "schema":
                return replace(self, refused_schemas=self.refused_schemas | {schema})
            case "n":
                return replace(self, native_n=False)
            case "max_tokens":
                return replace(self, max_tokens="max_completion_tokens")
            case "tools":
                return replace(self, tools=False)
            case "response_format":
                return replace(self, json_schema=False)
            case _:
                return replace(self, left_out=self.left_out | {field})

    def takes_schema(self, name: str) -> bool:
        """Whether a response schema of this name may be sent."""
        return self.json_schema and name not in self.refused_schemas


def request_bytes(name: str, messages: tuple[Message, ...], params: Params, dialect: Dialect) -> bytes:
    """The JSON body that asks model `name` for a completion."""
    body: Wire = {"model": name, "messages": [_message(message) for message in messages]}
    optional: Wire = {
        "temperature": params.temperature,
        "top_p": params.top_p,
        "seed": params.seed,
        "stop": params.stop or None,
        "n": params.n if params.n > 1 and dialect.native_n else None,
        dialect.max_tokens: params.max_tokens,
    }
    if params.tools and dialect.tools:
        optional["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            }
            for tool in params.tools
        ]
    if params.response_schema is not None and dialect.takes_schema(params.response_schema.name):
        schema = {"name": params.response_schema.name, "schema": params.response_schema.schema, "strict": True}
        optional["response_format"] = {"type": "json_schema", "json_schema": schema}
    if params.stream:
        optional |= {"stream": True, "stream_options": {"include_usage": True}}
    body |= {key: value for key, value in optional.items() if value is not None and key not in dialect.left_out}
    try:
        return orjson.dumps(body, default=_plain)
    except orjson.JSONEncodeError:
        # Half a character pair, as a terminal or a broken file can bring in, has no UTF-8: it goes as a question mark.
        return json.dumps(body, default=_plain, ensure_ascii=False).encode("utf-8", "replace")


def sample_params(params: Params, sample: int) -> Params:
    """Parameters for one of several samples that are asked for one by one: each with a seed of its own."""
    seed = params.seed if params.seed is None or sample == 0 else digest("sample", params.seed, sample) % 2**31
    return replace(params, n=1, seed=seed)


def _message(message: Message) -> Wire:
    wire: Wire = {"role": message.role.value, "content": message.content}
    if message.tool_calls:
        wire["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.role is Role.TOOL:
        wire["tool_call_id"] = message.tool_call_id
    return wire


def _plain(value: object) -> dict[str, JsonValue]:
    """Mappings that are no dict, as frozen schemas are."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")
