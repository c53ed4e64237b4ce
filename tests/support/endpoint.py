"""A real OpenAI-compatible server on loopback whose every reply a test decides.

::

    async with serve() as endpoint:                  # or the fixture `endpoint`
        endpoint.script(status(429, retry_after="3"), text("42"))   # one behaviour a request, the last one repeats
        model = open_model(f"openai:test@{endpoint.base_url}", Settings())
        ...
        assert endpoint.count == 2 and endpoint.peak == 1

A behaviour is any ``async (Call) -> web.StreamResponse``. `Endpoint.handle` takes one function for all requests.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson
from aiohttp import web

USAGE = {"prompt_tokens": 30, "completion_tokens": 4, "total_tokens": 34}


@dataclass
class Call:
    """One request as it came."""

    request: web.Request
    body: dict
    number: int
    """From 1."""

    @property
    def prompt(self) -> str:
        return self.body["messages"][-1]["content"]


Behaviour = Callable[[Call], Awaitable[web.StreamResponse]]


@dataclass
class Endpoint:
    """The running server.

    Attributes:
        base_url: What to put behind ``openai:NAME@``.
        calls: Every completion request, in order of arrival.
        in_flight, peak: Requests being answered now, and the most there ever were.
        models: Names that ``/models`` lists; ``None`` makes that a 404.
        released: Set by `serve` when it ends, so that hanging behaviours end too.
    """

    base_url: str = ""
    calls: list[Call] = field(default_factory=list)
    in_flight: int = 0
    peak: int = 0
    models: list[str] | None = field(default_factory=lambda: ["test"])
    released: asyncio.Event = field(default_factory=asyncio.Event)
    _behaviours: list[Behaviour] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def count(self) -> int:
        return len(self.calls)

    @property
    def bodies(self) -> list[dict]:
        return [call.body for call in self.calls]

    def script(self, *behaviours: Behaviour) -> None:
        """Answer the next requests with these, one each; the last one repeats."""
        self._behaviours = list(behaviours)

    def handle(self, behaviour: Behaviour) -> None:
        """Answer every request with this."""
        self.script(behaviour)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return once `condition` holds; it is looked at whenever a request begins or ends."""
        while not condition():
            await self._changed.wait()

    def _change(self, in_flight: int) -> None:
        self.in_flight += in_flight
        self.peak = max(self.peak, self.in_flight)
        self._changed.set()
        self._changed = asyncio.Event()

    async def completions(self, request: web.Request) -> web.StreamResponse:
        call = Call(request=request, body=orjson.loads(await request.read()), number=len(self.calls) + 1)
        self.calls.append(call)
        self._change(+1)
        behaviour = self._behaviours[0] if self._behaviours else text("42")
        if len(self._behaviours) > 1:
            self._behaviours.pop(0)
        try:
            return await behaviour(call)
        finally:
            self._change(-1)

    async def list_models(self, request: web.Request) -> web.Response:
        if self.models is None:
            raise web.HTTPNotFound
        return web.json_response({"object": "list", "data": [{"id": name} for name in self.models]})


@asynccontextmanager
async def serve(port: int = 0) -> AsyncIterator[Endpoint]:
    """A server for the length of the block, at ``http://127.0.0.1:PORT/v1`` (any free port by default)."""
    endpoint = Endpoint()
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_post("/v1/chat/completions", endpoint.completions)
    app.router.add_get("/v1/models", endpoint.list_models)
    runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, backlog=8192)
    await site.start()
    endpoint.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield endpoint
    finally:
        endpoint.released.set()
        await runner.cleanup()


def message(content: str | None = "42", **fields) -> dict:
    return {"role": "assistant", "content": content, **fields}


def completion(*messages: dict, finish: str | None = "stop", usage: dict | None = USAGE, model: str = "test") -> dict:
    """A whole reply; one choice for each message."""
    choices = [{"index": i, "message": each, "finish_reason": finish} for i, each in enumerate(messages)]
    body = {"id": "c-1", "object": "chat.completion", "model": model, "choices": choices}
    return body if usage is None else body | {"usage": usage}


def json(body: object, *, status: int = 200, headers: dict | None = None) -> Behaviour:
    async def behave(call: Call) -> web.Response:
        return web.json_response(body, status=status, headers=headers)

    return behave


def text(content: str, *, usage: dict | None = USAGE, finish: str = "stop", native_n: bool = True) -> Behaviour:
    """A plain reply, `n` times if asked to (only once without `native_n`)."""

    async def behave(call: Call) -> web.Response:
        number = call.body.get("n", 1) if native_n else 1
        return web.json_response(completion(*[message(content)] * number, finish=finish, usage=usage))

    return behave


def status(number: int, note: str = "the test says so", /, *, retry_after: str | None = None, **fields) -> Behaviour:
    """An error reply in the OpenAI form."""
    headers = {"Retry-After": retry_after} if retry_after else None
    return json({"error": {"message": note, "type": "error", **fields}}, status=number, headers=headers)


def raw(body: bytes, *, code: int = 200, content_type: str = "application/json") -> Behaviour:
    async def behave(call: Call) -> web.Response:
        return web.Response(body=body, status=code, content_type=content_type)

    return behave


def html(code: int = 200) -> Behaviour:
    return raw(b"<!doctype html><html><body>Welcome</body></html>", code=code, content_type="text/html")


def slow(seconds: float, then: Behaviour) -> Behaviour:
    async def behave(call: Call) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return await then(call)

    return behave


def held(gate: asyncio.Event, then: Behaviour) -> Behaviour:
    """Answers once the test opens the gate: order and overlap without clocks."""

    async def behave(call: Call) -> web.StreamResponse:
        await gate.wait()
        return await then(call)

    return behave


def hang(endpoint: Endpoint) -> Behaviour:
    """Never answers; ends with the server."""

    async def behave(call: Call) -> web.StreamResponse:
        await endpoint.released.wait()
        raise web.HTTPServiceUnavailable

    return behave


def at_most(limit: int, then: Behaviour, otherwise: Behaviour) -> Behaviour:
    """`then` for up to `limit` requests at once, `otherwise` for those beyond."""
    serving = 0

    async def behave(call: Call) -> web.StreamResponse:
        nonlocal serving
        if serving >= limit:
            return await otherwise(call)
        serving += 1
        try:
            return await then(call)
        finally:
            serving -= 1

    return behave


def queued(limit: int, then: Behaviour) -> Behaviour:
    """A server that works on `limit` requests at once and lets the others wait in silence."""
    room = asyncio.Semaphore(limit)

    async def behave(call: Call) -> web.StreamResponse:
        async with room:
            return await then(call)

    return behave


def reset() -> Behaviour:
    """Drops the connection without a byte."""

    async def behave(call: Call) -> web.StreamResponse:
        call.request.transport.abort()
        return web.Response()

    return behave


def cut(body: bytes, *, declared: int) -> Behaviour:
    """Promises `declared` bytes, sends fewer and drops the connection."""

    async def behave(call: Call) -> web.StreamResponse:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {declared}\r\n\r\n"
        call.request.transport.write(head.encode() + body)
        call.request.transport.close()
        return web.Response()

    return behave


def delta(content: str | None = None, *, index: int = 0, finish: str | None = None, **fields) -> dict:
    """One piece of a stream."""
    piece = fields if content is None else {"content": content, **fields}
    choice = {"index": index, "delta": piece, "finish_reason": finish}
    return {"id": "c-1", "object": "chat.completion.chunk", "model": "test", "choices": [choice]}


def stream(
    *pieces: dict | bytes, usage: dict | None = USAGE, done: bool = True, then: Awaitable[object] | None = None
) -> Behaviour:
    """Server-sent events: the pieces (bytes go out as they are), then usage if it was asked for, then ``[DONE]``.

    `then` is awaited after the pieces, before the end: an event that never comes makes a stream that stalls.
    """

    async def behave(call: Call) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(call.request)
        for piece in pieces:
            await response.write(piece if isinstance(piece, bytes) else b"data: " + orjson.dumps(piece) + b"\n\n")
        if then is not None:
            await then
        if usage is not None and call.body.get("stream_options", {}).get("include_usage"):
            await response.write(b"data: " + orjson.dumps({"model": "test", "choices": [], "usage": usage}) + b"\n\n")
        if done:
            await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    return behave
