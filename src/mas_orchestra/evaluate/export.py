"""A stored run as files that data tools open: Parquet or JSON lines, one file a table."""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import orjson

from mas_orchestra.errors import FileFormatError, MissingExtraError
from mas_orchestra.evaluate.store import Store
from mas_orchestra.evaluate.store_rows import Row
from mas_orchestra.evaluate.store_schema import tables

if TYPE_CHECKING:
    from pyarrow import Schema

__all__ = ["EXPORTED", "ExportFormat", "export_run"]

ExportFormat: TypeAlias = Literal["parquet", "jsonl"]
EXPORTED = ("attempts", "steps", "calls", "tasks")
BATCH = 5_000


def export_run(store: Store, out: Path, kind: ExportFormat) -> dict[Path, int]:
    """Files and their rows: ``attempts`` (with scores), ``steps``, ``calls``, ``tasks``; ``run.json`` has the facts.

    A file appears under its name when all of it is written.

    Raises:
        FileFormatError: A file cannot be written.
        MissingExtraError: Parquet without pyarrow.
    """
    write = _write_parquet if kind == "parquet" else _write_lines
    written: dict[Path, int] = {}
    try:
        out.mkdir(parents=True, exist_ok=True)
        for table in EXPORTED:
            file = out / f"{table}.{kind}"
            aside = file.with_name(f".{file.name}.unfinished")
            written[file] = write(aside, table, _rows(store, table))
            aside.replace(file)
        head = store.head()
        facts = {"run": head.name, "created_at": head.created_at, "config": head.config, "facts": head.facts}
        (out / "run.json").write_text(json.dumps(facts, ensure_ascii=False, indent=1), encoding="utf-8")
    except OSError as error:
        raise FileFormatError(f"cannot write to {out}: {error.strerror or error}") from None
    return written


def _rows(store: Store, table: str) -> Iterator[Row]:
    if table != "tasks":
        yield from store.rows(table)
        return
    for task in store.tasks():
        yield {
            "task": task.id,
            "question": task.question,
            "answers": orjson.dumps(task.answers).decode(),
            "kind": task.kind,
            "metadata": orjson.dumps(task.metadata).decode(),
        }


def _write_lines(file: Path, table: str, rows: Iterator[Row]) -> int:
    del table
    count = 0
    with file.open("wb") as lines:
        for row in rows:
            lines.write(
                orjson.dumps(row, option=orjson.OPT_NON_STR_KEYS) + b"\n"
            )  # names of columns are a kind of text
            count += 1
    return count


def _write_parquet(file: Path, table: str, rows: Iterator[Row]) -> int:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("Parquet", "eval") from None
    schema, count = _schema(table), 0
    with parquet.ParquetWriter(file, schema) as writer:
        while batch := list(islice(rows, BATCH)):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
            count += len(batch)
    return count


def _schema(table: str) -> "Schema":
    """Columns as `Store.rows` gives them, so that an empty table has its columns too."""
    import pyarrow as pa
    from sqlalchemy import Float, Integer

    known = tables().metadata.tables
    left_out = {"run", "outcome", "attempt_id", "position"} if table in {"attempts", "tasks"} else {"attempt_id"}
    columns = [column for column in known[table].c if column.name not in left_out]
    if table in {"steps", "calls"}:
        keys = ("id", "system", "task", "attempt", "seed")
        columns = [*(known["attempts"].c[name] for name in keys), *columns]

    def kind(column: object) -> object:
        sql = getattr(column, "type", None)
        return pa.float64() if isinstance(sql, Float) else pa.int64() if isinstance(sql, Integer) else pa.string()

    fields = [(column.name, kind(column)) for column in columns]
    if table == "attempts":
        fields += [("score", pa.float64()), ("reason", pa.string()), ("parts", pa.string())]
    return pa.schema(fields)
