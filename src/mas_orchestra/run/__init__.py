"""Running plans: the executor, its budget and ledger, and the systems that answer tasks.

Read `outcome` (what a run leaves behind), `events` (what happens), `runtime` (what it may use), then `system` and
`conduct` (the way of every run), `executor` and `step` (the data flow), `session` and `budget` (every call).
"""

from mas_orchestra.run.events import Event, Listener
from mas_orchestra.run.orchestrate import PlanWriter
from mas_orchestra.run.outcome import ORCHESTRATOR, CallRecord, Failure, Outcome, StepRecord, Warned
from mas_orchestra.run.runtime import Limits, OnStepError, Runtime
from mas_orchestra.run.solve import run_async, solve, solve_sync
from mas_orchestra.run.system import FixedPlan, Orchestrated, StandaloneAgent, System
from mas_orchestra.run.trace import outcome_json, read_trace, write_trace

__all__ = [
    "ORCHESTRATOR",
    "CallRecord",
    "Event",
    "Failure",
    "FixedPlan",
    "Limits",
    "Listener",
    "OnStepError",
    "Orchestrated",
    "Outcome",
    "PlanWriter",
    "Runtime",
    "StandaloneAgent",
    "StepRecord",
    "System",
    "Warned",
    "outcome_json",
    "read_trace",
    "run_async",
    "solve",
    "solve_sync",
    "write_trace",
]
