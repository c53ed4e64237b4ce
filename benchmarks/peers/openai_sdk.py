"""By hand, over the openai SDK with its defaults."""

from collections.abc import Awaitable, Callable

from openai import AsyncOpenAI

from peers.by_hand import Messages, run_shape
from workloads import Shape


async def connect(base_url: str) -> Callable[[Shape], Awaitable[str]]:
    """A runner of shapes against the endpoint."""
    client = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=300)

    async def call(prompt: Messages) -> str:
        reply = await client.chat.completions.create(model="fake", messages=prompt, temperature=0.5)
        return str(reply.choices[0].message.content)

    async def run(shape: Shape) -> str:
        return await run_shape(shape, call)

    return run
