"""By hand, over aiohttp and orjson: the practical floor of this design, with no events, ledger, retries or limits."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
import orjson

from peers.by_hand import Messages, run_shape
from workloads import Shape


@asynccontextmanager
async def connected(base_url: str) -> AsyncIterator[Callable[[Shape], Awaitable[str]]]:
    """A runner of shapes against the endpoint; its connections are closed at the end."""
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        headers={"Content-Type": "application/json", "Authorization": "Bearer none"},
        timeout=aiohttp.ClientTimeout(total=300),
    )
    url = f"{base_url}/chat/completions"

    async def call(prompt: Messages) -> str:
        body = orjson.dumps({"model": "fake", "messages": prompt, "temperature": 0.5})
        async with session.post(url, data=body) as reply:
            return str(orjson.loads(await reply.read())["choices"][0]["message"]["content"])

    async def run(shape: Shape) -> str:
        return await run_shape(shape, call)

    async with session:
        yield run
