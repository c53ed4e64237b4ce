"""The tables of the store; docs/guide/evaluation.md describes them for people with an SQL client.

JSON is kept as text: every SQL dialect reads text, and PostgreSQL's own JSON types refuse characters that models write.
"""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Column, MetaData, Table

__all__ = ["STORE_VERSION", "Tables", "tables"]

STORE_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The tables by name."""

    metadata: "MetaData"
    runs: "Table"
    tasks: "Table"
    attempts: "Table"
    steps: "Table"
    calls: "Table"
    scores: "Table"


@cache
def tables() -> Tables:
    """The tables, described once a process; SQLAlchemy is loaded here."""
    from sqlalchemy import MetaData

    metadata = MetaData()
    return Tables(
        metadata=metadata,
        runs=_runs(metadata),
        tasks=_tasks(metadata),
        attempts=_attempts(metadata),
        steps=_steps(metadata),
        calls=_calls(metadata),
        scores=_scores(metadata),
    )


def _runs(metadata: "MetaData") -> "Table":
    from sqlalchemy import Column, Integer, Table, Text

    return Table(
        "runs",
        metadata,
        Column("run", Text, primary_key=True),
        Column("store_version", Integer, nullable=False),
        Column("created_at", Text, nullable=False),
        Column("config", Text, nullable=False),
        Column("facts", Text, nullable=False),
        Column("systems", Text, nullable=False),
        Column("attempts_per_task", Integer, nullable=False),
        Column("prepared", Text, nullable=False),
    )


def _tasks(metadata: "MetaData") -> "Table":
    from sqlalchemy import Column, Integer, Table, Text

    return Table(
        "tasks",
        metadata,
        Column("run", Text, primary_key=True),
        Column("task", Text, primary_key=True),
        Column("position", Integer, nullable=False),
        Column("question", Text, nullable=False),
        Column("answers", Text, nullable=False),
        Column("kind", Text, nullable=False),
        Column("metadata", Text, nullable=False),
    )


def _attempts(metadata: "MetaData") -> "Table":
    from sqlalchemy import BigInteger, Column, Float, Integer, LargeBinary, Table, Text, UniqueConstraint

    return Table(
        "attempts",
        metadata,
        Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
        Column("run", Text, nullable=False),
        Column("system", Text, nullable=False),
        Column("task", Text, nullable=False),
        Column("attempt", Integer, nullable=False),
        Column("seed", BigInteger, nullable=False),
        Column("status", Text, nullable=False),
        Column("answer", Text),
        Column("failure_code", Text),
        Column("failure_message", Text),
        Column("plan", Text),
        Column("fault_codes", Text, nullable=False),
        Column("agents", Text, nullable=False),
        Column("width", Integer, nullable=False),
        Column("length", Integer, nullable=False),
        Column("calls", Integer, nullable=False),
        Column("cached_calls", Integer, nullable=False),
        *_usage(),
        Column("cost_usd", Float),
        Column("wall_s", Float, nullable=False),
        Column("critical_path_s", Float, nullable=False),
        Column("first_round_unanimous", Float),
        Column("started_at", Text, nullable=False),
        Column("tries", Integer, nullable=False),
        Column("spent_calls", Integer, nullable=False),
        Column("spent_tokens", BigInteger, nullable=False),
        Column("spent_cost_usd", Float),
        Column("outcome", LargeBinary, nullable=False),
        UniqueConstraint("run", "system", "task", "attempt", "seed"),
    )


def _steps(metadata: "MetaData") -> "Table":
    from sqlalchemy import Column, Float, Integer, Table, Text

    return Table(
        "steps",
        metadata,
        _attempt_id(),
        Column("position", Integer, primary_key=True),
        Column("step", Text, nullable=False),
        Column("agent", Text, nullable=False),
        Column("status", Text, nullable=False),
        Column("calls", Integer, nullable=False),
        *_usage(),
        Column("cost_usd", Float),
        Column("started_s", Float),
        Column("wall_s", Float, nullable=False),
        Column("failure_code", Text),
    )


def _calls(metadata: "MetaData") -> "Table":
    from sqlalchemy import Column, Float, Integer, Table, Text

    return Table(
        "calls",
        metadata,
        _attempt_id(),
        Column("position", Integer, primary_key=True),
        Column("step", Text, nullable=False),
        Column("purpose", Text, nullable=False),
        Column("model", Text, nullable=False),
        Column("samples", Integer, nullable=False),
        *_usage(),
        Column("cost_usd", Float),
        Column("started_s", Float, nullable=False),
        Column("latency_s", Float, nullable=False),
        Column("queue_s", Float, nullable=False),
        Column("requests", Integer, nullable=False),
        Column("cached", Integer, nullable=False),
        Column("failure_code", Text),
    )


def _scores(metadata: "MetaData") -> "Table":
    from sqlalchemy import Column, Float, Table, Text

    return Table(
        "scores",
        metadata,
        _attempt_id(),
        Column("value", Float),
        Column("reason", Text, nullable=False),
        Column("parts", Text, nullable=False),
        Column("details", Text, nullable=False),
        Column("scored_at", Text, nullable=False),
    )


def _attempt_id() -> "Column[int]":
    from sqlalchemy import BigInteger, Column, ForeignKey, Integer

    number = BigInteger().with_variant(Integer, "sqlite")
    return Column("attempt_id", number, ForeignKey("attempts.id", ondelete="CASCADE"), primary_key=True)


def _usage() -> "list[Column[int]]":
    """Tokens in disjoint buckets; `estimated` is 1 where the endpoint did not count them."""
    from sqlalchemy import BigInteger, Column

    names = (
        "input_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "output_tokens",
        "reasoning_tokens",
        "estimated",
    )
    return [Column(name, BigInteger, nullable=False) for name in names]
