"""What an evaluation run holds once it is stored: the one value that statistics, reports and exports read."""

from dataclasses import dataclass, field

from mas_orchestra.plan.schema import Plan
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import JsonValue, OutcomeStatus, Usage

__all__ = ["Attempt", "RunResults", "SystemInfo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt of one system at one task, stored once.

    Attributes:
        score: Value in [0, 1]; ``None`` when unscored.
        reason: The score's reason, or why there is none.
        parts: The score's named components.
        status: How the run ended.
        plan: What ran, where there was a plan.
        fault_codes: Faults of the last text where no plan was valid.
        agents: Sub-agent of each step, in plan order.
        width, length: Of the plan's graph; 0 without one.
        cost_usd: ``None`` when unknown.
        cached_calls: Calls that our own response cache answered, at no cost.
        first_round_unanimous: Debates of this attempt whose first round agreed, over all its debates; ``None`` without.
    """

    system: str
    task_id: str
    attempt: int
    seed: int
    status: OutcomeStatus
    answer: str | None
    score: float | None
    reason: str
    parts: dict[str, float] = field(default_factory=dict)
    plan: Plan | None = None
    fault_codes: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    width: int = 0
    length: int = 0
    calls: int = 0
    cached_calls: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = None
    wall_s: float = 0.0
    critical_path_s: float = 0.0
    first_round_unanimous: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemInfo:
    """One row of the scoreboard.

    Attributes:
        name: As in the configuration: ``sc:5``, ``orchestrated:openai:NAME dom=high``.
        is_single_agent: One sub-agent standing alone.
        is_simulated: Any of its models is simulated; every number of it says so.
        is_reference: What the others are compared with.
    """

    name: str
    is_single_agent: bool
    is_simulated: bool
    is_reference: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResults:
    """A stored run.

    Attributes:
        facts: Provenance: versions, commit, command, seeds, models, judge, prompt hashes, price table.
        config: The resolved configuration, as TOML text.
    """

    name: str
    systems: tuple[SystemInfo, ...]
    tasks: tuple[Task, ...]
    attempts: tuple[Attempt, ...]
    attempts_per_task: int
    facts: dict[str, JsonValue] = field(default_factory=dict)
    config: str = ""
