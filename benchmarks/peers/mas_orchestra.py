"""Ours, as a program uses it: plan checked and executed by data flow, with events, ledger, retries and limiter.

Samples are asked for one by one, as the peers ask for them; an endpoint with ``n`` would spare four requests of five.
"""

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from mas_orchestra.agents.registry import Registry
from mas_orchestra.config import EndpointSettings, Settings
from mas_orchestra.models.uri import open_model
from mas_orchestra.plan.schema import Edge, Plan, Step
from mas_orchestra.run import Event, FixedPlan, Runtime, solve
from mas_orchestra.run.solve import rare_collections
from workloads import QUESTION, ROLES, Agent, Node, Shape


@asynccontextmanager
async def connected(base_url: str) -> AsyncIterator[Callable[[Shape], Awaitable[str]]]:
    """A runner of shapes against the endpoint; its connections are closed at the end."""
    settings = Settings(endpoints={base_url: EndpointSettings(native_n=False, api_key_env="")})
    latest: deque[Event] = deque(maxlen=1)  # a listener that does as little as one can
    runtime = Runtime(
        model=open_model(f"openai:fake@{base_url}", settings), registry=Registry.installed(), listeners=(latest.append,)
    )

    async def run(shape: Shape) -> str:
        outcome = await solve(QUESTION, FixedPlan(plan=plan_of(shape)), runtime)
        if outcome.calls != shape.calls:
            raise RuntimeError(f"{shape.name} took {outcome.calls} calls instead of {shape.calls}: {outcome.failure}")
        return str(outcome.answer)

    with rare_collections():  # as in every program that lets `run_async` or `mas` own the event loop
        try:
            yield run
        finally:
            await runtime.close()


def plan_of(shape: Shape) -> Plan:
    """The shape as a plan."""
    edges = tuple(Edge(source, node.id) for node in shape.nodes for source in node.reads)
    return Plan(steps=tuple(step_of(node) for node in shape.nodes), edges=edges)


def step_of(node: Node) -> Step:
    """One node as a step."""
    arguments: dict[str, Any] = {"roles": list(ROLES)} if node.agent is Agent.DEBATE else {}
    return Step(id=node.id, agent=node.agent.value, input=node.task, arguments=arguments)
