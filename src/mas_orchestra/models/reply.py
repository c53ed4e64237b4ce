"""From the bytes of a reply to choices and usage, whatever flavour of the protocol the endpoint speaks."""

import json
from dataclasses import dataclass
from typing import TypeGuard

import orjson

from mas_orchestra.models.base import Choice, FinishReason
from mas_orchestra.models.tokens import estimate_prompt_tokens, estimate_tokens
from mas_orchestra.types import JsonObject, JsonValue, Message, ToolCall, Usage

__all__ = [
    "Reply",
    "Unreadable",
    "estimate_usage",
    "finish_reason",
    "is_object",
    "read_json",
    "read_reply",
    "read_usage",
    "split_content",
    "with_usage",
]

FINISH_REASONS = {
    "stop": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "eos_token": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "max_output_tokens": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "tool_use": FinishReason.TOOL_CALLS,
    "content_filter": FinishReason.CONTENT_FILTER,
    "safety": FinishReason.CONTENT_FILTER,
    "recitation": FinishReason.CONTENT_FILTER,
    "prohibited_content": FinishReason.CONTENT_FILTER,
    "refusal": FinishReason.CONTENT_FILTER,
}


class Unreadable(Exception):  # noqa: N818  (not an error of the package: the client turns it into one, with its place)
    """The bytes are no completion; says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back for one request. `usage` is ``None`` when the endpoint reported none."""

    choices: tuple[Choice, ...]
    usage: Usage | None
    model: str


def read_json(data: bytes) -> JsonValue:
    """The JSON value in `data`, also where servers write what JSON does not allow.

    Half a character pair, bytes that are no UTF-8 (a reply cut in the middle of a character), ``NaN``: no reason to
    lose a reply that was paid for. Such characters become question marks.

    Raises:
        Unreadable: It is not JSON all the same.
    """
    value: JsonValue
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        try:
            lenient = json.loads(data.decode("utf-8", "replace"))
            value = json.loads(json.dumps(lenient, ensure_ascii=False).encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            raise Unreadable(f"it is not JSON ({error})") from None
    return value


def read_reply(body: JsonObject) -> Reply:
    """The reply in a decoded body.

    Raises:
        Unreadable: It holds no choices, or one that is none.
    """
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        raise Unreadable(f"no 'choices' in a reply with {', '.join(sorted(body)) or 'nothing'}")
    ordered = sorted(choices, key=_index) if all(map(is_object, choices)) else choices
    model = body.get("model")
    return Reply(
        choices=tuple(_choice(each) for each in ordered),
        usage=read_usage(body.get("usage")),
        model=model if isinstance(model, str) else "",
    )


def is_object(value: object) -> TypeGuard[dict[str, JsonValue]]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def _index(choice: JsonValue) -> int:
    index = choice.get("index") if is_object(choice) else None
    return index if isinstance(index, int) else 0


def _choice(choice: JsonValue) -> Choice:
    message = choice.get("message") if is_object(choice) else None
    if not is_object(choice) or not is_object(message):
        raise Unreadable("a choice without a 'message'")
    content, thoughts = split_content(message.get("content"))
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    reason = finish_reason(choice.get("finish_reason"))
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal and not content:
        content, reason = refusal, FinishReason.CONTENT_FILTER
    return Choice(
        content=content,
        reasoning=reasoning if isinstance(reasoning, str) else thoughts,
        tool_calls=_tool_calls(message.get("tool_calls")),
        finish_reason=reason,
    )


def split_content(content: JsonValue) -> tuple[str, str]:
    """Text and thoughts of a `content`: a string, ``null``, or a list of typed parts."""
    if isinstance(content, str):
        return content, ""
    if content is None:
        return "", ""
    if not isinstance(content, list):
        raise Unreadable(f"'content' is a {type(content).__name__}")
    text: list[str] = []
    thoughts: list[str] = []
    for part in content:
        if isinstance(part, str):
            text.append(part)
        elif is_object(part):
            thought, plain = part.get("thinking"), part.get("text")
            thoughts.append(thought if isinstance(thought, str) else split_content(thought)[0])
            text.append(plain if isinstance(plain, str) else "")
    return "".join(text), "".join(thoughts)


def _tool_calls(calls: JsonValue) -> tuple[ToolCall, ...]:
    if not calls:
        return ()
    if not isinstance(calls, list):
        raise Unreadable(f"'tool_calls' is a {type(calls).__name__}")
    return tuple(_tool_call(call, number) for number, call in enumerate(calls, start=1))


def _tool_call(call: JsonValue, number: int) -> ToolCall:
    function = call.get("function") if is_object(call) else None
    name = function.get("name") if is_object(function) else None
    if not is_object(call) or not is_object(function) or not isinstance(name, str):
        raise Unreadable("a tool call without a function name")
    arguments, identity = function.get("arguments"), call.get("id")
    return ToolCall(
        id=identity if isinstance(identity, str) and identity else f"call_{number}",
        name=name,
        arguments=arguments if isinstance(arguments, str) else orjson.dumps(arguments or {}).decode(),
    )


def finish_reason(value: JsonValue) -> FinishReason:
    """Why the model stopped, in our words.

    >>> finish_reason("max_tokens")
    <FinishReason.LENGTH: 'length'>
    """
    return FINISH_REASONS.get(value.lower(), FinishReason.UNKNOWN) if isinstance(value, str) else FinishReason.UNKNOWN


def read_usage(usage: JsonValue) -> Usage | None:
    """Disjoint buckets from what an endpoint reports; ``None`` when it reports nothing that can be true.

    ``prompt_tokens`` includes what was cached, so that part is taken out. Where ``total_tokens`` says more than prompt
    and reply together, the difference is reasoning that the endpoint bills but does not count in the reply.

    >>> read_usage({"prompt_tokens": 262960, "completion_tokens": 1744,
    ...             "prompt_tokens_details": {"cached_tokens": 257955}}).input_tokens
    5005
    """
    if not is_object(usage):
        return None
    prompt, output = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    if prompt + output == 0:
        return None
    details = usage.get("prompt_tokens_details")
    cache_read = _count(details, "cached_tokens") or _count(usage, "prompt_cache_hit_tokens")
    cache_read = cache_read or _count(usage, "cache_read_input_tokens")
    cache_write = _count(details, "cache_creation_tokens") or _count(usage, "cache_creation_input_tokens")
    cached = cache_read + cache_write
    # An endpoint whose cached part is larger than its prompt reports the two side by side.
    fresh = prompt - cached if cached <= prompt else prompt
    hidden = max(0, _count(usage, "total_tokens") - fresh - cached - output)
    reasoning = _count(usage.get("completion_tokens_details"), "reasoning_tokens")
    return Usage(
        input_tokens=fresh,
        cache_read_tokens=cache_read,
        cache_write_tokens=cache_write,
        output_tokens=output + hidden,
        reasoning_tokens=min(output + hidden, max(reasoning, hidden)),
    )


def _count(table: JsonValue, key: str) -> int:
    value = table.get(key) if is_object(table) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def estimate_usage(messages: tuple[Message, ...], choices: tuple[Choice, ...] = ()) -> Usage:
    """Usage by the length of the texts, marked as estimated."""
    reasoning = sum(estimate_tokens(choice.reasoning) for choice in choices)
    calls = sum(estimate_tokens(call.name + call.arguments) for choice in choices for call in choice.tool_calls)
    return Usage(
        input_tokens=estimate_prompt_tokens(messages),
        output_tokens=reasoning + calls + sum(estimate_tokens(choice.content) for choice in choices),
        reasoning_tokens=reasoning,
        estimated=True,
    )


def with_usage(usage: Usage | None, messages: tuple[Message, ...], choices: tuple[Choice, ...]) -> Usage:
    """The reported usage, or an estimate where there is none."""
    return estimate_usage(messages, choices) if usage is None else usage
