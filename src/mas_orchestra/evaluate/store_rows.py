"""Values of the evaluation as rows of the tables, and back."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import orjson

from mas_orchestra.evaluate.attempt import AttemptKey, Spent, all_calls, attempt_of, pack
from mas_orchestra.evaluate.results import Attempt, SystemInfo
from mas_orchestra.plan.schema import Plan
from mas_orchestra.run.outcome import Outcome
from mas_orchestra.score.base import Score
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import OutcomeStatus, Usage

__all__ = [
    "Row",
    "attempt_from",
    "attempt_row",
    "call_rows",
    "from_json",
    "score_row",
    "step_rows",
    "system_rows",
    "systems_from",
    "task_from",
    "task_row",
    "to_json",
]

Row: TypeAlias = dict[str, Any]  # what a driver takes and gives
BUCKETS = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens")


def to_json(value: object) -> str:
    """JSON text; half a surrogate pair, which no database takes, becomes a question mark."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONEncodeError:
        return orjson.dumps(_clean(value), option=orjson.OPT_SORT_KEYS).decode()


def from_json(text: str) -> Any:  # noqa: ANN401  (whatever was written)
    """The value of `to_json`."""
    return orjson.loads(text)


def _clean(value: object) -> object:
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case Mapping():
            return {str(_clean(key)): _clean(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_clean(inner) for inner in value]
        case _:
            return value


def _text(value: str | None) -> str | None:
    """Text that every database takes: no NUL, no half of a surrogate pair. The outcome has it as it was."""
    if value is None:
        return None
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()


def task_row(run: str, position: int, task: Task) -> Row:
    """A row of `tasks`."""
    return {
        "run": run,
        "task": _text(task.id),
        "position": position,
        "question": _text(task.question),
        "answers": to_json(list(task.answers)),
        "kind": task.kind,
        "metadata": to_json(task.metadata),
    }


def task_from(row: Row) -> Task:
    """The task of a row."""
    return Task(
        id=row["task"],
        question=row["question"],
        answers=tuple(from_json(row["answers"])),
        kind=row["kind"],
        metadata=from_json(row["metadata"]),
    )


def attempt_row(run: str, key: AttemptKey, outcome: Outcome, *, spent: Spent, tries: int) -> Row:
    """A row of `attempts`, the score apart."""
    attempt = attempt_of(key, outcome, Score(value=None, reason=""))
    failure = outcome.failure
    return {
        "run": run,
        "system": key.system,
        "task": _text(key.task_id),
        "attempt": key.attempt,
        "seed": key.seed,
        "status": outcome.status.value,
        "answer": _text(outcome.answer),
        "failure_code": failure.code if failure else None,
        "failure_message": _text(failure.message) if failure else None,
        "plan": to_json(attempt.plan.model_dump(mode="json")) if attempt.plan else None,
        "fault_codes": to_json(list(attempt.fault_codes)),
        "agents": to_json(list(attempt.agents)),
        "width": attempt.width,
        "length": attempt.length,
        "calls": attempt.calls,
        "cached_calls": attempt.cached_calls,
        **_usage_row(attempt.usage),
        "cost_usd": attempt.cost_usd,
        "wall_s": attempt.wall_s,
        "critical_path_s": attempt.critical_path_s,
        "first_round_unanimous": attempt.first_round_unanimous,
        "started_at": outcome.started_at,
        "tries": tries,
        "spent_calls": spent.calls,
        "spent_tokens": spent.tokens,
        "spent_cost_usd": spent.cost_usd,
        "outcome": pack(outcome),
    }


def attempt_from(row: Row) -> Attempt:
    """The attempt of a row that holds its score too."""
    return Attempt(
        system=row["system"],
        task_id=row["task"],
        attempt=row["attempt"],
        seed=row["seed"],
        status=OutcomeStatus(row["status"]),
        answer=row["answer"],
        score=row["value"],
        reason=row["reason"],
        parts=from_json(row["parts"]),
        plan=Plan.model_validate_json(row["plan"]) if row["plan"] else None,
        fault_codes=tuple(from_json(row["fault_codes"])),
        agents=tuple(from_json(row["agents"])),
        width=row["width"],
        length=row["length"],
        calls=row["calls"],
        cached_calls=row["cached_calls"],
        usage=Usage(**{name: row[name] for name in BUCKETS}, estimated=bool(row["estimated"])),
        cost_usd=row["cost_usd"],
        wall_s=row["wall_s"],
        critical_path_s=row["critical_path_s"],
        first_round_unanimous=row["first_round_unanimous"],
    )


def step_rows(attempt_id: int, outcome: Outcome) -> list[Row]:
    """The rows of `steps`, in plan order."""
    return [
        {
            "attempt_id": attempt_id,
            "position": position,
            "step": _text(step.id),
            "agent": step.agent,
            "status": step.status.value,
            "calls": sum(call.calls for call in step.calls),
            **_usage_row(step.usage),
            "cost_usd": step.cost_usd,
            "started_s": step.started_s,
            "wall_s": step.wall_s,
            "failure_code": step.failure.code if step.failure else None,
        }
        for position, step in enumerate(outcome.steps)
    ]


def call_rows(attempt_id: int, outcome: Outcome) -> list[Row]:
    """The rows of `calls`: planning first, then by step."""
    return [
        {
            "attempt_id": attempt_id,
            "position": position,
            "step": _text(call.step),
            "purpose": _text(call.purpose),
            "model": call.model,
            "samples": call.samples,
            **_usage_row(call.usage),
            "cost_usd": call.cost_usd,
            "started_s": call.started_s,
            "latency_s": call.latency_s,
            "queue_s": call.queue_s,
            "requests": call.requests,
            "cached": int(call.cached),
            "failure_code": call.failure.code if call.failure else None,
        }
        for position, call in enumerate(all_calls(outcome))
    ]


def score_row(attempt_id: int, score: Score, scored_at: str) -> Row:
    """A row of `scores`."""
    return {
        "attempt_id": attempt_id,
        "value": score.value,
        "reason": score.reason,
        "parts": to_json(score.parts),
        "details": to_json(score.details),
        "scored_at": scored_at,
    }


def _usage_row(usage: Usage) -> Row:
    return {name: getattr(usage, name) for name in BUCKETS} | {"estimated": int(usage.estimated)}


def systems_from(text: str) -> tuple[SystemInfo, ...]:
    """The rows of the scoreboard."""
    return tuple(SystemInfo(**one) for one in from_json(text))


def system_rows(systems: tuple[SystemInfo, ...]) -> Iterator[Row]:
    """What `systems_from` reads."""
    for one in systems:
        yield {name: getattr(one, name) for name in SystemInfo.__dataclass_fields__}
