"""Plans of a simulated orchestrator: valid, and of a random design. It is the untrained baseline, nothing more."""

import json
import re
from collections.abc import Callable, Sequence
from random import Random

from mas_orchestra.models.base import Choice, FinishReason, Params
from mas_orchestra.plan.render import render
from mas_orchestra.plan.schema import Edge, Plan, Step
from mas_orchestra.types import DoM, Message, Role, ToolCall

__all__ = ["planner"]

MOST_STEPS = 6
_CARD = re.compile(r"^- (\w{1,80}): ", re.MULTILINE)
_PROBLEM = re.compile(r"^Problem \d{1,4}:", re.MULTILINE)
_NEEDS_MORE = frozenset({"WebSearchAgent"})
"""Sub-agents that a text which is its own source has no use for."""
_ROLES = ("Careful solver", "Sceptical checker", "Arithmetician")


def planner(messages: tuple[Message, ...], params: Params) -> Callable[[Random], Choice]:
    """What writes a plan for the question of this conversation, a new one for each generator."""
    system = "\n".join(message.content for message in messages if message.role is Role.SYSTEM)
    question = next((message.content for message in messages if message.role is Role.USER), "")
    cards = system.partition("# Sub-agents")[2].partition("# Rules")[0]
    agents = [name for name in _CARD.findall(cards) if name not in _NEEDS_MORE] or ["CoTAgent"]
    dom = DoM.LOW if "Degree of MAS: low" in system else DoM.HIGH
    problems = len(_PROBLEM.findall(question))
    wanted = _format(system, params)

    def write(rng: Random) -> Choice:
        plan = _plan(agents, problems, rng, steps=1 if dom is DoM.LOW else rng.randint(1, MOST_STEPS))
        text = render(plan, wanted)
        return Choice(content=text) if wanted != "tools" else _tool_calls(text)

    return write


def _format(system: str, params: Params) -> str:
    if params.tools:
        return "tools"
    return "json" if params.response_schema is not None or "\n<thinking>" not in system else "xml"


def _tool_calls(text: str) -> Choice:
    message = json.loads(text)
    calls = tuple(
        ToolCall(id=call["id"], name=call["function"]["name"], arguments=call["function"]["arguments"])
        for call in message["tool_calls"]
    )
    return Choice(content=message["content"], tool_calls=calls, finish_reason=FinishReason.TOOL_CALLS)


def _plan(agents: Sequence[str], problems: int, rng: Random, *, steps: int) -> Plan:
    """Steps in a random graph with one sink: every step but the last feeds a later one, some feed two."""
    ids = [f"s{number}" for number in range(1, steps + 1)]
    edges: list[Edge] = []
    shape = rng.choice(("chain", "fan", "random"))
    for place in range(steps - 1):
        targets = {"chain": [place + 1], "fan": [steps - 1]}.get(shape) or _later(place, steps, rng)
        edges += [Edge(ids[place], ids[target]) for target in targets]
    made = tuple(_step(name, agents, problems, edges, rng, is_last=name == ids[-1]) for name in ids)
    return Plan(thinking=f"{steps} steps, {shape}.", steps=made, edges=tuple(edges))


def _later(place: int, steps: int, rng: Random) -> list[int]:
    later = range(place + 1, steps)
    return sorted(rng.sample(later, min(len(later), rng.choice((1, 1, 2)))))


def _step(
    name: str, agents: Sequence[str], problems: int, edges: Sequence[Edge], rng: Random, *, is_last: bool
) -> Step:
    agent = rng.choice(agents)
    read = ", ".join(f"${{{edge.source}}}" for edge in edges if edge.target == name)
    part = f"Solve Problem {rng.randint(1, problems)}." if problems > 1 and rng.random() < 0.5 else ""
    if is_last and read:
        task = f"Given: {read}. Answer the whole question."
    elif read:
        task = f"Given: {read}. {part or 'Answer the question.'}"
    else:
        task = part
    arguments = {"roles": rng.sample(_ROLES, rng.randint(2, len(_ROLES)))} if agent == "DebateAgent" else {}
    return Step(id=name, agent=agent, description=task[:40], input=task, arguments=arguments)
