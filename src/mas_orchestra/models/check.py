"""What an endpoint really does, measured with a few short calls."""

import time
from dataclasses import dataclass

import orjson

from mas_orchestra.errors import CallError
from mas_orchestra.models.base import ChatModel, Completion, Params
from mas_orchestra.types import Message, ResponseSchema, Role, ToolSpec, Usage

__all__ = ["CheckReport", "check_model"]

ASK = (Message(role=Role.USER, content="What is 6 times 7? Answer with the number only."),)
ASK_TOOL = (Message(role=Role.USER, content="What is the weather in Paris? Use the tool to find out."),)
WEATHER = ToolSpec(
    name="get_weather",
    description="The current weather of a city.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
SCHEMA = ResponseSchema(
    name="reply",
    schema={
        "type": "object",
        "properties": {"result": {"type": "integer"}},
        "required": ["result"],
        "additionalProperties": False,
    },
)
MAX_TOKENS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What was found. ``None`` means that it was not tried, since the plain call already failed.

    Attributes:
        reachable: A plain call was answered.
        model: The name that the endpoint gave.
        latency_s: Of the plain call, in seconds.
        usage_reported, stream_usage_reported: Tokens come from the endpoint, not from an estimate.
        tools: A question that needs a tool made the model call it.
        json_schema: A reply followed a schema that its prompt does not mention.
        native_n: Two samples came back for one request.
        usage: Tokens that all of this took.
        cost_usd: Their price, ``None`` where it is not known.
        problems: Why something did not work, one text each.
    """

    uri: str
    reachable: bool
    model: str = ""
    latency_s: float | None = None
    usage_reported: bool | None = None
    stream_usage_reported: bool | None = None
    tools: bool | None = None
    json_schema: bool | None = None
    native_n: bool | None = None
    usage: Usage = Usage()
    cost_usd: float | None = None
    problems: tuple[str, ...] = ()


class _Prober:
    """Asks and keeps account."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.usage = Usage()
        self.problems: list[str] = []

    async def ask(self, what: str, messages: tuple[Message, ...], params: Params) -> Completion | None:
        """The completion, or ``None`` when there was none; `what` names the attempt in `problems`."""
        try:
            completion = await self._model.complete(messages, params)
        except CallError as error:
            self.usage += error.usage
            self.problems.append(f"{what}: {error}")
            return None
        self.usage += completion.usage
        return completion


async def check_model(model: ChatModel) -> CheckReport:
    """What `model` does, found with at most five short calls."""
    prober = _Prober(model)
    started_s = time.monotonic()
    plain = await prober.ask("plain call", ASK, Params(max_tokens=MAX_TOKENS))
    latency_s = time.monotonic() - started_s
    if plain is None:
        return CheckReport(uri=model.uri, reachable=False, usage=prober.usage, problems=tuple(prober.problems))
    streamed = await prober.ask("stream", ASK, Params(max_tokens=MAX_TOKENS, stream=True))
    tool = await prober.ask("tools", ASK_TOOL, Params(max_tokens=MAX_TOKENS, tools=(WEATHER,)))
    shaped = await prober.ask("json_schema", ASK, Params(max_tokens=MAX_TOKENS, response_schema=SCHEMA))
    pair = await prober.ask("n", ASK, Params(max_tokens=MAX_TOKENS, n=2))
    return CheckReport(
        uri=model.uri,
        reachable=True,
        model=plain.model,
        latency_s=latency_s,
        usage_reported=not plain.usage.estimated,
        stream_usage_reported=streamed is not None and not streamed.usage.estimated,
        tools=tool is not None and any(call.name == WEATHER.name for call in tool.choices[0].tool_calls),
        json_schema=shaped is not None and _follows(shaped.content),
        native_n=pair is not None and model.abilities.native_n,
        usage=prober.usage,
        cost_usd=model.cost_usd(prober.usage),
        problems=tuple(prober.problems),
    )


def _follows(text: str) -> bool:
    """Whether a reply follows `SCHEMA`."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return isinstance(value, dict) and value.keys() == {"result"} and isinstance(value["result"], int)
