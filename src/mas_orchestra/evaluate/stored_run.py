"""A run in a database before and beside its attempts: configuration, systems, tasks, facts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mas_orchestra.evaluate.results import SystemInfo
from mas_orchestra.evaluate.store_engine import StoreError, guarded, open_engine
from mas_orchestra.evaluate.store_rows import (
    Row,
    from_json,
    system_rows,
    systems_from,
    task_from,
    task_row,
    to_json,
)
from mas_orchestra.evaluate.store_schema import STORE_VERSION, Tables, tables
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import JsonValue

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["RunHead", "StoredRun", "now"]


CREATION_LOCK = 0x6D6173
"""Any number that all machines agree on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHead:
    """What is known of a run before its first attempt.

    Attributes:
        config: The resolved configuration, as TOML.
    """

    name: str
    config: str
    systems: tuple[SystemInfo, ...]
    attempts_per_task: int
    facts: dict[str, JsonValue]
    created_at: str = ""


class StoredRun:
    """One run in a database.

    Args:
        url: An SQLite or PostgreSQL URL.
        run: Name of the run in it.
    """

    def __init__(self, url: str, run: str) -> None:
        self.run = run
        self._engine = open_engine(url)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def is_shared(self) -> bool:
        """Whether other machines may write to it."""
        return self._engine.dialect.name != "sqlite"

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    @cached_property
    def _tables(self) -> Tables:
        return tables()

    def create(self, head: RunHead, tasks: Sequence[Task]) -> bool:
        """Make the run with its tasks, whole or not at all; false when it is there already."""
        from sqlalchemy import insert

        with guarded(self._engine, writes=True) as connection:
            if self.is_shared:  # another machine may be making the same tables or the same run
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({CREATION_LOCK})")
            self._tables.metadata.create_all(connection)
            if self._head_row(connection) is not None:
                return False
            connection.execute(
                insert(self._tables.runs),
                {
                    "run": self.run,
                    "store_version": STORE_VERSION,
                    "created_at": now(),
                    "config": head.config,
                    "facts": to_json(head.facts),
                    "systems": to_json(list(system_rows(head.systems))),
                    "attempts_per_task": head.attempts_per_task,
                    "prepared": "{}",
                },
            )
            rows = [task_row(self.run, position, task) for position, task in enumerate(tasks)]
            if rows:
                connection.execute(insert(self._tables.tasks), rows)
        return True

    def exists(self) -> bool:
        """Whether the run is there."""
        with guarded(self._engine) as connection:
            return self._head_row(connection) is not None

    def head(self) -> RunHead:
        """The run as it was made.

        Raises:
            StoreError: There is no such run, or it was made by a release with other tables.
        """
        with guarded(self._engine) as connection:
            row = self._head_row(connection)
        if row is None:
            raise StoreError(f"the store {self._engine.url.render_as_string()} holds no run named {self.run!r}")
        if row["store_version"] != STORE_VERSION:
            raise StoreError(
                f"run {self.run!r} is in store format {row['store_version']}; this release reads {STORE_VERSION}"
            )
        return RunHead(
            name=self.run,
            config=row["config"],
            systems=systems_from(row["systems"]),
            attempts_per_task=row["attempts_per_task"],
            facts=from_json(row["facts"]),
            created_at=row["created_at"],
        )

    def _head_row(self, connection: "Connection") -> Row | None:
        from sqlalchemy import inspect, select

        runs = self._tables.runs
        if not inspect(connection).has_table(runs.name):
            return None
        found = connection.execute(select(runs).where(runs.c.run == self.run)).mappings().first()
        return dict(found) if found else None

    def tasks(self) -> tuple[Task, ...]:
        """The run's tasks, in order."""
        from sqlalchemy import select

        table = self._tables.tasks
        with guarded(self._engine) as connection:
            query = select(table).where(table.c.run == self.run).order_by(table.c.position)
            return tuple(task_from(dict(row)) for row in connection.execute(query).mappings())

    def prepared(self) -> dict[str, Any]:
        """What systems found out before their first attempt, by system."""
        from sqlalchemy import select

        runs = self._tables.runs
        with guarded(self._engine) as connection:
            text = connection.execute(select(runs.c.prepared).where(runs.c.run == self.run)).scalar_one()
        found: dict[str, Any] = from_json(text)
        return found

    def keep_prepared(self, system: str, value: Mapping[str, JsonValue]) -> None:
        """Keep what a system found out."""
        from sqlalchemy import update

        runs = self._tables.runs
        known = self.prepared() | {system: dict(value)}
        with guarded(self._engine, writes=True) as connection:
            connection.execute(update(runs).where(runs.c.run == self.run).values(prepared=to_json(known)))

    def forget(self) -> None:
        """Take the run out of a database that others use too; one with attempts stays."""
        from sqlalchemy import delete, exists, select

        attempts = self._tables.attempts
        with guarded(self._engine, writes=True) as connection:
            if self._head_row(connection) is None:
                return
            if connection.execute(select(exists().where(attempts.c.run == self.run))).scalar_one():
                raise StoreError(f"run {self.run!r} holds attempts that were paid for; it is not taken away")
            for table in (self._tables.tasks, self._tables.runs):
                connection.execute(delete(table).where(table.c.run == self.run))

    def note(self, facts: Mapping[str, JsonValue]) -> None:
        """Add facts to the run's own."""
        from sqlalchemy import update

        runs = self._tables.runs
        known = self.head().facts | dict(facts)
        with guarded(self._engine, writes=True) as connection:
            connection.execute(update(runs).where(runs.c.run == self.run).values(facts=to_json(known)))


def now() -> str:
    """UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
