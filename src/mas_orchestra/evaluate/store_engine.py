"""Connections to the store: SQLite in write-ahead mode, or PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mas_orchestra.errors import FileFormatError, MissingExtraError, UsageError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

__all__ = ["StoreError", "guarded", "open_engine", "sqlite_url"]

WAIT_S = 60
"""How long a writer waits for another one of the same SQLite file."""


class StoreError(FileFormatError):
    """The store cannot be read or written; whatever it holds already is safe."""

    code = "store_error"


def sqlite_url(file: Path) -> str:
    """The URL of an SQLite file."""
    return f"sqlite:///{file.resolve().as_posix()}"


def open_engine(url: str) -> "Engine":
    """Connections to `url`; nothing is connected yet.

    Raises:
        UsageError: Neither SQLite nor PostgreSQL.
        MissingExtraError: SQLAlchemy, or the driver of PostgreSQL, is not installed.
    """
    try:
        from sqlalchemy import create_engine
    except ImportError:
        raise MissingExtraError("The store", "eval") from None
    kind = url.partition(":")[0]
    if kind in {"postgresql", "postgres"}:
        address = "postgresql+psycopg" + url[len(kind) :]
        try:
            return create_engine(address, pool_pre_ping=True)
        except ImportError:
            raise MissingExtraError("A PostgreSQL store", "postgres") from None
    if kind != "sqlite":
        raise UsageError(f"store {url!r}: accepted are postgresql://USER@HOST/DATABASE and SQLite in the run's folder")
    engine = create_engine(url, connect_args={"timeout": WAIT_S})
    _make_safe(engine)
    return engine


def _make_safe(engine: "Engine") -> None:
    """Write-ahead log, waiting writers, and transactions that begin when we say so."""
    from sqlalchemy import event

    def connect(connection: Any, _: object) -> None:  # noqa: ANN401  (a connection of the driver)
        connection.isolation_level = None  # or the driver would begin transactions by rules of its own
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")

    def begin(connection: "Connection") -> None:
        # A writer that takes the lock at its first statement cannot be told "locked" half-way.
        is_writing = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")

    event.listen(engine, "connect", connect)
    event.listen(engine, "begin", begin)


@contextmanager
def guarded(engine: "Engine", *, writes: bool = False) -> Iterator["Connection"]:
    """One transaction: committed whole at the end, or not at all.

    Raises:
        StoreError: The database refuses; says what to do where that is known.
    """
    from sqlalchemy.exc import SQLAlchemyError

    try:
        with engine.connect().execution_options(writes=writes) as connection, connection.begin():
            yield connection
    except SQLAlchemyError as error:
        raise StoreError(_explain(engine, error)) from error


def _explain(engine: "Engine", error: Exception) -> str:
    reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
    place = engine.url.render_as_string(hide_password=True)
    lower = reason.lower()
    if "full" in lower or "no space" in lower or "disk i/o" in lower:
        remedy = "Free some space; what is stored is safe, and `mas eval resume` goes on from there."
    elif "locked" in lower or "busy" in lower:
        remedy = f"Another process held it for more than {WAIT_S} s; is the folder on a network file system?"
    elif "readonly" in lower or "unable to open" in lower:
        remedy = "Check that the folder exists and can be written."
    else:
        remedy = "What is stored is safe, and `mas eval resume` goes on from there."
    return f"the store {place} refuses: {reason}. {remedy}"
