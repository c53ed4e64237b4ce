"""What a sub-agent is: a card, options with the paper's defaults, and one coroutine."""

import random
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import BaseModel

from mas_orchestra.models.base import Completion, Params
from mas_orchestra.plan.catalog import AgentCard
from mas_orchestra.search.base import Retriever
from mas_orchestra.types import JsonValue, Message

__all__ = ["AgentContext", "StepCall", "StepOutcome", "SubAgent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCall:
    """What one step asks of its sub-agent.

    Attributes:
        question: The user's question, word for word.
        task: The sub-task with every reference already replaced; empty means the question itself is the task.
        arguments: The sub-agent's own arguments, checked against its card.
    """

    question: str
    task: str
    arguments: BaseModel


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutcome:
    """What a step gives to those that read it.

    Attributes:
        answer: Never empty; a sub-agent without an answer raises `StepError` instead.
        thinking: The reasoning that led there, for the trace.
        details: Facts for the trace and the reports, JSON values only: votes, rounds, `limit_reached`, `citations`, …
    """

    answer: str
    thinking: str = ""
    details: dict[str, JsonValue] = field(default_factory=dict)


class AgentContext(Protocol):
    """All that a sub-agent may touch while it runs."""

    @property
    def rng(self) -> random.Random:
        """A generator of this step's own: the same run seed and step id give the same draws."""
        ...

    @property
    def retriever(self) -> Retriever | None:
        """What `WebSearchAgent` searches; ``None`` when the run has none."""
        ...

    async def complete(self, messages: tuple[Message, ...], params: Params, *, purpose: str) -> Completion:
        """One call of the step's model, through the run's budget, ledger and events.

        Args:
            messages: The conversation.
            params: How to sample.
            purpose: What the call is for, for traces and live view: ``"sample 3"``, ``"round 2: Statistician"``.

        Raises:
            BudgetError: The call would pass a limit of the run; nothing was sent.
            CallError: No usable reply.
        """
        ...

    def warn(self, code: str, message: str) -> None:
        """Record something a reader of the trace should know (`empty_reply`, `limit_reached`, …)."""
        ...


class SubAgent(Protocol):
    """A black-box function with a clear interface, as the orchestrator sees it (MAS-Orchestra, section 3)."""

    @property
    def card(self) -> AgentCard:
        """Name, blurb, cost and arguments."""
        ...

    async def run(self, call: StepCall, context: AgentContext) -> StepOutcome:
        """Answer one step.

        Raises:
            StepError: No answer, with a code that says why.
            CallError, BudgetError: From `AgentContext.complete`, passed on untouched.
        """
        ...
