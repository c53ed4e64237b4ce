"""LangGraph over langchain-openai: a graph built and compiled for every system, as generated plans need it."""

import operator
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypedDict

from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph

from peers.by_hand import Messages, run_node
from workloads import Node, Shape


class State(TypedDict):
    """Answers by step, merged as steps finish."""

    answers: Annotated[dict[str, str], operator.or_]


@asynccontextmanager
async def connected(base_url: str) -> AsyncIterator[Callable[[Shape], Awaitable[str]]]:
    """A runner of shapes against the endpoint; its connections are closed at the end."""
    model = ChatOpenAI(model="fake", base_url=base_url, api_key="none", temperature=0.5, max_retries=0, timeout=300)

    async def call(prompt: Messages) -> str:
        return str((await model.ainvoke(prompt)).content)

    async def run(shape: Shape) -> str:
        state = await compiled(shape, call).ainvoke({"answers": {}})
        return str(state["answers"][shape.sink])

    yield run


def compiled(shape: Shape, call: Callable[[Messages], Awaitable[str]]) -> Any:  # noqa: ANN401  (untyped library)
    """The shape as a graph."""
    graph = StateGraph(State)
    for node in shape.nodes:
        graph.add_node(node.id, step(node, call))
        graph.add_edge(list(node.reads) or START, node.id)
    graph.add_edge(shape.sink, END)
    return graph.compile()


def step(node: Node, call: Callable[[Messages], Awaitable[str]]) -> Callable[[State], Awaitable[State]]:
    """One step as a node of the graph."""

    async def act(state: State) -> State:
        return {"answers": {node.id: await run_node(node, state["answers"], call)}}

    return act
