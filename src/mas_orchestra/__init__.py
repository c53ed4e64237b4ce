"""A small orchestrator model writes a whole multi-agent system in one shot; this runs, measures and trains it.

The names that most programs need are here and are loaded when they are first used; `mas_orchestra.plan`,
`mas_orchestra.run`, `mas_orchestra.agents`, `mas_orchestra.models` and `mas_orchestra.masbench` hold the rest.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mas_orchestra.agents.function import sub_agent
    from mas_orchestra.agents.registry import Registry
    from mas_orchestra.models.uri import open_model
    from mas_orchestra.run.orchestrate import PlanWriter
    from mas_orchestra.run.outcome import Outcome
    from mas_orchestra.run.runtime import Limits, Runtime
    from mas_orchestra.run.solve import solve, solve_sync
    from mas_orchestra.run.system import FixedPlan, Orchestrated, StandaloneAgent
    from mas_orchestra.tasks.task import Task

__all__ = [
    "FixedPlan",
    "Limits",
    "Orchestrated",
    "Outcome",
    "PlanWriter",
    "Registry",
    "Runtime",
    "StandaloneAgent",
    "Task",
    "open_model",
    "solve",
    "solve_sync",
    "sub_agent",
]

_HOMES = {
    "FixedPlan": "run.system",
    "Limits": "run.runtime",
    "Orchestrated": "run.system",
    "Outcome": "run.outcome",
    "PlanWriter": "run.orchestrate",
    "Registry": "agents.registry",
    "Runtime": "run.runtime",
    "StandaloneAgent": "run.system",
    "Task": "tasks.task",
    "open_model": "models.uri",
    "solve": "run.solve",
    "solve_sync": "run.solve",
    "sub_agent": "agents.function",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
