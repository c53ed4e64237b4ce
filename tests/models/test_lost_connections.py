"""What is said of servers that are none, or that hang up: real sockets on loopback, one request each."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from mas_orchestra.config import Settings
from mas_orchestra.errors import BrokenReplyError, UnreachableError
from mas_orchestra.models.base import Params
from mas_orchestra.models.openai_compatible import OpenAICompatibleModel
from mas_orchestra.types import Message, Role

ASK = (Message(role=Role.USER, content="What is 6 times 7?"),)


@asynccontextmanager
async def answering(data):
    """A server that sends these bytes to whoever connects, and hangs up; counts connections."""
    seen = []

    async def serve(reader, writer):
        seen.append(await reader.read(10))
        writer.write(data)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], seen


async def failure_of(base_url):
    settings = Settings.model_validate({"endpoints": {base_url: {"max_retries": 0}}})
    model = OpenAICompatibleModel("test", base_url, settings, environ={})
    try:
        with pytest.raises((UnreachableError, BrokenReplyError)) as caught:
            await model.complete(ASK, Params())
        return caught.value
    finally:
        await model.close()


async def test_a_server_that_hangs_up_without_a_word():
    async with answering(b"") as (port, seen):
        error = await failure_of(f"http://127.0.0.1:{port}/v1")
    assert isinstance(error, UnreachableError)
    assert "closed before a reply" in str(error)
    assert (error.requests, len(seen)) == (1, 1)


async def test_a_port_where_nobody_listens(unused_tcp_port):
    error = await failure_of(f"http://127.0.0.1:{unused_tcp_port}/v1")
    assert isinstance(error, UnreachableError)
    assert f"127.0.0.1:{unused_tcp_port} refused; is the server running?" in str(error)


async def test_https_where_plain_http_is_spoken():
    async with answering(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n") as (port, _):
        error = await failure_of(f"https://127.0.0.1:{port}/v1")
    assert isinstance(error, UnreachableError)
    assert "no secure connection to 127.0.0.1" in str(error)


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x00\x01\x02\x03" * 8,
        b"HTTP/9.9 what\r\n\r\n",
    ],
    ids=["another protocol", "bytes", "no version of HTTP"],
)
async def test_something_that_speaks_no_http(data):
    async with answering(data) as (port, _):
        error = await failure_of(f"http://127.0.0.1:{port}/v1")
    assert str(port) in str(error)
    assert error.usage.output_tokens == 0, "nothing was generated, so nothing of it can be billed"


async def test_a_reply_that_is_shorter_than_it_said():
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n"
    async with answering(head + b'{"choices": [') as (port, _):
        error = await failure_of(f"http://127.0.0.1:{port}/v1")
    assert isinstance(error, BrokenReplyError)
    assert "broke off half-way" in str(error)
    assert error.usage.estimated
    assert error.usage.input_tokens > 0, "the endpoint got to work, and may bill the prompt"
