"""What a careful engineer writes without a framework: one task a step that awaits what it reads.

The peers share it; they differ in `call`, which sends messages and gives back the text of the reply.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from workloads import QUESTION, ROLES, Agent, Node, Shape

Messages = list[dict[str, str]]
Call = Callable[[Messages], Awaitable[str]]

SYSTEM = (
    "You are a careful assistant. Reply with one JSON object with the fields thinking and answer. "
    "If a number is asked for, the answer is that number and nothing else."
)
REFERENCE = re.compile(r"\$\{([^{}$\n]+)\}")


def task_of(node: Node, answers: Mapping[str, str]) -> str:
    """The text for one step: the question, then the sub-task with its references replaced."""
    task = REFERENCE.sub(lambda match: answers[match[1]], node.task)
    return f"Question: {QUESTION}\n\nYour part: {task}"


def messages(task: str, *, role: str = "", heard: str = "") -> Messages:
    """A system and a user turn."""
    system = f"You are a {role}. {SYSTEM}" if role else SYSTEM
    return [{"role": "system", "content": system}, {"role": "user", "content": f"{task}\n\n{heard}Think step by step."}]


async def together(call: Call, prompts: list[Messages]) -> list[dict[str, Any]]:
    """Replies to independent prompts, sent at once."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(as_task(call(prompt))) for prompt in prompts]
    return [json.loads(task.result()) for task in tasks]


async def as_task(reply: Awaitable[str]) -> str:
    """An awaitable as a coroutine."""
    return await reply


async def run_node(node: Node, answers: Mapping[str, str], call: Call) -> str:
    """The answer of one step."""
    task = task_of(node, answers)
    match node.agent:
        case Agent.COT:
            return str(json.loads(await call(messages(task)))["answer"])
        case Agent.SELF_CONSISTENCY:
            replies = await together(call, [messages(task)] * 5)
            return Counter(str(reply["answer"]) for reply in replies).most_common(1)[0][0]
        case Agent.DEBATE:
            return await debate(task, call)
        case Agent.REFLEXION:
            return await reflect(task, call)


async def debate(task: str, call: Call) -> str:
    """Five rounds, then a judge."""
    heard = ""
    for _ in range(5):
        replies = await together(call, [messages(task, role=role, heard=heard) for role in ROLES])
        heard = "".join(f"{role}: {reply['thinking']}\n\n" for role, reply in zip(ROLES, replies, strict=True))
    return str(json.loads(await call(messages(task, role="judge", heard=heard)))["answer"])


async def reflect(task: str, call: Call) -> str:
    """Solve, ask a critic, try again until it is content."""
    heard = ""
    for _ in range(5):
        reply = json.loads(await call(messages(task, heard=heard)))
        verdict = json.loads(
            await call(messages(task, role="critic", heard=f"{reply['thinking']}\n{reply['answer']}\n"))
        )
        if verdict["correct"] == "True":
            break
        heard = f"{reply['answer']}\n{verdict['feedback']}\n"
    return str(reply["answer"])


async def run_shape(shape: Shape, call: Call) -> str:
    """The answer of a whole system, every step as soon as what it reads is there."""
    tasks: dict[str, asyncio.Task[str]] = {}

    async def step(node: Node) -> str:
        answers = {source: await tasks[source] for source in node.reads}
        return await run_node(node, answers, call)

    async with asyncio.TaskGroup() as group:
        for node in shape.nodes:
            tasks[node.id] = group.create_task(step(node))
    return tasks[shape.sink].result()
