"""``sc@cost:SYSTEM``: self-consistency that may spend what SYSTEM spent on the same task in the same attempt."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated

from pydantic import Field, SkipValidation

from mas_orchestra.agents.ask import Sampled
from mas_orchestra.agents.base import AgentContext, StepCall, StepOutcome
from mas_orchestra.agents.reply import Reply
from mas_orchestra.agents.self_consistency import SCAgent
from mas_orchestra.evaluate.store import Price
from mas_orchestra.models.base import ChatModel, Completion, Params
from mas_orchestra.run import Outcome, Runtime, StandaloneAgent
from mas_orchestra.search.base import Retriever
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import JsonValue, Message, Usage

__all__ = ["MATCHED", "MatchedCost", "Unit"]

MATCHED = "sc@cost:"
MOST_SAMPLES = 1_000
"""Of one attempt, whatever the other system spent."""


class Unit(StrEnum):
    """What is matched: dollars where they are known, else tokens, else calls."""

    DOLLARS = "cost_usd"
    TOKENS = "tokens"
    CALLS = "calls"


@dataclass(slots=True, kw_only=True)
class _Purse:
    """What may be spent, and what was.

    Attributes:
        dearest: The most that one sample took so far.
    """

    unit: Unit
    target: float
    price: Callable[[Completion], float]
    spent: float = 0.0
    samples: int = 0
    dearest: float = 0.0

    @classmethod
    def matching(cls, price: Price, model: ChatModel) -> "_Purse":
        """A purse with what another system's attempt took.

        Replies from our response cache have no tokens and no price, so where there were any, calls are matched.
        """
        if not price.is_whole or price.tokens == 0:
            return cls(unit=Unit.CALLS, target=price.calls, price=lambda c: len(c.choices))
        if price.cost_usd and model.cost_usd(Usage()) is not None:
            return cls(unit=Unit.DOLLARS, target=price.cost_usd, price=lambda c: model.cost_usd(c.usage) or 0.0)
        return cls(unit=Unit.TOKENS, target=price.tokens, price=lambda c: c.usage.total_tokens)

    def pay(self, completion: Completion) -> None:
        """Book a reply."""
        paid, samples = self.price(completion), max(1, len(completion.choices))
        self.spent += paid
        self.samples += samples
        self.dearest = max(self.dearest, paid / samples)

    @property
    def still_wanted(self) -> int:
        """Samples to ask for next: as many as surely fit, one while anything is left, none afterwards."""
        left = self.target - self.spent
        if not self.samples:
            return 1
        if left <= 0 or self.samples >= MOST_SAMPLES:
            return 0
        fitting = int(left / self.dearest) if self.dearest else 1
        return max(1, min(fitting, MOST_SAMPLES - self.samples))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Metered:
    """The step's own context, each reply paid from the purse."""

    context: AgentContext
    purse: _Purse

    @property
    def rng(self) -> random.Random:
        return self.context.rng

    @property
    def retriever(self) -> Retriever | None:
        return self.context.retriever

    async def complete(self, messages: tuple[Message, ...], params: Params, *, purpose: str) -> Completion:
        completion = await self.context.complete(messages, params, purpose=purpose)
        self.purse.pay(completion)
        return completion

    def warn(self, code: str, message: str) -> None:
        self.context.warn(code, message)


class _MatchedSC(SCAgent):
    """Self-consistency until a purse is empty; the last sample may pass it."""

    purse: Annotated[_Purse, SkipValidation] = Field(repr=False)

    async def run(self, call: StepCall, context: AgentContext) -> StepOutcome:
        """The winner of the vote, with what was matched and what was spent."""
        purse = self.purse
        outcome = await super().run(call, _Metered(context=context, purse=purse))
        matched: JsonValue = {"unit": purse.unit.value, "target": purse.target, "spent": purse.spent}
        return replace(outcome, details={**outcome.details, "matched": matched})

    async def _still_wanted(self, gathered: Sampled[Reply]) -> int:
        del gathered  # what counts is what was paid, samples that cannot be read included
        return self.purse.still_wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedCost:
    """The matched-cost baseline of one system.

    It draws samples until the other system's cost is spent, so it spends as much, at most one sample more; at least
    one sample is always drawn. The step's details say what was matched (``matched``).

    Attributes:
        reads: The system whose cost counts.
    """

    reads: str
    options: dict[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """As ``sc@cost:debate:3x5``."""
        return MATCHED + self.reads

    async def solve_for(self, price: Price, task: Task, runtime: Runtime) -> Outcome:
        """Answer `task` for about `price`."""
        options = {name: value for name, value in self.options.items() if name not in {"samples", "early_stop"}}
        make: Callable[..., SCAgent] = _MatchedSC  # it checks its options itself
        agent = make(**options, purse=_Purse.matching(price, runtime.model))
        # The purse is the limit. One of the run in another unit would stop a baseline of many cheap calls before it has
        # spent what the other system spent, and count that as a wrong answer.
        limits = replace(runtime.limits, max_calls=None, max_tokens=None, max_cost_usd=None)
        matched = replace(runtime, registry=runtime.registry.with_agents(agent), limits=limits)
        return await StandaloneAgent(agent="SCAgent", name=self.name).solve(task, matched)
