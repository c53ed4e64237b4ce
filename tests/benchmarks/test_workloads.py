"""The measured systems are what their bounds say, and the peers by hand run them as the bounds demand."""

import json
import re

import pytest

from peers.by_hand import Messages, run_shape
from workloads import SHAPES, Agent

FACTS = {
    "single": (1, 1),
    "chain6": (6, 6),
    "fan8": (9, 2),
    "diamond": (4, 3),
    "sc5": (5, 1),
    "debate2x5": (11, 6),
    "housing": (12, 6),
    "skew": (18, 7),
}


def test_calls_and_bounds() -> None:
    assert {name: (shape.calls, shape.bound) for name, shape in SHAPES.items()} == FACTS


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
async def test_by_hand_makes_as_many_calls_as_counted(shape) -> None:
    prompts: list[Messages] = []

    async def call(prompt: Messages) -> str:
        prompts.append(prompt)
        return json.dumps({"thinking": "", "answer": "42", "correct": "True", "feedback": ""})

    assert await run_shape(shape, call) == "42"
    assert len(prompts) == shape.calls


WITHOUT_CRITIC = [shape for shape in SHAPES.values() if all(node.agent is not Agent.REFLEXION for node in shape.nodes)]


@pytest.mark.parametrize("shape", WITHOUT_CRITIC, ids=lambda shape: shape.name)
async def test_the_longest_chain_of_calls_is_the_bound(shape) -> None:
    """Every reply says how long the chain is that led to it, which the next prompt carries on."""

    async def call(prompt: Messages) -> str:
        depth = 1 + max(map(int, re.findall(r"depth (\d+)", prompt[-1]["content"])), default=0)
        return json.dumps({"thinking": f"depth {depth}", "answer": f"depth {depth}"})

    assert await run_shape(shape, call) == f"depth {shape.bound}"
