"""The client for endpoints that speak OpenAI's chat completions: OpenAI, vLLM, llama.cpp, Together, Ollama and more.

One call (`call`) goes through the endpoint's limiter (`limits`), becomes bytes (`request`), travels (`transport`), and
comes back as choices (`reply`, `stream`) or as a typed failure (`failures`). This file opens endpoints and gets several
samples from one call or from many.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace

from mas_orchestra.config import Settings, normal_base_url
from mas_orchestra.errors import CallError, ConfigError
from mas_orchestra.models.base import Abilities, Choice, Completion, Params, QueueWatch
from mas_orchestra.models.call import Call, Target
from mas_orchestra.models.keys import OPENAI_BASE_URL, find_credentials
from mas_orchestra.models.limits import Limiter, limiter_for
from mas_orchestra.models.pricing import ModelPricing
from mas_orchestra.models.request import Dialect, sample_params
from mas_orchestra.models.transport import Transport
from mas_orchestra.types import Message, Usage

__all__ = ["OpenAICompatibleModel"]


class OpenAICompatibleModel:
    """A `ChatModel` behind ``/chat/completions``.

    Args:
        name: The model, as the endpoint calls it.
        base_url: The endpoint, without ``/chat/completions``.
        settings: Options of endpoints and prices.
        environ: Where keys are looked up.
        limiter: Instead of the endpoint's shared limiter, for tests with a clock of their own.

    Attributes:
        missing_key: Environment variable that should hold the provider's key and does not; ``None`` if all is well.

    Raises:
        ConfigError: The base URL is none, or a named environment variable is not set.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        settings: Settings,
        *,
        environ: Mapping[str, str] = os.environ,
        limiter: Limiter | None = None,
    ) -> None:
        try:
            base_url = normal_base_url(base_url)
        except ValueError as error:
            raise ConfigError(f"model {name!r}: {error}") from None
        options = settings.endpoint(base_url)
        credentials = find_credentials(base_url, options, environ)
        self._limiter = limiter
        self._pricing = ModelPricing(name, base_url, settings.prices)
        self.missing_key = credentials.missing
        self._target = Target(
            name=name,
            uri=f"openai:{name}" + ("" if base_url == OPENAI_BASE_URL else f"@{base_url}"),
            base_url=base_url,
            options=options,
            transport=Transport(base_url, credentials, silence_s=options.request_timeout_s),
            dialect=Dialect(
                tools=options.tools,
                json_schema=options.json_schema,
                native_n=options.native_n,
                context_tokens=options.context_tokens,
            ),
        )

    @property
    def uri(self) -> str:
        """``openai:NAME``, with ``@BASE_URL`` unless it is OpenAI's own."""
        return self._target.uri

    @property
    def abilities(self) -> Abilities:
        """As configured, and as learnt from what the endpoint refused so far."""
        known = self._target.dialect
        return Abilities(
            tools=known.tools,
            json_schema=known.json_schema,
            native_n=known.native_n,
            context_tokens=known.context_tokens,
        )

    def cost_usd(self, usage: Usage) -> float | None:
        """US dollars for the usage of one call, ``None`` where the price is not known."""
        return self._pricing.cost_usd(usage)

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        await self._target.transport.close()

    async def complete(
        self, messages: tuple[Message, ...], params: Params, *, queue: QueueWatch | None = None
    ) -> Completion:
        """One reply with ``params.n`` choices.

        Raises:
            CallError: No usable reply after ``max_retries + 1`` requests; what was paid is in its usage.
        """
        if params.n == 1:
            return await self._call(messages, params, queue)
        if not self._target.dialect.native_n:
            return await self._sample(messages, params, range(params.n), queue)
        first = await self._call(messages, params, queue)
        missing = range(len(first.choices), params.n)
        if not missing:
            return replace(first, choices=first.choices[: params.n])
        # Many endpoints take `n` and return one choice; asking once is how one finds out.
        self._target.dialect = self._target.dialect.without("n")
        try:
            rest = await self._sample(messages, params, missing, queue)
        except CallError as error:
            error.usage += first.usage
            error.requests += first.requests
            raise
        note = f"asked for {params.n} choices, got {len(first.choices)}; the others were asked for one by one"
        return _join([first, rest], note)

    async def _sample(
        self, messages: tuple[Message, ...], params: Params, samples: range, queue: QueueWatch | None
    ) -> Completion:
        """Choices asked for one by one at the same time; a failure waits for the others, which are paid for."""

        async def one(sample: int) -> Completion | CallError:
            try:
                return await self._call(messages, sample_params(params, sample), queue)
            except CallError as error:
                return error

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(sample)) for sample in samples]
        results = [task.result() for task in tasks]
        errors = [result for result in results if isinstance(result, CallError)]
        done = [result for result in results if isinstance(result, Completion)]
        if errors:
            error = errors[0]
            error.requests = sum(result.requests for result in results)
            error.usage = sum((result.usage for result in results), Usage())
            raise error
        return _join(done)

    async def _call(self, messages: tuple[Message, ...], params: Params, queue: QueueWatch | None) -> Completion:
        limiter = self._limiter or limiter_for(self._target.base_url, self._target.options)
        return await Call(self._target, limiter, messages, params, queue).run()


def _join(parts: list[Completion], *notes: str) -> Completion:
    """One completion from several that ran for the same call."""
    choices: tuple[Choice, ...] = tuple(choice for part in parts for choice in part.choices)
    return Completion(
        choices=choices,
        usage=sum((part.usage for part in parts), Usage()),
        model=parts[0].model,
        latency_s=max(part.latency_s for part in parts),
        queue_s=max(part.queue_s for part in parts),
        requests=sum(part.requests for part in parts),
        notes=tuple(dict.fromkeys((*notes, *(note for part in parts for note in part.notes)))),
    )
