"""By hand, over the openai SDK with its defaults."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from openai import AsyncOpenAI

from peers.by_hand import Messages, run_shape
from workloads import Shape


@asynccontextmanager
async def connected(base_url: str) -> AsyncIterator[Callable[[Shape], Awaitable[str]]]:
    """A runner of shapes against the endpoint; its connections are closed at the end."""
    client = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=300)

    async def call(prompt: Messages) -> str:
        reply = await client.chat.completions.create(model="fake", messages=prompt, temperature=0.5)
        return str(reply.choices[0].message.content)

    async def run(shape: Shape) -> str:
        return await run_shape(shape, call)

    async with client:
        yield run
