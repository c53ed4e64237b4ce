"""HTTP to one endpoint: a request goes out, and a reply or the reason why there is none comes back."""

import asyncio
import errno
import socket
import urllib.request
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import replace
from urllib.parse import urlsplit, urlunsplit
from weakref import WeakKeyDictionary

import aiohttp
import orjson

from mas_orchestra.errors import BrokenReplyError, CallTimeoutError, UnreachableError
from mas_orchestra.models.failures import Failure, read_failure
from mas_orchestra.models.keys import Credentials
from mas_orchestra.models.limits import Verdict
from mas_orchestra.models.reply import Reply, Unreadable, estimate_usage, is_object, read_json, read_reply
from mas_orchestra.models.stream import Assembly, EventSplitter
from mas_orchestra.types import JsonObject, Message, Usage

__all__ = ["Transport"]

CONNECT_TIMEOUT_S = 30.0
LIST_TIMEOUT_S = 10.0
KEEPALIVE_S = {"http": 4.0, "https": 30.0}
"""Below what servers keep: uvicorn, under vLLM and many others, drops an idle connection after 5 seconds."""
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
USER_AGENT = "mas-orchestra"


class Transport:
    """Connections to one endpoint, any number of them, for each event loop that uses it."""

    def __init__(self, base_url: str, credentials: Credentials, *, silence_s: float) -> None:
        """`silence_s` is the longest time without a byte, in seconds."""
        parts = urlsplit(base_url)
        self._base_url = base_url
        self._scheme, self._authority, self._host = parts.scheme, parts.netloc, parts.hostname or ""
        self._completions = urlunsplit(parts._replace(path=f"{parts.path}/chat/completions"))
        self._models = urlunsplit(parts._replace(path=f"{parts.path}/models"))
        self._credentials = credentials
        self._silence_s = silence_s
        self._connect_s = min(CONNECT_TIMEOUT_S, silence_s)
        self._owners: WeakKeyDictionary[
            asyncio.AbstractEventLoop, tuple[aiohttp.ClientSession, AsyncGenerator[None, None]]
        ] = WeakKeyDictionary()

    async def post(self, body: bytes, messages: tuple[Message, ...]) -> Reply | Failure:
        """The reply to one request; `messages` only serve to estimate what a lost reply cost."""
        session = await self._session()
        assembly = Assembly()
        try:
            async with session.post(self._completions, data=body, allow_redirects=False) as response:
                if response.status == 200 and response.content_type == "text/event-stream":
                    return await self._read_stream(response, assembly, messages)
                return self._read_body(response, await response.read())
        except (Unreadable, aiohttp.ClientError, OSError) as error:
            return self._lost(error, _spent(assembly, messages))

    def _lost(self, error: Unreadable | aiohttp.ClientError | OSError, spent: Usage) -> Failure:
        """Why there is no whole reply; `spent` is what it may have cost if the endpoint got to work."""
        if isinstance(error, Unreadable):
            return Failure(kind=BrokenReplyError, explanation=f"the reply is no completion: {error}", usage=spent)
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            explanation = f"no connection to {self._authority} within {self._connect_s:g} s"
            return Failure(kind=CallTimeoutError, explanation=explanation, is_passing=True, verdict=Verdict.SILENT)
        if isinstance(error, aiohttp.ServerTimeoutError):
            explanation = f"not a byte for {self._silence_s:g} s (request_timeout_s)"
            return Failure(
                kind=CallTimeoutError, explanation=explanation, is_passing=True, verdict=Verdict.SILENT, usage=spent
            )
        if isinstance(error, aiohttp.ClientPayloadError):
            explanation = f"the reply broke off half-way ({error})"
            return Failure(kind=BrokenReplyError, explanation=explanation, is_passing=True, usage=spent)
        return self._unreachable(error)

    def _read_body(self, response: aiohttp.ClientResponse, body: bytes) -> Reply | Failure:
        if response.status != 200:
            return self._failure(response.status, body, response)
        if body.lstrip()[:1] == b"<":
            raise Unreadable(f"it is an HTML page; is {self._base_url} the base URL, and does it need '/v1'?")
        tree = read_json(body)
        if not is_object(tree):
            raise Unreadable(f"it is a JSON {type(tree).__name__}")
        if "choices" not in tree and ("error" in tree or tree.get("object") == "error"):
            return self._failure(_status_inside(tree), body, response)
        return read_reply(tree)

    async def _read_stream(
        self, response: aiohttp.ClientResponse, assembly: Assembly, messages: tuple[Message, ...]
    ) -> Reply | Failure:
        splitter = EventSplitter()
        async for data in response.content.iter_any():
            for payload in splitter.feed(data):
                assembly.add(payload)
            if assembly.is_done or assembly.error is not None:
                break
        for payload in splitter.rest():
            with suppress(Unreadable):  # half a line: the stream was cut off, which is found below
                assembly.add(payload)
        if assembly.error is not None:
            failure = self._failure(_status_inside(assembly.error), orjson.dumps(assembly.error), response)
            return replace(failure, usage=_spent(assembly, messages))
        if not assembly.is_whole:
            return Failure(
                kind=BrokenReplyError,
                explanation="the stream ended before the reply did",
                is_passing=True,
                usage=_spent(assembly, messages),
            )
        return assembly.reply()

    def _failure(self, status: int, body: bytes, response: aiohttp.ClientResponse) -> Failure:
        return read_failure(
            status,
            body,
            retry_after=response.headers.get("Retry-After"),
            secrets=self._credentials.secrets,
            key_source=self._credentials.source,
        )

    def _unreachable(self, error: aiohttp.ClientError | OSError) -> Failure:
        """A connection that could not be made, or that broke before a reply."""
        cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
        is_passing = True
        if isinstance(cause, socket.gaierror):
            # "Try again" passes; "no such name" does not.
            is_passing = cause.errno == socket.EAI_AGAIN
            why = f"the name {self._host!r} cannot be resolved ({cause.strerror}); is the base URL right?"
        elif isinstance(error, aiohttp.ClientSSLError):
            is_passing = False
            why = f"no secure connection to {self._host}: {error}"
        elif isinstance(cause, OSError) and cause.errno == errno.EMFILE:
            why = "this process may not open more files; raise 'ulimit -n', or set the endpoint's concurrency lower"
        elif isinstance(cause, ConnectionRefusedError):
            why = f"connection to {self._authority} refused; is the server running?"
        elif isinstance(error, aiohttp.ServerDisconnectedError):
            why = "the connection was closed before a reply"
        else:
            why = f"no connection: {str(cause) or type(cause).__name__}"
        return Failure(kind=UnreachableError, explanation=why, is_passing=is_passing)

    async def models(self) -> tuple[str, ...] | None:
        """Names of the models that the endpoint lists, or ``None`` where it has no such list."""
        session = await self._session()
        try:
            limit = aiohttp.ClientTimeout(total=LIST_TIMEOUT_S)
            async with session.get(self._models, allow_redirects=False, timeout=limit) as response:
                tree = read_json(await response.read()) if response.status == 200 else None
        except (aiohttp.ClientError, OSError, Unreadable):
            return None
        data = tree.get("data") if is_object(tree) else None
        if not isinstance(data, list):
            return None
        return tuple(str(each["id"]) for each in data if is_object(each) and "id" in each)

    async def _session(self) -> aiohttp.ClientSession:
        """The connections of the running event loop, made on first use."""
        loop = asyncio.get_running_loop()
        owned = self._owners.get(loop)
        if owned is None or owned[0].closed:
            session = self._open()
            # An event loop that ends closes its generators first: so connections never outlive it, closed or not.
            owner = _own(session)
            self._owners[loop] = owned = (session, owner)
            await anext(owner)
        return owned[0]

    def _open(self) -> aiohttp.ClientSession:
        # Looked up once: aiohttp's trust_env would read environment and .netrc for every request.
        direct = self._host in LOOPBACK or urllib.request.proxy_bypass(self._host)
        proxy = None if direct else urllib.request.getproxies().get(self._scheme)
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEPALIVE_S[self._scheme], ttl_dns_cache=300),
            headers={"Content-Type": "application/json", "User-Agent": USER_AGENT, **self._credentials.headers},
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, connect=self._connect_s, sock_read=self._silence_s),
            proxy=proxy,
        )

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        owned = self._owners.pop(asyncio.get_running_loop(), None)
        if owned is not None:
            await owned[1].aclose()


async def _own(session: aiohttp.ClientSession) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        await session.close()


def _spent(assembly: Assembly, messages: tuple[Message, ...]) -> Usage:
    """What a request cost whose reply was lost: as reported before it broke, otherwise estimated."""
    choices, usage = assembly.partial()
    return usage or estimate_usage(messages, choices)


def _status_inside(tree: JsonObject) -> int:
    """The status of an error that came with 200; 500 when it names none."""
    error = tree.get("error")
    for table in (error, tree):
        code = table.get("code") if is_object(table) else None
        if isinstance(code, int) and 300 <= code < 600:
            return code
    return 500
