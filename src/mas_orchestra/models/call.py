"""One call of an endpoint, from the line of its limiter to a completion or an error.

What to do with a failure is decided here: try again, ask for less, ask again without what the endpoint does not
understand, or give up.
"""

from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from mas_orchestra.config import EndpointSettings
from mas_orchestra.errors import CallError, ContextOverflowError, ModelNotFoundError, nearest
from mas_orchestra.models.base import Completion, Params, QueueWatch
from mas_orchestra.models.failures import Failure
from mas_orchestra.models.limits import Limiter, Slot, Verdict
from mas_orchestra.models.reply import Reply, with_usage
from mas_orchestra.models.request import Dialect, request_bytes
from mas_orchestra.models.tokens import estimate_prompt_tokens
from mas_orchestra.models.transport import Transport
from mas_orchestra.types import Message, Usage

__all__ = ["Call", "Target"]

SHOWN_MODELS = 8
MOST_ADAPTATIONS = 8
"""Requests that one call may send again with less in them; so no endpoint can keep it busy for ever."""


@dataclass(slots=True, kw_only=True)
class Target:
    """One model at one endpoint. Its `dialect` is what all calls so far have learnt."""

    name: str
    uri: str
    base_url: str
    options: EndpointSettings
    transport: Transport
    dialect: Dialect


class Call:
    """One call: what it asks, and what was sent, waited and paid so far."""

    def __init__(
        self, target: Target, limiter: Limiter, messages: tuple[Message, ...], params: Params, queue: QueueWatch | None
    ) -> None:
        self._target = target
        self._limiter = limiter
        self._messages = messages
        self._params = params
        self._queue = queue
        self._requests = 0
        self._failures = 0
        self._adaptations = 0
        self._queue_s = 0.0
        self._usage: Usage | None = None
        self._sent = b""
        self._notes: list[str] = []

    async def run(self) -> Completion:
        """The completion.

        Raises:
            CallError: No usable reply; carries how many requests were sent and what was paid.
        """
        self._note_omissions()
        while True:
            self._fit()
            slot, result = await self._attempt()
            if isinstance(result, Reply):
                return self._completion(result, slot)
            self._usage = result.usage if self._usage is None else self._usage + result.usage
            if not self._adapt(result):
                self._failures += 1
                await self._wait_or_raise(result)

    def _completion(self, reply: Reply, slot: Slot) -> Completion:
        usage = with_usage(reply.usage, self._messages, reply.choices)
        return Completion(
            choices=reply.choices,
            usage=usage if self._usage is None else self._usage + usage,
            model=reply.model or self._target.name,
            latency_s=self._limiter.clock.now() - slot.sent_s,
            queue_s=self._queue_s,
            requests=self._requests,
            notes=tuple(self._notes),
        )

    async def _attempt(self) -> tuple[Slot, Reply | Failure]:
        """Send one request when the limiter lets it, and tell the limiter how it went."""
        body = self._sent = request_bytes(self._target.name, self._messages, self._params, self._target.dialect)
        slot = await self._limiter.acquire(self._tokens(), queue=self._queue, returning=self._failures > 0)
        self._queue_s += slot.waited_s
        self._requests += 1
        verdict, used = Verdict.OTHER, None
        try:
            result = await self._target.transport.post(body, self._messages)
            if isinstance(result, Reply):
                verdict, used = Verdict.SERVED, result.usage.total_tokens if result.usage else None
            else:
                verdict = result.verdict
                if result.retry_after_s and result.retry_after_s <= self._target.options.max_wait_s:
                    self._limiter.pause(result.retry_after_s)
        finally:
            self._limiter.release(slot, verdict, tokens=used)
        return slot, result

    def _tokens(self) -> int:
        """Tokens to book in the minute, if anything counts them."""
        if self._target.options.tokens_per_minute is None:
            return 0
        return estimate_prompt_tokens(self._messages) + (self._params.max_tokens or 0) * self._params.n

    def _note_omissions(self) -> None:
        """Say what the request will lack because the endpoint is known not to do it."""
        params, dialect = self._params, self._target.dialect
        if params.tools and not dialect.tools:
            self._notes.append("tools left out: the endpoint is configured without them")
        if params.response_schema is not None and not dialect.takes_schema(params.response_schema.name):
            self._notes.append("response schema left out: the endpoint cannot enforce it")

    def _fit(self) -> None:
        """Lower `max_tokens` to what the window leaves.

        Raises:
            ContextOverflowError: The prompt alone is longer than the configured window.
        """
        window = self._target.dialect.context_tokens
        if window is None:
            return
        prompt = estimate_prompt_tokens(self._messages)
        # A window that was only learnt refuses nothing here: the endpoint counts tokens better than we estimate them.
        if self._target.options.context_tokens is not None and prompt > window:
            raise ContextOverflowError(
                f"{self._target.uri}: the prompt has about {prompt} tokens (estimated) and the window {window}"
                " (context_tokens); shorten it, or use a model with a longer window",
                endpoint=self._target.uri,
                requests=self._requests,
                usage=self._usage,
            )
        self._lower(window, prompt, about="about ")

    def _lower(self, window: int, prompt: int, *, about: str = "") -> bool:
        """Whether `max_tokens` had to be cut and could be."""
        room, asked = window - prompt, self._params.max_tokens
        if asked is None or asked <= room or room < 1:
            return False
        self._notes.append(f"max_tokens lowered from {asked} to {room}: prompt {about}{prompt}, window {window} tokens")
        self._params = replace(self._params, max_tokens=room)
        return True

    def _adapt(self, failure: Failure) -> bool:
        """Whether the endpoint said what it cannot take, and the next request will do without."""
        self._adaptations += 1
        if self._adaptations > MOST_ADAPTATIONS:
            return False
        if failure.overflow is not None:
            window = failure.overflow.window
            if window is None:
                return False
            known = self._target.options.context_tokens or window
            self._target.dialect = replace(self._target.dialect, context_tokens=known)
            return self._lower(window, failure.overflow.prompt or estimate_prompt_tokens(self._messages))
        return failure.refused_field is not None and self._learn(failure.refused_field, failure.explanation)

    def _learn(self, refused: str, explanation: str) -> bool:
        """Whether doing without `refused` changes the request at all, another call having learnt it first or not."""
        schema = self._params.response_schema
        after = self._target.dialect.without(refused, schema.name if schema else "")
        if request_bytes(self._target.name, self._messages, self._params, after) == self._sent:
            return False
        self._target.dialect = after
        self._notes.append(f"{refused} left out or renamed: {explanation}")
        return True

    async def _wait_or_raise(self, failure: Failure) -> None:
        """Return when it is time to try again.

        Raises:
            CallError: Trying again cannot help, or was tried often enough.
        """
        options, wait_s = self._target.options, failure.retry_after_s or 0.0
        if not failure.is_passing or self._failures > options.max_retries or wait_s > options.max_wait_s:
            raise await self._error(failure)
        if not wait_s:
            refused = failure.verdict is Verdict.REFUSED
            self._queue_s += await self._limiter.back_off(self._failures, refused=refused, queue=self._queue)

    async def _error(self, failure: Failure) -> CallError:
        parts = [failure.explanation]
        if failure.kind is ModelNotFoundError:
            parts = [await self._not_found(), f"(the endpoint says: {failure.explanation})"]
        if failure.overflow is not None:
            sizes = failure.overflow
            parts.append(f"(prompt {sizes.prompt or 'unknown'}, window {sizes.window or 'unknown'} tokens)")
        if (failure.retry_after_s or 0.0) > self._target.options.max_wait_s:
            parts.append(f"(asks to wait {failure.retry_after_s:g} s, longer than max_wait_s)")
        if self._requests > 1:
            parts.append(f"after {self._requests} requests")
        return failure.kind(
            f"{self._target.uri}: {' '.join(parts)}",
            endpoint=self._target.uri,
            status=failure.status,
            requests=self._requests,
            usage=self._usage,
        )

    async def _not_found(self) -> str:
        """What a 404 is about: the model's name or the base URL."""
        name, base_url = self._target.name, self._target.base_url
        known = await self._target.transport.models()
        if known is None:
            hint = "" if urlsplit(base_url).path else f"; try {base_url}/v1"
            return f"there is no chat endpoint under the base URL {base_url}{hint}"
        if name in known:
            return f"{base_url} lists {name!r} but does not serve chat completions with it"
        close = nearest(name, known)
        listed = ", ".join(sorted(known)[:SHOWN_MODELS]) + (" …" if len(known) > SHOWN_MODELS else "")
        hint = f" Did you mean {close!r}?" if close else ""
        return f"{base_url} has no model {name!r}.{hint} It lists: {listed or 'none'}"
