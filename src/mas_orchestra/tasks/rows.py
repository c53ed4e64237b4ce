"""Rows of a file of tasks, whatever its format: JSON lines, one JSON list, CSV, TSV, Parquet.

Every fault names the file, the place in it, what was got and what to do.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mas_orchestra.errors import FileFormatError, MissingExtraError
from mas_orchestra.types import JsonValue

__all__ = ["FORMATS", "Row", "read_rows"]

FORMATS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
"""Suffixes that `read_rows` knows."""

_BROKEN_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_LONGEST_CELL = 1 << 27


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One record.

    Attributes:
        file: Where it stands.
        number: Its line in a text file, else its number, from 1.
        record: Column → value; every value of a CSV file is text.
    """

    file: Path
    number: int
    record: Mapping[str, JsonValue]

    @property
    def place(self) -> str:
        """For messages: ``tasks.csv, line 3``."""
        unit = "row" if self.file.suffix in {".parquet", ".json"} else "line"
        return f"{self.file}, {unit} {self.number}"


def read_rows(path: Path) -> Iterator[Row]:
    """Every row of a file in order, by its suffix.

    Raises:
        FileFormatError: It cannot be read as what its suffix says, or holds no row.
        MissingExtraError: Parquet without pyarrow.
    """
    readers = {".csv": _csv_rows, ".tsv": _csv_rows, ".json": _json_rows, ".parquet": _parquet_rows}
    if path.suffix not in FORMATS:
        raise FileFormatError(f"{path}: unknown kind of file; expected one of {', '.join(FORMATS)}")
    empty = True
    try:
        for row in readers.get(path.suffix, _line_rows)(path):
            empty = False
            yield row
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror or error})") from error
    if empty:
        raise FileFormatError(f"{path} holds no rows: expected at least one task")


def _line_rows(path: Path) -> Iterator[Row]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            text = _decoded(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line, path, number)
            if text.strip():
                yield _row(path, number, _parsed(text, path, number))


def _json_rows(path: Path) -> Iterator[Row]:
    value = _parsed(_decoded(path.read_bytes().removeprefix(b"\xef\xbb\xbf"), path, 1), path, 1)
    if not isinstance(value, list):
        raise FileFormatError(
            f"{path}: expected a JSON list of objects, got {type(value).__name__}; JSON lines are .jsonl"
        )
    for number, record in enumerate(value, 1):
        yield _row(path, number, record)


def _csv_rows(path: Path) -> Iterator[Row]:
    text = _decoded(path.read_bytes().removeprefix(b"\xef\xbb\xbf"), path, 1)
    # A longer cell than the module's default is no fault; the limit is the interpreter's and so are its other users.
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if path.suffix == ".tsv" else ",", strict=True)
    header: list[str] | None = None
    first_line = 1
    try:
        for cells in reader:
            if header is None:
                header = _header(cells, path)
            elif any(cell.strip() for cell in cells):
                if len(cells) != len(header):
                    raise FileFormatError(
                        f"{path}, line {first_line}: {len(cells)} cells under {len(header)} columns; "
                        'put text that holds a comma between double quotes, and write a quote in it as ""'
                    )
                yield Row(file=path, number=first_line, record=dict(zip(header, cells, strict=True)))
            first_line = reader.line_num + 1
    except csv.Error as error:
        raise FileFormatError(f"{path}, line {first_line}: not CSV ({error}); check its quotes") from error


def _header(cells: list[str], path: Path) -> list[str]:
    names = [cell.strip() for cell in cells]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise FileFormatError(f"{path}, line 1: the columns {', '.join(twice)} come twice; give each a name of its own")
    return names


def _parquet_rows(path: Path) -> Iterator[Row]:
    try:
        from pyarrow import ArrowInvalid
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtraError(f"reading {path}", "eval") from error
    number = 0
    try:
        with ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=256):
                for record in batch.to_pylist():
                    number += 1
                    yield Row(file=path, number=number, record=record)
    except ArrowInvalid as error:
        raise FileFormatError(f"{path}: not a Parquet file, after row {number} ({error}); download it again") from error


def _row(path: Path, number: int, value: JsonValue) -> Row:
    if not isinstance(value, dict):
        row = Row(file=path, number=number, record={})
        raise FileFormatError(f"{row.place}: expected an object with columns as keys, got {type(value).__name__}")
    return Row(file=path, number=number, record=value)


def _decoded(data: bytes, path: Path, line: int) -> str:
    if line == 1 and data.startswith(_BROKEN_UTF_16):
        raise FileFormatError(f"{path}: UTF-16; save it as UTF-8")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line += data.count(b"\n", 0, error.start) if data.count(b"\n") > 1 else 0
        raise FileFormatError(
            f"{path}, line {line}: the byte {data[error.start]:#04x} is not UTF-8; save the file as UTF-8"
        ) from error


def _parsed(text: str, path: Path, line: int) -> JsonValue:
    try:
        value: JsonValue = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        at = line + error.lineno - 1 if isinstance(error, json.JSONDecodeError) else line
        raise FileFormatError(f"{path}, line {at}: not JSON ({error}); one object a line in .jsonl") from error
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")
