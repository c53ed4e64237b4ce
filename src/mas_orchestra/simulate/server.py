"""Simulated models behind an OpenAI-compatible server: ``/v1/chat/completions`` and ``/v1/models``. SIMULATED."""

import hmac
import ipaddress
import itertools
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import orjson
from aiohttp import web
from aiohttp.typedefs import Handler
from pydantic import ValidationError

from mas_orchestra.errors import CallError, ConfigError, ContextOverflowError, ModelNotFoundError, UsageError
from mas_orchestra.simulate.model import SimulatedModel
from mas_orchestra.simulate.profile import MARK
from mas_orchestra.simulate.wire import Request, chunks, completion_body

__all__ = ["Address", "serve"]

_LARGEST_BODY = 32 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a server listens.

    Attributes:
        port: 0 takes a free one.
        key: What clients must send; required wherever others than this machine can connect.

    Raises:
        UsageError: A host that is no loopback address, without a key.
    """

    host: str = "127.0.0.1"
    port: int = 8123
    key: str = ""

    def __post_init__(self) -> None:
        if not self.key and not _is_loopback(self.host):
            raise UsageError(
                f"host {self.host}: others could connect, so a key is needed; put one into an environment variable and"
                " name it with --key-env, or listen on 127.0.0.1"
            )

    def __repr__(self) -> str:
        return f"Address(host={self.host!r}, port={self.port})"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@asynccontextmanager
async def serve(models: Mapping[str, SimulatedModel], address: Address) -> AsyncIterator[str]:
    """Serves the models, by the name that clients ask for, while the context is open; gives the base URL.

    Raises:
        ConfigError: The port cannot be had.
    """
    runner = web.AppRunner(_Server(models, address.key).application(), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, address.host, address.port)
        try:
            await site.start()
        except OSError as error:
            raise ConfigError(
                f"cannot listen on {address.host}:{address.port}: {error.strerror}; choose another port"
            ) from None
        host, port = runner.addresses[0][:2]
        yield f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"
    finally:
        await runner.cleanup()


class _Server:
    """The handlers."""

    def __init__(self, models: Mapping[str, SimulatedModel], key: str) -> None:
        self._models, self._key = models, key
        self._numbers = itertools.count(1)

    def application(self) -> web.Application:
        app = web.Application(client_max_size=_LARGEST_BODY, middlewares=[self._guard])
        app.router.add_get("/v1/models", self._list)
        app.router.add_post("/v1/chat/completions", self._complete)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Lets no one in without the key, and puts every refusal into the protocol's own form."""
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self._key and not hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self._key.encode()):
            return _refusal(401, "invalid_api_key", "the key is missing or wrong; send it as 'Authorization: Bearer …'")
        try:
            return await handler(request)
        except web.HTTPException as error:
            return _refusal(error.status, "not_found" if error.status == 404 else "bad_request", error.reason)
        except (ValidationError, orjson.JSONDecodeError, CallError) as error:
            return _refused(error)

    async def _list(self, request: web.Request) -> web.Response:
        del request
        listed = [
            {"id": name, "object": "model", "owned_by": f"mas-orchestra {MARK}", "summary": model.profile.summary}
            for name, model in self._models.items()
        ]
        return web.json_response({"object": "list", "data": listed})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        asked = Request.model_validate(orjson.loads(await request.read()))
        if asked.model not in self._models:
            raise ModelNotFoundError(f"there is no model {asked.model!r} here; there are {', '.join(self._models)}")
        completion = await self._models[asked.model].complete(asked.conversation, asked.params)
        number = next(self._numbers)
        if not asked.stream:
            return web.Response(body=orjson.dumps(completion_body(completion, number)), content_type="application/json")
        return await _stream(request, chunks(completion, number, with_usage=asked.wants_usage))


async def _stream(request: web.Request, bodies: Iterator[Mapping[str, object]]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    await response.prepare(request)
    for body in bodies:
        await response.write(b"data: " + orjson.dumps(body) + b"\n\n")
    await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response


def _refused(error: ValidationError | orjson.JSONDecodeError | CallError) -> web.Response:
    match error:
        case ValidationError():
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            return _refusal(400, "invalid_request", f"{place}: {first['msg']}", param=place)
        case ModelNotFoundError():
            return _refusal(404, error.code, str(error), param="model")
        case ContextOverflowError():
            return _refusal(400, "context_length_exceeded", str(error), param="messages")
        case CallError():
            return _refusal(400, error.code, str(error), param="messages")
    return _refusal(400, "invalid_json", f"the body is not JSON: {error}")


def _refusal(status: int, code: str, message: str, *, param: str | None = None) -> web.Response:
    error = {"message": message, "type": "invalid_request_error", "code": code, "param": param}
    return web.json_response({"error": error}, status=status)
