"""Rows as files: JSON lines, parquet that verl trains on, and the published column layout.

All writers stream; pyarrow is imported where parquet is written.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

import orjson

from mas_orchestra.errors import MissingExtraError
from mas_orchestra.masbench.problem import Problem
from mas_orchestra.types import JsonValue

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ANSWER_DELIMITER",
    "PUBLISHED_COLUMNS",
    "Encoded",
    "Format",
    "RowWriter",
    "encode",
    "open_writer",
    "require",
    "training_record",
]

ANSWER_DELIMITER = "<<horizon>>"
"""Between several answers in the published key, whatever the axis."""

PUBLISHED_COLUMNS = ("reward_model_json", "extra_info_json", "prompt_json", "axis", "value", "data")
"""All of them strings."""

_BATCH = 512


class Format(StrEnum):
    """How a built set lies on disk."""

    JSONL = "jsonl"
    """One `Problem` a line."""
    PARQUET = "parquet"
    """Columns as verl reads them, and the whole row as JSON in `data`."""
    HF = "hf"
    """The published column layout."""

    @property
    def suffix(self) -> str:
        """File name extension, with the dot."""
        return ".jsonl" if self is Format.JSONL else ".parquet"


Encoded = bytes | Mapping[str, JsonValue]
"""A row ready for its writer; made in the worker processes."""


def encode(problem: Problem, layout: Format) -> Encoded:
    """A row as the writer of this format takes it."""
    return _ENCODERS[layout](problem)


def _json_line(problem: Problem) -> bytes:
    return problem.model_dump_json().encode() + b"\n"


def training_record(problem: Problem) -> dict[str, JsonValue]:
    """The record that verl's data loader and reward functions expect, without the certificate."""
    return {
        "data_source": f"masbench/{problem.axis}",
        "prompt": [{"role": "user", "content": problem.question}],
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": ANSWER_DELIMITER.join(map(str, problem.answers))},
        "extra_info": {
            "index": int(problem.id.rpartition("-")[2]),
            "id": problem.id,
            "split": problem.split.value,
            "axis": problem.axis.value,
            "value": problem.value,
            "depth": problem.measured.depth,
            "answer": ANSWER_DELIMITER.join(map(str, problem.answers)),
        },
        "axis": problem.axis.value,
        "value": None if problem.value is None else str(problem.value),
    }


def _verl(problem: Problem) -> dict[str, JsonValue]:
    return training_record(problem) | {"data": problem.model_dump_json()}


def _published(problem: Problem) -> dict[str, JsonValue]:
    record = training_record(problem) | {"problem": problem.model_dump(mode="json")}
    return {
        "reward_model_json": _text(record["reward_model"]),
        "extra_info_json": _text(record["extra_info"]),
        "prompt_json": _text(record["prompt"]),
        "axis": record.pop("axis"),
        "value": record.pop("value"),
        "data": _text(record),
    }


def _text(value: JsonValue) -> str:
    return orjson.dumps(value).decode()


_ENCODERS: dict[Format, Callable[[Problem], Encoded]] = {
    Format.JSONL: _json_line,
    Format.PARQUET: _verl,
    Format.HF: _published,
}


class RowWriter(Protocol):
    """Takes rows in batches and holds at most a few hundred of them."""

    def write(self, rows: Iterable[Encoded]) -> None:
        """Append rows."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def require(layout: Format) -> None:
    """Checks that this format can be written here.

    Raises:
        MissingExtraError: Parquet without pyarrow.
    """
    if layout is not Format.JSONL and find_spec("pyarrow") is None:
        raise MissingExtraError("parquet", "bench")


def open_writer(path: Path, layout: Format) -> RowWriter:
    """A writer of this format, for which `require` was called."""
    if layout is Format.JSONL:
        return _JsonlWriter(path)
    return _ParquetWriter(path, layout)


class _JsonlWriter:
    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")

    def write(self, rows: Iterable[Encoded]) -> None:
        self._file.writelines(row for row in rows if isinstance(row, bytes))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


class _ParquetWriter:
    def __init__(self, path: Path, layout: Format) -> None:
        import pyarrow.parquet

        self._schema = _schema(layout)
        self._writer = pyarrow.parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._waiting: list[Mapping[str, JsonValue]] = []

    def write(self, rows: Iterable[Encoded]) -> None:
        self._waiting += (row for row in rows if not isinstance(row, bytes))
        while len(self._waiting) >= _BATCH:
            self._flush(self._waiting[:_BATCH])
            del self._waiting[:_BATCH]

    def _flush(self, rows: Sequence[Mapping[str, JsonValue]]) -> None:
        import pyarrow as pa

        self._writer.write_table(pa.Table.from_pylist(rows, schema=self._schema))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._waiting:
            self._flush(self._waiting)
        self._writer.close()


def _schema(layout: Format) -> "pa.Schema":
    import pyarrow as pa

    if layout is Format.HF:
        return pa.schema([(name, pa.string()) for name in PUBLISHED_COLUMNS])
    message = pa.struct([("role", pa.string()), ("content", pa.string())])
    extra = [(name, pa.string()) for name in ("id", "split", "axis", "answer")]
    return pa.schema(
        [
            ("data_source", pa.string()),
            ("prompt", pa.list_(message)),
            ("ability", pa.string()),
            ("reward_model", pa.struct([("style", pa.string()), ("ground_truth", pa.string())])),
            ("extra_info", pa.struct([("index", pa.int64()), ("value", pa.int64()), ("depth", pa.int64()), *extra])),
            ("axis", pa.string()),
            ("value", pa.string()),
            ("data", pa.string()),
        ]
    )
