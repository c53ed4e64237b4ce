"""The client for endpoints that speak OpenAI's chat completions: OpenAI, vLLM, llama.cpp, Together, Ollama and more.

A call goes through the endpoint's limiter (`limits`), becomes bytes (`request`), travels (`transport`), and comes back
as choices (`reply`, `stream`) or as a typed failure (`failures`). This file decides what happens next: try again, ask
for less, ask again without what the endpoint does not understand, or give up.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mas_orchestra.config import Settings, normal_base_url
from mas_orchestra.errors import CallError, ConfigError, ContextOverflowError, ModelNotFoundError, nearest
from mas_orchestra.models.base import Abilities, Choice, Completion, Params, QueueWatch
from mas_orchestra.models.failures import Failure
from mas_orchestra.models.keys import OPENAI_BASE_URL, find_credentials
from mas_orchestra.models.limits import Limiter, Slot, Verdict, limiter_for
from mas_orchestra.models.pricing import ModelPricing
from mas_orchestra.models.reply import Reply, with_usage
from mas_orchestra.models.request import Dialect, request_bytes, sample_params
from mas_orchestra.models.tokens import estimate_prompt_tokens
from mas_orchestra.models.transport import Transport
from mas_orchestra.types import Message, Usage

__all__ = ["OpenAICompatibleModel"]

SHOWN_MODELS = 8
MOST_ADAPTATIONS = 8
"""Requests that one call may send again with less in them; so no endpoint can keep it busy for ever."""


@dataclass(slots=True)
class _Progress:
    """One call on its way: what was sent, waited and paid so far."""

    requests: int = 0
    failures: int = 0
    adaptations: int = 0
    queue_s: float = 0.0
    usage: Usage = field(default_factory=Usage)
    notes: list[str] = field(default_factory=list)


class OpenAICompatibleModel:
    """A `ChatModel` behind ``/chat/completions``.

    Args:
        name: The model, as the endpoint calls it.
        base_url: The endpoint, without ``/chat/completions``.
        settings: Options of endpoints and prices.
        environ: Where keys are looked up.
        limiter: Instead of the endpoint's shared limiter, for tests with a clock of their own.

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
        self._name = name
        self._base_url = base_url
        self._options = options
        self._limiter = limiter
        self._pricing = ModelPricing(name, base_url, settings.prices)
        self._transport = Transport(base_url, credentials, silence_s=options.request_timeout_s)
        self._dialect = Dialect(
            tools=options.tools,
            json_schema=options.json_schema,
            native_n=options.native_n,
            context_tokens=options.context_tokens,
        )

    @property
    def uri(self) -> str:
        """``openai:NAME``, with ``@BASE_URL`` unless it is OpenAI's own."""
        return f"openai:{self._name}" + ("" if self._base_url == OPENAI_BASE_URL else f"@{self._base_url}")

    @property
    def abilities(self) -> Abilities:
        """As configured, and as learnt from what the endpoint refused so far."""
        known = self._dialect
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
        await self._transport.close()

    async def complete(
        self, messages: tuple[Message, ...], params: Params, *, queue: QueueWatch | None = None
    ) -> Completion:
        """One reply with ``params.n`` choices.

        Raises:
            CallError: No usable reply after ``max_retries + 1`` requests; what was paid is in its usage.
        """
        if params.n == 1:
            return await self._call(messages, params, queue)
        if not self._dialect.native_n:
            return await self._sample(messages, params, range(params.n), queue)
        first = await self._call(messages, params, queue)
        missing = range(len(first.choices), params.n)
        if not missing:
            return replace(first, choices=first.choices[: params.n])
        # Many endpoints take `n` and return one choice; asking once is how one finds out.
        self._dialect = self._dialect.without("n")
        rest = await self._sample(messages, params, missing, queue)
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
        """One request, repeated while that may help."""
        limiter = self._limiter or limiter_for(self._base_url, self._options)
        progress = _Progress()
        params = self._left_out(params, progress)
        while True:
            params = self._fit(messages, params, progress)
            slot, result = await self._attempt(limiter, messages, params, progress, queue)
            if isinstance(result, Reply):
                return Completion(
                    choices=result.choices,
                    usage=progress.usage + with_usage(result.usage, messages, result.choices),
                    model=result.model or self._name,
                    latency_s=limiter.clock.now() - slot.sent_s,
                    queue_s=progress.queue_s,
                    requests=progress.requests,
                    notes=tuple(progress.notes),
                )
            progress.usage += result.usage
            adapted = self._adapt(messages, params, result, progress)
            if adapted is not None:
                params = adapted
                continue
            progress.failures += 1
            await self._wait_or_raise(limiter, result, progress, queue)

    async def _attempt(
        self,
        limiter: Limiter,
        messages: tuple[Message, ...],
        params: Params,
        progress: _Progress,
        queue: QueueWatch | None,
    ) -> tuple[Slot, Reply | Failure]:
        """Send one request when the limiter lets it, and tell the limiter how it went."""
        body = request_bytes(self._name, messages, params, self._dialect)
        slot = await limiter.acquire(self._tokens(messages, params), queue=queue, returning=progress.failures > 0)
        progress.queue_s += slot.waited_s
        progress.requests += 1
        verdict, used = Verdict.OTHER, None
        try:
            result = await self._transport.post(body, messages)
            if isinstance(result, Failure):
                verdict = result.verdict
                if result.retry_after_s and result.retry_after_s <= self._options.max_wait_s:
                    limiter.pause(result.retry_after_s)
            else:
                verdict, used = Verdict.SERVED, result.usage.total_tokens if result.usage else None
        finally:
            limiter.release(slot, verdict, tokens=used)
        return slot, result

    def _tokens(self, messages: tuple[Message, ...], params: Params) -> int:
        """Tokens to book in the minute, if anything counts them."""
        if self._options.tokens_per_minute is None:
            return 0
        return estimate_prompt_tokens(messages) + (params.max_tokens or 0) * params.n

    def _left_out(self, params: Params, progress: _Progress) -> Params:
        """Parameters without what the endpoint cannot do; said in a note, since the reply will differ."""
        if params.tools and not self._dialect.tools:
            progress.notes.append("tools left out: the endpoint is configured without them")
            params = replace(params, tools=())
        if params.response_schema is not None and not self._dialect.json_schema:
            progress.notes.append("response schema left out: the endpoint cannot enforce one")
            params = replace(params, response_schema=None)
        return params

    def _fit(self, messages: tuple[Message, ...], params: Params, progress: _Progress) -> Params:
        """Parameters whose `max_tokens` leave room for the prompt in the window.

        Raises:
            ContextOverflowError: The prompt alone is longer than the configured window.
        """
        window = self._dialect.context_tokens
        if window is None:
            return params
        prompt = estimate_prompt_tokens(messages)
        # A window that was only learnt refuses nothing here: the endpoint counts tokens better than we estimate them.
        if self._options.context_tokens is not None and prompt > window:
            raise ContextOverflowError(
                f"{self.uri}: the prompt has about {prompt} tokens (estimated) and the window {window}"
                " (context_tokens); shorten it, or use a model with a longer window",
                endpoint=self.uri,
                requests=progress.requests,
                usage=progress.usage,
            )
        return _lowered(params, window, prompt, "about ", progress)

    def _adapt(
        self, messages: tuple[Message, ...], params: Params, failure: Failure, progress: _Progress
    ) -> Params | None:
        """What to send instead, where the endpoint said what it cannot take; ``None`` where nothing can be changed."""
        progress.adaptations += 1
        if progress.adaptations > MOST_ADAPTATIONS:
            return None
        if failure.overflow is not None:
            window = failure.overflow.window
            if window is None:
                return None
            self._dialect = replace(self._dialect, context_tokens=self._options.context_tokens or window)
            prompt = failure.overflow.prompt or estimate_prompt_tokens(messages)
            lowered = _lowered(params, window, prompt, "", progress)
            return None if lowered is params else lowered
        field_name = failure.refused_field
        before, after = self._dialect, self._dialect.without(field_name) if field_name else self._dialect
        body_before = request_bytes(self._name, messages, params, before)
        if after == before or body_before == request_bytes(self._name, messages, params, after):
            return None
        self._dialect = after
        progress.notes.append(f"{field_name} left out or renamed: {failure.explanation}")
        return params

    async def _wait_or_raise(
        self, limiter: Limiter, failure: Failure, progress: _Progress, queue: QueueWatch | None
    ) -> None:
        """Return when it is time to try again.

        Raises:
            CallError: Trying again cannot help, or was tried often enough.
        """
        wait_s = failure.retry_after_s or 0.0
        if not failure.is_passing or progress.failures > self._options.max_retries or wait_s > self._options.max_wait_s:
            raise await self._error(failure, progress)
        if not wait_s:
            refused = failure.verdict is Verdict.REFUSED
            progress.queue_s += await limiter.back_off(progress.failures, refused=refused, queue=queue)

    async def _error(self, failure: Failure, progress: _Progress) -> CallError:
        explanation = failure.explanation
        if failure.kind is ModelNotFoundError:
            explanation = f"{await self._not_found()} (the endpoint says: {explanation})"
        if failure.overflow is not None:
            sizes = (
                f"prompt {failure.overflow.prompt or 'unknown'}, window {failure.overflow.window or 'unknown'} tokens"
            )
            explanation = f"{explanation} ({sizes})"
        if (failure.retry_after_s or 0.0) > self._options.max_wait_s:
            explanation = f"{explanation} (asks to wait {failure.retry_after_s:g} s, longer than max_wait_s)"
        tries = f" after {progress.requests} requests" if progress.requests > 1 else ""
        return failure.kind(
            f"{self.uri}: {explanation}{tries}",
            endpoint=self.uri,
            status=failure.status,
            requests=progress.requests,
            usage=progress.usage,
        )

    async def _not_found(self) -> str:
        """What a 404 is about: the model's name or the base URL."""
        known = await self._transport.models()
        if known is None:
            hint = "" if self._base_url.endswith("/v1") else f"; try {self._base_url}/v1"
            return f"there is no chat endpoint under the base URL {self._base_url}{hint}"
        if self._name in known:
            return f"{self._base_url} lists {self._name!r} but does not serve chat completions with it"
        close = nearest(self._name, known)
        listed = ", ".join(sorted(known)[:SHOWN_MODELS]) + (" …" if len(known) > SHOWN_MODELS else "")
        return (
            f"{self._base_url} has no model {self._name!r}.{f' Did you mean {close!r}?' if close else ''}"
            f" It lists: {listed or 'none'}"
        )


def _lowered(params: Params, window: int, prompt: int, about: str, progress: _Progress) -> Params:
    """Parameters with `max_tokens` cut to what the window leaves; the same object where nothing is to be cut."""
    room = window - prompt
    if params.max_tokens is None or params.max_tokens <= room or room < 1:
        return params
    progress.notes.append(
        f"max_tokens lowered from {params.max_tokens} to {room}: prompt {about}{prompt}, window {window} tokens"
    )
    return replace(params, max_tokens=room)


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
