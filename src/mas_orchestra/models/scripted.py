"""A model that answers from a script: the fake that we ship, for our own tests and for those of our users.

A script is a TOML or JSON file (``scripted:FILE``) or a tuple of rules. The first rule that matches the conversation
gives the reply; a conversation that no rule matches is an error, never an empty reply. What a call gets depends on the
conversation and on how often that same conversation was asked before, not on the order in which calls end.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Self, TypeAlias

from mas_orchestra.errors import RequestRejectedError
from mas_orchestra.models.base import Abilities, Choice, Completion, Params, QueueWatch
from mas_orchestra.models.pricing import price_usd
from mas_orchestra.models.script import FAILURES, CountBy, Rule, Script, ScriptedUsage
from mas_orchestra.models.tokens import estimate_prompt_tokens, estimate_tokens
from mas_orchestra.types import Message, Usage

__all__ = ["ReplyFunction", "ScriptedModel"]

ReplyFunction: TypeAlias = Callable[[tuple[Message, ...], Params], str | Choice]
"""Any function of conversation and parameters; it raises a `CallError` to fail."""


class ScriptedModel:
    """A `ChatModel` that answers from rules or from a function.

    Attributes:
        calls: How often it was asked.
        in_flight, peak_in_flight: Calls that are being answered now, and the most there ever were.

    >>> from mas_orchestra.types import Role
    >>> model = ScriptedModel(rules=[Rule(contains="6 times 7", reply="42")])
    >>> question = (Message(role=Role.USER, content="What is 6 times 7?"),)
    >>> asyncio.run(model.complete(question, Params())).content
    '42'
    """

    def __init__(
        self,
        rules: Sequence[Rule] = (),
        *,
        default: Rule | None = None,
        name: str = "python",
        script: Script | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """A model from `rules` and `default`, or from a whole `script`; `sleep` passes a rule's latency."""
        self._script = script or Script(rules=tuple(rules), default=default)
        self._uri = f"scripted:{name}"
        self._sleep = sleep
        self._function: ReplyFunction | None = None
        self._seen: Counter[object] = Counter()
        self.calls = 0
        self.in_flight = 0
        self.peak_in_flight = 0

    @classmethod
    def open(cls, file: Path) -> Self:
        """The model of a script file.

        Raises:
            FileFormatError: See `Script.read`.
        """
        return cls(name=str(file), script=Script.read(file))

    @classmethod
    def from_function(cls, function: ReplyFunction, *, name: str = "function") -> Self:
        """A model that calls `function` once for each sample."""
        model = cls(name=name)
        model._function = function
        return model

    @property
    def uri(self) -> str:
        """``scripted:`` and the file or name."""
        return self._uri

    @property
    def abilities(self) -> Abilities:
        """What the script claims."""
        script = self._script
        return Abilities(
            tools=script.tools,
            json_schema=script.json_schema,
            native_n=script.native_n,
            context_tokens=script.context_tokens,
        )

    def cost_usd(self, usage: Usage) -> float | None:
        """By the script's price, free without one."""
        return price_usd(self._script.price, usage)

    async def complete(
        self, messages: tuple[Message, ...], params: Params, *, queue: QueueWatch | None = None
    ) -> Completion:
        """The reply of the first rule that matches.

        Raises:
            RequestRejectedError: No rule matches and there is no default.
            CallError: The failure that the rule asks for.
        """
        del queue  # a script never queues
        self.calls += 1
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
        try:
            return await self._complete(messages, params)
        finally:
            self.in_flight -= 1

    async def _complete(self, messages: tuple[Message, ...], params: Params) -> Completion:
        if self._function is not None:
            replies = (self._function(messages, params) for _ in range(params.n))
            choices = tuple(Choice(content=one) if isinstance(one, str) else one for one in replies)
            return self._completion(messages, choices, usage=None, latency_s=0.0)
        rule = self._rule_for(messages)
        counted = (id(rule), messages if rule.count_by is CountBy.CONVERSATION else None)
        self._seen[counted] += 1
        number = self._seen[counted]
        if rule.latency_s:
            await self._sleep(rule.latency_s)
        if rule.fail is not None and (not rule.fail_on or number in rule.fail_on):
            raise FAILURES[rule.fail](f"{self._uri}: {rule.fail}, as the script says", endpoint=self._uri)
        last = len(rule.reply) - 1
        choices = tuple(rule.reply[min(number - 1 + sample, last)].choice() for sample in range(params.n))
        return self._completion(messages, choices, usage=rule.usage, latency_s=rule.latency_s)

    def _rule_for(self, messages: tuple[Message, ...]) -> Rule:
        rule = next((rule for rule in self._script.rules if rule.matches(messages)), self._script.default)
        if rule is None:
            end = messages[-1].content[-200:] if messages else ""
            raise RequestRejectedError(
                f"{self._uri}: none of its {len(self._script.rules)} rules matches a prompt that ends with {end!r};"
                " add a rule for it, or a default",
                endpoint=self._uri,
            )
        return rule

    def _completion(
        self,
        messages: tuple[Message, ...],
        choices: tuple[Choice, ...],
        *,
        usage: ScriptedUsage | None,
        latency_s: float,
    ) -> Completion:
        return Completion(
            choices=choices,
            usage=_measured(messages, choices) if usage is None else Usage(**usage.model_dump()),
            model=self._uri.removeprefix("scripted:"),
            latency_s=latency_s,
        )

    async def close(self) -> None:
        """Nothing to release."""


def _measured(messages: tuple[Message, ...], choices: tuple[Choice, ...]) -> Usage:
    """Usage by the length of the texts: what this model counts as tokens, so not marked as estimated."""
    reasoning = sum(estimate_tokens(choice.reasoning) for choice in choices)
    calls = sum(estimate_tokens(call.name + call.arguments) for choice in choices for call in choice.tool_calls)
    return Usage(
        input_tokens=estimate_prompt_tokens(messages),
        output_tokens=reasoning + calls + sum(estimate_tokens(choice.content) for choice in choices),
        reasoning_tokens=reasoning,
    )
