"""A sub-agent's context in memory: replies that the test decides, and a record of all that was asked."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pydantic import BaseModel

from mas_orchestra import seeds
from mas_orchestra.agents.base import StepCall
from mas_orchestra.models.base import Choice, Completion, FinishReason, Params
from mas_orchestra.models.scripted import ScriptedModel
from mas_orchestra.plan.catalog import NoArguments
from mas_orchestra.search.base import Retriever
from mas_orchestra.types import Message, ToolCall

ReplyTo = Callable[[str, str], str | Choice]
"""From the purpose and the text of the last message to one sample; raises for a failure."""


@dataclass(frozen=True)
class AskedCall:
    """One call that the sub-agent made."""

    purpose: str
    messages: tuple[Message, ...]
    params: Params

    @property
    def prompt(self) -> str:
        return self.messages[-1].content


@dataclass(eq=False)
class RecordingContext:
    """An `AgentContext` over a scripted model; `before` may delay a call or wait for another one."""

    reply: ReplyTo
    retriever: Retriever | None = None
    before: Callable[[str], Awaitable[None]] | None = None
    rng: random.Random = field(default_factory=lambda: seeds.rng("test step"))
    calls: list[AskedCall] = field(default_factory=list)
    warnings: list[tuple[str, str]] = field(default_factory=list)

    async def complete(self, messages, params, *, purpose) -> Completion:
        self.calls.append(AskedCall(purpose=purpose, messages=messages, params=params))
        if self.before is not None:
            await self.before(purpose)
        model = ScriptedModel.from_function(lambda said, _: self.reply(purpose, said[-1].content))
        return await model.complete(messages, params)

    def warn(self, code: str, message: str) -> None:
        self.warnings.append((code, message))

    @property
    def purposes(self) -> list[str]:
        return [call.purpose for call in self.calls]

    @property
    def warned(self) -> list[str]:
        return [code for code, _ in self.warnings]


def in_turn(*replies: str | Choice | Exception, **options) -> RecordingContext:
    """A context whose samples are these replies one after the other; an exception is raised."""
    left = list(replies)

    def reply(purpose: str, prompt: str) -> str | Choice:
        assert left, f"no reply left for {purpose!r}"
        found = left.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    return RecordingContext(reply=reply, **options)


def says(answer: str, thinking: str = "thought") -> str:
    """A well-formed reply."""
    return f"<thinking>{thinking}</thinking><answer>{answer}</answer>"


def cut(text: str) -> Choice:
    """A reply that was cut off by length."""
    return Choice(content=text, finish_reason=FinishReason.LENGTH)


def tools(*calls: tuple[str, str], content: str = "") -> Choice:
    """A reply that asks for tools, each a name and its arguments as JSON text."""
    return Choice(
        content=content,
        tool_calls=tuple(ToolCall(id=f"c{at}", name=name, arguments=text) for at, (name, text) in enumerate(calls)),
        finish_reason=FinishReason.TOOL_CALLS,
    )


def call_of(question: str = "What is 6 times 7?", task: str = "", arguments: BaseModel | None = None) -> StepCall:
    return StepCall(question=question, task=task, arguments=arguments or NoArguments())
