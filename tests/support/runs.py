"""Building blocks for tests of runs: a model and sub-agents whose behaviour and timing the test decides."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from mas_orchestra.agents.base import StepOutcome
from mas_orchestra.agents.registry import Registry
from mas_orchestra.models.base import Abilities, Choice, Completion, Params
from mas_orchestra.plan.catalog import AgentCard
from mas_orchestra.plan.schema import Edge, Plan, Step
from mas_orchestra.run import FixedPlan, Runtime
from mas_orchestra.types import Message, Role, Usage


@dataclass(eq=False)
class FakeModel:
    """Answers with `reply(prompt)` after `latency(prompt)` seconds; an exception as reply is raised."""

    reply: Callable[[str], str | Exception] = lambda prompt: f"<{prompt}>"
    latency: Callable[[str], float] = lambda _: 0.0
    price: float | None = 1e-6
    queue_s: float = 0.0
    uri: str = "fake:model"
    abilities: Abilities = field(default_factory=Abilities)
    prompts: list[str] = field(default_factory=list)
    params: list[Params] = field(default_factory=list)
    in_flight: int = 0
    peak: int = 0
    is_closed: bool = False

    def cost_usd(self, usage: Usage) -> float | None:
        return None if self.price is None else self.price * usage.total_tokens

    async def complete(self, messages, params, *, queue=None):
        prompt = messages[-1].content
        self.prompts.append(prompt)
        self.params.append(params)
        if self.queue_s:
            with queue.waiting():
                await asyncio.sleep(self.queue_s)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            await asyncio.sleep(self.latency(prompt))
        finally:
            self.in_flight -= 1
        reply = self.reply(prompt)
        if isinstance(reply, Exception):
            raise reply
        usage = Usage(input_tokens=10, output_tokens=5 * params.n)
        choices = (Choice(content=reply),) * params.n
        return Completion(choices=choices, usage=usage, model="fake", latency_s=self.latency(prompt))

    async def close(self):
        self.is_closed = True


@dataclass(frozen=True)
class EchoAgent:
    """Sends its task as the prompt, once, and answers with the reply."""

    card: ClassVar = AgentCard(name="Echo", summary="Echoes.", good_at="Tests.", cost="1 call")
    work: Callable | None = None

    async def run(self, call, context):
        if self.work is not None:
            return await self.work(call, context)
        prompt = call.task or call.question
        completion = await context.complete(
            (Message(role=Role.USER, content=prompt),), Params(max_tokens=5), purpose="echo"
        )
        return StepOutcome(answer=completion.content)


def echo_plan(*edges: str, steps: str = "", inputs: dict[str, str] | None = None) -> Plan:
    """A plan of echo steps from edges like ``"a>b"``; a step's input is its id and what it reads."""
    pairs = tuple(Edge(*edge.split(">")) for edge in edges)
    reads: dict[str, list[str]] = {step: [] for step in [*steps, *(node for pair in pairs for node in pair)]}
    for source, target in pairs:
        reads[target].append(source)
    inputs = inputs or {}
    return Plan(
        steps=tuple(
            Step(id=step, agent="Echo", input=inputs.get(step, " ".join([step, *(f"${{{s}}}" for s in sources)])))
            for step, sources in reads.items()
        ),
        edges=pairs,
    )


def independent(count: int) -> FixedPlan:
    """So many steps that read nothing, and one that reads them all."""
    names = [f"s{number}" for number in range(count)]
    steps = [Step(id=name, agent="CoTAgent", input=f"Part {name}.") for name in names]
    end = Step(id="end", agent="CoTAgent", input="Join " + " ".join(f"${{{name}}}" for name in names))
    return FixedPlan(plan=Plan(steps=(*steps, end), edges=tuple(Edge(name, "end") for name in names)))


def runtime_of(model, *, work=None, **options) -> Runtime:
    """A runtime with one `EchoAgent`."""
    return Runtime(model=model, registry=Registry([EchoAgent(work=work)]), **options)
