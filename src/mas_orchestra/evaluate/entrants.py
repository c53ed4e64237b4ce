"""Who takes part in a scoreboard: systems of one or several stored runs, and what keeps runs from being compared."""

import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from mas_orchestra.evaluate.matched_cost import MATCHED
from mas_orchestra.evaluate.results import Attempt, RunResults, SystemInfo
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import JsonValue

__all__ = ["Entrant", "TaskKey", "differing_settings", "entrants", "task_key"]

TaskKey = tuple[str, str]
"""Id and fingerprint: tasks of two runs are the same task only where their text and answers are the same, too."""

_FACTS_OF_ONE_RUN = frozenset(
    {"command", "created_at", "finished_at", "host", "name", "platform", "run", "seed", "seeds", "started_at"}
)
"""They differ between any two runs and change nothing in what the numbers mean."""
_MOST_NAMED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """One system of one run.

    Attributes:
        label: Its name, with the run's name where several runs have a system of that name.
        run: Name of its run.
        tasks: The run's tasks.
        attempts: Its attempts, by task; a task that was never tried has none.
        scored: Those with a score, for the tasks that have any.
        attempts_per_task: How many were planned.
        reference: Label of what it is compared with; ``None`` for the reference itself and where there is none.
        matched: Label of the self-consistency of its own run that was given this system's cost, if there is one.
    """

    label: str
    run: str
    info: SystemInfo
    tasks: Mapping[TaskKey, Task]
    attempts: Mapping[TaskKey, tuple[Attempt, ...]]
    scored: Mapping[TaskKey, tuple[Attempt, ...]]
    attempts_per_task: int
    reference: str | None = None
    matched: str | None = None

    @property
    def shown(self) -> str:
        """The label as tables and figures print it: a simulated system is named as one."""
        return f"{self.label} (SIMULATED)" if self.info.is_simulated else self.label

    @property
    def all_attempts(self) -> Iterator[Attempt]:
        """Every attempt, in the order of tasks."""
        return (attempt for attempts in self.attempts.values() for attempt in attempts)

    def task_means(self, keys: Sequence[TaskKey]) -> NDArray[np.float64]:
        """Mean score of each of these tasks over its scored attempts; each must have one."""
        return np.array([fmean(one.score for one in self.scored[key] if one.score is not None) for key in keys], float)

    def task_costs_usd(self, keys: Sequence[TaskKey]) -> NDArray[np.float64] | None:
        """Mean cost of each of these tasks' scored attempts in US dollars; ``None`` when any of them is unknown."""
        costs = [[one.cost_usd for one in self.scored[key]] for key in keys]
        known = [[cost for cost in attempts if cost is not None] for attempts in costs]
        if known != costs:
            return None
        return np.array([fmean(attempts) for attempts in known], float)


def task_key(task: Task) -> TaskKey:
    """What identifies a task across runs."""
    content = json.dumps([task.question, task.answers, task.kind])
    return task.id, hashlib.sha256(content.encode()).hexdigest()[:16]


def entrants(results: Sequence[RunResults]) -> tuple[Entrant, ...]:
    """Every system of every run with its reference, in the order given.

    A system's reference is that of its own run; without one, the first reference of any run; without any, the first
    single agent.
    """
    names = Counter(info.name for run in results for info in run.systems)
    found: list[Entrant] = []
    for run in results:
        tasks = {task_key(task): task for task in run.tasks}
        for info in run.systems:
            label = info.name if names[info.name] == 1 else f"{info.name} [{run.name}]"
            found.append(_entrant(run, info, tasks, _unused(label, found)))
    return tuple(replace(one, reference=_reference(one, found), matched=_matched(one, found)) for one in found)


def _entrant(run: RunResults, info: SystemInfo, tasks: Mapping[TaskKey, Task], label: str) -> Entrant:
    by_id: dict[str, list[Attempt]] = {}
    for attempt in run.attempts:
        if attempt.system == info.name:
            by_id.setdefault(attempt.task_id, []).append(attempt)
    attempts = {key: tuple(sorted(by_id.get(key[0], ()), key=lambda one: (one.attempt, one.seed))) for key in tasks}
    scored = {key: tuple(one for one in every if one.score is not None) for key, every in attempts.items()}
    return Entrant(
        label=label,
        run=run.name,
        info=info,
        tasks=tasks,
        attempts=attempts,
        scored={key: some for key, some in scored.items() if some},
        attempts_per_task=run.attempts_per_task,
    )


def _unused(label: str, found: Sequence[Entrant]) -> str:
    taken = sum(one.label == label or one.label.startswith(f"{label} #") for one in found)
    return f"{label} #{taken + 1}" if taken else label


def _reference(entrant: Entrant, field: Sequence[Entrant]) -> str | None:
    marked = [one for one in field if one.info.is_reference]
    own = [one for one in marked if one.run == entrant.run]
    single = [one for one in field if one.info.is_single_agent]
    chosen = next(iter([*own, *marked, *single]), None)
    return None if chosen is None or chosen.label == entrant.label or entrant.info.is_reference else chosen.label


def _matched(entrant: Entrant, field: Sequence[Entrant]) -> str | None:
    name = MATCHED + entrant.info.name
    return next((one.label for one in field if one.run == entrant.run and one.info.name == name), None)


def differing_settings(results: Sequence[RunResults]) -> tuple[str, ...]:
    """One sentence a difference that makes runs hard to compare: tasks, attempts, judge and other facts, settings."""
    return tuple(sentence for first, second in pairwise(results) for sentence in _differences(first, second))


def _differences(first: RunResults, second: RunResults) -> Iterator[str]:
    names = f"runs {first.name!r} and {second.name!r}"
    tasks = [{task_key(task) for task in run.tasks} for run in (first, second)]
    if tasks[0] != tasks[1]:
        common = len(tasks[0] & tasks[1])
        yield f"{names} have different tasks: {common} of {len(tasks[0] | tasks[1])} are the same"
    if first.attempts_per_task != second.attempts_per_task:
        yield f"{names} have {first.attempts_per_task} and {second.attempts_per_task} attempts a task"
    facts = [
        {key: value for key, value in run.facts.items() if key not in _FACTS_OF_ONE_RUN} for run in (first, second)
    ]
    if differing := _differing(facts[0], facts[1]):
        yield f"{names} differ in {_named(differing)}"
    if differing := _differing(_settings(first), _settings(second)):
        yield f"{names} were configured differently: {_named(differing)}"


def _settings(run: RunResults) -> dict[str, JsonValue]:
    """The configuration as flat keys; as one text where it is no TOML."""
    try:
        return dict(_flat(tomllib.loads(run.config)))
    except tomllib.TOMLDecodeError:
        return {"the whole configuration": run.config}


def _flat(table: Mapping[str, JsonValue], prefix: str = "") -> Iterator[tuple[str, JsonValue]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _differing(first: Mapping[str, JsonValue], second: Mapping[str, JsonValue]) -> list[str]:
    return sorted(key for key in first.keys() | second.keys() if first.get(key) != second.get(key))


def _named(keys: Sequence[str]) -> str:
    rest = f" and {len(keys) - _MOST_NAMED} more" if len(keys) > _MOST_NAMED else ""
    return ", ".join(keys[:_MOST_NAMED]) + rest
