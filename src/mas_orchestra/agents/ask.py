"""Asking a model for a reply that can be read, and asking again within bounds when it cannot.

=====================  ==========================================================================================
reply                  what happens
=====================  ==========================================================================================
empty, or filtered     asked once more, word for word; then `StepError` ``empty_reply`` or ``filtered_reply``
no answer to be read   asked again with a reminder of the format, `format_retries` times; then ``unreadable_reply``
cut off by length      an answer that was already closed is used, with a warning; else asked again for the answer
                       alone, `format_retries` times; then ``truncated_reply``
=====================  ==========================================================================================

A model's hidden reasoning is never read as an answer.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from mas_orchestra.agents.base import AgentContext
from mas_orchestra.agents.prompting import FieldsAsked, with_reminder
from mas_orchestra.agents.reply import Reply, read_reply, without_reasoning
from mas_orchestra.errors import StepError
from mas_orchestra.models.base import Choice, FinishReason, Params
from mas_orchestra.types import Message

__all__ = ["ANSWER_FIELDS", "Asked", "Sampled", "ask", "ask_any", "sample"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Generic[T]):
    """What a reply must give.

    Attributes:
        fields: Fields of the reply, as schema and reminders name them.
        read: Reads a text; ``None`` when it cannot. `cut_off` says that the model stopped by length.
    """

    fields: FieldsAsked
    read: Callable[[str, bool], T | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled(Generic[T]):
    """What the samples of one request gave: those that could be read, and why the others could not."""

    replies: tuple[T, ...]
    unusable: tuple[StepError, ...]


ANSWER_FIELDS: Asked[Reply] = Asked(
    fields=FieldsAsked(name="reply", properties={"thinking": "string", "answer": "string"}, wanted="answer"),
    read=lambda text, cut_off: read_reply(text, cut_off=cut_off),
)


async def ask(
    context: AgentContext,
    messages: tuple[Message, ...],
    params: Params,
    *,
    asked: Asked[T],
    purpose: str,
    format_retries: int,
) -> T:
    """One reply.

    Raises:
        StepError: `empty_reply`, `filtered_reply`, `unreadable_reply` or `truncated_reply`.
        CallError, BudgetError: From `AgentContext.complete`.
    """
    sampled = await ask_any(context, messages, params, asked=asked, purpose=purpose, format_retries=format_retries)
    return sampled.replies[0]


async def ask_any(
    context: AgentContext,
    messages: tuple[Message, ...],
    params: Params,
    *,
    asked: Asked[T],
    purpose: str,
    format_retries: int,
) -> Sampled[T]:
    """The samples of one request, at least one of which could be read; else raises as `ask` does."""
    repeats_left, reminders_left = 1, format_retries
    fields, said = asked.fields, messages
    name = purpose
    while True:
        sampled = await sample(context, said, replace(params, response_schema=fields.schema), asked=asked, purpose=name)
        if sampled.replies:
            return sampled
        fault = _commonest(sampled.unusable)
        if fault.code in {"empty_reply", "filtered_reply"}:
            repeats_left -= 1
        else:
            reminders_left -= 1
            fields = asked.fields.only_wanted() if fault.code == "truncated_reply" else asked.fields
            said = with_reminder(messages, fields, fault=fault.code)
        if repeats_left < 0 or reminders_left < 0:
            raise fault
        context.warn(fault.code, f"{name}: {fault}; asked again")
        name = f"{purpose}, again"


async def sample(
    context: AgentContext, messages: tuple[Message, ...], params: Params, *, asked: Asked[T], purpose: str
) -> Sampled[T]:
    """What one request gave, without asking again."""
    completion = await context.complete(messages, params, purpose=purpose)
    replies: list[T] = []
    unusable: list[StepError] = []
    for choice in completion.choices:
        cut_off = choice.finish_reason is FinishReason.LENGTH
        reply = None if choice.finish_reason is FinishReason.CONTENT_FILTER else asked.read(choice.content, cut_off)
        if reply is None:
            unusable.append(_fault(choice, asked.fields))
            continue
        replies.append(reply)
        if cut_off:
            context.warn(
                "truncated_reply", f"{purpose}: the reply was cut off by length after its {asked.fields.wanted}"
            )
    if not completion.choices:
        unusable.append(StepError("empty_reply", "the endpoint returned no sample"))
    return Sampled(replies=tuple(replies), unusable=tuple(unusable))


def _commonest(faults: tuple[StepError, ...]) -> StepError:
    """A fault of the most frequent code, of several the first."""
    code, _ = Counter(fault.code for fault in faults).most_common(1)[0]
    return next(fault for fault in faults if fault.code == code)


def _fault(choice: Choice, fields: FieldsAsked) -> StepError:
    text = without_reasoning(choice.content).strip()
    if choice.finish_reason is FinishReason.CONTENT_FILTER:
        return StepError("filtered_reply", "the endpoint's content filter withheld the reply")
    if choice.finish_reason is FinishReason.LENGTH:
        return StepError(
            "truncated_reply", f"the reply was cut off by length before its {fields.wanted} ended; raise max_tokens"
        )
    if not text:
        return StepError("empty_reply", "the reply was empty" + _elsewhere(choice))
    shown = text if len(text) <= 120 else f"{text[:120]}…"
    return StepError("unreadable_reply", f"no {fields.wanted} can be read from the reply {shown!r}")


def _elsewhere(choice: Choice) -> str:
    if choice.tool_calls:
        return ": it only calls tools, and none were offered"
    return ": all of it is reasoning, which is never used as an answer" if choice.reasoning else ""
