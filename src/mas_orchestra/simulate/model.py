"""``sim:PROFILE``: a chat model that solves MASBENCH texts from their words and errs as its profile says. SIMULATED."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from random import Random
from urllib.parse import parse_qsl

from mas_orchestra import seeds
from mas_orchestra.config import Price, Settings
from mas_orchestra.errors import (
    ContextOverflowError,
    FileFormatError,
    RequestRejectedError,
    UnknownNameError,
    UsageError,
)
from mas_orchestra.models.base import Abilities, Choice, Completion, FinishReason, Params, QueueWatch
from mas_orchestra.models.pricing import price_usd
from mas_orchestra.models.tokens import BYTES_PER_TOKEN, estimate_prompt_tokens, estimate_tokens
from mas_orchestra.simulate.parts import Speaker
from mas_orchestra.simulate.plans import planner
from mas_orchestra.simulate.profile import MARK, SCHEME, Profile, profile
from mas_orchestra.simulate.prompt import Part, read_prompt
from mas_orchestra.simulate.work import Circumstances
from mas_orchestra.types import Message, Usage

__all__ = ["SimulatedModel", "open_simulated"]

FREE = Price(input=0, output=0)
_MOST_REMEMBERED = 500_000
_OPTIONS = ("seed", "sleep")


class SimulatedModel:
    r"""A `ChatModel` with a `Profile`. Nothing that it says was said by a language model.

    What a call gets is a function of seed, conversation and sample index: of ``params.seed`` where there is one, else
    of how often this model was asked that same conversation before. Nothing depends on the order of different calls.
    At temperature 0 a conversation has one reply; other temperatures make no difference.

    Args:
        name: Of the profile.
        seed: Names the model's draws; models of different seeds find different texts hard.
        price: What its tokens cost; free without one.
        sleep: Passes the latency of a call; without one, latency is only reported.
        own: In place of the shipped profile of this name.

    >>> from mas_orchestra.types import Role
    >>> text = "The number of each A's B equals 3 more than each A's C. The number of each A's C equals 4."
    >>> asked = (Message(role=Role.USER, content=f"{text} How many B does A have?"),)
    >>> print(asyncio.run(SimulatedModel("strong", seed=1).complete(asked, Params())).content)
    A's C = 4
    A's B = 3 + 4 = 7
    So the answer is: \boxed{7}
    """

    def __init__(
        self,
        name: str,
        *,
        seed: int = 0,
        price: Price = FREE,
        sleep: Callable[[float], Awaitable[None]] | None = None,
        own: Profile | None = None,
    ) -> None:
        self.name, self.seed = name, seed
        self.profile = own or profile(name)
        self._price, self._sleep = price, sleep
        self._namespace = ""
        self._asked: Counter[int] = Counter()

    def within(self, namespace: str) -> "SimulatedModel":
        """The same model, with draws and a count of occasions that belong to `namespace`, as to one attempt of several.

        It finds the same texts hard. What it says under a namespace does not depend on what was asked under another,
        so attempts may run in any order and in any number of processes.
        """
        model = SimulatedModel(self.name, seed=self.seed, price=self._price, sleep=self._sleep, own=self.profile)
        model._namespace = f"{self._namespace}/{namespace}"
        return model

    @property
    def uri(self) -> str:
        """``sim:PROFILE``, with ``?seed=N`` unless it is 0."""
        return f"{SCHEME}:{self.name}" + (f"?seed={self.seed}" if self.seed else "")

    @property
    def abilities(self) -> Abilities:
        """Several samples a call; no enforced schema, so that it can miss the form as models do."""
        return Abilities(tools=True, json_schema=False, native_n=True, context_tokens=self.profile.context_tokens)

    def cost_usd(self, usage: Usage) -> float | None:
        """By the price that the settings give it, else free."""
        return price_usd(self._price, usage)

    async def complete(
        self, messages: tuple[Message, ...], params: Params, *, queue: QueueWatch | None = None
    ) -> Completion:
        """One reply with ``params.n`` choices.

        Raises:
            RequestRejectedError: The prompt holds no MASBENCH text: a simulated model can answer nothing else, and
                says so instead of guessing.
            ContextOverflowError: The prompt does not fit the profile's window.
        """
        del queue  # it never queues
        completion = self.reply(messages, params)
        if self._sleep is not None:
            await self._sleep(completion.latency_s)
        return completion

    def reply(self, messages: tuple[Message, ...], params: Params) -> Completion:
        """As `complete`, at once."""
        prompt_tokens = estimate_prompt_tokens(messages)
        self._refuse_overflow(prompt_tokens)
        conversation = seeds.digest(self.seed, *(part for turn in messages for part in (turn.role, turn.content)))
        is_fixed = params.temperature == 0
        occasion = 0 if is_fixed else self._occasion(conversation) if params.seed is None else params.seed
        say = self._speaker(messages, params, prompt_tokens)
        path = ("simulate", self._namespace, conversation, occasion)
        draws = (seeds.rng(*path, 0 if is_fixed else sample) for sample in range(params.n))
        choices = tuple(_limited(say(rng), params) for rng in draws)
        return self._completion(choices, prompt_tokens)

    def _occasion(self, conversation: int) -> int:
        """A negative number, so that no seed of a request is the same."""
        if len(self._asked) >= _MOST_REMEMBERED:
            self._asked.clear()  # counting begins anew, long after anybody could notice
        self._asked[conversation] += 1
        return -self._asked[conversation]

    def _refuse_overflow(self, prompt_tokens: int) -> None:
        window = self.profile.context_tokens
        if prompt_tokens >= window:
            raise ContextOverflowError(
                f"{self.uri}: the prompt is too long: {prompt_tokens} tokens > {window} maximum; shorten it",
                endpoint=self.uri,
            )

    def _speaker(self, messages: tuple[Message, ...], params: Params, prompt_tokens: int) -> Callable[[Random], Choice]:
        prompt = read_prompt(messages, params)
        if prompt.part is Part.PLANNER:
            return planner(messages, params)
        circumstances = Circumstances(
            profile=self.profile, seed=self.seed, prompt_tokens=prompt_tokens, is_brief=prompt.is_brief
        )
        try:
            return Speaker(prompt, circumstances).say
        except FileFormatError as error:
            raise RequestRejectedError(
                f"{self.uri} is simulated and answers only MASBENCH texts ({error}); use a real model for other"
                " questions",
                endpoint=self.uri,
            ) from error

    def _completion(self, choices: tuple[Choice, ...], prompt_tokens: int) -> Completion:
        written = [_tokens(choice) for choice in choices]
        return Completion(
            choices=choices,
            usage=Usage(input_tokens=prompt_tokens, output_tokens=sum(written)),
            model=f"{self.uri} {MARK}",
            latency_s=self.profile.first_token_s + self.profile.token_s * max(written),
        )

    async def close(self) -> None:
        """Nothing to release."""


def open_simulated(rest: str, settings: Settings) -> SimulatedModel:
    """The model of a URI without its scheme: ``PROFILE``, or ``PROFILE?seed=3&sleep=true``.

    Raises:
        UsageError: No such profile or option.
    """
    name, _, query = rest.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    for option in options:
        if option not in _OPTIONS:
            raise UnknownNameError(f"option of {SCHEME}:{name}", option, _OPTIONS)
    seed, sleep = options.get("seed", "0"), options.get("sleep", "false")
    if not (seed.isascii() and seed.isdigit()) or sleep not in {"true", "false"}:
        raise UsageError(f"{SCHEME}:{rest}: expected ?seed=INTEGER and sleep=true or sleep=false")
    price = settings.prices.get(f"{SCHEME}:{name}", FREE)
    return SimulatedModel(name, seed=int(seed), price=price, sleep=asyncio.sleep if sleep == "true" else None)


def _limited(choice: Choice, params: Params) -> Choice:
    """The choice as far as the caller's own limits let it: stop texts, then ``max_tokens``."""
    content, reason = choice.content, choice.finish_reason
    for stop in params.stop:
        before, found, _ = content.partition(stop)
        content, reason = before, FinishReason.STOP if found else reason
    if params.max_tokens is not None and estimate_tokens(content) > params.max_tokens:
        room = params.max_tokens * BYTES_PER_TOKEN
        content, reason = content.encode(errors="replace")[:room].decode(errors="ignore"), FinishReason.LENGTH
    return choice if content is choice.content else replace(choice, content=content, finish_reason=reason)


def _tokens(choice: Choice) -> int:
    return estimate_tokens(choice.content) + sum(
        estimate_tokens(call.name) + estimate_tokens(call.arguments) for call in choice.tool_calls
    )
