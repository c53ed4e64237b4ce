"""Sub-agents: black boxes with clear interfaces that a plan names.

Read `base` first (what a sub-agent is), then `cot` (the simplest one), `ask` and `reply` (how replies are asked for and
read), then the others: `self_consistency` with `vote` and `equivalence`, `debate`, `reflexion`, `search`. `function`
makes a sub-agent out of any async function; `registry` holds those of a run; `spec` reads short names as ``sc:5``.
"""

from mas_orchestra.agents.base import AgentContext, StepCall, StepOutcome, SubAgent
from mas_orchestra.agents.cot import CoTAgent
from mas_orchestra.agents.debate import DebateAgent
from mas_orchestra.agents.function import sub_agent
from mas_orchestra.agents.reflexion import ReflexionAgent
from mas_orchestra.agents.registry import Registry
from mas_orchestra.agents.search import WebSearchAgent
from mas_orchestra.agents.self_consistency import SCAgent
from mas_orchestra.agents.spec import AgentSpec, parse_agent_spec

__all__ = [
    "AgentContext",
    "AgentSpec",
    "CoTAgent",
    "DebateAgent",
    "ReflexionAgent",
    "Registry",
    "SCAgent",
    "StepCall",
    "StepOutcome",
    "SubAgent",
    "WebSearchAgent",
    "parse_agent_spec",
    "sub_agent",
]
